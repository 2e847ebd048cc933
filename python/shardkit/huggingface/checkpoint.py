"""What a folder in the published layout holds: a configuration and stored tensors, of which only the headers are read."""

from __future__ import annotations

import contextlib
import json
import os
from pathlib import Path
from typing import Any, Iterator, Mapping
from unittest import mock

import torch

from ..errors import ShardKitError
from ..safetensors import read_header
from .conversion import Stored
from .layouts import Quantization
from .quantized import read_quantization

_DTYPES = {
    "BOOL": torch.bool, "U8": torch.uint8, "I8": torch.int8, "I16": torch.int16, "I32": torch.int32, "I64": torch.int64, "F16": torch.float16,
    "BF16": torch.bfloat16, "F32": torch.float32, "F64": torch.float64, "F8_E4M3": torch.float8_e4m3fn, "F8_E5M2": torch.float8_e5m2,
    "F8_E8M0": torch.uint8,
}  # fmt: skip


@contextlib.contextmanager
def offline() -> Iterator[None]:
    """While it lasts, the library downloads nothing, and prints no progress."""
    from transformers.utils import logging

    is_shown = logging.is_progress_bar_enabled()
    level = logging.get_verbosity()
    logging.disable_progress_bar()
    logging.set_verbosity_error()
    try:
        with mock.patch.dict(os.environ, {"HF_HUB_OFFLINE": "1", "TRANSFORMERS_OFFLINE": "1", "HF_DEACTIVATE_ASYNC_LOAD": "1"}):
            yield
    finally:
        logging.set_verbosity(level)
        if is_shown:
            logging.enable_progress_bar()


def find_configuration(path: str | Path) -> tuple[Path, Path | None]:
    """The file of the configuration, and the folder with stored tensors, if it has any."""
    path = Path(path)
    if path.is_dir():
        file, folder = path / "config.json", path
    else:
        file, folder = path, path.parent
    if not file.is_file():
        found = ", ".join(sorted(p.name for p in folder.iterdir())[:6]) if folder.is_dir() else "no such folder"
        raise ShardKitError(f"error: {path}: no config.json ({found or 'empty'}), expected a folder with config.json, or such a file; nothing is downloaded")
    has_weights = any(folder.glob("*.safetensors")) or any(folder.glob("*.safetensors.index.json"))
    if not has_weights and (others := sorted(p.name for kind in ("*.bin", "*.pt", "*.pth", "*.h5", "*.msgpack") for p in folder.glob(kind))):
        raise ShardKitError(f"error: {folder}: weights in {others[0]}, expected *.safetensors: save_pretrained of transformers writes them")
    return file, folder if has_weights else None


def read_configuration(file: Path) -> tuple[Any, Quantization | None]:
    """The library's configuration, and how weights are quantized; one error for what it does not know, or what is not read."""
    import transformers

    try:
        values = json.loads(file.read_text())
    except (OSError, ValueError) as error:
        raise ShardKitError(f"error: {file}: {error}, expected JSON") from None
    if not isinstance(values, dict):
        raise ShardKitError(f"error: {file}: a {type(values).__name__}, expected a JSON object")
    kind = values.get("model_type")
    if kind is None:
        raise ShardKitError(f"error: {file}: no model_type, expected that of an architecture of transformers, llama for instance")
    if kind not in transformers.CONFIG_MAPPING:
        custom = " (its code is in the folder, and is not run)" if values.get("auto_map") else ""
        near = _find_near(str(kind), list(transformers.CONFIG_MAPPING.keys()))
        raise ShardKitError(f"error: {file}: unknown architecture '{kind}'{custom}, expected one of transformers {transformers.__version__}{near}")
    quantization = read_quantization(str(file), values)
    try:
        found = transformers.CONFIG_MAPPING[kind]
        given = found._dict_from_json_file(file)  # which has infinite numbers too
        given.pop("quantization_config", None)
        return found.from_dict(given), quantization
    except Exception as error:  # what validates has no common base
        raise ShardKitError(f"error: {file}: {_first_line(error)}, expected a configuration of {kind}") from None


def _find_near(name: str, names: list[str]) -> str:
    import difflib

    near = difflib.get_close_matches(name, names, 3)
    return f", such as {', '.join(near)}" if near else ""


def read_stored(folder: Path) -> dict[str, Stored]:
    """Names, shapes and types of all stored tensors."""
    indices = sorted(folder.glob("*.safetensors.index.json"))
    listed: dict[str, str] = {}
    if indices:
        try:
            listed = json.loads(indices[0].read_text())["weight_map"]
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise ShardKitError(f"error: {indices[0]}: {_first_line(error)}, expected an index with a weight_map") from None
    files = [folder / name for name in sorted(set(listed.values()))] or sorted(folder.glob("*.safetensors"))
    found: dict[str, Stored] = {}
    for file in files:
        if not file.is_file():
            missing = [n for n, f in listed.items() if f == file.name]
            raise ShardKitError(f"error: {file}: no such file, expected it with {missing[0]}{_and_more(missing)}, as {indices[0].name} lists")
        for name, entry in read_header(file).items():
            if name in found:
                raise ShardKitError(f"error: {file}: {name} is in another file too, expected each tensor once")
            if entry["dtype"] not in _DTYPES:
                raise ShardKitError(f"error: {file}: {name} has type {entry['dtype']}, expected one of {', '.join(_DTYPES)}")
            found[name] = Stored(tuple(entry["shape"]), _DTYPES[entry["dtype"]], file)
    if missing := [n for n in listed if n not in found]:
        raise ShardKitError(f"error: {folder / listed[missing[0]]}: no {missing[0]}{_and_more(missing)}, expected the tensors that {indices[0].name} lists")
    return found


def shorten(names: list[str], limit: int = 4) -> str:
    return ", ".join(names[:limit]) + (f" and {len(names) - limit} more" if len(names) > limit else "")


def _and_more(names: list[str]) -> str:
    return f" and {len(names) - 1} more" if len(names) > 1 else ""


def _first_line(error: BaseException) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0].rstrip(".")
