#!/usr/bin/env python3
"""Loading functions of casts and scales, against raw loads of the same bytes.

benchmarks/loader/functions.py [--weights=8] [--mib=16] [--ranks=1] [--repeats=9] [--dir=/var/tmp]

A set of weights of one stored type is loaded by functions that cast, scale or transpose it, and raw:
as integers, with as many bytes as stored ("stored bytes"), and with as many as the argument has
("argument bytes"), whose pages the system clears too. All run in turn, from the page cache. A ratio
is the least time of the raw load by that of the function; the last one is by processor time of the
whole processes.
"""
import argparse
import json
import os
import resource
import subprocess
import tempfile
from pathlib import Path

parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("--weights", type=int, default=8)
parser.add_argument("--mib", type=int, default=16)
parser.add_argument("--ranks", type=int, default=1)
parser.add_argument("--repeats", type=int, default=9)
parser.add_argument("--dir", default="/var/tmp")
args = parser.parse_args()
BIN = Path(__file__).resolve().parent.parent.parent / "build" / "bin"
COLUMNS = 4096
ROWS = args.mib * 2**20 // COLUMNS
BITS = {"f8E4M3FN": 8, "f8E5M2": 8, "f8E8M0FNU": 8, "i8": 8, "bf16": 16, "f16": 16, "i16": 16, "f32": 32, "i32": 32}
NAMES = {"f8E4M3FN": "F8_E4M3", "f8E5M2": "F8_E5M2", "f8E8M0FNU": "F8_E8M0", "bf16": "BF16", "f16": "F16"}


def tensor(shape, element):
    return f"tensor<{'x'.join(map(str, shape))}x{element}>"


def cast(value, stored, to):
    op = ("sitofp" if stored[0] == "i" else "extf") if BITS[stored] < BITS[to] or stored[0] == "i" else "truncf"
    t = lambda element: tensor((ROWS, COLUMNS), element)
    return f"  %0 = arith.{op} {value} : {t(stored)} to {t(to)}\n  return %0 : {t(to)}"


def blocks(stored, to):
    """As DeepSeek's weights: a scale for 128 x 128 elements."""
    out = tensor((ROWS, COLUMNS), to)
    return f"""  %e = tensor.empty() : {out}
  %d = linalg.generic {{indexing_maps = [affine_map<(a, b) -> (a, b)>, affine_map<(a, b) -> (a floordiv 128, b floordiv 128)>, affine_map<(a, b) -> (a, b)>], iterator_types = ["parallel", "parallel"]}} ins(%w, %s : {tensor((ROWS, COLUMNS), stored)}, {tensor((ROWS // 128, COLUMNS // 128), 'f32')}) outs(%e : {out}) {{
  ^bb0(%q: {stored}, %c: f32, %o: {to}):
    %f = arith.extf %q : {stored} to f32
    %m = arith.mulf %f, %c : f32
    %t = arith.truncf %m : f32 to {to}
    linalg.yield %t : {to}
  }} -> {out}
  return %d : {out}"""


def transposed(stored, to):
    out = tensor((COLUMNS, ROWS), to)
    return f"""  %e = tensor.empty() : {tensor((COLUMNS, ROWS), stored)}
  %t = linalg.transpose ins(%w : {tensor((ROWS, COLUMNS), stored)}) outs(%e : {tensor((COLUMNS, ROWS), stored)}) permutation = [1, 0]
  %0 = arith.extf %t : {tensor((COLUMNS, ROWS), stored)} to {out}
  return %0 : {out}"""


PAIRS = [("f8E4M3FN", "bf16"), ("f8E5M2", "bf16"), ("f8E4M3FN", "f32"), ("f8E8M0FNU", "f32"), ("i8", "bf16"), ("bf16", "f32"), ("f16", "f32"), ("f32", "bf16")]
CASES = {f"{s} to {t}": (s, t, (ROWS, COLUMNS), cast("%w", s, t), False) for s, t in PAIRS}
CASES["f8E4M3FN to bf16, scales of 128 x 128"] = ("f8E4M3FN", "bf16", (ROWS, COLUMNS), blocks("f8E4M3FN", "bf16"), True)
CASES["f8E4M3FN to bf16, transposed"] = ("f8E4M3FN", "bf16", (COLUMNS, ROWS), transposed("f8E4M3FN", "bf16"), False)


def write_module(file):
    file.write(f'spmd.mesh @m = <["x"={args.ranks}]>\n')
    sharding = 'spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>'
    for bits in (8, 16, 32):
        t = tensor((ROWS, COLUMNS), f"i{bits}")
        arguments = ", ".join(f'%w{i}: {t} {{spmd.weight = "i{bits}.{i}", {sharding}}}' for i in range(args.weights))
        file.write(f"func.func @raw_i{bits}({arguments}) -> {t} {{\n  return %w0 : {t}\n}}\n")
    for number, (stored, to, shape, body, scaled) in enumerate(CASES.values()):
        t = tensor(shape, to)
        scale = f", %s: {tensor((ROWS // 128, COLUMNS // 128), 'f32')}" if scaled else ""
        file.write(f"func.func private @load{number}(%w: {tensor((ROWS, COLUMNS), stored)}{scale}) -> {t} {{\n{body}\n}}\n")
        names = lambda i: f'["{stored}.{i}"' + (f', "scale.{i}"]' if scaled else "]")
        arguments = ", ".join(f"%w{i}: {t} {{spmd.weight = {names(i)}, spmd.load = @load{number}, {sharding}}}" for i in range(args.weights))
        file.write(f"func.func @case{number}({arguments}) -> {t} {{\n  return %w0 : {t}\n}}\n")


def write_weights(path):
    header, offset = {}, 0
    for element in [*NAMES, "i8", "i16", "i32", "f32", "scale"]:
        shape, kind = ([ROWS // 128, COLUMNS // 128], "f32") if element == "scale" else ([ROWS, COLUMNS], element)
        for i in range(args.weights):
            end = offset + shape[0] * shape[1] * BITS[kind] // 8
            header[f"{element}.{i}"] = {"dtype": NAMES.get(kind, kind.upper()), "shape": shape, "data_offsets": [offset, end]}
            offset = end
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(len(text).to_bytes(8, "little") + text)
        for _ in range(0, offset, 2**20):
            file.write(os.urandom(2**20))
        file.truncate(8 + len(text) + offset)


with tempfile.TemporaryDirectory(dir=args.dir) as work:
    with open(f"{work}/m.mlir", "w") as file:
        write_module(file)
    write_weights(f"{work}/w.safetensors")
    subprocess.run([BIN / "shard-compile", f"{work}/m.mlir", "-o", f"{work}/b"], check=True)
    times, processor = {}, {}
    spent = lambda: sum(resource.getrusage(resource.RUSAGE_CHILDREN)[:2])
    names = {f"raw_i{bits}": f"raw_i{bits}" for bits in (8, 16, 32)} | {f"case{i}": name for i, name in enumerate(CASES)}
    for _ in range(args.repeats):
        for function, name in names.items():
            command = [BIN / "shard-run", f"{work}/b", f"--function={function}", f"--weights={work}/w.safetensors", f"--report={work}/r.json"]
            before = spent()
            subprocess.run(command, check=True, capture_output=True)
            processor.setdefault(name, []).append(spent() - before)
            load = json.load(open(f"{work}/r.json"))["run"]["functions"][0]["load"]
            times.setdefault(name, []).append(load["seconds"])
    stored_bytes = args.weights * ROWS * COLUMNS
    print("| function | GB/s of stored bytes | : raw, stored bytes | : raw, argument bytes | by processor time |\n|---|---|---|---|---|")
    for name, (stored, to, *_) in CASES.items():
        least = min(times[name])
        raw = [min(times[f"raw_i{BITS[element]}"]) / least for element in (stored, to)]
        raw.append(min(processor[f"raw_i{BITS[to]}"]) / min(processor[name]))
        print(f"| {name} | {stored_bytes * BITS[stored] / 8 / least / 1e9:.2f} | " + " | ".join(f"{r:.2f}" for r in raw) + " |", flush=True)
