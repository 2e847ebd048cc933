//===- AttributesTest.cpp - Constraints that no text can violate ----------===//

#include "shardkit/Dialect/SPMD/IR/SPMD.h"
#include "mlir/IR/MLIRContext.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace mlir::spmd;

// dim_sharding_c1: the syntax has no negative priority.
TEST(DimShardingAttr, APriorityIsNotNegative) {
  MLIRContext context;
  context.loadDialect<SPMDDialect>();
  std::string message;
  context.getDiagEngine().registerHandler([&](Diagnostic &diagnostic) { message = diagnostic.str(); });
  auto emitError = [&] { return mlir::emitError(UnknownLoc::get(&context)); };
  EXPECT_TRUE(succeeded(DimShardingAttr::verify(emitError, {}, false, 0)));
  EXPECT_TRUE(failed(DimShardingAttr::verify(emitError, {}, false, -1)));
  EXPECT_EQ(message, "priority is -1, expected 0 (strongest) or more");
}
