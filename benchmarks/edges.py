#!/usr/bin/env python3
"""Cost per edge (operand of a tensor op) over the size of a shape, as a markdown table.

  users          n elementwise ops read one annotated argument
  users-back     the same, the annotation is on the last op
  users-cut      the same, every user also reads an argument that is cut otherwise
  chain          n elementwise ops in a row, each reads one annotated argument too
  operands       generics with n inputs, each reads the results before it
  operands-cut   generics with n inputs, every other one is cut otherwise
  zigzag         n values linked in a row by ops that alternate between the ends of a function of depth n
  arguments      a function of n annotated arguments with one op each
  priorities     the same, every annotation has a priority of its own

A phase that is linear has ratios near 1 (below 1 where a part of the cost is per op or per function). All files
of one shape have as many edges: small sizes repeat the function, or with operands the op.
"""
import sys
import tempfile
from pathlib import Path

from measure import NO_VERIFIER, PHASES, get_parser, measure, print_table

TYPE = "tensor<64x64xf32>"
ROWS = '{spmd.sharding = #spmd.sharding<@mesh, [{"x", ?}, {?}]>}'
COLUMNS = '{spmd.sharding = #spmd.sharding<@mesh, [{?}, {"x", ?}]>}'


def function(name, args, lines, result):
    return [f"func.func @{name}({', '.join(f'{arg}: {TYPE} {attr}' for arg, attr in args)}) -> {TYPE} {{", *lines,
            f"  return {result} : {TYPE}", "}"]


def users(name, n, cut=False, back=False):
    lines = [f"  %r{i} = " + (f"arith.addf %x, %w : {TYPE}" if cut else f"math.tanh %x : {TYPE}") for i in range(n)]
    result = f"%r{n - 1}"
    if back:
        lines.append(f'  %c = spmd.with_sharding_constraint {result} <@mesh, [{{"x"}}, {{}}]> : {TYPE}')
        result = "%c"
    args = [("%x", "" if back else ROWS)] + [("%w", COLUMNS)] * cut
    return function(name, args, lines, result), n * (2 if cut else 1)


def chain(name, n):
    lines = [f"  %r{i + 1} = arith.addf %{f'r{i}' if i else 'x'}, %x : {TYPE}" for i in range(n)]
    return function(name, [("%x", ROWS)], lines, f"%r{n}"), 2 * n


def operands(name, n, edges, cut=False):
    """Every op reads the n values before it, where cuts differ the n arguments, so that no op finds them agreed."""
    args = [(f"%a{i}", COLUMNS if cut and i % 2 else ROWS) for i in range(n)]
    values = [arg for arg, _ in args]
    loops, kinds = "affine_map<(d0, d1) -> (d0, d1)>", '"parallel"'
    lines = [f"  %e = tensor.empty() : {TYPE}"]
    for i in range(edges // n):
        ins = values[:n] if cut else values[-n:]
        block = ", ".join([f"%i{k}: f32" for k in range(n)] + ["%o: f32"])
        lines += [f"  %r{i} = linalg.generic {{indexing_maps = [{', '.join([loops] * (n + 1))}], iterator_types = [{kinds}, {kinds}]}} "
                  f"ins({', '.join(ins)} : {', '.join([TYPE] * n)}) outs(%e : {TYPE}) {{", f"  ^bb0({block}):"]
        lines += [f"    %s{k} = arith.addf %{f's{k - 1}' if k > 1 else 'i0'}, %i{k} : f32" for k in range(1, n)]
        lines += [f"    linalg.yield %s{n - 1} : f32", f"  }} -> {TYPE}"]
        values.append(f"%r{i}")
    return function(name, args, lines, values[-1]), edges // n * n


def zigzag(name, n):
    """Link i joins value i and i + 1; links stand in the order 0, 2, 4, ..., 5, 3, 1. A fixpoint in sweeps takes about n
    of them, over a function of depth n."""
    lines = ["  %c = arith.constant 1.0 : f32", f"  %e = tensor.empty() : {TYPE}"]
    for i in range(n + 1):  # not a creation op, so that it takes part
        lines += [f"  %v{i} = linalg.generic {{indexing_maps = [affine_map<(d0, d1) -> ()>, affine_map<(d0, d1) -> (d0, d1)>], "
                  f'iterator_types = ["parallel", "parallel"]}} ins(%c : f32) outs(%e : {TYPE}) {{',
                  "  ^bb0(%i: f32, %o: f32):", "    linalg.yield %i : f32", f"  }} -> {TYPE}"]
    order = list(range(0, n, 2)) + list(reversed(range(1, n, 2)))
    lines += [f"  %l{i} = arith.addf %v{i}, %v{i + 1} : {TYPE}" for i in order]
    lines.append(f"  %r0 = arith.addf %x, %v0 : {TYPE}")
    lines += [f"  %r{i + 1} = math.tanh %r{i} : {TYPE}" for i in range(n)]
    return function(name, [("%x", ROWS)], lines, f"%r{n}"), 3 * n


def arguments(name, n, priorities=False):
    lines = [f"  %r{i} = math.tanh %a{i} : {TYPE}" for i in range(n)]
    args = [(f"%a{i}", ROWS.replace("?}, {", f"?}}p{i}, {{", 1) if priorities else ROWS) for i in range(n)]
    return function(name, args, lines, f"%r{n - 1}"), n


USERS = [32, 320, 3200, 32000]
OPERANDS = [2, 8, 64]
SHAPES = {"users": (users, USERS, {}),
          "users-back": (users, USERS, {"back": True}),
          "users-cut": (users, USERS, {"cut": True}),
          "chain": (chain, USERS, {}),
          "operands": (operands, OPERANDS, {"edges": 25600}),
          "operands-cut": (operands, OPERANDS, {"edges": 25600, "cut": True}),
          "zigzag": (zigzag, [32, 320, 3200], {}),
          "arguments": (arguments, [32, 320, 3200], {}),
          "priorities": (arguments, [32, 320, 3200], {"priorities": True})}


def write(shape, size, path):
    """Writes the module; returns its edges."""
    make, sizes, options = SHAPES[shape]
    copies = 1 if make is operands else max(sizes) // size
    total = 0
    with open(path, "w") as file:
        file.write('spmd.mesh @mesh = <["x"=4]>\n')
        for i in range(copies):
            lines, edges = make(f"f{i}", size, **options)
            total += edges
            file.write("\n".join(lines) + "\n")
    return total


def main():
    parser = get_parser(__doc__)
    parser.add_argument("--shapes", default=",".join(SHAPES), help="which of them")
    args = parser.parse_args()
    shapes = args.shapes.split(",")
    for shape in shapes:
        if shape not in SHAPES:
            sys.exit(f"error: no shape {shape}, expected one of {', '.join(SHAPES)}")
    rows = []
    for shape in shapes:
        sizes = SHAPES[shape][1]
        with tempfile.TemporaryDirectory() as folder:
            paths = [Path(folder) / f"{size}.mlir" for size in sizes]
            edges = [write(shape, size, path) for size, path in zip(sizes, paths)]
            results = measure(args, [(path, NO_VERIFIER) for path in paths])
        first = None
        for size, count, own in zip(sizes, edges, results):
            per_edge = [own[phase] / count * 1e6 for phase in PHASES]
            per_edge.append(sum(per_edge))
            first = first or per_edge
            rows.append([shape, f"{size:,}", f"{count:,}",
                         *(f"{value:,.0f} ({value / base:.2f})" for value, base in zip(per_edge, first))])
    unit = "instr." if args.instructions else "ns"
    print_table(["shape", "n", "edges in file", *(f"{name}, {unit}/edge (ratio)" for name in PHASES + ["total"])], rows)


if __name__ == "__main__":
    main()
