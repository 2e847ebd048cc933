"""Reads and writes .safetensors files as dictionaries of NumPy arrays."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from .errors import ShardKitError

_NUMPY = {
    "BOOL": "bool", "U8": "uint8", "I8": "int8", "I16": "int16", "U16": "uint16", "F16": "float16", "I32": "int32",
    "U32": "uint32", "F32": "float32", "F64": "float64", "I64": "int64", "U64": "uint64", "C64": "complex64",
}  # fmt: skip
_ML_DTYPES = {
    "BF16": "bfloat16", "F8_E4M3": "float8_e4m3fn", "F8_E5M2": "float8_e5m2", "F8_E4M3FNUZ": "float8_e4m3fnuz",
    "F8_E5M2FNUZ": "float8_e5m2fnuz", "F8_E8M0": "float8_e8m0fnu",
}  # fmt: skip
_NAMES = {name: key for key, name in (_NUMPY | _ML_DTYPES).items()}


def numpy_dtype(name: str) -> np.dtype[Any]:
    if name not in _ML_DTYPES.values():
        return np.dtype(name)
    import ml_dtypes  # comes with jax

    found: np.dtype[Any] = np.dtype(getattr(ml_dtypes, name))
    return found


def _dtype(key: str) -> np.dtype[Any]:
    if key in _NUMPY or key in _ML_DTYPES:
        return numpy_dtype((_NUMPY | _ML_DTYPES)[key])
    raise ShardKitError(f"dtype {key} has no NumPy type, expected one of {', '.join((_NUMPY | _ML_DTYPES))}")


def write(path: str | Path, tensors: dict[str, np.ndarray]) -> None:
    """Writes tensors, in the order of their names, row-major and little-endian."""
    header: dict[str, dict[str, Any]] = {}
    offset = 0
    for name in sorted(tensors):
        value = tensors[name]
        if value.dtype.name not in _NAMES:
            raise ShardKitError(f"{name} has dtype {value.dtype}, expected one that .safetensors has")
        header[name] = {
            "dtype": _NAMES[value.dtype.name],
            "shape": list(value.shape),
            "data_offsets": [offset, offset + value.nbytes],
        }
        offset += value.nbytes
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(len(text).to_bytes(8, "little"))
        file.write(text)
        for name in header:
            file.write(np.ascontiguousarray(tensors[name]).tobytes())


def read(path: str | Path) -> dict[str, np.ndarray]:
    """All tensors of a file."""
    data = Path(path).read_bytes()
    length = int.from_bytes(data[:8], "little")
    if len(data) < 8 or 8 + length > len(data):
        raise ShardKitError(f"{path}: header ends at byte {8 + length} of {len(data)}, expected a .safetensors file")
    header = json.loads(data[8 : 8 + length])
    result = {}
    for name, entry in header.items():
        if name == "__metadata__":
            continue
        begin, end = entry["data_offsets"]
        array = np.frombuffer(data[8 + length + begin : 8 + length + end], _dtype(entry["dtype"]))
        result[name] = array.reshape(entry["shape"]).copy()
    return result


def read_one(path: str | Path, name: str) -> np.ndarray:
    """One tensor of a file, of which nothing else is read but the header."""
    with open(path, "rb") as file:
        length = int.from_bytes(file.read(8), "little")
        entry = json.loads(file.read(length))[name]
        begin, end = entry["data_offsets"]
        file.seek(8 + length + begin)
        return np.frombuffer(file.read(end - begin), _dtype(entry["dtype"])).reshape(entry["shape"]).copy()


def read_names(path: str | Path) -> set[str]:
    """The names of the tensors of a file."""
    return set(read_header(path))


def read_header(path: str | Path) -> dict[str, dict[str, Any]]:
    """`dtype`, as the format calls it, and `shape` of the tensors of a file, by name."""
    try:
        with open(path, "rb") as file:
            header = json.loads(file.read(int.from_bytes(file.read(8), "little")))
        return {name: {"dtype": str(entry["dtype"]), "shape": list(entry["shape"])} for name, entry in header.items() if name != "__metadata__"}
    except OSError as error:
        raise ShardKitError(f"error: {path}: {error.strerror}, expected a .safetensors file") from None
    except (ValueError, TypeError, KeyError, AttributeError, MemoryError, OverflowError):
        raise ShardKitError(f"error: {path}: the header is not JSON, expected a .safetensors file") from None
