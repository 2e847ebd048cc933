//===- Propagation.cpp - Fixpoint over sharding rules ---------------------===//

#include "shardkit/Propagation/Propagation.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::spmd;

bool spmd::isCreation(Operation *op) {
  if (!op)
    return false;
  if (auto constant = dyn_cast<arith::ConstantOp>(op))
    return isa<SplatElementsAttr>(constant.getValue());
  if (auto fill = dyn_cast<linalg::FillOp>(op))
    return fill.getNumResults() == 1 &&
           isCreation(fill.getOutputs().front().getDefiningOp());
  return isa<tensor::EmptyOp, tensor::SplatOp>(op) &&
         cast<RankedTensorType>(op->getResult(0).getType()).hasStaticShape();
}

/// True if `longer` begins with the digits of `prefix`:
///   {"x"} of {"x", "y"}: yes    {"x":(1)2} of {"x"}: yes    {"y"} of {"x", "y"}: no
static bool isPrefix(ArrayRef<DimEntry> prefix, ArrayRef<DimEntry> longer) {
  if (prefix.size() > longer.size())
    return false;
  for (auto [i, entry] : llvm::enumerate(prefix)) {
    if (entry == longer[i])
      continue;
    // The last entry may go on as a longer part of the same axis.
    return i + 1 == prefix.size() && !entry.isGap() &&
           entry.axis == longer[i].axis && entry.pre == longer[i].pre &&
           longer[i].size % entry.size == 0;
  }
  return true;
}

static bool overlapsAny(ArrayRef<DimEntry> a, ArrayRef<DimEntry> b,
                        const Mesh &mesh) {
  for (const DimEntry &x : a)
    for (const DimEntry &y : b)
      if (!x.isGap() && !y.isGap() && overlaps(x, y, mesh))
        return true;
  return false;
}

unsigned Propagation::addValue(Value value, Sharding given) {
  auto type = cast<RankedTensorType>(value.getType());
  unsigned id = addSlot(type.getShape(), type.getElementType(), std::move(given));
  ids[value] = id;
  return id;
}

unsigned Propagation::addSlot(ArrayRef<int64_t> shape, Type elementType,
                              Sharding given) {
  ValueState state;
  for (DimSharding &dim : given.dims)
    dim.entries = canonicalize(dim.entries);
  state.sharding = std::move(given);
  state.shape.assign(shape.begin(), shape.end());
  int64_t bytes = elementType.isIntOrFloat()
                      ? (elementType.getIntOrFloatBitWidth() + 7) / 8
                      : 8;
  for (int64_t size : shape)
    bytes *= ShapedType::isDynamic(size) ? 1 : size;
  state.bytes = bytes;
  values.push_back(std::move(state));
  return values.size() - 1;
}

void Propagation::addNode(Node node) {
  unsigned index = nodes.size();
  for (int32_t id : node.tensors)
    if (id >= 0 && (values[id].users.empty() || values[id].users.back() != index))
      values[id].users.push_back(index);
  nodes.push_back(std::move(node));
}

void Propagation::addOp(ShardingRule rule) {
  Node node;
  node.late = rule.isContraction ||
              llvm::any_of(rule.getFactors(), [](const Factor &f) {
                return f.kind == FactorKind::Reduction;
              });
  auto add = [&](ArrayRef<ShardingRule::Tensor> tensors) {
    for (const ShardingRule::Tensor &tensor : tensors) {
      auto it = ids.find(tensor.value);
      node.tensors.push_back(it == ids.end() ? -1 : int32_t(it->second));
    }
  };
  add(rule.operands());
  add(rule.results());
  node.rule = std::move(rule);
  addNode(std::move(node));
}

void Propagation::addIdentity(unsigned a, unsigned b) {
  Node node;
  node.late = false;
  SmallVector<int32_t> factors;
  for (int64_t size : values[a].shape)
    factors.push_back(node.rule.addFactor(size));
  node.rule.addOperand(Value());
  node.rule.addDims(factors);
  node.rule.addResult(Value());
  node.rule.addDims(factors);
  node.tensors = {int32_t(a), int32_t(b)};
  addNode(std::move(node));
}

void Propagation::run() {
  // Sweeps in both directions; a sweep touches dirty nodes only. Elementwise
  // ops and views come to rest before contractions take part.
  for (bool late : {false, true}) {
    bool changed = true;
    auto sweep = [&](Node &node) {
      if (!node.dirty || (node.late && !late))
        return;
      node.dirty = false;
      changed = true;
      visit(node);
    };
    while (changed) {
      changed = false;
      for (Node &node : nodes)
        sweep(node);
      for (Node &node : llvm::reverse(nodes))
        sweep(node);
    }
  }
}

void Propagation::visit(Node &node) {
  const ShardingRule &rule = node.rule;
  struct Candidate {
    DimEntries entries;
    int64_t bytes;
    bool onOperand; // an operand carries it, not results alone
  };
  // What each tensor says of each factor.
  SmallVector<SmallVector<Candidate, 2>, 8> candidates(rule.numFactors());
  auto offer = [&](int32_t f, ArrayRef<DimEntry> entries, int64_t bytes,
                   bool onOperand) {
    if (entries.empty() || rule.factor(f).kind == FactorKind::Whole)
      return;
    DimEntries canonical = canonicalize(entries);
    for (Candidate &candidate : candidates[f])
      if (ArrayRef(candidate.entries) == ArrayRef(canonical)) {
        candidate.bytes += bytes;
        candidate.onOperand |= onOperand;
        return;
      }
    if (!canonical.empty())
      candidates[f].push_back({std::move(canonical), bytes, onOperand});
  };
  auto tensorOf = [&](unsigned t) -> const ShardingRule::Tensor & {
    return rule.tensor(t);
  };
  for (auto [t, id] : llvm::enumerate(node.tensors)) {
    if (id < 0)
      continue;
    const ValueState &value = values[id];
    bool onOperand = t < rule.numOperands();
    for (unsigned d = 0; d < tensorOf(t).numDims; ++d) {
      ArrayRef<int32_t> factors = rule.dimFactors(tensorOf(t), d);
      const DimEntries &entries = value.sharding.dims[d].entries;
      if (factors.empty() || entries.empty())
        continue;
      if (factors.size() == 1) {
        offer(factors.front(), entries, value.bytes, onOperand);
        continue;
      }
      SmallVector<int64_t> sizes;
      for (int32_t f : factors)
        sizes.push_back(rule.factor(f).size);
      if (auto parts = splitDim(entries, sizes))
        for (auto [f, part] : llvm::zip(factors, *parts))
          offer(f, part, value.bytes, onOperand);
    }
  }

  // Per factor: the candidate carried by most bytes, extended by those that
  // agree with it. Then the factors share the axes.
  struct Claim {
    int32_t factor;
    DimEntries entries;
    int64_t bytes;
    int rank; // of an axis that several factors want
  };
  // An axis goes to a parallel factor of an operand first (a weight that is cut
  // along the batch axis is gathered where it is used), then to a reduction (its
  // partial result can be scattered into what the result wants), then to what
  // only a result asks for.
  auto rankOf = [&](int32_t f, bool onOperand) {
    return rule.factor(f).kind == FactorKind::Reduction ? 1 : onOperand ? 0 : 2;
  };
  SmallVector<Claim, 8> claims;
  for (int32_t f = 0; f < int32_t(rule.numFactors()); ++f) {
    if (candidates[f].empty())
      continue;
    llvm::sort(candidates[f], [](const Candidate &a, const Candidate &b) {
      return a.bytes != b.bytes ? a.bytes > b.bytes : a.entries < b.entries;
    });
    const Candidate &first = candidates[f][0];
    Claim claim{f, first.entries, first.bytes, 0};
    bool onOperand = first.onOperand;
    for (const Candidate &other : ArrayRef(candidates[f]).drop_front())
      if (isPrefix(claim.entries, other.entries)) {
        claim.entries = other.entries;
        claim.bytes += other.bytes;
        onOperand |= other.onOperand;
      }
    claim.rank = rankOf(f, onOperand);
    claims.push_back(std::move(claim));
  }
  if (claims.empty())
    return;
  llvm::sort(claims, [](const Claim &a, const Claim &b) {
    if (a.rank != b.rank)
      return a.rank < b.rank;
    if (a.bytes != b.bytes)
      return a.bytes > b.bytes;
    return a.entries != b.entries ? a.entries < b.entries : a.factor < b.factor;
  });
  DimEntries used;
  SmallVector<DimEntries, 8> chosen(rule.numFactors());
  for (Claim &claim : claims) {
    int64_t size = rule.factor(claim.factor).size;
    DimEntries kept;
    for (const DimEntry &entry : claim.entries) {
      if (overlapsAny(entry, used, mesh) ||
          (size % (totalFactor(kept) * entry.size)) != 0)
        break;
      kept.push_back(entry);
    }
    used.append(kept.begin(), kept.end());
    chosen[claim.factor] = canonicalize(kept);
  }

  for (auto [t, id] : llvm::enumerate(node.tensors)) {
    if (id < 0)
      continue;
    bool changed = false;
    for (unsigned d = 0; d < tensorOf(t).numDims; ++d) {
      ArrayRef<int32_t> factors = rule.dimFactors(tensorOf(t), d);
      if (factors.empty() || !values[id].sharding.dims[d].open)
        continue;
      if (factors.size() == 1) {
        if (!chosen[factors.front()].empty())
          changed |= update(id, d, chosen[factors.front()]);
        continue;
      }
      SmallVector<int64_t> sizes;
      SmallVector<DimEntries> parts;
      for (int32_t f : factors) {
        sizes.push_back(rule.factor(f).size);
        parts.push_back(chosen[f]);
      }
      changed |= update(id, d, joinDim(parts, sizes));
    }
    if (changed)
      for (unsigned user : values[id].users)
        nodes[user].dirty = true;
  }
  node.dirty = false;
}

bool Propagation::update(unsigned id, unsigned dim,
                         ArrayRef<DimEntry> entries) {
  Sharding &sharding = values[id].sharding;
  DimEntries &current = sharding.dims[dim].entries;
  if (ArrayRef(current) == entries || !isPrefix(current, entries))
    return false;
  // The longest part that this value can take.
  DimEntries taken;
  for (const DimEntry &entry : entries) {
    bool busy = overlapsAny(entry, sharding.replicated, mesh) ||
                overlapsAny(entry, sharding.unreduced, mesh);
    for (auto [d, other] : llvm::enumerate(sharding.dims))
      busy |= d != dim && overlapsAny(entry, other.entries, mesh);
    if (busy || values[id].shape[dim] % (totalFactor(taken) * entry.size) != 0)
      break;
    taken.push_back(entry);
  }
  taken = canonicalize(taken);
  if (ArrayRef(current) == ArrayRef(taken) || !isPrefix(current, taken))
    return false;
  current = std::move(taken);
  return true;
}
