# program: gradients of a small polynomial
# not in 2.21: ops
x = tf.placeholder(tf.float32, [], name="x")
y = x * x * x + 2.0 * x
dy, = tf.gradients(y, x)
ddy, = tf.gradients(dy, x)
with tf.Session() as sess:
    result = sess.run([y, dy, ddy], {x: 3.0})

# program: gradients of a dense layer
# not in 2.21: ops
x = tf.placeholder(tf.float32, [None, 3], name="x")
w = tf.constant([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], name="w")
b = tf.constant([0.1, 0.2], name="b")
y = tf.nn.relu(tf.matmul(x, w) + b)
loss = tf.reduce_mean(tf.square(y))
grads = tf.gradients(loss, [w, b, x])
with tf.Session() as sess:
    result = sess.run(grads, {x: [[1.0, -2.0, 0.5], [0.3, 0.2, -0.1]]})

# program: gradients of elementwise functions
# not in 2.21: ops
x = tf.constant([0.3, 0.7, 1.4], name="x")
y = tf.constant([1.2, 0.4, 0.9], name="y")
functions = [tf.exp, tf.log, tf.sqrt, tf.rsqrt, tf.square, tf.tanh, tf.sigmoid, tf.abs, tf.negative, tf.reciprocal, tf.log1p, tf.sign, tf.floor,
             tf.nn.relu, tf.nn.softmax, tf.nn.log_softmax, tf.nn.l2_loss, tf.identity, tf.stop_gradient]
binary = [tf.add, tf.subtract, tf.multiply, tf.divide, tf.pow, tf.maximum, tf.minimum, tf.squared_difference, tf.div_no_nan]
grads = [tf.gradients(f(x), x)[0] for f in functions]
for f in binary:
    grads += tf.gradients(f(x, y), [x, y])
with tf.Session() as sess:
    result = [None if g is None else sess.run(g) for g in grads]

# program: gradients with broadcasting and reductions
# not in 2.21: ops
x = tf.placeholder(tf.float32, [2, 3], name="x")
b = tf.placeholder(tf.float32, [3], name="b")
s = tf.placeholder(tf.float32, [], name="s")
outs = [x + b, x * b, x - s, x / b, tf.maximum(x, s), tf.reduce_sum(x * b), tf.reduce_mean(x, 0), tf.reduce_max(x, 1), tf.reduce_min(x), tf.reduce_prod(x, 1), tf.reduce_sum(x, [0, 1], keepdims=True)]
grads = []
for out in outs:
    grads += tf.gradients(out, [x, b, s])
feed = {x: [[1.0, 2.0, 3.0], [4.0, 5.0, -6.0]], b: [0.5, 1.5, 2.5], s: 2.0}
with tf.Session() as sess:
    result = [None if g is None else sess.run(g, feed) for g in grads]

# program: gradients of array functions
# not in 2.21: ops
x = tf.placeholder(tf.float32, [4, 3], name="x")
outs = [tf.reshape(x, [-1]), tf.transpose(x), tf.concat([x, 2.0 * x], 1), tf.split(x, 2)[1], tf.split(x, [1, 2], 1)[1], tf.stack([x, x * 3.0]), tf.unstack(x)[2],
        tf.slice(x, [1, 0], [2, 2]), x[1:3, 0], x[::2, ::-1], tf.tile(x, [2, 1]), tf.pad(x, [[1, 0], [0, 2]]), tf.gather(x, [0, 2, 0]), tf.expand_dims(x, 0),
        tf.squeeze(tf.expand_dims(x, 0)), tf.where(x > 0.0, x, 2.0 * x), tf.nn.top_k(x, 2)[0], tf.cast(tf.cast(x, tf.float64) * 2.0, tf.float32), tf.add_n([x, x, x]), tf.broadcast_to(x, [2, 4, 3])]
grads = [tf.gradients(out * out, x)[0] for out in outs]
with tf.Session() as sess:
    feed = {x: np.linspace(-1.0, 1.2, 12).reshape(4, 3)}
    result = [sess.run(tf.convert_to_tensor(g), feed) for g in grads]

# program: arguments of tf.gradients
# not in 2.21: ops values
x = tf.placeholder(tf.float32, [2], name="x")
y = tf.placeholder(tf.float32, [2], name="y")
a = x * y
b = tf.stop_gradient(a) + x
z = tf.constant([1.0, 2.0], name="z")
out = [
    tf.gradients([a, b], [x, y]), tf.gradients(a, [x, y], grad_ys=[z]), tf.gradients(a, [x, z]),
    tf.gradients(a, [x, z], unconnected_gradients="zero"), tf.gradients(a * x, [x, y], stop_gradients=[a]),
    tf.gradients(a, x, name="mine"), tf.gradients(a, a), tf.gradients(a, [x], aggregation_method=tf.AggregationMethod.EXPERIMENTAL_TREE),
    tf.gradients(a + a * x, x, aggregation_method=tf.AggregationMethod.EXPERIMENTAL_ACCUMULATE_N), tf.gradients(a, x, gate_gradients=True),
    tf.gradients(a, x, colocate_gradients_with_ops=True),
]
flat = [[None if g is None else g.name for g in grads] for grads in out]
result = [flat, error(tf.gradients, a, "x"), error(tf.gradients, tf.constant(1), x), error(tf.gradients, a, x, grad_ys=[z, z]),
          error(tf.gradients, a, x, grad_ys=[1]), error(tf.gradients, tf.cast(x, tf.int32), x)]

# program: gradient of a function of an integer path
# not in 2.21: ops
x = tf.placeholder(tf.float32, [3], name="x")
i = tf.cast(x, tf.int32)
y = tf.cast(i, tf.float32) * x
g = tf.gradients(y, x)
h = tf.gradients(tf.argmax(x), x)
result = [g[0].name, h]

# program: aggregated gradients of a value used many times
# not in 2.21: ops
x = tf.placeholder(tf.float32, [2], name="x")
y = tf.identity(x)
for i in range(5):
    y = y * x + float(i)
loss = tf.reduce_sum(y)
g, = tf.gradients(loss, x)
with tf.Session() as sess:
    result = sess.run([loss, g], {x: [0.5, 1.5]})

# program: IndexedSlices from gather and embedding_lookup
# not in 2.21: ops
table = tf.get_variable("table", initializer=np.arange(12, dtype=np.float32).reshape(6, 2))
ids = tf.placeholder(tf.int32, [3], name="ids")
rows = tf.nn.embedding_lookup(table, ids)
more = tf.gather(table, [0, 0])
loss = tf.reduce_sum(rows * rows) + tf.reduce_sum(more)
g, = tf.gradients(loss, table)
dense = tf.convert_to_tensor(g)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    result = [type(g).__name__, sess.run(g, {ids: [1, 1, 4]}), sess.run(dense, {ids: [1, 1, 4]})]

# program: sparse updates of an embedding with resource variables
# not in 2.21: ops
table = tf.get_variable("table", initializer=np.ones([5, 2], np.float32), use_resource=True)
ids = tf.constant([1, 3, 1])
rows = tf.nn.embedding_lookup(table, ids)
train = tf.train.GradientDescentOptimizer(0.5).minimize(tf.reduce_sum(rows * rows))
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    sess.run(train)
    result = sess.run(table)

# program: custom gradients
# not in 2.21: ops
@tf.RegisterGradient("ProgramTriple")
def triple(op, grad):
    return 3.0 * grad
g = tf.get_default_graph()
x = tf.placeholder(tf.float32, [], name="x")
with g.gradient_override_map({"Identity": "ProgramTriple"}):
    y = tf.identity(x, name="overridden")
@tf.custom_gradient
def clipped(v):
    def grad(dy):
        return tf.clip_by_value(dy, -1.0, 1.0)
    return v * v, grad
z = clipped(x) * 5.0
with tf.Session() as sess:
    result = sess.run([tf.gradients(y, x)[0], tf.gradients(z, x)[0]], {x: 2.0})

# program: registering a gradient twice and asking for one that is not there
# not in 2.21: ops
def register():
    @tf.RegisterGradient("ProgramTwice")
    def once(op, grad):
        return grad
register()
x = tf.placeholder(tf.float32, [2], name="x")
def no_gradient():
    with tf.get_default_graph().gradient_override_map({"Identity": "ProgramAbsent"}):
        return tf.gradients(tf.identity(x), x)
tf.NotDifferentiable("ProgramNothing")
result = [error(register), error(no_gradient), error(tf.RegisterGradient, 5), error(lambda: tf.get_default_graph().gradient_override_map({"A": 1}).__enter__())]

# program: hessians and a jacobian row by row
# compare: error values
x = tf.placeholder(tf.float32, [3], name="x")
y = tf.stack([x[0] * x[1], x[1] * x[2], tf.reduce_sum(tf.square(x))])
rows = [tf.gradients(y[i], x)[0] for i in range(3)]
jacobian = tf.stack([tf.convert_to_tensor(r) for r in rows])
h = tf.hessians(tf.reduce_sum(x * x * x), x)[0]
with tf.Session() as sess:
    result = sess.run([jacobian, h], {x: [1.0, 2.0, 3.0]})

# program: convolution, pooling and batch norm gradients
# not in 2.21: ops
x = tf.placeholder(tf.float32, [2, 5, 5, 2], name="x")
w = tf.constant(np.linspace(-1, 1, 3 * 3 * 2 * 4).reshape(3, 3, 2, 4), tf.float32, name="w")
scale = tf.constant([1.0, 2.0, 0.5, 1.5])
offset = tf.constant([0.0, 0.1, 0.2, 0.3])
c = tf.nn.conv2d(x, w, strides=[1, 2, 2, 1], padding="SAME")
v = tf.nn.conv2d(x, w, strides=[1, 1, 1, 1], padding="VALID")
n, mean, var = tf.nn.fused_batch_norm(v, scale, offset)
p = tf.nn.max_pool(v, [1, 2, 2, 1], [1, 1, 1, 1], "SAME")
q = tf.nn.avg_pool(v, [1, 2, 2, 1], [1, 2, 2, 1], "SAME")
b = tf.nn.bias_add(c, offset)
loss = sum(tf.reduce_sum(t * t) for t in (c, n, p, q, b))
grads = tf.gradients(loss, [x, w, scale, offset])
feed = {x: np.sin(np.arange(100.0)).reshape(2, 5, 5, 2)}
with tf.Session() as sess:
    result = sess.run([c, v, n, mean, var, p, q, b], feed), sess.run(grads, feed)

# program: custom gradients in functions and in graphs that are imported
# not in 2.21
import importlib, itertools
numbers = itertools.count()
Defun = importlib.import_module(tf.__name__ + ".python.framework.function").Defun
@tf.RegisterGradient("ProgramHalf")
def half(op, grad):
    return grad * 0.5
def overridden():
    return tf.get_default_graph().gradient_override_map({"Square": "ProgramHalf"})
def square(x):
    return tf.square(x) * 2.0
def overridden_square(x):
    with overridden():
        return square(x)
@tf.custom_gradient
def custom(x):
    return tf.square(x), lambda dy: dy * 100.0
def of_defun(body, **options):
    return lambda x: Defun(tf.float32, func_name="body%d" % next(numbers), **options)(body)(x)
def of_function(body):
    return lambda x: tf.function(body, autograph=False)(x)
def around(f):
    def call(x):
        with overridden():
            return f(x)
    return call
def in_branch(x):
    with overridden():
        return tf.cond(x[0] > 0.0, lambda: square(x), lambda: x)
tenfold = of_defun(square, python_grad_func=lambda op, dy: dy * 10.0)
cases = [("defun", of_defun(overridden_square)), ("function", of_function(overridden_square)),
         ("around defun", around(of_defun(square))), ("around function", around(of_function(square))),
         ("branch", in_branch), ("function of a branch", of_function(in_branch)),
         ("defun of custom", of_defun(lambda x: custom(x))), ("function of custom", of_function(lambda x: custom(x))),
         ("defun in function", of_function(of_defun(overridden_square))), ("defun in defun", of_defun(of_defun(overridden_square))),
         ("python gradient", tenfold), ("python gradient in function", of_function(tenfold)), ("python gradient in defun", of_defun(tenfold)),
         ("custom", lambda x: custom(x))]
result = []
for name, build in cases:
    graph = tf.Graph()
    with graph.as_default(), tf.Session() as sess:
        x = tf.placeholder(tf.float32, [2], name="x")
        y = build(x)
        result.append((name, sess.run([y, tf.gradients(y, x)[0]], {x: [1.0, 2.0]})))
for name, build in cases:
    if name in ("custom", "function", "function of custom", "python gradient in function"):
        continue
    graph = tf.Graph()
    with graph.as_default():
        x = tf.placeholder(tf.float32, [2], name="x")
        name_of_y = build(x).name
    with tf.Graph().as_default(), tf.Session() as sess:
        x, y = tf.import_graph_def(graph.as_graph_def(), return_elements=["x:0", name_of_y], name="")
        result.append(("imported " + name, sess.run(tf.gradients(y, x)[0], {x: [1.0, 2.0]})))
