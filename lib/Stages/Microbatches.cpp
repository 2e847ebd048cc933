//===- Microbatches.cpp - The computation of a microbatch -----------------===//

#include "shardkit/Stages/Microbatches.h"
#include "shardkit/Dialect/SPMD/IR/AttrNames.h"
#include "shardkit/Dialect/SPMD/IR/Conversion.h"
#include "shardkit/Dialect/SPMD/IR/MeshCache.h"

#include "shardkit/Cost/ComputeChoice.h"
#include "shardkit/Dialect/SPMD/IR/SignatureAttrs.h"
#include "shardkit/Partition/IndexRebase.h"
#include "shardkit/Propagation/FunctionPropagation.h"
#include "shardkit/Rules/IndexedBody.h"
#include "shardkit/Rules/Linearity.h"
#include "shardkit/Rules/Reductions.h"
#include "shardkit/Stages/Stages.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"

#include <numeric>

using namespace mlir;
using namespace mlir::spmd;

using State = MicrobatchState;

static bool isSplit(ArrayRef<DimEntries> dims) {
  return llvm::any_of(dims, [](const DimEntries &dim) { return deviceFactor(dim) > 1; });
}

int64_t State::getDim() const {
  for (auto [d, dim] : llvm::enumerate(dims))
    if (deviceFactor(dim) > 1)
      return d;
  return -1;
}

bool State::isPlain() const {
  int64_t dim = getDim();
  return dim >= 0 && dims[dim].size() == 1;
}

bool spmd::isMark(Operation *op) { return isa<StageBoundaryOp, ShardingGroupOp>(op); }

static Value skipConstraints(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (!isConstraintLike(op))
      break;
    value = op->getOperand(0);
  }
  return value;
}

//===----------------------------------------------------------------------===//
// Hints by propagation
//===----------------------------------------------------------------------===//

LogicalResult Microbatches::readArguments() {
  int64_t common = 0;
  for (BlockArgument arg : func.getArguments()) {
    auto attr = func.getArgAttrOfType<MicrobatchAttr>(arg.getArgNumber(), kMicrobatchAttr);
    if (!attr)
      continue;
    int64_t size = cast<RankedTensorType>(arg.getType()).getDimSize(attr.getDim());
    auto fail = [&]() {
      return emitError(arg.getLoc()) << "dim " << attr.getDim() << " of argument #" << arg.getArgNumber() << " of @"
                                     << func.getName();
    };
    if (ShapedType::isDynamic(size))
      return fail() << " has an unknown size, expected one that " << count
                    << " microbatches divide; give it with --spmd-specialize-shapes";
    if (size == 0 || size % count != 0) {
      InFlightDiagnostic diag = fail();
      diag << " has size " << size << ", which " << count << " microbatches do not divide, expected one of";
      for (int64_t d = 1; d <= size; ++d)
        if (size % d == 0)
          diag << (d == 1 ? " " : ", ") << d;
      return diag;
    }
    common = std::gcd(common, size);
  }
  if (common == 0 && count > 1)
    return func.emitError() << "no argument of @" << func.getName()
                            << " carries spmd.microbatch, expected one at each argument that " << count
                            << " microbatches split";
  divisor = count > 1 ? count : std::max<int64_t>(common, 1);
  return success();
}

/// Propagates the split of the arguments through a copy of the function without shardings.
LogicalResult Microbatches::propagate() {
  if (divisor == 1)
    return success();
  MLIRContext *context = func.getContext();
  OwningOpRef<ModuleOp> module = ModuleOp::create(func.getLoc());
  OpBuilder b = OpBuilder::atBlockBegin(module->getBody());
  Mesh mesh;
  mesh.axes.push_back({"microbatch", divisor});
  auto meshName = FlatSymbolRefAttr::get(context, "microbatches");
  createMesh(b, func.getLoc(), "microbatches", mesh);

  IRMapping map;
  auto copy = cast<func::FuncOp>(func->clone(map));
  module->getBody()->push_back(copy);
  SmallVector<Operation *> dropped;
  copy.walk([&](Operation *op) {
    NamedAttrList attrs(op->getDiscardableAttrDictionary());
    for (NamedAttribute attr : op->getDiscardableAttrDictionary())
      if (attr.getName().strref().starts_with("spmd.") && attr.getName() != kRuleAttr)
        attrs.erase(attr.getName());
    op->setDiscardableAttrs(attrs.getDictionary(context));
    if (isConstraintLike(op))
      op->getResult(0).replaceAllUsesWith(op->getOperand(0));
    if (isConstraintLike(op) || isMark(op))
      dropped.push_back(op);
  });
  for (Operation *op : llvm::reverse(dropped))
    op->erase();
  SignatureAttrs signature(copy);
  for (BlockArgument arg : func.getArguments()) {
    unsigned i = arg.getArgNumber();
    signature.arg(i) = NamedAttrList();
    auto type = dyn_cast<RankedTensorType>(arg.getType());
    if (!type)
      continue;
    Sharding sharding;
    sharding.dims.resize(type.getRank());
    for (DimSharding &dim : sharding.dims)
      dim.open = false;
    if (auto attr = func.getArgAttrOfType<MicrobatchAttr>(i, kMicrobatchAttr))
      sharding.dims[attr.getDim()].entries.push_back(DimEntry{0, 1, divisor});
    signature.arg(i).set(kShardingAttr, toAttr(context, meshName, sharding, mesh));
  }
  for (unsigned i = 0; i < func.getNumResults(); ++i)
    signature.result(i) = NamedAttrList();
  signature.write();

  MeshCache meshes(*module);
  CallTable calls(*module);
  if (failed(calls.verify(meshes)))
    return failure();
  auto copyMeshes = calls.getIndex(copy).getMeshes(meshes);
  if (failed(copyMeshes) || !*copyMeshes)
    return failure();
  auto propagation = FunctionPropagation::compute(copy, **copyMeshes, calls, Propagation::Options());
  if (failed(propagation))
    return failure();
  Propagation &result = (*propagation)->getPropagation();
  auto note = [&](Value value) {
    Value copied = map.lookupOrNull(value);
    if (!copied || !result.contains(copied))
      return;
    SmallVector<DimEntries, 4> dims;
    for (const DimSharding &dim : result.get(result.getId(copied)).dims)
      dims.push_back(dim.entries);
    if (isSplit(dims))
      hints[value] = std::move(dims);
  };
  func.walk([&](Operation *op) {
    if (isConstraintLike(op) || isMark(op))
      return;
    for (Value value : op->getResults())
      note(value);
    for (Region &region : op->getRegions())
      for (Block &block : region)
        for (Value value : block.getArguments())
          note(value);
  });
  return success();
}

//===----------------------------------------------------------------------===//
// States
//===----------------------------------------------------------------------===//

const State &Microbatches::get(Value value) const {
  static const State same;
  auto it = states.find(skipConstraints(value));
  return it != states.end() ? it->second : same;
}

bool Microbatches::isSame(Operation *op) const {
  return !apply.contains(op) &&
         llvm::all_of(op->getResults(), [&](Value value) { return get(value).kind == State::Same; }) &&
         llvm::all_of(Stages::getRead(op), [&](Value value) { return get(value).kind == State::Same; });
}

static Sharding makeSharding(ArrayRef<DimEntries> dims) {
  Sharding sharding;
  for (const DimEntries &entries : dims) {
    sharding.dims.emplace_back();
    sharding.dims.back().entries = entries;
    sharding.dims.back().open = false;
  }
  return sharding;
}

Sharding State::getSharding() const { return makeSharding(dims); }

static SmallVector<DimEntries, 4> getDims(const Sharding &sharding) {
  SmallVector<DimEntries, 4> dims;
  for (const DimSharding &dim : sharding.dims)
    dims.push_back(dim.entries);
  return dims;
}

static std::string describe(Value value) {
  if (auto arg = dyn_cast<BlockArgument>(value))
    return ("argument #" + Twine(arg.getArgNumber())).str();
  return ("the result of " + value.getDefiningOp()->getName().getStringRef()).str();
}

//===----------------------------------------------------------------------===//
// One op
//===----------------------------------------------------------------------===//

/// Computes the states of the results of an op from those of its operands. Example: `%x` is split
/// along its rows, `%w` is the same in all microbatches.
///
///   dot(%x, %w)     the factor of the rows is split: the result is split along its rows
///   dot(%x^T, %y)   the split factor is contracted: the result is partial
///   sqrt(%partial)  not linear: runs once per step (toApply), the result is complete
///
///   1. findSplitFactor finds the factor that microbatches split, and partial operands.
///   2. checkOperands, checkInits and checkIndices check that a slice suffices for the op.
///   3. setResults sets the states of the results.
class Microbatches::OpVisit {
public:
  OpVisit(Microbatches &all, Operation *op)
      : all(all), op(op), rule(getShardingRule(op)), axes(rule.numFactors()), summands(rule.numOperands()) {
    op->walk([&](Operation *inner) { read.append(inner->operand_begin(), inner->operand_end()); });
  }

  LogicalResult run();

private:
  /// Whether the op is visited by what is inside it; not if it has a sharding rule of its own, as a sort does.
  static bool hasTensorRegions(Operation *op) {
    return op->getNumRegions() > 0 && !getIndexedBody(op) && !isa<ShardingRuleOpInterface>(op);
  }

  State::Kind kindOf(Value value) const { return all.get(value).kind; }

  /// Moves the op to those that run once per step, as it reads the complete value `reason`. If the
  /// op also reads split values, sums over arguments alone are computed from unsplit arguments.
  LogicalResult toApply(Value reason);
  InFlightDiagnostic needsFullBatch(Value value);

  /// Handles ops that read elements of tensors: the element is the same for all microbatches.
  /// std::nullopt if the op reads none.
  std::optional<LogicalResult> takeElement();

  /// False for constant-like operands, which take any layout.
  bool isRead(unsigned t) const;

  /// Adds the split factor of tensor `t`; fails if it is another factor than before.
  LogicalResult addSplit(unsigned t, ArrayRef<DimEntries> dims);

  /// Finds the factor that microbatches split, and the summands that the op reads.
  LogicalResult findSplitFactor();

  /// True if the result is a summand: the op is linear in the summands that it reads, or adds
  /// split values to them.
  bool isSummand();

  /// Every operand as the op needs it.
  LogicalResult checkOperands();

  /// The init of a sum must be neutral: it would be added in every microbatch.
  LogicalResult checkInits();

  /// The op reads the batch at its own index only; if it reads the index itself, that is rebased.
  LogicalResult checkIndices();
  LogicalResult setResults();

  Microbatches &all;
  Operation *op;
  ShardingRule rule;
  SmallVector<Value> read; ///< By the op, and by those in its regions.
  int splitFactor = -1;    ///< The factor that microbatches split, if any.
  FactorAxes axes;
  Value partial;                 ///< The first operand that is a summand.
  llvm::SmallBitVector summands; ///< All of them, and neutral inits.
};

LogicalResult Microbatches::OpVisit::run() {
  for (Value operand : read)
    if (kindOf(operand) == State::Complete)
      return toApply(operand);
  if (hasTensorRegions(op))
    return all.visitLoop(op);
  if (std::optional<LogicalResult> done = takeElement())
    return *done;
  if (failed(findSplitFactor()))
    return failure();
  if (partial) {
    if (!isSummand())
      return toApply(partial);
    if (splitFactor < 0) {
      all.set(op->getResult(0), {State::Partial});
      return success();
    }
  }
  if (splitFactor < 0)
    return success(succeeded(checkOperands()) && (all.count > 1 || llvm::none_of(read, [&](Value operand) {
                                                    return kindOf(operand) == State::Split;
                                                  })));
  if (failed(checkOperands()) || failed(checkInits()) || failed(checkIndices()))
    return failure();
  return setResults();
}

LogicalResult Microbatches::OpVisit::toApply(Value reason) {
  for (Value operand : read)
    if (kindOf(operand) == State::Split && !isConstantLike(operand.getDefiningOp())) {
      if (all.count > 1 && all.useUnsplitArguments(op, read))
        return success();
      InFlightDiagnostic diag = op->emitError() << op->getName() << " needs " << describe(skipConstraints(reason))
                                                << " of all microbatches while it computes on the slice of one, "
                                                   "expected uses of sums over the batch once per step only";
      diag.attachNote(skipConstraints(reason).getLoc()) << "complete after the last microbatch";
      return diag;
    }
  all.apply.insert(op);
  for (Value result : op->getResults())
    all.set(result, {State::Complete});
  return success();
}

InFlightDiagnostic Microbatches::OpVisit::needsFullBatch(Value value) {
  return op->emitError() << op->getName() << " needs "
                         << (value ? describe(skipConstraints(value)) + " of all microbatches" : "all of the batch")
                         << " at once, expected an op that computes each slice of the batch by itself";
}

std::optional<LogicalResult> Microbatches::OpVisit::takeElement() {
  if (isa<tensor::DimOp>(op) || llvm::all_of(op->getResultTypes(), llvm::IsaPred<RankedTensorType>))
    return std::nullopt;
  for (Value operand : read) {
    if (kindOf(operand) == State::Partial)
      return toApply(operand);
    if (kindOf(operand) != State::Same)
      return op->emitError() << op->getName() << " reads an element of " << describe(skipConstraints(operand))
                             << ", which is split into microbatches, expected ops on tensors";
  }
  return std::nullopt;
}

bool Microbatches::OpVisit::isRead(unsigned t) const {
  const ShardingRule::Tensor &tensor = rule.tensor(t);
  return tensor.type && tensor.role != OperandRole::ShapeOnly && !isConstantLike(Value(tensor.value).getDefiningOp());
}

LogicalResult Microbatches::OpVisit::addSplit(unsigned t, ArrayRef<DimEntries> dims) {
  Sharding sharding = makeSharding(dims);
  for (unsigned f = 0; f < rule.numFactors(); ++f) {
    std::optional<DimEntries> entries = projectFactor(rule, t, f, sharding);
    if (!entries || deviceFactor(*entries) <= 1)
      continue;
    if (splitFactor < 0) {
      splitFactor = f;
      axes[f] = *entries;
    } else if (splitFactor != int(f)) {
      return failure();
    }
  }
  return success();
}

LogicalResult Microbatches::OpVisit::findSplitFactor() {
  for (unsigned t = 0; t < rule.numOperands(); ++t) {
    if (!isRead(t))
      continue;
    const ShardingRule::Tensor &tensor = rule.tensor(t);
    const State &state = all.get(tensor.value);
    if (state.kind == State::Split && failed(addSplit(t, state.dims)))
      return needsFullBatch(tensor.value);
    if (state.kind == State::Partial) {
      partial = partial ? partial : Value(tensor.value);
      summands.set(t);
    }
  }
  // Results that only their users split.
  for (unsigned t = rule.numOperands(); t < rule.numOperands() + rule.numResults() && !partial; ++t)
    if (auto it = all.hints.find(rule.tensor(t).value); it != all.hints.end())
      if (failed(addSplit(t, it->second)))
        return needsFullBatch(rule.tensor(t).value);
  return success();
}

bool Microbatches::OpVisit::isSummand() {
  for (unsigned t : summands.set_bits())
    if (all.get(rule.tensor(t).value).reduction != ReductionKind::Sum)
      return false;
  // An init that adds nothing belongs to the sum.
  for (unsigned t = 0; t < rule.numOperands(); ++t)
    if (rule.tensor(t).type && rule.tensor(t).role == OperandRole::Init &&
        isNeutralFill(rule.tensor(t).value, ReductionKind::Sum))
      summands.set(t);
  if (op->getNumResults() != 1)
    return false;
  if (splitFactor < 0)
    return isLinear(op, summands);
  return llvm::all_of(summands.set_bits(), [&](unsigned t) { return rule.tensor(t).role == OperandRole::Init; });
}

LogicalResult Microbatches::OpVisit::checkOperands() {
  for (unsigned t = 0; t < rule.numOperands(); ++t) {
    if (!isRead(t))
      continue;
    const ShardingRule::Tensor &tensor = rule.tensor(t);
    const State &state = all.get(tensor.value);
    SmallVector<DimEntries, 4> needed = getDims(getTensorSharding(rule, t, axes));
    if ((state.kind == State::Split && needed != state.dims) || (state.kind == State::Partial && isSplit(needed)))
      return needsFullBatch(tensor.value);
    if (state.kind != State::Same)
      continue;
    if (isSplit(needed)) {
      Value source = skipConstraints(tensor.value);
      InFlightDiagnostic diag = op->emitError()
                                << op->getName() << " computes on the slice of a microbatch and " << describe(source)
                                << " is the same in all of them, expected spmd.microbatch at the "
                                   "argument that it comes from";
      diag.attachNote(source.getLoc()) << "the same in all microbatches";
      return diag;
    }
  }
  return success();
}

LogicalResult Microbatches::OpVisit::checkInits() {
  for (const ShardingRule::Tensor &tensor : rule.operands()) {
    if (!tensor.type || tensor.role != OperandRole::Init || all.get(tensor.value).kind != State::Same)
      continue;
    const ShardingRule::Tensor &result = rule.tensor(rule.numOperands() + tensor.result);
    if (rule.isPartial(result, splitFactor) && !isIdempotent(result.reduction) &&
        !isNeutralFill(tensor.value, result.reduction))
      return op->emitError() << op->getName() << " adds the sums of microbatches to "
                             << describe(skipConstraints(tensor.value))
                             << ", which would be added in each of them, expected the neutral element";
  }
  return success();
}

LogicalResult Microbatches::OpVisit::checkIndices() {
  // Only results may follow a window or a selection over the batch.
  const Factor &factor = rule.factor(splitFactor);
  if (factor.kind == FactorKind::Selection || factor.kind == FactorKind::Replicated ||
      factor.kind == FactorKind::Indexed || factor.hasWindows)
    return needsFullBatch(op->getNumOperands() ? op->getOperand(0) : Value());
  if (!readsIndices(op))
    return success();
  llvm::DenseMap<Value, Sharding> layouts;
  // Results have no state yet.
  for (unsigned r = 0; r < rule.numResults(); ++r)
    layouts[op->getResult(r)] = getTensorSharding(rule, rule.numOperands() + r, axes);
  auto shardingOf = [&](Value value) -> const Sharding * {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    if (!type)
      return nullptr;
    auto [it, isNew] = layouts.try_emplace(value);
    const State &state = all.get(value);
    if (isNew)
      it->second = makeSharding(state.kind == State::Split ? ArrayRef<DimEntries>(state.dims)
                                                           : SmallVector<DimEntries, 4>(type.getRank()));
    return &it->second;
  };
  if (all.count > 1)
    all.indexed[op] = getShardedLoops(op, shardingOf);
  return success();
}

LogicalResult Microbatches::OpVisit::setResults() {
  for (unsigned r = 0; r < rule.numResults(); ++r) {
    unsigned t = rule.numOperands() + r;
    if (!rule.tensor(t).type)
      continue;
    State state;
    state.dims = getDims(getTensorSharding(rule, t, axes));
    if (rule.isPartial(rule.tensor(t), splitFactor)) {
      state.kind = State::Partial;
      state.reduction = rule.tensor(t).reduction;
      state.dims.clear();
    } else if (isSplit(state.dims)) {
      state.kind = State::Split;
      if (rule.tensor(t).type.isDynamicDim(state.getDim()))
        return op->emitError() << op->getName() << " has a split dim of unknown size, expected a static one; "
                               << "--spmd-specialize-shapes sets sizes";
    }
    all.set(op->getResult(r), std::move(state));
  }
  return success();
}

LogicalResult Microbatches::visit(Operation *op) {
  if (isConstraintLike(op) || isMark(op) || isConstantLike(op) || op->hasTrait<OpTrait::IsTerminator>())
    return success();
  if (isa<ManualComputationOp, func::CallOp>(op))
    return op->emitError() << op->getName() << " in a pipelined function, expected "
                           << (isa<func::CallOp>(op) ? "calls to be inlined (private callees are)" : "ordinary ops");
  return OpVisit(*this, op).run();
}

/// Visits an op with regions of tensor ops: each loop-carried value has one state.
LogicalResult Microbatches::visitLoop(Operation *op) {
  bool touched = false;
  op->walk([&](Operation *inner) {
    for (Value operand : inner->getOperands())
      touched |= get(operand).kind != State::Same;
    for (Value result : inner->getResults())
      touched |= hints.contains(result);
  });
  if (!touched)
    return success();
  auto loop = dyn_cast<scf::ForOp>(op);
  if (!loop)
    return op->emitError() << op->getName()
                           << " computes on slices of the batch, expected an scf.for or ops "
                              "without regions";
  auto join = [&](const State &carried, Value from, State &result) -> LogicalResult {
    const State &other = get(from);
    bool isMade = isConstantLike(skipConstraints(from).getDefiningOp());
    if (other.kind == carried.kind && other.dims == carried.dims) {
      result = carried;
    } else if (carried.kind == State::Same || (isMade && other.kind == State::Same)) {
      result = carried.kind == State::Same ? other : carried;
    } else if (other.kind == State::Same && carried.kind == State::Partial && isNeutralFill(from, carried.reduction)) {
      result = carried;
    } else {
      return loop.emitError() << "a loop-carried value is not the same slice of the batch in all "
                                 "iterations, expected an init that is the neutral element or a slice "
                                 "of the batch";
    }
    return success();
  };
  for (unsigned round = 0;; ++round) {
    bool changed = false;
    Operation *yield = loop.getBody()->getTerminator();
    for (unsigned i = 0; i < loop.getNumRegionIterArgs(); ++i) {
      Value arg = loop.getRegionIterArg(i);
      if (!isa<RankedTensorType>(arg.getType()))
        continue;
      State state = get(arg), next;
      if (round == 0) {
        state = get(loop.getInitArgs()[i]);
        if (auto it = hints.find(arg); state.kind == State::Same && it != hints.end() &&
                                       isConstantLike(skipConstraints(loop.getInitArgs()[i]).getDefiningOp())) {
          state.kind = State::Split;
          state.dims = it->second;
        }
        set(arg, state);
        continue;
      }
      if (failed(join(state, yield->getOperand(i), next)))
        return failure();
      if (next.kind != state.kind || next.dims != state.dims) {
        bool starts = isConstantLike(skipConstraints(loop.getInitArgs()[i]).getDefiningOp()) &&
                      (next.kind == State::Split || isNeutralFill(loop.getInitArgs()[i], next.reduction));
        if (!starts)
          return join({State::Split}, loop.getInitArgs()[i], next);
        set(arg, next);
        changed = true;
      }
    }
    if (round > 0 && !changed)
      break;
    if (failed(visitBlock(*loop.getBody())))
      return failure();
    if (looksAgain)
      return success();
    for (Operation &inner : *loop.getBody())
      if (apply.contains(&inner))
        return inner.emitError() << inner.getName()
                                 << " in a loop needs a sum over all microbatches, expected loops "
                                    "to be linear in what they sum up";
  }
  for (unsigned i = 0; i < loop.getNumResults(); ++i)
    if (isa<RankedTensorType>(loop.getResult(i).getType()))
      set(loop.getResult(i), get(loop.getRegionIterArg(i)));
  return success();
}

/// A single microbatch has the full batch. If an op needs more than a slice of it, the microbatch
/// holds its results, or the sums that it reads, in full.
LogicalResult Microbatches::visitOnly(Operation *op) {
  auto hold = [&](Value result) {
    State state{State::Split};
    if (auto it = hints.find(result); it != hints.end())
      state.dims = it->second;
    else if (auto type = dyn_cast<RankedTensorType>(result.getType()))
      state.dims.resize(type.getRank());
    set(result, std::move(state));
  };
  if (llvm::any_of(op->getResults(), [&](Value result) { return held.contains(result); })) {
    llvm::for_each(op->getResults(), hold);
    return success();
  }
  if (isa<ManualComputationOp, func::CallOp>(op))
    return visit(op);
  {
    ScopedDiagnosticHandler quiet(func.getContext(), [](Diagnostic &) { return success(); });
    if (succeeded(visit(op)))
      return success();
  }
  op->walk([&](Operation *inner) { apply.erase(inner); });
  // The sums that it reads, from the first on. All is looked at again with them.
  auto isSum = [&](Value value) {
    State::Kind kind = get(value).kind;
    return kind == State::Partial || kind == State::Complete;
  };
  SmallVector<Operation *> pending{op};
  while (!pending.empty()) {
    Operation *next = pending.pop_back_val();
    next->walk([&](Operation *inner) {
      for (Value operand : inner->getOperands()) {
        Value source = skipConstraints(operand);
        Operation *made = source.getDefiningOp();
        if (made && isSum(source) && made->getBlock() == op->getBlock() && held.insert(source).second) {
          pending.push_back(made);
          looksAgain = true;
        }
      }
    });
  }
  if (!looksAgain)
    held.insert_range(op->getResults());
  llvm::for_each(op->getResults(), hold);
  return success();
}

LogicalResult Microbatches::visitBlock(Block &block) {
  bool isOnly = count == 1 && &block == &func.getBody().front();
  for (Operation &op : block)
    if (failed(isOnly ? visitOnly(&op) : visit(&op)))
      return failure();
    else if (looksAgain && !isOnly)
      break;
  return success();
}

FailureOr<Microbatches> Microbatches::analyze(func::FuncOp func, int64_t count) {
  Microbatches result(func, count);
  // A microbatch is smaller than the batch.
  func.walk([](tensor::DimOp op) {
    auto type = dyn_cast<RankedTensorType>(op.getSource().getType());
    std::optional<int64_t> dim = op.getConstantIndex();
    if (!type || !dim || *dim < 0 || *dim >= type.getRank() || type.isDynamicDim(*dim))
      return;
    OpBuilder b(op);
    op.replaceAllUsesWith(arith::ConstantIndexOp::create(b, op.getLoc(), type.getDimSize(*dim)).getResult());
    op.erase();
  });
  if (failed(result.readArguments()) || failed(result.propagate()))
    return failure();
  do {
    result.looksAgain = false;
    result.states.clear();
    result.apply.clear();
    result.indexed.clear();
    for (BlockArgument arg : func.getArguments())
      if (auto attr = func.getArgAttrOfType<MicrobatchAttr>(arg.getArgNumber(), kMicrobatchAttr)) {
        State state{State::Split};
        state.dims.resize(cast<RankedTensorType>(arg.getType()).getRank());
        if (result.divisor > 1)
          state.dims[attr.getDim()].push_back(DimEntry{0, 1, result.divisor});
        result.set(arg, std::move(state));
      }
    if (failed(result.visitBlock(func.getBody().front())))
      return failure();
  } while (result.looksAgain);
  for (auto [i, value] : llvm::enumerate(func.getBody().front().getTerminator()->getOperands()))
    if (const State &state = result.get(value); count > 1 && state.kind == State::Split && !state.isPlain())
      return emitError(value.getLoc()) << "result #" << i << " of @" << func.getName()
                                       << " interleaves the slices of microbatches in dim " << state.getDim()
                                       << ", expected the batch to be the first of the "
                                          "dims that are merged there";
  result.addMicrobatchIndices();
  return result;
}

//===----------------------------------------------------------------------===//
// What runs once per step
//===----------------------------------------------------------------------===//

LogicalResult Microbatches::moveToApply(Operation *first) {
  SmallVector<Operation *> pending{first};
  while (!pending.empty()) {
    Operation *op = pending.pop_back_val();
    if (isConstraintLike(op)) {
      llvm::append_range(pending, op->getUsers());
      continue;
    }
    if (isMark(op) || isa<func::ReturnOp>(op))
      continue;
    for (Value operand : Stages::getRead(op))
      if (get(operand).kind == State::Split)
        return op->emitError() << op->getName()
                               << " needs a sum over all microbatches while it computes on the "
                                  "slice of one, expected uses of sums over the batch once per "
                                  "step only";
    apply.insert(op);
    for (Value result : op->getResults()) {
      if (get(result).kind == State::Complete)
        continue;
      set(result, {State::Complete});
      llvm::append_range(pending, result.getUsers());
    }
  }
  return success();
}

static int64_t getKnownBytes(Value value) {
  auto type = cast<RankedTensorType>(value.getType());
  return type.hasStaticShape() ? type.getNumElements() * getElementBytes(type.getElementType()) : INT64_MAX;
}

void Microbatches::shrink() {
  for (Operation &op : llvm::reverse(func.getBody().front())) {
    if (op.getNumResults() != 1 || apply.contains(&op) || isConstraintLike(&op) || op.use_empty() ||
        get(op.getResult(0)).kind != State::Partial)
      continue;
    SmallVector<Operation *> users(op.getUsers());
    bool onlyApply = true;
    for (size_t i = 0; i < users.size(); ++i)
      if (isConstraintLike(users[i]))
        llvm::append_range(users, users[i]->getUsers());
      else
        onlyApply &= apply.contains(users[i]) || isa<func::ReturnOp>(users[i]);
    int64_t read = 0;
    bool fromSums = true;
    for (Value operand : Stages::getRead(&op))
      if (isa<RankedTensorType>(operand.getType())) {
        fromSums &= get(operand).kind != State::Split;
        if (get(operand).kind == State::Partial)
          read += getKnownBytes(operand);
      }
    if (!onlyApply || !fromSums || read > getKnownBytes(op.getResult(0)))
      continue;
    apply.insert(&op);
    set(op.getResult(0), {State::Complete});
  }
}
