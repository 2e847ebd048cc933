"""Several functions in one program, which share weights and state: prefill and decode, training and evaluation."""

from __future__ import annotations

import dataclasses
import re
import shutil
import weakref
from pathlib import Path
from typing import Any, Callable, Iterator, Mapping, MutableMapping, Sequence

import numpy as np

from .errors import ShardKitError
from .constants import Constants
from .model import Model, Program, compile_text, read_names, save_text
from .session import Function, Session
from .tools import find_tool, run_tool


class Programs(Mapping[str, Program]):
    """Functions that were compiled together, by name: `programs["decode"](...)` or `programs.decode(...)`.

    They run in one session. Weights of one name, and state, have one layout and are in memory once. An array that one function
    returns with `resident=True` can be passed to another."""

    def __init__(self, models: Mapping[str, Model], directory: Path, **session: Any):
        self._shared = _Shared(directory, session)
        self._programs = {name: _Member(name, model, self._shared) for name, model in models.items()}

    def __repr__(self) -> str:
        return f"Programs({', '.join(self._programs)}{'' if self._shared.remove.alive else '; closed'})"

    def __getitem__(self, name: str) -> Program:
        if name not in self._programs:
            raise ShardKitError(f"error: no function is called {name}, expected one of: {', '.join(self._programs)}")
        return self._programs[name]

    def __getattr__(self, name: str) -> Program:
        if name.startswith("_") or name not in self._programs:
            raise AttributeError(f"no function is called {name}, expected one of: {', '.join(self.__dict__.get('_programs', ()))}")
        return self._programs[name]

    def __contains__(self, name: object) -> bool:
        return name in self._programs

    def __iter__(self) -> Iterator[str]:
        return iter(self._programs)

    def __len__(self) -> int:
        return len(self._programs)

    def __enter__(self) -> "Programs":
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def close(self) -> None:
        """Frees what was loaded and removes the bundle."""
        self._shared.close()

    @property
    def session(self) -> Session:
        """That in which all functions run."""
        return self._shared.open()

    def load(self, path: str | Path | Sequence[str | Path], progress: Callable[[int, int], Any] | None = None) -> None:
        """Loads the weights of all functions from a file, a directory, or several files (`Program.load`)."""
        programs = list(self.values())
        for program in programs[: 1 if isinstance(path, (str, Path)) else None]:  # a session loads those of all functions
            program.load(path, progress)

    def save(self, directory: str | Path) -> None:
        """Writes what stays, as a set that programs on any number of devices load."""
        next(iter(self.values())).save(directory)


@dataclasses.dataclass
class Models:
    """Functions that were imported together, by name: they share weights and state, and are compiled into one program."""

    functions: dict[str, Model]
    calls: Mapping[str, int] = dataclasses.field(default_factory=dict)
    """How often a function is called, as compared with the others."""
    text: str = ""
    """Annotated linalg IR with a public function for each."""

    def __post_init__(self) -> None:
        self.text = self.text or merge(self.functions, self.calls)

    def __repr__(self) -> str:
        return "\n".join(f"{name}: {model!r}" for name, model in self.functions.items())

    def __getitem__(self, name: str) -> Model:
        if name not in self.functions:
            raise ShardKitError(f"error: no function is called {name}, expected one of: {', '.join(self.functions)}")
        return self.functions[name]

    @property
    def constants(self) -> Constants:
        return _join_constants(self.functions)

    def apply_plan(self, file: str | Path) -> "Models":
        """With the shardings of a plan file."""
        return self._transform(f"--spmd-apply-plan=file={file}")

    def search(self, options: Sequence[str] = ()) -> "Models":
        """With the shardings that the search finds; `options` are those of `--spmd-auto-shard`."""
        options = read_names(options, "options")
        segments = ("--spmd-infer-segments", "--spmd-split-segments")
        return self._transform("--spmd-byte-arguments", "--spmd-resolve-axis-resources", "--spmd-decompose", "--inline", "--spmd-size-arguments", *segments, f"--spmd-auto-shard={' '.join(options)}")

    def _transform(self, *options: str) -> "Models":
        info = ["--mlir-print-debuginfo"] if "loc(" in self.text else []
        return Models(self.functions, self.calls, run_tool([find_tool("shard-opt"), "-", *options, *info], self.text))

    def save(self, directory: str | Path) -> Path:
        """Writes model.mlir and plan.json; weights are those of the checkpoint."""
        return save_text(directory, self.text, self.constants)

    def compile(self, options: Sequence[str] = (), **session: Any) -> Programs:
        """Compiles for the logical devices of its mesh; `options` are those of shard-compile, others go to `shardkit.Session`."""
        models = _share_stored(self.functions)
        return Programs(models, compile_text(self.text, self.constants, options), **session)


class _Shared:
    """The session of several functions, and what is known about its arrays, by name."""

    def __init__(self, directory: Path, options: Mapping[str, Any]):
        self.directory, self.options = directory, options
        self.remove = weakref.finalize(self, shutil.rmtree, directory, ignore_errors=True)
        self.session: Session | None = None
        self.given: dict[str, np.ndarray] = {}  # weights of models that the session has
        self.seen: dict[Any, Any] = {}
        self.state: dict[str, Any] = {}

    def open(self) -> Session:
        if not self.remove.alive:
            raise ShardKitError("error: the program is closed, expected a call before close()")
        if self.session is None:
            self.session = Session(self.directory / "bundle", **self.options)
        return self.session

    def close(self) -> None:
        if self.session:
            self.session.close()
        self.remove()


class _Member(Program):
    """One of several functions in a session."""

    def __init__(self, name: str, model: Model, shared: _Shared):
        self.model, self.directory = model, shared.directory
        self._name, self._shared = name, shared
        self._remove = shared.remove  # type: ignore[assignment]
        self._function: Function | None = None
        self._stored: dict[str, np.ndarray] = {}
        self._seen = _Seen(self)  # type: ignore[assignment]
        self._state = shared.state

    def close(self) -> None:
        self._shared.close()

    def _find_function(self) -> Function:
        return self._shared.open()[self._name]

    def _open(self) -> Function:
        # What another function has loaded is there.
        given = self._shared.given
        self._stored.update({n: v for n, v in self.model.stored.items() if given.get(n) is v})
        function = super()._open()
        given.update(self._stored)
        return function


class _Seen(MutableMapping[int, Any]):
    """Arrays that were seen, by the number of an argument; arguments of one name and layout, of any function, have one."""

    def __init__(self, member: _Member):
        self.member = member
        self.keys_of_arguments: list[Any] = []

    def _key(self, index: int) -> Any:
        if not self.keys_of_arguments:
            assert self.member._function
            self.keys_of_arguments = [(v.name, v.sharding, v.shape, str(v.dtype)) for v in self.member._function.arguments]
        return self.keys_of_arguments[index]

    def __getitem__(self, index: int) -> Any:
        return self.member._shared.seen[self._key(index)]

    def __setitem__(self, index: int, value: Any) -> None:
        self.member._shared.seen[self._key(index)] = value

    def __delitem__(self, index: int) -> None:
        del self.member._shared.seen[self._key(index)]

    def __iter__(self) -> Iterator[int]:
        return iter(())

    def __len__(self) -> int:
        return 0


class _Stored(MutableMapping[str, np.ndarray]):
    """The weights of one model among those of several."""

    def __init__(self, names: Sequence[str], values: dict[str, np.ndarray]):
        self.names, self.values_of_all = dict.fromkeys(names), values

    def __getitem__(self, name: str) -> np.ndarray:
        if name not in self.names:
            raise KeyError(name)
        return self.values_of_all[name]

    def __setitem__(self, name: str, value: np.ndarray) -> None:
        self.values_of_all[name] = value

    def __delitem__(self, name: str) -> None:
        raise ShardKitError(f"error: weight {name} is that of a program, expected no removal")

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __len__(self) -> int:
        return len(self.names)

    def __or__(self, other: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
        return {**self, **other}


def compile_functions(
    functions: Mapping[str, Any],
    arguments: Mapping[str, Any] | None = None,
    *,
    state: Mapping[str, str] | None = None,
    calls: Mapping[str, int] | None = None,
    options: Sequence[str] = (),
    **session: Any,
) -> Programs:
    """Compiles several functions into one bundle: `shardkit.compile` with a mapping."""
    for what, given in (("arguments", arguments), ("state", state), ("calls", calls)):
        if given is not None and not isinstance(given, Mapping):
            raise ShardKitError(f"error: {what} is {type(given).__name__}, expected a dictionary by the names of functions")
        for name in given or ():
            if str(name).split(".")[0] not in functions:
                raise ShardKitError(f"error: {what} names {name}, expected one of the functions: {', '.join(functions)}")
    if not functions:
        raise ShardKitError("error: no function was given, expected one or more by name")
    models = {name: _import(name, function, (arguments or {}).get(name)) for name, function in functions.items()}
    for key, value in (state or {}).items():
        name, _, result = key.partition(".")
        models[name] = _rename_results(name, models[name], result, value)
    _check_state(models, state or {})
    models = _share_stored(models)
    return Programs(models, compile_text(merge(models, calls or {}), _join_constants(models), options), **session)


def _import(name: str, function: Any, arguments: Any) -> Model:
    if not isinstance(name, str) or not name.isidentifier():
        raise ShardKitError(f"error: a function is called {name!r}, expected a name of letters, digits and _")
    if isinstance(function, Model):
        if arguments is not None:
            raise ShardKitError(f"error: {name} is a model, expected no arguments for it: it was imported with some")
        return function
    if not callable(function) or hasattr(function, "named_parameters"):
        raise ShardKitError(f"error: {name} is a {type(function).__name__}, expected a JAX function, or a model: that of shardkit.import_torch, for instance")
    if arguments is None:
        arguments = ()
    from .jax.frontend import import_jax

    if isinstance(arguments, Mapping):
        return import_jax(function, **arguments)
    if not isinstance(arguments, (tuple, list)):
        raise ShardKitError(f"error: arguments of {name} are a {type(arguments).__name__}, expected a tuple, or a dictionary by keyword")
    return import_jax(function, *arguments)


def _rename_results(function: str, model: Model, result: str, name: str) -> Model:
    """Calls the results `result` and `result.*` as the arguments `name` and `name.*` of another function."""
    def rename(old: str) -> str:
        return name + old[len(result) :] if old == result or old.startswith(result + ".") else old

    if all(rename(r.name) == r.name for r in model.results):
        raise ShardKitError(f"error: {function} has no result {result}, expected one of: {', '.join(r.name for r in model.results)}")
    text = model.text
    for r in model.results:
        if rename(r.name) != r.name:
            if any(a.name == r.name for a in model.arguments):
                raise ShardKitError(f"error: {function} has an argument and a result that are called {r.name}, expected distinct names")
            text = text.replace(f"spmd.name = {_quote(r.name)}", f"spmd.name = {_quote(rename(r.name))}")
    return dataclasses.replace(model, text=text, results=[dataclasses.replace(r, name=rename(r.name)) for r in model.results])


def _check_state(models: Mapping[str, Model], state: Mapping[str, str]) -> None:
    for name, model in models.items():
        names = [r.name for r in model.results]
        for twice in {n for n in names if names.count(n) > 1}:
            raise ShardKitError(f"error: two results of {name} are called {twice}, expected distinct names")
    taken = {a.name: (n, a) for n, m in models.items() for a in m.arguments}
    for key, value in state.items():
        function = key.partition(".")[0]
        found = [r for r in models[function].results if r.name == value or r.name.startswith(value + ".")]
        for result in found:
            if result.name not in taken:
                known = ", ".join(a for a in taken if a == value or a.startswith(value + ".")) or ", ".join(taken)
                raise ShardKitError(f"error: no function takes {result.name}, which {function} returns, expected one of: {known}")


def _share_stored(models: Mapping[str, Model]) -> dict[str, Model]:
    """Models whose weights of one name are one array."""
    values: dict[str, np.ndarray] = {}
    first: dict[str, str] = {}
    for function, model in models.items():
        for name, value in model.stored.items():
            known = values.setdefault(name, value)
            if known is not value and (known.dtype != value.dtype or known.shape != value.shape or known.tobytes() != value.tobytes()):
                raise ShardKitError(f"error: weight {name} of {function} has other values than in {first[name]}, expected models of one state")
            first.setdefault(name, function)
    return {n: dataclasses.replace(m, stored=_Stored(list(m.stored), values)) for n, m in models.items()}  # type: ignore[arg-type]


def _join_constants(models: Mapping[str, Model]) -> Constants:
    """Those of all models: names are by elements."""
    return {name: data for model in models.values() for name, data in model.constants.items()}


def merge(models: Mapping[str, Model], calls: Mapping[str, int]) -> str:
    """One module whose functions have the names of the models."""
    for name in models:
        count = calls.get(name, 1)
        if not isinstance(count, int) or isinstance(count, bool) or count < 1:
            raise ShardKitError(f"error: calls of {name} is {count!r}, expected a positive number")
    info = ["--mlir-print-debuginfo"] if any("loc(" in m.text for m in models.values()) else []
    # Without aliases, which belong to one text.
    marker = "// ----- another module of shardkit.compile"
    split = [f"--split-input-file={marker}", f"--output-split-marker={marker}", "--mlir-print-local-scope", *info]
    texts = run_tool([find_tool("shard-opt"), "-", *split], f"\n{marker}\n".join(m.text for m in models.values())).split(marker)
    parts = []
    for name, text in zip(models, texts, strict=True):
        head, found, rest = re.split(r"^module(?: @[^ ]+)?(?: attributes \{(.*)\})? \{$", text, maxsplit=1, flags=re.MULTILINE)
        attributes = ", ".join(filter(None, [found, f"spmd.calls = {calls[name]} : i64" if calls.get(name, 1) > 1 else ""]))
        parts.append(f"{head}module @{name} attributes {{{attributes}}} {{{rest}")
    return run_tool([find_tool("shard-opt"), "-", "--spmd-merge-modules", *info], "module {\n" + "\n".join(parts) + "}\n")


def _quote(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
