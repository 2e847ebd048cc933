"""Brings models into ShardKit and runs them sharded on logical devices.

    import shardkit
    result = shardkit.run(function, *args)              # a JAX function: compile, load, run, NumPy arrays out
    model = shardkit.import_jax(function, *args)        # annotated IR, weights and inputs by name
    with model.compile() as program: result = program(*args)
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any, Callable, Mapping, Sequence

if TYPE_CHECKING:
    from . import recipes
    from .calibration import Calibration, calibrate
    from .errors import ShardKitError
    from .hlo.proof import XlaProof, prove_xla
    from .huggingface.frontend import import_transformers
    from .jax.frontend import import_jax
    from .jax.plan import JaxPlan
    from .jax.spmd import SpmdProgram, export_stablehlo_spmd
    from .model import Argument, Model, Program, Result
    from .onnx.frontend import import_onnx
    from .onnx.plan import OnnxPlan, plan_onnx
    from .planning.plan import Plan, plan
    from .planning.tactics import Tactics
    from .processes import init
    from .programs import Models, Programs
    from .session import Array, Function, GpuShard, Session, ValueReport
    from .stages import stage_boundary
    from .stablehlo.frontend import import_stablehlo
    from .stablehlo.plan import StablehloPlan, plan_stablehlo
    from .torch.frontend import import_torch
    from .torch.planning.plan import TorchPlan

__all__ = ["Argument", "Array", "Calibration", "Function", "GpuShard", "JaxPlan", "Model", "Models", "OnnxPlan", "Plan", "Program", "Programs", "Result", "Session", "ShardKitError", "SpmdProgram", "StablehloPlan", "Tactics", "TorchPlan", "ValueReport", "XlaProof", "calibrate", "compile", "export_stablehlo_spmd", "import_jax", "import_onnx", "import_stablehlo", "import_torch", "import_transformers", "init", "plan", "plan_onnx", "plan_stablehlo", "prove_xla", "recipes", "run", "stage_boundary"]

# Where names are from: a module is imported when one of its names is used.
_MODULES = {
    "calibration": ["Calibration", "calibrate"],
    "errors": ["ShardKitError"],
    "hlo.proof": ["XlaProof", "prove_xla"],
    "huggingface.frontend": ["import_transformers"],
    "jax.frontend": ["import_jax"],
    "jax.plan": ["JaxPlan"],
    "jax.spmd": ["SpmdProgram", "export_stablehlo_spmd"],
    "model": ["Argument", "Model", "Program", "Result"],
    "onnx.frontend": ["import_onnx"],
    "onnx.plan": ["OnnxPlan", "plan_onnx"],
    "planning.plan": ["Plan", "plan"],
    "planning.tactics": ["Tactics"],
    "processes": ["init"],
    "programs": ["Models", "Programs"],
    "recipes": [],
    "session": ["Array", "Function", "GpuShard", "Session", "ValueReport"],
    "stages": ["stage_boundary"],
    "stablehlo.frontend": ["import_stablehlo"],
    "stablehlo.plan": ["StablehloPlan", "plan_stablehlo"],
    "tools": [],
    "torch.frontend": ["import_torch"],
    "torch.planning.plan": ["TorchPlan"],
}


def __getattr__(name: str) -> Any:
    for module, names in _MODULES.items():
        if name in names:
            value = getattr(importlib.import_module(f".{module}", __name__), name)
            return globals().setdefault(name, value)
    if name in _MODULES:
        return importlib.import_module(f".{name}", __name__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


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
        from .programs import compile_functions

        return compile_functions(function, *args, options=options, **kwargs)
    from .jax.frontend import import_jax

    return import_jax(function, *args, **kwargs).compile(options)


def run(function: Callable[..., Any], *args: Any, options: Sequence[str] = (), **kwargs: Any) -> Any:
    """Imports a JAX function, compiles it and runs it once on all logical devices; results are NumPy arrays."""
    with compile(function, *args, options=options, **kwargs) as program:
        return program(*args, **kwargs)
