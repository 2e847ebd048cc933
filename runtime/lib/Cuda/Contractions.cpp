//===- Contractions.cpp - sk_contraction on a GPU ----------------------------===//
//
// Row-major C = A B is column-major C' = B' A', which is how cuBLASLt is asked. What its
// layouts cannot say, or it has no algorithm for, goes to a plain kernel.
//
//===----------------------------------------------------------------------===//

#include "Contraction/ContractionDims.h"
#include "DeviceImpl.h"
#include "shardkit/rt/Cuda/DeviceUses.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

namespace shardkit::rt::cuda {

/// One call of cuBLASLt.
struct Contractions::Product {
  explicit Product(const CublasLtApi &api) : api(api) {}
  ~Product() {
    for (cublasLtMatrixLayout_t layout : {first, second, result, matrix})
      if (layout)
        api.cublasLtMatrixLayoutDestroy(layout);
    if (desc)
      api.cublasLtMatmulDescDestroy(desc);
  }
  const CublasLtApi &api;
  cublasLtHandle_t handle = nullptr;
  cublasLtMatmulDesc_t desc = nullptr;
  cublasLtMatrixLayout_t first = nullptr, second = nullptr, result = nullptr, matrix = nullptr;
  cublasLtMatmulAlgo_t algorithm = {};
  std::vector<cublasLtMatmulAlgo_t> others; ///< To compare with, until it is tuned.
  /// Which of what is added the library adds: a vector, a matrix; -1 is none.
  int biasAt = -1, matrixAt = -1;
  bool isDouble = false;
};

struct Contractions::Plan {
  sk_fused_contraction_desc desc = {}; ///< Guards against an address that is used again.
  bool isFused = false;
  std::unique_ptr<Product> product;
  bool accumulate = false, swapped = false;
  ContractionDims loops;
  /// Of what is added, in bytes, for each index of the loops.
  std::vector<std::array<int64_t, SK_MAX_ADDED>> offsets;
  int64_t inSize = 0, outSize = 0;
  /// Without a product: for the plain kernel.
  std::string kernel;
  std::string sum;
  int64_t elements = 0;
  std::string finish; ///< What is left to do behind the sums; empty if nothing.
  std::string reason; ///< Why the library does not do all of it.
};

/// What a product is made for.
struct Contractions::Setting {
  const Contraction &contraction;
  const MatrixChoice &choice;
  int in, out, compute, scale;                    ///< The library's types.
  std::array<uint32_t, 3 + SK_MAX_ADDED> aligned; ///< Of every call.
  bool isFused;
};

Contractions::Contractions(Device::Impl &device) : device_(device) {}

Contractions::~Contractions() {
  if (workspace_)
    device_.driver.cuMemFree(workspace_);
}

namespace {

/// The types that cuBLASLt computes `in` x `in` -> `out` with.
struct Types {
  int in, out, compute, scale;
};
std::optional<Types> libraryTypes(DType in, DType out, bool tf32) {
  auto half = [](DType dtype) { return dtype == DType::F16 ? CUDA_R_16F : CUDA_R_16BF; };
  if (in == DType::F64 && out == DType::F64)
    return Types{CUDA_R_64F, CUDA_R_64F, CUBLAS_COMPUTE_64F, CUDA_R_64F};
  if (in == DType::F32 && out == DType::F32)
    return Types{CUDA_R_32F, CUDA_R_32F, tf32 ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F, CUDA_R_32F};
  if ((in == DType::F16 || in == DType::BF16) && (out == in || out == DType::F32))
    return Types{half(in), out == DType::F32 ? CUDA_R_32F : half(in), CUBLAS_COMPUTE_32F, CUDA_R_32F};
  return std::nullopt;
}

uint32_t alignmentOf(const void *pointer) {
  return 1u << std::countr_zero(static_cast<uint32_t>(address(pointer) & 255) | 256u);
}

/// The plain kernel's view of a contraction.
Status describeSum(const Contraction &contraction, std::string &kernel, std::string &bytes, int64_t &elements) {
  sk_sum sum;
  std::memset(&sum, 0, sizeof sum);
  sum.in_dtype = int32_t(contraction.in);
  sum.out_dtype = int32_t(contraction.out);
  sum.accumulate = contraction.accumulate;
  elements = 1;
  for (const ContractionDims *dims : {&contraction.batch, &contraction.m, &contraction.n})
    for (const ContractionDim &dim : *dims) {
      elements *= dim.size;
      sum.outer[sum.num_outer++] = {dim.size, dim.a, dim.b, dim.c};
    }
  sum.elements = elements;
  sum.sum = product(contraction.k);
  for (const ContractionDim &dim : contraction.k)
    sum.inner[sum.num_sum++] = {dim.size, dim.a, dim.b, dim.c};
  static_assert(SK_KERNEL_DIMS >= SK_MAX_CONTRACTION_DIMS);
  kernel = !isFloat(contraction.in)                                        ? "sk_contract_integer"
           : contraction.in == DType::F64 || contraction.out == DType::F64 ? "sk_contract_f64"
                                                                           : "sk_contract_f32";
  bytes.assign(reinterpret_cast<const char *>(&sum), sizeof sum);
  return {};
}

/// What sk_finish does for all of `fused`.
std::string describeFinish(const Contraction &contraction, const sk_fused_contraction_desc &fused) {
  sk_finish_work work;
  std::memset(&work, 0, sizeof work);
  work.elements = 1;
  work.dtype = int32_t(contraction.out);
  work.activation = fused.activation;
  work.num_added = fused.num_added;
  for (const ContractionDims *dims : {&contraction.batch, &contraction.m, &contraction.n})
    for (const ContractionDim &dim : *dims) {
      work.elements *= dim.size;
      auto &loop = work.outer[work.num_outer++];
      loop.size = dim.size;
      loop.c = dim.c;
      std::copy(dim.added.begin(), dim.added.end(), loop.added);
    }
  return std::string(reinterpret_cast<const char *>(&work), sizeof work);
}

/// Which operands the library adds as a vector and as a matrix; false if it cannot add all.
bool bindAdded(const MatrixProduct &p, int count, int &bias, int &matrix) {
  for (int i = 0; i < count; ++i) {
    const MatrixOperand &operand = p.added[size_t(i)];
    const bool isDense = operand.column == 1 || p.n == 1;
    if (isDense && bias < 0 && (operand.row == 0 || p.m == 1))
      bias = i;
    else if (isDense && matrix < 0 && operand.row >= p.n && !p.accumulate)
      matrix = i;
    else
      return false;
  }
  return true;
}

} // namespace

Status Contractions::reserveWorkspace() {
  if (workspace_)
    return {};
  // What NVIDIA recommends for these chips; less where there is no room.
  for (size_t bytes = device_.gpu.major >= 9 ? 32u << 20 : 4u << 20; bytes >= (64u << 10); bytes /= 8) {
    CUresult result = device_.allocate(&workspace_, bytes);
    if (result == CUDA_SUCCESS) {
      workspaceBytes_ = bytes;
      return {};
    }
    if (result != CUDA_ERROR_OUT_OF_MEMORY)
      return device_.driver.check(result, device_.onGpu("allocating a workspace"));
  }
  return {};
}

Expected<std::unique_ptr<Contractions::Product>> Contractions::makeProduct(const Work &work, const Setting &setting,
                                                                           std::string &reason) {
  const MatrixProduct &p = setting.choice.product;
  SK_ASSIGN_OR_RETURN(const CublasLtApi *api, device_.machine.cublasLt());
  auto product = std::make_unique<Product>(*api);
  SK_ASSIGN_OR_RETURN(product->handle, device_.programs.cublasLt());
  SK_RETURN_IF_ERROR(reserveWorkspace());
  product->isDouble = setting.scale == CUDA_R_64F;
  const std::string what = "a product of " + std::to_string(p.m) + " x " + std::to_string(p.k) + " and " +
                           std::to_string(p.k) + " x " + std::to_string(p.n) + " " + dtypeName(p.in);
  auto check = [&](cublasStatus_t result) { return api->check(result, device_.onGpu(what)); };
  SK_RETURN_IF_ERROR(check(api->cublasLtMatmulDescCreate(&product->desc, setting.compute, setting.scale)));
  auto describe = [&](int attribute, const auto &value) {
    return check(api->cublasLtMatmulDescSetAttribute(product->desc, attribute, &value, sizeof value));
  };
  // One side as a column-major matrix: rows of what is contiguous.
  auto layout = [&](cublasLtMatrixLayout_t &to, int type, int64_t rows, int64_t columns, MatrixOperand operand,
                    int64_t batchStride, bool &transposed) -> Status {
    transposed = operand.column != 1; // `operand` is rows x columns, transposed is not.
    const int64_t ld = transposed ? operand.column : operand.row;
    if (!transposed)
      std::swap(rows, columns);
    SK_RETURN_IF_ERROR(check(api->cublasLtMatrixLayoutCreate(&to, type, uint64_t(rows), uint64_t(columns), ld)));
    if (p.batch.empty())
      return {};
    const int32_t count = int32_t(p.batch[0].size);
    SK_RETURN_IF_ERROR(
        check(api->cublasLtMatrixLayoutSetAttribute(to, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &count, sizeof count)));
    return check(api->cublasLtMatrixLayoutSetAttribute(to, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, &batchStride,
                                                       sizeof batchStride));
  };
  const ContractionDim batch = p.batch.empty() ? ContractionDim{1, 0, 0, 0} : p.batch[0];
  bool transposedB = false, transposedA = false, unused = false;
  SK_RETURN_IF_ERROR(layout(product->first, setting.in, p.k, p.n, p.b, batch.b, transposedB));
  SK_RETURN_IF_ERROR(layout(product->second, setting.in, p.m, p.k, p.a, batch.a, transposedA));
  SK_RETURN_IF_ERROR(layout(product->result, setting.out, p.m, p.n, p.c, batch.c, unused));
  for (auto [attribute, transposed] :
       {std::pair(CUBLASLT_MATMUL_DESC_TRANSA, transposedB), std::pair(CUBLASLT_MATMUL_DESC_TRANSB, transposedA)})
    SK_RETURN_IF_ERROR(describe(attribute, int32_t(transposed ? CUBLAS_OP_T : CUBLAS_OP_N)));

  std::array<uint32_t, 3 + SK_MAX_ADDED> aligned = setting.aligned;
  if (setting.choice.swapped)
    std::swap(aligned[0], aligned[1]);
  uint32_t alignedC = aligned[2];
  const uint32_t alignedD = aligned[2];
  if (setting.isFused) {
    bindAdded(p, work.fused->num_added, product->biasAt, product->matrixAt);
    uint32_t epilogue = work.fused->activation == SK_RELU   ? CUBLASLT_EPILOGUE_RELU
                        : work.fused->activation == SK_GELU ? CUBLASLT_EPILOGUE_GELU
                                                            : 0;
    if (product->biasAt >= 0) {
      const size_t at = size_t(product->biasAt);
      epilogue |= CUBLASLT_EPILOGUE_BIAS;
      SK_RETURN_IF_ERROR(describe(CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE, int32_t(setting.out)));
      // The heuristic reads from it how every bias will be aligned; each call sets its own.
      SK_RETURN_IF_ERROR(
          describe(CUBLASLT_MATMUL_DESC_BIAS_POINTER, static_cast<const void *>(pointer(256 + aligned[3 + at] % 256))));
      if (!p.batch.empty())
        SK_RETURN_IF_ERROR(describe(CUBLASLT_MATMUL_DESC_BIAS_BATCH_STRIDE, batch.added[at]));
    }
    SK_RETURN_IF_ERROR(describe(CUBLASLT_MATMUL_DESC_EPILOGUE, epilogue ? epilogue : CUBLASLT_EPILOGUE_DEFAULT));
    if (product->matrixAt >= 0) {
      const size_t at = size_t(product->matrixAt);
      MatrixOperand operand = p.added[at];
      operand.column = 1;
      SK_RETURN_IF_ERROR(layout(product->matrix, setting.out, p.m, p.n, operand, batch.added[at], unused));
      alignedC = aligned[3 + at];
    }
  }
  cublasLtMatmulPreference_t preference = nullptr;
  SK_RETURN_IF_ERROR(check(api->cublasLtMatmulPreferenceCreate(&preference)));
  auto prefer = [&](int attribute, const auto &value) {
    return check(api->cublasLtMatmulPreferenceSetAttribute(preference, attribute, &value, sizeof value));
  };
  // Partial sums are not rounded to the type of the result.
  const uint32_t schemes = CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE;
  const uint64_t workspace = workspaceBytes_;
  Status status = prefer(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, workspace);
  for (auto [attribute, value] : {std::pair(CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK, schemes),
                                  std::pair(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, aligned[1]),
                                  std::pair(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, aligned[0]),
                                  std::pair(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, alignedC),
                                  std::pair(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, alignedD)})
    if (status.ok())
      status = prefer(attribute, value);
  constexpr int most = 8;
  cublasLtMatmulHeuristicResult_t found[most] = {};
  int count = 0;
  cublasStatus_t result = CUBLAS_STATUS_SUCCESS;
  if (status.ok())
    result = api->cublasLtMatmulAlgoGetHeuristic(product->handle, product->desc, product->first, product->second,
                                                 product->matrix ? product->matrix : product->result, product->result,
                                                 preference, device_.options.tune ? most : 1, found, &count);
  api->cublasLtMatmulPreferenceDestroy(preference);
  SK_RETURN_IF_ERROR(status);
  if (result == CUBLAS_STATUS_SUCCESS && count > 0)
    result = found[0].state;
  if (result == CUBLAS_STATUS_NOT_SUPPORTED || (result == CUBLAS_STATUS_SUCCESS && count == 0)) {
    reason = "cuBLASLt has no algorithm for " + what + (setting.isFused ? ", with what follows it" : "");
    return std::unique_ptr<Product>();
  }
  SK_RETURN_IF_ERROR(check(result)); // It was asked for wrongly, or is broken.
  product->algorithm = found[0].algo;
  for (int i = 1; i < count; ++i)
    if (found[i].state == CUBLAS_STATUS_SUCCESS)
      product->others.push_back(found[i].algo);
  return product;
}

Expected<std::unique_ptr<Contractions::Plan>> Contractions::make(const Work &work) {
  const sk_fused_contraction_desc *fused = work.fused;
  SK_ASSIGN_OR_RETURN(Contraction contraction, normalize(work.desc, fused ? fused->added : nullptr));
  auto plan = std::make_unique<Plan>();
  plan->desc.product = work.desc;
  plan->isFused = fused != nullptr;
  plan->inSize = dtypeSize(contraction.in);
  plan->outSize = dtypeSize(contraction.out);
  plan->accumulate = contraction.accumulate;
  SK_RETURN_IF_ERROR(describeSum(contraction, plan->kernel, plan->sum, plan->elements));
  if (fused) {
    if (fused->num_added < 0 || fused->num_added > SK_MAX_ADDED || fused->activation < 0 || fused->activation > SK_GELU)
      return invalid("malformed contraction");
    if (!isFloat(contraction.out) || contraction.out == DType::F64)
      return invalid(std::string("contraction into ") + dtypeName(contraction.out) +
                     " with an epilogue, expected f32, f16 or bf16");
    plan->desc = *fused;
    plan->finish = describeFinish(contraction, *fused);
  }
  const std::optional<Types> types = libraryTypes(contraction.in, contraction.out, device_.options.tf32);
  plan->reason =
      std::string("a product of ") + dtypeName(contraction.in) + " into " + dtypeName(contraction.out) + ": ";
  if (contraction.work() == 0 || !types) {
    plan->reason += types ? "nothing is added up" : "cuBLASLt has none of these types";
    return plan;
  }
  MatrixChoice choice = chooseMatrix(contraction, 1);
  if (choice.score < 0) {
    plan->reason += "cuBLASLt has no such layout";
    return plan;
  }
  bool splitsSum = false;
  for (const ContractionDim &dim : choice.loops)
    splitsSum |= dim.c == 0;
  const MatrixProduct &p = choice.product;
  const int64_t calls = product(choice.loops);
  // A sum split over several products must not round between them; many small products
  // cost more than the plain kernel.
  if ((splitsSum && contraction.out != DType::F32 && contraction.out != DType::F64) ||
      (calls > 64 && product(p.batch) * p.m * p.n * p.k < (1 << 20)) ||
      (!p.batch.empty() && p.batch[0].size > INT32_MAX)) {
    plan->reason += "it would be " + std::to_string(calls) + " products of cuBLASLt";
    return plan;
  }

  Setting setting{contraction, choice, types->in, types->out, types->compute, types->scale, {}, false};
  const void *const buffers[] = {work.a, work.b, work.c, work.added[0], work.added[1]};
  for (size_t i = 0; i < setting.aligned.size(); ++i)
    setting.aligned[i] = alignmentOf(buffers[i]);
  for (const ContractionDim &dim : choice.loops) {
    const int64_t steps[] = {dim.a * plan->inSize, dim.b * plan->inSize, dim.c * plan->outSize,
                             dim.added[0] * plan->outSize, dim.added[1] * plan->outSize};
    for (size_t i = 0; i < setting.aligned.size(); ++i)
      setting.aligned[i] = std::min(setting.aligned[i], 1u << std::countr_zero(uint32_t(steps[i] & 255) | 256u));
  }
  // How exact the library's tanh is for f32 is not said: only where tf32 is good enough.
  int bias = -1, matrix = -1;
  const bool canFuse = fused && !splitsSum && bindAdded(p, fused->num_added, bias, matrix) &&
                       (fused->activation != SK_GELU || contraction.out != DType::F32 || device_.options.tf32);
  plan->reason = fused ? plan->reason + "cuBLASLt does not do what follows it" : "";
  for (bool isFused : {true, false}) {
    if (plan->product || (isFused && !canFuse))
      continue;
    setting.isFused = isFused;
    SK_ASSIGN_OR_RETURN(plan->product, makeProduct(work, setting, plan->reason));
    if (plan->product && isFused) {
      plan->finish.clear();
      plan->reason.clear();
    }
  }
  plan->loops = std::move(choice.loops);
  plan->swapped = choice.swapped;
  if (plan->product && canFuse && plan->finish.empty()) {
    ContractionDims steps = plan->loops;
    for (ContractionDim &dim : steps)
      dim.a = dim.added[0], dim.b = dim.added[1];
    forEachIndex(steps, [&](int64_t first, int64_t second, int64_t, bool) {
      plan->offsets.push_back({first * plan->outSize, second * plan->outSize});
    });
  }
  return plan;
}

Expected<Contractions::Plan *> Contractions::plan(const Work &work) {
  Key key{&work.desc, {}};
  const void *const buffers[] = {work.a, work.b, work.c, work.added[0], work.added[1]};
  for (size_t i = 0; i < key.alignments.size(); ++i)
    key.alignments[i] = alignmentOf(buffers[i]);
  std::unique_ptr<Plan> &known = plans_[key];
  if (!known || known->isFused != (work.fused != nullptr) ||
      std::memcmp(&known->desc.product, &work.desc, sizeof work.desc) != 0 ||
      (work.fused && std::memcmp(&known->desc, work.fused, sizeof *work.fused) != 0)) {
    SK_ASSIGN_OR_RETURN(known, make(work));
  }
  return known.get();
}

Status Contractions::tune(Plan &plan, const Work &work) {
  Product &product = *plan.product;
  // It runs several times on these buffers: nothing may be added to what it leaves.
  const bool isInPlace = plan.accumulate || work.c == work.added[0] || work.c == work.added[1];
  if (product.others.empty() || isInPlace || device_.isCapturing)
    return {};
  std::vector<cublasLtMatmulAlgo_t> candidates = std::move(product.others);
  product.others.clear();
  candidates.insert(candidates.begin(), product.algorithm);
  auto measure = [&](size_t i) {
    product.algorithm = candidates[i];
    return device_.secondsOf([&] { return runProducts(plan, work); });
  };
  // A GPU that works lowers its clock within tenths of a second: what is fastest then counts.
  constexpr int maxRuns = 100;
  constexpr double warm = 0.5;
  for (int run = 0; run == 0 || (run < maxRuns && workedSeconds_ < warm); ++run) {
    SK_ASSIGN_OR_RETURN(const double seconds, measure(0));
    workedSeconds_ += seconds;
  }
  // By turns, so that none has a cooler GPU than another.
  constexpr size_t rounds = 5;
  std::vector<std::array<double, rounds>> seconds(candidates.size());
  for (size_t round = 0; round < rounds; ++round)
    for (size_t i = 0; i < candidates.size(); ++i) {
      SK_ASSIGN_OR_RETURN(seconds[i][round], measure(i));
    }
  size_t best = 0;
  for (size_t i = 0; i < candidates.size(); ++i) {
    std::nth_element(seconds[i].begin(), seconds[i].begin() + rounds / 2, seconds[i].end());
    // The library's own order stands unless another one is clearly faster.
    if (seconds[i][rounds / 2] < 0.98 * seconds[best][rounds / 2])
      best = i;
  }
  product.algorithm = candidates[best];
  return {};
}

void Contractions::count(const Plan &plan) {
  Uses one;
  (!plan.product ? one.byKernel : plan.finish.empty() ? one.byLibrary : one.withKernel) = 1;
  one.productReason = plan.reason;
  noteUses(one);
}

Status Contractions::run(const Work &work) {
  SK_ASSIGN_OR_RETURN(Plan * plan, this->plan(work));
  if (plan->elements == 0)
    return {};
  count(*plan);
  if (plan->product) {
    SK_RETURN_IF_ERROR(tune(*plan, work));
    SK_RETURN_IF_ERROR(runProducts(*plan, work));
  } else if (!plan->accumulate || normalize(work.desc)->work() != 0) {
    SK_ASSIGN_OR_RETURN(const void *sum, device_.descriptor(plan->sum));
    const void *a = work.a, *b = work.b;
    void *c = work.c, *args[] = {&sum, &a, &b, &c};
    device_.lastKernel = plan->kernel;
    SK_RETURN_IF_ERROR(device_.launchRuntimeKernel(device_.compute, plan->kernel, plan->elements, args));
  }
  if (plan->finish.empty())
    return {};
  SK_ASSIGN_OR_RETURN(const void *finish, device_.descriptor(plan->finish));
  void *c = work.c;
  const void *first = work.added[0], *second = work.added[1];
  void *args[] = {&finish, &c, &first, &second};
  device_.lastKernel = "sk_finish";
  return device_.launchRuntimeKernel(device_.compute, "sk_finish", plan->elements, args);
}

Status Contractions::runSized(const sk_contraction_desc &desc, const void *a, const void *b, void *c) {
  constexpr size_t most = 4096;
  std::string bytes(reinterpret_cast<const char *>(&desc), sizeof desc);
  if (sized_.size() >= most && !sized_.count(bytes)) {
    plans_.clear();
    sized_.clear();
  }
  std::unique_ptr<sk_contraction_desc> &known = sized_[std::move(bytes)];
  if (!known)
    known = std::make_unique<sk_contraction_desc>(desc);
  return run({*known, nullptr, a, b, c, {}});
}

Status Contractions::runProducts(const Plan &plan, const Work &work) {
  const Product &product = *plan.product;
  Status status;
  size_t index = 0;
  auto call = [&](int64_t offsetA, int64_t offsetB, int64_t offsetC, bool isFirst) {
    if (!status.ok())
      return;
    const void *left = static_cast<const char *>(work.a) + offsetA * plan.inSize;
    const void *right = static_cast<const char *>(work.b) + offsetB * plan.inSize;
    if (plan.swapped)
      std::swap(left, right);
    void *to = static_cast<char *>(work.c) + offsetC * plan.outSize;
    auto added = [&](int i) -> const void * {
      return static_cast<const char *>(work.added[i]) + plan.offsets[index][size_t(i)];
    };
    if (product.biasAt >= 0) {
      const void *bias = added(product.biasAt);
      status = product.api.check(product.api.cublasLtMatmulDescSetAttribute(
                                     product.desc, CUBLASLT_MATMUL_DESC_BIAS_POINTER, &bias, sizeof bias),
                                 device_.onGpu("a matrix product"));
      if (!status.ok())
        return;
    }
    const void *from = product.matrix ? added(product.matrixAt) : to;
    const bool adds = plan.accumulate || !isFirst || product.matrix;
    const double doubles[] = {1, adds ? 1.0 : 0.0};
    const float floats[] = {1, adds ? 1.0f : 0.0f};
    auto scalar = [&](int i) -> const void * {
      return product.isDouble ? static_cast<const void *>(doubles + i) : floats + i;
    };
    status = product.api.check(product.api.cublasLtMatmul(product.handle, product.desc, scalar(0), right, product.first,
                                                          left, product.second, scalar(1), from,
                                                          product.matrix ? product.matrix : product.result, to,
                                                          product.result, &product.algorithm, pointer(workspace_),
                                                          workspaceBytes_, device_.compute),
                               device_.onGpu("a matrix product"));
    ++index;
  };
  device_.lastKernel = "matrix product";
  if (plan.loops.empty())
    call(0, 0, 0, true);
  else
    forEachIndex(plan.loops, call);
  return status;
}

} // namespace shardkit::rt::cuda
