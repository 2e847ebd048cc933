//===- ByteArguments.cpp - Weights of 8-bit floats are passed as bytes ----===//

#include "shardkit/Dialect/SPMD/IR/ByteArguments.h"
#include "shardkit/Dialect/SPMD/IR/Phases.h"
#include "shardkit/Passes.h"

namespace mlir::spmd {
#define GEN_PASS_DEF_SPMDBYTEARGUMENTSPASS
#include "shardkit/Passes.h.inc"
} // namespace mlir::spmd

using namespace mlir;
using namespace mlir::spmd;

namespace {
struct ByteArgumentsPass : public spmd::impl::SPMDByteArgumentsPassBase<ByteArgumentsPass> {
  void runOnOperation() override {
    if (failed(verifyInput(getOperation(), Phase::Annotated, getArgument())))
      return signalPassFailure();
    passBytes(getOperation());
  }
};
} // namespace
