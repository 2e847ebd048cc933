"""Mixtures of experts of Hugging Face's transformers, token by token.

What this library runs sorts the tokens by their experts: it moves them between devices and between microbatches, and takes the whole
batch at once. Here each expert computes all tokens, and each token takes what its experts make of it: experts that are spread over
devices add up, and tokens stay where they are."""

from __future__ import annotations

import contextlib
import sys
from typing import Any, Iterator

import torch


@contextlib.contextmanager
def by_token() -> Iterator[None]:
    """While it lasts, the library's layers of experts compute so, whichever of its implementations the model names."""
    library: Any = sys.modules.get("transformers.integrations.moe")
    interface = getattr(library, "ALL_EXPERTS_FUNCTIONS", None)
    if interface is None:
        yield
        return
    known = {name: interface.get(name) for name in [*interface, "eager"]}
    before = {n: f for n, f in known.items() if f is None or getattr(f, "__module__", "").startswith("transformers.")}
    for name, function in before.items():
        interface[name] = _forward if function is None else _choose(function)
    try:
        yield
    finally:
        for name, function in before.items():
            del interface[name]
            if interface.get(name) is not function:
                interface[name] = function


def _choose(function: Any) -> Any:
    """Layers that are kept in another way are left to the library."""

    def forward(experts: Any, *args: Any, **kwargs: Any) -> Any:
        return (_forward if _is_plain(experts) else function)(experts, *args, **kwargs)

    return forward


def _is_plain(experts: Any) -> bool:
    names = ["gate_up_proj" if experts.has_gate else "up_proj", "down_proj"]
    return all(isinstance(getattr(experts, n, None), torch.Tensor) and getattr(experts, n).dim() == 3 for n in names)


def _forward(experts: Any, x: Any, chosen: Any, scores: Any) -> Any:
    """Tokens by their features; which experts each has chosen, by number, and with which scores. A number beyond the experts is none."""

    def project(values: Any, name: str) -> Any:
        weight = getattr(experts, name)
        product = torch.matmul(values, weight if experts.is_transposed else weight.transpose(1, 2))
        return product + getattr(experts, f"{name}_bias").unsqueeze(1) if experts.has_bias else product

    matches = chosen.unsqueeze(-1) == torch.arange(experts.num_experts, device=chosen.device)  # tokens, choices, experts
    share = torch.where(matches, scores.unsqueeze(-1), 0).sum(1)
    inside = project(x.unsqueeze(0), "gate_up_proj" if experts.has_gate else "up_proj")
    # What an expert makes of a token that is not its own, however large, counts nowhere.
    inside = torch.where(matches.any(1).T.unsqueeze(-1), inside, 0)
    inside = experts._apply_gate(inside) if experts.has_gate else experts.act_fn(inside)
    made = project(inside, "down_proj")
    if getattr(experts, "has_post_expert_norm", False):
        made = experts.post_expert_norm(made)
    return (made * share.T.unsqueeze(-1)).sum(0).to(x.dtype)
