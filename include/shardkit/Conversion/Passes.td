//===- Passes.td - The local program in other dialects --------------------===//

#ifndef SHARDKIT_CONVERSION_PASSES
#define SHARDKIT_CONVERSION_PASSES

include "shardkit/Options.td"

def ConvertSPMDToCallsPass : SPMDPass<"convert-spmd-to-calls"> {
  let summary = "Turn collectives into calls of functions that an embedder defines";
  let description = [{
    Of a partitioned program. A collective becomes a call of the function of its kind, such
    as `@shardkit_all_gather`, with a constant descriptor, its offsets at run time, and the
    addresses of its local operand and result. `shardkit-c/Collectives.h` declares the
    functions and documents the descriptor, which has the move in closed form.
    `spmd.device_coordinate` becomes arithmetic on the result of `@shardkit_rank`.

    The operand and the result are buffers that one-shot bufferization connects with the
    program around them: run it next, with identity layouts at functions. Collectives that
    are started run at once. Values of unknown size, sums of 8-bit floats, and programs of several
    stages are errors; sums of complex numbers are those of their components. `--spmd-strip` then removes meshes
    and attributes, so that any compiler parses the program.

    With `tensors`, calls are of functions on tensors, for compilers that import functions of
    a module: `@shardkit.all_gather(descriptor, operand) -> result`, with the offsets in
    between where there are some. A function has one signature: others of its kind have a
    number, `@shardkit.all_gather_0`. The descriptor names the kind. `@shardkit.rank` has no
    operand, and gives an i64. A pass on modules: it declares functions and constants.
  }];
  let options = [
    Option<"tensors", "tensors", "::mlir::spmd::Flag", /*default=*/"false", "Pass tensors instead of addresses">
  ];
  let dependentDialects = [
    "::mlir::LLVM::LLVMDialect", "::mlir::arith::ArithDialect",
    "::mlir::bufferization::BufferizationDialect", "::mlir::func::FuncDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::memref::MemRefDialect",
    "::mlir::scf::SCFDialect", "::mlir::spmd::SPMDDialect", "::mlir::tensor::TensorDialect"];
}

def ConvertSPMDToMPIPass : SPMDPass<"convert-spmd-to-mpi"> {
  let summary = "Turn collectives into ops of upstream's dialect mpi";
  let description = [{
    Of a partitioned program. Rank r of the mesh is process r of the world communicator, which
    has as many processes as the mesh has devices. Upstream's passes then lower the program to
    LLVM IR, and it runs under mpirun without anything of ShardKit:

    * A sum, a product or a combination of bits of a full value is `mpi.allreduce` on the
      communicator of its group. A group has one communicator, which is split off when a
      function first needs it and kept in a global. So are the maximum and minimum of signed
      integers. Not so sums of integers of 8 and 16 bits: Open MPI 4.1 saturates these where
      the processor has AVX.
    * Other collectives are messages: `mpi.send` and `mpi.recv` of packed blocks, one for each
      pair of devices that exchange elements, in an order in which blocking messages of any
      size end. The dialect has no other collectives, and upstream lowers no messages that do
      not block. Reductions combine in rising order of ranks.
    * Uneven shards, strides that do not divide each other, and windows: each device sends its
      operand to its group, and computes from these what it reads.

    Elements are sent as integers of their bits where MPI has no type for them (16-bit and 8-bit
    floats, booleans), and complex numbers as their components. Values of unknown size are errors.
    `--repair-mpi-lowering` runs after upstream's lowering with Open MPI. A pass on modules: it
    adds globals.
  }];
  let options = [
    Option<"implementation", "implementation", "::mlir::spmd::MPIImplementation",
           "::mlir::spmd::MPIImplementation::OpenMPI", "Whose ABI upstream's lowering targets",
           [{::llvm::cl::values(
             clEnumValN(::mlir::spmd::MPIImplementation::OpenMPI, "openmpi", "Open MPI"),
             clEnumValN(::mlir::spmd::MPIImplementation::MPICH, "mpich", "MPICH and its descendants"))}]>
  ];
  let dependentDialects = [
    "::mlir::DLTIDialect", "::mlir::arith::ArithDialect",
    "::mlir::bufferization::BufferizationDialect", "::mlir::func::FuncDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::memref::MemRefDialect", "::mlir::mpi::MPIDialect",
    "::mlir::scf::SCFDialect", "::mlir::spmd::SPMDDialect", "::mlir::tensor::TensorDialect"];
}

def ConvertSPMDToShardPass : SPMDPass<"convert-spmd-to-shard"> {
  let summary = "Turn collectives into local-view ops of upstream's dialect shard";
  let description = [{
    Of a partitioned program. Its devices become a grid, whose axes are those of the meshes,
    split at the boundaries of sub-axes that collectives name. Process i of the grid is rank i.
    Where a collective is one op of the dialect on blocks, it is that op, with reshapes and
    transposes around it: `all_gather`, `all_slice`, `all_to_all`, `all_reduce`,
    `reduce_scatter` and `broadcast`. A permutation of the devices is a `shift` that rotates one
    axis, or a `send` and the `recv` of its result. Windows of even shards are `update_halo`, or
    `shift` of more than a neighbor. Others gather the operands of their group, and each device
    computes from them what it reads: uneven shards, strides that do not divide each other,
    unsigned maxima, booleans. `spmd.device_coordinate` becomes arithmetic on
    `shard.process_linear_index`. `--spmd-import-shard` reads the result again. A pass on
    modules: meshes change too.
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect", "::mlir::scf::SCFDialect",
    "::mlir::shard::ShardDialect", "::mlir::spmd::SPMDDialect", "::mlir::tensor::TensorDialect"];
}

def ConvertStableHLOControlFlowToSCFPass : SPMDPass<"convert-stablehlo-control-flow-to-scf"> {
  let summary = "Turn loops and branches of StableHLO in generic form into scf";
  let description = [{
    ShardKit propagates through ops of scf; other ops of StableHLO stay. After
    --spmd-import-sdy, if the program has annotations of Shardy. The default pipeline begins
    with this pass, and --convert-spmd-to-stablehlo turns loops and branches back.

    * `stablehlo.while` that counts from a constant in constant steps, to a constant or to a
      value computed before it, becomes `scf.for`, any other `scf.while`. Values that a loop
      yields unchanged are captured.
    * `stablehlo.if` becomes `scf.if`, `stablehlo.case` becomes `scf.index_switch`, whose
      default is the last branch.
    * `stablehlo.composite` becomes a call of its decomposition.
    * `stablehlo.optimization_barrier` of several values becomes one for each, so that each
      has a layout of its own.

    A pass on modules: it reads the types of the functions that it calls.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect",
                           "::mlir::tensor::TensorDialect"];
}

def ConvertSPMDToStableHLOPass : SPMDPass<"convert-spmd-to-stablehlo"> {
  let summary = "Turn a local program of StableHLO ops into StableHLO alone";
  let description = [{
    Of a partitioned program whose ops are StableHLO in generic form. Collectives become
    `stablehlo.all_gather`, `all_reduce`, `reduce_scatter`, `all_to_all` and
    `collective_permute`, with reshapes and transposes around them; what a device takes of its
    own operand is a `dynamic_slice` at its `partition_id`. Replica groups number the
    partitions of one replica as the mesh lists its devices, each collective has a channel of
    its own, and `use_global_device_ids` is set. Loops and branches of scf, and the arithmetic
    on coordinates that partitioning adds, become StableHLO too.

    Elements of a window that neighbors have come by `collective_permute`; where windows do not
    begin a shard apart, each is taken of the gathered dim. So are shards that an `exchange`
    moves between axes whose sizes do not divide each other. Uneven shards, windows at an
    offset of the run, meshes that list the devices in other orders and combinations that
    StableHLO has no op for are errors at the op. A pass on modules: channels are numbered
    across functions.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect", "::mlir::scf::SCFDialect",
                           "::mlir::spmd::SPMDDialect", "::mlir::tensor::TensorDialect"];
}

def ConvertSPMDToStableHLOCallsPass : SPMDPass<"convert-spmd-to-stablehlo-calls"> {
  let summary = "Turn collectives into ops of StableHLO, and leave all else";
  let description = [{
    Of a partitioned program of linalg and the like. Collectives become ops of StableHLO in
    generic form, as by --convert-spmd-to-stablehlo; compute stays what it is. Uneven shards,
    windows and what StableHLO has no op for gather the operands of their group, and each
    device computes from them what it reads. Where no dialect stablehlo is registered, the
    context must allow unregistered dialects. A pass on modules: channels are numbered across
    functions.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect", "::mlir::scf::SCFDialect",
                           "::mlir::spmd::SPMDDialect", "::mlir::tensor::TensorDialect"];
}

def RepairMPILoweringPass : SPMDPass<"repair-mpi-lowering"> {
  let summary = "Mend what LLVM 22 lowers dialect mpi to, for Open MPI";
  let description = [{
    On LLVM dialect, after --convert-to-llvm:

    * reductions are `ompi_mpi_op_sum` and so on; upstream names `ompi_mpi_sum`, which does
      not exist
    * the communicator that `MPI_Comm_split` stores is an address of 64 bits, of which upstream
      loads 32

    It changes nothing else, and nothing for MPICH. A pass on modules: it renames globals.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
}

#endif // SHARDKIT_CONVERSION_PASSES
