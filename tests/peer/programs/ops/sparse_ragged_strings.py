# program: ragged sentences: words, characters, lengths
# compare: error values
# not in 2.21: values
text = tf.constant(["the quick  brown fox", "", "jumps over"])
words = tf.strings.split(text, result_type="RaggedTensor")
lengths = tf.strings.length(words)
chars = tf.strings.unicode_split(words, "UTF-8")
longest = tf.reduce_max(lengths, axis=1)
firsts = words[:, :1].to_tensor(default_value="-")
pairs = tf.strings.ngrams(words, 2)
with tf.Session() as sess:
    out = sess.run([words, lengths, chars, longest, firsts, pairs, words.to_sparse(), lengths + 1, tf.concat([words, pairs], 1)])
result = [x.to_list() if hasattr(x, "to_list") else x for x in out]

# program: embeddings of ragged ids, with gradients
# compare: error values
# not in 2.21: values
table = tf.get_variable("table", initializer=np.arange(12, dtype=np.float32).reshape(6, 2))
ids = tf.ragged.placeholder(tf.int32, 1, value_shape=[])
vectors = tf.ragged.map_flat_values(tf.gather, table, ids)
total = tf.reduce_sum(tf.square(tf.reduce_sum(vectors, axis=1)))
step = tf.train.GradientDescentOptimizer(0.01).minimize(total)
value = tf.ragged.constant_value([[1, 2], [], [0, 2, 5]], dtype=np.int32)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    sess.run(step, {ids: value})
    result = sess.run([table, total, vectors.to_tensor()], {ids: value})

# program: examples parsed in a batch, sparse and sequence features
# compare: error ops values
# not in 2.21: ops
F = tf.train.Feature
def example(i):
    return tf.train.Example(features=tf.train.Features(feature={
        "id": F(int64_list=tf.train.Int64List(value=[i * 1000 - 7])),
        "x": F(float_list=tf.train.FloatList(value=[i, .5])),
        "tags": F(bytes_list=tf.train.BytesList(value=[b"t%d" % j for j in range(i % 3)])),
        "at": F(int64_list=tf.train.Int64List(value=range(i % 3))),
        "w": F(float_list=tf.train.FloatList(value=range(i % 3))),
        "steps": F(int64_list=tf.train.Int64List(value=range(i % 4)))})).SerializeToString()
parsed = tf.parse_example(tf.placeholder(tf.string, [None], name="texts"), {
    "id": tf.FixedLenFeature([], tf.int64), "x": tf.FixedLenFeature([2], tf.float32),
    "tags": tf.VarLenFeature(tf.string), "missing": tf.FixedLenFeature([1], tf.string, [b"no"]),
    "sp": tf.SparseFeature("at", "w", tf.float32, 4),
    "steps": tf.FixedLenSequenceFeature([], tf.int64, allow_missing=True, default_value=-1)})
with tf.Session() as sess:
    out = sess.run(parsed, {"texts:0": [example(i) for i in range(17)]})
result = [out[key] for key in sorted(out)]

# program: sparse tensors as strings and back, crosses
# not in 2.21: ops
a = tf.SparseTensor([[0, 0], [0, 1], [1, 0]], ["a", "b", "c"], [2, 2])
b = tf.SparseTensor([[0, 0], [1, 0]], ["d", "e"], [2, 1])
packed = tf.serialize_many_sparse(a)
again = tf.deserialize_many_sparse(packed, tf.string, rank=1)
with tf.Session() as sess:
    result = sess.run([tf.serialize_sparse(a), packed, again, tf.sparse.cross([a, b]), tf.sparse.cross_hashed([a, b], num_buckets=100)])
