//===- SPMDBase.td - The spmd dialect ----------------------*- tablegen -*-===//

#ifndef SHARDKIT_DIALECT_SPMD_IR_SPMDBASE
#define SHARDKIT_DIALECT_SPMD_IR_SPMDBASE

include "mlir/IR/OpBase.td"

def SPMD_Dialect : Dialect {
  let name = "spmd";
  let cppNamespace = "::mlir::spmd";
  let summary = "Shardings of tensors over logical meshes, and collectives";
  let description = [{
    The dialect says how the tensors of a program in upstream dialects are laid
    out over a logical mesh of devices (global view), and expresses the program
    of one device with explicit collectives (local view). It carries no type of
    its own.

    Discardable attributes, each checked wherever it stands:

    | attribute | on | meaning |
    | --- | --- | --- |
    | `spmd.sharding` | argument, result | its sharding |
    | `spmd.user_sharding` | argument, result, op | what the user wrote, where propagation extended it; of an op the `spmd.factor_shardings` and `spmd.reshard_per_use` that it had before a search |
    | `spmd.axis_resources` | argument, result | symbolic sharding, resolved against a mesh |
    | `spmd.global_type` | argument, result | the type before partition |
    | `spmd.weight`, `spmd.name` | argument, result | the stored tensor (or tensors), the user's name |
    | `spmd.range` | argument | values of random integers, `[lo, hi]`, hi excluded |
    | `spmd.microbatch`, `spmd.segments` | argument | pipelines, fused weights |
    | `spmd.load`, `spmd.shard_function` | argument | the private function that makes it of its stored tensors, and what --spmd-shard-functions makes of that |
    | `spmd.tied` | result | number of the argument that it updates in place |
    | `spmd.shardings` | op | one sharding per result |
    | `spmd.factor_shardings` | op | axes of each factor of the op's rule |
    | `spmd.reshard_per_use` | op | operands that are resharded for this op anew, although an op before it needs them in the same layout: their copies are not held in between |
    | `spmd.sharding_rule` | op | overrides the op's rule |
    | `spmd.stage` | op, function | overrides the pipeline stage; the stage that a function is |
    | `spmd.slot` | argument, result | what an argument or result of a stage is of the program |
    | `spmd.mesh`, `spmd.schedule` | function | the mesh of a stage (of a program, those of its stages), the schedule that it is part of |
    | `spmd.reference` | function | the function that a check compares with |
    | `spmd.phase` | module | how far the IR has come |

    Constraints:
    * (attr_c1) a `spmd.*` attribute has one of these names and stands on one of these places
    * (attr_c2) its value has the kind that it needs
    * (sharding_c1) the mesh exists
    * (sharding_c2) every axis belongs to the mesh and is used at most once
    * (sharding_c3) one entry per dimension of the value
    * (sharding_c4) axes and gaps divide the dimension; whole axes without gaps may leave a rest (uneven: the last shards are padded)
    * (sharding_c5) results of public functions are not unreduced
    * (sharding_c6) the reduction of an unreduced value is defined for its elements
    * (shardings_c1) one sharding per result
    * (tied_c1) the argument exists; (tied_c2) types are equal; (tied_c3) layouts are equal
    * (phase_c1) one of annotated, propagated, resharded, partitioned, final
    * (global_type_c1) the local type is what the sharding makes of the global type
    * (reshard_per_use_c1) `spmd.reshard_per_use` lists operands of the op (and, behind them, tensors that its body captures), each once, in ascending order
    * (compute_c1) the axes of `spmd.factor_shardings` belong to the mesh and are used at most once
    * (rule_c1) a `spmd.sharding_rule` describes all operands and results of the op
    * (rule_c2) the factors of a dimension multiply to its size
    * (range_c1) lo < hi
    * (load_c1) a loading function is private, has a body, and takes as many tensors of static shape as `spmd.weight` names
    * (load_c2) its result has the type of the argument (a stack of shards where it calls functions without a body)
  }];
  let useDefaultAttributePrinterParser = 1;
  let hasOperationAttrVerify = 1;
  let hasRegionArgAttrVerify = 1;
  let hasRegionResultAttrVerify = 1;
  let extraClassDeclaration = "void registerAttributes();";
}

def SPMD_Tensor : RankedTensorOf<[AnyInteger, AnyFloat, Index, AnyComplex]>;

class SPMD_Op<string mnemonic, list<Trait> traits = []>
    : Op<SPMD_Dialect, mnemonic, traits>;

#endif // SHARDKIT_DIALECT_SPMD_IR_SPMDBASE
