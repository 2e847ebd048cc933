//===- StableHLORules.cpp - Rules of StableHLO's ops by name --------------===//
//
// Each rule reads shapes and attributes. A form that is not expected replicates the op.
//
//===----------------------------------------------------------------------===//

#include "Attributes.h"
#include "Model.h"
#include "shardkit/Rules/Reshapes.h"
#include "shardkit/Rules/RuleBuilder.h"

#include "llvm/ADT/StringMap.h"

using namespace mlir;
using namespace mlir::spmd;
using namespace mlir::spmd::stablehlo;

namespace {

using Factors = SmallVector<int32_t, 6>;
using RuleFn = ShardingRule (*)(Operation *);

/// Adds tensors with a factor, or -1, per dim.
struct Builder {
  ShardingRule rule;

  explicit Builder(Operation *op) : op(op) { rule.hasLocalAttributes = true; }

  /// Ops move elements of parallel factors, or compute without traps; a sum ignores its neutral element.
  int32_t factor(int64_t size, FactorKind kind = FactorKind::Parallel) {
    int32_t f = rule.addFactor(size, kind);
    rule.setPadding(f, kind == FactorKind::Parallel ? PaddingContent::Harmless : PaddingContent::Neutral);
    return f;
  }
  Factors factorsOf(Value value) {
    Factors factors;
    for (int64_t size : getShapeOf(value))
      factors.push_back(factor(size));
    return factors;
  }
  ShardingRule::Tensor &operand(ArrayRef<int32_t> factors) {
    ShardingRule::Tensor &tensor = rule.addOperand(op->getOperand(rule.numOperands()));
    rule.addDims(factors);
    return tensor;
  }
  /// An operand that is accumulated into result `r`.
  void init(ArrayRef<int32_t> factors, unsigned r) {
    ShardingRule::Tensor &tensor = operand(factors);
    tensor.role = OperandRole::Init;
    tensor.result = r;
  }
  /// The first operand: each dim is read along a factor of the result, at the same index or in windows. Without windows
  /// neither is sharded.
  void windowedOperand(Factors &factors, llvm::function_ref<std::optional<DimWindow>(size_t d)> getWindow) {
    rule.addOperand(op->getOperand(0));
    for (auto [d, f] : llvm::enumerate(factors)) {
      std::optional<DimWindow> window = getWindow(d);
      if (!window) {
        rule.addDim({});
        f = -1;
      } else if (window->stride == 1 && window->offset == 0 && window->length == 1 &&
                 getShapeOf(op->getOperand(0))[d] == rule.factor(f).size) {
        rule.addDim(f);
      } else {
        rule.addWindows(f, *window);
      }
    }
  }
  /// All operands that are left are unsharded.
  void unshardedOperands() {
    while (rule.numOperands() < op->getNumOperands())
      operand(Factors(getShapeOf(op->getOperand(rule.numOperands())).size(), -1));
  }
  void result(ArrayRef<int32_t> factors, ReductionKind reduction = ReductionKind::Sum) {
    rule.addResult(op->getResult(rule.numResults())).reduction = reduction;
    rule.addDims(factors);
  }
  Operation *op;
};

bool hasTensors(Operation *op, unsigned operands, unsigned results) {
  return op->getNumOperands() >= operands && op->getNumResults() == results &&
         llvm::all_of(llvm::concat<const Type>(op->getOperandTypes(), op->getResultTypes()),
                      llvm::IsaPred<RankedTensorType>);
}

bool areDims(ArrayRef<int64_t> dims, size_t rank) {
  SmallVector<bool> seen(rank);
  return llvm::all_of(dims, [&](int64_t d) { return d >= 0 && d < int64_t(rank) && !std::exchange(seen[d], true); });
}

ShardingRule getReplicatedRule(Operation *op) {
  Builder b(op);
  b.unshardedOperands();
  for (Value result : op->getResults())
    b.result(Factors(getShapeOf(result).size(), -1));
  return std::move(b.rule);
}

ShardingRule getElementwiseRule(Operation *op) {
  if (!hasTensors(op, 0, 1))
    return getReplicatedRule(op);
  // Integers may trap on a divisor in the padding.
  StringRef name = op->getName().stripDialect();
  bool mayTrap = (name == "divide" || name == "remainder" || name == "power") &&
                 !isa<FloatType>(cast<RankedTensorType>(op->getResult(0).getType()).getElementType());
  return RuleBuilder(op, "...")
      .padding("...", mayTrap ? PaddingContent::Unknown : PaddingContent::Harmless)
      .localAttributes();
}

/// A splat takes any layout.
ShardingRule getConstantRule(Operation *op) {
  if (!hasTensors(op, 0, 1) || !getSplat(op->getResult(0)))
    return getReplicatedRule(op);
  return getElementwiseRule(op);
}

ShardingRule getIotaRule(Operation *op) {
  std::optional<int64_t> dim = getInt(op, "iota_dimension");
  if (!hasTensors(op, 0, 1) || !dim)
    return getReplicatedRule(op);
  Builder b(op);
  Factors factors = b.factorsOf(op->getResult(0));
  if (*dim >= 0 && *dim < int64_t(factors.size()))
    factors[*dim] = -1;
  b.result(factors);
  return std::move(b.rule);
}

ShardingRule getBroadcastInDimRule(Operation *op) {
  Ints dims = getInts(op, "broadcast_dimensions");
  if (!hasTensors(op, 1, 1) || dims.size() != getShapeOf(op->getOperand(0)).size() ||
      !areDims(dims, getShapeOf(op->getResult(0)).size()))
    return getReplicatedRule(op);
  Builder b(op);
  Factors result = b.factorsOf(op->getResult(0)), operand;
  for (auto [size, d] : llvm::zip(getShapeOf(op->getOperand(0)), dims))
    operand.push_back(size == b.rule.factor(result[d]).size ? result[d] : -1);
  b.operand(operand);
  b.result(result);
  return std::move(b.rule);
}

ShardingRule getTransposeRule(Operation *op) {
  Ints dims = getInts(op, "permutation");
  if (!hasTensors(op, 1, 1) || dims.size() != getShapeOf(op->getOperand(0)).size() || !areDims(dims, dims.size()))
    return getReplicatedRule(op);
  Builder b(op);
  Factors operand = b.factorsOf(op->getOperand(0)), result;
  for (int64_t d : dims)
    result.push_back(operand[d]);
  b.operand(operand);
  b.result(result);
  return std::move(b.rule);
}

ShardingRule getReshapeRule(Operation *op) {
  if (!hasTensors(op, 1, 1) || !cast<RankedTensorType>(op->getOperand(0).getType()).hasStaticShape() ||
      !cast<RankedTensorType>(op->getResult(0).getType()).hasStaticShape())
    return getReplicatedRule(op);
  ShardingRule rule = spmd::getReshapeRule(op);
  rule.hasLocalAttributes = true;
  return rule;
}

/// Operands of one size are digits of the joined dim. Of several sizes it stays unsharded.
ShardingRule getConcatenateRule(Operation *op) {
  std::optional<int64_t> dim = getInt(op, "dimension");
  if (!hasTensors(op, 1, 1) || !dim || *dim < 0 || *dim >= int64_t(getShapeOf(op->getResult(0)).size()))
    return getReplicatedRule(op);
  for (Value operand : op->getOperands())
    if (getShapeOf(operand).size() != getShapeOf(op->getResult(0)).size())
      return getReplicatedRule(op);
  ShardingRule rule = getConcatRule(op, *dim);
  if (rule.hasWindows()) {
    Builder b(op);
    Factors factors = b.factorsOf(op->getResult(0));
    factors[*dim] = -1;
    for (unsigned i = 0; i < op->getNumOperands(); ++i)
      b.operand(factors);
    b.result(factors);
    return std::move(b.rule);
  }
  for (int32_t f = 0; f < int32_t(rule.numFactors()); ++f)
    rule.setPadding(f, PaddingContent::Harmless);
  rule.hasLocalAttributes = true;
  return rule;
}

/// Dims that a slice takes fully are parallel, others are read in windows.
ShardingRule getSliceRule(Operation *op) {
  Ints start = getInts(op, "start_indices"), strides = getInts(op, "strides");
  if (!hasTensors(op, 1, 1))
    return getReplicatedRule(op);
  ArrayRef<int64_t> in = getShapeOf(op->getOperand(0)), out = getShapeOf(op->getResult(0));
  if (start.size() != in.size() || strides.size() != in.size() || out.size() != in.size())
    return getReplicatedRule(op);
  Builder b(op);
  Factors factors = b.factorsOf(op->getResult(0));
  b.windowedOperand(factors, [&](size_t d) -> std::optional<DimWindow> {
    if (in[d] == out[d])
      return DimWindow();
    return strides[d] > 0 && start[d] >= 0 ? std::optional(DimWindow{strides[d], start[d], 1}) : std::nullopt;
  });
  b.result(factors);
  return std::move(b.rule);
}

/// Padding with zero is read in windows; dims with other padding are unsharded.
ShardingRule getPadRule(Operation *op) {
  Ints low = getInts(op, "edge_padding_low"), high = getInts(op, "edge_padding_high"),
       interior = getInts(op, "interior_padding");
  if (!hasTensors(op, 2, 1))
    return getReplicatedRule(op);
  ArrayRef<int64_t> in = getShapeOf(op->getOperand(0));
  if (low.size() != in.size() || high.size() != in.size() || interior.size() != in.size() ||
      getShapeOf(op->getResult(0)).size() != in.size())
    return getReplicatedRule(op);
  TypedAttr value = getSplat(op->getOperand(1));
  auto isZero = [&] {
    if (auto number = dyn_cast_or_null<FloatAttr>(value))
      return number.getValue().isPosZero();
    auto number = dyn_cast_or_null<IntegerAttr>(value);
    return number && number.getValue().isZero();
  };
  Builder b(op);
  Factors factors = b.factorsOf(op->getResult(0));
  b.windowedOperand(factors, [&](size_t d) -> std::optional<DimWindow> {
    if (low[d] == 0 && high[d] == 0 && interior[d] == 0)
      return DimWindow();
    const bool isRead = low[d] >= 0 && high[d] >= 0 && interior[d] == 0 && isZero();
    return isRead ? std::optional(DimWindow{1, -low[d], 1}) : std::nullopt;
  });
  b.unshardedOperands();
  b.result(factors);
  return std::move(b.rule);
}

ShardingRule getReverseRule(Operation *op) {
  Ints dims = getInts(op, "dimensions");
  if (!hasTensors(op, 1, 1) || !areDims(dims, getShapeOf(op->getResult(0)).size()))
    return getReplicatedRule(op);
  Builder b(op);
  Factors factors = b.factorsOf(op->getResult(0));
  b.windowedOperand(factors, [&](size_t d) {
    return llvm::is_contained(dims, int64_t(d)) ? DimWindow{-1, getShapeOf(op->getResult(0))[d] - 1, 1} : DimWindow();
  });
  b.result(factors);
  return std::move(b.rule);
}

ShardingRule getDotGeneralRule(Operation *op) {
  static constexpr StringRef name = "dot_dimension_numbers";
  Ints batch[2] = {getList(op, name, "lhs_batching_dimensions"), getList(op, name, "rhs_batching_dimensions")};
  Ints summed[2] = {getList(op, name, "lhs_contracting_dimensions"), getList(op, name, "rhs_contracting_dimensions")};
  if (!hasTensors(op, 2, 1) || batch[0].size() != batch[1].size() || summed[0].size() != summed[1].size())
    return getReplicatedRule(op);
  Builder b(op);
  Factors operands[2], result;
  for (unsigned t = 0; t < 2; ++t) {
    ArrayRef<int64_t> shape = getShapeOf(op->getOperand(t));
    if (!areDims(llvm::to_vector(llvm::concat<int64_t>(batch[t], summed[t])), shape.size()))
      return getReplicatedRule(op);
    operands[t].assign(shape.size(), -1);
  }
  ArrayRef<int64_t> lhs = getShapeOf(op->getOperand(0));
  for (auto [l, r] : llvm::zip(batch[0], batch[1]))
    result.push_back(operands[0][l] = operands[1][r] = b.factor(lhs[l]));
  for (auto [l, r] : llvm::zip(summed[0], summed[1]))
    operands[0][l] = operands[1][r] = b.factor(lhs[l], FactorKind::Reduction);
  for (unsigned t = 0; t < 2; ++t)
    for (auto [f, size] : llvm::zip(operands[t], getShapeOf(op->getOperand(t))))
      if (f < 0)
        result.push_back(f = b.factor(size));
  b.operand(operands[0]);
  b.operand(operands[1]);
  b.unshardedOperands();
  b.result(result);
  b.rule.isContraction = true;
  return std::move(b.rule);
}

/// Batch, features and windows. Features of groups stay unsharded.
ShardingRule getConvolutionRule(Operation *op) {
  std::optional<ConvolutionDims> dims = getConvolutionDims(op);
  if (!hasTensors(op, 2, 1) || !dims || dims->in.size() != dims->out.size() || dims->in.size() != dims->kernel.size())
    return getReplicatedRule(op);
  ArrayRef<int64_t> in = getShapeOf(op->getOperand(0)), kernel = getShapeOf(op->getOperand(1)),
                    out = getShapeOf(op->getResult(0));
  if (in.size() != dims->in.size() + 2 || kernel.size() != in.size() || out.size() != in.size())
    return getReplicatedRule(op);
  Ints strides = getInts(op, "window_strides"), padding = getInts(op, "padding"),
       dilation = getInts(op, "rhs_dilation"), base = getInts(op, "lhs_dilation");
  const bool isGrouped =
      getInt(op, "feature_group_count").value_or(1) != 1 || getInt(op, "batch_group_count").value_or(1) != 1;
  auto at = [](ArrayRef<int64_t> list, size_t i, int64_t otherwise) { return i < list.size() ? list[i] : otherwise; };
  const bool isReversed = StringRef(getText(op, "window_reversal")).contains("true");
  Builder b(op);
  Factors kernelFactors(in.size(), -1), outFactors(in.size(), -1);
  SmallVector<std::optional<DimWindow>> windows(in.size());
  Factors inFactors(in.size(), -1);
  if (!isGrouped) {
    inFactors[dims->batchIn] = outFactors[dims->batchOut] = b.factor(in[dims->batchIn]);
    inFactors[dims->featureIn] = kernelFactors[dims->kernelIn] = b.factor(in[dims->featureIn], FactorKind::Reduction);
    kernelFactors[dims->kernelOut] = outFactors[dims->featureOut] = b.factor(out[dims->featureOut]);
  } else if (getInt(op, "batch_group_count").value_or(1) == 1) {
    inFactors[dims->batchIn] = outFactors[dims->batchOut] = b.factor(in[dims->batchIn]);
  }
  for (size_t i = 0; i < dims->in.size(); ++i) {
    if (at(base, i, 1) != 1 || isReversed)
      continue;
    int32_t f = outFactors[dims->out[i]] = b.factor(out[dims->out[i]]);
    inFactors[dims->in[i]] = f;
    windows[dims->in[i]] =
        DimWindow{at(strides, i, 1), -at(padding, 2 * i, 0), at(dilation, i, 1) * (kernel[dims->kernel[i]] - 1) + 1};
  }
  b.rule.addOperand(op->getOperand(0));
  for (auto [f, window] : llvm::zip(inFactors, windows))
    if (window)
      b.rule.addWindows(f, *window);
    else
      b.rule.addDim(f < 0 ? ArrayRef<int32_t>() : ArrayRef<int32_t>(f));
  b.operand(kernelFactors);
  b.unshardedOperands();
  b.result(outFactors);
  b.rule.isContraction = true;
  return std::move(b.rule);
}

/// The kind of a reduction whose region is one op.
std::optional<ReductionKind> getReduction(Operation *op) {
  if (op->getNumRegions() != 1 || !op->getRegion(0).hasOneBlock())
    return std::nullopt;
  Block &body = op->getRegion(0).front();
  if (body.getNumArguments() != 2 || !llvm::hasNItems(body, 2) || body.front().getNumOperands() != 2 ||
      body.front().getNumResults() != 1 || body.back().getNumOperands() != 1 ||
      body.back().getOperand(0) != body.front().getResult(0))
    return std::nullopt;
  Value a = body.front().getOperand(0), b = body.front().getOperand(1);
  if (a == b || a.getParentBlock() != &body || b.getParentBlock() != &body)
    return std::nullopt;
  auto kind = llvm::StringSwitch<std::optional<ReductionKind>>(body.front().getName().getStringRef())
                  .Case("stablehlo.add", ReductionKind::Sum)
                  .Case("stablehlo.multiply", ReductionKind::Prod)
                  .Case("stablehlo.maximum", ReductionKind::Max)
                  .Case("stablehlo.minimum", ReductionKind::Min)
                  .Case("stablehlo.and", ReductionKind::And)
                  .Case("stablehlo.or", ReductionKind::Or)
                  .Default(std::nullopt);
  Type element = getElementTypeOrSelf(a.getType());
  return element.isSignlessIntOrFloat() ? kind : std::nullopt;
}

/// A sum of several operands at once, such as an argmax, is not sharded along its dims.
ShardingRule getReduceRule(Operation *op) {
  Ints dims = getInts(op, "dimensions");
  unsigned count = op->getNumResults();
  if (count == 0 || op->getNumOperands() != 2 * count || !hasTensors(op, 2 * count, count))
    return getReplicatedRule(op);
  ArrayRef<int64_t> shape = getShapeOf(op->getOperand(0));
  if (!areDims(dims, shape.size()) || getShapeOf(op->getResult(0)).size() + dims.size() != shape.size())
    return getReplicatedRule(op);
  std::optional<ReductionKind> reduction = count == 1 ? getReduction(op) : std::nullopt;
  Builder b(op);
  Factors in, out;
  for (auto [d, size] : llvm::enumerate(shape)) {
    if (!llvm::is_contained(dims, int64_t(d)))
      out.push_back(in.emplace_back(b.factor(size)));
    else
      in.push_back(reduction ? b.factor(size, FactorKind::Reduction) : -1);
  }
  for (unsigned i = 0; i < count; ++i)
    b.operand(in);
  for (unsigned i = 0; i < count; ++i)
    b.init({}, i);
  for (unsigned i = 0; i < count; ++i)
    b.result(out, reduction.value_or(ReductionKind::Sum));
  return std::move(b.rule);
}

/// Dims with windows of one element are parallel. Others are read in windows if their padding is a constant.
ShardingRule getReduceWindowRule(Operation *op) {
  if (op->getNumOperands() != 2 || !hasTensors(op, 2, 1))
    return getReplicatedRule(op);
  size_t rank = getShapeOf(op->getOperand(0)).size();
  Ints sizes = getInts(op, "window_dimensions"), strides = getInts(op, "window_strides"),
       base = getInts(op, "base_dilations"), dilation = getInts(op, "window_dilations"),
       padding = getInts(op, "padding");
  strides.resize(rank, 1);
  base.resize(rank, 1);
  dilation.resize(rank, 1);
  padding.resize(2 * rank, 0);
  if (sizes.size() != rank || getShapeOf(op->getResult(0)).size() != rank)
    return getReplicatedRule(op);
  TypedAttr init = getSplat(op->getOperand(1));
  Builder b(op);
  Factors factors = b.factorsOf(op->getResult(0));
  b.windowedOperand(factors, [&](size_t d) -> std::optional<DimWindow> {
    const bool isPadded = padding[2 * d] != 0 || padding[2 * d + 1] != 0;
    if (base[d] != 1 || (isPadded && !init))
      return std::nullopt;
    return DimWindow{strides[d], -padding[2 * d], dilation[d] * (sizes[d] - 1) + 1};
  });
  b.unshardedOperands();
  b.result(factors);
  return std::move(b.rule);
}

/// The dims of `rank` indices that are not the one of index vectors, in order. std::nullopt if the attribute is of
/// another form.
std::optional<Ints> getIndexDims(Operation *op, StringRef name, size_t rank) {
  std::string text = getText(op, name);
  size_t at = StringRef(text).find("index_vector_dim = ");
  int64_t vectorDim = 0; // not printed if zero
  if (at != StringRef::npos)
    StringRef(text).substr(at + 19).consumeInteger(10, vectorDim);
  if (vectorDim < 0 || vectorDim > int64_t(rank))
    return std::nullopt;
  return Ints(llvm::make_filter_range(llvm::seq<int64_t>(rank), [&](int64_t d) { return d != vectorDim; }));
}

/// Dims of slices that are all of the operand's are parallel, and so are the dims of the indices.
ShardingRule getGatherRule(Operation *op) {
  static constexpr StringRef name = "dimension_numbers";
  Ints offset = getList(op, name, "offset_dims"), collapsed = getList(op, name, "collapsed_slice_dims"),
       batching = getList(op, name, "operand_batching_dims"),
       indicesBatching = getList(op, name, "start_indices_batching_dims"), sizes = getInts(op, "slice_sizes");
  if (op->getNumOperands() != 2 || !hasTensors(op, 2, 1))
    return getReplicatedRule(op);
  ArrayRef<int64_t> in = getShapeOf(op->getOperand(0)), indices = getShapeOf(op->getOperand(1)),
                    out = getShapeOf(op->getResult(0));
  std::optional<Ints> indexDims = getIndexDims(op, name, indices.size());
  if (sizes.size() != in.size() || !areDims(offset, out.size()) || !areDims(collapsed, in.size()) ||
      batching.size() != indicesBatching.size() || !areDims(batching, in.size()) ||
      !areDims(indicesBatching, indices.size()) || offset.size() + collapsed.size() + batching.size() != in.size() ||
      !indexDims || out.size() - offset.size() != indexDims->size())
    return getReplicatedRule(op);
  Builder b(op);
  Factors inFactors(in.size(), -1), indexFactors(indices.size(), -1), outFactors(out.size(), -1);
  size_t next = 0;
  for (size_t d = 0; d < out.size(); ++d)
    if (!llvm::is_contained(offset, int64_t(d)))
      outFactors[d] = indexFactors[(*indexDims)[next++]] = b.factor(out[d]);
  for (auto [i, d] : llvm::zip(indicesBatching, batching))
    inFactors[d] = indexFactors[i];
  next = 0;
  for (size_t d = 0; d < in.size(); ++d) {
    if (llvm::is_contained(collapsed, int64_t(d)) || llvm::is_contained(batching, int64_t(d)))
      continue;
    int64_t to = offset[next++];
    if (sizes[d] == in[d])
      inFactors[d] = outFactors[to] = b.factor(in[d]);
  }
  b.operand(inFactors);
  b.operand(indexFactors);
  b.result(outFactors);
  return std::move(b.rule);
}

/// Dims of updates that are all of the operand's are parallel, and so are batching dims. Along the other dims of the
/// indices updates are combined, if the region is a reduction; their order is not specified.
ShardingRule getScatterRule(Operation *op) {
  static constexpr StringRef name = "scatter_dimension_numbers";
  Ints window = getList(op, name, "update_window_dims"), inserted = getList(op, name, "inserted_window_dims"),
       batching = getList(op, name, "input_batching_dims"),
       indicesBatching = getList(op, name, "scatter_indices_batching_dims");
  if (op->getNumOperands() != 3 || !hasTensors(op, 3, 1))
    return getReplicatedRule(op);
  ArrayRef<int64_t> in = getShapeOf(op->getOperand(0)), indices = getShapeOf(op->getOperand(1)),
                    updates = getShapeOf(op->getOperand(2));
  std::optional<Ints> indexDims = getIndexDims(op, name, indices.size());
  if (!areDims(window, updates.size()) ||
      !areDims(llvm::to_vector(llvm::concat<int64_t>(inserted, batching)), in.size()) ||
      window.size() + inserted.size() + batching.size() != in.size() || batching.size() != indicesBatching.size() ||
      !areDims(indicesBatching, indices.size()) || !indexDims || updates.size() - window.size() != indexDims->size())
    return getReplicatedRule(op);
  std::optional<ReductionKind> reduction = getReduction(op);
  Builder b(op);
  Factors inFactors(in.size(), -1), indexFactors(indices.size(), -1), updateFactors(updates.size(), -1);
  size_t next = 0;
  for (size_t d = 0; d < updates.size(); ++d) {
    if (llvm::is_contained(window, int64_t(d)))
      continue;
    const int64_t at = (*indexDims)[next++];
    const bool isBatching = llvm::is_contained(indicesBatching, at);
    if (isBatching)
      updateFactors[d] = indexFactors[at] = b.factor(updates[d]);
    else if (reduction)
      updateFactors[d] = indexFactors[at] = b.factor(updates[d], FactorKind::Reduction);
  }
  for (auto [i, d] : llvm::zip(indicesBatching, batching))
    inFactors[d] = indexFactors[i];
  next = 0;
  for (size_t d = 0; d < in.size(); ++d) {
    if (llvm::is_contained(inserted, int64_t(d)) || llvm::is_contained(batching, int64_t(d)))
      continue;
    int64_t from = window[next++];
    if (updates[from] == in[d])
      inFactors[d] = updateFactors[from] = b.factor(in[d]);
  }
  if (reduction)
    b.init(inFactors, 0);
  else
    b.operand(inFactors);
  b.operand(indexFactors);
  b.operand(updateFactors);
  b.result(inFactors, reduction.value_or(ReductionKind::Sum));
  return std::move(b.rule);
}

/// dynamic_slice, dynamic_update_slice: dims that are taken or written fully are parallel; the slice is operand or
/// result.
ShardingRule getDynamicSliceRule(Operation *op) {
  const bool writes = op->getName().stripDialect() == "dynamic_update_slice";
  if (!hasTensors(op, 1 + writes, 1))
    return getReplicatedRule(op);
  Value full = op->getOperand(0), slice = writes ? op->getOperand(1) : Value(op->getResult(0));
  if (getShapeOf(full).size() != getShapeOf(slice).size())
    return getReplicatedRule(op);
  Builder b(op);
  Factors factors;
  for (auto [all, size] : llvm::zip(getShapeOf(full), getShapeOf(slice)))
    factors.push_back(all == size ? b.factor(all) : -1);
  b.operand(factors);
  if (writes)
    b.operand(factors);
  b.unshardedOperands();
  b.result(factors);
  return std::move(b.rule);
}

/// All dims but some are parallel and the same in all tensors of the rank of the first.
ShardingRule getRowsRule(Operation *op, llvm::function_ref<bool(size_t d, size_t rank)> isRow) {
  if (op->getNumOperands() == 0 || op->getNumResults() == 0 || !hasTensors(op, 1, op->getNumResults()))
    return getReplicatedRule(op);
  Builder b(op);
  ArrayRef<int64_t> shape = getShapeOf(op->getOperand(0));
  Factors factors;
  for (auto [d, size] : llvm::enumerate(shape))
    factors.push_back(isRow(d, shape.size()) ? b.factor(size) : -1);
  for (Value value :
       llvm::concat<Value>(llvm::to_vector(op->getOperands()), llvm::to_vector_of<Value>(op->getResults())))
    for (auto [d, size] : llvm::enumerate(getShapeOf(value)))
      if (getShapeOf(value).size() != shape.size() || (factors[d] >= 0 && size != shape[d]))
        return getReplicatedRule(op);
  for (unsigned i = 0; i < op->getNumOperands(); ++i)
    b.operand(factors);
  for (unsigned i = 0; i < op->getNumResults(); ++i)
    b.result(factors);
  return std::move(b.rule);
}

ShardingRule getSortRule(Operation *op) {
  std::optional<int64_t> dim = getInt(op, "dimension");
  return getRowsRule(
      op, [&](size_t d, size_t rank) { return dim && int64_t(d) != (*dim < 0 ? *dim + int64_t(rank) : *dim); });
}

ShardingRule getTopKRule(Operation *op) {
  return getRowsRule(op, [](size_t d, size_t rank) { return d + 1 < rank; });
}

ShardingRule getMatrixRule(Operation *op) {
  return getRowsRule(op, [](size_t d, size_t rank) { return d + 2 < rank; });
}

/// Dims that are not transformed are parallel.
ShardingRule getFftRule(Operation *op) {
  const size_t transformed = getInts(op, "fft_length").size();
  return getRowsRule(op, [&](size_t d, size_t rank) { return transformed > 0 && d + transformed < rank; });
}

constexpr StringLiteral kChloElementwise[] = {
    "acos",   "acosh",      "asin",      "asinh",   "atan",   "atanh",  "bessel_i1e", "conj",
    "cosh",   "digamma",    "erf",       "erf_inv", "erfc",   "is_inf", "is_neg_inf", "is_pos_inf",
    "lgamma", "next_after", "polygamma", "sinh",    "square", "tan",    "zeta"};

/// Of targets that frameworks emit: copies, and ops of chlo by the name that they have in StableHLO. Another target may
/// do anything with a shard, so that it has no rule.
ShardingRule getCustomCallRule(Operation *op) {
  auto target = op->getAttrOfType<StringAttr>("call_target_name");
  StringRef name = target ? target.getValue() : StringRef();
  const bool isCopy =
      llvm::is_contained({"annotate_device_placement", "LayoutConstraint", "MoveToDevice", "MoveToHost"}, name);
  if (isCopy && op->getOperandTypes() == op->getResultTypes())
    return getElementwiseRule(op);
  if (name.consume_front("mhlo.") && name == "topk")
    return getTopKRule(op);
  if (target && name != target.getValue() && llvm::is_contained(kChloElementwise, name))
    return getElementwiseRule(op);
  ShardingRule rule = getReplicatedRule(op);
  rule.isFallback = true;
  return rule;
}

llvm::StringMap<RuleFn> makeTable() {
  llvm::StringMap<RuleFn> table;
  for (StringRef name : {"abs",
                         "add",
                         "and",
                         "atan2",
                         "bitcast_convert",
                         "cbrt",
                         "ceil",
                         "clamp",
                         "compare",
                         "complex",
                         "convert",
                         "cosine",
                         "count_leading_zeros",
                         "divide",
                         "exponential",
                         "exponential_minus_one",
                         "floor",
                         "imag",
                         "is_finite",
                         "log",
                         "log_plus_one",
                         "logistic",
                         "maximum",
                         "minimum",
                         "multiply",
                         "negate",
                         "not",
                         "optimization_barrier",
                         "or",
                         "popcnt",
                         "power",
                         "real",
                         "reduce_precision",
                         "remainder",
                         "round_nearest_afz",
                         "round_nearest_even",
                         "rsqrt",
                         "select",
                         "shift_left",
                         "shift_right_arithmetic",
                         "shift_right_logical",
                         "sign",
                         "sine",
                         "sqrt",
                         "subtract",
                         "tan",
                         "tanh",
                         "xor"})
    table[("stablehlo." + name).str()] = getElementwiseRule;
  for (StringRef name : kChloElementwise)
    table[("chlo." + name).str()] = getElementwiseRule;
  static constexpr std::pair<StringLiteral, RuleFn> others[] = {
      {"stablehlo.broadcast_in_dim", getBroadcastInDimRule},
      {"stablehlo.cholesky", getMatrixRule},
      {"stablehlo.concatenate", getConcatenateRule},
      {"stablehlo.constant", getConstantRule},
      {"stablehlo.convolution", getConvolutionRule},
      {"stablehlo.custom_call", getCustomCallRule},
      {"stablehlo.dot_general", getDotGeneralRule},
      {"stablehlo.dynamic_slice", getDynamicSliceRule},
      {"stablehlo.dynamic_update_slice", getDynamicSliceRule},
      {"stablehlo.fft", getFftRule},
      {"stablehlo.gather", getGatherRule},
      {"stablehlo.iota", getIotaRule},
      {"stablehlo.pad", getPadRule},
      {"stablehlo.reduce", getReduceRule},
      {"stablehlo.reduce_window", getReduceWindowRule},
      {"stablehlo.reshape", getReshapeRule},
      {"stablehlo.reverse", getReverseRule},
      // An element depends on the state and on its number in the full result; equal states give equal results.
      {"stablehlo.rng_bit_generator", getReplicatedRule},
      {"stablehlo.scatter", getScatterRule},
      {"stablehlo.slice", getSliceRule},
      {"stablehlo.sort", getSortRule},
      {"stablehlo.transpose", getTransposeRule},
      {"stablehlo.triangular_solve", getMatrixRule},
      {"chlo.top_k", getTopKRule},
  };
  for (auto [name, fn] : others)
    table[name] = fn;
  return table;
}

const llvm::StringMap<RuleFn> &getTable() {
  static const llvm::StringMap<RuleFn> table = makeTable();
  return table;
}

} // namespace

bool stablehlo::Model::hasRule(StringRef name) { return getTable().contains(name); }

ShardingRule stablehlo::Model::getShardingRule(Operation *op) const {
  return getTable().lookup(op->getName().getStringRef())(op);
}
