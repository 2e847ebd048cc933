#!/usr/bin/env python3
"""Which ops the random programs have.

  random_ops.py                          prints them
  random_ops.py Status.md absent.txt     fails unless every op of the table in Status.md is one of them or stands in
                                         absent.txt with a reason, and none of them does
"""
import fnmatch
import random
import re
import sys

import gen_random

SEEDS, COUNT = range(1, 41), 150
OP = re.compile(r"\b(?:arith|complex|func|linalg|math|scf|tensor|tosa)\.[a-z][a-z_0-9]*(?:\.[a-z_]+)?")
# Attributes and types, not ops.
NO_OPS = {"linalg.elementwise_kind", "tosa.shape"}


def programs():
    """The text of a fixed set of functions, a part of which scripts/test runs."""
    for seed in SEEDS:
        for i in range(COUNT):
            yield gen_random.Function(random.Random(f"{seed}.{i}"), f"f{i}").build(reference=False)


def generated():
    """Ops in those, and those named beside a tensor type (not in a body)."""
    found, on_tensors = set(), set()
    for text in programs():
        # These are printed without their dialect.
        text = re.sub(r"^( *)return ", r"\1func.return ", text, flags=re.M)
        for line in text.splitlines():
            ops = OP.findall(line)
            found.update(ops)
            if "tensor<" in line:
                on_tensors.update(ops)
    return found - NO_OPS, on_tensors - NO_OPS


def table_ops(page):
    """Ops in the first two columns of the table that scripts/status.py writes."""
    ops, dialect = set(), ""
    rows = [line for line in page.splitlines() if line.startswith("| `") or line.startswith("| | `")]
    for row in rows:
        for cell in row.split("|")[1:3]:
            for name in re.findall(r"`([^`]+)`", cell):
                if OP.fullmatch(name) and not name.startswith("forall."):
                    dialect, name = name.split(".", 1)
                ops.add(f"{dialect}.{name}")
    return ops


def main():
    found, _ = generated()
    if len(sys.argv) == 1:
        return print("\n".join(sorted(found)))
    ops = table_ops(open(sys.argv[1]).read())
    if len(ops) < 300:
        sys.exit(f"{sys.argv[1]} has a table of {len(ops)} ops, expected more")
    absent = {}
    for line in open(sys.argv[2]):
        if line.strip() and not line.startswith("#"):
            patterns, colon, reason = line.partition(":")
            if not reason.strip():
                sys.exit(f"no reason for {patterns.strip()}, expected one after ':'")
            absent |= {pattern: reason.strip() for pattern in patterns.split()}
    errors = []
    for op in sorted(ops):
        listed = [p for p in absent if fnmatch.fnmatchcase(op, p)]
        if op not in found and not listed:
            errors.append(f"{op} is in no random program and not listed as absent")
        if op in found and listed:
            errors.append(f"{op} is in random programs, but {listed[0]} is listed as absent")
    errors += [f"no op of the table matches {p}" for p in absent if not fnmatch.filter(ops, p)]
    if errors:
        sys.exit("\n".join(errors))
    missing = [op for op in ops if op not in found]
    print(f"{len(ops) - len(missing)} of {len(ops)} ops are in random programs, {len(missing)} are not:")
    for pattern, reason in absent.items():
        print(f"  {', '.join(sorted(fnmatch.filter(missing, pattern)))}: {reason}")


if __name__ == "__main__":
    main()
