"""Writes a graph as linalg, arith, math and tensor on tensors."""

ARITH = {"add": "arith.addf", "sub": "arith.subf", "mul": "arith.mulf",
         "div": "arith.divf", "neg": "arith.negf"}
INFINITY = {"f32": "0xFF800000", "f64": "0xFFF0000000000000"}


class Writer:
    """The body of one function. Constants and empty tensors stand first."""

    def __init__(self, element):
        self.element = element
        self.heads, self.lines, self.made, self.next = [], [], {}, 0

    def type(self, shape, element=None):
        dims = "".join(f"{d}x" for d in shape)
        return f"tensor<{dims}{element or self.element}>"

    def fresh(self):
        self.next += 1
        return f"%{self.next - 1}"

    def emit(self, text, where):
        self.lines.append(f'  {text} loc("{where}")')

    def once(self, text):
        """A line without operands of its own, at the head of the function."""
        if text not in self.made:
            self.made[text] = f"%c{len(self.made)}"
            self.heads.append(f'  {self.made[text]} = {text} loc("constant")')
        return self.made[text]

    def number(self, value):
        if isinstance(value, float):
            value = repr(value) if "." in repr(value) else f"{value:.17e}"
        return str(value)

    def dense(self, value, shape):
        return self.once(f"arith.constant dense<{self.number(value)}> : "
                         f"{self.type(shape)}")

    def scalar(self, value):
        return self.once(f"arith.constant {self.number(value)} : "
                         f"{self.element}")

    def sgd(self, weight, gradient, shape, rate, where):
        kind, scaled, new = self.type(shape), self.fresh(), self.fresh()
        self.emit(f"{scaled} = arith.mulf {gradient}, {self.dense(rate, shape)} : {kind}", where)
        self.emit(f"{new} = arith.subf {weight}, {scaled} : {kind}", where)
        return new

    def empty(self, shape):
        return self.once(f"tensor.empty() : {self.type(shape)}")

    def fill(self, value, shape):
        kind = self.type(shape)
        return self.once(
            f"linalg.fill ins({self.scalar(value)} : {self.element}) "
            f"outs({self.empty(shape)} : {kind}) -> {kind}")

    def generic(self, ins, in_maps, out_maps, iterators, outs, body, where):
        """ins, outs: (name, type); a map is a string of letters, and iterators
        say of each letter what kind of loop it is."""
        letters = ", ".join(iterators)
        maps = ", ".join(f"affine_map<({letters}) -> ({', '.join(m)})>"
                         for m in list(in_maps) + list(out_maps))
        kinds = ", ".join(f'"{kind}"' for kind in iterators.values())
        result = self.fresh()
        # tensor<4x6xf32> and tensor<f32> hold f32.
        elements = ", ".join(
            f"%{letter}: {kind[7:-1].split('x')[-1]}"
            for letter, (_, kind) in zip("abcdefgh", ins + outs))
        results = ", ".join(t for _, t in outs)
        if len(outs) > 1:
            result, left = result, f"{result}:{len(outs)}"
            results = f"({results})"
        else:
            left = result

        def clause(values):
            return (f"{', '.join(n for n, _ in values)} : "
                    f"{', '.join(t for _, t in values)}")
        self.lines.append(
            f"  {left} = linalg.generic {{indexing_maps = [{maps}], "
            f"iterator_types = [{kinds}]}} ins({clause(ins)}) "
            f"outs({clause(outs)}) {{")
        self.lines.append(f"  ^bb0({elements}):")
        self.lines.extend("    " + line for line in body)
        self.emit(f"}} -> {results}", where)
        return result

    def node(self, node, args):
        """Writes one node; `args` are the names of its inputs."""
        op, attrs, where = node.op, node.attrs, node.where
        kind = self.type(node.shape)
        e = self.element

        def simple(text):
            result = self.fresh()
            self.emit(f"{result} = {text}", where)
            return result
        if op in ARITH:
            return simple(f"{ARITH[op]} {', '.join(args)} : {kind}")
        if op in ("exp", "log", "tanh", "erf", "rsqrt"):
            return simple(f"math.{op} {args[0]} : {kind}")
        if op in ("scale", "shift"):
            word = "mulf" if op == "scale" else "addf"
            c = self.dense(attrs["c"], node.shape)
            return simple(f"arith.{word} {args[0]}, {c} : {kind}")
        if op == "ones":
            return self.dense(1.0, node.shape)
        if op == "einsum":
            operands, out = attrs["spec"].split("->")
            la, lb = operands.split(",")
            iterators = dict.fromkeys(out, "parallel")
            for letter in la + lb:
                iterators.setdefault(letter, "reduction")
            return self.generic(
                [(a, self.type(i.shape)) for a, i in zip(args, node.inputs)],
                [la, lb], [out], iterators,
                [(self.fill(0.0, node.shape), kind)],
                [f"%p = arith.mulf %a, %b : {e}",
                 f"%s = arith.addf %c, %p : {e}", f"linalg.yield %s : {e}"],
                where)
        source = self.type(node.inputs[0].shape)
        a = args[0]
        if op == "reduce":
            init = self.fill(0.0 if attrs["kind"] == "sum" else INFINITY[e],
                             node.shape)
            word = "addf" if attrs["kind"] == "sum" else "maximumf"
            return simple(f"linalg.reduce {{ arith.{word} }} "
                          f"ins({a} : {source}) outs({init} : {kind}) "
                          f"dimensions = {attrs['dims']}")
        if op == "broadcast":
            return simple(f"linalg.broadcast ins({a} : {source}) "
                          f"outs({self.empty(node.shape)} : {kind}) "
                          f"dimensions = {attrs['dims']}")
        if op == "transpose":
            return simple(f"linalg.transpose ins({a} : {source}) "
                          f"outs({self.empty(node.shape)} : {kind}) "
                          f"permutation = {attrs['perm']}")
        if op in ("expand", "collapse"):
            rank = min(node.rank, node.inputs[0].rank)
            dim, count = attrs["dim"], attrs["count"]
            groups = [[d] if d < dim else
                      list(range(dim, dim + count)) if d == dim
                      else [d + count - 1] for d in range(rank)]
            shape = f" output_shape {list(node.shape)}" if op == "expand" \
                else ""
            return simple(f"tensor.{op}_shape {a} {groups}{shape} : "
                          f"{source} into {kind}")
        letters = "ijklmn"[:node.rank]
        iterators = dict.fromkeys(letters, "parallel")
        if op == "causal":
            other = self.scalar(attrs["other"])
            return self.generic(
                [(a, source)], [letters], [letters], iterators,
                [(self.empty(node.shape), kind)],
                [f"%i = linalg.index {node.rank - 2} : index",
                 f"%j = linalg.index {node.rank - 1} : index",
                 "%p = arith.cmpi sle, %j, %i : index",
                 f"%r = arith.select %p, %a, {other} : {e}",
                 f"linalg.yield %r : {e}"], where)
        if op == "one_hot":
            labels = self.type(node.inputs[0].shape, "i64")
            zero, one = self.scalar(0.0), self.scalar(1.0)
            return self.generic(
                [(a, labels)], [letters[:-1]], [letters], iterators,
                [(self.empty(node.shape), kind)],
                [f"%i = linalg.index {node.rank - 1} : index",
                 "%j = arith.index_cast %i : index to i64",
                 "%p = arith.cmpi eq, %j, %a : i64",
                 f"%r = arith.select %p, {one}, {zero} : {e}",
                 f"linalg.yield %r : {e}"], where)
        raise NotImplementedError(op)

    def graph(self, wanted, names, marks={}):
        """names: of arguments by node id. Returns the names of `wanted`. Behind
        a node whose id is in `marks` comes that text, with {v} for its value
        and {t} for its type."""
        needed, stack = set(), list(wanted)
        while stack:
            node = stack.pop()
            if node.id not in needed:
                needed.add(node.id)
                stack.extend(node.inputs)
        for node in wanted[0].graph.nodes:
            if node.id in needed and node.id not in names:
                names[node.id] = self.node(
                    node, [names[i.id] for i in node.inputs])
                if node.id in marks:
                    self.emit(marks[node.id].format(
                        v=names[node.id], t=self.type(node.shape)), node.where)
        return [names[w.id] for w in wanted]
