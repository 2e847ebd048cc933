//===- SPMDInterfaces.td - Interfaces of spmd ops ----------*- tablegen -*-===//

#ifndef SHARDKIT_DIALECT_SPMD_IR_SPMDINTERFACES
#define SHARDKIT_DIALECT_SPMD_IR_SPMDINTERFACES

include "mlir/IR/OpBase.td"

def SPMD_CollectiveOpInterface : OpInterface<"CollectiveOpInterface"> {
  let cppNamespace = "::mlir::spmd";
  let description = [{
    A local-view op that changes the layout of one value. Its
    shardings, on a global value of its own, denote the digits that it moves:
    operand and result are the local values of `from` and `to`.
  }];
  let methods = [
    InterfaceMethod<"The kind of the collective.",
      "::mlir::spmd::CollectiveKind", "getKind">,
    InterfaceMethod<"The reduction of partial values; std::nullopt for pure data movement.",
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
      an error at the op if its shardings or types do not allow one.
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
