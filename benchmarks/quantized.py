#!/usr/bin/env python3
"""Products with quantized weights beside those with f32 ones, in turns: a row as in decoding, and 512 rows as in a prompt.

    pip install './python[transformers]'; python3 benchmarks/quantized.py [METHOD...] [--sizes 2048x8192,8192x2048]

Rows: medians of the processor time of a step, and the median of the ratios to the step with full weights that came next, as other
work comes and goes."""

import argparse
import tempfile
import time
from pathlib import Path

import numpy as np
import torch

import shardkit
from shardkit.huggingface import gguf, quantized
from shardkit.huggingface.conversion import make_symbol
from shardkit.huggingface.layouts import Quantization, Shards, Sizes

METHODS = {
    "gptq": Quantization("gptq", 128, 1), "awq": Quantization("awq", 128), "fp8": Quantization("blocks", block=(128, 128)),
    "fp8_channel": Quantization("blocks", block=(1, 0), scale="weight_scale"), "fp8_tensor": Quantization("blocks", scale="weight_scale", rank=1),
    "int8": Quantization("blocks", block=(1, 0), scale="SCB", rank=1, factor=1 / 127, dtype=torch.int8), "nf4": Quantization("nf4", 64),
    "mxfp4": Quantization("mxfp4", 32, payload="weight_packed", scale="weight_scale"),
    "mxfp8": Quantization("blocks", block=(1, 32), scale="weight_scale", is_power=True), "q8_0": 8, "q4_k": 12, "q6_k": 14,
}  # fmt: skip


def make(scheme, size, width, dtype):
    with torch.device("meta"):
        linear = torch.nn.Linear(size, width, bias=False, dtype=dtype)
    if scheme is None:
        return linear
    if isinstance(scheme, int):
        return gguf.BlocksLinear(Sizes(width, size), scheme, None, dtype)
    layer = quantized.make_layer(scheme, linear, "layer")
    layer.refine("layer", {f"layer.{n}": make_symbol(n, v.shape, v.dtype).value for n, v in layer.named_parameters()}, Shards(1, 1))
    return layer


def compile(layer, rows, size, dtype, threads):
    """A program with random weights, and rows for it."""
    program = shardkit.import_torch(layer, torch.zeros(rows, size, dtype=dtype), locations=False).compile(library_threads=threads)
    rng = np.random.default_rng(1)
    with tempfile.TemporaryDirectory() as folder:
        stored = {n: rng.integers(1, 120, v.shape).astype(np.int64) for n, v in layer.named_parameters()}
        file = Path(folder, "weights.safetensors")
        shardkit.safetensors.write(file, {n: v.astype(shardkit.safetensors.numpy_dtype(str(layer.get_parameter(n).dtype).removeprefix("torch."))) for n, v in stored.items()})
        program.load(file)
    return program, torch.randn(rows, size).to(dtype)


def time_step(program, x):
    start = time.process_time()
    program(x)
    return time.process_time() - start


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("methods", nargs="*", metavar="METHOD", help=f"of {', '.join(METHODS)}; default: all")
    parser.add_argument("--sizes", default="2048x8192,8192x2048", help="inputs x outputs, with commas")
    parser.add_argument("--rows", default="1,512")
    parser.add_argument("--dtype", choices=("float32", "bfloat16"), default="float32", help="of activations, and of the weights to compare with")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=30)
    options = parser.parse_args()
    dtype = getattr(torch, options.dtype)
    for size, width in (map(int, text.split("x")) for text in options.sizes.split(",")):
        for rows in map(int, options.rows.split(",")):
            full = compile(make(None, size, width, dtype), rows, size, dtype, options.threads)
            for method in options.methods or METHODS:
                own = compile(make(METHODS[method], size, width, dtype), rows, size, dtype, options.threads)
                times = np.array([(time_step(*own), time_step(*full)) for _ in range(options.rounds)])[2:]
                ratio = np.median(times[:, 0] / times[:, 1])
                print(f"{size}x{width} {rows:4} rows  {method:11} {1e3 * np.median(times[:, 0]):8.2f} ms, {options.dtype} {1e3 * np.median(times[:, 1]):8.2f} ms, ratio {ratio:.2f}, least {times[:, 0].min() / times[:, 1].min():.2f}", flush=True)


if __name__ == "__main__":
    main()
