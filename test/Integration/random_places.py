"""Steps of random programs (gen_random.py): slices at places, and of sizes, that are known at run time only; sorts."""

import math

MAX_ELEMENTS = 768


class PlaceSteps:
    MORE_STEPS = {"slice_at": 2, "insert_at": 2, "slice_of_some": 3, "pad_some": 1, "sweep": 2, "sort": 2}

    def some_place(self, limit):
        """A number from 0 to `limit` that is known at run time only."""
        rng = self.rng
        if self.element in ("i32", "i64") and self.values and rng.random() < 0.3:
            name, shape, _ = self.pick()
            spot = ", ".join(self.index(rng.randrange(n)) for n in shape)
            n, kind = self.let(f"tensor.extract {name}[{spot}] : {self.tensor(shape)}"), self.element
        else:
            kind = rng.choice(["i32", "i64"])
            argument, _ = self.argument((), kind, 0, limit + 1)
            n = self.let(f"tensor.extract {argument}[] : {self.tensor((), kind)}")
        n = self.let(f"arith.index_cast {n} : {kind} to index")
        n = self.let(f"affine.max affine_map<()[s0] -> (s0, 0)>()[{n}]")
        return self.let(f"affine.min affine_map<()[s0] -> (s0, {limit})>()[{n}]")

    def slice_at(self, shape, at, sizes, name, dropped=()):
        """The name of a slice; `at` and `sizes`: numbers or names."""
        at, spelled = ("[" + ", ".join(map(str, numbers)) + "]" for numbers in (at, sizes))
        kept = [s if isinstance(s, int) else "?" for d, s in enumerate(sizes) if d not in dropped]
        return self.let(f"tensor.extract_slice {name}{at} {spelled} {[1] * len(shape)} : "
                        f"{self.tensor(shape)} to {self.tensor(kept)}")

    def places_of(self, shape, sizes):
        """Where a part of these sizes may be, in some dims known at run time."""
        moves = [d for d, n in enumerate(shape) if self.rng.random() < 0.6] or [0]
        return [self.some_place(n - s) if d in moves else self.rng.randrange(n - s + 1) for d, (n, s) in enumerate(zip(shape, sizes))]

    def step_slice_at(self):
        rng = self.rng
        name, shape, bound = self.need(lambda v: v[1])
        sizes = [rng.choice([1, n, rng.randrange(1, n + 1)]) for n in shape]
        dropped = [d for d, s in enumerate(sizes) if s == 1 and rng.random() < 0.5]
        part = self.slice_at(shape, self.places_of(shape, sizes), sizes, name, dropped)
        self.add_value(part, [s for d, s in enumerate(sizes) if d not in dropped], bound)

    def step_sort(self):
        """Few elements of an order along a dim: kept by the sort, or sliced off."""
        rng = self.rng
        a, shape, bound = self.need(lambda v: v[1])
        b, _, bound_b = self.pick(lambda v: v[1] == shape)
        d = rng.randrange(len(shape))
        kept = rng.choice([1, 2, 3, shape[d]])
        self.require(kept <= shape[d] and self.element != "i1")
        sizes = [kept if at == d else n for at, n in enumerate(shape)]
        e, t, part = self.element, self.tensor(shape), self.tensor(sizes)
        last, is_sliced = rng.random() < 0.3, rng.random() < 0.5
        order = rng.choice(["cmpf olt", "cmpf ogt"] if self.is_float else ["cmpi slt", "cmpi sgt", "cmpi ult"])
        made = t if is_sliced else part
        r = self.fresh()
        self.emit(f"{r}:2 = spmd.sort {a}, {b} dim = {d} {'last ' if last and not is_sliced else ''}{{")
        self.emit(f"^bb0(%x: {e}, %y: {e}, %p: {e}, %q: {e}):")
        self.emit(f"  %before = arith.{order}, %x, %y : {e}")
        self.emit("  spmd.yield %before")
        self.emit(f"}} : ({t}, {t}) -> ({made}, {made})")
        at = [shape[d] - kept if last and n == d else 0 for n in range(len(shape))]
        for i, most in enumerate([bound, bound_b]):
            if is_sliced:
                self.define(f"tensor.extract_slice {r}#{i}{at} {sizes} {[1] * len(shape)} : {t} to {part}", sizes, most)
            else:
                self.add_value(f"{r}#{i}", sizes, most)

    def step_insert_at(self):
        name, shape, bound = self.need(lambda v: v[1])
        part, sizes, part_bound = self.need(
            lambda v: len(v[1]) == len(shape) and all(p <= n for p, n in zip(v[1], shape)))
        at = ", ".join(map(str, self.places_of(shape, sizes)))
        self.define(f"tensor.insert_slice {part} into {name}[{at}] {list(sizes)} {[1] * len(shape)} : "
                    f"{self.tensor(sizes)} into {self.tensor(shape)}", shape, max(bound, part_bound))

    def some(self, shape, dims):
        """Sizes of which those of `dims` are known at run time, and places that leave room for them."""
        at, sizes = [0] * len(shape), list(shape)
        for d in dims:
            sizes[d] = self.some_place(shape[d])
            if self.rng.random() < 0.5:
                most = self.let(f"affine.apply affine_map<()[s0] -> ({shape[d]} - s0)>()[{sizes[d]}]")
                at[d] = self.rng.choice([most, most, 0])
        return at, sizes

    def step_slice_of_some(self):
        """A part of unknown size, computed with, perhaps added up, and put back."""
        rng = self.rng
        name, shape, bound = self.need(lambda v: v[1])
        into, _, into_bound = self.pick(lambda v: v[1] == shape)
        self.require(self.fits(2 * bound + into_bound))
        dims = [d for d in range(len(shape)) if rng.random() < 0.4] or [rng.randrange(len(shape))]
        at, sizes = self.some(shape, dims)
        dropped = [d for d, n in enumerate(shape) if d not in dims and (n == 1 or rng.random() < 0.4)]
        for d in dropped:
            at[d], sizes[d] = self.some_place(shape[d] - 1) if rng.random() < 0.5 else rng.randrange(shape[d]), 1
        hidden = dropped if rng.random() < 0.7 else []
        kept = [d for d in range(len(shape)) if d not in hidden]
        part = self.slice_at(shape, at, sizes, name, hidden)
        spelled = ["?" if d in dims else sizes[d] for d in kept]
        t = self.tensor(spelled)
        if rng.random() < 0.3:
            part = self.let(f"spmd.with_sharding_constraint {part} {self.sharding([1 if d in dims else sizes[d] for d in kept], range(9))} : {t}")
        kind = rng.choice(["none", "arith", "linalg"])
        if kind != "none":
            bound *= 2
        if kind == "arith":
            part = self.let(f"{self.op('add')} {part}, {part} : {t}")
        elif kind == "linalg":
            e = self.let(f"tensor.empty({', '.join(sizes[d] for d in kept if d in dims)}) : {t}")
            part = self.let(f"linalg.add ins({part}, {part} : {t}, {t}) outs({e} : {t}) -> {t}")
        fixed = [d for d in kept if d not in dims]
        if rng.random() < 0.4 and self.fits(bound * max([1, *(shape[d] for d in kept)]) ** len(kept)):
            gone = [k for k, d in enumerate(kept) if d in dims]
            out = tuple(sizes[d] for d in fixed)
            init = self.dense(rng.randrange(-2, 3), out)
            count = math.prod(shape[d] for d in dims)
            self.define(f"linalg.reduce {{ {self.op('add')} }} ins({part} : {t}) outs({init} : {self.tensor(out)}) dimensions = {gone}",
                        out, bound * count + 2)
        sizes_text = ", ".join(map(str, sizes))
        back = ", ".join(map(str, at if rng.random() < 0.6 else [0 if d in dims else a for d, a in enumerate(at)]))
        self.define(f"tensor.insert_slice {part} into {into}[{back}] [{sizes_text}] {[1] * len(shape)} : {t} into {self.tensor(shape)}",
                    shape, max(bound, into_bound))

    def step_pad_some(self):
        """A part of unknown size, padded to a known one."""
        rng = self.rng
        name, shape, bound = self.need(lambda v: v[1])
        d = rng.randrange(len(shape))
        at, sizes = self.some(shape, [d])
        part = self.slice_at(shape, at, sizes, name)
        rest = self.let(f"affine.apply affine_map<()[s0] -> ({shape[d]} - s0)>()[{sizes[d]}]")
        spelled = self.tensor(["?" if e == d else n for e, n in enumerate(shape)])
        low, high = ([rng.choice([0, 0, 1, 2]) for _ in shape] for _ in range(2))
        low[d], high[d] = (rest, 0) if rng.random() < 0.5 else (0, rest)
        out = [n if e == d else n + low[e] + high[e] for e, n in enumerate(shape)]
        self.require(math.prod(out) <= MAX_ELEMENTS)
        self.pad(part, spelled, low, high, out, bound)

    def step_sweep(self):
        """A loop that takes row after row, each without what is before it, as eliminations do, and keeps it in what it carries."""
        rng = self.rng
        name, shape, bound = self.need(lambda v: len(v[1]) >= 2)
        d, e = rng.sample(range(len(shape)), 2)
        n = min(shape[d], shape[e])
        self.require(n > 1 and self.fits(bound << n))
        low, high, one = self.index(0), self.index(n), self.index(1)
        r, i, carried, t = self.fresh(), self.fresh(), self.fresh(), self.tensor(shape)

        def body():
            size = self.let(f"affine.apply affine_map<(a) -> ({shape[e]} - a)>({i})")
            at = [i if k in (d, e) else 0 for k in range(len(shape))]
            sizes = [1 if k == d else size if k == e else m for k, m in enumerate(shape)]
            dropped = [d] if rng.random() < 0.7 else []
            spelled = self.tensor(["?" if k == e else s for k, s in enumerate(sizes) if k not in dropped])
            part = self.slice_at(shape, at, sizes, carried, dropped)
            twice = self.let(f"{self.op('add')} {part}, {part} : {spelled}")
            into = list(at)
            into[d] = rng.choice([i, self.let(f"affine.apply affine_map<(a) -> ({shape[d] - 1} - a)>({i})")])
            put = self.let(f"tensor.insert_slice {twice} into {carried}[{', '.join(map(str, into))}] "
                           f"[{', '.join(map(str, sizes))}] {[1] * len(shape)} : {spelled} into {t}")
            self.emit(f"scf.yield {self.maybe_pinned(put, shape)} : {t}")

        self.block(f"{r} = scf.for {i} = {low} to {high} step {one} iter_args({carried} = {name}) -> {t} {{", body, "}")
        self.add_value(r, shape, bound << n)
