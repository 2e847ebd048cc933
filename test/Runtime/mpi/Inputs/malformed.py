"""Loads weight sets that are wrong in one way each: DIRECTORY COMMAND...

The command gets --weights. Each of its four ranks must say what is wrong, in one
line, within 5 s beside the time of a good run.
"""

import json
import os
import struct
import subprocess
import sys
import time

directory, command = sys.argv[1], sys.argv[2:]
DATA = bytes(range(192))
GOOD = {"w": {"dtype": "F32", "shape": [8, 6], "data_offsets": [0, 192]}}


def safetensors(header, data=DATA, length=None):
    text = header if isinstance(header, str) else json.dumps(header)
    return struct.pack("<Q", len(text) if length is None else length) + text.encode() + data


def changed(**fields):
    return {"w": {**GOOD["w"], **fields}}


whole = safetensors(GOOD)
CASES = {
    "empty": b"",
    "length alone": whole[:8],
    "cut in the header": whole[:30],
    "cut in the data": whole[:-1],
    "header over the cap": safetensors(GOOD, length=1 << 40),
    "header beyond the file": safetensors(GOOD, length=5000),
    "no JSON": safetensors("{'w'"),
    "name twice": safetensors(json.dumps(GOOD)[:-1] + ", " + json.dumps(GOOD)[1:]),
    "other name": safetensors({"v": GOOD["w"]}),
    "other type": safetensors(changed(dtype="I64", shape=[8, 3])),
    "other shape": safetensors(changed(shape=[6, 8])),
    "shape overflows": safetensors(changed(shape=[1 << 62, 1 << 62])),
    "offsets run back": safetensors(changed(data_offsets=[192, 0])),
    "range overlaps": safetensors({**GOOD, "v": GOOD["w"]}),
}


def run(name, content):
    path = os.path.join(directory, name.replace(" ", "-") + ".safetensors")
    with open(path, "wb") as stream:
        stream.write(content)
    start = time.time()
    process = subprocess.run(command + ["--weights", path], capture_output=True, text=True, timeout=120)
    return process.stderr, time.time() - start


text, good = run("good", whole)
assert "error:" not in text, text
wrong = 0
for name, content in CASES.items():
    text, seconds = run(name, content)
    errors = [line for line in text.splitlines() if line.startswith("error: ")]
    if len(errors) != 4 or len(set(errors)) != 1 or seconds > 3 * good + 5:
        wrong += 1
        print(f"{name}: {seconds:.1f} s (a good set {good:.1f} s)\n{text}")
print(f"malformed: {len(CASES)} sets, 4 errors each, {wrong} wrong")
