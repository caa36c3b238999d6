# program: boosted trees of buckets, floats and weights
# compare: error values
# not in 2.21: error ops attrs values
fc = tf.feature_column
rs = np.random.RandomState(0)
data = {"a": rs.rand(60).astype(np.float32), "b": rs.randn(60).astype(np.float32), "c": rs.choice(["x", "y", "z"], 60)}
two, number = ((data["a"] > 0.5) ^ (data["c"] == "x")).astype(np.int32), data["a"] * 3 + data["b"]
c = fc.indicator_column(fc.categorical_column_with_vocabulary_list("c", ["x", "y", "z"]))
buckets = [fc.bucketized_column(fc.numeric_column("a"), [0.2, 0.4, 0.6, 0.8]), fc.bucketized_column(fc.numeric_column("b"), [-1.0, 0.0, 1.0]), c]
floats = [fc.numeric_column("a"), fc.numeric_column("b"), c]
def read(y, batch=60, epochs=None): return tf.estimator.inputs.numpy_input_fn(data, y, batch_size=batch, num_epochs=epochs, shuffle=False)
make = tf.estimator.BoostedTreesClassifier
result = []
for model, y, batch in (
    (make(buckets, 1, n_trees=3, max_depth=3), two, 60),
    (make(floats, 3, n_trees=2, max_depth=2, learning_rate=0.3, l2_regularization=0.01), two, 20),
    (make(buckets, 1, n_trees=2, max_depth=2, weight_column="a", pruning_mode="pre", tree_complexity=0.001), two, 60),
    (tf.estimator.BoostedTreesRegressor(floats, 1, n_trees=2, max_depth=3, center_bias=True, learning_rate=0.5), number, 60),
):
    model.train(read(y, batch), max_steps=60)
    result.append(sorted(model.evaluate(read(y, epochs=1)).items()))
    result.append([np.concatenate([np.ravel(v) for k, v in sorted(p.items()) if v.dtype.kind == "f"]) for p in list(model.predict(read(None, epochs=1)))[:5]])
    result.append(list(model.experimental_feature_importances(normalize=True).items()))
    result.append(sorted(tf.train.load_checkpoint(model.model_dir).get_variable_to_shape_map().items()))
for p in list(model.experimental_predict_with_explanations(read(None, epochs=1)))[:3]:
    result.append((p["predictions"], float(p["bias"]), list(p["dfc"].items())))

# program: boosted trees of data in memory, with a head, and what they refuse
# compare: error values
# not in 2.21: error ops attrs values
fc = tf.feature_column
rs = np.random.RandomState(1)
a, b = rs.rand(50).astype(np.float32), rs.rand(50).astype(np.float32)
two = (a + b > 0.8).astype(np.int32)
columns = [fc.numeric_column("a"), fc.bucketized_column(fc.numeric_column("b"), [0.25, 0.5, 0.75])]
def whole(): return {"a": tf.constant(a), "b": tf.constant(b)}, tf.constant(two)
def once(): return tf.data.Dataset.from_tensor_slices(({"a": a, "b": b}, two)).batch(50)
make = tf.estimator.BoostedTreesClassifier
result = []
for options in (dict(), dict(pruning_mode="post", tree_complexity=0.001), dict(center_bias=True)):
    model = make(columns, 1, n_trees=3, max_depth=2, train_in_memory=True, **options)
    model.train(whole, max_steps=40)
    result.append(sorted(model.evaluate(once, steps=1).items()))
    result.append(list(model.experimental_feature_importances().items()))
plain = tf.estimator.BoostedTreesRegressor(columns, 1)
def fails(call, *args, **kwargs):
    try: call(*args, **kwargs)
    except Exception as e: return type(e).__name__
result.append([fails(make, columns, 1, n_classes=3), fails(tf.estimator.BoostedTreesRegressor, columns, 1, label_dimension=2), fails(make, [fc.categorical_column_with_vocabulary_list("c", ["x"])], 1)])
result.append([fails(make(columns, 1, tree_complexity=1.0).train, whole), fails(make(columns, 1, pruning_mode="none at all").train, whole), fails(make(columns, 2, train_in_memory=True).train, whole), fails(lambda: next(plain.experimental_predict_with_explanations(once))), fails(plain.experimental_feature_importances)])
