//===- SizeOptions.h - Options that give sizes by name ----------*- C++ -*-===//

#ifndef SHARDKIT_LIB_TRANSFORMS_SIZEOPTIONS_H
#define SHARDKIT_LIB_TRANSFORMS_SIZEOPTIONS_H

#include "shardkit/Rules/SymbolicSizes.h"
#include "mlir/IR/Diagnostics.h"

namespace mlir::spmd {

/// The name and the size of `b=8`; `kind` is what errors call it: "hint".
inline FailureOr<std::pair<StringRef, int64_t>> readSizeOption(Location loc, StringRef kind, StringRef text) {
  auto [name, number] = text.split('=');
  int64_t size = 0;
  if (name.empty() || number.getAsInteger(10, size) || size <= 0 || size > kLargestSize)
    return emitError(loc) << kind << " '" << text << "', expected NAME=SIZE, 0 < SIZE < 2^40";
  return std::pair(name, size);
}

} // namespace mlir::spmd

#endif // SHARDKIT_LIB_TRANSFORMS_SIZEOPTIONS_H
