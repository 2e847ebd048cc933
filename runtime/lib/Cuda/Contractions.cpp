//===- Contractions.cpp - sk_contract on a GPU ------------------------------===//
//
// Row-major C = A B is column-major C' = B' A', which is how cuBLASLt is asked. What its
// layouts cannot say, or it has no algorithm for, goes to a plain kernel.
//
//===----------------------------------------------------------------------===//

#include "Contract/ContractionDims.h"
#include "DeviceImpl.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace shardkit::rt::cuda {

/// One call of cuBLASLt.
struct Contractions::Product {
  explicit Product(const CublasLtApi &api) : api(api) {}
  ~Product() {
    for (cublasLtMatrixLayout_t layout : {first, second, result})
      if (layout)
        api.cublasLtMatrixLayoutDestroy(layout);
    if (desc)
      api.cublasLtMatmulDescDestroy(desc);
  }
  const CublasLtApi &api;
  cublasLtHandle_t handle = nullptr;
  cublasLtMatmulDesc_t desc = nullptr;
  cublasLtMatrixLayout_t first = nullptr, second = nullptr, result = nullptr;
  cublasLtMatmulAlgo_t algorithm = {};
  bool isDouble = false;
};

struct Contractions::Plan {
  sk_contraction desc; ///< Guards against an address that is used again.
  std::unique_ptr<Product> product;
  bool accumulate = false, swapped = false;
  ContractionDims loops;
  int64_t inSize = 0, outSize = 0;
  /// Without a product: for the plain kernel.
  std::string kernel;
  std::string sum;
  int64_t elements = 0;
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
    return Types{CUDA_R_32F, CUDA_R_32F, tf32 ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F,
                 CUDA_R_32F};
  if ((in == DType::F16 || in == DType::BF16) && (out == in || out == DType::F32))
    return Types{half(in), out == DType::F32 ? CUDA_R_32F : half(in), CUBLAS_COMPUTE_32F,
                 CUDA_R_32F};
  return std::nullopt;
}

uint32_t alignmentOf(const void *pointer) {
  return 1u << std::countr_zero(static_cast<uint32_t>(address(pointer) & 255) | 256u);
}

/// The plain kernel's view of a contraction.
Status describeSum(const Contraction &contraction, std::string &kernel, std::string &bytes,
                   int64_t &elements) {
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
  kernel = !isFloat(contraction.in) ? "sk_contract_integer"
           : contraction.in == DType::F64 || contraction.out == DType::F64 ? "sk_contract_f64"
                                                                           : "sk_contract_f32";
  bytes.assign(reinterpret_cast<const char *>(&sum), sizeof sum);
  return {};
}

} // namespace

Status Contractions::reserveWorkspace() {
  if (workspace_)
    return {};
  // What NVIDIA recommends for these chips; less where there is no room.
  for (size_t bytes = device_.gpu.major >= 9 ? 32u << 20 : 4u << 20; bytes >= (64u << 10);
       bytes /= 8) {
    CUresult result = device_.driver.cuMemAlloc(&workspace_, bytes);
    if (result == CUDA_SUCCESS) {
      workspaceBytes_ = bytes;
      return {};
    }
    if (result != CUDA_ERROR_OUT_OF_MEMORY)
      return device_.driver.check(result, device_.placed("allocating a workspace"));
  }
  return {};
}

Expected<std::unique_ptr<Contractions::Plan>> Contractions::make(const sk_contraction &desc,
                                                                 int alignA, int alignB,
                                                                 int alignC) {
  SK_ASSIGN_OR_RETURN(Contraction contraction, normalize(desc));
  auto plan = std::make_unique<Plan>();
  plan->desc = desc;
  plan->inSize = dtypeSize(contraction.in);
  plan->outSize = dtypeSize(contraction.out);
  plan->accumulate = contraction.accumulate;
  SK_RETURN_IF_ERROR(describeSum(contraction, plan->kernel, plan->sum, plan->elements));
  const std::optional<Types> types =
      libraryTypes(contraction.in, contraction.out, device_.options.tf32);
  if (contraction.work() == 0 || !types)
    return plan;
  MatrixChoice choice = chooseMatrix(contraction, 1);
  if (choice.score < 0)
    return plan;
  bool splitsSum = false;
  for (const ContractionDim &dim : choice.loops)
    splitsSum |= dim.c == 0;
  const MatrixProduct &p = choice.product;
  const int64_t calls = product(choice.loops);
  // A sum split over several products must not round between them; many small products
  // cost more than the plain kernel.
  if ((splitsSum && contraction.out != DType::F32 && contraction.out != DType::F64) ||
      (calls > 64 && product(p.batch) * p.m * p.n * p.k < (1 << 20)))
    return plan;

  SK_ASSIGN_OR_RETURN(const CublasLtApi *api, device_.machine.cublasLt());
  auto product = std::make_unique<Product>(*api);
  SK_ASSIGN_OR_RETURN(product->handle, device_.programs.cublasLt());
  SK_RETURN_IF_ERROR(reserveWorkspace());
  product->isDouble = types->scale == CUDA_R_64F;
  const std::string what = "a product of " + std::to_string(p.m) + " x " + std::to_string(p.k) +
                           " and " + std::to_string(p.k) + " x " + std::to_string(p.n) + " " +
                           dtypeName(p.in);
  auto check = [&](cublasStatus_t result) { return api->check(result, device_.placed(what)); };
  SK_RETURN_IF_ERROR(
      check(api->cublasLtMatmulDescCreate(&product->desc, types->compute, types->scale)));
  // One side as a column-major matrix: rows of what is contiguous.
  auto layout = [&](cublasLtMatrixLayout_t &to, int type, int64_t rows, int64_t columns,
                    MatrixOperand operand, int64_t batchStride, bool &transposed) -> Status {
    transposed = operand.column != 1; // `operand` is rows x columns, transposed is not.
    const int64_t ld = transposed ? operand.column : operand.row;
    if (!transposed)
      std::swap(rows, columns);
    SK_RETURN_IF_ERROR(check(api->cublasLtMatrixLayoutCreate(&to, type, uint64_t(rows),
                                                             uint64_t(columns), ld)));
    if (p.batch.empty())
      return {};
    const int32_t count = int32_t(p.batch[0].size);
    SK_RETURN_IF_ERROR(check(api->cublasLtMatrixLayoutSetAttribute(
        to, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &count, sizeof count)));
    return check(api->cublasLtMatrixLayoutSetAttribute(
        to, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, &batchStride, sizeof batchStride));
  };
  const ContractionDim batch = p.batch.empty() ? ContractionDim{1, 0, 0, 0} : p.batch[0];
  if (batch.size > INT32_MAX)
    return plan;
  bool transposedB = false, transposedA = false, unused = false;
  SK_RETURN_IF_ERROR(layout(product->first, types->in, p.k, p.n, p.b, batch.b, transposedB));
  SK_RETURN_IF_ERROR(layout(product->second, types->in, p.m, p.k, p.a, batch.a, transposedA));
  SK_RETURN_IF_ERROR(layout(product->result, types->out, p.m, p.n, p.c, batch.c, unused));
  for (auto [attribute, transposed] : {std::pair(CUBLASLT_MATMUL_DESC_TRANSA, transposedB),
                                       std::pair(CUBLASLT_MATMUL_DESC_TRANSB, transposedA)}) {
    const int32_t operation = transposed ? CUBLAS_OP_T : CUBLAS_OP_N;
    SK_RETURN_IF_ERROR(check(api->cublasLtMatmulDescSetAttribute(product->desc, attribute,
                                                                 &operation, sizeof operation)));
  }

  uint32_t aligned[] = {uint32_t(alignA), uint32_t(alignB), uint32_t(alignC)};
  for (const ContractionDim &dim : choice.loops) {
    const int64_t steps[] = {dim.a * plan->inSize, dim.b * plan->inSize, dim.c * plan->outSize};
    for (int i = 0; i < 3; ++i)
      aligned[i] = std::min(aligned[i], 1u << std::countr_zero(uint32_t(steps[i] & 255) | 256u));
  }
  if (choice.swapped)
    std::swap(aligned[0], aligned[1]);
  cublasLtMatmulPreference_t preference = nullptr;
  SK_RETURN_IF_ERROR(check(api->cublasLtMatmulPreferenceCreate(&preference)));
  auto prefer = [&](int attribute, const auto &value) {
    return check(
        api->cublasLtMatmulPreferenceSetAttribute(preference, attribute, &value, sizeof value));
  };
  // Partial sums are not rounded to the type of the result.
  const uint32_t schemes = CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE;
  const uint64_t workspace = workspaceBytes_;
  Status status = prefer(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, workspace);
  for (auto [attribute, value] :
       {std::pair(CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK, schemes),
        std::pair(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, aligned[1]),
        std::pair(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, aligned[0]),
        std::pair(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, aligned[2]),
        std::pair(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, aligned[2])})
    if (status.ok())
      status = prefer(attribute, value);
  cublasLtMatmulHeuristicResult_t found = {};
  int count = 0;
  cublasStatus_t result = CUBLAS_STATUS_SUCCESS;
  if (status.ok())
    result = api->cublasLtMatmulAlgoGetHeuristic(product->handle, product->desc, product->first,
                                                 product->second, product->result, product->result,
                                                 preference, 1, &found, &count);
  api->cublasLtMatmulPreferenceDestroy(preference);
  SK_RETURN_IF_ERROR(status);
  const bool isLacking = result == CUBLAS_STATUS_NOT_SUPPORTED ||
                         result == CUBLAS_STATUS_INVALID_VALUE || count == 0 ||
                         found.state != CUBLAS_STATUS_SUCCESS;
  if (isLacking)
    return plan;
  SK_RETURN_IF_ERROR(check(result));
  product->algorithm = found.algo;
  plan->product = std::move(product);
  plan->loops = std::move(choice.loops);
  plan->swapped = choice.swapped;
  return plan;
}

Expected<Contractions::Plan *> Contractions::plan(const sk_contraction &desc, int alignA,
                                                  int alignB, int alignC) {
  std::unique_ptr<Plan> &known = plans_[{&desc, alignA, alignB, alignC}];
  if (!known || std::memcmp(&known->desc, &desc, sizeof desc) != 0) {
    SK_ASSIGN_OR_RETURN(known, make(desc, alignA, alignB, alignC));
  }
  return known.get();
}

Status Contractions::run(const sk_contraction &desc, const void *a, const void *b, void *c) {
  SK_ASSIGN_OR_RETURN(Plan * plan, this->plan(desc, int(alignmentOf(a)), int(alignmentOf(b)),
                                              int(alignmentOf(c))));
  if (!plan->product) {
    if (plan->elements == 0 || (plan->accumulate && normalize(desc)->work() == 0))
      return {};
    SK_ASSIGN_OR_RETURN(const void *sum, device_.descriptor(plan->sum));
    void *args[] = {&sum, &a, &b, &c};
    device_.lastKernel = plan->kernel;
    return device_.launchOwn(device_.compute, plan->kernel, plan->elements, args);
  }
  const Product &product = *plan->product;
  Status status;
  auto call = [&](int64_t offsetA, int64_t offsetB, int64_t offsetC, bool isFirst) {
    if (!status.ok())
      return;
    const void *left = static_cast<const char *>(a) + offsetA * plan->inSize;
    const void *right = static_cast<const char *>(b) + offsetB * plan->inSize;
    if (plan->swapped)
      std::swap(left, right);
    void *to = static_cast<char *>(c) + offsetC * plan->outSize;
    const bool adds = plan->accumulate || !isFirst;
    const double doubles[] = {1, adds ? 1.0 : 0.0};
    const float floats[] = {1, adds ? 1.0f : 0.0f};
    auto scalar = [&](int i) -> const void * {
      return product.isDouble ? static_cast<const void *>(doubles + i) : floats + i;
    };
    status = product.api.check(
        product.api.cublasLtMatmul(product.handle, product.desc, scalar(0), right, product.first,
                                   left, product.second, scalar(1), to, product.result, to,
                                   product.result, &product.algorithm, pointer(workspace_),
                                   workspaceBytes_, device_.compute),
        device_.placed("a matrix product"));
  };
  device_.lastKernel = "matrix product";
  if (plan->loops.empty())
    call(0, 0, 0, true);
  else
    forEachIndex(plan->loops, call);
  return status;
}

} // namespace shardkit::rt::cuda
