//===- SPMDBase.td - The spmd dialect ----------------------*- tablegen -*-===//

#ifndef SHARDKIT_DIALECT_SPMD_IR_SPMDBASE
#define SHARDKIT_DIALECT_SPMD_IR_SPMDBASE

include "mlir/IR/OpBase.td"

def SPMD_Dialect : Dialect {
  let name = "spmd";
  let cppNamespace = "::mlir::spmd";
  let summary = "Shardings of tensors over logical meshes, and collectives";
  let description = [{
    The dialect describes how the tensors of a program in upstream dialects are
    laid out over a logical mesh of devices (global view), and expresses the
    program of one device with explicit collectives (local view). It defines no
    types.

    Discardable attributes, each verified on every op that carries it:

    | attribute | on | meaning |
    | --- | --- | --- |
    | `spmd.sharding` | argument, result | the sharding of the value |
    | `spmd.shardings` | op | the shardings of its results, one per result |
    | `spmd.operand_shardings` | manual computation | the shardings of its operands as propagation completed them |
    | `spmd.user_sharding` | argument, result, op | the sharding that the user wrote, where propagation or search extended it; on an op a dictionary of the `spmd.factor_shardings` and `spmd.reshard_per_use` that it had |
    | `spmd.axis_resources` | argument, result | symbolic sharding, resolved against a mesh |
    | `spmd.factor_shardings` | op | the axes of each factor of the op's rule |
    | `spmd.reshard_per_use` | op | numbers of the operands that are resharded again for this op, even if an earlier op needs them in the same layout: the copy is not kept in between |
    | `spmd.sharding_rule` | op | overrides the op's rule (docs/reference/RuleSyntax.md) |
    | `spmd.windows` | slice | set where a slice is one of several of equal size: its sharded dims are read in windows of the dim as it is sharded, and are not a digit of the dim |
    | `spmd.groups` | op | by --spmd-find-groups: the op computes for each of `groups` groups (experts) the rows that a mask leaves, and each row is in `used` of them; `loop`: that of the groups; `dim`: the dim of the groups in its result, if one group after the other is in memory; `row_operands`: the operands that have rows, the same for all groups |
    | `spmd.global_type` | argument, result | the type before partition |
    | `spmd.layouts` | op | after partition, for reports: the sharding of each result, unit for a result that is not a tensor |
    | `spmd.global_types` | op | after partition, for reports: the global type of each result, unit for a result that is not a tensor |
    | `spmd.origins` | op | after partition, for reports: the name that each result had before, unit where it had none |
    | `spmd.weight` | argument | the name of the stored tensor that the argument is loaded from, or a list of names |
    | `spmd.constant` | argument | the elements of an argument that the compiler made of a constant (--spmd-outline-constants): the bundle holds them, and the runtime loads them |
    | `spmd.name` | argument, result | the user's name |
    | `spmd.range` | argument | bounds of random integers, `[low, high]`, high excluded |
    | `spmd.symbols` | argument | a name for each dim whose size only the run knows, `""` for the others: `["b", "s", ""]`; dims of one name have one size. Also a sum, difference or product of names and numbers, with a space on both sides of operators: `["2 * b", ""]` |
    | `spmd.bounds` | function | by name, the least and the largest of a size that only the run knows: `{b = [1, 64]}` |
    | `spmd.hints` | function | by name, a likely size, which --spmd-auto-shard chooses layouts for: `{b = 8}` |
    | `spmd.buckets` | function | by name, the largest sizes of the buckets that have layouts of their own, rising: `{b = [8, 64]}` |
    | `spmd.bucket_of` | function | by --spmd-size-buckets: the name of the function that it is the bucket of |
    | `spmd.size` | argument | by --spmd-size-arguments: the argument is the size of that name |
    | `spmd.bound` | argument | the bound of a `spmd.size` |
    | `spmd.hint` | argument | the hint of a `spmd.size` |
    | `spmd.global_sizes` | argument, result | by --spmd-size-arguments: the sizes of the global value as an affine map of the size arguments |
    | `spmd.multiple` | argument | by partition: what a `spmd.size` has to be a multiple of |
    | `spmd.padded_to` | argument | by partition: sharded dims of a `spmd.size` are padded to a multiple of this |
    | `spmd.local_sizes` | argument, result | by partition: the sizes of a shard as an affine map of the size arguments |
    | `spmd.tied` | result | the number of the argument whose buffer the result updates |
    | `spmd.segments` | argument | the stored dimension is a concatenation of segments that are sharded one by one |
    | `spmd.segment` | argument, result | the segment of the stored tensor that the argument is, or the result updates |
    | `spmd.segments_of` | argument | a list with the `spmd.segment`, `spmd.global_type` and `spmd.sharding` of the segments that --spmd-merge-contractions joined in this argument |
    | `spmd.load` | argument | the private function that computes the argument from its stored tensors |
    | `spmd.shard_function` | argument | the loading function as each device runs it (--spmd-shard-functions) |
    | `spmd.elementwise` | function | a shard function that computes each element by itself, from operands that the loader fills |
    | `spmd.extras` | call | the extra inputs of a host function, numbers and strings |
    | `spmd.microbatch` | argument | the dimension that is split into microbatches |
    | `spmd.stage` | op, function | the pipeline stage: of an op, overrides the boundaries; of a function, the stage that it belongs to |
    | `spmd.slot` | argument, result | the buffer of its stage that an argument or result is: an argument, result or value of the program |
    | `spmd.mesh` | function | the mesh of a stage; on a program, the mesh of its axis resources or a list with the mesh of each stage |
    | `spmd.rank_mesh` | function | the mesh that counts the ranks of a partitioned function, if others list the devices in other orders |
    | `spmd.schedule` | function | the schedule that the function belongs to |
    | `spmd.fragment` | function | the fragment of its stage that the function is |
    | `spmd.reference` | function | the function that --verify compares with |
    | `spmd.unsharded` | function | the private function that computes the same on one device, with a `spmd.probe` for each of this function (--spmd-insert-probes) |
    | `spmd.calls` | function, nested module | `N : i64`: how often it is called, as compared with the functions that share weights or state with it (1 by default) |
    | `spmd.solver` | function | the result of --spmd-auto-shard: `objective`, `lower_bound`, `status`, `with_options`, those that differ from the defaults, `hidden`, where compute hides collectives, `timed_out`, where the time limit ended it, `functions`, where several were searched together, and `kept`, `kept_seconds`, `searched_seconds` where another plan takes less time as it runs; `sizes`, the values that layouts were chosen for |
    | `spmd.improved` | function | predicted seconds of the `propagated` plan, and of the `improved` one that replaced it |
    | `spmd.mesh_shapes` | module | the mesh shapes that --spmd-auto-shard tried, the best one first |
    | `spmd.hosts` | mesh | the bandwidths that --spmd-derive-costs computed the link costs from |
    | `spmd.overlap` | mesh | `F : f64` from 0 to 1: the fraction of the time of a collective that passes while its devices compute something independent of it. Searches and reports discount collectives by it, on a mesh with `flops`; without it nothing is hidden |
    | `spmd.phase` | module | the phase that the module has reached |

    Constraints:
    * (attr_c1) a `spmd.*` attribute has one of these names and is on one of the entities listed for it
    * (attr_c2) its value has the required kind
    * (sharding_c1) the mesh exists
    * (sharding_c2) every axis belongs to the mesh and is used at most once
    * (sharding_c3) one entry per dimension of the value
    * (sharding_c4) axes and strides divide the dimension; whole axes without strides may shard a dimension unevenly (the last shards are padded)
    * (sharding_c5) results of public functions are not unreduced
    * (sharding_c6) the reduction of an unreduced value is defined for its elements
    * (shardings_c1) one sharding per result
    * (axis_resources_c3) at most as many entries as dimensions
    * (tied_c1) the argument exists; (tied_c2) types are equal; (tied_c3) layouts are equal
    * (phase_c1) one of annotated, propagated, resharded, partitioned, final
    * (constant_c1) `spmd.constant` has the global type of the argument and is on one with an `spmd.weight`, its name
    * (global_type_c1) the local type is that of a shard of the global type
    * (reshard_per_use_c1) `spmd.reshard_per_use` lists operands of the op (and, after them, tensors that its body captures), each once, in ascending order
    * (factor_shardings_c1) the axes of `spmd.factor_shardings` belong to the mesh and are used at most once
    * (rule_c1) a `spmd.sharding_rule` describes all operands and results of the op
    * (rule_c2) the factors of a dimension multiply to its size
    * (range_c1) low < high
    * (symbols_c1) only dims of unknown size are named
    * (symbols_c2) a size with operators is a sum, difference or product of names and numbers
    * (weight_c1) a list of several names comes with `spmd.load` or `spmd.segments`
    * (load_c1) a loading function is private, has a body, and takes as many tensors of static shape as `spmd.weight` names
    * (load_c2) its result has the type of the argument (a stack of shards where it calls functions without a body)
    * (microbatch_c2) the dimension is less than the rank
    * (segments_c3) the dimension is less than the rank, and the sizes add up to its size
    * (segment_c2) the argument has units of the stored tensor's type, inside of it
    * (segment_c3) no shard of its sharding ends inside a unit
  }];
  let useDefaultAttributePrinterParser = 1;
  let hasOperationAttrVerify = 1;
  let hasRegionArgAttrVerify = 1;
  let hasRegionResultAttrVerify = 1;
  let extraClassDeclaration = [{
    void registerAttributes();
    /// Reports the new names of ops that were renamed.
    std::optional<ParseOpHook> getParseOperationHook(StringRef name) const override;
  }];
}

def SPMD_Tensor : RankedTensorOf<[AnyInteger, AnyFloat, Index, AnyComplex]>;

class SPMD_Op<string mnemonic, list<Trait> traits = []>
    : Op<SPMD_Dialect, mnemonic, traits>;

#endif // SHARDKIT_DIALECT_SPMD_IR_SPMDBASE
