//===- FunctionPropagation.h - Propagation of a function --------*- C++ -*-===//

#ifndef SHARDKIT_PROPAGATION_FUNCTIONPROPAGATION_H
#define SHARDKIT_PROPAGATION_FUNCTIONPROPAGATION_H

#include "shardkit/Dialect/SPMD/IR/SignatureAttrs.h"
#include "shardkit/Propagation/CallTable.h"
#include "shardkit/Propagation/Propagation.h"
#include <functional>
#include <memory>

namespace mlir::spmd {

/// A layout of a shared value: the members of the value that have it, and their user shardings
/// in one.
struct SharedLayout {
  Sharding sharding;
  std::string members;
  int64_t valueClass = -1;
  FlatSymbolRefAttr mesh = {}; // the mesh of its first member with a user sharding
};

/// Reads the user shardings of functions that share values (FunctionGroups.h), mostly of one
/// function, into a propagation, and writes the result.
///
///   func @f(%a {spmd.sharding = [{"x"}]})           value class 0 with user sharding [{"x"}]
///     %0 = with_sharding_constraint %a <[{?}]>      value class 1, and an identity 0 -> 1
///     return %0                                     value class 2, and an identity 1 -> 2
class FunctionPropagation {
public:
  FunctionPropagation(ArrayRef<func::FuncOp> funcs, FunctionMeshes &meshes, CallTable &calls,
                      const Propagation::Options &options);

  /// Reads and propagates. If a reshape regroups neighboring axes, 2 x 3 as 3 x 2, this
  /// is repeated on the mesh with all devices on one axis, to which `meshes` is flattened.
  /// `record`: record the extensions of the run; `onRead` is called before it.
  static FailureOr<std::unique_ptr<FunctionPropagation>>
  compute(ArrayRef<func::FuncOp> funcs, FunctionMeshes &meshes, CallTable &calls, const Propagation::Options &options,
          bool record = false, llvm::function_ref<void(FunctionPropagation &)> onRead = {});
  /// Emits remarks for replicated ops, padded values, conflicts and shared values.
  void emitRemarks();
  /// Emits a remark for each shared value that has several layouts.
  void remarkSharedValues();
  /// Writes `spmd.sharding`, `spmd.user_sharding` and `spmd.shardings`.
  void write();

  /// The closed sharding of a value after the run; null if the value is not a tensor.
  ShardingAttr getClosed(Value value);

  /// Ops without a rule, which are replicated.
  unsigned getNumUnknownOps() const { return unknownOps; }
  Propagation &getPropagation() { return propagation; }
  /// Costs of moves, planned once for all functions of the module.
  SharedMovePrices &getPrices() { return calls.getPrices(); }
  /// In the order of the module.
  SmallVector<func::FuncOp> getFunctions() const;
  /// True for an argument that other functions share.
  bool isShared(Value argument) const;
  /// The value class of each result of a function, or -1.
  ArrayRef<int64_t> getResultClasses(func::FuncOp of) const;

  /// A user sharding of a value class: on a value, or on operand or result `index` of `op` (a
  /// call or a function).
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

  /// A function with the shardings of its signature, and the value class of each result, or -1.
  struct Signature {
    func::FuncOp func;
    SignatureAttrs attrs;
    SmallVector<int64_t> results;
  };

  LogicalResult read();
  /// Writes a result and the argument that it is tied to on one mesh, if one of them has no user sharding.
  void readTiedMeshes();
  /// The mesh of a user sharding, or of `meshOf`; may be null.
  FlatSymbolRefAttr getMeshOf(Signature &signature, bool isResult, unsigned index);
  LogicalResult readFunction(Signature &signature);
  /// Assigns the members of shared values to layouts: to one, unless user shardings differ.
  LogicalResult readSharedValues();
  LogicalResult readSharedValue(unsigned shared);
  /// The value class of an argument or result that is shared; -1 for any other.
  int64_t getSharedClass(int64_t shared, bool isResult, unsigned index, RankedTensorType type);
  void remarkConflicts();
  FailureOr<Sharding> readUserSharding(Attribute attr, RankedTensorType type, Location loc);
  LogicalResult readGroups();
  LogicalResult readArguments(Signature &signature);
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
  LogicalResult readResults(Signature &signature);
  /// Adds a value without a user sharding, or to the value class of its group.
  LogicalResult addOpen(Value value);
  /// `shared`: the value class of a shared value, or -1.
  LogicalResult addAnnotated(Value value, Sharding userSharding, Location loc, int64_t shared = -1);
  /// Adds the result of a loop to the value class of the carried value.
  LogicalResult addLoopResult(Value result, ClassId valueClass);
  /// The user sharding of both; none if they differ.
  std::optional<Sharding> getJoined(Sharding sharding, const Sharding &other) const;
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

  std::vector<Signature> signatures;
  llvm::SmallDenseMap<Operation *, unsigned, 2> signatureOf;
  func::FuncOp func; // that is read
  FunctionMeshes &meshes;
  const Mesh &mesh;
  CallTable &calls;
  LayoutTable table;
  Propagation propagation;
  /// Ops whose results were added, in program order.
  std::vector<Operation *> ops;
  /// An argument or result of a function.
  using Slot = std::pair<Operation *, unsigned>;
  /// The sharding given for an argument or result: the user's own where an earlier run has kept it, else what stands
  /// there.
  static Attribute getUserSharding(const NamedAttrList &attrs);
  static Slot getSlot(func::FuncOp func, bool isResult, unsigned index) {
    return {func, isResult ? func.getNumArguments() + index : index};
  }
  /// The layouts of shared values; and which layout an argument or result has.
  std::vector<SmallVector<SharedLayout, 1>> sharedLayouts;
  llvm::DenseMap<Slot, unsigned> layoutOf;
  /// The mesh of an argument or result without a user sharding, where it shares memory with one that has a mesh.
  llvm::DenseMap<Slot, FlatSymbolRefAttr> meshOf;
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
