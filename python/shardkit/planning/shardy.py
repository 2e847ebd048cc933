"""The propagation that XLA begins with, Shardy's, as jaxlib has it: which constraints it needs to come to given layouts."""

from __future__ import annotations

import itertools
from typing import Any, Callable, Collection, Mapping, Sequence

from . import tags
from .layouts import Layout, parse_layouts

_PIPELINE = "builtin.module(sdy-propagation-pipeline)"
_PATIENCE = 4
"""How often constraints are added that help little before twice as many are."""
_WAVES, _LEAST = 4, 8
"""Without runs to leave constraints out: a part of those that are missing is added at a time, at least so many."""
_CONSTRAINT = "sdy.sharding_constraint"
_PROBES, _FREE = "probes", "free"
_VIA = "/via"
_SPLAT = ("stablehlo.constant", "stablehlo.iota", "stablehlo.broadcast_in_dim", "stablehlo.reshape", "stablehlo.convert")
"""Ops whose results are made in any layout for nothing where their operands are: propagation copies them for each use."""


class Propagation:
    """A lowered module with a constraint, named by its site, at each value that is asked for. Some constraints hold. Propagation runs without
    the others, and tells what the values at their sites come to."""

    def __init__(self, module: Any) -> None:
        self._module = module
        self._root = module.operation.clone()
        _inline(self._root)
        self._layouts: dict[Any, tuple[Layout, ...]] = {}
        self._constraints: list[tuple[str | None, Any]] = []
        """In the order of the program: sites with the sharding that they have where they hold."""
        self._results: dict[str, Any] = {}
        """Constraints of what ops make, by site."""
        self._own: dict[str, str | None] = {}
        opened: dict[str, Any] = {}
        free: set[Any] = set()
        with module.context:
            for op in _walk(self._root):
                if op.name != _CONSTRAINT:
                    if op.name in _SPLAT and all(_get_source(v) in free for v in op.operands):
                        free.update(op.results)
                    continue
                site = tags.read(str(op.location))
                site = site if site is not None and "/" in site else None
                self._constraints.append((site, op.attributes["sharding"]))
                if site is not None:
                    if "/in" not in site:
                        self._results[site] = op
                    elif not _is_of_block(op.operands[0]) and op.operands[0].owner.name == _CONSTRAINT:
                        self._own.setdefault(site.partition(_VIA)[0], tags.read(str(op.operands[0].owner.location)))
                    op.attributes["sharding"] = _open(op, opened)
                    if _get_source(op.operands[0]) in free:
                        op.attributes[_FREE] = op.attributes["sharding"]

    def complete(self, sites: Collection[str]) -> dict[str, None]:
        """With those of the values that are moved there: all that reads such a value would otherwise have it moved."""
        return dict.fromkeys([*sites, *(own for own in map(self._own.get, sites) if own)])

    def get_sources(self, site: str) -> Sequence[str]:
        """Sites of what the op computes from whose result a site constrains."""
        found: list[str] = []
        waiting, seen = ([self._results[site].operands[0]] if site in self._results else []), set()
        while waiting:
            value = waiting.pop()
            if value in seen or _is_of_block(value):
                continue
            seen.add(value)
            if value.owner.name != _CONSTRAINT:
                waiting += value.owner.operands
            elif (source := tags.read(str(value.owner.location))) is not None:
                found.append(source)
        return found

    def run(self, held: Collection[str]) -> dict[str, set[Layout]]:
        """What the sites come to; the bodies of functions that are called twice are sites twice. Of one that is held that is the layout of what it
        constrains: another one would be moved."""
        from jaxlib.mlir import passmanager

        wanted = set(held)
        root = self._root.clone()
        found: dict[str, set[Layout]] = {}
        with self._module.context:
            for op, (site, sharding) in zip(_list_constraints(root), self._constraints, strict=True):
                if site is None:
                    continue
                if site.partition(_VIA)[0] in wanted:
                    op.attributes["sharding"] = sharding
                    if "/in" not in site:
                        _probe(op, site)
                    continue
                if _VIA not in site:
                    _probe(op, site)
                op.results[0].replace_all_uses_with(op.operands[0])
                op.erase()
            pipeline = passmanager.PassManager.parse(_PIPELINE)
            pipeline.enable_verifier(False)  # half of the time, for a module that JAX made
            pipeline.run(root)
            for op in _walk(root):
                if _PROBES in op.attributes:
                    for probe in op.attributes[_PROBES].value.split():
                        kind, number, site = probe.split(":")
                        found.setdefault(site, set()).add(self._get_layout(op.operands[int(number)]) if kind == "in" else self._get_made(op, int(number)))
        return found

    def _get_layout(self, value: Any) -> Layout:
        """That of a value after propagation."""
        from jaxlib.mlir import ir

        if _is_of_block(value):
            return self._get_made(value.owner.owner.operation, ir.BlockArgument(value).arg_number)
        return self._get_made(value.owner, ir.OpResult(value).result_number)

    def _get_made(self, op: Any, number: int) -> Layout:
        """That of a result, of what a loop carries, or of an argument of a function."""
        from jaxlib.mlir import ir

        if op.name == "func.func":
            attributes, type = ir.DictAttr(op.attributes["arg_attrs"][number]), op.regions[0].blocks[0].arguments[number].type
            shardings, number = (self._read(attributes["sdy.sharding"]) if "sdy.sharding" in attributes else ()), 0
        else:
            type = op.results[number].type
            shardings = next((self._read(op.attributes[key]) for key in ("sdy.sharding", "sharding") if key in op.attributes), ())
        return shardings[number] if number < len(shardings) else Layout(((),) * ir.RankedTensorType(type).rank)

    def _read(self, sharding: Any) -> tuple[Layout, ...]:
        if sharding not in self._layouts:
            self._layouts[sharding] = parse_layouts(str(sharding))
        return self._layouts[sharding]


def _inline(root: Any) -> None:
    """Replaces calls by what is called, as XLA does before it propagates."""
    functions = {op.attributes["sym_name"].value: op for op in _walk(root) if op.name == "func.func"}
    called = set()
    while calls := [op for op in _walk(root) if op.name == "func.call"]:
        for call in calls:
            name = call.attributes["callee"].value
            called.add(name)
            copy = functions[name].clone(ip=False)
            block = copy.regions[0].blocks[0]
            for argument, operand in zip(block.arguments, call.operands):
                argument.replace_all_uses_with(operand)
            *ops, terminator = list(block.operations)
            for op in ops:
                op.operation.move_before(call)
            for result, value in zip(call.results, terminator.operands):
                result.replace_all_uses_with(value)
            copy.erase()
            call.erase()
    for name in called:
        functions[name].erase()


def _walk(root: Any) -> list[Any]:
    from ..stablehlo.builder import walk

    return walk(root)


def _list_constraints(root: Any) -> list[Any]:
    return [op for op in _walk(root) if op.name == _CONSTRAINT]


def _get_source(value: Any) -> Any:
    """What constraints are of."""
    while not _is_of_block(value) and value.owner.name == _CONSTRAINT:
        value = value.owner.operands[0]
    return value


def _is_of_block(value: Any) -> bool:
    from jaxlib.mlir import ir

    return isinstance(value.owner, ir.Block)


def _probe(constraint: Any, site: str) -> None:
    """Has the op that makes the value of a constraint tell its layout; where there is one reader, this one."""
    from jaxlib.mlir import ir

    if _FREE in constraint.attributes:
        return
    value, uses = constraint.operands[0], list(constraint.results[0].uses)
    if "/in" in site and len(uses) == 1:
        kind, op, number = "in", uses[0].owner.operation, uses[0].operand_number
    elif _is_of_block(value):
        kind, op, number = "out", value.owner.owner.operation, ir.BlockArgument(value).arg_number
    else:
        kind, op, number = "out", value.owner, ir.OpResult(value).result_number
    known = f"{op.attributes[_PROBES].value} " if _PROBES in op.attributes else ""
    op.attributes[_PROBES] = ir.StringAttr.get(f"{known}{kind}:{number}:{site}")


def _open(op: Any, known: dict[str, Any]) -> Any:
    from jaxlib.mlir import ir

    mesh = str(op.attributes["sharding"]).partition("<")[2].partition(",")[0]
    dims = ", ".join(["{?}"] * ir.RankedTensorType(op.results[0].type).rank)
    text = f"#sdy.sharding<{mesh}, [{dims}]>"
    if text not in known:
        known[text] = ir.Attribute.parse(text)
    return known[text]


def choose(
    propagation: Propagation,
    wanted: Mapping[str, Layout],
    runs: int,
    same: Mapping[str, str],
    first: Collection[str] = (),
    get_group: Callable[[str], str] = lambda site: site,
) -> list[str]:
    """Sites whose constraints lead propagation to the wanted layouts of all sites: `first`, and more as they are needed, of which those that
    can be left out are, in at most so many runs. `same`: sites that share the constraint of another one. Sites of one group, as those of an
    equation in each layer, are chosen together."""
    own = [site for site in wanted if site not in same]

    def find_wrong(held: Collection[str]) -> list[str]:
        known = propagation.complete(held)
        found = propagation.run(known)
        wrong = {site for site in own if found.get(site, {wanted[site]}) != {wanted[site]}}
        wrong |= {source for site in wrong & known.keys() for source in propagation.get_sources(site) if source in wanted}
        return [site for site in own if site in wrong and site not in known]

    added: dict[str, list[str]] = {}

    def find_missing(groups: Collection[str]) -> dict[str, list[str]]:
        """Sites that need a constraint beside those of these groups, by group, in the order of the program."""
        found: dict[str, list[str]] = {}
        for site in find_wrong([*first, *(s for g in groups for s in added[g])]):
            found.setdefault(get_group(site), []).append(site)
        return found

    used, fruitless, missing = 0, 0, find_missing(added)
    while missing:
        # Much of what is wrong mostly follows from the first of it: one at a time, and twice as many where a few of these help little.
        count = 1 << fruitless // _PATIENCE if runs else max(_LEAST, len(missing) // _WAVES)
        for group, sites in itertools.islice(missing.items(), count):
            added.setdefault(group, []).extend(sites)
        left = find_missing(added)
        fruitless = max(fruitless - _PATIENCE, 0) if len(left) < 0.75 * len(missing) else fruitless + 1
        used, missing = used + 1, left
    kept = _leave_out(list(added), find_missing, max(runs - used, runs // 2))
    known = propagation.complete([*first, *(s for g in kept for s in added[g])])
    return [site for site in wanted if same.get(site, site) in known]


def _leave_out(held: list[str], find_missing: Callable[[Collection[str]], Collection[str]], runs: int) -> list[str]:
    """Leaves out what is not needed: one of two, of four, of eight, and what is then missing comes back; again while that leaves out a tenth."""

    def try_without(removed: set[str]) -> list[str]:
        nonlocal runs
        kept = dict.fromkeys(group for group in held if group not in removed)
        while runs > 0:
            runs -= 1
            missing = find_missing(kept)
            if not missing:
                return [group for group in held if group in kept]
            if removed.isdisjoint(missing):
                break
            kept |= dict.fromkeys(removed.intersection(missing))
        return held

    for step in (2, 4, 8):
        before = 2 * len(held)
        while held and runs > 0 and len(held) <= 0.9 * before:
            before = len(held)
            for offset in range(step):
                held = try_without(set(held[offset::step]))
    return held
