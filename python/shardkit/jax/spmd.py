"""Programs of a device in StableHLO, partitioned by ShardKit and run by XLA."""

from __future__ import annotations

import dataclasses
import functools
import itertools
import math
import re
from pathlib import Path
from typing import Any, Callable, Sequence

from ..errors import ShardKitError, require
from ..model import read_names
from ..planning.layouts import Layout
from ..stablehlo.spmd import LocalModule, partition
from . import nnx
from .frontend import tracing

_AXIS = re.compile(r"([^:]+)(?::\((\d+)\)(\d+))?")


def export_stablehlo_spmd(function: Callable[..., Any], *args: Any, options: Sequence[str] = (), **kwargs: Any) -> SpmdProgram:
    """Partitions `function`, jitted or not, and returns the program of a device: its own ops of StableHLO with local types, and
    collectives of StableHLO.

    Arguments are arrays or `jax.ShapeDtypeStruct`, sharded as for `jax.jit`, on devices that JAX has, or on an
    `AbstractMesh`. Layouts of all other values are propagated; `options` are those of --spmd-default-pipeline. Where
    devices do not divide a dim, or StableHLO has no op for a move, one error names the line."""
    require("jax", "jax", "exporting a JAX function")
    import jax

    function = nnx.unwrap(function)
    jitted: Any = function if hasattr(function, "lower") else jax.jit(function)
    mesh = _find_mesh([*args, *kwargs.values()])
    with tracing():
        lowered = jitted.trace(*args, **kwargs).lower(lowering_platforms=(jax.default_backend(),))
        text = lowered.compiler_ir("stablehlo").operation.get_asm(print_generic_op_form=True, enable_debug_info=True)
    local = partition(text, "main", read_names(options, "options"))
    if dict(local.axes) != dict(mesh.shape):
        raise ShardKitError(f"error: the function is annotated on a mesh of {dict(local.axes)}, and its arguments on {dict(mesh.shape)}, expected one mesh")
    kept = tuple(sorted(lowered._lowering.compile_args["kept_var_idx"]))
    infos, tree = jax.tree_util.tree_flatten(lowered.out_info)
    results = tuple(jax.core.ShapedArray(i.shape, i.dtype) for i in infos)
    given = jax.tree_util.tree_leaves(lowered.args_info)
    donated = tuple(k for k, number in enumerate(kept) if given[number].donated)
    ranks = [len(given[k].shape) for k in kept], [len(i.shape) for i in infos]
    return SpmdProgram(local.text, *_make_specs(mesh, local, *ranks), kept, donated, results, jax.tree_util.tree_structure((args, kwargs)), tree)


def _find_mesh(args: Any) -> Any:
    import jax

    meshes: dict[Any, None] = {}
    for leaf in jax.tree_util.tree_leaves(args):
        mesh = getattr(getattr(leaf, "sharding", None), "mesh", None)
        if mesh is not None and not mesh.empty:
            meshes[mesh] = None
    if len(meshes) != 1:
        raise ShardKitError(f"error: arguments are sharded on {len(meshes)} meshes, expected one: jax.device_put(x, NamedSharding(mesh, ...))")
    return next(iter(meshes))


@dataclasses.dataclass(frozen=True, eq=False)
class SpmdProgram:
    """The program of a device, which can be called like the function. `text`: a module whose function `main` has local types.
    `mesh`: that of the arguments, its axes split where layouts take parts of them. `in_specs`, `out_specs`: of the
    arguments that the function reads, and of the results, each flat."""

    text: str = dataclasses.field(repr=False)
    mesh: Any
    in_specs: tuple[Any, ...]
    out_specs: tuple[Any, ...]
    _kept: tuple[int, ...] = dataclasses.field(repr=False)
    _donated: tuple[int, ...] = dataclasses.field(repr=False)
    _out_avals: tuple[Any, ...] = dataclasses.field(repr=False)
    _in_tree: Any = dataclasses.field(repr=False)
    _out_tree: Any = dataclasses.field(repr=False)

    def save(self, path: str | Path) -> None:
        """Writes the module. Any compiler that takes StableHLO of several partitions reads it."""
        Path(path).write_text(self.text)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        import jax

        return jax.tree_util.tree_unflatten(self._out_tree, self._jitted(*self._flatten(args, kwargs)))

    def lower(self, *args: Any, **kwargs: Any) -> Any:
        """As of `jax.jit`: what can be compiled ahead, and looked at."""
        return self._jitted.lower(*self._flatten(args, kwargs))

    def _flatten(self, args: Any, kwargs: Any) -> list[Any]:
        """The arrays that the function reads."""
        import jax

        leaves, tree = jax.tree_util.tree_flatten((args, kwargs))
        if tree != self._in_tree:
            raise ShardKitError(f"error: arguments are {tree}, expected {self._in_tree}")
        return [leaves[k] for k in self._kept]

    @functools.cached_property
    def _jitted(self) -> Any:
        """Of flat arguments and results: global arrays."""
        import jax

        def run(*values: Any) -> Any:
            return _get_primitive().bind(*values, program=self)

        local = jax.shard_map(run, mesh=self.mesh, in_specs=self.in_specs, out_specs=list(self.out_specs), check_vma=False)
        return jax.jit(local, donate_argnums=self._donated)

    def _get_local_avals(self) -> list[Any]:
        import jax

        sizes = self.mesh.shape
        return [
            jax.core.ShapedArray(tuple(n // math.prod(sizes[a] for a in _list_axes(entry)) for n, entry in itertools.zip_longest(aval.shape, spec)), aval.dtype)
            for aval, spec in zip(self._out_avals, self.out_specs, strict=True)
        ]


def _list_axes(entry: Any) -> tuple[str, ...]:
    return () if entry is None else (entry,) if isinstance(entry, str) else tuple(entry)


# --- layouts --------------------------------------------------------------------------------------


def _make_specs(mesh: Any, local: LocalModule, argument_ranks: Sequence[int], result_ranks: Sequence[int]) -> tuple[Any, tuple[Any, ...], tuple[Any, ...]]:
    """The mesh with axes split at the boundaries of sub-axes, and the layouts of arguments and results on it. A random key has fewer dims
    than the numbers in it."""
    import jax

    boundaries = {name: {1, size} for name, size in mesh.shape.items()}
    for layout in [*local.arguments, *local.results]:
        for name, before, size in (axis for dim in layout.dims for axis in _read_axes(dim, mesh)):
            boundaries[name] |= {before, before * size}
    split: dict[str, list[tuple[str, int, int]]] = {}
    for name, found in boundaries.items():
        ends = sorted(found)
        parts = [(begin, end // begin) for begin, end in itertools.pairwise(ends)] or [(1, 1)]
        split[name] = [(name if len(parts) == 1 else f"{name}.{i}", begin, size) for i, (begin, size) in enumerate(parts)]

    def make(layout: Layout, rank: int) -> Any:
        entries = []
        for dim in layout.dims[:rank]:
            axes = tuple(part for name, before, size in _read_axes(dim, mesh) for part, begin, _ in split[name] if before <= begin < before * size)
            entries.append(axes[0] if len(axes) == 1 else axes or None)
        return jax.sharding.PartitionSpec(*entries)

    names = [part for parts in split.values() for part, _, _ in parts]
    sizes = [size for parts in split.values() for _, _, size in parts]
    if names != list(mesh.axis_names):
        is_abstract = isinstance(mesh, jax.sharding.AbstractMesh)
        mesh = jax.sharding.AbstractMesh(tuple(sizes), tuple(names)) if is_abstract else jax.sharding.Mesh(mesh.devices.reshape(sizes), names)
    return mesh, tuple(map(make, local.arguments, argument_ranks)), tuple(map(make, local.results, result_ranks))


def _read_axes(dim: Sequence[str], mesh: Any) -> list[tuple[str, int, int]]:
    """(name, product of the sizes before, size) of each axis."""
    found = []
    for text in dim:
        match = _AXIS.fullmatch(text)
        if match is None or match[1] not in mesh.shape:
            raise ShardKitError(f"error: an argument or a result is sharded by {text}, which is not an axis of {dict(mesh.shape)}, expected shardings that JAX has: constrain it")
        found.append((match[1], int(match[2] or 1), int(match[3] or mesh.shape[match[1]])))
    return found


# --- calls ----------------------------------------------------------------------------------------


@functools.cache
def _get_primitive() -> Any:
    """The program of a device as one op of JAX, on local values."""
    import jax
    from jax.extend.core import Primitive
    from jax.interpreters import mlir

    primitive = Primitive("shardkit_spmd_program")
    primitive.multiple_results = True
    primitive.def_abstract_eval(lambda *values, program: program._get_local_avals())

    def lower(ctx: Any, *values: Any, program: SpmdProgram) -> Any:
        from jaxlib.mlir import ir
        from jaxlib.mlir.dialects import func

        from ..stablehlo.builder import walk
        from ..stablehlo.frontend import find_function

        module = ir.Module.parse(program.text)
        types = find_function(module, "main").type.results
        for op in walk(module.operation):
            if "channel_handle" in op.attributes:  # which no two collectives share
                handle = f"#stablehlo.channel_handle<handle = {ctx.module_context.new_channel()}, type = {mlir.DEVICE_TO_DEVICE_TYPE}>"
                op.attributes["channel_handle"] = ir.Attribute.parse(handle)
        name = mlir.merge_mlir_modules(ctx.module_context.module, primitive.name, module, dst_symtab=ctx.module_context.symbol_table)
        call = func.CallOp(types, ir.FlatSymbolRefAttr.get(name), list(values))
        return list(call.results)

    mlir.register_lowering(primitive, lower)
    return primitive
