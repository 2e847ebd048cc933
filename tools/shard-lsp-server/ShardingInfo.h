//===- ShardingInfo.h - What an editor shows of shardings -------*- C++ -*-===//

#ifndef SHARDKIT_TOOLS_SHARDINGINFO_H
#define SHARDKIT_TOOLS_SHARDINGINFO_H

#include "mlir/IR/DialectRegistry.h"
#include "llvm/Support/LSP/Protocol.h"
#include <string>
#include <vector>

namespace mlir::spmd {

/// A value of a document, where it is named.
struct ShardedValue {
  llvm::lsp::Range definition;
  std::vector<llvm::lsp::Range> uses;
  /// Shardings as attributes print; empty if there is none. `completed`: after propagation.
  std::string given, completed;
};

/// The sharded values of a document, part by part (`// -----`). A part that does not parse, or that propagation
/// refuses, has those that are given or none. Positions count lines and characters from 0.
std::vector<ShardedValue> findShardedValues(llvm::StringRef text, const DialectRegistry &registry);

/// What may be written at `position`, if it is inside of an attribute of the dialect: its kinds after `#spmd.`, and in
/// a sharding the meshes of the text and the axes of its mesh that it does not name yet.
std::vector<std::string> getCompletions(llvm::StringRef text, llvm::lsp::Position position);

/// A change that mends what a diagnostic names.
struct Fix {
  std::string title, newText;
  llvm::lsp::Range range;
};
/// Of an unknown name the most similar ones that are expected; of axes that do not divide a dim the nearest products
/// that do. The nearest comes first.
std::vector<Fix> getFixes(llvm::StringRef text, int line, llvm::StringRef message);

} // namespace mlir::spmd

#endif // SHARDKIT_TOOLS_SHARDINGINFO_H
