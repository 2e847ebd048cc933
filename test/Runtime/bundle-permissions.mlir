// A bundle has the permissions that the umask gives: with 077 it is private, also if it replaces one that was not.
// REQUIRES: shard-compile
// RUN: sh -c 'umask 022 && shard-compile %s -o %t && stat -c "%%a %%n" %t %t/manifest.json %t/programs %t/programs/*' | FileCheck %s --check-prefix=PUBLIC
// PUBLIC: 755 {{.*}}tmp
// PUBLIC: 644 {{.*}}manifest.json
// PUBLIC-NEXT: 755 {{.*}}programs
// PUBLIC-NEXT: {{644|755}} {{.*}}programs/{{.+}}
// RUN: sh -c 'umask 077 && shard-compile %s -o %t && stat -c "%%a %%n" %t %t/manifest.json %t/programs %t/programs/*' | FileCheck %s --check-prefix=PRIVATE
// PRIVATE: 700 {{.*}}tmp
// PRIVATE: 600 {{.*}}manifest.json
// PRIVATE-NEXT: 700 {{.*}}programs
// PRIVATE-NEXT: {{600|700}} {{.*}}programs/{{.+}}

spmd.mesh @mesh_x_2 = <["x"=2]>
func.func @main(%a: tensor<4xf32> {spmd.sharding = #spmd.sharding<@mesh_x_2, [{"x"}]>}) -> tensor<4xf32> {
  return %a : tensor<4xf32>
}
