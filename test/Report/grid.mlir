// Which devices hold which shard of a value: a column per shard of the last sharded dim, rows for the others.
// RUN: shard-opt %s --spmd-explain="value=two grid=true" -o /dev/null 2>&1 | FileCheck %s --check-prefix=TWO --match-full-lines --strict-whitespace
// RUN: shard-opt %s --spmd-explain="value=whole grid=true" -o /dev/null 2>&1 | FileCheck %s --check-prefix=WHOLE
// RUN: shard-opt %s --spmd-explain="value=gap grid=true" -o /dev/null 2>&1 | FileCheck %s --check-prefix=GAP
// RUN: shard-opt %s --spmd-explain="value=uneven grid=true" -o /dev/null 2>&1 | FileCheck %s --check-prefix=UNEVEN
// RUN: shard-opt %s --spmd-explain="value=three grid=true" -o /dev/null 2>&1 | FileCheck %s --check-prefix=THREE
// RUN: shard-opt %s --spmd-explain="value=dynamic grid=true" -o /dev/null 2>&1 | FileCheck %s --check-prefix=DYNAMIC
// RUN: shard-opt %s --spmd-explain="value=partial grid=true" -o /dev/null 2>&1 | FileCheck %s --check-prefix=PARTIAL
// RUN: shard-opt %s --spmd-explain="value=many grid=true" -o /dev/null 2>&1 | FileCheck %s --check-prefix=MANY
// RUN: shard-opt %s --spmd-explain="value=huge grid=true" -o /dev/null 2>&1 | FileCheck %s --check-prefix=HUGE
// RUN: shard-opt %s --spmd-explain="value=two grid=true format=json" -o /dev/null 2>&1 | FileCheck %s --check-prefix=JSON
// After a search as well.
// RUN: shard-opt %s --spmd-auto-shard --spmd-explain="value=two grid=true" -o /dev/null 2>&1 | FileCheck %s --check-prefix=TWO --match-full-lines --strict-whitespace
// Not without being asked for.
// RUN: shard-opt %s --spmd-explain="value=two" -o /dev/null 2>&1 | FileCheck %s --check-prefix=NONE

spmd.mesh @m = <["x"=2, "y"=3]>
// Devices go by their numbers, not by their ranks.
spmd.mesh @d = <["x"=2, "y"=2], device_ids=[3, 1, 0, 2]>
spmd.mesh @long = <["x"=4000]>
spmd.mesh @more = <["x"=5000]>

func.func @main(
//       TWO:               dim 1 0:2  dim 1 2:4  dim 1 4:6
//  TWO-NEXT:    dim 0 0:4  0          1          2
//  TWO-NEXT:    dim 0 4:8  3          4          5
// JSON: "grid": [
// JSON-NEXT: "            dim 1 0:2  dim 1 2:4  dim 1 4:6",
// JSON-NEXT: "dim 0 0:4  0          1          2",
// NONE-NOT: dim 0 0:4
    %two: tensor<8x6xf32> {spmd.name = "two", spmd.sharding = #spmd.sharding<@m, [{"x"}, {"y"}]>},
// WHOLE: all of it
// WHOLE-NEXT: {{^ *}}0-5{{$}}
    %whole: tensor<8x6xf32> {spmd.name = "whole", spmd.sharding = #spmd.sharding<@m, [{}, {}]>},
// GAP: dim 0 0:2,4:6,8:10,... dim 0 2:4,6:8,10:12,...
// GAP-NEXT: {{^ *}}0-2 3-5{{$}}
    %gap: tensor<16xf32> {spmd.name = "gap", spmd.sharding = #spmd.sharding<@m, [{4, "x"}]>},
// UNEVEN: dim 0 0:2 dim 0 2:4 dim 0 -
// UNEVEN-NEXT: {{^ *}}0,3 1,4 2,5{{$}}
    %uneven: tensor<4xf32> {spmd.name = "uneven", spmd.sharding = #spmd.sharding<@m, [{"y"}]>}) {
  return
}

func.func @others(
// DYNAMIC: no grid: sizes are not known
    %dynamic: tensor<?x6xf32> {spmd.name = "dynamic", spmd.sharding = #spmd.sharding<@m, [{"x"}, {"y"}]>},
// PARTIAL: dim 0 0:2 dim 0 2:4 dim 0 4:6
// PARTIAL-NEXT: {{^ *}}0,3 1,4 2,5{{$}}
// PARTIAL-NEXT: each holds a partial sum
    %partial: tensor<6xf32> {spmd.name = "partial", spmd.sharding = #spmd.sharding<@m, [{"y"}], unreduced={"x"}>}) {
  return
}

func.func @large(
// MANY: dim 0 0:1 dim 0 1:2 {{.*}} dim 0 7:8 ...{{$}}
// MANY-NEXT: 0 1 2 3 4 5 6 7 ...{{$}}
    %many: tensor<4000xf32> {spmd.name = "many", spmd.sharding = #spmd.sharding<@long, [{"x"}]>}) {
  return
}

func.func @larger(
// HUGE: no grid: 5000 devices, at most 4096 are drawn
    %huge: tensor<5000xf32> {spmd.name = "huge", spmd.sharding = #spmd.sharding<@more, [{"x"}]>}) {
  return
}

func.func @numbered(
// THREE: {{^ *}}dim 2 0:5 dim 2 5:10
// THREE-NEXT: {{^ *}}0,3 1,2{{$}}
    %three: tensor<2x3x10xf32> {spmd.name = "three", spmd.sharding = #spmd.sharding<@d, [{}, {}, {"y"}]>}) {
  return
}
