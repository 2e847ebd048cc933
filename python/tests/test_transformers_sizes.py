#!/usr/bin/env python3
"""Models of transformers with any batch and length: one program, beside the library, at sizes below the number of devices too. Needs the
wheels."""

import tempfile

import torch
import transformers

import shardkit
from samples import find_wrong_error, run_tests

transformers.utils.logging.disable_progress_bar()
SIZES = {"vocab_size": 96, "hidden_size": 32, "num_attention_heads": 4, "num_hidden_layers": 2, "intermediate_size": 48}


def save(model_class, config):
    torch.manual_seed(0)
    module = model_class(config).eval()
    directory = tempfile.mkdtemp()
    module.save_pretrained(directory)
    return module, directory


def make_llama(**options):
    config = transformers.LlamaConfig(**SIZES, num_key_value_heads=2, max_position_embeddings=128, **options)
    return save(transformers.LlamaForCausalLM, config)


def check_generation(module, programs, batch, length, steps=6):
    """A prompt, and tokens that follow it: the cache grows by one each time."""
    tokens = torch.randint(0, 96, (batch, length))
    logits, cache = programs.prefill(tokens, donate=True)
    for step in range(steps):
        expected = module(tokens).logits[:, -1].detach()
        torch.testing.assert_close(logits, expected, atol=2e-6, rtol=1e-5)
        following = expected.argmax(-1, keepdim=True)
        tokens = torch.cat([tokens, following], 1)
        logits, cache = programs.decode(following, donate=True)
        assert cache["cache.1.keys"].shape == (batch, 2, length + step + 1, 8)


def test_functions() -> None:
    """Heads and batch are sharded."""
    module, directory = make_llama()
    models = shardkit.import_transformers(
        directory, mesh={"data": 2, "model": 2}, axis="model", plan="hf", functions=["score", "prefill", "decode"], length=(1, 64), batch=(1, 8)
    )
    with models.compile() as programs:
        programs.load(directory)
        problem = find_wrong_error(lambda: programs.decode(torch.zeros((1, 1), dtype=torch.int64), donate=True), r"there is no cache\.0\.keys yet, expected a step")
        assert not problem, problem
        for batch, length in ((1, 1), (3, 2), (2, 17), (8, 64)):
            tokens = torch.randint(0, 96, (batch, length))
            torch.testing.assert_close(programs.score(tokens), module(tokens).logits.detach(), atol=2e-6, rtol=1e-5)
        for batch, length in ((1, 1), (3, 5), (8, 30)):
            check_generation(module, programs, batch, length)
        programs.prefill(torch.zeros((1, 64), dtype=torch.int64), donate=True)
        problem = find_wrong_error(lambda: programs.decode(torch.zeros((1, 1), dtype=torch.int64), donate=True), "size 'cache' is 64, expected one from 1 to 63")
        assert not problem, problem
        problem = find_wrong_error(lambda: programs.score(torch.zeros((9, 2), dtype=torch.int64)), "size 'batch' is 9, expected one from 1 to 8")
        assert not problem, problem


def test_encoder() -> None:
    config = transformers.BertConfig(**SIZES, max_position_embeddings=64)
    module, directory = save(transformers.BertModel, config)
    models = shardkit.import_transformers(directory, length=(1, 64), batch=(1, 8))
    with models.compile() as programs:
        programs.load(directory)
        for batch, length in ((1, 1), (3, 17), (8, 64)):
            tokens = torch.randint(0, 96, (batch, length))
            found = programs.forward(input_ids=tokens)
            torch.testing.assert_close(found.last_hidden_state, module(tokens).last_hidden_state.detach(), atol=2e-6, rtol=1e-5)


def test_errors() -> None:
    _, directory = make_llama()
    for options, expected in (
        ({"length": (8, 1)}, r"length is \(8, 1\), expected a positive number, or the least and the largest one, such as \(1, 64\)"),
        ({"batch": (0, 4)}, r"batch is \(0, 4\), expected a positive number"),
        ({"length": (1, 2, 3)}, r"length is \(1, 2, 3\), expected a positive number"),
    ):
        problem = find_wrong_error(lambda: shardkit.import_transformers(directory, **options), expected)
        assert not problem, problem


if __name__ == "__main__":
    run_tests(globals())
