# program: feeds that beginners get wrong
# not in 2.21: ops
x = tf.placeholder(tf.float32, [None, 3], name="x"); y = tf.placeholder(tf.int32, [], name="y"); s = tf.placeholder(tf.string, [None]); b = tf.placeholder(tf.bool); any_ = tf.placeholder(tf.float32)
c = tf.constant([1., 2.]); v = tf.Variable([1., 2.]); sp = tf.sparse_placeholder(tf.float32); d = c * 2.0; h = tf.placeholder(tf.half, [2]); z = tf.placeholder(tf.complex64); i64 = tf.placeholder(tf.int64, [2]); u8 = tf.placeholder(tf.uint8, [2]); un = tf.placeholder_with_default([1, 2], [2])
ix, iy, is_, ib, ia, ih, iz, ii, iu = [tf.identity(t) for t in (x, y, s, b, any_, h, z, i64, u8)]
fixed = tf.get_default_graph()
with tf.Session() as sess:
    sess.run(v.initializer)
    def run(t, f): return sess.run(t, feed_dict=f)
    cases = [(ix, {x: [1, 2, 3]}), (ix, {x: [[1, 2]]}), (ix, {x: [["a", "b", "c"]]}), (ix, {x: None}), (ix, {x: [[1, 2, 3], [1, 2]]}), (ix, {}), (ix, {"x": [[1, 2, 3]]}), (ix, {"x:0": [[1, 2, 3]]}), (ix, {"nope:0": 1}), (ix, {3: 1}), (ix, {x: c}), (ix, [x]), (iy, {y: 1.5}), (iy, {y: [1]}), (iy, {y: "1"}), (iy, {y: 2**40}), (iy, {y: True}), (iy, {y: np.float64(3.0)}), (iy, {y: np.array([1])}),
        (is_, {s: [1, 2]}), (is_, {s: "abc"}), (is_, {s: ["a", b"b", u"\u00e9"]}), (is_, {s: np.array(["x", "yy"])}), (is_, {s: [None]}), (ib, {b: 1}), (ib, {b: 0.5}), (ib, {b: "True"}), (ib, {b: [True, False]}), (ia, {any_: [[1], [2]]}), (ia, {any_: np.array(3, np.int64)}), (ia, {any_: 1 + 2j}), (ia, {any_: []}), (ia, {any_: {}}), (ia, {any_: object()}),
        (d, {c: [5., 6.]}), (d, {c: [5.]}), (d, {d: [1., 1.]}), (d, {d: [1, 2, 3]}), (c, {c: [1, 2]}), (v.value(), {v: [7., 7.]}), (v + 1, {v: [7., 7.]}), (ih, {h: [1e6, 1]}), (iz, {z: 1.5}), (ii, {i64: [1.0, 2.0]}), (ii, {i64: [1.5, 2.0]}), (iu, {u8: [256, -1]}), (iu, {u8: [3.7, 1]}), (ix, {x: np.zeros((0, 3))}), (ix, {x: np.zeros((2, 3), order="F")}), (ix, {(x, y): ([[1, 2, 3]], 2)}), (ix, {x.op: [[1, 2, 3]]}), (un, {un: [3, 4]}), (un, {}), (ix, {x: [[1, 2, 3]], y: "zz"})]
    out = []
    for t, f in cases:
        try: out.append(run(t, f))
        except Exception as e: out.append(type(e).__name__)
    out.append(sess.run(sp, {sp: ([[0, 1]], [2.], [1, 2])}))
    out.append(error(sess.run, sp, {sp: ([[0, 1]], [2.])})); out.append(sess.run(sp, {sp: tf.SparseTensorValue([[0, 0]], [1.], [1, 1])}))
    g2 = tf.Graph()
    with g2.as_default(): other = tf.placeholder(tf.float32); oc = tf.constant(1)
    out.append([error(sess.run, ix, {other: 1}), error(sess.run, oc)])
    fixed.prevent_feeding(any_)
    unfed = tf.identity(any_)
    out.append([error(sess.run, unfed, {any_: [[1., 2., 3.]]}), fixed.is_feedable(x), fixed.is_feedable(y)])
result = out

# program: fetches that beginners get wrong
# not in 2.21: ops
import collections
x = tf.constant(1.0, name="x"); op = tf.no_op(name="op"); v = tf.Variable(2.0, name="v"); sp = tf.SparseTensor([[0]], [1.], [1]); sl = tf.IndexedSlices(tf.constant([1.]), tf.constant([0]), tf.constant([3]))
P = collections.namedtuple("P", "a b")
with tf.Session() as sess:
    sess.run(v.initializer)
    cases = [x, op, [x, op], (x,), {"k": x, "n": {"m": [op, x]}}, P(x, [v]), [], {}, (), None, [None], 3, "x", "x:0", "op", "x:1", "v", "v:0", ":0", "x:0:0", b"x:0", u"x:0", [[[]]], [x, x, [x]], sp, sl, {"a": sp}, np.array([1]), lambda: 1, tf.float32, x.shape, collections.OrderedDict([("z", x), ("a", op)]), [x.op, v.initializer], v.op, set([x]), {x: x}, [x, "nope"], iter([x]), collections.defaultdict(list, q=x), P, True, 1.0, v, v.op.name, "v/read", "^op", "/x:0", ""]
    out = []
    for f in cases:
        try:
            r = sess.run(f)
            out.append((type(r).__name__, r))
        except Exception as e: out.append(type(e).__name__)
    out += [error(sess.run), error(x.eval, {}, 3), error(op.run), error(sess.run, x, None, 3), error(sess.run, x, options=3)]
out += [error(x.eval), error(op.run), error(sess.run, x)]
result = out

# program: shapes that do not fit while the graph is built
# compare: error values
a = tf.zeros([2, 3]); b = tf.zeros([4, 5]); p = tf.placeholder(tf.float32, [None, 7]); u = tf.placeholder(tf.float32); i = tf.constant([1, 2]); s3 = tf.zeros([3]); img = tf.zeros([1, 8, 8, 3])
tests = [lambda: tf.matmul(a, b), lambda: tf.matmul(a, s3), lambda: a + b, lambda: tf.concat([a, b], 0), lambda: tf.concat([a, b], 5), lambda: tf.concat(a, 0), lambda: tf.concat([a, s3], 0), lambda: tf.concat(0, [a, a]), lambda: tf.reshape(a, [4, 2]), lambda: tf.reshape(a, [-1, -1]), lambda: tf.reshape(a, [-1, 4]), lambda: tf.reshape(a, 6.0), lambda: tf.transpose(a, [0, 0]), lambda: tf.transpose(a, [0, 1, 2]), lambda: tf.stack([a, b]), lambda: tf.unstack(u), lambda: tf.unstack(p), lambda: tf.unstack(a, num=5), lambda: tf.split(a, 2, 1), lambda: tf.split(a, [1, 1], 1), lambda: tf.split(u, 2),
    lambda: tf.squeeze(a, [0]), lambda: tf.expand_dims(a, 4), lambda: tf.tile(a, [1]), lambda: tf.pad(a, [[1, 1]]), lambda: tf.slice(a, [0, 0], [3, 3]), lambda: tf.slice(a, [0], [1]), lambda: a[5], lambda: a[:, 3], lambda: a[0, 0, 0], lambda: tf.gather(a, [0], axis=3), lambda: tf.reduce_sum(a, 2), lambda: tf.reduce_sum(a, [0, 0]), lambda: tf.argmax(a, 2), lambda: tf.nn.conv2d(img, tf.zeros([3, 3, 4, 5]), [1, 1, 1, 1], "SAME"), lambda: tf.nn.conv2d(img, tf.zeros([3, 3, 3, 5]), [1, 1, 1, 1], "same"), lambda: tf.nn.conv2d(img, tf.zeros([9, 9, 3, 5]), [1, 1, 1, 1], "VALID"), lambda: tf.nn.conv2d(img, tf.zeros([3, 3, 3, 5]), [1, 1], "SAME"), lambda: tf.nn.conv2d(a, tf.zeros([3, 3, 3, 5]), [1, 1, 1, 1], "SAME"), lambda: tf.nn.conv2d(img, tf.zeros([3, 3, 3, 5]), [2, 1, 1, 1], "SAME"), lambda: tf.nn.max_pool(img, [1, 9, 9, 1], [1, 1, 1, 1], "VALID"), lambda: tf.nn.max_pool(a, [1, 2, 2, 1], [1, 2, 2, 1], "SAME"), lambda: tf.nn.max_pool(img, [2, 2], [1, 2, 2, 1], "SAME"),
    lambda: tf.nn.bias_add(a, tf.zeros([2])), lambda: tf.nn.bias_add(s3, s3), lambda: tf.nn.softmax_cross_entropy_with_logits(logits=a, labels=b), lambda: tf.nn.softmax_cross_entropy_with_logits(a, a), lambda: tf.nn.sparse_softmax_cross_entropy_with_logits(logits=a, labels=a), lambda: tf.nn.sparse_softmax_cross_entropy_with_logits(logits=a, labels=tf.zeros([2, 1], tf.int32)), lambda: tf.nn.sparse_softmax_cross_entropy_with_logits(logits=a, labels=tf.zeros([5], tf.int32)), lambda: tf.nn.sparse_softmax_cross_entropy_with_logits(logits=3.0, labels=1), lambda: tf.nn.sigmoid_cross_entropy_with_logits(logits=a, labels=b), lambda: tf.nn.embedding_lookup(a, u), lambda: tf.nn.dropout(a, 1.5), lambda: tf.nn.dropout(a, 0.0), lambda: tf.nn.dropout(i, 0.5), lambda: tf.nn.in_top_k(a, i, 1.5), lambda: tf.nn.top_k(a, 4), lambda: tf.where([True], a, b), lambda: tf.one_hot([0.5], 3), lambda: tf.one_hot([0], [3]), lambda: tf.eye(2.5), lambda: tf.range(0, 5, 0), lambda: tf.linspace(0, 1, 3), lambda: tf.fill([2, -1], 0), lambda: tf.zeros([-1]), lambda: tf.ones([2.0]), lambda: tf.constant([1, 2], shape=[3]), lambda: tf.constant([1, 2, 3], shape=[2]), lambda: tf.constant(1, shape=[None]), lambda: a.set_shape([3, 2]), lambda: a.set_shape([2]), lambda: tf.ensure_shape(a, [2, 2]), lambda: tf.broadcast_to(a, [2]), lambda: tf.einsum("ij,jk->ik", a, b), lambda: tf.einsum("ij", a, a), lambda: tf.tensordot(a, b, 1), lambda: tf.tensordot(a, b, [[3], [0]]), lambda: tf.diag(a), lambda: tf.matrix_diag_part(s3), lambda: tf.clip_by_value(a, b, b), lambda: tf.clip_by_global_norm(a, 1.0), lambda: tf.add_n([]), lambda: tf.add_n([a, b]), lambda: tf.add_n([a, i]), lambda: tf.dynamic_partition(a, [0, 1, 0], 2), lambda: tf.cast("a", tf.float32), lambda: tf.bitcast(tf.zeros([3], tf.uint8), tf.int32), lambda: tf.boolean_mask(a, [True, False, True]), lambda: tf.boolean_mask(a, u), lambda: tf.boolean_mask(a, True), lambda: tf.sequence_mask(a), lambda: tf.space_to_depth(img, 3), lambda: tf.depth_to_space(img, 2), lambda: tf.cross(a, tf.zeros([2, 2])), lambda: tf.segment_sum(a, [[0]]), lambda: tf.unsorted_segment_sum(a, [0, 1], -1), lambda: tf.scatter_nd([[0]], [1, 2], [3]), lambda: tf.gather_nd(a, [[0, 0, 0]]), lambda: tf.reverse(a, [2]), lambda: tf.reverse(a, [True, False]), lambda: tf.random_shuffle(3), lambda: tf.cumsum(a, 2), lambda: tf.random_uniform(3), lambda: tf.assert_rank(a, 3), lambda: tf.assert_equal(1, 2), lambda: tf.Assert(False, []), lambda: tf.Assert(False, ["x"]), lambda: tf.group(3), lambda: tf.tuple([None]), lambda: tf.nn.moments(a, [2]), lambda: tf.nn.l2_normalize(a, 2), lambda: tf.nn.lrn(a), lambda: tf.nn.xw_plus_b(a, b, s3), lambda: tf.nn.fused_batch_norm(a, s3, s3), lambda: tf.nn.conv2d_transpose(img, tf.zeros([3, 3, 5, 4]), [1, 16, 16, 5], [1, 2, 2, 1]), lambda: tf.nn.conv2d_transpose(img, tf.zeros([3, 3, 5, 3]), [1, 16, 16, 6], [1, 2, 2, 1])]
out = []
for n, t in enumerate(tests):
    # A failed builder with a dispatch for ragged tensors leaves constants behind.
    try: r = t(); out.append((n, r.op.type, r.shape) if isinstance(r, tf.Tensor) else n)
    except Exception as e: out.append((n, type(e).__name__))
result = out

# program: dtypes that do not fit while the graph is built
# not in 2.21: ops
f = tf.constant([1., 2.]); i = tf.constant([1, 2]); d = tf.constant([1., 2.], tf.float64); s = tf.constant("a"); b = tf.constant([True, False]); h = tf.constant([1], tf.half); l = tf.constant([1], tf.int64); u = tf.constant([1], tf.uint8); c = tf.constant([1j]); v = tf.Variable(1)
tests = [lambda: f + i, lambda: i + f, lambda: f + d, lambda: f * 2, lambda: f * 2.5, lambda: i * 2.5, lambda: i / 2, lambda: i // 2, lambda: i / i, lambda: i % 2.0, lambda: 2 / i, lambda: 2.0 * i, lambda: f ** 2, lambda: i ** -1, lambda: s + "b", lambda: s + 1, lambda: b + b, lambda: b & b, lambda: b & 1, lambda: ~b, lambda: ~f, lambda: -b, lambda: -s, lambda: abs(b), lambda: i & i, lambda: f == f, lambda: f < i, lambda: f < "a", lambda: s < "b", lambda: c < c, lambda: c * 2, lambda: c + f, lambda: i @ i, lambda: f @ f, lambda: l + i, lambda: u + 300, lambda: u - 1, lambda: h * 1e6, lambda: np.array([1., 2.]) * f, lambda: np.float64(2) * f, lambda: f * np.float64(2), lambda: f * np.array([1, 2]), lambda: i + np.array([1., 2.]), lambda: i * np.int64(2), lambda: f + None, lambda: f + [1, 2], lambda: f + (1.0, 2), lambda: f + ["a", "b"], lambda: [1] + f, lambda: bool(f), lambda: f and f, lambda: not f, lambda: list(f), lambda: len(f), lambda: int(f), lambda: float(f), lambda: f[f], lambda: f[0.5], lambda: f["a"], lambda: f[None], lambda: f[tf.constant(0)], lambda: f[[0]], lambda: f[True], lambda: f.nope, lambda: f(1),
    lambda: tf.add(f, i), lambda: tf.add(1, 2.0), lambda: tf.add(1.0, 2), lambda: tf.add("a", "b"), lambda: tf.multiply(True, False), lambda: tf.sqrt(4), lambda: tf.sqrt(i), lambda: tf.exp("a"), lambda: tf.log(0), lambda: tf.matmul([[1]], [[2.0]]), lambda: tf.matmul(b, b), lambda: tf.reduce_mean(b), lambda: tf.reduce_mean([1, 2]), lambda: tf.reduce_sum(s), lambda: tf.reduce_all(f), lambda: tf.reduce_max(c), lambda: tf.argmax(s), lambda: tf.equal(f, i), lambda: tf.equal(s, "a"), lambda: tf.less(b, b), lambda: tf.logical_and(f, f), lambda: tf.logical_not(1), lambda: tf.cast(f, "int32"), lambda: tf.cast(f, int), lambda: tf.cast(f, "nope"), lambda: tf.cast(f, None), lambda: tf.cast(s, tf.int32), lambda: tf.to_float("1"), lambda: tf.string_to_number("1"), lambda: tf.where(f, f, f), lambda: tf.where(b, f, i), lambda: tf.where(b, f), lambda: tf.concat([f, i], 0), lambda: tf.concat([f, [1, 2]], 0), lambda: tf.stack([f, i]), lambda: tf.stack([1, 2.0]), lambda: tf.stack([1, tf.constant(2.0)]), lambda: tf.constant([1, "a"]), lambda: tf.constant([1, 2.5]), lambda: tf.constant([True, 1]), lambda: tf.constant([1, None]), lambda: tf.constant(2**31), lambda: tf.constant(2**63), lambda: tf.constant(2**70), lambda: tf.constant(1.5, tf.int32), lambda: tf.constant(-1, tf.uint8), lambda: tf.constant(300, tf.uint8), lambda: tf.constant("a", tf.float32), lambda: tf.constant(object()), lambda: tf.constant({}), lambda: tf.constant(f), lambda: tf.constant([f, f]), lambda: tf.constant(np.array([1, "a"], object)), lambda: tf.convert_to_tensor([f, 1.0]), lambda: tf.convert_to_tensor([f, i]), lambda: tf.convert_to_tensor(f, tf.int32), lambda: tf.convert_to_tensor(v, tf.float32), lambda: tf.convert_to_tensor(None), lambda: tf.zeros_like(s), lambda: tf.ones_like(b), lambda: tf.ones_like(s), lambda: tf.ones([2], tf.string), lambda: tf.zeros([2], tf.string), lambda: tf.range("a"), lambda: tf.range(3.5), lambda: tf.range(1, 2.5), lambda: tf.gather(f, "a"), lambda: tf.nn.relu(s), lambda: tf.nn.relu(i), lambda: tf.nn.softmax(i), lambda: tf.nn.sigmoid(i), lambda: tf.nn.embedding_lookup(f, f), lambda: tf.nn.embedding_lookup(f, l), lambda: tf.nn.l2_loss(i), lambda: tf.gradients(i, i), lambda: tf.gradients(f, v), lambda: tf.gradients(f, "f"), lambda: tf.gradients(f, 3), lambda: tf.gradients([], [f]), lambda: tf.gradients(f, [], grad_ys=[1.0]), lambda: tf.placeholder("flot32"), lambda: tf.placeholder(None), lambda: tf.placeholder(tf.float32, "ab"), lambda: tf.placeholder(tf.float32, [1, "a"]), lambda: tf.placeholder(tf.float32, 3), lambda: tf.as_dtype("float"), lambda: tf.as_dtype(3.5), lambda: tf.as_dtype(1), lambda: tf.py_func(3, [], tf.float32), lambda: tf.one_hot(i, 3, dtype=tf.string), lambda: tf.one_hot(i, 3, on_value=1.0, off_value=0), lambda: tf.clip_by_value(i, 0.5, 1.5), lambda: tf.maximum(i, 0.0), lambda: tf.pow(2, f), lambda: tf.mod(5, 3.0), lambda: tf.assign_add(v, 1.5), lambda: tf.train.GradientDescentOptimizer(0.1).minimize(tf.cast(v, tf.float32)), lambda: tf.train.GradientDescentOptimizer("a").minimize(f[0]), lambda: tf.train.GradientDescentOptimizer(0.1).minimize(f, var_list=[f]), lambda: tf.train.AdamOptimizer().apply_gradients([]), lambda: tf.train.AdamOptimizer().apply_gradients([(None, v)]), lambda: tf.train.AdamOptimizer().apply_gradients([(f, 3)]), lambda: tf.train.AdamOptimizer().apply_gradients([(1, tf.Variable(1.0))]), lambda: tf.train.MomentumOptimizer(0.1), lambda: tf.train.exponential_decay(0.1, None, 1, 0.9), lambda: tf.train.piecewise_constant(v, [1, 2], [0.1]), lambda: tf.train.piecewise_constant(v, [1, 2], [0.1, 1, 3])]
out = []
for n, t in enumerate(tests):
    try: r = t(); out.append((n, r))
    except Exception as e: out.append((n, type(e).__name__))
result = out

# program: errors of a step and what is told of them
# compare: error values
x = tf.placeholder(tf.float32, name="x"); i = tf.placeholder(tf.int32, name="i"); m = tf.placeholder(tf.float32); s = tf.placeholder(tf.string)
tests = [("mm", tf.matmul(tf.reshape(x, [1, -1]), tf.ones([2, 2], name="w")), {x: [1, 2, 3]}), ("add", x + m, {x: [1, 2], m: [1, 2, 3]}), ("gather", tf.gather([1, 2], i), {i: 7}), ("div", tf.constant(1) // i, {i: 0}), ("mod", 5 % i, {i: 0}), ("reshape", tf.reshape(x, [4]), {x: [1, 2]}), ("numerics", tf.check_numerics(1 / x, "bad"), {x: 0}), ("assert", tf.Assert(x > 0, [x]), {x: -1}), ("asserteq", tf.assert_equal(i, 3), {i: 2}), ("num", tf.string_to_number(s), {s: "zz"}), ("concat", tf.concat([x, m], 0), {x: [[1]], m: [[1, 2]]}), ("slice", tf.slice(x, [0], [5]), {x: [1]}), ("idx", x[i], {x: [1, 2], i: 9}), ("squeeze", tf.squeeze(x, [0]), {x: [1, 2]}), ("xent", tf.nn.sparse_softmax_cross_entropy_with_logits(logits=[[1., 2.]], labels=tf.reshape(i, [1])), {i: 5}), ("sce", tf.nn.softmax_cross_entropy_with_logits(logits=x, labels=m), {x: [[1, 2]], m: [[1, 2, 3]]}), ("split", tf.reverse(x, tf.reshape(i, [1])), {x: [1, 2, 3], i: 4}), ("onehot", tf.one_hot(i, 3), {i: -5}), ("range", tf.range(0, 5, i), {i: 0}), ("fill", tf.fill(tf.reshape(i, [1]), 1), {i: -2}), ("topk", tf.nn.top_k(x, 5), {x: [1, 2]}), ("scatter", tf.scatter_nd([[5]], [1], tf.reshape(i, [1])), {i: 3}), ("dynpart", tf.dynamic_partition([1, 2], [0, 5], 2), {}), ("seg", tf.segment_sum([1, 2], [1, 0]), {}), ("transpose", tf.transpose(x, tf.stack([i, i])), {x: [[1]], i: 0}), ("bcast", tf.broadcast_to(x, [3]), {x: [1, 2]}), ("pad", tf.pad(x, [[i, 0]]), {x: [1], i: -1}), ("eye", tf.eye(i), {i: -1}), ("multi", tf.multinomial(x, 1), {x: [1.]}), ("embed", tf.nn.embedding_lookup(tf.zeros([3, 2]), i), {i: 3}), ("gnd", tf.gather_nd(tf.zeros([2, 2]), [[i, 0]]), {i: 2}), ("ensure", tf.ensure_shape(x, [2]), {x: [1]}), ("setdiff", tf.invert_permutation([0, 0]), {}), ("tile", tf.tile(x, [i]), {x: [1], i: -1}), ("wherenone", tf.where(x > 0, x, m), {x: [1, 2], m: [1, 2, 3]}), ("expand", tf.expand_dims(x, i), {x: 1, i: 5}), ("argmax", tf.argmax(x, i), {x: [1], i: 3}), ("reduce", tf.reduce_sum(x, i), {x: [1], i: 3}), ("cumsum", tf.cumsum(x, i), {x: [1], i: 3}), ("bias", tf.nn.bias_add(x, m), {x: [[1, 2]], m: [1]}), ("conv", tf.nn.conv2d(x, tf.zeros([2, 2, 1, 1]), [1, 1, 1, 1], "VALID"), {x: np.zeros((1, 1, 1, 1))}), ("conv2", tf.nn.conv2d(x, tf.zeros([2, 2, 1, 1]), [1, 1, 1, 1], "SAME"), {x: np.zeros((1, 3, 3, 2))}), ("pool", tf.nn.max_pool(x, [1, 2, 2, 1], [1, 1, 1, 1], "VALID"), {x: np.zeros((2, 2))}), ("mask", tf.boolean_mask(tf.reshape(x, [-1]), tf.reshape(m, [-1]) > 0), {x: [1, 2], m: [1, 1, 1]}), ("stack", tf.stack([x, m]), {x: [1], m: [1, 2]}), ("addn", tf.add_n([x, m]), {x: [1], m: [1, 2]}), ("unstack", tf.unstack(x, num=2), {x: [1, 2, 3]}), ("einsum", tf.einsum("ij,jk->ik", tf.reshape(x, [1, -1]), tf.ones([3, 1])), {x: [1, 2]}), ("select", tf.case([(tf.reduce_any(x > 0), lambda: x)], default=lambda: m), {x: [1], m: 2}), ("intpow", tf.pow(2, i), {i: -1}), ("lin", tf.linspace(0., 1., i), {i: 0}), ("cast", tf.cast(x, tf.int32), {x: 2.7}), ("trunc", tf.truncatediv(7, i), {i: 0}), ("fdiv", tf.floordiv(-7, i), {i: 2})]
out = []
with tf.Session() as sess:
    for n, t, f in tests:
        try: out.append((n, sess.run(t, f)))
        except tf.errors.OpError as e: out.append((n, type(e).__name__, e.op.type if e.op is not None else None, e.op.name if e.op is not None else None, e.error_code))
        except Exception as e: out.append((n, type(e).__name__))
result = out

# program: finalized graphs, closed sessions, wrong graphs
# compare: error ops values
g = tf.Graph(); out = []
with g.as_default():
    a = tf.constant(1, name="a"); v = tf.Variable(2.0); x = tf.placeholder(tf.float32); y = x * 2
    init = tf.global_variables_initializer()
g.finalize()
with g.as_default():
    out += [error(tf.constant, 1), error(lambda: a + 1), error(tf.Variable, 1), error(tf.global_variables_initializer), error(tf.gradients, y, x), error(g.add_to_collection, "c", 1), error(g.create_op, "NoOp", [], []), error(v.assign, 1.0), error(v.load, 3.0), g.finalized, error(tf.name_scope("s").__enter__), error(g.unique_name, "a")]
other = tf.constant(2, name="b")
out += [error(tf.add, a, other), error(lambda: a + other), error(tf.control_dependencies, [a]), error(tf.colocate_with, a), error(tf.gradients, y, other), error(tf.concat, [a, other], 0), error(tf.group, a, other), error(tf.assign, v, 1.0), error(tf.Session(graph=g).run, other)]
sess = tf.Session(graph=g)
sess.run(init)
out.append(sess.run([a, v, y], {x: 3}))
sess.close(); sess.close()
out += [error(sess.run, a), error(sess.list_devices), error(sess.make_callable, a), error(sess.partial_run_setup, [y], [x])]
s1 = tf.Session()
with s1: out.append(tf.get_default_session() is s1)
out += [tf.get_default_session() is None, error(s1.run, other), error(tf.Session, "nope://x"), error(tf.Session, graph=3), error(tf.Session, config=3), error(tf.Session, 3), error(other.eval)]
i = tf.InteractiveSession(); out.append(other.eval()); i.close(); out.append(error(other.eval))
out += [error(g.get_tensor_by_name, "a"), error(g.get_tensor_by_name, "a:1"), error(g.get_tensor_by_name, "zz:0"), error(g.get_operation_by_name, "a:0"), error(g.get_operation_by_name, "zz"), error(g.as_graph_element, 3), error(g.as_graph_element, other), error(g.as_graph_element, "a", False, False), error(g.get_tensor_by_name, 3), error(tf.Graph().as_graph_element, a), g.as_graph_element("a:0").name, error(g.as_graph_element, "b")]
with tf.Graph().as_default() as gg:
    out += [error(tf.reset_default_graph), len(gg.get_operations())]
result = out
