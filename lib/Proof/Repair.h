//===- Repair.h - Which op, mended, makes a function proven -----*- C++ -*-===//
// Internal to the proof.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDKIT_LIB_PROOF_REPAIR_H
#define SHARDKIT_LIB_PROOF_REPAIR_H

#include "BlockProver.h"

namespace mlir::spmd::proof {

/// An op, and how it may be mended.
struct Repair {
  Operation *op;
  /// A value of either program that the change is about, if any: "all results are right WHAT".
  std::optional<Location> loc;
  std::string what;
};

/// A function is not proven. Finds the op that is wrong if only one is: if it were changed, every other op staying as
/// it is, the function would be proven. In this order, the first change that does it:
///
///   * of attributes or of the order of operands, the last op first (Edits.h);
///   * of one operand;
///   * of what the op gives, to a value of the unsharded program: where a collective or a slice could move its operand
///     there, or the op has the name of the one that computes the value; where it would read another value; any.
///
/// `findUnproven` gives the results of `block` that are not known to be right, `results` what these should hold.
/// std::nullopt if there is no such op, or it was not found within a number of visits, which `prover` counts in
/// `numVisits`.
std::optional<Repair> findRepair(Block &block, LocalValues &values, BlockProver &prover,
                                 ArrayRef<std::pair<Value, Fact>> results,
                                 llvm::function_ref<SmallVector<Value>()> findUnproven, const unsigned &numVisits);

} // namespace mlir::spmd::proof

#endif // SHARDKIT_LIB_PROOF_REPAIR_H
