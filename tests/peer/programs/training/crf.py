# program: scores, norms and best sequences of conditional random fields
# compare: error values
# not in 2.21: error values
rs = np.random.RandomState(0)
def build(inputs, tags, lengths, trans):
    crf = tf.contrib.crf
    bitmap = tf.one_hot(tags, 4, on_value=True, off_value=False) | tf.constant(rs.rand(3, 1, 4) > 0.7)
    cells = crf.CrfForwardRnnCell(trans), crf.CrfDecodeForwardRnnCell(trans), crf.CrfDecodeBackwardRnnCell(4)
    return [crf.crf_sequence_score(inputs, tags, lengths, trans), crf.crf_log_norm(inputs, lengths, trans),
            crf.crf_log_likelihood(inputs, tags, lengths, trans)[0], crf.crf_decode(inputs, trans, lengths),
            crf.crf_unary_score(tags, lengths, inputs), crf.crf_binary_score(tags, lengths, trans),
            crf.crf_multitag_sequence_score(inputs, bitmap, lengths, trans),
            [(c.state_size, c.output_size) for c in cells] and cells[0](inputs[:, 0], inputs[:, 0])]
outs = []
trans = tf.constant(rs.randn(4, 4), tf.float32)
for steps, kind in [(5, np.int32), (1, np.int64), (5, np.int64), (1, np.int32)]:
    outs.append(build(tf.constant(rs.randn(3, steps, 4), tf.float32), tf.constant(rs.randint(0, 4, (3, steps)), kind), tf.constant([5, 3, 0] if steps > 1 else [1, 1, 0], kind), trans))
unknown = tf.placeholder(tf.float32, [None, None, 4])
outs_unknown = build(unknown, tf.placeholder_with_default(rs.randint(0, 4, (3, 5)), [None, None]), tf.constant([5, 2, 1]), trans)
s = tf.Session()
values = s.run(outs), s.run(outs_unknown, {unknown: rs.randn(3, 5, 4)})
shapes = [t.shape.as_list() if t.shape.dims is not None else None for t in tf.contrib.framework.nest.flatten(outs + [outs_unknown])]
v = [tf.contrib.crf.viterbi_decode(rs.randn(n, 4).astype(t), rs.randn(4, 4).astype(t)) for n in (1, 6) for t in ('f', 'd')]
result = values, shapes, v, [type(a).__name__ for a, _ in v], error(tf.contrib.crf.crf_log_likelihood, np.zeros([2, 3, 4]), tf.zeros([2, 3], tf.int32), tf.constant([1, 2])), error(tf.contrib.crf.viterbi_decode, np.zeros([2, 3]), np.zeros([2, 2]))

# program: a conditional random field is trained
# compare: error values
# not in 2.21: error values
tf.set_random_seed(3)
rs = np.random.RandomState(0)
words = tf.constant(rs.randn(4, 6, 5), tf.float32); tags = tf.constant(rs.randint(0, 3, (4, 6)), tf.int32); lengths = tf.constant([6, 4, 1, 3])
logits = tf.layers.dense(words, 3)
likelihood, transitions = tf.contrib.crf.crf_log_likelihood(logits, tags, lengths)
loss = tf.reduce_mean(-likelihood)
step = tf.train.GradientDescentOptimizer(0.3).minimize(loss)
decoded, best = tf.contrib.crf.crf_decode(logits, transitions, lengths)
with tf.Session() as s:
    s.run(tf.global_variables_initializer())
    before = s.run([logits, transitions])
    losses = [s.run([loss, step])[0] for _ in range(8)]
    result = [v.name for v in tf.global_variables()], [np.round(v, 4) for v in before + losses + s.run([transitions, decoded, best])], transitions.dtype.name
