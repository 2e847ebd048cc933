"""Brings models into ShardKit and runs them sharded on logical devices.

    import shardkit
    result = shardkit.run(function, *args)              # a JAX function: compile, load, run, NumPy arrays out
    model = shardkit.import_jax(function, *args)        # annotated IR, weights and inputs by name
    with model.compile() as program: result = program(*args)
"""

from __future__ import annotations

from typing import Any, Callable, Sequence

from .errors import ShardKitError
from .jax.frontend import import_jax
from .model import Argument, Model, Program, Result
from .onnx.frontend import import_onnx
from .session import Array, Function, Session
from .stages import stage_boundary
from .stablehlo.frontend import import_stablehlo
from .torch.frontend import import_torch

__all__ = ["Argument", "Array", "Function", "Model", "Program", "Result", "Session", "ShardKitError", "compile", "import_jax", "import_onnx", "import_stablehlo", "import_torch", "run", "stage_boundary"]


def compile(function: Callable[..., Any], *args: Any, options: Sequence[str] = (), **kwargs: Any) -> Program:
    """Imports a JAX function and compiles it for the mesh of its annotations; `options` go to shard-compile."""
    return import_jax(function, *args, **kwargs).compile(options)


def run(function: Callable[..., Any], *args: Any, options: Sequence[str] = (), **kwargs: Any) -> Any:
    """Imports a JAX function, compiles it and runs it once on all logical devices; results are NumPy arrays."""
    with compile(function, *args, options=options, **kwargs) as program:
        return program(*args, **kwargs)
