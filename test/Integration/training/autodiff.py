"""A small graph of tensor ops with reverse-mode differentiation.

A Graph makes Nodes; every op says how it is written in MLIR (emit.py) and how
it is evaluated in Python (evaluate.py). Nodes are kept in the order in which
they were made, which is an order of evaluation.

Index strings: "bsd,de->bse" as in einsum, one letter per dim.
"""
import contextlib
import math


class Node:
    def __init__(self, graph, op, inputs, shape, **attrs):
        self.graph, self.op, self.inputs = graph, op, list(inputs)
        self.shape, self.attrs = tuple(shape), attrs
        self.id, self.where = len(graph.nodes), graph.place()
        graph.nodes.append(self)

    @property
    def rank(self):
        return len(self.shape)


UNARY = ("exp", "log", "tanh", "erf", "rsqrt", "neg")
BINARY = ("add", "sub", "mul", "div")


class Graph:
    def __init__(self):
        self.nodes, self.scopes, self.prefix = [], [], ""

    # -- names -------------------------------------------------------------

    @contextlib.contextmanager
    def scope(self, name):
        self.scopes.append(name)
        yield
        self.scopes.pop()

    def place(self):
        """Where a node stands in the model: the name of its location."""
        return self.prefix + (".".join(self.scopes) or "top")

    # -- ops ---------------------------------------------------------------

    def argument(self, name, shape, element=None):
        return Node(self, "argument", [], shape, name=name, element=element)

    def einsum(self, spec, a, b):
        operands, result = spec.split("->")
        size = {}
        for letters, value in zip(operands.split(","), (a, b)):
            assert len(letters) == value.rank, (spec, value.shape)
            for letter, dim in zip(letters, value.shape):
                assert size.setdefault(letter, dim) == dim, spec
        return Node(self, "einsum", [a, b], [size[l] for l in result],
                    spec=spec)

    def unary(self, op, a):
        assert op in UNARY
        return Node(self, op, [a], a.shape)

    def binary(self, op, a, b):
        assert op in BINARY and a.shape == b.shape, (op, a.shape, b.shape)
        return Node(self, op, [a, b], a.shape)

    def add(self, a, b):
        return self.binary("add", a, b)

    def sub(self, a, b):
        return self.binary("sub", a, b)

    def mul(self, a, b):
        return self.binary("mul", a, b)

    def div(self, a, b):
        return self.binary("div", a, b)

    def scale(self, a, c):
        """a * c for a number c."""
        return Node(self, "scale", [a], a.shape, c=c)

    def shift(self, a, c):
        """a + c for a number c."""
        return Node(self, "shift", [a], a.shape, c=c)

    def reduce(self, kind, a, dims):
        """kind: sum or max; a maximum is a constant for derivatives."""
        dims = sorted(dims)
        shape = [s for d, s in enumerate(a.shape) if d not in dims]
        return Node(self, "reduce", [a], shape, kind=kind, dims=dims)

    def broadcast(self, a, shape, dims):
        """dims: those of the result that `a` lacks."""
        dims = sorted(dims)
        assert [s for d, s in enumerate(shape) if d not in dims] == \
            list(a.shape), (a.shape, shape, dims)
        return Node(self, "broadcast", [a], shape, dims=dims)

    def like(self, a, other):
        """`a` along the last dims of `other`."""
        return self.broadcast(a, other.shape, range(other.rank - a.rank))

    def transpose(self, a, perm):
        """Dim i of the result is dim perm[i] of `a`."""
        return Node(self, "transpose", [a], [a.shape[p] for p in perm],
                    perm=list(perm))

    def expand(self, a, dim, sizes):
        """Cuts a dim into several."""
        assert math.prod(sizes) == a.shape[dim]
        shape = a.shape[:dim] + tuple(sizes) + a.shape[dim + 1:]
        return Node(self, "expand", [a], shape, dim=dim, count=len(sizes))

    def collapse(self, a, dim, count):
        """Joins `count` dims from `dim` on."""
        shape = (a.shape[:dim] + (math.prod(a.shape[dim:dim + count]),)
                 + a.shape[dim + count:])
        return Node(self, "collapse", [a], shape, dim=dim, count=count)

    def causal(self, a, other):
        """`a` where the last index is at most the one before, else `other`."""
        return Node(self, "causal", [a], a.shape, other=other)

    def one_hot(self, labels, classes):
        return Node(self, "one_hot", [labels], labels.shape + (classes,))

    # -- derivatives -------------------------------------------------------

    def gradients(self, loss, wanted):
        """d loss / d w for each w of `wanted`; the loss is a scalar.

        What flows back to one value is added up in the order of its users from
        the last to the first.
        """
        assert loss.shape == ()
        nodes = self.nodes[:loss.id + 1]
        active = set(w.id for w in wanted)
        for node in nodes:
            if any(i.id in active for i in node.inputs):
                if not (node.op == "reduce" and node.attrs["kind"] == "max"):
                    active.add(node.id)
        flow = {}
        with self.scope(loss.where):
            flow[loss.id] = Node(self, "ones", [], ())
        for node in reversed(nodes):
            if node.id not in flow or not node.inputs or node.id not in active:
                continue
            scopes, self.scopes = self.scopes, ["d." + node.where]
            for i, g in enumerate(self.backward(node, flow[node.id], active)):
                if g is None:
                    continue
                source = node.inputs[i].id
                flow[source] = self.add(flow[source], g) if source in flow \
                    else g
            self.scopes = scopes
        return [flow[w.id] for w in wanted]

    def backward(self, node, g, active):
        """What `g`, the derivative by the node, gives for each input."""
        op, attrs, inputs = node.op, node.attrs, node.inputs
        need = [i.id in active for i in inputs]
        a = inputs[0]
        if op == "einsum":
            b = inputs[1]
            operands, out = attrs["spec"].split("->")
            la, lb = operands.split(",")
            return [self.einsum(f"{out},{lb}->{la}", g, b) if need[0] else None,
                    self.einsum(f"{la},{out}->{lb}", a, g) if need[1] else None]
        if op == "add":
            return [g if n else None for n in need]
        if op == "sub":
            return [g if need[0] else None,
                    self.unary("neg", g) if need[1] else None]
        if op == "mul":
            return [self.mul(g, inputs[1 - i]) if need[i] else None
                    for i in (0, 1)]
        if op == "div":
            ga = self.div(g, inputs[1])
            return [ga if need[0] else None,
                    self.unary("neg", self.mul(ga, node)) if need[1] else None]
        if op == "scale":
            return [self.scale(g, attrs["c"])]
        if op == "shift":
            return [g]
        if op == "neg":
            return [self.unary("neg", g)]
        if op == "exp":
            return [self.mul(g, node)]
        if op == "log":
            return [self.div(g, a)]
        if op == "tanh":
            slope = self.shift(self.unary("neg", self.mul(node, node)), 1.0)
            return [self.mul(g, slope)]
        if op == "erf":
            bell = self.unary("exp", self.unary("neg", self.mul(a, a)))
            return [self.mul(g, self.scale(bell, 2 / math.sqrt(math.pi)))]
        if op == "rsqrt":
            cube = self.mul(node, self.mul(node, node))
            return [self.mul(g, self.scale(cube, -0.5))]
        if op == "reduce":
            return [self.broadcast(g, a.shape, attrs["dims"])]
        if op == "broadcast":
            return [self.reduce("sum", g, attrs["dims"])]
        if op == "transpose":
            perm = attrs["perm"]
            return [self.transpose(g, [perm.index(d)
                                       for d in range(len(perm))])]
        if op == "expand":
            return [self.collapse(g, attrs["dim"], attrs["count"])]
        if op == "collapse":
            dim, count = attrs["dim"], attrs["count"]
            return [self.expand(g, dim, a.shape[dim:dim + count])]
        if op == "causal":
            return [self.causal(g, 0.0)]
        raise NotImplementedError(op)
