"""A graph in pieces: a tensor that is annotated is a result of one and an argument of the next, so that lowering keeps both sides apart."""

from __future__ import annotations

from typing import Any, Iterator, Sequence

from ...errors import ShardKitError
from ...linalg.joins import Join, Joins
from ...planning import tags
from .placement import Placement, find_boundaries
from .specs import Configuration, Shapes, Spec


class Pieces:
    """Changes the graph. `original`: the nodes as the file has them, by whose numbers all is named; those of the graph are what is left of
    them, or stands for them, with the same first result.

    `joins`: how the pieces are joined once they are lowered. `shardings`: attributes of arguments and results of the program, by name.
    `notes`: specs that have no counterpart. With `watch`, all tensors have tags, `12/out0` for a result of node 12, and ops those of nodes."""

    def __init__(
        self, graph: Any, original: Sequence[Any], configuration: Configuration | None, placement: Placement | None, shapes: Shapes,
        stages: Sequence[int], watch: bool,
    ) -> None:  # fmt: skip
        self._graph, self._original, self._shapes = graph, original, shapes
        self._configuration, self._placement, self._stages = configuration, placement, stages
        self.notes = list[str]()
        self.shardings = dict[str, str]()
        self.numbers = {next(filter(None, node.output), ""): index for index, node in enumerate(original)}
        """Of nodes, by their first result."""
        self._values = {v.name: v for v in [*graph.input, *graph.value_info, *graph.output]}
        self._arguments = {v.name for v in graph.input}
        self._nodes = list(graph.node)
        self._joins = list[Join]()
        self._sources = dict[str, None]()
        self._joined = dict[str, str]()  # from tensors to what reads them in their spec
        annotated = configuration.nodes.items() if configuration else ()
        self._makers = {name: index for index, node in annotated for name in node.node.output if name in node.specs}
        self._outputs = {v.name for v in graph.output}
        self._taken = set[tuple[int, str]]()
        self._readers = self._find_readers()
        if stages:
            self._sort_by_stage()
        crossing = find_boundaries(original, stages)
        wanted = {name for names in crossing for name in names} | ({n for n in self._find_made() if self._is_static(n)} if watch else set())
        for name in [*self._arguments, *self._find_made()]:
            self._annotate(name, name in wanted)
        self._note_lost()
        tagged = {name: f"{index}/out{k}" for index, node in enumerate(original) for k, name in enumerate(node.output) if name in self._values} if watch else {}
        by_tag = {str(index): stage for index, stage in enumerate(stages)}
        boundaries = [[self._joined[name] for name in names if name in self._joined] for names in crossing]
        self.joins = Joins(list(self._sources), self._joins, tagged, by_tag, boundaries)
        if watch or stages:
            self._tag_nodes()

    def _find_made(self) -> Iterator[str]:
        """Tensors that nodes make, in order."""
        for node in self._nodes:
            yield from (name for name in node.output if name and self._is_tensor(name))

    def _is_tensor(self, name: str) -> bool:
        return name in self._values and self._values[name].type.HasField("tensor_type")

    def _find_readers(self) -> dict[str, list[Any]]:
        found = dict[str, list[Any]]()
        for node in self._nodes:
            for name in dict.fromkeys(filter(None, node.input)):
                found.setdefault(name, []).append(node)
        return found

    def _number(self, node: Any) -> int | None:
        return self.numbers.get(next(filter(None, node.output), ""))

    def _sort_by_stage(self) -> None:
        """What stands for a node of the file has its stage, what its body was expanded to that of what reads it or before."""
        known = [self._number(node) for node in self._nodes]
        stages, latest = [], 0
        for number in known:
            latest = self._stages[number] if number is not None else latest
            stages.append(latest)
        order = sorted(range(len(self._nodes)), key=lambda k: stages[k])
        made = {name for k in order for name in self._nodes[k].output}
        seen = set[str]()
        for k in order:
            if any(name in made and name not in seen for name in self._nodes[k].input):
                return  # bodies of functions: the program is sorted once it is lowered
            seen |= set(self._nodes[k].output)
        self._nodes = [self._nodes[k] for k in order]
        del self._graph.node[:]
        self._graph.node.extend(self._nodes)
        self._nodes = list(self._graph.node)
        self._readers = self._find_readers()

    # --- annotations ----------------------------------------------------------------------------------

    def _annotate(self, name: str, is_wanted: bool) -> None:
        """The specs of one tensor: of the node that makes it, and of those that read it otherwise."""
        own, uses = self._find_specs(name)
        is_argument = name in self._arguments
        if own is not None:
            self.shardings[name] = self._spell(*own)
        first = self.shardings.get(name, "")
        readers = self._readers.get(name, [])
        if not is_argument and (is_wanted or (first and readers)):
            self._check_shape(name)
            self._replace(name, name, first if readers else "", "", readers)
        for node, index, spec in uses:
            sharding = self._spell(index, spec)
            if sharding != first:
                self._check_shape(name)
                self._replace(name, self._joined.get(name, name), sharding, str(index), [node])

    def _find_specs(self, name: str) -> tuple[tuple[int, Spec] | None, list[tuple[Any, int, Spec]]]:
        """The spec of a tensor, and those with which nodes read it. Without one of the node that makes it, as inputs have none, it is that
        of the first that reads it; for an inner tensor, if all agree."""
        if not self._configuration:
            return None, []
        uses = []
        for node in self._readers.get(name, ()):
            index = self._number(node)
            if index is not None and (spec := self._configuration.get(index, name)) and name in self._original[index].input:
                uses.append((node, index, spec))
                self._taken.add((index, name))
        maker = self._makers.get(name)
        if maker is not None:
            self._taken.add((maker, name))
            return (maker, self._configuration.nodes[maker].specs[name]), uses
        agree = name in self._arguments or len(uses) == len(self._readers.get(name, ())) and len({self._spell(i, s) for _, i, s in uses}) == 1
        return ((uses[0][1], uses[0][2]) if uses and agree else None), uses

    def _spell(self, index: int, spec: Spec) -> str:
        assert self._placement and self._configuration
        where = f"{self._configuration.nodes[index].label}, tensor {spec.tensor}"
        return self._placement.spell(index, spec, len(self._shapes[spec.tensor]), where)

    def _is_static(self, name: str) -> bool:
        return all(isinstance(size, int) for size in self._shapes.get(name, [None]))

    def _check_shape(self, name: str) -> None:
        if not self._is_static(name):
            sizes = ", ".join(map(str, self._shapes.get(name, ["?"])))
            raise ShardKitError(f"error: tensor {name} is annotated and has sizes [{sizes}], expected those that shape inference finds")

    def _replace(self, name: str, source: str, sharding: str, tag: str, readers: Sequence[Any]) -> None:
        """These nodes read the tensor as an argument, which is joined with what it comes from."""
        import onnx

        argument = f"{name}:joined{len(self._joins)}"
        value = onnx.ValueInfoProto()
        value.CopyFrom(self._values[name])
        value.name = argument
        self._graph.input.append(value)
        if source == name and name not in self._arguments and name not in self._outputs and name not in self._sources:
            self._graph.output.append(self._values[name])
            self._sources[name] = None
        for node in readers:
            for k, read in enumerate(node.input):
                if read == source:
                    node.input[k] = argument
        if not tag:
            self._joined[name] = argument
        self._joins.append(Join(argument, source, sharding, tag))

    def _note_lost(self) -> None:
        """Specs that have no counterpart."""
        constants = {i.name for i in self._graph.initializer}
        for index, node in self._configuration.nodes.items() if self._configuration else ():
            for name, spec in node.specs.items():
                if (index, name) in self._taken or (name in constants and len(spec.groups) == 1):
                    continue
                why = "it is a constant of the program" if name in constants else "the node was inlined"
                self.notes.append(f"{node.label}, tensor {name}: the spec is not taken over, as {why}")

    def _tag_nodes(self) -> None:
        for node in self._nodes:
            index = self._number(node)
            if index is not None:
                node.name = f"{node.name or next(filter(None, node.output))}/{tags.make(str(index))}"
