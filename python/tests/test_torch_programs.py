#!/usr/bin/env python3
"""Prefill and decode of one PyTorch module with a cache, in one program. Needs the wheels."""

import numpy as np
import torch
from torch import nn
from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel

import shardkit

WIDTH, HIDDEN, VOCABULARY, LENGTH, PROMPT = 24, 40, 30, 16, 7


class Block(nn.Module):
    """Attention over a cache of keys and values, and a gated network."""

    def __init__(self):
        super().__init__()
        self.embedding, self.head = nn.Embedding(VOCABULARY, WIDTH), nn.Linear(WIDTH, VOCABULARY, bias=False)
        self.q, self.k, self.v, self.o = (nn.Linear(WIDTH, WIDTH, bias=False) for _ in range(4))
        self.gate, self.up, self.down = nn.Linear(WIDTH, HIDDEN, bias=False), nn.Linear(WIDTH, HIDDEN), nn.Linear(HIDDEN, WIDTH)
        self.norm = nn.RMSNorm(WIDTH)
        self.register_buffer("keys", torch.zeros(LENGTH, WIDTH))
        self.register_buffer("values", torch.zeros(LENGTH, WIDTH))

    def forward(self, tokens, positions):
        x = self.embedding(tokens)
        h = self.norm(x)
        self.keys.index_copy_(0, positions, self.k(h))
        self.values.index_copy_(0, positions, self.v(h))
        seen = torch.arange(LENGTH)[None, :] <= positions[:, None]
        scores = torch.where(seen, self.q(h) @ self.keys.T / WIDTH**0.5, -1e9)
        x = x + self.o(torch.softmax(scores, dim=-1) @ self.values)
        return self.head(x + self.down(nn.functional.silu(self.gate(x)) * self.up(x)))[-1]


def generate(prefill, decode, tokens, steps=LENGTH - PROMPT):
    logits = [prefill(tokens, torch.arange(PROMPT))]
    found = []
    for i in range(steps):
        found.append(int(np.argmax(logits[-1])))
        logits.append(decode(torch.tensor(found[-1:]), torch.tensor([PROMPT + i])))
    return found, np.array(logits)


def main():
    torch.manual_seed(0)
    module, tokens = Block().eval(), torch.randint(0, VOCABULARY, (PROMPT,))
    for weight in module.parameters():
        nn.init.normal_(weight, std=0.3)
    plan = {"q": ColwiseParallel(), "k": ColwiseParallel(), "v": ColwiseParallel(), "o": RowwiseParallel(), "gate": ColwiseParallel(), "up": ColwiseParallel(), "down": RowwiseParallel()}
    mesh = {"data": 2, "model": 2}
    for given in (plan, {}), ({}, plan):  # in one of them; the other follows
        models = {
            "prefill": shardkit.import_torch(module, tokens, torch.arange(PROMPT), mesh=mesh, plan=given[0]),
            "decode": shardkit.import_torch(module, tokens[:1], torch.tensor([PROMPT]), mesh=mesh, plan=given[1]),
        }
        with shardkit.compile(models) as program:

            def call(name, program=program):
                function = program[name]

                def run(tokens, positions):
                    logits, changed = function(tokens, positions, resident=True)
                    for n, v in changed.items():  # what one has changed the other takes
                        program.session.assign(n, v)
                    return logits.numpy()

                return run

            found, logits = generate(call("prefill"), call("decode"), tokens)
            layouts = [{a.name: a.sharding for a in f.arguments if a.name not in ("tokens", "positions")} for f in program.session.values()]
            assert layouts[0] == layouts[1] and layouts[0]["gate.weight"] == '<@mesh, [{"model"}, {}]>', layouts
            assert layouts[0]["keys"] == '<@mesh, [{}, {"model"}]>', layouts
            assert program.session.notes == [], program.session.notes
        reference = Block().eval()
        reference.load_state_dict(module.state_dict())
        with torch.no_grad():
            expected, expected_logits = generate(*[lambda *args: reference(*args).numpy()] * 2, tokens)
        assert found == expected and len(set(expected)) >= 3, (found, expected)
        np.testing.assert_allclose(logits, expected_logits, rtol=1e-4, atol=1e-5)
    print("prefill and decode: passed")


if __name__ == "__main__":
    main()
