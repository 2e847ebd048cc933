//===- Program.h - From functions to a shared object ------------*- C++ -*-===//

#ifndef SHARDKIT_TARGET_PROGRAM_H
#define SHARDKIT_TARGET_PROGRAM_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringMap.h"
#include <string>

namespace llvm {
class Module;
class TargetMachine;
} // namespace llvm

namespace mlir::spmd::target {

struct CodegenOptions {
  /// Name of the processor; "native": this machine's, with all its features.
  std::string cpu = "native";
  /// Compute capability ("sm_90") of the GPU that computes; empty: the processor does.
  std::string chip;
  /// 0 to 3, as for a C compiler. 1 and below compile many functions fast.
  unsigned optLevel = 3;
  /// Scalar operations of the smallest loop nest that runs on several threads.
  int64_t parallelWork = 1 << 16;
  /// Ops under a mask of groups and rows become loops over the groups.
  bool groupLoops = true;
  /// Values are compared as they are made: layers are not shared, and experts compute all tokens.
  bool hasProbes = false;
  /// The reference side of a check: upstream passes alone.
  bool reference = false;
  /// Put before the names of functions to give the symbols of entry points.
  std::string prefix = "sk_fn_";
  /// Stop early and print: "", "tensor" (fused and tiled), "memref", "llvm",
  /// "llvm-ir" (optimized). For a GPU "memref" has the kernels.
  std::string emit;
};

/// A compiled function.
struct CompiledFunction {
  std::string symbol;
  int64_t arenaBytes = 0;
  ArrayAttr arena; ///< kArenaAttr; null where the arena does not depend on sizes.
};

/// Compiles the public functions of `module` (no calls, local view, spmd ops
/// lowered) into the shared object `path`. Functions that differ in names only
/// are compiled once. Consumes the functions. With `emit` only prints to `os`.
LogicalResult compileProgram(ModuleOp module, const CodegenOptions &options, StringRef path, llvm::raw_ostream &os,
                             llvm::StringMap<CompiledFunction> &functions);

/// Compiles a module in LLVM dialect to an object file in memory (or LLVM IR text).
LogicalResult emitObject(ModuleOp module, const CodegenOptions &options, llvm::SmallVectorImpl<char> &object);

/// Links objects to a shared object by ld.lld.
LogicalResult linkShared(Location loc, ArrayRef<std::string> objects, StringRef path);

} // namespace mlir::spmd::target

#endif // SHARDKIT_TARGET_PROGRAM_H
