//===- Rules.cpp - Sharding rules, checked by numbers ---------------------===//

#include "shardkit-c/Rules.h"
#include "shardkit/Rules/CheckRule.h"

#include "mlir/CAPI/IR.h"
#include "mlir/CAPI/Support.h"

using namespace mlir;
using namespace mlir::spmd;

bool skOperationHasShardingRule(MlirOperation op) { return isa<ShardingRuleOpInterface>(unwrap(op)); }

intptr_t skCheckShardingRule(MlirOperation op, SkInterpreter interpret, void *data) {
  auto toC = [](TensorValue &value) { return SkTensor{wrap(Type(value.type)), value.elements.data()}; };
  auto run = [&](Operation *shard, ArrayRef<TensorValue> operands) -> FailureOr<TensorValues> {
    TensorValues inputs(operands), results;
    for (Type type : shard->getResultTypes())
      results.emplace_back(cast<RankedTensorType>(type));
    SmallVector<SkTensor> in = llvm::map_to_vector(inputs, toC), out = llvm::map_to_vector(results, toC);
    if (mlirLogicalResultIsFailure(interpret(wrap(shard), in.size(), in.data(), out.size(), out.data(), data)))
      return failure();
    return results;
  };
  FailureOr<RuleCheck> check = checkShardingRule(unwrap(op), run);
  return succeeded(check) ? intptr_t(check->cases) : -1;
}
