//===- KnownSizesTest.cpp - Layouts of values of unknown size -------------===//

#include "shardkit/Layout/KnownSizes.h"
#include "Simulator.h"

using namespace shardkit_test;

static constexpr int64_t kUnknown = INT64_MIN;

TEST(KnownSizes, TruthTable) {
  Mesh m = mesh({2, 3, 4});
  auto known = [&](Shape shape, std::string a, std::string b) {
    Sharding first = sharding(a, m), second = sharding(b, m);
    return Shape(withKnownSizes(shape, {&first, &second}));
  };
  const int64_t u = kUnknown;
  //                shape    from                to                 known
  EXPECT_EQ(known({u, 6}, "[{}, {}]", "[{}, {}]"), (Shape{1, 6}));
  EXPECT_EQ(known({u, 6}, "[{}, {\"x\"}]", "[{}, {}]"), (Shape{1, 6}));
  EXPECT_EQ(known({u, 6}, "[{\"x\"}, {}]", "[{}, {}]"), (Shape{2, 6}));
  EXPECT_EQ(known({u, 6}, "[{\"x\"}, {}]", "[{\"x\"}, {}]"), (Shape{2, 6}));
  EXPECT_EQ(known({u, 6}, "[{\"x\"}, {}]", "[{\"y\"}, {}]"), (Shape{6, 6}));
  EXPECT_EQ(known({u, 6}, "[{\"z\"}, {}]", "[{\"x\"}, {}]"), (Shape{4, 6}));
  EXPECT_EQ(known({u, u}, "[{2, \"x\"}, {}]", "[{}, {\"y\", \"z\"}]"), (Shape{4, 12}));
  EXPECT_EQ(known({5, 6}, "[{\"x\"}, {}]", "[{}, {}]"), (Shape{5, 6}));
}

TEST(KnownSizes, EachIndexStandsForABlock) {
  Random random(23);
  for (int round = 0; round < 300; ++round) {
    Mesh m = random.mesh();
    Shape real = random.shape(3, 200);
    Sharding a = random.sharding(m, real, /*uneven=*/false, /*partial=*/false);
    Sharding b = random.sharding(m, real, /*uneven=*/false, /*partial=*/false);
    for (size_t d = 0; d < real.size(); ++d) {
      Shape shape = real;
      shape[d] = kUnknown;
      Shape known(withKnownSizes(shape, {&a, &b}));
      ASSERT_EQ(real[d] % known[d], 0);
      const int64_t block = real[d] / known[d];
      int64_t inner = 1;
      for (size_t k = d + 1; k < real.size(); ++k)
        inner *= real[k];
      for (const Sharding &sharding : {a, b})
        for (int64_t rank = 0; rank < m.numDevices(); ++rank) {
          llvm::SmallVector<int64_t> expected;
          for (int64_t index : Layout::get(sharding, m, known).ownedIndices(rank)) {
            int64_t major = index / inner, minor = index % inner;
            for (int64_t j = 0; j < block; ++j)
              expected.push_back((major * block + j) * inner + minor);
          }
          llvm::sort(expected);
          llvm::SmallVector<int64_t> owned = Layout::get(sharding, m, real).ownedIndices(rank);
          llvm::sort(owned);
          EXPECT_EQ(owned, expected);
        }
    }
  }
}
