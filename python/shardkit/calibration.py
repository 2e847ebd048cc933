"""Costs of a mesh that were measured: the links of its axes, the rate at which a device computes products, and its memory's bandwidth."""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Callable, Mapping, Protocol, Sequence

import numpy as np

from .constants import Constants
from .errors import ShardKitError
from .meshes import read_axes, spell_mesh
from .model import compile_text, read_mesh
from .processes import init
from .session import Function, Session
from .tools import find_tool, run_tool

KINDS = ("all_gather", "all_reduce", "reduce_scatter", "all_to_all")
SIZES = (1 << 12, 1 << 16, 1 << 19, 1 << 21)
PRODUCTS = ((256, 256, 256), (512, 512, 512), (1024, 1024, 1024), (16, 1024, 1024), (128, 512, 2048))
COPIES = (1 << 14, 1 << 16, 1 << 18)
_MANY = 5  # collectives of the longer of two functions: the difference is without what a step takes by itself
_COUNTS = (("", 1), (f"_{_MANY}", _MANY))  # of functions with products and elementwise work
_DEFAULT_ALPHA, _DEFAULT_BETA = 1e-5, 1e-10  # of axes of one device
_TINY = 1e-30  # a cost that does not count
# One collective per argument, as written.
_PLAIN = ("--plan=propagation", "--combine=false", "--sink=false", "--hoist=false", "--merge-reductions=false")
_OPTIONS = (*_PLAIN, "--overlap=false")
_OVERLAPPED = (*_PLAIN, "--overlap=true", "--min-hidden-fraction=0")
_BEHIND = 3  # collectives next to as many products
_PARTS = ("products", "collectives", "both")


@dataclass(frozen=True)
class Sample:
    """One collective: its axis, its bytes (the B of the cost formulas), and seconds as measured and as the fit predicts them."""

    kind: str
    axis: str
    bytes: int
    seconds: float
    predicted: float


@dataclass(frozen=True)
class Product:
    """Products of m x k by k x n that all devices compute at a time: operations per second of a device."""

    shape: tuple[int, int, int]
    dtype: str
    flops: float


@dataclass(frozen=True)
class Copy:
    """Elementwise work on so many elements of f32 that all devices do at a time: bytes per second that a device reads and writes."""

    elements: int
    bandwidth: float


@dataclass(frozen=True)
class Calibration:
    """Measured costs of a mesh: `alpha` (s) and `beta` (s/byte) per axis, `flops` and `bandwidth` (byte/s) of a device, with what they were
    fitted to. `overlap`: the fraction of collectives that passes while devices compute. `overhead`: seconds that a step takes by itself; 0
    where that is not known. `error`: that of the fit, as a file has it."""

    axes: dict[str, int]
    alpha: dict[str, float]
    beta: dict[str, float]
    flops: float
    samples: tuple[Sample, ...]
    products: tuple[Product, ...]
    process: int = 0  # that of the session, of several
    bandwidth: float | None = None
    copies: tuple[Copy, ...] = ()
    overhead: float = 0.0
    overlap: float | None = None
    error: float | None = None

    @property
    def costs(self) -> dict[str, Any]:
        """Costs per axis, in the order of the mesh, as `spmd.mesh` has them."""
        costs = {"alpha": [self.alpha[a] for a in self.axes], "beta": [self.beta[a] for a in self.axes], "flops": self.flops}
        return costs | {k: v for k, v in (("bandwidth", self.bandwidth), ("overlap", self.overlap)) if v is not None}

    @property
    def mesh(self) -> str:
        """The mesh with its costs, in MLIR."""
        return spell_mesh(self.axes, self.costs)

    def get_error(self, kind: str | None = None) -> float:
        """The median of |predicted - measured| / measured, of one kind of collectives or of all, which a file has too."""
        if not self.samples and kind is None:
            return self.error or 0.0
        errors = [abs(s.predicted - s.seconds) / s.seconds for s in self.samples if kind in (None, s.kind)]
        return float(np.median(errors)) if errors else 0.0

    def report(self) -> str:
        """The costs, and measured times next to predicted ones."""
        lines = [self.mesh, "", f"{'collective':<16}{'axis':<10}{'bytes':>10}{'measured, us':>14}{'predicted, us':>15}"]
        lines += [f"{s.kind:<16}{s.axis:<10}{s.bytes:>10}{1e6 * s.seconds:>14.1f}{1e6 * s.predicted:>15.1f}" for s in self.samples]
        lines += ["", *(f"{kind}: median error {100 * self.get_error(kind):.0f} %" for kind in KINDS if self.samples), ""]
        lines += [f"product {'x'.join(map(str, p.shape))} {p.dtype}: {p.flops / 1e9:.1f} GFLOP/s per device" for p in self.products]
        lines += [f"elementwise, {c.elements} elements: {c.bandwidth / 1e9:.2f} GB/s per device" for c in self.copies]
        lines += [] if self.overlap is None else [f"hidden by compute: {100 * self.overlap:.0f} % of collectives"]
        lines += [f"a step by itself: {1e6 * self.overhead:.1f} us"] if self.overhead else []
        return "\n".join(lines) + "\n"

    def save(self, path: str | Path, name: str = "mesh") -> None:
        """Writes the mesh with its costs as a plan, for --spmd-apply-plan and `load`. `name`: of the mesh in the modules."""
        mesh = {"name": name, "axes": [[axis, size] for axis, size in self.axes.items()], **self.costs}
        if self.samples or self.error is not None:
            mesh["error"] = round(self.get_error(), 4)
        Path(path).write_text(json.dumps({"version": 1, "meshes": [mesh]}) + "\n")

    @staticmethod
    def load(path: str | Path) -> "Calibration":
        """Reads a file of `save`: the costs and the error of their fit, without what they were fitted to."""
        try:
            (mesh,) = json.loads(Path(path).read_text())["meshes"]
            axes = {str(axis): int(size) for axis, size in mesh["axes"]}
            alpha, beta = (dict(zip(axes, map(float, mesh[cost]), strict=True)) for cost in ("alpha", "beta"))
            bandwidth, overlap, error = (float(mesh[cost]) if cost in mesh else None for cost in ("bandwidth", "overlap", "error"))
            return Calibration(axes, alpha, beta, float(mesh["flops"]), (), (), bandwidth=bandwidth, overlap=overlap, error=error)
        except OSError as failure:
            raise ShardKitError(f"error: {path}: {failure.strerror}") from None
        except (ValueError, KeyError, TypeError):
            raise ShardKitError(f"error: {path} has no mesh with measured costs, expected a file of Calibration.save") from None


def calibrate(
    mesh: Any, sizes: Sequence[int] = SIZES, dtype: str = "f32", repeats: int = 20, options: Sequence[str] = (), rounds: int = 1, **session: Any
) -> Calibration:
    """Measures the links of a mesh, products and elementwise work of its devices, and what of collectives passes during products, on the
    devices of this session.

    `mesh`: axes to sizes, or a mesh of JAX. `sizes`: bytes of collectives; each of the four kinds runs along each axis, all of its
    groups at a time. `dtype` of products, f32, bf16, f16 or f64. `repeats`: steps of each function, whose median counts. `rounds`: how often all
    functions are measured; the least of the medians counts, which other programs disturb less. `options`: of
    shard-compile, as `--target=cuda`. Other keyword arguments are those of `Session`; under `shardkit.init` all processes call it.
    The costs are those for which the errors of the predicted times are least, relative to these or to the measured ones."""
    axes = read_mesh(mesh)
    _check(sizes, dtype, repeats)
    functions = _Functions(axes, sizes, dtype, is_device="--target=cuda" in options)
    weights = functions.price()
    seconds, process = dict[str, float](), 0
    for texts, how in ((functions.texts, _OPTIONS), (functions.overlapped, _OVERLAPPED)):
        if not texts:
            continue
        directory = compile_text("\n".join([spell_mesh(axes, {}), *texts.values()]), Constants(), [*how, *options])
        try:
            with Session(directory / "bundle", **session) as opened:
                opened.fill_random(1)
                measured = [{name: _measure(opened[name], repeats) for name in texts} for _ in range(rounds)]
                seconds |= {name: min(each[name] for each in measured) for name in texts}
                process = opened.process[0]
        finally:
            shutil.rmtree(directory, ignore_errors=True)
    return functions.fit(weights, seconds, process)


class Meter(Protocol):
    """Where a mesh of another framework is measured: seconds of a step, on all devices at a time, the same on all processes."""

    def time_collective(self, kind: str, axis: str, elements: int, count: int) -> float | None:
        """`count` collectives of f32, each of this many elements of its larger side: of an all-to-all, on each device. None: it has none."""

    def time_product(self, shape: tuple[int, int, int]) -> float: ...

    def time_copy(self, elements: int) -> float:
        """Of the product of an array with itself."""

    def time_overlap(self, axis: str, shape: tuple[int, int], count: int, products: bool, collectives: bool) -> float | None:
        """Of `count` products of f32, of a matrix of this shape by a square one, each of the sum of the one before and of an all-reduce of
        another matrix of this shape, which can pass during the product; or of either alone. None: it cannot."""

    @property
    def is_device(self) -> bool:
        """Whether devices are accelerators."""


def calibrate_by(meter: Meter, axes: dict[str, int], sizes: Sequence[int] = SIZES, dtype: str = "f32", process: int = 0) -> Calibration:
    """The costs of a mesh that a meter measures. Kinds that it does not have are left out of the fit."""
    _check(sizes, dtype, 1)
    functions = _Functions(axes, sizes, dtype, meter.is_device)
    seconds: dict[str, float] = {"step": meter.time_copy(1)}
    for kind, axis, size, name in functions.collectives:
        for count in (1, _MANY):
            if (found := meter.time_collective(kind, axis, size // 4, count)) is not None:
                seconds[f"{name}_{count}"] = found
    seconds |= {name: meter.time_product(shape) for shape, name in functions.products}
    seconds |= {name: meter.time_copy(elements) for elements, name in functions.copies}
    for axis, name in functions.pairs:
        for part in _PARTS:
            if (found := meter.time_overlap(axis, functions.pair_shape, _BEHIND, part != "collectives", part != "products")) is not None:
                seconds[f"{name}_{part}"] = found
    return functions.fit(functions.price(), seconds, process)


Measure = Callable[[dict[str, int], argparse.Namespace], Calibration]


def run_command(prog: str, argv: list[str] | None, description: str, measure: Measure, add_arguments: Callable[[argparse.ArgumentParser], None] = lambda _: None) -> int:
    """The command line of a calibration."""
    parser = argparse.ArgumentParser(prog=prog, description=description)
    parser.add_argument("--mesh", required=True, metavar="AXES", help="names and sizes of axes, data=2,model=4")
    parser.add_argument("-o", "--output", required=True, metavar="FILE", help="the plan with the costs")
    parser.add_argument("--name", default="mesh", help="of the mesh in the modules (default: mesh)")
    parser.add_argument("--dtype", default="f32", help="of products: f32, bf16, f16 or f64 (default: f32)")
    parser.add_argument("--repeats", type=int, default=20, metavar="N", help="steps of each function, whose median counts (default: 20)")
    add_arguments(parser)
    options = parser.parse_args(argv)
    try:
        found = measure(read_axes(options.mesh), options)
        if found.process == 0:
            found.save(options.output, options.name)
            print(found.report(), end="")
    except ShardKitError as error:
        print(error, file=sys.stderr)
        return 1
    except OSError as error:
        print(f"error: {error.filename}: {error.strerror}", file=sys.stderr)
        return 1
    return 0


def _check(sizes: Sequence[int], dtype: str, repeats: int) -> None:
    if dtype not in ("f32", "bf16", "f16", "f64"):
        raise ShardKitError(f"error: dtype is {dtype!r}, expected f32, bf16, f16 or f64")
    if not isinstance(repeats, int) or repeats < 1:
        raise ShardKitError(f"error: repeats is {repeats!r}, expected a positive number")
    if not sizes or any(not isinstance(size, int) or size < 1 for size in sizes):
        raise ShardKitError(f"error: sizes is {sizes!r}, expected numbers of bytes")


def _measure(function: Function, repeats: int) -> float:
    """The median of the seconds of its steps, by the session's clock."""
    times = []
    for step in range(repeats + 2):
        function()
        times.append(function.stats["last_seconds"])
    return float(np.median(times[2:]))


class _Functions:
    """Functions that are timed: each collective once and several times, products, elementwise work, and collectives next to products."""

    def __init__(self, axes: dict[str, int], sizes: Sequence[int], dtype: str, is_device: bool = False):
        self.axes, self.dtype = axes, dtype
        self.texts: dict[str, str] = {}
        self.collectives: list[tuple[str, str, int, str]] = []  # kind, axis, bytes, name of the functions
        self.products: list[tuple[tuple[int, int, int], str]] = []
        for axis, devices in axes.items():
            for kind in KINDS if devices > 1 else ():
                for size in sorted({self._round(size, devices) for size in sizes}):
                    name = f"{kind}_{len(self.collectives)}"
                    self.collectives.append((kind, axis, 4 * size, name))
                    for count in (1, _MANY):
                        self.texts[f"{name}_{count}"] = _spell_collective(f"{name}_{count}", kind, axis, devices, size, count)
        for shape in PRODUCTS:
            name = f"product_{len(self.products)}"
            self.products.append((shape, name))
            self.texts |= {f"{name}{suffix}": _spell_product(f"{name}{suffix}", axes, shape, dtype, count) for suffix, count in _COUNTS}
        self.copies = [(elements, f"copy_{elements}") for elements in COPIES]
        self.texts["step"] = _spell_copy("step", axes, 1, 1)
        for elements, name in self.copies:
            self.texts |= {f"{name}{suffix}": _spell_copy(f"{name}{suffix}", axes, elements, count) for suffix, count in _COUNTS}
        # A product takes about as long as the all-reduce. The same on all processes, whatever they have measured.
        self.pair_shape = (8192, 2048) if is_device else (2048, 128)
        self.pairs = [(axis, f"pair_{axis}") for axis, devices in axes.items() if devices > 1]
        self.overlapped = {f"{name}_{part}": _spell_pair(f"{name}_{part}", axes, axis, self.pair_shape, part) for axis, name in self.pairs for part in _PARTS}

    @staticmethod
    def _round(size: int, devices: int) -> int:
        """Elements of f32 that this many devices share, twice (all-to-all)."""
        unit = devices * devices
        return max(1, round(size / 4 / unit)) * unit

    def spell(self, mesh: str, names: Sequence[str] | None = None) -> str:
        return "\n".join([mesh, *(self.texts[name] for name in names or self.texts)])

    def price(self) -> dict[str, tuple[float, float]]:
        """Of each collective how often it pays alpha, and for how many bytes beta, by the compiler's own formulas."""
        names = [f"{name}_1" for *_, name in self.collectives]
        if not names:
            return {}
        found = []
        for alpha, beta in ((1.0, _TINY), (_TINY, 1.0)):
            mesh = spell_mesh(self.axes, {"alpha": [alpha] * len(self.axes), "beta": [beta] * len(self.axes)})
            with tempfile.TemporaryDirectory() as directory:
                source, report = Path(directory, "module.mlir"), Path(directory, "report.json")
                source.write_text(self.spell(mesh, names))
                options = "plan=propagation combine=false overlap=false sink=false hoist=false merge-reductions=false"
                run_tool([find_tool("shard-opt"), str(source), f"--spmd-report=format=json output={report} {options}", "-o", os.devnull])
                collectives = json.loads(report.read_text())["collectives"]
            found.append({c["function"]: c["cost"] for c in collectives})
        return {name: (found[0][name], found[1][name]) for name in names}

    def fit(self, weights: Mapping[str, tuple[float, float]], seconds: Mapping[str, float], process: int = 0) -> Calibration:
        measured = {
            name: max(seconds[f"{name}_{_MANY}"] - seconds[f"{name}_1"], 0) / (_MANY - 1) or seconds[f"{name}_1"]
            for *_, name in self.collectives if f"{name}_1" in seconds
        }  # fmt: skip
        alpha, beta, samples = {}, {}, []
        for axis in self.axes:
            own = [c for c in self.collectives if c[1] == axis and c[3] in measured]
            rows = np.array([weights[f"{c[3]}_1"] for c in own]).reshape(-1, 2)
            alpha[axis], beta[axis] = _solve(rows, np.array([measured[c[3]] for c in own]))
            for (kind, _, size, name), row in zip(own, rows):
                samples.append(Sample(kind, axis, size, measured[name], float(row @ (alpha[axis], beta[axis]))))
        overhead = seconds["step"]

        def without_overhead(name: str) -> float:
            """Of one op: the difference that more of them make, as processes wait for each other in a step. At least a tenth of what was
            measured, so that it is positive on a machine that something disturbs."""
            one, many = seconds[name], seconds.get(f"{name}_{_MANY}")
            return max(one - overhead, 0.1 * one) if many is None else max((many - one) / (_MANY - 1), 0.1 * many / _MANY)

        products = [Product(shape, self.dtype, 2 * float(np.prod(shape)) / without_overhead(name)) for shape, name in self.products]
        # The time of all of them together: small ones count as little as they do in a step.
        work = sum(2 * float(np.prod(p.shape)) for p in products)
        flops = work / sum(2 * float(np.prod(p.shape)) / p.flops for p in products)
        copies = [Copy(elements, 8 * elements / without_overhead(name)) for elements, name in self.copies]
        bandwidth = sum(8 * c.elements for c in copies) / sum(8 * c.elements / c.bandwidth for c in copies)
        pairs = [f"{name}_{part}" for _, name in self.pairs for part in _PARTS]
        overlap = self._find_overlap({name: without_overhead(name) for name in pairs if name in seconds})
        return Calibration(self.axes, alpha, beta, _round(flops), tuple(samples), tuple(products), process, _round(bandwidth), tuple(copies), overhead, overlap)

    def _find_overlap(self, seconds: Mapping[str, float]) -> float | None:
        """What products and collectives take less together than one after the other, of what they could."""
        saved = most = 0.0
        for _, name in self.pairs:
            if not all(f"{name}_{part}" in seconds for part in _PARTS):
                continue
            products, collectives, both = (seconds[f"{name}_{part}"] for part in _PARTS)
            saved += min(max(products + collectives - both, 0), products, collectives)
            most += min(products, collectives)
        return round(saved / most, 2) if most else None


def _round(cost: float) -> float:
    """Four digits: a measurement has no more."""
    return float(f"{cost:.3e}")


def _solve(rows: np.ndarray, seconds: np.ndarray) -> tuple[float, float]:
    """Alpha and beta, both positive, with the least errors, each relative to the larger of the measured and the predicted time: what a
    measurement that was disturbed adds is limited, whether it is too short or too long."""
    if not len(rows):
        return _DEFAULT_ALPHA, _DEFAULT_BETA

    def get_errors(found: np.ndarray) -> np.ndarray:
        predicted = rows @ found
        return np.asarray(np.abs(predicted - seconds) / np.maximum(predicted, seconds))

    best = None
    for weights in (1 / seconds, 1 / np.sqrt(seconds), np.ones(len(rows))):
        found = np.array(_solve_once(rows, seconds, weights))
        for _ in range(30):  # least sums, by weighted squares
            scale = np.maximum(rows @ found, seconds)
            found = np.array(_solve_once(rows, seconds, 1 / scale / np.sqrt(np.maximum(get_errors(found), 1e-3))))
        if best is None or get_errors(found).sum() < get_errors(best).sum():
            best = found
    assert best is not None
    return _round(best[0]), _round(best[1])


def _solve_once(rows: np.ndarray, seconds: np.ndarray, weights: np.ndarray) -> tuple[float, float]:
    """Alpha and beta, both positive, with the least weighted squares."""
    scaled = rows * weights[:, None]
    target = seconds * weights
    found = np.linalg.lstsq(scaled, target, rcond=None)[0]
    least = (1e-9, 1e-15)
    for i in (0, 1):
        if found[i] < least[i]:
            other = 1 - i
            rest = target - scaled[:, i] * least[i]
            found = np.empty(2)
            found[i] = least[i]
            found[other] = max(scaled[:, other] @ rest / (scaled[:, other] @ scaled[:, other]), least[other])
    return float(found[0]), float(found[1])


def _spell_collective(name: str, kind: str, axis: str, devices: int, size: int, count: int) -> str:
    """`count` collectives of `size` elements of f32, each of an argument."""
    along, across = f'<@mesh, [{{"{axis}"}}]>', "<@mesh, [{}]>"
    total, local = f"tensor<{size}xf32>", f"tensor<{size // devices}xf32>"
    given, made = total, total
    if kind == "all_gather":
        shardings, types, op = (along, across), (local, total), f"spmd.all_gather %v {along} : {local} -> {total}"
    elif kind == "all_reduce":
        shardings, types, op = (across, across), (total, total), f'spmd.all_reduce %v sum <@mesh, {{"{axis}"}}> : {total}'
    elif kind == "reduce_scatter":
        shardings, types, op = (across, along), (total, local), f"spmd.reduce_scatter %v sum {along} : {total} -> {local}"
    else:
        shardings = (f'<@mesh, [{{"{axis}"}}, {{}}]>', f'<@mesh, [{{}}, {{"{axis}"}}]>')
        given = made = f"tensor<{devices}x{size}xf32>"
        types = f"tensor<1x{size}xf32>", f"tensor<{devices}x{size // devices}xf32>"
        op = f"spmd.all_to_all %v {shardings[0]} to {shardings[1]} : {types[0]} -> {types[1]}"
    arguments = ", ".join(f'%a{i}: {given} {{spmd.weight = "{name}_{i}", spmd.sharding = #spmd.sharding{shardings[0]}}}' for i in range(count))
    results = ", ".join(f"{made} {{spmd.sharding = #spmd.sharding{shardings[1]}}}" for _ in range(count))
    lines = [f"func.func @{name}({arguments}) -> ({results}) {{"]
    for i in range(count):
        lines += [
            f'  %r{i} = spmd.manual_computation (%a{i}) in [{shardings[0]}] out [{shardings[1]}] axes ["{axis}"] (%v: {types[0]}) {{',
            f"    %c = {op}",
            f"    spmd.return %c : {types[1]}",
            f"  }} : ({given}) -> {made}",
        ]
    lines += [f"  return {', '.join(f'%r{i}' for i in range(count))} : {', '.join([made] * count)}", "}"]
    return "\n".join(lines)


def _spell_product(name: str, axes: Mapping[str, int], shape: tuple[int, int, int], dtype: str, count: int) -> str:
    """`count` products of these sizes on each device."""
    m, k, n = shape
    devices = int(np.prod(list(axes.values())))
    dim = "{" + ", ".join(f'"{axis}"' for axis in axes) + "}"
    sharding = f"spmd.sharding = #spmd.sharding<@mesh, [{dim}, {{}}, {{}}]>"
    a, b, c = (f"tensor<{devices}x{rows}x{columns}x{dtype}>" for rows, columns in ((m, k), (k, n), (m, n)))
    arguments = [f'%{x}{i}: {type} {{spmd.weight = "{name}_{x}{i}", {sharding}}}' for i in range(count) for x, type in (("a", a), ("b", b))]
    lines = [f"  %zero = arith.constant 0.0 : {dtype}"]
    for i in range(count):
        lines += [
            f"  %empty{i} = tensor.empty() : {c}",
            f"  %init{i} = linalg.fill ins(%zero : {dtype}) outs(%empty{i} : {c}) -> {c}",
            f"  %r{i} = linalg.batch_matmul ins(%a{i}, %b{i} : {a}, {b}) outs(%init{i} : {c}) -> {c}",
        ]
    return _spell_function(name, arguments, lines, c, sharding, count)


def _spell_copy(name: str, axes: Mapping[str, int], elements: int, count: int) -> str:
    """`count` elementwise ops on so many elements of f32 on each device, which read and write 4 bytes of each."""
    dim = "{" + ", ".join(f'"{axis}"' for axis in axes) + "}"
    type = f"tensor<{int(np.prod(list(axes.values())))}x{elements}xf32>"
    sharding = f"spmd.sharding = #spmd.sharding<@mesh, [{dim}, {{}}]>"
    arguments = [f'%a{i}: {type} {{spmd.weight = "{name}_a{i}", {sharding}}}' for i in range(count)]
    return _spell_function(name, arguments, [f"  %r{i} = arith.mulf %a{i}, %a{i} : {type}" for i in range(count)], type, sharding, count)


def _spell_pair(name: str, axes: Mapping[str, int], axis: str, shape: tuple[int, int], part: str) -> str:
    """A chain of products on each device, each of the sum of the one before and of an all-reduce; or one of the two alone."""
    m, k = shape
    dim, local = "{" + ", ".join(f'"{a}"' for a in axes) + "}", f"tensor<{m}x{k}xf32>"
    whole, square = f"tensor<{m * int(np.prod(list(axes.values())))}x{k}xf32>", f"tensor<{k}x{k}xf32>"
    across, along = "<@mesh, [{}, {}]>", f"<@mesh, [{dim}, {{}}]>"
    values = [("w", square, across), ("s", whole, along), *((f"a{i}", whole, along) for i in range(_BEHIND))]
    arguments = ", ".join(f'%{v}: {type} {{spmd.weight = "{name}_{v}", spmd.sharding = #spmd.sharding{sharding}}}' for v, type, sharding in values)
    inner = ", ".join(f"%own_{v}: {square if v == 'w' else local}" for v, *_ in values)
    lines, last = [f"    %zero = arith.constant dense<0.0> : {local}"], "%own_s"
    for i in range(_BEHIND):
        if part != "products":
            lines.append(f'    %c{i} = spmd.all_reduce %own_a{i} sum <@mesh, {{"{axis}"}}> : {local}')
        if part != "collectives":
            lines.append(f"    %p{i} = linalg.matmul ins({last}, %own_w : {local}, {square}) outs(%zero : {local}) -> {local}")
            last = f"%p{i}"
        if part != "products":
            lines.append(f"    %s{i} = arith.addf {last}, %c{i} : {local}")
            last = f"%s{i}"
    return "\n".join([
        f"func.func @{name}({arguments}) -> ({whole} {{spmd.sharding = #spmd.sharding{along}}}) {{",
        f"  %r = spmd.manual_computation ({', '.join(f'%{v}' for v, *_ in values)}) in [{', '.join(s for *_, s in values)}] out [{along}] "
        f"axes [{', '.join(f'{chr(34)}{a}{chr(34)}' for a in axes)}] ({inner}) {{",
        *lines,
        f"    spmd.return {last} : {local}",
        f"  }} : ({', '.join(type for _, type, _ in values)}) -> {whole}",
        f"  return %r : {whole}",
        "}",
    ])  # fmt: skip


def _spell_function(name: str, arguments: Sequence[str], lines: Sequence[str], type: str, sharding: str, count: int) -> str:
    """A function that returns %r0, %r1, ... of one type."""
    results = ", ".join([f"{type} {{{sharding}}}"] * count)
    returned = f"  return {', '.join(f'%r{i}' for i in range(count))} : {', '.join([type] * count)}"
    return "\n".join([f"func.func @{name}({', '.join(arguments)}) -> ({results}) {{", *lines, returned, "}"])


def main(argv: list[str] | None = None) -> int:
    def measure(axes: dict[str, int], options: argparse.Namespace) -> Calibration:
        if options.backend != "local":
            init(options.backend)
        return calibrate(axes, dtype=options.dtype, repeats=options.repeats, options=options.options.split())

    description = "Measures the costs of a mesh on this machine and writes them as a plan, for shard-opt --spmd-apply-plan."
    return run_command("shardkit-calibrate", argv, description, measure, _add_own_arguments)


def _add_own_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--backend", default="local", choices=["local", "mpi", "tcp", "nccl"], help="local, or that of the processes that run this command (default: local)")
    parser.add_argument("--options", default="", help="options of shard-compile, separated by spaces, as --target=cuda")


if __name__ == "__main__":
    sys.exit(main())
