"""Steps of random programs (gen_random.py): tensors read and made element by
element, looked up at places that data say, reshaped by an operand, packed,
convolved."""
import math


def divisors(n):
    return [d for d in range(2, n + 1) if n % d == 0]


class ElementSteps:
    MORE_STEPS = {"extract": 1, "from_elements": 1, "generate": 2,
                  "pad_by_index": 1, "reshape": 2, "dim": 1, "pack": 2,
                  "convolution": 2, "lookup": 4, "gather": 2, "scatter": 2,
                  "arg_reduce": 2, "cumulate": 1}
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

    def add_places(self, shape, low, high):
        """An argument that holds places: (name, element type)."""
        rng = self.rng
        name, element = f"%arg{len(self.args)}", rng.choice(["i32", "i64"])
        attrs = [f"spmd.range = [{low}, {high}]"]
        if rng.random() < 0.5:
            attrs.append(f"spmd.sharding = #spmd.sharding{self.sharding(shape)}")
        self.args.append(f"{name}: {self.tensor(shape, element)} "
                         f"{{{', '.join(attrs)}}}")
        return name, element

    def table(self, rank=1):
        """A value of at least `rank` dims, often longer than what is read of it."""
        rng = self.rng
        if rng.random() < 0.5:
            shape = [rng.choice([8, 12, 16, 24, 13])] + [2] * (rank - 1)
            if rng.random() < 0.5:
                shape.append(rng.choice([1, 2, 3, 4]))
            rng.shuffle(shape)
            self.add_argument(tuple(shape))
            return self.values[-1]
        return self.need(lambda v: len(v[1]) >= rank)

    def step_lookup(self):
        """Rows of a captured table: one per place, or a sum or maximum of several;
        what is looked up perhaps computed with."""
        rng = self.rng
        name, shape, bound = self.table()
        d = rng.randrange(len(shape))
        ids = [rng.choice([1, 2, 3, 4]) for _ in range(rng.randrange(1, 3))]
        beyond = rng.choice([0, 0, 3])   # clamped, as front ends do
        places, kind = self.add_places(ids, -beyond, shape[d] + beyond)
        rest = [e for e in range(len(shape)) if e != d]
        sizes = ids + [shape[e] for e in rest]
        order = rng.sample(range(len(sizes)), len(sizes))   # loop of each dim
        loops = len(sizes)
        index = {l: f"%k{l}" for l in range(loops)}
        body = [f"{index[l]} = linalg.index {l} : index" for l in range(loops)]
        at = ", ".join(index[order[i]] for i in range(len(ids)))
        body += [f"%id = tensor.extract {places}[{at}] : {self.tensor(ids, kind)}",
                 f"%p0 = arith.index_cast %id : {kind} to index"]
        place = "%p0"
        if beyond:
            body += ["%zero = arith.constant 0 : index",
                     f"%end = arith.constant {shape[d] - 1} : index",
                     "%p1 = arith.maxsi %p0, %zero : index",
                     "%p2 = arith.minsi %p1, %end : index"]
            place = "%p2"
        elif rng.random() < 0.2:   # from the end
            body += [f"%end = arith.constant {shape[d] - 1} : index",
                     "%p1 = arith.subi %end, %p0 : index"]
            place = "%p1"
        where = [index[order[len(ids) + rest.index(e)]] if e != d else place
                 for e in range(len(shape))]
        body.append(f"%v = tensor.extract {name}[{', '.join(where)}] : "
                    f"{self.tensor(shape)}")
        value = "%v"
        if rng.random() < 0.3:
            self.require(self.fits(bound * bound + 3))
            body += [f"%two = arith.constant {self.literal(rng.randrange(-3, 4))} : {self.element}",
                     f"%sq = {self.op('mul')} %v, %v : {self.element}",
                     f"%w = {self.op('sub')} %sq, %two : {self.element}"]
            value, bound = "%w", bound * bound + 3
        keep = [i for i in range(loops) if i >= len(ids) or rng.random() < 0.6]
        out = [sizes[i] for i in keep]
        self.require(math.prod(out) <= self.MAX_MADE)
        count = math.prod(sizes) // math.prod(out)
        self.require(self.fits(bound * count + 64))
        how = rng.choice(["add", "max"])
        if len(keep) < loops or rng.random() < 0.2:
            init, start = self.init(out, how)
            total = start + bound * count if how == "add" else max(start, bound)
            self.require(self.fits(total))
            body += [f"%n = {self.op(how)} %o0, {value} : {self.element}",
                     f"linalg.yield %n : {self.element}"]
        else:
            init, total = self.empty(out), bound
            body.append(f"linalg.yield {value} : {self.element}")
        size_of = [0] * loops
        for i, l in enumerate(order):
            size_of[l] = sizes[i]
        shaped = self.empty(size_of)   # the loops' sizes: nothing reads it
        r = self.generic(loops,
                         ["parallel" if order.index(l) in keep else "reduction"
                          for l in range(loops)],
                         [(shaped, size_of, range(loops))],
                         [(init, out, [order[i] for i in keep])], body)
        self.add_value(r, out, total)

    def gather_loops(self, name, shape, places, kind, dims, batch, out, along):
        """The body of a gather as upstream lowers one: lines of a generic."""
        body = [f"%k{l} = linalg.index {l} : index" for l in range(len(out))]
        where = []
        for e in range(len(shape)):
            if e not in dims:
                where.append(f"%k{along[e]}")
                continue
            c = dims.index(e)
            at = ", ".join([f"%k{b}" for b in range(len(batch))] + [f"%c{c}"])
            body += [f"%c{c} = arith.constant {c} : index",
                     f"%id{c} = tensor.extract {places}[{at}] : "
                     f"{self.tensor(list(batch) + [len(dims)], kind)}",
                     f"%p{c} = arith.index_cast %id{c} : {kind} to index"]
            where.append(f"%p{c}")
        return body + [f"%v = tensor.extract {name}[{', '.join(where)}] : "
                       f"{self.tensor(shape)}", f"linalg.yield %v : {self.element}"]

    def step_gather(self):
        """tensor.gather; compared with a generic that upstream lowers."""
        rng = self.rng
        name, shape, bound = self.table()
        dims = sorted(rng.sample(range(len(shape)), rng.randrange(1, len(shape) + 1)))
        batch = [rng.choice([1, 2, 3, 4]) for _ in range(rng.randrange(1, 3))]
        low = min(shape[d] for d in dims)
        places, kind = self.add_places(batch + [len(dims)], 0, low)
        full = rng.random() < 0.5
        out, along = list(batch), {}
        for e, n in enumerate(shape):
            if e not in dims:
                along[e] = len(out)
                out.append(n)
            elif full:
                out.append(1)
        self.require(math.prod(out) <= self.MAX_MADE and len(out) <= 6)
        r, e, t = self.fresh(), self.empty(out), self.tensor(out)
        affine = ", ".join(f"d{i}" for i in range(len(out)))
        loops = self.gather_loops(name, shape, places, kind, dims, batch, out, along)
        kinds = ", ".join(['"parallel"'] * len(out))
        self.emit_pair(
            f"{r} = tensor.gather {name}[{places}] gather_dims({dims}) : "
            f"({self.tensor(shape)}, {self.tensor(batch + [len(dims)], kind)}) -> {t}",
            "\n    ".join(
                [f"{r} = linalg.generic {{indexing_maps = [affine_map<({affine}) -> ({affine})>], "
                 f"iterator_types = [{kinds}]}} "
                 f"outs({e} : {t}) {{", f"^bb0(%o0: {self.element}):"] + loops) +
            f"\n  }} -> {t}")
        if len(out) <= 4:
            return self.add_value(r, out, bound)
        flat = [math.prod(out)]
        self.define(f"tensor.collapse_shape {r} [{list(range(len(out)))}] : {t} into "
                    f"{self.tensor(flat)}", flat, bound)

    def step_scatter(self):
        """tensor.scatter at places that differ; compared with a chain of inserts."""
        rng = self.rng
        name, shape, bound = self.table()
        dims = sorted(rng.sample(range(len(shape)), rng.randrange(1, len(shape) + 1)))
        spots = math.prod(shape[d] for d in dims)
        count = rng.randrange(1, min(spots, 4) + 1)
        full = rng.random() < 0.5
        part = [n if e not in dims else 1 for e, n in enumerate(shape)
                if full or e not in dims]
        self.add_argument(tuple([count] + part))
        rows, _, rows_bound = self.values[-1]
        taken = []
        for spot in rng.sample(range(spots), count):
            tuple_ = []
            for d in reversed(dims):
                tuple_.insert(0, spot % shape[d])
                spot //= shape[d]
            taken.append(tuple_)
        kind = rng.choice(["i32", "i64", "index"])
        places = self.let(f"arith.constant dense<{taken}> : "
                          f"{self.tensor([count, len(dims)], kind)}")
        r, t = self.fresh(), self.tensor(shape)
        rows_type = self.tensor([count] + part)
        steps, last = [], name
        for i, tuple_ in enumerate(taken):
            offsets = [tuple_[dims.index(e)] if e in dims else 0 for e in range(len(shape))]
            sizes = [1 if e in dims else n for e, n in enumerate(shape)]
            one = f"{r}_row{i}"
            steps.append(
                f"{one} = tensor.extract_slice {rows}{[i] + [0] * len(part)} {[1] + part} "
                f"{[1] * (len(part) + 1)} : {rows_type} to {self.tensor(part)}")
            next_ = r if i == count - 1 else f"{r}_to{i}"
            steps.append(
                f"{next_} = tensor.insert_slice {one} into {last}{offsets} {sizes} "
                f"{[1] * len(shape)} : {self.tensor(part)} into {t}")
            last = next_
        self.emit_pair(
            f"{r} = tensor.scatter {rows} into {name}[{places}] scatter_dims({dims}) unique : "
            f"({rows_type}, {t}, {self.tensor([count, len(dims)], kind)}) -> {t}",
            "\n  ".join(steps))
        self.add_value(r, shape, max(bound, rows_bound))

    def step_arg_reduce(self):
        """The greatest element along a dim and where it is."""
        rng = self.rng
        name, shape, bound = self.need(lambda v: v[1])
        d = rng.randrange(len(shape))
        out = [n for e, n in enumerate(shape) if e != d]
        keep = [e for e in range(len(shape)) if e != d]
        t, rank = self.element, len(shape)
        low, zero = self.dense(rng.choice([-3, 0]), out), self.dense(0, out)
        compare = (f"arith.cmpf {rng.choice(['ogt', 'olt', 'oge'])}" if self.is_float
                   else f"arith.cmpi {rng.choice(['sgt', 'slt', 'sge', 'ugt'])}")
        a, b = ("%i0", "%o0") if rng.random() < 0.5 else ("%o0", "%i0")
        first, second = ("%i0", "%o0"), ("%zk", "%o1")
        if a == "%o0":
            first, second = first[::-1], second[::-1]
        body = [f"%k = linalg.index {d} : index"]
        body += self.from_index("%k", shape[d], "k")
        body += [f"%c = {compare}, {a}, {b} : {t}",
                 f"%m = arith.select %c, {first[0]}, {first[1]} : {t}",
                 f"%j = arith.select %c, {second[0]}, {second[1]} : {t}",
                 f"linalg.yield %m, %j : {t}, {t}"]
        r = self.generic(rank, ["reduction" if e == d else "parallel" for e in range(rank)],
                         [(name, shape, range(rank))],
                         [(low, out, keep), (zero, out, keep)], body)
        self.add_value(f"{r}#0", out, max(bound, 3))
        self.add_value(f"{r}#1", out, shape[d])

    def step_cumulate(self):
        """Sums over all before, as a product with a mask of indices."""
        name, shape, bound = self.need(lambda v: v[1])
        d, rank = self.rng.randrange(len(shape)), len(shape)
        self.require(self.fits(bound * shape[d]) and
                     math.prod(shape) * shape[d] <= 1 << 13)
        zero = self.dense(0, shape)
        body = [f"%k = linalg.index {d} : index", f"%l = linalg.index {rank} : index",
                "%c = arith.cmpi ule, %l, %k : index",
                f"%n = arith.constant {self.literal(0)} : {self.element}",
                f"%p = arith.select %c, %i0, %n : {self.element}",
                f"%s = {self.op('add')} %o0, %p : {self.element}",
                f"linalg.yield %s : {self.element}"]
        r = self.generic(rank + 1, ["parallel"] * rank + ["reduction"],
                         [(name, shape, [rank if e == d else e for e in range(rank)])],
                         [(zero, shape, range(rank))], body)
        self.add_value(r, shape, bound * shape[d])

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
