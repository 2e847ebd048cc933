//===- BlockProver.h - Visits the local program -----------------*- C++ -*-===//
// Internal to the proof.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDKIT_LIB_PROOF_BLOCKPROVER_H
#define SHARDKIT_LIB_PROOF_BLOCKPROVER_H

#include "LocalValues.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace mlir::spmd::proof {

/// Visits the ops of the local program in order, those of regions with what is carried into them, and gives each value
/// its facts.
class BlockProver {
public:
  BlockProver(LocalValues &values, Proof &proof) : values(values), proof(proof) {}
  void visit(Block &block);
  void visit(Operation &op);

  /// An op whose tensors are taken to hold these facts, whatever it computes: what would follow from that.
  struct Assumed {
    Operation *op = nullptr;
    ArrayRef<Fact> facts;
  };
  Assumed repaired;

private:
  /// True if the op has a size that only the run knows. Facts are of static sizes, so its results have gaps.
  bool isDynamic(Operation &op);
  /// The op under another name: an annotation, the start or the end of a collective that runs meanwhile.
  bool visitAlias(Operation &op);
  /// True if no result has elements that the op computes.
  bool visitEmpty(Operation &op);
  bool visitConstant(Operation &op);

  // Regions.cpp
  void visitFor(scf::ForOp op);
  void visitWhile(scf::WhileOp op);
  void visitIf(scf::IfOp op);

  LocalValues &values;
  Proof &proof;
};

} // namespace mlir::spmd::proof

#endif // SHARDKIT_LIB_PROOF_BLOCKPROVER_H
