#!/usr/bin/env python3
"""Reads partitioned IR from stdin and prints, per function, the local shapes of its
arguments and results and the collectives in it; then what is transferred.

  @stage0_forward: 6x4 4 32x6 -> 32x4
    all_reduce sum {model} 32x4
  @stage0_apply: 6x4 4 6x4 4 -> 6x4 4
    no collectives
  transfer layer1: 0 -> 1 32x4
"""
import re
import sys

TENSOR = re.compile(r"tensor<((?:\d+x)*)([a-z]\w*)>")


def shapes(text):
    """The types of a parameter list, its attribute dictionaries left out."""
    depth, plain, quoted = 0, "", False
    for char in text:
        quoted ^= char == '"'
        depth += 0 if quoted else (char == "{") - (char == "}")
        plain += char if depth == 0 else ""
    return " ".join(dims[:-1] or "scalar" for dims, _ in TENSOR.findall(plain)) or "-"


def main():
    is_bare = False  # a function without collectives so far
    for line in sys.stdin:
        func = re.match(r"\s*func\.func (?:\w+ )?(@\w+)\((.*)\)(?: attributes \{.*\})? \{$", line)
        collective = re.search(r"= spmd\.(all_\w+|reduce_scatter|collective_permute|exchange) (.*)$", line)
        transfer = re.match(r'\s*spmd\.channel "(.*?)" from (\d+) (.*) to (\d+) (.*) : (.*)', line)
        if is_bare and (func or transfer or re.match(r"  }", line)):
            print("  no collectives")
            is_bare = False
        if func:
            is_bare = True
            name, text = func.groups()
            arguments, _, results = text.partition(") -> ")
            print(f"{name}: {shapes(arguments)} -> {shapes(results)}")
        elif collective:
            is_bare = False
            kind, rest = collective.groups()
            reduction = re.search(r" (sum|max|min|prod) <", rest)
            axes = ",".join(dict.fromkeys(re.findall(r'"(\w+)"', rest)))
            dims = TENSOR.findall(rest)[-1][0][:-1] or "scalar"
            print(f"  {kind} {reduction.group(1) + ' ' if reduction else ''}{{{axes}}} {dims}")
        elif transfer:
            value, source, _, target, _, kind = transfer.groups()
            print(f"transfer {value}: {source} -> {target} {shapes(kind)}")
    print("end of signatures")


if __name__ == "__main__":
    main()
