"""Mixtures of experts of Hugging Face's transformers, token by token.

What this library runs sorts the tokens by their experts: it moves them between devices and between microbatches, and takes the whole
batch at once. Here each expert computes all tokens, and each token takes what its experts make of it: experts that are spread over
devices add up, and tokens stay where they are."""

from __future__ import annotations

import contextlib
import functools
import sys
from typing import Any, Iterator
from unittest import mock

import torch
from torch._subclasses.fake_tensor import FakeTensor
from torch.overrides import TorchFunctionMode


@contextlib.contextmanager
def by_token(module: Any) -> Iterator[None]:
    """While it lasts, the library's layers of experts in a module compute so, whichever of its implementations the model names."""
    with contextlib.ExitStack() as stack:
        for layer in module.modules():
            kind = type(layer)
            if not kind.__module__.startswith("transformers."):
                continue
            if kind.__name__ in _LOOPS:
                one, count, is_one_hot = _LOOPS[kind.__name__]
                function = functools.partial(_sum_experts, functools.partial(one, layer, layer.forward), getattr(layer, count), is_one_hot)
                stack.enter_context(_replace(layer, "forward", function))
            elif kind.__name__ == "JetMoeTopKGating":
                stack.enter_context(_replace(layer, "forward", functools.partial(_keep_lists, layer.forward)))
            elif kind.__name__ == "JetMoeParallelExperts":
                stack.enter_context(_replace(layer, "forward", functools.partial(_project_sorted, layer)))
        with _replace_interface():
            yield


@contextlib.contextmanager
def _replace(layer: Any, name: str, function: Any) -> Iterator[None]:
    before = vars(layer).get(name)
    setattr(layer, name, function)
    try:
        yield
    finally:
        if before is None:
            delattr(layer, name)
        else:
            setattr(layer, name, before)


def _sum_experts(one: Any, count: int, is_one_hot: bool, x: Any, chosen: Any, scores: Any) -> Any:
    """What each expert makes of all tokens; tokens take what theirs make."""
    tokens = x.numel() // x.shape[-1]
    matches = chosen.reshape(tokens, -1, count) != 0 if is_one_hot else chosen.reshape(tokens, -1, 1) == torch.arange(count)
    share = torch.where(matches, scores.reshape(tokens, -1, 1), 0).sum(1)
    total = torch.zeros_like(x)
    for e in range(count):
        made = one(x, torch.nn.functional.one_hot(torch.full([tokens, 1], e), count) if is_one_hot else torch.full([tokens, 1], e), share[:, e : e + 1], e)
        total = total + torch.where(matches[:, :, e].any(1).reshape([*x.shape[:-1], 1]), made.reshape(x.shape), 0).to(x.dtype)
    return total


def _alone(_: Any, forward: Any, x: Any, chosen: Any, share: Any, __: int) -> Any:
    """By the loop of the layer, as if all tokens had chosen one expert: then it has one iteration and no size that data decide."""
    return forward(x, chosen, share)


def _longcat(layer: Any, _: Any, x: Any, __: Any, share: Any, e: int) -> Any:
    if e >= layer.num_routed_experts or layer.gate_up_proj is None:  # which computes nothing
        return x * share
    gate, up = torch.nn.functional.linear(x, layer.gate_up_proj[e]).chunk(2, dim=-1)
    return torch.nn.functional.linear(layer.act_fn(gate) * up, layer.down_proj[e]) * share


_LOOPS = {
    "DbrxExperts": (_alone, "num_experts", False),
    "LongcatFlashExperts": (_longcat, "total_experts", False),
    "NllbMoeExperts": (_alone, "num_experts", False),
    "Step3p7Experts": (_alone, "num_experts", False),
    "SwitchTransformersExperts": (_alone, "num_experts", True),
}
"""Layers with a loop over the experts that tokens have chosen: one expert of it, which attribute counts them, and whether choices are
one-hot."""


class _Lists(TorchFunctionMode):  # type: ignore[misc]
    """A list of numbers that depend on data is the tensor itself."""

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return args[0] if getattr(func, "__name__", "") == "tolist" else func(*args, **(kwargs or {}))


def _keep_lists(forward: Any, *args: Any) -> Any:
    with _Lists(), mock.patch.object(FakeTensor, "tolist", lambda tensor: tensor):
        return forward(*args)


def _project_sorted(layer: Any, x: Any, sizes: Any) -> Any:
    """Of rows that are sorted by their experts; `sizes`: how many each expert has."""
    ends = sizes.cumsum(0).unsqueeze(-1)
    rows = torch.arange(x.shape[0])
    own = (rows < ends) & (rows >= ends - sizes.unsqueeze(-1))  # experts by rows
    product = torch.bmm(x.unsqueeze(0).expand(layer.num_experts, -1, -1), layer.weight.transpose(1, 2))
    return torch.where(own.unsqueeze(-1), product, 0).sum(0)


@contextlib.contextmanager
def _replace_interface() -> Iterator[None]:
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
        # Not by matmul, which joins experts and columns where gradients are asked for.
        product = torch.bmm(values, weight if experts.is_transposed else weight.transpose(1, 2))
        return product + getattr(experts, f"{name}_bias").unsqueeze(1) if experts.has_bias else product

    matches = chosen.unsqueeze(-1) == torch.arange(experts.num_experts, device=chosen.device)  # tokens, choices, experts
    share = torch.where(matches, scores.unsqueeze(-1), 0).sum(1)
    inside = project(x.unsqueeze(0).expand(experts.num_experts, -1, -1), "gate_up_proj" if experts.has_gate else "up_proj")
    # What an expert makes of a token that is not its own, however large, counts nowhere, and the compiler leaves it out.
    own = matches.any(1).T.unsqueeze(-1)  # experts, tokens
    inside = torch.where(own, inside, 0)
    inside = experts._apply_gate(inside) if experts.has_gate else experts.act_fn(inside)
    made = project(inside, "down_proj")
    if getattr(experts, "has_post_expert_norm", False):
        made = experts.post_expert_norm(made)
    return torch.where(own, made * share.T.unsqueeze(-1), 0).sum(0).to(x.dtype)
