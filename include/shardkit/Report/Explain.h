//===- Explain.h - Why a value has its sharding -----------------*- C++ -*-===//

#ifndef SHARDKIT_REPORT_EXPLAIN_H
#define SHARDKIT_REPORT_EXPLAIN_H

#include "shardkit/Propagation/Propagation.h"
#include "mlir/IR/BuiltinOps.h"
#include <optional>

namespace mlir::spmd {

/// Of the way of an axis, where all values are explained.
inline constexpr size_t kMostSteps = 8;

/// One step back towards the annotation: the axis came from `dim` of `value`
/// through an op.
struct ExplainedStep {
  std::string value;
  unsigned dim;
  std::string op, loc;
};

/// An axis on a dim, and the way it came.
struct ExplainedAxis {
  unsigned dim;
  std::string axis;
  std::vector<ExplainedStep> steps; // the first ones
  size_t length;                    // how many there are
  std::string given;                // where the way ends: "argument x", "constraint at ..."
  int64_t priority;                 // what is given there
};

/// An axis that a neighbour has and that did not arrive; dim -1 where the op
/// says nothing of a dim.
struct StoppedAxis {
  int64_t dim;
  std::string axis;
  std::string reason;
  std::string op, loc; // the op that would have brought it
};

/// What is paid: "all_gather of %w from ... to ... for linalg.matmul".
struct ExplainedPrice {
  double seconds;
  std::string what;
};

/// The best that there would be with another layout of a value, or another way to
/// compute an op.
struct ExplainedAlternative {
  std::string kind;   // "layout" or "factors"
  std::string text;   // empty: there is none, `status` says why
  std::string status; // as of spmd.solver
  double objective, lowerBound;
  int64_t moreBytes;                      // that a device holds of all values together: breaks ties
  std::vector<ExplainedPrice> more, less; // than with what was chosen, the largest ones
};

/// What a search found, and what is next to it.
struct ExplainedSearch {
  double objective;
  std::string status;
  std::vector<ExplainedAlternative> alternatives;
};

struct ExplainedValue {
  std::string name, type, sharding, loc;
  Location location; // for remarks
  std::vector<ExplainedAxis> axes;
  std::vector<StoppedAxis> stopped;
  std::optional<ExplainedSearch> search; // of what a search laid out
  std::vector<std::string> grid;         // lines: which devices hold which part, where that is wanted
};

struct ExplainedFunction {
  std::string name;
  std::vector<ExplainedValue> values;
};

/// Propagates a copy of the module from what is given and explains the values
/// that `selection` names: the name printed in the input (`%12`, `%arg0`), a
/// NameLoc, `spmd.name` or `spmd.weight`, `resultN`, or `file:line`; empty for
/// all. An error, with the nearest names, if there is none. Of a value that is named
/// the whole way is kept, else its first steps, `kMostSteps`. `drawsGrids`: with which devices hold which part.
FailureOr<std::vector<ExplainedFunction>> explain(ModuleOp module, StringRef selection, bool drawsGrids,
                                                  const Propagation::Options &options);

/// The same for the values that `wants` takes, asked with the name of the function
/// and the name that the result calls the value.
FailureOr<std::vector<ExplainedFunction>> explain(ModuleOp module, llvm::function_ref<bool(StringRef, StringRef)> wants,
                                                  const Propagation::Options &options);

void printText(ArrayRef<ExplainedFunction> functions, llvm::raw_ostream &os);
void printJSON(ArrayRef<ExplainedFunction> functions, llvm::raw_ostream &os);
/// One remark per axis (`passed`) and per axis that did not arrive (`missed`).
void emitRemarks(ArrayRef<ExplainedFunction> functions);

} // namespace mlir::spmd

#endif // SHARDKIT_REPORT_EXPLAIN_H
