"""Stored tensors of f4.mlir, and what it makes of them: check_f4.py write FILE | check DIRECTORY"""
import json
import sys
from pathlib import Path

import numpy as np

VALUES = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6, -0.0, -0.5, -1, -1.5, -2, -3, -4, -6], np.float32)
CODES = (np.arange(60) * 7 + np.arange(60) // 16 * 5 + 3) % 16
EXPONENTS = np.array([127, 120, 131, 126, 128, 1], np.uint8)  # of 2, plus 127
# Ties and their neighbors, what saturates, and others.
BETWEEN = np.array([0.25, 0.75, 1.25, 1.75, 2.5, 3.5, 5, 6, 7, 1e9, 0.1, np.inf, 1e-40, 2.4999, 3.5001, 4.9], np.float32)
WRITTEN = np.concatenate([BETWEEN, -BETWEEN, np.nextafter(BETWEEN, np.float32(0)), VALUES])
assert sorted(set(CODES)) == list(range(16))


def round_to_f4(x):
    """To the nearest, ties to the even code; larger ones saturate."""
    magnitudes = VALUES[:8].astype(np.float64)
    distance = np.abs(np.minimum(np.abs(x.astype(np.float64)), 6)[:, None] - magnitudes)
    nearest = [min(np.flatnonzero(row == row.min()), key=lambda code: code % 2) for row in distance]
    return np.copysign(VALUES[nearest], x)


if sys.argv[1] == "write":
    nibbles = (CODES[::2] | CODES[1::2] << 4).astype(np.uint8)
    tensors = {"w": ("F4", [6, 10], nibbles), "s": ("F8_E8M0", [6], EXPONENTS), "r": ("F32", [64], WRITTEN)}
    header, data = {}, b""
    for name, (dtype, shape, values) in tensors.items():
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [len(data), len(data) + values.nbytes]}
        data += values.tobytes()
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    Path(sys.argv[2]).write_bytes(len(text).to_bytes(8, "little") + text + data)
else:
    results = [np.load(Path(sys.argv[2], f"{name}.npy")) for name in ("result0", "result1", "result2")]
    scaled = (results[0].view(np.uint16).astype(np.uint32) << 16).view(np.float32)
    plain = VALUES[CODES].reshape(6, 10)
    expected = [plain * 2.0 ** (EXPONENTS.astype(np.float64) - 127)[:, None], plain, round_to_f4(WRITTEN)]
    for found, right in zip((scaled, *results[1:]), expected):
        right = right.astype(np.float32)
        assert np.array_equal(found.view(np.uint32), right.view(np.uint32)), (found, right)
