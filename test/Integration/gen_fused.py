#!/usr/bin/env python3
"""Random functions with fused weights, whose segments the compiler is to find: gen_fused.py --seed 1 --count 40 -o FILE.

A weight (stored transposed or not, perhaps with a bias) computes several values at once: in blocks, as a dim of their own, alternating, or
side by side in each head. They are split into heads, perhaps of key-value groups, padded or cut again, combined, and joined in front of an
output projection. Shardings are random on any dim, also where axes do not divide heads; now and then an op needs the full dim.
`--only N` prints function N alone."""
import argparse
import random

MESHES = [{"x": 2}, {"x": 3}, {"x": 4}, {"x": 8}, {"x": 2, "y": 2}, {"x": 3, "y": 2}, {"x": 4, "y": 2}]


class Function:
    def __init__(self, number, rng):
        self.number, self.rng, self.lines, self.args, self.count = number, rng, [], [], 0
        self.mesh = rng.randrange(len(MESHES))

    def let(self, text):
        self.count += 1
        self.lines.append(f"    %{self.count} = {text}")
        return f"%{self.count}"

    def tensor(self, shape):
        return f"tensor<{'x'.join(map(str, shape))}xi32>"

    def argument(self, shape, weight=None):
        attrs = ["spmd.range = [-3, 4]"] + ([f'spmd.weight = "f{self.number}.{weight}"'] if weight else [])
        if self.rng.random() < 0.8:
            dims, axes = [[] for _ in shape], list(MESHES[self.mesh])
            self.rng.shuffle(axes)
            for axis in axes:
                if self.rng.random() < 0.7:
                    self.rng.choice(dims).append(axis)
            text = ", ".join("{" + ", ".join([f'"{a}"' for a in d] + (["?"] if self.rng.random() < 0.3 else [])) + "}" for d in dims)
            attrs.append(f"spmd.sharding = #spmd.sharding<@m{self.mesh}, [{text}]>")
        self.args.append(f"%a{len(self.args)}: {self.tensor(shape)} {{{', '.join(attrs)}}}")
        return f"%a{len(self.args) - 1}"

    def zeros(self, shape):
        return self.let(f"arith.constant dense<0> : {self.tensor(shape)}")

    def product(self, x, rows, inner, columns, name):
        """x [rows, inner] by a weight of `columns` columns."""
        if self.rng.random() < 0.5:
            stored = self.argument((columns, inner), name)
            empty = self.let(f"tensor.empty() : {self.tensor((inner, columns))}")
            weight = self.let(f"linalg.transpose ins({stored} : {self.tensor((columns, inner))}) outs({empty} : {self.tensor((inner, columns))}) permutation = [1, 0]")
        else:
            weight = self.argument((inner, columns), name)
        t = self.tensor((rows, columns))
        y = self.let(f"linalg.matmul ins({x}, {weight} : {self.tensor((rows, inner))}, {self.tensor((inner, columns))}) outs({self.zeros((rows, columns))} : {t}) -> {t}")
        if self.rng.random() < 0.5:
            bias = self.argument((columns,), name + ".bias")
            empty = self.let(f"tensor.empty() : {t}")
            wide = self.let(f"linalg.broadcast ins({bias} : {self.tensor((columns,))}) outs({empty} : {t}) dimensions = [0]")
            y = self.let(f"arith.addi {y}, {wide} : {t}")
        return y

    def slice(self, x, shape, dim, offset, size, stride=1, drop=False):
        n = len(shape)
        to = [size if d == dim else s for d, s in enumerate(shape)]
        offsets = ", ".join(str(offset if d == dim else 0) for d in range(n))
        strides = ", ".join(str(stride if d == dim else 1) for d in range(n))
        result = to[:dim] + to[dim + 1 :] if drop else to
        return self.let(f"tensor.extract_slice {x}[{offsets}] {to} [{strides}] : {self.tensor(shape)} to {self.tensor(result)}".replace("[[", "[").replace("]]", "]"))

    def reshape(self, kind, x, fine, groups, coarse):
        if kind == "expand":
            return self.let(f"tensor.expand_shape {x} {groups} output_shape {list(fine)} : {self.tensor(coarse)} into {self.tensor(fine)}")
        return self.let(f"tensor.collapse_shape {x} {groups} : {self.tensor(fine)} into {self.tensor(coarse)}")

    def gated(self, x, rows, inner):
        size = self.rng.choice([6, 8, 12, 16])
        y, shape = self.product(x, rows, inner, 2 * size, "gate_up"), (rows, 2 * size)
        if self.rng.random() < 0.3:  # padded and cut along the rows
            low = self.rng.randrange(3)
            c = self.let("arith.constant 2 : i32")
            to = (rows + low, 2 * size)
            y = self.let(f"tensor.pad {y} low[{low}, 0] high[0, 0] {{\n    ^bb0(%i: index, %j: index):\n      tensor.yield {c} : i32\n    }} : {self.tensor(shape)} to {self.tensor(to)}")
            y = self.slice(y, to, 0, self.rng.randrange(low + 1), rows)
        if self.rng.random() < 0.15:  # many ops between the weight and its slices
            before = y
            for _ in range(24):
                before, y = y, self.let(f"arith.addi {y}, {before} : {self.tensor(shape)}")
        kind = self.rng.choice(["blocks", "alternating", "dim"])
        if kind == "dim":
            wide = self.reshape("expand", y, (rows, 2, size), "[[0], [1, 2]]", shape)
            a, b = (self.slice(wide, (rows, 2, size), 1, i, 1, drop=True) for i in range(2))
        else:
            a, b = (self.slice(y, shape, 1, *((i * size, size) if kind == "blocks" else (i, size, 2))) for i in range(2))
        if self.rng.random() < 0.15:  # the full dim is read too
            s = self.let(f"linalg.reduce {{ arith.addi }} ins({y} : {self.tensor(shape)}) outs({self.zeros((rows,))} : {self.tensor((rows,))}) dimensions = [1]")
            empty = self.let(f"tensor.empty() : {self.tensor((rows, size))}")
            a = self.let(f"linalg.broadcast ins({s} : {self.tensor((rows,))}) outs({empty} : {self.tensor((rows, size))}) dimensions = [1]")
        h = self.let(f"arith.subi {a}, {b} : {self.tensor((rows, size))}")
        return self.product(h, rows, size, inner, "down")

    def attention(self, x, rows, inner):
        groups, per, head = self.rng.choice([1, 2, 3, 4]), self.rng.choice([1, 2, 3]), self.rng.choice([2, 4])
        heads, kv = groups * per, groups
        kind = self.rng.choice(["blocks", "dim", "interleaved"]) if per == 1 else self.rng.choice(["blocks", "groups"])
        columns = (heads + 2 * kv) * head
        y, shape = self.product(x, rows, inner, columns, "qkv"), (rows, columns)
        if kind == "blocks":
            cuts = [(0, heads * head), (heads * head, kv * head), ((heads + kv) * head, kv * head)]
            q, k, v = (self.slice(y, shape, 1, *c) for c in cuts)
            q = self.reshape("expand", q, (rows, kv, per, head), "[[0], [1, 2, 3]]", (rows, heads * head))
            k, v = (self.reshape("expand", z, (rows, kv, head), "[[0], [1, 2]]", (rows, kv * head)) for z in (k, v))
        else:
            # [3, heads, head], [heads, 3, head] or [groups, per + 2, head]
            dims = (rows, 3, kv, head) if kind == "dim" else (rows, kv, per + 2, head)
            at = 1 if kind == "dim" else 2
            wide = self.reshape("expand", y, dims, "[[0], [1, 2, 3]]", shape)
            k, v = (self.slice(wide, dims, at, per + i, 1, drop=True) for i in range(2))
            q = self.slice(wide, dims, at, 0, per)
            if kind == "dim":
                q = self.slice(wide, dims, 1, 0, 1, drop=True)
                q = self.reshape("expand", q, (rows, kv, 1, head), "[[0], [1], [2, 3]]", (rows, kv, head))
        maps = "affine_map<(s, h, g, d) -> (s, h, g, d)>", "affine_map<(s, h, g, d) -> (s, h, d)>"
        t, tk = self.tensor((rows, kv, per, head)), self.tensor((rows, kv, head))
        empty = self.let(f"tensor.empty() : {t}")
        a = self.let(
            f'linalg.generic {{indexing_maps = [{maps[0]}, {maps[1]}, {maps[1]}, {maps[0]}], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}} ins({q}, {k}, {v} : {t}, {tk}, {tk}) outs({empty} : {t}) {{\n'
            "    ^bb0(%p: i32, %r: i32, %s: i32, %o: i32):\n      %m = arith.muli %p, %r : i32\n      %n = arith.subi %m, %s : i32\n"
            f"      linalg.yield %n : i32\n    }} -> {t}"
        )  # fmt: skip
        j = self.reshape("collapse", a, (rows, kv, per, head), "[[0], [1, 2, 3]]", (rows, heads * head))
        return self.product(j, rows, heads * head, inner, "out")

    def text(self):
        rows, inner = self.rng.choice([4, 5, 6]), self.rng.choice([4, 6, 8])
        x = self.argument((rows, inner))
        y = self.attention(x, rows, inner) if self.rng.random() < 0.6 else self.gated(x, rows, inner)
        t = self.tensor((rows, inner))
        body = "\n".join(self.lines)
        return f"func.func @f{self.number}({', '.join(self.args)}) -> {t} {{\n{body}\n    return {y} : {t}\n}}\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=40)
    parser.add_argument("--only", type=int)
    parser.add_argument("-o", "--output", default="/dev/stdout")
    options = parser.parse_args()
    with open(options.output, "w") as file:
        for i, axes in enumerate(MESHES):
            file.write(f"spmd.mesh @m{i} = <[{', '.join(f'{chr(34)}{n}{chr(34)}={s}' for n, s in axes.items())}]>\n")
        for n in range(options.count):
            text = Function(n, random.Random(f"{options.seed}.{n}")).text()
            if options.only in (None, n):
                file.write(text)


if __name__ == "__main__":
    main()
