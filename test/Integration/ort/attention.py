"""The llama-2 attention of ONNX Runtime's reshape tests. `generate OUT.mlir` writes it on
upstream ops, every step pinned to its spec; `check IR` reads the local program with names
as prefixes: the local shape of every step, and the one collective."""

import os
import re
import sys

import ort_cases as ort

CASE = ort.load(os.path.join(os.path.dirname(__file__), "Inputs", "ort_llama2_attention.json"))
STEPS = {step["step"]: step for step in CASE["steps"]}


class Program:
    def __init__(self):
        self.lines = []

    def pin(self, step, part, lines, shape):
        """Names the result of a step and pins it."""
        name = f"step{step}{part}"
        lines[-1] += f' loc("{name}")'
        wanted = STEPS[step]
        self.lines += lines
        self.lines.append(
            f'%{name}_pinned = spmd.with_sharding_constraint %{name} ort <"{wanted["out_spec"]}", '
            f'shape = {wanted["out_mesh_shape"]}, elements = {wanted["out_mesh_elements"]}> : '
            f'{ort.tensor(shape, "f32")}')
        return f"%{name}_pinned"

    def reshape(self, step, part, value, source, target):
        return self.pin(step, part, ort.reshape(f"step{step}{part}", value, source, target, "f32"), target)

    def transpose(self, step, part, value, source, perm):
        target = [source[p] for p in perm]
        a, b = ort.tensor(source, "f32"), ort.tensor(target, "f32")
        name = f"step{step}{part}"
        return self.pin(step, part, [
            f"%{name}_init = tensor.empty() : {b}",
            f"%{name} = linalg.transpose ins({value} : {a}) outs(%{name}_init : {b}) permutation = {perm}"], target)

    def product(self, step, part, op, a, a_shape, b, b_shape, target, transposed=False):
        name = f"step{step}{part}"
        t = ort.tensor(target, "f32")
        maps = ""
        if transposed:  # the second operand, read along its last dim
            dims = "affine_map<(b, m, n, k) -> "
            maps = f" indexing_maps = [{dims}(b, m, k)>, {dims}(b, n, k)>, {dims}(b, m, n)>]"
        return self.pin(step, part, [
            f"%{name}_zero = arith.constant 0.0 : f32",
            f"%{name}_empty = tensor.empty() : {t}",
            f"%{name}_init = linalg.fill ins(%{name}_zero : f32) outs(%{name}_empty : {t}) -> {t}",
            f"%{name} = {op}{maps} ins({a}, {b} : {ort.tensor(a_shape, 'f32')}, {ort.tensor(b_shape, 'f32')}) "
            f"outs(%{name}_init : {t}) -> {t}"], target)


def generate(path):
    p = Program()
    flat, hidden = [21, 4096], [4096, 4096]
    x = p.reshape(1, "", "%x", [3, 7, 4096], flat)
    heads = {}
    for part in "qkv":
        h = p.product(2, part, "linalg.matmul", x, flat, f"%w{part}", hidden, flat)
        h = p.reshape(3, part, h, flat, [3, 7, 4096])
        h = p.reshape(4, part, h, [3, 7, 4096], [3, 7, 64, 64])
        h = p.transpose(5, part, h, [3, 7, 64, 64], [0, 2, 1, 3])
        heads[part] = p.reshape(6, part, h, [3, 64, 7, 64], [192, 7, 64])
    s = p.product(7, "", "linalg.batch_matmul", heads["q"], [192, 7, 64], heads["k"], [192, 7, 64],
                  [192, 7, 7], transposed=True)
    s = p.reshape(8, "", s, [192, 7, 7], [3, 64, 7, 7])
    t = ort.tensor([3, 64, 7, 7], "f32")
    s = p.pin(9, "", [f"%step9_init = tensor.empty() : {t}",
                      f"%step9 = linalg.softmax dimension(3) ins({s} : {t}) outs(%step9_init : {t}) -> {t}"],
              [3, 64, 7, 7])
    s = p.reshape(10, "", s, [3, 64, 7, 7], [192, 7, 7])
    o = p.product(11, "", "linalg.batch_matmul", s, [192, 7, 7], heads["v"], [192, 7, 64], [192, 7, 64])
    o = p.reshape(12, "", o, [192, 7, 64], [3, 64, 7, 64])
    o = p.transpose(13, "", o, [3, 64, 7, 64], [0, 2, 1, 3])
    o = p.reshape(14, "", o, [3, 7, 64, 64], [3, 7, 4096])
    o = p.reshape(15, "", o, [3, 7, 4096], flat)
    o = p.product(16, "", "linalg.matmul", o, flat, "%wo", hidden, flat)
    o = p.reshape(17, "", o, flat, [3, 7, 4096])
    spec = lambda text, more="": "{spmd.sharding = " + ort.ort(text, [2], [0, 1]) + more + "}"
    weight = lambda name, text: f"%{name}: {w} " + spec(text, f', spmd.weight = "{name}"')
    w = ort.tensor(hidden, "f32")
    x = ort.tensor([3, 7, 4096], "f32")
    with open(path, "w") as f:
        f.write(f"func.func @attention(%x: {x} {spec('RRR')}, {weight('wq', 'RS[0]')}, {weight('wk', 'RS[0]')},\n"
                f"    {weight('wv', 'RS[0]')}, {weight('wo', 'S[0]R')}) -> ({x} {spec('RRR')}) {{\n")
        f.write("".join(f"  {line}\n" for line in p.lines))
        f.write(f"  return {o} : {x}\n}}\n")


def check(path):
    with open(path) as f:
        text = f.read()
    collectives = re.findall(r"= spmd\.(\w+) %", text)
    if collectives != ["all_reduce"]:
        sys.exit(f"collectives {collectives}, expected one all_reduce")
    reduced = re.search(r"spmd\.all_reduce .* : (\S+)", text).group(1)
    if reduced != ort.tensor([21, 4096], "f32"):
        sys.exit(f"all_reduce of {reduced}, expected 21x4096 f32")
    for number, step in STEPS.items():
        parts = "qkv" if 2 <= number <= 6 else [""]
        for part in parts:
            line = re.search(rf"^ *%step{number}{part} = .*$", text, re.M)
            if not line:
                sys.exit(f"step {number}{part} is not in the local program")
            have = re.findall(r"tensor<[^>]*>", line.group(0))[-1]
            if have != ort.tensor(step["local_out_shape"], "f32"):
                sys.exit(f"step {number}{part} is {have}, expected {step['local_out_shape']}")
    print(f"{len(STEPS)} steps, one all_reduce")


if __name__ == "__main__":
    {"generate": generate, "check": check}[sys.argv[1]](sys.argv[2])
