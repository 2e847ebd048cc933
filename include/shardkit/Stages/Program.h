//===- Program.h - The instructions of each mesh -----------------*- C++ -*--===//
//
// The functions of the stages, the values that they exchange, and the lists of
// instructions that are emitted from them and a clock table. See docs/internals/Stages.md,
// "Instruction lists".
//
//===----------------------------------------------------------------------===//

#ifndef SHARDKIT_STAGES_PROGRAM_H
#define SHARDKIT_STAGES_PROGRAM_H

#include "shardkit/Stages/Schedule.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"

namespace mlir::spmd {

/// A value that functions exchange; arguments that exist from the start are values too.
/// Its writers and readers determine what it is:
///
///   written by      | read by | is
///   one function    | others  | an intermediate value: freed on a mesh after its last use there
///   one function    | none    | a result: stays where it was written
///   functions of    |         | a sum, updated in place. A sum of the step stays where it is.
///   one mesh that   |         | Others read it after the last update. It starts as zero, unless
///   read it too     |         | a function that only writes it runs before the updates
///   none            | any     | an argument: exists from the start on each mesh that reads it,
///                   |         | never sent, never freed
struct PipelineValue {
  std::string name;
  /// One per microbatch, or one per step.
  bool perMicrobatch = true;
  /// The step returns it: stays where it was written although functions read it.
  bool isResult = false;
};

/// A function of a fragment of a stage. Forward and Backward functions run once per
/// microbatch, Apply functions once. Functions of one stage and fragment run in the order in
/// which they are listed. An Apply function that reads a value per microbatch reads all of
/// its instances.
struct StageFunction {
  std::string name;
  int64_t stage = 0;
  StageFragment fragment = StageFragment::Forward;
  /// Apply: the values that it reads from another mesh were written in an earlier round.
  int64_t round = 0;
  llvm::SmallVector<int64_t> reads, writes; // indices of values
};

struct PipelineProgram {
  std::vector<PipelineValue> values;
  std::vector<StageFunction> functions;
  std::vector<int64_t> meshOfStage;

  int64_t getMesh(const StageFunction &function) const { return meshOfStage[function.stage]; }
};

/// A value of one microbatch, or (-1) of the step.
struct ValueInstance {
  int64_t value = -1, microbatch = -1;
  auto operator<=>(const ValueInstance &) const = default;
};

/// Transfers begin at their instruction and proceed while a mesh works. A mesh waits for a
/// received value at its first use. It waits at the free of a sent value until the other mesh
/// has reached that use (`replay`).
struct Instruction {
  enum class Kind { Run, Transfer, Free };
  Kind kind = Kind::Run;
  /// Run: the function, and the microbatch or -1.
  int64_t function = -1, microbatch = -1;
  /// Transfer: the other mesh. The values that one side sends are those that the other side
  /// receives, in this order.
  int64_t peer = -1;
  llvm::SmallVector<ValueInstance, 2> sends, receives;
  /// Free.
  ValueInstance freed;
  /// The row of the table that it belongs to; round r of Apply is the r-th row after the
  /// last clock.
  int64_t clock = 0;
};

/// The instructions per mesh.
using InstructionLists = std::vector<std::vector<Instruction>>;

/// The writers and readers of each value, and what follows from them by the table above.
struct ValueUses {
  explicit ValueUses(const PipelineProgram &program);

  struct Uses {
    llvm::SmallVector<int64_t> writers, readers; // functions, rising
    int64_t writerMesh = -1;                     // mesh of the first writer; -1: none
    bool isUpdated = false;                      // a function both reads and writes it
    bool startsAsZero = false;                   // all writers read it too
  };
  std::vector<Uses> uses;

  bool isArgument(int64_t value) const { return uses[value].writers.empty(); }
  /// Stays where it was written until the step ends.
  bool isKept(int64_t value) const { return kept[value]; }

private:
  std::vector<bool> kept;
};

/// The instances of `value` that a run for `microbatch` (-1: of Apply) uses.
void forEachInstance(const PipelineProgram &program, int64_t value, int64_t microbatch, int64_t numMicrobatches,
                     llvm::function_ref<void(ValueInstance)> visit);

/// The instructions of every mesh of `table`. `table` assigns stages to meshes as `program`
/// does. In each clock a mesh
///
///   1. runs its functions,
///   2. frees the values whose last use was in them,
///   3. starts transfers: each value that was written in this clock (a sum: updated for the
///      last time) is sent to every mesh that reads it, once, with one Transfer per pair of
///      meshes. All meshes process the pairs in one order, in which neighbors do not form a
///      chain;
///   4. frees the sent values that every receiver first uses in this clock at the latest.
///
/// Linear in its output, up to sorting the transfers of a clock. `verifyProgram` reports
/// programs that break the rules above.
InstructionLists emitInstructions(const PipelineProgram &program, const ClockTable &table);

/// An instance of a value on its way from one mesh to another.
struct SentValue {
  int64_t from = -1, to = -1;
  ValueInstance instance;
  bool operator==(const SentValue &) const = default;
};

/// The instruction at which a mesh stopped, and the value that it waits for: it uses a value
/// that `from` has not sent, or frees one whose first use `to` has not reached. At the end of
/// its list `awaited` is empty.
struct Stop {
  size_t index = 0;
  SentValue awaited;
};

/// Runs the lists in an order in which meshes could run them, by the rules of
/// shardkit/rt/Manifest/ListReplay.h. `visit` is called per instruction, in this order, with
/// the mesh, the index, and the values that the instruction waited for. Returns the point at
/// which each mesh stopped: the end of its list, unless it waits forever.
using VisitReplayed = llvm::function_ref<void(int64_t mesh, size_t index, llvm::ArrayRef<SentValue> awaited)>;
std::vector<Stop> replay(const PipelineProgram &program, const InstructionLists &lists, int64_t numMicrobatches,
                         VisitReplayed visit);

/// `'x' of microbatch 2`, for diagnostics.
std::string toString(const PipelineProgram &program, ValueInstance instance);

} // namespace mlir::spmd

#endif // SHARDKIT_STAGES_PROGRAM_H
