"""Rules in place of those that DTensor lacks, or has wrongly, in PyTorch 2.15: attention on CPUs, and convolutions."""

from __future__ import annotations

import dataclasses
from typing import Any, Sequence

import torch
from torch.distributed.tensor import DTensor, Partial, Replicate, Shard

aten = torch.ops.aten


@dataclasses.dataclass(frozen=True)
class Rule:
    """An op that each device computes for its part of some leading dims, which are those of the batch or of heads. `operands` and
    `results`: whether each has these dims; an operand without is complete, a result without is a sum over them."""

    dims: tuple[int, ...]
    operands: tuple[bool, ...]
    results: tuple[bool, ...]
    fault: str = ""
    """Of DTensor's rule, where operands have to be complete for it."""

    def run(self, func: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> tuple[Any, bool]:
        """The results, and whether an operand was sharded otherwise."""
        given = [v for v, has in zip(args, self.operands) if has]
        mesh, kept = given[0].device_mesh, self._find_kept(given)
        is_other, local = False, list(args)
        for i, (value, has) in enumerate(zip(args, self.operands)):
            if isinstance(value, DTensor):
                wanted = kept if has else [Replicate()] * mesh.ndim
                is_other |= any(p.is_shard() and p != w for p, w in zip(value.placements, wanted))
                local[i] = value.redistribute(placements=wanted).to_local()
        masks = {n: _broadcast(v, kept) for n, v in kwargs.items() if isinstance(v, DTensor)}
        found = func(*local, **(kwargs | masks))
        results = list(found) if isinstance(found, (tuple, list)) else [found]
        sums = [Partial() if p.is_shard() else Replicate() for p in kept]
        made = [v if v is None else DTensor.from_local(v, mesh, kept if has else sums, run_check=False) for v, has in zip(results, self.results, strict=True)]
        return (tuple(made) if isinstance(found, (tuple, list)) else made[0]), is_other

    def _find_kept(self, operands: Sequence[Any]) -> list[Any]:
        """The placements of the first operand, as far as all have the dim and devices divide it."""
        mesh, left = operands[0].device_mesh, {d: operands[0].shape[d] for d in self.dims}
        kept: list[Any] = []
        for axis, placement in enumerate(operands[0].placements):
            dim = placement.dim if placement.is_shard() else -1
            is_kept = dim in left and all(v.shape[dim] == operands[0].shape[dim] for v in operands) and left[dim] % mesh.size(axis) == 0
            kept.append(placement if is_kept else Replicate())
            if is_kept:
                left[dim] //= mesh.size(axis)
        return kept


def _broadcast(mask: Any, placements: Sequence[Any]) -> torch.Tensor:
    """A mask that broadcasts to operands of four dims."""
    offset = 4 - mask.ndim
    wanted = [
        Shard(p.dim - offset) if p.is_shard() and p.dim >= offset and mask.shape[p.dim - offset] != 1 else Replicate() for p in placements
    ]
    return mask.redistribute(placements=wanted).to_local()


RULES = {
    aten._scaled_dot_product_flash_attention_for_cpu.default: Rule((0, 1), (True,) * 3, (True,) * 2),
    aten._scaled_dot_product_flash_attention_for_cpu_backward.default: Rule((0, 1), (True,) * 6, (True,) * 3),
    aten.convolution.default: Rule((0,), (True, False, False), (True,), "DTensor computes with sharded channels as if they were all"),
    aten.convolution_backward.default: Rule(
        (0,), (True, True, False), (True, False, False), "DTensor adds gradients of weights over devices that have the same batch"
    ),
}
