// RUN: shard-opt %s --split-input-file --spmd-derive-costs="devices-per-host=4 intra-host-bandwidth=1e11 inter-host-bandwidth=1e10" | FileCheck %s
// RUN: shard-opt %s --split-input-file --spmd-derive-costs="devices-per-host=2 intra-host-bandwidth=1e11 inter-host-bandwidth=1e10 topology=tree" | FileCheck %s --check-prefix=TREE
// RUN: shard-opt %s --split-input-file --spmd-derive-costs="devices-per-host=2 intra-host-bandwidth=1e11 inter-host-bandwidth=1e10 topology=ring" | FileCheck %s --check-prefix=RING
// RUN: not shard-opt %s --split-input-file --spmd-derive-costs="devices-per-host=2 intra-host-bandwidth=1e11" 2>&1 | FileCheck %s --check-prefix=ZERO
// RUN: not shard-opt %s --split-input-file --spmd-derive-costs="intra-host-bandwidth=1e11 inter-host-bandwidth=1e10" 2>&1 | FileCheck %s --check-prefix=HOST
// RUN: not shard-opt %s --split-input-file --spmd-derive-costs="topology=torus" 2>&1 | FileCheck %s --check-prefix=TORUS
// ZERO: derive-costs.mlir:[[#@LINE+8]]:1: error: 'spmd.mesh' op inter-host bandwidth is 0{{.*}}, expected a positive number of bytes per second
// HOST: error: 'spmd.mesh' op has 0 devices per host, expected a positive number
// TORUS: error: unknown topology=torus, expected tree or ring

// A host has the four devices of "model"; all four send along "data" at once, over one link.
// CHECK: spmd.mesh @hosts = {{.*}} {beta = [4.000000e-10, 9.99{{[0-9]*}}E-12], spmd.hosts = {devices_per_host = 4 : i64
// Two devices share a host: an axis of four crosses to the next host with two groups, or, where neighbours are on it, with one.
// TREE: spmd.mesh @hosts = {{.*}} {beta = [2.000000e-10, 1.000000e-10]
spmd.mesh @hosts = <["data"=2, "model"=4]>

// -----

// Along "model" a device sends to the host after the next: on a ring of hosts each link carries two hosts' traffic.
// TREE: spmd.mesh @two = {{.*}} {beta = [2.000000e-10, 2.000000e-10, 9.99{{[0-9]*}}E-12]
// RING: spmd.mesh @two = {{.*}} {beta = [4.000000e-10, 2.000000e-10, 9.99{{[0-9]*}}E-12]
spmd.mesh @two = <["model"=2, "data"=2, "pair"=2]>

// -----

// Which host a device is on follows from its number, not from its rank; costs that are given stay.
// TREE: spmd.mesh @permuted = {{.*}} {beta = [9.99{{[0-9]*}}E-12, 2.000000e-10]
// TREE: spmd.mesh @given = {{.*}} {beta = [1.000000e+00]}
spmd.mesh @permuted = <["x"=2, "y"=2], device_ids=[0, 2, 1, 3]>
spmd.mesh @given = <["x"=2]> {beta = [1.0]}
