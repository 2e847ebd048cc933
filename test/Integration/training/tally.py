#!/usr/bin/env python3
"""Counts what moves in a partitioned program.

  shard-opt step.mlir --spmd-default-pipeline --spmd-report="format=json output=r.json"
  tally.py r.json              lines "all_reduce {model} 8", sorted
  tally.py r.json --by-place   "all_reduce {model} 1 layers.0.o": per location
  tally.py r.json --per-axis   a collective over two axes counts on both

Numbers of layers in locations become "*" with --fold.
"""
import argparse
import collections
import json
import re


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("report")
    parser.add_argument("--by-place", action="store_true")
    parser.add_argument("--per-axis", action="store_true")
    parser.add_argument("--fold", action="store_true")
    args = parser.parse_args()
    counts = collections.Counter()
    with open(args.report) as file:
        report = json.load(file)
    for c in report["collectives"]:
        if c["kind"] == "all_slice":  # moves nothing between devices
            continue
        place = ""
        if args.by_place:
            place = " " + (re.sub(r"\b\d+\b(?=\.)", "*", c["loc"])
                           if args.fold else c["loc"])
        for axes in c["axes"] if args.per_axis else [",".join(c["axes"])]:
            counts[c["kind"], axes, place] += 1
    for (kind, axes, place), n in sorted(counts.items()):
        print(f"{kind} {{{axes}}} {n}{place}")
    print("end of tally")


if __name__ == "__main__":
    main()
