"""What shard-run --calibrate measured on threads, in DIR, and fits of known times."""

import sys
from pathlib import Path

import shardkit
from shardkit import calibration

directory = Path(sys.argv[1])
AXES = {"x": 2, "one": 1, "y": 2}


def expect_error(message, call, *args, **kwargs):
    try:
        call(*args, **kwargs)
    except shardkit.ShardKitError as error:
        assert message in str(error), error
    else:
        raise AssertionError(f"no error, expected {message}")


def check_fit():
    """Times by the formulas, with other costs of each axis, are found again."""
    functions = calibration._Functions(AXES, [1 << 10, 1 << 14, 1 << 20], "f32")
    weights = functions.price()
    costs = {"x": (3e-6, 2e-10), "y": (5e-5, 7e-10)}
    overhead = 1e-4
    seconds = {name: overhead + 2 * m * k * n / 5e9 for (m, k, n), name in functions.products}
    seconds |= {"step": overhead} | {name: overhead + 8 * elements / 3e9 for elements, name in functions.copies}
    for kind, axis, size, name in functions.collectives:
        latencies, transferred = weights[f"{name}_1"]
        assert abs(latencies - 1) < 1e-9, (kind, latencies)
        # Of 2 devices each receives half of the tensor, in an all-reduce twice.
        assert abs(transferred - size / 2 * (2 if kind == "all_reduce" else 1)) < 1e-6 * size, (kind, size, transferred)
        once = costs[axis][0] * latencies + costs[axis][1] * transferred
        seconds[f"{name}_1"], seconds[f"{name}_5"] = overhead + once, overhead + 5 * once
    found = functions.fit(weights, seconds)
    for axis, (alpha, beta) in costs.items():
        assert abs(found.alpha[axis] / alpha - 1) < 1e-3 and abs(found.beta[axis] / beta - 1) < 1e-3, found
    # Products of 3 ms and collectives of 1 and 2 ms together: half of these passes.
    for name, alone in (("pair_x", 1e-3), ("pair_y", 2e-3)):
        parts = zip(calibration._PARTS, (3e-3, alone, 3e-3 + alone / 2))
        seconds |= {f"{name}_{part}": overhead + time for part, time in parts}
    assert found.overlap is None and functions.fit(weights, seconds).overlap == 0.5, functions.fit(weights, seconds)
    assert abs(found.flops / 5e9 - 1) < 1e-3 and abs(found.bandwidth / 3e9 - 1) < 1e-3 and found.get_error() < 1e-3 and found.overhead == overhead
    # Pairs that took less than an empty step, which was disturbed, are measured all the same.
    hidden = functions.fit(weights, seconds | {"step": 1.0}).overlap
    assert hidden is not None and 0 <= hidden <= 1, hidden
    # Costs are positive, whatever was measured.
    for times in ([1e-6, 2e-6], [2e-6, 1e-6], [1e-6, 1e-6]):
        alpha, beta = calibration._solve(calibration.np.array([[1.0, 1e3], [1.0, 1e6]]), calibration.np.array(times))
        assert alpha > 0 and beta > 0, (alpha, beta)


def check_measured():
    text = (directory / "report").read_text()
    assert text.startswith('spmd.mesh @mesh = <["x"=2, "one"=1, "y"=2]> {alpha = [') and "all_to_all: median error" in text, text
    found = shardkit.Calibration.load(directory / "costs.json")
    assert found.axes == AXES and found.flops > 1e6 and found.bandwidth > 1e6 and all(found.alpha[a] > 0 and found.beta[a] > 0 for a in AXES), found
    assert found.get_error() > 0, found
    assert 0 <= found.overlap <= 1 and f"hidden by compute: {100 * found.overlap:.0f} % of collectives" in text, (found, text)
    assert text.count(" GFLOP/s per device") == len(calibration.PRODUCTS) and text.count(" GB/s per device") == len(calibration.COPIES)


check_fit()
check_measured()
expect_error("dtype is 'f8', expected f32, bf16, f16 or f64", shardkit.calibrate, AXES, dtype="f8")
expect_error("sizes is [0], expected numbers of bytes", shardkit.calibrate, AXES, sizes=[0])
expect_error("repeats is 0, expected a positive number", shardkit.calibrate, AXES, repeats=0)
expect_error("No such file", shardkit.Calibration.load, directory / "absent.json")
(directory / "empty.json").write_text('{"version": 1, "meshes": []}')
expect_error("has no mesh with measured costs", shardkit.Calibration.load, directory / "empty.json")
