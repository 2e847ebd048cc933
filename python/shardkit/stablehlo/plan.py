"""Plans of StableHLO: the user's own module with Shardy's shardings that the search chose."""

from __future__ import annotations

import dataclasses
import io
import itertools
import re
import warnings
from pathlib import Path
from typing import Any, Callable, Iterable, Iterator, Mapping, Sequence

from ..errors import ShardKitError
from ..model import read_mesh, read_names
from ..planning import completion, search, shardy, tags
from ..planning.layouts import Layout, Move, Operand, Program, get_shape
from ..planning.plan import AnnotatedPlan
from ..planning.tactics import Tactics
from . import frontend

CONTRACTIONS = ("stablehlo.dot_general", "stablehlo.dot", "stablehlo.convolution")
_AROUND = ("builtin.module", "func.func", "stablehlo.while", "stablehlo.if", "stablehlo.case")
"""Ops whose regions compute values of the program, not of single elements."""


def plan_stablehlo(
    source: str | bytes | Path,
    *,
    mesh: Mapping[str, int] | None = None,
    function: str | None = None,
    memory: float | None = None,
    pins: Mapping[str, Sequence[Any] | None] | None = None,
    costs: Mapping[str, Any] | None = None,
    options: Sequence[str] = (),
    minimize: int | None = 50,
    tactics: Tactics | None = None,
) -> StablehloPlan:
    """Chooses the shardings of a StableHLO module by search, to be read by any tool that takes Shardy's dialect.

    `source`: text, bytecode, or a file with either. `mesh`: names and sizes of axes, where the module has no `sdy.mesh`. Shardings of the
    module are kept. `function`: the public function, where there are several. `memory`: bytes that a device holds at most. `pins`: from names
    or patterns of arguments to an entry per dim, an axis, a list of axes, None or "?"; None alone replicates. `costs`, `options`,
    `minimize` and `tactics` are those of `shardkit.plan`."""
    planner = _Planner(source, read_mesh(mesh), function, minimize)
    return planner.search(memory, pins or {}, costs or {}, search.for_xla(read_names(options, "options")), tactics)


@dataclasses.dataclass(frozen=True)
class StablehloPlan(AnnotatedPlan):
    """A module with shardings. `constraints`: the values that have one, and `layouts` those of all that the plan knows, by site. `dropped` says
    what Shardy cannot express."""

    module: Any
    constraints: dict[str, Layout]
    layouts: dict[str, Layout]
    dropped: tuple[str, ...]
    _is_bytecode: bool
    _is_portable: bool
    _has_locations: bool

    def save(self, path: str | Path) -> None:
        """Writes the module, as text, bytecode or portable artifact as it came."""
        Path(path).write_bytes(self.serialize())

    def serialize(self) -> bytes:
        from jaxlib.mlir.dialects import stablehlo

        if self._is_portable:
            return bytes(stablehlo.serialize_portable_artifact(self.module, stablehlo.get_current_version(), allow_other_dialects=True))
        if self._is_bytecode:
            written = io.BytesIO()
            self.module.operation.write_bytecode(written)
            return written.getvalue()
        return (str(self.module.operation.get_asm(enable_debug_info=self._has_locations)).rstrip() + "\n").encode()

    def _summarize(self) -> Sequence[str]:
        return [f"constraints: {len(self.constraints)} of {len(self.layouts)} layouts", *(f"dropped: {d}" for d in self.dropped)]


class _Planner:
    """A module on its way to a plan."""

    def __init__(self, source: str | bytes | Path, mesh: Mapping[str, int], function: str | None, minimize: int | None) -> None:
        self._module, self._minimize = frontend.read(source), minimize
        self._dropped: list[str] = []
        given = source.read_bytes() if isinstance(source, Path) else source
        self._is_bytecode = isinstance(given, bytes) and given[:4] == b"ML\xefR"
        self._has_locations = b"loc(" in given if isinstance(given, bytes) else "loc(" in given
        self._is_portable = isinstance(given, bytes) and b"StableHLO" in given[:32]
        text = self._module.operation.get_asm(print_generic_op_form=True, enable_debug_info=True)
        if "mhlo.sharding" in text:
            raise ShardKitError("error: the module has shardings of GSPMD, mhlo.sharding, expected Shardy's")
        self._name = frontend.find_function(self._module, function).attributes["sym_name"].value
        copy = frontend.parse(text)
        self._ops = dict(_number(self._module))
        with copy.context:
            for name, op in _number(copy):
                op.location = _make_location(name, op)
        self._model = frontend.import_module(copy, self._name, (), True)
        self._axes = search.read_mesh(self._model.text)
        if self._axes and mesh and self._axes != dict(mesh):
            raise ShardKitError(f"error: the module has a mesh of {self._axes}, expected no other: {dict(mesh)}")
        self._axes = self._axes or dict(mesh)
        if not self._axes:
            raise ShardKitError("error: the module has no sdy.mesh, expected mesh: names and sizes of axes, such as data=2,model=4")

    def search(
        self, memory: float | None, pins: Mapping[str, Any], costs: Mapping[str, Any], options: Sequence[str], tactics: Tactics | None
    ) -> StablehloPlan:
        for name, entries in pins.items():
            search.check_axes(f"the pin of {name}", entries or (), self._axes)
        rules = [{"function": self._name, "argument": n, "axis_resources": None if e is None else list(e)} for n, e in pins.items()]
        text, applied = completion.complete(search.add_mesh(self._model.text, self._axes, costs), rules, tactics, memory, options)
        program = search.read_program(text, self._name)
        layouts = self._read_sites(program)
        self._add_signature(program)
        for dropped in self._dropped:
            warnings.warn(f"{dropped}, which Shardy cannot express: the dim is sharded by what comes before", stacklevel=3)
        if self._minimize is None:
            chosen = list(layouts)
        else:
            module, same = self._constrain(layouts)
            chosen = shardy.choose(shardy.Propagation(module), layouts, self._minimize, same)
        constraints = {site: layouts[site] for site in chosen}
        with self._module.context:
            self._annotate(constraints)
        return StablehloPlan(text, self._module, constraints, layouts, tuple(self._dropped), self._is_bytecode, self._is_portable, self._has_locations, tactics=applied)

    # --- layouts --------------------------------------------------------------------------------------

    def _read_sites(self, program: Program) -> dict[str, Layout]:
        found: dict[str, Layout] = {}
        self._moves: dict[str, Move | None] = {}
        """Sites that read what is moved once have one number."""
        makers = {value: name for name, op in self._ops.items() for value in op.results}
        known: dict[Any, Any] = {}
        for name, op in self._ops.items():
            if "sdy.sharding" in op.attributes:  # the user's
                continue
            made = [r for k, r in enumerate(op.results) if not _is_unchanged(op, k) and get_shape(r)]
            counterparts = program.find_all(name, _get_shapes(made))
            known |= zip(made, counterparts[0]) if len(counterparts) == 1 else ()
            each = [dict(_read_counterpart(name, op, values, program)) for values in counterparts]
            found |= {site: layout for site, (layout, _) in (each[0].items() if each else ()) if all(site in e and e[site][0] == layout for e in each)}
            moved = program.find_moved(name, [Operand(makers.get(v), get_shape(v), known.get(v)) for v in op.operands]) if op.name != "func.call" else {}
            for k, value in moved.items():
                layout, move = program.read_moved(value, get_shape(op.operands[k]) or ())
                if layout and layout.is_common:
                    found.setdefault(f"{name}/in{k}", layout)
                    self._moves[f"{name}/in{k}"] = move
            if len(each) == 1:
                self._moves |= {site: move for site, (_, move) in each[0].items() if move is not None}
        return found

    # --- annotations ----------------------------------------------------------------------------------

    def _add_signature(self, program: Program) -> None:
        """The mesh, and the shardings of arguments and results."""
        from jaxlib.mlir import ir

        with self._module.context, ir.Location.unknown():
            func = frontend.find_function(self._module, self._name)
            self._mesh = next((op.attributes["sym_name"].value for op in self._module.body.operations if op.operation.name == "sdy.mesh" and "=" in str(op.attributes["mesh"])), None)
            if self._mesh is None:
                self._mesh = "mesh"
                axes = ", ".join(f'"{n}"={s}' for n, s in self._axes.items())
                made = ir.Operation.parse(f"sdy.mesh @mesh = <[{axes}]>")
                ir.InsertionPoint.at_block_begin(self._module.body).insert(made)
            for key in ("arg_attrs", "res_attrs"):
                known, values = (program.arguments, self._model.arguments) if key == "arg_attrs" else (program.results, self._model.results)
                layouts = [self._express(name, layout) for name, layout in zip([value.name for value in values], known, strict=True)]
                old = list(func.attributes[key]) if key in func.attributes else [ir.DictAttr.get({})] * len(layouts)
                func.attributes[key] = ir.ArrayAttr.get([self._extend(d, layout) for d, layout in zip(old, layouts, strict=True)])

    def _express(self, name: str, layout: Layout | None) -> Layout | None:
        """What Shardy can say of a layout."""
        if layout is None or not layout.is_strided:
            return layout
        self._dropped += [f"dim {d} of {name} is sharded in strides, {{{', '.join(dim)}}}" for d, dim in enumerate(layout.dims) if any(map(str.isdigit, dim))]
        return Layout(tuple(tuple(itertools.takewhile(lambda entry: not entry.isdigit(), dim)) for dim in layout.dims))

    def _extend(self, attributes: Any, layout: Layout | None) -> Any:
        from jaxlib.mlir import ir

        entries = {a.name: a.attr for a in ir.DictAttr(attributes)}
        if layout is not None:
            entries["sdy.sharding"] = ir.Attribute.parse(f"#sdy.sharding{self._spell(layout)}")
        return ir.DictAttr.get(entries)

    def _spell(self, layout: Layout | None, rank: int = 0) -> str:
        if layout is None:
            return f"<@{self._mesh}, [{', '.join(['{?}'] * rank)}]>"
        dims = ["{" + ", ".join(re.sub(r"^([^:]+)", r'"\1"', axis) for axis in dim) + "}" for dim in layout.dims]
        return f"<@{self._mesh}, [{', '.join(dims)}]>"

    def _constrain(self, layouts: Mapping[str, Layout]) -> tuple[Any, dict[str, str]]:
        """A copy of the module with a named constraint at each site; those of one move have that of the first, which is told."""
        module = frontend.parse(self._module.operation.get_asm(print_generic_op_form=True, enable_debug_info=True))
        with module.context:
            return module, self._constrain_ops(list(_number(module)), layouts, _make_location)

    def _constrain_ops(self, ops: Iterable[tuple[str, Any]], layouts: Mapping[str, Layout], locate: Callable[[str, Any], Any]) -> dict[str, str]:
        same: dict[str, str] = {}
        moved: dict[Any, tuple[str, Any]] = {}
        for name, op in ops:
            for k, value in enumerate(op.operands):
                if layout := layouts.get(site := f"{name}/in{k}"):
                    move = self._moves.get(site)
                    key = (op.block, value, move or site)
                    if key in moved:
                        same[site], op.operands[k] = moved[key]
                        continue
                    for i, step in enumerate(move.steps if move else ()):
                        value = self._add_constraint(value, step, op, locate(f"{site}/via{i}", op))
                    moved[key] = site, self._add_constraint(value, layout, op, locate(site, op))
                    op.operands[k] = moved[key][1]
            self._constrain_results(name, op, layouts, locate)
        return same

    def _constrain_results(self, name: str, op: Any, layouts: Mapping[str, Layout], locate: Callable[[str, Any], Any]) -> None:
        for k, value in enumerate(op.results):
            if layout := layouts.get(site := f"{name}/out{k}"):
                made = self._add_constraint(value, layout, op, locate(site, op))
                made.owner.operation.move_after(op)
                value.replace_all_uses_except(made, made.owner.operation)
            if layout := layouts.get(site := f"{name}/result{k}"):
                terminator = list(op.regions[-1].blocks[0].operations)[-1].operation
                terminator.operands[k] = self._add_constraint(terminator.operands[k], layout, terminator, locate(site, op))

    def _add_constraint(self, value: Any, layout: Layout, op: Any, location: Any) -> Any:
        from jaxlib.mlir import ir

        attributes = {"sharding": ir.Attribute.parse(f"#sdy.sharding{self._spell(layout)}")}
        made = ir.Operation.create(
            "sdy.sharding_constraint", results=[value.type], operands=[value], attributes=attributes, loc=location, ip=ir.InsertionPoint(op)
        )
        return made.results[0]

    def _annotate(self, constraints: Mapping[str, Layout]) -> None:
        """By ops of their own: XLA simplifies a module before it propagates, and drops the attributes of ops that it replaces."""
        self._constrain_ops(self._ops.items(), constraints, lambda site, op: op.location)


def _number(module: Any) -> Iterator[tuple[str, Any]]:
    """The ops of functions that compute values of the program, with numbers as names."""

    def visit(op: Any) -> Iterator[Any]:
        for region in op.regions if op.name in _AROUND else ():
            for block in region.blocks:
                for inner in block.operations:
                    if inner.operation.results:
                        yield inner.operation
                    yield from visit(inner.operation)

    for number, op in enumerate(list(visit(module.operation))):
        yield str(number), op


def _make_location(name: str, op: Any) -> Any:
    from jaxlib.mlir import ir

    return ir.Location.name(tags.make(name), childLoc=op.location, context=op.context)


def _get_shapes(values: Sequence[Any]) -> list[tuple[int, ...]]:
    return [get_shape(v) or () for v in values]


def _is_unchanged(op: Any, k: int) -> bool:
    """A loop's body returns the value as it is: it is captured."""
    if op.name != "stablehlo.while":
        return False
    body = op.regions[1].blocks[0]
    return bool(list(body.operations)[-1].operands[k] == body.arguments[k])


def _read_counterpart(name: str, op: Any, values: Sequence[Any], program: Program) -> Iterator[tuple[str, tuple[Layout, Move | None]]]:
    """The layouts of what an op reads, if it is a contraction, and makes; what is read with its move, if it has one."""
    shapes = _get_shapes(op.results)
    made = [k for k, shape in enumerate(shapes) if shape and not _is_unchanged(op, k)]
    operands = program.find_operands(values, _get_shapes(op.operands)) if op.name in CONTRACTIONS else []
    found = [(f"{name}/in{k}", *program.read_moved(v, get_shape(v) or ())) for k, v in enumerate(operands)]
    found += [(f"{name}/out{k}", program.get_reduced(v), None) for k, v in zip(made, values, strict=True)]
    if op.name == "stablehlo.while":
        found += [(f"{name}/result{k}", program.get_layout(v), None) for k, v in zip(made, values, strict=True)]
    yield from ((site, (layout, move)) for site, layout, move in found if layout is not None and layout.is_common)
