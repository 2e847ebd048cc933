//===- Units.h - Quantities for readers -------------------------*- C++ -*-===//

#ifndef SHARDKIT_SUPPORT_UNITS_H
#define SHARDKIT_SUPPORT_UNITS_H

#include <cstdint>
#include <string>

namespace mlir::spmd {

/// `768 B`, `761.4 KiB`, `2.07 MiB`: four significant digits, exact below 1 KiB.
std::string formatBytes(int64_t bytes);
/// `19.83 us`, `1.5 ms`, `2 s`: four significant digits.
std::string formatSeconds(double seconds);

} // namespace mlir::spmd

#endif // SHARDKIT_SUPPORT_UNITS_H
