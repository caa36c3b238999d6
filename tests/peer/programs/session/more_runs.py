# program: scatter, count_up_to, identity on variables
v = tf.Variable([1.0, 2.0, 3.0, 4.0], name="v")
parts = [tf.scatter_update(v, [0, 2], [10.0, 30.0]), tf.scatter_add(v, [1, 1], [1.0, 1.0]), tf.scatter_sub(v, [[3]], [[1.0]])]
out = []
with tf.Session() as sess:
    sess.run(v.initializer)
    for p in parts:
        out.append(sess.run(p))
    bad = error(sess.run, tf.scatter_add(v, [9], [1.0]))
    out.append(sess.run(v))
result = out, bad

# program: shapes that only a run can refuse
x = tf.placeholder(tf.float32, name="x")
y = tf.placeholder(tf.float32, [None, None], name="y")
z = tf.placeholder(tf.float32, [2, None], name="z")
v = tf.Variable(tf.zeros([2, 2]), name="v")
with tf.Session() as sess:
    sess.run(v.initializer)
    result = [
        sess.run(x + 1.0, {x: 2.0}), sess.run(tf.shape(x), {x: np.zeros([2, 0, 3])}), error(sess.run, tf.matmul(y, z), {y: np.ones([3, 3]), z: np.ones([2, 2])}),
        error(sess.run, tf.matmul(x, y), {x: np.ones([2, 2, 2]), y: np.ones([2, 2])}), error(sess.run, v.assign(z), {z: np.ones([2, 3])}), error(sess.run, z, {z: np.ones([3, 3])}), error(sess.run, y, {y: np.ones([3])}),
        error(sess.run, tf.stack([x, y]), {x: np.ones([1, 2]), y: np.ones([2, 1])}), sess.run(v), sess.run(tf.reduce_sum(x), {x: []}), sess.run(tf.reduce_max(x), {x: []}), sess.run(tf.reduce_mean(x), {x: np.zeros([0])}),
    ]

# program: empty tensors
# not in 2.21: ops
e = tf.placeholder(tf.float32, [0, 3], name="e")
m = tf.placeholder(tf.float32, [None, 3], name="m")
parts = [tf.concat([e, m], 0), tf.reduce_sum(e), tf.reduce_sum(e, 0), tf.matmul(e, tf.ones([3, 2])), tf.nn.softmax(e), tf.transpose(e), tf.reshape(e, [3, 0]), tf.nn.relu(e), e + 1.0, tf.gather(m, tf.zeros([0], tf.int32)), tf.where(m > 100.0), tf.argmax(e, 1), tf.stack([e, e]), tf.tile(e, [2, 1]), tf.slice(m, [0, 0], [0, 2]), m[:0], tf.one_hot(tf.zeros([0], tf.int32), 3), tf.unique(tf.zeros([0], tf.int32))[0], tf.range(0), tf.fill([0], 1.0), tf.size(e), tf.reduce_all(e > 0), tf.add_n([e, e]), tf.split(e, 3, 1)[0], tf.nn.bias_add(e, [1.0, 2.0, 3.0]), tf.reduce_prod(e, [0, 1]), tf.squeeze(tf.expand_dims(e, 0)), tf.pad(e, [[1, 0], [0, 0]])]
with tf.Session() as sess:
    result = sess.run(parts, {e: np.zeros([0, 3]), m: [[1.0, 2.0, 3.0]]})

# program: integer and boolean tensors through many ops
# not in 2.21: ops
i = tf.constant([[5, -3, 0], [7, 2, -8]], tf.int32, name="i")
l = tf.cast(i, tf.int64)
b = i > 0
parts = [tf.reduce_sum(i), tf.reduce_max(l, 1), tf.reduce_mean(i), tf.reduce_min(i, 0), tf.reduce_prod(i[:, :2]), tf.matmul(i, i, transpose_b=True), tf.argmax(i, 1), tf.maximum(i, 1), tf.minimum(l, l * 2), tf.concat([i, i], 1), tf.gather(i, [1]), tf.where(b, i, -i), tf.cast(b, tf.float32), tf.reduce_all(b, 1), tf.reduce_any(b, 0), tf.logical_and(b, tf.logical_not(b)), tf.equal(i, 5), tf.not_equal(i, 5), tf.squared_difference(i, 1), tf.cumsum(i, 1), tf.cumsum(i, 1, exclusive=True, reverse=True), tf.reverse(i, [0]), tf.stack([i, i]), tf.transpose(i), tf.nn.top_k(i, 2)[0], tf.tile(b, [2, 1]), tf.one_hot(i[0], 6), tf.reduce_sum(tf.cast(b, tf.int64)), tf.abs(l), tf.sign(i), tf.pow(i, 2), tf.bitcast(tf.constant(1.0), tf.int32), tf.nn.relu(i), tf.add_n([i, i]), tf.unstack(i)[1], tf.reduce_sum(i, keepdims=True), tf.clip_by_value(i, -2, 3), tf.fill([2], tf.constant(4, tf.int64)), tf.zeros_like(b), tf.ones_like(l), tf.boolean_mask(i, b), tf.count_nonzero(i, 0)]
with tf.Session() as sess:
    result = sess.run(parts)

# program: half and double precision
# not in 2.21: ops
h = tf.constant([0.1, 1000.0, -3.3], tf.float16, name="h")
d = tf.constant([0.1, 1e300, -3.3], tf.float64, name="d")
parts = [h + h, h * 100, tf.exp(h / 1000), tf.reduce_sum(h), tf.cast(h, tf.float32), tf.nn.relu(h), tf.matmul([h], [h], transpose_b=True), d / 3, tf.sqrt(tf.abs(d)), tf.reduce_mean(d), tf.cast(d, tf.float32), tf.sin(d), tf.gradients(tf.reduce_sum(d * d), d)[0], tf.maximum(h, 0), tf.pow(d, 0.5)]
with tf.Session() as sess:
    result = sess.run(parts)

# program: strings in and out
# not in 2.21: ops
s = tf.placeholder(tf.string, [None], name="s")
u = tf.constant([["ab", "c"], ["", "d\u00fc"]], name="u")
parts = [s[0], s[1:], tf.concat([s, ["z"]], 0), tf.stack([s, s], 1), tf.reshape(u, [-1]), tf.gather(u, [1]), tf.equal(u, "c"), tf.where(tf.equal(u, "c"), u, u[:, ::-1]), tf.transpose(u), tf.expand_dims(s, 0), tf.shape(s), tf.identity(u), tf.tile(s, [2]), tf.unique(s)[0], tf.size(u), s + "!", tf.fill([2], "q"), tf.zeros([1], tf.string), tf.string_join([s, s], "/"), tf.split(u, 2, 1)[0], tf.pad(u, [[0, 0], [0, 1]]) if False else u]
with tf.Session() as sess:
    result = sess.run(parts, {s: ["x", b"\xff", u"y"] if False else ["x", "y", "x"]})

# program: a session in a thread sees its own default
import threading
a = tf.constant(3.0, name="a")
seen = {}
sess = tf.Session()
def work():
    seen["session"] = tf.get_default_session()
    seen["graph"] = tf.get_default_graph() is a.graph
    seen["value"] = sess.run(a)
with sess.as_default():
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    seen["inside"] = tf.get_default_session() is sess
sess.close()
result = seen["session"] is None, seen["graph"], seen["value"], seen["inside"]

# program: queues block, close and cancel
# not in 2.21: ops
import threading
q = tf.FIFOQueue(2, tf.int32, shapes=[()], name="q")
value = tf.placeholder(tf.int32, [], name="value")
put = q.enqueue(value)
get = q.dequeue()
upto = q.dequeue_up_to(5)
close = q.close()
cancel = q.close(cancel_pending_enqueues=True)
got = []
with tf.Session() as sess:
    def produce():
        for i in range(5):
            sess.run(put, {value: i})
        sess.run(close)
    thread = threading.Thread(target=produce)
    thread.start()
    for _ in range(5):
        got.append(sess.run(get))
    thread.join()
    ended = error(sess.run, get)
    late = error(sess.run, put, {value: 9})
    empty = error(sess.run, upto)
    result = got, ended, late, empty, sess.run(q.size()), sess.run(q.is_closed()), error(sess.run, cancel)

# program: a step with a deadline
# not in 2.21: ops
q = tf.FIFOQueue(1, tf.float32)
get = q.dequeue()
a = tf.constant(1.0)
with tf.Session() as sess:
    slow = error(sess.run, get, options=tf.RunOptions(timeout_in_ms=50))
    result = slow, sess.run(a)

# program: coordinators and queue runners
# not in 2.21: ops
q = tf.FIFOQueue(20, tf.int32, shapes=[[]], name="numbers")
counter = tf.Variable(0, trainable=False, name="counter")
put = q.enqueue(tf.assign_add(counter, 1))
tf.train.add_queue_runner(tf.train.QueueRunner(q, [put]))
batch = q.dequeue_many(4)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    coord = tf.train.Coordinator()
    threads = tf.train.start_queue_runners(sess, coord)
    first = sess.run(batch)
    second = sess.run(batch)
    coord.request_stop()
    sess.run(q.close(cancel_pending_enqueues=True))
    coord.join(threads, stop_grace_period_secs=10)
result = len(first), len(second), coord.should_stop(), [r.name for r in tf.get_collection(tf.GraphKeys.QUEUE_RUNNERS)]

# program: moving averages and learning rate schedules
# compare: error values
step = tf.train.get_or_create_global_step()
w = tf.get_variable("w", initializer=4.0)
ema = tf.train.ExponentialMovingAverage(0.9, step)
train = tf.train.GradientDescentOptimizer(tf.train.polynomial_decay(0.4, step, 5, 0.1)).minimize(w * w, global_step=step)
with tf.control_dependencies([train]):
    both = ema.apply([w])
rates = [tf.train.exponential_decay(0.1, step, 10, 0.9), tf.train.piecewise_constant(step, [2, 4], [1.0, 0.5, 0.1]), tf.train.inverse_time_decay(0.1, step, 1, 0.5), tf.train.natural_exp_decay(0.1, step, 2, 0.3), tf.train.cosine_decay(0.1, step, 10)]
out = []
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for _ in range(3):
        sess.run(both)
        out.append(sess.run([w, ema.average(w)] + [r() if callable(r) else r for r in rates]))
result = out, ema.average(w).name, ema.average_name(w)

# program: flags and app.run
tf.app.flags.DEFINE_integer("program_steps", 5, "steps")
tf.app.flags.DEFINE_string("program_name", "x", "name")
tf.flags.DEFINE_boolean("program_on", True, "on")
tf.flags.DEFINE_float("program_rate", 0.5, "rate")
FLAGS = tf.app.flags.FLAGS
import sys
old, sys.argv = sys.argv, ["prog", "--program_steps=7", "--noprogram_on", "rest"]
seen = []
def main(argv):
    seen.append((argv[1:], FLAGS.program_steps, FLAGS.program_on, FLAGS.program_rate, FLAGS.program_name))
    return 3
try:
    tf.app.run(main)
except SystemExit as e:
    seen.append(e.code)
finally:
    sys.argv = old
result = seen

# program: assertions of tf.debugging
# compare: error values
x = tf.placeholder(tf.float32, [None], name="x")
checks = [tf.assert_positive(x), tf.assert_equal(tf.shape(x)[0], 2), tf.assert_less(x, 10.0), tf.assert_rank(x, 1), tf.debugging.assert_non_negative(x), tf.assert_greater_equal(x, 1.0)]
with tf.control_dependencies([c for c in checks if c is not None]):
    y = tf.identity(x)
with tf.Session() as sess:
    result = [sess.run(y, {x: [1.0, 2.0]}), error(sess.run, y, {x: [1.0]}), error(sess.run, y, {x: [-1.0, 3.0]}), error(sess.run, y, {x: [1.0, 30.0]}), error(tf.assert_rank, x, 2), error(tf.assert_equal, 1, 2), error(tf.assert_type, x, tf.int32), error(tf.assert_less, tf.constant(3), 2)]

# program: attrs of a py_func and state between runs
calls = []
def remember(v):
    calls.append(float(v))
    return np.float32(len(calls))
x = tf.placeholder(tf.float32, [], name="x")
n = tf.py_func(remember, [x], tf.float32, name="count")
m = tf.py_func(lambda: [np.int64(1), b"s"], [], [tf.int64, tf.string])
with tf.Session() as sess:
    out = [sess.run(n, {x: 5.0}), sess.run(n, {x: 6.0}), sess.run(m)]
result = out, calls, n.op.type, n.get_shape(), m[1].dtype

# program: fetched values are the caller's
v = tf.Variable([1.0, 2.0], name="v")
add = tf.assign_add(v, [1.0, 1.0])
x = tf.placeholder(tf.float32, [2], name="x")
with tf.Session() as sess:
    sess.run(v.initializer)
    first = sess.run(v)
    second = sess.run(add)
    first[0] = 100.0
    fed = np.array([5.0, 6.0], np.float32)
    out = sess.run(tf.identity(x), {x: fed})
    fed[0] = 0.0
    third = sess.run(v)
result = first, second, third, out

# program: nested structures with sparse, indexed and variable fetches
st = tf.SparseTensor([[0], [3]], [1, 2], [5])
v = tf.get_variable("v", initializer=[7.0], use_resource=True)
g = tf.IndexedSlices(tf.constant([1.0]), tf.constant([4]))
with tf.Session() as sess:
    sess.run(v.initializer)
    got = sess.run({"a": [st, (v, {"g": g})], "b": ()})
result = type(got["a"][0]).__name__, got["a"][0].dense_shape, got["a"][1][0], got["a"][1][1]["g"].values, got["b"]

# program: errors of control flow and functions
# not in 2.21: values
# compare: error values
x = tf.placeholder(tf.float32, [], name="x")
result = {
    "cond dtype": error(lambda: tf.cond(x > 0, lambda: 1, lambda: 1.0)), "cond none": error(lambda: tf.cond(x > 0, lambda: None, lambda: x)), "cond pred": error(lambda: tf.cond(x, lambda: x, lambda: x)), "cond missing": error(lambda: tf.cond(x > 0, lambda: x)),
    "cond bool": error(lambda: tf.cond(True, lambda: x, lambda: x)), "while structure": error(lambda: tf.while_loop(lambda i, j: i < 3, lambda i, j: i + 1, [0, 0])), "while callable": error(lambda: tf.while_loop(lambda i: i < 3, 5, [0])),
    "while shape": error(lambda: tf.while_loop(lambda v: True, lambda v: tf.stack([v, v]), [x])), "case empty": error(lambda: tf.case([])), "case bad": error(lambda: tf.case([(True, 3)])), "map_fn": error(lambda: tf.map_fn(3, tf.zeros([2]))),
}

# program: sessions on graphs with names that clash with files
with tf.Graph().as_default() as g:
    a = tf.constant(1, name="with/slash/a")
    b = tf.add(a, a, name="with.dot-dash")
with tf.Session(graph=g) as sess:
    result = sess.run(["with/slash/a:0", "with.dot-dash:0"]), error(sess.run, "with/slash:0"), error(sess.run, "with/slash/a"), error(sess.run, "with.dot-dash:1"), error(sess.run, "^with.dot-dash")
