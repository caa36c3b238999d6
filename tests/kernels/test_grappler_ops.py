"""Nodes in which TensorFlow's Grappler put several ops give what their parts give."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from google.protobuf import text_format

import tensorloom as tf
from tensorloom.framework.registry.op_def_library import apply_op


def values(*shape: int) -> Any:
    return (np.sin(np.arange(np.prod(shape)) * 1.7) * 0.5).reshape(shape).astype("f")


STATISTICS = [values(4) + 1, values(4), values(4) * 0.3, np.abs(values(4)) + 0.5]
ACTIVATIONS: dict[str, Callable[[Any], Any]] = {
    "Relu": tf.nn.relu,
    "Elu": tf.nn.elu,
    "LeakyRelu": lambda x: tf.nn.leaky_relu(x, 0.3),
    "Sigmoid": tf.sigmoid,
    "GeluExact": lambda x: 0.5 * x * (1 + tf.erf(x / np.sqrt(2).astype("f"))),
    "GeluApproximate": lambda x: (
        0.5 * x * (1 + tf.tanh(np.sqrt(2 / np.pi).astype("f") * (x + 0.044715 * x**3)))
    ),
}


def node(op: str, attrs: str, *inputs: Any) -> Any:
    """The first output of a node, imported as a graph of TensorFlow 2.21 has it."""
    names = [f'input: "in{i}"' for i in range(len(inputs))]
    graph_def = tf.GraphDef()
    text_format.Parse(
        f'node {{ name: "n" op: "{op}" {" ".join(names)} {attrs} }}'
        + "".join(
            f'node {{ name: "in{i}" op: "Placeholder"'
            ' attr { key: "dtype" value { type: DT_FLOAT } } }'
            for i in range(len(inputs))
        ),
        graph_def,
    )
    given = {f"in{i}": tf.constant(value) for i, value in enumerate(inputs)}
    (result,) = tf.import_graph_def(graph_def, given, ["n:0"], name="")
    return result


def attr(**values: str) -> str:
    return " ".join(
        f'attr {{ key: "{key}" value {{ {value} }} }}' for key, value in values.items()
    )


def fused_ops(*names: str) -> dict[str, str]:
    items = " ".join(f's: "{name}"' for name in names)
    return {
        "T": "type: DT_FLOAT",
        "fused_ops": f"list {{ {items} }}",
        "leakyrelu_alpha": "f: 0.3",
        "epsilon": "f: 0.001",
    }


def strides(count: int) -> str:
    return f"list {{ {'i: 1 ' * count} }}"


def same(got: Any, wanted: Any) -> None:
    with tf.Session() as sess:
        a, b = sess.run([got, wanted])
    np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6)
    assert a.dtype == b.dtype


# What 2.21 says of _FusedConv2D besides.
_NEWER = {
    "TArgs": "list { type: DT_FLOAT }",
    "num_host_args": "i: 0",
    "filter_format": 's: "HWIO"',
    "use_cudnn_on_gpu": "b: true",
    "explicit_paddings": "list { }",
}


@pytest.mark.parametrize("activation", ACTIVATIONS)
@pytest.mark.parametrize("size", [4, 100])  # in host memory, and as tensors
def test_products(activation: str, size: int) -> None:
    x, w, b = values(size, 3), values(3, size), values(size)
    got = node(
        "_FusedMatMul",
        attr(num_args="i: 1", **fused_ops("BiasAdd", activation)),
        *(x, w, b),
    )
    same(got, ACTIVATIONS[activation](tf.nn.bias_add(tf.matmul(x, w), b)))


@pytest.mark.parametrize("size", [4, 100])
def test_a_product_and_a_sum(size: int) -> None:
    x, w, b, side = values(size, 3), values(3, size), values(size), values(size, size)
    attrs = attr(num_args="i: 2", **fused_ops("BiasAdd", "Add", "Relu"))
    got = node("_FusedMatMul", attrs, x, w, b, side)
    same(got, tf.nn.relu(tf.nn.bias_add(tf.matmul(x, w), b) + side))


@pytest.mark.parametrize("size", [4, 100])
@pytest.mark.parametrize("columns", [None, 1])  # as many as the product, or one for all
def test_a_product_and_a_matrix(size: int, columns: int | None) -> None:
    x, w, side = values(size, 3), values(3, size), values(size, columns or size)
    attrs = attr(num_args="i: 1", **fused_ops("Add", "Tanh"))
    got = node("_FusedMatMul", attrs, x, w, side)
    same(got, tf.tanh(tf.matmul(x, w) + side))


@pytest.mark.parametrize("activation", ["LeakyRelu", "Elu"])
def test_convolution_and_norm(activation: str) -> None:
    x, w = values(2, 5, 5, 3), values(3, 3, 3, 4)
    attrs = attr(
        num_args="i: 4",
        strides=strides(4),
        padding='s: "SAME"',
        **_NEWER,
        **fused_ops("FusedBatchNorm", activation),
    )
    product = tf.nn.conv2d(x, w, [1, 1, 1, 1], "SAME")
    normal = tf.nn.fused_batch_norm(
        product, *STATISTICS, epsilon=0.001, is_training=False
    )[0]
    got = node("_FusedConv2D", attrs, x, w, *STATISTICS)
    same(got, ACTIVATIONS[activation](normal))


def test_convolution_bias_and_sum() -> None:
    x, w, b, side = (
        values(2, 5, 5, 3),
        values(3, 3, 3, 4),
        values(4),
        values(2, 5, 5, 4),
    )
    attrs = attr(
        num_args="i: 2",
        strides=strides(4),
        padding='s: "SAME"',
        **_NEWER,
        **fused_ops("BiasAdd", "Add"),
    )
    product = tf.nn.conv2d(x, w, [1, 1, 1, 1], "SAME")
    same(node("_FusedConv2D", attrs, x, w, b, side), product + b + side)


@pytest.mark.parametrize("activation", ["Relu", "Elu"])
def test_depthwise_convolution(activation: str) -> None:
    x, w, b = values(2, 5, 5, 3), values(3, 3, 3, 2), values(6)
    attrs = attr(
        num_args="i: 1",
        strides=strides(4),
        padding='s: "VALID"',
        **fused_ops("BiasAdd", activation),
    )
    product = tf.nn.depthwise_conv2d(x, w, [1, 1, 1, 1], "VALID")
    got = node("_FusedDepthwiseConv2dNative", attrs, x, w, b)
    same(got, ACTIVATIONS[activation](product + b))


def test_volume_convolution() -> None:
    x, w, b = values(1, 4, 4, 4, 3), values(2, 2, 2, 3, 4), values(4)
    attrs = attr(
        num_args="i: 1",
        strides=strides(5),
        padding='s: "SAME"',
        padding_list="list { }",
        **fused_ops("BiasAdd", "Relu"),
    )
    product = tf.nn.conv3d(x, w, strides=[1] * 5, padding="SAME")
    same(node("_FusedConv3D", attrs, x, w, b), tf.nn.relu(product + b))


@pytest.mark.parametrize("sides", [0, 1])
def test_batch_norm(sides: int) -> None:
    x = values(2, 3, 3, 4)
    attrs = attr(
        T="type: DT_FLOAT",
        U="type: DT_FLOAT",
        num_side_inputs=f"i: {sides}",
        activation_mode='s: "Relu"',
        is_training="b: false",
        epsilon="f: 0.001",
    )
    normal = tf.nn.fused_batch_norm(x, *STATISTICS, epsilon=0.001, is_training=False)[0]
    got = node("_FusedBatchNormEx", attrs, x, *STATISTICS, *[x] * sides)
    same(got, tf.nn.relu(normal + x * float(sides)))


def test_functions_of_elements() -> None:
    x = values(9)
    names = 'list { s: "Abs" s: "Sqrt" s: "Tanh" s: "Exp" }'
    attrs = attr(T="type: DT_FLOAT", op_names=names)
    wanted = tf.exp(tf.tanh(tf.sqrt(tf.abs(x))))
    same(node("_UnaryOpsComposition", attrs, x), wanted)
    same(node("_MklSwish", attr(T="type: DT_FLOAT"), x), x * tf.sigmoid(x))


@pytest.mark.parametrize("names", [("BiasAdd", "Nonsense"), ("Add",), ()])
def test_what_it_cannot_do(names: tuple[str, ...]) -> None:
    attrs = attr(num_args="i: 0", **fused_ops(*names))
    got = node("_FusedMatMul", attrs, values(2, 3), values(3, 2))
    with tf.Session() as sess, pytest.raises(tf.errors.OpError):
        sess.run(got)


def test_buckets_of_numbers() -> None:
    numbers = np.array([0, -5, 123456789012, 7])
    attrs = attr(T="type: DT_INT64", num_buckets="i: 1000")
    graph_def = tf.GraphDef()
    text_format.Parse(
        f'node {{ name: "n" op: "_TensorToHashBucketFast" input: "x" {attrs} }}'
        'node { name: "x" op: "Placeholder"'
        ' attr { key: "dtype" value { type: DT_INT64 } } }',
        graph_def,
    )
    given = {"x": tf.constant(numbers)}
    (got,) = tf.import_graph_def(graph_def, given, ["n:0"], name="")
    wanted = tf.strings.to_hash_bucket_fast(tf.as_string(numbers), 1000)
    with tf.Session() as sess:
        assert sess.run(got).tolist() == sess.run(wanted).tolist()


def test_variables_together() -> None:
    def made(op: str, name: str, **given: Any) -> Any:
        return apply_op(op, name=name, **given)

    types = [tf.float32, tf.int32]
    handles = made(
        "_VarHandlesOp",
        "handles",
        N=2,
        containers=["", ""],
        shared_names=["a", "b"],
        dtypes=types,
        shapes=[[5000], []],
    )
    read = made("_ReadVariablesOp", "read", resources=handles, dtypes=types)
    assert [t.shape for t in read] == [[5000], []]
    raw = tf.raw_ops
    ones = tf.ones([5000])
    init = [
        raw.AssignVariableOp(resource=handles[0], value=ones),
        raw.AssignVariableOp(resource=handles[1], value=4),
    ]
    with tf.control_dependencies(read):
        update = raw.AssignAddVariableOp(resource=handles[0], value=ones)
    with tf.control_dependencies([update]):
        now = raw.ReadVariableOp(resource=handles[0], dtype=tf.float32)
        before = tf.identity(read[0])
    with tf.Session() as sess:
        with pytest.raises(tf.errors.FailedPreconditionError):
            sess.run(read)
        sess.run(init)
        floats, number, later = sess.run([before, read[1], now])
        assert number == 4
        assert set(floats) == {1.0}
        assert set(later) == {2.0}
