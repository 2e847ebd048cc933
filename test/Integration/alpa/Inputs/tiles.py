"""Which device holds what of a 2-D i32 value.

  tiles.py input N M FILE.npy            0, 1, 2, ... as a tensor<NxMxi32>
  tiles.py manifest BUNDLE               from the manifest's extents, per function
  tiles.py run M OUT.npy REPORT.json     from a run whose result has a row per rank

Prints the devices in the order of their tiles: replicas in brackets.
"""
import json
import struct
import sys


def show(name, columns, held, devices):
    """held: the elements of each rank, as places in the global value."""
    tiles = {}
    for rank, elements in enumerate(held):
        tiles.setdefault(tuple(elements), []).append(devices[rank])
    print(f"{name}:", ", ".join(
        f"rows {min(t) // columns}-{max(t) // columns}"
        f" columns {min(e % columns for e in t)}-{max(e % columns for e in t)} on {sorted(d)}"
        for t, d in sorted(tiles.items())))


def elements(extents, rank):
    places = [sum(rank // stride % size * step for stride, size, step in extents["offset"])]
    loops = sorted(extents["loops"], key=lambda loop: -loop[2])
    for size, step, _ in loops:
        places = [p + i * step for p in places for i in range(size)]
    return places


def main(what, *args):
    if what == "input":
        rows, columns, path = int(args[0]), int(args[1]), args[2]
        header = f"{{'descr': '<i4', 'fortran_order': False, 'shape': ({rows}, {columns}), }}"
        header = header.ljust(117) + "\n"
        with open(path, "wb") as file:
            file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode()
                       + struct.pack(f"<{rows * columns}i", *range(rows * columns)))
    elif what == "manifest":
        manifest = json.load(open(args[0] + "/manifest.json"))
        meshes = {mesh["name"]: mesh for mesh in manifest["meshes"]}
        for function in manifest["functions"]:
            arg = function["arguments"][0]
            devices = meshes[function["mesh"]].get("device_ids", range(function["devices"]))
            show(function["name"], arg["global_shape"][1],
                 [elements(arg["extents"], rank) for rank in range(function["devices"])], devices)
    else:
        data = open(args[1], "rb").read()
        start = 10 + struct.unpack("<H", data[8:10])[0]
        values = struct.unpack(f"<{(len(data) - start) // 4}i", data[start:])
        run, = json.load(open(args[2]))["run"]["functions"]
        size = len(values) // run["devices"]
        held = [values[i:i + size] for i in range(0, len(values), size)]
        show(run["function"], int(args[0]), held, run["device_map"])


main(*sys.argv[1:])
