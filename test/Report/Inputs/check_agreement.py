"""check_agreement.py EXPLAIN.json REPORT.json FINAL.mlir --expect N

Compares the shardings of the arguments and results of public functions: as explained, as reported and as written in
the final program. N shardings must be compared, so that a function cannot go missing.
"""
import json
import re
import sys


def normalize(sharding):
    """Without the mesh, open dims and priorities, which a closed sharding does not have."""
    sharding = re.sub(r"^<?@\w+, |>$", "", sharding)
    return re.sub(r", \?|\?|p\d+", "", sharding)


def read_signatures(text):
    """By function: the shardings of arguments by index, of results by index."""
    signatures = {}
    for line in text.splitlines():
        found = re.match(r" *func\.func (?:private )?@(\w+)\((.*)\) -> (.*) \{$", line)
        if not found:
            continue
        name, arguments, results = found.groups()
        lists = []
        for side in (arguments, results):
            # A value each: its attributes end before the next one begins.
            values = re.split(r", (?=%arg|tensor<)|^\(", side)
            lists.append([re.search(r"#spmd\.sharding<(@\w+, \[[^\]]*\])", value) for value in values if value])
        signatures[name] = [[found and found[1] for found in side] for side in lists]
    return signatures


explain, report, final = (open(path).read() for path in sys.argv[1:4])
expected = int(sys.argv[5])
explained = {function["name"]: function["values"] for function in json.loads(explain)["functions"]}
signatures = read_signatures(final)
compared = 0
for function in json.loads(report)["functions"]:
    if "calls" in function:
        continue
    name = function["name"]
    values = {value["name"].split(" ")[0]: value["sharding"] for value in explained[name]}
    for side, prefix, list_of in ((0, "%arg", function["arguments"]), (1, "result", function["results"])):
        for i, value in enumerate(list_of):
            if prefix + str(i) not in values:
                assert not value["global_type"].startswith("tensor"), f"{value} of @{name} is not explained"
                continue
            found = [values[prefix + str(i)], value["sharding"], signatures[name][side][i]]
            assert len({normalize(each) for each in found}) == 1, f"{prefix}{i} of @{name}: {found}"
            compared += 1
assert compared == expected, f"{compared} shardings were compared, expected {expected}"
