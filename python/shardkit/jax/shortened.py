"""A function with a few of its equal layers: the first ones and the last ones. What propagation does in the middle one of these it does in
all between."""

from __future__ import annotations

from typing import Any, Callable

from . import equations
from .rolled import Loop, Rolled


class Shortened:
    """The equations of `count` blocks of each loop, an odd number, and all others. `is_valid`: something is left out, and nothing that is
    left reads it."""

    def __init__(self, rolled: Rolled, jaxpr: Any, count: int) -> None:
        self._rolled, self._jaxpr, self._side = rolled, jaxpr, count // 2
        self._loops = [loop for loop in rolled.loops if loop.region.count > count]
        self._stand_ins: dict[int, int] = {}
        replaced: dict[Any, Any] = {}
        for loop in self._loops:
            self._shorten(loop, replaced)
        self._equations = [
            (i, eqn.replace(invars=[v if hasattr(v, "val") else replaced.get(v, v) for v in eqn.invars]))
            for i, eqn in enumerate(jaxpr.eqns)
            if self._stand_ins.get(i, i) == i
        ]
        made = {*jaxpr.invars, *jaxpr.constvars, *(v for _, eqn in self._equations for v in eqn.outvars)}
        self.is_valid = bool(self._loops) and all(hasattr(v, "val") or v in made for _, eqn in self._equations for v in eqn.invars)
        self.results = [i for i, v in enumerate(jaxpr.outvars) if hasattr(v, "val") or v in made]

    def _shorten(self, loop: Loop, replaced: dict[Any, Any]) -> None:
        """Blocks that are left out have a stand-in, and what they pass on is that of the last block before them that stays."""
        region, finder = loop.region, self._rolled.finder
        side, count = self._side, region.count
        middle = count - 1 - side if loop.is_reversed else side
        kept = sorted({*range(side), middle, *range(count - side, count)})
        for block in range(region.count):
            for k in range(region.size if block not in kept else 0):
                self._stand_ins[region.start + region.size * block + k] = region.start + region.size * middle + k
        for before, after in zip(kept, kept[1:]):
            if before != after - 1:
                replaced |= {finder.get_made(region, slot, after - 1): finder.get_made(region, slot, before) for slot in region.carried}

    def find_path(self, path: str) -> str:
        """That of the equation, or of what is at it, which stands for the one at a path."""
        first, dot, rest = path.partition(".")
        number, slash, site = first.partition("/")
        return f"{self._stand_ins.get(int(number), int(number))}{slash}{site}{dot}{rest}"

    def make_function(self, rewriter: equations.Rewriter, consts: Any) -> Callable[..., Any]:
        """Takes all arrays of the arguments, and makes those of `results`."""
        from jax.extend import core

        eqns = [made for i, eqn in self._equations for made in rewriter.rewrite_equation(str(i), eqn)]
        jaxpr = self._jaxpr.replace(eqns=eqns, outvars=[self._jaxpr.outvars[i] for i in self.results])
        return core.jaxpr_as_fun(core.ClosedJaxpr(jaxpr, consts))  # type: ignore[no-any-return]
