//===- PipelineCheck.cpp - Verification of instruction lists --------------===//
//
// The reads and writes of a stage are checked along its list. Circular waits between stages are
// found by running the lists: a stage runs up to the point where it waits, and continues when
// its peer has reached the awaited instruction. Every list is fixed, so this finds a hang
// exactly if a run would hang.
//
//===----------------------------------------------------------------------===//

#include "ManifestReader.h"

#include "shardkit/rt/Manifest/ListChecks.h"
#include "shardkit/rt/Manifest/ListReplay.h"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_set>

namespace shardkit::rt {

namespace {

std::string microbatchText(int64_t microbatch) {
  return microbatch < 0 ? "" : " of microbatch " + std::to_string(microbatch);
}

/// Checks the reads and writes along the list of one stage. Example:
///
///   ["transfer", 0, [], [[0, 0]]]   writes value 0 of microbatch 0
///   ["run", 1, 0]                   reads it: it was written
///   ["free", 0, 0]                  it is no longer there
///   ["run", 1, 0]                   error: reads value 0 of microbatch 0, which was freed
class StageCheck {
public:
  StageCheck(const JsonAt &in, PipelineInfo &pipeline, size_t number)
      : in_(in), pipeline_(pipeline), number_(number), stage_(pipeline.stages[number]) {}

  void check();

private:
  [[noreturn]] void fail(const std::string &message) const {
    in_.fail("stage " + std::to_string(number_) + ", instruction " + std::to_string(index_) + ": " + message);
  }

  /// Values are one for the step where what writes them runs once per step.
  void findValuesOfStep();
  std::string nameOf(size_t value, int64_t microbatch) const {
    return "value '" + stage_.values[value].name + "'" + microbatchText(microbatch);
  }
  /// The buffer of `value` that belongs to `microbatch`.
  BufferStates::Buffer bufferOf(size_t value, int64_t microbatch) const;
  void read(size_t value, int64_t microbatch, const std::string &what) const;
  /// `isUpdate`: the same instruction has read it.
  void write(size_t value, int64_t microbatch, bool isUpdate, const std::string &what);
  void checkInstruction(const Instruction &instruction);
  void checkRun(const Instruction &instruction);

  /// A result of the stage that is tied to an argument may be written to its memory, so no
  /// function reads the argument, or the slice of that microbatch, after the write.
  void checkNotUpdated(const FunctionInfo &function, const ValueInfo &argument, int64_t microbatch) const;
  void update(const FunctionInfo &function, const ValueInfo &result, int64_t microbatch);

  const JsonAt &in_;
  const PipelineInfo &pipeline_;
  const size_t number_;
  StageInfo &stage_;
  size_t index_ = 0;
  /// A value of the step with `init` is present from the start.
  BufferStates states_{[this](int64_t value) { return stage_.values[size_t(value)].init.has_value(); }};
  std::set<size_t> written_;                   ///< Results that were written in full.
  std::map<size_t, std::set<int64_t>> slices_; ///< Microbatches of results that were written.
  /// By argument of the stage: the result that updates it, and the slices that are written: dim
  /// and microbatch, -1 for all of it.
  struct Updated {
    size_t result;
    std::set<std::pair<int64_t, int64_t>> slices;
  };
  std::map<int64_t, Updated> updated_;
};

void StageCheck::check() {
  findValuesOfStep();
  for (index_ = 0; index_ < stage_.instructions.size(); ++index_)
    checkInstruction(stage_.instructions[index_]);
  for (size_t i = 0; i < stage_.held.results.size(); ++i)
    if (!written_.count(i) && int64_t(slices_[i].size()) < pipeline_.microbatches)
      in_.fail("stage " + std::to_string(number_) + ": result '" + stage_.held.results[i].name + "' is never written" +
               (slices_[i].empty() ? "" : " for some microbatches"));
}

void StageCheck::findValuesOfStep() {
  auto write = [&](size_t value, int64_t microbatch) { stage_.values[value].isOfStep |= microbatch < 0; };
  for (const Instruction &instruction : stage_.instructions) {
    if (instruction.kind == Instruction::Kind::Run)
      for (const ValueInfo &result : pipeline_.functions[instruction.target].results)
        if (result.slot->isValue())
          write(size_t(result.slot->index), instruction.microbatch);
    for (auto [number, microbatch] : instruction.transfers)
      if (pipeline_.channels[number].toStage == number_)
        write(pipeline_.channels[number].toValue, microbatch);
  }
}

BufferStates::Buffer StageCheck::bufferOf(size_t value, int64_t microbatch) const {
  if (stage_.values[value].isOfStep)
    return {int64_t(value), -1};
  if (microbatch < 0)
    fail("it is once per step, but " + nameOf(value, -1) + " is one of each microbatch");
  return {int64_t(value), microbatch};
}

void StageCheck::read(size_t value, int64_t microbatch, const std::string &what) const {
  if (states_.read(bufferOf(value, microbatch)) != BufferStates::State::Present)
    fail(what + " " + nameOf(value, microbatch) + ", expected one that was written and is not freed");
}

void StageCheck::write(size_t value, int64_t microbatch, bool isUpdate, const std::string &what) {
  auto buffer = bufferOf(value, microbatch);
  if (stage_.values[value].isOfStep && microbatch >= 0 && !isUpdate)
    fail(what + " " + nameOf(value, microbatch) + ", which is one of the step, without reading it");
  if (states_.write(buffer) == BufferStates::State::Present && !isUpdate)
    fail(what + " " + nameOf(value, microbatch) + " again before it is freed");
}

void StageCheck::checkInstruction(const Instruction &instruction) {
  switch (instruction.kind) {
  case Instruction::Kind::Run:
    return checkRun(instruction);
  case Instruction::Kind::Transfer:
    for (auto [number, microbatch] : instruction.transfers) {
      const ChannelInfo &channel = pipeline_.channels[number];
      if (channel.fromStage == number_)
        read(channel.fromValue, microbatch, "channel " + std::to_string(number) + " sends");
    }
    for (auto [number, microbatch] : instruction.transfers) {
      const ChannelInfo &channel = pipeline_.channels[number];
      if (channel.toStage == number_)
        write(channel.toValue, microbatch, false, "channel " + std::to_string(number) + " receives");
    }
    return;
  case Instruction::Kind::Free: {
    read(instruction.target, instruction.microbatch, "it frees");
    states_.free(bufferOf(instruction.target, instruction.microbatch));
    return;
  }
  }
}

void StageCheck::checkRun(const Instruction &instruction) {
  const FunctionInfo &function = pipeline_.functions[instruction.target];
  const int64_t microbatch = instruction.microbatch;
  std::unordered_set<int64_t> reads;
  for (const ValueInfo &argument : function.arguments)
    if (argument.slot->isValue()) {
      read(size_t(argument.slot->index), microbatch, "function '" + function.name + "' reads");
      reads.insert(argument.slot->index);
    } else {
      checkNotUpdated(function, argument, microbatch);
    }
  for (const ValueInfo &result : function.results) {
    const size_t index = size_t(result.slot->index);
    if (!result.slot->isValue())
      update(function, result, microbatch);
    if (result.slot->isValue())
      write(index, microbatch, reads.count(result.slot->index), "function '" + function.name + "' writes");
    else if (!result.slot->isMicrobatch())
      written_.insert(index);
    else
      slices_[index].insert(microbatch);
  }
}

void StageCheck::checkNotUpdated(const FunctionInfo &function, const ValueInfo &argument, int64_t microbatch) const {
  auto updated = updated_.find(argument.slot->index);
  if (updated == updated_.end())
    return;
  for (auto [dim, written] : updated->second.slices)
    if (!argument.slot->isMicrobatch() || dim != argument.slot->dim || written == microbatch)
      fail("function '" + function.name + "' reads argument '" + argument.name + "', which result '" +
           stage_.held.results[updated->second.result].name + "' has updated");
}

void StageCheck::update(const FunctionInfo &function, const ValueInfo &result, int64_t microbatch) {
  const ValueInfo &held = stage_.held.results[size_t(result.slot->index)];
  if (!held.tied)
    return;
  for (size_t k = 0; k < function.arguments.size(); ++k) {
    const Slot &slot = *function.arguments[k].slot;
    if (!slot.isValue() && slot.index == *held.tied &&
        (result.tied != std::optional(int64_t(k)) || slot.dim != result.slot->dim))
      fail("function '" + function.name + "' reads argument '" + function.arguments[k].name +
           "' and does not update it, but result '" + held.name + "' of the stage is tied to it");
  }
  Updated &updated = updated_.try_emplace(*held.tied, Updated{size_t(result.slot->index), {}}).first->second;
  if (updated.result != size_t(result.slot->index))
    fail("results '" + stage_.held.results[updated.result].name + "' and '" + held.name +
         "' of the stage are tied to one argument");
  updated.slices.insert({result.slot->dim, microbatch});
}

/// Runs all lists together (ListReplay.h) and sets the order of the instructions. Example: stage 0
/// runs to its end, since a transfer does not wait. Stage 1 waits at ["run", 1, 0] for channel 0
/// until stage 0 has sent it. If stage 0 waited for a value of stage 1 before that, none could
/// continue: an error.
class WaitCheck {
public:
  WaitCheck(const JsonAt &in, PipelineInfo &pipeline)
      : in_(in), pipeline_(pipeline), stages_(pipeline.stages), orders_(stages_.size()) {}

  void check();

private:
  std::string locationOf(size_t s, size_t i) const {
    return "stage " + std::to_string(s) + ", instruction " + std::to_string(i);
  }
  /// Checks that the transfers of two stages with each other are the same on both, in one order.
  void matchTransfers();
  void read(size_t s, size_t i, ListReplay::Step &step) const;
  /// Orders an instruction after those that it waited for.
  void setOrder(size_t s, size_t i, const std::vector<ListReplay::Move> &awaited);
  ListReplay::Buffer bufferOf(size_t s, size_t value, int64_t microbatch) const {
    return {int64_t(value), stages_[s].values[value].isOfStep ? -1 : microbatch};
  }

  const JsonAt &in_;
  const PipelineInfo &pipeline_;
  std::vector<StageInfo> &stages_;
  std::vector<int64_t> orders_;                         ///< Of the last instruction of each stage.
  std::map<ListReplay::Move, int64_t> sent_, received_; ///< The orders of moves.
};

void WaitCheck::check() {
  matchTransfers();
  std::vector<size_t> lengths;
  for (const StageInfo &stage : stages_)
    lengths.push_back(stage.instructions.size());
  ListReplay replay(
      lengths, [&](size_t s, size_t i, ListReplay::Step &step) { read(s, i, step); },
      [&](size_t s, size_t i, const std::vector<ListReplay::Move> &awaited) { setOrder(s, i, awaited); });
  const std::vector<ListReplay::Stop> stops = replay.run();
  std::string stuck;
  size_t shown = 0;
  for (size_t s = 0; s < stops.size(); ++s)
    if (stops[s].index < lengths[s] && shown++ < 8) {
      const ListReplay::Move &awaited = *stops[s].awaited;
      stuck += (stuck.empty() ? "" : ", ") + locationOf(s, stops[s].index) + " waits for stage " +
               std::to_string(awaited.from == s ? awaited.to : awaited.from);
    }
  if (!stuck.empty())
    in_.fail("the stages would wait forever: " + stuck);
}

void WaitCheck::matchTransfers() {
  std::vector<size_t> lengths;
  for (const StageInfo &stage : stages_)
    lengths.push_back(stage.instructions.size());
  auto getPeer = [&](size_t s, size_t i) -> std::optional<size_t> {
    const Instruction &instruction = stages_[s].instructions[i];
    return instruction.kind == Instruction::Kind::Transfer ? std::optional(instruction.target) : std::nullopt;
  };
  rt::matchTransfers(lengths, getPeer, [&](size_t s, size_t i, size_t peer, std::optional<size_t> other) {
    if (!other)
      in_.fail(locationOf(s, i) + " has a transfer with stage " + std::to_string(peer) +
               ", which has none left with stage " + std::to_string(s) + ", expected as many on both");
    if (stages_[s].instructions[i].transfers != stages_[peer].instructions[*other].transfers)
      in_.fail(locationOf(s, i) + " and " + locationOf(peer, *other) +
               " list other channels, expected the same in one order");
    return true;
  });
}

void WaitCheck::read(size_t s, size_t i, ListReplay::Step &step) const {
  const Instruction &instruction = stages_[s].instructions[i];
  switch (instruction.kind) {
  case Instruction::Kind::Run:
    for (const ValueInfo &argument : pipeline_.functions[instruction.target].arguments)
      if (argument.slot->isValue())
        step.uses.push_back(bufferOf(s, size_t(argument.slot->index), instruction.microbatch));
    break;
  case Instruction::Kind::Transfer:
    for (auto [number, microbatch] : instruction.transfers) {
      const ChannelInfo &channel = pipeline_.channels[number];
      const ListReplay::Move move{channel.fromStage, channel.toStage, int64_t(number), microbatch};
      if (channel.fromStage == s) {
        const ListReplay::Buffer buffer = bufferOf(s, channel.fromValue, microbatch);
        step.uses.push_back(buffer);
        step.sends.emplace_back(buffer, move);
      } else {
        step.receives.emplace_back(bufferOf(s, channel.toValue, microbatch), move);
      }
    }
    break;
  case Instruction::Kind::Free:
    step.freed = bufferOf(s, instruction.target, instruction.microbatch);
    break;
  }
}

void WaitCheck::setOrder(size_t s, size_t i, const std::vector<ListReplay::Move> &awaited) {
  int64_t &order = orders_[s];
  for (const ListReplay::Move &move : awaited) {
    order = std::max(order, move.to == s ? sent_.at(move) : received_.at(move));
    if (move.to == s)
      received_[move] = order + 1;
  }
  Instruction &instruction = stages_[s].instructions[i];
  instruction.order = ++order;
  for (auto [number, microbatch] : instruction.transfers)
    if (const ChannelInfo &channel = pipeline_.channels[number];
        channel.fromStage == s &&
        !sent_.emplace(ListReplay::Move{s, channel.toStage, int64_t(number), microbatch}, order).second)
      in_.fail(locationOf(s, i) + ": channel " + std::to_string(number) + microbatchText(microbatch) +
               " is sent a second time, expected once in a step");
}

} // namespace

void checkInstructions(const JsonAt &in, PipelineInfo &pipeline) {
  for (size_t s = 0; s < pipeline.stages.size(); ++s)
    StageCheck(in, pipeline, s).check();
  WaitCheck(in, pipeline).check();
}

} // namespace shardkit::rt
