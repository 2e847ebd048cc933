"""What a planned program says of the equations it came from: the layouts of what each reads and makes.

Ops carry the path of their equation in their location. An equation has a counterpart where ops of its path make values of its
types that no other op of its path reads; an equation that was fused, folded or merged with another has none."""

from __future__ import annotations

import dataclasses
import re
from typing import Any, Iterator, Mapping, Sequence

from . import equations

_SHARDING = re.compile(r"<@[\w.\"]+, \[([^\[\]]*)\](?:, [^<>]*?)?>")
_UNREDUCED = re.compile(r"unreduced\s*=\s*\{")


@dataclasses.dataclass(frozen=True)
class Layout:
    """Axes per dim; `is_partial`: the values of devices are parts of a sum."""

    dims: tuple[tuple[str, ...], ...]
    is_partial: bool = False


def parse_layouts(text: str) -> list[Layout]:
    """The shardings in an attribute, of this dialect or of Shardy's."""
    found = []
    for match in _SHARDING.finditer(text):
        dims = re.findall(r"\{([^{}]*)\}", match[1])
        axes = [tuple(a for entry in dim.split(",") if (a := entry.strip().replace('"', "")) and a != "?") for dim in dims]
        found.append(Layout(tuple(tuple(re.sub(r"p\d+$", "", a) for a in dim) for dim in axes), bool(_UNREDUCED.search(match[0]))))
    return found


class Program:
    """The main function of a module whose values have explicit layouts."""

    def __init__(self, text: str) -> None:
        from ..stablehlo.builder import walk
        from ..stablehlo.frontend import find_function, parse

        self._module = parse(text)
        self.main = find_function(self._module, "main")
        self._ops: dict[str, list[Any]] = {}
        for op in walk(self.main.operation):
            path = equations.read_tag(str(op.location))
            if path is not None and op.name not in (*_TRANSPARENT, *_INITIAL):
                self._ops.setdefault(path, []).append(op)

    # --- layouts --------------------------------------------------------------------------------------

    def read_signature(self, key: str) -> list[Layout | None]:
        """Of arguments (`arg_attrs`) or results (`res_attrs`)."""
        from jaxlib.mlir import ir

        found: list[Layout | None] = []
        for attributes in self.main.attributes[key]:
            entries = {a.name: str(a.attr) for a in ir.DictAttr(attributes)}
            found.append(next(iter(parse_layouts(entries.get("spmd.sharding", ""))), None))
        return found

    def get_layout(self, value: Any) -> Layout | None:
        """Where it is made; None where any layout is had for nothing, as that of a constant."""
        from jaxlib.mlir import ir

        owner = value.owner
        if isinstance(owner, ir.Block):
            number = list(owner.arguments).index(value)
            op = owner.owner.operation
            if op.name == "func.func":
                return self.read_signature("arg_attrs")[number]
            number -= 1 if op.name == "scf.for" else 0
            return self._read(op, number)
        op = owner.operation
        if "sharding" in op.attributes and op.name in _TRANSPARENT:
            return next(iter(parse_layouts(str(op.attributes["sharding"]))), None)
        return self._read(op, list(op.results).index(value))

    def _read(self, op: Any, number: int) -> Layout | None:
        if "spmd.shardings" not in op.attributes:
            return None
        layouts = parse_layouts(str(op.attributes["spmd.shardings"]))
        return layouts[number] if 0 <= number < len(layouts) else None

    def get_reduced(self, value: Any) -> Layout | None:
        """The layout of a value once its sum is complete: of a reader that shards it further, else as it was computed."""
        layout = self.get_layout(value)
        if layout is None or not layout.is_partial:
            return layout
        for use in value.uses:
            if use.owner.operation.name == "spmd.reshard":
                reduced = self.get_layout(use.owner.operation.results[0])
                if reduced and not reduced.is_partial and all(a[: len(b)] == b for a, b in zip(reduced.dims, layout.dims)):
                    return reduced
        return Layout(layout.dims)

    # --- counterparts ---------------------------------------------------------------------------------

    def find(self, path: str, shapes: Sequence[tuple[int, ...]]) -> list[Any] | None:
        """The values that an equation makes; None where it has no counterpart."""
        ops = set(self._ops.get(path, ()))
        made = [op for op in self._ops.get(path, ()) if op.results and not any(self._is_read_by(r, ops) for r in op.results)]
        fitting = [op for op in made if [get_shape(r) for r in op.results] == list(shapes)]
        return list(fitting[0].results) if len(fitting) == 1 else None

    def _is_read_by(self, value: Any, ops: set[Any]) -> bool:
        for use in value.uses:
            op = use.owner.operation
            if op in ops or (op.name in _TRANSPARENT and any(self._is_read_by(r, ops) for r in op.results)):
                return True
        return False


_TRANSPARENT = ("spmd.reshard", "spmd.with_sharding_constraint")

_INITIAL = ("tensor.empty", "linalg.fill")
"""What ops write into; those of several equations are one."""


def get_shape(value: Any) -> tuple[int, ...] | None:
    from jaxlib.mlir import ir

    return tuple(ir.RankedTensorType(value.type).shape) if isinstance(value.type, ir.RankedTensorType) else None


def read_sites(jaxpr: Any, program: Program) -> dict[str, Layout]:
    """The layout of each site: of the operands and results of contractions, and of what loops and branches carry and make."""
    found: dict[str, Layout] = {}
    for path, eqn in equations.walk(jaxpr):
        for site, layout in _read_equation(path, eqn, program):
            if layout is not None and layout.dims and not layout.is_partial:
                found[site] = layout
    return found


CONTRACTIONS = ("dot_general", "conv_general_dilated", "ragged_dot_general")


def _read_equation(path: str, eqn: Any, program: Program) -> Iterator[tuple[str, Layout | None]]:
    kind = eqn.primitive.name
    if kind in ("scan", "while", "cond"):
        yield from _read_carried(path, eqn, program)
        return
    results = program.find(path, [tuple(v.aval.shape) for v in eqn.outvars])
    if results is None:
        return
    if kind in CONTRACTIONS:
        operands = list(results[0].owner.operands)[: len(eqn.invars)]
        if [get_shape(v) for v in operands] == [tuple(v.aval.shape) for v in eqn.invars]:
            for k, value in enumerate(operands):
                if not hasattr(eqn.invars[k], "val"):  # else a literal
                    yield f"{path}/in{k}", program.get_layout(value)
    for k, value in enumerate(results):
        if _is_read(eqn.outvars[k]):
            yield f"{path}/out{k}", program.get_reduced(value)


def _read_carried(path: str, eqn: Any, program: Program) -> Iterator[tuple[str, Layout | None]]:
    """What is carried, but for values that a body returns as they are: those are captured."""
    carried = _find_carried(eqn)
    changed = [k for k in range(len(eqn.outvars)) if not carried.is_unchanged(k)]
    results = program.find(path, [tuple(eqn.outvars[k].aval.shape) for k in changed])
    if results is None:
        return
    for k, value in zip(changed, results):
        layout = program.get_layout(value)
        if _is_read(eqn.outvars[k]):
            yield f"{path}/out{k}", layout
        if k < carried.count:
            yield f"{carried.path(path)}/arg{carried.first + k}", layout
            yield f"{carried.path(path)}/result{k}", layout


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
