//===- Threads.h - The threads that a rank computes on ---------*- C++ -*--===//

#ifndef SHARDKIT_RT_SUPPORT_THREADS_H
#define SHARDKIT_RT_SUPPORT_THREADS_H

#include "shardkit/rt/Support/Status.h"

#include <cstdint>
#include <functional>
#include <thread>

namespace shardkit::rt {

/// Starts a thread for `what` ("a reader of files") into `*thread`, or detached if that is null. An
/// error where the limits of the process or of the machine allow no further one.
Status startThread(std::function<void()> work, const std::string &what, std::thread *thread);

/// Sets the number of threads of OpenMP (that of the matrix product library, else GCC's) that work
/// for the calling thread, itself included. Without OpenMP this has no effect.
void setLibraryThreads(int threads);
/// That number; 1 without OpenMP.
int libraryThreads();

/// Ends the threads that wait to work for the calling one; its next loop starts others. OpenMP counts those of all
/// callers, and where they are more than the cores it lets them sleep between loops.
void releaseLibraryThreads();

/// Calls `body(begin, end)` for chunks that cover [0, count), on those threads, and
/// returns when all of them have ended. Without OpenMP: for all of it, on this one.
void onLibraryThreads(int64_t count, const std::function<void(int64_t, int64_t)> &body);

} // namespace shardkit::rt

#endif // SHARDKIT_RT_SUPPORT_THREADS_H
