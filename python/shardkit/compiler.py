"""The compiler, in this process where its library is installed, else as a program of its own."""

from __future__ import annotations

import ctypes
import functools
import os
import re
import sys
import threading
from pathlib import Path
from typing import Any, Sequence

from .constants import Constants, attach_resources
from .errors import ShardKitError
from .tools import DEBIAN_PACKAGES, find_library, find_tool, run_tool

_ABI = 2
_NAME = "model.mlir"
"""The IR's name in diagnostics and locations. It is the same for all compilations, as the cache's entries depend on it."""


class _Resource(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("data", ctypes.c_void_p), ("bytes", ctypes.c_int64)]


class _Request(ctypes.Structure):
    _fields_ = [
        ("abi", ctypes.c_int32), ("reserved", ctypes.c_int32), ("ir", ctypes.c_char_p), ("ir_bytes", ctypes.c_int64),
        ("name", ctypes.c_char_p), ("options", ctypes.POINTER(ctypes.c_char_p)), ("option_count", ctypes.c_int64),
        ("output", ctypes.c_char_p), ("cache", ctypes.c_char_p), ("cancel", ctypes.POINTER(ctypes.c_int32)),
        ("resources", ctypes.POINTER(_Resource)), ("resource_count", ctypes.c_int64),
    ]  # fmt: skip


class _Diagnostic(ctypes.Structure):
    _fields_ = [
        ("severity", ctypes.c_int32), ("note_count", ctypes.c_int32), ("line", ctypes.c_int64), ("column", ctypes.c_int64),
        ("file", ctypes.c_char_p), ("message", ctypes.c_char_p), ("text", ctypes.c_char_p),
    ]  # fmt: skip


@functools.cache
def _load(tool: str) -> ctypes.CDLL | None:
    """The library next to `tool`, if it is installed. Its symbols are its own: JAX and PyTorch bring other versions of LLVM."""
    path = find_library("libShardKitCompiler", tool)
    if path is None:
        return None
    try:
        library = ctypes.CDLL(str(path), mode=os.RTLD_LAZY | os.RTLD_LOCAL)
    except OSError as error:
        if missing := re.match(r"(\S+): cannot open shared object file", str(error)):
            raise ShardKitError(f"{path.name} needs {missing[1]}, which is not installed, expected {DEBIAN_PACKAGES}") from None
        raise ShardKitError(f"error: {path} cannot be loaded: {error}") from None
    pointer = ctypes.c_void_p
    library.skCompile.argtypes, library.skCompile.restype = (ctypes.POINTER(_Request),), pointer
    library.skCompilationDestroy.argtypes, library.skCompilationDestroy.restype = (pointer,), None
    library.skCompilationSucceeded.argtypes = (pointer,)
    library.skCompilationGetDiagnostic.argtypes = (pointer, ctypes.c_int64, ctypes.POINTER(_Diagnostic))
    return library


def load_library() -> ctypes.CDLL | None:
    """The compiler as a library, if it is installed."""
    return _load(find_tool("shard-compile"))


def compile_bundle(text: str, constants: Constants, options: Sequence[str], directory: Path) -> None:
    """Compiles IR into `directory`/bundle. Bundles are kept in the user's cache, unless SHARDKIT_CACHE is off."""
    tool = find_tool("shard-compile")
    if not any(map(_is_of_tool, options)) and (library := _load(tool)):
        _compile_here(library, text, constants, options, directory / "bundle")
    else:
        (directory / _NAME).write_text(attach_resources(text, constants))
        run_tool([tool, str(directory / _NAME), "-o", str(directory / "bundle"), *options])


def _is_of_tool(option: str) -> bool:
    """Whether only the program shard-compile has the option."""
    name = option.lstrip("-").partition("=")[0]
    return option.startswith("-") and (name.startswith("mlir-") or name in ("emit", "cache", "help", "version"))


def _compile_here(library: ctypes.CDLL, text: str, constants: Constants, options: Sequence[str], bundle: Path) -> None:
    ir, cancel = text.encode(), ctypes.c_int32(0)
    arguments = (ctypes.c_char_p * len(options))(*[os.fsencode(o) for o in options])
    resources = (_Resource * len(constants))(*[_Resource(name.encode(), data.ctypes.data, data.nbytes) for name, data in constants.items()])
    request = _Request(_ABI, 0, ir, len(ir), _NAME.encode(), arguments, len(options), os.fsencode(bundle), None, ctypes.pointer(cancel),
                       resources, len(constants))  # fmt: skip
    done: list[Any] = []
    # Not on this thread, which takes Ctrl-C while it waits.
    thread = threading.Thread(target=lambda: done.append(library.skCompile(ctypes.byref(request))))
    thread.start()
    try:
        thread.join()
    finally:
        cancel.value = 1
        thread.join()
        if done:
            succeeded, output = library.skCompilationSucceeded(done[0]), _read_diagnostics(library, done[0])
            library.skCompilationDestroy(done[0])
    if not succeeded:
        raise ShardKitError(output)
    if output:
        print(output, file=sys.stderr)


def _read_diagnostics(library: ctypes.CDLL, compilation: Any) -> str:
    """As shard-compile prints them."""
    diagnostic, texts = _Diagnostic(), list[str]()
    while library.skCompilationGetDiagnostic(compilation, len(texts), ctypes.byref(diagnostic)):
        texts.append(diagnostic.text.decode(errors="replace"))
    return "".join(texts).strip()
