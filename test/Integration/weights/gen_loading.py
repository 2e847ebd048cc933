"""Writes a module of random loading functions, each with an argument of random sharding.

gen_loading.py --seed S --count N -o FILE [--owned FILE] [--weights FILE]. What moves, casts, scales
and computes is mixed; runs compare bit by bit. For each value the generator keeps, per element, the
stored elements that it depends on. --owned writes, as JSON, the stored elements that each rank of
each function needs (check_loading.py), --weights the stored tensors as safetensors.
"""
import argparse
import json
import math
import random

import numpy as np

MESHES = [[1], [2], [3], [4], [5], [7], [8], [2, 2], [2, 3], [4, 2], [6]]
AXES = "xyz"
BYTES = {"f64": 8, "f32": 4, "i32": 4, "bf16": 2, "f16": 2, "i8": 1, "f8E4M3FN": 1, "f8E5M2": 1}
NAMES = {"f64": "F64", "f32": "F32", "i32": "I32", "bf16": "BF16", "f16": "F16", "i8": "I8", "f8E4M3FN": "F8_E4M3", "f8E5M2": "F8_E5M2"}
# Conversions that are exact or round; none depends on a range.
CASTS = {
    "f8E4M3FN": ["f32", "bf16", "f16"],
    "f8E5M2": ["f32", "bf16", "f16"],
    "bf16": ["f32", "f64"],
    "f16": ["f32", "f64"],
    "f32": ["bf16", "f16", "f64"],
    "f64": ["f32"],
    "i8": ["i32", "f32"],
    "i32": ["f32", "f64", "i8"],
}


def type_of(shape, element):
    return f"tensor<{''.join(f'{n}x' for n in shape)}{element}>"


def list_of(values):
    return "[" + ", ".join(str(v) for v in values) + "]"


def union(a, b):
    return np.frompyfunc(lambda x, y: x | y, 2, 1)(a, b)


class Function:
    def __init__(self, rng, name):
        self.rng, self.name = rng, name
        self.element = rng.choice(["f32", "f32", "i32", "bf16", "i8", "f64", "f8E4M3FN", "f8E4M3FN", "f8E5M2"])
        self.stored, self.lines, self.count = [], [], 0

    def new(self, line):
        value = f"%{self.count}"
        self.count += 1
        self.lines.append(f"  {value} = {line}")
        return value

    def leaf(self, shape, element=None):
        """A stored tensor, and the stored elements of its elements."""
        number = len(self.stored)
        self.stored.append((list(shape), element or self.element))
        needs = np.empty(shape, object)
        for i, index in enumerate(np.ndindex(*shape)):
            needs[index] = frozenset([(number, i)])
        return f"%a{number}", needs

    def empty(self, shape):
        return self.new(f"tensor.empty() : {type_of(shape, self.element)}")

    def is_float(self):
        return self.element[0] in "bf" and self.element != "f8E4M3FN"

    def grow(self, value, needs):
        """One more op."""
        rng, element = self.rng, self.element
        shape = list(needs.shape)
        t = lambda s: type_of(s, element)
        kind = rng.choice(["concat", "slice", "transpose", "reshape", "reshape", "insert", "broadcast", "compute", "interleave",
                           "cast", "cast", "scale", "scale", "group"])
        rank = len(shape)
        if kind == "concat":
            d = rng.randrange(rank)
            segments = [(value, needs)]
            for _ in range(rng.randint(1, 2)):
                other = list(shape)
                other[d] = rng.randint(1, 5)
                v, n = self.leaf(other)
                if self.is_float() and rng.random() < 0.5:  # joined with what is computed
                    v = self.new(f"arith.negf {v} : {t(other)}")
                segments.insert(rng.randint(0, len(segments)), (v, n))
            result = np.concatenate([n for _, n in segments], d)
            line = f"tensor.concat dim({d}) {', '.join(v for v, _ in segments)} : ({', '.join(t(n.shape) for _, n in segments)}) -> {t(result.shape)}"
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
            result = needs[tuple(slice(o, o + (n - 1) * s + 1, s) for o, n, s in zip(offsets, sizes, steps))]
            return self.new(line), result
        if kind == "transpose" and rank > 1:
            order = list(range(rank))
            rng.shuffle(order)
            result = needs.transpose(order)
            e = self.empty(result.shape)
            return self.new(f"linalg.transpose ins({value} : {t(shape)}) outs({e} : {t(result.shape)}) permutation = {list_of(order)}"), result
        if kind == "reshape":
            if rank > 1 and rng.random() < 0.5:
                d = rng.randrange(rank - 1)
                groups = [[i] for i in range(d)] + [[d, d + 1]] + [[i] for i in range(d + 2, rank)]
                result = shape[:d] + [shape[d] * shape[d + 1]] + shape[d + 2:]
                return self.new(f"tensor.collapse_shape {value} {groups} : {t(shape)} into {t(result)}"), needs.reshape(result)
            d = rng.randrange(rank)
            factors = [f for f in range(1, shape[d] + 1) if shape[d] % f == 0]
            f = rng.choice(factors)
            groups = [[i] for i in range(d)] + [[d, d + 1]] + [[i + 1] for i in range(d + 1, rank)]
            result = shape[:d] + [f, shape[d] // f] + shape[d + 1:]
            return self.new(f"tensor.expand_shape {value} {groups} output_shape {list_of(result)} : {t(shape)} into {t(result)}"), needs.reshape(result)
        if kind == "insert":
            sizes = [rng.randint(1, n) for n in shape]
            offsets = [rng.randint(0, n - s) for n, s in zip(shape, sizes)]
            inserted, inner = self.leaf(sizes)
            result = needs.copy()
            result[tuple(slice(o, o + n) for o, n in zip(offsets, sizes))] = inner
            return self.new(f"tensor.insert_slice {inserted} into {value}{list_of(offsets)} {list_of(sizes)} {list_of([1] * rank)} : {t(sizes)} into {t(shape)}"), result
        if kind == "interleave":
            d = rng.randrange(rank)
            size = list(shape)
            size[d] *= 2
            other, inner = self.leaf(shape)
            steps = [2 if i == d else 1 for i in range(rank)]
            e = self.empty(size)
            result = np.empty(size, object)
            for k, (v, n) in enumerate([(value, needs), (other, inner)]):
                at = [k if i == d else 0 for i in range(rank)]
                e = self.new(f"tensor.insert_slice {v} into {e}{list_of(at)} {list_of(shape)} {list_of(steps)} : {t(shape)} into {t(size)}")
                result[tuple(slice(k, None, 2) if i == d else slice(None) for i in range(rank))] = n
            return e, result
        if kind == "broadcast" and rank < 4 and math.prod(shape) < 200:
            d = rng.randint(0, rank)
            n = rng.randint(1, 3)
            result = np.repeat(np.expand_dims(needs, d), n, d)
            e = self.empty(result.shape)
            return self.new(f"linalg.broadcast ins({value} : {t(shape)}) outs({e} : {t(result.shape)}) dimensions = [{d}]"), result
        if kind == "cast":
            return self.cast(value, rng.choice(CASTS[element]), shape), needs
        if kind == "scale" and self.is_float():
            # By a number, or by a stored element for each index of a dim.
            if rng.random() < 0.3:
                c = self.new(f"arith.constant dense<{rng.choice(['0.5', '3.0', '-1.25'])}> : {t(shape)}")
                return self.new(f"arith.mulf {value}, {c} : {t(shape)}"), needs
            return self.scale(value, needs, {rng.randrange(rank): 1})
        if kind == "group" and self.is_float():
            # By a stored element for each block: a scale of groups.
            dims = {d: rng.randint(1, n) for d, n in enumerate(shape) if rng.random() < 0.7}
            return self.scale(value, needs, dims) if dims else (value, needs)
        if kind == "compute" and rng.random() < 0.5:
            if element in ("i32", "i8"):
                other, inner = self.leaf(shape)
                return self.new(f"arith.{rng.choice(['addi', 'muli', 'xori'])} {value}, {other} : {t(shape)}"), union(needs, inner)
            if not self.is_float():
                return value, needs
            if rng.random() < 0.5:
                return self.new(f"arith.negf {value} : {t(shape)}"), needs
            c = self.new(f"arith.constant 2.5 : {element}")
            high = [rng.randint(0, 2) for _ in shape]
            result = np.empty([n + h for n, h in zip(shape, high)], object)
            result.fill(frozenset())
            result[tuple(slice(0, n) for n in shape)] = needs
            low = list_of([0] * rank)
            indices = ", ".join(f"%i{i}: index" for i in range(rank))
            return self.new(f"tensor.pad {value} low{low} high{list_of(high)} {{\n  ^bb0({indices}):\n    tensor.yield {c} : {element}\n  }} : {t(shape)} to {t(result.shape)}"), result
        return value, needs

    def cast(self, value, to, shape):
        element = self.element
        if element[0] == "i":
            op = "sitofp" if to[0] == "f" else "extsi" if BYTES[to] > BYTES[element] else "trunci"
        else:
            op = "extf" if BYTES[to] > BYTES[element] else "truncf"
        self.element = to
        return self.new(f"arith.{op} {value} : {type_of(shape, element)} to {type_of(shape, to)}")

    def scale(self, value, needs, blocks):
        """Times one stored element for each block of `blocks[d]` indices of the dims in `blocks`."""
        shape, element = list(needs.shape), self.element
        scale, inner = self.leaf([-(-shape[d] // block) for d, block in blocks.items()])
        loops = ", ".join(f"d{d}" for d in range(len(shape)))
        index = ", ".join(f"d{d} floordiv {block}" if block > 1 else f"d{d}" for d, block in blocks.items())
        e = self.empty(shape)
        t = type_of(shape, element)
        iterators = ", ".join(['"parallel"'] * len(shape))
        line = (f"linalg.generic {{indexing_maps = [affine_map<({loops}) -> ({loops})>, affine_map<({loops}) -> ({index})>, affine_map<({loops}) -> ({loops})>], "
                f"iterator_types = [{iterators}]}} ins({value}, {scale} : {t}, {type_of(inner.shape, element)}) outs({e} : {t}) {{\n"
                f"  ^bb0(%x: {element}, %s: {element}, %o: {element}):\n    %m = arith.mulf %x, %s : {element}\n    linalg.yield %m : {element}\n  }} -> {t}")
        wide = np.empty(shape, object)
        for i in np.ndindex(*shape):
            wide[i] = inner[tuple(i[d] // block for d, block in blocks.items())]
        return self.new(line), union(needs, wide)

    def sharding(self, shape, sizes):
        """The dims of a sharding on a mesh of axes of these sizes, each a list of strides and axes."""
        rng = self.rng
        dims = [[] for _ in shape]
        left = list(shape)
        axes = list(range(len(sizes)))
        rng.shuffle(axes)
        uneven = set()
        for axis in axes:
            d = rng.randrange(len(shape))
            if rng.random() < 0.15 or d in uneven:
                continue
            size = sizes[axis]
            if left[d] % size == 0 and left[d] > 0:
                gaps = [g for g in range(2, left[d] // size + 1) if left[d] % (g * size) == 0]
                if gaps and rng.random() < 0.25:
                    gap = rng.choice(gaps)
                    dims[d].append(gap)
                    left[d] //= gap
                dims[d].append(AXES[axis])
                left[d] //= size
            elif not dims[d]:
                dims[d].append(AXES[axis])
                uneven.add(d)
        return dims

    def owned(self, needs, dims, sizes):
        """The stored elements that each rank needs, by stored tensor."""
        result = []
        for rank in range(math.prod(sizes)):
            coordinate, at = {}, rank
            for a in reversed(range(len(sizes))):
                coordinate[AXES[a]] = (at % sizes[a], sizes[a])
                at //= sizes[a]
            shard = needs
            for d, entries in enumerate(dims):
                n = needs.shape[d]
                factor = math.prod(e if isinstance(e, int) else coordinate[e][1] for e in entries)
                indices = np.arange(n)
                if n % factor:
                    at, count = coordinate[entries[0]]
                    chunk = -(-n // count)
                    keep = indices // chunk == at
                else:
                    keep, unit = np.ones(n, bool), n
                    for e in entries:
                        size = e if isinstance(e, int) else coordinate[e][1]
                        unit //= size
                        if not isinstance(e, int):
                            keep &= indices // unit % size == coordinate[e][0]
                shard = shard.compress(keep, d)
            stored = frozenset().union(*shard.flat)
            elements = [[] for _ in self.stored]
            for i, element in stored:
                elements[i].append(element)
            result.append(elements)
        return {"bytes": [BYTES[element] for _, element in self.stored], "ranks": result}

    def contents(self, random_numbers):
        """Names, types, shapes and bytes of the stored tensors; no NaN."""
        for i, (shape, element) in enumerate(self.stored):
            if element.startswith("f8"):
                data = random_numbers.integers(0, 88, shape).astype(np.uint8) | (random_numbers.integers(0, 2, shape) << 7).astype(np.uint8)
            elif element[0] == "i":
                data = random_numbers.integers(-100, 100, shape).astype({"i8": np.int8, "i32": np.int32}[element])
            else:
                data = random_numbers.standard_normal(shape).astype({"f64": np.float64, "f16": np.float16}.get(element, np.float32))
            if element == "bf16":
                data = (data.view(np.uint32) >> 16).astype(np.uint16)
            yield f"{self.name}.{i}", NAMES[element], shape, data.tobytes()

    def text(self, mesh, sizes, expected):
        rng = self.rng
        value, needs = self.leaf([rng.randint(1, 8) for _ in range(rng.randint(1, 3))])
        for _ in range(rng.randint(1, 7)):
            if needs.size > 600 or needs.ndim > 4:
                break
            value, needs = self.grow(value, needs)
        if self.element.startswith("f8"):  # not a type of programs
            value = self.cast(value, "f32", needs.shape)
        t = type_of(needs.shape, self.element)
        arguments = ", ".join(f"%a{i}: {type_of(s, e)}" for i, (s, e) in enumerate(self.stored))
        names = ", ".join(f'"{self.name}.{i}"' for i in range(len(self.stored)))
        body = "\n".join(self.lines)
        dims = self.sharding(needs.shape, sizes)
        expected[self.name] = self.owned(needs, dims, sizes)
        text = ", ".join("{" + ", ".join(str(e) if isinstance(e, int) else f'"{e}"' for e in dim) + "}" for dim in dims)
        sharding = f"#spmd.sharding<@{mesh}, [{text}]>"
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
parser.add_argument("--owned")
parser.add_argument("--weights")
options = parser.parse_args()
rng = random.Random(options.seed)
text, expected, functions = "", {}, []
for i, sizes in enumerate(MESHES):
    axes = ", ".join(f'"{AXES[a]}"={n}' for a, n in enumerate(sizes))
    text += f"spmd.mesh @m{i} = <[{axes}]>\n"
for i in range(options.count):
    mesh = rng.randrange(len(MESHES))
    functions.append(Function(rng, f"f{i}"))
    text += functions[-1].text(f"m{mesh}", MESHES[mesh], expected)
with open(options.o, "w") as file:
    file.write(text)
if options.owned:
    with open(options.owned, "w") as file:
        json.dump(expected, file)
if options.weights:
    header, blobs, offset = {}, [], 0
    random_numbers = np.random.default_rng(options.seed)
    for function in functions:
        for name, kind, shape, data in function.contents(random_numbers):
            header[name] = {"dtype": kind, "shape": shape, "data_offsets": [offset, offset + len(data)]}
            blobs.append(data)
            offset += len(data)
    written = json.dumps(header).encode()
    written += b" " * (-len(written) % 8)
    with open(options.weights, "wb") as file:
        file.write(len(written).to_bytes(8, "little") + written + b"".join(blobs))
