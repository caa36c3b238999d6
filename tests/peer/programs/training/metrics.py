# program: means and errors, batch by batch
# not in 2.21: ops
M = tf.metrics
rs = np.random.RandomState(0)
x = tf.placeholder(tf.float32, [6, 4]); y = tf.constant(rs.rand(6, 4) > 0.5, tf.float32)
c = tf.constant([1, 2, 0, 3, 1, 1], tf.int64); q = tf.constant([1, 2, 1, 3, 0, 1])
w = tf.constant(rs.rand(6, 1), tf.float32); w1 = tf.constant(rs.rand(6), tf.float32)
all_metrics = [M.mean(x), M.mean(x, w, ['values'], ['updates']), M.accuracy(c, q), M.accuracy(c, q, w1, name='mine'), M.mean_absolute_error(y, x),
      M.mean_cosine_distance(y, x, 1),
      M.mean_per_class_accuracy(c, q, 4), M.mean_per_class_accuracy(c, q, 4, w1), M.mean_relative_error(y, x, y),
      M.mean_squared_error(y, x, w), M.mean_tensor(x), M.mean_tensor(x, w), M.percentage_below(x, 0.5), M.root_mean_squared_error(y, x)]
batches = [rs.rand(6, 4) for _ in range(3)]
with tf.Session() as s:
    s.run(tf.local_variables_initializer())
    out = [s.run([u for _, u in all_metrics], {x: batch}) for batch in batches]
    out.append(s.run([v for v, _ in all_metrics]))
result = ([[np.round(v, 5) for v in row] for row in out], [v.name for v in tf.local_variables()],
          [v.name for v in tf.get_collection(tf.GraphKeys.METRIC_VARIABLES)], [v.name for v, _ in all_metrics],
          [u.name for _, u in all_metrics], tf.get_collection('values')[0].name, tf.get_collection('updates')[0].name,
          len(tf.global_variables()), [(v.dtype.base_dtype.name, v.shape.as_list()) for v in tf.local_variables()])

# program: intersections over unions of classes
# compare: error values
rs = np.random.RandomState(0)
c = tf.placeholder(tf.int64, [6]); q = tf.constant([1, 2, 1, 3, 0, 1], tf.int64); w = tf.constant(rs.rand(6), tf.float32)
all_metrics = [tf.metrics.mean_iou(c, q, 4), tf.metrics.mean_iou(c, q, 5, w), tf.metrics.mean_iou(tf.reshape(c, [2, 3]), tf.reshape(q, [2, 3]), 4, name='mine')]
with tf.Session() as s:
    s.run(tf.local_variables_initializer())
    out = [s.run([u for _, u in all_metrics], {c: rs.randint(0, 4, 6)}) for _ in range(3)]
    out.append([np.round(v, 5) for v in s.run([v for v, _ in all_metrics])])
    result = out, [v.name for v in tf.local_variables()], [v.name for v, _ in all_metrics], [u.name for _, u in all_metrics], error(s.run, all_metrics[0][1], {c: [9] * 6})

# program: counts, precision and recall
# not in 2.21: ops
M = tf.metrics
rs = np.random.RandomState(0)
x = tf.placeholder(tf.float32, [6, 4]); y = tf.constant(rs.rand(6, 4) > 0.5); p = x > 0.5
w = tf.constant(rs.rand(6, 1), tf.float32); th = [0.1, 0.5, 0.8]
all_metrics = [M.false_negatives(y, p), M.false_positives(y, p), M.true_negatives(y, p), M.true_positives(y, p), M.precision(y, p), M.recall(y, p)]
with tf.Session() as s:
    s.run(tf.local_variables_initializer())
    out = [s.run([u for _, u in all_metrics], {x: rs.rand(6, 4)}) for _ in range(3)]
    out.append(s.run([v for v, _ in all_metrics]))
result = [[np.round(v, 5) for v in row] for row in out], [v.name for v in tf.local_variables()], [v.name for v, _ in all_metrics], [u.name for _, u in all_metrics]

# program: metrics at thresholds and areas under curves
# compare: error values
M = tf.metrics
rs = np.random.RandomState(0)
x = tf.placeholder(tf.float32, [6, 4]); y = tf.constant(rs.rand(6, 4) > 0.5, tf.float32); w = tf.constant(rs.rand(6, 1), tf.float32); th = [0.1, 0.5, 0.8]
all_metrics = [M.auc(y, x), M.auc(y, x, w, curve='PR', summation_method='careful_interpolation'), M.auc(y, x, thresholds=[0.7, 0.2], summation_method='minoring'),
      M.auc(y, x, num_thresholds=20, curve='PR', summation_method='majoring'), M.auc(y, x, curve='PR'), M.precision_at_thresholds(y, x, th), M.recall_at_thresholds(y, x, th, w),
      M.false_negatives_at_thresholds(y, x, th), M.false_positives_at_thresholds(y, x, th, w), M.true_negatives_at_thresholds(y, x, th), M.true_positives_at_thresholds(y, x, th),
      M.sensitivity_at_specificity(y, x, 0.6), M.specificity_at_sensitivity(y, x, 0.6), M.sensitivity_at_specificity(y, x, 0.2, w, 30)]
with tf.Session() as s:
    s.run(tf.local_variables_initializer())
    out = [s.run([u for _, u in all_metrics], {x: rs.rand(6, 4)}) for _ in range(3)]
    out.append(s.run([v for v, _ in all_metrics]))
    wrong = error(s.run, all_metrics[0][1], {x: rs.rand(6, 4) + 1})
result = ([[np.round(v, 5) for v in row] for row in out], [v.name for v in tf.local_variables()], [v.name for v, _ in all_metrics], [u.name for _, u in all_metrics], wrong,
          error(M.auc, y, x, curve='X'), error(M.auc, y, x, summation_method='X'), error(M.sensitivity_at_specificity, y, x, 2.0))

# program: metrics of the k best
# compare: error values
M = tf.metrics
rs = np.random.RandomState(0)
x = tf.placeholder(tf.float32, [6, 4]); c = tf.constant([1, 2, 0, 3, 1, 1], tf.int64); w = tf.constant(rs.rand(6), tf.float32)
many = tf.constant([[1, 2], [0, 9], [3, 3], [2, 1], [0, 1], [1, 1]], tf.int64)
sparse = tf.SparseTensor([[0, 0], [0, 1], [1, 0], [3, 0], [4, 0], [5, 1]], tf.constant([1, 3, 0, 2, 1, 1], tf.int64), [6, 2])
all_metrics = [M.precision_at_k(c, x, 2), M.precision_at_k(c, x, 2, class_id=1, weights=w), M.precision_at_k(sparse, x, 3), M.precision_at_top_k(c, tf.nn.top_k(x, 2)[1], 2),
      M.recall_at_k(c, x, 2), M.recall_at_k(sparse, x, 2, class_id=1), M.recall_at_k(many, x, 3, weights=w), M.recall_at_top_k(c, tf.nn.top_k(x, 2)[1]),
      M.average_precision_at_k(c, x, 2), M.average_precision_at_k(many, x, 3, weights=w), M.average_precision_at_k(sparse, x, 2), M.sparse_average_precision_at_k(c, x, 1), M.sparse_precision_at_k(c, x, 1)]
with tf.Session() as s:
    s.run(tf.local_variables_initializer())
    out = [s.run([u for _, u in all_metrics], {x: rs.rand(6, 4)}) for _ in range(3)]
    out.append(s.run([v for v, _ in all_metrics]))
result = [[np.round(v, 5) for v in row] for row in out], [v.name for v in tf.local_variables()], [v.name for v, _ in all_metrics], [u.name for _, u in all_metrics], error(M.average_precision_at_k, c, x, 0)

# program: metrics of unknown shapes and in scopes
# compare: error values
labels = tf.placeholder(tf.int64, None); p = tf.placeholder(tf.int64, None); w = tf.placeholder(tf.float32, None)
with tf.variable_scope('eval'):
    a = tf.metrics.accuracy(labels, p, w)
    b = tf.metrics.accuracy(labels, p)
names = [v.name for v in tf.local_variables()]
with tf.Session() as s:
    s.run(tf.local_variables_initializer())
    out = [s.run(a[1], {labels: [1, 2, 3], p: [1, 2, 2], w: v}) for v in (1.0, [1.0, 2.0, 3.0], [[1.0], [0.0], [1.0]])]
    result = out, s.run(b[1], {labels: [[1], [2]], p: [1, 2]}), names, error(tf.metrics.accuracy, tf.ones([3]), tf.ones([4]))
