"""Digits of GSPMD's strings against the tiles that the strings list, by brute force."""

import random

import numpy as np
from shardkit import ShardKitError
from shardkit.stablehlo import gspmd


def owners(tiles, ids):
    """Per device its place in each dim of tiles, from the string's own definition."""
    places = {}
    for place, device in zip(np.ndindex(*tiles), ids):
        places[int(device)] = place
    return places


def check(text, tiles, ids, replicated):
    rank = len(tiles) - replicated
    count, dims = gspmd.parse(text, rank)
    assert count == len(ids), (text, count)
    for device, place in owners(tiles, ids).items():
        for d in range(rank):
            found = 0
            for stride, size in dims[d]:
                found = found * size + device // stride % size
            assert found == place[d], (text, device, d, found, place)


rng = random.Random(0)
checked = refused = 0
for _ in range(4000):
    shape = [rng.choice((2, 2, 3, 4)) for _ in range(rng.randint(1, 3))]
    order = rng.sample(range(len(shape)), len(shape))
    ids = np.arange(int(np.prod(shape))).reshape(shape).transpose(order).reshape(-1)
    # Tiles that divide the list in any way.
    tiles, left = [], len(ids)
    while left > 1 and len(tiles) < 3:
        tiles.append(rng.choice([t for t in range(1, left + 1) if left % t == 0]))
        left //= tiles[-1]
    tiles.append(left)
    replicated = rng.randint(0, 1)
    suffix = " last_tile_dim_replicate" if replicated else ""
    dims = ",".join(map(str, tiles))
    v2 = f"{{devices=[{dims}]<=[{','.join(map(str, shape))}]T({','.join(map(str, order))}){suffix}}}"
    v1 = f"{{devices=[{dims}]{','.join(map(str, ids))}{suffix}}}"
    for text in (v1, v2):
        try:
            check(text, tiles, ids, replicated)
            checked += 1
        except ShardKitError as error:
            assert "splits its devices at boundaries that are not common" in str(error), error
            refused += 1
assert checked > 4000 and refused < checked, (checked, refused)
print("strings:", "all as their tiles")
assert gspmd.parse("{replicated}", 2) == (0, [[], []]) and gspmd.parse("", 1) is None
for text, rank in (
    ("{maximal device=3}", 1),
    ("{devices=[2,2]0,1,2}", 2),
    ("{devices=[4]0,1,3,2}", 1),
    ("{devices=[2,2]<=[4]}", 1),
    ("{devices=[2,2]<=[4] last_tile_dims={manual}}", 1),
):
    try:
        print("accepted:", text, gspmd.parse(text, rank))
    except ShardKitError as error:
        print(error)
