"""Compares a partitioned tosa program with the unpartitioned one.

  compare_lowered.py GLOBAL.mlir LOCAL.mlir DIRECTORY

Both are lowered to linalg by upstream's passes and run on the same random
inputs, function by function; the global one is verified against its unsharded
run as well. Every result must be equal byte by byte.
"""
import filecmp
import os
import re
import shutil
import subprocess
import sys

LOWER = ("builtin.module(func.func(tosa-optional-decompositions,"
         "tosa-to-scf,tosa-to-linalg-named,tosa-to-linalg,tosa-to-tensor,"
         "tosa-to-arith{include-apply-rescale=true},canonicalize))")


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(command)}\n{done.stdout}{done.stderr}")


def main():
    files, directory = sys.argv[1:3], sys.argv[3]
    shutil.rmtree(directory, ignore_errors=True)
    os.makedirs(directory)
    functions = re.findall(r"^func\.func @(\w+)", open(files[0]).read(), re.M)
    bundles = []
    for i, file in enumerate(files):
        lowered = f"{directory}/lowered{i}.mlir"
        bundles.append(f"{directory}/bundle{i}")
        run("shard-opt", file, f"--pass-pipeline={LOWER}", "-o", lowered)
        reference = ["--with-reference"] if i == 0 else []
        run("shard-compile", lowered, *reference, "-o", bundles[i])
    run("shard-run", bundles[0], "--random-inputs=1", "--verify")
    for name in functions:
        outputs = [f"{directory}/{name}{i}" for i in range(2)]
        for bundle, output in zip(bundles, outputs):
            run("shard-run", bundle, f"--function={name}", "--random-inputs=1",
                f"--output-dir={output}")
        results = sorted(os.listdir(outputs[0]))
        if not results or results != sorted(os.listdir(outputs[1])):
            sys.exit(f"{name}: other results")
        for result in results:
            if not filecmp.cmp(f"{outputs[0]}/{result}", f"{outputs[1]}/{result}",
                               shallow=False):
                sys.exit(f"{name}: {result} differs")


if __name__ == "__main__":
    main()
