//===- ThreadsTest.cpp ----------------------------------------------------===//

#include "shardkit/rt/Support/Threads.h"

#include <gtest/gtest.h>

#include <atomic>
#include <set>
#include <thread>
#include <vector>

using namespace shardkit::rt;

namespace {

TEST(Threads, chunksCoverEachIterationOnce) {
  for (int threads : {1, 2, 5})
    for (int64_t count : {0, 1, 2, 7, 1000}) {
      setLibraryThreads(threads);
      std::vector<std::atomic<int>> done(static_cast<size_t>(count));
      std::atomic<bool> isInOrder{true};
      onLibraryThreads(count, [&](int64_t begin, int64_t end) {
        if (begin >= end || begin < 0 || end > count)
          isInOrder = false;
        for (int64_t i = begin; i < end; ++i)
          ++done[size_t(i)];
      });
      EXPECT_TRUE(isInOrder);
      for (int64_t i = 0; i < count; ++i)
        EXPECT_EQ(done[size_t(i)], 1) << i << " of " << count << " on " << threads;
    }
}

/// Each thread of ours has its own number, and does not wait for those of others.
TEST(Threads, severalRanksAtOnce) {
  std::vector<std::thread> ranks;
  std::vector<int64_t> sums(4);
  for (size_t rank = 0; rank < sums.size(); ++rank)
    ranks.emplace_back([&, rank] {
      setLibraryThreads(int(rank) + 1);
      std::atomic<int64_t> sum{0};
      for (int step = 0; step < 50; ++step)
        onLibraryThreads(100, [&](int64_t begin, int64_t end) {
          for (int64_t i = begin; i < end; ++i)
            sum += i;
        });
      sums[rank] = sum;
    });
  for (std::thread &rank : ranks)
    rank.join();
  EXPECT_EQ(sums, std::vector<int64_t>(4, 50 * 4950));
}

/// Of one thread alone all parts are its own.
TEST(Threads, oneThreadIsTheCallingThread) {
  setLibraryThreads(1);
  std::set<std::thread::id> seen;
  onLibraryThreads(10, [&](int64_t, int64_t) { seen.insert(std::this_thread::get_id()); });
  EXPECT_EQ(seen, std::set<std::thread::id>{std::this_thread::get_id()});
}

} // namespace
