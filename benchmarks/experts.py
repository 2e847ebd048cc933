#!/usr/bin/env python3
"""A layer of experts of JAX: the products that devices compute, and the time of a step, by those of all experts for all tokens.

    benchmarks/experts.py [--rounds 5] [--tokens 512] [--width 256] [--hidden 512] [--shard-map]

8 experts of which each token uses 2, and 64 of which it uses 6; as one-hot vectors and einsums, and forward alone for
`lax.ragged_dot` on sorted tokens; forward, and with all gradients; on one device, and on 8 of which 4 share the experts and 2 the
columns of each. "products" is what the devices count, all together, by tokens x used x sizes. "bytes" is what a device receives of
collectives that take a mask of rows, by what these would move without, of all devices. "step" is the median of a step by that of
`--group-loops=false`, in turns. "jax" is that of `jax.jit` on one device, by the same.

With --shard-map: `lax.ragged_dot` on 4 x 2 devices, forward, by one program for all numbers of tokens, next to the same layer that is
written by hand with `jax.shard_map` (tokens are gathered, sums of experts scattered; on virtual devices of the host). Megabytes are what
all devices receive in a step, in all collectives: for ours counted as it runs, for XLA's read from its HLO. "routed" is what tokens
are that another device has and an expert of this one uses, once per device that uses them, there and back.
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

if "--shard-map" in sys.argv:
    os.environ.setdefault("XLA_FLAGS", "--xla_force_host_platform_device_count=8")

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
    return {"all_slice": 0, "all_gather": bytes_ * peers / devices, "reduce_scatter": bytes_ * peers / devices, "all_reduce": 2 * bytes_ * peers / devices}[collective["kind"]]


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


def write_by_hand(mesh: Any, used: int, experts: int) -> Any:
    """The layer of `ragged` as each device computes it, on its experts and columns."""
    own = experts // mesh.shape["expert"]

    def local(router: Any, up: Any, down: Any, x: Any) -> Any:
        tokens = jax.lax.all_gather(x, "expert", tiled=True)
        scores, chosen = route(router, tokens, used)
        # The tokens of its own experts come first; rows after them count for none.
        number = (chosen.reshape(-1) - jax.lax.axis_index("expert") * own) % experts
        order = jnp.argsort(number)
        sizes = jnp.bincount(number, length=experts)[:own]
        h = jax.nn.gelu(jax.lax.ragged_dot(tokens[order // used], up, sizes))
        made = jax.lax.ragged_dot(h, down, sizes)
        sums = (made[jnp.argsort(order)].reshape(tokens.shape[0], used, -1) * scores[..., None]).sum(1)
        return jax.lax.psum(jax.lax.psum_scatter(sums, "expert", tiled=True), "column")

    spec = jax.sharding.PartitionSpec
    parts = (spec(), spec("expert", None, "column"), spec("expert", "column", None), spec("expert"))
    return jax.jit(jax.shard_map(local, mesh=mesh, in_specs=parts, out_specs=spec("expert"), check_vma=False))


def count_routed(router: Any, x: Any, used: int, experts: int, mesh: Any) -> float:
    """The bytes of tokens that devices receive, and of what is made of them."""
    _, chosen = route(router, x, used)
    groups = mesh.shape["expert"]
    user = np.asarray(chosen) // (experts // groups)
    owner = np.arange(x.shape[0]) // (x.shape[0] // groups)
    pairs = sum(len(set(u) - {o}) for u, o in zip(user.tolist(), owner.tolist()))
    return 2.0 * pairs * x.shape[1] * 4 * mesh.shape["column"]


def compare(shape: tuple[int, int, int, int, int], rounds: int) -> None:
    """Ours next to the layer by hand: bytes and time of a step."""
    sys.path.insert(0, str(ROOT / "benchmarks" / "frontends"))
    sys.path.insert(0, str(ROOT / "examples" / "jax"))
    import bytes as counts

    tokens, width, hidden, experts, used = shape
    rng = np.random.default_rng(0)
    sizes = ((width, experts), (experts, width, hidden), (experts, hidden, width), (tokens, width))
    arrays = [rng.standard_normal(s, dtype=np.float32) / np.sqrt(s[-2]) for s in sizes]
    mesh = jax.make_mesh((4, 2), ("expert", "column"), axis_types=(jax.sharding.AxisType.Auto,) * 2)
    parts = [(), ("expert", None, "column"), ("expert", "column", None), ("expert", None)]
    named = [jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec(*p)) for p in parts]
    step = write_by_hand(mesh, used, experts)
    placed = [jax.device_put(a, s) for a, s in zip(arrays, named)]
    by_hand = counts.read_hlo(step.lower(*placed).compile().as_text(), 8)[0] * 8
    (unknown,) = jax.export.symbolic_shape("t", constraints=[f"t <= {tokens}"])
    layer = lambda router, up, down, x: ragged(router, up, down, x, used)  # noqa: E731
    shapes = [*(a.shape for a in arrays[:3]), (unknown, width)]
    model = shardkit.import_jax(layer, *(jax.ShapeDtypeStruct(s, np.float32, sharding=n) for s, n in zip(shapes, named)))
    with model.compile() as program:
        np.testing.assert_allclose(np.asarray(program(*arrays)), np.asarray(step(*placed)), atol=2e-5)
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "model.mlir").write_text(model.text)
        subprocess.run([str(ROOT / "build/bin/shard-compile"), f"{folder}/model.mlir", "-o", f"{folder}/bundle"], check=True)
        seconds: dict[str, list[float]] = {"ours": [], "hand": []}
        for _ in range(rounds):
            command = [str(ROOT / "build/bin/shard-run"), f"{folder}/bundle", "--random-inputs=1", f"--size=t={tokens}", "--repeat=7", f"--report={folder}/report"]
            subprocess.run(command, check=True, capture_output=True)
            measured = json.loads(Path(folder, "report").read_text())
            seconds["ours"].append(measured["run"]["functions"][0]["steps"]["median_seconds"])
            for _ in range(7):
                start = time.perf_counter()
                jax.block_until_ready(step(*placed))
                seconds["hand"].append(time.perf_counter() - start)
    moved = 0.0
    for collective in measured["collectives"]:
        received = collective["measured"].get("received_bytes_per_rank")
        members = int(np.prod([mesh.shape[a] for a in collective["axes"]]))
        moved += sum(received) / 7 if received else 8 * get_whole(collective, members)
    routed = count_routed(arrays[0], arrays[3], used, experts, mesh)
    times = [statistics.median(seconds[k]) * 1e3 for k in ("ours", "hand")]
    print(f"| {used} of {experts} | {routed / 1e6:.2f} | {moved / 1e6:.2f} | {by_hand / 1e6:.2f} | {times[0]:.1f} | {times[1]:.1f} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--tokens", type=int, default=512)
    parser.add_argument("--width", type=int, default=256)
    parser.add_argument("--hidden", type=int, default=512)
    parser.add_argument("--shard-map", action="store_true")
    arguments = parser.parse_args()
    os.environ.setdefault("SHARDKIT_HOME", str(ROOT / "build"))
    if arguments.shard_map:
        print("| used | routed, MB | ours, MB | by hand, MB | ours, ms | by hand, ms |\n| --- | ---: | ---: | ---: | ---: | ---: |")
        for experts, used in ((8, 2), (64, 6)):
            compare((arguments.tokens, arguments.width, arguments.hidden, experts, used), arguments.rounds)
        return
    print("| used | written as | | devices | products | bytes | step | jax |\n| --- | --- | --- | ---: | ---: | ---: | ---: | ---: |")
    for experts, used in ((8, 2), (64, 6)):
        for mesh in ({"expert": 1, "column": 1}, {"expert": 4, "column": 2}):
            for name, function, gradients in (("one-hot", one_hot, False), ("ragged_dot", ragged, False), ("one-hot", one_hot, True), ("ragged_dot", ragged, True)):
                shape = (arguments.tokens, arguments.width, arguments.hidden, experts, used)
                measure(name, function, shape, mesh, gradients, arguments.rounds)


if __name__ == "__main__":
    main()
