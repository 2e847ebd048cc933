"""Steps of random programs (gen_random.py): calls of private functions, values whose sizes are unknown for a while."""


class CallSteps:
    MORE_STEPS = {"call": 2, "call_in_loop": 1, "unknown_sizes": 1}

    def make_callee(self, operands):
        """A private function of a few steps on values like these, (shape, bound): (its names, of the reference too if
        that differs; what else it is called with, as names and as types; its results)."""
        rng = self.rng
        callee = self.callee()
        for k, (shape, bound) in enumerate(operands):
            attr = ""
            if rng.random() < 0.3:
                attr = f" {{spmd.sharding = #spmd.sharding{self.sharding(shape)}}}"
            callee.args.append(f"%arg{k}: {self.tensor(shape)}{attr}")
            callee.add_value(f"%arg{k}", shape, bound)
        callee.random_steps(rng.randrange(1, 5))
        results = callee.results()
        # What steps of the callee ask for are arguments of this function too.
        names, types = [], []
        for text in callee.args[len(operands):]:
            rest = text.split(": ", 1)[1]
            names.append(f"%arg{len(self.args)}")
            types.append(rest.split(" {")[0])
            self.args.append(f"{names[-1]}: {rest}")
        sides = callee.sides("private ", results)
        self.callees += callee.callees + sides
        return [callee.name, f"{callee.name}_reference"][:len(sides)], names, types, results

    def emit_call(self, callee, operands):
        """A call with these values; its results, (name, shape, bound)."""
        symbols, more, more_types, results = callee
        r = self.fresh()
        many = f":{len(results)}" if len(results) > 1 else ""
        names = ", ".join([v[0] for v in operands] + more)
        types = ", ".join([self.tensor(v[1]) for v in operands] + more_types)
        out = ", ".join(self.tensor(shape) for _, shape, _ in results)
        lines = [f"{r}{many} = func.call @{symbol}({names}) : ({types}) -> ({out})" for symbol in symbols]
        if len(lines) == 1:
            self.emit(lines[0])
        else:
            self.emit_pair(*lines)
        return [(f"{r}#{k}" if many else r, shape, bound) for k, (_, shape, bound) in enumerate(results)]

    def step_call(self):
        """A private function, called once or more."""
        rng = self.rng
        self.require(self.depth < 2)
        operands = [self.pick() for _ in range(rng.randrange(1, 3))]
        calls = [operands]
        for _ in range(rng.randrange(0, 3)):
            calls.append([self.pick(lambda v, s=o[1]: v[1] == s) for o in operands])
        callee = self.make_callee([(o[1], max(call[k][2] for call in calls)) for k, o in enumerate(operands)])
        for call in calls:
            self.values += self.emit_call(callee, call)

    def step_call_in_loop(self):
        """A private function that each trip calls with what the last one has made of it."""
        rng = self.rng
        self.require(self.depth < 2)
        name, shape, bound = self.pick()
        callee = self.make_callee([(shape, max(bound, 3))])
        found = [k for k, v in enumerate(callee[3]) if tuple(v[1]) == shape]
        self.require(found)
        low, high, step = self.index(0), self.index(rng.randrange(0, 4)), self.index(1)
        r, carried, t = self.fresh(), self.fresh(), self.tensor(shape)
        limits = [self.number(n, shape) for n in (-3, 3)]

        def body():
            out = self.emit_call(callee, [(carried, shape, 0)])[found[0]][0]
            out = self.let(f"{self.op('max')} {out}, {limits[0]} : {t}")
            out = self.let(f"{self.op('min')} {out}, {limits[1]} : {t}")
            self.emit(f"scf.yield {self.maybe_pinned(out, shape)} : {t}")

        self.block(f"{r} = scf.for {self.fresh()} = {low} to {high} step {step} iter_args({carried} = {name}) -> {t} {{",
                   body, "}")
        self.add_value(r, shape, max(bound, 3))

    def step_unknown_sizes(self):
        """A value whose sizes are not known, computed with, moved, summed and read, and known again."""
        rng = self.rng
        a, shape, bound = self.need(lambda v: v[1])
        b, _, bound_b = self.pick(lambda v: v[1] == shape)
        self.require(self.fits(bound * (bound + 1) + bound_b))
        lost = [d for d in range(len(shape)) if rng.random() < 0.5] or [0]
        t = self.tensor(shape)
        u = self.tensor(["?" if d in lost else n for d, n in enumerate(shape)])

        def moved(value):
            if rng.random() < 0.6:
                return value
            return self.let(f"spmd.with_sharding_constraint {value} {self.sharding(shape, lost)} : {u}")

        x = moved(self.let(f"tensor.cast {a} : {t} to {u}"))
        y = moved(self.let(f"{self.op('mul')} {x}, {x} : {u}"))
        sizes = []
        for d in lost:
            c = self.let(f"arith.constant {d} : index")
            sizes.append(self.let(f"tensor.dim {x}, {c} : {u}"))
        kind = rng.choice(["arith", "linalg"])
        if kind == "arith":
            r = self.let(f"{self.op(rng.choice(['add', 'sub']))} {x}, {y} : {u}")
        else:
            e = self.let(f"tensor.empty({', '.join(sizes)}) : {u}")
            r = self.let(f"linalg.{rng.choice(['add', 'sub'])} ins({x}, {y} : {u}, {u}) outs({e} : {u}) -> {u}")
        r = moved(r)
        known = [d for d in range(len(shape)) if d not in lost]
        if known and rng.random() < 0.5:
            d = rng.choice(known)
            if self.fits(bound * bound * shape[d]):
                less = [k for k in range(len(shape)) if k != d]
                v = self.tensor(["?" if k in lost else shape[k] for k in less])
                e = self.let(f"tensor.empty({', '.join(sizes)}) : {v}")
                z = self.let(f"arith.constant {self.literal(0)} : {self.element}")
                f = self.let(f"linalg.fill ins({z} : {self.element}) outs({e} : {v}) -> {v}")
                s = self.let(f"linalg.reduce {{ {self.op('add')} }} ins({y} : {u}) outs({f} : {v}) dimensions = [{d}]")
                w = type(shape)(shape[k] for k in less)
                s = self.let(f"tensor.cast {s} : {v} to {self.tensor(w)}")
                self.add_value(s, w, bound * bound * shape[d])
        r = self.let(f"tensor.cast {r} : {u} to {t}")
        r = self.let(f"{self.op('sub')} {b}, {r} : {t}")
        if not self.is_float and rng.random() < 0.5:   # the sizes are the whole value's
            n = self.let(f"arith.index_cast {sizes[0]} : index to {self.element}")
            if rng.random() < 0.5:
                k = self.let(f"tensor.rank {x} : {u}")
                k = self.let(f"arith.index_cast {k} : index to {self.element}")
                n = self.let(f"arith.addi {n}, {k} : {self.element}")
            n = self.let(f"tensor.splat {n} : {t}")
            r = self.let(f"arith.addi {r}, {n} : {t}")
        self.add_value(r, shape, bound * (bound + 1) + bound_b)
