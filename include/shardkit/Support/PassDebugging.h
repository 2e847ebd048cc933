//===- PassDebugging.h - Decisions and counts of passes ---------*- C++ -*-===//
//
//   #define DEBUG_TYPE "spmd-sink-collectives"
//
//   SPMD_LOG() << "moves " << op->getName() << " before " << user->getName();
//   SPMD_COUNT(movedCollectives, 1); // a `Statistic` of the pass in Passes.td
//
// LLVM's own LDBG is empty in builds with NDEBUG, and MLIR prints the statistics of a pass only where LLVM has
// assertions; Debian's packages do neither. These two work with any build of LLVM: its libraries always have the debug
// types, and tools get the options that they lack from `registerDebugOptions`.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDKIT_SUPPORT_PASSDEBUGGING_H
#define SHARDKIT_SUPPORT_PASSDEBUGGING_H

#include "mlir/IR/Value.h"
#include "llvm/Support/Debug.h"
#include "llvm/Support/raw_ostream.h"
#include <atomic>

namespace mlir::spmd {

/// Whether `--debug-only` names a debug type, or `--debug` prints all.
bool isDebugTypeEnabled(const char *type);

/// A line of debug output. It is written when it ends, at once: lines of functions that passes run on at the same time
/// do not mix.
class DebugLine {
public:
  explicit DebugLine(const char *type);
  ~DebugLine();
  llvm::raw_ostream &get() { return os; }

private:
  std::string text;
  llvm::raw_string_ostream os{text};
};

/// "result #0 of linalg.matmul at loc(...)", "argument at loc(...)"; "a value" for null.
std::string describeValue(Value value);

/// A count of all runs of a pass in the process. Counts are static, and live on.
class PassCount {
public:
  PassCount(const char *pass, const char *name);
  void add(uint64_t more) { count += more; }

private:
  friend void printStatistics();
  const char *pass, *name;
  std::atomic<uint64_t> count = 0;
};

/// Registers `--debug-only` where LLVM has not, and `--pass-statistics`. Call it before options are parsed.
void registerDebugOptions();
/// Prints the counts if `--pass-statistics` is set.
void printStatistics();

} // namespace mlir::spmd

/// A stream for one line. Without `--debug-only` it costs the test of a flag: operands are not evaluated.
#define SPMD_LOG()                                                                                                     \
  for (bool isLogged = ::llvm::DebugFlag && ::mlir::spmd::isDebugTypeEnabled(DEBUG_TYPE); isLogged; isLogged = false)  \
  ::mlir::spmd::DebugLine(DEBUG_TYPE).get()

/// Adds to a statistic of a pass, and to the count that `--pass-statistics` prints under its name.
#define SPMD_COUNT(STATISTIC, COUNT)                                                                                   \
  do {                                                                                                                 \
    static ::mlir::spmd::PassCount total(DEBUG_TYPE, #STATISTIC);                                                      \
    const uint64_t added = (COUNT);                                                                                    \
    STATISTIC += added;                                                                                                \
    total.add(added);                                                                                                  \
  } while (false)

#endif // SHARDKIT_SUPPORT_PASSDEBUGGING_H
