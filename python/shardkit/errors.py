"""What users are told."""

from __future__ import annotations

import functools
import importlib.util
from pathlib import Path

PACKAGE = Path(__file__).resolve().parent


class ShardKitError(Exception):
    """One sentence about what is wrong and what was expected, perhaps with a place in front."""


def require(module: str, package: str, purpose: str) -> None:
    """Raises one sentence with the command that installs `package` where `module` cannot be imported."""
    try:
        found = importlib.util.find_spec(module) is not None
    except ModuleNotFoundError:
        found = False
    if not found:
        raise ShardKitError(f"{purpose} needs {package}, which is not installed, expected: pip install {package}")


def is_users(path: str) -> bool:
    """A file of the user, not of this package or of PyTorch."""
    return not any(Path(path).is_relative_to(folder) for folder in (PACKAGE, *_find_torch()))


@functools.cache
def _find_torch() -> list[Path]:
    found = importlib.util.find_spec("torch")
    return [Path(found.origin).parent] if found and found.origin else []
