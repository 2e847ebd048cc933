//===- Program.h - What each mesh does, one instruction after another -*- C++ -*--===//
//
// The functions of the stages and the values that they hand to one another, and the
// lists of instructions that a clock table makes of them. See docs/internals/Stages.md,
// "Instruction lists".
//
//===----------------------------------------------------------------------===//

#ifndef SHARDKIT_STAGES_PROGRAM_H
#define SHARDKIT_STAGES_PROGRAM_H

#include "shardkit/Stages/Schedule.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"

namespace mlir::spmd {

/// What functions hand to one another; arguments that are there as a whole are none.
/// By who uses it a value is
///
///   written by      | read by | is
///   one function    | others  | handed on: freed on a mesh after its last use there
///   one function    | nobody  | a result: stays where it was written
///   functions of    |         | a sum, updated in place: that of a step stays where it is. Others
///   one mesh that   |         | read it after the last update. It starts as zero, unless one
///   read it too     |         | function only writes it, before the updates
///   nobody          | any     | an argument: there from the start wherever it is read, never
///                   |         | moved, never freed
struct PipelineValue {
  std::string name;
  /// One per microbatch, or one per step.
  bool perMicrobatch = true;
  /// The step returns it: stays where it was written although functions read it.
  bool isResult = false;
};

/// Forward and Backward run once per microbatch, Apply once. Those of equal stage and
/// part run in the order in which they are listed. An Apply function that names a value
/// per microbatch means all of them.
struct StageFunction {
  std::string name;
  int64_t stage = 0;
  Part part = Part::Forward;
  /// Of Apply: what it reads from another mesh was written in an earlier round.
  int64_t round = 0;
  llvm::SmallVector<int64_t> reads, writes; // numbers of values
};

struct PipelineProgram {
  std::vector<PipelineValue> values;
  std::vector<StageFunction> functions;
  std::vector<int64_t> meshOfStage;

  int64_t getMesh(const StageFunction &function) const { return meshOfStage[function.stage]; }
};

/// A value, of one microbatch or (-1) of the step.
struct Slot {
  int64_t value = -1, microbatch = -1;
  auto operator<=>(const Slot &) const = default;
};

/// Transfers are posted and travel while a mesh works. A mesh waits for what it receives
/// where it first uses it, and where it frees what it has sent, until the other mesh has
/// come to that use (`replay`).
struct Instruction {
  enum class Kind { Run, Post, Free };
  Kind kind = Kind::Run;
  /// Run: the function, and the microbatch or -1.
  int64_t function = -1, microbatch = -1;
  /// Post: the other mesh. What one side sends the other receives, in this order.
  int64_t peer = -1;
  llvm::SmallVector<Slot, 2> sends, receives;
  /// Free.
  Slot freed;
  /// The row of the table that it belongs to; round r of Apply is the r-th row after the
  /// last clock.
  int64_t clock = 0;
};

/// Per mesh what it does.
using InstructionLists = std::vector<std::vector<Instruction>>;

/// Which values are what, by the table above.
struct ValueUses {
  explicit ValueUses(const PipelineProgram &program);

  struct Uses {
    llvm::SmallVector<int64_t> writers, readers; // functions, rising
    int64_t home = -1;                           // mesh of the first writer; -1: none
    bool isUpdated = false;                      // a function both reads and writes it
    bool startsAsZero = false;                   // all that write it read it too
  };
  std::vector<Uses> uses;

  bool isArgument(int64_t value) const { return uses[value].writers.empty(); }
  /// Stays where it was written until the step ends.
  bool isKept(int64_t value) const { return kept[value]; }

private:
  std::vector<bool> kept;
};

/// The slots that `value` means in a run for `microbatch` (-1: of Apply).
void forEachSlot(const PipelineProgram &program, int64_t value, int64_t microbatch, int64_t numMicrobatches,
                 llvm::function_ref<void(Slot)> visit);

/// The instructions of every mesh of `table`, whose stages have to be on the meshes that
/// `program` says. Per clock a mesh runs its functions, frees what had its last use in
/// them, then posts: what was written in this clock (a sum: updated for the last time) goes
/// to every mesh that reads it, once; one Post per pair of meshes. All meshes take the
/// pairs in one order, in which neighbours do not come in a chain. What was sent is freed
/// at the end of the clock in which the last of the others first reads it. Linear in its
/// output, up to sorting the transfers of a clock. What a program makes that breaks the
/// rules above, `verifyProgram` tells.
InstructionLists emitInstructions(const PipelineProgram &program, const ClockTable &table);

/// What goes from one mesh to another.
struct Travel {
  int64_t from = -1, to = -1;
  Slot slot;
  bool operator==(const Travel &) const = default;
};

/// Where a mesh stopped, and what it waits for there: it uses what `from` has not posted, or
/// frees what `to` has not come to. At the end of its list it waits for nothing.
struct Stop {
  size_t index = 0;
  Travel awaited;
};

/// Goes through the lists in an order in which meshes could run them. A Post never waits for
/// the other mesh. Whatever first uses a slot that was received (a Run that reads it, a Post
/// that sends it on, its Free) waits until the other mesh has posted it, and takes it; a Free
/// of a slot that was sent waits until all that it goes to have taken it. What is received and
/// never used is taken at the end. `visit` is called per instruction, in this order, with the
/// mesh, the index, and what it waited for. Returns where each mesh stopped: at the end of its
/// list, unless it waits for ever.
using VisitReplayed = llvm::function_ref<void(int64_t mesh, size_t index, llvm::ArrayRef<Travel> awaited)>;
std::vector<Stop> replay(const PipelineProgram &program, const InstructionLists &lists, int64_t numMicrobatches,
                         VisitReplayed visit);

/// `'x' of microbatch 2`, for diagnostics.
std::string toString(const PipelineProgram &program, Slot slot);

} // namespace mlir::spmd

#endif // SHARDKIT_STAGES_PROGRAM_H
