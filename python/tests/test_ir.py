"""shardkit.ir: modules, passes with options, shardings, layouts, reports, and one error for what is wrong."""

from __future__ import annotations

import io
import sys
from typing import Any, Callable

from jaxlib.mlir import ir as bindings
from jaxlib.mlir.dialects import func, math, stablehlo
from shardkit import ir
from shardkit.errors import ShardKitError

TEXT = """
spmd.mesh @pod = <["x"=2, "y"=2]>
func.func @main(%a: tensor<8x4xf32> {spmd.sharding = #spmd.sharding<@pod, [{"x"}, {}]>}) -> tensor<8x4xf32> {
  %0 = math.exp %a : tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}
"""
SCATTER = """
func.func @f(%t: tensor<1x6x2xf32>, %i: tensor<1x4xi32>, %r: tensor<1x4x2xf32>) {
  %0 = tosa.scatter %t, %i, %r : (tensor<1x6x2xf32>, tensor<1x4xi32>, tensor<1x4x2xf32>) -> tensor<1x6x2xf32>
  return
}
"""
ROWS, WHOLE = '#spmd.sharding<@pod, [{"x"}, {}]>', "#spmd.sharding<@pod, [{}, {}]>"
TYPE = "tensor<8x4xf32>"


def find_error(call: Callable[[], Any]) -> str:
    try:
        call()
    except ShardKitError as error:
        return str(error)
    return "no error"


def scatter(table: list[float], indices: list[float], rows: list[float], adds: bool) -> list[float]:
    """Writes rows at indices, as the rule of tosa.scatter says, or adds them, which is another op."""
    written, width = list(table), len(rows) // len(indices)
    for row, index in enumerate(indices):
        for i in range(width):
            at = int(index) * width + i
            written[at] = (written[at] if adds else 0) + rows[row * width + i]
    return written


def check_bindings() -> None:
    """A module that MLIR's Python bindings build, of another version of MLIR, with an op of a dialect that ShardKit does not have, goes here and back."""
    with bindings.Context() as context, bindings.Location.file("model.py", 3, 8):
        stablehlo.register_dialect(context)
        context.allow_unregistered_dialects = True
        built = bindings.Module.create()
        with bindings.InsertionPoint(built.body):
            type = bindings.RankedTensorType.get([8, 4], bindings.F32Type.get())
            function = func.FuncOp("main", ([type], [type]))
            with bindings.InsertionPoint(function.add_entry_block()):
                func.ReturnOp([stablehlo.tanh(math.exp(function.arguments[0]))])
        for source in (built, built.operation, built.operation.get_asm(print_generic_op_form=True, enable_debug_info=True)):
            read = ir.parse(source, allow_unregistered_dialects=True)
            assert [op.name for op in read.functions["main"].operations] == ["math.exp", "stablehlo.tanh", "func.return"]
            assert 'loc("model.py":3:8)' in read.get_asm(enable_debug_info=True) and "model.py" not in read.get_asm()
        back = bindings.Module.parse(read.get_asm(print_generic_op_form=True, enable_debug_info=True))
        again = ir.parse(back, allow_unregistered_dialects=True)
        assert again.get_asm(enable_debug_info=True) == read.get_asm(enable_debug_info=True)
        bytecode = io.BytesIO()
        bindings.Module.parse("module @part {}").operation.write_bytecode(bytecode)
        assert "module @part" in str(ir.parse(bytecode.getvalue()))
        assert "expected text" in find_error(lambda: ir.parse(bytecode.getvalue(), allow_unregistered_dialects=True))


def main() -> int:
    check_bindings()
    module = ir.parse(TEXT)
    assert module.report()["meshes"][0]["name"] == "pod"
    module.run("spmd-propagate", conflicts="basic")
    function = module.functions["main"]
    assert function.arguments == (ir.Value(TYPE, ROWS),)
    assert [op.name for op in function.operations] == ["math.exp", "func.return"]
    assert function.operations[0].results[0].sharding == function.results[0].sharding == '#spmd.sharding<@pod, [{"x", ?}, {?}]>'
    assert 'spmd.phase = "propagated"' in str(module)

    assert module.local_type('#spmd.sharding<@pod, [{"x"}, {"y"}]>', "tensor<7x9xf32>") == "tensor<4x5xf32>"
    assert module.owners(ROWS, TYPE, [5, 1]) == [2, 3]
    assert module.owners(WHOLE, TYPE, [0, 0]) == [0, 1, 2, 3]
    move = module.reshard(TYPE, ROWS, WHOLE)
    assert (move["kinds"], move["axes"], move["bytes"]) == (["all_gather"], ["x"], 128) and move["seconds"] > 0

    warns = ir.parse('func.func @f(%a: tensor<8xf32>) -> tensor<8xf32> {\n  return %a : tensor<8xf32>\n}')
    assert not warns.diagnostics and warns.functions["f"].arguments[0].sharding is None

    rules = ir.parse(SCATTER)
    assert rules.check_rules(lambda _, operands: [scatter(*operands, adds=False)])["tosa.scatter"] > 3

    wrong: list[tuple[Callable[[], Any], str]] = [
        (lambda: ir.parse(3), "cannot parse int, expected text or bytecode of a module, or a module of MLIR's Python bindings"),
        (lambda: ir.parse('"toy.op"() : () -> ()'), "unregistered"),
        (lambda: ir.parse("x"), "1:1): error: custom op 'x' is unknown"),
        (lambda: module.run("nothing"), "there is no pass or pipeline 'nothing', expected one that is registered"),
        (lambda: module.run("spmd-propagate", conflict="basic"), "no such option conflict"),
        (lambda: module.run("spmd-propagate", conflicts="all"), "unknown conflicts=all, expected cost or basic"),
        (lambda: module.run("spmd-partition"), 'a module in phase "propagated", expected "resharded"'),
        (lambda: rules.check_rules(lambda _, operands: [scatter(*operands, adds=True)]), "the sharding rule of tosa.scatter gives wrong numbers"),
        (lambda: module.local_type('#spmd.sharding<@pod, [{"z"}]>', "tensor<8xf32>"), 'unknown axis "z", expected one of "x", "y"'),
        (lambda: module.local_type("#spmd.sharding<@no, [{}]>", "tensor<8xf32>"), "unknown mesh @no"),
        (lambda: module.local_type("2 : i64", "tensor<8xf32>"), "expected a #spmd.sharding, got 2 : i64"),
        (lambda: module.local_type(ROWS, "tensor<8xf32>"), "sharding has 2 dimensions, expected 1"),
        (lambda: module.local_type('#spmd.sharding<@pod, [{"x", "x"}]>', "tensor<8xf32>"), '"x"'),
        (lambda: module.local_type(ROWS, "f32"), "expected a ranked tensor of static shape, got 'f32'"),
        (lambda: module.local_type(ROWS, "tensor<"), "error: expected"),
        (lambda: module.owners(ROWS, TYPE, [9, 1]), "index 9 of dim 0 of 'tensor<8x4xf32>' does not exist"),
        (lambda: module.owners(ROWS, TYPE, [1]), "the index has 1 numbers, expected one for each dim of tensor<8x4xf32>"),
    ]
    failed = 0
    for call, expected in wrong:
        message = find_error(call)
        if expected not in message:
            print(f"expected '{expected}', got:\n{message}")
            failed += 1
    print(f"{len(wrong) - failed} of {len(wrong)} errors")
    return int(failed != 0)


if __name__ == "__main__":
    sys.exit(main())
