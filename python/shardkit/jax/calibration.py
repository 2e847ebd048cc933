"""Costs of a mesh that JAX measures on its devices: collectives of XLA, and products and elementwise work.

    python -m shardkit.jax.calibration --mesh data=2,model=4 -o costs.json"""

from __future__ import annotations

import argparse
import sys
import time
from typing import Any, Callable

import numpy as np

from ..calibration import Calibration, calibrate_by, run_command
from ..errors import ShardKitError, require


class JaxMeter:
    """Times of compiled functions on all devices of a mesh."""

    def __init__(self, axes: dict[str, int], dtype: str, repeats: int) -> None:
        import jax
        import jax.numpy as jnp

        self._mesh = jax.make_mesh(tuple(axes.values()), tuple(axes), axis_types=(jax.sharding.AxisType.Auto,) * len(axes))
        self._axes, self._repeats = axes, repeats
        self._dtype = {"f32": jnp.float32, "bf16": jnp.bfloat16, "f16": jnp.float16, "f64": jnp.float64}[dtype]

    def time_collective(self, kind: str, axis: str, elements: int, count: int) -> float | None:
        from jax import lax

        size = self._axes[axis]
        calls: dict[str, Callable[[Any], Any]] = {
            "all_reduce": lambda x: lax.psum(x, axis),
            "all_gather": lambda x: lax.all_gather(x, axis, tiled=True),
            "reduce_scatter": lambda x: lax.psum_scatter(x, axis, tiled=True),
            "all_to_all": lambda x: lax.all_to_all(x, axis, 0, 0, tiled=True),
        }
        held = elements // size if kind == "all_gather" else elements
        return self._time(lambda *arrays: tuple(calls[kind](a[0])[None] for a in arrays), [self._make((held,)) for _ in range(count)])

    def time_product(self, shape: tuple[int, int, int]) -> float:
        m, k, n = shape
        return self._time(lambda a, b: a @ b, [self._make((m, k), self._dtype), self._make((k, n), self._dtype)])

    def time_copy(self, elements: int) -> float:
        return self._time(lambda a: a * a, [self._make((elements,))])

    def time_overlap(self, axis: str, shape: tuple[int, int], count: int, products: bool, collectives: bool) -> float | None:
        from jax import lax

        def run(w: Any, s: Any, *arrays: Any) -> Any:
            w, s = w[0], s[0]
            for a in arrays:
                c = lax.psum(a[0], axis) if collectives else None
                s = s @ w if products else s
                s = s if c is None else s + c
            return s[None]

        return self._time(run, [self._make((shape[1], shape[1])), *(self._make(shape) for _ in range(count + 1))])

    @property
    def is_device(self) -> bool:
        import jax

        return bool(jax.devices()[0].platform != "cpu")

    def _make(self, shape: tuple[int, ...], dtype: Any = np.float32) -> Any:
        """An array of this shape on each device."""
        import jax

        spec = jax.sharding.PartitionSpec(tuple(self._axes))
        devices = int(np.prod(list(self._axes.values())))
        return jax.device_put(jax.numpy.ones((devices, *shape), dtype), jax.sharding.NamedSharding(self._mesh, spec))

    def _time(self, function: Callable[..., Any], arrays: list[Any]) -> float:
        import jax

        spec = jax.sharding.PartitionSpec(tuple(self._axes))
        mapped = jax.shard_map(function, mesh=self._mesh, in_specs=(spec,) * len(arrays), out_specs=spec, check_vma=False)
        compiled = jax.jit(mapped).lower(*arrays).compile()
        times = []
        for _ in range(self._repeats + 2):
            start = time.perf_counter()
            jax.block_until_ready(compiled(*arrays))
            times.append(time.perf_counter() - start)
        return float(np.median(times[2:]))


def calibrate(axes: dict[str, int], dtype: str = "f32", repeats: int = 20) -> Calibration:
    """The costs of a mesh of all devices of JAX."""
    require("jax", "jax", "measuring in JAX")
    import jax

    if dtype not in ("f32", "bf16", "f16", "f64"):
        raise ShardKitError(f"error: dtype is {dtype!r}, expected f32, bf16, f16 or f64")
    if (count := int(np.prod(list(axes.values())))) != jax.device_count():
        raise ShardKitError(
            f"error: the mesh {axes} has {count} devices, JAX has {jax.device_count()}, expected as many; on CPUs XLA_FLAGS=--xla_force_host_platform_device_count={count}"
        )
    return calibrate_by(JaxMeter(axes, dtype, repeats), axes, dtype=dtype, process=jax.process_index())


def main(argv: list[str] | None = None) -> int:
    description = "Measures the costs of a mesh in JAX, on its devices, and writes them as a plan."
    return run_command("shardkit.jax.calibration", argv, description, lambda axes, options: calibrate(axes, options.dtype, options.repeats))


if __name__ == "__main__":
    sys.exit(main())
