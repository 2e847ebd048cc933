#!/usr/bin/env python3
"""The samples that PyTorch tests its own ops with, on one device and sharded on four: each equals PyTorch, or is one error. Needs
the wheels, and expecttest, which PyTorch's samples import.

test_torch_ops.py [--every=N] [--table] [--target=cuda] [NAME...], as samples.py says; up to four samples of each op, in floats,
integers, complex numbers and booleans where it takes them. With --gradients, of floats: the gradients of what the op takes.
"""

import logging

import samples
import torch
from torch.testing._internal.common_methods_invocations import op_db
from torch.utils._pytree import tree_flatten, tree_leaves, tree_unflatten

import shardkit
from shardkit.torch.frontend import to_numpy

MOST = 4
DTYPES = (torch.float32, torch.int64, torch.bool, torch.complex64)
# Of LAPACK, of which there are many; what only GPUs have.
LEFT_OUT = ("empty", "new_empty", "linalg.", "torch.ops.", "_refs", "jiterator")
# PyTorch does not say which of equal elements it picks: values are compared, not places.
OF_TIES = ("kthvalue", "median", "mode", "msort", "nanmedian", "sort", "topk")


class Sample(torch.nn.Module):
    """An op with what is no tensor of a sample bound."""

    def __init__(self, op, sample):
        super().__init__()
        leaves, self.tree = tree_flatten((sample.input, sample.args, sample.kwargs))
        self.name, self.has_ties = op.name, op.name in OF_TIES
        self.op, self.leaves = op.op, [None if isinstance(v, torch.Tensor) else (v,) for v in leaves]
        self.tensors = [v.detach().clone() for v in leaves if isinstance(v, torch.Tensor)]

    def forward(self, *tensors):
        rest = iter(tensors)
        x, args, kwargs = tree_unflatten([next(rest) if v is None else v[0] for v in self.leaves], self.tree)
        result = self.op(x, *args, **kwargs)
        if self.name == "argsort":
            return x.gather(kwargs.get("dim", args[0] if args else -1), result)
        return result[0] if self.has_ties and isinstance(result, tuple) else result


class Gradients(torch.nn.Module):
    """A sum over what an op makes, each element with a weight of its own, of parameters that the floats of a sample are."""

    def __init__(self, sample):
        super().__init__()
        self.sample = sample
        self.floats = torch.nn.ParameterList([t for t in sample.tensors if t.is_floating_point()])
        self.tensors = [t for t in sample.tensors if not t.is_floating_point()]
        self.order = [t.is_floating_point() for t in sample.tensors]

    def forward(self, *tensors):
        floats, rest = iter(self.floats), iter(tensors)
        made = [v for v in tree_leaves(self.sample(*[next(floats if f else rest) for f in self.order])) if v.is_floating_point()]
        weights = [torch.cos(torch.arange(v.numel(), dtype=v.dtype)).reshape(v.shape) for v in made]
        return sum((v * w).sum() for v, w in zip(made, weights))

    def expect(self):
        loss = self(*self.tensors)
        found = torch.autograd.grad(loss, list(self.floats), allow_unused=True)
        dense = [torch.zeros_like(p) if g is None or g._is_zerotensor() else g.to_dense() for p, g in zip(self.floats, found)]
        return [loss.detach(), *dense]


def is_array(value):
    return isinstance(value, torch.Tensor) and value.layout is torch.strided and value.dtype not in (torch.complex32, torch.complex128) and value.numel() < 1 << 18


def run(task):
    index, dtype, turn, gradients, options = task
    torch.set_num_threads(1)
    logging.disable(logging.CRITICAL)
    torch.manual_seed(0)
    op = op_db[index]
    found = list(op.sample_inputs("cpu", dtype))
    number = turn * max(1, len(found) // MOST)
    name = f"{op.name}/{op.variant_test_name}/{str(dtype)[6:]}/{number}"
    if number >= len(found):
        return name, "left out", "no such sample"
    sample = Sample(op, found[number])
    if not sample.tensors or not all(map(is_array, sample.tensors)):
        return name, "left out", "no small tensors of numbers"
    try:
        with torch.no_grad():
            expected = tree_leaves(sample(*[t.clone() for t in sample.tensors]))
    except RuntimeError as error:  # of views whose tensors are copies now
        return name, "left out", str(error).splitlines()[0]
    if not expected or not all(map(is_array, expected)):
        return name, "left out", "no tensors of numbers as results"
    load, given = lambda: shardkit.import_torch(sample, *sample.tensors), sample.tensors
    if gradients and not any(v.is_floating_point() for v in expected):
        return name, "left out", "no floats as results"
    if gradients:
        module = Gradients(sample)
        try:
            expected = module.expect()
        except (RuntimeError, AttributeError) as error:
            return name, "left out", str(error).splitlines()[0]
        load, given = lambda: shardkit.import_torch(module, *module.tensors, loss=lambda m, *tensors: m(*tensors)), module.tensors
    kind, why = samples.check(load, given, [to_numpy(e) for e in expected], options)
    return name, kind, why


def main():
    args = samples.read_arguments(__doc__, "--gradients")
    tasks = [
        (index, dtype, turn, args.gradients, [f"--target={args.target}"])
        for index, op in enumerate(op_db)
        for dtype in DTYPES
        for turn in range(MOST)
        if (op.supports_autograd and dtype.is_floating_point or not args.gradients)
        if dtype in op.dtypes and not op.name.startswith(LEFT_OUT) and (not args.names or op.name in args.names)
    ]
    samples.run_all(f"samples of PyTorch {torch.__version__}", run, tasks[:: args.every], args)


if __name__ == "__main__":
    main()
