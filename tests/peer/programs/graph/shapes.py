# program: slicing with every kind of index
# not in 2.21: ops
x = tf.placeholder(tf.float32, [4, 5, 6], name="x")
n = tf.placeholder(tf.int32, [], name="n")
parts = [
    x[0], x[-1], x[1:3], x[:, 2], x[..., 0], x[0, ..., 1], x[:, ::2], x[::-1],
    x[3:1:-1], x[:, tf.newaxis], x[tf.newaxis, ..., tf.newaxis], x[None, 0],
    x[1, 2, 3], x[1:2, 0:1], x[:, -3:-1], x[10:], x[:0], x[n], x[:n], x[n:, ..., n],
    x[:, n:n + 2], x[np.int64(1)], x[::2, ::-2, ::3], x[...], x[:],
    x[tf.constant(1)], x[tf.constant(1):tf.constant(3)],
]
with tf.Session() as sess:
    result = sess.run(parts, {x: np.arange(120, dtype=np.float32).reshape(4, 5, 6), n: 2})

# program: slicing errors
x = tf.placeholder(tf.float32, [4, 5], name="x")
u = tf.placeholder(tf.float32, None, name="u")
result = {
    "too many": error(lambda: x[0, 0, 0]),
    "out of range": error(lambda: x[4]),
    "negative out of range": error(lambda: x[-5]),
    "float": error(lambda: x[1.0]),
    "zero stride": error(lambda: x[::0]),
    "two ellipses": error(lambda: x[..., ...]),
    "string": error(lambda: x["a"]),
    "float slice": error(lambda: x[0.5:2]),
    "bool": error(lambda: x[True]),
    "list": error(lambda: x[[0, 1]]),
    "unknown rank": error(lambda: u[0, 1]),
    "mask": error(lambda: x[x > 0]),
    "shrink with stride": error(lambda: x[3:1]),
}

# program: slicing of unknown shapes
x = tf.placeholder(tf.float32, name="x")
y = tf.placeholder(tf.float32, [None, None, 3], name="y")
parts = [x[0], x[1:], x[..., tf.newaxis], y[0], y[:, 0], y[..., 1], y[1:-1, ::2], y[:, :, 1:]]
with tf.Session() as sess:
    values = sess.run(parts, {x: np.ones([3, 2]), y: np.arange(24.0).reshape(4, 2, 3)})
result = [values, [p.get_shape() for p in parts]]

# program: slice, strided_slice and their static shapes
# not in 2.21: ops
x = tf.constant(np.arange(24).reshape(2, 3, 4), name="x")
parts = [
    tf.slice(x, [0, 1, 0], [2, 2, -1]), tf.slice(x, [1, 0, 2], [1, 3, 2]),
    tf.strided_slice(x, [0, 0, 0], [2, 3, 4], [1, 2, 3]),
    tf.strided_slice(x, [1], [2]), tf.strided_slice(x, [0, -1], [2, 0], [1, -1]),
    tf.strided_slice(x, [0, 0], [0, 0], begin_mask=3, end_mask=2, shrink_axis_mask=1),
]
with tf.Session() as sess:
    result = sess.run(parts)

# program: static shape algebra
# not in 2.21: values
S = tf.TensorShape
a, b = S([None, 3]), S([2, None])
result = {
    "merge": a.merge_with(b), "ndims": a.ndims, "list": a.as_list(),
    "concat": a.concatenate([4]), "is defined": [a.is_fully_defined(), S([1, 2]).is_fully_defined()],
    "num": [S([2, 3]).num_elements(), a.num_elements(), S([]).num_elements()],
    "compatible": [a.is_compatible_with(b), a.is_compatible_with([5, 4]), S(None).is_compatible_with(a)],
    "index": [str(a[0]), str(a[1]), str(a[:1]), str(S(None)[0])],
    "eq": [S([2]) == S([2]), S([2]) == [2], S([2]) != [3]],
    "str": [str(a), str(S(None)), str(S([])), repr(a), repr(tf.Dimension(3)), str(tf.Dimension(None))],
    "dims": [int(tf.Dimension(3) + 4), str(tf.Dimension(None) * 2), str(tf.Dimension(7) // 2)],
    "with_rank": [S(None).with_rank(2), a.with_rank_at_least(1)],
    "errors": [
        error(lambda: a.merge_with([3, 4])), error(lambda: S(None).as_list()),
        error(lambda: a.with_rank(3)), error(lambda: S([-1])), error(lambda: a.assert_is_fully_defined()),
        error(lambda: a.assert_is_compatible_with([1])), error(lambda: len(S(None))),
        error(lambda: S(["a"])), error(lambda: tf.Dimension(2).merge_with(3)),
        error(lambda: bool(tf.Dimension(None) < 3)),
    ],
    "proto": [str(d.size) for d in a.as_proto().dim],
    "len": [len(a), bool(S(None)), bool(S([]))],
}

# program: set_shape refines and refuses
x = tf.placeholder(tf.float32, name="x")
before = x.get_shape()
x.set_shape([None, 3])
middle = x.get_shape()
x.set_shape([4, None])
result = [before, middle, x.get_shape(), x.shape, error(lambda: x.set_shape([5, 3])),
          error(lambda: x.set_shape([4])), error(lambda: x.set_shape("a"))]

# program: shapes that follow from constants in the graph
# not in 2.21: ops values
x = tf.placeholder(tf.float32, [None, 3, 5], name="x")
s = tf.shape(x)
parts = [
    tf.reshape(x, [-1, 15]), tf.reshape(x, [tf.shape(x)[0], 15]), tf.reshape(x, tf.stack([s[0], s[1] * s[2]])),
    tf.reshape(x, tf.concat([[-1], [5]], 0)), tf.zeros(s), tf.zeros([2, s[1]]), tf.fill(tf.stack([2, s[1]]), 1.0),
    tf.ones(tf.shape(tf.zeros([3, 4]))), tf.tile(x, [1, 2, 3]), tf.range(s[2]), tf.range(1, 10, 3),
    tf.reshape(x, [-1, tf.size(tf.zeros([3, 5]))]), tf.broadcast_to(tf.zeros([1, 5]), [4, 5]),
    tf.random_uniform([2, 3]), tf.random_normal(tf.shape(tf.zeros([2, 2]))),
    tf.zeros(tf.cast(tf.constant([2.0, 3.0]), tf.int32)), tf.eye(3, batch_shape=[2]),
    tf.placeholder_with_default(tf.zeros([2]), [None]),
    tf.reshape(tf.range(6), (2, 3)), tf.transpose(x, [2, 0, 1]), tf.expand_dims(x, 1),
    tf.squeeze(tf.zeros([1, 2, 1])), tf.squeeze(tf.zeros([1, 2, 1]), [0]), tf.squeeze(x[:, :1], 1),
]
result = [part.get_shape() for part in parts]

# program: constant_value
from_constants = tf.constant([2, 3])
x = tf.placeholder(tf.float32, [2, 3])
y = tf.placeholder(tf.float32, [None, 3])
value = tf.contrib.util.constant_value if hasattr(tf, "contrib") else tf.get_static_value
result = [value(t) for t in (
    from_constants, tf.shape(x), tf.shape(y), tf.size(x), tf.rank(y), tf.range(3),
    tf.cast(from_constants, tf.float32), tf.concat([from_constants, [4]], 0), tf.stack([1, 2]),
    tf.fill([2], 7), tf.equal(from_constants, [2, 2]), from_constants + 1, tf.zeros([2]), x)]

# program: broadcasting shapes of unknown parts
parts = []
pairs = [([2, 3], [3]), ([2, 1], [1, 3]), ([None, 3], [3]), ([None], [1]), ([None], [5]), (None, [2]),
         ([], [2, 2]), ([None, 1], [4]), ([0], [1]), ([2, 0], [1])]
for left, right in pairs:
    parts.append(tf.placeholder(tf.float32, left) + tf.placeholder(tf.float32, right))
result = [p.get_shape() for p in parts]

# program: shape errors at construction
# compare: error values
a = tf.placeholder(tf.float32, [2, 3])
b = tf.placeholder(tf.float32, [4, 5])
v = tf.placeholder(tf.float32, [3])
result = {
    "matmul": error(tf.matmul, a, b), "matmul rank": error(tf.matmul, v, a), "add": error(tf.add, a, b),
    "concat": error(lambda: tf.concat([a, b], 0)), "concat axis": error(lambda: tf.concat([a, a], 5)),
    "reshape": error(tf.reshape, a, [4]), "reshape two": error(tf.reshape, a, [-1, -1]),
    "transpose": error(tf.transpose, a, [0]), "transpose twice": error(tf.transpose, a, [0, 0]),
    "stack": error(lambda: tf.stack([a, b])), "split": error(tf.split, a, 2, 1), "squeeze": error(tf.squeeze, a, [0]),
    "expand": error(tf.expand_dims, a, 5), "reduce": error(tf.reduce_sum, a, 7), "bias": error(tf.nn.bias_add, a, tf.zeros([4])),
    "conv": error(lambda: tf.nn.conv2d(a, b, [1, 1, 1, 1], "SAME")),
    "conv depth": error(lambda: tf.nn.conv2d(tf.zeros([1, 4, 4, 3]), tf.zeros([3, 3, 4, 8]), [1, 1, 1, 1], "SAME")),
    "conv padding": error(lambda: tf.nn.conv2d(tf.zeros([1, 4, 4, 3]), tf.zeros([3, 3, 3, 8]), [1, 1, 1, 1], "FULL")),
    "pad": error(tf.pad, a, [[1, 1]]), "tile": error(tf.tile, a, [2]), "gather": error(tf.gather, tf.constant(1.0), [0]),
    "unstack": error(tf.unstack, tf.placeholder(tf.float32)), "xent": error(lambda: tf.nn.sparse_softmax_cross_entropy_with_logits(labels=tf.zeros([2, 2], tf.int32), logits=a)),
    "fill": error(tf.fill, [-1], 0.0), "range": error(tf.range, 0, 5, 0), "top_k": error(tf.nn.top_k, a, 9),
    "select": error(tf.where, a > 0, a, b), "iter unknown": error(lambda: list(tf.placeholder(tf.float32))),
    "constant": error(tf.constant, [1, 2, 3], tf.float32, [2]), "constant verify": error(lambda: tf.constant([1, 2], shape=[3], verify_shape=True)),
    "ragged": error(tf.constant, [[1, 2], [3]]), "placeholder": error(tf.placeholder, tf.float32, [-2]),
    "reduce kwargs": error(lambda: tf.reduce_sum(a, axis=0, reduction_indices=0)),
    "matmul both": error(lambda: tf.matmul(a, a, transpose_a=True, adjoint_a=True)),
}
