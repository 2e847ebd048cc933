//===- StageRun.cpp - A rank of a pipeline in one step --------------------===//

#include "DeviceBuffers.h"
#include "PipelineRun.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <functional>
#include <unordered_map>

namespace shardkit::rt {

namespace {

double secondsSince(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// The bits of an element of value `init`.
uint64_t elementBits(Init init, DType dtype) {
  if (init == Init::Zero) // The only one that complex numbers have.
    return 0;
  const int bits = dtype == DType::I1 ? 1 : int(dtypeSize(dtype) * 8);
  const uint64_t ones = ~uint64_t(0) >> (64 - bits), sign = uint64_t(1) << (bits - 1);
  if (isFloat(dtype)) {
    const uint64_t infinity = dtype == DType::F64   ? 0x7ff0000000000000u
                              : dtype == DType::F32 ? 0x7f800000u
                              : dtype == DType::F16 ? 0x7c00u
                                                    : 0x7f80u;
    const uint64_t one = dtype == DType::F64   ? 0x3ff0000000000000u
                         : dtype == DType::F32 ? 0x3f800000u
                         : dtype == DType::F16 ? 0x3c00u
                                               : 0x3f80u;
    return init == Init::One ? one : init == Init::Highest ? infinity : infinity | sign;
  }
  switch (init) {
  case Init::One:
    return 1;
  case Init::Lowest: // Signed, also i1, whose lowest is -1.
    return sign;
  case Init::Highest:
    return ones & ~sign;
  default:
    return ones;
  }
}

/// The slice of a microbatch in the local buffer of an argument or result of a stage: `rows` runs
/// of `run` elements, contiguous in the slice, `stride` elements apart in the buffer.
struct SliceLayout {
  int64_t elementSize, rows = 1, run = 1, stride, offset; ///< `offset` in bytes.
  SliceLayout(const ValueInfo &slice, int64_t microbatch, int64_t microbatches) : elementSize(dtypeSize(slice.dtype)) {
    for (size_t d = 0; d < slice.localShape.size(); ++d)
      (int64_t(d) < slice.slot->dim ? rows : run) *= slice.localShape[d];
    stride = run * microbatches;
    offset = run * microbatch * elementSize;
  }
};

/// A slice that is copied to a separate buffer, and its layout in the buffer of the stage.
struct SliceCopy {
  SliceLayout layout;
  void *stage, *slice;
  void load(CopyEngine &engine) const {
    const CopyEngine::Loop loops[] = {{layout.rows, layout.stride, layout.run}, {layout.run, 1, 1}};
    engine.copy(layout.elementSize, {stage, nullptr}, slice, loops);
  }
  void store(CopyEngine &engine) const {
    const CopyEngine::Loop loops[] = {{layout.rows, layout.run, layout.stride}, {layout.run, 1, 1}};
    engine.copy(layout.elementSize, {slice, nullptr}, stage, loops);
  }
};

} // namespace

/// One rank in one step. Example, for the list of stage 1:
///
///   ["transfer", 0, [], [[0, 2]]]   beginTransfers: allocates value h of microbatch 2, publishes it
///   ["run", 1, 2]                   runFunction: receive(h) waits, then the program is called with
///                                   pointers to arguments, slices and values
///   ["free", 0, 2]                  waits until sent values are received, returns the buffer
///
/// A slice of an argument is used in place if it is contiguous, else copied before and after.
class StageRun {
public:
  StageRun(PipelinePlans &plans, sk_context &context, const std::vector<sk_program> &programs,
           const RankBuffers &buffers, RunStats *stats)
      : plans_(plans), pipeline_(plans.pipeline_), context_(context), programs_(programs), buffers_(buffers),
        stats_(stats), number_(plans.ranks_[size_t(context.rank)].first), stage_(pipeline_.stages[number_]) {
    context.meshRank = plans.ranks_[size_t(context.rank)].second;
    if (stats)
      counters_ = &stats->ranks[size_t(context.rank)];
  }
  ~StageRun() {
    giveBackCopies();
    for (auto &[key, buffer] : values_)
      buffers_.values->giveBack(std::move(buffer));
  }

  Expected<int32_t> run();

private:
  /// Calls fn(engine): on a device, in the order of its stream.
  template <typename Fn> Status move(Fn &&fn);

  /// Fills the values that accumulate, before the first instruction.
  Status fillSums();

  //===--------------------------------------------------------------------===//
  // Time
  //===--------------------------------------------------------------------===//

  /// A point in time of the host, or of the stream of the program if there is a device.
  struct Moment {
    std::chrono::steady_clock::time_point host;
    size_t stamp = 0;
  };
  Expected<Moment> now();
  /// Calls count(seconds) with the time since `start`; for a device at the end of the step.
  Status countSince(Moment start, std::function<void(double)> count);
  Status countSpans();

  //===--------------------------------------------------------------------===//
  // Instructions
  //===--------------------------------------------------------------------===//

  Expected<int32_t> perform(const Instruction &instruction);
  int64_t keyOf(size_t value, int64_t microbatch) const {
    return int64_t(value) * (pipeline_.microbatches + 1) + (stage_.values[value].isOfStep ? 0 : microbatch + 1);
  }
  /// The buffer of a value; allocates it if there is none.
  Expected<Buffer *> bufferOf(size_t value, int64_t microbatch);
  Expected<void *> dataOf(size_t value, int64_t microbatch);
  void giveBackCopies();
  /// True if a program can use the slice in the buffer of the stage.
  bool isInPlace(const SliceLayout &layout) const;
  Expected<int32_t> runFunction(const Instruction &instruction);

  //===--------------------------------------------------------------------===//
  // Transfers
  //===--------------------------------------------------------------------===//

  /// A transfer that has begun and is not finished.
  struct PendingTransfer {
    size_t number;
    int64_t microbatch;
    CollectiveBuffers buffers;
    std::pair<Buffer, Buffer> staged;
  };

  Expected<int32_t> beginTransfers(const Instruction &instruction);

  /// Runs a transfer by NCCL, in the order of the stream of the program.
  Expected<int32_t> runOnStream(size_t number, const void *in, void *out);
  Status countTransfer(size_t number, Moment start);
  Group &wayOf(const PendingTransfer &one);
  Status offer(PendingTransfer &one);

  /// False when the world failed.
  Expected<bool> finish(PendingTransfer &one, double &waited);

  /// Finishes all transfers; returns the status of a program.
  Expected<int32_t> finishAll(std::vector<PendingTransfer> &all);

  /// Waits for a value that is to be received, and receives it.
  Expected<int32_t> receive(size_t value, int64_t microbatch);
  /// Waits until all receivers have received a value that was sent.
  Expected<int32_t> waitUntilReceived(size_t value, int64_t microbatch);

  PipelinePlans &plans_;
  const PipelineInfo &pipeline_;
  sk_context &context_;
  const std::vector<sk_program> &programs_;
  const RankBuffers &buffers_;
  RunStats *stats_;
  RunStats::Rank *counters_ = nullptr;
  const size_t number_;
  const StageInfo &stage_;
  std::unordered_map<int64_t, Buffer> values_;                      ///< By keyOf.
  std::map<int64_t, std::vector<PendingTransfer>> received_, sent_; ///< By keyOf.
  /// Buffers of the current function.
  std::vector<void *> arguments_, results_;
  std::vector<Buffer> copies_;
  struct Span {
    size_t from, to; ///< Stamps.
    std::function<void(double)> count;
  };
  std::vector<Span> spans_;
};

Expected<int32_t> StageRun::run() {
  buffers_.values->startPeak();
  if (context_.device)
    context_.device->clearStamps();
  SK_RETURN_IF_ERROR(fillSums());
  RankRecord &record = context_.world->record(context_.rank);
  for (size_t i = 0; i < stage_.instructions.size(); ++i) {
    if (context_.world->failed())
      return int32_t(Code::Aborted);
    const Instruction &instruction = stage_.instructions[i];
    record.collective.store(-1, std::memory_order_relaxed);
    record.instruction.store(int64_t(i), std::memory_order_relaxed);
    record.entered.store(uint64_t(instruction.order) << instructionShift, std::memory_order_relaxed);
    SK_ASSIGN_OR_RETURN(int32_t returned, perform(instruction));
    if (returned)
      return returned;
  }
  for (auto *pending : {&received_, &sent_})
    for (auto &[key, transfers] : *pending) {
      SK_ASSIGN_OR_RETURN(int32_t returned, finishAll(transfers));
      if (returned)
        return returned;
    }
  SK_RETURN_IF_ERROR(countSpans());
  if (counters_)
    counters_->peakValueBytes = std::max(counters_->peakValueBytes, buffers_.values->peakBytes());
  return 0;
}

template <typename Fn> Status StageRun::move(Fn &&fn) {
  cuda::Device *device = context_.device;
  if (!device) {
    fn(hostCopyEngine());
    return {};
  }
  SK_RETURN_IF_ERROR(device->startCommunication());
  fn(device->copyEngine());
  SK_RETURN_IF_ERROR(device->copyEngine().takeStatus());
  return device->endCommunication();
}

Status StageRun::fillSums() {
  struct Fill {
    void *data;
    const StageValue *value;
  };
  std::vector<Fill> fills;
  for (size_t v = 0; v < stage_.values.size(); ++v) {
    const StageValue &value = stage_.values[v];
    if (!value.init)
      continue;
    SK_ASSIGN_OR_RETURN(void *data, dataOf(v, -1));
    if (value.localElements == 0)
      continue;
    fills.push_back({data, &value});
    const uint64_t bits = elementBits(*value.init, value.dtype);
    if (!bits)
      continue;
    // The first one; the others are copies.
    if (context_.device)
      SK_RETURN_IF_ERROR(context_.device->upload(data, &bits, dtypeSize(value.dtype)));
    else
      std::memcpy(data, &bits, size_t(dtypeSize(value.dtype)));
  }
  if (fills.empty())
    return {};
  return move([&](CopyEngine &engine) {
    for (auto [data, value] : fills) {
      const int64_t size = dtypeSize(value->dtype);
      const CopyEngine::Loop others{value->localElements - 1, 0, 1};
      if (elementBits(*value->init, value->dtype) == 0)
        engine.zero(data, value->localBytes());
      else
        engine.copy(size, {data, nullptr}, static_cast<char *>(data) + size, {&others, 1});
    }
  });
}

Expected<StageRun::Moment> StageRun::now() {
  Moment moment;
  moment.host = std::chrono::steady_clock::now();
  if (stats_ && context_.device) {
    SK_ASSIGN_OR_RETURN(moment.stamp, context_.device->stamp());
  }
  return moment;
}

Status StageRun::countSince(Moment start, std::function<void(double)> count) {
  if (!stats_)
    return {};
  if (!context_.device) {
    count(secondsSince(start.host));
    return {};
  }
  SK_ASSIGN_OR_RETURN(Moment end, now());
  spans_.push_back({start.stamp, end.stamp, std::move(count)});
  return {};
}

Status StageRun::countSpans() {
  if (spans_.empty())
    return {};
  World &world = *context_.world;
  if (context_.nccl)
    context_.nccl->wait(world);
  else
    SK_RETURN_IF_ERROR(context_.device->wait());
  for (const Span &span : spans_) {
    if (world.failed())
      return {};
    SK_ASSIGN_OR_RETURN(double seconds, context_.device->secondsBetween(span.from, span.to));
    span.count(seconds);
  }
  return {};
}

Expected<int32_t> StageRun::perform(const Instruction &instruction) {
  switch (instruction.kind) {
  case Instruction::Kind::Run:
    return runFunction(instruction);
  case Instruction::Kind::Transfer:
    return beginTransfers(instruction);
  case Instruction::Kind::Free:
    break;
  }
  for (auto wait : {&StageRun::receive, &StageRun::waitUntilReceived}) {
    SK_ASSIGN_OR_RETURN(int32_t status, (this->*wait)(instruction.target, instruction.microbatch));
    if (status)
      return status;
  }
  auto it = values_.find(keyOf(instruction.target, instruction.microbatch));
  buffers_.values->giveBack(std::move(it->second));
  values_.erase(it);
  return 0;
}

Expected<Buffer *> StageRun::bufferOf(size_t value, int64_t microbatch) {
  const int64_t key = keyOf(value, microbatch);
  auto it = values_.find(key);
  if (it == values_.end()) {
    Expected<Buffer> made = buffers_.values->take(stage_.values[value].localBytes());
    if (!made.ok())
      return made.status().withContext("value '" + stage_.values[value].name + "'");
    it = values_.emplace(key, std::move(*made)).first;
  }
  return &it->second;
}

Expected<void *> StageRun::dataOf(size_t value, int64_t microbatch) {
  SK_ASSIGN_OR_RETURN(Buffer * buffer, bufferOf(value, microbatch));
  return buffer->data();
}

void StageRun::giveBackCopies() {
  for (Buffer &buffer : copies_)
    buffers_.values->giveBack(std::move(buffer));
  copies_.clear();
}

bool StageRun::isInPlace(const SliceLayout &layout) const {
  constexpr int64_t align = 16; // abi.h
  return layout.rows == 1 && (!context_.device || layout.offset % align == 0);
}

Expected<int32_t> StageRun::runFunction(const Instruction &instruction) {
  const FunctionInfo &function = pipeline_.functions[instruction.target];
  const int64_t m = instruction.microbatch, all = pipeline_.microbatches;
  for (const ValueInfo &argument : function.arguments)
    if (argument.slot->isValue()) {
      SK_ASSIGN_OR_RETURN(int32_t status, receive(size_t(argument.slot->index), m));
      if (status)
        return status;
    }
  // Slices that are copied, and results whose buffers are read while they are written.
  giveBackCopies();
  std::vector<SliceCopy> argumentSlices, resultSlices;
  std::vector<std::pair<size_t, size_t>> updates;
  auto copy = [&](const ValueInfo &value) -> Expected<void *> {
    Expected<Buffer> made = buffers_.values->take(value.localBytes());
    if (!made.ok())
      return made.status().withContext("value '" + value.name + "'");
    copies_.push_back(std::move(*made));
    return copies_.back().data();
  };
  // The pointer that the program gets for an argument or result of the stage.
  auto held = [&](const ValueInfo &value, void *buffer, std::vector<SliceCopy> &slices) -> Expected<void *> {
    if (!value.slot->isMicrobatch())
      return buffer;
    const SliceLayout layout(value, m, all);
    char *begin = static_cast<char *>(buffer) + layout.offset;
    if (isInPlace(layout))
      return static_cast<void *>(begin);
    SK_ASSIGN_OR_RETURN(void *slice, copy(value));
    slices.push_back({layout, begin, slice});
    return slice;
  };
  arguments_.clear();
  for (const ValueInfo &argument : function.arguments) {
    const size_t index = size_t(argument.slot->index);
    SK_ASSIGN_OR_RETURN(void *data, argument.slot->isValue()
                                        ? dataOf(index, m)
                                        : held(argument, buffers_.arguments[index], argumentSlices));
    arguments_.push_back(data);
  }
  results_.clear();
  for (const ValueInfo &result : function.results) {
    const size_t index = size_t(result.slot->index);
    auto isSame = [&](const ValueInfo &argument) {
      return argument.slot->isValue() && argument.slot->index == int64_t(index);
    };
    const bool isValue = result.slot->isValue();
    // A result that is tied to the value that it updates uses its memory.
    const bool isInPlace = result.tied && isSame(function.arguments[size_t(*result.tied)]);
    const bool isUpdate =
        isValue && !isInPlace && std::any_of(function.arguments.begin(), function.arguments.end(), isSame);
    if (isUpdate)
      updates.emplace_back(index, copies_.size());
    SK_ASSIGN_OR_RETURN(void *data, isUpdate  ? copy(result)
                                    : isValue ? dataOf(index, m)
                                              : held(result, buffers_.results[index], resultSlices));
    results_.push_back(data);
  }
  if (!argumentSlices.empty())
    SK_RETURN_IF_ERROR(move([&](CopyEngine &engine) {
      for (const SliceCopy &slice : argumentSlices)
        slice.load(engine);
    }));

  context_.plans = plans_.functions_[instruction.target].get();
  RunStats::Function *counters = stats_ ? &stats_->functions[instruction.target] : nullptr;
  if (counters) {
    context_.stats = &counters->collectives[size_t(context_.meshRank)];
    context_.contractionStats = &counters->contractions[size_t(context_.meshRank)];
  }
  SK_ASSIGN_OR_RETURN(const Moment start, now());
  auto call = [&] {
    return programs_[instruction.target](&context_, arguments_.data(), results_.data(), buffers_.arena);
  };
  Status recorded;
  const int32_t status =
      context_.device ? context_.device->record(programs_[instruction.target], arguments_.data(), arguments_.size(),
                                                results_.data(), results_.size(), buffers_.arena, call, recorded)
                      : call();
  SK_RETURN_IF_ERROR(recorded);
  SK_RETURN_IF_ERROR(countSince(start, [this, counters](double seconds) {
    counters->runs[size_t(context_.meshRank)].add(seconds);
    counters_->runSeconds += seconds;
  }));
  context_.plans = nullptr;
  if (status)
    return status;

  for (auto [value, k] : updates) {
    SK_ASSIGN_OR_RETURN(Buffer * buffer, bufferOf(value, m));
    std::swap(*buffer, copies_[k]);
  }
  if (!resultSlices.empty())
    SK_RETURN_IF_ERROR(move([&](CopyEngine &engine) {
      for (const SliceCopy &slice : resultSlices)
        slice.store(engine);
    }));
  giveBackCopies();
  return 0;
}

Expected<int32_t> StageRun::beginTransfers(const Instruction &instruction) {
  for (auto [number, microbatch] : instruction.transfers) {
    const ChannelInfo &channel = pipeline_.channels[number];
    const bool isSent = channel.fromStage == number_;
    const size_t value = isSent ? channel.fromValue : channel.toValue;
    if (isSent) {
      SK_ASSIGN_OR_RETURN(int32_t status, receive(value, microbatch));
      if (status)
        return status;
    }
    SK_ASSIGN_OR_RETURN(void *data, dataOf(value, microbatch));
    CollectivePlan &plan = *plans_.transfers_[number];
    if (int32_t status = injectFault(context_, plan.info().id, /*after=*/false))
      return status;
    if (context_.nccl) {
      SK_ASSIGN_OR_RETURN(int32_t status, runOnStream(number, isSent ? data : nullptr, isSent ? nullptr : data));
      if (status)
        return status;
      continue;
    }
    PendingTransfer &one = (isSent ? sent_ : received_)[keyOf(value, microbatch)].emplace_back();
    one.number = number;
    one.microbatch = microbatch;
    one.buffers = {isSent ? data : nullptr, isSent ? nullptr : data};
    SK_RETURN_IF_ERROR(offer(one));
  }
  return 0;
}

Expected<int32_t> StageRun::runOnStream(size_t number, const void *in, void *out) {
  CollectivePlan &plan = *plans_.transfers_[number];
  RankRecord &record = context_.world->record(context_.rank);
  recordEntry(record, plan.info().id);
  SK_ASSIGN_OR_RETURN(const Moment start, now());
  SK_RETURN_IF_ERROR(context_.device->startCommunication());
  Status status = context_.nccl->run(plan, 1, in, out, *context_.world);
  if (status.code() == Code::Aborted)
    return context_.status = int32_t(Code::Aborted);
  SK_RETURN_IF_ERROR(status);
  SK_RETURN_IF_ERROR(context_.device->endCommunication());
  record.inside.store(false, std::memory_order_relaxed);
  SK_RETURN_IF_ERROR(countTransfer(number, start));
  return injectFault(context_, plan.info().id, /*after=*/true);
}

Status StageRun::countTransfer(size_t number, Moment start) {
  return countSince(start, [this, number](double seconds) {
    counters_->transferSeconds += seconds;
    stats_->transfers[number][size_t(context_.rank)].add(seconds);
  });
}

Group &StageRun::wayOf(const PendingTransfer &one) {
  const std::vector<Group *> &ways = plans_.ways_[one.number];
  return *ways[ways.size() > 1 ? size_t(one.microbatch) : 0];
}

Status StageRun::offer(PendingTransfer &one) {
  CollectivePlan *plan = plans_.transfers_[one.number].get();
  if (!context_.device) {
    CollectivePlan::publish({&plan, 1}, wayOf(one), context_.rank, {&one.buffers, 1});
    return {};
  }
  DeviceBuffers onDevice(context_, one.staged, plan->info(), 1);
  SK_RETURN_IF_ERROR(onDevice.before(one.buffers.in));
  const CollectiveBuffers buffers{onDevice.in(one.buffers.in), onDevice.out(one.buffers.out)};
  CollectivePlan::publish({&plan, 1}, wayOf(one), context_.rank, {&buffers, 1}, onDevice.copyEngine());
  return onDevice.after(nullptr);
}

Expected<bool> StageRun::finish(PendingTransfer &one, double &waited) {
  CollectivePlan &plan = *plans_.transfers_[one.number];
  if (!context_.device)
    return plan.finish(wayOf(one), context_.rank, one.buffers, hostCopyEngine(), &waited);
  if (!context_.world->isPacked())
    SK_RETURN_IF_ERROR(context_.device->startCommunication());
  DeviceBuffers onDevice(context_, one.staged, plan.info(), 1);
  // Devices do not wait where their ranks do.
  if (!plan.finish(wayOf(one), context_.rank, {onDevice.in(one.buffers.in), onDevice.out(one.buffers.out)},
                   onDevice.copyEngine()))
    return false;
  SK_RETURN_IF_ERROR(onDevice.after(one.buffers.out));
  return true;
}

Expected<int32_t> StageRun::finishAll(std::vector<PendingTransfer> &all) {
  RankRecord &record = context_.world->record(context_.rank);
  for (PendingTransfer &one : all) {
    const int64_t id = plans_.transfers_[one.number]->info().id;
    recordEntry(record, id);
    SK_ASSIGN_OR_RETURN(const Moment start, now());
    double waited = 0;
    SK_ASSIGN_OR_RETURN(const bool came, finish(one, waited));
    if (!came)
      return context_.status = int32_t(Code::Aborted);
    record.inside.store(false, std::memory_order_relaxed);
    if (counters_)
      counters_->waitSeconds += waited;
    SK_RETURN_IF_ERROR(countTransfer(one.number, start));
    if (int32_t status = injectFault(context_, id, /*after=*/true))
      return status;
  }
  all.clear();
  return 0;
}

Expected<int32_t> StageRun::receive(size_t value, int64_t microbatch) {
  auto known = received_.find(keyOf(value, microbatch));
  return known == received_.end() ? Expected<int32_t>(0) : finishAll(known->second);
}

Expected<int32_t> StageRun::waitUntilReceived(size_t value, int64_t microbatch) {
  auto known = sent_.find(keyOf(value, microbatch));
  return known == sent_.end() ? Expected<int32_t>(0) : finishAll(known->second);
}

int32_t PipelinePlans::run(sk_context &context, const std::vector<sk_program> &programs, const RankBuffers &buffers,
                           RunStats *stats) {
  try {
    Status status;
    if (context.nccl) {
      for (const auto &function : functions_)
        if (status.ok())
          status = context.nccl->prepare(function->plans, *context.world);
      if (status.ok())
        status = context.nccl->prepare(transfers_, *context.world);
    }
    if (!status.ok())
      return failRun(context, status);
    Expected<int32_t> returned = StageRun(*this, context, programs, buffers, stats).run();
    return returned.ok() ? *returned : failRun(context, returned.status());
  } catch (const std::exception &error) {
    return failRun(context, internalError(error.what()));
  }
}

} // namespace shardkit::rt
