#!/usr/bin/env python3
"""The llama-2 attention of ONNX Runtime's distributed reshape tests as a real ONNX file, on 2 devices.

    attention.py compare           runs it with ShardKit, hidden size 4096, and compares with ONNX Runtime on plain nodes
    attention.py export            writes models/llama2_attention.mlir and .json, hidden size 32, as tested always
    attention.py write FILE.onnx   only writes the file

Needs: pip install onnx onnxruntime torch-mlir
"""

import json
import sys
import tempfile
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import arguments  # noqa: E402

DEVICES = [0, 1]


class Graph:
    """`distributed`: with the nodes and specs of com.microsoft, else the plain nodes."""

    def __init__(self, distributed):
        self.distributed, self.nodes, self.initializers = distributed, [], []

    def node(self, op, ins, out, in_specs=None, out_spec=None, **attributes):
        """Specs with `*N` behind repeat the list of devices N times."""
        if not self.distributed or in_specs is None:
            self.nodes.append(helper.make_node(op, ins, [out], name=out, **attributes))
            return out
        for side, specs in (("input", in_specs), ("output", [out_spec])):
            lists = [DEVICES * int(s.split("*")[1] if "*" in s else 1) for s in specs]
            attributes[f"{side}_shard_specs"] = [s.split("*")[0] for s in specs]
            attributes[f"{side}_device_mesh_shapes"] = [json.dumps([len(ids)]) for ids in lists]
            attributes[f"{side}_device_mesh_elements"] = [json.dumps(ids) for ids in lists]
        self.nodes.append(helper.make_node("Distributed" + op, ins, [out], domain="com.microsoft", name=out, **attributes))
        return out

    def reshape(self, value, shape, out, in_spec, out_spec):
        self.initializers.append(numpy_helper.from_array(np.array(shape, np.int64), out + "_shape"))
        return self.node("Reshape", [value, out + "_shape"], out, [in_spec, "R"], out_spec)


def build(weights, distributed=True, batch=3, length=7, heads=64, size=64):
    g = Graph(distributed)
    hidden, rows, all_heads = heads * size, batch * length, f"S[0]RR*{batch}"
    x = g.reshape("x", [rows, hidden], "rows", "RRR", "RR")
    parts = {}
    for n in "qkv":
        v = g.node("MatMul", [x, "w" + n], n, ["RR", "RS[0]"], "RS[0]")
        v = g.reshape(v, [batch, length, hidden], n + "_wide", "RS[0]", "RRS[0]")
        v = g.reshape(v, [batch, length, heads, size], n + "_heads", "RRS[0]", "RRS[0]R")
        last = [size, length] if n == "k" else [length, size]
        v = g.node("Transpose", [v], n + "_turned", perm=[0, 2, 3, 1] if n == "k" else [0, 2, 1, 3])
        parts[n] = g.reshape(v, [batch * heads, *last], n + "_all", "RS[0]RR", all_heads)
    s = g.node("MatMul", [parts["q"], parts["k"]], "scores", [all_heads] * 2, all_heads)
    s = g.reshape(s, [batch, heads, length, length], "scores_heads", all_heads, "RS[0]RR")
    s = g.node("Softmax", [s], "weights", axis=-1)
    s = g.reshape(s, [batch * heads, length, length], "weights_all", "RS[0]RR", all_heads)
    o = g.node("MatMul", [s, parts["v"]], "mixed", [all_heads] * 2, all_heads)
    o = g.reshape(o, [batch, heads, length, size], "mixed_heads", all_heads, "RS[0]RR")
    o = g.node("Transpose", [o], "mixed_turned", perm=[0, 2, 1, 3])
    o = g.reshape(o, [batch, length, hidden], "mixed_wide", "RRS[0]R", "RRS[0]")
    o = g.reshape(o, [rows, hidden], "mixed_rows", "RRS[0]", "RS[0]")
    o = g.node("MatMul", [o, "wo"], "out_rows", ["RS[0]", "S[0]R"], "RR")
    g.reshape(o, [batch, length, hidden], "y", "RR", "RRR")
    g.initializers += [numpy_helper.from_array(value, name) for name, value in weights.items()]
    shape = [batch, length, hidden]
    graph = helper.make_graph(
        g.nodes,
        "llama2_attention",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, shape)],
        g.initializers,
    )
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=10)


def make_weights(hidden):
    names = ("wq", "wk", "wv", "wo")
    return {n: arguments.make_argument(n, (hidden, hidden), "float32", 2, True) for n in names}


def run_plain(weights, x, **sizes):
    """What ONNX Runtime makes of the undistributed graph."""
    import onnxruntime

    model = build(weights, distributed=False, **sizes)
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    return session.run(None, {"x": x})[0]


def main():
    import shardkit

    what = sys.argv[1] if len(sys.argv) > 1 else ""
    sizes = {"heads": 4, "size": 8} if what == "export" else {}
    hidden = sizes.get("heads", 64) * sizes.get("size", 64)
    weights = make_weights(hidden)
    if what == "write" and len(sys.argv) == 3:
        onnx.save(build(weights), sys.argv[2])
        return 0
    if what not in ("compare", "export"):
        sys.exit(__doc__)
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory, "attention.onnx")
        onnx.save(build(weights, **sizes), path)
        model = shardkit.import_onnx(path, locations=False)
    x = arguments.make_argument("x", (3, 7, hidden), "float32", 2, False)
    expected = run_plain(weights, x, **sizes)
    if what == "export":
        directory = Path(__file__).with_name("models")
        directory.mkdir(exist_ok=True)
        (directory / "llama2_attention.mlir").write_text("// Written by attention.py.\n" + model.text)
        sums = json.dumps({"y": arguments.checksum("y", expected)})
        (directory / "llama2_attention.json").write_text(sums + "\n")
        return 0
    (found,) = model.run(x)
    error = np.abs(found - expected).max() / np.abs(expected).max()
    print(f"llama-2 attention on 2 devices against ONNX Runtime: largest difference {error:.1e} of the largest element")
    return 0 if error <= 1e-5 else 1


if __name__ == "__main__":
    sys.exit(main())
