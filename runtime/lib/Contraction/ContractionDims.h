//===- ContractionDims.h - A contraction in normal form ---------*- C++ -*-===//

#ifndef SHARDKIT_RT_CONTRACTIONDIMS_H
#define SHARDKIT_RT_CONTRACTIONDIMS_H

#include "shardkit/rt/Contraction/Contraction.h"
#include "shardkit/rt/Support/DType.h"

#include <array>
#include <vector>

namespace shardkit::rt {

struct ContractionDim {
  int64_t size, a, b, c;
  std::array<int64_t, SK_MAX_ADDED> added = {};
};
using ContractionDims = std::vector<ContractionDim>;

inline int64_t product(const ContractionDims &dims) {
  int64_t size = 1;
  for (const ContractionDim &dim : dims)
    size *= dim.size;
  return size;
}

/// No unit dims, no two dims of one role that could be one.
struct Contraction {
  DType in, out;
  bool accumulate;
  ContractionDims batch, m, n, k;

  int64_t work() const { return product(batch) * product(m) * product(n) * product(k); }
};

/// `added`: strides of operands that are added, as in sk_fused_contraction_desc.
Expected<Contraction> normalize(const sk_contraction_desc &desc,
                                const int64_t (*added)[SK_MAX_CONTRACTION_DIMS] = nullptr);

/// Calls fn(offsetA, offsetB, offsetC, first) for every index of `dims`, where
/// `first` says that all indices of dims with c stride 0 are 0.
template <typename Fn> void forEachIndex(const ContractionDims &dims, Fn &&fn) {
  std::vector<int64_t> index(dims.size(), 0);
  int64_t a = 0, b = 0, c = 0, reducing = 0;
  for (const ContractionDim &dim : dims)
    if (dim.size == 0)
      return;
  while (true) {
    fn(a, b, c, reducing == 0);
    size_t k = dims.size();
    while (true) {
      if (k == 0)
        return;
      --k;
      const ContractionDim &dim = dims[k];
      a += dim.a, b += dim.b, c += dim.c;
      reducing += dim.c == 0;
      if (++index[k] < dim.size)
        break;
      a -= dim.size * dim.a, b -= dim.size * dim.b, c -= dim.size * dim.c;
      reducing -= dim.c == 0 ? dim.size : 0;
      index[k] = 0;
    }
  }
}

/// The library's matrix product on plain pointers; see OneDnn.cpp.
struct MatrixOperand {
  int64_t row, column; ///< Strides.
};
struct MatrixProduct {
  DType in, out;
  bool accumulate;
  int64_t m, n, k;
  MatrixOperand a, b, c;
  ContractionDims batch; ///< At most two.
  std::array<MatrixOperand, SK_MAX_ADDED> added = {};
};
/// A contraction as matrix products in loops.
struct MatrixChoice {
  MatrixProduct product; ///< Rows of C are contiguous.
  ContractionDims loops;
  bool swapped = false; ///< A and B change places.
  double score = -1;    ///< Less than 0: it is none.
};
/// Picks at most one dim per role for the matrix, and `maxBatch` for the batch; the
/// others become loops.
MatrixChoice chooseMatrix(const Contraction &contraction, size_t maxBatch);
class LibraryProduct {
public:
  virtual ~LibraryProduct() = default;
  virtual Status run(const void *a, const void *b, void *c) = 0;
};
Expected<std::unique_ptr<LibraryProduct>> makeLibraryProduct(const MatrixProduct &product);
/// Element types that the library takes on this machine.
bool libraryTakes(DType in, DType out);

/// Any contraction, by copying the operands to contiguous buffers.
Expected<std::unique_ptr<ContractionPlan>> planPacked(const Contraction &contraction);

/// `library`, a plan for operands of bf16, where no product or sum can be subnormal, else one that keeps subnormals.
std::unique_ptr<ContractionPlan> keepSubnormals(std::unique_ptr<ContractionPlan> library,
                                                const Contraction &contraction);

/// Matrix times vector, dot products, tiny products of f32 and f64 in place;
/// null where it does not fit.
std::unique_ptr<ContractionPlan> planDirect(const Contraction &contraction);

} // namespace shardkit::rt

#endif // SHARDKIT_RT_CONTRACTIONDIMS_H
