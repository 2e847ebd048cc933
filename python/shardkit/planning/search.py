"""Completing the pins of an imported model, by search or propagation, and what can be told of the outcome."""

from __future__ import annotations

import json
import numbers
import re
import tempfile
from pathlib import Path
from typing import Any, Mapping, Sequence

from ..errors import ShardKitError
from ..meshes import spell_costs, spell_mesh
from ..tools import find_tool, run_tool
from . import tags
from .layouts import Program

_PREPARE = ("--spmd-resolve-axis-resources", "--spmd-decompose", "--inline", "--symbol-dce")


def prepare(text: str) -> str:
    """The module as it is searched: functions that are called are inlined."""
    return run(text, *_PREPARE, "-mlir-print-debuginfo")


def search(text: str, rules: Sequence[Mapping[str, Any]], memory: float | None, options: Sequence[str]) -> str:
    """The annotated program of a plan: `rules` are those of a plan file, which hold."""
    if memory is not None and (isinstance(memory, bool) or not isinstance(memory, numbers.Real) or not 1 <= memory < 2**63):
        raise ShardKitError(f"error: memory is {memory!r}, expected bytes that a device holds at most, a positive number such as 16e9")
    # Others have other optimizations of collectives than those that compared plans are run with.
    chosen = ["compare-plans=false", *([] if memory is None else [f"memory-budget={int(memory)}"]), *options]
    text = apply_rules(text, rules)
    try:
        return run(text, *_PREPARE, f"--spmd-auto-shard={' '.join(chosen)}", "-mlir-print-debuginfo")
    except ShardKitError as error:
        if unknown := re.search(r"no such option ([^\s,]+)", str(error)):
            raise ShardKitError(f"error: options has {unknown[1]!r}, expected {', '.join(_list_options())}") from None
        raise


def for_xla(options: Sequence[str]) -> list[str]:
    """Options of a search whose plan XLA runs: with its prices, unless there are others."""
    return [*options] if any(option.partition("=")[0] == "cost-model" for option in options) else ["cost-model=xla", *options]


def _list_options() -> list[str]:
    """The names of the options of the search."""
    section = re.search(r"^ *--spmd-auto-shard .*\n((?:(?: {8}--| *=).*\n)*)", run_tool([find_tool("shard-opt"), "--help"]), re.MULTILINE)
    return re.findall(r"^ +--([\w-]+)", section[1], re.MULTILINE) if section else []


def propagate(text: str, rules: Sequence[Mapping[str, Any]]) -> str:
    """The annotated program that follows from its annotations and the rules."""
    return run(apply_rules(text, rules), *_PREPARE, "--spmd-propagate", "-mlir-print-debuginfo")


def apply_rules(text: str, rules: Sequence[Mapping[str, Any]]) -> str:
    if not rules:
        return text
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "pins")
        file.write_text(json.dumps({"version": 1, "rules": list(rules)}))
        try:
            command = [find_tool("shard-opt"), "-", f"--spmd-apply-plan=file={file}", "-mlir-print-debuginfo"]
            return run_tool(command, text, lambda warnings: _shorten(warnings, file, "warning"))
        except ShardKitError as error:
            raise ShardKitError(_shorten(str(error), file, "error")) from None


def apply(text: str, file: Path) -> str:
    """The annotated program of a plan file."""
    text = run(text, *_PREPARE, f"--spmd-apply-plan=file={file}", "-mlir-print-debuginfo")
    return run(text, "--spmd-propagate", "-mlir-print-debuginfo")


def read_program(text: str, main: str = "main") -> Program:
    """The annotated program, each value in the layout that its readers need."""
    return Program(run(text, "--spmd-insert-reshards=defer-reductions=false", "-mlir-print-debuginfo", "--mlir-print-op-generic"), main)


def describe(text: str, option: str, keep_tags: bool = False) -> str:
    """What a pass writes about an annotated program; `{}` in its option stands for the file."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "output")
        run(text if keep_tags else tags.remove(text), option.replace("{}", str(file)), "-o", "/dev/null")
        return file.read_text()


def read_status(text: str) -> tuple[str, float | None]:
    """Status and objective of the search; `loaded` where there was none."""
    status = re.search(r'spmd\.solver = \{[^{}]*\bstatus = "([^"]*)"', text)
    objective = re.search(r"spmd\.solver = \{[^{}]*\bobjective = ([-+.\deE]+)", text)
    return (status[1] if status else "loaded"), (float(objective[1]) if objective else None)


def add_mesh(text: str, axes: Mapping[str, int], costs: Mapping[str, Any]) -> str:
    """The module with the mesh, if it has none, and with the costs of its links."""
    attributes = spell_costs(axes, costs)
    known = re.search(r'^ *spmd\.mesh @([\w".]+) = <\[".*?>', text, re.MULTILINE)
    # One without axes, which JAX gives to keys and scalars, is a view of any.
    for empty in re.findall(r"^ *spmd\.mesh @([\w.]+) = <\[\]>.*\n", text, re.MULTILINE):
        text = re.sub(rf"^ *spmd\.mesh @{empty} = .*\n", "", text, flags=re.MULTILINE)
        text = re.sub(rf"@{empty}\b", f"@{known[1] if known else 'mesh'}", text)
    if known:
        return text.replace(known[0], known[0] + attributes, 1)
    start = re.search(r"^module.*\{$", text, re.MULTILINE)
    assert start
    return f"{text[: start.end()]}\n  {spell_mesh(axes, costs)}{text[start.end() :]}"


def read_mesh(text: str) -> dict[str, int]:
    """The axes of the module's mesh; none if it has none."""
    found = re.search(r"^ *spmd\.mesh @[\w\".]+ = <\[(\".*?)\]", text, re.MULTILINE)
    return {n: int(s) for n, s in re.findall(r'"([^"]+)"=(\d+)', found[1])} if found else {}


def check_axes(what: str, entries: Sequence[Any], axes: Mapping[str, int]) -> None:
    """Entries of axis resources name axes of the mesh."""
    for axis in [a for e in entries for a in (e if isinstance(e, list) else [e]) if a not in (None, "?")]:
        if axis not in axes:
            raise ShardKitError(f"error: {what} names axis {axis!r}, expected one of the mesh: {', '.join(axes)}")


def run(text: str, *options: str) -> str:
    return run_tool([find_tool("shard-opt"), "-", *options], text)


def _shorten(message: str, file: Path, kind: str) -> str:
    """An error in the rules, or the warnings, without the file that they were passed in."""
    lines = [line for line in message.split("\n") if f"{kind}: " in line]
    text = "\n".join(lines[:1] if kind == "error" else lines)
    return re.sub(rf"{re.escape(str(file))}:\d+:\d+: {kind}: (?:rule \d+: )?", f"{kind}: pins: ", text) or message
