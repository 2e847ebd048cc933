"""Tiny models of Hugging Face's transformers with random weights, and inputs with labels, for torch_plans.py and the tests."""
import torch
import transformers as hf

SIZES = {"vocab_size": 96, "max_position_embeddings": 32, "bos_token_id": 1, "eos_token_id": 2, "pad_token_id": 0}
WIDTHS = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4}
DECODER = SIZES | WIDTHS | {"use_cache": False}
GROUPED = DECODER | {"num_key_value_heads": 4, "head_dim": 8}

CONFIGS = {
    "bert": (hf.BertForSequenceClassification, hf.BertConfig, SIZES | WIDTHS),
    "gpt2": (hf.GPT2LMHeadModel, hf.GPT2Config, SIZES | {"n_embd": 32, "n_layer": 2, "n_head": 4, "use_cache": False}),
    "llama": (hf.LlamaForCausalLM, hf.LlamaConfig, GROUPED | {"num_key_value_heads": 2}),
    "qwen2": (hf.Qwen2ForCausalLM, hf.Qwen2Config, GROUPED),
    "mistral": (hf.MistralForCausalLM, hf.MistralConfig, GROUPED | {"sliding_window": 4}),
    "t5": (hf.T5ForConditionalGeneration, hf.T5Config, {"vocab_size": 96, "d_model": 32, "d_kv": 8, "d_ff": 64, "num_layers": 2, "num_heads": 4, "use_cache": False, "decoder_start_token_id": 0}),
    "opt": (hf.OPTForCausalLM, hf.OPTConfig, DECODER | {"ffn_dim": 64, "word_embed_proj_dim": 32}),
    "gpt_neox": (hf.GPTNeoXForCausalLM, hf.GPTNeoXConfig, DECODER),
    "phi": (hf.PhiForCausalLM, hf.PhiConfig, DECODER),
    "gemma": (hf.GemmaForCausalLM, hf.GemmaConfig, GROUPED),
    "vit": (hf.ViTForImageClassification, hf.ViTConfig, WIDTHS | {"image_size": 16, "patch_size": 8, "num_channels": 3}),
    "mixtral": (hf.MixtralForCausalLM, hf.MixtralConfig, GROUPED | {"num_local_experts": 4, "num_experts_per_tok": 2}),
}


def make(name, batch=2):
    """The module, without dropout, and its inputs by name."""
    kind, config, options = CONFIGS[name]
    torch.manual_seed(0)
    hf.logging.set_verbosity_error()
    module = kind(config(**options)).eval()
    with torch.no_grad():  # no symmetry: biases and norms too
        for p in module.parameters():
            p.add_(0.05 * torch.randn_like(p))
    tokens = torch.randint(3, 96, (batch, 5))
    labels = torch.randint(3, 96, (batch, 5))
    if name == "vit":
        return module, {"pixel_values": torch.randn(batch, 3, 16, 16), "labels": torch.arange(batch) % 2}
    if name == "bert":
        return module, {"input_ids": tokens, "labels": (torch.arange(batch) + 1) % 2}
    return module, {"input_ids": tokens, "labels": labels}
