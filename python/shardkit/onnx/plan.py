"""Plans of ONNX models: the user's own model with the standard's fields for several devices, completed by the search or by propagation."""

from __future__ import annotations

import dataclasses
import re
import warnings
from pathlib import Path
from typing import Any, Mapping, Sequence

from ..errors import ShardKitError, require
from ..model import read_mesh, read_names
from ..planning import search
from ..planning.layouts import Layout, Program, parse_layouts
from ..planning.plan import AnnotatedPlan
from .devices import rules
from .devices.meshes import make_spec
from .devices.specs import FIRST_VERSION, Spec
from .devices.writer import add_fields
from .frontend import Importer

COMPLETIONS = ("search", "propagation")


def plan_onnx(
    source: str | Path,
    *,
    mesh: Mapping[str, int] | None = None,
    configuration: str | None = None,
    sizes: Mapping[str, int] | None = None,
    memory: float | None = None,
    pins: Mapping[str, Sequence[Any] | None] | None = None,
    costs: Mapping[str, Any] | None = None,
    options: Sequence[str] = (),
    complete: str = "search",
) -> OnnxPlan:
    """Completes the device annotations of an ONNX model, to be written into the model by `save`.

    `source`: a file. `configuration`: the name of a device configuration, where the model has several, or that of a new one. `mesh`: names
    and sizes of axes, needed for a new configuration; by default those that the specs of the model have. Specs and pipeline stages of the
    model are checked and kept. `sizes`: of symbolic dims, for planning: the model keeps its symbols. `complete`: `search`, or `propagation` of
    what is annotated, which leaves the rest on all devices. `memory`: bytes that a device holds at most. `pins`: from names or patterns of inputs
    and weights to an entry per dim, an axis, a list of axes, None or "?"; None alone replicates. `costs`, `options`: those of
    `shardkit.plan`."""
    if complete not in COMPLETIONS:
        raise ShardKitError(f"error: complete is {complete!r}, expected {' or '.join(COMPLETIONS)}")
    if complete == "propagation" and (memory is not None or options):
        raise ShardKitError("error: propagation takes no memory and no options, expected complete='search' with them")
    planner = _Planner(Path(source), read_mesh(mesh), configuration, sizes or {})
    return planner.plan(memory, pins or {}, costs or {}, read_names(options, "options"), complete)


@dataclasses.dataclass(frozen=True)
class OnnxPlan(AnnotatedPlan):
    """A model with device annotations. `specs`: by node of the graph, by number, those that were added; `left_out`: why a tensor of a node
    has none."""

    configuration: str
    mesh: dict[str, int]
    specs: dict[int, dict[str, Spec]]
    left_out: dict[str, str]
    _source: Path
    _data: bytes

    def __repr__(self) -> str:
        axes = ", ".join(f"{n}={s}" for n, s in self.mesh.items())
        added = sum(len(specs) for specs in self.specs.values())
        return f"OnnxPlan({self.configuration}, {axes}: {self.status}, {added} specs added to {len(self.specs)} nodes, {len(self.left_out)} tensors left out)"

    def save(self, path: str | Path) -> None:
        """Writes the model. Where weights are in external files, it has to be beside them."""
        files = _find_external(self._source)
        if files and Path(path).resolve().parent != self._source.resolve().parent:
            warnings.warn(f"the model reads {', '.join(files)} beside it: copy from {self._source.resolve().parent}", stacklevel=2)
        Path(path).write_bytes(self._data)

    def serialize(self) -> bytes:
        """The bytes of the model: those of the file, and the fields that are new."""
        return self._data

    def _summarize(self) -> Sequence[str]:
        added = sum(len(specs) for specs in self.specs.values())
        return [f"specs: {added} added to {len(self.specs)} nodes", *(f"left out: {name}: {why}" for name, why in self.left_out.items())]


class _Planner:
    """A model on its way to a plan."""

    def __init__(self, source: Path, mesh: Mapping[str, int], configuration: str | None, sizes: Mapping[str, int]) -> None:
        require("jaxlib", "jax", "planning an ONNX model")
        self._source = source
        self._importer = importer = Importer(source, sizes, configuration, (), mesh or None, is_planned=True)
        assert importer.configuration and importer.placement
        self._nodes = importer.fields.graph.node
        self._configuration, self._placement = importer.configuration, importer.placement
        self._model = importer.lower(watch=True)
        found = re.search(r'func\.func (?:public )?@(?:"([^"]+)"|([^\s("]+))', self._model.text)
        assert found
        self._function = found[1] or found[2]

    def plan(self, memory: float | None, pins: Mapping[str, Any], costs: Mapping[str, Any], options: Sequence[str], complete: str) -> OnnxPlan:
        axes = self._placement.mesh.axes
        if not isinstance(pins, Mapping):
            raise ShardKitError(f"error: pins is {pins!r}, expected an entry for each dim by the names of inputs and weights, or by patterns")
        for name, entries in pins.items():
            if entries is not None and not isinstance(entries, (list, tuple)):
                raise ShardKitError(f"error: the pin of {name} is {entries!r}, expected an entry for each dim: an axis, a list of axes, None or '?'; or None alone")
            search.check_axes(f"the pin of {name}", entries or (), axes)
        chosen = [{"function": self._function, "argument": n, "axis_resources": None if e is None else list(e)} for n, e in pins.items()]
        text = search.add_mesh(self._model.text, axes, costs)
        text = search.search(text, chosen, memory, options) if complete == "search" else search.propagate(text, chosen)
        specs, left_out = self._read(search.read_program(text, self._function))
        return OnnxPlan(
            text, self._configuration.name, dict(axes), specs, left_out, self._source, self._write(specs)
        )

    # --- from layouts to specs ------------------------------------------------------------------------

    def _read(self, program: Program) -> tuple[dict[int, dict[str, Spec]], dict[str, str]]:
        """What nodes lack, and why some of it is not known."""
        self._program = program
        self._arguments = {a.name: k for k, a in enumerate(self._importer.arguments)}
        found, left_out = dict[int, dict[str, Spec]](), dict[str, str]()
        for index, node in enumerate(self._nodes):
            known = self._configuration.nodes[index].specs if index in self._configuration.nodes else {}
            own, read = dict[str, Spec](), dict[str, Spec]()
            for name in dict.fromkeys(filter(None, [*node.input, *node.output])):
                if name in known:
                    continue
                is_read = name in node.input
                layout, why = self._find_layout(index, name, is_read)
                if layout is None:
                    left_out[f"{node.name or node.output[0]}/{name}"] = why
                    continue
                spec = make_spec(name, layout, self._importer.shapes[name], self._placement.get_mesh(index))
                (read if is_read else own)[name] = spec
            if self._find_conflict(index, {**known, **read}):
                read = self._infer(index, known, read)
            if why := self._find_conflict(index, {**known, **read}):
                left_out |= {f"{node.name or node.output[0]}/{name}": why for name in read}
                read = {}
            if own or read:
                order = dict.fromkeys(filter(None, [*node.input, *node.output]))
                found[index] = {name: {**own, **read}[name] for name in order if name in own or name in read}
        return found, left_out

    def _find_layout(self, index: int, name: str, is_read: bool) -> tuple[Layout | None, str]:
        value = self._find_value(name)
        if value is None:
            return None, "a constant, which every device has" if name not in self._importer.sites else "its layout is that of no value of the program"
        layout = self._program.find_read(value, str(index)) if is_read else None
        layout = layout or self._program.get_reduced(value)
        if layout is not None and len(layout.dims) != len(self._importer.shapes.get(name, ())):
            return None, "it has another rank in the program"
        return layout, "a constant, which every device has"

    def _infer(self, index: int, known: Mapping[str, Spec], read: Mapping[str, Spec]) -> dict[str, Spec]:
        """Specs of the inputs of a node that are lowered to more than one op, and first read in a layout in which nothing is computed: each
        loop has the axes that it has in the specs of the model, else in the result, else in an input."""
        node, shapes, mesh = self._nodes[index], self._importer.shapes, self._placement.get_mesh(index)
        loops = rules.find_loops(node, shapes)
        if loops is None:
            return dict(read)
        given: list[tuple[tuple[str, ...], Layout | None]]
        given = [(loops.inputs[k], self._to_layout(index, known[name])) for k, name in enumerate(node.input) if k in loops.inputs and name in known]
        given += [(loops.result, self._find_layout(index, node.output[0], False)[0])]
        given += [(loops.inputs[k], self._find_layout(index, name, False)[0]) for k, name in enumerate(node.input) if name in read]
        axes, used = dict[str, tuple[str, ...]](), set[str]()
        for names, layout in given:
            for loop, entries in zip(names, layout.dims if layout else ()):
                own = {entry.partition(":")[0] for entry in entries if not entry.isdigit()}
                if loop not in axes and own and not own & used:
                    axes[loop] = entries
                    used |= own
        found = dict[str, Spec]()
        for k, name in enumerate(node.input):
            if name in read and name not in found:
                dims = tuple(axes.get(loop, ()) if shapes[name][d] != 1 else () for d, loop in enumerate(loops.inputs[k]))
                found[name] = make_spec(name, Layout(dims), shapes[name], mesh)
        return found

    def _to_layout(self, index: int, spec: Spec) -> Layout:
        return parse_layouts(self._placement.spell(index, spec, len(self._importer.shapes[spec.tensor]), spec.tensor))[0]

    def _find_value(self, name: str) -> Any:
        arguments = self._program.main.regions[0].blocks[0].arguments
        if name in self._arguments:
            return arguments[self._arguments[name]]
        if name not in self._importer.sites:
            return None
        tag, number = self._importer.sites[name]
        return arguments[self._arguments[tag]] if number is None else self._program.find_result(tag, number)

    def _find_conflict(self, index: int, specs: Mapping[str, Spec]) -> str:
        """The rule that specs of inputs break together, if any: then it is not known how the node reads them."""
        try:
            rules.check_node(self._nodes[index], specs, self._importer.shapes)
        except ShardKitError as error:
            return f"it does not follow from the program how the node reads it ({str(error).removeprefix('error: ')})"
        return ""

    # --- the file -------------------------------------------------------------------------------------

    def _write(self, specs: Mapping[int, Mapping[str, Spec]]) -> bytes:
        import onnx

        fields = self._importer.fields
        numbers = sorted({node.stage for node in self._configuration.nodes.values() if node.stage is not None})
        annotations = dict[int, tuple[str, Sequence[Spec], int | None]]()
        for index in range(len(self._nodes)):
            known = self._configuration.nodes.get(index)
            stage = numbers[self._placement.stages[index]] if self._placement.stages and (known is None or known.stage is None) else None
            if index in specs or stage is not None:
                annotations[index] = (self._configuration.name, list(specs.get(index, {}).values()), stage)
        made = onnx.DeviceConfigurationProto(name=self._configuration.name, num_devices=self._configuration.devices) if self._importer.is_new else None
        version = FIRST_VERSION if fields.ir_version < FIRST_VERSION else None
        return add_fields(self._source.read_bytes(), version, made, annotations)


def _find_external(source: Path) -> list[str]:
    """The files that a model reads."""
    import onnx

    model = onnx.load(source, load_external_data=False)
    entries = [e for i in model.graph.initializer if i.data_location == onnx.TensorProto.EXTERNAL for e in i.external_data]
    return sorted({str(e.value) for e in entries if e.key == "location"})
