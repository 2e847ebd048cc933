//===- Threads.h - Work on several threads ----------------------*- C++ -*-===//

#ifndef SHARDKIT_LIB_SOLVER_SUPPORT_THREADS_H
#define SHARDKIT_LIB_SOLVER_SUPPORT_THREADS_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include <cstddef>

namespace mlir::spmd::solver {

/// Calls work() on this thread and on up to `most` - 1 of LLVM's executor at the same time, four in all: more would
/// mostly wait for each other. Ends when all of them have.
void workTogether(size_t maximum, llvm::function_ref<void()> work);

/// Calls run(0), ..., run(count - 1) so, in any order, each on one of the threads.
void runTogether(size_t count, llvm::function_ref<void(size_t)> run);

} // namespace mlir::spmd::solver

#endif // SHARDKIT_LIB_SOLVER_SUPPORT_THREADS_H
