//===- Renames.h - Old names and their new ones -----------------*- C++ -*-===//
//
// The names that changed in this version. An old name is an error that names the new
// one; the table goes with the next version.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDKIT_DIALECT_SPMD_IR_RENAMES_H
#define SHARDKIT_DIALECT_SPMD_IR_RENAMES_H

#include "mlir/Support/LLVM.h"
#include <string>

namespace mlir::spmd {

/// Kinds of names. An option is one of a pass, of a pipeline or of a tool.
enum class RenameKind { Pass, Option, Operation, Attribute, PlanKey };

struct Rename {
  RenameKind kind;
  StringRef oldName, newName;
};

/// All names that changed.
ArrayRef<Rename> getRenames();

/// "option zero was renamed, expected zero-stage" for an old name, else "".
std::string describeRename(RenameKind kind, StringRef name);

} // namespace mlir::spmd

#endif // SHARDKIT_DIALECT_SPMD_IR_RENAMES_H
