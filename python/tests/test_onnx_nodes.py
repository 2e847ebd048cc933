#!/usr/bin/env python3
"""The node tests of ONNX itself, on one device and sharded on four: each equals what ONNX says, or is one error. Needs the wheels.

test_onnx_nodes.py [--every=N] [--table] [--target=cuda] [NAME...]: every Nth of them, or those named; with --table what is
not equal, and why; on GPUs, or on emulated ones where SK_CUDA_LIBRARY_PATH has them.
"""

import argparse
import json
import os
import re
import tempfile
import warnings
from collections import Counter, defaultdict
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import onnx
import shardkit
from onnx import numpy_helper
from shardkit.tools import find_tool, run_tool

# torch-mlir's lowering is not complete, and the program says so when it runs.
UNFINISHED = {"test_det_2d", "test_nonmaxsuppression_suppress_by_IOU_and_scores"}


def fold(model, inputs):
    """Inputs that say sizes, places and axes are constants, as exporters write them."""
    graph, left = model.graph, []
    first = graph.input[0].name if graph.input else None
    sizes = {name for node in graph.node if node.op_type in ("Resize", "Upsample") for name in node.input[1:]}
    for value, array in zip(list(graph.input), inputs):
        small = array.ndim <= 1 and (array.dtype in (np.int64, np.int32) or array.ndim == 0 or array.size == 0)
        if value.name in sizes or (value.name != first and small):
            graph.initializer.append(numpy_helper.from_array(array, value.name))
            graph.input.remove(value)
        else:
            left.append(array)
    return left


def differs(found, expected):
    found, expected = np.asarray(found), np.asarray(expected)
    if found.dtype != expected.dtype or found.shape != expected.shape:
        return f"{found.dtype}{found.shape}, expected {expected.dtype}{expected.shape}"
    if expected.dtype.kind == "f":
        tolerance = 2e-2 if expected.dtype.itemsize == 2 else 1e-4
        same = np.allclose(found.astype(np.float64), expected.astype(np.float64), rtol=tolerance, atol=tolerance, equal_nan=True)
    else:
        same = np.array_equal(found, expected)
    return None if same else f"{found.ravel()[:6]}, expected {expected.ravel()[:6]}"


def shard(model, folder):
    """Each argument on both axes of a mesh of 2 x 2, from the first dim on or from the last, whether or not they divide it."""
    rules = []
    for i, argument in enumerate(model.arguments):
        axes, spec = ["a", "b"], [None] * len(argument.shape)
        dims = range(len(argument.shape))
        for d in dims if i % 2 == 0 else reversed(dims):
            if axes and argument.shape[d] >= 2:
                spec[d] = axes.pop(0)
        if any(spec):
            rules.append({"argument": argument.name, "axis_resources": spec})
    plan = folder / "plan.json"
    plan.write_text(json.dumps({"version": 1, "meshes": [{"name": "m", "axes": [["a", 2], ["b", 2]]}], "rules": rules}))
    model.text = run_tool([find_tool("shard-opt"), "-", f"--spmd-apply-plan=file={plan}", "--mlir-print-debuginfo"], model.text)


def run_safely(case, options):
    try:
        return run(case, options)
    except Exception as error:
        return "wrong", f"{type(error).__name__}: {str(error).splitlines()[0]}"


def run(case, options):
    """equal, refused with why, or wrong with why."""
    inputs, outputs = case.data_sets[0]
    arrays = [np.asarray(x) if isinstance(x, (np.ndarray, np.generic)) else None for x in [*inputs, *outputs]]
    if any(x is None or x.dtype.kind not in "fiub" for x in arrays):
        return "left out", "no tensors of numbers"
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        proto = onnx.ModelProto()
        proto.CopyFrom(case.model)
        given = fold(proto, arrays[: len(inputs)])
        onnx.save(proto, folder / "model.onnx")
        try:
            model = shardkit.import_onnx(folder / "model.onnx")
        except shardkit.ShardKitError as error:
            message = str(error).replace(f"{folder}/", "")
            return ("refused" if message.count("error:") == 1 and "\n" not in message else "wrong"), message
        for where in ("one device", "2 x 2 devices"):
            try:
                if where != "one device":
                    shard(model, folder)
                for found, expected in zip(model.run(*given, options=options), arrays[len(inputs) :], strict=True):
                    if why := differs(found, expected):
                        return "wrong", f"{where}: {why}"
            except shardkit.ShardKitError as error:
                said = str(error)
                allowed = case.name in UNFINISHED or "has a dynamic size without a known bound" in said
                return ("refused" if allowed else "wrong"), f"{where}: {said.splitlines()[0]}"
    return "equal", ""


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("names", nargs="*")
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--table", action="store_true")
    parser.add_argument("--target", choices=("cpu", "cuda"), default="cpu")
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    with np.errstate(all="ignore"):
        from onnx.backend.test.case.node import collect_testcases

        cases = collect_testcases(None)
    cases = [c for c in cases if c.name in args.names] if args.names else cases[:: args.every]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        results = list(zip(cases, pool.map(lambda case: run_safely(case, [f"--target={args.target}"]), cases)))
    counts = Counter(kind for _, (kind, _) in results)
    groups = defaultdict(list)
    for case, (kind, why) in results:
        if kind == "wrong" or args.table and kind == "refused":
            groups[kind, re.sub(r'"[^"]*"', '"..."', why)[:160]].append(case.name)
    for (kind, why), names in sorted(groups.items(), key=lambda g: (g[0][0], -len(g[1]))):
        print(f"{kind}: {len(names)}: {why}: {', '.join(names[:3])}")
    print(f"nodes of ONNX {onnx.__version__}: " + ", ".join(f"{counts[k]} {k}" for k in ("equal", "refused", "left out", "wrong")))
    if counts["wrong"] or not counts["equal"]:
        raise SystemExit(1)


if __name__ == "__main__":
    main()
