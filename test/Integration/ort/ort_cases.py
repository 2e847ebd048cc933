"""Programs of ONNX Runtime's distributed tests on upstream ops, with their specs as
`#spmd.ort`, and what each device then owns, straight from the definition: chunk i of a
dim goes to the devices at coordinate i of the mesh axis, and a device that owns several
chunks has them one behind the other."""

import itertools
import json
import math
import sys


def load(path):
    with open(path) as f:
        return json.load(f)


def tensor(shape, dtype):
    return "tensor<" + "".join(f"{d}x" for d in shape) + dtype + ">"


def ort(spec, mesh_shape, elements):
    return f'#spmd.ort<"{spec}", shape = {list(mesh_shape)}, elements = {list(elements)}>'


def reassociation(fine, coarse):
    """Groups of dims of `fine` that make up the dims of `coarse`, or None."""
    groups, d = [], 0
    for i, size in enumerate(coarse):
        group, product = [], 1
        while d < len(fine) and (not group or product < size):
            group.append(d)
            product *= fine[d]
            d += 1
        while d < len(fine) and fine[d] == 1 and (i + 1 == len(coarse) or len(fine) - d > len(coarse) - i - 1):
            group.append(d)
            d += 1
        if product != size or not group:
            return None
        groups.append(group)
    return groups if d == len(fine) else None


def reshape(name, value, source, target, dtype):
    """Lines that reshape `value`, by the most special op there is."""
    a, b = tensor(source, dtype), tensor(target, dtype)
    if len(source) > len(target) and (groups := reassociation(source, target)):
        return [f"%{name} = tensor.collapse_shape {value} {groups} : {a} into {b}"]
    if len(source) < len(target) and (groups := reassociation(target, source)):
        return [f"%{name} = tensor.expand_shape {value} {groups} output_shape {list(target)} : {a} into {b}"]
    rank = f"tensor<{len(target)}xindex>"
    dims = ", ".join(map(str, target))
    return [f"%{name}_shape = arith.constant dense<[{dims}]> : {rank}",
            f"%{name} = tensor.reshape {value}(%{name}_shape) : ({a}, {rank}) -> {b}"]


def owned(shape, spec, mesh_shape, elements, device):
    """Flat indices of the elements that a device owns, in the order of its buffer."""
    tokens = spec.replace("R", " R").replace("S", " S").split()
    places = [p for p, e in zip(itertools.product(*map(range, mesh_shape)), elements) if e == device]
    dims = []
    for size, token in zip(shape, tokens):
        if token == "R":
            dims.append(range(size))
            continue
        axis = int(token[2:-1])
        chunk = size // mesh_shape[axis]
        dims.append([c * chunk + i for c in sorted({p[axis] for p in places}) for i in range(chunk)])
    return [sum(i * math.prod(shape[d + 1:]) for d, i in enumerate(index))
            for index in itertools.product(*dims)]


def held(value, rank):
    """The same from the extents of a manifest."""
    base = sum(rank // stride % size * step for stride, size, step in value["extents"]["offset"])
    loops = value["extents"]["loops"]
    elements = {}
    for index in itertools.product(*(range(loop[0]) for loop in loops)):
        local = sum(i * loop[2] for i, loop in zip(index, loops))
        elements[local] = base + sum(i * loop[1] for i, loop in zip(index, loops))
    return [elements[i] for i in range(len(elements))]


def check(function, value, shape, spec, mesh_shape, elements, local_shape, meshes):
    where = f"{function['name']}: {value['name']}"
    if local_shape and value["local_shape"] != local_shape:
        sys.exit(f"{where} has local shape {value['local_shape']}, expected {local_shape}")
    devices = meshes[function["mesh"]].get("device_ids") or range(function["devices"])
    if sorted(set(elements)) != sorted(devices):
        sys.exit(f"{where} is on devices {list(devices)}, expected {sorted(set(elements))}")
    for rank, device in enumerate(devices):
        have = held(value, rank)
        want = owned(shape, spec, mesh_shape, elements, device)
        if have != want:
            sys.exit(f"{where}: device {device} holds {have[:20]}, expected {want[:20]}")


def read_bundle(path):
    manifest = load(path + "/manifest.json")
    meshes = {mesh["name"]: mesh for mesh in manifest["meshes"]}
    return meshes, {f["name"]: f for f in manifest["functions"]}
