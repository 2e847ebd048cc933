"""Steps of random programs (gen_random.py): calls of private functions, values whose sizes are unknown for a while."""


class CallSteps:
    MORE_STEPS = {"call": 2, "unknown_sizes": 1}

    def step_call(self):
        """A private function of a few steps, called once or more."""
        rng = self.rng
        self.require(self.depth < 2)
        first = self.pick()
        operands = [first] + [self.pick() for _ in range(rng.randrange(0, 2))]
        calls = [operands]
        for _ in range(rng.randrange(0, 3)):
            calls.append([self.pick(lambda v, s=o[1]: v[1] == s) for o in operands])
        callee = self.callee()
        for k, operand in enumerate(operands):
            attr = ""
            if rng.random() < 0.3:
                attr = f" {{spmd.sharding = #spmd.sharding{self.sharding(operand[1])}}}"
            callee.args.append(f"%arg{k}: {self.tensor(operand[1])}{attr}")
            callee.add_value(f"%arg{k}", operand[1], max(call[k][2] for call in calls))
        callee.random_steps(rng.randrange(1, 5))
        results = callee.results()
        # What steps of the callee ask for are arguments of this function too.
        more = []
        for k, text in enumerate(callee.args[len(operands):]):
            rest = text.split(": ", 1)[1]
            more.append((f"%arg{len(self.args)}", rest.split(" {")[0]))
            self.args.append(f"{more[-1][0]}: {rest}")
        sides = callee.sides("private ", results)
        self.callees += callee.callees + sides
        types = ", ".join([self.tensor(o[1]) for o in operands] + [t for _, t in more])
        out = ", ".join(self.tensor(shape) for _, shape, _ in results)
        for call in calls:
            r = self.fresh()
            many = f":{len(results)}" if len(results) > 1 else ""
            names = ", ".join([v[0] for v in call] + [n for n, _ in more])
            lines = [f"{r}{many} = func.call @{callee.name}{end}({names}) : ({types}) -> ({out})"
                     for end in ["", "_reference"][:len(sides)]]
            if len(lines) == 1:
                self.emit(lines[0])
            else:
                self.emit_pair(*lines)
            for k, (_, shape, bound) in enumerate(results):
                self.add_value(f"{r}#{k}" if many else r, shape, bound)

    def step_unknown_sizes(self):
        """A value whose sizes are not known, computed with and read, and known again. Such values are not moved:
        not from one mesh to another, nor to where another value is."""
        rng = self.rng
        self.require(len(self.meshes) == 1)
        a, shape, bound = self.need(lambda v: v[1])
        b, _, bound_b = self.pick(lambda v: v[1] == shape)
        self.require(self.fits(bound * (bound + 1) + bound_b))
        lost = [d for d in range(len(shape)) if rng.random() < 0.5] or [0]
        t = self.tensor(shape)
        u = self.tensor(["?" if d in lost else n for d, n in enumerate(shape)])
        x = self.let(f"tensor.cast {a} : {t} to {u}")
        y = self.let(f"{self.op('mul')} {x}, {x} : {u}")
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
        # What follows reads another value: upstream folds casts into some of what reads them, which may move it.
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
