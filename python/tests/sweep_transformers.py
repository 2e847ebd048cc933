#!/usr/bin/env python3
"""Imports architectures of Hugging Face's transformers from folders in the published layout, and compares them with the library.

  sweep_transformers.py [--every=N] [--plans=hf,auto] [--devices=1,2,3,4,8] [--list] [--output=FILE] [NAME...]

Each architecture is built from its configuration at small sizes with random weights, and written by save_pretrained. It is imported from
that folder alone (`shardkit.import_transformers`), with the plan of the model itself and with that of the search, for each number of
devices; programs load the folder, and results are compared with those of a model that the library loads from it. A line per architecture:
equal, refused (with the message), wrong, or not built (these sizes, or these inputs, are not what the class takes). An architecture without
a plan of its own runs by the search alone. Ends with counts. A process each, with a limit of time and memory."""

import argparse
import copy
import os
import resource
import sys
import tempfile
import traceback
import warnings
from collections import Counter

from sweep_models import call, propose_inputs, run_each, shrink

# Kinds of models and their classes; of a causal language model `score` is imported, else `forward`.
ARCHITECTURES = {
    "causal": [
        "LlamaForCausalLM", "MistralForCausalLM", "Qwen2ForCausalLM", "Qwen3ForCausalLM", "GemmaForCausalLM", "Gemma2ForCausalLM", "Gemma3ForCausalLM", "GPT2LMHeadModel",
        "GPTNeoForCausalLM", "GPTNeoXForCausalLM", "GPTJForCausalLM", "GPTBigCodeForCausalLM", "OPTForCausalLM", "BloomForCausalLM", "FalconForCausalLM", "PhiForCausalLM",
        "Phi3ForCausalLM", "StableLmForCausalLM", "Starcoder2ForCausalLM", "OlmoForCausalLM", "Olmo2ForCausalLM", "CohereForCausalLM", "Cohere2ForCausalLM", "GraniteForCausalLM",
        "Glm4ForCausalLM", "Exaone4ForCausalLM", "SmolLM3ForCausalLM", "HeliumForCausalLM", "NemotronForCausalLM", "CodeGenForCausalLM", "MptForCausalLM", "Ernie4_5ForCausalLM",
    ],
    "mixture": [
        "MixtralForCausalLM", "Qwen2MoeForCausalLM", "Qwen3MoeForCausalLM", "OlmoeForCausalLM", "DeepseekV2ForCausalLM", "DeepseekV3ForCausalLM", "GptOssForCausalLM",
        "GraniteMoeForCausalLM", "PhimoeForCausalLM", "Dots1ForCausalLM", "Glm4MoeForCausalLM", "JetMoeForCausalLM",
    ],
    "state-space": ["MambaForCausalLM", "Mamba2ForCausalLM", "FalconMambaForCausalLM", "RecurrentGemmaForCausalLM", "Qwen3NextForCausalLM", "BambaForCausalLM", "JambaForCausalLM"],
    "encoder": [
        "BertForMaskedLM", "RobertaForMaskedLM", "DistilBertForMaskedLM", "AlbertForMaskedLM", "ElectraForMaskedLM", "DebertaV2ForMaskedLM", "ModernBertForMaskedLM",
        "MPNetForMaskedLM", "XLMRobertaForSequenceClassification", "EuroBertForMaskedLM",
    ],
    "encoder-decoder": [
        "T5ForConditionalGeneration", "BartForConditionalGeneration", "MarianMTModel", "PegasusForConditionalGeneration", "MBartForConditionalGeneration", "UMT5ForConditionalGeneration",
    ],
    "vision": [
        "ViTForImageClassification", "DeiTForImageClassification", "SwinForImageClassification", "ConvNextForImageClassification", "ResNetForImageClassification", "BeitForImageClassification",
        "Dinov2ForImageClassification", "SegformerForImageClassification", "SiglipVisionModel", "CLIPVisionModel",
    ],
    "audio": ["Wav2Vec2ForCTC", "HubertForCTC", "WhisperForConditionalGeneration", "ASTForAudioClassification", "WavLMForCTC"],
}  # fmt: skip


# What small sizes need beside those of `shrink`.
_MLA = {"num_key_value_heads": 4, "qk_nope_head_dim": 8, "qk_rope_head_dim": 8, "qk_head_dim": 16, "v_head_dim": 8, "head_dim": 8, "q_lora_rank": 16, "kv_lora_rank": 16, "n_group": 1, "topk_group": 1}
MORE = {
    "GPTNeoForCausalLM": {"num_layers": 2, "attention_types": [[["global", "local"], 1]], "window_size": 4, "hidden_size": 32, "num_heads": 4},
    "GPTJForCausalLM": {"rotary_dim": 4}, "CodeGenForCausalLM": {"rotary_dim": 4}, "NemotronForCausalLM": {"num_key_value_heads": 2},
    "DeepseekV2ForCausalLM": _MLA | {"n_routed_experts": 4, "num_experts_per_tok": 2, "first_k_dense_replace": 1}, "DeepseekV3ForCausalLM": _MLA | {"n_routed_experts": 4, "first_k_dense_replace": 1},
    "BeitForImageClassification": {"num_hidden_layers": 2}, "Dinov2ForImageClassification": {"num_hidden_layers": 2},
    "Dots1ForCausalLM": {"n_routed_experts": 4, "n_shared_experts": 1, "first_k_dense_replace": 1, "num_experts_per_tok": 2},
    "BambaForCausalLM": {"mamba_n_heads": 8, "mamba_d_head": 8, "mamba_n_groups": 1, "mamba_d_state": 16, "attn_layer_indices": [1]},
    "Mamba2ForCausalLM": {"hidden_size": 32, "num_heads": 8, "head_dim": 8, "n_groups": 1, "state_size": 16, "num_hidden_layers": 2, "vocab_size": 128},
}  # fmt: skip


def build(name):
    """Models at small sizes, the smallest first, and what was wrong with others."""
    import torch
    import transformers

    model_class, problems = getattr(transformers, name), []
    for level in (0, 1):
        try:
            more = MORE.get(name, {})
            config = shrink(model_class.config_class(**more), level)
            for key, value in more.items():
                setattr(config, key, value)
            with torch.device("meta"):
                count = sum(p.numel() for p in model_class(copy.deepcopy(config)).parameters())
            if count > 100e6:
                problems.append(f"{count / 1e6:.0f} million parameters")
                continue
            torch.manual_seed(0)
            model = model_class(config).eval()
        except Exception as error:
            problems.append(f"{type(error).__name__}: {str(error)[:160]}")
            continue
        with torch.no_grad():  # biases and norms that are not 0 and 1
            for parameter in model.parameters():
                if parameter.is_floating_point() and parameter.dim() < 2:
                    parameter.add_(torch.randn_like(parameter) * 0.1)
        yield model, problems
    yield None, problems


def check(kind, name, plans, devices):
    """What becomes of an architecture: (outcome, message)."""
    import numpy as np
    import torch
    import transformers
    from torch.utils._pytree import tree_leaves

    import shardkit

    transformers.utils.logging.set_verbosity_error()
    transformers.utils.logging.disable_progress_bar()
    problems = []
    for model, problems in build(name):
        for inputs in propose_inputs(model, model.config) if model is not None else []:
            with tempfile.TemporaryDirectory() as folder:
                try:
                    model.config.use_cache = False
                    if kind in ("causal", "mixture", "state-space"):
                        inputs = {"input_ids": inputs["input_ids"]}
                    model.save_pretrained(folder)
                    model = type(model).from_pretrained(folder, dtype=torch.float32, local_files_only=True).eval()
                    expected = call(model, copy.deepcopy(inputs))
                except Exception as error:
                    problems.append(f"{'+'.join(inputs)}: {type(error).__name__}: {str(error).strip()[:160]}")
                    continue
                is_causal = kind in ("causal", "mixture", "state-space")
                done, off = [], 0.0
                for plan in plans:
                    if plan == "hf" and not model.tp_plan:
                        continue
                    for count in devices:
                        models = shardkit.import_transformers(
                            folder, mesh={"model": count}, plan=plan, dtype="f32", batch=2, functions=["score" if is_causal else "forward"],
                            length=inputs["input_ids"].shape[1] if "input_ids" in inputs else 128, inputs=None if is_causal else inputs,
                        )
                        with models.compile() as programs:
                            programs.load(folder)
                            found = [programs.score(inputs["input_ids"])] if is_causal else tree_leaves(programs.forward(**inputs))
                        pairs = list(zip(found, [expected.logits] if is_causal else tree_leaves(expected), strict=True))
                        for i, (a, b) in enumerate(pairs):
                            a, b = np.asarray(a, np.float64), b.detach().double().numpy()
                            scale = np.abs(b[np.isfinite(b)]).max(initial=1e-3)
                            if a.shape != b.shape or not np.allclose(a, b, rtol=1e-3, atol=1e-4 * scale, equal_nan=True):
                                return "wrong", f"{plan} on {count}: result {i} of {len(pairs)}, {b.shape}: off by {np.nanmax(np.abs(a - b)) if a.shape == b.shape else a.shape} of {scale}"
                            off = max(off, float(np.nanmax(np.abs(a - b))) / scale)
                        done.append(f"{plan} on {count}")
                return "equal", f"{', '.join(done)}: {off:.1e}"
    return "not built", "; ".join(problems[-3:]) or "no inputs known"


def work(pipe, kind, name, plans, devices, gigabytes):
    import shardkit

    warnings.simplefilter("ignore")
    resource.setrlimit(resource.RLIMIT_AS, (gigabytes << 30,) * 2)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    try:
        found = check(kind, name, plans, devices)
    except shardkit.ShardKitError as error:
        found = ("refused", str(error))
    except BaseException as error:  # neither an answer nor an error of ours
        found = ("crashed", f"{type(error).__name__}: {str(error).strip()[:300]} at {traceback.extract_tb(error.__traceback__)[-1]}")
    pipe.send(found)
    pipe.close()
    os._exit(0)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="these architectures or kinds alone")
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--plans", default="hf,auto")
    parser.add_argument("--devices", default="1,2,3,4,8")
    parser.add_argument("--timeout", type=int, default=600)
    parser.add_argument("--gigabytes", type=int, default=12)
    parser.add_argument("--list", action="store_true", help="the architectures alone")
    parser.add_argument("--output", help="JSON, which a later call continues")
    args = parser.parse_args()
    chosen = [(kind, name) for kind, names in ARCHITECTURES.items() for name in names]
    chosen = [c for c in chosen[:: args.every] if not args.names or c[0] in args.names or c[1] in args.names]
    if args.list:
        print(*(f"{kind} {name}" for kind, name in chosen), sep="\n")
        return 0
    warnings.simplefilter("ignore")
    import torch

    import shardkit

    torch.set_num_threads(1)
    shardkit.import_transformers, shardkit.import_torch  # before processes are forked
    plans, devices = args.plans.split(","), [int(n) for n in args.devices.split(",")]
    known = run_each(chosen, lambda kind, name: (work, (kind, name, plans, devices, args.gigabytes)), args.timeout, args.output)
    outcomes = Counter(known[name][1] for _, name in chosen)
    print("; ".join(f"{n} {what}" for what, n in outcomes.most_common()))
    return 0 if set(outcomes) == {"equal"} else 1


if __name__ == "__main__":
    sys.exit(main())
