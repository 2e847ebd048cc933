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
#include "shardkit/Partition/WholeFunctions.h"
#include "shardkit/Passes.h"
#include "shardkit/Propagation/FunctionIndex.h"
#include "shardkit/Propagation/Propagation.h"
#include "shardkit/Reshard/ComputePlan.h"
#include "shardkit/Rules/Reductions.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/Remarks.h"

namespace mlir::spmd {
#define GEN_PASS_DEF_SPMDINSERTRESHARDSPASS
#include "shardkit/Passes.h.inc"
} // namespace mlir::spmd

using namespace mlir;
using namespace mlir::spmd;

namespace {

class ReshardInserter {
public:
  ReshardInserter(ComputePlan &plan, bool forbidImplicit)
      : forbidImplicit(forbidImplicit), plan(plan), func(plan.func), meshes(plan.meshes), table(plan.table),
        values(plan.values) {}

  void run() {
    findUnusedPins();
    for (OpPlan &op : plan.ops)
      apply(op);
    for (Operation *op : llvm::reverse(plan.consumed))
      op->erase();
    // Users of creation ops come after them.
    for (Operation *op : llvm::reverse(plan.creations))
      if (op->use_empty())
        op->erase();
    writeSignature();
  }

  /// Constraints without a use that were dropped.
  unsigned droppedConstraints = 0;
  /// Whether a reshard that moves data and that no constraint asks for is an
  /// error, and whether there was one.
  bool forbidImplicit, foundImplicit = false;

private:
  /// Those that nothing reads but others of them: nothing is moved for them.
  void findUnusedPins() {
    for (OpPlan &own : llvm::reverse(plan.ops))
      if (isConstraintLike(own.op) &&
          llvm::all_of(own.op->getUsers(), [&](Operation *user) { return unusedPins.contains(user); }))
        unusedPins.insert(own.op);
  }

  void apply(OpPlan &own) {
    Operation *op = own.op;
    if (unusedPins.contains(op))
      return drop(op);
    auto regather = op->getAttrOfType<DenseI64ArrayAttr>(kReshardPerUseAttr);
    for (auto [t, needed] : llvm::enumerate(own.needs)) {
      if (!needed)
        continue;
      bool captured = t >= op->getNumOperands();
      bool shapeOnly = own.rule && own.rule->tensor(t).role == OperandRole::ShapeOnly;
      // Where an op writes into what was made for it nothing has to be copied, or held for others.
      bool isWritten = own.rule && own.rule->tensor(t).role == OperandRole::Init &&
                       isConstantLike(own.getOperand(t).getDefiningOp());
      // Earlier rewrites may have replaced a value that the body captures.
      Value old = captured ? resolve(own.getOperand(t)) : op->getOperand(t);
      Value value =
          shapeOnly ? getEmpty(old, *needed, op)
                    : get(old, *needed, op, isWritten || (regather && llvm::is_contained(regather.asArrayRef(), t)));
      if (value == old)
        continue;
      if (!captured)
        op->setOperand(t, value);
      else
        old.replaceUsesWithIf(value, [&](OpOperand &use) { return op->isProperAncestor(use.getOwner()); });
    }
    if (isConstraintLike(op))
      return consume(op);
    if (llvm::any_of(own.produced, [](auto id) { return id.has_value(); }))
      setShardings(op, own.produced);
    if (auto manual = dyn_cast<ManualComputationOp>(op)) {
      auto toList = [&](ArrayRef<std::optional<LayoutId>> ids, TypeRange types) {
        SmallVector<Attribute> attrs;
        for (auto [id, type] : llvm::zip(ids, types))
          attrs.push_back(meshes.getAttrOn(table.get(*id), getShape(type), manual.getMesh()));
        return ArrayAttr::get(op->getContext(), attrs);
      };
      manual.setInShardingsAttr(toList(own.needs, manual.getInputs().getTypes()));
      manual.setOutShardingsAttr(toList(own.produced, manual->getResultTypes()));
    }
    if (isa<ManualComputationOp, scf::WhileOp>(op))
      op->removeAttr(kOperandShardingsAttr);
  }

  /// A pin, whose operand has its layout.
  void consume(Operation *op) {
    replaced[op->getResult(0)] = op->getOperand(0);
    op->getResult(0).replaceAllUsesWith(op->getOperand(0));
    // Erased at the end: the tables know values by address.
    plan.consumed.push_back(op);
  }

  void drop(Operation *op) {
    if (!isa<PropagationBarrierOp>(op)) {
      ++droppedConstraints;
      remark::missed(op->getLoc(),
                     remark::RemarkOpts::name("dropped-constraint").category("spmd").function(func.getName()))
          << remark::add("result of {0} has no use: dropped", op->getName().getStringRef());
    }
    consume(op);
  }

  void setShardings(Operation *op, ArrayRef<std::optional<LayoutId>> layouts) {
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

  Value resolve(Value value) {
    for (auto it = replaced.find(value); it != replaced.end(); it = replaced.find(value))
      value = it->second;
    return value;
  }

  /// Where a reshard of a value stands: beside it, outside the loops and branches
  /// that its users are in.
  static Operation *getAnchor(Value value, Operation *consumer) {
    return value.getParentBlock()->findAncestorOpInBlock(*consumer);
  }

  /// The value in a layout, for a consumer that is rewritten now; `anew`: no copy that others have had made.
  Value get(Value value, LayoutId id, Operation *consumer, bool anew = false) {
    if (isConstantLike(value.getDefiningOp()))
      return materialize(value, id, consumer, anew);
    ValueLayouts &state = values.find(value)->second;
    anew &= id != state.produced && id != state.home;
    for (auto &[have, copy] : state.available)
      if (have == id && !anew)
        return copy;
    // A partial value that several layouts are wanted of is completed once.
    bool direct = state.produced == state.home || id == state.home || (!state.viaHome && state.needs.size() <= 1);
    LayoutId from = direct ? state.produced : state.home;
    Value source = direct ? state.available.front().second : get(value, state.home, consumer);
    return reshard(value, source, from, id, consumer);
  }

  Value reshard(Value value, Value source, LayoutId from, LayoutId to, Operation *consumer) {
    // What is kept at home is brought there at once, as it was counted.
    bool isHome = values[value].viaHome && to == values[value].home;
    // What leaves its part of a stage is resharded in it.
    auto out = value.getDefiningOp<StageOutputOp>();
    bool leaves = out && !out.getReduction() && isa<func::ReturnOp>(consumer);
    OpBuilder b(getAnchor(value, consumer));
    if (isHome || leaves)
      b.setInsertionPointAfterValue(source);
    auto op = ReshardOp::create(b, consumer->getLoc(), source.getType(), source, table.getAttr(to));
    emitRemark(value, from, to, consumer);
    ValueLayouts &state = values[value];
    llvm::erase_if(state.available, [&](auto &copy) { return copy.first == to; });
    state.available.push_back({to, op.getResult()});
    // The result may be asked for in another layout, where it came from a
    // constraint.
    ValueLayouts copy;
    copy.produced = copy.home = to;
    copy.available = {{to, op.getResult()}};
    values[op.getResult()] = std::move(copy);
    return op.getResult();
  }

  void emitRemark(Value value, LayoutId from, LayoutId to, Operation *consumer) {
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

  /// A creation op made anew in a layout; one per value and layout unless one for this consumer is asked for.
  Value materialize(Value value, LayoutId id, Operation *consumer, bool anew = false) {
    Value &made = materialized[{value, id}];
    if (made && !anew)
      return made;
    Operation *def = value.getDefiningOp();
    consumer = getAnchor(value, consumer);
    OpBuilder b(consumer);
    LayoutId complete = table.getComplete(id);
    if (table.isPartial(id) && !isNeutralFill(value, table.get(id).unreducedKind)) {
      // Counts once: complete first, then masked on all shards but the first.
      Value whole = materialize(value, complete, consumer, anew);
      auto op = ReshardOp::create(b, consumer->getLoc(), whole.getType(), whole, table.getAttr(id));
      return materialized[{value, id}] = op.getResult();
    }
    Operation *clone = b.clone(*def);
    if (auto fill = dyn_cast<linalg::FillOp>(def))
      clone->setOperand(1, materialize(fill.getOutputs().front(), complete, clone, anew));
    setShardings(clone, {id});
    return materialized[{value, id}] = clone->getResult(0);
  }

  /// A tensor whose elements are not read.
  Value getEmpty(Value value, LayoutId id, Operation *consumer) {
    auto type = cast<RankedTensorType>(value.getType());
    if (isConstantLike(value.getDefiningOp()))
      return materialize(value, id, consumer);
    auto it = values.find(value);
    if (!type.hasStaticShape())
      return get(value, id, consumer);
    if (it != values.end() && it->second.produced == id)
      return value;
    OpBuilder b(consumer);
    auto empty = tensor::EmptyOp::create(b, consumer->getLoc(), type.getShape(), type.getElementType());
    setShardings(empty, {id});
    return empty.getResult();
  }

  void writeSignature() {
    SignatureAttrs signature(func);
    for (BlockArgument arg : func.getArguments()) {
      auto it = values.find(arg);
      if (it != values.end())
        signature.arg(arg.getArgNumber()).set(kShardingAttr, table.getAttr(it->second.produced));
    }
    for (auto [i, id] : llvm::enumerate(plan.results))
      if (id)
        signature.result(i).set(kShardingAttr, table.getAttr(*id));
    signature.write();
  }

  ComputePlan &plan;
  func::FuncOp func;
  FunctionMeshes &meshes;
  LayoutTable &table;
  llvm::DenseMap<Value, ValueLayouts> &values;
  StringAttr shardingsName = StringAttr::get(func.getContext(), kShardingsAttr);
  SmallVector<ArrayAttr> single; // `spmd.shardings` of one result, per layout
  llvm::DenseMap<std::pair<Value, LayoutId>, Value> materialized;
  llvm::DenseMap<Value, Value> replaced;
  DenseSet<Operation *> unusedPins;
};

struct InsertReshardsPass : public spmd::impl::SPMDInsertReshardsPassBase<InsertReshardsPass> {
  using Base::Base;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (tripCount < 1) {
      emitError(module.getLoc()) << "trip-count=" << tripCount.getValue() << ", expected a positive number";
      return signalPassFailure();
    }
    if (failed(verifyInput(module, Phase::Resharded, getArgument())))
      return signalPassFailure();
    if (getPhase(module) == int(Phase::Resharded))
      return;
    MeshCache meshes(module);
    unsigned dropped = 0;
    for (auto func : getProgramFunctions(module)) {
      if (func.isExternal())
        continue;
      auto own = FunctionIndex::withCallees(func).getMeshes(meshes);
      if (failed(own))
        return signalPassFailure();
      if (!*own) { // one device: nothing to cut
        dropped += dropAnnotations(func, "the function has no mesh");
        continue;
      }
      if (!func.getBody().hasOneBlock()) {
        dropped += dropAnnotations(func, "the function has several blocks");
        if (failed(makeWhole(func, **own, forbidImplicit)))
          return signalPassFailure();
        continue;
      }
      ComputePlan plan(func, **own);
      if (failed(decideCompute(plan, tripCount, deferReductions)))
        return signalPassFailure();
      for (const OpPlan &own : plan.ops)
        if (auto regather = own.op->getAttrOfType<DenseI64ArrayAttr>(kReshardPerUseAttr);
            regather && !regather.empty() && regather.asArrayRef().back() >= int64_t(own.needs.size())) {
          own.op->emitError() << "spmd.reshard_per_use has operand " << regather.asArrayRef().back()
                              << ", expected those of the op, 0 to " << int64_t(own.needs.size()) - 1;
          return signalPassFailure();
        }
      ReshardInserter inserter(plan, forbidImplicit);
      inserter.run();
      if (inserter.foundImplicit)
        return signalPassFailure();
      dropped += plan.droppedConstraints + inserter.droppedConstraints;
    }
    if (dropped > 0)
      emitWarning(module.getLoc()) << dropped
                                   << " constraints are dropped; list them "
                                      "with --remarks-filter=spmd";
    setPhase(module, Phase::Resharded);
  }
};

} // namespace
