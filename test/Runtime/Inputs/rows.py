"""Prints which rows of a stored tensor the tensors of another file hold: FILE ROW_ELEMENTS

The stored tensor holds 0, 1, 2, ... (tensors.py). A row that is none of it is an error.
"""
import json
import struct
import sys

path, width = sys.argv[1], int(sys.argv[2])
data = open(path, "rb").read()
(length,) = struct.unpack("<Q", data[:8])
header = json.loads(data[8 : 8 + length])
for name, entry in header.items():
    if name == "__metadata__" or entry["shape"][-1] != width:
        continue
    begin, end = entry["data_offsets"]
    values = struct.unpack(f"<{(end - begin) // 4}f", data[8 + length + begin : 8 + length + end])
    rows = []
    for i in range(0, len(values), width):
        row = int(values[i]) // width
        assert list(values[i : i + width]) == [row * width + j for j in range(width)], (name, i)
        rows.append(row)
    runs = []
    for row in rows:
        if runs and runs[-1][1] + 1 == row:
            runs[-1][1] = row
        else:
            runs.append([row, row])
    print(name, ", ".join(f"{first}-{last}" for first, last in runs))
