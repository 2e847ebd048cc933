//===- Md5.h - The checksum of TVM's tensor cache (RFC 1321) ----*- C++ -*-===//

#ifndef SHARDKIT_RT_MD5_H
#define SHARDKIT_RT_MD5_H

#include <cstdint>
#include <string>

namespace shardkit::rt {

class Md5 {
public:
  void add(const void *data, int64_t bytes);
  /// 32 lower-case digits of what was added so far.
  std::string hex() const;

private:
  void block(const unsigned char *data);
  uint32_t state_[4] = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476};
  uint64_t length_ = 0;
  unsigned char pending_[64] = {};
};

} // namespace shardkit::rt

#endif // SHARDKIT_RT_MD5_H
