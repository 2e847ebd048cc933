"""Functions of which a size is known only when they are called."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from .errors import ShardKitError
from .session import Array, Function, Value, _check, _integer, _library

if TYPE_CHECKING:
    from .session import Session


class SizeInfo(ctypes.Structure):
    """sk_size_info."""

    _fields_ = [("name", ctypes.c_char_p), ("least", ctypes.c_int64), ("most", ctypes.c_int64), ("multiple", ctypes.c_int64)]


class Size:
    """A size that only the run knows. `least`, `most`: its bound, both included; `multiple`: what it must be a multiple of."""

    def __init__(self, info: SizeInfo):
        self.name = info.name.decode(errors="replace")
        self.least, self.most, self.multiple = int(info.least), int(info.most), int(info.multiple)

    def __repr__(self) -> str:
        return f"{self.name}: {self.least} to {self.most}{f', a multiple of {self.multiple}' if self.multiple > 1 else ''}"


class SizedFunction(Function):
    """A function of which a size is known only when it is called: that of the arrays that it is called with. Dims of `arguments`
    and `results` are -1 where they are not known. `at` is the function at given sizes; nothing is compiled."""

    sizes: list[Size]
    _known: dict[tuple[int, ...], Function]

    def __new__(cls, session: "Session", number: int) -> "SizedFunction":
        self = cast("SizedFunction", super().__new__(cls, session, number))
        self.sizes, self._known = [], {}
        for i in range(_library().sk_session_size_count(session._get_handle(), number)):
            info = SizeInfo()
            _check(_library().sk_session_size(session._get_handle(), number, i, ctypes.byref(info)))
            self.sizes.append(Size(info))
        return self

    def at(self, **sizes: int) -> Function:
        """The function at these sizes, all of them, by name."""
        names = [size.name for size in self.sizes]
        if sorted(sizes) != sorted(names):
            raise ShardKitError(f"error: sizes of {self.name} are given as {', '.join(sizes) or 'none'}, expected {', '.join(names)}")
        key = tuple(_integer(sizes[name], f"size {name}", 0, 2**40) for name in names)
        if key not in self._known:
            number = ctypes.c_int32()
            values = (ctypes.c_int64 * len(key))(*key)
            _check(_library().sk_session_at_sizes(self.session._get_handle(), self.number, values, len(key), ctypes.byref(number)))
            self._known[key] = Function(self.session, number.value)
        return self._known[key]

    def find(self, args: Sequence[Any], keywords: Mapping[str, Any]) -> Function:
        """The function at the sizes of these arguments."""
        shapes: list[Any] = [None] * len(self.arguments)
        for i, value in [*enumerate(args), *((self._names[name], value) for name, value in keywords.items())]:
            shapes[i] = _shape_of(self.arguments[i], value)
        library, handle, number = _library(), self.session._get_handle(), ctypes.c_int32()
        key = tuple(-1 if size is None else size for shape in shapes for size in (shape if shape is not None else (None,)))
        if key not in self._known:
            pointers = (ctypes.POINTER(ctypes.c_int64) * len(shapes))()
            ndims = (ctypes.c_int32 * len(shapes))()
            for i, shape in enumerate(shapes):
                if shape is not None:
                    pointers[i] = ctypes.cast((ctypes.c_int64 * max(len(shape), 1))(*shape), ctypes.POINTER(ctypes.c_int64))
                    ndims[i] = len(shape)
            _check(library.sk_session_at_shapes(handle, self.number, pointers, ndims, len(shapes), ctypes.byref(number)))
            self._known[key] = Function(self.session, number.value)
        return self._known[key]

    def __call__(self, *args: Any, donate: bool = False, wait: bool = True, **by_name: Any) -> list[Array]:
        self._check_call(args, by_name)
        return self.find(args, by_name)(*args, donate=donate, wait=wait, **by_name)

    def call(self, given: Sequence[Any], flags: int = 0) -> list[Array]:
        return self.find(given, {}).call(list(given), flags)

    def put(self, argument: str | int, value: Any) -> Array:
        i = argument if isinstance(argument, int) else self._names.get(argument, -1)
        if not 0 <= i < len(self.arguments):
            raise ShardKitError(f"error: {self.name} has no argument {argument}, expected one of: {', '.join(self._names)}")
        if -1 not in self.arguments[i].shape:  # the same at all sizes
            return super().put(i, value)
        return self.find([None] * i + [value], {}).put(i, value)


def _shape_of(argument: Value, value: Any) -> tuple[int, ...] | None:
    """The shape of what is passed for an argument; None for one whose shape is known."""
    if value is None or -1 not in argument.shape:
        return None
    shape = getattr(value, "shape", None)
    return tuple(np.shape(value) if shape is None else shape)
