"""A function of sizes that only the run knows, called from Python."""

import sys

import numpy as np

import shardkit


def show_error(call) -> None:
    try:
        call()
        print("no error")
    except shardkit.ShardKitError as error:
        print(error)


with shardkit.Session(sys.argv[1]) as session:
    function = session["main"]
    print(function.sizes, [value.shape for value in function.arguments], [value.kind for value in function.arguments])
    rng = np.random.default_rng(1)
    w1, w2 = (rng.standard_normal(shape).astype(np.float32) for shape in ((16, 32), (32, 12)))
    session.assign("w1", w1)
    session.assign("w2", w2)
    for b in (1, 5, 64, 5, 0) * 3:
        x = rng.standard_normal((b, 16)).astype(np.float32)
        (y,) = function(x)
        assert y.shape == (b, 12) and np.allclose(y, np.tanh(x @ w1) @ w2, atol=1e-5)
        (y,) = session["alone"](x)
        assert y.shape == (b, 16) and np.allclose(y, np.exp(x) / np.exp(x).sum(-1, keepdims=True), atol=1e-5)
    (y,) = function.at(b=3)(x=np.ones((3, 16), np.float32))
    assert np.allclose(y, np.tanh(np.ones((3, 16)) @ w1) @ w2, atol=1e-5)
    x = function.put("x", np.ones((7, 16), np.float32))
    print(x.shape, function(x)[0].shape, function(x=x, wait=False)[0].shape)
    show_error(lambda: function(np.zeros((65, 16), np.float32)))
    show_error(lambda: function(np.zeros((3, 15), np.float32)))
    show_error(lambda: function(np.zeros(3, np.float32)))
    show_error(lambda: function(np.zeros((2, 16))))
    show_error(lambda: function())
    show_error(lambda: function.at(c=3))
    show_error(lambda: function.at(b=-1))
