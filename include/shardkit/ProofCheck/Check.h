//===- Check.h - Checks what a certificate claims ---------------*- C++ -*-===//
//
// The claims of a certificate are compared with both programs at chosen elements, with
// numbers in place of index forms. It shares no code with the search for the proof.
// See docs/internals/Proof.md.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDKIT_PROOFCHECK_CHECK_H
#define SHARDKIT_PROOFCHECK_CHECK_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/Support/JSON.h"

namespace mlir::spmd {

/// The outcome for one function.
struct CheckResult {
  /// The claims that hold at all elements that were looked at.
  unsigned checked = 0;
  /// If not all do: the op whose claim does not hold, or cannot be checked, and why.
  Operation *op = nullptr;
  std::string reason;
  bool isUnconfirmed = false; ///< the claim does not follow at an element
};

/// Checks the claims of `certificate`, the object of one function. Both functions are in the form that was compared,
/// with their signatures paired: `arguments` and `results` are the unsharded values of those of `local`.
CheckResult checkFunction(func::FuncOp global, func::FuncOp local, ArrayRef<Value> arguments, ArrayRef<Value> results,
                          const llvm::json::Object &certificate);

} // namespace mlir::spmd

#endif // SHARDKIT_PROOFCHECK_CHECK_H
