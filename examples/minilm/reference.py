#!/usr/bin/env python3
"""The encoder again, written from the model's description in plain NumPy.

    reference.py MODEL.safetensors [--inputs DIR] [--output reference.npy]

It shares no code with trace.py, computes everything in float64 (stored weights
are float32) and rounds the result to float32 at the end. NumPy only.
"""

import argparse
import json
import math
import os
import sys

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
HEADS = 12

erf = np.vectorize(math.erf, otypes=[np.float64])


def read_safetensors(path):
    """All tensors of the file, by name, in the types they are stored in."""
    types = {"F32": "<f4", "F64": "<f8", "F16": "<f2", "I64": "<i8", "I32": "<i4"}
    with open(path, "rb") as file:
        size = int.from_bytes(file.read(8), "little")
        header = json.loads(file.read(size))
        data = file.read()
    header.pop("__metadata__", None)
    tensors = {}
    for name, entry in header.items():
        begin, end = entry["data_offsets"]
        values = np.frombuffer(data[begin:end], types[entry["dtype"]])
        tensors[name] = values.reshape(entry["shape"])
    return tensors


class Encoder:
    def __init__(self, tensors):
        self.tensors = tensors
        self.layers = sum(n.endswith("attention.self.query.weight") for n in tensors)

    def get(self, name):
        return self.tensors[name].astype(np.float64)

    def linear(self, x, name):
        weight = self.get(name + ".weight")  # [out, in]
        return np.einsum("bti,oi->bto", x, weight, optimize=True) + self.get(name + ".bias")

    def layer_norm(self, x, name):
        x = x - x.mean(axis=-1, keepdims=True)
        x = x / np.sqrt((x**2).mean(axis=-1, keepdims=True) + 1e-12)
        return x * self.get(name + ".weight") + self.get(name + ".bias")

    def attention(self, x, mask, name):
        def heads(part):
            y = self.linear(x, f"{name}.self.{part}")
            return y.reshape(*y.shape[:2], HEADS, -1)

        q, k, v = heads("query"), heads("key"), heads("value")
        scores = np.einsum("bqhd,bkhd->bhqk", q, k, optimize=True) / math.sqrt(q.shape[-1])
        # Weight zero for masked keys, which is what a large negative bias gives.
        scores = np.where(mask[:, None, None, :] != 0, scores, -np.inf)
        scores = np.exp(scores - scores.max(axis=-1, keepdims=True))
        scores /= scores.sum(axis=-1, keepdims=True)
        context = np.einsum("bhqk,bkhd->bqhd", scores, v, optimize=True).reshape(x.shape)
        return self.linear(context, name + ".output.dense")

    def __call__(self, ids, mask):
        x = self.get("embeddings.word_embeddings.weight")[ids]
        x += self.get("embeddings.position_embeddings.weight")[np.arange(ids.shape[1])]
        x += self.get("embeddings.token_type_embeddings.weight")[np.zeros_like(ids)]
        x = self.layer_norm(x, "embeddings.LayerNorm")
        for i in range(self.layers):
            name = f"encoder.layer.{i}"
            y = self.attention(x, mask, name + ".attention")
            x = self.layer_norm(x + y, name + ".attention.output.LayerNorm")
            y = self.linear(x, name + ".intermediate.dense")
            y = y * (1 + erf(y / math.sqrt(2))) / 2
            y = self.linear(y, name + ".output.dense")
            x = self.layer_norm(x + y, name + ".output.LayerNorm")
        m = mask.astype(np.float64)[:, :, None]
        mean = (x * m).sum(axis=1) / m.sum(axis=1)
        return mean / np.linalg.norm(mean, axis=-1, keepdims=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("weights", metavar="MODEL.safetensors")
    parser.add_argument("--inputs", default=HERE, help="where the two .npy inputs are")
    parser.add_argument("--output", default=os.path.join(HERE, "reference.npy"))
    options = parser.parse_args()
    ids = np.load(os.path.join(options.inputs, "input_ids.npy"))
    mask = np.load(os.path.join(options.inputs, "attention_mask.npy"))
    result = Encoder(read_safetensors(options.weights))(ids, mask)
    np.save(options.output, result.astype(np.float32))
    return 0


if __name__ == "__main__":
    sys.exit(main())
