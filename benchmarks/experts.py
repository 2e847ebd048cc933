#!/usr/bin/env python3
"""A layer of experts of JAX: the products that devices compute, and the time of a step, by those of all experts for all tokens.

    benchmarks/experts.py [--rounds 5] [--tokens 512] [--width 256] [--hidden 512]

8 experts of which each token uses 2, and 64 of which it uses 6; as one-hot vectors and einsums, and forward alone for
`lax.ragged_dot` on sorted tokens; forward, and with all gradients; on one device, and on 8 of which 4 share the experts and 2 the
columns of each. "products" is what the devices count, all together, by tokens x used x sizes. "bytes" is what a device receives of
collectives that take a mask of rows, by what these would move without, of all devices. "step" is the median of a step by that of
`--group-loops=false`, in turns. "jax" is that of `jax.jit` on one device, by the same.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "python"))

import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402
import shardkit  # noqa: E402


def route(router: Any, x: Any, used: int) -> tuple[Any, Any]:
    scores, chosen = jax.lax.top_k(jax.nn.softmax(x @ router), used)
    return scores / scores.sum(-1, keepdims=True), chosen


def one_hot(router: Any, up: Any, down: Any, x: Any, used: int) -> Any:
    scores, chosen = route(router, x, used)
    share = (jax.nn.one_hot(chosen, up.shape[0]) * scores[..., None]).sum(-2)
    h = jax.nn.gelu(jnp.einsum("td,edh->eth", x, up))
    return jnp.einsum("etd,te->td", jnp.einsum("eth,ehd->etd", h, down), share)


def ragged(router: Any, up: Any, down: Any, x: Any, used: int) -> Any:
    scores, chosen = route(router, x, used)
    experts = chosen.reshape(-1)
    order = jnp.argsort(experts)
    sizes = jnp.bincount(experts, length=up.shape[0])
    h = jax.nn.gelu(jax.lax.ragged_dot(x[order // used], up, sizes))
    made = jax.lax.ragged_dot(h, down, sizes)
    return (made[jnp.argsort(order)].reshape(x.shape[0], used, -1) * scores[..., None]).sum(1)


def get_products(tokens: int, width: int, hidden: int, used: int, experts: int, gradients: bool) -> int:
    """The operations of the products of a step, each of which is one multiplication and one addition."""
    layer = 2 * tokens * used * 2 * width * hidden
    router = 2 * tokens * width * experts
    return (layer + router) * (3 if gradients else 1)


def get_whole(collective: dict[str, Any], devices: int) -> float:
    """The bytes that a device receives of a collective that moves all rows, for the kinds here."""
    peers = devices - 1
    bytes_ = collective["bytes"]
    return {"all_gather": bytes_ * peers / devices, "reduce_scatter": bytes_ * peers / devices, "all_reduce": 2 * bytes_ * peers / devices}[collective["kind"]]


def run(bundle: Path, report: Path, mesh: dict[str, int]) -> tuple[float, float, float]:
    """Operations of the products of one step on all devices, the received rows by all rows, and the median of the seconds of 7."""
    command = [str(ROOT / "build/bin/shard-run"), str(bundle), "--random-inputs=1", "--repeat=7", f"--report={report}"]
    subprocess.run(command, check=True, capture_output=True)
    measured = json.loads(report.read_text())
    function = measured["run"]["functions"][0]
    rows = whole = 0.0
    for collective in measured["collectives"]:
        received = collective["measured"].get("received_bytes_per_rank", [])
        rows += sum(received) / 7
        whole += len(received) * get_whole(collective, int(np.prod([mesh[a] for a in collective["axes"]]))) if received else 0
    return sum(function["contractions"]["flops_per_rank"]) / 7, rows / whole if whole else 1.0, function["steps"]["median_seconds"]


def measure(name: str, function: Any, shape: tuple[int, int, int, int, int], mesh: dict[str, int], gradients: bool, rounds: int) -> None:
    tokens, width, hidden, experts, used = shape
    rng = np.random.default_rng(0)
    sizes = ((width, experts), (experts, width, hidden), (experts, hidden, width), (tokens, width))
    arrays = [rng.standard_normal(s, dtype=np.float32) / np.sqrt(s[-2]) for s in sizes]
    layer = lambda router, up, down, x: function(router, up, down, x, used)  # noqa: E731
    if gradients:
        step = jax.value_and_grad(lambda *args: (layer(*args) ** 2).mean(), argnums=(0, 1, 2, 3))
    else:
        step = layer
    axes = jax.sharding.AbstractMesh(tuple(mesh.values()), tuple(mesh))
    parts = [(), ("expert", None, "column"), ("expert", "column", None), ("expert", None)]
    named = [jax.sharding.NamedSharding(axes, jax.sharding.PartitionSpec(*p)) for p in parts]
    model = shardkit.import_jax(step, *(jax.ShapeDtypeStruct(a.shape, a.dtype, sharding=s) for a, s in zip(arrays, named)))
    with tempfile.TemporaryDirectory() as folder:
        text = Path(folder, "model.mlir")
        text.write_text(model.text)
        bundles = {}
        for kind in ("true", "false"):
            bundles[kind] = Path(folder, kind)
            subprocess.run([str(ROOT / "build/bin/shard-compile"), str(text), f"--group-loops={kind}", "-o", str(bundles[kind])], check=True)
        seconds: dict[str, list[float]] = {"true": [], "false": [], "jax": []}
        jitted = jax.jit(step)
        jax.block_until_ready(jitted(*arrays))
        products = moved = 0.0
        for _ in range(rounds):
            for kind, bundle in bundles.items():
                count, rows, median = run(bundle, Path(folder, "report.json"), mesh)
                seconds[kind].append(median)
                if kind == "true":
                    products, moved = count, rows
            times = []
            for _ in range(7):
                start = time.perf_counter()
                jax.block_until_ready(jitted(*arrays))
                times.append(time.perf_counter() - start)
            seconds["jax"].append(statistics.median(times))
    dense = statistics.median(seconds["false"])
    ideal = get_products(tokens, width, hidden, used, experts, gradients)
    print(f"| {used} of {experts} | {name} | {'with gradients' if gradients else 'forward'} | {int(np.prod(list(mesh.values())))} "
          f"| {products / ideal:.3f} | {moved:.2f} | {statistics.median(seconds['true']) / dense:.2f} | {statistics.median(seconds['jax']) / dense:.2f} |", flush=True)  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--tokens", type=int, default=512)
    parser.add_argument("--width", type=int, default=256)
    parser.add_argument("--hidden", type=int, default=512)
    arguments = parser.parse_args()
    os.environ.setdefault("SHARDKIT_HOME", str(ROOT / "build"))
    print("| used | written as | | devices | products | bytes | step | jax |\n| --- | --- | --- | ---: | ---: | ---: | ---: | ---: |")
    for experts, used in ((8, 2), (64, 6)):
        for mesh in ({"expert": 1, "column": 1}, {"expert": 4, "column": 2}):
            for name, function, gradients in (("one-hot", one_hot, False), ("ragged_dot", ragged, False), ("one-hot", one_hot, True), ("ragged_dot", ragged, True)):
                shape = (arguments.tokens, arguments.width, arguments.hidden, experts, used)
                measure(name, function, shape, mesh, gradients, arguments.rounds)


if __name__ == "__main__":
    main()
