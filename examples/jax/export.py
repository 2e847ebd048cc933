#!/usr/bin/env python3
"""Writes models/NAME.mlir and models/NAME.json: the models of models.py as they are tested always, and what JAX makes of
the arguments of arguments.py. Needs: pip install ./python[jax]"""

import json
import os
import sys
from pathlib import Path

os.environ.setdefault("JAX_PLATFORMS", "cpu")
os.environ.setdefault("XLA_FLAGS", "--xla_force_host_platform_device_count=8")

import jax  # noqa: E402
import numpy as np  # noqa: E402
import shardkit  # noqa: E402
from jax.sharding import AxisType  # noqa: E402
from models import MODELS, build  # noqa: E402

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import arguments  # noqa: E402

SIZES = {"gpt2_step": {"layers": 2}, "minilm": {"layers": 1}}
STYLES = {"llama": "two", "scan": "fsdp"}  # megatron otherwise


def main():
    directory = Path(__file__).with_name("models")
    directory.mkdir(exist_ok=True)
    mesh = jax.make_mesh((2, 2), ("data", "model"), axis_types=(AxisType.Auto,) * 2, devices=jax.devices()[:4])
    for name in sys.argv[1:] or MODELS:
        function, args = build(name, STYLES.get(name, "megatron"), mesh, **SIZES.get(name, {}))
        model = shardkit.import_jax(function, *args, locations=False)
        (directory / f"{name}.mlir").write_text(f"// {name} of models.py. Written by export.py.\n" + model.text)
        made = {n: arguments.make_argument(n, s, d, h, w) for n, s, d, h, w in arguments.read_arguments(model.text)}
        order = iter(model.flatten(*args))
        names = {id(leaf): a.name for leaf, a in zip(order, model.arguments)}
        values = jax.tree_util.tree_map(lambda leaf: made.get(names.get(id(leaf)), np.asarray(leaf)), args)
        with jax.default_matmul_precision("highest"):
            results = jax.tree_util.tree_leaves(jax.jit(getattr(function, "__wrapped__", function))(*values))
        sums = {r.name: arguments.checksum(r.name, value) for r, value in zip(model.results, results, strict=True)}
        lines = [f"  {json.dumps(n)}: {json.dumps(s)}" for n, s in sums.items()]
        (directory / f"{name}.json").write_text("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    main()
