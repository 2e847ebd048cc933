"""Many small programs of a framework's own tests, each on one device and sharded on four: equal, refused with one error, or wrong."""

import argparse
import functools
import json
import multiprocessing
import os
import re
import sys
import tempfile
import warnings
from collections import Counter, defaultdict
from pathlib import Path

import numpy as np

import shardkit
from shardkit.tools import find_tool, run_tool


def read_arguments(description, *options):
    """--every=N: every Nth of them; names: those; --table: what is not equal, and why; --target=cuda: on GPUs, or on emulated ones
    where SK_CUDA_LIBRARY_PATH has them."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("names", nargs="*")
    for option in options:
        parser.add_argument(option, action="store_true")
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--table", action="store_true")
    parser.add_argument("--target", choices=("cpu", "cuda"), default="cpu")
    warnings.simplefilter("ignore")
    return parser.parse_args()


def is_float(dtype):
    return dtype.kind == "f" or dtype.name.startswith(("bfloat", "float"))


def differs(found, expected):
    """None, or what is not the same."""
    found, expected = np.asarray(found), np.asarray(expected)
    if found.dtype != expected.dtype or found.shape != expected.shape:
        return f"{found.dtype}{found.shape}, expected {expected.dtype}{expected.shape}"
    if expected.dtype.kind == "c":
        found, expected = (v.view(v.real.dtype) if v.ndim else np.array([v.real, v.imag]) for v in map(np.ascontiguousarray, (found, expected)))
    if is_float(expected.dtype):
        is_short = expected.dtype.itemsize <= 2
        found, expected = found.astype(np.float64), expected.astype(np.float64)
        tolerance = least = 2e-2 if is_short else 1e-4
        if is_short:  # sums that devices have parts of are rounded in between
            least *= max(1.0, np.abs(expected[np.isfinite(expected)]).max(initial=0))
        same = np.isclose(found, expected, rtol=tolerance, atol=least, equal_nan=True)
    else:
        same = found == expected
    return None if same.all() else f"{(~same).sum()} of {same.size}: {found[~same][:5]}, expected {expected[~same][:5]}"


def shard(model, turn):
    """A model with each argument on both axes of a mesh of 2 x 2, from the first dim on or from the last, whether or not they
    divide it. `turn`: 0 or 1, which of the arguments begin with the first one."""
    function = re.search(r'func\.func (?:public )?@"?([^("]+)', model.text)[1]  # helpers of the import are private
    rules = []
    for i, argument in enumerate(model.arguments):
        axes, spec = ["a", "b"], [None] * len(argument.shape)
        dims = range(len(argument.shape))
        for d in dims if (i + turn) % 2 == 0 else reversed(dims):
            if axes and argument.shape[d] >= 2:
                spec[d] = axes.pop(0)
        if any(spec):
            rules.append({"function": function, "argument": argument.name, "axis_resources": spec})
    with tempfile.TemporaryDirectory() as folder:
        plan = Path(folder, "plan.json")
        plan.write_text(json.dumps({"version": 1, "meshes": [{"name": "m", "axes": [["a", 2], ["b", 2]]}], "rules": rules}))
        text = run_tool([find_tool("shard-opt"), "-", f"--spmd-apply-plan=file={plan}", "--mlir-print-debuginfo"], model.text)
    sharded = shardkit.Model(**{**vars(model), "text": text})
    return sharded


def check(load, given, expected, options, turns=(0, 1), may_fail=lambda message: False):
    """(equal, refused, left out or wrong; why). `load` makes the model; `given`: arguments; `expected`: arrays; `may_fail`: messages at
    run time that are no fault."""
    try:
        model = load()
    except shardkit.ShardKitError as error:
        message = str(error)
        return ("refused" if message.count("error:") == 1 and "\n" not in message else "wrong"), message
    except Exception as error:
        return "wrong", f"{type(error).__name__}: {str(error).splitlines()[0]}"
    if any(a.name == "random.seed" for a in model.arguments):
        return "left out", "random numbers, which are not the framework's"
    for where, turn in [("one device", None), *((f"2 x 2 devices ({t})", t) for t in turns)]:
        try:
            found = (model if turn is None else shard(model, turn)).run(*given, options=options)
        except shardkit.ShardKitError as error:
            return ("refused" if may_fail(str(error)) else "wrong"), f"{where}: {str(error).splitlines()[0]}"
        for a, b in zip(flatten(found), expected, strict=True):
            if why := differs(a, b):
                return "wrong", f"{where}: {why}"
    return "equal", ""


def flatten(found):
    """Arrays of what a model returns."""
    if isinstance(found, dict):
        found = list(found.values())
    if isinstance(found, (list, tuple)):
        return [array for part in found for array in flatten(part)]
    if type(found).__module__ == "torch":  # of which NumPy does not know bf16
        from shardkit.torch.frontend import to_numpy

        return [to_numpy(found)]
    return [found]


def find_wrong_error(function, expected):
    """What is told, where it is not what the expression `expected` finds."""
    try:
        function()
        told = "nothing"
    except shardkit.ShardKitError as error:
        told = str(error)
    return None if re.search(expected, told) else f"{told[:500]}\n    expected {expected}"


def fails(action, *parts):
    """An action that has to end in one error with these parts."""
    try:
        found = action()
    except shardkit.ShardKitError as error:
        for part in parts:
            assert part in str(error), (part, str(error))
        assert "Traceback" not in str(error), str(error)
        return
    raise AssertionError(f"{found}, expected an error with {parts}")


def run_tests(functions):
    """Runs functions called test_* out of `functions` by name (`globals()`); ends the script with 1 if one failed."""
    tests = {n: f for n, f in functions.items() if n.startswith("test_") and (not sys.argv[1:] or n in sys.argv[1:])}
    if unknown := set(sys.argv[1:]) - set(tests):
        sys.exit(f"no test is called {min(unknown)}, expected of {', '.join(n for n in functions if n.startswith('test_'))}")
    failed = 0
    for name, test in tests.items():
        try:
            test()
        except Exception as error:
            failed += 1
            print(f"{name}: {type(error).__name__}: {str(error)[:600]} (line {error.__traceback__.tb_next.tb_lineno})")
    print(f"{len(tests) - failed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


def run_cases(cases, find_problem):
    """Those that the command line names, or all; `find_problem` says what is wrong with one, if anything. The process's exit status."""
    names = sys.argv[1:] or list(cases)
    failed = 0
    for name in names:
        try:
            problem = find_problem(name)
        except shardkit.ShardKitError as error:
            problem = str(error)[:1500]
        if problem:
            print(f"{name}: {problem}", flush=True)
            failed += 1
    print(f"{len(names) - failed} passed, {failed} failed")
    return 1 if failed else 0


def run_one(function, task):
    try:
        return function(task)
    except Exception as error:
        return str(task)[:80], "wrong", f"{type(error).__name__}: {str(error).splitlines()[0]}"


def run_all(title, function, tasks, args, start="fork"):
    """`function` gives (name, kind, why) of a task. Ends the process with 1 where something is wrong."""
    pool = multiprocessing.get_context(start).Pool(os.cpu_count(), maxtasksperchild=100)
    results = list(pool.imap_unordered(functools.partial(run_one, function), tasks))
    pool.close()
    pool.join()
    counts, groups = Counter(kind for _, kind, _ in results), defaultdict(list)
    for name, kind, why in results:
        if kind == "wrong" or args.table and kind != "equal":
            groups[kind, re.sub(r'"[^"]*"', '"..."', why)[:160]].append(name)
    for (kind, why), names in sorted(groups.items(), key=lambda g: (g[0][0], -len(g[1]), g[0][1])):
        print(f"{kind}: {len(names)}: {why}: {', '.join(sorted(names)[:3])}")
    print(f"{title}: " + ", ".join(f"{counts[k]} {k}" for k in ("equal", "refused", "left out", "wrong")))
    sys.exit(1 if counts["wrong"] or not counts["equal"] else 0)
