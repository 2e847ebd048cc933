//===- CudaOps.cpp - Groups of ops in one kernel --------------------------===//

#include "shardkit/Target/IR/CudaOps.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"

using namespace mlir;
using namespace mlir::bufferization;
using namespace mlir::spmd::cuda;

#include "shardkit/Target/IR/CudaOpsDialect.cpp.inc"

void SpmdCudaDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "shardkit/Target/IR/CudaOps.cpp.inc"
      >();
}

void RowsOp::getEffects(SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>> &e) {
  for (OpOperand &operand : (*this)->getOpOperands())
    if (isa<MemRefType>(operand.get().getType())) {
      if (isDpsInit(&operand))
        e.emplace_back(MemoryEffects::Write::get(), &operand);
      else
        e.emplace_back(MemoryEffects::Read::get(), &operand);
    }
}

bool RowsOp::bufferizesToMemoryRead(OpOperand &operand, const AnalysisState &) { return !isDpsInit(&operand); }
bool RowsOp::bufferizesToMemoryWrite(OpOperand &operand, const AnalysisState &) { return isDpsInit(&operand); }
AliasingValueList RowsOp::getAliasingValues(OpOperand &operand, const AnalysisState &) {
  if (isDpsInit(&operand))
    return {{getTiedOpResult(&operand), BufferRelation::Equivalent}};
  return {};
}

LogicalResult RowsOp::bufferize(RewriterBase &rewriter, const BufferizationOptions &options,
                                BufferizationState &state) {
  rewriter.setInsertionPoint(*this);
  SmallVector<Value> buffers;
  for (Value operand : getOperands()) {
    if (!isa<TensorType>(operand.getType())) {
      buffers.push_back(operand);
      continue;
    }
    FailureOr<Value> buffer = getBuffer(rewriter, operand, options, state);
    if (failed(buffer))
      return failure();
    buffers.push_back(*buffer);
  }
  auto rows = RowsOp::create(rewriter, getLoc(), TypeRange(), ArrayRef(buffers).drop_back(), buffers.back());
  rows.getBody().takeBody(getBody());
  replaceOpWithBufferizedValues(rewriter, *this, buffers.back());
  return success();
}

#define GET_OP_CLASSES
#include "shardkit/Target/IR/CudaOps.cpp.inc"
