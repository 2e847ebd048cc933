//===- Compile.h - From IR in memory to a bundle ----------------*- C++ -*-===//
//
// A compilation as a function, which shard-compile and the C API call. It prints nothing, and several may run
// at once.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDKIT_DRIVER_COMPILE_H
#define SHARDKIT_DRIVER_COMPILE_H

#include "shardkit/Driver/BundleCache.h"
#include "shardkit/Driver/CompileOptions.h"

namespace mlir::spmd {

/// Elements of a `dense_resource` of the IR, in memory that lives as long as the request.
struct CompileResource {
  std::string name;
  llvm::ArrayRef<char> data;
};

struct CompileRequest {
  /// Text or bytecode. The name of the buffer is that of the input in diagnostics and locations.
  std::unique_ptr<llvm::MemoryBuffer> ir;
  /// Those that the IR names and has no elements of.
  std::vector<CompileResource> resources;
  CompileOptions options;
  /// The directory of the bundle: a new or empty one, or that of an older bundle; empty: there is none.
  std::string output;
  /// If not null, receives the files of the bundle.
  std::vector<BundleFile> *files = nullptr;
  /// If not null, bundles are kept and looked up there.
  const BundleCache *cache = nullptr;
  /// Print IR to standard output instead of writing a bundle: "local", "tensor", "memref", "llvm" or "llvm-ir".
  std::string emit;
  /// If not null, ends the compilation as soon as it is set: no further pass runs.
  const int32_t *cancel = nullptr;
};

/// Compiles, and passes each diagnostic to `report` as it occurs, at most one error among them. A failure without an
/// error does not occur. `isFromCache`, if not null, is set to whether the cache had the bundle.
LogicalResult compile(const CompileRequest &request, std::function<void(const CompileDiagnostic &)> report,
                      bool *isFromCache = nullptr);

} // namespace mlir::spmd

#endif // SHARDKIT_DRIVER_COMPILE_H
