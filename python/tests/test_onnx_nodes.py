#!/usr/bin/env python3
"""The node tests of ONNX itself, on one device and sharded on four: each equals what ONNX says, or is one error. Needs the wheels.

test_onnx_nodes.py [--devices] [--every=N] [--table] [--target=cuda] [NAME...], as samples.py says. With --devices each node has the
standard's fields for four devices, with a sharding of each tensor: read, checked and run; completed, written and read again.
"""

import functools
import itertools
import tempfile
from pathlib import Path

import numpy as np
import onnx
import samples
from onnx import numpy_helper

import shardkit
from shardkit.onnx.constants import fold_constants
from shardkit.onnx.devices.rules import find_loops

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


AXES = {"a": 0, "b": 1}  # of four devices in two rows


def annotate(model):
    """Shards each tensor of each node along both axes: by the loops of the op where the checker has a rule, else from the first dim on or
    from the last. Dims are divided or not."""
    model.ir_version = max(model.ir_version, 11)
    model.configuration.add(name="four", num_devices=4)
    try:
        inferred = fold_constants(onnx.ModelProto.FromString(model.SerializeToString())).graph
    except onnx.shape_inference.InferenceError:  # the importer reports it
        return
    shapes = {i.name: list(i.dims) for i in inferred.initializer}
    for v in [*inferred.input, *inferred.value_info, *inferred.output]:
        if v.type.HasField("tensor_type") and v.type.tensor_type.HasField("shape"):
            sizes = [d.dim_value for d in v.type.tensor_type.shape.dim]
            shapes |= {v.name: sizes} if all(sizes) else {}
    for node in model.graph.node:
        if any(name not in shapes for name in filter(None, node.input)):
            continue
        loops, specs = find_loops(node, shapes), {}
        if loops:
            sizes = {}
            for k, names in loops.inputs.items():
                sizes |= {n: max(size, sizes.get(n, 1)) for n, size in zip(names, shapes[node.input[k]])}
            split = [n for n, size in sizes.items() if size > 1]
            axes = dict(zip([*split[:1], *split[1:][-1:]], AXES))
            for k, names in loops.inputs.items():
                specs[node.input[k]] = {d: axes[n] for d, n in enumerate(names) if n in axes and shapes[node.input[k]][d] > 1}
        for k, name in enumerate(filter(None, [*node.input, *node.output])):
            if name in shapes and name not in specs:
                dims = [d for d, size in enumerate(shapes[name]) if size > 1]
                specs[name] = dict(zip(dims if k % 2 else reversed(dims), AXES))
        entry = node.device_configurations.add(configuration_id="four")
        entry.sharding_spec.extend(make_spec(name, dims) for name, dims in specs.items())


def make_spec(name, dims):
    spec = onnx.ShardingSpecProto(tensor_name=name)
    devices = np.arange(4).reshape(2, 2)
    for d in dims:
        spec.sharded_dim.add(axis=d).simple_sharding.add(num_shards=2)
    for number, index in enumerate(itertools.product(range(2), repeat=len(dims)), 1):
        at = {AXES[axis]: i for axis, i in zip(dims.values(), index)}
        group = devices[tuple(at.get(k, slice(None)) for k in range(2))].ravel().tolist()
        spec.device.append(group[0] if len(group) == 1 else -number)
        if len(group) > 1:
            spec.index_to_device_group_map.add(key=-number, value=group)
    return spec


def remove_fields(model):
    for node in model.graph.node:
        del node.device_configurations[:]
    del model.configuration[:]
    return model.SerializeToString()


def find_unstable(path):
    """What is not as it was, where annotations of the inputs of every second node are completed, and complete ones are read again."""
    model = onnx.load(path)
    for k, node in enumerate(model.graph.node):
        specs = node.device_configurations[0].sharding_spec if node.device_configurations else []
        for spec in [s for s in specs if k % 2 or s.tensor_name not in node.input]:
            specs.remove(spec)
    partial, complete = path.with_name("partial.onnx"), path.with_name("complete.onnx")
    partial.write_bytes(model.SerializeToString())
    plan = shardkit.plan_onnx(partial, complete="propagation")
    plan.save(complete)
    if remove_fields(onnx.load(complete)) != remove_fields(onnx.load(path)):
        return "more than the fields differs"
    again = shardkit.plan_onnx(complete, complete="propagation")
    return "" if again.serialize() == plan.serialize() else f"written again, it differs: {again.specs}"


def run_devices(path, given, expected, options, may_fail):
    kind, why = samples.check(lambda: shardkit.import_onnx(path), given, expected, options, turns=(), may_fail=may_fail)
    if kind == "refused":
        model = onnx.load(path)
        remove_fields(model)
        onnx.save(model, path)
        plain, _ = samples.check(lambda: shardkit.import_onnx(path), given, expected, options, turns=(), may_fail=may_fail)
        return (kind, why) if plain == "refused" else ("wrong", f"refused with the fields alone: {why}")
    if kind == "equal" and (unstable := find_unstable(path)):
        return "wrong", unstable
    return kind, why


def run(task):
    case, options, has_devices = task
    inputs, outputs = case.data_sets[0]
    arrays = [np.asarray(x) if isinstance(x, (np.ndarray, np.generic)) else None for x in [*inputs, *outputs]]
    if any(x is None or x.dtype.kind not in "fiub" for x in arrays):
        return case.name, "left out", "no tensors of numbers"
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "model.onnx")
        proto = onnx.ModelProto()
        proto.CopyFrom(case.model)
        given = fold(proto, arrays[: len(inputs)])
        if has_devices:
            annotate(proto)
        onnx.save(proto, path)

        def may_fail(message):
            return case.name in UNFINISHED or "has a size that is neither known" in message

        check = run_devices if has_devices else functools.partial(samples.check, lambda: shardkit.import_onnx(path), turns=(0,))
        arguments = (path, given) if has_devices else (given,)
        kind, why = check(*arguments, arrays[len(inputs) :], options, may_fail=may_fail)
        return case.name, kind, why.replace(f"{folder}/", "")


def main():
    args = samples.read_arguments(__doc__, "--devices")
    with np.errstate(all="ignore"):
        from onnx.backend.test.case.node import collect_testcases

        cases = collect_testcases(None)
    cases = [c for c in cases if c.name in args.names] if args.names else cases[:: args.every]
    tasks = [(c, [f"--target={args.target}"], args.devices) for c in cases]
    what = "nodes of ONNX {} with fields for several devices" if args.devices else "nodes of ONNX {}"
    samples.run_all(what.format(onnx.__version__), run, tasks, args)


if __name__ == "__main__":
    main()
