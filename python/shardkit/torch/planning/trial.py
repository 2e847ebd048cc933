"""Whether the code between modules works on shards: what one rank would compute under styles, compared with the module itself.

Modules with a style are not run. The value that a rank would have is taken from a run of the module as it is, so no other rank is
needed: of a sharded side a shard, else all of it. What comes into such modules must be what their style takes, and gradients are compared in
the same way, so that a parameter whose gradient a rank has a part of is found. Styles that do not pass are changed until all do."""

from __future__ import annotations

import contextlib
import dataclasses
from typing import Any, Callable, Iterator, Mapping, Sequence, Union

import torch
from torch.overrides import TorchFunctionMode
from torch.utils._pytree import tree_leaves

from .callers import Callers, evaluating, to_pattern

Dim = Union[int, None]
"""That along which a rank has a shard of a value, -1 for the last; None: it has all of it."""


@dataclasses.dataclass(frozen=True)
class Style:
    """Of a module. `colwise` and `rowwise`: the weight is sharded by its outputs or inputs; `sequence`: each rank runs it on its shard.
    `takes` and `makes`: what comes from the code before it, and what goes to the code after it."""

    kind: str
    axis: str
    is_embedding: bool
    takes: Dim
    makes: Dim


@dataclasses.dataclass(frozen=True)
class Prepared:
    """A module whose inputs and output, a tensor or a tuple of them, change from one Dim to another. `inputs`: by number or name."""

    axis: str
    inputs: Mapping[int | str, tuple[Dim, Dim]] = dataclasses.field(default_factory=dict)
    output: tuple[Dim, Dim] | None = None


Entries = Mapping[str, Union[Style, Prepared]]
"""By pattern or name of modules; the module itself is "" ."""


def try_styles(
    module: Any, args: Sequence[Any], kwargs: Mapping[str, Any], loss: Callable[..., Any] | None, entries: Entries, count: int, callers: Callers
) -> dict[str, Style | Prepared] | None:
    """The entries as they work; None where no change of them does, which is only so where some are about other dims than the last."""
    if not entries:
        return {}
    with evaluating(module):
        return _Trial(module, args, kwargs, loss, count, callers).settle(dict(entries))


def has_inner_dims(entry: Style | Prepared) -> bool:
    """Whether a style is about other dims than the last."""
    dims = (entry.takes, entry.makes) if isinstance(entry, Style) else [d for change in (*entry.inputs.values(), entry.output or ()) for d in change]
    return any(d not in (None, -1) for d in dims)


class _Mismatch(Exception):
    """A value is not what it should be. `key`: of the style that takes it, in module `name`, on side `side` (the number or name of an input,
    "out", "result"); `found`: what it is instead, if that is known; `sources`: the styles whose shards it was computed of."""

    def __init__(self, key: str = "", name: str = "", side: int | str = "", found: Any = ..., sources: set[str] | None = None) -> None:
        super().__init__(key, side, found)
        self.key, self.name, self.side, self.found, self.sources = key, name, side, found, sources or set()


class _Trial:
    """Runs a module under styles, and changes those that do not work."""

    def __init__(self, module: Any, args: Sequence[Any], kwargs: Mapping[str, Any], loss: Any, count: int, callers: Callers) -> None:
        self._module, self._args, self._kwargs, self._loss, self._count, self._callers = module, args, kwargs, loss, count, callers
        self._names = [n for n, _ in module.named_modules()]
        self._changes: dict[str, int] = {}

    def settle(self, entries: dict[str, Style | Prepared]) -> dict[str, Style | Prepared] | None:
        while (mismatch := self._find_mismatch(entries)) is not None:
            changed = self._change(entries, mismatch)
            if changed is None or changed == entries:
                return None if any(map(has_inner_dims, entries.values())) else entries
            entries = changed
        return entries

    def _find_mismatch(self, entries: Entries) -> _Mismatch | None:
        reference = _Run(self._module, entries, None, self._count)
        reference.call(self._args, self._kwargs, self._loss)
        for rank in dict.fromkeys((0, self._count - 1)):
            run = _Run(self._module, entries, reference, self._count, rank)
            try:
                run.call(self._args, self._kwargs, self._loss)
            except _Mismatch as mismatch:
                return mismatch
            except Exception:  # shards do not fit: what the module raises has no common base
                return _Mismatch(sources=run.failed)
        return None

    # --- changes ----------------------------------------------------------------------------------------

    def _change(self, entries: Entries, mismatch: _Mismatch) -> dict[str, Style | Prepared] | None:
        if mismatch.found in (..., -1):
            return self._complete(entries, mismatch.sources)
        key = mismatch.key
        self._changes[key] = self._changes.get(key, 0) + 1
        if self._changes[key] > 4:  # calls that differ
            return None
        if mismatch.side == "result":
            return self._gather_result(entries, mismatch)
        entry = entries[key]
        if isinstance(entry, Style) and entry.kind != "sequence":
            return self._replace(entries, key, dataclasses.replace(entry, takes=mismatch.found))
        wanted = entry.takes if isinstance(entry, Style) else None if mismatch.side == "out" else entry.inputs[mismatch.side][0]
        if mismatch.found is None and wanted is not None and (split := self._split(entries, mismatch.name, entry.axis, wanted)):
            return split
        if isinstance(entry, Prepared):
            return self._replace(entries, key, _adapt(entry, mismatch.side, mismatch.found))
        if mismatch.found is None:  # it runs on complete values
            return self._replace(entries, key, None)
        return self._replace(entries, key, dataclasses.replace(entry, takes=mismatch.found, makes=mismatch.found))

    def _replace(self, entries: Entries, key: str, entry: Style | Prepared | None) -> dict[str, Style | Prepared]:
        others = {k: e for k, e in entries.items() if k != key}
        return others if entry is None else {**others, key: entry}

    def _split(self, entries: Entries, name: str, axis: str, dim: int) -> dict[str, Style | Prepared] | None:
        """A value that is complete, and that a module takes in shards: it is split where it comes into the outermost module."""
        for caller, side in self._callers.find(name):
            prepared = entries.get(caller, entries.get(to_pattern(caller)))
            if prepared is None or (caller in entries and isinstance(prepared, Prepared) and side not in prepared.inputs):
                inputs = prepared.inputs if isinstance(prepared, Prepared) else {}
                output = prepared.output if isinstance(prepared, Prepared) else None
                return self._replace(entries, caller, Prepared(axis, {**inputs, side: (None, dim)}, output))
        return None

    def _gather_result(self, entries: Entries, mismatch: _Mismatch) -> dict[str, Style | Prepared] | None:
        root = entries.get("", Prepared(next(iter(entries.values())).axis))
        if self._callers.get_outputs("") != [] and isinstance(root, Prepared) and root.output is None:
            return self._replace(entries, "", dataclasses.replace(root, output=(mismatch.found, None)))
        return self._complete(entries, mismatch.sources)

    def _complete(self, entries: Entries, sources: set[str]) -> dict[str, Style | Prepared] | None:
        """Those that a wrong value was computed of no longer make shards, the nearest first: those along the last dim, then modules that run on
        shards, then the others."""
        wrong = {k: e for k in sources if (e := entries.get(k)) is not None and _makes_shards(e)}
        if not wrong and not any(map(has_inner_dims, entries.values())):
            wrong = {k: e for k, e in entries.items() if _makes_shards(e)}
        last = {k: dataclasses.replace(e, makes=None) for k, e in wrong.items() if isinstance(e, Style) and e.makes == -1}
        runs = {k: e for k, e in wrong.items() if isinstance(e, Style) and e.kind == "sequence"}
        if runs and not last:
            return self._gather(entries, runs)
        others = {k: dataclasses.replace(e, makes=None) if isinstance(e, Style) else _complete_output(e) for k, e in wrong.items()}
        changed = dict(entries)
        for key, entry in (last or others).items():
            changed = self._replace(changed, key, entry)
        return changed if wrong else None

    def _gather(self, entries: Entries, runs: Mapping[str, Style]) -> dict[str, Style | Prepared]:
        """Code that does not work on what modules make in shards works on complete values: in the module that takes it, or in that around
        these which takes what they take. Its output is split. If there is none, the modules run on complete values."""
        changed, prepared = dict(entries), set[str]()
        for key, entry in runs.items():
            names = [n for n in self._names if key in (n, to_pattern(n))]
            after = {(to_pattern(n), side) for m in names for n, side in self._callers.find_takers(m)[:1]}
            around = {(to_pattern(n), side) for m in names for n, side in self._callers.find(m)[-1:] if n}
            if self._prepare(changed, after, entry.axis, entry.makes):
                continue
            if ({n for n, _ in around} == prepared and around) or self._prepare(changed, around, entry.axis, entry.takes):
                prepared = {n for n, _ in around}
                del changed[key]
                continue
            changed[key] = Prepared(entry.axis, {0: (entry.takes, None)})
        return changed

    def _prepare(self, entries: dict[str, Style | Prepared], places: set[tuple[str, int | str]], axis: str, dim: Dim) -> bool:
        """Whether the module of the only place can gather its input and split its output; it does then."""
        name, side = next(iter(places)) if len(places) == 1 else ("", 0)
        known = entries.get(name, Prepared(axis, {side: (dim, None)}))
        if not name or not isinstance(known, Prepared) or known.inputs.get(side) != (dim, None) or known.output is not None:
            return False
        if any(self._callers.get_outputs(n) == [] for n in self._names if to_pattern(n) == name):
            return False
        entries[name] = dataclasses.replace(known, output=(None, dim))
        return True


def _adapt(entry: Prepared, side: int | str, found: Dim) -> Prepared | None:
    """It changes from what comes, if that is not what is wanted."""
    inputs, output = dict(entry.inputs), entry.output
    if side == "out":
        assert output
        output = None if found == output[1] else (found, output[1])
    elif found == inputs[side][1]:
        del inputs[side]
    else:
        inputs[side] = found, inputs[side][1]
    return Prepared(entry.axis, inputs, output) if inputs or output else None


def _complete_output(entry: Prepared) -> Prepared | None:
    """Without what it makes in shards."""
    inputs = {k: change for k, change in entry.inputs.items() if change[1] is None}
    return dataclasses.replace(entry, inputs=inputs, output=None) if inputs else None


def _makes_shards(entry: Style | Prepared) -> bool:
    if isinstance(entry, Style):
        return entry.makes is not None
    return any(made is not None for _, made in (*entry.inputs.values(), *([entry.output] if entry.output else [])))


class _Run:
    """One run of the module: the reference, which notes what goes in and out of modules with a style, or that of a rank."""

    def __init__(self, module: Any, entries: Entries, reference: _Run | None, count: int, rank: int = 0) -> None:
        self._module, self._reference, self._count, self._rank = module, reference, count, rank
        self._owners = {n: k for n, _ in module.named_modules() if (k := n if n in entries else to_pattern(n)) in entries}
        self._entries = {n: entries[k] for n, k in self._owners.items()}
        styled = {n for n, e in self._entries.items() if isinstance(e, Style)}
        self._parameters = {n: p for n, p in module.named_parameters() if n.rpartition(".")[0] not in styled}
        self._reached: dict[str, set[str]] = {}
        """By module with parameters: the styles whose shards it takes."""
        self._keys: dict[int, str] = {}
        """Of the styles that made a value, by its number."""
        self.failed = set[str]()
        """The styles of whose shards an op was computed that failed."""
        self.dims: list[tuple[Dim, Dim]] = []
        self.inputs: list[torch.Tensor] = []
        self.outputs: list[torch.Tensor] = []
        self.made: list[torch.Tensor] = []
        """By the module itself, then by the loss."""
        self.gradients: list[Any] = []

    def call(self, args: Sequence[Any], kwargs: Mapping[str, Any], loss: Any) -> None:
        with self._hooked(), torch.enable_grad(), _Watch(self):
            found = loss(self._module, *args, **kwargs) if loss else self._module(*args, **kwargs)
            results = _find_tensors(found)
        if self._reference is None:
            self.made += results
            self._differentiate(self.made, self._make_cotangents())
            return
        for value, expected in zip(results, self._reference.made[len(self.made) :], strict=True):
            self._compare(value, expected, self.find_sources([value]))
        self.made += results
        self._check_gradients()

    def _make_cotangents(self) -> list[torch.Tensor]:
        return [torch.cos(torch.arange(v.numel(), dtype=v.dtype, device=v.device)).reshape(v.shape) for v in self.made]

    # --- forward ----------------------------------------------------------------------------------------

    @contextlib.contextmanager
    def _hooked(self) -> Iterator[None]:
        hooks, replaced = [self._module.register_forward_hook(self._end)], []
        for name, module in self._module.named_modules():
            if name in self._owners:
                replaced.append((module, module.__dict__.get("forward")))
                module.forward = self._make_forward(name, module.forward)
            if next(module.parameters(recurse=False), None) is not None:
                hooks.append(module.register_forward_pre_hook(self._make_note(name), with_kwargs=True))
        try:
            yield
        finally:
            for hook in hooks:
                hook.remove()
            for module, forward in replaced:
                module.__dict__.pop("forward")
                if forward is not None:
                    module.forward = forward

    def _make_note(self, name: str) -> Callable[..., None]:
        def note(_module: Any, args: Any, kwargs: Any) -> None:
            if self._keys:
                self._reached.setdefault(name, set()).update(self.find_sources(_find_tensors((args, kwargs))))

        return note

    def _end(self, _module: Any, _args: Any, output: Any) -> None:
        """The result of the module is complete on all ranks, whatever is made of it."""
        values = _find_tensors(output)
        if self._reference is not None:
            for value, expected in zip(values, self._reference.made[len(self.made) :]):
                self._recognize(value, expected, None, "", "", "result")
        self.made += values

    def _make_forward(self, name: str, forward: Callable[..., Any]) -> Callable[..., Any]:
        entry, key = self._entries[name], self._owners[name]

        def styled(*args: Any, **kwargs: Any) -> Any:
            x = args[0] if args else next(iter(kwargs.values()))
            assert isinstance(entry, Style)
            return self._cut(key, name, 0, x, (entry.takes, entry.makes), forward, entry.kind == "sequence")

        def prepared(*args: Any, **kwargs: Any) -> Any:
            assert isinstance(entry, Prepared)
            given, named = list(args), dict(kwargs)
            for side, change in entry.inputs.items():
                held: Any = given if isinstance(side, int) else named
                held[side] = self._cut(key, name, side, held[side], change)
            output = forward(*given, **named)
            if entry.output is None:
                return output
            if isinstance(output, tuple):
                return tuple(self._cut(key, name, "out", v, entry.output) if isinstance(v, torch.Tensor) else v for v in output)
            return self._cut(key, name, "out", output, entry.output)

        return styled if isinstance(entry, Style) else prepared

    def _cut(
        self, key: str, name: str, side: int | str, x: torch.Tensor, dims: tuple[Dim, Dim], compute: Callable[..., Any] | None = None, is_run: bool = False
    ) -> torch.Tensor:
        """A value goes in, and one that is computed of it goes on, or the same."""
        if self._reference is None:
            x = x.clone()  # its gradient is that of this module alone
            output = compute(x) if compute else x.clone()
        else:
            number = len(self.inputs)
            if number == len(self._reference.inputs):
                raise _Mismatch(sources=set(self._owners.values()))
            self._recognize(x, self._reference.inputs[number], dims[0], key, name, side)
            expected = self._reference.outputs[number].detach()
            output = self._shard(expected, dims[1]).clone()
            if is_run:
                assert compute
                self._compare(compute(x.detach()), output, set())
            output.requires_grad_(output.is_floating_point())
            if dims[1] is not None:
                self._keys[id(output)] = key
        self.dims.append(dims)
        self.inputs.append(x)
        self.outputs.append(output)
        return output.clone()  # which may be changed in place

    def _shard(self, value: torch.Tensor, dim: Dim) -> torch.Tensor:
        return value if dim is None else value.chunk(self._count, dim)[self._rank]

    def _recognize(self, value: torch.Tensor, full: torch.Tensor, wanted: Dim, key: str, name: str, side: int | str) -> None:
        """The value is what is wanted of the full one; else it may be another shard of it."""
        dims = [wanted, None, *range(full.dim() - 1), -1]
        for dim in dict.fromkeys(d for d in dims if d is None or (full.dim() > d and full.dim() and full.shape[d] % self._count == 0)):
            if _is_same(value, self._shard(full, dim)):
                if dim == wanted:
                    return
                raise _Mismatch(key, name, side, dim, self.find_sources([value]))
        raise _Mismatch(key, name, side, sources=self.find_sources([value]))

    def _compare(self, value: torch.Tensor, expected: torch.Tensor, sources: set[str]) -> None:
        if not _is_same(value, expected):
            raise _Mismatch(sources=sources)

    def find_sources(self, values: Sequence[torch.Tensor]) -> set[str]:
        """The styles of whose shards values were computed."""
        found, seen = set[str](), set[Any]()
        waiting = [v.grad_fn if v.grad_fn is not None else v for v in values]
        while waiting:
            node = waiting.pop()
            if node is None or node in seen:
                continue
            seen.add(node)
            leaf = node if isinstance(node, torch.Tensor) else getattr(node, "variable", None)
            if leaf is not None and id(leaf) in self._keys:
                found.add(self._keys[id(leaf)])
            if not isinstance(node, torch.Tensor):
                waiting += [n for n, _ in node.next_functions]
        return found

    # --- backward ---------------------------------------------------------------------------------------

    def _differentiate(self, values: Sequence[torch.Tensor], gradients: Sequence[Any]) -> None:
        """The gradients of what went in and out of modules with a style, and of the other parameters."""
        pairs = [(v, g) for v, g in zip(values, gradients) if v.requires_grad and g is not None]
        wanted = [v for v in (*self.inputs, *self.outputs, *self._parameters.values()) if v.requires_grad]
        if not pairs or not wanted:
            return
        if self._reference is not None:  # what went in is what gradients come from
            wanted = [v for v in (*self.outputs, *self._parameters.values()) if v.requires_grad]
        found = dict(zip(map(id, wanted), torch.autograd.grad([v for v, _ in pairs], wanted, [g for _, g in pairs], allow_unused=True)))
        self.gradients = [found.get(id(v)) for v in (*self.inputs, *self.outputs, *self._parameters.values())]

    def _check_gradients(self) -> None:
        reference = self._reference
        assert reference
        if not reference.gradients:
            return
        count = len(self.inputs)
        dims = [*(d for d, _ in self.dims), *(d for _, d in self.dims), *(None for _ in self._parameters)]
        expected = [None if g is None else self._shard(g, d) for g, d in zip(reference.gradients, dims, strict=True)]
        self._differentiate([*self.inputs, *self.made], [*expected[:count], *self._make_cotangents()])
        learns = [v.requires_grad for v in (*reference.outputs, *self._parameters.values())]
        for position, (found, wanted, is_learned) in enumerate(zip(self.gradients[count:], expected[count:], learns)):
            if not is_learned or (found is None and wanted is None):
                continue
            found, wanted = (torch.zeros_like(wanted) if found is None else found), (torch.zeros_like(found) if wanted is None else wanted)
            number = position - count
            owner = list(self._parameters)[number].rpartition(".")[0] if number >= 0 else ""
            own = self._keys.get(id(self.outputs[position]), "") if number < 0 else ""
            self._compare(found, wanted, self._reached.get(owner, set()) if number >= 0 else {own} if own else set())


class _Watch(TorchFunctionMode):  # type: ignore[misc]
    """Notes what an op was computed of that fails."""

    def __init__(self, run: _Run) -> None:
        super().__init__()
        self._run = run

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        try:
            return func(*args, **(kwargs or {}))
        except _Mismatch:
            raise
        except Exception:
            self._run.failed = self._run.failed or self._run.find_sources(_find_tensors((args, kwargs or {})))
            raise


def _find_tensors(value: Any) -> list[torch.Tensor]:
    """Those of numbers that are differentiated."""
    return [v for v in tree_leaves(value) if isinstance(v, torch.Tensor) and v.is_floating_point()]


def _is_same(value: torch.Tensor, expected: torch.Tensor) -> bool:
    if value.shape != expected.shape:
        return False
    value, expected = value.detach().double(), expected.detach().double()
    least = 1e-5 * float(expected.abs().nan_to_num(0, 0, 0).max()) if expected.numel() else 0.0
    return bool(torch.allclose(value, expected, rtol=1e-3, atol=least + 1e-9, equal_nan=True))
