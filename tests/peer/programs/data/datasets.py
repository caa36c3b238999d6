# program: datasets of tensors and their iterators
# not in 2.21: ops
d = tf.data.Dataset.from_tensor_slices({"a": [1, 2, 3], "b": ([[1.0], [2.0], [3.0]], ["x", "y", "z"])})
d = d.shuffle(10, seed=3).map(lambda e: (e["a"] * 2, e["b"])).repeat(2).batch(4).prefetch(1)
it = tf.data.make_initializable_iterator(d)
n = it.get_next()
one = tf.data.make_one_shot_iterator(tf.data.Dataset.range(3)).get_next(name="second")
with tf.Session() as sess:
    sess.run(it.initializer)
    values = [sess.run(n) for _ in range(2)]
    end = error(sess.run, n)
    ones = [sess.run(one) for _ in range(3)], error(sess.run, one)
result = values, end, ones, n

# program: what datasets say of their elements
# not in 2.21: error ops values
D = tf.data.Dataset
made = [D.range(3), D.range(3).batch(2), D.range(4).batch(2, drop_remainder=True), D.from_tensors({"a": 1, "b": (2.0, "x")}), D.from_tensor_slices(tf.SparseTensor([[0, 0]], [1], [3, 4])).batch(2), D.range(4).window(2), D.from_tensors([1, 2]).padded_batch(2, [None], drop_remainder=True), D.range(3).map(lambda x: (x, tf.zeros([2, 3]))), D.zip((D.range(2), D.range(3))), D.from_generator(lambda: iter([]), tf.int32, [None])]
result = [(str(d), str(d.output_types), str(d.output_shapes)) for d in made]

# program: node names of readers, generators and files
# compare: ops
# not in 2.21: ops
D = tf.data.Dataset; X = tf.data.experimental
D.from_tensors((1, 2)); tf.data.TFRecordDataset(["a"]); D.list_files("x")
D.from_generator(lambda: iter([]), tf.int32)
D.range(3).padded_batch(2, [])
tf.data.TextLineDataset("b", num_parallel_reads=2)
tf.data.FixedLengthRecordDataset("b", 3)

# program: node names of experimental transformations
# not in 2.21: ops
# compare: ops
D = tf.data.Dataset; X = tf.data.experimental
X.CsvDataset("x", [tf.int32, [1.0]]); X.Counter(); X.RandomDataset()
D.range(3).apply(X.map_and_batch(lambda x: x, 2))
X.sample_from_datasets([D.range(3), D.range(3)], [.5, .5])
D.range(3).interleave(D.from_tensors, num_parallel_calls=2)
D.range(3).enumerate()
D.range(3).apply(X.group_by_window(lambda x: x, lambda k, w: w, 2))
D.range(4).reduce(np.int64(0), lambda a, b: a + b)
X.get_single_element(D.range(1)); X.cardinality(D.range(2))
D.range(4).apply(X.scan(np.int64(0), lambda a, b: (a, b)))
D.range(4).apply(X.shuffle_and_repeat(3, 2, seed=1)).apply(X.ignore_errors())

# program: iterators from structures and handles
# not in 2.21: ops
D = tf.data.Dataset
it = tf.data.Iterator.from_structure(tf.int64, [])
n = it.get_next()
first, second = it.make_initializer(D.range(3)), it.make_initializer(D.range(10, 12), name="other")
h = tf.placeholder(tf.string, [])
by_handle = tf.data.Iterator.from_string_handle(h, tf.int64, [])
m = by_handle.get_next()
shot = D.range(5).make_one_shot_iterator()
found = []
with tf.Session() as sess:
    for init in (first, second):
        sess.run(init)
        while error(sess.run, n.op) == "no error":
            found.append(1)
    handle = sess.run(shot.string_handle())
    values = [sess.run(m, {h: handle}) for _ in range(2)]
    wrong = error(sess.run, m, {h: "nonsense"})
result = found, values, it.output_types, it.output_shapes

# program: mistakes with datasets
# not in 2.21: error values
# compare: values
D = tf.data.Dataset; X = tf.data.experimental
v = tf.get_variable("v", [], tf.int64, use_resource=True)
p = tf.placeholder(tf.int64, [])
result = [
    error(D.zip, [D.range(2)]), error(D.range), error(D.from_generator, 3, tf.int32), error(D.range(3).apply, lambda d: 3),
    error(D.range(3).concatenate, D.from_tensors(1.0)), error(D.range(3).filter, lambda x: x), error(D.range(3).flat_map, lambda x: x),
    error(D.range(3).map, lambda x: None), error(D.range(3).map(lambda x: x + v).make_one_shot_iterator), error(D.range(3).map(lambda x: x + p).make_one_shot_iterator),
    error(D.from_tensors([1, 2]).padded_batch, 2, [1]), error(D.from_tensors([1, 2]).padded_batch, 2, [2], 1.5), error(D.from_tensor_slices, ([1, 2], [1, 2, 3])),
    error(tf.data.Iterator.from_structure(tf.int64).make_initializer, D.from_tensors(1.0)), error(lambda: tf.data.Iterator.from_structure(tf.int64).initializer), error(D.range(2).reduce, 1.0, lambda a, b: b),
    error(D.from_tensors(1).unbatch), error(tf.data.TFRecordDataset, 3), error(lambda: [x for x in D.range(3)]), error(X.choose_from_datasets, [D.range(2)], D.from_tensors(1.0)),
    error(X.group_by_window, lambda x: x, lambda k, w: w), error(D.from_tensors(1.0).apply, X.unique()), error(setattr, tf.data.Options(), "nothing", 1), error(setattr, tf.data.Options(), "experimental_slack", 1),
]

# program: options make nodes
# not in 2.21: error ops values
o = tf.data.Options()
o.experimental_optimization.map_fusion = True
o.experimental_threading.private_threadpool_size = 2
d = tf.data.Dataset.range(3).with_options(o)
it = d.make_initializable_iterator()
o2 = tf.data.Options()
o2.experimental_optimization.apply_default_optimizations = False
o2.experimental_optimization.autotune = False
it2 = tf.data.Dataset.range(3).with_options(o2).make_initializable_iterator()
result = d.options().experimental_threading.private_threadpool_size, d.options().experimental_slack

# program: optionals
# not in 2.21: error ops values
X = tf.data.experimental
it = tf.data.make_initializable_iterator(tf.data.Dataset.range(2))
o = X.get_next_as_optional(it)
h, v = o.has_value(), o.get_value()
held = X.Optional.from_value((tf.constant(1), tf.constant("x")))
none = X.Optional.none_from_structure(tf.TensorSpec([], tf.int32))
with tf.Session() as sess:
    sess.run(it.initializer)
    result = [sess.run([h, v]) for _ in range(2)], sess.run(h), error(sess.run, v), sess.run(held.get_value()), sess.run([held.has_value(), none.has_value()])

# program: captured tensors, variables and feeds
# not in 2.21: error ops values
p = tf.placeholder(tf.int64, [])
v = tf.get_variable("v", [], tf.int64, initializer=tf.constant_initializer(5), use_resource=True)
it = tf.data.Dataset.range(4).map(lambda x: x * v + p).make_initializable_iterator()
n = it.get_next()
with tf.Session() as sess:
    sess.run(v.initializer)
    sess.run(it.initializer, {p: 100})
    a = sess.run(n), sess.run(n)
    sess.run(v.assign(50))
    b = sess.run(n)
    sess.run(it.initializer, {p: 200})
    result = a, b, sess.run(n)

# program: training from a pipeline
# not in 2.21: error values
# compare: values
x = np.arange(40, dtype=np.float32).reshape(20, 2) / 40
y = x.sum(1, keepdims=True) * 3 + 1
d = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(20, seed=4).repeat().batch(5)
a, b = d.make_one_shot_iterator().get_next()
w = tf.get_variable("w", [2, 1], initializer=tf.zeros_initializer()); c = tf.get_variable("c", [1], initializer=tf.zeros_initializer())
loss = tf.reduce_mean(tf.square(tf.matmul(a, w) + c - b))
step = tf.train.GradientDescentOptimizer(0.5).minimize(loss)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    losses = [sess.run([loss, step])[0] for _ in range(40)]
result = [round(float(l), 3) for l in losses[::8]]

# program: datasets as graphs
# compare: error values
def described(dataset):
    with tf.Session() as session:
        found = tf.GraphDef.FromString(session.run(tf.raw_ops.DatasetToGraph(input_dataset=dataset._variant_tensor)))
    return [(n.name, n.op, list(n.input), sorted(n.attr)) for n in found.node], len(found.library.function)
make = tf.data.Dataset
y = tf.constant(3, tf.int64)
result = {
    "captured": described(make.range(10).map(lambda x: x + y).filter(lambda x: x > y)),
    "tensors": described(make.from_tensors(([1, 2], "a")).repeat(3).shuffle(5, seed=3).prefetch(2)),
    "zip": described(make.zip((make.range(3), make.range(4))).concatenate(make.zip((make.range(5), make.range(6))))),
    "interleave": described(make.range(3).interleave(lambda x: make.from_tensors(x).repeat(2), 2, 1, num_parallel_calls=2)),
    "text": described(tf.data.TextLineDataset(["a", "b"])),
    "slices": described(make.from_tensor_slices(tf.placeholder_with_default([1, 2], [2]))),
    "drawn": error(described, make.range(3).map(lambda x: tf.random_uniform([]))),
    "generator": error(described, make.from_generator(lambda: iter([1]), tf.int32)),
}

# program: sequences of seeded operations in functions of datasets
# not in 2.21: ops values
def draw(*_):
    return tf.random.uniform((), seed=11)

def pair(x):
    return x, draw()

D = tf.data.Dataset
made = [D.range(6).map(draw), D.range(6).map(draw).map(pair), D.range(2).map(draw).repeat(), D.range(3).flat_map(lambda _: D.range(2).map(draw)), D.range(9).filter(lambda _: draw() > .5)]
iterators = [tf.data.make_initializable_iterator(d) for d in made for _ in range(2)]
elements = [i.get_next() for i in iterators]
with tf.Session() as sess:
    result = []
    for initializer, element in zip([i.initializer for i in iterators], elements):
        for _ in range(2):
            sess.run(initializer)
            result.append([sess.run(element) for _ in range(4)])
