//===- Passes.td - Code generation, all targets -----------*- tablegen -*--===//

#ifndef SHARDKIT_TARGET_COMMON_PASSES_TD
#define SHARDKIT_TARGET_COMMON_PASSES_TD

include "mlir/Pass/PassBase.td"

def SpmdTargetSplitComplex : Pass<"spmd-target-split-complex", "::mlir::func::FuncOp"> {
  let summary = "Split complex numbers into real and imaginary components";
  let description = [{
    A complex value becomes two real ones, and a contraction of complex values becomes four
    contractions. Arguments and results become pairs, with a last dim of size 2, as they are
    in memory. Resolves `builtin.unrealized_conversion_cast` between a complex type and that
    of its pairs; the collectives of a program take pairs.

    ```mlir
    func.func @conj(%x: tensor<8xcomplex<f32>>) -> tensor<8xcomplex<f32>>   // before
    func.func @conj(%x: tensor<8x2xf32>) -> tensor<8x2xf32>                 // after
    ```
  }];
  let dependentDialects = ["::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect",
    "::mlir::arith::ArithDialect", "::mlir::math::MathDialect"];
}

def SpmdTargetOutlineLayers : Pass<"spmd-target-outline-layers", "::mlir::ModuleOp"> {
  let summary = "Make one function of equal layers";
  let description = [{
    Consecutive groups of ops that are equal up to the values that they use and the numbers of
    their collectives, such as the layers of a model, become calls (`spmd_rt.call`) of one
    function, so that the time of code generation does not depend on their number. Groups
    begin where the fewest bytes go from one to the next. A layer computes constants, empty
    and filled tensors, and scalars for itself. Values of unknown size, and started
    collectives that end in another layer, are not passed to a layer: such layers remain as
    they are.
  }];
  let options = [Option<"minOps", "min-ops", "int64_t", "48",
    "Layers that save fewer ops than this are not outlined">];
  let dependentDialects = ["::mlir::spmd::target::SpmdRtDialect",
    "::mlir::tensor::TensorDialect", "::mlir::func::FuncDialect", "::mlir::LLVM::LLVMDialect"];
}

def SpmdTargetLegalize : Pass<"spmd-target-legalize", "::mlir::func::FuncOp"> {
  let summary = "Reject unsupported ops, and normalize the others";
  let description = [{
    1. Stops with one error at the first op or type that code generation does not support.
    2. Local-view collectives become `spmd_rt` ops, and values without elements become
       `tensor.empty`.
    3. Pad, concat and softmax are decomposed, and sorts expanded. Gather and scatter become
       loops, except in the reference, as upstream does not lower them.
    4. Loops and branches yield into the buffers of their iteration arguments
       (`bufferization.materialize_in_destination`), so that bufferization never returns an
       allocation from a region.
  }];
  let options = [Option<"regions", "regions", "bool", "true",
    "Make loops and branches yield in place (not in the reference)">];
  let dependentDialects = ["::mlir::spmd::target::SpmdRtDialect",
    "::mlir::bufferization::BufferizationDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect",
    "::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect"];
}

def SpmdTargetGroupLoops : Pass<"spmd-target-group-loops", "::mlir::func::FuncOp"> {
  let summary = "Compute for each group only the rows that a mask gives it";
  let description = [{
    Experts and tokens: ops over groups and rows, with a matrix for each group, whose
    results a mask of groups and rows makes zero, until a sum over groups, or over the rows
    of each. They become a loop over the groups, on the rows of the group alone. So a token
    costs the products of the experts that it has chosen, and not of all.

    ```mlir
    %h = linalg.batch_matmul ins(%x, %w)                   // experts x tokens x features
    %m = select(%mask, %h, 0)                              // experts x tokens
    %y = linalg.reduce { arith.addf } ins(%m) dimensions = [0]
    // becomes
    scf.for %expert = ... iter_args(%sum = ...) {
      %rows, %count = ...                                  // where %mask is true
      %h = linalg.generic ins(%x at %rows, %w at %expert)  // 1 x %count x features
      %sum at %rows = %sum + %h
    }
    ```

    A product with an element that the mask makes zero counts as zero, whatever its other
    factor.

    A collective before the loop moves the rows that a group needs alone, one after it those
    that a group has.
  }];
  let options = [Option<"minProducts", "min-products", "int64_t", "64",
    "Elements that the matrix of a group must have">,
    Option<"forDevices", "for-devices", "bool", "false",
    "Whether all rows of a group are written at once, as a scatter; else one after the other">];
  let dependentDialects = ["::mlir::spmd::target::SpmdRtDialect", "::mlir::linalg::LinalgDialect",
    "::mlir::affine::AffineDialect", "::mlir::tensor::TensorDialect", "::mlir::scf::SCFDialect",
    "::mlir::arith::ArithDialect"];
}

def SpmdTargetContractions : Pass<"spmd-target-contractions", "::mlir::func::FuncOp"> {
  let summary = "Replace contractions by calls of a library";
  let description = [{
    A linalg op that sums products of two operands becomes `spmd_rt.contract`.
    Transposes and broadcasts of its operands, and a transpose of its result,
    are folded into the indexing maps. An init that is filled with zero is not
    read. Contractions of other types than f32, f64, f16 and bf16, or with fewer
    than `min-products` products, become loops. Contractions that accumulate in f16 or
    bf16 never do, as loops would round each sum.
  }];
  let options = [Option<"minProducts", "min-products", "int64_t", "4096",
    "Contractions with fewer products become loops">];
  let dependentDialects = ["::mlir::spmd::target::SpmdRtDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect",
    "::mlir::arith::ArithDialect"];
}

def SpmdTargetAttention : Pass<"spmd-target-attention", "::mlir::func::FuncOp"> {
  let summary = "Replace attention by a call that does not store the scores";
  let description = [{
    Two `spmd_rt.contract` with a softmax between them, over the dim that the second one
    sums, become `spmd_rt.attention` if the scores have no other user. Before the softmax,
    the scores may be scaled, multiplied by, added to or masked with values that do not
    depend on them; reshapes, transposes and conversions may be in between. Elementwise ops
    that compute masks are evaluated separately, except causal masks, which become a step of
    the op. For f32, f16 and bf16 and heads of at most SK_MAX_ATTENTION_HEAD. The softmax is
    in f32.
  }];
  let dependentDialects = ["::mlir::spmd::target::SpmdRtDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect",
    "::mlir::arith::ArithDialect"];
}

def SpmdTargetEpilogues : Pass<"spmd-target-epilogues", "::mlir::func::FuncOp"> {
  let summary = "Fuse epilogues that the library supports into contractions";
  let description = [{
    Fuses into a `spmd_rt.contract` its only user: the addition of a vector along the rows of
    its result (a bias) and of a matrix, then relu or gelu (by tanh), and the rounding of an
    f32 sum to the type of the operands. For f32, f16 and bf16.
  }];
  let dependentDialects = ["::mlir::spmd::target::SpmdRtDialect", "::mlir::tensor::TensorDialect"];
}

def SpmdTargetAccumulateContractions : Pass<"spmd-target-accumulate-contractions", "::mlir::func::FuncOp"> {
  let summary = "Accumulate contractions into the tensors that they are added to";
  let description = [{
    `sum + spmd_rt.contract` becomes a contraction with `sum` as its init, if `sum` has no
    other user: it is an iteration argument of a loop, or an argument with a tied result.
  }];
  let dependentDialects = ["::mlir::spmd::target::SpmdRtDialect"];
}

def SpmdTargetContiguousReshapes : Pass<"spmd-target-contiguous-reshapes", "::mlir::func::FuncOp"> {
  let summary = "Make casts of reshapes of contiguous buffers";
  let description = [{
    A `memref.expand_shape` or `memref.collapse_shape` between contiguous buffers, or an expansion of a strided one of unknown size,
    becomes a `memref.reinterpret_cast`: accesses then have the indices of the loops.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::memref::MemRefDialect"];
}

def SpmdTargetAccumulate : Pass<"spmd-target-accumulate", "::mlir::func::FuncOp"> {
  let summary = "Accumulate f16 and bf16 reductions in f32";
  let description = [{
    Sums and products over the reduction loops of linalg ops are rounded once, at the end,
    as in libraries and frameworks: a sum of 4096 ones in bf16 is 4096, not 256. The terms
    are computed in their type, except products, whose factors are extended to f32.
  }];
  let dependentDialects = ["::mlir::linalg::LinalgDialect",
    "::mlir::tensor::TensorDialect", "::mlir::arith::ArithDialect"];
}

def SpmdTargetFuse : Pass<"spmd-target-fuse", "::mlir::func::FuncOp"> {
  let summary = "Fuse elementwise ops into their users";
  let description = [{
    Fuses a producer that has one user, or that is cheap (a broadcast, a constant, few
    scalar operations), so that values with many users are not stored.
  }];
  let dependentDialects = ["::mlir::linalg::LinalgDialect",
    "::mlir::tensor::TensorDialect", "::mlir::arith::ArithDialect",
    "::mlir::affine::AffineDialect"];
}

def SpmdTargetDestinationPassing : Pass<"spmd-target-destination-passing", "::mlir::func::FuncOp"> {
  let summary = "Pass arguments and results as buffers of the caller";
  let description = [{
    `(tensors) -> tensors` becomes `(ctx, argument memrefs, result memrefs) ->
    i32`. Arguments are read-only. Every result is written into one memref, so that
    results that are arguments, or equal each other, are copied. The result of a
    `spmd.tied` pair may share memory with its argument: it is written after all other
    computation.
  }];
  let dependentDialects = ["::mlir::bufferization::BufferizationDialect",
    "::mlir::LLVM::LLVMDialect", "::mlir::memref::MemRefDialect",
    "::mlir::arith::ArithDialect"];
}

def SpmdTargetBufferize : Pass<"spmd-target-bufferize", "::mlir::ModuleOp"> {
  let summary = "One-shot bufferization inside functions, after empty-tensor elimination";
  let options = [Option<"copyBeforeWrite", "copy-before-write", "bool", "false",
    "Copy before every write instead of analyzing (for the reference)">];
  let dependentDialects = ["::mlir::bufferization::BufferizationDialect",
    "::mlir::memref::MemRefDialect"];
}

def SpmdTargetLowerToCalls : Pass<"spmd-target-lower-to-calls", "::mlir::ModuleOp"> {
  let summary = "Lower spmd_rt ops on memrefs to calls of the runtime";
  let description = [{
    Contractions get a constant `sk_contraction_desc` with the strides of
    the memrefs; adjacent loops that are contiguous in all operands are merged.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect",
    "::mlir::memref::MemRefDialect", "::mlir::arith::ArithDialect",
    "::mlir::func::FuncDialect"];
}

def SpmdTargetPlanArena : Pass<"spmd-target-plan-arena", "::mlir::ModuleOp"> {
  let summary = "Allocate all temporaries in one arena argument";
  let description = [{
    Assigns offsets to allocations by live range (by top-level operation), first fit,
    largest first, aligned to 64 bytes. Small allocations inside loops, and scalars, are on
    the stack of the function. `spmd_rt.arena_bytes` of the function is the size of the
    arena. The arenas of layers are temporaries of the functions that call them. All other
    functions have their allocations on the stack.
  }];
  let options = [Option<"stackBytes", "stack-bytes", "int64_t", "8192",
    "Largest temporary inside a loop that is on the stack">];
  let dependentDialects = ["::mlir::memref::MemRefDialect",
    "::mlir::arith::ArithDialect"];
}

def SpmdTargetEntryPoints : Pass<"spmd-target-entry-points", "::mlir::ModuleOp"> {
  let summary = "Make entry points with the sk_program ABI";
  let description = [{
    On LLVM dialect. Each function with `spmd_rt.symbols` gets one entry point per symbol,
    which unpacks the pointers. If a call of the runtime returns a status other than 0, the
    function returns it.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
}

#endif // SHARDKIT_TARGET_COMMON_PASSES_TD
