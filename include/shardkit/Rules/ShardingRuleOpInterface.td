//===- ShardingRuleOpInterface.td - How an op may be sharded --------------===//

#ifndef SHARDKIT_RULES_SHARDINGRULEOPINTERFACE
#define SHARDKIT_RULES_SHARDINGRULEOPINTERFACE

include "mlir/IR/OpBase.td"

def ShardingRuleOpInterface : OpInterface<"ShardingRuleOpInterface"> {
  let cppNamespace = "::mlir::spmd";
  let description = [{
    Says how an op may be computed in shards: its factors (the iteration space)
    and, per dimension of each operand and result, the factors that make it up.
    Attached to upstream ops as external models; see `ShardingRule.h`.
  }];
  let methods = [
    InterfaceMethod<"The sharding rule of this op.",
                    "::mlir::spmd::ShardingRule", "getShardingRule">,
  ];
}

#endif // SHARDKIT_RULES_SHARDINGRULEOPINTERFACE
