#!/usr/bin/env python3
"""Writes one training step of a transformer, in upstream dialects on tensors.

  gen_training_step.py --annotations data,megatron --mesh data=2,model=2 -o step.mlir

Forward: layers of pre-layer-norm attention and of an MLP, on activations
[batch, seq, dim], and a loss: mean squared error against a target, or softmax
cross-entropy of labels after an output projection. Backward: by reverse-mode
differentiation (autodiff.py). Then Adam updates every weight. Arguments: batch
inputs, the number of steps done, weights, first and second moments; results:
the loss, and every other argument but the inputs, tied to what it updates.

Annotations, on batch inputs and weights only, with dims left open elsewhere:

  data      the batch dim of the batch inputs on axis "data"
  megatron  wq, wk, wv and w1 cut by columns, wo and w2 by rows, on "model"
  fsdp      the largest dim of each weight that "data" divides and "model"
            does not cut, on "data"; with megatron the biases of the column-cut
            weights, which follow them onto "model", are left open

Each op has the location of its place in the model: "layers.0.q",
"d.layers.0.q" (what differentiating it gave), "adam.layers.0.wq".
"""
import argparse
import math

from autodiff import Graph
from emit import Writer

COLUMN, ROW = ("wq", "wk", "wv", "w1"), ("wo", "w2")
COLUMN_BIAS = ("bq", "bk", "bv", "b1")


def parse(argv=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--layers", type=int, default=2)
    parser.add_argument("--batch", type=int, default=4)
    parser.add_argument("--seq", type=int, default=6)
    parser.add_argument("--heads", type=int, default=2)
    parser.add_argument("--head-dim", type=int, default=5)
    parser.add_argument("--dim", type=int, default=12)
    parser.add_argument("--ffn", type=int, default=14)
    parser.add_argument("--vocab", type=int, default=22,
                        help="classes, for cross-entropy")
    parser.add_argument("--loss", choices=["mse", "cross-entropy"],
                        default="mse")
    parser.add_argument("--activation", choices=["gelu", "tanh"],
                        default="gelu")
    parser.add_argument("--attention", choices=["causal", "plain"],
                        default="causal")
    parser.add_argument("--type", choices=["f32", "f64"], default="f32")
    parser.add_argument("--mesh", default="data=2,model=2")
    parser.add_argument("--annotations", default="",
                        help="comma list of data, megatron, fsdp")
    parser.add_argument("--fsdp-priority", type=int, default=0,
                        help="user priority of the fsdp axes, 0 strongest")
    parser.add_argument("--stages", type=int, default=1,
                        help="pipeline stages: boundaries between layers, specs "
                        "as axis resources; the mesh is the cluster's")
    parser.add_argument("--candidates", action="store_true",
                        help="a candidate boundary behind every layer")
    parser.add_argument("--sgd", action="store_true",
                        help="w - rate * gradient in place of Adam")
    parser.add_argument("-o", "--output", default="-")
    args = parser.parse_args(argv)
    args.mesh = [(axis, int(size)) for axis, size in
                 (part.split("=") for part in args.mesh.split(","))]
    args.pipelined = args.stages > 1 or args.candidates
    args.annotations = set(filter(None, args.annotations.split(",")))
    unknown = args.annotations - {"data", "megatron", "fsdp"}
    if unknown:
        parser.error(f"unknown annotation {min(unknown)}")
    return args


class Model:
    """The graph of the loss and of its derivatives by every weight."""

    def __init__(self, args):
        self.args, self.graph = args, Graph()
        self.weights = {}  # name -> node
        g, width = self.graph, args.heads * args.head_dim
        x = g.argument("x", (args.batch, args.seq, args.dim))
        self.inputs = [x]
        self.marks = {}  # node id -> text behind it
        for layer in range(args.layers):
            with g.scope(f"layers.{layer}"):
                x = g.add(x, self.attention(self.norm(x, "norm1"), width))
                x = g.add(x, self.mlp(self.norm(x, "norm2")))
            ends = {-(-args.layers * s // args.stages)
                    for s in range(1, args.stages)}
            if layer + 1 in ends:
                self.marks[x.id] = "spmd.stage_boundary {v} : {t}"
            elif args.candidates and layer + 1 < args.layers:
                self.marks[x.id] = "spmd.stage_boundary candidate {v} : {t}"
        if args.loss == "mse":
            target = g.argument("target", x.shape)
            with g.scope("loss"):
                error = g.sub(x, target)
                total = g.reduce("sum", g.mul(error, error), range(3))
                self.loss = g.scale(total, 1 / math.prod(x.shape))
        else:
            target = g.argument("labels", x.shape[:2], "i64")
            with g.scope("head"):
                w = self.weight("w", (args.dim, args.vocab))
                logits = g.einsum("bsd,dv->bsv", x, w)
            with g.scope("loss"):
                top = g.reduce("max", logits, [2])
                exp = g.unary("exp", g.sub(
                    logits, g.broadcast(top, logits.shape, [2])))
                lse = g.add(g.unary("log", g.reduce("sum", exp, [2])), top)
                right = g.mul(g.one_hot(target, args.vocab), logits)
                nll = g.sub(lse, g.reduce("sum", right, [2]))
                total = g.reduce("sum", nll, [0, 1])
                self.loss = g.scale(total, 1 / (args.batch * args.seq))
        self.inputs.append(target)
        gradients = g.gradients(self.loss, list(self.weights.values()))
        self.gradients = dict(zip(self.weights, gradients))

    def weight(self, name, shape):
        name = ".".join(self.graph.scopes + [name])
        self.weights[name] = self.graph.argument(name, shape)
        return self.weights[name]

    def norm(self, x, name):
        g, dim = self.graph, self.args.dim
        with g.scope(name):
            gain, bias = (self.weight(n, (dim,)) for n in ("gain", "bias"))
            mean = g.scale(g.reduce("sum", x, [2]), 1 / dim)
            centred = g.sub(x, g.broadcast(mean, x.shape, [2]))
            square = g.reduce("sum", g.mul(centred, centred), [2])
            inverse = g.unary("rsqrt", g.shift(g.scale(square, 1 / dim), 1e-5))
            scaled = g.mul(centred, g.broadcast(inverse, x.shape, [2]))
            return g.add(g.mul(scaled, g.like(gain, x)), g.like(bias, x))

    def linear(self, x, name, out):
        """x w + b, with weights w<name> and b<name>."""
        g = self.graph
        with g.scope(name):
            scopes, g.scopes = g.scopes, g.scopes[:-1]
            w = self.weight("w" + name, (x.shape[2], out))
            b = self.weight("b" + name, (out,))
            g.scopes = scopes
            y = g.einsum("bsd,de->bse", x, w)
            return g.add(y, g.like(b, y))

    def attention(self, x, width):
        g, args = self.graph, self.args
        heads = []
        for name in "qkv":
            y = self.linear(x, name, width)
            with g.scope(name):
                y = g.expand(y, 2, [args.heads, args.head_dim])
                heads.append(g.transpose(y, [0, 2, 1, 3]))
        q, k, v = heads
        with g.scope("scores"):
            s = g.scale(g.einsum("bhqk,bhsk->bhqs", q, k),
                        args.head_dim ** -0.5)
            if args.attention == "causal":
                s = g.causal(s, -1e9)
        with g.scope("softmax"):
            top = g.broadcast(g.reduce("max", s, [3]), s.shape, [3])
            exp = g.unary("exp", g.sub(s, top))
            p = g.div(exp, g.broadcast(g.reduce("sum", exp, [3]), s.shape, [3]))
        with g.scope("context"):
            c = g.transpose(g.einsum("bhqs,bhsk->bhqk", p, v), [0, 2, 1, 3])
            c = g.collapse(c, 2, 2)
        return self.linear(c, "o", args.dim)

    def mlp(self, x):
        g = self.graph
        h = self.linear(x, "1", self.args.ffn)
        with g.scope(self.args.activation):
            if self.args.activation == "gelu":
                erf = g.unary("erf", g.scale(h, math.sqrt(0.5)))
                h = g.mul(g.scale(h, 0.5), g.shift(erf, 1.0))
            else:
                h = g.unary("tanh", h)
        return self.linear(h, "2", self.args.dim)


RATE, BETA1, BETA2, EPSILON = 1e-3, 0.9, 0.999, 1e-8


def adam_coefficients(step):
    """1 - beta ** step, of the step that is being made, from 1."""
    return 1 - BETA1 ** step, 1 - BETA2 ** step


def adam(w, m, v, g, step):
    """One element. Of the old second moment the absolute value is taken, so
    that random ones do."""
    c1, c2 = adam_coefficients(step)
    m = BETA1 * m + (1 - BETA1) * g
    v = BETA2 * abs(v) + (1 - BETA2) * g * g
    return w - RATE * (m / c1) / (math.sqrt(v / c2) + EPSILON), m, v


def write_adam_head(out, step):
    """Counts the step; returns the new count and the two coefficients."""
    e = out.element

    def emit(text):
        name = out.fresh()
        out.emit(f"{name} = {text}", "adam.step")
        return name
    one = out.once("arith.constant dense<1> : tensor<i64>")
    new = emit(f"arith.addi {step}, {one} : tensor<i64>")
    t = emit(f"arith.sitofp {emit(f'tensor.extract {new}[] : tensor<i64>')}"
             f" : i64 to {e}")
    coefficients = []
    for beta in (BETA1, BETA2):
        power = emit(f"math.powf {out.scalar(beta)}, {t} : {e}")
        coefficients.append(
            emit(f"arith.subf {out.scalar(1.0)}, {power} : {e}"))
    return new, coefficients


def write_adam(out, name, shape, w, m, v, g, coefficients):
    e, kind = out.element, out.type(shape)
    c1, c2 = coefficients
    beta1, beta2, rate, eps = (out.scalar(c)
                               for c in (BETA1, BETA2, RATE, EPSILON))
    rest1, rest2 = out.scalar(1 - BETA1), out.scalar(1 - BETA2)
    body = []

    def op(result, text, *operands):
        body.append(f"%{result} = {text} {', '.join(operands)} : {e}")
    op("m0", "arith.mulf", "%b", beta1)
    op("m1", "arith.mulf", "%d", rest1)
    op("m", "arith.addf", "%m0", "%m1")
    op("v0", "math.absf", "%c")
    op("v1", "arith.mulf", "%v0", beta2)
    op("v2", "arith.mulf", "%d", "%d")
    op("v3", "arith.mulf", "%v2", rest2)
    op("v", "arith.addf", "%v1", "%v3")
    op("mh", "arith.divf", "%m", c1)
    op("vh", "arith.divf", "%v", c2)
    op("r0", "math.sqrt", "%vh")
    op("r", "arith.addf", "%r0", eps)
    op("s", "arith.divf", "%mh", "%r")
    op("u", "arith.mulf", "%s", rate)
    op("w", "arith.subf", "%a", "%u")
    body.append(f"linalg.yield %w, %m, %v : {e}, {e}, {e}")
    letters = "ijkl"[:len(shape)]
    result = out.generic(
        [(a, kind) for a in (w, m, v, g)], [letters] * 4, [letters] * 3,
        dict.fromkeys(letters, "parallel"),
        [(out.empty(shape), kind)] * 3, body, "adam." + name)
    return [f"{result}#{i}" for i in range(3)]


def spell(dims, priority=0, resources=False):
    """dims: axes per dim; a dim without any stays open. The priority is that of
    dims on "data"."""
    if resources:
        text = ", ".join(f'"{axes[0]}"' if len(axes) == 1 else
                         "[" + ", ".join(f'"{a}"' for a in axes) + "]"
                         if axes else "?" for axes in dims)
        return f", spmd.axis_resources = #spmd.axis_resources<[{text}]>"
    text = ", ".join("{" + (", ".join(f'"{a}"' for a in axes) or "?") + "}"
                     + (f"p{priority}" if priority and "data" in axes else "")
                     for axes in dims)
    return f", spmd.sharding = #spmd.sharding<@mesh, [{text}]>"


def weight_sharding(args, name, shape):
    sizes, dims = dict(args.mesh), [[] for _ in shape]
    last = name.split(".")[-1]
    if "megatron" in args.annotations and last in COLUMN + ROW:
        dims[1 if last in COLUMN else 0].append("model")
    follows = "megatron" in args.annotations and last in COLUMN_BIAS
    if "fsdp" in args.annotations and not follows:
        free = [d for d, s in enumerate(shape)
                if not dims[d] and s % sizes["data"] == 0]
        if free:
            dims[max(free, key=lambda d: shape[d])].append("data")
    return spell(dims, args.fsdp_priority, args.pipelined) if any(dims) else ""


def write(args, model):
    out = Writer(args.type)
    params, names = [], {}

    def param(shape, attribute, name, sharding="", element=None):
        params.append(f"%a{len(params)}: {out.type(shape, element)} "
                      f'{{{attribute} = "{name}"{sharding}}}')
        return f"%a{len(params) - 1}"
    for node in model.inputs:
        sharding = spell([["data"]] + [[]] * (node.rank - 1),
                         resources=args.pipelined) \
            if "data" in args.annotations else ""
        if args.pipelined:
            sharding += ", spmd.microbatch = #spmd.microbatch<dim = 0>"
        names[node.id] = param(node.shape, "spmd.name", node.attrs["name"],
                               sharding, node.attrs["element"])
    step = None if args.sgd else param((), "spmd.weight", "step", "", "i64")
    first = len(params)
    for name, node in model.weights.items():
        names[node.id] = param(node.shape, "spmd.weight", name,
                               weight_sharding(args, name, node.shape))
    moments = [[param(node.shape, "spmd.weight", f"{prefix}.{name}")
                for name, node in model.weights.items()]
               for prefix in (() if args.sgd else ("adam.m", "adam.v"))]

    loss, *gradients = out.graph([model.loss] + list(model.gradients.values()),
                                 names, model.marks)
    if args.sgd:
        return finish(args, out, params, loss, [
            (out.sgd(names[node.id], g, node.shape, RATE, "sgd." + name),
             out.type(node.shape), name, first + i)
            for i, ((name, node), g) in
            enumerate(zip(model.weights.items(), gradients))])
    new_step, coefficients = write_adam_head(out, step)
    updates = [write_adam(out, name, node.shape, names[node.id], m, v, g,
                          coefficients)
               for (name, node), m, v, g in
               zip(model.weights.items(), *moments, gradients)]
    types = [out.type((), "i64")] + \
        [out.type(n.shape) for n in model.weights.values()] * 3
    updated = ["step"] + [prefix + name for prefix in
                          ("", "adam.m.", "adam.v.") for name in model.weights]
    values = [new_step] + [u[i] for i in range(3) for u in updates]
    return finish(args, out, params, loss,
                  [(value, kind, name, first - 1 + i) for i, (value, kind, name)
                   in enumerate(zip(values, types, updated))])


def finish(args, out, params, loss, updates):
    """updates: value, type, name, and the argument that it updates."""
    results = [loss] + [u[0] for u in updates]
    types = [out.type(())] + [u[1] for u in updates]
    attrs = ['spmd.name = "new.loss"'] + \
        [f'spmd.name = "new.{name}", spmd.tied = {tied} : i64'
         for _, _, name, tied in updates]
    mesh = ", ".join(f'"{axis}"={size}' for axis, size in args.mesh)
    signature = ",\n    ".join(params)
    result_types = ",\n     ".join(f"{t} {{{a}}}" for t, a in zip(types, attrs))
    return "\n".join(
        [f"spmd.mesh @mesh = <[{mesh}]>",
         f"func.func @step(\n    {signature}) ->\n    ({result_types}) {{"]
        + out.heads + out.lines
        + [f"  return {', '.join(results)} :\n    {', '.join(types)}", "}", ""])


def main():
    args = parse()
    text = write(args, Model(args))
    if args.output == "-":
        print(text, end="")
    else:
        with open(args.output, "w") as file:
            file.write(text)


if __name__ == "__main__":
    main()
