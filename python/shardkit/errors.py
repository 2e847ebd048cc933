"""Errors for users."""

from __future__ import annotations

import functools
import importlib.util
import re
import traceback
from pathlib import Path

PACKAGE = Path(__file__).resolve().parent


class ShardKitError(Exception):
    """One sentence: what is wrong and what was expected, after the location if it is known."""


def require(module: str, package: str, purpose: str) -> None:
    """Raises one sentence with the command that installs `package` where `module` cannot be imported."""
    try:
        found = importlib.util.find_spec(module) is not None
    except ModuleNotFoundError:
        found = False
    if not found:
        raise ShardKitError(f"{purpose} needs {package}, which is not installed, expected: pip install {package}")


def find_users_line(error: BaseException) -> str:
    """`file.py:12: ` of the innermost line of the user that an exception came through; empty if there is none."""
    lines = [(frame.filename, frame.lineno) for frame in traceback.extract_tb(error.__traceback__) if is_users(frame.filename)]
    lines += [(file, int(line)) for file, line in re.findall(r'File "([^"]+)", line (\d+)', str(error)) if is_users(file)]
    return f"{lines[-1][0]}:{lines[-1][1]}: " if lines else ""


@functools.cache
def is_users(path: str) -> bool:
    """A file of the user, not of this package, PyTorch or JAX."""
    return not any(Path(path).is_relative_to(folder) for folder in (PACKAGE, *_find_frameworks()))


@functools.cache
def _find_frameworks() -> list[Path]:
    found = [importlib.util.find_spec(name) for name in ("torch", "jax", "jaxlib")]
    return [Path(spec.origin).parent for spec in found if spec and spec.origin]
