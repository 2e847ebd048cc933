"""From stored tensors to parameters, as the library itself converts them.

The library's loader runs on tensors that have a shape and a type and no elements. Each remembers what it is made of, and what the
loader made for a parameter is written as a loading function of ShardKit."""

from __future__ import annotations

import dataclasses
import math
from pathlib import Path
from typing import Any, Callable, Mapping, Sequence

import torch
from torch.utils._pytree import tree_map

from ..errors import ShardKitError


@dataclasses.dataclass(frozen=True, eq=False)
class Value:
    """What a tensor is made of: a stored tensor, by its name, or an op of others."""

    shape: tuple[int, ...]
    dtype: Any
    op: str
    operands: tuple["Value", ...] = ()
    data: Any = None


class Symbol(torch.Tensor):  # type: ignore[misc]
    """A tensor without elements that remembers what it is made of."""

    value: Value

    @staticmethod
    def __new__(cls, value: Value) -> Any:
        made = torch.Tensor._make_wrapper_subclass(cls, value.shape, dtype=value.dtype, device="meta", requires_grad=False)
        made.value = value
        return made

    def __repr__(self, **_: Any) -> str:
        return f"Symbol({tuple(self.shape)}, {self.dtype})"

    @classmethod
    def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        name = func._schema.name.removeprefix("aten::")
        rule = _RULES.get(name)
        if rule is None:
            raise ShardKitError(f"error: a weight is converted by {name} when it is loaded, expected one of {', '.join(sorted(_RULES))}")
        kwargs = {k: v for k, v in (kwargs or {}).items() if k not in ("device", "layout", "pin_memory", "non_blocking", "memory_format")}
        plain = tree_map(lambda v: torch.empty(v.shape, dtype=v.dtype, device="meta") if isinstance(v, Symbol) else v, args)
        with torch._C.DisableTorchFunctionSubclass():
            result = func(*plain, **kwargs)
        values = rule(result, *args, **kwargs)
        return Symbol(values) if isinstance(values, Value) else [Symbol(v) for v in values]


@dataclasses.dataclass(frozen=True)
class Stored:
    """A tensor of a checkpoint, and the file that it is in."""

    shape: tuple[int, ...]
    dtype: Any
    file: Path | None = None


def make_symbol(name: str, shape: Sequence[int], dtype: Any) -> Any:
    return Symbol(Value(tuple(shape), dtype, "stored", (), name))


def _same(result: Any, x: Symbol, *_: Any, **__: Any) -> Value:
    return x.value


def _cast(result: Any, x: Symbol, *_: Any, dtype: Any = None, **__: Any) -> Value:
    return x.value if result.dtype == x.dtype else Value(x.value.shape, result.dtype, "cast", (x.value,))


def _reshape(result: Any, x: Symbol, *_: Any) -> Value:
    return reshape(x.value, tuple(result.shape))


def reshape(value: Value, shape: tuple[int, ...]) -> Value:
    if value.op == "reshape":
        value = value.operands[0]
    return value if value.shape == shape else Value(shape, value.dtype, "reshape", (value,))


def _permute(order: Callable[..., Sequence[int]]) -> Callable[..., Value]:
    def rule(result: Any, x: Symbol, *args: Any) -> Value:
        rank = x.dim()
        dims = [d % rank for d in order(rank, *args)]
        return x.value if dims == list(range(rank)) else Value(tuple(result.shape), x.dtype, "transpose", (x.value,), tuple(dims))

    return rule


def _swap(rank: int, a: int, b: int) -> list[int]:
    dims = list(range(rank))
    dims[a], dims[b] = dims[b], dims[a]
    return dims


def _slice(result: Any, x: Symbol, dim: int = 0, start: int | None = 0, end: int | None = None, step: int = 1) -> Value:
    size = x.shape[dim]
    begin = min(max(start or 0, -size) % size if (start or 0) < 0 else (start or 0), size)
    return slice_of(x.value, dim % x.dim(), begin, result.shape[dim], step)


def slice_of(value: Value, dim: int, begin: int, size: int, step: int = 1) -> Value:
    shape = (*value.shape[:dim], size, *value.shape[dim + 1 :])
    return value if shape == value.shape else Value(shape, value.dtype, "slice", (value,), (dim, begin, step))


def concat(values: Sequence[Value], dim: int) -> Value:
    shape = list(values[0].shape)
    shape[dim] = sum(v.shape[dim] for v in values)
    return values[0] if len(values) == 1 else Value(tuple(shape), values[0].dtype, "concat", tuple(values), dim)


def add_constant(value: Value, scale: float, added: float) -> Value:
    return Value(value.shape, value.dtype, "affine", (value,), (scale, added))


def broadcast(value: Value, dim: int, times: int) -> Value:
    """A dim of one element gets so many, which are equal."""
    shape = (*value.shape[:dim], times, *value.shape[dim + 1 :])
    return value if times == 1 else Value(shape, value.dtype, "broadcast", (value,), dim)


def cast(value: Value, dtype: Any) -> Value:
    return value if value.dtype == dtype else Value(value.shape, dtype, "cast", (value,))


def unpack(value: Value, dim: int, shifts: Sequence[int], mask: int) -> Value:
    """Of integers, whose dim has one element, the bits from each of the shifts on, along that dim."""
    wide = broadcast(value, dim, len(shifts))
    return Value(wide.shape, value.dtype, "unpack", (wide,), (dim, list(shifts), mask))


def pack(value: Value, dim: int, bits: int) -> Value:
    """The numbers of so many bits along a dim, which then has one element: the first has the lowest bits."""
    shape = (*value.shape[:dim], 1, *value.shape[dim + 1 :])
    return value if shape == value.shape else Value(shape, value.dtype, "pack", (value,), (dim, bits))


def _select(result: Any, x: Symbol, dim: int, index: int) -> Value:
    return reshape(slice_of(x.value, dim % x.dim(), index % x.shape[dim], 1), tuple(result.shape))


def _split(result: Any, x: Symbol, sizes: Any, dim: int = 0) -> list[Value]:
    found, begin = [], 0
    for part in result:
        found.append(slice_of(x.value, dim % x.dim(), begin, part.shape[dim]))
        begin += part.shape[dim]
    return found


def _unbind(result: Any, x: Symbol, dim: int = 0) -> list[Value]:
    return [_select(part, x, dim, i) for i, part in enumerate(result)]


def _cat(result: Any, tensors: Sequence[Symbol], dim: int = 0) -> Value:
    given = [t.value for t in tensors if t.numel() or t.dim() == result.dim()]
    return given[0] if len(given) == 1 else Value(tuple(result.shape), result.dtype, "concat", tuple(given), dim % result.dim())


def _stack(result: Any, tensors: Sequence[Symbol], dim: int = 0) -> Value:
    at = dim % result.dim()
    shape = (*result.shape[:at], 1, *result.shape[at + 1 :])
    return Value(tuple(result.shape), result.dtype, "concat", tuple(reshape(t.value, shape) for t in tensors), at)


def _pad(result: Any, x: Symbol, *_: Any) -> Value:
    """By nothing: a bias that fits the weights that its layer is tied to."""
    if result.shape != x.shape:
        raise ShardKitError(f"error: a weight of shape {tuple(x.shape)} is padded to {tuple(result.shape)} when it is loaded, expected one that fits")
    return x.value


_RULES: Mapping[str, Callable[..., Any]] = {
    "_to_copy": _cast, "alias": _same, "clone": _same, "contiguous": _same, "detach": _same, "lift_fresh": _same, "_reshape_alias": _reshape, "_unsafe_view": _reshape,
    "reshape": _reshape, "squeeze": _reshape, "unsqueeze": _reshape, "view": _reshape, "transpose": _permute(_swap), "permute": _permute(lambda rank, dims: dims),
    "t": _permute(lambda rank: list(range(rank))[::-1]), "slice": _slice, "select": _select, "split": _split, "split_with_sizes": _split, "unbind": _unbind,
    "cat": _cat, "stack": _stack, "constant_pad_nd": _pad,
}  # fmt: skip


class LoadingFunctions:
    """The loading functions of a model, as IR: equal ones once."""

    def __init__(self) -> None:
        self._names: dict[str, str] = {}

    def add(self, value: Value) -> tuple[tuple[str, ...], str]:
        """The stored tensors that a value is made of, and the function that makes it of these; none where it is such a tensor."""
        if value.op == "stored":
            return (value.data,), ""
        writer = _Writer()
        result = writer.write(value)
        body = "\n".join(f"    {line}" for line in writer.lines)
        operands = ", ".join(f"%arg{i}: {spell(v)}" for i, v in enumerate(writer.operands))
        text = f"({operands}) -> {spell(value)} {{\n{body}\n    return {result} : {spell(value)}\n  }}\n"
        name = self._names.setdefault(text, f"load{len(self._names)}")
        return tuple(v.data for v in writer.operands), name

    @property
    def text(self) -> str:
        return "".join(f"  func.func private @{name}{text}" for text, name in self._names.items())


_TYPES = {
    torch.bool: "i1", torch.uint8: "i8", torch.int8: "i8", torch.int16: "i16", torch.int32: "i32", torch.int64: "i64", torch.float16: "f16", torch.bfloat16: "bf16",
    torch.float32: "f32", torch.float64: "f64", torch.float8_e4m3fn: "f8E4M3FN", torch.float8_e5m2: "f8E5M2",
}  # fmt: skip


def spell(value: Value, dtype: Any = None) -> str:
    return f"tensor<{''.join(f'{s}x' for s in value.shape)}{_TYPES[dtype or value.dtype]}>"


class _Writer:
    """The body of a loading function."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.operands: list[Value] = []
        self._known: dict[int, str] = {}
        self._stored: dict[str, str] = {}
        self._count = 0

    def write(self, root: Value) -> str:
        """The name of a value, with all that it needs before it."""
        stack = [root]
        while stack:
            value = stack[-1]
            if id(value) in self._known:
                stack.pop()
            elif missing := [v for v in value.operands if id(v) not in self._known]:
                stack += missing[::-1]
            else:
                self._known[id(value)] = self._write_one(value)
                stack.pop()
        return self._known[id(root)]

    def _add(self, text: str) -> str:
        self.lines.append(f"%{self._count} = {text}")
        self._count += 1
        return f"%{self._count - 1}"

    def _write_one(self, value: Value) -> str:
        if value.op == "stored":
            if value.data not in self._stored:
                self._stored[value.data] = f"%arg{len(self.operands)}"
                self.operands.append(value)
            return self._stored[value.data]
        names = [self._known[id(v)] for v in value.operands]
        source, type = value.operands[0], spell(value)
        if value.op == "concat":
            types = ", ".join(map(spell, value.operands))
            return self._add(f"tensor.concat dim({value.data}) {', '.join(names)} : ({types}) -> {type}")
        if value.op == "slice":
            return self._slice(names[0], source, value, *value.data)
        if value.op == "transpose":
            empty = self._add(f"tensor.empty() : {type}")
            return self._add(f"linalg.transpose ins({names[0]} : {spell(source)}) outs({empty} : {type}) permutation = {list(value.data)}")
        if value.op == "reshape":
            return self._reshape(names[0], source, value)
        if value.op == "broadcast":
            dim = value.data
            name = self._reshape(names[0], source, narrow := Value((*source.shape[:dim], *source.shape[dim + 1 :]), value.dtype, "reshape"))
            empty = self._add(f"tensor.empty() : {type}")
            return self._add(f"linalg.broadcast ins({name} : {spell(narrow)}) outs({empty} : {type}) dimensions = [{dim}]")
        if value.op == "unpack":
            dim, shifts, mask = value.data
            list_type = f"tensor<{len(shifts)}x{_TYPES[value.dtype]}>"
            name, empty = self._add(f"arith.constant dense<{shifts}> : {list_type}"), self._add(f"tensor.empty() : {type}")
            others = [d for d in range(len(value.shape)) if d != dim]
            name = self._add(f"linalg.broadcast ins({name} : {list_type}) outs({empty} : {type}) dimensions = {others}")
            name = self._add(f"arith.shrui {names[0]}, {name} : {type}")
            return self._compute("andi", name, mask, type)
        if value.op == "pack":
            dim, bits = value.data
            parts = [self._slice(names[0], source, value, dim, at, 1) for at in range(source.shape[dim])]
            name = parts[0]
            for at, part in enumerate(parts[1:], 1):
                name = self._add(f"arith.ori {name}, {self._compute('shli', part, bits * at, type)} : {type}")
            return name
        if value.op == "affine":
            name = names[0]
            for op, number in zip(("mulf", "addf"), value.data):
                name = self._compute(op, name, number, type)
            return name
        assert value.op == "cast"
        return self._cast(names[0], source, value)

    def _compute(self, op: str, name: str, number: float, type: str) -> str:
        """An op of all elements and a number."""
        constant = self._add(f"arith.constant dense<{number!r}> : {type}")
        return self._add(f"arith.{op} {name}, {constant} : {type}")

    def _slice(self, name: str, source: Value, value: Value, dim: int, begin: int, step: int) -> str:
        offsets, strides = [0] * len(value.shape), [1] * len(value.shape)
        offsets[dim], strides[dim] = begin, step
        return self._add(f"tensor.extract_slice {name}{offsets} {list(value.shape)} {strides} : {spell(source)} to {spell(value)}")

    def _reshape(self, name: str, source: Value, value: Value) -> str:
        """Joins the dims that have the same elements on both sides, and splits what was joined."""
        groups = _group(source.shape, value.shape)
        joined = Value(tuple(math.prod(source.shape[d] for d in a) for a, _ in groups), value.dtype, "reshape")
        if joined.shape != source.shape:
            name = self._add(f"tensor.collapse_shape {name} {[list(a) for a, _ in groups]} : {spell(source)} into {spell(joined)}")
        if joined.shape != value.shape:
            name = self._add(
                f"tensor.expand_shape {name} {[list(b) for _, b in groups]} output_shape {list(value.shape)} : {spell(joined)} into {spell(value)}"
            )
        return name

    def _cast(self, name: str, source: Value, value: Value) -> str:
        a, b = source.dtype, value.dtype
        if a.is_floating_point and b.is_floating_point:
            if a.itemsize == b.itemsize:  # f16 and bf16, by f32
                wide = Value(source.shape, torch.float32, "cast")
                name = self._add(f"arith.extf {name} : {spell(source)} to {spell(wide)}")
                return self._add(f"arith.truncf {name} : {spell(wide)} to {spell(value)}")
            op = "extf" if a.itemsize < b.itemsize else "truncf"
        elif b.is_floating_point:
            op = "uitofp" if a in (torch.bool, torch.uint8) else "sitofp"
        elif a.is_floating_point or b is torch.bool:
            raise ShardKitError(f"error: a weight of {a} is converted to {b} when it is loaded, expected a conversion to floats or wider integers")
        else:
            op = "trunci" if b.itemsize < a.itemsize else "extui" if a in (torch.bool, torch.uint8) else "extsi"
        return self._add(f"arith.{op} {name} : {spell(source)} to {spell(value)}")


def _group(shape: Sequence[int], other: Sequence[int]) -> list[tuple[list[int], list[int]]]:
    """Dims of both shapes that have the same elements, at least one of each; a scalar has none."""
    groups: list[tuple[list[int], list[int]]] = []
    i = j = 0
    while i < len(shape) and j < len(other):
        a, b = [i], [j]
        while (x := math.prod(shape[d] for d in a)) != (y := math.prod(other[d] for d in b)):
            if x < y:
                a.append(a[-1] + 1)
            else:
                b.append(b[-1] + 1)
        groups.append((a, b))
        i, j = a[-1] + 1, b[-1] + 1
    if groups:  # ones at the end
        groups[-1] = (groups[-1][0] + list(range(i, len(shape))), groups[-1][1] + list(range(j, len(other))))
    return groups
