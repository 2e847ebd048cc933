// Specs of ONNX Runtime that are no layout, or none of the value.
// RUN: shard-opt %s --spmd-import-ort --split-input-file --verify-diagnostics

// expected-error@+1 {{illegal spec "S[0]" of argument #0: device list of mesh axis 0 is not a regular pattern, expected full repeats or blocks of the devices}}
func.func @reflected(%x: tensor<8xf32> {spmd.sharding = #spmd.ort<"S[0]", shape = [4], elements = [0, 1, 1, 0]>}) { return }

// -----

// expected-error@+1 {{illegal spec "S[0]" of argument #0: }}
func.func @uneven_ownership(%x: tensor<8xf32> {spmd.sharding = #spmd.ort<"S[0]", shape = [4], elements = [0, 1, 2, 0]>}) { return }

// -----

// expected-error@+1 {{illegal spec "S[0]R" of argument #0: sharding has 2 dimensions, expected 1}}
func.func @rank(%x: tensor<8xf32> {spmd.sharding = #spmd.ort<"S[0]R", shape = [2], elements = [0, 1]>}) { return }

// -----

// expected-error@+1 {{illegal spec "S[0]R" of argument #0: dimension 0 of size 1 is sharded as {"x"}, expected a product that divides it}}
func.func @size_one(%x: tensor<1x8xf32> {spmd.sharding = #spmd.ort<"S[0]R", shape = [2], elements = [0, 1]>}) { return }

// -----

// expected-error@+1 {{illegal spec "S[0]" of argument #0: dimension 0 of size 6 is sharded as {2, "x"}, expected a product that divides it}}
func.func @repeats(%x: tensor<6xf32> {spmd.sharding = #spmd.ort<"S[0]", shape = [4], elements = [0, 1, 0, 1]>}) { return }

// -----

// expected-error@+1 {{illegal spec "S[1]" of argument #0: spec 'S[1]' names mesh axis 1, expected each of 1 at most once}}
func.func @axis(%x: tensor<8xf32> {spmd.sharding = #spmd.ort<"S[1]", shape = [2], elements = [0, 1]>}) { return }

// -----

// expected-error@+1 {{illegal spec "X" of argument #0: malformed spec 'X', expected R or S[axis] per dimension}}
func.func @syntax(%x: tensor<8xf32> {spmd.sharding = #spmd.ort<"X", shape = [2], elements = [0, 1]>}) { return }

// -----

// A target that is not a regrouping of the sharding, if no data may move.
func.func @constraint(%x: tensor<4x6xf32> {spmd.sharding = #spmd.ort<"RS[0]", shape = [2], elements = [0, 1]>}) {
  // expected-error@+1 {{illegal spec "S[0]S[0]" of the constrained value: spec 'S[0]S[0]' names mesh axis 0, expected each of 1 at most once}}
  %c = spmd.with_sharding_constraint %x ort <"S[0]S[0]", shape = [2], elements = [0, 1]> : tensor<4x6xf32>
  return
}
