"""From exported programs of PyTorch to linalg."""

from __future__ import annotations

import re
import time
from typing import Any, Sequence

import torch
from torch._subclasses.fake_tensor import unset_fake_temporarily
from torch_mlir import fx, ir
from torch_mlir.extras.fx_importer import create_mlir_tensor_type

from ..constants import LARGE, Constants, add_constant
from ..errors import ShardKitError, is_users
from ..tools import find_torch_mlir_opt, get_complaint, run_tool
from . import complex_numbers, decompositions, graph, indices, layers, sizes

def _lowering(has_sizes: bool) -> list[str]:
    """The passes of torch-mlir. With unknown sizes it keeps the ops that `sizes.split_views` writes."""
    kept = " backend-legal-ops=aten.flatten.using_ints,aten.unflatten.int" if has_sizes else ""
    return [
        f"--pass-pipeline=builtin.module(torchdynamo-export-to-torch-backend-pipeline{{extra-library={kept}}},"
        "torch-backend-to-linalg-on-tensors-backend-pipeline,canonicalize,cse)",
        "--mlir-print-op-generic",
        "--mlir-print-debuginfo",
    ]


def check_program(program: Any, has_sizes: bool = False) -> None:
    """Refuses ops whose results have sizes that data decide; with `has_sizes` those of inputs may be unknown."""
    for node in program.graph.nodes:
        for value in torch.utils._pytree.tree_leaves(node.meta.get("val")):
            if isinstance(value, torch.Tensor) and not all(isinstance(size, int) or (has_sizes and not _is_of_data(size)) for size in value.shape):
                raise ShardKitError(
                    f"{_locate(node)}error: {node.target} makes a tensor whose size depends on data, expected static shapes: "
                    "mask with torch.where instead"
                )


def _is_of_data(size: Any) -> bool:
    """Whether a symbol of a size stands for data: torch.export calls these u0, u1, ..."""
    return any(str(symbol).startswith("u") for symbol in size.node.expr.free_symbols)


def lower(program: Any) -> tuple[str, Constants]:
    """Linalg in generic form, and its large constants. An op that torch-mlir does not lower, and that PyTorch or we define by others, becomes these."""
    indices.simplify_indices(program)
    graph.rewrite_graph(program)
    table, added = decompositions.always(), set()
    while True:
        try:
            return _lower_graph(program, table)
        except _NotLowered as error:
            more = {k: v for k, v in decompositions.find_decompositions(error.ops).items() if k not in added}
            if not more:
                raise
            added |= set(more)
            table |= {k: decompositions.either(table.get(k), v) for k, v in more.items()}


class _NotLowered(ShardKitError):
    def __init__(self, message: str, ops: Sequence[str]):
        super().__init__(message)
        self.ops = ops


class _Literals(fx.FxImporterHooks):  # type: ignore[misc, unused-ignore]
    """Keeps large tensors of floats out of the module, which names them. torch-mlir reads the elements of others."""

    def __init__(self) -> None:
        self.constants: Constants = {}
        self._attributes: dict[str, Any] = {}

    def resolve_literal(self, gni: Any, literal: Any, info: Any) -> Any:
        if not isinstance(literal, torch.Tensor) or not literal.is_floating_point() or literal.itemsize < 2 or literal.nbytes <= LARGE:
            return None
        with unset_fake_temporarily():
            name = add_constant(self.constants, literal.detach().cpu().contiguous().view(torch.uint8).numpy())
        if name not in self._attributes:
            self._attributes[name] = ir.Attribute.parse(f"dense_resource<{name}> : {create_mlir_tensor_type(literal)}")
        type = gni._cc.tensor_to_vtensor_type(literal)
        return ir.Operation.create("torch.vtensor.literal", results=[type], attributes={"value": self._attributes[name]}).result


def _lower_graph(program: Any, table: decompositions.Table) -> tuple[str, Constants]:
    try:
        if complex_numbers.has_complex(program):
            table = complex_numbers.by_parts(table)
        program = layers.decompose(program, table)
        indices.simplify_indices(program, table)  # of those that ops are made of
        for node in program.graph.nodes:
            if str(node.target) == "with_effects":  # it stops the program where a value is not as it has to be
                raise ShardKitError(f"{_locate(node)}error: {graph.packet(node.args[1])} has no lowering to linalg, expected ops that have one")
        if any(spec.kind.name != "USER_OUTPUT" for spec in program.graph_signature.output_specs):
            raise ShardKitError(
                "error: the module changes its arguments while it runs, expected none that it changes: return the new value"
            )
        graph.fold_equal(program)
        graph.mend_graph(program)
        has_sizes = sizes.split_views(program)
        for name in program.graph_signature.inputs_to_buffers.values():  # torch-mlir looks for those that are not persistent here too
            if name in program.constants:
                program.state_dict.setdefault(name, program.constants[name])
        literals = _Literals()
        exported = fx.export_and_import(program, output_type="raw", func_name="main", decomposition_table={}, hooks=literals)
    except ShardKitError:
        raise
    except NotImplementedError as error:
        raise ShardKitError(f"error: {str(error).splitlines()[0]}, expected plain operations of PyTorch") from None
    except Exception as error:  # what decompositions raise has no common base
        node = re.search(r"target=torch\.ops\.([\w.]+)", str(error))
        lines = [line for line in re.findall(r'File "([^"]+)", line (\d+)', str(error)) if is_users(line[0])]
        where = ":".join(lines[-1]) + ": " if lines else ""
        what = f"{node[1]}: " if node else ""
        why = f"torch-mlir does not know {error.args[0]}" if isinstance(error, KeyError) else str(error).strip().splitlines()[0]
        raise ShardKitError(f"{where}error: {what}{why}, expected ops and types that it takes") from error
    text, begin = exported.operation.get_asm(enable_debug_info=True), time.monotonic()
    try:
        return run_tool([find_torch_mlir_opt(), *_lowering(has_sizes)], text), literals.constants
    except ShardKitError as error:
        raise _describe_failure(str(error), text, has_sizes, time.monotonic() - begin) from None


def _describe_failure(message: str, text: str, has_sizes: bool, seconds: float) -> _NotLowered:
    """The ops that a message of torch-mlir is about, and their location. `seconds`: how long it took to fail."""
    found = re.search(r'name = "torch\.(\w+\.[\w.]+)"|torch\.((?:aten|prims)\.[\w.]+)', message)
    ops, location = [found[1] or found[2]] if found else [], message
    if not found:  # it names what is left of an op: its constants
        broken = get_complaint([find_torch_mlir_opt(), *_lowering(has_sizes), "--mlir-print-ir-after-failure"], text, 20 + 10 * seconds)
        left = re.findall(r'= "torch\.((?:aten|prims)\.[\w.]+)"\(.*', broken)
        ops = list(dict.fromkeys(left))
    lines = re.findall(r'"?([^"()\n\s]+\.py)"?:(\d+)', location)
    own = [line for line in lines if is_users(line[0])]
    where = ":".join(own[0]) + ": " if own else ""
    if ops:
        what = f"{ops[0]} has no lowering to linalg"
    else:
        said = re.search(r"error: ([^\n]*)", message)
        what = f"an op has no lowering to linalg (torch-mlir: {said[1] if said else 'it crashes'})"
    return _NotLowered(f"{where}error: {what}, expected ops that have one: write it with other operations of PyTorch", ops)


def _locate(node: Any) -> str:
    """`file.py:12: ` of the line of the user that a node came from."""
    lines = re.findall(r'File "([^"]+)", line (\d+)', node.meta.get("stack_trace") or "")
    return ":".join(lines[-1]) + ": " if lines else ""
