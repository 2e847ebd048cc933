#!/usr/bin/env python3
"""How long `shardkit.plan` takes for training steps of the sizes that people train: CPU seconds of its parts.

    times.py [--model NAME]... [--time-limit SECONDS] [--minimize N] [--profile FILE]

GPT-like steps of 24 and 96 layers, the shapes of Llama 3.2 1B and Llama 3.1 8B, and a mixture of experts as in DeepSeek-V2-Lite (latent
attention, 64 experts of which 6 are used, 2 shared ones); Adam, every layer written out, no annotation, 64 devices as 8 x 8. Each model is
planned in a process of its own. "trace" is JAX's tracing, "import" the way from there to annotated linalg, with loops in place of layers,
"search" the search, "read" the shardings that JAX is told. All four are CPU seconds of this process and of the tools that it runs, so that
they are at least what a quiet machine takes. "constraints" is what the choice of constraints costs beyond these, where it is asked for
(`minimize`). "elapsed" is the wall clock, which counts on a quiet machine alone: the search uses all cores. "status" says how the search ended, "above" how far its plan is above the proven bound at most. PyTorch's AutoParallel publishes
33, 44 and 51 s for its search of models of 1 to 8 billion parameters. `--profile` writes a profile of Python's functions.
Needs: pip install ./python[jax]
"""
import argparse
import contextlib
import cProfile
import functools
import os
import re
import resource
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
os.environ.setdefault("JAX_PLATFORMS", "cpu")
os.environ["SHARDKIT_CACHE"] = "off"  # every search is run
sys.path[:0] = [str(HERE.parent / "frontends"), str(HERE.parents[1] / "python")]

from bytes import load  # noqa: E402

MESH = {"data": 8, "model": 8}
LIMIT = 5.0  # CPU seconds
PARTS = ("trace", "import", "search", "read", "constraints")


def adam(loss):
    """A training step on weights and their two moments."""
    import jax
    import jax.numpy as jnp

    def step(params, first, second, *inputs):
        value, gradients = jax.value_and_grad(loss)(params, *inputs)
        first = jax.tree_util.tree_map(lambda m, g: 0.9 * m + 0.1 * g, first, gradients)
        second = jax.tree_util.tree_map(lambda v, g: 0.99 * v + 0.01 * g * g, second, gradients)
        params = jax.tree_util.tree_map(lambda p, m, v: p - 1e-3 * m / (jnp.sqrt(v) + 1e-8), params, first, second)
        return params, first, second, value

    return jax.jit(step, donate_argnums=(0, 1, 2))


def gpt(layers):
    models = load("default_models", HERE.parent / "defaults" / "models.py")
    step, (params, tokens, targets) = models.gpt_step(layers, batch=64, length=1024, dim=1024, heads=16, vocab=50304, train=adam)
    return step, (params, params, params, tokens, targets)


def llama(layers, dim, hidden, batch=16, length=2048):
    models = load("default_models", HERE.parent / "defaults" / "models.py")
    apply, (params, tokens) = models.llama(layers, batch, length, dim, heads=32, groups=8, hidden=hidden, vocab=128256)
    return adam(lambda params, tokens, targets: models.cross_entropy(apply(params, tokens), targets)), (params, params, params, tokens, tokens)


def deepseek(layers=27, batch=16, length=1024, dim=2048, heads=16, vocab=102400, rank=512, size=128, turned=64, hidden=1408, experts=64, used=6, shared=2):
    """The first layer has a dense MLP, as there. Each expert has room for its share of the tokens of an example."""
    import jax
    import jax.numpy as jnp
    from jax import lax

    models = load("default_models", HERE.parent / "defaults" / "models.py")
    array, room = models.array, used * length // experts
    attention = {"norm1": array(dim), "query": array(dim, heads * (size + turned)), "shrink": array(dim, rank + turned), "norm": array(rank),
                 "key": array(rank, heads * size), "value": array(rank, heads * size), "out": array(heads * size, dim), "norm2": array(dim)}  # fmt: skip

    def feed(width):
        return {"w1": array(dim, width), "w3": array(dim, width), "w2": array(width, dim)}

    mixture = {"router": array(dim, experts), "e1": array(experts, dim, hidden), "e3": array(experts, dim, hidden), "e2": array(experts, hidden, dim),
               "shared": feed(shared * hidden)}  # fmt: skip
    params = {"words": array(vocab, dim), "layers": [attention | {"dense": feed(10944)}] + [attention | mixture] * (layers - 1), "last": array(dim), "head": array(dim, vocab)}

    def rotate(x):
        angles = jnp.arange(length)[:, None] * 10000.0 ** (-jnp.arange(0, turned, 2) / turned)
        a, b = jnp.split(x, 2, -1)
        return jnp.concatenate([a * jnp.cos(angles) - b * jnp.sin(angles), b * jnp.cos(angles) + a * jnp.sin(angles)], -1)

    def attend(h, p):
        query = models.split_heads(h @ p["query"], heads)
        latent, turn = jnp.split(h @ p["shrink"], [rank], -1)
        latent = models.rms_norm(latent, p["norm"])
        key, value = (models.split_heads(latent @ p[n], heads) for n in ("key", "value"))
        scores = query[..., :size] @ key.swapaxes(-1, -2) + jnp.einsum("bhqd,bkd->bhqk", rotate(query[..., size:]), rotate(turn))
        scores = jnp.where(jnp.tril(jnp.ones((length, length), bool)), scores * (size + turned) ** -0.5, -1e9)
        return models.merge_heads(jax.nn.softmax(scores) @ value) @ p["out"]

    def run(x, p):
        return (jax.nn.silu(x @ p["w1"]) * (x @ p["w3"])) @ p["w2"]

    def mix(x, p):
        weights, chosen = lax.top_k(jax.nn.softmax(x @ p["router"]), used)
        hot = jax.nn.one_hot(chosen, experts)  # b s k e
        place = jnp.cumsum(hot.reshape(batch, length * used, experts), 1).reshape(hot.shape) - 1
        slots = jax.nn.one_hot(jnp.where(hot > 0, place, -1).astype(jnp.int32), room) * hot[..., None]  # b s k e c
        taken = jnp.einsum("bsec,bsd->ebcd", slots.sum(2), x)
        h = jax.nn.silu(jnp.einsum("ebcd,edf->ebcf", taken, p["e1"])) * jnp.einsum("ebcd,edf->ebcf", taken, p["e3"])
        return jnp.einsum("bsec,ebcd->bsd", jnp.einsum("bskec,bsk->bsec", slots, weights), jnp.einsum("ebcf,efd->ebcd", h, p["e2"]))

    def loss(params, tokens, targets):
        x = params["words"][tokens]
        for p in params["layers"]:
            x = x + attend(models.rms_norm(x, p["norm1"]), p)
            h = models.rms_norm(x, p["norm2"])
            x = x + (run(h, p["dense"]) if "dense" in p else mix(h, p) + run(h, p["shared"]))
        return models.cross_entropy(models.rms_norm(x, params["last"]) @ params["head"], targets)

    tokens = models.indices(batch, length)
    return adam(loss), (params, params, params, tokens, tokens)


MODELS = {
    "GPT, 24 layers": functools.partial(gpt, 24),
    "GPT, 96 layers": functools.partial(gpt, 96),
    "Llama 1B": functools.partial(llama, 16, 2048, 8192),
    "Llama 8B": functools.partial(llama, 32, 4096, 14336),
    "DeepSeek-like": deepseek,
}


def get_seconds():
    return sum(u.ru_utime + u.ru_stime for u in map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)))


class Clock:
    """CPU seconds of the parts, each without those that run inside of it."""

    def __init__(self):
        self.seconds = dict.fromkeys(PARTS, 0.0)
        self._open, self._last = ["read"], get_seconds()

    def switch(self):
        now = get_seconds()
        self.seconds[self._open[-1]] += now - self._last
        self._last = now

    def watch(self, owner, name, part):
        inner = getattr(owner, name)

        @functools.wraps(inner)
        def timed(*args, **kwargs):
            self.switch()
            self._open.append(part)
            try:
                return inner(*args, **kwargs)
            finally:
                self.switch()
                self._open.pop()

        setattr(owner, name, timed)


def measure(name, minimize, limit, profile):
    import jax
    import shardkit
    from shardkit.jax import equations, plan
    from shardkit.planning import search

    function, args = MODELS[name]()
    mesh = jax.sharding.AbstractMesh(tuple(MESH.values()), tuple(MESH), axis_types=(jax.sharding.AxisType.Auto,) * len(MESH))
    shardkit.plan(lambda x: x + x, jax.ShapeDtypeStruct((64, 64), "float32"), mesh=mesh)  # what starts is not of the model
    clock, begin = Clock(), time.monotonic()
    for owner, function_name, part in ((plan._Planner, "__init__", "import"), (equations, "trace_example", "trace"), (search, "search", "search"), (plan._Planner, "_choose", "constraints")):  # fmt: skip
        clock.watch(owner, function_name, part)
    profiler = cProfile.Profile() if profile else contextlib.nullcontext()
    with profiler:
        found = shardkit.plan(function, *args, mesh=mesh, minimize=minimize, options=[f"time-limit={limit}"])
    clock.switch()
    elapsed = time.monotonic() - begin
    if profile:
        profiler.dump_stats(profile)
    return clock.seconds, elapsed, found


def read_gap(plan):
    """How much of the plan's predicted time may be above the best one's."""
    text = re.search(r"spmd\.solver = \{[^{}]*\}", plan._text)[0]
    value, bound = (float(re.search(rf"\b{key} = ([-+.\deE]+)", text)[1]) for key in ("objective", "lower_bound"))
    return 1 - bound / value if value else 0.0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", action="append", choices=list(MODELS))
    parser.add_argument("--minimize", type=int, metavar="N", help="choose constraints, in at most so many runs of propagation")
    parser.add_argument("--time-limit", type=float, default=2, help="seconds of the search")
    parser.add_argument("--profile", metavar="FILE")
    options = parser.parse_args()
    if not options.model or len(options.model) > 1:
        print(f"| model | {', s | '.join(PARTS)}, s | without constraints, s | elapsed, s | status | above |\n| --- {'| ---: ' * (len(PARTS) + 2)}| --- | ---: |", flush=True)
        given = [f"--time-limit={options.time_limit}", *([f"--minimize={options.minimize}"] if options.minimize is not None else [])]
        return max(subprocess.run([sys.executable, __file__, f"--model={name}", *given]).returncode for name in options.model or MODELS)
    (name,) = options.model
    seconds, elapsed, plan = measure(name, options.minimize, options.time_limit, options.profile)
    total = sum(seconds.values()) - seconds["constraints"]
    print(f"| {name} | {' | '.join(f'{s:.1f}' for s in seconds.values())} | {total:.1f} | {elapsed:.1f} | {plan.status} | {100 * read_gap(plan):.2f} % |", flush=True)
    return int(total > LIMIT)


if __name__ == "__main__":
    sys.exit(main())
