//===- ShardingRuleOpInterface.td - How an op may be sharded --------------===//

#ifndef SHARDKIT_RULES_SHARDINGRULEOPINTERFACE
#define SHARDKIT_RULES_SHARDINGRULEOPINTERFACE

include "mlir/IR/OpBase.td"

def ShardingRuleOpInterface : OpInterface<"ShardingRuleOpInterface"> {
  let cppNamespace = "::mlir::spmd";
  let description = [{
    Describes how an op may be computed in shards: its factors (the iteration space)
    and, per dimension of each operand and result, the factors that the dimension is
    the product of; and what partition needs to know beyond that. Upstream ops get it as
    external models; see `ShardingRule.h` and `RuleBuilder.h`.
  }];
  let methods = [
    InterfaceMethod<"The sharding rule of this op.",
                    "::mlir::spmd::ShardingRule", "getShardingRule">,
    InterfaceMethod<[{
      What the op needs to run on padded shards of a factor of its rule: nothing, values in
      the padding of operands; or `std::nullopt` if it cannot. By default this follows
      `Factor::padding`.
    }], "::std::optional<::mlir::spmd::PaddingNeeds>", "getPaddingNeeds",
        (ins "const ::mlir::spmd::ShardingRule &":$rule, "int32_t":$factor), "",
        [{ return ::mlir::spmd::getDefaultPaddingNeeds($_op, rule, factor); }]>,
    InterfaceMethod<[{
      Adjusts sizes in attributes and constant operands to the local types. Called before
      the types of the results change. A rule with such attributes sets `hasLocalAttributes`.
    }], "void", "makeLocal", (ins "const ::mlir::spmd::TensorTypes &":$types), "", [{ (void)types; }]>,
    InterfaceMethod<"How a shard is computed from windows; the rule may have windows only if this is not None.",
                    "::mlir::spmd::WindowForm", "getWindowForm", (ins), "",
                    [{ return ::mlir::spmd::WindowForm::None; }]>,
    InterfaceMethod<[{
      InPlace: adjusts attributes to a dim whose window is an operand now; for instance,
      there is nothing left to pad.
    }], "void", "makeWindowLocal", (ins "const ::mlir::spmd::LocalWindow &":$window), "", [{ (void)window; }]>,
    InterfaceMethod<"InPlace: the value of elements of windows beyond the dim; null if zero, or if there are none.",
                    "::mlir::TypedAttr", "getWindowPadding", (ins "unsigned":$operand, "unsigned":$dim), "",
                    [{ (void)operand, (void)dim; return {}; }]>,
    InterfaceMethod<"Pad: the padding. Constants are created by `builder`.",
                    "::mlir::spmd::PadForm", "getPadForm", (ins "::mlir::OpBuilder &":$builder), "",
                    [{ (void)builder; return {}; }]>,
    InterfaceMethod<"The rows that the op reads or writes at indices in data, if its rule has indexed factors.",
                    "::std::optional<::mlir::spmd::Addressing>", "getAddressing", (ins), "",
                    [{ return std::nullopt; }]>,
  ];
}

#endif // SHARDKIT_RULES_SHARDINGRULEOPINTERFACE
