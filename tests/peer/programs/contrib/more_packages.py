# program: contrib's grids of cells
# compare: error values
# not in 2.21: error values
grids = tf.contrib.grid_rnn
random = np.random.RandomState(0)
x = tf.constant(random.rand(2, 3, 4).astype(np.float32))
cells = {
    "a": lambda: grids.Grid1BasicRNNCell(3), "b": lambda: grids.Grid2BasicRNNCell(3), "c": lambda: grids.Grid1BasicLSTMCell(3),
    "d": lambda: grids.Grid2BasicLSTMCell(3, tied=True), "e": lambda: grids.Grid1LSTMCell(3, use_peepholes=True),
    "f": lambda: grids.Grid2LSTMCell(3, non_recurrent_fn=tf.nn.tanh), "g": lambda: grids.Grid3LSTMCell(3, tied=True),
    "h": lambda: grids.Grid2GRUCell(3), "i": lambda: grids.Grid2LSTMCell(3, state_is_tuple=False, output_is_tuple=False),
    "j": lambda: grids.GridRNNCell(2, 3, [0, 1], [0, 2], [1, 2], 1, non_recurrent_fn=tf.nn.tanh),
}
with tf.variable_scope("root", initializer=tf.constant_initializer(0.3)):
    outputs = [tf.nn.dynamic_rnn(make(), x, dtype=tf.float32, scope=name) for name, make in sorted(cells.items())]
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    result = [sess.run(outputs), [v.name for v in tf.trainable_variables()], error(lambda: grids.GridRNNCell(2, 0))]

# program: contrib's copies of graphs, all-reduces and metrics that are objects
# compare: error values
# not in 2.21: error values
copies = tf.contrib.copy_graph
other = tf.Graph()
x = tf.constant([1.0, 2.0], name="x")
v = tf.Variable(3.0, name="v")
parts = tf.split(tf.add(x * v, [4.0, 1.0], name="y"), 2)
copied_v = copies.copy_variable_to_graph(v, other, "s")
copied = copies.copy_op_to_graph(parts[1], other, [copied_v], "s")
import importlib
all_reduce = importlib.import_module(tf.__name__ + ".contrib.all_reduce.python.all_reduce")
inputs = [tf.constant([1.0, 2.0, 3.0, 4.0]) * (i + 1.0) for i in range(4)]
reduced = [
    all_reduce.build_ring_all_reduce(inputs, 2, 2, [0, 1], tf.add, tf.square),
    all_reduce.build_recursive_hd_all_reduce(inputs, tf.add), all_reduce.build_shuffle_all_reduce(inputs, ["", ""], tf.add_n),
]
tfe = tf.contrib.eager
accuracy, mean = tfe.metrics.Accuracy(), tfe.metrics.Mean("my mean")
updates = [accuracy(tf.constant([1, 2, 3]), tf.constant([1, 2, 0])), mean(tf.constant([1.0, 2.0]), tf.constant([1.0, 3.0]))]
metrics = [accuracy.result(), mean.result()]
slopes = tfe.gradients_function(lambda a, b: a * a * b)(2.0, 3.0)
with tf.Session() as sess:
    sess.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
    result = [sess.run(updates), sess.run(metrics), sess.run(reduced), sess.run(slopes), [w.name for w in tf.local_variables()]]
with tf.Session(graph=other) as sess:
    sess.run("s/v/Assign")
    result += [sess.run(copied), [op.name for op in other.get_operations()], error(lambda: copies.copy_variable_to_graph(3, other))]
