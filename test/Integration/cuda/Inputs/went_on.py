"""Two JSONs of gpu-suite: the second has what the first measured, as it was, and bandwidths too."""

import json
import sys

first, second = (json.load(open(path))["benchmarks"] for path in sys.argv[1:3])
assert "bandwidth" not in first and first["not_run"] == [], first
assert second["loader"] == first["loader"] and "fused_of_copy" in json.dumps(second["bandwidth"]), second
assert sorted(second["seconds"]) == ["bandwidth", "loader"] and second["not_run"] == [], second
