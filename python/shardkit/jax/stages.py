"""Stage boundaries in JAX functions."""

from __future__ import annotations

import functools
from typing import Any

from ..errors import require
from ..stablehlo import STAGE_MARK


def mark(value: Any) -> Any:
    require("jax", "jax", "marking a stage boundary")
    import jax

    leaves, tree = jax.tree_util.tree_flatten(value)
    return jax.tree_util.tree_unflatten(tree, _mark()(*leaves)) if leaves else value


@functools.cache
def _mark() -> Any:
    """The function that marks arrays; made once jax is there."""
    import jax
    import jax.numpy as jnp
    from jax.extend import core
    from jax.extend.mlir import ir
    from jax.interpreters import batching, mlir

    primitive = core.Primitive("stage_boundary")
    primitive.multiple_results = True
    primitive.def_impl(lambda *values, backward: list(values))
    primitive.def_abstract_eval(lambda *values, backward: list(values))
    batching.primitive_batchers[primitive] = lambda values, dims, backward: (
        primitive.bind(*values, backward=backward),
        dims,
    )

    def lower(context: Any, *values: Any, backward: bool) -> Any:
        # An identity that JAX can run, with the mark beside it.
        barrier = ir.Operation.create(
            "stablehlo.optimization_barrier",
            results=[v.type for v in values],
            operands=list(values),
            attributes={STAGE_MARK: ir.StringAttr.get("backward" if backward else "forward")},
        )
        return list(barrier.results)

    mlir.register_lowering(primitive, lower)

    def bind(*values: Any) -> Any:
        return tuple(primitive.bind(*values, backward=False))

    mark = jax.custom_vjp(bind)

    def forward(*values: Any) -> Any:
        return mark(*values), None

    def backward(_: Any, gradients: Any) -> Any:
        # Integers have no gradient that could cross.
        real = [i for i, g in enumerate(gradients) if jnp.issubdtype(g.dtype, jnp.inexact)]
        marked = dict(zip(real, primitive.bind(*[gradients[i] for i in real], backward=True))) if real else {}
        return tuple(marked.get(i, g) for i, g in enumerate(gradients))

    mark.defvjp(forward, backward)
    return mark
