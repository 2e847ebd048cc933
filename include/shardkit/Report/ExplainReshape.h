//===- ExplainReshape.h - What reshapes do to shardings ---------*- C++ -*-===//

#ifndef SHARDKIT_REPORT_EXPLAINRESHAPE_H
#define SHARDKIT_REPORT_EXPLAINRESHAPE_H

#include "shardkit/Propagation/Propagation.h"
#include "mlir/IR/BuiltinOps.h"

namespace mlir::spmd {

/// A reshape as propagation leaves its two sides.
struct ExplainedReshape {
  std::string op, loc;
  Location location; // for remarks
  std::string operand, operandType, operandSharding;
  std::string result, resultType, resultSharding;
  /// The (sub-)axes of the operand that a sharding of the result's shape can hold
  /// where they are, and those that it cannot.
  std::string kept, gathered;
  /// The result as it comes out of the reshape once the latter are gathered.
  std::string native;
  /// Bytes that all devices together receive between the operand's layout and the
  /// result's: the fewest possible, and what the plan takes; its steps.
  int64_t lowerBound = 0, received = 0;
  std::string steps;
  /// What could be written so that nothing moves; empty where nothing does.
  std::string suggestion;
};

struct ExplainedReshapes {
  std::string function;
  std::vector<ExplainedReshape> reshapes;
};

/// Propagates a copy of the module from what is given and explains its reshapes of
/// static shape: expand_shape, collapse_shape, tensor.reshape and tosa.reshape.
FailureOr<std::vector<ExplainedReshapes>> explainReshapes(ModuleOp module, const Propagation::Options &options);

void printText(ArrayRef<ExplainedReshapes> functions, llvm::raw_ostream &os);
void printJSON(ArrayRef<ExplainedReshapes> functions, llvm::raw_ostream &os);
void emitRemarks(ArrayRef<ExplainedReshapes> functions);

} // namespace mlir::spmd

#endif // SHARDKIT_REPORT_EXPLAINRESHAPE_H
