"""Indices that say each place itself, `x[arange(n), t]`: what is picked along one dim at the places of others is a gather along that
dim, which the others cut, and what is picked at its own places is only moved."""

from __future__ import annotations

import dataclasses
import math
from typing import Any, Sequence

import torch

aten = torch.ops.aten
_LARGEST = 1 << 20
"""Elements of a constant that is looked at."""


def simplify_indices(program: Any) -> None:
    """Changes nodes of an exported program in place."""
    constants = _Constants(program)
    for node in list(program.graph.nodes):
        if node.target is aten.index.Tensor:
            if pick := _find_pick(node, constants):
                _replace(node, pick.read)
        elif node.target is aten.index_put.default:
            if pick := _find_pick(node, constants):
                _replace(node, pick.write)
    program.graph_module.recompile()


@dataclasses.dataclass
class _Pick:
    """Of a tensor whose dims are in the order `order`, those before `first` as they are, then those that indices say, then the rest.
    They say places, but for one that `index` says, at dim `along`; it has a dim of its own among those of the result, or none
    (`is_one`)."""

    order: list[int]
    first: int
    shape: list[int]
    """Of the indices together."""
    covered: list[int]
    """Dims of them that say places."""
    index: Any = None
    along: int = 0
    is_one: bool = False

    def read(self, x: Any, _: Any) -> Any:
        x = x.permute(self.order)
        if self.index is None:
            rest = list(x.shape[self.first + len(self.covered) :])
            sizes = [n if d in self.covered else 1 for d, n in enumerate(self.shape)]
            return x.reshape([*x.shape[: self.first], *sizes, *rest]).expand([*x.shape[: self.first], *self.shape, *rest])
        found = torch.gather(x, self.along, self._spread(x))
        return found.squeeze(self.along) if self.is_one else found

    def write(self, x: Any, _: Any, values: Any, accumulate: bool = False) -> Any:
        back = [self.order.index(d) for d in range(x.dim())]
        turned = x.permute(self.order)
        rest = list(turned.shape[self.first + len(self.covered) + (self.index is not None) :])
        values = values.expand([*turned.shape[: self.first], *self.shape, *rest])
        if self.index is None:
            values = values.reshape(turned.shape)
            result = turned + values if accumulate else values
        else:
            values = values.unsqueeze(self.along) if self.is_one else values
            op = torch.scatter_add if accumulate else torch.scatter
            result = op(turned, self.along, self._spread(turned), values)
        return result.permute(back)

    def _spread(self, x: Any) -> Any:
        index = self.index.to(torch.int64)
        index = torch.where(index < 0, index + x.shape[self.along], index).expand(self.shape)
        index = index.unsqueeze(self.along - self.first) if self.is_one else index
        rest = x.dim() - self.first - index.dim()
        sizes = [*x.shape[: self.first], *index.shape, *x.shape[x.dim() - rest :]]
        return index.reshape([1] * self.first + list(index.shape) + [1] * rest).expand(sizes)


def _find_pick(node: Any, constants: "_Constants") -> _Pick | None:
    x, indices = node.args[0].meta["val"], node.args[1]
    given = [d for d, index in enumerate(indices) if index is not None]
    values = [indices[d].meta["val"] for d in given]
    if given != list(range(given[0], given[-1] + 1)) or any(v.dtype in (torch.bool, torch.uint8) for v in values):
        return None
    shape = list(torch.broadcast_shapes(*(v.shape for v in values)))
    places: dict[int, int] = {}  # of the indices' dims: whose places they say
    free = []
    for d in given:
        place = _find_place(constants.get(indices[d]), shape, x.shape[d], places)
        if place is None:
            free.append(d)
        else:
            places[place] = d
    if len(free) > 1 or not places:
        return None
    first, rest = given[0], list(range(given[-1] + 1, x.dim()))
    uncovered = [p for p in range(len(shape)) if p not in places]
    dims = [places[p] for p in sorted(places)]
    if not free:
        if node.target is aten.index_put.default and math.prod(shape[p] for p in uncovered) != 1:
            return None
        return _Pick([*range(first), *dims, *rest], first, shape, sorted(places))
    if len(uncovered) > 1:
        return None
    at = uncovered[0] if uncovered else len(shape)
    dims.insert(at, free[0])
    return _Pick([*range(first), *dims, *rest], first, shape, sorted(places), indices[free[0]], first + at, not uncovered)


def _find_place(value: Any, shape: Sequence[int], size: int, taken: Any) -> int | None:
    """The dim of the indices along which they count all places of a dim of `size`."""
    if value is None:
        return None
    value = value.expand(shape)
    for p, n in enumerate(shape):
        counted = torch.arange(n).reshape([-1 if d == p else 1 for d in range(len(shape))])
        if n == size and p not in taken and torch.equal(value, counted.expand(shape).to(value.dtype)):
            return p
    return None


class _Constants:
    """What nodes compute that depend on no argument, as far as they are small."""

    def __init__(self, program: Any):
        self.known: dict[Any, Any] = {}
        lifted = program.graph_signature.inputs_to_lifted_tensor_constants
        for node in program.graph.nodes:
            value = node.meta.get("val")
            if node.op == "placeholder" and node.name in lifted:
                self.known[node] = program.constants[lifted[node.name]]
            elif node.op == "call_function" and isinstance(value, torch.Tensor) and value.numel() <= _LARGEST and not _draws(node):
                if all(n in self.known for n in node.all_input_nodes):
                    args, kwargs = torch.fx.node.map_arg((node.args, node.kwargs), self.known.__getitem__)
                    with torch.no_grad():
                        self.known[node] = node.target(*args, **kwargs)

    def get(self, node: Any) -> Any:
        return self.known.get(node)


def _draws(node: Any) -> bool:
    tags = getattr(node.target, "tags", ())
    return torch.Tag.nondeterministic_seeded in tags or getattr(getattr(node.target, "_schema", None), "is_mutable", True)


def _replace(node: Any, function: Any) -> None:
    """By what `function` calls, of the node's arguments."""
    from torch.fx.experimental.proxy_tensor import make_fx

    inputs = node.all_input_nodes
    mode = node.meta["val"].fake_mode

    def run(*values: Any) -> Any:
        own = dict(zip(inputs, values))
        args, kwargs = torch.fx.node.map_arg((node.args, node.kwargs), own.__getitem__)
        pick = function.__self__
        bound = dataclasses.replace(pick, index=own[pick.index] if pick.index is not None else None)
        return getattr(bound, function.__name__)(*args, **kwargs)

    with mode:
        traced = make_fx(run)(*(n.meta["val"] for n in inputs))
    map_of: dict[Any, Any] = {}
    with node.graph.inserting_before(node):
        rest = iter(inputs)
        for inner in traced.graph.nodes:
            if inner.op == "placeholder":
                map_of[inner] = next(rest)
            elif inner.op == "output":
                node.replace_all_uses_with(map_of[inner.args[0]])
            else:
                made = node.graph.node_copy(inner, map_of.__getitem__)
                made.meta = {**inner.meta, "stack_trace": node.meta.get("stack_trace")}
                map_of[inner] = made
    node.graph.erase_node(node)
