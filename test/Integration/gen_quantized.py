#!/usr/bin/env python3
"""Random products with weights of 4 or 8 bits that the program widens: words along either dim, groups with a scale, either order in
memory, one to six rows, some types, some shardings of words. Others have weights of 16 bits and perhaps a batch.

    gen_quantized.py --seed 1 --count 20 --devices 2 > q.mlir; shard-run q.mlir --random-inputs=1 --verify"""

import argparse
import math
import random


def join(sizes, element):
    return f"tensor<{''.join(f'{s}x' for s in sizes)}{element}>"


def make(rng, number, devices):
    """Dims of the wide weight: groups g, words i, numbers of a word j, of which g * i * j are inputs, and results n."""
    bits = rng.choice((4, 4, 8))
    is_packed = rng.random() < 0.8
    per_word = 32 // bits if is_packed else 1
    along_n = is_packed and rng.random() < 0.4  # words are along results
    g, i = rng.choice((1, 2, 3, 4)), rng.choice((2, 4, 8))
    n, rows = rng.choice((8, 12, 17, 24, 64, 264)), rng.choice((1, 1, 2, 4, 6))
    dims = {"g": g, "i": i, "j": per_word, "n": n}
    inputs, outputs = (("g", "i"), ("n", "j")) if along_n else (("g", "i", "j"), ("n",))
    order = inputs + outputs if rng.random() < 0.5 else outputs + inputs
    groups = (inputs, outputs) if order[0] == "g" else (outputs, inputs)
    payload = [d for d in order if d != "j"]
    word, scale, element = "i32" if is_packed else "i8", rng.choice(("f16", "f32")), rng.choice(("f32", "f32", "bf16", "f16"))
    result = rng.choice((element, "f32"))
    scaled = [d for d in order if d not in ("i", "j")] if not along_n else [d for d in order if d not in ("i",)]
    stored = [[d for d in group if d != "j"] for group in groups]  # as arguments have them: two dims
    shape = [math.prod(dims[d] for d in parts) for parts in stored]
    shared = rng.choice((0, 1, None)) if devices > 1 else None
    spec = ", ".join('{"x"}' if dim == shared else "{?}" for dim in range(2))
    sharding = "" if shared is None else f", spmd.sharding = #spmd.sharding<@m, [{spec}]>"
    names = ", ".join(order)
    k, width = g * i * (1 if along_n else per_word), n * (per_word if along_n else 1)
    wide, flat = [dims[d] for d in order], [k, width] if groups[0] == inputs else [width, k]
    at = 0
    reassociation = []
    for group in groups:
        reassociation.append([*range(at, at + len(group))])
        at += len(group)
    at, words = 0, []
    for parts in stored:
        words.append([*range(at, at + len(parts))])
        at += len(parts)
    expanded = [dims[d] for d in payload]
    split = f"%split = tensor.expand_shape %w {words} output_shape {expanded} : {join(shape, word)} into {join(expanded, word)}" if len(expanded) > 2 else f"%split = tensor.cast %w : {join(shape, word)} to {join(expanded, word)}"
    body = []
    if is_packed:
        body = [
            f"%at = linalg.index {order.index('j')} : index", "%position = arith.index_cast %at : index to i32", f"%step = arith.constant {bits} : i32",
            f"%mask = arith.constant {2**bits - 1} : i32", "%shift = arith.muli %position, %step : i32", "%moved = arith.shrui %q, %shift : i32",
            "%number = arith.andi %moved, %mask : i32", "%float = arith.sitofp %number : i32 to f32",
        ]  # fmt: skip
    else:
        body = ["%float = arith.sitofp %q : i8 to f32"]
    body += ["%factor = arith.extf %s : f16 to f32"] if scale == "f16" else []
    body += [f"%product = arith.mulf %float, {'%factor' if scale == 'f16' else '%s'} : f32"]
    body += [f"%rounded = arith.truncf %product : f32 to {element}"] if element != "f32" else []
    last = "%rounded" if element != "f32" else "%product"
    map_of = lambda of: f"affine_map<({names}) -> ({', '.join(of)})>"
    weight = "(k, n)" if groups[0] == inputs else "(n, k)"
    x, y = join((rows, k), element), join((rows, width), result)
    lines = "\n    ".join(body)
    return f"""func.func @f{number}(%x: {x} {{spmd.name = "x{number}"}}, %w: {join(shape, word)} {{spmd.weight = "w{number}"{sharding}}},
    %scales: {join([dims[d] for d in scaled], scale)} {{spmd.weight = "s{number}"}}) -> ({y} {{spmd.name = "y{number}"}}) {{
  {split}
  %e = tensor.empty() : {join(wide, element)}
  %wide = linalg.generic {{indexing_maps = [{map_of(payload)}, {map_of(scaled)}, {map_of(order)}], iterator_types = [{', '.join(['"parallel"'] * 4)}]}}
      ins(%split, %scales : {join(expanded, word)}, {join([dims[d] for d in scaled], scale)}) outs(%e : {join(wide, element)}) {{
  ^bb0(%q: {word}, %s: {scale}, %o: {element}):
    {lines}
    linalg.yield {last} : {element}
  }} -> {join(wide, element)}
  %flat = tensor.collapse_shape %wide {reassociation} : {join(wide, element)} into {join(flat, element)}
  %zero = arith.constant 0.0 : {result}
  %empty = tensor.empty() : {y}
  %start = linalg.fill ins(%zero : {result}) outs(%empty : {y}) -> {y}
  %y = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> {weight}>, affine_map<(m, n, k) -> (m, n)>]
      ins(%x, %flat : {x}, {join(flat, element)}) outs(%start : {y}) -> {y}
  return %y : {y}
}}
"""


def make_plain(rng, number, devices):
    """A product of few rows with a weight of 16 bits, perhaps in a batch, dims in any order."""
    sizes = {"b": rng.choice((1, 1, 2, 3)), "m": rng.choice((1, 1, 2, 3, 5)), "n": rng.choice((64, 72, 130)), "k": rng.choice((64, 72, 130))}
    element = rng.choice(("bf16", "f16"))
    result = rng.choice((element, "f32"))
    orders = [rng.sample(dims, 3) for dims in ("bmk", "bnk", "bmn")]
    types = [join([sizes[d] for d in order], t) for order, t in zip(orders, (element, element, result))]
    maps = ", ".join(f"affine_map<(b, m, n, k) -> ({', '.join(order)})>" for order in orders)
    spec = ["{?}"] * 3
    if devices > 1 and rng.random() < 0.7:
        spec[rng.randrange(3)] = '{"x"}'
    sharding = f", spmd.sharding = #spmd.sharding<@m, [{', '.join(spec)}]>" if devices > 1 else ""
    return f"""func.func @f{number}(%x: {types[0]} {{spmd.name = "x{number}"}}, %w: {types[1]} {{spmd.weight = "w{number}"{sharding}}}) -> ({types[2]} {{spmd.name = "y{number}"}}) {{
  %zero = arith.constant 0.0 : {result}
  %empty = tensor.empty() : {types[2]}
  %start = linalg.fill ins(%zero : {result}) outs(%empty : {types[2]}) -> {types[2]}
  %y = linalg.contract indexing_maps = [{maps}] ins(%x, %w : {types[0]}, {types[1]}) outs(%start : {types[2]}) -> {types[2]}
  return %y : {types[2]}
}}
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=20)
    parser.add_argument("--devices", type=int, default=2)
    options = parser.parse_args()
    rng = random.Random(options.seed)
    print(f'spmd.mesh @m = <["x"={options.devices}]>')
    for number in range(options.count):
        print((make_plain if rng.random() < 0.25 else make)(rng, number, options.devices))


if __name__ == "__main__":
    main()
