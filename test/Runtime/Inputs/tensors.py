"""Writes small tensor files: FILE NAME=TYPE:SHAPE ... [cut=BYTES]

TYPE is the name in the file (F32, I32; <f4, <i4 for .npy), SHAPE is 4x8. The
elements are 0, 1, 2, ..., of U32 words with all bits in use, of BF16 any finite bits. `cut` leaves that many bytes off the end.
"""
import json
import math
import struct
import sys

CODES = {"F32": "f", "I32": "i", "<f4": "f", "<i4": "i", "F16": "e", "U32": "I", "BF16": "H"}

path, *entries = sys.argv[1:]
header, data, cut = {}, b"", 0
for entry in entries:
    name, value = entry.split("=")
    if name == "cut":
        cut = int(value)
        continue
    kind, _, text = value.partition(":")
    shape = [int(size) for size in text.split("x")] if text else []
    elements = range(math.prod(shape))
    if kind == "U32":
        elements = [(i + 1) * 2654435761 % 2**32 for i in elements]
    if kind == "BF16":
        elements = [i * 7 % 0x7f80 for i in elements]
    part = struct.pack(f"<{len(elements)}{CODES[kind]}", *elements)
    header[name] = {"dtype": kind, "shape": shape,
                    "data_offsets": [len(data), len(data) + len(part)]}
    data += part
if path.endswith(".npy"):
    (entry,) = header.values()
    shape = "(" + "".join(f"{size}, " for size in entry["shape"]) + ")"
    text = f"{{'descr': '{entry['dtype']}', 'fortran_order': False, 'shape': {shape}}}\n"
    head = b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text.encode()
else:
    text = json.dumps(header)
    head = struct.pack("<Q", len(text)) + text.encode()
with open(path, "wb") as file:
    file.write((head + data)[: len(head) + len(data) - cut])
