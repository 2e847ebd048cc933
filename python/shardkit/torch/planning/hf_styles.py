"""Styles of values between modules for transformers, whose own are about weights: layers of its tensor parallelism, registered by names that say
what they do. A name is the same on all ranks, each of which registers it."""

from __future__ import annotations

from typing import Any, Mapping, Sequence

from ...errors import ShardKitError
from .callers import to_pattern
from .trial import Dim, Prepared, Style

Entry = Style | Prepared


def register(entries: Mapping[str, Entry], layers: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """The names of styles by pattern, as transformers takes them. `layers`: in order, the modules of patterns of which some are named one by
    one."""
    try:
        from transformers.distributed import tensor_parallel
    except ImportError:
        raise ShardKitError("error: styles along the sequence need transformers.distributed, expected transformers 5 or later") from None
    grouped: dict[str, dict[str, Entry]] = {}
    for key, entry in entries.items():
        grouped.setdefault(to_pattern(key), {})[key] = entry
    found = {}
    for pattern, own in grouped.items():
        if own.keys() == {pattern}:
            found[pattern] = name(own[pattern])
            layer = _make_layer(own[pattern])
        else:
            numbered = [next((e for k, e in own.items() if _is_of(n, k)), None) for n in layers[pattern]]
            found[pattern] = ",".join(f"{i}:{name(e)}" for i, e in enumerate(numbered) if e) + f" of {len(numbered)}"
            layer = _make_numbered(numbered)
        tensor_parallel.ALL_PARALLEL_STYLES.register(found[pattern], layer)
    return found


def _is_of(module: str, key: str) -> bool:
    """Whether a key, with `*` for some numbers, names a module."""
    parts, keys = module.split("."), key.split(".")
    return len(parts) == len(keys) and all(k == p or (k == "*" and p.isdigit()) for p, k in zip(parts, keys))


def name(entry: Entry) -> str:
    """`colwise_1_last`: takes shards along dim 1, makes them along the last."""
    if isinstance(entry, Style):
        kind = f"embedding_{entry.kind}" if entry.is_embedding else entry.kind
        return f"{kind}_{_spell(entry.takes)}_{_spell(entry.makes)}"
    changes = [*entry.inputs.items(), *([("output", entry.output)] if entry.output else [])]
    return "prepare_" + "_".join(f"{side}_{_spell(a)}_{_spell(b)}" for side, (a, b) in changes)


def _spell(dim: Dim) -> str:
    return "all" if dim is None else "last" if dim == -1 else str(dim)


def _place(dim: Dim) -> Any:
    from torch.distributed.tensor import Replicate, Shard

    return Replicate() if dim is None else Shard(dim)


def _change(value: Any, mesh: Any, change: tuple[Dim, Dim]) -> Any:
    """A value that this rank has as the first Dim says, as the second does."""
    from torch.distributed.tensor import DTensor

    held = value if isinstance(value, DTensor) else DTensor.from_local(value, mesh, [_place(change[0])], run_check=False)
    return held.redistribute(placements=[_place(change[1])]).to_local()


def _make_layer(entry: Entry) -> Any:
    from transformers.distributed import tensor_parallel as hf

    if isinstance(entry, Prepared):
        return _make_prepared(entry)
    if entry.kind == "sequence":
        return hf.SequenceParallel(sequence_dim=entry.takes)
    if entry.is_embedding:
        return _make_embedding(entry)
    if entry.kind == "rowwise":
        return hf.RowwiseParallel(input_layouts=_place(entry.takes), output_layouts=_place(entry.makes))
    return _make_columns(entry.takes, entry.makes)


def _make_columns(takes: Dim, makes: Dim) -> Any:
    from transformers.distributed import tensor_parallel as hf

    class Columns(hf.ColwiseParallel):  # type: ignore[misc]
        def transform_inputs_pre_forward(self, module: Any, args: Any, kwargs: Any, mesh: Any) -> Any:
            # Where nothing is differentiated, transformers takes the input for a complete one.
            if takes is not None:
                args = (_change(args[0], mesh, (takes, None)), *args[1:])
            return super().transform_inputs_pre_forward(module, args, kwargs, mesh)

    return Columns(output_layouts=_place(makes))


def _make_embedding(entry: Style) -> Any:
    from transformers.distributed import tensor_parallel as hf

    class Table(hf.EmbeddingParallel):  # type: ignore[misc]
        def transform_output_post_forward(self, module: Any, output: Any, mesh: Any) -> Any:
            made = super().transform_output_post_forward(module, output, mesh)
            return made if entry.makes is None else _change(made, mesh, (None, entry.makes))

    return Table(shard_dim=0 if entry.kind == "rowwise" else 1)


def _make_prepared(entry: Prepared) -> Any:
    import torch
    from transformers.distributed import tensor_parallel as hf

    class Boundary(hf.TensorParallelLayer):  # type: ignore[misc]
        def transform_inputs_pre_forward(self, module: Any, args: Any, kwargs: Any, mesh: Any) -> Any:
            given, named = list(args), dict(kwargs)
            for side, change in entry.inputs.items():
                held: Any = given if isinstance(side, int) else named
                held[side] = _change(held[side], mesh, change)
            return tuple(given), named

        def transform_output_post_forward(self, module: Any, output: Any, mesh: Any) -> Any:
            if entry.output is None:
                return output
            change = entry.output
            if isinstance(output, tuple):
                return tuple(_change(v, mesh, change) if isinstance(v, torch.Tensor) else v for v in output)
            return _change(output, mesh, change)

    return Boundary()


def _make_numbered(entries: Sequence[Entry | None]) -> Any:
    """Of layers that differ. transformers installs a style in the layers of a model in their order, and does not say which one it is."""
    from transformers.distributed import tensor_parallel as hf

    made = [_make_layer(e) if e else None for e in entries]

    class Numbered(hf.TensorParallelLayer):  # type: ignore[misc]
        installed = 0

        def shard_param(self, module: Any, param: Any, mesh: Any) -> None:
            """Of the parameters of a module before it is installed in it."""
            if layer := made[self.installed % len(made)]:
                layer.shard_param(module, param, mesh)

        def install_forward(self, module: Any, mesh: Any) -> Any:
            layer = made[self.installed % len(made)]
            self.installed += 1
            return layer.install_forward(module, mesh) if layer else module

    return Numbered()
