"""Parallel plans of PyTorch: styles of modules, placements of parameters."""

from __future__ import annotations

import dataclasses
import re
import warnings
from typing import Any, Mapping, Sequence

import torch

from ..errors import ShardKitError
from ..model import Argument


@dataclasses.dataclass
class Styles:
    """The shardings that the styles of a plan mean, on one axis."""

    axis: str | None
    parameters: dict[str, dict[str, int]] = dataclasses.field(default_factory=dict)
    """Per module the dim of each of its parameters that is split."""
    outputs: dict[str, int | bool] = dataclasses.field(default_factory=dict)
    """Per module whose output is constrained, the dim that is split, or False: replicated."""

    def write_output(self, name: str, rank: int) -> str:
        """The sharding of an output. The plan is about one axis; what others do, the batch's for one, is open."""
        dims, dim = ["{?}"] * rank, self.outputs[name]
        if dim is False:
            return f'#spmd.sharding<@mesh, [{", ".join(dims)}], replicated = {{"{self.axis}"}}>'
        dims[dim] = f'{{"{self.axis}"}}'
        return f"#spmd.sharding<@mesh, [{', '.join(dims)}]>"


def read_plan(module: Any, plan: Mapping[str, Any], axis: str | None, mesh: Mapping[str, int]) -> Styles:
    """The styles of a plan on an axis, by default the last of the mesh."""
    if axis is not None and axis not in mesh:
        known = ", ".join(f"{n}={s}" for n, s in mesh.items()) or "none: give mesh={...}"
        raise ShardKitError(f"error: the plan is on axis {axis}, expected one of: {known}")
    styles = Styles(axis or (list(mesh)[-1] if mesh else None))
    modules = dict(module.named_modules())
    for pattern, style in plan.items():
        if isinstance(style, (list, tuple)):
            continue  # placements of parameters
        names = [n for n in modules if to_expression(pattern).fullmatch(n)]
        if not names:
            known = ", ".join(n for n in modules if n) or "none: the module has no submodules"
            raise ShardKitError(f"error: no module is called {pattern}, expected one of: {known}")
        if styles.axis is None:
            raise ShardKitError("error: the plan has no mesh, expected mesh={...}")
        for name in names:
            _read_style(styles, name, modules[name], style)
    return styles


def _read_style(styles: Styles, name: str, module: Any, style: Any) -> None:
    kind = style if isinstance(style, str) else type(style).__name__
    is_embedding = isinstance(module, torch.nn.Embedding)
    if kind not in ("ColwiseParallel", "RowwiseParallel", "SequenceParallel"):
        raise ShardKitError(f"error: style of {name} is {kind}, expected ColwiseParallel, RowwiseParallel or SequenceParallel")
    if kind != "SequenceParallel" and not (is_embedding or isinstance(module, torch.nn.Linear)):
        raise ShardKitError(f"error: {name} is a {type(module).__name__}, expected a Linear or an Embedding for {kind}")
    dims: dict[str, int] = {}
    if kind == "SequenceParallel":
        output = getattr(style, "sequence_sharding", (None,))[0]
        styles.outputs[name] = output.dim if output is not None else 1
    else:
        if kind == "ColwiseParallel":
            dims = {"weight": 1} if is_embedding else {"weight": 0, "bias": 0}
        else:
            dims = {"weight": 0 if is_embedding else 1}
        # As in DTensor: a linear layer by columns returns its last dim sharded, one by rows a complete sum.
        styles.outputs[name] = -1 if kind == "ColwiseParallel" else False
        for layout in getattr(style, "output_layouts", None) or ():
            styles.outputs[name] = layout.dim if hasattr(layout, "dim") else False
    styles.parameters[name] = {p: d for p, d in dims.items() if getattr(module, p, None) is not None}
    for side in ("input_layouts", "desired_input_layouts"):
        for layout in getattr(style, side, None) or ():
            if hasattr(layout, "dim") and kind == "ColwiseParallel":
                warnings.warn(f"{name} has {side} {layout}: the layout of its input is left to ShardKit", stacklevel=6)


def find_shardings(
    module: Any, styles: Styles, plan: Mapping[str, Any], shardings: Mapping[str, Sequence[Any]], arguments: Sequence[Argument],
    state: Mapping[str, torch.Tensor], mesh: Mapping[str, int],
) -> dict[str, str]:  # fmt: skip
    """Attributes by the names of arguments: from styles, then placements, then `shardings`. Optimizer state of a parameter
    is sharded as the parameter, where it has its shape."""
    found: dict[str, str] = {}
    ranks = {a.name: len(a.shape) for a in arguments}
    first_names = {id(v): n for n, v in reversed(list(state.items()))}  # tied parameters have one
    for name, split in styles.parameters.items():
        for parameter, dim in split.items():
            full = first_names[id(getattr(module.get_submodule(name), parameter))]
            axes: list[Any] = [None] * ranks[full]
            axes[dim] = styles.axis
            sharding = write_sharding(axes, ranks[full], mesh, full)
            if found.setdefault(full, sharding) != sharding:
                raise ShardKitError(f"error: the plan shards {full} in two ways, once as {parameter} of {name}, expected one way")
    for pattern, placements in plan.items():
        if not isinstance(placements, (list, tuple)):
            continue
        matched = [n for n in state if to_expression(pattern).fullmatch(n)]
        if not matched:
            raise ShardKitError(f"error: no parameter is called {pattern}, expected one of: {', '.join(state)}")
        for name in matched:
            found[name] = write_sharding(read_placements(placements, mesh, ranks[name], name), ranks[name], mesh, name)
    for name, spec in shardings.items():
        if name not in ranks:
            raise ShardKitError(f"error: nothing is called {name}, expected one of: {', '.join(ranks)}")
        found[name] = write_sharding(spec, ranks[name], mesh, name)
    for name, sharding in list(found.items()):
        for other in state:
            if other.startswith(f"state.{name}.") and state[other].shape == state[name].shape:
                found.setdefault(other, sharding)
    return found


def read_placements(placements: Sequence[Any], mesh: Mapping[str, int], rank: int, name: str) -> list[tuple[str, ...]]:
    """The axes of each dim, of a placement for each axis of the mesh."""
    if len(placements) != len(mesh):
        raise ShardKitError(f"error: {name} has {len(placements)} placements, expected {len(mesh)}, one for each axis of the mesh")
    dims: list[tuple[str, ...]] = [()] * rank
    for axis, placement in zip(mesh, placements):
        if placement.is_shard():
            if not -rank <= placement.dim < rank:
                raise ShardKitError(f"error: placement {placement} of {name} is of no dim, expected less than {rank}")
            dims[placement.dim] += (axis,)
        elif not placement.is_replicate():
            raise ShardKitError(f"error: placement of {name} is {placement}, expected Shard or Replicate: weights are complete")
    return dims


def to_expression(pattern: str) -> re.Pattern[str]:
    """`*` is any characters between two dots of a name."""
    return re.compile("".join("[^.]*" if c == "*" else re.escape(c) for c in pattern))


def write_sharding(spec: Sequence[Any], rank: int, mesh: Mapping[str, int], name: str) -> str:
    if len(spec) > rank:
        raise ShardKitError(f"error: sharding of {name} has {len(spec)} dims, expected at most {rank}")
    dims = []
    for entry in list(spec) + [None] * (rank - len(spec)):
        axes = () if entry is None else (entry,) if isinstance(entry, str) else tuple(entry)
        blocks = [str(a) for a in axes[:1] if isinstance(a, int)]  # the axes shard each of these
        axes = axes[len(blocks) :]
        names = [str(a).partition(":") for a in axes]  # of a sub-axis: x:(1)2
        for a, colon, part in names:
            if colon and not re.fullmatch(r"\(\d+\)\d+", part):
                raise ShardKitError(f"error: sharding of {name} names sub-axis {a}:{part}, expected the product of the sizes before it and its size: {a}:(1)2")
            if a not in mesh:
                known = ", ".join(f"{n}={s}" for n, s in mesh.items()) or "none: give mesh={...}"
                raise ShardKitError(f"error: sharding of {name} names axis {a}, expected one of: {known}")
        dims.append("{" + ", ".join(blocks + [f'"{a}"{colon}{part}' for a, colon, part in names]) + "}")
    return f"#spmd.sharding<@mesh, [{', '.join(dims)}]>"
