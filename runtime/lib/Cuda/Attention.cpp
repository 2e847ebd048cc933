//===- Attention.cpp - sk_attention on a GPU ------------------------------===//

#include "CudnnAttention.h"
#include "DeviceImpl.h"
#include "Kernels.h"

#include <algorithm>
#include <cstring>

namespace shardkit::rt::cuda {

struct Attention::Plan {
  sk_attention_desc desc; ///< Guards against an address that is used again.
  std::unique_ptr<CudnnAttention> library;
  CUdeviceptr workspace = 0, partial = 0; ///< Of the library, and what blocks that share queries leave.
  int bias = -1;                          ///< The operand that is the library's.
  // Or a kernel of the runtime.
  std::string reason, work, kernel;
  CUfunction function = nullptr, merge = nullptr;
  int64_t blocks = 0, mergeBlocks = 0;
  int threads = 0, sharedBytes = 0;
};

Attention::Attention(Device::Impl &device) : device_(device) {}

Attention::~Attention() {
  plans_.clear();
  for (auto &[memory, bytes] : scratch_)
    device_.driver.cuMemFree(memory);
  if (cudnn_)
    (*device_.machine.cudnn())->cudnnDestroy(cudnn_);
}

namespace {

Status expect(bool holds, const std::string &got, const std::string &expected) {
  return holds ? Status() : invalid("attention " + got + ", expected " + expected);
}

Status check(const sk_attention_desc &desc) {
  auto text = [](auto value) { return std::to_string(value); };
  SK_RETURN_IF_ERROR(expect(desc.abi == SK_ABI_VERSION, "of ABI version " + text(desc.abi), text(SK_ABI_VERSION)));
  const bool isKnown = desc.in_dtype == SK_F32 || desc.in_dtype == SK_F16 || desc.in_dtype == SK_BF16;
  SK_RETURN_IF_ERROR(expect(isKnown, "of element type " + text(desc.in_dtype), "f32, f16 or bf16"));
  SK_RETURN_IF_ERROR(expect(desc.out_dtype == desc.in_dtype || desc.out_dtype == SK_F32,
                            "into element type " + text(desc.out_dtype), "that of q, or f32"));
  for (auto [count, most] :
       {std::pair(desc.num_batch, SK_MAX_ATTENTION_BATCH), std::pair(desc.num_operands, SK_MAX_ATTENTION_OPERANDS),
        std::pair(desc.num_steps, SK_MAX_ATTENTION_STEPS)})
    SK_RETURN_IF_ERROR(expect(count >= 0 && count <= most, "with " + text(count) + " batch dims, operands or steps",
                              "0 to " + text(most)));
  for (int64_t length : {desc.head, desc.values})
    SK_RETURN_IF_ERROR(expect(length >= 1 && length <= SK_MAX_ATTENTION_HEAD, "with heads of " + text(length),
                              "1 to " + text(SK_MAX_ATTENTION_HEAD)));
  for (int64_t length : {desc.queries, desc.keys})
    SK_RETURN_IF_ERROR(expect(length >= 1 && length < (1 << 30), "of length " + text(length), "1 to 2^30 - 1"));
  for (int i = 0; i < desc.num_operands; ++i) {
    const int32_t dtype = desc.operand_dtypes[i];
    SK_RETURN_IF_ERROR(expect(dtype == SK_F32 || dtype == SK_F16 || dtype == SK_BF16 || dtype == SK_I1,
                              "with an operand of element type " + text(dtype), "f32, f16, bf16 or i1"));
  }
  for (int i = 0; i < desc.num_steps; ++i) {
    const auto &step = desc.steps[i];
    const bool reads =
        step.kind == SK_SELECT || step.kind == SK_ADD || step.kind == SK_SUBTRACT || step.kind == SK_MULTIPLY;
    bool isLegal = step.kind >= SK_SCALE && step.kind <= SK_ROUND;
    if (reads)
      isLegal = step.operand >= 0 && step.operand < desc.num_operands &&
                (desc.operand_dtypes[step.operand] == SK_I1) == (step.kind == SK_SELECT);
    if (step.kind == SK_ROUND)
      isLegal = step.dtype == SK_F16 || step.dtype == SK_BF16;
    SK_RETURN_IF_ERROR(expect(isLegal, "with a step of kind " + text(step.kind) + " on operand " + text(step.operand),
                              "one of sk_attention_step_kind, on an operand of its type"));
  }
  return {};
}

/// Whether each row lies in vectors of `elements` from an aligned address on.
bool isWide(const sk_attention_desc &desc, const sk_attention_operand &operand, const void *data, int64_t rows,
            int64_t columns, int64_t elements, int64_t elementSize) {
  bool wide = address(data) % uint64_t(elements * elementSize) == 0 && columns % elements == 0 &&
              (operand.column == 1 || columns == 1) && (operand.row % elements == 0 || rows == 1);
  for (int i = 0; i < desc.num_batch; ++i)
    wide &= operand.batch[i] % elements == 0 || desc.batch[i] == 1;
  return wide;
}

struct Shape {
  int head, queries, keys;
};

/// Into how many parts keys are cut, in tiles, where `blocks` leave processors idle: each
/// has two tiles at least.
int64_t splitsOf(int64_t blocks, int64_t tiles, int64_t processors) {
  if (blocks >= processors)
    return 1;
  const int64_t splits = std::min(tiles / 2, (2 * processors + blocks - 1) / blocks);
  if (splits < 2)
    return 1;
  const int64_t each = (tiles + splits - 1) / splits;
  return (tiles + each - 1) / each;
}

/// What an address is aligned to: 1, 2, 4, 8 or 16 bytes.
uint8_t attentionAlignment(const void *data) {
  const uint64_t bits = address(data) | 16;
  return uint8_t(bits & (~bits + 1));
}

} // namespace

Expected<cudnnHandle_t> Attention::cudnn(const CudnnApi &api) {
  if (!cudnn_) {
    SK_RETURN_IF_ERROR(api.check(api.cudnnCreate(&cudnn_), device_.onGpu("starting cuDNN")));
    SK_RETURN_IF_ERROR(api.check(api.cudnnSetStream(cudnn_, device_.compute), device_.onGpu("giving cuDNN a stream")));
  }
  return cudnn_;
}

Status Attention::makeLibrary(const Call &call, Plan &plan) {
  SK_ASSIGN_OR_RETURN(const CudnnShape shape, cudnnShape(call.desc));
  for (const void *data : {call.q, call.k, call.v, static_cast<const void *>(call.out)})
    SK_RETURN_IF_ERROR(
        expect(attentionAlignment(data) == 16, "by cuDNN at an odd address", "one that is aligned to 16 bytes"));
  SK_ASSIGN_OR_RETURN(const CudnnApi *api, device_.machine.cudnn());
  SK_ASSIGN_OR_RETURN(const cudnnHandle_t handle, cudnn(*api));
  plan.bias = shape.biasOperand;
  const int64_t biasAlignment = plan.bias < 0 ? 16 : attentionAlignment(call.operands[plan.bias]);
  constexpr int64_t maxWorkspace = 32 << 20;
  SK_ASSIGN_OR_RETURN(plan.library, CudnnAttention::make(*api, {handle, nullptr}, shape, biasAlignment, maxWorkspace));
  if (int64_t bytes = plan.library->workspaceBytes()) {
    SK_ASSIGN_OR_RETURN(plan.workspace, scratch(bytes));
  }
  return {};
}

Expected<CUdeviceptr> Attention::scratch(int64_t bytes) {
  const int64_t most = scratch_.empty() ? 0 : scratch_.back().second;
  if (bytes > most) {
    CUdeviceptr memory = 0;
    const int64_t wanted = std::max(bytes, 2 * most);
    SK_RETURN_IF_ERROR(
        device_.driver.check(device_.allocate(&memory, size_t(wanted)),
                             device_.onGpu("allocating " + std::to_string(wanted) + " bytes for attention")));
    scratch_.emplace_back(memory, wanted);
  }
  return scratch_.back().first;
}

Status Attention::makeKernel(const Call &call, Plan &plan) {
  const sk_attention_desc &desc = call.desc;
  const bool isTf32 = desc.in_dtype == SK_F32 && device_.options.tf32;
  const bool isF32 = desc.in_dtype == SK_F32 && !isTf32;
#define SK_SHAPE(head, queries, keys) Shape{head, queries, keys},
  constexpr Shape tensor[] = {SK_ATTENTION_TENSOR(SK_SHAPE)}, fma[] = {SK_ATTENTION_F32(SK_SHAPE)};
#undef SK_SHAPE
  const Shape *shape = isF32 ? fma : tensor;
  while (shape->head < std::max(desc.head, desc.values))
    ++shape;

  plan.blocks = (desc.queries + shape->queries - 1) / shape->queries;
  for (int i = 0; i < desc.num_batch; ++i)
    plan.blocks *= desc.batch[i];
  SK_RETURN_IF_ERROR(
      expect(plan.blocks <= INT32_MAX, "of " + std::to_string(plan.blocks) + " blocks", "fewer than 2^31"));
  // As attention.c divides it up; flags at the end.
  plan.threads = isF32 ? shape->queries * 4 : 128;
  plan.sharedBytes =
      32 + (isF32 ? 4 * ((shape->queries + shape->keys) * (shape->head + 4) + shape->queries * (shape->keys + 4))
                  : (isTf32 ? 4 : 2) * (shape->queries + 2 * shape->keys) * shape->head);
  const char *type = isTf32 ? "tf32" : isF32 ? "f32" : desc.in_dtype == SK_F16 ? "f16" : "bf16";
  plan.kernel = std::string("sk_attention_") + type + "_" + std::to_string(shape->head);
  const char *text = isTf32                    ? attentionTf32Ptx
                     : isF32                   ? attentionF32Ptx
                     : desc.in_dtype == SK_F16 ? attentionF16Ptx
                                               : attentionBf16Ptx;
  SK_ASSIGN_OR_RETURN(plan.function, device_.programs.runtimeKernel(plan.kernel, text, plan.sharedBytes));
  sk_attention_work work;
  std::memset(&work, 0, sizeof work);
  work.desc = desc;
  const int64_t in = desc.in_dtype == SK_F32 ? 4 : 2, to = desc.out_dtype == SK_F32 ? 4 : 2;
  work.wide_q = isWide(desc, desc.q, call.q, desc.queries, desc.head, 16 / in, in);
  work.wide_k = isWide(desc, desc.k, call.k, desc.keys, desc.head, 16 / in, in);
  work.wide_v = isWide(desc, desc.v, call.v, desc.keys, desc.values, 16 / in, in);
  work.wide_out = isWide(desc, desc.out, call.out, desc.queries, desc.values, 2, to);
  const int64_t tiles = (desc.keys + shape->keys - 1) / shape->keys;
  const int64_t splits = plan.blocks ? splitsOf(plan.blocks, tiles, device_.gpu.processors) : 1;
  work.splits = int32_t(splits);
  if (splits > 1) {
    work.split_keys = int32_t((tiles + splits - 1) / splits * shape->keys);
    work.rows = desc.queries;
    for (int i = 0; i < desc.num_batch; ++i)
      work.rows *= desc.batch[i];
    const int64_t bytes = splits * work.rows * (desc.values + 2) * int64_t(sizeof(float));
    plan.blocks *= splits;
    plan.mergeBlocks = (work.rows * desc.values + SK_KERNEL_THREADS - 1) / SK_KERNEL_THREADS;
    SK_ASSIGN_OR_RETURN(plan.merge, device_.programs.runtimeKernel(std::string("sk_attention_merge_") + type, text, 0));
    plan.kernel += ", keys in " + std::to_string(splits) + " parts";
    SK_ASSIGN_OR_RETURN(plan.partial, scratch(bytes));
  }
  plan.work.assign(reinterpret_cast<const char *>(&work), sizeof work);
  return {};
}

Expected<std::shared_ptr<Attention::Plan>> Attention::make(const Call &call, bool isSized) {
  SK_RETURN_IF_ERROR(check(call.desc));
  auto plan = std::make_shared<Plan>();
  plan->desc = call.desc;
  const AttentionEngine engine = device_.options.attention;
  Status status = engine == AttentionEngine::Kernel ? invalid("attention by cuDNN was not requested")
                  : isSized && engine == AttentionEngine::Any
                      ? invalid("attention of sizes that only the run knows is by cuDNN if that is requested")
                      : makeLibrary(call, *plan);
  if (!status.ok() && device_.options.attention == AttentionEngine::Cudnn)
    return status;
  if (status.ok())
    return plan;
  plan->reason = status.message();
  SK_RETURN_IF_ERROR(makeKernel(call, *plan));
  return plan;
}

Expected<std::shared_ptr<Attention::Plan>> Attention::plan(const Call &call, bool isSized) {
  const sk_attention_desc &desc = call.desc;
  Key key = {&desc, {}};
  for (size_t i = 0; const void *data : {call.q, call.k, call.v, static_cast<const void *>(call.out)})
    key.alignments[i++] = attentionAlignment(data);
  for (int i = 0; i < desc.num_operands && i < SK_MAX_ATTENTION_OPERANDS; ++i)
    key.alignments[size_t(4 + i)] = attentionAlignment(call.operands[i]);
  auto isFor = [&](const Plan &plan) { return std::memcmp(&plan.desc, &desc, sizeof desc) == 0; };
  std::shared_ptr<Plan> &plan = plans_[key];
  if (plan && isFor(*plan))
    return plan;
  // Layers of a model are alike.
  for (const auto &[other, known] : plans_)
    if (known && other.alignments == key.alignments && isFor(*known))
      return plan = known;
  SK_ASSIGN_OR_RETURN(plan, make(call, isSized));
  return plan;
}

Status Attention::runSized(const Call &call) {
  constexpr size_t most = 1024;
  const sk_attention_desc &desc = call.desc;
  // Nothing to compute.
  if (desc.queries == 0 || std::find(desc.batch, desc.batch + desc.num_batch, 0) != desc.batch + desc.num_batch)
    return {};
  std::string bytes(reinterpret_cast<const char *>(&desc), sizeof desc);
  if (sized_.size() >= most && !sized_.count(bytes)) {
    plans_.clear();
    sized_.clear();
  }
  std::unique_ptr<sk_attention_desc> &known = sized_[std::move(bytes)];
  if (!known)
    known = std::make_unique<sk_attention_desc>(desc);
  return run({*known, call.q, call.k, call.v, call.out, call.operands}, /*isSized=*/true);
}

Status Attention::run(const Call &call, bool isSized) {
  SK_ASSIGN_OR_RETURN(const std::shared_ptr<Plan> plan, this->plan(call, isSized));
  const void *read[SK_MAX_ATTENTION_OPERANDS] = {};
  for (int i = 0; i < call.desc.num_operands; ++i)
    read[i] = call.operands[i];
  if (plan->library) {
    ++uses_.byCudnn;
    device_.lastKernel = "attention of cuDNN";
    const Status status = plan->library->run(cudnn_, call.q, call.k, call.v, call.out,
                                             plan->bias < 0 ? nullptr : read[plan->bias], pointer(plan->workspace));
    return status.ok() ? Status() : Status(status.code(), device_.onGpu(status.message()));
  }
  ++uses_.byKernel;
  uses_.reason = plan->reason;
  if (plan->blocks == 0)
    return {};
  SK_ASSIGN_OR_RETURN(const void *work, device_.descriptor(plan->work));
  const void *q = call.q, *k = call.k, *v = call.v;
  void *out = call.out, *partial = pointer(plan->partial);
  void *args[6 + SK_MAX_ATTENTION_OPERANDS] = {&work, &q, &k, &v, &out};
  for (int i = 0; i < SK_MAX_ATTENTION_OPERANDS; ++i)
    args[5 + i] = &read[i];
  args[5 + SK_MAX_ATTENTION_OPERANDS] = &partial;
  device_.lastKernel = plan->kernel;
  auto launch = [&](CUfunction function, int64_t blocks, int threads, int sharedBytes, void **given) {
    return device_.driver.check(device_.driver.cuLaunchKernel(function, unsigned(blocks), 1, 1, unsigned(threads), 1, 1,
                                                              unsigned(sharedBytes), device_.compute, given, nullptr),
                                device_.onGpu("launching kernel '" + plan->kernel + "'"));
  };
  SK_RETURN_IF_ERROR(launch(plan->function, plan->blocks, plan->threads, plan->sharedBytes, args));
  if (!plan->merge)
    return {};
  void *merged[] = {&work, &partial, &out};
  return launch(plan->merge, plan->mergeBlocks, SK_KERNEL_THREADS, 0, merged);
}

} // namespace shardkit::rt::cuda
