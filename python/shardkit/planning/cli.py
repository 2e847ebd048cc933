"""The command shardkit-plan."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from ..errors import ShardKitError
from ..meshes import read_axes


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="shardkit-plan",
        description="Writes a StableHLO module with Shardy's shardings, which a search chose, on arguments, results and values.",
    )
    parser.add_argument("module", help="StableHLO, text or bytecode")
    parser.add_argument("-o", "--output", required=True, metavar="FILE", help="the module with shardings, in the form it came in")
    parser.add_argument("--mesh", default="", metavar="AXES", help="names and sizes of axes, data=2,model=4; default: the sdy.mesh of the module")
    parser.add_argument("--function", help="the public function; may be left out where there is one")
    parser.add_argument("--memory", type=float, metavar="BYTES", help="bytes that a device holds at most")
    parser.add_argument("--pin", action="append", default=[], metavar="NAME=DIMS",
                        help="the sharding of an argument, or of those of a pattern: for each dim axes with +, nothing or ?, as in 'arg*=data,,x+y'; may be repeated")  # fmt: skip
    parser.add_argument("--options", default="", help="more options of --spmd-auto-shard, separated by spaces")
    parser.add_argument("--minimize", type=int, default=50, metavar="N", help="how often propagation may run to leave out constraints that it does not need (default: 50)")
    parser.add_argument("--report", action="store_true", help="print what the plan moves and holds")
    options = parser.parse_args(argv)
    try:
        from ..stablehlo.plan import plan_stablehlo

        pins = dict(_read_pin(text) for text in options.pin)
        plan = plan_stablehlo(
            Path(options.module), mesh=read_axes(options.mesh) if options.mesh else None, function=options.function, memory=options.memory, pins=pins,
            options=options.options.split(), minimize=options.minimize,
        )  # fmt: skip
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
    print(f"{options.output}: {len(plan.constraints)} constraints of {len(plan.layouts)} layouts", file=sys.stderr)
    return 0


def _read_pin(text: str) -> tuple[str, list[Any]]:
    """`name=data,,x+y`"""
    name, equals, dims = text.partition("=")
    if not name or not equals:
        raise ShardKitError(f"error: --pin={text}, expected a name and its dims, such as arg0=data,,model")
    return name, [None if not d else d if "+" not in d else d.split("+") for d in dims.split(",")]


if __name__ == "__main__":
    sys.exit(main())
