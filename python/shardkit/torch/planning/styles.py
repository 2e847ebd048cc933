"""Styles of modules that say what a plan says: those of PyTorch, of Hugging Face's transformers, and modules to shard by FSDP.

A style is about one axis. It leaves activations between modules local, which is right where the code between them works on a shard of
each value; `trial` finds that out."""

from __future__ import annotations

import dataclasses
import inspect
import re
from collections import Counter
from typing import Any, Callable, Mapping, Sequence

import torch

from ...errors import ShardKitError
from . import trial
from .placements import Placements, describe


@dataclasses.dataclass(frozen=True)
class Style:
    """Of the modules of a pattern: the weight is sharded by columns (its outputs) or by rows (its inputs). `is_local`: the sharded side is
    that of the module's neighbours too, else it is gathered, or split, at the module."""

    kind: str
    axis: str
    is_embedding: bool
    is_local: bool


@dataclasses.dataclass(frozen=True)
class Styles:
    styles: dict[str, Style]
    """By pattern of modules."""
    left_out: dict[str, str]
    """Why no style shards a parameter as the plan does."""
    tied: dict[str, str]
    """Patterns of modules whose weight is another one's too."""
    replicated: tuple[str, ...]
    """Patterns of the model's own plan, for transformers, that this plan does not shard."""
    experts: dict[str, str]
    """Entries for layers of experts, for transformers."""
    fsdp: dict[str, str]
    axes: tuple[str, ...]
    values: dict[tuple[str, str], str] = dataclasses.field(default_factory=dict)
    """By pattern of modules and axis, what the module takes or makes that is sharded elsewhere than along features. Styles of weights keep
    values between modules whole, or sharded along features."""

    def make_parallelize_plan(self, axis: str | None) -> dict[str, Any]:
        chosen = self._choose_axis(axis)
        return {p: _make_torch_style(s) for p, s in self.styles.items() if s.axis == chosen and p not in self.tied}

    def make_tp_plan(self) -> dict[str, str]:
        chosen = self._choose_axis(None)
        found = {p: _name_hf_style(s) for p, s in self.styles.items() if s.axis == chosen}
        kept = [to_pattern(owner) for n in self.left_out if (owner := n.rpartition(".")[0])]
        return dict.fromkeys((*self.replicated, *kept), "replicate") | found | self.experts

    def make_fsdp_plan(self) -> dict[str, str]:
        return dict(self.fsdp)

    def list_left_out(self, what: str, axis: str | None) -> dict[str, str]:
        if what not in ("parallelize_plan", "tp_plan", "fsdp_plan"):
            raise ShardKitError(f"error: nothing is left out of {what}, expected parallelize_plan, tp_plan or fsdp_plan")
        if what == "fsdp_plan":
            return {}
        chosen = self._choose_axis(axis)
        other = {p: f"sharded by {s.axis}, and the plan is on {chosen}" for p, s in self.styles.items() if s.axis != chosen}
        if what == "parallelize_plan":
            return self.left_out | other | self.tied | {p: why for (p, a), why in self.values.items() if a == chosen}
        expert = {n for n in self.left_out if any(to_pattern(n) == e for e in self.experts)}
        return {n: why for n, why in self.left_out.items() if n not in expert} | other

    def _choose_axis(self, axis: str | None) -> str | None:
        if axis is not None and axis not in self.axes:
            raise ShardKitError(f"error: the plan shards no computation by {axis}, expected one of: {', '.join(self.axes) or 'none, as it shards none'}")
        counts = Counter(s.axis for s in self.styles.values())
        return axis or max(counts, key=lambda a: counts[a], default=None)


def _make_torch_style(style: Style) -> Any:
    from torch.distributed.tensor import Replicate
    from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel

    if style.kind == "colwise":
        return ColwiseParallel() if style.is_local else ColwiseParallel(output_layouts=Replicate())
    return RowwiseParallel() if style.is_local and not style.is_embedding else RowwiseParallel(input_layouts=Replicate())


def _name_hf_style(style: Style) -> str:
    if style.is_embedding:
        return f"embedding_{style.kind}"
    if style.kind == "colwise":
        return "colwise" if style.is_local else "colwise_gather_output"
    return "rowwise" if style.is_local else "rowwise_split_input"


def find_values(placed: Mapping[str, tuple[Placements, int]], mesh: Mapping[str, int]) -> dict[tuple[str, str], str]:
    """What modules take and make that no style says, of placements and ranks by site, `layers.0.norm/0/in0`."""
    found: dict[tuple[str, str], str] = {}
    for site, (placements, rank) in placed.items():
        name, _, side = site.split("/")
        for axis, p in zip(mesh, placements):
            if p.is_shard() and p.dim < rank - 1:
                verb = "takes" if side.startswith("in") else "makes"
                style = "SequenceParallel or PrepareModuleInput" if verb == "takes" else "PrepareModuleOutput"
                found.setdefault(
                    (to_pattern(name), axis), f"{verb} a value as {describe(placements)}, which the styles here keep whole; {style} would state it"
                )
    return found


def to_pattern(name: str) -> str:
    """Layers of all numbers."""
    return re.sub(r"(?<=\.)\d+(?=\.|$)|^\d+(?=\.)", "*", name)


class Finder:
    """Reads styles from placements."""

    def __init__(
        self, module: Any, mesh: Mapping[str, int], stored: Mapping[str, Placements], used: Mapping[str, Placements], names: Mapping[str, str]
    ) -> None:
        self._module, self._mesh, self._stored, self._used, self._names = module, list(mesh), stored, used, names
        self._sizes = mesh
        self.left_out: dict[str, str] = {}
        self.tied: dict[str, str] = {}

    def find(self) -> dict[str, Style]:
        found: dict[str, list[tuple[str, Style | None]]] = {}
        for name, module in self._module.named_modules():
            if name and getattr(module, "weight", None) is not None and f"{name}.weight" in self._names:
                found.setdefault(to_pattern(name), []).append((name, self._read(name, module)))
        styles = {pattern: style for pattern, each in found.items() if (style := self._agree(each)) is not None}
        self._check_tied(styles)
        self._list_others(styles)
        return styles

    def _read(self, name: str, module: Any) -> Style | None:
        placements = self._used.get(self._names[f"{name}.weight"], ())
        for axis, placement in zip(self._mesh, placements):
            if placement.is_shard() and (rows := _find_rows(module)) is not None:
                kind = "colwise" if (placement.dim == 0) != rows else "rowwise"
                return Style(kind, axis, isinstance(module, torch.nn.Embedding), self._divides(module, placement.dim, axis))
        return None

    def _divides(self, module: Any, dim: int, axis: str) -> bool:
        return bool(module.weight.shape[dim] % self._sizes[axis] == 0)

    def _agree(self, each: Sequence[tuple[str, Style | None]]) -> Style | None:
        """A pattern has the style of most of its modules."""
        (style, count) = Counter(s for _, s in each).most_common(1)[0]
        if count < len(each):
            for name, other in each:
                if other != style:
                    self.left_out[f"{name}.weight"] = f"{_describe(other)}, where most of {to_pattern(name)} are {_describe(style)}: a style is of all layers"
        return style

    def _check_tied(self, styles: dict[str, Style]) -> None:
        groups: dict[str, list[str]] = {}
        for name, first in self._names.items():
            groups.setdefault(first, []).append(name)
        for first, names in groups.items():
            if len(names) == 1:
                continue
            owners = [to_pattern(n.rpartition(".")[0]) for n in names]
            dims = {o: (s.kind == "colwise") == s.is_embedding if (s := styles.get(o)) else None for o in owners}
            if any(o in styles for o in owners) and len(set(dims.values())) > 1:
                for owner in owners:
                    styles.pop(owner, None)
                self.left_out[first] = f"tied to {names[1]}, whose style would place it otherwise"
            for owner in owners:
                if owner in styles:
                    self.tied[owner] = f"the weight is {' and '.join(names)}: styles of PyTorch would make two of it"

    def _list_others(self, styles: Mapping[str, Style]) -> None:
        """Sharded parameters that no style is about."""
        for name, placements in self._used.items():
            owner, _, key = name.rpartition(".")
            style = styles.get(to_pattern(owner))
            if not any(p.is_shard() for p in placements) or name in self.left_out or (style and key in ("weight", "bias")):
                continue
            module = self._module.get_submodule(owner)
            kind = type(module).__name__
            why = "no style is of one" if _find_rows(module) is None else "its weight is not sharded so"
            if kind == "Conv1D":
                why = "styles are of Linear and Embedding"
            self.left_out[name] = f"{describe(placements)} of a {kind}: {why}"


def _find_rows(module: Any) -> bool | None:
    """Whether dim 0 of the weight is what comes in; None where a style has no such module."""
    if not isinstance(module, (torch.nn.Linear, torch.nn.Embedding)) or len(inspect.signature(module.forward).parameters) != 1:
        return None
    return isinstance(module, torch.nn.Embedding)


def _describe(style: Style | None) -> str:
    return f"{style.kind} by {style.axis}" if style else "not sharded"


def find(
    module: Any, args: Sequence[Any], kwargs: Mapping[str, Any], loss: Callable[..., Any] | None, mesh: Mapping[str, int],
    stored: Mapping[str, Placements], used: Mapping[str, Placements], names: Mapping[str, str],
) -> Styles:  # fmt: skip
    finder = Finder(module, mesh, stored, used, names)
    found = finder.find()
    for axis in dict.fromkeys(s.axis for s in found.values()):
        own = {p: s for p, s in found.items() if s.axis == axis}
        found |= trial.try_styles(module, args, kwargs, loss, own, mesh[axis])
    own_plan = getattr(module, "_tp_plan", None) or {}
    experts = _find_experts(module, own_plan, used, names)
    replicated = tuple(p for p in own_plan if p not in found and p not in experts)
    fsdp = _find_fsdp(module, list(mesh), stored, used)
    axes = tuple(dict.fromkeys(s.axis for s in found.values()))
    return Styles(found, finder.left_out, finder.tied, replicated, experts, fsdp, axes)


def _find_experts(module: Any, own_plan: Mapping[str, str], used: Mapping[str, Placements], names: Mapping[str, str]) -> dict[str, str]:
    """Layers of experts that transformers shards by columns and rows of each expert, where this plan does so too."""
    found: dict[str, str] = {}
    dims = {"packed_colwise": -2, "colwise": -2, "packed_rowwise": -1, "rowwise": -1}
    for pattern in (p for p, style in own_plan.items() if style == "moe_tp_experts"):
        entries = {p: s for p, s in own_plan.items() if p.startswith(f"{pattern}.") and s in dims}
        matched = [(n, entries[to_pattern(n)]) for n in names if to_pattern(n) in entries]
        if matched and all(_is_sharded(used.get(names[n], ()), dims[s], module.get_parameter(n).ndim) for n, s in matched):
            found |= {**entries, pattern: "moe_tp_experts"}
    return found


def _is_sharded(placements: Sequence[Any], dim: int, rank: int) -> bool:
    return any(p.is_shard() and p.dim == rank + dim for p in placements)


def _find_fsdp(module: Any, axes: Sequence[str], stored: Mapping[str, Placements], used: Mapping[str, Placements]) -> dict[str, str]:
    """Blocks with parameters that an axis shards where they are kept and not where they are used; the rest in the root."""
    blocks = [n for n, m in module.named_modules() if n and isinstance(module.get_submodule(n.rpartition(".")[0]), torch.nn.ModuleList)]
    sizes: dict[str, Counter[str]] = {}
    for name, placements in stored.items():
        block = next((b for b in reversed(blocks) if name.startswith(f"{b}.")), "")
        for axis, kept, read in zip(axes, placements, used.get(name, placements)):
            if kept.is_shard() and not read.is_shard():
                sizes.setdefault(block, Counter())[axis] += module.get_parameter(name).numel() if name in dict(module.named_parameters()) else 0
    if sizes and "" not in sizes:  # FSDP begins at the root
        sizes[""] = sum(sizes.values(), Counter())
    return {block: sizes[block].most_common(1)[0][0] for block in [*reversed(blocks), ""] if block in sizes}
