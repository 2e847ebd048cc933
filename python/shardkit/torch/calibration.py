"""Costs of a mesh that PyTorch measures: collectives of torch.distributed, and products and elementwise work of its devices.

    torchrun --nproc-per-node=4 -m shardkit.torch.calibration --mesh data=2,model=2 -o costs.json"""

from __future__ import annotations

import argparse
import sys
import time
from typing import Any, Callable

import numpy as np
import torch
import torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh

from ..calibration import Calibration, calibrate_by, run_command
from ..errors import ShardKitError

_DTYPES = {"f32": torch.float32, "bf16": torch.bfloat16, "f16": torch.float16, "f64": torch.float64}


class TorchMeter:
    """Times on all ranks of a mesh: of each step that of the slowest one."""

    def __init__(self, axes: dict[str, int], dtype: str, repeats: int) -> None:
        is_cuda = dist.get_backend() == "nccl"
        self._mesh = init_device_mesh("cuda" if is_cuda else "cpu", tuple(axes.values()), mesh_dim_names=tuple(axes))
        self._device = torch.device("cuda", torch.cuda.current_device()) if is_cuda else torch.device("cpu")
        self._dtype, self._repeats = _DTYPES[dtype], repeats

    def time_collective(self, kind: str, axis: str, elements: int, count: int) -> float | None:
        group = self._mesh.get_group(axis)
        size = dist.get_world_size(group)
        whole = [torch.ones(elements, device=self._device) for _ in range(count)]
        part = [torch.ones(elements // size, device=self._device) for _ in range(count)]
        other = [torch.ones(elements, device=self._device) for _ in range(count)]
        calls: dict[str, Callable[[int], Any]] = {
            "all_reduce": lambda i: dist.all_reduce(whole[i], group=group),
            "all_gather": lambda i: dist.all_gather_into_tensor(whole[i], part[i], group=group),
            "reduce_scatter": lambda i: dist.reduce_scatter_tensor(part[i], whole[i], group=group),
            "all_to_all": lambda i: dist.all_to_all_single(other[i], whole[i], group=group),
        }
        try:
            return self._time(lambda: [calls[kind](i) for i in range(count)])
        except (RuntimeError, NotImplementedError) as error:  # the backend has no such collective
            if dist.get_rank() == 0 and count == 1:
                print(f"warning: {kind} is left out: {str(error).splitlines()[0]}", file=sys.stderr)
            return None

    def time_product(self, shape: tuple[int, int, int]) -> float:
        m, k, n = shape
        a, b = (torch.ones(s, device=self._device, dtype=self._dtype) for s in ((m, k), (k, n)))
        return self._time(lambda: a @ b)

    def time_copy(self, elements: int) -> float:
        a, b = (torch.ones(elements, device=self._device) for _ in range(2))
        return self._time(lambda: torch.mul(a, a, out=b))

    def time_overlap(self, axis: str, shape: tuple[int, int], count: int, products: bool, collectives: bool) -> float | None:
        group = self._mesh.get_group(axis)
        w = torch.ones(shape[1], shape[1], device=self._device)
        first, *arrays = (torch.ones(shape, device=self._device) for _ in range(count + 1))

        def run() -> Any:
            s = first
            for a in arrays:
                work = dist.all_reduce(a, group=group, async_op=True) if collectives else None
                s = s @ w if products else s
                if work is not None:
                    work.wait()
                    s = s + a
            return s

        return self._time(run)

    @property
    def is_device(self) -> bool:
        return bool(self._device.type == "cuda")

    def _time(self, step: Callable[[], Any]) -> float:
        times = []
        for _ in range(self._repeats + 2):
            dist.barrier()
            self._wait()
            start = time.perf_counter()
            step()
            self._wait()
            times.append(time.perf_counter() - start)
        slowest = torch.tensor(times[2:], device=self._device, dtype=torch.float64)
        dist.all_reduce(slowest, op=dist.ReduceOp.MAX)
        return float(np.median(slowest.cpu().numpy()))

    def _wait(self) -> None:
        if self._device.type == "cuda":
            torch.cuda.synchronize()


def calibrate(axes: dict[str, int], dtype: str = "f32", repeats: int = 20) -> Calibration:
    """The costs of a mesh of all ranks, which all call it."""
    if dtype not in _DTYPES:
        raise ShardKitError(f"error: dtype is {dtype!r}, expected {', '.join(_DTYPES)}")
    if not dist.is_initialized() or dist.get_world_size() != np.prod(list(axes.values())):
        ranks = f"{dist.get_world_size()} ranks" if dist.is_initialized() else "no process group"
        raise ShardKitError(f"error: the mesh {axes} has {np.prod(list(axes.values()))} devices, but there is {ranks}, expected as many ranks, by torchrun")
    return calibrate_by(TorchMeter(axes, dtype, repeats), axes, dtype=dtype, process=dist.get_rank())


def main(argv: list[str] | None = None) -> int:
    def measure(axes: dict[str, int], options: argparse.Namespace) -> Calibration:
        if options.backend == "nccl":
            import os

            torch.cuda.set_device(int(os.environ.get("LOCAL_RANK", "0")))
        if dist.is_torchelastic_launched():
            dist.init_process_group(options.backend)
        return calibrate(axes, options.dtype, options.repeats)

    def add_arguments(parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--backend", default="gloo", help="of torch.distributed: gloo, nccl, mpi (default: gloo)")

    try:
        return run_command("shardkit.torch.calibration", argv, "Measures the costs of a mesh in PyTorch and writes them as a plan. Run it by torchrun, a rank per device.", measure, add_arguments)
    finally:
        if dist.is_initialized():
            dist.destroy_process_group()


if __name__ == "__main__":
    sys.exit(main())
