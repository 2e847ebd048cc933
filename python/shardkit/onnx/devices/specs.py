"""The fields of a model, each rule of their form with one error."""

from __future__ import annotations

import collections
import dataclasses
import itertools
import math
from typing import Any, Iterator, Mapping, Sequence

from ...errors import ShardKitError

FIRST_VERSION = 11
"""The IR version that has the fields."""

Shapes = Mapping[str, Sequence["int | str | None"]]
"""Sizes by the name of a tensor; symbols and None where they are not known."""


@dataclasses.dataclass(frozen=True)
class Part:
    """A dim, or a factor of one, in equal shards. `size`: None stands for what the other parts of the dim leave."""

    size: int | None
    shards: int


@dataclasses.dataclass(frozen=True)
class Spec:
    """How a tensor is sharded. `groups`: the devices that hold each shard, the first part of the first dim varying slowest."""

    tensor: str
    groups: tuple[tuple[int, ...], ...]
    dims: tuple[tuple[int, tuple[Part, ...]], ...]
    """In the order of the spec, which is that of `groups`."""

    @property
    def devices(self) -> frozenset[int]:
        return frozenset(itertools.chain.from_iterable(self.groups))

    def parts(self, dim: int) -> tuple[Part, ...]:
        """Those of a dim; none where it is not sharded."""
        found = next((parts for d, parts in self.dims if d == dim), ())
        return found if any(p.shards > 1 for p in found) else ()

    def describe(self, dim: int) -> str:
        parts = self.parts(dim)
        if not parts:
            return "unsharded"
        spelled = " x ".join(f"{p.shards} shards" + ("" if p.size is None else f" of size {p.size}") for p in parts)
        return f"in {spelled}"


@dataclasses.dataclass(frozen=True)
class Node:
    """A node of the main graph with its annotation in one configuration."""

    node: Any
    index: int
    specs: Mapping[str, Spec]
    stage: int | None

    @property
    def label(self) -> str:
        return label(self.node)


@dataclasses.dataclass(frozen=True)
class Configuration:
    name: str
    devices: int
    nodes: Mapping[int, Node]
    """Those that are annotated, by their number in the graph."""

    def get(self, index: int, tensor: str) -> Spec | None:
        return self.nodes[index].specs.get(tensor) if index in self.nodes else None


def label(node: Any) -> str:
    return f'node {node.op_type} "{node.name or next(filter(None, node.output), "")}"'


def has_fields(model: Any) -> bool:
    return bool(model.configuration) or any(True for _ in _find_annotated(model))


def read(model: Any, shapes: Shapes, sizes: Mapping[str, int]) -> dict[str, Configuration]:
    """The configurations of a model by name, in its order. `shapes`: of the tensors of the main graph; `sizes`: of symbols."""
    if not has_fields(model):
        return {}
    if model.ir_version < FIRST_VERSION:
        raise ShardKitError(
            f"error: the model has IR version {model.ir_version} and fields for several devices, expected IR version {FIRST_VERSION} or later, or none of them"
        )
    counts = dict[str, int]()
    for number, proto in enumerate(model.configuration):
        counts[_read_name(proto, number, counts)] = _read_count(proto)
    annotated: dict[str, dict[int, Node]] = {name: {} for name in counts}
    for index, node in enumerate(model.graph.node):
        for proto in node.device_configurations:
            name = _read_id(node, proto, counts)
            if index in annotated[name]:
                raise ShardKitError(f"error: {label(node)} is annotated twice for configuration {name}, expected one entry")
            annotated[name][index] = _Reader(node, counts[name], shapes, sizes).read(proto, index)
    return {name: Configuration(name, count, annotated[name]) for name, count in counts.items()}


def choose(configurations: Mapping[str, Configuration], name: str | None) -> Configuration | None:
    """The one of that name; without a name the only one, or the only one that a node names."""
    if name is not None:
        if configurations and name not in configurations:
            raise ShardKitError(f"error: the model has no device configuration {name!r}, expected one of: {', '.join(configurations)}")
        return configurations.get(name)
    named = [c for c in configurations.values() if c.nodes] or list(configurations.values())
    if len(named) > 1:
        raise ShardKitError(
            f"error: the model has {len(named)} device configurations, expected the name of one (--configuration): {', '.join(c.name for c in named)}"
        )
    return named[0] if named else None


def find_nested(model: Any) -> list[str]:
    """Annotated nodes outside of the main graph: in bodies of control flow and in functions."""
    main = {id(node) for node in model.graph.node}
    return [f"{label(node)} in {where}" for node, where in _find_annotated(model) if id(node) not in main]


def _find_annotated(model: Any) -> Iterator[tuple[Any, str]]:
    waiting = [(node, "the graph") for node in model.graph.node]
    waiting += [(node, f"function {function.name}") for function in model.functions for node in function.node]
    while waiting:
        node, where = waiting.pop()
        if node.device_configurations:
            yield node, where
        for attribute in node.attribute:
            for graph in [attribute.g] if attribute.HasField("g") else attribute.graphs:
                waiting += [(inner, f"a body of {label(node)}") for inner in graph.node]


def _read_name(proto: Any, number: int, known: Mapping[str, int]) -> str:
    if not proto.name:
        raise ShardKitError(f"error: device configuration {number} has no name, expected one, by which nodes name it")
    if proto.name in known:
        raise ShardKitError(f"error: two device configurations are called {proto.name!r}, expected names that differ")
    return str(proto.name)


def _read_count(proto: Any) -> int:
    if proto.num_devices < 1:
        raise ShardKitError(f"error: device configuration {proto.name!r} has num_devices {proto.num_devices}, expected at least 1")
    if proto.device and len(proto.device) != proto.num_devices:
        raise ShardKitError(
            f"error: device configuration {proto.name!r} names {len(proto.device)} devices, expected num_devices = {proto.num_devices} names, or none"
        )
    return int(proto.num_devices)


def _read_id(node: Any, proto: Any, known: Mapping[str, int]) -> str:
    if proto.configuration_id not in known:
        found = f"names device configuration {proto.configuration_id!r}" if proto.configuration_id else "is annotated without a configuration_id"
        raise ShardKitError(f"error: {label(node)} {found}, expected one of the model: {', '.join(known) or 'it has none'}")
    return str(proto.configuration_id)


class _Reader:
    """The annotation of a node."""

    def __init__(self, node: Any, devices: int, shapes: Shapes, sizes: Mapping[str, int]) -> None:
        self._node, self._devices, self._shapes, self._sizes = node, devices, shapes, sizes
        self._where = label(node)

    def read(self, proto: Any, index: int) -> Node:
        specs = dict[str, Spec]()
        tensors = list(dict.fromkeys(filter(None, [*self._node.input, *self._node.output])))
        for spec in proto.sharding_spec:
            name = spec.tensor_name
            if name not in tensors:
                found = f"has a sharding spec of tensor {name!r}" if name else "has a sharding spec without a tensor_name"
                raise ShardKitError(f"error: {label(self._node)} {found}, expected one that it reads or makes: {', '.join(tensors)}")
            if name in specs:
                raise ShardKitError(f"error: {label(self._node)} has two sharding specs of tensor {name}, expected one")
            specs[name] = self._read_spec(spec)
        stage = proto.pipeline_stage if proto.HasField("pipeline_stage") else None
        if stage is not None and stage < 0:
            raise ShardKitError(f"error: {label(self._node)} is in pipeline stage {stage}, expected a number from 0")
        return Node(self._node, index, specs, stage)

    def _read_spec(self, proto: Any) -> Spec:
        self._where = f"{label(self._node)}, tensor {proto.tensor_name}"
        dims = tuple(self._read_dim(dim, proto.tensor_name) for dim in proto.sharded_dim)
        if twice := _find_twice([d for d, _ in dims]):
            raise ShardKitError(f"error: {self._where}, dim {twice[0]} is sharded by two entries of sharded_dim, expected one (with several simple_sharding)")
        shards = math.prod(p.shards for _, parts in dims for p in parts)
        return Spec(proto.tensor_name, self._read_groups(proto, shards), dims)

    def _read_groups(self, proto: Any, shards: int) -> tuple[tuple[int, ...], ...]:
        members = dict[int, tuple[int, ...]]()
        for entry in proto.index_to_device_group_map:
            if entry.key in members:
                raise ShardKitError(f"error: {self._where}: device group {entry.key} is listed twice in index_to_device_group_map, expected once")
            if not entry.value:
                raise ShardKitError(f"error: {self._where}: device group {entry.key} is empty, expected devices{self._say_devices()}")
            for device in entry.value:
                self._check_device(device, f"device group {entry.key} has device {device}", "")
            if twice := _find_twice(entry.value):
                raise ShardKitError(f"error: {self._where}: device group {entry.key} has device {twice[0]} twice, expected once")
            members[entry.key] = tuple(sorted(entry.value))
        listed = list(proto.device)
        if not listed:  # as some tools leave it out: the devices of the configuration, in order
            if shards not in (1, self._devices):
                raise ShardKitError(
                    f"error: {self._where}: {shards} shards and no device, expected {shards} devices or device groups, or num_shards of {self._devices} in all, one for each device of the configuration"
                )
            listed = list(range(self._devices))
        for device in listed:
            if device not in members:
                known = f", or a group of index_to_device_group_map ({', '.join(map(str, members))})" if members else ", or a group that index_to_device_group_map lists"
                self._check_device(device, f"device {device}", known)
        for key in members:
            if key not in listed:
                raise ShardKitError(
                    f"error: {self._where}: index_to_device_group_map has group {key}, which device does not list, expected one of: {', '.join(map(str, listed))}"
                )
        groups = [members.get(device, (device,)) for device in listed]
        if shards == 1:  # all hold it
            groups = [tuple(sorted(itertools.chain.from_iterable(groups)))]
        if len(groups) != shards:
            raise ShardKitError(
                f"error: {self._where}: {shards} shards (the product of num_shards) and {len(groups)} devices or device groups, expected as many: one for each shard"
            )
        if twice := _find_twice(list(itertools.chain.from_iterable(groups))):
            raise ShardKitError(
                f"error: {self._where}: device {twice[0]} is listed twice, expected one shard for each device; "
                "blocks that alternate are several simple_sharding of a dim"
            )
        return tuple(groups)

    def _check_device(self, device: int, found: str, more: str) -> None:
        if not 0 <= device < self._devices:
            raise ShardKitError(f"error: {self._where}: {found}, expected a device of the configuration{self._say_devices()}{more}")

    def _say_devices(self) -> str:
        return f" (0 to {self._devices - 1})" if self._devices > 1 else " (0)"

    def _read_dim(self, proto: Any, tensor: str) -> tuple[int, tuple[Part, ...]]:
        shape = self._shapes.get(tensor)
        if shape is None:
            raise ShardKitError(f"error: {self._where} has a sharding spec and no shape, expected a tensor whose shape is known")
        rank = len(shape)
        if not proto.HasField("axis"):
            raise ShardKitError(f"error: {self._where}: an entry of sharded_dim has no axis, expected {_say_range(rank)}")
        if not -rank <= proto.axis < rank:
            raise ShardKitError(f"error: {self._where}: axis {proto.axis} is sharded and the rank is {rank}, expected {_say_range(rank)}")
        dim = proto.axis % rank
        where = f"{self._where}, dim {dim}"
        if not proto.simple_sharding:
            raise ShardKitError(f"error: {where} has no simple_sharding, expected one with num_shards")
        parts = tuple(self._read_part(part, where) for part in proto.simple_sharding)
        return dim, self._fit(parts, shape[dim], where)

    def _read_part(self, proto: Any, where: str) -> Part:
        if not proto.HasField("num_shards") or proto.num_shards < 1:
            found = f"num_shards {proto.num_shards}" if proto.HasField("num_shards") else "no num_shards"
            raise ShardKitError(f"error: {where} has {found}, expected a number from 1")
        size: int | None = None
        if proto.WhichOneof("dim") == "dim_value":
            size = proto.dim_value
            if size < 1:
                raise ShardKitError(f"error: {where} has dim_value {size}, expected a number from 1, or none")
        elif proto.WhichOneof("dim") == "dim_param":
            if proto.dim_param not in self._sizes:
                known = ", ".join(self._sizes) or "the model has none"
                raise ShardKitError(f"error: {where} has dim_param {proto.dim_param!r}, expected a symbol with a size (--size): {known}")
            size = self._sizes[proto.dim_param]
        return Part(size, proto.num_shards)

    def _fit(self, parts: tuple[Part, ...], size: Any, where: str) -> tuple[Part, ...]:
        """The parts with the sizes that they have in a dim of this size."""
        open_ones = [k for k, p in enumerate(parts) if p.size is None]
        if len(open_ones) > 1:
            raise ShardKitError(f"error: {where} has {len(open_ones)} simple_sharding without dim_value, expected at most one")
        given = math.prod(p.size for p in parts if p.size is not None)
        if isinstance(size, int) and (size % given if open_ones else size != given):
            raise ShardKitError(
                f"error: {where} has size {size} and simple_sharding of {' x '.join(str(p.size or '?') for p in parts)}, expected sizes whose product is {size}"
            )
        if len(parts) == 1:
            return (Part(None, parts[0].shards),)
        if not isinstance(size, int):
            raise ShardKitError(f"error: {where} has no known size and {len(parts)} simple_sharding, expected a known size")
        parts = tuple(Part(size // given if p.size is None else p.size, p.shards) for p in parts)
        for part in parts:
            assert part.size is not None
            if part.size % part.shards:
                raise ShardKitError(f"error: {where} has {part.shards} shards of a simple_sharding of size {part.size}, expected a divisor: several in one dim must divide")
        return parts


def _say_range(rank: int) -> str:
    return f"a dim from {-rank} to {rank - 1}" if rank else "no sharded_dim for a scalar"


def _find_twice(values: Sequence[int]) -> list[int]:
    return [value for value, count in collections.Counter(values).items() if count > 1]
