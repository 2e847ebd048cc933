"""Random slices and insertions: strides, places known before the program runs or not, uneven cuts.

  gen_places.py --seed N --count N
"""
import argparse
import random

MESHES = {"p": [("x", 2), ("y", 3)], "q": [("x", 4)], "r": [("x", 3), ("y", 2), ("z", 2)]}


def sharding(rng, mesh, rank):
    axes = [name for name, _ in MESHES[mesh]]
    rng.shuffle(axes)
    dims = [[] for _ in range(rank)]
    for axis in axes:
        if rng.random() < 0.7:
            rng.choice(dims).append(f'"{axis}"')
    text = ", ".join("{" + ", ".join(d + (["?"] if rng.random() < 0.5 else [])) + "}" for d in dims)
    return f"spmd.sharding = #spmd.sharding<@{mesh}, [{text}]>"


def tensor(shape):
    return "tensor<" + "".join(f"{s}x" for s in shape) + "i32>"


def function(rng, name):
    mesh = rng.choice(list(MESHES))
    rank = rng.randint(1, 3)
    whole, part, offsets, strides, places = [], [], [], [], []
    for d in range(rank):
        size = rng.randint(1, 6) if d == 2 else rng.randint(1, 26)
        stride = rng.choice([1, 1, 2, 3, 4])
        length = rng.randint(1, (size - 1) // stride + 1)
        if rng.random() < 0.3:
            length = 1
        room = size - ((length - 1) * stride + 1)
        whole.append(size)
        part.append(length)
        strides.append(stride)
        if rng.random() < 0.4:
            places.append((len(places), room))
            offsets.append(f"%o{len(places) - 1}")
        else:
            offsets.append(str(rng.randint(0, room)))
    drop = [part[d] == 1 and rng.random() < 0.4 for d in range(rank)]
    short = [p for p, dropped in zip(part, drop) if not dropped]
    args, body = [], []
    for i, room in places:
        args.append(f"%i{i}: tensor<1xi32> {{spmd.range = [0, {room + 1}]}}")
        body.append(f"  %e{i} = tensor.extract %i{i}[%c0] : tensor<1xi32>")
        body.append(f"  %o{i} = arith.index_cast %e{i} : i32 to index")
    at = (f"[{', '.join(offsets)}] [{', '.join(map(str, part))}] [{', '.join(map(str, strides))}]")
    args.append(f"%w: {tensor(whole)} {{{sharding(rng, mesh, rank)}, spmd.range = [-99, 99]}}")
    if rng.random() < 0.5:
        out = short
        body.append(f"  %r = tensor.extract_slice %w{at} : {tensor(whole)} to {tensor(short)}")
    else:
        out = whole
        args.append(f"%s: {tensor(short)} {{{sharding(rng, mesh, len(short)) + ', ' if short else ''}spmd.range = [100, 199]}}")
        body.append(f"  %r = tensor.insert_slice %s into %w{at} : {tensor(short)} into {tensor(whole)}")
    result = tensor(out)
    if out and rng.random() < 0.6:
        result = f"({result} {{{sharding(rng, mesh, len(out))}}})"
    print(f"func.func @{name}({', '.join(args)}) -> {result} {{")
    print("  %c0 = arith.constant 0 : index")
    print("\n".join(body))
    print(f"  return %r : {tensor(out)}\n}}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=50)
    options = parser.parse_args()
    for name, axes in MESHES.items():
        print(f"spmd.mesh @{name} = <[{', '.join(f'{chr(34)}{a}{chr(34)}={n}' for a, n in axes)}]>")
    for i in range(options.count):
        function(random.Random(options.seed * 100003 + i), f"f{i}")


if __name__ == "__main__":
    main()
