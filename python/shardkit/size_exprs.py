"""Sizes that only the run knows, as sums of products of numbers and names."""

from __future__ import annotations

import ast
from typing import Iterable, Mapping, Sequence

Term = tuple[str, ...]
"""The names of a product, in order."""
_LARGEST_POWER = 8


class SizeExpr:
    """A polynomial of names with integers as coefficients; equal however it was computed. What is computed otherwise is a name of its own."""

    __slots__ = ("terms", "_key")

    def __init__(self, terms: Mapping[Term, int]):
        self.terms = {term: n for term, n in sorted(terms.items(), key=_rank) if n}
        self._key = tuple(self.terms.items())

    @classmethod
    def number(cls, value: int) -> "SizeExpr":
        return cls({(): int(value)})

    @classmethod
    def name(cls, name: str) -> "SizeExpr":
        return cls({(name,): 1})

    @classmethod
    def parse(cls, text: str) -> "SizeExpr | None":
        """Sums, differences, products and powers of names and numbers, `2*b + 1` or `b^2`; None for anything else."""
        try:
            return cls._read(ast.parse(text.strip().replace("^", "**"), mode="eval").body)
        except SyntaxError:
            return None

    @classmethod
    def _read(cls, node: ast.expr) -> "SizeExpr | None":
        if isinstance(node, ast.Name):
            return cls.name(node.id)
        if isinstance(node, ast.Constant) and type(node.value) is int:
            return cls.number(node.value)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub) and (operand := cls._read(node.operand)) is not None:
            return -operand
        if not isinstance(node, ast.BinOp) or (a := cls._read(node.left)) is None or (b := cls._read(node.right)) is None:
            return None
        if isinstance(node.op, ast.Pow):
            return None if b.known is None or not 0 <= b.known <= _LARGEST_POWER else multiply([a] * b.known)
        return a + b if isinstance(node.op, ast.Add) else a - b if isinstance(node.op, ast.Sub) else a * b if isinstance(node.op, ast.Mult) else None

    @property
    def known(self) -> int | None:
        """The number that it is; None if it has names."""
        return None if any(self.terms) else self.terms.get((), 0)

    @property
    def names(self) -> list[str]:
        return sorted({name for term in self.terms for name in term})

    def __add__(self, other: "SizeExpr") -> "SizeExpr":
        return SizeExpr({term: self.terms.get(term, 0) + other.terms.get(term, 0) for term in {**self.terms, **other.terms}})

    def __neg__(self) -> "SizeExpr":
        return SizeExpr({term: -n for term, n in self.terms.items()})

    def __sub__(self, other: "SizeExpr") -> "SizeExpr":
        return self + -other

    def __mul__(self, other: "SizeExpr") -> "SizeExpr":
        product: dict[Term, int] = {}
        for a, m in self.terms.items():
            for b, n in other.terms.items():
                term = tuple(sorted(a + b))
                product[term] = product.get(term, 0) + m * n
        return SizeExpr(product)

    def divide(self, other: "SizeExpr") -> "SizeExpr | None":
        """The quotient if there is no remainder."""
        if not other.terms:
            return None
        rest, quotient = self, SizeExpr({})
        divisor, count = max(other.terms.items(), key=_rank)
        while rest.terms:
            term, n = max(rest.terms.items(), key=_rank)
            left = _without(term, divisor)
            if left is None or n % count:
                return None
            part = SizeExpr({left: n // count})
            quotient, rest = quotient + part, rest - part * other
        return quotient

    def solve(self, name: str) -> "tuple[int, SizeExpr] | None":
        """The factor of `name` and what is added to it, if the size is linear in it with a number as the factor."""
        factor = self.terms.get((name,), 0)
        rest = self - SizeExpr.name(name) * SizeExpr.number(factor)
        return None if factor == 0 or name in rest.names else (factor, rest)

    def range(self, bounds: Mapping[str, tuple[int, int]]) -> tuple[int, int]:
        """The least and the largest size that it can have, within bounds of its names, which are not negative."""
        least = most = 0
        for term, n in self.terms.items():
            low = high = n
            for name in term:
                low, high = low * bounds[name][0], high * bounds[name][1]
            least, most = least + min(low, high), most + max(low, high)
        return least, most

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SizeExpr) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)

    @property
    def symbols(self) -> str:
        """As `spmd.symbols` has it: a name, or operators between spaces."""
        return str(self).replace("*", " * ")

    def __str__(self) -> str:
        text = ""
        for term, n in sorted(self.terms.items(), key=lambda entry: (entry[1] < 0, -len(entry[0]), entry[0])):
            product = "*".join(([str(abs(n))] if abs(n) != 1 or not term else []) + list(term))
            text += f" {'-' if n < 0 else '+'} {product}" if text else f"{'-' if n < 0 else ''}{product}"
        return text or "0"

    __repr__ = __str__


def _rank(entry: tuple[Term, int]) -> tuple[int, Term]:
    return len(entry[0]), entry[0]


def _without(term: Term, names: Term) -> Term | None:
    rest = list(term)
    for name in names:
        if name not in rest:
            return None
        rest.remove(name)
    return tuple(rest)


def multiply(sizes: Iterable[SizeExpr]) -> SizeExpr:
    product = ONE
    for size in sizes:
        product = product * size
    return product


ONE = SizeExpr.number(1)


def group_dims(source: Sequence[SizeExpr], result: Sequence[SizeExpr]) -> list[tuple[list[int], list[int]]] | None:
    """The dims of two shapes that have the same elements, in order; None if there are no such groups."""
    groups: list[tuple[list[int], list[int]]] = []
    i = j = 0
    while i < len(source) and j < len(result):
        a, b = source[i], result[j]
        dims: tuple[list[int], list[int]] = ([i], [j])
        i, j = i + 1, j + 1
        while a != b:
            if i < len(source) and b.divide(a * source[i]) is not None:
                a, i = a * source[i], i + 1
                dims[0].append(i - 1)
            elif j < len(result) and a.divide(b * result[j]) is not None:
                b, j = b * result[j], j + 1
                dims[1].append(j - 1)
            else:
                return None
        groups.append(dims)
    for k in range(i, len(source)):  # dims of one element at the end
        if source[k] != ONE or not groups:
            return None
        groups[-1][0].append(k)
    for k in range(j, len(result)):
        if result[k] != ONE or not groups:
            return None
        groups[-1][1].append(k)
    return groups
