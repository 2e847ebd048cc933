#!/usr/bin/env python3
"""Writes a training step of an MLP with stage boundaries: x w + b, layer by layer,
mean squared error, gradients, and w - rate * gradient.

  gen_mlp_step.py --dims 6,8,10,12,14 --batch 64 --boundaries 2 --annotations alpa

`--boundaries 2` cuts behind layer 2. The meshes are those of the cluster and of its
stages, "name:axis=size,axis=size[@first device]".

--annotations: what the specs are.
  alpa    first stage's weights P(-,model), P(model), P(model,-), P(-); x P(-); tgt P(data,-);
          those of other stages replicated (the manual sharding of Alpa's tests)
  none    nothing
--params replicated: of all weights instead.
--constraints '0=["model"];2=[none, "data"]': a with_sharding_constraint on what a layer computes.
--loss returns the loss too. --clip scales gradients so that their common norm is at most 0.01.
--normalize: what a layer computes gets mean 0 and variance 1 over the batch.
--tied: the last layer's weight is the first one's transpose (dims must allow it).
--backward writes the boundaries of the backward part too.
"""
import argparse
import functools
import math
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "training"))
from autodiff import Graph  # noqa: E402
from emit import Writer  # noqa: E402


def parse(argv=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--dims", default="6,8,10,12,14")
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--boundaries", default="", help="layers behind which stages end")
    parser.add_argument("--pin", default="", help="axis resources of every boundary")
    parser.add_argument("--activation", choices=["", "tanh"], default="")
    parser.add_argument("--meshes", default="s0:dummy=1,model=2@0;s1:dummy=1,data=2@2")
    parser.add_argument("--annotations", choices=["alpa", "none"], default="none")
    parser.add_argument("--input", default="replicated", help="axis resources of x; with alpa")
    parser.add_argument("--target", default='["data"]', help="axis resources of the target; with alpa")
    parser.add_argument("--constraints", default="",
                        help="layer=axis resources, separated by ;")
    parser.add_argument("--params", default="", help="axis resources of all weights; with alpa")
    parser.add_argument("--tied", action="store_true")
    parser.add_argument("--clip", action="store_true")
    parser.add_argument("--normalize", action="store_true")
    parser.add_argument("--backward", action="store_true")
    parser.add_argument("--loss", action="store_true")
    parser.add_argument("--no-tied", action="store_true")
    parser.add_argument("--inference", action="store_true")
    parser.add_argument("-o", "--output", default="-")
    args = parser.parse_args(argv)
    args.dims = [int(d) for d in args.dims.split(",")]
    args.boundaries = [int(b) for b in args.boundaries.split(",") if b]
    args.constraints = dict(c.split("=", 1) for c in args.constraints.split(";") if c)
    return args


def mesh_text(text):
    name, rest = text.split(":")
    axes, _, first = rest.partition("@")
    axes = [axis.split("=") for axis in axes.split(",")]
    ids = ""
    if first and first != "0":
        count = math.prod(int(size) for _, size in axes)
        ids = f", device_ids={list(range(int(first), int(first) + count))}"
    return (f"spmd.mesh @{name} = <[" + ", ".join(f'"{a}"={s}' for a, s in axes) + f"]{ids}>")


def resources(text):
    return f", spmd.axis_resources = #spmd.axis_resources<{text}>"


def main():
    args = parse()
    g = Graph()
    x = g.argument("x", (args.batch, args.dims[0]))
    target = g.argument("tgt", (args.batch, args.dims[-1]))
    weights, marks, pinned, specs, ends = {}, {}, {}, {}, {}
    first_stage = args.boundaries[0] if args.boundaries else len(args.dims)
    h = x
    for i, (a, b) in enumerate(zip(args.dims, args.dims[1:])):
        with g.scope(f"layer{i}"):
            is_tied = args.tied and i == len(args.dims) - 2
            if not is_tied:
                w = weights[f"w{i}"] = g.argument(f"w{i}", (a, b))
            bias = weights[f"b{i}"] = g.argument(f"b{i}", (b,))
            if args.annotations == "alpa":
                column = i % 2 == 0
                own = i < first_stage
                specs[f"w{i}"] = args.params or "replicated" if not own or args.params else '[none, "model"]' if column else '["model"]'
                specs[f"b{i}"] = args.params or ('["model"]' if own and column else "replicated")
            h = g.einsum("bd,ed->be", h, weights["w0"]) if is_tied else g.einsum("bd,de->be", h, w)
            h = g.add(h, g.broadcast(bias, h.shape, [0]))
            if args.normalize:
                def mean(v):
                    return g.broadcast(g.scale(g.reduce("sum", v, [0]), 1 / args.batch), v.shape, [0])
                h = g.sub(h, mean(h))
                h = g.mul(h, g.unary("rsqrt", g.shift(mean(g.mul(h, h)), 1e-3)))
            if args.activation:
                h = g.unary(args.activation, h)
            if str(i) in args.constraints:
                pinned[h.id] = args.constraints[str(i)]
            if i + 1 in args.boundaries:
                ends[i] = h
                pin = f" axis_resources {args.pin}" if args.pin else ""
                marks[h.id] = "spmd.stage_boundary {v}" + pin + " : {t}"
    if args.annotations == "alpa":
        specs["x"], specs["tgt"] = args.input, args.target
    with g.scope("loss"):
        error = g.sub(h, target)
        loss = g.scale(g.reduce("sum", g.mul(error, error), range(2)), 1 / math.prod(h.shape))
    gradients = [] if args.inference else g.gradients(loss, list(weights.values()) + list(ends.values()))
    ends = dict(zip(ends, gradients[len(weights):]))
    gradients = gradients[:len(weights)]
    if args.clip:
        with g.scope("clip"):
            squares = [g.reduce("sum", g.mul(d, d), range(d.rank)) for d in gradients]
            norm = functools.reduce(g.add, squares)
            factor = g.scale(g.unary("rsqrt", norm), 0.01)

    out = Writer("f32")
    params, names = [], {}
    inputs = [x] if args.inference else [x, target]
    for node in list(weights.values()) + inputs:
        name = node.attrs["name"]
        kind = "spmd.weight" if name in weights else "spmd.name"
        micro = "" if name in weights else ", spmd.microbatch = #spmd.microbatch<dim = 0>"
        spec = resources(specs[name]) if name in specs else ""
        names[node.id] = f"%a{len(params)}"
        params.append(f'%a{len(params)}: {out.type(node.shape)} {{{kind} = "{name}"{micro}{spec}}}')
    # A constraint takes the place of its value for all that follows.
    if pinned:
        old = out.node

        def node(self_node, operands):
            value = old(self_node, operands)
            if self_node.id in pinned:
                result = out.fresh()
                out.emit(f"{result} = spmd.with_sharding_constraint {value} axis_resources "
                         f"{pinned[self_node.id]} : {out.type(self_node.shape)}", self_node.where)
                return result
            return value
        out.node = node
    wanted = [h] if args.inference else ([loss] if args.loss else []) + gradients
    if args.clip:
        wanted.append(factor)
    if args.backward:
        wanted += ends.values()
    values = out.graph(wanted, names, marks)
    if args.backward:
        # Behind the gradients of the stage's weights.
        for i, node in ends.items():
            last = max(n for n, line in enumerate(out.lines) if f'loc("d.layer{i + 1}")' in line)
            pin = f" axis_resources {args.pin}" if args.pin else ""
            out.lines.insert(last + 1, f"  spmd.stage_boundary backward {names[node.id]}{pin} : "
                             f"{out.type(node.shape)}")
    results = []
    if args.inference:
        results.append((values[0], out.type(h.shape), 'spmd.name = "y"'))
    else:
        if args.loss:
            results.append((values.pop(0), out.type(()), 'spmd.name = "loss"'))
        if args.clip:
            limited = out.fresh()
            out.emit(f"{limited} = arith.minimumf {names[factor.id]}, {out.dense(1.0, ())} : "
                     f"{out.type(())}", "clip")
        for i, ((name, node), value) in enumerate(zip(weights.items(), values)):
            kind = out.type(node.shape)
            if args.clip:
                spread, clipped = out.fresh(), out.fresh()
                out.emit(f"{spread} = linalg.broadcast ins({limited} : {out.type(())}) outs("
                         f"{out.empty(node.shape)} : {kind}) dimensions = {list(range(node.rank))}",
                         "clip")
                out.emit(f"{clipped} = arith.mulf {value}, {spread} : {kind}", "clip")
                value = clipped
            scaled, new = out.fresh(), out.fresh()
            rate = out.dense(0.125, node.shape)
            out.emit(f"{scaled} = arith.mulf {value}, {rate} : {kind}", "sgd." + name)
            out.emit(f"{new} = arith.subf {names[node.id]}, {scaled} : {kind}", "sgd." + name)
            tied = "" if args.no_tied else f", spmd.tied = {i} : i64"
            results.append((new, kind, f'spmd.name = "new.{name}"{tied}'))
    signature = ",\n    ".join(params)
    types = ",\n     ".join(f"{t} {{{a}}}" for _, t, a in results)
    text = "\n".join(
        [mesh_text(m) for m in args.meshes.split(";")]
        + [f"func.func @main(\n    {signature}) ->\n    ({types}) {{"] + out.heads + out.lines
        + [f"  return {', '.join(r for r, _, _ in results)} :\n    "
           f"{', '.join(t for _, t, _ in results)}", "}", ""])
    if args.output == "-":
        print(text, end="")
    else:
        Path(args.output).write_text(text)


if __name__ == "__main__":
    main()
