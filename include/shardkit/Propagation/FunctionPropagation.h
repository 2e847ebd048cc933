//===- FunctionPropagation.h - A function's tables --------------*- C++ -*-===//

#ifndef SHARDKIT_PROPAGATION_FUNCTIONPROPAGATION_H
#define SHARDKIT_PROPAGATION_FUNCTIONPROPAGATION_H

#include "shardkit/Dialect/SPMD/IR/SignatureAttrs.h"
#include "shardkit/Propagation/CallTable.h"
#include "shardkit/Propagation/Propagation.h"
#include <functional>
#include <memory>

namespace mlir::spmd {

/// Reads what is given for the values of a function into a propagation, and
/// writes what comes out of it.
class FunctionPropagation {
public:
  FunctionPropagation(func::FuncOp func, FunctionMeshes &meshes, CallTable &calls, const Propagation::Options &options)
      : func(func), meshes(meshes), mesh(meshes.getMesh()), calls(calls), table(meshes, options.costs),
        propagation(table, options), signature(func) {}

  /// Reads and propagates. Where a reshape regroups axes that are beside each other,
  /// 2 x 3 as 3 x 2, this is on the mesh that has the devices on one axis, which
  /// `meshes` then has. `record`: keep what happens during the run; `onRead` is
  /// called before it.
  static FailureOr<std::unique_ptr<FunctionPropagation>>
  compute(func::FuncOp func, FunctionMeshes &meshes, CallTable &calls, const Propagation::Options &options,
          bool record = false, llvm::function_ref<void(FunctionPropagation &)> onRead = {});
  /// Says what ops are replicated, what is padded, where tensors of an op disagree.
  void emitRemarks();
  /// Writes `spmd.sharding`, `spmd.user_sharding` and `spmd.shardings`.
  void write();

  /// The layouts that a value ended with, closed; null for what takes no part.
  ShardingAttr getClosed(Value value);

  /// Ops without a rule, which are replicated.
  unsigned getNumUnknownOps() const { return unknownOps; }
  Propagation &getPropagation() { return propagation; }
  /// Place of each result of the function, or -1.
  ArrayRef<int64_t> getResultPlaces() const { return results; }

  /// An annotation: the place it is about, and where it stands: on a value, or
  /// on operand or result `index` of `op` (a call, the function).
  struct Given {
    Propagation::ValueId place;
    Sharding sharding;
    Value value;
    Operation *op;
    unsigned index;
  };
  ArrayRef<Given> getAnnotations() const { return annotations; }

private:
  using ValueId = Propagation::ValueId;

  LogicalResult read();
  void remarkConflicts();
  FailureOr<Sharding> readGiven(Attribute attr, RankedTensorType type, Location loc);
  LogicalResult readGroups();
  LogicalResult readArguments();
  LogicalResult readBlock(Block &block);
  LogicalResult readOp(Operation *op);
  LogicalResult readResultsOf(Operation *op, const ShardingRule &rule);
  /// A shared output of scf.forall: dims that are written in part stay whole.
  LogicalResult readBarrier(PropagationBarrierOp barrier);
  LogicalResult readFor(scf::ForOp loop);
  LogicalResult readWhile(scf::WhileOp loop);
  LogicalResult readForall(scf::ForallOp loop);
  LogicalResult readBranches(Operation *op);
  LogicalResult readHandedOn(Operation *op, ValueRange values, ValueRange args);
  LogicalResult readLoopResults(ValueRange args, ResultRange results);
  LogicalResult readSharedOutput(scf::ForallOp loop, unsigned i);
  LogicalResult readConstraint(WithShardingConstraintOp op);
  LogicalResult readCall(func::CallOp call);
  LogicalResult readManual(ManualComputationOp op);
  /// What a collective or coordinate that a user wrote needs around it.
  LogicalResult verifyLocalOp(Operation *op);
  /// Nothing given; manual axes around the op are not to be used.
  Sharding getOpenSharding(int64_t rank) const;
  LogicalResult readResults();
  /// Adds a value with nothing given, or what its group has.
  LogicalResult addOpen(Value value);
  LogicalResult addGiven(Value value, Sharding given, Location loc);
  /// The result of a loop has the place of the value it carries.
  LogicalResult addLoopResult(Value result, ValueId place);
  /// Joins what is given for two values that share a place.
  LogicalResult join(ValueId place, const Sharding &given, const Twine &what, Location loc);
  void handOn(Operation *op, Value from, ValueId to, Value defined = {}) {
    if (propagation.contains(from))
      propagation.addIdentity(op, from, to, defined);
  }
  void note(ValueId place, const Sharding &sharding, Value value, Operation *op = nullptr, unsigned index = 0);
  void remarkUnknown(Operation *op);
  /// Says of each dim that is given axes which do not divide it what share of the
  /// shards is padding.
  void remarkPadding(const Sharding &given, RankedTensorType type, const Twine &what, Location loc);

  func::FuncOp func;
  FunctionMeshes &meshes;
  const Mesh &mesh;
  CallTable &calls;
  LayoutTable table;
  Propagation propagation;
  SignatureAttrs signature;
  /// Ops whose results were added, in program order.
  std::vector<Operation *> ops;
  /// Per result of the function: its place, or -1.
  SmallVector<int64_t> results;
  /// Groups that a value belongs to, and the place of each group.
  llvm::DenseMap<Value, StringAttr> groupOf;
  llvm::DenseMap<StringAttr, ValueId> groups;
  std::vector<Given> annotations;
  /// Axes that the manual computations around the op being read own.
  DimEntries manualAxes;
  /// Places of the operands of manual computations and of scf.while, -1 for what is no
  /// tensor: not those of the values that come in.
  std::vector<std::pair<Operation *, SmallVector<int64_t>>> operandPlaces;
  unsigned unknownOps = 0;
  /// What is said once the run counts.
  std::vector<std::function<void()>> remarks;
};

} // namespace mlir::spmd

#endif // SHARDKIT_PROPAGATION_FUNCTIONPROPAGATION_H
