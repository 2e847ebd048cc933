"""Models in .gguf files of llama.cpp: the configuration from the metadata, names of tensors, and weights that stay in blocks."""

from __future__ import annotations

import dataclasses
import math
import re
import struct
from pathlib import Path
from typing import Any, BinaryIO, Mapping

import torch

from ..errors import ShardKitError
from .conversion import Stored, Symbol, Value, add_constant, cast, concat, make_symbol, pack, reshape, slice_of, unpack
from .layouts import QuantizedWeight, Shards, Sizes, choose_block, repeat
from .quantized import STACK, is_stack, replace_stack

_ARCHITECTURES = {
    "llama": ("llama", "LlamaForCausalLM"), "qwen2": ("qwen2", "Qwen2ForCausalLM"), "qwen3": ("qwen3", "Qwen3ForCausalLM"),
    "qwen3moe": ("qwen3_moe", "Qwen3MoeForCausalLM"), "phi3": ("phi3", "Phi3ForCausalLM"), "gemma2": ("gemma2", "Gemma2ForCausalLM"),
    "gemma3": ("gemma3_text", "Gemma3ForCausalLM"),
}  # fmt: skip
"""By general.architecture, the type and the class of transformers. A llama with experts is a mixtral."""

_SETTINGS = {
    "attention.key_length": "head_dim", "attention.sliding_window": "sliding_window", "attn_logit_softcapping": "attn_logit_softcapping",
    "final_logit_softcapping": "final_logit_softcapping", "expert_feed_forward_length": "moe_intermediate_size", "expert_used_count": "num_experts_per_tok",
}  # fmt: skip
"""Names of metadata that the library does not read for each architecture."""

_PLAIN = {0: torch.float32, 1: torch.float16, 30: torch.bfloat16}
_FIELDS = {
    8: ("Q8_0", 32, {"scales": (0, 2), "numbers": (2, 32)}),
    12: ("Q4_K", 256, {"scales": (0, 4), "inner": (4, 12), "numbers": (16, 128)}),
    14: ("Q6_K", 256, {"numbers": (0, 128), "high": (128, 64), "inner": (192, 16), "scales": (208, 2)}),
}
"""Types in blocks: how many numbers a block has, and the first byte and the bytes of what it consists of."""

_PACKED = {12: (64, {"numbers": 4}), 14: (128, {"numbers": 4, "high": 2})}
"""How bits are packed: of so many inputs, each byte has the first ones, from its lowest bits on, at equal distances."""

_MODULES = {
    "token_embd": "model.embed_tokens", "output_norm": "model.norm", "output": "lm_head", "attn_norm": "input_layernorm", "attn_q": "self_attn.q_proj",
    "attn_k": "self_attn.k_proj", "attn_v": "self_attn.v_proj", "attn_output": "self_attn.o_proj", "attn_q_norm": "self_attn.q_norm",
    "attn_k_norm": "self_attn.k_norm", "ffn_norm": "post_attention_layernorm", "ffn_gate": "mlp.gate_proj", "ffn_up": "mlp.up_proj", "ffn_down": "mlp.down_proj",
    "ffn_gate_inp": "mlp.gate",
}  # fmt: skip

_EXPERTS = {"ffn_gate_exps": "gate_up_proj", "ffn_up_exps": "gate_up_proj", "ffn_down_exps": "down_proj"}
"""Tensors of all experts of a layer, and the weights of transformers that they are parts of, one after the other along the outputs."""

_GEMMA_NORMS = {"post_attention_norm": "post_attention_layernorm", "ffn_norm": "pre_feedforward_layernorm", "post_ffw_norm": "post_feedforward_layernorm"}

_OWN_MODULES = {
    "phi3": {"attn_qkv": "self_attn.qkv_proj", "ffn_up": "mlp.gate_up_proj"},
    "gemma2": _GEMMA_NORMS,
    "gemma3": _GEMMA_NORMS,
}
"""Of an architecture, before those of all."""


@dataclasses.dataclass(frozen=True)
class Entry:
    """A tensor of a file, major dim first; `kind` is the number of its type."""

    shape: tuple[int, ...]
    kind: int


def find_file(path: str | Path) -> Path | None:
    """The .gguf file that a path names, or the only weights of the folder that it names."""
    path = Path(path)
    if path.suffix == ".gguf" and path.is_file():
        return path
    if not path.is_dir() or any(path.glob("*.safetensors")):
        return None
    files = sorted(path.glob("*.gguf"))
    if len(files) > 1:
        raise ShardKitError(f"error: {path}: {len(files)} files of .gguf, expected one: name it")
    return files[0] if files else None


class Checkpoint:
    """What a file has."""

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            with open(path, "rb") as file:
                self.values, self.tensors = _read(file)
        except (OSError, ValueError, struct.error, OverflowError, MemoryError) as error:
            raise ShardKitError(f"error: {path}: {error}, expected a .gguf file of version 2 or 3") from None

    def make_config(self) -> Any:
        """The configuration of transformers that the metadata describe."""
        import transformers
        from transformers.integrations.ggml import GGUF_CONFIG_MAPPING

        kind = str(self.values.get("general.architecture"))
        self.modules = _MODULES | _OWN_MODULES.get(kind, {})
        if kind not in _ARCHITECTURES:
            raise ShardKitError(f"error: {self.path}: general.architecture is '{kind}', expected one of {', '.join(_ARCHITECTURES)}")
        scaling = self.values.get(f"{kind}.rope.scaling.type", "none")
        if scaling != "none" or "rope_freqs.weight" in self.tensors:
            raise ShardKitError(f"error: {self.path}: rotations are scaled ({scaling if scaling != 'none' else 'rope_freqs.weight'}), expected no scaling")
        model_type, model_class = _ARCHITECTURES[kind]
        mapping = GGUF_CONFIG_MAPPING[kind if kind in GGUF_CONFIG_MAPPING else model_type]
        given = {name: self.values[f"{kind}.{key}"] for key, name in mapping.items() if name and f"{kind}.{key}" in self.values}
        given |= {name: self.values[f"{kind}.{key}"] for key, name in _SETTINGS.items() if f"{kind}.{key}" in self.values}
        if kind in ("gemma2", "gemma3"):  # llama.cpp knows by the number of layers the model of 27B, whose scores are divided otherwise
            width, heads = given.get("hidden_size", 0), given.get("num_attention_heads", 1)
            given["query_pre_attn_scalar"] = width // heads if given.get("num_hidden_layers") == {"gemma2": 46, "gemma3": 62}[kind] else given.get("head_dim", 256)
        if kind == "llama" and self.values.get("llama.expert_count", 0):
            model_type, model_class = "mixtral", "MixtralForCausalLM"
            given["num_local_experts"] = self.values["llama.expert_count"]
        if kind == "qwen3moe":
            given["norm_topk_prob"] = True
        if kind == "gemma3" and "rope_theta" in given:  # of every sixth layer; llama.cpp knows that of the others
            bases = {"full_attention": given.pop("rope_theta"), "sliding_attention": 10000.0}
            given["rope_parameters"] = {layers: {"rope_type": "default", "rope_theta": base} for layers, base in bases.items()}
        if "rope_theta" in given:
            given["rope_parameters"] = {"rope_type": "default", "rope_theta": given.pop("rope_theta")}
        embedding = self.tensors.get("token_embd.weight")
        if embedding is None or len(embedding.shape) != 2:
            raise ShardKitError(f"error: {self.path}: no token_embd.weight of two dims, expected the tensors of a language model")
        given |= {"vocab_size": embedding.shape[0], "pad_token_id": None}
        self.is_tied = "output.weight" not in self.tensors
        given["tie_word_embeddings"] = self.is_tied and embedding.kind in _PLAIN
        try:
            return transformers.CONFIG_MAPPING[model_type](**given, architectures=[model_class])
        except Exception as error:  # what validates has no common base
            raise ShardKitError(f"error: {self.path}: {str(error).splitlines()[0]}, expected metadata of {kind}") from None

    @property
    def stored(self) -> dict[str, Stored]:
        """The tensors under their names in the file; those of blocks are bytes."""
        return {name: self._get(name, entry) for name, entry in self.tensors.items()}

    def _get(self, name: str, entry: Entry) -> Stored:
        if entry.kind in _PLAIN:
            return Stored(entry.shape, _PLAIN[entry.kind], self.path)
        if entry.kind not in _FIELDS:
            known = [str(t).removeprefix("torch.") for t in _PLAIN.values()] + [f[0] for f in _FIELDS.values()]
            raise ShardKitError(f"error: {self.path}: {name} has type number {entry.kind}, expected one of {', '.join(known)}")
        _, block, fields = _FIELDS[entry.kind]
        if not entry.shape or entry.shape[-1] % block:
            raise ShardKitError(f"error: {self.path}: {name} has rows of {entry.shape[-1:]} numbers, expected blocks of {block}")
        return Stored((*entry.shape[:-1], entry.shape[-1] // block * sum(n for _, n in fields.values())), torch.uint8, self.path)

    def replace_layers(self, module: Any) -> None:
        """Layers whose weights are stored in blocks."""
        stacks: dict[str, dict[str, Entry]] = {}
        for name, entry in self.tensors.items():
            if match := _find_experts(name):
                stacks.setdefault(match.group(1), {})[match.group(2)] = entry
            elif entry.kind in _FIELDS and name.endswith(".weight"):
                self._replace(module, self._find_module(name), entry)
        for layer, parts in stacks.items():
            self._replace_experts(module, layer, parts)
        if self.is_tied and self.tensors["token_embd.weight"].kind in _FIELDS:
            self._replace(module, "lm_head", self.tensors["token_embd.weight"])

    def _replace(self, module: Any, name: str, entry: Entry) -> None:
        owner, _, key = name.rpartition(".")
        try:
            parent = module.get_submodule(owner)
            layer = getattr(parent, key)
        except AttributeError:
            raise ShardKitError(f"error: {self.path}: a tensor of {name}, which {type(module).__name__} does not have") from None
        if type(layer) is not torch.nn.Linear and not isinstance(layer, torch.nn.Embedding):
            raise ShardKitError(f"error: {self.path}: {name} is stored in blocks of {_FIELDS[entry.kind][0]}, expected a linear layer or an embedding")
        found = tuple(layer.weight.shape)
        if len(entry.shape) != 2 or found != entry.shape:
            raise ShardKitError(f"error: {self.path}: the weight of {name} is stored with shape {entry.shape}, expected {found} by the metadata")
        kind = BlocksEmbedding if isinstance(layer, torch.nn.Embedding) else BlocksLinear
        blocks = kind(Sizes(entry.shape[0], entry.shape[1]), entry.kind, getattr(layer, "bias", None), layer.weight.dtype)
        blocks.scale = float(torch.tensor(getattr(layer, "scalar_embed_scale", 1.0), dtype=blocks.dtype, device="cpu"))
        setattr(parent, key, blocks)

    def _replace_experts(self, module: Any, layer: str, parts: Mapping[str, Entry]) -> None:
        """`parts`: what the file has of the experts of a layer."""
        where = f"error: {self.path}: blk.{layer}"
        if parts.keys() != _EXPERTS.keys():
            raise ShardKitError(f"{where} has experts in {', '.join(parts)}, expected {', '.join(_EXPERTS)}")
        gate, up, down = (parts[key] for key in _EXPERTS)
        try:
            experts = module.get_submodule(f"model.layers.{layer}.mlp.experts")
        except AttributeError:
            experts = None
        if experts is None or not is_stack(experts):
            raise ShardKitError(f"{where} has experts, which {type(module).__name__} does not have in gate_up_proj and down_proj")
        if gate.kind != up.kind or gate.shape != up.shape or len({kind in _FIELDS for kind in (gate.kind, down.kind)}) > 1:
            raise ShardKitError(f"{where} has experts of different types, expected one for ffn_gate_exps and ffn_up_exps, and all in blocks or none")
        count, outputs, *rest = gate.shape if len(gate.shape) == 3 else (0, 0)
        shapes = {"gate_up_proj": (count, 2 * outputs, *rest), "down_proj": down.shape}
        for key, shape in shapes.items():
            if tuple(getattr(experts, key).shape) != shape:
                raise ShardKitError(f"{where}: {key} of the experts is stored with shape {shape}, expected {tuple(getattr(experts, key).shape)} by the metadata")
        if gate.kind in _FIELDS:
            kinds = {"gate_up_proj": gate.kind, "down_proj": down.kind}
            replace_stack(experts, lambda sizes, key: BlocksLinear(sizes, kinds[key], None, torch.float32))

    def _arrange_experts(self, stacks: Mapping[str, Mapping[str, Value]], found: dict[str, Any]) -> None:
        for layer, parts in stacks.items():
            for weight in ("gate_up_proj", "down_proj"):
                own = [(parts[key], self.tensors[f"blk.{layer}.{key}.weight"].kind) for key, of in _EXPERTS.items() if of == weight]
                name = f"model.layers.{layer}.mlp.experts.{weight}"
                if own[0][1] in _PLAIN:
                    found[name] = Symbol(concat([value for value, _ in own], 1))
                    continue
                fields = [_split(value, kind) for value, kind in own]
                found |= {f"{name}{STACK}.{key}": Symbol(concat([part[key] for part in fields], 1)) for key in fields[0]}

    def arrange(self, config: Any) -> dict[str, Any]:
        """The stored tensors by the names of the parameters that hold them."""
        found: dict[str, Any] = {}
        stacks: dict[str, dict[str, Value]] = {}
        for name, stored in self.stored.items():
            symbol = make_symbol(name, stored.shape, stored.dtype)
            value = symbol.value
            if match := _find_experts(name):
                stacks.setdefault(match.group(1), {})[match.group(2)] = value
                continue
            if config.model_type in ("llama", "mixtral") and (match := re.search(r"\.attn_([qk])\.", name)):
                value = _restore_rows(value, config.num_attention_heads if match.group(1) == "q" else config.num_key_value_heads)
            module, kind = self._find_module(name), self.tensors[name].kind
            if config.model_type in ("gemma2", "gemma3_text") and name.endswith("norm.weight"):  # llama.cpp stores what rows are multiplied by
                value = add_constant(value, 1.0, -1.0)
            if kind in _PLAIN:
                found[f"{module}.{name.rpartition('.')[2]}"] = Symbol(value)
                continue
            names = [module] + ["lm_head"] * (name == "token_embd.weight" and self.is_tied)
            for key, part in _split(value, kind).items():
                found |= {f"{n}.{key}": Symbol(part) for n in names}
        self._arrange_experts(stacks, found)
        return found

    def _find_module(self, name: str) -> str:
        match = re.fullmatch(r"(?:blk\.(\d+)\.)?(\w+)\.(?:weight|bias)", name)
        module = self.modules.get(match.group(2)) if match else None
        if match is None or module is None:
            raise ShardKitError(f"error: {self.path}: tensor {name}, expected those of {self.values['general.architecture']}: {', '.join(self.modules)}")
        return f"model.layers.{match.group(1)}.{module}" if match.group(1) else module

    def share(self, module: Any, values: dict[str, Value]) -> None:
        """The head that is the embedding has its parameters."""
        head, embedding = getattr(module, "lm_head", None), module.get_input_embeddings()
        if self.is_tied and isinstance(head, BlocksLinear):
            for key in _FIELDS[head.kind][2]:
                head._parameters[key] = embedding._parameters[key]
                values[f"lm_head.{key}"] = values[f"model.embed_tokens.{key}"]


def _find_experts(name: str) -> re.Match[str] | None:
    """Groups: the number of the layer, and what the experts are called."""
    return re.fullmatch(rf"blk\.(\d+)\.({'|'.join(_EXPERTS)})\.weight", name)


def _restore_rows(value: Value, heads: int) -> Value:
    """llama.cpp has the two halves of a head alternate."""
    shape = value.shape
    wide = reshape(value, (heads, shape[0] // heads // 2, 2, math.prod(shape[1:])))
    turned = Value((wide.shape[0], 2, wide.shape[1], wide.shape[3]), wide.dtype, "transpose", (wide,), (0, 2, 1, 3))
    return reshape(turned, shape)


def _split(value: Value, kind: int) -> dict[str, Value]:
    """What blocks consist of: rows (of each of several matrices), blocks, bytes."""
    fields = _FIELDS[kind][2]
    size = sum(n for _, n in fields.values())
    blocks = reshape(value, (*value.shape[:-1], value.shape[-1] // size, size))
    return {key: slice_of(blocks, len(value.shape), begin, count) for key, (begin, count) in fields.items()}


class BlocksLinear(QuantizedWeight):
    """A weight of Q8_0, Q4_K or Q6_K: bytes by outputs, blocks and bytes of a block. Blocks may be divided (`block`: the inputs of one), and
    each part has the scales of the block then."""

    def __init__(self, sizes: Sizes, kind: int, bias: Any, dtype: Any) -> None:
        super().__init__(sizes, bias)
        self.kind, self.dtype, self.block = kind, dtype, _FIELDS[kind][1]
        self.scale = 1.0  # of an embedding
        _, block, fields = _FIELDS[kind]
        for key, (_, count) in fields.items():
            self._add(key, (sizes.outputs, sizes.inputs // block, count), torch.uint8, (1, 0))

    def refine(self, name: str, values: dict[str, Value], shards: Shards) -> None:
        """Parts of blocks are packed as the blocks are, inner scales in bytes."""
        full, count = self.block, self.in_features // self.block
        inner = {12: 32, 14: 16}.get(self.kind, full)  # inputs with one inner scale

        def count_bytes(block: int) -> int:
            payload = {8: block, 12: block // 2, 14: block * 3 // 4}[self.kind]
            scales = {8: 2, 12: 4, 14: 2}[self.kind] + (0 if self.kind == 8 else (1 + (self.kind == 12)) * max(block // inner, 1))
            return sum(n for _, n in _FIELDS[self.kind][2].values()) if block == full else payload + scales

        self.block = choose_block(self.in_features, full, shards.inputs, 8, count_bytes)
        if self.block == full:
            return
        lead, block, parts = (*self.lead, self.out_features), self.block, full // self.block
        at = len(lead)
        for key in _FIELDS[self.kind][2]:
            if key == "scales":
                self._replace(key, name, values, lambda v: repeat(v, at, parts, count * parts))
            elif key == "inner":
                self._replace(key, name, values, lambda v: _divide_inner(_list_inner(v, self.kind), at, parts))
            else:
                self._replace(key, name, values, lambda v: _divide_numbers(v, self.kind, key, block))

    def dequantize(self) -> Any:
        rows = {key: value.reshape(-1, *value.shape[-2:]) for key, value in self._parameters.items() if value is not None and key != "bias"}
        return decode(self.kind, rows, self.block).reshape(*self.lead, self.out_features, self.in_features).transpose(-1, -2)


class BlocksEmbedding(BlocksLinear):
    def forward(self, ids: Any) -> Any:
        rows = {key: self._parameters[key][ids.reshape(-1)] for key in _FIELDS[self.kind][2]}
        found = decode(self.kind, rows, self.block).reshape(*ids.shape, self.in_features).to(self.dtype)
        return found if self.scale == 1 else found * self.scale


def _list_inner(inner: Value, kind: int) -> Value:
    """Inner scales of blocks in a last dim; of Q4_K, where they have six bits, bytes of factors and minima."""
    if kind != 12:
        return reshape(inner, (*inner.shape, 1))
    # Of the eight groups of a block, the last four have their upper two bits where the first four have none.
    at, shape = len(inner.shape) - 1, (*inner.shape[:-1], 4)
    low, middle, high = (slice_of(inner, at, 4 * part, 4) for part in range(3))

    def take(value: Value, shift: int, mask: int) -> Value:
        return reshape(unpack(reshape(value, (*shape, 1)), at + 1, [shift], mask), shape)

    def join(value: Value, upper: Value) -> Value:
        both = concat([reshape(v, (*shape, 1)) for v in (value, take(upper, 6, 3))], at + 1)
        return reshape(pack(both, at + 1, 4), shape)

    factors = concat([take(low, 0, 63), join(take(high, 0, 15), low)], at)
    minima = concat([take(middle, 0, 63), join(take(high, 4, 15), middle)], at)
    return concat([reshape(v, (*factors.shape, 1)) for v in (factors, minima)], at + 1)


def _divide_inner(inner: Value, dim: int, parts: int) -> Value:
    """Those of each part of a block; parts of one group have its own."""
    blocks, count, each = inner.shape[dim:]
    if count < parts:
        inner, count = repeat(inner, dim + 1, parts // count, parts), parts
    return reshape(inner, (*inner.shape[:dim], blocks * parts, count // parts * each))


def _divide_numbers(numbers: Value, kind: int, key: str, block: int) -> Value:
    """Bytes of parts of blocks."""
    lead = numbers.shape[:-2]
    count = math.prod(numbers.shape[-2:])
    group, fields = _PACKED.get(kind, (block, {}))
    bits = fields.get(key, 8)
    if block < group:
        size, at = group * bits // 8, len(lead) + 1
        numbers = unpack(reshape(numbers, (*lead, count // size, 1, size)), at, range(0, 8, bits), 2**bits - 1)
        numbers = pack(reshape(numbers, (*lead, count * 8 // bits // block, 8 // bits, block * bits // 8)), at, bits)
    size = block * bits // 8
    return reshape(numbers, (*lead, count // size, size))


def decode(kind: int, fields: Mapping[str, Any], block: int) -> Any:
    """Rows of numbers in f32."""
    rows, blocks = fields["numbers"].shape[:2]
    scale = _read_half(fields["scales"][..., :2])
    if kind == 8:
        found = _read_signed(fields["numbers"]) * scale.unsqueeze(-1)
    elif kind == 12:
        groups, halves = ((2, 2), 2) if block == 256 else ((max(block // 64, 1),), min(block // 32, 2) or 1)
        factors, minima = _read_inner(fields["inner"], (*groups, halves, 1), block)
        outer = [_read_half(fields["scales"][..., at : at + 2]).view(rows, blocks, *[1] * (len(groups) + 2)) for at in (0, 2)]
        numbers = _unpack(fields["numbers"].view(rows, blocks, *groups, 1, min(block, 64) // 2), [[0], [4]], 15)
        found = (outer[0] * factors.to(torch.float32)) * numbers.to(torch.float32) - outer[1] * minima.to(torch.float32)
    else:
        group = min(block, 128)
        run = min(group // 4, 16)
        runs = group // 4 // run
        low = _unpack(fields["numbers"].view(rows, blocks, block // group, 1, 2, runs, run), [[[[0]]], [[[4]]]], 15)
        high = _unpack(fields["high"].view(rows, blocks, block // group, 1, 1, runs, run), [[[[0]], [[2]]], [[[4]], [[6]]]], 3)
        inner = {True: (2, 2, runs), group == 32: (2, 1, 1), group < 32: (1, 1, 1)}[True]
        factors = scale.view(rows, blocks, 1, 1, 1, 1, 1) * _read_signed(fields["inner"].view(rows, blocks, block // group, *inner, 1))
        found = ((low | (high << 4)) - 32).to(torch.float32) * factors
    return found.reshape(rows, -1)


def _read_inner(inner: Any, shape: tuple[int, ...], block: int) -> tuple[Any, Any]:
    """Factors and minima of the groups of a block of Q4_K, or of a part of one."""
    rows, blocks = inner.shape[:2]
    if block < 256:
        pairs = inner.view(rows, blocks, *shape, 2).to(torch.int32)
        return pairs[..., 0], pairs[..., 1]
    # Of the eight groups of a block, the last four have their upper two bits where the first four have none.
    low, middle, high = (inner.view(rows, blocks, 3, 1, *shape[1:])[:, :, at].to(torch.int32) for at in range(3))
    first, upper, last = (torch.tensor(masks, dtype=torch.int32).view(2, 1, 1, 1) for masks in ([63, 0], [0, 48], [0, 15]))
    factors = (low & first) | ((low >> 2) & upper) | (high & last)
    minima = (middle & first) | ((middle >> 2) & upper) | ((high >> 4) & last)
    return factors, minima


def _unpack(numbers: Any, shifts: Any, mask: int) -> Any:
    """Bits of bytes, for each of the shifts, whose dims are among the last ones."""
    return torch.bitwise_and(torch.bitwise_right_shift(numbers.to(torch.int32), torch.tensor(shifts, dtype=torch.int32)), mask)


def _read_signed(numbers: Any) -> Any:
    wide = numbers.to(torch.int32)
    return torch.where(wide >= 128, wide - 256, wide).to(torch.float32)


def _read_half(pairs: Any) -> Any:
    """Two bytes as a number of f16, in f32."""
    low, high = (pairs[..., at].to(torch.int32) for at in (0, 1))
    exponent, fraction = (high >> 2) & 31, low | ((high & 3) << 8)
    normal = (fraction + 1024).to(torch.float32) * torch.exp2((exponent - 25).to(torch.float32))
    special = torch.where(fraction == 0, float("inf"), float("nan"))
    size = torch.where(exponent == 0, fraction.to(torch.float32) * 2.0**-24, torch.where(exponent == 31, special, normal))
    return torch.where(high >= 128, -size, size)


_NUMBERS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}


def _read(file: BinaryIO) -> tuple[dict[str, Any], dict[str, Entry]]:
    """Metadata, with lists as their lengths, and the tensors."""

    def take(count: int) -> bytes:
        data = file.read(count)
        if len(data) < count:
            raise ValueError(f"it ends after {file.tell()} bytes")
        return data

    def number(form: str) -> Any:
        return struct.unpack("<" + form, take(struct.calcsize(form)))[0]

    def text() -> str:
        return take(number("Q")).decode(errors="replace")

    def value(kind: int, depth: int = 0) -> Any:
        if kind == 8:
            return text()
        if kind != 9:
            if kind not in _NUMBERS:
                raise ValueError(f"metadata of type number {kind}")
            return number(_NUMBERS[kind])
        inner, count = number("I"), number("Q")
        if inner in _NUMBERS:
            file.seek(count * struct.calcsize(_NUMBERS[inner]), 1)
        elif depth == 4:
            raise ValueError("lists of metadata in each other")
        else:
            for _ in range(count):
                value(inner, depth + 1)
        return count

    if file.read(4) != b"GGUF":
        raise ValueError("it does not begin with GGUF")
    if (version := number("I")) not in (2, 3):
        raise ValueError(f"version {version}")
    num_tensors, num_values = number("Q"), number("Q")
    values: dict[str, Any] = {}
    for _ in range(num_values):
        key = text()
        values[key] = value(number("I"))
    tensors: dict[str, Entry] = {}
    for _ in range(num_tensors):
        name = text()
        shape = tuple(number("Q") for _ in range(number("I")))[::-1]
        tensors[name] = Entry(shape, number("I"))
        number("Q")
    return values, tensors
