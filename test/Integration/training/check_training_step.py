#!/usr/bin/env python3
"""Checks a training step against plain Python: no MLIR, no NumPy.

  check_training_step.py OPTIONS --write-data data.safetensors
  shard-run step.mlir --weights data.safetensors --input data.safetensors --output-dir out
  check_training_step.py OPTIONS --data data.safetensors --outputs out

OPTIONS are those of gen_training_step.py that made step.mlir (f64). The first
writes inputs, weights and moments. The second checks the derivatives against
central differences of the loss, each weight along two random directions, and
then every result of the run against the same step in Python.
"""
import argparse
import json
import math
import os
import random
import struct
import sys

from evaluate import evaluate, flat, unflat
from gen_training_step import Model, adam, parse

CODES = {"f64": ("F64", "d"), "i64": ("I64", "q")}


def arguments(args, model):
    """(name, shape, element) of every argument."""
    for node in model.inputs:
        yield (node.attrs["name"], node.shape,
               node.attrs["element"] or args.type)
    yield "step", (), "i64"
    for prefix in ("", "adam.m.", "adam.v."):
        for name, node in model.weights.items():
            yield prefix + name, node.shape, args.type


def write_data(path, args, model):
    rng = random.Random(7)
    header, body = {}, b""
    for name, shape, element in arguments(args, model):
        count = math.prod(shape)
        if name == "step":
            numbers = [4]
        elif element == "i64":
            numbers = [rng.randrange(args.vocab) for _ in range(count)]
        elif name.startswith("adam.v."):
            numbers = [rng.uniform(0.1, 1) for _ in range(count)]
        else:
            numbers = [rng.uniform(-1, 1) for _ in range(count)]
        code, letter = CODES[element]
        data = struct.pack(f"<{count}{letter}", *numbers)
        header[name] = {"dtype": code, "shape": list(shape),
                        "data_offsets": [len(body), len(body) + len(data)]}
        body += data
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + body)


def read_data(path):
    with open(path, "rb") as file:
        data = file.read()
    size, = struct.unpack("<Q", data[:8])
    values = {}
    for name, entry in json.loads(data[8:8 + size]).items():
        letter = dict(CODES.values())[entry["dtype"]]
        begin, end = (8 + size + o for o in entry["data_offsets"])
        numbers = struct.unpack(f"<{(end - begin) // 8}{letter}",
                                data[begin:end])
        values[name] = unflat(numbers, entry["shape"])
    return values


def read_npy(path):
    """The numbers of a C-ordered .npy of f64 or i64, version 1."""
    with open(path, "rb") as file:
        data = file.read()
    assert data[:6] == b"\x93NUMPY" and data[6] == 1, path
    size, = struct.unpack("<H", data[8:10])
    header = data[10:10 + size].decode()
    assert "'fortran_order': False" in header, header
    letter = "d" if "'<f8'" in header else "q"
    body = data[10 + size:]
    return struct.unpack(f"<{len(body) // 8}{letter}", body)


def check_derivatives(model, values, gradients):
    """Of the loss, each weight along two directions; the largest error."""
    rng, h, worst = random.Random(11), 1e-5, 0.0
    for (name, node), gradient in zip(model.weights.items(), gradients):
        for _ in range(2):
            direction = {i: rng.uniform(-1, 1) for i in values[name]}
            loss = []
            for sign in (1, -1):
                moved = {i: x + sign * h * direction[i]
                         for i, x in values[name].items()}
                loss.append(evaluate([model.loss],
                                     {**values, name: moved})[0][()])
            numeric = (loss[0] - loss[1]) / (2 * h)
            exact = sum(gradient[i] * direction[i] for i in direction)
            error = abs(numeric - exact) / (1e-3 + abs(exact))
            worst = max(worst, error)
            if error > 1e-5:
                sys.exit(f"error: derivative by {name} is {exact}, "
                         f"the loss changes by {numeric}")
    return worst


def check_outputs(folder, model, values, loss, gradients):
    step = values["step"][()] + 1
    expected = {"loss": [loss], "step": [step]}
    for (name, node), gradient in zip(model.weights.items(), gradients):
        updated = [adam(values[name][i], values["adam.m." + name][i],
                        values["adam.v." + name][i], gradient[i], step)
                   for i in gradient]
        for prefix, numbers in zip(("", "adam.m.", "adam.v."), zip(*updated)):
            expected[prefix + name] = flat(
                unflat(numbers, node.shape), node.shape)
    worst = 0.0
    for name, want in expected.items():
        have = read_npy(os.path.join(folder, f"new.{name}.npy"))
        assert len(have) == len(want), name
        error = max(abs(a - b) for a, b in zip(have, want))
        worst = max(worst, error)
        if not error <= 1e-12 * max(1, max(map(abs, want))):
            sys.exit(f"error: {name} differs by {error}")
    return len(expected), worst


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--write-data")
    parser.add_argument("--data")
    parser.add_argument("--outputs", action="append", default=[])
    own, rest = parser.parse_known_args()
    args = parse(rest)
    assert args.type == "f64", "expected --type f64"
    model = Model(args)
    if own.write_data:
        return write_data(own.write_data, args, model)
    values = read_data(own.data)
    loss, *gradients = evaluate(
        [model.loss] + list(model.gradients.values()), values)
    error = check_derivatives(model, values, gradients)
    print(f"{2 * len(gradients)} derivatives agree with differences, "
          f"max rel error {error:.1e}")
    for folder in own.outputs:
        count, error = check_outputs(folder, model, values, loss[()],
                                     gradients)
        print(f"{count} results agree, max abs error {error:.1e}")


if __name__ == "__main__":
    main()
