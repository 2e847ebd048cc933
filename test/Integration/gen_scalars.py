#!/usr/bin/env python3
"""Writes functions that have every op of arith and math on tensors of every element type, for all kinds of numbers.

  gen_scalars.py --exact -o exact.mlir       ops whose results are rounded correctly: equal bit by bit
  gen_scalars.py --inexact -o inexact.mlir   the others: near each other, NaN and infinite in the same elements
  gen_scalars.py --missing Status.md         the ops of these dialects in the table that no function has

Elements have random bits: subnormals, infinities and NaNs too. A function computes a few ops beside each other, in
random order, so that they are vectorized together. Where an op has no meaning (a shift by more than the width), operands
are changed first.
"""
import argparse
import random
import sys

import random_ops

SHAPE = "16x8x"
BITS = {"f8E4M3FN": "i8", "f8E5M2": "i8", "bf16": "i16", "f16": "i16", "f32": "i32", "f64": "i64"}
FLOATS = ["bf16", "f16", "f32", "f64"]
INTEGERS = ["i1", "i8", "i16", "i32", "i64"]
# Pairs of these are in every function: zeros, infinities, NaN, and numbers around them.
SPECIAL = ["0.0", "-0.0", "1.0", "-1.0", "inf", "-inf", "nan", "0.5"]
COMPARE = ["oeq", "ogt", "oge", "olt", "ole", "one", "ord", "ueq", "ugt", "uge", "ult", "ule", "une", "uno"]
COMPARE_INTEGERS = ["eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge"]

EXACT = {"arith.addf": 2, "arith.subf": 2, "arith.mulf": 2, "arith.divf": 2, "arith.remf": 2, "arith.maximumf": 2,
         "arith.minimumf": 2, "math.copysign": 2, "arith.negf": 1, "math.absf": 1, "math.ceil": 1, "math.floor": 1,
         "math.round": 1, "math.roundeven": 1, "math.trunc": 1, "math.sqrt": 1, "math.fma": 3}
# The sign of a zero, and what a signaling NaN gives, are not defined.
NUMBERS = ["arith.maxnumf", "arith.minnumf"]
TESTS = ["math.isnan", "math.isinf", "math.isfinite", "math.isnormal"]
INEXACT = {name: 1 for name in
           """math.acos math.acosh math.asin math.asinh math.atan math.atanh math.cbrt math.cos math.cosh math.erf
           math.erfc math.exp math.exp2 math.expm1 math.log math.log10 math.log1p math.log2 math.rsqrt math.sin
           math.sinh math.tan math.tanh""".split()}
INEXACT |= {"math.atan2": 2, "math.powf": 2}
PLAIN = """arith.addi arith.subi arith.muli arith.andi arith.ori arith.xori arith.maxsi arith.maxui arith.minsi
arith.minui""".split()
DIVISIONS = "arith.divsi arith.divui arith.remsi arith.remui arith.ceildivsi arith.ceildivui arith.floordivsi".split()
SHIFTS = "arith.shli arith.shrsi arith.shrui".split()
COUNTS = "math.absi math.ctlz math.cttz math.ctpop".split()
# For any target: see random-absent.txt.
NOT_COMPILED = {"arith.scaling_extf", "arith.scaling_truncf", "math.ipowi"}
PAIRS = "arith.mulsi_extended arith.mului_extended".split()


def tensor(element):
    return f"tensor<{SHAPE}{element}>"


class Function:
    def __init__(self, name, element):
        self.name, self.element, self.lines, self.results, self.next = name, element, [], [], 0
        self.stored = BITS.get(element, element)

    def let(self, text, count=None):
        self.next += 1
        self.lines.append(f"  %{self.next}{f':{count}' if count else ''} = {text}")
        return f"%{self.next}"

    def constant(self, value, element=None):
        return self.let(f"arith.constant dense<{value}> : {tensor(element or self.element)}")

    def result(self, value, element=None):
        self.results.append((value, element or self.element))

    def operands(self):
        """Random bits, of which the first rows and columns are pairs of special numbers."""
        t, e = tensor(self.element), self.element
        if e not in BITS:
            return ["%a", "%b", "%c"]
        named = [self.let(f"tensor.bitcast {name} : {tensor(self.stored)} to {t}") for name in ("%a", "%b", "%c")]
        if e not in FLOATS:
            return named
        bits = {"inf": {"bf16": "0x7F80", "f16": "0x7C00", "f32": "0x7F800000", "f64": "0x7FF0000000000000"},
                "-inf": {"bf16": "0xFF80", "f16": "0xFC00", "f32": "0xFF800000", "f64": "0xFFF0000000000000"},
                "nan": {"bf16": "0x7FC0", "f16": "0x7E00", "f32": "0x7FC00000", "f64": "0x7FF8000000000000"}}
        numbers = [bits[s][e] if s in bits else s for s in SPECIAL]
        rows = "[" + ", ".join("[" + ", ".join([n] * 8) + "]" for n in numbers) + "]"
        columns = "[" + ", ".join(["[" + ", ".join(numbers) + "]"] * 8) + "]"
        for k, table in enumerate((rows, columns)):
            pairs = self.let(f"arith.constant dense<{table}> : tensor<8x8x{e}>")
            named[k] = self.let(f"tensor.insert_slice {pairs} into {named[k]}[0, 0] [8, 8] [1, 1] : tensor<8x8x{e}> into {t}")
        return named

    def text(self):
        # All but floats of programs are returned as integers.
        returned = []
        for value, element in self.results:
            if element in BITS and element not in FLOATS:
                value = self.let(f"arith.extf {value} : {tensor(element)} to {tensor('f32')}")
                element = "f32"
            returned.append((value, tensor(element)))
        rows = 'spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>'
        width = int(self.stored[1:])
        bits = "[0, 2]" if width == 1 else f"[{-(1 << (width - 1))}, {(1 << (width - 1)) - 1}]"
        arguments = ", ".join(f"%{a}: {tensor(self.stored)} {{{rows}, spmd.range = {bits}}}" for a in "abc")
        types = ", ".join(t for _, t in returned)
        return (f"func.func @{self.name}({arguments}) -> ({types}) {{\n" + "\n".join(self.lines) +
                f"\n  return {', '.join(v for v, _ in returned)} : {types}\n}}\n")


def compare(op, predicate):
    return lambda f, x: f.result(f.let(f"{op} {predicate}, {x[0]}, {x[1]} : {tensor(f.element)}"), "i1")


def select(condition):
    def write(f, x):
        c = f.let(f"{condition}, {x[0]}, {x[1]} : {tensor(f.element)}")
        f.result(f.let(f"arith.select {c}, {x[1]}, {x[2]} : {tensor('i1')}, {tensor(f.element)}"))
    return write


def float_ops(e, exact):
    """(name, what writes it) of ops on an element type of floats."""
    def plain(op, count):
        return lambda f, x: f.result(f.let(f"{op} {', '.join(x[:count])} : {tensor(e)}"))

    def numbers(op):
        def write(f, x):
            zero = f.constant("0.0")
            a, b = (f.let(f"arith.addf {v}, {zero} : {tensor(e)}") for v in x[:2])
            f.result(f.let(f"{op} {a}, {b} : {tensor(e)}"))
        return write

    def test(op):
        def write(f, x):
            quotient = f.let(f"arith.divf {x[0]}, {x[1]} : {tensor(e)}")
            f.result(f.let(f"{op} {quotient} : {tensor(e)}"), "i1")
        return write

    def clamp(f, x):
        f.result(f.let(f"math.clampf {x[0]} to [{f.constant('-3.0')}, {f.constant('3.0')}] : {tensor(e)}"))

    def convert(to):
        width, of = (int(t.lstrip("bf").split("E")[0]) for t in (to, e))
        op = "arith.extf" if width > of else "arith.truncf"
        return lambda f, x: f.result(f.let(f"{op} {x[0]} : {tensor(e)} to {tensor(to)}"), to)

    def to_integer(op, i, low, high):
        def write(f, x):
            # Out of the range of the integers there is no result.
            t = tensor(e)
            low_, high_ = f.constant(low), f.constant(high)
            a = f.let(f"arith.cmpf oge, {x[0]}, {low_} : {t}")
            b = f.let(f"arith.cmpf ole, {x[0]}, {high_} : {t}")
            both = f.let(f"arith.andi {a}, {b} : {tensor('i1')}")
            inside = f.let(f"arith.select {both}, {x[0]}, {high_} : {tensor('i1')}, {t}")
            f.result(f.let(f"{op} {inside} : {t} to {tensor(i)}"), i)
        return write

    def sincos(f, x):
        both = f.let(f"math.sincos {x[0]} : {tensor(e)}", 2)
        f.result(f"{both}#0")
        f.result(f"{both}#1")

    def power(f, x):
        p = f.let(f"arith.constant dense<3> : {tensor('i32')}")
        f.result(f.let(f"math.fpowi {x[0]}, {p} : {tensor(e)}, {tensor('i32')}"))

    if not exact:
        return ([(op, plain(op, count)) for op, count in INEXACT.items()] +
                [("math.sincos", sincos), ("math.fpowi", power)] + [(op, test(op)) for op in TESTS])
    ops = [(op, plain(op, count)) for op, count in EXACT.items()]
    ops += [(op, numbers(op)) for op in NUMBERS] + [(op, test(op)) for op in TESTS]
    ops += [("arith.cmpf", compare("arith.cmpf", p)) for p in COMPARE] + [("arith.select", select("arith.cmpf olt")), ("math.clampf", clamp)]
    width = int(e.lstrip("bf"))
    for to in BITS:
        if int(to.lstrip("bf").split("E")[0]) != width:
            ops.append(("arith.extf" if int(to.lstrip("bf").split("E")[0]) > width else "arith.truncf", convert(to)))
    for i, size in [("i8", 100), ("i16", 100), ("i32", 30000), ("i64", 30000)]:
        ops.append(("arith.fptosi", to_integer("arith.fptosi", i, f"-{size}.0", f"{size}.0")))
        ops.append(("arith.fptoui", to_integer("arith.fptoui", i, "0.0", f"{size}.0")))
    return ops


def integer_ops(e):
    t, width = tensor(e), int(e[1:])

    def plain(op):
        return lambda f, x: f.result(f.let(f"{op} {x[0]}, {x[1]} : {t}"))

    def divide(op):
        def write(f, x):
            # No divisor is 0, and no quotient of the least number by -1 is taken: divisors are odd and above 0.
            one, mask = f.constant(1), f.constant((1 << (width - 1)) - 1)
            b = f.let(f"arith.andi {x[1]}, {mask} : {t}")
            b = f.let(f"arith.ori {b}, {one} : {t}")
            f.result(f.let(f"{op} {x[0]}, {b} : {t}"))
        return write

    def shift(op):
        def write(f, x):
            b = f.let(f"arith.andi {x[1]}, {f.constant(width - 1)} : {t}")
            f.result(f.let(f"{op} {x[0]}, {b} : {t}"))
        return write

    def count(op):
        return lambda f, x: f.result(f.let(f"{op} {x[0]} : {t}"))

    def pair(op):
        def write(f, x):
            both = f.let(f"{op} {x[0]}, {x[1]} : {t}", 2)
            f.result(f"{both}#0")
            f.result(f"{both}#1")
        return write

    def carry(f, x):
        both = f.let(f"arith.addui_extended {x[0]}, {x[1]} : {t}, {tensor('i1')}", 2)
        f.result(f"{both}#0")
        f.result(f"{both}#1", "i1")

    def convert(op, to):
        return lambda f, x: f.result(f.let(f"{op} {x[0]} : {t} to {tensor(to)}"), to)

    def by_index(op):
        def write(f, x):
            i = f.let(f"arith.{op} {x[0]} : {t} to {tensor('index')}")
            s = f.let(f"arith.addi {i}, {i} : {tensor('index')}")
            f.result(f.let(f"arith.{op} {s} : {tensor('index')} to {t}"))
        return write

    ops = [(op, plain(op)) for op in PLAIN] + [(op, pair(op)) for op in PAIRS] + [("arith.addui_extended", carry)]
    ops += [("arith.cmpi", compare("arith.cmpi", p)) for p in COMPARE_INTEGERS] + [("arith.select", select("arith.cmpi slt"))]
    if width > 1:
        ops += [(op, divide(op)) for op in DIVISIONS] + [(op, shift(op)) for op in SHIFTS]
        ops += [(op, count(op)) for op in COUNTS]
        ops += [(f"arith.{op}", by_index(op)) for op in ("index_cast", "index_castui")]
    for to in INTEGERS:
        if int(to[1:]) > width:
            ops += [("arith.extsi", convert("arith.extsi", to)), ("arith.extui", convert("arith.extui", to))]
        elif int(to[1:]) < width:
            ops.append(("arith.trunci", convert("arith.trunci", to)))
    for to in FLOATS:
        ops += [("arith.sitofp", convert("arith.sitofp", to)), ("arith.uitofp", convert("arith.uitofp", to))]
        if int(to.lstrip("bf")) == width:
            ops.append(("arith.bitcast", convert("arith.bitcast", to)))
    return ops


def narrow_ops(e):
    def plain(op, count):
        return lambda f, x: f.result(f.let(f"{op} {', '.join(x[:count])} : {tensor(e)}"))

    def widen(to):
        return lambda f, x: f.result(f.let(f"arith.extf {x[0]} : {tensor(e)} to {tensor(to)}"), to)

    return ([(op, plain(op, 2)) for op in ("arith.addf", "arith.subf", "arith.mulf", "arith.divf", "arith.maximumf")] +
            [("arith.negf", plain("arith.negf", 1))] + [("arith.extf", widen(to)) for to in ("f16", "bf16", "f32", "f64")])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--exact", action="store_true")
    parser.add_argument("--inexact", action="store_true")
    parser.add_argument("--missing", metavar="PAGE")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--beside", type=int, default=8, help="ops in a function")
    parser.add_argument("-o", default="-")
    args = parser.parse_args()
    groups = []
    if args.exact or args.missing:
        groups += [(e, float_ops(e, True)) for e in FLOATS] + [(e, integer_ops(e)) for e in INTEGERS]
        groups += [(e, narrow_ops(e)) for e in BITS if e not in FLOATS]
    if args.inexact or args.missing:
        groups += [(e, float_ops(e, False)) for e in FLOATS]
    if args.missing:
        written = {name for _, ops in groups for name, _ in ops} | NOT_COMPILED | {"arith.constant"}
        for op in sorted(random_ops.table_ops(open(args.missing).read()) - written):
            if op.startswith(("arith.", "math.")):
                print(op)
        return
    rng = random.Random(args.seed)
    functions = []
    for element, ops in groups:
        rng.shuffle(ops)
        for at in range(0, len(ops), args.beside):
            function = Function(f"{element}_{at // args.beside}", element)
            operands = function.operands()
            for _, write in ops[at:at + args.beside]:
                write(function, operands)
            functions.append(function.text())
    with sys.stdout if args.o == "-" else open(args.o, "w") as out:
        print('spmd.mesh @m = <["x"=2]>\n' + "\n".join(functions), file=out)


if __name__ == "__main__":
    main()
