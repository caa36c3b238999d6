# program: contrib's optimizers, dense and sparse, of both kinds of variables
# compare: error values
# not in 2.21: error values
opt = tf.contrib.opt
step = tf.train.get_or_create_global_step()
makers = [
    lambda: opt.AdaMaxOptimizer(0.01), lambda: opt.AdamGSOptimizer(step, 0.01), lambda: opt.AdamWOptimizer(0.02, 0.01),
    lambda: opt.AddSignOptimizer(0.05, sign_decay_fn=lambda s: 1.0 - tf.to_float(s) / 10.0), lambda: opt.LARSOptimizer(0.5),
    lambda: opt.PowerSignOptimizer(0.05, sign_decay_fn=lambda s: tf.cos(tf.to_float(s) / 5.0)),
    lambda: opt.PowerSignOptimizer(0.05, 2.0, sign_decay_fn=lambda s: tf.exp(-tf.to_float(s))),
    lambda: opt.LazyAdamGSOptimizer(step, 0.01), lambda: opt.LazyAdamOptimizer(0.01), lambda: opt.MomentumWOptimizer(0.02, 0.1, 0.9),
    lambda: opt.NadamOptimizer(0.01), lambda: opt.RegAdagradOptimizer(0.1), lambda: opt.ShampooOptimizer(step),
    lambda: opt.ShampooOptimizer(step, 4, 0.5, 0.5, 0.9, 0.1, 0.3, svd_interval=2, precond_update_interval=2),
    lambda: opt.ShampooOptimizer(step, use_iterative_root=True),
    lambda: opt.extend_with_decoupled_weight_decay(tf.train.AdagradOptimizer)(0.05, learning_rate=0.1),
    lambda: opt.MultitaskOptimizerWrapper(tf.train.AdamOptimizer(0.1)), lambda: tf.contrib.optimizer_v2.AdadeltaOptimizer(1.0),
    lambda: tf.contrib.optimizer_v2.AdagradOptimizer(0.1), lambda: tf.contrib.optimizer_v2.AdamOptimizer(0.01),
    lambda: tf.contrib.optimizer_v2.GradientDescentOptimizer(0.1), lambda: tf.contrib.optimizer_v2.MomentumOptimizer(0.1, 0.9, use_nesterov=True),
    lambda: tf.contrib.optimizer_v2.RMSPropOptimizer(0.01, momentum=0.5, centered=True),
]
slope = tf.constant(np.random.RandomState(0).randn(6, 3).astype(np.float32))
rows = tf.IndexedSlices(tf.constant(np.random.RandomState(1).randn(4, 3).astype(np.float32)), tf.constant([0, 2, 2, 4]), tf.constant([5, 3]))
runs, names = [], []
for i, make in enumerate(makers):
    for kind in (False, True):
        with tf.variable_scope("m%d_%d" % (i, kind), use_resource=kind):
            w = tf.get_variable("w", initializer=np.linspace(-1, 1, 18).reshape(6, 3).astype(np.float32))
            table = tf.get_variable("table", initializer=np.linspace(0.5, 1, 15).reshape(5, 3).astype(np.float32))
        optimizer = make()
        # TensorFlow's has no sparse updates of resource variables for these.
        signs = kind and "SignOptimizer" in type(optimizer).__name__
        update = optimizer.apply_gradients([(slope, w)] + ([] if signs else [(rows, table)]), step)
        runs.append((update, w, table))
        names.append(optimizer.get_slot_names())
found = []
start = tf.assign(step, 0)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for update, w, table in runs:
        sess.run(start)
        for _ in range(3):
            sess.run(update)
        found.append([np.round(v, 3) for v in sess.run([w, table])])
result = [
    found, names, sorted(v.name for v in tf.global_variables()),
    error(lambda: opt.LARSOptimizer(0.1, momentum=-1.0)), error(lambda: opt.MultitaskOptimizerWrapper(3)),
]

# program: optimizers around others
# compare: error values
# not in 2.21: error values
opt = tf.contrib.opt
step = tf.train.get_or_create_global_step()
v = tf.get_variable("v", initializer=np.array([[3.0, 4.0], [0.3, 0.4], [6.0, 8.0]], np.float32))
u = tf.get_variable("u", initializer=[1.0, 2.0])
dense = opt.VariableClippingOptimizer(tf.train.GradientDescentOptimizer(0.5), {v: [1], u: [0]}, 1.0)
clip = dense.minimize(tf.reduce_sum(u) + tf.reduce_sum(tf.gather(v, [0, 1])), step)
averaging = opt.MovingAverageOptimizer(tf.train.GradientDescentOptimizer(0.5), 0.5)
early = error(lambda: averaging.swapping_saver())
average = averaging.minimize(tf.reduce_sum(tf.square(u)), step, [u])
saver = averaging.swapping_saver()
stale = opt.DropStaleGradientOptimizer(tf.train.GradientDescentOptimizer(0.1), 1)
with tf.variable_scope("stale"):
    drop = stale.minimize(tf.reduce_sum(tf.square(u)), step, [u])
clipped, norm = opt.clip_gradients_by_global_norm([(tf.constant([3.0, 4.0]), u), (tf.zeros([2]), u)], 1.0)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    first = [sess.run(clip), sess.run([u, v])]
    second = [sess.run(average), sess.run(average), sess.run(u)]
    path = saver.save(sess, tf.test.get_temp_dir() + "/averages")
    kept = sorted((k, tf.train.load_variable(path, k).tolist()) for k, _ in tf.train.list_variables(path) if k.startswith("u"))
    third = [sess.run(drop), sess.run([u, step]), sess.run([clipped[0][0], clipped[1][0], norm])]
result = [
    first, second, kept, third, early,
    error(lambda: opt.ElasticAverageOptimizer(tf.train.GradientDescentOptimizer(1.0), 1, opt.ElasticAverageCustomGetter("/cpu:0")).swapping_saver()),
]

# program: workers' variables beside global ones
# compare: error values
# not in 2.21: error values
opt = tf.contrib.opt
found = []
for kind in ("elastic", "agn", "mean"):
    getter = {"elastic": opt.ElasticAverageCustomGetter, "agn": opt.AGNCustomGetter, "mean": opt.ModelAverageCustomGetter}[kind]("/cpu:0")
    with tf.Graph().as_default():
        step = tf.train.get_or_create_global_step()
        with tf.variable_scope("", custom_getter=getter):
            v = tf.get_variable("v", initializer=[1.0, 3.0])
            tf.get_variable("fixed", initializer=1.0, trainable=False, collections=[tf.GraphKeys.GLOBAL_VARIABLES])
        sgd = tf.train.GradientDescentOptimizer(0.1)
        if kind == "elastic":
            optimizer = opt.ElasticAverageOptimizer(sgd, 1, getter, 2, moving_rate=0.5)
            hook = optimizer.make_session_run_hook(True, 0)
        elif kind == "agn":
            optimizer = opt.AGNOptimizer(sgd, 1, getter, 2)
            hook = optimizer.make_session_run_hook(True, 0)
        else:
            optimizer = opt.ModelAverageOptimizer(sgd, 1, True, getter, 2)
            hook = optimizer.make_session_run_hook()
        train = optimizer.minimize(tf.reduce_sum(tf.square(v)), step)
        rounds = []
        with tf.train.MonitoredSession(hooks=[hook]) as sess:
            for _ in range(4):
                sess.run(train)
                rounds.append(sess.run([v, "global_center_variable/v:0", step]))
        found.append([rounds, sorted(x.name for x in tf.global_variables()), sorted(x.name for x in tf.local_variables())])
result = found
