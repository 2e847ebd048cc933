//===- CallQueue.cpp - Work in the order of its tickets -------------------===//

#include "CallQueue.h"

#include "shardkit/rt/Support/Interrupt.h"
#include "shardkit/rt/Support/Threads.h"

#include <chrono>

namespace shardkit::rt {

template <typename Fn> void CallQueue::waitFor(Fn &&isTurn, std::unique_lock<std::mutex> &lock) {
  while (!turn_.wait_for(lock, std::chrono::duration<double>(interruptTick), isTurn)) {
    lock.unlock();
    if (isInterrupted())
      interrupt_();
    lock.lock();
  }
}

CallQueue::~CallQueue() {
  {
    std::unique_lock lock(mutex_);
    waitFor([&] { return serving_ == next_; }, lock);
    isEnding_ = true;
  }
  posted_.notify_all();
  if (thread_.joinable())
    thread_.join();
}

uint64_t CallQueue::takeTicket() {
  std::lock_guard lock(mutex_);
  return next_++;
}

void CallQueue::run(uint64_t ticket, const std::function<void()> &work) {
  {
    std::unique_lock lock(mutex_);
    waitFor([&] { return serving_ == ticket; }, lock);
  }
  work();
  {
    std::lock_guard lock(mutex_);
    ++serving_;
  }
  turn_.notify_all();
}

void CallQueue::post(uint64_t ticket, std::function<void()> work) {
  {
    std::unique_lock lock(mutex_);
    if (!thread_.joinable() && !startThread([this] { loop(); }, "queued calls", &thread_).ok()) {
      lock.unlock();
      return run(ticket, work); // On this one, then.
    }
    // Threads that hold tickets may come here in another order.
    auto at = work_.end();
    while (at != work_.begin() && std::prev(at)->first > ticket)
      --at;
    work_.emplace(at, ticket, std::move(work));
  }
  posted_.notify_all();
}

void CallQueue::loop() {
  while (true) {
    std::pair<uint64_t, std::function<void()>> next;
    {
      std::unique_lock lock(mutex_);
      posted_.wait(lock, [&] { return isEnding_ || !work_.empty(); });
      if (work_.empty())
        return;
      next = std::move(work_.front());
      work_.pop_front();
    }
    run(next.first, next.second);
  }
}

} // namespace shardkit::rt
