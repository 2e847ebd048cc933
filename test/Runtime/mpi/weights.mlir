// Every mode of the loader under MPI gives the bits of the local backend; the processes of a node read each byte
// at most once together, also across nodes that share no memory; presharded sets need no messages.
// REQUIRES: shard-compile, shard-run, shard-weights
// RUN: rm -rf %t && mkdir -p %t/set && shard-compile %s -o %t/b --opt-level=1 --with-reference
// RUN: %python %S/../Inputs/tensors.py %t/set/w.safetensors rows=F32:1024x512 columns=F32:512x1024 both=F32:96 q=F32:8x64 k=F32:12x64 u=U32:16x24 v=F32:24x16 odd=F32:7x30
// RUN: shard-run %t/b --weights %t/set --digests=%t/local --verify=exact --report=%t/local.json | FileCheck %s
// CHECK: verify: 1 function, 7 results, all equal bit by bit
// RUN: %mpirun -n 4 shard-run %t/b --weights %t/set --backend=mpi --digests=%t/direct --verify=exact --report=%t/direct.json | FileCheck %s
// RUN: %mpirun -n 2 shard-run %t/b --weights %t/set --backend=mpi --devices-per-process=2 --readers=6 --digests=%t/two --report=%t/two.json
// RUN: %mpirun -n 8 shard-run %t/b --weights %t/set --backend=mpi --readers=6 --digests=%t/eight --report=%t/eight.json
// RUN: %mpirun -n 4 -x SK_PROCESSES_PER_NODE=1 shard-run %t/b --weights %t/set --backend=mpi --digests=%t/nodes --verify=exact | FileCheck %s
// RUN: %mpirun -n 4 shard-run %t/b --weights %t/set --backend=mpi --load=root-scatter --digests=%t/root --report=%t/root.json
// RUN: %mpirun -n 4 -x SK_PROCESSES_PER_NODE=2 shard-run %t/b --weights %t/set --backend=mpi --load=root-scatter --verify=exact --digests=%t/rootnodes | FileCheck %s
// RUN: cmp %t/local %t/direct && cmp %t/local %t/two && cmp %t/local %t/eight && cmp %t/local %t/nodes && cmp %t/local %t/root && cmp %t/local %t/rootnodes

// What is read, in all and for each rank, is what one process reads for all ranks; and no reader holds more than its
// staging: 64 MiB on the node.
// RUN: %python %S/Inputs/loads.py %t/local.json %t/direct.json %t/two.json %t/eight.json

// RUN: shard-weights preshard %t/set --manifest %t/b -o %t/cut
// RUN: %mpirun -n 4 shard-run %t/b --weights %t/cut --backend=mpi --load=presharded --digests=%t/pre --report=%t/pre.json && cmp %t/local %t/pre
// RUN: %mpirun -n 4 -x SK_PROCESSES_PER_NODE=1 shard-run %t/b --weights %t/cut --backend=mpi --load=presharded --verify=exact --digests=%t/prenodes | FileCheck %s
// RUN: cmp %t/local %t/prenodes
// RUN: FileCheck %s --check-prefix=PRE < %t/pre.json
// PRE: "mode": "presharded"
// PRE: "scatters": 0,
// PRE-NEXT: "broadcasts": 0,
// PRE-NEXT: "exchanges": 0,
// PRE-NEXT: "messages": 0

// Cut for 4, loaded on 3 by as many processes and by 2.
// RUN: sed -n 's/^\/\/PLAIN //p' %s > %t/plain.mlir && shard-compile %t/plain.mlir -o %t/plain --opt-level=1
// RUN: shard-run %t/plain --weights %t/set --digests=%t/local3
// RUN: %mpirun -n 3 shard-run %t/plain --weights %t/cut --backend=mpi --digests=%t/from4 && cmp %t/local3 %t/from4
// RUN: %mpirun -n 2 shard-run %t/plain --weights %t/cut --backend=mpi --devices-per-process=2 --digests=%t/on2 && cmp %t/local3 %t/on2
//PLAIN spmd.mesh @m = <["x"=3]>
//PLAIN func.func @main(%rows: tensor<1024x512xf32> {spmd.weight = "rows", spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>}, %odd: tensor<7x30xf32> {spmd.weight = "odd", spmd.sharding = #spmd.sharding<@m, [{}, {"x"}]>})
//PLAIN     -> (tensor<1024x512xf32>, tensor<7x30xf32>) { return %rows, %odd : tensor<1024x512xf32>, tensor<7x30xf32> }

// A host function that one process lacks ends all.
// RUN: %mpirun -n 2 shard-run %t/plain --weights %t/set --backend=mpi --shard-functions=%shardkit_build/lib/shardkit_test_shard_functions.so : -n 1 shard-run %t/plain --weights %t/set --backend=mpi --shard-functions=%t/none.so 2>&1 | FileCheck %s --check-prefix=FUNCTION
// FUNCTION-COUNT-3: error: process 2: {{.*}}none.so

spmd.mesh @m = <["x"=4]>
// Moves data alone: pieces. The second one is compiled: each rank computes what it needs.
func.func private @combine(%q: tensor<8x64xf32>, %k: tensor<12x64xf32>) -> tensor<20x64xf32> {
  %0 = tensor.concat dim(0) %q, %k : (tensor<8x64xf32>, tensor<12x64xf32>) -> tensor<20x64xf32>
  return %0 : tensor<20x64xf32>
}
func.func private @twice(%v: tensor<24x16xf32>) -> tensor<24x16xf32> {
  %0 = arith.addf %v, %v : tensor<24x16xf32>
  return %0 : tensor<24x16xf32>
}
func.func @main(%rows: tensor<1024x512xf32> {spmd.weight = "rows", spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>},
                %columns: tensor<512x1024xf32> {spmd.weight = "columns", spmd.sharding = #spmd.sharding<@m, [{}, {"x"}]>},
                %both: tensor<96xf32> {spmd.weight = "both", spmd.sharding = #spmd.sharding<@m, [{}]>},
                %qk: tensor<20x64xf32> {spmd.weight = ["q", "k"], spmd.load = @combine, spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>},
                %u: tensor<16x24xi32> {spmd.weight = "u", spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>},
                %v: tensor<24x16xf32> {spmd.weight = "v", spmd.load = @twice, spmd.sharding = #spmd.sharding<@m, [{}, {"x"}]>},
                %odd: tensor<7x30xf32> {spmd.weight = "odd", spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>})
    -> (tensor<1024x512xf32>, tensor<512x1024xf32>, tensor<96xf32>, tensor<20x64xf32>, tensor<16x24xi32>, tensor<24x16xf32>, tensor<7x30xf32>) {
  return %rows, %columns, %both, %qk, %u, %v, %odd : tensor<1024x512xf32>, tensor<512x1024xf32>, tensor<96xf32>, tensor<20x64xf32>, tensor<16x24xi32>, tensor<24x16xf32>, tensor<7x30xf32>
}
