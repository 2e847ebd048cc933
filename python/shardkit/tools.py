"""Finds and runs ShardKit's tools and those of the front ends."""

from __future__ import annotations

import contextlib
import contextvars
import functools
import gc
import hashlib
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any, Callable, Iterator, Sequence, cast

from . import texts
from .errors import ShardKitError


@contextlib.contextmanager
def collect_later() -> Iterator[None]:
    """Without the search for cycles of garbage: in a large program nearly all objects live, and are looked at each time."""
    is_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if is_enabled:
            gc.enable()


def find_tool(name: str) -> str:
    """The path of one of ShardKit's tools: in SHARDKIT_HOME (or its bin), next to the package, on PATH."""
    home = os.environ.get("SHARDKIT_HOME")
    package = Path(__file__).resolve().parent
    if home:  # then nowhere else: a second version must not be mixed in
        folders = [Path(home), Path(home) / "bin", Path(home) / "build" / "bin"]
    else:  # in a wheel; in a source tree
        folders = [package / "bin", package.parent.parent / "build" / "bin"]
    for folder in folders:
        if os.access(folder / name, os.X_OK) and (folder / name).is_file():
            return str(folder / name)
    found = None if home else shutil.which(name)
    if found:
        return found
    where = f"in SHARDKIT_HOME={home}" if home else "next to the package or on PATH"
    raise ShardKitError(
        f"{name} was not found {where}, expected ShardKit's tools: set SHARDKIT_HOME to where they were built or installed"
    )


DEBIAN_PACKAGES = "Debian's packages: apt-get install libmlir-22 libllvm22 libdnnl3"


def find_library(name: str, tool: str) -> Path | None:
    """The path of one of ShardKit's libraries, which is in lib next to the folder of `tool`."""
    folder = Path(tool).resolve().parent.parent
    found = (folder / "lib" / f"{name}.so", *sorted(folder.glob(f"lib*/**/{name}.so*")))
    return next((path for path in found if path.is_file()), None)


def find_torch_mlir_opt() -> str:
    """The lowering of StableHLO to linalg, which the wheel torch-mlir holds."""
    beside = Path(sys.executable).parent / "torch-mlir-opt"
    tool = str(beside) if beside.exists() else shutil.which("torch-mlir-opt")
    if not tool:
        raise ShardKitError(
            "lowering StableHLO needs torch-mlir-opt, which is not installed, expected: pip install --no-deps torch-mlir"
        )
    return tool


def run_tool(command: list[str], text: str | None = None, rewrite: Callable[[str], str] = str) -> str:
    """Standard output of a tool; its message on failure becomes the error. What a tool makes of a text is kept for the next
    call with that text: a function that is compiled again is lowered once. `rewrite`: of warnings, as they are printed."""
    done = subprocess.run(command, capture_output=True, text=True) if text is None else _run_filter(command, text)
    if missing := re.search(r"error while loading shared libraries: (\S+?):", done.stderr):
        raise ShardKitError(f"{os.path.basename(command[0])} needs {missing[1]}, which is not installed, expected {DEBIAN_PACKAGES}")
    if done.returncode:
        message = done.stderr.strip() or f"{os.path.basename(command[0])} exited with {done.returncode}"
        raise ShardKitError(message)
    if done.stderr.strip():
        _warn(rewrite(done.stderr.rstrip()))
    return str(done.stdout)


_warnings: contextvars.ContextVar[list[str] | None] = contextvars.ContextVar("warnings", default=None)
"""What tools print while `Lowerings.get` computes a value."""


def _warn(text: str) -> None:
    if (collected := _warnings.get()) is not None:
        collected.append(text)
    print(text, file=sys.stderr)


def hash_texts(parts: Sequence[str]) -> bytes:
    return hashlib.sha256("\0".join(parts).encode(errors="surrogatepass")).digest()


class Lowerings:
    """What texts are lowered to, with the warnings: the latest of them within a limit of bytes."""

    LIMIT = 1 << 26

    def __init__(self) -> None:
        self._lock, self._bytes = threading.Lock(), 0
        self._known: dict[bytes, tuple[Any, list[str]]] = {}

    def get(self, parts: Sequence[str], compute: Callable[[], Any], measure: Callable[[Any], int] = len) -> Any:
        """What `compute` returned for these texts; a size of 0 is not kept."""
        key = hash_texts(parts)
        with self._lock:
            if known := self._known.pop(key, None):
                self._known[key] = known  # the latest
        if known:
            for text in known[1]:
                _warn(text)
            return known[0]
        outer = _warnings.set([])
        try:
            value, warnings = compute(), _warnings.get() or []
        finally:
            _warnings.reset(outer)
        with self._lock:
            if 0 < measure(value) <= self.LIMIT and key not in self._known:
                self._known[key] = value, warnings
                self._bytes += measure(value)
            while self._bytes > self.LIMIT:
                self._bytes -= measure(self._known.pop(next(iter(self._known)))[0])
        return value


_outputs = Lowerings()


def _run_filter(command: list[str], text: str) -> "subprocess.CompletedProcess[str]":
    """The tool, on that text; a successful run is kept until the tool is built anew, and on disk for other processes."""
    built = os.stat(command[0]).st_mtime_ns if os.path.exists(command[0]) else 0
    parts = [str(built), *command, text]

    def run() -> "subprocess.CompletedProcess[str]":
        failed: list[subprocess.CompletedProcess[str]] = []

        def start() -> tuple[str, str] | None:
            done = subprocess.run(command, input=text, capture_output=True, text=True)
            if done.returncode == 0:
                return done.stdout, done.stderr
            failed.append(done)
            return None

        output = texts.get(hash_texts(parts).hex(), start, _is_final)
        return subprocess.CompletedProcess(command, 0, *output) if output else failed[0]

    return cast("subprocess.CompletedProcess[str]", _outputs.get(parts, run, lambda done: 0 if done.returncode else len(done.stdout)))


_TIMED_OUT = re.compile(r"\bspmd\.solver = \{[^{}]*\btimed_out\b")


def _is_final(output: texts.Output) -> bool:
    """Whether there is no plan in it that more time would make better."""
    return not _TIMED_OUT.search(output[0])


def get_complaint(command: list[str], text: str, seconds: float = 20) -> str:
    """What a tool that fails writes to standard error in that time: to write a module that is broken may have no end."""
    tool = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    try:
        return tool.communicate(text, timeout=seconds)[1]
    except subprocess.TimeoutExpired:
        os.killpg(tool.pid, signal.SIGKILL)  # a wheel's tool has a process of its own below
        return tool.communicate()[1]


@contextlib.contextmanager
def show_progress(task: str) -> Iterator[None]:
    """On a terminal, a line on standard error with the task and its seconds while it runs, once it takes longer than one."""
    if not sys.stderr.isatty():
        yield
        return
    start, done = time.monotonic(), threading.Event()

    def show() -> None:
        while not done.wait(1):
            print(f"\r{task}: {time.monotonic() - start:.0f} s", end="", file=sys.stderr, flush=True)

    thread = threading.Thread(target=show, daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()
        if time.monotonic() - start > 1:
            print("\r\033[K", end="", file=sys.stderr, flush=True)


def draw_bar(task: str, done: int, total: int, seconds: float, is_last: bool = False) -> None:
    """On standard error, which is a terminal: a bar, once the task takes longer than half a second. The last call removes it."""
    if seconds < 0.5:
        return
    if is_last:
        print("\r\033[K", end="", file=sys.stderr, flush=True)
        return
    share = done / total if total else 0.0
    bar = ("#" * int(share * 30)).ljust(30, ".")
    print(f"\r{task} [{bar}] {done / 1e9:.2f} of {total / 1e9:.2f} GB, {done / 1e9 / seconds:.2f} GB/s\033[K", end="", file=sys.stderr, flush=True)
