//===- Widened.cpp - Products with weights that are stored in few bits ----===//

#include "WidenedRows.h"

#include "shardkit/rt/Contraction/Contraction.h"
#include "shardkit/rt/Support/Threads.h"

#include <algorithm>
#include <cstring>
#include <vector>

namespace shardkit::rt {

namespace {

using Dim = std::remove_reference_t<decltype(sk_widened_desc::dims[0])>;

/// Elements of all operands at an index of some dims.
struct Offsets {
  int64_t x = 0, payload = 0, high = 0, scale = 0, offset = 0, c = 0;
  int32_t shift = 0, highShift = 0;

  void add(const Dim &dim, int64_t index) {
    x += index * dim.stride_x, payload += index * dim.stride_payload, high += index * dim.stride_high;
    scale += index * dim.stride_scale, offset += index * dim.stride_offset, c += index * dim.stride_c;
    shift += int32_t(index) * dim.shift, highShift += int32_t(index) * dim.high_shift;
  }
};

int64_t countOf(const std::vector<Dim> &dims) {
  int64_t count = 1;
  for (const Dim &dim : dims)
    count *= dim.size;
  return count;
}

Offsets offsetsOf(const std::vector<Dim> &dims, int64_t index) {
  Offsets found;
  for (size_t d = dims.size(); d-- > 0; index /= dims[d].size)
    found.add(dims[d], index % dims[d].size);
  return found;
}

class RowsPlan : public WidenedPlan {
public:
  static Expected<std::unique_ptr<WidenedPlan>> make(const sk_widened_desc &desc, WidenedRowFn sumRow);

  void run(const Operands &operands) override {
    for (int64_t first = 0; first < int64_t(vectors_.size()); first += maxVectors)
      runVectors(operands, first, int32_t(std::min<int64_t>(maxVectors, int64_t(vectors_.size()) - first)));
  }

private:
  static constexpr int64_t maxVectors = 4, worthThreads = 1 << 17, minElements = 1 << 15, alignment = 64;

  /// Some vectors times all rows.
  void runVectors(const Operands &operands, int64_t first, int32_t count) {
    const int64_t size = int64_t(runs_.size()) * length_;
    packed_.resize(size_t(count * size) + alignment / sizeof(float));
    const auto start = reinterpret_cast<uintptr_t>(packed_.data());
    float *to = packed_.data() + (alignment - start % alignment) % alignment / sizeof(float);
    packedX_ = to;
    for (int32_t v = 0; v < count; ++v)
      for (int64_t at : runStarts_) {
        const float *from = static_cast<const float *>(operands.x) + vectors_[size_t(first + v)].x + at;
        for (int64_t i = 0; i < length_; ++i)
          *to++ = from[i * xStride_];
      }
    const int64_t rows = countOf(rows_);
    auto some = [&](int64_t begin, int64_t end) {
      for (int64_t r = begin; r < end; ++r)
        runRow(operands, first, count, offsetsOf(rows_, r));
    };
    if (rows * size < worthThreads || libraryThreads() == 1)
      return some(0, rows);
    const int64_t step = std::max<int64_t>(1, minElements / std::max<int64_t>(1, size));
    onLibraryThreads((rows + step - 1) / step,
                     [&](int64_t begin, int64_t end) { some(begin * step, std::min(rows, end * step)); });
  }

  void runRow(const Operands &operands, int64_t first, int32_t count, const Offsets &at) {
    auto bytes = [](const void *from, int64_t offset) {
      return from ? static_cast<const uint8_t *>(from) + offset : nullptr;
    };
    auto floats = [](const void *from, int64_t offset) {
      return from ? static_cast<const float *>(from) + offset : nullptr;
    };
    WidenedRow row{number_,
                   count,
                   int64_t(runs_.size()),
                   length_,
                   runs_.data(),
                   table_,
                   packedX_,
                   bytes(operands.payload, at.payload),
                   bytes(operands.high, at.high),
                   floats(operands.scale, at.scale),
                   floats(operands.offset, at.offset)};
    float sums[maxVectors];
    sumRow_(row, sums);
    for (int32_t v = 0; v < count; ++v) {
      float &to = static_cast<float *>(operands.c)[at.c + vectors_[size_t(first + v)].c];
      to = accumulate_ ? to + sums[v] : sums[v];
    }
  }

  WidenedRowFn sumRow_ = nullptr;
  int32_t number_ = 0;
  bool accumulate_ = false;
  float table_[16] = {};
  int64_t length_ = 1, xStride_ = 1;
  std::vector<Dim> rows_;
  std::vector<Offsets> vectors_;
  std::vector<WidenedRun> runs_;
  std::vector<int64_t> runStarts_; ///< In X.
  std::vector<float> packed_;
  const float *packedX_ = nullptr; ///< Vectors in the order of runs, at a line of the cache.
};

/// Whether a dim only lengthens runs of `length` numbers.
bool lengthens(const Dim &dim, const Dim &run, int64_t length) {
  return dim.stride_payload == length && dim.stride_high == length * run.stride_high && dim.stride_scale == 0 &&
         dim.stride_offset == 0 && dim.shift == 0 && dim.high_shift == 0 && dim.stride_x == length * run.stride_x;
}

Expected<std::unique_ptr<WidenedPlan>> RowsPlan::make(const sk_widened_desc &desc, WidenedRowFn sumRow) {
  if (desc.abi != SK_ABI_VERSION)
    return invalid("product with a weight of few bits of ABI version " + std::to_string(desc.abi) + ", expected " +
                   std::to_string(SK_ABI_VERSION));
  if (desc.number < SK_NUMBER_TABLE || desc.number > SK_NUMBER_I6 || desc.num_dims < 0 ||
      desc.num_dims > SK_MAX_WIDENED_DIMS)
    return invalid("malformed product with a weight of few bits");
  auto plan = std::make_unique<RowsPlan>();
  plan->sumRow_ = sumRow;
  plan->number_ = desc.number;
  plan->accumulate_ = desc.accumulate != 0;
  std::copy_n(desc.table, 16, plan->table_);
  std::vector<Dim> vectors, sums;
  for (int32_t i = 0; i < desc.num_dims; ++i) {
    const Dim &dim = desc.dims[i];
    if (dim.size < 0 || dim.role < SK_M || dim.role > SK_K)
      return invalid("product with a weight of few bits with a negative size or an unknown role");
    (dim.role == SK_M ? vectors : dim.role == SK_N ? plan->rows_ : sums).push_back(dim);
  }
  const int64_t highStride = desc.number == SK_NUMBER_I6 ? 1 : 0;
  if (!sums.empty()) {
    Dim run = sums.back();
    sums.pop_back();
    if (run.stride_payload != 1 || run.stride_scale != 0 || run.stride_offset != 0 || run.shift != 0 ||
        run.high_shift != 0 || run.stride_high != highStride)
      return invalid("product with a weight of few bits whose numbers do not follow each other");
    plan->length_ = run.size;
    plan->xStride_ = run.stride_x;
    while (!sums.empty() && lengthens(sums.back(), run, plan->length_)) {
      plan->length_ *= sums.back().size;
      sums.pop_back();
    }
  }
  const int32_t maxShift = desc.number == SK_NUMBER_TABLE || desc.number == SK_NUMBER_I6 ? 4 : 0;
  for (int64_t r = 0; r < countOf(sums); ++r) {
    Offsets at = offsetsOf(sums, r);
    at.shift += desc.shift;
    at.highShift += desc.high_shift;
    if (at.shift < 0 || at.shift > maxShift || at.highShift < 0 || at.highShift > 6 * highStride)
      return invalid("product with a weight of few bits that are not in one byte");
    plan->runs_.push_back({at.payload, at.high, at.scale, at.offset, at.shift, at.highShift});
    plan->runStarts_.push_back(at.x);
  }
  for (int64_t v = 0; v < countOf(vectors); ++v)
    plan->vectors_.push_back(offsetsOf(vectors, v));
  return Expected<std::unique_ptr<WidenedPlan>>(std::move(plan));
}

} // namespace

WidenedIsa bestWidenedIsa() {
#ifdef SHARDKIT_X86_KERNELS
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("avx2"))
    return WidenedIsa::Avx512;
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
    return WidenedIsa::Avx2;
#endif
  return WidenedIsa::Portable;
}

Expected<std::unique_ptr<WidenedPlan>> planWidened(const sk_widened_desc &desc, WidenedIsa isa) {
#ifdef SHARDKIT_X86_KERNELS
  if (isa == WidenedIsa::Avx512)
    return RowsPlan::make(desc, sumWidenedRowAvx512);
  if (isa == WidenedIsa::Avx2)
    return RowsPlan::make(desc, sumWidenedRowAvx2);
#endif
  (void)isa;
  return RowsPlan::make(desc, sumWidenedRowPortable);
}

Status ContractionCache::runWidened(const sk_widened_desc *desc, const WidenedPlan::Operands &operands) {
  auto found = widened_.find(desc);
  if (found == widened_.end() || std::memcmp(&found->second.desc, desc, sizeof *desc) != 0) {
    if (widened_.size() >= maxPlans)
      widened_.clear();
    SK_ASSIGN_OR_RETURN(std::unique_ptr<WidenedPlan> plan, planWidened(*desc));
    WidenedEntry &entry = widened_[desc];
    std::memcpy(&entry.desc, desc, sizeof *desc);
    entry.plan = std::move(plan);
    entry.plan->run(operands);
    return {};
  }
  found->second.plan->run(operands);
  return {};
}

} // namespace shardkit::rt
