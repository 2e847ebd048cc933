//===- SPMDStages.td - Stage ops of the spmd dialect -------*- tablegen -*-===//

#ifndef SHARDKIT_DIALECT_SPMD_IR_SPMDSTAGES
#define SHARDKIT_DIALECT_SPMD_IR_SPMDSTAGES

include "mlir/IR/OpBase.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "shardkit/Dialect/SPMD/IR/SPMDAttrs.td"

//===----------------------------------------------------------------------===//
// Stages as --spmd-build-stages makes them
//===----------------------------------------------------------------------===//

def SPMD_FragmentOp : SPMD_Op<"fragment"> {
  let summary = "begins the next fragment of a stage";
  let description = [{
    A stage is one function through all IR phases, so that a value that several of its
    fragments use has one layout. After partition each fragment becomes a function
    (--spmd-outline-stages). The fragments come in the order forward, backward, apply.
    There is one apply fragment per `round`: a round reads values that other stages
    computed in the round before.

    `executions` is how often a step runs the fragment: once per microbatch, or once.

    Constraints:
    * (fragment_c2) executions are positive

    ```mlir
    spmd.fragment forward executions = 4
    spmd.fragment apply round = 1
    ```
  }];
  let arguments = (ins SPMD_FragmentAttr:$fragment, OptionalAttr<I64Attr>:$executions);
  let assemblyFormat = [{
    custom<Fragment>($fragment) (`executions` `=` custom<I64>($executions)^)? attr-dict
  }];
  let hasVerifier = 1;
}

def SPMD_StageOutputOp : SPMD_Op<"stage_output", [AllTypesMatch<["input", "result"]>]> {
  let summary = "a value that leaves its fragment of a stage";
  let description = [{
    The value as other stages, later fragments or the caller read it. It is complete,
    unless it is accumulated over the microbatches (`sum` and the other reductions): then
    it stays partial over the devices of the stage and is completed once per step.

    Constraints:
    * (stage_output_c1) the name is not empty
    * (stage_output_c2) the reduction is defined for the elements of the value

    ```mlir
    %1 = spmd.stage_output %0 "h" : tensor<32x10xf32>
    %2 = spmd.stage_output %g "g" accumulated sum : tensor<10x12xf32>
    ```
  }];
  let arguments = (ins SPMD_Tensor:$input, StrAttr:$name,
                       OptionalAttr<SPMD_ReductionKindAttr>:$reduction);
  let results = (outs SPMD_Tensor:$result);
  let assemblyFormat = [{
    $input $name (`accumulated` custom<Reduction>($reduction)^)? attr-dict `:` type($result)
  }];
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// The schedule
//===----------------------------------------------------------------------===//

def SPMD_ScheduleOp : SPMD_Op<"schedule", [Symbol, NoTerminator, SingleBlock, NoRegionArguments]> {
  let summary = "a program in stages: the order in which each mesh works";
  let description = [{
    Replaces the function that was split into stages, and keeps its type and attributes.
    `kind` is gpipe, 1f1b, 1f1b-overlap, interleaved-1f1b or inference. The body holds the
    channels between stages and one list of instructions per mesh (--spmd-outline-stages
    writes them).

    Constraints:
    * (schedule_c1) the kind is one of gpipe, 1f1b, 1f1b-overlap, interleaved-1f1b, inference
    * (schedule_c2) at least one microbatch and one mesh
    * (schedule_c3) `arg_attrs` and `res_attrs` have an entry per argument and result
    * (schedule_c4) if there are instructions, there is a list for each mesh, in order
    * (schedule_c5) every microbatch runs once in each fragment of each stage, after the values that it needs are
      there and before they are freed; no stage waits for one that waits for it; no more microbatches are in flight
      than the kind allows (--spmd-outline-stages and the writer of bundles check it)

    ```mlir
    spmd.schedule @main "1f1b" microbatches = 2 on [@s0, @s1] : (tensor<64x6xf32>) -> tensor<64x14xf32> { ... }
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, StrAttr:$kind, I64Attr:$microbatches,
                       FlatSymbolRefArrayAttr:$meshes, TypeAttrOf<FunctionType>:$function_type,
                       OptionalAttr<DictArrayAttr>:$arg_attrs,
                       OptionalAttr<DictArrayAttr>:$res_attrs);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $sym_name $kind `microbatches` `=` custom<I64>($microbatches) `on` $meshes `:`
    $function_type attr-dict-with-keyword $body
  }];
  let hasVerifier = 1;
}

def SPMD_ChannelOp : SPMD_Op<"channel", [HasParent<"ScheduleOp">]> {
  let summary = "a value that one stage sends to another";
  let description = [{
    `from` and `to` are indices into the list of meshes of the schedule. The shardings are
    the layouts that the value has on both sides. Each byte is sent once: of several
    receivers that hold the same shard one receives it, and a fragment of the receiving
    stage gathers it.

    Constraints:
    * (channel_c1) `from` and `to` are two different meshes of the schedule
    * (channel_c2) both shardings have one entry per dimension of the value
    * (channel_c3) a fragment writes the value in the layout of the source

    ```mlir
    spmd.channel "h" from 0 <@s0, [{"data"}, {} ]> to 1 <@s1, [{}, {} ]> : tensor<32x10xf32>
    ```
  }];
  let arguments = (ins StrAttr:$value, I64Attr:$from, SPMD_ShardingAttr:$source,
                       I64Attr:$to, SPMD_ShardingAttr:$destination,
                       TypeAttrOf<AnyRankedTensor>:$type);
  let assemblyFormat = [{
    $value `from` custom<I64>($from) $source `to` custom<I64>($to) $destination
    `:` $type attr-dict
  }];
  let hasVerifier = 1;
}

def SPMD_StageProgramOp : SPMD_Op<"stage_program",
    [HasParent<"ScheduleOp">, NoTerminator, SingleBlock, NoRegionArguments]> {
  let summary = "the instructions of the devices of one mesh";
  let description = [{
    Every device of the mesh runs the instructions one after the other.

    Constraints:
    * (stage_program_c1) the instructions are `spmd.run`, `spmd.transfer` and `spmd.free`
  }];
  let arguments = (ins FlatSymbolRefAttr:$mesh);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$mesh attr-dict-with-keyword $body";
  let hasVerifier = 1;
}

def SPMD_RunOp : SPMD_Op<"run", [HasParent<"StageProgramOp">]> {
  let summary = "runs a fragment of a stage, for one microbatch or once per step";
  let description = [{
    Constraints:
    * (run_c1) microbatch and clock are not negative
    * (run_c2) the function is a fragment of the schedule

    ```mlir
    spmd.run @stage0_forward microbatch = 1
    spmd.run @stage0_apply
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$function, OptionalAttr<I64Attr>:$microbatch,
                       OptionalAttr<I64Attr>:$clock);
  let assemblyFormat = [{
    $function (`microbatch` `=` custom<I64>($microbatch)^)? (`clock` `=` custom<I64>($clock)^)? attr-dict
  }];
  let hasVerifier = 1;
}

def SPMD_TransferOp : SPMD_Op<"transfer", [HasParent<"StageProgramOp">]> {
  let summary = "begins to send values to and to receive values from another stage";
  let description = [{
    Sends and receives are pairs (index of the channel in the schedule, microbatch). The
    microbatch is -1 for a value of the step. The other stage has the same transfers in the
    same order.

    Values move while the stages work. The first `spmd.run` that reads a received value
    waits for it, and so do its `spmd.free` and an `spmd.transfer` that forwards it. A sent
    value is freed once the other stage has reached its first use.

    Constraints:
    * (transfer_c1) each send and receive is a pair (channel, microbatch)
    * (transfer_c2) the peer is another mesh of the schedule
    * (transfer_c3) the channels exist and connect this mesh and the peer, in the direction of the transfer

    ```mlir
    spmd.transfer 1 send [[0, 1]] receive [[2, 0]]
    ```
  }];
  let arguments = (ins I64Attr:$peer, ArrayAttr:$sends, ArrayAttr:$receives);
  let assemblyFormat = [{
    custom<I64>($peer) `send` custom<Pairs>($sends) `receive` custom<Pairs>($receives) attr-dict
  }];
  let hasVerifier = 1;
}

def SPMD_FreeOp : SPMD_Op<"free", [HasParent<"StageProgramOp">]> {
  let summary = "frees a value that the devices no longer need";
  let description = [{
    The free of a value that was sent waits until each stage that receives it has reached
    its first use.

    Constraints:
    * (free_c1) the microbatch is not negative
    * (free_c2) fragments of the schedule write or read the value

    ```mlir
    spmd.free "h" microbatch = 1
    ```
  }];
  let arguments = (ins StrAttr:$value, OptionalAttr<I64Attr>:$microbatch);
  let assemblyFormat = "$value (`microbatch` `=` custom<I64>($microbatch)^)? attr-dict";
  let hasVerifier = 1;
}

#endif // SHARDKIT_DIALECT_SPMD_IR_SPMDSTAGES
