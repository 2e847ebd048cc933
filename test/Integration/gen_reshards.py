#!/usr/bin/env python3
"""Writes a module of small random programs that mostly change layouts.

  gen_reshards.py --seed 1 --count 100 -o reshards.mlir

As gen_random.py, on meshes whose axes (2, 3, 4, 6) do not divide each other, so
that digits of one layout often straddle those of the next, with few ops between
the constraints: moves of complete and of partial values.
"""
import gen_random

gen_random.MESHES = [[2, 3], [3, 2], [6], [2, 6], [6, 2], [3, 4], [4, 3],
                     [2, 2, 3], [2, 3, 2], [3, 2, 2]]
gen_random.SIZES = [2, 3, 4, 6, 6, 8, 12, 12, 18, 24]


class Reshards(gen_random.Function):
    GROUPS = {"basic": {"constraint": 12, "einsum": 3, "reduce": 3, "elementwise": 1,
                        "transpose": 1}}
    FLAVOURS = [""]


gen_random.Function = Reshards

if __name__ == "__main__":
    gen_random.main()
