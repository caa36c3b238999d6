# program: contrib's image, resampler, solvers and nn
# compare: error values
# not in 2.21: error values
image = tf.contrib.image
random = np.random.RandomState(0)
pixels = tf.constant(random.rand(2, 5, 6, 3).astype(np.float32))
flow = tf.constant(random.randn(2, 5, 6, 2).astype(np.float32))
points = tf.constant(random.rand(2, 4, 2).astype(np.float32) * 4.0)
moved, _ = image.sparse_image_warp(pixels, points, points + 0.5, num_boundary_points=2)
matrix = tf.constant(random.randn(6, 4).astype(np.float32))
square = tf.matmul(matrix, matrix, transpose_a=True) + tf.eye(4)
solvers = tf.contrib.solvers
operator = solvers.util.create_operator(matrix)
lanczos = solvers.lanczos.lanczos_bidiag(operator, 3, starting_vector=tf.ones([6, 1]))
nn = tf.contrib.nn
drawn = (tf.constant([1, 3, 4], tf.int64), tf.ones([2, 1]) * 0.3, tf.ones([3]) * 0.2)
table, bias = tf.constant(random.randn(6, 4).astype(np.float32)), tf.zeros([6])
labels, inputs = tf.constant([[1], [5]], tf.int64), tf.constant(random.randn(2, 4).astype(np.float32))
dist = tf.distributions.Normal(0.5, 2.0)
mc = tf.contrib.bayesflow.monte_carlo
normal = tf.distributions.Normal(0.0, 1.0)
draws = tf.constant(random.randn(50).astype(np.float32))
fetches = [
    image.rotate(pixels, [0.5, -1.0]), image.rotate(pixels[0], 0.3, "BILINEAR"), image.translate(pixels[0, :, :, 0], [1, -2]),
    image.transform(pixels, [1.0, 0.1, -1.0, 0.2, 1.0, 0.5, 0.01, 0.0], "BILINEAR", [4, 3]),
    image.compose_transforms([1.0, 0.1, -1.0, 0.2, 1.0, 0.5, 0.01, 0.0], [[1.0, 0.0, 2.0, 0.0, 1.0, 0.5, 0.0, 0.0]]),
    image.dense_image_warp(pixels, flow), moved, image.interpolate_spline(points, points * 2.0, points + 0.1, 3, 0.1),
    image.bipartite_match(tf.constant([[0.5, 0.1], [0.2, 0.9], [0.3, 0.4]]), 3.0),
    image.connected_components([[1, 1, 0, 2], [0, 0, 0, 2], [3, 0, 1, 1]]),
    tf.contrib.resampler.resampler(pixels, points), tf.gradients(tf.contrib.resampler.resampler(pixels, points), [pixels, points]),
    solvers.least_squares.cgls(operator, tf.ones([6])), lanczos, solvers.lanczos.bidiag_matmul(lanczos.u, lanczos.alpha, lanczos.beta),
    solvers.linear_equations.conjugate_gradient(solvers.util.create_operator(square), tf.ones([4])),
    nn.scaled_softplus(inputs, 2.0, clip=1.5), nn.nth_element(inputs, 1), nn.alpha_dropout(inputs, 0.7, seed=3),
    nn.sampled_sparse_softmax_loss(table, bias, labels, inputs, 3, 6, drawn),
    nn.rank_sampled_softmax_loss(table, bias, labels, inputs, 3, 2, 6, 1, drawn, 0.5, True, "mod"),
    nn.deprecated_flipped_sigmoid_cross_entropy_with_logits(inputs, tf.ones([2, 4])),
    mc.expectation_importance_sampler(tf.square, normal.log_prob, dist, z=draws), mc.expectation(tf.square, draws),
    mc.expectation(tf.square, draws, normal.log_prob, use_reparametrization=False),
    tf.contrib.periodic_resample.periodic_resample(pixels, [2, 5, 12, None]),
]
with tf.Session() as sess:
    got = sess.run(fetches)
result = [
    got, error(lambda: image.rotate(tf.constant(["a"]), 0.1)), error(lambda: image.transform(pixels, [[[1.0]]])),
    error(lambda: image.connected_components([1])), error(lambda: nn.alpha_dropout(inputs, 1.5)),
    error(lambda: nn.rank_sampled_softmax_loss(table, bias, labels, inputs, 3, 3, 6, 1, drawn, 0.5, True, "mod")),
    error(lambda: image.compose_transforms()),
]

# program: scaled losses, summaries of old and messages
# compare: error values
# not in 2.21: error values
mp = tf.contrib.mixed_precision
v = tf.get_variable("v", initializer=[1.0, 2.0])
bad = tf.placeholder_with_default(1.0, [])
manager = mp.ExponentialUpdateLossScaleManager(8.0, 2, 2)
train = mp.LossScaleOptimizer(tf.train.GradientDescentOptimizer(0.1), manager).minimize(tf.reduce_sum(tf.square(v)) * bad)
old = tf.contrib.deprecated
with tf.name_scope("s"):
    summaries = [old.scalar_summary("tag", 1.0), old.histogram_summary("h", [1.0, 2.0]), old.image_summary("i", tf.ones([1, 2, 2, 1]))]
merged = old.merge_all_summaries()
rounds = []
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for factor in (1.0, 1.0, np.inf, 1.0, np.inf, np.inf, 1.0):
        sess.run(train, {bad: factor})
        rounds.append(sess.run([v, manager.get_loss_scale()]))
    text = sess.run(merged)
graph = tf.get_default_graph().as_graph_def()
util = tf.contrib.util
projector = tf.contrib.tensorboard.plugins.projector
config = projector.ProjectorConfig()
config.embeddings.add(tensor_name="t", metadata_path="m").sprite.single_image_dim.extend([2, 3])
writer = tf.summary.FileWriter(tf.test.get_temp_dir() + "/projected")
projector.visualize_embeddings(writer, config)
writer.close()
with open(tf.test.get_temp_dir() + "/projected/projector_config.pbtxt") as file:
    written = file.read()
result = [
    rounds, [value.tag for value in tf.Summary.FromString(text).value], [s.op.name for s in summaries],
    sorted(x.name for x in tf.global_variables()),
    util.make_ndarray(util.make_tensor_proto([1, 2])).tolist(), "VariableV2" in util.ops_used_by_graph_def(graph),
    [op.name for op in util.stripped_op_list_for_graph(tf.Graph().as_graph_def()).op],
    written,
    error(lambda: mp.FixedLossScaleManager(0.5)),
]

# program: differential equations
# compare: error values
# not in 2.21: error values
integrate = tf.contrib.integrate
times = np.linspace(0.0, 3.0, 6)
spiral = lambda y, t: tf.stack([y[1], -y[0] * 2.0 + tf.cast(t, y.dtype)])
y, info = integrate.odeint(spiral, tf.constant([1.0, 0.0], tf.float64), times, full_output=True)
with tf.Session() as sess:
    result = [
        sess.run([y, info["num_func_evals"]]), sess.run(integrate.odeint_fixed(spiral, [1.0, 0.0], times, 0.1 * np.ones(5))),
        sess.run(integrate.odeint_fixed(spiral, [1.0, 0.0], times, method="midpoint")),
        error(lambda: integrate.odeint(spiral, [1.0, 0.0], times, method="x")), error(lambda: integrate.odeint(spiral, [1, 0], times)),
        error(lambda: integrate.odeint_fixed(spiral, [1.0, 0.0], times, [0.1])),
    ]
