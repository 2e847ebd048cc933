#!/usr/bin/env python3
"""Models of transformers from folders in the published layout: functions that share a cache, what is made of stored tensors, what each rank
reads, and what is told about bad folders. sweep_transformers.py compares many architectures."""

import importlib.util
import json
import re
import shutil
import tempfile
from pathlib import Path

import numpy as np
import quantize
import torch
import transformers
from samples import find_wrong_error, run_tests

import shardkit
from shardkit import cli, safetensors
from shardkit.tools import find_tool, run_tool

transformers.utils.logging.set_verbosity_error()
transformers.utils.logging.disable_progress_bar()
FOLDERS = tempfile.TemporaryDirectory()
SIZES = dict(vocab_size=96, hidden_size=32, intermediate_size=48, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2)


def write(name, config, **more):
    """A checkpoint with random weights, and what the library loads from it."""
    folder = Path(FOLDERS.name, name)
    if not folder.exists():
        torch.manual_seed(0)
        getattr(transformers, config.architectures[0])(config).save_pretrained(folder, **more)
    return folder, getattr(transformers, config.architectures[0]).from_pretrained(folder, local_files_only=True).eval()


def llama():
    return write("llama", transformers.LlamaConfig(**SIZES, architectures=["LlamaForCausalLM"]), max_shard_size="30KB")


def test_prefill_and_decode():
    """From a checkpoint in several files; the cache stays in place, and stale entries do not count."""
    folder, module = llama()
    assert len(list(folder.glob("*.safetensors"))) > 1
    models = shardkit.import_transformers(folder, mesh={"model": 2}, plan="hf", functions=["decode", "prefill"], length=10, batch=2)
    assert [a.name for a in models["decode"].arguments if a.is_state] == [f"cache.{i}.{n}" for i in range(2) for n in ("keys", "values")]
    assert 'spmd.weight = "model.layers.0.self_attn.q_proj.weight"' in models.text and not models["prefill"].stored
    tokens = torch.randint(0, 96, (2, 10))
    expected = module(tokens).logits.detach()
    with models.compile() as programs:
        programs.load(folder)
        for prompt in (6, 3):  # the second one begins on the cache of the first
            padded = torch.where(torch.arange(10) < prompt, tokens, 0)
            logits, _ = programs.prefill(padded, prompt - 1, donate=True)
            found = [np.asarray(logits)]
            for i in range(prompt, 10):
                logits, cache = programs.decode(tokens[:, i : i + 1], i, donate=True)
                found.append(np.asarray(logits))
            np.testing.assert_allclose(np.stack(found, 1), expected[:, prompt - 1 :], rtol=1e-4, atol=1e-5)
        layouts = {a.name: a.sharding for a in programs.session["decode"].arguments}
        assert layouts["model.layers.1.mlp.down_proj.weight"] == '<@mesh, [{}, {"model"}]>', layouts
        assert programs.session["decode"].results[1].tied is not None and list(cache)[0] == "cache.0.keys"


def test_latent_attention():
    """A cache of vectors that all heads share, whose sizes no count of heads gives; experts after a dense layer, chosen in any order."""
    sizes = SIZES | dict(num_hidden_layers=5, num_key_value_heads=4, moe_intermediate_size=16, n_routed_experts=6, num_experts_per_tok=2, n_group=1, topk_group=1, first_k_dense_replace=1)
    latent = dict(q_lora_rank=16, kv_lora_rank=12, qk_nope_head_dim=8, qk_rope_head_dim=4, v_head_dim=10)
    folder, module = write("deepseek", transformers.DeepseekV3Config(**sizes, **latent, architectures=["DeepseekV3ForCausalLM"]))
    models = shardkit.import_transformers(folder, mesh={"model": 2}, plan="hf", functions=["prefill", "decode"], length=8)
    tokens = torch.randint(0, 96, (1, 8))
    expected = module(tokens).logits.detach()
    with models.compile() as programs:
        programs.load(folder)
        found = [np.asarray(programs.prefill(torch.where(torch.arange(8) < 5, tokens, 0), 4, donate=True)[0])]
        for i in range(5, 8):
            found.append(np.asarray(programs.decode(tokens[:, i : i + 1], i, donate=True)[0]))
    np.testing.assert_allclose(np.stack(found, 1), expected[:, 4:], rtol=1e-4, atol=1e-5)


def test_loading_functions():
    """Experts that are stored one by one: each rank reads its own bytes of the published files, once."""
    config = transformers.MixtralConfig(**SIZES, num_local_experts=4, num_experts_per_tok=2, architectures=["MixtralForCausalLM"])
    folder, module = write("mixtral", config)
    models = shardkit.import_transformers(folder, mesh={"data": 2, "model": 2}, plan="hf", length=6)
    made = {a.name: a for a in models["score"].arguments if a.load}
    assert len(made) == 4 and len(made["model.layers.0.mlp.experts.gate_up_proj"].sources) == 8, made
    assert models.text.count("func.func private @load") == 2, "equal loading functions are one"
    tokens = torch.randint(0, 96, (2, 6))
    with models.compile() as programs:
        programs.load(folder)
        counters, function = programs.session.load_counters, programs.session["score"]
        np.testing.assert_allclose(programs.score(tokens), module(tokens).logits.detach(), rtol=1e-4, atol=1e-5)
        held = {a.name: a.bytes_per_device for a in function.arguments}
        assert held["model.layers.0.mlp.experts.gate_up_proj"] == 4 * 4 * 96 * 32 // 2, held
        stored = sum(f.stat().st_size for f in folder.glob("*.safetensors"))
        assert counters["bytes_read"] <= stored, (counters, stored)


def test_transposes_and_types():
    """Stored tensors of another type, a head that is tied, a prefix that is missing, a mesh of three devices, the search."""
    config = transformers.GPT2Config(vocab_size=96, n_embd=24, n_layer=2, n_head=3, n_positions=16, architectures=["GPT2LMHeadModel"])
    folder, module = write("gpt2", config)
    stored = safetensors.read(folder / "model.safetensors")
    assert not any(n.startswith("lm_head") for n in stored)
    copy = Path(FOLDERS.name, "gpt2-other")
    shutil.copytree(folder, copy)
    safetensors.write(copy / "model.safetensors", {n.removeprefix("transformer."): v.astype(np.float16) for n, v in stored.items()})
    module = type(module).from_pretrained(copy, dtype=torch.float32, local_files_only=True).eval()
    models = shardkit.import_transformers(copy, mesh={"model": 3}, dtype="f32", length=8)
    assert 'spmd.weight = ["wte.weight"]' in models.text and "arith.extf" in models.text
    tokens = torch.randint(0, 96, (1, 8))
    with models.compile() as programs:
        programs.load(copy)
        np.testing.assert_allclose(programs.score(tokens), module(tokens).logits.detach(), rtol=1e-4, atol=1e-5)


def test_quantized():
    """Weights stay as they are stored, also where devices divide neither heads nor groups; scales are repeated where a shard ends in a group."""
    folder, module = llama()
    tokens = torch.randint(0, 96, (1, 6))
    for method, devices, bits in (("gptq", 6, 4), ("awq", 2, 4), ("fp8", 4, 8), ("nf4_nested", 3, 4)):
        to = Path(FOLDERS.name, method)
        wide = type(module).from_pretrained(quantize.quantize(folder, to, method), local_files_only=True).eval()
        models = shardkit.import_transformers(to, mesh={"model": devices}, plan="hf", length=6, batch=1)
        with models.compile() as programs:
            programs.load(to)
            np.testing.assert_allclose(programs.score(tokens), wide(tokens).logits.detach(), rtol=1e-4, atol=1e-5)
            prefix = f"model.layers.1.mlp.down_proj.{'weight' if method in ('fp8', 'nf4_nested') else 'qweight'}"
            (held,) = [a.bytes_per_device for a in programs.session["score"].arguments if re.fullmatch(re.escape(prefix) + r"(\[.*\])?", a.name)]
            assert held * devices == 48 * 32 * bits / 8, (method, held)


def test_quantized_experts():
    """Stacked as they are published, and stored one by one; the same from a configuration alone."""
    sizes = SIZES | dict(num_hidden_layers=1, intermediate_size=64, num_local_experts=4, num_experts_per_tok=2)
    tokens = torch.randint(0, 96, (1, 6))
    for config, method, devices in (
        (transformers.GptOssConfig(**sizes, head_dim=8, architectures=["GptOssForCausalLM"]), "mxfp4_experts", 2),
        (transformers.MixtralConfig(**sizes, architectures=["MixtralForCausalLM"]), "fp8", 3),
    ):
        folder, module = write(f"{config.model_type}-experts", config)
        to = Path(FOLDERS.name, f"{config.model_type}-{method}")
        wide = quantize.quantize(folder, to, method, is_quantized=lambda n: n.endswith(("_proj.weight", "w1.weight", "w2.weight", "w3.weight")))
        module = type(module).from_pretrained(wide, local_files_only=True).eval()
        models = shardkit.import_transformers(to, mesh={"model": devices}, length=6, batch=1)
        (payload,) = [a for a in models["score"].arguments if re.search(r"gate_up_proj_(blocks|stored\.(weight|blocks))$", a.name)]
        assert payload.dtype == "uint8" if method == "mxfp4_experts" else len(payload.sources) == 8, payload
        with models.compile() as programs:
            programs.load(to)
            np.testing.assert_allclose(programs.score(tokens), module(tokens).logits.detach(), rtol=1e-4, atol=1e-5)
        alone = shardkit.import_transformers(to / "config.json", length=6, batch=1)
        assert {n for a in alone["score"].arguments for n in a.sources} >= {n for a in models["score"].arguments for n in a.sources}
        if method == "mxfp4_experts":  # the plan is that of experts alone: four on eight devices
            shared = shardkit.import_transformers(to / "config.json", mesh={"model": 8}, plan="hf", length=6, batch=1)
            assert '[{"model":(1)4}, {"model":(4)2}, {}, {}]' in shared.text and '[{"model":(1)4}, {}, {"model":(4)2}, {}]' in shared.text


def test_quantized_references():
    """What the tests take for the weights is what the packages of the formats make of the stored tensors."""
    rng = np.random.default_rng(1)
    weight = np.empty((3, 40, 64), np.float32)
    stored, wide = quantize.make_mxfp4(rng, weight, ("blocks", "scales"), is_blocked=True)
    from transformers.integrations.mxfp4 import convert_moe_packed_tensors

    found = convert_moe_packed_tensors(torch.tensor(stored["blocks"]), torch.tensor(stored["scales"]), dtype=torch.float32)
    np.testing.assert_array_equal(found.transpose(1, 2), wide)
    if importlib.util.find_spec("bitsandbytes"):
        from bitsandbytes import functional

        for is_nested in (False, True):
            stored, wide = quantize.make_nf4(rng, weight[0], is_nested)
            tensors = {n.removeprefix("weight."): torch.tensor(v) for n, v in stored.items() if n != "weight"}
            state = functional.QuantState.from_dict(tensors, torch.device("cpu"))
            np.testing.assert_allclose(functional.dequantize_4bit(torch.tensor(stored["weight"]), state), wide, rtol=1e-6, atol=1e-7)
    if importlib.util.find_spec("gguf"):
        import gguf

        for kind in (quantize.Q8_0, quantize.Q4_K, quantize.Q6_K):
            data, wide = quantize.make_blocks(rng, (5, 512), kind)
            np.testing.assert_array_equal(gguf.quants.dequantize(data, gguf.GGMLQuantizationType(kind)), wide)
        folder, _ = write("llama-64", transformers.LlamaConfig(**(SIZES | dict(intermediate_size=64)), architectures=["LlamaForCausalLM"]))
        quantize.write_gguf(folder, Path(FOLDERS.name, "plain.gguf"), [quantize.Q8_0])
        reader = gguf.GGUFReader(Path(FOLDERS.name, "plain.gguf"))
        found = {t.name: (t.tensor_type, tuple(int(n) for n in t.shape)) for t in reader.tensors}
        assert found["blk.1.ffn_down.weight"][1] == (64, 32) and found["output_norm.weight"] == (gguf.GGMLQuantizationType.F32, (32,)), found


def test_gguf():
    """Blocks stay in blocks, sharded by rows and by blocks; an embedding that is the head is there once; llama.cpp's order of rows."""
    sizes = SIZES | dict(hidden_size=256, intermediate_size=768, vocab_size=64, max_position_embeddings=64, num_hidden_layers=1)
    tokens = torch.randint(0, 64, (1, 5))
    for config, devices in (
        (transformers.LlamaConfig(**sizes, architectures=["LlamaForCausalLM"]), 3),
        (transformers.Qwen3Config(**sizes, head_dim=64, tie_word_embeddings=True, architectures=["Qwen3ForCausalLM"]), 2),
        (transformers.Phi3Config(**(sizes | dict(pad_token_id=0)), sliding_window=3, architectures=["Phi3ForCausalLM"]), 2),
        (transformers.Gemma2Config(**sizes, head_dim=64, query_pre_attn_scalar=64, sliding_window=3, attn_logit_softcapping=20.0, final_logit_softcapping=10.0, architectures=["Gemma2ForCausalLM"]), 2),
        (transformers.Gemma3TextConfig(**(sizes | dict(num_hidden_layers=6)), head_dim=64, query_pre_attn_scalar=64, sliding_window=3, architectures=["Gemma3ForCausalLM"]), 2),
        (transformers.MixtralConfig(**sizes, num_local_experts=3, num_experts_per_tok=2, architectures=["MixtralForCausalLM"]), 2),
        (transformers.Qwen3MoeConfig(**sizes, head_dim=64, moe_intermediate_size=256, num_experts=4, num_experts_per_tok=2, norm_topk_prob=True, architectures=["Qwen3MoeForCausalLM"]), 3),
    ):
        folder, module = write(f"{config.model_type}-256", config)
        to = Path(FOLDERS.name, f"{config.model_type}.gguf")
        wide = quantize.write_gguf(folder, to, [quantize.Q4_K, quantize.Q6_K, quantize.Q8_0])
        expected = type(module).from_pretrained(wide, local_files_only=True).eval()(tokens).logits.detach()
        models = shardkit.import_transformers(to, mesh={"model": devices}, plan="hf", length=5, batch=1, dtype="f32")
        with models.compile() as programs:
            programs.load(to)
            np.testing.assert_allclose(programs.score(tokens), expected, rtol=1e-4, atol=1e-5)
            held = {a.name: a.bytes_per_device for a in programs.session["score"].arguments}
        if config.model_type not in ("llama", "qwen3"):
            continue
        if config.tie_word_embeddings:
            assert not any("lm_head" in name for name in held), held
        else:
            # The reference takes the stored tensors of weights whose segments were found: fewer heads than devices.
            run_tool([find_tool("shard-run"), str(models.save(Path(FOLDERS.name, "verify")) / "model.mlir"), f"--weights={to}", "--random-inputs=1", "--verify"])
            down = [v for n, v in held.items() if "down_proj" in n]
            assert devices * sum(down) == 256 * 768 // 32 * 34, held
            # One block of Q4_K in a row, for heads of 64 on three devices (2, 2, none): parts of 32 inputs have 16 bytes of numbers and 6 of scales.
            output = [v for n, v in held.items() if "o_proj" in n]
            assert sum(output) == 256 * 4 * 22, held


def test_forward():
    """Encoders and vision, from the command line, with weights and without; buffers that no checkpoint has are constants."""
    config = transformers.ViTConfig(
        hidden_size=16, intermediate_size=32, num_hidden_layers=1, num_attention_heads=2, image_size=16, patch_size=8, num_labels=5, architectures=["ViTForImageClassification"]
    )
    folder, module = write("vit", config)
    with tempfile.TemporaryDirectory() as directory:
        assert cli.main(["hf", f"{folder}/config.json", "-o", directory, "--mesh", "model=2"]) == 0
        assert sorted(p.name for p in Path(directory).iterdir()) == ["model.mlir", "plan.json"]
    image = torch.randn(1, 3, 16, 16)
    with shardkit.import_transformers(folder).compile() as programs:
        programs.load(folder)
        np.testing.assert_allclose(programs.forward(image)["logits"], module(image).logits.detach(), rtol=1e-4, atol=1e-5)


def test_without_weights():
    """Names are those that the library writes; no weight is made."""
    with tempfile.TemporaryDirectory() as directory:
        # 200 GB of weights.
        config = transformers.LlamaConfig(**(SIZES | dict(hidden_size=65536, intermediate_size=500000, num_hidden_layers=1, num_key_value_heads=4)), architectures=["LlamaForCausalLM"])
        Path(directory, "config.json").write_text(json.dumps(config.to_dict()))
        models = shardkit.import_transformers(directory, mesh={"model": 8}, plan="hf", dtype="bf16", length=4)
    arguments = {a.name: a for a in models["score"].arguments}
    assert arguments["model.layers.0.mlp.up_proj.weight"].shape == (500000, 65536) and arguments["lm_head.weight"].dtype == "bfloat16"


def change(folder, config=None, tensors=None):
    """A copy of a folder with other values in config.json, and other stored tensors."""
    copy = Path(tempfile.mkdtemp(dir=FOLDERS.name))
    shutil.copytree(folder, copy, dirs_exist_ok=True)
    if config:
        values = json.loads((copy / "config.json").read_text())
        (copy / "config.json").write_text(json.dumps({k: v for k, v in (values | config).items() if v is not None}))
    if tensors:
        for file in copy.glob("*.safetensors*"):
            file.unlink()
        stored = {n: v for file in folder.glob("*.safetensors") for n, v in safetensors.read(file).items()}
        safetensors.write(copy / "model.safetensors", tensors(stored))
    return copy


def test_bad_folders():
    folder, _ = llama()
    empty = Path(tempfile.mkdtemp(dir=FOLDERS.name))
    (empty / "notes.txt").write_text("")
    old = change(folder)
    for file in old.glob("*.safetensors*"):
        file.unlink()
    (old / "pytorch_model.bin").write_text("")
    short, broken = change(folder), change(folder)
    next(short.glob("*-00002-*.safetensors")).unlink()
    next(broken.glob("*-00002-*.safetensors")).write_bytes(b"\x10\0\0\0\0\0\0\0{")
    norm, scales = "model.norm.weight", "model.layers.0.mlp.up_proj.scales"
    quantized = Path(FOLDERS.name, "bad-gptq")
    quantize.quantize(folder, quantized, "gptq")
    nf4_folder, alone = Path(FOLDERS.name, "bad-nf4"), Path(FOLDERS.name, "alone.json")
    quantize.quantize(folder, nf4_folder, "nf4_nested")
    alone.write_text((nf4_folder / "config.json").read_text())
    nf4, up = json.loads(alone.read_text())["quantization_config"], "model.layers.0.mlp.up_proj.weight"
    quant_map, state = f"{up}.quant_map", f"{up}.quant_state.bitsandbytes__nf4"
    sizes = dict(moe_intermediate_size=16, num_experts=4, num_experts_per_tok=2)
    plain, _ = write("qwen3_moe", transformers.Qwen3MoeConfig(**SIZES, **sizes, architectures=["Qwen3MoeForCausalLM"]))
    small, _ = write("llama-64", transformers.LlamaConfig(**(SIZES | dict(intermediate_size=64)), architectures=["LlamaForCausalLM"]))
    quantize.write_gguf(small, Path(FOLDERS.name, "good.gguf"), [quantize.Q8_0])
    gguf_bytes = Path(FOLDERS.name, "good.gguf").read_bytes()
    feed_forward = b"llama.feed_forward_length" + bytes([4, 0, 0, 0, 64, 0, 0, 0])
    q8 = b"output.weight" + bytes([2, 0, 0, 0, 32] + [0] * 7 + [96] + [0] * 7 + [8, 0, 0, 0]) + bytes(8)
    assert feed_forward in gguf_bytes and q8 in gguf_bytes

    def bad_gguf(name, content):
        file = Path(FOLDERS.name, f"{name}.gguf")
        file.write_bytes(content)
        return file

    experts = Path(FOLDERS.name, "bad-experts")
    quantize.quantize(plain, experts, "fp8")
    cases = {
        "folder": (empty, {}, r"no config\.json \(notes\.txt\), expected a folder with config\.json, or such a file; nothing is downloaded$"),
        "no folder": (empty / "none", {}, r"none: no config\.json \(.*\), expected a folder"),
        "name": ("meta-llama/Meta-Llama-3-8B", {}, r"no config\.json .*nothing is downloaded"),
        "architecture": (change(folder, {"model_type": "llamma"}), {}, r"config\.json: unknown architecture 'llamma', expected one of transformers [\d.]+, such as llama"),
        "class": (change(folder, {"architectures": ["LlamaForEverything"]}), {}, r"unknown class 'LlamaForEverything' in architectures, expected one of transformers"),
        "custom": (change(folder, {"model_type": "mine", "auto_map": {"AutoModel": "code.Model"}}), {}, r"'mine' \(its code is in the folder, and is not run\)"),
        "quantized": (change(folder, {"quantization_config": {"quant_method": "hqq", "bits": 3}}), {}, r"weights quantized by hqq in 3 bits, expected weights in f32, f16, bf16 or f64, or by gptq and awq in 4 bits, fp8"),
        "bits": (change(folder, {"quantization_config": {"quant_method": "gptq", "bits": 3}}), {}, r"weights quantized by gptq in 3 bits, expected"),
        "group": (change(folder, {"quantization_config": {"quant_method": "awq", "bits": 4, "group_size": 12}}), {}, r"group_size is 12, expected -1, or a multiple of 8"),
        "zero points": (change(folder, {"quantization_config": {"quant_method": "awq", "bits": 4, "version": "gemv"}}), {}, r"version is 'gemv', zero_point True, expected gemm with zero points"),
        "zeros": (change(folder, {"quantization_config": {"quant_method": "gptq", "bits": 4, "checkpoint_format": "marlin"}}), {}, r"checkpoint_format is 'marlin', expected gptq or gptq_v2"),
        "block": (change(folder, {"quantization_config": {"quant_method": "fp8", "weight_block_size": 128}}), {}, r"weight_block_size is 128, expected two positive numbers"),
        "payload": (change(quantized, {"intermediate_size": 64}), {}, r"mlp\.down_proj\.qweight is stored with shape \(6, 32\), expected \(8, 32\) by the configuration \(17 more differ\)"),
        "scales": (change(quantized, tensors=lambda t: {n: v for n, v in t.items() if n != scales}), {}, r"no stored tensor for model\.layers\.0\.mlp\.up_proj\.scales, expected all"),
        "nf4": (change(folder, {"quantization_config": nf4 | {"bnb_4bit_quant_type": "fp4"}}), {}, r"weights quantized by bitsandbytes \(fp4 stored in None\), expected"),
        "table": (change(nf4_folder, tensors=lambda t: t | {quant_map: t[quant_map][::-1].copy()}), {}, r"up_proj\.weight\.quant_map is \[1\.0, .*expected the sixteen numbers of nf4"),
        "mean": (change(nf4_folder, tensors=lambda t: t | {state: t[state][:-1]}), {}, r"up_proj\.weight\.quant_state\.bitsandbytes__nf4: .*, expected JSON with nested_offset"),
        "alone": (alone, {}, r"bnb_4bit_use_double_quant stores a number beside the tensors, expected a folder with them"),
        "gguf": (bad_gguf("short", gguf_bytes[:50]), {}, r"short\.gguf: it ends after 50 bytes, expected a \.gguf file of version 2 or 3"),
        "gguf architecture": (bad_gguf("other", gguf_bytes.replace(b"llama", b"gemma")), {}, r"general\.architecture is 'gemma', expected one of llama, qwen2, qwen3, qwen3moe, phi3, gemma2, gemma3"),
        "gguf shapes": (bad_gguf("shapes", gguf_bytes.replace(feed_forward, feed_forward[:-4] + b"\x60\0\0\0")), {}, r"the weight of model\.layers\.\d\.mlp\.\w+ is stored with shape \(.*\), expected \(.*96.*\) by the metadata"),
        "gguf names": (bad_gguf("names", gguf_bytes.replace(b"ffn_gate.weight", b"ffn_door.weight")), {}, r"tensor blk\.0\.ffn_door\.weight, expected those of llama: token_embd"),
        "gguf types": (bad_gguf("types", gguf_bytes.replace(q8, q8[:-12] + b"\x02" + q8[-11:])), {}, r"has type number 2, expected one of float32, float16, bfloat16, Q8_0, Q4_K, Q6_K"),
        "expert": (change(experts, tensors=lambda t: {n: v for n, v in t.items() if "experts.1.up_proj" not in n}), {}, r"no stored tensor of expert 1\.up_proj, expected those of all 4 experts"),
        "shapes": (change(folder, {"intermediate_size": 64}), {}, r"model\.layers\.0\.mlp\.down_proj\.weight is stored with shape \(32, 48\), expected \(32, 64\) by the configuration \(5 more differ\)"),
        "layers": (change(folder, {"num_hidden_layers": 3}), {}, r"no stored tensor for model\.layers\.2\.input_layernorm\.weight, .* and 5 more, expected all 30 tensors of LlamaForCausalLM"),
        "extra": (change(folder, {"num_hidden_layers": 1}), {}, r"stored tensors that LlamaForCausalLM does not have: model\.layers\.1\..* and 5 more, expected its own alone"),
        "missing": (change(folder, tensors=lambda t: {n: v for n, v in t.items() if n != norm}), {}, r"no stored tensor for model\.norm\.weight, expected all 21 tensors"),
        "types": (change(folder, tensors=lambda t: t | {norm: t[norm].astype(np.uint64)}), {}, r"model\.norm\.weight has type U64, expected one of"),
        "file": (short, {}, r"-00002-of-.*: no such file, expected it with .*, as model\.safetensors\.index\.json lists"),
        "header": (broken, {}, r"-00002-of-.*: the header is not JSON, expected a \.safetensors file"),
        "format": (old, {}, r"weights in pytorch_model\.bin, expected \*\.safetensors"),
        "function": (folder, {"functions": ["generate"]}, r"no function is called 'generate', expected of: forward, score, prefill, decode"),
        "plan": (folder, {"mesh": {"model": 2}, "plan": "fast", "length": 4}, r"fast: no such file, expected auto, hf, or a plan file"),
        "axis": (folder, {"mesh": {"model": 2}, "axis": "tp"}, r"axis is 'tp', expected one of the mesh: model"),
        "dtype": (folder, {"dtype": "int4"}, r"dtype is 'int4', expected auto, f32"),
        "length": (folder, {"length": 0}, r"length is 0, expected a positive number"),
    }  # fmt: skip
    wrong = {n: found for n, (path, more, expected) in cases.items() if (found := find_wrong_error(lambda: shardkit.import_transformers(path, **more), expected))}
    assert not wrong, "\n".join(f"{n}: {w}" for n, w in wrong.items())


if __name__ == "__main__":
    run_tests(globals())
