#!/usr/bin/env python3
"""pipeline_minilm.py MINILM.mlir STAGES: the model of the demo for --pipeline, on
stdout: shardings as axis resources, microbatches along the batch, and a cluster of
STAGES x 2 x 2."""
import re
import sys

text = open(sys.argv[1]).read()


def resources(match):
    dims = re.findall(r"\{([^}]*)\}", match.group(1))
    entries = [dim.split(",")[0].strip() for dim in dims]
    return "spmd.axis_resources = #spmd.axis_resources<[" + ", ".join(entries) + "]>"


text = re.sub(r"spmd\.sharding = #spmd\.sharding<@pod, \[(.*?)\]>", resources, text)
for name in ("input_ids", "attention_mask"):
    text = text.replace(f'spmd.name = "{name}"',
                        f'spmd.name = "{name}", spmd.microbatch = #spmd.microbatch<dim = 0>')
text = re.sub(r"spmd\.mesh @pod = .*", f'spmd.mesh @pod = <["pipe"={sys.argv[2]}, "data"=2, "model"=2]>',
              text)
print(text, end="")
