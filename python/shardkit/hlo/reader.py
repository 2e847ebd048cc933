"""HLO text, as XLA dumps it, as StableHLO on jaxlib's bindings."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import ShardKitError, require

_INSTRUCTION = re.compile(r"(\s+(?:ROOT )?)(%?[\w.-]+) = .*\)")
_METADATA = re.compile(r', metadata=\{(?:[^"{}]|"(?:\\.|[^"\\])*")*\}')


def is_hlo(text: str) -> bool:
    return text.lstrip().startswith("HloModule")


def read_text(path: Path) -> str:
    try:
        return path.read_text()
    except OSError as error:
        raise ShardKitError(f"error: {error.filename}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise ShardKitError(f"{path}: error: the file is not text, expected HLO text, as --xla_dump_to writes it") from None


def count_partitions(text: str) -> int:
    """The number of devices that a module is for."""
    match = re.search(r"num_partitions=(\d+)", text.lstrip().partition("\n")[0])
    return int(match[1]) if match else 1


def count_replicas(text: str) -> int:
    """The number of replicas of a module, if there are several; else 0."""
    match = re.search(r"replica_count=(\d+)", text.lstrip().partition("\n")[0])
    return int(match[1]) if match and int(match[1]) > 1 else 0


_GROUPS = re.compile(r"replica_groups=(mesh\[(?P<axes>[^\]]*)\](?:, device_ids=\((?P<ids>[^()]*(?:\([^()]*\))?)\))? \{(?P<named>[^}]*)\}|"
                     r"\[(?P<shape>[\d,]+)\]<=\[(?P<dims>[\d,]+)\](?:T\((?P<order>[\d,]+)\))?|(?P<list>\{(?:\{[\d,]*\},?)*\}))")  # fmt: skip


def _read_numbers(text: str) -> list[int]:
    return [int(n) for n in text.split(",") if n]


def _read_ids(text: str | None, count: int) -> np.ndarray | None:
    """The devices of a mesh in its order: as `[2,4]T(1,0)`, or one by one."""
    if text is None:
        return np.arange(count)
    match = re.fullmatch(r"\[?([\d,]+)\]?(?:T\(([\d,]+)\))?", text)
    if not match:
        return None
    numbers, order = _read_numbers(match[1]), _read_numbers(match[2] or "")
    if sorted(numbers) == list(range(count)) and not order:
        return np.array(numbers)
    if int(np.prod(numbers)) != count or (order and sorted(order) != list(range(len(numbers)))):
        return None
    return np.arange(count).reshape(numbers).transpose(order or range(len(numbers))).reshape(-1)


def _read_axes(match: re.Match[str]) -> np.ndarray | None:
    """Groups along axes of a mesh, and sub-axes: `mesh['a'=2,'b'=4] {'b':(1)2}`."""
    sizes = {name: int(size) for name, size in re.findall(r"'([^']*)'=(\d+)", match["axes"])}
    named = re.findall(r"'([^']*)'(?::\((\d+)\)(\d+))?", match["named"])
    ids = _read_ids(match["ids"], int(np.prod(list(sizes.values()), dtype=int)))
    if ids is None or len({n for n, *_ in named}) != len(named) or any(n not in sizes for n, *_ in named):
        return None
    shape: list[int] = []
    inner: dict[int, int] = {}  # by the position in the list of axes
    for name, size in sizes.items():
        position = next((k for k, (n, *_) in enumerate(named) if n == name), None)
        before, part = (1, size) if position is None or not named[position][1] else (int(named[position][1]), int(named[position][2]))
        if size % (before * part):
            return None
        if position is not None:
            inner[position] = len(shape) + 1
        shape += [before, part, size // (before * part)]
    grouped = [inner[k] for k in sorted(inner)]
    outer = [d for d in range(len(shape)) if d not in grouped]
    return ids.reshape(shape).transpose(outer + grouped).reshape(-1, int(np.prod([shape[d] for d in grouped], dtype=int)))


def expand_groups(text: str, path: str) -> str:
    """The same with groups of devices one by one: what XLA converts of meshes has no order of devices."""
    lines = text.split("\n")
    for number, line in enumerate(lines, 1):
        if "replica_groups=" not in line:
            continue
        match = _GROUPS.search(line)
        groups: np.ndarray | None = None
        if match and match["list"] is not None:
            continue
        if match and match["shape"]:
            shape, dims, order = (_read_numbers(match[key] or "") for key in ("shape", "dims", "order"))
            count = int(np.prod(dims))
            if len(shape) == 2 and int(np.prod(shape)) == count and sorted(order or range(len(dims))) == list(range(len(dims))):
                groups = np.arange(count).reshape(dims).transpose(order or range(len(dims))).reshape(shape)
        elif match:
            groups = _read_axes(match)
        if groups is None or not match:
            found = re.search(r"replica_groups=.{0,60}", line)
            raise ShardKitError(f"{path}:{number}: error: {found[0] if found else line} is not read, expected lists of devices, an iota list, or axes of a mesh")
        listed = ",".join("{" + ",".join(map(str, group)) + "}" for group in groups.tolist())
        lines[number - 1] = line[: match.start()] + f"replica_groups={{{listed}}}" + line[match.end() :]
    return "\n".join(lines)


def locate(text: str, path: str) -> str:
    """The same with the line of each instruction in `path` as its source, and its name in front of the one of the framework."""
    quoted = path.replace("\\", "\\\\").replace('"', '\\"')
    lines = []
    for number, line in enumerate(text.split("\n"), 1):
        if match := _INSTRUCTION.match(line):
            found = _METADATA.search(line)
            named = re.search(r'op_name="((?:\\.|[^"\\])*)"', found[0]) if found else None
            name = match[2] + (" " + named[1] if named else "")
            line = _METADATA.sub("", line) + f', metadata={{op_name="{name}" source_file="{quoted}" source_line={number}}}'
        lines.append(line)
    return "\n".join(lines)


def parse(text: str, path: str) -> Any:
    """A module of StableHLO."""
    require("jaxlib", "jaxlib", "reading HLO")
    from jaxlib import _jax

    from ..stablehlo import frontend

    try:
        from jaxlib import _hlo as hlo  # from jaxlib 0.10 on
    except ImportError:
        hlo = _jax
    errors = (RuntimeError, ValueError)
    try:
        module = hlo.hlo_module_from_text(text).as_serialized_hlo_module_proto()
    except errors as error:
        raise ShardKitError(_describe(str(error), path)) from None
    try:
        return frontend.parse(_jax.mlir.hlo_to_stablehlo(module))
    except errors as error:
        raise ShardKitError(f"{path}: error: XLA has no StableHLO for this module: {str(error).strip().splitlines()[0]}") from None
    except ShardKitError as error:
        match = re.search(r'error: fused\["[^"]*", "([^"]+)":(\d+):\d+\]: ([^\n]*)', str(error))
        raise ShardKitError(f"{match[1]}:{match[2]}: error: {match[3]}" if match else f"{path}: {error}") from None


def _describe(text: str, path: str) -> str:
    """XLA's complaint as one line."""
    match = re.search(r"was parsing (\d+):(\d+): error: ([^\n]*)", text)
    if not match:
        return f"{path}: error: not a module of HLO: {text.strip().splitlines()[0]}"
    return f"{path}:{match[1]}:{match[2]}: error: {match[3]}"


@dataclasses.dataclass(frozen=True)
class Instruction:
    """A line of HLO: `%name = f32[8]{0} opcode(...)`, without what is written after its operands."""

    name: str
    opcode: str
    text: str

    @staticmethod
    def parse(line: str) -> Instruction | None:
        match = re.match(r"\s+(?:ROOT )?(%?[\w.-]+) = (?:\(.*?\)|\S+) ([a-z][\w-]*)\(", line)
        return Instruction(match[1], match[2], _METADATA.sub("", line).strip()) if match else None


class StackFrames:
    """Where the framework made each instruction, by the tables at the head of a module."""

    def __init__(self, text: str):
        self.names = dict(re.findall(r'^(\d+) "((?:\\.|[^"\\])*)"$', text.partition("\nFileNames\n")[2].partition("\n\n")[0], re.M))
        self.places = {number: (file, line, column) for number, file, line, column in
                       re.findall(r"^(\d+) \{file_name_id=(\d+) .*?\bline=(\d+).*?\bcolumn=(\d+)", text, re.M)}  # fmt: skip
        self.frames = dict(re.findall(r"^(\d+) \{file_location_id=(\d+)", text, re.M))

    def find(self, line: str) -> str | None:
        """`file:line:column` of an instruction."""
        frame = re.search(r"stack_frame_id=(\d+)", line)
        place = self.places.get(self.frames.get(frame[1], "")) if frame else None
        if place and place[0] in self.names:
            return f"{self.names[place[0]]}:{place[1]}:{place[2]}"
        direct = re.search(r'source_file="([^"]*)" source_line=(\d+)', line)
        return f"{direct[1]}:{direct[2]}" if direct else None
