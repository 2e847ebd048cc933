#!/usr/bin/env python3
"""Continues a prompt with a model of transformers, from its folder, on logical devices.

    python3 examples/llm/generate.py DIR "Once upon a time" --devices 4
    python3 examples/llm/generate.py DIR --ids 5,17,42 --tokens 8            # without a tokenizer: numbers of tokens

The prompt is processed at once (prefill), then one token after the other (decode). The cache of keys and values stays on the
devices. Tokens are the most likely ones, or drawn with --temperature, which --top-k and --seed go with. generate.cpp does the same
in C++ and draws the same tokens."""

import argparse
import json
import sys
import time
from pathlib import Path

import numpy as np

import shardkit


class Sampler:
    """Chooses tokens by logits: the most likely one, or at random among the `top_k` most likely ones (0: all)."""

    def __init__(self, temperature=0.0, top_k=0, seed=0):
        self.temperature, self.top_k = temperature, top_k
        self.random = np.random.RandomState(seed)  # Mersenne Twister, as std::mt19937

    def choose(self, logits):
        logits = logits.reshape(-1)
        if self.temperature == 0:
            return int(np.argmax(logits))
        order = np.argsort(-logits, kind="stable")[: self.top_k or None]
        sums = np.cumsum(np.exp((logits[order] - logits[order[0]]) / self.temperature))
        return int(order[min(np.searchsorted(sums, self.random.random_sample() * sums[-1], side="right"), len(order) - 1)])


class Generator:
    """A model on devices: `generate` yields the tokens that follow a prompt. `length`: tokens of the cache, of prompt and answer."""

    def __init__(self, folder, devices=1, length=128, plan="hf", dtype="auto"):
        mesh = {"model": devices} if devices > 1 else None
        self.models = shardkit.import_transformers(folder, mesh=mesh, plan=plan, functions=["prefill", "decode"], length=length, batch=1, dtype=dtype, calls={"decode": length})
        self.length, self.programs = length, self.models.compile()
        self.programs.load(folder)

    def generate(self, prompt, tokens, sampler, ends=()):
        """At most `tokens` ones, up to one of `ends`."""
        if not 0 < len(prompt) < self.length:
            raise shardkit.ShardKitError(f"error: a prompt of {len(prompt)} tokens, expected 1 to {self.length - 1}: the cache has {self.length}")
        padded = np.zeros((1, self.length), np.int64)
        padded[0, : len(prompt)] = prompt
        logits, _ = self.programs.prefill(padded, len(prompt) - 1, donate=True)
        for position in range(len(prompt), min(len(prompt) + tokens, self.length)):
            token = sampler.choose(logits.double().numpy())
            yield token
            if token in ends or position == len(prompt) + tokens - 1:
                return
            logits, _ = self.programs.decode(np.array([[token]]), position, donate=True)


def read_tokenizer(folder):
    """The tokenizer of a folder; one error where it has none."""
    import transformers

    files = ("tokenizer.json", "tokenizer.model", "vocab.json", "vocab.txt", "spiece.model")
    if not any(Path(folder, name).is_file() for name in files):
        raise shardkit.ShardKitError(f"error: {folder}: no tokenizer, expected {files[0]} or another of {', '.join(files[1:])}; --ids takes numbers of tokens")
    try:
        return transformers.AutoTokenizer.from_pretrained(folder, local_files_only=True)
    except Exception as error:  # what a tokenizer may raise has no common base
        reason = (str(error).strip().splitlines() or [type(error).__name__])[0]
        raise shardkit.ShardKitError(f"error: {folder}: its tokenizer cannot be read: {reason}; --ids takes numbers of tokens") from None


def read_ids(text, size):
    """Numbers of tokens, with commas."""
    try:
        ids = [int(word) for word in text.split(",")]
    except ValueError:
        ids = [-1]
    if min(ids) < 0 or max(ids) >= size:
        raise shardkit.ShardKitError(f"error: --ids {text}: expected numbers from 0 to {size - 1}, with commas")
    return ids


def read_config(folder):
    """The size of the vocabulary, and the tokens that end an answer."""
    import transformers
    from shardkit.huggingface import gguf

    if file := gguf.find_file(folder):
        checkpoint = gguf.Checkpoint(file)
        return checkpoint.make_config().vocab_size, {checkpoint.values.get("tokenizer.ggml.eos_token_id")} - {None}
    config = transformers.AutoConfig.from_pretrained(folder, local_files_only=True).get_text_config(decoder=True)
    file = Path(folder, "generation_config.json")
    ends = (json.loads(file.read_text()) if file.is_file() else {}).get("eos_token_id", config.eos_token_id)
    return config.vocab_size, set(ends if isinstance(ends, list) else [ends]) - {None}


def make_parser():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", metavar="DIR", help="config.json, *.safetensors and a tokenizer; or a .gguf file")
    parser.add_argument("prompt", nargs="?", help="text; or --ids")
    parser.add_argument("--ids", metavar="I,J,...", help="the prompt as numbers of tokens; so is the answer")
    parser.add_argument("--devices", type=int, default=1, metavar="N", help="logical devices that share each layer (default: 1)")
    parser.add_argument("--plan", default="hf", metavar="hf|auto|FILE", help="as of shardkit-import hf (default: hf)")
    parser.add_argument("--dtype", default="auto", help="f32, bf16, f16, or auto: that of the configuration (default)")
    parser.add_argument("--length", type=int, default=128, metavar="N", help="most tokens of prompt and answer (default: 128)")
    parser.add_argument("--tokens", type=int, default=32, metavar="N", help="most tokens of the answer (default: 32)")
    parser.add_argument("--temperature", type=float, default=0.0, metavar="T", help="0: the most likely token (default); else tokens are drawn")
    parser.add_argument("--top-k", type=int, default=0, metavar="K", help="draw among the K most likely tokens; 0: among all (default)")
    parser.add_argument("--seed", type=int, default=0, metavar="S", help="of the random numbers (default: 0)")
    return parser


def run(options):
    if (options.prompt is None) == (options.ids is None):
        raise shardkit.ShardKitError("error: expected a prompt, or --ids with numbers of tokens")
    for name, low in (("devices", 1), ("length", 2), ("tokens", 1), ("temperature", 0), ("top_k", 0), ("seed", 0)):
        if not getattr(options, name) >= low:
            raise shardkit.ShardKitError(f"error: --{name.replace('_', '-')} is {getattr(options, name)}, expected at least {low}")
    is_file = options.folder.endswith(".gguf") and Path(options.folder).is_file()
    if not is_file and not Path(options.folder, "config.json").is_file():
        raise shardkit.ShardKitError(f"error: {options.folder}: no config.json, expected the folder of a model, or a .gguf file; nothing is downloaded")
    size, ends = read_config(options.folder)
    tokenizer = None if options.ids else read_tokenizer(options.folder)
    prompt = read_ids(options.ids, size) if options.ids else tokenizer(options.prompt)["input_ids"]
    generator = Generator(options.folder, options.devices, options.length, options.plan, options.dtype)
    sampler = Sampler(options.temperature, options.top_k, options.seed)
    found, shown, start = [], "", time.perf_counter()
    for token in generator.generate(prompt, options.tokens, sampler, ends):
        found.append(token)
        if tokenizer is None:
            print(f"{',' if len(found) > 1 else ''}{token}", end="", flush=True)
        elif not (text := tokenizer.decode(found, skip_special_tokens=True)).endswith("\ufffd"):  # else part of a character
            print(text.removeprefix(shown), end="", flush=True)
            shown = text
    print(f"\n{len(found)} tokens, {len(found) / (time.perf_counter() - start):.1f} per second with the prompt, on {options.devices} devices", file=sys.stderr)


if __name__ == "__main__":
    try:
        run(make_parser().parse_args())
    except shardkit.ShardKitError as error:
        sys.exit(str(error) if str(error).startswith("error: ") else f"error: {error}")
