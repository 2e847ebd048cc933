//===- CublasLtTest.cpp - The emulated cuBLASLt ---------------------------===//

#include "Calls.h"

#include "ptx/Float.h"

#include <cmath>
#include <cstring>

extern "C" {
int cublasLtCreate(void **);
int cublasLtDestroy(void *);
int cublasLtMatrixLayoutCreate(void **, int, uint64_t, uint64_t, int64_t);
int cublasLtMatrixLayoutDestroy(void *);
int cublasLtMatrixLayoutSetAttribute(void *, int, const void *, size_t);
int cublasLtMatmulDescCreate(void **, int, int);
int cublasLtMatmulDescDestroy(void *);
int cublasLtMatmulDescSetAttribute(void *, int, const void *, size_t);
int cublasLtMatmulPreferenceCreate(void **);
int cublasLtMatmulPreferenceDestroy(void *);
int cublasLtMatmulPreferenceSetAttribute(void *, int, const void *, size_t);
int cublasLtMatmulAlgoGetHeuristic(void *, void *, void *, void *, void *, void *, void *, int, void *, int *);
int cublasLtMatmul(void *, void *, const void *, uint64_t, void *, uint64_t, void *, const void *, uint64_t, void *,
                   uint64_t, void *, const void *, uint64_t, size_t, CUstream);
}

namespace shardkit::emu::test {
namespace {

struct Case {
  const char *name;
  int compute, scale, in, out; // cublasComputeType_t, cudaDataType
  bool transA, transB, rowOrder;
  uint32_t epilogue;
  float beta;
  int batches;
};

class Matmul : public Emulated, public testing::WithParamInterface<Case> {
protected:
  static constexpr uint64_t kM = 5, kN = 7, kK = 9;

  static size_t bytes(int type) { return type == 1 ? 8 : type == 0 ? 4 : 2; }
  static void put(std::vector<char> &to, uint64_t i, int type, double v) {
    if (type == 1)
      memcpy(&to[i * 8], &v, 8);
    float f = float(v);
    uint16_t h = type == 2 ? floatToHalf(f) : floatToBFloat(f);
    if (type == 0)
      memcpy(&to[i * 4], &f, 4);
    if (type == 2 || type == 14)
      memcpy(&to[i * 2], &h, 2);
  }
  static double get(const std::vector<char> &from, uint64_t i, int type) {
    double d;
    float f;
    uint16_t h;
    switch (type) {
    case 1:
      memcpy(&d, &from[i * 8], 8);
      return d;
    case 0:
      memcpy(&f, &from[i * 4], 4);
      return f;
    default:
      memcpy(&h, &from[i * 2], 2);
      return type == 2 ? halfToFloat(h) : bfloatToFloat(h);
    }
  }
};

TEST_P(Matmul, AsOnTheHost) {
  const Case &c = GetParam();
  // Leading dimensions and strides larger than they must be.
  uint64_t aRows = c.transA ? kK : kM, aCols = c.transA ? kM : kK;
  uint64_t bRows = c.transB ? kN : kK, bCols = c.transB ? kK : kN;
  auto ld = [&](uint64_t rows, uint64_t cols) { return (c.rowOrder ? cols : rows) + 3; };
  auto size = [&](uint64_t rows, uint64_t cols) { return ld(rows, cols) * (c.rowOrder ? rows : cols) + 2; };
  auto at = [&](uint64_t rows, uint64_t cols, uint64_t i, uint64_t j) {
    return c.rowOrder ? i * ld(rows, cols) + j : i + j * ld(rows, cols);
  };
  uint64_t batches = uint64_t(c.batches);
  std::vector<char> a(batches * size(aRows, aCols) * bytes(c.in)),
      b(size(bRows, bCols) * bytes(c.in)), // The same for every matrix: stride 0.
      d(batches * size(kM, kN) * bytes(c.out)), bias(kM * bytes(c.out));
  // Eighths: all sums are exact, but for tf32, which drops bits on purpose.
  for (uint64_t i = 0; i < a.size() / bytes(c.in); ++i)
    put(a, i, c.in, double(int(i * 7 % 23) - 11) / 8 + (c.compute == 77 ? 0x1p-13 : 0));
  for (uint64_t i = 0; i < b.size() / bytes(c.in); ++i)
    put(b, i, c.in, double(int(i * 5 % 19) - 9) / 8);
  for (uint64_t i = 0; i < d.size() / bytes(c.out); ++i)
    put(d, i, c.out, double(int(i * 3 % 17) - 8) / 4);
  for (uint64_t i = 0; i < kM; ++i)
    put(bias, i, c.out, double(i) - 2);
  CUdeviceptr da = upload(a), db = upload(b), dd = upload(d), dbias = upload(bias), workspace = alloc(1 << 16);

  void *handle, *desc, *la, *lb, *ld_, *preference;
  OK(cublasLtCreate(&handle));
  OK(cublasLtMatmulDescCreate(&desc, c.compute, c.scale));
  int one = 1;
  if (c.transA) {
    OK(cublasLtMatmulDescSetAttribute(desc, 3, &one, 4));
  }
  if (c.transB) {
    OK(cublasLtMatmulDescSetAttribute(desc, 4, &one, 4));
  }
  OK(cublasLtMatmulDescSetAttribute(desc, 7, &c.epilogue, 4));
  if (c.epilogue & 4) {
    OK(cublasLtMatmulDescSetAttribute(desc, 8, &dbias, 8));
  }
  auto layout = [&](void **l, int type, uint64_t rows, uint64_t cols, int64_t stride) {
    OK(cublasLtMatrixLayoutCreate(l, type, rows, cols, int64_t(ld(rows, cols))));
    if (c.rowOrder) {
      OK(cublasLtMatrixLayoutSetAttribute(*l, 1, &one, 4));
    }
    OK(cublasLtMatrixLayoutSetAttribute(*l, 5, &c.batches, 4));
    OK(cublasLtMatrixLayoutSetAttribute(*l, 6, &stride, 8));
  };
  layout(&la, c.in, aRows, aCols, int64_t(size(aRows, aCols)));
  layout(&lb, c.in, bRows, bCols, 0);
  layout(&ld_, c.out, kM, kN, int64_t(size(kM, kN)));
  OK(cublasLtMatmulPreferenceCreate(&preference));
  uint64_t most = 1 << 16;
  OK(cublasLtMatmulPreferenceSetAttribute(preference, 1, &most, 8));
  alignas(8) char result[112];
  int returned = 0;
  OK(cublasLtMatmulAlgoGetHeuristic(handle, desc, la, lb, ld_, ld_, preference, 1, result, &returned));
  ASSERT_EQ(returned, 1);
  double alpha64 = 2, beta64 = c.beta;
  float alpha32 = 2, beta32 = c.beta;
  bool f64 = c.scale == 1;
  const void *alpha = f64 ? static_cast<void *>(&alpha64) : &alpha32;
  const void *beta = f64 ? static_cast<void *>(&beta64) : &beta32;
  CUstream stream;
  OK(cuStreamCreate(&stream, 1));
  OK(cublasLtMatmul(handle, desc, alpha, da, la, db, lb, beta, dd, ld_, dd, ld_, result, workspace, 1 << 16, stream));
  OK(cuStreamSynchronize(stream));
  std::vector<char> got = download<char>(dd, d.size()), expected = d;
  for (uint64_t n = 0; n < batches; ++n)
    for (uint64_t i = 0; i < kM; ++i)
      for (uint64_t j = 0; j < kN; ++j) {
        double sum = 0;
        for (uint64_t k = 0; k < kK; ++k) {
          double x =
              get(a, n * size(aRows, aCols) + (c.transA ? at(aRows, aCols, k, i) : at(aRows, aCols, i, k)), c.in);
          double y = get(b, c.transB ? at(bRows, bCols, j, k) : at(bRows, bCols, k, j), c.in);
          if (c.compute == 77)
            x = floatOf(roundTo(kTF32, x) << 13);
          sum += x * y;
        }
        uint64_t where = n * size(kM, kN) + at(kM, kN, i, j);
        double v =
            2 * sum + (c.beta != 0 ? double(c.beta) * get(d, where, c.out) : 0) + (c.epilogue & 4 ? double(i) - 2 : 0);
        if (c.epilogue & 2)
          v = std::max(v, 0.0);
        if (c.epilogue & 32)
          v = float(0.5 * v * (1 + std::tanh(std::sqrt(2 / M_PI) * (v + 0.044715 * v * v * v))));
        put(expected, where, c.out, v);
        EXPECT_NEAR(get(got, where, c.out), get(expected, where, c.out), c.epilogue & 32 ? 1e-6 * std::fabs(v) : 0)
            << n << " " << i << " " << j;
      }
  if (!(c.epilogue & 32)) { // Nothing beside it was written.
    EXPECT_EQ(got, expected);
  }

  testing::internal::CaptureStderr(); // An address less aligned than was promised.
  EXPECT_NE(cublasLtMatmul(handle, desc, alpha, da + 16, la, db, lb, beta, dd, ld_, dd, ld_, result, workspace, 1 << 16,
                           stream),
            0);
  EXPECT_NE(testing::internal::GetCapturedStderr().find("A is not aligned to the 256 bytes"), std::string::npos);
  OK(cuStreamDestroy_v2(stream));
  for (void *l : {la, lb, ld_})
    OK(cublasLtMatrixLayoutDestroy(l));
  OK(cublasLtMatmulPreferenceDestroy(preference));
  OK(cublasLtMatmulDescDestroy(desc));
  OK(cublasLtDestroy(handle));
}

const Case kCases[] = {
    {"f32", 68, 0, 0, 0, false, false, false, 1, 0, 1},
    {"f32_row_order_batched", 68, 0, 0, 0, false, false, true, 1, 0.5, 3},
    {"f32_transposed_bias_relu", 68, 0, 0, 0, true, false, false, 6, 0, 2},
    {"f32_both_transposed_gelu", 68, 0, 0, 0, true, true, true, 36, 0, 1},
    {"f64_accumulate", 70, 1, 1, 1, false, true, false, 1, 1, 2},
    {"tf32", 77, 0, 0, 0, false, true, true, 1, 1, 2},
    {"f16_to_f16", 68, 0, 2, 2, true, false, true, 4, 0, 2},
    {"f16_to_f32", 68, 0, 2, 0, false, false, false, 2, 1, 1},
    {"bf16_to_bf16", 68, 0, 14, 14, false, true, false, 4, 0, 2},
    {"bf16_to_f32", 68, 0, 14, 0, true, true, true, 1, 0, 2},
};
INSTANTIATE_TEST_SUITE_P(CublasLt, Matmul, testing::ValuesIn(kCases),
                         [](const auto &info) { return std::string(info.param.name); });

TEST_F(Emulated, CublasLtRefusesInvalidCalls) {
  void *handle, *desc, *la, *lb, *ld, *preference;
  OK(cublasLtCreate(&handle));
  OK(cublasLtMatmulDescCreate(&desc, 68, 0));
  OK(cublasLtMatrixLayoutCreate(&la, 0, 4, 4, 4));
  OK(cublasLtMatrixLayoutCreate(&lb, 2, 4, 4, 4)); // Another type.
  OK(cublasLtMatrixLayoutCreate(&ld, 0, 4, 5, 4)); // Another size.
  OK(cublasLtMatmulPreferenceCreate(&preference));
  alignas(8) char result[112];
  int returned = 1;
  testing::internal::CaptureStderr();
  EXPECT_EQ(cublasLtMatmulAlgoGetHeuristic(handle, desc, la, lb, la, la, preference, 1, result, &returned), 15);
  EXPECT_EQ(cublasLtMatmulAlgoGetHeuristic(handle, desc, la, la, ld, ld, preference, 1, result, &returned), 7);
  EXPECT_EQ(returned, 0);
  EXPECT_EQ(cublasLtMatmulDescSetAttribute(desc, 3, result, 8), 7);
  CUdeviceptr p = alloc(64);
  float one = 1;
  // B reaches beyond its allocation.
  OK(cublasLtMatmul(handle, desc, &one, p, la, p + 16, la, &one, p, la, p, la, nullptr, 0, 0, nullptr) == 13 ||
             cuCtxSynchronize() == CUDA_ERROR_ILLEGAL_ADDRESS
         ? 0
         : 1);
  std::string message = testing::internal::GetCapturedStderr();
  EXPECT_NE(message.find("cublasLtMatmul, B: 64 bytes"), message.npos) << message;
  buffers_.clear();
  for (void *l : {la, lb, ld})
    OK(cublasLtMatrixLayoutDestroy(l));
  OK(cublasLtMatmulPreferenceDestroy(preference));
  OK(cublasLtMatmulDescDestroy(desc));
  OK(cublasLtDestroy(handle));
  OK(cuMemFree_v2(p));
}

} // namespace
} // namespace shardkit::emu::test
