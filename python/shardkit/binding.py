"""Binds the arguments of a call to the parameters of the function that was imported, as Python itself would."""

from __future__ import annotations

import inspect
from typing import Any, Callable, Container, Iterable, Mapping, Sequence

import numpy as np

from .errors import ShardKitError

Path = tuple[str, ...]
"""The name of a parameter, then the keys that lead to a leaf of its value."""

Flattened = tuple[Iterable[tuple[Path, Any]], Any]
"""The leaves of a value with the keys that lead to each, and its tree, which is equal for values of one structure."""

_NO_ARRAYS = {type(None), str}


class Binding:
    """The leaves of an example call by parameter and key, in any order and form that a later call has.

    Arrays become inputs of the program; constants (of PyTorch numbers, flags, strings and `None`) are part of it, and so
    are the trees of all values, empty ones too, and defaults that the example call leaves alone. `is_constant` distinguishes
    constants from arrays; parameters in `static` are constants as they are. `skipped` leading parameters of the function are
    not arguments of the call. `tree`: a function to the leaves of a value and its structure, and the inverse, for calls of a
    structure that is known: these are bound without paths."""

    def __init__(
        self,
        function: Callable[..., Any],
        args: Sequence[Any],
        kwargs: Mapping[str, Any],
        flatten: Callable[[Any], Flattened],
        is_constant: Callable[[Any], bool],
        skipped: int = 0,
        static: Container[str] = (),
        tree: tuple[Callable[[Any], tuple[list[Any], Any]], Callable[[Any, list[Any]], Any]] | None = None,
    ):
        self.flatten, self.is_constant, self.static = flatten, is_constant, static
        self.function = getattr(function, "__qualname__", type(function).__qualname__)
        self.signature = _get_signature(function, skipped)
        passed, defaults, self.trees = self._read(args, kwargs)
        self.arrays = {path: leaf for path, leaf in passed.items() if not self._is_constant(path, leaf)}
        """Of the example call, in the order in which the call passes them."""
        self.constants = {path: leaf for path, leaf in passed.items() if path not in self.arrays} | defaults
        self.tree = None if static else tree
        # By structure: the positions of the arrays among the leaves, and of the constants with what is expected there.
        self._known: dict[Any, tuple[list[int], list[tuple[int, Any]]] | None] = {}

    def get_names(self) -> list[str]:
        """A name per array: its parameter, and below a parameter with several arrays the keys (`x`, `batch.labels`)."""
        counts: dict[str, int] = {}
        for path in self.arrays:
            counts[path[0]] = counts.get(path[0], 0) + 1
        return [path[0] if counts[path[0]] == 1 else ".".join(path) for path in self.arrays]

    def bind(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> list[Any]:
        """The arrays of a call in the order of the example's. One error where the call differs in anything else."""
        if self.tree is None:
            return self._bind(args, kwargs)
        leaves, structure = self.tree[0]((args, kwargs))
        if (known := self._known.get(structure)) is not None:
            arrays = [leaves[i] for i in known[0]]
            if _NO_ARRAYS.isdisjoint(map(type, arrays)) and all(_is_same(leaves[i], constant) for i, constant in known[1]):
                return arrays
        arrays = self._bind(args, kwargs)
        if structure not in self._known:
            self._known[structure] = self._find_positions(structure, len(leaves))
        return arrays

    def _find_positions(self, structure: Any, count: int) -> tuple[list[int], list[tuple[int, Any]]] | None:
        """Where the arrays and constants are among the leaves of a structure; none where that cannot be told."""
        assert self.tree
        marks = [object() for _ in range(count)]
        positions = {id(mark): i for i, mark in enumerate(marks)}
        try:
            found = self._read(*self.tree[1](structure, marks))[0]
        except Exception:  # a node that does not take other leaves
            return None
        if any(id(leaf) not in positions for leaf in found.values()) or not found.keys() >= self.arrays.keys():
            return None
        constants = [(positions[id(leaf)], self.constants[path]) for path, leaf in found.items() if path not in self.arrays]
        return [positions[id(found[path])] for path in self.arrays], constants

    def _bind(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> list[Any]:
        passed, defaults, trees = self._read(args, kwargs)
        leaves = passed | defaults
        for path in self.arrays:
            if path not in leaves:
                raise ShardKitError(f"error: {_name(path)} is missing, expected {self._describe_arrays()}")
        for path, leaf in leaves.items():
            if path in self.arrays:
                if leaf is None or isinstance(leaf, str):
                    raise ShardKitError(f"error: {_name(path)} is {leaf!r}, expected an array, as in the example call")
            elif path not in self.constants:
                raise ShardKitError(f"error: {_name(path)} is unexpected, expected {self._describe_arrays()}")
            elif not _is_same(leaf, self.constants[path]):
                value = repr(leaf) if self._is_constant(path, leaf) or not hasattr(leaf, "shape") else "an array"
                raise ShardKitError(
                    f"error: {_name(path)} is {value}, expected {self.constants[path]!r}, with which {self.function} was imported"
                )
        for path, constant in self.constants.items():
            if path not in leaves:
                raise ShardKitError(f"error: {_name(path)} is missing, expected {constant!r}, with which {self.function} was imported")
        for path, tree in (self.trees | trees).items():
            if path not in trees or path not in self.trees:
                raise ShardKitError(f"error: {_name(path)} is {'unexpected' if path in trees else 'missing'}, expected the arguments of the example call")
            if trees[path] != self.trees[path]:
                raise ShardKitError(f"error: {_name(path)} is {_shorten(tree)}, expected {_shorten(self.trees[path])}, as in the example call")
        return [leaves[path] for path in self.arrays]

    def _describe_arrays(self) -> str:
        return f"the arrays of the example call: {', '.join(map(_name, self.arrays)) or 'none'}"

    def _is_constant(self, path: Path, leaf: Any) -> bool:
        return self._is_static(path) or self.is_constant(leaf)

    def _is_static(self, path: Path) -> bool:
        return path[0] in self.static or ".".join(path[:2]) in self.static

    def _read(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> tuple[dict[Path, Any], dict[Path, Any], dict[Path, Any]]:
        """The leaves that a call passes, those of the defaults that it leaves alone, and the trees of both."""
        passed, defaults = self._pair(args, kwargs)
        trees: dict[Path, Any] = {}
        return self._flatten(passed, trees), self._flatten(defaults, trees), trees

    def _flatten(self, pairs: Iterable[tuple[Path, Any]], trees: dict[Path, Any]) -> dict[Path, Any]:
        leaves: dict[Path, Any] = {}
        for prefix, value in pairs:
            if self._is_static(prefix):
                leaves[prefix] = value
                continue
            found, trees[prefix] = self.flatten(value)
            for path, leaf in found:
                path = (*prefix, *path)
                if path in leaves:
                    raise ShardKitError(f"error: two arguments are called {_name(path)}, expected distinct names")
                leaves[path] = leaf
        return leaves

    def _pair(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> tuple[list[tuple[Path, Any]], list[tuple[Path, Any]]]:
        """Parameters with what is passed for them, and those that keep their defaults."""
        named: list[tuple[Path, Any]] = [((name,), value) for name, value in kwargs.items()]
        if self.signature is None:  # of a builtin: by position and by keyword
            unnamed: list[tuple[Path, Any]] = [((f"arg{i}",), value) for i, value in enumerate(args)]
            return unnamed + named, []
        try:
            bound = self.signature.bind(*args, **kwargs)
        except TypeError as error:
            raise ShardKitError(f"error: {error}, expected a call of {self.function}{self.signature}") from None
        parameters = self.signature.parameters.values()
        for p in parameters:  # a name of Python's, which an entry of **kwargs may have too
            if p.name in kwargs and p.kind in (p.POSITIONAL_ONLY, p.VAR_POSITIONAL, p.VAR_KEYWORD):
                raise ShardKitError(f"error: two arguments are called {p.name}, expected distinct names")
        positional = [p.name for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
        variadic = next((p.name for p in parameters if p.kind == p.VAR_POSITIONAL), "")
        passed: list[tuple[Path, Any]] = []
        for i, value in enumerate(args):
            passed.append(((positional[i],) if i < len(positional) else (variadic, str(i - len(positional))), value))
        defaults: list[tuple[Path, Any]] = [
            ((p.name,), p.default) for p in parameters if p.default is not p.empty and p.name not in bound.arguments
        ]
        return passed + named, defaults


def bind_by_name(names: Sequence[str], args: Sequence[Any], kwargs: Mapping[str, Any]) -> list[Any]:
    """The values of arguments that have names and no function: by position, then by name."""
    if len(args) > len(names):
        raise ShardKitError(f"error: {len(args)} arrays were given, expected {len(names)}: {', '.join(names)}")
    given = dict(zip(names, args))
    for name, value in kwargs.items():
        if name not in names:
            raise ShardKitError(f"error: {name} is unexpected, expected arrays for {', '.join(names) or 'no argument'}")
        if name in given:
            raise ShardKitError(f"error: {name} was given twice, expected it by position or by name")
        given[name] = value
    if missing := [name for name in names if name not in given]:
        raise ShardKitError(f"error: {', '.join(missing)} {'is' if len(missing) == 1 else 'are'} missing, expected {len(names)} arrays: {', '.join(names)}")
    return [given[name] for name in names]


def convert_number(name: str, dtype: np.dtype[Any], value: bool | int | float | complex) -> np.ndarray:
    """A Python number as an argument of a type that holds it."""
    kinds = "b", "iu", "fV", "c"  # V: of the package ml_dtypes
    wanted = next(i for i, kind in enumerate(kinds) if dtype.kind in kind)
    given = next(i for i, kind in enumerate((bool, int, float, complex)) if isinstance(value, kind))
    try:
        array = np.asarray(value).astype(dtype) if given <= wanted else None
    except OverflowError:
        array = None
    if array is None or (wanted == 1 and int(array) != value):
        raise ShardKitError(f"error: {name} is {value!r}, expected a number that {dtype} holds")
    return array


def get_key(entry: Any) -> str:
    """The key, name or index that an entry of a path into a tree of JAX or PyTorch stands for."""
    for attribute in ("key", "name", "idx"):
        if hasattr(entry, attribute):
            return str(getattr(entry, attribute))
    return str(entry)


def _get_signature(function: Callable[..., Any], skipped: int) -> inspect.Signature | None:
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return None
    return signature.replace(parameters=list(signature.parameters.values())[skipped:])


def _name(path: Path) -> str:
    return ".".join(path)


def _shorten(tree: Any, limit: int = 160) -> str:
    text = " ".join(str(tree).split())
    return text if len(text) <= limit else text[: limit - 3] + "..."


def _is_same(a: Any, b: Any) -> bool:
    """Constants of one type and value, which 0.0 and -0.0 do not have; NaN is the same as itself."""
    if a is b:
        return True
    if type(a) is not type(b):
        return False
    if isinstance(a, (float, complex)):
        return repr(a) == repr(b)
    if isinstance(a, Mapping):
        return a.keys() == b.keys() and all(_is_same(v, b[k]) for k, v in a.items())
    if isinstance(a, (list, tuple)):
        return len(a) == len(b) and all(map(_is_same, a, b))
    if hasattr(a, "shape"):  # arrays and tensors
        return bool(a.shape == b.shape and a.dtype == b.dtype and np.array_equal(a, b))
    return bool(a == b)
