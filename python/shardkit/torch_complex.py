"""Complex numbers of PyTorch by operations on their parts, and its Fourier transforms."""

from __future__ import annotations

from typing import Any, Callable, Sequence

from .fourier import Transform, angle

_TRANSFORMS = ("aten.fft_", "aten.istft", "aten.stft")
# torch-mlir lowers these as they are.
_KEPT = {f"aten.{name}" for name in ("complex", "imag", "real", "view_as_complex", "view_as_real")}


def has_complex(program: Any) -> bool:
    """Values of complex numbers, or Fourier transforms, which have some inside."""
    import torch
    from torch.utils._pytree import tree_leaves

    nodes = program.graph.nodes
    values = (value for node in nodes for value in tree_leaves((node.args, node.kwargs, node.meta.get("val"))))
    return any(str(node.target).startswith(_TRANSFORMS) for node in nodes) or any(
        isinstance(v, complex) or (isinstance(v, torch.Tensor) and v.is_complex()) for v in values
    )


def by_parts(table: dict[Any, Callable[..., Any]], moves: set[str]) -> dict[Any, Callable[..., Any]]:
    """`table` with what PyTorch makes of the parts of complex numbers, but for `moves`, which do whatever the elements are."""
    import torch
    from torch._decomp import decomposition_table
    from torch._subclasses.complex_tensor._ops.common import COMPLEX_OPS_TABLE

    found: dict[Any, Callable[..., Any]] = {
        **{
            op: made
            for known in (torch.export.default_decompositions(), decomposition_table)
            for op, made in known.items()
            if str(op).startswith(_TRANSFORMS)
        },
        torch.ops.prims.fft_c2c.default: _fft_c2c,
        torch.ops.prims.fft_r2c.default: _fft_r2c,
        torch.ops.prims.fft_c2r.default: _fft_c2r,
    }
    for op in COMPLEX_OPS_TABLE:
        overloads = [getattr(op, name) for name in op.overloads()] if isinstance(op, torch._ops.OpOverloadPacket) else [op]
        only_numbers = str(getattr(op, "_overloadpacket", op)) in _KEPT | moves
        found |= {overload: _of_parts(overload, table.get(overload), only_numbers) for overload in overloads}
    convert = torch.ops.prims.convert_element_type.default
    return table | found | {convert: _to_complex(found[convert])}


def _to_complex(otherwise: Callable[..., Any]) -> Callable[..., Any]:
    """Of conversions: torch-mlir takes True for -1 in one to complex numbers."""

    def function(x: Any, dtype: Any) -> Any:
        import torch

        if not dtype.is_complex or x.is_complex():
            return otherwise(x, dtype)
        real = x.to(dtype.to_real())
        return torch.complex(real, torch.zeros_like(real))

    return function


def _of_parts(target: Any, otherwise: Callable[..., Any] | None, only_numbers: bool) -> Callable[..., Any]:
    """`only_numbers`: where one of Python's complex numbers is among the arguments, which torch-mlir does not take."""

    def function(*args: Any, **kwargs: Any) -> Any:
        import torch
        from torch._subclasses.complex_tensor import ComplexTensor
        from torch._subclasses.complex_tensor._ops.common import lookup_complex
        from torch.utils._pytree import tree_leaves, tree_map

        def take_apart(value: Any) -> Any:
            is_complex = isinstance(value, torch.Tensor) and value.is_complex()
            return ComplexTensor(torch.real(value), torch.imag(value)) if is_complex else value

        def put_together(value: Any) -> Any:
            return torch.complex(value.re, value.im) if isinstance(value, ComplexTensor) else value

        def is_meant(value: Any) -> bool:
            return isinstance(value, complex) or (isinstance(value, torch.Tensor) and value.is_complex() and not only_numbers)

        if not any(map(is_meant, tree_leaves((args, kwargs)))):
            return otherwise(*args, **kwargs) if otherwise else NotImplemented
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
        import torch

        turned = (torch.arange(rows).unsqueeze(1) * torch.arange(columns) % n).to(self.dtype) * angle(self.is_forward, n)
        return torch.complex(torch.cos(turned), torch.sin(turned))

    def product(self, x: Any, matrix: Any) -> Any:
        import torch

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
        import torch

        return torch.complex(x.real, -x.imag).flip(-1)

    def concatenate(self, x: Any, y: Any) -> Any:
        import torch

        return torch.cat([x, y], -1)


def _fft_c2c(x: Any, *, dim: Sequence[int], forward: bool) -> Any:
    t = _Transform(x.real.dtype, forward)
    for d in dim:
        x = t.dim(x, d % x.dim())
    return x


def _fft_r2c(x: Any, *, dim: Sequence[int], onesided: bool) -> Any:
    t, last = _Transform(x.dtype, True), dim[-1] % x.dim()
    return _fft_c2c(t.half(x, last) if onesided else t.dim(x, last), dim=dim[:-1], forward=True)


def _fft_c2r(x: Any, *, dim: Sequence[int], last_dim_size: int) -> Any:
    t, last = _Transform(x.real.dtype, False), dim[-1] % x.dim()
    x = _fft_c2c(x, dim=dim[:-1], forward=False)
    return t.dim(t.complete(x, last, last_dim_size), last).real
