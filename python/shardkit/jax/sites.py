"""The layouts at the sites of a jaxpr, read from the program that its equations were lowered to."""

from __future__ import annotations

import dataclasses
from typing import Any, Callable, Iterator, Mapping

from ..planning.layouts import Layout, Move, Operand, Program
from . import equations


@dataclasses.dataclass(frozen=True)
class Site:
    layout: Layout
    shape: tuple[int, ...]
    move: Move | None = None
    """What is read at sites of one move is moved once."""


def read_sites(jaxpr: Any, program: Program, find_path: Callable[[str], str] = lambda path: path) -> dict[str, Site]:
    """The layout of each site: of the operands and results of contractions, and of what loops and branches carry and make. `find_path`: the
    path of the equation that stands for one in the program."""
    found: dict[str, Site] = {}
    known: dict[str, list[tuple[str, Site]]] = {}
    makers: dict[Any, str] = {}
    values: dict[Any, Any] = {}
    for path, eqn in equations.walk(jaxpr):
        name = find_path(path)
        makers |= {v: name for v in eqn.outvars}
        if name not in known:
            sites = [(site[len(name) :], *rest) for site, *rest in _read_equation(name, eqn, program, makers, values)]
            known[name] = [(site, Site(layout, tuple(v.aval.shape), move)) for site, layout, v, move in sites if layout and layout.dims and layout.is_common]
        for site, value in known[name]:
            found[path + site] = value
    return found


CONTRACTIONS = ("dot_general", "conv_general_dilated", "ragged_dot_general")


def _read_equation(path: str, eqn: Any, program: Program, makers: Mapping[Any, str], values: dict[Any, Any]) -> Iterator[tuple[str, Layout | None, Any, Move | None]]:
    kind = eqn.primitive.name
    if kind in ("scan", "while", "cond"):
        yield from _read_moved(path, eqn, program, makers, values, {})
        yield from _read_carried(path, eqn, program, values)
        return
    made = [k for k, v in enumerate(eqn.outvars) if v.aval.shape]
    results = program.find(path, [tuple(eqn.outvars[k].aval.shape) for k in made])
    if results is None:
        return
    read = dict(enumerate(program.find_operands(results, [tuple(v.aval.shape) for v in eqn.invars]))) if kind in CONTRACTIONS else {}
    yield from _read_moved(path, eqn, program, makers, values, read)
    values |= zip((eqn.outvars[k] for k in made), results)
    for k, value in zip(made, results):
        if _is_read(eqn.outvars[k]):
            yield f"{path}/out{k}", program.get_reduced(value), eqn.outvars[k], None


def _read_moved(
    path: str, eqn: Any, program: Program, makers: Mapping[Any, str], values: Mapping[Any, Any], read: Mapping[int, Any]
) -> Iterator[tuple[str, Layout | None, Any, Move | None]]:
    """What is moved for an equation, and what is known to be read by it."""
    variables = [None if hasattr(v, "val") else v for v in eqn.invars]  # or a literal
    operands = [Operand(v and makers.get(v), tuple(variable.aval.shape), v and values.get(v)) for v, variable in zip(variables, eqn.invars)]
    known = program.find_moved(path, operands) | dict(read)
    for k, variable in enumerate(variables):
        if variable is not None and k in known:
            layout, move = program.read_moved(known[k], variable.aval.shape)
            yield f"{path}/in{k}", layout, variable, move


def _read_carried(path: str, eqn: Any, program: Program, values: dict[Any, Any]) -> Iterator[tuple[str, Layout | None, Any, Move | None]]:
    """What is carried, but for values that a body returns as they are: those are captured."""
    carried = _find_carried(eqn)
    changed = [k for k, v in enumerate(eqn.outvars) if v.aval.shape and not carried.is_unchanged(k)]
    results = program.find(path, [tuple(eqn.outvars[k].aval.shape) for k in changed])
    if results is None:
        return
    values |= zip((eqn.outvars[k] for k in changed), results)
    for k, value in zip(changed, results):
        layout = program.get_layout(value)
        if _is_read(eqn.outvars[k]):
            yield f"{path}/out{k}", layout, eqn.outvars[k], None
        if k < carried.count:
            yield f"{carried.path(path)}/arg{carried.first + k}", layout, eqn.outvars[k], None
            yield f"{carried.path(path)}/result{k}", layout, eqn.outvars[k], None


def _is_read(variable: Any) -> bool:
    return type(variable).__name__ != "DropVar"


@dataclasses.dataclass(frozen=True)
class _Carried:
    """The first `count` results of an equation are carried by its body, as its arguments from `first` on."""

    parameter: str
    body: Any
    first: int
    count: int

    def path(self, path: str) -> str:
        return f"{path}.{self.parameter}"

    def is_unchanged(self, k: int) -> bool:
        return k < self.count and self.body.outvars[k] is self.body.invars[self.first + k]


def _find_carried(eqn: Any) -> _Carried:
    params: Mapping[str, Any] = eqn.params
    if eqn.primitive.name == "scan":
        return _Carried("jaxpr", params["jaxpr"].jaxpr, params["num_consts"], params["num_carry"])
    if eqn.primitive.name == "while":
        return _Carried("body_jaxpr", params["body_jaxpr"].jaxpr, params["body_nconsts"], len(eqn.outvars))
    return _Carried("branches", None, 0, 0)
