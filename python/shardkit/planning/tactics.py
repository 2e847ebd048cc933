"""Partial plans by name, such as data parallelism: pins of the arguments that a program uses in a certain way."""

from __future__ import annotations

import dataclasses
import re
from typing import TYPE_CHECKING, Any, Callable, Mapping, Sequence

from ..errors import ShardKitError
from .uses import Dim, Uses

if TYPE_CHECKING:
    from typing_extensions import Self


@dataclasses.dataclass(frozen=True)
class Tactic:
    """One of them, as it was asked for."""

    kind: str
    axis: str | None
    stage: int = 0
    inputs: tuple[str, ...] | None = None
    skip: tuple[str, ...] = ()
    is_strict: bool = False

    def __str__(self) -> str:
        arguments = [repr(self.stage)] if self.kind == "zero" else []
        if self.axis is not None:
            arguments.append(f'"{self.axis}"')
        for name, value in (("inputs", self.inputs), ("skip", self.skip or None)):
            arguments += [f"{name}={list(value)}"] if value is not None else []
        return f"{self.kind}({', '.join(arguments)})"


@dataclasses.dataclass(frozen=True)
class Tactics:
    """Partial plans, which are applied in order: `Tactics().dp("data").megatron("model").zero(3)`. Each method gives new ones.

    A tactic pins dims of arguments, which it finds by their use. What it does not pin stays open to later tactics, then to the search.
    Names in `skip` and `inputs` may be patterns."""

    steps: tuple[Tactic, ...] = ()

    def dp(self, axis: str, inputs: Sequence[str] | None = None) -> Self:
        """Data parallelism: the batch dims of inputs are sharded by the axis. `inputs`: their names, by default those of arguments that are
        no weights."""
        return self._add(Tactic("dp", axis, inputs=None if inputs is None else _read_names("inputs", inputs)))

    def megatron(self, axis: str, skip: Sequence[str] = ()) -> Self:
        """Tensor parallelism: of each pair of contractions the first weight by columns and the second by rows, as in an MLP and in
        attention, whose heads are sharded; then tables by rows, and last layers by columns. Weights in `skip` are left alone."""
        return self._add(Tactic("megatron", axis, skip=_read_names("skip", skip)))

    def sp(self, axis: str) -> Self:
        """Sequence parallelism: the sequence dim of inputs is sharded by the axis; if that is the axis of `megatron`, the sums of its
        pairs too, which are reduced and scattered."""
        return self._add(Tactic("sp", axis))

    def ep(self, axis: str) -> Self:
        """Expert parallelism: weights of experts are sharded by the axis along the dim of experts."""
        return self._add(Tactic("ep", axis))

    def zero(self, stage: int, axis: str | None = None, skip: Sequence[str] = ()) -> Self:
        """ZeRO: what an axis of `dp`, by default the last, would replicate is sharded by it. Stage 1: the optimizer's state; 2: gradients
        too; 3: weights too, as in FSDP. Arguments in `skip` are left alone."""
        if stage not in (1, 2, 3):
            raise ShardKitError(f"error: zero({stage!r}), expected stage 1 (optimizer state), 2 (gradients too) or 3 (weights too)")
        return self._add(Tactic("zero", axis, stage, skip=_read_names("skip", skip)))

    def _add(self, tactic: Tactic) -> Self:
        return dataclasses.replace(self, steps=(*self.steps, tactic))

    def require_all(self) -> Self:
        """An axis that does not divide what a tactic shards is an error; else that is left out, and reported."""
        return dataclasses.replace(self, steps=tuple(dataclasses.replace(s, is_strict=True) for s in self.steps))

    def __str__(self) -> str:
        return ".".join([f"{type(self).__name__}()", *map(str, self.steps)])


def _read_names(what: str, names: Sequence[str]) -> tuple[str, ...]:
    if isinstance(names, str) or not all(isinstance(n, str) for n in names):
        raise ShardKitError(f"error: {what} is {names!r}, expected names or patterns in a list")
    return tuple(names)


@dataclasses.dataclass
class Pin:
    """Of an argument: the axes of each dim, None where it is open, and axes that it is not sharded by."""

    dims: list[list[str] | None]
    replicated: list[str] = dataclasses.field(default_factory=list)

    def __str__(self) -> str:
        entries = ["?" if axes is None else "+".join(axes) if axes else "-" for axes in self.dims]
        return f"[{', '.join(entries)}]" + (f" not by {', '.join(self.replicated)}" if self.replicated else "")

    def get_axes(self) -> set[str]:
        return {a for axes in self.dims for a in axes or ()} | set(self.replicated)


@dataclasses.dataclass(frozen=True)
class Applied:
    """What a tactic did."""

    tactic: str
    pins: dict[str, str]
    """What it pins, by name or pattern: axes of each dim, `?` for an open one."""
    left_out: dict[str, str]
    """What it did not shard, with the reason."""
    needs: tuple[str, ...]
    """What it needs of the mesh, which was checked."""
    rules: tuple[Mapping[str, Any], ...]
    """All pins so far, as rules of a plan file, those of the user last: names of tactics are complete, and hold what these say of them."""


def resolve(tactics: Tactics, rules: Mapping[str, Any], mesh_name: str, axes: Mapping[str, int], pins: Sequence[Mapping[str, Any]]) -> list[Applied]:
    """The pins of tactics. `rules`: the program's, of --spmd-export-rules; `pins`: the user's, as rules of a plan file."""
    return _Resolver(tactics, rules, mesh_name, axes, pins).run()


class _Resolver:
    def __init__(self, tactics: Tactics, rules: Mapping[str, Any], mesh_name: str, axes: Mapping[str, int], pins: Sequence[Mapping[str, Any]]) -> None:
        self._tactics, self._mesh_name, self._axes, self._given = tactics, mesh_name, axes, pins
        first = next((t for t in tactics.steps if t.inputs is not None), None)
        (function,) = rules["functions"][-1:]
        names = [a["name"] for a in function["arguments"]]
        inputs = None if first is None else [n for n in names if _matches_any(first.inputs or (), n)]
        if first is not None and not inputs:
            raise ShardKitError(f"error: {first}: no argument is called so, expected some of: {_list(names)}")
        self._uses = Uses(function, inputs)
        self._pins: dict[str, Pin] = {}
        self._values: dict[str, Pin] = {}
        self._axis_of: dict[str, list[str]] = {}  # axes by kind of tactic
        self._experts: dict[str, set[str]] = {}  # by axis of ep its weights
        self._sums: dict[str, list[str]] = {}  # by axis of megatron the weights of second contractions

    def run(self) -> list[Applied]:
        for tactic in self._tactics.steps:
            if tactic.axis is not None and tactic.axis not in self._axes:
                raise ShardKitError(f"error: {tactic} names axis {tactic.axis!r}, expected one of the mesh: {', '.join(self._axes)}")
        self._find_shared_axes()
        for name, pin in self._pins_of_user().items():
            self._pins[name] = pin
        return [self._apply(tactic) for tactic in self._tactics.steps]

    def _find_shared_axes(self) -> None:
        """Two tactics that shard different things need axes of their own."""
        owners: dict[str, Tactic] = {}
        for tactic in self._tactics.steps:
            if tactic.kind not in ("dp", "megatron", "ep") or tactic.axis is None:
                continue
            other = owners.setdefault(tactic.axis, tactic)
            if other is not tactic and "ep" not in (other.kind, tactic.kind):  # experts may be on the devices of others
                free = [a for a in self._axes if a not in owners]
                raise ShardKitError(f"error: {other} and {tactic} share axis {tactic.axis}, expected another axis: {', '.join(free) or 'the mesh has no more'}")

    # --- the user's pins ----------------------------------------------------------------------------------

    def _pins_of_user(self) -> dict[str, Pin]:
        found: dict[str, Pin] = {}
        for name in self._uses.arguments:
            for rule in self._given:
                if "argument" in rule and "axis_resources" in rule and _matches(rule["argument"], name):
                    found[name] = _read_pin(rule["axis_resources"], self._uses.get_rank(name))
                    break
        return found

    # --- each tactic --------------------------------------------------------------------------------------

    def _apply(self, tactic: Tactic) -> Applied:
        step = _Step(tactic)
        actions: dict[str, Callable[[_Step], None]] = {"dp": self._dp, "megatron": self._megatron, "sp": self._sp, "ep": self._ep, "zero": self._zero}
        actions[tactic.kind](step)
        if tactic.axis is not None:
            self._axis_of.setdefault(tactic.kind, []).append(tactic.axis)
        if tactic.is_strict and step.indivisible:
            raise ShardKitError(f"error: {tactic}: {step.indivisible[0]}")
        if not step.pins:
            reason = "; ".join(dict.fromkeys([*step.indivisible, *step.left_out.values()])) or "nothing is left to be sharded"
            raise ShardKitError(f"error: {tactic} pins nothing: {reason}")
        return Applied(str(tactic), _group(step.pins), _group(step.left_out), tuple(dict.fromkeys(step.needs)), tuple(self._write()))

    def _dp(self, step: _Step) -> None:
        uses, axis = self._uses, step.axis
        if uses.batch is None:
            known = ", ".join(uses.arguments)
            raise ShardKitError(f"error: {step.tactic}: no input has a batch dim that contractions compute with, expected inputs=[...], of: {known}")
        dims = [(n, d) for n in uses.inputs for d in range(uses.get_rank(n)) if uses.get_group(n, d) == uses.batch][:]
        first: dict[str, int] = {}
        for name, d in dims:
            first.setdefault(name, d)
        if self._divides(step, "batch", list(first), uses.batch, sizes=[uses.get_shape(n)[d] for n, d in first.items()]):
            for name, d in first.items():
                self._pin(step, name, d, axis)

    def _megatron(self, step: _Step) -> None:
        pairs = sorted(self._find_pairs(step), key=lambda p: p[:2])
        taken: set[str] = set()
        for _, _, group, columns, rows in pairs:
            members = [*columns, *rows]
            if any(n in taken or n in self._experts.get(step.axis, ()) for n, _ in members):
                continue
            if self._divides(step, "shared dim", [n for n, _ in members], group):
                taken |= {n for n, _ in members}
                for name, d in members:
                    self._pin(step, name, d, step.axis)
                self._sums.setdefault(step.axis, []).extend(n for n, _ in rows)
        self._shard_rest(step, taken)

    def _find_pairs(self, step: _Step) -> list[tuple[int, int, Dim, list[tuple[str, int]], list[tuple[str, int]]]]:
        """Groups of dims that first contractions make and second ones sum over: their length in ops, where they begin, weights and dims. The
        shortest come first: what all layers share, as the values between blocks, is the longest."""
        columns: dict[Dim, list[tuple[str, int]]] = {}
        rows: dict[Dim, list[tuple[str, int]]] = {}
        uses = self._uses
        for name, c in uses.contractions.items():
            if _matches_any(step.tactic.skip, name):
                continue
            for dims, found in ((c.free, columns), (c.reduced, rows)):
                inner = [d for d in dims if uses.get_group(name, d) not in uses.experts]
                if inner:
                    found.setdefault(uses.get_group(name, inner[0]), []).append((name, inner[0]))
        found_pairs = []
        for group, made in columns.items():
            summed = rows.get(group, [])
            first = [uses.contractions[n].number for n, _ in made]
            last = [uses.contractions[n].number for n, _ in summed]
            names = [n for n, _ in (*made, *summed)]
            if summed and max(last) > min(first) and len(set(names)) == len(names):
                start = min(*first, *last)
                found_pairs.append((max(*first, *last) - start, start, group, made, summed))
        return found_pairs

    def _shard_rest(self, step: _Step, taken: set[str]) -> None:
        """Tables by rows; last layers, whose results no other weight is contracted with, by columns. Others are left out."""
        uses = self._uses
        found = {n: d for n, (_, d) in uses.lookups.items()}
        for name, c in uses.contractions.items():
            free = [d for d in c.free if uses.get_group(name, d) not in uses.experts]
            if free and name not in taken and uses.is_last(name):
                found.setdefault(name, free[0])
        alone = "no weight sums over its columns as they are, and later layers read them"
        for name in (*found, *uses.contractions):
            if name in taken or name in step.left_out or name in self._experts.get(step.axis, ()) or _matches_any(step.tactic.skip, name):
                continue
            if name not in found:
                step.left_out[name] = alone
                continue
            size, count = uses.get_shape(name)[found[name]], self._axes[step.axis]
            if size % count:
                step.left_out[name] = f"dim {found[name]} has size {size}, which axis {step.axis} of {count} devices does not divide"
            else:
                self._pin(step, name, found[name], step.axis)

    def _ep(self, step: _Step) -> None:
        uses = self._uses
        if not uses.experts:
            raise ShardKitError(f"error: {step.tactic}: no contraction of a weight has a batch dim of its own, expected layers of experts, such as 'ebd,edf->ebf'")
        for group in sorted(uses.experts):
            members = [
                (n, d) for n, c in uses.contractions.items() for d in (*c.batch, *c.free)
                if uses.get_group(n, d) == group and len(c.reduced) + len(c.free) + len(c.batch) > 2
            ]  # fmt: skip
            if self._divides(step, "experts", [n for n, _ in members], group):
                self._experts.setdefault(step.axis, set()).update(n for n, _ in members)
                for name, d in members:
                    self._pin(step, name, d, step.axis)

    def _sp(self, step: _Step) -> None:
        uses, axis = self._uses, step.axis
        group = uses.sequence
        if group is None:
            raise ShardKitError(f"error: {step.tactic}: no input has a sequence dim, beside that of the batch, that contractions of weights compute with")
        dims = {n: d for n in uses.inputs for d in reversed(range(uses.get_rank(n))) if uses.get_group(n, d) == group}
        if not self._divides(step, "sequence", list(dims), group, sizes=[uses.get_shape(n)[d] for n, d in dims.items()]):
            return
        for name, d in dims.items():
            self._pin(step, name, d, axis)
        for name in self._sums.get(axis, ()):
            c = uses.contractions[name]
            if c.value and (found := uses.find_part(c.result, group)):
                (d, before), pin = found, self._values.setdefault(c.value, Pin([None] * len(uses.shapes[c.result])))
                pin.dims[d] = [axis] if before == 1 else [str(before), axis]
                step.pins[f"the sum of {name}"] = str(pin)

    def _zero(self, step: _Step) -> None:
        tactic, uses = step.tactic, self._uses
        known = self._axis_of.get("dp", [])
        axis = tactic.axis or (known[-1] if known else None)
        if axis is None or axis not in known:
            raise ShardKitError(f"error: {tactic} shards by an axis of dp, expected {'one of ' + ', '.join(known) if known else 'dp(axis) before it'}")
        step.axis = axis
        state = uses.state
        if not state and tactic.stage < 3:
            raise ShardKitError(f"error: {tactic}: no argument is the state of an optimizer, which only updates read, expected zero(3), or a step that has some")
        weights = [n for n in uses.weights if n not in state]
        gradients = uses.find_gradients()
        for name in state:
            self._zero_one(step, name, self._find_parameter(name, weights))
        for name in weights:
            if tactic.stage == 3:
                self._zero_one(step, name, name)
            elif axis not in self._get_pin(name).get_axes():
                self._get_pin(name).replicated.append(axis)
                step.pins[name] = str(self._get_pin(name))
        for name in state if tactic.stage >= 2 else ():
            if name in gradients and name in step.pins:
                position, value = gradients[name]
                self._values[position] = Pin([list(e) if e else None for e in self._get_pin(name).dims])
                step.pins[f"the gradient that updates {name}"] = str(self._values[position])

    def _find_parameter(self, name: str, weights: Sequence[str]) -> str:
        """The weight that state belongs to: the one of its dims."""
        groups = self._uses.get_groups(name)
        return next((w for w in weights if self._uses.get_groups(w) == groups), name)

    def _zero_one(self, step: _Step, name: str, parameter: str) -> None:
        """Shards the largest dim that is free and that the axis divides; as the weight that it belongs to is sharded otherwise."""
        pin, shape, count = self._get_pin(name), self._uses.get_shape(name), self._axes[step.axis]
        if _matches_any(step.tactic.skip, name) or step.axis in pin.get_axes():
            return
        if parameter != name and parameter in self._pins:
            for d, axes in enumerate(self._pins[parameter].dims):
                pin.dims[d] = pin.dims[d] if axes is None or step.axis in axes else list(axes)
        free = [d for d in sorted(range(len(shape)), key=lambda d: -shape[d]) if pin.dims[d] is None and shape[d] % count == 0]
        if free:
            self._pin(step, name, free[0], step.axis)
        else:
            step.left_out[name] = f"axis {step.axis} of {count} devices divides no free dim of {'x'.join(map(str, shape))}"

    # --- pins ---------------------------------------------------------------------------------------------

    def _get_pin(self, name: str) -> Pin:
        return self._pins.setdefault(name, Pin([None] * self._uses.get_rank(name)))

    def _pin(self, step: _Step, name: str, dim: int, axis: str) -> None:
        pin = self._get_pin(name)
        if pin.dims[dim] == [axis]:
            step.pins[name] = str(pin)
            return
        if pin.dims[dim] is not None or axis in pin.get_axes():
            given = any("argument" in r and _matches(r["argument"], name) for r in self._given)
            what = "which pins= has otherwise" if given else "which an earlier tactic has otherwise"
            choice = "expected no such pin" if given else "expected another axis"
            skip = f", or skip=[{name!r}]" if step.tactic.kind in ("megatron", "zero") else ""
            raise ShardKitError(f"error: {step.tactic} shards dim {dim} of {name} by {axis}, {what}: {pin}, {choice}{skip}")
        pin.dims[dim] = [axis]
        step.pins[name] = str(pin)

    def _divides(self, step: _Step, what: str, names: Sequence[str], group: Dim, sizes: Sequence[int] = ()) -> bool:
        """Whether the axis divides a group of dims; else the reason is kept."""
        divisor, count = self._uses.groups.get_divisor(group), self._axes[step.axis]
        for size in sizes:
            divisor = size if not divisor else min(divisor, size)
        shown = ", ".join(dict.fromkeys(map(to_pattern, names)))
        if divisor % count == 0:
            step.needs.append(f"{step.axis}={count} divides {divisor} ({what} of {shown})")
            return True
        choices = [n for n in range(1, divisor + 1) if divisor % n == 0]
        reason = f"axis {step.axis} of {count} devices does not divide {divisor} ({what} of {shown}), expected one of: {_list(list(map(str, choices)), 8)}"
        step.indivisible.append(reason)
        step.left_out |= dict.fromkeys(names, reason)
        return False

    def _write(self) -> list[Mapping[str, Any]]:
        found: list[Mapping[str, Any]] = []
        for name, pin in self._pins.items():
            if any(axes is not None for axes in pin.dims) or pin.replicated:
                found.append({"function": self._uses.name, "argument": name, **self._spell(pin)})
        for position, pin in self._values.items():
            found.append({"function": self._uses.name, "value": position, "hash": self._uses.hash, **self._spell(pin)})
        return [*found, *filter(self._has_effect, self._given)]

    def _has_effect(self, rule: Mapping[str, Any]) -> bool:
        """Whether a pin of the user is not said of all its arguments already; one that matches none is to be told."""
        matched = [n for n in self._uses.arguments if "argument" in rule and _matches(rule["argument"], n)]
        return not matched or any(n not in self._pins for n in matched)

    def _spell(self, pin: Pin) -> Mapping[str, Any]:
        dims = ", ".join("{?}" if axes is None else _spell_axes(axes) for axes in pin.dims)
        replicated = f", replicated = {_spell_axes(pin.replicated)}" if pin.replicated else ""
        return {"sharding": f"<@{self._mesh_name}, [{dims}]{replicated}>"}


def _spell_axes(axes: Sequence[str]) -> str:
    """A number is the part of a dim that stays together."""
    return "{" + ", ".join(a if a.isdigit() else f'"{a}"' for a in axes) + "}"


class _Step:
    """A tactic that is being applied."""

    def __init__(self, tactic: Tactic) -> None:
        self.tactic, self.axis = tactic, tactic.axis or ""
        self.pins: dict[str, str] = {}
        self.left_out: dict[str, str] = {}
        self.needs: list[str] = []
        self.indivisible: list[str] = []


def _read_pin(resources: Sequence[Any] | None, rank: int) -> Pin:
    if resources is None:
        return Pin([[] for _ in range(rank)])
    entries = [None if e == "?" else [] if e is None else list(e) if isinstance(e, (list, tuple)) else [e] for e in resources]
    return Pin((entries + [[] for _ in range(rank)])[:rank])


def _group(found: Mapping[str, str]) -> dict[str, str]:
    """Names of layers of all numbers as one pattern, where they have one entry."""
    values: dict[str, set[str]] = {}
    for name, value in found.items():
        values.setdefault(to_pattern(name), set()).add(value)
    return {p if len(values[p := to_pattern(n)]) == 1 else n: v for n, v in found.items()}


def to_pattern(name: str) -> str:
    """Layers of all numbers."""
    return re.sub(r"(?<=\.)\d+(?=\.|$)", "*", name)


def _matches_any(patterns: Sequence[str], name: str) -> bool:
    return any(_matches(p, name) for p in patterns)


def _matches(pattern: str, name: str) -> bool:
    """As rules of plan files do: `*` within a component, and all names below."""
    expression = "".join("[^.]*" if c == "*" else re.escape(c) for c in pattern)
    return re.fullmatch(rf"{expression}(\..*)?", name) is not None


def _list(names: Sequence[str], limit: int = 12) -> str:
    return ", ".join(names[:limit]) + (", ..." if len(names) > limit else "")
