#!/usr/bin/env python3
"""Checkpoints with quantized weights on every number of devices, also those that divide neither heads nor blocks nor groups.

    python3 python/tests/sweep_quantized.py [METHOD[@MODEL]...] [--devices 1-16] [--plan hf|auto]

MODEL is llama, or a mixture whose experts are quantized too: qwen3_moe, mixtral, gpt_oss. METHOD may be a type of .gguf files: q8_0, q4_k or
q6_k, of a model of all linear layers. Each row: a layout as it is published (with small sizes), the devices, the largest difference of the logits from those of the weights
that it stands for, by transformers, and what all devices hold of quantized layers, as a multiple of the bytes that are stored."""

import argparse
import math
import re
import sys
import tempfile
from pathlib import Path

import numpy as np
import quantize
import torch
import transformers

import shardkit
from shardkit.huggingface import gguf

SIZES = dict(vocab_size=96, hidden_size=96, intermediate_size=160, num_hidden_layers=1, num_attention_heads=6, num_key_value_heads=2, head_dim=16)
MODELS = {
    "llama": lambda: transformers.LlamaConfig(**SIZES, architectures=["LlamaForCausalLM"]),
    "qwen3_moe": lambda: transformers.Qwen3MoeConfig(**SIZES, moe_intermediate_size=64, num_experts=4, num_experts_per_tok=2, architectures=["Qwen3MoeForCausalLM"]),
    "mixtral": lambda: transformers.MixtralConfig(**SIZES, num_local_experts=4, num_experts_per_tok=2, architectures=["MixtralForCausalLM"]),
    "gpt_oss": lambda: transformers.GptOssConfig(**SIZES, num_local_experts=4, num_experts_per_tok=2, architectures=["GptOssForCausalLM"]),
}
BLOCKS = {"q8_0": quantize.Q8_0, "q4_k": quantize.Q4_K, "q6_k": quantize.Q6_K}
BLOCK_SIZES = SIZES | dict(hidden_size=256, intermediate_size=768, num_attention_heads=8, head_dim=32)
FIELDS = ("numbers", "scales", "inner", "high")
DEFAULT = [m for m in quantize.METHODS if m != "mxfp4_experts"] + list(BLOCKS) + ["fp8@qwen3_moe", "gptq@mixtral", "mxfp4_experts@gpt_oss"]
PARTS = re.compile(r"(_proj|\.w[123]|_stored)$")


def is_part(name):
    """A tensor of a quantized weight."""
    name = name.split("+")[0].replace(".weight.", ".")
    if name.rpartition(".")[2] in FIELDS:
        return True
    return bool(PARTS.search(re.sub(r"_(blocks|scales)$", "", name) if name.endswith(("_blocks", "_scales")) else name.rpartition(".")[0]))


def count_stored(path):
    """Bytes of quantized weights in a checkpoint."""
    if path.suffix == ".gguf":
        return sum(math.prod(v.shape) for v in gguf.Checkpoint(path).stored.values() if v.dtype == torch.uint8)
    tensors = {n: v for n, v in shardkit.safetensors.read(path / "model.safetensors").items() if is_part(n) and not n.endswith(("g_idx", "quant_map", "__nf4", "bias"))}
    return sum(v.nbytes for n, v in tensors.items() if not (v.dtype == np.float32 and n.endswith("proj.weight")))


def run(devices, plan, path, expected, tokens):
    """The largest difference, and the bytes that devices hold of quantized layers beside those that are stored."""
    models = shardkit.import_transformers(path, mesh={"model": devices}, plan=plan, length=tokens.shape[1], batch=1, dtype="f32", locations=False)
    arguments = [a for a in models["score"].arguments if is_part(a.name) and not (a.dtype == "float32" and a.name.endswith(("proj.weight", "bias")))]
    with models.compile() as programs:
        programs.load(path)
        found = np.asarray(programs.score(tokens))
        held = sum(a.bytes_per_device for a in programs.session["score"].arguments if any(a.name.startswith(b.name) for b in arguments))
    return abs(found - expected).max(), devices * held / count_stored(path)


def write(given, directory):
    """A checkpoint, and a model with the weights that it stands for."""
    method, _, model = given.partition("@")
    config = transformers.LlamaConfig(**BLOCK_SIZES, architectures=["LlamaForCausalLM"]) if method in BLOCKS else MODELS[model or "llama"]()
    kind = getattr(transformers, config.architectures[0])
    base = Path(directory, f"base-{method if method in BLOCKS else model}")
    if not base.exists():
        kind(config).save_pretrained(base)
    if method in BLOCKS:
        path = Path(directory, f"{method}.gguf")
        wide = quantize.write_gguf(base, path, [BLOCKS[method]])
    else:
        path = Path(directory, given)
        wide = quantize.quantize(base, path, method, is_quantized=lambda name: PARTS.search(name.removesuffix(".weight")) is not None)
    return path, kind.from_pretrained(wide, local_files_only=True).eval()


def read_range(text):
    first, _, last = text.partition("-")
    return range(int(first), int(last or first) + 1)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("methods", nargs="*", metavar="METHOD[@MODEL]", help=f"of {', '.join([*quantize.METHODS, *BLOCKS])}; default: {', '.join(DEFAULT)}")
    parser.add_argument("--devices", type=read_range, default=range(1, 17), metavar="N-M")
    parser.add_argument("--plan", default="hf", choices=("hf", "auto"))
    options = parser.parse_args()
    transformers.utils.logging.set_verbosity_error()
    transformers.utils.logging.disable_progress_bar()
    failed = 0
    with tempfile.TemporaryDirectory() as directory:
        torch.manual_seed(0)
        tokens = torch.randint(0, SIZES["vocab_size"], (1, 6))
        for given in options.methods or DEFAULT:
            path, module = write(given, directory)
            expected = module(tokens).logits.detach().numpy()
            for devices in options.devices:
                try:
                    difference, ratio = run(devices, options.plan, path, expected, tokens)
                    is_right = difference <= 1e-5 * max(1, abs(expected).max())
                    print(f"{given:24}{devices:4}  {'equal' if is_right else 'WRONG'}  {difference:.1e}  {ratio:.2f} times the stored bytes", flush=True)
                except shardkit.ShardKitError as error:
                    is_right = False
                    print(f"{given:24}{devices:4}  {str(error).splitlines()[0]}", flush=True)
                failed += not is_right
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
