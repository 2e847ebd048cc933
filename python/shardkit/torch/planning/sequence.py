"""Styles of values between modules: those that a plan shards along the sequence, or the batch, by the axis that shards weights.

Modules that work on each element of the sequence run on shards (`SequenceParallel`), weights gather what they take and scatter what they
make, and where a module works on complete values its inputs or output are changed (`PrepareModuleInput`, `PrepareModuleOutput`)."""

from __future__ import annotations

import dataclasses
from collections import Counter
from typing import Any, Callable, Mapping, Sequence

import torch

from . import trial
from .callers import Callers, to_pattern
from .placements import Placements, describe
from .trial import Dim, Entries, Prepared, Style

Sites = Mapping[str, tuple[Placements, tuple[int, ...]]]
"""Placements and shapes of what modules take and make, `layers.0.norm/0/in0`."""


@dataclasses.dataclass(frozen=True)
class Values:
    """What modules of a pattern take or make by a plan: along which dim other than the last an axis shards it, or why no style can say so."""

    takes: Dim
    makes: Dim
    problem: str = ""


def find(module: Any, args: Sequence[Any], kwargs: Mapping[str, Any], loss: Callable[..., Any] | None, styles: Mapping[str, Style], sites: Sites,
         used: Mapping[str, Placements], mesh: Mapping[str, int], axis: str, callers: Callers) -> dict[str, Style | Prepared] | None:  # fmt: skip
    """Styles of weights on an axis together with those of values; None where values are not sharded so, or no styles work."""
    values = _read(sites, mesh, axis)
    if not any(d is not None for v in values.values() for d in (v.takes, v.makes)):
        return None
    first = _assign(module, styles, values, used, mesh, axis, callers)
    # Code that asks for the shape of what tables make works on complete values: those are split where a block takes them.
    second = {k: e for k, e in first.items() if k not in _find_tables(module)} | {
        k: dataclasses.replace(e, makes=None) for k in _find_tables(module) if isinstance(e := first.get(k), Style)
    }
    best, most = None, 0
    for entries in (first, second):
        found = trial.try_styles(module, args, kwargs, loss, entries, mesh[axis], callers)
        if found is not None and (count := sum(map(trial.has_inner_dims, found.values()))) > most:
            best, most = found, count
    return best


def list_left_out(entries: Entries, sites: Sites, mesh: Mapping[str, int], axis: str, callers: Callers) -> dict[str, str]:
    """What modules take and make that is sharded by an axis along another dim than the last, and that no entry says."""
    found: dict[str, str] = {}
    values = _read(sites, mesh, axis)
    number = list(mesh).index(axis)
    for site, (placements, shape) in sites.items():
        name, _, side = site.split("/")
        placement = placements[number]
        if not placement.is_shard() or placement.dim >= len(shape) - 1 or _says(entries, name, side, placement.dim, callers):
            continue
        verb = "takes" if side.startswith("in") else "makes"
        why = values[to_pattern(name)].problem or "the code around it does not work on such shards, or no style is of such a module"
        found.setdefault(to_pattern(name), f"{verb} a value as {describe(placements)}, which the styles here keep whole: {why}")
    return found


def _says(entries: Entries, name: str, side: str, dim: int, callers: Callers) -> bool:
    entry = entries.get(name, entries.get(to_pattern(name)))
    if side == "out0":
        return dim in ((entry.makes,) if isinstance(entry, Style) else entry.output or () if entry else ())
    if side != "in0":
        return False
    own = (entry.takes,) if isinstance(entry, Style) else entry.inputs.get(0, ()) if entry else ()
    if dim in own:
        return True
    for caller, key in callers.find(name):
        around = entries.get(caller, entries.get(to_pattern(caller)))
        if isinstance(around, Prepared) and dim in around.inputs.get(key, ()):
            return True
    return False


def _read(sites: Sites, mesh: Mapping[str, int], axis: str) -> dict[str, Values]:
    """By pattern, what most of its modules and calls have."""
    number = list(mesh).index(axis)
    found: dict[str, dict[str, Counter[Dim]]] = {}
    problems: dict[str, str] = {}
    for site, (placements, shape) in sites.items():
        name, _, side = site.split("/")
        pattern, placement = to_pattern(name), placements[number]
        dim = placement.dim if placement.is_shard() and placement.dim < len(shape) - 1 else None
        if dim is not None and side not in ("in0", "out0"):
            problems[pattern] = "styles are about the first input and the first output"
        elif dim is not None and shape[dim] % mesh[axis]:
            problems[pattern] = f"{mesh[axis]} devices do not divide dim {dim} of {list(shape)}"
            dim = None
        found.setdefault(pattern, {"in0": Counter(), "out0": Counter()}).setdefault(side, Counter())[dim] += 1
    values = {}
    for pattern, sides in found.items():
        takes, makes = (max(sides[s], key=lambda d: (sides[s][d], d is not None), default=None) for s in ("in0", "out0"))
        values[pattern] = Values(takes, makes, problems.get(pattern, ""))
    return values


def _assign(
    module: Any, styles: Mapping[str, Style], values: Mapping[str, Values], used: Mapping[str, Placements], mesh: Mapping[str, int], axis: str, callers: Callers
) -> dict[str, Style | Prepared]:
    found: dict[str, Style | Prepared] = dict(styles)
    names: dict[str, list[str]] = {}
    for name, _ in module.named_modules():
        names.setdefault(to_pattern(name), []).append(name)
    for pattern, value in values.items():
        if style := styles.get(pattern):
            if value.makes is not None:
                found[pattern] = dataclasses.replace(style, makes=value.makes)
        elif all(_is_complete(module.get_submodule(n), n, used, list(mesh).index(axis)) and callers.takes_one(n) for n in names[pattern]):
            if value.takes is not None and value.takes == value.makes and all(_runs_on_shards(module.get_submodule(n)) for n in names[pattern]):
                found[pattern] = Style("sequence", axis, False, value.takes, value.makes)
            elif value.takes != value.makes:
                inputs: dict[int | str, tuple[Dim, Dim]] = {} if value.takes is None else {0: (value.takes, None)}
                found[pattern] = Prepared(axis, inputs, None if value.makes is None else (None, value.makes))
    return found | _find_gathers(module, styles, values, axis, callers, set(found))


def _is_complete(module: Any, name: str, used: Mapping[str, Placements], number: int) -> bool:
    """Whether each device has all of its parameters."""
    own = [used.get(f"{name}.{k}", ()) for k, _ in module.named_parameters(recurse=False)]
    return not any(p[number].is_shard() for p in own if p)


def _runs_on_shards(module: Any) -> bool:
    """Its parameters are about features alone, as those of norms and linear layers."""
    own = list(module.parameters())
    return bool(own) and not list(module.children()) and (isinstance(module, torch.nn.Linear) or all(p.dim() == 1 for p in own))


def _find_gathers(
    module: Any, styles: Mapping[str, Style], values: Mapping[str, Values], axis: str, callers: Callers, taken: set[str]
) -> dict[str, Prepared]:
    """Modules that take a sharded value and hand it to weights alone: it is gathered once, and code in there sees all of it."""
    readers: dict[tuple[str, int | str], set[str]] = {}
    for name, _ in module.named_modules():
        pattern = to_pattern(name)
        if pattern in values and (around := callers.find(name)):
            readers.setdefault(around[-1], set()).add(pattern)
    found: dict[str, Prepared] = {}
    for (name, side), patterns in readers.items():
        dims = {values[p].takes for p in patterns}
        is_columns = all((s := styles.get(p)) is not None and s.kind == "colwise" for p in patterns)
        if name and is_columns and len(dims) == 1 and (dim := next(iter(dims))) is not None and to_pattern(name) not in taken:
            found[to_pattern(name)] = Prepared(axis, {side: (dim, None)})
    return found


def _find_tables(module: Any) -> set[str]:
    return {to_pattern(n) for n, m in module.named_modules() if isinstance(m, torch.nn.Embedding)}
