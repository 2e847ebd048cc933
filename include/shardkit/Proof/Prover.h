//===- Prover.h - Decides what each local value holds -----------*- C++ -*-===//
//
// See docs/internals/Proof.md.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDKIT_PROOF_PROVER_H
#define SHARDKIT_PROOF_PROVER_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include <map>

namespace mlir::spmd::proof {

enum class Outcome {
  Proven,   ///< every result holds its shard of the unsharded result
  Refused,  ///< an op is shown to break what it computes with
  Undecided ///< an op is not modelled, or has no counterpart
};
StringRef stringifyOutcome(Outcome outcome);

/// The elements of an unsharded value that a local one holds.
struct ValueFact {
  /// The op, its number in the function in program order, and the number of its result.
  std::string op;
  unsigned number = 0, result = 0;
  /// The location of the value of the unsharded program, and the elements of it that are held.
  std::string of, holds;
};

/// The facts of a value of the local function in numbers, for a check: `op` is the number of the op in a walk (-1: an
/// argument of the function), and `holds` has the facts as JSON (docs/reference/Certificate.md). If `isCarried`, the
/// value is what an iteration of the loop `op` begins with for result `result`.
struct ValueClaim {
  int64_t op = -1;
  unsigned result = 0;
  bool isCarried = false;
  std::vector<std::string> holds;
};

/// The outcome for one function.
struct Proof {
  Outcome outcome = Outcome::Undecided;
  /// If not proven: the first local op whose value is not known to be one of the unsharded program, and why.
  Operation *op = nullptr;
  std::string opName;
  std::optional<Location> loc;
  std::string reason;
  /// An element of a result that differs, for drawn arguments: that is why it is refused. (Enumeration.h)
  std::string example;
  /// The facts of the operands of that op.
  SmallVector<std::pair<Location, std::string>> notes;
  /// A kind of reason in few words, for statistics: the name of the op that is not modelled.
  std::string kind;
  /// How often each rule was used.
  std::map<std::string, unsigned> rules;
  unsigned globalOps = 0, localOps = 0;
  /// The first fact of each result of an op of the function body.
  std::vector<ValueFact> values;
  /// All facts of all values, if the caller requests them.
  std::vector<ValueClaim> claims;
};

/// Values of sizes that only the run knows that are tried.
constexpr int64_t kMaxSizes = 8192;

/// Decides what a proof does not prove: a function of known sizes, in the form that is compared.
using Fallback = std::function<void(func::FuncOp global, func::FuncOp local, Proof &proof)>;

/// Decides whether `local` computes what `global` does: every result of `local`, in the layout of its `spmd.sharding`,
/// if every argument holds its shard in the layout of its. Nothing else that is written on `local` is used. Both
/// functions are of one context. Signatures that do not fit are an error of `local`. Sizes of the signature that only
/// the run knows are proven one by one, if they have at most `maxSizes` values, with `fallback` where one is not
/// proven.
FailureOr<Proof> prove(func::FuncOp global, func::FuncOp local, bool withClaims = false, int64_t maxSizes = kMaxSizes,
                       const Fallback &fallback = {});

} // namespace mlir::spmd::proof

#endif // SHARDKIT_PROOF_PROVER_H
