//===- Stages.h - The stage of each op --------------------------*- C++ -*-===//

#ifndef SHARDKIT_STAGES_STAGES_H
#define SHARDKIT_STAGES_STAGES_H

#include "shardkit/Dialect/SPMD/IR/SPMD.h"
#include "shardkit/Stages/Microbatches.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

namespace mlir::spmd {

/// The stage and the fragment in which an op runs. The `round` of an apply op is how often
/// values have crossed stages since the last microbatch.
struct StageAssignment {
  int64_t stage = 0;
  StageFragment fragment = StageFragment::Forward;
  int64_t round = 0;
};

/// The stages of a function of one block. An op that computes the same in all microbatches is
/// not assigned: every fragment that needs it computes it.
///
/// Forward ops belong to the stage that the boundaries before them lead to. Backward ops do so
/// too, or, if the function has no backward boundaries, belong to the last stage that has all
/// their operands. The backward fragment begins at the first op that sums a gradient over the
/// batch. Apply ops belong to the stage of their weight. Other apply ops belong to the stage
/// that minimizes the bytes sent between their operands and the stage that uses them, and on a
/// tie to the highest stage of their operands. `spmd.stage` on an op overrides all of this.
///
/// Example, with one boundary:
///
///   %h = layer(%x, %w0)          forward, stage 0
///   spmd.stage_boundary %h
///   %e = layer(%h, %w1) - %y     forward, stage 1
///   %g1 = dot(%h, %e)            backward, stage 1
///   %g0 = dot(%x, dot(%e, %w1))  backward, stage 1 for the inner, stage 0 for the outer product
///   %n0 = %w0 - %g0              apply, stage 0
class Stages {
public:
  /// Stages at the boundaries of `func`. Sums over the batch that one op combines come from
  /// one stage, or the op runs once per step. One error if boundaries and `spmd.stage` do not
  /// split the ops in order, or if a value is used more than one stage later without crossing
  /// the boundaries between.
  static FailureOr<Stages> assign(func::FuncOp func, Microbatches &microbatches);
  /// With the forward ops split after the ops `splitPoints`, in order, and only there.
  static FailureOr<Stages> assign(func::FuncOp func, Microbatches &microbatches,
                                  std::optional<ArrayRef<Operation *>> splitPoints);

  int64_t getNumStages() const { return numStages; }
  /// The first op of the backward fragment; null if there is none.
  Operation *getFirstBackward() const { return firstBackward; }
  /// True if there is a backward fragment.
  bool isTraining() const { return training; }
  /// Null for an op that is not assigned to a stage.
  const StageAssignment *get(Operation *op) const {
    auto it = assignments.find(op);
    return it != assignments.end() ? &it->second : nullptr;
  }
  /// The stages that use an argument, also through ops that are not assigned.
  llvm::SmallSetVector<int64_t, 2> getStages(BlockArgument arg) const { return argumentStages.lookup(arg); }
  /// The arguments from which a value that is not assigned is computed.
  const llvm::SmallSetVector<Value, 4> &getSources(Value value);
  /// The stage and round that return result `i` of the function.
  StageAssignment getResult(unsigned i) const { return results[i]; }

  /// Axis resources of a value that crosses from stage `from` to stage `to`.
  struct CrossingConstraint {
    Value value;
    int64_t from, to;
    AxisResourcesAttr resources;
    Location loc;
  };
  ArrayRef<CrossingConstraint> getConstraints() const { return constraints; }

  /// The values that an op and the ops in its regions read, each once.
  static SmallVector<Value> getRead(Operation *op);

private:
  Stages(func::FuncOp func, Microbatches &microbatches) : func(func), microbatches(microbatches) {}
  LogicalResult run(std::optional<ArrayRef<Operation *>> splitPoints);
  LogicalResult readBoundaries();
  void findFirstBackward();
  LogicalResult assignComputation();
  void moveSums();
  bool isAssignedToApply(Operation *op) const;
  void findUsingStages();
  int64_t getApplyStage(Operation *op);
  void assignApply();
  void assignResults();
  LogicalResult verifyCrossings();
  /// The last stage that has all operands of a backward op.
  int64_t getBackwardStage(Operation *op);

  func::FuncOp func;
  Microbatches &microbatches;
  int64_t numStages = 1;
  bool training = false;
  SmallVector<StageBoundaryOp> forward, backward;
  /// Ops after which stages begin, in order.
  SmallVector<Operation *> splitPoints;
  Operation *firstBackward = nullptr;
  llvm::DenseMap<Operation *, StageAssignment> assignments;
  /// Stages that have a value without a transfer for it: the stage that computes it, and those
  /// whose forward fragments read it.
  llvm::DenseMap<Value, llvm::SmallSetVector<int64_t, 2>> available;
  llvm::DenseMap<BlockArgument, llvm::SmallSetVector<int64_t, 2>> argumentStages;
  llvm::DenseMap<Value, llvm::SmallSetVector<Value, 4>> sources;
  /// Apply ops: the stage of a weight that they read, and the stage that uses their results,
  /// -1 for several.
  llvm::DenseMap<Operation *, int64_t> weightStages;
  llvm::DenseMap<Value, int64_t> usingStages;
  SmallVector<StageAssignment> results;
  SmallVector<CrossingConstraint> constraints;
};

} // namespace mlir::spmd

#endif // SHARDKIT_STAGES_STAGES_H
