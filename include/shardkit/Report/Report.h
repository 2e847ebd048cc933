//===- Report.h - Report of a partitioned program ---------------*- C++ -*-===//
//
// One analysis result, several printers (docs/reference/Report.md).
//
//===----------------------------------------------------------------------===//

#ifndef SHARDKIT_REPORT_REPORT_H
#define SHARDKIT_REPORT_REPORT_H

#include "shardkit/Report/Comparison.h"
#include "shardkit/Report/Replicated.h"
#include "shardkit/Report/StageReport.h"
#include "llvm/Support/raw_ostream.h"
#include <map>
#include <optional>

namespace mlir::spmd {

struct ReportValue {
  std::string name, globalType, sharding, localType;
  int64_t globalBytes = 0, localBytes = 0;
};

struct ReportCollective {
  explicit ReportCollective(Location location) : location(location) {}
  int64_t id = -1;
  std::string function, kind, reduction, loc, reason;
  std::string scope; // the module that the op belongs to, from names in its location
  std::vector<std::string> axes;
  int64_t bytes = 0;    // B of the cost formulas
  int64_t received = 0; // bytes received, summed over the group's devices
  double rows = 1;      // the fraction of its rows that moves, which bytes, received and cost count
  int64_t count = 1;    // executions of all runs of its function
  double cost = 0;      // seconds of one execution
  Location location;    // for remarks
};

struct ReportFunction {
  std::string name;
  int64_t calls = 0; ///< How often others call it in a step, if only they can.
  /// Seconds of its collectives, those of them that pass while devices compute, and of what it computes if the mesh has
  /// `flops`, with those of the functions that it calls.
  double cost = 0, hidden = 0;
  std::optional<double> compute;
  std::vector<ReportValue> arguments, results;
};

struct ReportMesh {
  std::string name;
  std::vector<std::pair<std::string, int64_t>> axes;
  std::vector<int64_t> deviceIds;
};

/// A function whose propagated plan was replaced by one that is predicted to take less time.
struct ReportImprovement {
  std::string function;
  double propagated, improved; // seconds, before collectives are optimized
  bool isForMemory;            // the propagated plan exceeds the memory of the mesh
};

/// The result of a search for a function (docs/rationale/Search.md).
struct ReportSolver {
  explicit ReportSolver(Location location) : location(location) {}
  Location location; // for remarks
  std::string function, status, options;
  double objective = 0, lowerBound = 0;
  std::optional<double> communication; // if the objective has other terms
  std::optional<double> hidden;        // if the mesh has `spmd.overlap`
  bool timedOut = false;               // whether the time limit ended the search
  /// If another plan takes less time as it runs: which stands, and the predicted seconds of both.
  std::string kept;
  double keptSeconds = 0, searchedSeconds = 0;
  double getGap() const { return objective > lowerBound ? (objective - lowerBound) / objective : 0; }
};

/// A shape of the mesh that a search tried.
struct ReportShape {
  std::vector<int64_t> shape;
  double objective = 0, lowerBound = 0;
  std::string status, error; // an error if there is no solution
};

/// A size of a function that only the run knows, and what is taken for it.
struct ReportSize {
  std::string function, name;
  int64_t size = 0;
};

struct Report {
  explicit Report(Location location) : location(location) {}
  Location location; // for remarks
  std::vector<ReportMesh> meshes;
  std::vector<ReportFunction> functions;
  std::vector<ReportCollective> collectives;
  std::map<std::string, int64_t> bytesByKind, bytesByAxis;
  double totalCost = 0;
  double totalHidden = 0;             // seconds of it that pass while devices compute
  std::optional<double> totalCompute; // seconds, where the mesh has `flops`
  /// Collectives and `spmd.start`s that move data, each as often as it runs; -1 in reports that do not have the number.
  int64_t launches = 0;
  std::vector<ReportImprovement> improvements; // functions whose propagated plan was replaced
  std::vector<ReportSolver> solver;            // functions that were laid out by search
  std::vector<ReportShape> shapes;             // the best one first
  std::vector<FunctionMemory> memory;          // a function each, in order
  /// What bytes and seconds are counted for, and what the memory is counted for.
  std::vector<ReportSize> sizes, memorySizes;
  std::vector<ReportPipeline> pipelines;
  std::vector<ReplicatedValue> replicated; // the most bytes first
  /// Whether layouts inside functions are known; if not, most replicas are unknown.
  bool layoutsKnown = false;
  std::optional<Comparison> comparison; // with an earlier report, if there is one

  /// Bytes of the collectives of a function (of a pipeline: of a fragment, in a step).
  int64_t getCollectiveBytes(llvm::StringRef function) const;
};

struct ReportOptions {
  /// Number of the largest values to keep per function.
  unsigned top = 10;
  /// Trip count of loops without constant bounds.
  int64_t tripCount;
};

/// `b = 8, s = 64`: the sizes of a function.
std::string getSizesText(const std::vector<ReportSize> &sizes, llvm::StringRef function);

/// The module of an op, from the names in its location: `layers.0/mlp` of the op `dot` there; empty if there are none.
std::string getScope(Location loc);

/// Reads a partitioned module. An error if the cost of an op is unknown.
FailureOr<Report> buildReport(ModuleOp module, const PartitionedValues &values, const ReportOptions &options);
/// The first `top` replicated values are printed.
void printText(const Report &report, unsigned top, raw_ostream &os);
void printJSON(const Report &report, unsigned top, raw_ostream &os);
/// A remark per collective, per function and its peak, and per replicated value.
void emitRemarks(const Report &report, unsigned top);

} // namespace mlir::spmd

#endif // SHARDKIT_REPORT_REPORT_H
