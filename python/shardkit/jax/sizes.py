"""Sizes of arguments that only the run knows, as `jax.export.symbolic_shape` has them."""

from __future__ import annotations

import dataclasses
from typing import Any, Sequence

from ..errors import ShardKitError
from ..size_exprs import SizeExpr

LARGEST = 2**40 - 1
"""The largest size there may be; as a bound it is none."""


@dataclasses.dataclass(frozen=True)
class Sizes:
    """`dims`: of each argument; `bounds`: the least and the largest size of a name."""

    dims: tuple[tuple[SizeExpr, ...], ...]
    bounds: dict[str, tuple[int, int]]

    def describe(self) -> list[str]:
        """The attribute of each argument that names its dims; empty where all are known."""
        names = [["" if d.known is not None else d.symbols for d in dims] for dims in self.dims]
        return ["spmd.symbols = [" + ", ".join(f'"{n}"' for n in dims) + "]" if any(dims) else "" for dims in names]


def read_sizes(names: Sequence[str], shapes: Sequence[Sequence[Any]]) -> Sizes | None:
    """Those of arguments; None if all sizes are known."""
    from jax.export import symbolic_shape

    dims: list[tuple[SizeExpr, ...]] = []
    bounds: dict[str, tuple[int, int]] = {}
    for name, shape in zip(names, shapes, strict=True):
        sizes = []
        for d, size in enumerate(shape):
            if (expr := SizeExpr.parse(str(size))) is None:
                raise ShardKitError(f"error: dim {d} of {name} is {size}, expected a number, or a sum, difference or product of names and numbers")
            sizes.append(expr)
            for symbol in set(expr.names) - set(bounds):
                (one,) = [size] if str(size) == symbol else symbolic_shape(symbol, scope=size.scope)
                bounds[symbol] = (_find_least(one), _find_largest(one))
        dims.append(tuple(sizes))
    return Sizes(tuple(dims), bounds) if bounds else None


def _holds(compare: Any) -> bool:
    """Whether JAX can decide that a size compares so."""
    import jax

    try:
        return bool(compare())
    except jax.errors.InconclusiveDimensionOperation if hasattr(jax.errors, "InconclusiveDimensionOperation") else Exception:
        return False


def _find_largest(size: Any) -> int:
    low, high = 0, LARGEST
    if not _holds(lambda: size <= LARGEST):
        return LARGEST
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if _holds(lambda: size <= middle) else (middle + 1, high)
    return low


def _find_least(size: Any) -> int:
    low, high = 0, 1
    while high < LARGEST and _holds(lambda: size >= high):
        low, high = high, high * 2
    while low + 1 < high:
        middle = (low + high) // 2
        low, high = (middle, high) if _holds(lambda: size >= middle) else (low, middle)
    return low


def _is_held(leaf: Any) -> bool:
    import jax

    return (
        isinstance(leaf, jax.ShapeDtypeStruct)
        and isinstance(leaf.sharding, jax.sharding.NamedSharding)
        and any(not isinstance(size, int) for size in leaf.shape)
    )


def hold_shardings(args: Any) -> Any:
    """Arguments for tracing: JAX shards no dim that the devices may not divide, so that a size that only the run knows is unsharded."""
    import jax

    def hold(leaf: Any) -> Any:
        if not _is_held(leaf):
            return leaf
        return jax.ShapeDtypeStruct(leaf.shape, leaf.dtype, sharding=jax.sharding.NamedSharding(leaf.sharding.mesh, jax.sharding.PartitionSpec()))

    return jax.tree_util.tree_map(hold, args)


def restore_shardings(func: Any, leaves: Sequence[Any]) -> None:
    """Writes the shardings of arguments that were held, the last ones of the function."""
    import re

    import jax
    from jaxlib.mlir import ir

    attributes = list(func.attributes["arg_attrs"]) if "arg_attrs" in func.attributes else []
    first = len(attributes) - len(leaves)
    with func.operation.context:
        for i, leaf in enumerate(leaves):
            if not _is_held(leaf):
                continue
            entries = {a.name: a.attr for a in ir.DictAttr(attributes[first + i])}
            mesh = re.search(r"@[\w$.]+", str(entries["sdy.sharding"]))
            spec = list(leaf.sharding.spec) + [None] * (len(leaf.shape) - len(leaf.sharding.spec))
            axes = [() if e is None else (e,) if isinstance(e, str) else "?" if e is jax.sharding.PartitionSpec.UNCONSTRAINED else e for e in spec]
            dims = ", ".join("{?}" if e == "?" else "{" + ", ".join(f'"{a}"' for a in e) + "}" for e in axes)
            entries["sdy.sharding"] = ir.Attribute.parse(f"#sdy.sharding<{mesh[0] if mesh else '@mesh'}, [{dims}]>")
            attributes[first + i] = ir.DictAttr.get(entries)
        if attributes:
            func.attributes["arg_attrs"] = ir.ArrayAttr.get(attributes)
