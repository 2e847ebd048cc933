//===- Verify.h - Results against the reference of a bundle -----*- C++ -*-===//

#ifndef SHARDKIT_RT_SESSION_VERIFY_H
#define SHARDKIT_RT_SESSION_VERIFY_H

#include "shardkit/rt/Execution/Compare.h"
#include "shardkit/rt/Execution/Runnable.h"
#include "shardkit/rt/Loading/Source.h"
#include "shardkit/rt/Session/Array.h"

#include <optional>
#include <string>
#include <vector>

namespace shardkit::rt {

class Session;

struct VerifyOptions {
  bool exact = false;               ///< Equal bits.
  std::optional<double> rtol, atol; ///< In place of Tolerance::forResult; atol is a thousandth of a given rtol.
};

/// How a result compares with that of the reference.
struct ResultCheck {
  Difference difference;
  Tolerance tolerance;
  double fraction = 0;      ///< Difference::fractionOf the tolerance.
  std::string disagreement; ///< Which copies do not have the same bits; empty: none.
  bool isWithin = false;    ///< Set on all processes, the rest on process 0.
};

/// Runs the reference of a function and compares the results of a call with its own: what every rank holds, replicas
/// too. The reference has its arguments from `sources`, one for each argument of the function; an empty list, or a
/// source of which there are shards alone, stands for what the ranks hold of `arguments`. All processes call it
/// together.
Expected<std::vector<ResultCheck>> verify(Session &session, int function, const std::vector<Array> &arguments,
                                          const std::vector<Array> &results, const std::vector<TensorSource> &sources,
                                          const VerifyOptions &options = {});
/// An error if the function has no reference, or one that cannot be given all its arguments.
Status checkReference(const Runnable &what, const std::vector<TensorSource> &sources);
/// An error if a call that donates overwrites what only the ranks hold of an argument of the reference.
Status checkDonatedReference(const Runnable &what, const std::vector<TensorSource> &sources);

/// Digests of arrays: of each the MD5 of every shard, without padding, by copy and rank. On all processes, which call
/// it together.
Expected<std::vector<std::string>> digest(Session &session, const std::vector<Array> &arrays);

} // namespace shardkit::rt

#endif // SHARDKIT_RT_SESSION_VERIFY_H
