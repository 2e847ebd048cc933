#!/usr/bin/env python3
"""Random functions of sizes that only the run knows: dims of arguments are sizes b and s, in random layouts.

  gen_sizes.py --seed 1 --count 20 --mesh x=2,y=3 > functions.mlir
  shard-run functions.mlir --size=b=5 --size=s=3 --random-inputs=1 --verify=exact
"""

import argparse
import random


SIZES = {"b": "%b", "s": "%s", "b*s": "%bs", "2*b": "%b2", "b/2": "%half", "b%2": "%rest"}
"""The values of sizes, by what they are of the sizes of arguments."""


class Function:
    def __init__(self, number: int, rng: random.Random, axes: list[str], sorts: bool = False, derived: bool = False):
        self.sorts, self.derived = sorts, derived
        self.rng, self.axes, self.number = rng, axes, number
        self.body: list[str] = []
        self.values: list[tuple[str, list]] = []
        self.arguments: list[str] = []
        self.count = 0

    def name(self, prefix: str = "v") -> str:
        self.count += 1
        return f"%{prefix}{self.count}"

    @staticmethod
    def type(dims: list, element: str = "i32") -> str:
        return "tensor<" + "".join(("?" if isinstance(d, str) else str(d)) + "x" for d in dims) + element + ">"

    def sharding(self, dims: list) -> str:
        """A dim that is computed from sizes would have to be a multiple of its shards at each call."""
        free = [a for a in self.axes if self.rng.random() < 0.6]
        self.rng.shuffle(free)
        entries: list[list[str]] = [[] for _ in dims]
        for axis in free:
            d = self.rng.randrange(len(dims)) if dims else None
            if d is not None and not (self.derived and dims[d] in SIZES and dims[d] not in ("b", "s")):
                entries[d].append(axis)
        return "<@m, [" + ", ".join("{" + ", ".join(f'"{a}"' for a in e) + "}" for e in entries) + "]>"

    def sizes(self, dims: list) -> str:
        return ", ".join(SIZES[d] for d in dims if isinstance(d, str))

    def add(self, text: str, dims: list) -> str:
        name = self.name()
        self.body.append(f"  {name} = {text}")
        self.values.append((name, dims))
        return name

    def pick(self, wanted=lambda dims: True):
        fitting = [v for v in self.values if wanted(v[1])]
        return self.rng.choice(fitting) if fitting else None

    def filled(self, dims: list, constant: str = "%zero") -> str:
        empty, full = self.name("e"), self.name("f")
        t = self.type(dims)
        self.body.append(f"  {empty} = tensor.empty({self.sizes(dims)}) : {t}")
        self.body.append(f"  {full} = linalg.fill ins({constant} : i32) outs({empty} : {t}) -> {t}")
        return full

    def generic(self, inputs, dims, loops, body, reduction=(), init="%zero"):
        """Inputs are (value, dims, loops of its dims); the result has the loops that are not summed."""
        names = [f"d{i}" for i in range(loops)]
        maps = [f"affine_map<({', '.join(names)}) -> ({', '.join(names[i] for i in at)})>" for _, _, at in inputs]
        kept = [i for i in range(loops) if i not in reduction]
        maps.append(f"affine_map<({', '.join(names)}) -> ({', '.join(names[i] for i in kept)})>")
        kinds = ", ".join('"reduction"' if i in reduction else '"parallel"' for i in range(loops))
        t = self.type(dims)
        out = self.filled(dims, init)
        ins = ", ".join(v for v, _, _ in inputs) + " : " + ", ".join(self.type(d) for _, d, _ in inputs)
        args = ", ".join([f"%a{i}: i32" for i in range(len(inputs))] + ["%acc: i32"])
        text = f"linalg.generic {{indexing_maps = [{', '.join(maps)}], iterator_types = [{kinds}]}} ins({ins}) outs({out} : {t}) {{\n"
        text += f"  ^bb0({args}):\n" + "".join(f"    {line}\n" for line in body) + f"  }} -> {t}"
        return self.add(text, dims)

    # The kinds of ops; each returns whether it added something.

    def elementwise(self) -> bool:
        value = self.pick(len)
        if not value:
            return False
        x, dims = value
        y = self.rng.choice([v for v, d in self.values if d == dims])
        op = self.rng.choice(["addi", "muli", "subi", "maxsi", "minsi", "ori"])
        return bool(self.add(f"arith.{op} {x}, {y} : {self.type(dims)}", dims))

    def divide(self) -> bool:
        value = self.pick(len)
        if not value:
            return False
        x, dims = value
        ones = self.filled(dims, "%one")
        odd = self.add(f"arith.ori {x}, {ones} : {self.type(dims)}", dims)
        return bool(self.add(f"arith.{self.rng.choice(['divsi', 'remsi'])} {x}, {odd} : {self.type(dims)}", dims))

    def broadcast(self) -> bool:
        value = self.pick(lambda d: len(d) >= 2)
        if not value:
            return False
        x, dims = value
        small = self.pick(lambda d: len(d) == 1 and d[0] in dims)
        if not small:
            return False
        y, other = small
        at = [self.rng.choice([i for i, d in enumerate(dims) if d == other[0]])]
        body = ["%r = arith.addi %a0, %a1 : i32", "linalg.yield %r : i32"]
        return bool(self.generic([(x, dims, list(range(len(dims)))), (y, other, at)], dims, len(dims), body))

    def indices(self) -> bool:
        value = self.pick(len)
        if not value:
            return False
        x, dims = value
        loop = self.rng.randrange(len(dims))
        body = [f"%i = linalg.index {loop} : index", "%c = arith.index_cast %i : index to i32", "%r = arith.muli %a0, %c : i32", "linalg.yield %r : i32"]
        return bool(self.generic([(x, dims, list(range(len(dims))))], dims, len(dims), body))

    def contract(self) -> bool:
        value = self.pick(lambda d: len(d) >= 2 and "b*s" not in d)
        if not value:
            return False
        x, dims = value
        k = self.rng.randrange(len(dims))
        other = self.pick(lambda d: len(d) == 2 and dims[k] in d and "b*s" not in d)
        if not other:
            return False
        y, ydims = other
        yk = ydims.index(dims[k])
        n = len(dims)
        at = [n, k] if yk else [k, n]
        result = [d for i, d in enumerate(dims) if i != k] + [ydims[1 - yk]]
        if len(result) > 3:
            return False
        body = ["%p = arith.muli %a0, %a1 : i32", "%r = arith.addi %p, %acc : i32", "linalg.yield %r : i32"]
        return bool(self.generic([(x, dims, list(range(n))), (y, ydims, at)], result, n + 1, body, reduction=(k,)))

    def reduce(self) -> bool:
        value = self.pick(len)
        if not value:
            return False
        x, dims = value
        k = self.rng.randrange(len(dims))
        result = [d for i, d in enumerate(dims) if i != k]
        op, init = self.rng.choice([("addi", "%zero"), ("maxsi", "%least"), ("minsi", "%most"), ("muli", "%one")])
        body = [f"%r = arith.{op} %a0, %acc : i32", "linalg.yield %r : i32"]
        return bool(self.generic([(x, dims, list(range(len(dims))))], result, len(dims), body, reduction=(k,), init=init))

    def transpose(self) -> bool:
        value = self.pick(lambda d: len(d) >= 2)
        if not value:
            return False
        x, dims = value
        order = self.rng.sample(range(len(dims)), len(dims))
        result = [dims[i] for i in order]
        empty = self.name("e")
        self.body.append(f"  {empty} = tensor.empty({self.sizes(result)}) : {self.type(result)}")
        return bool(self.add(f"linalg.transpose ins({x} : {self.type(dims)}) outs({empty} : {self.type(result)}) permutation = {order}", result))

    def pad(self) -> bool:
        value = self.pick(lambda d: any(isinstance(i, int) for i in d))
        if not value:
            return False
        x, dims = value
        d = self.rng.choice([i for i, size in enumerate(dims) if isinstance(size, int)])
        low, high = self.rng.randrange(3), self.rng.randrange(3)
        if dims[d] + low + high > 9:
            return False
        result = [size + low + high if i == d else size for i, size in enumerate(dims)]
        lows, highs = ([n if i == d else 0 for i in range(len(dims))] for n in (low, high))
        args = ", ".join(f"%i{i}: index" for i in range(len(dims)))
        text = f"tensor.pad {x} low{lows} high{highs} {{\n  ^bb0({args}):\n    tensor.yield %one : i32\n  }} : {self.type(dims)} to {self.type(result)}"
        return bool(self.add(text, result))

    def concat(self) -> bool:
        value = self.pick(lambda d: any(isinstance(i, int) for i in d))
        if not value:
            return False
        x, dims = value
        d = self.rng.choice([i for i, size in enumerate(dims) if isinstance(size, int)])
        y = self.rng.choice([v for v, other in self.values if other == dims])
        if dims[d] > 4:
            return False
        result = [2 * size if i == d else size for i, size in enumerate(dims)]
        t = self.type(dims)
        return bool(self.add(f"tensor.concat dim({d}) {x}, {y} : ({t}, {t}) -> {self.type(result)}", result))

    def slice(self) -> bool:
        value = self.pick(lambda d: any(isinstance(i, int) and i > 1 for i in d))
        if not value:
            return False
        x, dims = value
        d = self.rng.choice([i for i, size in enumerate(dims) if isinstance(size, int) and size > 1])
        length = self.rng.randrange(1, dims[d])
        start = self.rng.randrange(dims[d] - length + 1)
        result = [length if i == d else size for i, size in enumerate(dims)]
        offsets = [start if i == d else 0 for i in range(len(dims))]
        sizes = ", ".join(SIZES.get(s, str(s)) for s in result)
        steps = [1] * len(dims)
        return bool(self.add(f"tensor.extract_slice {x}{offsets} [{sizes}] {steps} : {self.type(dims)} to {self.type(result)}", result))

    def reshape(self) -> bool:
        """Joins b and s, computes, and separates them again; or a known dim."""
        value = self.pick(lambda d: len(d) >= 2 and d[0] == "b" and d[1] == "s")
        if value and self.rng.random() < 0.6:
            x, dims = value
            joined = ["b*s", *dims[2:]]
            groups = [[0, 1], *([i] for i in range(2, len(dims)))]
            if len(dims) == 3 and self.rng.random() < 0.3:
                groups, joined = [[0, 1, 2]], ["all"]
            y = self.add(f"tensor.collapse_shape {x} {groups} : {self.type(dims)} into {self.type(joined)}", joined)
            z = self.add(f"arith.addi {y}, {y} : {self.type(joined)}", joined)
            if joined == ["all"]:
                self.values = self.values[:-2]
            sizes = ", ".join(SIZES.get(s, str(s)) for s in dims)
            return bool(self.add(f"tensor.expand_shape {z} {groups} output_shape [{sizes}] : {self.type(joined)} into {self.type(dims)}", dims))
        value = self.pick(lambda d: len(d) < 4 and any(isinstance(i, int) and i in (4, 6) for i in d) and "b*s" not in d)
        if not value:
            return False
        x, dims = value
        d = next(i for i, size in enumerate(dims) if size in (4, 6))
        expanded = [*dims[:d], 2, dims[d] // 2, *dims[d + 1 :]]
        groups, at = [], 0
        for i in range(len(dims)):
            groups.append([at, at + 1] if i == d else [at])
            at += 2 if i == d else 1
        sizes = ", ".join(SIZES.get(s, str(s)) for s in expanded)
        y = self.add(f"tensor.expand_shape {x} {groups} output_shape [{sizes}] : {self.type(dims)} into {self.type(expanded)}", expanded)
        return bool(self.add(f"tensor.collapse_shape {y} {groups} : {self.type(expanded)} into {self.type(dims)}", dims))

    def double(self) -> bool:
        """Two values of b rows, one after the other."""
        value = self.pick(lambda d: "b" in d)
        if not value:
            return False
        x, dims = value
        d = self.rng.choice([i for i, size in enumerate(dims) if size == "b"])
        y = self.rng.choice([v for v, other in self.values if other == dims])
        result = ["2*b" if i == d else size for i, size in enumerate(dims)]
        t = self.type(dims)
        return bool(self.add(f"tensor.concat dim({d}) {x}, {y} : ({t}, {t}) -> {self.type(result)}", result))

    def halve(self) -> bool:
        """Each second row, or the last one of an odd number."""
        value = self.pick(lambda d: "b" in d or "2*b" in d)
        if not value:
            return False
        x, dims = value
        d = self.rng.choice([i for i, size in enumerate(dims) if size in ("b", "2*b")])
        made, step = ("b", 2) if dims[d] == "2*b" else self.rng.choice([("b/2", 2), ("b/2", 1), ("b%2", 1)])
        result = [made if i == d else size for i, size in enumerate(dims)]
        sizes = ", ".join(SIZES.get(s, str(s)) for s in result)
        offsets, steps = [0] * len(dims), [step if i == d else 1 for i in range(len(dims))]
        return bool(self.add(f"tensor.extract_slice {x}{offsets} [{sizes}] {steps} : {self.type(dims)} to {self.type(result)}", result))

    def size(self) -> bool:
        value = self.pick(lambda d: any(isinstance(i, str) for i in d))
        if not value:
            return False
        x, dims = value
        d = next(i for i, size in enumerate(dims) if isinstance(size, str))
        at, dim, number = self.name("at"), self.name("dim"), self.name("n")
        self.body.append(f"  {at} = arith.constant {d} : index")
        self.body.append(f"  {dim} = tensor.dim {x}, {at} : {self.type(dims)}")
        self.body.append(f"  {number} = arith.index_cast {dim} : index to i32")
        return bool(self.add(f"tensor.splat {number} : tensor<4xi32>", [4]))

    def loop(self) -> bool:
        value = self.pick(len)
        if not value:
            return False
        x, dims = value
        t = self.type(dims)
        text = f"scf.for %i = %c0 to %c3 step %c1 iter_args(%carried = {x}) -> ({t}) {{\n    %next = arith.addi %carried, {x} : {t}\n    scf.yield %next : {t}\n  }}"
        return bool(self.add(text, dims))

    def sort(self) -> bool:
        """Equal elements keep their order, which a second value shows."""
        value = self.pick(lambda d: any(i != 1 for i in d))
        if not value:
            return False
        x, dims = value
        d = self.rng.choice([i for i, size in enumerate(dims) if size != 1])
        y = self.rng.choice([v for v, other in self.values if other == dims])
        t, order = self.type(dims), self.rng.choice(["sgt", "slt"])
        made = self.name()
        self.body.append(f"  {made}:2 = spmd.sort {x}, {y} dim = {d} {{\n  ^bb0(%a: i32, %b0: i32, %c: i32, %d: i32):")
        self.body.append(f"    %r = arith.cmpi {order}, %a, %b0 : i32\n    spmd.yield %r\n  }} : ({t}, {t}) -> ({t}, {t})")
        self.values += [(f"{made}#0", dims), (f"{made}#1", dims)]
        return True

    def constrain(self) -> bool:
        value = self.pick(len)
        if not value:
            return False
        x, dims = value
        return bool(self.add(f"spmd.with_sharding_constraint {x} {self.sharding(dims)} : {self.type(dims)}", dims))

    def write(self) -> str:
        rng = self.rng
        shapes = [["b", rng.choice([4, 6, 3])], ["b", "s", 4], ["s"], [4, 6], ["b", "s"], ["s", 4], [4], ["b"]]
        shapes += [["2*b", 4], ["s", "2*b"], ["b*s"]] * self.derived
        for i, dims in enumerate([["b", "s", 4], *rng.sample(shapes, 3)]):
            symbols = ", ".join(f'"{d.replace("*", " * ")}"' if isinstance(d, str) else '""' for d in dims)
            attributes = f"spmd.range = [-3, 4], spmd.symbols = [{symbols}]"
            if rng.random() < 0.7:
                attributes += f", spmd.sharding = #spmd.sharding{self.sharding(dims)}"
            self.arguments.append(f"%x{i}: {self.type(dims)} {{{attributes}}}")
            self.values.append((f"%x{i}", dims))
        kinds = [self.elementwise, self.divide, self.broadcast, self.indices, self.contract, self.reduce, self.transpose, self.pad, self.concat,
                 self.slice, self.reshape, self.size, self.loop, self.constrain, self.constrain]  # fmt: skip
        kinds += [self.sort] * 3 * self.sorts + [self.double, self.halve] * 3 * self.derived
        for _ in range(rng.randrange(4, 12)):
            rng.choice(kinds)()
        results = self.values[-3:]
        types = ", ".join(self.type(d) for _, d in results)
        bounds = "" if self.number % 2 else " attributes {spmd.bounds = {b = [0, 40], s = [0, 40]}}"
        head = [
            f"func.func @f{self.number}({', '.join(self.arguments)}) -> ({types}){bounds} {{",
            "  %c0 = arith.constant 0 : index", "  %c1 = arith.constant 1 : index", "  %c3 = arith.constant 3 : index",
            "  %zero = arith.constant 0 : i32", "  %one = arith.constant 1 : i32",
            "  %least = arith.constant -2147483648 : i32", "  %most = arith.constant 2147483647 : i32",
            "  %b = tensor.dim %x0, %c0 : tensor<?x?x4xi32>", "  %s = tensor.dim %x0, %c1 : tensor<?x?x4xi32>",
            "  %bs = arith.muli %b, %s : index",
        ]  # fmt: skip
        if self.derived:
            head += ["  %c2 = arith.constant 2 : index", "  %b2 = arith.muli %b, %c2 : index", "  %half = arith.divsi %b, %c2 : index",
                     "  %both = arith.muli %half, %c2 : index", "  %rest = arith.subi %b, %both : index"]  # fmt: skip
        returned = f"  return {', '.join(v for v, _ in results)} : {types}\n}}"
        return "\n".join([*head, *self.body, returned])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=10)
    parser.add_argument("--only", type=int)
    parser.add_argument("--mesh", default="x=2,y=3")
    parser.add_argument("--sorts", action="store_true", help="sorts too")
    parser.add_argument("--derived", action="store_true", help="doubles, halves and rests of sizes too")
    args = parser.parse_args()
    axes = [axis.split("=") for axis in args.mesh.split(",")]
    declared = ", ".join(f'"{name}"={size}' for name, size in axes)
    print(f"spmd.mesh @m = <[{declared}]>")
    for number in range(args.count):
        if args.only in (None, number):
            rng = random.Random(f"{args.seed}/{number}")
            print(Function(number, rng, [name for name, _ in axes], args.sorts, args.derived).write())


if __name__ == "__main__":
    main()
