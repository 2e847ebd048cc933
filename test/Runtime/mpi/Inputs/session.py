"""A script that several processes run, each with the same calls: session.py BUNDLE SET [leave|kill]. In the middle process 2
leaves by an error, or is killed."""

import os
import signal
import sys

import numpy as np
import shardkit

bundle, directory = sys.argv[1:3]
end = sys.argv[3] if len(sys.argv) > 3 else ""
shardkit.init(backend=os.environ.get("BACKEND", "mpi"), timeout=5)
rng = np.random.default_rng(0)
w, m = (rng.integers(-4, 4, (5, 7)).astype(np.float32) for _ in range(2))
session = shardkit.Session(bundle)
process, processes = session.process
step = session["step"]
session.assign("w", w)
session.assign("m", m)
for i in range(5):
    x, z = rng.integers(-4, 4, (6, 5)).astype(np.float32), rng.integers(-4, 4, (6, 7)).astype(np.float32)
    if end and i == 3 and process == 2:
        if end == "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        sys.exit("error: process 2 ends")
    y, *_ = step(x=x, z=z, donate=True, wait=i != 1)
    expected = x @ w
    m = m / 2 + x.T @ z
    w = w - m
    assert np.array_equal(y, expected) and np.array_equal(session.bound("w"), w), i
    assert np.array_equal(session.bound("m")[1:4, 2:], m[1:4, 2:]), i
session.save(directory)
session.close()
again = shardkit.Session(bundle)
again.load(directory)
assert np.array_equal(again.bound("w"), w)
shard = again.bound("w").shard(4 // processes * process)
if isinstance(shard, shardkit.GpuShard):
    assert shard.__dlpack_device__() == (2, shard.gpu) and "dltensor" in repr(shard.__dlpack__())
    print(f"process {process}: {shard}")
else:
    assert shard.shape == (5, 4)
print(f"process {process}: equal")
