#!/usr/bin/env python3
"""Writes the table of upstream ops in docs/reference/Status.md.

    scripts/status.py [--check] [--shard-opt PATH]

Joins docs/reference/status-ops.txt with the output of `shard-opt --spmd-list-rules` and with the tests that compare an
op's results with the unsharded run, random programs (test/Integration/random_ops.py) included. Fails if an op has no
paragraph, or a paragraph contradicts the tool. --check fails if the page is not what would be written. The page may list
fewer ops as compared than the tests compare now, never more.
"""
import argparse
import fnmatch
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "test" / "Integration"))
import random_ops

PAGE, NOTES = ROOT / "docs/reference/Status.md", ROOT / "docs/reference/status-ops.txt"
DIALECTS = ["arith", "complex", "func", "linalg", "math", "scf", "tensor", "tosa"]
BEGIN, END = "<!-- ops: written by scripts/status.py -->\n", "<!-- end of ops -->\n"


def read_notes():
    """[(patterns, {"sharded": text, "unsharded": text, "how": text})]"""
    notes = []
    for paragraph in NOTES.read_text().split("\n\n"):
        lines = [line for line in paragraph.splitlines() if line and not line.startswith("#")]
        if lines:
            notes.append((lines[0].split(), dict(line.split(": ", 1) for line in lines[1:])))
    return notes


def numeric_ops():
    """Ops that a test with a numeric comparison names, and those named in a line with a tensor type (not in a body)."""
    found, on_tensors = random_ops.generated()
    pattern = r"\b[a-z]+\.[a-z_0-9]+(?:\.[a-z_]+)?"
    for path in sorted((ROOT / "test").rglob("*")):
        if path.suffix == ".mlir":
            text = path.read_text()
            runs = "".join(line for line in text.splitlines() if "RUN:" in line)
            if not re.search(r"shard-run .*--verify", runs):
                continue
        elif path.suffix == ".py" and path.name.startswith("gen_"):
            text = path.read_text()
        else:
            continue
        found.update(re.findall(pattern, text))
        for line in text.splitlines():
            if "tensor<" in line:
                on_tensors.update(re.findall(pattern, line))
    return found, on_tensors


def shorten(ops):
    """`a.x`, `y`, `b.z`: the dialect only where it changes."""
    words, last = [], ""
    for op in ops:
        dialect, name = op.split(".", 1)
        words.append(f"`{name if dialect == last else op}`")
        last = dialect
    return ", ".join(words)


def read_compared(table):
    """Ops in the first column of a table that shorten() wrote."""
    ops, dialect = set(), ""
    for row in table.splitlines()[2:]:
        for name in re.findall(r"`([^`]+)`", row.split("|")[1]):
            first, dot, rest = name.partition(".")
            if dot and first in DIALECTS:
                dialect, name = first, rest
            ops.add(f"{dialect}.{name}")
    return ops


def make_table(shard_opt, claimed=None):
    listed = subprocess.run([shard_opt, "--spmd-list-rules", "-o", "/dev/null"], input="",
                            capture_output=True, text=True, check=True).stdout
    notes, (tested, on_tensors), errors = read_notes(), numeric_ops(), []
    rows = [([], []) for _ in notes]
    used = set()
    for line in listed.splitlines():
        op, kind = line.split()
        for i, (patterns, texts) in enumerate(notes):
            hit = [p for p in patterns if fnmatch.fnmatchcase(op, p)]
            if hit:
                used.update((i, p) for p in hit)
                # Of complex numbers there are no ops on tensors.
                compared = op in (on_tensors if kind == "elementwise" and not op.startswith("complex.") else tested)
                rows[i][not compared or (claimed is not None and op not in claimed)].append(op)
                if kind != "elementwise" and (kind == "none") != ("how" in texts):
                    errors.append(f"{op} has the rule '{kind}', but its paragraph has "
                                  f"{'how:' if 'how' in texts else 'sharded:'}")
                break
        else:
            errors.append(f"{op} ({kind}) is in no paragraph")
    errors += [f"no op matches {p}" for i, (patterns, _) in enumerate(notes) for p in patterns
               if (i, p) not in used]
    if errors:
        sys.exit("\n".join(f"docs/reference/status-ops.txt: {error}" for error in errors))
    lines = ["| compared with the unsharded run | same rule, not compared | can be sharded | unsharded |",
             "| --- | --- | --- | --- |"]
    for (yes, no), (_, texts) in zip(rows, notes):
        sharded = texts.get("how") and f"*no rule:* {texts['how']}" or texts.get("sharded", "nothing")
        lines.append(f"| {shorten(yes)} | {shorten(no)} | {sharded} | {texts.get('unsharded', '')} |")
    return re.sub(r"\|  +\|", "| |", "\n".join(lines)).replace("|  |", "| |") + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--shard-opt", default="shard-opt")
    args = parser.parse_args()
    page = PAGE.read_text()
    head, rest = page.split(BEGIN)
    table, tail = rest.split(END)
    claimed = read_compared(table) if args.check else None
    new = head + BEGIN + make_table(args.shard_opt, claimed) + END + tail
    if new != page and args.check:
        sys.exit("docs/reference/Status.md is not up to date, expected scripts/status.py to have been run")
    if new != page:
        PAGE.write_text(new)


if __name__ == "__main__":
    main()
