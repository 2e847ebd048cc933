"""Fields that are added to a model's file; every other byte stays as it is."""

from __future__ import annotations

import itertools
from typing import Any, Iterator, Mapping, Sequence

from .specs import Spec

# Numbers of fields in onnx.proto.
_IR_VERSION, _GRAPH, _CONFIGURATION = 1, 7, 26
_NODE = 1
_DEVICE_CONFIGURATIONS = 10
_VARINT, _FIXED64, _BYTES, _GROUP, _GROUP_END, _FIXED32 = range(6)


def make_spec_proto(spec: Spec) -> Any:
    import onnx

    proto = onnx.ShardingSpecProto(tensor_name=spec.tensor)
    for number, group in enumerate(spec.groups, 1):
        if len(group) == 1:
            proto.device.append(group[0])
            continue
        proto.device.append(-number)
        proto.index_to_device_group_map.add(key=-number, value=group)
    for dim, parts in spec.dims:
        sharded = proto.sharded_dim.add(axis=dim)
        for part in parts:
            simple = sharded.simple_sharding.add(num_shards=part.shards)
            if part.size is not None:
                simple.dim_value = part.size
    return proto


def add_fields(data: bytes, ir_version: int | None, configuration: Any, annotations: Mapping[int, tuple[str, Sequence[Spec], int | None]]) -> bytes:
    """A model's bytes with an IR version, if one is given, a further device configuration, if one is given, and for nodes of the main
    graph, by number, what their entry for a configuration (its name comes first) has in addition: specs, and a stage."""
    written, numbers = list[bytes](), itertools.count()
    is_versioned = False
    for field, start, value, end in _read_fields(data):
        if field == _IR_VERSION and ir_version is not None:
            written.append(_tag(_IR_VERSION, _VARINT) + _varint(ir_version))
            is_versioned = True
        elif field == _GRAPH:
            written.append(_splice(_GRAPH, data[start:end], data[value:end], _add_to_graph(data[value:end], numbers, annotations)))
        else:
            written.append(data[start:end])
    if ir_version is not None and not is_versioned:
        written.insert(0, _tag(_IR_VERSION, _VARINT) + _varint(ir_version))
    if configuration is not None:
        written.append(_message(_CONFIGURATION, configuration.SerializeToString(deterministic=True)))
    return b"".join(written)


def _add_to_graph(data: bytes, numbers: Iterator[int], annotations: Mapping[int, tuple[str, Sequence[Spec], int | None]]) -> bytes:
    written = list[bytes]()
    for field, start, value, end in _read_fields(data):
        added = annotations.get(next(numbers)) if field == _NODE else None
        record = data[start:end]
        written.append(record if added is None else _splice(_NODE, record, data[value:end], _add_to_node(data[value:end], *added)))
    return b"".join(written)


def _add_to_node(data: bytes, name: str, specs: Sequence[Spec], stage: int | None) -> bytes:
    import onnx

    more = onnx.NodeDeviceConfigurationProto(sharding_spec=[make_spec_proto(spec) for spec in specs])
    if stage is not None:
        more.pipeline_stage = stage
    written, is_found = list[bytes](), False
    for field, start, value, end in _read_fields(data):
        record = data[start:end]
        if field == _DEVICE_CONFIGURATIONS:
            known = onnx.NodeDeviceConfigurationProto.FromString(data[value:end])
            if known.configuration_id == name and not is_found:
                is_found = True
                record = _splice(field, record, data[value:end], data[value:end] + more.SerializeToString(deterministic=True))
        written.append(record)
    if not is_found:
        more.configuration_id = name
        written.append(_message(_DEVICE_CONFIGURATIONS, more.SerializeToString(deterministic=True)))
    return b"".join(written)


def _splice(field: int, record: bytes, old: bytes, new: bytes) -> bytes:
    return record if new == old else _message(field, new)


def _message(field: int, data: bytes) -> bytes:
    return _tag(field, _BYTES) + _varint(len(data)) + data


def _read_fields(data: bytes) -> Iterator[tuple[int, int, int, int]]:
    """(number, start, start of the value, end) of each field of a message. The message was parsed before: it is well-formed."""
    position = 0
    while position < len(data):
        start = position
        tag, position = _read_varint(data, position)
        value, position = _find_end(data, tag & 7, position)
        yield tag >> 3, start, value, position


def _find_end(data: bytes, kind: int, position: int) -> tuple[int, int]:
    """Where a value starts and ends."""
    if kind == _VARINT:
        return position, _read_varint(data, position)[1]
    if kind == _BYTES:
        size, start = _read_varint(data, position)
        return start, start + size
    if kind != _GROUP:
        return position, position + {_FIXED64: 8, _FIXED32: 4}[kind]
    start = position
    while True:
        tag, position = _read_varint(data, position)
        if tag & 7 == _GROUP_END:
            return start, position
        position = _find_end(data, tag & 7, position)[1]


def _read_varint(data: bytes, position: int) -> tuple[int, int]:
    number = shift = 0
    while True:
        byte = data[position]
        number |= (byte & 0x7F) << shift
        position, shift = position + 1, shift + 7
        if byte < 0x80:
            return number, position


def _tag(field: int, kind: int) -> bytes:
    return _varint(field << 3 | kind)


def _varint(number: int) -> bytes:
    written = bytearray()
    while number > 0x7F:
        written.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*written, number])
