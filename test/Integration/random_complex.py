"""Steps of random programs (gen_random.py): complex numbers made of two values, moved, added up and multiplied, and
taken apart again. Their parts are whole numbers."""
import math

MAX_ELEMENTS = 768


class ComplexSteps:
    MORE_STEPS = {"complex": 1}

    def step_complex(self):
        rng = self.rng
        self.require(self.element in ("f32", "f64"))
        (a, shape, bound_a), (b, _, bound_b) = self.same_shape()
        kind, self.element = self.element, f"complex<{self.element}>"
        try:
            r = self.map_elements(["%v = complex.create %i0, %i1 : " + self.element], [a, b], shape, [kind] * 2)
            value = (r, tuple(shape), max(bound_a, bound_b))
            changes = [self.change, self.change, self.combine, self.pinned, self.turned, self.joined, self.cut, self.summed, self.product]
            for _ in range(rng.randrange(1, 5)):
                found = rng.choice(changes)(kind, *value)
                if found and found[2] < (1 << 18 if kind == "f32" else 1 << 40):
                    value = found
            name, shape, bound = value
            parts = [self.map_elements([f"%v = complex.{part} %i0 : {self.element}"], [name], shape, [self.element], kind) for part in ("re", "im")]
        finally:
            self.element = kind
        for part in parts:
            self.add_value(part, shape, bound)

    def map_elements(self, body, names, shape, elements, result=None):
        """What the body makes of each place."""
        result = result or self.element
        loops = range(len(shape))
        e = self.empty(shape, result)
        return self.generic(len(shape), ["parallel"] * len(shape), [(name, shape, loops) for name in names], [(e, shape, loops)],
                            [*body, f"linalg.yield %v : {result}"], [*elements, result])

    def change(self, kind, name, shape, bound):
        rng, t = self.rng, self.element
        x, y = rng.randrange(-3, 4), rng.randrange(-3, 4)
        body = [f"%c = complex.constant [{x}.0 : {kind}, {y}.0 : {kind}] : {t}"]
        op = rng.choice(["add", "sub", "mul", "neg", "conj", "select"])
        if op in ("neg", "conj"):
            body.append(f"%v = complex.{op} %i0 : {t}")
        elif op == "select":
            body += [f"%e = complex.{rng.choice(['eq', 'neq'])} %i0, %c : {t}", f"%v = arith.select %e, %i0, %c : {t}"]
            bound = max(bound, 3)
        else:
            body.append(f"%v = complex.{op} {rng.choice(['%i0, %c', '%c, %i0'])} : {t}")
            bound = bound * 6 if op == "mul" else bound + 3
        return self.map_elements(body, [name], shape, [t]), shape, bound

    def combine(self, kind, name, shape, bound):
        op = self.rng.choice(["add", "sub", "mul"])
        body = [f"%v = complex.{op} %i0, %i1 : {self.element}"]
        return self.map_elements(body, [name] * 2, shape, [self.element] * 2), shape, 2 * bound * (bound if op == "mul" else 1)

    def pinned(self, kind, name, shape, bound):
        return self.let(f"spmd.with_sharding_constraint {name} {self.sharding(shape)} : {self.tensor(shape)}"), shape, bound

    def turned(self, kind, name, shape, bound):
        if not shape:  # upstream's verifier crashes (MLIR 22)
            return None
        order = self.rng.sample(range(len(shape)), len(shape))
        out = tuple(shape[d] for d in order)
        e = self.empty(out)
        return self.let(f"linalg.transpose ins({name} : {self.tensor(shape)}) outs({e} : {self.tensor(out)}) permutation = {order}"), out, bound

    def joined(self, kind, name, shape, bound):
        if not shape or 2 * math.prod(shape) > MAX_ELEMENTS:
            return None
        d = self.rng.randrange(len(shape))
        out = (*shape[:d], 2 * shape[d], *shape[d + 1:])
        t = self.tensor(shape)
        return self.let(f"tensor.concat dim({d}) {name}, {name} : ({t}, {t}) -> {self.tensor(out)}"), out, bound

    def cut(self, kind, name, shape, bound):
        sizes = [self.rng.randrange(1, n + 1) for n in shape]
        offsets = [self.rng.randrange(n - size + 1) for n, size in zip(shape, sizes)]
        text = f"tensor.extract_slice {name}{offsets} {sizes} {[1] * len(shape)} : {self.tensor(shape)} to {self.tensor(sizes)}"
        return self.let(text), tuple(sizes), bound

    def nothing(self, shape):
        """Zeros to add to."""
        zero = self.let(f"complex.constant [0.0 : {self.element[8:-1]}, 0.0 : {self.element[8:-1]}] : {self.element}")
        e, t = self.empty(shape), self.tensor(shape)
        return self.let(f"linalg.fill ins({zero} : {self.element}) outs({e} : {t}) -> {t}")

    def summed(self, kind, name, shape, bound):
        if not shape:
            return None
        d = self.rng.randrange(len(shape))
        keep = [e for e in range(len(shape)) if e != d]
        out = tuple(shape[e] for e in keep)
        kinds = ["reduction" if e == d else "parallel" for e in range(len(shape))]
        body = [f"%s = complex.add %o0, %i0 : {self.element}", f"linalg.yield %s : {self.element}"]
        r = self.generic(len(shape), kinds, [(name, shape, range(len(shape)))], [(self.nothing(out), out, keep)], body)
        return r, out, bound * shape[d]

    def product(self, kind, name, shape, bound):
        """A matrix by itself, turned."""
        if len(shape) != 2 or shape[0] ** 2 > MAX_ELEMENTS:
            return None
        out, t = (shape[0], shape[0]), self.element
        body = [f"%p = complex.mul %i0, %i1 : {t}", f"%s = complex.add %o0, %p : {t}", f"linalg.yield %s : {t}"]
        r = self.generic(3, ["parallel", "parallel", "reduction"], [(name, shape, [0, 2]), (name, shape, [1, 2])],
                         [(self.nothing(out), out, [0, 1])], body)
        return r, out, 2 * bound * bound * shape[1]
