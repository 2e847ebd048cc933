"""Steps of random programs (gen_random.py): the named ops of linalg."""
import math

# What each dim of the operands and the result is, by letter.
CONTRACTIONS = {
    "dot": "k,k->", "matvec": "mk,k->m", "vecmat": "k,kn->n", "batch_matmul": "bmk,bkn->bmn",
    "batch_matvec": "bmk,bk->bm", "batch_vecmat": "bk,bkn->bn", "batch_reduce_matmul": "bmk,bkn->mn",
    "mmt4d": "mkac,nkdc->mnad", "batch_mmt4d": "bmkac,bnkdc->bmnad",
    "quantized_matmul": "mk,kn->mn", "quantized_batch_matmul": "bmk,bkn->bmn"}
# Named after the letters of input and kernel: f features, g groups, m multiplier; d, h, w are spatial.
CONVOLUTIONS = """conv_1d conv_1d_ncw_fcw conv_1d_nwc_wcf conv_2d conv_2d_nchw_fchw conv_2d_nchw_fchw_q
    conv_2d_ngchw_fgchw conv_2d_ngchw_gfchw conv_2d_ngchw_gfchw_q conv_2d_nhwc_fhwc conv_2d_nhwc_fhwc_q
    conv_2d_nhwc_hwcf conv_2d_nhwc_hwcf_q conv_2d_nhwgc_gfhwc conv_2d_nhwgc_gfhwc_q conv_3d conv_3d_ncdhw_fcdhw
    conv_3d_ndhwc_dhwcf conv_3d_ndhwc_dhwcf_q depthwise_conv_1d_ncw_cw depthwise_conv_1d_nwc_wc
    depthwise_conv_1d_nwc_wcm depthwise_conv_2d_nchw_chw depthwise_conv_2d_nhwc_hwc depthwise_conv_2d_nhwc_hwc_q
    depthwise_conv_2d_nhwc_hwcm depthwise_conv_2d_nhwc_hwcm_q depthwise_conv_3d_ncdhw_cdhw
    depthwise_conv_3d_ndhwc_dhwc depthwise_conv_3d_ndhwc_dhwcm""".split()
POOLINGS = """pooling_nchw_max pooling_nchw_sum pooling_ncw_max pooling_ncw_sum pooling_ndhwc_max pooling_ndhwc_min
    pooling_ndhwc_sum pooling_nhwc_max pooling_nhwc_max_unsigned pooling_nhwc_min pooling_nhwc_min_unsigned
    pooling_nhwc_sum pooling_nwc_max pooling_nwc_max_unsigned pooling_nwc_min pooling_nwc_min_unsigned
    pooling_nwc_sum""".split()
# By element kind and number of operands; those that round need what random_scalars.py says of them.
ELEMENTWISE = {
    ("float", 1): ["abs", "ceil", "floor", "negf", "round", "square"],
    ("float", 2): ["add", "sub", "mul", "max", "min"],
    ("int", 2): ["add", "sub", "mul", "max", "min", "div", "div_unsigned"]}
INEXACT = {"exp": ("half", math.exp), "log": ("positive", math.log), "sqrt": ("positive", math.sqrt),
           "rsqrt": ("positive", lambda x: x ** -0.5), "tanh": ("half", math.tanh), "erf": ("half", math.erf),
           "reciprocal": ("positive", lambda x: 1 / x)}
KINDS = ["add", "sub", "mul", "max_signed", "min_signed"]


class NamedSteps:
    MORE_STEPS = {"named": 3, "named_inexact": 1, "elementwise_kind": 1, "contraction": 3, "contract": 1,
                  "named_convolution": 3, "pooling": 2, "softmax": 1, "copy": 1,
                  "random_numbers": 1}

    def operand(self, shape, element=None, low=-3, high=4):
        """A value of this shape, often a new argument: (name, bound). Not one of those that later steps take if
        it has more dims than these expect."""
        found = self.pick(lambda v: v[1] == tuple(shape)) if element in (None, self.element) else None
        if found and self.rng.random() < 0.6:
            return found[0], found[2]
        return self.argument(shape, element, low, high)

    def define_any(self, text, shape, bound):
        """As define; what has many dims is made flat."""
        if len(shape) <= 4:
            return self.define(text, shape, bound)
        flat = [shape[0] * shape[1]] + list(shape[2:4]) + [math.prod(shape[4:])]
        groups = [[0, 1], [2], [3], list(range(4, len(shape)))]
        self.define(f"tensor.collapse_shape {self.let(text)} {groups} : {self.tensor(shape)} into {self.tensor(flat)}",
                    flat, bound)

    def named(self, op, ins, types, init, out, element=None):
        t = self.tensor(out, element)
        if attr := "" if "{" in op else self.maybe_sharded(out):
            op += f" {{{attr}}}"
        return f"linalg.{op} ins({', '.join(ins)} : {', '.join(types)}) outs({init} : {t}) -> {t}"

    def step_copy(self):
        name, shape, bound = self.pick()
        e, t = self.empty(shape), self.tensor(shape)
        self.define(self.named("copy", [name], [t], e, shape), shape, bound)

    def step_named(self):
        """Elementwise ops."""
        rng = self.rng
        (a, shape, bound), (b, _, bound_b) = self.same_shape()
        kind, t = "float" if self.is_float else "int", self.tensor(shape)
        arity = rng.choice([1, 2, 2, 3] if self.is_float else [2, 2, 3])
        if arity == 3:
            c = self.cmp("olt" if self.is_float else "slt", [a, b], self.element, shape)
            return self.define(self.named("select", [c, a, b], [self.tensor(shape, "i1"), t, t], self.empty(shape),
                                          shape), shape, max(bound, bound_b))
        op = rng.choice(ELEMENTWISE[kind, arity])
        if op.startswith("div"):
            b = self.let(f"arith.andi {b}, {self.number(3, shape)} : {t}")
            b = self.let(f"arith.addi {b}, {self.number(rng.choice([1, -5]), shape)} : {t}")
        if op in ("ceil", "floor", "round"):
            a = self.let(f"arith.mulf {a}, {self.number(0.5, shape)} : {t}")
        total = {"add": bound + bound_b, "sub": bound + bound_b, "mul": bound * bound_b,
                 "square": bound * bound}.get(op, max(bound, bound_b))
        self.require(self.fits(total))
        operands = [a, b][:arity]
        self.define(self.named(op, operands, [t] * arity, self.empty(shape), shape), shape, total)

    def step_named_inexact(self):
        rng = self.rng
        self.require(self.is_float)
        a, shape, _ = self.pick()
        op = rng.choice(list(INEXACT) + ["div", "powf"])
        t = self.tensor(shape)
        if op in ("div", "powf"):
            b = self.prepared(self.small(self.pick(lambda v: v[1] == shape)[0], shape), shape,
                              "positive" if op == "div" else "")
            a = self.prepared(self.small(a, shape), shape, "" if op == "div" else "positive")
            values = [(x / (y + 4) if op == "div" else (x + 4.0) ** y) for x in range(-3, 4) for y in range(-3, 4)]
            operands = [a, b]
        else:
            how, value = INEXACT[op]
            operands = [self.prepared(self.small(a, shape), shape, how)]
            values = [value(self.prepare_number(how, x)) for x in range(-3, 4)]
        scale, bound = self.certain_scale(values)
        r = self.let(self.named(op, operands, [t] * len(operands), self.empty(shape), shape))
        self.add_value(self.rounded(r, shape, scale), shape, bound)

    def step_elementwise_kind(self):
        """linalg.elementwise, an operand perhaps broadcast or transposed."""
        rng = self.rng
        a, shape, bound = self.need(lambda v: v[1])
        dims = [d for d in range(len(shape)) if rng.random() < 0.6]
        rng.shuffle(dims)
        sizes = [shape[d] for d in dims]
        b, bound_b = self.operand(sizes)
        kind = rng.choice(KINDS)
        total = {"add": bound + bound_b, "sub": bound + bound_b,
                 "mul": bound * bound_b}.get(kind, max(bound, bound_b))
        self.require(self.fits(total))
        loops = ", ".join(f"d{d}" for d in range(len(shape)))
        same = f"affine_map<({loops}) -> ({loops})>"
        other = f"affine_map<({loops}) -> ({', '.join(f'd{d}' for d in dims)})>"
        t = self.tensor(shape)
        self.define(f"linalg.elementwise kind=#linalg.elementwise_kind<{kind}> indexing_maps = [{same}, {other}, {same}] "
                    f"ins({a}, {b} : {t}, {self.tensor(sizes)}) outs({self.empty(shape)} : {t}) -> {t}", shape, total)

    # -- contractions --------------------------------------------------------

    def choose_quantized(self, ops):
        """One of these; those with zero points only of bytes, and there as often as all others."""
        quantized = [op for op in ops if op.startswith("quantized") or op.endswith("_q")]
        if self.element == "i8" and self.rng.random() < 0.5:
            return self.rng.choice(quantized)
        return self.rng.choice([op for op in ops if op not in quantized])

    def sizes_from(self, letters):
        """A value whose dims have these letters, and their sizes."""
        value = self.need(lambda v: len(v[1]) == len(letters)) if len(letters) <= 4 else None
        if value and self.rng.random() < 0.8:
            return value, dict(zip(letters, value[1]))
        sizes = {l: self.rng.choice([1, 2, 3, 4, 6]) for l in letters}
        shape = tuple(sizes[l] for l in letters)
        self.require(math.prod(shape) <= 1536)
        name, bound = self.argument(shape)
        return (name, shape, bound), sizes

    def step_contraction(self):
        rng = self.rng
        op = self.choose_quantized(list(CONTRACTIONS))
        ins, out = CONTRACTIONS[op].split("->")
        first, second = ins.split(",")
        quantized = op.startswith("quantized")
        (a, shape_a, bound_a), sizes = self.sizes_from(first)
        for letter in second:
            sizes.setdefault(letter, rng.choice([1, 2, 3, 4, 6]))
        shape_b, shape = [sizes[l] for l in second], [sizes[l] for l in out]
        self.require(math.prod(shape_b) <= 1536 and math.prod(shape) <= 1536 and
                     math.prod(sizes.values()) <= 1 << 14)
        b, bound_b = self.operand(shape_b)
        count = math.prod(n for l, n in sizes.items() if l not in out)
        total = bound_a * bound_b * count
        self.require(self.fits(total + 64))
        ins, types = [a, b], [self.tensor(shape_a), self.tensor(shape_b)]
        if quantized:
            return self.accumulate_wide(op, ins, types, shape, "")
        init, start = self.init(shape, "add")
        self.define_any(self.named(op, ins, types, init, shape), shape, total + start)

    def accumulate_wide(self, op, ins, types, shape, attrs):
        """i8 operands with zero points, sums in i32."""
        points = [self.let(f"arith.constant {self.rng.randrange(-5, 6)} : i32") for _ in range(2)]
        init = self.number(self.rng.randrange(-9, 10), shape, "i32")
        wide = self.let(self.named(f"{op}{attrs}", ins + points, types + ["i32"] * 2, init, shape, "i32"))
        self.define_any(f"arith.trunci {wide} : {self.tensor(shape, 'i32')} to {self.tensor(shape)}", shape, 0)

    def step_contract(self):
        """linalg.contract with transposed operands."""
        rng = self.rng
        letters = rng.sample("bmk", 3) if rng.random() < 0.5 else rng.sample("mk", 2)
        (a, shape_a, bound_a), sizes = self.sizes_from(letters)
        sizes["n"] = rng.choice([1, 2, 3, 4])
        second = [l for l in letters if l != "m"] + ["n"]
        out = [l for l in letters if l != "k"] + ["n"]
        rng.shuffle(second), rng.shuffle(out)
        shape_b, shape = [sizes[l] for l in second], [sizes[l] for l in out]
        self.require(math.prod(shape_b) <= 1536 and math.prod(shape) <= 1536)
        b, bound_b = self.operand(shape_b)
        total = bound_a * bound_b * sizes["k"]
        self.require(self.fits(total + 64))
        init, start = self.init(shape, "add")
        loops = sorted(sizes)
        def affine(dims):
            return f"affine_map<({', '.join(loops)}) -> ({', '.join(dims)})>"
        t = self.tensor(shape)
        self.define(f"linalg.contract indexing_maps = [{affine(letters)}, {affine(second)}, {affine(out)}] "
                    f"ins({a}, {b} : {self.tensor(shape_a)}, {self.tensor(shape_b)}) outs({init} : {t}) -> {t}",
                    shape, total + start)

    # -- windows -------------------------------------------------------------

    def windows(self, sizes, spatial):
        """Kernel sizes, strides, dilations of spatial dims, and what is left of them."""
        rng = self.rng
        kernel, strides, dilations, out = {}, [], [], {}
        for l in spatial:
            kernel[l] = rng.randrange(1, min(sizes[l], 3) + 1)
            most = (sizes[l] - 1) // max(kernel[l] - 1, 1)
            dilations.append(rng.choice([1, min(2, most)]) if most else 1)
            strides.append(rng.choice([1, 1, 2]))
            out[l] = (sizes[l] - dilations[-1] * (kernel[l] - 1) - 1) // strides[-1] + 1
        return kernel, strides, dilations, out

    def window_attrs(self, strides, dilations):
        many = f"tensor<{len(strides)}xi64>"
        return f" {{dilations = dense<{dilations}> : {many}, strides = dense<{strides}> : {many}}}"

    def step_named_convolution(self):
        rng = self.rng
        op = self.choose_quantized(CONVOLUTIONS)
        quantized = op.endswith("_q")
        words = op.removesuffix("_q").split("_conv_" if "depth" in op else "conv_")[1].split("_")
        if len(words) == 1:   # conv_2d
            letters = filters = "dhw"[-int(words[0][0]):]
        else:
            letters, filters = words[1:]
        (a, shape_a, bound_a), sizes = self.sizes_from(letters)
        spatial = [l for l in letters if l in "dhw"]
        kernel, strides, dilations, left = self.windows(sizes, spatial)
        if len(words) == 1:   # these have no strides
            left = {l: sizes[l] - kernel[l] + 1 for l in spatial}
        inner = {**sizes, **kernel, "f": rng.choice([1, 2, 3, 4]), "m": rng.choice([1, 2, 3])}
        shape_b = [inner[l] for l in filters]
        depthwise = op.startswith("depthwise")
        after = [l if depthwise else {"c": "f"}.get(l, l) for l in letters] + ["m"] * ("m" in filters)
        shape = [left.get(l, inner[l]) for l in after]
        count = math.prod(kernel.values()) * (1 if depthwise else inner.get("c", 1))
        self.require(math.prod(shape) <= 1536 and math.prod(shape) * count <= 1 << 14)
        b, bound_b = self.operand(shape_b)
        total = bound_a * bound_b * count
        self.require(self.fits(total + 64))
        attrs = "" if len(words) == 1 else self.window_attrs(strides, dilations)
        ins, types = [a, b], [self.tensor(shape_a), self.tensor(shape_b)]
        if quantized:
            return self.accumulate_wide(op, ins, types, shape, attrs)
        init, start = self.init(shape, "add")
        self.define_any(self.named(op + attrs, ins, types, init, shape), shape, total + start)

    def step_pooling(self):
        rng = self.rng
        op = rng.choice([op for op in POOLINGS if not self.is_float or "unsigned" not in op])
        _, letters, kind = op.removesuffix("_unsigned").split("_")
        (a, shape_a, bound), sizes = self.sizes_from(letters)
        spatial = [l for l in letters if l in "dhw"]
        kernel, strides, dilations, left = self.windows(sizes, spatial)
        shape = [left.get(l, sizes[l]) for l in letters]
        count = math.prod(kernel.values())
        total = bound * count if kind == "sum" else bound
        self.require(self.fits(total + 64))
        window = self.empty([kernel[l] for l in spatial])
        init, start = self.init(shape, "add" if kind == "sum" else kind)
        self.define_any(self.named(op + self.window_attrs(strides, dilations), [a, window],
                                   [self.tensor(shape_a), self.tensor([kernel[l] for l in spatial])], init, shape),
                        shape, total + start)

    def step_softmax(self):
        """Of values so far apart that each is a fraction 1 / k or nothing."""
        rng = self.rng
        self.require(self.element in ("f32", "f64"))
        name, shape, _ = self.need(lambda v: v[1])
        d = rng.randrange(len(shape))
        self.require(shape[d] <= 16)
        t = self.tensor(shape)
        a = self.let(f"arith.mulf {self.small(name, shape)}, {self.number(1000.0, shape)} : {t}")
        r = self.let(f"linalg.softmax dimension({d}) ins({a} : {t}) outs({self.empty(shape)} : {t}) -> {t}")
        self.add_value(self.rounded(r, shape, 64), shape, 64)

    def step_random_numbers(self):
        """What a seed gives, rounded: every device has the numbers of its place."""
        rng = self.rng
        self.require(self.is_float)
        shape = [rng.choice([2, 3, 4, 6, 8]) for _ in range(2)]
        low, high = (self.let(f"arith.constant {n} : f64") for n in (-3.0, 4.0))
        seed = self.let(f"arith.constant {rng.randrange(1000)} : i32")
        t = self.tensor(shape)
        r = self.let(f"linalg.fill_rng_2d ins({low}, {high}, {seed} : f64, f64, i32) outs({self.empty(shape)} : {t}) -> {t}")
        self.add_value(self.rounded(r, shape, 1), shape, 5)
