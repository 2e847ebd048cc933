#!/usr/bin/env python3
"""Trace the sentence encoder all-MiniLM-L6-v2 from JAX to `minilm.mlir`.

The encoder is an ordinary JAX function whose arguments are the token ids, the
attention mask and the weights under their safetensors names. The way to linalg:

    jax.jit(encode).lower()              StableHLO and CHLO, annotated here
    torch-mlir-opt --stablehlo-legalize-to-linalg --canonicalize --cse
    a few rewrites of the text           what that lowering leaves behind

Weights are arguments, never constants, so tracing needs their shapes only and
no download. `--check DIR` also runs the JAX function on the real weights.

Needs: pip install jax torch-mlir
"""

import argparse
import os
import re
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))

os.environ.setdefault("JAX_PLATFORMS", "cpu")

import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
from jax.extend.mlir import ir  # noqa: E402

LAYERS, HIDDEN, HEADS, FFN = 6, 384, 12, 1536
VOCAB, POSITIONS, TOKEN_TYPES = 30522, 512, 2
EPS = 1e-12


# --- the model ---------------------------------------------------------------


@jax.jit
def layer_norm(x, weight, bias):
    mean = jnp.mean(x, axis=-1, keepdims=True)
    centered = x - mean
    variance = jnp.mean(centered * centered, axis=-1, keepdims=True)
    return centered * jax.lax.rsqrt(variance + EPS) * weight + bias


def dense(x, w, name):
    """A linear layer; the stored weight is [out, in]."""
    with jax.named_scope(name.removesuffix(".dense").rsplit(".", 1)[-1]):
        return x @ w[name + ".weight"].T + w[name + ".bias"]


def norm(x, w, name):
    return layer_norm(x, w[name + ".weight"], w[name + ".bias"])


def split_heads(x):
    batch, length, _ = x.shape
    return x.reshape(batch, length, HEADS, HIDDEN // HEADS).transpose(0, 2, 1, 3)


def attention(x, bias, w, name):
    query = split_heads(dense(x, w, name + ".self.query"))
    key = split_heads(dense(x, w, name + ".self.key"))
    value = split_heads(dense(x, w, name + ".self.value"))
    scores = query @ key.transpose(0, 1, 3, 2) / (HIDDEN // HEADS) ** 0.5
    context = jax.nn.softmax(scores + bias, axis=-1) @ value
    context = context.transpose(0, 2, 1, 3).reshape(x.shape)
    out = dense(context, w, name + ".output.dense")
    return norm(x + out, w, name + ".output.LayerNorm")


def feed_forward(x, w, name):
    inner = dense(x, w, name + ".intermediate.dense")
    inner = jax.nn.gelu(inner, approximate=False)
    out = dense(inner, w, name + ".output.dense")
    return norm(x + out, w, name + ".output.LayerNorm")


def encode(input_ids, attention_mask, w):
    """i32 [batch, length] ids and mask to f32 [batch, 384], rows of length 1."""
    length = input_ids.shape[1]
    with jax.named_scope("embeddings"):
        x = w["embeddings.word_embeddings.weight"][input_ids]
        x = x + w["embeddings.position_embeddings.weight"][:length]
        # All tokens are of type 0: these are single sentences.
        x = x + w["embeddings.token_type_embeddings.weight"][0]
        x = norm(x, w, "embeddings.LayerNorm")
        mask = attention_mask.astype(jnp.float32)
        bias = (1.0 - mask[:, None, None, :]) * jnp.finfo(jnp.float32).min
    for i in range(LAYERS):
        name = f"encoder.layer.{i}"
        with jax.named_scope(f"layer.{i}"):
            with jax.named_scope("attention"):
                x = attention(x, bias, w, name + ".attention")
            with jax.named_scope("mlp"):
                x = feed_forward(x, w, name)
    with jax.named_scope("pooling"):
        total = jnp.sum(x * mask[:, :, None], axis=1)
        count = jnp.maximum(jnp.sum(mask, axis=1, keepdims=True), 1e-9)
        mean = total / count
        norm2 = jnp.sqrt(jnp.sum(mean * mean, axis=-1, keepdims=True))
        return mean / jnp.maximum(norm2, 1e-12)


def weight_shapes():
    """Name -> shape of every weight that the encoder reads.

    The file also holds `embeddings.position_ids` (an i64 buffer) and the pooler
    of BERT's pre-training, which the sentence embedding does not use."""
    shapes = {
        "embeddings.word_embeddings.weight": (VOCAB, HIDDEN),
        "embeddings.position_embeddings.weight": (POSITIONS, HIDDEN),
        "embeddings.token_type_embeddings.weight": (TOKEN_TYPES, HIDDEN),
    }

    def add_norm(name):
        shapes[name + ".weight"] = shapes[name + ".bias"] = (HIDDEN,)

    def add_dense(name, outs, ins):
        shapes[name + ".weight"], shapes[name + ".bias"] = (outs, ins), (outs,)

    add_norm("embeddings.LayerNorm")
    for i in range(LAYERS):
        name = f"encoder.layer.{i}"
        for part in ("query", "key", "value"):
            add_dense(f"{name}.attention.self.{part}", HIDDEN, HIDDEN)
        add_dense(f"{name}.attention.output.dense", HIDDEN, HIDDEN)
        add_norm(f"{name}.attention.output.LayerNorm")
        add_dense(f"{name}.intermediate.dense", FFN, HIDDEN)
        add_dense(f"{name}.output.dense", HIDDEN, FFN)
        add_norm(f"{name}.output.LayerNorm")
    return shapes


# --- annotations -------------------------------------------------------------

HEADER = "// The sentence encoder all-MiniLM-L6-v2. Written by trace.py.\n"
MESH = '  spmd.mesh @pod = <["data"=2, "model"=2]>\n'


def sharding(*dims):
    return "#spmd.sharding<@pod, [" + ", ".join(dims) + "]>"


BATCH = sharding('{"data", ?}', "{?}")
ROWS = sharding('{"model"}', "{?}")  # split the outputs: [out, in]
COLUMNS = sharding("{?}", '{"model"}')  # split the inputs

# Megatron's choice, on the matrices only: propagation completes the biases.
WEIGHT_SHARDINGS = [
    (r"\.attention\.self\.(query|key|value)\.weight$", ROWS),
    (r"\.attention\.output\.dense\.weight$", COLUMNS),
    (r"\.intermediate\.dense\.weight$", ROWS),
    (r"layer\.\d+\.output\.dense\.weight$", COLUMNS),
]


def argument_attributes(weights, annotate):
    """One list of `name = value` strings per argument, in argument order."""
    batch = [f"spmd.sharding = {BATCH}"] if annotate else []
    result = [
        ['spmd.name = "input_ids"', f"spmd.range = [0, {VOCAB}]"] + batch,
        ['spmd.name = "attention_mask"', "spmd.range = [0, 2]"] + batch,
    ]
    for name in weights:
        attributes = [f'spmd.weight = "{name}"']
        if annotate:
            attributes += [
                f"spmd.sharding = {value}"
                for pattern, value in WEIGHT_SHARDINGS
                if re.search(pattern, name)
            ]
        result.append(attributes)
    return result


# --- from JAX to linalg ------------------------------------------------------


def lower(batch, length, annotate):
    """The annotated StableHLO of `encode`, in generic form with locations."""
    jax.config.update("jax_include_full_tracebacks_in_locations", False)
    tokens = jax.ShapeDtypeStruct((batch, length), jnp.int32)
    # Arguments come in the order of the flattened tree: a dict is sorted by key.
    shapes = dict(sorted(weight_shapes().items()))
    weights = {k: jax.ShapeDtypeStruct(v, jnp.float32) for k, v in shapes.items()}
    module = jax.jit(encode).lower(tokens, tokens, weights).compiler_ir("stablehlo")
    attributes = argument_attributes(shapes, annotate)
    with module.context as context, ir.Location.unknown():
        context.allow_unregistered_dialects = True
        for name in list(module.operation.attributes):
            attribute = name if isinstance(name, str) else name.name
            del module.operation.attributes[attribute]
        module.operation.attributes["sym_name"] = ir.StringAttr.get("minilm")
        for op in module.body.operations:
            # No argument of a helper needs what JAX says about it.
            for key in ("arg_attrs", "res_attrs"):
                if key in op.attributes:
                    del op.attributes[key]
            if op.attributes["sym_name"].value != "main":
                continue
            op.attributes["sym_name"] = ir.StringAttr.get("encode")
            parsed = [ir.Attribute.parse("{" + ", ".join(a) + "}") for a in attributes]
            assert len(parsed) == len(op.regions[0].blocks[0].arguments)
            op.attributes["arg_attrs"] = ir.ArrayAttr.get(parsed)
            named = ir.Attribute.parse('{spmd.name = "embedding"}')
            op.attributes["res_attrs"] = ir.ArrayAttr.get([named])
        return module.operation.get_asm(
            print_generic_op_form=True, enable_debug_info=True
        )


def find_torch_mlir_opt():
    beside = os.path.join(os.path.dirname(sys.executable), "torch-mlir-opt")
    tool = beside if os.path.exists(beside) else shutil.which("torch-mlir-opt")
    if not tool:
        sys.exit("trace.py: torch-mlir-opt not found; pip install torch-mlir")
    return tool


def legalize(text, locations):
    command = [
        find_torch_mlir_opt(),
        "--allow-unregistered-dialect",
        "--stablehlo-legalize-to-linalg",
        "--canonicalize",
        "--cse",
    ]
    if locations:
        command.append("--mlir-print-debuginfo")
    run = subprocess.run(command, input=text, capture_output=True, text=True)
    if run.returncode:
        sys.exit("trace.py: torch-mlir-opt failed:\n" + run.stderr[:4000])
    return run.stdout


def short_locations(text):
    """One location per operation: its scope within the model and its line here.

    JAX nests a name for the primitive in a name for the scope. The two become
    one, `loc("layer.0.mlp.output.dot_general"("trace.py":50:11))`, kept at the end
    of the file. Bodies of generics keep none (their operation has one), constants
    neither (they are shared)."""
    body = r'(?:"[^"]*"(?::\d+:\d+|\(#loc\d*\))?|#loc\d*|unknown)'
    aliases = dict(re.findall(rf"^(#loc\d*) = loc\(({body})\)$", text, flags=re.M))

    def resolve(body):
        """The names, outermost scope first, and the file position."""
        if body.startswith("#"):
            return resolve(aliases[body])
        if match := re.fullmatch(r'"([^"]*)"\((#loc\d*)\)', body):
            names, place = resolve(match[2])
            return names + [match[1]], place
        if match := re.fullmatch(r'"(?:[^"]*/)?([^"/]*)":(\d+:\d+)', body):
            return [], f'"{match[1]}":{match[2]}'
        return [] if body == "unknown" else [body.strip('"')], None

    numbers = {}
    scope = ""

    def short(match):
        names, place = resolve(match[1])
        # Where an argument was named, JAX wrote w['embeddings.LayerNorm.bias'].
        name = re.sub(r"^w\['(.*)'\]$", r"\1", "/".join(names))
        if not place:
            return f' loc("{name}")' if name else ""
        name = re.sub(r"jit\((\w+)\)", r"\1", name).removeprefix("encode/")
        name = (scope + name).replace("/", ".")
        new = f'"{name}"({place})'
        return f" loc(#loc{numbers.setdefault(new, len(numbers))})"

    lines = []
    for line in text.split("\n"):
        if line.startswith("#loc"):
            continue
        if helper := re.match(r"  func\.func private @(\w+)", line):
            scope = helper[1] + "/"
        inside = line.startswith(("      ", "    ^", "  func.func private", "  }"))
        if inside or "arith.constant" in line:
            line = re.sub(rf" loc\({body}\)", "", line)
        else:
            line = re.sub(rf" loc\(({body})\)", short, line)
        lines.append(line)
    definitions = [f"#loc{number} = loc({place})" for place, number in numbers.items()]
    return "\n".join(lines).rstrip("\n") + "\n" + "\n".join(definitions) + "\n"


def finish(text, annotate):
    # The lowering knows no CHLO; math has the same function.
    text = re.sub(
        r"chlo\.erfc (%\w+) : (tensor<[^>]*>) -> \2", r"math.erfc \1 : \2", text
    )
    left = sorted(set(re.findall(r"\b(?:chlo|stablehlo|mhlo|sdy)\.\w+", text)))
    if left:
        sys.exit("trace.py: not lowered to linalg: " + ", ".join(left))
    text = short_locations(text)
    # One argument a line.
    head = re.search(r"  func\.func public @encode\(.*\n", text)
    split = re.sub(r", (?=%arg\d+: )", ",\n      ", head[0])
    split = split.replace("public @encode(", "@encode(\n      ", 1)
    text = text[: head.start()] + split + text[head.end() :]
    mesh = MESH if annotate else ""
    text = re.sub(r"^(module .*\n)", lambda m: m[1] + mesh, text, count=1, flags=re.M)
    return HEADER + text


# --- the same function on the real weights -----------------------------------


def check(directory):
    """Largest difference of the JAX function from the committed reference."""
    import numpy as np

    from reference import read_safetensors

    def load(name):
        return np.load(os.path.join(HERE, name))

    stored = read_safetensors(os.path.join(directory, "model.safetensors"))
    weights = {}
    for name, shape in weight_shapes().items():
        assert stored[name].shape == shape, (name, stored[name].shape, shape)
        weights[name] = stored[name]
    with jax.default_matmul_precision("highest"):
        ours = jax.jit(encode)(load("input_ids.npy"), load("attention_mask.npy"), weights)
    difference = np.abs(np.asarray(ours) - load("reference.npy")).max()
    print(f"largest difference of JAX from reference.npy: {difference:.2e}")
    return 0 if difference <= 1e-5 else 1


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--batch", type=int, default=12)
    parser.add_argument("--length", type=int, default=64, help=f"at most {POSITIONS}")
    parser.add_argument("--no-annotations", action="store_true", help="no mesh, no shardings")
    parser.add_argument("--no-locations", action="store_true", help="print without debug info")
    parser.add_argument("--stablehlo", metavar="FILE", help="also write the input of the lowering")
    parser.add_argument("--check", metavar="DIR", help="run on the weights in DIR, compare, write nothing")
    parser.add_argument("-o", "--output", default=os.path.join(HERE, "minilm.mlir"))
    options = parser.parse_args()
    if not 1 <= options.length <= POSITIONS or options.batch < 1:
        parser.error(f"batch must be positive and length in 1..{POSITIONS}")
    if options.check:
        return check(options.check)
    annotate = not options.no_annotations
    text = lower(options.batch, options.length, annotate)
    if options.stablehlo:
        with open(options.stablehlo, "w") as file:
            file.write(text)
    text = finish(legalize(text, not options.no_locations), annotate)
    with open(options.output, "w") as file:
        file.write(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
