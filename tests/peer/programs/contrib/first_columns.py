# program: contrib's first feature columns
# compare: error values
# not in 2.21: error values
layers = tf.contrib.layers
age = layers.real_valued_column("age", normalizer=lambda x: x / 10.0)
pair = layers.real_valued_column("pair", dimension=2, dtype=tf.int64, default_value=[1, 2])
ages = layers.bucketized_column(layers.real_valued_column("age"), [10.0, 20.0])
words = layers.sparse_column_with_keys("word", ["a", "b", "c"])
hashed = layers.sparse_column_with_hash_bucket("word", 20, combiner="sqrtn")
ids = layers.sparse_column_with_integerized_feature("id", 4)
scored = layers.weighted_sparse_column(words, "score")
crossed = layers.crossed_column([hashed, ages], 50, hash_key=layers.SPARSE_FEATURE_CROSS_DEFAULT_HASH_KEY)
older = layers.crossed_column([words, ids, crossed], 50)
ones = tf.ones_initializer()
shared = layers.shared_embedding_columns([hashed, layers.sparse_column_with_hash_bucket("other", 20)], 3, initializer=ones)
dense = [age, pair, ages, layers.one_hot_column(words), layers.one_hot_column(scored),
         layers.embedding_column(crossed, 2, initializer=ones), layers.embedding_column(scored, 2, combiner="sum", initializer=ones),
         layers.scattered_embedding_column("word", 60, 3, hash_key=5, initializer=ones)] + list(shared)
linear = [age, pair, ages, words, hashed, ids, scored, crossed, older]
features = {
    "word": tf.SparseTensor([[0, 0], [0, 1], [2, 0]], ["a", "c", "x"], [3, 2]),
    "other": tf.SparseTensor([[1, 0]], ["y"], [3, 2]),
    "id": tf.SparseTensor([[0, 0], [1, 0], [2, 0]], tf.constant([5, 1, 2], tf.int64), [3, 1]),
    "score": tf.SparseTensor([[0, 0], [0, 1], [2, 0]], [2.0, 3.0, 4.0], [3, 2]),
    "age": tf.constant([[5.0], [20.0], [15.0]]),
    "pair": tf.constant([[1, 2], [3, 4], [5, 6]], tf.int64),
}
layer = layers.input_from_feature_columns(features, dense)
sums, variables, bias = layers.weighted_sum_from_feature_columns(features, linear, 2)
joint, parts, _ = layers.joint_weighted_sum_from_feature_columns(features, [words, ids, crossed, older], 2)
found = layers.transform_features(features, [older, crossed, ages])
with tf.Session() as sess:
    sess.run([tf.global_variables_initializer(), tf.tables_initializer()])
    values = sess.run([layer] + [found[c].values for c in (older, crossed)] + [found[ages]])
    sess.run([tf.assign(v, tf.ones_like(v)) for v in tf.trainable_variables()])
    values += sess.run([sums, joint])
result = [
    values, [c.key for c in dense + linear if "initializer" not in c._fields and "normalizer" not in c._fields], [c.name for c in dense + linear],
    [(v.name, v.shape.as_list()) for v in tf.global_variables()],
    sorted((k, str(type(v).__name__)) for k, v in layers.create_feature_spec_for_parsing(dense + linear).items()),
    sorted(op.name + " " + op.type for op in tf.get_default_graph().get_operations()),
]

# program: contrib's keypoints, divisive normalization and legacy layers
# not in 2.21: error ops values
layers = tf.contrib.layers
x = tf.constant(np.random.RandomState(0).rand(2, 4, 6, 3), tf.float32)
y = tf.constant(np.random.RandomState(1).rand(2, 3, 4), tf.float32)
outputs = [
    layers.spatial_softmax(x), layers.spatial_softmax(x, temperature=0.5, trainable=False, data_format="NCHW"),
    layers.gdn(x), layers.gdn(x, inverse=True, gamma_init=0.3, name="back"),
    layers.legacy_fully_connected(y, 2, weight_init=tf.ones_initializer()), layers.legacy_relu(y, 2, weight_init=tf.ones_initializer(), bias_init=None),
]
gradients = tf.gradients([tf.reduce_sum(o * o) for o in outputs], [x, y] + tf.trainable_variables())
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for v in tf.trainable_variables():  # away from bounds: there the last bit of a root decides which gradients pass
        v.load(sess.run(v) + np.float32(0.01), sess)
    values = sess.run(outputs + gradients)
result = [values, [v.name for v in tf.global_variables()], [t.name for t in tf.get_collection(tf.GraphKeys.ACTIVATIONS)]]
