#!/usr/bin/env python3
"""Random programs with ops of another dialect, which have a written rule, uneven dims, and attributes that hold sizes.

  random_foreign.py --shard-opt PATH --shard-run PATH --seed 1 --count 40 --directory DIR

The ops of a program are partitioned as they are. Then they get a meaning, in the sharded program and in the unsharded
one: what an op computes depends on the sizes of its own types, and on those in its attributes. So a size that no longer
fits the types gives other numbers. Both programs run, and their results are compared element by element.
"""
import argparse
import math
import pathlib
import random
import re
import subprocess
import sys

import numpy as np

MESHES = {"a": [("x", 2), ("y", 3)], "b": [("x", 4)], "c": [("x", 2), ("y", 2), ("z", 2)]}
OP = re.compile(r'^(\s*)(%\S+) = "(?:my|padded)\.(\w+)"\(([^)]*)\) \{(.*)\} : \(([^)]*)\) -> (tensor<[^>]*>)')
PLAIN = re.compile(r'^(\s*)(%\S+) = "(?:my|padded)\.(\w+)"\(([^)]*)\)() : \(([^)]*)\) -> (tensor<[^>]*>)')


def shape_of(text):
    return [int(n) for n in re.findall(r"(\d+)x", text)]


def type_of(shape):
    return "tensor<" + "".join(f"{n}x" for n in shape) + "i32>"


class Program:
    def __init__(self, rng, count, padded):
        self.kinds = ["keep", "sized", "sized", "turned", "summed", "add", "constrain"] + ["padded"] * 4 * padded
        self.rng, self.args, self.lines, self.values, self.next = rng, [], [], [], 0
        self.mesh = rng.choice(list(MESHES))
        self.results = []
        for _ in range(count):
            self.values = []
            for _ in range(rng.randrange(1, 3)):
                self.argument([rng.choice([2, 3, 4, 5, 6, 7, 8, 9, 12]) for _ in range(rng.randrange(1, 4))])
            for _ in range(rng.randrange(2, 7)):
                self.step()
            self.results.append(self.values[-1])

    def sharding(self, shape):
        """Full axes, whether they divide the dims or not."""
        dims = [[] for _ in shape]
        for axis, size in MESHES[self.mesh]:
            fitting = [d for d, n in enumerate(shape) if n >= size]
            if fitting and self.rng.random() < 0.75:
                dims[self.rng.choice(fitting)].append(f'"{axis}"')
        return f"<@{self.mesh}, [" + ", ".join("{" + ", ".join(d + ["?"] * (self.rng.random() < 0.5)) + "}" for d in dims) + "]>"

    def let(self, text, shape):
        self.next += 1
        self.lines.append(f"  %v{self.next} = {text}")
        self.values.append((f"%v{self.next}", tuple(shape)))

    def argument(self, shape):
        name = f"%arg{len(self.args)}"
        self.args.append(f'{name}: {type_of(shape)} {{'
                         f"spmd.sharding = #spmd.sharding{self.sharding(shape)}}}")
        self.values.append((name, tuple(shape)))

    def attribute(self, size, rank):
        """Some form of a size. A list of numbers below the rank is one of dims, not of sizes."""
        if size < rank:
            return self.rng.choice([f"{size} : i64", f"{size} : i32", f"tensor<{size}xf32>"])
        return self.rng.choice([f"{size} : i64", f"{size} : i32", f"{size} : index", f"array<i64: {size}>", f"array<i32: {size}>",
                                f"[{size}]", f"dense<[{size}]> : tensor<1xi64>", f"tensor<{size}xf32>",
                                f"{{inner = [{size} : i32]}}"])

    def step(self):
        rng = self.rng
        name, shape = rng.choice(self.values[-3:])
        t, letters = type_of(shape), "ijk"[:len(shape)]
        sizes = ", ".join(f"{l}={n}" for l, n in zip(letters, shape))
        dims = ", ".join(letters)
        kind = rng.choice(self.kinds)
        if kind == "padded":
            kind = rng.choice(["keep", "turned"])
            out = shape if kind == "keep" else shape[::-1]
            return self.let(f'"padded.{kind}"({name}) : ({t}) -> {type_of(out)}', out)
        if kind == "add":
            other = rng.choice([v for v in self.values if v[1] == shape])
            return self.let(f"arith.addi {name}, {other[0]} : {t}", shape)
        if kind == "constrain":
            return self.let(f"spmd.with_sharding_constraint {name} {self.sharding(shape)} : {t}", shape)
        attributes, out, out_dims, reduced = [], list(shape), dims, ""
        if kind in ("sized", "turned", "summed") and rng.random() < 0.8:
            # Of some dims; the op knows which.
            chosen = sorted(rng.sample(range(len(shape)), rng.randrange(1, len(shape) + 1)))
            attributes.append(f"size = {self.attribute(math.prod(shape[d] for d in chosen), len(shape))}")
            attributes.append("of = \"" + " ".join(map(str, chosen)) + "\"")
        if kind == "turned":
            out, out_dims = out[::-1], ", ".join(reversed(letters))
        if kind == "summed":
            if len(shape) == 1:
                return
            out, out_dims = out[:-1], ", ".join(letters[:-1])
            reduced = f", reduction(sum) = {{{letters[-1]}}}"
        rule = f"#spmd.rule<([{dims}]) -> ([{out_dims}]) {{{sizes}}}{reduced}>"
        text = ", ".join([f"spmd.sharding_rule = {rule}"] + attributes)
        self.let(f'"my.{kind}"({name}) {{{text}}} : ({t}) -> {type_of(out)}', out)

    def text(self):
        meshes = "\n".join(f"spmd.mesh @{name} = <[" + ", ".join(f'"{a}"={n}' for a, n in axes) + "]>" for name, axes in MESHES.items())
        types = ", ".join(type_of(shape) for _, shape in self.results)
        return (f"{meshes}\nfunc.func @f({', '.join(self.args)}) -> ({types}) {{\n" + "\n".join(self.lines) +
                f"\n  return {', '.join(name for name, _ in self.results)} : {types}\n}}\n")


def give_meaning(text):
    """Arithmetic in place of each op, with the sizes that its types have here."""
    lines, count = [], 0
    for line in text.splitlines():
        match = OP.match(line) or PLAIN.match(line)
        if not match:
            assert not re.search(r'"(my|padded)\.', line), line
            lines.append(line)
            continue
        indent, result, kind, operand, attributes, source, target = match.groups()
        count += 1
        shape, number = shape_of(source), 1
        if size := re.search(r"\bsize = (?!.*spmd\.rule)[^%]*?(\d+)(?= : (?:i64|i32|index)|>|\]|x)", attributes):
            dims = [int(d) for d in re.search(r'of = "([^"]*)"', attributes)[1].split()]
            number = int(size[1]) - math.prod(shape[d] for d in dims) + 1
        name = f"%meaning{count}"
        lines.append(f"{indent}{name}_c = arith.constant dense<{number * 3}> : {source}")
        lines.append(f"{indent}{name}_s = arith.muli {operand}, {name}_c : {source}")
        if kind == "turned":
            lines.append(f"{indent}{name}_e = tensor.empty() : {target}")
            lines.append(f"{indent}{result} = linalg.transpose ins({name}_s : {source}) outs({name}_e : {target}) "
                         f"permutation = {list(range(len(shape)))[::-1]}")
        elif kind == "summed":
            lines.append(f"{indent}{name}_z = arith.constant dense<0> : {target}")
            lines.append(f"{indent}{result} = linalg.reduce {{ arith.addi }} ins({name}_s : {source}) "
                         f"outs({name}_z : {target}) dimensions = [{len(shape) - 1}]")
        else:
            lines.append(f"{indent}{result} = arith.addi {name}_s, {operand} : {source}")
    return "\n".join(lines) + "\n", count


def run(*command):
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stderr}")
    return done.stdout


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shard-opt")
    parser.add_argument("--shard-run", default="shard-run")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=40, help="results of the function, each of a program of its own")
    parser.add_argument("--padded", action="store_true", help="with ops of shard-test-opt, whose rules permit padding")
    parser.add_argument("--directory", type=pathlib.Path, required=True)
    args = parser.parse_args()
    opt = args.shard_opt or ("shard-test-opt" if args.padded else "shard-opt")
    program = Program(random.Random(args.seed), args.count, args.padded)
    at = args.directory
    at.mkdir(parents=True, exist_ok=True)
    (at / "program.mlir").write_text(program.text())
    run(opt, at / "program.mlir", "--allow-unregistered-dialect", "--spmd-default-pipeline", "-o", at / "local.mlir")
    run(opt, at / "program.mlir", "--allow-unregistered-dialect", "--spmd-strip", "-o", at / "global.mlir")
    outputs, local_ops = [], 0
    for name in ("local", "global"):
        text = (at / f"{name}.mlir").read_text()
        replaced, count = give_meaning(text)
        if name == "local":
            local_ops = count
        (at / f"{name}-run.mlir").write_text(replaced)
        run(args.shard_run, at / f"{name}-run.mlir", f"--random-inputs={args.seed}", f"--output-dir={at / name}",
            "--compile-option=--opt-level=0", *[f"--range=arg{i}=-9:9" for i in range(len(program.args))])
        outputs.append(at / name)
    wrong = []
    for i in range(args.count):
        local, whole = (np.load(output / f"result{i}.npy") for output in outputs)
        if local.shape != whole.shape or not np.array_equal(local, whole):
            wrong.append(f"result{i}")
    print(f"{args.count} programs, {local_ops} ops: " + (f"wrong: {', '.join(wrong)}" if wrong else "all equal"))
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
