//===- Check.cpp - Checks what a certificate claims -----------------------===//

#include "shardkit/ProofCheck/Check.h"
#include "Elements.h"
#include "shardkit/Dialect/SPMD/IR/AttrNames.h"
#include "shardkit/Dialect/SPMD/IR/MeshCache.h"
#include "shardkit/Dialect/SPMD/IR/SPMD.h"
#include "shardkit/Layout/Owners.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include <random>

using namespace mlir;
using namespace mlir::spmd;

/// Devices of a group that are followed, and ops that an element outside of a dim is followed through.
static constexpr int64_t kMaxGroup = 4096;
static constexpr unsigned kMaxPaddingDepth = 4;

//===----------------------------------------------------------------------===//
// Claims
//===----------------------------------------------------------------------===//

namespace {
/// constant + the sum of factor * ((variable / lo) mod size)
struct Form {
  struct Term {
    bool isRank;
    int64_t lo, size, factor;
  };
  int64_t constant = 0;
  SmallVector<Term, 2> terms;
  int64_t at(int64_t rank, int64_t index) const {
    int64_t sum = constant;
    for (const Term &term : terms)
      sum += term.factor * (((term.isRank ? rank : index) / term.lo) % term.size);
    return sum;
  }
};

/// A local value holds these elements of an unsharded one.
struct Claim {
  Value value; ///< null: a constant, or undefined
  Attribute constant;
  SmallVector<std::optional<Form>, 4> dims;
  SmallVector<RankDigit, 2> partial;
  std::string kind;

  /// std::nullopt if a lane is outside.
  std::optional<Index> at(int64_t rank, ArrayRef<int64_t> index) const {
    Index result;
    ArrayRef<int64_t> shape = cast<RankedTensorType>(value.getType()).getShape();
    for (auto [dim, i, size] : llvm::zip_equal(dims, index, shape)) {
      result.push_back(dim ? dim->at(rank, i) : 0);
      if (result.back() < 0 || result.back() >= size)
        return std::nullopt;
    }
    return result;
  }
};
} // namespace

static bool areSameRanks(ArrayRef<RankDigit> a, ArrayRef<RankDigit> b) {
  SmallVector<int64_t> x = getGroup(0, a), y = getGroup(0, b);
  llvm::sort(x);
  llvm::sort(y);
  return x == y;
}

//===----------------------------------------------------------------------===//
// The unsharded program
//===----------------------------------------------------------------------===//

/// True if an element is read from few others.
static bool hasNoReduction(Operation *op) {
  auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
  return linalgOp ? linalgOp.getNumReductionLoops() == 0
                  : op->getNumRegions() == 0 || isa<tensor::TensorDialect>(op->getDialect());
}

namespace {
class GlobalElements : public Elements {
public:
  struct Memo {
    std::map<std::pair<void *, Index>, ExprId> elements;
    llvm::DenseMap<ExprId, ExprId> leaves; ///< the first element that is computed so
  };
  GlobalElements(ExprTable &exprs, Memo &memo) : Elements(exprs), memo(memo) {}

  /// An element, or that which it is a copy of. Elements that are computed in the same way are one.
  ExprId normalize(Value value, ArrayRef<int64_t> index) {
    std::pair<void *, Index> key(value.getAsOpaquePointer(), Index(index));
    if (auto it = memo.elements.find(key); it != memo.elements.end())
      return it->second;
    Expr leaf{Expr::Leaf};
    leaf.value = value;
    leaf.index = Index(index);
    ExprId id = exprs.get(leaf);
    Operation *op = value.getDefiningOp();
    if (isa_and_nonnull<WithShardingConstraintOp, PropagationBarrierOp>(op)) {
      id = normalize(op->getOperand(0), index);
    } else if (op && hasNoReduction(op)) {
      if (std::optional<ExprId> computed = GlobalElements(exprs, memo).compute(cast<OpResult>(value), index)) {
        bool isCopy = llvm::is_contained({Expr::Leaf, Expr::Constant, Expr::Undefined}, exprs[*computed].kind);
        id = isCopy ? *computed : memo.leaves.try_emplace(*computed, id).first->second;
      }
    }
    return memo.elements[key] = id;
  }
  /// What computes a normalized element, one op deep.
  std::optional<ExprId> expand(ExprId id) {
    Expr leaf = exprs[id];
    if (leaf.kind != Expr::Leaf || !isa_and_nonnull<OpResult>(leaf.value))
      return std::nullopt;
    GlobalElements elements(exprs, memo);
    std::optional<ExprId> computed = elements.compute(cast<OpResult>(leaf.value), leaf.index);
    why = elements.why;
    return computed;
  }

protected:
  std::optional<ExprId> getElement(Value value, ArrayRef<int64_t> index) override { return normalize(value, index); }
  std::optional<ExprId> getScalar(Value value) override {
    Expr leaf{Expr::Leaf};
    leaf.value = value;
    return exprs.get(leaf);
  }

private:
  Memo &memo;
};

//===----------------------------------------------------------------------===//
// One device
//===----------------------------------------------------------------------===//

using Claims = llvm::DenseMap<Value, std::vector<Claim>>;

struct Programs {
  ExprTable exprs;
  GlobalElements::Memo memo;
  Claims claims;
  llvm::DenseMap<Value, Value> scalars; ///< scalar arguments
  std::unique_ptr<MeshCache> meshes;
};

class LocalElements : public Elements {
public:
  LocalElements(Programs &programs, int64_t rank, unsigned depth = 0)
      : Elements(programs.exprs), programs(programs), rank(rank), depth(depth) {}

  /// An element, by what is claimed of the value; not of another program if nothing is.
  std::optional<ExprId> getElement(Value value, ArrayRef<int64_t> index) override;

protected:
  std::optional<ExprId> getScalar(Value value) override;

private:
  Programs &programs;
  int64_t rank;
  unsigned depth;
};
} // namespace

/// The value that a started collective gives.
static Value skipStart(Value value) {
  if (auto done = value.getDefiningOp<DoneOp>())
    value = done->getOperand(cast<OpResult>(value).getResultNumber());
  if (auto start = value.getDefiningOp<StartOp>())
    value = start.getBody().front().getTerminator()->getOperand(cast<OpResult>(value).getResultNumber());
  return value;
}

std::optional<ExprId> LocalElements::getElement(Value value, ArrayRef<int64_t> index) {
  value = skipStart(value);
  for (const Claim &claim : programs.claims.lookup(value)) {
    std::optional<ExprId> id;
    if (!claim.value)
      id = claim.constant ? exprs.getConstant(claim.constant) : exprs.get({Expr::Undefined});
    else if (std::optional<Index> at = claim.at(rank, index))
      id = GlobalElements(exprs, programs.memo).normalize(claim.value, *at);
    if (!id || claim.partial.empty())
      if (id)
        return id;
    if (!id)
      continue;
    Expr part{Expr::Part};
    part.children.push_back(*id);
    return exprs.get(part);
  }
  if (!programs.claims.count(value)) {
    if (why.empty())
      why = "an operand of which nothing is claimed";
    return std::nullopt;
  }
  // Padding, which may be a constant.
  Operation *op = value.getDefiningOp();
  if (isa_and_nonnull<CollectiveOpInterface>(op))
    if (TypedAttr zero = Builder(op->getContext()).getZeroAttr(getElementTypeOrSelf(value.getType())))
      return exprs.getConstant(zero);
  if (op && depth < kMaxPaddingDepth)
    if (std::optional<ExprId> id = LocalElements(programs, rank, depth + 1).compute(cast<OpResult>(value), index))
      if (exprs[*id].kind == Expr::Constant)
        return id;
  Expr leaf{Expr::Leaf};
  leaf.value = value;
  leaf.index = Index(index);
  leaf.index.push_back(rank);
  return exprs.get(leaf);
}

std::optional<ExprId> LocalElements::getScalar(Value value) {
  Expr leaf{Expr::Leaf};
  if (Value unsharded = programs.scalars.lookup(value)) {
    leaf.value = unsharded;
    return exprs.get(leaf);
  }
  if (auto coordinate = value.getDefiningOp<DeviceCoordinateOp>())
    if (const Mesh *mesh = programs.meshes->lookup(coordinate.getMeshAttr())) {
      int64_t stride = 1;
      for (const MeshAxis &axis : llvm::reverse(mesh->axes)) {
        if (axis.name == coordinate.getAxis())
          return exprs.getConstant(Builder(value.getContext()).getIndexAttr(rank / stride % axis.size));
        stride *= axis.size;
      }
    }
  leaf.value = value;
  return exprs.get(leaf);
}

//===----------------------------------------------------------------------===//
// Partial results
//===----------------------------------------------------------------------===//

static StringRef getText(const Expr &expr) {
  return expr.name ? OperationName::getFromOpaquePointer(expr.name).getStringRef() : StringRef();
}

/// The op that combines partial results.
static const void *getCombiner(StringRef kind, Type type) {
  bool isFloat = isa<FloatType>(type);
  StringRef name = llvm::StringSwitch<StringRef>(kind)
                       .Case("sum", isFloat ? "arith.addf" : "arith.addi")
                       .Case("prod", isFloat ? "arith.mulf" : "arith.muli")
                       .Case("max", isFloat ? "arith.maximumf" : "arith.maxsi")
                       .Case("min", isFloat ? "arith.minimumf" : "arith.minsi")
                       .Case("maxnum", "arith.maxnumf")
                       .Case("minnum", "arith.minnumf")
                       .Case("umax", "arith.maxui")
                       .Case("umin", "arith.minui")
                       .Case("and", "arith.andi")
                       .Case("or", "arith.ori")
                       .Case("xor", "arith.xori")
                       .Default("");
  return name.empty() ? nullptr : OperationName(name, type.getContext()).getAsOpaquePointer();
}

namespace {
/// How a term depends on the part of a device: not at all, as a constant that changes nothing, or as the sum of the
/// terms of all devices is the term of the sum.
enum class Dependence { None, Neutral, Linear, Other };

/// Compares what devices have with what the unsharded program has.
class Comparison {
public:
  Comparison(ExprTable &exprs, const void *combiner, bool isIdempotent)
      : exprs(exprs), combiner(combiner), isIdempotent(isIdempotent) {}

  /// True if `locals` combine to one of `expected`.
  bool areEqual(ArrayRef<ExprId> locals, ArrayRef<ExprId> expected) {
    for (ExprId other : expected) {
      const void *name = exprs[other].kind == Expr::Reduce ? exprs[other].name : combiner;
      SmallVector<ExprId> should = getTerms(other, name), is;
      for (ExprId local : locals) {
        const void *own = name ? name : exprs[local].kind == Expr::Reduce ? exprs[local].name : nullptr;
        llvm::append_range(is, getTerms(local, own));
      }
      joinParts(is, locals.size());
      if (isIdempotent)
        for (SmallVector<ExprId> *terms : {&is, &should})
          terms->erase(std::unique(terms->begin(), terms->end()), terms->end());
      if (is == should || isSumOfLinear(locals, other, name))
        return true;
    }
    return false;
  }

private:
  /// The parts that all devices have of an element are the element.
  void joinParts(SmallVector<ExprId> &terms, size_t numDevices) {
    std::map<ExprId, size_t> counts;
    for (ExprId term : terms)
      if (exprs[term].kind == Expr::Part)
        ++counts[term];
    for (auto [part, count] : counts) {
      if (count % numDevices)
        continue;
      llvm::erase(terms, part);
      terms.append(count / numDevices, exprs[part].children[0]);
    }
    llvm::sort(terms);
  }
  SmallVector<ExprId> getTerms(ExprId id, const void *name) {
    SmallVector<ExprId> terms{id};
    if (exprs[id].kind == Expr::Reduce && exprs[id].name == name)
      terms.assign(exprs[id].children.begin(), exprs[id].children.end());
    if (name)
      llvm::erase_if(terms, [&](ExprId term) { return isNeutralConstant(name, exprs[term]); });
    llvm::sort(terms);
    return terms;
  }
  /// The term with complete values in place of parts.
  ExprId complete(ExprId id) {
    Expr expr = exprs[id];
    if (expr.kind == Expr::Part)
      return expr.children[0];
    bool changed = false;
    for (ExprId &child : expr.children) {
      ExprId next = complete(child);
      changed |= next != child;
      child = next;
    }
    if (!changed)
      return id;
    if (expr.kind == Expr::Reduce)
      std::sort(expr.children.begin() + 1, expr.children.end());
    return exprs.get(expr);
  }
  Dependence getDependence(ExprId id) {
    const Expr expr = exprs[id];
    if (expr.kind == Expr::Part)
      return Dependence::Linear;
    if (combiner && isNeutralConstant(combiner, expr))
      return Dependence::Neutral;
    SmallVector<Dependence> children;
    for (ExprId child : expr.children)
      children.push_back(getDependence(child));
    auto isNone = [](Dependence dep) { return dep == Dependence::None || dep == Dependence::Neutral; };
    auto isLinear = [](Dependence dep) { return dep == Dependence::Linear || dep == Dependence::Neutral; };
    if (llvm::all_of(children, isNone))
      return Dependence::None;
    StringRef text = getText(expr);
    bool isSum = combiner && OperationName::getFromOpaquePointer(combiner).getStringRef().starts_with("arith.add");
    bool combines = expr.name == combiner || (isSum && (text == "arith.subf" || text == "arith.subi"));
    if (combines && llvm::all_of(children, isLinear))
      return Dependence::Linear;
    if (isSum && (text == "arith.mulf" || text == "arith.muli") && isNone(children[0]) != isNone(children[1]) &&
        llvm::is_contained(children, Dependence::Linear))
      return Dependence::Linear;
    if (isSum && text == "arith.negf")
      return children[0];
    if (text == "arith.select" && isNone(children[0]) && isLinear(children[1]) && isLinear(children[2]))
      return Dependence::Linear;
    return Dependence::Other;
  }
  bool isSumOfLinear(ArrayRef<ExprId> locals, ExprId other, const void *name) {
    return llvm::all_of(locals, [&](ExprId local) {
      return getDependence(local) == Dependence::Linear && getTerms(complete(local), name) == getTerms(other, name);
    });
  }

  ExprTable &exprs;
  const void *combiner;
  bool isIdempotent; ///< counting a term twice changes nothing
};

bool isIdempotent(StringRef kind) {
  return llvm::is_contained({"max", "min", "umax", "umin", "and", "or", "maxnum", "minnum"}, kind);
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

class Checker {
public:
  Checker(func::FuncOp global, func::FuncOp local, ArrayRef<Value> arguments, ArrayRef<Value> results)
      : global(global), local(local), arguments(arguments), results(results) {
    programs.meshes = std::make_unique<MeshCache>(local->getParentOp());
  }
  CheckResult check(const llvm::json::Object &certificate);

private:
  bool readClaims(const llvm::json::Object &certificate);
  std::optional<Claim> readClaim(const llvm::json::Object &object);
  /// Lanes that are looked at: pairs of a rank and a local index.
  std::vector<std::pair<int64_t, Index>> getLanes(Value value);

  bool checkArguments();
  bool checkResults();
  bool checkBlock(Block &block);
  bool checkOp(Operation *op);
  /// Checks a loop by induction: what is claimed of the carried values holds before it, and after an iteration if it
  /// does so before that.
  bool checkLoop(scf::ForOp loop);
  /// The loop of the unsharded program that the claims of the carried values name; null if they name none.
  scf::ForOp findLoop(scf::ForOp loop);
  /// Checks that `value` holds the elements of `unsharded` that `claim`, which is of another value, states.
  bool checkHolds(Operation *op, Value value, Value unsharded, const Claim &claim);
  /// Checks a claim of `value`, which another claim of `unsharded` implies if it holds the same elements.
  bool checkImplied(Operation *op, Value value, const Claim &claim, Value unsharded, ArrayRef<Claim> known);
  bool checkElement(OpResult result, const Claim &claim, int64_t rank, ArrayRef<int64_t> index);
  bool checkCollective(CollectiveOpInterface op, const Claim &claim, int64_t rank, ArrayRef<int64_t> index);
  FailureOr<Layout> getLayout(ShardingAttr attr, RankedTensorType type);

  bool setUnknown(Operation *op, const Twine &reason) { return set(op, reason, false); }
  bool setUnconfirmed(Operation *op, const Twine &reason) { return set(op, reason, true); }
  bool set(Operation *op, const Twine &reason, bool isUnconfirmed) {
    if (!result.op) {
      result.op = op;
      result.reason = reason.str();
      result.isUnconfirmed = isUnconfirmed;
    }
    return false;
  }

  func::FuncOp global, local;
  ArrayRef<Value> arguments, results;
  Programs programs;
  int64_t numDevices = 1;
  std::mt19937 random{1};
  CheckResult result;
};
} // namespace

static std::string describe(int64_t rank, ArrayRef<int64_t> index) {
  std::string text = "element [";
  llvm::raw_string_ostream os(text);
  llvm::interleaveComma(index, os);
  os << "] of rank " << rank;
  return text;
}

std::optional<Claim> Checker::readClaim(const llvm::json::Object &object) {
  Claim claim;
  if (std::optional<int64_t> argument = object.getInteger("argument")) {
    if (*argument < 0 || *argument >= int64_t(global.getNumArguments()))
      return std::nullopt;
    claim.value = global.getArgument(*argument);
  } else if (std::optional<int64_t> number = object.getInteger("op")) {
    int64_t next = 0;
    std::optional<int64_t> r = object.getInteger("result"), carried = object.getInteger("carried");
    global.walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (next++ != *number)
        return;
      if (r && *r >= 0 && *r < int64_t(op->getNumResults()))
        claim.value = op->getResult(*r);
      if (auto loop = dyn_cast<scf::ForOp>(op);
          loop && carried && *carried >= 0 && *carried < int64_t(loop.getNumRegionIterArgs()))
        claim.value = loop.getRegionIterArg(*carried);
    });
    if (claim.value && !isa<RankedTensorType>(claim.value.getType()))
      return std::nullopt;
    if (!claim.value)
      return std::nullopt;
  } else if (std::optional<StringRef> text = object.getString("constant")) {
    claim.constant = parseAttribute(*text, global.getContext());
    if (!claim.constant)
      return std::nullopt;
  }
  if (const llvm::json::Array *dims = object.getArray("dims"))
    for (const llvm::json::Value &dim : *dims) {
      const llvm::json::Array *numbers = dim.getAsArray();
      if (!numbers) {
        claim.dims.push_back(std::nullopt);
        continue;
      }
      Form form;
      for (const llvm::json::Value &number : *numbers) {
        if (std::optional<int64_t> constant = number.getAsInteger()) {
          form.constant = *constant;
          continue;
        }
        const llvm::json::Object *term = number.getAsObject();
        if (!term || term->getInteger("size").value_or(0) < 1 || term->getInteger("lo").value_or(0) < 1)
          return std::nullopt;
        form.terms.push_back({term->getString("of") == StringRef("rank"), *term->getInteger("lo"),
                              *term->getInteger("size"), term->getInteger("factor").value_or(0)});
      }
      claim.dims.push_back(form);
    }
  if (claim.value && claim.dims.size() != size_t(cast<RankedTensorType>(claim.value.getType()).getRank()))
    return std::nullopt;
  if (const llvm::json::Array *partial = object.getArray("partial"))
    for (const llvm::json::Value &value : *partial) {
      const llvm::json::Object *digit = value.getAsObject();
      if (!digit || digit->getInteger("stride").value_or(0) < 1 || digit->getInteger("size").value_or(0) < 1)
        return std::nullopt;
      claim.partial.push_back({*digit->getInteger("stride"), *digit->getInteger("size")});
    }
  claim.kind = object.getString("kind").value_or("").str();
  return claim;
}

/// What a loop carries, among the numbers of results.
static int64_t getCarriedKey(int64_t number) { return -2 - number; }

bool Checker::readClaims(const llvm::json::Object &certificate) {
  std::map<std::pair<int64_t, int64_t>, Value> values;
  int64_t next = 0;
  local.walk<WalkOrder::PreOrder>([&](Operation *op) {
    for (OpResult value : op->getResults())
      values[{next, value.getResultNumber()}] = value;
    if (auto loop = dyn_cast<scf::ForOp>(op))
      for (auto [i, argument] : llvm::enumerate(loop.getRegionIterArgs()))
        values[{next, getCarriedKey(i)}] = argument;
    ++next;
  });
  for (BlockArgument argument : local.getArguments())
    values[{-1, argument.getArgNumber()}] = argument;
  const llvm::json::Array *list = certificate.getArray("claims");
  if (!list)
    return setUnknown(local, "the certificate has no claims");
  for (const llvm::json::Value &item : *list) {
    const llvm::json::Object *object = item.getAsObject();
    const llvm::json::Array *holds = object ? object->getArray("holds") : nullptr;
    auto at = values.end();
    if (object) {
      std::optional<int64_t> carried = object->getInteger("carried");
      int64_t result = carried && *carried >= 0 ? getCarriedKey(*carried) : object->getInteger("result").value_or(-1);
      at = values.find({object->getInteger("op").value_or(-1), result});
    }
    if (!holds || at == values.end() || !isa<RankedTensorType>(at->second.getType()))
      return setUnconfirmed(local, "a claim of no value");
    auto rank = cast<ShapedType>(at->second.getType()).getRank();
    for (const llvm::json::Value &claimed : *holds) {
      std::optional<Claim> claim = claimed.getAsObject() ? readClaim(*claimed.getAsObject()) : std::nullopt;
      if (!claim || (claim->value && int64_t(claim->dims.size()) != rank))
        return setUnconfirmed(local, "a claim that is not in form");
      programs.claims[at->second].push_back(*claim);
    }
  }
  return true;
}

std::vector<std::pair<int64_t, Index>> Checker::getLanes(Value value) {
  ArrayRef<int64_t> shape = cast<RankedTensorType>(value.getType()).getShape();
  std::vector<std::pair<int64_t, Index>> lanes;
  auto pick = [&](int64_t size) { return int64_t(random() % std::max<int64_t>(size, 1)); };
  for (unsigned i = 0; i < 6; ++i) {
    Index index;
    for (int64_t size : shape)
      index.push_back(i == 0 ? 0 : i == 1 ? size - 1 : pick(size));
    lanes.push_back({i == 0 ? 0 : i == 1 ? numDevices - 1 : pick(numDevices), index});
  }
  return lanes;
}

FailureOr<Layout> Checker::getLayout(ShardingAttr attr, RankedTensorType type) {
  if (!attr)
    return Layout::replicated(type.getShape());
  FailureOr<ShardingOnMesh> read = programs.meshes->read(attr, [&] { return local.emitError(); });
  if (failed(read))
    return failure();
  return Layout::get(read->sharding, *read->mesh, type.getShape());
}

bool Checker::checkArguments() {
  for (auto [i, argument] : llvm::enumerate(local.getArguments())) {
    auto type = dyn_cast<RankedTensorType>(argument.getType());
    if (!type) {
      programs.scalars[argument] = arguments[i];
      continue;
    }
    FailureOr<Layout> layout = getLayout(local.getArgAttrOfType<ShardingAttr>(i, kShardingAttr),
                                         cast<RankedTensorType>(arguments[i].getType()));
    if (failed(layout))
      return setUnknown(local, "a sharding that is not read");
    for (const Claim &claim : programs.claims.lookup(argument)) {
      // Claims of slices of the argument are about its elements as well.
      for (auto &[rank, index] : getLanes(argument)) {
        Index own;
        for (unsigned d = 0; d < index.size(); ++d)
          own.push_back(getOwnIndex(*layout, d, rank, index[d]));
        std::optional<Index> at = claim.value ? claim.at(rank, index) : std::nullopt;
        bool isInside = llvm::all_of(llvm::zip_equal(own, layout->shape),
                                     [](auto dim) { return std::get<0>(dim) < std::get<1>(dim); });
        if (!at)
          continue;
        GlobalElements elements(programs.exprs, programs.memo);
        if (!isInside || elements.normalize(claim.value, *at) != elements.normalize(arguments[i], own))
          return setUnconfirmed(local, "argument #" + Twine(i) + ": " + describe(rank, index));
      }
      ++result.checked;
    }
  }
  return true;
}

bool Checker::checkResults() {
  Operation *terminator = local.getBody().front().getTerminator();
  for (auto [r, value] : llvm::enumerate(terminator->getOperands())) {
    if (!isa<RankedTensorType>(value.getType()))
      return setUnknown(terminator, "a scalar result");
    FailureOr<Layout> layout = getLayout(local.getResultAttrOfType<ShardingAttr>(r, kShardingAttr),
                                         cast<RankedTensorType>(results[r].getType()));
    if (failed(layout))
      return setUnknown(local, "a sharding that is not read");
    for (auto &[rank, index] : getLanes(value)) {
      Index own;
      bool isInside = true;
      for (unsigned d = 0; d < index.size(); ++d) {
        own.push_back(getOwnIndex(*layout, d, rank, index[d]));
        isInside &= own.back() < layout->shape[d];
      }
      if (!isInside)
        continue;
      LocalElements device(programs, rank);
      std::optional<ExprId> is = device.getElement(value, index);
      if (!is)
        return setUnknown(terminator, device.why);
      ExprId should = GlobalElements(programs.exprs, programs.memo).normalize(results[r], own);
      GlobalElements elements(programs.exprs, programs.memo);
      bool isSame = is == should || programs.exprs[should].kind == Expr::Undefined ||
                    (elements.expand(*is) && elements.expand(*is) == elements.expand(should));
      if (!isSame)
        return setUnconfirmed(terminator, "result #" + Twine(r) + ": " + describe(rank, index));
    }
    ++result.checked;
  }
  return true;
}

bool Checker::checkElement(OpResult value, const Claim &claim, int64_t rank, ArrayRef<int64_t> index) {
  ExprTable &exprs = programs.exprs;
  GlobalElements elements(exprs, programs.memo);
  SmallVector<ExprId> expected;
  if (!claim.value) {
    if (!claim.constant)
      return true;
    expected.push_back(exprs.getConstant(claim.constant));
  } else {
    std::optional<Index> at = claim.at(rank, index);
    if (!at)
      return true;
    expected.push_back(elements.normalize(claim.value, *at));
    if (std::optional<ExprId> computed = elements.expand(expected.front()))
      expected.push_back(*computed);
  }
  SmallVector<int64_t> group = getGroup(rank, claim.partial);
  if (int64_t(group.size()) > kMaxGroup)
    return setUnknown(value.getOwner(), "a partial result of many devices");
  SmallVector<ExprId> locals;
  for (int64_t member : group) {
    LocalElements device(programs, member);
    std::optional<ExprId> id = device.compute(value, index);
    if (!id)
      return setUnknown(value.getOwner(), device.why);
    locals.push_back(*id);
  }
  const void *combiner =
      claim.partial.empty() ? nullptr : getCombiner(claim.kind, getElementTypeOrSelf(value.getType()));
  if (claim.partial.empty() ? llvm::is_contained(expected, locals[0]) : false)
    return true;
  if (Comparison(exprs, combiner, isIdempotent(claim.kind)).areEqual(locals, expected))
    return true;
  const Expr &leaf = exprs[expected.front()];
  if (expected.size() == 1 && leaf.kind == Expr::Leaf && isa<OpResult>(leaf.value))
    return setUnknown(value.getOwner(), elements.why + ", in the unsharded program");
  return setUnconfirmed(value.getOwner(), describe(rank, index) + " is not what is claimed");
}

bool Checker::checkCollective(CollectiveOpInterface op, const Claim &claim, int64_t rank, ArrayRef<int64_t> index) {
  Layout from, to;
  const Mesh *fromMesh = programs.meshes->lookup(op.getFromMesh()), *toMesh = programs.meshes->lookup(op.getToMesh());
  if (!fromMesh || !toMesh || failed(op.getLayouts(*fromMesh, *toMesh, from, to)) || op->getNumOperands() != 1)
    return setUnknown(op, "a collective that is not read");
  // The index in the collective's own value, and who has it.
  SmallVector<int64_t> ranks{rank};
  Index at;
  int64_t owner = rank;
  for (unsigned d = 0; d < index.size(); ++d) {
    int64_t own = getOwnIndex(to, d, rank, index[d]);
    const UnevenDim *uneven = getUneven(from, d);
    if (uneven && uneven->window)
      return setUnknown(op, "a window as an operand");
    if (own < 0 || own >= from.shape[d])
      return true;
    at.push_back(locate(from, d, own, owner));
  }
  std::optional<Index> expected = claim.value ? claim.at(rank, index) : std::nullopt;
  if (claim.value && !expected)
    return true;
  SmallVector<RankDigit> digits(claim.partial.begin(), claim.partial.end());
  llvm::append_range(digits, from.partial);
  SmallVector<int64_t> group = getGroup(owner, from.partial), members;
  if (int64_t(group.size()) > kMaxGroup)
    return setUnknown(op, "a partial result of many devices");
  bool keepsEqual = isIdempotent(stringifyReductionKind(from.partialKind));
  // An operand of which one claim gives just that.
  for (const Claim &operand : programs.claims.lookup(skipStart(op->getOperand(0)))) {
    bool fits = areSameRanks(operand.partial, digits) || (keepsEqual && areSameRanks(operand.partial, claim.partial));
    if (!operand.partial.empty() && !from.partial.empty())
      fits &= operand.kind == stringifyReductionKind(from.partialKind);
    if (!claim.value) {
      if (fits && operand.value == claim.value && operand.constant == claim.constant)
        return true;
      continue;
    }
    GlobalElements elements(programs.exprs, programs.memo);
    fits &= operand.value && llvm::all_of(group, [&](int64_t member) {
              std::optional<Index> held = operand.at(member, at);
              return held && elements.normalize(operand.value, *held) == elements.normalize(claim.value, *expected);
            });
    if (fits)
      return true;
  }
  return setUnconfirmed(op, describe(rank, index) + " is not what is claimed");
}

bool Checker::checkOp(Operation *op) {
  if (isa<StartOp, DoneOp>(op))
    return true;
  for (OpResult value : op->getResults()) {
    if (!isa<RankedTensorType>(value.getType()))
      continue;
    for (auto [number, claim] : llvm::enumerate(programs.claims.lookup(value))) {
      for (auto &[rank, index] : getLanes(value)) {
        auto collective = dyn_cast<CollectiveOpInterface>(op);
        if (!(collective ? checkCollective(collective, claim, rank, index) : checkElement(value, claim, rank, index))) {
          result.reason += " (claim #" + std::to_string(number) + ")";
          return false;
        }
      }
      ++result.checked;
    }
  }
  return true;
}

scf::ForOp Checker::findLoop(scf::ForOp loop) {
  scf::ForOp found;
  for (BlockArgument argument : loop.getRegionIterArgs())
    for (const Claim &claim : programs.claims.lookup(argument)) {
      auto carried = dyn_cast_or_null<BlockArgument>(claim.value);
      auto other = carried ? dyn_cast<scf::ForOp>(carried.getOwner()->getParentOp()) : scf::ForOp();
      if (!other || carried.getArgNumber() != argument.getArgNumber())
        continue;
      if (found && found != other)
        return {};
      found = other;
    }
  return found;
}

bool Checker::checkHolds(Operation *op, Value value, Value unsharded, const Claim &claim) {
  ExprTable &exprs = programs.exprs;
  const void *combiner = getCombiner(claim.kind, getElementTypeOrSelf(value.getType()));
  for (auto &[rank, index] : getLanes(value)) {
    std::optional<Index> at = claim.at(rank, index);
    if (!at)
      continue;
    GlobalElements elements(exprs, programs.memo);
    ExprId should = elements.normalize(unsharded, *at);
    if (claim.partial.empty()) {
      LocalElements device(programs, rank);
      std::optional<ExprId> is = device.getElement(value, index);
      if (!is)
        return setUnknown(op, device.why);
      if (*is != should && exprs[should].kind != Expr::Undefined)
        return setUnconfirmed(op, describe(rank, index) + " of a carried value is not what is claimed");
      continue;
    }
    // Of a partial value, what is claimed of it. The neutral element is partial over any ranks.
    bool holds = llvm::any_of(programs.claims.lookup(skipStart(value)), [&](const Claim &own) {
      if (!own.value)
        return own.partial.empty() && own.constant && combiner && exprs.getConstant(own.constant) == should &&
               isNeutralConstant(combiner, exprs[should]);
      std::optional<Index> held = own.at(rank, index);
      return held && own.kind == claim.kind && areSameRanks(own.partial, claim.partial) &&
             elements.normalize(own.value, *held) == should;
    });
    if (!holds)
      return setUnconfirmed(op, describe(rank, index) + " of a carried value is not what is claimed");
  }
  return true;
}

bool Checker::checkImplied(Operation *op, Value value, const Claim &claim, Value unsharded, ArrayRef<Claim> known) {
  for (auto &[rank, index] : getLanes(value)) {
    std::optional<Index> at = claim.value ? claim.at(rank, index) : std::nullopt;
    if (!at)
      continue;
    GlobalElements elements(programs.exprs, programs.memo);
    bool isImplied = llvm::any_of(known, [&, &rank = rank, &index = index](const Claim &other) {
      std::optional<Index> held = other.at(rank, index);
      return held && areSameRanks(other.partial, claim.partial) &&
             (claim.partial.empty() || other.kind == claim.kind) &&
             elements.normalize(unsharded, *held) == elements.normalize(claim.value, *at);
    });
    if (!isImplied)
      return setUnconfirmed(op, describe(rank, index) + " of a loop is not what is claimed");
  }
  return claim.value ? true : setUnknown(op, "a loop that gives a constant");
}

bool Checker::checkLoop(scf::ForOp loop) {
  scf::ForOp other = findLoop(loop);
  if (!other || other.getNumRegionIterArgs() != loop.getNumRegionIterArgs())
    return setUnknown(loop, "a loop of which no carried value is claimed");
  LocalElements device(programs, 0);
  GlobalElements elements(programs.exprs, programs.memo);
  for (auto [own, unsharded] :
       {std::pair(loop.getLowerBound(), other.getLowerBound()), std::pair(loop.getUpperBound(), other.getUpperBound()),
        std::pair(loop.getStep(), other.getStep())})
    if (std::optional<ExprId> is = device.computeScalar(own); !is || is != elements.computeScalar(unsharded))
      return setUnknown(loop, "bounds that are not known to be those of the unsharded loop");
  programs.scalars[loop.getInductionVar()] = other.getInductionVar();
  // The claims of carried values by which the others follow.
  SmallVector<std::vector<Claim>> carried;
  for (auto [argument, unsharded] : llvm::zip_equal(loop.getRegionIterArgs(), other.getRegionIterArgs())) {
    if (!isa<RankedTensorType>(argument.getType()))
      return setUnknown(loop, "a scalar that a loop carries");
    std::vector<Claim> &known = carried.emplace_back();
    for (const Claim &claim : programs.claims.lookup(argument))
      if (claim.value == unsharded)
        known.push_back(claim);
    for (const Claim &claim : programs.claims.lookup(argument))
      if (claim.value != unsharded && !checkImplied(loop, argument, claim, unsharded, known))
        return false;
  }
  if (!checkBlock(*loop.getBody()))
    return false;
  for (auto [i, known] : llvm::enumerate(carried)) {
    for (const Claim &claim : known)
      if (!checkHolds(loop, loop.getInitArgs()[i], other.getInitArgs()[i], claim) ||
          !checkHolds(loop, loop.getYieldedValues()[i], other.getYieldedValues()[i], claim))
        return false;
    for (const Claim &claim : programs.claims.lookup(loop.getResult(i)))
      if (!checkImplied(loop, loop.getResult(i), claim, other.getResult(i), known))
        return false;
    ++result.checked;
  }
  return true;
}

bool Checker::checkBlock(Block &block) {
  for (Operation &op : block.without_terminator()) {
    if (auto start = dyn_cast<StartOp>(op); start && !checkBlock(start.getBody().front()))
      return false;
    auto loop = dyn_cast<scf::ForOp>(op);
    if (!(loop ? checkLoop(loop) : checkOp(&op)))
      return false;
  }
  return true;
}

CheckResult Checker::check(const llvm::json::Object &certificate) {
  bool isStraight = true;
  local.walk([&](Operation *op) {
    for (NamedAttribute attr : op->getAttrs())
      attr.getValue().walk([&](FlatSymbolRefAttr name) {
        if (const Mesh *mesh = programs.meshes->lookup(name))
          numDevices = std::max(numDevices, mesh->numDevices());
      });
    bool isOfBody = op != local && !isa<func::FuncOp, scf::ForOp, scf::IfOp, scf::WhileOp>(op->getParentOp());
    isStraight &= !isa<scf::SCFDialect>(op->getDialect()) || isa<scf::ForOp, scf::YieldOp>(op) || isOfBody;
  });
  bool isManual = global.walk([](ManualComputationOp) { return WalkResult::interrupt(); }).wasInterrupted();
  if (!isStraight || isManual) {
    setUnknown(local, isManual ? "manual computations are not read" : "branches are not read");
    return result;
  }
  if (!readClaims(certificate) || !checkArguments())
    return result;
  for (unsigned i = 0; i < local.getNumArguments(); ++i)
    if (auto sharding = local.getArgAttrOfType<ShardingAttr>(i, kShardingAttr))
      if (const Mesh *mesh = programs.meshes->lookup(sharding.getMesh()))
        numDevices = std::max(numDevices, mesh->numDevices());
  if (checkBlock(local.getBody().front()))
    (void)checkResults();
  return result;
}

CheckResult spmd::checkFunction(func::FuncOp global, func::FuncOp local, ArrayRef<Value> arguments,
                                ArrayRef<Value> results, const llvm::json::Object &certificate) {
  return Checker(global, local, arguments, results).check(certificate);
}
