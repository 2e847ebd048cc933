#!/usr/bin/env python3
"""Step time of a transformer block whose batch and length only the run knows, by that of the block compiled for the sizes.

    benchmarks/sizes.py [--build build] [--heads 4] [--width 256] [--rounds 5]

Both run in turn, in one session each, on a mesh of 2 x 2: batch or length sharded by one axis, heads and features by the other.
Prints the ratio of the medians at each pair of sizes, and whether the results are equal.
"""

from __future__ import annotations

import argparse
import os
import statistics
import tempfile
import time
from pathlib import Path

import numpy as np

PAIRS = [(b, s) for b in (1, 2, 3, 5, 8) for s in (1, 2, 7, 16, 33, 64, 100, 128)]


def write_block(b: int | None, s: int | None, heads: int, width: int, layout: str) -> str:
    """The block; without sizes they are those of the run."""
    head = width // heads
    db, ds = ("?" if n is None else str(n) for n in (b, s))
    symbols = ', spmd.symbols = ["b", "s", ""]' if b is None else ""
    bounds = " attributes {spmd.bounds = {b = [0, 64], s = [0, 256]}}" if b is None else ""
    t = lambda *dims: f"tensor<{'x'.join(map(str, dims))}xf32>"  # noqa: E731
    x, h4, sc = t(db, ds, width), t(db, ds, heads, head), t(db, heads, ds, ds)
    up = t(db, ds, 4 * width)
    batch, length = ('{"x"}', "{}") if layout == "batch" else ("{}", '{"x"}')
    lines: list[str] = []

    def sizes(*dims: str) -> str:
        return ", ".join("%b" if d == "b" else "%s" for d, n in zip(dims, [b if d == "b" else s for d in dims]) if n is None)

    count = 0

    def name() -> str:
        nonlocal count
        count += 1
        return f"%v{count}"

    def filled(type: str, dims: str, constant: str = "%zero") -> str:
        e, f = name(), name()
        lines.append(f"  {e} = tensor.empty({sizes(*dims)}) : {type}")
        lines.append(f"  {f} = linalg.fill ins({constant} : f32) outs({e} : {type}) -> {type}")
        return f

    def contract(a: str, ta: str, b_: str, tb: str, maps: str, tc: str, dims: str) -> str:
        out = filled(tc, dims)
        r = name()
        lines.append(f"  {r} = linalg.contract indexing_maps = [{maps}] ins({a}, {b_} : {ta}, {tb}) outs({out} : {tc}) -> {tc}")
        return r

    def project(a: str, w: str, n: int) -> str:
        maps = ", ".join(f"affine_map<(b, s, n, k) -> ({m})>" for m in ("b, s, k", "k, n", "b, s, n"))
        return contract(a, up if n < 0 else x, w, t(4 * width, width) if n < 0 else t(width, n), maps, x if n < 0 else t(db, ds, n), "bs")

    def split(a: str) -> str:
        r = name()
        shape = ", ".join("%b" if d == "b" and b is None else "%s" if d == "s" and s is None else str(v) for d, v in (("b", b), ("s", s), ("", heads), ("", head)))
        lines.append(f"  {r} = tensor.expand_shape {a} [[0], [1], [2, 3]] output_shape [{shape}] : {x} into {h4}")
        return r

    q, k, v = (split(project("%x", w, width)) for w in ("%wq", "%wk", "%wv"))
    maps = ", ".join(f"affine_map<(b, h, m, n, d) -> ({m})>" for m in ("b, m, h, d", "b, n, h, d", "b, h, m, n"))
    scores = contract(q, h4, k, h4, maps, sc, "bss")
    e, p = name(), name()
    lines.append(f"  {e} = tensor.empty({sizes('b', 's', 's')}) : {sc}")
    lines.append(f"  {p} = linalg.softmax dimension(3) ins({scores} : {sc}) outs({e} : {sc}) -> {sc}")
    maps = ", ".join(f"affine_map<(b, m, h, d, n) -> ({m})>" for m in ("b, h, m, n", "b, n, h, d", "b, m, h, d"))
    mixed = contract(p, sc, v, h4, maps, h4, "bs")
    j, a = name(), name()
    lines.append(f"  {j} = tensor.collapse_shape {mixed} [[0], [1], [2, 3]] : {h4} into {x}")
    lines.append(f"  {a} = arith.addf {project(j, '%wo', width)}, %x : {x}")
    u = project(a, "%w1", 4 * width)
    g = name()
    lines.append(f"  {g} = math.tanh {u} : {up}")
    y = name()
    lines.append(f"  {y} = arith.addf {project(g, '%w2', -1)}, {a} : {x}")
    weights = ", ".join(
        f'%{n}: {t(*shape)} {{spmd.weight = "{n}", spmd.sharding = #spmd.sharding<@m, [{axes}]>}}'
        for n, shape, axes in [(f"w{c}", (width, width), '{}, {"y"}') for c in "qkv"]
        + [("wo", (width, width), '{"y"}, {}'), ("w1", (width, 4 * width), '{}, {"y"}'), ("w2", (4 * width, width), '{"y"}, {}')]
    )
    body = "\n".join(lines)
    return f"""spmd.mesh @m = <["x"=2, "y"=2]>
func.func @main(%x: {x} {{spmd.name = "x"{symbols}, spmd.sharding = #spmd.sharding<@m, [{batch}, {length}, {{}}]>}}, {weights}) -> ({x} {{spmd.name = "y"}}){bounds} {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %b = tensor.dim %x, %c0 : {x}
  %s = tensor.dim %x, %c1 : {x}
{body}
  return {y} : {x}
}}
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build")
    parser.add_argument("--heads", type=int, default=4)
    parser.add_argument("--width", type=int, default=256)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--library-threads", type=int, default=1)
    args = parser.parse_args()
    os.environ.setdefault("SHARDKIT_HOME", str(Path(args.build).resolve()))
    os.environ.setdefault("SHARDKIT_CACHE", "off")
    import shardkit
    from shardkit.compiler import compile_bundle

    rng = np.random.default_rng(1)
    w = args.width
    shapes = {**{f"w{c}": (w, w) for c in "qkvo"}, "w1": (w, 4 * w), "w2": (4 * w, w)}
    weights = {n: (rng.standard_normal(shape) / shape[0] ** 0.5).astype(np.float32) for n, shape in shapes.items()}
    with tempfile.TemporaryDirectory() as directory:

        def open_session(text: str, name: str) -> shardkit.Session:
            folder = Path(directory) / name
            folder.mkdir()
            compile_bundle(text, {}, [], folder)
            session = shardkit.Session(folder / "bundle", library_threads=args.library_threads)
            for n, value in weights.items():
                session.assign(n, value)
            return session

        for layout in ("batch", "length"):
            general = open_session(write_block(None, None, args.heads, w, layout), layout)
            for b, s in PAIRS:
                fixed = open_session(write_block(b, s, args.heads, w, layout), f"{layout}-{b}-{s}")
                x = rng.standard_normal((b, s, w)).astype(np.float32)
                times: dict[str, list[float]] = {"general": [], "fixed": []}
                functions = {"general": general["main"].at(b=b, s=s), "fixed": fixed["main"]}
                arrays = {n: f.put("x", x) for n, f in functions.items()}
                results = {n: f(arrays[n])[0].numpy().copy() for n, f in functions.items()}
                steps = max(3, 2000 // (b * s))
                for _ in range(args.rounds):
                    for n, f in functions.items():
                        start = time.perf_counter()
                        for _ in range(steps):
                            f(arrays[n])
                        times[n].append((time.perf_counter() - start) / steps)
                ratio = statistics.median(times["general"]) / statistics.median(times["fixed"])
                difference = np.abs(results["general"] - results["fixed"]).max()
                print(f"{layout:6} sharded, {b:3} x {s:3}: {ratio:.2f} of {1e6 * statistics.median(times['fixed']):.0f} us, largest difference {difference:.1e}", flush=True)


if __name__ == "__main__":
    main()
