# program: contrib.estimator: SavedModels as Estimators, trees that grow in memory
# compare: error values
import tempfile

ce = tf.contrib.estimator
x = np.arange(8, dtype=np.float32)


def model_fn(features, labels, mode):
    line = tf.get_variable("w", initializer=1.0) * features["x"]
    if mode == "infer":
        return tf.estimator.EstimatorSpec(mode, {"y": line}, export_outputs={"serving_default": tf.estimator.export.PredictOutput({"y": line})})
    loss = tf.losses.mean_squared_error(labels, line)
    train_op = tf.train.GradientDescentOptimizer(0.01).minimize(loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, {"y": line}, loss, train_op, {"size": tf.metrics.mean(line)})


def data():
    return tf.data.Dataset.from_tensors(({"x": x}, 3 * x)).repeat()


def given(features):
    return lambda: tf.data.Dataset.from_tensors(features)


def inputs():
    return {"x": tf.placeholder(tf.float32, [None], name="x")}


def serving():
    found = inputs()
    return tf.estimator.export.ServingInputReceiver(found, found)


def supervised():
    return tf.estimator.experimental.build_raw_supervised_input_receiver_fn(inputs(), tf.placeholder(tf.float32, [None], name="y"))()


result = []
model = tf.estimator.Estimator(model_fn, tempfile.mkdtemp())
model.train(data, steps=2)
path = model.experimental_export_all_saved_models(tempfile.mkdtemp(), {"train": supervised, "eval": supervised, "infer": serving})
loaded = ce.SavedModelEstimator(path.decode(), tempfile.mkdtemp())
result.append([row["y"] for row in loaded.predict(given({"x": x}))])
result.append(sorted(loaded.evaluate(data, steps=1).items()))
loaded.train(data, steps=3)
result.append([sorted(loaded.get_variable_names()), loaded.get_variable_value("w"), loaded.get_variable_value("global_step")])
result.append(sorted(loaded.evaluate(data, steps=1).items()))
for features in ({"z": x}, {"x": np.arange(3)}, {"x": x[None]}):
    result.append(error(lambda: next(loaded.predict(given(features)))))
alone = ce.SavedModelEstimator(model.export_saved_model(tempfile.mkdtemp(), serving).decode(), tempfile.mkdtemp())
result.append([row["y"] for row in alone.predict(given({"x": x}))])
result.append(error(alone.train, data, steps=1))
column = tf.feature_column.bucketized_column(tf.feature_column.numeric_column("x"), [2.0, 5.0])
labels = ((x >= 2) & (x < 5)).astype(np.float32)[:, None]
for make in (ce.boosted_trees_classifier_train_in_memory, ce.boosted_trees_regressor_train_in_memory):
    trees = make(given(({"x": x}, labels)), [column], n_trees=3, max_depth=2, learning_rate=0.5, l2_regularization=0.1)
    result.append(sorted(trees.evaluate(given(({"x": x}, labels)), steps=1).items()))
