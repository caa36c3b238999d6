# program: TensorFlow 2's names in graphs: tf.compat.v2
# compare: error values
# not in 2.21: error values
v2 = tf.compat.v2
random = np.random.RandomState(0)
image, kernel = random.rand(2, 4, 4, 3).astype("f"), random.rand(3, 3, 3, 2).astype("f")
table = random.rand(3, 4).astype("f")
sparse = v2.sparse.from_dense([[1.0, 0.0, 2.0], [0.0, 3.0, 0.0]])
ids = v2.sparse.from_dense([[1, 0], [0, 2]])
record = tf.train.Example(features=tf.train.Features(feature={"a": tf.train.Feature(int64_list=tf.train.Int64List(value=[3]))}))
shard = [table[:2], table[2:]]
fill = v2.initializers
drawn = [
    fill.RandomNormal(seed=3), fill.RandomUniform(seed=3), fill.TruncatedNormal(seed=3), fill.VarianceScaling(seed=3), fill.GlorotUniform(seed=3),
    fill.GlorotNormal(3), fill.Orthogonal(seed=3), fill.Identity(2.0), fill.Zeros(), fill.Ones(), fill.Constant(3), fill.he_normal(2), fill.he_uniform(2),
    fill.lecun_normal(2), fill.lecun_uniform(3), fill.VarianceScaling(2.0, "fan_out", "untruncated_normal", 3),
]
variable = v2.Variable(3.0, name="v")
fetches = [
    v2.argmax(table, 1, tf.int32), v2.argmin(table, 0), v2.batch_to_space(image[:1].repeat(4, 0), 2, [[0, 0], [0, 0]]), v2.space_to_batch(image, [2, 2], [[0, 0], [0, 0]]),
    v2.boolean_mask(table, [True, False, True], 0), v2.case([(tf.constant(False), lambda: 1.0), (tf.constant(True), lambda: 2.0)], default=lambda: 3.0),
    v2.cond(tf.constant(True), lambda: tf.constant(1.0), lambda: tf.constant(2.0)), v2.convert_to_tensor(3, dtype_hint=tf.float32), v2.expand_dims(table, 0),
    v2.gather(table, [1, 0], axis=1), v2.gather_nd(table, [[0, 1]]), v2.pad(table, [[1, 1], [0, 0]], "CONSTANT", 2.0), v2.transpose(table, [1, 0], False, "tr"),
    v2.reverse_sequence(table, [1, 2, 3], 1, 0), v2.shape(table, tf.int64), v2.size(table, tf.int64), v2.ones_like(table, tf.int32), v2.tuple([table, table])[0],
    v2.while_loop(lambda a: a < 5, lambda a: [a + 1], [tf.constant(0)]), v2.image.crop_and_resize(image, [[0.0, 0, 1, 1]], [0], [2, 2]), v2.image.resize(image, [3, 5]),
    v2.image.draw_bounding_boxes(image, [[[0.1, 0.1, 0.9, 0.9]]] * 2, [[1.0, 0, 0]]), v2.image.sample_distorted_bounding_box([10, 10, 3], [[[0.0, 0, 1, 1]]], seed=3)[1],
    v2.io.decode_csv(["1,2", "3,4"], [[0], [0]]), v2.io.parse_example([record.SerializeToString()], {"a": v2.io.FixedLenFeature([], tf.int64)})["a"],
    v2.norm(table, axis=1), v2.math.count_nonzero([1, 0, 1]), v2.math.in_top_k([1, 2, 0], table, 2), v2.math.bincount([1, 2, 2], name="b"),
    v2.math.confusion_matrix([1, 0], [1, 1], 2, [2, 3]), v2.reduce_sum(table, 0, True), v2.random.poisson([3], 2.0, seed=5), v2.where([True, False], [1, 2], [3, 4]),
    v2.nn.avg_pool2d(image, 2, 2, "SAME"), v2.nn.conv1d(table[None], table[:2, :, None], 1, "SAME"), v2.nn.conv2d(image, kernel, 1, "SAME"),
    v2.nn.conv2d(image, kernel, [1, 1], "SAME", dilations=2), v2.nn.convolution(image, kernel, padding="SAME", dilations=[2, 2]), v2.nn.crelu(table, 0),
    v2.nn.depth_to_space(image.reshape(2, 4, 3, 4), 2), v2.nn.depthwise_conv2d(image, kernel, [1, 1, 1, 1], "SAME", dilations=[2, 2]),
    v2.nn.dilation2d(image, kernel[..., 0], [1] * 4, "SAME", "NHWC", [1] * 4), v2.nn.erosion2d(image, kernel[..., 0], [1] * 4, "SAME", "NHWC", [1] * 4),
    v2.nn.embedding_lookup(shard, [0, 2, 1]), v2.nn.embedding_lookup_sparse(table, ids, None, combiner="sum"), v2.nn.max_pool_with_argmax(image, 2, 2, "SAME"),
    v2.nn.pool(image, [2, 2], "MAX"), v2.nn.sigmoid_cross_entropy_with_logits(table, table), v2.nn.sparse_softmax_cross_entropy_with_logits([1, 2, 0], table),
    v2.nn.sufficient_statistics(table, [0])[1], v2.nn.weighted_cross_entropy_with_logits(table, table, 2.0), v2.nn.weighted_moments(table, [0], table),
    v2.sparse.add(sparse, sparse), v2.sparse.concat(0, [sparse, sparse]), v2.sparse.reduce_max(sparse, 1), v2.sparse.reduce_sum(sparse, 1, output_is_sparse=True),
    v2.sparse.segment_sum(table, [0, 1], [0, 2], 4), v2.sparse.split(sparse, 3, 1)[0], v2.strings.length(["ab", "c"]), v2.strings.reduce_join(["ab", "c"], separator="-"),
    v2.strings.to_number(["1", "2"], tf.int32), v2.strings.substr(["abc"], 1, 2), v2.strings.to_hash_bucket(["a"], 10), [one((3, 4)) for one in drawn],
    v2.gradients(variable * variable, [variable])[0], v2.hessians(variable * variable, [variable])[0], variable,
]
with tf.Session() as sess:
    sess.run(v2.compat.v1.global_variables_initializer())
    got = sess.run(fetches)
result = [
    got, [sorted(one.get_config().items()) for one in drawn[:7]], isinstance(variable, v2.Variable), v2.compat.v1 is tf.compat.v1, v2.compat.v1.placeholder(tf.float32).op.type,
    error(lambda: v2.argmax(table, 1, dimension=1)), error(lambda: v2.debugging.assert_rank(table, 3, message="rank")), error(lambda: v2.placeholder),
    error(lambda: v2.device(lambda op: "/cpu:0")), error(lambda: fill.Ones()([2], tf.string)), error(lambda: fill.RandomNormal()([2], tf.int32)),
    error(lambda: fill.VarianceScaling(-1.0)), error(lambda: v2.nn.dilation2d(image, kernel[..., 0], [1] * 4, "SAME", "NCHW", [1] * 4)),
]

# program: names that programs import of TensorFlow's own modules
# compare: error values
# not in 2.21: error values
import importlib

def module(path):
    return importlib.import_module(tf.__name__.partition("_")[0] + "." + path)

utils, errors_impl = tf.contrib.slim.utils, module("python.framework.errors_impl")
contrib_function, tpu_function = module("contrib.tpu.python.tpu.tpu_function"), module("python.tpu.tpu_function")
estimator, op_def_registry = module("python.estimator.estimator"), module("python.framework.op_def_registry")
metrics_impl, rnn, rnn_cell_impl = module("python.ops.metrics_impl"), module("python.ops.rnn"), module("python.ops.rnn_cell_impl")
summary_op_util, tpu_config = module("python.ops.summary_op_util"), module("python.tpu.tpu_config")
basic_session_run_hooks, optimizer = module("python.training.basic_session_run_hooks"), module("python.training.optimizer")

cells = [x for x in tf.contrib.rnn.__dict__.values() if isinstance(x, type) and issubclass(x, tf.contrib.rnn.RNNCell)]
regexp = rnn_cell_impl.ASSERT_LIKE_RNNCELL_ERROR_REGEXP
bad_cell = error(lambda: rnn_cell_impl.assert_like_rnncell("cell", object()))
total, update = metrics_impl._streaming_confusion_matrix(tf.constant([0, 1]), tf.constant([1, 1]), 2)
summary_op_util.collect(tf.constant(1), None, ["kept"])
zeros = rnn_cell_impl._zero_state_tensors((2, 3), tf.constant(4), tf.float32)
with tpu_function.tpu_shard_context(4):
    shards = contrib_function.get_tpu_context().number_of_shards
    nested = error(lambda: tpu_function.tpu_shard_context(2).__enter__())
with tf.Session() as sess:
    sess.run(tf.local_variables_initializer())
    got = sess.run([update, optimizer._deduplicate_indexed_slices(tf.ones([3, 2]), tf.constant([1, 0, 1])), zeros])
result = [
    got, sorted(x.__name__ for x in cells), sorted(x for x in vars(tf.train) if x.endswith("Hook")), callable(tf.nn.__dict__["relu"]), bad_cell,
    rnn_cell_impl.assert_like_rnncell("cell", tf.nn.rnn_cell.LSTMCell(3)), rnn_cell_impl._concat(3, 4, True), rnn._transpose_batch_time(tf.zeros([2, 3, 4])).shape.as_list(),
    utils is tf.contrib.slim.utils, utils.last_dimension(tf.zeros([2, 3]).shape), basic_session_run_hooks.SessionRunArgs is tf.train.SessionRunArgs,
    op_def_registry.get_registered_ops()["MatMul"].input_arg[0].name, tpu_function.get_tpu_context().number_of_shards, shards, nested,
    tpu_config.RunConfig is tf.contrib.tpu.RunConfig, errors_impl.OutOfRangeError is tf.errors.OutOfRangeError, tf.test.mock.__name__, len(tf.get_collection("kept")),
    error(lambda: estimator._verify_model_fn_args(lambda x: x, None)), isinstance(tf.__git_version__, str), isinstance(regexp, str),
]

# program: names of scopes and operations in branches that only an outer scope allows
# compare: error values
# not in 2.21: error values

def branch():
    with tf.name_scope("/"):
        first = tf.constant(2.0, name="inside")
    with tf.name_scope("_scope"):
        second = tf.constant(1.0)
    return first + second + tf.constant(3.0, name="_under")

chosen = tf.cond(tf.placeholder_with_default(True, []), branch, lambda: tf.constant(0.0))
looped = tf.while_loop(lambda i: i < 3.0, lambda i: i + tf.identity(1.0, name="_one"), [tf.constant(0.0)])
with tf.Session() as sess:
    got = sess.run([chosen, looped])
result = [got, error(lambda: tf.constant(1, name="_x")), error(lambda: tf.name_scope("/").__enter__()), error(lambda: tf.cond(tf.equal(1, 1), lambda: tf.constant(1.0, name="a b"), branch))]
