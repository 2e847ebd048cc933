#!/usr/bin/env python3
"""Compares what propagation makes of the models of examples/jax/models.py with what Shardy makes of the same annotations.

    propagation.py [--model NAME]... [--style NAME]... [--devices N] [--verbose] [--times]

Both see the same module: Shardy (jaxlib's `sdy-propagation-pipeline`) in StableHLO, ShardKit in linalg. Values between have no
counterpart, so arguments and results are compared: a line for each model and style, and each one that differs with --verbose.
With --times the microseconds per op that propagation takes in each, the least of 5 runs that take turns, verifiers and threads
off; an op is an operation of the module that propagation is given, in loops too, not of its payloads. Both print tenths of a millisecond, so
a module holds its functions as often as makes some 4000 ops.
Needs: pip install ./python[jax]
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

os.environ.setdefault("JAX_PLATFORMS", "cpu")
os.environ.setdefault("XLA_FLAGS", "--xla_force_host_platform_device_count=8")
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "examples" / "jax"))

import jax  # noqa: E402
import shardkit  # noqa: E402
from compare import make_mesh  # noqa: E402
from jaxlib.mlir import ir, passmanager  # noqa: E402
from models import MODELS, STYLES, build  # noqa: E402
from shardkit.stablehlo import frontend as stablehlo  # noqa: E402
from shardkit.tools import find_tool, run_tool  # noqa: E402


def normalize(text, rank):
    """The axes of each dim, of `[{"x", ?}, {}]`; open or closed does not matter once propagation is done."""
    if text is None:
        return ((),) * rank
    dims = re.findall(r"\{([^}]*)\}", re.search(r"\[(.*)\]", text)[1])
    return tuple(tuple(re.findall(r'"[^"]+"(?::\(\d+\)\d+)?', d)) for d in dims)


def read_shardy(module):
    """Per argument and result."""
    with module.context:
        passmanager.PassManager.parse("builtin.module(sdy-propagation-pipeline)").run(module.operation)
    func = stablehlo.find_function(module, "main")
    found = []
    types = [a.type for a in func.regions[0].blocks[0].arguments], stablehlo.get_result_types(func)
    for key, values in zip(("arg_attrs", "res_attrs"), types):
        dicts = list(func.attributes[key]) if key in func.attributes else [ir.DictAttr.get({}, module.context)] * len(values)
        for attributes, type in zip(dicts, values):
            entries = {a.name: str(a.attr) for a in ir.DictAttr(attributes)}
            found.append(normalize(entries.get("sdy.sharding"), ir.RankedTensorType(type).rank))
    return found


def read_ours(text):
    """The same, and the names."""
    text = run_tool([find_tool("shard-opt"), "-", "--inline", "--spmd-propagate"], text)
    header = re.search(r"func\.func public @main\((.*?)\) attributes|func\.func public @main\((.*)\) \{$", text, re.MULTILINE)
    header = header[1] or header[2]
    found, names = [], []
    for dims, attributes in re.findall(r"tensor<((?:\d+x)*)\w+> \{(.*?)\}(?=, %arg|, tensor<|\) -> |\)?$)", header):
        sharding = re.search(r"spmd\.sharding = #spmd\.sharding<(.*?\])[^\]]*>", attributes)
        found.append(normalize(sharding and sharding[1], dims.count("x")))
        names.append(re.search(r'spmd\.(?:name|weight) = "([^"]*)"', attributes)[1])
    return found, names


def count_ops(text):
    """Operations, those in loops and branches too, but for payloads: regions of linalg's ops, reductions and the like, which are
    not propagated through op by op."""
    count, payloads = 0, []  # per open region whether it is one
    for line in map(str.strip, text.splitlines()):
        again = payloads.pop() if line.startswith("}") and payloads else None
        op = re.match(r'(?:%\S+ = )?"?(\w+\.\w+|call|return)\b', line)
        is_inner = op and op[1] != "func.func"
        count += bool(is_inner and not any(payloads))
        if line.endswith("{"):
            holds = bool(is_inner) and not op[1].startswith("scf.") and op[1] not in ("stablehlo.while", "stablehlo.case", "stablehlo.if")
            payloads.append(again if again is not None else holds or line.startswith("reducer"))
    return count


def repeat(text):
    """A module with its functions as often as makes 4000 ops, and how many ops it has."""
    count = max(1, round(4000 / count_ops(text)))
    lines = text.splitlines(keepends=True)
    first = next(i for i, line in enumerate(lines) if line.startswith("  func.func"))
    end = max(i for i, line in enumerate(lines) if line.startswith("  }"))
    functions = "".join(lines[first : end + 1])
    names = re.findall(r"^  func\.func (?:public |private )?@(\w+)", functions, re.MULTILINE)
    name = re.compile(rf"@({'|'.join(names)})\b")
    copies = [functions] + [name.sub(rf"@\1_copy{k}", functions) for k in range(1, count)]
    repeated = "".join(lines[:first] + copies + lines[end + 1 :])
    return repeated, count_ops(repeated)


def take_times(theirs, ours, runs=5):
    """Microseconds of propagation: Shardy's, ours."""
    runner = Path(__file__).resolve().parents[1] / "run_shardy.py"
    best = [float("inf"), float("inf")]
    with tempfile.TemporaryDirectory() as folder:
        files = Path(folder, "theirs.mlir"), Path(folder, "ours.mlir")
        files[0].write_text(theirs)
        files[1].write_text(ours)
        for _ in range(runs):
            shardy = subprocess.run([sys.executable, runner, files[0]], capture_output=True, text=True, check=True).stdout
            best[0] = min(best[0], json.loads(shardy)["propagation"] * 1e3)
            text = subprocess.run([find_tool("shard-opt"), files[1], "--spmd-propagate", "--mlir-disable-threading", "--verify-each=0", "-o",
                                   os.devnull, "--mlir-timing", "--mlir-timing-display=list", "--mlir-output-format=json"],
                                  capture_output=True, text=True, check=True).stderr
            entries = json.loads(text[text.index("[\n"):])
            best[1] = min(best[1], next(e["wall"]["duration"] * 1e6 for e in entries if e["name"] == "SPMDPropagatePass"))
    return best


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--model", action="append", choices=sorted(MODELS))
    parser.add_argument("--style", action="append", choices=STYLES)
    parser.add_argument("--devices", type=int, default=8, choices=(2, 4, 8))
    parser.add_argument("--verbose", action="store_true")
    parser.add_argument("--times", action="store_true")
    options = parser.parse_args()
    print("| model | style | arguments and results | equal | ours are cut further | Shardy's are cut further | otherwise |" +
          (" our ops | us per op | Shardy's ops | us per op |" if options.times else ""))
    print("| --- | --- | ---: | ---: | ---: | ---: | ---: |" + (" ---: | ---: | ---: | ---: |" if options.times else ""))
    for name in options.model or MODELS:
        for style in options.style or STYLES:
            function, args = build(name, style, make_mesh(options.devices))
            model = shardkit.import_jax(function, *args, locations=False)
            jitted = function if hasattr(function, "lower") else jax.jit(function)
            module = str(jitted.lower(*args).compiler_ir("stablehlo"))
            theirs = read_shardy(stablehlo.parse(module))
            ours, names = read_ours(model.text)
            assert len(ours) == len(theirs), (len(ours), len(theirs))
            counts = {"equal": 0, "ours": 0, "theirs": 0, "other": 0}
            for own, other, what in zip(ours, theirs, names):
                further = lambda a, b: all(x[: len(y)] == y for x, y in zip(a, b))  # noqa: E731
                kind = "equal" if own == other else "ours" if further(own, other) else "theirs" if further(other, own) else "other"
                counts[kind] += 1
                if options.verbose and kind != "equal":
                    print(f"    {what}: ours {own}, Shardy's {other}", file=sys.stderr)
            row = [name, style, len(ours), *counts.values()]
            if options.times:
                inlined = run_tool([find_tool("shard-opt"), "-", "--inline"], model.text)
                (theirs, their_ops), (ours, our_ops) = repeat(module), repeat(inlined)
                times = take_times(theirs, ours)
                row += [count_ops(inlined), f"{times[1] / our_ops:.2f}", count_ops(module), f"{times[0] / their_ops:.2f}"]
            print("| " + " | ".join(map(str, row)) + " |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
