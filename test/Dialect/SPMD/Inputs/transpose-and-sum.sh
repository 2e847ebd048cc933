#!/bin/sh
# Interesting (exit 1) while the local program transposes and sums over an axis.
out=$(shard-opt "$1" --spmd-default-pipeline=plan=propagation 2>/dev/null)
echo "$out" | grep -q linalg.transpose && echo "$out" | grep -q "spmd.all_reduce .* sum" && exit 1
exit 0
