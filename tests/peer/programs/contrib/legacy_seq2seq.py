# program: contrib.legacy_seq2seq's decoders, encoders with decoders, and losses
# not in 2.21: error ops attrs values
s2s, r = tf.contrib.legacy_seq2seq, tf.contrib.rnn
tf.get_variable_scope().set_initializer(tf.random_uniform_initializer(-0.5, 0.5, seed=3))
random = np.random.RandomState(0)
x = [tf.constant(v, tf.float32) for v in random.randn(3, 2, 4)]
y = [tf.constant(v, tf.float32) for v in random.randn(2, 2, 4)]
enc = [tf.constant(v) for v in random.randint(0, 5, (3, 2))]
dec = [tf.constant(v) for v in random.randint(0, 5, (4, 2))]
proj = tf.constant(random.randn(3, 5), tf.float32), tf.constant(random.randn(5), tf.float32)
out = [s2s.basic_rnn_seq2seq(x, y, r.LSTMCell(3)), s2s.tied_rnn_seq2seq(x, y, r.GRUCell(3)), s2s.rnn_decoder(y, tf.zeros([2, 4]), r.GRUCell(4), loop_function=lambda prev, i: prev * i)]
for feed in (False, True):
    with tf.variable_scope('f%d' % feed):
        out += [s2s.embedding_rnn_decoder(dec, tf.zeros([2, 3]), r.GRUCell(3), 5, 2, output_projection=proj, feed_previous=feed), s2s.embedding_rnn_seq2seq(enc, dec, r.GRUCell(3), 5, 5, 2, feed_previous=feed), s2s.embedding_tied_rnn_seq2seq(enc, dec, r.LSTMCell(3), 5, 2, num_decoder_symbols=5, feed_previous=feed), s2s.embedding_attention_seq2seq(enc, dec, r.GRUCell(3), 5, 5, 2, num_heads=2, feed_previous=feed), s2s.embedding_attention_seq2seq(enc, dec, r.LSTMCell(3), 5, 5, 2, output_projection=proj, feed_previous=feed, initial_state_attention=True, scope='att'), s2s.one2many_rnn_seq2seq(enc, {'a': dec}, r.GRUCell(3), {'a': r.GRUCell(3)}, 5, {'a': 5}, 2, feed_previous=feed)]
out.append(s2s.attention_decoder(y, tf.zeros([2, 3]), tf.constant(random.randn(2, 5, 3), tf.float32), r.GRUCell(3), output_size=6))
logits = [tf.constant(v, tf.float32) for v in random.randn(4, 2, 5)]
weights = [tf.constant(v, tf.float32) for v in random.rand(4, 2)]
out += [s2s.sequence_loss(logits, dec, weights), s2s.sequence_loss(logits, dec, weights, average_across_timesteps=False, average_across_batch=False), s2s.sequence_loss_by_example(logits, dec, weights, softmax_loss_function=lambda labels, logits: tf.cast(labels, tf.float32) + logits[:, 0])]
out += [s2s.model_with_buckets(enc, dec, dec, weights, [(2, 3), (3, 4)], lambda a, b: s2s.basic_rnn_seq2seq([tf.one_hot(t, 5) for t in a], [tf.one_hot(t, 5) for t in b], r.OutputProjectionWrapper(r.GRUCell(3), 5)), per_example_loss=True)]
grads = tf.gradients([t for o in out[:9] if isinstance(o[0], list) for t in o[0]], tf.trainable_variables())
grads = [tf.convert_to_tensor(g) for g in grads if g is not None]
with tf.Session() as s:
    s.run(tf.global_variables_initializer())
    values = s.run([out, grads])
result = values, [v.name for v in tf.global_variables()], error(s2s.sequence_loss, logits, dec[:2], weights), error(s2s.model_with_buckets, enc, dec, dec, weights, [(9, 3)], None), error(s2s.attention_decoder, [], 0, 0, r.GRUCell(2)), error(s2s.attention_decoder, y, 0, 0, r.GRUCell(2), num_heads=0), error(s2s.one2many_rnn_seq2seq, enc, {}, 3, {}, 5, {}, 2), error(s2s.one2many_rnn_seq2seq, enc, {'a': dec}, r.GRUCell(2), {}, 5, {}, 2), error(s2s.embedding_rnn_decoder, dec, tf.zeros([2, 3]), r.GRUCell(3), 6, 2, output_projection=proj)

# program: contrib.legacy_seq2seq feeds what came before as a placeholder says
# compare: error values
import warnings
warnings.simplefilter("ignore")  # the gradient becomes dense
s2s, r = tf.contrib.legacy_seq2seq, tf.contrib.rnn
tf.get_variable_scope().set_initializer(tf.random_uniform_initializer(-0.5, 0.5, seed=3))
random = np.random.RandomState(0)
enc = [tf.constant(v) for v in random.randint(0, 5, (3, 2))]
dec = [tf.constant(v) for v in random.randint(0, 5, (4, 2))]
feed = tf.placeholder(tf.bool, [])
out = [s2s.embedding_rnn_seq2seq(enc, dec, r.GRUCell(3), 5, 5, 2, feed_previous=feed), s2s.embedding_tied_rnn_seq2seq(enc, dec, r.LSTMCell(3), 5, 2, feed_previous=feed), s2s.embedding_attention_seq2seq(enc, dec, r.LSTMCell(3), 5, 5, 2, feed_previous=feed), s2s.one2many_rnn_seq2seq(enc, {'a': dec, 'b': dec[:2]}, r.GRUCell(3), {'a': r.GRUCell(3), 'b': r.GRUCell(3)}, 5, {'a': 5, 'b': 5}, 2, feed_previous=feed)]
loss = tf.add_n([tf.reduce_sum(tf.square(t)) for o in out[:3] for t in o[0]])
grads = [tf.convert_to_tensor(g) for g in tf.gradients(loss, tf.trainable_variables()) if g is not None]
with tf.Session() as s:
    s.run(tf.global_variables_initializer())
    values = [s.run([out, grads], {feed: f}) for f in (False, True)]
result = values, [v.name for v in tf.global_variables()]
