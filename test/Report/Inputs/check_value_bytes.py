"""Runs a step in stages and compares the bytes of values between parts, measured on each
device, with the bound of the report.

  check_value_bytes.py step.mlir report.json PIPELINE
"""
import json
import subprocess
import sys

path, report, pipeline = sys.argv[1:]
subprocess.run(["shard-run", path, "--pipeline=" + pipeline, "--random-inputs=1", "--report=" + report,
                "--compile-option=--opt-level=1"], check=True, stdout=subprocess.DEVNULL)
with open(report) as file:
    data = json.load(file)
stages = data["run"]["functions"][0]["pipeline"]["stages"]
for i, (mesh, stage) in enumerate(zip(data["pipelines"][0]["meshes"], stages)):
    bound, most = mesh["value_bytes"], max(stage["peak_value_bytes"])
    in_flight = mesh["in_flight"] * mesh["residual_bytes"]
    right = most <= bound <= 2 * most and in_flight <= bound and bound < mesh["peak_bytes"]
    print(f"mesh {i}: {most} of {bound}, {in_flight} of it in flight, {'ok' if right else 'WRONG'}")
