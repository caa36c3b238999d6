# program: a queue pipeline with a coordinator as in the reading data guide
# not in 2.21: ops
images = tf.constant(np.arange(12, dtype=np.float32).reshape(6, 2))
q = tf.FIFOQueue(10, [tf.float32, tf.int32], shapes=[[2], []], name="fifo")
enqueue_op = q.enqueue_many([images, tf.range(6)])
qr = tf.train.QueueRunner(q, [enqueue_op] * 1)
tf.train.add_queue_runner(qr)
img, label = q.dequeue()
bi, bl = q.dequeue_many(3, name="batch")
with tf.Session() as sess:
    coord = tf.train.Coordinator()
    threads = tf.train.start_queue_runners(sess=sess, coord=coord)
    a = sess.run([img, label])
    b = sess.run([bi, bl])
    coord.request_stop()
    sess.run(q.close(cancel_pending_enqueues=True))
    coord.join(threads)
result = a, b, qr.name, [op.name for op in qr.enqueue_ops], len(threads), coord.should_stop()

# program: threads feed a queue from python
# not in 2.21: ops
import threading
x = tf.placeholder(tf.float32, [3])
q = tf.FIFOQueue(2, tf.float32, [[3]])
enq = q.enqueue(x)
deq = q.dequeue() * 2.0
size = q.size()
close = q.close()
with tf.Session() as sess:
    def feeder():
        for i in range(5):
            sess.run(enq, {x: np.full(3, i)})
        sess.run(close)
    t = threading.Thread(target=feeder); t.start()
    out = [sess.run(deq) for _ in range(5)]
    t.join()
    result = out, sess.run(size), error(sess.run, deq), error(sess.run, enq, {x: np.zeros(3)}), sess.run(q.is_closed())

# program: padding and priority queues
# not in 2.21: ops
pq = tf.PaddingFIFOQueue(10, [tf.int32], shapes=[[None]])
v = tf.placeholder(tf.int32, [None])
put = pq.enqueue([v])
many = pq.dequeue_many(3)
pr = tf.PriorityQueue(10, [tf.string], shapes=[[]])
pput = pr.enqueue_many([[3, 1, 2], ["c", "a", "b"]])
pget = pr.dequeue()
up = pr.dequeue_up_to(5)
rq = tf.RandomShuffleQueue(10, 2, tf.int32, shapes=(), seed=3)
rput = rq.enqueue_many([tf.range(6)])
with tf.Session() as sess:
    for n in (1, 3, 2): sess.run(put, {v: np.arange(n) + 1})
    a = sess.run(many)
    sess.run(pput)
    b = sess.run(pget)
    sess.run(pr.close())
    c = error(sess.run, up)
    sess.run(rput)
    d = [int(sess.run(rq.dequeue())) for _ in range(4)]
    e = sess.run([pq.size(), rq.size()])
result = a, b, c, sorted(d)[0] >= 0, e, many.get_shape().as_list(), pq.name, pr.names, rq.dtypes

# program: queues refuse what does not fit
q = tf.FIFOQueue(3, [tf.float32, tf.int32], shapes=[[2], []], names=["a", "b"])
q2 = tf.FIFOQueue(3, [tf.float32])
bad = tf.placeholder(tf.float32)
e2 = q2.enqueue(bad)
result = [
    error(q.enqueue, [1.0, 2]), error(q.enqueue, {"a": [1.0, 2.0]}), error(q.enqueue, {"a": [1.0], "b": 1}),
    error(q2.dequeue_many, 2), error(q2.enqueue, [1.0, 2.0]), error(q2.enqueue_many, [3.0]), error(tf.FIFOQueue, 3, [tf.float32], [[1], [2]]),
    error(tf.FIFOQueue, "x", tf.float32), error(q.enqueue, {"a": ["x", "y"], "b": 1}), q.dequeue(), q2.dequeue().get_shape().ndims,
]

# program: queue runner exceptions reach the coordinator
# compare: error values
q = tf.FIFOQueue(3, tf.float32, shapes=[])
p = tf.placeholder(tf.float32, [])
boom = q.enqueue(tf.check_numerics(tf.log(tf.constant(-1.0)), "bad"))
qr = tf.train.QueueRunner(q, [boom])
with tf.Session() as sess:
    coord = tf.train.Coordinator()
    threads = qr.create_threads(sess, coord=coord, start=True)
    one = error(sess.run, q.dequeue())
    two = error(coord.join, threads)
result = one, two

# program: py_func pipelines with state and errors
# not in 2.21: ops
calls = []
def load(path):
    calls.append(path)
    return np.full((2, 2), len(path), np.float32), np.int64(len(path))
path = tf.placeholder(tf.string, [])
img, n = tf.py_func(load, [path], [tf.float32, tf.int64], name="load")
img.set_shape([2, 2])
doubled = img * 2
def fail(x):
    raise ValueError("no")
def wrong(x):
    return np.float64(1)
def iou(a, b): return np.minimum(a, b).sum() / np.maximum(a, b).sum()
bad = tf.py_func(fail, [n], tf.int64)
mis = tf.py_func(wrong, [n], tf.float32)
two = tf.py_func(lambda x: (x, x), [n], tf.int64)
stateless = tf.py_func(lambda x: x + 1, [n], tf.int64, stateful=False)
none = tf.py_func(lambda: None, [], [])
strs = tf.py_func(lambda s: np.array([s, s + b"!"], dtype=object), [path], tf.string)
metric = tf.py_func(iou, [img, tf.ones([2, 2])], tf.float32)
stop = tf.py_func(lambda: (_ for _ in ()).throw(StopIteration()), [], tf.int64)
key = tf.py_func(lambda: {}["k"], [], tf.int64)
with tf.Session() as sess:
    f = {path: "abc"}
    result = [sess.run([doubled, n], f), error(sess.run, bad, f), error(sess.run, mis, f), error(sess.run, two, f), sess.run(stateless, f), sess.run(none), sess.run(strs, f), sess.run(metric, f),
              error(sess.run, stop), error(sess.run, key), len(calls), img.op.type, stateless.op.type, bad.get_shape().ndims]

# program: py_func with its own gradient by override map
# not in 2.21: ops
def py_func(func, inp, Tout, stateful=True, name=None, grad=None):
    rnd_name = 'PyFuncGradUsersFlow'
    tf.RegisterGradient(rnd_name)(grad)
    g = tf.get_default_graph()
    with g.gradient_override_map({"PyFunc": rnd_name, "PyFuncStateless": rnd_name}):
        return tf.py_func(func, inp, Tout, stateful=stateful, name=name)
def mysquare_grad(op, grad):
    x = op.inputs[0]
    return grad * 20 * x
def square(x):
    return np.square(x)
def mysquare(x, name=None):
    with tf.name_scope(name, "Mysquare", [x]) as name:
        return py_func(square, [x], [tf.float32], name=name, grad=mysquare_grad)[0]
x = tf.constant([1., 2.])
y = mysquare(x)
gr = tf.gradients(y, x)
with tf.Session() as sess:
    result = sess.run([y, gr])

# program: straight through estimators and gradient reversal
# not in 2.21: ops
@tf.custom_gradient
def reverse(x):
    def grad(dy):
        return -0.5 * dy
    return tf.identity(x), grad
def binarize(x):
    g = tf.get_default_graph()
    with g.gradient_override_map({"Sign": "Identity"}):
        x = tf.clip_by_value(x, -1, 1)
        return tf.sign(x)
def ste_round(x):
    return x + tf.stop_gradient(tf.round(x) - x)
w = tf.Variable([0.3, -1.7, 0.9])
a = tf.reduce_sum(binarize(w) * [1., 2., 3.])
b = tf.reduce_sum(ste_round(w) ** 2)
c = tf.reduce_sum(reverse(w) * w)
grads = tf.gradients([a, b, c], w) + tf.gradients(a, w) + tf.gradients(b, w) + tf.gradients(c, w)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    result = sess.run([a, b, c, grads])

# program: flip gradient builder as in domain adaptation code
# compare: error values
class FlipGradientBuilder(object):
    def __init__(self):
        self.num_calls = 0
    def __call__(self, x, l=1.0):
        grad_name = "FlipGradientUsers%d" % self.num_calls
        @tf.RegisterGradient(grad_name)
        def _flip_gradients(op, grad):
            return [tf.negative(grad) * l]
        g = tf.get_default_graph()
        with g.gradient_override_map({"Identity": grad_name}):
            y = tf.identity(x)
        self.num_calls += 1
        return y
flip = FlipGradientBuilder()
l = tf.placeholder(tf.float32, [])
x = tf.Variable([1.0, 2.0], use_resource=True)
y = flip(x, l) * 3.0
z = flip(x * 2.0, 0.1)
g = tf.gradients([y, z], x)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    result = sess.run([y, z, g], {l: 0.5})

# program: custom_gradient with variables and several outputs
# compare: error values
@tf.custom_gradient
def log1pexp(x):
    e = tf.exp(x)
    def grad(dy):
        return dy * (1 - 1 / (1 + e))
    return tf.log(1 + e), grad
@tf.custom_gradient
def two(x, y):
    def grad(dx, dy):
        return dx * 2, dy * 3 + dx
    return x * y, x + y, grad if False else grad
@tf.custom_gradient
def pair(x, y):
    def grad(d1, d2):
        return d1 * 2, d2 * 3 + d1
    return (x * y, x + y), grad
x = tf.constant(100.); y = tf.constant(2.)
a = log1pexp(x)
p, q = pair(x, y)
gs = tf.gradients(a, x) + tf.gradients([p, q], [x, y]) + tf.gradients(p, [x, y])
@tf.custom_gradient
def with_var(x):
    v = tf.get_variable("v", [], initializer=tf.constant_initializer(2.0), use_resource=True)
    def grad(dy, variables=None):
        return dy * 5, [dy * 7 for _ in variables]
    return x * v, grad
with tf.variable_scope("s", use_resource=True):
    o = with_var(y)
gv = tf.gradients(o, [y] + tf.trainable_variables())
second = tf.gradients(gs[0], x)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    result = sess.run([a, p, q, gs, o, gv]), error(two, x, y), second[0] is None or sess.run(second[0])

# program: partial runs in several parts
a = tf.placeholder(tf.float32, shape=[]); b = tf.placeholder(tf.float32, shape=[]); c = tf.placeholder(tf.float32, shape=[])
r1 = tf.add(a, b); r2 = tf.multiply(r1, c); r3 = r2 - a
v = tf.Variable(0.0)
inc = v.assign_add(r1)
with tf.Session() as sess:
    sess.run(v.initializer)
    h = sess.partial_run_setup([r1, r2, r3, inc.op], [a, b, c])
    res = sess.partial_run(h, r1, feed_dict={a: 1, b: 2})
    res2 = sess.partial_run(h, r2, feed_dict={c: res})
    again = error(sess.partial_run, h, r1)
    twice = error(sess.partial_run, h, r3, {c: 3.0})
    h2 = sess.partial_run_setup([r1, r2], [a, b, c])
    early = error(sess.partial_run, h2, r2, {a: 1.0, b: 1.0})
    unknown = error(sess.partial_run, "nope", r1, {a: 1.0})
    h3 = sess.partial_run_setup([r1], [a, b])
    notasked = error(sess.partial_run, h3, r2, {a: 1.0, b: 2.0})
    empty = error(sess.partial_run_setup, [], [a])
    result = res, res2, again, twice, early, unknown, notasked, empty

# program: while loops with several variables, shapes and conditions
# compare: error values
def collatz(n):
    return tf.while_loop(lambda n, c: tf.not_equal(n, 1), lambda n, c: (tf.cond(tf.equal(n % 2, 0), lambda: n // 2, lambda: 3 * n + 1), c + 1), [n, 0])
n = tf.placeholder(tf.int32, [])
m, steps = collatz(n)
i0 = tf.constant(0)
m0 = tf.ones([2, 2])
grow = tf.while_loop(lambda i, m: i < 4, lambda i, m: [i + 1, tf.concat([m, m], axis=0)], loop_vars=[i0, m0], shape_invariants=[i0.get_shape(), tf.TensorShape([None, 2])])
acc = tf.while_loop(lambda i, ta: i < 5, lambda i, ta: (i + 1, ta.write(i, tf.cast(i * i, tf.float32))), (0, tf.TensorArray(tf.float32, 5)))[1].stack()
fib = tf.while_loop(lambda a, b, i: i < 10, lambda a, b, i: (b, a + b, i + 1), (tf.constant(0, tf.int64), tf.constant(1, tf.int64), 0))
newton = tf.while_loop(lambda x, _: tf.abs(x * x - 2.0) > 1e-5, lambda x, k: ((x + 2.0 / x) / 2.0, k + 1), (tf.constant(1.0), 0), maximum_iterations=20)
lim = tf.while_loop(lambda i: True, lambda i: i + 1, [0], maximum_iterations=7)
def power(x, n):
    return tf.while_loop(lambda i, p: i < n, lambda i, p: (i + 1, p * x), (0, tf.constant(1.0)))[1]
x = tf.placeholder_with_default(3.0, [])
pw = power(x, 4)
gpw = tf.gradients(pw, x)[0]
d = tf.while_loop(lambda s: s["i"] < 3, lambda s: [{"i": s["i"] + 1, "v": [s["v"][0] * 2.0]}], [{"i": 0, "v": [tf.constant(1.5)]}])
with tf.Session() as sess:
    result = [sess.run([m, steps], {n: 27}), sess.run(grow)[0], grow[1].get_shape().as_list(), sess.run(acc), sess.run(fib), sess.run(newton), sess.run(lim), sess.run([pw, gpw]), sess.run(d), acc.get_shape(),
        error(tf.while_loop, lambda i, m: i < 4, lambda i, m: [i + 1, tf.concat([m, m], 0)], [i0, m0]),
        error(tf.while_loop, lambda i: i < 4, lambda i: i + 1.0, [i0]), error(tf.while_loop, lambda i: i < 4, lambda i: (i, i), [i0]),
        error(tf.while_loop, lambda i: i < 4, lambda i: i, []), error(tf.while_loop, lambda i: i < 4, lambda i: None, [i0]), error(tf.while_loop, None, lambda i: i, [i0]), error(tf.while_loop, lambda i: 3, lambda i: i, [i0])]

# program: loops that assign variables and read them back
# compare: error values
v = tf.Variable(0.0); r = tf.Variable(0.0, use_resource=True); total = tf.get_variable("total", [], tf.int32, tf.zeros_initializer())
def body(i):
    with tf.control_dependencies([v.assign_add(tf.cast(i, tf.float32)), r.assign_add(1.0)]):
        return i + 1
loop = tf.while_loop(lambda i: i < 5, body, [tf.constant(0)], parallel_iterations=1)
def body2(i):
    a = tf.assign_add(total, i)
    with tf.control_dependencies([a]):
        return [tf.identity(i) + 1]
loop2 = tf.while_loop(lambda i: tf.less(i, 4), body2, [1])
c = tf.cond(tf.greater(r, 2.0), lambda: tf.assign(v, -1.0), lambda: tf.assign(v, -2.0))
d = tf.cond(v < 0, lambda: tf.group(r.assign(100.0)), lambda: tf.no_op())
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    out = [sess.run(loop), sess.run([v, r]), sess.run(loop2), sess.run(total), sess.run(c), sess.run(v)]
    sess.run(d.op)
    out += [sess.run([v, r])]
    result = out

# program: map_fn, foldl, foldr, scan with structures and gradients
# compare: error values
elems = tf.constant([1., 2., 3., 4.])
m1 = tf.map_fn(lambda x: x * x, elems)
m2 = tf.map_fn(lambda x: (x, -x), elems, dtype=(tf.float32, tf.float32))
m3 = tf.map_fn(lambda xy: xy[0] * xy[1], (elems, tf.range(4.)), dtype=tf.float32, back_prop=True)
m4 = tf.map_fn(lambda x: tf.cast(x, tf.int32), elems, dtype=tf.int32)
fl = tf.foldl(lambda a, x: a - x, elems); fr = tf.foldr(lambda a, x: a - x, elems, initializer=10.0)
sc = tf.scan(lambda a, x: a + x, elems); sr = tf.scan(lambda a, x: a * x, elems, initializer=2.0, reverse=True)
s2 = tf.scan(lambda a, x: (a[0] + x, a[1] * x), elems, initializer=(0.0, 1.0))
w = tf.Variable(0.5)
lin = tf.scan(lambda h, x: tf.tanh(w * h + x), elems, initializer=0.0)
g = tf.gradients(lin, [w, elems]); gm = tf.gradients(m1, elems)[0]
ragged = tf.map_fn(lambda n: tf.reduce_sum(tf.range(n)), tf.constant([3, 5]))
nested = tf.map_fn(lambda row: tf.map_fn(lambda e: e + 1, row), tf.constant([[1, 2], [3, 4]]))
p = tf.placeholder(tf.float32, [None, 3]); mp = tf.map_fn(tf.reduce_max, p)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    result = [sess.run([m1, m2, m3, m4, fl, fr, sc, sr, s2, lin, g, gm, ragged, nested]), sess.run(mp, {p: np.arange(6.).reshape(2, 3)}), mp, m1.shape, error(tf.map_fn, lambda x: (x, x), elems), error(tf.map_fn, 3, elems), error(tf.map_fn, lambda x: x, 3.0), error(tf.scan, lambda a, x: (a, x), elems), error(tf.foldl, lambda a, x: a, 1.0)]

# program: cond in every mood
# compare: error values
p = tf.placeholder(tf.bool, [])
x = tf.placeholder(tf.float32, [None])
v = tf.Variable([1.0, 2.0])
a = tf.cond(p, lambda: x * 2, lambda: x + 1)
b = tf.cond(p, lambda: (x, [tf.constant(1)]), lambda: (x * 0, [tf.constant(2)]))
c = tf.cond(p, lambda: v, lambda: v + 1)
d = tf.cond(tf.constant(True), lambda: tf.constant(5), lambda: tf.constant(6))
e = tf.cond(p, lambda: [x], lambda: [x], strict=True)
f = tf.cond(p, lambda: tf.cond(x[0] > 0, lambda: 1.0, lambda: 2.0), lambda: 3.0)
g = tf.gradients(tf.reduce_sum(a), x)[0]
gc = tf.gradients(tf.reduce_sum(c), v)[0]
h = tf.cond(p, lambda: tf.no_op(), lambda: tf.group(x))
s = tf.cond(p, lambda: tf.constant("yes"), lambda: tf.constant("no"))
bad = tf.cond(p, lambda: tf.reshape(x, [3]), lambda: tf.zeros([3]))
case = tf.case([(tf.reduce_sum(x) > 5, lambda: tf.constant(1)), (p, lambda: tf.constant(2))], default=lambda: tf.constant(3), exclusive=False)
sw = tf.switch_case(tf.cast(p, tf.int32), [lambda: tf.constant(10), lambda: tf.constant(20)])
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    out = []
    for t in (True, False):
        out.append(sess.run([a, b, c, d, e, f, g, gc, s, case, sw], {p: t, x: [1.0, 2.0]}))
    out += [error(sess.run, bad, {p: True, x: [1.]}), sess.run(bad, {p: False, x: [1.]}), error(sess.run, a, {x: [1.]}), error(sess.run, a, {p: [True], x: [1.]})]
    out += [error(tf.cond, p, lambda: 1, lambda: 1.0), error(tf.cond, p, lambda: (1, 2), lambda: 1), error(tf.cond, True, lambda: 1, lambda: 2), error(tf.cond, p, lambda: None, lambda: 1), error(tf.cond, x, lambda: 1, lambda: 2), error(tf.cond, p, 1, 2), error(tf.cond, p)]
    out += [a.shape, c.shape, str(d.dtype)]
    result = out

# program: hessians, second derivatives and vector products
# not in 2.21: ops
w = tf.Variable([1.0, 2.0, 3.0]); u = tf.Variable([[1.0, 0.5]])
f = tf.reduce_sum(w ** 3) + tf.reduce_sum(tf.square(u)) * w[0] + tf.reduce_sum(tf.sin(w))
grads = tf.gradients(f, [w, u])
vec = [tf.constant([1., 0., -1.]), tf.constant([[2., 1.]])]
prod = tf.add_n([tf.reduce_sum(a * tf.stop_gradient(b)) for a, b in zip(grads, vec)])
hvp = tf.gradients(prod, [w, u])
gg = tf.gradients(grads[0][1], w)
none = tf.gradients(tf.constant(1.0), w)
zero = tf.gradients(u[0, 0], [w, u], unconnected_gradients=tf.UnconnectedGradients.ZERO)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    result = sess.run([f, grads, hvp, gg, zero]), none

# program: hessian of a function of one vector
# compare: error values
x = tf.constant([1.0, 2.0])
h = tf.hessians(tf.reduce_prod(x) + tf.reduce_sum(x ** 3), x)
with tf.Session() as sess:
    result = sess.run(h), h[0].shape

# program: stop_gradient and partial derivatives
# not in 2.21: ops
a = tf.constant(0.); b = 2 * a
g1 = tf.gradients(a + b, [a, b], stop_gradients=[a, b])
g2 = tf.gradients(a + b, [a, b])
x = tf.placeholder(tf.float32, [3])
sm = tf.nn.softmax(x)
ce = -tf.reduce_sum(tf.stop_gradient(sm) * tf.log(sm))
g3 = tf.gradients(ce, x)
g4 = tf.gradients([x * 2, x * x], [x], grad_ys=[tf.ones([3]), [1., 2., 3.]], name="mygrads", colocate_gradients_with_ops=True)
g5 = tf.gradients(tf.stop_gradient(x), x)
with tf.Session() as sess:
    result = sess.run([g1, g2]), sess.run([g3, g4], {x: [1., 2., 3.]}), g5

# program: the same op built by threads in their own graphs
# compare: error values
import threading
out = {}
def build(i):
    g = tf.Graph()
    with g.as_default():
        tf.set_random_seed(i)
        x = tf.random_uniform([2])
        w = tf.Variable(x)
        with tf.Session(graph=g) as sess:
            sess.run(tf.global_variables_initializer())
            out[i] = sess.run(w).tobytes(), [op.name for op in g.get_operations()]
ts = [threading.Thread(target=build, args=(i,)) for i in range(4)]
[t.start() for t in ts]; [t.join() for t in ts]
result = out, len(tf.get_default_graph().get_operations())

# program: import surgery with input_map
# compare: error ops values
g1 = tf.Graph()
with g1.as_default():
    x = tf.placeholder(tf.float32, [None, 2], name="x")
    w = tf.constant([[1.], [2.]], name="w")
    y = tf.matmul(x, w, name="y")
    with tf.control_dependencies([y]):
        z = tf.add(y, 1.0, name="z")
gd = g1.as_graph_def()
new_x = tf.placeholder(tf.float32, [4, 2], name="new_x")
y2, = tf.import_graph_def(gd, input_map={"x:0": new_x * 2}, return_elements=["z:0"], name="net")
op, y3 = tf.import_graph_def(gd, input_map={"w": tf.ones([2, 1])}, return_elements=["y", "z:0"], name="")
tf.import_graph_def(gd)
tf.import_graph_def(gd)
for node in gd.node:
    if node.name == "w": node.attr["value"].tensor.CopyFrom(tf.make_tensor_proto([[5.], [6.]]))
y4, = tf.import_graph_def(gd, return_elements=["y:0"], name="a/b")
with tf.name_scope("outer"):
    y5, = tf.import_graph_def(gd, return_elements=["y:0"], name="inner")
errs = [error(tf.import_graph_def, gd, input_map={"nope:0": new_x}), error(tf.import_graph_def, gd, return_elements=["nope"]), error(tf.import_graph_def, gd, return_elements=["y:3"]), error(tf.import_graph_def, "x"),
        error(tf.import_graph_def, gd, input_map={"x:0": tf.constant([1, 2])}), error(tf.import_graph_def, gd, input_map=[1]), error(tf.import_graph_def, gd, return_elements=[3])]
d = np.arange(8.).reshape(4, 2)
with tf.Session() as sess:
    result = sess.run(y2, {new_x: d}), sess.run(y3, {"x:0": d}), sess.run(y4, {"a/b/x:0": d}), y2, op, y5, errs, sess.run("import_1/z:0", {"import_1/x:0": d})

# program: freeze by hand and run the frozen graph
# compare: error values
with tf.variable_scope("m"):
    x = tf.placeholder(tf.float32, [None, 2], name="x")
    w = tf.get_variable("w", [2, 3], initializer=tf.constant_initializer(0.5))
    y = tf.nn.relu(tf.matmul(x, w), name="y")
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    gd = tf.graph_util.extract_sub_graph(tf.get_default_graph().as_graph_def(), ["m/y"])
    value = sess.run(w)
    for node in gd.node:
        if node.op == "VariableV2":
            node.op = "Const"
            dtype = node.attr["dtype"].type
            node.attr.clear()
            node.attr["dtype"].type = dtype
            node.attr["value"].tensor.CopyFrom(tf.make_tensor_proto(value))
        elif node.name == "m/w/read":
            del node.attr["_class"]
    ref = sess.run(y, {x: [[1, 2]]})
g = tf.Graph()
with g.as_default():
    tf.import_graph_def(gd, name="")
    with tf.Session() as s2:
        out = s2.run("m/y:0", {"m/x:0": [[1, 2]]})
result = ref, out, [(n.name, n.op) for n in gd.node], [n.name for n in tf.graph_util.extract_sub_graph(gd, ["m/w/read"]).node], [n.name for n in tf.graph_util.remove_training_nodes(gd).node]
