# program: contrib's metrics
# compare: error values
# not in 2.21: error values
metrics = tf.contrib.metrics
random = np.random.RandomState(0)
labels = tf.placeholder(tf.int64, [6])
scores = tf.placeholder(tf.float32, [6])
logits = tf.placeholder(tf.float32, [6, 4])
classes = tf.placeholder(tf.int64, [6])
weights = tf.constant([1.0, 0.0, 2.0, 1.0, 0.5, 1.0])
guesses = tf.cast(scores > 0.5, tf.int64)
column = tf.expand_dims(classes, 1)
best = tf.nn.top_k(logits, 2).indices
pairs = {
    "accuracy": metrics.streaming_accuracy(guesses, labels, weights),
    "auc": metrics.streaming_auc(scores, labels, weights, 50, curve="PR"),
    "fn": metrics.streaming_false_negatives(guesses, labels),
    "fp": metrics.streaming_false_positives(guesses, labels, weights),
    "tn": metrics.streaming_true_negatives(guesses, labels),
    "tp": metrics.streaming_true_positives(guesses, labels, name="hits"),
    "mean": metrics.streaming_mean(scores, weights, "values", "updates", "m"),
    "mean tensor": metrics.streaming_mean_tensor(logits),
    "mae": metrics.streaming_mean_absolute_error(scores, tf.to_float(labels)),
    "mse": metrics.streaming_mean_squared_error(scores, tf.to_float(labels), weights),
    "rmse": metrics.streaming_root_mean_squared_error(scores, tf.to_float(labels)),
    "relative": metrics.streaming_mean_relative_error(scores, tf.to_float(labels), scores + 1.0),
    "cosine": metrics.streaming_mean_cosine_distance(logits, logits * 2.0, 1),
    "iou": metrics.streaming_mean_iou(guesses, labels, 2),
    "less": metrics.streaming_percentage_less(scores, 0.4),
    "precision": metrics.streaming_precision(guesses, labels),
    "recall": metrics.streaming_recall(guesses, labels, weights),
    "precisions": metrics.streaming_precision_at_thresholds(scores, labels, [0.2, 0.6]),
    "recalls": metrics.streaming_recall_at_thresholds(scores, labels, [0.2, 0.6]),
    "sensitivity": metrics.streaming_sensitivity_at_specificity(scores, labels, 0.5),
    "specificity": metrics.streaming_specificity_at_sensitivity(scores, labels, 0.5, num_thresholds=20),
    "recall at": metrics.streaming_recall_at_k(logits, classes, 2, weights),
    "sparse recall": metrics.streaming_sparse_recall_at_k(logits, column, 2),
    "sparse precision": metrics.streaming_sparse_precision_at_k(logits, column, 2, class_id=1),
    "average precision": metrics.streaming_sparse_average_precision_at_k(logits, column, 3),
    "recall of best": metrics.sparse_recall_at_top_k(column, tf.to_int64(best)),
    "precision of best": metrics.streaming_sparse_precision_at_top_k(tf.to_int64(best), column, class_id=2),
    "fpr": metrics.streaming_false_positive_rate(guesses, labels),
    "fnr": metrics.streaming_false_negative_rate(guesses, labels, weights),
    "fprs": metrics.streaming_false_positive_rate_at_thresholds(scores * 3.0, labels, [0.5, 1.5]),
    "fnrs": metrics.streaming_false_negative_rate_at_thresholds(scores, labels, [0.2, 0.6], weights),
    "tps": metrics.streaming_true_positives_at_thresholds(scores, labels, [0.2, 0.6]),
    "tns": metrics.streaming_true_negatives_at_thresholds(scores, labels, [0.2, 0.6], weights),
    "fps": metrics.streaming_false_positives_at_thresholds(scores, labels, [0.2, 0.6]),
    "fns": metrics.streaming_false_negatives_at_thresholds(scores, labels, [0.2, 0.6]),
    "f1": metrics.f1_score(labels, scores, weights),
    "count": metrics.count(scores),
    "count of weights": metrics.count(scores, weights),
}
values, updates = metrics.aggregate_metric_map(pairs)
both = metrics.aggregate_metrics(pairs["mean"], pairs["count"])
more = [
    metrics.accuracy(guesses, labels), metrics.accuracy(guesses, labels, weights),
    metrics.confusion_matrix(labels, guesses, 3), metrics.set_size(metrics.set_union([[1, 2]], [[2, 5]])),
]
with tf.Session() as sess:
    sess.run(tf.local_variables_initializer())
    rounds = []
    for _ in range(2):
        feeds = {labels: random.randint(0, 2, 6), scores: random.rand(6), logits: random.rand(6, 4), classes: random.randint(0, 4, 6)}
        changed = sess.run(updates, feeds)
        changed.pop("iou")
        rounds.append([sorted((k, np.asarray(v).tolist()) for k, v in changed.items()), sess.run(more, feeds)])
    rounds.append(sorted((k, np.asarray(v).tolist()) for k, v in sess.run(values).items()))
result = [
    rounds, sorted(v.name for v in tf.local_variables()), [len(both), len(both[0])],
    tf.get_collection("values") == [pairs["mean"][0]], tf.get_collection("updates") == [pairs["mean"][1]],
    error(lambda: metrics.aggregate_metrics()), error(lambda: metrics.accuracy(scores, labels)),
    error(lambda: metrics.accuracy(scores, scores)), tf.contrib.slim.metrics.count is metrics.count,
]

# program: sizes of a model
# compare: error values
# not in 2.21: error values
analyzer = tf.contrib.slim.model_analyzer
v = tf.get_variable("v", [3, 4])
w = tf.get_variable("w", [], tf.float64)
tf.placeholder(tf.float32)
result = [
    analyzer.analyze_vars([v, w], print_info=True), analyzer.analyze_ops(tf.get_default_graph(), print_info=True),
    analyzer.tensor_description(v), analyzer.tensor_description(w), analyzer.tensor_description(tf.zeros([5])),
]

# program: contrib's correlations
# compare: error values
# not in 2.21: error values
metrics = tf.contrib.metrics
random = np.random.RandomState(1)
a, b = tf.placeholder(tf.float32, [5]), tf.placeholder(tf.float32, [5])
c, d = tf.placeholder(tf.int64, [5]), tf.placeholder(tf.int64, [5, 1])
w = tf.constant([1.0, 2.0, 0.0, 1.0, 1.0])
pairs = [
    metrics.streaming_covariance(a, b), metrics.streaming_covariance(a, b, w, "v", "u", "mine"),
    metrics.streaming_pearson_correlation(a, b), metrics.streaming_pearson_correlation(a, b, w),
    metrics.cohen_kappa(c, tf.squeeze(d, 1), 3), metrics.cohen_kappa(d, c, 3, w),
]
values, updates = metrics.aggregate_metrics(*pairs)
with tf.Session() as sess:
    sess.run(tf.local_variables_initializer())
    rounds = [sess.run(values)]
    for _ in range(3):
        feeds = {a: random.rand(5), b: random.rand(5), c: random.randint(0, 3, 5), d: random.randint(0, 3, [5, 1])}
        sess.run(updates, feeds)
        rounds.append(sess.run(values))
result = [
    rounds, sorted(v.name for v in tf.local_variables()), len(tf.get_collection("v")),
    error(lambda: metrics.cohen_kappa(c, c, 1)),
]
