"""Ops of 1.15 with attrs that TensorFlow 2.x added, at values that mean something."""

import numpy as np


def _values(*shape):
    count = int(np.prod(shape))
    return (np.sin(np.arange(count) * 1.7) * 0.5).reshape(shape).astype(np.float32)


def normalized_volumes(tf):
    """Batch normalization of 5-D tensors, and its second gradient."""
    x = tf.placeholder(tf.float32, [2, 2, 3, 2, 3], name="x")
    fetches = []
    for data_format, channels in (("NDHWC", 3), ("NCDHW", 2)):
        for is_training in (True, False):
            y, mean, variance, *_ = tf.raw_ops.FusedBatchNormV3(
                x=x,
                scale=_values(channels) + 1.0,
                offset=_values(channels),
                mean=_values(channels),
                variance=_values(channels) + 1.0,
                is_training=is_training,
                data_format=data_format,
                epsilon=1e-3,
            )
            (first,) = tf.gradients(y**3, x)
            fetches += [y, mean, variance, first, *tf.gradients(first**2, x)]
    return fetches, [{"x:0": _values(2, 2, 3, 2, 3).tolist()}]


def explicit_windows(tf):
    """Pooling and depthwise convolution with paddings that are given."""
    import tensorflow as tf2

    x = tf.placeholder(tf.float32, [2, 7, 6, 3], name="x")
    paddings = [[0, 0], [1, 2], [0, 1], [0, 0]]
    pooled = tf2.nn.max_pool2d(x, 3, 2, paddings)
    far = tf2.nn.max_pool2d(x - 3.0, 3, 1, [[0, 0], [2, 2], [2, 2], [0, 0]])
    filters = tf.constant(_values(3, 2, 3, 2))
    conv = tf2.nn.depthwise_conv2d(x, filters, [1, 2, 2, 1], paddings)
    dilated = tf2.nn.depthwise_conv2d(
        x, filters, [1, 1, 1, 1], paddings, dilations=[2, 1]
    )
    fetches = [pooled, far, conv, dilated, *tf.gradients(conv**2, [x, filters])]
    return [*fetches, *tf.gradients([pooled**2, far], x)], [
        {"x:0": _values(2, 7, 6, 3).tolist()}
    ]


def quantized_slices(tf):
    """A range for each slice, narrow ranges, and other results than floats."""
    x = tf.placeholder(tf.float32, [2, 3, 4], name="x")
    low, high = [-1.0, -0.5, -0.2], [1.0, 0.6, 0.3]
    quantized = tf.quantization.quantize(
        x, low, high, tf.qint8, mode="SCALED", axis=1, narrow_range=True
    )
    back = tf.quantization.dequantize(
        *quantized, mode="SCALED", axis=1, narrow_range=True
    )
    small = tf.quantization.quantize(
        x, -0.001, 0.002, tf.quint8, ensure_minimum_range=0.5
    )
    brief = tf.quantization.dequantize(*small, dtype=tf.bfloat16)
    return [
        tf.cast(quantized[0], tf.int32),
        *quantized[1:],
        back,
        tf.cast(small[0], tf.int32),
        *small[1:],
        tf.cast(brief, tf.float32),
    ], [{"x:0": _values(2, 3, 4).tolist()}]


def precise_transforms(tf):
    """Fourier transforms of doubles with their gradients."""
    x = tf.placeholder(tf.float64, [2, 3, 4], name="x")
    fetches = []
    for forward, inverse, length in (
        (tf.signal.rfft, tf.signal.irfft, [4]),
        (tf.signal.rfft2d, tf.signal.irfft2d, [3, 4]),
    ):
        spectrum = forward(x, length)
        y = inverse(spectrum, length)
        fetches += [tf.math.real(spectrum), tf.math.imag(spectrum), y]
        fetches += tf.gradients(tf.abs(spectrum) ** 2, x) + tf.gradients(y**3, x)
    fetches.append(tf.abs(tf.signal.stft(tf.reshape(x, [24]), 8, 4)))
    return fetches, [{"x:0": _values(2, 3, 4).astype(np.float64).tolist()}]


def other_integers(tf):
    """Counts and indices of the largest that are no int32; a blank that is not last."""
    x = tf.placeholder(tf.float32, [5, 2, 4], name="x")
    wide = tf.raw_ops.TopKV2(input=x, k=tf.constant(2, tf.int64), index_type=tf.int64)
    short = tf.raw_ops.TopKV2(input=x, k=tf.constant(3, tf.int16), index_type=tf.int16)
    fetches = [*wide, *short]
    for blank in (0, 2, -3):
        fetches += tf.raw_ops.CTCGreedyDecoder(
            inputs=x, sequence_length=[5, 3], blank_index=blank, merge_repeated=True
        )
    return fetches, [{"x:0": _values(5, 2, 4).tolist()}]


def until_one_is_empty(tf):
    """Choices among datasets that end with the first that has no more."""
    data = tf.data.Dataset
    choices = np.array([0, 1, 0, 1, 0, 1, 1])
    fetches = []
    for stops in (True, False):
        chosen = data.choose_from_datasets(
            [data.range(2), data.range(10, 15)],
            data.from_tensor_slices(choices),
            stop_on_empty_dataset=stops,
        )
        iterator = tf.data.make_one_shot_iterator(chosen.batch(20))
        fetches.append(iterator.get_next())
    return fetches, [{}]


def sparse_matrices(tf):
    """Matrices in compressed rows: made, transposed, multiplied, taken apart."""
    ops, dtype = tf.raw_ops, tf.float32
    values = tf.placeholder(dtype, [None], name="values")
    a = ops.SparseTensorToCSRSparseMatrix(
        indices=[[0, 1], [0, 3], [2, 0], [2, 2]], values=values, dense_shape=[3, 4]
    )
    b = ops.DenseToCSRSparseMatrix(
        dense_input=_values(4, 2), indices=[[0, 0], [1, 1], [3, 0], [3, 1]]
    )
    batch = ops.SparseTensorToCSRSparseMatrix(
        indices=[[0, 0, 1], [0, 2, 2], [1, 1, 0], [1, 1, 2]],
        values=values,
        dense_shape=[2, 3, 3],
    )
    turned = ops.SparseMatrixTranspose(input=batch, type=dtype)
    product = ops.SparseMatrixSparseMatMul(a=a, b=a, type=dtype, transpose_b=True)
    made = [a, b, batch, turned, product]
    made.append(ops.SparseMatrixSparseMatMul(a=a, b=b, type=dtype))
    made.append(
        ops.SparseMatrixSparseMatMul(a=batch, b=turned, type=dtype, adjoint_a=True)
    )
    fetches = [ops.CSRSparseMatrixToDense(sparse_input=m, type=dtype) for m in made]
    fetches += [ops.SparseMatrixNNZ(sparse_matrix=m) for m in (a, batch)]
    fetches += ops.CSRSparseMatrixToSparseTensor(sparse_matrix=batch, type=dtype)
    fetches += ops.CSRSparseMatrixComponents(
        csr_sparse_matrix=turned, index=1, type=dtype
    )
    fetches += [
        ops.SparseMatrixMatMul(a=a, b=_values(4, 2)),
        ops.SparseMatrixMatMul(a=a, b=_values(2, 3), adjoint_a=True, transpose_b=True),
        ops.SparseMatrixMatMul(a=batch, b=_values(2, 3, 2), transpose_output=True),
    ]
    return fetches, [{"values:0": [1.0, -2.0, 3.0, 0.5]}]


def shuffled_indices(tf):
    """Places in permutations of many lengths, for several seeds."""
    index = tf.placeholder(tf.int64, [None], name="index")
    shuffle = tf.raw_ops.RandomIndexShuffle
    fetches = [
        shuffle(index=index, seed=[5, 9, most], max_index=tf.constant(most, tf.int64))
        for most in (3, 10, 255, 70000, 2**40)
    ]
    fetches.append(shuffle(index=index, seed=[5, -9, 1], max_index=9, rounds=8))
    fetches.append(tf.random.experimental.index_shuffle(index, [5, 9], 8))
    fetches.append(
        shuffle(index=index, seed=np.arange(12).reshape(4, 3), max_index=[3, 9, 99, 4])
    )
    return fetches, [{"index:0": [0, 1, 3, 2]}]


PROGRAMS = [
    normalized_volumes,
    explicit_windows,
    quantized_slices,
    precise_transforms,
    other_integers,
    until_one_is_empty,
    sparse_matrices,
    shuffled_indices,
]
for _program in PROGRAMS:
    _program.not_in = ("1.15",)
