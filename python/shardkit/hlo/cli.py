"""The command shardkit-prove."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from ..errors import ShardKitError
from ..meshes import read_axes
from . import reader
from .proof import find_dumps, prove_hlo


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="shardkit-prove",
        description="Proves that XLA's SPMD partitioning left what a program computes. Exit status: 0 if it is proven, 1 if not, 2 if the files cannot be read or do not fit each other.",
    )
    parser.add_argument("before", metavar="BEFORE_OR_DIR", help="HLO text before SPMD partitioning, or a folder that --xla_dump_to wrote with --xla_dump_hlo_pass_re=spmd-partitioning")
    parser.add_argument("after", nargs="?", help="HLO text after SPMD partitioning, unless a folder is given")
    parser.add_argument("--mesh", default="", metavar="AXES", help="names and sizes of axes, data=2,model=4, that messages use; default: d0, d1, ...")
    parser.add_argument("--certificate", metavar="FILE", help="write the outcome as JSON, of one module")
    parser.add_argument("--rules", action="store_true", help="print how often each rule was used")
    options = parser.parse_args(argv)
    try:
        return max(_prove(before, after, options) for before, after in _find_pairs(options))
    except ShardKitError as error:
        print(str(error) if "error: " in str(error) else f"error: {error}", file=sys.stderr)
        return 2
    except OSError as error:
        print(f"error: {error.filename}: {error.strerror}", file=sys.stderr)
        return 2


def _find_pairs(options: argparse.Namespace) -> list[tuple[Path, Path]]:
    folder = Path(options.before)
    if options.after:
        return [(folder, Path(options.after))]
    if not folder.is_dir():
        raise ShardKitError(f"error: {folder} is not a folder, expected one of --xla_dump_to, or files before and after SPMD partitioning")
    pairs = find_dumps(folder)
    if not pairs:
        raise ShardKitError(f"error: {folder} has no file before SPMD partitioning, expected XLA_FLAGS='--xla_dump_to={folder} --xla_dump_hlo_pass_re=spmd-partitioning'")
    if options.certificate and len(pairs) > 1:
        raise ShardKitError(f"error: --certificate is of one module, and {folder} has {len(pairs)}")
    return pairs


def _prove(before: Path, after: Path, options: argparse.Namespace) -> int:
    proof = prove_hlo(
        reader.read_text(before), reader.read_text(after), before_path=str(before), after_path=str(after),
        mesh=read_axes(options.mesh) if options.mesh else None, certificate=options.certificate,
    )  # fmt: skip
    print(f"{after}: {proof.outcome}" + (f", {proof.ops[1]} ops against {proof.ops[0]}" if proof else ""))
    if options.rules:
        for rule, uses in proof.rules.items():
            print(f"  {uses} x {rule}")
    if proof.message:
        print(proof.message, file=sys.stderr)
    return 0 if proof else 1


if __name__ == "__main__":
    sys.exit(main())
