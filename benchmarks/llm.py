#!/usr/bin/env python3
"""Decoding with the layers of a model of 1B parameters, beside PyTorch on the same cores, in turns.

    pip install './python[transformers]'; python3 benchmarks/llm.py [--layers 2] [--dtype f32] [--devices 1]

Sizes are those of Llama 3.2 1B; weights are random. Tokens must be equal. Rows: tokens per second as the median of the rounds, and
the median of the ratios of rounds that followed each other, as other work comes and goes."""

import argparse
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import torch
import transformers

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "examples" / "llm"))
from generate import Generator, Sampler

DTYPES = {"f32": torch.float32, "bf16": torch.bfloat16}
SIZES = dict(vocab_size=128256, hidden_size=2048, intermediate_size=8192, num_attention_heads=32, num_key_value_heads=8, head_dim=64, tie_word_embeddings=True)


def make_folder(folder, layers, dtype):
    torch.manual_seed(0)
    config = transformers.LlamaConfig(**SIZES, num_hidden_layers=layers, dtype=dtype, architectures=["LlamaForCausalLM"])
    transformers.LlamaForCausalLM(config).to(dtype).save_pretrained(folder)


def decode_library(module, prompt, tokens):
    cache, inputs = transformers.DynamicCache(config=module.config), torch.tensor([prompt])
    for _ in range(tokens):
        with torch.inference_mode():
            token = int(module(inputs, cache=cache, use_cache=True).logits[0, -1].argmax())
        yield token
        inputs = torch.tensor([[token]])


def measure(tokens):
    """The tokens, and tokens per second after the first one."""
    first = next(tokens)
    start = time.perf_counter()
    found = [first, *tokens]
    return found, (len(found) - 1) / (time.perf_counter() - start)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--layers", type=int, default=2)
    parser.add_argument("--dtype", choices=DTYPES, default="f32")
    parser.add_argument("--devices", type=int, default=1)
    parser.add_argument("--tokens", type=int, default=12, help="of a round")
    parser.add_argument("--rounds", type=int, default=7)
    options = parser.parse_args()
    transformers.utils.logging.set_verbosity_error()
    transformers.utils.logging.disable_progress_bar()
    prompt = [5, 17, 42, 99]
    with tempfile.TemporaryDirectory() as folder:
        make_folder(folder, options.layers, DTYPES[options.dtype])
        own = Generator(folder, options.devices, length=64)
        module = transformers.LlamaForCausalLM.from_pretrained(folder, dtype=DTYPES[options.dtype], local_files_only=True).eval()
        rounds = []
        for _ in range(options.rounds):
            found, mine = measure(own.generate(prompt, options.tokens, Sampler()))
            time.sleep(0.05)  # threads of one fall asleep before the other begins
            expected, theirs = measure(decode_library(module, prompt, options.tokens))
            time.sleep(0.05)
            if options.dtype == "f32" and found != expected:
                sys.exit(f"error: tokens {found}, expected those of PyTorch: {expected}")
            rounds.append((mine, theirs))
    mine, theirs = np.median(rounds, axis=0)
    print(f"{options.layers} layers of 1B in {options.dtype}, {options.devices} devices: {mine:.2f} tokens per second, PyTorch {theirs:.2f}, ratio {np.median([a / b for a, b in rounds]):.2f}")


if __name__ == "__main__":
    main()
