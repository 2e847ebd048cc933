"""Styles of modules that say what a plan says: those of PyTorch, of Hugging Face's transformers, and modules to shard by FSDP.

A style is about one axis. It leaves activations between modules local, which is right where the code between them works on a shard of
each value; `trial` finds that out."""

from __future__ import annotations

import dataclasses
import inspect
from collections import Counter
from typing import Any, Callable, Mapping, Sequence

import torch

from ...errors import ShardKitError
from . import hf_styles, sequence, trial
from .callers import Callers, to_pattern
from .placements import Placements, describe
from .trial import Prepared, Style


@dataclasses.dataclass(frozen=True)
class Styles:
    styles: dict[str, Style]
    """By pattern of modules, of weights alone: values between modules are complete, or shards of features."""
    parallel: dict[str, dict[str, Style | Prepared]]
    """By axis, those of `parallelize_plan`, of values too."""
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
    values: dict[str, dict[str, str]]
    """By axis and pattern of modules, why what they take or make is not sharded as the plan has it."""
    signatures: dict[str, tuple[int, list[bool] | None]]
    """Of modules that are prepared: the number of inputs by position, and which outputs are tensors, None for one tensor."""
    layers: dict[str, list[str]] = dataclasses.field(default_factory=dict)
    """In order, the modules of patterns of which `parallel` names some one by one."""
    is_tried: bool = True
    """Styles are known, as there are numbers to try them with."""

    def make_parallelize_plan(self, axis: str | None) -> dict[str, Any]:
        self._check_tried()
        chosen = self._choose_axis(axis)
        return {p: _make_torch_style(e, *self.signatures[p]) for p, e in self.parallel.get(chosen or "", {}).items()}

    def make_tp_plan(self, values: bool) -> dict[str, str]:
        self._check_tried()
        chosen = self._choose_axis(None)
        if values:
            found = hf_styles.register(self.parallel.get(chosen or "", {}), self.layers)
        else:
            found = {p: _name_hf_style(s) for p, s in self.styles.items() if s.axis == chosen}
        kept = [to_pattern(owner) for n in self.left_out if (owner := n.rpartition(".")[0])]
        tied = (p for p in self.tied if values)
        return dict.fromkeys((*self.replicated, *kept, *tied), "replicate") | found | self.experts

    def make_fsdp_plan(self) -> dict[str, str]:
        return dict(self.fsdp)

    def list_left_out(self, what: str, axis: str | None) -> dict[str, str]:
        if what not in ("parallelize_plan", "tp_plan", "fsdp_plan"):
            raise ShardKitError(f"error: nothing is left out of {what}, expected parallelize_plan, tp_plan or fsdp_plan")
        if what == "fsdp_plan":
            return {}
        self._check_tried()
        chosen = self._choose_axis(axis)
        other = {p: f"sharded by {s.axis}, and the plan is on {chosen}" for p, s in self.styles.items() if s.axis != chosen}
        if what == "parallelize_plan":
            return self.left_out | other | self.tied | self.values.get(chosen or "", {})
        expert = {n for n in self.left_out if any(to_pattern(n) == e for e in self.experts)}
        return {n: why for n, why in self.left_out.items() if n not in expert} | other

    def _check_tried(self) -> None:
        if not self.is_tried:
            raise ShardKitError(
                "error: styles are tried by running the module, which is on the meta device, expected trial=(MODULE, *INPUTS) of shardkit.plan: "
                "a small module of the same structure with numbers"
            )

    def _choose_axis(self, axis: str | None) -> str | None:
        if axis is not None and axis not in self.axes:
            raise ShardKitError(f"error: the plan shards no computation by {axis}, expected one of: {', '.join(self.axes) or 'none, as it shards none'}")
        counts = Counter(s.axis for s in self.styles.values())
        return axis or max(counts, key=lambda a: counts[a], default=None)


def _make_torch_style(entry: Style | Prepared, count: int, outputs: list[bool] | None) -> Any:
    from torch.distributed.tensor import parallel

    if isinstance(entry, Prepared):
        return _make_prepared(entry, count, outputs)
    if entry.kind == "sequence":
        return parallel.SequenceParallel(sequence_dim=entry.takes, use_local_output=True)
    kind = parallel.ColwiseParallel if entry.kind == "colwise" else parallel.RowwiseParallel
    return kind(input_layouts=_place(entry.takes), output_layouts=_place(entry.makes))


def _make_prepared(entry: Prepared, count: int, outputs: list[bool] | None) -> Any:
    from torch.distributed.tensor import parallel

    options: dict[str, Any] = {}
    for number, side in enumerate(("", "desired_")):
        places: dict[int | str, Any] = {k: _place(change[number]) for k, change in entry.inputs.items()}
        if any(isinstance(k, int) for k in places):
            options[f"{side}input_layouts"] = tuple(places.get(k) for k in range(count))
        if named := {k: p for k, p in places.items() if isinstance(k, str)}:
            options[f"{side}input_kwarg_layouts"] = named
    if entry.output is None:
        return parallel.PrepareModuleInput(**options, use_local_output=True)
    made, wanted = (_place(d) if outputs is None else tuple(_place(d) if is_tensor else None for is_tensor in outputs) for d in entry.output)
    if not entry.inputs:
        return parallel.PrepareModuleOutput(output_layouts=made, desired_output_layouts=wanted, use_local_output=True)
    return parallel.PrepareModuleInputOutput(
        **options, use_local_input=True, output_layouts=made, desired_output_layouts=wanted, use_local_output=True
    )


def _place(dim: int | None) -> Any:
    from torch.distributed.tensor import Replicate, Shard

    return Replicate() if dim is None else Shard(dim)


def _name_hf_style(style: Style) -> str:
    if style.is_embedding:
        return f"embedding_{style.kind}"
    if style.kind == "colwise":
        return "colwise" if style.makes == -1 else "colwise_gather_output"
    return "rowwise" if style.takes == -1 else "rowwise_split_input"


@dataclasses.dataclass(frozen=True)
class Trial:
    """A module with numbers, by which styles are tried: the planned one, or a small one with modules of the same names but for numbers of layers."""

    module: Any
    args: Sequence[Any]
    kwargs: Mapping[str, Any]
    loss: Callable[..., Any] | None

    @staticmethod
    def read(given: Sequence[Any], module: Any, loss: Callable[..., Any] | None) -> "Trial":
        """`(module, *inputs)`; a dict at the end has inputs by keyword."""
        if not isinstance(given, (tuple, list)) or not given or not isinstance(given[0], torch.nn.Module):
            raise ShardKitError(f"error: trial is {type(given).__name__}, expected a module and its inputs: (MODULE, *INPUTS)")
        own, *args = given
        kwargs = args.pop() if args and isinstance(args[-1], dict) else {}
        missing = sorted({to_pattern(n) for n, _ in module.named_modules()} - {to_pattern(n) for n, _ in own.named_modules()})
        if missing:
            shown = ", ".join(missing[:4]) + ", ..." * (len(missing) > 4)
            raise ShardKitError(f"error: the module of trial has no {shown}, expected all modules of the planned one, in fewer layers perhaps")
        if any(v.is_meta for v in (*own.parameters(), *own.buffers())):
            raise ShardKitError("error: the module of trial is on the meta device, expected one with numbers")
        return Trial(own, args, kwargs, loss)

    @property
    def has_numbers(self) -> bool:
        return not any(v.is_meta for v in (*self.module.parameters(), *self.module.buffers()))


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
                is_local = not rows and self._divides(module, placement.dim, axis)
                return Style(kind, axis, rows, -1 if is_local and kind == "rowwise" else None, -1 if is_local and kind == "colwise" else None)
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
    module: Any, tried: Trial, mesh: Mapping[str, int],
    stored: Mapping[str, Placements], used: Mapping[str, Placements], names: Mapping[str, str], sites: sequence.Sites,
) -> Styles:  # fmt: skip
    finder = Finder(module, mesh, stored, used, names)
    read = finder.find()
    fsdp = _find_fsdp(module, list(mesh), stored, used)
    axes = tuple(dict.fromkeys(s.axis for s in read.values()))
    if axes and not tried.has_numbers:
        return Styles({}, {}, {}, {}, (), {}, fsdp, axes, {}, {}, is_tried=False)
    run = (tried.module, tried.args, tried.kwargs, tried.loss)
    callers = Callers(*run) if axes else None
    found: dict[str, Style] = dict(read)
    parallel, values, signatures = dict[str, dict[str, Style | Prepared]](), dict[str, dict[str, str]](), dict[str, tuple[int, list[bool] | None]]()
    for axis in axes:
        assert callers
        own = {p: s for p, s in read.items() if s.axis == axis}
        alone = trial.try_styles(*run, own, mesh[axis], callers) or {}
        found |= {p: s for p, s in alone.items() if isinstance(s, Style)}
        untied = {p: s for p, s in own.items() if p not in finder.tied}
        both = sequence.find(*run, untied, sites, used, mesh, axis, callers)
        if both is None:
            both = alone if untied == own else trial.try_styles(*run, untied, mesh[axis], callers) or {}
        examples = {p: n for n, _ in reversed(list(tried.module.named_modules())) if (p := n if n in both else to_pattern(n)) in both}
        values[axis] = sequence.list_left_out(both, sites, mesh, axis, callers)
        keys = {p: _spell_keys(module, p.split(".") if p else []) for p in reversed(examples)}  # in the order of the module
        parallel[axis] = {key: both[p] for p, spelled in keys.items() for key in spelled}
        signatures |= {key: (callers.count_positional(examples[p]), callers.get_outputs(examples[p])) for p, spelled in keys.items() for key in spelled}
    own_plan = getattr(module, "_tp_plan", None) or {}
    experts = _find_experts(module, own_plan, used, names)
    replicated = tuple(p for p in own_plan if p not in found and p not in experts)
    single = {to_pattern(key) for entries in parallel.values() for key in entries if key != to_pattern(key)}
    layers = {p: [n for n, _ in module.named_modules() if to_pattern(n) == p] for p in single}
    return Styles(found, parallel, finder.left_out, finder.tied, replicated, experts, fsdp, axes, values, signatures, layers)


def _spell_keys(module: Any, parts: Sequence[str]) -> list[str]:
    """A pattern as `parallelize_module` takes it, which warns where a layer has no such module: these are named one by one."""
    if not parts:
        return [""]
    children = [(n, c) for n, c in module.named_children() if parts[0] in ("*", n) and (parts[0] != "*" or n.isdigit())]
    below = {n: _spell_keys(c, parts[1:]) for n, c in children}
    if parts[0] == "*" and len(children) == len(list(module.children())) and len(set(map(tuple, below.values()))) == 1 and below[children[0][0]]:
        below = {"*": below[children[0][0]]}
    return [f"{n}.{rest}" if rest else n for n, spelled in below.items() for rest in spelled]


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
