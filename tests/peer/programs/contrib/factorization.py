# program: factorization: k-means over whole data and in small batches
# compare: error values
tf.set_random_seed(1)
ff = tf.contrib.factorization
random = np.random.RandomState(0)
points = (random.randn(60, 3) + random.randint(0, 4, [60, 1]) * 3).astype(np.float32)
start = points[:4]
result = []
for options in (
    dict(), dict(use_mini_batch=True), dict(use_mini_batch=True, mini_batch_steps_per_iteration=3),
    dict(distance_metric="cosine"), dict(distance_metric="cosine", use_mini_batch=True),
):
    for initial in (start, "random", "kmeans_plus_plus"):
        with tf.Graph().as_default():
            parts = [tf.constant(points[:40]), tf.constant(points[40:])]
            graph = ff.KMeans(parts, 4, initial_clusters=initial, random_seed=3, **options).training_graph()
            distances, indices, nearest, known, init, train = graph
            names = [v.op.name for v in tf.global_variables()]
            with tf.Session() as sess:
                sess.run(tf.global_variables_initializer())
                while not sess.run(known):
                    sess.run(init)
                centers = [sess.run(tf.global_variables()[0])]
                # With small batches it is open in TensorFlow whether points count twice.
                for _ in range(0 if options.get("use_mini_batch") else 4):
                    sess.run(train)
                    centers.append(sess.run(tf.global_variables()[0]))
                found = sess.run([list(distances), list(indices), list(nearest)])
                # Differences of squares: their last digits are rounding.
                scaled = [[part / 100.0 for part in parts] for parts in (found[0], found[2])]
                result.append([names, centers, found[1], scaled])
result += [error(ff.KMeans, points, 3, "x"), error(ff.KMeans, points, 3, distance_metric="x")]
# program: factorization: centers by k-MC2
# compare: error values
ff = tf.contrib.factorization
random = np.random.RandomState(0)
points = random.randn(90, 2).astype(np.float32)
graph = ff.KMeans(tf.constant(points), 3, "kmc2", random_seed=5, kmc2_chain_length=100).training_graph()
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    steps = 0
    while not sess.run(graph[3]):
        sess.run(graph[4])
        steps += 1
    result = [steps, sess.run(tf.global_variables()[0])]
# program: factorization: mixtures of Gaussians
# compare: error values
ff = tf.contrib.factorization
random = np.random.RandomState(0)
points = (random.randn(80, 2) + random.randint(0, 3, [80, 1]) * 4).astype(np.float32)
result = []
for kind in ("full", "diag"):
    for initial, params, parts in ((points[:3], "wmc", 1), ("random", "wmc", 1), (points[:3], "m", 2), (points[:3], "wm", 2)):
        with tf.Graph().as_default():
            data = [tf.constant(part) for part in np.split(points, parts)]
            loss, scores, assigned, train, init, known = ff.gmm(data, initial, 3, 7, kind, params)
            names = [v.op.name for v in tf.global_variables()]
            with tf.Session() as sess:
                sess.run(tf.global_variables_initializer())
                sess.run(init)
                row = [names, sess.run([known, loss, assigned])]
                for _ in range(4):
                    sess.run(train)
                row += sess.run([loss, assigned])
                row.append([value / 100.0 for value in sess.run(tf.global_variables()[:3])])
                row.append(error(sess.run, scores) if parts == 2 else sess.run(scores))
                result.append(row)
result.append(error(ff.gmm, tf.constant(points), "random", 3, 7, "round"))
# program: factorization: alternating least squares
# compare: error values
ff = tf.contrib.factorization
random = np.random.RandomState(0)
dense = (random.randn(7, 3).dot(random.randn(3, 6)) * (random.rand(7, 6) > 0.4)).astype(np.float32)
places = np.argwhere(dense)
matrix = lambda: tf.SparseTensor(places, dense[tuple(places.T)], dense.shape)
turned = lambda: tf.SparseTensor(places[:, ::-1], dense[tuple(places.T)], dense.shape[::-1])
rows, cols = random.randn(7, 3).astype(np.float32), random.randn(6, 3).astype(np.float32)
result = []
for options in (
    dict(), dict(regularization=0.1, unobserved_weight=0.3), dict(row_weights=None, col_weights=None),
    dict(row_weights=[[1.0, 0.5, 2.0, 1.0, 1.0, 0.1, 3.0]], col_weights=2.0, use_factors_weights_cache=False),
    dict(num_row_shards=2, num_col_shards=3, use_gramian_cache=False, use_scoped_vars=True, regularization=0.2),
):
    with tf.Graph().as_default():
        init = [rows, cols]
        if "num_row_shards" in options:
            init = [np.split(rows, [4]), np.split(cols, 3)]
        model = ff.WALSModel(7, 6, 3, row_init=init[0], col_init=init[1], **options)
        row, col = model.update_row_factors(matrix()), model.update_col_factors(turned(), transpose_input=True)
        shown = [v.op.name for v in tf.global_variables()]
        projected = [model.project_row_factors(matrix()), model.project_col_factors(matrix(), projection_weights=0.5)]
        with tf.Session() as sess:
            sess.run(model.initialize_op)
            sess.run(model.worker_init)
            for _ in range(2):
                sess.run(model.row_update_prep_gramian_op)
                sess.run(model.initialize_row_update_op)
                losses = sess.run(row[2:])
                p = sess.run(projected[0])
                sess.run(row[1])
                sess.run(model.col_update_prep_gramian_op)
                sess.run(model.initialize_col_update_op)
                more = sess.run(col[2:])
                q = sess.run(projected[1])
                sess.run(col[1])
                factors = sess.run([model.row_factors, model.col_factors])
                # Solutions of nearly singular equations: their last digits are rounding.
                result.append([shown, losses, p, more, q, [[f / 100.0 for f in side] for side in factors]])
result += [error(ff.WALSModel, 3, 3, 2, row_weights="x"), error(ff.WALSModel, 3, 3, 2, row_weights=-1), error(ff.WALSModel, 3, 3, 2, row_weights=None)]
# program: factorization: the k-means Estimator
# compare: error values
ff = tf.contrib.factorization
random = np.random.RandomState(0)
points = (random.randn(50, 2) + random.randint(0, 3, [50, 1]) * 5).astype(np.float32)
def whole():
    return tf.train.limit_epochs(tf.constant(points), num_epochs=1)
result = []
for options in (dict(use_mini_batch=False), dict(use_mini_batch=False, relative_tolerance=0.01, initial_clusters="kmeans_plus_plus"), dict(distance_metric="cosine", use_mini_batch=False)):
    model = ff.KMeansClustering(3, random_seed=2, **options)
    # The first epoch is used up by the choice of centers.
    for _ in range(2):
        model.train(whole)
    result.append([model.cluster_centers(), list(model.predict_cluster_index(whole))[:9], model.score(whole), np.array(list(model.transform(whole))[:5]) / 100.0, sorted(model.get_variable_names())])
result += [error(ff.KMeansClustering, 3, initial_clusters="kmc2"), error(ff.KMeansClustering, 3, distance_metric="x")]
# program: factorization: Estimators of mixtures and of factors
# compare: error values
ff = tf.contrib.factorization
random = np.random.RandomState(0)
points = (random.randn(60, 2) + random.randint(0, 3, [60, 1]) * 4).astype(np.float32)
model = ff.GMM(3, initial_clusters=points[:3], random_seed=1)
model.fit(input_fn=lambda: (tf.constant(points), None), steps=3)
once = lambda: (tf.train.limit_epochs(tf.constant(points), num_epochs=1), None)
result = [
    model.clusters() / 100.0, model.weights(), model.covariances() / 100.0, sorted(model.get_variable_names()),
    list(model.predict_assignments(once)), float(model.score(lambda: (tf.constant(points), None), steps=1)) / 100.0,
]
dense = (random.randn(5, 2).dot(random.randn(2, 4))).astype(np.float32)
places = np.argwhere(dense)
def matrix(transposed):
    order = places[:, ::-1] if transposed else places
    shape = dense.shape[::-1] if transposed else dense.shape
    return tf.SparseTensor(order, dense[tuple(places.T)], shape)
kind = ff.WALSMatrixFactorization
def features(project=None):
    found = {kind.INPUT_ROWS: matrix(False), kind.INPUT_COLS: matrix(True)}
    if project is not None:
        found[kind.PROJECT_ROW] = tf.constant(project)
    return found, None
starts = [random.randn(5, 2).astype(np.float32), random.randn(4, 2).astype(np.float32)]
model = kind(5, 4, 2, unobserved_weight=0.5, regularization_coeff=0.1, row_init=starts[0], col_init=starts[1], max_sweeps=3)
model.fit(input_fn=features, steps=10)
result += [model.get_row_factors()[0] / 100.0, model.get_col_factors()[0] / 100.0, sorted(model.get_variable_names())]
result += [float(model.evaluate(input_fn=lambda: features(side), steps=1)["loss"]) / 100.0 for side in (True, False)]
result += [model.get_variable_value(name) for name in ("completed_sweeps", "is_row_sweep", "global_step")]
