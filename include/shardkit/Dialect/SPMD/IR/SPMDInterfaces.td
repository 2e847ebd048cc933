//===- SPMDInterfaces.td - Interfaces of spmd ops ----------*- tablegen -*-===//

#ifndef SHARDKIT_DIALECT_SPMD_IR_SPMDINTERFACES
#define SHARDKIT_DIALECT_SPMD_IR_SPMDINTERFACES

include "mlir/IR/OpBase.td"

def SPMD_CollectiveOpInterface : OpInterface<"CollectiveOpInterface"> {
  let cppNamespace = "::mlir::spmd";
  let description = [{
    A local-view op that changes the layout of one value. It writes the digits
    that it moves as shardings of its own global value: operand and result are
    the local values of `from` and `to`.
  }];
  let methods = [
    InterfaceMethod<"Which collective this is.",
      "::mlir::spmd::CollectiveKind", "getKind">,
    InterfaceMethod<"How partial values are combined; nothing for pure data movement.",
      "std::optional<::mlir::spmd::ReductionKind>", "getReduction">,
    InterfaceMethod<"The sharding of the operand as written; null where the operand is replicated or partial.",
      "::mlir::spmd::ShardingAttr", "getFromSharding">,
    InterfaceMethod<"The sharding of the result as written; null where the result is replicated.",
      "::mlir::spmd::ShardingAttr", "getToSharding">,
    InterfaceMethod<"The mesh of the operand.",
      "::mlir::FlatSymbolRefAttr", "getFromMesh">,
    InterfaceMethod<"The mesh of the result.",
      "::mlir::FlatSymbolRefAttr", "getToMesh">,
    InterfaceMethod<[{
      The layouts of operand and result over the op's own global value. Reports
      an error at the op where its shardings or types do not allow one.
    }],
      "::llvm::LogicalResult", "getLayouts",
      (ins "const ::mlir::spmd::Mesh &":$fromMesh, "const ::mlir::spmd::Mesh &":$toMesh,
           "::mlir::spmd::Layout &":$from, "::mlir::spmd::Layout &":$to)>,
    InterfaceMethod<"The number given by the last IR pass, if any.",
      "std::optional<int64_t>", "getCollectiveId", (ins), [{}], [{
        if (auto id = $_op.getIdAttr())
          return id.getInt();
        return std::nullopt;
      }]>,
  ];
}

#endif // SHARDKIT_DIALECT_SPMD_IR_SPMDINTERFACES
