"""Where the nodes of a configuration run: its mesh, and the stages of its pipeline."""

from __future__ import annotations

import dataclasses
import math
from typing import Any, Mapping, Sequence

from ...errors import ShardKitError
from .meshes import Mesh, find_extra, find_mesh, spell_sharding
from .specs import Configuration, Shapes, Spec, label


@dataclasses.dataclass(frozen=True)
class Placement:
    """`mesh`: of one stage, where stages have devices of their own, `stage_devices`. `stages`: of each node, from 0; empty where the model
    has none."""

    mesh: Mesh
    stages: Sequence[int]
    stage_devices: Sequence[tuple[int, ...]]

    @property
    def full_mesh(self) -> Mesh:
        """That of all devices."""
        if not self.stage_devices:
            return self.mesh
        name = next(n for n in ("stage", "pipeline_stage", "stage_") if n not in self.mesh.axes)
        return Mesh({name: len(self.stage_devices)} | (dict(self.mesh.axes) if len(self.mesh.devices) > 1 else {}), tuple(d for s in self.stage_devices for d in s))

    def get_mesh(self, index: int) -> Mesh:
        """That of a node, by number."""
        return self.mesh.place(self.stage_devices[self.stages[index]]) if self.stage_devices else self.mesh

    def spell(self, index: int, spec: Spec, rank: int, where: str) -> str:
        return spell_sharding(spec, rank, self.get_mesh(index), where)


def place(
    configuration: Configuration, nodes: Sequence[Any], shapes: Shapes, axes: Mapping[str, int] | None = None, use_all: bool = False
) -> tuple[Placement, list[str]]:
    """The placement, and what it does that the fields do not say. `axes`: of the mesh, instead of those that the specs have; `use_all`:
    devices that no spec lists are in it too."""
    stages, notes = find_stages(configuration, nodes), list[str]()
    specs = [(index, spec) for index, node in sorted(configuration.nodes.items()) for spec in node.specs.values()]
    owned = _find_stage_devices(configuration, stages, specs)
    count = len(owned[0]) if owned else configuration.devices
    if axes and math.prod(axes.values()) != count:
        raise ShardKitError(
            f"error: the mesh has {math.prod(axes.values())} devices, expected {count}, as device configuration {configuration.name}{' has in each stage' if owned else ''}"
        )
    if stages and not owned:
        notes.append("the pipeline stages have no devices of their own: they are on the same ones")
    if owned:
        ranks = {device: rank for devices in owned for rank, device in enumerate(devices)}
        local = [
            (_where(configuration, index, spec), dataclasses.replace(spec, groups=tuple(tuple(sorted(ranks[d] for d in g)) for g in spec.groups)))
            for index, spec in specs
        ]
        found = find_mesh(local, range(len(owned[0])), axes)
        owned = [tuple(devices[rank] for rank in found.devices) for devices in owned]
        placement = Placement(Mesh(found.axes, owned[0]), stages, owned)
    else:
        listed = sorted(frozenset[int]().union(*(spec.devices for _, spec in specs)))
        devices = range(configuration.devices) if use_all or axes or not listed else listed
        if not use_all and len(devices) < configuration.devices:
            rest = [d for d in range(configuration.devices) if d not in devices]
            notes.append(f"no spec lists device{'s'[: len(rest) > 1]} {_list(rest)} of configuration {configuration.name}: nothing runs there")
        found = find_mesh([(_where(configuration, index, spec), spec) for index, spec in specs], devices, axes)
        placement = Placement(found, stages, ())
    seen = set[str]()
    for index, spec in specs:
        if (extra := find_extra(spec, placement.get_mesh(index))) and spec.tensor not in seen:
            seen.add(spec.tensor)
            notes.append(f"{_where(configuration, index, spec)} is on device{'s'[: len(spec.devices) > 1]} {_list(sorted(spec.devices))} alone: device{'s'[: len(extra) > 1]} {_list(extra)} hold{'s'[: len(extra) == 1]} shards of it too")
    return placement, notes


def find_stages(configuration: Configuration, nodes: Sequence[Any]) -> list[int]:
    """The stage of each node, counted from 0; empty where none is given. A node without one is in the last stage that it reads from."""
    given = {index: node.stage for index, node in configuration.nodes.items() if node.stage is not None}
    if not given:
        return []
    numbers = sorted(set(given.values()))
    made, stages = dict[str, tuple[int, Any]](), list[int]()
    for index, node in enumerate(nodes):
        read = [(made[name], name) for name in node.input if name in made]
        latest = max((stage for (stage, _), _ in read), default=0)
        stage = numbers.index(given[index]) if index in given else latest
        for (before, maker), name in read:
            if before > stage:
                raise ShardKitError(
                    f"error: {label(node)}, tensor {name} is made in pipeline stage {numbers[before]} ({label(maker)}) and read in stage {numbers[stage]}, "
                    f"expected a stage from {numbers[before]}"
                )
        stages.append(stage)
        made |= {name: (stage, node) for name in node.output if name}
    return stages


def find_boundaries(nodes: Sequence[Any], stages: Sequence[int]) -> list[list[str]]:
    """What crosses from each stage to the next."""
    made = {name: stage for node, stage in zip(nodes, stages) for name in node.output if name}
    last = dict[str, int]()
    for node, stage in zip(nodes, stages):
        last |= {name: max(stage, last.get(name, 0)) for name in node.input if name in made}
    return [[name for name in last if made[name] <= stage < last[name]] for stage in range(max(stages, default=0))]


def _find_stage_devices(configuration: Configuration, stages: Sequence[int], specs: Sequence[tuple[int, Spec]]) -> list[tuple[int, ...]]:
    """Devices of each stage where they are distinct and as many; empty where they are not."""
    count = max(stages, default=0) + 1
    if count < 2:
        return []
    found: list[set[int]] = [set() for _ in range(count)]
    for index, spec in specs:
        found[stages[index]] |= spec.devices
    known = [devices for devices in found if devices]
    size = max((len(devices) for devices in known), default=configuration.devices // count)
    used = set[int]().union(*known)
    if len(used) == sum(map(len, known)) and len({len(devices) for devices in known}) > 1:
        counts = ", ".join(str(len(devices)) if devices else "?" for devices in found)
        raise ShardKitError(f"error: the pipeline stages of configuration {configuration.name} have {counts} devices of their own, expected as many in each")
    free = [d for d in range(configuration.devices) if d not in used]
    if not size or len(used) != size * len(known) or len(free) < size * (count - len(known)):
        return []
    rest = iter(free)
    return [tuple(sorted(devices or (next(rest) for _ in range(size)))) for devices in found]


def _where(configuration: Configuration, index: int, spec: Spec) -> str:
    return f"{configuration.nodes[index].label}, tensor {spec.tensor}"


def _list(devices: Sequence[int]) -> str:
    return ", ".join(map(str, devices[:12])) + (f" and {len(devices) - 12} more" if len(devices) > 12 else "")
