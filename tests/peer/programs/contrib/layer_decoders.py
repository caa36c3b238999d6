# program: contrib.seq2seq's decoders that are Keras layers, with all samplers
# compare: error values
# not in 2.21: error values
import importlib
ops = tf.__name__ + ".contrib.seq2seq.python.ops."
basic, sampler, beam, loss = (importlib.import_module(ops + name) for name in ("basic_decoder", "sampler", "beam_search_decoder", "loss"))
r = np.random.RandomState(0)
inputs, embedding = tf.constant(r.randn(2, 4, 3), tf.float32), tf.constant(r.randn(5, 3), tf.float32)
class Cell(tf.nn.rnn_cell.RNNCell):
    state_size = output_size = 5
    def call(self, x, state):
        w = tf.constant(np.random.RandomState(1).randn(3, 5), tf.float32)
        out = tf.tanh(tf.matmul(x, w) + state)
        return out, out
layer = lambda: tf.layers.Dense(5, kernel_initializer=tf.constant_initializer(np.eye(5) * 2))
state, start = tf.zeros([2, 5]), dict(start_tokens=tf.constant([1, 2]), end_token=3)
one_hot = lambda ids: tf.one_hot(ids, 5)
def initialize(x, n): return tf.tile([False], [n]), x[:, 0]
def following(time, outputs, state, sample_ids): return tf.greater(sample_ids, 2), outputs[:, :3], state
# Draws of iterations beside each other have no order in TensorFlow.
cases = [
    (sampler.TrainingSampler(), inputs, dict(sequence_length=[4, 2]), {}),
    (sampler.TrainingSampler(time_major=True), tf.transpose(inputs, [1, 0, 2]), dict(sequence_length=[0, 3]), dict(output_time_major=True, impute_finished=True)),
    (sampler.GreedyEmbeddingSampler(), embedding, start, dict(maximum_iterations=6)),
    (sampler.SampleEmbeddingSampler(softmax_temperature=0.5, seed=3), embedding, start, dict(maximum_iterations=6, parallel_iterations=1)),
    (sampler.ScheduledEmbeddingTrainingSampler(0.5, seed=1, scheduling_seed=2), inputs, dict(sequence_length=[4, 3], embedding=embedding), dict(parallel_iterations=1)),
    (sampler.ScheduledOutputTrainingSampler(0.5, seed=1, next_inputs_fn=lambda x: x[:, :3]), inputs, dict(sequence_length=[4, 3]), dict(parallel_iterations=1)),
    (sampler.InferenceSampler(lambda x: x[:, :3], [3], tf.float32, lambda x: x[:, 0] > 0.5), inputs[:, 0], {}, dict(maximum_iterations=5)),
    (sampler.CustomSampler(initialize, lambda time, outputs, state: tf.argmax(outputs, -1, output_type=tf.int32), following), inputs, dict(n=2), dict(maximum_iterations=3)),
]
found = []
for chosen, given, options, settings in cases:
    decoder = basic.BasicDecoderV2(Cell(), chosen, layer(), **settings)
    outputs, final, lengths = decoder(given, initial_state=state, **options)
    found.append([outputs.rnn_output, outputs.sample_id, final, lengths])
searching = beam.BeamSearchDecoderV2(Cell(), 3, output_layer=layer(), length_penalty_weight=0.5, maximum_iterations=4)
outputs, final, lengths = searching(embedding, initial_state=tf.zeros([6, 5]), **start)
found.append([outputs.predicted_ids, outputs.beam_search_decoder_output.scores, final.log_probs, lengths])
logits, targets, weights = tf.constant(r.randn(2, 3, 4), tf.float32), tf.constant([[1, 2, 0], [3, 3, 1]]), tf.constant([[1., 1., 0.], [1., 0., 0.]])
found.append([loss.SequenceLoss()(targets, logits, weights), loss.SequenceLoss(True, True, False, False)(targets, logits, weights), loss.SequenceLoss(sum_over_batch=False)(targets, logits, weights)])
with tf.Session() as s:
    s.run(tf.global_variables_initializer())
    result = [s.run(part) for part in found]
result += [error(basic.BasicDecoderV2, Cell(), 1), error(basic.BasicDecoderV2, 1, cases[0][0]), error(basic.BasicDecoderV2(Cell(), sampler.TrainingSampler()), inputs, initial_state=state), error(lambda: sampler.TrainingSampler().batch_size), error(sampler.GreedyEmbeddingSampler, 1), error(sampler.ScheduledEmbeddingTrainingSampler, [[0.5]]), error(beam.BeamSearchDecoderV2, Cell(), 2, embedding_fn=1), error(searching.initialize, embedding, [[1]], 1, tf.zeros([6, 5]))]

# program: contrib.seq2seq's attention mechanisms that are Keras layers
# compare: error values
# not in 2.21: error values
import importlib, warnings
warnings.filterwarnings("ignore", message=".*adds operations to the graph between steps")
ops = tf.__name__ + ".contrib.seq2seq.python.ops."
wrapper, basic, sampler = (importlib.import_module(ops + name) for name in ("attention_wrapper", "basic_decoder", "sampler"))
r = np.random.RandomState(0)
memory, query, inputs = tf.constant(r.randn(2, 3, 4), tf.float32), tf.constant(r.randn(2, 5), tf.float32), tf.constant(r.randn(2, 2, 3), tf.float32)
made = [
    wrapper.LuongAttentionV2(5, memory, [3, 2], scale=True),
    wrapper.LuongAttentionV2(5, memory, probability_fn="hardmax"),
    wrapper.BahdanauAttentionV2(6, memory, [3, 2], normalize=True, kernel_initializer="ones"),
    wrapper.BahdanauAttentionV2(6, memory, name="other"),
    wrapper.LuongMonotonicAttentionV2(5, memory, [3, 2], scale=True, score_bias_init=0.3, mode="hard"),
    wrapper.BahdanauMonotonicAttentionV2(6, memory, normalize=True, score_bias_init=-0.1),
]
late = wrapper.LuongAttentionV2(5, None)
late(memory, setup_memory=True, mask=tf.constant([[True, True, False], [True, True, True]]))
found = []
for mechanism in made + [late]:
    state = mechanism.initial_state(2, tf.float32)
    alignments, following = mechanism([query, state])
    again, _ = mechanism([query, following])
    found.append([state, alignments, again, mechanism.values, mechanism.keys])
cell = tf.nn.rnn_cell.BasicRNNCell(5)
attending = wrapper.AttentionWrapper(cell, [made[0], made[3]], attention_layer_size=[2, 3], alignment_history=True)
start = attending.zero_state(2, tf.float32)
outputs, final, lengths = basic.BasicDecoderV2(attending, sampler.TrainingSampler())(inputs, initial_state=start, sequence_length=[2, 1])
found.append([outputs.rnn_output, final.attention, final.alignment_history[0].stack(), lengths])
with tf.Session() as s:
    s.run(tf.global_variables_initializer())
    for n, v in enumerate(tf.global_variables()):
        s.run(v.assign(np.cos(np.arange(np.prod(v.shape.as_list(), dtype=int)) + n).reshape(v.shape.as_list())))
    result = [s.run(part) for part in found]
result.append([[v.name for v in mechanism.variables] for mechanism in made + [late]])
result.append([v.name for v in tf.global_variables()])
def config(c): return sorted((k, v if isinstance(v, (int, float, str, bool, type(None))) else sorted(v)) for k, v in c.items())
result.append([config(mechanism.get_config()) for mechanism in made])
copy = wrapper.BahdanauAttentionV2.from_config(made[2].get_config())
result += [copy.units, type(copy.query_layer).__name__, copy.query_layer.units, late.alignments_size, late.state_size]
result += [error(wrapper.LuongAttentionV2, 5, memory, probability_fn="x"), error(wrapper.LuongAttentionV2(5, None), [query, state]), error(late, memory, setup_memory=True), error(late, [query]), error(wrapper.LuongAttentionV2, 5, memory, memory_layer=1)]
