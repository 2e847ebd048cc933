#!/usr/bin/env python3
"""Prints communication and loading of a run report (shard-run --report)."""
import collections
import json
import sys

report = json.load(open(sys.argv[1], encoding="utf-8"))
print("\nCommunication per step")
rows = collections.OrderedDict()
for c in report["collectives"]:
    if c["kind"] == "all_slice":  # moves nothing between devices
        continue
    name = " ".join(filter(None, [c["kind"], c.get("reduction")]))
    row = rows.setdefault((name, ",".join(c["axes"])), [0, 0])
    row[0] += 1
    row[1] += c["bytes"]
for (name, axes), (count, size) in rows.items():
    print(f"  {count:3d} x {name:<16} on {axes:<12} {size / 1e6:8.2f} MB per device")
if not rows:
    print("  none")
for f in report["run"]["functions"]:
    print("Weights")
    for device, (read, needed) in enumerate(zip(f["load"]["bytes_read"], f["load"]["bytes_needed"])):
        print(f"  device {device}: owns {needed / 1e6:.1f} MB, read {read / 1e6:.1f} MB")
    steps = f["steps"]
    print(f"Step: median {1e3 * steps['median_seconds']:.1f} ms, fastest {1e3 * steps['min_seconds']:.1f} ms")
    for v in f.get("verify", []):
        print(f"Sharded against unsharded, {v['result']}: largest absolute difference {v['max_abs']:.2g}")
