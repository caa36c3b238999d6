# program: a cond of classic nodes
# not in 2.21: ops
tf.disable_control_flow_v2()
x = tf.placeholder(tf.float32, [None, 3], name="x")
p = tf.placeholder(tf.bool, [], name="p")
v = tf.get_variable("v", initializer=2.0)
r = tf.get_variable("r", initializer=3.0, use_resource=True)
y = tf.cond(p, lambda: x * v + r, lambda: tf.sin(x))
z = tf.cond(p, lambda: {"a": x, "b": [tf.constant(1), 2]}, lambda: {"a": x + 1.0, "b": [tf.constant(3), 4]}, name="dict")
n = tf.cond(tf.logical_not(p), lambda: tf.no_op(), lambda: v.assign_add(1.0).op)
g = tf.gradients(y, [x, v, r])
contexts = [[c.name, c.pred.name, c.pivot.name, c.branch, sorted(c._values)] for c in tf.get_collection(tf.GraphKeys.COND_CONTEXT)]
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    feeds = [{x: np.ones([2, 3], np.float32), p: b} for b in (True, False)]
    result = [contexts, y.name, z, n.name, [sess.run([y, z] + g, f) for f in feeds], sess.run("cond/Merge:0", feeds[0])]

# program: a loop of classic nodes
# not in 2.21: ops values
tf.disable_control_flow_v2()
x = tf.placeholder(tf.float32, [None, 3], name="x")
w = tf.get_variable("w", initializer=np.eye(3, dtype=np.float32), use_resource=True)
i, y = tf.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, tf.tanh(tf.matmul(y, w)) + x), [0, x], swap_memory=True, parallel_iterations=3)
k = tf.while_loop(lambda i: i < 10, lambda i: i + 2, [tf.constant(0)], maximum_iterations=3, name="limited")
s = tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, tf.concat([a, a], 0)), [0, tf.ones([2])], shape_invariants=[tf.TensorShape([]), tf.TensorShape([None])])
g = tf.gradients(y, [x, w])
contexts = [[c.name, c.pivot.name, [t.name for t in c.loop_enters], [t.name for t in c.loop_exits], sorted(c._values), c.swap_memory, c.parallel_iterations, c.back_prop] for c in tf.get_collection(tf.GraphKeys.WHILE_CONTEXT)]
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    result = [contexts, y, k, s, sess.run([i, y, k, s] + g, {x: [[.1, .2, .3]]}), sess.run(["while/Exit:0", "limited/Exit_1:0"], {x: [[.1, .2, .3]]})]

# program: nested classic loops and conds with gradients
# not in 2.21: ops
tf.disable_control_flow_v2()
x = tf.placeholder(tf.float32, [2], name="x")
v = tf.get_variable("v", initializer=.5)
def inner(a):
    return tf.while_loop(lambda j, b: j < 2, lambda j, b: (j + 1, tf.cond(b[0] > 1., lambda: b * v, lambda: b + x)), [0, a])[1]
_, y = tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, tf.cond(i > 1, lambda: inner(a), lambda: a * a)), [0, x])
g = tf.gradients(y, [x, v], colocate_gradients_with_ops=True)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    result = [sess.run([y] + g, {x: q}) for q in ([.3, 2.], [1.3, .2])]

# program: scan, map_fn, foldl and arrays of classic nodes
# not in 2.21: ops values
tf.disable_control_flow_v2()
x = tf.placeholder(tf.float32, [None, 2], name="x")
m = tf.map_fn(lambda r: (r * 2., tf.reduce_sum(r)), x, dtype=(tf.float32, tf.float32))
s = tf.scan(lambda a, r: a * .5 + r, x)
t = tf.scan(lambda a, r: [a[0] + r, a[1] * 2], x, initializer=[tf.zeros([2]), 1], reverse=True)
f = tf.foldl(lambda a, r: a + tf.reduce_sum(r), x, initializer=0.0)
h = tf.foldr(lambda a, r: a - r, x)
g = tf.gradients([m[0], s, f], x)
with tf.Session() as sess:
    result = [m, s, t, f, h, sess.run([m, s, t, f, h, g], {x: [[1., 2.], [3., 4.], [5., 6.]]})]

# program: classic control dependencies, devices and colocation in bodies
# not in 2.21: ops
tf.disable_control_flow_v2()
p = tf.placeholder(tf.bool, [], name="p")
v = tf.get_variable("v", initializer=1.0)
outside = tf.constant(3.0, name="outside")
def body(i, a):
    with tf.control_dependencies([outside, i]):
        b = tf.constant(1.0, name="inside")
        with tf.device("/cpu:0"):
            c = tf.identity(a, name="placed")
    with tf.control_dependencies(None):
        free = tf.constant(2.0, name="free")
    with tf.colocate_with(a):
        return i + 1, b + c * free
with tf.control_dependencies([outside]):
    _, y = tf.while_loop(lambda i, a: i < 2, body, [0, v])
    def branch():
        with tf.control_dependencies([y]):
            return tf.constant(5.0)
    z = tf.cond(p, branch, lambda: y)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    result = [sess.run([y, z], {p: b}) for b in (True, False)]

# program: sparse values and rows through classic nodes
# not in 2.21: ops values
import warnings
warnings.simplefilter("ignore")  # the gradient becomes dense
tf.disable_control_flow_v2()
p = tf.placeholder(tf.bool, [], name="p")
sp = tf.SparseTensor([[0, 0], [1, 2]], [1., 2.], [3, 4])
rows = lambda k, dtype=tf.int32: tf.IndexedSlices(tf.ones([1, 2]) * k, tf.constant([1], dtype), tf.constant([4, 2]))
a = tf.cond(p, lambda: sp, lambda: tf.SparseTensor([[2, 1]], [5.], [3, 4]))
b = tf.cond(p, lambda: rows(1.), lambda: rows(2., tf.int64))
_, c = tf.while_loop(lambda i, s: i < 2, lambda i, s: (i + 1, tf.SparseTensor(s.indices, s.values * 2., s.dense_shape)), [0, sp])
_, d = tf.while_loop(lambda i, s: i < 2, lambda i, s: (i + 1, tf.IndexedSlices(s.values * 2., s.indices, s.dense_shape)), [0, rows(3.)])
e = tf.get_variable("e", initializer=np.ones([4, 2], np.float32))
g = tf.gradients(tf.cond(p, lambda: tf.gather(e, [1, 2]), lambda: tf.gather(e, [0])), e)[0]
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    result = [[sess.run(tf.sparse.to_dense(a), {p: q}), sess.run([b.values, b.indices, d.values, d.indices], {p: q}), sess.run(tf.sparse.to_dense(c)), sess.run(tf.convert_to_tensor(g), {p: q})] for q in (True, False)]

# program: case, assertions and recurrent networks of classic nodes
# not in 2.21: ops values
tf.disable_control_flow_v2()
x = tf.placeholder(tf.float32, [2, None, 3], name="x")
a = tf.case([(tf.shape(x)[1] < 2, lambda: x * 2.), (tf.shape(x)[1] > 5, lambda: x * 3.)], exclusive=True)
with tf.control_dependencies([tf.Assert(tf.reduce_sum(x) > 0., [x, "sum"])]):
    b = tf.identity(x)
cell = tf.nn.rnn_cell.GRUCell(4, kernel_initializer=tf.ones_initializer())
out, state = tf.nn.dynamic_rnn(cell, b, sequence_length=[1, 2], dtype=tf.float32)
g = tf.gradients(tf.reduce_sum(out) + tf.reduce_sum(state), [x] + tf.trainable_variables())
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    result = [sess.run([out, state] + g, {x: np.arange(12.).reshape(2, 2, 3) / 10.}), error(sess.run, b, {x: -np.ones([2, 2, 3])}), error(sess.run, a, {x: np.ones([2, 3, 3])}), sess.run(a, {x: np.ones([2, 1, 3])})]

# program: classic constructs that are refused
# compare: error values
# not in 2.21: error values
tf.disable_control_flow_v2()
p = tf.placeholder(tf.bool, [])
L = []
def keep(v):
    L.append(v); return v
tf.cond(p, lambda: keep(tf.constant(1.)), lambda: 2.)
tf.while_loop(lambda i: i < 3, lambda i: keep(i + 1), [0])
W = lambda body, *start, **k: error(tf.while_loop, lambda i, *_: i < 3, body, list(start), **k)
def text(f):
    try: f()
    except Exception as e: return str(e).split("\n")[0]
x = tf.get_variable("x", initializer=2.)
_, y = tf.while_loop(lambda i, _: i < 3, lambda i, y: (i + 1, y * x), [0, x])
first = tf.gradients(y, x)[0]
result = [error(lambda: tf.cond(p, lambda: L[0] + 1., lambda: 1.)), error(lambda: L[1] + 1), text(lambda: L[1] + 1), text(lambda: tf.while_loop(lambda i: i < 3, lambda i: i + L[1], [0])),
  W(lambda i: (i, i), 0), W(lambda i, a: (i + 1, tf.concat([a, a], 0)), 0, tf.ones([2])), W(lambda i: None, 0), W(lambda i: i, 0, maximum_iterations=[1]), W(lambda i: i, 0, parallel_iterations=0), W(lambda i: [[i]], 0), W(lambda i, a: (i + 1, a), 0, tf.ones([2]), shape_invariants=[tf.TensorShape([]), tf.TensorShape([3])]),
  error(tf.Session().run, "cond/switch_t:0"), error(tf.Session().run, "while/Identity:0"), error(tf.Variable, tf.while_loop(lambda i: i < 3, lambda i: i + 1, [0])), error(tf.gradients, first, x)]

# program: meta graphs of classic nodes
# not in 2.21: ops values
tf.disable_control_flow_v2()
x = tf.placeholder(tf.float32, [], name="x")
def inner(y):
    return tf.cond(y > 4., lambda: y + x, lambda: tf.while_loop(lambda j, b: j < 2, lambda j, b: (j + 1, b * x), [0, y])[1])
_, y = tf.while_loop(lambda i, _: i < 3, lambda i, y: (i + 1, inner(y)), [0, x], name="outer")
meta = tf.train.export_meta_graph()
names = sorted(meta.collection_def)
with tf.Graph().as_default() as graph:
    tf.train.import_meta_graph(meta, import_scope="again")
    a, b = graph.get_tensor_by_name("again/x:0"), graph.get_tensor_by_name("again/outer/Exit_1:0")
    g = tf.gradients(b, a)[0]
    with tf.Session() as sess:
        result = [names, g.name, sess.run([b, g], {a: 1.5})]
