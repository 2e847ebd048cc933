//===- Units.cpp - Quantities for readers ---------------------------------===//

#include "shardkit/Support/Units.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>

static std::string formatNumber(double number, llvm::StringRef unit) {
  std::string text;
  llvm::raw_string_ostream(text) << llvm::format("%.4g ", number) << unit;
  return text;
}

std::string mlir::spmd::formatBytes(int64_t bytes) {
  static constexpr llvm::StringLiteral units[] = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  if (std::abs(double(bytes)) < 1024)
    return std::to_string(bytes) + " B";
  double number = double(bytes) / 1024;
  size_t unit = 0;
  for (; std::abs(number) >= 1024; ++unit)
    number /= 1024;
  return formatNumber(number, units[unit]);
}

std::string mlir::spmd::formatSeconds(double seconds) {
  double size = std::abs(seconds);
  if (size == 0 || size >= 1)
    return formatNumber(seconds, "s");
  if (size >= 1e-3)
    return formatNumber(seconds * 1e3, "ms");
  return size >= 1e-6 ? formatNumber(seconds * 1e6, "us") : formatNumber(seconds * 1e9, "ns");
}
