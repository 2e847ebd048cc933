//===- Comparison.h - A report against an earlier one -----------*- C++ -*-===//

#ifndef SHARDKIT_REPORT_COMPARISON_H
#define SHARDKIT_REPORT_COMPARISON_H

#include "mlir/IR/Location.h"
#include <optional>
#include <string>
#include <vector>

namespace mlir::spmd {

struct Report;

/// A figure of both reports; std::nullopt if a report does not have it.
struct ComparedFigure {
  std::string what, unit; // "s" or "B"
  std::optional<double> before, now;
};

/// An argument or result whose sharding changed; empty if the value does not exist.
struct ComparedLayout {
  std::string function, value, before, now;
};

/// Equal collectives that only one report has.
struct ComparedCollective {
  std::string function, text, loc; // all_reduce sum {model}
  int64_t bytes = 0, count = 0;    // bytes of each one; executions of all
};

/// The changes from one report to another.
struct Comparison {
  std::string file; // the earlier one
  std::vector<ComparedFigure> figures;
  std::vector<ComparedLayout> layouts;
  std::vector<ComparedCollective> gone, added;
};

/// Compares a report with one that `--spmd-report=format=json` wrote to `path`. One error if the file
/// is not such a report.
FailureOr<Comparison> compareReport(const Report &report, StringRef path, Location loc);

/// `-50.0 %`, `new`, `gone` or `same`.
std::string getChangeText(const ComparedFigure &figure);

} // namespace mlir::spmd

#endif // SHARDKIT_REPORT_COMPARISON_H
