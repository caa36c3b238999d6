# program: contrib.estimator: recurrent models of sequences train, evaluate and predict
# compare: error values
# not in 2.21: error values
import itertools, tempfile
ce, fc, sfc = tf.contrib.estimator, tf.feature_column, tf.contrib.feature_column
config = tf.estimator.RunConfig(tf_random_seed=3)
ids = tf.SparseTensorValue([[0, 0], [0, 1], [0, 2], [1, 0], [2, 0], [2, 1]], [1, 2, 1, 0, 2, 2], [3, 3])
prices = tf.SparseTensorValue([[0, 0], [0, 1], [0, 2], [1, 0], [2, 0], [2, 1]], np.float32([1, -2, 0.5, 3, 0.1, 0.2]), [3, 3])
token = fc.embedding_column(fc.sequence_categorical_column_with_identity("ids", 3), 2)
columns = [token, sfc.sequence_numeric_column("prices")]
context = [fc.numeric_column("age")]
def data(labels):
    def features():
        return {"ids": tf.SparseTensor(*ids), "prices": tf.SparseTensor(*prices), "age": tf.constant([[1.], [0.5], [-1.]]), "w": tf.constant([1., 2., 0.5])}
    return lambda: (features(), tf.constant(labels))
def run(model, labels, train=4):
    model.train(data(labels), steps=train)
    metrics = sorted((name, float(value)) for name, value in model.evaluate(data(labels), steps=1).items())
    predictions = [sorted(row.items()) for row in itertools.islice(model.predict(lambda: data(labels)()[0]), 3)]
    names = sorted(model.get_variable_names())
    return metrics, predictions, names, [model.get_variable_value(name) for name in names]
result = [
    run(ce.RNNClassifier(columns, context, [3], "lstm", config=config, model_dir=tempfile.mkdtemp()), [[1], [0], [1]]),
    run(ce.RNNClassifier(columns, num_units=[3, 2], n_classes=3, weight_column="w", config=config, model_dir=tempfile.mkdtemp()), [[1], [0], [2]]),
    run(ce.RNNClassifier(columns, context, [2], tf.nn.rnn_cell.GRUCell, label_vocabulary=["a", "b"], optimizer=tf.train.AdamOptimizer(0.1), config=config, model_dir=tempfile.mkdtemp()), [["a"], ["b"], ["b"]]),
    run(ce.RNNEstimator(ce.regression_head(label_dimension=2), columns, rnn_cell_fn=lambda mode: tf.nn.rnn_cell.LSTMCell(3), optimizer=lambda: tf.train.FtrlOptimizer(0.1), config=config, model_dir=tempfile.mkdtemp()), [[1., 2.], [0., 0.], [2., 1.]]),
    error(ce.RNNClassifier, columns, num_units=[2], rnn_cell_fn=lambda mode: None),
    error(ce.RNNEstimator, ce.regression_head(), columns, num_units=[2], return_sequences=True),
    error(ce.RNNClassifier(columns, num_units=[2], cell_type="none").train, data([[1], [0], [1]]), steps=1),
]

# program: contrib.estimator: a model on several devices, each with a part of the batch
# compare: error values
# not in 2.21: error values
import itertools, tempfile
ce = tf.contrib.estimator
devices = ["/cpu:0", "/cpu:1"]
config = tf.estimator.RunConfig(tf_random_seed=3, session_config=tf.ConfigProto(device_count={"CPU": 2}))
x, y = np.arange(16, dtype=np.float32).reshape(8, 2) / 8, np.float32([[0], [1], [0], [1], [1], [1], [0], [0]])
seen = []
def model_fn(features, labels, mode, params):
    table = tf.get_variable("table", [4, 1], initializer=tf.ones_initializer())
    line = tf.layers.dense(features["x"], 1, kernel_initializer=tf.constant_initializer([[1.], [-1.]])) + tf.gather(table, features["id"])
    predictions = {"line": line}
    outputs = {"serving_default": tf.estimator.export.RegressionOutput(line), "all": tf.estimator.export.PredictOutput(predictions), "class": tf.estimator.export.ClassificationOutput(scores=line)}
    if mode == "infer":
        return tf.estimator.EstimatorSpec(mode, predictions, export_outputs=outputs)
    loss = tf.losses.mean_squared_error(labels, line, reduction=params["reduction"])
    optimizer = tf.train.MomentumOptimizer(0.1, 0.9)
    if params["wrap"]:
        optimizer = ce.TowerOptimizer(optimizer if params["wrap"] == 1 else lambda: optimizer)
    train_op = optimizer.minimize(loss, tf.train.get_global_step())
    if mode == "train" and params["wrap"]:
        seen.append((optimizer.get_name(), optimizer.get_slot_names(), tf.get_default_graph().get_name_scope(), line.device, table.device, [v.name for v in optimizer.variables()]))
    return tf.estimator.EstimatorSpec(mode, predictions, loss, train_op, {"size": tf.metrics.mean(line), "auc": tf.metrics.auc(labels > 0.5, tf.sigmoid(line))})
def features(): return {"x": tf.constant(x), "id": tf.constant([0, 1, 2, 3, 0, 1, 2, 2])}
def data(): return features(), tf.constant(y)
def serving():
    given = {"x": tf.placeholder(tf.float32, [4, 2]), "id": tf.placeholder(tf.int32, [4])}
    return tf.estimator.export.ServingInputReceiver(given, given)
result = []
for reduction in (tf.losses.Reduction.SUM_BY_NONZERO_WEIGHTS, tf.losses.Reduction.SUM):
    for count, wrap in ((2, 1), (1, 2), (2, 0), (4, 1), (3, 1)):
        places = (devices * 2)[:count]
        model = tf.estimator.Estimator(ce.replicate_model_fn(model_fn, reduction, places), tempfile.mkdtemp(), config, {"wrap": wrap, "reduction": reduction})
        failed = error(model.train, data, steps=3)
        result.append(failed)
        if failed == "no error":
            metrics = model.evaluate(data, steps=2)
            result.append([sorted((k, float(v)) for k, v in metrics.items()), [p["line"] for p in itertools.islice(model.predict(features), 8)], sorted(model.get_variable_names()), model.get_variable_value("table"), model.get_variable_value("dense/kernel"), model.get_variable_value("dense/kernel/Momentum")])
        if count == 2:
            with tf.Session(graph=tf.Graph()) as s:
                signatures = tf.saved_model.load(s, ["serve"], model.export_saved_model(tempfile.mkdtemp(), serving).decode()).signature_def if failed == "no error" else {}
                result.append(sorted((k, d.method_name, sorted((n, t.name, t.dtype) for n, t in list(d.inputs.items()) + list(d.outputs.items()))) for k, d in signatures.items()))
result += [seen, error(ce.replicate_model_fn, model_fn, tf.losses.Reduction.NONE)]

# program: contrib.estimator: gradients of one tower alone are the wrapped optimizer's
optimizer = tf.contrib.estimator.TowerOptimizer(tf.train.GradientDescentOptimizer(0.5))
v = tf.get_variable("v", initializer=[1.0, 2.0])
step = optimizer.minimize(tf.reduce_sum(v * v))
with tf.Session() as s:
    s.run(tf.global_variables_initializer())
    s.run(step)
    result = s.run(v), tf.contrib.estimator.TowerOptimizer.has_been_used(), [type(x).__name__ for x in tf.get_collection(tf.contrib.estimator.TowerOptimizer.COLLECTION_FOR_GRAPH_STATES)][:0]

# program: contrib.estimator: DNN models with notes of their layers
# compare: error values
# not in 2.21: error values
import itertools, tempfile
ce, fc = tf.contrib.estimator, tf.feature_column
config = tf.estimator.RunConfig(tf_random_seed=3)
columns = [fc.numeric_column("x", shape=(2,)), fc.indicator_column(fc.categorical_column_with_identity("id", 3))]
def features(): return {"x": tf.constant([[1., 2.], [3., -1.], [0., 1.]]), "id": tf.constant([[0], [2], [1]])}
result = []
for model, labels in ((ce.DNNClassifierWithLayerAnnotations([3, 2], columns, tempfile.mkdtemp(), n_classes=3, config=config), [0, 2, 1]), (ce.DNNRegressorWithLayerAnnotations([3], columns, tempfile.mkdtemp(), config=config, optimizer="Adam"), [0., 2., 1.])):
    data = lambda: (features(), tf.constant(labels))
    model.train(data, steps=3)
    result.append([type(model).__name__, sorted((k, float(v)) for k, v in model.evaluate(data, steps=1).items()), sorted(model.get_variable_names()), [sorted(p.items()) for p in itertools.islice(model.predict(features), 3)]])
