// RUN: shard-opt %s --split-input-file --verify-diagnostics

// start_c1
spmd.mesh @pod = <["x"=2, "y"=4]>
func.func @f(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = spmd.start {
    // expected-error @+1 {{is in spmd.start, expected a collective that moves data}}
    %a = arith.negf %x : tensor<8xf32>
    spmd.return %a : tensor<8xf32>
  } : tensor<8xf32>
  %1 = spmd.done %0 : tensor<8xf32>
  return %1 : tensor<8xf32>
}

// -----

// start_c1
spmd.mesh @pod = <["x"=2, "y"=4]>
func.func @f(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error @+1 {{does not return the results of its collectives, expected spmd.return of all of them in order}}
  %0 = spmd.start {
    %a = spmd.all_reduce %x sum <@pod, {"x"}> : tensor<8xf32>
    spmd.return %x : tensor<8xf32>
  } : tensor<8xf32>
  %1 = spmd.done %0 : tensor<8xf32>
  return %1 : tensor<8xf32>
}

// -----

// start_c2
spmd.mesh @pod = <["x"=2, "y"=4]>
func.func @f(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0:2 = spmd.start {
    %a = spmd.all_reduce %x sum <@pod, {"x"}> : tensor<8xf32>
    // expected-error @+1 {{reads the result of another collective of its spmd.start}}
    %b = spmd.all_reduce %a sum <@pod, {"x"}> : tensor<8xf32>
    spmd.return %a, %b : tensor<8xf32>, tensor<8xf32>
  } : tensor<8xf32>, tensor<8xf32>
  %1:2 = spmd.done %0#0, %0#1 : tensor<8xf32>, tensor<8xf32>
  return %1#1 : tensor<8xf32>
}

// -----

// start_c3
spmd.mesh @pod = <["x"=2, "y"=4]>
func.func @f(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0:2 = spmd.start {
    %a = spmd.all_reduce %x sum <@pod, {"x"}> : tensor<8xf32>
    // expected-error @+1 {{moves data among other devices than the other collectives of its spmd.start, expected the same axes of one mesh}}
    %b = spmd.all_reduce %x sum <@pod, {"y"}> : tensor<8xf32>
    spmd.return %a, %b : tensor<8xf32>, tensor<8xf32>
  } : tensor<8xf32>, tensor<8xf32>
  %1:2 = spmd.done %0#0, %0#1 : tensor<8xf32>, tensor<8xf32>
  return %1#1 : tensor<8xf32>
}

// -----

// start_c4
spmd.mesh @pod = <["x"=2, "y"=4]>
func.func @f(%x: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  // expected-error @+1 {{has results that other ops than one spmd.done use}}
  %0 = spmd.start {
    %a = spmd.all_reduce %x sum <@pod, {"x"}> : tensor<8xf32>
    spmd.return %a : tensor<8xf32>
  } : tensor<8xf32>
  %1 = spmd.done %0 : tensor<8xf32>
  return %0, %1 : tensor<8xf32>, tensor<8xf32>
}

// -----

// done_c1
func.func @f(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error @+1 {{has operands that are not the results of one spmd.start, expected all of them in order}}
  %1 = spmd.done %x : tensor<8xf32>
  return %1 : tensor<8xf32>
}
