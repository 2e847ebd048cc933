//===- Contraction.h - Strided contractions ---------------------*- C++ -*-===//
//
// Maps sk_contraction_desc (abi.h) to oneDNN matrix products without copies where
// the layout allows: unit dims are dropped, dims of one role that are contiguous
// in every operand are joined, transposed operands become strides. What oneDNN
// cannot express is looped over or packed.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDKIT_RT_CONTRACTION_CONTRACTION_H
#define SHARDKIT_RT_CONTRACTION_CONTRACTION_H

#include "shardkit/rt/Support/Status.h"
#include "shardkit/rt/abi.h"

#include <memory>
#include <string>
#include <unordered_map>

namespace shardkit::rt {

/// One contraction, ready to run; not thread safe.
class ContractionPlan {
public:
  virtual ~ContractionPlan() = default;
  virtual Status run(const void *a, const void *b, void *c) = 0;
  /// "onednn", "onednn-loop", "packed", "direct", "zero": for tests and traces.
  virtual const char *strategy() const = 0;
};

Expected<std::unique_ptr<ContractionPlan>> planContraction(const sk_contraction_desc &desc);

/// A product with a weight of few bits, which is read as it is stored (abi.h); not thread safe.
class WidenedPlan {
public:
  struct Operands {
    const void *x, *payload, *high, *scale, *offset, *inner;
    void *c;
  };
  virtual ~WidenedPlan() = default;
  virtual void run(const Operands &operands) = 0;
};

/// Instructions that such a product may use. All sum in the same order.
enum class WidenedIsa { Portable, Avx2, Avx512 };
/// The best of this processor.
WidenedIsa bestWidenedIsa();
Expected<std::unique_ptr<WidenedPlan>> planWidened(const sk_widened_desc &desc, WidenedIsa isa = bestWidenedIsa());

/// The plans of one thread.
class ContractionCache {
public:
  /// Plans are found by the address of the descriptor.
  Status run(const sk_contraction_desc *desc, const void *a, const void *b, void *c);
  /// Plans are found by the descriptor itself.
  Status runSized(const sk_contraction_desc &desc, const void *a, const void *b, void *c);
  /// Plans are found by the address of the descriptor.
  Status runWidened(const sk_widened_desc *desc, const WidenedPlan::Operands &operands);

private:
  static constexpr size_t maxPlans = 4096;
  struct Entry {
    sk_contraction_desc desc; ///< Guards against an address that is used again.
    std::unique_ptr<ContractionPlan> plan;
  };
  std::unordered_map<const sk_contraction_desc *, Entry> entries_;
  std::unordered_map<std::string, std::unique_ptr<ContractionPlan>> sized_; ///< By the bytes of the descriptor.
  struct WidenedEntry {
    sk_widened_desc desc;
    std::unique_ptr<WidenedPlan> plan;
  };
  std::unordered_map<const sk_widened_desc *, WidenedEntry> widened_;
};

} // namespace shardkit::rt

#endif // SHARDKIT_RT_CONTRACTION_CONTRACTION_H
