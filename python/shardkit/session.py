"""Programs that stay in this process with their weights and state: the runtime's session, through its C API."""

from __future__ import annotations

import ctypes
import functools
import importlib.util
import json
import operator
import os
import sys
import threading
import time
import weakref
from pathlib import Path
from typing import TYPE_CHECKING, Any, Callable, Iterable, Iterator, Mapping, Sequence

import numpy as np

from . import safetensors
from .binding import convert_number
from .errors import ShardKitError
from .processes import defaults
from .tools import draw_bar, find_library, find_tool

_ABI = 1
# In the order of enum sk_dtype.
_DTYPES = (
    "float64", "float32", "float16", "bfloat16", "int64", "int32", "int16", "int8", "bool", "uint64", "uint32", "uint16", "uint8",
    "float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz", "float8_e5m2fnuz", "float8_e8m0fnu", "int4", "uint4", "complex64", "complex128",
)  # fmt: skip
_DONATE, _ASYNC = 1, 2
_MOST = 2**31 - 1
_ATTENTION = ("auto", "cudnn", "kernel")
_KINDS = ("input", "weight", "result", "constant", "size")


class _Options(ctypes.Structure):
    _fields_ = [
        ("abi", ctypes.c_int32), ("library_threads", ctypes.c_int32), ("timeout", ctypes.c_double), ("backend", ctypes.c_char_p),
        ("mode", ctypes.c_char_p), ("io", ctypes.c_char_p), ("readers", ctypes.c_int32), ("follow_links", ctypes.c_int32),
        ("reshard", ctypes.c_int32), ("reserved", ctypes.c_int32),
    ]  # fmt: skip


class _FunctionInfo(ctypes.Structure):
    _fields_ = [
        ("name", ctypes.c_char_p), ("arguments", ctypes.c_int32), ("results", ctypes.c_int32), ("devices", ctypes.c_int64),
        ("calls", ctypes.c_int64), ("failed", ctypes.c_int64), ("seconds", ctypes.c_double), ("last_seconds", ctypes.c_double),
        ("resharded_bytes", ctypes.c_int64), ("reshard_seconds", ctypes.c_double),
    ]  # fmt: skip


class _ValueInfo(ctypes.Structure):
    _fields_ = [
        ("name", ctypes.c_char_p), ("sharding", ctypes.c_char_p), ("shape", ctypes.POINTER(ctypes.c_int64)), ("bytes", ctypes.c_int64),
        ("shard_bytes", ctypes.c_int64), ("devices", ctypes.c_int64), ("dtype", ctypes.c_int32), ("ndim", ctypes.c_int32),
        ("kind", ctypes.c_int32), ("tied", ctypes.c_int32), ("is_computed", ctypes.c_int32), ("reserved", ctypes.c_int32),
    ]  # fmt: skip


class _DeviceOptions(ctypes.Structure):
    _fields_ = [(name, ctypes.c_int32) for name in ("abi", "tf32", "no_graphs", "tune", "attention", "ranks")]
    _fields_ += [("map", ctypes.POINTER(ctypes.c_int64))]


class _View(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p), ("shape", ctypes.POINTER(ctypes.c_int64)), ("bytes", ctypes.c_int64), ("rank", ctypes.c_int64),
        ("dtype", ctypes.c_int32), ("ndim", ctypes.c_int32), ("owner", ctypes.c_void_p),
    ]  # fmt: skip


class _Argument(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("array", ctypes.c_void_p)]


class _CompareOptions(ctypes.Structure):
    _fields_ = [
        ("abi", ctypes.c_int32), ("exact", ctypes.c_int32), ("rtol", ctypes.c_double), ("atol", ctypes.c_double),
        ("watch", ctypes.POINTER(ctypes.c_char_p)), ("num_watch", ctypes.c_int32), ("reserved", ctypes.c_int32), ("directory", ctypes.c_char_p),
    ]  # fmt: skip


class _LoadCounters(ctypes.Structure):
    _fields_ = [(name, ctypes.c_int64) for name in ("bytes_needed", "bytes_read", "requests", "scatters", "broadcasts", "staging_bytes")]
    _fields_ += [("seconds", ctypes.c_double)]


_release_view: Any = None
"""For what is released while Python ends and clears its modules."""


@functools.cache
def _library() -> ctypes.CDLL:
    global _release_view
    tool = find_tool("shard-run")
    path = find_library("libshardkit_rt", tool)
    if path is None:
        raise ShardKitError(f"error: libshardkit_rt.so was not found next to {tool}, expected it in lib next to the folder of the tools")
    library = ctypes.CDLL(str(path), mode=os.RTLD_NOW | os.RTLD_GLOBAL)
    pointer, text, number = ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int32
    out, wide = ctypes.POINTER(ctypes.c_void_p), ctypes.c_int64
    session: dict[str, tuple[Any, ...]] = {
        "open": (ctypes.POINTER(_Options), out), "add_bundle": (pointer, text, text), "load_shard_functions": (pointer, text),
        "find": (pointer, text, ctypes.POINTER(number)), "function": (pointer, number, ctypes.POINTER(_FunctionInfo)),
        "argument": (pointer, number, number, ctypes.POINTER(_ValueInfo)), "result": (pointer, number, number, ctypes.POINTER(_ValueInfo)),
        "load_names": (pointer, text, pointer, number), "save": (pointer, text, pointer, number), "fill_random": (pointer, ctypes.c_uint64), "assign": (pointer, text, pointer, wide),
        "bind": (pointer, text, pointer), "bound": (pointer, text, out),
        "size_count": (pointer, number), "size": (pointer, number, number, pointer), "at_sizes": (pointer, number, pointer, number, ctypes.POINTER(number)),
        "at_shapes": (pointer, number, pointer, pointer, number, ctypes.POINTER(number)),
        "call": (pointer, number, pointer, number, number, pointer),
        "compare_values": (pointer, number, pointer, number, ctypes.POINTER(_CompareOptions), pointer, ctypes.POINTER(text)), "is_stuck": (pointer,), "count": (pointer,),
    }  # fmt: skip
    array: dict[str, tuple[Any, ...]] = {
        "create": (pointer, number, number, pointer, wide, out), "reshard": (pointer, number, number, out),
        "info": (pointer, ctypes.POINTER(_ValueInfo)), "is_ready": (pointer,), "wait": (pointer,), "read": (pointer, pointer, wide),
        "read_slice": (pointer, ctypes.POINTER(wide), ctypes.POINTER(wide), pointer, wide),
        "shard": (pointer, wide, ctypes.POINTER(_View)), "view": (pointer, ctypes.POINTER(_View)),
    }  # fmt: skip
    for prefix, functions in (("sk_session_", session), ("sk_array_", array)):
        for name, arguments in functions.items():
            getattr(library, prefix + name).argtypes = arguments
    for release, argument in (("sk_session_close", pointer), ("sk_array_release", pointer), ("sk_view_release", ctypes.POINTER(_View))):
        getattr(library, release).argtypes, getattr(library, release).restype = (argument,), None
    library.sk_session_note.argtypes, library.sk_session_note.restype = (pointer, number), text
    library.sk_session_load_counters.argtypes, library.sk_session_load_counters.restype = (pointer, ctypes.POINTER(_LoadCounters)), None
    library.sk_session_load_progress.argtypes, library.sk_session_load_progress.restype = (pointer, ctypes.POINTER(wide), ctypes.POINTER(wide)), None
    library.sk_session_interrupt.argtypes, library.sk_session_interrupt.restype = (pointer,), None
    library.sk_set_interrupt.argtypes, library.sk_set_interrupt.restype = (pointer, pointer), None
    library.sk_last_error.restype = text
    library.sk_view_gpu.argtypes, library.sk_view_dlpack.argtypes = (ctypes.POINTER(_View),), (ctypes.POINTER(_View), out)
    library.sk_session_set_devices.argtypes = (pointer, ctypes.POINTER(_DeviceOptions))
    library.sk_session_process.argtypes = (pointer, ctypes.POINTER(number))
    _release_view = library.sk_view_release
    return library


def _load_native() -> Any:
    """The module of what runs in each call, which is with the runtime's library."""
    _library()
    path = find_library("libshardkit_python", find_tool("shard-run"))
    if path is None:
        raise ShardKitError("error: libshardkit_python.so was not found, expected a runtime that was built where Python's headers are: apt-get install python3-dev")
    spec = importlib.util.spec_from_file_location("shardkit._native", path)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


if TYPE_CHECKING:
    from . import _native
else:
    _native = _load_native()
_check = _native.check


def _path(value: Any, what: str) -> bytes:
    try:
        path = os.fsencode(value)
    except TypeError:
        path = b""
    if not path or b"\0" in path:
        raise ShardKitError(f"error: {what} is {value!r}, expected a path")
    return path


def _paths(values: Any, what: str) -> list[bytes]:
    if isinstance(values, (str, bytes, os.PathLike)) or not isinstance(values, Iterable):
        raise ShardKitError(f"error: {what} is {values!r}, expected a list of paths")
    return [_path(value, what) for value in values]


def _name(value: Any, what: str) -> bytes:
    if not isinstance(value, str) or "\0" in value:
        raise ShardKitError(f"error: {what} is {value!r}, expected a string")
    return value.encode(errors="surrogateescape")


def _names(values: Any, what: str) -> Any:
    if isinstance(values, (str, bytes)) or not isinstance(values, Iterable):
        raise ShardKitError(f"error: {what} is {values!r}, expected a list of strings")
    names = [_name(value, what) for value in values]
    return (ctypes.c_char_p * len(names))(*names)


def _integer(value: Any, what: str, low: int, high: int) -> int:
    try:
        number = operator.index(value)
    except TypeError:
        number = low - 1
    if not low <= number <= high:
        raise ShardKitError(f"error: {what} is {value!r}, expected a number from {low} to {high}")
    return number


class Value:
    """The type and layout of an argument or result. `tied`: the argument that a result updates; `bytes_per_device`: the mean;
    `is_computed`: a weight that loading functions make of stored tensors."""

    def __init__(self, info: _ValueInfo):
        self.name = info.name.decode(errors="replace")
        self.sharding = info.sharding.decode(errors="replace")
        self.shape = tuple(info.shape[i] for i in range(info.ndim))
        self.dtype = safetensors.numpy_dtype(_DTYPES[info.dtype])
        self.nbytes, self.devices = info.bytes, info.devices
        self.type = _native.Type(self.dtype, self.shape, self.nbytes)
        self.bytes_per_device = info.shard_bytes // info.devices
        self.kind = _KINDS[info.kind]
        self.tied = info.tied if info.tied >= 0 else None
        self.is_computed = bool(info.is_computed)

    def __repr__(self) -> str:
        sharding = f", {self.sharding}" if self.sharding else ""
        return f"{self.name}: {self.dtype}[{', '.join(map(str, self.shape))}]{sharding}, {self.bytes_per_device} bytes on each of {self.devices} device{'s'[: self.devices > 1]}"


class _Memory:
    """Memory of the runtime as NumPy sees it; released when no array uses it any more."""

    def __init__(self, view: _View, shape: tuple[int, ...], type: str, is_read_only: bool):
        self.view = view
        self.__array_interface__ = {"version": 3, "shape": shape, "typestr": type, "data": (view.data, is_read_only)}

    def __del__(self) -> None:
        if _release_view:  # else Python ends
            _release_view(ctypes.byref(self.view))


def _as_numpy(view: _View, dtype: np.dtype[Any], shape: tuple[int, ...], is_read_only: bool = True) -> np.ndarray:
    if dtype.kind != "V":
        return np.asarray(_Memory(view, shape, dtype.str, is_read_only))
    # Types that NumPy does not have come as bytes.
    return np.asarray(_Memory(view, (view.bytes,), "|u1", is_read_only)).view(dtype).reshape(shape)


class Array(_native.Array):
    """A value that stays on the devices of a session. `numpy()` or `np.asarray` bring it here; where a device has all of it,
    without a copy (then it is read-only). It may still be computed: what needs its elements waits."""

    __slots__ = ("__weakref__",)

    name = property(lambda self: self.value.name)
    shape = property(lambda self: self.value.shape)
    dtype = property(lambda self: self.value.dtype)
    sharding = property(lambda self: self.value.sharding)
    ndim = property(lambda self: len(self.value.shape))
    nbytes = property(lambda self: self.value.nbytes)

    def __repr__(self) -> str:
        return f"Array({self.value!r})"

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        array = self.numpy()
        array = array if dtype is None else array.astype(dtype, copy=False)
        return array.copy() if copy else array

    def __len__(self) -> int:
        return len(self.numpy())

    def __bool__(self) -> bool:
        return bool(self.numpy())

    def __int__(self) -> int:
        return int(self.numpy())

    def __float__(self) -> float:
        return float(self.numpy())

    def item(self) -> Any:
        """The only element, as a number of Python."""
        return self.numpy().item()

    def __getitem__(self, index: Any) -> np.ndarray:
        """Elements of a slice, of step 1 in each dim; no other element is copied."""
        index = index if isinstance(index, tuple) else (index,)
        if sum(i is Ellipsis for i in index) == 1:
            at = next(k for k, i in enumerate(index) if i is Ellipsis)
            index = index[:at] + (slice(None),) * (self.ndim + 1 - len(index)) + index[at + 1 :]
        index += (slice(None),) * (self.ndim - len(index))
        if len(index) > self.ndim:
            raise ShardKitError(f"error: {self.name} has {self.ndim} dims, expected at most as many indices, not {len(index)}")
        starts, sizes, kept = [], [], []
        for size, i in zip(self.shape, index):
            if isinstance(i, slice):
                start, stop, step = i.indices(size)
                if step != 1:
                    raise ShardKitError(f"error: {self.name} is indexed with step {step}, expected 1; numpy() gives all of it")
                kept.append(max(0, stop - start))
                sizes.append(kept[-1])
            else:
                try:
                    start = operator.index(i)
                except TypeError:
                    raise ShardKitError(f"error: {self.name} is indexed with {_describe(i)}, expected numbers and slices; numpy() gives all of it") from None
                start += size * (start < 0)
                if not 0 <= start < size:
                    raise IndexError(f"index {i} of {self.name}, expected -{size} to {size - 1}")
                sizes.append(1)
            starts.append(start)
        result = np.empty(kept, self.dtype)
        numbers = ctypes.c_int64 * len(sizes)
        _check(_library().sk_array_read_slice(self._handle, numbers(*starts), numbers(*sizes), result.ctypes.data, result.nbytes))
        return result

    def shard(self, rank: int) -> "np.ndarray | GpuShard":
        """The shard of a rank of this process, without a copy (read-only; uneven shards end in padding). `np.from_dlpack`
        and other libraries take it from there. Where programs run on GPUs it is a GpuShard."""
        view = _View()
        _check(_library().sk_array_shard(self._handle, _integer(rank, "rank", 0, _MOST), ctypes.byref(view)))
        if _library().sk_view_gpu(ctypes.byref(view)) >= 0:
            return GpuShard(view, self.dtype)
        return _as_numpy(view, self.dtype, tuple(view.shape[i] for i in range(view.ndim)))

    def is_ready(self) -> bool:
        """Whether the call that computes it has ended."""
        return bool(_library().sk_array_is_ready(self._handle))

    def wait(self) -> "Array":
        """Waits for the call that computes it, and raises its error."""
        _check(_library().sk_array_wait(self._handle))
        return self


_pythonapi = ctypes.pythonapi
_pythonapi.PyCapsule_New.restype = ctypes.py_object
_pythonapi.PyCapsule_New.argtypes = (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
_pythonapi.PyCapsule_IsValid.argtypes = _pythonapi.PyCapsule_GetPointer.argtypes = (ctypes.c_void_p, ctypes.c_char_p)
_pythonapi.PyCapsule_GetPointer.restype = ctypes.c_void_p
_DELETER = 56
"""Offset of the deleter in a DLManagedTensor."""


@ctypes.PYFUNCTYPE(None, ctypes.c_void_p)  # type: ignore[untyped-decorator, unused-ignore]
def _drop_capsule(capsule: int) -> None:
    if _pythonapi.PyCapsule_IsValid(capsule, b"dltensor"):  # else a consumer has it
        tensor = _pythonapi.PyCapsule_GetPointer(capsule, b"dltensor")
        ctypes.CFUNCTYPE(None, ctypes.c_void_p)(ctypes.c_void_p.from_address(tensor + _DELETER).value or 0)(tensor)


class GpuShard:
    """The memory of a shard on a GPU, for `torch.from_dlpack`, `jax.dlpack.from_dlpack` and others. All work on it has ended:
    any stream may read it."""

    def __init__(self, view: _View, dtype: np.dtype[Any]):
        self._view, self.dtype = view, dtype
        self.shape = tuple(view.shape[i] for i in range(view.ndim))
        self.gpu: int = _library().sk_view_gpu(ctypes.byref(view))
        self.data: int = view.data

    def __del__(self) -> None:
        if _release_view:  # else Python ends
            _release_view(ctypes.byref(self._view))

    def __repr__(self) -> str:
        return f"GpuShard({self.dtype}[{', '.join(map(str, self.shape))}] on GPU {self.gpu})"

    def __dlpack_device__(self) -> tuple[int, int]:
        return 2, self.gpu  # kDLCUDA

    def __dlpack__(self, *, stream: Any = None, max_version: Any = None, dl_device: Any = None, copy: bool | None = None) -> Any:
        if copy or (dl_device is not None and tuple(dl_device) != self.__dlpack_device__()):
            raise BufferError(f"a shard on GPU {self.gpu} is not copied, expected copy=False and its device")
        tensor = ctypes.c_void_p()
        _check(_library().sk_view_dlpack(ctypes.byref(self._view), ctypes.byref(tensor)))
        return _pythonapi.PyCapsule_New(tensor, b"dltensor", ctypes.cast(_drop_capsule, ctypes.c_void_p))


class ValueReport:
    """How the values of a call compare with those of the unsharded program. `first`: the first wrong value, or None: its name, op,
    location, rank, element, both numbers, the collectives that it came through; `values`: the errors of all, in program order;
    `results`: the arrays that the call returned."""

    def __init__(self, report: dict[str, Any], results: list[Array]):
        self.first: dict[str, Any] | None = report.get("first")
        self.values: list[dict[str, Any]] = report["values"]
        self.files: list[str] = report["files"]
        self.results = results
        self._text: str = report["text"]

    def __str__(self) -> str:
        return self._text

    def __repr__(self) -> str:
        return self._text

    def __bool__(self) -> bool:
        """Whether all values are within tolerance."""
        return self.first is None


class Function(_native.Function):
    """A function of a session, which is called by position or by name. Arguments that are bound, as weights are, may be left
    out. `donate`: results take the memory of the arguments that they are tied to, which are of no use afterwards; bound ones
    become the results. `wait=False` returns as soon as the call is queued."""

    session: "Session"
    number: int
    name: str
    devices: int
    arguments: list[Value]
    results: list[Value]
    _names: dict[str, int]

    def __new__(cls, session: "Session", number: int) -> "Function":
        info = _read_info(session, number)
        library, handle = _library(), session._get_handle()
        arguments, results = list[Value](), list[Value]()
        for values, count, get in ((arguments, info.arguments, library.sk_session_argument), (results, info.results, library.sk_session_result)):
            for i in range(count):
                value = _ValueInfo()
                _check(get(handle, number, i, ctypes.byref(value)))
                values.append(Value(value))
        names = {value.name: i for i, value in enumerate(arguments)}
        self = super().__new__(cls, session._native, number, session, Array, arguments, results, names, _convert)
        self.session, self.number, self.arguments, self.results, self._names = session, number, arguments, results, names
        self.name, self.devices = info.name.decode(errors="replace"), info.devices
        return self

    def __repr__(self) -> str:
        return f"Function({self.name}: {len(self.arguments)} arguments, {len(self.results)} results, {self.devices} device{'s'[: self.devices > 1]})"

    @property
    def stats(self) -> dict[str, float]:
        """Calls, failed calls, and the seconds of all steps and of the last one; of arguments that are kept in another layout
        (`reshard=True`) the bytes that were made for calls and the seconds of that."""
        info = _read_info(self.session, self.number)
        return {"calls": info.calls, "failed": info.failed, "seconds": info.seconds, "last_seconds": info.last_seconds,
                "resharded_bytes": info.resharded_bytes, "reshard_seconds": info.reshard_seconds}  # fmt: skip

    def put(self, argument: str | int, value: Any) -> Array:
        """An array for an argument, to be passed to calls."""
        i = argument if isinstance(argument, int) else self._names.get(argument, -1)
        if not 0 <= i < len(self.arguments):
            raise ShardKitError(f"error: {self.name} has no argument {argument}, expected one of: {', '.join(self._names)}")
        array = _convert(self.arguments[i], value)
        handle = ctypes.c_void_p()
        _check(_library().sk_array_create(self.session._get_handle(), self.number, i, array.ctypes.data, array.nbytes, ctypes.byref(handle)))
        return Array(handle.value or 0, self.session, self.arguments[i])

    def compare_values(self, *args: Any, watch: Sequence[str] = (), directory: str | Path = ".", rtol: float | None = None,
                       atol: float | None = None, exact: bool = False, **keywords: Any) -> "ValueReport":  # fmt: skip
        """Calls the function beside its unsharded counterpart and compares each value as it is made; the bundle is one that was
        compiled with `--with-values`. Values that `watch` names, by the names of the report or by file:line, are written to
        `directory` as NAME.npy and NAME.unsharded.npy. Tolerances are those of `shard-run --verify`."""
        self._check_call(args, keywords)
        given: list[Any] = [None] * len(self.arguments)
        given[: len(args)] = args
        for name, value in keywords.items():
            given[self._names[name]] = value
        arguments = (_Argument * len(given))()
        kept = []
        for i, value in enumerate(given):
            if value is not None:
                kept.append(value if isinstance(value, Array) else self.put(i, value))
                arguments[i].array = kept[-1]._handle
        options = _CompareOptions(abi=_ABI, exact=exact, rtol=-1 if rtol is None else rtol, atol=-1 if atol is None else atol)
        options.watch, options.num_watch, options.directory = _names(watch, "watch"), len(watch), _path(directory, "directory")
        results, report = (ctypes.c_void_p * max(1, len(self.results)))(), ctypes.c_char_p()
        _check(_library().sk_session_compare_values(self.session._get_handle(), self.number, arguments, len(given), ctypes.byref(options), results, ctypes.byref(report)))
        arrays = [Array(results[i] or 0, self.session, value) for i, value in enumerate(self.results)]
        return ValueReport(json.loads(report.value or b"{}"), arrays)

    def _check_call(self, args: Sequence[Any], keywords: Mapping[str, Any]) -> None:
        """One error for arguments that the function does not have, or that come twice."""
        if len(args) > len(self.arguments):
            raise ShardKitError(f"error: {self.name} is called with {len(args)} arguments, expected at most {len(self.arguments)}")
        for name in keywords or ():
            if name in ("donate", "wait"):
                continue
            if name not in self._names:
                raise ShardKitError(f"error: {self.name} has no argument {name}, expected one of: {', '.join(self._names)}")
            if self._names[name] < len(args):
                raise ShardKitError(f"error: {name} of {self.name} was given twice, expected it by position or by name")


def _read_info(session: "Session", number: int) -> _FunctionInfo:
    info = _FunctionInfo()
    _check(_library().sk_session_function(session._get_handle(), number, ctypes.byref(info)))
    return info


def _match(value: Value, given: Any) -> np.ndarray:
    """The array of what is given, of the value's type."""
    try:
        array = given if type(given) is np.ndarray else np.asarray(given)
    except (TypeError, ValueError):  # lists of several lengths
        array = np.asarray(None)
    if array.dtype.kind in "OSUM":
        raise ShardKitError(f"error: {value.name} is {_describe(given)}, expected {value.dtype}{list(value.shape)}")
    if array.dtype != value.dtype or array.shape != value.shape:
        if array.shape == () == value.shape and isinstance(given, (bool, int, float, complex)) and not isinstance(given, np.generic):
            return convert_number(value.name, value.dtype, given)
        raise ShardKitError(f"error: {value.name} is {array.dtype}{list(array.shape)}, expected {value.dtype}{list(value.shape)}")
    return array


def _convert(value: Value, given: Any) -> np.ndarray:
    return np.ascontiguousarray(_match(value, given)).reshape(value.shape)


def _describe(value: Any) -> str:
    return f"an array of {value.dtype}" if isinstance(value, np.ndarray) else f"a {type(value).__name__}"


class _LoadWatch:
    """Shows how far a load is."""

    def __init__(self, handle: int, progress: Callable[[int, int], Any] | None):
        self._handle, self._progress = handle, progress
        self._bar = None if progress or not sys.stderr.isatty() else time.monotonic()
        self._error: BaseException | None = None
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True) if progress or self._bar else None

    def __enter__(self) -> None:
        if self._thread:
            self._thread.start()

    def __exit__(self, *_: Any) -> None:
        self._done.set()
        if self._thread:
            self._thread.join()
        if self._bar:
            draw_bar("loading weights", 1, 1, time.monotonic() - self._bar, is_last=True)

    def _run(self) -> None:
        try:
            while not self._done.wait(0.1):
                self._show()
        except BaseException as error:
            self._error = error
            _library().sk_session_interrupt(self._handle)

    def _show(self) -> None:
        done, total = ctypes.c_int64(), ctypes.c_int64()
        _library().sk_session_load_progress(self._handle, ctypes.byref(done), ctypes.byref(total))
        if self._progress:
            self._progress(done.value, total.value)
        elif self._bar:
            draw_bar("loading weights", done.value, total.value, time.monotonic() - self._bar)

    def raise_error(self) -> None:
        """What the caller's function raised."""
        if self._error is not None:
            raise self._error

    def end(self) -> None:
        if self._progress:
            self._show()


class Session(Mapping[str, Function]):
    """Functions of bundles by name, and the arrays that stay between their calls:

        with shardkit.Session("decode.bundle") as session:
            session.load("weights/")
            logits, cache = session["main"](token, cache)

    `backend`: "local", "mpi", "tcp" or "nccl", where each process makes the same calls; None: that of shardkit.init(). `timeout`: seconds
    that ranks wait for each other. Bundles for cuda run on the GPUs. `library_threads`: of each rank, 0 for the cores divided by the
    ranks. `load`: "direct", or "presharded" for sets that were sharded for this mesh. `io`, `readers`, `follow_links` and, on GPUs,
    `device_map`, `matmul_precision`, `attention`, `graphs` and `tune`: as of shard-run. `reshard`: arguments that functions have in
    several layouts are kept in that of the first; others get a copy for the time of a call."""

    def __init__(self, *bundles: str | Path, backend: str | None = None, timeout: float | None = None, library_threads: int = 0, load: str = "direct",
                 io: str = "auto", readers: int = 0, follow_links: bool = False, shard_functions: Sequence[str | Path] = (),
                 reshard: bool = False, device_map: Sequence[int] = (), matmul_precision: str = "ieee", attention: str = "auto",
                 graphs: bool = True, tune: bool = False):  # fmt: skip
        handle = ctypes.c_void_p()
        default_backend, default_timeout = defaults()
        backend, timeout = backend or default_backend, timeout or default_timeout
        if not isinstance(timeout, (int, float)) or isinstance(timeout, bool):
            raise ShardKitError(f"error: timeout is {timeout!r}, expected a positive number of seconds")
        texts = [_name(value, what) for value, what in ((backend, "backend"), (load, "load"), (io, "io"))]
        threads = _integer(library_threads, "library_threads", 0, _MOST)
        options = _Options(_ABI, threads, timeout, *texts, _integer(readers, "readers", 0, _MOST), bool(follow_links), bool(reshard))
        gpus = [_integer(gpu, "a GPU of device_map", 0, _MOST) for gpu in device_map]
        libraries = _paths(shard_functions, "shard_functions")
        if threading.current_thread() is threading.main_thread():
            _native.watch_signals()
        _check(_library().sk_session_open(ctypes.byref(options), ctypes.byref(handle)))
        self._native = _native.Handle(handle.value or 0)
        self._functions: dict[str, Function] = {}
        self._close = weakref.finalize(self, self._native.close)
        for given, name, known in ((matmul_precision, "matmul_precision", ("ieee", "tf32")), (attention, "attention", _ATTENTION)):
            if given not in known:
                raise ShardKitError(f"error: {name} {given!r}, expected one of: {', '.join(known)}")
        devices = _DeviceOptions(_ABI, matmul_precision == "tf32", not graphs, bool(tune), _ATTENTION.index(attention), len(gpus))
        devices.map = (ctypes.c_int64 * len(gpus))(*gpus)
        _check(_library().sk_session_set_devices(handle, ctypes.byref(devices)))
        for library in libraries:
            _check(_library().sk_session_load_shard_functions(handle, library))
        for bundle in bundles:
            self.add(bundle)

    def add(self, bundle: str | Path, name: str | None = None) -> None:
        """Adds the functions of a bundle. With `name` they are called that (a bundle of one function), or `name.function`."""
        from .sized import SizedFunction

        library, handle = _library(), self._get_handle()
        before = library.sk_session_count(handle)
        _check(library.sk_session_add_bundle(handle, _path(bundle, "bundle"), None if name is None else _name(name, "name")))
        for number in range(before, library.sk_session_count(handle)):
            function = (SizedFunction if library.sk_session_size_count(handle, number) else Function)(self, number)
            self._functions[function.name] = function

    def _get_handle(self) -> int:
        if address := self._native.address:
            return address
        raise ShardKitError("error: the session is closed, expected a call before close()")

    def __enter__(self) -> "Session":
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def close(self) -> None:
        """Waits for queued calls and frees everything. Arrays of the session are of no use afterwards, their NumPy views are."""
        self._close()

    def __repr__(self) -> str:
        if not self._native.address:
            return f"Session({', '.join(self._functions)}; closed)"
        lines = self._describe_arguments()
        devices = max((f.devices for f in self._functions.values()), default=1)
        head = f"{', '.join(self._functions)}; {devices} device{'s'[: devices > 1]}{'; a rank still runs a failed step' if self.is_stuck else ''}"
        return f"Session({head}{''.join(lines)})"

    def _describe_arguments(self, limit: int = 12) -> list[str]:
        """Lines about what is bound."""
        known = [value for f in self._functions.values() for value in f.arguments]
        bound = [array for name in dict.fromkeys(value.name for value in known) if (array := self._find_bound(name)) is not None]
        if not bound:
            return []
        total = sum(array.value.bytes_per_device for array in bound)
        lines = [f"; {len(bound)} argument{'s'[: len(bound) > 1]} bound, {total} bytes on each device"]
        lines += [f"\n  {array.value!r}" for array in bound[:limit]]
        return lines + ([f"\n  ... {len(bound) - limit} more"] if len(bound) > limit else [])

    def _find_bound(self, name: str) -> "Array | None":
        handle = ctypes.c_void_p()
        status = _library().sk_session_bound(self._get_handle(), _name(name, "name"), ctypes.byref(handle))
        return None if status else self._wrap(handle)

    def __getitem__(self, name: str) -> Function:
        self._get_handle()
        if name not in self._functions:
            raise ShardKitError(f"error: no function of the session is called {name}, expected one of: {', '.join(self._functions) or 'none'}")
        return self._functions[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._functions)

    def __len__(self) -> int:
        return len(self._functions)

    @property
    def notes(self) -> list[str]:
        """What the user is to know: weights that two functions hold in different layouts, with the bytes that this takes."""
        notes: list[str] = []
        while note := _library().sk_session_note(self._get_handle(), len(notes)):
            notes.append(note.decode(errors="replace"))
        return notes

    def load(self, path: str | Path, names: Sequence[str] = (), progress: Callable[[int, int], Any] | None = None) -> None:
        """Loads all weights of all functions, or those called `names`, from a file or directory. Of a set that `save` wrote also
        other arguments that it has. `progress` is called from time to time with the bytes read so far and an estimate of all, on a
        thread of its own; without it a terminal shows a bar."""
        handle = self._get_handle()
        file, wanted = _path(path, "path"), _names(names, "names")
        watch = _LoadWatch(handle, progress)
        with watch:
            status = _library().sk_session_load_names(handle, file, wanted, len(wanted))
        watch.raise_error()
        _check(status)
        watch.end()

    def save(self, directory: str | Path, names: Sequence[str] = ()) -> None:
        """Writes what is bound, or `names` of it, as a presharded set: each rank a file, side by side. A session on any number
        of devices loads it."""
        wanted = _names(names, "names")
        _check(_library().sk_session_save(self._get_handle(), _path(directory, "directory"), wanted, len(wanted)))

    def fill_random(self, seed: int) -> None:
        """Weights of reproducible random numbers."""
        _check(_library().sk_session_fill_random(self._get_handle(), _integer(seed, "seed", 0, 2**64 - 1)))

    def assign(self, name: str, value: Any) -> None:
        """Binds the arguments of that name of all functions: to an array of the session, or to elements from here."""
        if isinstance(value, Array):
            _check(_library().sk_session_bind(self._get_handle(), _name(name, "name"), value._handle))
            return
        known = next((v for f in self._functions.values() for v in f.arguments if v.name == name), None)
        array = np.ascontiguousarray(value) if known is None else _convert(known, value)
        _check(_library().sk_session_assign(self._get_handle(), _name(name, "name"), array.ctypes.data, array.nbytes))

    def bound(self, name: str) -> Array:
        """What is bound to the arguments of that name."""
        handle = ctypes.c_void_p()
        _check(_library().sk_session_bound(self._get_handle(), _name(name, "name"), ctypes.byref(handle)))
        return self._wrap(handle)

    def _wrap(self, handle: ctypes.c_void_p) -> Array:
        info = _ValueInfo()
        _check(_library().sk_array_info(handle, ctypes.byref(info)))
        return Array(handle.value or 0, self, Value(info))

    @property
    def process(self) -> tuple[int, int]:
        """The number of this process, and how many there are."""
        count = ctypes.c_int32()
        return _library().sk_session_process(self._get_handle(), ctypes.byref(count)), count.value

    @property
    def load_counters(self) -> dict[str, float]:
        """Bytes that ranks needed and that were read, requests, and seconds of all loads so far."""
        counters = _LoadCounters()
        _library().sk_session_load_counters(self._get_handle(), ctypes.byref(counters))
        return {field[0]: getattr(counters, field[0]) for field in counters._fields_}

    def interrupt(self) -> None:
        """Ends the step or the load that runs now with an error, from any thread. A step ends at its next collective. Ctrl-C on
        the main thread does the same."""
        _library().sk_session_interrupt(self._get_handle())

    @property
    def is_stuck(self) -> bool:
        """A rank has not returned from a step that failed: until it has, every call is an error."""
        return bool(_library().sk_session_is_stuck(self._get_handle()))
