#!/usr/bin/env python3
"""Print a transformer (or MLP) of any depth as linalg on tensors, with shardings.

Uses only linalg.fill, linalg.generic with projected permutations, tensor.empty
and scalar constants: heads are a weight dimension of their own, so there are no
reshapes, and upstream's `shard` dialect can propagate it too.

  gen_transformer.py -L 8 --annot spmd           data and Megatron parallel on a 2x4 mesh
  gen_transformer.py -L 8                        the same with upstream annotations
  gen_transformer.py -L 8 --annot none           no annotations
  gen_transformer.py -L 8 --model mlp            residual blocks of two matmuls
  gen_transformer.py -L 8 --scheme batch         annotate the batch only
  gen_transformer.py -L 8 --count                op counts to stderr
"""
import argparse
import sys

AXES = ["x", "y"]  # names of the grid dims
MAC = ["%m = arith.mulf %i0, %i1 : f32", "%r = arith.addf %m, %o : f32", "linalg.yield %r : f32"]
ADD = ["%r = arith.addf %i0, %i1 : f32", "linalg.yield %r : f32"]
SUM = ["%r = arith.addf %i0, %o : f32", "linalg.yield %r : f32"]
SUM_OF_SQUARES = ["%m = arith.mulf %i0, %i0 : f32", "%r = arith.addf %m, %o : f32", "linalg.yield %r : f32"]
MAX = ["%r = arith.maximumf %i0, %o : f32", "linalg.yield %r : f32"]
EXP_OF_DIFFERENCE = ["%d = arith.subf %i0, %i1 : f32", "%r = math.exp %d : f32", "linalg.yield %r : f32"]
DIVIDE = ["%r = arith.divf %i0, %i1 : f32", "linalg.yield %r : f32"]
SCALE_AND_MASK = ["%m = arith.mulf %i0, %cscale : f32", "%r = arith.addf %m, %i1 : f32", "linalg.yield %r : f32"]
BIAS_AND_RELU = ["%t = arith.addf %i0, %i1 : f32", "%r = arith.maximumf %t, %c0 : f32", "linalg.yield %r : f32"]
NORMALIZE = ["%mean = arith.mulf %i1, %cinvd : f32", "%ex2 = arith.mulf %i2, %cinvd : f32",
             "%mm = arith.mulf %mean, %mean : f32", "%var = arith.subf %ex2, %mm : f32",
             "%ve = arith.addf %var, %ceps : f32", "%rs = math.rsqrt %ve : f32",
             "%xc = arith.subf %i0, %mean : f32", "%n = arith.mulf %xc, %rs : f32",
             "%ng = arith.mulf %n, %i3 : f32", "%r = arith.addf %ng, %i4 : f32", "linalg.yield %r : f32"]


def tensor(dims):
    return "tensor<" + "x".join(map(str, dims)) + "xf32>"


def spmd_sharding(axes, rank):
    """Axes per dim; all dims stay open."""
    axes = axes + [[]] * (rank - len(axes))
    dims = ("{" + ", ".join([f'"{AXES[i]}"' for i in dim] + ["?"]) + "}" for dim in axes)
    return f"#spmd.sharding<@mesh, [{', '.join(dims)}]>"


class Model:
    """Lines of one function; values are (name, dims)."""

    def __init__(self, options):
        self.o = options
        self.lines, self.args, self.arg_values = [], [], []
        self.ids = 0
        self.counts = {"linalg": 0, "tensor.empty": 0, "shard": 0}
        o = options
        self.x_dims = (o.B, o.S, o.heads * o.K)
        self.hidden = (o.B, o.S, o.F)

    def fresh(self, prefix):
        self.ids += 1
        return f"%{prefix}{self.ids}"

    def argument(self, name, dims, axes):
        attr = ""
        if self.o.annot == "spmd" and axes is not None:
            attr = f" {{spmd.sharding = {spmd_sharding(axes, len(dims))}}}"
        self.args.append(f"%{name}: {tensor(dims)}{attr}")
        self.arg_values.append((f"%{name}", dims, axes))
        return (f"%{name}", dims)

    def annotate(self, value, axes, users=False):
        """An upstream annotation op; the value itself for the other dialects."""
        if self.o.annot != "upstream" or axes is None:
            return value
        name, dims = value
        sharding, result = self.fresh("s"), self.fresh("a")
        self.lines.append(f"  {sharding} = shard.sharding @mesh split_axes = {axes} : !shard.sharding")
        self.lines.append(f"  {result} = shard.shard {name} to {sharding}"
                          f"{' annotate_for_users' if users else ''} : {tensor(dims)}")
        self.counts["shard"] += 2
        return (result, dims)

    def empty(self, dims):
        name = self.fresh("e")
        self.lines.append(f"  {name} = tensor.empty() : {tensor(dims)}")
        self.counts["tensor.empty"] += 1
        return name

    def fill(self, dims, scalar):
        init, name = self.empty(dims), self.fresh("f")
        self.lines.append(f"  {name} = linalg.fill ins({scalar} : f32) outs({init} : {tensor(dims)}) -> {tensor(dims)}")
        self.counts["linalg"] += 1
        return name

    def generic(self, ins, in_maps, dims, out_map, iterators, body, init=None):
        """`iterators`: p or r per loop; `init`: the scalar that a reduction starts from."""
        init = self.fill(dims, init) if init else self.empty(dims)
        name = self.fresh("g")
        loops = ", ".join(f"d{i}" for i in range(len(iterators)))
        maps = ", ".join(f"affine_map<({loops}) -> ({m})>" for m in in_maps + [out_map])
        kinds = ", ".join({"p": '"parallel"', "r": '"reduction"'}[c] for c in iterators)
        values = ", ".join(value for value, _ in ins)
        types = ", ".join(tensor(d) for _, d in ins)
        block_args = ", ".join([f"%i{k}: f32" for k in range(len(ins))] + ["%o: f32"])
        self.lines.append(f"  {name} = linalg.generic {{indexing_maps = [{maps}], iterator_types = [{kinds}]}} "
                          f"ins({values} : {types}) outs({init} : {tensor(dims)}) {{")
        self.lines.append(f"  ^bb0({block_args}):")
        self.lines.extend("    " + line for line in body)
        self.lines.append(f"  }} -> {tensor(dims)}")
        self.counts["linalg"] += 1
        return (name, dims)

    def contract(self, a, a_map, b, b_map, dims, out_map, iterators):
        return self.generic([a, b], [a_map, b_map], dims, out_map, iterators, MAC, init="%c0")

    def layer_norm(self, x, scale, shift):
        rows = self.x_dims[:2]
        total = self.generic([x], ["d0, d1, d2"], rows, "d0, d1", "ppr", SUM, init="%c0")
        squares = self.generic([x], ["d0, d1, d2"], rows, "d0, d1", "ppr", SUM_OF_SQUARES, init="%c0")
        return self.generic([x, total, squares, scale, shift],
                            ["d0, d1, d2", "d0, d1", "d0, d1", "d2", "d2"],
                            self.x_dims, "d0, d1, d2", "ppp", NORMALIZE)

    def add(self, a, b):
        return self.generic([a, b], ["d0, d1, d2"] * 2, self.x_dims, "d0, d1, d2", "ppp", ADD)

    def attention(self, x, w):
        o = self.o
        heads, scores, rows = (o.B, o.heads, o.S, o.K), (o.B, o.heads, o.S, o.S), (o.B, o.heads, o.S)
        all4, all3 = "d0, d1, d2, d3", "d0, d1, d2"
        n = self.layer_norm(x, w["g1"], w["b1"])
        q, k, v = (self.contract(n, "d0, d2, d4", w[name], "d4, d1, d3", heads, all4, "ppppr")
                   for name in ("wq", "wk", "wv"))
        s = self.contract(q, "d0, d1, d2, d4", k, "d0, d1, d3, d4", scores, all4, "ppppr")
        s = self.generic([s, ("%mask", (o.S, o.S))], [all4, "d2, d3"], scores, all4, "pppp", SCALE_AND_MASK)
        m = self.generic([s], [all4], rows, all3, "pppr", MAX, init="%cninf")
        p = self.generic([s, m], [all4, all3], scores, all4, "pppp", EXP_OF_DIFFERENCE)
        z = self.generic([p], [all4], rows, all3, "pppr", SUM, init="%c0")
        p = self.generic([p, z], [all4, all3], scores, all4, "pppp", DIVIDE)
        c = self.contract(p, "d0, d1, d2, d4", v, "d0, d1, d4, d3", heads, all4, "ppppr")
        return self.contract(c, "d0, d3, d1, d4", w["wo"], "d3, d4, d2", self.x_dims, all3, "ppprr")

    def mlp(self, n, w):
        u = self.contract(n, "d0, d1, d3", w["w1"], "d3, d2", self.hidden, "d0, d1, d2", "pppr")
        u = self.generic([u, w["bias1"]], ["d0, d1, d2", "d2"], self.hidden, "d0, d1, d2", "ppp", BIAS_AND_RELU)
        return self.contract(u, "d0, d1, d3", w["w2"], "d3, d2", self.x_dims, "d0, d1, d2", "pppr")

    def layer(self, x, w):
        if self.o.model == "mlp":
            return self.add(x, self.mlp(x, w))
        x = self.add(x, self.attention(x, w))
        return self.add(x, self.mlp(self.layer_norm(x, w["g2"], w["b2"]), w))

    def build(self):
        o = self.o
        d = self.x_dims[2]
        x_axes = [[0]] if o.scheme in ("megatron", "batch") else None
        weights = {"wq": ((d, o.heads, o.K), [[], [1]]), "wk": ((d, o.heads, o.K), [[], [1]]),
                   "wv": ((d, o.heads, o.K), [[], [1]]), "wo": ((o.heads, o.K, d), [[1]]),
                   "w1": ((d, o.F), [[], [1]]), "w2": ((o.F, d), [[1]]), "bias1": ((o.F,), None),
                   "g1": ((d,), None), "b1": ((d,), None), "g2": ((d,), None), "b2": ((d,), None)}
        if o.model == "mlp":
            weights = {name: weights[name] for name in ("w1", "w2", "bias1")}
        self.argument("x", self.x_dims, x_axes)
        if o.model == "transformer":
            self.argument("mask", (o.S, o.S), None)
        layers = []
        for i in range(1 if o.tied else o.layers):
            layers.append({name: self.argument(f"{name}_{i}", dims, axes if o.scheme != "batch" else None)
                           for name, (dims, axes) in weights.items()})
        annotated = {name: self.annotate((name, dims), axes) for name, dims, axes in self.arg_values}
        for name, value in [("c0", "0.0"), ("cninf", "0xFF800000"), ("cinvd", f"{1.0 / d:.8e}"),
                            ("ceps", "1.0e-05"), ("cscale", f"{o.K ** -0.5:.8e}")]:
            self.lines.append(f"  %{name} = arith.constant {value} : f32")
        x = annotated["%x"]
        for i in range(o.layers):
            x = self.layer(x, {name: annotated[value] for name, (value, _) in layers[0 if o.tied else i].items()})
            if o.annot_every_layer and i + 1 < o.layers:
                x = self.annotate(x, x_axes)
        if not o.no_out:
            x = self.annotate(self.annotate(x, x_axes), x_axes, users=True)
        self.lines.append(f"  return {x[0]} : {tensor(self.x_dims)}")

    def print(self, file=sys.stdout):
        sizes = self.o.grid.split("x")
        if self.o.annot == "upstream":
            print(f"shard.grid @mesh(shape = {self.o.grid})", file=file)
        if self.o.annot == "spmd":
            axes = ", ".join(f'"{name}"={size}' for name, size in zip(AXES, sizes))
            print(f"spmd.mesh @mesh = <[{axes}]>", file=file)
        print(f"func.func @main({', '.join(self.args)}) -> {tensor(self.x_dims)} {{", file=file)
        print("\n".join(self.lines), file=file)
        print("}", file=file)


def get_parser():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-L", "--layers", type=int, default=2)
    parser.add_argument("--model", choices=["transformer", "mlp"], default="transformer")
    parser.add_argument("--annot", choices=["upstream", "spmd", "none"], default="upstream", help="dialect of the annotations")
    parser.add_argument("--scheme", choices=["megatron", "batch", "weights"], default="megatron",
                        help="what is annotated: batch and weights, or one of them")
    parser.add_argument("--grid", default="2x4", help="sizes of the mesh axes x (batch) and y (heads, hidden)")
    parser.add_argument("--annot-every-layer", action="store_true", help="upstream: pin the residual stream after every layer")
    parser.add_argument("--no-out", action="store_true", help="upstream: do not annotate the returned value")
    parser.add_argument("--tied", action="store_true", help="all layers share one set of weights")
    parser.add_argument("-B", type=int, default=8, help="batch")
    parser.add_argument("-S", type=int, default=128, help="sequence length")
    parser.add_argument("-H", "--heads", type=int, default=8)
    parser.add_argument("-K", type=int, default=32, help="head dim")
    parser.add_argument("-F", type=int, default=1024, help="hidden size of the MLP")
    parser.add_argument("--count", action="store_true", help="print op counts to stderr")
    return parser


def main():
    model = Model(get_parser().parse_args())
    model.build()
    model.print()
    if model.o.count:
        print(f"layers={model.o.layers} linalg={model.counts['linalg']} empty={model.counts['tensor.empty']} "
              f"shard={model.counts['shard']} args={len(model.args)}", file=sys.stderr)


if __name__ == "__main__":
    main()
