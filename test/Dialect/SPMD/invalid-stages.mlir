// RUN: shard-opt %s --split-input-file --verify-diagnostics

// Fragments of stages, schedules and their instructions. schedule_c5, channel_c3, run_c2, transfer_c3 and free_c2 need
// the functions of the schedule: test/Stages/schedule-invalid.test.

// fragment_c1: a round of a forward fragment
// expected-error @+1 {{forward fragment has round 1, expected 0}}
func.func @f() attributes {spmd.fragment = #spmd.fragment<forward, round = 1>} { return }

// -----

// fragment_c1: a negative round
// expected-error @+1 {{apply fragment has round -1, expected 0 or more}}
func.func @f() attributes {spmd.fragment = #spmd.fragment<apply, round = -1>} { return }

// -----

// expected-error @+1 {{unknown fragment 'sideward', expected forward, backward or apply}}
func.func @f() attributes {spmd.fragment = #spmd.fragment<sideward>} { return }

// -----

// attr_c2: the kind of the attribute
// expected-error @+1 {{expected #spmd.fragment<...>}}
func.func @f() attributes {spmd.fragment = "forward"} { return }

// -----

func.func @f() {
  // fragment_c1: in the op
  // expected-error @+1 {{backward fragment has round 2, expected 0}}
  spmd.fragment backward round = 2
  return
}

// -----

func.func @f() {
  // fragment_c2: executions are positive
  // expected-error @+1 {{has 0 executions, expected at least 1}}
  spmd.fragment forward executions = 0
  return
}

// -----

func.func @f(%0: tensor<4xf32>) -> tensor<4xf32> {
  // stage_output_c1: a name
  // expected-error @+1 {{has an empty name, expected the name of the value}}
  %1 = spmd.stage_output %0 "" : tensor<4xf32>
  return %1 : tensor<4xf32>
}

// -----

func.func @f(%0: tensor<4xf32>) -> tensor<4xf32> {
  // stage_output_c2: a reduction that the elements have
  // expected-error @+2 {{reduction xor is not defined for 'f32'}}
  // expected-note @+1 {{reductions for 'f32'}}
  %1 = spmd.stage_output %0 "g" accumulated xor : tensor<4xf32>
  return %1 : tensor<4xf32>
}

// -----

spmd.mesh @s0 = <["x"=1]>
// schedule_c1: the kind
// expected-error @+1 {{has unknown kind "zigzag", expected one of gpipe, 1f1b, 1f1b-overlap, interleaved-1f1b, inference}}
spmd.schedule @main "zigzag" microbatches = 1 on [@s0] : () -> () {
}

// -----

spmd.mesh @s0 = <["x"=1]>
// schedule_c2: microbatches
// expected-error @+1 {{has 0 microbatches, expected at least 1}}
spmd.schedule @main "1f1b" microbatches = 0 on [@s0] : () -> () {
}

// -----

// schedule_c2: meshes
// expected-error @+1 {{has no mesh, expected at least one}}
spmd.schedule @main "1f1b" microbatches = 1 on [] : () -> () {
}

// -----

spmd.mesh @s0 = <["x"=1]>
// schedule_c3: attributes of arguments
// expected-error @+1 {{has 1 arg_attrs, expected 0}}
spmd.schedule @main "1f1b" microbatches = 1 on [@s0] : () -> () attributes {arg_attrs = [{}]} {
}

// -----

spmd.mesh @s0 = <["x"=1]>
spmd.mesh @s1 = <["x"=1], device_ids = [1]>
// schedule_c4: a list for each mesh
// expected-error @+1 {{has 1 stage programs, expected 2, one per mesh}}
spmd.schedule @main "1f1b" microbatches = 1 on [@s0, @s1] : () -> () {
  spmd.stage_program @s0 {
  }
}

// -----

spmd.mesh @s0 = <["x"=1]>
spmd.mesh @s1 = <["x"=1], device_ids = [1]>
spmd.schedule @main "1f1b" microbatches = 1 on [@s0, @s1] : () -> () {
  // channel_c1: a mesh of the schedule
  // expected-error @+1 {{names mesh 2, expected an index less than 2}}
  spmd.channel "h" from 0 <@s0, [{}]> to 2 <@s1, [{}]> : tensor<4xf32>
}

// -----

spmd.mesh @s0 = <["x"=1]>
spmd.mesh @s1 = <["x"=1], device_ids = [1]>
spmd.schedule @main "1f1b" microbatches = 1 on [@s0, @s1] : () -> () {
  // channel_c1: two meshes
  // expected-error @+1 {{is from mesh 1 to itself, expected two meshes}}
  spmd.channel "h" from 1 <@s1, [{}]> to 1 <@s1, [{}]> : tensor<4xf32>
}

// -----

spmd.mesh @s0 = <["x"=1]>
spmd.mesh @s1 = <["x"=1], device_ids = [1]>
spmd.schedule @main "1f1b" microbatches = 1 on [@s0, @s1] : () -> () {
  // channel_c2: shardings of the rank of the value
  // expected-error @+1 {{with 2 dimensions, expected 1, those of 'tensor<4xf32>'}}
  spmd.channel "h" from 0 <@s0, [{}]> to 1 <@s1, [{}, {}]> : tensor<4xf32>
}

// -----

spmd.mesh @s0 = <["x"=1]>
spmd.schedule @main "1f1b" microbatches = 1 on [@s0] : () -> () {
  spmd.stage_program @s0 {
    // stage_program_c1: instructions
    // expected-error @+1 {{arith.constant in a stage program, expected spmd.run, spmd.transfer or spmd.free}}
    %0 = arith.constant 0 : i32
  }
}

// -----

spmd.mesh @s0 = <["x"=1]>
spmd.schedule @main "1f1b" microbatches = 1 on [@s0] : () -> () {
  spmd.stage_program @s0 {
    // run_c1: the microbatch
    // expected-error @+1 {{has microbatch -1, expected 0 or more}}
    spmd.run @f microbatch = -1
  }
}

// -----

spmd.mesh @s0 = <["x"=1]>
spmd.schedule @main "1f1b" microbatches = 1 on [@s0] : () -> () {
  spmd.stage_program @s0 {
    // run_c1: the clock
    // expected-error @+1 {{has clock -2, expected 0 or more}}
    spmd.run @f microbatch = 0 clock = -2
  }
}

// -----

spmd.mesh @s0 = <["x"=1]>
spmd.mesh @s1 = <["x"=1], device_ids = [1]>
spmd.schedule @main "1f1b" microbatches = 1 on [@s0, @s1] : () -> () {
  spmd.stage_program @s0 {
    // transfer_c1: pairs
    // expected-error @+1 {{moves array<i64: 0>, expected a pair of a channel and a microbatch}}
    "spmd.transfer"() {peer = 1 : i64, sends = [array<i64: 0>], receives = []} : () -> ()
  }
  spmd.stage_program @s1 {
  }
}

// -----

spmd.mesh @s0 = <["x"=1]>
spmd.mesh @s1 = <["x"=1], device_ids = [1]>
spmd.schedule @main "1f1b" microbatches = 1 on [@s0, @s1] : () -> () {
  spmd.stage_program @s0 {
    // transfer_c2: the peer
    // expected-error @+1 {{has peer 0, expected the index of another one of the 2 meshes}}
    spmd.transfer 0 send [[0, 0]] receive []
  }
  spmd.stage_program @s1 {
  }
}

// -----

spmd.mesh @s0 = <["x"=1]>
spmd.schedule @main "1f1b" microbatches = 1 on [@s0] : () -> () {
  spmd.stage_program @s0 {
    // free_c1: the microbatch
    // expected-error @+1 {{has microbatch -3, expected 0 or more}}
    spmd.free "h" microbatch = -3
  }
}
