"""The objectives that stages=auto predicts: check_objective.py FREE PINNED FREER: pins and
counts never lower it."""
import re
import sys


def objective(path):
    found = re.search(r"predicted_seconds = ([0-9.eE+-]+) : f64", open(path).read())
    return float(found.group(1))


free, pinned, freer = map(objective, sys.argv[1:4])
# The search of each stage is within 2 %.
assert pinned >= free / 1.02, (pinned, free)
assert free >= freer / 1.02, (free, freer)
print("pins cost", pinned / free)
