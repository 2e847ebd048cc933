"""What plans have in common, whoever runs them."""

from __future__ import annotations

import dataclasses
import json
import sys
import tempfile
from pathlib import Path
from typing import Any, Callable, Sequence

from ..errors import ShardKitError
from . import completion, search
from .tactics import Tactics


def plan(function: Callable[..., Any], *args: Any, **options: Any) -> Any:
    """Chooses the shardings of a JAX function, or of a module of PyTorch, for a mesh by search: a `JaxPlan` to be run by JAX and XLA, or a
    `TorchPlan` to be run by DTensor.

    `args`, and keywords that are not listed here, are example arguments: arrays or tensors, in JAX also `jax.ShapeDtypeStruct`.
    Shardings that arguments of JAX have, those of `jax.jit` and constraints in the function are kept. `mesh`: a mesh of JAX with
    automatic axes, or an abstract one, by default that of the arguments; of PyTorch a `DeviceMesh` with names, or names and sizes of
    axes. `memory`: bytes that a device holds at most. `pins`: from names or patterns of arguments, parameters and buffers
    (`params.*.kernel`) to a `PartitionSpec`; in PyTorch to placements, one for each axis of the mesh, or to an entry for each dim (an
    axis, a tuple of axes, None, "?"). The first that matches counts; None alone replicates. `tactics`: pins that are found by use, such as
    `shardkit.Tactics().dp("data").megatron("model")` or those of `shardkit.recipes`; `search=False`: propagation completes what is pinned,
    without a search. `costs`: of the links, `alpha`, `beta`,
    `flops` as on a mesh of ShardKit. `options`: more of `--spmd-auto-shard`, as `batch-axes=data`. Of JAX, `minimize`: at most so many
    times propagation is run to leave out constraints that it does not need; None constrains all values whose layout is known. Equations
    that repeat at least `repeats` times, as those of layers do, are planned as one loop, with one layout for all; None plans each. Of
    PyTorch, `loss` and `optimizer` as of `import_torch`: then a training step is planned; `trial`: a small module of the same structure and its
    inputs, by which styles are tried where the module is on the meta device."""
    if _is_module(function):
        from ..torch.planning.plan import plan as plan_torch

        return plan_torch(function, *args, **options)
    from ..jax.plan import plan as plan_jax

    if not callable(function):
        raise ShardKitError(f"error: what is planned is {function!r}, expected a function of JAX or a module of PyTorch")
    return plan_jax(function, *args, **options)


def _is_module(function: Any) -> bool:
    """Whether it is a module of PyTorch."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(function, torch.nn.Module)


@dataclasses.dataclass(frozen=True)
class Plan(Tactics):
    """A plan that has no function and no mesh yet: tactics, as in `Plan().dp("data").megatron("model").zero(3)`. `bind` gives it both."""

    def bind(self, function: Callable[..., Any], *args: Any, **options: Any) -> Any:
        """The plan of a function of JAX or a module of PyTorch on a mesh: `shardkit.plan` with these tactics."""
        return plan(function, *args, tactics=self, **options)

    @staticmethod
    def load(path: str | Path, function: Callable[..., Any], *args: Any, **options: Any) -> Any:
        """The plan of a file for the function or the module that it was made for, without a search."""
        if _is_module(function):
            from ..torch.planning.plan import TorchPlan

            return TorchPlan.load(path, function, *args, **options)
        from ..jax.plan import JaxPlan

        return JaxPlan.load(path, function, *args, **options)


@dataclasses.dataclass(frozen=True)
class AnnotatedPlan:
    """A plan with the program that it was read from."""

    _text: str
    """The annotated program."""
    tactics: completion.Applications | None = dataclasses.field(default=None, kw_only=True, compare=False)
    """What tactics pinned, if there were any."""

    @property
    def status(self) -> str:
        """Of the search: `optimal`, `gap`; `loaded` where there was none."""
        return search.read_status(self._text)[0]

    @property
    def objective(self) -> float | None:
        """Predicted seconds of all collectives, which the search minimized."""
        return search.read_status(self._text)[1]

    def report(self, format: str = "text", measured: float | None = None) -> str:
        """What the plan moves and holds, as `--spmd-report` has it in a format: in text, with what those who run it are not told.
        `measured`: seconds of a step, which the text has beside the predicted ones."""
        if measured is not None and (format != "text" or not measured > 0):
            raise ShardKitError(f"error: measured is {measured!r} for a report in {format}, expected seconds of a step, more than 0, for one in text")
        if format != "text":
            return search.describe(self._text, f"--spmd-report=format={format} output={{}}")
        lines = [*(self.tactics.describe() if self.tactics else ()), *self._summarize()]
        if measured is not None:
            lines.append(self._compare_times(measured))
        return search.describe(self._text, "--spmd-report=output={}") + "".join(f"{line}\n" for line in lines)

    def _compare_times(self, measured: float) -> str:
        totals = json.loads(self.report("json"))["totals"]
        names = ("collectives", "cost"), ("of it hidden", "hidden"), ("compute", "compute")
        parts = {name: totals[key] for name, key in names if totals.get(key) is not None}
        predicted = totals["cost"] - totals.get("hidden", 0.0) + totals.get("compute", 0.0)
        described = ", ".join(f"{name} {value:.3e} s" for name, value in parts.items())
        without = "" if "compute" in parts else ", without compute, as the mesh has no flops"
        return f"step: predicted {predicted:.3e} s ({described}{without}), measured {measured:.3e} s: {predicted / measured:.2f} of it"

    def _summarize(self) -> Sequence[str]:
        """Lines at the end of a report."""
        return ()

    def explain(self, name: str, top: int = 1) -> str:
        """Why a value, an argument or a result has its layout, and what the next best ones would cost."""
        return search.describe(self._text, f"--spmd-explain=value={name} top={top} output={{}}")

    def compare(self, other: AnnotatedPlan) -> str:
        """The report of the other plan with its differences from this one."""
        if not isinstance(other, AnnotatedPlan):
            raise ShardKitError(f"error: compared with {other!r}, expected another plan")
        with tempfile.TemporaryDirectory() as folder:
            baseline = Path(folder, "this_plan")
            baseline.write_text(search.describe(self._text, "--spmd-report=format=json output={}"))
            return search.describe(other._text, f"--spmd-report=baseline={baseline} output={{}}").replace(str(baseline), "this plan")

    def save(self, path: str | Path) -> None:
        """Writes the plan file."""
        Path(path).write_text(search.describe(self._text, "--spmd-export-plan=file={} content=all", keep_tags=True))
