//===- OneDnn.cpp - Matrix products by oneDNN -----------------------------===//

#include "ContractionDims.h"

#include <oneapi/dnnl/dnnl.h>
#include <oneapi/dnnl/dnnl.hpp>

#include <array>
#include <bit>
#include <unordered_map>

namespace shardkit::rt {

namespace {

const dnnl::engine &cpuEngine() {
  static const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  return engine;
}

dnnl::memory::data_type dataType(DType dtype) {
  return dtype == DType::BF16 ? dnnl::memory::data_type::bf16 : dnnl::memory::data_type::f32;
}

class OneDnnProduct : public LibraryProduct {
public:
  OneDnnProduct(const dnnl::matmul::primitive_desc &desc)
      : primitive_(desc), stream_(cpuEngine()), a_(desc.src_desc(), cpuEngine(), DNNL_MEMORY_NONE),
        b_(desc.weights_desc(), cpuEngine(), DNNL_MEMORY_NONE), c_(desc.dst_desc(), cpuEngine(), DNNL_MEMORY_NONE),
        arguments_{{DNNL_ARG_SRC, a_}, {DNNL_ARG_WEIGHTS, b_}, {DNNL_ARG_DST, c_}} {}

  Status run(const void *a, const void *b, void *c) override {
    try {
      a_.set_data_handle(const_cast<void *>(a));
      b_.set_data_handle(const_cast<void *>(b));
      c_.set_data_handle(c);
      primitive_.execute(stream_, arguments_);
      stream_.wait();
      return {};
    } catch (const dnnl::error &error) {
      return internalError(std::string("matrix product: ") + error.what());
    }
  }

private:
  dnnl::matmul primitive_;
  dnnl::stream stream_;
  dnnl::memory a_, b_, c_;
  std::unordered_map<int, dnnl::memory> arguments_;
};

/// A product by the function that copies its operands to the order in which it reads them.
class OneDnnGemm : public LibraryProduct {
public:
  explicit OneDnnGemm(const MatrixProduct &product) : product_(product) {}

  Status run(const void *a, const void *b, void *c) override {
    const MatrixProduct &p = product_;
    const dnnl_status_t status =
        dnnl_sgemm(transposed(p.a), 'N', p.m, p.n, p.k, 1, static_cast<const float *>(a), distance(p.a),
                   static_cast<const float *>(b), p.b.row, float(p.accumulate), static_cast<float *>(c), p.c.row);
    if (status == dnnl_success)
      return {};
    return internalError("matrix product: oneDNN's gemm returned status " + std::to_string(int(status)));
  }

  /// The matmul primitive reads B where it is, unless its rows have a power of two elements: those it copies. Where B
  /// is larger than a core's cache each of its rows is then a wait for memory. To copy them is worth it for many rows
  /// of A, or for very many bytes.
  static bool isFaster(const MatrixProduct &p) {
    constexpr int64_t cacheBytes = 4 << 20, fewRows = 8, manyRows = 64, rowElements = 256;
    const int64_t bytes = p.k * p.n * 4;
    return p.in == DType::F32 && p.out == DType::F32 && p.batch.empty() && p.m >= fewRows && p.n > rowElements &&
           !std::has_single_bit(uint64_t(p.n)) && bytes > cacheBytes * manyRows / std::min(p.m, manyRows) &&
           p.b.column == 1 && p.b.row >= p.n && p.c.column == 1 && p.c.row >= p.n &&
           ((p.a.column == 1 && p.a.row >= p.k) || (p.a.row == 1 && p.a.column >= p.m));
  }

private:
  static char transposed(const MatrixOperand &operand) { return operand.column == 1 ? 'N' : 'T'; }
  static int64_t distance(const MatrixOperand &operand) { return operand.column == 1 ? operand.row : operand.column; }

  const MatrixProduct product_;
};

} // namespace

bool libraryTakes(DType in, DType out) {
  if (in == DType::F32)
    return out == DType::F32;
  return in == DType::BF16 && (out == DType::BF16 || out == DType::F32);
}

Expected<std::unique_ptr<LibraryProduct>> makeLibraryProduct(const MatrixProduct &product) {
  if (OneDnnGemm::isFaster(product))
    return Expected<std::unique_ptr<LibraryProduct>>(std::make_unique<OneDnnGemm>(product));
  using Dims = dnnl::memory::dims;
  auto desc = [&](DType dtype, int64_t rows, int64_t columns, const MatrixOperand &operand,
                  int64_t ContractionDim::*batchStride) {
    Dims sizes, strides;
    for (const ContractionDim &dim : product.batch) {
      sizes.push_back(dim.size);
      strides.push_back(dim.*batchStride);
    }
    sizes.insert(sizes.end(), {rows, columns});
    strides.insert(strides.end(), {operand.row, operand.column});
    return dnnl::memory::desc(sizes, dataType(dtype), strides);
  };
  try {
    dnnl::primitive_attr attributes;
    if (product.accumulate) {
      dnnl::post_ops ops;
      ops.append_sum(1.0f);
      attributes.set_post_ops(ops);
    }
    dnnl::matmul::desc operation(desc(product.in, product.m, product.k, product.a, &ContractionDim::a),
                                 desc(product.in, product.k, product.n, product.b, &ContractionDim::b),
                                 desc(product.out, product.m, product.n, product.c, &ContractionDim::c));
    dnnl::matmul::primitive_desc primitive(operation, attributes, cpuEngine());
    return Expected<std::unique_ptr<LibraryProduct>>(std::make_unique<OneDnnProduct>(primitive));
  } catch (const dnnl::error &error) {
    return internalError(std::string("matrix product: ") + error.what());
  }
}

} // namespace shardkit::rt
