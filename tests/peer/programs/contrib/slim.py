# program: contrib's losses
# not in 2.21: error ops values
losses = tf.contrib.losses
random = np.random.RandomState(0)
logits = tf.placeholder(tf.float32, [3, 4], name="logits")
labels = tf.constant(np.eye(4, dtype=np.int32)[[1, 3, 0]], name="labels")
loose = tf.placeholder(tf.float32, [None, None, 2], name="loose")
each = tf.constant([0.5, 0.0, 2.0])
columns = tf.constant([[1.0], [0.0], [3.0]])
parts = [
    losses.softmax_cross_entropy(logits, labels),
    losses.softmax_cross_entropy(logits, labels, each, label_smoothing=0.1, scope="smooth"),
    losses.sigmoid_cross_entropy(logits, labels, columns),
    losses.sigmoid_cross_entropy(logits, labels, 0.0, label_smoothing=0.2),
    losses.sparse_softmax_cross_entropy(logits, tf.constant([[1], [2], [0]]), columns),
    losses.absolute_difference(logits, labels, weights=2.0),
    losses.mean_squared_error(logits, labels, each),
    losses.mean_squared_error(loose, loose * 2.0, 0.5),
    losses.log_loss(tf.nn.sigmoid(logits), labels, epsilon=1e-5),
    losses.hinge_loss(logits, labels),
    losses.mean_pairwise_squared_error(logits, labels),
    losses.mean_pairwise_squared_error(logits, labels, each),
    losses.cosine_distance(tf.nn.l2_normalize(logits, 1), tf.cast(labels, tf.float32), axis=1),
    losses.cosine_distance(logits, labels, dim=0, weights=0.0),
    losses.compute_weighted_loss(tf.cast(labels, tf.float64), tf.ones([3, 4])),
]
tf.add_to_collection(tf.GraphKeys.REGULARIZATION_LOSSES, tf.constant(1.5))
losses.add_loss(tf.constant(2.5), loss_collection=None)
losses.add_loss(tf.constant(3.0, tf.float64), "mine")
total = tf.add_n([p for p in losses.get_losses() if p.dtype == tf.float32])
with tf.Session() as sess:
    feeds = {logits: random.randn(3, 4), loose: random.randn(2, 3, 2)}
    values = sess.run(parts + [total] + tf.gradients(total, [logits]), feeds)
result = [
    values, [p.name for p in losses.get_losses()], [p.name for p in losses.get_losses("smooth")],
    [p.name for p in losses.get_losses(loss_collection="mine")], losses.get_regularization_losses()[0].name,
    tf.contrib.slim.losses.log_loss is losses.log_loss,
]

# program: refusals of contrib's losses
# compare: error values
# not in 2.21: error values
losses = tf.contrib.losses
a, b = tf.ones([2, 3]), tf.ones([2, 4])
unknown = tf.placeholder(tf.float32)
result = {
    "shapes": error(lambda: losses.mean_squared_error(a, b)),
    "no axis": error(lambda: losses.cosine_distance(a, a)),
    "two axes": error(lambda: losses.cosine_distance(a, a, axis=1, dim=1)),
    "rank": error(lambda: losses.compute_weighted_loss(unknown)),
    "rank of weights": error(lambda: losses.compute_weighted_loss(a, unknown)),
    "None": error(lambda: losses.compute_weighted_loss(a, None)),
    "nothing": error(lambda: tf.Graph().as_default().__enter__() and losses.get_total_loss()),
}

# program: the graph of a training step of slim
# not in 2.21: error ops values
slim = tf.contrib.slim
x = tf.constant(np.random.RandomState(0).rand(6, 4), tf.float32)
table = tf.get_variable("table", [5, 3], initializer=tf.ones_initializer())
rows = tf.nn.embedding_lookup(table, [0, 2, 2, 1, 4, 0])
weights = tf.get_variable("weights", [4, 3], initializer=tf.constant_initializer(0.25))
idle = tf.get_variable("idle", [2], initializer=tf.zeros_initializer())
tf.add_to_collection(tf.GraphKeys.UPDATE_OPS, tf.assign_add(idle, [1.0, 2.0]).op)
loss = tf.reduce_mean(tf.square(tf.matmul(x, weights) - rows))
optimizer = tf.train.GradientDescentOptimizer(0.5)
step = slim.learning.create_train_op(
    loss, optimizer, clip_gradient_norm=0.1, summarize_gradients=True,
    gradient_multipliers={"weights": 2.0, table: 0.5},
)
other = tf.contrib.training.create_train_op(
    loss, optimizer, global_step=None, update_ops=[], variables_to_train=[weights],
    transform_grads_fn=tf.contrib.training.clip_gradient_norms_fn(3.0),
    summarize_gradients=True, check_numerics=False,
)
pairs = optimizer.compute_gradients(loss)
summaries = slim.learning.add_gradients_summaries(pairs)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    values = [sess.run(step) for _ in range(3)]
    values += sess.run([table, weights, idle, tf.train.get_global_step()])
result = [
    values, step.name, [t.name for t in tf.get_collection(tf.GraphKeys.TRAIN_OP)],
    [t.name for t in summaries], [t.name for t in tf.get_collection(tf.GraphKeys.SUMMARIES)],
]

# program: refusals of slim's training
# compare: error values
# not in 2.21: error values
learning, training = tf.contrib.slim.learning, tf.contrib.training
v = tf.get_variable("v", [2])
fixed = tf.get_variable("fixed", [2], trainable=False)
loss = tf.reduce_sum(v)
descent = tf.train.GradientDescentOptimizer(0.1)
result = {
    "no step": error(lambda: learning.train(None, None)),
    "summaries without a directory": error(lambda: learning.train(loss, None, summary_op=loss)),
    "saver without a directory": error(lambda: learning.train(loss, None, saver=tf.train.Saver())),
    "trace without a directory": error(lambda: learning.train(loss, None, trace_every_n_steps=1)),
    "number of steps": error(lambda: learning.train(loss, None, number_of_steps=0)),
    "optimizer": error(lambda: learning.train(loss, None, sync_optimizer=[descent])),
    "delay": error(lambda: learning.train(loss, None, sync_optimizer=[descent], startup_delay_steps=1)),
    "not trained": error(lambda: learning.create_train_op(loss, descent, variables_to_train=[fixed])),
    "nothing to train": error(lambda: learning.create_train_op(loss, descent, variables_to_train=[])),
    "no list": error(lambda: learning.multiply_gradients({}, {"v": 1.0})),
    "no factors": error(lambda: learning.multiply_gradients([], {})),
    "no dict": error(lambda: learning.multiply_gradients([], [1])),
    "no gradient": error(lambda: learning.multiply_gradients([(None, v)], {"v": 1.0})),
    "trace": error(lambda: learning.train_step(None, None, None, {"should_trace": True})),
    "no directory": error(lambda: training.train(loss, None)),
    "no directory for checkpoints": error(lambda: training.train(loss, None, save_summaries_steps=None)),
    "no writer": error(lambda: training.SummaryAtEndHook()),
}

# program: slim trains, and evaluates what it wrote
# compare: error values
# not in 2.21: error values
import glob, os, tempfile
slim = tf.contrib.slim
folder = tempfile.mkdtemp()
random = np.random.RandomState(0)
inputs = random.rand(16, 4).astype(np.float32)
labels = (inputs.sum(1, keepdims=True) > 2).astype(np.float32)

def model():
    with tf.variable_scope("m"):
        w = tf.get_variable("w", [4, 1], initializer=tf.constant_initializer(0.1))
        b = tf.get_variable("b", [1], initializer=tf.zeros_initializer())
    return tf.sigmoid(tf.matmul(inputs, w) + b)

result = []
with tf.Graph().as_default():
    slim.losses.log_loss(model(), tf.constant(labels))
    tf.summary.scalar("loss", slim.losses.get_total_loss())
    step = slim.learning.create_train_op(slim.losses.get_total_loss(), tf.train.GradientDescentOptimizer(1.0))
    result.append(slim.learning.train(step, folder, number_of_steps=20, log_every_n_steps=10, trace_every_n_steps=10))
    result.append(sorted(os.path.basename(p) for p in glob.glob(folder + "/model.ckpt-20.*") + glob.glob(folder + "/*.json")))
with tf.Graph().as_default():
    slim.losses.log_loss(model(), tf.constant(labels))
    step = slim.learning.create_train_op(slim.losses.get_total_loss(), tf.train.GradientDescentOptimizer(1.0))
    result.append(slim.learning.train(step, folder, number_of_steps=30))
with tf.Graph().as_default():
    slim.losses.log_loss(model(), tf.constant(labels))
    step = slim.learning.create_train_op(slim.losses.get_total_loss(), tf.train.GradientDescentOptimizer(1.0))
    result.append(slim.learning.train(step, None, number_of_steps=4))
with tf.Graph().as_default():
    tf.train.get_or_create_global_step()
    predictions = model()
    value, update = tf.metrics.mean(predictions)
    error_value, error_update = tf.metrics.mean_absolute_error(labels, predictions)
    tf.summary.scalar("error", error_value)
    path = tf.train.latest_checkpoint(folder)
    result.append(slim.evaluation.evaluate_once(
        "", path, folder + "/eval", num_evals=3, eval_op=[update, error_update], final_op=[value, error_value]))
    result.append(slim.evaluation.evaluation_loop(
        "", folder, folder + "/loop", num_evals=2, eval_op=[update, error_update], final_op=value,
        max_number_of_evaluations=1, variables_to_restore=tf.global_variables()))
    result.append(slim.evaluation.evaluation_loop(
        "", folder + "/none", folder + "/loop", eval_op=update, final_op=value, timeout=0))
    written = {}
    for name in ("eval", "loop"):
        for file in glob.glob(folder + "/" + name + "/*"):
            for event in tf.train.summary_iterator(file):
                for part in event.summary.value:
                    written[name, part.tag] = (event.step, part.simple_value)
    result.append(sorted(written.items()))
    result.append([v.name for v in tf.local_variables()])

# program: contrib.training trains, and evaluates what it wrote
# compare: error values
# not in 2.21: error values
import tempfile
training = tf.contrib.training
folder = tempfile.mkdtemp()
result = []

def model():
    w = tf.get_variable("w", [2], initializer=tf.ones_initializer())
    return tf.reduce_sum(tf.square(w - [3.0, 5.0]))

with tf.Graph().as_default():
    step = training.create_train_op(model(), tf.train.GradientDescentOptimizer(0.1))
    result.append(training.train(step, folder, hooks=[tf.train.StopAtStepHook(num_steps=5)], save_summaries_steps=None))
with tf.Graph().as_default():
    loss = model()
    tf.train.get_or_create_global_step()
    mean, update = tf.metrics.mean(loss)
    calls = []
    result.append(training.evaluate_repeatedly(
        folder, eval_ops={"update": update}, final_ops={"mean": mean, "evals": training.get_or_create_eval_step()},
        hooks=[training.StopAfterNEvalsHook(4), training.SummaryAtEndHook(folder)], eval_interval_secs=0,
        max_number_of_evaluations=1))
    result.append(training.evaluate_repeatedly(
        folder, final_ops=mean + loss, eval_interval_secs=0, timeout=0,
        timeout_fn=lambda: calls.append(1) or len(calls) == 3))
    result.append(len(calls))
    result.append(training.evaluate_once(
        tf.train.latest_checkpoint(folder), eval_ops=update, final_ops=mean, hooks=[training.StopAfterNEvalsHook(2)]))

# program: the graph of slim's data sets
# not in 2.21: error ops values
slim = tf.contrib.slim
decoder = slim.tfexample_decoder
keys = {
    "label": tf.FixedLenFeature([1], tf.int64), "grid": tf.VarLenFeature(tf.float32),
    "rows": tf.FixedLenFeature([1], tf.int64), "columns": tf.VarLenFeature(tf.int64),
    "places": tf.VarLenFeature(tf.int64), "values": tf.VarLenFeature(tf.float32),
}
keys.update({"box/" + side: tf.VarLenFeature(tf.float32) for side in ("ymin", "xmin", "ymax", "xmax")})
handlers = {
    "label": decoder.Tensor("label", shape=[]),
    "boxes": decoder.BoundingBox(prefix="box/"),
    "grid": decoder.Tensor("grid", shape_keys=["rows", "columns"]),
    "flat": decoder.Tensor("grid", default_value=-1.0),
    "sparse": decoder.SparseTensor("places", "values", shape=[5], densify=True),
}
for number, shuffle in enumerate((True, False)):
    dataset = slim.dataset.Dataset(["a", "b"], tf.TFRecordReader, decoder.TFExampleDecoder(keys, handlers), 6, {})
    provider = slim.dataset_data_provider.DatasetDataProvider(dataset, num_readers=2, shuffle=shuffle, num_epochs=2, seed=1)
    parts = provider.get(sorted(handlers))
slim.prefetch_queue.prefetch_queue({"b": tf.ones([2]), "a": tf.ones([3])}, num_threads=2)
slim.prefetch_queue.prefetch_queue([tf.placeholder(tf.float32, [None], name="p")], 3, dynamic_pad=True, name="padding")
slim.parallel_reader.single_pass_read(["c"], tf.TextLineReader, {"skip_header_lines": 1})
result = [
    [part.get_shape() for part in parts], [part.name for part in tf.get_collection("summaries")],
    [(runner.name, len(runner.enqueue_ops)) for runner in tf.get_collection("queue_runners")],
]

# program: slim's data sets
# compare: error values
# not in 2.21: error values
import os, tempfile
slim = tf.contrib.slim
decoder = slim.tfexample_decoder
folder = tempfile.mkdtemp()
random = np.random.RandomState(0)

def feature(value):
    if isinstance(value, bytes):
        return tf.train.Feature(bytes_list=tf.train.BytesList(value=[value]))
    if value.dtype.kind == "f":
        return tf.train.Feature(float_list=tf.train.FloatList(value=value))
    return tf.train.Feature(int64_list=tf.train.Int64List(value=value))

with tf.Graph().as_default(), tf.Session() as sess:
    pixels = tf.constant(random.randint(0, 255, [4, 5, 3]), tf.uint8)
    png = sess.run(tf.image.encode_png(pixels))
for number in range(2):
    with tf.python_io.TFRecordWriter(os.path.join(folder, "part-%d" % number)) as writer:
        for row in range(3):
            features = {
                "image/encoded": feature(png), "image/format": feature(b"png"),
                "label": feature(np.array([number * 3 + row])),
                "box/ymin": feature(np.array([0.1, 0.2])), "box/xmin": feature(np.array([0.3, 0.4])),
                "box/ymax": feature(np.array([0.5, 0.6])), "box/xmax": feature(np.array([0.7, 0.8])),
                "places": feature(np.array([0, 3])), "values": feature(np.array([1.5, 2.5])),
                "grid": feature(np.arange(6.0)), "rows": feature(np.array([2])), "columns": feature(np.array([3])),
                "empty": feature(np.zeros([0])), "word": feature(b"b"),
            }
            writer.write(tf.train.Example(features=tf.train.Features(feature=features)).SerializeToString())
keys = {
    "image/encoded": tf.FixedLenFeature([], tf.string, ""), "image/format": tf.FixedLenFeature([], tf.string, "png"),
    "label": tf.FixedLenFeature([1], tf.int64), "grid": tf.VarLenFeature(tf.float32),
    "rows": tf.FixedLenFeature([1], tf.int64), "columns": tf.VarLenFeature(tf.int64),
    "places": tf.VarLenFeature(tf.int64), "values": tf.VarLenFeature(tf.float32),
    "empty": tf.VarLenFeature(tf.float32),
}
keys.update({"box/" + side: tf.VarLenFeature(tf.float32) for side in ("ymin", "xmin", "ymax", "xmax")})
handlers = {
    "image": decoder.Image(shape=[4, 5, 3]),
    "label": decoder.Tensor("label", shape=[]),
    "boxes": decoder.BoundingBox(prefix="box/"),
    "grid": decoder.Tensor("grid", shape_keys=["rows", "columns"]),
    "flat": decoder.Tensor("grid", default_value=-1.0),
    "sparse": decoder.SparseTensor("places", "values", shape=[5], densify=True),
    "backup": decoder.BackupHandler(decoder.Tensor("empty"), decoder.Tensor("values")),
    "called": decoder.ItemHandlerCallback(["label", "values"], lambda d: tf.to_float(d["label"]) * d["values"].values),
}
dataset = slim.dataset.Dataset(
    os.path.join(folder, "part-*"), tf.TFRecordReader, decoder.TFExampleDecoder(keys, handlers), 6, {"image": "An image."}, classes=2)
names = sorted(handlers)
sources = sorted(slim.parallel_reader.get_data_files([dataset.data_sources]))
# The graph holds no path of this machine.
keys_of_graph = tf.placeholder_with_default("x", [], name="record")
items = dataset.decoder.decode(keys_of_graph, names)
result = [[t.get_shape() for t in items], [os.path.basename(s) for s in sources], dataset.classes, dataset.num_samples]
with tf.Session() as sess:
    record = next(tf.python_io.tf_record_iterator(sources[1]))
    result.append(sess.run(items, {keys_of_graph: record}))
with tf.Graph().as_default():
    provider = slim.dataset_data_provider.DatasetDataProvider(dataset, shuffle=False, num_epochs=1)
    result.append([sorted(provider.list_items()), provider.num_samples(), error(lambda: provider.get(["no"])), error(lambda: provider.get("label"))])
    label, image, key = provider.get(["label", "image", "record_key"])
    batch = tf.train.batch([label, image], batch_size=2)
    queue = slim.prefetch_queue.prefetch_queue({"label": batch[0], "image": batch[1]}, capacity=3)
    taken = queue.dequeue()
    result.append([op.name for op in tf.get_default_graph().get_operations() if "queue" in op.name or "parallel" in op.name])
    with tf.Session() as sess:
        sess.run(tf.local_variables_initializer())
        with slim.queues.QueueRunners(sess):
            result.append(sorted(int(l) for _ in range(3) for l in sess.run(taken)["label"]))
            result.append(error(lambda: slim.queues.QueueRunners(sess).__enter__()))
with tf.Graph().as_default():
    _, record = slim.parallel_reader.single_pass_read(sources, tf.TFRecordReader)
    label, = dataset.decoder.decode(record, ["label"])
    with tf.train.MonitoredSession() as sess:
        result.append([int(sess.run(label)) for _ in range(6)])
        result.append(error(lambda: sess.run(label)))
with tf.Graph().as_default():
    _, record = slim.parallel_reader.parallel_read(sources, tf.TFRecordReader, num_epochs=2, num_readers=2, capacity=8, min_after_dequeue=2, seed=3)
    label, = dataset.decoder.decode(record, ["label"])
    with tf.train.MonitoredSession() as sess:
        result.append(sorted(int(sess.run(label)) for _ in range(12)))

# program: refusals of slim's data sets
# compare: error values
# not in 2.21: error values
slim = tf.contrib.slim
decoder = slim.tfexample_decoder
result = {
    "no files": error(lambda: slim.parallel_reader.get_data_files("/no/such/file-*")),
    "empty": error(lambda: slim.parallel_reader.get_data_files([])),
    "two shapes": error(lambda: decoder.Tensor("a", shape_keys="b", shape=[1])),
    "three keys": error(lambda: decoder.BoundingBox(["a", "b", "c"])),
    "no handler": error(lambda: decoder.BackupHandler(1, decoder.Tensor("a"))),
    "no backup": error(lambda: decoder.BackupHandler(decoder.Tensor("a"), 1)),
    "abstract": error(lambda: decoder.ItemHandler("a")),
    "abstract decoder": error(lambda: slim.data_decoder.DataDecoder()),
    "queue": error(lambda: slim.parallel_reader.ParallelReader(tf.TFRecordReader, tf.FIFOQueue(3, [tf.string]))),
    "queue of numbers": error(lambda: slim.parallel_reader.ParallelReader(tf.TFRecordReader, tf.FIFOQueue(3, [tf.string, tf.int32]))),
}
