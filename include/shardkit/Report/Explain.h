//===- Explain.h - Why a value has its sharding -----------------*- C++ -*-===//

#ifndef SHARDKIT_REPORT_EXPLAIN_H
#define SHARDKIT_REPORT_EXPLAIN_H

#include "shardkit/Propagation/Propagation.h"
#include "mlir/IR/BuiltinOps.h"
#include <optional>

namespace mlir::spmd {

/// Limit of the listed steps of an axis, if all values are explained.
inline constexpr size_t kMaxSteps = 8;

/// One step back towards the annotation: the axis came from `dim` of `value`
/// through an op.
struct ExplainedStep {
  std::string value;
  unsigned dim;
  std::string op, loc;
};

/// An axis on a dim, with its path from the annotation.
struct ExplainedAxis {
  unsigned dim;
  std::string axis;
  std::vector<ExplainedStep> steps; // the first ones
  size_t length;                    // the number of all steps
  std::string given;                // the annotation: "argument x", "constraint at ..."
  int64_t priority;                 // the priority of the annotation
};

/// An axis of a neighboring value that did not propagate; dim -1 if no dim of the value
/// corresponds.
struct StoppedAxis {
  int64_t dim;
  std::string axis;
  std::string reason;
  std::string op, loc; // the op that did not propagate it
};

/// A term of the objective: "all_gather of %w from ... to ... for linalg.matmul".
struct ExplainedPrice {
  double seconds;
  std::string what;
};

/// The optimum with another layout of a value, or another strategy of an op.
struct ExplainedAlternative {
  std::string kind;   // "layout" or "factors"
  std::string text;   // empty: there is none, for the reason `status`
  std::string status; // like the status in spmd.solver
  double objective, lowerBound;
  int64_t moreBytes;                      // on a device, all values together: breaks ties
  std::vector<ExplainedPrice> more, less; // compared with the choice, the largest ones
};

/// The result of a search, and its alternatives.
struct ExplainedSearch {
  double objective;
  std::string status;
  std::vector<ExplainedAlternative> alternatives;
};

/// A change of the propagated layout (ImprovePropagation.h): that layout, and the seconds of the reshards at the ops
/// that define and read the value, with it and now.
struct ExplainedImprovement {
  std::string propagated;
  double before, now;
};

struct ExplainedValue {
  std::string name, type, sharding, loc;
  Location location; // for remarks
  std::vector<ExplainedAxis> axes;
  std::vector<StoppedAxis> stopped;
  std::optional<ExplainedSearch> search;           // set if a search chose the layout
  std::vector<std::string> grid;                   // lines, if requested: which devices hold which shard
  std::optional<ExplainedImprovement> improvement; // axes and reasons are those of the present layout
};

struct ExplainedFunction {
  std::string name;
  std::vector<ExplainedValue> values;
};

/// Propagates shardings in a copy of the module and explains the values that
/// `selection` names: the name printed in the input (`%12`, `%arg0`), a NameLoc,
/// `spmd.name` or `spmd.weight`, `resultN`, or `file:line`; empty for all. An error,
/// with the nearest names, if there is none. A selected value lists the full path of
/// each axis, other values its first `kMaxSteps` steps. `drawsGrids`: lists which
/// devices hold which shard.
FailureOr<std::vector<ExplainedFunction>> explain(ModuleOp module, StringRef selection, bool drawsGrids,
                                                  const Propagation::Options &options);

/// The same for the values that satisfy `wants(function, value)`, names as in the result.
FailureOr<std::vector<ExplainedFunction>> explain(ModuleOp module, llvm::function_ref<bool(StringRef, StringRef)> wants,
                                                  const Propagation::Options &options);

void printText(ArrayRef<ExplainedFunction> functions, llvm::raw_ostream &os);
void printJSON(ArrayRef<ExplainedFunction> functions, llvm::raw_ostream &os);
/// One remark per axis (`passed`) and per axis that did not arrive (`missed`).
void emitRemarks(ArrayRef<ExplainedFunction> functions);

} // namespace mlir::spmd

#endif // SHARDKIT_REPORT_EXPLAIN_H
