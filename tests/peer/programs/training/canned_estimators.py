# program: ready-made linear models train, evaluate and predict
# compare: error values
# not in 2.21: error ops attrs values
fc = tf.feature_column
rs = np.random.RandomState(0)
data = {"x": rs.rand(40, 2).astype(np.float32), "k": rs.choice(["a", "b", "c", "d"], 40)}
two, three, number = (data["x"].sum(1) > 1.0).astype(np.int32), (data["x"][:, 0] * 3).astype(np.int32), data["x"].sum(1) * 2
x = fc.numeric_column("x", 2)
k = fc.categorical_column_with_vocabulary_list("k", ["a", "b", "c"], num_oov_buckets=1)
b = fc.bucketized_column(x, [0.3, 0.6])
wide = [k, b, fc.crossed_column([b, "k"], 20)]
def read(y, epochs=None): return tf.estimator.inputs.numpy_input_fn(data, y, batch_size=10, num_epochs=epochs, shuffle=False)
config = tf.estimator.RunConfig(tf_random_seed=3)
result = []
for model, y in ((tf.estimator.LinearClassifier(wide, config=config), two), (tf.estimator.LinearClassifier(wide + [x], n_classes=3, config=config, optimizer="SGD", sparse_combiner="mean"), three), (tf.estimator.LinearRegressor(wide, config=config), number)):
    model.train(read(y), steps=6)
    result.append(sorted(model.evaluate(read(y, 1)).items()))
    result.append([(name, model.get_variable_value(name)) for name in sorted(model.get_variable_names())])
    result.append([sorted((name, value) for name, value in p.items() if value.dtype.kind != "O") for p in list(model.predict(read(None, 1)))[:3]])

# program: ready-made networks train, evaluate and predict
# compare: error values
# not in 2.21: error ops attrs values
fc = tf.feature_column
rs = np.random.RandomState(0)
data = {"x": rs.rand(40, 2).astype(np.float32), "k": rs.choice(["a", "b", "c", "d"], 40)}
two, number = (data["x"].sum(1) > 1.0).astype(np.int32), data["x"].sum(1) * 2
x = fc.numeric_column("x", 2)
k = fc.categorical_column_with_vocabulary_list("k", ["a", "b", "c"], num_oov_buckets=1)
start = tf.constant_initializer(0.25)
deep = [x, fc.embedding_column(k, 3, initializer=start)]
def read(y, epochs=None): return tf.estimator.inputs.numpy_input_fn(data, y, batch_size=10, num_epochs=epochs, shuffle=False)
config = tf.estimator.RunConfig(tf_random_seed=3)
result = []
for model, y in ((tf.estimator.DNNClassifier([8, 4], deep, config=config), two), (tf.estimator.DNNRegressor([8], deep, config=config, activation_fn=tf.tanh, batch_norm=True, optimizer=lambda: tf.train.GradientDescentOptimizer(0.01)), number)):
    model.train(read(y), steps=6)
    result.append(sorted(model.evaluate(read(y, 1)).items()))
    result.append([(name, model.get_variable_value(name)) for name in sorted(model.get_variable_names())])

# program: ready-made wide and deep models
# compare: error values
# not in 2.21: error ops attrs values
fc = tf.feature_column
rs = np.random.RandomState(0)
data = {"x": rs.rand(40, 2).astype(np.float32), "k": rs.choice(["a", "b", "c", "d"], 40)}
two, number = (data["x"].sum(1) > 1.0).astype(np.int32), data["x"].sum(1) * 2
x = fc.numeric_column("x", 2)
k = fc.categorical_column_with_vocabulary_list("k", ["a", "b", "c"], num_oov_buckets=1)
def read(y, epochs=None): return tf.estimator.inputs.numpy_input_fn(data, y, batch_size=10, num_epochs=epochs, shuffle=False)
config = tf.estimator.RunConfig(tf_random_seed=3)
result = []
for model, y in ((tf.estimator.DNNLinearCombinedClassifier(linear_feature_columns=[k], dnn_feature_columns=[x, fc.indicator_column(k)], dnn_hidden_units=[6], config=config), two), (tf.estimator.DNNLinearCombinedRegressor(linear_feature_columns=[k], config=config), number)):
    model.train(read(y), steps=6)
    result.append(sorted(model.evaluate(read(y, 1)).items()))
    result.append([(name, model.get_variable_value(name)) for name in sorted(model.get_variable_names())])
result.append([error(tf.estimator.DNNLinearCombinedClassifier), error(tf.estimator.LinearClassifier, [k], n_classes=1), error(tf.estimator.LinearRegressor, [k], label_dimension=0), error(tf.estimator.experimental.dnn_logit_fn_builder, 1.5, [2], [x], None, None, None, False)])
