//===- FirstWrong.h - The first wrong value of a program --------*- C++ -*-===//

#ifndef SHARDKIT_TOOLS_SHARDREDUCE_FIRSTWRONG_H
#define SHARDKIT_TOOLS_SHARDREDUCE_FIRSTWRONG_H

#include "mlir/IR/BuiltinOps.h"
#include <optional>
#include <string>
#include <vector>

namespace mlir::spmd {

/// What computes the first wrong value of a run, but for names and sizes.
struct WrongOp {
  std::string op;
  std::vector<std::string> collectives; ///< Kinds of those between it and the values before.

  bool operator==(const WrongOp &other) const { return op == other.op && collectives == other.collectives; }
};

/// Runs a module by the shard-run next to this program, with --verify=values and `arguments`. std::nullopt if no value
/// is wrong, or if it does not run.
std::optional<WrongOp> findFirstWrong(ModuleOp module, llvm::ArrayRef<std::string> arguments);

} // namespace mlir::spmd

#endif // SHARDKIT_TOOLS_SHARDREDUCE_FIRSTWRONG_H
