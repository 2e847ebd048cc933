"""Costs of a mesh that were measured: the links of its axes, and the rate at which a device computes products."""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Mapping, Sequence

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
_MANY = 5  # collectives of the longer of two functions: the difference is without what a step takes by itself
_DEFAULT_ALPHA, _DEFAULT_BETA = 1e-5, 1e-10  # of axes of one device
_TINY = 1e-30  # a cost that does not count
# One collective per argument, as written.
_OPTIONS = ("--plan=propagation", "--combine=false", "--overlap=false", "--sink=false", "--hoist=false", "--merge-reductions=false")


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
class Calibration:
    """Measured costs of a mesh: `alpha` (s) and `beta` (s/byte) per axis, `flops` of a device, with what they were fitted to."""

    axes: dict[str, int]
    alpha: dict[str, float]
    beta: dict[str, float]
    flops: float
    samples: tuple[Sample, ...]
    products: tuple[Product, ...]
    process: int = 0  # that of the session, of several

    @property
    def costs(self) -> dict[str, Any]:
        """Costs per axis, in the order of the mesh, as `spmd.mesh` has them."""
        return {"alpha": [self.alpha[a] for a in self.axes], "beta": [self.beta[a] for a in self.axes], "flops": self.flops}

    @property
    def mesh(self) -> str:
        """The mesh with its costs, in MLIR."""
        return spell_mesh(self.axes, self.costs)

    def get_error(self, kind: str | None = None) -> float:
        """The median of |predicted - measured| / measured, of one kind of collectives or of all."""
        errors = [abs(s.predicted - s.seconds) / s.seconds for s in self.samples if kind in (None, s.kind)]
        return float(np.median(errors)) if errors else 0.0

    def report(self) -> str:
        """The costs, and measured times next to predicted ones."""
        lines = [self.mesh, "", f"{'collective':<16}{'axis':<10}{'bytes':>10}{'measured, us':>14}{'predicted, us':>15}"]
        lines += [f"{s.kind:<16}{s.axis:<10}{s.bytes:>10}{1e6 * s.seconds:>14.1f}{1e6 * s.predicted:>15.1f}" for s in self.samples]
        lines += ["", *(f"{kind}: median error {100 * self.get_error(kind):.0f} %" for kind in KINDS if self.samples), ""]
        lines += [f"product {'x'.join(map(str, p.shape))} {p.dtype}: {p.flops / 1e9:.1f} GFLOP/s per device" for p in self.products]
        return "\n".join(lines) + "\n"

    def save(self, path: str | Path, name: str = "mesh") -> None:
        """Writes the mesh with its costs as a plan, for --spmd-apply-plan and `load`. `name`: of the mesh in the modules."""
        mesh = {"name": name, "axes": [[axis, size] for axis, size in self.axes.items()], **self.costs}
        Path(path).write_text(json.dumps({"version": 1, "meshes": [mesh]}) + "\n")

    @staticmethod
    def load(path: str | Path) -> "Calibration":
        """Reads a file of `save`: the costs, without what they were fitted to."""
        try:
            (mesh,) = json.loads(Path(path).read_text())["meshes"]
            axes = {str(axis): int(size) for axis, size in mesh["axes"]}
            alpha, beta = (dict(zip(axes, map(float, mesh[cost]), strict=True)) for cost in ("alpha", "beta"))
            return Calibration(axes, alpha, beta, float(mesh["flops"]), (), ())
        except OSError as error:
            raise ShardKitError(f"error: {path}: {error.strerror}") from None
        except (ValueError, KeyError, TypeError):
            raise ShardKitError(f"error: {path} has no mesh with measured costs, expected a file of Calibration.save") from None


def calibrate(
    mesh: Any, sizes: Sequence[int] = SIZES, dtype: str = "f32", repeats: int = 20, options: Sequence[str] = (), **session: Any
) -> Calibration:
    """Measures the links of a mesh and the products of its devices, on the devices of this session.

    `mesh`: axes to sizes, or a mesh of JAX. `sizes`: bytes of collectives; each of the four kinds runs along each axis, all of its
    groups at a time. `dtype` of products, f32, bf16, f16 or f64. `repeats`: steps of each function, whose median counts. `options`: of
    shard-compile, as `--target=cuda`. Other keyword arguments are those of `Session`; under `shardkit.init` all processes call it.
    The costs are those for which the relative error of the predicted times is least."""
    axes = read_mesh(mesh)
    _check(sizes, dtype, repeats)
    functions = _Functions(axes, sizes, dtype)
    weights = functions.price()
    directory = compile_text(functions.spell(spell_mesh(axes, {})), Constants(), [*_OPTIONS, *options])
    try:
        with Session(directory / "bundle", **session) as opened:
            opened.fill_random(1)
            seconds = {name: _measure(opened[name], repeats) for name in functions.texts}
            process = opened.process[0]
    finally:
        shutil.rmtree(directory, ignore_errors=True)
    return functions.fit(weights, seconds, process)


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
    """Functions that are timed: each collective once and several times, and products."""

    def __init__(self, axes: dict[str, int], sizes: Sequence[int], dtype: str):
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
            self.texts[name] = _spell_product(name, axes, shape, dtype)

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
            name: max(seconds[f"{name}_{_MANY}"] - seconds[f"{name}_1"], 0) / (_MANY - 1) or seconds[f"{name}_1"] for *_, name in self.collectives
        }
        alpha, beta, samples = {}, {}, []
        for axis in self.axes:
            own = [c for c in self.collectives if c[1] == axis]
            rows = np.array([weights[f"{c[3]}_1"] for c in own]).reshape(-1, 2)
            alpha[axis], beta[axis] = _solve(rows, np.array([measured[c[3]] for c in own]))
            for (kind, _, size, name), row in zip(own, rows):
                samples.append(Sample(kind, axis, size, measured[name], float(row @ (alpha[axis], beta[axis]))))
        products = [Product(shape, self.dtype, 2 * float(np.prod(shape)) / seconds[name]) for shape, name in self.products]
        # The time of all of them together: small ones count as little as they do in a step.
        work = sum(2 * float(np.prod(p.shape)) for p in products)
        flops = work / sum(2 * float(np.prod(p.shape)) / p.flops for p in products)
        return Calibration(self.axes, alpha, beta, _round(flops), tuple(samples), tuple(products), process)


def _round(cost: float) -> float:
    """Four digits: a measurement has no more."""
    return float(f"{cost:.3e}")


def _solve(rows: np.ndarray, seconds: np.ndarray) -> tuple[float, float]:
    """Alpha and beta, both positive, with the least squares of relative errors."""
    if not len(rows):
        return _DEFAULT_ALPHA, _DEFAULT_BETA
    scaled = rows / seconds[:, None]
    target = np.ones(len(rows))
    found = np.linalg.lstsq(scaled, target, rcond=None)[0]
    least = (1e-9, 1e-15)
    for i in (0, 1):
        if found[i] < least[i]:
            other = 1 - i
            rest = target - scaled[:, i] * least[i]
            found = np.empty(2)
            found[i] = least[i]
            found[other] = max(scaled[:, other] @ rest / (scaled[:, other] @ scaled[:, other]), least[other])
    return _round(found[0]), _round(found[1])


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


def _spell_product(name: str, axes: Mapping[str, int], shape: tuple[int, int, int], dtype: str) -> str:
    """A product of these sizes on each device."""
    m, k, n = shape
    devices = int(np.prod(list(axes.values())))
    dim = "{" + ", ".join(f'"{axis}"' for axis in axes) + "}"
    sharding = f"spmd.sharding = #spmd.sharding<@mesh, [{dim}, {{}}, {{}}]>"
    a, b, c = (f"tensor<{devices}x{rows}x{columns}x{dtype}>" for rows, columns in ((m, k), (k, n), (m, n)))
    return f"""func.func @{name}(%a: {a} {{spmd.weight = "{name}_a", {sharding}}}, %b: {b} {{spmd.weight = "{name}_b", {sharding}}}) -> ({c} {{{sharding}}}) {{
  %zero = arith.constant 0.0 : {dtype}
  %empty = tensor.empty() : {c}
  %init = linalg.fill ins(%zero : {dtype}) outs(%empty : {c}) -> {c}
  %c = linalg.batch_matmul ins(%a, %b : {a}, {b}) outs(%init : {c}) -> {c}
  return %c : {c}
}}"""


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="shardkit-calibrate", description="Measures the costs of a mesh on this machine and writes them as a plan, for shard-opt --spmd-apply-plan.")
    parser.add_argument("--mesh", required=True, metavar="AXES", help="names and sizes of axes, data=2,model=4")
    parser.add_argument("-o", "--output", required=True, metavar="FILE", help="the plan with the costs")
    parser.add_argument("--name", default="mesh", help="of the mesh in the modules (default: mesh)")
    parser.add_argument("--dtype", default="f32", help="of products: f32, bf16, f16 or f64 (default: f32)")
    parser.add_argument("--repeats", type=int, default=20, metavar="N", help="steps of each function, whose median counts (default: 20)")
    parser.add_argument("--backend", default="local", choices=["local", "mpi", "tcp", "nccl"], help="local, or that of the processes that run this command (default: local)")
    parser.add_argument("--options", default="", help="options of shard-compile, separated by spaces, as --target=cuda")
    options = parser.parse_args(argv)
    try:
        if options.backend != "local":
            init(options.backend)
        found = calibrate(read_axes(options.mesh), dtype=options.dtype, repeats=options.repeats, options=options.options.split())
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


if __name__ == "__main__":
    sys.exit(main())
