//===- Passes.td - Code generation, all targets -----------*- tablegen -*--===//

#ifndef SHARDKIT_TARGET_COMMON_PASSES_TD
#define SHARDKIT_TARGET_COMMON_PASSES_TD

include "mlir/Pass/PassBase.td"

def SpmdTargetSplitComplex : Pass<"spmd-target-split-complex", "::mlir::func::FuncOp"> {
  let summary = "Compute with the parts of complex numbers";
  let description = [{
    A value of complex numbers becomes two, its real and its imaginary parts; a contraction of them
    becomes four of real numbers. Arguments and results become pairs, in a last dim of size 2, as they
    lie in memory. `builtin.unrealized_conversion_cast` between a complex type and that of its pairs
    is resolved; the collectives of a program take pairs.

    ```mlir
    func.func @conj(%x: tensor<8xcomplex<f32>>) -> tensor<8xcomplex<f32>>   // before
    func.func @conj(%x: tensor<8x2xf32>) -> tensor<8x2xf32>                 // behind it
    ```
  }];
  let dependentDialects = ["::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect",
    "::mlir::arith::ArithDialect", "::mlir::math::MathDialect"];
}

def SpmdTargetLegalize : Pass<"spmd-target-legalize", "::mlir::func::FuncOp"> {
  let summary = "Refuse what cannot be compiled, normalise the rest";
  let description = [{
    Stops with one error at the first op or type that code generation cannot
    take. Then: local-view collectives become `spmd_rt` ops; values without
    elements become `tensor.empty`; pad, concat and softmax are decomposed, gather
    and scatter become loops (not on the reference side: upstream does not lower them);
    loops and branches yield into the buffers of their own iteration arguments
    (`bufferization.materialize_in_destination`), so that bufferization never
    has to return an allocation from a region.
  }];
  let options = [Option<"regions", "regions", "bool", "true",
    "Make loops and branches yield in place (the reference side does not)">];
  let dependentDialects = ["::mlir::spmd::target::SpmdRtDialect",
    "::mlir::bufferization::BufferizationDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect",
    "::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect"];
}

def SpmdTargetContractions : Pass<"spmd-target-contractions", "::mlir::func::FuncOp"> {
  let summary = "Recognise contractions and give them to the runtime's library";
  let description = [{
    A linalg op that sums products of two operands becomes `spmd_rt.contract`.
    Transposes and broadcasts of its operands, and a transpose of its result,
    are folded into the indexing maps. An init that is filled with zero is not
    read. Contractions of other types than f32, f64, f16 and bf16, or with fewer
    than `min-products` products, stay loops; sums in f16 and bf16 never do, since
    loops would round each of them.
  }];
  let options = [Option<"minProducts", "min-products", "int64_t", "4096",
    "Contractions with fewer products stay loops">];
  let dependentDialects = ["::mlir::spmd::target::SpmdRtDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect",
    "::mlir::arith::ArithDialect"];
}

def SpmdTargetAttention : Pass<"spmd-target-attention", "::mlir::func::FuncOp"> {
  let summary = "Recognise attention, whose scores need not be stored";
  let description = [{
    `spmd_rt.contract` whose result reaches another one by way of a softmax over the dim
    that this one sums, and nothing else, becomes `spmd_rt.attention` with it. Before the softmax the
    scores may be scaled, multiplied by, added to or masked with anything that does not
    depend on them; reshapes, transposes and conversions may stand between. Elementwise
    code that makes masks is evaluated apart, except that causal masks are known as such.
    For f32, f16 and bf16 and heads of at most SK_MAX_ATTENTION_HEAD. The softmax is in f32.
  }];
  let dependentDialects = ["::mlir::spmd::target::SpmdRtDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect",
    "::mlir::arith::ArithDialect"];
}

def SpmdTargetEpilogues : Pass<"spmd-target-epilogues", "::mlir::func::FuncOp"> {
  let summary = "Give contractions what is done to their results, where the library can do it";
  let description = [{
    What only a `spmd_rt.contract` feeds becomes a part of it: a vector along the rows of its
    result (a bias) and a matrix like it that are added, then relu or gelu (by tanh), and the
    rounding of a sum of f32 to the type of its operands. For f32, f16 and bf16.
  }];
  let dependentDialects = ["::mlir::spmd::target::SpmdRtDialect", "::mlir::tensor::TensorDialect"];
}

def SpmdTargetSums : Pass<"spmd-target-sums", "::mlir::func::FuncOp"> {
  let summary = "Compute products onto the sums that they are added to";
  let description = [{
    `sum + spmd_rt.contract` becomes a contraction that starts from the sum, where nothing else
    needs this: a loop carries it, or it is an argument and the result that is tied to it.
  }];
  let dependentDialects = ["::mlir::spmd::target::SpmdRtDialect"];
}

def SpmdTargetAccumulate : Pass<"spmd-target-accumulate", "::mlir::func::FuncOp"> {
  let summary = "Keep sums and products of f16 and bf16 in f32";
  let description = [{
    What linalg ops add up or multiply over their reduction loops is rounded once, at
    the end, as libraries and frameworks do it: a sum of 4096 ones in bf16 is 4096, not
    256. What is added up is computed in its own type, but products are those of the
    factors in f32.
  }];
  let dependentDialects = ["::mlir::linalg::LinalgDialect",
    "::mlir::tensor::TensorDialect", "::mlir::arith::ArithDialect"];
}

def SpmdTargetFuse : Pass<"spmd-target-fuse", "::mlir::func::FuncOp"> {
  let summary = "Fuse elementwise ops into their users";
  let description = [{
    A producer is fused where it has one user or costs next to nothing
    (a broadcast, a constant, few scalar operations), so that values shared by many
    users are not kept at full size.
  }];
  let dependentDialects = ["::mlir::linalg::LinalgDialect",
    "::mlir::tensor::TensorDialect", "::mlir::arith::ArithDialect",
    "::mlir::affine::AffineDialect"];
}

def SpmdTargetBoundary : Pass<"spmd-target-boundary", "::mlir::func::FuncOp"> {
  let summary = "Arguments and results become buffers of the caller";
  let description = [{
    `(tensors) -> tensors` becomes `(ctx, argument memrefs, result memrefs) ->
    i32`. Arguments are read only; every result is materialised in its own
    memref, so results that are arguments or equal each other are copied. The
    result of a `spmd.tied` pair may share memory with its argument: it
    is written after everything else was computed.
  }];
  let dependentDialects = ["::mlir::bufferization::BufferizationDialect",
    "::mlir::LLVM::LLVMDialect", "::mlir::memref::MemRefDialect",
    "::mlir::arith::ArithDialect"];
}

def SpmdTargetBufferize : Pass<"spmd-target-bufferize", "::mlir::ModuleOp"> {
  let summary = "One-shot bufferization inside functions, after empty-tensor elimination";
  let options = [Option<"copyBeforeWrite", "copy-before-write", "bool", "false",
    "Copy before every write instead of analysing (the reference side)">];
  let dependentDialects = ["::mlir::bufferization::BufferizationDialect",
    "::mlir::memref::MemRefDialect"];
}

def SpmdTargetCalls : Pass<"spmd-target-calls", "::mlir::ModuleOp"> {
  let summary = "spmd_rt ops on memrefs become calls of the runtime";
  let description = [{
    Contractions get a constant `sk_contraction` descriptor with the strides of
    the memrefs; neighbouring loops that are one loop in all operands are joined.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect",
    "::mlir::memref::MemRefDialect", "::mlir::arith::ArithDialect",
    "::mlir::func::FuncDialect"];
}

def SpmdTargetPlanArena : Pass<"spmd-target-plan-arena", "::mlir::func::FuncOp"> {
  let summary = "All temporaries in one arena argument";
  let description = [{
    Allocations get an offset by live range (by top-level operation), first fit,
    largest first, aligned to 64 bytes. Small ones inside loops, and scalars, go on
    the stack at entry. The function gets the attribute `spmd_rt.arena_bytes`. Functions
    that are no entry points have all of theirs on the stack.
  }];
  let options = [Option<"stackBytes", "stack-bytes", "int64_t", "8192",
    "Largest temporary inside a loop that goes on the stack">];
  let dependentDialects = ["::mlir::memref::MemRefDialect",
    "::mlir::arith::ArithDialect"];
}

def SpmdTargetEntries : Pass<"spmd-target-entries", "::mlir::ModuleOp"> {
  let summary = "Entry points with the sk_program ABI";
  let description = [{
    On LLVM dialect. Each function with `spmd_rt.symbols` gets one entry point per symbol,
    which unpacks the pointers. A call of the runtime that
    returns a status other than 0 leaves the function with it.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
}

#endif // SHARDKIT_TARGET_COMMON_PASSES_TD
