"""From StableHLO, annotated for Shardy, to annotated linalg."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path
from typing import Any, Sequence

from ..constants import Constants
from ..errors import ShardKitError, require
from ..model import DTYPES, Argument, Model, Result
from ..tools import Lowerings, find_tool, find_torch_mlir_opt, run_tool


def parse(source: str | bytes, name: str = "-") -> Any:
    """A module of jaxlib's bindings from text or bytecode; errors are about the file `name`, if it is from one."""
    require("jaxlib", "jaxlib", "reading StableHLO")
    from jaxlib.mlir import ir
    from jaxlib.mlir._mlir_libs import _jax_mlir_ext
    from jaxlib.mlir.dialects import chlo, sdy, stablehlo

    context = ir.Context()
    registry = ir.DialectRegistry()
    _jax_mlir_ext.register_dialects(registry)
    context.append_dialect_registry(registry)
    context.load_all_available_dialects()
    for dialect in (stablehlo, chlo, sdy):
        dialect.register_dialect(context)
    context.allow_unregistered_dialects = True
    try:
        with context:
            module = ir.Module.parse(source) if name == "-" else ir.Module.parseFile(name)
            if isinstance(source, bytes) and any(op.operation.name.startswith("vhlo.") for op in module.body.operations):
                return stablehlo.deserialize_portable_artifact(context, source)  # as jax.export writes it
            return module
    except ir.MLIRError as error:
        raise ShardKitError(_describe(error, name)) from None
    except ValueError as error:
        raise ShardKitError(f"{name}: error: {error}") from None


def copy(module: Any) -> tuple[Any, Constants]:
    """The module in a context of its own, without its large constants."""
    from .constants import detach

    root = module.operation.clone()
    constants = detach(root)
    return parse(root.get_asm(print_generic_op_form=True, enable_debug_info=True)), constants


def _describe(error: Any, name: str) -> str:
    """The first diagnostic of the bindings as one line, `file:line:column: error: ...`."""
    text = str(error)
    match = re.search(r'error: "?([^"\n]*)"?:(\d+):(\d+): (.*)', text)
    if not match:
        return f"{name}: error: {text.strip()}"
    return f"{name if match[1] == '-' else match[1]}:{match[2]}:{match[3]}: error: {match[4]}"


def find_function(module: Any, name: str | None) -> Any:
    """The public function called `name`, or the only one."""
    functions = [op for op in module.body.operations if op.operation.name == "func.func"]

    def is_public(op: Any) -> bool:
        return "sym_visibility" not in op.attributes or "private" not in str(op.attributes["sym_visibility"])

    public = {op.attributes["sym_name"].value: op for op in functions if is_public(op)}
    if name is None and len(public) == 1:
        return next(iter(public.values()))
    known = ", ".join(public)
    if not public:
        raise ShardKitError("error: module has no public function, expected one")
    if name is None:
        raise ShardKitError(f"error: module has {len(public)} public functions, expected --function, one of: {known}")
    if name not in public:
        raise ShardKitError(f"error: module has no public function {name}, expected one of: {known}")
    return public[name]


def import_stablehlo(
    source: str | bytes | Path,
    *,
    function: str | None = None,
    weights: Sequence[str] = (),
    locations: bool = True,
) -> Model:
    """Imports text, bytecode, or a file with either. Arguments are called by their locations, else arg0, arg1, ...

    `function`: the public function, where there are several. `weights`: names of the arguments that are stored weights.
    `locations`: whether ops keep the lines that they came from."""
    return import_module(read(source), function, weights, locations)


def read(source: str | bytes | Path) -> Any:
    """A module from text, bytecode, or a file with either."""
    file = str(source) if isinstance(source, Path) else "-"
    if isinstance(source, Path):
        try:
            source = source.read_bytes()
        except OSError as error:
            raise ShardKitError(f"error: {error.filename}: {error.strerror}") from None
    return parse(source, file)


def import_module(module: Any, function: str | None, weights: Sequence[str], locations: bool) -> Model:
    """Imports a module, which is changed."""
    from .builder import get_location_text
    from .constants import detach

    constants = detach(module.operation)
    func = find_function(module, function)
    names = []
    for i, argument in enumerate(func.regions[0].blocks[0].arguments):
        match = re.fullmatch(r'loc\("([^":]+)"(?:\(.*\))?\)', str(argument.location))
        names.append(match[1] if match and match[1] not in names else f"arg{i}")
    for name in weights:
        if name not in names:
            raise ShardKitError(f"error: no argument is called {name}, expected one of: {', '.join(names)}")
    types = [a.type for a in func.regions[0].blocks[0].arguments]
    location = get_location_text(func.operation)
    arguments = [describe(name, type, name in weights, location=location) for name, type in zip(names, types)]
    count = len(get_result_types(func))
    results = describe_results(["result"] if count == 1 else [f"result{i}" for i in range(count)], func)
    tied = _find_tied(func)
    results = [dataclasses.replace(r, tied=tied.get(k)) for k, r in enumerate(results)]
    return Model(lower(module, func, arguments, results, locations), arguments, results, constants=constants)


def _find_tied(func: Any) -> dict[int, int]:
    """By result the argument whose buffer it takes over, unless their shardings differ."""
    from jaxlib.mlir import ir

    def read(name: str) -> list[dict[str, Any]]:
        return [{a.name: a.attr for a in ir.DictAttr(each)} for each in (func.attributes[name] if name in func.attributes else [])]

    results = [str(entries.get("sdy.sharding", "")) for entries in read("res_attrs")]
    found = {}
    for i, entries in enumerate(read("arg_attrs")):
        if "tf.aliasing_output" in entries:
            r = ir.IntegerAttr(entries["tf.aliasing_output"]).value
            if is_compatible(str(entries.get("sdy.sharding", "")), results[r] if results else ""):
                found[r] = i
    return found


def is_compatible(a: str, b: str) -> bool:
    """Whether a value can have both shardings, as Shardy prints them; an empty one leaves all open."""
    if not a or not b or a == b:
        return True
    mesh, dims = zip(*((text.partition("[")[0], re.findall(r"\{([^{}]*)\}", text.partition("[")[2])) for text in (a, b)))
    if mesh[0] != mesh[1] or len(dims[0]) != len(dims[1]):
        return False
    for pair in zip(*dims):
        axes = [[entry for entry in re.split(r",\s*", text) if entry and entry != "?"] for text in pair]
        is_open = ["?" in text for text in pair]
        shorter, longer = sorted((0, 1), key=lambda k: len(axes[k]))
        if axes[longer][: len(axes[shorter])] != axes[shorter] or (len(axes[0]) != len(axes[1]) and not is_open[shorter]):
            return False
    return True


def get_result_types(func: Any) -> list[Any]:
    return [v.type for v in list(func.regions[0].blocks[0].operations)[-1].operands]


def describe_results(names: Sequence[str], func: Any, has_sizes: bool = False) -> list[Result]:
    return [Result(n, describe(n, t, False, "result", has_sizes=has_sizes).dtype) for n, t in zip(names, get_result_types(func), strict=True)]


def describe(name: str, type: Any, is_weight: bool, what: str = "argument", location: str = "", has_sizes: bool = False) -> Argument:
    from jaxlib.mlir import ir

    if not isinstance(type, ir.RankedTensorType):
        raise ShardKitError(f"{location}error: {what} {name} has type {type}, expected a tensor")
    tensor = ir.RankedTensorType(type)
    if not tensor.has_static_shape and not has_sizes:
        raise ShardKitError(f"{location}error: {what} {name} has type {type}, expected a static shape: give sizes when exporting")
    dtype = DTYPES.get(str(tensor.element_type))
    if dtype is None:
        raise ShardKitError(
            f"{location}error: {what} {name} has element type {tensor.element_type}, expected one of {', '.join(DTYPES)}"
        )
    return Argument(name, tuple(-1 if tensor.is_dynamic_dim(d) else n for d, n in enumerate(tensor.shape)), dtype, is_weight)


def lower(
    module: Any,
    func: Any,
    arguments: Sequence[Argument],
    results: Sequence[Result],
    locations: bool,
    sizes: Any = None,
) -> str:
    """Annotated IR of a module whose function `func` has these arguments and results; may change the module. `sizes` (jax/sizes.py):
    of arguments, where only the run knows them."""
    text = module.operation.get_asm(print_generic_op_form=True, enable_debug_info=True)
    parts = [text, func.attributes["sym_name"].value, repr(arguments), repr(results), str(locations), repr(sizes), find_tool("shard-opt")]
    return str(_lowerings.get(parts, lambda: _lower(module, func, arguments, results, locations, sizes)))


_lowerings = Lowerings()


def _lower(
    module: Any, func: Any, arguments: Sequence[Argument], results: Sequence[Result], locations: bool, sizes: Any = None
) -> str:
    from jaxlib.mlir import ir

    from . import gspmd
    from .builder import fail, walk
    from .constants import write_resources
    from .manual import inline_text, name_ops, outline
    from .rewrites import rename_math, rewrite_module
    from .signatures import find_index_ranges

    gspmd.convert(module)
    for op in walk(module.operation):
        for result in op.results:
            if not sizes and isinstance(result.type, ir.RankedTensorType) and not ir.RankedTensorType(result.type).has_static_shape:
                raise fail(op, f"{op.name} makes {result.type}, whose size depends on data", "static shapes: mask with a select instead")
    ranges = find_index_ranges(module, func)
    main = func.attributes["sym_name"].value
    with module.context as context, ir.Location.unknown():
        context.allow_unregistered_dialects = True
        drop_attributes(module, main)
        own = [f'spmd.{"weight" if a.is_weight else "name"} = {_quote(a.name)}' for a in arguments]
        own = [f"{o}, spmd.range = [{r[0]}, {r[1]}]" if r else o for o, r in zip(own, ranges)]
        own = [f"{o}, spmd.microbatch = #spmd.microbatch<dim = 0>" if a.is_batch else o for o, a in zip(own, arguments)]
        own = [f"{o}, spmd.load = @{_name_load(a)}" if a.is_loaded_as_bytes else o for o, a in zip(own, arguments)]
        if sizes:
            own = [f"{o}, {names}" if names else o for o, names in zip(own, sizes.describe(), strict=True)]
            bounds = ", ".join(f"{name} = [{least}, {most}]" for name, (least, most) in sizes.bounds.items())
            func.attributes["spmd.bounds"] = ir.Attribute.parse(f"{{{bounds}}}")
        _extend(func, "arg_attrs", own)
        own = [f"spmd.name = {_quote(r.name)}" for r in results]
        own = [o if r.tied is None else f"{o}, spmd.tied = {r.tied} : i64" for o, r in zip(own, results)]
        _extend(func, "res_attrs", own)
        outline(module)
        rewrite_module(module)
        for load in {_name_load(a): a for a in arguments if a.is_loaded_as_bytes}.values():
            module.body.append(ir.Operation.parse(_load_bytes(load)))
        text = module.operation.get_asm(print_generic_op_form=True, enable_debug_info=True)
    info = ["--mlir-print-debuginfo"] if locations else []
    linalg = run_tool(
        [find_torch_mlir_opt(), "--allow-unregistered-dialect", "--stablehlo-legalize-to-linalg", "--canonicalize", "--cse"]
        + ["--mlir-print-op-generic", "--mlir-print-debuginfo"],
        text,
    )
    linalg = write_resources(inline_text(rename_math(linalg)))
    _check_lowered(linalg)
    shard_opt = [find_tool("shard-opt"), "-", "--allow-unregistered-dialect"]
    if sizes:  # which functions pass on as tensors
        linalg = run_tool(shard_opt + ["--inline", "--canonicalize", "--symbol-dce", "--mlir-print-op-generic", "--mlir-print-debuginfo"], linalg)
        info = ["--inline", "--canonicalize", "--symbol-dce", *info]  # what sorts is passed on once it is an op of ours
    if '"shardkit.' in linalg:  # ops of ours that are checked against our annotations
        linalg = name_ops(run_tool(shard_opt + ["--spmd-import-sdy", "--mlir-print-op-generic", "--mlir-print-debuginfo"], linalg))
        return run_tool(shard_opt + info, linalg)
    return run_tool(shard_opt + ["--spmd-import-sdy"] + info, linalg)


def drop_attributes(module: Any, main: str) -> None:
    """Attributes of the module, of its meshes and of the arguments and results of functions go, but for shardings. Functions other than
    `main` become private."""
    from jaxlib.mlir import ir

    for attribute in list(module.operation.attributes):
        key = attribute if isinstance(attribute, str) else attribute.name
        if key != "sym_name":
            del module.operation.attributes[key]
    for op in list(module.body.operations):
        if op.operation.name == "sdy.mesh" and "stablehlo.mesh" in op.attributes:
            del op.attributes["stablehlo.mesh"]
        if op.operation.name != "func.func":
            continue
        is_main = op.attributes["sym_name"].value == main
        if not is_main and "private" not in str(op.attributes["sym_visibility"] if "sym_visibility" in op.attributes else ""):
            op.attributes["sym_visibility"] = ir.StringAttr.get("private")
        for key in ("arg_attrs", "res_attrs"):
            if key in op.attributes:
                op.attributes[key] = ir.ArrayAttr.get([_keep_shardings(d) for d in op.attributes[key]])


def _name_load(argument: Argument) -> str:
    return "bytes_" + "x".join(map(str, argument.shape)) + f"_{argument.dtype}"


def _load_bytes(argument: Argument) -> str:
    """The loading function of a weight whose stored elements the function takes as bytes."""
    shape = "".join(f"{n}x" for n in argument.shape)
    element = next(mlir for mlir, name in DTYPES.items() if name == argument.dtype)
    old, new = f"tensor<{shape}{element}>", f"tensor<{shape}i8>"
    return f"""func.func private @{_name_load(argument)}(%w: {old}) -> {new} {{
      %0 = stablehlo.bitcast_convert %w : ({old}) -> {new}
      return %0 : {new}
    }}"""


def _quote(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _keep_shardings(attributes: Any) -> Any:
    """Attributes that front ends write on arguments, other than shardings, are dropped after them."""
    from jaxlib.mlir import ir

    kept = {a.name: a.attr for a in ir.DictAttr(attributes) if a.name.startswith(("sdy.", "spmd."))}
    return ir.DictAttr.get(kept)


def _extend(func: Any, key: str, texts: Sequence[str]) -> None:
    from jaxlib.mlir import ir

    old = list(func.attributes[key]) if key in func.attributes else [ir.DictAttr.get({})] * len(texts)
    merged = []
    for attributes, text in zip(old, texts, strict=True):
        entries = {a.name: a.attr for a in ir.DictAttr(attributes)}
        entries |= {a.name: a.attr for a in ir.DictAttr(ir.Attribute.parse("{" + text + "}"))}
        merged.append(ir.DictAttr.get(entries))
    func.attributes[key] = ir.ArrayAttr.get(merged)


_LEFT = re.compile(r'"((?:stablehlo|chlo|mhlo|vhlo|mpmd)\.(?!return"|sort")\w+)"\(')


def _check_lowered(text: str) -> None:
    """One error where an op was not lowered, with the line of the model that it came from."""
    lines = text.split("\n")
    for number, line in enumerate(lines):
        found = _LEFT.search(line)
        if not found:
            continue
        # Its location stands behind its type; an op with regions ends lines later, indented as much.
        indent = len(line) - len(line.lstrip())
        end = number
        if line.rstrip().endswith("({"):
            while end + 1 < len(lines) and not lines[end].startswith(" " * indent + "})"):
                end += 1
        location = _resolve_location(lines[end], text)
        while not location and (call := _find_call(lines, number)) is not None:  # a helper without lines of its own
            number = call
            location = _resolve_location(lines[call], text)
        target = re.search(r'call_target_name = "([^"]*)"', line)
        what = found[1] + (f" @{target[1]}" if target else "")
        raise ShardKitError(
            f"{location}error: {what} has no lowering to linalg, expected ops that have one: "
            "write it with other operations of the framework, or outside the function"
        )


def _find_call(lines: list[str], number: int) -> int | None:
    """The line of a call of the function around a line."""
    while number >= 0 and not lines[number].lstrip().startswith('"func.func"'):
        number -= 1
    name = re.search(r'sym_name = "([^"]*)"', lines[number])
    return next((i for i, line in enumerate(lines) if name and f"callee = @{name[1]}}}" in line), None)


def _resolve_location(line: str, text: str) -> str:
    match = re.search(r"loc\((.*)\)\s*$", line)
    for _ in range(20):
        if not match:
            return ""
        location = re.search(r'"([^"]+)":(\d+):(\d+)', match[1])
        if location:
            return f"{location[1]}:{location[2]}:{location[3]}: "
        alias = re.search(r"#loc\d*", match[1])
        match = alias and re.search(rf"^{alias[0]} = loc\((.*)\)$", text, re.MULTILINE)
    return ""
