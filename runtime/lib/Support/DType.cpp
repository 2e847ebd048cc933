//===- DType.cpp - Element types ------------------------------------------===//

#include "shardkit/rt/Support/DType.h"

#include <array>

namespace shardkit::rt {

namespace {
struct TypeInfo {
  const char *name;
  uint8_t bits; ///< In files that pack.
};
constexpr std::array<TypeInfo, kNumStoredDTypes> types = {
    {{"f64", 64}, {"f32", 32},     {"f16", 16},   {"bf16", 16},      {"i64", 64},       {"i32", 32},
     {"i16", 16}, {"i8", 8},       {"i1", 8},     {"u64", 64},       {"u32", 32},       {"u16", 16},
     {"u8", 8},   {"f8E4M3FN", 8}, {"f8E5M2", 8}, {"f8E4M3FNUZ", 8}, {"f8E5M2FNUZ", 8}, {"f8E8M0FNU", 8},
     {"i4", 4},   {"u4", 4},       {"c64", 64},   {"c128", 128}}};
} // namespace

const char *dtypeName(DType dtype) { return types[size_t(dtype)].name; }
int64_t dtypeBits(DType dtype) { return types[size_t(dtype)].bits; }
int64_t dtypeSize(DType dtype) { return (dtypeBits(dtype) + 7) / 8; }

bool sameBits(DType a, DType b) {
  auto isInteger = [](DType t) { return !isFloat(t) && t != DType::I1; };
  return a == b || (isInteger(a) && isInteger(b) && dtypeBits(a) == dtypeBits(b));
}

std::optional<DType> parseDType(std::string_view name) {
  for (size_t i = 0; i < types.size(); ++i)
    if (name == types[i].name)
      return DType(i);
  return std::nullopt;
}

std::string shapeString(const Shape &shape) {
  if (shape.empty())
    return "scalar";
  std::string text;
  for (int64_t size : shape)
    text += (text.empty() ? "" : "x") + std::to_string(size);
  return text;
}

std::optional<int64_t> numElements(const Shape &shape) {
  int64_t product = 16;
  bool zero = false;
  for (int64_t size : shape) {
    if (size < 0)
      return std::nullopt;
    if (size == 0)
      zero = true;
    else if (__builtin_mul_overflow(product, size, &product))
      return std::nullopt;
  }
  return zero ? 0 : product / 16;
}

} // namespace shardkit::rt
