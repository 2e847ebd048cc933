"""Bad options give one error each: in shard-compile and in the compiler's library the same.

    same_errors.py IR OUTPUT
"""
import os
import subprocess
import sys

OPTIONS = [
    "--opt-level=x", "--opt-level=4", "--hoist=maybe", "--min-hidden-fraction=none", "--target=tpu", "--conflicts=fast",
    "--auto-shard=time-limit=abc", "--chip=sm_90", "--remarks-filter=(", "--mcpu=abacus",
]  # fmt: skip

ir, output = sys.argv[1:]
environment = os.environ | {"SHARDKIT_CACHE": "off"}
for option in OPTIONS:
    tool = subprocess.run(["shard-compile", ir, "-o", output, option], capture_output=True, text=True, env=environment)
    library = subprocess.run(["compile-request", "1", ir, output, option], capture_output=True, text=True, env=environment)
    texts = library.stdout.split("text: ")
    if len(texts) != 2 or library.stderr or tool.stdout or tool.returncode != 1:
        sys.exit(f"{option}: expected one error and nothing printed\n{library.stdout}{library.stderr}{tool.stdout}")
    error = texts[1].split("\nsucceeded 0")[0]
    if tool.stderr.replace(ir, "given.mlir").rstrip("\n") != error.rstrip("\n"):
        sys.exit(f"{option}: shard-compile prints\n{tool.stderr}the library has\n{error}")
    print("error: " + tool.stderr.partition("error: ")[2].splitlines()[0])
