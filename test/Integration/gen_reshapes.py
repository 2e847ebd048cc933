#!/usr/bin/env python3
"""Writes a module of small random programs that mostly reshape.

  gen_reshapes.py --seed 1 --count 100 -o reshapes.mlir
  gen_reshapes.py --single --seed 1 ...     one reshape per function, and nothing else
  gen_reshapes.py --check EXPLAIN.json      what --spmd-explain-reshape says of them
  gen_reshapes.py --check-single BUNDLE REPORT.json EXPLAIN.json
                                            that single ones keep the most and receive the fewest elements

As gen_random.py, with any dims to any dims, under shardings with gaps and sub-axes, on
meshes with axes of 2, 3, 4 and 6: digits are kept, regrouped across axes, or gathered.
"""
import json
import math
import re
import sys

import gen_random

gen_random.MESHES = [[2], [4], [6], [8], [2, 2], [2, 3], [3, 2], [2, 4], [6, 2], [2, 2, 3], [3, 2, 2]]
gen_random.SIZES = [1, 2, 3, 4, 6, 6, 8, 12, 12, 16, 24]


class Reshapes(gen_random.Function):
    GROUPS = {"basic": {"constraint": 3, "reshape": 8, "collapse": 2, "expand": 3, "elementwise": 2,
                        "transpose": 1, "reduce": 1}}
    FLAVOURS = [""]


gen_random.Function = Reshapes


class Single(Reshapes):
    """The layout of the result is what is left. Costs of the meshes are such that bytes count and calls do
    not."""

    def build(self, reference=True):
        self.element, self.is_float = "i32", False  # no casts of the argument
        while True:
            self.add_argument(self.random_shape())
            for _ in range(10):
                try:
                    getattr(self, "step_" + self.rng.choice(["reshape", "reshape", "collapse", "expand"]))()
                    text = self.sides("", [self.values[-1]])[0]
                    return re.sub(r"-> \((tensor<\S*>).*\) \{$", r"-> \1 {", text, count=1, flags=re.M)
                except gen_random.Skip:
                    pass
            for table in (self.lines, self.values, self.args):
                table.clear()


def load(path):
    with open(path) as f:
        return json.load(f)


BYTES = {"i8": 1, "i16": 2, "f16": 2, "bf16": 2, "i32": 4, "f32": 4, "i64": 8, "f64": 8}


def held(value, rank):
    """The elements that a rank owns, from the extents of a manifest."""
    places = [sum(rank // stride % size * step for stride, size, step in value["extents"]["offset"])]
    for size, step, _ in value["extents"]["loops"]:
        places = [place + i * step for place in places for i in range(size)]
    return set(places)


def check_single(bundle, report, explained):
    """Every function keeps all that a reshape can keep, and receives what its devices own of the result and
    not of the argument."""
    for function in load(explained)["functions"]:
        for own in function["reshapes"]:
            kept = own["result"]["sharding"].replace(", ?", "").replace("?", "")
            if kept != own["native"]:
                sys.exit(f"{function['name']}: {kept} of {own['native']} is kept")
    compiled = {f["name"]: f for f in load(bundle + "/manifest.json")["functions"]}
    moved = dict.fromkeys(compiled, 0)
    for own in load(report)["collectives"]:
        function = compiled[own["function"]]
        move = next(c for c in function["collectives"] if c["id"] == own["id"])
        # A report counts the devices of one group.
        groups = function["devices"] // math.prod(size for _, size in move["group"])
        moved[own["function"]] += own["received"] * groups // BYTES[move["dtype"]]
    for name, function in compiled.items():
        need = sum(len(held(function["results"][0], r) - held(function["arguments"][0], r))
                   for r in range(function["devices"]))
        if moved[name] != need:
            sys.exit(f"{name}: {moved[name]} elements received, {need} needed")
    print(f"{len(compiled)} functions, {sum(map(bool, moved.values()))} move something: the fewest elements possible")


def check(explained):
    functions = load(explained)["functions"]
    count = gathering = 0
    for function in functions:
        for own in function["reshapes"]:
            count += 1
            gathering += bool(own["gathered"])
            if own["received"] != own["lower_bound"]:
                sys.exit(f"{function['name']}: {own}")
    print(f"{count} reshapes, {gathering} gather something: all receive the fewest bytes possible")


if __name__ == "__main__":
    if sys.argv[1] == "--check":
        check(sys.argv[2])
    elif sys.argv[1] == "--check-single":
        check_single(*sys.argv[2:])
    else:
        if "--single" in sys.argv:
            sys.argv.remove("--single")
            gen_random.Function = Single
            gen_random.mesh_costs = lambda i: ("1.0e-15", "1.0e-6")
        gen_random.main()
