#!/usr/bin/env python3
"""Checkpoints with quantized weights on every number of devices, also those that divide neither heads nor blocks nor groups.

    python3 python/tests/sweep_quantized.py [METHOD...] [--devices 1-16] [--plan hf|auto]

Each row: a layout as it is published (with small sizes), the devices, the largest difference of the logits from those of the weights
that it stands for, by transformers, and what all devices hold of quantized layers, as a multiple of the bytes that are stored."""

import argparse
import sys
import tempfile
from pathlib import Path

import numpy as np
import quantize
import torch
import transformers

import shardkit

SIZES = dict(vocab_size=96, hidden_size=96, intermediate_size=160, num_hidden_layers=1, num_attention_heads=6, num_key_value_heads=2, head_dim=16)


def run(method, devices, plan, folder, expected, tokens):
    """The largest difference, and the bytes that devices hold of quantized layers beside those that are stored."""
    models = shardkit.import_transformers(folder, mesh={"model": devices}, plan=plan, length=tokens.shape[1], batch=1, dtype="f32", locations=False)
    arguments = [a for a in models["score"].arguments if a.name.rpartition(".")[0].endswith("_proj")]
    stored = {n: v for n, v in shardkit.safetensors.read(folder / "model.safetensors").items() if n.rpartition(".")[0].endswith("_proj") and not n.endswith("g_idx")}
    with models.compile() as programs:
        programs.load(folder)
        found = np.asarray(programs.score(tokens))
        held = sum(a.bytes_per_device for a in programs.session["score"].arguments if any(a.name.startswith(b.name) for b in arguments))
    return abs(found - expected).max(), devices * held / sum(v.nbytes for v in stored.values())


def read_range(text):
    first, _, last = text.partition("-")
    return range(int(first), int(last or first) + 1)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("methods", nargs="*", metavar="METHOD", help=f"of {', '.join(quantize.METHODS)}; default: all")
    parser.add_argument("--devices", type=read_range, default=range(1, 17), metavar="N-M")
    parser.add_argument("--plan", default="hf", choices=("hf", "auto"))
    options = parser.parse_args()
    transformers.utils.logging.set_verbosity_error()
    transformers.utils.logging.disable_progress_bar()
    failed = 0
    with tempfile.TemporaryDirectory() as directory:
        torch.manual_seed(0)
        base = Path(directory, "base")
        transformers.LlamaForCausalLM(transformers.LlamaConfig(**SIZES, architectures=["LlamaForCausalLM"])).save_pretrained(base)
        tokens = torch.randint(0, SIZES["vocab_size"], (1, 6))
        for method in options.methods or quantize.METHODS:
            folder = Path(directory, method)
            wide = quantize.quantize(base, folder, method)
            module = transformers.LlamaForCausalLM.from_pretrained(wide, local_files_only=True).eval()
            expected = module(tokens).logits.detach().numpy()
            for devices in options.devices:
                try:
                    difference, ratio = run(method, devices, options.plan, folder, expected, tokens)
                    is_right = difference <= 1e-5 * max(1, abs(expected).max())
                    print(f"{method:14}{devices:4}  {'equal' if is_right else 'WRONG'}  {difference:.1e}  {ratio:.2f} times the stored bytes", flush=True)
                except shardkit.ShardKitError as error:
                    is_right = False
                    print(f"{method:14}{devices:4}  {str(error).splitlines()[0]}", flush=True)
                failed += not is_right
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
