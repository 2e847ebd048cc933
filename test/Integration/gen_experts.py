#!/usr/bin/env python3
"""Random mixtures of experts: matrices of groups, of whose rows a mask leaves few, in random layouts; with gradients.

  gen_experts.py --seed 1 --count 20 --mesh x=2,y=2 > functions.mlir
  shard-run functions.mlir --random-inputs=1 --verify=exact

With --unknown-rows the number of rows, t, is a size at run time (`shard-run --size=t=7`).
"""

import argparse
import random


class Function:
    def __init__(self, number: int, rng: random.Random, axes: list[str], unknown: bool):
        self.rng, self.axes, self.number, self.unknown = rng, axes, number, unknown
        self.body: list[str] = []
        self.arguments: list[str] = []
        self.results: list[tuple[str, str]] = []
        self.count = 0
        self.sizes = {"e": rng.randint(2, 5), "t": rng.randint(3, 9), "k": rng.choice([8, 9, 12]), "f": 2 * rng.choice([4, 5, 6])}
        self.sizes["h"] = self.sizes["f"] // 2

    def name(self, prefix: str = "v") -> str:
        self.count += 1
        return f"%{prefix}{self.count}"

    def isUnknown(self, dim: str) -> bool:
        return self.unknown and dim == "t"

    def type(self, dims: str, element: str = "i32") -> str:
        return "tensor<" + "".join("?x" if self.isUnknown(d) else f"{self.sizes[d]}x" for d in dims) + element + ">"

    def argument(self, dims: str, element: str = "i32") -> str:
        name = self.name("arg")
        free = [a for a in self.axes if self.rng.random() < 0.5]
        self.rng.shuffle(free)
        entries: list[list[str]] = [[] for _ in dims]
        for axis in free:
            entries[self.rng.randrange(len(dims))].append(axis)
        sharding = "<@m, [" + ", ".join("{" + ", ".join(f'"{a}"' for a in e) + "}" for e in entries) + "]>"
        given = [f"spmd.sharding = #spmd.sharding{sharding}"] if self.rng.random() < 0.7 else []
        if self.unknown and "t" in dims:
            names = ", ".join('"t"' if d == "t" else '""' for d in dims)
            given.append(f"spmd.symbols = [{names}]")
            if not any("tensor.dim" in line for line in self.body):
                self.body.append(f"  %dim = arith.constant {dims.index('t')} : index\n  %rows = tensor.dim {name}, %dim : {self.type(dims, element)}")
        self.arguments.append(f"{name}: {self.type(dims, element)}" + (f" {{{', '.join(given)}}}" if given else ""))
        return name

    def order(self, dims: str) -> str:
        return "".join(self.rng.sample(dims, len(dims)))

    def generic(self, inputs, dims: str, body: list[str], summed: str = "", element: str = "i32", init: str = "%zero") -> str:
        """Inputs are (value, dims, element), by the letters of their dims; of a random order of loops."""
        loops = self.order(dims + summed)
        names = ", ".join(loops)
        maps = [f"affine_map<({names}) -> ({', '.join(d)})>" for _, d, _ in inputs] + [f"affine_map<({names}) -> ({', '.join(dims)})>"]
        kinds = ", ".join('"reduction"' if d in summed else '"parallel"' for d in loops)
        empty, full, result = self.name("e"), self.name("f"), self.name()
        t = self.type(dims, element)
        unknown = "%rows" if self.unknown and "t" in dims else ""
        self.body.append(f"  {empty} = tensor.empty({unknown}) : {t}")
        self.body.append(f"  {full} = linalg.fill ins({init} : {element}) outs({empty} : {t}) -> {t}")
        ins = ", ".join(v for v, _, _ in inputs) + " : " + ", ".join(self.type(d, e) for _, d, e in inputs)
        args = ", ".join([f"%a{i}: {e}" for i, (_, _, e) in enumerate(inputs)] + [f"%acc: {element}"])
        ins = f"ins({ins}) " if inputs else ""
        self.body.append(f"  {result} = linalg.generic {{indexing_maps = [{', '.join(maps)}], iterator_types = [{kinds}]}} {ins}outs({full} : {t}) {{")
        self.body.append(f"  ^bb0({args}):")
        for line in body:
            for d in "etkfhj":
                line = line.replace(f"index {d} ", f"index {loops.find(d)} ")
            self.body.append(f"    {line}")
        self.body.append(f"  }} -> {t}")
        return result

    def product(self, a, b, dims: str, summed: str) -> str:
        a, b = self.rng.sample([a, b], 2)
        sides = self.rng.choice(["%acc, %p", "%p, %acc"])
        return self.generic([(*a, "i32"), (*b, "i32")], dims, ["%p = arith.muli %a0, %a1 : i32", f"%s = arith.addi {sides} : i32", "linalg.yield %s : i32"], summed)

    def make_mask(self) -> tuple[str, str]:
        kind = self.rng.choice(["argument", "chosen", "range", "wide"])
        if kind == "argument":
            dims = self.order("et")
            return self.argument(dims, "i1"), dims
        if kind == "wide":  # the same along k
            dims = self.order("et")
            return self.generic([(self.argument(dims, "i1"), dims, "i1")], wide := self.order("etk"), ["linalg.yield %a0 : i1"], element="i1", init="%false"), wide
        dims = self.order("et")
        count = self.sizes["e"]
        if kind == "chosen":
            body = ["%i = linalg.index e : index", "%j = arith.index_cast %i : index to i32", f"%n = arith.constant {count} : i32", "%r = arith.remui %a0, %n : i32", "%c = arith.cmpi eq, %r, %j : i32"]
            return self.generic([(self.argument("t"), "t", "i32")], dims, [*body, "linalg.yield %c : i1"], element="i1", init="%false"), dims
        # Rows in groups, one after the other.
        body = ["%i = linalg.index e : index", "%t = linalg.index t : index", f"%s = arith.constant {max(1, self.sizes['t'] // count)} : index", "%q = arith.divui %t, %s : index", "%c = arith.cmpi eq, %q, %i : index"]
        return self.generic([], dims, [*body, "linalg.yield %c : i1"], element="i1", init="%false"), dims

    def guard(self, value: str, dims: str) -> str:
        mask, of = self.mask
        if set(of) - set(dims):
            mask, of = self.narrow()
        return self.generic([(mask, of, "i1"), (value, dims, "i32")], dims, ["%s = arith.select %a0, %a1, %zero : i32", "linalg.yield %s : i32"])

    def narrow(self) -> tuple[str, str]:
        mask, of = self.mask
        shape = self.type("".join(d for d in of if d != "k"), "i1")
        sizes = ", ".join("1" if d == "k" else "%rows" if self.isUnknown(d) else str(self.sizes[d]) for d in of)
        result = self.name("n")
        zeros, ones = ", ".join("0" for _ in of), ", ".join("1" for _ in of)
        self.body.append(f"  {result} = tensor.extract_slice {mask}[{zeros}] [{sizes}] [{ones}] : {self.type(of, 'i1')} to {shape}")
        return result, of.replace("k", "")

    def elementwise(self, value: str, dims: str, keepsZero: bool) -> str:
        kind = self.rng.choice(["square", "share", "negate"] + ([] if keepsZero else ["add", "bias"]))
        if kind == "square":
            return self.generic([(value, dims, "i32")], dims, ["%s = arith.muli %a0, %a0 : i32", "linalg.yield %s : i32"])
        if kind == "negate":
            return self.generic([(value, dims, "i32")], dims, ["%s = arith.subi %zero, %a0 : i32", "linalg.yield %s : i32"])
        if kind == "add":
            return self.generic([(value, dims, "i32")], dims, ["%s = arith.addi %a0, %one : i32", "linalg.yield %s : i32"])
        of = self.order(self.rng.choice(["et", "t", "e"]) if kind == "share" else "e" + dims[-1] if dims[-1] not in "et" else "e")
        op = "muli" if kind == "share" else "addi"
        return self.generic([(value, dims, "i32"), (self.argument(of), of, "i32")], dims, [f"%s = arith.{op} %a0, %a1 : i32", "linalg.yield %s : i32"])

    def half(self, value: str, dims: str) -> str:
        """Half of the columns, every other one or the first ones."""
        result = self.name("h")
        every = self.rng.random() < 0.5
        part = lambda d: (self.sizes["h"], 2 if every else 1) if d == "f" else ("%rows" if self.isUnknown(d) else self.sizes[d], 1)
        first = self.rng.randint(0, 1)
        offsets = ", ".join(str((first if every else first * self.sizes["h"]) if d == "f" else 0) for d in dims)
        sizes, strides = (", ".join(str(part(d)[i]) for d in dims) for i in range(2))
        self.body.append(f"  {result} = tensor.extract_slice {value}[{offsets}] [{sizes}] [{strides}] : {self.type(dims)} to {self.type(dims.replace('f', 'h'))}")
        return result

    def look_up(self, value: str) -> str:
        """The rows of a matrix in another order, some of them several times."""
        size = "%n = arith.index_cast %rows : index to i32" if self.unknown else f"%n = arith.constant {self.sizes['t']} : i32"
        at = ["%r = arith.remui %a0, %n : i32", "%i = arith.index_cast %r : i32 to index", "%k = linalg.index k : index"]
        read = f"%s = tensor.extract {value}[%i, %k] : {self.type('tk')}"
        return self.generic([(self.argument("t"), "t", "i32")], "tk", [size, *at, read, "linalg.yield %s : i32"])

    def make(self) -> None:
        rng = self.rng
        x = self.argument("tk")
        self.mask = self.make_mask()
        if rng.random() < 0.4:
            x = self.look_up(x)
        first = self.order("ekf")
        w = self.argument(first)
        inside = self.order("etf")
        form = rng.choice(["mixture", "mixture", "mixture", "one-hot", "masked rows", "weights"])
        if form == "one-hot":  # each row chooses two groups; the mask is where their shares are not zero
            count = self.sizes["e"]
            self.sizes["j"] = 2
            body = ["%i = linalg.index e : index", "%n = arith.index_cast %i : index to i32", f"%m = arith.constant {count} : i32", "%r = arith.remui %a0, %m : i32", "%c = arith.cmpi eq, %r, %n : i32"]
            chosen = self.generic([(self.argument("tj"), "tj", "i32")], "tje", [*body, "linalg.yield %c : i1"], element="i1", init="%false")
            ones = self.generic([(chosen, "tje", "i1")], "tje", ["%s = arith.extui %a0 : i1 to i32", "linalg.yield %s : i32"])
            share = self.generic([(ones, "tje", "i32"), (self.argument("tj"), "tj", "i32")], "te", ["%p = arith.muli %a0, %a1 : i32", "%s = arith.addi %acc, %p : i32", "linalg.yield %s : i32"], "j")
            h = self.elementwise(self.product((x, "tk"), (w, first), inside, "k"), inside, False)
            self.results.append((self.product((h, inside), (share, "te"), "tf", "e"), "tf"))
            return
        if form == "masked rows":  # sums over groups and columns at once
            dims = self.order("etk")
            spread = self.generic([(x, "tk", "i32")], dims, ["linalg.yield %a0 : i32"])
            y = self.product((self.guard(spread, dims), dims), (w, first), "tf", "ek")
            self.results.append((y, "tf"))
            return
        if form == "weights":  # of each group, from its rows
            dims = self.order("etf")
            gradient = self.argument("tf")
            spread = self.generic([(gradient, "tf", "i32")], dims, ["linalg.yield %a0 : i32"])
            out = self.order("ekf")
            self.results.append((self.product((x, "tk"), (self.guard(spread, dims), dims), out, "t"), out))
            return
        h = self.product((x, "tk"), (w, first), inside, "k")
        early, late = rng.choice([(True, False), (False, True), (True, True)])
        kept = h
        if early:
            h = kept = self.guard(h, inside)
        dims, column = inside, "f"
        if rng.random() < 0.5:
            a, b = self.half(h, inside), self.half(h, inside)
            dims, column = inside.replace("f", "h"), "h"
            h = self.generic([(a, dims, "i32"), (b, dims, "i32")], dims, ["%s = arith.muli %a0, %a1 : i32", "linalg.yield %s : i32"])
        for _ in range(rng.randint(0, 2)):
            h = self.elementwise(h, dims, not late)
        if rng.random() < 0.7:  # the second matrix
            second = self.order(f"e{column}k")
            out = self.order("etk")
            v = self.argument(second)
            inner, innerDims = h, dims
            h = self.product((h, dims), (v, second), out, column)
            dims, column = out, "k"
            if rng.random() < 0.4:
                h = self.elementwise(h, dims, not late)
        else:
            inner = None
        if late:
            h = self.guard(h, dims)
        y = self.generic([(h, dims, "i32")], "t" + column, ["%s = arith.addi %acc, %a0 : i32", "linalg.yield %s : i32"], "e")
        self.results.append((y, "t" + column))
        if rng.random() < 0.2:  # read elsewhere too
            self.results.append((kept, inside))
        if inner and rng.random() < 0.6:  # as a gradient: reads what the first part made, and its result
            spread = self.generic([(y, "tk", "i32")], dims, ["linalg.yield %a0 : i32"])
            spread = self.guard(spread, dims)
            self.results.append((self.product((inner, innerDims), (spread, dims), second, "t"), second))
            if rng.random() < 0.7:
                back = self.guard(self.product((spread, dims), (v, second), innerDims, "k"), innerDims)
                if "h" not in innerDims:
                    self.results.append((self.product((x, "tk"), (back, innerDims), first, "t"), first))
                    self.results.append((self.product((back, innerDims), (w, first), "tk", "ef"), "tk"))

    def text(self) -> str:
        self.make()
        types = ", ".join(self.type(d) for _, d in self.results)
        returned = ", ".join(v for v, _ in self.results) + " : " + types
        constants = ["  %zero = arith.constant 0 : i32", "  %one = arith.constant 1 : i32", "  %false = arith.constant false"]
        bounds = " attributes {spmd.bounds = {t = [0, 16]}}" if self.unknown else ""
        return "\n".join([f"func.func @f{self.number}({', '.join(self.arguments)}) -> ({types}){bounds} {{", *constants, *self.body, f"  return {returned}", "}"])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=20)
    parser.add_argument("--only", type=int)
    parser.add_argument("--mesh", default="x=2,y=2")
    parser.add_argument("--unknown-rows", action="store_true")
    arguments = parser.parse_args()
    axes = dict(a.split("=") for a in arguments.mesh.split(","))
    print("spmd.mesh @m = <[" + ", ".join(f'"{a}"={n}' for a, n in axes.items()) + "]>")
    for number in range(arguments.count):
        text = Function(number, random.Random(f"{arguments.seed}.{number}"), list(axes), arguments.unknown_rows).text()
        if arguments.only in (None, number):
            print(text)


if __name__ == "__main__":
    main()
