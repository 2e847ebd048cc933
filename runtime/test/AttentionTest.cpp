//===- AttentionTest.cpp - Fused attention against the unfused computation --===//

#include "AttentionCase.h"

using namespace shardkit::rt;
using namespace shardkit::rt::test;

namespace {

class Attention : public testing::Test {
protected:
  void SetUp() override {
    cuda::DeviceOptions options;
    options.attention = cuda::AttentionEngine::Kernel;
    devices_ = openDevices(1, options);
    if (!devices_)
      GTEST_SKIP() << "attention runs on devices only";
    EXPECT_OK(device().enter());
  }
  cuda::Device &device() { return *devices_->of(0); }

private:
  std::unique_ptr<cuda::Devices> devices_;
};

const DType types[] = {DType::F32, DType::F16, DType::BF16};

TEST_F(Attention, sizesAroundTilesAndVectors) {
  const int64_t sizes[][4] = {{64, 64, 64, 64},   {1, 1, 1, 1},       {65, 63, 64, 64},
                              {3, 130, 32, 32},   {70, 17, 128, 128}, {5, 200, 80, 72},
                              {33, 40, 200, 256}, {16, 15, 7, 9},     {40, 66, 256, 129}};
  for (DType in : types)
    for (auto [queries, keys, head, values] : sizes) {
      SCOPED_TRACE(std::string(dtypeName(in)) + " " + std::to_string(queries) + " x " + std::to_string(keys) + " of " +
                   std::to_string(head) + ", " + std::to_string(values));
      AttentionCase test(in, {2}, queries, keys, head, values, in);
      test.layOutAll();
      test.addStep(SK_SCALE, 1 / std::sqrt(double(head)));
      test.verify(device());
      if (HasFatalFailure())
        return;
    }
}

TEST_F(Attention, tf32) {
  cuda::DeviceOptions options;
  options.tf32 = true;
  const std::unique_ptr<cuda::Devices> devices = openDevices(1, options);
  ASSERT_TRUE(devices);
  cuda::Device &device = *devices->of(0);
  EXPECT_OK(device.enter());
  const int64_t sizes[][4] = {{64, 64, 64, 64},   {1, 1, 1, 1},       {65, 63, 64, 60},
                              {3, 130, 32, 32},   {70, 17, 128, 128}, {5, 200, 80, 72},
                              {33, 40, 200, 256}, {16, 15, 7, 9},     {40, 66, 256, 129}};
  for (auto [queries, keys, head, values] : sizes)
    for (bool causal : {false, true}) {
      SCOPED_TRACE(std::to_string(queries) + " x " + std::to_string(keys) + " of " + std::to_string(head) + ", " +
                   std::to_string(values));
      AttentionCase test(DType::F32, {2}, queries, keys, head, values, DType::F32);
      test.layOutAll();
      test.addStep(SK_SCALE, 1 / std::sqrt(double(head)));
      if (causal)
        test.addStep(SK_CAUSAL, -infinity, 0, 1, keys - queries + 1);
      test.verify(device, 2e-3);
      if (HasFatalFailure())
        return;
    }
}

TEST_F(Attention, groupsOfQueriesShareKeys) {
  for (DType in : types) {
    AttentionCase test(in, {2, 2, 3}, 20, 37, 24, 40, DType::F32);
    test.layOutAll({true, true, false});
    test.verify(device());
  }
}

TEST_F(Attention, causalMasks) {
  for (DType in : types)
    for (int64_t offset : {0, 90, -3, -70, 300})
      for (double masked : {-infinity, -3.4028234663852886e38, -1e9, -4.0}) {
        SCOPED_TRACE(std::string(dtypeName(in)) + " " + std::to_string(offset) + " " + std::to_string(masked));
        AttentionCase test(in, {1}, 100, 150, 16, 16, in);
        test.layOutAll();
        test.addStep(SK_SCALE, 0.5);
        test.addStep(SK_CAUSAL, masked, 0, 1, offset);
        test.verify(device());
        if (HasFatalFailure())
          return;
      }
}

/// Few queries and many keys: several blocks share them. The emulated GPU has 4 processors.
TEST_F(Attention, keysAreSplitIfQueriesAreFew) {
  cuda::DeviceOptions options;
  options.attention = cuda::AttentionEngine::Kernel;
  options.profile = true;
  const std::unique_ptr<cuda::Devices> devices = openDevices(1, options);
  ASSERT_TRUE(devices);
  cuda::Device &device = *devices->of(0);
  EXPECT_OK(device.enter());
  auto nameOf = [&](std::vector<int64_t> batch, int64_t queries, int64_t keys) {
    AttentionCase test(DType::F32, batch, queries, keys, 8, 8, DType::F32);
    test.layOutAll();
    device.clearProfile();
    test.run(device);
    return device.profile().size() == 1 ? device.profile().begin()->first : "";
  };
  EXPECT_EQ(nameOf({}, 1, 1000), "sk_attention_f32_64, keys in 8 parts");
  EXPECT_EQ(nameOf({3}, 1, 1000), "sk_attention_f32_64, keys in 3 parts");
  EXPECT_EQ(nameOf({3}, 64, 300), "sk_attention_f32_64, keys in 2 parts");
  EXPECT_EQ(nameOf({3}, 1, 190), "sk_attention_f32_64");
  EXPECT_EQ(nameOf({4}, 1, 1000), "sk_attention_f32_64");
  EXPECT_EQ(nameOf({}, 200, 1000), "sk_attention_f32_64");
}

TEST_F(Attention, fewQueriesOfManyKeys) {
  const int64_t sizes[][4] = {{1, 300, 64, 64},  {1, 1000, 40, 24},  {3, 513, 128, 100},
                              {65, 400, 16, 16}, {2, 259, 256, 200}, {1, 256, 8, 8}};
  for (DType in : types)
    for (auto [queries, keys, head, values] : sizes)
      for (double masked : {0.0, -infinity, -1e9, -2.0}) {
        SCOPED_TRACE(std::string(dtypeName(in)) + " " + std::to_string(queries) + " x " + std::to_string(keys) +
                     " of " + std::to_string(head) + ", " + std::to_string(values) + ", masked " +
                     std::to_string(masked));
        AttentionCase test(in, {2}, queries, keys, head, values, keys % 2 ? DType::F32 : in);
        test.shuffled = keys % 3 == 0;
        test.layOutAll();
        test.addStep(SK_SCALE, 1 / std::sqrt(double(head)));
        if (masked != 0)
          test.addStep(SK_CAUSAL, masked, 0, 1, keys / 3);
        test.verify(device());
        if (HasFatalFailure())
          return;
      }
}

TEST_F(Attention, oddScoresOfManyKeys) {
  for (DType in : types)
    for (double odd : {std::nan(""), infinity, -infinity}) {
      AttentionCase test(in, {1}, 4, 600, 8, 8, in);
      test.layOutAll();
      const int bias = test.addOperand(DType::F32, 4, 600, {false}, 1);
      // One score of a row; all of another one; all but one of a third.
      setElement(DType::F32, test.operands[bias].bytes.data(), 0 * 600 + 410, odd);
      for (int64_t t = 0; t < 600; ++t) {
        setElement(DType::F32, test.operands[bias].bytes.data(), 1 * 600 + t, -infinity);
        if (t != 77)
          setElement(DType::F32, test.operands[bias].bytes.data(), 2 * 600 + t, -infinity);
      }
      test.addStep(SK_ADD, 0, bias);
      test.verify(device());
      if (HasFatalFailure())
        return;
    }
}

TEST_F(Attention, fullyMaskedRows) {
  for (DType in : types)
    for (double masked : {-infinity, -3.4028234663852886e38, -1e30}) {
      AttentionCase test(in, {2}, 7, 140, 8, 8, in);
      test.layOutAll();
      const int mask = test.addOperand(DType::I1, 7, 140, {true}, 0);
      for (int64_t t = 0; t < 140; ++t) {
        setElement(DType::I1, test.operands[mask].bytes.data(), 3 * 140 + t, 0);
        // The first tiles of another row.
        if (t < 130)
          setElement(DType::I1, test.operands[mask].bytes.data(), 5 * 140 + t, 0);
      }
      test.addStep(SK_SELECT, masked, mask);
      test.verify(device());
    }
}

TEST_F(Attention, nanAndInfinityPropagateToTheirRows) {
  for (DType in : types)
    for (double odd : {std::nan(""), infinity}) {
      AttentionCase test(in, {1}, 9, 100, 8, 8, in);
      test.layOutAll();
      const int bias = test.addOperand(DType::F32, 9, 100, {false}, 1);
      setElement(DType::F32, test.operands[bias].bytes.data(), 4 * 100 + 80, odd);
      test.addStep(SK_ADD, 0, bias);
      test.verify(device());
    }
}

TEST_F(Attention, randomLayoutsAndSteps) {
  std::mt19937 random(7);
  for (int round = 0; round < 60; ++round) {
    const DType in = types[round % 3];
    auto upTo = [&](int64_t most) { return 1 + int64_t(random() % uint64_t(most)); };
    std::vector<int64_t> batch;
    for (int i = int(random() % 4); i > 0; --i)
      batch.push_back(upTo(3));
    AttentionCase test(in, batch, upTo(80), upTo(150), upTo(48), upTo(48), random() % 2 ? in : DType::F32);
    test.random.seed(random());
    test.shuffled = random() % 2;
    auto some = [&] {
      std::vector<bool> has;
      for (size_t i = 0; i < batch.size(); ++i)
        has.push_back(random() % 2);
      return has;
    };
    test.layOutAll(some());
    test.addStep(SK_SCALE, 0.25);
    // The scores' own rounding is that of the double sum but for ties: f32 only.
    for (int i = int(random() % 4); i > 0; --i) {
      const int64_t rows = random() % 2 ? test.desc.queries : 0, columns = random() % 3 ? test.desc.keys : 0;
      switch (random() % 5) {
      case 0:
        test.addStep(SK_SELECT, random() % 2 ? -1e9 : -2.5, test.addOperand(DType::I1, rows, columns, some(), 0),
                     int(random() % 2));
        break;
      case 1:
        test.addStep(SK_CAUSAL, -5, 0, int(random() % 2), int64_t(random() % 20) - 5);
        break;
      default:
        test.addStep(random() % 3 == 0   ? SK_SUBTRACT
                     : random() % 2 == 0 ? SK_MULTIPLY
                                         : SK_ADD,
                     0, test.addOperand(types[random() % 3], rows, columns, some(), 1.2));
      }
    }
    SCOPED_TRACE(round);
    test.verify(device());
    if (HasFatalFailure())
      return;
  }
}

TEST_F(Attention, scoresAreRoundedAsInTheProgram) {
  // Every score is between 2048 and 2050 in f16: all round to one of the two.
  AttentionCase test(DType::F16, {1}, 4, 20, 1, 8, DType::F32);
  test.layOutAll();
  for (int64_t m = 0; m < 4; ++m)
    setElement(DType::F16, test.q.bytes.data(), m, 32);
  for (int64_t t = 0; t < 20; ++t)
    setElement(DType::F16, test.k.bytes.data(), t, 64 + double(t % 2) / 16);
  const int bias = test.addOperand(DType::F32, 4, 20, {false}, 0.9);
  test.addStep(SK_ADD, 0, bias);
  test.addStep(SK_ROUND, 0, 0, 1, 0, DType::F16);
  test.verify(device());
  for (int64_t t = 0; t < 20; ++t)
    setElement(DType::F16, test.k.bytes.data(), t, double(t) / 64);
  test.addStep(SK_ROUND, 0, 0, 1, 0, DType::BF16);
  test.verify(device());
}

TEST_F(Attention, isDeterministic) {
  AttentionCase test(DType::BF16, {2}, 70, 200, 64, 64, DType::F32);
  test.layOutAll();
  EXPECT_EQ(test.run(device()), test.run(device()));
}

TEST_F(Attention, malformedDescriptorsAreErrors) {
  auto refused = [&](auto change) {
    AttentionCase test(DType::F32, {2}, 3, 4, 5, 6, DType::F32);
    test.layOutAll();
    change(test.desc);
    float x[1] = {};
    return device().attention(&test.desc, x, x, x, x, nullptr).message();
  };
  auto expectRefused = [&](auto change, const char *part) {
    EXPECT_NE(refused(change).find(part), std::string::npos) << refused(change);
  };
  expectRefused([](auto &desc) { desc.abi = 9; }, "ABI version 9, expected 1");
  expectRefused([](auto &desc) { desc.in_dtype = SK_F64; }, "expected f32, f16 or bf16");
  expectRefused([](auto &desc) { desc.out_dtype = SK_F16; }, "expected that of q, or f32");
  expectRefused([](auto &desc) { desc.head = 257; }, "heads of 257, expected 1 to 256");
  expectRefused([](auto &desc) { desc.keys = 0; }, "of length 0");
  expectRefused([](auto &desc) { desc.num_steps = 13; }, "expected 0 to 12");
  expectRefused([](auto &desc) { desc.num_steps = 1, desc.steps[0].kind = SK_ADD; }, "a step of kind 1 on operand 0");
}

} // namespace
