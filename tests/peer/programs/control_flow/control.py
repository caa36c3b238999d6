# program: control dependencies
# not in 2.21: ops
v = tf.Variable(0, name="v")
inc = tf.assign_add(v, 1, name="inc")
with tf.control_dependencies([inc]):
    a = tf.constant(1, name="a")
    b = tf.identity(v, name="b")
    with tf.control_dependencies(None):
        c = tf.constant(2, name="c")
    with tf.control_dependencies([a]):
        d = tf.no_op(name="d")
        e = tf.add(a, b, name="e")
g = tf.group(inc, d)
t = tf.tuple([a, b], control_inputs=[d])
n = tf.no_op()
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    result = [sess.run(e) >= 1, sess.run(n), sess.run(t[0]), error(lambda: tf.control_dependencies([3]).__enter__()),
              error(lambda: tf.control_dependencies(5).__enter__())]

# program: control dependencies are not repeated where implied
a = tf.placeholder(tf.float32, [], name="a")
with tf.control_dependencies([a]):
    b = a + 1.0
    c = b * 2.0
    with tf.control_dependencies([b, c]):
        d = tf.identity(c)
        e = tf.constant(0.0)

# program: group and tuple
a = tf.constant(1.0, name="a")
b = tf.constant(2.0, name="b")
with tf.device("/cpu:0"):
    c = tf.constant(3.0, name="c")
g0 = tf.group()
g1 = tf.group(a.op)
g2 = tf.group(a, b, [c, (a,)], name="nested")
t = tf.tuple([a, None, b], name="pair")
with tf.Session() as sess:
    result = [sess.run(g2), sess.run([t[0], t[2]]), t[1], g0.name, error(tf.group, 5), error(tf.tuple, [None])]

# program: devices
# not in 2.21: ops
with tf.device("/job:worker/task:1"):
    a = tf.constant(1.0, name="a")
    with tf.device("/gpu:0"):
        b = tf.constant(1.0, name="b")
    with tf.device("/cpu:0"):
        c = a + b
    with tf.device(None):
        d = tf.constant(1.0, name="d")
    with tf.device("/job:ps"):
        e = tf.constant(1.0, name="e")
with tf.device(lambda op: "/cpu:0" if op.type == "Const" else "/device:GPU:1"):
    f = tf.constant(1.0, name="f")
    g = f * 2.0
    with tf.device("/job:ps/cpu:0"):
        h = f * 3.0
with tf.device("/device:CPU:0"):
    v = tf.Variable(1.0, name="v")
    w = tf.get_variable("w", [1])
with tf.device("/cpu:0"), tf.name_scope("s"):
    i = tf.identity(v)
result = [t.device for t in (a, b, c, d, e, f, g, h, i, v, w)], error(lambda: tf.device("/nonsense:x").__enter__()), error(lambda: tf.device("gpu::0").__enter__())

# program: device specs
spec = tf.DeviceSpec(job="worker", task=3, device_type="GPU", device_index=1)
parse = tf.DeviceSpec.from_string
result = [spec.to_string(), parse("/job:a/replica:0/task:1/device:CPU:*").to_string(), parse("/cpu:0").to_string(), parse("").to_string(),
          error(parse, "/what:1"), error(parse, "/job:a/gpu:x"), parse("/job:foo/task:3").task, parse("/gpu:2").device_index]

# program: colocation
a = tf.Variable(1.0, name="a")
b = tf.constant(2.0, name="b")
with tf.colocate_with(a):
    c = tf.constant(3.0, name="c")
    with tf.colocate_with(b):
        d = tf.constant(4.0, name="d")
    with tf.colocate_with(None, ignore_existing=True):
        e = tf.constant(5.0, name="e")
with tf.device("/cpu:0"):
    f = tf.constant(1.0, name="f")
with tf.colocate_with(f):
    g = tf.constant(1.0, name="g")
result = [[group.decode() for group in t.op.colocation_groups()] for t in (a, b, c, d, e, f, g)]

# program: collections
a = tf.constant(1, name="a")
tf.add_to_collection("mine", a)
tf.add_to_collection("mine", "text")
tf.add_to_collections(["one", "two"], 7)
g = tf.get_default_graph()
with tf.name_scope("scope"):
    b = tf.constant(2, name="b")
tf.add_to_collection("scoped", a)
tf.add_to_collection("scoped", b)
reference = tf.get_collection_ref("mine")
reference.append(3)
result = [tf.get_collection("mine"), tf.get_collection("one"), tf.get_collection("none"), tf.get_collection("scoped", scope="scope"),
          sorted(g.get_all_collection_keys()), g.get_collection_ref("two")]
g.clear_collection("one")
result.append(tf.get_collection("one"))

# program: looking things up in a graph
# not in 2.21: ops values
a = tf.constant([1, 2], name="a")
b = tf.identity(a, name="b")
s = tf.split(tf.zeros([4]), 2, name="s")
g = tf.get_default_graph()
result = {
    "tensor": g.get_tensor_by_name("a:0") is a, "op": g.get_operation_by_name("b") is b.op, "element": [g.as_graph_element("a").name, g.as_graph_element("s:1").name, g.as_graph_element(b.op).name],
    "consumers": [op.name for op in a.consumers()], "index": [s[1].value_index, s[1].op.name, s[1].name], "outputs": [len(s[0].op.outputs)],
    "attr": [b.op.get_attr("T").name if hasattr(b.op.get_attr("T"), "name") else b.op.get_attr("T"), s[0].op.get_attr("num_split")], "names": [op.name for op in g.get_operations()],
    "no tensor": error(g.get_tensor_by_name, "zz:0"), "no op": error(g.get_operation_by_name, "zz"), "op as tensor": error(g.get_tensor_by_name, "a"), "index range": error(g.get_tensor_by_name, "a:5"),
    "tensor as op": error(g.get_operation_by_name, "a:0"), "bad type": error(g.as_graph_element, 5), "bad name": error(g.get_tensor_by_name, 5), "no attr": error(b.op.get_attr, "nope"), "fetchable": [g.is_fetchable(a), g.is_feedable(a)],
    "not op": error(g.as_graph_element, "a:0", False, True), "malformed": error(g.as_graph_element, "a:b:c"), "version": g.version, "seed": g.seed, "finalized": g.finalized,
}
g.prevent_fetching(b.op)
g.prevent_feeding(a)
result["prevented"] = [g.is_fetchable(b), g.is_feedable(a)]

# program: graphs and default graphs
g1, g2 = tf.Graph(), tf.Graph()
with g1.as_default():
    a = tf.constant(1.0, name="a")
    inside = tf.get_default_graph() is g1
with g2.as_default():
    b = tf.constant(1.0, name="b")
g1.finalize()
def add_to_finalized():
    with g1.as_default():
        tf.constant(1)
def mix():
    return a + b
def other_session():
    with tf.Session(graph=g2) as sess:
        sess.run(a)
def nested_reset():
    with tf.Graph().as_default():
        tf.reset_default_graph()
result = [inside, a.graph is g1, error(add_to_finalized), error(mix), error(other_session), error(nested_reset), g1.finalized, error(lambda: tf.control_dependencies([a, b]).__enter__())]

# program: operations made from an op definition
# not in 2.21: values
g = tf.get_default_graph()
a = tf.constant([1.0, 2.0], name="a")
op = g.create_op("Neg", [a], [tf.float32], name="raw")
result = [op.name, op.outputs[0].get_shape(), error(lambda: g.create_op("NoSuchOp", [], [tf.float32])), error(lambda: g.create_op("Neg", [1], [tf.float32])), op.type, op.node_def.name, list(op.node_def.input)]

# program: tensors and operations print like TensorFlow's
# not in 2.21: ops
a = tf.placeholder(tf.float32, [None, 3], name="a")
v = tf.Variable([1.0], name="v")
r = tf.get_variable("r", [2], use_resource=True)
result = [str(a), repr(a), str(a.op.name), repr(a.op), str(v), repr(v), str(r), str(tf.float32), repr(tf.int32), str(a.graph is a.op.graph)]

# program: random seeds give nodes with seeds
# not in 2.21: ops values
tf.set_random_seed(7)
a = tf.random_uniform([2])
b = tf.random_normal([2], seed=3)
c = tf.truncated_normal([2], mean=1.0)
d = tf.random_uniform([2], 1, 9, dtype=tf.int32)
attrs = [(t.op.inputs[0].op.type, t.name) for t in (a, b, c, d)]
ops = [op for op in tf.get_default_graph().get_operations() if op.type.startswith(("Random", "Truncated"))]
result = [attrs, [(op.name, op.type, op.get_attr("seed"), op.get_attr("seed2")) for op in ops]]

# program: cond in values
# compare: error values
x = tf.placeholder(tf.float32, [], name="x")
v = tf.Variable(1.0, name="v")
y = tf.cond(x > 0.0, lambda: x * 2.0, lambda: x - 1.0)
z = tf.cond(x > 0.0, lambda: (x, tf.constant(1)), lambda: (-x, tf.constant(2)))
w = tf.cond(tf.constant(True), lambda: tf.assign_add(v, 1.0), lambda: tf.assign_sub(v, 1.0))
d = tf.gradients(y, x)[0]
n = tf.cond(x > 0.0, lambda: tf.cond(x > 1.0, lambda: x, lambda: x * 10.0), lambda: 0.0)
out = []
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for value in (3.0, -2.0, 0.5):
        out.append(sess.run([y, z, d, n], {x: value}))
    out.append(sess.run(w))
    out.append(sess.run(v))
result = [out, y.get_shape(), y.dtype, z[1].dtype, error(lambda: tf.cond(x > 0, lambda: x, lambda: tf.constant(1))), error(lambda: tf.cond(x > 0, 1, 2)),
          error(lambda: tf.cond(x > 0, lambda: x, lambda: (x, x))), error(lambda: tf.cond(True, lambda: x, lambda: x))]

# program: while_loop in values
# compare: error values
i, total = tf.while_loop(lambda i, s: i < 10, lambda i, s: (i + 1, s + tf.cast(i, tf.float32)), [0, 0.0])
x = tf.placeholder(tf.float32, [], name="x")
power = tf.while_loop(lambda i, p: i < 5, lambda i, p: [i + 1, p * x], [tf.constant(0), tf.constant(1.0)])[1]
grad = tf.gradients(power, x)[0]
single = tf.while_loop(lambda n: n < 100, lambda n: n * 2, [tf.constant(3)])
shaped = tf.while_loop(lambda v: tf.size(v) < 10, lambda v: tf.concat([v, v], 0), [tf.constant([1, 2])], shape_invariants=[tf.TensorShape([None])])
capped = tf.while_loop(lambda i: True, lambda i: i + 1, [tf.constant(0)], maximum_iterations=7)
nested = tf.while_loop(lambda i, s: i < 3, lambda i, s: (i + 1, s + tf.while_loop(lambda j: j < 4, lambda j: j + i + 1, [0])), [0, 0])
with tf.Session() as sess:
    values = sess.run([i, total, power, grad, single, shaped, capped, nested], {x: 2.0})
result = [values, total.get_shape(), shaped.get_shape(), error(lambda: tf.while_loop(lambda i: i < 3, lambda i: (i, i), [0])), error(lambda: tf.while_loop(lambda v: True, lambda v: tf.concat([v, v], 0), [tf.constant([1])])),
          error(lambda: tf.while_loop(1, lambda i: i, [0])), error(lambda: tf.while_loop(lambda i: i < 3, lambda i: i, []))]

# program: assert and its message
# compare: error values
x = tf.placeholder(tf.float32, [2], name="x")
check = tf.Assert(tf.reduce_all(x > 0.0), [x], name="positive")
with tf.control_dependencies([check]):
    y = tf.identity(x)
with tf.Session() as sess:
    result = [sess.run(y, {x: [1.0, 2.0]}), error(sess.run, y, {x: [1.0, -2.0]}), sess.run(y, {x: [3.0, 2.0]})]

# program: py_func
def double(a, b):
    return (a * 2).astype(np.float32), np.int64(b.sum())
x = tf.placeholder(tf.float32, [2], name="x")
a, b = tf.py_func(double, [x, [1, 2, 3]], [tf.float32, tf.int64])
c = tf.py_func(lambda v: v + 1, [x], tf.float32, stateful=False)
def bad(v):
    raise ValueError("no")
d = tf.py_func(bad, [x], tf.float32)
e = tf.py_func(lambda v: v.astype(np.float64), [x], tf.float32)
with tf.Session() as sess:
    feed = {x: [1.0, 2.0]}
    result = [sess.run([a, b, c], feed), a.get_shape(), error(sess.run, d, feed), error(sess.run, e, feed), sess.run(c, feed)]

# program: queues
# not in 2.21: ops
q = tf.FIFOQueue(3, [tf.float32], shapes=[[]], name="q")
put = q.enqueue(1.5)
many = q.enqueue_many([[2.5, 3.5]])
get = q.dequeue()
two = q.dequeue_many(2)
size = q.size()
close = q.close()
with tf.Session() as sess:
    sess.run(put)
    sess.run(many)
    out = [sess.run(size), sess.run(get), sess.run(two), sess.run(size)]
    sess.run(close)
    out += [error(sess.run, get), error(sess.run, put)]
result = [out, get.get_shape(), two.get_shape(), q.name, error(lambda: q.enqueue("a")), error(lambda: q.enqueue([1.0, 2.0]))]

# program: tensor arrays
# compare: error values
ta = tf.TensorArray(tf.float32, size=3)
ta = ta.write(0, 1.0).write(1, 2.0).write(2, 3.0)
stacked = ta.stack()
other = tf.TensorArray(tf.float32, size=2).unstack([[1.0, 2.0], [3.0, 4.0]])
out = tf.while_loop(lambda i, t: i < 4, lambda i, t: (i + 1, t.write(i, tf.cast(i * i, tf.float32))), [0, tf.TensorArray(tf.float32, 4)])[1].stack()
with tf.Session() as sess:
    result = sess.run([stacked, other.read(1), out])

# program: tags of summaries in branches and loops
# compare: error values
# not in 2.21: values
p = tf.placeholder(tf.bool, [], name="p")
x = tf.placeholder(tf.float32, [], name="x")
def nested():
    with tf.name_scope("s"):
        return tf.cond(x > 0, lambda: tf.summary.scalar("loss", x), lambda: tf.summary.scalar("loss", -x))
with tf.name_scope("out"):
    y = tf.cond(p, lambda: tf.summary.scalar("loss", x), lambda: tf.summary.scalar("loss", -x), name="pick")
    z = tf.cond(p, nested, lambda: tf.summary.merge([tf.summary.scalar("loss", -x), tf.summary.image("i", tf.zeros([2, 3, 3, 1]), family="fam"), tf.summary.text("t", tf.constant("a"))]))
w = tf.while_loop(lambda i, s: i < 2, lambda i, s: (i + 1, tf.summary.scalar("step", tf.cast(i, tf.float32))), [0, tf.constant("")])[1]
c = tf.case([(p, lambda: tf.summary.scalar("a", x)), (x > 0, lambda: tf.summary.scalar("b", x))], default=lambda: tf.summary.scalar("c", x))
sw = tf.switch_case(tf.cast(p, tf.int32), [lambda: tf.summary.scalar("a", x), lambda: tf.summary.scalar("b", x)])
m = tf.map_fn(lambda v: tf.summary.scalar("in_map", v), tf.constant([1.0, 2.0]), tf.string)[0]
@tf.function
def f(v): return tf.cond(v > 0, lambda: tf.summary.scalar("loss", v), lambda: tf.summary.scalar("other", v))
g = f(x)
out = []
with tf.Session() as sess:
    for a in (True, False):
        for b in (1.0, -1.0):
            for t in (y, z, w, c, sw, m, g):
                s = tf.Summary.FromString(sess.run(t, {p: a, x: b}))
                out.append([e.tag for e in s.value])
result = out

# program: shapes of what is made of constants outside of a body
# compare: error values
# not in 2.21: values
k0 = tf.constant([2, 3]); q = tf.identity(k0); shapes = []; p = tf.placeholder(tf.bool, []); k2 = k0 * 2; sh = tf.shape(tf.zeros([4, 5])); st = tf.stack([2, 3]); cc = tf.constant(7)
def f(tag):
    o = [tag]
    for t in (k0, q, k2, sh, st, tf.constant([4, 4]), k0 + 1, tf.stack([cc, 2]), tf.stack([tf.shape(k0)[0], 1]), sh[:1], tf.concat([k0, [1]], 0)):
        o.append(str(tf.zeros(t).shape)); o.append(str(tf.reshape(tf.placeholder(tf.float32), t).shape))
        o.append(str(tf.contrib.util.constant_value(t)))
    o.append(str(tf.reduce_sum(tf.zeros([8, 9]), cc - 7).shape)); o.append(str(tf.range(cc).shape)); o.append(str(tf.range(cc + 1).shape)); o.append(str(tf.expand_dims(tf.zeros([8, 9]), tf.constant(1)).shape))
    o.append(str(tf.SparseTensor([[0, 0]], [1.0], tf.cast(k0, tf.int64)).get_shape()))
    shapes.append(o)
def loop(g): return tf.while_loop(lambda k: k < 1, lambda k: (g(), k + 1)[1], [0])
def cond(g): return tf.cond(p, lambda: (g(), 1)[1], lambda: 0)
f("out")
loop(lambda: f("while"))
cond(lambda: f("cond"))
loop(lambda: loop(lambda: f("while while")))
loop(lambda: cond(lambda: f("while cond")))
cond(lambda: loop(lambda: f("cond while")))
cond(lambda: cond(lambda: f("cond cond")))
tf.map_fn(lambda v: (f("map"), v)[1], tf.zeros([3]))
@tf.function
def fn(): f("function"); return 1
fn()
from_ = tf.data.Dataset.range(2).map(lambda x: (f("data"), x)[1])
result = shapes

# program: names of calls of functions with and without results
# compare: error values
# not in 2.21: error values
v = tf.get_variable('v', initializer=1., use_resource=True)
@tf.function
def nothing(): return None
@tf.function
def write(): v.assign_add(2.)
@tf.function
def read(): return v + 1.
calls = [nothing(), write(), write(), read(), tf.contrib.eager.defun(lambda: None)()]
with tf.Session() as s:
    s.run(tf.global_variables_initializer())
    s.run(calls[1])
    result = [getattr(c, 'op', c).name for c in calls], [getattr(c, 'op', c).type for c in calls], s.run(calls[3])
