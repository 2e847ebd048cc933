"""A model in ShardKit's IR with its weights and example inputs, as all importers make it; and how it is run."""

from __future__ import annotations

import dataclasses
import functools
import operator
import shutil
import sys
import tempfile
import weakref
from pathlib import Path
from typing import AbstractSet as Set
from typing import Any, Callable, Container, Iterable, Mapping, Sequence

import numpy as np

from . import safetensors
from .binding import bind_by_name, convert_number
from .compiler import compile_bundle
from .constants import Constants, attach_resources
from .errors import ShardKitError
from .session import Array, Function, Session, ValueReport
from .tools import find_tool, run_tool

# Names of element types in MLIR and in NumPy.
DTYPES = {
    "f32": "float32", "f64": "float64", "f16": "float16", "bf16": "bfloat16", "i1": "bool", "f8E4M3FN": "float8_e4m3fn",
    "f8E5M2": "float8_e5m2", "f8E4M3FNUZ": "float8_e4m3fnuz", "f8E5M2FNUZ": "float8_e5m2fnuz", "f8E8M0FNU": "float8_e8m0fnu",
    "complex<f32>": "complex64",
} | {f"{s}i{n}": f"{'u' * (s == 'u')}int{n}" for s in ("", "u") for n in (8, 16, 32, 64)}  # fmt: skip


FILES = ("model.mlir", "weights.safetensors", "inputs.safetensors", "plan.json")
"""What a model is saved in; those that it has nothing for are left out."""


@dataclasses.dataclass(frozen=True)
class Argument:
    """An argument of the imported function; `is_weight`: it is found among stored weights by its name; `is_batch`: microbatches
    split its dim 0. Unsigned integers are taken by the compiled function as signed ones of the same bits, 8-bit floats as bytes;
    weights of 8-bit floats are stored as such. A size that only the run knows is -1 in `shape`."""

    name: str
    shape: tuple[int, ...]
    dtype: str
    is_weight: bool
    is_batch: bool = False
    sources: tuple[str, ...] = ()
    """Of a weight, the names of the stored tensors that it is made of; by default its own."""
    load: str = ""
    """The loading function that makes it of these, if one does."""
    is_state: bool = False
    """Programs keep it from call to call, zero at first, or none where its size is not known; calls do not pass it."""

    def fits(self, shape: tuple[int, ...]) -> bool:
        """Whether it can be of this shape: a size of -1 is any."""
        return len(shape) == len(self.shape) and all(known in (-1, size) for known, size in zip(self.shape, shape))

    @property
    def is_loaded_as_bytes(self) -> bool:
        return self.is_weight and self.dtype.startswith("float8")

    @functools.cached_property
    def numpy_dtype(self) -> np.dtype[Any]:
        return safetensors.numpy_dtype(self.dtype)

    @functools.cached_property
    def compiled_dtype(self) -> np.dtype[Any] | None:
        """What the compiled function has in place of it; None if it is the same."""
        return np.dtype(f"int{self.numpy_dtype.itemsize * 8}") if _is_bits(self.dtype) else None


@dataclasses.dataclass(frozen=True)
class Result:
    """`tied`: the argument, counted from 0, whose buffer it takes over. `is_state`: a step keeps it, as the state of its name."""

    name: str
    dtype: str
    tied: int | None = None
    is_state: bool = False


@dataclasses.dataclass
class Model:
    """`text` is annotated linalg IR with one public function; `values` are example arguments by name, where there are any."""

    text: str
    arguments: list[Argument]
    results: list[Result]
    values: dict[str, np.ndarray] = dataclasses.field(default_factory=dict)
    """Weights that came with the model: they are not arguments of its programs. A program takes them when it is first called,
    and what `update` replaces at the next call: they are read-only from then on."""
    stored: dict[str, np.ndarray] = dataclasses.field(default_factory=dict)
    """Whether the other weights are loaded from files (`Program.load`), and calls pass none."""
    is_loaded: bool = False
    """The elements of large constants, which `text` names as resources."""
    constants: Constants = dataclasses.field(default_factory=dict)
    """From what the caller of the model has to values of the arguments in order, and from results in order to what the caller gets."""
    flatten: Callable[..., Sequence[Any]] | None = None
    """From such a value to an array, for an argument of that dtype; others are returned as they are."""
    to_array: Callable[[Any, str], Any] | None = None
    unflatten: Callable[[Sequence[np.ndarray]], Any] | None = None

    def __repr__(self) -> str:
        weights = [a for a in self.arguments if a.is_weight]
        inputs = [f"{a.name}: {a.dtype}[{', '.join(map(str, a.shape))}]" for a in self.arguments if not a.is_weight]
        parts = [f"{len(weights)} weight{'' if len(weights) == 1 else 's'}", f"inputs ({_shorten(inputs)})", f"results ({_shorten([r.name for r in self.results])})"]
        return f"Model({', '.join(parts)}, {len(self.text.splitlines())} lines of IR)"

    def save(self, directory: str | Path) -> Path:
        """Writes model.mlir, plan.json, and, of the example arguments, weights.safetensors and inputs.safetensors."""
        directory = save_text(directory, self.text, self.constants)
        _write_arguments(directory, self.arguments, self.stored | self.values)
        return directory

    def compile(self, options: Sequence[str] = (), **session: Any) -> "Program":
        """Compiles for the logical devices of its mesh; `options` are those of shard-compile, others go to `shardkit.Session`.

        It runs in this process where libShardKitCompiler is installed; Ctrl-C ends it. Bundles are kept in a cache on disk,
        by IR, options, processor and compiler. The variable SHARDKIT_CACHE is its directory, or "off"; the default is
        $XDG_CACHE_HOME/shardkit, else ~/.cache/shardkit. SHARDKIT_CACHE_SIZE limits its bytes (default 1G): what was not
        used for longest is removed."""
        return Program(self, compile_text(self.text, self.constants, options), **session)

    def update(self, values: Mapping[str, Any]) -> None:
        """Weights, by name, that the next run begins with: what a training step has changed, for instance."""
        arguments = {a.name: a for a in self.arguments}
        for name, value in values.items():
            if name not in self.stored:
                raise ShardKitError(f"error: no weight is called {name}, expected one of: {', '.join(self.stored) or 'none came with the model'}")
            self.stored[name] = self.convert(arguments[name], value).copy()

    def convert(self, argument: Argument, value: Any) -> np.ndarray:
        """The array of a value that a caller passes."""
        return convert(argument, self.to_array(value, argument.dtype) if self.to_array else value)

    def run(self, *args: Any, options: Sequence[str] = (), **kwargs: Any) -> Any:
        """Compiles and runs once: on these arguments, or on the examples where none are given."""
        with self.compile(options) as program:
            return program(*args, **kwargs)


def save_text(directory: str | Path, text: str, constants: Constants) -> Path:
    """Writes model.mlir, and plan.json where there is a mesh; files of an earlier model are removed."""
    directory = Path(directory)
    try:
        directory.mkdir(parents=True, exist_ok=True)
        for name in FILES:
            (directory / name).unlink(missing_ok=True)
        (directory / "model.mlir").write_text(attach_resources(text, constants))
    except OSError as error:
        raise ShardKitError(f"error: {error.filename}: {error.strerror}, expected a directory that can be written") from None
    if "spmd.mesh" in text:
        plan = f"file={directory / 'plan.json'}"
        run_tool([find_tool("shard-opt"), str(directory / "model.mlir"), f"--spmd-export-plan={plan}", "-o", "/dev/null"])
    return directory


def compile_text(text: str, constants: Constants, options: Sequence[str]) -> Path:
    """A new directory, which holds the bundle of this IR."""
    options = read_names(options, "options")
    directory = Path(tempfile.mkdtemp(prefix="shardkit-"))
    try:
        compile_bundle(text, constants, options, directory)
    except BaseException:
        shutil.rmtree(directory, ignore_errors=True)
        raise
    return directory


class Program:
    """A compiled model. Called like the function that was imported, with NumPy arrays (or what converts to them) in and out.

    It stays in this process: weights that came with the model are loaded once, others by `load` or by name
    (`program["params.w"] = value`), and calls pass the rest. Keyword arguments other than `options` are those of
    `shardkit.Session`."""

    def __init__(self, model: Model, directory: Path, **session: Any):
        self.model, self.directory = model, directory
        self._remove = weakref.finalize(self, shutil.rmtree, directory, ignore_errors=True)
        self._options = session
        self._function: Function | None = None
        self._stored: dict[str, np.ndarray] = {}  # what the session was given of the model's weights
        self._seen: dict[int, Any] = {}  # inputs that cannot change, and their arrays once they came twice
        self._state: dict[str, Array] = {}  # of donated arguments that are passed: what they are now

    def __repr__(self) -> str:
        if self._function is None or not self._remove.alive:
            return f"Program({self.model!r}{'' if self._remove.alive else ', closed'})"
        function = self._function
        resident = [v for v in function.arguments if v.kind == "weight" or v.name in self.model.stored or v.name in self._state]
        head = f"{function.name} on {function.devices} device{'s'[: function.devices > 1]}, {sum(v.bytes_per_device for v in resident)} bytes of weights and state on each"
        values = [f"  {v!r}" for v in function.arguments] + [f"  -> {v!r}" for v in function.results]
        more = [f"  ... {len(values) - 16} more"] if len(values) > 16 else []
        return "\n".join([f"Program({head}", *values[:16], *more]) + ")"

    def __enter__(self) -> "Program":
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def close(self) -> None:
        """Frees what it has loaded and removes the bundle. A program that nothing uses any more is closed too, at the latest when
        Python ends."""
        if self._function:
            self._function.session.close()
        self._remove()

    @property
    def session(self) -> Session:
        """That in which the program runs."""
        return self._open().session

    def _open(self) -> Function:
        if not self._remove.alive:
            raise ShardKitError("error: the program is closed, expected a call before close()")
        if self._function is None:
            self._function = self._find_function()
            self._make_state(self._function.session)
            self._indices = {a.name: i for i, a in enumerate(self._function.arguments)}
            self._results = [next(i for i, r in enumerate(self._function.results) if r.name == result.name) for result in self.model.results]
            self._find_wanted()
            names = {i: name for name, i in self._indices.items()}
            # By argument that a result updates: that result and the name.
            self._updates = {r.tied: (k, names[r.tied]) for k, r in enumerate(self._function.results) if r.tied is not None}
        stored = self.model.stored
        if stored.keys() != self._stored.keys() or any(map(operator.is_not, stored.values(), self._stored.values())):
            self._load_stored()
            self._find_wanted()
        return self._function

    def _make_state(self, session: Session) -> None:
        """State that no function of the session has made yet is zero."""
        for argument in self.model.arguments:
            if argument.is_state and -1 not in argument.shape:
                try:
                    session.bound(argument.name)
                except ShardKitError:
                    session.assign(argument.name, _as_compiled(argument, np.zeros(argument.shape, argument.numpy_dtype)))

    def _find_wanted(self) -> None:
        """The arguments that calls pass, and where the function has them."""
        model = self.model
        self._wanted = [a for a in model.arguments if a.name not in model.stored and not a.is_state and not (model.is_loaded and a.is_weight)]
        self._places = [self._indices.get(a.name) for a in self._wanted]
        self._grown = {a.name: self._indices[a.name] for a in model.arguments if a.is_state and -1 in a.shape and a.name in self._indices}

    def _find_function(self) -> Function:
        (function,) = Session(self.directory / "bundle", **self._options).values()
        return function

    def _load_stored(self) -> None:
        """Gives the session the weights of the model that have changed."""
        assert self._function
        session, stored = self._function.session, self.model.stored
        arguments = {a.name: a for a in self.model.arguments}
        if not self.model.is_loaded and any(v.is_computed for v in self._function.arguments):  # loading functions read files
            with tempfile.TemporaryDirectory(dir=self.directory) as work:
                _write_arguments(Path(work), [a for a in self.model.arguments if a.is_weight], stored)
                session.load(Path(work, "weights.safetensors"))
        else:
            for name, value in stored.items():
                if name in self._indices and self._stored.get(name) is not value:  # else the function does not use it
                    session.assign(name, _as_compiled(arguments[name], value))
        for value in stored.values():
            value.flags.writeable = False  # What is written there would not be seen.
        self._stored = dict(stored)

    def load(self, path: str | Path | Sequence[str | Path], progress: Callable[[int, int], Any] | None = None) -> None:
        """Loads the weights from a file or a directory of any format that `shard-run --weights` reads, or from several files
        (.safetensors) that have some each. `progress`: as of `Session.load`."""
        function = self._open()
        if isinstance(path, (str, Path)) or not isinstance(path, Iterable):
            function.session.load(path, progress=progress)
        else:
            self._load_files(function, path, progress)
        self._state.clear()

    def _load_files(self, function: Function, paths: Sequence[str | Path], progress: Callable[[int, int], Any] | None) -> None:
        if computed := [v.name for v in function.arguments if v.is_computed]:
            raise ShardKitError(f"error: {computed[0]} is made of stored tensors when it is loaded, expected a directory in place of files")
        missing = {v.name for v in function.arguments if v.kind == "weight"}
        if not paths or not all(isinstance(path, (str, Path)) for path in paths):
            raise ShardKitError(f"error: path is {paths!r}, expected a path, or several")
        for path in paths:
            if names := sorted(missing & safetensors.read_names(path)):
                function.session.load(path, names, progress)
                missing -= set(names)
        if missing:
            raise ShardKitError(f"error: {', '.join(map(str, paths))}: no {_shorten(sorted(missing))}, expected all weights in these files")

    def save(self, directory: str | Path) -> None:
        """Writes what stays, weights, what was assigned, and state as the last step left it, as a set that programs on any
        number of devices load."""
        session = self._open().session
        for name, array in self._state.items():
            session.assign(name, array)
        session.save(directory)

    def __getitem__(self, name: str) -> Array:
        """What stays for the arguments of that name: a weight, what was assigned, or the result of the last step."""
        session = self._open().session
        return self._state[name] if name in self._state else session.bound(name)

    def __setitem__(self, name: str, value: Any) -> None:
        session = self._open().session
        self._state.pop(name, None)
        argument = next((a for a in self.model.arguments if a.name == name), None)
        if argument and not isinstance(value, Array):
            value = _as_compiled(argument, self.model.convert(argument, value))
        session.assign(name, value)

    def __call__(self, *args: Any, options: Sequence[str] = (), resident: bool = False, donate: bool = False, **kwargs: Any) -> Any:
        """Runs on all logical devices. With `resident` results are arrays that stay there, to be passed to later calls.

        `donate`: a step. Results that update an argument (those of donated arguments of JAX; parameters, buffers and
        optimizer state of PyTorch) take its memory and stay there; weights that came with the model have the new values in the next call.
        `options`: those of shard-run, which then runs it once, in a process of its own."""
        options = read_names(options, "options") if options else []
        function, model = self._open(), self.model
        given = self._read_given(args, kwargs)
        if donate and not self._updates and not any(r.is_state for r in model.results):
            raise ShardKitError("error: no result of the program updates an argument, expected donated arguments (donate_argnums of jax.jit) or an optimizer")
        if options:
            if donate or resident:
                raise ShardKitError("error: options are of a process of its own, in which nothing stays, expected a call without donate and resident")
            values = model.stored | {a.name: model.convert(a, value) for a, value in zip(self._wanted, given)}
            return self._run_tool(values, options)
        inputs = self._take_all(function, given, self._updates if donate else ())
        arrays = function.call(inputs, donate)
        if donate:
            self._state |= {r.name: arrays[i] for r, i in zip(model.results, self._results) if r.is_state}
            self._state |= {name: arrays[k] for i, (k, name) in self._updates.items() if inputs[i] is not None}
        results: list[Any] = [arrays[i] for i in self._results]
        if not resident:
            results = [
                array if donate and (array.value.tied is not None or result.is_state) else _as_result(result.dtype, array.numpy(is_read_only=False))
                for result, array in zip(model.results, results)
            ]
        return model.unflatten(results) if model.unflatten else results

    def compare_values(self, *args: Any, watch: Sequence[str] = (), directory: str | Path = ".", rtol: float | None = None,
                       atol: float | None = None, exact: bool = False, **kwargs: Any) -> ValueReport:  # fmt: skip
        """Runs next to the unsharded program and compares each value as it is made, of a model that was compiled with
        `options=["--with-values"]`; see `Function.compare_values`."""
        function = self._open()
        inputs = self._take_all(function, self._read_given(args, kwargs), ())
        return function.compare_values(*inputs, watch=watch, directory=directory, rtol=rtol, atol=atol, exact=exact)

    def _read_given(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Sequence[Any]:
        """What a call passes, or the examples where it passes nothing."""
        model = self.model
        if args or kwargs or not model.values:
            names = [a.name for a in self._wanted]
            return model.flatten(*args, **kwargs) if model.flatten else bind_by_name(names, args, kwargs)
        return [model.values[a.name] for a in self._wanted]

    def _take_all(self, function: Function, given: Sequence[Any], donated: Container[int]) -> list[Any]:
        """The arguments of the function; None for those that are bound."""
        inputs: list[Any] = [None] * len(function.arguments)
        seen = self._seen
        for argument, index, value in zip(self._wanted, self._places, given):
            if index is None:  # The function does not use it.
                continue
            if type(value) is Array:
                inputs[index] = value
            elif (known := seen.get(index)) and known[0]() is value and known[1] is not None and index not in donated:
                inputs[index] = known[1]
            else:
                inputs[index] = self._take(argument, index, value, index in donated)
        for name, index in self._grown.items():
            if name not in self._state:
                raise ShardKitError(f"error: there is no {name} yet, expected a step that makes it before (donate=True)")
            inputs[index] = self._state[name]
        return inputs

    def _take(self, argument: Argument, index: int, value: Any, is_donated: bool) -> Any:
        """What a call is given for an argument."""
        if _is_abstract(value):
            _check_abstract(argument, value)
            return self._state.get(argument.name)  # else what is bound
        array = _as_compiled(argument, self.model.convert(argument, value))
        if is_donated or array is value or not _is_immutable(value):
            return array
        seen, resident = self._seen.get(index, (None, None))
        if seen is None or seen() is not value:
            self._seen[index] = (weakref.ref(value), None)
            return array
        if resident is None:
            resident = self._open().put(index, array)
            self._seen[index] = (seen, resident)
        return resident

    def _run_tool(self, values: dict[str, np.ndarray], options: Sequence[str]) -> Any:
        model = self.model
        with tempfile.TemporaryDirectory(dir=self.directory) as work:
            command = [find_tool("shard-run"), str(self.directory / "bundle"), "--output-dir", f"{work}/out"]
            command += ["--output-format", "safetensors", *_write_arguments(Path(work), model.arguments, values), *options]
            run_tool(command)
            (file,) = Path(work, "out").glob("*.safetensors")
            found = safetensors.read(file)
        results = [_as_result(r.dtype, found[r.name]) for r in model.results]
        return model.unflatten(results) if model.unflatten else results


def _is_immutable(value: Any) -> bool:
    """Whether the elements of the object cannot change: an array of JAX."""
    return not isinstance(value, (np.ndarray, np.generic)) and "jax" in sys.modules and isinstance(value, sys.modules["jax"].Array)


def _is_abstract(value: Any) -> bool:
    """Whether it stands for an array of JAX that is not there."""
    return not isinstance(value, (np.ndarray, np.generic)) and "jax" in sys.modules and isinstance(value, sys.modules["jax"].ShapeDtypeStruct)


def _check_abstract(argument: Argument, value: Any) -> None:
    dtype = value.dtype  # Of a key of random numbers it is none of NumPy's.
    if isinstance(dtype, np.dtype):
        dtype = sys.modules["jax"].dtypes.canonicalize_dtype(dtype)
        if value.shape == argument.shape and dtype == argument.numpy_dtype:
            return
        raise ShardKitError(f"error: {argument.name} stands for {dtype}{list(value.shape)}, expected {argument.dtype}{list(argument.shape)}")


def _as_result(dtype: str, array: np.ndarray) -> np.ndarray:
    return array.view(safetensors.numpy_dtype(dtype)) if _is_bits(dtype) else array


def read_names(names: Any, what: str) -> list[str]:
    """Strings in a list; one error for anything else, a string among it."""
    if isinstance(names, str) or not isinstance(names, (Sequence, Set)) or not all(isinstance(n, str) for n in names):
        raise ShardKitError(f"error: {what} is {names!r}, expected a list of strings")
    return list(names)


def read_mesh(mesh: Any) -> dict[str, int]:
    """Names and sizes of axes; one error for anything else."""
    if mesh is None:
        return {}
    if not isinstance(mesh, Mapping):
        raise ShardKitError(f"error: mesh is {mesh!r}, expected names and sizes of axes, such as {{'data': 2, 'model': 2}}")
    for name, size in mesh.items():
        if not isinstance(name, str):
            raise ShardKitError(f"error: an axis of the mesh is called {name!r}, expected a string")
        if not isinstance(size, int) or isinstance(size, bool) or size < 1:
            raise ShardKitError(f"error: axis {name} of the mesh has size {size!r}, expected a positive number")
    return dict(mesh)


def _shorten(texts: Sequence[str], limit: int = 6) -> str:
    return ", ".join(texts[:limit]) + (f", and {len(texts) - limit} more" if len(texts) > limit else "")


def convert(argument: Argument, value: Any) -> np.ndarray:
    """The array that an argument takes; a Python number has the dtype of the argument if that holds it."""
    if isinstance(value, (np.ndarray, np.generic)) and value.dtype == argument.numpy_dtype and argument.fits(value.shape):
        return np.asarray(value)
    try:
        array = np.asarray(value)
        is_array = array.dtype.kind not in "OSUM"
    except (TypeError, ValueError):  # lists of several lengths
        is_array = False
    if not is_array:
        raise ShardKitError(f"error: {argument.name} is a {type(value).__name__}, expected an array of {argument.dtype}")
    if isinstance(value, (bool, int, float, complex)) and not isinstance(value, np.generic):
        array = convert_number(argument.name, argument.numpy_dtype, value)
    if array.dtype != argument.numpy_dtype:
        raise ShardKitError(f"error: {argument.name} has dtype {array.dtype}, expected {argument.dtype}")
    if not argument.fits(array.shape):
        raise ShardKitError(f"error: {argument.name} has shape {array.shape}, expected {argument.shape}")
    return array


def _is_bits(dtype: str) -> bool:
    """The compiled function has signed integers of these bits."""
    return dtype.startswith(("uint", "float8"))


def _as_compiled(argument: Argument, array: np.ndarray) -> np.ndarray:
    return array if argument.compiled_dtype is None else array.view(argument.compiled_dtype)


def _write_arguments(directory: Path, arguments: Sequence[Argument], values: dict[str, np.ndarray]) -> list[str]:
    """Writes weights and inputs to a file each, and returns the options of shard-run that name them."""
    options: list[str] = []
    for option, file, is_weight in (("--weights", "weights", True), ("--input", "inputs", False)):
        given = [a for a in arguments if a.is_weight == is_weight and a.name in values]
        tensors = {a.name: values[a.name] if a.is_loaded_as_bytes else _as_compiled(a, values[a.name]) for a in given}
        if tensors:
            path = directory / f"{file}.safetensors"
            safetensors.write(path, tensors)
            options += [option, str(path)]
    return options
