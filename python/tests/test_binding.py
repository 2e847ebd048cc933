"""Calls of 200 random signatures in every spelling: the arrays and constants of the call, or one error."""

from __future__ import annotations

import dataclasses
import random
import re
from types import SimpleNamespace
from typing import Any

import numpy as np
from shardkit import session
from shardkit.binding import Binding, Path, bind_by_name
from shardkit.errors import ShardKitError
from shardkit.model import Argument, convert


def find_leaves(value: Any, path: Path = ()) -> list[tuple[Path, Any]]:
    if isinstance(value, dict):
        return [leaf for key, child in value.items() for leaf in find_leaves(child, (*path, str(key)))]
    if isinstance(value, (list, tuple)):
        return [leaf for i, child in enumerate(value) for leaf in find_leaves(child, (*path, str(i)))]
    return [(path, value)]


def find_tree(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: find_tree(child) for key, child in value.items()}
    return type(value)(map(find_tree, value)) if isinstance(value, (list, tuple)) else None


def flatten(value: Any) -> tuple[list[tuple[Path, Any]], Any]:
    """As JAX and PyTorch do: dictionaries, lists and tuples are trees."""
    return find_leaves(value), find_tree(value)


def is_constant(leaf: Any) -> bool:
    return leaf is None or isinstance(leaf, (bool, int, float, str))


def fingerprint(parameters: dict[str, Any]) -> list[tuple[str, Any]]:
    """What a function sees: each leaf by its name, and the trees. Arrays are told apart by their values."""
    leaves, trees = [], []
    for name, value in sorted(parameters.items()):
        leaves += [(".".join((name, *path)), repr(leaf.item() if isinstance(leaf, np.ndarray) else leaf)) for path, leaf in find_leaves(value)]
        # Each entry of *args and of **kwargs is a value of its own.
        trees += [(f"{name}.{i}", find_tree(v)) for i, v in enumerate(value)] if name == "args" else [(name, find_tree(value))]
    return sorted(leaves) + sorted(((name, repr_of(tree)) for name, tree in trees if tree is not None), key=lambda pair: pair[0])


def repr_of(tree: Any) -> str:
    """Dictionaries in the order of their keys."""
    if isinstance(tree, dict):
        return f"{{{', '.join(f'{k}: {repr_of(tree[k])}' for k in sorted(tree))}}}"
    return f"{type(tree).__name__}({', '.join(map(repr_of, tree))})" if isinstance(tree, (list, tuple)) else "*"


class Case:
    """A function of random parameters, and how calls of it are made."""

    def __init__(self, rng: random.Random):
        self.rng, self.count = rng, 0
        names = rng.sample(["a", "b", "x", "y", "mask", "scale", "flag"], rng.randint(1, 5))
        only, last = rng.randint(0, 1), rng.randint(0, len(names))
        self.parts = [(name, "only" if i < only else "both" if i < max(last, only) else "keyword") for i, name in enumerate(names)]
        self.variadic = rng.random() < 0.3 and all(kind != "keyword" for _, kind in self.parts)
        self.extra = rng.random() < 0.3
        self.defaults = {}
        is_optional = False
        for name, kind in self.parts:
            is_optional = (is_optional and kind != "keyword") or (rng.random() < 0.3 and not self.variadic)
            if is_optional:
                self.defaults[name] = rng.choice([1, 2.5, True, None, "mean"])
        text = ""
        for i, (name, kind) in enumerate(self.parts):
            if kind == "keyword" and (i == 0 or self.parts[i - 1][1] != "keyword"):
                text += "*, "
            text += name + (f"={self.defaults[name]!r}" if name in self.defaults else "") + ", "
            if kind == "only" and (i + 1 == len(self.parts) or self.parts[i + 1][1] != "only"):
                text += "/, "
        text += ("*args, " if self.variadic else "") + ("**kwargs" if self.extra else "")
        scope: dict[str, Any] = {}
        body = "found = dict(locals()); extra = found.pop('kwargs', {}); return fingerprint({**found, **extra})"
        exec(f"def f({text}): {body}", {"fingerprint": fingerprint}, scope)
        self.function, self.text = scope["f"], text

    def array(self) -> np.ndarray:
        self.count += 1
        return np.float64(self.count + 0.5).reshape(())

    def value(self, depth: int = 2) -> Any:
        kind = self.rng.random()
        if depth and kind < 0.2:
            return {key: self.value(depth - 1) for key in self.rng.sample(["ids", "mask", "0"], self.rng.randint(0, 3))}
        if depth and kind < 0.35:
            return self.rng.choice([list, tuple])(self.value(depth - 1) for _ in range(self.rng.randint(0, 3)))
        return self.rng.choice([3, 0.25, False, None, "sum", 0.0, -0.0, float("nan")]) if kind < 0.5 else self.array()

    def call(self) -> tuple[list[Any], dict[str, Any]]:
        """Values of parameters, as a call with as many positions as can be."""
        positional, named = [], {}
        skip = False
        for name, kind in self.parts:
            if name in self.defaults and self.rng.random() < 0.5:
                skip = True
                continue
            if kind == "keyword" or (skip and kind == "both"):
                named[name] = self.value()
            elif not skip:
                positional.append(self.value())
        if self.variadic and not skip:
            positional += [self.value() for _ in range(self.rng.randint(0, 2))]
        if self.extra and self.rng.random() < 0.7:
            named["more"] = self.value()
        return positional, named

    def renew(self, value: Any) -> Any:
        """The same tree with other arrays, its dictionaries in another order."""
        if isinstance(value, dict):
            return {k: self.renew(value[k]) for k in self.rng.sample(list(value), len(value))}
        if isinstance(value, (list, tuple)):
            return type(value)(map(self.renew, value))
        return self.array() if isinstance(value, np.ndarray) else value

    def respell(self, args: list[Any], kwargs: dict[str, Any]) -> tuple[list[Any], dict[str, Any]]:
        """The same call with some positions by name, keywords in another order, defaults as they are written."""
        args, kwargs = [self.renew(v) for v in args], {k: self.renew(v) for k, v in kwargs.items()}
        first = sum(kind == "only" for _, kind in self.parts)
        names = [name for name, kind in self.parts if kind != "keyword"]
        if len(args) <= len(names):
            keep = self.rng.randint(min(first, len(args)), len(args))
            kwargs |= dict(zip(names[keep:], args[keep:]))
            args = args[:keep]
        written = {n: v for n, v in self.defaults.items() if n not in kwargs and n not in names[: len(args)] and ("only" not in dict(self.parts)[n])}
        kwargs |= {n: v for n, v in written.items() if self.rng.random() < 0.5}
        return args, {k: kwargs[k] for k in self.rng.sample(list(kwargs), len(kwargs))}

    def damage(self, args: list[Any], kwargs: dict[str, Any]) -> tuple[list[Any], dict[str, Any]]:
        """Something of the call changed: a constant, a key, an argument more or less, another order of positions."""
        args, kwargs = [self.renew(v) for v in args], {k: self.renew(v) for k, v in kwargs.items()}
        kind = self.rng.randrange(7)
        if kind == 0 and args:
            args.pop(self.rng.randrange(len(args)))
        elif kind == 1:
            kwargs[self.rng.choice(["other", "a", "x", "flag"])] = self.value()
        elif kind == 2:
            self.rng.shuffle(args)
        elif kind == 3 and kwargs:
            kwargs.pop(self.rng.choice(list(kwargs)))
        elif kind == 4:
            args.append(self.value())
        elif kind == 5:
            args, kwargs = [self.restructure(v) for v in args], {k: self.restructure(v) for k, v in kwargs.items()}
        else:
            for tree in (args, kwargs):
                for key in list(range(len(tree)) if isinstance(tree, list) else tree):
                    if self.rng.random() < 0.5:
                        tree[key] = self.change(tree[key])  # type: ignore[call-overload,index]
        return args, kwargs

    def restructure(self, value: Any) -> Any:
        """The same leaves in containers of another kind; an empty one of another kind."""
        if isinstance(value, dict):
            return list(value.values()) if self.rng.random() < 0.5 else {k: self.restructure(v) for k, v in value.items()}
        if isinstance(value, (list, tuple)):
            kind = self.rng.choice([list, tuple, lambda v: {str(i): child for i, child in enumerate(v)}])
            return kind(map(self.restructure, value))
        return value

    def change(self, value: Any) -> Any:
        if isinstance(value, dict) and value:
            value = dict(value)
            key = self.rng.choice(list(value))
            if self.rng.random() < 0.5:
                value["new"] = value.pop(key)
            else:
                value[key] = self.change(value[key])
            return value
        return self.value()


def replay(case: Case, binding: Binding, arrays: list[Any]) -> list[tuple[str, Any]]:
    """What a program does that was made of the example call: its constants, and arrays in the example's order."""
    leaves = dict(zip(binding.arrays, arrays)) | binding.constants
    trees = sorted((".".join(p), repr_of(t)) for p, t in binding.trees.items() if t is not None)
    return sorted((".".join(p), repr(v.item() if isinstance(v, np.ndarray) else v)) for p, v in leaves.items()) + trees


def main() -> None:
    counts = {"equal": 0, "refused": 0}
    for seed in range(200):
        case = Case(random.Random(seed))
        example = case.call()
        try:
            case.function(*example[0], **example[1])
        except TypeError:  # a required parameter after one that was left out
            counts["refused"] += 1
            continue
        binding = Binding(case.function, *example, flatten, is_constant)
        for i in range(40):
            is_equal = i < 20
            args, kwargs = (case.respell if is_equal else case.damage)(*example)
            try:
                expected: Any = case.function(*args, **kwargs)
            except TypeError:
                expected = None
            try:
                found = replay(case, binding, binding.bind(args, kwargs))
            except ShardKitError as error:
                assert not is_equal, f"seed {seed}: f({case.text}) with {args}, {kwargs}: {error}"
                assert str(error).startswith("error: ") and ", expected " in str(error) and "\n" not in str(error), error
                counts["refused"] += 1
                continue
            assert found == expected, f"seed {seed}: f({case.text}) with {args}, {kwargs}: {found}, expected {expected}"
            counts["equal"] += 1
    assert counts["equal"] > 3000 and counts["refused"] > 1000, counts

    assert bind_by_name(["a", "b"], [1], {"b": 2}) == [1, 2] == bind_by_name(["a", "b"], [], {"b": 2, "a": 1})
    for args, kwargs, message in [
        ([1, 2, 3], {}, "3 arrays were given, expected 2: a, b"),
        ([1], {"c": 2}, "c is unexpected, expected arrays for a, b"),
        ([1], {"a": 2}, "a was given twice"),
        ([], {"b": 1}, "a is missing, expected 2 arrays: a, b"),
        ([], {"a": 1}, "b is missing, expected 2 arrays: a, b"),
    ]:
        try:
            bind_by_name(["a", "b"], args, kwargs)
        except ShardKitError as error:
            assert message in str(error), error
        else:
            raise AssertionError(message)

    def f(x: Any, /, y: Any = None, *rest: Any, **more: Any) -> None:
        pass

    example = Binding(f, [np.ones(2)], {"z": (np.ones(3), 1.0)}, flatten, is_constant)
    for args, kwargs, message in [  # (1.0, 1) has the values of (1, True)
        ([1], {"z": (np.ones(3), 1.0), "x": 2}, "error: two arguments are called x, expected distinct names"),
        ([1], {"z": (np.ones(3), 1)}, "error: z.1 is 1, expected 1.0, with which"),
        ([1], {"z": [np.ones(3), 1.0]}, "error: z is [None, None], expected (None, None), as in the example call"),
        ([1], {"z": (np.ones(3), 1.0), "y": {}}, "error: y is missing, expected None"),
        ([1, None, []], {"z": (np.ones(3), 1.0)}, "error: rest.0 is unexpected, expected the arguments of the example call"),
        ([1], {"z": {0: 2, "0": 3}}, "error: two arguments are called z.0, expected distinct names"),
    ]:
        try:
            example.bind(args, kwargs)
        except ShardKitError as error:
            assert message in str(error), error
        else:
            raise AssertionError(message)
    for value, default, is_same in [((1, 2), (1.0, 2), False), (1.0, True, False), (0.0, -0.0, False), (float("nan"), float("nan"), True)]:
        static = Binding(lambda x=default: x, [], {}, flatten, is_constant, static=("x",))
        try:
            static.bind([value], {})
        except ShardKitError:
            assert not is_same, (value, default)
        else:
            assert is_same, (value, default)
    argument = Argument("n", (), "int32", False)
    for value, dtype in [(2.7, "int32"), (2**40, "int32"), (1j, "float32"), (3, "bool"), (300, "uint8"), (object(), "float32"), ([[1], [2, 3]], "float32"), ("1", "float32")]:
        try:
            convert(dataclasses.replace(argument, dtype=dtype), value)
        except ShardKitError as error:
            assert re.search(f"^error: n is .*, expected (a number that {dtype} holds|an array of {dtype})$", str(error)), error
        else:
            raise AssertionError((value, dtype))
    try:
        session._convert(SimpleNamespace(name="n", dtype=np.dtype("int32"), shape=()), 2.7)
    except ShardKitError as error:
        assert str(error) == "error: n is 2.7, expected a number that int32 holds", error
    else:
        raise AssertionError("a session cuts a number off")
    for value, dtype in [(3, "int32"), (True, "int32"), (3, "float32"), (2.5, "bfloat16"), (2.5, "complex64"), (-7, "int8"), (True, "bool")]:
        assert convert(dataclasses.replace(argument, dtype=dtype), value) == value
    print(f"200 signatures, {counts['equal']} calls bound as Python does, {counts['refused']} refused by one error")


if __name__ == "__main__":
    main()
