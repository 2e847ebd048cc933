"""Sizes of inputs that only the run knows, as torch.export has them."""

from __future__ import annotations

import contextlib
import dataclasses
import re
import sys
from typing import Any, Iterator, Mapping, Sequence
from unittest import mock

from ..errors import ShardKitError, is_users
from ..size_exprs import SizeExpr

_LARGEST = 2**40 - 1
"""The largest size there may be; as a bound it is none."""


def _find_largest(dim: Any) -> int:
    most = getattr(dim, "max", None)
    return min(most, _LARGEST) if isinstance(most, int) else _LARGEST


def _find_root(dim: Any) -> Any:
    """The `Dim` that one is computed of, `b` of `2 * b + 1`, or itself."""
    return getattr(dim, "root", dim)


def _express(dim: Any) -> tuple[int, int]:
    """The factor of its root, and what is added to it."""
    least: int = dim.fn(0) if hasattr(dim, "root") else 0
    return (int(dim.fn(1)) - least, least) if hasattr(dim, "root") else (1, 0)


@dataclasses.dataclass(frozen=True)
class Sizes:
    """Of inputs by name: a `torch.export.Dim`, or one that is computed of another, for each dim whose size is not known."""

    dims: dict[str, dict[int, Any]] = dataclasses.field(default_factory=dict)

    def specs(self, names: Sequence[str]) -> tuple[dict[int, Any], ...]:
        """Those of inputs in order, as torch.export takes them: it traces none of 0 and 1."""
        import torch

        def from_two(dim: Any) -> Any:
            most = _find_largest(dim)
            return torch.export.Dim(dim.__name__, min=2, **({"max": max(most, 2)} if most < _LARGEST else {})) if dim.min < 2 else dim

        known = {d.__name__: from_two(d) for d in self._find_roots()}

        def take(dim: Any) -> Any:
            factor, least = _express(dim)
            taken = known[_find_root(dim).__name__]
            taken = taken if factor == 1 else factor * taken
            return taken + least if least > 0 else taken - -least if least else taken

        return tuple({d: take(dim) for d, dim in self.dims.get(name, {}).items()} for name in names)

    def _find_roots(self) -> list[Any]:
        return [_find_root(dim) for dims in self.dims.values() for dim in dims.values()]

    def shape(self, name: str, shape: Sequence[int]) -> tuple[int, ...]:
        """The shape of an input, -1 where its size is not known."""
        return tuple(-1 if d in self.dims.get(name, {}) else size for d, size in enumerate(shape))

    def symbols(self, name: str, rank: int) -> list[str]:
        """The sizes of an input as `spmd.symbols` has them, "" for known ones."""

        def spell(dim: Any) -> str:
            factor, least = map(SizeExpr.number, _express(dim))
            return (factor * SizeExpr.name(_find_root(dim).__name__) + least).symbols

        return [spell(self.dims[name][d]) if d in self.dims[name] else "" for d in range(rank)]

    def bounds(self) -> dict[str, tuple[int, int]]:
        return {dim.__name__: (int(dim.min), _find_largest(dim)) for dim in self._find_roots()}


def read_sizes(given: Any, ranks: Mapping[str, int]) -> Sizes:
    """`given`: inputs by name to dims to `torch.export.Dim("batch", min=1, max=64)`, or `2 * batch`; one error for anything else."""
    if given is None:
        return Sizes()
    if not isinstance(given, Mapping):
        raise ShardKitError(f"error: dynamic_shapes is {given!r}, expected inputs by name, such as {{'x': {{0: torch.export.Dim('batch', min=1, max=64)}}}}")
    found: dict[str, dict[int, Any]] = {}
    bounds: dict[str, tuple[int, int]] = {}
    for name, dims in given.items():
        if name not in ranks:
            raise ShardKitError(f"error: dynamic_shapes names {name}, expected one of: {', '.join(ranks)}")
        if not isinstance(dims, Mapping):
            raise ShardKitError(f"error: dynamic_shapes of {name} is {dims!r}, expected dims, such as {{0: torch.export.Dim('batch', min=1, max=64)}}")
        for d, dim in dims.items():
            if not isinstance(d, int) or not 0 <= d < ranks[name]:
                raise ShardKitError(f"error: dynamic_shapes of {name} has dim {d!r}, expected 0 to {ranks[name] - 1}")
            root = _find_root(dim)
            least, most = getattr(root, "min", None), _find_largest(root)
            if not isinstance(getattr(root, "__name__", None), str) or not isinstance(least, int):
                raise ShardKitError(f"error: dim {d} of {name} is {dim!r}, expected a torch.export.Dim")
            if bounds.setdefault(root.__name__, (least, most)) != (least, most):
                raise ShardKitError(f"error: size {root.__name__} is {least} to {most} in {name}, expected {bounds[root.__name__]}, as in another input")
        found[name] = dict(dims)
    return Sizes(found)


@contextlib.contextmanager
def refuse_branches(dims: Sequence[Mapping[int, Any]]) -> Iterator[None]:
    """While a module is traced with `dims` of its inputs: a branch of its own that goes another way where a size is 1 or 0, which the
    size may be, is an error. (PyTorch's own do not matter: they are about strides and broadcasts that hold for all sizes.)"""
    import torch

    decide = torch.SymBool.__bool__

    def decide_alike(flag: Any) -> bool:
        result: bool = decide(flag)
        frame = sys._getframe(1)
        if is_users(frame.f_code.co_filename):
            for name, size in _find_exceptions(flag.node, dims, result):
                where = f"{frame.f_code.co_filename}:{frame.f_lineno}"
                raise ShardKitError(f"{where}: error: a branch goes another way where size {name} is {size}, expected a torch.export.Dim with min={size + 1}")
        return result

    with mock.patch.object(torch.SymBool, "__bool__", decide_alike) if dims else contextlib.nullcontext():
        yield


def _find_exceptions(node: Any, dims: Sequence[Mapping[int, Any]], result: bool) -> Iterator[tuple[str, int]]:
    env = node.shape_env
    hints = {symbol: env.backed_var_to_val[symbol] for symbol in node.expr.free_symbols if symbol in env.backed_var_to_val}
    for symbol in hints:
        for source in env.var_to_sources.get(symbol, ()):
            found = re.search(r"\['args'\]\[(\d+)\].*size\(\)\[(\d+)\]$", str(getattr(source, "name", "")))
            dim = dims[int(found[1]) - 1].get(int(found[2])) if found and int(found[1]) else None
            for size in (1, 0):
                if dim is not None and dim.min <= size and bool(node.expr.subs(hints | {symbol: size})) != result:
                    yield dim.__name__, size


_VIEWS = ("aten.view.default", "aten.reshape.default", "aten._unsafe_view.default")


def split_views(program: Any) -> bool:
    """Views between shapes with unknown sizes become ops that state which dims they join and split: torch-mlir guesses
    these, and takes a size for 1 where two are unknown. Whether there are unknown sizes."""
    import torch

    if not _has_sizes(program):
        return False

    aten = torch.ops.aten
    for node in list(program.graph.nodes):
        if node.op != "call_function" or str(node.target) not in _VIEWS:
            continue
        source, wanted = node.args
        before, after = list(source.meta["val"].shape), list(node.meta["val"].shape)
        if all(isinstance(size, int) for size in (*before, *after)):
            continue
        groups = _find_groups(before, after)
        if groups is None:
            raise ShardKitError(f"error: {node.target} from {before} to {after}: which dims it joins and splits depends on the sizes, expected a view of dims side by side")
        value, shape = source, before
        with program.graph.inserting_before(node):
            for at, (joined, split) in enumerate(groups):  # dims before `at` are done
                if len(joined) > 1:
                    size = shape[at]
                    for other in shape[at + 1 : at + len(joined)]:
                        size = size * other
                    shape = [*shape[:at], size, *shape[at + len(joined) :]]
                    value = _call(program, aten.flatten.using_ints, (value, at, at + len(joined) - 1), node, shape)
            for at, (joined, split) in reversed(list(enumerate(groups))):
                if len(split) > 1:
                    sizes = [_known(after[d], wanted[d]) for d in split]
                    shape = [*shape[:at], *(after[d] for d in split), *shape[at + 1 :]]
                    value = _call(program, aten.unflatten.int, (value, at, sizes), node, shape)
        node.replace_all_uses_with(value)
        program.graph.erase_node(node)
    program.graph.eliminate_dead_code()
    return True


def _has_sizes(program: Any) -> bool:
    values = [node.meta.get("val") for node in program.graph.nodes if node.op == "placeholder"]
    return any(not isinstance(size, int) for value in values for size in getattr(value, "shape", ()))


def _known(size: Any, argument: Any) -> Any:
    """A size that is a number as such, else the node that computes it."""
    return int(size) if isinstance(size, int) else argument


def _call(program: Any, target: Any, args: tuple[Any, ...], like: Any, shape: Sequence[Any]) -> Any:
    made = program.graph.call_function(target, args)
    made.meta = dict(like.meta)
    made.meta["val"] = like.meta["val"].new_empty(shape)
    return made


def _find_groups(before: Sequence[Any], after: Sequence[Any]) -> list[tuple[list[int], list[int]]] | None:
    """The smallest groups of dims with one product; None if the products of all dims differ."""
    import sympy  # type: ignore[import-untyped, unused-ignore]

    def products(shape: Sequence[Any]) -> list[Any]:
        found = [sympy.Integer(1)]
        for size in shape:
            found.append(found[-1] * (size if isinstance(size, int) else size.node.expr))
        return found[1:]

    first, second = products(before), products(after)
    if not first or not second or first[-1] != second[-1]:
        return None
    groups: list[tuple[list[int], list[int]]] = []
    f = t = 0
    for end, product in enumerate(first):
        found = next((i for i in range(t, len(second)) if second[i] == product), None)
        if found is not None:
            groups.append((list(range(f, end + 1)), list(range(t, found + 1))))
            f, t = end + 1, found + 1
    groups[-1] = ([*groups[-1][0], *range(f, len(first))], [*groups[-1][1], *range(t, len(second))])
    return groups
