//===- FunctionPropagation.h - Propagation of a function --------*- C++ -*-===//

#ifndef SHARDKIT_PROPAGATION_FUNCTIONPROPAGATION_H
#define SHARDKIT_PROPAGATION_FUNCTIONPROPAGATION_H

#include "shardkit/Dialect/SPMD/IR/SignatureAttrs.h"
#include "shardkit/Propagation/CallTable.h"
#include "shardkit/Propagation/Propagation.h"
#include <functional>
#include <memory>

namespace mlir::spmd {

/// Reads the user shardings of a function into a propagation, and writes the result.
///
///   func @f(%a {spmd.sharding = [{"x"}]})           value class 0 with user sharding [{"x"}]
///     %0 = with_sharding_constraint %a <[{?}]>      value class 1, and an identity 0 -> 1
///     return %0                                     value class 2, and an identity 1 -> 2
class FunctionPropagation {
public:
  FunctionPropagation(func::FuncOp func, FunctionMeshes &meshes, CallTable &calls, const Propagation::Options &options)
      : func(func), meshes(meshes), mesh(meshes.getMesh()), calls(calls), table(meshes, options.costs),
        propagation(table, options), signature(func) {}

  /// Reads and propagates. If a reshape regroups neighboring axes, 2 x 3 as 3 x 2, this
  /// is repeated on the mesh with all devices on one axis, to which `meshes` is flattened.
  /// `record`: record the extensions of the run; `onRead` is called before it.
  static FailureOr<std::unique_ptr<FunctionPropagation>>
  compute(func::FuncOp func, FunctionMeshes &meshes, CallTable &calls, const Propagation::Options &options,
          bool record = false, llvm::function_ref<void(FunctionPropagation &)> onRead = {});
  /// Emits remarks for replicated ops, padded values and conflicts.
  void emitRemarks();
  /// Writes `spmd.sharding`, `spmd.user_sharding` and `spmd.shardings`.
  void write();

  /// The closed sharding of a value after the run; null if the value is not a tensor.
  ShardingAttr getClosed(Value value);

  /// Ops without a rule, which are replicated.
  unsigned getNumUnknownOps() const { return unknownOps; }
  Propagation &getPropagation() { return propagation; }
  /// The value class of each result of the function, or -1.
  ArrayRef<int64_t> getResultClasses() const { return results; }

  /// A user sharding of a value class: on a value, or on operand or result `index` of `op` (a
  /// call or the function).
  struct Annotation {
    Propagation::ClassId valueClass;
    Sharding sharding;
    Value value;
    Operation *op;
    unsigned index;
  };
  ArrayRef<Annotation> getAnnotations() const { return annotations; }

private:
  using ClassId = Propagation::ClassId;

  LogicalResult read();
  void remarkConflicts();
  FailureOr<Sharding> readUserSharding(Attribute attr, RankedTensorType type, Location loc);
  LogicalResult readGroups();
  LogicalResult readArguments();
  LogicalResult readBlock(Block &block);
  LogicalResult readOp(Operation *op);
  LogicalResult readResultsOf(Operation *op, const ShardingRule &rule);
  LogicalResult readBarrier(PropagationBarrierOp barrier);
  LogicalResult readFor(scf::ForOp loop);
  LogicalResult readWhile(scf::WhileOp loop);
  LogicalResult readForall(scf::ForallOp loop);
  LogicalResult readBranches(Operation *op);
  LogicalResult readForwarded(Operation *op, ValueRange values, ValueRange args);
  LogicalResult readLoopResults(ValueRange args, ResultRange results);
  /// A shared output of scf.forall: dims of which an iteration writes a slice stay unsharded.
  LogicalResult readSharedOutput(scf::ForallOp loop, unsigned i);
  /// A constraint, or a reshard that the user wrote; `sharding` is null if it has axis resources.
  LogicalResult readConstraint(Operation *op, ShardingAttr sharding);
  LogicalResult readCall(func::CallOp call);
  LogicalResult readManual(ManualComputationOp op);
  /// Verifies the context of a collective or coordinate in a manual computation.
  LogicalResult verifyLocalOp(Operation *op);
  /// A sharding with open dims, which must not use the manual axes around the op.
  Sharding getOpenSharding(int64_t rank) const;
  LogicalResult readResults();
  /// Adds a value without a user sharding, or to the value class of its group.
  LogicalResult addOpen(Value value);
  LogicalResult addAnnotated(Value value, Sharding userSharding, Location loc);
  /// Adds the result of a loop to the value class of the carried value.
  LogicalResult addLoopResult(Value result, ClassId valueClass);
  /// Joins the user shardings of two values of one value class.
  LogicalResult join(ClassId valueClass, const Sharding &userSharding, const Twine &what, Location loc);
  void forward(Operation *op, Value from, ClassId to, Value defined = {}) {
    if (propagation.contains(from))
      propagation.addIdentity(op, from, to, defined);
  }
  void addAnnotation(ClassId valueClass, const Sharding &sharding, Value value, Operation *op = nullptr,
                     unsigned index = 0);
  void remarkUnknown(Operation *op);
  /// Emits a remark for each factor that is replicated as an attribute holds its size.
  void remarkGlobalSizes(Operation *op);
  /// Emits a remark with the share of padding, for each dim with an uneven user sharding.
  void remarkPadding(const Sharding &userSharding, RankedTensorType type, const Twine &what, Location loc);

  func::FuncOp func;
  FunctionMeshes &meshes;
  const Mesh &mesh;
  CallTable &calls;
  LayoutTable table;
  Propagation propagation;
  SignatureAttrs signature;
  /// Ops whose results were added, in program order.
  std::vector<Operation *> ops;
  /// The value class of each result of the function, or -1.
  SmallVector<int64_t> results;
  /// The group of a value, and the value class of a group.
  llvm::DenseMap<Value, StringAttr> groupOf;
  llvm::DenseMap<StringAttr, ClassId> groups;
  std::vector<Annotation> annotations;
  /// The manual axes around the op that is read.
  DimEntries manualAxes;
  /// Value classes of the operands of manual computations and of scf.while, -1 if not a tensor.
  /// They differ from those of the operand values.
  std::vector<std::pair<Operation *, SmallVector<int64_t>>> operandClasses;
  unsigned unknownOps = 0;
  /// Remarks, emitted after the last run.
  std::vector<std::function<void()>> remarks;
};

} // namespace mlir::spmd

#endif // SHARDKIT_PROPAGATION_FUNCTIONPROPAGATION_H
