"""Writes a module of random loading functions, each with an argument cut at random.

gen_loading.py --seed S --count N -o FILE. What moves and what computes is mixed; all
elements are integers or handed on as they are, so that runs compare bit by bit.
"""
import argparse
import math
import random

MESHES = [[2], [3], [4], [8], [2, 2], [2, 3], [4, 2], [6]]
AXES = "xyz"


def type_of(shape, element):
    return f"tensor<{''.join(f'{n}x' for n in shape)}{element}>"


def list_of(values):
    return "[" + ", ".join(str(v) for v in values) + "]"


class Function:
    def __init__(self, rng, name):
        self.rng, self.name = rng, name
        self.element = rng.choice(["f32", "i32", "bf16", "i8", "f64"])
        self.stored, self.lines, self.count = [], [], 0

    def new(self, line):
        value = f"%{self.count}"
        self.count += 1
        self.lines.append(f"  {value} = {line}")
        return value

    def leaf(self, shape):
        name = f"%a{len(self.stored)}"
        self.stored.append(shape)
        return name, list(shape)

    def empty(self, shape):
        return self.new(f"tensor.empty() : {type_of(shape, self.element)}")

    def grow(self, value, shape):
        """One more op."""
        rng, element = self.rng, self.element
        t = lambda s: type_of(s, element)
        kind = rng.choice(["concat", "slice", "transpose", "reshape", "reshape", "insert", "broadcast", "compute", "interleave"])
        rank = len(shape)
        if kind == "concat":
            d = rng.randrange(rank)
            parts = [(value, shape)]
            for _ in range(rng.randint(1, 2)):
                other = list(shape)
                other[d] = rng.randint(1, 5)
                parts.insert(rng.randint(0, len(parts)), self.leaf(other))
            result = list(shape)
            result[d] = sum(s[d] for _, s in parts)
            line = f"tensor.concat dim({d}) {', '.join(v for v, _ in parts)} : ({', '.join(t(s) for _, s in parts)}) -> {t(result)}"
            return self.new(line), result
        if kind == "slice":
            offsets, sizes, steps = [], [], []
            for n in shape:
                step = rng.choice([1, 1, 1, 2])
                offset = rng.choice([0, 0, rng.randrange(n)])
                offsets.append(offset)
                steps.append(step)
                sizes.append(max(1, rng.choice([(n - offset + step - 1) // step, rng.randint(1, (n - offset + step - 1) // step)])))
            line = f"tensor.extract_slice {value}{list_of(offsets)} {list_of(sizes)} {list_of(steps)} : {t(shape)} to {t(sizes)}"
            return self.new(line), sizes
        if kind == "transpose" and rank > 1:
            order = list(range(rank))
            rng.shuffle(order)
            result = [shape[d] for d in order]
            e = self.empty(result)
            return self.new(f"linalg.transpose ins({value} : {t(shape)}) outs({e} : {t(result)}) permutation = {list_of(order)}"), result
        if kind == "reshape":
            if rank > 1 and rng.random() < 0.5:
                d = rng.randrange(rank - 1)
                groups = [[i] for i in range(d)] + [[d, d + 1]] + [[i] for i in range(d + 2, rank)]
                result = shape[:d] + [shape[d] * shape[d + 1]] + shape[d + 2:]
                return self.new(f"tensor.collapse_shape {value} {groups} : {t(shape)} into {t(result)}"), result
            d = rng.randrange(rank)
            factors = [f for f in range(1, shape[d] + 1) if shape[d] % f == 0]
            f = rng.choice(factors)
            groups = [[i] for i in range(d)] + [[d, d + 1]] + [[i + 1] for i in range(d + 1, rank)]
            result = shape[:d] + [f, shape[d] // f] + shape[d + 1:]
            return self.new(f"tensor.expand_shape {value} {groups} output_shape {list_of(result)} : {t(shape)} into {t(result)}"), result
        if kind == "insert":
            sizes = [rng.randint(1, n) for n in shape]
            offsets = [rng.randint(0, n - s) for n, s in zip(shape, sizes)]
            part, _ = self.leaf(sizes)
            return self.new(f"tensor.insert_slice {part} into {value}{list_of(offsets)} {list_of(sizes)} {list_of([1] * rank)} : {t(sizes)} into {t(shape)}"), shape
        if kind == "interleave":
            d = rng.randrange(rank)
            result = list(shape)
            result[d] *= 2
            other, _ = self.leaf(shape)
            steps = [2 if i == d else 1 for i in range(rank)]
            e = self.empty(result)
            for k, part in enumerate([value, other]):
                at = [k if i == d else 0 for i in range(rank)]
                e = self.new(f"tensor.insert_slice {part} into {e}{list_of(at)} {list_of(shape)} {list_of(steps)} : {t(shape)} into {t(result)}")
            return e, result
        if kind == "broadcast" and rank < 4 and math.prod(shape) < 200:
            d = rng.randint(0, rank)
            result = shape[:d] + [rng.randint(1, 3)] + shape[d:]
            e = self.empty(result)
            return self.new(f"linalg.broadcast ins({value} : {t(shape)}) outs({e} : {t(result)}) dimensions = [{d}]"), result
        if kind == "compute" and rng.random() < 0.5:
            if element in ("i32", "i8"):
                other, _ = self.leaf(shape)
                return self.new(f"arith.{rng.choice(['addi', 'muli', 'xori'])} {value}, {other} : {t(shape)}"), shape
            if rng.random() < 0.5:
                return self.new(f"arith.negf {value} : {t(shape)}"), shape
            c = self.new(f"arith.constant 2.5 : {element}")
            high = [rng.randint(0, 2) for _ in shape]
            result = [n + h for n, h in zip(shape, high)]
            low = list_of([0] * rank)
            indices = ", ".join(f"%i{i}: index" for i in range(rank))
            return self.new(f"tensor.pad {value} low{low} high{list_of(high)} {{\n  ^bb0({indices}):\n    tensor.yield {c} : {element}\n  }} : {t(shape)} to {t(result)}"), result
        return value, shape

    def sharding(self, shape, sizes):
        """The dims of a sharding on a mesh of axes of these sizes."""
        rng = self.rng
        dims = [[] for _ in shape]
        rest = list(shape)
        axes = list(range(len(sizes)))
        rng.shuffle(axes)
        uneven = set()
        for axis in axes:
            d = rng.randrange(len(shape))
            if rng.random() < 0.15 or d in uneven:
                continue
            size = sizes[axis]
            if rest[d] % size == 0 and rest[d] > 0:
                gaps = [g for g in range(2, rest[d] // size + 1) if rest[d] % (g * size) == 0]
                if gaps and rng.random() < 0.25:
                    gap = rng.choice(gaps)
                    dims[d].append(str(gap))
                    rest[d] //= gap
                dims[d].append(f'"{AXES[axis]}"')
                rest[d] //= size
            elif not dims[d]:
                dims[d].append(f'"{AXES[axis]}"')
                uneven.add(d)
        return "[" + ", ".join("{" + ", ".join(dim) + "}" for dim in dims) + "]"

    def text(self, mesh, sizes):
        rng = self.rng
        value, shape = self.leaf([rng.randint(1, 8) for _ in range(rng.randint(1, 3))])
        for _ in range(rng.randint(1, 5)):
            if math.prod(shape) > 600 or len(shape) > 4:
                break
            value, shape = self.grow(value, shape)
        t = type_of(shape, self.element)
        arguments = ", ".join(f"%a{i}: {type_of(s, self.element)}" for i, s in enumerate(self.stored))
        names = ", ".join(f'"{self.name}.{i}"' for i in range(len(self.stored)))
        body = "\n".join(self.lines)
        sharding = f"#spmd.sharding<@{mesh}, {self.sharding(shape, sizes)}>"
        return f"""func.func private @load_{self.name}({arguments}) -> {t} {{
{body}
  return {value} : {t}
}}
func.func @{self.name}(%w: {t} {{spmd.weight = [{names}], spmd.load = @load_{self.name}, spmd.sharding = {sharding}}}) -> {t} {{
  return %w : {t}
}}
"""


parser = argparse.ArgumentParser()
parser.add_argument("--seed", type=int, default=0)
parser.add_argument("--count", type=int, default=20)
parser.add_argument("-o", default="/dev/stdout")
options = parser.parse_args()
rng = random.Random(options.seed)
text = ""
for i, sizes in enumerate(MESHES):
    axes = ", ".join(f'"{AXES[a]}"={n}' for a, n in enumerate(sizes))
    text += f"spmd.mesh @m{i} = <[{axes}]>\n"
for i in range(options.count):
    mesh = rng.randrange(len(MESHES))
    text += Function(rng, f"f{i}").text(f"m{mesh}", MESHES[mesh])
with open(options.o, "w") as file:
    file.write(text)
