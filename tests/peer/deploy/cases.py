"""Graphs and what the Graph Transform Tool is asked to make of them. Python 3.7."""

import numpy as np

CASES = {}


def case(*transforms, **options):
    """Declares a case: a function of `tf` that returns inputs, outputs and feeds."""

    def declare(build):
        CASES[build.__name__] = (build, list(transforms), options)
        return build

    return declare


def _values(*shape):
    count = int(np.prod(shape))
    return (np.sin(np.arange(count) * 0.7) * 0.8).reshape(shape).astype(np.float32)


def _image(tf, channels=3):
    x = tf.placeholder(tf.float32, [2, 8, 8, channels], name="x")
    return x, {"x:0": _values(2, 8, 8, channels)}


def _small(tf):
    x, feeds = _image(tf)
    y = tf.nn.conv2d(x, tf.constant(_values(3, 3, 3, 4)), 1, "SAME", name="conv")
    y = tf.identity(y, name="same")
    with tf.control_dependencies([tf.no_op("wait")]), tf.device("/cpu:0"):
        y = tf.nn.relu(y * tf.constant(_values(4), name="scale"), name="relu")
    tf.negative(x, name="unused")
    again = tf.constant(_values(4), name="scale_again")
    tf.add(y, tf.check_numerics(again, "bad"), name="y")
    return ["x"], ["y"], feeds


@case("add_default_attributes")
def defaults(tf):
    return _small(tf)


@case("strip_unused_nodes")
def strip(tf):
    return _small(tf)


@case('strip_unused_nodes(type=float, shape="2,8,8,4")')
def strip_middle(tf):
    _small(tf)
    return ["same"], ["y"], {"same:0": _values(2, 8, 8, 4)}


@case(
    "strip_unused_nodes(name=same, type_for_name=float, "
    'name=other, type_for_name=int32, shape_for_name="2,8,8,4", shape_for_name="1")'
)
def strip_by_name(tf):
    _small(tf)
    return ["same"], ["y"], {"same:0": _values(2, 8, 8, 4)}


@case("remove_nodes(op=Identity, op=CheckNumerics)", ordered=False)
def remove(tf):
    return _small(tf)


@case("remove_nodes(op=Identity)", ordered=False)
def remove_chain(tf):
    x = tf.placeholder(tf.float32, [3], name="x")
    first, _ = tf.split(tf.concat([x, x], 0), 2, name="halves")
    y = first
    for number in range(5):
        with tf.control_dependencies([y]):
            y = tf.identity(y, name=f"i{number}")
    with tf.control_dependencies([y]):
        tf.identity(tf.negative(x), name="y")
    tf.negative(y, name="z")
    return ["x"], ["y", "z"], {"x:0": _values(3)}


@case("remove_nodes(op=Add, max_inputs=2)", ordered=False, values=False)
def remove_two_inputs(tf):
    return _small(tf)


# Which of two equal nodes stays is chance in TensorFlow.
@case("merge_duplicate_nodes", ordered=False, named=False)
def merge(tf):
    x, feeds = _image(tf)
    first = tf.nn.relu(x * tf.constant(2.0))
    second = tf.nn.relu(x * tf.constant(2.0))
    draws = tf.random_uniform([2]) + tf.random_uniform([2])
    tf.add(first + second, tf.reduce_sum(draws) * 0.0, name="y")
    return ["x"], ["y"], feeds


@case("obfuscate_names")
def obfuscate(tf):
    x = tf.placeholder(tf.float32, [2], name="x")
    y = x
    for number in range(70):
        y = tf.add(y, float(number), name=f"named_{number}")
    tf.identity(y, name="0")
    return ["x"], ["0"], {"x:0": _values(2)}


@case("remove_device")
def no_device(tf):
    return _small(tf)


@case("set_device(device=/job, if_default=true)", values=False)
def default_device(tf):
    return _small(tf)


@case('set_device(device="/cpu:0")')
def some_device(tf):
    return _small(tf)


@case("remove_control_dependencies")
def no_waits(tf):
    return _small(tf)


@case("sort_by_execution_order")
def in_order(tf):
    return _small(tf)


@case("sort_by_execution_order", values=False)
def loop_in_order(tf):
    x = tf.placeholder(tf.float32, [], name="x")
    tf.while_loop(lambda i: i < 10.0, lambda i: i + x, [x], name="loop")
    return ["x"], ["loop/Exit"], {"x:0": 1.0}


@case(
    "rename_attribute(op_name=Conv2D, old_attribute_name=padding, "
    "new_attribute_name=pad)",
    "remove_attribute(op_name=Conv2D, attribute_name=dilations)",
    "rename_op(old_op_name=Conv2D, new_op_name=MyConv)",
    values=False,
)
def renamed(tf):
    return _small(tf)


@case("fold_constants(ignore_errors=true)", folded=True)
def constants(tf):
    x, feeds = _image(tf)
    weights = tf.reshape(tf.constant(_values(36)), [3, 3, 1, 4]) * 2.0
    y = tf.nn.conv2d(x, tf.tile(weights, [1, 1, 3, 1]), 1, "SAME")
    rank = tf.cast(tf.rank(y) + tf.size(x), tf.float32)
    tf.identity(tf.reshape(y, [tf.shape(x)[0], -1]) + rank, name="y")
    return ["x"], ["y"], feeds


@case("fold_constants(exclude_op=Tile, exclude_node=kept)", folded=True)
def constants_but(tf):
    x = tf.placeholder(tf.float32, [4], name="x")
    kept = tf.add(tf.constant(_values(4)), 1.0, name="kept")
    tiled = tf.tile(tf.constant([1.0, 2.0]) * 2.0, [2])
    tf.add(x * kept, tiled, name="y")
    return ["x"], ["y"], {"x:0": _values(4)}


@case("fold_constants", folded=True)
def constant_default(tf):
    default = tf.placeholder_with_default([1.0, 2.0], [2], name="x")
    tf.multiply(default, tf.exp(tf.constant(1.0)), name="y")
    return ["x"], ["y"], {"x:0": _values(2)}


@case("fold_batch_norms")
def factors(tf):
    x, feeds = _image(tf)
    y = tf.nn.conv2d(x, tf.constant(_values(3, 3, 3, 4)), 1, "SAME") * _values(4)
    y = tf.nn.depthwise_conv2d_native(
        y, tf.constant(_values(3, 3, 4, 2)), [1, 1, 1, 1], "SAME"
    ) * _values(8)
    y = tf.matmul(tf.reshape(y, [2, -1]), tf.constant(_values(512, 3))) * _values(3)
    tf.identity(y, name="y")
    return ["x"], ["y"], feeds


@case("fold_batch_norms", ordered=False)
def factors_of_shared_weights(tf):
    x, feeds = _image(tf)
    weights = tf.constant(_values(3, 3, 3, 4))
    first = tf.nn.conv2d(x, weights, 1, "SAME") * _values(4)
    tf.add(first, tf.nn.conv2d(x + 1.0, weights, 1, "SAME"), name="y")
    return ["x"], ["y"], feeds


def _norm(tf, y, channels, name):
    parts = [tf.constant(_values(channels) + shift) for shift in (1.5, 0.1, 0.2, 1.9)]
    return tf.raw_ops.FusedBatchNorm(
        x=y,
        scale=parts[0],
        offset=parts[1],
        mean=parts[2],
        variance=parts[3],
        is_training=False,
        epsilon=0.01,
        name=name,
    ).y


@case("fold_old_batch_norms")
def fused_norms(tf):
    x, feeds = _image(tf)
    y = tf.nn.conv2d(x, tf.constant(_values(3, 3, 3, 4)), 1, "SAME")
    y = tf.nn.relu(_norm(tf, y, 4, "first"))
    y = tf.nn.depthwise_conv2d_native(
        y, tf.constant(_values(3, 3, 4, 2)), [1, 1, 1, 1], "VALID"
    )
    tf.identity(_norm(tf, y, 8, "second"), name="y")
    return ["x"], ["y"], feeds


@case("fold_old_batch_norms")
def oldest_norm(tf):
    x, feeds = _image(tf)
    y = tf.nn.conv2d(x, tf.constant(_values(3, 3, 3, 4)), 1, "SAME")
    mean, beta, gamma = _values(4), _values(4) + 0.5, _values(4) + 1.0
    y = tf.nn.batch_norm_with_global_normalization(
        y, mean, _values(4) + 1.5, beta, gamma, 0.01, True
    )
    tf.identity(y, name="y")
    return ["x"], ["y"], feeds


@case("fold_old_batch_norms")
def norm_after_concat(tf):
    x, feeds = _image(tf)
    first = tf.nn.conv2d(x, tf.constant(_values(3, 3, 3, 4)), 1, "SAME")
    second = tf.nn.conv2d(x + 1.0, tf.constant(_values(1, 1, 3, 2)), 1, "SAME")
    tf.identity(_norm(tf, tf.concat([first, second], 3), 6, "norm"), name="y")
    return ["x"], ["y"], feeds


def _atrous(tf, x):
    spread = tf.space_to_batch_nd(x, [2, 2], [[2, 2], [2, 2]])
    y = tf.nn.conv2d(spread, tf.constant(_values(3, 3, 3, 4)), 1, "VALID")
    return tf.batch_to_space_nd(y, [2, 2], [[0, 0], [0, 0]])


@case("fold_old_batch_norms")
def norm_after_space(tf):
    x, feeds = _image(tf)
    tf.identity(_norm(tf, _atrous(tf, x), 4, "norm"), name="y")
    return ["x"], ["y"], feeds


@case("flatten_atrous_conv")
def atrous(tf):
    x, feeds = _image(tf)
    tf.identity(_atrous(tf, x), name="y")
    return ["x"], ["y"], feeds


def _resized(tf, resize, pad):
    # The fused ops of 1.15 mistake the second image of a batch.
    x = tf.placeholder(tf.float32, [1, 8, 8, 3], name="x")
    feeds = {"x:0": _values(1, 8, 8, 3)}
    y = tf.image.resize_bilinear(x, [12, 12]) if resize else x
    if pad:
        y = tf.pad(y, [[0, 0], [1, 1], [2, 2], [0, 0]], "REFLECT")
    y = tf.nn.conv2d(y, tf.constant(_values(3, 3, 3, 4)), 1, "VALID")
    tf.identity(y, name="y")
    return ["x"], ["y"], feeds


@case("fuse_resize_pad_and_conv")
def resized_and_padded(tf):
    return _resized(tf, True, True)


@case("fuse_resize_and_conv")
def resized(tf):
    return _resized(tf, True, False)


@case("fuse_pad_and_conv")
def padded(tf):
    return _resized(tf, False, True)


def _large(tf, names=("weights", "below", "same", "zeros")):
    x, feeds = _image(tf)
    values = {
        "weights": _values(3, 3, 3, 64),
        "below": -1.0 - np.abs(_values(1, 1, 64, 32)),
        "same": np.full([1, 1, 32, 32], 0.3, np.float32),
        "zeros": np.zeros([1, 1, 32, 32], np.float32),
    }
    y = x
    for name in names:
        y = tf.nn.conv2d(y, tf.constant(values[name], name=name), 1, "SAME")
    tf.add(y, tf.constant(_values(32), name="bias"), name="y")
    return ["x"], ["y"], feeds


@case("round_weights(num_steps=16)")
def rounded(tf):
    return _large(tf)


@case("round_weights", tolerance=1e-4)
def rounded_finely(tf):
    return _large(tf)


@case("quantize_weights", tolerance=1e-4)
def quantized_weights(tf):
    # Zeros become NaN there.
    return _large(tf, ("weights", "below", "same"))


@case("quantize_weights(minimum_size=10)", tolerance=1e-4)
def quantized_small_weights(tf):
    return _small(tf)


@case('insert_logging(op=Conv2D, op=Relu, show_name=true, show_op=1, message="seen")')
def logging(tf):
    return _small(tf)


@case("insert_logging(prefix=re, first_n=3, summarize=4)")
def logging_by_prefix(tf):
    return _small(tf)


@case("backport_concatv2")
def concat(tf):
    x, feeds = _image(tf)
    tf.concat([x, x + 1.0], 3, name="y")
    return ["x"], ["y"], feeds


@case("backport_tensor_array_v3", values=False)
def arrays(tf):
    x = tf.placeholder(tf.float32, [3], name="x")
    array = tf.TensorArray(tf.float32, 3).unstack(x).write(1, 5.0)
    tf.identity(array.stack(), name="y")
    return ["x"], ["y"], {"x:0": _values(3)}


def _network(tf):
    x, feeds = _image(tf)
    y = tf.nn.conv2d(x, tf.constant(_values(3, 3, 3, 4)), 1, "SAME")
    y = tf.nn.relu(tf.nn.bias_add(y, tf.constant(_values(4))))
    y = tf.nn.max_pool(y, [1, 2, 2, 1], [1, 2, 2, 1], "SAME")
    y = tf.reshape(y, [2, 64])
    tf.matmul(y, tf.constant(_values(64, 5)), name="y")
    return ["x"], ["y"], feeds


@case("quantize_nodes", ordered=False, tolerance=0.1)
def eight_bits(tf):
    return _network(tf)


@case(
    "quantize_nodes(ignore_op=MatMul, fallback_min=-4, fallback_max=4)", ordered=False
)
def eight_bits_but(tf):
    return _network(tf)


@case("quantize_nodes(input_min=-1, input_max=1)", ordered=False, values=False)
def eight_bits_fed(tf):
    return _network(tf)


@case("quantize_nodes", ordered=False, tolerance=0.1)
def eight_bits_trained(tf):
    x, feeds = _image(tf)
    y = tf.nn.conv2d(x, tf.constant(_values(3, 3, 3, 4)), 1, "SAME")
    y = tf.nn.max_pool(tf.nn.relu(y), [1, 2, 2, 1], [1, 2, 2, 1], "SAME")
    y = tf.quantization.fake_quant_with_min_max_vars(y, 0.0, 3.0)
    tf.identity(tf.nn.relu6(y), name="y")
    return ["x"], ["y"], feeds


@case("quantize_weights", "quantize_nodes", ordered=False, tolerance=0.1)
def eight_bits_whole(tf):
    return _network(tf)


@case("sparsify_gather", ordered=False, init="group_deps")
def sparse(tf):
    x = tf.placeholder(tf.int64, [3], name="x")
    values = np.zeros((20, 1), np.float32)
    values[[3, 7, 8]] = [[1.0], [2.0], [3.0]]
    weights = tf.identity(tf.constant(values, name="w"), name="w/read")
    tf.add(tf.gather(weights, x), 1.0, name="y")
    return ["x"], ["y"], {"x:0": np.array([3, 4, 8], np.int64)}


@case(
    "strip_unused_nodes",
    "remove_nodes(op=Identity, op=CheckNumerics)",
    "fold_constants(ignore_errors=true)",
    "fold_batch_norms",
    "fold_old_batch_norms",
    "sort_by_execution_order",
    folded=True,
    ordered=False,
)
def deployed(tf):
    return _small(tf)


ERRORS = {
    "unknown": "no_such_transform",
    "no name": "fold_constants((",
    "no sign": "remove_nodes(op)",
    "no op": "remove_nodes",
    "no attribute": "remove_attribute",
    "no new name": "rename_op(old_op_name=Conv2D)",
    "twice": "round_weights(num_steps=1, num_steps=2)",
    "no number": "round_weights(num_steps=many)",
    "no truth": "set_device(if_default=maybe)",
    "no file": "freeze_requantization_ranges",
    "half a range": "quantize_nodes(input_min=1)",
    "no type": "strip_unused_nodes(type=strange)",
    "wrong input": "fold_constants",
}
