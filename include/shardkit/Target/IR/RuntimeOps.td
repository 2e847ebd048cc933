//===- RuntimeOps.td - Calls of the runtime, as ops --------*- tablegen -*-===//

#ifndef SHARDKIT_TARGET_COMMON_RUNTIMEOPS_TD
#define SHARDKIT_TARGET_COMMON_RUNTIMEOPS_TD

include "mlir/Dialect/Bufferization/IR/BufferizableOpInterface.td"
include "mlir/Dialect/LLVMIR/LLVMOpBase.td"
include "mlir/IR/OpBase.td"
include "mlir/Interfaces/DestinationStyleOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def SpmdRt_Dialect : Dialect {
  let name = "spmd_rt";
  let cppNamespace = "::mlir::spmd::target";
  let summary = "Ops that become calls of the runtime";
  let description = [{
    Internal to `lib/Target/Common`. Contractions and collectives of the
    runtime as destination-style ops, on tensors before bufferization and on memrefs after
    it, so that fusion, tiling and unit-dim folding do not change them.
  }];
}

class SpmdRt_Op<string mnemonic, list<Trait> traits = []>
    : Op<SpmdRt_Dialect, mnemonic, !listconcat(traits, [
        DestinationStyleOpInterface,
        DeclareOpInterfaceMethods<MemoryEffectsOpInterface>,
        DeclareOpInterfaceMethods<BufferizableOpInterface, [
          "bufferizesToMemoryRead", "bufferizesToMemoryWrite",
          "getAliasingValues", "bufferize"]>])>;

def SpmdRt_ContractOp : SpmdRt_Op<"contract"> {
  let summary = "A sum of products for sk_contraction";
  let description = [{
    C = [C +] sum of A * B over the loops that C's map does not use. The maps
    are projected permutations of one iteration space of at most
    SK_MAX_CONTRACTION_DIMS loops larger than 1. With `overwrite` the init is
    not read. Operands after `add`, of the type of C and over loops of C, are added to the
    result, followed by the activation, `relu` or `gelu` (by tanh); sk_fused_contraction
    computes these.

    ```mlir
    %r = spmd_rt.contract [affine_map<(m, n, k) -> (m, k)>,
                            affine_map<(m, n, k) -> (n, k)>,
                            affine_map<(m, n, k) -> (m, n)>]
           ins(%a, %b : tensor<4x8xf32>, tensor<6x8xf32>)
           outs(%c : tensor<4x6xf32>) overwrite -> tensor<4x6xf32>
    ```
  }];
  let arguments = (ins AffineMapArrayAttr:$indexing_maps, AnyShaped:$a,
    AnyShaped:$b, AnyShaped:$c, Variadic<AnyShaped>:$added, UnitAttr:$overwrite,
    OptionalAttr<StrAttr>:$activation);
  let results = (outs Variadic<AnyRankedTensor>:$result);
  let assemblyFormat = [{
    $indexing_maps `ins` `(` $a `,` $b `:` type($a) `,` type($b) `)`
    `outs` `(` $c `:` type($c) `)` (`overwrite` $overwrite^)?
    (`add` `(` $added^ `:` type($added) `)`)? (`activation` $activation^)? attr-dict
    (`->` type($result)^)?
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    MutableOperandRange getDpsInitsMutable() { return getCMutable(); }
    /// Whether there are added operands or an activation.
    bool isFused() { return !getAdded().empty() || getActivation(); }
    /// Whether a size is known at run time only (sk_contraction_at).
    bool isDynamic();
    /// Sizes of the loops; std::nullopt if they contradict each other or are dynamic.
    std::optional<SmallVector<int64_t>> getLoopSizes();
  }];
}

def SpmdRt_ContractWidenedOp : SpmdRt_Op<"contract_widened"> {
  let summary = "A sum of products with a weight of few bits for sk_widened_contraction";
  let description = [{
    C = [C +] sum of X * (number * scale - offset) in f32. A number is one of the payload, as
    `number` states: `table` (four bits, which number an element of the table), `i8`, `e4m3`,
    or `i6` (four bits, and two of another operand, minus 32). `roles` names the operands
    after the payload: of `high`, `scale`, `offset`, `inner`. The bits begin at the first element
    of `shifts`, and of `high_shifts`; each loop adds the element after it.

    The bytes `inner` are numbers that the scale is multiplied by, as `inner_scale` states, and the
    offset, as `inner_offset` states: seven integers for each case, which are those of
    `sk_inner_number`. Its map may have zeros: `at` numbers the elements of these dims.
    `inner_cases` has what each loop adds to the case.

    ```mlir
    %r = spmd_rt.contract_widened "i8"
           [affine_map<(n, g, k) -> (g, k)>, affine_map<(n, g, k) -> (n, g, k)>,
            affine_map<(n, g, k) -> (n, g)>, affine_map<(n, g, k) -> (n)>]
           ins(%x, %w : tensor<4x32xf32>, tensor<6x4x32xi8>) roles ["scale"]
           (%s : tensor<6x4xf32>) outs(%c : tensor<6xf32>) overwrite -> tensor<6xf32>
    ```
  }];
  let arguments = (ins StrAttr:$number, AffineMapArrayAttr:$indexing_maps, AnyShaped:$x,
    AnyShaped:$payload, StrArrayAttr:$roles, Variadic<AnyShaped>:$stored, AnyShaped:$c,
    UnitAttr:$overwrite, OptionalAttr<DenseF32ArrayAttr>:$table,
    OptionalAttr<DenseI64ArrayAttr>:$shifts, OptionalAttr<DenseI64ArrayAttr>:$high_shifts,
    OptionalAttr<DenseI64ArrayAttr>:$inner_cases, OptionalAttr<DenseI64ArrayAttr>:$inner_scale,
    OptionalAttr<DenseI64ArrayAttr>:$inner_offset);
  let results = (outs Variadic<AnyRankedTensor>:$result);
  let assemblyFormat = [{
    $number $indexing_maps `ins` `(` $x `,` $payload `:` type($x) `,` type($payload) `)`
    `roles` $roles (`(` $stored^ `:` type($stored) `)`)? `outs` `(` $c `:` type($c) `)`
    (`overwrite` $overwrite^)? (`table` $table^)? (`shifts` $shifts^)?
    (`high_shifts` $high_shifts^)? (`inner_cases` $inner_cases^)? (`inner_scale` $inner_scale^)?
    (`inner_offset` $inner_offset^)? attr-dict (`->` type($result)^)?
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    MutableOperandRange getDpsInitsMutable() { return getCMutable(); }
    /// Sizes of the loops; std::nullopt if they contradict each other or are dynamic.
    std::optional<SmallVector<int64_t>> getLoopSizes();
  }];
}

def SpmdRt_AttentionOp : SpmdRt_Op<"attention"> {
  let summary = "softmax(q k^T) v for sk_attention";
  let description = [{
    The maps of q, k, v, the operands and the result are projected permutations of one
    iteration space. The key is a loop of k and v that the result lacks. The head is a loop
    of q and k only, the value is one of v and the result only. Loop `queries` is the query,
    which k and v lack. All other loops are batch loops.

    The steps transform the scores in order: `scale` by a number; `add`, `subtract` or
    `multiply` by an operand; `select` by an operand of i1 and `causal` (key <= query + the
    number) keep a score if the condition equals `keep`, and replace it by `otherwise` if
    not; `round` to a type. The init is not read.

    ```mlir
    %r = spmd_rt.attention [affine_map<(b, m, n, d, e) -> (b, m, d)>,
                            affine_map<(b, m, n, d, e) -> (b, n, d)>,
                            affine_map<(b, m, n, d, e) -> (b, n, e)>,
                            affine_map<(b, m, n, d, e) -> (b, n)>,
                            affine_map<(b, m, n, d, e) -> (b, m, e)>]
           queries 1 steps [{scale = 0.125 : f32}, {add = 0} ]
           ins(%q, %k, %v, %bias : ...) outs(%init : tensor<2x8x64xf32>) -> tensor<2x8x64xf32>
    ```
  }];
  let arguments = (ins AffineMapArrayAttr:$indexing_maps, I64Attr:$queries,
    ArrayAttr:$steps, AnyShaped:$q, AnyShaped:$k, AnyShaped:$v,
    Variadic<AnyShaped>:$score_operands, AnyShaped:$init);
  let results = (outs Variadic<AnyRankedTensor>:$result);
  let assemblyFormat = [{
    $indexing_maps `queries` $queries `steps` $steps
    `ins` `(` $q `,` $k `,` $v (`,` $score_operands^)? `:` type($q) `,` type($k) `,` type($v) (`,` type($score_operands)^)? `)`
    `outs` `(` $init `:` type($init) `)` attr-dict (`->` type($result)^)?
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    MutableOperandRange getDpsInitsMutable() { return getInitMutable(); }
    /// Sizes of the loops, 1 for loops that no operand has; std::nullopt if they contradict
    /// each other or are dynamic.
    std::optional<SmallVector<int64_t>> getLoopSizes();
    /// Whether only the run knows some of them.
    bool isDynamic();
    struct Roles {
      int64_t queries = -1, keys = -1, head = -1, values = -1;
      SmallVector<int64_t> batch;
    };
    /// The role of each loop; std::nullopt if a loop has none of these roles.
    std::optional<Roles> getRoles();
  }];
}

def SpmdRt_CollectiveOp : SpmdRt_Op<"collective", [AttrSizedOperandSegments]> {
  let summary = "A collective, by its id in the manifest";
  let description = [{
    ```mlir
    %r = spmd_rt.collective 3 ins(%x : tensor<4x8xf32>)
           outs(%init : tensor<4x16xf32>) -> tensor<4x16xf32>
    ```
    The init is not read; input and output never share memory. The first `batch_dims`
    dims are equal in both types, of any size: the collective applies to the other dims,
    for each index of the batch dims. `offsets` are those of windows that the manifest lists
    as known at run time.

    A mask has the first dims of a buffer, which are its rows. With `output_rows(%mask)` the
    rows of the output that it leaves are needed; the others may hold anything. With
    `input_rows(%mask)` the other rows of the input are zero. Each device has its own masks.
  }];
  let arguments = (ins I64Attr:$id, DefaultValuedAttr<I64Attr, "0">:$batch_dims,
                       AnyShaped:$input, AnyShaped:$init, Variadic<Index>:$offsets,
                       Optional<AnyShaped>:$input_rows, Optional<AnyShaped>:$output_rows);
  let results = (outs Variadic<AnyRankedTensor>:$result);
  let assemblyFormat = [{
    $id `ins` `(` $input `:` type($input) `)` `outs` `(` $init `:` type($init)
    `)` (`offsets` `(` $offsets^ `)`)? (`input_rows` `(` $input_rows^ `:` type($input_rows) `)`)?
    (`output_rows` `(` $output_rows^ `:` type($output_rows) `)`)? attr-dict (`->` type($result)^)?
  }];
  let extraClassDeclaration = [{
    MutableOperandRange getDpsInitsMutable() { return getInitMutable(); }
  }];
}

def SpmdRt_StartOp : Op<SpmdRt_Dialect, "start", [
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>,
    DeclareOpInterfaceMethods<BufferizableOpInterface, [
      "bufferizesToMemoryRead", "bufferizesToMemoryWrite",
      "getAliasingValues", "bufferize"]>]> {
  let summary = "Starts a collective, by its id in the manifest";
  let description = [{
    ```mlir
    %begun = spmd_rt.start 3 %x, %init
               : tensor<4x8xf32>, tensor<4x16xf32> -> tensor<4x16xf32>
    %r = spmd_rt.done 3 %x, %begun
           : tensor<4x8xf32>, tensor<4x16xf32> -> tensor<4x16xf32>
    ```
    The runtime owns both operands until the done, which takes the same input: it reads
    the input and writes the output in the meantime. Of one that is `alone`, none is started
    together with it.
  }];
  let arguments = (ins I64Attr:$id, UnitAttr:$alone, AnyShaped:$input, AnyShaped:$init);
  let results = (outs Optional<AnyRankedTensor>:$begun);
  let assemblyFormat = [{
    $id (`alone` $alone^)? $input `,` $init attr-dict `:` type($input) `,` type($init) (`->` type($begun)^)?
  }];
}

def SpmdRt_DoneOp : Op<SpmdRt_Dialect, "done", [
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>,
    DeclareOpInterfaceMethods<BufferizableOpInterface, [
      "bufferizesToMemoryRead", "bufferizesToMemoryWrite",
      "getAliasingValues", "bufferize"]>]> {
  let summary = "Waits for a collective that was started";
  let description = [{
    See `spmd_rt.start`.
  }];
  let arguments = (ins I64Attr:$id, AnyShaped:$input, AnyShaped:$begun);
  let results = (outs Optional<AnyRankedTensor>:$result);
  let assemblyFormat = [{
    $id $input `,` $begun attr-dict `:` type($input) `,` type($begun) (`->` type($result)^)?
  }];
}

def SpmdRt_ProbeOp : Op<SpmdRt_Dialect, "probe", [
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>,
    DeclareOpInterfaceMethods<BufferizableOpInterface, [
      "bufferizesToMemoryRead", "bufferizesToMemoryWrite",
      "getAliasingValues", "bufferize"]>]> {
  let summary = "Passes a value to the runtime, by the number of its probe in the manifest";
  let description = [{
    ```mlir
    spmd_rt.probe 3 %x : tensor<4x8xf32>
    ```
  }];
  let arguments = (ins I64Attr:$id, AnyShaped:$input);
  let assemblyFormat = "$id $input attr-dict `:` type($input)";
}

def SpmdRt_CallOp : SpmdRt_Op<"call", [AttrSizedOperandSegments]> {
  let summary = "A call of a layer, a function of the program";
  let description = [{
    ```mlir
    %r = spmd_rt.call @layer_0 6 tied [-1] ins(%x, %w : tensor<4x8xf32>, tensor<8x8xf32>)
           outs(%init : tensor<4x8xf32>) -> tensor<4x8xf32>
    ```
    The inits are not read. The collectives of the function are numbered from 0; those of this
    call begin with the given number. A result that is tied to an input may share its memory.
    See `spmd-target-outline-layers`.
  }];
  let arguments = (ins FlatSymbolRefAttr:$callee, I64Attr:$first_collective, DenseI64ArrayAttr:$tied,
                       Variadic<AnyShaped>:$inputs, Variadic<AnyShaped>:$inits);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let assemblyFormat = [{
    $callee $first_collective `tied` $tied (`ins` `(` $inputs^ `:` type($inputs) `)`)?
    `outs` `(` $inits `:` type($inits) `)` attr-dict (`->` type($results)^)?
  }];
  let extraClassDeclaration = [{
    MutableOperandRange getDpsInitsMutable() { return getInitsMutable(); }
  }];
}

def SpmdRt_FindRowsOp : SpmdRt_Op<"find_rows"> {
  let summary = "The rows of which a flag is set, for sk_find_rows";
  let description = [{
    The result has one element more than there are flags: the number of those that are set, then their positions in
    ascending order. What follows these is not defined, and the init is not read.

    ```mlir
    %rows = spmd_rt.find_rows ins(%flags : tensor<8xi1>) outs(%init : tensor<9xindex>) -> tensor<9xindex>
    ```
  }];
  let arguments = (ins AnyShaped:$flags, AnyShaped:$init);
  let results = (outs Variadic<AnyRankedTensor>:$result);
  let assemblyFormat = [{
    `ins` `(` $flags `:` type($flags) `)` `outs` `(` $init `:` type($init) `)` attr-dict (`->` type($result)^)?
  }];
  let extraClassDeclaration = [{
    MutableOperandRange getDpsInitsMutable() { return getInitMutable(); }
  }];
}

def SpmdRt_CoordinateOp : Op<SpmdRt_Dialect, "coordinate", [Pure]> {
  let summary = "(rank / stride) mod size";
  let arguments = (ins I64Attr:$stride, I64Attr:$size);
  let results = (outs Index:$result);
  let assemblyFormat = "$stride $size attr-dict";
}

def SpmdRt_TextOp : Op<SpmdRt_Dialect, "text", [Pure]> {
  let summary = "The address of a zero-terminated string on the host";
  let arguments = (ins StrAttr:$text);
  let results = (outs LLVM_AnyPointer:$address);
  let assemblyFormat = "$text attr-dict `:` type($address)";
}

def SpmdRt_FailureWordOp : Op<SpmdRt_Dialect, "failure_word"> {
  let summary = "The address of the word in which kernels report a failed assertion: sk_failure_word";
  let results = (outs LLVM_AnyPointer:$address);
  let assemblyFormat = "attr-dict `:` type($address)";
}

#endif // SHARDKIT_TARGET_COMMON_RUNTIMEOPS_TD
