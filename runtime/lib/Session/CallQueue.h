//===- CallQueue.h - Work in the order of its tickets -----------*- C++ -*-===//

#ifndef SHARDKIT_RT_CALLQUEUE_H
#define SHARDKIT_RT_CALLQUEUE_H

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>

namespace shardkit::rt {

/// Performs work one after the other, in the order of tickets: on the thread that waits for
/// it, so that a call that is waited for needs no second thread, or on one of the queue. The
/// holder of a ticket calls run or post with it, once.
class CallQueue {
public:
  /// `interrupt` ends the work that is performed, when a thread that waits for its turn, or for all, is interrupted.
  explicit CallQueue(std::function<void()> interrupt) : interrupt_(std::move(interrupt)) {}
  /// Waits for all tickets.
  ~CallQueue();

  uint64_t takeTicket();
  /// Waits until all earlier tickets are done, then performs `work`, which does not throw.
  void run(uint64_t ticket, const std::function<void()> &work);
  /// The same on the thread of the queue; returns at once.
  void post(uint64_t ticket, std::function<void()> work);

private:
  void loop();
  template <typename Fn> void waitFor(Fn &&isTurn, std::unique_lock<std::mutex> &lock);

  const std::function<void()> interrupt_;
  std::mutex mutex_;
  std::condition_variable turn_, posted_;
  uint64_t next_ = 0, serving_ = 0;
  std::deque<std::pair<uint64_t, std::function<void()>>> work_;
  bool isEnding_ = false;
  std::thread thread_; ///< Started by the first post.
};

} // namespace shardkit::rt

#endif // SHARDKIT_RT_CALLQUEUE_H
