"""A script under mpirun: each process makes the same calls. With an argument one process leaves by an error in the middle."""

import os
import sys

import numpy as np
import shardkit

rank = int(os.environ["OMPI_COMM_WORLD_RANK"])
bundle, directory = sys.argv[1:3]
rng = np.random.default_rng(0)
w, m = (rng.integers(-4, 4, (5, 7)).astype(np.float32) for _ in range(2))
session = shardkit.Session(bundle, backend="mpi", timeout=5)
step = session["step"]
session.assign("w", w)
session.assign("m", m)
for i in range(5):
    x, z = rng.integers(-4, 4, (6, 5)).astype(np.float32), rng.integers(-4, 4, (6, 7)).astype(np.float32)
    if len(sys.argv) > 3 and i == 3 and rank == 2:
        sys.exit("error: process 2 ends")
    y, *_ = step(x=x, z=z, donate=True, wait=i != 1)
    expected = x @ w
    m = m / 2 + x.T @ z
    w = w - m
    assert np.array_equal(y, expected) and np.array_equal(session.bound("w"), w), i
    assert np.array_equal(session.bound("m")[1:4, 2:], m[1:4, 2:]), i
session.save(directory)
session.close()
again = shardkit.Session(bundle, backend="mpi")
again.load(directory)
assert np.array_equal(again.bound("w"), w)
print(f"process {rank}: equal")
