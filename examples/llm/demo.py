#!/usr/bin/env python3
"""Small models with random weights in the published layout: ShardKit on logical devices beside transformers, token by token.

    python3 examples/llm/demo.py [--devices 4] [--tokens 48] [--output DIR]

scripts/demo-llm builds what this needs. Nothing is downloaded: weights are random numbers, and the tokenizer is trained on this
text. Each model is run by generate.py and by generate.cpp. Speeds are those of decoding, measured in turns."""

import argparse
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import torch
import transformers
from generate import Generator, Sampler

from shardkit.tools import find_tool, run_tool

PROMPT = "Nothing is downloaded: weights are"
LENGTH, VOCABULARY = 96, 320


def make_configs():
    """Projections one by one and keys that heads share, fused projections that are stored transposed, a mixture of experts."""
    sizes = dict(vocab_size=VOCABULARY, hidden_size=256, intermediate_size=512, num_hidden_layers=2, num_attention_heads=8, num_key_value_heads=4)
    return {
        "llama": (transformers.LlamaConfig(**sizes, architectures=["LlamaForCausalLM"]), "hf"),
        "gpt2": (transformers.GPT2Config(vocab_size=VOCABULARY, n_embd=256, n_layer=2, n_head=8, n_positions=LENGTH, bos_token_id=0, eos_token_id=0, architectures=["GPT2LMHeadModel"]), "auto"),
        "mixtral": (transformers.MixtralConfig(**sizes, num_local_experts=4, num_experts_per_tok=2, architectures=["MixtralForCausalLM"]), "hf"),
    }  # fmt: skip


def make_folder(folder, config):
    """A checkpoint of random weights, in several files, with a tokenizer."""
    import tokenizers

    torch.manual_seed(0)
    getattr(transformers, config.architectures[0])(config).save_pretrained(folder, max_shard_size="2MB")
    tokenizer = tokenizers.Tokenizer(tokenizers.models.BPE())
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = tokenizers.decoders.ByteLevel()
    trainer = tokenizers.trainers.BpeTrainer(vocab_size=VOCABULARY, initial_alphabet=tokenizers.pre_tokenizers.ByteLevel.alphabet(), show_progress=False)
    tokenizer.train_from_iterator([Path(__file__).read_text()], trainer)
    transformers.PreTrainedTokenizerFast(tokenizer_object=tokenizer).save_pretrained(folder)


class Library:
    """transformers itself: greedy, with its own cache."""

    def __init__(self, folder, config):
        self.module = getattr(transformers, config.architectures[0]).from_pretrained(folder, local_files_only=True).eval()

    def generate(self, prompt, tokens, *_):
        cache, inputs = transformers.DynamicCache(config=self.module.config), torch.tensor([prompt])
        for _ in range(tokens):
            with torch.inference_mode():
                logits = self.module(inputs, cache=cache, use_cache=True).logits[0, -1]
            token = int(logits.argmax())
            yield token
            inputs = torch.tensor([[token]])


def time_decoding(generator, prompt, tokens):
    """The tokens, and tokens per second after the first one."""
    found, start = [], 0.0
    for token in generator.generate(prompt, tokens, Sampler()):
        start = start or time.perf_counter()
        found.append(token)
    return found, (len(found) - 1) / (time.perf_counter() - start)


def run_cpp(folder, work, models, prompt, *options):
    """The tokens of generate.cpp."""
    models.save(work / "model")
    run_tool([find_tool("shard-compile"), str(work / "model" / "model.mlir"), "-o", str(work / "bundle")])
    text = subprocess.run([find_tool("generate"), work / "bundle", folder, ",".join(map(str, prompt)), *options], check=True, capture_output=True, text=True)
    return [int(word) for word in text.stdout.split(",")]


def run(name, config, plan, devices, tokens, folder):
    make_folder(folder / name, config)
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder / name, local_files_only=True)
    prompt = tokenizer(PROMPT)["input_ids"]
    own, library = Generator(folder / name, devices, LENGTH, plan), Library(folder / name, config)
    speeds = {"own": [], "library": []}
    for _ in range(5):  # in turns, as other work comes and goes
        found, speed = time_decoding(own, prompt, tokens)
        speeds["own"].append(speed)
        expected, speed = time_decoding(library, prompt, tokens)
        speeds["library"].append(speed)
        if found != expected:
            sys.exit(f"error: {name}: tokens {found}, expected those of transformers: {expected}")
    drawn = list(own.generate(prompt, tokens, Sampler(temperature=0.8, top_k=40, seed=1)))
    options = ["--temperature=0.8", "--top-k=40", "--seed=1", f"--tokens={tokens}"]
    if (other := run_cpp(folder / name, folder, own.models, prompt, *options)) != drawn:
        sys.exit(f"error: {name}: generate.cpp has drawn {other}, expected {drawn}")
    mine, theirs = (float(np.median(speeds[k])) for k in ("own", "library"))
    print(f"{name:10}{len(found):4} tokens equal, {len(drawn):3} drawn alike in C++{mine:10.0f}{theirs:14.0f}")
    return tokenizer.decode(found)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--devices", type=int, default=4, metavar="N", help="logical devices (default: 4)")
    parser.add_argument("--tokens", type=int, default=48, metavar="N", help="tokens of an answer (default: 48)")
    parser.add_argument("--models", nargs="*", default=list(make_configs()), metavar="NAME", help=f"of {', '.join(make_configs())}")
    parser.add_argument("--output", metavar="DIR", help="where the folders of the models stay")
    options = parser.parse_args()
    transformers.utils.logging.set_verbosity_error()
    transformers.utils.logging.disable_progress_bar()
    print(f"{options.devices} devices; tokens per second:{'ShardKit':>29}{'transformers':>14}")
    with tempfile.TemporaryDirectory() as temporary:
        for name in options.models:
            run(name, *make_configs()[name], options.devices, options.tokens, Path(options.output or temporary))


if __name__ == "__main__":
    main()
