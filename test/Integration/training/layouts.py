#!/usr/bin/env python3
"""Lists the layouts in a program after --spmd-insert-reshards.

  shard-opt step.mlir --spmd-propagate --spmd-insert-reshards | layouts.py --batch 4

prints how often each layout of an activation (a value whose first dim is the
batch, a size that no other first dim has) and each reshard occurs:

  activation 4x6x12 [{"data"}, {}, {}] 57
  reshard [{"data"}] -> [{}] 16
"""
import argparse
import collections
import re
import sys

LAYOUT = r"<@mesh, (\[.*?\](?:, unreduced\S* = \{[^}]*\})?)>"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--batch", type=int, required=True)
    args = parser.parse_args()
    counts, layout_of = collections.Counter(), {}
    for line in sys.stdin:
        for name, layout in re.findall(
                r"(%arg\d+): tensor[^%]*?spmd\.sharding = #spmd\.sharding"
                + LAYOUT, line):
            layout_of[name] = layout
        result = re.match(r"\s*(%\w+)(?::\d+)? = ", line)
        if not result:
            continue
        reshard = re.search(r"= spmd\.reshard (%[\w#]+) " + LAYOUT, line)
        if reshard:
            layouts = [reshard[2]]
            counts["reshard", f"{layout_of[reshard[1]]} -> {layouts[0]}"] += 1
        else:
            layouts = re.findall(r"#spmd\.sharding" + LAYOUT, line)
        if not layouts:
            continue
        layout_of[result[1]] = layouts[0]
        for i, layout in enumerate(layouts):
            layout_of[f"{result[1]}#{i}"] = layout
        # The type of the result comes last; a generic ends with its body.
        last = re.findall(r"tensor<([^>]*)>", line)[-1]
        if last.split("x")[0] == str(args.batch) and "x" in last:
            shape = last[:last.rindex("x")]
            counts["activation", f"{shape} {layouts[0]}"] += 1
    for (kind, what), n in sorted(counts.items()):
        print(kind, what, n)
    print("end of layouts")


if __name__ == "__main__":
    main()
