"""Attention of sequences of several lengths, one after the other (`torch.nn.attention.varlen`)."""

from __future__ import annotations

from typing import Any, Sequence
from unittest import mock

import torch

from ..errors import ShardKitError


def _find_sequences(tokens: int, ends: Any) -> tuple[Any, Any]:
    """Of each token the number of its sequence, and how far from the end of that it is: -1 for the last one. `ends`: of the sequences."""
    position = torch.arange(tokens, device=ends.device)
    sequence = (position[:, None] >= ends[None, :]).sum(1)
    return sequence, position - ends[sequence.clamp(max=ends.shape[0] - 1)]


def varlen(
    query: Any, key: Any, value: Any, cu_seq_q: Any, cu_seq_k: Any, max_q: Any, max_k: Any, is_causal: bool = False,
    scale: float | None = None, window_size: Sequence[int] | None = None, enable_gqa: bool = False, seqused_k: Any = None,
    block_table: Any = None, num_splits: int | None = None, backend: int = 0,
) -> Any:  # fmt: skip
    """By a mask of the pairs of tokens of one sequence, whose last tokens stand at one another. Tokens after all sequences give zeros. Caches
    are an error."""
    if cu_seq_k is None or seqused_k is not None or block_table is not None:
        raise ShardKitError("error: varlen_attn with a cache (seqused_k, block_table), expected cu_seq_k and keys of the call alone")
    left, right = window_size if window_size is not None else (-1, -1)
    right = 0 if is_causal else right
    groups = query.shape[1] // key.shape[1]
    if groups > 1:
        key, value = key.repeat_interleave(groups, 1), value.repeat_interleave(groups, 1)
    of_query, query_at = _find_sequences(query.shape[0], cu_seq_q[1:])
    of_key, key_at = _find_sequences(key.shape[0], cu_seq_k[1:])
    distance = key_at[None, :] - query_at[:, None]
    seen = (of_query[:, None] == of_key[None, :]) & (of_query < cu_seq_q.shape[0] - 1)[:, None]
    if left >= 0:
        seen = seen & (distance >= -left)
    if right >= 0:
        seen = seen & (distance <= right)
    scale = query.shape[-1] ** -0.5 if scale is None else scale
    scores = torch.matmul(query.transpose(0, 1), key.permute(1, 2, 0)).float() * scale
    scores = torch.where(seen, scores, torch.finfo(torch.float32).min)
    largest = scores.amax(-1, keepdim=True)
    powers = torch.where(seen, torch.exp(scores - largest), 0.0)
    total = powers.sum(-1, keepdim=True)
    shares = (powers / torch.where(total == 0, 1.0, total)).to(value.dtype)
    result = torch.matmul(shares, value.transpose(0, 1)).transpose(0, 1)
    return result, (largest + torch.log(total)).squeeze(-1), torch.zeros(2, dtype=torch.int64)



def replace_varlen() -> Any:
    """In this context PyTorch's op, which has kernels for some GPUs alone, is computed so, and its gradients too."""
    return mock.patch.object(torch.ops.torch_attn, "_varlen_attn", varlen, create=True)
