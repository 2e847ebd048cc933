// RUN: shard-opt %s --spmd-propagate --split-input-file --verify-diagnostics

spmd.mesh @m = <["x"=2, "y"=3]>
func.func @members(%a: tensor<12x6xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>},
                   // expected-error@+1 {{members of sharding group g share one layout, found [{"x"}, {}] and [{}, {"x"}], expected equal shardings or open dims}}
                   %b: tensor<12x6xf32> {spmd.sharding = #spmd.sharding<@m, [{}, {"x"}]>},
                   %c: tensor<12x6xf32> {spmd.sharding = #spmd.sharding<@m, [{"y"}, {"x"}]>}) {
  spmd.sharding_group %a "g" : tensor<12x6xf32>
  spmd.sharding_group %b "g" : tensor<12x6xf32>
  spmd.sharding_group %c "g" : tensor<12x6xf32>
  return
}

// -----

// A constraint is closed too.
spmd.mesh @m = <["x"=2, "y"=3]>
func.func @constraint(%a: tensor<12x6xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>}, %b: tensor<12x6xf32>) -> tensor<12x6xf32> {
  spmd.sharding_group %a "g" : tensor<12x6xf32>
  // expected-error@+1 {{members of sharding group g share one layout, found [{"x"}, {}] and [{}, {}], expected}}
  %0 = spmd.with_sharding_constraint %b <@m, [{}, {}]> : tensor<12x6xf32>
  spmd.sharding_group %0 "g" : tensor<12x6xf32>
  return %0 : tensor<12x6xf32>
}

// -----

// No dim disagrees; together they use an axis twice.
spmd.mesh @m = <["x"=2, "y"=3]>
func.func @twice(%a: tensor<12x6xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {?}]>},
                 // expected-error@+1 {{members of sharding group g share one layout, found [{"x"}, {?}] and [{?}, {"x"}], expected}}
                 %b: tensor<12x6xf32> {spmd.sharding = #spmd.sharding<@m, [{?}, {"x"}]>}) {
  spmd.sharding_group %a "g" : tensor<12x6xf32>
  spmd.sharding_group %b "g" : tensor<12x6xf32>
  return
}

// -----

spmd.mesh @m = <["x"=2, "y"=3]>
func.func @replicated(%a: tensor<12x6xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {?}]>},
                      // expected-error@+1 {{found [{"x"}, {?}] and [{?}, {?}], replicated = {"x"}, expected}}
                      %b: tensor<12x6xf32> {spmd.sharding = #spmd.sharding<@m, [{?}, {?}], replicated = {"x"}>}) {
  spmd.sharding_group %a "g" : tensor<12x6xf32>
  spmd.sharding_group %b "g" : tensor<12x6xf32>
  return
}

// -----

spmd.mesh @m = <["x"=2, "y"=3]>
func.func @ranks(%a: tensor<12x6xf32>, %b: tensor<12xf32>) {
  // expected-note@+1 {{the first member is here}}
  spmd.sharding_group %a "g" : tensor<12x6xf32>
  // expected-error@+1 {{member of sharding group "g" has type 'tensor<12xf32>', expected the shape of the first, 'tensor<12x6xf32>'}}
  spmd.sharding_group %b "g" : tensor<12xf32>
  return
}

// -----

spmd.mesh @m = <["x"=2, "y"=3]>
// expected-error@+1 {{result #0 is sharded as #spmd.sharding<@m, [{}, {"y"}]> and tied to argument #0 sharded as #spmd.sharding<@m, [{"x"}, {}]>, expected equal layouts}}
func.func @tied(%a: tensor<12x6xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>})
    -> (tensor<12x6xf32> {spmd.sharding = #spmd.sharding<@m, [{}, {"y"}]>, spmd.tied = 0}) {
  return %a : tensor<12x6xf32>
}

// -----

// Each result agrees with the argument, not with the other.
spmd.mesh @m = <["x"=2, "y"=3]>
// expected-error@+1 {{result #1 is tied to argument #0, which share one layout, found [{"x"}, {}] and [{"y"}, {}], expected equal shardings or open dims}}
func.func @tied_twice(%a: tensor<12x6xf32> {spmd.sharding = #spmd.sharding<@m, [{?}, {}]>})
    -> (tensor<12x6xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>, spmd.tied = 0},
        tensor<12x6xf32> {spmd.sharding = #spmd.sharding<@m, [{"y"}, {}]>, spmd.tied = 0}) {
  return %a, %a : tensor<12x6xf32>, tensor<12x6xf32>
}

// -----

// The tied argument is a member of a group.
spmd.mesh @m = <["x"=2, "y"=3]>
// expected-error@+1 {{result #0 is tied to argument #0, which share one layout, found [{"y"}, {}] and [{"x"}, {}], expected}}
func.func @tied_member(%a: tensor<12x6xf32>, %b: tensor<12x6xf32> {spmd.sharding = #spmd.sharding<@m, [{"y"}, {}]>})
    -> (tensor<12x6xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>, spmd.tied = 0}) {
  spmd.sharding_group %a "g" : tensor<12x6xf32>
  spmd.sharding_group %b "g" : tensor<12x6xf32>
  return %a : tensor<12x6xf32>
}

// -----

spmd.mesh @m = <["x"=2, "y"=3]>
func.func @two_groups(%a: tensor<12x6xf32> {spmd.sharding = #spmd.sharding<@m, [{"y"}, {}]>}, %b: tensor<12x6xf32>) -> tensor<12x6xf32> {
  spmd.sharding_group %a "g" : tensor<12x6xf32>
  // expected-error@+1 {{value is in sharding groups "g" and "h", expected one group}}
  spmd.sharding_group %a "h" : tensor<12x6xf32>
  return %a : tensor<12x6xf32>
}

// -----

spmd.mesh @m = <["x"=2, "y"=3]>
func.func @constant_member(%a: tensor<12x6xf32> {spmd.sharding = #spmd.sharding<@m, [{"y"}, {}]>}) -> tensor<12x6xf32> {
  %c = arith.constant dense<1.0> : tensor<12x6xf32>
  spmd.sharding_group %a "g" : tensor<12x6xf32>
  // expected-warning@+1 {{member of sharding group "g" is constant-like and rematerialized per use, so that the group does not constrain it}}
  spmd.sharding_group %c "g" : tensor<12x6xf32>
  %0 = arith.addf %a, %c : tensor<12x6xf32>
  return %0 : tensor<12x6xf32>
}
