// Buckets of sizes: what they may be.
// RUN: shard-opt %s --split-input-file --verify-diagnostics --spmd-size-buckets

// expected-error @below {{expected a dictionary of names with lists of rising sizes, 0 < size < 2^40}}
func.func @falling(%x: tensor<?xf32> {spmd.symbols = ["b"]}) attributes {spmd.buckets = {b = [8, 8]}} {
  return
}

// -----

// expected-error @below {{spmd.buckets names a size 'c' that no argument has, expected one of "b"}}
func.func @unknown(%x: tensor<?xf32> {spmd.symbols = ["b"]}) attributes {spmd.buckets = {c = [8]}} {
  return
}

// -----

// expected-error @below {{size 'b' has a bucket up to 80, expected one within its bounds [1, 64]}}
func.func @outside(%x: tensor<?xf32> {spmd.symbols = ["b"]}) attributes {spmd.bounds = {b = [1, 64]}, spmd.buckets = {b = [8, 80]}} {
  return
}

// -----

// expected-error @below {{function 'used' has buckets and is used by another function, expected one that only the run calls}}
func.func @used(%x: tensor<?xf32> {spmd.symbols = ["b"]}) attributes {spmd.buckets = {b = [8]}} {
  return
}
func.func @user(%x: tensor<?xf32> {spmd.symbols = ["b"]}) {
  call @used(%x) : (tensor<?xf32>) -> ()
  return
}

// -----

// expected-error @below {{function 'many' has 100 combinations of buckets, expected at most 64}}
func.func @many(%x: tensor<?x?xf32> {spmd.symbols = ["b", "s"]})
    attributes {spmd.buckets = {b = [1, 2, 3, 4, 5, 6, 7, 8, 9], s = [1, 2, 3, 4, 5, 6, 7, 8, 9]}} {
  return
}
