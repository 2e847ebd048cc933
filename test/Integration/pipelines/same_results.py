#!/usr/bin/env python3
"""Checks that two directories hold the same f32 results, up to 1e-5 of the largest of each,
and that a third one holds others.

  same_results.py A B OTHER
"""
import struct
import sys
from pathlib import Path


def read(path):
    data = path.read_bytes()
    start = 10 + struct.unpack_from("<H", data, 8)[0]
    return struct.unpack(f"<{(len(data) - start) // 4}f", data[start:])


def distance(a, b):
    return max(abs(x - y) for x, y in zip(a, b)) / max(map(abs, b))


first, second, other = map(Path, sys.argv[1:])
names = sorted(p.name for p in first.glob("*.npy"))
assert names and names == sorted(p.name for p in second.glob("*.npy")), names
for name in names:
    a, b, c = read(first / name), read(second / name), read(other / name)
    assert len(a) == len(b) and distance(a, b) < 1e-5, f"{name}: they differ by {distance(a, b)}"
    assert distance(c, b) > 1e-4, f"{name}: the other one is the same"
print(f"{len(names)} results agree")
