//===- DialectAttributes.cpp - Discardable spmd attributes ----------------===//

#include "shardkit/Dialect/SPMD/IR/Verification.h"

using namespace mlir;
using namespace mlir::spmd;

LogicalResult SPMDDialect::verifyOperationAttribute(Operation *op,
                                                    NamedAttribute attr) {
  return success();
}
LogicalResult SPMDDialect::verifyRegionArgAttribute(Operation *op,
                                                    unsigned regionIndex,
                                                    unsigned argIndex,
                                                    NamedAttribute attr) {
  return success();
}
LogicalResult SPMDDialect::verifyRegionResultAttribute(Operation *op,
                                                       unsigned regionIndex,
                                                       unsigned resultIndex,
                                                       NamedAttribute attr) {
  return success();
}
