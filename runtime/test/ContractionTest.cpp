//===- ContractionTest.cpp - Strided contractions against plain loops -----===//

#include "OnDevices.h"
#include "Support.h"

#include "Contraction/ContractionDims.h"
#include "shardkit/rt/Contraction/Contraction.h"
#include "shardkit/rt/Support/Threads.h"

#include <cmath>
#include <map>
#include <unistd.h>

using namespace shardkit::rt;
using namespace shardkit::rt::test;

namespace {

struct Case {
  sk_contraction_desc desc = {};
  int64_t sizeA = 1, sizeB = 1, sizeC = 1;
};

void addDim(sk_contraction_desc &desc, int role, int64_t size) {
  auto &dim = desc.dims[desc.num_dims++];
  dim.role = role;
  dim.size = size;
}

/// Gives every operand a random order of its dims and, sometimes, padding
/// between rows.
void layOut(Case &test, std::mt19937 &random, bool rowMajor) {
  for (int which = 0; which < 3; ++which) {
    std::vector<int> own;
    for (int i = 0; i < test.desc.num_dims; ++i) {
      int role = test.desc.dims[i].role;
      bool has = role == SK_BATCH || (role == SK_M && which != 1) || (role == SK_N && which != 0) ||
                 (role == SK_K && which != 2);
      if (has)
        own.push_back(i);
    }
    if (!rowMajor)
      std::shuffle(own.begin(), own.end(), random);
    int64_t stride = random() % 8 == 0 ? 2 : 1; // No unit stride at all.
    for (size_t k = own.size(); k-- > 0;) {
      auto &dim = test.desc.dims[own[k]];
      (which == 0 ? dim.stride_a : which == 1 ? dim.stride_b : dim.stride_c) = stride;
      stride *= dim.size;
      if (random() % 4 == 0)
        stride += 3;
    }
    (which == 0 ? test.sizeA : which == 1 ? test.sizeB : test.sizeC) = stride;
  }
}

const char *check(const Case &test, std::mt19937 &random, int64_t low, int64_t high, double tolerance) {
  DType in = DType(test.desc.in_dtype), out = DType(test.desc.out_dtype);
  std::vector<char> a(size_t(test.sizeA * dtypeSize(in)) + 8);
  std::vector<char> b(size_t(test.sizeB * dtypeSize(in)) + 8);
  std::vector<char> c(size_t(test.sizeC * dtypeSize(out)) + 8);
  auto draw = [&] {
    if (high > low)
      return double(low + int64_t(random() % uint64_t(high - low + 1)));
    return std::uniform_real_distribution<double>(-1, 1)(random);
  };
  for (int64_t i = 0; i < test.sizeA; ++i)
    setElement(in, a.data(), i, draw());
  for (int64_t i = 0; i < test.sizeB; ++i)
    setElement(in, b.data(), i, draw());
  for (int64_t i = 0; i < test.sizeC; ++i)
    setElement(out, c.data(), i, draw());
  std::vector<double> expected(static_cast<size_t>(test.sizeC));
  for (size_t i = 0; i < expected.size(); ++i)
    expected[i] = getElement(out, c.data(), int64_t(i));
  ContractionDims dims;
  for (int i = 0; i < test.desc.num_dims; ++i) {
    const auto &dim = test.desc.dims[i];
    dims.push_back({dim.size, dim.stride_a, dim.stride_b, dim.stride_c});
  }
  // Outputs first, so that an empty sum is still written.
  ContractionDims outer;
  for (int i = 0; i < test.desc.num_dims; ++i)
    if (test.desc.dims[i].role != SK_K)
      outer.push_back(dims[size_t(i)]);
  if (!test.desc.accumulate)
    forEachIndex(outer, [&](int64_t, int64_t, int64_t oc, bool) { expected[size_t(oc)] = 0; });
  forEachIndex(dims, [&](int64_t oa, int64_t ob, int64_t oc, bool) {
    expected[size_t(oc)] += getElement(in, a.data(), oa) * getElement(in, b.data(), ob);
  });
  auto plan = planContraction(test.desc);
  EXPECT_TRUE(plan.ok()) << plan.status().message();
  if (!plan.ok())
    return "failed";
  if (onDevices()) {
    static const std::unique_ptr<cuda::Devices> devices = openDevices(1);
    if (!devices)
      return "failed";
    cuda::Device &device = *devices->of(0);
    EXPECT_OK(device.enter());
    Placed onA(&device, a.data(), int64_t(a.size())), onB(&device, b.data(), int64_t(b.size())),
        onC(&device, c.data(), int64_t(c.size()));
    EXPECT_OK(device.contract(&test.desc, onA.data(), onB.data(), onC.data()));
    onC.fetch();
  } else {
    EXPECT_OK((*plan)->run(a.data(), b.data(), c.data()));
  }
  for (int64_t i = 0; i < test.sizeC; ++i) {
    double want = expected[size_t(i)], got = getElement(out, c.data(), i);
    if (!isFloat(out)) {
      std::vector<char> wrapped(8);
      setElement(out, wrapped.data(), 0, want);
      want = getElement(out, wrapped.data(), 0);
    }
    if (std::abs(want - got) > tolerance * (1 + std::abs(want))) {
      ADD_FAILURE() << (*plan)->strategy() << " element " << i << ": " << got << ", expected " << want;
      return (*plan)->strategy();
    }
  }
  return (*plan)->strategy();
}

Case randomCase(std::mt19937 &random, DType in, DType out, int64_t most) {
  Case test;
  test.desc.abi = SK_ABI_VERSION;
  test.desc.in_dtype = int32_t(in);
  test.desc.out_dtype = int32_t(out);
  test.desc.accumulate = random() % 2;
  auto size = [&] { return random() % 6 == 0 ? 1 : 1 + int64_t(random() % uint64_t(most)); };
  int counts[4] = {int(random() % 3), int(random() % 3), int(random() % 3), int(random() % 3)};
  for (int role : {SK_BATCH, SK_M, SK_N, SK_K})
    for (int i = 0; i < counts[role] && test.desc.num_dims < 8; ++i)
      addDim(test.desc, role, size());
  // Keep the plain loops affordable.
  int64_t work = 1;
  for (int i = 0; i < test.desc.num_dims; ++i)
    if (work * test.desc.dims[i].size > 200'000)
      test.desc.dims[i].size = 2;
    else
      work *= test.desc.dims[i].size;
  std::shuffle(test.desc.dims, test.desc.dims + test.desc.num_dims, random);
  layOut(test, random, random() % 3 == 0);
  return test;
}

TEST(Contraction, randomF32) {
  std::mt19937 random(1);
  std::map<std::string, int> strategies;
  for (int round = 0; round < 3000; ++round)
    ++strategies[check(randomCase(random, DType::F32, DType::F32, 9), random, 0, 0, 1e-5)];
  for (int round = 0; round < 1500; ++round)
    ++strategies[check(randomCase(random, DType::F32, DType::F32, 24), random, 0, 0, 1e-4)];
  // The generator reaches every path.
  for (const char *name : {"onednn", "onednn-loop", "packed", "direct"})
    EXPECT_GT(strategies[name], 20) << name;
}

TEST(Contraction, randomOtherTypes) {
  std::mt19937 random(2);
  for (int round = 0; round < 600; ++round) {
    check(randomCase(random, DType::F64, DType::F64, 7), random, 0, 0, 1e-13);
    check(randomCase(random, DType::BF16, DType::F32, 7), random, -3, 3, 1e-6);
    check(randomCase(random, DType::BF16, DType::BF16, 7), random, 0, 0, 2e-2);
    check(randomCase(random, DType::F16, DType::F16, 7), random, 0, 0, 2e-3);
    check(randomCase(random, DType::F16, DType::F32, 7), random, 0, 0, 2e-5);
    check(randomCase(random, DType::I64, DType::I64, 7), random, -9, 9, 0);
    check(randomCase(random, DType::I32, DType::I32, 7), random, -9, 9, 0);
    check(randomCase(random, DType::I16, DType::I16, 5), random, -9, 9, 0);
    check(randomCase(random, DType::I8, DType::I32, 7), random, -128, 127, 0);
    check(randomCase(random, DType::I8, DType::I8, 3), random, -3, 3, 0);
    check(randomCase(random, DType::I1, DType::I1, 5), random, 0, 1, 0);
    if (HasFailure())
      return;
  }
}

Case plain(int64_t m, int64_t n, int64_t k, bool transposedB, int accumulate, DType in = DType::F32,
           DType out = DType::F32) {
  Case test;
  test.desc = {SK_ABI_VERSION, int32_t(in), int32_t(out), accumulate, 3, {}};
  test.desc.dims[0] = {SK_M, 0, m, k, 0, n};
  test.desc.dims[1] = {SK_N, 0, n, 0, transposedB ? k : 1, 1};
  test.desc.dims[2] = {SK_K, 0, k, 1, transposedB ? 1 : n, 0};
  test.sizeA = m * k, test.sizeB = n * k, test.sizeC = m * n;
  return test;
}

TEST(Contraction, matricesGoToTheLibraryWithoutCopies) {
  std::mt19937 random(3);
  for (bool transposed : {false, true})
    for (int accumulate : {0, 1}) {
      EXPECT_STREQ(check(plain(33, 65, 129, transposed, accumulate), random, 0, 0, 1e-4), "onednn");
      check(plain(64, 64, 64, transposed, accumulate, DType::BF16), random, -2, 2, 1e-6);
      check(plain(40, 50, 300, transposed, accumulate, DType::F64, DType::F64), random, 0, 0, 1e-12);
    }
}

/// A second operand that is larger than a cache, rows that are apart, and a first one of either order.
TEST(Contraction, largeMatrices) {
  if (onDevices())
    GTEST_SKIP() << "products of the host";
  const int64_t m = 66, k = 1030, n = 1100, rowA = k + 5, columnA = m + 1, rowB = n + 3, rowC = n + 7;
  std::vector<float> a(size_t(std::max(m * rowA, k * columnA))), b(size_t(k * rowB));
  for (size_t i = 0; i < a.size(); ++i)
    a[i] = float(i % 13) - 5;
  for (size_t i = 0; i < b.size(); ++i)
    b[i] = float(i % 7) - 3;
  for (bool isTransposed : {false, true})
    for (int accumulate : {0, 1}) {
      const int64_t strideM = isTransposed ? 1 : rowA, strideK = isTransposed ? columnA : 1;
      sk_contraction_desc desc = {SK_ABI_VERSION, SK_F32, SK_F32, accumulate, 3, {}};
      desc.dims[0] = {SK_M, 0, m, strideM, 0, rowC};
      desc.dims[1] = {SK_N, 0, n, 0, 1, 1};
      desc.dims[2] = {SK_K, 0, k, strideK, rowB, 0};
      std::vector<float> c(size_t(m * rowC), 11);
      auto plan = planContraction(desc);
      ASSERT_TRUE(plan.ok()) << plan.status().message();
      EXPECT_OK((*plan)->run(a.data(), b.data(), c.data()));
      for (int64_t sample = 0; sample < m * rowC; sample += 37) {
        const int64_t row = sample / rowC, column = sample % rowC;
        double want = column < n && !accumulate ? 0 : 11;
        for (int64_t i = 0; i < k && column < n; ++i)
          want += double(a[size_t(row * strideM + i * strideK)]) * double(b[size_t(i * rowB + column)]);
        ASSERT_EQ(c[size_t(sample)], want) << row << ", " << column;
      }
    }
}

/// Instructions of processors for bf16 read and write them as zeros.
TEST(Contraction, subnormalsOfBf16AreNumbers) {
  if (onDevices())
    GTEST_SKIP() << "products of the host";
  const int64_t m = 24, n = 40, k = 32;
  for (bool transposed : {false, true})
    for (DType out : {DType::F32, DType::BF16})
      // Subnormal operands, and normal ones with subnormal products.
      for (auto [ofA, ofB] : {std::pair(-133, 0), {3, -133}, {-70, -63}}) {
        const Case test = plain(m, n, k, transposed, 0, DType::BF16, out);
        std::vector<uint16_t> a(size_t(m * k)), b(size_t(n * k));
        // One term each, which has a bf16 with these exponents.
        for (int64_t i = 0; i < m * k; ++i)
          setElement(DType::BF16, a.data(), i, i % k == i / k % k ? std::ldexp(double(i % 11 - 5), ofA) : 0);
        for (int64_t i = 0; i < n * k; ++i)
          setElement(DType::BF16, b.data(), i, std::ldexp(double(i % 7 - 3), ofB));
        std::vector<char> c(size_t(m * n * dtypeSize(out)));
        auto plan = planContraction(test.desc);
        EXPECT_OK(plan.status());
        if (!plan.ok())
          return;
        EXPECT_OK((*plan)->run(a.data(), b.data(), c.data()));
        for (int64_t i = 0; i < m * n; ++i) {
          const int64_t row = i / n, column = i % n;
          const double want = std::ldexp(double((row * k + row) % 11 - 5), ofA) *
                              getElement(DType::BF16, b.data(), transposed ? column * k + row : row * n + column);
          ASSERT_EQ(getElement(out, c.data(), i), want) << i << " with " << ofA << " and " << ofB;
        }
      }
}

TEST(Contraction, vectorsAreNotCopied) {
  std::mt19937 random(4);
  for (bool transposed : {false, true}) {
    EXPECT_STREQ(check(plain(1, 700, 300, transposed, 1), random, 0, 0, 1e-4), "direct");
    EXPECT_STREQ(check(plain(300, 1, 1000, transposed, 0), random, 0, 0, 1e-4), "direct");
  }
  EXPECT_STREQ(check(plain(1, 1, 5000, false, 0), random, 0, 0, 1e-4), "direct");
}

TEST(Contraction, attentionHeadsAreOneBatchedProduct) {
  // scores[b, h, s, t] = sum over d of q[b, s, h, d] * k[b, t, h, d].
  const int64_t B = 2, H = 3, S = 16, D = 8;
  Case test;
  test.desc = {SK_ABI_VERSION, SK_F32, SK_F32, 0, 5, {}};
  test.desc.dims[0] = {SK_BATCH, 0, B, S * H * D, S * H * D, H * S * S};
  test.desc.dims[1] = {SK_BATCH, 0, H, D, D, S * S};
  test.desc.dims[2] = {SK_M, 0, S, H * D, 0, S};
  test.desc.dims[3] = {SK_N, 0, S, 0, H * D, 1};
  test.desc.dims[4] = {SK_K, 0, D, 1, 1, 0};
  test.sizeA = test.sizeB = B * S * H * D;
  test.sizeC = B * H * S * S;
  std::mt19937 random(5);
  EXPECT_STREQ(check(test, random, 0, 0, 1e-5), "onednn");
}

/// What no library computes: rows on several threads, the last of them fewer; columns of vectors times matrices.
TEST(Contraction, sameBitsOnAnyNumberOfThreads) {
  if (onDevices())
    GTEST_SKIP() << "threads of the host";
  auto compare = [](const Case &test, const char *strategy) {
    std::vector<double> a(static_cast<size_t>(test.sizeA)), b(static_cast<size_t>(test.sizeB));
    for (size_t i = 0; i < a.size(); ++i)
      a[i] = 1.0 / double(i % 97 + 1);
    for (size_t i = 0; i < b.size(); ++i)
      b[i] = 1.0 / double(i % 89 + 2) - 0.1;
    auto onThreads = [&](int threads) {
      setLibraryThreads(threads);
      std::vector<double> c(static_cast<size_t>(test.sizeC), 7);
      auto plan = planContraction(test.desc);
      EXPECT_OK(plan.status());
      if (plan.ok()) {
        EXPECT_STREQ((*plan)->strategy(), strategy);
        EXPECT_OK((*plan)->run(a.data(), b.data(), c.data()));
      }
      return c;
    };
    const std::vector<double> one = onThreads(1);
    for (int threads : {2, 3, 7}) {
      EXPECT_EQ(onThreads(threads), one) << strategy << " on " << threads;
      std::mt19937 random(6);
      EXPECT_STREQ(check(test, random, 0, 0, 1e-9), strategy) << threads;
    }
    setLibraryThreads(1);
  };
  compare(plain(131, 95, 119, false, 0, DType::F64, DType::F64), "packed");
  for (bool transposed : {false, true}) {
    compare(plain(1, 431, 307, transposed, 1, DType::F64, DType::F64), "direct");
    compare(plain(431, 1, 307, transposed, 1, DType::F64, DType::F64), "direct");
  }
  // Keys of several heads and a query.
  Case heads;
  heads.desc = {SK_ABI_VERSION, SK_F64, SK_F64, 0, 3, {}};
  heads.desc.dims[0] = {SK_BATCH, 0, 5, 37, 37 * 731, 731};
  heads.desc.dims[1] = {SK_N, 0, 731, 0, 37, 1};
  heads.desc.dims[2] = {SK_K, 0, 37, 1, 1, 0};
  heads.sizeA = 5 * 37, heads.sizeB = 5 * 37 * 731, heads.sizeC = 5 * 731;
  compare(heads, "direct");
}

TEST(Contraction, emptySumsAreZeroAndEmptyOutputsAreNotWritten) {
  std::mt19937 random(6);
  EXPECT_STREQ(check(plain(3, 4, 0, false, 0), random, 0, 0, 0), "zero");
  EXPECT_STREQ(check(plain(3, 4, 0, false, 1), random, 0, 0, 0), "zero");
  EXPECT_STREQ(check(plain(0, 4, 5, false, 0), random, 0, 0, 0), "zero");
}

TEST(Contraction, broadcastOperands) {
  // B is the same for every batch element; A has stride 0 in k.
  std::mt19937 random(7);
  Case test = plain(8, 9, 10, false, 0);
  test.desc.dims[2].stride_a = 0;
  check(test, random, 0, 0, 1e-5);
  test = plain(8, 9, 10, false, 1);
  test.desc.dims[3] = {SK_BATCH, 0, 4, 80, 0, 72};
  test.desc.num_dims = 4;
  test.sizeA *= 4, test.sizeC *= 4;
  check(test, random, 0, 0, 1e-5);
  test.desc.dims[3] = {SK_BATCH, 0, 4, 0, 0, 72};
  check(test, random, 0, 0, 1e-5);
}

TEST(Contraction, malformedDescriptorsAreErrors) {
  sk_contraction_desc desc = plain(2, 3, 4, false, 0).desc;
  desc.abi = 9;
  EXPECT_ERROR(planContraction(desc).status(), "ABI version 9");
  desc = plain(2, 3, 4, false, 0).desc;
  desc.num_dims = 9;
  EXPECT_ERROR(planContraction(desc).status(), "malformed");
  desc = plain(2, 3, 4, false, 0).desc;
  desc.dims[0].stride_b = 5;
  EXPECT_ERROR(planContraction(desc).status(), "its role does not have");
  desc = plain(2, 3, 4, false, 0).desc;
  desc.out_dtype = SK_I32;
  EXPECT_ERROR(planContraction(desc).status(), "f32 into i32");
}

TEST(Contraction, cacheNoticesAnotherDescriptorAtTheSameAddress) {
  ContractionCache cache;
  sk_contraction_desc desc = plain(2, 2, 2, false, 0).desc;
  float a[4] = {1, 2, 3, 4}, b[4] = {1, 0, 0, 1}, c[4];
  ASSERT_TRUE(cache.run(&desc, a, b, c).ok());
  EXPECT_EQ(c[1], 2);
  std::swap(desc.dims[0].stride_a, desc.dims[2].stride_a);
  ASSERT_TRUE(cache.run(&desc, a, b, c).ok());
  EXPECT_EQ(c[1], 3);
}

/// `test` with operands that are added: `kinds` of them, a vector along the columns (v), along
/// the rows (r), a matrix (m), or nothing at all of C (n).
void checkFused(const Case &test, std::mt19937 &random, const std::string &kinds, int activation, cuda::Device &device,
                double tolerance) {
  sk_fused_contraction_desc fused = {};
  fused.product = test.desc;
  fused.activation = activation;
  fused.num_added = int32_t(kinds.size());
  const DType in = DType(test.desc.in_dtype), out = DType(test.desc.out_dtype);
  int64_t sizes[SK_MAX_ADDED] = {1, 1};
  for (size_t k = 0; k < kinds.size(); ++k) {
    std::vector<int> own;
    for (int i = 0; i < test.desc.num_dims; ++i) {
      const int role = test.desc.dims[i].role;
      if (role != SK_K && kinds[k] != 'n' && (role != SK_M || kinds[k] != 'v') && (role != SK_N || kinds[k] != 'r') &&
          (role != SK_BATCH || kinds[k] == 'm' || random() % 2))
        own.push_back(i);
    }
    // In the order of C.
    std::sort(own.begin(), own.end(),
              [&](int i, int j) { return test.desc.dims[i].stride_c < test.desc.dims[j].stride_c; });
    int64_t stride = random() % 9 == 0 ? 2 : 1;
    for (int i : own) {
      fused.added[k][i] = test.desc.dims[i].size == 1 ? 0 : stride;
      stride = stride * test.desc.dims[i].size + (random() % 4 == 0 ? 2 : 0);
    }
    sizes[k] = stride;
  }
  auto fill = [&](DType dtype, int64_t size) {
    std::vector<char> data(size_t(size * dtypeSize(dtype)) + 8);
    for (int64_t i = 0; i < size; ++i)
      setElement(dtype, data.data(), i, std::uniform_real_distribution<double>(-1, 1)(random));
    return data;
  };
  std::vector<char> a = fill(in, test.sizeA), b = fill(in, test.sizeB), c = fill(out, test.sizeC),
                    first = fill(out, sizes[0]), second = fill(out, sizes[1]);
  std::vector<double> expected;
  for (int64_t i = 0; i < test.sizeC; ++i)
    expected.push_back(getElement(out, c.data(), i));
  ContractionDims dims, outer;
  for (int i = 0; i < test.desc.num_dims; ++i) {
    const auto &dim = test.desc.dims[i];
    dims.push_back({dim.size, dim.stride_a, dim.stride_b, dim.stride_c});
    if (dim.role != SK_K)
      outer.push_back({dim.size, fused.added[0][i], fused.added[1][i], dim.stride_c});
  }
  if (!test.desc.accumulate)
    forEachIndex(outer, [&](int64_t, int64_t, int64_t oc, bool) { expected[size_t(oc)] = 0; });
  forEachIndex(dims, [&](int64_t oa, int64_t ob, int64_t oc, bool) {
    expected[size_t(oc)] += getElement(in, a.data(), oa) * getElement(in, b.data(), ob);
  });
  forEachIndex(outer, [&](int64_t f, int64_t s, int64_t oc, bool) {
    double &x = expected[size_t(oc)];
    x += kinds.size() > 0 ? getElement(out, first.data(), f) : 0;
    x += kinds.size() > 1 ? getElement(out, second.data(), s) : 0;
    if (activation == SK_RELU)
      x = std::max(x, 0.0);
    if (activation == SK_GELU)
      x = 0.5 * x * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
  });
  Placed onA(&device, a.data(), int64_t(a.size())), onB(&device, b.data(), int64_t(b.size())),
      onC(&device, c.data(), int64_t(c.size())), onFirst(&device, first.data(), int64_t(first.size())),
      onSecond(&device, second.data(), int64_t(second.size()));
  EXPECT_OK(device.contractFused(&fused, onA.data(), onB.data(), onC.data(), onFirst.data(), onSecond.data()));
  onC.fetch();
  for (int64_t i = 0; i < test.sizeC; ++i) {
    const double want = expected[size_t(i)], got = getElement(out, c.data(), i);
    if (std::abs(want - got) > tolerance * (1 + std::abs(want))) {
      ADD_FAILURE() << kinds << " activation " << activation << " element " << i << ": " << got << ", expected "
                    << want;
      return;
    }
  }
}

TEST(Contraction, addedOperandsAndActivations) {
  if (!onDevices())
    GTEST_SKIP() << "sk_fused_contraction runs on devices only";
  std::mt19937 random(8);
  const std::string record = testing::TempDir() + "products" + std::to_string(::getpid());
  ::setenv("SK_CUBLASLT_RECORD", record.c_str(), 1);
  for (bool tf32 : {false, true})
    for (bool lacksEpilogues : {false, true}) {
      ::setenv("SK_EMU_NO_EPILOGUES", lacksEpilogues ? "1" : "0", 1);
      cuda::DeviceOptions options;
      options.tf32 = tf32;
      const std::unique_ptr<cuda::Devices> devices = openDevices(1, options);
      ASSERT_TRUE(devices);
      cuda::Device &device = *devices->of(0);
      EXPECT_OK(device.enter());
      for (int round = 0; round < 250; ++round)
        for (auto [in, out, tolerance] :
             {std::tuple(DType::F32, DType::F32, tf32 ? 4e-3 : 2e-6), std::tuple(DType::BF16, DType::BF16, 3e-2),
              std::tuple(DType::F16, DType::F16, 4e-3), std::tuple(DType::BF16, DType::F32, 2e-6)}) {
          Case test = round % 2 ? randomCase(random, in, out, 7)
                                : plain(1 + int64_t(random() % 20), 1 + int64_t(random() % 20),
                                        1 + int64_t(random() % 9), random() % 2, random() % 4 == 0, in, out);
          const char *const kinds[] = {"", "v", "v", "m", "vm", "mv", "r", "n", "vv", "mm"};
          checkFused(test, random, kinds[random() % 10], int(random() % 3), device, tolerance);
          if (HasFailure())
            return;
        }
    }
  ::unsetenv("SK_EMU_NO_EPILOGUES");
  ::unsetenv("SK_CUBLASLT_RECORD");
  // Emulated libraries write down what they did: all of it was there.
  if (std::getenv("SK_CUDA_LIBRARY_PATH")) {
    const std::string all = readText(record);
    for (const char *epilogue :
         {"epilogue 1\n", "epilogue 1 beta", "epilogue 2\n", "epilogue 4\n", "epilogue 4 beta", "epilogue 6\n",
          "epilogue 6 beta", "epilogue 32\n", "epilogue 36\n", "epilogue 36 beta"})
      EXPECT_NE(all.find(epilogue), all.npos) << epilogue;
  }
  std::remove(record.c_str());
}

TEST(Contraction, malformedEpiloguesAreErrors) {
  if (!onDevices())
    GTEST_SKIP() << "sk_fused_contraction runs on devices only";
  const std::unique_ptr<cuda::Devices> devices = openDevices(1);
  ASSERT_TRUE(devices);
  cuda::Device &device = *devices->of(0);
  EXPECT_OK(device.enter());
  auto run = [&](const sk_fused_contraction_desc &fused) {
    return device.contractFused(&fused, nullptr, nullptr, nullptr, nullptr, nullptr);
  };
  sk_fused_contraction_desc fused = {};
  fused.product = plain(2, 3, 4, false, 0).desc;
  fused.num_added = 3;
  EXPECT_ERROR(run(fused), "malformed contraction");
  fused.num_added = 1;
  fused.added[0][2] = 1;
  EXPECT_ERROR(run(fused), "its role does not have");
  fused.added[0][2] = 0;
  fused.activation = 9;
  EXPECT_ERROR(run(fused), "malformed contraction");
  fused.activation = SK_RELU;
  fused.product = plain(2, 3, 4, false, 0, DType::F64, DType::F64).desc;
  EXPECT_ERROR(run(fused), "into f64 with an epilogue");
}

} // namespace
