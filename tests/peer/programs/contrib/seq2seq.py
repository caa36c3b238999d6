# program: attention decoders in training, their variables and gradients
# compare: error values
# not in 2.21: error values
s2s = tf.contrib.seq2seq
state = np.random.RandomState(0)
memory, inputs = state.rand(3, 5, 4).astype(np.float32), state.rand(3, 6, 4).astype(np.float32)
lengths, memory_lengths = np.array([6, 2, 4], np.int32), np.array([5, 3, 4], np.int32)
mechanisms = {
    'luong': lambda: s2s.LuongAttention(4, memory, memory_lengths, scale=True),
    'bahdanau': lambda: s2s.BahdanauAttention(4, memory, memory_lengths, normalize=True),
    'hard maxima': lambda: s2s.BahdanauAttention(4, memory, memory_lengths, probability_fn=s2s.hardmax),
    'both': lambda: [s2s.LuongAttention(4, memory, memory_lengths), s2s.BahdanauAttention(3, memory)],
    'recursive': lambda: s2s.BahdanauMonotonicAttention(4, memory, memory_lengths, mode='recursive', normalize=True),
    'parallel': lambda: s2s.LuongMonotonicAttention(4, memory, memory_lengths, scale=True, score_bias_init=-1.0),
}
result = []
for name in sorted(mechanisms):
    with tf.Graph().as_default():
        size = [2, 3] if name == 'both' else 5
        cell = s2s.AttentionWrapper(tf.nn.rnn_cell.BasicLSTMCell(4), mechanisms[name](), attention_layer_size=size,
                                    alignment_history=True, output_attention=name != 'luong')
        decoder = s2s.BasicDecoder(cell, s2s.TrainingHelper(inputs, lengths), cell.zero_state(3, tf.float32),
                                   output_layer=tf.layers.Dense(4, name='out'))
        outputs, final, ends = s2s.dynamic_decode(decoder, impute_finished=True)
        history = final.alignment_history if name == 'both' else [final.alignment_history]
        loss = s2s.sequence_loss(outputs.rnn_output, tf.zeros([3, 6], tf.int32), tf.sequence_mask(lengths, 6, tf.float32))
        # A hard maximum has no gradient.
        gradients = [tf.constant(0.0) if g is None else g for g in tf.gradients(loss, tf.trainable_variables())]
        with tf.Session() as s:
            s.run(tf.global_variables_initializer())
            for v in tf.global_variables():
                values = np.random.RandomState(len(v.name)).rand(*v.shape.as_list())
                v.load(np.asarray(values - 0.5).astype(np.float32), s)
            result.append((name, [(v.name, v.shape.as_list()) for v in tf.global_variables()], outputs.rnn_output.name,
                           s.run([outputs, final._replace(alignment_history=()), ends, loss, gradients,
                                  [h.stack() for h in history]])))

# program: greedy, drawn and scheduled tokens
# compare: error values
# not in 2.21: error values
s2s = tf.contrib.seq2seq
state = np.random.RandomState(0)
table, inputs = tf.constant(state.rand(7, 4).astype(np.float32)), state.rand(3, 6, 4).astype(np.float32)
lengths = np.array([6, 2, 4], np.int32)
cell, result = tf.nn.rnn_cell.GRUCell(4), []
tf.set_random_seed(3)
for helper in (s2s.GreedyEmbeddingHelper(table, [1, 2, 3], 4),
               s2s.SampleEmbeddingHelper(table, [1, 2, 3], 4, softmax_temperature=0.5, seed=7),
               s2s.ScheduledEmbeddingTrainingHelper(inputs, lengths, table, 0.5, seed=3, scheduling_seed=5),
               s2s.ScheduledOutputTrainingHelper(inputs, lengths, 0.5, seed=3, auxiliary_inputs=inputs[:, :, :3],
                                                 next_inputs_fn=lambda x: x[:, :4] * 2.0)):
    inner = tf.nn.rnn_cell.GRUCell(4)
    decoder = s2s.BasicDecoder(inner, helper, inner.zero_state(3, tf.float32), output_layer=tf.layers.Dense(7))
    # One step after the other: the order of draws is that of the steps.
    outputs, _, ends = s2s.dynamic_decode(decoder, maximum_iterations=8, parallel_iterations=1,
                                          scope='decoder_%d' % len(result))
    result.append((outputs.sample_id.name, outputs.rnn_output.shape.as_list(), outputs, ends))
with tf.Session() as s:
    s.run(tf.global_variables_initializer())
    for v in tf.global_variables():
        v.load(np.random.RandomState(len(v.name)).rand(*v.shape.as_list()).astype(np.float32) - 0.5, s)
    result = [(name, shape, s.run([outputs, ends])) for name, shape, outputs, ends in result]

# program: beam search over attention, with penalties and the history of alignments
# compare: error values
# not in 2.21: error values
s2s = tf.contrib.seq2seq
state = np.random.RandomState(0)
memory, table = state.rand(3, 5, 4).astype(np.float32), state.rand(7, 4).astype(np.float32)
result = []
for known in (True, False):
    with tf.Graph().as_default():
        batch = 3 if known else tf.placeholder_with_default(3, [])
        own = tf.constant(memory) if known else tf.placeholder_with_default(memory, [None, None, 4])
        mechanism = s2s.BahdanauAttention(4, s2s.tile_batch(own, 4), s2s.tile_batch(tf.constant([5, 3, 4]), 4))
        cells = tf.nn.rnn_cell.MultiRNNCell([tf.nn.rnn_cell.LSTMCell(4), tf.nn.rnn_cell.GRUCell(4)])
        cell = s2s.AttentionWrapper(cells, mechanism, alignment_history=True, attention_layer_size=4)
        decoder = s2s.BeamSearchDecoder(cell, tf.constant(table), tf.fill([batch], 1), 4, cell.zero_state(batch * 4, tf.float32),
                                        4, tf.layers.Dense(7, use_bias=False), 0.6, 0.3)
        outputs, final, _ = s2s.dynamic_decode(decoder, maximum_iterations=9)
        history = final.cell_state.alignment_history
        if known:
            history = history.stack()
        with tf.Session() as s:
            s.run(tf.global_variables_initializer())
            for v in tf.global_variables():
                v.load(np.random.RandomState(len(v.name)).rand(*v.shape.as_list()).astype(np.float32) - 0.5, s)
            result.append(([v.name for v in tf.global_variables()], outputs.predicted_ids.shape.as_list(),
                           s.run([outputs, final.lengths, final.log_probs, final.finished, history])))

# program: mistakes with decoders
# compare: error values
# not in 2.21: error values
s2s = tf.contrib.seq2seq
cell = tf.nn.rnn_cell.GRUCell(4)
memory = tf.ones([2, 3, 4])
wrapper = s2s.AttentionWrapper(cell, s2s.LuongAttention(4, memory))
result = [
    error(s2s.AttentionWrapper, cell, 'mechanism'), error(s2s.AttentionWrapper, cell, [s2s.LuongAttention(4, memory)], 3, False, 5),
    error(s2s.AttentionWrapper, cell, [s2s.LuongAttention(4, memory)], [3, 4]), error(wrapper.zero_state, 6, tf.float32),
    error(wrapper, tf.ones([2, 4]), tf.ones([2, 4])), error(wrapper.zero_state(2, tf.float32).clone, cell_state=tf.ones([2, 5])),
    error(s2s.LuongAttention(5, memory), tf.ones([2, 4]), None), error(s2s.LuongAttention, 5, tf.placeholder(tf.float32, [1, None, None])),
    error(s2s.BasicDecoder, cell, None, None), error(s2s.BasicDecoder, 'cell', None, None), error(s2s.dynamic_decode, None),
    error(s2s.TrainingHelper, memory, 3), error(s2s.GreedyEmbeddingHelper, memory, 1, 2), error(s2s.GreedyEmbeddingHelper, memory, [1], [2]),
    error(s2s.ScheduledOutputTrainingHelper, memory, [3, 3], [[0.5]]), error(s2s.tile_batch, tf.constant(1), 2),
    error(s2s.sequence_loss, memory, memory, memory), error(s2s.monotonic_attention, memory, memory, 'soft'),
    error(s2s.BeamSearchDecoder, cell, tf.ones([7, 4]), [1, 2], 3, tf.ones([2, 4]), 3), error(s2s.Helper), error(s2s.Decoder),
    error(s2s.CustomHelper(None, None, None).initialize), error(lambda: s2s.CustomHelper(None, None, None).batch_size),
]
