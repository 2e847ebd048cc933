#!/usr/bin/env python3
"""Writes a random function of a batch, to be computed in microbatches: matrix products,
elementwise ops, sums and maxima over the batch and over features, what is done with them
once per step, views, concatenations and slices. Not every one can be split.
With --uneven each stage has a mesh of another shape, whose axes shard arguments,
results and what crosses boundaries along dims that they do not divide.

  gen_random_step.py --seed 7 --stages 2 --uneven -o step.mlir
"""
import argparse
import random
import re
import sys

MAPS = {2: "affine_map<(d0, d1) -> (d0, d1)>", 1: "affine_map<(d0) -> (d0)>", 0: "affine_map<() -> ()>"}


SHAPES = [(2, 1), (3, 1), (2, 2), (4, 1), (1, 3), (1, 2), (3, 2)]


class Program:
    def __init__(self, seed, batch, stages, size, uneven=False):
        self.random, self.batch, self.stages, self.uneven = random.Random(seed), batch, stages, uneven
        self.features = self.random.choice([3, 5, 7] if uneven else [4, 6, batch])
        self.lines, self.values, self.next, self.args, self.tied = [], [], 0, [], False
        b, f, pick = batch, self.features, self.random.choice
        # Name, shape, dim of the batch (None: none) and whether it is summed up over it.
        for i in range(pick([1, 2])):
            dim = pick([0, 0, 1])
            self.argument(f"x{i}", (b, f) if dim == 0 else (f, b), dim)
        if pick([0, 1]):
            self.argument("y", (b,), 0)
        for i in range(pick([1, 2])):
            self.argument(f"w{i}", (f, f))
        self.argument("b", (f,))
        cuts = sorted(self.random.sample(range(2, size - uneven), stages - 1))
        self.crossed = None  # a value of the last stage that needs the ones before
        for step in range(size):
            self.step()
            if step in cuts:
                cut = self.mix(pick) if uneven else [v for v in self.values if v[2] is not None][-1]
                resources = f" axis_resources {self.axes(cut[1])}" if uneven and self.random.random() < .5 else ""
                self.lines.append(f"  spmd.stage_boundary {cut[0]}{resources} : {self.type(cut[1])}")
                if uneven:
                    self.emit(f"math.tanh {cut[0]} : {self.type(cut[1])}", *cut[1:])
                    self.crossed = self.values[-1]

    def argument(self, name, shape, dim=None):
        kind = "spmd.name" if name[0] in "xy" else "spmd.weight"
        micro = "" if dim is None else f", spmd.microbatch = #spmd.microbatch<dim = {dim}>"
        if self.uneven and self.random.random() < .7:
            micro += ", " + self.resources(shape, dim)
        self.args.append(f'%{name}: {self.type(shape)} {{{kind} = "{name}"{micro}}}')
        self.values.append((f"%{name}", shape, dim, False))

    def mix(self, pick):
        """A late value of the batch, with what crossed before or with an input."""
        late = [v for v in self.values if v[2] is not None and not v[3]][-1]
        known = self.crossed or self.values[0]
        if known[1:3] != late[1:3]:
            late = known
        self.emit(f"arith.{pick(['addf', 'mulf'])} {late[0]}, {known[0]} : {self.type(late[1])}", *late[1:])
        return self.values[-1]

    def axes(self, shape, batch=None):
        """The axes of each dim; on which meshes they divide it is not looked at. Those of the batch have to divide microbatches."""
        free, dims = ["x", "y"], []
        for d in range(len(shape)):
            if d == batch and self.random.random() < .8:
                dims.append("?")
                continue
            taken = [a for a in free if self.random.random() < .5]
            free = [a for a in free if a not in taken]
            names = ", ".join(f'"{a}"' for a in taken)
            dims.append(f"[{names}]" if len(taken) > 1 else names or self.random.choice(["none", "?"]))
        return f"[{', '.join(dims)}]"

    def resources(self, shape, batch=None):
        return f"spmd.axis_resources = #spmd.axis_resources<{self.axes(shape, batch)}>"

    @staticmethod
    def type(shape):
        return "tensor<" + "".join(f"{d}x" for d in shape) + "f64>"

    def fresh(self):
        self.next += 1
        return f"%v{self.next}"

    def emit(self, text, shape, dim, once):
        name = self.fresh()
        self.lines.append(f"  {name} = {text}")
        if shape is not None:
            self.values.append((name, shape, dim, once))
        return name

    def empty(self, shape):
        return self.emit(f"tensor.empty() : {self.type(shape)}", None, None, False)

    def fill(self, shape, number):
        c = self.emit(f"arith.constant {number} : f64", None, None, False)
        return self.emit(f"linalg.fill ins({c} : f64) outs({self.empty(shape)} : {self.type(shape)})"
                         f" -> {self.type(shape)}", None, None, False)

    def take(self, test):
        # Late values more often; a value that is summed up less often than not.
        found = [v for v in self.values if test(v)]
        if not found:
            return None
        return self.random.choice(found[-4:] if self.random.random() < .7 else found)

    def step(self):
        pick = self.random.choice
        kind = pick(["unary", "scale", "binary", "binary", "product", "sum", "sum", "reduce",
                     "broadcast", "gradient", "update", "transpose", "concat", "slice", "view"])
        getattr(self, kind)(pick)

    def unary(self, pick):
        name, shape, dim, once = self.take(lambda v: True)
        op = pick(["math.tanh", "arith.negf", "math.absf"])
        self.emit(f"{op} {name} : {self.type(shape)}", shape, dim, once)

    def scale(self, pick):
        name, shape, dim, once = self.take(lambda v: True)
        c = self.emit(f"arith.constant dense<{pick(['0.5', '-0.25', '0.125'])}> : {self.type(shape)}",
                      None, None, False)
        op = pick(["mulf", "mulf", "divf", "addf"])
        a, b = (name, c) if op != "addf" or pick([0, 1]) else (c, name)
        self.emit(f"arith.{op} {a}, {b} : {self.type(shape)}", shape, dim, once)

    def binary(self, pick):
        a = self.take(lambda v: True)
        b = self.take(lambda v: v[1:3] == a[1:3])
        op = pick(["addf", "addf", "subf", "mulf", "maximumf"])
        self.emit(f"arith.{op} {a[0]}, {b[0]} : {self.type(a[1])}", a[1], a[2], a[3] or b[3])

    def product(self, pick):
        f = self.features
        a = self.take(lambda v: len(v[1]) == 2 and v[2] is not None and v[1][1 - v[2]] == f)
        w = self.take(lambda v: v[1] == (f, f) and v[2] is None)
        if a and w:
            left, right = (a, w) if a[2] == 0 else (w, a)
            self.emit(f"linalg.matmul ins({left[0]}, {right[0]} : {self.type(left[1])}, {self.type(right[1])}) "
                      f"outs({self.fill(a[1], '0.0')} : {self.type(a[1])}) -> {self.type(a[1])}",
                      a[1], a[2], a[3] or w[3])

    def fold(self, pick, value, dims, op):
        name, shape, dim, once = value
        rest = tuple(s for d, s in enumerate(shape) if d not in dims)
        left = None if dim is None or dim in dims else dim - sum(d < dim for d in dims)
        start = {"addf": "0.0", "maximumf": "0xFFF0000000000000", "minimumf": "0x7FF0000000000000"}[op]
        self.emit(f"linalg.reduce {{ arith.{op} }} ins({name} : {self.type(shape)}) "
                  f"outs({self.fill(rest, start)} : {self.type(rest)}) dimensions = {sorted(dims)}",
                  rest, left, once or dim in dims)

    def sum(self, pick):
        value = self.take(lambda v: v[2] is not None)
        self.fold(pick, value, pick([[value[2]], list(range(len(value[1])))]), "addf")

    def reduce(self, pick):
        value = self.take(lambda v: len(v[1]) > 0)
        dims = self.random.sample(range(len(value[1])), self.random.randint(1, len(value[1])))
        self.fold(pick, value, dims, pick(["addf", "maximumf", "minimumf"]))

    def broadcast(self, pick):
        value = self.take(lambda v: len(v[1]) < 2 and (not v[3] or pick([0, 0, 1])))
        like = self.take(lambda v: len(v[1]) == 2)
        if not value or not like:
            return
        shape, (target, dim) = value[1], like[1:3]
        if value[2] is not None:
            if dim is None:
                return
            missing = [1 - dim]
        elif not shape:
            missing = [0, 1]
        else:
            other = 0 if dim is None else 1 - dim
            if target[other] != shape[0]:
                return
            missing = [1 - other]
        self.emit(f"linalg.broadcast ins({value[0]} : {self.type(shape)}) outs({self.empty(target)} : "
                  f"{self.type(target)}) dimensions = {missing}", target,
                  dim if 0 in missing and 1 in missing or value[2] is not None or dim is not None else None,
                  value[3])

    def gradient(self, pick):
        a = self.take(lambda v: len(v[1]) == 2 and v[2] is not None)
        b = a and self.take(lambda v: v[1:3] == a[1:3])
        if not b:
            return
        other = a[1][1 - a[2]]
        maps = ["(i, j, k) -> (k, i)", "(i, j, k) -> (k, j)"] if a[2] == 0 else \
            ["(i, j, k) -> (i, k)", "(i, j, k) -> (j, k)"]
        shape = (other, other)
        start = self.fill(shape, "0.0")
        self.emit(f"linalg.generic {{indexing_maps = [" + ", ".join(f"affine_map<{m}>" for m in
                  maps + ["(i, j, k) -> (i, j)"]) + '], iterator_types = ["parallel", "parallel", '
                  f'"reduction"]}} ins({a[0]}, {b[0]} : {self.type(a[1])}, {self.type(b[1])}) '
                  f"outs({start} : {self.type(shape)}) {{ ^bb0(%p: f64, %q: f64, %o: f64): "
                  f"%m = arith.mulf %p, %q : f64 %s = arith.addf %o, %m : f64 linalg.yield %s : f64 }} "
                  f"-> {self.type(shape)}", shape, None, True)

    def update(self, pick):
        g = self.take(lambda v: v[3] and v[2] is None)
        w = g and self.take(lambda v: v[1] == g[1] and v[2] is None and not v[3])
        if w:
            self.emit(f"arith.subf {w[0]}, {g[0]} : {self.type(w[1])}", w[1], None, True)

    def transpose(self, pick):
        value = self.take(lambda v: len(v[1]) == 2)
        shape = value[1][::-1]
        self.emit(f"linalg.transpose ins({value[0]} : {self.type(value[1])}) outs({self.empty(shape)} : "
                  f"{self.type(shape)}) permutation = [1, 0]", shape,
                  None if value[2] is None else 1 - value[2], value[3])

    def concat(self, pick):
        a = self.take(lambda v: len(v[1]) == 2)
        b = self.take(lambda v: v[1:3] == a[1:3])
        d = pick([0, 1]) if a[2] is None else 1 - a[2]
        shape = tuple(s * 2 if i == d else s for i, s in enumerate(a[1]))
        joined = self.emit(f"tensor.concat dim({d}) {a[0]}, {b[0]} : ({self.type(a[1])}, {self.type(b[1])}) -> "
                           f"{self.type(shape)}", shape, a[2], a[3] or b[3])
        if pick([0, 1]):  # back to the usual width
            self.cut(joined, shape, a[1], d, a[2], a[3] or b[3], pick)

    def cut(self, name, shape, to, d, dim, once, pick):
        offset = self.random.randint(0, shape[d] - to[d])
        offsets = [offset if i == d else 0 for i in range(2)]
        self.emit(f"tensor.extract_slice {name}{offsets} {list(to)} [1, 1] : {self.type(shape)} to "
                  f"{self.type(to)}", to, dim, once)

    def slice(self, pick):
        value = self.take(lambda v: len(v[1]) == 2)
        d = pick([0, 1]) if value[2] is None else 1 - value[2]
        to = tuple(max(1, s // 2) if i == d else s for i, s in enumerate(value[1]))
        self.cut(value[0], value[1], to, d, value[2], value[3], pick)

    def view(self, pick):
        value = self.take(lambda v: len(v[1]) == 2)
        name, shape, dim, once = value
        flat = (shape[0] * shape[1],)
        joined = self.emit(f"tensor.collapse_shape {name} [[0, 1]] : {self.type(shape)} into {self.type(flat)}",
                           None, None, once)
        if pick([0, 1]):
            joined = self.emit(f"math.tanh {joined} : {self.type(flat)}", None, None, once)
        self.emit(f"tensor.expand_shape {joined} [[0, 1]] output_shape {list(shape)} : {self.type(flat)} into "
                  f"{self.type(shape)}", shape, dim, once)

    def drop_dead(self, live):
        lines = []
        for line in reversed(self.lines):
            names = re.findall(r"%\w+", line)
            if "stage_boundary" in line or names[0] in live:
                live.update(names)
                lines.append(line)
        self.lines = lines[::-1]
        self.args = [a for a in self.args if a.split(":")[0] in live]

    def text(self):
        made = [v for v in self.values if v[0].startswith("%v")] or self.values
        count = min(len(made), self.random.randint(1, 4))
        results = self.random.sample(made, count)
        if made[-1] not in results:
            results.append(made[-1])
        if self.crossed and self.crossed not in results:
            results.append(self.crossed)
        if self.random.random() < .8:
            self.drop_dead({v[0] for v in results})
        types = ", ".join(self.type(v[1]) for v in results)
        declared = types
        if self.uneven:
            declared = ", ".join(self.type(v[1]) + " " + self.describe(v) for v in results)
        signature = f"func.func @main({', '.join(self.args)}) -> ({declared}) {{"
        return "\n".join(self.meshes() + [signature] + self.lines
                         + [f"  return {', '.join(v[0] for v in results)} : {types}", "}", ""])

    def describe(self, result):
        """Attributes of a result: its axes, and the weight that it is written over."""
        attributes = [self.resources(result[1], result[2])] if self.random.random() < .5 else []
        free = [i for i, a in enumerate(self.args) if a.startswith("%w") and f": {self.type(result[1])} " in a]
        if free and result[3] and not self.tied and self.random.random() < .5:
            self.tied = True
            attributes.append(f"spmd.tied = {self.random.choice(free)} : i64")
        return "{" + ", ".join(attributes) + "}"

    def meshes(self):
        if not self.uneven:
            return [f'spmd.mesh @s{i} = <["data"=2]' + (f", device_ids=[{2 * i}, {2 * i + 1}]" if i else "") + ">"
                    for i in range(self.stages)]
        meshes, first = [], 0
        for i in range(self.stages):
            x, y = self.random.choice(SHAPES)
            ids = ", ".join(str(first + j) for j in range(x * y))
            meshes.append(f'spmd.mesh @s{i} = <["x"={x}, "y"={y}]' + (f", device_ids=[{ids}]" if i else "") + ">")
            first += x * y
        return meshes


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--batch", type=int, default=12)
    parser.add_argument("--stages", type=int, default=1)
    parser.add_argument("--size", type=int, default=12, help="ops")
    parser.add_argument("--uneven", action="store_true", help="meshes of several shapes")
    parser.add_argument("-o", "--output", default="-")
    args = parser.parse_args()
    text = Program(args.seed, args.batch, args.stages, args.size, args.uneven).text()
    if args.output == "-":
        sys.stdout.write(text)
    else:
        with open(args.output, "w") as file:
            file.write(text)


if __name__ == "__main__":
    main()
