"""Steps of random programs (gen_random.py): loops, branches, barriers, and manual
computations with collectives, which a second function says in global view."""


class RegionSteps:
    MORE_STEPS = {"for": 1, "if": 1, "while": 1, "switch": 1, "execute": 1, "parallel": 1,
                  "forall": 2, "manual": 3, "barrier": 1}

    def block(self, head, body, tail):
        """A region; `body` emits what is in it."""
        self.emit(head)
        body()
        self.emit(tail)

    def index(self, value):
        return self.let(f"arith.constant {value} : index")

    def maybe_pinned(self, value, shape):
        """Inside a region, perhaps with a layout of its own."""
        if self.rng.random() < 0.4:
            return self.let(f"spmd.with_sharding_constraint {value} "
                            f"{self.sharding(shape)} : {self.tensor(shape)}")
        return value

    def step_barrier(self):
        name, shape, bound = self.pick()
        allow = self.rng.choice(["forward", "backward", "none"])
        self.define(f"spmd.propagation_barrier {name} allow = {allow} : "
                    f"{self.tensor(shape)}", shape, bound)

    def step_for(self):
        """A value that a loop carries, with another one added or subtracted."""
        rng = self.rng
        name, shape, bound = self.pick()
        other, _, other_bound = self.pick(lambda v: v[1] == shape)
        trips = rng.randrange(0, 4)
        total = bound + trips * other_bound
        self.require(self.fits(total))
        t = self.tensor(shape)
        low, high, step = self.index(0), self.index(trips), self.index(1)
        r, carried = self.fresh(), self.fresh()

        def body():
            a = self.maybe_pinned(carried, shape)
            s = self.let(f"{self.op(rng.choice(['add', 'sub']))} {a}, {other} : {t}")
            self.emit(f"scf.yield {self.maybe_pinned(s, shape)} : {t}")

        self.block(f"{r} = scf.for {self.fresh()} = {low} to {high} step {step} "
                   f"iter_args({carried} = {name}) -> {t} {{", body, "}")
        self.add_value(r, shape, total)

    def step_if(self):
        """A branch on an element, which all devices have."""
        rng = self.rng
        name, shape, bound = self.pick()
        other, _, other_bound = self.pick(lambda v: v[1] == shape)
        decides, at, _ = self.pick()
        e = self.let(f"tensor.extract {decides}[{self.place(at)}] : {self.tensor(at)}")
        zero = self.let(f"arith.constant {self.literal(0)} : {self.element}")
        test = "cmpf olt" if self.is_float else "cmpi slt"
        c = self.let(f"arith.{test}, {e}, {zero} : {self.element}")
        self.require(self.fits(bound + other_bound))
        t = self.tensor(shape)
        r = self.fresh()

        def branch(kind):
            def body():
                s = self.let(f"{self.op(kind)} {name}, {other} : {t}")
                self.emit(f"scf.yield {self.maybe_pinned(s, shape)} : {t}")
            return body

        self.block(f"{r} = scf.if {c} -> {t} {{", branch(rng.choice(["add", "max"])), "} else {")
        branch(rng.choice(["sub", "min"]))()
        self.emit("}")
        self.add_value(r, shape, bound + other_bound)

    def step_while(self):
        """A loop that ends when it has counted, or when an element says so: some carried values are tested, others
        come out changed once more."""
        rng = self.rng
        name, shape, bound = self.pick()
        other, _, other_bound = self.pick(lambda v: v[1] == shape)
        trips = rng.randrange(0, 4)
        total = bound + (trips + 1) * other_bound
        self.require(self.fits(total))
        t, at = self.tensor(shape), self.place(shape)
        count, one = self.index(trips), self.index(1)
        zero = self.let(f"arith.constant {self.literal(0)} : {self.element}")
        none = self.index(0)
        r, before, k = self.fresh(), self.fresh(), self.fresh()
        after, left = self.fresh(), self.fresh()
        self.emit(f"{r}:2 = scf.while ({before} = {name}, {k} = {count}) : ({t}, index) -> ({t}, index) {{")
        c = self.let(f"arith.cmpi ugt, {k}, {none} : index")
        if rng.random() < 0.5:
            e = self.let(f"tensor.extract {before}[{at}] : {t}")
            test = "cmpf one" if self.is_float else "cmpi ne"
            d = self.let(f"arith.{test}, {e}, {zero} : {self.element}")
            c = self.let(f"arith.andi {c}, {d} : i1")
        out = before
        if rng.random() < 0.5:
            out = self.let(f"{self.op(rng.choice(['add', 'max']))} {self.maybe_pinned(before, shape)}, {other} : {t}")
        self.emit(f"scf.condition({c}) {out}, {k} : {t}, index")
        self.emit("} do {")
        self.emit(f"^bb0({after}: {t}, {left}: index):")
        if out == before:
            s = self.let(f"{self.op(rng.choice(['add', 'sub']))} {self.maybe_pinned(after, shape)}, {other} : {t}")
        else:
            s = self.maybe_pinned(after, shape)
        less = self.let(f"arith.subi {left}, {one} : index")
        self.emit(f"scf.yield {s}, {less} : {t}, index")
        self.emit("}")
        self.add_value(f"{r}#0", shape, total)

    def step_switch(self):
        """One of three by an argument."""
        rng = self.rng
        name, shape, bound = self.pick()
        other, _, other_bound = self.pick(lambda v: v[1] == shape)
        total = bound + other_bound
        self.require(self.fits(total))
        which, _ = self.argument((), "i32", 0, 4)
        i = self.let(f"tensor.extract {which}[] : tensor<i32>")
        i = self.let(f"arith.index_cast {i} : i32 to index")
        r, t = self.fresh(), self.tensor(shape)
        self.emit(f"{r} = scf.index_switch {i} -> {t}")
        for head in ("case 0 {", "case 2 {", "default {"):
            def body():
                s = self.let(f"{self.op(rng.choice(['add', 'sub', 'max', 'min']))} {name}, {other} : {t}")
                self.emit(f"scf.yield {self.maybe_pinned(s, shape)} : {t}")
            self.block(head, body, "}")
        self.add_value(r, shape, total)

    def step_execute(self):
        rng = self.rng
        name, shape, bound = self.pick()
        other, _, other_bound = self.pick(lambda v: v[1] == shape)
        total = bound + other_bound
        self.require(self.fits(total))
        r, t = self.fresh(), self.tensor(shape)

        def body():
            s = self.let(f"{self.op(rng.choice(['add', 'sub']))} {self.maybe_pinned(name, shape)}, {other} : {t}")
            self.emit(f"scf.yield {self.maybe_pinned(s, shape)} : {t}")

        self.block(f"{r} = scf.execute_region -> {t} {{", body, "}")
        self.add_value(r, shape, total)

    def step_parallel(self):
        """The sum or the greatest of elements along a dim, which iterations give one by one."""
        rng = self.rng
        name, shape, bound = self.need(lambda v: v[1])
        d = rng.randrange(len(shape))
        kind = rng.choice(["add", "max"])
        total = 3 + bound * shape[d] if kind == "add" else max(bound, 3)
        self.require(self.fits(total))
        low, high, step = self.index(0), self.index(shape[d]), self.index(1)
        at = [self.index(rng.randrange(n)) for n in shape]
        start = self.let(f"arith.constant {self.literal(rng.randrange(-3, 4))} : {self.element}")
        r, i, e = self.fresh(), self.fresh(), self.element
        at[d] = i

        def body():
            v = self.let(f"tensor.extract {name}[{', '.join(at)}] : {self.tensor(shape)}")
            self.emit(f"scf.reduce({v} : {e}) {{")
            self.emit(f"^bb0(%l: {e}, %r: {e}):")
            self.emit(f"  %s = {self.op(kind)} %l, %r : {e}")
            self.emit(f"  scf.reduce.return %s : {e}")
            self.emit("}")

        self.block(f"{r} = scf.parallel ({i}) = ({low}) to ({high}) step ({step}) init ({start}) -> {e} {{", body, "}")
        self.define(f"tensor.splat {r} : {self.tensor(shape)}", shape, total)

    def step_forall(self):
        """Iterations that each write a slice of a dim of a shared output."""
        rng = self.rng
        name, shape, bound = self.need(lambda v: v[1] and max(v[1]) > 1)
        d = rng.choice([d for d, n in enumerate(shape) if n > 1])
        other, _, other_bound = self.pick(lambda v: v[1] == shape)
        self.require(self.fits(bound + other_bound))
        width = rng.choice([w for w in range(1, shape[d]) if shape[d] % w == 0])
        part = [width if i == d else n for i, n in enumerate(shape)]
        # The slice may lack the dim where it is one wide.
        out = [n for i, n in enumerate(part) if i != d or width > 1 or rng.random() < 0.5]
        start = name if rng.random() < 0.5 else self.empty(shape)
        r, shared, i = self.fresh(), self.fresh(), self.fresh()
        step = self.index(width)
        t, slice_type = self.tensor(shape), self.tensor(out)

        def body():
            k = self.let(f"arith.muli {i}, {step} : index")
            at = ", ".join(k if e == d else "0" for e in range(len(shape)))
            place = f"[{at}] {part} {[1] * len(shape)}"
            a = self.let(f"tensor.extract_slice {name}{place} : {t} to {slice_type}")
            b = self.let(f"tensor.extract_slice {other}{place} : {t} to {slice_type}")
            s = self.let(f"{self.op(rng.choice(['add', 'sub', 'max']))} {a}, "
                         f"{self.maybe_pinned(b, out)} : {slice_type}")
            self.block("scf.forall.in_parallel {",
                       lambda: self.emit(f"tensor.parallel_insert_slice {s} into {shared}{place} "
                                         f": {slice_type} into {t}"), "}")

        self.block(f"{r} = scf.forall ({i}) in ({shape[d] // width}) shared_outs({shared} = {start}) "
                   f"-> ({t}) {{", body, "}")
        self.add_value(r, shape, bound + other_bound)

    # -- manual computations -----------------------------------------------

    def step_manual(self):
        """One axis by hand on one dim: a collective of each kind, and the same said
        of the whole value for the reference."""
        rng = self.rng
        self.require(self.one_order)
        mesh, sizes = rng.choice(self.meshes)
        axis = rng.randrange(len(sizes))
        n = sizes[axis]
        name, shape, bound = self.need(lambda v: v[1] and any(m % n == 0 for m in v[1]))
        d = rng.choice([d for d, m in enumerate(shape) if m % n == 0])
        others = [e for e, m in enumerate(shape) if e != d and m % n == 0]
        kind = rng.choice(["all_reduce", "all_gather", "coordinate"] +
                          (["reduce_scatter", "all_to_all"] if others else []))
        e = rng.choice(others) if others else d
        reduction = rng.choice(["sum", "max", "min"])
        sums = kind in ("all_reduce", "reduce_scatter") and reduction == "sum"
        total = (n if sums else 1) * bound + bound + n
        self.require(self.fits(total))
        a = f'"{"xyz"[axis]}"'

        def on(dim, free="{}"):
            dims = ", ".join("{" + a + "}" if i == dim else free for i in range(len(shape)))
            return f"<@{mesh}, [{dims}]>"

        def less(value_shape, dim):
            return [m // n if i == dim else m for i, m in enumerate(value_shape)]

        local = less(shape, d)
        free = rng.choice(["{}", "{?}"])
        out, out_dim = list(shape), d
        t = self.tensor(local)
        r, arg = self.fresh(), self.fresh()
        lines = len(self.lines)
        if kind == "all_reduce":
            s = self.let(f"spmd.all_reduce {arg} {reduction} <@{mesh}, {{{a}}}> : {t}")
            back = self.let(f"{self.op('sub')} {arg}, {s} : {t}")
        elif kind == "all_gather":
            back = self.let(f"spmd.all_gather {arg} {on(d)} : {t} -> {self.tensor(shape)}")
            out_dim = None
        elif kind == "coordinate":
            i = self.let(f'spmd.device_coordinate @{mesh} {a} : index')
            back = self.add_number(arg, i, local)
        elif kind == "reduce_scatter":
            part = less(local, e)
            back = self.let(f"spmd.reduce_scatter {arg} {reduction} {on(e)} : {t} -> "
                            f"{self.tensor(part)}")
            out, out_dim = list(local), e
        else:
            part = less(shape, e)
            back = self.let(f"spmd.all_to_all {arg} {on(d)} to {on(e)} : {t} -> "
                            f"{self.tensor(part)}")
            out_dim = e
        inside = self.lines[lines:]
        del self.lines[lines:]
        back_type = self.tensor(less(out, out_dim) if out_dim is not None else out)
        results = (f"{r} = spmd.manual_computation ({name}) in [{on(d, free)}] "
                   f"out [{on(out_dim, free)}] axes [{a}] ({arg}: {t}) {{")
        sharded = [f"  {results}"] + inside + [
            f"  spmd.return {back} : {back_type}",
            f"  }} : ({self.tensor(shape)}) -> {self.tensor(out)}"]
        whole = self.in_global_view(kind, reduction, name, shape, d, n, r)
        self.lines.append(("\n".join(sharded), "\n".join(whole)))
        self.add_value(r, out, total)

    def add_number(self, value, number, shape):
        """`value` plus an index, as an element, everywhere."""
        t = self.tensor(shape)
        i = self.let(f"arith.index_cast {number} : index to {'i32' if self.is_float else self.element}")
        if self.is_float:
            i = self.let(f"arith.sitofp {i} : i32 to {self.element}")
        all_of = self.let(f"tensor.splat {i} : {t}")
        return self.let(f"{self.op('add')} {value}, {all_of} : {t}")

    def in_global_view(self, kind, reduction, name, shape, d, n, result):
        """Lines that compute what a manual computation does, on the whole value."""
        mark = len(self.lines)
        t = self.tensor(shape)
        part = [m // n if i == d else m for i, m in enumerate(shape)]
        p = self.tensor(part)
        parts = []
        for k in range(n):
            at = [k * part[d] if i == d else 0 for i in range(len(shape))]
            parts.append(self.let(f"tensor.extract_slice {name}{at} {part} {[1] * len(shape)} : {t} to {p}"))
        if kind in ("all_reduce", "reduce_scatter"):
            total = parts[0]
            op = {"sum": "add"}.get(reduction, reduction)
            for other in parts[1:]:
                total = self.let(f"{self.op(op)} {total}, {other} : {p}")
            parts = ([total] if kind == "reduce_scatter" else
                     [self.let(f"{self.op('sub')} {x}, {total} : {p}") for x in parts])
        elif kind == "coordinate":
            parts = [self.add_number(x, self.index(k), part) for k, x in enumerate(parts)]
        out = p if kind == "reduce_scatter" else t
        self.emit(f"{result} = tensor.concat dim({d}) {', '.join(parts)} : "
                  f"({', '.join([p] * len(parts))}) -> {out}")
        lines = self.lines[mark:]
        del self.lines[mark:]
        return lines
