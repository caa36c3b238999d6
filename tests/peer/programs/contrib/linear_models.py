# program: contrib.linear_optimizer's SdcaModel trains, predicts and tells its losses
# compare: error values
# not in 2.21: error values
lo = tf.contrib.linear_optimizer
labels, weights = tf.constant([1., 0., 1., 0.]), tf.constant([1., 2., 1., 0.5])
def examples(values=True):
    sparse = [lo.SparseFeatureColumn([0, 1, 1, 2, 3], [0, 1, 2, 3, 1], [1., 1., 0.5, 2., 1.] if values else None), lo.SparseFeatureColumn(np.arange(4), [1, 0, 1, 0], np.ones(4))]
    return dict(sparse_features=sparse, dense_features=[tf.constant([[1., 2.], [0.5, -1.], [0., 1.], [-1., -1.]])], example_labels=labels, example_weights=weights, example_ids=["a", "b", "c", "d"])
result = []
for n, (loss, l1, l2, shards, cut, values) in enumerate([("logistic_loss", 0.0, 1.0, None, False, True), ("squared_loss", 0.1, 0.5, 2, True, True), ("hinge_loss", 0.0, 2.0, 1, False, True), ("smooth_hinge_loss", 0.2, 1.0, 1, True, True), ("poisson_loss", 0.0, 1.0, 1, False, True)]):
    with tf.Graph().as_default():
        labels, weights = tf.constant([1., 0., 1., 0.]), tf.constant([1., 2., 1., 0.5])
        first = [tf.Variable(tf.zeros([2])), tf.Variable(tf.zeros([2]))] if cut else tf.Variable(tf.zeros([4]))
        variables = dict(sparse_features_weights=[first, tf.Variable(tf.zeros([2]), name="second")], dense_features_weights=[tf.Variable(tf.zeros([2]), name="dense")])
        model = lo.SdcaModel(examples(values), variables, dict(loss_type=loss, symmetric_l1_regularization=l1, symmetric_l2_regularization=l2, num_table_shards=shards, adaptive=n % 2 == 0))
        count = tf.train.create_global_step()
        step = model.minimize(count if n % 2 else None)
        update = model.update_weights(step)
        found = [model.predictions(examples()), model.unregularized_loss(examples()), model.regularized_loss(examples()), model.approximate_duality_gap(), first, variables["dense_features_weights"], count]
        with tf.Session() as s:
            s.run(tf.global_variables_initializer())
            # Examples come in a random order: only the optimum is the same.
            reads = [[tf.identity(x) for x in f] if isinstance(f, list) else [tf.identity(f)] for f in found]
            for _ in range(150): s.run(update)
            result.append([np.round(x, 2) for f in s.run(reads) for x in f])
            result.append([v.name for v in tf.global_variables()])
good, options = dict(sparse_features_weights=[], dense_features_weights=[]), dict(loss_type="squared_loss", symmetric_l1_regularization=0., symmetric_l2_regularization=1.)
for e, v, o in ((None, good, options), (examples(), good, dict(options, loss_type="x")), (dict(examples(), sparse_features=()), good, options), (examples(), dict(good, dense_features_weights=()), options), (examples(), good, dict(options, symmetric_l1_regularization=-1.))):
    result.append(error(lo.SdcaModel, e, v, o))

# program: contrib.kernel_methods' KernelLinearClassifier
# compare: error values
# not in 2.21: error values
import itertools, tempfile
km, layers = tf.contrib.kernel_methods, tf.contrib.layers
x = np.random.RandomState(0).randn(12, 2).astype(np.float32)
y = (np.sum(x * x, 1) > 1).astype(np.int64)
column, other = layers.real_valued_column("x", 2), layers.sparse_column_with_integerized_feature("id", 3)
data = lambda: ({"x": tf.constant(x), "id": tf.SparseTensor([[i, 0] for i in range(12)], np.arange(12) % 3, [12, 1]), "w": tf.constant(np.linspace(0.5, 1.5, 12).astype(np.float32))}, tf.constant(y[:, None]))
result = []
for columns, mappers, options in (([column, other], {column: [km.RandomFourierFeatureMapper(2, 6, 1.0, name="a"), km.RandomFourierFeatureMapper(2, 4, 2.0, seed=3, name="b")]}, {}), ([other], {column: [km.RandomFourierFeatureMapper(2, 6, name="a")]}, {"weight_column_name": "w", "optimizer": tf.train.GradientDescentOptimizer(0.5)}), ([column], None, {})):
    model = km.KernelLinearClassifier(columns, tempfile.mkdtemp(), 2 if options else 3, kernel_mappers=mappers, **options)
    model.fit(input_fn=data, steps=4)
    scores = sorted((k, float(v)) for k, v in model.evaluate(input_fn=data, steps=1).items())
    result.append([scores, list(itertools.islice(model.predict_classes(data), 12)), list(itertools.islice(model.predict_proba(data), 12)), sorted(model.get_variable_names())])
result += [error(km.KernelLinearClassifier), error(km.KernelLinearClassifier, [column], n_classes=1), error(km.KernelLinearClassifier, [column], kernel_mappers={column: [1]})]
