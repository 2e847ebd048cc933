//===- PipelineCheck.cpp - Can the stages of a pipeline run? --------------===//
//
// What one stage reads and writes is checked along its own list. Whether the stages
// ever wait for each other in a circle is found by running the lists: a stage runs up
// to what it waits for, and goes on when its peer has come to that. Every list is
// fixed, so this finds a hang exactly when a run would hang.
//
//===----------------------------------------------------------------------===//

#include "ManifestReader.h"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_set>

namespace shardkit::rt {

namespace {

std::string microbatchText(int64_t microbatch) {
  return microbatch < 0 ? "" : " of microbatch " + std::to_string(microbatch);
}

class StageCheck {
public:
  StageCheck(const JsonAt &in, PipelineInfo &pipeline, size_t number)
      : in_(in), pipeline_(pipeline), number_(number), stage_(pipeline.stages[number]) {}

  void check() {
    findValuesOfStep();
    for (place_ = 0; place_ < stage_.instructions.size(); ++place_)
      checkInstruction(stage_.instructions[place_]);
    for (size_t i = 0; i < stage_.held.results.size(); ++i)
      if (!written_.count(i) && int64_t(parts_[i].size()) < pipeline_.microbatches)
        in_.fail("stage " + std::to_string(number_) + ": result '" + stage_.held.results[i].name +
                 "' is never written" + (parts_[i].empty() ? "" : " for some microbatches"));
  }

private:
  [[noreturn]] void fail(const std::string &message) const {
    in_.fail("stage " + std::to_string(number_) + ", instruction " + std::to_string(place_) + ": " + message);
  }

  /// Values are one for the step where what writes them runs once per step.
  void findValuesOfStep() {
    auto write = [&](size_t value, int64_t microbatch) { stage_.values[value].isOfStep |= microbatch < 0; };
    for (const Instruction &instruction : stage_.instructions) {
      if (instruction.kind == Instruction::Kind::Run)
        for (const ValueInfo &result : pipeline_.functions[instruction.target].results)
          if (result.slot->kind == Slot::Kind::Value)
            write(size_t(result.slot->index), instruction.microbatch);
      for (auto [number, microbatch] : instruction.transfers)
        if (pipeline_.transfers[number].toStage == number_)
          write(pipeline_.transfers[number].toValue, microbatch);
    }
  }

  std::string nameOf(size_t value, int64_t microbatch) const {
    return "value '" + stage_.values[value].name + "'" + microbatchText(microbatch);
  }
  /// The buffer of `value` that belongs to `microbatch`.
  std::pair<size_t, int64_t> bufferOf(size_t value, int64_t microbatch) const {
    if (stage_.values[value].isOfStep)
      return {value, -1};
    if (microbatch < 0)
      fail("it is once per step, but " + nameOf(value, -1) + " is one of each microbatch");
    return {value, microbatch};
  }
  void read(size_t value, int64_t microbatch, const std::string &what) const {
    if (!isThere(bufferOf(value, microbatch)))
      fail(what + " " + nameOf(value, microbatch) + ", expected one that was written and is not freed");
  }
  /// A value of the step with `init` is there from the start.
  bool isThere(std::pair<size_t, int64_t> buffer) const {
    return there_.count(buffer) || (stage_.values[buffer.first].init && !freed_.count(buffer.first));
  }
  /// `isUpdate`: the same instruction has read it.
  void write(size_t value, int64_t microbatch, bool isUpdate, const std::string &what) {
    auto buffer = bufferOf(value, microbatch);
    if (stage_.values[value].isOfStep && microbatch >= 0 && !isUpdate)
      fail(what + " " + nameOf(value, microbatch) + ", which is one of the step, without reading it");
    if (isThere(buffer) && !isUpdate)
      fail(what + " " + nameOf(value, microbatch) + " again before it is freed");
    there_.insert(buffer);
  }

  void checkInstruction(const Instruction &instruction) {
    switch (instruction.kind) {
    case Instruction::Kind::Run:
      return checkRun(instruction);
    case Instruction::Kind::Transfer:
      for (auto [number, microbatch] : instruction.transfers) {
        const TransferInfo &transfer = pipeline_.transfers[number];
        if (transfer.fromStage == number_)
          read(transfer.fromValue, microbatch, "transfer " + std::to_string(number) + " sends");
      }
      for (auto [number, microbatch] : instruction.transfers) {
        const TransferInfo &transfer = pipeline_.transfers[number];
        if (transfer.toStage == number_)
          write(transfer.toValue, microbatch, false, "transfer " + std::to_string(number) + " receives");
      }
      return;
    case Instruction::Kind::Free: {
      read(instruction.target, instruction.microbatch, "it frees");
      auto buffer = bufferOf(instruction.target, instruction.microbatch);
      there_.erase(buffer);
      freed_.insert(buffer.first);
      return;
    }
    }
  }

  void checkRun(const Instruction &instruction) {
    const FunctionInfo &function = pipeline_.functions[instruction.target];
    const int64_t microbatch = instruction.microbatch;
    std::unordered_set<int64_t> reads;
    for (const ValueInfo &argument : function.arguments)
      if (argument.slot->kind == Slot::Kind::Value) {
        read(size_t(argument.slot->index), microbatch, "function '" + function.name + "' reads");
        reads.insert(argument.slot->index);
      } else {
        checkNotUpdated(function, argument, microbatch);
      }
    for (const ValueInfo &result : function.results) {
      const size_t index = size_t(result.slot->index);
      if (result.slot->kind != Slot::Kind::Value)
        update(function, result, microbatch);
      if (result.slot->kind == Slot::Kind::Value)
        write(index, microbatch, reads.count(result.slot->index), "function '" + function.name + "' writes");
      else if (result.slot->kind == Slot::Kind::Held)
        written_.insert(index);
      else
        parts_[index].insert(microbatch);
    }
  }

  /// A result of the stage that is tied to an argument may be written where that is, so
  /// nothing reads it behind: the argument, or the part of a microbatch.
  void checkNotUpdated(const FunctionInfo &function, const ValueInfo &argument, int64_t microbatch) const {
    auto updated = updated_.find(argument.slot->index);
    if (updated == updated_.end())
      return;
    for (auto [dim, written] : updated->second.parts)
      if (argument.slot->kind != Slot::Kind::Part || dim != argument.slot->dim || written == microbatch)
        fail("function '" + function.name + "' reads argument '" + argument.name + "', which result '" +
             stage_.held.results[updated->second.result].name + "' has updated");
  }
  void update(const FunctionInfo &function, const ValueInfo &result, int64_t microbatch) {
    const ValueInfo &held = stage_.held.results[size_t(result.slot->index)];
    if (!held.tied)
      return;
    for (size_t k = 0; k < function.arguments.size(); ++k) {
      const Slot &slot = *function.arguments[k].slot;
      if (slot.kind != Slot::Kind::Value && slot.index == *held.tied &&
          (result.tied != std::optional(int64_t(k)) || slot.kind != result.slot->kind || slot.dim != result.slot->dim))
        fail("function '" + function.name + "' reads argument '" + function.arguments[k].name +
             "' and is not said to update it, but result '" + held.name + "' of the stage is tied to it");
    }
    Updated &updated = updated_.try_emplace(*held.tied, Updated{size_t(result.slot->index), {}}).first->second;
    if (updated.result != size_t(result.slot->index))
      fail("results '" + stage_.held.results[updated.result].name + "' and '" + held.name +
           "' of the stage are tied to one argument");
    updated.parts.insert({result.slot->kind == Slot::Kind::Part ? result.slot->dim : -1, microbatch});
  }

  const JsonAt &in_;
  const PipelineInfo &pipeline_;
  const size_t number_;
  StageInfo &stage_;
  size_t place_ = 0;
  std::set<std::pair<size_t, int64_t>> there_; ///< Value and microbatch, -1 for the step.
  std::set<size_t> freed_;                     ///< Once at least.
  std::set<size_t> written_;                   ///< Results that were written whole.
  std::map<size_t, std::set<int64_t>> parts_;  ///< Microbatches of results that were.
  /// By argument of the stage: the result that updates it, and what is written: a dim and a
  /// microbatch, -1 for all of it.
  struct Updated {
    size_t result;
    std::set<std::pair<int64_t, int64_t>> parts;
  };
  std::map<int64_t, Updated> updated_;
};

/// Runs all lists together.
class WaitCheck {
public:
  WaitCheck(const JsonAt &in, PipelineInfo &pipeline)
      : in_(in), pipeline_(pipeline), stages_(pipeline.stages), states_(stages_.size()) {}

  void check() {
    matchTransfers();
    for (size_t s = stages_.size(); s-- > 0;)
      ready_.push_back(s);
    while (!ready_.empty()) {
      const size_t s = ready_.back();
      ready_.pop_back();
      State &state = states_[s];
      while (state.place < stages_[s].instructions.size() && perform(s, stages_[s].instructions[state.place])) {
        stages_[s].instructions[state.place++].order = ++state.order;
        state.awaits = SIZE_MAX;
      }
      if (state.place == stages_[s].instructions.size())
        end(s);
    }
    std::string stuck;
    size_t shown = 0;
    for (size_t s = 0; s < stages_.size(); ++s)
      if (states_[s].place < stages_[s].instructions.size() && shown++ < 8)
        stuck += (stuck.empty() ? "" : ", ") + place(s, states_[s].place) + " waits for stage " +
                 std::to_string(states_[s].awaits);
    if (!stuck.empty())
      in_.fail("the stages would wait for ever: " + stuck);
  }

private:
  using Unit = std::pair<size_t, int64_t>; ///< A transfer and its microbatch.
  struct State {
    size_t place = 0, awaits = SIZE_MAX;
    int64_t order = 0;
    std::map<std::pair<size_t, int64_t>, Unit> incoming;          ///< By value and microbatch; not taken yet.
    std::map<std::pair<size_t, int64_t>, std::vector<Unit>> sent; ///< Likewise.
  };

  std::string place(size_t s, size_t i) const {
    return "stage " + std::to_string(s) + ", instruction " + std::to_string(i);
  }

  /// What two stages post with each other is the same on both, in one order.
  void matchTransfers() {
    std::map<std::pair<size_t, size_t>, std::vector<size_t>> posts; // By stage and peer.
    for (size_t s = 0; s < stages_.size(); ++s)
      for (size_t i = 0; i < stages_[s].instructions.size(); ++i)
        if (const Instruction &own = stages_[s].instructions[i]; own.kind == Instruction::Kind::Transfer)
          posts[{s, own.target}].push_back(i);
    for (const auto &[ends, mine] : posts) {
      auto [s, peer] = ends;
      auto found = posts.find({peer, s});
      const size_t others = found == posts.end() ? 0 : found->second.size();
      for (size_t k = 0; k < mine.size(); ++k) {
        if (k >= others)
          in_.fail(place(s, mine[k]) + " has a transfer with stage " + std::to_string(peer) +
                   ", which has none left with stage " + std::to_string(s) + ", expected as many on both");
        const size_t theirs = found->second[k];
        if (stages_[s].instructions[mine[k]].transfers != stages_[peer].instructions[theirs].transfers)
          in_.fail(place(s, mine[k]) + " and " + place(peer, theirs) +
                   " meet for other transfers, expected the same in one order");
      }
    }
  }

  std::pair<size_t, int64_t> bufferOf(size_t s, size_t value, int64_t microbatch) const {
    return {value, stages_[s].values[value].isOfStep ? -1 : microbatch};
  }

  bool perform(size_t s, const Instruction &instruction) {
    State &state = states_[s];
    switch (instruction.kind) {
    case Instruction::Kind::Run:
      for (const ValueInfo &argument : pipeline_.functions[instruction.target].arguments)
        if (argument.slot->kind == Slot::Kind::Value &&
            !take(s, bufferOf(s, size_t(argument.slot->index), instruction.microbatch)))
          return false;
      return true;
    case Instruction::Kind::Transfer:
      for (const Unit &unit : instruction.transfers)
        if (const TransferInfo &transfer = pipeline_.transfers[unit.first];
            transfer.fromStage == s && !take(s, bufferOf(s, transfer.fromValue, unit.second)))
          return false;
      for (const Unit &unit : instruction.transfers) {
        const TransferInfo &transfer = pipeline_.transfers[unit.first];
        if (transfer.fromStage == s) {
          if (!posted_.emplace(unit, state.order + 1).second)
            in_.fail(place(s, state.place) + ": transfer " + std::to_string(unit.first) + microbatchText(unit.second) +
                     " comes a second time, expected once in a step");
          state.sent[bufferOf(s, transfer.fromValue, unit.second)].push_back(unit);
        } else {
          state.incoming[bufferOf(s, transfer.toValue, unit.second)] = unit;
        }
      }
      ready_.push_back(instruction.target);
      return true;
    case Instruction::Kind::Free:
      const auto buffer = bufferOf(s, instruction.target, instruction.microbatch);
      return take(s, buffer) && isGone(s, buffer);
    }
    return true;
  }

  bool take(size_t s, std::pair<size_t, int64_t> buffer) {
    State &state = states_[s];
    auto known = state.incoming.find(buffer);
    if (known == state.incoming.end())
      return true;
    const Unit unit = known->second;
    const size_t from = pipeline_.transfers[unit.first].fromStage;
    state.awaits = from;
    auto posted = posted_.find(unit);
    if (posted == posted_.end())
      return false;
    state.order = std::max(state.order, posted->second);
    taken_[unit] = state.order + 1;
    state.incoming.erase(known);
    ready_.push_back(from);
    return true;
  }

  bool isGone(size_t s, std::pair<size_t, int64_t> buffer) {
    State &state = states_[s];
    auto known = state.sent.find(buffer);
    if (known == state.sent.end())
      return true;
    for (const Unit &unit : known->second) {
      state.awaits = pipeline_.transfers[unit.first].toStage;
      auto taken = taken_.find(unit);
      if (taken == taken_.end())
        return false;
      state.order = std::max(state.order, taken->second);
    }
    state.sent.erase(known);
    return true;
  }

  /// What is left at the end is taken.
  void end(size_t s) {
    while (!states_[s].incoming.empty() && take(s, states_[s].incoming.begin()->first))
      ;
  }

  const JsonAt &in_;
  const PipelineInfo &pipeline_;
  std::vector<StageInfo> &stages_;
  std::vector<State> states_;
  std::vector<size_t> ready_;
  std::map<Unit, int64_t> posted_, taken_; ///< Their orders.
};

} // namespace

void checkInstructions(const JsonAt &in, PipelineInfo &pipeline) {
  for (size_t s = 0; s < pipeline.stages.size(); ++s)
    StageCheck(in, pipeline, s).check();
  WaitCheck(in, pipeline).check();
}

} // namespace shardkit::rt
