//===- Report.h - What a partitioned program moves and holds ----*- C++ -*-===//
//
// One analysis result, several printers.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDKIT_REPORT_REPORT_H
#define SHARDKIT_REPORT_REPORT_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/raw_ostream.h"
#include <map>
#include <string>

namespace mlir::spmd {

struct ReportValue {
  std::string name, globalType, sharding, localType;
  int64_t globalBytes = 0, localBytes = 0;
};

struct ReportCollective {
  int64_t id = -1;
  std::string function, kind, reduction, loc;
  std::vector<std::string> axes;
  int64_t bytes = 0;    // B of the cost formulas
  int64_t received = 0; // bytes received, summed over the group's devices
  int64_t count = 1;    // executions per run of the function
  double cost = 0;      // seconds of one execution
};

struct ReportFunction {
  std::string name;
  std::vector<ReportValue> arguments, results;
};

struct ReportMesh {
  std::string name;
  std::vector<std::pair<std::string, int64_t>> axes;
  std::vector<int64_t> deviceIds;
};

struct Report {
  std::vector<ReportMesh> meshes;
  std::vector<ReportFunction> functions;
  std::vector<ReportCollective> collectives;
  std::map<std::string, int64_t> bytesByKind, bytesByAxis;
  double totalCost = 0;
};

/// Reads a partitioned module; reports where an op does not say what it moves.
FailureOr<Report> buildReport(ModuleOp module);
void printText(const Report &report, raw_ostream &os);
void printJSON(const Report &report, raw_ostream &os);

} // namespace mlir::spmd

#endif // SHARDKIT_REPORT_REPORT_H
