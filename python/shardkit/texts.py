"""What tools made of texts, in the user's cache, for other processes."""

from __future__ import annotations

import hashlib
import json
import os
import sys
import tempfile
from pathlib import Path
from typing import Callable

_LIMIT = 1 << 26
"""Bytes of all entries: those that were not used for longest are removed."""

Output = tuple[str, str]
"""Standard output and standard error."""


def get(key: str, compute: Callable[[], Output | None], is_kept: Callable[[Output], bool]) -> Output | None:
    """What `compute` returned for the key, which is a hash, in this process or another one; None is not kept, nor what `is_kept` denies."""
    directory = _find_directory()
    if directory is None:
        return compute()
    path = directory / f"{key}.text"
    if (known := _read(path)) is not None:
        return known
    value = compute()
    if value is not None and is_kept(value):
        _write(path, value)
    return value


def _find_directory() -> Path | None:
    """That of the compiler's cache (SHARDKIT_CACHE)."""
    given = os.environ.get("SHARDKIT_CACHE", "")
    if given == "off":
        return None
    if given:
        return Path(given)
    base = os.environ.get("XDG_CACHE_HOME") or (Path(os.environ["HOME"], ".cache") if os.environ.get("HOME") else None)
    return Path(base, "shardkit") if base else None


def _read(path: Path) -> Output | None:
    try:
        checksum, _, rest = path.read_bytes().partition(b"\n")
    except OSError:
        return None
    if hashlib.sha256(rest).hexdigest().encode() != checksum:
        print(f"warning: '{path}', an entry of the cache, is damaged; made again", file=sys.stderr)
        return None
    try:
        os.utime(path)  # the last use
    except OSError:
        pass
    output, errors = json.loads(rest)
    return output, errors


def _write(path: Path, value: Output) -> None:
    """Without it the next process computes it: errors are none of the user's."""
    text = json.dumps(value).encode()
    if len(text) > _LIMIT // 4:
        return
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=path.parent, suffix=".text.tmp")
        with os.fdopen(handle, "wb") as file:
            file.write(hashlib.sha256(text).hexdigest().encode() + b"\n" + text)
        os.replace(temporary, path)
        _remove_oldest(path.parent)
    except OSError:
        pass


def _remove_oldest(directory: Path) -> None:
    with os.scandir(directory) as entries:
        known = sorted(((e.stat().st_mtime_ns, e.path, e.stat().st_size) for e in entries if e.name.endswith((".text", ".text.tmp"))), reverse=True)
    used = 0
    for _, path, size in known:
        used += size
        if used > _LIMIT:
            os.unlink(path)
