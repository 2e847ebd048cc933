"""Attention, the way programs have it: `gen_attention.py TYPE -o OUT.mlir` writes one function
for each line of CASES of that type, in layouts, masks and spellings of the softmax that differ."""

import argparse

# name: type, sizes (b heads of k, groups, m, t, d, e) and options
CASES = {
    "plain": ("f32", (2, 3, 1, 40, 40, 24, 24), {}),
    "cross": ("f32", (2, 2, 1, 33, 70, 20, 28), {"q": "bmhgd", "k": "bthd", "v": "bthe", "out": "bmhge"}),
    "transposed": ("f32", (2, 2, 1, 19, 65, 32, 16), {"k": "bhdt", "v": "ebht", "out": "bhgem"}),
    "whole_tiles": ("f16", (1, 2, 1, 64, 128, 64, 64), {"spelling": "jax"}),
    "groups": ("f32", (2, 2, 3, 21, 35, 16, 16), {"mask": "causal"}),
    "groups_f16": ("f16", (1, 2, 4, 30, 66, 40, 40), {"q": "bmhgd", "out": "bmhge", "mask": "causal"}),
    "bert": ("f32", (3, 2, 1, 37, 37, 32, 32), {"mask": "keys", "spelling": "jax"}),
    "bias": ("bf16", (2, 3, 1, 26, 45, 32, 32), {"mask": "bias", "soft": "f32"}),
    "chosen": ("f16", (2, 2, 1, 26, 45, 32, 32), {"mask": "chosen", "soft": "f32", "spelling": "jax"}),
    "batch_matmul": ("f32", (2, 4, 1, 27, 27, 16, 16), {"spelling": "torch"}),
    "batch_matmul_causal": ("bf16", (2, 4, 1, 70, 70, 16, 16), {"spelling": "torch", "mask": "causal", "soft": "f32"}),
    "causal_finite": ("f32", (1, 3, 1, 130, 130, 8, 8), {"mask": "causal_finite", "spelling": "jax"}),
    "causal_tail": ("bf16", (1, 3, 1, 9, 130, 64, 72), {"mask": "causal_tail"}),
    "no_row": ("f32", (1, 2, 1, 50, 50, 8, 8), {"mask": "no_row"}),
    "decode": ("f32", (4, 2, 1, 1, 90, 32, 32), {}),
    "long_heads": ("f16", (1, 1, 1, 20, 40, 200, 130), {}),
    "half": ("f16", (2, 2, 1, 33, 40, 24, 24), {"mask": "keys"}),
    "by_heads": ("f32", (2, 8, 1, 24, 24, 16, 16), {"shard": "h", "mask": "causal", "spelling": "jax"}),
    "by_heads_2": ("bf16", (2, 4, 2, 24, 31, 16, 16), {"shard": "h2", "q": "bmhgd", "soft": "f32"}),
    "by_batch": ("f32", (8, 2, 1, 24, 24, 16, 16), {"shard": "b", "mask": "keys"}),
    "by_both": ("f16", (2, 4, 1, 24, 24, 16, 16), {"shard": "bh", "mask": "bias", "soft": "f32"}),
}


class Function:
    def __init__(self, name, type, sizes, options):
        self.name, self.type, self.options = name, type, options
        self.size = dict(zip("bhgmtde", sizes))
        self.lines, self.arguments, self.count = [], [], 0

    def tensor(self, dims, type):
        return "tensor<" + "x".join([str(self.size[d]) for d in dims] + [type]) + ">"

    def add(self, text):
        self.count += 1
        self.lines.append(f"%{self.count} = {text}")
        return f"%{self.count}"

    def argument(self, name, dims, type):
        shard = self.options.get("shard")
        by = {"h": {"h": '"x", "y"'}, "h2": {"h": '"x"'}, "b": {"b": '"x", "y"'}, "bh": {"b": '"x"', "h": '"y"'}}.get(shard, {})
        sharding = ""
        if shard:
            axes = ", ".join("{" + by.get(d, "") + "}" for d in dims)
            sharding = f" {{spmd.sharding = #spmd.sharding<@m, [{axes}]>}}"
        self.arguments.append(f"%{name}: {self.tensor(dims, type)}{sharding}")
        return f"%{name}", dims, type

    def generic(self, loops, sums, inputs, dims, type, body, init=None):
        """`body` of the inputs' elements %x0, %x1, ... and of %o gives the element's name."""
        if init is None:
            init = self.add(f"tensor.empty() : {self.tensor(dims, type)}")
        maps = [f"affine_map<({', '.join(loops)}) -> ({', '.join(d)})>" for d in [i[1] for i in inputs] + [dims]]
        kinds = ", ".join('"reduction"' if d in sums else '"parallel"' for d in loops)
        ins = ""
        if inputs:
            ins = f" ins({', '.join(i[0] for i in inputs)} : {', '.join(self.tensor(i[1], i[2]) for i in inputs)})"
        args = ", ".join([f"%x{n}: {i[2]}" for n, i in enumerate(inputs)] + [f"%o: {type}"])
        lines, result = body
        out = self.tensor(dims, type)
        value = self.add(f"linalg.generic {{indexing_maps = [{', '.join(maps)}], iterator_types = [{kinds}]}}{ins} "
                         f"outs({init} : {out}) {{\n    ^bb0({args}):\n" + "".join(f"      {line}\n" for line in lines) +
                         f"      linalg.yield {result} : {type}\n    }} -> {out}")
        return value, dims, type

    def each(self, inputs, type, text, dims=None):
        dims = dims or inputs[0][1]
        return self.generic(dims, "", inputs, dims, type, ([f"%r = {text}"], "%r"))

    def filled(self, dims, type, value):
        constant = self.add(f"arith.constant {value} : {type}")
        empty = self.add(f"tensor.empty() : {self.tensor(dims, type)}")
        return self.add(f"linalg.fill ins({constant} : {type}) outs({empty} : {self.tensor(dims, type)}) -> {self.tensor(dims, type)}")

    def converted(self, value, type):
        if value[2] == type:
            return value
        op = "extf" if type == "f32" else "truncf"
        return self.each([value], type, f"arith.{op} %x0 : {value[2]} to {type}")

    def contract(self, a, b, dims, sums, type):
        loops = dims + sums
        low = a[2]
        lines = []
        x, y = "%x0", "%x1"
        if low != type:
            lines = [f"%a = arith.extf %x0 : {low} to {type}", f"%b = arith.extf %x1 : {low} to {type}"]
            x, y = "%a", "%b"
        lines += [f"%p = arith.mulf {x}, {y} : {type}", f"%s = arith.addf %o, %p : {type}"]
        return self.generic(loops, sums, [a, b], dims, type, (lines, "%s"), self.filled(dims, type, "0.0"))

    def joined(self, value, dims, name):
        """b and h as one dim."""
        out = name + dims[2:]
        self.size[name] = self.size["b"] * self.size["h"]
        groups = "[[0, 1]" + "".join(f", [{i}]" for i in range(2, len(dims))) + "]"
        return (self.add(f"tensor.collapse_shape {value[0]} {groups} : {self.tensor(dims, value[2])} into {self.tensor(out, value[2])}"),
                out, value[2])

    def apart(self, value, dims):
        groups = "[[0, 1]" + "".join(f", [{i}]" for i in range(2, len(dims))) + "]"
        shape = ", ".join(str(self.size[d]) for d in dims)
        return (self.add(f"tensor.expand_shape {value[0]} {groups} output_shape [{shape}] : {self.tensor(value[1], value[2])} into {self.tensor(dims, value[2])}"),
                dims, value[2])

    def broadcast(self, value, dims):
        return self.generic(dims, "", [value], dims, value[2], ([], "%x0"))

    def masked(self, x):
        mask, dims, type = self.options.get("mask"), x[1], x[2]
        lowest = {"f32": "-3.40282347E+38", "f16": "-65504.0", "bf16": "-3.38953139E+38"}[type]
        if mask in ("causal", "causal_tail", "causal_finite", "no_row"):
            other = {"causal_finite": lowest}.get(mask, {"f32": "0xFF800000", "f16": "0xFC00", "bf16": "0xFF80"}[type])
            other = self.add(f"arith.constant {other} : {type}")
            offset = self.size["t"] - self.size["m"] if mask == "causal_tail" else 0
            lines = [f"%i = linalg.index {dims.index('m')} : index", f"%j = linalg.index {dims.index('t')} : index",
                     f"%n = arith.constant {offset} : index", "%l = arith.addi %i, %n : index",
                     "%c = arith.cmpi sge, %l, %j : index"]
            if mask == "no_row":
                lines[-1] = "%c = arith.cmpi ne, %i, %n7 : index"
                lines.insert(0, "%n7 = arith.constant 7 : index")
            return self.generic(dims, "", [x], dims, type, (lines + [f"%r = arith.select %c, %x0, {other} : {type}"], "%r"))
        if mask == "keys":
            keys = self.argument("keys", "bt", "f32")
            factor = self.add("arith.constant -30.0 : f32")
            far = self.each([keys], "f32", f"arith.mulf %x0, {factor} : f32")
            far = self.converted(far, type)
            if self.options.get("spelling") == "jax":
                far = self.broadcast(far, dims)
            return self.each([x, far], type, f"arith.addf %x0, %x1 : {type}", dims)
        if mask == "bias":
            bias = self.argument("bias", "hmt" if "g" not in dims else "hgmt", self.type)
            return self.each([x, self.converted(bias, type)], type, f"arith.addf %x0, %x1 : {type}", dims)
        if mask == "chosen":
            chosen = self.argument("chosen", "bmt", "i1")
            other = self.add(f"arith.constant {lowest} : {type}")
            return self.each([x, chosen], type, f"arith.select %x1, %x0, {other} : {type}", dims)
        return x

    def softmax(self, x):
        dims, type = x[1], x[2]
        if self.options.get("spelling", "op") == "op":
            empty = self.add(f"tensor.empty() : {self.tensor(dims, type)}")
            t = self.tensor(dims, type)
            return (self.add(f"linalg.softmax dimension({dims.index('t')}) ins({x[0]} : {t}) outs({empty} : {t}) -> {t}"), dims, type)
        rest = dims.replace("t", "")
        lowest = {"f32": "0xFF800000", "f16": "0xFC00", "bf16": "0xFF80"}[type]
        reduce = lambda value, op, start: self.generic(dims, "t", [value], rest, type,
                                                       ([f"%r = arith.{op} %x0, %o : {type}"], "%r"), self.filled(rest, type, start))
        most = reduce(x, "maximumf", lowest)
        if self.options["spelling"] == "jax":
            lowest = self.filled(rest, type, lowest), rest, type
            most = self.each([lowest, most], type, f"arith.maximumf %x0, %x1 : {type}")
            most = self.broadcast(most, dims)
        e = self.each([x, most], type, f"arith.subf %x0, %x1 : {type}", dims)
        e = self.each([e], type, f"math.exp %x0 : {type}")
        total = reduce(e, "addf", "0.0")
        if self.options["spelling"] == "jax":
            total = self.broadcast(total, dims)
        return self.each([e, total], type, f"arith.divf %x0, %x1 : {type}", dims)

    def text(self):
        o, t = self.options, self.type
        torch = o.get("spelling") == "torch"
        heads = "bhm" if torch else "bhgm"
        q = self.argument("q", o.get("q", "bhmd" if torch else "bhgmd"), t)
        k = self.argument("k", o.get("k", "bhtd"), t)
        v = self.argument("v", o.get("v", "bhte"), t)
        if torch:
            s = self.contract(self.joined(q, "bhmd", "B"), self.joined(k, "bhtd", "B"), "Bmt", "d", t)
            s = self.apart(s, "bhmt")
        else:
            s = self.contract(q, k, heads + "t", "d", t)
        s = self.converted(s, o.get("soft", t))
        scale = self.add(f"arith.constant 0.375 : {s[2]}")
        s = self.each([s], s[2], f"arith.mulf %x0, {scale} : {s[2]}")
        p = self.converted(self.softmax(self.masked(s)), t)
        if torch:
            r = self.contract(self.joined(p, "bhmt", "B"), self.joined(v, "bhte", "B"), "Bme", "t", t)
            r = self.apart(r, "bhme")
            r = self.generic("bmhe", "", [r], "bmhe", t, ([], "%x0"))
            out = "bmhe"
        else:
            out = o.get("out", "bhgme")
            r = self.contract(p, v, out, "t", t)
        body = "".join(f"  {line}\n" for line in self.lines)
        type = self.tensor(out, t)
        return f"func.func @{self.name}({', '.join(self.arguments)}) -> {type} {{\n{body}  return {r[0]} : {type}\n}}\n"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("type", choices=["f32", "f16", "bf16"])
    parser.add_argument("-o", required=True)
    options = parser.parse_args()
    with open(options.o, "w") as file:
        file.write('spmd.mesh @m = <["x"=2, "y"=2]>\n')
        for name, (type, sizes, more) in CASES.items():
            if type == options.type:
                file.write(Function(name, type, sizes, more).text())


if __name__ == "__main__":
    main()
