//===- EmitObject.h - From LLVM dialect to objects --------------*- C++ -*-===//

#ifndef SHARDKIT_TARGET_COMMON_EMITOBJECT_H
#define SHARDKIT_TARGET_COMMON_EMITOBJECT_H

#include "mlir/IR/BuiltinOps.h"
#include <string>

namespace mlir::spmd::target {

struct CodegenOptions {
  /// Name of the processor; "native": this machine's, with all its features.
  std::string cpu = "native";
  /// Compute capability ("sm_90") of the GPU; empty: code for the processor.
  std::string chip;
  /// 0 to 3, as for a C compiler. 1 and below compile many functions fast.
  unsigned optLevel = 3;
  /// Scalar operations of the smallest loop nest that the processor's threads share.
  int64_t parallelWork = 1 << 16;
  /// The reference side of a check: upstream passes alone.
  bool reference = false;
  /// Put before the names of functions to give the symbols of entry points.
  std::string prefix = "sk_fn_";
  /// Stop early and print: "", "tensor" (fused and tiled), "memref", "llvm",
  /// "llvm-ir" (optimized). For a GPU "memref" has the kernels.
  std::string emit;
};

/// One module in LLVM dialect to an object file in memory (or LLVM IR text).
LogicalResult emitObject(ModuleOp module, const CodegenOptions &options, llvm::SmallVectorImpl<char> &object);

/// Spawns ld.lld.
LogicalResult linkShared(Location loc, ArrayRef<std::string> objects, StringRef path);

} // namespace mlir::spmd::target

#endif // SHARDKIT_TARGET_COMMON_EMITOBJECT_H
