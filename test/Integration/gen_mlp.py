#!/usr/bin/env python3
"""Writes a module of MLPs, one function per assignment of mesh axes to dims.

    h = gelu(x @ w1 + b1);  y = h @ w2 + b2

  gen_mlp.py --mesh 8 -o mlp.mlir                 every assignment on a 1-D mesh
  gen_mlp.py --mesh 2x3 --count 1000 --seed 1 -o mlp.mlir   seeded ones

On a 1-D mesh each of x, w1, w2 has its axis on one of two dims or on none, and
b1, b2 on their dim or not: 3 * 3 * 2 * 3 * 2 = 108 functions. Elsewhere each
tensor gets each axis on a random dim or on none, in random order within the
dim; dims are open or closed, and some results are annotated too. The sizes are
all different and divisible by every product of axes of up to 8 devices.

Three bodies take turns: named ops, generics with w2 stored transposed, and a
contraction that starts from the bias with gelu as ops on tensors.
"""
import argparse
import itertools
import random

M, K, N, P = 24, 48, 72, 96


def tensor(*dims):
    return "tensor<" + "".join(f"{d}x" for d in dims) + "f32>"


X, W1, B1, W2, W2T, B2 = (tensor(M, K), tensor(K, N), tensor(N), tensor(N, P),
                          tensor(P, N), tensor(P))
H, Y = tensor(M, N), tensor(M, P)
RANKS = {"x": 2, "w1": 2, "b1": 1, "w2": 2, "b2": 1, "y": 2}

GELU = """\
    %half = arith.mulf %a, %c05 : f32
    %scaled = arith.mulf %a, %crsqrt2 : f32
    %erf = math.erf %scaled : f32
    %one_erf = arith.addf %erf, %c1 : f32
    %g = arith.mulf %half, %one_erf : f32
    linalg.yield %g : f32"""

CONSTANTS = """\
  %c0 = arith.constant 0.0 : f32
  %c1 = arith.constant 1.0 : f32
  %c05 = arith.constant 0.5 : f32
  %crsqrt2 = arith.constant 0.70710678 : f32
  %eh = tensor.empty() : {H}
  %ey = tensor.empty() : {Y}
"""

NAMED = CONSTANTS + """\
  %fh = linalg.fill ins(%c0 : f32) outs(%eh : {H}) -> {H}
  %mm1 = linalg.matmul ins(%x, %w1 : {X}, {W1}) outs(%fh : {H}) -> {H}
  %bb1 = linalg.broadcast ins(%b1 : {B1}) outs(%eh : {H}) dimensions = [0]
  %h = linalg.add ins(%mm1, %bb1 : {H}, {H}) outs(%eh : {H}) -> {H}
  %act = linalg.map ins(%h : {H}) outs(%eh : {H}) (%a : f32, %out: f32) {{
{GELU}
  }}
  %fy = linalg.fill ins(%c0 : f32) outs(%ey : {Y}) -> {Y}
  %mm2 = linalg.matmul ins(%act, %w2 : {H}, {W2}) outs(%fy : {Y}) -> {Y}
  %bb2 = linalg.broadcast ins(%b2 : {B2}) outs(%ey : {Y}) dimensions = [0]
  %y = linalg.add ins(%mm2, %bb2 : {Y}, {Y}) outs(%ey : {Y}) -> {Y}
"""

GENERIC = CONSTANTS + """\
  %fh = linalg.fill ins(%c0 : f32) outs(%eh : {H}) -> {H}
  %mm1 = linalg.generic {{indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction"]}}
      ins(%x, %w1 : {X}, {W1}) outs(%fh : {H}) {{
  ^bb0(%p: f32, %q: f32, %acc: f32):
    %m = arith.mulf %p, %q : f32
    %r = arith.addf %acc, %m : f32
    linalg.yield %r : f32
  }} -> {H}
  %act = linalg.generic {{indexing_maps = [#ij, #j, #ij], iterator_types = ["parallel", "parallel"]}}
      ins(%mm1, %b1 : {H}, {B1}) outs(%eh : {H}) {{
  ^bb0(%p: f32, %q: f32, %out: f32):
    %a = arith.addf %p, %q : f32
{GELU}
  }} -> {H}
  %fy = linalg.fill ins(%c0 : f32) outs(%ey : {Y}) -> {Y}
  %mm2 = linalg.generic {{indexing_maps = [#mk, #nk, #mn], iterator_types = ["parallel", "parallel", "reduction"]}}
      ins(%act, %w2 : {H}, {W2T}) outs(%fy : {Y}) {{
  ^bb0(%p: f32, %q: f32, %acc: f32):
    %m = arith.mulf %p, %q : f32
    %r = arith.addf %m, %acc : f32
    linalg.yield %r : f32
  }} -> {Y}
  %y = linalg.generic {{indexing_maps = [#ij, #j, #ij], iterator_types = ["parallel", "parallel"]}}
      ins(%mm2, %b2 : {Y}, {B2}) outs(%ey : {Y}) {{
  ^bb0(%p: f32, %q: f32, %out: f32):
    %s = arith.addf %p, %q : f32
    linalg.yield %s : f32
  }} -> {Y}
"""

FROM_BIAS = CONSTANTS + """\
  %bb1 = linalg.broadcast ins(%b1 : {B1}) outs(%eh : {H}) dimensions = [0]
  %h = linalg.matmul ins(%x, %w1 : {X}, {W1}) outs(%bb1 : {H}) -> {H}
  %t1 = arith.constant dense<1.0> : {H}
  %t05 = arith.constant dense<0.5> : {H}
  %trsqrt2 = arith.constant dense<0.70710678> : {H}
  %half = arith.mulf %h, %t05 : {H}
  %scaled = arith.mulf %h, %trsqrt2 : {H}
  %erf = math.erf %scaled : {H}
  %one_erf = arith.addf %erf, %t1 : {H}
  %act = arith.mulf %half, %one_erf : {H}
  %bb2 = linalg.broadcast ins(%b2 : {B2}) outs(%ey : {Y}) dimensions = [0]
  %y = linalg.matmul ins(%act, %w2 : {H}, {W2}) outs(%bb2 : {Y}) -> {Y}
"""

BODIES = [(NAMED, False), (GENERIC, True), (FROM_BIAS, False)]
MAPS = """\
#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#nk = affine_map<(m, n, k) -> (n, k)>
#mn = affine_map<(m, n, k) -> (m, n)>
#ij = affine_map<(i, j) -> (i, j)>
#j = affine_map<(i, j) -> (j)>
"""


def spell(dims):
    """dims: per dim (axes, open)."""
    text = ", ".join(
        "{" + ", ".join([f'"{a}"' for a in axes] + ["?"] * is_open) + "}"
        for axes, is_open in dims)
    return f"#spmd.sharding<@mesh, [{text}]>"


def every(axis):
    """All 108 on one axis; what is left over is closed, open, or both."""
    def choices(rank):
        return [None] + list(range(rank))
    names = ["x", "w1", "b1", "w2", "b2"]
    for i, picks in enumerate(
            itertools.product(*(choices(RANKS[n]) for n in names))):
        def is_open(pick, dim):
            return i % 3 == 1 or (i % 3 == 2 and dim == 0)
        yield {n: [([axis] if pick == d else [], is_open(pick, d))
                   for d in range(RANKS[n])]
               for n, pick in zip(names, picks)}


def seeded(axes, count, seed):
    rng = random.Random(f"{seed} {axes}")
    for _ in range(count):
        specs = {}
        for name, rank in RANKS.items():
            if name == "y" and rng.random() < 0.6:
                continue
            dims = [[] for _ in range(rank)]
            for axis in rng.sample(axes, len(axes)):
                place = rng.randrange(-1, rank)
                if place >= 0:
                    dims[place].append(axis)
            specs[name] = [(d, rng.random() < 0.4) for d in dims]
        yield specs


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--mesh", required=True, help="sizes, as 2x3")
    parser.add_argument("--count", type=int, default=0,
                        help="seeded functions; 0 = every assignment (1-D)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("-o", "--output", default="-")
    args = parser.parse_args()

    sizes = [int(s) for s in args.mesh.split("x")]
    axes = ["x", "y", "z"][:len(sizes)]
    if len(sizes) > 3:
        parser.error("a mesh has at most three axes here")
    if not args.count and len(sizes) > 1:
        parser.error("--count is needed beyond one axis")
    specs = (seeded(axes, args.count, args.seed) if args.count
             else every(axes[0]))

    mesh = ", ".join(f'"{a}"={s}' for a, s in zip(axes, sizes))
    out = [MAPS, f"spmd.mesh @mesh = <[{mesh}]>\n"]
    for i, spec in enumerate(specs):
        body, transposed = BODIES[i % len(BODIES)]
        types = {"x": X, "w1": W1, "b1": B1, "w2": W2T if transposed else W2,
                 "b2": B2}
        params = ", ".join(
            f"%{n}: {t} {{"
            + ('spmd.name = "x"' if n == 'x' else f'spmd.weight = "mlp{i}.{n}"')
            + f", spmd.sharding = {spell(spec[n])}}}"
            for n, t in types.items())
        result = (f"({Y} {{spmd.sharding = {spell(spec['y'])}}})"
                  if "y" in spec else Y)
        out.append(f"func.func @mlp{i}({params}) -> {result} {{")
        out.append(body.format(X=X, W1=W1, B1=B1, W2=W2, W2T=W2T, B2=B2, H=H,
                               Y=Y, GELU=GELU)
                   + f"  return %y : {Y}\n}}\n")
    text = "\n".join(out)
    if args.output == "-":
        print(text)
    else:
        with open(args.output, "w") as file:
            file.write(text)


if __name__ == "__main__":
    main()
