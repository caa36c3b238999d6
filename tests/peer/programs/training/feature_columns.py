# program: input_layer over dense columns, names and values
# compare: error ops values
# not in 2.21: error ops attrs values
fc = tf.feature_column
tf.set_random_seed(1)
x = fc.numeric_column("x", shape=2, normalizer_fn=lambda t: t * 2.0)
z = fc.numeric_column("z", shape=[2, 2], dtype=tf.int64)
b = fc.bucketized_column(fc.numeric_column("x", shape=2), [0.0, 1.0, 2.5])
k = fc.categorical_column_with_hash_bucket("k", 7)
n = fc.categorical_column_with_hash_bucket("n", 5, dtype=tf.int32)
columns = [x, z, b, fc.embedding_column(k, 3), fc.embedding_column(n, 2, combiner="sum"), fc.embedding_column(b, 2, combiner="sqrtn", max_norm=0.3), fc.indicator_column(n)]
features = {"x": tf.constant([[-1.0, 0.5], [2.5, 1.0]]), "z": tf.constant([[[1, 2], [3, 4]], [[5, 6], [7, 8]]], tf.int64), "k": tf.constant([["a", ""], ["b", "c"]]), "n": tf.constant([3, -1])}
variables, tensors = {}, {}
y = fc.input_layer(features, columns, cols_to_vars=variables, cols_to_output_tensors=tensors, weight_collections=["mine"])
with tf.Session() as sess:
    sess.run([tf.global_variables_initializer(), tf.tables_initializer()])
    result = sess.run(y), [v.name for v in tf.get_collection("mine")], sorted((c.name, [v.name for v in vs]) for c, vs in variables.items()), sorted((c.name, t.name, t.shape.as_list()) for c, t in tensors.items()), [v.name for v in tf.model_variables()], [v.name for v in tf.trainable_variables()], sess.run(tf.trainable_variables())

# program: vocabularies, unknown words, defaults
# compare: error values
# not in 2.21: error ops attrs values
import os, tempfile
fc = tf.feature_column
path = os.path.join(tempfile.mkdtemp(), "words.txt")
with open(path, "w") as f: f.write("one\ntwo\nthree\n")
words = tf.SparseTensor([[0, 0], [0, 1], [1, 0], [3, 2]], ["one", "four", "three", "five"], [4, 3])
numbers = tf.constant([[30], [10], [-1], [77]], tf.int32)
columns = [
    fc.categorical_column_with_vocabulary_list("w", ["one", "two", "three"]),
    fc.categorical_column_with_vocabulary_list("w", ["one", "two", "three"], default_value=2),
    fc.categorical_column_with_vocabulary_list("w", ["one", "two", "three"], num_oov_buckets=3),
    fc.categorical_column_with_vocabulary_list("n", [10, 20, 30]),
    fc.categorical_column_with_vocabulary_list("n", [10, 20, 30], dtype=tf.int32, num_oov_buckets=2),
    fc.categorical_column_with_vocabulary_file("w", path),
    fc.categorical_column_with_vocabulary_file("w", path, 2, num_oov_buckets=1),
    fc.categorical_column_with_vocabulary_file("w", path, vocabulary_size=3, default_value=1),
    fc.categorical_column_with_identity("n", 31, default_value=5),
]
outs = []
for c in columns:
    outs.append(fc.input_layer({"w": words, "n": numbers}, [fc.indicator_column(c)]))
    outs.append(fc.linear_model({"w": words, "n": numbers}, [c]))
with tf.Session() as sess:
    sess.run([tf.global_variables_initializer(), tf.tables_initializer()])
    result = [sess.run(outs), [v.name for v in tf.global_variables()], [v.shape.as_list() for v in tf.global_variables()]]
    bad = fc.input_layer({"n": tf.constant([[9]])}, [fc.indicator_column(fc.categorical_column_with_identity("n", 3))])
    result.append(error(sess.run, bad))
    bad = fc.input_layer({"n": tf.constant([[-4]])}, [fc.indicator_column(fc.categorical_column_with_identity("n", 3))])
    result.append(error(sess.run, bad))

# program: a linear model trains over every kind of column
# compare: error values
# not in 2.21: error ops attrs values
import warnings
warnings.simplefilter("ignore")
fc = tf.feature_column
rs = np.random.RandomState(0)
x = fc.numeric_column("x", shape=2)
b = fc.bucketized_column(x, [0.2, 0.5, 0.7])
k = fc.categorical_column_with_hash_bucket("k", 7)
v = fc.categorical_column_with_vocabulary_list("v", ["a", "b", "c"], num_oov_buckets=2)
w = fc.weighted_categorical_column(fc.categorical_column_with_identity("i", 6), "iw")
columns = [x, b, k, v, w, fc.crossed_column(["k", "v"], 11), fc.crossed_column([b, "v", fc.categorical_column_with_identity("i", 6)], 13, hash_key=5), fc.embedding_column(k, 2, initializer=tf.constant_initializer(0.5))]
features = {
    "x": tf.constant(rs.rand(5, 2), tf.float32),
    "k": tf.constant(rs.choice(["p", "q", "r", ""], [5, 3])),
    "v": tf.constant(rs.choice(["a", "b", "c", "d", "e"], [5, 2])),
    "i": tf.SparseTensor([[0, 0], [0, 1], [2, 0], [4, 0], [4, 1]], tf.constant([1, 5, 2, 2, 0], tf.int64), [5, 2]),
    "iw": tf.SparseTensor([[0, 0], [0, 1], [2, 0], [4, 0], [4, 1]], [0.5, 2.0, -1.0, 1.0, 0.25], [5, 2]),
}
result = []
labels = tf.constant(rs.rand(5, 2), tf.float32)
for combiner in ("sum", "mean", "sqrtn"):
    collected = {}
    with tf.variable_scope(combiner):
        y = fc.linear_model(features, columns, units=2, sparse_combiner=combiner, cols_to_vars=collected)
    loss = tf.reduce_mean(tf.square(y - labels))
    variables = [p for name in sorted(getattr(c, "name", c) for c in collected) for c, ps in collected.items() if getattr(c, "name", c) == name for p in ps]
    grads = tf.gradients(loss, variables)
    train = tf.train.AdagradOptimizer(0.5).minimize(loss)
    with tf.Session() as sess:
        sess.run([tf.global_variables_initializer(), tf.tables_initializer()])
        result.append([p.name for p in variables])
        result.append([[g.indices, g.values] if isinstance(g, tf.IndexedSlices) else g for g in sess.run(grads)])
        result.append([sess.run([train, loss])[1] for _ in range(4)])
        result.append(sess.run([y] + variables))

# program: a linear model's graph, collections and names, twice
# compare: error ops values
# not in 2.21: error ops attrs values
fc = tf.feature_column
k = fc.categorical_column_with_hash_bucket("k", 7)
b = fc.bucketized_column(fc.numeric_column("x", shape=2), [0.0, 1.0])
columns = [k, fc.numeric_column("x", shape=2), b, fc.crossed_column(["k", b], 5)]
features = {"x": tf.placeholder(tf.float32, [None, 2], name="x"), "k": tf.placeholder(tf.string, [None], name="k")}
y = fc.linear_model(features, columns, weight_collections=["mine"], trainable=False)
with tf.variable_scope("again"):
    z = fc.linear_model(features, columns[:1], units=3)
z2 = fc.linear_model(features, columns[1:2])
result = [[getattr(i, "name", i) for i in tf.get_collection(c)] for c in ("mine", "variables", "trainable_variables", "model_variables", "update_ops")], y.name, z.name, z2.name

# program: embeddings train; combiners, norms, weights, empty rows
# compare: error values
# not in 2.21: error ops attrs values
import warnings
warnings.simplefilter("ignore")
fc = tf.feature_column
tf.set_random_seed(3)
ids = fc.categorical_column_with_identity("i", 6)
features = {
    "i": tf.SparseTensor([[0, 0], [0, 1], [2, 0], [4, 0], [4, 1]], tf.constant([1, 5, 2, 2, 0], tf.int64), [6, 2]),
    "w": tf.SparseTensor([[0, 0], [0, 1], [2, 0], [4, 0], [4, 1]], [0.5, 2.0, -1.0, 1.0, 0.25], [6, 2]),
}
result = []
for combiner in ("mean", "sum", "sqrtn"):
    for norm in (None, 0.4):
        for base in (ids, fc.weighted_categorical_column(ids, "w")):
            with tf.variable_scope("part_%d" % len(result)):
                y = fc.input_layer(features, [fc.embedding_column(base, 3, combiner=combiner, max_norm=norm)])
            loss = tf.reduce_sum(tf.square(y - 1.0))
            train = tf.train.AdamOptimizer(0.1).minimize(loss)
            table = tf.trainable_variables()[-1]
            with tf.Session() as sess:
                sess.run(tf.global_variables_initializer())
                result.append([table.name, sess.run(y), [sess.run([train, loss])[1] for _ in range(3)], sess.run(table)])

# program: shared tables of the earlier kind
# compare: error values
# not in 2.21: error ops attrs values
fc = tf.feature_column
tf.set_random_seed(4)
a = fc.categorical_column_with_identity("a", 4, default_value=0)
c = fc.weighted_categorical_column(fc.categorical_column_with_identity("c", 4, default_value=0), "cw")
shared = fc.shared_embedding_columns([c, a], 2)
named = fc.shared_embedding_columns([a, c], 3, shared_embedding_collection_name="both", combiner="sum", trainable=False)
features = {"a": tf.constant([[1, 2], [3, -1]]), "c": tf.constant([[0], [1]]), "cw": tf.constant([[2.0], [0.5]])}
y = fc.input_layer(features, shared), fc.input_layer(features, named)
sums = {}
z = fc.input_layer(features, shared[:1], cols_to_vars=sums)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    result = sess.run([y, z]), [v.name for v in tf.global_variables()], [v.name for v in tf.trainable_variables()], [v.name for v in tf.get_collection("both")], [c.name for c in shared + named], [c._var_scope_name for c in shared + named]

# program: tables start with a checkpoint's values
# compare: error values
# not in 2.21: error ops attrs values
import os, tempfile
fc = tf.feature_column
path = os.path.join(tempfile.mkdtemp(), "model.ckpt")
with tf.Graph().as_default(), tf.Session() as sess:
    tf.get_variable("table", initializer=np.arange(12, dtype=np.float32).reshape(4, 3))
    sess.run(tf.global_variables_initializer())
    path = tf.train.Saver().save(sess, path)
ids = fc.categorical_column_with_identity("i", 4)
other = fc.categorical_column_with_identity("o", 4)
columns = [fc.embedding_column(ids, 3, ckpt_to_load_from=path, tensor_name_in_ckpt="table")] + fc.shared_embedding_columns([other, ids], 3, ckpt_to_load_from=path, tensor_name_in_ckpt="table")
features = {"i": tf.constant([[0], [3]]), "o": tf.constant([[1], [2]])}
y = fc.input_layer(features, columns)
with tf.variable_scope("cut", partitioner=tf.fixed_size_partitioner(2)):
    z = fc.input_layer(features, columns[:1])
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    result = sess.run([y, z]), [v.name for v in tf.global_variables()], error(fc.input_layer, features, [fc.embedding_column(ids, 2, ckpt_to_load_from=path, tensor_name_in_ckpt="table")]), error(fc.input_layer, features, [fc.embedding_column(ids, 3, ckpt_to_load_from=path, tensor_name_in_ckpt="nope")])

# program: partitioned tables and weights
# not in 2.21: error ops attrs values
fc = tf.feature_column
tf.set_random_seed(5)
ids = fc.categorical_column_with_identity("i", 5, default_value=0)
ids_in = tf.placeholder(tf.int32, [None, 2])
features = {"i": ids_in}
found, weights = {}, {}
with tf.variable_scope("cut", partitioner=tf.fixed_size_partitioner(2)):
    y = fc.input_layer(features, [fc.embedding_column(ids, 3)], cols_to_vars=found)
    z = fc.linear_model(features, [ids], cols_to_vars=weights)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    result = sess.run([y, z], {ids_in: [[0, 4], [3, -1]]}), [v.name for v in tf.global_variables()], sorted([v.name for v in vs] for vs in found.values()), sorted([v.name for v in vs] for vs in weights.values())

# program: features of rank 1, of unknown rank, sparse vectors; wrong features
# compare: error values
# not in 2.21: error ops attrs values
fc = tf.feature_column
x, k = fc.numeric_column("x"), fc.categorical_column_with_hash_bucket("k", 4)
unknown = tf.placeholder(tf.float32)
words = tf.placeholder(tf.string)
sparse = tf.SparseTensor([[0], [2]], ["a", "b"], [3])
outs = [fc.input_layer({"x": unknown}, [x]), fc.linear_model({"k": words}, [k]), fc.input_layer({"k": sparse}, [fc.indicator_column(k)]), fc.input_layer({"x": np.array([1.0, 2.0])}, [x]), fc.linear_model({"x": [[1.0], [2.0]]}, [x])]
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    result = [sess.run(outs, {unknown: value, words: [["a", ""], ["b", "c"]]}) for value in ([1.0, 2.0], [[3.0], [4.0]])]
    result.append([error(sess.run, outs[0], {unknown: 3.0})])
result.append([
    error(fc.input_layer, {"x": tf.constant(1.0)}, [x]), error(fc.input_layer, {}, [x]), error(fc.input_layer, {"x": sparse}, [x]), error(fc.input_layer, {"k": words}, [k]), error(fc.input_layer, {"k": words}, []), error(fc.input_layer, {"k": words}, {"a": x}),
    error(fc.input_layer, {"x": [[1.0]]}, [x, x]), error(fc.input_layer, {"x": [[1.0]]}, ["x"]), error(fc.linear_model, {"x": [[1.0]]}, ["x"]), error(fc.linear_model, {"k": tf.constant([1])}, [k]), error(fc.linear_model, {"k": tf.constant([1.0])}, [k]),
    error(fc.input_layer, {"x": tf.constant([1.0, 2.0]), "y": tf.constant([1.0])}, [x, fc.numeric_column("y")]),
    error(fc.linear_model, {"x": tf.constant([1.0, 2.0]), "k": tf.constant(["a"])}, [x, k]),
    error(fc.input_layer, {"k": tf.constant(["a"])}, [fc.embedding_column(fc.sequence_categorical_column_with_hash_bucket("k", 4), 2)]),
    error(fc.input_layer, {"k": tf.constant(["a"])}, [fc.indicator_column(fc.sequence_categorical_column_with_hash_bucket("k", 4))]),
])

# program: arguments of columns that are wrong
# compare: error values
# not in 2.21: error ops attrs values
fc = tf.feature_column
x = fc.numeric_column("x")
k = fc.categorical_column_with_hash_bucket("k", 4)
i = fc.categorical_column_with_identity("i", 4)
cases = [
    (fc.numeric_column, "x", 0), (fc.numeric_column, "x", 1.5), (fc.numeric_column, "x", 1, "a"), (fc.numeric_column, "x", 2, [1.0]), (fc.numeric_column, "x", 1, 1.5, tf.int32), (fc.numeric_column, "x", 1, None, tf.string), (fc.numeric_column, "x", 1, None, tf.float32, 3), (fc.numeric_column, ["x"]), (fc.numeric_column, "x", 2, [1, 2]), (fc.numeric_column, "x", [2, 1], [[1.5], [2]]),
    (fc.bucketized_column, k, [1]), (fc.bucketized_column, x, []), (fc.bucketized_column, x, [2, 1]), (fc.bucketized_column, x, [1, 1]), (fc.bucketized_column, x, 3), (fc.bucketized_column, fc.numeric_column("x", [2, 2]), [1]), (fc.bucketized_column, x, np.array([1.0])),
    (fc.categorical_column_with_hash_bucket, "k", None), (fc.categorical_column_with_hash_bucket, "k", 0), (fc.categorical_column_with_hash_bucket, "k", 2, tf.float32), (fc.categorical_column_with_hash_bucket, 3, 2),
    (fc.categorical_column_with_vocabulary_list, "k", []), (fc.categorical_column_with_vocabulary_list, "k", None), (fc.categorical_column_with_vocabulary_list, "k", ["a", "a"]), (fc.categorical_column_with_vocabulary_list, "k", ["a"], tf.int32), (fc.categorical_column_with_vocabulary_list, "k", [1.5]), (fc.categorical_column_with_vocabulary_list, "k", ["a"], None, 3, 2), (fc.categorical_column_with_vocabulary_list, "k", ["a"], None, -1, -2), (fc.categorical_column_with_vocabulary_list, ("k",), ["a"]),
    (fc.categorical_column_with_vocabulary_file, "k", ""), (fc.categorical_column_with_vocabulary_file, "k", "/nowhere"), (fc.categorical_column_with_vocabulary_file, "k", "/nowhere", 0), (fc.categorical_column_with_vocabulary_file, "k", "/nowhere", 3, -1), (fc.categorical_column_with_vocabulary_file, "k", "/nowhere", 3, 1, 1), (fc.categorical_column_with_vocabulary_file, "k", "/nowhere", 3, 0, None, tf.float32), (fc.categorical_column_with_vocabulary_file, "k", "/nowhere", 3),
    (fc.categorical_column_with_identity, "i", 0), (fc.categorical_column_with_identity, "i", 3, 3), (fc.categorical_column_with_identity, "i", 3, -1), (fc.categorical_column_with_identity, 5, 3),
    (fc.weighted_categorical_column, k, "w", None), (fc.weighted_categorical_column, k, "w", tf.string), (fc.weighted_categorical_column, k, "w", tf.int32),
    (fc.crossed_column, ["a"], 3), (fc.crossed_column, [], 3), (fc.crossed_column, ["a", "b"], 0), (fc.crossed_column, ["a", k], 3), (fc.crossed_column, ["a", x], 3), (fc.crossed_column, ["a", 3], 3), (fc.crossed_column, ["a", i], 3),
    (fc.embedding_column, k, 0), (fc.embedding_column, k, None), (fc.embedding_column, k, 2, "mean", 3), (fc.embedding_column, k, 2, "mean", None, "path"), (fc.embedding_column, k, 2, "mean", None, None, "name"),
    (fc.shared_embedding_columns, [k, i], 2), (fc.shared_embedding_columns, [i, fc.categorical_column_with_identity("j", 5)], 2), (fc.shared_embedding_columns, [i], 0),
    (fc.sequence_numeric_column, "x", 0), (fc.sequence_numeric_column, "x", 1, 0.0, tf.string), (fc.sequence_numeric_column, "x", 1, 0.0, tf.float32, 3), (fc.make_parse_example_spec, ["x"]), (fc.make_parse_example_spec, [x, fc.numeric_column("x", 2)]), (fc.make_parse_example_spec, [fc.weighted_categorical_column(k, "k")]),
]
result = [(case[0].__name__, error(*case)) for case in cases]

# program: columns as values, and what they parse
# compare: error values
# not in 2.21: error ops attrs values
fc = tf.feature_column
x = fc.numeric_column("x", 2, default_value=1.5)
b = fc.bucketized_column(x, [1.0, 2.0])
k = fc.categorical_column_with_hash_bucket("k", 4)
i = fc.categorical_column_with_identity("i", 4)
w = fc.weighted_categorical_column(i, "w")
v = fc.categorical_column_with_vocabulary_list("v", ["a", "b"])
c = fc.crossed_column([b, "k", fc.crossed_column(["v", "j"], 4)], 9)
e = fc.embedding_column(k, 2, initializer=tf.zeros_initializer)
columns = [x, b, k, i, w, v, c, fc.indicator_column(w), e] + fc.shared_embedding_columns([k], 2) + [fc.sequence_categorical_column_with_identity("s", 3), fc.sequence_numeric_column("q", 2)]
result = [[p.name for p in columns], [type(p).__name__ for p in columns], [sorted(p.parents, key=str) == sorted(p.parents, key=str) for p in columns if hasattr(p, "parents") and "Shared" not in type(p).__name__], [getattr(p, "num_buckets", None) for p in columns], [str(getattr(p, "variable_shape", None)) for p in columns]]
result.append(sorted((key, type(value).__name__, [str(part) for part in value]) for key, value in fc.make_parse_example_spec(columns[:-1]).items()))
result.append([repr(p) for p in (x, b, k, i, v, w)])
result.append([x == fc.numeric_column("x", 2, default_value=1.5), x == fc.numeric_column("x", 2), hash(b) == hash(fc.bucketized_column(x, [1.0, 2.0])), [p.name for p in sorted(columns[:6])], x < b, x > b, x._fields, x._replace(key="y").name, w._asdict()["weight_feature_key"], c._fields, e._fields])

# program: layers of columns, their variables and names
# compare: error ops values
# not in 2.21: error ops attrs values
fc = tf.feature_column
tf.set_random_seed(6)
x = fc.numeric_column("x", shape=2)
k = fc.categorical_column_with_hash_bucket("k", 7)
columns = [x, fc.embedding_column(k, 3), fc.indicator_column(fc.categorical_column_with_vocabulary_list("v", ["a", "b"], num_oov_buckets=2))]
features = {"x": tf.placeholder(tf.float32, [None, 2]), "k": tf.placeholder(tf.string, [None]), "v": tf.placeholder(tf.string, [None, 2])}
layer = tf.keras.layers.DenseFeatures(columns)
y, again = layer(features), layer(features)
with tf.variable_scope("cut", partitioner=tf.fixed_size_partitioner(2)):
    z = tf.keras.layers.DenseFeatures(columns, name="parts", trainable=False)(features)
with tf.Session() as sess:
    sess.run([tf.global_variables_initializer(), tf.tables_initializer()])
    result = sess.run([y, again, z], {features["x"]: [[1.0, 2.0], [3.0, 4.0]], features["k"]: ["a", "b"], features["v"]: [["a", "q"], ["", "b"]]}), [v.name for v in layer.variables], layer.compute_output_shape((None, 2)), [v.name for v in tf.trainable_variables()], [v.name for v in tf.global_variables()], error(layer, [1.0]), error(tf.keras.layers.DenseFeatures, [k])

# program: sequences of columns
# compare: error values
# not in 2.21: error ops attrs values
fc = tf.feature_column
tf.set_random_seed(7)
words = fc.sequence_categorical_column_with_hash_bucket("s", 5)
listed = fc.sequence_categorical_column_with_vocabulary_list("t", ["a", "b"], num_oov_buckets=1)
columns = [fc.embedding_column(words, 2), fc.indicator_column(listed), fc.sequence_numeric_column("q", 2, default_value=-1.0)]
features = {"s": tf.sparse_placeholder(tf.string, [None, 3]), "t": tf.sparse_placeholder(tf.string, [None, 3]), "q": tf.sparse_placeholder(tf.float32, [None, 6])}
layer = tf.keras.experimental.SequenceFeatures(columns)
y, lengths = layer(features)
feeds = {features["s"]: ([[0, 0], [0, 1], [1, 0]], ["a", "b", "c"], [2, 3]), features["t"]: ([[0, 0], [0, 1], [1, 0]], ["a", "z", "b"], [2, 3]), features["q"]: ([[0, 0], [0, 1], [0, 2], [0, 3], [1, 0], [1, 1]], [1.0, 2.0, 3.0, 4.0, 5.0, 6.0], [2, 6])}
with tf.Session() as sess:
    sess.run([tf.global_variables_initializer(), tf.tables_initializer()])
    result = sess.run([y, lengths], feeds), [v.name for v in layer.variables], error(tf.keras.experimental.SequenceFeatures, [fc.numeric_column("x")]), error(tf.keras.experimental.SequenceFeatures([fc.embedding_column(fc.categorical_column_with_hash_bucket("s", 5), 2)]), features)
