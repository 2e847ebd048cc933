#!/usr/bin/env python3
"""Ops of JAX that need work on the way to linalg, each alone, sharded on 4 logical devices and compared with JAX.

    test_rewrites.py [NAME]...

Needs: pip install ./python[jax], and ShardKit's tools.
"""

import json
import os
import sys
import warnings

os.environ.setdefault("JAX_PLATFORMS", "cpu")
os.environ.setdefault("XLA_FLAGS", "--xla_force_host_platform_device_count=8 --xla_allow_excess_precision=false")

import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402
import samples  # noqa: E402
from jax import lax  # noqa: E402
from jax.sharding import AxisType, NamedSharding  # noqa: E402
from jax.sharding import PartitionSpec as P

import shardkit  # noqa: E402

MESH = jax.make_mesh((2, 2), ("data", "model"), axis_types=(AxisType.Auto,) * 2, devices=jax.devices()[:4])
RNG = np.random.default_rng(0)


def normal(*shape):
    return RNG.standard_normal(shape).astype(np.float32)


def ints(high, *shape):
    return RNG.integers(0, high, shape, dtype=np.int32)


def signal(*shape):
    return normal(*shape) + 1j * normal(*shape)


def put(value, *spec):
    return jax.device_put(value, NamedSharding(MESH, P(*spec)))


def local(function, ins, outs, axes=frozenset()):
    return jax.shard_map(function, mesh=MESH, in_specs=ins, out_specs=outs, axis_names=axes or {"data", "model"}, check_vma=False)


def pool(dims, strides, padding, op=lax.max, init=-jnp.inf):
    """The gradient of a pooling whose windows may overlap and have equals."""
    return jax.grad(lambda x, c: (lax.reduce_window(x, init, op, dims, strides, padding) * c).sum())


def order_by_first(x, y):
    """Equals keep their order; x is not its own key throughout."""
    return lax.sort([x, y, x < 0], dimension=1, num_keys=1)


C = signal(8, 8)
ODD = ints(60, 4, 201).astype(np.float32) - 30  # longer than what is counted, no power of two, many equals
ODD[1, ::7], ODD[2, 3], ODD[2, 9], ODD[3, 5] = np.nan, np.inf, -np.inf, -0.0
NUMBERS = np.arange(4 * 201, dtype=np.int32).reshape(4, 201)
VOCABULARY = (np.arange(4 * 32000, dtype=np.int32) * 7919 % 1009).reshape(4, 32000)  # every element many times
TABLE, ROWS, IDS = normal(8, 4), normal(6, 4), ints(8, 6)

# What integer types end at, and what is beyond them.
INTEGERS = ("int8", "uint8", "int16", "uint16", "int32", "uint32", "bool")
ENDS = np.float32([0, -0.0, 0.5, -0.9, 1.9, -1.9, 127, 127.9, 128, -128, -128.9, -129, 255.9, 256, 300, -5, 32767.9, 32768, -32769, 65535, 65536, 2**31 - 128, 2**31, -(2**31), -(2.0**31) - 512,
                   2.0**32 - 256, 2.0**32, 2.0**40, -(2.0**40), 1e20, -1e20, np.inf, -np.inf, np.nan, 65504, -65504])  # fmt: skip

FLOATS8 = ("float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz", "float8_e5m2fnuz", "float8_e8m0fnu")


def codes(kind):
    """All values of an 8-bit float."""
    return jnp.asarray(np.arange(256, dtype=np.uint8).view(jnp.dtype(kind)).reshape(16, 16))


def between(kind):
    """Numbers whose rounding to an 8-bit float is not plain: halfway, next to that, too large, too small."""
    sizes = np.abs(np.asarray(codes(kind)).astype(np.float32).ravel())
    sizes = np.unique(sizes[np.isfinite(sizes)]).astype(np.float64)
    middle = np.append((sizes[1:] + sizes[:-1]) / 2, sizes[-1] + (sizes[-1] - sizes[-2]) / 2).astype(np.float32)
    found = np.concatenate([middle, np.nextafter(middle, np.float32(np.inf)), np.nextafter(middle, np.float32(0)), sizes])
    found = np.concatenate([found, np.float32([np.inf, np.nan, 3e38, 1e-30, 1e-42])]).astype(np.float32)
    found = np.concatenate([found, -found])
    return put(found[: len(found) // 4 * 4].reshape(4, -1), "data")


BYTES = codes("float8_e4m3fn")
FINITE = jnp.where(jnp.isfinite(BYTES.astype(jnp.float32)), BYTES, jnp.zeros_like(BYTES))
SCALES = np.linspace(0.001, 0.002, 16, dtype=np.float32)

GAMMA = np.append(np.linspace(-6, 6, 241), [-0.0, 1e-3, 1e-20, -1e-20, 30, 171, 1e4, 1e10, 1e30, -1000.3, np.inf, -np.inf, np.nan, 0.5, 0.49999997])
GAMMA = GAMMA.astype(np.float32).reshape(8, 32)
NEIGHBOURS = np.float32([0, -0.0, 1, -1, 1e-45, -1e-45, np.inf, -np.inf, np.nan, 3.4e38, -3.4e38, 1.17549435e-38, 2])

# Indices that say places: what the first dim of `x` has stays on its device. The last ones say none of it, or are compared once more.
A4, CUBE = jnp.arange(4), normal(4, 6, 8)
PLACES = [
    (lambda x, t: x[A4, t], ints(12, 4) - 6),
    (lambda x, t: x[A4[:, None], t], ints(6, 4, 3)),
    (lambda x, t: x[A4[:, None], jnp.arange(6), t], ints(8, 4, 6)),
    (lambda x, t: x[A4, :, t], ints(8, 4)),
    (lambda x, t: x[A4[:, None], jnp.arange(6)] + t[:, None, None], ints(6, 4)),
    (lambda x, t: x.at[A4, t].set(1.0), ints(6, 4)),
    (lambda x, t: x.at[A4[:, None], t].add(2 * x[:, :3]), ints(6, 4, 3)),
    (lambda x, t: x.at[A4, t].max(0.5, mode="drop"), ints(9, 4)),
    (lambda x, t: jax.grad(lambda x: (x[A4, t] ** 2).sum())(x), ints(6, 4)),
    (lambda x, t: x.at[A4, t].get(mode="fill", fill_value=-1), ints(9, 4)),
    (lambda x, t: x[t, jnp.arange(6)], ints(4, 6)),
    (lambda x, t: x[A4[::-1], t], ints(6, 4)),
]
KEPT = 9

CASES = {
    # functions of numbers
    "erf": (jax.scipy.special.erf, put(normal(8, 4), "data")),
    "erfc": (jax.scipy.special.erfc, put(normal(8, 4), "data")),
    "erf_inv": (jax.scipy.special.erfinv, put(np.tanh(normal(8, 4)), "data")),
    "erf_inv_ends": (jax.scipy.special.erfinv, np.float32([1, -1, 0, 0.999, -0.999])),
    "erf_inv_narrow": (lambda x: jax.scipy.special.erfinv(x.astype(jnp.bfloat16)), put(np.tanh(normal(8, 4)), "data")),
    "lgamma": (jax.scipy.special.gammaln, put(GAMMA, "data")),
    "digamma": (jax.scipy.special.digamma, put(GAMMA, "data")),
    "bessel": (lambda x: (jax.scipy.special.i0(x), jax.scipy.special.i1(x), jax.scipy.special.i1e(9 * x)), put(3 * normal(8, 4), "data")),
    "polygamma": (lambda x: jax.scipy.special.polygamma(jnp.array([1, 2, 3, 4]), x), put(GAMMA[:, :4], "data")),
    "zeta": (jax.scipy.special.zeta, put(abs(normal(8, 4)) + 1.1, "data"), abs(normal(8, 4)) + 0.1),
    "gradient_of_digamma": (jax.grad(lambda x: jax.scipy.special.digamma(x).sum()), put(abs(normal(8, 4)) + 0.1, "data")),
    "gradient_of_lgamma": (jax.grad(lambda x: jax.scipy.special.gammaln(x).sum()), put(abs(normal(8, 4)) + 0.1, "data")),
    "next_after": (jnp.nextafter, *np.meshgrid(NEIGHBOURS, NEIGHBOURS)),
    "next_after_narrow": (lambda x, y: [jnp.nextafter(x.astype(t), y.astype(t)) for t in ("bfloat16", "float16")], *np.meshgrid(NEIGHBOURS, NEIGHBOURS)),
    "truncated_normal": (lambda k: jax.random.truncated_normal(k, -1, 1, (8,)), jax.random.key(2)),
    "gamma_numbers": (lambda k: jax.random.gamma(k, 2.0, (8,)), jax.random.key(2)),
    "trigonometric": (lambda x: (jnp.tan(x), jnp.arctan(x), jnp.sinh(x), jnp.cosh(x)), put(normal(8, 4), "data")),
    "inverse": (lambda x: (jnp.arcsin(x), jnp.arccos(x), jnp.arctanh(x), jnp.arcsinh(x)), put(np.tanh(normal(8, 4)), "data")),
    # order
    **{f"convert_{f}_ends": (lambda x, f=f: [x.astype(f).astype(i) for i in INTEGERS], put(ENDS, "data")) for f in ("float16", "bfloat16", "float32")},
    "sort": (lambda x: jnp.sort(x, 1), put(normal(8, 6), "data")),
    "sort_split": (lambda x: jnp.sort(x, 0), put(normal(8, 6), "data")),
    "sort_ints": (lambda x: jnp.sort(x, -1), put(ints(4, 8, 6), "data")),
    "sort_nan": (jnp.sort, np.float32([1, np.nan, -0.0, 0.0, -np.inf, np.inf, np.nan, 2])),
    "argsort": (lambda x: jnp.argsort(x, 1), put(ints(3, 8, 6).astype(np.float32), "data")),
    "sort_descending": (lambda x: jnp.sort(x, descending=True), put(normal(8, 6), "data")),
    "top_k": (lambda x: lax.top_k(x, 3), put(normal(8, 6), "data")),
    "top_k_ties": (lambda x: lax.top_k(x, 4), put(ints(2, 8, 6).astype(np.float32), "data")),
    "top_k_ints": (lambda x: lax.top_k(x, 3), put(ints(9, 8, 6), "data")),
    "top_k_unsigned": (lambda x: lax.top_k(x, 3), np.uint32([[1, 2**31, 7, 2**32 - 1]])),
    "top_k_split": (lambda x: lax.top_k(x, 3), put(normal(4, 8), None, "model")),
    "argmax": (lambda x: jnp.argmax(x, 1), put(normal(8, 6), "data", "model")),
    "median": (lambda x: jnp.median(x, 1), put(normal(8, 5), "data")),
    "sort_long": (order_by_first, put(ODD, "data"), NUMBERS),
    "sort_long_cut": (order_by_first, put(ODD[:, :200], None, "model"), put(NUMBERS[:, :200], "data", "model")),
    "sort_long_first_dim": (lambda x: jnp.sort(x, 0), put(ODD.T, None, "model")),
    "sort_long_descending": (lambda x: (jnp.sort(x, descending=True), jnp.argsort(x, descending=True)), put(ODD, "data")),
    "sort_long_two_keys": (lambda x, y: lax.sort([x, y], dimension=1, num_keys=2), put(ODD, "data"), ints(5, 4, 201)),
    "sort_long_unsigned": (jnp.sort, RNG.integers(0, 2**32, (4, 201), dtype=np.uint32)),
    "sort_long_bools": (jnp.sort, put(ODD > 0, "data")),
    "sort_long_local": (local(lambda x: jnp.sort(x, 1), P("data", None), P("data", None)), ODD),
    "top_k_long": (lambda x: lax.top_k(x, 7), put(ODD[:, :200], None, "model")),
    "sort_ends": (lambda x: (jnp.sort(x, 1)[:, -5:], jnp.argsort(x, 1)[:, 2:4], jnp.sort(x, descending=True)[:, :2]), put(ODD[:, :200], None, "model")),
    # few of many: candidates move, not the dim
    "candidates_top_k": (lambda x: lax.top_k(x * 1.0, 8), put(VOCABULARY, None, "model")),
    "candidates_of_reversed": (lambda x: jnp.sort(x * 1.0, descending=True)[:, :8], put(VOCABULARY, None, "model")),
    "gradient_of_sort": (jax.grad(lambda x: (jnp.sort(x, 1) * jnp.arange(201)).sum()), put(ODD[:1], None)),
    "permutation": (lambda k: jax.random.permutation(k, 201), jax.random.key(3)),
    # places from data
    "take": (lambda t, i: t[i], put(TABLE, "model"), put(IDS, "data")),
    "take_pairs": (lambda t, i, j: t[i, j], TABLE, put(IDS, "data"), put(ints(4, 6), "data")),
    "take_along": (lambda t, i: jnp.take_along_axis(t, i, 1), put(TABLE, "data"), put(ints(4, 8, 2), "data")),
    **{f"places_{i}": (f, put(CUBE, "data", None, "model"), t) for i, (f, t) in enumerate(PLACES)},
    "scatter_add": (lambda t, i, r: t.at[i].add(r), put(TABLE, "model"), put(IDS, "data"), put(ROWS, "data")),
    "scatter_add_beyond": (lambda t, i, r: t.at[i].add(r), put(TABLE, "model"), put(ints(20, 6), "data"), put(ROWS, "data")),
    "scatter_max": (lambda t, i, r: t.at[i].max(r), put(TABLE, None, "model"), IDS, ROWS),
    "scatter_mul": (lambda t, i, r: t.at[i].multiply(r), put(TABLE, "model"), put(IDS, "data"), ROWS),
    "scatter_set": (lambda t, i, r: t.at[i].set(r), put(TABLE, "model"), np.int32([5, 0, 3, 1, 7, 2]), ROWS),
    "scatter_ints": (lambda t, i: t.at[i].add(1), put(np.zeros(8, np.int32), "model"), put(IDS, "data")),
    "scatter_unsigned": (lambda t, i: (t.at[i].add(1), t.at[i].max(2**31 + 5)), put(np.arange(8, dtype=np.uint32), "model"), put(IDS, "data")),
    "scatter_window": (lambda t, i: lax.dynamic_update_slice(t, ROWS[:2, :3], i), put(TABLE, None, None), np.int32([3, 1])),
    "scatter_pairs": (lambda t, i, j, r: t.at[i, j].add(r), put(TABLE, "model"), put(IDS, "data"), put(ints(4, 6), "data"), normal(6)),
    "scatter_rows_of_each": (jax.vmap(lambda t, i, r: t.at[i].add(r)), put(normal(4, 8, 3), "data"), put(ints(10, 4, 6), "data"), put(normal(4, 6, 3), "data")),
    "scatter_windows": (
        lambda t, i, r: lax.scatter_add(t, i, r, lax.ScatterDimensionNumbers((1, 2), (), (0, 1))),
        put(normal(9, 8), None, "model"), ints(6, 4, 2), normal(4, 3, 2),
    ),
    "segment_sum": (lambda r, i: jax.ops.segment_sum(r, i, 8), put(ROWS, "data"), put(IDS, "data")),
    "gradient_of_take": (jax.grad(lambda t, i: (t[i] ** 2).sum()), put(TABLE, "model"), put(IDS, "data")),
    "dynamic_slice": (lambda t, i: lax.dynamic_slice(t, (i, 0), (3, 4)), put(TABLE, None, "model"), np.int32(2)),
    "dynamic_slice_beyond": (lambda t, i: lax.dynamic_slice(t, (i, 0), (3, 4)), put(TABLE, None, "model"), np.int32(7)),
    "dynamic_update": (lambda t, r, i: lax.dynamic_update_slice(t, r, (i, 0)), put(TABLE, None, "model"), ROWS[:2], np.int32(4)),
    # loops and branches
    "fori": (lambda x: lax.fori_loop(0, 5, lambda i, v: v * 0.5 + i, x), put(normal(8, 4), "data")),
    "fori_from": (lambda x: lax.fori_loop(3, 9, lambda i, v: v + x[i % 8], jnp.zeros(4)), put(normal(8, 4), None, "data")),
    "while": (lambda x: lax.while_loop(lambda v: v.sum() < 100, lambda v: v * 2, x), put(abs(normal(8, 4)), "data")),
    "scan": (lambda x: lax.scan(lambda c, v: (c + v, c * v), jnp.zeros(4), x), put(normal(8, 4), None, "model")),
    "scan_reverse": (lambda x: lax.scan(lambda c, v: (c + v, c), jnp.zeros(4), x, reverse=True), put(normal(8, 4), None, "model")),
    "gradient_of_scan": (
        jax.grad(lambda x: lax.scan(lambda c, v: (jnp.tanh(c + v), c), jnp.zeros(4), x)[0].sum()),
        put(normal(8, 4), None, "model"),
    ),
    "cond": (lambda p, x: lax.cond(p, jnp.sin, lambda v: v * 2, x), np.bool_(True), put(normal(8, 4), "data")),
    "switch": (lambda i, x: lax.switch(i, [jnp.sin, jnp.cos, jnp.tanh], x), np.int32(1), put(normal(8, 4), "data")),
    "switch_beyond": (lambda i, x: lax.switch(i, [jnp.sin, jnp.cos, jnp.tanh], x), np.int32(7), put(normal(8, 4), "data")),
    # windows
    "cumsum": (lambda x: jnp.cumsum(x, 1), put(normal(8, 6), "data")),
    "cumsum_split": (lambda x: jnp.cumsum(x, 0), put(ints(5, 8, 6), "data")),
    "cummax": (lambda x: lax.cummax(x, 1), put(normal(8, 6), "data")),
    "cumsum_long": (lambda x: jnp.cumsum(x, 1), put(ODD[:, :200] > 0, "data", "model")),  # in blocks
    "cumsum_rest": (lambda x: lax.cumsum(x, 0, reverse=True), put(ints(9, 131, 4).astype(np.float32), None, "model")),  # no block divides it
    "cummax_long": (lambda x: lax.cummax(jnp.nan_to_num(x), 1, reverse=True), put(ODD[:, :200], None, "model")),
    "cumlogsumexp": (lambda x: lax.cumlogsumexp(x, 1), put(normal(4, 600), "data")),
    "gradient_of_cumsum": (jax.grad(lambda x: (jnp.cumsum(x, 1) ** 2).sum() / 1e4), put(normal(4, 131), "data")),
    "max_pool": (lambda x: lax.reduce_window(x, -jnp.inf, lax.max, (1, 3, 3, 1), (1, 2, 2, 1), "SAME"), put(normal(4, 8, 8, 2), "data")),
    "average_pool": (lambda x: lax.reduce_window(x, 0.0, lax.add, (1, 2, 2, 1), (1, 2, 2, 1), "VALID"), put(normal(4, 8, 8, 2), "data", "model")),
    "conv_nchw": (lambda x, w: lax.conv(x, w, (1, 1), "SAME"), put(normal(4, 3, 8, 8), "data"), put(normal(4, 3, 3, 3), "model")),
    "conv_groups": (
        lambda x, w: lax.conv_general_dilated(x, w, (1, 1), "VALID", feature_group_count=2, dimension_numbers=("NHWC", "HWIO", "NHWC")),
        put(normal(4, 6, 6, 4), "data"),
        normal(3, 3, 2, 4),
    ),
    "conv_dilated": (
        lambda x, w: lax.conv_general_dilated(x, w, (1, 1), "SAME", rhs_dilation=(2, 2), dimension_numbers=("NHWC", "HWIO", "NHWC")),
        put(normal(4, 8, 8, 2), "data"),
        normal(3, 3, 2, 4),
    ),
    "gradient_of_conv": (
        jax.grad(lambda w, x: (lax.conv(x, w, (2, 2), "SAME") ** 2).sum()),
        put(normal(4, 3, 3, 3), "model"),
        put(normal(4, 3, 8, 8), "data"),
    ),
    "gradient_of_max_pool": (
        jax.grad(lambda x: (lax.reduce_window(x, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID") ** 2).sum()),
        put(normal(4, 4, 4, 2), "data"),
    ),
    "gradient_of_overlapping_pool": (pool((1, 3, 3, 1), (1, 2, 2, 1), "SAME"), put(ints(5, 4, 8, 8, 2).astype(np.float32), "data"), normal(4, 4, 4, 2)),
    "gradient_of_pool_in_space": (pool((1, 3, 3, 1), (1, 2, 2, 1), "SAME"), put(ints(5, 4, 8, 8, 2).astype(np.float32), None, "data", "model"), normal(4, 4, 4, 2)),
    "gradient_of_min_pool": (
        pool((1, 3, 2, 1), (1, 1, 1, 1), "VALID", lax.min, jnp.inf), put(ints(5, 4, 9, 7, 2).astype(np.float32), "data"), normal(4, 7, 6, 2)),
    "gradient_of_pool_with_gaps": (pool((1, 2), (1, 3), ((0, 0), (1, 0))), put(ints(5, 4, 10).astype(np.float32), "data"), normal(4, 4)),
    # regions in local view
    "psum": (local(lambda x: lax.psum(x, "model"), P("data", "model"), P("data", None)), normal(8, 6)),
    "pmax_both": (local(lambda x: lax.pmax(x, ("data", "model")), P("data", "model"), P(None, None)), normal(8, 6)),
    "pmean": (local(lambda x: lax.pmean(x.sum(0), "data"), P("data", None), P(None)), normal(8, 6)),
    "nothing_of_sums": (lambda x: (x.mean(2), lax.reduce((x, x > 0), (jnp.float32(7), True), lambda a, b: (a[0] * b[0], a[1] & b[1]), (0,)), x.argmax(0)), np.zeros((4, 0, 6), np.float32)),
    "sum_of_nothing": (lambda x, y: (x.sum(1), y[:, :0].sum(1) + y[:, 0], lax.reduce((y[:0], y[:0] > 0), (jnp.float32(7), True), lambda a, b: (a[0] * b[0], a[1] & b[1]), (0,))), np.zeros((4, 0, 6), np.float32), normal(8, 6)),
    "all_gather": (local(lambda x: lax.all_gather(x, "model", axis=1, tiled=True), P("data", "model"), P("data", None)), normal(8, 6)),
    "all_gather_new": (local(lambda x: lax.all_gather(x, "data"), P("data"), P(None, None)), normal(8)),
    "psum_scatter": (local(lambda x: lax.psum_scatter(x, "model", scatter_dimension=1, tiled=True), P("data", None), P("data", "model")), normal(8, 6)),
    "all_to_all": (local(lambda x: lax.all_to_all(x, "model", 0, 1, tiled=True), P("data", "model"), P(("data", "model"), None)), normal(8, 6)),
    "all_to_all_same": (local(lambda x: lax.all_to_all(x, "model", 1, 1, tiled=True), P("data", "model"), P("data", "model")), normal(8, 8)),
    "ppermute": (local(lambda x: lax.ppermute(x, "model", [(0, 1), (1, 0)]), P("data", "model"), P("data", "model")), normal(8, 6)),
    "ppermute_some": (local(lambda x: lax.ppermute(x, "data", [(0, 1)]), P("data", "model"), P("data", "model")), normal(8, 6)),
    "ppermute_mirror": (local(lambda x: lax.ppermute(x, ("data", "model"), [(i, 3 - i) for i in range(4)]), P("data", "model"), P("data", "model")), normal(8, 6)),
    "ppermute_both": (local(lambda x: lax.ppermute(x, ("data", "model"), [(0, 2), (1, 1), (2, 3)]), P("data", "model"), P("data", "model")), normal(8, 6)),
    "ppermute_unsigned": (local(lambda x: lax.ppermute(x, "model", [(0, 1), (1, 0)]), P("data", "model"), P("data", "model")), RNG.integers(0, 2**32, (8, 6), dtype=np.uint32)),
    "ppermute_partly": (local(lambda x: lax.ppermute(jnp.tanh(x), "data", [(0, 1), (1, 0)]), P("data", None), P("data", None), {"data"}), put(normal(8, 6), None, "model")),
    "pmax_unsigned": (local(lambda x: (lax.pmax(x, "model"), lax.psum(x, "model")), P("data", "model"), P("data", None)), RNG.integers(0, 2**32, (8, 6), dtype=np.uint32)),
    "axis_index": (local(lambda x: x * lax.axis_index("model"), P("data", "model"), P("data", "model")), normal(8, 6)),
    "local_sort": (local(lambda x: jnp.sort(x, 1) + lax.psum(x.sum(), "data"), P("data", None), P("data", None)), normal(8, 6)),
    "local_loop": (
        local(lambda x: lax.fori_loop(0, 3, lambda i, v: lax.psum(v, "model") * 0.5, x), P("data", "model"), P("data", None)),
        normal(8, 6),
    ),
    "partly_manual": (
        local(lambda x: lax.psum(jnp.tanh(x), "data"), P("data", None), P(None, None), {"data"}),
        put(normal(8, 6), None, "model"),
    ),
    "mixed": (lambda x, w: local(lambda a: lax.psum(a, "data"), P("data", None), P(None, None))(x @ w) @ w.T, put(normal(8, 4), "data"), put(normal(4, 6), None, "model")),
    "local_unsigned": (local(lambda x, k: x * 2 + k, (P("data"), P()), P("data")), np.arange(8, dtype=np.uint32), np.uint32(3)),
    # shapes
    "concatenate": (lambda x, y: jnp.concatenate([x, y], 1), put(normal(8, 4), "data"), put(normal(8, 6), "data")),
    "pad": (lambda x: jnp.pad(x, ((1, 2), (0, 3))), put(normal(8, 4), "data")),
    "pad_of_nothing": (lambda x: (lax.pad(x[:0], 3.0, ((2, 1, 1), (0, 1, 0))), jnp.pad(x[:, :0], ((0, 0), (1, 2)))), put(normal(8, 4), "data")),
    "gradient_of_associative_scan": (jax.grad(lambda x: (lax.associative_scan(jnp.multiply, x, axis=1) ** 2).sum()), put(normal(4, 16), "data")),
    "reverse": (lambda x: x[::-1], put(normal(8, 4), "data")),
    "strided": (lambda x: x[1::3], put(normal(8, 4), None, "model")),
    "nothing": (lambda x: lax.associative_scan(jnp.add, x, axis=0), put(normal(8, 4), "data")),
    "unique": (lambda x: jnp.unique(x, size=6), ints(4, 6)),
    "doubles": (lambda x: x + 1, np.arange(8.0)),
    "key": (lambda k, x: x + jax.random.normal(k, x.shape), jax.random.key(5), put(normal(8, 4), "data")),
    "random_bits": (lambda k, x: x + jax.random.uniform(k, x.shape), np.uint32([1, 2]), put(normal(8, 4), "data")),
    "dropout": (lambda k, x: jnp.where(jax.random.bernoulli(k, 0.5, x.shape), x, 0), np.uint32([3, 4]), put(normal(8, 4), "data")),
    "bfloat16": (lambda x: (x.astype(jnp.bfloat16) * 3).astype(jnp.float32), put(normal(8, 4), "data")),
    "bools": (lambda x: (x > 0) & (x < 1), put(normal(8, 4), "data")),
    "constraint_unsigned": (lambda x: lax.with_sharding_constraint(x + 1, NamedSharding(MESH, P("data"))), np.arange(8, dtype=np.uint32)),
    # 8-bit floats: weights are stored as such, other arguments and results are bytes
    **{f"extend_{k}": (lambda p: [p["w"].astype(t) for t in (jnp.float32, jnp.float16, jnp.bfloat16)], {"w": put(codes(k), "data", "model")}) for k in FLOATS8},
    **{f"round_{k}": (lambda x, k=k: x.astype(k), between(k)) for k in FLOATS8},
    **{f"round_16_{k}": (lambda x, k=k: (x.astype(jnp.bfloat16).astype(k), x.astype(jnp.float16).astype(k)), between(k)) for k in FLOATS8[:4]},
    **{f"convert_{k}": (lambda x, k=k: [x.astype(o) for o in FLOATS8[:4] if o != k], put(codes(k), "data")) for k in FLOATS8[:4]},
    "float8_moved": (lambda x: (x, x.T, jnp.concatenate([x, x[::2]]), x[::-1], x[jnp.array([3, 1, 15])]), put(BYTES, "data", "model")),
    "float8_computed": (lambda x, y: (x + y, x * y, jnp.maximum(x, -y), x < y, x * jnp.float8_e4m3fn(1.5)), put(FINITE, "data", "model"), put(FINITE.T, "model", "data")),
    "float8_reduced": (lambda x: (x.max(0), jnp.sign(x).sum(0), jnp.sort(x, axis=0)), put(FINITE, "data", "model")),
    "float8_product": (lambda x, y: lax.dot_general(x, y, (((1,), (0,)), ((), ())), preferred_element_type=jnp.float32), put(FINITE, "data", "model"), put(FINITE, "model")),
    "float8_layers": (lambda x, p: lax.scan(lambda c, w: (jnp.tanh(c @ (w[0].astype(jnp.float32) * w[1])), None), x, (p["w"], p["s"]))[0],
                      put(normal(8, 16), "data"), {"w": put(jnp.stack([FINITE, FINITE.T]), None, None, "model"), "s": np.stack([SCALES, SCALES[::-1]])}),
    "float8_cache": (jax.jit(lambda c, r, i: (lax.dynamic_update_slice(c, r.astype(c.dtype), (i, 0)), c.at[jnp.array([1, 5])].set(r.astype(c.dtype))), donate_argnums=0),
                     put(FINITE, "data"), normal(2, 16), np.int32(3)),
    "float8_local": (local(lambda x: (lax.all_gather(x, "model", axis=1, tiled=True), lax.ppermute(x, "data", [(0, 1), (1, 0)]).T), P("data", "model"), (P("data", None), P("model", "data"))), put(BYTES, "data", "model")),
    "float8_branches": (lambda x, p: (lax.cond(p, lambda x: x, lambda x: x[::-1], x), lax.fori_loop(0, 3, lambda i, x: x[::-1], x)), put(BYTES, "data"), np.bool_(False)),
    "float8_constraint": (lambda x: lax.with_sharding_constraint(x.T, NamedSharding(MESH, P("data"))).astype(jnp.float32), put(BYTES, "data")),
    "complex": (lambda x, y: (x * y + 1j, x @ y.T, x / y, abs(x), jnp.conj(x), x == x, jnp.where(x.real > 0, x, y)), put(C, "data", "model"), put(C[::-1], "model")),
    **{f"complex_{n}": (getattr(jnp, n), put(C, "data")) for n in
       ("exp", "log", "sin", "cos", "tan", "sinh", "cosh", "tanh", "sqrt", "angle", "sign", "expm1", "log1p", "square", "reciprocal")},
    "complex_powers": (lambda x, y: (x**y, x**3), put(C, "data"), C[::-1]),
    "complex_sums": (lambda x: (x.sum(0), x.prod(1), x.mean(), jnp.cumsum(x, 0), jnp.cumprod(x, 1)), put(C, "data", "model")),
    "complex_moved": (lambda x: (x.T, x[::-1], x[jnp.array([3, 1])], jnp.pad(x, 1, constant_values=2j), jnp.sort(x, 0), x.reshape(4, 16)), put(C, "data", "model")),
    "complex_scatter": (lambda x, y: (x.at[jnp.array([1, 3])].set(y), x.at[jnp.array([1, 1])].add(y)), put(C, "data"), C[:2]),
    "complex_scan": (lambda a, x: (lax.scan(lambda h, u: ((a * h + u), (a * h + u).real), jnp.zeros(8, jnp.complex64), x),
                                   lax.associative_scan(lambda p, q: (q[0] * p[0], q[0] * p[1] + q[1]), (jnp.broadcast_to(a, x.shape), x))),
                     C[0], put(C, None, "model")),
    "complex_gradient": (jax.grad(lambda x: jnp.sum(jnp.abs(x @ x.T) ** 2)), put(C, "data", "model")),
    "complex_convolution": (lambda x, w: lax.conv_general_dilated(x, w, (1,), "SAME"), put(signal(2, 3, 16), "data", None, "model"), signal(4, 3, 5)),
    "complex_local": (local(lambda x: (lax.psum(x, "data"), lax.all_gather(x, "model", axis=1, tiled=True)), P("data", "model"), (P(None, "model"), P("data", None))), put(C, "data", "model")),
    **{f"{k}_{n}": (getattr(jnp.fft, k), put(signal(4, n), "data")) for k in ("fft", "ifft") for n in (1, 2, 7, 60, 64, 67, 100, 1000, 1021)},
    **{f"rfft_{n}": (jnp.fft.rfft, put(normal(4, n), "data")) for n in (1, 2, 7, 100, 1021)},
    **{f"irfft_{n}": (lambda x, n=n: jnp.fft.irfft(x, n), put(signal(4, n // 2 + 1), "data")) for n in (1, 2, 7, 100, 1021)},
    "fft_cut": (jnp.fft.fft, put(signal(4, 256), None, "model")),
    "fft_dims": (lambda x: (jnp.fft.fft2(x), jnp.fft.fftn(x), jnp.fft.ifft(x, axis=0), jnp.fft.irfftn(x)), put(signal(6, 16, 12), None, "data")),
    "rfft_dims": (lambda x: (jnp.fft.rfft2(x), jnp.fft.rfftn(x), jnp.fft.rfft(x, axis=1)), put(normal(6, 16, 12), None, "data")),
    "fft_convolution": (lambda u, k: jnp.fft.irfft(jnp.fft.rfft(u, 256) * jnp.fft.rfft(k, 256), 256)[..., :128], put(normal(4, 128), "data"), normal(128)),
    "fft_gradient": (jax.grad(lambda x: jnp.sum(jnp.abs(jnp.fft.rfft(x)) ** 3) / 1000), put(normal(4, 64), "data")),
    "fft_mixing": (lambda x: jnp.fft.fft2(x).real, put(normal(4, 64, 24), "data", None, "model")),
    "recurrence": (jax.scipy.special.i0, put(normal(8, 4), "data")),
    "batched_product": (lambda x: jnp.einsum("bij,bjk->bik", x, x), put(normal(4, 3, 3), "data")),
}


def get_collectives(function, *args):
    with shardkit.import_jax(function, *args).compile() as program:
        return json.loads((program.directory / "bundle" / "manifest.json").read_text())["functions"][0]["collectives"]


def check(name):
    """Nothing, or what differs."""
    function, *args = CASES[name]
    expected = jax.jit(function)(*args)
    found = shardkit.run(function, *args)
    if name.startswith("places_") and int(name[7:]) < KEPT:
        if moved := [c["kind"] for c in get_collectives(function, put(CUBE, "data"), put(args[1], "data")) if c["kind"] != "all_slice"]:
            return f"{moved[0]} of what stays on its device"
    if name.startswith("candidates_") and (moved := sum(c["bytes"] for c in get_collectives(function, *args))) > 1024:
        return f"{moved} bytes move"
    for a, b in zip(jax.tree_util.tree_leaves(found), jax.tree_util.tree_leaves(expected), strict=True):
        b = np.asarray(b)
        if a.shape != b.shape or a.dtype != b.dtype:
            return f"{a.dtype}{a.shape} against {b.dtype}{b.shape}"
        if b.dtype.name in FLOATS8:
            nan = np.isnan(b.astype(np.float32))
            same = np.array_equal(nan, np.isnan(a.astype(np.float32))) and np.array_equal(a.view(np.uint8)[~nan], b.view(np.uint8)[~nan])
        elif b.dtype.kind in "biu":
            same = np.array_equal(a, b)
        else:
            finite = np.isfinite(b)
            same = np.array_equal(a[~finite], b[~finite], equal_nan=True)
            scale = max(1, np.abs(b[finite]).max(initial=0))  # sums cancel: of the largest element
            same &= bool((np.abs(a[finite] - b[finite]) <= 2e-6 * scale).all())
        if not same:
            return f"{a} against {b}"
    return None


if __name__ == "__main__":
    warnings.simplefilter("error")
    sys.exit(samples.run_cases(CASES, check))
