#!/usr/bin/env python3
"""The transformer of gen_transformer.py in StableHLO with Shardy's annotations: the same values, weights and shardings.

StableHLO has no op with a body of scalar ops: what is one linalg.generic there is one op per line of its body here, and a
broadcast per operand of fewer dims. Takes the options of gen_transformer.py (-L, --model, --scheme, --tied, --count, ...).
"""
import re
import sys

import gen_transformer
from gen_transformer import AXES, Model, spmd_sharding, tensor

OPS = {"arith.mulf": "multiply", "arith.addf": "add", "arith.subf": "subtract", "arith.divf": "divide",
       "arith.maximumf": "maximum", "math.exp": "exponential", "math.rsqrt": "rsqrt"}


def ints(values):
    return "[" + ", ".join(map(str, values)) + "]"


class StablehloModel(Model):
    def argument(self, name, dims, axes):
        attr = f" {{{spmd_sharding(axes, len(dims)).replace('#spmd', 'sdy.sharding = #sdy')}}}" if axes is not None else ""
        self.args.append(f"%{name}: {tensor(dims)}{attr}")
        self.arg_values.append((f"%{name}", dims, axes))
        return (f"%{name}", dims)

    def annotate(self, value, axes, users=False):
        return value

    def op(self, text, dims, prefix="h"):
        name = self.fresh(prefix)
        self.lines.append(f"  {name} = {text}")
        self.counts["linalg"] += 1
        return (name, dims)

    def broadcast(self, value, places, dims):
        """Dim i of the value becomes dim places[i]."""
        name, own = value
        if tuple(own) == tuple(dims):
            return value
        source = tensor(own) if own else "tensor<f32>"
        return self.op(f"stablehlo.broadcast_in_dim {name}, dims = {ints(places)} : ({source}) -> {tensor(dims)}", dims)

    def generic(self, ins, in_maps, dims, out_map, iterators, body, init=None):
        loops = [[int(d) for d in re.findall(r"d(\d+)", m)] for m in in_maps]
        out = [int(d) for d in re.findall(r"d(\d+)", out_map)]
        if body is gen_transformer.MAC:
            return self.dot(ins, loops, out)
        sizes = {}
        for (_, own), places in zip(ins, loops):
            sizes.update(zip(places, own))
        full = tuple(sizes[i] for i in range(len(iterators)))
        names = {f"%i{k}": self.broadcast(value, places, full) for k, (value, places) in enumerate(zip(ins, loops))}
        for line in body:
            match = re.match(r"(%\w+) = (\S+) (.*) : f32", line)
            if not match:
                continue
            result, op, operands = match[1], OPS[match[2]], match[3].split(", ")
            if "%o" in operands: # what the reduction combines with
                [value] = [names[operand] for operand in operands if operand != "%o"]
                reduced = [i for i, kind in enumerate(iterators) if kind == "r"]
                names[result] = self.op(f"stablehlo.reduce({value[0]} init: {init}) applies stablehlo.{op} across dimensions = "
                                        f"{ints(reduced)} : ({tensor(full)}, tensor<f32>) -> {tensor(dims)}", dims)
                continue
            for operand in operands:
                if operand not in names:
                    names[operand] = self.broadcast((operand, ()), [], full)
            names[result] = self.op(f"stablehlo.{op} {', '.join(names[operand][0] for operand in operands)} : {tensor(full)}", full)
        return names["%r"]

    def dot(self, ins, loops, out):
        (a, a_dims), (b, b_dims) = ins
        a_loops, b_loops = loops
        batch = [i for i in a_loops if i in b_loops and i in out]
        summed = [i for i in a_loops if i in b_loops and i not in out]
        order = batch + [i for i in a_loops if i not in b_loops] + [i for i in b_loops if i not in a_loops]
        sizes = {**dict(zip(a_loops, a_dims)), **dict(zip(b_loops, b_dims))}
        places = lambda own, wanted: ints(own.index(i) for i in wanted)
        dims = tuple(sizes[i] for i in order)
        batching = f"batching_dims = {places(a_loops, batch)} x {places(b_loops, batch)}, " if batch else ""
        value = self.op(f"stablehlo.dot_general {a}, {b}, {batching}contracting_dims = {places(a_loops, summed)} x "
                        f"{places(b_loops, summed)} : ({tensor(a_dims)}, {tensor(b_dims)}) -> {tensor(dims)}", dims)
        if order == out:
            return value
        target = tuple(sizes[i] for i in out)
        return self.op(f"stablehlo.transpose {value[0]}, dims = {places(order, out)} : ({tensor(dims)}) -> {tensor(target)}", target)

    def print(self, file=sys.stdout):
        axes = ", ".join(f'"{name}"={size}' for name, size in zip(AXES, self.o.grid.split("x")))
        print(f"sdy.mesh @mesh = <[{axes}]>", file=file)
        print(f"func.func @main({', '.join(self.args)}) -> {tensor(self.x_dims)} {{", file=file)
        for line in self.lines:
            print(re.sub(r"arith\.constant (\S+) : f32", r"stablehlo.constant dense<\1> : tensor<f32>", line), file=file)
        print("}", file=file)


def main():
    options = gen_transformer.get_parser().parse_args()
    options.annot = "sdy"
    model = StablehloModel(options)
    model.build()
    model.print()
    if options.count:
        print(f"ops={model.counts['linalg']} args={len(model.args)}", file=sys.stderr)


if __name__ == "__main__":
    main()
