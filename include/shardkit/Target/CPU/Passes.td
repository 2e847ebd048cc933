//===- Passes.td - Passes of CPU code generation -----------*- tablegen -*-===//

#ifndef SHARDKIT_TARGET_CPU_PASSES_TD
#define SHARDKIT_TARGET_CPU_PASSES_TD

include "mlir/Pass/PassBase.td"

def SpmdCpuTileGroups : Pass<"spmd-cpu-tile-groups", "::mlir::func::FuncOp"> {
  let summary = "Tile each group of linalg ops that share rows into one loop nest";
  let description = [{
    Visits ops backwards. A linalg op joins the group of its users if all of them are in
    one group and iterate over the same rows (lib/Target/Common/RowGroups.h). Each group
    becomes one loop nest over all parallel dims except the innermost: softmax, layer norm
    and gelu become one loop nest each, with temporaries of one row.
  }];
  let dependentDialects = ["::mlir::linalg::LinalgDialect",
    "::mlir::tensor::TensorDialect", "::mlir::scf::SCFDialect",
    "::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect"];
}

def SpmdCpuWidenedOperands : Pass<"spmd-cpu-widened-operands", "::mlir::func::FuncOp"> {
  let summary = "Widen stored weights of few bits where a product reads them";
  let description = [{
    An operand of a contraction that elementwise ops compute from tensors of at most half
    its bytes (a quantized weight), or that has 16 bits itself. With at most 4 rows of the
    other operand the contraction becomes a call of the runtime, if that decodes such numbers
    (`spmd_rt.contract_widened`), or a linalg op that widens elements in registers and sums
    in f32, over loops in the order of the operand in memory. With more rows a
    quantized weight is widened in tiles of 2^18 elements, each of which the library
    multiplies. In both cases no full weight is widened in memory.
  }];
  let dependentDialects = ["::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect",
    "::mlir::scf::SCFDialect", "::mlir::arith::ArithDialect"];
}

def SpmdCpuScatters : Pass<"spmd-cpu-scatters", "::mlir::func::FuncOp"> {
  let summary = "Lower scatters to loops over the updates";
  let description = [{
    A generic op whose body changes an element only if the indices of the result equal
    operands visits all elements for each update. It becomes a loop over the updates, each
    of which changes one element, in the same order.
  }];
  let dependentDialects = ["::mlir::linalg::LinalgDialect",
    "::mlir::tensor::TensorDialect", "::mlir::scf::SCFDialect",
    "::mlir::arith::ArithDialect"];
}

def SpmdCpuParallel : Pass<"spmd-cpu-parallel", "::mlir::ModuleOp"> {
  let summary = "Outline loop nests with independent outer iterations as functions of a range";
  let description = [{
    On buffers. Outlines a loop nest if each iteration accesses written buffers only at its
    induction variables, in the same dims everywhere, and linalg ops by the outer dims of
    their results. The function is called for the full range; `spmd-cpu-parallel-calls`
    turns that call into one of the runtime, which runs subranges on several threads. The
    results are bitwise equal.
  }];
  let options = [Option<"minWork", "min-work", "int64_t", "65536",
    "Nests with fewer scalar operations are not outlined">];
  let dependentDialects = ["::mlir::func::FuncDialect", "::mlir::arith::ArithDialect",
    "::mlir::scf::SCFDialect", "::mlir::memref::MemRefDialect",
    "::mlir::affine::AffineDialect", "::mlir::LLVM::LLVMDialect"];
}

def SpmdCpuParallelCalls : Pass<"spmd-cpu-parallel-calls", "::mlir::ModuleOp"> {
  let summary = "Turn calls of functions of a range into calls of sk_parallel";
  let description = [{
    On LLVM dialect, in functions whose first argument is the context.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
}

def SpmdCpuOutline : Pass<"spmd-cpu-outline", "::mlir::ModuleOp"> {
  let summary = "Outline loop nests of long functions";
  let description = [{
    LLVM takes time quadratic in the number of loops of a function, and the layers of a
    model have equal nests: these become one function. Buffers that do not overlap are
    `llvm.noalias`.
  }];
  let options = [Option<"minNests", "min-nests", "int64_t", "16",
    "Functions with fewer nests are not split">];
  let dependentDialects = ["::mlir::func::FuncDialect",
    "::mlir::LLVM::LLVMDialect"];
}

def SpmdCpuMath : Pass<"spmd-cpu-math", "::mlir::func::FuncOp"> {
  let summary = "Approximate f32 math functions by polynomials, and set flags of float reductions";
  let description = [{
    exp, erf, tanh, log and their relatives on f32 become polynomials, which LLVM
    vectorizes. f32 `erfc(x)` becomes `1 - erf(x)`. Every float op may be
    contracted to FMA; additions and maxima of a reduction may be
    reassociated. No flag ever assumes the absence of NaN or infinity.
  }];
  let dependentDialects = ["::mlir::math::MathDialect",
    "::mlir::arith::ArithDialect", "::mlir::vector::VectorDialect"];
}

#endif // SHARDKIT_TARGET_CPU_PASSES_TD
