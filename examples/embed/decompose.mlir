// Decomposes the ops of linalg that upstream has no pass for: what mlir-opt runs by
// --pass-pipeline='builtin.module(transform-preload-library{transform-library-paths=decompose.mlir},transform-interpreter)'
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%module: !transform.any_op {transform.readonly}) {
    %softmaxes = transform.structured.match ops{["linalg.softmax"]} in %module : (!transform.any_op) -> !transform.any_op
    transform.foreach %softmaxes : !transform.any_op {
    ^bb0(%op: !transform.any_op):
      %ops = transform.structured.decompose_interface %op : (!transform.any_op) -> !transform.any_op
    }
    %packs = transform.structured.match ops{["linalg.pack"]} in %module : (!transform.any_op) -> !transform.op<"linalg.pack">
    transform.foreach %packs : !transform.op<"linalg.pack"> {
    ^bb0(%op: !transform.op<"linalg.pack">):
      %ops:3 = transform.structured.lower_pack %op {lowerPadLikeWithInsertSlice = false}
        : (!transform.op<"linalg.pack">) -> (!transform.op<"tensor.pad">, !transform.op<"tensor.expand_shape">, !transform.op<"linalg.transpose">)
    }
    %unpacks = transform.structured.match ops{["linalg.unpack"]} in %module : (!transform.any_op) -> !transform.op<"linalg.unpack">
    transform.foreach %unpacks : !transform.op<"linalg.unpack"> {
    ^bb0(%op: !transform.op<"linalg.unpack">):
      %ops:4 = transform.structured.lower_unpack %op {lowerUnpadLikeWithExtractSlice = false}
        : (!transform.op<"linalg.unpack">) -> (!transform.op<"tensor.empty">, !transform.op<"linalg.transpose">, !transform.op<"tensor.collapse_shape">, !transform.op<"tensor.extract_slice">)
    }
    transform.yield
  }
}
