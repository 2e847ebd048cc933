"""Functions that share weights and state, compiled together, with NumPy alone. Prints what the test looks for."""

import dataclasses
import re

import numpy as np
import shardkit
from shardkit import Argument, Model, Result

PREFILL = """
spmd.mesh @mesh = <["y"=2, "x"=2]>
func.func @main(%w: tensor<6x8xf32> {spmd.weight = "w", spmd.sharding = #spmd.sharding<@mesh, [{}, {"x"}]>}, %x: tensor<4x6xf32> {spmd.name = "x"})
    -> (tensor<4x8xf32> {spmd.name = "result"}) {
  %e = arith.constant dense<0.0> : tensor<4x8xf32>
  %y = linalg.matmul ins(%x, %w : tensor<4x6xf32>, tensor<6x8xf32>) outs(%e : tensor<4x8xf32>) -> tensor<4x8xf32>
  %z = call @twice(%y) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return %z : tensor<4x8xf32>
}
func.func private @twice(%a: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %0 = arith.addf %a, %a : tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}
"""
# The helper of the same name is another one; the cache is sharded here, the weight is not.
DECODE = """
spmd.mesh @mesh = <["y"=2, "x"=2]>
func.func @main(%w: tensor<6x8xf32> {spmd.weight = "w"}, %bias: tensor<8xf32> {spmd.weight = "bias"}, %token: tensor<1x6xf32> {spmd.name = "token"},
                %cache: tensor<4x8xf32> {spmd.name = "cache", spmd.sharding = #spmd.sharding<@mesh, [{"y"}, {?}]>})
    -> (tensor<1x8xf32> {spmd.name = "y"}, tensor<4x8xf32> {spmd.name = "next", spmd.tied = 3 : i64}) {
  %e = arith.constant dense<0.0> : tensor<1x8xf32>
  %y = linalg.matmul ins(%token, %w : tensor<1x6xf32>, tensor<6x8xf32>) outs(%e : tensor<1x8xf32>) -> tensor<1x8xf32>
  %rows = tensor.empty() : tensor<4x8xf32>
  %all = linalg.broadcast ins(%bias : tensor<8xf32>) outs(%rows : tensor<4x8xf32>) dimensions = [0]
  %row = tensor.collapse_shape %y [[0, 1]] : tensor<1x8xf32> into tensor<8xf32>
  %more = linalg.broadcast ins(%row : tensor<8xf32>) outs(%rows : tensor<4x8xf32>) dimensions = [0]
  %sum = arith.addf %all, %more : tensor<4x8xf32>
  %z = call @twice(%cache) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %next = arith.subf %sum, %z : tensor<4x8xf32>
  return %y, %next : tensor<1x8xf32>, tensor<4x8xf32>
}
func.func private @twice(%a: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %0 = arith.negf %a : tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}
"""
rng = np.random.default_rng(0)


def numbers(*shape):
    return rng.integers(-2, 3, shape).astype(np.float32)


def report(title, function, *args, **kwargs):
    try:
        print(f"{title}: {function(*args, **kwargs)!r}")
    except shardkit.ShardKitError as error:
        first = str(error).splitlines()[0]
        print(f"{title}: {first[first.index('error: ') :]}")


w, bias = numbers(6, 8), numbers(8)


def make_models(prefill=PREFILL, decode=DECODE, w_of_decode=w):
    a = Model(prefill, [Argument("w", (6, 8), "float32", True), Argument("x", (4, 6), "float32", False)], [Result("result", "float32")], stored={"w": w})
    arguments = [
        Argument("w", w_of_decode.shape, "float32", True), Argument("bias", (8,), "float32", True), Argument("token", (1, 6), "float32", False),
        Argument("cache", (4, 8), "float32", False),
    ]  # fmt: skip
    b = Model(decode, arguments, [Result("y", "float32"), Result("next", "float32", 3)], stored={"w": w_of_decode, "bias": bias})
    return {"prefill": a, "decode": b}


def next_state(w, token, cache):
    y = token @ w
    return y, bias + y + cache


state = {"prefill.result": "cache"}
program = shardkit.compile(make_models(w_of_decode=w.copy()), state=state)
print(program)
for name, function in program.session.items():
    print(f"{name}: {[a.name for a in function.arguments]} -> {[r.name for r in function.results]}")
layouts = {}
for function in program.session.values():
    for value in function.arguments + function.results:
        if value.name in ("w", "cache"):
            assert layouts.setdefault(value.name, value.sharding) == value.sharding, value
print("layouts:", ", ".join(f"{n} {s}" for n, s in sorted(layouts.items(), reverse=True)))

x, tokens = numbers(4, 6), [numbers(1, 6) for _ in range(3)]
(cache,) = program.prefill(x, resident=True)
print("notes:", program.session.notes)
expected = 2 * (x @ w)
print("prefill:", np.array_equal(cache.numpy(), expected))
step = program["decode"].session["decode"]
equal, addresses = [], {cache.shard(0).ctypes.data}
for token in tokens:
    y, cache = step(token=token, cache=cache, donate=True)
    expected_y, expected = next_state(w, token, expected)
    equal.append(np.array_equal(y, expected_y) and np.array_equal(cache.numpy(), expected))
    addresses.add(cache.shard(0).ctypes.data)
print("decode:", *equal)
print("in place:", len(addresses) <= 2)
print("one array:", program.prefill["w"].shard(3).ctypes.data == program.decode["w"].shard(3).ctypes.data)
# What changes in one function changes in the other; what was loaded is not loaded again.
program.prefill.model.update({"w": w + 1})
(first,) = program.prefill(x)
y, _ = program.decode(tokens[0], numbers(4, 8))
print("updated:", np.array_equal(first, 2 * (x @ (w + 1))), np.array_equal(y, tokens[0] @ (w + 1)))
program.decode["w"] = w + 2
program.prefill(x)
y, _ = program.decode(tokens[0], numbers(4, 8))
print("not loaded again:", np.array_equal(y, tokens[0] @ (w + 2)))
program.close()
report("closed", program.prefill, x)

plain = re.compile(r", spmd\.sharding = #spmd\.sharding<@mesh, \[.*?\]>")
models = make_models(plain.sub("", PREFILL), plain.sub("", DECODE))
with shardkit.compile(models, state=state, calls={"decode": 7}, options=["--auto-shard=allow-replicated-weights=false"]) as program:
    functions = program.session
    alike = functions["prefill"].arguments[0].sharding == functions["decode"].arguments[0].sharding
    alike &= functions["prefill"].results[0].sharding == functions["decode"].arguments[3].sharding
    (cache,) = program.prefill(x, resident=True)
    y, after = program.decode(tokens[0], cache)
    expected_y, expected = next_state(w, tokens[0], 2 * (x @ w))
    print(f"by search, one layout: {alike}, notes: {functions.notes}, equal: {np.array_equal(y, expected_y) and np.array_equal(after, expected)}")

report("other values", shardkit.compile, make_models(w_of_decode=w + 1), state=state)
smaller = {n: dataclasses.replace(m, stored={}) for n, m in make_models(decode=DECODE.replace("8xf32", "4xf32")).items()}
report("other type", shardkit.compile, smaller)
report("arguments", shardkit.compile, make_models(), {"prefill": (x,)})
