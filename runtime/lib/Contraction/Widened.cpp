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
  int64_t x = 0, payload = 0, high = 0, scale = 0, offset = 0, inner = 0, c = 0;
  int32_t shift = 0, highShift = 0, innerCase = 0;

  void add(const Dim &dim, int64_t index) {
    x += index * dim.stride_x, payload += index * dim.stride_payload, high += index * dim.stride_high;
    scale += index * dim.stride_scale, offset += index * dim.stride_offset, c += index * dim.stride_c;
    inner += index * dim.stride_inner, innerCase += int32_t(index) * dim.inner_case;
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

struct Inner : WidenedInner {
  std::vector<Number> ofRuns;
  std::vector<Group> ofGroups;
};

/// Finds out whether groups of eight runs read their numbers alike.
void findGroups(Inner &inner) {
  const auto &numbers = inner.ofRuns;
  inner.numbers = numbers.data();
  inner.numRuns = int64_t(numbers.size());
  if (numbers.size() % 8 != 0)
    return;
  std::vector<WidenedInner::Group> groups;
  for (size_t r = 0; r < numbers.size(); r += 8) {
    int64_t begin = numbers[r].at[0];
    for (size_t l = 0; l < 8; ++l)
      for (int i = 0; i < 2; ++i)
        begin = std::min(begin, numbers[r + l].mask[i] ? numbers[r + l].at[i] : begin);
    groups.push_back({begin, numbers[r].outer});
    inner.end = std::max(inner.end, begin + 16);
    for (size_t l = 0; l < 8; ++l) {
      const WidenedInner::Number &number = numbers[r + l], &first = numbers[l];
      if (number.outer != groups.back().outer)
        return;
      for (int i = 0; i < 2; ++i) {
        const int64_t index = number.mask[i] ? number.at[i] - begin : 0;
        if (index >= 16 || number.shift[i] != first.shift[i] || number.mask[i] != first.mask[i] ||
            (r > 0 && index != inner.index[i][l]))
          return;
        inner.index[i][l] = uint8_t(index);
        inner.shift[i][l] = number.shift[i];
        inner.mask[i][l] = number.mask[i];
      }
    }
  }
  inner.ofGroups = std::move(groups);
  inner.groups = inner.ofGroups.data();
  inner.numGroups = int64_t(inner.ofGroups.size());
}

WidenedPairs findPairs(const std::vector<WidenedRun> &runs, int64_t length) {
  auto isEach = [&](auto &&matches) {
    for (size_t r = 0; r + 2 <= runs.size(); r += 2)
      if (!matches(runs[r], runs[r + 1]))
        return false;
    return true;
  };
  if (isEach([&](const WidenedRun &a, const WidenedRun &b) {
        return b.payload == a.payload + length && b.high == a.high + length && b.shift == a.shift &&
               b.highShift == a.highShift;
      }))
    return WidenedPairs::Next;
  for (int32_t first : {0, 4})
    if (isEach([&](const WidenedRun &a, const WidenedRun &b) {
          return b.payload == a.payload && a.shift == first && b.shift == 4 - first;
        }))
      return first == 0 ? WidenedPairs::LowHigh : WidenedPairs::HighLow;
  return WidenedPairs::None;
}

class RowsPlan : public WidenedPlan {
public:
  static Expected<std::unique_ptr<WidenedPlan>> make(const sk_widened_desc &desc, const WidenedRowCode &code);

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
      std::vector<float> scales[2];
      for (int i = 0; i < 2; ++i)
        scales[i].resize(inner_[i].ofRuns.size());
      for (int64_t r = begin; r < end; ++r)
        runRow(operands, first, count, offsetsOf(rows_, r), scales);
    };
    if (rows * size < worthThreads || libraryThreads() == 1)
      return some(0, rows);
    const int64_t step = std::max<int64_t>(1, minElements / std::max<int64_t>(1, size));
    onLibraryThreads((rows + step - 1) / step,
                     [&](int64_t begin, int64_t end) { some(begin * step, std::min(rows, end * step)); });
  }

  /// `scales`: where those of the row, and the offsets, are computed, if they are.
  void runRow(const Operands &operands, int64_t first, int32_t count, const Offsets &at, std::vector<float> *scales) {
    auto bytes = [](const void *from, int64_t offset) {
      return from ? static_cast<const uint8_t *>(from) + offset : nullptr;
    };
    auto floats = [](const void *from, int64_t offset) {
      return from ? static_cast<const float *>(from) + offset : nullptr;
    };
    WidenedRow row{number_,
                   count,
                   pairs_,
                   int64_t(runs_.size()),
                   length_,
                   runs_.data(),
                   table_,
                   packedX_,
                   bytes(operands.payload, at.payload),
                   bytes(operands.high, at.high),
                   floats(operands.scale, at.scale),
                   floats(operands.offset, at.offset)};
    for (int i = 0; i < 2; ++i)
      if (!scales[i].empty()) {
        const float *&of = i == 0 ? row.scale : row.offset;
        code_->readInner(inner_[i], bytes(operands.inner, at.inner), at.inner + inner_[i].end <= innerEnd_, of,
                         scales[i].data());
        of = scales[i].data();
      }
    float sums[maxVectors];
    code_->sum(row, sums);
    for (int32_t v = 0; v < count; ++v) {
      float &to = static_cast<float *>(operands.c)[at.c + vectors_[size_t(first + v)].c];
      to = accumulate_ ? to + sums[v] : sums[v];
    }
  }

  Status addInner(const sk_widened_desc &desc, const Offsets &at);

  const WidenedRowCode *code_ = nullptr;
  int32_t number_ = 0;
  bool accumulate_ = false;
  WidenedPairs pairs_ = WidenedPairs::None;
  float table_[16] = {};
  int64_t length_ = 1, xStride_ = 1;
  std::vector<Dim> rows_;
  std::vector<Offsets> vectors_;
  std::vector<WidenedRun> runs_;
  std::vector<int64_t> runStarts_; ///< In X.
  Inner inner_[2];                 ///< Of scales and of offsets; without numbers where these are stored.
  int64_t innerEnd_ = 0;           ///< Bytes of the operand that are known to be there.
  std::vector<float> packed_;
  const float *packedX_ = nullptr; ///< Vectors in the order of runs, at a line of the cache.
};

/// Whether a dim only lengthens runs of `length` numbers.
bool lengthens(const Dim &dim, const Dim &run, int64_t length) {
  return dim.stride_payload == length && dim.stride_high == length * run.stride_high && dim.stride_scale == 0 &&
         dim.stride_offset == 0 && dim.stride_inner == 0 && dim.inner_case == 0 && dim.shift == 0 &&
         dim.high_shift == 0 && dim.stride_x == length * run.stride_x;
}

/// The numbers of the run that was added last, whose scales are then computed.
Status RowsPlan::addInner(const sk_widened_desc &desc, const Offsets &at) {
  if (at.innerCase < 0 || at.innerCase >= desc.num_inner_cases)
    return invalid("product with a weight of few bits with a scale of an unknown case");
  WidenedRun &run = runs_.back();
  for (int i = 0; i < 2; ++i) {
    if (!(i == 0 ? desc.has_inner_scale : desc.has_inner_offset))
      continue;
    const sk_inner_number &from = (i == 0 ? desc.inner_scale : desc.inner_offset)[at.innerCase];
    WidenedInner::Number number{{}, i == 0 ? at.scale : at.offset, {}, {}};
    for (int k = 0; k < 2; ++k) {
      if (from.at[k] < 0 || from.shift[k] < 0 || from.shift[k] > 7 || from.mask[k] < 0 || from.mask[k] > 255)
        return invalid("product with a weight of few bits with a scale of bits that are not in one byte");
      number.at[k] = at.inner + from.at[k];
      number.shift[k] = uint8_t(from.shift[k]);
      number.mask[k] = uint8_t(from.mask[k]);
      innerEnd_ = std::max(innerEnd_, number.at[k] + 1);
    }
    const int32_t sign = from.is_signed ? 128 : 0;
    if (!inner_[i].ofRuns.empty() && inner_[i].sign != sign)
      return invalid("product with a weight of few bits with scales of which some have a sign");
    inner_[i].sign = sign;
    (i == 0 ? run.scale : run.offset) = int64_t(inner_[i].ofRuns.size());
    inner_[i].ofRuns.push_back(number);
  }
  return {};
}

Expected<std::unique_ptr<WidenedPlan>> RowsPlan::make(const sk_widened_desc &desc, const WidenedRowCode &code) {
  if (desc.abi != SK_ABI_VERSION)
    return invalid("product with a weight of few bits of ABI version " + std::to_string(desc.abi) + ", expected " +
                   std::to_string(SK_ABI_VERSION));
  if (desc.number < SK_NUMBER_TABLE || desc.number > SK_NUMBER_I6 || desc.num_dims < 0 ||
      desc.num_dims > SK_MAX_WIDENED_DIMS || desc.num_inner_cases < 0 || desc.num_inner_cases > SK_MAX_INNER_CASES)
    return invalid("malformed product with a weight of few bits");
  auto plan = std::make_unique<RowsPlan>();
  plan->code_ = &code;
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
    if (run.stride_payload != 1 || run.stride_scale != 0 || run.stride_offset != 0 || run.stride_inner != 0 ||
        run.inner_case != 0 || run.shift != 0 || run.high_shift != 0 || run.stride_high != highStride)
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
    if (desc.num_inner_cases > 0)
      SK_RETURN_IF_ERROR(plan->addInner(desc, at));
  }
  plan->pairs_ = findPairs(plan->runs_, plan->length_);
  for (Inner &inner : plan->inner_)
    findGroups(inner);
  for (const Dim &dim : plan->rows_)
    plan->innerEnd_ += (dim.size - 1) * dim.stride_inner;
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
    return RowsPlan::make(desc, avx512WidenedRows);
  if (isa == WidenedIsa::Avx2)
    return RowsPlan::make(desc, avx2WidenedRows);
#endif
  (void)isa;
  return RowsPlan::make(desc, portableWidenedRows);
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
