"""Complex numbers of PyTorch by operations on their components, and its Fourier transforms."""

from __future__ import annotations

import math
from typing import Any, Callable, Sequence

import torch

from ..formulas.fourier import Transform, angle
from . import contractions, scans
from .decompositions import Table, either, known_decompositions
from .graph import MOVES, packet

_TRANSFORMS = ("aten.fft_", "aten.istft", "aten.stft")
# torch-mlir lowers these as they are.
_KEPT = {f"aten.{name}" for name in ("complex", "imag", "real", "view_as_complex", "view_as_real")}

# Of real tensors and a complex number these make complex ones.
_PROMOTES = {f"aten.{name}" for name in ("add", "div", "eq", "mul", "ne", "pow", "rsub", "sub", "true_divide")}


def has_complex(program: Any) -> bool:
    """Values of complex numbers, or Fourier transforms, which have some inside."""
    from torch.utils._pytree import tree_leaves

    nodes = program.graph.nodes
    values = (value for node in nodes for value in tree_leaves((node.args, node.kwargs, node.meta.get("val"))))
    return any(str(node.target).startswith(_TRANSFORMS) for node in nodes) or any(map(_is_complex, values))


def _is_complex(value: Any) -> bool:
    return isinstance(value, complex) or (isinstance(value, torch.Tensor) and value.is_complex())


def by_parts(table: Table) -> Table:
    """`table` with decompositions of PyTorch and ours on the components of complex numbers, except for ops that only move them."""
    from torch._subclasses.complex_tensor._ops.common import COMPLEX_OPS_TABLE

    aten, prims = torch.ops.aten, torch.ops.prims
    known = known_decompositions()
    found = table | {
        op: _where_complex(either(table.get(op), made), table.get(op)) for op, made in known.items() if packet(op) not in MOVES
    }
    found |= {op: made for op, made in known.items() if str(op).startswith(_TRANSFORMS)}
    for name, forward in (("ihfft", torch.fft.rfft), ("ihfft2", torch.fft.rfft2), ("ihfftn", torch.fft.rfftn)):
        found[getattr(aten, f"fft_{name}").default] = _conjugate_of(forward)
    transforms: tuple[tuple[Any, Any, str], ...] = (("c2c", _fft_c2c, "forward"), ("r2c", _fft_r2c, "onesided"), ("c2r", _fft_c2r, "last_dim_size"))
    for name, transform, option in transforms:
        found[getattr(prims, f"fft_{name}").default] = transform
        found[getattr(aten, f"_fft_{name}").default] = _normalized(transform, option)
    for op in COMPLEX_OPS_TABLE:
        only_numbers = packet(op) in _KEPT | MOVES
        found |= {overload: _of_parts(overload, table.get(overload), only_numbers) for overload in _overloads(op)}
    ours: Table = {
        aten.addbmm.default: contractions.addbmm,
        aten.cumprod.default: scans.cumprod,
        aten.convolution.default: _convolution,
        aten.exp2.default: lambda x: torch.exp(x * math.log(2)),
        aten.log2.default: lambda x: torch.log(x) / math.log(2),
        aten.log10.default: lambda x: torch.log(x) / math.log(10),
        aten.pow.Scalar: lambda base, x: torch.pow(torch.full_like(x, base), x),
        aten.put.default: _alike(aten.put.default),
        aten.scatter.src: _alike(aten.scatter.src),
        aten.scatter.value: lambda x, d, index, value: torch.scatter(x, d, index, torch.full(index.shape, value, dtype=x.dtype)),
    }
    found |= {op: _where_complex(made, found.get(op)) for op, made in ours.items()}
    names = {packet(op) for op in (*COMPLEX_OPS_TABLE, *ours)} - _KEPT - MOVES
    for name in torch._prims.__all__:
        if f"aten.{name}" in names and hasattr(prims, name):
            op = getattr(prims, name).default
            found[op] = _where_complex(_of_prim(getattr(aten, name), name), found.get(op))
    found |= {op: _creation(op, found.get(op)) for name in _CREATIONS for op in _overloads(getattr(aten, name))}
    return found | {prims.convert_element_type.default: _convert(found[prims.convert_element_type.default])}


_CREATIONS = ("empty", "empty_strided", "full", "ones", "scalar_tensor", "zeros")


def _overloads(op: Any) -> list[Any]:
    return [getattr(op, name) for name in op.overloads()] if hasattr(op, "overloads") else [op]


def _of_prim(op: Any, name: str) -> Callable[..., Any]:
    if name == "var":
        return lambda x, dims, correction=1.0: op.correction(x, dims, correction=correction)
    return lambda *args, **kwargs: op(*args, **kwargs)


def _conjugate_of(forward: Callable[..., Any]) -> Callable[..., Any]:
    """The inverse transform of a dim whose element k is the conjugate of element n - k: the other one's conjugates, divided by the size."""

    def function(x: Any, *args: Any, norm: str | None = None) -> Any:
        if len(args) > 2:
            args, norm = args[:2], args[2]
        y = forward(x, *args, norm={None: "forward", "backward": "forward", "forward": "backward"}.get(norm, norm))
        return torch.complex(y.real, -y.imag)

    return function


def _creation(op: Any, otherwise: Callable[..., Any] | None) -> Callable[..., Any]:
    """Of what makes tensors of a dtype; the value is the last argument where there is one."""

    def function(*args: Any, dtype: Any = None, **kwargs: Any) -> Any:
        is_complex = dtype.is_complex if dtype else any(isinstance(v, complex) for v in args)
        if not is_complex:
            return otherwise(*args, dtype=dtype, **kwargs) if otherwise else NotImplemented
        part = (dtype or torch.complex64).to_real()
        name = op._overloadpacket.__name__
        if name in ("empty", "empty_strided"):
            real, imaginary = torch.empty(args[0], dtype=part), torch.empty(args[0], dtype=part)
        else:
            value = complex({"zeros": 0, "ones": 1}.get(name, args[-1]))
            shape = [] if name == "scalar_tensor" else args[0]
            real, imaginary = (torch.full(shape, v, dtype=part) for v in (value.real, value.imag))
        return torch.complex(real, imaginary)

    return function


def _alike(op: Any) -> Callable[..., Any]:
    """What moves elements of several tensors of one dtype."""

    def function(*args: Any, **kwargs: Any) -> Any:
        def parts(name: str) -> list[Any]:
            return [getattr(v, name) if isinstance(v, torch.Tensor) and v.is_complex() else v for v in args]

        return torch.complex(op(*parts("real"), **kwargs), op(*parts("imag"), **kwargs))

    return function


def _convolution(x: Any, weight: Any, bias: Any, *rest: Any) -> Any:
    def convolve(a: Any, b: Any) -> Any:
        return torch.ops.aten.convolution.default(a, b, None, *rest)

    real = convolve(x.real, weight.real) - convolve(x.imag, weight.imag)
    result = torch.complex(real, convolve(x.real, weight.imag) + convolve(x.imag, weight.real))
    return result if bias is None else result + bias.reshape([-1, *[1] * (x.dim() - 2)])


def _where_complex(made: Callable[..., Any], otherwise: Callable[..., Any] | None) -> Callable[..., Any]:
    def function(*args: Any, **kwargs: Any) -> Any:
        from torch.utils._pytree import tree_leaves

        if any(map(_is_complex, tree_leaves((args, kwargs)))):
            return made(*args, **kwargs)
        return otherwise(*args, **kwargs) if otherwise else NotImplemented

    return function


def _convert(otherwise: Callable[..., Any]) -> Callable[..., Any]:
    """torch-mlir takes True for -1 in conversions to complex numbers, and has none from them."""

    def function(x: Any, dtype: Any) -> Any:
        if dtype.is_complex and not x.is_complex():
            real = x.to(dtype.to_real())
            return torch.complex(real, torch.zeros_like(real))
        if x.is_complex() and not dtype.is_complex:
            return x.real.to(torch.bool) | x.imag.to(torch.bool) if dtype is torch.bool else x.real.to(dtype)
        return otherwise(x, dtype)

    return function


def _of_parts(target: Any, otherwise: Callable[..., Any] | None, only_numbers: bool) -> Callable[..., Any]:
    """`only_numbers`: where one of Python's complex numbers is among the arguments, which torch-mlir does not take."""

    def function(*args: Any, **kwargs: Any) -> Any:
        from torch._subclasses.complex_tensor import ComplexTensor
        from torch._subclasses.complex_tensor._ops.common import lookup_complex
        from torch.utils._pytree import tree_leaves, tree_map

        def take_apart(value: Any) -> Any:
            if not isinstance(value, torch.Tensor):
                return value
            if value.is_complex():
                return ComplexTensor(torch.real(value), torch.imag(value))
            if not is_promoted:
                return value
            real = value if value.is_floating_point() else value.to(torch.get_default_dtype())
            return ComplexTensor(real, torch.zeros_like(real))

        def put_together(value: Any) -> Any:
            return torch.complex(value.re, value.im) if isinstance(value, ComplexTensor) else value

        def is_meant(value: Any) -> bool:
            return _is_complex(value) and not (only_numbers and isinstance(value, torch.Tensor))

        if not any(map(is_meant, tree_leaves((args, kwargs)))):
            return otherwise(*args, **kwargs) if otherwise else NotImplemented
        # PyTorch makes nothing complex of real tensors and a complex number.
        is_promoted = packet(target) in _PROMOTES and not any(isinstance(v, torch.Tensor) and v.is_complex() for v in args)
        args, kwargs = tree_map(take_apart, (args, kwargs))
        compute = lookup_complex(target, *args, **kwargs)
        return NotImplemented if compute is None else tree_map(put_together, compute(*args, **kwargs))

    return function


class _Transform(Transform):
    def __init__(self, dtype: Any, is_forward: bool):
        self.dtype, self.is_forward = dtype, is_forward

    def shape(self, x: Any) -> list[int]:
        return list(x.shape)

    def roots(self, rows: int, columns: int, n: int) -> Any:
        turned = (torch.arange(rows).unsqueeze(1) * torch.arange(columns) % n).to(self.dtype) * angle(self.is_forward, n)
        return torch.complex(torch.cos(turned), torch.sin(turned))

    def product(self, x: Any, matrix: Any) -> Any:
        return x @ matrix if x.is_complex() else torch.complex(x @ matrix.real, x @ matrix.imag)

    def multiply(self, x: Any, matrix: Any) -> Any:
        return x * matrix

    def reshape(self, x: Any, shape: Sequence[int]) -> Any:
        return x.reshape(shape)

    def transpose(self, x: Any, order: Sequence[int]) -> Any:
        return x.permute(order)

    def slice(self, x: Any, low: int, high: int) -> Any:
        return x[..., low:high]

    def reverse_conjugate(self, x: Any) -> Any:
        return torch.complex(x.real, -x.imag).flip(-1)

    def concatenate(self, x: Any, y: Any) -> Any:
        return torch.cat([x, y], -1)


def _fft_c2c(x: Any, *, dim: Sequence[int], forward: bool) -> Any:
    t = _Transform(x.real.dtype, forward)
    for d in dim:
        x = t.dim(x, d % x.dim())
    return x


def _normalized(transform: Any, option: str) -> Any:
    """As gradients call it, all by position: a number selects the divisor of the result, 1: the root of the number of elements, 2:
    this number."""

    def function(x: Any, dim: Sequence[int], normalization: int, last: Any) -> Any:
        result = transform(x, dim=dim, **{option: last})
        count = math.prod(max(x.shape[d], result.shape[d]) for d in dim)
        return result * {0: 1, 1: count**-0.5, 2: 1 / count}[normalization] if normalization else result

    return function


def _fft_r2c(x: Any, *, dim: Sequence[int], onesided: bool) -> Any:
    t, last = _Transform(x.dtype, True), dim[-1] % x.dim()
    return _fft_c2c(t.half(x, last) if onesided else t.dim(x, last), dim=dim[:-1], forward=True)


def _fft_c2r(x: Any, *, dim: Sequence[int], last_dim_size: int) -> Any:
    t, last = _Transform(x.real.dtype, False), dim[-1] % x.dim()
    x = _fft_c2c(x, dim=dim[:-1], forward=False)
    return t.dim(t.complete(x, last, last_dim_size), last).real
