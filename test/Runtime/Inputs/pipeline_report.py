"""Compares the memory and the counts of a run of a pipeline with its instruction lists.

    pipeline_report.py MANIFEST REPORT STEPS IN_FLIGHT

IN_FLIGHT: the maximum number of microbatches at once of any value of the first stage that
is freed after a backward function has read it."""
import json
import math
import sys

SIZES = {"f64": 8, "f32": 4, "i64": 8, "i32": 4, "i1": 1}
manifest, report = (json.load(open(path)) for path in sys.argv[1:3])
steps, in_flight = map(int, sys.argv[3:5])
pipeline = manifest["pipelines"][0]
functions = pipeline["functions"]
ran = report["run"]["functions"][0]["pipeline"]


def value_bytes(stage, index):
    value = stage["values"][index]
    return math.prod(value["local_shape"]) * SIZES[value["dtype"]]


def values_of(side):
    return [value["slot"][1] for value in side if value["slot"][0] in ("value", "sum")]


def replay(number, stage):
    """The maximum bytes of values at once, and per value the maximum number of microbatches."""
    live = {(v, -1) for v, value in enumerate(stage["values"]) if "init" in value}
    of_step = {v for v, _ in live}
    peak, most = 0, {}

    def buffer(value, microbatch):
        return (value, -1 if value in of_step else microbatch)

    for kind, what, *rest in stage["instructions"]:
        extra = 0
        if kind == "run":
            arguments, results = functions[what]["arguments"], functions[what]["results"]
            live |= {buffer(value, rest[0]) for value in values_of(results)}
            # A value that is read and written has two buffers meanwhile, unless it is updated in place.
            extra = sum(value_bytes(stage, value["slot"][1]) for value in results
                        if value["slot"] in [a["slot"] for a in arguments] and "tied" not in value)
        elif kind == "transfer":
            live |= {buffer(pipeline["channels"][t]["to"][1], m) for t, m in rest[1]}
        else:
            live.remove(buffer(what, rest[0]))
        peak = max(peak, extra + sum(value_bytes(stage, value) for value, _ in live))
        for value, _ in live:
            most[value] = max(most.get(value, 0), sum(v == value for v, _ in live))
    return peak, most


executions = [0] * len(functions)
for number, (stage, measured) in enumerate(zip(pipeline["stages"], ran["stages"], strict=True)):
    peak, most = replay(number, stage)
    assert measured["peak_value_bytes"] == [peak] * stage["devices"], (measured, peak)
    for ran_for, moved, waited in zip(*(measured[key] for key in
                                        ("run_seconds", "transfer_seconds", "wait_seconds")), strict=True):
        assert ran_for > 0 and moved >= waited >= 0, measured
    for kind, what, *rest in stage["instructions"]:
        if kind == "run":
            executions[what] += 1
    if number == 0:
        kept = {value for f in functions if f["name"].endswith("_backward")
                and f["stage"] == number for value in values_of(f["arguments"])}
        kept &= {value for f in functions if f["name"].endswith("_forward")
                 and f["stage"] == number for value in values_of(f["results"])}
        assert kept and all(most[value] == in_flight for value in kept), (kept, most)
for function, count in zip(functions, executions, strict=True):
    measured = next(f for f in ran["functions"] if f["function"] == function["name"])["measured"]
    assert measured["executions"] == count * steps, (function["name"], measured)
    assert len(measured["seconds_per_rank"]) == pipeline["stages"][function["stage"]]["devices"]
for transfer in ran["transfers"]:
    assert transfer["measured"]["executions"] == pipeline["microbatches"] * steps, transfer
print("peak bytes:", *(stage["peak_value_bytes"][0] for stage in ran["stages"]))
