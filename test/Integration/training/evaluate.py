"""Evaluates a graph in plain Python, for sizes that fit on a page.

A value is a dict from index tuples to numbers: slow, and easy to believe.
"""
import itertools
import math

SCALAR = {
    "exp": math.exp, "log": math.log, "tanh": math.tanh, "erf": math.erf,
    "rsqrt": lambda a: 1 / math.sqrt(a), "neg": lambda a: -a,
    "add": lambda a, b: a + b, "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b, "div": lambda a, b: a / b,
}


def indices(shape):
    return itertools.product(*(range(s) for s in shape))


def flat(value, shape):
    return [value[i] for i in indices(shape)]


def unflat(numbers, shape):
    return dict(zip(indices(shape), numbers))


def einsum(node, a, b):
    operands, out = node.attrs["spec"].split("->")
    la, lb = operands.split(",")
    size = dict(zip(la + lb, node.inputs[0].shape + node.inputs[1].shape))
    letters = out + "".join(sorted(set(la + lb) - set(out)))
    at = [tuple(letters.index(l) for l in part) for part in (la, lb, out)]
    result = dict.fromkeys(indices(node.shape), 0.0)
    for i in indices([size[l] for l in letters]):
        ia, ib, io = (tuple(i[d] for d in dims) for dims in at)
        result[io] += a[ia] * b[ib]
    return result


def evaluate_node(node, args):
    op, attrs, shape = node.op, node.attrs, node.shape
    if op in SCALAR:
        return {i: SCALAR[op](*(a[i] for a in args)) for i in indices(shape)}
    if op == "einsum":
        return einsum(node, *args)
    if op == "ones":
        return dict.fromkeys(indices(shape), 1.0)
    a = args[0]
    if op == "scale":
        return {i: a[i] * attrs["c"] for i in a}
    if op == "shift":
        return {i: a[i] + attrs["c"] for i in a}
    if op == "reduce":
        result = dict.fromkeys(
            indices(shape), 0.0 if attrs["kind"] == "sum" else -math.inf)
        for i, x in a.items():
            o = tuple(p for d, p in enumerate(i) if d not in attrs["dims"])
            result[o] = result[o] + x if attrs["kind"] == "sum" \
                else max(result[o], x)
        return result
    if op == "broadcast":
        return {i: a[tuple(p for d, p in enumerate(i)
                           if d not in attrs["dims"])]
                for i in indices(shape)}
    if op == "transpose":
        return {tuple(i[p] for p in attrs["perm"]): x for i, x in a.items()}
    if op in ("expand", "collapse"):
        return unflat(flat(a, node.inputs[0].shape), shape)
    if op == "causal":
        return {i: x if i[-1] <= i[-2] else attrs["other"]
                for i, x in a.items()}
    if op == "one_hot":
        return {i: float(a[i[:-1]] == i[-1]) for i in indices(shape)}
    raise NotImplementedError(op)


def evaluate(wanted, arguments):
    """arguments: value per name. Returns the values of the wanted nodes."""
    needed, stack = set(), list(wanted)
    while stack:
        node = stack.pop()
        if node.id not in needed:
            needed.add(node.id)
            stack.extend(node.inputs)
    values = {}
    for node in wanted[0].graph.nodes:
        if node.id in needed:
            values[node.id] = arguments[node.attrs["name"]] \
                if node.op == "argument" else \
                evaluate_node(node, [values[i.id] for i in node.inputs])
    return [values[w.id] for w in wanted]
