"""Graphs of PyTorch, changed in place where torch-mlir would take them wrongly."""

from __future__ import annotations

import math
import operator
import re
from pathlib import Path
from typing import Any

import torch
from torch.fx.passes.shape_prop import _extract_tensor_metadata

from ..errors import PACKAGE, is_users


def rewrite_graph(program: Any) -> None:
    """Changes nodes of an exported program in place. A view, which is a question of how tensors lie in memory, is a reshape; dims of
    scatters are counted from the first; constants in lists, which torch-mlir does not take, are copied; and what a dtype is was seen
    when the program was exported. Where a user called PyTorch, the lines are the user's, and none of PyTorch's."""
    aten = torch.ops.aten
    lifted = program.graph_signature.inputs_to_lifted_tensor_constants
    for node in list(program.graph.nodes):
        frames = re.findall(r'File "([^"]+)", line (\d+), in (\S+)', node.meta.get("stack_trace") or "")
        frames = [f for f in frames if is_users(f[0])] or [f for f in frames if not Path(f[0]).is_relative_to(PACKAGE)]
        if frames:
            node.meta["stack_trace"] = "".join(f'  File "{file}", line {line}, in {name}\n' for file, line, name in frames)
        if node.target is aten._assert_tensor_metadata.default:
            program.graph.erase_node(node)
            continue
        if node.target is aten._assert_async.default:  # PyTorch takes it for dead code, and not the other
            node.target, node.args = aten._assert_async.msg, (node.args[0], "assertion error")
        for i, arg in enumerate(node.args if node.op == "call_function" else ()):
            if isinstance(arg, (list, tuple)) and any(isinstance(v, torch.fx.Node) and v.name in lifted for v in arg):
                node.update_arg(i, [_copy(node, v) if isinstance(v, torch.fx.Node) and v.name in lifted else v for v in arg])
        if node.target is aten.view.default:
            node.target = aten.reshape.default
        elif node.target is aten.detach_.default:  # of a constant
            node.target = aten.detach.default
        elif node.target is aten.embedding_bag.padding_idx:
            _tell_bags(node)
        elif packet(node.target) in ("aten.scatter", "aten.scatter_add", "aten.scatter_reduce") and node.args[1] < 0:
            rank = node.args[0].meta["val"].dim()
            node.args = (node.args[0], node.args[1] % max(rank, 1), *node.args[2:])


def _copy(before: Any, node: Any) -> Any:
    with before.graph.inserting_before(before):
        made = before.graph.call_function(torch.ops.aten.clone.default, (node,))
    made.meta = {**before.meta, "val": node.meta["val"]}
    made.meta.pop("tensor_meta", None)
    return made


def _tell_bags(node: Any) -> None:
    """Bags of one size, which torch.nn.functional.embedding_bag makes of indices of two dims, are the rows of these again."""
    begins = node.args[2]
    if packet(begins.target) != "aten.arange" or len(begins.args) != 3:
        return
    first, end, size = begins.args
    if first != 0 or not size or end % size or node.args[1].meta["val"].shape[0] != end:
        return
    with node.graph.inserting_before(node):
        shape = [end // size, size]
        rows = node.graph.call_function(torch.ops.aten.reshape.default, (node.args[1], shape))
    rows.meta = {**node.meta, "val": node.args[1].meta["val"].reshape(shape)}
    node.args = (node.args[0], rows, *node.args[2:])


_LARGEST = 1 << 20
"""Elements of a value that is computed here."""


_LIKE = {"aten.full_like": 0, "aten.ones_like": 1, "aten.zeros_like": 0}


def fold_equal(program: Any) -> None:
    """Computes constants whose elements are all equal: torch-mlir folds them with numbers of other types wrongly (`ones(2) + -1`)."""
    graph = program.graph_module.graph
    equal: dict[Any, Any] = {}
    signature = program.graph_signature
    held = dict(signature.inputs_to_lifted_tensor_constants) | dict(signature.inputs_to_buffers)
    for node in list(graph.nodes):
        meta = node.meta.get("val")
        if not isinstance(meta, torch.Tensor) or not _has_known_shape(meta) or not meta.numel() or meta.is_complex():
            continue
        if node.op == "placeholder":
            name = held.get(node.name)
            value = program.constants.get(name, program.state_dict.get(name)) if name else None
        elif packet(node.target) in _LIKE:
            value = torch.full([1] * meta.dim(), node.args[1] if len(node.args) > 1 else _LIKE[packet(node.target)], dtype=meta.dtype)
        elif node.op == "call_function" and all(n in equal for n in node.all_input_nodes) and not _draws(node):
            value = _compute(node, equal, meta)
        else:
            value = None
        if value is None or value.numel() > _LARGEST or not _is_equal(value):
            continue
        equal[node] = value.flatten()[0]
        if node.op == "call_function":
            with graph.inserting_before(node):
                made = graph.call_function(torch.ops.aten.full.default, (list(meta.shape), equal[node].item()), {"dtype": meta.dtype})
            made.meta, equal[made] = {**node.meta}, equal[node]
            node.replace_all_uses_with(made)
            graph.erase_node(node)


def _has_known_shape(value: torch.Tensor) -> bool:
    return all(isinstance(size, int) for size in value.shape)


def _compute(node: Any, equal: Any, meta: torch.Tensor) -> Any:
    """The value of a node of constants; of one element where it is a function of elements."""
    is_pointwise = torch.Tag.pointwise in getattr(node.target, "tags", ())
    if not is_pointwise and max((n.meta["val"].numel() for n in node.all_input_nodes), default=meta.numel()) > _LARGEST:
        return None

    def expand(n: Any) -> Any:
        shape = n.meta["val"].shape
        return equal[n].expand([1] * len(shape) if is_pointwise else shape)

    args, kwargs = torch.fx.node.map_arg((node.args, node.kwargs), expand)
    with torch.no_grad():
        try:
            return node.target(*args, **kwargs)
        except Exception:  # a type that PyTorch has no kernel for
            return None


def _is_equal(value: torch.Tensor) -> bool:
    first = value.flatten()[0]
    if not value.is_floating_point():
        return bool((value == first).all())
    return bool((((value == first) & (value.signbit() == first.signbit())) | (value.isnan() & first.isnan())).all())


def _draws(node: Any) -> bool:
    tags = getattr(node.target, "tags", ())
    is_mutable = getattr(getattr(node.target, "_schema", None), "is_mutable", True)
    return is_mutable or torch.Tag.nondeterministic_seeded in tags or "empty" in packet(node.target)


def mend_graph(program: Any) -> None:
    """Changes a program that has been decomposed in place. torch-mlir takes unsigned integers for signed ones in many ops (sums,
    quotients, limits, sorting), and True for -1 in some: what is not only moved is computed in a wider type. And it searches for the
    indices of the largest and of the smallest as if NaN were not there. A value without elements is a constant. Numbers that a flag
    chooses, in checks (`torch._check`), are computed from the flag as an integer."""
    from torch.utils._pytree import tree_leaves, tree_map

    graph, wide, cast = program.graph_module.graph, _wide_types(), torch.ops.prims.convert_element_type.default
    copies: dict[Any, Any] = {}

    def value_of(node: Any) -> Any:
        return node.meta["val"] if isinstance(node, torch.fx.Node) else node

    def add_cast(node: Any, dtype: Any) -> Any:
        made = graph.call_function(cast, (node, dtype))
        made.meta = {**node.meta, "val": node.meta["val"].to(dtype)}
        made.meta.pop("tensor_meta", None)
        return made

    def widen(node: Any, of: Any) -> Any:
        value = value_of(node)
        dtype = wide.get(value.dtype) if isinstance(value, torch.Tensor) else None
        if dtype is None or (value.dtype is torch.bool and packet(of.target) not in _WRONG_OF_BOOLEANS):
            return node
        if node not in copies:
            # Of an argument: before its first reader.
            with graph.inserting_before(of) if node.op == "placeholder" else graph.inserting_after(node):
                copies[node] = add_cast(node, dtype)
        return copies[node]

    for node in list(graph.nodes):
        value = node.meta.get("val")
        if node.op == "call_function" and isinstance(value, torch.Tensor) and _has_known_shape(value) and not value.numel():  # views of no element crash torch-mlir
            with graph.inserting_before(node):
                made = graph.call_function(torch.ops.aten.full.default, (list(value.shape), 0), {"dtype": value.dtype})
            made.meta = {**node.meta, "val": value}
            made.meta.pop("tensor_meta", None)
            node.replace_all_uses_with(made)
            graph.erase_node(node)
            continue
        if node.target is torch.sym_ite:
            _choose_number(node, add_cast)
            continue
        if packet(node.target) == "aten._assert_async":
            _check_number(node, add_cast)
            continue
        if node.target in (torch.ops.aten.argmax.default, torch.ops.aten.argmin.default) and node.args[0].meta["val"].is_floating_point():
            beyond = math.inf if node.target is torch.ops.aten.argmax.default else -math.inf
            with graph.inserting_before(node):  # what is no number is beyond all
                made = graph.call_function(torch.ops.aten.nan_to_num.default, (node.args[0], beyond, math.inf, -math.inf))
            made.meta = {**node.meta, "val": node.args[0].meta["val"]}
            made.meta.pop("tensor_meta", None)
            node.args = (made, *node.args[1:])
            continue
        if node.target is cast and node.args[0].meta["val"].is_floating_point() and node.args[1] in wide and node.args[1] is not torch.bool:
            with graph.inserting_before(node):  # of the range of signed ones it takes what it makes of others
                node.args = (add_cast(node.args[0], wide[node.args[1]]), node.args[1])
            continue
        if packet(node.target) in _CONSTANTS and value.dtype in wide and value.dtype is not torch.bool:  # torch-mlir's has another type
            node.kwargs = {**node.kwargs, "dtype": wide[value.dtype]}
            node.meta = {**node.meta, "val": value.to(wide[value.dtype])}
            node.meta.pop("tensor_meta", None)
            with graph.inserting_after(node):
                narrow = add_cast(node, value.dtype)
            node.replace_all_uses_with(narrow, delete_user_cb=lambda user, narrow=narrow: user is not narrow)
            continue
        is_op = node.op == "call_function" and hasattr(node.target, "_overloadpacket") and node.meta.get("val") is not None
        if not is_op or packet(node.target) in MOVES:
            continue
        args, kwargs = tree_map(lambda v: widen(v, node) if isinstance(v, torch.fx.Node) else v, (node.args, node.kwargs))
        if all(a is b for a, b in zip(tree_leaves((args, kwargs)), tree_leaves((node.args, node.kwargs)))):
            continue
        old = node.meta["val"]
        node.args, node.kwargs = args, kwargs
        node.meta["val"] = node.target(*tree_map(value_of, args), **tree_map(value_of, kwargs))
        node.meta.pop("tensor_meta", None)
        results = [(node, old)]
        if not isinstance(old, torch.Tensor):
            results = [(user, old[user.args[1]]) for user in node.users]
            for user, _ in results:
                user.meta["val"] = node.meta["val"][user.args[1]]
                user.meta.pop("tensor_meta", None)
        for result, before in results:
            if result.meta["val"].dtype != before.dtype:
                with graph.inserting_after(result):
                    narrow = add_cast(result, before.dtype)
                result.replace_all_uses_with(narrow, delete_user_cb=lambda user, narrow=narrow: user is not narrow)
    program.graph_module.recompile()


def _choose_number(node: Any, add_cast: Any) -> None:
    """`sym_ite(flag.item(), a, b)`, which torch-mlir does not take, becomes `flag.to(int64).item() * (a - b) + b`."""
    flag, a, b = node.args
    if packet(flag.target) not in ("aten.item", "aten._local_scalar_dense") or not all(isinstance(v, int) for v in (a, b)):
        return
    with node.graph.inserting_before(node):
        integer = add_cast(flag.args[0], torch.int64)
        integer.meta["tensor_meta"] = _extract_tensor_metadata(integer.meta["val"])  # where torch-mlir looks for the type
        number = node.graph.call_function(flag.target, (integer,))
        for function, operand in ((operator.mul, a - b), (operator.add, b)):
            number.meta = {**node.meta}
            if operand != (1 if function is operator.mul else 0):
                number = node.graph.call_function(function, (number, operand))
    number.meta = {**node.meta}
    node.replace_all_uses_with(number)
    node.graph.erase_node(node)
    if not flag.users:
        flag.graph.erase_node(flag)


def _check_number(node: Any, add_cast: Any) -> None:
    """`_assert_async(flag, message)`, which `torch._assert` of a tensor is and torch-mlir drops, becomes a check of a number:
    `_assert_scalar(flag.to(int64).item() == 1, message)`."""
    aten, graph = torch.ops.aten, node.graph
    flag, message = node.args[0], node.args[1] if len(node.args) > 1 else "assertion error"

    def add(target: Any, *args: Any) -> Any:
        made = graph.call_function(target, args)
        value = target(*(a.meta["val"] if isinstance(a, torch.fx.Node) else a for a in args))
        made.meta = {**node.meta, "val": value}
        return made

    with graph.inserting_before(node):
        if flag.meta["val"].dtype is not torch.bool:
            flag = add(aten.ne.Scalar, flag, 0)
        if flag.meta["val"].dim():
            flag = add(aten.reshape.default, flag, [])
        integer = add_cast(flag, torch.int64)
        integer.meta["tensor_meta"] = _extract_tensor_metadata(integer.meta["val"])
        number = add(aten._local_scalar_dense.default, integer)
        made = graph.call_function(aten._assert_scalar.default, (add(operator.eq, number, 1), message))
        made.meta = {**node.meta}
    graph.erase_node(node)


def _wide_types() -> dict[Any, Any]:
    return {torch.uint8: torch.int32, torch.uint16: torch.int32, torch.uint32: torch.int64, torch.bool: torch.int32}


_CONSTANTS = {f"aten.{name}{like}" for name in ("full", "ones", "zeros") for like in ("", "_like")} | {"aten.scalar_tensor"}
_WRONG_OF_BOOLEANS = tuple(f"aten.{name}" for name in ("clamp", "clamp_min", "clamp_max", "scatter_reduce", "sort"))
# These look at no value, or are right for unsigned integers.
MOVES = {
    f"aten.{name}"
    for name in (
        "alias", "as_strided", "cat", "clone", "constant_pad_nd", "copy", "diagonal", "embedding", "empty_like", "expand", "flip",
        "full_like", "gather", "index", "index_put", "index_select", "lift_fresh_copy", "permute", "repeat", "reshape", "roll",
        "scatter", "select", "select_scatter", "slice", "slice_scatter", "split", "split_with_sizes", "squeeze", "stack", "t",
        "transpose", "unbind", "unsqueeze", "view", "where", "zeros_like", "_to_copy",
    )
} | {"prims.convert_element_type"}  # fmt: skip


def packet(op: Any) -> str:
    """`aten.add`, of each of its overloads."""
    return str(getattr(op, "_overloadpacket", op))
