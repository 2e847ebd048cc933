"""Uses every old name of the table of renames where it was valid, and expects one error that
names the new one.

  renames.py TABLE DIRECTORY      TABLE: lib/Dialect/SPMD/IR/Renames.cpp
"""
import os
import re
import subprocess
import sys

table, directory = sys.argv[1:]
os.makedirs(directory, exist_ok=True)


def write(name, text):
    path = os.path.join(directory, name)
    with open(path, "w") as file:
        file.write(text)
    return path


program = write("program.mlir", """spmd.mesh @m = <["x"=2]>
func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}
""")


def default_pipeline(options):
    return ["shard-opt", program, f"--spmd-default-pipeline={options}"]


def compile_with(option):
    return ["shard-compile", program, "-o", os.path.join(directory, "bundle"), option]


OPTIONS = {
    "auto-shard-options": [default_pipeline("auto-shard-options='time-limit=3'")],
    "carry-sums": [default_pipeline("carry-sums=false"), compile_with("--carry-sums=false"),
                   ["shard-opt", program, "--spmd-insert-reshards=carry-sums=false"]],
    "delay": [default_pipeline("delay=false"), compile_with("-delay=false")],
    "departure-cost": [["shard-opt", program, "--spmd-auto-shard=departure-cost=1"]],
    "forbid": [["shard-opt", program, "--spmd-auto-shard=forbid=all_gather"],
               default_pipeline("auto-shard='forbid=all_gather'"),
               compile_with("--auto-shard=forbid=all_gather")],
    "gap": [["shard-opt", program, "--spmd-auto-shard=gap=0.1"]],
    "merge": [default_pipeline("merge=false"), compile_with("--merge=false")],
    "merge-products": [default_pipeline("merge-products=false"), compile_with("--merge-products")],
    "min-share": [["shard-opt", program, "--spmd-overlap-collectives=min-share=0"]],
    "overlap-share": [default_pipeline("overlap-share=0"), compile_with("--overlap-share=0")],
    "regather": [["shard-opt", program, "--spmd-auto-shard=regather=never"]],
    "reshape-gaps": [["shard-opt", program, "--spmd-propagate=reshape-gaps=forbid"],
                     ["shard-opt", program, "--spmd-report=reshape-gaps=forbid"],
                     ["shard-opt", program, "--spmd-explain=reshape-gaps=forbid"],
                     ["shard-opt", program, "--spmd-explain-reshape=reshape-gaps=forbid"],
                     default_pipeline("reshape-gaps=forbid"), compile_with("--reshape-gaps=forbid")],
    "what": [["shard-opt", program, "--spmd-export-plan=what=given file=-"]],
    "zero": [["shard-opt", program, "--spmd-auto-shard=zero=1"]],
}


def commands_of(kind, name):
    if kind == "Pass":
        return [["shard-opt", program, f"--{name}"], ["shard-opt", program, f"--{name}=mesh=m"],
                ["shard-opt", program, f"--pass-pipeline=builtin.module({name})"]]
    if kind == "Option":
        return OPTIONS[name]
    if kind == "Operation":
        path = write(f"{name}.mlir", f"func.func @f() {{\n  {name} 0\n  return\n}}\n")
        return [["shard-opt", path]]
    if kind == "Attribute":
        path = write(f"{name}.mlir", f"func.func @f(%x: tensor<4xf32> {{{name} = 0 : i64}}) {{\n  return\n}}\n")
        return [["shard-opt", path]]
    path = write(f"{name}.json", """{
  "version": 1,
  "meshes": [{"name": "m", "axes": [["x", 2]]}],
  "rules": [{"function": "f", "value": "x", "sharding": "[{}]", "%s": []}]
}
""" % name)
    return [["shard-opt", program, f"--spmd-apply-plan=file={path}"]]


renames = re.findall(r'\{RenameKind::(\w+), "([^"]+)", "([^"]+)"\}', open(table).read())
for kind, old, new in renames:
    noun = {"Pass": "pass", "Option": "option", "Operation": "op", "Attribute": "attribute", "PlanKey": "key"}[kind]
    expected = f"{noun} {old} was renamed, expected {new}"
    for command in commands_of(kind, old):
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode != 1 or done.stderr.count(expected) != 1 or done.stderr.count(" error: ") > 2 or done.stdout:
            sys.exit(f"{' '.join(command)}\nexit status {done.returncode}, expected 1 and \"{expected}\"\n{done.stderr}")
print(f"{len(renames)} renames")
