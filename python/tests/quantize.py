"""Checkpoints of quantized weights in the published layouts, and what they stand for: written with NumPy from the formats alone."""

import json
import re
import shutil
from pathlib import Path

import ml_dtypes
import numpy as np

from shardkit import safetensors

AWQ_ORDER = (0, 2, 4, 6, 1, 3, 5, 7)
"""The column of eight that each position of a word has."""


def pack(numbers, axis, order=range(8)):
    """Eight 4-bit numbers along an axis become a word of 32 bits."""
    numbers = np.moveaxis(numbers, axis, -1).astype(np.uint32)
    numbers = numbers.reshape(*numbers.shape[:-1], -1, 8)
    words = sum(numbers[..., column] << np.uint32(4 * position) for position, column in enumerate(order))
    return np.ascontiguousarray(np.moveaxis(words, -1, axis)).view(np.int32)


def draw_groups(rng, size, width, group):
    numbers, zeros = rng.integers(0, 16, (size, width)), rng.integers(1, 16, (size // group, width))
    return numbers, zeros, (rng.uniform(0.5, 1.5, zeros.shape) * 0.2 / size**0.5).astype(np.float16)


def make_gptq(rng, weight, group=16, is_ordered=False, version="gptq"):
    """What is stored for a weight of these sizes, and that weight, outputs by inputs."""
    width, size = weight.shape
    numbers, zeros, scales = draw_groups(rng, size, width, group)
    at = rng.permutation(size) // group if is_ordered else np.arange(size) // group
    stored = {"qweight": pack(numbers, 0), "qzeros": pack(zeros - (version == "gptq"), 1), "scales": scales, "g_idx": at.astype(np.int32)}
    return stored, ((numbers - zeros[at]) * scales[at].astype(np.float32)).T


def make_awq(rng, weight, group=16):
    width, size = weight.shape
    numbers, zeros, scales = draw_groups(rng, size, width, group)
    stored = {"qweight": pack(numbers, 1, AWQ_ORDER), "qzeros": pack(zeros, 1, AWQ_ORDER), "scales": scales}
    at = np.arange(size) // group
    return stored, ((numbers - zeros[at]) * scales[at].astype(np.float32)).T


def make_fp8(rng, weight, block=(16, 16)):
    width, size = weight.shape
    payload = (rng.standard_normal((width, size)) * 8).astype(ml_dtypes.float8_e4m3fn)
    scales = (rng.uniform(0.5, 1.5, (-(-width // block[0]), -(-size // block[1]))) * 0.1 / size**0.5).astype(np.float32)
    wide = scales.repeat(block[0], 0)[:width].repeat(block[1], 1)[:, :size]
    return {"weight": payload, "weight_scale_inv": scales}, payload.astype(np.float32) * wide


def make_int8(rng, weight):
    width, size = weight.shape
    payload, scb = rng.integers(-127, 128, (width, size)).astype(np.int8), (rng.uniform(0.5, 1.5, width) * 2 / size**0.5).astype(np.float32)
    return {"weight": payload, "SCB": scb, "weight_format": np.zeros((), np.uint8)}, payload * (scb[:, None] / np.float32(127))


NF4 = np.array([
    -1.0, -0.6961928009986877, -0.5250730514526367, -0.39491748809814453, -0.28444138169288635, -0.18477343022823334, -0.09105003625154495, 0.0,
    0.07958029955625534, 0.16093020141124725, 0.24611230194568634, 0.33791524171829224, 0.44070982933044434, 0.5626170039176941, 0.7229568362236023, 1.0,
], np.float32)  # fmt: skip
FP4 = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6, -0.0, -0.5, -1, -1.5, -2, -3, -4, -6], np.float32)


def make_nf4(rng, weight, is_nested=False):
    """Of bitsandbytes: blocks of 64 numbers of the weight as one row; scales may be quantized themselves, 256 with one scale."""
    numbers = rng.integers(0, 16, weight.size)
    blocks = -(-weight.size // 64)
    state = {"quant_type": "nf4", "blocksize": 64, "dtype": "float32", "shape": list(weight.shape)}
    stored = {"weight": (numbers[::2] << 4 | numbers[1::2]).astype(np.uint8).reshape(-1, 1), "weight.quant_map": NF4}
    if is_nested:
        codes, table = rng.integers(0, 256, blocks).astype(np.uint8), np.sort(rng.uniform(-0.5, 0.5, 256)).astype(np.float32)
        outer, mean = rng.uniform(0.5, 1.5, -(-blocks // 256)).astype(np.float32) / np.float32(weight.shape[1] ** 0.5), 2.0 / weight.shape[1] ** 0.5
        scales = table[codes] * outer.repeat(256)[:blocks] + np.float32(mean)
        stored |= {"weight.absmax": codes, "weight.nested_absmax": outer, "weight.nested_quant_map": table}
        state |= {"nested_blocksize": 256, "nested_dtype": "float32", "nested_offset": mean}
    else:
        scales = stored["weight.absmax"] = (rng.uniform(0.5, 1.5, blocks) * 2 / weight.shape[1] ** 0.5).astype(np.float32)
    stored["weight.quant_state.bitsandbytes__nf4"] = np.frombuffer(json.dumps(state).encode(), np.uint8)
    return stored, (NF4[numbers] * scales.repeat(64)[: weight.size]).reshape(weight.shape)


def draw_powers(rng, shape, size):
    exponents = rng.integers(125, 129, shape) - round(np.log2(size) / 2)
    return exponents.astype(np.uint8), np.exp2(exponents.astype(np.float32) - 127)


def make_mxfp4(rng, weight, names=("weight_packed", "weight_scale"), is_blocked=False):
    """Bytes of two numbers of E2M1, the first in the low half, and a power of two for 32 of them; of gpt-oss with a dim for blocks."""
    *lead, size = weight.shape
    numbers = rng.integers(0, 16, weight.shape)
    exponents, scales = draw_powers(rng, (*lead, size // 32), size * 16)
    payload = (numbers[..., ::2] | numbers[..., 1::2] << 4).astype(np.uint8)
    return {names[0]: payload.reshape(*lead, size // 32, 16) if is_blocked else payload, names[1]: exponents}, FP4[numbers] * scales.repeat(32, -1)


def make_mxfp8(rng, weight):
    width, size = weight.shape
    payload = (rng.standard_normal((width, size)) * 8).astype(ml_dtypes.float8_e4m3fn)
    exponents, scales = draw_powers(rng, (width, size // 32), size * 256)
    return {"weight": payload, "weight_scale": exponents}, payload.astype(np.float32) * scales.repeat(32, 1)


def make_compressed(rng, weight, kind, strategy, group=16):
    """Of the package compressed-tensors, symmetric."""
    width, size = weight.shape
    shape = {"tensor": (1,), "channel": (width, 1), "group": (width, size // group)}[strategy]
    scales = (rng.uniform(0.5, 1.5, shape) / size**0.5).astype(np.float32)
    if kind == "pack":
        numbers, scales = rng.integers(0, 16, (width, size)), (scales * np.float32(0.2)).astype(ml_dtypes.bfloat16)
        stored = {"weight_packed": pack(numbers, 1), "weight_scale": scales, "weight_shape": np.array([width, size])}
        return stored, (numbers - 8) * scales.astype(np.float32).repeat(size // scales.shape[1], 1)
    if kind == "int":
        payload, scales = rng.integers(-127, 128, (width, size)).astype(np.int8), scales * np.float32(0.02)
    else:
        payload = (rng.standard_normal((width, size)) * 8).astype(ml_dtypes.float8_e4m3fn)
        scales = scales * np.float32(0.1)
    return {"weight": payload, "weight_scale": scales}, payload.astype(np.float32) * scales


def compressed(kind, strategy, bits, type, make=None, group=16):
    weights = {"num_bits": bits, "type": type, "strategy": strategy, "symmetric": True, "group_size": group if strategy == "group" else None}
    given = {"quant_method": "compressed-tensors", "format": kind, "ignore": ["lm_head"], "config_groups": {"group_0": {"targets": ["Linear"], "weights": weights}}}
    return make or (lambda rng, weight: make_compressed(rng, weight, kind.partition("-")[0], strategy)), given


METHODS = {
    "gptq": (make_gptq, {"quant_method": "gptq", "bits": 4, "group_size": 16, "desc_act": False}),
    "gptq_v2": (lambda *args: make_gptq(*args, version="gptq_v2"), {"quant_method": "gptq", "bits": 4, "group_size": 16, "desc_act": False, "checkpoint_format": "gptq_v2"}),
    "gptq_ordered": (lambda *args: make_gptq(*args, is_ordered=True), {"quant_method": "gptq", "bits": 4, "group_size": 16, "desc_act": True}),
    "awq": (make_awq, {"quant_method": "awq", "bits": 4, "group_size": 16, "zero_point": True, "version": "gemm"}),
    "int8": (make_int8, {"quant_method": "bitsandbytes", "load_in_8bit": True}),
    "nf4": (make_nf4, {"quant_method": "bitsandbytes", "load_in_4bit": True, "bnb_4bit_quant_type": "nf4"}),
    "nf4_nested": (
        lambda rng, weight: make_nf4(rng, weight, is_nested=True),
        {"quant_method": "bitsandbytes", "load_in_4bit": True, "bnb_4bit_quant_type": "nf4", "bnb_4bit_use_double_quant": True},
    ),
    "mxfp4": compressed("mxfp4-pack-quantized", "group", 4, "float", make_mxfp4, 32),
    "mxfp8": compressed("mxfp8-quantized", "group", 8, "float", make_mxfp8, 32),
    "packed": compressed("pack-quantized", "group", 4, "int"),
    "packed_channel": compressed("pack-quantized", "channel", 4, "int"),
    "float_channel": compressed("float-quantized", "channel", 8, "float"),
    "float_tensor": compressed("float-quantized", "tensor", 8, "float"),
    "int_channel": compressed("int-quantized", "channel", 8, "int"),
    "fp8": (make_fp8, {"quant_method": "fp8", "fmt": "e4m3", "activation_scheme": "dynamic", "weight_block_size": [16, 16]}),
    "mxfp4_experts": (None, {"quant_method": "mxfp4", "modules_to_not_convert": ["lm_head"]}),
}  # fmt: skip
"""What of a weight is stored and what that stands for, and `quantization_config`. `mxfp4_experts` is for gpt-oss alone."""


def quantize(folder, to, method, seed=0, is_quantized=lambda name: name.endswith("_proj.weight")):
    """Of a checkpoint with f32 weights, one whose layers are quantized at random. Its full weights, as another checkpoint: `to`-wide."""
    make, given = METHODS[method]
    rng = np.random.default_rng(seed)
    wide = Path(f"{to}-wide")
    for path in (to, wide):
        shutil.copytree(folder, path)
        for file in Path(path).glob("*.safetensors*"):
            file.unlink()
    stored, full = {}, {}
    for name, value in sorted((n, v) for file in Path(folder).glob("*.safetensors") for n, v in safetensors.read(file).items()):
        if method == "mxfp4_experts" and name.endswith(("experts.gate_up_proj", "experts.down_proj")):  # which the library transposes
            tensors, wide_value = make_mxfp4(rng, value.transpose(0, 2, 1), ("blocks", "scales"), is_blocked=True)
            full[name] = wide_value.transpose(0, 2, 1)
            stored |= {f"{name}_{key}": tensor for key, tensor in tensors.items()}
        elif method != "mxfp4_experts" and is_quantized(name):
            tensors, full[name] = make(rng, value)
            stored |= {name.removesuffix("weight") + key: tensor for key, tensor in tensors.items()}
        else:
            stored[name] = full[name] = value
    safetensors.write(Path(to, "model.safetensors"), stored)
    safetensors.write(wide / "model.safetensors", {n: np.ascontiguousarray(v, np.float32) for n, v in full.items()})
    config = json.loads(Path(to, "config.json").read_text())
    Path(to, "config.json").write_text(json.dumps(config | {"quantization_config": given}))
    return wide


# .gguf, written from the format alone.

GGUF_NAMES = {
    "model.embed_tokens": "token_embd", "model.norm": "output_norm", "lm_head": "output", "input_layernorm": "attn_norm", "self_attn.q_proj": "attn_q",
    "self_attn.k_proj": "attn_k", "self_attn.v_proj": "attn_v", "self_attn.o_proj": "attn_output", "self_attn.q_norm": "attn_q_norm",
    "self_attn.k_norm": "attn_k_norm", "mlp.gate": "ffn_gate_inp", "block_sparse_moe.gate": "ffn_gate_inp", "post_attention_layernorm": "ffn_norm", "mlp.gate_proj": "ffn_gate", "mlp.up_proj": "ffn_up", "mlp.down_proj": "ffn_down",
}  # fmt: skip
_GEMMA_NAMES = {"post_attention_layernorm": "post_attention_norm", "pre_feedforward_layernorm": "ffn_norm", "post_feedforward_layernorm": "post_ffw_norm"}
GGUF_OWN_NAMES = {
    "phi3": {"self_attn.qkv_proj": "attn_qkv", "mlp.gate_up_proj": "ffn_up"},
    "gemma2": _GEMMA_NAMES,
    "gemma3_text": _GEMMA_NAMES,
}
GGUF_KINDS = {"qwen3_moe": "qwen3moe", "mixtral": "llama", "gemma3_text": "gemma3"}
GGUF_EXPERTS = {"gate_proj": "gate", "up_proj": "up", "down_proj": "down", "w1": "gate", "w3": "up", "w2": "down"}
Q8_0, Q4_K, Q6_K = 8, 12, 14
_BLOCKS = {Q8_0: (32, 34), Q4_K: (256, 144), Q6_K: (256, 210)}


def make_blocks(rng, shape, kind):
    """Random bytes of blocks whose scales are small numbers, and what they stand for."""
    rows, size = shape
    block, count = _BLOCKS[kind]
    data = rng.integers(0, 256, (rows, size // block, count)).astype(np.uint8)
    for at in {Q8_0: (0,), Q4_K: (0, 2), Q6_K: (208,)}[kind]:
        scale = rng.uniform(0.2, 1, data.shape[:2]) * {Q8_0: 0.02, Q4_K: 0.002, Q6_K: 0.0005}[kind] / size**0.5
        data[..., at : at + 2] = scale.astype(np.float16)[..., None].view(np.uint8)
    return data.reshape(rows, -1), read_blocks(data, kind).reshape(shape)


def read_blocks(data, kind):
    """Element by element, as llama.cpp describes the types."""
    found = np.zeros((*data.shape[:2], _BLOCKS[kind][0]), np.float32)
    half = lambda at: np.ascontiguousarray(data[..., at : at + 2]).view(np.float16)[..., 0].astype(np.float32)
    if kind == Q8_0:
        return data[..., 2:].view(np.int8) * half(0)[..., None]
    if kind == Q4_K:
        inner, numbers = data[..., 4:16], data[..., 16:]
        for j in range(8):
            if j < 4:
                factor, least = inner[..., j] & 63, inner[..., j + 4] & 63
            else:
                factor = (inner[..., j + 4] & 15) | (inner[..., j - 4] >> 6 << 4)
                least = (inner[..., j + 4] >> 4) | (inner[..., j] >> 6 << 4)
            part = numbers[..., 32 * (j // 2) : 32 * (j // 2) + 32] >> (4 * (j % 2)) & 15
            found[..., 32 * j : 32 * j + 32] = (half(0) * factor)[..., None] * part - (half(2) * least)[..., None]
        return found
    low, high, inner = data[..., :128], data[..., 128:192], data[..., 192:208].view(np.int8)
    for i in range(256):
        n, t, k = i // 128, i % 128 // 32, i % 32
        number = (low[..., 64 * n + 32 * (t % 2) + k] >> (4 * (t // 2)) & 15) | ((high[..., 32 * n + k] >> (2 * t) & 3) << 4)
        found[..., i] = half(208) * inner[..., i // 16] * (number.astype(np.int8) - 32)
    return found


def write_gguf(folder, to, kinds, seed=0):
    """Of a checkpoint: linear layers and the embedding in blocks, `kinds` in turn. Its full weights, as another checkpoint."""
    import struct

    text = lambda value: struct.pack("<Q", len(value)) + value.encode()
    rng, config = np.random.default_rng(seed), json.loads(Path(folder, "config.json").read_text())
    rope = config["rope_parameters"].get("full_attention", config["rope_parameters"])
    kind, heads = config["model_type"], {"q": config["num_attention_heads"], "k": config["num_key_value_heads"]}
    values = {
        "block_count": config["num_hidden_layers"], "context_length": config["max_position_embeddings"], "embedding_length": config["hidden_size"],
        "feed_forward_length": config["intermediate_size"], "attention.head_count": heads["q"], "attention.head_count_kv": heads["k"],
        "attention.key_length": config.get("head_dim") or config["hidden_size"] // heads["q"], "attention.layer_norm_rms_epsilon": config["rms_norm_eps"],
        "rope.freq_base": float(rope["rope_theta"]),
    }  # fmt: skip
    for key, name in (("expert_count", "num_experts"), ("expert_count", "num_local_experts"), ("expert_used_count", "num_experts_per_tok"), ("expert_feed_forward_length", "moe_intermediate_size"), ("attention.sliding_window", "sliding_window"), ("attn_logit_softcapping", "attn_logit_softcapping"), ("final_logit_softcapping", "final_logit_softcapping")):
        if config.get(name) is not None:
            values[key] = config[name]
    arch = GGUF_KINDS.get(kind, kind)
    metadata = [text("general.architecture") + struct.pack("<I", 8) + text(arch), text("tokenizer.ggml.tokens") + struct.pack("<IIQ", 9, 8, 2) + text("a") + text("bc")]
    metadata += [text(f"{arch}.{k}") + (struct.pack("<If", 6, v) if isinstance(v, float) else struct.pack("<II", 4, v)) for k, v in values.items()]
    stored = {n: v for file in Path(folder).glob("*.safetensors") for n, v in safetensors.read(file).items()}
    names = GGUF_OWN_NAMES.get(kind, {}) | {k: v for k, v in GGUF_NAMES.items() if k not in GGUF_OWN_NAMES.get(kind, {})}
    wide, infos, data, turn, count = {}, b"", b"", 0, 0

    def add(name, value, is_plain):
        nonlocal infos, data, turn, count
        code, full = 0, value.astype(np.float32)
        if is_plain:
            content = full + np.float32(1) if kind.startswith("gemma") else full
        else:
            code, turn = kinds[turn % len(kinds)] if "_gate_exps" not in name and "_up_exps" not in name else kinds[0], turn + 1
            content, full = make_blocks(rng, (value.size // value.shape[-1], value.shape[-1]), code)
        data += b"\0" * (-len(data) % 32)
        shape = value.shape[::-1]
        infos += text(name) + struct.pack(f"<I{len(shape)}QIQ", len(shape), *shape, code, len(data))
        data += content.tobytes()
        count += 1
        return full.reshape(value.shape)

    experts = {}
    for name, value in sorted(stored.items()):
        if match := re.fullmatch(r"model\.layers\.(\d+)\.\w+\.experts\.(\d+)\.(\w+)\.weight", name):
            experts.setdefault((match.group(1), GGUF_EXPERTS[match.group(3)]), {})[int(match.group(2))] = name
            continue
        base, _, what = name.rpartition(".")
        match = [n for n in names if base.endswith(n)][0]
        layer = f"blk.{base.split('.')[2]}." if base.startswith("model.layers.") else ""
        full = add(f"{layer}{names[match]}.{what}", value, value.ndim == 1 or names[match] == "ffn_gate_inp")
        if arch == "llama" and match[10:11] in heads and match.endswith(("q_proj", "k_proj")):  # its rows alternate in the file
            n = heads[match[10]]
            full = full.reshape(n, -1, 2, *full.shape[1:]).swapaxes(1, 2).reshape(full.shape)
        wide[name] = np.ascontiguousarray(full)
    for (layer, part), of in experts.items():
        full = add(f"blk.{layer}.ffn_{part}_exps.weight", np.stack([stored[of[i]] for i in range(len(of))]), False)
        wide |= {of[i]: np.ascontiguousarray(full[i]) for i in of}
    header = b"GGUF" + struct.pack("<IQQ", 3, count, len(metadata)) + b"".join(metadata) + infos
    Path(to).write_bytes(header + b"\0" * (-len(header) % 32) + data)
    copy = Path(f"{to}-wide")
    copy.mkdir()
    shutil.copy(Path(folder, "config.json"), copy)
    safetensors.write(copy / "model.safetensors", wide)
    return copy
