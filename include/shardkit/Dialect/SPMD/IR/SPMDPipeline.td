//===- SPMDPipeline.td - Pipeline ops of the spmd dialect --*- tablegen -*-===//

#ifndef SHARDKIT_DIALECT_SPMD_IR_SPMDPIPELINE
#define SHARDKIT_DIALECT_SPMD_IR_SPMDPIPELINE

include "mlir/IR/OpBase.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "shardkit/Dialect/SPMD/IR/SPMDAttrs.td"

//===----------------------------------------------------------------------===//
// Stages as --spmd-build-stages makes them
//===----------------------------------------------------------------------===//

def SPMD_FragmentOp : SPMD_Op<"fragment"> {
  let summary = "what follows belongs to the next part of a stage";
  let description = [{
    A stage is one function through all IR phases, so that what its parts share has
    one layout. Behind partition each part becomes a function of its own
    (--spmd-outline-stages). Parts come in the order forward, backward, apply; there is
    one apply part per `round`, where a round needs what other stages hand over in
    the one before.

    `executions` is how often a step runs the part: once per microbatch, or once.

    Constraints:
    * (fragment_c1) the round is not negative, and 0 except for apply
    * (fragment_c2) executions are positive

    ```mlir
    spmd.fragment forward executions = 4
    spmd.fragment apply round = 1
    ```
  }];
  let arguments = (ins SPMD_PipelinePart:$part, OptionalAttr<I64Attr>:$round,
                       OptionalAttr<I64Attr>:$executions);
  let assemblyFormat = [{
    $part (`round` `=` custom<I64>($round)^)? (`executions` `=` custom<I64>($executions)^)? attr-dict
  }];
  let hasVerifier = 1;
}

def SPMD_StageOutputOp : SPMD_Op<"stage_output", [AllTypesMatch<["input", "result"]>]> {
  let summary = "a value that leaves its part of a stage";
  let description = [{
    The value as other stages, later parts or the caller have it: complete, unless it
    is accumulated over the microbatches (`sum` and the other reductions): then it
    stays partial over the devices of the stage, and is completed once per step.

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
}

//===----------------------------------------------------------------------===//
// The schedule
//===----------------------------------------------------------------------===//

def SPMD_ScheduleOp : SPMD_Op<"schedule", [Symbol, NoTerminator, SingleBlock, NoRegionArguments]> {
  let summary = "a program in stages: who runs what in which order";
  let description = [{
    Takes the place of the function that was cut into stages, whose type and
    attributes it keeps. `kind` is gpipe, 1f1b, interleaved-1f1b or inference. The body
    holds what moves between stages and one list of instructions per mesh
    (--spmd-outline-stages writes them).

    Constraints:
    * (schedule_c1) the kind is one of gpipe, 1f1b, 1f1b-overlap, interleaved-1f1b, inference
    * (schedule_c2) at least one microbatch and one mesh
    * (schedule_c3) `arg_attrs` and `res_attrs` have an entry per argument and result
    * (schedule_c4) where there are instructions, there is a list for each mesh, in order
    * (schedule_c5) every microbatch runs once in each part of each stage, after what it needs and before that is freed;
      no stage waits for one that waits for it; no more microbatches are in flight than the kind allows

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
  let summary = "a value that one stage hands to another";
  let description = [{
    `from` and `to` are places in the list of meshes of the schedule, the shardings
    the layouts that both sides have it in. Each byte is sent once: what the receivers
    replicate arrives at one of them, and a part of their own gathers it.

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
}

def SPMD_StageProgramOp : SPMD_Op<"stage_program",
    [HasParent<"ScheduleOp">, NoTerminator, SingleBlock, NoRegionArguments]> {
  let summary = "the instructions of the devices of one mesh";
  let arguments = (ins FlatSymbolRefAttr:$mesh);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$mesh attr-dict-with-keyword $body";
}

def SPMD_RunOp : SPMD_Op<"run", [HasParent<"StageProgramOp">]> {
  let summary = "runs a part of a stage, for one microbatch or once per step";
  let description = [{
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
}

def SPMD_TransferOp : SPMD_Op<"transfer", [HasParent<"StageProgramOp">]> {
  let summary = "begins to send to and receive from another stage";
  let description = [{
    Transfers are given as pairs (number of the transfer in the schedule, microbatch; -1
    where the value is one of the step). The other stage has the same posts in the same order.

    What is posted travels while the stages work. The first `spmd.run` that reads what is
    received waits for it, and so do its `spmd.free` and an `spmd.transfer` that sends it on. What is
    sent is freed once the other stage has come to that point.

    ```mlir
    spmd.transfer 1 send [[0, 1]] receive [[2, 0]]
    ```
  }];
  let arguments = (ins I64Attr:$peer, ArrayAttr:$sends, ArrayAttr:$receives);
  let assemblyFormat = [{
    custom<I64>($peer) `send` custom<Pairs>($sends) `receive` custom<Pairs>($receives) attr-dict
  }];
}

def SPMD_FreeOp : SPMD_Op<"free", [HasParent<"StageProgramOp">]> {
  let summary = "the devices need a value no more";
  let description = [{
    A value that was sent is waited for: until each stage that receives it has first used it.
  }];
  let arguments = (ins StrAttr:$value, OptionalAttr<I64Attr>:$microbatch);
  let assemblyFormat = "$value (`microbatch` `=` custom<I64>($microbatch)^)? attr-dict";
}

#endif // SHARDKIT_DIALECT_SPMD_IR_SPMDPIPELINE
