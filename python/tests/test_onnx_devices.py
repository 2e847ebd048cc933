#!/usr/bin/env python3
"""ONNX's standard fields for several devices: read, checked rule by rule, completed and written. Needs the wheels."""

import contextlib
import io
import re
import tempfile
import warnings
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

import shardkit
from samples import find_wrong_error, run_tests
from shardkit import cli
from shardkit.planning import cli as plan_cli
from shardkit.planning import search

RNG = np.random.default_rng(2)
ROWS = {-1: [0, 1], -2: [2, 3]}
COLUMNS = {-1: [0, 2], -2: [1, 3]}


def normal(*shape):
    return RNG.standard_normal(shape).astype(np.float32)


def value(name, shape, kind=TensorProto.FLOAT):
    return helper.make_tensor_value_info(name, kind, shape)


def spec(tensor, devices, dims=None, groups=None):
    """`dims`: from an axis to num_shards, or to a list of (dim_value, dim_param or None, num_shards)."""
    proto = onnx.ShardingSpecProto(tensor_name=tensor, device=devices)
    for key, members in (groups or {}).items():
        proto.index_to_device_group_map.add(key=key, value=members)
    for axis, parts in (dims or {}).items():
        dim = proto.sharded_dim.add(axis=axis)
        for size, shards in parts if isinstance(parts, list) else [(None, parts)]:
            dim.simple_sharding.add(num_shards=shards, **({} if size is None else {"dim_param" if isinstance(size, str) else "dim_value": size}))
    return proto


def node(op_type, inputs, outputs, *specs, stage=None, configuration="c", name="n", **attributes):
    made = helper.make_node(op_type, inputs, outputs, name=name, **attributes)
    if specs or stage is not None:
        made.device_configurations.add(configuration_id=configuration, sharding_spec=specs, pipeline_stage=stage)
    return made


def make(nodes, inputs, outputs, constants=None, devices=4, version=11, configurations=("c",), opset=18, functions=()):
    graph = helper.make_graph(nodes, "g", inputs, outputs, [numpy_helper.from_array(v, n) for n, v in (constants or {}).items()])
    opsets = [helper.make_opsetid("", opset), helper.make_opsetid("own", 1)]
    model = helper.make_model(graph, opset_imports=opsets, ir_version=version, functions=functions)
    for name in configurations:
        model.configuration.add(name=name, num_devices=devices)
    return model


def write(model):
    path = Path(tempfile.mkdtemp(), "model.onnx")
    path.write_bytes(model.SerializeToString())
    return path


def load(model, **options):
    """The imported model, and what was noted."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        imported = shardkit.import_onnx(write(model), **options)
    return imported, [str(w.message) for w in caught]


def add(*specs, shapes=((4, 8), (4, 8)), **options):
    return make([node("Add", ["a", "b"], ["y"], *specs)], [value(n, s) for n, s in zip("ab", shapes)], [value("y", np.broadcast_shapes(*shapes))], **options)


def find_shardings(model, name):
    attribute = r"spmd\.sharding = #spmd\.sharding<@mesh, (\[[^<>]*?\])>"
    return [a or b for a, b in re.findall(rf'spmd\.name = "{name}", {attribute}|{attribute}, spmd\.weight = "{name}"', model.text)]


def check_refused(model, expected, **options):
    path = write(model)
    problem = find_wrong_error(lambda: shardkit.import_onnx(path, **options), expected)
    assert problem is None, problem
    with contextlib.redirect_stderr(io.StringIO()) as told:
        assert cli.main(["onnx", str(path), "-o", str(path.parent / "out")]) == 1 or options
    assert told.getvalue().count("error: ") == 1 or options, told.getvalue()


def check_runs(model, inputs, expected, **options):
    imported, notes = load(model, **options)
    found = imported.run(*inputs)[0]
    assert np.allclose(found, expected, atol=1e-4), np.abs(found - expected).max()
    return imported, notes


# --- reading ----------------------------------------------------------------------------------------------


def test_shardings():
    """The examples of the standard, each with the sharding that it is."""
    cases = [
        (spec("a", [0, 1, 2, 3], {0: 4}), "{0: x=4}", '[{"x"}, {}]'),
        (spec("a", [0, 1, 2, 3], {0: 2, 1: 2}), "rows and columns", '[{"x"}, {"y"}]'),
        (spec("a", [0, 1, 2, 3], {1: 2, 0: 2}), "the first entry varies slowest", '[{"y"}, {"x"}]'),
        (spec("a", [-1], {}, {-1: [0, 1, 2, 3]}), "replicated", "[{}, {}]"),
        (spec("a", [0, 1, 2, 3]), "replicated without a group", "[{}, {}]"),
        (spec("a", [-1, -2], {0: 2}, ROWS), "rows", '[{"x"}, {}]'),
        (spec("a", [-1, -2], {-1: 2}, COLUMNS), "columns, a dim from the back", '[{}, {"y"}]'),
        (spec("a", [7, 5], {1: 2}, {7: [0, 1], 5: [2, 3]}), "groups of any number", '[{}, {"x"}]'),
        (spec("a", [0, 2, 1, 3], {0: 4}), "columns first", '[{"y", "x"}, {}]'),
        (spec("a", [0, 1, 2, 3], {1: [(2, 1), (4, 4)]}), "strided", '[{}, {2, "x"}]'),
        (spec("a", [0, 1, 2, 3], {1: [(4, 2), (None, 2)]}), "strided twice", '[{}, {"x", 2, "y"}]'),
        (spec("a", [], {0: 4}), "the devices in order", '[{"x"}, {}]'),
    ]  # fmt: skip
    a, b = normal(4, 8), normal(4, 8)
    for proto, what, expected in cases:
        model, _ = load(add(proto))
        assert find_shardings(model, "a") == [expected], (what, find_shardings(model, "a"))
    for proto, *_ in cases[2::3]:
        check_runs(add(proto), (a, b), a + b)


def test_device_order():
    """A ring has no order of its own: the mesh has the devices as the spec lists them."""
    a, b = normal(4, 8), normal(4, 8)
    model, _ = check_runs(add(spec("a", [0, 1, 3, 2], {0: 4}), spec("b", [0, 1, 3, 2], {0: 4})), (a, b), a + b)
    assert 'spmd.mesh @mesh = <["x"=4], device_ids=[0, 1, 3, 2]>' in model.text, model.text
    check_refused(
        make(
            [node("Neg", ["a"], ["b"], spec("a", [0, 1, 3, 2], {0: 4})), node("Neg", ["b"], ["y"], spec("b", [0, 2, 1, 3], {0: 2, 1: 2}), spec("y", [0, 3, 1, 2], {0: 4}))],
            [value("a", [4, 8])], [value("y", [4, 8])],
        ),  # fmt: skip
        r'node Neg "n", tensor \w: its devices are not rows, columns or blocks of one grid with those of the specs before it \(of 4 devices\)',
    )


def test_some_devices():
    """What the fields say of devices that hold less is noted: they hold what others do."""
    model, notes = load(add(spec("a", [0, 1], {0: 2}), spec("b", [0, 1], {0: 2})))
    assert 'spmd.mesh @mesh = <["x"=2]>' in model.text and any("no spec lists devices 2, 3" in n for n in notes), notes
    chain = [node("Neg", ["a"], ["b"], spec("a", [2, 3], {0: 2})), node("Neg", ["b"], ["y"], spec("b", [0, 1, 2, 3], {1: 4}))]
    a = normal(4, 8)
    _, notes = check_runs(make(chain, [value("a", [4, 8])], [value("y", [4, 8])]), (a,), a)
    assert notes == ['node Neg "n", tensor a is on devices 2, 3 alone: devices 0, 1 hold shards of it too'], notes


def test_reshards():
    """A tensor that is read otherwise than it is made, by one node and by another."""
    rows, columns = lambda t: spec(t, [0, 1, 2, 3], {0: 4}), lambda t: spec(t, [0, 1, 2, 3], {1: 4})
    nodes = [
        node("MatMul", ["x", "w"], ["h"], rows("x"), rows("h")), node("Relu", ["h"], ["r"], columns("h"), columns("r")),
        node("Neg", ["h"], ["s"], rows("h")), node("Add", ["r", "s"], ["y"]),
    ]  # fmt: skip
    x, w = normal(8, 16), normal(16, 12)
    h = x @ w
    model, _ = check_runs(make(nodes, [value("x", [8, 16])], [value("y", [8, 12])], {"w": w}), (x,), np.maximum(h, 0) - h)
    constraints = re.findall(r"with_sharding_constraint (%\S+) <@mesh, (\[.*?\])>", model.text)
    assert [c for _, c in constraints] == ['[{"x"}, {}]', '[{}, {"x"}]', '[{}, {"x"}]'], constraints


def test_weights_and_constants():
    """A weight takes the spec of the first node that reads it; another that reads it otherwise has its own."""
    nodes = [
        node("MatMul", ["x", "w"], ["h"], spec("w", [0, 1, 2, 3], {1: 4})), node("MatMul", ["h", "w"], ["k"], spec("w", [0, 1, 2, 3], {0: 4})),
        node("Reshape", ["k", "shape"], ["y"], spec("shape", [-1], {}, {-1: [0, 1, 2, 3]})),
    ]  # fmt: skip
    x, w = normal(8, 16), normal(16, 16)
    model, notes = check_runs(make(nodes, [value("x", [8, 16])], [value("y", [128])], {"w": w, "shape": np.int64([-1])}), (x,), (x @ w @ w).ravel())
    assert find_shardings(model, "w") == ['[{}, {"x"}]'] and '<@mesh, [{"x"}, {}]>' in model.text and not notes, (model.text, notes)
    table = make([node("Gather", ["t", "i"], ["y"], spec("t", [0, 1, 2, 3], {0: 4}))], [value("i", [3], TensorProto.INT64)], [value("y", [3, 2], TensorProto.INT64)], {"t": np.arange(16).reshape(8, 2)})
    assert load(table)[1] == ['node Gather "n", tensor t: the spec is not taken over, as it is a constant of the program']


def test_nested():
    """What is annotated in functions is listed."""
    body = helper.make_function("own", "Twice", ["v"], ["w"], [node("Neg", ["v"], ["u"]), node("Add", ["u", "u"], ["w"], spec("u", [0, 1, 2, 3], {0: 4}))], [helper.make_opsetid("", 18)])
    call = helper.make_node("Twice", ["a"], ["y"], name="t", domain="own")
    call.device_configurations.add(configuration_id="c", sharding_spec=[spec("a", [0, 1, 2, 3], {0: 4}), spec("y", [0, 1, 2, 3], {1: 4})])
    a = normal(4, 8)
    model, notes = check_runs(make([call], [value("a", [4, 8])], [value("y", [4, 8])], functions=[body]), (a,), -2 * a)
    assert any('node Add "n" in function Twice is annotated' in n for n in notes), notes
    assert any('node Twice "t", tensor a: the spec is not taken over, as the node was inlined' in n for n in notes), notes
    assert find_shardings(model, "y") == ['[{}, {"x"}]'], model.text


def test_configurations():
    """Several in a model: one is chosen, all are checked."""
    model = add(spec("a", [0, 1, 2, 3], {0: 4}), configurations=("c", "d"))
    model.graph.node[0].device_configurations.add(configuration_id="d", sharding_spec=[spec("a", [0, 1, 2, 3], {1: 4})])
    assert find_shardings(load(model, configuration="d")[0], "a") == ['[{}, {"x"}]']
    problem = find_wrong_error(lambda: load(model), r"the model has 2 device configurations, expected the name of one \(--configuration\): c, d$")
    assert problem is None, problem
    problem = find_wrong_error(lambda: load(model, configuration="e"), r"no device configuration 'e', expected one of: c, d$")
    assert problem is None, problem
    model.graph.node[0].device_configurations[1].sharding_spec[0].device[0] = 9
    check_refused(model, "device 9, expected a device of the configuration", configuration="c")
    only = add(configurations=("c", "unused"))
    only.graph.node[0].device_configurations.add(configuration_id="c", sharding_spec=[spec("a", [0, 1, 2, 3], {0: 4})])
    assert find_shardings(load(only)[0], "a") == ['[{"x"}, {}]']


def test_symbols():
    """Symbolic dims have a size to import them; a spec may name them."""
    model = make([node("Neg", ["a"], ["y"], spec("a", [0, 1, 2, 3], {0: [("N", 4)]}))], [value("a", ["N", 8])], [value("y", ["N", 8])])
    a = normal(4, 8)
    check_runs(model, (a,), -a, sizes={"N": 4})
    check_refused(model, r"simple_sharding|unknown size N in dim 0, expected a number: --size N=8")
    for sizes, expected in (({"M": 4}, "sizes has 'M', expected a symbolic dim of the model: N$"), ({"N": 0}, "sizes has N = 0, expected a positive number")):
        problem = find_wrong_error(lambda sizes=sizes: load(model, sizes=sizes), expected)
        assert problem is None, problem
    model.graph.node[0].device_configurations[0].sharding_spec[0].sharded_dim[0].simple_sharding[0].dim_param = "K"
    problem = find_wrong_error(lambda: load(model, sizes={"N": 4}), r"dim 0 has dim_param 'K', expected a symbol with a size \(--size\): N$")
    assert problem is None, problem


def test_stages():
    """Stages on devices of their own, and on the same; a node without one runs where its operands are made."""

    def build(devices, second, numbers=(0, 3)):
        nodes = [
            node("MatMul", ["x", "w"], ["h"], spec("w", [0, 1], {1: 2}), stage=numbers[0], name="up"), node("Tanh", ["h"], ["t"]),
            node("MatMul", ["t", "v"], ["y"], spec("v", second, {0: 2}), stage=numbers[1], name="down"),
        ]  # fmt: skip
        return make(nodes, [value("x", [8, 16])], [value("y", [8, 12])], {"w": w, "v": v}, devices)

    x, w, v = normal(8, 16), normal(16, 32), normal(32, 12)
    expected = np.tanh(x @ w) @ v
    model, notes = load(build(4, [2, 3]), batch=["x"])
    assert '<["stage"=2, "x"=2]>' in model.text and model.text.count("stage_boundary") == 1 and not notes, (model.text, notes)
    found = model.run(x, options=["--pipeline=microbatches=4 schedule=inference"])[0]
    assert np.allclose(found, expected, atol=1e-4)
    _, notes = check_runs(build(4, [2, 3]), (x,), expected)
    assert notes == ["pipeline stages are left out, expected batch (--batch): inputs that microbatches split, or none"], notes
    _, notes = check_runs(build(2, [0, 1]), (x,), expected)
    assert any("the pipeline stages have no devices of their own" in n for n in notes), notes
    uneven = build(4, [2, 3])
    uneven.graph.node[2].device_configurations[0].sharding_spec[0].CopyFrom(spec("v", [2]))
    check_refused(uneven, "the pipeline stages of configuration c have 2, 1 devices of their own, expected as many in each")
    check_refused(build(4, [2, 3], (3, 0)), r'node MatMul "down", tensor t is made in pipeline stage 3 \(node Tanh "n"\) and read in stage 0, expected a stage from 3')
    check_refused(build(4, [2, 3], (0, -1)), "pipeline stage -1, expected a number from 0")
    problem = find_wrong_error(lambda: load(build(4, [2, 3]), batch=["w"]), "batch names 'w', expected inputs: x$")
    assert problem is None, problem


# --- the checker ------------------------------------------------------------------------------------------


def test_form():
    """Each rule of the form of the fields, by what breaks it."""
    good = lambda t="a": spec(t, [0, 1, 2, 3], {0: 4})
    two = add(good())
    two.graph.node[0].device_configurations.add(configuration_id="c")
    names = add(good())
    names.configuration[0].device.extend(["cpu:0"])
    both = add(good())
    both.configuration.add(name="c", num_devices=4)
    unnamed, unsaid = add(good()), add(good())
    unnamed.configuration.add(num_devices=4)
    unsaid.graph.node[0].device_configurations[0].ClearField("configuration_id")
    no_axis, no_shards, no_parts = spec("a", [0, 1], {0: 2}), spec("a", [0, 1], {0: 2}), spec("a", [0, 1], {0: 2})
    no_axis.sharded_dim[0].ClearField("axis")
    no_shards.sharded_dim[0].simple_sharding[0].ClearField("num_shards")
    no_parts.sharded_dim[0].ClearField("simple_sharding")
    again = spec("a", [-1, -2], {0: 2}, ROWS)
    again.index_to_device_group_map.add(key=-1, value=[0])
    ort = add(good())
    ort.graph.node[0].domain, ort.graph.node[0].op_type = "com.microsoft", "DistributedAdd"
    for name, texts in (("shard_specs", ["RR"]), ("device_mesh_shapes", ["[1]"]), ("device_mesh_elements", ["[0]"])):
        for side, count in (("input", 2), ("output", 1)):
            ort.graph.node[0].attribute.append(helper.make_attribute(f"{side}_{name}", texts * count))
    where = 'node Add "n", tensor a'
    cases = [
        (add(good(), version=10), "IR version 10 and fields for several devices, expected IR version 11 or later"),
        (add(version=8), "IR version 8 and fields for several devices"),
        (add(good(), devices=0), "device configuration 'c' has num_devices 0, expected at least 1"),
        (names, "'c' names 1 devices, expected num_devices = 4 names, or none"),
        (both, "two device configurations are called 'c'"),
        (unnamed, "device configuration 1 has no name"),
        (add(good(), configurations=()), "names device configuration 'c', expected one of the model: it has none"),
        (add(good(), configurations=("d",)), "names device configuration 'c', expected one of the model: d"),
        (unsaid, "is annotated without a configuration_id, expected one of the model: c"),
        (two, 'node Add "n" is annotated twice for configuration c'),
        (add(good("z")), "has a sharding spec of tensor 'z', expected one that it reads or makes: a, b, y"),
        (add(good("")), "has a sharding spec without a tensor_name, expected one that it reads or makes: a, b, y"),
        (add(good(), good()), "has two sharding specs of tensor a"),
        (add(spec("a", [0, 4], {0: 2})), rf"{where}: device 4, expected a device of the configuration \(0 to 3\), or a group"),
        (add(spec("a", [0, -1], {0: 2})), rf"{where}: device -1, expected a device of the configuration \(0 to 3\), or a group that index_to_device_group_map lists"),
        (add(spec("a", [-1, -3], {0: 2}, {-1: [0, 1]})), rf"{where}: device -3, expected .*, or a group of index_to_device_group_map \(-1\)"),
        (add(spec("a", [0, 1], {0: 2}, {-1: [2, 3]})), f"{where}: index_to_device_group_map has group -1, which device does not list, expected one of: 0, 1"),
        (add(spec("a", [-1, -2], {0: 2}, {-1: [0, 5], -2: [1]})), f"{where}: device group -1 has device 5, expected a device"),
        (add(spec("a", [-1, -2], {0: 2}, {-1: [], -2: [1]})), f"{where}: device group -1 is empty"),
        (add(spec("a", [-1, -2], {0: 2}, {-1: [0, 0], -2: [1, 2]})), f"{where}: device group -1 has device 0 twice"),
        (add(again), f"{where}: device group -1 is listed twice in index_to_device_group_map"),
        (add(spec("a", [-1, -2], {0: 2}, {-1: [0, 1], -2: [1, 2]})), f"{where}: device 1 is listed twice, expected one shard for each device"),
        (add(spec("a", [0, 1, 0, 1], {0: 4})), f"{where}: device 0 is listed twice"),
        (add(spec("a", [0, 1, 2, 3], {0: 2})), rf"{where}: 2 shards \(the product of num_shards\) and 4 devices or device groups, expected as many"),
        (add(spec("a", [0, 1], {0: 2, 1: 2})), rf"{where}: 4 shards \(the product of num_shards\) and 2 devices"),
        (add(spec("a", [], {0: 2})), f"{where}: 2 shards and no device, expected 2 devices or device groups, or num_shards of 4 in all"),
        (add(spec("a", [0, 1], {2: 2})), f"{where}: axis 2 is sharded and the rank is 2, expected a dim from -2 to 1"),
        (add(spec("a", [0, 1], {-3: 2})), f"{where}: axis -3 is sharded and the rank is 2"),
        (add(spec("a", [0, 1], {0: 2}), shapes=((), (4,))), f"{where}: axis 0 is sharded and the rank is 0, expected no sharded_dim for a scalar"),
        (add(spec("a", [0, 1, 2, 3], {1: 2, -1: 2})), f"{where}, dim 1 is sharded by two entries of sharded_dim"),
        (add(no_axis), f"{where}: an entry of sharded_dim has no axis, expected a dim from -2 to 1"),
        (add(no_parts), f"{where}, dim 0 has no simple_sharding"),
        (add(no_shards), f"{where}, dim 0 has no num_shards, expected a number from 1"),
        (add(spec("a", [0, 1], {0: 0})), f"{where}, dim 0 has num_shards 0, expected a number from 1"),
        (add(spec("a", [0, 1], {0: [(5, 2)]})), rf"{where}, dim 0 has size 4 and simple_sharding of 5, expected sizes whose product is 4"),
        (add(spec("a", [0, 1], {1: [(3, 1), (None, 2)]})), rf"{where}, dim 1 has size 8 and simple_sharding of 3 x \?"),
        (add(spec("a", [0, 1], {1: [(None, 1), (None, 2)]})), f"{where}, dim 1 has 2 simple_sharding without dim_value, expected at most one"),
        (add(spec("a", [0, 1, 2], {1: [(4, 3), (2, 1)]})), f"{where}, dim 1 has 3 shards of a simple_sharding of size 4, expected a divisor"),
        (add(spec("a", [0, 1], {0: [(0, 2)]})), f"{where}, dim 0 has dim_value 0, expected a number from 1, or none"),
        (add(spec("a", [-1, 2], {0: 2}, {-1: [0, 1]})), f"{where}: its devices are not rows, columns or blocks of a grid of 3 devices"),
        (ort, "device configurations and Distributed nodes of com.microsoft, expected one of both"),
    ]  # fmt: skip
    for model, expected in cases:
        check_refused(model, expected)
    # Sizes that shape inference does not find.
    nodes = lambda proto: [node("NonZero", ["a"], ["h"], proto), node("ReduceSum", ["h"], ["y"], name="sum", keepdims=0)]
    unknown = lambda proto: make(nodes(proto), [value("a", [4, 8])], [value("y", (), TensorProto.INT64)])
    check_refused(unknown(spec("h", [0, 1, 2, 3], {1: [(2, 1), (4, 4)]})), 'node NonZero "n", tensor h, dim 1 has no known size and 2 simple_sharding, expected a known size')
    check_refused(unknown(spec("h", [0, 1, 2, 3], {1: 4})), r"tensor h is annotated and has sizes \[2, \S+\], expected those that shape inference finds")
    sequence = [node("SequenceConstruct", ["a", "b"], ["h"], spec("h", [0, 1, 2, 3], {0: 4})), node("SequenceAt", ["h", "k"], ["y"], name="at")]
    check_refused(
        make(sequence, [value("a", [4, 8]), value("b", [4, 8])], [value("y", [4, 8])], {"k": np.int64(0)}),
        'node SequenceConstruct "n", tensor h has a sharding spec and no shape, expected a tensor whose shape is known',
    )
    path = write(add(spec("a", [0, 1, 2, 3, 4, 5], {0: 2, 1: 3}), shapes=((4, 9), (4, 9)), devices=6))
    problem = find_wrong_error(lambda: shardkit.plan_onnx(path, mesh={"x": 3, "y": 2}), 'node Add "n", tensor a: its devices are not rows, columns or blocks of the mesh x=3,y=2')
    assert problem is None, problem
    assert shardkit.plan_onnx(path, mesh={"x": 2, "y": 3}, complete="propagation").mesh == {"x": 2, "y": 3}


def test_rules():
    """Each rule of ShardingFormalism: specs that fit, which run, and specs that do not."""
    four = [0, 1, 2, 3]
    rows, columns, all_of = lambda t, d=0: spec(t, [-1, -2], {d: 2}, ROWS), lambda t, d=0: spec(t, [-1, -2], {d: 2}, COLUMNS), lambda t: spec(t, [-1], {}, {-1: four})
    a, b, row, column = normal(4, 8), normal(4, 8), normal(1, 8), normal(4, 1)
    m, n, batch = normal(8, 12), normal(12), normal(2, 4, 8)
    whole, short = RNG.integers(0, 4, (4, 8)).astype(np.uint8), RNG.integers(0, 4, (8, 12)).astype(np.uint8)
    one, zero, product = np.float32(1), np.uint8(0), (whole.astype(np.int32) @ short.astype(np.int32)).astype(np.uint8)

    def op(op_type, arrays, specs, expected, **attributes):
        names = "abcdefgh"[: len(arrays)]
        model = make([node(op_type, list(names), ["y"], *specs, **attributes)], [value(k, v.shape) for k, v in zip(names, arrays)], [value("y", expected.shape)])
        return model, arrays, expected

    positive = [
        op("Tanh", [a], [rows("a", 1)], np.tanh(a)),  # unary: any
        op("Add", [a, b], [spec("a", four, {0: 2, 1: 2}), spec("b", four, {0: 2, 1: 2})], a + b),  # alike
        op("Add", [a, row], [spec("a", four, {0: 2, 1: 2}), columns("b", 1)], a + row),  # a broadcast dim, on all devices
        op("Mul", [a, n[:8]], [rows("a"), all_of("b")], a * n[:8]),  # a dim that is missing
        op("Sub", [column, row], [rows("a"), columns("b", 1)], column - row),  # two broadcast dims, composed
        op("Where", [a > 0, a, row], [rows("a"), rows("b"), all_of("c")], np.where(a > 0, a, row)),
        op("Sum", [a, b, column], [rows("a"), rows("b"), rows("c")], a + b + column),
        op("ReduceSum", [a], [spec("a", four, {0: 2, 1: 2})], a.sum(keepdims=True)),  # reductions: any
        op("MatMul", [a, m], [rows("a"), columns("b", 1)], a @ m),  # rows of the one, columns of the other
        op("MatMul", [a, m], [spec("a", four, {1: 4}), spec("b", four, {0: 4})], a @ m),  # the reduced dim
        op("MatMul", [batch, m], [rows("a"), columns("b")][:1] + [all_of("b")], batch @ m),
        op("Gemm", [a, m.T.copy(), n], [rows("a"), columns("b"), columns("c")], a @ m + n, transB=1),
        op("Einsum", [a, m], [spec("a", four, {1: 4}), spec("b", four, {0: 4})], a @ m, equation="ik,kj->ij"),
        op("MatMul", [batch, m[None]], [spec("a", four, {1: 2, 2: 2}), spec("b", [-1, -2], {1: 2}, COLUMNS)], batch @ m),  # a batch that is broadcast
        op("MatMul", [a, m[:, 0].copy()], [spec("a", four, {1: 4}), spec("b", four, {0: 4})], a @ m[:, 0]),  # a vector
        op("Gemm", [a.T.copy(), m], [columns("a"), spec("b", [-1, -2], {0: 2}, COLUMNS)], a @ m, transA=1),
        op("MatMulInteger", [whole, short], [rows("a"), columns("b", 1)], (whole.astype(np.int32) @ short.astype(np.int32))),
        op("QLinearMatMul", [whole, one, zero, short, one, zero, one, zero], [rows("a"), columns("d", 1)], product),
    ]  # fmt: skip
    for model, arrays, expected in positive[-2:]:
        for proto, array in zip([*model.graph.input, *model.graph.output], [*arrays, expected]):
            proto.type.tensor_type.elem_type = helper.np_dtype_to_tensor_dtype(array.dtype)
    positive[5][0].graph.input[0].type.tensor_type.elem_type = TensorProto.BOOL
    for model, inputs, expected in positive:
        check_runs(model, inputs, expected)
    negative = [
        (op("Add", [a, b], [rows("a"), rows("b", 1)], a), 'node Add "n", tensor b, dim 0 is unsharded, and dim 0 of a is in 2 shards, expected the same for both'),
        (op("Add", [a, b], [spec("a", four, {0: 4}), rows("b")], a), "tensor b, dim 0 is in 2 shards, and dim 0 of a is in 4 shards"),
        (op("Add", [a, n[:8]], [rows("a"), rows("b")], a), "tensor b, dim 0 is in 2 shards, and dim 1 of a is unsharded"),
        (op("Add", [a, b], [spec("a", four, {1: [(2, 1), (4, 4)]}), spec("b", four, {1: 4})], a), "tensor b, dim 1 is in 4 shards, and dim 1 of a is in 1 shards of size 2 x 4 shards of size 4"),
        (op("Add", [a, row], [rows("a"), rows("b")], a), "tensor b, dim 0 is in 2 shards, expected unsharded: it has size 1 and is broadcast"),
        (op("Add", [a, row], [rows("a"), spec("b", [-1], {}, {-1: [0, 1]})], a), "tensor b, dim 0 has size 1 and is broadcast, and the tensor is not on device 2, 3, expected it on all devices of the node: 0, 1, 2, 3"),
        (op("Sub", [column, row], [rows("a"), rows("b", 1)], a), r'node Sub "n", tensor y: shard \[0, :\] of a is on 0, 1 and shard \[:, 1\] of b is on 2, 3, expected device groups that share a device'),
        (op("Where", [a > 0, a, row], [rows("a"), rows("b", 1), all_of("c")], a), 'node Where "n", tensor b, dim 0 is unsharded'),
        (op("MatMul", [a, m], [rows("a", 1), all_of("b")], a @ m), "tensor b, dim 0 is unsharded, and dim 1 of a is in 2 shards"),
        (op("MatMul", [a, m], [rows("a"), rows("b", 1)], a @ m), r"shard \[0, :\] of a is on 0, 1 and shard \[:, 1\] of b is on 2, 3"),
        (op("MatMul", [a, m], [rows("a", 1), spec("b", [-2, -1], {0: 2}, ROWS)], a @ m), r"shard \[:, 0\] of a is on 0, 1 and shard \[0, :\] of b is on 2, 3"),
        (op("Gemm", [a, m.T.copy(), n], [rows("a"), columns("b"), rows("c")], a @ m, transB=1), r"shard \[0, :\] of a is on 0, 1 .* shard \[1\] of c is on 2, 3"),
        (op("Einsum", [a, m], [spec("a", four, {1: 4}), all_of("b")], a @ m, equation="ik,kj->ij"), "tensor b, dim 0 is unsharded, and dim 1 of a is in 4 shards"),
        (op("Sum", [a, b, column], [rows("a"), rows("b"), spec("c", [-2, -1], {0: 2}, ROWS)], a), r"shard \[0, :\] of a is on 0, 1 and .* and shard \[0, :\] of c is on 2, 3, expected device groups"),
        (op("MatMul", [batch, m[None]], [rows("a"), spec("b", [-1, -2], {0: 2}, ROWS)], batch @ m), "tensor b, dim 0 is in 2 shards, expected unsharded: it has size 1 and is broadcast"),
        (op("MatMul", [a, m[:, 0].copy()], [spec("a", four, {1: 4}), all_of("b")], a @ m[:, 0]), "tensor b, dim 0 is unsharded, and dim 1 of a is in 4 shards"),
        (op("Gemm", [a.T.copy(), m], [columns("a", 1), spec("b", [-1, -2], {0: 2}, COLUMNS)], a @ m, transA=1), "tensor b, dim 0 is in 2 shards, and dim 0 of a is unsharded"),
        (op("MatMulInteger", [whole, short], [rows("a", 1), all_of("b")], a @ m), "tensor b, dim 0 is unsharded, and dim 1 of a is in 2 shards"),
        (op("QLinearMatMul", [whole, one, zero, short, one, zero, one, zero], [rows("a"), rows("d", 1)], product), r"shard \[0, :\] of a is on 0, 1 and shard \[:, 1\] of d is on 2, 3"),
    ]  # fmt: skip
    for (model, arrays, _), _ in negative[-2:]:
        for proto, array in zip([*model.graph.input, *model.graph.output], [*arrays, product]):
            proto.type.tensor_type.elem_type = helper.np_dtype_to_tensor_dtype(array.dtype)
    negative[-2][0][0].graph.output[0].type.tensor_type.elem_type = TensorProto.INT32
    for (model, *_), expected in negative:
        check_refused(model, expected)
    # An input without a spec has that of the node that makes it.
    made = [node("Relu", ["a"], ["h"], rows("h"), name="first"), node("Add", ["h", "b"], ["y"], rows("b"))]
    check_runs(make(made, [value("a", [4, 8]), value("b", [4, 8])], [value("y", [4, 8])]), (a, b), np.maximum(a, 0) + b)
    made = [node("Relu", ["a"], ["h"], rows("h"), name="first"), node("Add", ["h", "b"], ["y"], rows("b", 1))]
    check_refused(make(made, [value("a", [4, 8]), value("b", [4, 8])], [value("y", [4, 8])]), "tensor b, dim 0 is unsharded, and dim 0 of h is in 2 shards")


# --- completing and writing -------------------------------------------------------------------------------


def plan_twice(path, **options):
    """The plan, which is read again: nothing is left to be added."""
    plan = shardkit.plan_onnx(path, **options)
    again = path.with_name("again.onnx")
    plan.save(again)
    second = shardkit.plan_onnx(again, **{k: v for k, v in options.items() if k in ("sizes", "configuration", "complete")})
    assert second.serialize() == plan.serialize(), second.specs
    return plan, again


def find_collectives(text):
    """How often each kind of collective runs, and its bytes: what is read moves what was planned."""
    report = search.describe(text, "--spmd-report=output={}")
    return report[report.index("totals") : report.index("peak")]


def remove_fields(model):
    for each in model.graph.node:
        del each.device_configurations[:]
    del model.configuration[:]
    return model


W, V = normal(16, 32), normal(32, 12)


def perceptron(*specs, **options):
    nodes = [node("MatMul", ["x", "w"], ["h"], *specs, name="up"), node("Tanh", ["h"], ["t"], name="act"), node("MatMul", ["t", "v"], ["y"], name="down")]
    return make(nodes, [value("x", ["N", 16])], [value("y", ["N", 12])], {"w": W, "v": V}, **options)


def test_complete():
    """By propagation and by the search, of what is annotated in part, in a model with symbols; the result imports and runs."""
    x = normal(8, 16)
    path = write(perceptron(spec("w", [-1, -2], {1: 2}, COLUMNS), spec("x", [-1, -2], {0: 2}, ROWS)))
    before = path.read_bytes()
    for complete in ("propagation", "search"):
        plan, written = plan_twice(path, sizes={"N": 8}, complete=complete)
        assert not plan.left_out and plan.mesh == {"x": 2, "y": 2}, (plan.left_out, plan.mesh)
        model = onnx.load(written)
        assert remove_fields(onnx.load(written)).SerializeToString() == remove_fields(onnx.ModelProto.FromString(before)).SerializeToString()
        assert [[s.tensor_name for s in n.device_configurations[0].sharding_spec] for n in model.graph.node] == [["w", "x", "h"], ["h", "t"], ["t", "v", "y"]]
        imported = shardkit.import_onnx(written, sizes={"N": 8})
        assert np.allclose(imported.run(x)[0], np.tanh(x @ W) @ V, atol=1e-4)
        assert find_collectives(search.run(imported.text, "--spmd-propagate")) == find_collectives(plan._text), complete
    assert path.read_bytes() == before


def test_new_configuration():
    """In a model of an older version, with pins; and a second one beside the first."""
    path = write(perceptron(version=8, configurations=()))
    plan, written = plan_twice(path, sizes={"N": 8}, mesh={"data": 2, "model": 4}, pins={"x": ["data", None], "w": [None, "model"]}, configuration="eight")
    model = onnx.load(written)
    assert (model.ir_version, model.configuration[0].name, model.configuration[0].num_devices) == (11, "eight", 8)
    weight = next(s for s in model.graph.node[0].device_configurations[0].sharding_spec if s.tensor_name == "w")
    assert list(weight.device) == [-1, -2, -3, -4] and list(weight.index_to_device_group_map[1].value) == [1, 5], weight
    second = shardkit.plan_onnx(written, sizes={"N": 8}, mesh={"x": 2}, configuration="two")
    second.save(written)
    assert [c.name for c in onnx.load(written).configuration] == ["eight", "two"]
    for options, expected in (
        ({}, "no device configuration, expected a mesh: names and sizes of axes, such as data=2,model=4$"),
        ({"mesh": {"x": 2}, "pins": {"x": ["z", None]}}, "the pin of x names axis 'z', expected one of the mesh: x$"),
        ({"mesh": {"x": 2}, "pins": {"x": "x"}}, "the pin of x is 'x', expected an entry for each dim"),
        ({"mesh": {"x": 2}, "pins": ["x"]}, r"pins is \['x'\], expected an entry for each dim by the names"),
        ({"mesh": {"x": 2}, "sizes": ["N=8"]}, r"sizes is \['N=8'\], expected the sizes of symbolic dims by name"),
        ({"mesh": {"x": 2}, "configuration": 3}, "configuration is 3, expected the name"),
        ({"mesh": {"x": 2}, "memory": "1G"}, "memory is '1G', expected bytes"),
        ({"mesh": {"x": 2}, "complete": "guess"}, "complete is 'guess', expected search or propagation$"),
        ({"mesh": {"x": 2}, "complete": "propagation", "memory": 10}, "propagation takes no memory and no options"),
    ):
        problem = find_wrong_error(lambda options=options: shardkit.plan_onnx(path, **{"sizes": {"N": 8}} | options), expected)
        assert problem is None, problem
    for options, expected in (
        ({"mesh": {"x": 2}, "configuration": "eight"}, "the mesh has 2 devices, expected 8, as device configuration eight$"),
        ({"configuration": "three"}, "no device configuration 'three', expected one of: eight, two; or a mesh"),
        ({}, "the model has 2 device configurations, expected the name of one"),
    ):
        problem = find_wrong_error(lambda options=options: shardkit.plan_onnx(written, sizes={"N": 8}, **options), expected)
        assert problem is None, problem


def test_stages_completed():
    """Nodes get the devices of their stage, and the stage."""
    nodes = [
        node("MatMul", ["x", "w"], ["h"], spec("w", [2, 3], {1: 2}), stage=1, name="up"), node("Tanh", ["h"], ["t"], name="act"),
        node("MatMul", ["t", "v"], ["y"], spec("v", [0, 1], {0: 2}), stage=4, name="down"),
    ]  # fmt: skip
    _, written = plan_twice(write(make(nodes, [value("x", [8, 16])], [value("y", [8, 12])], {"w": W, "v": V})))
    model = onnx.load(written)
    assert [n.device_configurations[0].pipeline_stage for n in model.graph.node] == [1, 1, 4]
    for each, devices in zip(model.graph.node, ([2, 3], [2, 3], [0, 1])):
        for proto in each.device_configurations[0].sharding_spec:
            groups = [d for g in proto.index_to_device_group_map for d in g.value] or list(proto.device)
            assert sorted(groups) == devices, proto
    x = normal(8, 16)
    found = shardkit.import_onnx(written, batch=["x"]).run(x, options=["--pipeline=microbatches=2 schedule=inference"])[0]
    assert np.allclose(found, np.tanh(x @ W) @ V, atol=1e-4)


def test_skipped_stage():
    """A value of the first stage is read in the third, on devices of its own, in another layout."""
    nodes = [
        node("MatMul", ["x", "w"], ["h"], spec("w", [0, 1], {1: 2}), stage=0), node("Tanh", ["h"], ["t"], spec("t", [2, 3], {1: 2}), stage=1),
        node("Add", ["t", "h"], ["s"], spec("h", [4, 5], {0: 2}), stage=2), node("MatMul", ["s", "v"], ["y"], stage=2),
    ]  # fmt: skip
    x = normal(8, 16)
    expected = (np.tanh(x @ W) + x @ W) @ V
    path = write(make(nodes, [value("x", [8, 16])], [value("y", [8, 12])], {"w": W, "v": V}, 6))
    _, written = plan_twice(path)
    for each in (path, written):
        found = shardkit.import_onnx(each, batch=["x"]).run(x, options=["--pipeline=microbatches=4 schedule=inference"])[0]
        assert np.allclose(found, expected, atol=1e-4), np.abs(found - expected).max()


def varint(number):
    return bytes([number]) if number < 128 else bytes([number & 127 | 128]) + varint(number >> 7)


def test_bytes():
    """Fields that no version of ONNX has, in any order, stay where they are; so do external weights."""
    model = perceptron(spec("w", [0, 1, 2, 3], {1: 4}))
    unknown = [varint(500 << 3 | kind) + data for kind, data in ((0, b"\x85\x01"), (1, b"12345678"), (2, b"\x03abc"), (5, b"1234"))]
    unknown.append(varint(501 << 3 | 3) + varint(1 << 3) + b"\x07" + varint(501 << 3 | 4))
    graph = onnx.GraphProto()
    graph.CopyFrom(model.graph)
    first, rest = onnx.GraphProto(node=graph.node[:1]), graph
    del rest.node[:1]
    model.ClearField("graph")
    head = b"".join(unknown) + model.SerializeToString()
    node_data = first.node[0].SerializeToString() + unknown[2]
    first_data = varint(1 << 3 | 2) + varint(len(node_data)) + node_data
    parts = [first_data + unknown[1], unknown[3] + rest.SerializeToString()]
    data = b"".join(varint(7 << 3 | 2) + varint(len(p)) + p for p in parts) + head
    path = Path(tempfile.mkdtemp(), "model.onnx")
    path.write_bytes(data)
    plan, written = plan_twice(path, sizes={"N": 8})
    after = written.read_bytes()
    assert after.endswith(head) and unknown[2] in after and len(plan.specs) == 3
    position, bare = 0, remove_fields(onnx.ModelProto(graph=first)).graph.node[0].SerializeToString()
    for piece in [bare, unknown[2], unknown[1], unknown[3], *(n.SerializeToString() for n in rest.node), *(i.SerializeToString() for i in rest.initializer), head]:
        position = after.index(piece, position) + len(piece)
    large = write(perceptron(configurations=()))
    onnx.save_model(onnx.load(large), large, save_as_external_data=True, location="weights.bin", size_threshold=64)
    weights = large.with_name("weights.bin").read_bytes()
    _, written = plan_twice(large, sizes={"N": 8}, mesh={"x": 4})
    assert large.with_name("weights.bin").read_bytes() == weights
    assert [e.value for e in onnx.load(written, load_external_data=False).graph.initializer[0].external_data][0] == "weights.bin"
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        shardkit.plan_onnx(large, sizes={"N": 8}, mesh={"x": 4}).save(Path(tempfile.mkdtemp(), "elsewhere.onnx"))
    assert any("the model reads weights.bin beside it: copy" in str(w.message) for w in caught)


def test_command():
    path = write(perceptron(configurations=()))
    out = path.with_name("out.onnx")
    for arguments, code, expected in (
        (["--mesh", "data=2,model=2", "--size", "N=8", "--pin", "x=data,", "--report"], 0, "out.onnx: configuration shardkit with 8 more specs of 3 nodes$"),
        (["--mesh", "data=2", "--size", "N=8", "--function", "f"], 1, "model.onnx: error: --function is given for .*model.onnx, expected StableHLO$|^error: --function"),
        (["--mesh", "data=2", "--size", "N"], 1, "error: --size=N, expected the name and the size of a symbolic dim, such as batch=8$"),
        (["--mesh", "data=2"], 1, "unknown size N in dim 0, expected a number: --size N=8"),
    ):
        with contextlib.redirect_stderr(io.StringIO()) as told, contextlib.redirect_stdout(io.StringIO()) as printed:
            assert plan_cli.main([str(path), "-o", str(out), *arguments]) == code, told.getvalue()
        assert re.search(expected, told.getvalue().strip()), told.getvalue()
        assert code or "specs: 8 added to 3 nodes" in printed.getvalue()
    again = path.with_name("again.onnx")
    with contextlib.redirect_stderr(io.StringIO()) as told:
        assert plan_cli.main([str(out), "-o", str(again), "--size", "N=8"]) == 0
        assert cli.main(["onnx", str(out), "-o", str(path.with_name("d")), "--size", "N=8", "--configuration", "shardkit"]) == 0
    assert again.read_bytes() == out.read_bytes() and "with 0 more specs of 0 nodes" in told.getvalue()


if __name__ == "__main__":
    run_tests(globals())
