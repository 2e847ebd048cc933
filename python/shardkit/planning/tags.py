"""Names in locations, by which values of a program are found again in what it was lowered to."""

from __future__ import annotations

import re

_TAG = re.compile(r"eqn\[([\w./]+)\]")


def make(name: str) -> str:
    return f"eqn[{name}]"


def read(location: str) -> str | None:
    """The name in a location: of functions that were inlined the innermost, which stands first."""
    match = _TAG.search(location)
    if not match:
        return None
    text = location[match.start() : location.find('"', match.end())]
    return str(_TAG.findall(text)[-1])


def remove(text: str) -> str:
    return re.sub(r"/?eqn\[[\w./]+\]/?", "", text)
