"""Indexing, so that the dims that it does not address can be sharded: `x[:, t]` is a selection along a dim, or a slice; where
indices count up, `x[arange(n), t]`, a selection along one dim at the indices of others is a gather along that dim, and
a selection of all elements in order only moves them."""

from __future__ import annotations

import dataclasses
import math
from typing import Any, Sequence

import torch
from torch._subclasses.fake_tensor import FakeTensor

from . import elements

aten = torch.ops.aten
_LARGEST = 1 << 20
"""Limits: elements of a constant that is examined, and of a matrix that maps updates to elements."""
_READS = (aten.index.Tensor, aten._unsafe_index.Tensor)
_WRITES = (aten.index_put.default, aten._unsafe_index_put.default)


def simplify_indices(program: Any, table: Any = None) -> None:
    """Changes nodes of an exported program in place. `table`: what ops of it are made of."""
    constants = _Constants(program)
    for node in list(program.graph.nodes):
        if node.target in _READS and all(index is None for index in node.args[1]):  # torch-mlir does not end with none
            node.replace_all_uses_with(node.args[0])
            node.graph.erase_node(node)
        elif function := _find_function(node, constants):
            _replace(node, function, table)
    program.graph_module.recompile()


def _find_function(node: Any, constants: "_Constants") -> Any:
    """A replacement of a node, from its arguments; None where it stays."""
    if not all(isinstance(n.meta.get("val"), FakeTensor) for n in (node, *node.all_input_nodes)):
        return None  # inside of a function that is mapped over a dim
    if node.target in (*_READS, *_WRITES):
        pick = _find_empty(node) or _find_pick(node, constants) or _find_selection(node, node.args[1], constants)
        return pick and (pick.read if node.target in _READS else pick.write)
    if node.target is aten.index_add.default and (rank := node.args[0].meta["val"].dim()):
        selection = _find_selection(node, [None] * (node.args[1] % rank) + [node.args[2]], constants)
        return selection and selection.add
    return None


@dataclasses.dataclass
class _Empty:
    """Of no element, which torch-mlir does not take."""

    shape: Sequence[int]
    index: tuple[Any, ...] = ()

    def read(self, x: Any, _: Any) -> Any:
        return torch.zeros(self.shape, dtype=x.dtype)

    def write(self, x: Any, *_: Any) -> Any:
        return x.clone()


def _find_empty(node: Any) -> _Empty | None:
    return _Empty(list(node.meta["val"].shape)) if any(i is not None and not i.meta["val"].numel() for i in node.args[1]) else None


@dataclasses.dataclass
class _Axis:
    """`dims` of a tensor that follow each other, as one: how many elements are picked along it, and, where a constant counts them up,
    the first and the step."""

    dims: int
    count: int
    run: tuple[int, int] | None

    def slice(self, x: Any, at: int) -> Any:
        return torch.ops.aten.slice.Tensor(x, at, *self._range())

    def put(self, x: Any, at: int, values: Any) -> Any:
        return torch.slice_scatter(x, values, at, *self._range())

    def _range(self) -> tuple[int, int, int]:
        assert self.run
        start, step = self.run
        return start, start + step * (self.count - 1) + 1, step


@dataclasses.dataclass
class _Selection:
    """Of a tensor along dims from `first` on, by an index for each of them."""

    first: int
    axes: list[_Axis]
    shape: list[int]
    """Of the indices together."""
    index: tuple[Any, ...]

    def read(self, x: Any, _: Any) -> Any:
        found = x
        for at, (axis, sizes, indices) in enumerate(self._axes(x), self.first):
            found = found.flatten(at, at + axis.dims - 1)
            found = axis.slice(found, at) if axis.run else torch.index_select(found, at, self._find_positions(sizes, indices))
        return found.reshape([*x.shape[: self.first], *self.shape, *self._rest(x)])

    def write(self, x: Any, _: Any, values: Any, accumulate: bool = False) -> Any:
        values = values.expand([*x.shape[: self.first], *self.shape, *self._rest(x)])
        values = values.reshape([*x.shape[: self.first], *(axis.count for axis in self.axes), *self._rest(x)])
        if not accumulate:  # one axis
            ((axis, sizes, indices),) = self._axes(x)
            merged = x.flatten(self.first, self.first + axis.dims - 1)
            if axis.run:
                found = axis.put(merged, self.first, values)
            elif axis.count <= elements.LONGEST_UNROLLED:
                found = self._scatter(torch.scatter, merged, self.first, values, sizes, indices)
            else:  # of each position the last that goes there
                numbers = torch.arange(1, axis.count + 1).unsqueeze(-1)
                goes = self._find_positions(sizes, indices).unsqueeze(-1) == torch.arange(math.prod(sizes))
                last = torch.where(goes, numbers, 0).amax(0)
                is_new = (last > 0).reshape([-1 if d == self.first else 1 for d in range(merged.dim())])
                found = torch.where(is_new, torch.index_select(values, self.first, torch.clamp(last - 1, min=0)), merged)
            return found.reshape(x.shape)
        for at, (axis, sizes, indices) in enumerate(self._axes(x), self.first):
            zeros = torch.zeros([*values.shape[:at], math.prod(sizes), *values.shape[at + 1 :]], dtype=values.dtype)
            if axis.run:
                values = axis.put(zeros, at, values)
            elif axis.count <= elements.LONGEST_UNROLLED:
                values = self._scatter(torch.scatter_add, zeros, at, values, sizes, indices)
            else:
                # Not as a product: what is no finite number stays where it goes.
                goes = self._find_positions(sizes, indices).unsqueeze(-1) == torch.arange(math.prod(sizes))
                values = torch.where(goes, values.movedim(at, -1).unsqueeze(-1), 0).sum(-2).movedim(-1, at)
        return x + values.reshape(x.shape)

    def add(self, x: Any, _: int, __: Any, source: Any, alpha: Any = 1) -> Any:
        return self.write(x, None, source * alpha if alpha != 1 else source, True)

    def _scatter(self, op: Any, x: Any, at: int, values: Any, sizes: Sequence[int], indices: Sequence[Any]) -> Any:
        positions = self._find_positions(sizes, indices).reshape([-1 if d == at else 1 for d in range(x.dim())])
        return op(x, at, positions.expand(values.shape), values)

    def _axes(self, x: Any) -> list[tuple[_Axis, list[int], tuple[Any, ...]]]:
        """With the sizes of their dims, and the indices."""
        found: list[tuple[_Axis, list[int], tuple[Any, ...]]] = []
        before = 0
        for axis in self.axes:
            own = slice(before, before + axis.dims)
            found.append((axis, list(x.shape[self.first :][own]), self.index[own]))
            before += axis.dims
        return found

    def _find_positions(self, sizes: Sequence[int], indices: Sequence[Any]) -> Any:
        """Among all elements of the dims, major to minor."""
        found: Any = 0
        for size, index in zip(sizes, indices):
            index = index.to(torch.int64)
            found = found * size + torch.where(index < 0, index + size, index)
        return (found.expand(self.shape) if len(indices) > 1 else found).flatten()

    def _rest(self, x: Any) -> Sequence[int]:
        return list(x.shape[self.first + len(self.index) :])


def _find_selection(node: Any, indices: Sequence[Any], constants: "_Constants") -> _Selection | None:
    x = node.args[0].meta["val"]
    given = [d for d, index in enumerate(indices) if index is not None]
    nodes = tuple(indices[d] for d in given)
    values = [n.meta["val"] for n in nodes]
    if not given or given != list(range(given[0], given[-1] + 1)) or any(v.dtype in (torch.bool, torch.uint8) for v in values):
        return None
    shape = list(torch.broadcast_shapes(*(v.shape for v in values)))
    if _are_apart(values, shape):
        axes = [_Axis(1, v.numel(), _find_run(constants.get(n), x.shape[d])) for d, n, v in zip(given, nodes, values)]
    else:
        axes = [_Axis(len(given), math.prod(shape), None)]
    if node.target not in _READS:
        accumulates = node.target is aten.index_add.default or (len(node.args) > 3 and node.args[3])
        sizes = [x.shape[d] for d in given] if len(axes) > 1 else [math.prod(x.shape[d] for d in given)]
        longest = elements.LONGEST_UNROLLED
        if accumulates and not x.is_floating_point() and any(not axis.run and axis.count > longest for axis in axes):
            return None
        if not all(axis.run or 0 < axis.count <= longest or axis.count * n <= _LARGEST for axis, n in zip(axes, sizes)):
            return None
        if not accumulates and len(axes) > 1:
            return None
        if given[0] == 0 and not all(axis.run for axis in axes):
            return None  # rows at their positions
    return _Selection(given[0], axes, shape, nodes)


def _are_apart(values: Sequence[Any], shape: Sequence[int]) -> bool:
    """Whether each index has dims of its own, in their order: then it picks along its dim alone."""
    last = -1
    for value in values:
        own = [len(shape) - value.dim() + d for d, n in enumerate(value.shape) if n != 1]
        if own and own[0] <= last:
            return False
        last = own[-1] if own else last
    return bool(math.prod(v.numel() for v in values) == math.prod(shape))


def _find_run(value: Any, size: int) -> tuple[int, int] | None:
    """The first of the indices that a constant counts up, and the step."""
    if value is None or not value.numel() or not size:
        return None
    positions = [int(v) + size if v < 0 else int(v) for v in value.flatten().tolist()]
    step = positions[1] - positions[0] if len(positions) > 1 else 1
    is_run = step > 0 and all(b - a == step for a, b in zip(positions, positions[1:])) and 0 <= positions[0] and positions[-1] < size
    return (positions[0], step) if is_run else None


@dataclasses.dataclass
class _Pick:
    """Of a tensor whose dims are in the order `order`, those before `first` as they are, then the indexed ones, then the others.
    Constants index all of them but dim `along`, which `index` addresses; it has a dim of its own among those of the result, or none
    (`is_one`). Several that follow each other, from `begin` on, are as one, by an index for each, and so are the dims of their own,
    from `own` on, of which the result has `sizes`."""

    order: list[int]
    first: int
    shape: list[int]
    """Of the indices together."""
    covered: list[int]
    """Their dims that constants index."""
    index: tuple[Any, ...] = ()
    along: int = 0
    is_one: bool = False
    begin: int = 0
    own: int = 0
    sizes: tuple[int, ...] = ()

    def read(self, x: Any, _: Any) -> Any:
        steps, x = self._find_steps(x), self._merge(x).permute(self.order)
        if not self.index:
            rest = list(x.shape[self.first + len(self.covered) :])
            sizes = [n if d in self.covered else 1 for d, n in enumerate(self.shape)]
            return x.reshape([*x.shape[: self.first], *sizes, *rest]).expand([*x.shape[: self.first], *self.shape, *rest])
        found = torch.gather(x, self.along, self._spread(x, steps))
        if self.sizes:
            found = found.unflatten(self.first + self.own, self.sizes)
        return found.squeeze(self.along) if self.is_one else found

    def write(self, x: Any, _: Any, values: Any, accumulate: bool = False) -> Any:
        back = [self.order.index(d) for d in range(len(self.order))]
        steps, turned = self._find_steps(x), self._merge(x).permute(self.order)
        rest = list(turned.shape[self.first + len(self.covered) + bool(self.index) :])
        shape = [*self.shape[: self.own], *self.sizes, *self.shape[self.own + 1 :]] if self.sizes else self.shape
        values = values.expand([*turned.shape[: self.first], *shape, *rest])
        if self.sizes:
            values = values.flatten(self.first + self.own, self.first + self.own + len(self.sizes) - 1)
        if not self.index:
            values = values.reshape(turned.shape)
            result = turned + values if accumulate else values
        else:
            values = values.unsqueeze(self.along) if self.is_one else values
            op = torch.scatter_add if accumulate else torch.scatter
            result = op(turned, self.along, self._spread(turned, steps), values)
        return result.permute(back).reshape(x.shape)

    def _merge(self, x: Any) -> Any:
        return x.flatten(self.begin, self.begin + len(self.index) - 1) if len(self.index) > 1 else x

    def _find_steps(self, x: Any) -> list[int]:
        """The sizes of the dims of `index`."""
        return list(x.shape[self.begin : self.begin + len(self.index)])

    def _spread(self, x: Any, steps: Sequence[int]) -> Any:
        index: Any = 0
        for size, each in zip(steps, self.index):
            each = each.to(torch.int64)
            index = index * size + torch.where(each < 0, each + size, each)
        if self.sizes:
            shape = [*self.shape[: self.own], *self.sizes, *self.shape[self.own + 1 :]]
            index = index.expand(shape).flatten(self.own, self.own + len(self.sizes) - 1)
        index = index.expand(self.shape)
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
    positions: dict[int, int] = {}  # of the indices' dims: whose positions they say
    free = []
    for d in given:
        position = _find_position(constants.get(indices[d]), shape, x.shape[d], positions)
        if position is None:
            free.append(d)
        else:
            positions[position] = d
    if not positions or free != list(range(free[0], free[0] + len(free)) if free else ()):
        return None
    more = max(len(free) - 1, 0)  # dims that are as one
    first, rest = given[0], list(range(given[-1] + 1 - more, x.dim() - more))
    uncovered = [p for p in range(len(shape)) if p not in positions]
    dims = [positions[p] - more if free and positions[p] > free[0] else positions[p] for p in sorted(positions)]
    if not free:
        if node.target in _WRITES and math.prod(shape[p] for p in uncovered) != 1:
            return None
        return _Pick([*range(first), *dims, *rest], first, shape, sorted(positions))
    if uncovered != list(range(uncovered[0], uncovered[0] + len(uncovered)) if uncovered else ()):
        return None
    at, sizes = uncovered[0] if uncovered else len(shape), tuple(shape[p] for p in uncovered) if len(uncovered) > 1 else ()
    if sizes:
        shape = [*shape[:at], math.prod(sizes), *shape[at + len(sizes) :]]
    dims.insert(at, free[0])
    index = tuple(indices[d] for d in free)
    covered = [p - len(sizes) + 1 if sizes and p > at else p for p in sorted(positions)]
    return _Pick([*range(first), *dims, *rest], first, shape, covered, index, first + at, not uncovered, free[0], at, sizes)


def _find_position(value: Any, shape: Sequence[int], size: int, taken: Any) -> int | None:
    """The dim of the indices along which they count all elements of a dim of `size`."""
    if value is None:
        return None
    value = value.expand(shape)
    for p, n in enumerate(shape):
        counted = torch.arange(n).reshape([-1 if d == p else 1 for d in range(len(shape))])
        if n == size and p not in taken and torch.equal(value, counted.expand(shape).to(value.dtype)):
            return p
    return None


class _Constants:
    """Values of small nodes that depend on no argument."""

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


def _replace(node: Any, function: Any, table: Any) -> None:
    """By what `function` calls, of the node's arguments."""
    from torch.fx.experimental.proxy_tensor import make_fx

    inputs = node.all_input_nodes
    mode = node.meta["val"].fake_mode

    def run(*values: Any) -> Any:
        own = dict(zip(inputs, values))
        args, kwargs = torch.fx.node.map_arg((node.args, node.kwargs), own.__getitem__)
        pick = function.__self__
        index = torch.fx.node.map_arg(pick.index, own.__getitem__)
        bound = dataclasses.replace(pick, index=index)
        return getattr(bound, function.__name__)(*args, **kwargs)

    with mode:
        traced = make_fx(run, table)(*(n.meta["val"] for n in inputs))
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
