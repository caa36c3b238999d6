# program: each cell of contrib.rnn over steps, its variables, outputs and gradients
# not in 2.21: error ops attrs values
r = tf.contrib.rnn
tf.set_random_seed(5)
x = [tf.constant(v, tf.float32) for v in np.random.RandomState(0).randn(4, 3, 6)]
cells = [r.LayerNormBasicLSTMCell(4), r.LayerNormBasicLSTMCell(4, layer_norm=False, forget_bias=0.5), r.LayerNormBasicLSTMCell(4, norm_gain=0.7, norm_shift=0.1, activation=tf.nn.relu), r.NASCell(4), r.NASCell(4, num_proj=3, use_bias=True), r.LSTMBlockCell(4), r.LSTMBlockCell(4, use_peephole=True, cell_clip=0.2), r.GRUBlockCell(4), r.GRUBlockCellV2(num_units=4), r.CoupledInputForgetGateLSTMCell(4), r.CoupledInputForgetGateLSTMCell(4, use_peepholes=True, num_proj=3, proj_clip=0.1, num_unit_shards=2, num_proj_shards=2, state_is_tuple=False), r.CoupledInputForgetGateLSTMCell(4, layer_norm=True), r.UGRNNCell(4), r.IntersectionRNNCell(4, num_in_proj=4), r.IntersectionRNNCell(6), r.GLSTMCell(4, number_of_groups=2), r.GLSTMCell(6, num_proj=3, number_of_groups=3), r.SRUCell(4), r.IndRNNCell(4), r.IndyGRUCell(4), r.IndyLSTMCell(4), r.InputProjectionWrapper(r.GRUCell(4), 5, tf.nn.relu), r.OutputProjectionWrapper(r.GRUCell(4), 5), r.HighwayWrapper(r.GRUCell(6)), r.HighwayWrapper(r.GRUCell(6), False, 0.5), r.AttentionCellWrapper(r.BasicLSTMCell(4), 3), r.AttentionCellWrapper(r.GRUCell(4), 2, attn_size=3, attn_vec_size=5, input_size=7, state_is_tuple=False), r.CompiledWrapper(r.GRUCell(4))]
outputs = []
for i, cell in enumerate(cells):
    with tf.variable_scope('c%d' % i, initializer=tf.random_uniform_initializer(-0.5, 0.5, seed=i)):
        outputs.append(tf.nn.static_rnn(cell, x, dtype=tf.float32))
grads = [tf.gradients([tf.reduce_sum(tf.square(t)) for t in y], tf.trainable_variables('c%d/' % i)) for i, (y, _) in enumerate(outputs[:-1])]
with tf.Session() as s:
    s.run(tf.global_variables_initializer())
    values = s.run([outputs, [[g for g in gs if g is not None] for gs in grads]])
result = values, [v.name for v in tf.global_variables()], [(c.output_size, c.state_size) for c in cells], [len(c.trainable_variables) for c in cells[:23]]

# program: contrib.rnn's block cells and fused cells, with lengths, lists and reversed
# compare: error values
# not in 2.21: error ops attrs values
r = tf.contrib.rnn
x = tf.constant(np.random.RandomState(0).randn(4, 3, 6), tf.float32)
steps = tf.unstack(x)
tf.get_variable_scope().set_initializer(tf.random_uniform_initializer(-0.5, 0.5, seed=3))
fused = r.LSTMBlockFusedCell(5, cell_clip=0.5)
a = fused(x, dtype=tf.float32)
b = r.LSTMBlockFusedCell(5, use_peephole=True, name='p')(x, dtype=tf.float32, sequence_length=tf.constant([4, 0, 2]))
c = r.LSTMBlockFusedCell(5, name='q')(tf.placeholder_with_default(x, [None, None, 6]), initial_state=(tf.ones([3, 5]), tf.zeros([3, 5])), sequence_length=[4, 1, 2])
d = r.TimeReversedFusedRNN(r.LSTMBlockFusedCell(5, name='t'))(x, dtype=tf.float32, sequence_length=[4, 1, 2])
e = r.TimeReversedFusedRNN(r.FusedRNNCellAdaptor(r.GRUCell(5), use_dynamic_rnn=True))(x, dtype=tf.float32, scope='dyn')
f = r.FusedRNNCellAdaptor(r.BasicRNNCell(5))(x, dtype=tf.float32, sequence_length=[4, 1, 2], scope='sta')
g = r.TimeReversedFusedRNN(r.FusedRNNCellAdaptor(r.BasicRNNCell(5), True))(steps, dtype=tf.float32, scope='lst')
grads = tf.gradients([tf.reduce_sum(y[0]) for y in (a, b, c, d, e, f)], tf.trainable_variables())
grads = [t for t in grads if t is not None]
with tf.Session() as s:
    s.run(tf.global_variables_initializer())
    values = s.run([a, b, c, d, e, f, g, grads])
result = values, [v.name for v in tf.global_variables()], error(fused, x), error(fused, steps, dtype=tf.float32), error(r.LSTMBlockFusedCell(2), x, initial_state=(x,)), error(r.FusedRNNCell), error(r.LSTMBlockWrapper), error(r.GRUBlockCell), error(r.GRUBlockCell, 2, 2), fused.num_units

# program: contrib.rnn's stacks of bidirectional recurrences
# compare: error values
# not in 2.21: error ops attrs values
r = tf.contrib.rnn
x = tf.constant(np.random.RandomState(0).randn(3, 4, 6), tf.float32)
tf.get_variable_scope().set_initializer(tf.random_uniform_initializer(-0.5, 0.5, seed=3))
def cells(): return [r.LSTMCell(3), r.GRUCell(2)]
a = r.stack_bidirectional_dynamic_rnn(cells(), cells(), x, dtype=tf.float32, sequence_length=[4, 2, 3])
b = r.stack_bidirectional_rnn(cells(), cells(), tf.unstack(x, axis=1), dtype=tf.float32, scope='static')
c = r.stack_bidirectional_dynamic_rnn([r.GRUCell(2)], [r.GRUCell(2)], x, [tf.ones([3, 2])], [tf.zeros([3, 2])], scope='given')
t = r.transpose_batch_time(x), r.best_effort_input_batch_size([x])
with tf.Session() as s:
    s.run(tf.global_variables_initializer())
    values = s.run([a, b, c, t[0]])
f = r.stack_bidirectional_dynamic_rnn
result = values, t[1], [v.name for v in tf.global_variables()], error(f, [], cells(), x), error(f, cells(), tuple(cells()), x), error(f, cells()[:1], cells(), x), error(f, cells(), cells(), x, [1]), error(r.stack_bidirectional_rnn, cells(), cells(), [x], None, [1])

# program: contrib.rnn's cells over frequencies
# not in 2.21: error ops attrs values
r = tf.contrib.rnn
x = tf.constant(np.random.RandomState(0).randn(3, 8), tf.float32)
cells = [r.GridLSTMCell(2, feature_size=4, frequency_skip=2, num_frequency_blocks=[3]), r.GridLSTMCell(2, use_peepholes=True, feature_size=4, frequency_skip=2, num_frequency_blocks=[3], cell_clip=0.3, num_unit_shards=2), r.GridLSTMCell(2, use_peepholes=True, share_time_frequency_weights=True, couple_input_forget_gates=True, feature_size=4, frequency_skip=2, num_frequency_blocks=[3], state_is_tuple=False), r.GridLSTMCell(2, feature_size=2, frequency_skip=1, num_frequency_blocks=[2, 3], start_freqindex_list=[0, 4], end_freqindex_list=[3, 8]), r.GridLSTMCell(2, use_peepholes=True, couple_input_forget_gates=True, feature_size=4, frequency_skip=2, num_frequency_blocks=[3]), r.GridLSTMCell(2, use_peepholes=True, share_time_frequency_weights=True, feature_size=4, frequency_skip=4, num_frequency_blocks=[2]), r.BidirectionalGridLSTMCell(2, feature_size=4, frequency_skip=2, num_frequency_blocks=[3]), r.BidirectionalGridLSTMCell(2, feature_size=4, frequency_skip=2, num_frequency_blocks=[3], backward_slice_offset=1), r.BidirectionalGridLSTMCell(2, feature_size=4, frequency_skip=2, num_frequency_blocks=[3], backward_slice_offset=-1, use_peepholes=True)]
out = []
for i, cell in enumerate(cells):
    with tf.variable_scope('c%d' % i, initializer=tf.random_uniform_initializer(-0.5, 0.5, seed=i)):
        y, state = cell(x, cell.zero_state(3, tf.float32)); tf.get_variable_scope().reuse_variables(); out.append((y, cell(x, state)))
for p in (False, True):
    with tf.variable_scope('tf%d' % p, initializer=tf.random_uniform_initializer(-0.5, 0.5, seed=9)):
        cell = r.TimeFreqLSTMCell(2, use_peepholes=p, feature_size=4, frequency_skip=2, cell_clip=0.5 if p else None)
        out.append(cell(x, tf.constant(np.random.RandomState(1).randn(3, 12), tf.float32)))
grads = tf.gradients([tf.reduce_sum(y) for y, _ in out], tf.trainable_variables())
with tf.Session() as s:
    s.run(tf.global_variables_initializer())
    values = s.run([out, grads])
result = values, [v.name for v in tf.global_variables()], [(c.output_size, c.state_size, str(c.state_tuple_type and c.state_tuple_type._fields)) for c in cells], error(r.GridLSTMCell, 2), error(r.GridLSTMCell(2, feature_size=4, frequency_skip=2, num_frequency_blocks=[2]), x, 1), error(r.GridLSTMCell(2, feature_size=4, frequency_skip=2, num_frequency_blocks=[2, 2]), x, 1), error(r.GridLSTMCell(2, feature_size=2, frequency_skip=1, num_frequency_blocks=[2], start_freqindex_list=[0, 1], end_freqindex_list=[3]), x, 1)

# program: contrib.rnn's convolutional, phased and embedding cells
# compare: error values
# not in 2.21: error ops attrs values
r = tf.contrib.rnn
random = np.random.RandomState(0)
tf.get_variable_scope().set_initializer(tf.random_uniform_initializer(-0.5, 0.5, seed=3))
out = []
for cls, shape, kernel, kw in ((r.Conv1DLSTMCell, [5, 2], [3], {}), (r.Conv2DLSTMCell, [4, 4, 2], [3, 3], {'skip_connection': True, 'use_bias': False}), (r.Conv3DLSTMCell, [3, 3, 3, 1], [2, 2, 2], {'forget_bias': 0.5})):
    cell = cls(input_shape=shape, output_channels=3, kernel_shape=kernel, **kw)
    x = tf.constant(random.randn(2, *shape), tf.float32)
    out.append(cell(x, cell.zero_state(2, tf.float32)) + (tf.constant(cell.output_size.as_list()),))
ids = tf.constant([[1, 0, 2], [2, 2, 1]])
out.append(r.static_rnn(r.EmbeddingWrapper(r.GRUCell(3), 4, 5), tf.unstack(ids, axis=1), dtype=tf.float32))
with tf.variable_scope('phased'):
    times = tf.constant([[[0.5], [1.5], [3.0]], [[0.1], [2.5], [900.0]]], tf.float64)
    for p in (False, True):
        cell = r.PhasedLSTMCell(3, use_peepholes=p, period_init_max=4.0, trainable_ratio_on=p)
        out.append(tf.nn.dynamic_rnn(cell, (times, tf.constant(random.randn(2, 3, 4), tf.float32)), dtype=tf.float32, scope='p%d' % p))
result_names = [v.name for v in tf.global_variables()], [v.name for v in tf.trainable_variables()]
grads = tf.gradients([tf.reduce_sum(y[0]) for y in out], tf.trainable_variables())
feed = [v for v in tf.global_variables() if v.name.endswith(('/period:0', '/phase:0'))]
with tf.Session() as s:
    s.run(tf.global_variables_initializer())
    for v in feed: v.load(np.linspace(0.5, 3.0, 3), s)
    values = s.run([out, grads])
result = values, result_names, error(r.ConvLSTMCell, 2, [3, 1], 2, [2]), error(r.EmbeddingWrapper, r.GRUCell(2), 0, 1), error(r.OutputProjectionWrapper, r.GRUCell(2), 0), error(r.InputProjectionWrapper, 3, 1), error(r.AttentionCellWrapper, r.LSTMCell(2), 2, state_is_tuple=False), error(r.AttentionCellWrapper, r.LSTMCell(2), 0), error(r.GLSTMCell, 3, number_of_groups=2), error(r.IntersectionRNNCell(3), tf.ones([2, 4]), tf.ones([2, 3])), error(r.CoupledInputForgetGateLSTMCell(2, num_unit_shards=50), tf.ones([2, 4]), (tf.ones([2, 2]), tf.ones([2, 2])))
