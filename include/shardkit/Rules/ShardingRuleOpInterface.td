//===- ShardingRuleOpInterface.td - How an op may be sharded --------------===//

#ifndef SHARDKIT_RULES_SHARDINGRULEOPINTERFACE
#define SHARDKIT_RULES_SHARDINGRULEOPINTERFACE

include "mlir/IR/OpBase.td"

def ShardingRuleOpInterface : OpInterface<"ShardingRuleOpInterface"> {
  let cppNamespace = "::mlir::spmd";
  let description = [{
    Describes how an op may be computed in shards: its factors (the iteration space)
    and, per dimension of each operand and result, the factors that the dimension is
    the product of. Upstream ops get it as external models; see `ShardingRule.h`.
  }];
  let methods = [
    InterfaceMethod<"The sharding rule of this op.",
                    "::mlir::spmd::ShardingRule", "getShardingRule">,
  ];
}

#endif // SHARDKIT_RULES_SHARDINGRULEOPINTERFACE
