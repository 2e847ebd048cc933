"""Models for plans.py, each a training step (MiniLM: an inference) without any sharding, with what a hand would write for it.

A model is a function of the size, "small" (for tests) or "table", that gives the text of a module with `MESH` where its mesh stands and the plans
by hand: name -> (sizes of data and model, rules of a plan file).
"""
import argparse
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "test" / "Integration" / "training"))
import gen_training_step as step  # noqa: E402
from autodiff import Graph  # noqa: E402

DEVICES = 8
DATA, BOTH = (8, 1), (2, 4)


class Loss(step.Model):
    """Base of models whose loss is the cross-entropy of tokens."""

    def __init__(self, args):
        self.args, self.graph, self.weights, self.inputs = args, Graph(), {}, []
        self.marks = {}
        self.build(args, self.graph)
        gradients = self.graph.gradients(self.loss, list(self.weights.values()))
        self.gradients = dict(zip(self.weights, gradients))

    def cross_entropy(self, logits, labels, classes):
        g = self.graph
        top = g.reduce("max", logits, [2])
        exp = g.unary("exp", g.sub(logits, g.broadcast(top, logits.shape, [2])))
        lse = g.add(g.unary("log", g.reduce("sum", exp, [2])), top)
        right = g.mul(g.one_hot(labels, classes), logits)
        nll = g.sub(lse, g.reduce("sum", right, [2]))
        return g.scale(g.reduce("sum", nll, [0, 1]), 1 / (logits.shape[0] * logits.shape[1]))

    def mean_square(self, x):
        g = self.graph
        target = g.argument("target", x.shape)
        self.inputs.append(target)
        error = g.sub(x, target)
        return g.scale(g.reduce("sum", g.mul(error, error), range(x.rank)), 1 / x.shape[0])


class Experts(Loss):
    """A layer of experts, each a feed-forward net, mixed by a softmax gate."""

    def build(self, args, g):
        x = g.argument("x", (args.batch, args.seq, args.dim))
        self.inputs.append(x)
        gate = self.weight("gate", (args.dim, args.experts))
        up = self.weight("up", (args.experts, args.dim, args.ffn))
        down = self.weight("down", (args.experts, args.ffn, args.dim))
        score = g.unary("exp", g.einsum("bsd,de->bse", x, gate))
        total = g.broadcast(g.reduce("sum", score, [2]), score.shape, [2])
        hidden = g.unary("tanh", g.einsum("bsd,edf->ebsf", x, up))
        out = g.einsum("ebsf,efd->ebsd", hidden, down)
        self.loss = self.mean_square(g.einsum("bse,ebsd->bsd", g.div(score, total), out))


class TiedHead(Loss):
    """An embedding that is the output projection too, with a feed-forward net between."""

    def build(self, args, g):
        tokens = g.argument("tokens", (args.batch, args.seq), "i64")
        labels = g.argument("labels", (args.batch, args.seq), "i64")
        self.inputs += [tokens, labels]
        table = self.weight("table", (args.vocab, args.dim))
        w1, w2 = self.weight("w1", (args.dim, args.ffn)), self.weight("w2", (args.ffn, args.dim))
        x = g.einsum("bsv,vd->bsd", g.one_hot(tokens, args.vocab), table)
        h = g.unary("tanh", g.einsum("bsd,df->bsf", x, w1))
        x = g.add(x, g.einsum("bsf,fd->bsd", h, w2))
        self.loss = self.cross_entropy(g.einsum("bsd,vd->bsv", x, table), labels, args.vocab)


def write(model, args):
    args.pipelined = args.candidates = args.sgd = False
    args.stages = 1
    args.type, args.mesh, args.annotations, args.fsdp_priority = "f32", [("data", 1), ("model", 1)], set(), 0
    text = step.write(args, model)
    return re.sub(r"spmd\.mesh @mesh = .*", "MESH", text)


def data(inputs):
    return [{"argument": name, "axis_resources": ["data"] + [None] * (rank - 1)} for name, rank in inputs.items()]


def fsdp(weights):
    """The largest dim of each weight that the devices divide, cut by all of them."""
    rules = []
    for name, shape in weights.items():
        dims = [d for d, size in enumerate(shape) if size % DEVICES == 0]
        if dims:
            cut = max(dims, key=lambda d: shape[d])
            rules.append({"argument": name, "axis_resources": ["data" if d == cut else "?" for d in range(len(shape))]})
    return rules


def by_hand(inputs, weights, megatron):
    """`megatron`: name of a weight -> the dim that is cut by model."""
    cut = [{"argument": name, "axis_resources": ["model" if d == dim else "?" for d in range(len(weights[name]))]}
           for name, dim in megatron.items() if name in weights]
    return {"data parallel": (DATA, data(inputs)), "megatron": (BOTH, data(inputs) + cut),
            "fsdp": (DATA, data(inputs) + fsdp(weights))}


def gpt(size):
    large = size == "table"
    text = ["--layers", "2" if large else "1", "--batch", "8", "--seq", "128" if large else "8", "--heads", "8", "--head-dim", "64" if large else "4",
            "--dim", "512" if large else "32", "--ffn", "2048" if large else "64", "--vocab", "4096" if large else "64", "--loss", "cross-entropy"]
    args = step.parse(text)
    model = step.Model(args)
    weights = {name: node.shape for name, node in model.weights.items()}
    megatron = {}
    for name in weights:
        last = name.split(".")[-1]
        if last in step.COLUMN + step.ROW:
            megatron[name] = 1 if last in step.COLUMN else 0
    megatron["head.w"] = 1
    return write(model, args), by_hand({"x": 3, "labels": 2}, weights, megatron)


def experts(size):
    sizes = dict(batch=8, seq=256, dim=512, ffn=2048, experts=8) if size == "table" else dict(batch=8, seq=4, dim=16, ffn=32, experts=8)
    args = argparse.Namespace(**sizes)
    model = Experts(args)
    weights = {name: node.shape for name, node in model.weights.items()}
    return write(model, args), by_hand({"x": 3, "target": 3}, weights, {"up": 0, "down": 0})


def tied_head(size):
    sizes = dict(batch=8, seq=64, dim=512, ffn=2048, vocab=32768) if size == "table" else dict(batch=8, seq=4, dim=16, ffn=32, vocab=64)
    args = argparse.Namespace(**sizes)
    model = TiedHead(args)
    weights = {name: node.shape for name, node in model.weights.items()}
    return write(model, args), by_hand({"tokens": 2, "labels": 2}, weights, {"table": 0, "w1": 1, "w2": 0})


CONV = """MESH
func.func @step(%x: tensor<{N}x{H}x{H}x{C}xf32> {{spmd.name = "x"}}, %target: tensor<{N}x{K}xf32> {{spmd.name = "target"}},
                %w: tensor<3x3x{C}x{F}xf32> {{spmd.weight = "conv"}}, %v: tensor<{F}x{K}xf32> {{spmd.weight = "head"}})
    -> (tensor<3x3x{C}x{F}xf32> {{spmd.name = "new.conv", spmd.tied = 2 : i64}}, tensor<{F}x{K}xf32> {{spmd.name = "new.head", spmd.tied = 3 : i64}}) {{
  %zero = arith.constant 0.0 : f32
  %rate = arith.constant 1.0e-3 : f32
  %one = arith.constant dense<1.0> : tensor<{N}x{O}x{O}x{F}xf32>
  %e0 = tensor.empty() : tensor<{N}x{O}x{O}x{F}xf32>
  %z0 = linalg.fill ins(%zero : f32) outs(%e0 : tensor<{N}x{O}x{O}x{F}xf32>) -> tensor<{N}x{O}x{O}x{F}xf32>
  %y = linalg.conv_2d_nhwc_hwcf ins(%x, %w : tensor<{N}x{H}x{H}x{C}xf32>, tensor<3x3x{C}x{F}xf32>) outs(%z0 : tensor<{N}x{O}x{O}x{F}xf32>) -> tensor<{N}x{O}x{O}x{F}xf32>
  %a = math.tanh %y : tensor<{N}x{O}x{O}x{F}xf32>
  %e1 = tensor.empty() : tensor<{N}x{F}xf32>
  %z1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<{N}x{F}xf32>) -> tensor<{N}x{F}xf32>
  %p = linalg.reduce {{ arith.addf }} ins(%a : tensor<{N}x{O}x{O}x{F}xf32>) outs(%z1 : tensor<{N}x{F}xf32>) dimensions = [1, 2]
  %e2 = tensor.empty() : tensor<{N}x{K}xf32>
  %z2 = linalg.fill ins(%zero : f32) outs(%e2 : tensor<{N}x{K}xf32>) -> tensor<{N}x{K}xf32>
  %o = linalg.matmul ins(%p, %v : tensor<{N}x{F}xf32>, tensor<{F}x{K}xf32>) outs(%z2 : tensor<{N}x{K}xf32>) -> tensor<{N}x{K}xf32>
  %error = arith.subf %o, %target : tensor<{N}x{K}xf32>
  %e3 = tensor.empty() : tensor<{F}x{K}xf32>
  %z3 = linalg.fill ins(%zero : f32) outs(%e3 : tensor<{F}x{K}xf32>) -> tensor<{F}x{K}xf32>
  %dv = linalg.generic {{indexing_maps = [affine_map<(f, k, n) -> (n, f)>, affine_map<(f, k, n) -> (n, k)>, affine_map<(f, k, n) -> (f, k)>],
      iterator_types = ["parallel", "parallel", "reduction"]}} ins(%p, %error : tensor<{N}x{F}xf32>, tensor<{N}x{K}xf32>) outs(%z3 : tensor<{F}x{K}xf32>) {{
  ^bb0(%l: f32, %r: f32, %s: f32):
    %m = arith.mulf %l, %r : f32
    %t = arith.addf %s, %m : f32
    linalg.yield %t : f32
  }} -> tensor<{F}x{K}xf32>
  %dp = linalg.generic {{indexing_maps = [affine_map<(n, f, k) -> (n, k)>, affine_map<(n, f, k) -> (f, k)>, affine_map<(n, f, k) -> (n, f)>],
      iterator_types = ["parallel", "parallel", "reduction"]}} ins(%error, %v : tensor<{N}x{K}xf32>, tensor<{F}x{K}xf32>) outs(%z1 : tensor<{N}x{F}xf32>) {{
  ^bb0(%l: f32, %r: f32, %s: f32):
    %m = arith.mulf %l, %r : f32
    %t = arith.addf %s, %m : f32
    linalg.yield %t : f32
  }} -> tensor<{N}x{F}xf32>
  %da = linalg.broadcast ins(%dp : tensor<{N}x{F}xf32>) outs(%e0 : tensor<{N}x{O}x{O}x{F}xf32>) dimensions = [1, 2]
  %square = arith.mulf %a, %a : tensor<{N}x{O}x{O}x{F}xf32>
  %slope = arith.subf %one, %square : tensor<{N}x{O}x{O}x{F}xf32>
  %dy = arith.mulf %da, %slope : tensor<{N}x{O}x{O}x{F}xf32>
  %e4 = tensor.empty() : tensor<3x3x{C}x{F}xf32>
  %z4 = linalg.fill ins(%zero : f32) outs(%e4 : tensor<3x3x{C}x{F}xf32>) -> tensor<3x3x{C}x{F}xf32>
  %dw = linalg.generic {{indexing_maps = [affine_map<(i, j, c, f, n, h, w) -> (n, h + i, w + j, c)>, affine_map<(i, j, c, f, n, h, w) -> (n, h, w, f)>,
      affine_map<(i, j, c, f, n, h, w) -> (i, j, c, f)>], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}}
      ins(%x, %dy : tensor<{N}x{H}x{H}x{C}xf32>, tensor<{N}x{O}x{O}x{F}xf32>) outs(%z4 : tensor<3x3x{C}x{F}xf32>) {{
  ^bb0(%l: f32, %r: f32, %s: f32):
    %m = arith.mulf %l, %r : f32
    %t = arith.addf %s, %m : f32
    linalg.yield %t : f32
  }} -> tensor<3x3x{C}x{F}xf32>
  %rw = tensor.splat %rate : tensor<3x3x{C}x{F}xf32>
  %rv = tensor.splat %rate : tensor<{F}x{K}xf32>
  %uw = arith.mulf %dw, %rw : tensor<3x3x{C}x{F}xf32>
  %uv = arith.mulf %dv, %rv : tensor<{F}x{K}xf32>
  %nw = arith.subf %w, %uw : tensor<3x3x{C}x{F}xf32>
  %nv = arith.subf %v, %uv : tensor<{F}x{K}xf32>
  return %nw, %nv : tensor<3x3x{C}x{F}xf32>, tensor<{F}x{K}xf32>
}}
"""


def convolution(size):
    n, h, c, f, k = (64, 34, 64, 256, 1024) if size == "table" else (8, 6, 4, 8, 8)
    weights = {"conv": (3, 3, c, f), "head": (f, k)}
    return (CONV.format(N=n, H=h, O=h - 2, C=c, F=f, K=k),
            by_hand({"x": 4, "target": 2}, weights, {"conv": 3, "head": 0}))


def minilm(size):
    """The example, with a batch of 16 in place of 12, which 8 devices divide; the same in both sizes."""
    text = (ROOT / "examples" / "minilm" / "minilm.mlir").read_text()
    text = text.replace("tensor<12x", "tensor<16x").replace("output_shape [12,", "output_shape [16,")
    weights, megatron = {}, {}
    for shape, attributes in re.findall(r"%arg\d+: tensor<([\dx]+)xf32> \{(.*?)\} loc", text):
        name = re.search(r'spmd\.weight = "([^"]*)"', attributes)
        if name:
            weights[name[1]] = tuple(int(size) for size in shape.split("x"))
            cut = re.search(r"\[(.*?)\]>", attributes)
            if cut:
                megatron[name[1]] = 0 if cut[1].startswith('{"model"') else 1
    text = re.sub(r", spmd\.sharding = #spmd\.sharding<@pod, \[[^>]*\]>", "", text)
    text = re.sub(r"spmd\.sharding = #spmd\.sharding<@pod, \[[^>]*\]>, ", "", text)
    text = re.sub(r"spmd\.mesh @pod = .*", "MESH", text)
    return text, by_hand({"input_ids": 2, "attention_mask": 2}, weights, megatron)


MODELS = {"GPT": gpt, "mixture of experts": experts, "convolution": convolution, "embedding with tied head": tied_head, "MiniLM": minilm}
