"""Arguments and checksums of the committed models: functions of names alone, so that no file of numbers is needed."""

import re
import sys
import zlib
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "python"))

# What is a square, a scale or a count must not be negative.
POSITIVE = re.compile(r"^moments\.v\.|scale$|norm$|^mask$|^count$|\.exp_avg_sq$|\.step$")


def _rng(name):
    return np.random.default_rng(zlib.crc32(name.encode()))


def make_argument(name, shape, dtype, high, is_weight):
    """Floats of about unit size (weights: so that products are), integers in [0, high)."""
    rng = _rng(name)
    if np.dtype(dtype).kind in "iu":
        return rng.integers(0, high, shape, dtype=dtype)
    if POSITIVE.search(name):
        return rng.uniform(0.5, 1.5, shape).astype(dtype)
    is_matrix = is_weight and len(shape) > 1
    return (rng.standard_normal(shape) * (shape[-2] ** -0.5 if is_matrix else 1)).astype(dtype)


def checksum(name, value):
    """[shape, product with random numbers, norm]: a permuted or a missing part changes it."""
    wide = np.asarray(value, np.float64)
    return [list(wide.shape), float((wide * _rng("check " + name).standard_normal(wide.shape)).sum()), float(np.sqrt((wide * wide).sum()))]


def read_arguments(text):
    """(name, shape, dtype, high, is_weight) of each argument of the public function in a model's IR."""
    header = re.search(r"func\.func(?: public)? @\w+\((.*?)\) -> ", text, re.DOTALL)[1]
    found = []
    for part in re.split(r",\s*(?=%\w+: )", header):
        dims, kind = re.search(r": tensor<((?:\d+x)*)(\w+)>", part).groups()
        key, name = re.search(r'spmd\.(name|weight) = "([^"]+)"', part).groups()
        high = re.search(r"spmd\.range = \[0, (\d+)\]", part)
        dtype = {"f32": "float32", "i32": "int32", "i64": "int64"}[kind]
        found.append((name, tuple(map(int, dims.split("x")[:-1])), dtype, int(high[1]) if high else 2, key == "weight"))
    return found
