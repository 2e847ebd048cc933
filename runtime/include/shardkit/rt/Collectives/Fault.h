//===- Fault.h - One fault, injected for tests -----------------*- C++ -*--===//
//
// SK_FAULT=RANK:COLLECTIVE_ID:kill|stall|error|disagree makes that rank fail when it
// enters the collective for the first time (of any function of a pipeline),
// RANK:after=ID:... when it has left it. RANK:transfer=ID:... is a transfer. A
// copy of a Fault is the same one: it happens once.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDKIT_RT_COLLECTIVES_FAULT_H
#define SHARDKIT_RT_COLLECTIVES_FAULT_H

#include "shardkit/rt/Support/Status.h"

#include <atomic>
#include <memory>

namespace shardkit::rt {

class Fault {
public:
  enum class Kind {
    None,
    Kill,    ///< Ends silently: the process, or on the local backend the thread.
    Stall,   ///< Never returns.
    Error,   ///< Reports an error.
    Disagree ///< Reports that it is in another collective, from here on.
  };

  /// Reads "RANK:[after=][transfer=]ID:KIND"; an empty text injects none.
  static Status parse(const std::string &text, Fault &fault);
  /// The environment's, checked before anything runs; read once.
  static Status fromEnvironment(Fault &fault);

  bool isSet() const { return kind_ != Kind::None; }
  /// Whether it has happened; of all copies together.
  bool hasHappened() const { return progress_->happened; }

  /// The fault of `rank` as it enters (`after`: has left) collective `id`; at most
  /// once, but for Disagree, which lasts.
  Kind at(int64_t rank, int64_t id, bool after);
  /// The id that `rank` publishes for `id`.
  int64_t announced(int64_t rank, int64_t id) const {
    return rank == rank_ && progress_->disagrees.load(std::memory_order_relaxed) ? id + 1 : id;
  }

private:
  struct Progress {
    std::atomic<bool> happened{false}, disagrees{false};
  };
  Kind kind_ = Kind::None;
  int64_t rank_ = -1, id_ = -1;
  bool after_ = false;
  std::shared_ptr<Progress> progress_ = std::make_shared<Progress>();
};

} // namespace shardkit::rt

#endif // SHARDKIT_RT_COLLECTIVES_FAULT_H
