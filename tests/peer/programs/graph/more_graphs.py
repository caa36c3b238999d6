# program: get_variable inside name scopes and reused scopes
with tf.name_scope("outer"):
    with tf.variable_scope("vs") as vs:
        a = tf.get_variable("a", [1], initializer=tf.zeros_initializer())
        with tf.name_scope("inner"):
            b = tf.get_variable("b", [2], initializer=tf.zeros_initializer())
            c = b + 1.0
with tf.variable_scope(vs, reuse=True):
    d = tf.get_variable("a", [1])
    e = d * 2.0
with tf.variable_scope("vs/b") as deep:
    f = tf.get_variable("x", [1], initializer=tf.zeros_initializer())
with tf.variable_scope("", reuse=tf.AUTO_REUSE):
    g = tf.get_variable("vs/a", [1])
result = [v.name for v in (a, b, c, d, e, f, g)], vs.name, vs.original_name_scope, deep.name, d is a, g is a

# program: default scopes of layers made again and again
def layer(x, n):
    with tf.variable_scope(None, "fc", [x]) as scope:
        w = tf.get_variable("w", [x.shape[1], n], initializer=tf.ones_initializer())
        return tf.nn.relu(tf.matmul(x, w), name="out"), scope.name
x = tf.placeholder(tf.float32, [2, 3])
names = []
for n in (4, 4, 5):
    x, name = layer(x, n)
    names.append(name)
with tf.variable_scope("sub"):
    x, name = layer(x, 2)
    names.append(name)
    x, name = layer(x, 2)
    names.append(name)
result = names, [v.op.name for v in tf.trainable_variables()], x.name

# program: variable_scope settings inherited and overridden
with tf.variable_scope("a", initializer=tf.constant_initializer(3.0), dtype=tf.float64):
    x = tf.get_variable("x", [2])
    with tf.variable_scope("b", initializer=tf.ones_initializer()):
        y = tf.get_variable("y", [2])
        z = tf.get_variable("z", [2], dtype=tf.float32, initializer=tf.zeros_initializer())
scope = tf.get_variable_scope()
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    result = sess.run([x, y, z]), scope.name, scope.reuse, x.dtype, scope.initializer is None

# program: custom getters nest
def outer(getter, name, *args, **kwargs):
    kwargs["trainable"] = False
    return getter(name + "_o", *args, **kwargs)
def inner(getter, name, *args, **kwargs):
    return tf.identity(getter(name + "_i", *args, **kwargs), name=name + "_id")
with tf.variable_scope("s", custom_getter=outer):
    with tf.variable_scope("t", custom_getter=inner):
        v = tf.get_variable("v", [1], initializer=tf.ones_initializer())
result = v.name, [w.name for w in tf.global_variables()], [w.name for w in tf.trainable_variables()]

# program: partitioned variables by several partitioners
with tf.variable_scope("p", partitioner=tf.fixed_size_partitioner(3)):
    a = tf.get_variable("a", [7, 2], initializer=tf.constant_initializer(np.arange(14.0).reshape(7, 2)) if False else tf.ones_initializer())
with tf.variable_scope("q", partitioner=tf.variable_axis_size_partitioner(32)):
    b = tf.get_variable("b", [8, 4], initializer=tf.zeros_initializer())
with tf.variable_scope("r", partitioner=tf.min_max_variable_partitioner(max_partitions=2, min_slice_size=8)):
    c = tf.get_variable("c", [8, 4], initializer=tf.zeros_initializer())
loss = tf.reduce_sum(tf.matmul(tf.ones([1, 7]), a))
looked = tf.nn.embedding_lookup(a, [0, 6, 3], partition_strategy="div")
result = [v.name for v in tf.global_variables()], [v.get_shape() for v in list(a) + list(b) + list(c)], looked.get_shape(), len(list(a))

# program: gradients under name scopes and twice
# not in 2.21: ops
x = tf.placeholder(tf.float32, [3], name="x")
with tf.name_scope("f"):
    y = tf.reduce_sum(tf.exp(x) * tf.sin(x))
with tf.name_scope("g1"):
    a = tf.gradients(y, x)[0]
b = tf.gradients(y, x)[0]
c = tf.gradients(b, x, name="second")[0]
with tf.Session() as sess:
    result = sess.run([a, b, c], {x: [0.1, 0.2, 0.3]})

# program: colocated gradients
# not in 2.21: ops values
with tf.device("/cpu:0"):
    x = tf.Variable([1.0, 2.0], name="x")
y = tf.reduce_sum(x * x)
g = tf.gradients(y, x, colocate_gradients_with_ops=True)[0]
result = [(op.name, sorted(c.decode() for c in op.colocation_groups())) for op in tf.get_default_graph().get_operations() if "gradients" in op.name]

# program: optimizer inside scopes
# not in 2.21: ops
with tf.variable_scope("model"):
    w = tf.get_variable("w", initializer=[1.0, 2.0])
    loss = tf.reduce_sum(w * w)
with tf.variable_scope("opt"):
    with tf.name_scope("train"):
        a = tf.train.AdamOptimizer(0.1, name="A").minimize(loss)
with tf.name_scope("other"):
    b = tf.train.MomentumOptimizer(0.1, 0.9).minimize(loss)
result = a.name, b.name, [v.name for v in tf.global_variables()]

# program: two optimizers of one kind over the same variables
# not in 2.21: ops
w = tf.get_variable("w", initializer=[1.0, 2.0])
a = tf.train.AdamOptimizer(0.1).minimize(tf.reduce_sum(w * w))
b = tf.train.AdamOptimizer(0.1).minimize(tf.reduce_sum(w * 3.0))
c = tf.train.GradientDescentOptimizer(0.1).minimize(tf.reduce_sum(w))
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    sess.run([a])
    sess.run([b])
    sess.run(c)
    result = sess.run(w), [v.name for v in tf.global_variables()], a.name, b.name, c.name

# program: random ops and their nodes
# not in 2.21: ops values
tf.set_random_seed(3)
parts = [tf.random_uniform([2, 3], -1.0, 1.0), tf.random_uniform([4], maxval=5, dtype=tf.int64), tf.random_normal([2], 1.0, 2.0), tf.truncated_normal([3], stddev=0.1, name="tn"), tf.random_shuffle([1, 2, 3]), tf.random.normal([1], dtype=tf.float64), tf.random.uniform(tf.shape(tf.zeros([2, 2])))]
result = [p.get_shape() for p in parts], [p.name for p in parts], [p.dtype.name for p in parts]

# program: identity and friends
x = tf.placeholder(tf.float32, [None, 3], name="x")
parts = [tf.identity(x), tf.stop_gradient(x), tf.identity_n([x, x])[1], tf.placeholder_with_default([[1.0, 2.0, 3.0]], [None, 3]), tf.convert_to_tensor(x), tf.ones_like(x, dtype=tf.int32), tf.zeros_like(x, optimize=False), tf.check_numerics(x, "bad") if hasattr(tf, "check_numerics") else x]
with tf.Session() as sess:
    result = sess.run(parts, {x: [[1.0, 2.0, 3.0]]})

# program: list arguments and keyword spellings
# not in 2.21: ops
x = tf.constant([[1.0, 2.0], [3.0, 4.0]], name="x")
parts = [tf.reduce_sum(input_tensor=x, axis=1, keepdims=True), tf.concat(values=[x, x], axis=1), tf.stack(values=[x, x], axis=2), tf.split(value=x, num_or_size_splits=2, axis=0)[0], tf.matmul(a=x, b=x, transpose_a=True), tf.reshape(tensor=x, shape=[4]), tf.expand_dims(input=x, axis=0), tf.expand_dims(x, dim=0), tf.squeeze(input=tf.expand_dims(x, 0), squeeze_dims=[0]), tf.transpose(a=x, perm=[1, 0]), tf.gather(params=x, indices=[0], axis=1), tf.argmax(input=x, dimension=1), tf.argmax(x, axis=0, output_type=tf.int32), tf.cast(x=x, dtype=tf.int32), tf.to_float(tf.constant(1)), tf.to_int32(1.7), tf.nn.softmax(logits=x, dim=0), tf.where(condition=x > 2, x=x, y=-x), tf.tile(input=x, multiples=[1, 2]), tf.one_hot(indices=[0, 1], depth=2), tf.pad(tensor=x, paddings=[[1, 0], [0, 1]], mode="CONSTANT"), tf.range(start=1, limit=4, delta=1), tf.fill(dims=[2], value=3), tf.slice(input_=x, begin=[0, 0], size=[1, 2]), tf.unstack(value=x, num=2, axis=0)[1], tf.clip_by_value(t=x, clip_value_min=2.0, clip_value_max=3.0), tf.nn.top_k(input=x, k=1, sorted=True)[0], tf.add_n(inputs=[x, x]), tf.reduce_max(x, reduction_indices=[0], keep_dims=True)]
with tf.Session() as sess:
    result = sess.run(parts)

# program: math module names
# not in 2.21: ops
x = tf.constant([0.5, 1.5, -0.5], name="x")
i = tf.constant([3, 5, 7], name="i")
parts = [tf.math.add(x, 1.0), tf.math.abs(x), tf.math.exp(x), tf.math.log(tf.abs(x)), tf.math.sqrt(tf.abs(x)), tf.math.square(x), tf.math.tanh(x), tf.math.sigmoid(x), tf.math.pow(x, 2.0), tf.math.maximum(x, 0.0), tf.math.floor(x), tf.math.ceil(x), tf.math.round(x), tf.math.sign(x), tf.math.reduce_sum(x), tf.math.reduce_mean(x), tf.math.argmax(x), tf.math.cumsum(x), tf.math.divide(x, 2.0), tf.math.subtract(x, 1.0), tf.math.multiply(x, x), tf.math.floormod(i, 2), tf.math.floordiv(i, 2), tf.math.equal(i, 3), tf.math.logical_and([True], [False]), tf.math.logical_not([True]), tf.math.logical_or([True], [False]), tf.math.logical_xor([True], [True]), tf.math.softplus(x), tf.math.rsqrt(tf.abs(x)), tf.math.erf(x), tf.math.is_nan(x), tf.math.is_inf(x), tf.math.log1p(tf.abs(x)), tf.math.expm1(x), tf.math.squared_difference(x, 1.0), tf.math.reciprocal(x), tf.math.negative(x), tf.math.greater(x, 0.0), tf.math.less_equal(x, 0.5), tf.math.top_k(x, 2)[1], tf.math.unsorted_segment_sum(x, [0, 1, 0], 2), tf.math.segment_sum(x, [0, 0, 1]), tf.math.l2_normalize(x), tf.math.reduce_std(x), tf.math.reduce_variance(x), tf.math.reduce_logsumexp(x), tf.math.truediv(i, 2), tf.math.atan2(x, 1.0), tf.math.sin(x), tf.math.cos(x), tf.math.lgamma(tf.abs(x)), tf.math.cumprod(x), tf.math.accumulate_n([x, x]), tf.math.bincount(i), tf.math.in_top_k([[0.1, 0.9]], [1], 1), tf.math.mod(i, 4), tf.math.scalar_mul(2.0, x), tf.math.add_n([x, x]), tf.math.invert_permutation([1, 0]), tf.math.count_nonzero(x)]
with tf.Session() as sess:
    result = sess.run(parts)

# program: nn module names
# not in 2.21: ops
x = tf.constant([[0.5, -1.5, 2.5]], name="x")
parts = [tf.nn.relu6(x), tf.nn.elu(x), tf.nn.selu(x), tf.nn.leaky_relu(x), tf.nn.softplus(x), tf.nn.softsign(x), tf.nn.crelu(x), tf.nn.l2_normalize(x, 1), tf.nn.moments(x, [1]), tf.nn.in_top_k(x, [2], 1), tf.nn.bias_add(x, [1.0, 2.0, 3.0]), tf.nn.xw_plus_b(x, tf.ones([3, 2]), [1.0, 2.0]), tf.nn.embedding_lookup(x, [0, 0]), tf.nn.relu_layer(x, tf.ones([3, 2]), [0.0, -9.0]), tf.nn.weighted_cross_entropy_with_logits(targets=tf.ones([1, 3]), logits=x, pos_weight=2.0), tf.nn.log_softmax(x, axis=0), tf.nn.sigmoid(x), tf.nn.tanh(x), tf.nn.local_response_normalization(tf.ones([1, 2, 2, 4])), tf.nn.depthwise_conv2d(tf.ones([1, 3, 3, 2]), tf.ones([2, 2, 2, 2]), [1, 1, 1, 1], "VALID"), tf.nn.conv1d(tf.ones([1, 5, 2]), tf.ones([3, 2, 4]), 1, "SAME"), tf.nn.max_pool2d(tf.ones([1, 4, 4, 1]), 2, 2, "VALID"), tf.nn.avg_pool2d(tf.ones([1, 4, 4, 1]), 2, 2, "SAME"), tf.nn.swish(x)]
with tf.Session() as sess:
    result = sess.run(parts)

# program: stacks of control dependencies over variables
v = tf.get_variable("v", initializer=1.0)
out = []
with tf.control_dependencies([v.assign(2.0)]):
    out.append(tf.identity(v, name="r1"))
    with tf.control_dependencies([v.assign_add(3.0)]):
        out.append(tf.identity(v.read_value(), name="r2"))
    out.append(tf.constant(1.0))
late = tf.group(*out)
with tf.control_dependencies(out):
    done = tf.no_op("done")
result = [(op.name, sorted(c.name for c in op.control_inputs)) for op in tf.get_default_graph().get_operations()]

# program: as_graph_def keeps nodes, devices and attrs
# not in 2.21: ops values
with tf.device("/cpu:0"):
    x = tf.placeholder(tf.float32, [None, 2], name="x")
    y = tf.nn.conv2d(tf.reshape(x, [-1, 1, 2, 1]), tf.ones([1, 1, 1, 3]), [1, 1, 1, 1], "SAME", name="conv")
z = tf.reduce_sum(y, [1, 2], keepdims=True, name="sum")
q = tf.FIFOQueue(5, [tf.float32, tf.int32], shapes=[[2], []], shared_name="shared", name="q")
graph_def = tf.get_default_graph().as_graph_def()
def value(attr):
    kind = attr.WhichOneof("value")
    return kind if kind in ("tensor", "list", "shape") else str(getattr(attr, kind))
result = [(n.name, n.op, list(n.input), n.device, sorted((k, value(a)) for k, a in n.attr.items())) for n in graph_def.node], graph_def.versions.producer

# program: import with control inputs, colocation and devices
# not in 2.21: ops
source = tf.Graph()
with source.as_default():
    with tf.device("/cpu:0"):
        a = tf.constant(1.0, name="a")
    with tf.control_dependencies([a]), tf.colocate_with(a):
        b = tf.constant(2.0, name="b")
    c = tf.add(a, b, name="c")
with tf.device("/job:worker"):
    tf.import_graph_def(source.as_graph_def(), name="in")
with tf.control_dependencies([tf.no_op(name="before")]):
    tf.import_graph_def(source.as_graph_def(), name="late")
tf.import_graph_def(source.as_graph_def(), name="mapped", input_map={"a:0": tf.constant(7.0, name="instead")})
ops = tf.get_default_graph().get_operations()
result = [(op.name, op.device, sorted(c.name for c in op.control_inputs), sorted(g.decode() for g in op.colocation_groups())) for op in ops]

# program: extract and strip graphs
x = tf.placeholder(tf.float32, [2], name="x")
y = tf.identity(tf.exp(x, name="e"), name="y")
z = tf.sin(x, name="z")
sub = tf.graph_util.extract_sub_graph(tf.get_default_graph().as_graph_def(), ["y"])
stripped = tf.graph_util.remove_training_nodes(sub)
result = [n.name for n in sub.node], [n.name for n in stripped.node], error(tf.graph_util.extract_sub_graph, sub, ["nope"]), error(tf.graph_util.extract_sub_graph, sub, "y")
