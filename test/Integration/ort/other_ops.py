"""Matrix products, slices, expansions, reductions, squeeze and unsqueeze of ONNX Runtime's
distributed tests. `generate OUT.mlir`, or `check BUNDLE SHARD-RUN DIR`: values, what every
device owns, and the collectives."""

import os
import subprocess
import sys

import numpy as np
import ort_cases as ort

CASES = ort.load(os.path.join(os.path.dirname(__file__), "Inputs", "ort_other_ops.json"))["cases"]

# What the note of a case allows beside `min_comm`, where the price is equal; and a permute
# in which one of two devices sends is spelled as an exchange of windows.
ALTERNATIVES = {"test_matmul2d_rs_rs_rr": [["all_gather", "all_gather"]],
                "test_slice_rs_axis1": [["exchange"]]}


def function_name(case):
    return case["name"].replace("/", "_")


def filled(name, shape, value):
    t = ort.tensor(shape, "f32")
    return [f"%{name}_value = arith.constant {value} : f32",
            f"%{name}_empty = tensor.empty() : {t}",
            f"%{name} = linalg.fill ins(%{name}_value : f32) outs(%{name}_empty : {t}) -> {t}"]


def generic(dims, maps, kinds, operands, init, shape, body):
    inputs = ", ".join(v for v, _ in operands)
    types = ", ".join(ort.tensor(s, "f32") for _, s in operands)
    t = ort.tensor(shape, "f32")
    maps = ", ".join(f"affine_map<({dims}) -> ({m})>" for m in maps)
    kinds = ", ".join(f'"{k}"' for k in kinds)
    args = ", ".join(f"%a{i}: f32" for i in range(len(operands) + 1))
    return [f"%y = linalg.generic {{indexing_maps = [{maps}], iterator_types = [{kinds}]}} ins({inputs} : {types}) "
            f"outs({init} : {t}) {{", f"^bb0({args}):"] + [f"  {line}" for line in body] + [f"}} -> {t}"]


def matmul(case):
    x, w = (i["shape"] for i in case["inputs"])
    y = case["outputs"][0]["shape"]
    # ONNX: trailing two dims are multiplied, those before broadcast from the right.
    batch = [f"b{i}" for i in range(len(y) - 2)]

    def batch_of(shape):
        own = batch[len(batch) - (len(shape) - 2):]
        return [d if size == y[len(y) - 2 - len(own) + i] else "0"
                for i, (d, size) in enumerate(zip(own, shape))]
    dims = batch + ["m", "n", "k"]
    maps = [batch_of(x) + ["m", "k"], batch_of(w) + ["k", "n"], batch + ["m", "n"]]
    return filled("zero", y, "0.0") + generic(
        ", ".join(dims), [", ".join(m) for m in maps], ["parallel"] * (len(dims) - 1) + ["reduction"],
        [("%x", x), ("%w", w)], "%zero", y,
        ["%p = arith.mulf %a0, %a1 : f32", "%s = arith.addf %a2, %p : f32", "linalg.yield %s : f32"])


def slice_(case):
    shape, attrs = case["inputs"][0]["shape"], case["attrs"]
    y = case["outputs"][0]["shape"]
    offsets, steps = [0] * len(shape), [1] * len(shape)
    for axis, start, step in zip(attrs["axes"], attrs["starts"], attrs["steps"]):
        offsets[axis], steps[axis] = start, step
    return [f"%y = tensor.extract_slice %x{offsets} {y} {steps} : {ort.tensor(shape, 'f32')} to {ort.tensor(y, 'f32')}"]


def expand(case):
    x, y = case["inputs"][0]["shape"], case["outputs"][0]["shape"]
    dims = [f"d{i}" for i in range(len(y))]
    source = [d if a == b else "0" for d, a, b in zip(dims, x, y)]
    return [f"%init = tensor.empty() : {ort.tensor(y, 'f32')}"] + generic(
        ", ".join(dims), [", ".join(source), ", ".join(dims)], ["parallel"] * len(y), [("%x", x)], "%init", y,
        ["linalg.yield %a0 : f32"])


def reduce(case):
    x, y, axes = case["inputs"][0]["shape"], case["outputs"][0]["shape"], case["attrs"]["axes"]
    kind = case["op"].split("_")[1]
    kept = [d for i, d in enumerate(x) if i not in axes]
    t = ort.tensor(kept, "f32")
    op, start = ("arith.maximumf", "0xFF800000") if kind == "max" else ("arith.addf", "0.0")
    lines = filled("init", kept, start) + [
        f"%r = linalg.reduce {{ {op} }} ins(%x : {ort.tensor(x, 'f32')}) outs(%init : {t}) dimensions = {axes}"]
    if kind == "mean":
        count = 1.0
        for axis in axes:
            count *= x[axis]
        lines += [f"%count = arith.constant dense<{count}> : {t}", f"%q = arith.divf %r, %count : {t}"]
    return lines + ort.reshape("y", "%q" if kind == "mean" else "%r", kept, y, "f32")


def regroup(case):
    return ort.reshape("y", "%x", case["inputs"][0]["shape"], case["outputs"][0]["shape"], "f32")


BODIES = {"matmul": matmul, "slice": slice_, "expand": expand, "reduce_sum": reduce, "reduce_max": reduce,
          "reduce_mean": reduce, "squeeze": regroup, "unsqueeze": regroup}


def given(value):
    return "spmd.sharding = " + ort.ort(value["spec"], value["mesh_shape"], value["mesh_elements"])


def write(f, name, inputs, output, body):
    arguments = ", ".join(f"%{i['name']}: {ort.tensor(i['shape'], 'f32')} {{spmd.name = \"{i['name']}\", {given(i)}}}"
                          for i in inputs)
    t = ort.tensor(output["shape"], "f32")
    f.write(f"func.func @{name}({arguments}) -> ({t} {{spmd.name = \"y\", {given(output)}}}) {{\n")
    f.write("".join(f"  {line}\n" for line in body))
    f.write(f"  return %y : {t}\n}}\n\n")


def generate(path):
    with open(path, "w") as f:
        for case in CASES:
            write(f, function_name(case), case["inputs"], case["outputs"][0], BODIES[case["op"]](case))


def pairs(path):
    """All spec pairs of a matrix product and of a batched one, with every result."""
    with open(path, "w") as f:
        for shapes in (([4, 6], [6, 8], [4, 8]), ([2, 4, 6], [2, 6, 8], [2, 4, 8])):
            specs = ["R" * len(shapes[0])]
            specs += [specs[0][:d] + "S[0]" + specs[0][d + 1:] for d in range(len(shapes[0]))]
            for x in specs:
                for w in specs:
                    for y in specs:
                        values = [{"name": n, "shape": s, "spec": spec, "mesh_shape": [2], "mesh_elements": [0, 1]}
                                  for n, s, spec in zip("xwy", shapes, (x, w, y))]
                        case = {"inputs": values[:2], "outputs": values[2:]}
                        name = "_".join(s.replace("[0]", "") for s in (x, w, y))
                        write(f, "matmul_" + name, values[:2], values[2], matmul(case))


def check(bundle, shard_run, directory):
    meshes, functions = ort.read_bundle(bundle)
    os.makedirs(directory, exist_ok=True)
    for case in CASES:
        name = function_name(case)
        function = functions[name]
        kinds = sorted(c["kind"] for c in function["collectives"] if c["kind"] != "all_slice")  # nothing moves
        wanted = sorted(comm.split("(")[0] for comm in case["min_comm"])
        if kinds != wanted and kinds not in ALTERNATIVES.get(case["name"], []):
            sys.exit(f"{name}: collectives {kinds}, expected {wanted}")
        pairs = list(zip(function["arguments"], case["inputs"])) + list(zip(function["results"], case["outputs"]))
        for value, want in pairs:
            ort.check(function, value, want["shape"], want["spec"], want["mesh_shape"], want["mesh_elements"],
                      want.get("local_shape"), meshes)
        if "values" not in case["inputs"][0]:
            continue
        command = [shard_run, bundle, f"--function={name}", "--output-dir", directory]
        for value in case["inputs"]:
            file = os.path.join(directory, value["name"] + ".npy")
            np.save(file, np.array(value["values"], np.float32))
            command += ["--input", f"{value['name']}={file}"]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        have = np.load(os.path.join(directory, "y.npy"))
        if case["op"] == "slice":
            attrs = case["attrs"]
            index = [slice(None)] * len(case["inputs"][0]["shape"])
            for axis, start, end, step in zip(attrs["axes"], attrs["starts"], attrs["ends"], attrs["steps"]):
                index[axis] = slice(start, end, step)
            want = np.array(case["inputs"][0]["values"], np.float32)[tuple(index)]
        else:
            want = np.array(case["outputs"][0]["values_flat"], np.float32).reshape(case["outputs"][0]["shape"])
        if have.shape != want.shape or not np.array_equal(have, want):
            sys.exit(f"{name}: result {have.tolist()}, expected {want.tolist()}")
    print(f"{len(CASES)} cases: values, owned data and collectives as they shall be")


if __name__ == "__main__":
    {"generate": generate, "check": check, "pairs": pairs}[sys.argv[1]](*sys.argv[2:])
