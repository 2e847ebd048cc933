#!/usr/bin/env python3
"""Writes a module of small random programs with random shardings.

  gen_random.py --seed 1 --count 200 -o random.mlir
  gen_random.py --seed 1 --count 200 --only 17        one function of the same
  gen_random.py --seed 1 --count 200 --uneven         dims that axes do not divide
  gen_random.py --seed 1 --count 200 --shared         pairs of functions that share weights

Each function is a chain of ops on tensors of rank 0 to 4, on one of several
meshes of 1 to 8 devices, with shardings (sub-axes and gaps too) on arguments,
results, ops and constraints, in loops, branches, callees and manual
computations too. Nearly every op of docs/reference/Status.md is in some (random_ops.py);
each function has one of several groups of them more often than the others.
Integers wrap; floats are small integers whose bound is tracked, so that every
partial sum is exact in the type, and what is not exact is rounded at once where
no rounding can go two ways: sharded and unsharded runs must agree bit for bit.
"""
import argparse
import copy
import math
import os
import random
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from random_calls import CallSteps
from random_complex import ComplexSteps
from random_elements import ElementSteps
from random_named import NamedSteps
from random_places import PlaceSteps
from random_regions import RegionSteps
from random_scalars import ScalarSteps
from random_tosa import TosaSteps
from random_training import TrainingSteps

MESHES = [[1], [2], [3], [4], [5], [6], [7], [8], [2, 2], [2, 3], [3, 2], [2, 4],
          [4, 2], [1, 4], [6, 1], [1, 1, 2], [2, 1, 2], [2, 1, 3], [1, 3, 2],
          [2, 2, 2]]
# Views of the same devices: sizes and device order, by group.
VIEWS = [[([6], None), ([2, 3], None), ([3, 2], None), ([2, 1, 3], None), ([3, 2], [0, 3, 1, 4, 2, 5])],
         [([8], None), ([2, 4], None), ([4, 2], None), ([2, 2, 2], None),
          ([4, 2], [0, 4, 1, 5, 2, 6, 3, 7]), ([2, 2, 2], [0, 4, 2, 6, 1, 5, 3, 7])],
         [([2, 3, 6], None), ([3, 2, 6], None), ([6, 2, 3], None), ([6, 3, 2], None)],
         # Reversed, rotated, and in no order at all.
         [([6], None), ([2, 3], None), ([6], [5, 4, 3, 2, 1, 0]), ([3, 2], [1, 2, 3, 4, 5, 0]), ([2, 3], [3, 0, 5, 1, 4, 2])],
         [([2, 4], None), ([8], [7, 6, 5, 4, 3, 2, 1, 0]), ([2, 2, 2], [3, 4, 5, 6, 7, 0, 1, 2]), ([4, 2], None),
          ([4, 2], [0, 4, 1, 5, 2, 6, 3, 7])]]
AXES = "xyz"
SIZES = [1, 2, 2, 3, 4, 4, 5, 6, 8, 8, 12, 16]
MAX_ELEMENTS = 1536
# What floats may reach: every integer below is exact.
BOUNDS = {"f16": 1 << 10, "bf16": 1 << 7, "f32": 1 << 22, "f64": 1 << 50}


def elements(shape):
    return math.prod(shape)


def divisors(n):
    return [d for d in range(2, n + 1) if n % d == 0]


def iterators(loops, parallel=None):
    """Kinds of the loops; all parallel unless said which."""
    return ["parallel" if parallel is None or l in parallel else "reduction"
            for l in range(loops)]


class Skip(Exception):
    """This step has nothing to work on, or would leave the exact range."""


class Function(CallSteps, ComplexSteps, ElementSteps, NamedSteps, PlaceSteps, RegionSteps,
               ScalarSteps, TosaSteps, TrainingSteps):
    def __init__(self, rng, name, uneven=False, views=False, tied=False, shared=None):
        """`shared`: the weights of the function before it, by type and range; its mesh, types and first shape."""
        self.rng, self.name, self.uneven = rng, name, uneven
        self.shared, self.taken = shared, set()
        mesh = rng.randrange(len(MESHES)) if shared is None else shared.setdefault("mesh", rng.randrange(len(MESHES)))
        self.meshes = [(f"m{mesh}", MESHES[mesh])]
        if views:
            group = rng.randrange(len(VIEWS))
            self.meshes = [(f"v{group}_{i}", sizes)
                           for i, (sizes, _) in enumerate(VIEWS[group])]
            self.meshes = rng.sample(self.meshes, rng.randrange(2, 4))
        # Collectives that are written need ranks in the order of all meshes.
        self.one_order = not views or all(
            VIEWS[group][int(name.split("_")[1])][1] is None for name, _ in self.meshes)
        self.flavour = rng.choice(self.FLAVOURS)
        self.element = rng.choice(self.TOSA_ELEMENTS if self.flavour == "tosa" else
                                  ["i8", "i16", "i32", "i32", "i64", "f16", "bf16", "f32", "f32", "f64"])
        if shared is not None:
            self.flavour, self.element = shared.setdefault("types", (self.flavour, self.element))
        self.tied = tied
        if tied and self.element[0] != "i":  # arguments of floats are integers first
            self.element = "i32"
        self.is_float = self.element[0] != "i"
        self.lines, self.args, self.values, self.next = [], [], [], 0
        self.callees, self.depth = [], 0

    def callee(self):
        """A private function without arguments so far, on the same meshes."""
        other = copy.copy(self)
        self.next += 1
        other.name = f"{self.name}_{self.next}"
        other.lines, other.args, other.values, other.next = [], [], [], 0
        other.callees, other.depth = [], self.depth + 1
        return other

    # -- spelling ----------------------------------------------------------

    def tensor(self, shape, element=None):
        dims = "".join(f"{d}x" for d in shape)
        return f"tensor<{dims}{element or self.element}>"

    def fresh(self):
        self.next += 1
        return f"%v{self.next}"

    def emit(self, text):
        self.lines.append("  " + text)

    def emit_pair(self, text, reference):
        """What upstream does not lower, and what it is compared with."""
        self.lines.append(("  " + text, "  " + reference))

    def let(self, text):
        """A new name for what `text` computes."""
        name = self.fresh()
        self.emit(f"{name} = {text}")
        return name

    def literal(self, value):
        return f"{value}.0" if self.is_float else str(value)

    def dense(self, value, shape):
        return self.let(f"arith.constant dense<{self.literal(value)}> : "
                        f"{self.tensor(shape)}")

    def empty(self, shape, element=None):
        return self.let(f"tensor.empty() : {self.tensor(shape, element)}")

    def op(self, kind):
        """add, sub, mul, max, min as an arith op of the element type."""
        if kind in ("max", "min"):
            suffix = "imumf" if self.is_float else "si"
        else:
            suffix = "f" if self.is_float else "i"
        return f"arith.{kind}{suffix}"

    def sharding(self, shape, even=()):
        """A random legal sharding of a value of this shape; of the dims `even` what divides them."""
        rng = self.rng
        pieces = []
        mesh, sizes = (rng.choice(self.meshes) if len(self.meshes) > 1
                       else self.meshes[0])
        for axis, size in enumerate(sizes):
            splits = [d for d in divisors(size) if d < size]
            if splits and rng.random() < 0.3:
                at = rng.choice(splits)
                pieces += [(axis, 1, at), (axis, at, size // at)]
            else:
                pieces.append((axis, 1, size))
        rng.shuffle(pieces)
        dims = [[] for _ in shape]
        total = [1] * len(shape)
        left = []
        plain = [True] * len(shape)   # whole axes only, no gaps
        for axis, pre, size in pieces:
            whole = size == sizes[axis]
            uneven = self.uneven and whole and rng.random() < 0.6
            fits = [d for d, n in enumerate(shape) if n % (total[d] * size) == 0
                    or (uneven and plain[d] and d not in even)]
            if not fits or rng.random() < 0.25:
                left.append((axis, pre, size))
                continue
            d = rng.choice(fits)
            gaps = (divisors(shape[d] // (total[d] * size))
                    if shape[d] % (total[d] * size) == 0 else [])
            if gaps and rng.random() < 0.15:
                gap = rng.choice(gaps)
                dims[d].append(str(gap))
                total[d] *= gap
                plain[d] = False
            total[d] *= size
            plain[d] &= whole
            dims[d].append(f'"{AXES[axis]}"' +
                           ("" if whole else f":({pre}){size}"))
        text = ", ".join(
            "{" + ", ".join(d + ["?"] * (rng.random() < 0.4)) + "}" +
            ("p1" if rng.random() < 0.05 else "") for d in dims)
        replicated = [f'"{AXES[a]}"' for a, _, s in left
                      if s == sizes[a] and rng.random() < 0.1]
        more = f", replicated = {{{', '.join(replicated)}}}" if replicated else ""
        return f"<@{mesh}, [{text}]{more}>"

    def maybe_sharded(self, shape):
        """Rarely an attribute: a sharding on an op of one result."""
        if self.rng.random() < 0.95:
            return ""
        return f"spmd.shardings = [#spmd.sharding{self.sharding(shape)}]"

    # -- values ------------------------------------------------------------

    def fits(self, bound):
        return not self.is_float or bound < BOUNDS[self.element]

    def require(self, condition):
        if not condition:
            raise Skip

    def add_value(self, name, shape, bound):
        self.values.append((name, tuple(shape), bound))

    def define(self, text, shape, bound):
        self.add_value(self.let(text), shape, bound)

    def argument(self, shape, element=None, low=-3, high=4, spec=None):
        """A new argument of integers in [low, high): (name, bound); `spec`: its sharding."""
        rng = self.rng
        element = element or self.element
        is_float = element[0] != "i"
        name = f"%arg{len(self.args)}"
        stored = "i8" if is_float else element
        attrs = [f"spmd.range = [{low}, {high}]"]
        if self.shared is not None and self.depth == 0 and rng.random() < 0.8:
            names = self.shared.setdefault((self.tensor(shape, stored), low, high), [])
            free = [n for n in names if n not in self.taken]
            if not free:
                free = [f"{self.name}.w{len(self.args)}"]
                names += free
            self.taken.add(free[0])
            attrs.append(f'spmd.weight = "{free[0]}"')
        if spec:
            attrs.append(f"spmd.sharding = #spmd.sharding{spec}")
        elif rng.random() < (0.7 if self.shared is None else 0.4):
            attrs.append(f"spmd.sharding = #spmd.sharding{self.sharding(shape)}")
        self.args.append(f"{name}: {self.tensor(shape, stored)} "
                         f"{{{', '.join(attrs)}}}")
        if is_float:
            name = self.let(f"arith.sitofp {name} : "
                            f"{self.tensor(shape, stored)} to {self.tensor(shape, element)}")
        return name, max(-low, high - 1)

    def add_argument(self, shape):
        name, bound = self.argument(shape)
        self.add_value(name, shape, bound)

    def pick(self, test=lambda v: True):
        """A value, the later the likelier."""
        found = [v for v in self.values if test(v)]
        if not found:
            return None
        return found[max(self.rng.randrange(len(found)),
                         self.rng.randrange(len(found)))]

    def need(self, test):
        """As pick, for steps that are nothing without it."""
        value = self.pick(test)
        self.require(value)
        return value

    # -- steps: each adds a value, or raises Skip --------------------------

    def step_clamp(self):
        """Keeps floats small."""
        name, shape, bound = self.pick()
        low, high = self.dense(-3, shape), self.dense(3, shape)
        t = self.tensor(shape)
        a = self.let(f"{self.op('max')} {name}, {low} : {t}")
        self.define(f"{self.op('min')} {a}, {high} : {t}", shape, 3)

    def step_elementwise(self):
        rng = self.rng
        a, shape, bound_a = self.pick()
        b, _, bound_b = self.pick(lambda v: v[1] == shape)
        kind = rng.choice(["add", "sub", "mul", "max", "min"])
        bound = {"add": bound_a + bound_b, "sub": bound_a + bound_b,
                 "mul": bound_a * bound_b}.get(kind, max(bound_a, bound_b))
        self.require(self.fits(bound))
        t = self.tensor(shape)
        r = self.fresh()
        if kind in ("add", "sub", "mul") and rng.random() < 0.3:
            e = self.empty(shape)
            self.emit(f"{r} = linalg.{kind} ins({a}, {b} : {t}, {t}) "
                      f"outs({e} : {t}) -> {t}")
        else:
            attr = self.maybe_sharded(shape)
            self.emit(f"{r} = {self.op(kind)} {a}, {b}{attr and f' {{{attr}}}'} : {t}")
        self.add_value(r, shape, bound)

    def step_select(self):
        a, shape, bound_a = self.pick()
        b, _, bound_b = self.pick(lambda v: v[1] == shape)
        t, t1 = self.tensor(shape), self.tensor(shape, "i1")
        test = "cmpf olt" if self.is_float else "cmpi sgt"
        c = self.let(f"arith.{test}, {a}, {b} : {t}")
        self.define(f"arith.select {c}, {b}, {a} : {t1}, {t}",
                    shape, max(bound_a, bound_b))

    def step_constant(self):
        rng = self.rng
        name, shape, _ = self.pick()
        self.require(shape and elements(shape) <= 64)
        def nest(dims):
            if not dims:
                return self.literal(rng.randrange(-3, 4))
            return "[" + ", ".join(nest(dims[1:]) for _ in range(dims[0])) + "]"
        self.define(f"arith.constant dense<{nest(shape)}> : {self.tensor(shape)}",
                    shape, 3)

    def step_fill(self):
        rng = self.rng
        _, shape, _ = self.pick()
        value = rng.randrange(-3, 4)
        if rng.random() < 0.5:
            r = self.dense(value, shape)
        else:
            c, e, r = self.fresh(), self.empty(shape), self.fresh()
            self.emit(f"{c} = arith.constant {self.literal(value)} : "
                      f"{self.element}")
            t = self.tensor(shape)
            self.emit(f"{r} = linalg.fill ins({c} : {self.element}) "
                      f"outs({e} : {t}) -> {t}")
        self.add_value(r, shape, 3)

    def step_constraint(self):
        name, shape, bound = self.pick()
        self.define(f"spmd.with_sharding_constraint {name} "
                    f"{self.sharding(shape)} : {self.tensor(shape)}", shape, bound)

    def step_transpose(self):
        name, shape, bound = self.need(lambda v: len(v[1]) >= 2)
        perm = list(range(len(shape)))
        self.rng.shuffle(perm)
        out = [shape[p] for p in perm]
        e = self.empty(out)
        self.define(f"linalg.transpose ins({name} : {self.tensor(shape)}) "
                    f"outs({e} : {self.tensor(out)}) permutation = {perm}",
                    out, bound)

    def step_broadcast(self):
        rng = self.rng
        size = rng.choice(SIZES)
        name, shape, bound = self.need(lambda v: len(v[1]) < 4 and
                          elements(v[1]) * size <= MAX_ELEMENTS)
        d = rng.randrange(len(shape) + 1)
        out = list(shape[:d]) + [size] + list(shape[d:])
        e = self.empty(out)
        self.define(f"linalg.broadcast ins({name} : {self.tensor(shape)}) "
                    f"outs({e} : {self.tensor(out)}) dimensions = [{d}]",
                    out, bound)

    def init(self, shape, kind):
        """What a reduction starts from: (name, bound)."""
        rng = self.rng
        value = self.pick(lambda v: v[1] == tuple(shape) and v[2] <= 64)
        if value and rng.random() < 0.4:
            return value[0], value[2]
        start = {"add": 0, "mul": 1, "max": -3, "min": 3}[kind]
        if rng.random() < 0.3:
            start = rng.randrange(-3, 4)
        return self.dense(start, shape), 3

    def step_reduce(self):
        rng = self.rng
        name, shape, bound = self.need(lambda v: v[1])
        dims = sorted(rng.sample(range(len(shape)),
                                 rng.randrange(1, len(shape) + 1)))
        out = [n for d, n in enumerate(shape) if d not in dims]
        kind = rng.choice(["add", "max", "min"] +
                          ([] if self.is_float else ["mul"]))
        count = math.prod(shape[d] for d in dims)
        self.require(kind != "add" or self.fits(bound * count + 64))
        init, start = self.init(out, kind)
        total = start + bound * count if kind == "add" else max(start, bound)
        self.require(self.fits(total))
        self.define(f"linalg.reduce {{ {self.op(kind)} }} "
                    f"ins({name} : {self.tensor(shape)}) "
                    f"outs({init} : {self.tensor(out)}) dimensions = {dims}",
                    out, total)

    def generic(self, loops, kinds, ins, outs, body, types=None):
        """ins, outs: [(name, shape, loops of its dims or map text)]; `types`: their elements, if they have others than all."""
        types = types or [self.element] * len(ins + outs)
        def affine(dims):
            if not isinstance(dims, str):
                dims = ", ".join(f"d{d}" for d in dims)
            return (f"affine_map<({', '.join(f'd{i}' for i in range(loops))})"
                    f" -> ({dims})>")
        maps = ", ".join(affine(m) for _, _, m in ins + outs)
        kinds = ", ".join(f'"{k}"' for k in kinds)
        def group(word, tensors, elements):
            if not tensors:
                return ""
            return (f" {word}({', '.join(n for n, _, _ in tensors)} : "
                    f"{', '.join(self.tensor(s, t) for (_, s, _), t in zip(tensors, elements))})")
        of_ins, of_outs = types[:len(ins)], types[len(ins):]
        params = [f"%i{k}: {t}" for k, t in enumerate(of_ins)]
        params += [f"%o{k}: {t}" for k, t in enumerate(of_outs)]
        r = self.fresh()
        results = [self.tensor(s, t) for (_, s, _), t in zip(outs, of_outs)]
        many = f":{len(outs)}" if len(outs) > 1 else ""
        self.emit(f"{r}{many} = linalg.generic {{indexing_maps = [{maps}], "
                  f"iterator_types = [{kinds}]}}"
                  f"{group('ins', ins, of_ins)}{group('outs', outs, of_outs)} {{")
        self.emit(f"^bb0({', '.join(params)}):")
        for line in body:
            self.emit("  " + line)
        self.emit(f"}} -> {results[0] if len(outs) == 1 else '(' + ', '.join(results) + ')'}")
        return r

    def step_einsum(self):
        rng = self.rng
        a, shape_a, bound_a = self.pick()
        b, shape_b, bound_b = self.pick()
        sizes = list(shape_a)
        map_a, map_b = list(range(len(sizes))), []
        for n in shape_b:
            same = [l for l in map_a if sizes[l] == n and l not in map_b]
            if same and rng.random() < 0.7:
                map_b.append(rng.choice(same))
            else:
                map_b.append(len(sizes))
                sizes.append(n)
        loops = len(sizes)
        self.require(0 < loops and math.prod(sizes) <= 1 << 14)
        out = [l for l in range(loops) if rng.random() <
               (0.3 if l in map_a and l in map_b else 0.85)]
        rng.shuffle(out)
        shape = [sizes[l] for l in out]
        self.require(len(out) <= 4 and elements(shape) <= MAX_ELEMENTS)
        order = list(range(loops))   # loops in any order
        rng.shuffle(order)
        reduced = math.prod(sizes[l] for l in range(loops) if l not in out)
        tropical = rng.random() < 0.2
        self.require(self.fits(reduced * bound_a * bound_b + 64))
        init, start = self.init(shape, "max" if tropical else "add")
        bound = (max(start, bound_a + bound_b) if tropical
                 else start + reduced * bound_a * bound_b)
        self.require(self.fits(bound))
        t = self.element
        inner, outer = ("add", "max") if tropical else ("mul", "add")
        swap = rng.random() < 0.5
        body = [f"%p = {self.op(inner)} %i0, %i1 : {t}",
                f"%s = {self.op(outer)} " +
                ("%p, %o0" if swap else "%o0, %p") + f" : {t}",
                f"linalg.yield %s : {t}"]
        r = self.generic(loops, iterators(loops, [order[l] for l in out]),
                         [(a, shape_a, [order[l] for l in map_a]),
                          (b, shape_b, [order[l] for l in map_b])],
                         [(init, shape, [order[l] for l in out])], body)
        self.add_value(r, shape, bound)

    def step_matmul(self):
        rng = self.rng
        a = self.need(lambda v: len(v[1]) == 2)
        n = rng.choice(SIZES)
        b = self.pick(lambda v: len(v[1]) == 2 and v[1][0] == a[1][1])
        if not b:
            self.add_argument((a[1][1], n))
            b = self.values[-1]
        shape = [a[1][0], b[1][1]]
        bound = a[1][1] * a[2] * b[2]
        self.require(self.fits(bound + 64))
        init, start = self.init(shape, "add")
        self.define(f"linalg.matmul ins({a[0]}, {b[0]} : "
                    f"{self.tensor(a[1])}, {self.tensor(b[1])}) "
                    f"outs({init} : {self.tensor(shape)}) -> {self.tensor(shape)}",
                    shape, bound + start)

    def step_two_results(self):
        """Sum and maximum of one value in one op."""
        rng = self.rng
        name, shape, bound = self.need(lambda v: v[1])
        keep = [d for d in range(len(shape)) if rng.random() < 0.5]
        count = math.prod(n for d, n in enumerate(shape) if d not in keep)
        out = [shape[d] for d in keep]
        self.require(self.fits(bound * count + 64))
        s, start_s = self.init(out, "add")
        m, start_m = self.init(out, "max")
        t = self.element
        body = [f"%s = {self.op('add')} %i0, %o0 : {t}",
                f"%m = {self.op('max')} %o1, %i0 : {t}",
                f"linalg.yield %s, %m : {t}, {t}"]
        r = self.generic(len(shape), iterators(len(shape), keep),
                         [(name, shape, range(len(shape)))],
                         [(s, out, keep), (m, out, keep)], body)
        self.add_value(f"{r}#0", out, start_s + bound * count)
        self.add_value(f"{r}#1", out, max(start_m, bound))

    def from_index(self, index, modulus, tag):
        """Lines that turn an index into a small element."""
        lines = [f"%w{tag} = arith.constant {modulus} : index",
                 f"%x{tag} = arith.remui {index}, %w{tag} : index"]
        if self.is_float:
            return lines + [
                f"%y{tag} = arith.index_cast %x{tag} : index to i32",
                f"%z{tag} = arith.sitofp %y{tag} : i32 to {self.element}"]
        return lines + [
            f"%z{tag} = arith.index_cast %x{tag} : index to {self.element}"]

    def step_index(self):
        rng = self.rng
        name, shape, bound = self.need(lambda v: v[1])
        d = rng.randrange(len(shape))
        modulus = rng.choice([2, 3, 5, 7])
        self.require(self.fits(bound * 8))
        t = self.element
        body = [f"%k = linalg.index {d} : index"]
        body += self.from_index("%k", modulus, 0)
        body += [f"%s = {self.op(rng.choice(['add', 'mul']))} %i0, %z0 : {t}",
                 f"linalg.yield %s : {t}"]
        e = self.empty(shape)
        rank = len(shape)
        r = self.generic(rank, iterators(rank), [(name, shape, range(rank))],
                         [(e, shape, range(rank))], body)
        self.add_value(r, shape, max(bound * 8, bound + 8))

    def step_capture(self):
        """The body reads another tensor: at loop indices, reversed, or at a
        computed place."""
        rng = self.rng
        src, src_shape, src_bound = self.need(lambda v: v[1])
        name, shape, bound = self.need(lambda v: v[1])
        t = self.element
        rank = len(shape)
        body, indices = [], []
        for d, n in enumerate(src_shape):
            same = [l for l in range(rank) if shape[l] == n]
            if same and rng.random() < 0.7:
                l = rng.choice(same)
                body.append(f"%k{d} = linalg.index {l} : index")
                if rng.random() < 0.2:
                    body += [f"%last{d} = arith.constant {n - 1} : index",
                             f"%r{d} = arith.subi %last{d}, %k{d} : index"]
                    indices.append(f"%r{d}")
                else:
                    indices.append(f"%k{d}")
            else:
                l = rng.randrange(rank)
                body += [f"%k{d} = linalg.index {l} : index",
                         f"%f{d} = arith.constant {rng.choice([1, 3, 5])} : index",
                         f"%q{d} = arith.muli %k{d}, %f{d} : index",
                         f"%n{d} = arith.constant {n} : index",
                         f"%r{d} = arith.remui %q{d}, %n{d} : index"]
                indices.append(f"%r{d}")
        self.require(self.fits(bound + src_bound))
        reduces = rng.random() < 0.3
        keep = [d for d in range(rank) if not reduces or rng.random() < 0.5]
        out = [shape[d] for d in keep]
        count = math.prod(n for d, n in enumerate(shape) if d not in keep)
        self.require(self.fits((bound + src_bound) * count + 64))
        body.append(f"%v = tensor.extract {src}[{', '.join(indices)}] : "
                    f"{self.tensor(src_shape)}")
        body.append(f"%s = {self.op('sub')} %i0, %v : {t}")
        if len(keep) < rank:
            init, start = self.init(out, "add")
            body.append(f"%t = {self.op('add')} %o0, %s : {t}")
            body.append(f"linalg.yield %t : {t}")
        else:
            init, start = self.empty(out), 0
            body.append(f"linalg.yield %s : {t}")
        r = self.generic(rank, iterators(rank, keep), [(name, shape, range(rank))],
                         [(init, out, keep)], body)
        self.add_value(r, out, start + (bound + src_bound) * count)

    def step_window(self):
        """Sums over a sliding window of one dim, or over its positions."""
        rng = self.rng
        name, shape, bound = self.need(lambda v: v[1] and max(v[1]) >= 3)
        d = rng.choice([d for d, n in enumerate(shape) if n >= 3])
        w = rng.choice([2, 3])
        if len(self.lines) % 3 == 0:
            return self.sum_positions(name, shape, bound, d, w)
        self.require(self.fits(bound * w))
        rank = len(shape)
        out = list(shape)
        out[d] -= w - 1
        window, zero = self.empty([w]), self.dense(0, out)
        text = ", ".join(f"d{i} + d{rank}" if i == d else f"d{i}"
                         for i in range(rank))
        body = [f"%s = {self.op('add')} %o0, %i0 : {self.element}",
                f"linalg.yield %s : {self.element}"]
        r = self.generic(rank + 1, iterators(rank + 1, range(rank)),
                         [(name, shape, text), (window, [w], [rank])],
                         [(zero, out, range(rank))], body)
        self.add_value(r, out, bound * w)

    def sum_positions(self, name, shape, bound, d, w):
        """As the gradient of a kernel of `w` elements: element k sums what position p reads at p + k."""
        count, rank = shape[d] - w + 1, len(shape)
        self.require(self.fits(bound * count + 64))
        out = [n for i, n in enumerate(shape) if i != d] + [w]
        positions, window = self.empty([count]), self.empty([w])
        init, start = self.init(out, "add")
        text = ", ".join(f"d{i} + d{rank}" if i == d else f"d{i}" for i in range(rank))
        kept = [i for i in range(rank + 1) if i != d]
        body = [f"%s = {self.op('add')} %o0, %i0 : {self.element}",
                f"linalg.yield %s : {self.element}"]
        r = self.generic(rank + 1, iterators(rank + 1, kept),
                         [(name, shape, text), (positions, [count], [d]), (window, [w], [rank])],
                         [(init, out, kept)], body)
        self.add_value(r, out, start + bound * count)

    def step_collapse(self):
        rng = self.rng
        name, shape, bound = self.need(lambda v: len(v[1]) >= 2)
        groups = [[0]]
        for d in range(1, len(shape)):
            if rng.random() < 0.6:
                groups[-1].append(d)
            else:
                groups.append([d])
        self.require(len(groups) < len(shape))
        out = [math.prod(shape[d] for d in g) for g in groups]
        self.define(f"tensor.collapse_shape {name} {groups} : "
                    f"{self.tensor(shape)} into {self.tensor(out)}", out, bound)

    def step_expand(self):
        rng = self.rng
        name, shape, bound = self.need(lambda v: 1 <= len(v[1]) < 4)
        budget = 4 - len(shape)
        groups, out = [], []
        for n in shape:
            parts = [n]
            while budget and rng.random() < 0.6:
                at = rng.randrange(len(parts))
                d = rng.choice([1] + divisors(parts[at]))
                parts[at:at + 1] = [d, parts[at] // d]
                budget -= 1
            groups.append(list(range(len(out), len(out) + len(parts))))
            out += parts
        self.require(len(out) > len(shape))
        self.define(f"tensor.expand_shape {name} {groups} output_shape {out} : "
                    f"{self.tensor(shape)} into {self.tensor(out)}", out, bound)

    def random_slice(self, shape):
        rng = self.rng
        offsets, sizes, strides = [], [], []
        for n in shape:
            if n == 1 or rng.random() < 0.5:
                offset, size, stride = 0, n, 1
            else:
                stride = rng.choice([1, 1, 2])
                offset = rng.randrange(n)
                size = rng.randrange(1, (n - 1 - offset) // stride + 2)
            offsets.append(offset), sizes.append(size), strides.append(stride)
        return offsets, sizes, strides

    def step_extract_slice(self):
        rng = self.rng
        name, shape, bound = self.need(lambda v: v[1])
        offsets, sizes, strides = self.random_slice(shape)
        out = [n for n in sizes if n != 1 or rng.random() < 0.5]
        self.define(f"tensor.extract_slice {name}{offsets} {sizes} {strides} : "
                    f"{self.tensor(shape)} to {self.tensor(out)}", out, bound)

    def dilate(self, name, shape, bound):
        """Elements at a distance, with zeros in between, as for the gradient of a strided convolution."""
        rng = self.rng
        strides, offsets = [[rng.choice(choices) for _ in shape] for choices in ([1, 2, 3], [0, 1])]
        out = [o + s * (n - 1) + 1 + rng.choice([0, 1]) for n, s, o in zip(shape, strides, offsets)]
        self.require(elements(out) <= MAX_ELEMENTS)
        self.define(f"tensor.insert_slice {name} into {self.dense(0, out)}{offsets} "
                    f"{list(shape)} {strides} : {self.tensor(shape)} into {self.tensor(out)}", out, bound)

    def step_insert_slice(self):
        name, shape, bound = self.need(lambda v: v[1])
        if len(self.lines) % 3 == 0:
            return self.dilate(name, shape, bound)
        part = self.pick(lambda v: len(v[1]) == len(shape) and
                         all(p <= n for p, n in zip(v[1], shape)))
        offsets = [self.rng.randrange(n - p + 1)
                   for p, n in zip(part[1], shape)]
        self.define(f"tensor.insert_slice {part[0]} into {name}{offsets} "
                    f"{list(part[1])} {[1] * len(shape)} : "
                    f"{self.tensor(part[1])} into {self.tensor(shape)}",
                    shape, max(bound, part[2]))

    def step_pad(self):
        rng = self.rng
        name, shape, bound = self.need(lambda v: v[1])
        low = [rng.choice([0, 0, 1, 2]) for _ in shape]
        high = [rng.choice([0, 0, 1, 3]) for _ in shape]
        out = [n + a + b for n, a, b in zip(shape, low, high)]
        self.require(elements(out) <= MAX_ELEMENTS)
        self.pad(name, self.tensor(shape), low, high, out, bound)

    def pad(self, name, spelled, low, high, out, bound):
        """A value of type `spelled` with `low` and `high`, numbers or names, around it."""
        c = self.let(f"arith.constant {self.literal(self.rng.randrange(-3, 4))} : "
                     f"{self.element}")
        r = self.fresh()
        params = ", ".join(f"%p{d}: index" for d in range(len(out)))
        low, high = ("[" + ", ".join(map(str, sizes)) + "]" for sizes in (low, high))
        self.emit(f"{r} = tensor.pad {name} low{low} high{high} {{")
        self.emit(f"^bb0({params}):")
        self.emit(f"  tensor.yield {c} : {self.element}")
        self.emit(f"}} : {spelled} to {self.tensor(out)}")
        self.add_value(r, out, max(bound, 3))

    def step_concat(self):
        rng = self.rng
        name, shape, bound = self.need(lambda v: v[1])
        d = rng.randrange(len(shape))
        def matches(v):
            return len(v[1]) == len(shape) and all(
                i == d or p == n for i, (p, n) in enumerate(zip(v[1], shape)))
        other = self.pick(matches)
        out = list(shape)
        out[d] += other[1][d]
        self.require(elements(out) <= MAX_ELEMENTS)
        self.define(f"tensor.concat dim({d}) {name}, {other[0]} : "
                    f"({self.tensor(shape)}, {self.tensor(other[1])}) -> "
                    f"{self.tensor(out)}", out, max(bound, other[2]))

    # -- the whole ---------------------------------------------------------

    # How likely each step is. A function has one of these as its flavour, more often than the others.
    GROUPS = {
        "basic": {
            "elementwise": 5, "select": 1, "constant": 1, "fill": 1, "constraint": 3, "transpose": 2, "broadcast": 2,
            "reduce": 3, "einsum": 4, "matmul": 2, "two_results": 1, "index": 2, "capture": 2, "window": 1,
            "collapse": 2, "expand": 2, "extract_slice": 1, "insert_slice": 1, "pad": 1, "concat": 1, "clamp": 1},
        "complex": ComplexSteps.MORE_STEPS, "elements": ElementSteps.MORE_STEPS, "regions": {**RegionSteps.MORE_STEPS, **CallSteps.MORE_STEPS},
        "named": NamedSteps.MORE_STEPS, "places": PlaceSteps.MORE_STEPS, "scalars": ScalarSteps.MORE_STEPS, "tosa": TosaSteps.MORE_STEPS}
    FLAVOURS = ["", "basic", "complex", "elements", "named", "places", "regions", "scalars", "tosa", "tosa"]
    # What tosa computes with.
    TOSA_ELEMENTS = ["i8", "i8", "i16", "i32", "i32", "f16", "bf16", "f32", "f32"]

    def steps(self):
        """What this function is made of: {step: weight}."""
        steps = {}
        for group, weights in self.GROUPS.items():
            if group == "tosa" and self.flavour != "tosa":
                continue
            total = sum(weights.values())
            share = (3 if group == "basic" else 1) * (6 if group == self.flavour else 1)
            steps |= {step: weight * share / total for step, weight in weights.items()}
        return steps

    def random_shape(self):
        while True:
            shape = tuple(self.rng.choice(SIZES)
                          for _ in range(self.rng.randrange(1, 5)))
            if elements(shape) <= MAX_ELEMENTS:
                return shape

    def build(self, reference=True):
        """The function, and what upstream lowers of it where it does not lower
        all (`reference`)."""
        rng = self.rng
        shape = self.random_shape()
        if self.shared is not None:
            shape = self.shared.setdefault("shape", shape)
        self.add_argument(shape)
        for _ in range(rng.randrange(0, 3)):
            again = shape if rng.random() < 0.5 else list(shape)
            if again is not shape:
                rng.shuffle(again)
            self.add_argument(tuple(again))
        self.random_steps(rng.randrange(3, 11))
        results = self.results()
        sides = self.sides("", results)
        if reference and len(sides) == 2:
            attr = f" attributes {{spmd.reference = @{self.name}_reference}}"
            sides[0] = sides[0].replace(") {\n", f"){attr} {{\n", 1)
        return "\n".join(self.callees + sides[:2 if reference else 1])

    def build_step(self):
        """A function like a training step (random_training.py)."""
        while True:
            try:
                results = self.build_training()
                break
            except Skip:  # floats would leave the exact range
                self.lines, self.args, self.values, self.next = [], [], [], 0
        return "\n".join(self.sides("", results)[:1])

    def random_steps(self, length):
        """Takes `length` steps, or as many as 200 tries allow."""
        steps = self.steps()
        names, weights = list(steps), list(steps.values())
        done = 0
        for _ in range(200):
            if done == length:
                break
            step = self.rng.choices(names, weights)[0]
            tables = self.lines, self.values, self.args, self.callees
            marks = [len(table) for table in tables]
            try:
                getattr(self, "step_" + step)()
                done += 1
            except Skip:
                for table, mark in zip(tables, marks):
                    del table[mark:]

    def results(self):
        rng = self.rng
        return [self.values[-1]] + rng.sample(self.values, min(len(self.values), rng.randrange(0, 3)))

    def sides(self, visibility, results):
        """The function, and as a private one what upstream lowers of it if it does not lower all."""
        rng = self.rng
        types = []
        tied = set()
        for _, shape, _ in results:
            attr = ""
            free = [i for i, arg in enumerate(self.args) if f": {self.tensor(shape)} {{" in arg and i not in tied]
            if self.tied and not visibility and free:
                tied.add(free[0])
                attr = f" {{spmd.tied = {free[0]} : i64}}"
            elif rng.random() < 0.4:
                attr = f" {{spmd.sharding = #spmd.sharding{self.sharding(shape)}}}"
            types.append(self.tensor(shape) + attr)
        signature = f"({', '.join(self.args)}) -> ({', '.join(types)})"
        tail = (f"  return {', '.join(v[0] for v in results)} : "
                f"{', '.join(self.tensor(v[1]) for v in results)}")
        def side(k):
            return [line if isinstance(line, str) else line[k] for line in self.lines]
        def text(head, k):
            return "\n".join([f"func.func {head}{signature} {{"] + side(k) + [tail, "}", ""])
        texts = [text(f"{visibility}@{self.name}", 0)]
        if side(0) != side(1):
            texts.append(text(f"private @{self.name}_reference", 1))
        return texts


def mesh_costs(i):
    """Alpha and beta of each axis of mesh `i`, or "": on some, bytes count rather than calls."""
    return ("1.0e-9", "1.0e-9") if i % 3 == 1 else ""


def get_meshes(views, flops=True):
    out = []
    for i, sizes in enumerate(MESHES):
        mesh = ", ".join(f'"{AXES[a]}"={s}' for a, s in enumerate(sizes))
        ids = ""
        if i % 2:   # some meshes have their devices in another order
            order = list(range(math.prod(sizes)))
            random.Random(i).shuffle(order)
            ids = f", device_ids={order}"
        costs = mesh_costs(i)
        attributes = []
        if costs:
            alpha, beta = (", ".join([cost] * len(sizes)) for cost in costs)
            attributes = [f"alpha = [{alpha}]", f"beta = [{beta}]"]
        if flops and i % 4 == 2:  # devices that share all work, or none that costs a collective
            attributes.append(f"flops = {('1.0e5', '1.0e15')[i // 4 % 2]}")
        costs = f" {{{', '.join(attributes)}}}" if attributes else ""
        out.append(f"spmd.mesh @m{i} = <[{mesh}]{ids}>{costs}")
    for g, group in enumerate(VIEWS if views else []):
        for i, (sizes, order) in enumerate(group):
            mesh = ", ".join(f'"{AXES[a]}"={s}' for a, s in enumerate(sizes))
            ids = f", device_ids={order}" if order else ""
            out.append(f"spmd.mesh @v{g}_{i} = <[{mesh}]{ids}>")
    return out


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--only", type=int, help="this function alone")
    parser.add_argument("--uneven", action="store_true",
                        help="axes also on dims that they do not divide")
    parser.add_argument("--views", action="store_true",
                        help="several meshes per function, views of the same devices")
    parser.add_argument("--tied", action="store_true", help="results update arguments of their type")
    parser.add_argument("--shared", action="store_true", help="each two functions share weights")
    parser.add_argument("--training", action="store_true", help="functions like training steps")
    parser.add_argument("-o", "--output", default="-")
    args = parser.parse_args()
    out = get_meshes(args.views)
    out.append("")
    shared = None
    for i in range(args.count):
        if args.shared and i % 2 == 0:
            shared = {}
        # The first of two that share weights is written with the second.
        if args.only is None or args.only == i or (args.shared and args.only // 2 == i // 2):
            rng = random.Random(f"{args.seed}.{i}")
            function = Function(rng, f"f{i}", args.uneven, args.views, args.tied, shared)
            out.append(function.build_step() if args.training else function.build())
    text = "\n".join(out)
    if args.output == "-":
        print(text)
    else:
        with open(args.output, "w") as file:
            file.write(text)


if __name__ == "__main__":
    main()
