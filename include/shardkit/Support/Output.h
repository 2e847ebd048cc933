//===- Output.h - Writing reports and plans ---------------------*- C++ -*-===//

#ifndef SHARDKIT_SUPPORT_OUTPUT_H
#define SHARDKIT_SUPPORT_OUTPUT_H

#include "mlir/IR/Diagnostics.h"
#include "mlir/Support/FileUtilities.h"
#include "llvm/Support/ToolOutputFile.h"

namespace mlir::spmd {

/// Writes a text to a file (`-`: standard output), or to standard error if `path` is
/// empty. One error if that fails; an incomplete file is removed.
inline LogicalResult writeOutput(Location loc, StringRef path, StringRef text) {
  if (path.empty()) {
    llvm::errs() << text;
    return success();
  }
  std::string error;
  auto file = openOutputFile(path, &error);
  if (!file)
    return emitError(loc) << error;
  llvm::raw_fd_ostream &os = file->os();
  os << text;
  os.flush();
  if (std::error_code ec = os.error()) {
    os.clear_error();
    return emitError(loc) << "cannot write " << path << ": " << ec.message();
  }
  file->keep();
  return success();
}

} // namespace mlir::spmd

#endif // SHARDKIT_SUPPORT_OUTPUT_H
