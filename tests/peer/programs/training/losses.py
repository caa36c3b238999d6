# program: every reduction of weighted losses
# not in 2.21: ops
p = tf.constant(np.random.RandomState(0).rand(3, 4), tf.float32)
y = tf.constant(np.random.RandomState(1).rand(3, 4) > 0.5, tf.float32)
w = tf.constant([[1.0], [0.0], [2.0]])
out = []
for reduction in (tf.losses.Reduction.NONE, tf.losses.Reduction.SUM, tf.losses.Reduction.MEAN,
                  tf.losses.Reduction.SUM_OVER_BATCH_SIZE, tf.losses.Reduction.SUM_BY_NONZERO_WEIGHTS):
    for weights in (1.0, 2.0, 0.0, w):
        out.append(tf.losses.compute_weighted_loss(p, weights, reduction=reduction, loss_collection='mine'))
    out.append(tf.losses.mean_squared_error(y, p, w, reduction=reduction, loss_collection=None))
with tf.Session() as s:
    result = [np.round(v, 5) for v in s.run(out)], [l.name for l in tf.losses.get_losses(loss_collection='mine')], tf.losses.get_losses()

# program: every loss
# not in 2.21: ops
L = tf.losses
p = tf.constant(np.random.RandomState(0).rand(3, 4), tf.float32)
y = tf.constant(np.random.RandomState(1).rand(3, 4) > 0.5, tf.float32)
u = tf.placeholder_with_default(np.random.RandomState(2).rand(3, 4).astype(np.float32), [None, 4])
w = tf.constant([[1.0], [0.0], [2.0]])
out = [L.absolute_difference(y, p), L.absolute_difference(y, p, w), L.cosine_distance(y, p, axis=1), L.cosine_distance(y, p, dim=1),
       L.hinge_loss(y, p), L.huber_loss(y, p, w, delta=0.3), L.log_loss(y, p, w), L.mean_pairwise_squared_error(y, p),
       L.mean_pairwise_squared_error(y, p, w), L.sigmoid_cross_entropy(y, p, label_smoothing=0.1),
       L.softmax_cross_entropy(y, p, label_smoothing=0.1), L.softmax_cross_entropy(y, p, [1.0, 2.0, 0.0]),
       L.sparse_softmax_cross_entropy([[1], [2], [0]], p, [1.0, 2.0, 3.0]),
       L.sparse_softmax_cross_entropy([1, 2, 0], p, [[1.0], [0.0], [3.0]]), L.mean_squared_error(y, p)]
tf.get_variable('v', [3], regularizer=lambda v: tf.reduce_sum(v * v), initializer=tf.ones_initializer())
with tf.variable_scope('inside'):
    L.absolute_difference(y, p)
out += [L.get_total_loss(), L.get_total_loss(False), L.get_regularization_loss(), L.get_total_loss(scope='inside')]
grads = tf.gradients(out[5:9], p)
with tf.Session() as s:
    s.run(tf.global_variables_initializer())
    result = [np.round(v, 5) for v in s.run(out + grads)], [l.name for l in L.get_losses()], [l.name for l in L.get_regularization_losses()], len(L.get_losses('inside'))

# program: losses of unknown shapes
# compare: error values
p = tf.placeholder(tf.float32, None); y = tf.placeholder(tf.float32, None); w = tf.placeholder(tf.float32, None)
loss = tf.losses.mean_squared_error(y, p, w)
sparse = tf.losses.sparse_softmax_cross_entropy(tf.placeholder_with_default([[1], [0]], None), tf.ones([2, 3]), tf.placeholder_with_default([[1.0], [2.0]], None))
a = np.arange(6.0).reshape(2, 3)
with tf.Session() as s:
    result = [s.run(loss, {p: a, y: a + 1, w: v}) for v in (1.0, [[1.0], [0.0]], np.ones((2, 3)))] + [s.run(sparse)]
    result += [error(s.run, loss, {p: a, y: a, w: v}) for v in ([1.0, 2.0, 3.0], np.ones((3, 3)))]

# program: misuse of losses
p = tf.ones([3, 4])
result = [
    error(tf.losses.compute_weighted_loss, p, tf.ones([3])), error(tf.losses.compute_weighted_loss, p, tf.ones([3, 3])),
    error(tf.losses.compute_weighted_loss, p, reduction='x'), error(tf.losses.absolute_difference, p, tf.ones([2, 4])),
    error(tf.losses.absolute_difference, None, p), error(tf.losses.hinge_loss, p, None), error(tf.losses.cosine_distance, p, p),
    error(tf.losses.sigmoid_cross_entropy, p, tf.ones([3, 3])), error(tf.losses.get_total_loss), tf.losses.Reduction.all(),
]
