"""Models of Hugging Face's transformers, from a folder in the published layout."""

from __future__ import annotations

import dataclasses
import json
import math
from pathlib import Path
from typing import Any, Mapping, Sequence

from ..errors import ShardKitError, require
from ..model import Argument, Model, read_mesh, read_names
from ..programs import Models
from ..tools import show_progress

def import_transformers(
    path: str | Path,
    *,
    mesh: Mapping[str, int] | None = None,
    functions: Sequence[str] | None = None,
    length: int | tuple[int, int] = 128,
    batch: int | tuple[int, int] | None = None,
    dtype: str = "auto",
    plan: str | Path = "auto",
    axis: str | None = None,
    memory: float | None = None,
    inputs: Mapping[str, Any] | None = None,
    calls: Mapping[str, int] | None = None,
    locations: bool = True,
) -> Models:
    """Imports a model of transformers from a folder in the published layout, `config.json` and `*.safetensors` with or without an
    index, from a `config.json` alone, or from a .gguf file. The architecture is that of the package; no weight is read, made or held, and nothing is
    downloaded. Arguments of the functions are the stored tensors under their names, or what loading functions make of these:
    `programs.load(path)` and `shard-run --weights` read the folder as it is. Linear layers and experts that are stored quantized (GPTQ
    and AWQ in 4 bits, FP8, MXFP4, compressed-tensors, bitsandbytes) stay so: programs compute their weights from payload and scales.

    `functions`: `score` (logits of a full sequence), `prefill` and `decode` (which share a cache) of causal language models, `forward`
    of all models; default: `score`, else `forward`. `length`: tokens of a sequence, and of the cache. `batch`: sequences; default: as
    many as the axes beside `axis` have devices. Both may be pairs, the least and the largest number: each call brings its own along.
    The cache then holds the tokens that it was given: `prefill` takes a prompt alone, and `decode` a token, which it adds. `dtype`: f32, f16, bf16, f64, or `auto`, that of the configuration. `inputs`:
    example inputs of `forward` by name, in place of those that follow from the configuration.

    `mesh`: names and sizes of axes. `plan`: `hf`, the plan that the model itself brings, on the axis `axis` (default: the last one), with
    the batch sharded over the others; `auto`, the plan that the search finds, in which every weight that can be is sharded, or in which a
    device holds at most `memory` bytes; or a plan file. `calls`: how often a function is called, as compared with the others.

    Raises ShardKitError for a folder without a configuration, an unknown architecture, tensors that are missing or that the model does not
    have, shapes that the configuration does not have, and weights that are quantized in a way that is not read."""
    require("transformers", "transformers", "importing a model of transformers")
    require("torch", "torch", "importing a model of transformers")
    require("torch_mlir", "torch-mlir", "importing a model of transformers")
    from . import build, checkpoint, gguf

    axes = read_mesh(mesh)
    _check(length, batch, dtype, build.DTYPES)
    axis = axis or next(reversed(axes), None)
    if axis is not None and axis not in axes:
        raise ShardKitError(f"error: axis is {axis!r}, expected one of the mesh: {', '.join(axes) or 'none'}")
    if batch is None:
        batch = math.prod(size for name, size in axes.items() if name != axis)
    blocks = gguf.find_file(path)
    file, folder = checkpoint.find_configuration(path) if blocks is None else (blocks, blocks)
    quantization: Any = None
    with checkpoint.offline():
        if blocks is not None:
            quantization = gguf.Checkpoint(blocks)
            config, stored = quantization.make_config(), quantization.stored
        else:
            config, quantization = checkpoint.read_configuration(file)
            stored = None if folder is None else checkpoint.read_stored(folder)
        config.use_cache = False
        with show_progress("building the model"):
            chosen = build.choose_dtype(config, dtype, stored)
            built = build.build(config, build.find_class(config, str(file)), chosen, stored, str(folder or file), quantization, axes.get(axis or "", 1), plan == "hf")
        importer = _Importer(built, axes, axis, plan, memory, locations)
        return importer.run(functions, batch, length, inputs, calls or {})


def _check(length: Any, batch: Any, dtype: Any, dtypes: Mapping[str, Any]) -> None:
    for what, value in (("length", length), ("batch", batch)):
        numbers = value if isinstance(value, tuple) and len(value) == 2 else () if value is None else (value,)
        if any(not isinstance(n, int) or isinstance(n, bool) or n < 1 for n in numbers) or list(numbers) != sorted(numbers):
            raise ShardKitError(f"error: {what} is {value!r}, expected a positive number, or the least and the largest one, such as (1, 64)")
    if dtype != "auto" and dtype not in dtypes:
        raise ShardKitError(f"error: dtype is {dtype!r}, expected auto, {', '.join(dtypes)}")


class _Importer:
    """The functions of one model."""

    def __init__(self, built: Any, mesh: dict[str, int], axis: str | None, plan: str | Path, memory: float | None, locations: bool) -> None:
        from .conversion import LoadingFunctions

        self.module, self.values, self.mesh, self.axis, self.plan, self.locations = built.module, built.values, mesh, axis, plan, locations
        self.memory, self.batched, self.has_sizes = memory, dict[str, None](), False
        self.functions = LoadingFunctions()
        self.loads = {n: self.functions.add(v) for n, v in built.values.items()}

    def run(self, names: Sequence[str] | None, batch: Any, length: Any, inputs: Mapping[str, Any] | None, calls: Mapping[str, int]) -> Models:
        from . import functions

        names = functions.get_default(self.module) if names is None else read_names(names, "functions")
        for name in names:
            if name not in functions.FUNCTIONS:
                raise ShardKitError(f"error: no function is called {name!r}, expected of: {', '.join(functions.FUNCTIONS)}")
        if not names or len(set(names)) < len(names):
            raise ShardKitError(f"error: functions are {', '.join(names) or 'none'}, expected each once, of: {', '.join(functions.FUNCTIONS)}")
        extents = functions.Extent.make("batch", batch, 3), functions.Extent.make("length", length, 5)
        self.has_sizes = any(extent.dim is not None for extent in extents)
        models = {}
        for name in sorted(names, key=functions.FUNCTIONS.index):  # those without a cache first
            models[name] = self._import(functions.make(name, self.module, *extents, inputs))
        return self._apply_plan(Models(models, calls))

    def _import(self, function: Any) -> Model:
        from ..torch.frontend import import_watched
        from . import styles

        plan: Any = None
        shardings: dict[str, list[Any]] = {}
        if self.plan == "hf" and self.axis is not None:
            plan, shardings = styles.read(self.module, self.axis, self.mesh[self.axis])
        others = [a for a in self.mesh if a != self.axis]
        if self.plan == "hf" and others:
            shardings |= {n: [tuple(others)] for n in function.batched}
        self.batched |= dict.fromkeys(function.batched)
        call = function.call
        args, kwargs = (tuple(function.inputs.values()), {}) if call else ((), function.inputs)
        model, _ = import_watched(
            self.module, args, kwargs, self.mesh, plan, None, shardings, None, None, (), self.locations,
            call=call, describe=self._describe, functions=self.functions.text, dynamic_shapes=function.dims or None, made=function.made,
            is_alike_at_one=True,
        )  # fmt: skip
        arguments = [dataclasses.replace(a, name=a.sources[0]) if a.sources and not a.load else a for a in model.arguments]
        return dataclasses.replace(model, arguments=arguments, values={})

    def _describe(self, argument: Argument) -> Argument:
        if argument.name in self.loads:
            sources, load = self.loads[argument.name]
            return dataclasses.replace(argument, sources=sources, load=load)
        return dataclasses.replace(argument, is_weight=False, is_state=True)  # the cache

    def _apply_plan(self, models: Models) -> Models:
        if self.plan == "hf" or (self.plan == "auto" and not self.mesh):
            return models
        if self.plan == "auto":
            options = ["allow-replicated-weights=false"] if self.memory is None else [f"memory-budget={int(self.memory)}"]
            others = [a for a in self.mesh if a != self.axis and self.mesh[a] > 1]
            if others and not self.has_sizes:  # the search offers no layout of a dim whose size each call brings along
                options += [f"batch-axes={','.join(others)}", f"batch-arguments={','.join(self.batched)}"]
            return models.search(options)
        if not Path(self.plan).is_file():
            raise ShardKitError(f"error: {self.plan}: no such file, expected auto, hf, or a plan file")
        try:
            json.loads(Path(self.plan).read_text())
        except ValueError as error:
            raise ShardKitError(f"error: {self.plan}: {error}, expected a plan file") from None
        return models.apply_plan(self.plan)
