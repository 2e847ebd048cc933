"""A tensor cache with a tensor of every stored type: make DIR [WITHOUT ...], or what two of them differ in: compare DIR DIR."""
import hashlib
import json
import os
import sys

BITS = {"float64": 64, "float32": 32, "float16": 16, "bfloat16": 16, "float8_e4m3fn": 8, "float8_e5m2": 8,
        "float8_e4m3fnuz": 8, "float8_e5m2fnuz": 8, "float8_e8m0fnu": 8, "int64": 64, "int32": 32, "int16": 16,
        "int8": 8, "uint64": 64, "uint32": 32, "uint16": 16, "uint8": 8, "bool": 8, "int4": 4, "uint4": 4}


def make(directory, without):
    os.makedirs(directory)
    data, records = b"", []
    for k, (name, bits) in enumerate(BITS.items()):
        if name in without:
            continue
        part = bytearray((j * 37 + 11 * k) % (2 if name == "bool" else 256) for j in range((15 * bits + 7) // 8))
        if bits == 4:
            part[-1] &= 15  # 15 elements.
        records.append({"name": name, "shape": [3, 5], "dtype": name, "format": "raw", "nbytes": len(part),
                        "byteOffset": len(data)})
        data += part
    with open(directory + "/p.bin", "wb") as file:
        file.write(data)
    with open(directory + "/tensor-cache.json", "w") as file:
        json.dump({"metadata": {}, "records": [
            {"dataPath": "p.bin", "format": "raw-shard", "nbytes": len(data), "records": records,
             "md5sum": hashlib.md5(data).hexdigest()}]}, file)


def read(directory):
    with open(directory + "/tensor-cache.json") as file:
        files = json.load(file)["records"]
    tensors = {}
    for entry in files:
        with open(f"{directory}/{entry['dataPath']}", "rb") as file:
            data = file.read()
        for r in entry["records"]:
            tensors[r["name"]] = r["dtype"], r["shape"], data[r["byteOffset"]:r["byteOffset"] + r["nbytes"]]
    return tensors


if sys.argv[1] == "make":
    make(sys.argv[2], sys.argv[3:])
else:
    a, b = read(sys.argv[2]), read(sys.argv[3])
    assert a.keys() == b.keys(), (a.keys(), b.keys())
    print(f"{len(a)} tensors, different: {', '.join(name for name in a if a[name] != b[name]) or 'none'}")
