# program: reductions over every form of axis
# not in 2.21: ops
x = tf.constant(np.arange(24, dtype=np.float32).reshape(2, 3, 4) - 11.0, name="x")
b = tf.constant([[True, False], [True, True]])
axis = tf.placeholder(tf.int32, name="axis")
parts = []
for f in (tf.reduce_sum, tf.reduce_mean, tf.reduce_max, tf.reduce_min, tf.reduce_prod):
    parts += [f(x), f(x, 0), f(x, [1, 2]), f(x, -1, keepdims=True), f(x, []), f(x, axis=(0, 2), keep_dims=True)]
parts += [tf.reduce_all(b), tf.reduce_all(b, 1), tf.reduce_sum(x, axis), tf.reduce_max(x, axis, keepdims=True), tf.reduce_sum(x, reduction_indices=[0])]
with tf.Session() as sess:
    result = [sess.run(parts, {axis: [0, 1]}), [p.get_shape() for p in parts]]

# program: edge values
f = tf.placeholder(tf.float32, [6], name="f")
i = tf.placeholder(tf.int32, [6], name="i")
parts = [tf.floor(f), tf.sign(f), f % 3.0, f // 2.0, tf.maximum(f, 0.0), tf.exp(f), tf.log(f), tf.sqrt(f), 1.0 / f, tf.nn.relu(f), tf.tanh(f), tf.sigmoid(f), tf.div_no_nan(1.0, f), tf.equal(f, f), tf.argmax(f), tf.reduce_max(f), tf.nn.softmax(f), tf.abs(f),
         i % 3, i // 3, i % -3, i // -3, tf.abs(i), i * 1000000, tf.cast(f, tf.int32), tf.cast(i, tf.bool), tf.cast(i, tf.uint8), tf.pow(i, 2), i / 4, tf.truediv(i, 4), tf.div(i, 4), tf.floordiv(i, 4), tf.square(i), tf.negative(i), tf.sign(i), tf.minimum(i, 1)]
with tf.Session() as sess:
    result = sess.run(parts, {f: [1.5, -1.5, 0.0, 3.0, -7.25, 20.0], i: [7, -7, 0, 3, -1, 2147483]})

# program: array functions
# not in 2.21: ops
x = tf.constant(np.arange(12).reshape(3, 4), name="x")
y = tf.constant([3, 1, 2, 3, 1], name="y")
u, idx = tf.unique(y)
vals, pos = tf.nn.top_k(tf.constant([1.0, 5.0, 3.0, 5.0]), 3)
parts = [tf.concat([x, x], -1), tf.stack([x, x], 1), tf.stack([x, x], -1), tf.unstack(x, axis=1), tf.split(x, 2, axis=1), tf.split(x, [1, 3], 1), tf.split(x, [1, -1, 1], 1), tf.transpose(x), tf.transpose(tf.reshape(x, [2, 3, 2]), [2, 0, 1]), tf.tile(x, [1, 2]),
         tf.gather(x, [2, 0]), tf.gather(x, [1, 1], axis=1), tf.gather(x, [[0], [2]]), tf.where(x > 5), tf.where([True, False, True], x, -x), tf.one_hot([0, 2, -1, 5], 3), tf.one_hot([1, 0], 2, on_value=5, off_value=-1, axis=0, dtype=tf.int32), u, idx, vals, pos,
         tf.pad(x, [[0, 1], [2, 0]]), tf.pad(x, [[0, 1], [2, 0]], constant_values=9), tf.squeeze(x[:1]), tf.expand_dims(x, 1), tf.invert_permutation([2, 0, 1]), tf.dynamic_stitch([[0, 2], [1]], [[[1], [2]], [[3]]]), tf.unsorted_segment_sum(x, [0, 1, 0], 2), tf.rank(x), tf.size(x), tf.shape(x, out_type=tf.int64), tf.shape_n([x, x[0]]), tf.boolean_mask(x, [True, False, True]), tf.meshgrid([1, 2], [3, 4, 5]), tf.cast(x, tf.float32)]
with tf.Session() as sess:
    result = sess.run(parts)

# program: matmul of every kind
# not in 2.21: ops
a = tf.constant(np.arange(6, dtype=np.float32).reshape(2, 3), name="a")
b = tf.constant(np.arange(6, dtype=np.float32).reshape(3, 2) * 0.5, name="b")
c = tf.constant(np.arange(24, dtype=np.float32).reshape(2, 2, 3, 2), name="c")
d = tf.constant(np.arange(24, dtype=np.float32).reshape(2, 2, 2, 3), name="d")
parts = [tf.matmul(a, b), tf.matmul(a, a, transpose_b=True), tf.matmul(a, a, True), tf.matmul(a, b, True, True), tf.matmul(c, d), tf.matmul(c, c, transpose_a=True), tf.matmul(c, c, adjoint_b=True), tf.matmul([[1, 2]], [[3], [4]]), tf.tensordot(a, b, 1), tf.tensordot(a, b, [[0], [1]]), tf.matmul(tf.cast(a, tf.float64), tf.cast(b, tf.float64))]
grads = [tf.gradients(p, [a]) for p in parts[:4]] + [tf.gradients(parts[4], [c, d])]
with tf.Session() as sess:
    result = sess.run([parts, grads])

# program: losses and activations
# not in 2.21: ops
logits = tf.constant([[2.0, -1.0, 0.5], [0.1, 0.2, -3.0]], name="logits")
dense = tf.constant([[0.0, 1.0, 0.0], [0.2, 0.3, 0.5]], name="dense")
sparse = tf.constant([1, 2], name="sparse")
parts = [tf.nn.softmax(logits), tf.nn.softmax(logits, axis=0), tf.nn.log_softmax(logits), tf.nn.softmax_cross_entropy_with_logits_v2(labels=dense, logits=logits), tf.nn.sparse_softmax_cross_entropy_with_logits(labels=sparse, logits=logits), tf.nn.sigmoid_cross_entropy_with_logits(labels=dense, logits=logits), tf.nn.l2_loss(logits), tf.nn.relu(logits), tf.nn.sigmoid(logits), tf.nn.tanh(logits), tf.nn.softmax_cross_entropy_with_logits(labels=dense, logits=logits)]
grads = tf.gradients(parts, logits)
with tf.Session() as sess:
    result = sess.run([parts, grads])

# program: loss errors
# not in 2.21: ops
logits = tf.placeholder(tf.float32, [2, 3], name="logits")
result = [error(tf.nn.sparse_softmax_cross_entropy_with_logits, logits, logits), error(lambda: tf.nn.sparse_softmax_cross_entropy_with_logits(labels=tf.zeros([2]), logits=logits)), error(lambda: tf.nn.softmax_cross_entropy_with_logits_v2(labels=None, logits=logits)), error(lambda: tf.nn.softmax_cross_entropy_with_logits_v2(labels=tf.zeros([3, 2]), logits=logits)),
          error(lambda: tf.nn.sigmoid_cross_entropy_with_logits(labels=tf.zeros([3, 2]), logits=logits)), error(lambda: tf.nn.dropout(logits, keep_prob=3.0)), error(lambda: tf.nn.dropout(logits)), error(lambda: tf.nn.max_pool(logits, [1, 2, 2, 1], [1, 1, 1, 1], "SAME"))]

# program: convolutions and pools of every padding and stride
x = tf.constant(np.sin(np.arange(2 * 7 * 6 * 3)).reshape(2, 7, 6, 3), tf.float32, name="x")
w = tf.constant(np.cos(np.arange(3 * 2 * 3 * 4)).reshape(3, 2, 3, 4), tf.float32, name="w")
parts = []
for padding in ("SAME", "VALID"):
    for stride in (1, 2, 3):
        parts.append(tf.nn.conv2d(x, w, [1, stride, stride, 1], padding))
        parts.append(tf.nn.max_pool(x, [1, 3, 2, 1], [1, stride, stride, 1], padding))
        parts.append(tf.nn.avg_pool(x, [1, 2, 3, 1], [1, stride, stride, 1], padding))
parts += [tf.nn.conv2d(x, w, [1, 1, 1, 1], "SAME", dilations=[1, 2, 2, 1]), tf.nn.conv2d(x, w, [1, 2, 2, 1], [[0, 0], [1, 2], [0, 1], [0, 0]]), tf.nn.conv2d_transpose(tf.ones([2, 4, 4, 4]), w, [2, 8, 8, 3], [1, 2, 2, 1], "SAME"), tf.nn.bias_add(x, [1.0, 2.0, 3.0])]
with tf.Session() as sess:
    result = [sess.run(parts), [p.get_shape() for p in parts]]

# program: batch normalization
# not in 2.21: ops
x = tf.placeholder(tf.float32, [2, 3, 4, 2], name="x")
scale = tf.constant([1.5, 0.5])
offset = tf.constant([0.1, -0.1])
train = tf.nn.fused_batch_norm(x, scale, offset, epsilon=0.01)
infer = tf.nn.fused_batch_norm(x, scale, offset, mean=tf.constant([0.1, 0.2]), variance=tf.constant([1.0, 2.0]), is_training=False)
mean, variance = tf.nn.moments(x, [0, 1, 2])
plain = tf.nn.batch_normalization(x, mean, variance, offset, scale, 0.01)
grads = tf.gradients(tf.reduce_sum(train[0] * x), [x, scale, offset])
feed = {x: np.sin(np.arange(48.0)).reshape(2, 3, 4, 2)}
with tf.Session() as sess:
    result = sess.run([train[0], train[1], infer[0], plain, grads], feed)

# program: dropout keeps its graph
# not in 2.21: ops values
x = tf.placeholder(tf.float32, [None, 4], name="x")
a = tf.nn.dropout(x, keep_prob=0.5, seed=1)
b = tf.nn.dropout(x, rate=0.25, noise_shape=[1, 4])
c = tf.nn.dropout(x, 1.0)
result = [t.name for t in (a, b, c)]

# program: moments, clipping, norms
# not in 2.21: ops
x = tf.constant(np.linspace(-2, 3, 12).reshape(3, 4), tf.float32, name="x")
mean, var = tf.nn.moments(x, axes=[0])
clipped, norm = tf.clip_by_global_norm([x, 2.0 * x], 1.0)
parts = [mean, var, tf.clip_by_value(x, -1.0, 1.0), tf.clip_by_norm(x, 1.0), tf.clip_by_norm(x, 1.0, axes=[1]), clipped, norm, tf.norm(x), tf.norm(x, axis=1), tf.norm(x, ord=1), tf.nn.l2_normalize(x, 1), tf.reduce_logsumexp(x, 1)]
with tf.Session() as sess:
    result = sess.run(parts)
