#!/usr/bin/env python3
"""Checks a training step in stages against the step that is not cut, in f32 and in f64.

  check_step.py OPTIONS --write-data data
  shard-run staged.mlir --pipeline=... --weights data.f32.safetensors --input data.f32.safetensors --output-dir staged
  shard-run whole.mlir --weights data.f32.safetensors --input data.f32.safetensors --output-dir single
  shard-run whole-f64.mlir --weights data.f64.safetensors --input data.f64.safetensors --output-dir double
  check_step.py OPTIONS --outputs staged single double

OPTIONS are those of training/gen_training_step.py. Both data files hold the same numbers;
moments start as zero, so that the new first moment is a tenth of the gradient. Loss,
moments and (SGD) weights are to differ from the f32 step by at most 1e-5 of the largest
magnitude of the tensor, weights that Adam updates from the f64 step by at most four times
what the f32 step does, and all of these are printed. So are moments without a single right
digit in f32: softmax does not see the biases of keys, whose gradients are rounding alone.
"""
import argparse
import json
import math
import os
import random
import struct
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "training"))
from gen_training_step import Model, parse  # noqa: E402


def arguments(args, model):
    """Name, shape and element of every argument."""
    for node in model.inputs:
        yield node.attrs["name"], node.shape, node.attrs["element"] or args.type
    if not args.sgd:
        yield "step", (), "i64"
    for prefix in [""] if args.sgd else ["", "adam.m.", "adam.v."]:
        for name, node in model.weights.items():
            yield prefix + name, node.shape, args.type


def write_data(path, args, model, element):
    rng = random.Random(11)
    codes = {"f32": ("F32", "f"), "f64": ("F64", "d"), "i64": ("I64", "q")}
    header, body = {}, b""
    for name, shape, kind in arguments(args, model):
        count = math.prod(shape)
        if kind == "i64":
            numbers = [2] if name == "step" else [rng.randrange(args.vocab) for _ in range(count)]
        elif name.startswith("adam."):
            numbers = [0.0] * count
        else:
            scale = shape[-1] ** -0.5 if len(shape) == 2 else 1
            numbers = [rng.uniform(-scale, scale) for _ in range(count)]
            numbers = struct.unpack(f"<{count}f", struct.pack(f"<{count}f", *numbers))
        code, letter = codes[element if kind != "i64" else kind]
        data = struct.pack(f"<{count}{letter}", *numbers)
        header[name] = {"dtype": code, "shape": list(shape),
                        "data_offsets": [len(body), len(body) + len(data)]}
        body += data
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + body)


def read(directory, name, count):
    """The numbers of NAME.npy, which is little-endian and not transposed."""
    with open(os.path.join(directory, name + ".npy"), "rb") as file:
        data = file.read()
    start = 10 + struct.unpack("<H", data[8:10])[0]
    header = data[10:start].decode()
    letter = next(l for key, l in (("<f4", "f"), ("<f8", "d"), ("<i8", "q")) if key in header)
    assert "'fortran_order': False" in header, header
    return struct.unpack(f"<{count}{letter}", data[start:])


def distance(a, b):
    worst = max(abs(x - y) for x, y in zip(a, b))
    return math.inf if any(map(math.isnan, [*a, *b])) else worst


def check(args, model, staged, single, double):
    shapes = {"loss": ()}
    shapes.update((name, shape) for name, shape, kind in arguments(args, model)
                  if name not in [node.attrs["name"] for node in model.inputs])
    bad = 0
    worst = {}
    for name, shape in shapes.items():
        ours, reference, exact = (read(d, "new." + name, math.prod(shape))
                                  for d in (staged, single, double))
        is_weight = name != "loss" and name != "step" and not name.startswith("adam.")
        own = distance(reference, exact)
        is_noise = name.startswith("adam.") and own >= max(map(abs, exact))
        if is_noise or is_weight and not args.sgd:
            kind = "rounding alone" if is_noise else "weight"
            # Which processor rounds how is in there; a second moment is made of squares.
            value, bound = distance(ours, exact), (16 if name.startswith("adam.v.") else 4) * own
            text = f"{value:.3g} from f64, the whole step in f32 {own:.3g}"
        else:
            kind = name if name in ("loss", "step") else "weight" if is_weight else name[:6]
            value, bound = distance(ours, reference), 1e-5 * max(map(abs, reference))
            text = f"{value:.3g} of at most {bound:.3g}"
        ratio = value / bound if bound else math.inf if value else 0
        if ratio > worst.get(kind, (-1, ""))[0]:
            worst[kind] = ratio, f"{kind}: nearest to its bound is {name}, {text}"
        if not value <= bound:
            bad += 1
            print(f"MISMATCH {name}: {text}")
    for _, line in worst.values():
        print(line)
    print(f"{len(shapes)} tensors, {bad} beyond their bounds")
    return bad


def main():
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("--write-data")
    parser.add_argument("--outputs", nargs=3)
    own, rest = parser.parse_known_args()
    args = parse(rest)
    model = Model(args)
    if own.write_data:
        for element in ("f32", "f64"):
            write_data(f"{own.write_data}.{element}.safetensors", args, model, element)
        return 0
    return 2 if check(args, model, *own.outputs) else 0


if __name__ == "__main__":
    sys.exit(main())
