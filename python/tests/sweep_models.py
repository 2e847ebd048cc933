#!/usr/bin/env python3
"""Imports published architectures at small sizes with random weights: Hugging Face's transformers and diffusers; and flax's layers.

  sweep_models.py [--library=transformers] [--tasks=model,causal_lm] [--every=N] [--run] [--output=FILE] [NAME...]

Each class is built from its configuration with small sizes, called once by PyTorch, and imported, in a process of its own with a limit of
time and memory. `--run` compiles what was imported too, and compares the results with those of PyTorch. A line per class: imported,
equal, refused (with the message), wrong, or not built (these sizes, or these inputs, are not what the class takes). Ends with counts.
Needs the packages. scripts/test-frontends runs a few classes, by name: each must be imported, and equal."""

import argparse
import copy
import importlib
import inspect
import json
import multiprocessing
import os
import re
import resource
import sys
import time
import warnings
from collections import Counter

# What a configuration calls sizes, by patterns of the name. The first that matches counts.
SIZES = [
    (r"num_(hidden_|encoder_|decoder_|dense_|conv_|)layers|(en|de)coder_layers|n_layers?|depth|num_blocks|num_hidden_groups", 2),
    (r"(num_|n_)?(encoder_|decoder_|global_)?(attention_|attn_|kda_|linear_)?(heads|head)|num_attention_heads|n_heads?|num_heads", 4),
    (r"num_key_value_heads|num_kv_heads|n_kv_heads|multi_query_group_num", 2),
    (r"head_dim|d_kv|kv_channels|v_head_dim|qk_head_dim|attention_head_dim", 8),
    (r"hidden_size|d_model|n_embd|dim|embed_dim|embedding_size|emb_dim|hidden_dim|model_dim|d_embed|word_embed_proj_dim|projection_dim", 32),
    (r"intermediate_size|.*ffn_dim|d_ff|d_inner|ffn_hidden_size|n_inner|mlp_dim|feed_forward_size|ffn_size|inner_dim", 64),
    (r"moe_intermediate_size|shared_expert_intermediate_size|expert_ffn_hidden_size", 32),
    (r"vocab_size|.*vocab_size", 128),
    (r"max_position_embeddings|n_positions|max_sequence_length|n_ctx|max_seq_len|max_target_positions", 64),
    (r"num_experts|num_local_experts|n_routed_experts|moe_num_experts", 4),
    (r"num_experts_per_tok|num_experts_per_token|moe_topk|moe_k|top_k_experts", 2),
    (r"num_mel_bins", 16), (r"max_source_positions", 32),
    (r"num_queries", 8), (r"n_group|topk_group|num_expert_group", 1), (r"index_topk", 4), (r"topk|top_k|moe_top_k|moe_router_topk", 2),
]  # fmt: skip

INDEPENDENT = [p for p, _ in SIZES if re.match(r".*hidden_\|encoder_\|decoder_\|dense|.*vocab_size|num_experts\||moe_intermediate|intermediate|max_position", p)]


def shrink(config, level):
    """Makes the sizes of a configuration, and of those inside it, small: at level 0 all of them, at level 1 those that no other size
    has to fit."""
    for name, value in list(vars(config).items()):
        if hasattr(value, "to_dict") and hasattr(value, "model_type"):
            shrink(value, level)
        if name == "vocab_size" and value is None:
            value = sys.maxsize
        if isinstance(value, bool) or not isinstance(value, int) or name.startswith("_"):
            continue
        for pattern, size in [(p, s) for p, s in SIZES if not level or p in INDEPENDENT]:
            if value > size and re.fullmatch(pattern, name):
                try:
                    setattr(config, name, size)
                except Exception:  # some derive one from another
                    pass
                break
    rope = getattr(config, "rope_parameters", None) or getattr(config, "rope_scaling", None)
    if not level and isinstance(rope, dict) and "mrope_section" in rope:
        head = getattr(config, "head_dim", None) or config.hidden_size // config.num_attention_heads
        half = int(head * rope.get("partial_rotary_factor", 1.0)) // 2
        rope["mrope_section"] = [half - 2 * (half // 3), half // 3, half // 3]
    for name in ("layer_types", "mlp_layer_types", "layers_block_type", "block_types", "attn_layer_indices"):
        layers = getattr(config, "num_hidden_layers", None)
        if isinstance(getattr(config, name, None), list) and isinstance(layers, int):
            kinds = list(dict.fromkeys(getattr(config, name)))
            try:
                setattr(config, name, (kinds * layers)[:layers])
            except Exception:
                pass
    for name, value in (("use_cache", False), ("pad_token_id", 0), ("bos_token_id", 1), ("eos_token_id", 2), ("decoder_start_token_id", 1)):
        if name == "use_cache" or (isinstance(getattr(config, name, None), int) and getattr(config, name) >= 128):
            try:
                setattr(config, name, value)
            except Exception:
                pass
    return config


def find(config, *names, default=None):
    """The first of these sizes that a configuration, or one inside it, has."""
    held = [config] + [v for v in vars(config).values() if hasattr(v, "model_type")]
    for name in names:
        for part in held:
            value = getattr(part, name, None)
            if isinstance(value, (list, tuple)) and value and all(isinstance(v, int) for v in value):
                value = value[0]
            if isinstance(value, int) and not isinstance(value, bool):
                return value
    return default


def propose_inputs(model, config):
    """Keyword arguments to call a model with, the likely ones first."""
    import torch

    parameters = inspect.signature(model.forward).parameters
    vocabulary = min(find(config, "vocab_size", default=128), 128)
    tokens = torch.randint(3, max(vocabulary, 4), (2, 8))
    main = getattr(model, "main_input_name", "input_ids")
    main = main if isinstance(main, str) else main[0]
    channels, size = find(config, "num_channels", "in_channels", "in_chans", default=3), find(config, "image_size", "img_size", "input_size", default=224)
    size = min(size, 512)
    image = torch.randn(2, channels, size, size)
    more = {}
    if "decoder_input_ids" in parameters:
        more["decoder_input_ids"] = tokens[:, :4].clone()
    bins = find(config, "num_mel_bins", "input_feat_per_channel", "feature_size", "input_size", "n_mels", default=16)
    found = []
    if "pixel_values" in parameters and "input_ids" in parameters and main != "input_ids":
        found.append({"input_ids": tokens, "pixel_values": image})
    if main in ("pixel_values", "pixel_values_videos") or ("pixel_values" in parameters and "input_ids" not in parameters):
        found.append({main if main in parameters else "pixel_values": image})
        frames = find(config, "num_frames", "frames_per_clip", default=2)
        found.append({main if main in parameters else "pixel_values": torch.randn(1, frames, channels, size, size)})
        for s in (224, 64, 256, 384):
            found.append({"pixel_values": torch.randn(1, channels, s, s)})
    if "input_features" in parameters:
        frames = 2 * find(config, "max_source_positions", default=32)
        found += [{"input_features": torch.randn(2, bins, frames), **more}, {"input_features": torch.randn(2, frames, bins), **more}]
        found += [{"input_features": torch.randn(2, 64, 160)}, {"input_features": torch.randn(2, 128, 64), **more}]
    if "input_values" in parameters:
        found += [{"input_values": torch.randn(2, 4000), **more}, {"input_values": torch.randn(2, 1, 4000)}, {"input_values": torch.randn(2, 1024, 128)}]
    if "input_ids" in parameters:
        found += [{"input_ids": tokens, **more}, {"input_ids": tokens, "attention_mask": torch.ones_like(tokens), **more}]
        if "bbox" in parameters:
            found.insert(0, {"input_ids": tokens, "bbox": torch.randint(0, 60, (2, 8, 4)).sort(-1)[0]})
        if "pixel_values" in parameters:
            found.append({"input_ids": tokens, "pixel_values": image})
    if "past_values" in parameters:
        length = find(config, "context_length", default=32) + max(getattr(config, "lags_sequence", None) or [0])
        columns = find(config, "num_input_channels", "input_size", default=1)
        times = {"past_time_features": torch.randn(2, length, find(config, "num_time_features", default=1)), "past_observed_mask": torch.ones(2, length)}
        found += [{"past_values": torch.randn(2, length, columns)}, {"past_values": torch.randn(2, length), **times}, {"past_values": torch.randn(2, length)}]
    return [{k: v for k, v in f.items() if k in parameters} for f in found]


LARGEST = 300e6
"""Parameters."""


def count_parameters(model_class, *args, **kwargs):
    """Without memory for them; 0 where that is not possible."""
    import torch

    try:
        with torch.device("meta"):
            return sum(p.numel() for p in model_class(*args, **kwargs).parameters())
    except Exception:  # what is computed in a constructor
        return 0


def build_transformers(name, model_class_name):
    import transformers

    model_class = getattr(transformers, model_class_name)
    config_class = model_class.config_class
    problems = []
    for level in (0, 1):
        try:
            config = shrink(config_class(), level)
            count = count_parameters(model_class, copy.deepcopy(config))
            if count > LARGEST:
                problems.append(f"{count / 1e6:.0f} million parameters")
                continue
            model = model_class(config).eval()
        except Exception as error:
            problems.append(f"{type(error).__name__}: {str(error)[:160]}")
            continue
        yield model, propose_inputs(model, config), problems
    if problems:
        yield None, [], problems


def shrink_defaults(parameters):
    """The defaults of a constructor, with small sizes: channels in the ratios that they have."""
    small = {}
    for name, parameter in parameters.items():
        value = parameter.default
        is_list = isinstance(value, (list, tuple)) and len(value) > 0 and all(type(v) is int for v in value)
        if is_list and re.search("channels|dims?$|width|hidden", name) and not re.search("rope|axes", name):
            small[name] = type(value)(max(16 * v // max(min(value), 1), 8) for v in value)
        elif is_list and re.search("layers|blocks|depth", name):
            small[name] = type(value)(min(v, 1) for v in value)
        elif type(value) is int:
            small[name] = next((min(value, s) for p, s in SIZES if re.fullmatch(p, name)), value)
        elif value is not parameter.empty:
            small[name] = value
    return small


# Of diffusers: what its classes are called with at small sizes.
def build_diffusers(name, model_class_name):
    import diffusers
    import torch

    image, time_steps, text = torch.randn(2, 4, 16, 16), torch.tensor([7, 3]), torch.randn(2, 6, 32)
    small = {"block_out_channels": (32, 64), "layers_per_block": 1, "norm_num_groups": 8, "sample_size": 16, "cross_attention_dim": 32, "attention_head_dim": 8}
    down = {"down_block_types": ("CrossAttnDownBlock2D", "DownBlock2D"), "up_block_types": ("UpBlock2D", "CrossAttnUpBlock2D")}
    transformer = {"num_attention_heads": 2, "attention_head_dim": 16, "num_layers": 1, "sample_size": 16, "in_channels": 4, "out_channels": 4, "cross_attention_dim": 32, "caption_channels": 32, "norm_num_groups": 8, "joint_attention_dim": 32, "pooled_projection_dim": 32, "caption_projection_dim": 32, "axes_dims_rope": (4, 4, 8), "axes_dim": (4, 4, 8), "text_embed_dim": 32, "hidden_size": 32, "num_single_layers": 1, "patch_size": 2, "text_dim": 32, "ffn_dim": 64, "freq_dim": 32, "num_refiner_layers": 1, "sample_height": 16, "sample_width": 16, "sample_frames": 3}
    vae = {"block_out_channels": (32, 64), "layers_per_block": 1, "norm_num_groups": 8, "in_channels": 3, "out_channels": 3, "latent_channels": 4, "down_block_types": ("DownEncoderBlock2D",) * 2, "up_block_types": ("UpDecoderBlock2D",) * 2, "sample_size": 16, "base_dim": 8, "z_dim": 4, "dim_mult": [1, 2], "num_res_blocks": 1, "temperal_downsample": [False]}
    model_class = getattr(diffusers, model_class_name)
    accepted = inspect.signature(model_class.__init__).parameters
    problems = []
    shrunk = shrink_defaults(accepted)
    for sizes in (small | down, small, transformer, vae, shrunk, shrunk | transformer, shrunk | {"norm_num_groups": 8}):
        arguments = {k: v for k, v in sizes.items() if k in accepted}
        try:
            count = count_parameters(model_class, **arguments)
            if count > LARGEST / 3:
                problems.append(f"{count / 1e6:.0f} million parameters")
                continue
            model = model_class(**arguments).eval()
        except Exception as error:
            problems.append(f"{type(error).__name__}: {str(error)[:160]}")
            continue
        parameters = inspect.signature(model.forward).parameters
        channels = getattr(model.config, "in_channels", 4) or 4
        picture = torch.randn(2, channels, 16, 16)
        video = torch.randn(1, channels, 3, 16, 16)
        common = {"timestep": time_steps, "encoder_hidden_states": text, "class_labels": torch.tensor([1, 2]), "pooled_projections": torch.randn(2, 32), "added_cond_kwargs": {"text_embeds": torch.randn(2, 32), "time_ids": torch.ones(2, 6)}, "guidance": torch.ones(2), "return_dict": False, "controlnet_cond": torch.randn(2, 3, 128, 128)}
        packed = {"hidden_states": torch.randn(2, 64, channels), "img_ids": torch.randn(64, 3), "txt_ids": torch.randn(6, 3)}
        proposals = []
        for first in (picture, video, torch.randn(2, channels, 256)):
            for name in ("sample", "hidden_states", "x"):
                if name in parameters:
                    proposals += [common | {name: first}, common | {name: first, "timestep": 7}]
        proposals.insert(0, common | packed)
        proposals = [{k: v for k, v in p.items() if k in parameters} for p in proposals]
        required = [p.name for p in parameters.values() if p.default is p.empty and p.kind is p.POSITIONAL_OR_KEYWORD]
        yield model, [p for p in proposals if all(r in p for r in required)], problems
    if problems:
        yield None, [], problems


# Of flax: constructors of the layers of nnx and of linen, and the shapes or values that they are called with.
FLAX = {
    "nnx": {
        "Linear": ((6, 5), {}, [(2, 6)]), "LinearGeneral": ((6, (5, 2)), {}, [(2, 6)]), "Einsum": (("ab,bc->ac", (6, 5)), {}, [(2, 6)]),
        "Conv": ((3, 4, (3, 3)), {}, [(2, 8, 8, 3)]), "ConvTranspose": ((3, 4, (3, 3)), {"strides": 2}, [(2, 8, 8, 3)]), "Embed": ((7, 5), {}, ["tokens"]),
        "BatchNorm": ((6,), {"use_running_average": True}, [(4, 6)]), "LayerNorm": ((6,), {}, [(4, 6)]), "RMSNorm": ((6,), {}, [(4, 6)]),
        "GroupNorm": ((6,), {"num_groups": 3}, [(4, 6)]), "InstanceNorm": ((6,), {}, [(2, 5, 6)]), "PReLU": ((), {}, [(4, 6)]),
        "MultiHeadAttention": ((), {"num_heads": 2, "in_features": 8, "decode": False}, [(2, 5, 8)]), "LoRA": ((6, 2, 5), {}, [(3, 6)]), "LoRALinear": ((6, 5), {"lora_rank": 2}, [(3, 6)]),
        "LSTMCell": ((6, 5), {}, [((2, 5), (2, 5)), (2, 6)]), "OptimizedLSTMCell": ((6, 5), {}, [((2, 5), (2, 5)), (2, 6)]), "GRUCell": ((6, 5), {}, [(2, 5), (2, 6)]), "SimpleCell": ((6, 5), {}, [(2, 5), (2, 6)]),
        "Dropout": ((0.5,), {"deterministic": True}, [(2, 6)]),
    },
    "linen": {
        "Dense": ((5,), {}, [(2, 6)]), "DenseGeneral": (((5, 2),), {}, [(2, 6)]), "Conv": ((4, (3, 3)), {}, [(2, 8, 8, 3)]), "ConvLocal": ((4, (3, 3)), {}, [(2, 8, 8, 3)]), "ConvTranspose": ((4, (3, 3)), {"strides": (2, 2)}, [(2, 8, 8, 3)]),
        "Embed": ((7, 5), {}, ["tokens"]), "BatchNorm": ((True,), {}, [(4, 6)]), "LayerNorm": ((), {}, [(4, 6)]), "RMSNorm": ((), {}, [(4, 6)]), "GroupNorm": ((3,), {}, [(4, 6)]), "InstanceNorm": ((), {}, [(2, 5, 6)]), "PReLU": ((), {}, [(4, 6)]),
        "SelfAttention": ((2,), {"deterministic": True}, [(2, 5, 8)]), "MultiHeadDotProductAttention": ((2,), {"deterministic": True}, [(2, 5, 8)]), "LSTMCell": ((5,), {}, [((2, 5), (2, 5)), (2, 6)]), "OptimizedLSTMCell": ((5,), {}, [((2, 5), (2, 5)), (2, 6)]),
        "GRUCell": ((5,), {}, [(2, 5), (2, 6)]), "MGUCell": ((5,), {}, [(2, 5), (2, 6)]), "SimpleCell": ((5,), {}, [(2, 5), (2, 6)]), "Einsum": (((6, 5), "ab,bc->ac"), {}, [(2, 6)]),
    },
}  # fmt: skip


def check_flax(kind, name, is_run):
    import flax.linen
    import flax.nnx
    import jax
    import numpy as np

    import shardkit

    def make(value):
        if isinstance(value, str):
            return rng.integers(0, 7, (2, 3)).astype(np.int32)
        return tuple(map(make, value)) if isinstance(value[0], tuple) else rng.standard_normal(value, np.float32)

    positional, keywords, inputs = FLAX[kind][name.split(".")[1]]
    rng = np.random.default_rng(0)
    inputs = list(map(make, inputs))
    if kind == "nnx":
        module = getattr(flax.nnx, name.split(".")[1])(*positional, **keywords, **({} if name == "nnx.PReLU" else {"rngs": flax.nnx.Rngs(0)}))
        graph, weights = flax.nnx.split(module)
        function = lambda weights, *inputs: flax.nnx.merge(graph, weights)(*inputs)  # noqa: E731
    else:
        module = getattr(flax.linen, name.split(".")[1])(*positional, **keywords)
        weights = module.init(jax.random.key(0), *inputs)
        function = lambda weights, *inputs: module.apply(weights, *inputs)  # noqa: E731
    expected = jax.tree_util.tree_leaves(function(weights, *inputs))
    try:
        imported = shardkit.import_jax(function, weights, *inputs)
        if not is_run:
            return "imported", ""
        found = jax.tree_util.tree_leaves(imported.run(weights, *inputs))
    except shardkit.ShardKitError as error:
        return "refused", str(error)
    for a, b in zip(found, expected, strict=True):
        if not np.allclose(a, b, rtol=1e-4, atol=1e-5):
            return "wrong", f"off by {np.abs(a - b).max()}"
    return "equal", ""


BUILDERS = {"transformers": build_transformers, "diffusers": build_diffusers}


def get_classes(library, tasks):
    if library == "diffusers":
        import diffusers

        names = [n for n in diffusers._import_structure["models"] if n[0].isupper() and not n.endswith(("Mixin", "Provider", "Pipeline"))]
        return [(n, n) for n in sorted(set(names)) if not n.startswith("Flax") and hasattr(getattr(diffusers, n), "forward")]
    if library == "flax":
        return [(kind, f"{kind}.{name}") for kind, layers in FLAX.items() for name in layers]
    auto = importlib.import_module("transformers.models.auto.modeling_auto")
    found = {}
    for task in tasks:
        table = "MODEL_MAPPING_NAMES" if task == "model" else f"MODEL_FOR_{task.upper()}_MAPPING_NAMES"
        for kind, classes in getattr(auto, table).items():
            for name in [classes] if isinstance(classes, str) else classes[:1]:
                found.setdefault(name, kind)
    return sorted((kind, name) for name, kind in found.items())


def copy_of(model):
    """`model` itself where weights that others compute (weight norms) forbid copies."""
    try:
        return copy.deepcopy(model)
    except RuntimeError:
        return model


def call(model, inputs):
    import torch

    with torch.no_grad():
        return model(**inputs)


def check(library, kind, class_name, is_run):
    """What becomes of a class: (outcome, message)."""
    if library == "flax":
        return check_flax(kind, class_name, is_run)
    import numpy as np
    import torch
    from torch.utils._pytree import tree_leaves

    import shardkit

    torch.manual_seed(0)
    problems = []
    for model, proposals, why in BUILDERS[library](kind, class_name):
        problems = list(why)
        for inputs in proposals if model is not None else []:
            try:
                torch.manual_seed(0)
                expected = call(copy_of(model), copy.deepcopy(inputs))
            except Exception as error:
                problems.append(f"call with {'+'.join(inputs)}: {type(error).__name__}: {str(error).strip()[:160]}")
                continue
            try:
                imported = shardkit.import_torch(model, kwargs=inputs)
            except shardkit.ShardKitError as error:
                return "refused", str(error)
            if not is_run:
                return "imported", ""
            try:
                found = imported.run(**inputs)
            except shardkit.ShardKitError as error:
                return "not run", str(error)
            pairs = list(zip(tree_leaves(found), tree_leaves(expected)))
            for i, (a, b) in enumerate(pairs):
                a, b = np.asarray(a, dtype=np.float64 if not b.is_complex() else np.complex128), b.detach().to(torch.complex128 if b.is_complex() else torch.float64).numpy()
                scale = np.abs(b[np.isfinite(b)]).max(initial=1.0)
                if a.shape != b.shape or not np.allclose(a, b, rtol=1e-3, atol=1e-4 * scale, equal_nan=True):
                    off = float(np.nanmax(np.abs(a - b))) if a.shape == b.shape else a.shape
                    return "wrong", f"result {i} of {len(pairs)}, {b.shape}: off by {off} of {scale}"
            return "equal", ""
    return "not built", "; ".join(problems[-3:]) or "no inputs known"


def _work(pipe, library, kind, class_name, is_run, gigabytes):
    warnings.simplefilter("ignore")
    resource.setrlimit(resource.RLIMIT_AS, (gigabytes << 30,) * 2)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    try:
        found = check(library, kind, class_name, is_run)
    except (ImportError, MemoryError) as error:
        found = ("not built", str(error).strip() or "out of memory")
    except BaseException as error:  # neither an answer nor an error of ours
        import traceback

        found = ("crashed", f"{type(error).__name__}: {str(error).strip()[:300]} at {traceback.extract_tb(error.__traceback__)[-1]}")
    pipe.send(found)
    pipe.close()
    os._exit(0)


def run_each(classes, get_work, timeout, output):
    """What becomes of each class, by name: (kind, outcome, message, seconds). `get_work` gives a function and its arguments, which runs in
    a process of its own and sends (outcome, message) through the pipe that is its first argument. `output` is continued, and written."""
    known = {}
    if output and os.path.exists(output):
        with open(output) as file:
            known = json.load(file)
    context = multiprocessing.get_context("fork")
    for kind, name in classes:
        if name in known:
            continue
        begin = time.time()
        ours, theirs = context.Pipe(False)
        work, arguments = get_work(kind, name)
        process = context.Process(target=work, args=(theirs, *arguments))
        process.start()
        theirs.close()
        found = ("timed out", f"{timeout} s")
        if ours.poll(timeout):
            try:
                found = ours.recv()
            except EOFError:
                process.join()
                found = ("crashed", f"exit status {process.exitcode}")
        process.kill()
        process.join()
        known[name] = (kind, *found, round(time.time() - begin, 1))
        print(f"{found[0]:10} {kind} {name} ({known[name][3]} s): {found[1][:400]}", flush=True)
        if output:
            with open(output, "w") as file:
                json.dump(known, file, indent=1)
    return known


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="these kinds or classes alone")
    parser.add_argument("--library", choices=["flax", *BUILDERS], default="transformers")
    parser.add_argument("--tasks", default="model", help="of transformers: model, causal_lm, masked_lm, image_classification, ...")
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--run", action="store_true")
    parser.add_argument("--timeout", type=int, default=150)
    parser.add_argument("--gigabytes", type=int, default=12)
    parser.add_argument("--output", help="JSON, which a later call continues")
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    import torch

    torch.set_num_threads(1)
    classes = get_classes(args.library, args.tasks.split(","))
    classes = [c for c in classes[:: args.every] if not args.names or c[0] in args.names or c[1] in args.names]
    known = run_each(classes, lambda kind, name: (_work, (args.library, kind, name, args.run, args.gigabytes)), args.timeout, args.output)
    chosen = [known[name] for _, name in classes]
    print("; ".join(f"{n} {what}" for what, n in Counter(k[1] for k in chosen).most_common()))
    fine = {"imported", "equal"} if args.names else {"imported", "equal", "refused", "not built", "timed out", "not run"}
    return 1 if not chosen or any(k[1] not in fine for k in chosen) else 0


if __name__ == "__main__":
    sys.exit(main())
