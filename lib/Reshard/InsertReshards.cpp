//===- InsertReshards.cpp - Every change of layout becomes one op ---------===//
//
// First every op decides how it computes (ComputePlan.h); only then is the IR
// changed, with one reshard per value and layout, before its first user.
//
//===----------------------------------------------------------------------===//

#include "shardkit/Dialect/SPMD/IR/AttrNames.h"
#include "shardkit/Dialect/SPMD/IR/Conversion.h"
#include "shardkit/Dialect/SPMD/IR/Loading.h"
#include "shardkit/Dialect/SPMD/IR/MeshCache.h"
#include "shardkit/Dialect/SPMD/IR/Phases.h"
#include "shardkit/Dialect/SPMD/IR/SignatureAttrs.h"
#include "shardkit/Partition/ReplicatedFunctions.h"
#include "shardkit/Passes.h"
#include "shardkit/Propagation/FunctionIndex.h"
#include "shardkit/Propagation/Propagation.h"
#include "shardkit/Reshard/ComputePlan.h"
#include "shardkit/Rules/Reductions.h"
#include "shardkit/Support/PassDebugging.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/Remarks.h"

namespace mlir::spmd {
#define GEN_PASS_DEF_SPMDINSERTRESHARDSPASS
#include "shardkit/Passes.h.inc"
} // namespace mlir::spmd

#undef DEBUG_TYPE // of other sources of a batch
#define DEBUG_TYPE "spmd-insert-reshards"

using namespace mlir;
using namespace mlir::spmd;

namespace {

/// Applies a ComputePlan to the IR: each operand is replaced by the value in the layout that the
/// op needs. There is one reshard per value and layout, before the first reader that needs it.
///
///   %0 = linalg.matmul            computed [{"x"}, {}]
///   %1 = linalg.softmax %0        needs [{}, {}]:  spmd.reshard %0 <[{}, {}]> is inserted before it
///   %2 = arith.addf %0, %1        needs [{}, {}]:  the same reshard is used
class ReshardInserter {
public:
  ReshardInserter(ComputePlan &plan, bool forbidImplicit)
      : forbidImplicit(forbidImplicit), plan(plan), func(plan.func), meshes(plan.meshes), table(plan.table),
        values(plan.values) {}

  void run();

  /// Constraints without a use that were dropped, and reshards that were inserted.
  unsigned droppedConstraints = 0, numReshards = 0;
  /// Whether a reshard that moves data and that no constraint requests is an
  /// error, and whether there was one.
  bool forbidImplicit, foundImplicit = false;

private:
  /// Finds constraints that only such constraints read: they cause no reshards.
  void findUnusedConstraints();
  void apply(OpPlan &opPlan);

  /// Replaces a constraint by its operand, which has its layout.
  void consume(Operation *op);
  void drop(Operation *op);
  void setShardings(Operation *op, ArrayRef<std::optional<LayoutId>> layouts);
  Value resolve(Value value);

  /// The op before which a value is resharded: in the block of the value, outside of the loops and branches of its
  /// users.
  static Operation *getAnchor(Value value, Operation *consumer) {
    return value.getParentBlock()->findAncestorOpInBlock(*consumer);
  }

  /// The value in a layout, for a consumer that is rewritten now; `fresh`: not an existing copy.
  Value get(Value value, LayoutId id, Operation *consumer, bool fresh = false);
  Value reshard(Value value, Value source, LayoutId from, LayoutId to, Operation *consumer);
  void emitRemark(Value value, LayoutId from, LayoutId to, Operation *consumer);

  /// Rematerializes a constant-like op in a layout; once per value and layout unless `fresh`.
  Value materialize(Value value, LayoutId id, Operation *consumer, bool fresh = false);

  /// A tensor whose elements are not read.
  Value getEmpty(Value value, LayoutId id, Operation *consumer);
  void writeSignature();

  ComputePlan &plan;
  func::FuncOp func;
  FunctionMeshes &meshes;
  LayoutTable &table;
  llvm::DenseMap<Value, ValueLayouts> &values;
  StringAttr shardingsName = StringAttr::get(func.getContext(), kShardingsAttr);
  SmallVector<ArrayAttr> single; // `spmd.shardings` of one result, per layout
  llvm::DenseMap<std::pair<Value, LayoutId>, Value> materialized;
  llvm::DenseMap<Value, Value> replaced;
  DenseSet<Operation *> unusedConstraints;
};

/// Values of a manual computation have layouts once propagation has read its region.
LogicalResult verifyManual(ModuleOp module) {
  if (getPhase(module) >= int(Phase::Propagated))
    return success();
  WalkResult result = module.walk([](ManualComputationOp op) {
    op.emitError() << op->getName() << " in the input of --spmd-insert-reshards, expected --spmd-propagate before it";
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}

struct InsertReshardsPass : public spmd::impl::SPMDInsertReshardsPassBase<InsertReshardsPass> {
  using Base::Base;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (tripCount < 1) {
      emitError(module.getLoc()) << "trip-count=" << tripCount.getValue() << ", expected a positive number";
      return signalPassFailure();
    }
    if (failed(verifyInput(module, Phase::Resharded, getArgument())) ||
        failed(verifyLowered(module, Phase::Propagated, "--" + getArgument())) || failed(verifyManual(module)))
      return signalPassFailure();
    if (getPhase(module) == int(Phase::Resharded))
      return;
    MeshCache meshes(module);
    SharedMovePrices prices;
    unsigned dropped = 0;
    for (auto func : getProgramFunctions(module)) {
      if (func.isExternal())
        continue;
      auto functionMeshes = FunctionIndex::withCallees(func).getMeshes(meshes);
      if (failed(functionMeshes))
        return signalPassFailure();
      if (!*functionMeshes) { // one device: nothing to shard
        dropped += dropAnnotations(func, "the function has no mesh");
        continue;
      }
      if (!func.getBody().hasOneBlock()) {
        dropped += dropAnnotations(func, "the function has several blocks");
        if (failed(makeReplicated(func, **functionMeshes, forbidImplicit)))
          return signalPassFailure();
        continue;
      }
      ComputePlan plan(func, **functionMeshes, &prices);
      if (failed(decideCompute(plan, tripCount, deferReductions)))
        return signalPassFailure();
      for (const OpPlan &opPlan : plan.ops)
        if (auto perUse = opPlan.op->getAttrOfType<DenseI64ArrayAttr>(kReshardPerUseAttr);
            perUse && !perUse.empty() && perUse.asArrayRef().back() >= int64_t(opPlan.needs.size())) {
          opPlan.op->emitError() << "spmd.reshard_per_use has operand " << perUse.asArrayRef().back()
                                 << ", expected those of the op, 0 to " << int64_t(opPlan.needs.size()) - 1;
          return signalPassFailure();
        }
      ReshardInserter inserter(plan, forbidImplicit);
      inserter.run();
      if (inserter.foundImplicit)
        return signalPassFailure();
      dropped += plan.droppedConstraints + inserter.droppedConstraints;
      SPMD_COUNT(insertedReshards, inserter.numReshards);
    }
    if (dropped > 0)
      emitWarning(module.getLoc()) << dropped
                                   << " constraints are dropped; list them "
                                      "with --remarks-filter=spmd";
    setPhase(module, Phase::Resharded);
  }
};

} // namespace

void ReshardInserter::run() {
  findUnusedConstraints();
  for (OpPlan &op : plan.ops)
    apply(op);
  for (Operation *op : llvm::reverse(plan.consumed))
    op->erase();
  // Users of constant-like ops come after them.
  for (Operation *op : llvm::reverse(plan.constantLikes))
    if (op->use_empty())
      op->erase();
  writeSignature();
}

void ReshardInserter::findUnusedConstraints() {
  for (OpPlan &opPlan : llvm::reverse(plan.ops))
    if (isConstraintLike(opPlan.op) &&
        llvm::all_of(opPlan.op->getUsers(), [&](Operation *user) { return unusedConstraints.contains(user); }))
      unusedConstraints.insert(opPlan.op);
}

void ReshardInserter::apply(OpPlan &opPlan) {
  Operation *op = opPlan.op;
  if (unusedConstraints.contains(op))
    return drop(op);
  auto perUse = op->getAttrOfType<DenseI64ArrayAttr>(kReshardPerUseAttr);
  for (auto [t, needed] : llvm::enumerate(opPlan.needs)) {
    if (!needed)
      continue;
    bool captured = t >= op->getNumOperands();
    bool shapeOnly = opPlan.rule && opPlan.rule->tensor(t).role == OperandRole::ShapeOnly;
    // A destination of its own avoids a copy, and is not live for other ops.
    bool isWritten = opPlan.rule && opPlan.rule->tensor(t).role == OperandRole::Init &&
                     isConstantLike(opPlan.getOperand(t).getDefiningOp());
    // Earlier rewrites may have replaced a value that the body captures.
    Value old = captured ? resolve(opPlan.getOperand(t)) : op->getOperand(t);
    Value value = shapeOnly
                      ? getEmpty(old, *needed, op)
                      : get(old, *needed, op, isWritten || (perUse && llvm::is_contained(perUse.asArrayRef(), t)));
    if (value == old)
      continue;
    if (!captured)
      op->setOperand(t, value);
    else
      old.replaceUsesWithIf(value, [&](OpOperand &use) { return op->isProperAncestor(use.getOwner()); });
  }
  if (isConstraintLike(op))
    return consume(op);
  if (llvm::any_of(opPlan.computed, [](auto id) { return id.has_value(); }))
    setShardings(op, opPlan.computed);
  if (auto manual = dyn_cast<ManualComputationOp>(op)) {
    auto toList = [&](ArrayRef<std::optional<LayoutId>> ids, TypeRange types) {
      SmallVector<Attribute> attrs;
      for (auto [id, type] : llvm::zip(ids, types))
        attrs.push_back(meshes.getAttrOn(table.get(*id), getShape(type), manual.getMesh()));
      return ArrayAttr::get(op->getContext(), attrs);
    };
    manual.setInShardingsAttr(toList(opPlan.needs, manual.getInputs().getTypes()));
    manual.setOutShardingsAttr(toList(opPlan.computed, manual->getResultTypes()));
  }
  if (isa<ManualComputationOp, scf::WhileOp>(op))
    op->removeAttr(kOperandShardingsAttr);
}

void ReshardInserter::consume(Operation *op) {
  replaced[op->getResult(0)] = op->getOperand(0);
  op->getResult(0).replaceAllUsesWith(op->getOperand(0));
  // Erased at the end: the tables know values by address.
  plan.consumed.push_back(op);
}

void ReshardInserter::drop(Operation *op) {
  if (!isa<PropagationBarrierOp>(op)) {
    ++droppedConstraints;
    remark::missed(op->getLoc(),
                   remark::RemarkOpts::name("dropped-constraint").category("spmd").function(func.getName()))
        << remark::add("result of {0} has no use: dropped", op->getName().getStringRef());
  }
  consume(op);
}

void ReshardInserter::setShardings(Operation *op, ArrayRef<std::optional<LayoutId>> layouts) {
  SmallVector<Attribute> attrs;
  for (std::optional<LayoutId> id : layouts)
    attrs.push_back(table.getAttr(id ? *id : table.getReplicated(0)));
  ArrayAttr attr;
  if (layouts.size() == 1) { // lists of one are few
    if (*layouts[0] >= single.size())
      single.resize(*layouts[0] + 1);
    ArrayAttr &known = single[*layouts[0]];
    attr = known = known ? known : ArrayAttr::get(op->getContext(), attrs);
  } else {
    attr = ArrayAttr::get(op->getContext(), attrs);
  }
  op->setDiscardableAttr(shardingsName, attr);
}

Value ReshardInserter::resolve(Value value) {
  for (auto it = replaced.find(value); it != replaced.end(); it = replaced.find(value))
    value = it->second;
  return value;
}

Value ReshardInserter::get(Value value, LayoutId id, Operation *consumer, bool fresh) {
  if (isConstantLike(value.getDefiningOp()))
    return materialize(value, id, consumer, fresh);
  ValueLayouts &state = values.find(value)->second;
  fresh &= id != state.computed && id != state.propagated;
  for (auto &[have, copy] : state.available)
    if (have == id && !fresh)
      return copy;
  // A partial value with several needed layouts is completed once.
  bool direct =
      state.computed == state.propagated || id == state.propagated || (!state.viaPropagated && state.needs.size() <= 1);
  LayoutId from = direct ? state.computed : state.propagated;
  Value source = direct ? state.available.front().second : get(value, state.propagated, consumer);
  return reshard(value, source, from, id, consumer);
}

Value ReshardInserter::reshard(Value value, Value source, LayoutId from, LayoutId to, Operation *consumer) {
  // The copy in the propagated layout is made at the definition, as the search counted it.
  bool isPropagated = values[value].viaPropagated && to == values[value].propagated;
  // An output of a fragment is resharded in the fragment.
  auto out = value.getDefiningOp<StageOutputOp>();
  bool leaves = out && !out.getReduction() && isa<func::ReturnOp>(consumer);
  OpBuilder b(getAnchor(value, consumer));
  if (isPropagated || leaves)
    b.setInsertionPointAfterValue(source);
  auto op = ReshardOp::create(b, consumer->getLoc(), source.getType(), source, table.getAttr(to));
  ++numReshards;
  SPMD_LOG() << consumer->getName() << " at " << consumer->getLoc() << " needs " << meshes.toString(table.get(to))
             << ": reshards " << describeValue(value) << " from " << meshes.toString(table.get(from));
  emitRemark(value, from, to, consumer);
  ValueLayouts &state = values[value];
  llvm::erase_if(state.available, [&](auto &copy) { return copy.first == to; });
  state.available.push_back({to, op.getResult()});
  // Readers of a constraint may need its result in another layout.
  ValueLayouts copy;
  copy.computed = copy.propagated = to;
  copy.available = {{to, op.getResult()}};
  values[op.getResult()] = std::move(copy);
  return op.getResult();
}

void ReshardInserter::emitRemark(Value value, LayoutId from, LayoutId to, Operation *consumer) {
  auto type = cast<RankedTensorType>(value.getType());
  auto [bytes, kinds, axes] = table.getMove(from, to, type);
  if (bytes == 0)
    return;
  if (forbidImplicit && !isa<WithShardingConstraintOp, ReshardOp>(consumer)) {
    std::string wanted;
    llvm::raw_string_ostream(wanted) << table.getAttr(table.getComplete(to));
    consumer->emitError() << "implicit reshard of " << type << " from " << meshes.toString(table.get(from)) << " to "
                          << meshes.toString(table.get(to)) << " (" << kinds << ", " << bytes
                          << " bytes), expected an explicit one: "
                          << "spmd.with_sharding_constraint " << wanted.substr(wanted.find('<')) << " on the operand";
    foundImplicit = true;
  }
  Operation *def = value.getDefiningOp();
  std::string producer = def ? def->getName().getStringRef().str() : "an argument";
  remark::passed(consumer->getLoc(), remark::RemarkOpts::name("reshard").category("spmd").function(func.getName()))
      << remark::add("{0} needs {1}, {2} gives {3}: {4}", consumer->getName().getStringRef(),
                     meshes.toString(table.get(to)), producer, meshes.toString(table.get(from)), kinds)
      << remark::metric("Bytes", bytes) << remark::metric("Axes", axes)
      << remark::metric("Reason", table.isPartial(from) ? "a partial result is completed" : "the layouts differ")
      << remark::suggest("{0}", table.isPartial(from) ? "shard another loop of the op that computes it, or shard "
                                                        "its users along these axes"
                                                      : "constrain one to the sharding of the other by "
                                                        "spmd.with_sharding_constraint");
}

Value ReshardInserter::materialize(Value value, LayoutId id, Operation *consumer, bool fresh) {
  Value &made = materialized[{value, id}];
  if (made && !fresh)
    return made;
  Operation *def = value.getDefiningOp();
  consumer = getAnchor(value, consumer);
  OpBuilder b(consumer);
  LayoutId complete = table.getComplete(id);
  if (table.isPartial(id) && !isNeutralFill(value, table.get(id).unreducedKind)) {
    // The value counts once: materialize it completely, then mask it on all shards but the first.
    Value full = materialize(value, complete, consumer, fresh);
    auto op = ReshardOp::create(b, consumer->getLoc(), full.getType(), full, table.getAttr(id));
    return materialized[{value, id}] = op.getResult();
  }
  Operation *clone = b.clone(*def);
  if (auto fill = dyn_cast<linalg::FillOp>(def))
    clone->setOperand(1, materialize(fill.getOutputs().front(), complete, clone, fresh));
  setShardings(clone, {id});
  return materialized[{value, id}] = clone->getResult(0);
}

Value ReshardInserter::getEmpty(Value value, LayoutId id, Operation *consumer) {
  auto type = cast<RankedTensorType>(value.getType());
  if (isConstantLike(value.getDefiningOp()))
    return materialize(value, id, consumer);
  auto it = values.find(value);
  if (!type.hasStaticShape())
    return get(value, id, consumer);
  if (it != values.end() && it->second.computed == id)
    return value;
  OpBuilder b(consumer);
  auto empty = tensor::EmptyOp::create(b, consumer->getLoc(), type.getShape(), type.getElementType());
  setShardings(empty, {id});
  return empty.getResult();
}

void ReshardInserter::writeSignature() {
  SignatureAttrs signature(func);
  FunctionMeshes &meshes = table.getMeshes();
  auto write = [&](NamedAttrList &attrs, LayoutId id) {
    // A mesh in another order of the devices stays: it determines which devices have the value.
    auto given = dyn_cast_or_null<ShardingAttr>(attrs.get(kShardingAttr));
    const bool isReordered = given && meshes.isReordered(given.getMesh());
    attrs.set(kShardingAttr, isReordered ? meshes.getAttr(table.get(id), given.getMesh()) : table.getAttr(id));
  };
  for (BlockArgument arg : func.getArguments())
    if (auto it = values.find(arg); it != values.end())
      write(signature.arg(arg.getArgNumber()), it->second.computed);
  for (auto [i, id] : llvm::enumerate(plan.results))
    if (id)
      write(signature.result(i), *id);
  signature.write();
}
