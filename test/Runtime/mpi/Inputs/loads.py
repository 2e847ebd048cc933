"""Compares what several processes read with what one process read for all ranks."""

import json
import sys

loads = [json.load(open(path))["run"]["functions"][0]["load"] for path in sys.argv[1:]]
whole = loads[0]
for path, load in zip(sys.argv[2:], loads[1:]):
    assert load["bytes_needed"] == whole["bytes_needed"], (path, load)
    assert sum(load["bytes_read"]) == sum(whole["bytes_read"]), (path, load)
    assert load["messages"] == 0, (path, load)
    assert 1 <= load["readers"] <= 6, (path, load)
    assert 0 < load["staging_bytes"] <= 64 << 20, (path, load)
