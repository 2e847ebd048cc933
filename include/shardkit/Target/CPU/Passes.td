//===- Passes.td - Passes of CPU code generation -----------*- tablegen -*-===//

#ifndef SHARDKIT_TARGET_CPU_PASSES_TD
#define SHARDKIT_TARGET_CPU_PASSES_TD

include "mlir/Pass/PassBase.td"

def SpmdCpuTileGroups : Pass<"spmd-cpu-tile-groups", "::mlir::func::FuncOp"> {
  let summary = "One loop over rows per group of linalg ops";
  let description = [{
    Walks backwards; a linalg op joins the group of its users if all of them are
    in one group and the leading parallel extents agree. Each group becomes one loop nest over all parallel dims but the innermost:
    softmax, layer norm and gelu become one loop each, with temporaries of
    one row.
  }];
  let dependentDialects = ["::mlir::linalg::LinalgDialect",
    "::mlir::tensor::TensorDialect", "::mlir::scf::SCFDialect",
    "::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect"];
}

def SpmdCpuScatters : Pass<"spmd-cpu-scatters", "::mlir::func::FuncOp"> {
  let summary = "Updates of places that data say become loops over the updates";
  let description = [{
    A generic op whose body changes an element only where an index of the result equals
    what its operands say looks at all places for each update. It becomes a loop over
    the updates, each of which changes the one place, in the same order.
  }];
  let dependentDialects = ["::mlir::linalg::LinalgDialect",
    "::mlir::tensor::TensorDialect", "::mlir::scf::SCFDialect",
    "::mlir::arith::ArithDialect"];
}

def SpmdCpuParallel : Pass<"spmd-cpu-parallel", "::mlir::ModuleOp"> {
  let summary = "Loop nests whose outer iterations are independent become functions of a range";
  let description = [{
    On buffers: a nest of loops all of whose iterations touch what is written at their own
    indices alone (views by the loops' induction variables, in the same dims everywhere), and
    linalg ops by the outer dims of their results. The function is called for the whole range;
    `spmd-cpu-parallel-calls` gives that call to the runtime, which runs parts of the range on
    several threads. The same bits either way.
  }];
  let options = [Option<"minWork", "min-work", "int64_t", "65536",
    "Nests of fewer scalar operations stay where they are">];
  let dependentDialects = ["::mlir::func::FuncDialect", "::mlir::arith::ArithDialect",
    "::mlir::scf::SCFDialect", "::mlir::memref::MemRefDialect",
    "::mlir::affine::AffineDialect", "::mlir::LLVM::LLVMDialect"];
}

def SpmdCpuParallelCalls : Pass<"spmd-cpu-parallel-calls", "::mlir::ModuleOp"> {
  let summary = "Calls of functions of a range of iterations become calls of sk_parallel";
  let description = [{
    On LLVM dialect, in functions whose first argument is the context.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
}

def SpmdCpuOutline : Pass<"spmd-cpu-outline", "::mlir::ModuleOp"> {
  let summary = "Loop nests of a long function become functions";
  let description = [{
    LLVM takes time quadratic in the number of loops of a function, and the
    layers of a model are alike: equal nests become one function. Buffers that
    share no memory are `llvm.noalias`.
  }];
  let options = [Option<"minNests", "min-nests", "int64_t", "16",
    "Functions with fewer nests stay whole">];
  let dependentDialects = ["::mlir::func::FuncDialect",
    "::mlir::LLVM::LLVMDialect"];
}

def SpmdCpuMath : Pass<"spmd-cpu-math", "::mlir::func::FuncOp"> {
  let summary = "Polynomials for f32 math functions, flags for float reductions";
  let description = [{
    exp, erf, tanh, log and their relatives on f32 become polynomials, which LLVM
    vectorises. f32 `erfc(x)` becomes `1 - erf(x)`. Every float op may be
    contracted to FMA; additions and maxima that carry a reduction may be
    reassociated. No flag ever assumes the absence of NaN or infinity.
  }];
  let dependentDialects = ["::mlir::math::MathDialect",
    "::mlir::arith::ArithDialect", "::mlir::vector::VectorDialect"];
}

#endif // SHARDKIT_TARGET_CPU_PASSES_TD
