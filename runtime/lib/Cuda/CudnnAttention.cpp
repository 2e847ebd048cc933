//===- CudnnAttention.cpp - sk_attention by cuDNN -------------------------===//
//
// Attention is a graph of products, elementwise operations and reductions, which cuDNN
// knows by its shape: product, scale, bias, mask, softmax with its statistics (also where
// nobody reads them), product.
//
//===----------------------------------------------------------------------===//

#include "CudnnAttention.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace shardkit::rt::cuda {

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();
/// No score that is worth something is near it: the same as minus infinity.
constexpr float lowest = -1e30f;
/// Rows are read 16 bytes at once.
constexpr int64_t vector = 8;

Status unsupported(const std::string &what) { return invalid("attention by cuDNN is not for " + what); }

enum Role { Q, K, V, Out, Bias, Roles };

struct BatchDim {
  int64_t size = 1;
  std::array<int64_t, Roles> strides = {};
  /// Whether this one, outside, and `inner` are one dim of the operand.
  bool joins(const BatchDim &inner, int role) const { return strides[role] == inner.strides[role] * inner.size; }
};

/// The batch dims as three: batch, heads of keys, and queries' heads to one of keys.
struct BatchLayout {
  BatchDim batch, heads, group;
};

/// Makes one of two dims that are one dim of all operands, if there are any.
bool joinTwo(std::vector<BatchDim> &dims) {
  for (size_t i = 0; i < dims.size(); ++i)
    for (size_t j = 0; j < dims.size(); ++j) {
      bool isOne = i != j;
      for (int role = 0; role < Roles; ++role)
        isOne &= dims[i].joins(dims[j], role);
      if (!isOne)
        continue;
      dims[j].size *= dims[i].size;
      dims.erase(dims.begin() + std::ptrdiff_t(i));
      return true;
    }
  return false;
}

Expected<BatchLayout> batchLayoutOf(const sk_attention_desc &desc, const sk_attention_operand *bias) {
  std::vector<BatchDim> dims;
  for (int i = 0; i < desc.num_batch; ++i)
    if (desc.batch[i] != 1)
      dims.push_back(
          {desc.batch[i],
           {desc.q.batch[i], desc.k.batch[i], desc.v.batch[i], desc.out.batch[i], bias ? bias->batch[i] : 0}});
  while (joinTwo(dims))
    ;
  std::vector<BatchDim> remaining, shared; // By keys.
  for (const BatchDim &dim : dims) {
    if (dim.strides[Q] == 0 || dim.strides[Out] == 0 || (dim.strides[K] == 0) != (dim.strides[V] == 0))
      return unsupported("operands that are alike along some batch dims");
    (dim.strides[K] == 0 ? shared : remaining).push_back(dim);
  }
  BatchLayout layout;
  if (shared.size() > 1 || remaining.size() > 2)
    return unsupported("batch dims that are not a batch and heads");
  if (!shared.empty())
    layout.group = shared[0];
  auto isHeads = [&](const BatchDim &dim) {
    return shared.empty() || (dim.joins(shared[0], Q) && dim.joins(shared[0], Out) && dim.joins(shared[0], Bias));
  };
  const auto heads = std::find_if(remaining.rbegin(), remaining.rend(), isHeads);
  if (heads != remaining.rend()) {
    layout.heads = *heads;
    remaining.erase(std::next(heads).base());
  }
  if (remaining.size() > 1)
    return unsupported("heads that are not one dim");
  if (!remaining.empty())
    layout.batch = remaining[0];
  return layout;
}

/// Strides of dims that have one element are of no use, but must be something.
CudnnOperand operand(std::array<int64_t, 4> dims, std::array<int64_t, 4> strides) {
  for (size_t i = 4; i-- > 0;)
    if (dims[i] == 1)
      strides[i] = i == 3 ? 1 : std::max<int64_t>(1, dims[i + 1] * strides[i + 1]);
  return {dims, strides};
}

bool isVectors(const CudnnOperand &operand, size_t columns) {
  bool is = operand.strides[columns] == 1 && operand.dims[columns] % vector == 0;
  for (size_t i = 0; i < 4; ++i)
    is &= i == columns || operand.dims[i] == 1 || operand.strides[i] % vector == 0;
  return is;
}

} // namespace

Expected<CudnnShape> cudnnShape(const sk_attention_desc &desc) {
  CudnnShape shape;
  for (int i = 0; i < desc.num_batch; ++i)
    if (desc.batch[i] == 0)
      return unsupported("no elements");
  if (desc.in_dtype == SK_F32 || desc.out_dtype != desc.in_dtype)
    return unsupported("other types than f16 or bf16 in and out");
  shape.type = desc.in_dtype == SK_F16 ? CUDNN_DATA_HALF : CUDNN_DATA_BFLOAT16;

  // Scores are f32 from the first product to the softmax: what the program rounds in
  // between is not.
  int last = SK_ROUND;
  for (int i = 0; i < desc.num_steps; ++i) {
    const auto &step = desc.steps[i];
    if (step.kind == SK_ROUND)
      continue;
    const bool isFirst = last == SK_ROUND, isScaled = last == SK_SCALE, isBiased = last == SK_ADD;
    last = step.kind;
    if (step.kind == SK_SCALE && isFirst) {
      shape.scale = step.value;
    } else if (step.kind == SK_ADD && (isFirst || isScaled)) {
      shape.biasOperand = step.operand;
    } else if (step.kind == SK_CAUSAL && (isFirst || isScaled || isBiased) && step.keep && step.value <= lowest) {
      shape.isCausal = true;
      shape.fromLast = step.offset != 0;
      if (shape.fromLast && (step.offset != desc.keys - desc.queries || step.offset < 0 || isBiased))
        return unsupported("a mask that begins at neither end");
    } else {
      return unsupported("steps other than scale, bias and causal mask in this order");
    }
  }

  const sk_attention_operand *bias = shape.biasOperand >= 0 ? &desc.operands[shape.biasOperand] : nullptr;
  SK_ASSIGN_OR_RETURN(const BatchLayout layout, batchLayoutOf(desc, bias));
  const auto &[batch, heads, group] = layout;
  const int64_t queryHeads = heads.size * group.size;
  // A head of queries comes behind those of the same head of keys.
  auto headStride = [&](int role) { return group.size != 1 ? group.strides[role] : heads.strides[role]; };
  shape.q = operand({batch.size, queryHeads, desc.queries, desc.head},
                    {batch.strides[Q], headStride(Q), desc.q.row, desc.q.column});
  shape.k = operand({batch.size, heads.size, desc.head, desc.keys},
                    {batch.strides[K], heads.strides[K], desc.k.column, desc.k.row});
  shape.v = operand({batch.size, heads.size, desc.keys, desc.values},
                    {batch.strides[V], heads.strides[V], desc.v.row, desc.v.column});
  shape.out = operand({batch.size, queryHeads, desc.queries, desc.values},
                      {batch.strides[Out], headStride(Out), desc.out.row, desc.out.column});
  if (!isVectors(shape.q, 3) || !isVectors(shape.k, 2) || !isVectors(shape.v, 3) || !isVectors(shape.out, 3))
    return unsupported("rows that are not vectors of 16 bytes");
  if (!bias)
    return shape;

  const int32_t dtype = desc.operand_dtypes[shape.biasOperand];
  shape.biasType = dtype == SK_F32 ? CUDNN_DATA_FLOAT : dtype == SK_F16 ? CUDNN_DATA_HALF : CUDNN_DATA_BFLOAT16;
  auto sizeOf = [](int64_t size, int64_t stride) { return stride == 0 ? 1 : size; };
  const bool isShared = (heads.size == 1 || heads.strides[Bias] == 0) && (group.size == 1 || group.strides[Bias] == 0);
  const bool isPerHead = group.size == 1 || heads.size == 1 || (group.strides[Bias] != 0 && heads.joins(group, Bias));
  if (!isShared && !isPerHead)
    return unsupported("a bias for some heads");
  if (desc.keys != 1 && bias->column != 1)
    return unsupported("a bias whose rows are not contiguous");
  shape.bias = operand(
      {sizeOf(batch.size, batch.strides[Bias]), isShared ? 1 : queryHeads, sizeOf(desc.queries, bias->row), desc.keys},
      {batch.strides[Bias], headStride(Bias), bias->row, 1});
  return shape;
}

//===----------------------------------------------------------------------===//
// Plans
//===----------------------------------------------------------------------===//

namespace {
/// Names of the tensors that are not virtual, in a pack.
enum Uid : int64_t { UidQ = 1, UidK, UidV, UidOut, UidBias, UidScale, UidMasked, UidKeys, UidQueries, UidVirtual };
} // namespace

struct CudnnAttention::Attribute {
  int name, type;
  int64_t count;
  std::vector<char> bytes;

  template <typename T>
  Attribute(int name, int type, const std::vector<T> &values)
      : name(name), type(type), count(int64_t(values.size())),
        bytes(reinterpret_cast<const char *>(values.data()),
              reinterpret_cast<const char *>(values.data() + values.size())) {}
  Attribute(int name, int type, int value) : Attribute(name, type, std::vector<int>{value}) {}
  Attribute(int name, int64_t value) : Attribute(name, CUDNN_TYPE_INT64, std::vector<int64_t>{value}) {}
  Attribute(int name, bool value) : Attribute(name, CUDNN_TYPE_BOOLEAN, std::vector<char>{char(value)}) {}
  Attribute(int name, cudnnBackendDescriptor_t value)
      : Attribute(name, CUDNN_TYPE_BACKEND_DESCRIPTOR, std::vector<cudnnBackendDescriptor_t>{value}) {}
  Attribute(int name, cudnnHandle_t value) : Attribute(name, CUDNN_TYPE_HANDLE, std::vector<cudnnHandle_t>{value}) {}
};

Expected<cudnnBackendDescriptor_t> CudnnAttention::add(int kind, const std::vector<Attribute> &attributes) {
  const std::string what = "attention: descriptor " + std::to_string(kind);
  cudnnBackendDescriptor_t descriptor = nullptr;
  SK_RETURN_IF_ERROR(api_.check(api_.cudnnBackendCreateDescriptor(kind, &descriptor), what));
  descriptors_.push_back(descriptor);
  for (const Attribute &attribute : attributes)
    SK_RETURN_IF_ERROR(api_.check(api_.cudnnBackendSetAttribute(descriptor, attribute.name, attribute.type,
                                                                attribute.count, attribute.bytes.data()),
                                  what + ", attribute " + std::to_string(attribute.name)));
  SK_RETURN_IF_ERROR(api_.check(api_.cudnnBackendFinalize(descriptor), what));
  return descriptor;
}

CudnnAttention::~CudnnAttention() {
  for (size_t i = descriptors_.size(); i-- > 0;)
    api_.cudnnBackendDestroyDescriptor(descriptors_[i]);
}

/// The operations of a graph; after an error nothing more is made.
class CudnnAttention::Graph {
public:
  using Tensor = cudnnBackendDescriptor_t;
  explicit Graph(CudnnAttention &plan) : plan_(plan) {}

  Tensor tensor(int64_t uid, int type, const CudnnOperand &operand, int64_t alignment) {
    return tensor(uid, type, operand, alignment, false, false);
  }
  /// On the host, when it runs.
  Tensor scalar(int64_t uid, int type) { return tensor(uid, type, {{1, 1, 1, 1}, {1, 1, 1, 1}}, 4, false, true); }
  /// Row-major; on chip.
  Tensor onChip(int type, const std::array<int64_t, 4> &dims) {
    const CudnnOperand operand = {dims, {dims[1] * dims[2] * dims[3], dims[2] * dims[3], dims[3], 1}};
    return tensor(next_++, type, operand, 16, true, false);
  }

  void product(Tensor a, Tensor b, Tensor c) {
    const Tensor how =
        add(CUDNN_BACKEND_MATMUL_DESCRIPTOR, {{CUDNN_ATTR_MATMUL_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, CUDNN_DATA_FLOAT}});
    operation(CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR, {{CUDNN_ATTR_OPERATION_MATMUL_ADESC, a},
                                                          {CUDNN_ATTR_OPERATION_MATMUL_BDESC, b},
                                                          {CUDNN_ATTR_OPERATION_MATMUL_CDESC, c},
                                                          {CUDNN_ATTR_OPERATION_MATMUL_DESC, how}});
  }
  /// y = mode(x, b); b and the condition of a selection may be null.
  void elementwise(int mode, int computed, Tensor y, Tensor x, Tensor b = nullptr, Tensor condition = nullptr,
                   int64_t axis = -1) {
    std::vector<Attribute> how = {{CUDNN_ATTR_POINTWISE_MODE, CUDNN_TYPE_POINTWISE_MODE, mode},
                                  {CUDNN_ATTR_POINTWISE_MATH_PREC, CUDNN_TYPE_DATA_TYPE, computed}};
    if (axis >= 0)
      how.push_back({CUDNN_ATTR_POINTWISE_AXIS, axis});
    std::vector<Attribute> what = {
        {CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, add(CUDNN_BACKEND_POINTWISE_DESCRIPTOR, how)},
        {CUDNN_ATTR_OPERATION_POINTWISE_XDESC, x},
        {CUDNN_ATTR_OPERATION_POINTWISE_YDESC, y}};
    if (b)
      what.push_back({CUDNN_ATTR_OPERATION_POINTWISE_BDESC, b});
    if (condition)
      what.push_back({CUDNN_ATTR_OPERATION_POINTWISE_TDESC, condition});
    operation(CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR, what);
  }
  void reduce(int kind, Tensor x, Tensor y) {
    const Tensor how = add(CUDNN_BACKEND_REDUCTION_DESCRIPTOR,
                           {{CUDNN_ATTR_REDUCTION_OPERATOR, CUDNN_TYPE_REDUCTION_OPERATOR_TYPE, kind},
                            {CUDNN_ATTR_REDUCTION_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, CUDNN_DATA_FLOAT}});
    operation(CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR, {{CUDNN_ATTR_OPERATION_REDUCTION_DESC, how},
                                                             {CUDNN_ATTR_OPERATION_REDUCTION_XDESC, x},
                                                             {CUDNN_ATTR_OPERATION_REDUCTION_YDESC, y}});
  }
  Expected<cudnnBackendDescriptor_t> finish(cudnnHandle_t handle) {
    std::vector<Attribute> what = {{CUDNN_ATTR_OPERATIONGRAPH_OPS, CUDNN_TYPE_BACKEND_DESCRIPTOR, operations_}};
    if (handle)
      what.push_back({CUDNN_ATTR_OPERATIONGRAPH_HANDLE, handle});
    const Tensor graph = add(CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR, what);
    SK_RETURN_IF_ERROR(status_);
    return graph;
  }

private:
  Tensor tensor(int64_t uid, int type, const CudnnOperand &operand, int64_t alignment, bool isVirtual, bool isValue) {
    return add(CUDNN_BACKEND_TENSOR_DESCRIPTOR, {{CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_DATA_TYPE, type},
                                                 {CUDNN_ATTR_TENSOR_DIMENSIONS, CUDNN_TYPE_INT64,
                                                  std::vector<int64_t>(operand.dims.begin(), operand.dims.end())},
                                                 {CUDNN_ATTR_TENSOR_STRIDES, CUDNN_TYPE_INT64,
                                                  std::vector<int64_t>(operand.strides.begin(), operand.strides.end())},
                                                 {CUDNN_ATTR_TENSOR_UNIQUE_ID, uid},
                                                 {CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, alignment},
                                                 {CUDNN_ATTR_TENSOR_IS_VIRTUAL, isVirtual},
                                                 {CUDNN_ATTR_TENSOR_IS_BY_VALUE, isValue}});
  }
  void operation(int kind, const std::vector<Attribute> &attributes) { operations_.push_back(add(kind, attributes)); }
  Tensor add(int kind, const std::vector<Attribute> &attributes) {
    if (!status_.ok())
      return nullptr;
    auto made = plan_.add(kind, attributes);
    status_ = made.status();
    return made.ok() ? *made : nullptr;
  }

  CudnnAttention &plan_;
  Status status_;
  std::vector<Tensor> operations_;
  int64_t next_ = UidVirtual;
};

Expected<cudnnBackendDescriptor_t> CudnnAttention::addGraph(const CudnnShape &shape, int64_t biasAlignment,
                                                            cudnnHandle_t handle) {
  constexpr int f32 = CUDNN_DATA_FLOAT, i32 = CUDNN_DATA_INT32;
  const std::array<int64_t, 4> scores = {shape.q.dims[0], shape.q.dims[1], shape.q.dims[2], shape.k.dims[3]};
  const std::array<int64_t, 4> rows = {scores[0], scores[1], scores[2], 1};
  Graph graph(*this);
  Graph::Tensor x = graph.onChip(f32, scores);
  graph.product(graph.tensor(UidQ, shape.type, shape.q, 16), graph.tensor(UidK, shape.type, shape.k, 16), x);
  auto scored = [&](int mode, Graph::Tensor b, Graph::Tensor condition = nullptr) {
    const Graph::Tensor y = graph.onChip(f32, scores);
    graph.elementwise(mode, f32, y, x, b, condition);
    x = y;
  };
  scored(CUDNN_POINTWISE_MUL, graph.scalar(UidScale, f32));
  if (hasBias_)
    scored(CUDNN_POINTWISE_ADD, graph.tensor(UidBias, shape.biasType, shape.bias, biasAlignment));
  if (isCausal_) {
    Graph::Tensor row = graph.onChip(i32, scores);
    graph.elementwise(CUDNN_POINTWISE_GEN_INDEX, f32, row, x, nullptr, nullptr, 2);
    if (fromLast_)
      for (auto [mode, uid] : {std::pair(CUDNN_POINTWISE_ADD, UidKeys), std::pair(CUDNN_POINTWISE_SUB, UidQueries)}) {
        const Graph::Tensor shifted = graph.onChip(i32, scores);
        graph.elementwise(mode, i32, shifted, row, graph.scalar(uid, i32));
        row = shifted;
      }
    const Graph::Tensor column = graph.onChip(i32, scores);
    graph.elementwise(CUDNN_POINTWISE_GEN_INDEX, f32, column, x, nullptr, nullptr, 3);
    const Graph::Tensor isKept = graph.onChip(CUDNN_DATA_BOOLEAN, scores);
    graph.elementwise(CUDNN_POINTWISE_CMP_GE, CUDNN_DATA_BOOLEAN, isKept, row, column);
    scored(CUDNN_POINTWISE_BINARY_SELECT, graph.scalar(UidMasked, f32), isKept);
  }
  const Graph::Tensor most = graph.onChip(f32, rows), sum = graph.onChip(f32, rows),
                      logarithm = graph.onChip(f32, rows), statistics = graph.onChip(f32, rows),
                      weights = graph.onChip(shape.type, scores);
  graph.reduce(CUDNN_REDUCE_TENSOR_MAX, x, most);
  scored(CUDNN_POINTWISE_SUB, most);
  scored(CUDNN_POINTWISE_EXP, nullptr);
  graph.reduce(CUDNN_REDUCE_TENSOR_ADD, x, sum);
  graph.elementwise(CUDNN_POINTWISE_LOG, f32, logarithm, sum);
  graph.elementwise(CUDNN_POINTWISE_ADD, f32, statistics, most, logarithm);
  graph.elementwise(CUDNN_POINTWISE_DIV, f32, weights, x, sum);
  graph.product(weights, graph.tensor(UidV, shape.type, shape.v, 16), graph.tensor(UidOut, shape.type, shape.out, 16));
  return graph.finish(handle);
}

Status CudnnAttention::choose(CudnnTarget target, cudnnBackendDescriptor_t graph, int64_t maxWorkspaceBytes) {
  std::vector<Attribute> question = {{CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, graph},
                                     {CUDNN_ATTR_ENGINEHEUR_MODE, CUDNN_TYPE_HEUR_MODE, CUDNN_HEUR_MODE_A}};
  if (target.device)
    question.push_back({CUDNN_ATTR_ENGINEHEUR_DEVICEPROP, target.device});
  SK_ASSIGN_OR_RETURN(const cudnnBackendDescriptor_t heuristics, add(CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR, question));
  auto results = [&](int64_t most, int64_t *count, void *to) {
    return api_.check(api_.cudnnBackendGetAttribute(heuristics, CUDNN_ATTR_ENGINEHEUR_RESULTS,
                                                    CUDNN_TYPE_BACKEND_DESCRIPTOR, most, count, to),
                      "attention: engines");
  };
  int64_t count = 0;
  SK_RETURN_IF_ERROR(results(0, &count, nullptr));
  std::vector<cudnnBackendDescriptor_t> engines;
  for (int64_t i = 0; i < count; ++i) {
    cudnnBackendDescriptor_t engine = nullptr;
    SK_RETURN_IF_ERROR(api_.check(api_.cudnnBackendCreateDescriptor(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR, &engine),
                                  "attention: an engine"));
    descriptors_.push_back(engine);
    engines.push_back(engine);
  }
  SK_RETURN_IF_ERROR(results(count, &count, engines.data()));
  Status status = unsupported("shapes that no engine of it is for");
  for (int64_t i = 0; i < count; ++i) {
    std::vector<Attribute> what = {{CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, engines[size_t(i)]}};
    if (target.device)
      what.push_back({CUDNN_ATTR_EXECUTION_PLAN_DEVICEPROP, target.device});
    else
      what.push_back({CUDNN_ATTR_EXECUTION_PLAN_HANDLE, target.handle});
    auto plan = add(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR, what);
    status = plan.status();
    int64_t one = 0;
    if (status.ok())
      status = api_.check(api_.cudnnBackendGetAttribute(*plan, CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE,
                                                        CUDNN_TYPE_INT64, 1, &one, &workspaceBytes_),
                          "attention: its workspace");
    if (status.ok() && workspaceBytes_ > maxWorkspaceBytes)
      status = unsupported("shapes that take a workspace of " + std::to_string(workspaceBytes_) + " bytes");
    if (status.ok()) {
      plan_ = *plan;
      return {};
    }
  }
  return status;
}

Expected<std::unique_ptr<CudnnAttention>> CudnnAttention::make(const CudnnApi &api, CudnnTarget target,
                                                               const CudnnShape &shape, int64_t biasAlignment,
                                                               int64_t maxWorkspaceBytes) {
  std::unique_ptr<CudnnAttention> plan(new CudnnAttention(api));
  plan->scale_ = shape.scale;
  plan->masked_ = -infinity;
  plan->queries_ = int32_t(shape.q.dims[2]);
  plan->keys_ = int32_t(shape.k.dims[3]);
  plan->hasBias_ = shape.biasOperand >= 0;
  plan->isCausal_ = shape.isCausal;
  plan->fromLast_ = shape.isCausal && shape.fromLast;
  SK_ASSIGN_OR_RETURN(const cudnnBackendDescriptor_t graph, plan->addGraph(shape, biasAlignment, target.handle));
  SK_RETURN_IF_ERROR(plan->choose(target, graph, maxWorkspaceBytes));
  return plan;
}

Status CudnnAttention::run(cudnnHandle_t handle, const void *q, const void *k, const void *v, void *out,
                           const void *bias, void *workspace) const {
  std::vector<int64_t> uids = {UidQ, UidK, UidV, UidOut, UidScale};
  std::vector<const void *> data = {q, k, v, out, &scale_};
  auto give = [&](Uid uid, const void *what) {
    uids.push_back(uid);
    data.push_back(what);
  };
  if (hasBias_)
    give(UidBias, bias);
  if (isCausal_)
    give(UidMasked, &masked_);
  if (fromLast_) {
    give(UidKeys, &keys_);
    give(UidQueries, &queries_);
  }
  CudnnAttention pack(api_); // Its one descriptor goes when this returns.
  SK_ASSIGN_OR_RETURN(
      const cudnnBackendDescriptor_t arguments,
      pack.add(CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR,
               {{CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, CUDNN_TYPE_INT64, uids},
                {CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR, data},
                {CUDNN_ATTR_VARIANT_PACK_WORKSPACE, CUDNN_TYPE_VOID_PTR, std::vector<void *>{workspace}}}));
  return api_.check(api_.cudnnBackendExecute(handle, plan_, arguments), "attention");
}

} // namespace shardkit::rt::cuda
