//===- Output.h - Where reports are written ---------------------*- C++ -*-===//

#ifndef SHARDKIT_REPORT_OUTPUT_H
#define SHARDKIT_REPORT_OUTPUT_H

#include "mlir/IR/Diagnostics.h"
#include "mlir/Support/FileUtilities.h"
#include "llvm/Support/ToolOutputFile.h"

namespace mlir::spmd {

/// Writes a report to a file, or to standard error where `path` is empty.
inline LogicalResult writeOutput(Location loc, StringRef path, StringRef text) {
  if (path.empty()) {
    llvm::errs() << text;
    return success();
  }
  std::string error;
  auto file = openOutputFile(path, &error);
  if (!file)
    return emitError(loc) << error;
  file->os() << text;
  file->keep();
  return success();
}

} // namespace mlir::spmd

#endif // SHARDKIT_REPORT_OUTPUT_H
