//===- Support.h - What several runtime tests need --------------*- C++ -*-===//

#ifndef SHARDKIT_RUNTIME_TEST_SUPPORT_H
#define SHARDKIT_RUNTIME_TEST_SUPPORT_H

#include "shardkit/rt/Support/DType.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>
#include <stdlib.h>
#include <string>
#include <vector>

namespace shardkit::rt::test {

/// A directory that disappears with the object.
class TempDir {
public:
  TempDir() {
    std::string pattern = (std::filesystem::temp_directory_path() / "shardkit-XXXXXX").string();
    path_ = ::mkdtemp(pattern.data());
  }
  ~TempDir() {
    std::error_code error;
    std::filesystem::remove_all(path_, error);
  }
  std::string operator/(const std::string &name) const { return path_ + "/" + name; }
  const std::string &path() const { return path_; }

private:
  std::string path_;
};

inline void writeText(const std::string &path, const std::string &text) {
  std::ofstream stream(path, std::ios::binary);
  stream << text;
}

inline std::string readText(const std::string &path) {
  std::ifstream stream(path, std::ios::binary);
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

inline const DType allDTypes[] = {DType::F64, DType::F32, DType::F16, DType::BF16, DType::I64,
                                  DType::I32, DType::I16, DType::I8,  DType::I1};

/// Element `i` of a buffer of `dtype` as a double, and back.
inline double getElement(DType dtype, const void *data, int64_t i) {
  return dispatch(dtype, [&](auto zero) { return toDouble(static_cast<const decltype(zero) *>(data)[i]); });
}
inline void setElement(DType dtype, void *data, int64_t i, double value) {
  switch (dtype) {
  case DType::F64:
    static_cast<double *>(data)[i] = value;
    break;
  case DType::F32:
    static_cast<float *>(data)[i] = float(value);
    break;
  case DType::F16:
    static_cast<uint16_t *>(data)[i] = floatToF16(float(value));
    break;
  case DType::BF16:
    static_cast<uint16_t *>(data)[i] = floatToBf16(float(value));
    break;
  case DType::I64:
    static_cast<int64_t *>(data)[i] = int64_t(value);
    break;
  case DType::I32:
    static_cast<int32_t *>(data)[i] = int32_t(value);
    break;
  case DType::I16:
    static_cast<int16_t *>(data)[i] = int16_t(value);
    break;
  case DType::I8:
    static_cast<int8_t *>(data)[i] = int8_t(value);
    break;
  case DType::I1:
    static_cast<uint8_t *>(data)[i] = uint8_t(int64_t(value) & 1);
    break;
  default:
    FAIL() << dtypeName(dtype);
  }
}

#define EXPECT_ERROR(status, part)                                                                                     \
  do {                                                                                                                 \
    ::shardkit::rt::Status skGot = (status);                                                                           \
    EXPECT_FALSE(skGot.ok());                                                                                          \
    EXPECT_NE(skGot.message().find(part), std::string::npos) << "got: " << skGot.message();                            \
    EXPECT_EQ(skGot.message().find('\n'), std::string::npos);                                                          \
  } while (false)

} // namespace shardkit::rt::test

#endif // SHARDKIT_RUNTIME_TEST_SUPPORT_H
