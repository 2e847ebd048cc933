"""Multi-head attention as it is written: heads are split by a reshape, moved in front by a
transpose, merged by a reshape. `generate OUT.mlir`, or `check BUNDLE EXPLAIN.json`: the
collectives of every function, and their bytes."""

import json
import sys

SEQ, DIM, EMBED = 6, 4, 10


class Case:
    """`weight`: the entry of the mesh that cuts the heads' side of the weights."""

    def __init__(self, name, heads, kv, devices, weight, kinds, gathered=0):
        self.name, self.heads, self.kv, self.devices, self.weight = name, heads, kv, devices, weight
        self.kinds = kinds        # of collectives, slices apart
        self.gathered = gathered  # bytes received but for the all_reduce


CASES = [Case(f"heads_12_on_{n}", 12, 12, n, '"x"', ["all_reduce"]) for n in (2, 3, 4, 6, 12)] + [
    # 8 devices have no equal share of 12 heads: 4 do, in pairs. Each device then lacks half
    # of three heads of q, k and v.
    Case("heads_12_on_8", 12, 12, 8, '"x"', ["all_gather"] * 3 + ["all_reduce"],
         3 * 8 * SEQ * 3 * DIM // 2 * 4),
    Case("heads_12_on_8_in_pairs", 12, 12, 8, '"x":(1)4', ["all_reduce"]),
    Case("grouped_8_2_on_2", 8, 2, 2, '"x"', ["all_reduce"]),
    # A key head is for 4 query heads: devices that share one lack what the others have of it.
    Case("grouped_8_2_on_4", 8, 2, 4, '"x"', ["all_gather"] * 2 + ["all_reduce"], 2 * 4 * SEQ * DIM // 2 * 4),
    Case("grouped_8_2_on_8", 8, 2, 8, '"x"', ["all_gather"] * 2 + ["all_reduce"], 2 * 8 * SEQ * DIM * 3 // 4 * 4),
]


def t(*shape):
    return "tensor<" + "".join(f"{d}x" for d in shape) + "f32>"


def attention(f, case):
    mesh, group = f"m{case.devices}", case.heads // case.kv
    q_size, kv_size = case.heads * DIM, case.kv * DIM
    out = []

    def filled(shape):
        out.append(f"%i{len(out)} = tensor.empty() : {t(*shape)}")
        out.append(f"%i{len(out)} = linalg.fill ins(%zero : f32) outs(%i{len(out) - 1} : {t(*shape)}) -> {t(*shape)}")
        return f"%i{len(out) - 1}"

    def value(line, shape):
        out.append(f"%v{len(out)} = {line}")
        return f"%v{len(out) - 1}"

    def matmul(a, a_shape, b, b_shape):
        shape = (a_shape[0], b_shape[1])
        init = filled(shape)
        return value(f"linalg.matmul ins({a}, {b} : {t(*a_shape)}, {t(*b_shape)}) outs({init} : {t(*shape)}) -> {t(*shape)}", shape)

    def product(dims, maps, a, a_shape, b, b_shape, shape):
        init = filled(shape)
        kinds = ", ".join('"reduction"' if d == "k" else '"parallel"' for d in dims.split(", "))
        affine = ", ".join(f"affine_map<({dims}) -> ({m})>" for m in maps)
        return value(f"linalg.generic {{indexing_maps = [{affine}], iterator_types = [{kinds}]}} "
                     f"ins({a}, {b} : {t(*a_shape)}, {t(*b_shape)}) outs({init} : {t(*shape)}) {{\n"
                     f"  ^bb0(%a: f32, %b: f32, %c: f32):\n    %p = arith.mulf %a, %b : f32\n"
                     f"    %s = arith.addf %c, %p : f32\n    linalg.yield %s : f32\n  }} -> {t(*shape)}", shape)

    def transpose(a, shape, perm):
        to = [shape[p] for p in perm]
        init = value(f"tensor.empty() : {t(*to)}", to)
        return value(f"linalg.transpose ins({a} : {t(*shape)}) outs({init} : {t(*to)}) permutation = {perm}", to)

    out.append("%zero = arith.constant 0.0 : f32")
    q = matmul("%x", (SEQ, EMBED), "%wq", (EMBED, q_size))
    q = value(f"tensor.expand_shape {q} [[0], [1, 2, 3]] output_shape [{SEQ}, {case.kv}, {group}, {DIM}] : "
              f"{t(SEQ, q_size)} into {t(SEQ, case.kv, group, DIM)}", ()) if group > 1 else value(
        f"tensor.expand_shape {q} [[0], [1, 2]] output_shape [{SEQ}, {case.kv}, {DIM}] : {t(SEQ, q_size)} into {t(SEQ, case.kv, DIM)}", ())
    kv = []
    for w in ("%wk", "%wv"):
        h = matmul("%x", (SEQ, EMBED), w, (EMBED, kv_size))
        h = value(f"tensor.expand_shape {h} [[0], [1, 2]] output_shape [{SEQ}, {case.kv}, {DIM}] : {t(SEQ, kv_size)} into {t(SEQ, case.kv, DIM)}", ())
        kv.append(transpose(h, (SEQ, case.kv, DIM), [1, 0, 2]))
    if group > 1:
        q = transpose(q, (SEQ, case.kv, group, DIM), [1, 2, 0, 3])
        lead, dims, g = (case.kv, group), "h, g, m, n, k", "h, g"
    else:
        q = transpose(q, (SEQ, case.kv, DIM), [1, 0, 2])
        lead, dims, g = (case.kv,), "h, m, n, k", "h"
    s = product(dims, (f"{g}, m, k", "h, n, k", f"{g}, m, n"), q, (*lead, SEQ, DIM), kv[0], (case.kv, SEQ, DIM), (*lead, SEQ, SEQ))
    scores = t(*lead, SEQ, SEQ)
    init = value(f"tensor.empty() : {scores}", ())
    s = value(f"linalg.softmax dimension({len(lead) + 1}) ins({s} : {scores}) outs({init} : {scores}) -> {scores}", ())
    o = product(dims, (f"{g}, m, k", "h, k, n", f"{g}, m, n"), s, (*lead, SEQ, SEQ), kv[1], (case.kv, SEQ, DIM), (*lead, SEQ, DIM))
    if group > 1:
        o = transpose(o, (*lead, SEQ, DIM), [2, 0, 1, 3])
        groups = "[[0], [1, 2, 3]]"
    else:
        o = transpose(o, (*lead, SEQ, DIM), [1, 0, 2])
        groups = "[[0], [1, 2]]"
    o = value(f"tensor.collapse_shape {o} {groups} : {t(SEQ, *lead, DIM)} into {t(SEQ, q_size)}", ())
    r = matmul(o, (SEQ, q_size), "%wo", (q_size, EMBED))

    def weight(name, shape, dims):
        return f'%{name}: {t(*shape)} {{spmd.weight = "{case.name}.{name}", spmd.sharding = #spmd.sharding<@{mesh}, [{dims}]>}}'
    columns = "{}, {" + case.weight + "}"
    rows = "{" + case.weight + "}, {}"
    f.write(f"func.func @{case.name}(%x: {t(SEQ, EMBED)} {{spmd.sharding = #spmd.sharding<@{mesh}, [{{}}, {{}}]>}},\n"
            f"    {weight('wq', (EMBED, q_size), columns)},\n    {weight('wk', (EMBED, kv_size), columns)},\n"
            f"    {weight('wv', (EMBED, kv_size), columns)},\n    {weight('wo', (q_size, EMBED), rows)})\n"
            f"    -> ({t(SEQ, EMBED)} {{spmd.sharding = #spmd.sharding<@{mesh}, [{{}}, {{}}]>}}) {{\n")
    f.write("".join(f"  {line}\n" for line in out))
    f.write(f"  return {r} : {t(SEQ, EMBED)}\n}}\n\n")


def generate(path):
    with open(path, "w") as f:
        for n in sorted({case.devices for case in CASES}):
            f.write(f'spmd.mesh @m{n} = <["x"={n}]>\n')
        for case in CASES:
            attention(f, case)


def check(bundle, explained):
    with open(bundle + "/manifest.json") as f:
        functions = {f["name"]: f["collectives"] for f in json.load(f)["functions"]}
    with open(explained) as f:
        reshapes = {f["name"]: f["reshapes"] for f in json.load(f)["functions"]}
    for case in CASES:
        moves = [c for c in functions[case.name] if c["kind"] != "all_slice"]
        kinds = sorted(c["kind"] for c in moves)
        if kinds != case.kinds:
            sys.exit(f"{case.name}: {kinds}, expected {case.kinds}")
        received = sum((c["out_elements"] - c["in_elements"]) * 4 * case.devices
                       for c in moves if c["kind"] == "all_gather")
        if received != case.gathered:
            sys.exit(f"{case.name}: {received} bytes received before the all_reduce, expected {case.gathered}")
        for own in reshapes[case.name]:
            if own["received"] != own["lower_bound"]:
                sys.exit(f"{case.name}: {own['op']} receives {own['received']}, fewest are {own['lower_bound']}")
        hints = {own["suggestion"].split(":")[0] for own in reshapes[case.name]}
        if (case.name == "heads_12_on_8") != any(own["suggestion"] for own in reshapes[case.name]):
            sys.exit(f"{case.name}: suggestions {hints}")
        if case.name == "heads_12_on_8":
            bound = sum(own["lower_bound"] for own in reshapes[case.name])
            if bound != received:
                sys.exit(f"{case.name}: {received} bytes received, the reshapes need {bound}")
            for own in reshapes[case.name]:
                if own["suggestion"] and 'as [{}, {"x":(1)4}]' not in own["suggestion"]:
                    sys.exit(f"{case.name}: suggestion {own['suggestion']}")
        elif case.name == "heads_12_on_8_in_pairs" and moves[0]["group"] != [[2, 4]]:
            sys.exit(f"{case.name}: all_reduce over ranks {moves[0]['group']}, expected x:(1)4")
    print(f"{len(CASES)} attentions: collectives and bytes as they shall be")


if __name__ == "__main__":
    {"generate": generate, "check": check}[sys.argv[1]](*sys.argv[2:])
