//===- CudnnTest.cpp - Attention by cuDNN ---------------------------------===//
//
// Numbers are those of an emulated cuDNN, or of the machine's. Plans are made by cuDNN
// itself, without a device, where scripts/check-cudnn gives one.
//
//===----------------------------------------------------------------------===//

#include "AttentionCase.h"

#include "Cuda/CudnnAttention.h"

#include <cstdlib>
#include <fstream>

using namespace shardkit::rt;
using namespace shardkit::rt::test;

namespace {

const DType kHalfTypes[] = {DType::F16, DType::BF16};

class AttentionByCudnn : public testing::Test {
protected:
  void SetUp() override {
    if (!onDevices())
      GTEST_SKIP() << "attention runs on devices only";
    open(cuda::AttentionEngine::Cudnn);
  }
  void open(cuda::AttentionEngine engine) {
    cuda::DeviceOptions options;
    options.attention = engine;
    devices_ = openDevices(1, options);
    ASSERT_TRUE(devices_);
    EXPECT_OK(device().enter());
  }
  cuda::Device &device() { return *devices_->of(0); }

private:
  std::unique_ptr<cuda::Devices> devices_;
};

/// Strides of operands as projections leave them: [batch, row, head, element], of batch
/// dims batch, heads of keys, and heads of queries to one of keys.
void layOutByRows(sk_attention_desc &desc) {
  auto lay = [&](sk_attention_operand &operand, int64_t rows, int64_t columns, int64_t group) {
    const int64_t row = desc.batch[1] * group * columns;
    operand = {{rows * row, columns * group, group == 1 ? 0 : columns}, row, 1};
  };
  lay(desc.q, desc.queries, desc.head, desc.batch[2]);
  lay(desc.k, desc.keys, desc.head, 1);
  lay(desc.v, desc.keys, desc.values, 1);
  lay(desc.out, desc.queries, desc.values, desc.batch[2]);
}

TEST_F(AttentionByCudnn, sizes) {
  const int64_t sizes[][4] = {{64, 64, 64, 64}, {1, 1, 8, 8},       {65, 63, 64, 64},
                              {3, 130, 32, 16}, {70, 17, 128, 128}, {33, 40, 200, 256}};
  for (DType in : kHalfTypes)
    for (auto [queries, keys, head, values] : sizes) {
      SCOPED_TRACE(std::to_string(queries) + " x " + std::to_string(keys));
      AttentionCase test(in, {2, 3}, queries, keys, head, values, in);
      test.layOutAll();
      test.addStep(SK_SCALE, 1 / std::sqrt(double(head)));
      test.verify(device());
    }
}

TEST_F(AttentionByCudnn, headsOfQueriesShareThoseOfKeys) {
  for (DType in : kHalfTypes)
    for (auto [heads, group] : {std::pair(3, 2), std::pair(1, 4), std::pair(4, 1)}) {
      AttentionCase test(in, {2, heads, group}, 20, 37, 24, 40, in);
      layOutByRows(test.desc);
      for (auto [tensor, operand] : {std::pair(&test.q, &test.desc.q),
                                     {&test.k, &test.desc.k},
                                     {&test.v, &test.desc.v},
                                     {&test.out, &test.desc.out}}) {
        tensor->elements = 2 * operand->batch[0];
        tensor->bytes.assign(size_t(tensor->elements * dtypeSize(tensor->dtype)), 0);
        test.fill(*tensor, 1.2);
      }
      test.verify(device());
    }
}

TEST_F(AttentionByCudnn, causalMasks) {
  for (DType in : kHalfTypes)
    for (auto [queries, keys] : {std::pair(40, 40), std::pair(30, 50), std::pair(50, 30)})
      for (int64_t offset : {0, keys - queries})
        for (double masked : {-infinity, -3e38}) {
          if (offset < 0)
            continue;
          AttentionCase test(in, {2}, queries, keys, 16, 16, in);
          test.layOutAll();
          test.addStep(SK_SCALE, 0.25);
          test.addStep(SK_ROUND, 0, 0, 1, 0, in);
          test.addStep(SK_CAUSAL, masked, 0, 1, offset);
          test.verify(device());
        }
}

TEST_F(AttentionByCudnn, biases) {
  // Of all dims of the batch or none, a row for all or one each.
  for (DType in : kHalfTypes)
    for (DType type : {in, DType::F32})
      for (int kind = 0; kind < 8; ++kind) {
        SCOPED_TRACE(kind);
        AttentionCase test(in, {2, 3}, 20, 40, 16, 24, in);
        test.layOutAll();
        const int bias = test.addOperand(type, kind & 4 ? 20 : 0, 40, {bool(kind & 1), bool(kind & 2)}, 3);
        test.addStep(SK_SCALE, 0.5);
        test.addStep(SK_ADD, 0, bias);
        if (kind == 3)
          test.addStep(SK_CAUSAL, -infinity);
        test.verify(device());
      }
}

TEST_F(AttentionByCudnn, unsupportedCasesAreAnErrorOrAKernel) {
  auto refused = [&](auto change, DType in = DType::F16) {
    AttentionCase test(in, {2}, 20, 40, 16, 16, in);
    test.layOutAll();
    change(test);
    const std::string message = device().attention(&test.desc, nullptr, nullptr, nullptr, nullptr, nullptr).message();
    return message;
  };
  EXPECT_EQ(refused([](AttentionCase &) {}, DType::F32),
            "attention by cuDNN is not for other types than f16 or bf16 in and out");
  EXPECT_EQ(refused([](AttentionCase &test) { test.desc.head = 12; }),
            "attention by cuDNN is not for rows that are not vectors of 16 bytes");
  EXPECT_EQ(refused([](AttentionCase &test) { test.addStep(SK_CAUSAL, -9); }),
            "attention by cuDNN is not for steps other than scale, bias and causal mask in this "
            "order");
  EXPECT_EQ(refused([](AttentionCase &test) { test.addStep(SK_CAUSAL, -infinity, 0, 1, 3); }),
            "attention by cuDNN is not for a mask that begins at neither end");
  open(cuda::AttentionEngine::Any);
  AttentionCase test(DType::F16, {2}, 20, 40, 12, 16, DType::F16);
  test.layOutAll();
  test.verify(device());
  EXPECT_EQ(device().attentionUses().byKernel, 1);
  EXPECT_EQ(device().attentionUses().byCudnn, 0);
  EXPECT_EQ(device().attentionUses().reason, "attention by cuDNN is not for rows that are not vectors of 16 bytes");
}

TEST_F(AttentionByCudnn, randomLayouts) {
  open(cuda::AttentionEngine::Any);
  std::mt19937 random(11);
  for (int round = 0; round < 120; ++round) {
    auto upTo = [&](int64_t most) { return 1 + int64_t(random() % uint64_t(most)); };
    std::vector<int64_t> batch;
    for (int i = int(random() % 4); i > 0; --i)
      batch.push_back(upTo(3));
    const DType in = kHalfTypes[round % 2];
    AttentionCase test(in, batch, upTo(3) * 8, upTo(5) * 8, upTo(4) * 8, upTo(4) * 8, in);
    test.random.seed(random());
    test.shuffled = random() % 2;
    auto some = [&] {
      std::vector<bool> has;
      for (size_t i = 0; i < batch.size(); ++i)
        has.push_back(random() % 4 != 0);
      return has;
    };
    test.layOutAll(some());
    if (random() % 2)
      test.addStep(SK_SCALE, 0.25);
    if (random() % 2)
      test.addStep(SK_ADD, 0, test.addOperand(in, random() % 3 ? test.desc.queries : 0, test.desc.keys, some(), 1.2));
    if (random() % 3 == 0)
      test.addStep(SK_CAUSAL, -infinity);
    SCOPED_TRACE(round);
    test.verify(device());
    if (HasFatalFailure())
      return;
  }
  EXPECT_GT(device().attentionUses().byCudnn, 30);
  EXPECT_GT(device().attentionUses().byKernel, 10);
}

TEST(CudnnShape, batchDimsBecomeBatchAndHeads) {
  AttentionCase test(DType::BF16, {2, 4, 3}, 20, 40, 16, 24, DType::BF16);
  layOutByRows(test.desc);
  const auto shape = cuda::cudnnShape(test.desc);
  ASSERT_TRUE(shape.ok()) << shape.status().message();
  using Four = std::array<int64_t, 4>;
  EXPECT_EQ(shape->q.dims, (Four{2, 12, 20, 16}));
  EXPECT_EQ(shape->q.strides, (Four{20 * 12 * 16, 16, 12 * 16, 1}));
  EXPECT_EQ(shape->k.dims, (Four{2, 4, 16, 40}));
  EXPECT_EQ(shape->k.strides, (Four{40 * 4 * 16, 16, 1, 4 * 16}));
  EXPECT_EQ(shape->v.dims, (Four{2, 4, 40, 24}));
  EXPECT_EQ(shape->out.dims, (Four{2, 12, 20, 24}));
  // In another order of the loops it is the same.
  for (auto *operand : {&test.desc.q, &test.desc.k, &test.desc.v, &test.desc.out})
    std::swap(operand->batch[0], operand->batch[2]);
  std::swap(test.desc.batch[0], test.desc.batch[2]);
  const auto other = cuda::cudnnShape(test.desc);
  ASSERT_TRUE(other.ok()) << other.status().message();
  EXPECT_EQ(other->q.dims, shape->q.dims);
  EXPECT_EQ(other->k.strides, shape->k.strides);
}

TEST(CudnnShape, nonContiguousHeadsAreRefused) {
  // Groups outside of heads: query head 1 is of key head 1, for cuDNN of key head 0.
  AttentionCase test(DType::BF16, {2, 4, 3}, 20, 40, 16, 24, DType::BF16);
  layOutByRows(test.desc);
  for (auto *operand : {&test.desc.q, &test.desc.out}) {
    const int64_t element = operand == &test.desc.q ? 16 : 24;
    operand->batch[1] = element;
    operand->batch[2] = 4 * element;
  }
  EXPECT_EQ(cuda::cudnnShape(test.desc).status().message(), "attention by cuDNN is not for heads that are not one dim");
}

/// Made by cuDNN for the device that the file describes; nothing runs.
TEST(CudnnPlans, areMadeWithoutADevice) {
  const char *path = std::getenv("SK_CUDNN_DEVICE");
  if (!path)
    GTEST_SKIP() << "scripts/check-cudnn runs it";
  std::ifstream file(path);
  const std::string properties((std::istreambuf_iterator<char>(file)), {});
  ASSERT_FALSE(properties.empty()) << path;
  auto opened = cuda::CudnnApi::open();
  ASSERT_TRUE(opened.ok()) << opened.status().message();
  const cuda::CudnnApi &api = *opened;
  cuda::CudnnTarget target;
  auto check = [&](int result) {
    ASSERT_TRUE(api.check(result, "device").ok()) << api.check(result, "device").message();
  };
  check(api.cudnnBackendCreateDescriptor(cuda::CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR, &target.device));
  check(api.cudnnBackendSetAttribute(target.device, cuda::CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION,
                                     cuda::CUDNN_TYPE_CHAR, int64_t(properties.size()) + 1, properties.c_str()));
  check(api.cudnnBackendFinalize(target.device));

  int made = 0;
  auto make = [&](AttentionCase &test, int64_t biasAlignment = 16) {
    const auto shape = cuda::cudnnShape(test.desc);
    ASSERT_TRUE(shape.ok()) << shape.status().message();
    const auto plan = cuda::CudnnAttention::make(api, target, *shape, biasAlignment, 32 << 20);
    ASSERT_TRUE(plan.ok()) << plan.status().message();
    ++made;
  };
  struct Size {
    int64_t batch, heads, group, queries, keys, head, values;
  };
  const Size sizes[] = {{8, 32, 1, 2048, 2048, 128, 128}, // A GPT block.
                        {12, 12, 1, 64, 64, 32, 32},      // MiniLM.
                        {2, 8, 4, 512, 512, 64, 64},      {2, 1, 8, 100, 77, 64, 128},  {1, 16, 1, 1, 4096, 128, 128},
                        {3, 2, 1, 20, 40, 8, 24},         {2, 4, 1, 256, 300, 256, 256}};
  for (DType in : kHalfTypes)
    for (const Size &size : sizes)
      for (int mask = 0; mask < 6; ++mask) {
        SCOPED_TRACE(std::string(dtypeName(in)) + " " + std::to_string(size.queries) + " x " +
                     std::to_string(size.keys) + " of " + std::to_string(size.head) + ", mask " + std::to_string(mask));
        if (mask == 2 && size.keys <= size.queries)
          continue;
        AttentionCase test(in, {size.batch, size.heads, size.group}, size.queries, size.keys, size.head, size.values,
                           in);
        layOutByRows(test.desc);
        auto bias = [&](DType type, const sk_attention_operand &strides) {
          test.desc.operands[0] = strides;
          test.desc.operand_dtypes[0] = int32_t(type);
          test.desc.num_operands = 1;
          test.addStep(SK_ADD);
        };
        if (mask)
          test.addStep(SK_SCALE, 0.125);
        const int64_t scores = size.queries * size.keys;
        switch (mask) {
        case 1:
          test.addStep(SK_CAUSAL, -infinity);
          break;
        case 2:
          test.addStep(SK_CAUSAL, -infinity, 0, 1, size.keys - size.queries);
          break;
        case 3:
          bias(in, {{size.keys, 0, 0}, 0, 1});
          break; // Of keys, as encoders have it.
        case 4:
          bias(DType::F32, {{0, 0, 0}, size.keys, 1});
          break;
        case 5:
          bias(in, {{size.heads * size.group * scores, size.group * scores, scores}, size.keys, 1});
        }
        make(test, mask == 5 ? 2 : 16);
        if (HasFatalFailure())
          return;
      }
  std::printf("%d plans\n", made);
  check(api.cudnnBackendDestroyDescriptor(target.device));
}

} // namespace
