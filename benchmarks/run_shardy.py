#!/usr/bin/env python3
"""Runs Shardy's propagation from the jaxlib wheel on a file and prints the milliseconds of each of its passes as JSON.

Exits with 3 where jaxlib is not installed. `UserPriorityPropagationPass` is propagation itself; `total` is the pipeline.
"""
import json
import os
import re
import sys
import tempfile


def main():
    try:
        from jaxlib.mlir import ir, passmanager
        from jaxlib.mlir._mlir_libs import _jax_mlir_ext
        from jaxlib.mlir.dialects import chlo, sdy, stablehlo
    except ImportError:
        sys.exit(3)
    context = ir.Context()
    registry = ir.DialectRegistry()
    _jax_mlir_ext.register_dialects(registry)
    context.append_dialect_registry(registry)
    context.load_all_available_dialects()
    context.enable_multithreading(False)
    with context, open(sys.argv[1]) as file:
        for dialect in (stablehlo, chlo, sdy):
            dialect.register_dialect(context)
        module = ir.Module.parse(file.read())
        pipeline = passmanager.PassManager.parse("builtin.module(sdy-propagation-pipeline)")
        pipeline.enable_verifier(False)
        pipeline.enable_timing()
        # The report goes to the file descriptor of standard error as soon as the pass manager goes.
        with tempfile.TemporaryFile("w+") as report:
            saved = os.dup(2)
            os.dup2(report.fileno(), 2)
            pipeline.run(module.operation)
            del pipeline
            os.dup2(saved, 2)
            report.seek(0)
            text = report.read()
    times = {}
    for seconds, name in re.findall(r"^\s+([\d.]+) \(.*?\)\s+(\S+)$", text, re.MULTILINE):
        times[name] = times.get(name, 0) + float(seconds) * 1e3
    found = "UserPriorityPropagationPass"
    if found not in times:
        sys.exit(f"error: no line {found} in the times of Shardy, expected a jaxlib whose pipeline has it\n{text}")
    rest = times.pop("Rest", 0)
    print(json.dumps({"propagation": times[found], "pipeline": times.get("Total", 0) - rest}))


if __name__ == "__main__":
    main()
