"""Steps of random programs (gen_random.py): every op of arith and math, on tensors
or in the body of a map. What is not exact is rounded to whole numbers, from
operands where no rounding can go the other way, and so stays comparable bit for
bit."""
import cmath
import math

# Mantissa bits, and how many of the last ones a function may get wrong.
PRECISION = {"bf16": 8, "f16": 11, "f32": 24, "f64": 53}
SMALL = range(-3, 4)

# What is done to an operand in [-3, 3] first: mnemonics of constants, and the same in Python.
PREPARE = {
    "": ([], lambda x: x),
    "quarter": ([("mul", 0.25)], lambda x: x / 4),
    "half": ([("mul", 0.5)], lambda x: x / 2),
    "positive": ([("add", 4.0)], lambda x: x + 4),
    "less_one": ([("mul", 0.5), ("add", 1.0)], lambda x: x / 2 + 1),
}
INEXACT = {
    "acos": ("quarter", math.acos), "acosh": ("positive", math.acosh), "asin": ("quarter", math.asin),
    "asinh": ("", math.asinh), "atan": ("", math.atan), "atanh": ("quarter", math.atanh),
    "cbrt": ("", lambda x: math.copysign(abs(x) ** (1 / 3), x)), "cos": ("", math.cos), "cosh": ("half", math.cosh),
    "erf": ("half", math.erf), "erfc": ("half", math.erfc), "exp": ("half", math.exp), "exp2": ("half", lambda x: 2 ** x),
    "expm1": ("half", math.expm1), "log": ("positive", math.log), "log10": ("positive", math.log10),
    "log1p": ("positive", math.log1p), "log2": ("positive", math.log2), "rsqrt": ("positive", lambda x: x ** -0.5),
    "sin": ("", math.sin), "sinh": ("half", math.sinh), "sqrt": ("positive", math.sqrt), "tan": ("half", math.tan),
    "tanh": ("half", math.tanh)}
# On halves, where these differ.
ROUNDINGS = ["ceil", "floor", "round", "roundeven", "trunc"]


class ScalarSteps:
    MORE_STEPS = {"integers": 3, "floats": 3, "inexact": 2, "inexact_pair": 1, "convert": 2}

    def apply(self, op, operands, types, result, shape):
        """An op on tensors, or as the body of a map: the value's name. `types`, `result`: element types."""
        if self.rng.random() < 0.25 and shape:
            def spelt(element):
                return element if isinstance(element, str) else element[0]
            e = self.empty(shape, result)
            params = [f"%i{k}" for k in range(len(operands))]
            body = self.spell(op, params, [spelt(t) for t in types], result)
            return self.let(
                f"linalg.map ins({', '.join(operands)} : {', '.join(self.tensor(shape, t) for t in types)}) "
                f"outs({e} : {self.tensor(shape, result)}) "
                f"({', '.join(f'{p}: {t}' for p, t in zip(params + ['%o0'], types + [result]))}) {{\n"
                f"    %m = {body}\n    linalg.yield %m : {result}\n  }}")
        attr = self.maybe_sharded(shape)
        return self.let(self.spell(op, operands, [self.tensor(shape, t) for t in types],
                                   self.tensor(shape, result), attr and f" {{{attr}}}"))

    def spell(self, op, operands, types, result, attr=""):
        """`op` with the types that its format wants."""
        text = f"{op} {', '.join(operands)}{attr} : "
        name = op.split(",")[0].split(" ")[0]
        if name in ("arith.extf", "arith.truncf", "arith.extsi", "arith.extui", "arith.trunci", "arith.sitofp",
                    "arith.uitofp", "arith.fptosi", "arith.fptoui", "arith.bitcast", "arith.index_cast",
                    "arith.index_castui"):
            return f"{text}{types[0]} to {result}"
        if name == "arith.select":
            return text + ", ".join(types[:2])
        if name in ("math.fpowi",):
            return text + ", ".join(types)
        return text + types[0]

    def cmp(self, predicate, operands, element, shape):
        kind = "cmpf" if self.is_real(element) else "cmpi"
        return self.apply(f"arith.{kind} {predicate},", operands, [element] * 2, "i1", shape)

    def is_real(self, element):
        return "f" in element

    def number(self, value, shape, element=None):
        element = element or self.element
        text = repr(float(value)) if self.is_real(element) else str(value)
        return self.let(f"arith.constant dense<{text}> : {self.tensor(shape, element)}")

    def same_shape(self):
        """Two values of one shape."""
        a = self.pick()
        return a, self.pick(lambda v: v[1] == a[1])

    # -- integers ------------------------------------------------------------

    def step_integers(self):
        rng = self.rng
        self.require(not self.is_float)
        (a, shape, _), (b, _, _) = self.same_shape()
        e = self.element
        width = int(e[1:])
        kind = rng.choice(["any", "any", "divide", "divide", "shift", "unary", "compare", "pair", "pair"])

        def two(op, x, y, result=e):
            return self.apply(op, [x, y], [e, e], result, shape)

        if kind == "any":
            r = two("arith." + rng.choice(["andi", "ori", "xori", "maxui", "minui", "subi", "muli"]), a, b)
        elif kind == "divide":
            # 1 to 4 or -5 to -2: no division traps or overflows.
            b = two("arith.andi", b, self.number(3, shape))
            b = two("arith.addi", b, self.number(rng.choice([1, -5]), shape))
            r = two("arith." + rng.choice(["divsi", "divui", "remsi", "remui", "ceildivsi", "ceildivui",
                                           "floordivsi"]), a, b)
        elif kind == "shift":
            b = two("arith.andi", b, self.number(width - 1, shape))
            r = two("arith." + rng.choice(["shli", "shrsi", "shrui"]), a, b)
        elif kind == "unary":
            op = rng.choice(["absi", "ctlz", "cttz", "ctpop"])
            r = self.apply(f"math.{op}", [a], [e], e, shape)
        elif kind == "compare":
            c = self.cmp(rng.choice(["eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge"]),
                         [a, b], e, shape)
            r = self.apply("arith." + rng.choice(["extui", "extsi"]), [c], ["i1"], e, shape)
        else:
            op = rng.choice(["addui_extended", "mulsi_extended", "mului_extended"])
            r = self.fresh()
            t, second = self.tensor(shape), self.tensor(shape)
            types = t
            if op == "addui_extended":
                second = self.tensor(shape, "i1")
                types = f"{t}, {second}"
            self.emit(f"{r}:2 = arith.{op} {a}, {b} : {types}")
            self.add_value(f"{r}#0", shape, 0)
            r = f"{r}#1"
            if op == "addui_extended":
                r = self.apply("arith.extui", [r], ["i1"], e, shape)
        self.add_value(r, shape, 0)

    # -- exact floats --------------------------------------------------------

    def plus_zero(self, name, shape):
        """-0.0 becomes 0.0: what the zeros of maxnum are is not said."""
        return self.apply("arith.addf", [name, self.number(0.0, shape)], [self.element] * 2, self.element, shape)

    def step_floats(self):
        rng = self.rng
        self.require(self.is_float)
        (a, shape, bound), (b, _, bound_b) = self.same_shape()
        e = self.element

        def op(name, *operands):
            return self.apply(name, list(operands), [e] * len(operands), e, shape)

        kind = rng.choice(["sign", "numbers", "rounding", "fma", "divide", "test", "power", "clamp"])
        if kind == "sign":
            name = rng.choice(["math.absf", "arith.negf", "math.copysign"])
            r = op(name, a, b) if name == "math.copysign" else op(name, a)
        elif kind == "numbers":
            a, b = self.plus_zero(a, shape), self.plus_zero(b, shape)
            if rng.random() < 0.3:   # the number wins over NaN
                zero = self.number(0.0, shape)
                b = op("arith.divf", b, b) if rng.random() < 0.5 else op("arith.divf", zero, b)
                r = op("math.absf", op(rng.choice(["arith.maxnumf", "arith.minnumf"]), a, op("arith.mulf", b, zero)))
                r = self.plus_zero(r, shape)
            else:
                r = op(rng.choice(["arith.maxnumf", "arith.minnumf"]), a, b)
            bound = max(bound, bound_b)
        elif kind == "rounding":
            r = op("math." + rng.choice(ROUNDINGS), op("arith.mulf", a, self.number(0.5, shape)))
        elif kind == "fma":
            c, _, bound_c = self.pick(lambda v: v[1] == shape)
            bound = bound * bound_b + bound_c
            self.require(self.fits(bound))
            r = op("math.fma", a, b, c)
        elif kind == "divide":
            name = rng.choice(["divf", "remf"])
            by = rng.choice([3.0, -3.0, 2.0, 4.0, 5.0])
            r = op(f"arith.{name}", a, self.number(by, shape))
            if name == "divf":
                r = op("math.floor", r)
                bound += 1
            else:
                bound = min(bound, 5)
        elif kind == "test":
            name = rng.choice(["cmpf", "isnan", "isinf", "isfinite", "isnormal"])
            if name == "cmpf":
                c = self.cmp(rng.choice(["oeq", "one", "ole", "ult", "uge", "ord", "uno", "ueq", "une"]),
                             [a, b], e, shape)
            else:   # 1 / 0 is infinite, 0 / 0 no number
                zero = self.number(0.0, shape)
                q = op("arith.divf", rng.choice([a, zero]), op("arith.mulf", b, zero))
                c = self.apply(f"math.{name}", [rng.choice([a, q])], [e], "i1", shape)
            r = self.apply("arith.select", [c, a, b], ["i1", e, e], e, shape)
            bound = max(bound, bound_b)
        elif kind == "power":
            self.require(bound <= 8)
            power = rng.choice([0, 1, 2, 3])
            bound = max(1, bound ** power)
            self.require(self.fits(bound))
            if e in ("f16", "bf16") or rng.random() < 0.5:
                p = self.number(power, shape, "i32")
                r = self.apply("math.fpowi", [a, p], [e, "i32"], e, shape)
            else:
                r = op("math.roundeven", op("math.powf", a, self.number(float(power), shape)))
        else:
            # max(min(a, 3), b), as upstream describes it.
            r = self.let(f"math.clampf {a} to [{self.number(3.0, shape)}, {b}] : {self.tensor(shape)}")
            bound = max(bound_b, 3)
        self.add_value(r, shape, bound)

    # -- rounded floats ------------------------------------------------------

    def small(self, name, shape, low=-3, high=3):
        """Clamped to whole numbers between."""
        t = self.tensor(shape)
        a = self.let(f"{self.op('max')} {name}, {self.number(low, shape)} : {t}")
        return self.let(f"{self.op('min')} {a}, {self.number(high, shape)} : {t}")

    def certain_scale(self, values):
        """A power of two with which all values round to the same numbers however the last bits are; or Skip."""
        eps = 2.0 ** -PRECISION[self.element]
        for scale in self.rng.sample([1, 2, 4, 8, 16], 5):
            scaled = [abs(v * scale) for v in values]
            if (self.fits(int(max(scaled)) + 1) and len(set(round(s) for s in scaled)) > 1 and
                    all(abs(s - math.floor(s) - 0.5) > 16 * eps * s + 1e-4 for s in scaled)):
                return scale, int(max(scaled)) + 1
        self.require(False)

    def rounded(self, name, shape, scale):
        """Whole numbers, without the sign of zero: it hangs on the last bits."""
        e = self.element
        r = self.apply("arith.mulf", [name, self.number(float(scale), shape)], [e] * 2, e, shape)
        r = self.apply("math.roundeven", [r], [e], e, shape)
        return self.plus_zero(r, shape)

    def prepared(self, name, shape, how):
        for op, constant in PREPARE[how][0]:
            name = self.apply(f"arith.{op}f", [name, self.number(constant, shape)], [self.element] * 2,
                              self.element, shape)
        return name

    def step_inexact(self):
        rng = self.rng
        self.require(self.is_float)
        a, shape, _ = self.pick()
        e = self.element
        function = rng.choice(list(INEXACT) + ["sincos"])
        how, value = INEXACT.get(function, ("", None))
        a = self.prepared(self.small(a, shape), shape, how)
        if function != "sincos":
            scale, bound = self.certain_scale([value(PREPARE[how][1](x)) for x in SMALL])
            f = self.apply(f"math.{function}", [a], [e], e, shape)
            return self.add_value(self.rounded(f, shape, scale), shape, bound)
        scale, bound = self.certain_scale([f(x) for x in SMALL for f in (math.sin, math.cos)])
        both = self.fresh()
        self.emit(f"{both}:2 = math.sincos {a} : {self.tensor(shape)}")
        for k in range(2):
            self.add_value(self.rounded(f"{both}#{k}", shape, scale), shape, bound)

    def step_inexact_pair(self):
        """Functions of two numbers."""
        rng = self.rng
        self.require(self.is_float)
        (a, shape, _), (b, _, _) = self.same_shape()
        e = self.element
        a, b = self.small(a, shape), self.small(b, shape)
        op, how, value = rng.choice([("arith.divf", "positive", lambda x, y: x / y),
                                     ("math.atan2", "positive", math.atan2),
                                     ("math.powf", "half", lambda x, y: (x + 4) ** y)])
        b = self.prepared(b, shape, how)
        if op == "math.powf":
            a = self.prepared(a, shape, "positive")
        scale, bound = self.certain_scale([value(x, PREPARE[how][1](y)) for x in SMALL for y in SMALL])
        r = self.apply(op, [a, b], [e, e], e, shape)
        self.add_value(self.rounded(r, shape, scale), shape, bound)

    # -- conversions ---------------------------------------------------------

    def step_convert(self):
        """To another element type and back, with something done there."""
        rng = self.rng
        name, shape, bound = self.pick()
        e = self.element
        if self.is_float:
            kind = rng.choice(["wide", "narrow", "integer", "bits"])
            order = ["f16", "f32", "f64"]
            if kind == "wide":
                self.require(e != "f64")
                wide = rng.choice([w for w in order if PRECISION[w] > max(PRECISION[e], 11)])
                a = self.apply("arith.extf", [name], [e], wide, shape)
                a = self.apply("arith.addf", [a, a], [wide] * 2, wide, shape)
                self.require(self.fits(2 * bound))
                bound *= 2
                r = self.apply("arith.truncf", [a], [wide], e, shape)
            elif kind == "narrow":
                narrow = rng.choice(["f16", "bf16"])
                self.require(e in ("f32", "f64"))
                a = self.small(name, shape, -100, 100)
                a = self.apply("arith.truncf", [a], [e], narrow, shape)
                r = self.apply("arith.extf", [a], [narrow], e, shape)
                bound = min(bound, 100)
            elif kind == "integer":
                i, signed = rng.choice(["i8", "i16", "i32", "i64"]), rng.random() < 0.5
                a = self.small(name, shape, *((-100, 100) if signed else (0, 100)))
                a = self.apply(f"arith.fpto{'s' if signed else 'u'}i", [a], [e], i, shape)
                a = self.apply("arith.xori", [a, self.number(5, shape, i)], [i] * 2, i, shape)
                r = self.apply(f"arith.{'s' if signed else 'u'}itofp", [a], [i], e, shape)
                bound = 127
                self.require(self.fits(bound))
            else:   # the sign bit
                i = f"i{e.strip('bf')}"
                flip = rng.random() < 0.5
                cast = "tensor.bitcast" if rng.random() < 0.5 else "arith.bitcast"
                a = self.bits(cast, name, e, i, shape)
                mask = -(1 << (int(i[1:]) - 1))
                a = self.apply("arith.xori" if flip else "arith.ori", [a, self.number(mask, shape, i)], [i] * 2, i, shape)
                r = self.bits(cast, a, i, e, shape)
            return self.add_value(r, shape, bound)
        width = int(e[1:])
        kind = rng.choice(["wide", "narrow", "float", "index"])
        if kind == "wide":
            self.require(width < 64)
            wide = rng.choice([f"i{w}" for w in (16, 32, 64) if w > width])
            a = self.apply("arith." + rng.choice(["extsi", "extui"]), [name], [e], wide, shape)
            a = self.apply("arith.shrui", [a, self.number(1, shape, wide)], [wide] * 2, wide, shape)
            r = self.apply("arith.trunci", [a], [wide], e, shape)
        elif kind == "narrow":
            narrow = rng.choice([f"i{w}" for w in (1, 8, 16, 32) if w < width])
            a = self.apply("arith.trunci", [name], [e], narrow, shape)
            r = self.apply("arith." + rng.choice(["extsi", "extui"]), [a], [narrow], e, shape)
        elif kind == "float":
            f = {8: "f32", 16: rng.choice(["f32", "f16"]), 32: "f32", 64: "f64"}[width]
            if width >= 16 and rng.random() < 0.5 and f != "f16":   # the same bits
                self.require(int(f[1:]) == width)
                cast = "tensor.bitcast" if rng.random() < 0.5 else "arith.bitcast"
                r = self.bits(cast, self.bits(cast, name, e, f, shape), f, e, shape)
            else:
                signed = "s" if rng.random() < 0.5 else "u"
                a = self.apply("arith.andi", [name, self.number(63, shape)], [e] * 2, e, shape)
                a = self.apply(f"arith.{signed}itofp", [a], [e], f, shape)
                a = self.apply("arith.mulf", [a, a], [f] * 2, f, shape)
                self.require(width > 8)
                r = self.apply(f"arith.fpto{signed}i", [a], [f], e, shape)
        else:
            op = rng.choice(["index_cast", "index_castui"])
            a = self.apply(f"arith.{op}", [name], [e], "index", shape)
            r = self.apply(f"arith.{op}", [a], ["index"], e, shape)
        self.add_value(r, shape, 0)

    def bits(self, cast, name, of, to, shape):
        if cast == "arith.bitcast":
            return self.apply(cast, [name], [of], to, shape)
        return self.let(f"{cast} {name} : {self.tensor(shape, of)} to {self.tensor(shape, to)}")

    def prepare_number(self, how, x):
        return PREPARE[how][1](x)
