// A broadcast is compiled for every target as a sum of bits: values stay as they are, -0 and NaN too.
// REQUIRES: shard-compile, shard-run
// RUN: rm -rf %t && shard-compile %s -o %t --opt-level=1
// RUN: %numpy-python -c "import numpy as np; np.save('%t/a.npy', np.array([-0.0, np.nan, 2, 3], np.float32) * np.arange(6, dtype=np.float32)[:, None]); np.save('%t/b.npy', np.array([1, 0, 0, 1], bool)); np.save('%t/c.npy', np.array([b'\x00\x80', b'\xc1\x7f', b'\x80\x3f', b'\x80\xff'], 'V2'))"
// RUN: shard-run %t --input a=%t/a.npy --input b=%t/b.npy --input c=%t/c.npy --output-dir %t/out --output-format=npy | FileCheck %s
// RUN: %numpy-python -c "import numpy as np; o = [np.load('%t/out/result%%d.npy' %% i) for i in range(3)]; a, b, c = [np.load('%t/%%s.npy' %% n) for n in 'abc']; assert o[0].tobytes() == a[5].tobytes() * 6 and o[1].tobytes() == b.tobytes() and o[2].tobytes() == c.tobytes()"
// RUN: grep '"kind"' %t/manifest.json | FileCheck %s --check-prefix=KIND
// KIND-COUNT-4: all_reduce
// CHECK: main: 6 devices, 4 collectives
// RUN: shard-compile %s -o %t/cuda --target=cuda --chip=sm_90
module attributes {spmd.phase = "partitioned"} {
  spmd.mesh @m = <["x"=2, "y"=3]>
  func.func @main(%a: tensor<1x4xf32> {spmd.name = "a", spmd.global_type = tensor<6x4xf32>, spmd.sharding = #spmd.sharding<@m, [{"x", "y"}, {}]>},
                  %b: tensor<4xi1> {spmd.name = "b"}, %c: tensor<4xbf16> {spmd.name = "c"}) -> (tensor<1x4xf32> {spmd.global_type = tensor<6x4xf32>, spmd.sharding = #spmd.sharding<@m, [{"x", "y"}, {}]>}, tensor<4xi1>, tensor<4xbf16>) {
    %0 = spmd.broadcast %a <@m, {"y"}> root = 2 : tensor<1x4xf32>
    %1 = spmd.broadcast %0 <@m, {"x"}> root = 1 : tensor<1x4xf32>
    %2 = spmd.broadcast %b <@m, {"x", "y"}> root = 4 : tensor<4xi1>
    %3 = spmd.broadcast %c <@m, {"y"}> root = 0 : tensor<4xbf16>
    return %1, %2, %3 : tensor<1x4xf32>, tensor<4xi1>, tensor<4xbf16>
  }
}
