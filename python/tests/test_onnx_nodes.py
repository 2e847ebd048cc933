#!/usr/bin/env python3
"""The node tests of ONNX itself, on one device and sharded on four: each equals what ONNX says, or is one error. Needs the wheels.

test_onnx_nodes.py [--every=N] [--table] [--target=cuda] [NAME...], as samples.py says.
"""

import tempfile
from pathlib import Path

import numpy as np
import onnx
import samples
from onnx import numpy_helper

import shardkit

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


def run(task):
    case, options = task
    inputs, outputs = case.data_sets[0]
    arrays = [np.asarray(x) if isinstance(x, (np.ndarray, np.generic)) else None for x in [*inputs, *outputs]]
    if any(x is None or x.dtype.kind not in "fiub" for x in arrays):
        return case.name, "left out", "no tensors of numbers"
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "model.onnx")
        proto = onnx.ModelProto()
        proto.CopyFrom(case.model)
        given = fold(proto, arrays[: len(inputs)])
        onnx.save(proto, path)

        def may_fail(message):
            return case.name in UNFINISHED or "has a dynamic size without a known bound" in message

        kind, why = samples.check(
            lambda: shardkit.import_onnx(path), given, arrays[len(inputs) :], options, turns=(0,), may_fail=may_fail
        )
        return case.name, kind, why.replace(f"{folder}/", "")


def main():
    args = samples.read_arguments(__doc__)
    with np.errstate(all="ignore"):
        from onnx.backend.test.case.node import collect_testcases

        cases = collect_testcases(None)
    cases = [c for c in cases if c.name in args.names] if args.names else cases[:: args.every]
    tasks = [(c, [f"--target={args.target}"]) for c in cases]
    samples.run_all(f"nodes of ONNX {onnx.__version__}", run, tasks, args)


if __name__ == "__main__":
    main()
