#!/usr/bin/env python3
"""Tactics against the same styles by hand, on 8 devices: megabytes that a device receives.

    tactics.py [--model NAME]... [--xla]

By hand: pins of `jax_plans.py`, by names of weights. Tactics: `dp`, `megatron` and `zero(3)` find them by use. Both are completed by
propagation; "search" completes what tactics pin by search. `--xla`: bytes in XLA's compiled HLO, under the shardings of arguments by hand,
and under the plan of tactics, in place of predicted ones. A row for each style and mesh. Exits with 1 where tactics move more than the
hand. Needs: pip install ./python[jax]
"""
import argparse
import sys
import warnings

from jax_plans import STYLES, by_hand, make_mesh, measure, models, predict, shard_results, show

import jax  # noqa: E402
import shardkit  # noqa: E402


def make_tactics(style, name):
    tactics = shardkit.Tactics().dp("data")
    if "Megatron" in style and name.startswith("moe"):
        tactics = tactics.ep("model")
    tactics = tactics.megatron("model") if "Megatron" in style else tactics
    return tactics.zero(3) if "FSDP" in style else tactics


def name_pins(function, args, shardings):
    """The shardings of arguments as pins by name."""
    from shardkit.jax.frontend import get_leaf_name, get_parameters

    pins = {}
    for (parameter, _), tree in zip(get_parameters(function, args, {}), shardings):
        for path, leaf in jax.tree_util.tree_flatten_with_path(tree)[0]:
            spec = [OPEN if e is None else e for e in leaf.spec] if parameter != "inputs" else leaf.spec
            pins[get_leaf_name(parameter, path)] = jax.sharding.PartitionSpec(*spec)
    return pins


OPEN = jax.sharding.PartitionSpec.UNCONSTRAINED


def compare(name, function, args, is_measured):
    """Rows of style, mesh, megabytes by hand, by tactics, and by tactics and search; None where a tactic says that it does not apply."""
    for style, shapes in STYLES.items():
        for shape in shapes:
            mesh = make_mesh(shape)
            shardings = by_hand(style, mesh, name, args)
            try:
                plan = shardkit.plan(function, *args, mesh=mesh, tactics=make_tactics(style, name), search=False, minimize=50 if is_measured else None)
            except shardkit.ShardKitError as error:
                yield style, shape, None, str(error), None
                continue
            searched = shardkit.plan(function, *args, mesh=mesh, tactics=make_tactics(style, name), minimize=50 if is_measured else None)
            if is_measured:
                options = {"in_shardings": shardings}
                if hasattr(function, "lower"):
                    inner = function.__wrapped__
                    options |= {"donate_argnums": function._jit_info.donate_argnums, "out_shardings": shard_results(inner, args, shardings, mesh)}
                hand = measure(jax.jit(getattr(function, "__wrapped__", function), **options), args)[0]
                yield style, shape, hand, measure(plan.jit(function), args)[0], measure(searched.jit(function), args)[0]
            else:
                hand = shardkit.plan(function, *args, mesh=mesh, pins=name_pins(function, args, shardings), search=False, minimize=None)
                yield style, shape, predict(hand), predict(plan), predict(searched)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", action="append")
    parser.add_argument("--xla", action="store_true")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    more = 0
    print("| model | style | mesh | by hand, MB | tactics, MB | tactics and search, MB | ratio |")
    print("| --- | --- | --- | ---: | ---: | ---: | ---: |")
    for name, function, args in models(lambda n: not options.model or n in options.model):
        for style, shape, hand, found, searched in compare(name, function, args, options.xla):
            row = f"| {name} | {style} | {shape[0]} x {shape[1]} "
            if hand is None:
                print(f"{row}| | {found} | | |", flush=True)
                continue
            ratio = found / hand if hand else float(bool(found))
            more += ratio > 1.001
            print(f"{row}| {show(hand)} | {show(found)} | {show(searched)} | {ratio:.2f} |", flush=True)
    print(f"\n{more} more than by hand")
    return 1 if more else 0


if __name__ == "__main__":
    sys.exit(main())
