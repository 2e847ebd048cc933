"""Prints a program of DEPTH nested loops, each adding a product to what it carries."""
import sys

depth = int(sys.argv[1])
lines = []


def loop(level):
    pad = "  " * (level + 1)
    inner = f"%r{level + 1}" if level + 1 < depth else "%zero"
    lines.append(f"{pad}%r{level} = scf.for %i{level} = %c0 to %c2 step %c1 "
                 f"iter_args(%a{level} = %zero) -> tensor<6x10xi32> {{")
    if level + 1 < depth:
        loop(level + 1)
    lines.append(f"{pad}  %p{level} = linalg.matmul ins(%x, %y : tensor<6x8xi32>, tensor<8x10xi32>) "
                 f"outs(%a{level} : tensor<6x10xi32>) -> tensor<6x10xi32>")
    if level + 1 < depth:
        lines.append(f"{pad}  %q{level} = arith.addi %p{level}, {inner} : tensor<6x10xi32>")
    lines.append(f"{pad}  scf.yield {'%q' if level + 1 < depth else '%p'}{level} : tensor<6x10xi32>")
    lines.append(f"{pad}}}")


loop(0)
print("""spmd.mesh @m = <["x"=4]>
func.func @nested(%x: tensor<6x8xi32> {spmd.sharding = #spmd.sharding<@m, [{}, {"x"}]>, spmd.range = [-9, 9]},
                  %y: tensor<8x10xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>, spmd.range = [-9, 9]}) -> tensor<6x10xi32> {
  %zero = arith.constant dense<0> : tensor<6x10xi32>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index""")
print("\n".join(lines))
print("  return %r0 : tensor<6x10xi32>\n}")
