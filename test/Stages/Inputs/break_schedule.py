#!/usr/bin/env python3
"""Breaks a schedule in several ways, one at a time, and prints the error of shard-opt for each.

  break_schedule.py good.mlir

good.mlir is a step in two stages with two microbatches and 1f1b, after --spmd-outline-stages.
"""
import re
import subprocess
import sys

FREE = r'      spmd\.free "%s" microbatch = %d\n'
RUN = r"      spmd\.run @%s microbatch = %d clock = \d+\n"


def lines(text, pattern, count=1):
    found = re.findall(pattern, text)
    assert len(found) >= count, pattern
    return found


def swap(text, a, b):
    """Exchanges the first line that matches `a` with the first that matches `b`."""
    a, b = lines(text, a)[0], lines(text, b)[0]
    return text.replace(a, "@@", 1).replace(b, a, 1).replace("@@", b, 1)


def drop(text, pattern):
    return text.replace(lines(text, pattern)[0], "", 1)


def double(text, pattern):
    line = lines(text, pattern)[0]
    return text.replace(line, line * 2, 1)


def change(text, old, new):
    assert old in text, old
    return text.replace(old, new, 1)


def move_first(text, pattern, place):
    """Moves a line before another one."""
    line = lines(text, pattern)[0]
    text = text.replace(line, "", 1)
    other = lines(text, place)[0]
    return text.replace(other, line + other, 1)


TRANSFER = r"      spmd\.transfer %d send \[%s\] receive \[%s\]\n"
SEND0, SEND1 = TRANSFER % (1, r"\[0, 0\]", ""), TRANSFER % (1, r"\[0, 1\]", "")
TAKE0, TAKE1 = TRANSFER % (0, "", r"\[0, 0\]"), TRANSFER % (0, "", r"\[0, 1\]")
GRAD0 = TRANSFER % (1, "", r"\[1, 0\]")

BREAKS = {
    "run missing": lambda t: drop(t, RUN % ("stage0_backward", 1)),
    "run twice": lambda t: double(t, RUN % ("stage1_forward", 0)),
    "run on the other mesh": lambda t: change(t, "run @stage0_forward microbatch = 0", "run @stage1_forward microbatch = 0"),
    "run of nothing": lambda t: change(t, "spmd.run @stage0_forward", "spmd.run @stage9_forward"),
    "run of no such microbatch": lambda t: change(t, "@stage0_forward microbatch = 1", "@stage0_forward microbatch = 7"),
    "run without a microbatch": lambda t: change(t, "@stage0_forward microbatch = 1", "@stage0_forward"),
    "apply for a microbatch": lambda t: change(t, "run @stage0_apply", "run @stage0_apply microbatch = 0"),
    "apply too early": lambda t: move_first(t, r"      spmd\.run @stage0_apply clock = \d+\n", RUN % ("stage0_backward", 1)),
    "backward before forward": lambda t: swap(t, RUN % ("stage1_forward", 0), RUN % ("stage1_backward", 0)),
    "too many in flight": lambda t: move_first(t, RUN % ("stage1_forward", 1), RUN % ("stage1_backward", 0)),
    "free missing": lambda t: drop(t, FREE % ("stage0.r0", 0)),
    "free twice": lambda t: double(t, FREE % ("stage0.r0", 0)),
    "free too early": lambda t: move_first(t, FREE % ("stage0.r0", 0), RUN % ("stage0_backward", 0)),
    "free of a sum": lambda t: change(t, '      spmd.free "stage0.r0" microbatch = 0\n', '      spmd.free "stage0.r0" microbatch = 0\n      spmd.free "d.layer1"\n'),
    "free of nothing": lambda t: change(t, 'spmd.free "stage0.r0"', 'spmd.free "nothing"'),
    "send missing": lambda t: drop(t, SEND0),
    "send of another microbatch": lambda t: change(t, "send [[0, 0]]", "send [[0, 1]]"),
    "send before the run": lambda t: move_first(t, SEND0, RUN % ("stage0_forward", 0)),
    "send to itself": lambda t: change(t, "spmd.transfer 1 send [[0, 0]]", "spmd.transfer 0 send [[0, 0]]"),
    "send to no mesh": lambda t: change(t, "spmd.transfer 1 send [[0, 0]]", "spmd.transfer 5 send [[0, 0]]"),
    "no such channel": lambda t: change(t, "send [[0, 0]]", "send [[9, 0]]"),
    "channel the other way": lambda t: change(t, "send [[0, 0]]", "send [[1, 0]]"),
    "receive twice": lambda t: double(t, TAKE0),
    "transfers exchanged": lambda t: move_first(t, GRAD0, SEND0),
    "stage program missing": lambda t: t[:t.index("    spmd.stage_program @s1")] + "  }\n}\n",
    "stage programs exchanged": lambda t: t.replace("spmd.stage_program @s0", "@@").replace("spmd.stage_program @s1", "spmd.stage_program @s0").replace("@@", "spmd.stage_program @s1"),
    "channel without a value": lambda t: change(t, 'spmd.channel "layer1"', 'spmd.channel "layer9"'),
    "channel in another layout": lambda t: change(t, 'spmd.channel "layer1" from 0 <@s0, [{}, {}]>', 'spmd.channel "layer1" from 0 <@s0, [{"model"}, {}]>'),
    "more microbatches": lambda t: change(t, "microbatches = 2", "microbatches = 1000000000000"),
    "unknown kind": lambda t: change(t, '"1f1b"', '"zigzag"'),
    "stage beyond all": lambda t: change(t, "spmd.stage = 1 : i64", "spmd.stage = 1000000000000 : i64"),
    "pairs of three": lambda t: to_generic(t).replace("array<i64: 0, 0>", "array<i64: 0, 0, 0>", 1),
}


def to_generic(text):
    return subprocess.run(["shard-opt", "-", "-mlir-print-op-generic"], input=text,
                          capture_output=True, text=True, check=True).stdout


def main():
    with open(sys.argv[1]) as file:
        good = file.read()
    run = subprocess.run(["shard-opt", "-", "--spmd-outline-stages", "-o", "/dev/null"], input=good,
                         capture_output=True, text=True)
    print(f"good: {run.returncode}{run.stderr}")
    for name, change_text in BREAKS.items():
        text = change_text(good)
        assert text != good, name
        run = subprocess.run(["shard-opt", "-", "--spmd-outline-stages", "-o", "/dev/null"], input=text,
                             capture_output=True, text=True)
        errors = [l for l in run.stderr.splitlines() if ": error: " in l]
        if run.returncode != 1 or len(errors) != 1:
            print(f"{name}: exit {run.returncode}, {len(errors)} errors\n{run.stderr[-500:]}")
            continue
        line = int(re.match(r"<stdin>:(\d+):", errors[0]).group(1))
        at = text.splitlines()[line - 1].strip().split(" : ")[0][:60]
        print(f"{name}: {errors[0].split('error: ')[1]}\n    at {at}")


if __name__ == "__main__":
    main()
