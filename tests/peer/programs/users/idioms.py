# program: a model class with lazy properties
# not in 2.21: ops
import functools
def lazy_property(function):
    attribute = '_cache_' + function.__name__
    @property
    @functools.wraps(function)
    def decorator(self):
        if not hasattr(self, attribute):
            with tf.variable_scope(function.__name__):
                setattr(self, attribute, function(self))
        return getattr(self, attribute)
    return decorator
class Model:
    def __init__(self, data, target):
        self.data = data; self.target = target
        self.prediction; self.optimize; self.error
    @lazy_property
    def prediction(self):
        x = self.data
        w = tf.get_variable("w", [int(x.get_shape()[1]), int(self.target.get_shape()[1])], initializer=tf.constant_initializer(.1))
        b = tf.get_variable("b", [int(self.target.get_shape()[1])], initializer=tf.zeros_initializer())
        return tf.nn.softmax(tf.matmul(x, w) + b)
    @lazy_property
    def optimize(self):
        ce = -tf.reduce_sum(self.target * tf.log(self.prediction), reduction_indices=1)
        return tf.train.RMSPropOptimizer(0.03).minimize(tf.reduce_mean(ce))
    @lazy_property
    def error(self):
        mistakes = tf.not_equal(tf.argmax(self.target, 1), tf.argmax(self.prediction, 1))
        return tf.reduce_mean(tf.cast(mistakes, tf.float32))
rs = np.random.RandomState(0)
m = Model(tf.placeholder(tf.float32, [None, 4]), tf.placeholder(tf.float32, [None, 3]))
f = {m.data: rs.rand(9, 4), m.target: np.eye(3)[rs.randint(0, 3, 9)]}
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for _ in range(4): sess.run(m.optimize, f)
    result = sess.run([m.error, m.prediction], f)

# program: slicing and masking losses of sequences
# not in 2.21: ops
rs = np.random.RandomState(1)
logits = tf.placeholder(tf.float32, [None, None, 5]); labels = tf.placeholder(tf.int32, [None, None]); lens = tf.placeholder(tf.int32, [None])
flat = tf.reshape(logits, [-1, 5])
ce = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=tf.reshape(labels, [-1]), logits=flat)
ce = tf.reshape(ce, tf.shape(labels))
mask = tf.cast(tf.sequence_mask(lens, tf.shape(labels)[1]), tf.float32)
per = tf.reduce_sum(ce * mask, 1) / tf.maximum(tf.reduce_sum(mask, axis=1), 1.0)
loss = tf.reduce_mean(per)
shifted = labels[:, 1:]; last = labels[:, -1]; rev = tf.reverse_sequence(labels, lens, seq_axis=1, batch_axis=0); strided = logits[::2, 1:-1, ..., tf.newaxis]; ell = logits[..., 0]; neg = labels[::-1, ::-2]
masked = tf.boolean_mask(ce, mask > 0); picked = tf.gather(logits, [1, 0], axis=1); perm = tf.transpose(logits, (1, 0, 2))
acc = tf.reduce_sum(tf.to_float(tf.equal(tf.argmax(logits, -1, output_type=tf.int32), labels)) * mask) / tf.reduce_sum(mask)
g = tf.gradients(loss, logits)[0]; g2 = tf.gradients(tf.reduce_sum(strided) + tf.reduce_sum(picked * 2), logits)[0]
f = {logits: rs.randn(3, 4, 5), labels: rs.randint(0, 5, (3, 4)), lens: [4, 2, 0]}
with tf.Session() as sess:
    result = sess.run([loss, per, shifted, last, rev, strided, ell, neg, masked, picked, perm, acc, g, g2], f), [t.shape for t in (shifted, last, rev, strided, ell, neg, masked, picked, perm)]

# program: learning rates in placeholders and variables
# compare: error values
# not in 2.21: ops
lr = tf.placeholder_with_default(tf.constant(0.1), [], name="lr")
v = tf.Variable([1.0, -1.0]); rate = tf.Variable(0.5, trainable=False); step = tf.Variable(0, trainable=False, name="global_step")
loss = tf.reduce_sum(tf.abs(v))
a = tf.train.GradientDescentOptimizer(lr).minimize(loss, global_step=step)
half = rate.assign(rate * 0.5)
b = tf.train.AdamOptimizer(rate).minimize(loss, global_step=step, name="second")
decays = [tf.train.exponential_decay(1.0, step, 3, 0.5), tf.train.piecewise_constant(step, [1, 3], [1.0, 0.5, 0.1]), tf.train.polynomial_decay(1.0, step, 5, power=2.0), tf.train.natural_exp_decay(1.0, step, 2, 0.1, staircase=True), tf.train.inverse_time_decay(1.0, step, 2, 0.5), tf.train.cosine_decay(1.0, step, 10)]
warm = tf.minimum(tf.to_float(step + 1) ** -0.5, tf.to_float(step + 1) * 4.0 ** -1.5)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    out = []
    for i in range(4):
        sess.run(a, {lr: 0.1 * i} if i else {})
        out.append(sess.run([v, warm] + decays))
        sess.run(half); sess.run(b)
    result = out, sess.run([v, rate, step]), b.name

# program: gradient accumulation over small batches
# not in 2.21: ops
x = tf.placeholder(tf.float32, [None, 3]); y = tf.placeholder(tf.float32, [None])
w = tf.get_variable("w", [3, 1], initializer=tf.constant_initializer(.2))
loss = tf.reduce_mean((tf.squeeze(tf.matmul(x, w), 1) - y) ** 2)
opt = tf.train.AdamOptimizer(0.1)
tvs = tf.trainable_variables()
accum = [tf.Variable(tf.zeros(tv.shape), trainable=False, name="acc/" + tv.op.name) for tv in tvs]
zero = [av.assign(tf.zeros_like(av)) for av in accum]
gvs = opt.compute_gradients(loss, tvs)
add = [accum[i].assign_add(gv[0]) for i, gv in enumerate(gvs)]
train = opt.apply_gradients([(accum[i], gv[1]) for i, gv in enumerate(gvs)])
rs = np.random.RandomState(2)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for _ in range(2):
        sess.run(zero)
        for _ in range(3): sess.run(add, {x: rs.randn(2, 3), y: rs.randn(2)})
        sess.run(train)
    result = sess.run([w, accum])

# program: distances, kernels and nearest neighbours
# not in 2.21: ops
rs = np.random.RandomState(3)
train = tf.placeholder("float", [None, 4]); test = tf.placeholder("float", [4])
dist = tf.reduce_sum(tf.abs(tf.add(train, tf.negative(test))), reduction_indices=1)
pred = tf.argmin(dist, 0)
vals, idx = tf.nn.top_k(tf.negative(dist), k=2)
sq = tf.reduce_sum(train * train, 1, keepdims=True)
d2 = sq - 2 * tf.matmul(train, train, transpose_b=True) + tf.transpose(sq)
rbf = tf.exp(-d2 / 2.0)
cos = tf.matmul(tf.nn.l2_normalize(train, 1), tf.nn.l2_normalize(train, 1), adjoint_b=True)
votes = tf.unsorted_segment_sum(tf.ones([2], tf.int32), tf.gather(tf.constant([0, 1, 2, 1, 0]), idx), 3)
rank = tf.rank(train); size = tf.size(train); nrm = tf.norm(train, ord=1, axis=1), tf.norm(train, ord='euclidean'), tf.norm(train, ord=np.inf)
with tf.Session() as sess:
    result = sess.run([pred, vals, idx, d2, rbf, cos, votes, rank, size, nrm], {train: rs.randn(5, 4), test: rs.randn(4)})

# program: mandelbrot and the game of life
# not in 2.21: ops
Y, X = np.mgrid[-1.3:1.3:0.4, -2:1:0.4]
xs = tf.constant((X + 1j * Y).astype(np.complex64)); zs = tf.Variable(xs); ns = tf.Variable(tf.zeros_like(xs, tf.float32))
zs_ = zs * zs + xs
not_diverged = tf.abs(zs_) < 4
step = tf.group(zs.assign(zs_), ns.assign_add(tf.cast(not_diverged, tf.float32)))
board = tf.Variable(np.random.RandomState(1).randint(0, 2, (6, 6)))
n = tf.nn.conv2d(tf.cast(tf.reshape(board, [1, 6, 6, 1]), tf.float32), tf.reshape(tf.constant([[1., 1., 1.], [1., 0., 1.], [1., 1., 1.]]), [3, 3, 1, 1]), [1, 1, 1, 1], "SAME")
n = tf.cast(tf.reshape(n, [6, 6]), tf.int64)
alive = tf.logical_or(tf.equal(n, 3), tf.logical_and(tf.equal(n, 2), tf.equal(board, 1)))
turn = board.assign(tf.cast(alive, tf.int64))
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for _ in range(3): sess.run(step); sess.run(turn)
    result = sess.run([ns, board, not_diverged])

# program: partial differential equation of rain drops
# not in 2.21: ops
def make_kernel(a):
    a = np.asarray(a); a = a.reshape(list(a.shape) + [1, 1])
    return tf.constant(a, dtype=1)
def simple_conv(x, k):
    x = tf.expand_dims(tf.expand_dims(x, 0), -1)
    y = tf.nn.depthwise_conv2d(x, k, [1, 1, 1, 1], padding='SAME')
    return y[0, :, :, 0]
def laplace(x):
    return simple_conv(x, make_kernel([[0.5, 1.0, 0.5], [1.0, -6., 1.0], [0.5, 1.0, 0.5]]))
u0 = np.zeros([8, 8], np.float32); u0[3, 4] = .7
eps = tf.placeholder(tf.float32, shape=()); damping = tf.placeholder(tf.float32, shape=())
U = tf.Variable(u0); Ut = tf.Variable(np.zeros([8, 8], np.float32))
U_ = U + eps * Ut
Ut_ = Ut + eps * (laplace(U) - damping * Ut)
step = tf.group(U.assign(U_), Ut.assign(Ut_))
sess = tf.InteractiveSession()
tf.global_variables_initializer().run()
nxt = sess.run([U_, Ut_], {eps: 0.03, damping: 0.04})
result = nxt, step.name
sess.close()

# program: dynamic partition, stitch and routing of experts
# not in 2.21: ops
rs = np.random.RandomState(4)
x = tf.placeholder(tf.float32, [None, 3])
gate = tf.cast(tf.argmax(x, 1), tf.int32)
parts = tf.dynamic_partition(x, gate, 3)
idx = tf.dynamic_partition(tf.range(tf.shape(x)[0]), gate, 3)
outs = []
for i, p in enumerate(parts):
    with tf.variable_scope("expert_%d" % i):
        outs.append(tf.matmul(p, tf.get_variable("w", [3, 2], initializer=tf.constant_initializer(i + 1.0))))
y = tf.dynamic_stitch(idx, outs)
counts = tf.bincount(gate, minlength=3); u, ui, uc = tf.unique_with_counts(gate)
w = tf.where(x > 0); sel = tf.gather_nd(x, w); grads = tf.gradients(y, [x] + tf.trainable_variables())
sc = tf.scatter_nd(tf.expand_dims(gate, 1), tf.ones_like(gate), [3]); onehot = tf.one_hot(gate, 3, dtype=tf.int32, axis=0)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    result = sess.run([y, counts, u, ui, uc, w, sel, grads, sc, onehot], {x: rs.randn(7, 3)}), y.shape, [p.shape for p in parts]

# program: tensor arrays written in loops and read after
# compare: error values
rs = np.random.RandomState(5)
x = tf.placeholder(tf.float32, [None, 4, 3]); w = tf.Variable(tf.ones([3, 2]) * .3); u = tf.Variable(tf.ones([2, 2]) * -.2)
tm = tf.transpose(x, [1, 0, 2])
ta_in = tf.TensorArray(tf.float32, size=tf.shape(tm)[0]).unstack(tm)
ta_out = tf.TensorArray(tf.float32, size=tf.shape(tm)[0])
h0 = tf.zeros([tf.shape(x)[0], 2])
def body(t, h, out):
    h = tf.tanh(tf.matmul(ta_in.read(t), w) + tf.matmul(h, u))
    return t + 1, h, out.write(t, h)
_, hT, out = tf.while_loop(lambda t, *_: t < tf.shape(tm)[0], body, (0, h0, ta_out), shape_invariants=(tf.TensorShape([]), tf.TensorShape([None, 2]), tf.TensorShape(None)))
hs = tf.transpose(out.stack(), [1, 0, 2])
loss = tf.reduce_mean(hs ** 2)
opt = tf.train.AdamOptimizer(0.05); train = opt.minimize(loss)
ta = tf.TensorArray(tf.int32, size=0, dynamic_size=True, clear_after_read=False)
ta = ta.write(0, 5).write(2, 7)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    f = {x: rs.randn(2, 4, 3)}
    for _ in range(3): sess.run(train, f)
    result = sess.run([loss, hT, hs, w, u], f), sess.run([ta.read(2), ta.size(), ta.read(0)]), error(sess.run, ta.read(9)), hs.shape

# program: early stopping and best values kept in variables
# compare: error values
loss_ph = tf.placeholder(tf.float32, [])
best = tf.Variable(np.inf, name="best", trainable=False, dtype=tf.float32); patience = tf.Variable(0, name="patience", trainable=False)
better = loss_ph < best
update = tf.cond(better, lambda: tf.group(best.assign(loss_ph), patience.assign(0)), lambda: tf.group(patience.assign_add(1)))
with tf.control_dependencies([update]):
    stop = tf.greater_equal(patience.read_value(), 2)
ring = tf.Variable(tf.zeros([3])); pos = tf.Variable(0)
push = tf.scatter_update(ring, tf.mod(pos, 3), loss_ph)
with tf.control_dependencies([push]): nxt = pos.assign_add(1)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    out = []
    for l in [3., 2., 2.5, 1., 4., 5.]:
        out.append(sess.run(stop, {loss_ph: l})); sess.run(nxt, {loss_ph: l})
    result = [bool(o) for o in out], sess.run([best, patience, ring, pos])

# program: placeholders with unknown ranks and shapes found out at run time
# not in 2.21: ops
x = tf.placeholder(tf.float32); y = tf.placeholder(tf.float32, [None, None]); z = tf.placeholder(tf.float32, [None, 3])
ops = [x + 1, tf.reshape(x, [-1]), tf.reduce_mean(x), tf.reduce_sum(x, 0), tf.shape(x), tf.concat([y, z], 1), tf.concat([y, z], 0), tf.matmul(y, z), tf.matmul(z, y), tf.stack([y, z]), y + z, tf.expand_dims(x, 0), tf.expand_dims(y, -1), tf.squeeze(y), tf.squeeze(x), tf.transpose(x), tf.transpose(y), tf.tile(y, [1, 2]), tf.pad(y, [[1, 1], [0, 2]]), tf.zeros_like(y), tf.zeros(tf.shape(y)), tf.fill(tf.stack([tf.shape(z)[0], 2]), 1.0), tf.reshape(z, [tf.shape(z)[0], 3, 1]), tf.reshape(z, tf.concat([tf.shape(z)[:1], [1, 3]], 0)), tf.reshape(y, tf.shape(z)), tf.argmax(y, 1), tf.nn.softmax(x), tf.nn.softmax(y), tf.cast(x, tf.int32), tf.gather(y, [0, 1]), tf.split(z, 3, 1)[0], tf.unstack(z, axis=1)[0], tf.where(y > 0, y, y), tf.where(y > 0), tf.range(tf.shape(z)[0]), tf.one_hot(tf.cast(y, tf.int32), 4), y[0], y[:, 0], y[1:], z[..., :2], tf.slice(z, [0, 1], [-1, 2]), tf.strided_slice(z, [0, 0], [1, 2]), tf.broadcast_to(z, [2, 2, 3]), tf.einsum("ij,kj->ik", z, z), tf.tensordot(z, z, [[1], [1]]), tf.cumsum(y), tf.reverse(y, [0]), tf.nn.bias_add(z, [1., 2., 3.]), tf.nn.dropout(y, 1.0), tf.clip_by_norm(y, 1.0), tf.random_uniform(tf.shape(y)).shape, tf.ones([tf.shape(z)[0], 4]), tf.eye(tf.shape(z)[0]), tf.diag_part(tf.matmul(z, z, transpose_b=True)), tf.matrix_band_part(y, 0, -1), tf.norm(z, axis=1), tf.reduce_logsumexp(z, 1), tf.nn.top_k(z, 2)[1], tf.meshgrid(z[0], z[:, 0])[0]]
yv = np.arange(6.).reshape(2, 3) % 3
out = []
with tf.Session() as sess:
    for o in ops:
        if isinstance(o, tf.Tensor):
            try: r = sess.run(o, {x: yv, y: yv, z: yv})
            except Exception as e: r = type(e).__name__
            out.append((o.shape, r))
result = out

# program: collections and variables by scope, as savers and optimizers asked for them
# not in 2.21: ops
with tf.variable_scope("a"):
    v1 = tf.get_variable("v", [1], initializer=tf.zeros_initializer(), collections=[tf.GraphKeys.GLOBAL_VARIABLES, "extra"])
    with tf.variable_scope("b"): v2 = tf.get_variable("v", [1], trainable=False)
with tf.variable_scope("ab"): v3 = tf.get_variable("v", [1])
tf.add_to_collection("things", 3); tf.add_to_collections(["things", "more"], v1); tf.get_collection_ref("things").append("x")
g = tf.get_default_graph()
result = [[v.name for v in tf.get_collection(tf.GraphKeys.GLOBAL_VARIABLES, scope=s)] for s in ("a", "a/", "ab", ".*b", "zzz", None)], [v.name for v in tf.trainable_variables("a")], [v.name for v in tf.global_variables(scope="a/b")], tf.get_collection("things")[0], len(tf.get_collection("more")), sorted(g.get_all_collection_keys()), tf.get_collection("none"), tf.GraphKeys.TRAINABLE_VARIABLES, tf.get_collection("extra"), error(tf.add_to_collection, None, 1) , v1.op.get_attr("shape").dim[0].size, tf.model_variables(), tf.local_variables(), tf.moving_average_variables(), tf.all_variables()[0].name

# program: names when the same function is called again and again
# not in 2.21: ops
def block(x, name=None):
    with tf.name_scope(name, "block", [x]) as scope:
        a = tf.nn.relu(x, name="act"); b = a * 2 + 1 - a / 3.0; c = -b; d = abs(c) ** 2
        return tf.identity(d, name=scope)
x = tf.constant([1.0, -2.0], name="x")
outs = [block(x), block(x), block(x, "block"), block(x, "block_1"), block(x, "Block"), block(x, "again/")]
with tf.name_scope("block"): outs.append(block(x)); outs.append(x + 1)
with tf.name_scope("block/"): outs.append(x + 1)
with tf.name_scope(None): outs.append(x * 1)
with tf.name_scope(""): outs.append(x * 1)
v = tf.Variable(0.0, name="block/var"); w = tf.get_variable("block/w", [])
outs += [tf.constant(1, name="x"), tf.constant(1, name="X"), tf.constant(1, name="x_1"), tf.constant(1, name="x"), tf.add(1, 2, name="m/"), tf.add(1, 2, name="n"), tf.placeholder(tf.float32, name="x"), x[0], x[0:1], x[tf.newaxis], tf.gradients(x, x)[0], tf.gradients(x * x, x)[0]]
result = [o.name for o in outs], v.name, w.name, [error(tf.constant, 1, name=n) for n in ("a b", "_a", "a:0", "^a", "-a", ".a", "a/_b", "\u00e9", "a\\b", "9")], [error(tf.name_scope(n).__enter__) for n in ("a b", "_a", "a:", "/a", ".a", "")]

# program: sessions share nothing and resources by container and shared name
# compare: error values
v = tf.Variable(1.0); q = tf.FIFOQueue(3, tf.int32, shapes=[], shared_name="shared"); q2 = tf.FIFOQueue(3, tf.int32, shapes=[], shared_name="shared")
with tf.container("box"):
    c = tf.Variable(5.0, name="c")
inc = v.assign_add(1.0); e = q.enqueue(7); d = q2.dequeue(); r = tf.Variable(2.0, use_resource=True)
s1, s2 = tf.Session(), tf.Session()
s1.run(tf.global_variables_initializer()); s1.run(inc); s1.run(e)
a = s1.run([v, d, c, r]); b = error(s2.run, v)
s2.run(tf.global_variables_initializer())
result = a, b, s2.run([v, c, r]), s1.run(v), c.op.get_attr("container"), q.queue_ref.op.type, s1.graph is s2.graph, error(tf.Session.reset, "")
s1.close(); s2.close()
