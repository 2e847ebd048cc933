//===- ListReplay.h - Running instruction lists together --------*- C++ -*-===//
//
// The rules by which the stages of a pipeline wait for each other, once for the compiler
// (which verifies and draws schedules) and for the runtime (which verifies manifests):
//
// * A transfer never waits for the other stage.
// * The first use of a buffer that is received (a run that reads it, a transfer that forwards it,
//   its free) waits until the other stage has sent it, and receives it.
// * The free of a buffer that was sent waits until all receivers have received it.
// * Buffers that are received and never used are received at the end of the list.
//
// All lists are fixed, so a stage waits forever here exactly if it would in a run.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDKIT_RT_MANIFEST_LISTREPLAY_H
#define SHARDKIT_RT_MANIFEST_LISTREPLAY_H

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

namespace shardkit::rt {

/// Runs the lists of all stages in an order in which they could run. Example: stage 1 begins with
/// a run that uses buffer h.0, which a transfer before it receives from stage 0. It stops there
/// until the transfer of stage 0 is performed, which wakes it.
class ListReplay {
public:
  /// A value and a microbatch, -1 for the step.
  using Buffer = std::pair<int64_t, int64_t>;
  /// A buffer on its way: `id` and `microbatch` identify it between two stages.
  struct Move {
    size_t from = 0, to = 0;
    int64_t id = -1, microbatch = -1;
    bool operator<(const Move &other) const {
      return std::tie(from, to, id, microbatch) < std::tie(other.from, other.to, other.id, other.microbatch);
    }
  };
  /// An instruction, to the extent that it waits: in this order it uses buffers, begins to send and to
  /// receive, and frees.
  struct Step {
    std::vector<Buffer> uses;
    std::vector<std::pair<Buffer, Move>> sends, receives;
    std::optional<Buffer> freed;
  };
  /// Fills an empty step with instruction `index` of a stage.
  using Read = std::function<void(size_t stage, size_t index, Step &step)>;
  /// Called per instruction, in the order of the run, with the moves that it waited for.
  using Visit = std::function<void(size_t stage, size_t index, const std::vector<Move> &awaited)>;
  /// The instruction at which a stage stopped: the end of its list, unless it waits for `awaited`
  /// forever.
  struct Stop {
    size_t index = 0;
    std::optional<Move> awaited;
  };

  ListReplay(std::vector<size_t> lengths, Read read, Visit visit)
      : lengths_(std::move(lengths)), read_(std::move(read)), visit_(std::move(visit)), stages_(lengths_.size()) {}

  std::vector<Stop> run() {
    for (size_t stage = lengths_.size(); stage-- > 0;)
      work_.push_back(stage);
    while (!work_.empty()) {
      const size_t stage = work_.back();
      work_.pop_back();
      runStage(stage);
    }
    std::vector<Stop> stops;
    for (const Stage &stage : stages_)
      stops.push_back(stage.stop);
    return stops;
  }

private:
  struct Stage {
    Stop stop;
    std::vector<Move> awaited;                ///< By the current instruction.
    std::map<Buffer, Move> incoming;          ///< Not received yet.
    std::map<Buffer, std::vector<Move>> sent; ///< Until the buffer is freed.
  };

  void runStage(size_t number) {
    Stage &stage = stages_[number];
    while (stage.stop.index < lengths_[number]) {
      step_ = {};
      read_(number, stage.stop.index, step_);
      if (!perform(number))
        return;
      visit_(number, stage.stop.index++, stage.awaited);
      stage.stop.awaited.reset();
      stage.awaited.clear();
    }
    while (!stage.incoming.empty())
      if (!receive(number, stage.incoming.begin()->first))
        return;
    stage.stop.awaited.reset();
  }

  bool perform(size_t number) {
    Stage &stage = stages_[number];
    for (const Buffer &buffer : step_.uses)
      if (!receive(number, buffer))
        return false;
    for (const auto &[buffer, move] : step_.sends) {
      sent_.insert(move);
      stage.sent[buffer].push_back(move);
      wake(move.to);
    }
    for (const auto &[buffer, move] : step_.receives)
      stage.incoming.emplace(buffer, move);
    return !step_.freed || (receive(number, *step_.freed) && isReceivedByAll(number, *step_.freed));
  }

  void wake(size_t stage) {
    if (stage < stages_.size())
      work_.push_back(stage);
  }

  /// True if a buffer is there or is received now.
  bool receive(size_t number, const Buffer &buffer) {
    Stage &stage = stages_[number];
    auto it = stage.incoming.find(buffer);
    if (it == stage.incoming.end())
      return true;
    stage.stop.awaited = it->second;
    if (!sent_.count(it->second))
      return false;
    stage.awaited.push_back(it->second);
    received_.insert(it->second);
    wake(it->second.from);
    stage.incoming.erase(it);
    return true;
  }

  bool isReceivedByAll(size_t number, const Buffer &buffer) {
    Stage &stage = stages_[number];
    auto it = stage.sent.find(buffer);
    if (it == stage.sent.end())
      return true;
    for (const Move &move : it->second) {
      stage.stop.awaited = move;
      if (!received_.count(move))
        return false;
    }
    stage.awaited.insert(stage.awaited.end(), it->second.begin(), it->second.end());
    stage.sent.erase(it);
    return true;
  }

  const std::vector<size_t> lengths_;
  const Read read_;
  const Visit visit_;
  std::vector<Stage> stages_;
  std::vector<size_t> work_;
  Step step_;
  std::set<Move> sent_, received_;
};

} // namespace shardkit::rt

#endif // SHARDKIT_RT_MANIFEST_LISTREPLAY_H
