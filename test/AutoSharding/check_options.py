#!/usr/bin/env python3
"""What the options of --spmd-auto-shard ask for holds in what it finds for a training step on axes data and model.

usage: check_options.py SHARD_OPT FILE
"""

import re
import subprocess
import sys

failures = 0


def check(fact, text):
    global failures
    if not fact:
        failures += 1
        print("FAIL", text)


def search(shard_opt, path, options, *passes):
    out = subprocess.run([shard_opt, path, f"--spmd-auto-shard={options}", *passes], capture_output=True, text=True)
    if out.returncode:
        sys.exit(out.stderr)
    return out.stdout


def read_arguments(text):
    """Name, type and layout of each argument, as printed."""
    signature = next(line for line in text.splitlines() if "func.func" in line).split(" -> (")[0]
    arguments = {}
    for type, attributes in re.findall(r"%\w+: (tensor<[^>]*>) \{(.*?)\}(?=, %|\) *$|\)$)", signature):
        name = re.search(r'spmd\.(?:name|weight) = "([^"]*)"', attributes)[1]
        layout = re.search(r"spmd\.sharding = #spmd\.sharding<@mesh, (\[.*?\])>", attributes)
        arguments[name] = (type, layout[1] if layout else "[]")
    return arguments


def read_objective(text):
    solver = re.search(r"spmd\.solver = \{(.*?)\}\} \{", text)[1]
    communication = re.search(r"communication = ([^ ]+)", solver)
    return float((communication or re.search(r"objective = ([^ ]+)", solver))[1])


def count_elements(type):
    count = 1
    for size in re.findall(r"(\d+)x", type):
        count *= int(size)
    return count


def main():
    shard_opt, path = sys.argv[1:3]
    free = read_objective(search(shard_opt, path, ""))

    def run(options):
        text = search(shard_opt, path, options)
        objective = read_objective(text)
        check(objective >= free * (1 - 1e-9), f"{options}: {objective} costs less than {free}")
        return text, read_arguments(text)

    def split(arguments):
        ranked = {name: own for name, own in arguments.items() if "x" in own[0]}
        states = {n: own for n, own in ranked.items() if n.startswith("adam.")}
        inputs = {n: own for n, own in ranked.items() if n in ("x", "target")}
        return inputs, states, {n: own for n, own in ranked.items() if n not in states and n not in inputs}

    def count(group, fact, text):
        for name, own in group.items():
            check(fact(own), f"{text}: {name} {own}")
        return len(group)

    cut, whole = (lambda own: '"data"' in own[1]), (lambda own: '"data"' not in own[1])
    inputs, _, _ = split(run("batch-axes=data")[1])
    print("batch-axes:", count(inputs, lambda own: own[1].startswith('[{"data"'), "batch"), "inputs cut")
    for stage in (1, 2, 3):
        text, arguments = run(f"batch-axes=data zero-stage={stage}")
        inputs, states, weights = split(arguments)
        said = f"zero-stage={stage}: {count(states, cut, 'state')} states cut, "
        said += f"{count(weights, cut if stage == 3 else whole, 'weight')} weights " + ("cut" if stage == 3 else "whole")
        if stage < 3:
            # Gradients of matrices: whole over data or parts of them, never the other.
            text = search(shard_opt, path, f"batch-axes=data zero-stage={stage}", "--spmd-insert-reshards", "--spmd-partition")
            kinds = {kind: len(re.findall(rf'spmd\.{kind} [^\n]*"data"[^\n]* : tensor<\d+x\d+xf32>', text))
                     for kind in ("all_reduce", "reduce_scatter")}
            check(kinds["reduce_scatter" if stage == 1 else "all_reduce"] == 0, f"zero-stage={stage}: {kinds}")
            said += ", gradients " + ("whole" if stage == 1 else "scattered")
        print(said)
    _, _, weights = split(run("allow-replicated-weights=false")[1])
    print("allow-replicated-weights=false:", count(weights, lambda own: '"' in own[1], "weight"), "weights cut")
    _, arguments = run("small-value-threshold=100")
    small = {n: own for n, own in arguments.items() if count_elements(own[0]) < 100}
    print("small-value-threshold:", count(small, lambda own: '"' not in own[1], "small"), "small arguments whole")
    # Nothing is given, so propagation leaves everything whole.
    _, arguments = run("deviation-penalty=1000")
    count(arguments, lambda own: '"' not in own[1], "departure")
    print("deviation-penalty: as propagation")
    text = search(shard_opt, path, "allow-recompute=true", "--spmd-insert-reshards", "--spmd-partition")
    check(not re.search(r"spmd\.(all_gather|all_reduce|reduce_scatter|all_to_all)", text), "small products are worth a collective")
    print("allow-recompute: no collectives")
    print(failures, "failures")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
