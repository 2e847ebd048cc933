"""Checks that ranks need, and nodes read, what they own.

check_loading.py OWNED REPORT [PROCESSES PER_NODE]. OWNED is of gen_loading.py --owned, REPORT of
shard-run --report with --read-gap=0 on PROCESSES processes, PER_NODE of which are a node (1 and 1 by
default). A rank may need 1.05 times the bytes of the stored elements that its shard depends on, and
the ranks of a node together may read 1.05 times those of all its ranks.
"""
import json
import sys

owned = json.load(open(sys.argv[1]))
runs = {run["function"]: run["load"] for run in json.load(open(sys.argv[2]))["run"]["functions"]}
processes, per_node = (int(n) for n in sys.argv[3:5]) if len(sys.argv) > 3 else (1, 1)
failed = needed = read = 0
for name, function in owned.items():
    sizes, ranks, load = function["bytes"], function["ranks"], runs[name]

    def bytes_of(ranks):
        """The bytes of the elements that some of `ranks` needs."""
        return sum(size * len(set().union(*(rank[i] for rank in ranks))) for i, size in enumerate(sizes))

    limits = [bytes_of([rank]) for rank in ranks]
    block = -(-len(ranks) // processes) * per_node
    nodes = range(0, len(ranks), block)
    node_limits = [bytes_of(ranks[i : i + block]) for i in nodes]
    node_reads = [sum(load["bytes_read"][i : i + block]) for i in nodes]
    needed += sum(node_limits)
    read += sum(node_reads)
    for what, found, most in (("needs", load["bytes_needed"], limits), ("reads by node", node_reads, node_limits)):
        if any(n > 1.05 * limit for n, limit in zip(found, most)):
            failed += 1
            print(f"{name}: {what} {found} bytes, expected at most 1.05 x {most}")
print(f"{len(owned)} functions, {read} bytes read, {needed} owned by nodes, {failed} more than owned")
sys.exit(failed > 0)
