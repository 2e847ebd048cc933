"""The command shardkit-plan."""

from __future__ import annotations

import argparse
import sys
import warnings
from pathlib import Path
from typing import Any, Sequence

from ..errors import ShardKitError
from ..meshes import read_axes, read_sizes
from .tactics import Tactics


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="shardkit-plan",
        description="Writes a StableHLO module with Shardy's shardings, or an ONNX model with the standard's fields for several devices, as a search chose them.",
    )
    parser.add_argument("module", help="StableHLO, text or bytecode; or an ONNX model, *.onnx")
    parser.add_argument("-o", "--output", required=True, metavar="FILE", help="the same with shardings, otherwise as it came in")
    parser.add_argument("--mesh", default="", metavar="AXES", help="names and sizes of axes, data=2,model=4; default: the mesh of the module")
    parser.add_argument("--memory", type=float, metavar="BYTES", help="bytes that a device holds at most")
    parser.add_argument("--pin", action="append", default=[], metavar="NAME=DIMS",
                        help="the sharding of an argument, or of those of a pattern: for each dim axes with +, nothing or ?, as in 'arg*=data,,x+y'; may be repeated")  # fmt: skip
    parser.add_argument("--costs", metavar="FILE", help="measured costs of the mesh, as shard-run --calibrate writes them")
    parser.add_argument("--options", default="", help="more options of --spmd-auto-shard, separated by spaces")
    parser.add_argument("--report", action="store_true", help="print what the plan moves and holds")
    stablehlo = parser.add_argument_group("StableHLO")
    stablehlo.add_argument("--function", help="the public function; may be left out where there is one")
    stablehlo.add_argument("--minimize", type=int, metavar="N", help="how often propagation may run to leave out constraints that it does not need (default: 50)")
    stablehlo.add_argument("--tactic", action="append", default=[], metavar="NAME=AXIS",
                           help="dp, megatron, sp or ep with the axis, zero with the stage; may be repeated, and they are applied in this order")  # fmt: skip
    onnx = parser.add_argument_group("ONNX")
    onnx.add_argument("--configuration", metavar="NAME", help="the device configuration to complete, where there are several, or the name of a new one")
    onnx.add_argument("--size", action="append", default=[], metavar="NAME=N", help="the size of a symbolic dim, for planning; may be repeated")
    onnx.add_argument("--complete", choices=("search", "propagation"), help="what completes the annotations (default: search)")
    options = parser.parse_args(argv)
    warnings.showwarning = lambda message, *_: print(f"remark: {message}", file=sys.stderr)
    is_onnx = Path(options.module).suffix == ".onnx"
    try:
        _check_kind(options, is_onnx)
        plan, written = (_plan_onnx if is_onnx else _plan_stablehlo)(options)
        plan.save(options.output)
    except ShardKitError as error:
        text = str(error)
        print(f"{options.module}: {text}" if text.startswith("error: ") and options.module not in text else text if "error: " in text else f"error: {text}", file=sys.stderr)
        return 1
    except OSError as error:
        print(f"error: {error.filename}: {error.strerror}", file=sys.stderr)
        return 1
    if options.report:
        print(plan.report(), end="")
    print(f"{options.output}: {written}", file=sys.stderr)
    return 0


def _check_kind(options: argparse.Namespace, is_onnx: bool) -> None:
    kinds = {"function": False, "minimize": False, "tactic": False, "configuration": True, "size": True, "complete": True}
    for name, needs_onnx in kinds.items():
        if getattr(options, name) not in (None, []) and needs_onnx != is_onnx:
            expected = "an ONNX model, *.onnx" if needs_onnx else "StableHLO"
            raise ShardKitError(f"error: --{name} is given for {options.module}, expected {expected}")


def _plan_stablehlo(options: argparse.Namespace) -> tuple[Any, str]:
    from ..stablehlo.plan import plan_stablehlo

    plan = plan_stablehlo(
        Path(options.module), mesh=read_axes(options.mesh) if options.mesh else None, function=options.function, memory=options.memory,
        pins=dict(_read_pin(text) for text in options.pin), costs=_read_costs(options), options=options.options.split(), minimize=50 if options.minimize is None else options.minimize,
        tactics=_read_tactics(options.tactic),
    )  # fmt: skip
    return plan, f"{len(plan.constraints)} constraints of {len(plan.layouts)} layouts"


def _plan_onnx(options: argparse.Namespace) -> tuple[Any, str]:
    from ..onnx.plan import plan_onnx

    plan = plan_onnx(
        options.module, mesh=read_axes(options.mesh) if options.mesh else None, configuration=options.configuration, sizes=read_sizes(options.size),
        memory=options.memory, pins=dict(_read_pin(text) for text in options.pin), costs=_read_costs(options), options=options.options.split(),
        complete=options.complete or "search",
    )  # fmt: skip
    added, left = sum(len(specs) for specs in plan.specs.values()), len(plan.left_out)
    more = f", {left} tensors of nodes have none (--report)" if left else ""
    return plan, f"configuration {plan.configuration} with {added} more specs of {len(plan.specs)} nodes{more}"


def _read_costs(options: argparse.Namespace) -> dict[str, Any]:
    if options.costs is None:
        return {}
    from ..calibration import Calibration

    found = Calibration.load(options.costs)
    if options.mesh and (axes := read_axes(options.mesh)) != found.axes:
        spelled = (",".join(f"{n}={s}" for n, s in each.items()) for each in (found.axes, axes))
        raise ShardKitError(f"error: --costs={options.costs} is of the mesh {next(spelled)}, expected one of {next(spelled)}")
    return found.costs


def _read_tactics(texts: Sequence[str]) -> Tactics | None:
    """`dp=data`, `zero=3`"""
    tactics = Tactics()
    for text in texts:
        name, _, value = text.partition("=")
        if name not in ("dp", "megatron", "sp", "ep", "zero") or not value or (name == "zero" and not value.isdigit()):
            raise ShardKitError(f"error: --tactic={text}, expected dp=AXIS, megatron=AXIS, sp=AXIS, ep=AXIS or zero=STAGE")
        tactics = getattr(tactics, name)(int(value) if name == "zero" else value)
    return tactics if texts else None


def _read_pin(text: str) -> tuple[str, list[Any]]:
    """`name=data,,x+y`"""
    name, equals, dims = text.partition("=")
    if not name or not equals:
        raise ShardKitError(f"error: --pin={text}, expected a name and its dims, such as arg0=data,,model")
    return name, [None if not d else d if "+" not in d else d.split("+") for d in dims.split(",")]


if __name__ == "__main__":
    sys.exit(main())
