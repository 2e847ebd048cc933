#!/usr/bin/env python3
"""Functions at the ends of what numbers can be (no number, infinities, zeros, what overflows), as JAX, ONNX Runtime and PyTorch
have them. Needs the wheels; PyTorch where it is. test_values.py [NAME...], for instance torch.clamp or onnx.Clip."""

import os
import sys
import tempfile
import warnings
from pathlib import Path

os.environ.setdefault("JAX_PLATFORMS", "cpu")

import numpy as np  # noqa: E402
from samples import differs, flatten, run_cases, shard  # noqa: E402

import shardkit  # noqa: E402

INF, NAN = np.inf, np.nan
LINE = np.array([-1e4, -100, -88, -20, -1, -0.5, -1e-8, -0.0, 0, 1e-8, 0.5, 1, 20, 88, 100, 1e4, INF, -INF, NAN], np.float32)
X = np.stack([LINE, LINE, np.full_like(LINE, 1e4)])
Y = np.stack([LINE, LINE[::-1], np.full_like(LINE, 1e4)])
# No row has what is no number behind an infinity: places of both are not told apart from PyTorch.
ROWS = np.array([[1e4, 1e4 - 1, 5], [-1e4, -1e4 + 1, -1e4 + 2], [INF, 1, 2], [0, 1, -1], [1, NAN, 3]], np.float32)
# Rest and quotient are exact.
A = np.array([1, -1, 5.5, -7.25, 1e10, 0.3, 0.6, -0.6, 2, 7], np.float32)
B = np.array([0.1, 0.1, -0.5, 3, 3, 0.1, 0.2, 0.2, -3, -0.7], np.float32)


def jax_cases():
    import jax
    import jax.numpy as jnp

    def case(function, *inputs):
        return lambda: (shardkit.import_jax(function, *inputs).run(*inputs), jax.jit(function)(*inputs))

    unary = """exp expm1 log log1p log2 log10 sqrt cbrt sin cos tan sinh cosh tanh arcsinh arccosh arctanh arcsin arccos arctan abs sign
        floor ceil round trunc isnan isinf isfinite signbit square reciprocal nan_to_num exp2 sinc"""
    binary = """add subtract multiply divide floor_divide remainder fmod maximum minimum fmax fmin power arctan2 hypot logaddexp
        logaddexp2 copysign heaviside nextafter equal less greater"""
    of_rows = "max min argmax argmin sum prod mean std var cumsum cumprod sort median nanmax nanmin nansum any all"
    nn = "relu relu6 sigmoid softplus silu elu selu celu gelu leaky_relu log_sigmoid hard_tanh hard_sigmoid hard_silu mish squareplus soft_sign"
    cases = {n: case(getattr(jnp, n), X) for n in unary.split()}
    cases |= {n: case(getattr(jnp, n), X, Y) for n in binary.split()}
    cases |= {n: case(lambda x, n=n: getattr(jnp, n)(x, axis=1), ROWS) for n in of_rows.split()}
    cases |= {n: case(getattr(jax.nn, n), X) for n in nn.split()}
    cases |= {n: case(lambda x, n=n: getattr(jax.nn, n)(x, axis=1), ROWS) for n in ("softmax", "log_softmax", "logsumexp")}
    cases |= {n: case(getattr(jax.scipy.special, n), X) for n in "erf erfc erfcx erfinv gammaln digamma i0 i0e i1 i1e logit expit ndtr ndtri log_ndtr entr".split()}
    cases |= {f"to_{n}": case(lambda x, n=n: x.astype(n), X) for n in ("int32", "uint8", "float16", "bfloat16", "bool")}
    cases["clip"] = case(lambda x: jnp.clip(x, -1, 2), X)
    cases |= {f"pow_{p}": case(lambda x, p=p: x**p, X) for p in (3, 0.5, -2)}
    return cases


def onnx_cases():
    import onnx
    import onnxruntime
    from onnx import helper, numpy_helper

    def case(op, *inputs, constants=(), outputs=1, **attributes):
        def compare():
            given = {f"x{i}": x for i, x in enumerate(inputs)}
            arguments = [helper.make_tensor_value_info(n, helper.np_dtype_to_tensor_dtype(x.dtype), x.shape) for n, x in given.items()]
            fixed = [numpy_helper.from_array(np.asarray(v), f"c{i}") for i, v in enumerate(constants)]
            node = helper.make_node(op, [*given, *(c.name for c in fixed)], [f"y{i}" for i in range(outputs)], **attributes)
            graph = helper.make_graph([node], "g", arguments, [helper.make_empty_tensor_value_info(y) for y in node.output], fixed)
            model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)
            model = onnx.shape_inference.infer_shapes(model)
            with tempfile.TemporaryDirectory() as folder:
                path = Path(folder, "model.onnx")
                onnx.save(model, path)
                found = shardkit.import_onnx(path).run(*inputs)
            return found, onnxruntime.InferenceSession(model.SerializeToString()).run(None, given)

        return compare

    unary = """Reciprocal Relu Sigmoid Tanh Exp Log Sqrt Softplus Softsign Erf Abs Neg Floor Ceil Round Sign Sin Cos Sinh Cosh Asinh Atan
        Mish HardSwish HardSigmoid Elu Selu Celu LeakyRelu ThresholdedRelu IsNaN IsInf Gelu"""
    binary = "Add Sub Mul Div Max Min Pow PRelu Equal Less Greater LessOrEqual GreaterOrEqual Mean Sum"
    axes, numbers = [np.array([1])], ROWS[:4]  # ONNX Runtime's largest of what has no number is another one
    cases = {n: case(n, X) for n in unary.split()} | {n: case(n, X, Y) for n in binary.split()}
    cases |= {f"Reduce{n}": case(f"Reduce{n}", ROWS, constants=axes) for n in "LogSumExp Mean Sum Prod L1 L2 SumSquare LogSum".split()}
    cases |= {n: case(n, numbers, constants=axes) for n in ("ReduceMax", "ReduceMin")}
    cases |= {n: case(n, numbers, axis=1) for n in ("Softmax", "LogSoftmax", "Hardmax", "ArgMax", "ArgMin")}
    cases["Gelu_tanh"] = case("Gelu", X, approximate="tanh")
    cases["Clip"] = case("Clip", X, constants=[np.float32(-1), np.float32(2)])
    cases["ReduceLogSumExp_all"] = case("ReduceLogSumExp", ROWS[:1], keepdims=0)
    return cases


def torch_cases():
    import torch
    import torch.nn.functional as F

    def case(function, *inputs, dtype=torch.float32, turn=None):
        class Module(torch.nn.Module):
            def forward(self, *values):
                return function(*values)

        def compare():
            values = [torch.from_numpy(x).to(dtype) for x in inputs]
            expected, model = function(*values), shardkit.import_torch(Module(), *values)
            found = (model if turn is None else shard(model, turn)).run(*values)
            return found, expected if isinstance(expected, torch.Tensor) else tuple(expected)

        return compare

    unary = """sigmoid tanh exp expm1 log1p sinh cosh asinh acosh atanh erf sqrt rsqrt log log2 log10 sinc exp2 round trunc floor ceil
        frac sign nan_to_num isinf isnan isfinite logit reciprocal"""
    nn = "softplus logsigmoid silu gelu mish elu selu celu hardswish hardsigmoid relu6 softsign tanhshrink hardshrink softshrink"
    binary = "logaddexp logaddexp2 xlogy hypot atan2 fmod remainder floor_divide minimum maximum fmax fmin pow eq lt heaviside copysign"
    of_rows = "max min amax amin argmax argmin logsumexp softmax log_softmax cumsum cumprod logcumsumexp prod"
    cases = {n: case(getattr(torch, n), X) for n in unary.split()} | {n: case(getattr(F, n), X) for n in nn.split()}
    cases |= {n: case(getattr(torch, n), X, Y) for n in binary.split()}
    special = "erfc erfcx erfinv gammaln digamma i0 i0e i1 i1e ndtr ndtri log_ndtr entr"
    cases |= {n: case(getattr(torch.special, n), X) for n in special.split()}
    cases |= {f"polygamma_{n}": case(lambda x, n=n: torch.polygamma(n, x), (A + 0.125).clip(-7.5, 100)) for n in range(4)}
    cases["zeta"] = case(torch.special.zeta, np.float32([2, 3, 1.5, 20, 1, 0.5, 2, 3]), np.float32([0.1, 7, 1e4, 3, 2, 2, 0, -2]))
    cases |= {f"{n}_exact": case(getattr(torch, n), A, B) for n in ("fmod", "remainder", "floor_divide")}
    cases |= {n: case(lambda x, n=n: getattr(torch, n)(x, 1), ROWS) for n in of_rows.split()}
    cases |= {f"pow_{p}": case(lambda x, p=p: x**p, X) for p in (2, 0.5, -0.5, -1)}
    cases["gelu"] = case(F.gelu, X[~np.isinf(X)])  # PyTorch 2.15 makes infinities none
    cases["gelu_tanh"] = case(lambda x: F.gelu(x, approximate="tanh"), X)
    cases["clamp"] = case(lambda x: x.clamp(-1, 2), X)
    cases["div_trunc"] = case(lambda a, b: torch.div(a, b, rounding_mode="trunc"), X, Y)
    cases["bce"] = case(lambda a, b: F.binary_cross_entropy_with_logits(a, (b > 0).float(), reduction="none"), X, Y)
    cases["smooth_l1"] = case(lambda a, b: F.smooth_l1_loss(a, b, reduction="none"), X, Y)
    cases["to_bool"] = case(lambda x: x.bool(), X)
    cases["sort_booleans"] = case(lambda x: (x > 0).sort(1).values, X)
    cases["places_of_sorted"] = case(lambda x: x.argsort(1), ROWS)
    cases["scatter_last"] = case(lambda x: x.scatter(-1, torch.tensor([[1], [2], [0], [2], [1]]), x[:, :1]), ROWS)
    cases["scatter_means"] = case(lambda x: x.scatter_reduce(0, torch.zeros_like(x, dtype=torch.int64), x, "mean"), ROWS)
    cases["variance_of_one"] = case(lambda x: x[:, :1].var(1), ROWS)
    # Cut unevenly on 2 x 2 devices, and in half the bits.
    moved = {
        "places": lambda x: (x.argmax(1), x.argmin(0)),
        "largest": lambda x: x.max(0),
        "means": lambda x: x.scatter_reduce(0, torch.zeros_like(x, dtype=torch.int64), x, "mean"),
        "products": lambda x: x.nan_to_num(2, 2, 2).clamp(-2, 2).cumprod(0),
        "sorted": lambda x: (x > 0).sort(0).values,
        "index_reduce": lambda x: x.index_reduce(0, torch.tensor([2, 0, 2, 1, 2]), x, "amax"),
        "gelu_of_rows": lambda x: F.gelu(x, approximate="tanh"),
        "spectrum": lambda x: torch.fft.rfft(x.float().nan_to_num(1, 2, 3).clamp(-3, 3), dim=0),
    }
    for n, function in moved.items():
        cases |= {f"{n}_cut_{turn}": case(function, ROWS, turn=turn) for turn in (0, 1)}
        cases[f"{n}_f16"] = case(function, ROWS, dtype=torch.float16, turn=0)
        cases[f"{n}_bf16"] = case(function, ROWS, dtype=torch.bfloat16, turn=1)
    return cases


def main():
    warnings.simplefilter("ignore")
    cases = {f"jax.{n}": c for n, c in jax_cases().items()} | {f"onnx.{n}": c for n, c in onnx_cases().items()}
    try:
        cases |= {f"torch.{n}": c for n, c in torch_cases().items()}
    except ImportError:
        print("PyTorch left out: it is not installed")

    def find_problem(name):
        found, expected = map(flatten, cases[name]())
        return next(filter(None, (differs(a, b) for a, b in zip(found, expected, strict=True))), None)

    return run_cases(cases, find_problem)


if __name__ == "__main__":
    sys.exit(main())
