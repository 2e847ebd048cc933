"""Brings models into ShardKit and runs them sharded on logical devices.

    import shardkit
    result = shardkit.run(function, *args)              # a JAX function: compile, load, run, NumPy arrays out
    model = shardkit.import_jax(function, *args)        # annotated IR, weights and inputs by name
    with model.compile() as program: result = program(*args)
"""

from __future__ import annotations

from typing import Any, Callable, Mapping, Sequence

from .errors import ShardKitError
from .jax.frontend import import_jax
from .model import Argument, Model, Program, Result
from .onnx.frontend import import_onnx
from .programs import Programs, compile_functions
from .session import Array, Function, Session
from .stages import stage_boundary
from .stablehlo.frontend import import_stablehlo
from .torch.frontend import import_torch

__all__ = ["Argument", "Array", "Function", "Model", "Program", "Programs", "Result", "Session", "ShardKitError", "compile", "import_jax", "import_onnx", "import_stablehlo", "import_torch", "run", "stage_boundary"]


def compile(function: Callable[..., Any] | Mapping[str, Any], *args: Any, options: Sequence[str] = (), **kwargs: Any) -> Any:
    """Imports a JAX function and compiles it for the mesh of its annotations; `options` are those of shard-compile.

    Compiled bundles are kept in SHARDKIT_CACHE, by default ~/.cache/shardkit, and the same function is compiled once:
    see `Model.compile`.

    Several functions that share weights and state are compiled together, and are sharded together:
    `compile({"prefill": f, "decode": g}, {"prefill": args, "decode": args}, state={"prefill.result.1": "cache"}, calls={"decode": 100})`.
    Values are JAX functions, whose arguments are a tuple, or a dictionary by keyword, or models that were imported. Arguments of one
    name are one weight. `state`: a result, `result` or a part of it, that others take as the arguments of a name. `calls`: how
    often a function is called, as compared with the others, which counts in conflicts and in the search. Other keyword
    arguments are those of `Session`. The result has the functions by name (`Programs`)."""
    if isinstance(function, Mapping):
        return compile_functions(function, *args, options=options, **kwargs)
    return import_jax(function, *args, **kwargs).compile(options)


def run(function: Callable[..., Any], *args: Any, options: Sequence[str] = (), **kwargs: Any) -> Any:
    """Imports a JAX function, compiles it and runs it once on all logical devices; results are NumPy arrays."""
    with compile(function, *args, options=options, **kwargs) as program:
        return program(*args, **kwargs)
