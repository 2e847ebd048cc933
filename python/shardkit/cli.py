"""The command shardkit-import."""

from __future__ import annotations

import argparse
import importlib.util
import sys
import traceback
import warnings
from pathlib import Path
from typing import Any, Callable

from .errors import ShardKitError
from .meshes import read_bound, read_bounds, read_sizes
from .model import FILES, Model
from .programs import Models


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="shardkit-import",
        description="Writes model.mlir, plan.json, weights.safetensors and inputs.safetensors of a model.",
    )
    kinds = parser.add_subparsers(dest="kind", required=True)
    jax = kinds.add_parser("jax", help="a function of a Python file, with example arguments")
    jax.add_argument("file", help="Python file, optionally followed by :FUNCTION")
    jax.add_argument("--function", help="the function; may be left out where the file defines one")
    jax.add_argument("--args", default="example_args", metavar="NAME", help="what the file calls a tuple of example arguments, or a function that makes it")
    stablehlo = kinds.add_parser("stablehlo", help="StableHLO with Shardy's annotations, text or bytecode")
    stablehlo.add_argument("file")
    stablehlo.add_argument("--function", help="the public function; may be left out where there is one")
    torch = kinds.add_parser("torch", help="a module of a Python file, with example arguments and a parallel plan")
    torch.add_argument("file", help="Python file that defines model, example_args, and perhaps example_kwargs, mesh, plan, axis, shardings, loss, optimizer")
    onnx = kinds.add_parser("onnx", help="an ONNX model, also with annotations for several devices: the standard's, or distributed ops")
    onnx.add_argument("file")
    onnx.add_argument("--configuration", metavar="NAME", help="the device configuration, where the model has several")
    onnx.add_argument("--size", action="append", default=[], metavar="NAME=N", help="the size of a symbolic dim; may be repeated")
    onnx.add_argument("--bound", action="append", default=[], metavar="NAME=LOW:HIGH", help="the least and the largest size of a symbolic dim that each call brings along; may be repeated")
    hf = kinds.add_parser("hf", help="a model of Hugging Face's transformers, from its published folder; weights are not read")
    hf.add_argument("file", metavar="DIR_OR_CONFIG", help="folder with config.json and perhaps *.safetensors, or a config.json")
    hf.add_argument("--mesh", action="append", default=[], metavar="NAME=SIZE", help="axes of the mesh, with commas or by several options")
    hf.add_argument("--functions", metavar="NAMES", help="score, prefill, decode, forward, with commas; default: score of causal models, else forward")
    hf.add_argument("--length", default="128", metavar="N|LOW:HIGH", help="tokens of a sequence, and of the cache (default: 128); with two numbers each call brings its own along")
    hf.add_argument("--batch", metavar="B|LOW:HIGH", help="sequences; default: as many as the axes beside the model's have devices")
    hf.add_argument("--dtype", default="auto", help="f32, f16, bf16, f64, or auto: that of the configuration (default)")
    hf.add_argument("--plan", default="auto", metavar="auto|hf|FILE", help="auto: the search (default); hf: the tensor-parallel plan of the model itself; or a plan file")
    hf.add_argument("--memory", type=float, metavar="BYTES", help="of auto: what a device holds at most")
    hf.add_argument("--axis", metavar="NAME", help="the axis of the model's own plan; default: the last one")
    for kind in (jax, stablehlo):
        kind.add_argument("--weights", metavar="NAMES", help="arguments that are stored weights, with commas")
    for kind in (jax, onnx):
        kind.add_argument("--batch", metavar="NAMES", help="parameters that the microbatches of a pipeline split along dim 0, separated by commas")
    for kind in (jax, stablehlo, torch, onnx, hf):
        kind.add_argument("-o", "--output", required=True, metavar="DIR", help="where the files go")
        kind.add_argument("--no-locations", action="store_true", help="leave out the lines that ops came from")
    options = parser.parse_args(argv)
    warnings.showwarning = lambda message, *_: print(f"remark: {message}", file=sys.stderr)
    try:
        model = _IMPORTERS[options.kind](options)
        model.save(options.output)
    except ShardKitError as error:
        text, file = str(error), options.file.partition(":")[0]
        if text.startswith("error: ") and file not in text:  # about the file
            text = f"{file}: {text}"
        print(text if "error: " in text else f"error: {text}", file=sys.stderr)
        return 1
    except Exception as error:
        location = _find_line(error, options.file)
        if location is None:  # not the file's fault
            raise
        print(f"{location}: error: {type(error).__name__}: {str(error).strip().splitlines()[0] if str(error) else ''}", file=sys.stderr)
        return 1
    written = ", ".join(f for f in FILES if Path(options.output, f).exists())
    functions = model.functions.items() if isinstance(model, Models) else [("", model)]
    counts = [f"{name + ': ' if name else ''}{len(m.arguments)} arguments, {len(m.results)} result{'' if len(m.results) == 1 and name else 's'}" for name, m in functions]
    print(f"{options.output}: {'; '.join(counts)} in {written}", file=sys.stderr)
    return 0


def _find_line(error: Exception, file: str) -> str | None:
    """`file.py:12` where the user's file was when it failed, if it was."""
    path = file.partition(":")[0]
    known = (path, str(Path(path).resolve()))
    if isinstance(error, SyntaxError) and error.filename in known:
        return f"{path}:{error.lineno}"
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename in known]
    return f"{path}:{lines[-1]}" if lines else None


def _split(names: str | None) -> list[str] | None:
    return None if names is None else [n for n in names.split(",") if n]


def _import_stablehlo(options: argparse.Namespace) -> Model:
    from .stablehlo.frontend import import_stablehlo

    return import_stablehlo(
        Path(options.file), function=options.function, weights=_split(options.weights) or (), locations=not options.no_locations
    )


def _import_onnx(options: argparse.Namespace) -> Model:
    from .onnx.frontend import import_onnx

    return import_onnx(
        options.file, configuration=options.configuration, sizes=read_sizes(options.size), bounds=read_bounds(options.bound),
        batch=_split(options.batch) or (), locations=not options.no_locations,
    )  # fmt: skip


def _read_count(name: str, text: str) -> int | tuple[int, int]:
    found = read_bound(text)
    if found is None:
        raise ShardKitError(f"error: --{name}={text}, expected a number, or the least and the largest one, such as 1:64")
    return found


def _import_transformers(options: argparse.Namespace) -> Models:
    from .huggingface.frontend import import_transformers
    from .meshes import read_axes

    mesh: dict[str, int] = {}
    for text in options.mesh:
        mesh |= read_axes(text)
    return import_transformers(
        options.file, mesh=mesh, functions=_split(options.functions), length=_read_count("length", options.length),
        batch=_read_count("batch", options.batch) if options.batch else None, dtype=options.dtype,
        plan=options.plan, axis=options.axis, memory=options.memory, locations=not options.no_locations,
    )  # fmt: skip


def _load(path: str) -> Any:
    """A Python file as a module."""
    if not Path(path).is_file():
        raise ShardKitError(f"error: {path}: no such file")
    spec = importlib.util.spec_from_file_location(Path(path).stem, path)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.path.insert(0, str(Path(path).resolve().parent))
    spec.loader.exec_module(module)
    return module


def _import_torch(options: argparse.Namespace) -> Model:
    from .errors import require
    from .torch.frontend import import_torch

    require("torch", "torch", "importing a PyTorch module")
    module = _load(options.file)
    for needed in ("model", "example_args"):
        if not hasattr(module, needed):
            raise ShardKitError(f"error: {options.file} defines no {needed}, expected model and example_args")
    args = module.example_args() if callable(module.example_args) else module.example_args
    named = {n: getattr(module, n) for n in ("mesh", "plan", "axis", "shardings", "loss", "optimizer") if hasattr(module, n)}
    if hasattr(module, "example_kwargs"):
        named["kwargs"] = module.example_kwargs() if callable(module.example_kwargs) else module.example_kwargs
    return import_torch(module.model, *args, **named, locations=not options.no_locations)


def _import_jax(options: argparse.Namespace) -> Model:
    from .errors import require
    from .jax.frontend import import_jax

    require("jax", "jax", "importing a JAX function")
    path, _, name = options.file.partition(":")
    name = name or options.function
    module = _load(path)
    own = [n for n, v in vars(module).items() if callable(v) and getattr(v, "__module__", None) == module.__name__ and n != options.args and not n.startswith("_")]
    if name is None and len(own) != 1:
        raise ShardKitError(f"error: {path} defines {len(own)} functions, expected --function, one of: {', '.join(own)}")
    name = name or own[0]
    for needed in (name, options.args):
        if not hasattr(module, needed):
            raise ShardKitError(f"error: {path} does not define {needed}, expected a name that it defines: {', '.join(own)}")
    args = getattr(module, options.args)
    args = args() if callable(args) else args
    batch = _split(options.batch) or ()
    return import_jax(getattr(module, name), *args, weights=_split(options.weights), batch=batch, locations=not options.no_locations)


_IMPORTERS: dict[str, Callable[[argparse.Namespace], Model | Models]] = {
    "jax": _import_jax, "stablehlo": _import_stablehlo, "torch": _import_torch, "onnx": _import_onnx, "hf": _import_transformers,
}  # fmt: skip


if __name__ == "__main__":
    sys.exit(main())
