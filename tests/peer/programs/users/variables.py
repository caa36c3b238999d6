# program: variable scopes, reuse and name scopes as layer libraries used them
# not in 2.21: ops
def layer(x, n, name, reuse=None):
    with tf.variable_scope(name, reuse=reuse) as sc:
        with tf.name_scope("inner"):
            w = tf.get_variable("w", [x.shape[-1].value, n], initializer=tf.zeros_initializer)
        b = tf.get_variable("b", n)
        return tf.add(tf.matmul(x, w), b, name="out"), sc
x = tf.ones([2, 3])
a, sa = layer(x, 4, "l1")
b, sb = layer(x, 4, "l1", True)
c, sc = layer(a, 2, "l2")
with tf.variable_scope(sa, reuse=True):
    w = tf.get_variable("w", [3, 4])
    d = tf.identity(w, name="seen")
with tf.variable_scope("l1/"):
    pass
with tf.variable_scope("top"):
    with tf.variable_scope(sa, reuse=True) as again:
        e = tf.identity(tf.get_variable("b", [4]))
    with tf.variable_scope("l1"):
        f = tf.get_variable("w", [1])
        g = tf.Variable([1.0], name="w")
with tf.variable_scope(None, default_name="unit"):
    h = tf.get_variable("k", [])
with tf.variable_scope(None, default_name="unit"):
    i = tf.get_variable("k", [])
with tf.variable_scope("l1", auxiliary_name_scope=False, reuse=tf.AUTO_REUSE):
    j = tf.get_variable("w", [3, 4]); k = tf.constant(1, name="plain")
result = [t.name for t in [a, b, c, d, e, f, g, h, i, j, k]], sa.name, sa.original_name_scope, sb.original_name_scope, again.original_name_scope, [error(layer, x, 4, "l1"), error(layer, x, 5, "l1", True), error(layer, x, 4, "l9", True), error(tf.get_variable, "w"), error(tf.get_variable, "q", [None, 2]), error(tf.get_variable, "q2", [2], tf.string), error(tf.get_variable, "q3", [2], initializer=tf.constant([1.0])), error(tf.get_variable, "q4", initializer=3), error(tf.get_variable, "", [1]), error(tf.get_variable, "bad name", [1])]

# program: ref and resource variables mixed in one model
# not in 2.21: ops
x = tf.placeholder(tf.float32, [None, 2])
with tf.variable_scope("m"):
    w = tf.get_variable("w", [2, 3], initializer=tf.constant_initializer(0.5))
with tf.variable_scope("r", use_resource=True):
    u = tf.get_variable("u", [3, 1], initializer=tf.constant_initializer(-0.25))
    s = tf.Variable(1.5, name="s", use_resource=True)
n = tf.Variable(0, trainable=False, name="n")
y = tf.matmul(tf.nn.tanh(tf.matmul(x, w)), u) * s
loss = tf.reduce_mean(tf.square(y - 1.0))
opt = tf.train.MomentumOptimizer(0.1, 0.9)
train = opt.minimize(loss, global_step=n)
sync = tf.group(s.assign(w[0, 0]), w.assign_sub(tf.ones([2, 3]) * 0.01))
slots = opt.get_slot_names(), opt.get_slot(w, "momentum").name, opt.get_slot(u, "momentum").name
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    f = {x: [[1., 2.], [3., -1.]]}
    for _ in range(3): sess.run(train, f)
    a = sess.run([w, u, s, n])
    b = sess.run([loss, y], f)
    fed = sess.run(y, {x: [[1., 1.]], w: np.ones((2, 3))})
    fed2 = error(sess.run, y, {x: [[1., 1.]], u: np.ones((3, 1))})
    fed3 = error(sess.run, y, {x: [[1., 1.]], s.value(): 2.0})
result = a, b, fed, fed2, fed3, slots, type(w.op).__name__, w.op.type, u.op.type, w.dtype, u.dtype, str(s.shape), opt.get_name()

# program: sparse updates of ref and resource embeddings by every optimizer
# not in 2.21: ops
out = []
ids = tf.constant([1, 3, 1])
for use in (False, True):
    for make in (lambda: tf.train.GradientDescentOptimizer(0.5), lambda: tf.train.MomentumOptimizer(0.5, 0.9), lambda: tf.train.AdamOptimizer(0.5), lambda: tf.train.AdagradOptimizer(0.5), lambda: tf.train.RMSPropOptimizer(0.5), lambda: tf.train.AdadeltaOptimizer(0.5), lambda: tf.train.FtrlOptimizer(0.5, l1_regularization_strength=0.01), lambda: tf.train.RMSPropOptimizer(0.5, centered=True, momentum=0.3), lambda: tf.train.MomentumOptimizer(0.5, 0.9, use_nesterov=True)):
        v = tf.Variable(np.arange(8, dtype=np.float32).reshape(4, 2), use_resource=use)
        loss = tf.reduce_sum(tf.nn.embedding_lookup(v, ids) ** 2)
        out.append((v, make().minimize(loss)))
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for _ in range(2):
        for _, step in out: sess.run(step)
    result = sess.run([v for v, _ in out])

# program: partitioned variables in an embedding and a dense layer
# not in 2.21: ops
with tf.variable_scope("p", partitioner=tf.fixed_size_partitioner(3)):
    emb = tf.get_variable("emb", [7, 2], initializer=tf.random_uniform_initializer(seed=4))
    w = tf.get_variable("w", [6, 3], initializer=tf.constant_initializer(2.0))
with tf.variable_scope("q", partitioner=tf.variable_axis_size_partitioner(16)):
    z = tf.get_variable("z", [5, 2], initializer=tf.zeros_initializer())
with tf.variable_scope("p", reuse=True, partitioner=tf.fixed_size_partitioner(3)):
    emb2 = tf.get_variable("emb", [7, 2])
look = tf.nn.embedding_lookup(emb, [0, 3, 6, 6], partition_strategy="div")
mod = tf.nn.embedding_lookup(emb, [0, 3, 6, 6], partition_strategy="mod")
mm = tf.matmul(tf.ones([1, 6]), w)
g = tf.gradients(tf.reduce_sum(look), list(emb))
kinds = [type(x).__name__ for x in g]
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    result = sess.run([look, mod, mm, tf.convert_to_tensor(emb), [tf.convert_to_tensor(x) for x in g]]), [v.name for v in tf.global_variables()], [v._save_slice_info.spec for v in emb], kinds, emb.name, emb.get_shape(), len(list(z)), emb2 is emb, error(tf.get_variable, "bad", [3], partitioner=lambda shape, dtype: [1, 2]), error(tf.get_variable, "bad2", [3], partitioner=3)

# program: seeds decide bit by bit
# compare: error ops values
tf.set_random_seed(1234)
a = tf.random_uniform([5]); b = tf.random_normal([3, 2], mean=1.0, stddev=0.1); c = tf.truncated_normal([4], seed=9); d = tf.random_uniform([4], 0, 10, dtype=tf.int32)
e = tf.random_shuffle(tf.range(8)); f = tf.multinomial([[1.0, 2.0, 0.5]], 6); g = tf.random_uniform([3], maxval=100, dtype=tf.int64, seed=3); h = tf.random_normal([3], dtype=tf.float64)
i = tf.random_crop(tf.reshape(tf.range(20), [4, 5]), [2, 2]); k = tf.nn.dropout(tf.ones([10]), 0.4); l = tf.random_gamma([3], 2.0); m = tf.random_poisson(3.0, [5]); o = tf.nn.dropout(tf.ones([4, 3]), rate=0.5, noise_shape=[4, 1], seed=2)
inits = [tf.get_variable("v%d" % n, [4, 3], initializer=t) for n, t in enumerate([None, tf.glorot_normal_initializer(), tf.variance_scaling_initializer(2.0, "fan_out"), tf.initializers.he_normal(), tf.initializers.lecun_uniform(seed=4), tf.uniform_unit_scaling_initializer(), tf.random_uniform_initializer(-1, 1), tf.truncated_normal_initializer(stddev=.02)])]
bits = lambda vals: [np.asarray(v).tobytes() for v in vals]
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    one = bits(sess.run([a, b, c, d, e, f, g, h, i, k, m, o]))
    two = bits(sess.run([a, b, c, d, e, f, g, h, i, k, m, o]))
    three = bits(sess.run(inits))
    gam = sess.run(l)
with tf.Session() as sess:
    four = bits(sess.run([a, b, e]))
result = one, two, three, gam, four, [tf.get_seed(None), tf.get_seed(5)]

# program: seeds without a graph seed, and with zeros
# compare: error ops values
a = tf.random_uniform([2], seed=1); b = tf.random_uniform([2], seed=1); c = tf.random_normal([2], seed=0)
s1 = tf.get_seed(None), tf.get_seed(0)
tf.set_random_seed(0)
d = tf.random_uniform([2]); e = tf.random_uniform([2], seed=0); s2 = tf.get_seed(None), tf.get_seed(0)
g = tf.Graph()
with g.as_default():
    f = tf.random_uniform([2], seed=7)
with tf.Session() as sess:
    x = [sess.run(t).tobytes() for t in (a, b, d, a, b, d)]
    same = sess.run(tf.equal(a, b)).all()
with tf.Session(graph=g) as sess:
    y = sess.run(f).tobytes()
result = x, bool(same), y, s1, s2, error(tf.random_uniform, [2], 0, dtype=tf.int32), error(tf.random_uniform, [2], dtype=tf.string), error(tf.random_normal, [2], dtype=tf.int32), error(tf.multinomial, [1.0], 3)

# program: uninitialized variables and how people asked about them
# not in 2.21: ops
v = tf.Variable([1.0, 2.0], name="v"); w = tf.Variable(3.0, name="w")
r = tf.Variable(1, use_resource=True, name="r")
loc = tf.get_variable("loc", [2], collections=[tf.GraphKeys.LOCAL_VARIABLES], trainable=False, initializer=tf.zeros_initializer())
rep = tf.report_uninitialized_variables()
isv = [tf.is_variable_initialized(x) for x in (v, w, r)]
ass = tf.assert_variables_initialized([v])
inc = v.assign_add([1., 1.])
with tf.Session() as sess:
    out = [sess.run(rep), error(sess.run, v), error(sess.run, r), error(sess.run, inc), sess.run(isv), error(sess.run, ass), error(r.eval), error(sess.run, v + 1.0), error(sess.run, loc)]
    sess.run(v.initializer)
    out += [sess.run(rep), sess.run(v), sess.run(isv)]
    sess.run(tf.variables_initializer([w, r]))
    out += [sess.run(rep), sess.run([v, w, r])]
    sess.run(tf.local_variables_initializer())
    out += [sess.run(rep), sess.run(loc)]
    uninit = [x for x in tf.global_variables() if not sess.run(tf.is_variable_initialized(x))]
    out += [len(uninit)]
    names = set(sess.run(tf.report_uninitialized_variables()))
    v.load([9., 9.], sess); r.load(7, sess)
    out += [v.eval(), r.eval(), len(names), error(v.load, [1.0], sess), error(r.load, 3)]
result = out

# program: variables that are initialized from each other
# compare: error values
w = tf.Variable(tf.random_normal([2, 2], seed=1), name="w")
w2 = tf.Variable(w.initialized_value(), name="w2")
t = tf.Variable(w2.initialized_value() * 2.0, name="t")
lazy = tf.Variable(lambda: tf.ones([2]) * 5, dtype=tf.float32, name="lazy")
shapeless = tf.Variable(tf.placeholder_with_default([1., 2.], None), validate_shape=False, name="any")
i = tf.Variable(3, name="i"); st = tf.Variable("abc", name="st"); bo = tf.Variable(True); b16 = tf.Variable(np.float16(2)); ex = tf.Variable(2, expected_shape=[], dtype=tf.int64)
big = tf.assign(shapeless, [[1., 2., 3.]], validate_shape=False)
with tf.Session() as sess:
    sess.run(w.initializer)
    sess.run([w2.initializer, lazy.initializer, shapeless.initializer, i.initializer, st.initializer, bo.initializer, b16.initializer, ex.initializer])
    sess.run(t.initializer)
    out = sess.run([w, w2, t, lazy, shapeless, i, st, bo, b16, ex])
    out.append(sess.run(big)); out.append(sess.run(shapeless))
result = out, shapeless.shape, [error(tf.Variable), error(tf.Variable, 1, dtype=tf.float32), error(tf.Variable, "a", dtype=tf.int32), error(tf.Variable, tf.placeholder(tf.float32)), error(tf.Variable, lambda: 1, 1), error(tf.Variable, [[1], [2, 3]]), error(tf.Variable, None)]

# program: assignments that must fail and those that must not
# not in 2.21: ops
v = tf.Variable([1., 2.]); r = tf.Variable([1., 2.], use_resource=True); n = tf.Variable(tf.zeros([2]), validate_shape=True)
p = tf.placeholder(tf.float32)
a = tf.assign(v, p); b = r.assign(p); c = tf.assign(v, p, validate_shape=False)
errs = [error(tf.assign, v, [1., 2., 3.]), error(r.assign, [1., 2., 3.]), error(tf.assign, v, [1, 2]), error(tf.assign, tf.constant(1.), 2.), error(tf.assign_add, v, ["a", "b"]), error(v.assign_add, [1.]), error(tf.assign, 3, 4), error(v.scatter_update, tf.IndexedSlices(1., 0)), error(tf.scatter_add, v, [0], [1., 2.]), error(tf.scatter_update, tf.constant([1.]), [0], [1.]), error(setattr, v, "shape", 3), error(iter, v), error(lambda: v.__setitem__(0, 1.0)), error(bool, v > 1), None, error(len, v)]
sc = tf.scatter_update(v, [1], [5.]); rsc = tf.scatter_add(r, [0, 0], [1., 1.]); oob = tf.scatter_add(v, [2], [1.]); nd = tf.scatter_nd_update(v, [[0]], [7.]); sub = tf.scatter_sub(v, 0, 1.)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    out = [error(sess.run, a, {p: [1.]}), error(sess.run, b, {p: [1.]}), sess.run(a, {p: [3., 4.]}), sess.run(b, {p: [5., 6.]}), sess.run(sc), sess.run(rsc), error(sess.run, oob), sess.run(nd), sess.run(sub), sess.run(v), sess.run(c, {p: [1.]}), sess.run(v), sess.run(r)]
result = out, errs[:-2]

# program: counters, count_up_to and control dependencies on reads
# compare: error ops values
v = tf.Variable(0, name="v", use_resource=True)
with tf.control_dependencies([v.assign_add(1)]):
    after = v.read_value()
    with tf.control_dependencies([after]):
        second = v.assign_add(10)
        with tf.control_dependencies([second]):
            last = tf.identity(v)
c = tf.Variable(0, name="c")
up = c.count_up_to(2)
f = tf.Variable(0.0)
with tf.control_dependencies([tf.assign(f, 5.0)]):
    g = f + 0.0
    h = tf.identity(f)
    k = f.read_value()
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    out = [sess.run([after, second, last]), sess.run(v), sess.run(up), sess.run(up), error(sess.run, up), sess.run(c), sess.run(k)]
result = out, k.op.control_inputs[0].name, h.op.control_inputs, len(g.op.inputs)

# program: exponential moving averages with a step and a zero debias
# compare: error values
w = tf.Variable(1.0, name="w"); step = tf.Variable(0, trainable=False, name="step")
ema = tf.train.ExponentialMovingAverage(0.9, num_updates=step)
zd = tf.train.ExponentialMovingAverage(0.5, zero_debias=True, name="zd")
loss = w * 2.0
m1 = ema.apply([w]); m2 = zd.apply([loss])
upd = tf.group(w.assign_add(1.0), step.assign_add(1))
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    out = []
    for _ in range(4):
        sess.run(upd); sess.run(m1); sess.run(m2)
        out.append(sess.run([ema.average(w), zd.average(loss)]))
result = out, ema.average(w).name, ema.average_name(w), zd.average_name(loss), sorted(ema.variables_to_restore()), ema.average(step), error(ema.apply, [w]), error(ema.apply, [tf.Variable(1)]), error(ema.apply, [3])

# program: custom getters, regularizers, constraints, collections
# not in 2.21: ops
seen = []
def getter(getter, name, *args, **kwargs):
    v = getter(name, *args, **kwargs)
    seen.append((name, sorted(k for k in kwargs if k in ("shape", "trainable", "reuse"))))
    return tf.multiply(v, 2.0, name="doubled")
with tf.variable_scope("cg", custom_getter=getter):
    a = tf.get_variable("a", [2], initializer=tf.ones_initializer())
with tf.variable_scope("reg", regularizer=lambda w: tf.nn.l2_loss(w) * 0.5):
    b = tf.get_variable("b", [2], initializer=tf.constant_initializer([1., 2.]))
    c = tf.get_variable("c", [2], regularizer=tf.no_regularizer, collections=["mine"], initializer=tf.zeros_initializer())
    d = tf.get_variable("d", initializer=lambda: tf.constant([3., 4.]), constraint=lambda x: tf.clip_by_value(x, 0, 3.5))
    e = tf.get_local_variable("e", [1], initializer=tf.zeros_initializer())
loss = tf.add_n(tf.get_collection(tf.GraphKeys.REGULARIZATION_LOSSES))
step = tf.train.GradientDescentOptimizer(0.1).minimize(-loss)
with tf.Session() as sess:
    sess.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
    sess.run(tf.variables_initializer(tf.get_collection("mine")))
    sess.run(step)
    result = sess.run([a, b, c, d, e, loss]), seen, a.op.type, [v.name for v in tf.trainable_variables()], [v.name for v in tf.get_collection("mine")], [l.name for l in tf.get_collection(tf.GraphKeys.REGULARIZATION_LOSSES)], tf.get_variable_scope().name
