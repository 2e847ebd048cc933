"""The reshape cases. `generate OUT.mlir`; `check BUNDLE`: no collective anywhere, and every
device owns exactly what the case says; `roundtrip IR`: the specs in it are those of the
cases."""

import os
import re
import sys

import ort_cases as ort

CASES = ort.load(os.path.join(os.path.dirname(__file__), "Inputs", "ort_reshape.json"))["cases"]


def generate(path):
    lines = []
    for case in CASES:
        source, target = case["in_shape"], case["out_shape"]
        given = ort.ort(case["in_spec"], case["in_mesh_shape"], case["in_mesh_elements"])
        wanted = ort.ort(case["out_spec"], case["out_mesh_shape"], case["out_mesh_elements"])
        lines += [f"func.func @{case['name']}(%x: {ort.tensor(source, 'f32')} {{spmd.sharding = {given}}})",
                  f"    -> ({ort.tensor(target, 'f32')} {{spmd.sharding = {wanted}}}) {{"]
        lines += ["  " + line for line in ort.reshape("r", "%x", source, target, "f32")]
        lines += [f"  return %r : {ort.tensor(target, 'f32')}", "}", ""]
    with open(path, "w") as f:
        f.write("\n".join(lines))


def check(bundle):
    meshes, functions = ort.read_bundle(bundle)
    for case in CASES:
        function = functions[case["name"]]
        if function["collectives"]:
            sys.exit(f"{case['name']}: {len(function['collectives'])} collectives, expected none")
        for side, value in (("in", function["arguments"][0]), ("out", function["results"][0])):
            ort.check(function, value, case[f"{side}_shape"], case[f"{side}_spec"],
                      case[f"{side}_mesh_shape"], case[f"{side}_mesh_elements"],
                      case[f"local_{side}_shape"], meshes)
    print(f"{len(CASES)} cases: no collective, every device owns what it shall")


def roundtrip(path):
    text = sys.stdin.read() if path == "-" else open(path).read()
    for case in CASES:
        head = re.search(rf"func\.func @{case['name']}\(.*", text).group(0)
        have = re.findall(r"#spmd\.ort<[^>]*>", head)
        want = [ort.ort(case[f"{side}_spec"], case[f"{side}_mesh_shape"], case[f"{side}_mesh_elements"])
                for side in ("in", "out")]
        if have != want:
            sys.exit(f"{case['name']}: {have}, expected {want}")
    print(f"{len(CASES)} cases come back as they were")


if __name__ == "__main__":
    {"generate": generate, "check": check, "roundtrip": roundtrip}[sys.argv[1]](sys.argv[2])
