// RUN: shard-opt %s --spmd-resolve-axis-resources --split-input-file --verify-diagnostics

// expected-note@+1 {{available axes: "x"=2, "y"=2}}
spmd.mesh @pod = <["x"=2, "y"=2]>
// expected-error@+1 {{unknown axis "z" in dim 1 of argument #0, expected an axis of mesh @pod}}
func.func @unknown(%a: tensor<4x4xf32> {spmd.axis_resources = #spmd.axis_resources<["x", "z"]>}) {
  return
}

// -----

// expected-error@+1 {{module has 2 meshes, expected the option mesh=NAME for the one that axis resources resolve against}}
module {
  // expected-note@+1 {{available mesh: @a}}
  spmd.mesh @a = <["x"=2]>
  // expected-note@+1 {{available mesh: @b}}
  spmd.mesh @b = <["x"=2]>
  func.func @two(%a: tensor<4xf32> {spmd.axis_resources = #spmd.axis_resources<["x"]>}) {
    return
  }
}
