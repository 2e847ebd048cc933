#!/usr/bin/env python3
"""Decoding with a cache that grows by one position: one program for all lengths beside JAX's, whose cache is padded to the bound.

    benchmarks/decode_sizes.py [--steps 512] [--width 256] [--heads 8] [--batch 2]

One layer of a transformer on a mesh of 2 x 2, the cache sharded over heads or over positions, feed-forward and projections as in Megatron.
Checks that all tokens are JAX's, and prints the milliseconds per token of both, in one run. JAX computes on one device.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "python"))
os.environ.setdefault("SHARDKIT_HOME", str(ROOT / "build"))

import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402
import shardkit  # noqa: E402
from jax.sharding import AbstractMesh, NamedSharding, PartitionSpec as P  # noqa: E402

WORDS = 1000


def norm(x: Any) -> Any:
    return x * jax.lax.rsqrt((x * x).mean(-1, keepdims=True) + 1e-5)


def finish(w: Any, x: Any, keys: Any, values: Any, q: Any, mask: Any = None) -> Any:
    scores = jnp.einsum("bohd,bshd->bhs", q, keys) / np.sqrt(q.shape[-1])
    scores = scores if mask is None else jnp.where(mask, scores, -jnp.inf)
    x = x + jnp.einsum("bhs,bshd->bhd", jax.nn.softmax(scores, -1), values).reshape(x.shape) @ w["o"]
    h = norm(x)
    x = x + (jax.nn.silu(h @ w["up"]) * (h @ w["gate"])) @ w["down"]
    return jnp.argmax(norm(x) @ w["words"].T, -1).astype(jnp.int32)


def project(w: Any, token: Any, heads: int) -> tuple[Any, Any, Any, Any]:
    x = w["words"][token]
    q, k, v = ((norm(x) @ w[n]).reshape(token.shape[0], 1, heads, -1) for n in "qkv")
    return x, q, k, v


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=512)
    parser.add_argument("--width", type=int, default=256)
    parser.add_argument("--heads", type=int, default=8)
    parser.add_argument("--batch", type=int, default=2)
    arguments = parser.parse_args()
    width, heads, batch, steps = arguments.width, arguments.heads, arguments.batch, arguments.steps
    shapes = {"words": (WORDS, width), **dict.fromkeys("qkvo", (width, width)), "up": (width, 4 * width), "gate": (width, 4 * width), "down": (4 * width, width)}
    rng = np.random.default_rng(0)
    weights = {n: jnp.asarray(rng.standard_normal(s) * 0.7 / np.sqrt(s[0]), jnp.float32) for n, s in shapes.items()}
    weights["words"] = jnp.asarray(rng.standard_normal(shapes["words"]), jnp.float32)
    cache_shape = (batch, heads, width // heads)

    def grow(w: Any, token: Any, keys: Any, values: Any) -> Any:
        x, q, k, v = project(w, token, heads)
        keys, values = jnp.concatenate([keys, k], 1), jnp.concatenate([values, v], 1)
        return finish(w, x, keys, values, q), keys, values

    def pad(w: Any, token: Any, keys: Any, values: Any, at: Any) -> Any:
        x, q, k, v = project(w, token, heads)
        keys, values = (jax.lax.dynamic_update_slice(c, n, (0, at, 0, 0)) for c, n in ((keys, k), (values, v)))
        return finish(w, x, keys, values, q, jnp.arange(keys.shape[1]) <= at), keys, values

    # A first token is in the cache: sizes of JAX are at least 1.
    first = np.arange(batch, dtype=np.int32)
    _, _, *cached = project(weights, np.arange(5, 5 + batch), heads)
    step = jax.jit(pad, donate_argnums=(2, 3))
    padded = [jnp.zeros((batch, steps + 1, *cache_shape[1:]), jnp.float32).at[:, :1].set(c) for c in cached]
    tokens, state = [], (first, *padded)
    step(weights, *(jnp.array(s) for s in state), 1)
    start = time.perf_counter()
    for i in range(1, steps + 1):
        state = step(weights, *state, i)
        tokens.append(np.asarray(state[0]))
    theirs = (time.perf_counter() - start) / steps

    mesh = AbstractMesh((2, 2), ("data", "model"))
    specs = {**dict.fromkeys(("q", "k", "v", "up", "gate"), P(None, "model")), **dict.fromkeys(("o", "down"), P("model", None))}
    (length,) = jax.export.symbolic_shape("length", constraints=[f"length <= {steps}"])
    print("| cache sharded over | ms per token | JAX, padded | tokens |\n| --- | ---: | ---: | --- |")
    for name, spec in (("heads", P(None, None, "model")), ("positions", P(None, "data"))):
        arrays = {n: jax.ShapeDtypeStruct(s, jnp.float32, sharding=NamedSharding(mesh, specs.get(n, P()))) for n, s in shapes.items()}
        cache = jax.ShapeDtypeStruct((batch, length, *cache_shape[1:]), jnp.float32, sharding=NamedSharding(mesh, spec))
        model = shardkit.import_jax(grow, arrays, jax.ShapeDtypeStruct((batch,), jnp.int32), cache, cache)
        with model.compile() as program:
            ours, same = (first, *(np.asarray(c) for c in cached)), 0
            program(weights, *ours)
            start = time.perf_counter()
            for i in range(steps):
                ours = program(weights, *ours, resident=name == "heads")  # the other cache is gathered by each step
                same += int(np.array_equal(np.asarray(ours[0]), tokens[i]))
            seconds = (time.perf_counter() - start) / steps
        print(f"| {name} | {seconds * 1000:.2f} | {theirs * 1000:.2f} | {same} of {steps} equal |", flush=True)


if __name__ == "__main__":
    main()
