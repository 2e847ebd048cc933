"""Contractions and what is done to their results: `gen_epilogues.py TYPE -o OUT.mlir`, or `all`.
The comment on each case says what is to become a part of the contraction."""

import argparse
import math

# name: type, type of the product, (rows, sum, columns), what follows
CASES = {
    "bias": ("f32", "f32", (24, 32, 48), ["bias"]),  # bias
    "bias_transposed": ("f16", "f16", (23, 40, 31), ["bias", "transposed"]),  # bias
    "relu": ("f32", "f32", (24, 32, 40), ["relu"]),  # relu
    "bias_relu": ("bf16", "bf16", (16, 32, 40), ["bias", "relu"]),  # bias, relu
    "bias_select": ("f32", "f32", (19, 32, 33), ["bias", "select"]),  # bias, relu
    "relu_of_numbers": ("f32", "f32", (19, 32, 33), ["bias", "select_number"]),  # bias: NaN becomes 0
    "bias_gelu": ("bf16", "bf16", (24, 32, 48), ["bias", "gelu"]),  # bias, gelu
    "gelu_f16": ("f16", "f16", (24, 32, 48), ["gelu"]),  # gelu
    "bias_gelu_f32": ("f32", "f32", (24, 32, 48), ["bias", "gelu"]),  # bias, gelu (tf32 only)
    "bias_gelu_power": ("f32", "f32", (24, 32, 41), ["bias", "gelu_power"]),  # the same
    "rounded": ("bf16", "f32", (24, 32, 48), ["bias_f32", "round"]),  # bias: of f32, and rounded apart
    "rounded_once": ("bf16", "f32", (24, 32, 48), ["bias_ext", "gelu", "round"]),  # bias, gelu
    "residual": ("f32", "f32", (24, 32, 48), ["bias", "matrix"]),  # bias, beta
    "residual_first": ("bf16", "bf16", (24, 32, 48), ["matrix", "bias", "relu"]),  # bias, beta, relu
    "reshaped": ("f16", "f16", (24, 32, 48), ["reshape", "bias", "matrix"]),  # bias, beta
    "reshaped_last": ("f32", "f32", (24, 32, 48), ["bias", "reshape", "relu"]),  # bias, relu
    "gated": ("f32", "f32", (24, 32, 48), ["bias", "relu", "gate"]),  # bias, relu
    "exact_gelu": ("f32", "f32", (24, 32, 48), ["bias", "erf"]),  # bias
    "another_gelu": ("f32", "f32", (24, 32, 48), ["bias", "other_gelu"]),  # bias
    "of_rows": ("f32", "f32", (24, 32, 48), ["row_bias"]),  # nothing
    "doubled": ("f32", "f32", (24, 32, 48), ["double"]),  # nothing
    "used_twice": ("f32", "f32", (24, 32, 48), ["keep", "bias"]),  # nothing
    "kept": ("f32", "f32", (24, 32, 48), ["bias", "keep", "relu"]),  # bias
    "by_columns": ("f32", "f32", (24, 32, 48), ["bias", "relu", "shard_n"]),  # bias, relu
    "by_rows": ("bf16", "bf16", (24, 32, 48), ["bias", "matrix", "shard_m"]),  # bias, beta
    "by_sum": ("f32", "f32", (24, 32, 48), ["bias", "relu", "shard_k"]),  # nothing: a sum between
}


class Function:
    def __init__(self, name, type, product, sizes, steps):
        self.name, self.type, self.product, self.steps = name, type, product, steps
        self.m, self.k, self.n = sizes
        self.lines, self.arguments, self.results, self.count = [], [], [], 0
        self.shape = (self.m, self.n)

    def add(self, text):
        self.count += 1
        self.lines.append(f"%{self.count} = {text}")
        return f"%{self.count}"

    def tensor(self, shape, type):
        return "tensor<" + "x".join([str(s) for s in shape] + [type]) + ">"

    def argument(self, shape, type, dims):
        axes = [step[-1] for step in self.steps if step.startswith("shard")]
        by = ", ".join('{"x"}' if d in axes else "{}" for d in dims)
        sharding = f" {{spmd.sharding = #spmd.sharding<@m, [{by}]>}}" if axes else ""
        self.arguments.append(f"%a{len(self.arguments)}: {self.tensor(shape, type)}{sharding}")
        return f"%a{len(self.arguments) - 1}"

    def op(self, name, operands, type=None):
        type = type or self.element
        t = self.tensor(self.shape, type)
        empty = self.add(f"tensor.empty() : {t}")
        types = [self.tensor(self.shape, self.element)] * len(operands)
        return self.add(f"linalg.{name} ins({', '.join(operands)} : {', '.join(types)}) outs({empty} : {t}) -> {t}")

    def constant(self, value):
        t = self.tensor(self.shape, self.element)
        return self.add(f"arith.constant dense<{value!r}> : {t}")

    def along(self, vector, type, dim):
        t = self.tensor(self.shape, type)
        empty = self.add(f"tensor.empty() : {t}")
        others = [d for d in range(len(self.shape)) if d != dim]
        self.lines.append(f"%b{self.count} = linalg.broadcast ins({vector} : {self.tensor([self.shape[dim]], type)}) outs({empty} : {t}) dimensions = {others}")
        return f"%b{self.count}"

    def convert(self, value, type):
        one, two = self.tensor(self.shape, self.element), self.tensor(self.shape, type)
        op = "extf" if type == "f32" else "truncf"
        return self.add(f"arith.{op} {value} : {one} to {two}")

    def gelu(self, x, cube, weight=0.044715):
        inner = self.op("add", [x, self.op("mul", [self.constant(weight), cube])])
        t = self.op("tanh", [self.op("mul", [inner, self.constant(math.sqrt(2 / math.pi))])])
        half = self.op("mul", [self.constant(0.5), self.op("add", [t, self.constant(1.0)])])
        return self.op("mul", [x, half])

    def step(self, x, step):
        e = self.element
        if step in ("bias", "bias_f32"):
            return self.op("add", [x, self.along(self.argument([self.n], e, "n"), e, len(self.shape) - 1)])
        if step == "bias_ext":
            bias = self.along(self.argument([self.n], self.type, "n"), self.type, 1)
            self.element = self.type
            bias = self.convert(bias, e)
            self.element = e
            return self.op("add", [bias, x])
        if step == "row_bias":
            return self.op("add", [x, self.along(self.argument([self.m], e, "m"), e, 0)])
        if step == "matrix":
            dims = "mn" if len(self.shape) == 2 else "mmn"
            return self.op("add", [self.argument(self.shape, e, dims), x])
        if step == "gate":
            return self.op("mul", [x, self.argument(self.shape, e, "mn")])
        if step == "double":
            return self.op("add", [x, x])
        if step == "relu":
            return self.op("max", [x, self.constant(0.0)])
        if step in ("select", "select_number"):
            t, b = self.tensor(self.shape, e), self.tensor(self.shape, "i1")
            zero = self.constant(0.0)
            is_more = self.add(f"arith.cmpf {'ugt' if step == 'select' else 'ogt'}, {x}, {zero} : {t}")
            return self.add(f"arith.select {is_more}, {x}, {zero} : {b}, {t}")
        if step == "gelu":
            return self.gelu(x, self.op("mul", [self.op("mul", [x, x]), x]))
        if step == "other_gelu":
            return self.gelu(x, self.op("mul", [self.op("mul", [x, x]), x]), weight=0.05)
        if step == "gelu_power":
            return self.gelu(x, self.op("powf", [x, self.constant(3.0)]))
        if step == "erf":
            erf = self.op("erf", [self.op("mul", [x, self.constant(math.sqrt(0.5))])])
            return self.op("mul", [self.op("mul", [x, self.constant(0.5)]), self.op("add", [erf, self.constant(1.0)])])
        if step == "round":
            x = self.convert(x, self.type)
            self.element = self.type
            return x
        if step == "reshape":
            before, self.shape = self.tensor(self.shape, e), (4, self.m // 4, self.n)
            return self.add(f"tensor.expand_shape {x} [[0, 1], [2]] output_shape {list(self.shape)} : {before} into {self.tensor(self.shape, e)}")
        if step == "keep":
            self.results.append((x, self.tensor(self.shape, e)))
        return x

    def text(self):
        t, p = self.type, self.product
        self.element = p
        is_transposed = "transposed" in self.steps
        a = self.argument([self.m, self.k], t, "mk")
        b = self.argument([self.n, self.k] if is_transposed else [self.k, self.n], t, "nk" if is_transposed else "kn")
        c = self.tensor(self.shape, p)
        zero = self.add(f"arith.constant 0.0 : {p}")
        empty = self.add(f"tensor.empty() : {c}")
        init = self.add(f"linalg.fill ins({zero} : {p}) outs({empty} : {c}) -> {c}")
        maps = f"affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> ({'n, k' if is_transposed else 'k, n'})>, affine_map<(m, n, k) -> (m, n)>"
        tb = self.tensor([self.n, self.k] if is_transposed else [self.k, self.n], t)
        x = self.add(f"linalg.contract indexing_maps = [{maps}] ins({a}, {b} : {self.tensor([self.m, self.k], t)}, {tb}) outs({init} : {c}) -> {c}")
        for step in self.steps:
            x = self.step(x, step)
        self.results.append((x, self.tensor(self.shape, self.element)))
        body = "\n".join("  " + line for line in self.lines)
        values, types = (", ".join(r[i] for r in self.results) for i in (0, 1))
        return f"func.func @{self.name}({', '.join(self.arguments)}) -> ({types}) {{\n{body}\n  return {values} : {types}\n}}\n"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("type", choices=["f32", "f16", "bf16", "all"])
    parser.add_argument("-o", required=True)
    args = parser.parse_args()
    with open(args.o, "w") as file:
        file.write('spmd.mesh @m = <["x"=4]>\n')
        for name, (type, product, sizes, steps) in CASES.items():
            if args.type in (type, "all"):
                file.write("\n" + Function(name, type, product, sizes, steps).text())


if __name__ == "__main__":
    main()
