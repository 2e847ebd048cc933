"""Tactics for kinds of models. Each function names the axes of a mesh, and says what it needs of their sizes: that is checked when it is
applied, and an axis that does not fit is an error with the sizes that do. An axis of None leaves its tactic out.

    plan = shardkit.plan(step, params, tokens, mesh=mesh, tactics=shardkit.recipes.gpt("data", "model", zero=1))"""

from __future__ import annotations

from .planning.tactics import Tactics


def gpt(data: str | None = "data", model: str | None = "model", zero: int = 0, sequence: bool = False) -> Tactics:
    """Transformers with attention of as many heads for keys and values as for queries, and MLPs of two layers.

    Needs: `data` divides the batch; `model` divides the heads and the hidden size of MLPs, and with `sequence` the length of sequences,
    by which the values between blocks are sharded then. Tables and the last layer are sharded by `model` where it divides the vocabulary.
    `zero`: the stage, 0 for none."""
    return _compose(data, model, zero, sequence)


def llama(data: str | None = "data", model: str | None = "model", zero: int = 0, sequence: bool = False) -> Tactics:
    """Transformers with groups of heads that share keys and values, and gated MLPs.

    Needs: `data` divides the batch; `model` divides the heads of keys and values, which are fewer than those of queries, and the hidden
    size; with `sequence` the length of sequences. `zero`: the stage, 0 for none."""
    return _compose(data, model, zero, sequence)


def moe(data: str | None = "data", expert: str = "model", model: str | None = None, zero: int = 0) -> Tactics:
    """Layers of experts, each device having some of them.

    Needs: `data` divides the batch, `expert` the number of experts. It may be the axis of the batch or of the model too. `model`: the axis
    of attention and of the layers beside the experts, as in `gpt`; of one beside that of experts, of the matrices of experts too. `zero`: the stage, 0 for none."""
    tactics = Tactics() if data is None else Tactics().dp(data)
    tactics = tactics.ep(expert)
    return _finish(tactics if model is None else tactics.megatron(model), zero)


def convolution(data: str | None = "data", model: str | None = None, zero: int = 0) -> Tactics:
    """Networks of convolutions: the batch is sharded; with `model` the channels between pairs of convolutions too.

    Needs: `data` divides the batch, `model` the channels between two convolutions of a block. `zero`: the stage, 0 for none."""
    return _compose(data, model, zero, False)


def _compose(data: str | None, model: str | None, zero: int, sequence: bool) -> Tactics:
    tactics = Tactics()
    if data is not None:
        tactics = tactics.dp(data)
    if model is not None:
        tactics = tactics.megatron(model)
        if sequence:
            tactics = tactics.sp(model)
    return _finish(tactics, zero)


def _finish(tactics: Tactics, zero: int) -> Tactics:
    return (tactics.zero(zero) if zero else tactics).require_all()
