"""Shardings in GSPMD's strings (`mhlo.sharding`), as programs exported before Shardy have them.

A string maps devices to tiles. Read as digits of the number of a device (stride and size, major to minor), the
tiles of all strings of a module lie on one mesh, whose axes are called d0, d1, ...; then they are Shardy's shardings:

    {devices=[2,1,4]<=[8] last_tile_dim_replicate}      dim 0 by digit (4, 2)      [{"d0"}, {}]
    {devices=[4,2]<=[2,4]T(1,0)}                        (1, 4), then (4, 2)        [{"d1"}, {"d0"}]
"""

from __future__ import annotations

import re
from typing import Any, Mapping

import numpy as np

from ..errors import ShardKitError

Digit = tuple[int, int]  # stride and size


def parse(text: str, rank: int, location: str = "") -> tuple[int, list[list[Digit]]] | None:
    """The number of devices and the digits of each dim; the number is None where all is replicated, the result is None without a sharding."""
    read = _read(text, rank, location)
    if read and read[2]:
        raise ShardKitError(f"{location}error: sharding {text} has manual dims, expected replicated ones")
    return read and read[:2]


def _read(text: str, rank: int, location: str) -> tuple[int, list[list[Digit]], list[Digit]] | None:
    """The same, and the digits of manual dims."""

    def fail(fact: str, expected: str) -> ShardKitError:
        return ShardKitError(f"{location}error: sharding {text} {fact}, expected {expected}")

    body = text.strip().removeprefix("{").removesuffix("}").strip()
    if body == "replicated":
        return 0, [[] for _ in range(rank)], []
    if body in ("", "unknown"):
        return None
    match = re.match(r"devices=\[([\d,]+)\]\s*(<=\[([\d,]+)\](?:T\(([\d,]+)\))?|[\d,]+)(.*)$", body)
    if not match:
        raise fail("is none that has a layout", "replicated, or devices=[...]: no maximal, manual or tuple sharding")
    tiles = [int(d) for d in match[1].split(",")]
    count = int(np.prod(tiles))
    if match[3]:
        shape = [int(d) for d in match[3].split(",")]
        order = [int(d) for d in match[4].split(",")] if match[4] else list(range(len(shape)))
        if sorted(order) != list(range(len(shape))) or int(np.prod(shape)) != count:
            raise fail("lists other devices than it has tiles", f"{count} of them")
        strides = [int(np.prod(shape[i + 1 :])) for i in range(len(shape))]
        digits = [(strides[i], shape[i]) for i in order]
    else:
        ids = [int(d) for d in match[2].split(",")]
        found = _peel(ids)
        if found is None or sorted(ids) != list(range(count)):
            raise fail("lists devices in no regular order", f"each of {count} devices once, in blocks and steps")
        digits = found
    rest = match[5]
    kinds = ["replicated"] if "last_tile_dim_replicate" in rest else []
    if types := re.search(r"last_tile_dims=\{([^}]*)\}", rest):
        kinds = [k.strip() for k in types[1].split(",")]
        if any(k not in ("replicated", "manual") for k in kinds):
            raise fail(f"has dims that are {types[1]}", "replicated or manual ones")
    if len(tiles) - len(kinds) != rank:
        raise fail(f"has {len(tiles) - len(kinds)} dims", f"{rank}")
    dims = []
    digits = [d for d in digits if d[1] > 1]
    for tile in tiles:
        own: list[Digit] = []
        while tile > 1:
            stride, size = digits.pop(0)
            part = int(np.gcd(tile, size))
            if part == 1 or (part != size and tile != part):
                raise fail("splits its devices at boundaries that are not common", "tiles that divide them")
            own.append((stride * (size // part), part))
            if part != size:
                digits.insert(0, (stride, size // part))
            tile //= part
        dims.append(own)
    manual = [digit for dim, kind in zip(dims[rank:], kinds) if kind == "manual" for digit in dim]
    return count, dims[:rank], manual


def _peel(ids: list[int]) -> list[Digit] | None:
    """The digits, major to minor, of a list of devices; None where it has none."""
    digits: list[Digit] = []
    while len(ids) > 1:
        for size in range(2, len(ids) + 1):
            stride = ids[1] - ids[0]
            if len(ids) % size == 0 and stride > 0 and all(ids[i] - ids[i - i % size] == i % size * stride for i in range(len(ids))):
                break
        else:
            return None
        digits.insert(0, (stride, size))
        ids = ids[::size]
    return digits if ids == [0] else None


def convert(module: Any, mesh: Mapping[str, int] | None = None, devices: int = 0) -> None:
    """Makes Shardy's annotations of GSPMD's in a module of jaxlib's bindings. `mesh`: names and sizes of axes of the mesh that is
    made, if they divide the devices where the shardings do. `devices`: how many there are; then there is a mesh in any case."""
    from jaxlib.mlir import ir

    from .builder import Builder, fail, get_location_text, owner, replace, walk

    def rank_of(type: Any) -> int:
        return int(ir.RankedTensorType(type).rank)

    def is_call(op: Any, *targets: str) -> bool:
        """Whether it is a custom call that carries a sharding."""
        is_custom = op is not None and op.name == "stablehlo.custom_call" and "mhlo.sharding" in op.attributes
        return is_custom and ir.StringAttr(op.attributes["call_target_name"]).value in targets

    def get_text(op: Any) -> str:
        return str(ir.StringAttr(op.attributes["mhlo.sharding"]).value)

    def get_open(op: Any) -> set[int]:
        said = ir.StringAttr(op.attributes["backend_config"]).value if "backend_config" in op.attributes else ""
        match = re.fullmatch(r"unspecified_dims=\[([\d,]*)\]", said)
        if said and not match:
            raise fail(op, f"custom call @{op.attributes['call_target_name'].value} has {said}", "unspecified_dims=[...] or an empty string")
        return {int(d) for d in match[1].split(",") if d} if match else set()

    # Everything that is said: where, and how it is written there.
    found: list[tuple[set[int], list[list[Digit]], Any]] = []
    counts: set[int] = set()

    def add(text: str, type: Any, location: str, write: Any, open: set[int] = set(), is_local: bool = False) -> None:
        parsed = (_read if is_local else parse)(text, rank_of(type), location)
        if parsed:
            found.append((open, parsed[1], write))
            counts.add(parsed[0])

    with module.context, ir.Location.unknown():
        for func in [op for op in module.body.operations if op.operation.name == "func.func"]:
            block = func.regions[0].blocks[0]
            returned = list(list(block.operations)[-1].operands)
            for key, values in (("arg_attrs", list(block.arguments)), ("res_attrs", returned)):
                if key not in func.attributes:
                    continue
                for i, (attributes, value) in enumerate(zip(func.attributes[key], values)):
                    entries = {a.name: a.attr for a in ir.DictAttr(attributes)}
                    if "mhlo.sharding" not in entries or "sdy.sharding" in entries:
                        continue

                    def write(text: str, func: Any = func, key: str = key, i: int = i) -> None:
                        dicts = list(func.attributes[key])
                        own = {a.name: a.attr for a in ir.DictAttr(dicts[i])}
                        del own["mhlo.sharding"]
                        dicts[i] = ir.DictAttr.get(own | {"sdy.sharding": ir.Attribute.parse(f"#sdy.sharding<{text}>")})
                        func.attributes[key] = ir.ArrayAttr.get(dicts)

                    add(ir.StringAttr(entries["mhlo.sharding"]).value, value.type, get_location_text(func.operation), write)
        # A call of a function in local view: its operands were split, and its results are joined again.
        regions = []
        for call in [op for op in walk(module.operation) if op.name == "func.call"]:
            splits: list[Any] = [owner(v) for v in call.operands]
            if not splits or not all(is_call(c, "SPMDFullToShardShape") for c in splits):
                continue
            joins, ins, outs, axes = [], [""] * len(splits), [""] * len(call.results), ["all"]
            if get_text(splits[0]) != "{manual}":
                read = _read(get_text(splits[0]), rank_of(splits[0].results[0].type), get_location_text(call))
                if not read or not read[2]:
                    raise fail(call, f"sharding {get_text(splits[0])} of a value in local view has no manual dims", "some")
                counts.add(read[0])
                found.append((set(), [read[2]], lambda text, axes=axes: axes.__setitem__(0, text)))
            for k, c in enumerate(splits):
                said: Any = owner(c.operands[0])
                if not is_call(said, "Sharding"):
                    raise fail(c, "@SPMDFullToShardShape is of a value without @Sharding", "one that gives its sharding")
                add(get_text(said), c.operands[0].type, get_location_text(c), lambda text, k=k, ins=ins: ins.__setitem__(k, text), get_open(said))
            for k, result in enumerate(call.results):
                chain = [call]
                while not is_call(chain[-1], "SPMDShardToFullShape"):
                    users = [use.owner.operation for use in (result if chain[-1] is call else chain[-1].results[0]).uses]
                    if len(users) != 1 or not is_call(users[0], "Sharding", "SPMDShardToFullShape"):
                        raise fail(call, f"result {k} of the call in local view is not put together", "@SPMDShardToFullShape")
                    chain.append(users[0])
                add(get_text(chain[-1]), chain[-1].results[0].type, get_location_text(call), lambda text, k=k, outs=outs: outs.__setitem__(k, text), get_open(chain[-1]))
                joins.append(chain[1:])
            regions.append((call, splits, joins, ins, outs, axes))
        local = [op for _, _, joins, *_ in regions for chain in joins for op in chain]
        callees = {ir.FlatSymbolRefAttr(call.attributes["callee"]).value for call, *_ in regions}
        for op in walk(module.operation):
            if not is_call(op, "Sharding") or op in local:
                continue
            around = op
            while around.name != "func.func":
                around = around.parent.operation
            is_local = ir.StringAttr(around.attributes["sym_name"]).value in callees

            def constrain(text: str, op: Any = op) -> None:
                type = op.results[0].type
                made = Builder(op).value("sdy.sharding_constraint", [op.operands[0]], type, {"sharding": f"#sdy.sharding<{text}>"})
                replace(op, [made])

            add(get_text(op), op.results[0].type, get_location_text(op), constrain, get_open(op), is_local)
        if not found and not devices:
            return
        counts.discard(0)
        counts |= {devices} - {0}
        if len(counts) > 1:
            raise ShardKitError(f"error: shardings are of {' and '.join(map(str, sorted(counts)))} devices, expected one number")
        count = counts.pop() if counts else 1
        boundaries = sorted({1, count} | {b for _, dims, _ in found for d in dims for s, n in d for b in (s, s * n)}, reverse=True)
        given = [int(np.prod(list((mesh or {}).values())[i:], dtype=int)) for i in range(len(mesh or {}) + 1)]
        names = list(mesh or {}) if set(boundaries) <= set(given) else []
        if names:
            boundaries = given
        if any(a % b for a, b in zip(boundaries, boundaries[1:])):
            raise ShardKitError(f"error: shardings split {count} devices at {boundaries}, expected boundaries that divide each other")
        sizes = [a // b for a, b in zip(boundaries, boundaries[1:])]
        names = names or [f"d{i}" for i in range(len(sizes))]

        def spell(digits: list[Digit], is_open: bool) -> str:
            """Axes of a dim: each digit is one or more full axes, major to minor."""
            axes = [f'"{names[i]}"' for s, n in digits for i, b in enumerate(boundaries[1:]) if s <= b < s * n]
            return "{" + ", ".join([*axes, "?"] if is_open else axes) + "}"

        named = ", ".join(f'"{name}"={size}' for name, size in zip(names, sizes))
        made_mesh = ir.Attribute.parse(f"#sdy.mesh<[{named}]>")
        ir.Operation.create(
            "sdy.mesh", attributes={"sym_name": ir.StringAttr.get("mesh"), "mesh": made_mesh}, ip=ir.InsertionPoint.at_block_begin(module.body)
        )
        for open, dims, write in found:
            write(f"@mesh, [{', '.join(spell(d, i in open) for i, d in enumerate(dims))}]")
        for call, splits, joins, ins, outs, (manual,) in regions:
            manual = ", ".join([f'"{name}"' for name in names] if manual == "all" else re.findall(r'"[^"]+"', manual))
            made = Builder(call).op("sdy.manual_computation", [c.operands[0] for c in splits], [j[-1].results[0].type for j in joins], {
                "in_shardings": f"#sdy.sharding_per_value<[{', '.join(f'<{t}>' for t in ins)}]>",
                "out_shardings": f"#sdy.sharding_per_value<[{', '.join(f'<{t}>' for t in outs)}]>",
                "manual_axes": f"#sdy<manual_axes{{{manual}}}>",
            }, 1)  # fmt: skip
            block = made.regions[0].blocks.append(*[v.type for v in call.operands], arg_locs=[call.location] * len(splits))
            inner = Builder(call).at_end_of(block)
            body = inner.op("func.call", list(block.arguments), [r.type for r in call.results], {"callee": call.attributes["callee"]})
            inner.op("sdy.return", list(body.results))
            for chain, result in zip(joins, made.results):
                chain[-1].results[0].replace_all_uses_with(result)
                for op in reversed(chain):
                    op.erase()
            call.erase()
            for split in splits:
                if not list(split.results[0].uses):
                    split.erase()
