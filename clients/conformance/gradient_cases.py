"""Writes cases/gradients.txt: one operation of every family, with numbers of TensorFlow.

Usage, in a Python with TensorFlow 1.15:
    python clients/conformance/gradient_cases.py > clients/conformance/cases/gradients.txt

Each graph is built by `tf.raw_ops`, differentiated by `tf.gradients` and run. Its nodes
become the steps of the case, so that a client builds the same nodes one by one.
"""

import numpy as np
import tensorflow as tf

R = tf.raw_ops
_DTYPES = {
    1: "float32", 2: "float64", 3: "int32", 7: "string", 9: "int64", 10: "bool",
}  # fmt: skip


def floats(*shape):
    """Values without a pattern, between 0.3 and 1.7, none twice."""
    count = int(np.prod(shape))
    return (
        (
            0.3
            + 1.4 * ((np.arange(count) * 7 + 3) % 11) / 11.0
            + 0.003 * np.arange(count)
        )
        .reshape(shape)
        .astype(np.float32)
    )


def signed(*shape):
    """Some of them below zero."""
    return (floats(*shape) - 1.0).astype(np.float32)


def positive_definite():
    """A matrix that has every decomposition."""
    return np.array([[4, 1, 0.5], [1, 3, 0.25], [0.5, 0.25, 2]], np.float32)


def unary(op, values):
    """A case of an operation of one input `x`."""
    return lambda: (lambda x: (op(x=x), [x]))(tf.constant(values))


def binary(op):
    """A case of a broadcasting operation."""
    return lambda: (lambda x, y: (op(x=x, y=y), [x, y]))(
        tf.constant(floats(2, 3)), tf.constant(floats(3))
    )


def of(build, *values):
    """A case of any function of constants; all of floats are differentiated."""

    def case():
        inputs = [tf.constant(value) for value in values]
        return build(*inputs), [i for i in inputs if i.dtype == tf.float32]

    return case


def counted_loop(x):
    """x ** 4 in a loop."""
    return tf.while_loop(
        lambda i, y: i < 3, lambda i, y: (i + 1, y * x), [tf.constant(0), x]
    )[1]


CASES = [
    *[
        (name, unary(getattr(R, name), floats(4)))
        for name in (
            "Sqrt Rsqrt Exp Expm1 Log Log1p Square Reciprocal Inv Sin Cos Tan Asinh"
            " Atan Sinh Cosh Tanh Sigmoid Erf Erfc Lgamma Digamma BesselI0e BesselI1e"
        ).split()
    ],
    *[(name, unary(getattr(R, name), signed(4))) for name in "Abs Neg Sign".split()],
    *[
        (name, binary(getattr(R, name)))
        for name in (
            "Add AddV2 Sub Mul Div RealDiv Pow Maximum Minimum SquaredDifference"
            " FloorMod DivNoNan Xlogy Xdivy"
        ).split()
    ],
    *[
        (name, of(lambda x, op=getattr(R, name): op(features=x), signed(2, 3)))
        for name in "Relu Relu6 Elu Selu Softplus Softsign LeakyRelu".split()
    ],
    ("Atan2", of(lambda y, x: R.Atan2(y=y, x=x), floats(3), signed(3))),
    ("MatMul", of(lambda a, b: R.MatMul(a=a, b=b), floats(2, 3), floats(3, 2))),
    ("MatMul-transposed", of(lambda a, b: R.MatMul(a=a, b=b, transpose_a=True, transpose_b=True), floats(3, 2), floats(2, 3))),
    ("BatchMatMulV2", of(lambda a, b: R.BatchMatMulV2(x=a, y=b), floats(2, 2, 3), floats(3, 2))),
    *[
        (name, of(lambda x, op=getattr(R, name): op(input=x, axis=[1], keep_dims=False), floats(2, 3)))
        for name in "Sum Mean Prod Max Min".split()
    ],
    ("Cumsum", of(lambda x: R.Cumsum(x=x, axis=0), floats(4))),
    ("Cumprod", of(lambda x: R.Cumprod(x=x, axis=0), floats(4))),
    ("Reshape", of(lambda x: R.Reshape(tensor=x, shape=[3, 2]), floats(2, 3))),
    ("Transpose", of(lambda x: R.Transpose(x=x, perm=[1, 0]), floats(2, 3))),
    ("ExpandDims", of(lambda x: R.ExpandDims(input=x, axis=0), floats(3))),
    ("Squeeze", of(lambda x: R.Squeeze(input=x, axis=[0]), floats(1, 3))),
    ("ConcatV2", of(lambda a, b: R.ConcatV2(values=[a, b], axis=1), floats(2, 1), floats(2, 2))),
    ("Pack", of(lambda a, b: R.Pack(values=[a, b], axis=0), floats(2), floats(2))),
    ("Unpack", of(lambda x: R.Unpack(value=x, num=2, axis=0)[1], floats(2, 3))),
    ("Split", of(lambda x: R.Split(axis=0, value=x, num_split=2)[0], floats(4))),
    ("Slice", of(lambda x: R.Slice(input=x, begin=[0, 1], size=[2, 2]), floats(2, 3))),
    ("StridedSlice", of(lambda x: x[::2, 1], floats(3, 3))),
    ("Pad", of(lambda x: R.Pad(input=x, paddings=[[1, 0]]), floats(3))),
    ("MirrorPad", of(lambda x: R.MirrorPad(input=x, paddings=[[1, 1]], mode="REFLECT"), floats(3))),
    ("Tile", of(lambda x: R.Tile(input=x, multiples=[2, 1]), floats(2, 2))),
    ("BroadcastTo", of(lambda x: R.BroadcastTo(input=x, shape=[2, 3]), floats(3))),
    ("ReverseV2", of(lambda x: R.ReverseV2(tensor=x, axis=[0]), floats(3))),
    ("ReverseSequence", of(lambda x: R.ReverseSequence(input=x, seq_lengths=[2, 3], seq_dim=1, batch_dim=0), floats(2, 3))),
    ("GatherNd", of(lambda x: R.GatherNd(params=x, indices=[[1, 0], [0, 2]]), floats(2, 3))),
    ("ScatterNd", of(lambda x: R.ScatterNd(indices=[[1], [0]], updates=x, shape=[3]), floats(2))),
    ("Select", of(lambda a, b: R.Select(condition=[True, False], x=a, y=b), floats(2), floats(2))),
    ("MatrixDiag", of(lambda x: R.MatrixDiag(diagonal=x), floats(3))),
    ("MatrixBandPart", of(lambda x: R.MatrixBandPart(input=x, num_lower=0, num_upper=1), floats(3, 3))),
    ("SpaceToBatchND", of(lambda x: R.SpaceToBatchND(input=x, block_shape=[2], paddings=[[0, 0]]), floats(1, 4, 1))),
    ("DepthToSpace", of(lambda x: R.DepthToSpace(input=x, block_size=2), floats(1, 1, 1, 4))),
    ("Identity", of(lambda x: R.Identity(input=x), floats(3))),
    ("StopGradient", of(lambda x: x + R.StopGradient(input=x), floats(3))),
    ("CheckNumerics", of(lambda x: R.CheckNumerics(tensor=x, message="bad"), floats(3))),
    ("Cast", of(lambda x: R.Cast(x=R.Cast(x=x, DstT=tf.float64), DstT=tf.float32), floats(3))),
    ("L2Loss", of(lambda x: R.L2Loss(t=x), floats(4))),
    ("SegmentSum", of(lambda x: R.SegmentSum(data=x, segment_ids=[0, 0, 1]), floats(3))),
    ("SegmentMean", of(lambda x: R.SegmentMean(data=x, segment_ids=[0, 0, 1]), floats(3))),
    ("UnsortedSegmentSum", of(lambda x: R.UnsortedSegmentSum(data=x, segment_ids=[1, 0, 1], num_segments=2), floats(3))),
    ("UnsortedSegmentMax", of(lambda x: R.UnsortedSegmentMax(data=x, segment_ids=[1, 0, 1], num_segments=2), floats(3))),
    ("DynamicPartition", of(lambda x: R.DynamicPartition(data=x, partitions=[0, 1, 0], num_partitions=2)[0], floats(3))),
    ("DynamicStitch", of(lambda a, b: R.DynamicStitch(indices=[[0, 2], [1]], data=[a, b]), floats(2), floats(1))),
    ("Softmax", of(lambda x: R.Softmax(logits=x), signed(2, 3))),
    ("LogSoftmax", of(lambda x: R.LogSoftmax(logits=x), signed(2, 3))),
    ("SoftmaxCrossEntropy", of(lambda x: R.SoftmaxCrossEntropyWithLogits(features=x, labels=[[0.2, 0.3, 0.5], [0, 1, 0]])[0], signed(2, 3))),
    ("SparseSoftmaxCrossEntropy", of(lambda x: R.SparseSoftmaxCrossEntropyWithLogits(features=x, labels=[2, 0])[0], signed(2, 3))),
    ("BiasAdd", of(lambda x, b: R.BiasAdd(value=x, bias=b), floats(2, 3), floats(3))),
    ("Conv2D", of(lambda x, f: R.Conv2D(input=x, filter=f, strides=[1, 1, 1, 1], padding="SAME"), floats(1, 3, 3, 1), signed(2, 2, 1, 2))),
    ("Conv2DBackpropInput", of(lambda f, d: R.Conv2DBackpropInput(input_sizes=[1, 3, 3, 1], filter=f, out_backprop=d, strides=[1, 1, 1, 1], padding="SAME"), floats(2, 2, 1, 1), signed(1, 3, 3, 1))),
    ("DepthwiseConv2d", of(lambda x, f: R.DepthwiseConv2dNative(input=x, filter=f, strides=[1, 1, 1, 1], padding="VALID"), floats(1, 3, 3, 2), signed(2, 2, 2, 1))),
    ("Conv3D", of(lambda x, f: R.Conv3D(input=x, filter=f, strides=[1, 1, 1, 1, 1], padding="VALID"), floats(1, 2, 2, 2, 1), signed(1, 2, 2, 1, 1))),
    ("MaxPool", of(lambda x: R.MaxPool(input=x, ksize=[1, 2, 2, 1], strides=[1, 1, 1, 1], padding="VALID"), floats(1, 3, 3, 1))),
    ("AvgPool", of(lambda x: R.AvgPool(value=x, ksize=[1, 2, 2, 1], strides=[1, 2, 2, 1], padding="SAME"), floats(1, 3, 3, 1))),
    ("LRN", of(lambda x: R.LRN(input=x), floats(1, 1, 1, 4))),
    ("FusedBatchNorm", of(lambda x, s, o: R.FusedBatchNorm(x=x, scale=s, offset=o, mean=[], variance=[])[0], floats(2, 2, 1, 2), floats(2), floats(2))),
    ("TopKV2", of(lambda x: R.TopKV2(input=x, k=2)[0], floats(4))),
    ("Dilation2D", of(lambda x, f: R.Dilation2D(input=x, filter=f, strides=[1, 1, 1, 1], rates=[1, 1, 1, 1], padding="VALID"), floats(1, 3, 3, 1), signed(2, 2, 1))),
    ("ResizeBilinear", of(lambda x: R.ResizeBilinear(images=x, size=[4, 4]), floats(1, 2, 2, 1))),
    ("ResizeNearest", of(lambda x: R.ResizeNearestNeighbor(images=x, size=[4, 4]), floats(1, 2, 2, 1))),
    ("CropAndResize", of(lambda x: R.CropAndResize(image=x, boxes=[[0.0, 0.0, 0.8, 0.8]], box_ind=[0], crop_size=[2, 2]), floats(1, 3, 3, 1))),
    ("MatrixInverse", of(lambda x: R.MatrixInverse(input=x), positive_definite())),
    ("MatrixDeterminant", of(lambda x: R.MatrixDeterminant(input=x), positive_definite())),
    ("Cholesky", of(lambda x: R.Cholesky(input=x), positive_definite())),
    ("MatrixSolve", of(lambda a, b: R.MatrixSolve(matrix=a, rhs=b), positive_definite(), floats(3, 1))),
    ("MatrixTriangularSolve", of(lambda a, b: R.MatrixTriangularSolve(matrix=a, rhs=b), np.tril(positive_definite()), floats(3, 1))),
    ("Qr", of(lambda x: R.Qr(input=x)[1], positive_definite())),
    ("SelfAdjointEigV2", of(lambda x: R.SelfAdjointEigV2(input=x)[0], positive_definite())),
    ("Igamma", of(lambda x: R.Igamma(a=[1.5, 2.0], x=x), floats(2))),
    ("Betainc", of(lambda x: R.Betainc(a=[1.5, 2.0], b=[2.0, 1.0], x=0.4 * x), floats(2))),
    ("Zeta", of(lambda x: R.Zeta(x=[2.5, 3.0], q=x), floats(2))),
    ("SparseTensorDenseMatMul", of(lambda v, b: R.SparseTensorDenseMatMul(a_indices=[[0, 1], [1, 0]], a_values=v, a_shape=[2, 2], b=b), floats(2), floats(2, 2))),
    ("SparseToDense-free", of(lambda v: R.SparseReduceSum(input_indices=[[0, 1], [1, 0]], input_values=v, input_shape=[2, 2], reduction_axes=[0]), floats(2))),
    ("CTCLoss", of(lambda x: R.CTCLoss(inputs=x, labels_indices=[[0, 0]], labels_values=[1], sequence_length=[3])[0], signed(3, 1, 3))),
    ("FakeQuant", of(lambda x: R.FakeQuantWithMinMaxArgs(inputs=x, min=-0.5, max=0.5), signed(4))),
    ("RFFT", of(lambda x: R.Real(input=R.FFT(input=R.Complex(real=x, imag=0.5 * x))), floats(4))),
    ("While", of(counted_loop, floats(2))),
    ("Cond", of(lambda x: tf.cond(tf.constant(True), lambda: x * x, lambda: x), floats(2))),
]  # fmt: skip


def literal(array):
    """DTYPE[DIMS]=VALUES of the tables."""
    dtype = "string" if array.dtype == object else array.dtype.name
    values = [
        str(v).lower() if array.dtype == bool else repr(v.item())
        for v in array.reshape(-1)
    ]
    return "%s[%s]=%s" % (dtype, ",".join(map(str, array.shape)), ",".join(values))


def attr_text(value):
    """KIND:VALUE of the tables, or None for a kind that no case needs."""
    kind = value.WhichOneof("value")
    if kind == "b":
        return "bool:" + str(value.b).lower()
    if kind == "tensor":
        return "tensor:" + literal(np.asarray(tf.make_ndarray(value.tensor)))
    if kind == "list":
        return "ints:" + ",".join(map(str, value.list.i)) if value.list.i else None
    if kind == "i":
        return "int:%d" % value.i
    if kind == "f":
        return "float:%r" % value.f
    if kind == "s":
        return "string:" + value.s.decode()
    return "type:" + _DTYPES[value.type] if kind == "type" else None


def op_line(op):
    """The step that adds one operation."""
    node = op.node_def
    words = ["op", node.op, op.name]
    position = 0
    for arg in op.op_def.input_arg:
        count = node.attr[arg.number_attr].i if arg.number_attr else 1
        names = [i.name for i in op.inputs[position : position + count]]
        words.append("[%s]" % ",".join(names) if arg.number_attr else names[0])
        position += count
    defaults = {a.name: a.default_value for a in op.op_def.attr}
    for name in sorted(node.attr):
        text = None
        if defaults.get(name) != node.attr[name]:
            text = attr_text(node.attr[name])
        if text is not None and not name.startswith("_"):
            words.append(name + "=" + text)
    words += ["^" + c.name for c in op.control_inputs]
    return "  " + " ".join(words)


def inputs_first(operations):
    """The operations in an order in which each follows its inputs. None is a loop."""
    done = []
    while len(done) < len(operations):
        done += [
            op
            for op in operations
            if op not in done and all(i.op in done for i in op.inputs)
        ]
    return done


def loop_lines():
    """The loop of TensorFlow's C API stands for `tf.while_loop`."""
    return [
        "  op Const x dtype=type:float32 value=tensor:" + literal(floats(2)),
        "  op Const i dtype=type:int32 value=tensor:int32[]=0",
        "  while loop i:0,x:0,x:0",
        "  op Const three dtype=type:int32 value=tensor:int32[]=3",
        "  op Less less in:0 three:0",
        "  while-cond less:0",
        "  op Const one dtype=type:int32 value=tensor:int32[]=1",
        "  op Add next in:0 one:0",
        "  op Mul product in:1 in:2",
        "  while-body next:0,product:0,in:2",
    ]


def case_lines(name, build):
    """The steps of one case."""
    with tf.Graph().as_default() as graph, tf.Session() as session:
        result, inputs = build()
        static = [max(1, d.value or 1) for d in (result.shape.dims or [])]
        weights = tf.constant(signed(*static) + np.float32(0.7))
        y = result if name == "While" else tf.multiply(result, weights, name="weighed")
        if name == "While":
            lines = loop_lines()
        else:
            lines = [op_line(op) for op in inputs_first(graph.get_operations())]
        found = tf.gradients(y, inputs)
        expected = [g for g in session.run([g for g in found if g is not None])]
        inputs = [i for i, g in zip(inputs, found) if g is not None]
    y_name = "loop:1" if name == "While" else y.name
    x_names = ["x:0"] if name == "While" else [i.name for i in inputs]
    runs = [
        "g:%d>%s" % (i, literal(np.asarray(value, np.float32)))
        for i, value in enumerate(expected)
    ]
    # TensorFlow's C API dies of a signal in both.
    alone = " only=tensorloom" if name in ("While", "Cond") else ""
    return [
        "case gradient-" + name + alone,
        *lines,
        "  gradients g %s %s" % (y_name, ",".join(x_names)),
        "  session",
        "  run " + " ".join(runs),
        "",
    ]


def main():
    """Prints all cases, after those written by hand."""
    print(
        "# Gradients of operations of every family. Written by gradient_cases.py; the"
    )
    print("# numbers are those of TensorFlow 1.15's tf.gradients.\n")
    for name, build in CASES:
        print("\n".join(case_lines(name, build)))


if __name__ == "__main__":
    main()
