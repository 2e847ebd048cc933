// A function for each bucket of sizes: its bounds are those of the bucket, and its hint the largest size.
// RUN: shard-opt %s --spmd-size-buckets=bucket=s=16 | FileCheck %s
// RUN: shard-opt %s --spmd-size-buckets | FileCheck %s --check-prefix=OWN
// RUN: not shard-opt %s --spmd-size-buckets=bucket=n=4 2>&1 | FileCheck %s --check-prefix=NAME
// NAME: error: bucket 'n=4' names a size that no argument has, expected one of "b", "s"
// RUN: not shard-opt %s --spmd-size-buckets=bucket=b=four 2>&1 | FileCheck %s --check-prefix=KIND
// KIND: error: bucket 'b=four', expected NAME=SIZE, 0 < SIZE < 2^40

// CHECK-LABEL: func.func @"f[b<=8,s<=16]"(
// CHECK-SAME: spmd.bounds = {b = [1, 8], s = [0, 16]}, spmd.bucket_of = "f", spmd.hints = {b = 8 : i64, s = 16 : i64}
// CHECK: func.func @"f[b<=32,s<=16]"(
// CHECK-SAME: spmd.bounds = {b = [9, 32], s = [0, 16]}, spmd.bucket_of = "f", spmd.hints = {b = 20 : i64, s = 16 : i64}
// CHECK: func.func @"f[b>=33,s<=16]"(
// CHECK-SAME: spmd.bounds = {b = [33, 64], s = [0, 16]}, spmd.bucket_of = "f", spmd.hints = {b = 64 : i64, s = 16 : i64}
// CHECK: func.func @"f[b<=8,s>=17]"(
// CHECK-SAME: spmd.bounds = {b = [1, 8], s = [17, 1099511627775]}, spmd.bucket_of = "f", spmd.hints = {b = 8 : i64, s = 17 : i64}
// CHECK: func.func @"f[b<=32,s>=17]"(
// CHECK: func.func @"f[b>=33,s>=17]"(
// CHECK-NOT: @f(
// OWN-LABEL: func.func @"f[b<=8]"(
// OWN: func.func @"f[b<=32]"(
// OWN: func.func @"f[b>=33]"(
// OWN-NOT: @f
func.func @f(%x: tensor<?x?xf32> {spmd.symbols = ["b", "s"]}) -> tensor<?x?xf32>
    attributes {spmd.bounds = {b = [1, 64]}, spmd.buckets = {b = [8, 32]}, spmd.hints = {b = 20}} {
  return %x : tensor<?x?xf32>
}

// One that ends at the bound, and sizes without a name. What has none of the sizes
// stays.
// CHECK: func.func @"g[x.0<=3,s<=16]"(
// OWN: func.func @"g[x.0<=3]"(
// OWN-SAME: spmd.bounds = {x.0 = [0, 3]}
// OWN: func.func @"g[x.0<=9]"(
// OWN-SAME: spmd.bounds = {x.0 = [4, 9]}
// OWN-NOT: @g
func.func @g(%x: tensor<?x4xf32> {spmd.name = "x"}, %y: tensor<?xf32> {spmd.symbols = ["s"]}) -> tensor<?x4xf32>
    attributes {spmd.bounds = {x.0 = [0, 9]}, spmd.buckets = {x.0 = [3, 9]}} {
  return %x : tensor<?x4xf32>
}

// CHECK: func.func @h(
// OWN: func.func @h(
func.func @h(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {
  return %x : tensor<?x4xf32>
}
