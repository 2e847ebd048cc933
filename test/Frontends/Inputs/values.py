"""Compares the values of a program of a session with those of the unsharded one."""
import sys

import numpy as np

import shardkit

bundle, folder = sys.argv[1:]
session = shardkit.Session(bundle)
f = session["main"]
rng = np.random.default_rng(0)
x, w, v = (rng.standard_normal(value.shape, np.float32) for value in f.arguments)
report = f.compare_values(x, w, v, watch=["weights"], directory=folder)
first = report.first
assert first is not None
print("right:", bool(report), "op:", first["op"], "rank:", first["rank"], "element:", first["element"], "inputs:", len(first["inputs"]))
print(str(report).splitlines()[1])
mine, full = (np.load(f"{folder}/{name}") for name in ("weights.npy", "weights.unsharded.npy"))
print("files:", len(report.files), mine.shape, np.allclose(full.sum(1), 1), np.allclose(mine.sum(1), 2))
print("result:", report.results[0].shape, "errors:", sorted(report.values[0])[:3])
print("by name:", f.compare_values(v=v, x=session["main"].put("x", x), w=w).first == first)
for call in (lambda: f.compare_values(x, w, v, watch=["wieghts"]), lambda: f.compare_values(x, w), lambda: f.compare_values(x, w, v, q=1)):
    try:
        call()
    except shardkit.ShardKitError as error:
        print(error)
