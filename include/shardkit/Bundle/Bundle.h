//===- Bundle.h - The writer of bundles -------------------------*- C++ -*-===//
//
// Bundles (manifest.json and programs/*.so, docs/reference/Manifest.md) run without MLIR.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDKIT_BUNDLE_BUNDLE_H
#define SHARDKIT_BUNDLE_BUNDLE_H

#include "mlir/IR/BuiltinOps.h"
#include <string>

namespace mlir {
class DialectRegistry;
}

namespace mlir::spmd {

struct BundleOptions {
  std::string target = "cpu"; ///< Or "cuda".
  /// For cuda: compute capability of the GPU.
  std::string chip = "sm_90";
  /// Processor ("native": this machine's) and optimization level 0 to 3.
  std::string cpu = "native";
  unsigned optLevel = 3;
  /// For cpu: scalar operations of the smallest loop nest that is spread over threads.
  int64_t parallelWork = 1 << 16;
  /// For cpu: each expert computes the tokens that a mask gives it.
  bool groupLoops = true;
  /// Stop early and print instead of writing: "tensor", "memref", "llvm",
  /// "llvm-ir".
  std::string emit;
  /// Ranks read the bytes of their shards if a loading function moves data alone; otherwise all
  /// loading functions are compiled.
  bool pieces = true;
  /// Text of report.json and certificate.json; empty: there is none.
  std::string report, certificate;
};

/// Whether code can be generated for `chip`, a compute capability ("sm_90").
bool isCudaChip(llvm::StringRef chip);

/// Registers the dialects, bufferization models and translations of the targets.
void registerTarget(DialectRegistry &registry);

/// Writes manifest.json, report.json and the programs of `module`, whose public functions
/// are in local view, into the existing, empty directory `dir`. Arguments and
/// results carry `spmd.sharding` and `spmd.global_type`; a function without them
/// runs on one device. `reference` may be null; else it has the same functions in
/// global view, free of annotations. Errors are diagnostics.
LogicalResult writeBundle(ModuleOp module, ModuleOp reference, const BundleOptions &options, StringRef dir);

} // namespace mlir::spmd

#endif // SHARDKIT_BUNDLE_BUNDLE_H
