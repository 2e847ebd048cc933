//===- AttentionCase.h - A call of sk_attention, and what it gives -*- C++ -*--===//

#ifndef SHARDKIT_RUNTIME_TEST_ATTENTIONCASE_H
#define SHARDKIT_RUNTIME_TEST_ATTENTIONCASE_H

#include "OnDevices.h"
#include "Support.h"

#include <cmath>
#include <limits>
#include <random>

namespace shardkit::rt::test {

inline constexpr double infinity = std::numeric_limits<double>::infinity();

/// An operand with its elements in some order of its dims.
struct Tensor {
  DType dtype = DType::F32;
  std::vector<char> bytes;
  int64_t elements = 0;
};

/// A call of sk_attention with random operands, and its expected result in f64.
///
/// Example: AttentionCase(DType::F32, {2, 4}, 16, 32, 8, 8, DType::F32) is attention of 2 x 4
/// heads, 16 queries, 32 keys, with rows of 8 elements; layOutAll() makes the operands, and
/// verify(device) runs it and compares.
struct AttentionCase {
  sk_attention_desc desc = {};
  Tensor q, k, v, out, operands[SK_MAX_ATTENTION_OPERANDS];
  bool shuffled = false;
  std::mt19937 random{1};
  AttentionCase(DType in, std::vector<int64_t> batch, int64_t queries, int64_t keys, int64_t head, int64_t values,
                DType out);

  /// Row-major over the dims with `sizes`, or in a random order with strides; dims of size -1
  /// are not there.
  void layOut(Tensor &tensor, sk_attention_operand &operand, int64_t rows, int64_t columns,
              const std::vector<bool> &hasBatch);
  void fill(Tensor &tensor, double scale);
  void layOutAll(std::vector<bool> keysHave = {});
  int addOperand(DType dtype, int64_t rows, int64_t columns, std::vector<bool> hasBatch, double scale);
  void addStep(int kind, double value = 0, int operand = 0, int keep = 1, int64_t offset = 0, DType dtype = DType::F32);
  static double rounded(DType dtype, double x);

  /// What the unfused program gives, in f64; the largest magnitude in `largest`.
  std::vector<double> expected(double &largest) const;

  /// Runs it; elements that are no result stay as they were.
  std::vector<double> run(cuda::Device &device);
  void verify(cuda::Device &device, double tf32Tolerance = 0);
};

inline AttentionCase::AttentionCase(DType in, std::vector<int64_t> batch, int64_t queries, int64_t keys, int64_t head,
                                    int64_t values, DType out) {
  desc.abi = SK_ABI_VERSION;
  desc.in_dtype = int32_t(in);
  desc.out_dtype = int32_t(out);
  desc.num_batch = int32_t(batch.size());
  std::copy(batch.begin(), batch.end(), desc.batch);
  desc.queries = queries;
  desc.keys = keys;
  desc.head = head;
  desc.values = values;
  q.dtype = k.dtype = v.dtype = in;
  this->out.dtype = out;
}

inline void AttentionCase::layOut(Tensor &tensor, sk_attention_operand &operand, int64_t rows, int64_t columns,
                                  const std::vector<bool> &hasBatch) {
  std::vector<std::pair<int64_t, int64_t *>> dims;
  for (int i = 0; i < desc.num_batch; ++i)
    if (hasBatch.empty() || hasBatch[size_t(i)])
      dims.push_back({desc.batch[i], &operand.batch[i]});
  if (rows > 0)
    dims.push_back({rows, &operand.row});
  if (columns > 0)
    dims.push_back({columns, &operand.column});
  if (shuffled)
    std::shuffle(dims.begin(), dims.end(), random);
  int64_t stride = 1, last = 0;
  for (size_t i = dims.size(); i-- > 0;) {
    *dims[i].second = stride;
    last += (dims[i].first - 1) * stride;
    stride *= dims[i].first;
    if (shuffled && random() % 3 == 0)
      stride += 5;
  }
  tensor.elements = last + 1;
  tensor.bytes.assign(size_t(tensor.elements * dtypeSize(tensor.dtype)), 0);
}

inline void AttentionCase::fill(Tensor &tensor, double scale) {
  std::uniform_real_distribution<double> draw(-scale, scale);
  for (int64_t i = 0; i < tensor.elements; ++i)
    setElement(tensor.dtype, tensor.bytes.data(), i,
               tensor.dtype == DType::I1 ? double(random() % 3 != 0) : draw(random));
}

inline void AttentionCase::layOutAll(std::vector<bool> keysHave) {
  layOut(q, desc.q, desc.queries, desc.head, {});
  layOut(k, desc.k, desc.keys, desc.head, keysHave);
  layOut(v, desc.v, desc.keys, desc.values, keysHave);
  layOut(out, desc.out, desc.queries, desc.values, {});
  fill(q, 1.5);
  fill(k, 1.5);
  fill(v, 1);
  fill(out, 1);
}

inline int AttentionCase::addOperand(DType dtype, int64_t rows, int64_t columns, std::vector<bool> hasBatch,
                                     double scale) {
  const int i = desc.num_operands++;
  operands[i].dtype = dtype;
  desc.operand_dtypes[i] = int32_t(dtype);
  layOut(operands[i], desc.operands[i], rows, columns, hasBatch);
  fill(operands[i], scale);
  return i;
}

inline void AttentionCase::addStep(int kind, double value, int operand, int keep, int64_t offset, DType dtype) {
  auto &step = desc.steps[desc.num_steps++];
  step.kind = kind;
  step.value = float(value);
  step.operand = operand;
  step.keep = keep;
  step.offset = offset;
  step.dtype = int32_t(dtype);
}

inline double AttentionCase::rounded(DType dtype, double x) {
  char bytes[8];
  setElement(dtype, bytes, 0, x);
  return getElement(dtype, bytes, 0);
}

inline std::vector<double> AttentionCase::expected(double &largest) const {
  std::vector<double> result(size_t(out.elements), std::nan(""));
  int64_t batches = 1;
  for (int i = 0; i < desc.num_batch; ++i)
    batches *= desc.batch[i];
  for (int64_t location = 0; location < batches; ++location) {
    int64_t index[SK_MAX_ATTENTION_BATCH] = {}, rest = location;
    for (int i = desc.num_batch - 1; i >= 0; --i, rest /= desc.batch[i + 1])
      index[i] = rest % desc.batch[i];
    auto at = [&](const sk_attention_operand &operand, int64_t row, int64_t column) {
      int64_t offset = row * operand.row + column * operand.column;
      for (int i = 0; i < desc.num_batch; ++i)
        offset += index[i] * operand.batch[i];
      return offset;
    };
    auto read = [&](const Tensor &tensor, const sk_attention_operand &operand, int64_t row, int64_t column) {
      return getElement(tensor.dtype, tensor.bytes.data(), at(operand, row, column));
    };
    for (int64_t m = 0; m < desc.queries; ++m) {
      std::vector<double> p(static_cast<size_t>(desc.keys));
      double most = -infinity, sum = 0;
      for (int64_t t = 0; t < desc.keys; ++t) {
        double x = 0;
        for (int64_t d = 0; d < desc.head; ++d)
          x += read(q, desc.q, m, d) * read(k, desc.k, t, d);
        for (int s = 0; s < desc.num_steps; ++s) {
          const auto &step = desc.steps[s];
          const int o = step.operand;
          auto operand = [&] { return read(operands[o], desc.operands[o], m, t); };
          switch (step.kind) {
          case SK_SCALE:
            x *= step.value;
            break;
          case SK_ADD:
            x += operand();
            break;
          case SK_SUBTRACT:
            x -= operand();
            break;
          case SK_MULTIPLY:
            x *= operand();
            break;
          case SK_SELECT:
            x = (operand() != 0) == step.keep ? x : step.value;
            break;
          case SK_CAUSAL:
            x = (t <= m + step.offset) == step.keep ? x : step.value;
            break;
          default:
            x = rounded(DType(step.dtype), x);
          }
        }
        p[size_t(t)] = x;
        most = std::isnan(x) || x > most ? x : most;
      }
      for (double &x : p)
        sum += x = std::exp(x - most);
      for (int64_t e = 0; e < desc.values; ++e) {
        double y = 0;
        for (int64_t t = 0; t < desc.keys; ++t)
          y += p[size_t(t)] / sum * read(v, desc.v, t, e);
        result[size_t(at(desc.out, m, e))] = y;
        if (std::isfinite(y))
          largest = std::max(largest, std::abs(y));
      }
    }
  }
  return result;
}

inline std::vector<double> AttentionCase::run(cuda::Device &device) {
  Placed onQ(&device, q.bytes.data(), int64_t(q.bytes.size())), onK(&device, k.bytes.data(), int64_t(k.bytes.size())),
      onV(&device, v.bytes.data(), int64_t(v.bytes.size())),
      onOut(&device, out.bytes.data(), int64_t(out.bytes.size()));
  std::vector<std::unique_ptr<Placed>> placed;
  const void *read[SK_MAX_ATTENTION_OPERANDS] = {};
  for (int i = 0; i < desc.num_operands; ++i) {
    placed.push_back(std::make_unique<Placed>(&device, operands[i].bytes.data(), int64_t(operands[i].bytes.size())));
    read[i] = placed.back()->data();
  }
  EXPECT_OK(device.attention(&desc, onQ.data(), onK.data(), onV.data(), onOut.data(), read));
  onOut.fetch();
  EXPECT_OK(device.wait());
  std::vector<double> result;
  for (int64_t i = 0; i < out.elements; ++i)
    result.push_back(getElement(out.dtype, out.bytes.data(), i));
  return result;
}

inline void AttentionCase::verify(cuda::Device &device, double tf32Tolerance) {
  std::vector<double> before;
  for (int64_t i = 0; i < out.elements; ++i)
    before.push_back(getElement(out.dtype, out.bytes.data(), i));
  double largest = 0;
  const std::vector<double> want = expected(largest), got = run(device);
  const DType in = DType(desc.in_dtype);
  // Tolerance::forDType.
  const double tolerance = tf32Tolerance ? tf32Tolerance : in == DType::F32 ? 1e-5 : in == DType::F16 ? 2e-3 : 2e-2;
  // Marks what the result covers.
  std::vector<bool> written(size_t(out.elements), false);
  int64_t batches = 1;
  for (int i = 0; i < desc.num_batch; ++i)
    batches *= desc.batch[i];
  for (int64_t location = 0; location < batches; ++location) {
    int64_t offset = 0, rest = location;
    for (int i = desc.num_batch - 1; i >= 0; --i, rest /= desc.batch[i + 1])
      offset += rest % desc.batch[i] * desc.out.batch[i];
    for (int64_t m = 0; m < desc.queries; ++m)
      for (int64_t e = 0; e < desc.values; ++e)
        written[size_t(offset + m * desc.out.row + e * desc.out.column)] = true;
  }
  for (size_t i = 0; i < want.size(); ++i) {
    if (!written[i]) {
      ASSERT_EQ(got[i], before[i]) << "element " << i << " is no result";
    } else if (std::isnan(want[i])) {
      ASSERT_TRUE(std::isnan(got[i])) << "element " << i << ": " << got[i];
    } else {
      ASSERT_LE(std::abs(got[i] - want[i]), tolerance * (largest + 1e-3))
          << "element " << i << ": " << got[i] << ", expected " << want[i];
    }
  }
}

} // namespace shardkit::rt::test

#endif // SHARDKIT_RUNTIME_TEST_ATTENTIONCASE_H
