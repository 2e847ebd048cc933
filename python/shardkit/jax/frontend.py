"""JAX functions with example arguments."""

from __future__ import annotations

import contextlib
import dataclasses
import inspect
import re
import warnings
from typing import Any, Callable, Iterator, Sequence

import numpy as np

from ..binding import Binding, Flattened, get_key
from ..errors import PACKAGE, ShardKitError, find_users_line, require
from ..model import Model, convert, read_names
from .sizes import hold_shardings, read_sizes, restore_shardings


def import_jax(
    function: Callable[..., Any],
    *args: Any,
    weights: Sequence[str] | None = None,
    batch: Sequence[str] = (),
    locations: bool = True,
    **kwargs: Any,
) -> Model:
    """Traces `function`, jitted or not, on example arguments, and brings it to annotated linalg.

    Shardings come from `NamedSharding` on the arguments, `in_shardings` and `out_shardings` of `jax.jit`,
    `with_sharding_constraint` and `shard_map`. Names are those of the parameters with the path into their pytrees
    (`params.layers.0.kernel`). An argument that is a container holds weights, an array is an input; `weights` names the
    parameters that hold weights instead. `batch` names the parameters whose arrays count examples along dim 0: in a pipeline
    microbatches split them there. Arguments may be `jax.ShapeDtypeStruct`: then there are no example values. Their mesh may be
    a `jax.sharding.AbstractMesh`, of more devices than JAX has here."""
    require("jax", "jax", "importing a JAX function")
    weights = None if weights is None else read_names(weights, "weights")
    batch = read_names(batch, "batch")
    import jax

    from ..stablehlo import frontend as stablehlo
    from . import nnx

    function = nnx.unwrap(function)
    binding = Binding(function, args, dict(sorted(kwargs.items())), _flatten, lambda leaf: False, static=_get_static(function, args, kwargs),
                      tree=(jax.tree_util.tree_flatten, jax.tree_util.tree_unflatten))  # fmt: skip
    jitted = function if hasattr(function, "lower") else jax.jit(function)
    with tracing():
        # For a platform, since a mesh may be abstract or larger than the devices here.
        lowered = _trace(jitted, hold_shardings(args), hold_shardings(kwargs))
        # In text: the module is changed, so it must be in a context of its own.
        module, constants = stablehlo.copy(lowered.compiler_ir("stablehlo"))

    parameters = get_parameters(function, args, kwargs)
    for name in batch:
        if name not in dict(parameters):
            known = ", ".join(p for p, _ in parameters)
            raise ShardKitError(f"error: no parameter is called {name}, expected one of: {known}")
    leaves = []  # (name, value, is_weight, path)
    batched = set()
    for parameter, value in parameters:
        paths = jax.tree_util.tree_flatten_with_path(value)[0]
        is_weight = parameter in weights if weights is not None else not (len(paths) == 1 and not paths[0][0])
        for path, leaf in paths:
            leaves.append((get_leaf_name(parameter, path), leaf, is_weight, path))
            if parameter in batch:
                batched.add(leaves[-1][0])
    _check_leaves(leaves, jax.tree_util.tree_leaves(lowered.args_info))
    if weights is not None:
        for name in weights:
            if name not in dict(parameters):
                known = ", ".join(p for p, _ in parameters)
                raise ShardKitError(f"error: no parameter is called {name}, expected one of: {known}")
    # What the function does not read is no argument of the module.
    kept = sorted(lowered._lowering.compile_args["kept_var_idx"])
    func = stablehlo.find_function(module, "main")
    avals = jax.tree_util.tree_leaves(lowered.args_info)
    sizes = read_sizes([leaves[k][0] for k in kept], [avals[k].shape for k in kept])
    if sizes:
        from ..stablehlo.sizes import Sizes

        restore_shardings(func, [leaves[k][1] for k in kept])
        Sizes(module, func, sizes.dims, sizes.bounds).rewrite()
    types = [a.type for a in func.regions[0].blocks[0].arguments]
    if len(types) != len(kept):
        raise ShardKitError(f"error: the traced function has {len(types)} arguments, expected {len(kept)}, one for each array")
    arguments = [stablehlo.describe(leaves[k][0], type, leaves[k][2], has_sizes=bool(sizes)) for k, type in zip(kept, types)]
    for a in arguments:
        if a.name in batched and not a.shape:
            raise ShardKitError(f"error: {a.name} is a scalar, expected batch to name arrays that count examples along dim 0")
    arguments = [dataclasses.replace(a, is_batch=a.name in batched) for a in arguments]
    names = [a.name for a in arguments]
    for name in names:
        if names.count(name) > 1:
            raise ShardKitError(f"error: two arguments are called {name}, expected distinct names")

    out_paths, out_tree = jax.tree_util.tree_flatten_with_path(lowered.out_info)
    results = stablehlo.describe_results([get_leaf_name("result", path) for path, _ in out_paths], func, bool(sizes))
    tied = _pair_donated(func, arguments, [leaves[k][3] for k in kept], [path for path, _ in out_paths])
    results = [dataclasses.replace(r, tied=t) for r, t in zip(results, tied, strict=True)]
    values = {
        a.name: convert(a, _to_numpy(leaves[k][1], a.dtype)) for a, k in zip(arguments, kept) if not isinstance(leaves[k][1], jax.ShapeDtypeStruct)
    }

    def flatten(*args: Any, **kwargs: Any) -> list[Any]:
        given = binding.bind(args, kwargs)
        return given if len(given) == len(kept) else [given[k] for k in kept]

    return Model(
        stablehlo.lower(module, func, arguments, results, locations, sizes),
        arguments,
        results,
        values=values if len(values) == len(arguments) else {},
        constants=constants,
        flatten=flatten,
        to_array=_to_numpy,
        unflatten=lambda arrays: jax.tree_util.tree_unflatten(out_tree, arrays),
    )


def _trace(jitted: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
    return jitted.trace(*args, **kwargs).lower(lowering_platforms=("cpu",)) if hasattr(jitted, "trace") else jitted.lower(*args, **kwargs)


@contextlib.contextmanager
def tracing() -> Iterator[None]:
    """Where JAX traces a function: lines are those of the user, and errors say what cannot be traced."""
    import jax
    from jax.extend import source_info_util

    source_info_util.register_exclusion(str(PACKAGE))
    saved = jax.config.jax_include_full_tracebacks_in_locations
    jax.config.update("jax_include_full_tracebacks_in_locations", False)
    errors = jax.errors
    cause: Exception
    try:
        yield
        return
    except errors.NonConcreteBooleanIndexError as error:
        what, expected, cause = "a size depends", "jnp.where, or a size=, as jnp.nonzero has it", error
    except errors.TracerBoolConversionError as error:
        what, expected, cause = "a branch depends", "jnp.where, jax.lax.cond or jax.lax.while_loop, or a static argument (functools.partial, static_argnames)", error
    except (errors.ConcretizationTypeError, errors.TracerArrayConversionError, errors.TracerIntegerConversionError) as error:
        what, expected, cause = "a number or a size depends", "functions of JAX, or a static argument (functools.partial, static_argnames)", error
    except TypeError as error:
        if "concrete value" not in str(error):
            raise
        what, expected, cause = "a size depends", "a static argument (functools.partial, static_argnames)", error
    finally:
        jax.config.update("jax_include_full_tracebacks_in_locations", saved)
    raise ShardKitError(f"{find_users_line(cause)}error: {what} on data, expected {expected}") from cause


def _to_numpy(value: Any, dtype: str) -> Any:
    """As JAX takes it: a key is its data, and arrays have the type that JAX gives them, which has 32 bits by default."""
    if not hasattr(value, "dtype") or getattr(value.dtype, "name", None) == dtype:
        return value
    import jax

    if isinstance(value, jax.Array) and jax.dtypes.issubdtype(value.dtype, jax.dtypes.prng_key):
        value = jax.random.key_data(value)
    array = np.asarray(value)
    return array.astype(dtype, copy=False) if jax.dtypes.canonicalize_dtype(array.dtype).name == dtype else array


def _check_leaves(leaves: Sequence[tuple[str, Any, bool, Any]], traced: Sequence[Any]) -> None:
    """The arrays that were found are those that JAX traced, one by one."""
    if len(leaves) != len(traced):
        raise ShardKitError(
            f"error: the traced function has {len(traced)} arrays, {len(leaves)} were given: static arguments are bound before, "
            "with functools.partial, or named to jax.jit"
        )
    for (name, value, *_), info in zip(leaves, traced):
        shape = tuple(getattr(value, "shape", np.shape(value)))
        if shape != tuple(info.shape):
            raise ShardKitError(f"error: {name} has shape {shape}, and {tuple(info.shape)} as JAX traced it")


def get_parameters(function: Callable[..., Any], args: Sequence[Any], kwargs: dict[str, Any]) -> list[tuple[str, Any]]:
    """The parameters with their values, in the order in which JAX flattens them; those that are static are none."""
    numbers, static_names = find_static(function, args)
    names = get_positional_names(function, args, kwargs)
    return [(name, value) for i, (name, value) in enumerate(zip(names, args)) if i not in numbers] + sorted(
        ((name, value) for name, value in kwargs.items() if name not in static_names), key=lambda item: item[0]
    )


def _get_static(function: Callable[..., Any], args: Sequence[Any], kwargs: dict[str, Any]) -> dict[str, Any]:
    """The static parameters with their values, those that are left to their defaults too."""
    numbers, static_names = find_static(function, args)
    names = get_positional_names(function, args, kwargs)
    found = {name: value for i, (name, value) in enumerate(zip(names, args)) if i in numbers}
    found |= {name: value for name, value in kwargs.items() if name in static_names}
    try:
        defaults = {p.name: p.default for p in inspect.signature(function).parameters.values() if p.default is not p.empty}
    except (TypeError, ValueError):
        defaults = {}
    return {name: defaults[name] for name in static_names if name in defaults} | found


def find_static(function: Callable[..., Any], args: Sequence[Any]) -> tuple[set[int], set[str]]:
    """Which parameters are static, by number and by name."""
    info = getattr(function, "_jit_info", None)
    numbers = {n if n >= 0 else n + len(args) for n in getattr(info, "static_argnums", None) or ()}
    return numbers, set(getattr(info, "static_argnames", None) or ())


def get_positional_names(function: Callable[..., Any], args: Sequence[Any], kwargs: dict[str, Any]) -> list[str]:
    try:
        signature = inspect.signature(function)
        bound = signature.bind(*args, **kwargs)
    except (TypeError, ValueError):
        return [f"arg{i}" for i in range(len(args))]
    names: list[str] = []
    for parameter in signature.parameters.values():
        if parameter.kind == parameter.VAR_POSITIONAL:
            names += [f"{parameter.name}.{i}" for i in range(len(bound.arguments.get(parameter.name, ())))]
        elif parameter.kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD):
            names.append(parameter.name)
    return names


def get_leaf_name(name: str, path: Sequence[Any]) -> str:
    """`params.layers.0.kernel`"""
    return ".".join([name, *map(get_key, path)])


def _flatten(value: Any) -> Flattened:
    import jax

    found, tree = jax.tree_util.tree_flatten_with_path(value)
    return [(tuple(map(get_key, path)), leaf) for path, leaf in found], tree


def _pair_donated(func: Any, arguments: Sequence[Any], paths: Sequence[Any], out_paths: Sequence[Any]) -> list[int | None]:
    """Per result the donated argument whose buffer it takes over: the one that JAX paired with it, else the one of the same
    pytree path, else the first that is left of equal type. As in XLA, a result with another sharding takes no buffer."""
    from jaxlib.mlir import ir

    from ..stablehlo.frontend import get_result_types, is_compatible

    def read(name: str) -> list[dict[str, Any]]:
        return [{a.name: a.attr for a in ir.DictAttr(each)} for each in (func.attributes[name] if name in func.attributes else [])]

    returned = get_result_types(func)
    types = [a.type for a in func.regions[0].blocks[0].arguments]
    passed = read("arg_attrs") or [{} for _ in types]
    shardings = [str(entries.get("sdy.sharding", "")) for entries in read("res_attrs") or [{} for _ in returned]]
    argument_shardings = [str(entries.get("sdy.sharding", "")) for entries in passed]
    tied: list[int | None] = [None] * len(returned)
    donated = []
    for i, entries in enumerate(passed):
        if "tf.aliasing_output" in entries and is_compatible(
            argument_shardings[i], shardings[r := ir.IntegerAttr(entries["tf.aliasing_output"]).value]
        ):
            tied[r] = i
        elif "tf.aliasing_output" in entries or "jax.buffer_donor" in entries:
            donated.append(i)
    for same_path in (True, False):
        for i in list(donated):
            for r, type in enumerate(returned):
                if tied[r] is not None or type != types[i] or not is_compatible(argument_shardings[i], shardings[r]):
                    continue
                # The first key of a result says which of several it is.
                if not same_path or _matches(paths[i], out_paths[r]):
                    tied[r] = i
                    donated.remove(i)
                    break
    for i in donated:
        reason = "has its sharding too" if types[i] in returned else f"has its type {types[i]}"
        warnings.warn(f"{arguments[i].name} is donated and no result {reason}: its buffer is not reused", stacklevel=3)
    return tied


def _matches(path: Sequence[Any], out_path: Sequence[Any]) -> bool:
    return bool(path) and list(map(str, path)) == list(map(str, out_path))[-len(path) :]
