//===- SPMDDialect.cpp - Registration of the spmd dialect -----------------===//

#include "shardkit/Dialect/SPMD/IR/SPMD.h"

using namespace mlir;
using namespace mlir::spmd;

#include "shardkit/Dialect/SPMD/IR/SPMDDialect.cpp.inc"
#include "shardkit/Dialect/SPMD/IR/SPMDInterfaces.cpp.inc"

void SPMDDialect::initialize() {
  registerAttributes();
  addOperations<
#define GET_OP_LIST
#include "shardkit/Dialect/SPMD/IR/SPMDOps.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "shardkit/Dialect/SPMD/IR/SPMDCollectives.cpp.inc"
      >();
}
