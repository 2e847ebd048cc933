#!/usr/bin/env python3
"""Models of Hugging Face's transformers under ShardKit's plans, on ranks of torch.distributed (gloo): numbers beside those of one process.

    torch_plans.py [--ranks 2,4] [--model NAME]... [--json FILE]

Each plan has a memory budget, so that weights have to be sharded. Each model runs forward and one training step (SGD) in two ways: by
`plan.apply`, and loaded by transformers with `plan.tp_plan()`. A row has the parameters that are sharded, modules with a style of
transformers, parameters that no style can express, the largest differences of results and of new parameters, and ops that DTensor
could not run sharded. Exits with 1 where a difference is above 1e-4. Needs: pip install ./python[torch] transformers
"""
import argparse
import contextlib
import json
import logging
import os
import socket
import sys
import time
import traceback
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import torch  # noqa: E402
import torch.distributed as dist  # noqa: E402
import torch.multiprocessing as mp  # noqa: E402
import torch_models as models  # noqa: E402

TOLERANCE = 1e-4


def make_plan(module, inputs, mesh, **options):
    """Within a quarter of the weights more than an equal share of them, and what is computed, which is of their size here."""
    import math

    import shardkit

    size = sum(p.numel() * p.element_size() for p in module.parameters())
    held = {n: v for n, v in inputs.items() if n != "labels"}
    if module.config.is_encoder_decoder:
        held["decoder_input_ids"] = inputs["labels"]
    budget = size * (0.25 + 1 / math.prod(mesh.values())) + 16384
    return shardkit.plan(module, mesh=mesh, memory=budget, **{"options": ["time-limit=5"]} | options, **held)


def step(module, inputs):
    """Results, the loss and the parameters after a step."""
    optimizer = torch.optim.SGD(module.parameters(), lr=0.1)
    with torch.no_grad():
        results = module(**{n: v for n, v in inputs.items() if n != "labels"} | ({"decoder_input_ids": inputs["labels"]} if module.config.is_encoder_decoder else {})).logits
    output = module(**inputs)
    output.loss.backward()
    optimizer.step()
    complete = lambda p: p.full_tensor() if hasattr(p, "full_tensor") else p
    return [results, output.logits, output.loss], {n: complete(p.detach()) for n, p in module.named_parameters()}


def compare(expected, found):
    """The largest differences, relative to the largest value."""

    def differ(a, b):
        return float((a - b).abs().max() / a.abs().max().clamp(min=1e-3)) if a.shape == b.shape else float("inf")

    values = [differ(a.detach(), b.detach()) for a, b in zip(expected[0], found[0], strict=True)]
    return max(values), max(differ(value, found[1][n].detach()) for n, value in expected[1].items())


def run_applied(plan, module, inputs):
    applied = plan.apply(module)
    return step(applied, inputs), plan.find_replicated(applied)


def run_by_hf(plan, module, inputs, values=False):
    from transformers.distributed import DistributedConfig

    config = DistributedConfig(tp_size=dist.get_world_size(), tp_plan=plan.tp_plan(values))
    config, _, mesh = module.prepare_distribute_model(config)  # what from_pretrained does, which needs accelerate
    for name in module.all_tied_weights_keys:
        owner, _, key = name.rpartition(".")
        module.get_submodule(owner)._parameters[key] = torch.nn.Parameter(module.get_parameter(name).detach().clone())
    module = module.maybe_distribute_model(module, config, mesh)
    module.tie_weights()
    return step(module, inputs), {}


def run_by_hf_with_values(plan, module, inputs):
    return run_by_hf(plan, module, inputs, values=True)


def run_by_torch(plan, module, inputs):
    from torch.distributed.tensor.parallel import parallelize_module

    mesh = dist.init_device_mesh("cpu", (dist.get_world_size(),))
    return step(parallelize_module(module, mesh, plan.parallelize_plan()), inputs), {}


def check(make, name, batch, plan, way):
    """The differences of results and of parameters to one process, and what was replicated."""
    module, inputs = make(name, batch)
    found, replicated = way(plan, module, inputs)
    return (*compare(step(make(name, batch)[0], inputs), found), replicated)


class Ranks:
    """Processes that call functions together. They are forked before PyTorch differentiates anything, which it does not allow later."""

    def __init__(self, count):
        with contextlib.closing(socket.socket()) as s:
            s.bind(("127.0.0.1", 0))
            port = s.getsockname()[1]
        context = mp.get_context("fork")
        self.tasks, self.results = [context.SimpleQueue() for _ in range(count)], context.SimpleQueue()
        self.processes = mp.start_processes(self._work, (count, port), nprocs=count, join=False, daemon=True, start_method="fork")

    def _work(self, rank, count, port):
        torch.set_num_threads(1)
        logging.disable(logging.WARNING)
        os.environ |= {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port), "RANK": str(rank), "LOCAL_RANK": str(rank), "WORLD_SIZE": str(count), "GLOO_SOCKET_IFNAME": "lo"}
        dist.init_process_group("gloo", rank=rank, world_size=count)
        while task := self.tasks[rank].get():
            function, args = task
            try:
                result = function(*args), None
            except Exception:
                result = None, traceback.format_exc(limit=-3)
            if rank == 0:
                self.results.put(result)
            dist.barrier()
        dist.destroy_process_group()

    def call(self, function, *args):
        """What it returns on the first rank, and the error that it raises there."""
        for tasks in self.tasks:
            tasks.put((function, args))
        return self.results.get()

    def close(self):
        for tasks in self.tasks:
            tasks.put(None)
        self.processes.join()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ranks", default="2,4")
    parser.add_argument("--model", action="append")
    parser.add_argument("--json")
    options = parser.parse_args()
    names = options.model or list(models.CONFIGS)
    rows, worst = [], 0.0
    print("| model | ranks | s | sharded | styles | left out | apply: results | step | tp_plan: results | step | replicated by apply |")
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | --- |")
    ranks = {count: Ranks(count) for count in map(int, options.ranks.split(","))}
    for count, group in ranks.items():
        for name in names:
            module, inputs = models.make(name)
            start = time.monotonic()
            plan = make_plan(module, inputs, {"tp": count})
            seconds = time.monotonic() - start
            found = [group.call(check, models.make, name, 2, plan, way) for way in (run_applied, run_by_hf)]
            a, b = [row or (float("inf"), float("inf"), {}) for row, _ in found]
            worst = max([worst, *a[:2], *b[:2]])
            sharded = [any(p.is_shard() for p in ps) for ps in plan.placements().values()]
            styles = sum(s != "replicate" for s in plan.tp_plan().values())
            row = {"model": name, "ranks": count, "seconds": round(seconds, 1), "sharded": sum(sharded), "of": len(sharded), "tp_plan": plan.tp_plan(),
                   "left_out": plan.left_out("tp_plan"), "apply": a[:2], "by_hf": b[:2], "replicated": a[2], "errors": [error for _, error in found if error]}  # fmt: skip
            rows.append(row)
            print(f"| {name} | {count} | {row['seconds']} | {sum(sharded)} of {len(sharded)} | {styles} | {len(row['left_out'])} | {a[0]:.1e} | {a[1]:.1e} | {b[0]:.1e} | {b[1]:.1e} | "
                  f"{', '.join(a[2]) or 'none'} |", flush=True)  # fmt: skip
            if options.json:
                Path(options.json).write_text(json.dumps(rows, indent=1) + "\n")
        group.close()
    for row in rows:
        for error in row["errors"]:
            print(f"\n{row['model']} on {row['ranks']}:\n{error}")
    return int(not worst < TOLERANCE)


if __name__ == "__main__":
    sys.exit(main())
