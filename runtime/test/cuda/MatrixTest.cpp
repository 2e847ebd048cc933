//===- MatrixTest.cpp - mma.sync, ldmatrix, cp.async ----------------------===//

#include "Calls.h"

#include "ptx/Float.h"

namespace shardkit::emu::test {
namespace {

class Matrix : public Emulated, public testing::WithParamInterface<const char *> {
protected:
  void SetUp() override {
    Emulated::SetUp();
    load(std::string("matrix.") + GetParam() + ".ptx");
  }
};

TEST_P(Matrix, HalfPrecision) {
  std::vector<uint16_t> a(16 * 16), b(16 * 8);
  std::vector<float> expected(16 * 8);
  for (size_t i = 0; i < a.size(); ++i)
    a[i] = floatToHalf(float(int(i * 7 % 31) - 15) / 4);
  for (size_t i = 0; i < b.size(); ++i)
    b[i] = floatToHalf(float(int(i * 5 % 29) - 14) / 4);
  for (size_t m = 0; m < 16; ++m)
    for (size_t n = 0; n < 8; ++n) {
      float sum = 1.5f;
      for (size_t k = 0; k < 16; ++k)
        sum += halfToFloat(a[m * 16 + k]) * halfToFloat(b[k * 8 + n]);
      expected[m * 8 + n] = sum;
    }
  CUdeviceptr out = alloc(expected.size() * 4);
  launch("mma_f16", 1, 32, Arguments(upload(a), upload(b), out));
  EXPECT_EQ(download<float>(out, expected.size()), expected);
}

TEST_P(Matrix, TensorFloat) {
  std::vector<float> a(16 * 8), b(8 * 8), expected(16 * 8);
  for (size_t i = 0; i < a.size(); ++i)
    a[i] = float(int(i * 7 % 31) - 15) / 4;
  for (size_t i = 0; i < b.size(); ++i)
    b[i] = float(int(i * 5 % 29) - 14) / 4;
  for (size_t m = 0; m < 16; ++m)
    for (size_t n = 0; n < 8; ++n)
      for (size_t k = 0; k < 8; ++k)
        expected[m * 8 + n] += a[m * 8 + k] * b[k * 8 + n];
  CUdeviceptr out = alloc(expected.size() * 4);
  launch("mma_tf32", 1, 32, Arguments(upload(a), upload(b), out));
  EXPECT_EQ(download<float>(out, expected.size()), expected);
}

INSTANTIATE_TEST_SUITE_P(Chips, Matrix, testing::Values("sm_80", "sm_90"),
                         [](const auto &info) { return std::string(info.param); });

} // namespace
} // namespace shardkit::emu::test
