#!/usr/bin/env python3
"""Programs of which the least cost of communication is known in closed form, or from an independent solver.

Each case is a function on a mesh, what is pinned, options of --spmd-auto-shard, and what must come out: the objective, and the collectives as
(kind, bytes) with how often. `check_alpa.py` runs them.
"""


class Program:
    """Text of one function; values are (name, shape). Contractions are linalg.generic, so that any operand may be read transposed."""

    def __init__(self, mesh):
        self.mesh, self.lines, self.args, self.results, self.count = mesh, [], [], [], 0

    def new(self):
        self.count += 1
        return f"%v{self.count}"

    @staticmethod
    def type(shape):
        return "tensor<" + "".join(f"{d}x" for d in shape) + "f32>"

    def sharding(self, spec):
        """"-" closed, "?" open, axes by names; None: nothing given."""
        dims = []
        for entry in spec:
            if entry == "-":
                dims.append("{}")
            elif entry == "?":
                dims.append("{?}")
            else:
                axes = [entry] if isinstance(entry, str) else list(entry)
                dims.append("{" + ", ".join("?" if a == "?" else f'"{a}"' for a in axes) + "}")
        return f"<@mesh, [{', '.join(dims)}]>"

    def arg(self, shape, spec=None, name=None):
        value = f"%a{len(self.args)}"
        attrs = []
        if spec is not None:
            attrs.append(f"spmd.sharding = #spmd.sharding{self.sharding(spec)}")
        if name:
            attrs.append(f'spmd.name = "{name}"')
        self.args.append(f"{value}: {self.type(shape)}" + (f" {{{', '.join(attrs)}}}" if attrs else ""))
        return (value, tuple(shape))

    def result(self, value, spec=None, tied=None):
        attrs = []
        if spec is not None:
            attrs.append(f"spmd.sharding = #spmd.sharding{self.sharding(spec)}")
        if tied is not None:
            attrs.append(f"spmd.tied = {int(tied[0][2:])} : i64")
        self.results.append((value, attrs))

    def dot(self, subscripts, a, b):
        """einsum of two operands."""
        inputs, out = subscripts.split("->")
        left, right = inputs.split(",")
        loops = sorted(set(left + right), key=lambda c: (c not in out, out.find(c), c))
        sizes = dict(zip(left, a[1])) | dict(zip(right, b[1]))
        shape = tuple(sizes[c] for c in out)
        text = lambda dims: f"affine_map<({', '.join(loops)}) -> ({', '.join(dims)})>"
        kinds = ", ".join('"parallel"' if c in out else '"reduction"' for c in loops)
        zero, empty, fill, value = self.new(), self.new(), self.new(), self.new()
        t = self.type(shape)
        self.lines += [
            f"{zero} = arith.constant 0.0 : f32",
            f"{empty} = tensor.empty() : {t}",
            f"{fill} = linalg.fill ins({zero} : f32) outs({empty} : {t}) -> {t}",
            f"{value} = linalg.generic {{indexing_maps = [{text(left)}, {text(right)}, {text(out)}], iterator_types = [{kinds}]}}"
            f" ins({a[0]}, {b[0]} : {self.type(a[1])}, {self.type(b[1])}) outs({fill} : {t}) {{\n"
            "    ^bb0(%x: f32, %y: f32, %z: f32):\n"
            "      %p = arith.mulf %x, %y : f32\n"
            "      %s = arith.addf %z, %p : f32\n"
            f"      linalg.yield %s : f32\n    }} -> {t}",
        ]
        return (value, shape)

    def reduce(self, subscripts, a, op="addf", start="0.0"):
        dims, out = subscripts.split("->")
        sizes = dict(zip(dims, a[1]))
        shape = tuple(sizes[c] for c in out)
        loops = ", ".join(dims)
        kinds = ", ".join('"parallel"' if c in out else '"reduction"' for c in dims)
        zero, empty, fill, value = self.new(), self.new(), self.new(), self.new()
        t = self.type(shape)
        self.lines += [
            f"{zero} = arith.constant {start} : f32",
            f"{empty} = tensor.empty() : {t}",
            f"{fill} = linalg.fill ins({zero} : f32) outs({empty} : {t}) -> {t}",
            f"{value} = linalg.generic {{indexing_maps = [affine_map<({loops}) -> ({loops})>, affine_map<({loops}) -> ({', '.join(out)})>],"
            f" iterator_types = [{kinds}]}} ins({a[0]} : {self.type(a[1])}) outs({fill} : {t}) {{\n"
            "    ^bb0(%x: f32, %z: f32):\n"
            f"      %s = arith.{op} %z, %x : f32\n"
            f"      linalg.yield %s : f32\n    }} -> {t}",
        ]
        return (value, shape)

    def map(self, op, *values, dims=None):
        """Elementwise; `dims` gives the dims of each value as letters of the first one's (a broadcast)."""
        shape = values[0][1]
        letters = "abcdefgh"[:len(shape)]
        dims = dims or [letters] * len(values)
        loops = ", ".join(letters)
        maps = ", ".join(f"affine_map<({loops}) -> ({', '.join(d)})>" for d in list(dims) + [letters])
        kinds = ", ".join(['"parallel"'] * len(shape))
        empty, value = self.new(), self.new()
        t = self.type(shape)
        names = [f"%x{i}" for i in range(len(values))]
        body = {
            "relu": ["%c = arith.constant 0.0 : f32", "%r = arith.maximumf %x0, %c : f32"],
            "exp": ["%r = math.exp %x0 : f32"],
        }.get(op) or [f"%r = arith.{op} {', '.join(names)} : f32"]
        self.lines += [
            f"{empty} = tensor.empty() : {t}",
            f"{value} = linalg.generic {{indexing_maps = [{maps}], iterator_types = [{kinds}]}}"
            f" ins({', '.join(v[0] for v in values)} : {', '.join(self.type(v[1]) for v in values)}) outs({empty} : {t}) {{\n"
            f"    ^bb0({', '.join(f'{n}: f32' for n in names)}, %z: f32):\n      " + "\n      ".join(body) +
            f"\n      linalg.yield %r : f32\n    }} -> {t}",
        ]
        return (value, shape)

    def constraint(self, value, spec):
        name = self.new()
        self.lines.append(f"{name} = spmd.with_sharding_constraint {value[0]} {self.sharding(spec)} : {self.type(value[1])}")
        return (name, value[1])

    def text(self):
        results = ", ".join(self.type(v[1]) + (f" {{{', '.join(a)}}}" if a else "") for v, a in self.results)
        types = ", ".join(self.type(v[1]) for v, _ in self.results)
        body = "\n".join("    " + line for line in self.lines)
        return (f"spmd.mesh @mesh = {self.mesh}\nfunc.func @main({', '.join(self.args)}) -> ({results}) {{\n{body}\n"
                f"    return {', '.join(v[0] for v, _ in self.results)} : {types}\n}}\n")


def mesh(axes, alpha=1.0, beta=None):
    """axes: name -> size."""
    beta = beta or [1.0] * len(axes)
    names = ", ".join(f'"{name}"={size}' for name, size in axes.items())
    return f"<[{names}]> {{alpha = [{', '.join([repr(float(alpha))] * len(axes))}], beta = [{', '.join(repr(float(b)) for b in beta)}]}}"


M4 = mesh({"m": 4})


def w_case(spec=None, out="--", chain=None):
    """y = relu(h) w1, h = constraint(x w0)."""
    p = Program(M4)
    x, w0, w1 = p.arg((128, 1024)), p.arg((1024, 1024)), p.arg((1024, 1024))
    h = p.dot("bk,kn->bn", x, w0)
    for s in chain or ([spec] if spec else []):
        h = p.constraint(h, s)
    y = p.dot("bk,kn->bn", p.map("relu", h), w1)
    p.result(y, out)
    return p


def mlp(mesh_text, layers, batch, hidden, bias=False, x=None, pins=None, updated=True):
    """A training step: h_i = h_{i-1} w_i, gradient of the last h_n - y, update w - g, weights and their updates tied."""
    p = Program(mesh_text)
    pins = pins or {}
    h = p.arg((batch, hidden), x)
    y = p.arg((batch, hidden))
    weights = [p.arg((hidden, hidden), pins.get(i)) for i in range(layers)]
    biases = [p.arg((hidden,)) for _ in range(layers)] if bias else []
    inputs = []
    for i, w in enumerate(weights):
        inputs.append(h)
        h = p.dot("bk,kn->bn", h, w)
        if bias:
            h = p.map("addf", h, biases[i], dims=["ab", "b"])
    g = p.map("subf", h, y)
    for i in reversed(range(layers)):
        dw = p.dot("bk,bn->kn", inputs[i], g)
        if bias:
            db = p.reduce("bn->n", g)
            p.result(p.map("subf", biases[i], db), tied=biases[i])
        p.result(p.map("subf", weights[i], dw), tied=weights[i])
        if i > 0:
            g = p.dot("bn,kn->bk", g, weights[i])
    return p


def attention(x=None, out=None, weights=(None, None, None, None)):
    p = Program(M4)
    v = p.arg((4, 128, 512), x)
    wq, wk, wv = (p.arg((512, 16, 32), s) for s in weights[:3])
    wo = p.arg((16, 32, 512), weights[3])
    q, k, u = (p.dot("bsd,dhe->bshe", v, w) for w in (wq, wk, wv))
    scores = p.dot("bshe,bthe->bhst", q, k)
    most = p.reduce("bhst->bhs", scores, "maximumf", "0xFF800000")
    e = p.map("exp", p.map("subf", scores, most, dims=["abcd", "abc"]))
    probs = p.map("divf", e, p.reduce("bhst->bhs", e), dims=["abcd", "abc"])
    o = p.dot("bhst,bthe->bshe", probs, u)
    p.result(p.dot("bshe,hed->bsd", o, wo), out)
    return p


NO_A2A = "forbid-collectives=all_to_all,exchange,collective_permute"
NO_A2A_RS = NO_A2A + ",reduce_scatter"
TWO = {"data": 2, "model": 2}

# name, program, options beside cost-model=alpa, objective, collectives (None: only the objective), exact (False: at most the objective)
CASES = [
    ("W1", w_case(out="??"), "", 0.0, []),
    ("W2", w_case(), "", 393217.1, [("all_gather", 524288)]),
    ("W3", w_case(["m", "-"]), "", 393217.1, [("all_gather", 524288)]),
    ("W4", w_case(["?", "-"]), "", 393217.1, [("all_gather", 524288)]),
    ("W5", w_case(["-", "m"]), "", 589826.101, [("all_to_all", 524288), ("all_gather", 524288)]),
    ("W5 without all-to-all", w_case(["-", "m"]), NO_A2A, 786433.01, [("all_reduce", 524288)]),
    ("W6", w_case(["-", "-"]), "", 786434.2, [("all_gather", 524288)] * 2),
    ("A1", mlp(M4, 2, 1024, 128), "", 196610.02, [("all_reduce", 65536)] * 2),
    ("A2", mlp(M4, 2, 128, 1024), "", 786433.01, [("all_reduce", 524288)]),
    ("A3 mlp6 256 32", mlp(M4, 6, 256, 32), "", 36870.06, [("all_reduce", 4096)] * 6),
    ("A3 mlp6 256 32 bias", mlp(M4, 6, 256, 32, bias=True), "", 38028.12, None),
    ("A3 mlp6 32 256", mlp(M4, 6, 32, 256), "", 245765.05, [("all_reduce", 32768)] * 5),
    ("A3 mlp12 1024 128", mlp(M4, 12, 1024, 128), "", 1179660.12, [("all_reduce", 65536)] * 12),
    ("A3 mlp12 128 1024", mlp(M4, 12, 128, 1024), "", 8650763.11, [("all_reduce", 524288)] * 11),
    ("A4 without all-to-all", mlp(mesh(TWO, beta=[1, 0.1]), 6, 256, 32), NO_A2A_RS, 20491.11,
     [("all_reduce", 2048)] * 6 + [("all_reduce", 16384)] * 5),
    ("A4 bias", mlp(mesh(TWO, beta=[1, 0.1]), 6, 256, 32, bias=True), NO_A2A_RS, 20903.67, None),
    ("A4", mlp(mesh(TWO, beta=[1, 0.1]), 6, 256, 32), "forbid-collectives=reduce_scatter", 19888.666, None),
    ("A5 4x8", mlp(mesh({"a": 4, "b": 8}, beta=[1, 0.01]), 2, 1024, 128), "", 26872.79, None),
    ("A5 4x8 without all-to-all", mlp(mesh({"a": 4, "b": 8}, beta=[1, 0.01]), 2, 1024, 128), NO_A2A, 26872.79, None),
    ("A5 8x4", mlp(mesh({"a": 8, "b": 4}, beta=[1, 0.01]), 2, 1024, 128), "", 58330.07, None),
    ("A6 a", mlp(M4, 2, 128, 1024, pins={0: ["-", "m"]}), "", 786433.01, [("all_reduce", 524288)]),
    ("A6 b", mlp(M4, 2, 128, 1024, pins={0: ["m", "-"]}), "", 1572866.02, [("all_reduce", 524288)] * 2),
    ("A6 c", mlp(M4, 2, 128, 1024, pins={0: ["-", "-"]}), "", 3932162.11, None),
    ("A6 d", mlp(M4, 2, 128, 1024, pins={0: ["-", "m"], 1: ["-", "m"]}), "forbid-collectives=reduce_scatter", 1572867.21, None),
    ("A6 d shared", mlp(M4, 2, 128, 1024, pins={0: ["-", "m"], 1: ["-", "m"]}), "forbid-collectives=reduce_scatter reshard-per-use=never", 1179650.11, None),
    ("A7 rows", mlp(M4, 2, 128, 1024, x=["m", "-"]), "", 1572867.21, None),
    ("A7 rows shared", mlp(M4, 2, 128, 1024, x=["m", "-"]), "reshard-per-use=never", 1179650.11, None),
    ("A7 columns", mlp(M4, 2, 128, 1024, x=["-", "m"]), "", 1572866.02, [("all_reduce", 524288)] * 2),
    ("A8", mlp(mesh(TWO, beta=[1, 0.1]), 2, 1024, 128), "forbid-collectives=reduce_scatter", 88478.821, None),
    ("A8 without all-to-all", mlp(mesh(TWO, beta=[1, 0.1]), 2, 1024, 128), NO_A2A_RS, 91753.43, None),
    ("A8 x open", mlp(mesh(TWO, beta=[1, 0.1]), 2, 1024, 128, x=["data", "?"]), "forbid-collectives=reduce_scatter", 88478.821, None),
    ("A8 x closed", mlp(mesh(TWO, beta=[1, 0.1]), 2, 1024, 128, x=["data", "-"]), "forbid-collectives=reduce_scatter", 88478.821, None),
    ("A8 w0 open", mlp(mesh(TWO, beta=[1, 0.1]), 2, 1024, 128, pins={0: ["?", "model"]}), "forbid-collectives=reduce_scatter", 88478.821, None),
    ("A17 a", attention("---", "---", (["-", "m", "-"],) * 3 + (["m", "-", "-"],)), "", 1572865.01, [("all_reduce", 1048576)]),
    ("A17 b", attention("---", "---", (["-", "m", "-"], None, None, None)), "", 1179650.101, None),
    ("A17 c", attention("---", "---"), "", 786433.1, [("all_gather", 1048576)]),
    ("A17 d", attention(["m", "-", "-"], ["m", "-", "-"]), "", 0.0, []),
    ("A17 e", attention(["-", "m", "-"], ["-", "m", "-"]), "", 1572866.2, [("all_gather", 1048576)] * 2),
    ("A17 f", attention(["-", "m", "-"], ["-", "m", "-"], (["-", "m", "-"],) * 3 + (["m", "-", "-"],)), "", 3145732.301, None),
    ("A17 f shared", attention(["-", "m", "-"], ["-", "m", "-"], (["-", "m", "-"],) * 3 + (["m", "-", "-"],)), "reshard-per-use=never",
     1572866.101, None),
]


def b_case():
    """y = relu(x w0) w1, batch 1024, hidden 512, feed-forward 2048; x and y cut along the batch."""
    p = Program(M4)
    x, w0, w1 = p.arg((1024, 512), ["m", "-"], "x"), p.arg((512, 2048), name="w0"), p.arg((2048, 512), name="w1")
    p.result(p.dot("bk,kn->bn", p.map("relu", p.dot("bk,kn->bn", x, w0)), w1), ["m", "-"])
    return p


# name, options, per budget the objective (None: infeasible)
BUDGETS = [
    ("B1", "forbid-collectives=reduce_scatter", {13200000: 0.0, 12100000: 3145729.1, 10500000: 4718594.101, 6900000: 4718594.11, 6000000: None}),
    ("B2", "", {13200000: 0.0, 12100000: 3145729.1, 7400000: 3145730.101, 6900000: 4718594.11, 6000000: None}),
]
SMALLEST = 6815744
