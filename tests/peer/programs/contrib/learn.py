# program: contrib.learn's Estimator trains, evaluates and predicts; names of checkpoints and exports
# compare: error values
# not in 2.21: error values
import tempfile
learn = tf.contrib.learn
random = np.random.RandomState(0)
x, y = random.randn(8, 3).astype(np.float32), random.randint(0, 3, (8, 1))
def model_fn(features, labels, mode, params):
    w = tf.get_variable('w', [3, 3], initializer=tf.ones_initializer())
    head = learn.multi_class_head(3, weight_column_name='weight', metric_class_ids=[1], enable_centered_bias=not params['rate'], head_name='h')
    train_op_fn = lambda loss: tf.train.GradientDescentOptimizer(params['rate']).minimize(loss, tf.train.get_global_step(), var_list=[w])
    return head.create_model_fn_ops(features, mode, labels, train_op_fn, logits=tf.matmul(features['x'], w) * [[1., 2., 3.]])
input_fn = lambda: ({'x': tf.constant(x), 'weight': tf.constant(np.arange(8.)[:, None] + 1)}, tf.constant(y))
est = learn.Estimator(model_fn, tempfile.mkdtemp(), params={'rate': 0.5}, config=learn.RunConfig(tf_random_seed=1))
est.fit(input_fn=input_fn, steps=4)
# A step that trains the weights reads the centered bias, which another op of the same step writes: TensorFlow's results differ from run to run. With a rate of zero the bias alone moves.
biased = learn.Estimator(model_fn, tempfile.mkdtemp(), params={'rate': 0.}, config=learn.RunConfig(tf_random_seed=1))
biased.fit(input_fn=input_fn, steps=4)
metrics = {'a': learn.MetricSpec(tf.contrib.metrics.streaming_accuracy, 'classes'), 'b': learn.MetricSpec(tf.contrib.metrics.streaming_mean, 'probabilities')}
evaluated = est.evaluate(input_fn=input_fn, steps=2, metrics=metrics)
predicted = list(est.predict(input_fn=input_fn, outputs=['probabilities', 'classes']))
spec = {'x': tf.FixedLenFeature([3], tf.float32), 'weight': tf.FixedLenFeature([1], tf.float32)}
path = est.export_savedmodel(tempfile.mkdtemp(), learn.build_parsing_serving_input_fn(spec))
with tf.Session(graph=tf.Graph()) as s:
    loaded = tf.saved_model.load(s, ['serve'], path.decode())
    signatures = sorted((k, d.method_name, sorted((n, t.name, t.dtype) for n, t in list(d.inputs.items()) + list(d.outputs.items()))) for k, d in loaded.signature_def.items())
result = sorted((str(k), float(v)) for k, v in evaluated.items()), [(p['probabilities'], p['classes']) for p in predicted], est.get_variable_names(), est.get_variable_value('w'), [(n, biased.get_variable_value(n)) for n in biased.get_variable_names()], signatures, error(est.fit), error(est.fit, x=x, input_fn=input_fn), error(est.evaluate, input_fn=input_fn, metrics=[1]), error(learn.Estimator(model_fn, tempfile.mkdtemp(), params={'rate': 1}).evaluate, input_fn=input_fn)

# program: contrib.learn's heads: losses, predictions, metrics and what is served
# compare: error values
# not in 2.21: error ops attrs values
learn = tf.contrib.learn
random = np.random.RandomState(1)
def logits(n): return tf.constant(random.randn(4, n), tf.float32)
features = {'w': tf.constant([[1.], [2.], [3.], [4.]])}
step = lambda loss: tf.no_op()
made = []
for head, labels, extra in [
        (learn.regression_head(weight_column_name='w', label_dimension=2), random.randn(4, 2), {}),
        (learn.poisson_regression_head(), np.array([[1.], [2.], [0.], [3.]]), {}),
        (learn.multi_class_head(2, thresholds=[0.3, 0.6], weight_column_name='w', enable_centered_bias=True), np.array([[0], [1], [1], [0]]), {}),
        (learn.multi_class_head(3, metric_class_ids=[0, 2]), np.array([[0], [2], [1], [2]]), {}),
        (learn.multi_class_head(3, label_keys=['a', 'b', 'c']), np.array([[b'c'], [b'a'], [b'b'], [b'a']]), {}),
        (learn.binary_svm_head(weight_column_name='w'), np.array([[0], [1], [1], [0]]), {}),
        (learn.multi_label_head(3, metric_class_ids=[1], weight_column_name='w'), random.randint(0, 2, (4, 3)), {})]:
    for mode in (learn.ModeKeys.TRAIN, learn.ModeKeys.EVAL, learn.ModeKeys.INFER):
        m = head.create_model_fn_ops(features, mode, tf.constant(labels, tf.float32 if labels.dtype == np.float64 else None), step, logits(head.logits_dimension))
        made.append((m, mode))
heads = [learn.regression_head('r', head_name='one'), learn.multi_class_head(3, 'c', head_name='two')]
both = learn.multi_head(heads, [1., 3.])
labels = {'r': tf.constant([1., 2., 3., 4.]), 'c': tf.constant([0, 1, 2, 0])}
for mode in (learn.ModeKeys.TRAIN, learn.ModeKeys.EVAL, learn.ModeKeys.INFER):
    made.append((both.create_model_fn_ops(features, mode, labels, step, logits(4)), mode))
values = []
with tf.Session() as s:
    s.run([tf.global_variables_initializer(), tf.local_variables_initializer(), tf.tables_initializer()])
    for m, mode in made:
        text = lambda found: {str(k): v for k, v in (found or {}).items()}
        served = {str(k): out for k, (_, out) in (m.output_alternatives or {}).items()}
        measured, metrics = [{k: v[i] for k, v in m.eval_metric_ops.items()} for i in (1, 0)]
        first = s.run([[] if m.loss is None else m.loss, text(m.predictions), served, measured])
        values.append(first + [s.run(metrics), sorted((str(k), kind) for k, (kind, _) in (m.output_alternatives or {}).items())])
result = values, [v.name for v in tf.global_variables()], error(learn.multi_class_head, 1), error(learn.multi_class_head, 2, metric_class_ids=[1]), error(learn.multi_class_head, 3, label_keys=['a']), error(learn.multi_label_head, 3, metric_class_ids=[5]), error(learn.multi_head, [learn.regression_head()]), error(learn.multi_head, heads, [1.]), error(heads[0].create_model_fn_ops, {}, 'other', labels, step, logits(1)), error(heads[0].create_model_fn_ops, {}, 'train', labels, None, logits(1))

# program: contrib.learn's readers, ops and models build the same graphs
# not in 2.21: error ops attrs values
learn = tf.contrib.learn
import os, tempfile
d = tempfile.mkdtemp()
os.chdir(d)
with open('f.txt', 'w') as f: f.write('1\n2\n3\n')
keys, lines = learn.read_keyed_batch_examples('f.txt', 2, tf.TextLineReader, randomize_input=False, num_epochs=1)
learn.io.queue_parsed_features({'a': tf.zeros([2, 3]), 'b': tf.SparseTensor([[0, 0]], [1], [2, 2])}, keys=tf.constant(['x', 'y']))
x, y = tf.constant(np.random.RandomState(2).randn(4, 3), tf.float32), tf.constant([[1., 0.], [0., 1.], [1., 0.], [0., 1.]])
out = [learn.models.linear_regression_zero_init(x, y), learn.ops.embedding_lookup(x, [[0, 1], [2, 3]]), learn.ops.sequence_classifier([y * 2, y * 3], [y, y]), learn.models.logistic_regression_zero_init(x, y)]
circles = learn.datasets.make_dataset('circles', n_samples=7, noise=0.1, n_classes=3)
spirals = [learn.datasets.make_dataset('spirals', n_samples=7, mode=m) for m in ('archimedes', 'bernoulli', 'fermat')]
with tf.Session() as s:
    s.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
    values = s.run(out)
    c = tf.train.Coordinator()
    threads = tf.train.start_queue_runners(s, c)
    read = [s.run(lines) for _ in range(2)]
    c.request_stop()
result = values, read, [circles] + spirals, learn.datasets.load_iris()[0].sum(), [v.name for v in tf.global_variables()]

# program: contrib.learn's linear, deep and combined models over tf.feature_column's columns
# compare: error values
# not in 2.21: error values
import tempfile, warnings
warnings.simplefilter("ignore")
learn, fc = tf.contrib.learn, tf.feature_column
random = np.random.RandomState(0)
x, w, words = random.randn(8, 2).astype(np.float32), random.rand(8, 1).astype(np.float32) + 0.5, random.choice(['a', 'b', 'c', 'd'], 8)
features = lambda: {'x': tf.constant(x), 'w': tf.constant(w), 's': tf.constant(words)}
words_column = fc.categorical_column_with_vocabulary_list('s', ['a', 'b', 'c'])
wide, deep = [fc.numeric_column('x', [2]), words_column], [fc.numeric_column('x', [2]), fc.indicator_column(words_column)]
binary, many, real = random.randint(0, 2, (8, 1)), random.randint(0, 3, (8, 1)), random.randn(8, 1).astype(np.float32)
found = []
config = lambda: learn.RunConfig(tf_random_seed=1, model_dir=tempfile.mkdtemp())
logistic = lambda features, labels, mode: (tf.sigmoid(features['x'][:, :1]), tf.losses.mean_squared_error(labels, features['x'][:, :1]), tf.assign_add(tf.train.get_global_step(), 1))
ones = lambda n: tf.train.GradientDescentOptimizer(n)
models = [
    (learn.LinearClassifier(wide, n_classes=2, weight_column_name='w', config=config()), binary, 'predict_proba'),
    (learn.LinearClassifier(wide, n_classes=3, optimizer='Adagrad', gradient_clip_norm=0.5, config=config()), many, 'predict_classes'),
    (learn.LinearRegressor(wide, optimizer=ones(0.1), config=config()), real, 'predict_scores'),
    (learn.LinearEstimator(wide, learn.poisson_regression_head(), optimizer=lambda: ones(0.01), config=config()), np.abs(real), 'predict'),
    (learn.DNNClassifier([3, 2], deep, n_classes=3, config=config(), activation_fn='tanh'), many, 'predict_proba'),
    (learn.DNNRegressor([3], deep, config=config(), optimizer=ones(0.1), weight_column_name='w'), real, 'predict_scores'),
    (learn.DNNEstimator(learn.multi_class_head(2), [3], deep, config=config()), binary, 'predict'),
    (learn.DNNLinearCombinedClassifier(n_classes=2, linear_feature_columns=wide, dnn_feature_columns=deep, dnn_hidden_units=[3], config=config(), fix_global_step_increment_bug=True), binary, 'predict_proba'),
    (learn.DNNLinearCombinedRegressor(linear_feature_columns=wide, dnn_feature_columns=deep, dnn_hidden_units=[3], config=config(), gradient_clip_norm=1.), real, 'predict_scores'),
    (learn.LogisticRegressor(logistic, thresholds=[0.3], config=config()), binary, 'predict'),
]
for est, labels, method in models:
    input_fn = lambda: (features(), tf.constant(labels))
    est.fit(input_fn=input_fn, steps=3)
    evaluated = est.evaluate(input_fn=input_fn, steps=1)
    names = est.get_variable_names()
    weights = [(n, est.get_variable_value(n)) for n in names]
    found.append((sorted((k, float(v)) for k, v in evaluated.items()), weights, [sorted(p.items()) if isinstance(p, dict) else p for p in getattr(est, method)(input_fn=input_fn)]))
result = found, error(learn.LinearRegressor, []), error(learn.DNNLinearCombinedClassifier), error(learn.DNNClassifier, [1], deep, n_classes=1), error(learn.SVM, 'id', wide, kernels=1)

# In small batches TensorFlow's own results differ from run to run.
# program: contrib.learn's KMeansClustering over whole data
# compare: error values
# not in 2.21: error values
import tempfile
learn = tf.contrib.learn
points = np.concatenate([np.random.RandomState(i).randn(6, 2) * 0.1 + c for i, c in enumerate([(0, 0), (3, 3)])]).astype(np.float32)
input_fn = lambda: (tf.constant(points), None)
found = []
for options in ({'initial_clusters': points[[0, 7]], 'use_mini_batch': False}, {'initial_clusters': points[[0, 7]], 'use_mini_batch': False, 'distance_metric': learn.KMeansClustering.COSINE_DISTANCE}):
    est = learn.KMeansClustering(2, tempfile.mkdtemp(), **options)
    est.fit(input_fn=input_fn, steps=5)
    found.append((est.clusters(), round(float(est.score(input_fn=input_fn, steps=1)), 3), list(est.predict_cluster_idx(input_fn=input_fn)), est.transform(input_fn=input_fn), est.get_variable_names()))
result = found

# program: contrib.learn's models over contrib.layers' columns: linear, SDCA, deep, support vectors
# compare: error values
# not in 2.21: error values
import tempfile, warnings
warnings.simplefilter("ignore")
learn, layers = tf.contrib.learn, tf.contrib.layers
random = np.random.RandomState(0)
x, words = random.randn(8, 2).astype(np.float32), random.choice(['a', 'b', 'c', 'd'], 8)
binary, real = random.randint(0, 2, (8, 1)), random.randn(8, 1).astype(np.float32)
features = lambda: {'x': tf.constant(x), 'y': tf.constant(x[:, :1]), 's': tf.SparseTensor([[i, 0] for i in range(8)], words, [8, 1]), 'id': tf.as_string(tf.range(8))}
s, xs, ys = layers.sparse_column_with_keys('s', ['a', 'b', 'c']), layers.real_valued_column('x', dimension=2), layers.real_valued_column('y')
wide, deep = [xs, s, layers.bucketized_column(ys, [-0.5, 0.5])], [xs, layers.one_hot_column(s)]
config = lambda: learn.RunConfig(tf_random_seed=1, model_dir=tempfile.mkdtemp())
sdca = lambda: tf.contrib.linear_optimizer.SDCAOptimizer('id', symmetric_l2_regularization=1.5, symmetric_l1_regularization=0.1, adaptive=False)
found = []
for est, labels, method in [
        (learn.LinearClassifier(wide, config=config()), binary, 'predict_proba'),
        (learn.LinearClassifier(wide, _joint_weight=False, optimizer=sdca(), config=config()), binary, 'predict_classes'),
        (learn.LinearRegressor(wide, optimizer=sdca(), config=config()), real, 'predict_scores'),
        (learn.DNNClassifier([3, 2], deep, config=config()), binary, 'predict_proba'),
        (learn.DNNLinearCombinedRegressor(linear_feature_columns=wide, dnn_feature_columns=deep, dnn_hidden_units=[3], config=config()), real, 'predict_scores'),
        (learn.SVM('id', wide, config=config(), l2_regularization=1.), binary, 'predict_classes')]:
    input_fn = lambda: (features(), tf.constant(labels))
    # Dual coordinates are visited in any order: where the weights end up does not depend on it.
    dual = method == 'predict_classes' or est.params.get('optimizer') is not None
    est.fit(input_fn=input_fn, steps=100 if dual else 3)
    evaluated = est.evaluate(input_fn=input_fn, steps=1)
    rounded = lambda v: np.round(np.asarray(v, np.float64), 2) + 0.0 if dual else v
    weights = [(n, rounded(est.get_variable_value(n))) for n in est.get_variable_names() if 'HashTable' not in n]
    found.append((sorted((k, float(rounded(v))) for k, v in evaluated.items()), weights, [rounded(p) for p in getattr(est, method)(input_fn=input_fn)]))
result = found
