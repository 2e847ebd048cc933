"""Steps of random programs (gen_random.py): tosa, which upstream's passes lower to linalg on both sides."""
import math
from random_scalars import PREPARE, SMALL

INEXACT = {"cos": ("", math.cos), "erf": ("half", math.erf), "exp": ("half", math.exp),
           "log": ("positive", math.log), "reciprocal": ("positive", lambda x: 1 / x),
           "rsqrt": ("positive", lambda x: x ** -0.5), "sigmoid": ("", lambda x: 1 / (1 + math.exp(-x))),
           "sin": ("", math.sin), "tanh": ("half", math.tanh)}


class TosaSteps:
    MORE_STEPS = {"tosa_binary": 4, "tosa_unary": 3, "tosa_inexact": 2, "tosa_logic": 1, "tosa_reduce": 2,
                  "tosa_move": 5, "tosa_reshape": 2, "tosa_matmul": 2, "tosa_convolution": 3, "tosa_pool": 2,
                  "tosa_resize": 1, "tosa_gather": 1, "tosa_scatter": 1, "tosa_rescale": 1, "tosa_scale": 1, "tosa_table": 1,
                  "tosa_fft": 1, "tosa_if": 1, "tosa_while": 1}

    def tosa(self, op, operands, types, result, attrs=""):
        """An op in the format that most have; its name."""
        shape = [int(n) for n in result[len("tensor<"):].split("x")[:-1]]
        attrs = ", ".join(filter(None, [attrs, self.maybe_sharded(shape)]))
        return self.let(f"tosa.{op} {', '.join(operands)}{attrs and f' {{{attrs}}}'} : ({', '.join(types)}) -> {result}")

    def tosa_const(self, values, shape, element=None):
        return self.let(f'"tosa.const"() {{values = dense<{values}> : {self.tensor(shape, element)}}} : () -> '
                        f"{self.tensor(shape, element)}")

    def tosa_number(self, value, element=None, shape=(1,)):
        element = element or self.element
        return self.tosa_const(repr(float(value)) if self.is_real(element) else value, shape, element)

    def tosa_shape(self, values):
        n = len(values)
        values = f"dense<{list(values)}>" if n else "dense<>"
        return (self.let(f"tosa.const_shape {{values = {values} : tensor<{n}xindex>}} : () -> !tosa.shape<{n}>"),
                f"!tosa.shape<{n}>")

    def tosa_kinds(self, *elements):
        self.require(self.element in elements)

    def broadcastable(self, shape):
        """A value of this shape, or one with dims of size 1 in it."""
        found = self.pick(lambda v: v[1] != shape and len(v[1]) == len(shape) and
                          all(m in (1, n) for m, n in zip(v[1], shape)))
        if not found and shape and self.rng.random() < 0.3:
            thin = tuple(1 if self.rng.random() < 0.5 else n for n in shape)
            name, bound = self.argument(thin)
            found = name, thin, bound
        return found if found and self.rng.random() < 0.7 else self.pick(lambda v: v[1] == shape)

    # -- element by element --------------------------------------------------

    def step_tosa_binary(self):
        rng = self.rng
        a, shape, bound = self.pick()
        b, shape_b, bound_b = self.broadcastable(shape)
        e, t, tb = self.element, self.tensor(shape), self.tensor(shape_b)
        self.tosa_kinds("i8", "i16", "i32", "f16", "bf16", "f32")
        kinds = ["add", "sub", "mul", "maximum", "minimum", "select"]
        if not self.is_float:
            kinds += ["bitwise_and", "bitwise_or", "bitwise_xor", "arithmetic_right_shift", "logical_left_shift",
                      "logical_right_shift"]
            kinds += ["intdiv"] * (e == "i32")
        op = rng.choice(kinds)
        total = {"add": bound + bound_b, "sub": bound + bound_b, "mul": bound * bound_b}.get(op, max(bound, bound_b))
        self.require(self.fits(total))
        operands, types, attrs, result = [a, b], [t, tb], "", t
        if rng.random() < 0.5 and op not in ("select", "intdiv") and "shift" not in op:
            operands, types = operands[::-1], types[::-1]
        if op == "mul":
            operands.append(self.tosa_number(rng.choice([0, 0, 1]) if e == "i32" else 0, "i8"))
            types.append("tensor<1xi8>")
            result = t if self.is_float or e == "i32" else self.tensor(shape, "i32")
        elif op == "intdiv" or "shift" in op:
            width = 4 if op == "intdiv" else int(e[1:])
            b = self.let(f"arith.andi {b}, {self.number(width - 1, shape_b)} : {tb}")
            if op == "intdiv":
                b = self.let(f"arith.addi {b}, {self.number(rng.choice([1, -5]), shape_b)} : {tb}")
            operands[1] = b
            if op == "arithmetic_right_shift":
                # Rounding takes the last bit shifted out: none is by 0.
                attrs = "round = false"
        elif op == "select":
            test = rng.choice(["equal", "greater", "greater_equal"])
            c = self.tosa(test, [a, b], [t, tb], self.tensor(shape, "i1"))
            operands, types = [c] + operands, [self.tensor(shape, "i1")] + types
        r = self.tosa(op, operands, types, result, attrs)
        if result != t:
            r = self.let(f"arith.trunci {r} : {result} to {t}")
        self.add_value(r, shape, total)

    def step_tosa_unary(self):
        rng = self.rng
        a, shape, bound = self.pick()
        e, t = self.element, self.tensor(shape)
        self.tosa_kinds("i8", "i16", "i32", "f16", "bf16", "f32")
        kinds = ["identity", "clamp", "negate", "cast"]
        kinds += ["abs", "ceil", "floor"] if self.is_float else ["bitwise_not"]
        kinds += ["abs", "clz"] if e == "i32" else []
        op = rng.choice(kinds)
        operands, types, attrs = [a], [t], ""
        if op == "clamp":
            low, high = sorted(rng.sample(range(-3, 6), 2))
            attrs = f"min_val = {self.literal(low)} : {e}, max_val = {self.literal(high)} : {e}"
            bound = 6
        elif op == "negate":
            operands += [self.tosa_number(0), self.tosa_number(0)]
            types += [self.tensor((1,))] * 2
        elif op == "cast":
            if self.is_float:
                there = rng.choice(["i8", "i16", "i32", "f16", "f32"])
                self.require(there != e)
                operands = [self.small(a, shape, -100, 100)]
                bound = min(bound, 100)
            else:
                there = rng.choice(["i8", "i16", "i32", "f32"])
                self.require(there != e)
                if there == "f32":
                    operands = [self.small(a, shape, -100, 100)]
            operands = [self.tosa("cast", operands, [t], self.tensor(shape, there))]
            types = [self.tensor(shape, there)]
        elif op in ("ceil", "floor"):
            operands = [self.let(f"arith.mulf {a}, {self.number(0.5, shape)} : {t}")]
        self.add_value(self.tosa(op, operands, types, t, attrs), shape, bound)

    def step_tosa_inexact(self):
        rng = self.rng
        self.tosa_kinds("f32", "f16", "bf16")
        a, shape, _ = self.pick()
        t = self.tensor(shape)
        a = self.small(a, shape)
        if rng.random() < 0.2:
            b = self.small(self.pick(lambda v: v[1] == shape)[0], shape)
            scale, bound = self.certain_scale([(x + 4.0) ** y for x in SMALL for y in SMALL])
            r = self.tosa("pow", [self.prepared(a, shape, "positive"), b], [t, t], t)
        else:
            op = rng.choice(list(INEXACT))
            how, value = INEXACT[op]
            scale, bound = self.certain_scale([value(PREPARE[how][1](x)) for x in SMALL])
            r = self.tosa(op, [self.prepared(a, shape, how)], [t], t)
        self.add_value(self.rounded(r, shape, scale), shape, bound)

    def step_tosa_logic(self):
        """Comparisons, joined, as a number."""
        rng = self.rng
        self.tosa_kinds("i8", "i16", "i32", "f16", "bf16", "f32")
        (a, shape, _), (b, _, _) = self.same_shape()
        t, i1 = self.tensor(shape), self.tensor(shape, "i1")
        c = self.tosa(rng.choice(["equal", "greater", "greater_equal"]), [a, b], [t, t], i1)
        zero = self.number(0, shape)
        d = self.tosa(rng.choice(["greater", "greater_equal"]), [b, zero], [t, t], i1)
        if rng.random() < 0.3:
            d = self.tosa("logical_not", [d], [i1], i1)
        c = self.tosa("logical_" + rng.choice(["and", "or", "xor"]), [c, d], [i1, i1], i1)
        out = shape
        if shape and rng.random() < 0.5:
            axis = rng.randrange(len(shape))
            out = tuple(1 if d == axis else n for d, n in enumerate(shape))
            c = self.tosa(f"reduce_{rng.choice(['all', 'any'])}", [c], [i1], self.tensor(out, "i1"), f"axis = {axis} : i32")
        self.add_value(self.tosa("cast", [c], [self.tensor(out, "i1")], self.tensor(out)), out, 1)

    # -- along dims ----------------------------------------------------------

    def step_tosa_reduce(self):
        rng = self.rng
        self.tosa_kinds("i8", "i16", "i32", "f16", "bf16", "f32")
        a, shape, bound = self.need(lambda v: v[1])
        axis = rng.randrange(len(shape))
        out = tuple(1 if d == axis else n for d, n in enumerate(shape))
        op = rng.choice(["reduce_sum", "reduce_max", "reduce_min", "argmax"] +
                        ([] if self.is_float else ["reduce_product"]))
        t, attrs = self.tensor(shape), f"axis = {axis} : i32"
        if op == "argmax":
            less = [n for d, n in enumerate(shape) if d != axis]
            i = self.tosa(op, [a], [t], self.tensor(less, "i32"), attrs)
            if self.element == "i32":
                r = i
            elif self.is_float:
                r = self.let(f"arith.sitofp {i} : {self.tensor(less, 'i32')} to {self.tensor(less)}")
            else:
                r = self.let(f"arith.trunci {i} : {self.tensor(less, 'i32')} to {self.tensor(less)}")
            return self.add_value(r, less, shape[axis])
        total = bound * shape[axis] if op == "reduce_sum" else bound
        self.require(self.fits(total))
        self.add_value(self.tosa(op, [a], [t], self.tensor(out), attrs), out, total)

    def step_tosa_move(self):
        """Transposed, reversed, sliced, padded, joined, repeated."""
        rng = self.rng
        a, shape, bound = self.need(lambda v: v[1])
        rank, t = len(shape), self.tensor(shape)
        axis = rng.randrange(rank)
        op = rng.choice(["transpose", "reverse", "slice", "pad", "concat", "tile"])
        operands, types, attrs, out = [a], [t], "", list(shape)
        if op == "transpose":
            perm = rng.sample(range(rank), rank)
            out = [shape[p] for p in perm]
            attrs = f"perms = array<i32: {', '.join(map(str, perm))}>"
        elif op == "reverse":
            attrs = f"axis = {axis} : i32"
        elif op == "slice":
            start, out, _ = self.random_slice(shape)
            for values in (start, out):
                s, st = self.tosa_shape(values)
                operands.append(s), types.append(st)
        elif op == "pad":
            low = [rng.choice([0, 0, 1, 2]) for _ in shape]
            high = [rng.choice([0, 0, 1, 3]) for _ in shape]
            out = [n + x + y for n, x, y in zip(shape, low, high)]
            s, st = self.tosa_shape([p for pair in zip(low, high) for p in pair])
            operands += [s, self.tosa_number(rng.randrange(-3, 4))]
            types += [st, self.tensor((1,))]
            bound = max(bound, 3)
        elif op == "concat":
            for _ in range(rng.randrange(1, 3)):
                b, shape_b, bound_b = self.pick(lambda v: len(v[1]) == rank and all(
                    d == axis or m == n for d, (m, n) in enumerate(zip(v[1], shape))))
                out[axis] += shape_b[axis]
                operands.append(b), types.append(self.tensor(shape_b))
                bound = max(bound, bound_b)
            attrs = f"axis = {axis} : i32"
        else:
            times = [rng.choice([1, 1, 2, 3]) for _ in shape]
            out = [n * k for n, k in zip(shape, times)]
            s, st = self.tosa_shape(times)
            operands.append(s), types.append(st)
        self.require(math.prod(out) <= 1536)
        self.add_value(self.tosa(op, operands, types, self.tensor(out), attrs), out, bound)

    def step_tosa_reshape(self):
        rng = self.rng
        a, shape, bound = self.pick()
        out, left = [], math.prod(shape)
        while len(out) < 3 and left > 1 and rng.random() < 0.8:
            out.append(rng.choice([d for d in range(2, left + 1) if left % d == 0]))
            left //= out[-1]
        out.insert(rng.randrange(len(out) + 1), left)
        s, st = self.tosa_shape(out)
        self.add_value(self.tosa("reshape", [a, s], [self.tensor(shape), st], self.tensor(out)), out, bound)

    # -- products ------------------------------------------------------------

    def wide(self):
        """What sums of the elements are kept in."""
        return {"i8": "i32", "f16": "f32", "bf16": "f32", "f32": "f32"}[self.element]

    def from_wide(self, r, element, shape, bound):
        if element == self.element:
            return self.define_any(f"tosa.identity {r} : ({self.tensor(shape)}) -> {self.tensor(shape)}", shape, bound)
        op = "truncf" if self.is_float else "trunci"
        self.define_any(f"arith.{op} {r} : {self.tensor(shape, element)} to {self.tensor(shape)}", shape, bound)

    def zero_points(self, *types):
        return [self.tosa_number(0 if self.is_float else self.rng.randrange(-5, 6), t) for t in types]

    def step_tosa_matmul(self):
        rng = self.rng
        self.tosa_kinds("i8", "f16", "bf16", "f32")
        (a, shape_a, bound_a), sizes = self.sizes_from("bmk")
        shape_b = [sizes["b"], sizes["k"], rng.choice([1, 2, 3, 4])]
        b, bound_b = self.operand(shape_b)
        shape = [shape_a[0], shape_a[1], shape_b[2]]
        total = bound_a * bound_b * shape_a[2]
        self.require(self.fits(total) and math.prod(shape) <= 1536)
        out = self.wide()
        r = self.tosa("matmul", [a, b] + self.zero_points(self.element, self.element),
                      [self.tensor(shape_a), self.tensor(shape_b)] + [self.tensor((1,))] * 2, self.tensor(shape, out))
        self.from_wide(r, out, shape, total)

    def step_tosa_convolution(self):
        rng = self.rng
        self.tosa_kinds("i8", "f16", "bf16", "f32")
        op = rng.choice(["conv2d", "conv2d", "conv3d", "depthwise_conv2d", "transpose_conv2d"])
        letters = "ndhwc" if op == "conv3d" else "nhwc"
        (a, shape_a, bound_a), sizes = self.sizes_from(letters)
        spatial = [l for l in letters if l in "dhw"]
        kernel, strides, dilations, pads, left = [], [], [], [], []
        f, m = rng.choice([1, 2, 3, 4]), rng.choice([1, 2])
        for l in spatial:
            n = sizes[l]
            if op == "transpose_conv2d":
                k, s = rng.randrange(1, 4), rng.choice([1, 1, 2])
                low, high = (rng.choice([0, 0, 1, -(k - 1) // 2]) for _ in range(2))
                kernel.append(k), strides.append(s), pads.extend([low, high])
                left.append((n - 1) * s + low + high + k)
                continue
            k, low, high = rng.randrange(1, 4), rng.choice([0, 0, 1]), rng.choice([0, 0, 1, 2])
            dilation = rng.choice([1, 1, 2])
            more = n - 1 + low + high - dilation * (k - 1)
            self.require(more >= 0)
            divisors = [s for s in (1, 1, 2, 3) if more % s == 0]
            kernel.append(k), strides.append(rng.choice(divisors)), dilations.append(dilation)
            pads.extend([low, high])
            left.append(more // strides[-1] + 1)
        self.require(min(left) > 0)
        channels = sizes["c"]
        if op == "depthwise_conv2d":
            shape_w, outputs, count = kernel + [channels, m], channels * m, math.prod(kernel)
        else:
            shape_w, outputs, count = [f] + kernel + [channels], f, math.prod(kernel) * channels
        w, bound_w = self.operand(shape_w)
        shape = [sizes["n"]] + left + [outputs]
        total = bound_a * bound_w * count + 3
        self.require(self.fits(total) and math.prod(shape) <= 1536 and math.prod(shape) * count <= 1 << 14)
        # The bias and the sum have one type: that of the operands where it is a float.
        out = "i32" if self.element == "i8" else self.element
        size = rng.choice([outputs, outputs, 1])
        bias, _ = self.operand((size,), out if out != self.element else None)
        def array(values):
            return f"array<i64: {', '.join(map(str, values))}>"
        attrs = f"acc_type = {'i32' if self.element == 'i8' else 'f32'}, stride = {array(strides)}, "
        attrs += (f"out_pad = {array(pads)}" if op == "transpose_conv2d" else
                  f"pad = {array(pads)}, dilation = {array(dilations)}")
        r = self.tosa(op, [a, w, bias] + self.zero_points(self.element, self.element),
                      [self.tensor(shape_a), self.tensor(shape_w), self.tensor((size,), out)] +
                      [self.tensor((1,))] * 2, self.tensor(shape, out), attrs)
        self.from_wide(r, out, shape, total)

    def step_tosa_pool(self):
        """Averages of floats over 1, 2 or 4, times 4; of integers over any window."""
        rng = self.rng
        self.tosa_kinds("i8", "i16", "f32", "f16")
        a, shape, bound = self.need(lambda v: len(v[1]) == 4)
        op = rng.choice(["max_pool2d", "avg_pool2d"])
        mean = op == "avg_pool2d"
        kernel, strides, pads, left = [], [], [], []
        for n in shape[1:3]:
            k = rng.choice([1, 2] if mean and self.is_float else [1, 2, 3])
            low, high = (0 if mean and self.is_float else rng.choice([0, 0, 1]) for _ in range(2))
            low, high = min(low, k - 1), min(high, k - 1)
            more = n + low + high - k
            self.require(more >= 0)
            strides.append(rng.choice([s for s in (1, 1, 2, 3) if more % s == 0]))
            kernel.append(k), pads.extend([low, high]), left.append(more // strides[-1] + 1)
        out = [shape[0]] + left + [shape[3]]
        def array(values):
            return f"array<i64: {', '.join(map(str, values))}>"
        attrs = f"kernel = {array(kernel)}, stride = {array(strides)}, pad = {array(pads)}"
        operands, types = [a], [self.tensor(shape)]
        if mean:
            operands += [self.tosa_number(0), self.tosa_number(0)]
            types += [self.tensor((1,))] * 2
            attrs += f", acc_type = {'f32' if self.is_float else 'i32'}"
            self.require(self.fits(bound * 4))
        r = self.tosa(op, operands, types, self.tensor(out), attrs)
        if mean and self.is_float:
            r = self.let(f"arith.mulf {r}, {self.number(4.0, out)} : {self.tensor(out)}")
            bound *= 4
        self.add_value(r, out, bound)

    def step_tosa_resize(self):
        """To twice the size, or less, by the nearest or in between."""
        rng = self.rng
        self.tosa_kinds("i8", "f32", "f16")
        a, shape, bound = self.need(lambda v: len(v[1]) == 4 and min(v[1]) > 0)
        linear = rng.random() < 0.5
        scale, offset, border, left = [], [], [], []
        for n in shape[1:3]:
            up, down = rng.choice([(2, 1), (4, 2), (1, 1), (4, 4)])
            o = rng.choice([0, 0, -1])
            b = next(b for b in range(0, 8) if ((n - 1) * up - o + b) % down == 0)
            left.append(((n - 1) * up - o + b) // down + 1)
            scale += [up, down]
            offset.append(o), border.append(b)
        out = [shape[0]] + left + [shape[3]]
        self.require(math.prod(out) <= 1536)
        operands, types = [a], [self.tensor(shape)]
        for values in (scale, offset, border):
            s, st = self.tosa_shape(values)
            operands.append(s), types.append(st)
        element = "i32" if linear and self.element == "i8" else self.element
        r = self.tosa("resize", operands, types, self.tensor(out, element),
                      f"mode = {'BILINEAR' if linear else 'NEAREST_NEIGHBOR'}")
        if linear and self.is_float:   # quarters of quarters
            self.require(self.fits(bound * 16))
            r = self.let(f"arith.mulf {r}, {self.number(16.0, out)} : {self.tensor(out)}")
            bound *= 16
        if element != self.element:
            r = self.let(f"arith.trunci {r} : {self.tensor(out, element)} to {self.tensor(out)}")
        self.add_value(r, out, bound)

    # -- at places that data say ---------------------------------------------

    def step_tosa_gather(self):
        rng = self.rng
        (a, shape, bound), sizes = self.sizes_from("nkc")
        places = [sizes["n"], rng.choice([1, 2, 3, 4])]
        i, _ = self.argument(places, "i32", 0, sizes["k"])
        out = places + [sizes["c"]]
        self.require(math.prod(out) <= 1536)
        self.add_value(self.tosa("gather", [a, i], [self.tensor(shape), self.tensor(places, "i32")], self.tensor(out)),
                       out, bound)

    def step_tosa_scatter(self):
        rng = self.rng
        (a, shape, bound), sizes = self.sizes_from("nkc")
        count = rng.randrange(1, min(sizes["k"], 4) + 1)
        rows = [sizes["n"], count, sizes["c"]]
        b, bound_b = self.operand(rows)
        taken = [rng.sample(range(sizes["k"]), count) for _ in range(sizes["n"])]
        self.require(sizes["n"] <= 8)
        i = self.tosa_const(taken, rows[:2], "i32")
        t = self.tensor(shape)
        self.add_value(self.tosa("scatter", [a, i, b], [t, self.tensor(rows[:2], "i32"), self.tensor(rows)], t), shape,
                       max(bound, bound_b))

    # -- quantized -----------------------------------------------------------

    def step_tosa_rescale(self):
        rng = self.rng
        self.tosa_kinds("i8", "i16", "i32")
        a, shape, _ = self.need(lambda v: v[1])
        each = rng.random() < 0.5
        n = shape[-1] if each else 1
        multipliers = [rng.randrange(1 << 30, (1 << 31) - 1) for _ in range(n)]
        shifts = [rng.choice([29, 30, 31, 32]) for _ in range(n)]
        there = rng.choice(["i8", "i16", "i32"])
        m, s = self.tosa_const(multipliers, (n,), "i32"), self.tosa_const(shifts, (n,), "i8")
        points = [self.tosa_number(rng.randrange(-5, 6) if t == "i8" else 0, t) for t in (self.element, there)]
        r = self.tosa("rescale", [a, m, s] + points,
                      [self.tensor(shape), self.tensor((n,), "i32"), self.tensor((n,), "i8"), self.tensor((1,)),
                       self.tensor((1,), there)], self.tensor(shape, there),
                      f"scale32 = true, rounding_mode = {rng.choice(['SINGLE_ROUND', 'DOUBLE_ROUND'])}, "
                      f"per_channel = {str(each).lower()}, input_unsigned = false, output_unsigned = false")
        if there != self.element:
            op = "extsi" if int(there[1:]) < int(self.element[1:]) else "trunci"
            r = self.let(f"arith.{op} {r} : {self.tensor(shape, there)} to {self.tensor(shape)}")
        self.add_value(r, shape, 0)

    def step_tosa_scale(self):
        """tosa.apply_scale, which stands in bodies only."""
        rng = self.rng
        self.tosa_kinds("i32")
        a, shape, _ = self.pick()
        rank, e = len(shape), self.empty(shape)
        body = [f"%m = arith.constant {rng.randrange(1 << 30, (1 << 31) - 1)} : i32",
                f"%n = arith.constant {rng.choice([29, 30, 31, 32])} : i8",
                f"%s = tosa.apply_scale %i0, %m, %n {{rounding_mode = {rng.choice(['SINGLE_ROUND', 'DOUBLE_ROUND'])}}} : "
                "(i32, i32, i8) -> i32", "linalg.yield %s : i32"]
        self.add_value(self.generic(rank, ["parallel"] * rank, [(a, shape, range(rank))], [(e, shape, range(rank))], body),
                       shape, 0)

    def step_tosa_table(self):
        rng = self.rng
        self.tosa_kinds("i8")
        a, shape, _ = self.pick()
        table = self.tosa_const([rng.randrange(-128, 128) for _ in range(256)], (256,), "i8")
        t = self.tensor(shape)
        self.add_value(self.tosa("table", [a, table], [t, "tensor<256xi8>"], t), shape, 0)

    def step_tosa_fft(self):
        """Over sizes whose roots of one are whole, so that results round to them."""
        rng = self.rng
        self.tosa_kinds("f32")
        sizes = [rng.choice([1, 2, 3, 6]), rng.choice([1, 2, 4]), rng.choice([2, 4])]
        a, bound = self.operand(sizes)
        total = bound * 2 * sizes[1] * sizes[2]
        self.require(self.fits(total))
        t = self.tensor(sizes)
        r = self.fresh()
        if rng.random() < 0.5:
            b, _ = self.operand(sizes)
            self.require(self.fits(total * 4))
            out, total = sizes, total * 4
            self.emit(f"{r}:2 = tosa.fft2d {a}, {b} {{inverse = {str(rng.random() < 0.5).lower()}}} : ({t}, {t}) -> ({t}, {t})")
        else:
            out = sizes[:2] + [sizes[2] // 2 + 1]
            o = self.tensor(out)
            self.emit(f"{r}:2 = tosa.rfft2d {a} : ({t}) -> ({o}, {o})")
        self.require(total < 1 << 12)
        for k in range(2):
            self.add_value(self.rounded(f"{r}#{k}", out, 1), out, total)

    # -- control flow --------------------------------------------------------

    def step_tosa_if(self):
        rng = self.rng
        self.tosa_kinds("i32", "f32")
        (a, shape, bound), (b, _, bound_b) = self.same_shape()
        self.require(self.fits(bound + bound_b))
        which, _ = self.argument((), "i32", 0, 2)
        c = self.tosa("cast", [which], ["tensor<i32>"], "tensor<i1>")
        t = self.tensor(shape)
        r, x, y = self.fresh(), [self.fresh() for _ in range(2)], [self.fresh() for _ in range(2)]
        self.emit(f"{r} = tosa.cond_if {c} ({x[0]} = {a}, {x[1]} = {b}) : tensor<i1> ({t}, {t}) -> {t} {{")
        self.emit(f"^bb0({x[0]}: {t}, {x[1]}: {t}):")
        self.emit(f"tosa.yield {self.tosa('add', x, [t, t], t)} : {t}")
        self.emit("} else {")
        self.emit(f"^bb0({y[0]}: {t}, {y[1]}: {t}):")
        self.emit(f"tosa.yield {self.tosa('sub', y, [t, t], t)} : {t}")
        self.emit("}")
        self.add_value(r, shape, bound + bound_b)

    def step_tosa_while(self):
        rng = self.rng
        self.tosa_kinds("i32", "f32")
        (a, shape, bound), (b, _, bound_b) = self.same_shape()
        trips = rng.randrange(0, 4)
        total = bound + trips * bound_b
        self.require(self.fits(total))
        t, i = self.tensor(shape), "tensor<i32>"
        n = self.tosa_number(trips, "i32", ())
        zero, one = self.tosa_number(0, "i32", ()), self.tosa_number(1, "i32", ())
        r = self.fresh()
        x, k, y, l = (self.fresh() for _ in range(4))
        self.emit(f"{r}:2 = tosa.while_loop ({x} = {a}, {k} = {n}) : ({t}, {i}) -> ({t}, {i}) {{")
        self.emit(f"tosa.yield {self.tosa('greater', [k, zero], [i, i], 'tensor<i1>')} : tensor<i1>")
        self.emit("} do {")
        self.emit(f"^bb0({y}: {t}, {l}: {i}):")
        s = self.tosa("add", [y, b], [t, t], t)
        less = self.tosa("sub", [l, one], [i, i], i)
        self.emit(f"tosa.yield {s}, {less} : {t}, {i}")
        self.emit("}")
        self.add_value(f"{r}#0", shape, total)
