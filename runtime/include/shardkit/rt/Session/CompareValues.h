//===- CompareValues.h - A call next to its counterpart --------*- C++ -*--===//
//
// A function that was compiled with its values (shard-compile --with-values) is called while its unsharded counterpart
// runs next to it. Every value that has a probe is compared as it is made.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDKIT_RT_SESSION_COMPAREVALUES_H
#define SHARDKIT_RT_SESSION_COMPAREVALUES_H

#include "shardkit/rt/Execution/Runnable.h"
#include "shardkit/rt/Execution/ValueComparison.h"
#include "shardkit/rt/Session/Session.h"

#include <optional>
#include <string>
#include <vector>

namespace shardkit::rt {

struct CompareOptions {
  bool exact = false;               ///< Equal bits.
  std::optional<double> rtol, atol; ///< In place of Tolerance::forResult; atol is a thousandth of a given rtol.
  /// Values that are written: names as in reports (`%5`, or the name of its location), or `file:line`.
  std::vector<std::string> watch;
  std::string directory; ///< The directory of the files NAME.npy and NAME.unsharded.npy.
};

/// How the values of a call compare, on all processes.
struct ValueReport {
  const FunctionInfo *function = nullptr;
  std::vector<ProbeDifference> differences; ///< By probe.
  std::optional<WrongValue> first;
  std::vector<std::string> files; ///< The files that were written.

  int64_t numCompared() const;
  int64_t numWrong() const;
  /// Lines for people: the verdict; the first wrong value, or where errors grow.
  std::string text() const;
  /// An object with the same, and the errors of all values.
  std::string json() const;
};

/// An error unless values of the function can be compared, and all names of `watch` are known.
Status checkValues(const Runnable &what, const CompareOptions &options);

/// Calls the function as Session::call does, and compares its values. All processes call it together. A mismatch is
/// not an error.
Expected<std::vector<Array>> compareValues(Session &session, int function, const std::vector<Array> &arguments,
                                           const CompareOptions &options, const CallOptions &call, ValueReport &report);

} // namespace shardkit::rt

#endif // SHARDKIT_RT_SESSION_COMPAREVALUES_H
