"""The propagation that XLA begins with, Shardy's, as jaxlib has it: which constraints it needs to come to given layouts."""

from __future__ import annotations

import itertools
from typing import Any, Callable, Collection, Mapping

from . import tags
from .layouts import Layout, parse_layouts

_PIPELINE = "builtin.module(sdy-import-pipeline,sdy-user-priority-propagate)"
_WAVES = 8
_CONSTRAINT = "sdy.sharding_constraint"


class Propagation:
    """A lowered module with a constraint, named by its site, at each value that is asked for. Some constraints hold, the others are open:
    propagation passes through them and tells what it comes to."""

    def __init__(self, module: Any) -> None:
        self._module = module
        self._root = module.operation.clone()
        self._layouts: dict[Any, tuple[Layout, ...]] = {}
        self._constraints: list[tuple[str | None, Any]] = []
        """In the order of the program: sites with the sharding that they have where they hold."""
        opened: dict[str, Any] = {}
        with module.context:
            for site, op in _find_constraints(self._root):
                self._constraints.append((site, op.attributes["sharding"]))
                if site is not None:
                    op.attributes["sharding"] = _open(op, opened)

    def run(self, held: Collection[str]) -> dict[str, set[Layout]]:
        """What each site comes to; the bodies of functions that are called twice are sites twice."""
        from jaxlib.mlir import passmanager

        wanted = set(held)
        root = self._root.clone()
        with self._module.context:
            for op, (site, sharding) in zip(_list_constraints(root), self._constraints, strict=True):
                if site in wanted:
                    op.attributes["sharding"] = sharding
            passmanager.PassManager.parse(_PIPELINE).run(root)
            found: dict[str, set[Layout]] = {}
            for site, op in _find_constraints(root):
                if site is not None:
                    found.setdefault(site, set()).update(self._read(op.attributes["sharding"]))
        return found

    def _read(self, sharding: Any) -> tuple[Layout, ...]:
        if sharding not in self._layouts:
            self._layouts[sharding] = parse_layouts(str(sharding))
        return self._layouts[sharding]


def _list_constraints(root: Any) -> list[Any]:
    from ..stablehlo.builder import walk

    return [op for op in walk(root) if op.name == _CONSTRAINT]


def _find_constraints(root: Any) -> list[tuple[str | None, Any]]:
    """With their sites, if they are of one."""
    tagged = [(tags.read(str(op.location)), op) for op in _list_constraints(root)]
    return [(site if site is not None and "/" in site else None, op) for site, op in tagged]


def _open(op: Any, known: dict[str, Any]) -> Any:
    from jaxlib.mlir import ir

    mesh = str(op.attributes["sharding"]).partition("<")[2].partition(",")[0]
    dims = ", ".join(["{?}"] * ir.RankedTensorType(op.results[0].type).rank)
    text = f"#sdy.sharding<{mesh}, [{dims}]>"
    if text not in known:
        known[text] = ir.Attribute.parse(text)
    return known[text]


def choose(
    propagation: Propagation, wanted: Mapping[str, Layout], runs: int, first: Collection[str] = (), get_group: Callable[[str], str] = lambda site: site
) -> list[str]:
    """Sites whose constraints lead propagation to the wanted layouts of all sites: `first`, and more as they are needed, of which those that
    can be left out are, in at most so many runs. Sites of one group, as those of an equation in each layer, are chosen together."""

    def find_wrong(held: Collection[str]) -> list[str]:
        found, known = propagation.run(held), set(held)
        return [site for site in wanted if site not in known and found.get(site, {wanted[site]}) != {wanted[site]}]

    added: dict[str, list[str]] = {}
    while wrong := find_wrong([*first, *itertools.chain(*added.values())]):
        groups = list(dict.fromkeys(map(get_group, wrong)))
        chosen = set(groups[: -(-len(groups) // _WAVES)])  # much of the rest follows from these
        for site in wrong:
            if get_group(site) in chosen:
                added.setdefault(get_group(site), []).append(site)
    kept = _reduce(list(added), lambda groups: not find_wrong([*first, *(s for g in groups for s in added[g])]), runs)
    known = {*first, *(s for g in kept for s in added[g])}
    return [site for site in wanted if site in known]


def _reduce(held: list[str], suffices: Callable[[list[str]], bool], runs: int) -> list[str]:
    """Leaves out what is not needed: eighths, then halves of these. Of what comes later first, as layouts follow the data."""
    size = -(-len(held) // _WAVES)
    while size >= 1:
        position = len(held)
        while position > 0 and runs > 0:
            start = max(0, position - size)
            kept = held[:start] + held[position:]
            runs -= 1
            if suffices(kept):
                held = kept
            position = start
        size //= 2
    return held
