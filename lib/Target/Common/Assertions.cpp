//===- Assertions.cpp - Assertions of programs ----------------------------===//

#include "shardkit/Dialect/SPMD/IR/Conversion.h"
#include "shardkit/Target/Common/Passes.h"

using namespace mlir;
using namespace mlir::spmd;

bool target::hasAssertion(linalg::LinalgOp op) {
  return op->walk([](cf::AssertOp) { return WalkResult::interrupt(); }).wasInterrupted();
}

std::string target::getText(cf::AssertOp op) {
  std::string location = getLocationText(op.getLoc());
  return (location.empty() ? "" : location + ": ") + op.getMsg().str();
}
