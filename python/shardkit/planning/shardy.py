"""The propagation that XLA begins with, Shardy's, as jaxlib has it: which constraints it needs to come to given layouts."""

from __future__ import annotations

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

    def run(self, held: Collection[str]) -> dict[str, set[Layout]]:
        """What each site comes to; the bodies of functions that are called twice are sites twice."""
        from jaxlib.mlir import passmanager

        root = self._module.operation.clone()
        with self._module.context:
            for site, op in _find_sites(root):
                if site not in held:
                    op.attributes["sharding"] = _open(op)
            passmanager.PassManager.parse(_PIPELINE).run(root)
            found: dict[str, set[Layout]] = {}
            for site, op in _find_sites(root):
                found.setdefault(site, set()).update(parse_layouts(str(op.attributes["sharding"])))
        return found


def _find_sites(root: Any) -> list[tuple[str, Any]]:
    from ..stablehlo.builder import walk

    tagged = [(tags.read(str(op.location)), op) for op in walk(root) if op.name == _CONSTRAINT]
    return [(site, op) for site, op in tagged if site is not None and "/" in site]


def _open(op: Any) -> Any:
    from jaxlib.mlir import ir

    mesh = str(op.attributes["sharding"]).partition("<")[2].partition(",")[0]
    dims = ", ".join(["{?}"] * ir.RankedTensorType(op.results[0].type).rank)
    return ir.Attribute.parse(f"#sdy.sharding<{mesh}, [{dims}]>")


def choose(propagation: Propagation, wanted: Mapping[str, Layout], runs: int) -> list[str]:
    """Sites whose constraints lead propagation to the wanted layouts of all sites. Those that can be left out are, in at most so many runs."""

    def find_wrong(held: Collection[str]) -> list[str]:
        found = propagation.run(held)
        return [site for site in wanted if site not in held and found.get(site, {wanted[site]}) != {wanted[site]}]

    held: list[str] = []
    while wrong := find_wrong(held):
        first = set(wrong[: -(-len(wrong) // _WAVES)])  # much of the rest follows from these
        held = [site for site in wanted if site in held or site in first]
    return _reduce(held, lambda kept: not find_wrong(kept), runs)


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
