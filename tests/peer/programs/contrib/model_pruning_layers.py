# program: model_pruning: masked layers and cells, and graphs without masks
# compare: error values
import tempfile

mp = tf.contrib.model_pruning
random = np.random.RandomState(0)


def fill(sess):
    for v in tf.global_variables():
        if "mask" in v.op.name:
            value = random.randint(0, 2, v.shape.as_list())
        else:
            value = random.randn(*v.shape.as_list())
        v.load(np.asarray(value, v.dtype.base_dtype.as_numpy_dtype), sess)


def names(*more):
    kinds = ("masks", "weights", "thresholds") + more
    return [[t.name for t in getattr(mp, "get_" + kind)()] for kind in kinds] + [sorted(v.op.name for v in tf.global_variables()), sorted(v.op.name for v in tf.trainable_variables()), sorted(v.op.name for v in tf.contrib.framework.get_model_variables())]


result = []
x = random.randn(2, 6, 6, 3).astype(np.float32)
for options in ({}, dict(stride=2, padding="VALID"), dict(rate=2, activation_fn=None), dict(biases_initializer=None, scope="s"), dict(normalizer_fn=tf.contrib.layers.batch_norm, outputs_collections="o")):
    with tf.Graph().as_default():
        net = mp.masked_conv2d(x, 4, 3, **options)
        flat = mp.masked_fully_connected(tf.contrib.layers.flatten(net), 5)
        deep = mp.masked_fully_connected(net, 2, activation_fn=None, scope="deep")
        with tf.Session() as sess:
            sess.run(tf.global_variables_initializer())
            fill(sess)
            result.append([names("masked_weights"), [t.name for t in tf.get_collection("o")], sess.run([net, flat, deep])])
steps = random.randn(2, 4, 3).astype(np.float32)
# Here masks are applied once, before the loop; there in each step.
for make in (lambda: mp.MaskedBasicLSTMCell(5), lambda: mp.MaskedLSTMCell(5), lambda: mp.MaskedLSTMCell(5, use_peepholes=True, cell_clip=0.5, num_proj=5, proj_clip=0.2), lambda: mp.MaskedBasicLSTMCell(5, forget_bias=0.0, state_is_tuple=False)):
    with tf.Graph().as_default():
        out, state = tf.nn.dynamic_rnn(make(), steps, dtype=tf.float32)
        gradient = tf.gradients(out, mp.get_weights())
        with tf.Session() as sess:
            sess.run(tf.global_variables_initializer())
            fill(sess)
            result.append([names(), sess.run([out, state, gradient])])
with tf.Graph().as_default():
    tf.train.get_or_create_global_step()
    tf.set_random_seed(1)
    net = mp.masked_conv2d(x, 4, 3)
    tf.identity(mp.masked_fully_connected(tf.contrib.layers.flatten(net), 5), "out")
    folder = tempfile.mkdtemp()
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        fill(sess)
        tf.train.Saver().save(sess, folder + "/model")
with tf.Graph().as_default():
    frozen = mp.graph_def_from_checkpoint(folder, ["out"])
stripped = mp.strip_pruning_vars_fn(frozen, ["out"])
for graph_def in (frozen, stripped):
    with tf.Graph().as_default() as graph, tf.Session() as sess:
        tf.import_graph_def(graph_def, name="")
        result.append([sorted((n.name, n.op) for n in graph_def.node), sess.run("out:0")])
image = np.zeros((2, 6, 6), np.float32)
for call in (lambda: mp.masked_conv2d(image, 4, 3), lambda: mp.masked_conv2d(x, 4, 3, data_format="NDHWC"), lambda: mp.masked_conv2d(x, 4, 3, data_format="X"), lambda: mp.masked_fully_connected(x, 2.5), lambda: mp.masked_conv2d(x, 4, 3, stride=2, rate=2), lambda: mp.graph_def_from_checkpoint("/nowhere", ["out"])):
    with tf.Graph().as_default():
        result.append(error(call))
