//===- Threads.h - The threads that a rank computes on ---------*- C++ -*--===//

#ifndef SHARDKIT_RT_SUPPORT_THREADS_H
#define SHARDKIT_RT_SUPPORT_THREADS_H

#include <cstdint>
#include <functional>

namespace shardkit::rt {

/// How many threads of OpenMP (that of the library of products, else GCC's) work for the
/// thread that calls, itself included. Nothing where there is none.
void setLibraryThreads(int threads);

/// Calls `body(begin, end)` for parts of [0, count) that cover it, on those threads, and
/// returns when all of them have ended. Without OpenMP: for all of it, on this one.
void onLibraryThreads(int64_t count, const std::function<void(int64_t, int64_t)> &body);

} // namespace shardkit::rt

#endif // SHARDKIT_RT_SUPPORT_THREADS_H
