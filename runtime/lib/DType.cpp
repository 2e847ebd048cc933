//===- DType.cpp - Element types --------------------------------------------===//

#include "shardkit/rt/DType.h"

#include <array>

namespace shardkit::rt {

static constexpr std::array<const char *, kNumDTypes> names = {
    "f64", "f32", "f16", "bf16", "i64", "i32", "i16", "i8", "i1"};
static constexpr std::array<int64_t, kNumDTypes> sizes = {8, 4, 2, 2, 8,
                                                          4, 2, 1, 1};

const char *dtypeName(DType dtype) { return names[size_t(dtype)]; }
int64_t dtypeSize(DType dtype) { return sizes[size_t(dtype)]; }

std::optional<DType> parseDType(std::string_view name) {
  for (size_t i = 0; i < names.size(); ++i)
    if (name == names[i])
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
  int64_t product = 8;
  bool zero = false;
  for (int64_t size : shape) {
    if (size < 0)
      return std::nullopt;
    if (size == 0)
      zero = true;
    else if (__builtin_mul_overflow(product, size, &product))
      return std::nullopt;
  }
  return zero ? 0 : product / 8;
}

} // namespace shardkit::rt
