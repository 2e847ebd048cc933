//===- WidenedTest.cpp - Products with weights of few bits ----------------===//

#include "Support.h"

#include "shardkit/rt/Contraction/Contraction.h"
#include "shardkit/rt/Support/DType.h"

#include <cmath>
#include <cstring>
#include <random>

using namespace shardkit::rt;

namespace {

/// Blocks of a row: numbers of `halves` halves of bytes, `length` each, with a scale and perhaps an offset.
struct Case {
  int32_t number;
  int64_t vectors, rows, blocks, halves, length;
  bool hasScale, hasOffset, accumulate;
};

struct Data {
  std::vector<float> x, scale, offset, c;
  std::vector<uint8_t> payload, high;
  sk_widened_desc desc = {};
};

float decode(const Data &data, const Case &of, int64_t byte, int64_t half) {
  const uint8_t bits = data.payload[size_t(byte)];
  switch (of.number) {
  case SK_NUMBER_TABLE:
    return data.desc.table[bits >> (4 * half) & 15];
  case SK_NUMBER_I8:
    return float(int8_t(bits));
  case SK_NUMBER_E4M3: {
    const float magnitude = (bits & 0x78) == 0      ? float(bits & 7) * 0x1p-9f
                            : (bits & 0x7f) == 0x7f ? NAN
                                                    : std::ldexp(float(8 + (bits & 7)), (bits >> 3 & 15) - 10);
    return bits & 0x80 ? -magnitude : magnitude;
  }
  default:
    return float((bits >> (4 * half) & 15) | (data.high[size_t(byte)] >> (2 * half) & 3) << 4) - 32;
  }
}

Data make(const Case &of, std::mt19937 &random) {
  Data data;
  sk_widened_desc &desc = data.desc;
  desc.abi = SK_ABI_VERSION;
  desc.number = of.number;
  desc.accumulate = of.accumulate;
  std::uniform_real_distribution<float> real(-1, 1);
  for (float &value : desc.table)
    value = real(random);
  const int64_t bytes = of.blocks * of.length, size = bytes * of.halves, scales = of.blocks * of.halves;
  auto add = [&](int32_t role, int64_t count, int64_t x, int64_t payload, int64_t scale, int64_t c, int32_t shift) {
    auto &dim = desc.dims[desc.num_dims++];
    dim.role = role;
    dim.size = count;
    dim.stride_x = x;
    dim.stride_payload = payload;
    dim.stride_high = of.number == SK_NUMBER_I6 ? payload : 0;
    dim.stride_scale = of.hasScale ? scale : 0;
    dim.stride_offset = of.hasOffset ? scale : 0;
    dim.stride_c = c;
    dim.shift = 4 * shift;
    dim.high_shift = of.number == SK_NUMBER_I6 ? 2 * shift : 0;
  };
  add(SK_N, of.rows, 0, bytes, scales, 1, 0);
  add(SK_K, of.blocks, of.halves * of.length, of.length, of.halves, 0, 0);
  add(SK_K, of.halves, of.length, 0, 1, 0, of.number == SK_NUMBER_TABLE || of.number == SK_NUMBER_I6);
  add(SK_K, of.length, 1, 1, 0, 0, 0);
  add(SK_M, of.vectors, size, 0, 0, of.rows, 0);
  data.payload.resize(size_t(of.rows * bytes) + 16);
  data.high.resize(data.payload.size());
  for (size_t i = 0; i < data.payload.size(); ++i) {
    data.payload[i] = uint8_t(random());
    data.high[i] = uint8_t(random());
    if (of.number == SK_NUMBER_E4M3 && (data.payload[i] & 0x7f) == 0x7f) // but in a row
      data.payload[i] = 0;
  }
  if (of.number == SK_NUMBER_E4M3)
    data.payload[0] = 0xff;
  auto fill = [&](std::vector<float> &values, int64_t count) {
    values.resize(size_t(count));
    for (float &value : values)
      value = real(random);
  };
  fill(data.x, of.vectors * size);
  fill(data.scale, of.rows * scales);
  fill(data.offset, of.rows * scales);
  fill(data.c, of.vectors * of.rows);
  return data;
}

void check(const Case &of, WidenedIsa isa, std::mt19937 &random) {
  Data data = make(of, random);
  std::vector<float> found = data.c;
  auto plan = planWidened(data.desc, isa);
  ASSERT_TRUE(plan.ok()) << plan.status().message();
  (*plan)->run({data.x.data(), data.payload.data(), of.number == SK_NUMBER_I6 ? data.high.data() : nullptr,
                of.hasScale ? data.scale.data() : nullptr, of.hasOffset ? data.offset.data() : nullptr, nullptr,
                found.data()});
  const int64_t bytes = of.blocks * of.length, size = bytes * of.halves;
  for (int64_t v = 0; v < of.vectors; ++v)
    for (int64_t r = 0; r < of.rows; ++r) {
      double sum = of.accumulate ? data.c[size_t(v * of.rows + r)] : 0, magnitude = 1;
      for (int64_t b = 0; b < of.blocks; ++b)
        for (int64_t h = 0; h < of.halves; ++h)
          for (int64_t i = 0; i < of.length; ++i) {
            const size_t block = size_t((r * of.blocks + b) * of.halves + h);
            const double weight =
                double(decode(data, of, r * bytes + b * of.length + i, h)) * (of.hasScale ? data.scale[block] : 1) -
                (of.hasOffset ? data.offset[block] : 0);
            const double term = weight * data.x[size_t(v * size + (b * of.halves + h) * of.length + i)];
            sum += term;
            magnitude += std::abs(term);
          }
      const double value = found[size_t(v * of.rows + r)];
      ASSERT_EQ(std::isnan(value), std::isnan(sum));
      if (!std::isnan(sum))
        ASSERT_NEAR(value, sum, 1e-6 * magnitude)
            << "number " << of.number << ", instructions " << int(isa) << ", " << of.length << " numbers, vector " << v;
    }
}

std::vector<WidenedIsa> getIsas() {
  std::vector<WidenedIsa> isas;
  for (int i = 0; i <= int(bestWidenedIsa()); ++i)
    isas.push_back(WidenedIsa(i));
  return isas;
}

} // namespace

TEST(Widened, numbersOfAllFormats) {
  std::mt19937 random(1);
  for (WidenedIsa isa : getIsas())
    for (int32_t number : {SK_NUMBER_TABLE, SK_NUMBER_I8, SK_NUMBER_E4M3, SK_NUMBER_I6})
      for (int64_t length : {5, 8, 16, 24, 32, 48, 128})
        for (int64_t vectors : {1, 3, 4, 6}) {
          const bool isHalved = number == SK_NUMBER_TABLE || number == SK_NUMBER_I6;
          check({number, vectors, 3, 4, isHalved ? 2 : 1, length, length != 8, length % 16 == 0, vectors == 3}, isa,
                random);
        }
}

/// A sum has the same bits in runs of any length, so that shards of groups give those of full groups.
TEST(Widened, orderOfSums) {
  std::mt19937 random(2);
  Data data = make({SK_NUMBER_I8, 1, 4, 2, 1, 64, false, false, false}, random);
  for (WidenedIsa isa : getIsas()) {
    std::vector<float> expected;
    for (int64_t length : {64, 32, 16, 8}) {
      sk_widened_desc desc = data.desc;
      std::vector<float> found(4), ones(size_t(4 * 128 / length), 1);
      desc.dims[0].stride_scale = 128 / length;
      desc.dims[1].size = 128 / length;
      desc.dims[1].stride_x = desc.dims[1].stride_payload = desc.dims[3].size = length;
      desc.dims[1].stride_scale = 1;
      auto plan = planWidened(desc, isa);
      ASSERT_TRUE(plan.ok()) << plan.status().message();
      (*plan)->run({data.x.data(), data.payload.data(), nullptr, ones.data(), nullptr, nullptr, found.data()});
      if (expected.empty())
        expected = found;
      for (size_t i = 0; i < 4; ++i)
        EXPECT_EQ(found[i], expected[i]) << length;
    }
  }
}

/// Scales and offsets that are products with numbers of six bits give the bits of those that were multiplied before:
/// blocks of so many runs, whose bytes lie as in Q4_K; groups of eight runs or not; the last row at the end of memory.
TEST(Widened, scalesOfFewBits) {
  std::mt19937 random(4);
  for (bool isSigned : {false, true})
    for (int64_t runs : {4, 8, 12, 16})
      for (WidenedIsa isa : getIsas()) {
        const int64_t rows = 3, blocks = 2, length = 16, size = runs * length;
        Data data = make({SK_NUMBER_I8, 2, rows, blocks * runs, 1, length, true, true, false}, random);
        std::vector<uint8_t> inner(size_t(rows * blocks * 3 * runs / 2));
        for (uint8_t &byte : inner)
          byte = uint8_t(random());
        sk_widened_desc desc = data.desc;
        std::copy_backward(desc.dims + 3, desc.dims + 5, desc.dims + 8);
        auto setDim = [&](int i, int64_t count, int64_t elements, int64_t scales, int64_t bytes, int32_t inCase) {
          auto &dim = desc.dims[i];
          dim = {};
          dim.role = i == 0 ? SK_N : SK_K;
          dim.size = count;
          dim.stride_payload = elements;
          dim.stride_x = i == 0 ? 0 : elements;
          dim.stride_scale = dim.stride_offset = scales;
          dim.stride_inner = bytes;
          dim.inner_case = inCase;
        };
        desc.num_dims = 6;
        setDim(0, rows, blocks * size, blocks, blocks * 3 * runs / 2, 0);
        desc.dims[0].stride_c = 1;
        setDim(1, blocks, size, 1, 3 * runs / 2, 0);
        setDim(2, 2, size / 2, 0, 0, 1);
        setDim(3, runs / 2, length, 0, 1, 0);
        desc.dims[4] = desc.dims[6];
        desc.dims[5] = desc.dims[7];
        const int32_t half = int32_t(runs / 2);
        desc.num_inner_cases = 2;
        desc.has_inner_scale = 1;
        desc.has_inner_offset = runs != 12;
        desc.inner_scale[0] = {{0, 0}, {0, 0}, {63, 0}, isSigned};
        desc.inner_scale[1] = {{2 * half, 0}, {0, 2}, {15, 48}, isSigned};
        desc.inner_offset[0] = {{half, 0}, {0, 0}, {isSigned ? 255 : 63, 0}, isSigned};
        desc.inner_offset[1] = {{2 * half, half}, {4, 2}, {15, 48}, isSigned};
        sk_widened_desc wide = data.desc;
        std::vector<float> scales[2], found = data.c, expected = data.c;
        for (int part = 0; part < 2; ++part)
          for (int64_t r = 0; r < rows * blocks * runs; ++r) {
            const bool isSecond = r % runs >= half;
            const sk_inner_number &number = (part == 0 ? desc.inner_scale : desc.inner_offset)[isSecond];
            const uint8_t *from = inner.data() + r / runs * 3 * half + r % half;
            int bits = 0;
            for (int k = 0; k < 2; ++k)
              bits |= from[number.at[k]] >> number.shift[k] & number.mask[k];
            const float value = float(isSigned ? int8_t(bits) : bits);
            const float outer = (part == 0 ? data.scale : data.offset)[size_t(r / runs)];
            const bool hasInner = part == 0 || desc.has_inner_offset;
            scales[part].push_back(hasInner ? outer * value : outer);
          }
        auto run = [&](const sk_widened_desc &of, const float *scale, const float *offset, std::vector<float> &to) {
          auto plan = planWidened(of, isa);
          ASSERT_TRUE(plan.ok()) << plan.status().message();
          (*plan)->run({data.x.data(), data.payload.data(), nullptr, scale, offset, inner.data(), to.data()});
        };
        run(wide, scales[0].data(), scales[1].data(), expected);
        run(desc, data.scale.data(), data.offset.data(), found);
        EXPECT_EQ(found, expected) << runs << " runs, instructions " << int(isa);
      }
}

TEST(Widened, malformed) {
  std::mt19937 random(3);
  Data data = make({SK_NUMBER_TABLE, 1, 2, 2, 2, 8, true, false, false}, random);
  auto messageOf = [&](auto &&change) {
    sk_widened_desc desc = data.desc;
    change(desc);
    auto plan = planWidened(desc);
    return plan.ok() ? "" : plan.status().message();
  };
  EXPECT_EQ(messageOf([](sk_widened_desc &) {}), "");
  EXPECT_NE(messageOf([](sk_widened_desc &desc) { desc.abi = 7; }).find("ABI version 7"), std::string::npos);
  EXPECT_NE(messageOf([](sk_widened_desc &desc) { desc.number = 9; }).find("malformed"), std::string::npos);
  EXPECT_NE(messageOf([](sk_widened_desc &desc) { desc.dims[3].stride_payload = 2; }).find("follow each other"),
            std::string::npos);
  EXPECT_NE(messageOf([](sk_widened_desc &desc) { desc.num_inner_cases = 99; }).find("malformed"), std::string::npos);
  EXPECT_NE(messageOf([](sk_widened_desc &desc) {
              desc.num_inner_cases = 1;
              desc.dims[1].inner_case = 1;
            }).find("unknown case"),
            std::string::npos);
  EXPECT_NE(messageOf([](sk_widened_desc &desc) {
              desc.num_inner_cases = desc.has_inner_scale = 1;
              desc.inner_scale[0] = {{0, 0}, {9, 0}, {15, 0}, 0};
            }).find("not in one byte"),
            std::string::npos);
  EXPECT_NE(messageOf([](sk_widened_desc &desc) { desc.shift = 4; }).find("not in one byte"), std::string::npos);
}
