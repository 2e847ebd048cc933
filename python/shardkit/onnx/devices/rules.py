"""Which specs of inputs an op can be computed with, as the standard's ShardingFormalism recommends.

An op is a nest of loops, and each dim of a tensor is walked by one of them. Inputs that are walked by the same loop must be sharded
alike there; a dim of size 1 that is broadcast must be on all devices; and each shard of the result needs a device that holds all it is
computed of. Unary ops and reductions take any spec. Specs of results are free: they may name another layout than the computation has."""

from __future__ import annotations

import dataclasses
import itertools
import math
from typing import Any, Mapping, Sequence

from ...errors import ShardKitError
from .specs import Configuration, Part, Shapes, Spec, label

BROADCAST = frozenset(
    "Add And BitShift BitwiseAnd BitwiseOr BitwiseXor Div Equal Greater GreaterOrEqual Less LessOrEqual Max Mean Min Mod Mul Or Pow PRelu "
    "Sub Sum Where Xor".split()
)
CONTRACTIONS = frozenset("Einsum Gemm MatMul MatMulInteger QLinearMatMul".split())


@dataclasses.dataclass(frozen=True)
class Loops:
    """The loop of each dim, by the number of an input, and those of the result."""

    inputs: Mapping[int, tuple[str, ...]]
    result: tuple[str, ...]


def find_loops(node: Any, shapes: Shapes) -> Loops | None:
    """None for ops whose inputs the standard constrains in no way, or has no rule for."""
    if node.domain not in ("", "ai.onnx") or node.op_type not in BROADCAST | CONTRACTIONS:
        return None
    known = {k: len(shapes[name]) for k, name in enumerate(node.input) if name in shapes}
    if any(name and k not in known for k, name in enumerate(node.input)):
        return None
    if node.op_type in BROADCAST:
        rank = max(known.values(), default=0)
        loops = tuple(f"d{i}" for i in range(rank))
        return Loops({k: loops[rank - r :] for k, r in known.items()}, loops)
    if node.op_type == "Einsum":
        return _read_equation(node, known)
    if node.op_type == "Gemm":
        flags = {a.name: a.i for a in node.attribute}
        a, b = ("m", "k")[:: -1 if flags.get("transA") else 1], ("k", "n")[:: -1 if flags.get("transB") else 1]
        found = {0: a, 1: b}
        return Loops(found | ({2: ("m", "n")[2 - known[2] :]} if 2 in known else {}), ("m", "n"))
    return _read_product(0, 3 if node.op_type == "QLinearMatMul" else 1, known)


def check(configuration: Configuration, nodes: Sequence[Any], shapes: Shapes, stages: Sequence[int]) -> None:
    """Raises one error for the first node whose inputs do not fit. An input without a spec has that of the node that makes it, if both are in
    one of the `stages` of the nodes, of which there may be none."""
    made = {name: node for node in configuration.nodes.values() for name in node.node.output if name in node.specs}
    for index, annotated in sorted(configuration.nodes.items()):
        makers = {name: made[name] for name in nodes[index].input if name in made}
        produced = {name: maker.specs[name] for name, maker in makers.items() if not stages or stages[maker.index] == stages[index]}
        check_node(nodes[index], produced | dict(annotated.specs), shapes)


def check_node(node: Any, specs: Mapping[str, Spec], shapes: Shapes) -> None:
    """Raises an error if inputs with these specs do not fit."""
    loops = find_loops(node, shapes)
    if loops is not None:
        _check_node(node, loops, {k: specs[name] for k, name in enumerate(node.input) if name in specs and k in loops.inputs}, shapes)


def _check_node(node: Any, loops: Loops, specs: Mapping[int, Spec], shapes: Shapes) -> None:
    where = label(node)
    devices = sorted(frozenset[int]().union(*(spec.devices for spec in specs.values())))
    walked: dict[str, tuple[int, int]] = {}
    sizes = {(k, d): shapes[node.input[k]][d] for k in specs for d in range(len(loops.inputs[k]))}
    full = {loop for k, names in loops.inputs.items() for d, loop in enumerate(names) if shapes[node.input[k]][d] != 1}
    for k, spec in specs.items():
        for d, loop in enumerate(loops.inputs[k]):
            here = f"{where}, tensor {spec.tensor}, dim {d}"
            if sizes[k, d] == 1 and loop in full:
                if spec.parts(d):
                    raise ShardKitError(f"error: {here} is {spec.describe(d)}, expected unsharded: it has size 1 and is broadcast")
                if missing := [device for device in devices if device not in spec.devices]:
                    raise ShardKitError(
                        f"error: {here} has size 1 and is broadcast, and the tensor is not on device {_list(missing)}, expected it on all devices of the node: {_list(devices)}"
                    )
                continue
            first, dim = walked.setdefault(loop, (k, d))
            if not _is_same(specs[first].parts(dim), spec.parts(d), sizes[k, d]):
                raise ShardKitError(
                    f"error: {here} is {spec.describe(d)}, and dim {dim} of {specs[first].tensor} is {specs[first].describe(dim)}, "
                    "expected the same for both: the op walks them together"
                )
    _check_composition(where, node, loops, specs)


def _check_composition(where: str, node: Any, loops: Loops, specs: Mapping[int, Spec]) -> None:
    """Each combination of shards is on some device."""
    if len(specs) < 2:
        return
    counts = dict[str, int]()
    for k, spec in specs.items():
        for d, loop in enumerate(loops.inputs[k]):
            counts[loop] = max(counts.get(loop, 1), math.prod(p.shards for p in spec.parts(d)))
    holding = {k: _by_index(spec) for k, spec in specs.items()}
    for index in itertools.product(*(range(n) for n in counts.values())):
        at = dict(zip(counts, index))
        held = {k: holding[k][tuple(at[loop] if specs[k].parts(d) else 0 for d, loop in enumerate(loops.inputs[k]))] for k in specs}
        if frozenset.intersection(*map(frozenset, held.values())):
            continue
        each = " and ".join(f"{_say_shard(specs[k], loops.inputs[k], at)} of {specs[k].tensor} is on {_list(sorted(held[k]))}" for k in specs)
        raise ShardKitError(f"error: {where}, tensor {node.output[0]}: {each}, expected device groups that share a device, which computes with them")


def _by_index(spec: Spec) -> dict[tuple[int, ...], tuple[int, ...]]:
    """The devices of each shard, by its number in each dim."""
    rank = 1 + max((d for d, _ in spec.dims), default=-1)
    counts = [math.prod(p.shards for p in parts) for _, parts in spec.dims]
    found = {}
    for group, numbers in zip(spec.groups, itertools.product(*map(range, counts)), strict=True):
        index = [0] * rank
        for (dim, _), number in zip(spec.dims, numbers):
            index[dim] = number
        found[tuple(index)] = group
    return _Padded(found, rank)


class _Padded(dict[tuple[int, ...], tuple[int, ...]]):
    """Trailing dims that no spec lists are unsharded."""

    def __init__(self, found: Mapping[tuple[int, ...], tuple[int, ...]], rank: int) -> None:
        super().__init__(found)
        self._rank = rank

    def __missing__(self, key: tuple[int, ...]) -> tuple[int, ...]:
        return self[key[: self._rank]]


def _is_same(a: tuple[Part, ...], b: tuple[Part, ...], size: Any) -> bool:
    def normalize(parts: tuple[Part, ...]) -> list[tuple[Any, int]]:
        return [(size if p.size is None else p.size, p.shards) for p in parts]

    return normalize(a) == normalize(b)


def _say_shard(spec: Spec, loops: Sequence[str], at: Mapping[str, int]) -> str:
    index = [at[loop] if spec.parts(d) else None for d, loop in enumerate(loops)]
    return "shard [" + ", ".join(":" if i is None else str(i) for i in index) + "]"


def _read_equation(node: Any, ranks: Mapping[int, int]) -> Loops | None:
    """Of an Einsum without an ellipsis or diagonals: the others have no rule."""
    equation = next((a.s.decode() for a in node.attribute if a.name == "equation"), "").replace(" ", "")
    operands, arrow, result = equation.partition("->")
    terms = operands.split(",")
    if "." in equation or any(len(set(t)) != len(t) for t in terms) or [len(t) for t in terms] != list(ranks.values()):
        return None
    if not arrow:
        result = "".join(sorted(c for c in set(operands) - {","} if operands.count(c) == 1))
    return Loops({k: tuple(t) for k, t in enumerate(terms)}, tuple(result))


def _read_product(a: int, b: int, ranks: Mapping[int, int]) -> Loops | None:
    """Of a MatMul of NumPy: batches are broadcast."""
    if min(ranks[a], ranks[b]) < 1:
        return None
    batch = tuple(f"d{i}" for i in range(max(ranks[a], ranks[b]) - 2))
    left = ("k",) if ranks[a] == 1 else (*batch[len(batch) - ranks[a] + 2 :], "m", "k")
    right = ("k",) if ranks[b] == 1 else (*batch[len(batch) - ranks[b] + 2 :], "k", "n")
    return Loops({a: left, b: right}, (*batch, *left[-2:-1], *right[-1:][: ranks[b] - 1]))


def _list(devices: Sequence[int]) -> str:
    return ", ".join(map(str, devices[:12])) + (f" and {len(devices) - 12} more" if len(devices) > 12 else "")
