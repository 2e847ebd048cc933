"""Functions like training steps, for gen_random.py --training: sums over a batch that devices share, views and linear ops
between each sum and its use, updates of weights at the end; in loops too, where each trip adds to a sum or writes a slice."""


class TrainingSteps:
    def build_training(self):
        rng = self.rng
        mesh, sizes = self.meshes[0]
        self.batch_axes = [a for a, n in enumerate(sizes) if n > 1 and rng.random() < 0.8]
        devices = 1
        for a in self.batch_axes:
            devices *= sizes[a]
        self.batch = devices * rng.choice([1, 1, 2]) if devices <= 8 else devices
        gradients = [self.weight_gradient() for _ in range(rng.randrange(2, 6))]
        if rng.random() < 0.5:
            gradients += self.stacked_gradients()
        norm = self.largest_of(gradients) if rng.random() < 0.3 else None
        updated = [self.updated_weight(g, norm) for g in gradients]
        loss = self.summed_over(self.activation(self.features()), [0, 1])
        if rng.random() < 0.5:
            loss = self.with_views(loss)
        return [*updated, loss]

    def features(self):
        return self.rng.choice([1, 2, 3, 4, 6, 8])

    def activation(self, *features, layers=None):
        """A new argument [layers,] batch, features, mostly sharded along the batch alone."""
        shape = ([layers] if layers else []) + [self.batch, *features]
        dims = ["{}"] * len(shape)
        dims[1 if layers else 0] = "{" + ", ".join(f'"{"xyz"[a]}"' for a in self.batch_axes) + "}"
        spec = f"<@{self.meshes[0][0]}, [{', '.join(dims)}]>" if self.rng.random() < 0.8 else self.sharding(shape)
        name, bound = self.argument(shape, low=-2, high=3, spec=spec)
        return name, tuple(shape), bound

    def summed_products(self, a, b, swaps):
        """The sum of products over the batch, of two values [batch, features]."""
        out = [b[1][1], a[1][1]] if swaps else [a[1][1], b[1][1]]
        bound = self.batch * a[2] * b[2]
        self.require(self.fits(bound))
        body = [f"%p = {self.op('mul')} %i0, %i1 : {self.element}", f"%s = {self.op('add')} %o0, %p : {self.element}",
                f"linalg.yield %s : {self.element}"]
        r = self.generic(3, ["parallel", "parallel", "reduction"], [(a[0], a[1], [2, 0]), (b[0], b[1], [2, 1])],
                         [(self.dense(0, out), out, [1, 0] if swaps else [0, 1])], body)
        return r, tuple(out), bound

    def summed_over(self, value, dims):
        name, shape, bound = value
        out = [n for d, n in enumerate(shape) if d not in dims]
        for d in dims:
            bound *= shape[d]
        self.require(self.fits(bound))
        r = self.let(f"linalg.reduce {{ {self.op('add')} }} ins({name} : {self.tensor(shape)}) "
                     f"outs({self.dense(0, out)} : {self.tensor(out)}) dimensions = {dims}")
        return r, tuple(out), bound

    def weight_gradient(self):
        rng = self.rng
        kind = rng.random()
        if kind < 0.3:
            value = self.summed_over(self.activation(self.features()), [0])
        else:
            value = self.summed_products(self.activation(self.features()), self.activation(self.features()), rng.random() < 0.5)
        value = self.with_views(value)
        if rng.random() < 0.2:  # another gradient of the same weight
            other = self.summed_over(self.activation(*value[1]), [0])
            if self.fits(value[2] + other[2]):
                t = self.tensor(value[1])
                value = self.let(f"{self.op('add')} {value[0]}, {other[0]} : {t}"), value[1], value[2] + other[2]
        return value

    def with_views(self, value):
        """The value after up to four views and linear ops."""
        for _ in range(self.rng.randrange(0, 5)):
            step = self.rng.choice([self.step_transpose, self.step_collapse, self.step_expand, self.step_extract_slice,
                                    self.step_scale, self.step_scale, self.step_one])
            mark, values = len(self.lines), self.values
            self.values = [value]
            try:
                step()
                value = self.values[-1]
            except Exception as skip:
                if type(skip).__name__ != "Skip":
                    raise
                del self.lines[mark:]
            self.values = values
        return value

    def step_scale(self):
        name, shape, bound = self.values[-1]
        factor = self.rng.choice([-2, -1, 2, 3])
        self.require(self.fits(bound * abs(factor)))
        self.define(f"{self.op('mul')} {name}, {self.dense(factor, shape)} : {self.tensor(shape)}", shape, bound * abs(factor))

    def step_one(self):
        """A sum over new dims of size one."""
        name, shape, bound = self.values[-1]
        self.require(len(shape) in (1, 2))
        out = [1, *shape]
        groups = [[0, 1]] + [[d + 1] for d in range(1, len(shape))]
        r = self.let(f"tensor.expand_shape {name} {groups} output_shape {out} : {self.tensor(shape)} into {self.tensor(out)}")
        self.add_value(*self.summed_over((r, tuple(out), bound), [0]))

    def stacked_gradients(self):
        """Gradients of the layers of a loop: stacked, or added up."""
        rng = self.rng
        layers = rng.choice([2, 3, 4])
        a = self.activation(self.features(), layers=layers)
        b = self.activation(self.features(), layers=layers)
        low, high, one = self.index(0), self.index(layers), self.index(1)
        kinds = [rng.choice(["stack", "stack", "add"]) for _ in range(rng.randrange(1, 4))]
        swaps = [rng.random() < 0.5 for _ in kinds]
        weights = [[b[1][2], a[1][2]] if s else [a[1][2], b[1][2]] for s in swaps]
        shapes = [([layers] if k == "stack" else []) + w for k, w in zip(kinds, weights)]
        starts = [self.dense(0 if rng.random() < 0.8 else 1, s) for s in shapes]
        r, i = self.fresh(), self.fresh()
        carried = [self.fresh() for _ in kinds]
        types = ", ".join(map(self.tensor, shapes))
        bounds = []

        def layer(value, at):
            name, shape, bound = value
            out = shape[1:]
            s = self.let(f"tensor.extract_slice {name}[{at}, 0, 0] [1, {out[0]}, {out[1]}] [1, 1, 1] : "
                         f"{self.tensor(shape)} to {self.tensor(out)}")
            return s, out, bound

        def body():
            at = i
            if rng.random() < 0.3:  # the last layer first
                last = self.index(layers - 1)
                at = self.let(f"arith.subi {last}, {i} : index")
            x, y = layer(a, at), layer(b, at)
            yielded = []
            for kind, swap, shape, arg in zip(kinds, swaps, shapes, carried):
                name, own, bound = self.summed_products(x, y, swap)
                if rng.random() < 0.5:
                    self.require(self.fits(2 * bound))
                    name, bound = self.let(f"{self.op('mul')} {name}, {self.dense(2, own)} : {self.tensor(own)}"), 2 * bound
                if kind == "stack":
                    yielded.append(self.let(
                        f"tensor.insert_slice {name} into {arg}[{at}, 0, 0] [1, {own[0]}, {own[1]}] [1, 1, 1] : "
                        f"{self.tensor(own)} into {self.tensor(shape)}"))
                else:
                    self.require(self.fits(layers * bound + 1))
                    bound = layers * bound
                    yielded.append(self.let(f"{self.op(rng.choice(['add', 'sub']))} {arg}, {name} : {self.tensor(shape)}"))
                bounds.append(bound + 1)
            self.emit(f"scf.yield {', '.join(yielded)} : {types}")

        args = ", ".join(f"{c} = {s}" for c, s in zip(carried, starts))
        many = f":{len(kinds)}" if len(kinds) > 1 else ""
        self.block(f"{r}{many} = scf.for {i} = {low} to {high} step {one} iter_args({args}) -> ({types}) {{", body, "}")
        names = [f"{r}#{k}" if many else r for k in range(len(kinds))]
        return [self.with_views((n, tuple(s), bound)) for n, s, bound in zip(names, shapes, bounds)]

    def largest_of(self, gradients):
        """The largest element of all gradients, as a value without dims."""
        largest = None
        for name, shape, _ in gradients:
            start = self.dense(0, [])
            m = self.let(f"linalg.reduce {{ {self.op('max')} }} ins({name} : {self.tensor(shape)}) "
                         f"outs({start} : {self.tensor([])}) dimensions = {list(range(len(shape)))}") if shape else name
            largest = m if largest is None else self.let(f"{self.op('max')} {largest}, {m} : {self.tensor([])}")
        return largest, (), max(bound for _, _, bound in gradients)

    def updated_weight(self, gradient, norm):
        name, shape, bound = gradient
        w, w_bound = self.argument(shape)
        t = self.tensor(shape)
        self.require(self.fits(2 * bound + w_bound + (norm[2] if norm else 0)))
        if norm and shape:
            n = self.let(f"linalg.broadcast ins({norm[0]} : {self.tensor([])}) outs({self.empty(shape)} : {t}) "
                         f"dimensions = {list(range(len(shape)))}")
            name, bound = self.let(f"{self.op('sub')} {name}, {n} : {t}"), bound + norm[2]
        if self.rng.random() < 0.2:  # read at once, by one that cannot wait
            name = self.let(f"spmd.with_sharding_constraint {name} {self.sharding(shape)} : {t}")
        return self.let(f"{self.op('sub')} {w}, {name} : {t}"), shape, bound + w_bound
