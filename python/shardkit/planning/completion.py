"""Plans of pins and tactics, completed by search or propagation."""

from __future__ import annotations

import dataclasses
import functools
import json
import math
import re
from typing import Any, Mapping, Sequence

from ..errors import ShardKitError
from . import search
from .tactics import Applied, Tactics, resolve


def complete(
    text: str, pins: Sequence[Mapping[str, Any]], tactics: Tactics | None, memory: float | None, options: Sequence[str], is_searched: bool = True
) -> tuple[str, Applications | None]:
    """The annotated program of a plan, and what tactics did: `pins` are rules of a plan file, which hold. Without a search, propagation
    completes them."""
    if not is_searched and (memory is not None or options):
        raise ShardKitError("error: search=False with memory= or options=, which are of the search, expected none of them")
    applications = None
    if tactics is not None:
        text = search.prepare(text)
        applications = apply_tactics(text, tactics, pins)
        pins = applications.rules
    completed = search.search(text, pins, memory, options) if is_searched else search.propagate(text, pins)
    return completed, applications


def apply_tactics(text: str, tactics: Tactics, pins: Sequence[Mapping[str, Any]]) -> Applications:
    """What tactics pin in a prepared program."""
    if not isinstance(tactics, Tactics):
        raise ShardKitError(f"error: tactics is {tactics!r}, expected such as shardkit.Tactics().dp('data').megatron('model')")
    mesh = re.search(r"^ *spmd\.mesh @([\w.]+) = <\[\"", text, re.MULTILINE)
    assert mesh
    steps = resolve(tactics, json.loads(search.describe(text, "--spmd-export-rules=output={}", keep_tags=True)), mesh[1], search.read_mesh(text), pins)
    return Applications(text, tuple(pins), tuple(steps))


@dataclasses.dataclass(frozen=True)
class Applications:
    """What tactics did, one after the other."""

    _text: str
    _pins: tuple[Mapping[str, Any], ...]
    """The user's."""
    steps: tuple[Applied, ...]

    @property
    def rules(self) -> Sequence[Mapping[str, Any]]:
        """All pins, as rules of a plan file."""
        return self.steps[-1].rules if self.steps else self._pins

    @functools.cached_property
    def figures(self) -> list[Figures]:
        """What is moved and held before the first tactic and after each, where propagation completes it."""
        return [read_figures(search.apply_rules(self._text, rules)) for rules in (self._pins, *(step.rules for step in self.steps))]

    def describe(self) -> Sequence[str]:
        """A table with a row for each tactic, then what each pins, needs, and leaves out."""
        rows = [("tactic", "pins", "received per device", "collectives", "held at most")]
        last = None
        for name, count, figures in zip(("none", *(s.tactic for s in self.steps)), ("", *(str(len(s.pins)) for s in self.steps)), self.figures):
            rows.append((name, count, *figures.describe(last)))
            last = figures
        widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
        lines = ["tactics, completed by propagation", *("  " + "  ".join(c.ljust(w) for c, w in zip(row, widths)).rstrip() for row in rows)]
        for step in self.steps:
            lines.append(step.tactic)
            lines += [f"  needs     {need}" for need in step.needs]
            lines += [f"  pins      {name} {pin}" for name, pin in step.pins.items()]
            lines += [f"  left out  {name}: {reason}" for name, reason in step.left_out.items()]
        return lines


@dataclasses.dataclass(frozen=True)
class Figures:
    """Of a program as it runs: bytes that a device receives, how often each kind of collective runs, bytes held at the peak."""

    received: float
    collectives: Mapping[str, int]
    peak: int
    seconds: float

    def describe(self, last: Figures | None) -> tuple[str, str, str]:
        kinds = ", ".join(f"{count} {kind}" for kind, count in sorted(self.collectives.items()))
        if last is None:
            return _spell_bytes(self.received), kinds or "none", _spell_bytes(self.peak)
        difference = [f" ({'+' if d >= 0 else '-'}{_spell_bytes(abs(d))})" for d in (self.received - last.received, self.peak - last.peak)]
        return _spell_bytes(self.received) + difference[0], kinds or "none", _spell_bytes(self.peak) + difference[1]


def read_figures(text: str) -> Figures:
    """The figures of an annotated program."""
    report = json.loads(search.describe(text, "--spmd-report=format=json output={}"))
    sizes = {name: size for mesh in report["meshes"] for name, size in mesh["axes"]}
    received, kinds = 0.0, dict[str, int]()
    for c in report["collectives"]:
        group = math.prod(_read_size(a, sizes) for a in c["axes"])
        received += c["received"] / group * c["count"]
        if c["received"]:
            kinds[c["kind"]] = kinds.get(c["kind"], 0) + c["count"]
    return Figures(received, kinds, report["memory"]["peak_bytes"], report["totals"]["cost"])


def _read_size(axis: str, sizes: Mapping[str, int]) -> int:
    """Of an axis, or of a part of one, `x:(2)4`."""
    part = re.search(r":\(\d+\)(\d+)", axis)
    return int(part[1]) if part else sizes[axis.strip('"')]


def _spell_bytes(value: float) -> str:
    for unit, size in (("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)):
        if value >= size:
            return f"{value / size:.4g} {unit}"
    return f"{value:.4g} B"
