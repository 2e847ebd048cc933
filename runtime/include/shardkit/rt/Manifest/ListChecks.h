//===- ListChecks.h - Rules of instruction lists ----------------*- C++ -*-===//
//
// The rules of an instruction list that need no knowledge of the program, once for the compiler
// (VerifyProgram.cpp, on the lists that it emits or reads) and for the runtime (PipelineCheck.cpp,
// on the lists of a manifest): which buffers a stage has at each instruction, and that the
// transfers of two stages are the same on both. ListReplay.h has the rules of waiting. Each side
// words its own messages.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDKIT_RT_MANIFEST_LISTCHECKS_H
#define SHARDKIT_RT_MANIFEST_LISTCHECKS_H

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace shardkit::rt {

/// The buffers of a stage along its list. Example:
///
///   receive h.0   Absent -> Present
///   read h.0      Present: legal
///   free h.0      Present -> Freed
///   read h.0      Freed: illegal
class BufferStates {
public:
  /// A value and a microbatch, -1 for the step.
  using Buffer = std::pair<int64_t, int64_t>;
  enum class State { Absent, Present, Freed };
  /// `isInitial`: true for values that are present from the start, such as sums.
  explicit BufferStates(std::function<bool(int64_t value)> isInitial) : isInitial_(std::move(isInitial)) {}

  State get(const Buffer &buffer) const {
    auto it = states_.find(buffer);
    if (it != states_.end())
      return it->second;
    return isInitial_(buffer.first) ? State::Present : State::Absent;
  }

  // Each returns the state before; the operation is legal as its comment states.
  /// Legal if Present: a run that reads, a transfer that sends.
  State read(const Buffer &buffer) const { return get(buffer); }
  /// Legal unless Present: a run that writes without reading, a transfer that receives. An update
  /// is legal if Present, as it reads too.
  State write(const Buffer &buffer) {
    return std::exchange(states_.try_emplace(buffer, get(buffer)).first->second, State::Present);
  }
  /// Legal if Present.
  State free(const Buffer &buffer) {
    return std::exchange(states_.try_emplace(buffer, get(buffer)).first->second, State::Freed);
  }

  void clear() { states_.clear(); }
  /// The buffers that are present, without initial ones that no instruction wrote.
  std::vector<Buffer> getPresent() const {
    std::vector<Buffer> present;
    for (const auto &[buffer, state] : states_)
      if (state == State::Present)
        present.push_back(buffer);
    return present;
  }

private:
  std::function<bool(int64_t value)> isInitial_;
  std::map<Buffer, State> states_;
};

/// Pairs the transfers of every two stages in the order of their lists. `getPeer` returns the peer
/// of a transfer, std::nullopt for other instructions. `visit` is called per transfer, by stage and
/// index, with the index of the matching transfer in the list of the peer, std::nullopt where the
/// peer has fewer; it stops the matching by returning false. Linear in the instructions.
inline bool
matchTransfers(const std::vector<size_t> &lengths,
               const std::function<std::optional<size_t>(size_t stage, size_t index)> &getPeer,
               const std::function<bool(size_t stage, size_t index, size_t peer, std::optional<size_t> other)> &visit) {
  std::map<std::pair<size_t, size_t>, std::vector<size_t>> transfers; // by stage and peer
  for (size_t stage = 0; stage < lengths.size(); ++stage)
    for (size_t index = 0; index < lengths[stage]; ++index)
      if (std::optional<size_t> peer = getPeer(stage, index))
        transfers[{stage, *peer}].push_back(index);
  for (size_t stage = 0; stage < lengths.size(); ++stage) {
    std::map<size_t, size_t> next; // by peer
    for (size_t index = 0; index < lengths[stage]; ++index) {
      std::optional<size_t> peer = getPeer(stage, index);
      if (!peer)
        continue;
      const size_t k = next[*peer]++;
      auto found = transfers.find({*peer, stage});
      const bool isMatched = found != transfers.end() && k < found->second.size();
      if (!visit(stage, index, *peer, isMatched ? std::optional(found->second[k]) : std::nullopt))
        return false;
    }
  }
  return true;
}

} // namespace shardkit::rt

#endif // SHARDKIT_RT_MANIFEST_LISTCHECKS_H
