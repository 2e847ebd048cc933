"""Decomposition of programs with layers: what several layers have in common is decomposed once.

A program without effects is a list of ops, and can be split between any two of them. It is, where it begins to read the weights of
another layer, as their names number them. Segments that have the same ops, shapes and lines are decomposed once, and copied."""

from __future__ import annotations

import dataclasses
import re
from typing import Any, Iterable, Iterator, Sequence

import torch
from torch._subclasses.fake_tensor import FakeTensor
from torch.export.exported_program import ExportedProgram, ModuleCallEntry, ModuleCallSignature
from torch.export.graph_signature import ExportGraphSignature, InputKind, InputSpec, OutputKind, OutputSpec, TensorArgument
from torch.utils._pytree import tree_leaves, tree_structure

_FEWEST = 3
"""Segments that have to be equal: fewer are not worth it."""


def decompose(program: Any, table: Any) -> Any:
    """As `program.run_decompositions(table)`."""
    segments = _find_segments(program)
    if segments is None:
        return program.run_decompositions(table)
    first = {s.key: s for s in reversed(segments)}
    decomposed = {key: _decompose_segment(program, s, table) for key, s in first.items()}
    if not all(map(_is_pure, decomposed.values())):  # ops with effects that only what they are made of shows
        return program.run_decompositions(table)
    return _join(program, segments, decomposed)


@dataclasses.dataclass
class _Segment:
    """Ops that follow each other, what they read of others, and which of their results others read."""

    nodes: list[Any]
    inputs: list[Any]
    outputs: list[Any]
    key: str
    """Equal for segments that differ in what they read alone."""


def _find_segments(program: Any) -> list[_Segment] | None:
    """None where none of them are equal, or the program has more than tensors of known sizes, or effects."""
    nodes = [node for node in program.graph.nodes if node.op not in ("placeholder", "output")]
    tensors = [v for node in program.graph.nodes for v in tree_leaves(node.meta.get("val")) if isinstance(v, torch.Tensor)]
    if any(node.op != "call_function" or _has_effects(node) for node in nodes) or not all(map(_has_known_shape, tensors)):
        return None
    if any(spec.kind is not OutputKind.USER_OUTPUT or not isinstance(spec.arg, TensorArgument) for spec in program.graph_signature.output_specs):
        return None
    changes = _find_changes(program)
    if any(node.op == "placeholder" for node in changes):
        return None
    nodes = _delay_copies(nodes, changes)
    begins = _find_begins(nodes, changes)
    segments = [_describe(nodes[begin:end]) for begin, end in zip(begins, [*begins[1:], len(nodes)])]
    count: dict[str, int] = {}
    for segment in segments:
        count[segment.key] = count.get(segment.key, 0) + 1
    if max(count.values(), default=0) < _FEWEST:
        return None
    # Those between equal ones are one.
    joined: list[list[Any]] = []
    is_open = False
    for segment in segments:
        is_alone = count[segment.key] < _FEWEST
        if is_open and is_alone:
            joined[-1] += segment.nodes
        else:
            joined.append(list(segment.nodes))
        is_open = is_alone
    return [_describe(part) for part in joined]


def _has_effects(node: Any) -> bool:
    """Other than to change a tensor."""
    is_mutable = getattr(getattr(node.target, "_schema", None), "is_mutable", False)
    return isinstance(node.target, torch._ops.HigherOrderOperator) or (not is_mutable and node.is_impure(impure_random=False))


def _has_known_shape(value: torch.Tensor) -> bool:
    return isinstance(value, FakeTensor) and all(isinstance(size, int) for size in value.shape)


@dataclasses.dataclass
class _Changes:
    """Which values lie in one memory, by the schemas of ops and by the storage that the trace gave them, and what changes it."""

    first: dict[Any, Any]
    """Of a value the first one in its memory."""
    last: dict[Any, Any]
    """Of the first value of a memory that changes the last op that changes it."""

    def __iter__(self) -> Iterator[Any]:
        return iter(self.last)


def _find_changes(program: Any) -> _Changes:
    first: dict[Any, Any] = {}
    number: dict[Any, int] = {}
    last: dict[Any, Any] = {}
    storages: dict[int, Any] = {}
    for i, node in enumerate(program.graph.nodes):
        if node.op == "output":
            continue
        stored = [v.untyped_storage()._cdata for v in tree_leaves(node.meta.get("val")) if isinstance(v, torch.Tensor)]
        known = {first[n] for n in [*_find_shared(node), *(storages[s] for s in stored if s in storages)]}
        number[node] = i
        first[node] = min({node, *known}, key=number.__getitem__)
        if len(known) > 1:  # they are one memory
            first |= {n: first[node] for n, f in first.items() if f in known}
        for s in stored:
            storages.setdefault(s, node)
        if getattr(getattr(node.target, "_schema", None), "is_mutable", False):
            last |= {changed: node for changed in _find_changed(node)}
    found: dict[Any, Any] = {}
    for changed, node in last.items():
        other = found.setdefault(first[changed], node)
        found[first[changed]] = max(other, node, key=number.__getitem__)
    return _Changes(first, found)


def _delay_copies(nodes: Sequence[Any], changes: _Changes) -> list[Any]:
    """Copies of what does not change are made where they are read first: a module copies all of its cache when it begins."""
    order = {node: i for i, node in enumerate(nodes)}
    before: dict[Any, list[Any]] = {}
    moved = set()
    for node in nodes:
        readers = [user for user in node.users if user in order]
        if node.target is torch.ops.aten.clone.default and changes.first[node.args[0]] not in changes.last and readers:
            before.setdefault(min(readers, key=order.__getitem__), []).append(node)
            moved.add(node)

    def place(node: Any) -> Iterator[Any]:
        for copy in before.get(node, ()):
            yield from place(copy)
        yield node

    return [n for node in nodes if node not in moved for n in place(node)]


_LAYER = re.compile(r"(?:args_\d+_)?(.*?_\d+)_")


def _find_layer(node: Any) -> str | None:
    """That the name of a weight numbers, `model_layers_3`: the outermost number."""
    found = _LAYER.match(node.name)
    return found[1] if found else None


def _find_begins(nodes: Sequence[Any], changes: _Changes) -> list[int]:
    """Where segments begin. What makes a list stays with what takes it apart, and what makes a tensor with all that changes it."""
    order = {node: i for i, node in enumerate(nodes)}
    spans = [(order[node], max((order[user] for user in node.users if user in order), default=0)) for node in nodes if not isinstance(node.meta.get("val"), FakeTensor)]
    spans += [(order[first], order[last]) for first, last in changes.last.items()]
    together = {i for begin, end in spans for i in range(begin + 1, end + 1)}
    begins, current = [0], None
    for i, node in enumerate(nodes):
        layers = [_find_layer(n) for n in node.all_input_nodes if n.op == "placeholder"]
        read = next((layer for layer in layers if layer is not None), None)
        if read is not None and read != current:
            current = read
            if i not in together and i:
                begins.append(i)
    return begins


def _find_shared(node: Any) -> Iterator[Any]:
    """The operands in whose memory a result may be."""
    if node.op == "placeholder":
        return
    schema = getattr(node.target, "_schema", None)
    if schema is None:  # an element of a list
        yield from node.all_input_nodes
        return
    if any(r.alias_info is not None for r in schema.returns):
        yield from _get_operands(node, lambda argument: argument.alias_info is not None)


def _find_changed(node: Any) -> Iterator[Any]:
    return _get_operands(node, lambda argument: argument.alias_info is not None and argument.alias_info.is_write)


def _get_operands(node: Any, is_meant: Any) -> Iterator[Any]:
    for i, argument in enumerate(node.target._schema.arguments):
        if is_meant(argument):
            value = node.args[i] if i < len(node.args) else node.kwargs.get(argument.name)
            yield from (v for v in tree_leaves(value) if isinstance(v, torch.fx.Node))


def _describe(nodes: list[Any]) -> _Segment:
    own = {node: f"%{i}" for i, node in enumerate(nodes)}
    inputs: dict[Any, str] = {}

    def name(node: Any) -> Any:
        return _Name(own[node] if node in own else inputs.setdefault(node, f"${len(inputs)}"))

    lines = [
        repr((node.target, torch.fx.node.map_arg((node.args, dict(node.kwargs)), name), node.meta.get("stack_trace"))) for node in nodes
    ]
    outputs = [node for node in nodes if any(user not in own for user in node.users)]
    types = [(v.shape, v.dtype, v.stride(), v.requires_grad) for v in (node.meta["val"] for node in inputs)]
    return _Segment(nodes, list(inputs), outputs, repr((lines, types, [own[node] for node in outputs])))


class _Name(str):
    """Written without quotes."""

    __repr__ = str.__str__


def _decompose_segment(program: Any, segment: _Segment, table: Any) -> Any:
    graph = torch.fx.Graph()
    made: dict[Any, Any] = {}
    for i, node in enumerate(segment.inputs):
        made[node] = graph.placeholder(f"in_{i}")
        made[node].meta = {"val": node.meta["val"]}
    for node in segment.nodes:
        made[node] = graph.node_copy(node, lambda n: made[n])
    outputs = tuple(made[node] for node in segment.outputs)
    graph.output(outputs)
    ins, outs = ([TensorArgument(made[node].name) for node in found] for found in (segment.inputs, segment.outputs))
    signature = ExportGraphSignature([InputSpec(InputKind.USER_INPUT, a, None) for a in ins], [OutputSpec(OutputKind.USER_OUTPUT, a, None) for a in outs])
    specs = tree_structure((tuple(ins), {})), tree_structure(tuple(outs))
    calls = [ModuleCallEntry("", ModuleCallSignature(ins, [], *specs))]  # to name the results is for those who call it
    found = ExportedProgram(torch.nn.Module(), graph, signature, {}, {}, calls, verifiers=program.verifiers)
    return found.run_decompositions(table)


def _is_pure(part: Any) -> bool:
    signature = part.graph_signature
    return all(s.kind in (InputKind.USER_INPUT, InputKind.CONSTANT_TENSOR) for s in signature.input_specs) and all(
        s.kind is OutputKind.USER_OUTPUT for s in signature.output_specs
    )


def _join(program: Any, segments: Iterable[_Segment], decomposed: dict[str, Any]) -> Any:
    """The program with each segment in its decomposed form."""
    graph, constants = torch.fx.Graph(), dict(program.constants)
    made: dict[Any, Any] = {}
    added: list[InputSpec] = []
    for part in decomposed.values():  # constants that ops are made of
        for spec in part.graph_signature.input_specs:
            if spec.kind is not InputKind.USER_INPUT:
                node = next(n for n in part.graph.nodes if n.name == spec.arg.name)
                made[node] = graph.placeholder(f"c_of_segments_{len(added)}")
                made[node].meta = dict(node.meta)
                constants[made[node].name] = part.constants[spec.target]
                added.append(InputSpec(InputKind.CONSTANT_TENSOR, TensorArgument(made[node].name), made[node].name))
    for node in program.graph.nodes:
        if node.op == "placeholder":
            made[node] = graph.node_copy(node)
    for segment in segments:
        part = decomposed[segment.key]
        users = set(part.graph_signature.user_inputs)
        inside: dict[Any, Any] = {}
        inputs = iter(segment.inputs)
        for node in part.graph.nodes:
            if node.op == "placeholder":
                inside[node] = made[next(inputs)] if node.name in users else made[node]
            elif node.op == "output":
                made |= {outer: inside[inner] for outer, inner in zip(segment.outputs, node.args[0], strict=True)}
            else:
                inside[node] = graph.node_copy(node, lambda n: inside[n])
    output = graph.node_copy(program.graph.output_node(), lambda n: made[n])
    results = [TensorArgument(node.name) for node in output.args[0]]
    signature = ExportGraphSignature([*added, *program.graph_signature.input_specs], [OutputSpec(OutputKind.USER_OUTPUT, a, None) for a in results])
    call = next(entry.signature for entry in program.module_call_graph if not entry.fqn)
    calls = [ModuleCallEntry("", dataclasses.replace(call, outputs=results))]
    return ExportedProgram(
        torch.nn.Module(), graph, signature, program.state_dict, program.range_constraints, calls, program.example_inputs, constants,
    )  # fmt: skip
