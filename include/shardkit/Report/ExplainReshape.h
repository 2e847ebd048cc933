//===- ExplainReshape.h - Reshapes and shardings ----------------*- C++ -*-===//

#ifndef SHARDKIT_REPORT_EXPLAINRESHAPE_H
#define SHARDKIT_REPORT_EXPLAINRESHAPE_H

#include "shardkit/Propagation/Propagation.h"
#include "mlir/IR/BuiltinOps.h"

namespace mlir::spmd {

/// A reshape, with the propagated shardings of its operand and result.
struct ExplainedReshape {
  std::string op, loc;
  Location location; // for remarks
  std::string operand, operandType, operandSharding;
  std::string result, resultType, resultSharding;
  /// The (sub-)axes of the operand that a sharding of the result's shape can express
  /// without data movement, and the others.
  std::string kept, gathered;
  /// The sharding of the result after the latter are gathered, before any reshard.
  std::string native;
  /// Bytes that all devices together receive between the operand's layout and the
  /// result's: the fewest possible, and what the plan takes; its steps.
  int64_t lowerBound = 0, received = 0;
  std::string steps;
  /// An annotation that avoids all data movement; empty if there is none to avoid.
  std::string suggestion;
};

struct ExplainedReshapes {
  std::string function;
  std::vector<ExplainedReshape> reshapes;
};

/// Propagates shardings in a copy of the module and explains its reshapes of
/// static shape: expand_shape, collapse_shape, tensor.reshape and tosa.reshape.
FailureOr<std::vector<ExplainedReshapes>> explainReshapes(ModuleOp module, const Propagation::Options &options);

void printText(ArrayRef<ExplainedReshapes> functions, llvm::raw_ostream &os);
void printJSON(ArrayRef<ExplainedReshapes> functions, llvm::raw_ostream &os);
void emitRemarks(ArrayRef<ExplainedReshapes> functions);

} // namespace mlir::spmd

#endif // SHARDKIT_REPORT_EXPLAINRESHAPE_H
