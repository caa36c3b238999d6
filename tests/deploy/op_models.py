"""Models of many small operations, an output each."""

from __future__ import annotations

from typing import Any, Final

import tensorloom as tf
from tests.deploy.models import Build, values

Ends = tuple[dict[str, Any], dict[str, Any]]
_UNARY: Final = (
    *("abs", "ceil", "cos", "cosh", "exp", "floor", "negative", "reciprocal"),
    *("rint", "round", "sign", "sin", "sinh", "square", "tan", "tanh", "sigmoid"),
    *("erf", "erfc", "expm1", "zeros_like", "ones_like", "is_nan", "is_inf"),
)
_POSITIVE: Final = ("log", "log1p", "rsqrt", "sqrt")
_ACTIVATIONS: Final = (
    *("elu", "relu", "relu6", "selu", "softplus", "softsign", "leaky_relu"),
    *("softmax", "log_softmax", "l2_loss"),
)
_BINARY: Final = (
    *("add", "subtract", "multiply", "divide", "floordiv", "floormod", "maximum"),
    *("minimum", "less", "less_equal", "greater", "greater_equal", "equal"),
    *("not_equal", "squared_difference", "div_no_nan"),
)


def _function(name: str) -> Any:
    return getattr(tf.math, name, None) or getattr(tf, name)


def _outputs(found: dict[str, Any]) -> dict[str, Any]:
    return {key: tf.identity(value, name=f"out_{key}") for key, value in found.items()}


def elementwise() -> Ends:
    x = tf.placeholder(tf.float32, [None, 6], name="x")
    n = tf.placeholder(tf.int32, [None, 6], name="n")
    found = {name: _function(name)(x) for name in _UNARY}
    found |= {name: _function(name)(tf.abs(x) + 0.1) for name in _POSITIVE}
    found |= {f"nn_{name}": getattr(tf.nn, name)(x) for name in _ACTIVATIONS}
    other = tf.constant(values(6) - 0.05)
    found |= {f"{name}_2": _function(name)(x, other) for name in _BINARY}
    whole = (n - 1) * 7
    found |= {
        "int_div": tf.floordiv(whole, 3),
        "int_mod": tf.floormod(whole, 3),
        "int_cut": tf.truncatediv(whole, 3),
        "int_rest": tf.truncatemod(whole, 3),
        "pow": tf.pow(tf.abs(x), 1.5),
        "add_n": tf.add_n([x, x, other * x]),
        "clip": tf.clip_by_value(x, -0.5, 0.5),
        "rows": tf.where(x[:, 0] > 0.0, x, -x),
        "and": tf.logical_and(x > 0.0, tf.logical_not(tf.logical_or(x > 1.0, n > 1))),
        "cast": tf.cast(x * 3.0, tf.int32),
        "double": tf.cast(x, tf.float64),
        "truth": tf.cast(n, tf.bool),
    }
    return {"x": x, "n": n}, _outputs(found)


def arrays() -> Ends:
    x = tf.placeholder(tf.float32, [None, 4, 3], name="x")
    n = tf.placeholder(tf.int32, [None], name="n")
    halves = tf.split(x, 2, 1)
    uneven = tf.split(x, [1, 3], 1)
    top, places = tf.nn.top_k(x, 2)
    found = {
        "reshape": tf.reshape(x, [-1, 12]),
        "shape": tf.shape(x),
        "size": tf.size(x),
        "rank": tf.rank(x[..., tf.newaxis]),
        "expand": tf.expand_dims(x, -1),
        "squeeze": tf.squeeze(x[:, :1, :1], [1, 2]),
        "concat": tf.concat([x, x * 2.0], -1),
        "stack": tf.stack([x, -x], 1),
        "unstack": tf.unstack(x, axis=1)[2],
        "split": halves[1],
        "uneven": uneven[1],
        "transpose": tf.transpose(x, [2, 0, 1]),
        "tile": tf.tile(x, [1, 2, 1]),
        "fill": tf.fill([tf.shape(x)[0], 2], 7.0),
        "range": tf.range(tf.shape(x)[0]),
        "slice": tf.slice(x, [0, 1, 0], [-1, 2, -1]),
        "strided": x[:, -1:0:-2, 1:],
        "last": x[-1],
        "shrunk": x[..., 1],
        "open": x[:, 1:-1, ::2],
        "dynamic": x[tf.shape(x)[0] - 1 :, : tf.shape(x)[2]],
        "gather": tf.gather(x, [2, 0], axis=1),
        "gather_rows": tf.gather(x, tf.minimum(n, 2)),
        "gather_nd": tf.gather_nd(x, tf.stack([tf.range(tf.shape(x)[0]), n], 1)),
        "pad": tf.pad(x, [[0, 0], [1, 2], [0, 1]]),
        "pad_value": tf.pad(x, [[0, 0], [1, 0], [0, 1]], constant_values=2.5),
        "mirror": tf.pad(x, [[0, 0], [1, 2], [1, 0]], "REFLECT"),
        "reverse": tf.reverse(x, [1, 2]),
        "sequences": tf.reverse_sequence(x, n + 1, 1, 0),
        "one_hot": tf.one_hot(n - 1, 3),
        "where": tf.where(n > 0),
        "sum": tf.reduce_sum(x, [1]),
        "mean": tf.reduce_mean(x, [1, 2], keepdims=True),
        "max": tf.reduce_max(x, -1),
        "min": tf.reduce_min(x),
        "prod": tf.reduce_prod(x, [1, 2]),
        "all": tf.reduce_all(x > -1.0, 1),
        "any": tf.reduce_any(x > 1.0, [1, 2]),
        "argmax": tf.argmax(x, 1),
        "argmin": tf.argmin(x, 2, output_type=tf.int32),
        "cumsum": tf.cumsum(x, 1),
        "top": top,
        "top_places": places,
        "broadcast": tf.broadcast_to(x[:, :1], tf.shape(x)),
    }
    return {"x": x, "n": n}, _outputs(found)


def images() -> Ends:
    x = tf.placeholder(tf.float32, [None, 9, 8, 4], name="x")
    weights = tf.constant(values(3, 2, 4, 5))
    depth = tf.constant(values(3, 3, 4, 2))
    grouped = tf.constant(values(3, 3, 2, 6))
    bias = tf.constant(values(5))
    found = {
        "valid": tf.nn.conv2d(x, weights, [1, 2, 1, 1], "VALID"),
        "same": tf.nn.bias_add(tf.nn.conv2d(x, weights, 2, "SAME"), bias),
        "dilated": tf.nn.conv2d(x, weights, 1, "SAME", dilations=[1, 2, 2, 1]),
        "depthwise": tf.nn.depthwise_conv2d(x, depth, [1, 2, 2, 1], "SAME"),
        "max_same": tf.nn.max_pool2d(x, 3, 2, "SAME"),
        "max_valid": tf.nn.max_pool2d(x, [2, 3], [2, 1], "VALID"),
        "mean_same": tf.nn.avg_pool2d(x, 3, 2, "SAME"),
        "mean_valid": tf.nn.avg_pool2d(x, 2, 2, "VALID"),
        "normal": tf.nn.fused_batch_norm(
            x, *[values(4) + k for k in (1.0, 0.0, 0.2, 1.5)], is_training=False
        )[0],
        "chain": tf.nn.relu(
            tf.nn.conv2d(
                tf.nn.relu6(tf.nn.conv2d(x, weights, 1, "SAME")),
                grouped[:, :, :1] * tf.ones([1, 1, 5, 1]),
                1,
                "SAME",
            )
        ),
        "nearest": tf.image.resize_nearest_neighbor(x, [18, 16]),
        "corners": tf.image.resize_bilinear(x, [17, 15], align_corners=True),
    }
    return {"x": x}, _outputs(found)


def images_of_onnx() -> Ends:
    x = tf.placeholder(tf.float32, [2, 6, 6, 4], name="x")
    found = {
        "bilinear": tf.image.resize_bilinear(x, [13, 9]),
        "depth_to_space": tf.depth_to_space(x, 2),
        "space_to_depth": tf.space_to_depth(x, 2),
        "transposed": tf.nn.conv2d_transpose(
            x, values(3, 3, 5, 4), [2, 12, 12, 5], 2, "SAME"
        ),
        "transposed_valid": tf.nn.conv2d_transpose(
            x, values(3, 3, 5, 4), [2, 13, 13, 5], 2, "VALID"
        ),
        "local": tf.nn.local_response_normalization(x, 2, 1.0, 0.5, 0.75),
        "band": tf.matrix_band_part(x, 1, 0),
        "log_softmax": tf.nn.log_softmax(x),
        "exclusive": tf.cumsum(x, 1, exclusive=True, reverse=True),
    }
    return {"x": x}, _outputs(found)


def products() -> Ends:
    x = tf.placeholder(tf.float32, [None, 3, 4], name="x")
    w = tf.constant(values(4, 4))
    flat = tf.reshape(x, [-1, 4])
    found = {
        "matmul": tf.matmul(flat, w),
        "transposed": tf.matmul(flat, w, transpose_b=True),
        "both": tf.matmul(flat, flat, transpose_a=True),
        "batch": tf.matmul(x, x, transpose_b=True),
        "adjoint": tf.matmul(x, x, adjoint_a=True),
        "einsum": tf.einsum("bij,jk->bik", x, w),
    }
    return {"x": x}, _outputs(found)


def _ends_early(x: tf.Tensor) -> tf.Tensor:
    """A loop that fills an array from its end, and leaves its first element out."""
    array = tf.TensorArray(tf.float32, 4)
    _, array = tf.while_loop(
        lambda i, a: i > 0,
        lambda i, a: (i - 1, a.write(i, x[0] * tf.cast(i, tf.float32))),
        [3, array],
    )
    return array.stack()


def scans() -> Ends:
    """Loops that write into arrays, of which one has an element before."""
    x = tf.placeholder(tf.float32, [None, 3], name="x")
    array = tf.TensorArray(tf.float32, 0, dynamic_size=True)
    for place in range(2):
        array = array.write(place, x[0] * float(place))
    found = {
        "begun": tf.scan(lambda a, v: a * 0.5 + v, x),
        "given": tf.scan(lambda a, v: a * 0.5 + v, x, tf.zeros([3])),
        "backwards": tf.scan(lambda a, v: a * 0.5 + v, x, reverse=True),
        "given_backwards": tf.scan(
            lambda a, v: a * 0.5 + v, x, tf.zeros([3]), reverse=True
        ),
        "backwards_of_four": tf.scan(lambda a, v: a - v, x[0, :2], reverse=True),
        "early": _ends_early(x),
        "mapped": tf.map_fn(lambda v: v * tf.reduce_sum(v), x),
        "written": array.stack(),
    }
    return {"x": x}, _outputs(found)


BOTH: Final[dict[str, Build]] = {
    "elementwise": elementwise,
    "arrays": arrays,
    "images": images,
    "products": products,
    "scans": scans,
}
ONNX: Final[dict[str, Build]] = {**BOTH, "images_of_onnx": images_of_onnx}
