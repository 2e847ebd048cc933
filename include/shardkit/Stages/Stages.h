//===- Stages.h - Which op runs in which stage ------------------*- C++ -*-===//

#ifndef SHARDKIT_STAGES_STAGES_H
#define SHARDKIT_STAGES_STAGES_H

#include "shardkit/Dialect/SPMD/IR/SPMD.h"
#include "shardkit/Stages/Microbatches.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

namespace mlir::spmd {

/// Where an op runs. `round`: of apply ops, how often values have crossed stages since
/// the last microbatch.
struct StagePlace {
  int64_t stage = 0;
  PipelinePart part = PipelinePart::Forward;
  int64_t round = 0;
};

/// The stages of a function of one block. What computes the same in all microbatches has
/// no place: every part that needs it computes it.
///
/// Forward ops belong to the stage that the boundaries before them lead to, backward ops
/// likewise, or, where no backward boundaries are written, to the last stage that has
/// all they read. The backward part begins where a gradient is first summed over the
/// batch. Apply ops belong to the stage of their weight, else to where fewest bytes cross
/// between what they read and the stage that uses them, else to the highest of what they
/// read. `spmd.stage` on an op overrides.
class Stages {
public:
  /// Stages at the boundaries of `func`. Sums over the batch that meet in one op come
  /// from one stage, or the op runs once per step. One error where boundaries and
  /// `spmd.stage` do not cut the ops in order, or a value is used more than one stage
  /// later without crossing the boundaries between.
  static FailureOr<Stages> assign(func::FuncOp func, Microbatches &microbatches);
  /// With the forward part cut behind the ops `cuts`, in order, and nowhere else.
  static FailureOr<Stages> assign(func::FuncOp func, Microbatches &microbatches,
                                  std::optional<ArrayRef<Operation *>> cuts);

  int64_t getNumStages() const { return numStages; }
  /// The first op of the backward part; null where there is none.
  Operation *getTurn() const { return turn; }
  /// Whether there is a backward part.
  bool isTraining() const { return training; }
  /// Null for what has no place.
  const StagePlace *get(Operation *op) const {
    auto it = places.find(op);
    return it != places.end() ? &it->second : nullptr;
  }
  /// The stages that use an argument, through what has no place.
  llvm::SmallSetVector<int64_t, 2> getStages(BlockArgument arg) const { return argumentStages.lookup(arg); }
  /// The arguments that a value without a place is made of.
  const llvm::SmallSetVector<Value, 4> &getSources(Value value);
  /// The stage and round in which result `i` of the function is handed out.
  StagePlace getResult(unsigned i) const { return results[i]; }

  /// What users say of a value that leaves, or comes to, a stage.
  struct Pin {
    Value value;
    int64_t from, to;
    AxisResourcesAttr resources;
    Location loc;
  };
  ArrayRef<Pin> getPins() const { return pins; }

  /// The values that an op reads, inside of its regions too, each once.
  static SmallVector<Value> getRead(Operation *op);

private:
  Stages(func::FuncOp func, Microbatches &microbatches) : func(func), microbatches(microbatches) {}
  LogicalResult run(std::optional<ArrayRef<Operation *>> cuts);
  LogicalResult readBoundaries();
  void findTurn();
  LogicalResult placeComputation();
  void moveSums();
  bool isPlacedInApply(Operation *op) const;
  void findWanted();
  int64_t getApplyStage(Operation *op);
  void placeApply();
  void placeResults();
  LogicalResult verifyCrossings();
  /// The last stage that has all that a backward op reads.
  int64_t getBackwardStage(Operation *op);

  func::FuncOp func;
  Microbatches &microbatches;
  int64_t numStages = 1;
  bool training = false;
  SmallVector<StageBoundaryOp> forward, backward;
  /// Ops behind which stages begin, in order.
  SmallVector<Operation *> cuts;
  Operation *turn = nullptr;
  llvm::DenseMap<Operation *, StagePlace> places;
  /// Stages that have a value without a transfer of its own: where it is made, and where the
  /// forward part takes it.
  llvm::DenseMap<Value, llvm::SmallSetVector<int64_t, 2>> available;
  llvm::DenseMap<BlockArgument, llvm::SmallSetVector<int64_t, 2>> argumentStages;
  llvm::DenseMap<Value, llvm::SmallSetVector<Value, 4>> sources;
  /// Of apply ops: the stage of a weight that they read, and those at which their results
  /// are used, -1 for several.
  llvm::DenseMap<Operation *, int64_t> homes;
  llvm::DenseMap<Value, int64_t> wanted;
  SmallVector<StagePlace> results;
  SmallVector<Pin> pins;
};

} // namespace mlir::spmd

#endif // SHARDKIT_STAGES_STAGES_H
