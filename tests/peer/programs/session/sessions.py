# program: fetch structures
import collections
Pair = collections.namedtuple("Pair", ["first", "second"])
a = tf.constant(1.0, name="a")
b = tf.constant([2, 3], name="b")
op = tf.no_op(name="op")
v = tf.Variable(5.0, name="v")
with tf.Session() as sess:
    sess.run(v.initializer)
    result = [
        sess.run(a), sess.run([a]), sess.run((a, b)), sess.run([]), sess.run({"x": a, "y": [b, (a,)]}), sess.run(Pair(a, [b])), sess.run(op), sess.run([op, a]),
        sess.run("a:0"), sess.run(["a:0", "op"]), sess.run(v), sess.run([a, a, a]), sess.run(collections.OrderedDict([("z", a), ("y", b)])), sess.run({}), sess.run(()), sess.run(a.op), sess.run([[], [a]]),
    ]
    kinds = [type(sess.run(a)).__name__, type(sess.run(b)).__name__, type(sess.run({"k": a})).__name__, type(sess.run((a,))).__name__]
result.append(kinds)

# program: fetch errors
a = tf.constant(1.0, name="a")
other = tf.Graph()
with other.as_default():
    z = tf.constant(1.0)
with tf.Session() as sess:
    result = {
        "none": error(sess.run, None), "int": error(sess.run, 5), "missing": error(sess.run, "missing:0"), "missing op": error(sess.run, "missing"), "index": error(sess.run, "a:3"), "list with none": error(sess.run, [a, None]),
        "other graph": error(sess.run, z), "dict none": error(sess.run, {"a": None}), "nothing": error(lambda: sess.run()), "array": error(sess.run, np.ones(2)), "bytes": error(sess.run, b"a:0"),
        "after": sess.run(a),
    }

# program: feeds of every kind
x = tf.placeholder(tf.float32, [None, 2], name="x")
i = tf.placeholder(tf.int32, [], name="i")
s = tf.placeholder(tf.string, [None], name="s")
h = tf.placeholder(tf.bool, name="h")
d = tf.placeholder_with_default(7.0, [], name="d")
c = tf.constant([1.0, 1.0], name="c")
y = x * 2.0 + c
with tf.Session() as sess:
    result = [
        sess.run(y, {x: [[1, 2]]}), sess.run(y, {x: np.ones([3, 2])}), sess.run(y, {x: np.ones([1, 2], np.int64)}), sess.run(y, {"x:0": [[0.0, 1.0]]}), sess.run(y, {y: [[9.0, 9.0]]}), sess.run(y, {c: [5.0, 6.0], x: [[0, 0]]}),
        sess.run(i, {i: 3}), sess.run(i + 1, {i: np.int64(4)}), sess.run(s, {s: ["a", "bc"]}), sess.run(s, {s: np.array([b"x", b"y"])}), sess.run(h, {h: [True, False]}), sess.run(d), sess.run(d, {d: 1.5}),
        sess.run(y, feed_dict={x: np.zeros([0, 2])}), sess.run([x, y], {x: [[1.5, 2.5]]}), sess.run(x, {x: [[True, False]]}),
    ]

# program: feed errors
x = tf.placeholder(tf.float32, [None, 2], name="x")
i = tf.placeholder(tf.int32, [2], name="i")
s = tf.placeholder(tf.string, [], name="s")
y = x + 1.0
with tf.Session() as sess:
    result = {
        "not fed": error(sess.run, y), "rank": error(sess.run, y, {x: [1.0, 2.0]}), "size": error(sess.run, y, {x: [[1.0, 2.0, 3.0]]}), "string": error(sess.run, y, {x: [["a", "b"]]}), "ragged": error(sess.run, y, {x: [[1.0, 2.0], [1.0]]}),
        "float to int": error(sess.run, i, {i: [1.5, 2.5]}), "none": error(sess.run, y, {x: None}), "tensor": error(sess.run, y, {x: tf.zeros([1, 2])}), "unknown key": error(sess.run, y, {"nope:0": 1}), "key int": error(sess.run, y, {3: 1}),
        "op as key": error(sess.run, y, {x.op: 1}), "number to string": error(sess.run, s, {s: 5}), "object": error(sess.run, y, {x: object()}), "overflow": error(sess.run, i, {i: [2 ** 40, 0]}), "dict": error(sess.run, y, {x: {}}), "feed list": error(sess.run, y, [x]),
        "twice by name": error(sess.run, y, {x: [[1.0, 2.0]], "x:0": [[1.0, 2.0]]}), "after": sess.run(y, {x: [[1.0, 2.0]]}),
    }

# program: sessions open and close
a = tf.constant(2.0, name="a")
sess = tf.Session()
first = sess.run(a)
sess.close()
sess.close()
closed = error(sess.run, a)
with tf.Session() as one:
    b = a.eval()
    c = (a * 3.0).eval(session=one)
    is_default = tf.get_default_session() is one
    with tf.Session().as_default() as two:
        inner = tf.get_default_session() is two
no_default = error(a.eval)
no_default_op = error(tf.no_op().run)
inter = tf.InteractiveSession()
d = a.eval()
inter.close()
empty = tf.Graph()
def empty_run():
    with tf.Session(graph=empty) as s:
        s.run(a)
with tf.Graph().as_default():
    no_graph = error(tf.Session().run, "x:0")
result = [first, closed, b, c, is_default, inner, no_default, no_default_op, d, error(empty_run), no_graph, error(tf.Session, target=5), error(tf.Session, config=5), error(tf.Session, graph=5)]

# program: the graph grows between runs
a = tf.constant(2.0)
with tf.Session() as sess:
    out = [sess.run(a)]
    for _ in range(3):
        a = a * 2.0
        out.append(sess.run(a))
    v = tf.Variable(a)
    sess.run(v.initializer)
    out.append(sess.run(v))
    tf.get_default_graph().finalize()
    out.append(error(lambda: a + 1.0))
    out.append(sess.run(a))
result = out

# program: make_callable
x = tf.placeholder(tf.float32, [], name="x")
y = tf.placeholder(tf.float32, [], name="y")
op = tf.no_op()
with tf.Session() as sess:
    f = sess.make_callable(x + y, feed_list=[x, y])
    g = sess.make_callable([x, {"k": x * 2.0}], [x])
    h = sess.make_callable(op)
    k = sess.make_callable(x * 3.0, feed_list=[x])
    result = [f(1.0, 2.0), f(3, np.float32(4)), g(5.0), h(), k(2.0), error(f, 1.0), error(f, 1.0, 2.0, 3.0), error(f, "a", 1.0), error(sess.make_callable, "zz:0")]

# program: partial_run
a = tf.placeholder(tf.float32, [], name="a")
b = tf.placeholder(tf.float32, [], name="b")
c = tf.placeholder(tf.float32, [], name="c")
r1 = a + b
r2 = r1 * c
with tf.Session() as sess:
    handle = sess.partial_run_setup([r1, r2], [a, b, c])
    first = sess.partial_run(handle, r1, {a: 1.0, b: 2.0})
    second = sess.partial_run(handle, r2, {c: first * 17.0})
    done = error(sess.partial_run, handle, r2, {c: 1.0})
    handle = sess.partial_run_setup([r1], [a, b])
    unknown = error(sess.partial_run, handle, r2, {a: 1.0, b: 2.0})
    result = [first, second, done, unknown, error(sess.partial_run_setup, [], [])]

# program: sparse tensors and indexed slices in fetches and feeds
sp = tf.sparse_placeholder(tf.float32, name="sp")
st = tf.SparseTensor([[0, 1], [2, 0]], [1.0, 2.0], [3, 2])
sl = tf.IndexedSlices(tf.constant([[1.0], [2.0]]), tf.constant([3, 5]), tf.constant([7, 1]))
total = tf.reduce_sum(sp.values)
with tf.Session() as sess:
    value = tf.SparseTensorValue([[0, 0], [1, 1]], [4.0, 5.0], [2, 2])
    fetched = sess.run(sp, {sp: value})
    result = [sess.run(st), sess.run(sl), sess.run(total, {sp: value}), sess.run(total, {sp: ([[0]], [9.0], [1])}), type(fetched).__name__, fetched.values, sess.run({"s": [st, sl.values]}), st.get_shape(), st.dense_shape.get_shape(), error(sess.run, total, {sp: 5.0})]

# program: errors at run time leave the session usable
# not in 2.21: ops
x = tf.placeholder(tf.float32, None, name="x")
w = tf.placeholder(tf.float32, None, name="w")
i = tf.placeholder(tf.int32, None, name="i")
n = tf.placeholder(tf.int32, None, name="n")
table = tf.constant([[1.0, 2.0], [3.0, 4.0]])
with tf.Session() as sess:
    result = {
        "matmul": error(sess.run, tf.matmul(x, w), {x: np.ones([2, 3]), w: np.ones([2, 3])}), "add": error(sess.run, x + w, {x: np.ones(3), w: np.ones(4)}), "reshape": error(sess.run, tf.reshape(x, n), {x: np.ones(5), n: [2, 2]}),
        "gather": error(sess.run, tf.gather(table, i), {i: [5]}), "gather negative": error(sess.run, tf.gather(table, i), {i: [-1]}), "concat": error(sess.run, tf.concat([x, w], 0), {x: np.ones([1, 2]), w: np.ones([1, 3])}), "int division": error(sess.run, i // n, {i: 1, n: 0}), "int mod": error(sess.run, i % n, {i: 1, n: 0}),
        "slice": error(sess.run, tf.slice(x, n, [2]), {x: np.ones(3), n: [2]}), "strided": error(sess.run, x[n], {x: np.ones(3), n: 9}), "axis": error(sess.run, tf.reduce_sum(x, n), {x: np.ones(3), n: 4}), "transpose": error(sess.run, tf.transpose(x, n), {x: np.ones([2, 2]), n: [0, 0]}), "tile": error(sess.run, tf.tile(x, n), {x: np.ones(3), n: [1, 2]}),
        "fill": error(sess.run, tf.fill(n, 1.0), {n: [-2]}), "range": error(sess.run, tf.range(n), {n: [1, 2]}), "range delta": error(sess.run, tf.range(0, 5, n), {n: 0}), "xent labels": error(sess.run, tf.nn.sparse_softmax_cross_entropy_with_logits(labels=i, logits=x), {i: [1, 2], x: np.ones([3, 4])}),
        "split": error(sess.run, tf.split(x, 3), {x: np.ones(4)}), "squeeze": error(sess.run, tf.squeeze(x, [0]), {x: np.ones(4)}), "expand": error(sess.run, tf.expand_dims(x, n), {x: np.ones(4), n: 7}), "top_k": error(sess.run, tf.nn.top_k(x, n)[0], {x: np.ones(2), n: 5}), "select": error(sess.run, tf.where(x > 0, x, w), {x: np.ones(3), w: np.ones(2)}), "add_n": error(sess.run, tf.add_n([x, w]), {x: np.ones(2), w: np.ones(3)}),
        "stack": error(sess.run, tf.stack([x, w]), {x: np.ones(2), w: np.ones(3)}), "conv": error(sess.run, tf.nn.conv2d(x, w, [1, 1, 1, 1], "SAME"), {x: np.ones([1, 3, 3, 2]), w: np.ones([3, 3, 4, 1])}), "bias": error(sess.run, tf.nn.bias_add(x, w), {x: np.ones([2, 3]), w: np.ones(2)}), "pad": error(sess.run, tf.pad(x, n), {x: np.ones([2, 2]), n: [[1, 1]]}), "invert": error(sess.run, tf.invert_permutation(n), {n: [0, 0]}),
        "pow": error(sess.run, tf.pow(i, n), {i: 2, n: -1}), "max axis": error(sess.run, tf.argmax(x, n), {x: np.ones(3), n: 3}), "after": sess.run(x + w, {x: 1.0, w: 2.0}),
    }

# program: error attributes
x = tf.placeholder(tf.float32, None, name="x")
bad = tf.matmul(x, x, name="bad")
E = tf.errors
caught = {}
with tf.Session() as sess:
    try:
        sess.run(bad, {x: np.ones([2, 3])})
    except tf.errors.InvalidArgumentError as e:
        caught = {"code": e.error_code, "op": e.op.name, "def": e.node_def.name, "is op error": isinstance(e, tf.OpError), "names": "bad" in e.message}
codes = [E.CANCELLED, E.UNKNOWN, E.INVALID_ARGUMENT, E.DEADLINE_EXCEEDED, E.NOT_FOUND, E.ALREADY_EXISTS, E.PERMISSION_DENIED, E.UNAUTHENTICATED, E.RESOURCE_EXHAUSTED, E.FAILED_PRECONDITION, E.ABORTED, E.OUT_OF_RANGE, E.UNIMPLEMENTED, E.INTERNAL, E.UNAVAILABLE, E.DATA_LOSS, E.OK]
made = E.NotFoundError(None, None, "text")
result = [caught, codes, str(made), made.error_code, made.message, E.OutOfRangeError.__mro__[1].__name__, E.exception_type_from_error_code(5).__name__]

# program: run options, metadata and config
# compare: error values
a = tf.placeholder(tf.float32, [1, 2], name="a")
b = tf.matmul(a, a, transpose_b=True, name="b")
config = tf.ConfigProto(device_count={"CPU": 2}, allow_soft_placement=True, log_device_placement=False, inter_op_parallelism_threads=1)
with tf.device("/cpu:1"):
    c = tf.sqrt(b + 1.0, name="c")
with tf.device("/cpu:0"):
    d = tf.square(c, name="d")
metadata = tf.RunMetadata()
options = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE, output_partition_graphs=True, timeout_in_ms=10000)
with tf.Session(config=config) as sess:
    value = sess.run(d, {a: [[1.0, 2.0]]}, options=options, run_metadata=metadata)
    devices = [x.name for x in sess.list_devices() if "XLA" not in x.name]
    kinds = sorted(node.op for g in metadata.partition_graphs for node in g.node if node.op in ("_Send", "_Recv", "_HostSend", "_HostRecv"))
    result = [value, devices, len(metadata.partition_graphs), kinds, len(metadata.step_stats.dev_stats) >= 2, sess.graph is tf.get_default_graph(), str(sess.graph_def.versions.producer > 0)]

# program: placement errors
with tf.device("/gpu:0"):
    a = tf.constant(1.0, name="a")
with tf.device("/job:nowhere"):
    b = tf.constant(1.0, name="b")
with tf.device("/cpu:7"):
    c = tf.constant(1.0, name="c")
with tf.Session() as hard:
    out = [error(hard.run, t) for t in (a, b, c)]
with tf.Graph().as_default():
    with tf.device("/gpu:0"):
        d = tf.constant(1.0, name="d") + 1.0
    with tf.Session(config=tf.ConfigProto(allow_soft_placement=True)) as soft:
        out += [soft.run(d)]
result = out

# program: many threads run one session
import threading
x = tf.placeholder(tf.float32, [], name="x")
y = x * 2.0
out = {}
with tf.Session() as sess:
    def work(k):
        out[k] = [float(sess.run(y, {x: k + 10.0 * i})) for i in range(5)]
    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    [t.start() for t in threads]
    [t.join() for t in threads]
result = out

# program: global initializers and tables of nothing
a = tf.global_variables_initializer()
b = tf.local_variables_initializer()
c = tf.tables_initializer()
d = tf.variables_initializer([])
e = tf.report_uninitialized_variables()
with tf.Session() as sess:
    sess.run([a, b, c, d])
    result = [sess.run(e), a.name, b.name, c.name, d.name]
