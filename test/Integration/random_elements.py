"""Steps of random programs (gen_random.py): tensors read and made element by
element, reshaped by an operand, packed, convolved."""
import math


def divisors(n):
    return [d for d in range(2, n + 1) if n % d == 0]


class ElementSteps:
    MORE_STEPS = {"extract": 1, "from_elements": 1, "generate": 2,
                  "pad_by_index": 1, "reshape": 2, "dim": 1, "pack": 2,
                  "convolution": 2}
    MAX_MADE = 1536

    def place(self, shape):
        """A random place in a tensor, as constants."""
        return ", ".join(self.let(f"arith.constant {self.rng.randrange(n)} : index")
                         for n in shape)

    def step_extract(self):
        """One element, everywhere or in another tensor."""
        name, shape, bound = self.pick()
        e = self.let(f"tensor.extract {name}[{self.place(shape)}] : "
                     f"{self.tensor(shape)}")
        if self.rng.random() < 0.5:
            return self.define(f"tensor.splat {e} : {self.tensor(shape)}", shape,
                               bound)
        other, out, bound_b = self.pick()
        self.define(f"tensor.insert {e} into {other}[{self.place(out)}] : "
                    f"{self.tensor(out)}", out, max(bound, bound_b))

    def step_from_elements(self):
        name, shape, bound = self.pick()
        out = self.rng.choice([(4,), (6,), (2, 3), (2, 4)])
        picks = [self.let(f"tensor.extract {name}[{self.place(shape)}] : "
                          f"{self.tensor(shape)}") for _ in range(math.prod(out))]
        self.define(f"tensor.from_elements {', '.join(picks)} : "
                    f"{self.tensor(out)}", out, bound)

    def indexed_body(self, shape):
        """A body over an index space whose element depends on the place and
        perhaps on a captured tensor: (lines, bound)."""
        rng = self.rng
        params = [f"%p{d}" for d in range(len(shape))]
        lines = ["^bb0(" + ", ".join(f"{p}: index" for p in params) + "):",
                 f"%sum0 = arith.constant {rng.randrange(3)} : index"]
        for d, p in enumerate(params):
            lines += [f"%f{d} = arith.constant {rng.choice([1, 2, 5])} : index",
                      f"%m{d} = arith.muli {p}, %f{d} : index",
                      f"%sum{d + 1} = arith.addi %sum{d}, %m{d} : index"]
        lines += self.from_index(f"%sum{len(shape)}", rng.choice([3, 4, 7]), "s")
        made, bound = "%zs", 8
        source = self.pick(lambda v: v[1] and v[2] <= 64 and
                           all(n in shape for n in v[1]))
        if source and rng.random() < 0.7:
            name, src, src_bound = source
            at = []
            for d, n in enumerate(src):
                p = params[rng.choice([i for i, m in enumerate(shape) if m == n])]
                if rng.random() < 0.25:
                    lines += [f"%last{d} = arith.constant {n - 1} : index",
                              f"%back{d} = arith.subi %last{d}, {p} : index"]
                    p = f"%back{d}"
                at.append(p)
            lines += [f"%read = tensor.extract {name}[{', '.join(at)}] : "
                      f"{self.tensor(src)}",
                      f"%made = {self.op('sub')} %zs, %read : {self.element}"]
            made, bound = "%made", src_bound + 8
        self.require(self.fits(bound))
        return lines + [f"tensor.yield {made} : {self.element}"], bound

    def step_generate(self):
        _, shape, _ = self.pick()
        body, bound = self.indexed_body(shape)
        self.define("tensor.generate {\n    " + "\n    ".join(body) +
                    f"\n  }} : {self.tensor(shape)}", shape, bound)

    def step_pad_by_index(self):
        rng = self.rng
        name, shape, bound = self.need(lambda v: v[1])
        low = [rng.choice([0, 0, 0, 1]) for _ in shape]
        high = [rng.choice([0, 0, 0, 2]) for _ in shape]
        out = tuple(n + a + b for n, a, b in zip(shape, low, high))
        self.require(math.prod(out) <= self.MAX_MADE)
        body, made = self.indexed_body(out)
        self.define(f"tensor.pad {name} low{low} high{high} {{\n    " +
                    "\n    ".join(body) +
                    f"\n  }} : {self.tensor(shape)} to {self.tensor(out)}", out,
                    max(bound, made))

    def step_reshape(self):
        """Any other shape of the same elements."""
        rng = self.rng
        name, shape, bound = self.pick()
        out, left = [], math.prod(shape)
        while len(out) < 3 and left > 1 and rng.random() < 0.8:
            out.append(rng.choice(divisors(left)))
            left //= out[-1]
        out.insert(rng.randrange(len(out) + 1), left)
        to = f"tensor<{len(out)}x{rng.choice(['index', 'i32', 'i64'])}>"
        s = self.let(f"arith.constant dense<{out}> : {to}")
        self.define(f"tensor.reshape {name}({s}) : ({self.tensor(shape)}, {to}) -> "
                    f"{self.tensor(out)}", out, bound)

    def step_dim(self):
        """The size of a dim, as a number in a tensor."""
        name, shape, _ = self.need(lambda v: v[1])
        self.require(not self.is_float)
        c = self.let(f"arith.constant {self.rng.randrange(len(shape))} : index")
        d = self.let(f"tensor.dim {name}, {c} : {self.tensor(shape)}")
        i = self.let(f"arith.index_cast {d} : index to {self.element}")
        self.define(f"tensor.splat {i} : {self.tensor(shape)}", shape, max(shape))

    def step_pack(self):
        """Packs some dims, perhaps with padding, and unpacks again."""
        rng = self.rng
        name, shape, bound = self.need(lambda v: 1 <= len(v[1]) <= 2)
        rank = len(shape)
        pos = rng.sample(range(rank), rng.randrange(1, rank + 1))
        tiles = [rng.choice([1] + divisors(shape[p]) + [2, 3]) for p in pos]
        perm = rng.sample(range(rank), rank)
        outer = [-(-n // tiles[pos.index(d)]) if d in pos else n
                 for d, n in enumerate(shape)]
        out = [outer[p] for p in perm] + tiles
        self.require(math.prod(out) <= self.MAX_MADE)
        padding = ""
        if any(shape[p] % t for p, t in zip(pos, tiles)):
            c = self.let(f"arith.constant {self.literal(2)} : {self.element}")
            padding = f" padding_value({c} : {self.element})"
        how = (f"outer_dims_perm = {perm} inner_dims_pos = {pos} "
               f"inner_tiles = {tiles}")
        e = self.empty(out)
        packed = self.let(f"linalg.pack {name}{padding} {how} into {e} : "
                          f"{self.tensor(shape)} -> {self.tensor(out)}")
        self.add_value(packed, out, max(bound, 2))
        if rng.random() < 0.6:
            e = self.empty(shape)
            self.define(f"linalg.unpack {packed} {how} into {e} : "
                        f"{self.tensor(out)} -> {self.tensor(shape)}", shape,
                        max(bound, 2))

    def step_convolution(self):
        """conv_2d_nhwc_hwcf or a pooling."""
        rng = self.rng
        name, shape, bound = self.need(lambda v: len(v[1]) == 4)
        n, h, w, c = shape
        kh, kw = rng.randrange(1, min(h, 3) + 1), rng.randrange(1, min(w, 3) + 1)
        out = [n, h - kh + 1, w - kw + 1, c]
        kind = rng.choice(["conv", "sum", "max", "min"])
        if kind == "conv":
            out[3] = rng.choice([1, 2, 3, 4, 6])
            sizes = [kh, kw, c, out[3]]
            window = self.dense(2, sizes)
            op, many = "conv_2d_nhwc_hwcf", kh * kw * c * 2
        else:
            sizes = [kh, kw]
            window = self.empty(sizes)
            op, many = f"pooling_nhwc_{kind}", kh * kw
        sums = kind in ("conv", "sum")
        init, start = self.init(out, "add" if sums else kind)
        total = start + bound * many if sums else max(start, bound)
        self.require(math.prod(out) <= self.MAX_MADE and self.fits(total))
        self.define(f"linalg.{op} {{strides = dense<1> : tensor<2xi64>}} "
                    f"ins({name}, {window} : {self.tensor(shape)}, "
                    f"{self.tensor(sizes)}) outs({init} : {self.tensor(out)}) -> "
                    f"{self.tensor(out)}", out, total)
