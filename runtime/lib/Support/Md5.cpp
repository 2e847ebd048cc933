//===- Md5.cpp - The checksum of TVM's tensor cache (RFC 1321) ------------===//

#include "Md5.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>

namespace shardkit::rt {

void Md5::block(const unsigned char *data) {
  // floor(2^32 |sin(i + 1)|), as the RFC defines them.
  static const std::array<uint32_t, 64> sines = [] {
    std::array<uint32_t, 64> table;
    for (int i = 0; i < 64; ++i)
      table[size_t(i)] = uint32_t(std::floor(std::abs(std::sin(double(i + 1))) * 4294967296.0));
    return table;
  }();
  static constexpr int shifts[4][4] = {{7, 12, 17, 22}, {5, 9, 14, 20}, {4, 11, 16, 23}, {6, 10, 15, 21}};
  uint32_t words[16];
  std::memcpy(words, data, 64);
  uint32_t a = state_[0], b = state_[1], c = state_[2], d = state_[3];
  for (int i = 0; i < 64; ++i) {
    uint32_t f;
    int word;
    switch (i / 16) {
    case 0:
      f = (b & c) | (~b & d);
      word = i;
      break;
    case 1:
      f = (d & b) | (~d & c);
      word = (5 * i + 1) % 16;
      break;
    case 2:
      f = b ^ c ^ d;
      word = (3 * i + 5) % 16;
      break;
    default:
      f = c ^ (b | ~d);
      word = 7 * i % 16;
    }
    f += a + sines[size_t(i)] + words[word];
    a = d;
    d = c;
    c = b;
    b += std::rotl(f, shifts[i / 16][i % 4]);
  }
  state_[0] += a;
  state_[1] += b;
  state_[2] += c;
  state_[3] += d;
}

void Md5::add(const void *data, int64_t bytes) {
  const unsigned char *at = static_cast<const unsigned char *>(data);
  size_t filled = size_t(length_ % 64);
  length_ += uint64_t(bytes);
  if (filled) {
    size_t n = std::min<size_t>(64 - filled, size_t(bytes));
    std::memcpy(pending_ + filled, at, n);
    at += n;
    bytes -= int64_t(n);
    if (filled + n < 64)
      return;
    block(pending_);
  }
  for (; bytes >= 64; at += 64, bytes -= 64)
    block(at);
  if (bytes)
    std::memcpy(pending_, at, size_t(bytes));
}

std::string Md5::hex() const {
  Md5 copy = *this;
  unsigned char tail[72] = {0x80};
  uint64_t bits = length_ * 8;
  int64_t pad = int64_t((length_ % 64 < 56 ? 56 : 120) - length_ % 64);
  std::memcpy(tail + pad, &bits, 8);
  copy.add(tail, pad + 8);
  std::string text;
  for (uint32_t word : copy.state_)
    for (int i = 0; i < 4; ++i) {
      static const char digits[] = "0123456789abcdef";
      unsigned byte = word >> (8 * i) & 255;
      text += digits[byte >> 4];
      text += digits[byte & 15];
    }
  return text;
}

} // namespace shardkit::rt
