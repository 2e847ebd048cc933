//===- PipelineRun.cpp - What a rank does in a pipeline ---------------------===//

#include "PipelineRun.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <unordered_map>

namespace shardkit::rt {

namespace {

double secondsSince(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

std::string microbatchText(int64_t microbatch) {
  return microbatch < 0 ? "once per step" : "of microbatch " + std::to_string(microbatch);
}

std::pair<size_t, size_t> inOrder(size_t a, size_t b) { return {std::min(a, b), std::max(a, b)}; }

template <typename T> void fillWith(void *data, int64_t elements, T value) {
  std::fill_n(static_cast<T *>(data), elements, value);
}

/// The bits of the element that `init` means.
uint64_t elementBits(Init init, DType dtype) {
  const int bits = dtype == DType::I1 ? 1 : int(dtypeSize(dtype) * 8);
  const uint64_t ones = ~uint64_t(0) >> (64 - bits), sign = uint64_t(1) << (bits - 1);
  if (init == Init::Zero)
    return 0;
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

void fill(void *data, const StageValue &value) {
  const uint64_t bits = elementBits(*value.init, value.dtype);
  switch (dtypeSize(value.dtype)) {
  case 1:
    return fillWith(data, value.localElements, uint8_t(bits));
  case 2:
    return fillWith(data, value.localElements, uint16_t(bits));
  case 4:
    return fillWith(data, value.localElements, uint32_t(bits));
  default:
    return fillWith(data, value.localElements, bits);
  }
}

/// The part of microbatch m in the local buffer of an argument or result of a stage:
/// `rows` runs of `run` bytes, one behind the other in the part, `stride` bytes apart
/// in the whole.
struct PartPlace {
  int64_t rows = 1, run, stride, offset;
  PartPlace(const ValueInfo &part, int64_t microbatch, int64_t microbatches)
      : run(dtypeSize(part.dtype)) {
    for (size_t d = 0; d < part.localShape.size(); ++d)
      (int64_t(d) < part.slot->dim ? rows : run) *= part.localShape[d];
    stride = run * microbatches;
    offset = run * microbatch;
  }
};

} // namespace

PipelinePlans::PipelinePlans(const PipelineInfo &pipeline, World &world)
    : pipeline_(pipeline), ranks_(size_t(world.size())) {
  std::vector<MeshRanks> meshes;
  for (size_t s = 0; s < pipeline.stages.size(); ++s) {
    const std::vector<int64_t> &ranks = pipeline.stages[s].ranks;
    meshes.emplace_back(std::vector<int>(ranks.begin(), ranks.end()));
    for (int r = 0; r < meshes[s].size(); ++r)
      ranks_[size_t(meshes[s][r])] = {s, r};
  }
  for (size_t f = 0; f < pipeline.functions.size(); ++f) {
    functions_.push_back(
        std::make_unique<FunctionPlans>(pipeline.functions[f], world, meshes[pipeline.stageOf[f]]));
    if (status.ok() && !functions_.back()->status.ok())
      status =
          functions_.back()->status.withContext("function '" + pipeline.functions[f].name + "'");
  }
  for (const TransferInfo &transfer : pipeline.transfers) {
    const MeshRanks &from = meshes[transfer.fromStage], &to = meshes[transfer.toStage];
    transfers_.push_back(std::make_unique<CollectivePlan>(transfer.move, world, from, to));
    groups_[inOrder(transfer.fromStage, transfer.toStage)] = &transfers_.back()->group(from[0]);
  }
}

void PipelinePlans::prepare(RunStats &stats) const {
  stats.functions.resize(functions_.size());
  for (size_t f = 0; f < functions_.size(); ++f) {
    const size_t ranks = size_t(pipeline_.functions[f].devices);
    stats.functions[f].runs.resize(ranks);
    stats.functions[f].collectives.resize(ranks);
    for (auto &perRank : stats.functions[f].collectives)
      perRank.resize(functions_[f]->plans.size());
  }
  stats.transfers.resize(transfers_.size());
  for (auto &perRank : stats.transfers)
    perRank.resize(ranks_.size());
  stats.ranks.resize(ranks_.size());
}

std::string PipelinePlans::title() const { return "pipeline '" + pipeline_.whole.name + "'"; }

const Instruction *PipelinePlans::find(int rank, int64_t instruction) const {
  const auto &list = pipeline_.stages[ranks_[size_t(rank)].first].instructions;
  return instruction >= 0 && instruction < int64_t(list.size()) ? &list[size_t(instruction)]
                                                                : nullptr;
}

std::string PipelinePlans::meeting(int rank, int64_t instruction, int64_t id) const {
  if (id >= TransferInfo::transferId)
    return "transfer " + std::to_string(id - TransferInfo::transferId);
  const Instruction *in = find(rank, instruction);
  if (in && in->kind == Instruction::Kind::Run)
    return RunningFunction(pipeline_.functions[in->target]).meeting(rank, instruction, id);
  return "collective " + std::to_string(id);
}

std::string PipelinePlans::place(int rank, int64_t instruction) const {
  const Instruction *in = find(rank, instruction);
  std::string text = "stage " + std::to_string(ranks_[size_t(rank)].first);
  if (!in)
    return text;
  text += ", instruction " + std::to_string(instruction) + " (";
  switch (in->kind) {
  case Instruction::Kind::Run:
    return text + pipeline_.functions[in->target].name + " " + microbatchText(in->microbatch) + ")";
  case Instruction::Kind::Transfer:
    for (size_t i = 0; i < in->transfers.size() && i < 4; ++i)
      text += (i ? ", transfer " : "transfer ") + std::to_string(in->transfers[i].first) + " " +
              microbatchText(in->transfers[i].second);
    return text + (in->transfers.size() > 4 ? ", ... with stage " : " with stage ") +
           std::to_string(in->target) + ")";
  case Instruction::Kind::Free:
    return text + "free)";
  }
  return text;
}

/// One rank in one step.
class StageRun {
public:
  StageRun(PipelinePlans &plans, sk_context &context, const std::vector<sk_program> &programs,
           RankMemory &memory, RunStats *stats)
      : plans_(plans), pipeline_(plans.pipeline_), context_(context), programs_(programs),
        memory_(memory), stats_(stats), number_(plans.ranks_[size_t(context.rank)].first),
        stage_(pipeline_.stages[number_]) {
    context.meshRank = plans.ranks_[size_t(context.rank)].second;
    if (stats)
      counters_ = &stats->ranks[size_t(context.rank)];
  }
  ~StageRun() {
    for (auto &[place, buffer] : values_)
      memory_.values().giveBack(std::move(buffer));
  }

  int32_t run() {
    memory_.values().startPeak();
    for (size_t v = 0; v < stage_.values.size(); ++v)
      if (stage_.values[v].init)
        fill(bufferOf(v, -1).data(), stage_.values[v]);
    RankRecord &record = context_.world->record(context_.rank);
    for (size_t i = 0; i < stage_.instructions.size(); ++i) {
      if (context_.world->failed())
        return int32_t(Code::Aborted);
      const Instruction &instruction = stage_.instructions[i];
      record.collective.store(-1, std::memory_order_relaxed);
      record.instruction.store(int64_t(i), std::memory_order_relaxed);
      record.entered.store(uint64_t(instruction.order) << instructionShift,
                           std::memory_order_relaxed);
      if (int32_t status = perform(instruction))
        return status;
    }
    if (counters_)
      counters_->peakValueBytes = std::max(counters_->peakValueBytes, memory_.values().peakBytes());
    return 0;
  }

private:
  int32_t perform(const Instruction &instruction) {
    switch (instruction.kind) {
    case Instruction::Kind::Run:
      return runFunction(instruction);
    case Instruction::Kind::Transfer:
      return meet(instruction);
    case Instruction::Kind::Free:
      break;
    }
    auto place = values_.find(keyOf(instruction.target, instruction.microbatch));
    memory_.values().giveBack(std::move(place->second));
    values_.erase(place);
    return 0;
  }

  int64_t keyOf(size_t value, int64_t microbatch) const {
    return int64_t(value) * (pipeline_.microbatches + 1) +
           (stage_.values[value].isOfStep ? 0 : microbatch + 1);
  }
  /// The buffer of a value, made if it is not there.
  Buffer &bufferOf(size_t value, int64_t microbatch) {
    auto [place, added] = values_.try_emplace(keyOf(value, microbatch));
    if (added)
      place->second = memory_.values().take(stage_.values[value].localBytes());
    return place->second;
  }

  int32_t runFunction(const Instruction &instruction) {
    const FunctionInfo &function = pipeline_.functions[instruction.target];
    const int64_t m = instruction.microbatch, all = pipeline_.microbatches;
    // Parts that are copied, and results whose buffers are read while they are written.
    std::vector<Buffer> copies;
    std::vector<std::pair<const ValueInfo *, size_t>> parts, updates;
    auto copy = [&](int64_t bytes) {
      copies.push_back(memory_.values().take(bytes));
      return copies.back().data();
    };
    arguments_.clear();
    for (const ValueInfo &argument : function.arguments) {
      const size_t index = size_t(argument.slot->index);
      if (argument.slot->kind == Slot::Kind::Value) {
        arguments_.push_back(bufferOf(index, m).data());
        continue;
      }
      char *held = static_cast<char *>(memory_.argument(index));
      if (argument.slot->kind == Slot::Kind::Part) {
        const PartPlace place(argument, m, all);
        held += place.offset;
        if (place.rows > 1) {
          char *part = static_cast<char *>(copy(argument.localBytes()));
          for (int64_t r = 0; r < place.rows; ++r)
            std::memcpy(part + r * place.run, held + r * place.stride, size_t(place.run));
          held = part;
        }
      }
      arguments_.push_back(held);
    }
    results_.clear();
    for (const ValueInfo &result : function.results) {
      const size_t index = size_t(result.slot->index);
      if (result.slot->kind == Slot::Kind::Value) {
        auto isSame = [&](const ValueInfo &argument) {
          return argument.slot->kind == Slot::Kind::Value && argument.slot->index == int64_t(index);
        };
        if (std::any_of(function.arguments.begin(), function.arguments.end(), isSame)) {
          updates.emplace_back(&result, copies.size());
          results_.push_back(copy(result.localBytes()));
        } else {
          results_.push_back(bufferOf(index, m).data());
        }
        continue;
      }
      char *held = static_cast<char *>(memory_.result(index));
      if (result.slot->kind == Slot::Kind::Part) {
        const PartPlace place(result, m, all);
        held += place.offset;
        if (place.rows > 1) {
          parts.emplace_back(&result, copies.size());
          held = static_cast<char *>(copy(result.localBytes()));
        }
      }
      results_.push_back(held);
    }

    context_.plans = plans_.functions_[instruction.target].get();
    RunStats::Function *counters = stats_ ? &stats_->functions[instruction.target] : nullptr;
    context_.stats = counters ? &counters->collectives[size_t(context_.meshRank)] : nullptr;
    auto start = std::chrono::steady_clock::now();
    int32_t status = programs_[instruction.target](&context_, arguments_.data(), results_.data(),
                                                   memory_.arena());
    if (counters) {
      const double seconds = secondsSince(start);
      counters->runs[size_t(context_.meshRank)].add(seconds);
      counters_->runSeconds += seconds;
    }
    context_.plans = nullptr;

    for (auto [result, k] : updates)
      std::swap(bufferOf(size_t(result->slot->index), m), copies[k]);
    for (auto [result, k] : parts) {
      const PartPlace place(*result, m, all);
      const char *part = static_cast<const char *>(copies[k].data());
      char *held = static_cast<char *>(memory_.result(size_t(result->slot->index))) + place.offset;
      for (int64_t r = 0; r < place.rows; ++r)
        std::memcpy(held + r * place.stride, part + r * place.run, size_t(place.run));
    }
    for (Buffer &buffer : copies)
      memory_.values().giveBack(std::move(buffer));
    return status;
  }

  int32_t meet(const Instruction &instruction) {
    std::vector<CollectivePlan *> plans;
    std::vector<CollectiveBuffers> buffers;
    for (auto [number, microbatch] : instruction.transfers) {
      const TransferInfo &transfer = pipeline_.transfers[number];
      CollectiveBuffers &mine = buffers.emplace_back();
      if (transfer.fromStage == number_)
        mine.in = bufferOf(transfer.fromValue, microbatch).data();
      else
        mine.out = bufferOf(transfer.toValue, microbatch).data();
      plans.push_back(plans_.transfers_[number].get());
    }
    for (CollectivePlan *plan : plans)
      if (int32_t status = injectFault(context_, plan->info().id, /*after=*/false))
        return status;
    RankRecord &record = context_.world->record(context_.rank);
    recordEntry(record, plans[0]->info().id);
    Group &group = *plans_.groups_.at(inOrder(number_, instruction.target));
    auto start = std::chrono::steady_clock::now();
    double waited = 0;
    CollectivePlan::offer(plans, group, context_.rank, buffers);
    if (!CollectivePlan::meet(plans, group, context_.rank, buffers, hostMover(), &waited))
      return context_.status = int32_t(Code::Aborted);
    record.inside.store(false, std::memory_order_relaxed);
    if (stats_) {
      const double seconds = secondsSince(start);
      counters_->transferSeconds += seconds;
      counters_->waitSeconds += waited;
      for (size_t k = 0; k < plans.size(); ++k)
        stats_->transfers[instruction.transfers[k].first][size_t(context_.rank)].add(
            k == 0 ? seconds : 0);
    }
    for (CollectivePlan *plan : plans)
      if (int32_t status = injectFault(context_, plan->info().id, /*after=*/true))
        return status;
    return 0;
  }

  PipelinePlans &plans_;
  const PipelineInfo &pipeline_;
  sk_context &context_;
  const std::vector<sk_program> &programs_;
  RankMemory &memory_;
  RunStats *stats_;
  RunStats::Rank *counters_ = nullptr;
  const size_t number_;
  const StageInfo &stage_;
  std::unordered_map<int64_t, Buffer> values_; ///< By keyOf.
  std::vector<void *> arguments_, results_;    ///< Of the function that runs.
};

int32_t PipelinePlans::run(sk_context &context, const std::vector<sk_program> &programs,
                           RankMemory &memory, RunStats *stats) {
  try {
    return StageRun(*this, context, programs, memory, stats).run();
  } catch (const std::exception &error) {
    return failRun(context, internalError(error.what()));
  }
}

} // namespace shardkit::rt
