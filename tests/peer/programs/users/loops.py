# program: names of tables and of what looks up in them
# compare: error ops values
def table(**options):
    initializer = tf.lookup.KeyValueTensorInitializer(["u", "v"], tf.constant([1, 2], tf.int64))
    return tf.lookup.StaticHashTable(initializer, -1, **options)
names = []
with tf.variable_scope("sc"):
    for made in (table(), table(), table(name="n"), table(name="n")):
        made.lookup(tf.constant(["a"])); made.size(); made.export()
        names.append(made.name)
result = names

# program: names of joins along axes
# compare: error ops values
x = tf.placeholder(tf.string, [None]); u = tf.placeholder(tf.string)
for a in (x, u):
    for options in ({}, {"axis": 0}, {"axis": [0]}, {"name": "n"}, {"keep_dims": True, "axis": 0}):
        tf.reduce_join(a, **options); tf.strings.reduce_join(a, **options)
with tf.Session() as sess:
    result = sess.run(tf.reduce_join(x, separator="-"), {x: ["a", "b"]})

# program: gradients of some of the results of branches and loops
# compare: error values
x = tf.placeholder(tf.float32, []); w = tf.Variable(2.0); p = tf.placeholder(tf.bool, [])
a, b = tf.cond(p, lambda: (w * 3.0, tf.log(x * w)), lambda: (w * 5.0, tf.sqrt(x * w)))
i, u, v = tf.while_loop(lambda i, *_: i < 3, lambda i, u, v: (i + 1, u * w, tf.log(v * w)), [0, w + 1.0, x])
_, q, r = tf.while_loop(lambda i, *_: i < 3, lambda i, q, r: (i + 1, r * w, tf.sin(q)), [0, w, x])
def outer(i, s, ta):
    inner = lambda j, s, ta: (j + 1, s * w + x, ta.write(i * 2 + j, tf.log(s * 0.0)))
    _, s, ta = tf.while_loop(lambda j, *_: j < 2, inner, [0, s, ta])
    return i + 1, s, ta
_, s, ta = tf.while_loop(lambda i, *_: i < 2, outer, [0, w * 1.0, tf.TensorArray(tf.float32, 0, dynamic_size=True, infer_shape=False)])
grads = [tf.gradients(y, [w, x]) for y in (a, b, a + b, u, v, q, s)]
out = [[g is None for g in gs] for gs in grads]
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for feed in ({x: 0.0, p: True}, {x: 1.5, p: False}):
        out.append([sess.run([g for g in gs if g is not None], feed) for gs in grads])
result = out

# program: rows looked up in loops are trained as rows
# compare: error values
ids = tf.placeholder(tf.int32, [None]); start = np.arange(24.0).reshape(8, 3) * 0.1
out = []
for use_resource in (False, True):
    for k, make in enumerate((lambda: tf.train.MomentumOptimizer(0.1, 0.9), lambda: tf.train.AdamOptimizer(0.1))):
        with tf.variable_scope("r%s%d" % (use_resource, k), use_resource=use_resource):
            emb = tf.get_variable("e", [8, 3], initializer=tf.constant_initializer(start))
            w = tf.get_variable("w", [3, 3], initializer=tf.constant_initializer(np.eye(3) * 0.7))
            def body(i, a):
                return i + 1, tf.tanh(tf.matmul(a + tf.nn.embedding_lookup(emb, ids[i:i + 2]), w))
            _, a = tf.while_loop(lambda i, a: i < tf.size(ids) - 1, body, [0, tf.zeros([2, 3])])
            loss = tf.reduce_sum(a) + tf.reduce_sum(tf.gather(emb, [1, 1]))
            optimizer = make(); gv = optimizer.compute_gradients(loss, [emb, w]); train = optimizer.apply_gradients(gv)
            with tf.Session() as sess:
                sess.run(tf.global_variables_initializer())
                out.append([type(g).__name__ for g, _ in gv])
                # TensorFlow's gradient has a row 0 of zeros too, which moves row 0 alone.
                out += [[sess.run(loss, {ids: fed}), sess.run(train, {ids: fed}), sess.run([emb, w])] for fed in ([1, 2, 2, 5], [3, 4, 1], [7, 1, 1])]
result = out

# program: a tree of cells, by indices, with a branch and an array in a loop
# compare: error values
leaf = tf.placeholder(tf.bool, [None]); word, left, right, label = [tf.placeholder(tf.int32, [None]) for _ in range(4)]
table = tf.get_variable("t", initializer=tf.constant(np.linspace(-1, 1, 40).reshape(10, 4).astype("f")))
w = tf.get_variable("w", initializer=tf.constant(np.linspace(1, -1, 32).reshape(8, 4).astype("f")))
out_w = tf.get_variable("o", initializer=tf.constant(np.linspace(-1, 2, 12).reshape(4, 3).astype("f")))
def cell(states, i):
    pair = [states.read(tf.gather(side, i)) for side in (left, right)]
    return tf.nn.relu(tf.matmul(tf.concat(pair, 1), w))
def step(states, i):
    node = tf.cond(tf.gather(leaf, i), lambda: tf.expand_dims(tf.nn.embedding_lookup(table, tf.gather(word, i)), 0), lambda: cell(states, i))
    return states.write(i, node), i + 1
states = tf.TensorArray(tf.float32, size=0, dynamic_size=True, clear_after_read=False, infer_shape=False)
states, _ = tf.while_loop(lambda states, i: i < tf.squeeze(tf.shape(leaf)), step, [states, 0])
logits = tf.matmul(states.concat(), out_w); logits.set_shape([None, 3])
loss = tf.reduce_sum(tf.nn.sparse_softmax_cross_entropy_with_logits(logits=logits, labels=label))
train = tf.train.AdagradOptimizer(0.1).minimize(loss)
feed = {leaf: [1, 1, 0, 1, 0], word: [1, 2, 0, 3, 0], left: [-1, -1, 0, -1, 2], right: [-1, -1, 1, -1, 3], label: [0, 1, 2, 0, 1]}
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    result = [sess.run([loss, train], feed)[0] for _ in range(5)], sess.run([table, w, out_w]), error(sess.run, loss, {**feed, right: [-1, -1, 9, -1, 3]})

# program: what Python functions return
# compare: error values
out = []
functions = [(lambda: object(), tf.float32), (lambda: [[1, 2], [3]], tf.int64), (lambda: {}, tf.float32), (lambda: np.array([1, "a"], object), tf.string), (lambda: np.zeros(3, ">f4"), tf.float32), (lambda: np.arange(6).reshape(2, 3).T, tf.int64), (lambda: "text", tf.string), (lambda: b"a\0b\0", tf.string), (lambda: True, tf.bool), (lambda: 1.5, tf.float32), (lambda: [], tf.float32)]
made_ops = [tf.py_func(function, [], dtype) for function, dtype in functions]
with tf.Session() as sess:
    for made in made_ops:
        try: out.append(sess.run(made))
        except Exception as e: out.append(type(e).__name__)
result = out

# program: what is in a body cannot be fetched
# compare: error values
inside = []
def body(i):
    inside.append(i * 2)
    return i + 1
loop = tf.while_loop(lambda i: i < 2, body, [0])
branch = tf.cond(tf.constant(True), lambda: inside.append(tf.constant(1) + 1) or 1, lambda: 2)
with tf.Session() as sess:
    result = [error(sess.run, t) for t in inside], sess.run([loop, branch])

# program: crosses of tensors, eroded images, seeds of pooling
# compare: error ops values
words, numbers = tf.constant([["a", "b"]]), tf.SparseTensor([[0, 0]], [3], [1, 1])
image = tf.constant(np.arange(36.0).reshape(1, 6, 6, 1), tf.float32)
crosses = [tf.sparse.cross([words, words]), tf.sparse.cross([words, numbers]), tf.sparse.cross_hashed([words, tf.constant([[7]])], 100)]
eroded = [tf.nn.erosion2d(image, tf.zeros([2, 2, 1]), [1, 1, 1, 1], [1, 1, 1, 1], "SAME"), tf.nn.erosion2d(image, tf.ones([2, 2, 1]), [1, 1, 1, 1], [1, 1, 1, 1], "VALID", name="er")]
pools = [pool(image, [1, 1.5, 1.5, 1], **options)[0] for pool in (tf.nn.fractional_max_pool, tf.nn.fractional_avg_pool) for options in ({"seed": 3}, {"seed2": 3}, {"deterministic": True, "seed": 3})]
with tf.Session() as sess:
    result = sess.run([c.values for c in crosses]), sess.run(eroded), [error(sess.run, p) for p in pools], error(tf.sparse.cross, [["a"]])

# program: casts of what is no number, slices of scalars
# compare: error values
text, number = tf.constant(["12"]), tf.constant([1])
casts = [tf.cast(text, tf.int32), tf.cast(text, tf.float32), tf.cast(number, tf.string), tf.cast(tf.Variable(1.0, use_resource=True).handle, tf.float32), tf.cast(number, tf.qint8), tf.cast(text, tf.string)]
slices = [error(tf.data.Dataset.from_tensor_slices, value) for value in (1, {"a": [1], "b": 2.0}, ([1, 2], [1]))]
out = []
with tf.Session() as sess:
    for cast in casts:
        try: out.append(sess.run(cast))
        except Exception as e: out.append(type(e).__name__)
result = out, slices
