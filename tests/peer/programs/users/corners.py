# program: gradients of every kind of slicing, gathering and reshaping of a variable
# not in 2.21: ops
v = tf.Variable(np.arange(24, dtype=np.float32).reshape(2, 3, 4)); r = tf.Variable(np.arange(6, dtype=np.float32).reshape(3, 2), use_resource=True); i = tf.placeholder(tf.int32, [])
ys = [v[0], v[:, 1], v[..., ::2], v[i], v[tf.newaxis, 1:, :-1], tf.gather(v, [1, 0, 1]), tf.gather(v, [2, 0], axis=1), tf.gather_nd(v, [[0, 1], [1, 2]]), tf.reshape(v, [-1, 4]), tf.transpose(v, [2, 0, 1]), tf.tile(v, [1, 2, 1]), tf.pad(v, [[0, 0], [1, 0], [0, 2]]), tf.reverse(v, [1]), tf.unstack(v, axis=1)[2], tf.split(v, [1, 3], 2)[1], tf.concat([v, v * 2], 1), tf.stack([v, v]), tf.squeeze(v[:1], 0), tf.expand_dims(v, 1), tf.slice(v, [0, 1, 0], [2, 2, i]), tf.cumsum(v, 1, exclusive=True), tf.reduce_max(v, 1), tf.reduce_prod(v, [0, 2]), tf.reduce_min(v), tf.where(v > 5, v, -v), tf.maximum(v, 7.0), tf.clip_by_value(v, 3, 9), tf.matrix_band_part(v, 1, 0), tf.nn.top_k(v, 2)[0], tf.cast(tf.cast(v, tf.float64), tf.float32), tf.dynamic_stitch([[0], [1]], [v[:1], v[1:]]), tf.segment_sum(v, [0, 0]), tf.broadcast_to(v[:, :1], [2, 3, 4]), tf.roll(v, 1, 1), tf.einsum("abc,abd->acd", v, v), tf.space_to_depth(tf.reshape(v, [1, 2, 2, 6]), 2), tf.reverse_sequence(v, [1, 2], seq_axis=1), tf.boolean_mask(v, [True, False]), tf.meshgrid(v[0, 0], v[0, 1])[1], tf.reduce_logsumexp(v, -1), tf.norm(v, axis=1), tf.nn.moments(v, [0, 1])[1], tf.scatter_nd([[1], [0]], v, [3, 3, 4]), tf.tensordot(v, r, [[1], [0]]), tf.nn.embedding_lookup(r, [0, 2]), r[1], tf.gather(r, i), r.sparse_read([1, 1])]
grads = [tf.gradients(y, [v, r]) for y in ys]
flat = [g for gs in grads for g in gs if g is not None]
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    vals = [sess.run(tf.convert_to_tensor(g), {i: 1}) for g in flat]
result = vals, [[None if g is None else (type(g).__name__, g.shape if isinstance(g, tf.Tensor) else g.indices.shape) for g in gs] for gs in grads]

# program: control dependencies around variables of both kinds
# not in 2.21: ops
v = tf.Variable(1.0); r = tf.Variable(1.0, use_resource=True)
a = v.assign_add(1.0); b = r.assign_add(1.0)
with tf.control_dependencies([a, b]):
    c = tf.identity(r); d = r + 1; e = tf.constant(1.0); f = tf.no_op("after"); g = tf.placeholder(tf.float32); x = e * 2
    with tf.control_dependencies(None):
        h = tf.constant(2.0); w = tf.Variable(3.0)
    with tf.control_dependencies([f]):
        i = tf.add(e, x); j = tf.group(i, c)
    z = tf.Variable(4.0)
k = tf.tuple([c, d], control_inputs=[f]); l = tf.group(); m = tf.group(a, [b])
with tf.device("/cpu:0"), tf.colocate_with(v): n = tf.zeros([2])
with tf.control_dependencies([f, v, r]): o = tf.identity(n)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    out = [sess.run([c, d]), sess.run(k), sess.run(x), sess.run([v, r]), sess.run(j), sess.run([v, r])]
result = out, error(tf.control_dependencies, [1.0]), error(tf.control_dependencies, ["nope"]), [op.name for op in o.op.control_inputs]

# program: numbers of every dtype through the same small program
# not in 2.21: ops
out = []
for t in (tf.float32, tf.float64, tf.int32, tf.int64, tf.complex64, tf.complex128):
    x = tf.cast(tf.constant([1, 2, 3]), t)
    row = [t.name]
    for f in (lambda: x + x, lambda: x * 2, lambda: x - 1, lambda: x / x, lambda: x // x, lambda: x % 2, lambda: -x, lambda: x ** 2, lambda: abs(x), lambda: tf.reduce_sum(x), lambda: tf.reduce_mean(x), lambda: tf.reduce_max(x), lambda: tf.matmul([x], [x], transpose_b=True), lambda: x > 1, lambda: tf.equal(x, x), lambda: tf.square(x), lambda: tf.sqrt(x), lambda: tf.exp(x), lambda: tf.sign(x), lambda: tf.round(x), lambda: tf.maximum(x, x), lambda: tf.cumsum(x), lambda: tf.argmax(x), lambda: tf.one_hot([0, 1], 2, dtype=t), lambda: tf.range(tf.cast(0, t), tf.cast(3, t)), lambda: tf.nn.relu(x), lambda: tf.zeros([2], t), lambda: tf.ones_like(x), lambda: tf.cast(x, tf.float32), lambda: tf.concat([x, x], 0), lambda: tf.add_n([x, x]), lambda: tf.nn.softmax(x), lambda: tf.gradients(x * x, x)[0], lambda: tf.Variable(x).initial_value, lambda: tf.pow(x, x), lambda: tf.where([True, False, True], x, x), lambda: tf.gather(x, [0]), lambda: tf.clip_by_value(x, 1, 2), lambda: tf.unique(x)[0], lambda: tf.tile(x, [2]), lambda: tf.nn.bias_add([x], x), lambda: tf.reduce_prod(x), lambda: tf.squared_difference(x, x), lambda: tf.floor(x), lambda: tf.mod(x, x), lambda: tf.linspace(tf.cast(0, t), tf.cast(1, t), 3), lambda: tf.truediv(x, x), lambda: tf.random_uniform([2], maxval=5, dtype=t).dtype):
        try: row.append(f())
        except Exception as e: row.append(type(e).__name__)
    out.append(row)
result = [[(y.name, y.dtype.name, y.shape) if isinstance(y, tf.Tensor) else str(y) for y in row] for row in out]

# program: make_callable, options and metadata as people used them
# compare: error values
x = tf.placeholder(tf.float32, [2], name="x"); y = tf.placeholder(tf.float32); z = x * y; v = tf.Variable(1.0); inc = v.assign_add(1.0)
with tf.Session(config=tf.ConfigProto(intra_op_parallelism_threads=1, inter_op_parallelism_threads=1, log_device_placement=False, gpu_options=tf.GPUOptions(allow_growth=True))) as sess:
    sess.run(v.initializer)
    f = sess.make_callable(z, [x, y]); g = sess.make_callable([inc.op, v]); h = sess.make_callable({"a": z, "b": [x]}, feed_list=[x, y]); n = sess.make_callable(inc.op)
    out = [f([1, 2], 3.0), h([1, 2], 2.0), n(), error(f, [1, 2]), error(f, [1, 2, 3], 1.0), error(f, "a", 1.0), error(sess.make_callable, z, x), error(sess.make_callable, "nope"), error(sess.make_callable, z, ["x:1"]), error(sess.make_callable(z, [x]), [1., 2.])]
    sess.close()
    out += [error(f, [1, 2], 3.0)]
result = out

# program: nan and infinity in training, and checks for them
# not in 2.21: ops
x = tf.placeholder(tf.float32, [None])
v = tf.Variable([1.0, 0.0])
loss = tf.reduce_sum(tf.log(v) * x)
g = tf.gradients(loss, v)[0]
safe = tf.where(tf.is_nan(g), tf.zeros_like(g), g)
c, n = tf.clip_by_global_norm([g], 1.0, use_norm=tf.constant(1.0))
c2, n2 = tf.clip_by_global_norm([g, None, tf.IndexedSlices(tf.ones([1, 2]), tf.constant([0]))], 1.0)
chk = tf.check_numerics(loss, "loss"); ver = tf.verify_tensor_all_finite(g, "g"); fin = tf.is_finite(g); inf = tf.is_inf(g)
avg = tf.clip_by_average_norm(tf.constant([3., 4.]), 1.0); div = tf.div_no_nan([1., 2.], [0., 2.]); lse = tf.reduce_logsumexp([1e30, -1e30]); sg = tf.sigmoid([-1e4, 1e4]); sp = tf.nn.softplus([-200., 200.]); xe = tf.nn.sigmoid_cross_entropy_with_logits(labels=[0., 1.], logits=[1e4, -1e4]); smx = tf.nn.softmax([1e30, 1.0]); mx = tf.reduce_max([np.nan, 1.0]); am = tf.argmax([1.0, np.nan]); eq = tf.equal(np.nan, np.nan); rnd = tf.round([0.5, 1.5, -2.5]); it = tf.cast([np.float32(2.9), -2.9], tf.int32); md = tf.floormod([-7, 7], [3, -3]); fd = [-7 // tf.constant(2), tf.constant(-7.5) // 2.0, tf.truncatediv(-7, 2)]
with tf.Session() as sess:
    sess.run(v.initializer)
    f = {x: [1.0, 0.0]}
    result = [sess.run([g, safe, c, fin, inf, avg, div, lse, sg, sp, xe, smx, mx, eq, rnd, it, md, fd, n2], f), error(sess.run, chk, f), error(sess.run, ver, f), c2[1] is None, type(c2[2]).__name__, sess.run(c2[2], f)]

# program: pooling, normalization and upsampling corners with gradients
# not in 2.21: ops
rs = np.random.RandomState(9)
x = tf.placeholder(tf.float32, [2, 7, 6, 4])
ys = [tf.nn.max_pool(x, [1, 3, 2, 1], [1, 2, 2, 1], "SAME"), tf.nn.max_pool(x, [1, 3, 3, 1], [1, 2, 1, 1], "VALID"), tf.nn.avg_pool(x, [1, 3, 2, 1], [1, 2, 3, 1], "SAME"), tf.nn.avg_pool(x, [1, 2, 2, 1], [1, 2, 2, 1], "VALID"), tf.nn.lrn(x, 2, bias=2.0, alpha=0.1, beta=0.5), tf.nn.separable_conv2d(x, tf.ones([3, 3, 4, 2]) * .1, tf.ones([1, 1, 8, 3]) * .2, [1, 1, 1, 1], "SAME"), tf.nn.depthwise_conv2d(x, tf.ones([2, 2, 4, 1]), [1, 2, 2, 1], "VALID"), tf.nn.atrous_conv2d(x, tf.ones([2, 2, 4, 2]), 2, "SAME"), tf.nn.conv2d(x, tf.ones([3, 3, 4, 2]), [1, 2, 3, 1], "SAME"), tf.nn.conv2d(x, tf.ones([3, 2, 4, 2]), [1, 1, 2, 1], "VALID", dilations=[1, 1, 1, 1]), tf.nn.conv2d_transpose(x, tf.ones([3, 3, 2, 4]), [2, 14, 12, 2], [1, 2, 2, 1], "SAME"), tf.space_to_batch_nd(x[:, :6], [2, 2], [[0, 0], [0, 0]]), tf.depth_to_space(x, 2), tf.nn.pool(x, [2, 2], "AVG", "SAME"), tf.nn.convolution(x, tf.ones([2, 2, 4, 1]), "VALID", dilation_rate=[2, 1]), tf.nn.moments(x, [0, 1, 2])[1], tf.nn.l2_normalize(x, [1, 2]), tf.nn.fused_batch_norm(x, tf.ones([4]), tf.zeros([4]))[0], tf.nn.crelu(x), tf.nn.selu(x), tf.nn.elu(x), tf.nn.relu6(x * 5), tf.nn.leaky_relu(x), tf.nn.softsign(x), tf.nn.swish(x), tf.nn.conv1d(x[:, 0], tf.ones([2, 4, 3]), 1, "SAME"), tf.nn.max_pool_with_argmax(x, [1, 2, 2, 1], [1, 2, 2, 1], "SAME")[0]]
gs = [tf.gradients(y, x)[0] for y in ys]
w = tf.Variable(tf.ones([3, 3, 4, 2])); gw = tf.gradients([tf.nn.conv2d(x, w, [1, 2, 2, 1], "SAME"), tf.nn.conv2d(x, w, [1, 1, 2, 1], "VALID")], w)
with tf.Session() as sess:
    sess.run(w.initializer)
    f = {x: rs.randn(2, 7, 6, 4)}
    result = sess.run([ys, gs, gw], f), [y.shape for y in ys]

# program: graph collections travel in scopes of graphs, devices and attrs of nodes
# not in 2.21: ops
def on_ps(op):
    return "/job:ps/task:0" if op.type in ("VariableV2", "Variable", "VarHandleOp") else "/job:worker/task:1"
with tf.device(on_ps):
    v = tf.Variable([1.0], name="v"); r = tf.get_variable("r", [2], use_resource=True); y = v * 2.0
    with tf.device("/gpu:0"): z = y + 1.0
    with tf.device(None): q = y + 2.0
    with tf.device("/cpu:3"):
        with tf.device("/job:other"): s = tf.constant(1.0)
    opt = tf.train.MomentumOptimizer(0.1, 0.9).minimize(tf.reduce_sum(z), colocate_gradients_with_ops=True)
with tf.device("/job:a/replica:0/task:0/device:CPU:0"): t = tf.identity(q)
result = [o.device for o in (v, r, y, z, q, s, t)], opt.device, error(tf.device("nope").__enter__), error(tf.device("/cpu:x").__enter__), tf.DeviceSpec.from_string("/job:a/cpu:1").to_string(), error(tf.DeviceSpec.from_string, "/a:b:c:d")

# program: tensors, operations and shapes say what they are
# not in 2.21: ops
x = tf.placeholder(tf.float32, [None, 3], name="x"); y = tf.matmul(x, tf.ones([3, 2]), name="y"); u = tf.placeholder(tf.int32); v = tf.Variable([1.0], name="v"); s = tf.TensorShape([None, 3])
result = [str(t) for t in (x, y, u, v, y.op.type, x.dtype, s, x.shape, x.shape[0], x.get_shape().as_list(), v.op.name, tf.TensorShape(None), tf.Dimension(None), tf.Dimension(3))], [repr(t) for t in (x, u, v, s, x.dtype, x.shape[1], y.op)], [len(s), s[0].value, s[1].value, s.ndims, s.num_elements(), s.is_fully_defined(), s.merge_with([2, 3]).as_list(), s.concatenate([4]).as_list(), s.is_compatible_with([5, 3]), s[1:].as_list(), list(map(str, s)), s == [None, 3], s != [2, 3], bool(tf.TensorShape(None)), tf.TensorShape([2, 3]).num_elements(), tf.TensorShape([2]).assert_is_compatible_with([None])], [error(s.merge_with, [4, 4]), error(s.merge_with, [3]), error(tf.TensorShape(None).as_list), error(len, tf.TensorShape(None)), error(s.assert_has_rank, 3), error(s.assert_is_fully_defined), error(tf.TensorShape, "a"), error(tf.TensorShape, [-1]), error(s.with_rank, 1), error(tf.Dimension, -1), error(tf.Dimension, "a"), error(tf.Dimension(3).merge_with, 4), error(x.get_shape().__getitem__, 5)], [str(tf.Dimension(7) // 2), str(tf.Dimension(7) * None), str(2 + tf.Dimension(7)), str(tf.Dimension(7) % 4), tf.Dimension(3) == 3, (tf.Dimension(None) == 3) is None, tf.Dimension(2) < 3, int(tf.Dimension(4))], [x.consumers()[0].name, y.op.inputs[0].name, y.op.get_attr("transpose_a"), y.op.node_def.op, y.value_index, y.graph is tf.get_default_graph(), error(y.op.get_attr, "nope"), y.op.outputs[0].name, hash(x) == hash(x), x == x, x in [x], x == y]

# program: strings, decoding and formatting
# not in 2.21: ops
s = tf.placeholder(tf.string, [None]); one = tf.constant("hello")
ops = [tf.string_join(["a", one, "b"], "-"), tf.string_to_number(["1.5", "2e3"]), tf.string_to_number("7", tf.int32), tf.as_string([1, 2]), tf.as_string([1.5, 2.25], precision=2), tf.as_string(True), tf.equal(s, "b"), tf.not_equal(s, s), tf.concat([s, ["z"]], 0), tf.gather(s, [0, 0]), tf.stack([one, one]), tf.reshape(s, [1, -1]), tf.tile(["x"], [3]), tf.where([True, False], ["a", "b"], ["c", "d"]), tf.unique(s)[0], tf.shape(s), tf.size(s), tf.identity(s), tf.expand_dims(one, 0), s[1], s[::-1], tf.constant(["a", "bc"]), tf.constant(b"\xff\x00"), tf.constant(u"\u00fc"), tf.fill([2], "q"), tf.zeros([2], tf.string), tf.transpose([["a", "b"]]), tf.one_hot([0, 1], 2, on_value="y", off_value="n"), tf.split(["a", "b"], 2), tf.constant("x"), tf.py_func(lambda a: a + b"!", [one], tf.string), tf.reverse(["a", "b"], [0]), tf.boolean_mask(["a", "b"], [False, True]), tf.placeholder_with_default("d", [])]
with tf.Session() as sess:
    result = [sess.run(o, {s: ["a", u"b", b"\xfe"]}) for o in ops], [error(sess.run, tf.string_to_number(x)) for x in ("a", "", "1.5x")], [error(lambda: one + 1), error(tf.add, one, 1), error(tf.reduce_max, one), error(tf.less, one, "a"), error(tf.cast, one, tf.float32)]
