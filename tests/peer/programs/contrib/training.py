# program: buckets by length
# compare: error values
# not in 2.21: error values
training = tf.contrib.training
source = tf.train.range_input_producer(24, num_epochs=1, shuffle=False).dequeue()
length = tf.mod(source, 7) + 1
values = {"steps": tf.range(length), "id": source, "text": tf.fill([length], "a")}
lengths, batch = training.bucket_by_sequence_length(
    length, values, 3, [3, 5], capacity=40, dynamic_pad=True, allow_smaller_final_batch=True,
)
rounds = []
with tf.Session() as sess:
    sess.run(tf.local_variables_initializer())
    coord = tf.train.Coordinator()
    threads = tf.train.start_queue_runners(sess, coord)
    try:
        while True:
            got = sess.run([lengths, batch])
            rounds.append([got[0].tolist(), sorted((k, v.tolist()) for k, v in got[1].items())])
    except tf.errors.OutOfRangeError:
        pass
    coord.request_stop()
    coord.join(threads)
result = [
    sorted(rounds), lengths.shape.as_list(), batch["steps"].shape.as_list(),
    error(lambda: training.bucket_by_sequence_length(length, values, 3, [])),
    error(lambda: training.bucket_by_sequence_length(length, values, 3, [5, 3])),
    error(lambda: training.bucket_by_sequence_length(length, values, 3, 5)),
    error(lambda: training.bucket([source], 0, [1, 2], 3)),
    error(lambda: training.bucket([source], 0, 2, 3, bucket_capacities=[1])),
    error(lambda: training.bucket([], 0, 2, 3)),
]

# program: sequences in segments, whose states are kept
# compare: error values
# not in 2.21: error values
training = tf.contrib.training
number = tf.train.range_input_producer(5, num_epochs=1, shuffle=False).dequeue()
steps = tf.mod(number, 3) * 2 + 1
sparse = tf.SparseTensor([[0, 1]], tf.to_float([number]), [tf.to_int64(steps), 3])
batch = training.batch_sequences_with_states(
    input_key=tf.as_string(number),
    input_sequences={"x": tf.reshape(tf.to_float(tf.range(steps * 2)), [-1, 2]), "sparse": sparse},
    input_context={"c": tf.stack([number, number])},
    input_length=None,
    initial_states={"total": tf.constant([0.0, 100.0])},
    num_unroll=2, batch_size=2, num_threads=1, capacity=20,
)
total = batch.state("total") + tf.reduce_sum(batch.sequences["x"], 1)
save = batch.save_state("total", total)
fetched = [
    batch.key, batch.next_key, batch.length, batch.total_length, batch.sequence, batch.sequence_count,
    batch.context["c"], batch.sequences["x"], batch.state("total"), total, batch.batch_size, save,
]
rounds = []
with tf.Session() as sess:
    sess.run(tf.local_variables_initializer())
    coord = tf.train.Coordinator()
    threads = tf.train.start_queue_runners(sess, coord)
    try:
        while True:
            got, some = sess.run([fetched, batch.sequences["sparse"]])
            rounds.append([sorted(zip(*[np.asarray(v).tolist() for v in got[:10]])), some.values.tolist(), some.dense_shape.tolist()])
    except tf.errors.OutOfRangeError:
        pass
    coord.request_stop()
key, x = tf.constant("k"), tf.zeros([4, 2])
# TensorFlow may end before the last segments are asked for.
result = [
    sorted(row for one in rounds for row in one[0] if not row[0].endswith(b":4")),
    sorted(v for one in rounds for v in one[1] if v < 4),
    error(lambda: batch.save_state("other", total)),
    error(lambda: training.batch_sequences_with_states(key, [x], {}, None, {"s": 0.0}, 2, 2)),
    error(lambda: training.batch_sequences_with_states(key, {"x": x}, {}, None, {}, 2, 2)),
    error(lambda: training.SequenceQueueingStateSaver(4, 2, 4, key, {"a:b": x}, {}, {"s": 0.0})),
    error(lambda: training.SequenceQueueingStateSaver(4, 2, 4, key, {"x": x}, {}, {"s": 0.0}, capacity=3)),
    error(lambda: training.SequenceQueueingStateSaver(4, 2, 4, key, {"x": x}, {"c": tf.placeholder(tf.float32)}, {"s": 0.0})),
]

# program: samples by chance and resampling
# compare: error values
# not in 2.21: error values
training = tf.contrib.training
tf.set_random_seed(1)
x = tf.constant([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
drawn = training.resample_at_rate([x, tf.range(3)], tf.constant([0.5, 2.0, 3.0]), seed=3)
weighted, rates = training.weighted_resample([x], tf.constant([1.0, 2.0, 5.0]), 0.8, seed=4)
(data,), labels = training.stratified_sample(
    [tf.constant([[1.0], [2.0], [3.0]])], tf.constant([0, 1, 1]), [0.0, 1.0], 4, init_probs=[0.4, 0.6], enqueue_many=True,
)
kept, _ = training.rejection_sample([tf.constant([1.0, 5.0, 7.0]), tf.range(3)], lambda t: tf.to_float(t[0] > 2.0), 3, enqueue_many=True)
op = tf.constant(1, name="some_op").op
with tf.Session() as sess:
    sess.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
    coord = tf.train.Coordinator()
    threads = tf.train.start_queue_runners(sess, coord)
    first = [sess.run([drawn, weighted, rates]) for _ in range(2)]
    second = [set(labels.eval().tolist()), set(data.eval().ravel().tolist()) <= {2.0, 3.0}, sorted(kept.eval().tolist())[0]]
    coord.request_stop()
    coord.join(threads)
result = [
    first, second, [training.RandomStrategy(5, seed)(op) for seed in range(4)],
    error(lambda: training.stratified_sample([x], tf.zeros([2], tf.int32), [0.5, 0.5], 2, enqueue_many=True)),
    error(lambda: training.stratified_sample([x], tf.zeros([3], tf.int32), [0.5, 0.5], 2, init_probs=[1.0], enqueue_many=True)),
]

# program: what is left of contrib's framework and data
# compare: error values
# not in 2.21: error values
framework, data = tf.contrib.framework, tf.contrib.data
a = tf.placeholder(tf.float32, [2], name="a")
b = tf.nn.relu(a, name="b")
c = tf.identity(tf.tanh(b, name="t"), name="c")
d = tf.add(c, 1.0, name="d")
fused = framework.fuse_op(tf.get_default_graph().as_graph_def(), ["a"], ["c"], [1], False, "f", "F")
calls = framework.py_func(
    lambda x, y: {"sum": x + y, "both": (x, y)}, [tf.constant(1.0)], {"y": tf.constant(2.0)},
    {"sum": tf.float32, "both": (tf.float32, tf.float32)}, {"sum": [], "both": ([], [])},
)
v = tf.Variable(tf.ones([2, 2]), name="v")
zeros = framework.zero_initializer(v)
sets = tf.data.Dataset.range(7)
windows = sets.apply(data.sliding_window_batch(3, window_shift=2)).make_one_shot_iterator().get_next()
whole = sets.apply(data.batch_and_drop_remainder(3))
reduced = data.reduce_dataset(sets, data.Reducer(lambda _: np.int64(5), lambda s, x: s + x, lambda s: s))
with tf.Session() as sess:
    got = sess.run(calls)
    zeroed = sess.run(zeros)
    batches = [sess.run(windows).tolist() for _ in range(3)]
    total = sess.run(reduced)
result = [
    [(n.name, n.op, list(n.input)) for n in fused.node], sorted(got), got["both"], zeroed, batches, total,
    str(whole.output_shapes), calls["sum"].shape.as_list(),
    framework.prepend_name_scope("x", "s"), framework.strip_name_scope("s/x", "s"),
    error(lambda: framework.assert_scalar_int(tf.constant(1.0))), error(lambda: framework.assert_scalar_int(tf.constant([1]))),
    error(lambda: framework.get_graph_from_inputs(3)), framework.get_graph_from_inputs([a]) is a.graph,
    error(lambda: framework.fuse_op(tf.get_default_graph().as_graph_def(), "a", ["c"], [1], False, "f", "F")),
    error(lambda: data.sliding_window_batch(3, 2, 2)), error(lambda: framework.py_func(len, 3)),
    framework.BoundedTensorSpec([2], tf.float32, 0, 1).maximum.tolist(),
]
