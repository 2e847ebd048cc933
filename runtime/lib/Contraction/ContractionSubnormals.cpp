//===- ContractionSubnormals.cpp - Products of small numbers of bf16 ------===//

#include "Clones.h"
#include "ContractionDims.h"

#include <algorithm>

namespace shardkit::rt {

namespace {

/// The bits of the smallest of `size` adjacent elements of bf16 that is not 0, without its sign, less 1; 65535 if all
/// are 0.
SK_CLONES uint16_t getSmallest(const uint16_t *data, int64_t size) {
  uint16_t smallest = 0xffff;
  for (int64_t i = 0; i < size; ++i)
    smallest = std::min(smallest, uint16_t((data[i] & 0x7fff) - 1));
  return smallest;
}

/// The elements of one operand of a contraction, in runs that are contiguous where the layout allows.
class OperandScan {
public:
  OperandScan(const Contraction &contraction, bool isA) {
    const int64_t ContractionDim::*stride = isA ? &ContractionDim::a : &ContractionDim::b;
    for (const ContractionDims *dims : {&contraction.batch, isA ? &contraction.m : &contraction.n, &contraction.k})
      for (const ContractionDim &dim : *dims)
        if (dim.*stride != 0)
          dims_.push_back({dim.size, dim.*stride, 0, 0});
    std::sort(dims_.begin(), dims_.end(), [](const ContractionDim &x, const ContractionDim &y) { return x.a > y.a; });
    for (size_t i = dims_.size(); i-- > 1;)
      if (dims_[i - 1].a == dims_[i].a * dims_[i].size) {
        dims_[i - 1] = {dims_[i - 1].size * dims_[i].size, dims_[i].a, 0, 0};
        dims_.erase(dims_.begin() + long(i));
      }
    if (!dims_.empty()) {
      size_ = dims_.back().size;
      step_ = dims_.back().a;
      dims_.pop_back();
    }
  }

  /// The exponent of the smallest element that is not 0: 0 for a subnormal one, 127 for 1.
  int64_t getExponent(const void *data) const {
    uint16_t smallest = 0xffff;
    forEachIndex(dims_, [&](int64_t offset, int64_t, int64_t, bool) {
      const uint16_t *at = static_cast<const uint16_t *>(data) + offset;
      if (step_ == 1)
        smallest = std::min(smallest, getSmallest(at, size_));
      else
        for (int64_t i = 0; i < size_; ++i)
          smallest = std::min(smallest, getSmallest(at + i * step_, 1));
    });
    return (int64_t(smallest) + 1) >> 7;
  }

private:
  ContractionDims dims_;        ///< The stride is `a`.
  int64_t size_ = 1, step_ = 1; ///< Of the innermost dim.
};

/// Products of bf16 by the library, whose instructions for bf16 read and write subnormals as zeros. Where some may
/// occur the product is one of f32.
class SubnormalPlan : public ContractionPlan {
public:
  SubnormalPlan(std::unique_ptr<ContractionPlan> library, const Contraction &contraction)
      : library_(std::move(library)), contraction_(contraction), a_(contraction, /*isA=*/true),
        b_(contraction, /*isA=*/false) {}

  Status run(const void *a, const void *b, void *c) override {
    // Products are multiples of the product of the last bits of the smallest elements, each 7 bits below the first one.
    // So are sums.
    constexpr int64_t bias = 127, smallestNormal = -126, lastBits = 14;
    const int64_t ofA = a_.getExponent(a), ofB = b_.getExponent(b);
    if (ofA > 0 && ofB > 0 && (ofA - bias) + (ofB - bias) - lastBits >= smallestNormal)
      return library_->run(a, b, c);
    if (!wide_) {
      SK_ASSIGN_OR_RETURN(wide_, planPacked(contraction_));
    }
    return wide_->run(a, b, c);
  }
  const char *strategy() const override { return library_->strategy(); }

private:
  std::unique_ptr<ContractionPlan> library_, wide_;
  Contraction contraction_;
  OperandScan a_, b_;
};

} // namespace

std::unique_ptr<ContractionPlan> keepSubnormals(std::unique_ptr<ContractionPlan> library,
                                                const Contraction &contraction) {
  return std::make_unique<SubnormalPlan>(std::move(library), contraction);
}

} // namespace shardkit::rt
