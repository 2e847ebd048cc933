// Rules in index notation (RuleBuilder), and one error for each that does not fit its op.
// REQUIRES: shard-test-opt
// RUN: shard-test-opt %s --split-input-file --verify-diagnostics --spmd-default-pipeline=plan=propagation | FileCheck %s

spmd.mesh @m = <["x"=2, "y"=3]>

// Leading dims, and a sum whose padding is masked.
// CHECK-LABEL: func.func @contraction
// CHECK: linalg.generic
// CHECK: "padded.indexed"({{.*}}) {dims = "...k,nk->...n", harmless = "...n", neutral = "k"} : (tensor<3x1x3xf32>, tensor<4x3xf32>) -> tensor<3x1x4xf32>
// CHECK: spmd.all_reduce
func.func @contraction(%x: tensor<5x1x7xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}, {"y"}]>}, %w: tensor<4x7xf32>) -> tensor<5x1x4xf32> {
  %0 = "padded.indexed"(%x, %w) {dims = "...k,nk->...n", harmless = "...n", neutral = "k"} : (tensor<5x1x7xf32>, tensor<4x7xf32>) -> tensor<5x1x4xf32>
  return %0 : tensor<5x1x4xf32>
}

// A dim of size 1 is broadcast.
// CHECK-LABEL: func.func @broadcast
// CHECK: "padded.indexed"({{.*}}) {dims = "..."} : (tensor<4x2xf32>, tensor<1x2xf32>) -> tensor<4x2xf32>
func.func @broadcast(%x: tensor<8x6xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {"y"}]>}, %b: tensor<1x6xf32>) -> tensor<8x6xf32> {
  %0 = "padded.indexed"(%x, %b) {dims = "..."} : (tensor<8x6xf32>, tensor<1x6xf32>) -> tensor<8x6xf32>
  return %0 : tensor<8x6xf32>
}

// Factors of one dim: groups are sharded.
// CHECK-LABEL: func.func @groups
// CHECK: "padded.indexed"({{.*}}) {dims = "m(gk),gnk->m(gn)"} : (tensor<5x4xf32>, tensor<1x3x4xf32>) -> tensor<5x3xf32>
func.func @groups(%x: tensor<5x8xf32> {spmd.sharding = #spmd.sharding<@m, [{}, {"x"}]>}, %w: tensor<2x3x4xf32>) -> tensor<5x6xf32> {
  %0 = "padded.indexed"(%x, %w) {dims = "m(gk),gnk->m(gn)"} : (tensor<5x8xf32>, tensor<2x3x4xf32>) -> tensor<5x6xf32>
  return %0 : tensor<5x6xf32>
}

// Nothing is known of padding: the op is computed on full tensors.
// CHECK-LABEL: func.func @unknown
// CHECK: "padded.indexed"({{.*}}) {dims = "i->i"} : (tensor<7xf32>) -> tensor<7xf32>
func.func @unknown(%x: tensor<7xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}]>}) -> tensor<7xf32> {
  %0 = "padded.indexed"(%x) {dims = "i->i"} : (tensor<7xf32>) -> tensor<7xf32>
  return %0 : tensor<7xf32>
}

// -----

spmd.mesh @m = <["x"=2]>
func.func @rank(%x: tensor<8x6xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>}) -> tensor<8x6xf32> {
  // expected-error @+1 {{the sharding rule of padded.indexed does not fit: it describes 3 dims of operand #0, expected 2}}
  %0 = "padded.indexed"(%x) {dims = "abc->ab"} : (tensor<8x6xf32>) -> tensor<8x6xf32>
  return %0 : tensor<8x6xf32>
}

// -----

spmd.mesh @m = <["x"=2]>
func.func @results(%x: tensor<8x6xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>}) -> tensor<8x6xf32> {
  // expected-error @+1 {{does not fit: it describes 2 results, expected 1}}
  %0 = "padded.indexed"(%x) {dims = "ab->ab,ab"} : (tensor<8x6xf32>) -> tensor<8x6xf32>
  return %0 : tensor<8x6xf32>
}

// -----

spmd.mesh @m = <["x"=2]>
func.func @operands(%x: tensor<8x6xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>}) -> tensor<8x6xf32> {
  // expected-error @+1 {{does not fit: its operand #1 is not that of the op}}
  %0 = "padded.indexed"(%x) {dims = "ab,b->ab"} : (tensor<8x6xf32>) -> tensor<8x6xf32>
  return %0 : tensor<8x6xf32>
}

// -----

spmd.mesh @m = <["x"=2]>
func.func @sizes(%x: tensor<8x6xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>}, %y: tensor<5x8xf32>) -> tensor<8x8xf32> {
  // expected-error @+1 {{does not fit: the factors of dim 0 of operand #1 multiply to 6, expected 5}}
  %0 = "padded.indexed"(%x, %y) {dims = "ab,bc->ac"} : (tensor<8x6xf32>, tensor<5x8xf32>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// -----

spmd.mesh @m = <["x"=2]>
func.func @windows(%x: tensor<8xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}]>}) -> tensor<8xf32> {
  // expected-error @+1 {{does not fit: a dim is read in windows along factor 0, expected getWindowForm to specify how}}
  %0 = "padded.indexed"(%x) {dims = ".->i", window} : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

spmd.mesh @m = <["x"=2]>
func.func @init(%x: tensor<8xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}]>}, %y: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error @+1 {{does not fit: operand #1 initializes result #7, expected one below 1}}
  %0 = "padded.indexed"(%x, %y) {dims = "i,i->i", init} : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

spmd.mesh @m = <["x"=2]>
func.func @notation(%x: tensor<8x6xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>}) {
  // expected-error @+1 {{does not fit: the index notation has '1', expected letters, '.', '...' and '(', ')' around letters}}
  %0 = "padded.indexed"(%x) {dims = "a1->a1"} : (tensor<8x6xf32>) -> tensor<8x6xf32>
  return
}

// -----

spmd.mesh @m = <["x"=2]>
func.func @notation(%x: tensor<8x6xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>}) {
  // expected-error @+1 {{does not fit: a '(' of the index notation has no ')'}}
  %0 = "padded.indexed"(%x) {dims = "a(bc->abc"} : (tensor<8x6xf32>) -> tensor<8x6xf32>
  return
}

// -----

spmd.mesh @m = <["x"=2]>
func.func @notation(%x: tensor<8x6xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>}) {
  // expected-error @+1 {{does not fit: the dim (bb) of the index notation has a letter twice}}
  %0 = "padded.indexed"(%x) {dims = "a(bb)->a(bb)"} : (tensor<8x6xf32>) -> tensor<8x6xf32>
  return
}

// -----

spmd.mesh @m = <["x"=2]>
func.func @notation(%x: tensor<8x6xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>}) {
  // expected-error @+1 {{does not fit: the size of 'b' is not known, expected `size` to give it}}
  %0 = "padded.indexed"(%x) {dims = "a(bc)->a(bc)"} : (tensor<8x6xf32>) -> tensor<8x6xf32>
  return
}

// -----

spmd.mesh @m = <["x"=2]>
func.func @notation(%x: tensor<8x6xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>}) {
  // expected-error @+1 {{does not fit: the factors of dim 1 of operand #0 multiply to 4, expected 6}}
  %0 = "padded.indexed"(%x) {dims = "a(bc)->abc"} : (tensor<8x6xf32>) -> tensor<8x2x2xf32>
  return
}

// -----

spmd.mesh @m = <["x"=2]>
func.func @methods(%x: tensor<8x6xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>}) {
  // expected-error @+1 {{does not fit: `padding` names the letter 'k', which the index notation does not have}}
  %0 = "padded.indexed"(%x) {dims = "ab->ab", harmless = "k"} : (tensor<8x6xf32>) -> tensor<8x6xf32>
  return
}

// -----

spmd.mesh @m = <["x"=2]>
func.func @methods(%x: tensor<8x6xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>}) {
  // expected-error @+1 {{does not fit: `window` names the letter 'i', which the index notation does not have}}
  %0 = "padded.indexed"(%x) {dims = ".b->.b", window} : (tensor<8x6xf32>) -> tensor<8x6xf32>
  return
}

// -----

spmd.mesh @m = <["x"=2]>
func.func @methods(%x: tensor<8x6xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>}) {
  // expected-error @+1 {{does not fit: `window` names dim 0 of operand #0, expected one that is a '.' in the index notation}}
  %0 = "padded.indexed"(%x) {dims = "ib->ib", window} : (tensor<8x6xf32>) -> tensor<8x6xf32>
  return
}

// -----

spmd.mesh @m = <["x"=2]>
func.func @methods(%x: tensor<8x6xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>}) {
  // expected-error @+1 {{names dim 0 of operand #0, expected one that is a '.' in the index notation; three of them are '. . .', as '...' are leading dims}}
  %0 = "padded.indexed"(%x) {dims = "...->ib", window} : (tensor<8x6xf32>) -> tensor<8x6xf32>
  return
}

// -----

spmd.mesh @m = <["x"=2]>
func.func @methods(%x: tensor<8x6xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>}) {
  // expected-error @+1 {{does not fit: `init` names operand #1, expected one below 1}}
  %0 = "padded.indexed"(%x) {dims = "ab->ab", init} : (tensor<8x6xf32>) -> tensor<8x6xf32>
  return
}
