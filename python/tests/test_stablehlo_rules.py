"""StableHLO as text through ShardKit's rules for it: each program is propagated and partitioned as StableHLO, the program of a device is
lowered by torch-mlir, and its results on logical devices are those of JAX. The rule of each op is checked with StableHLO's interpreter."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Any, Callable

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jaxlib.mlir import ir as mlir
from jaxlib.mlir.dialects import stablehlo
from shardkit import ir
from shardkit.errors import ShardKitError
from shardkit.model import DTYPES
from shardkit.session import Session
from shardkit.stablehlo.frontend import parse
from shardkit.tools import find_tool, find_torch_mlir_opt, run_tool

Arguments = list[tuple[tuple[int, ...], str]]
"""Shapes and shardings on the mesh <"x"=2, "y"=3>. JAX itself takes no uneven ones."""

Program = tuple[Callable[..., Any], Arguments, tuple[str, ...]]


def attend(x: Any, w: Any) -> Any:
    h = jnp.tanh(x @ w)
    return jax.nn.softmax(h @ h.T / 3, axis=-1) @ h


def convolve(x: Any, k: Any) -> Any:
    y = lax.conv_general_dilated(x, k, (1, 2), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))
    return lax.reduce_window(y, -jnp.inf, lax.max, (1, 3, 1, 1), (1, 1, 1, 1), "SAME")


def move(x: Any) -> Any:
    y = lax.pad(x, 0.0, ((0, 0, 0), (2, 1, 0)))[:, 1:11]
    return lax.rev(jnp.concatenate([y, y + 1], 1), (1,)).reshape(x.shape[0], 4, 5).transpose(1, 0, 2)


def look_up(table: Any, x: Any) -> Any:
    rows = table[jnp.array([3, 0, 4, 1, 1])]
    return lax.dynamic_slice(rows, (0, 2), (5, 3)), lax.dynamic_update_slice(x, rows, (0, 1))


def reduce(x: Any) -> Any:
    return x.sum(0), x.max(1), jnp.prod(x, axis=(0, 1)), jnp.cumsum(x, 1)


# The ops that must compute local shapes: their results in the program of a device.
PROGRAMS: dict[str, Program] = {
    "attend": (attend, [((8, 12), '{"x"}, {}'), ((12, 6), '{}, {"y"}')], ("stablehlo.dot_general", "spmd.all_reduce")),
    "uneven": (attend, [((7, 10), '{"x"}, {"y"}'), ((10, 5), '{}, {"y"}')], ("-> tensor<4x2xf32>",)),
    "convolve": (convolve, [((2, 8, 12, 3), '{}, {"x"}, {"y"}, {}'), ((3, 3, 3, 4), "{}, {}, {}, {}")], ("spmd.halo_exchange", "tensor<2x4x2x4xf32>")),
    "uneven_windows": (convolve, [((2, 7, 10, 3), '{}, {"x"}, {"y"}, {}'), ((3, 3, 3, 4), "{}, {}, {}, {}")], ("spmd.halo_exchange",)),
    "move": (move, [((6, 9), '{"x"}, {"y"}')], ("spmd.halo_exchange", "stablehlo.concatenate")),
    "look_up": (look_up, [((5, 6), '{}, {"y"}'), ((5, 8), '{"x"}, {}')], ("slice_sizes = array<i64: 1, 2>",)),
    "reduce": (reduce, [((7, 10), '{"x"}, {"y"}')], ("spmd.all_reduce",)),
}


def lower(function: Callable[..., Any], arguments: Arguments) -> str:
    structs = [jax.ShapeDtypeStruct(shape, np.float32) for shape, _ in arguments]
    text = str(jax.jit(function).lower(*structs).compiler_ir("stablehlo").operation.get_asm(print_generic_op_form=True))
    shardings = ", ".join(f"{{spmd.sharding = #spmd.sharding<@mesh, [{sharding}]>}}" for _, sharding in arguments)
    begin, attributes = "({\n", f"arg_attrs = [{', '.join(['{}'] * len(arguments))}]"
    assert begin in text and attributes in text
    return text.replace(begin, begin + '  spmd.mesh @mesh = <["x"=2, "y"=3]>\n', 1).replace(attributes, f"arg_attrs = [{shardings}]", 1)


def interpret(text: str, operands: list[list[float]]) -> list[list[float]]:
    """StableHLO's reference interpreter."""
    module = parse(text)
    with module.context, mlir.Location.unknown():
        arguments = []
        for argument, elements in zip(module.body.operations[0].regions[0].blocks[0].arguments, operands, strict=True):
            type = mlir.RankedTensorType(argument.type)
            array = np.array(elements).astype(DTYPES[str(type.element_type)]).reshape(type.shape)
            arguments.append(mlir.DenseElementsAttr.get(array, type=type.element_type, shape=type.shape))
        return [np.array(mlir.DenseElementsAttr(r)).astype(float).ravel().tolist() for r in stablehlo.eval_module(module, arguments)]


def check_rules(name: str) -> str | None:
    """The first op whose rule gives other numbers, if there is one."""
    function, arguments, _ = PROGRAMS[name]
    inlined = run_tool([find_tool("shard-opt"), "-", "--allow-unregistered-dialect", "--inline", "--symbol-dce"], lower(function, arguments))
    try:
        cases = ir.parse(inlined).check_rules(interpret)
    except ShardKitError as error:
        return str(error)
    return None if sum(cases.values()) >= 10 else f"{cases} are too few cases"


def run(name: str) -> str | None:
    """The reason why a program is wrong, if it is."""
    function, arguments, expected = PROGRAMS[name]
    shard_opt = [find_tool("shard-opt"), "-", "--allow-unregistered-dialect"]
    local = run_tool(shard_opt + ["--inline", "--symbol-dce", "--spmd-default-pipeline=plan=propagation"], lower(function, arguments))
    for text in expected:
        if text not in local:
            return f"{text} is not in the program of a device:\n{local}"
    generic = run_tool(shard_opt + ["--mlir-print-op-generic"], local)
    linalg = run_tool(
        [find_torch_mlir_opt(), "--allow-unregistered-dialect", "--stablehlo-legalize-to-linalg", "--mlir-print-op-generic"], generic
    )
    values = [np.random.default_rng(i).standard_normal(shape, np.float32) for i, (shape, _) in enumerate(arguments)]
    with tempfile.TemporaryDirectory() as directory:
        model, bundle = Path(directory) / "model.mlir", Path(directory) / "bundle"
        model.write_text(linalg)
        run_tool([find_tool("shard-compile"), str(model), "-o", str(bundle), "--opt-level=1"])
        with Session(bundle) as session:
            results = session["main"](*values)
            results = [np.asarray(r) for r in (results if isinstance(results, (list, tuple)) else [results])]
    wanted = jax.tree.leaves(jax.jit(function)(*values))
    for i, (result, want) in enumerate(zip(results, wanted, strict=True)):
        if not np.allclose(result, want, rtol=1e-5, atol=1e-5):
            return f"result {i} differs by {np.abs(result - want).max()}"
    return None


def main() -> int:
    wrong = 0
    for name in sys.argv[1:] or PROGRAMS:
        reason = check_rules(name) or run(name)
        print(f"{name}: {reason or 'equal'}")
        wrong += reason is not None
    return int(wrong != 0)


if __name__ == "__main__":
    sys.exit(main())
