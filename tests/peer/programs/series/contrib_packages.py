# program: labeled tensors: axes, alignment, reductions
# not in 2.21: error ops attrs values
lt = tf.contrib.labeled_tensor
data = np.arange(24, dtype=np.float32).reshape(2, 3, 4) / 7.0
t = lt.LabeledTensor(tf.constant(data), ["x", ("y", ["a", "b", "c"]), "z"])
row = lt.LabeledTensor(tf.constant(data[0]), [("y", ["a", "b", "c"]), "z"])
wide = lt.LabeledTensor(tf.constant([1.0, 2.0]), ["w"])
other = lt.LabeledTensor(tf.constant(data[:, 0, 0]), ["x"])
pair = lt.LabeledTensor(tf.constant(data[:, :2, 0]), ["x", "k"])
held = lt.placeholder(tf.float32, ["batch", ("c", ["r", "g"])], name="held")
with lt.axis_order_scope(["w", "x", "y", "z"]):
    ordered = [lt.add(wide, row), lt.impose_axis_order(lt.transpose(t))]
serialized = tf.train.Example(features=tf.train.Features(feature={
    "a": tf.train.Feature(float_list=tf.train.FloatList(value=[1.0, 2.0]))})).SerializeToString()
features = {"a": lt.FixedLenFeature([("q", 2)], tf.float32), "b": lt.FixedLenFeature([], tf.int64, 5)}
strings = lt.LabeledTensor(tf.constant([serialized]), ["batch"])
coder = lt.ReshapeCoder(["x", "y"], ["xy"])
made = ordered + [
    lt.identity(t), t[0, :, 1], t[:, 1:, 0], lt.transpose(t, ["z", "x", "y"]), lt.expand_dims(row, ["n", "y", ("m", "only"), "z"]),
    lt.reshape(t, ["x", "y"], ["flat"]), lt.rename_axis(t, "x", "time"), lt.select(t, {"y": "b"}), lt.select(t, {"y": ["c", "a"]}),
    lt.select(t, {"y": slice("b", None)}), lt.concat([t, t], "x"), lt.concat([row, lt.rename_axis(row, "y", "y")], "z"), lt.pack([row, row], "n", 1),
    lt.pad(row, {"y": (["before"], []), "z": (1, 2)}), lt.tile(other, {"x": 2}), lt.boolean_mask(t, lt.LabeledTensor(tf.constant([True, False]), ["x"])),
    lt.where(lt.greater(row, 0.5), row, lt.neg(row)), lt.matmul(pair, other), lt.matmul(pair, pair[0, :]), lt.reduce_sum(t, "y"),
    lt.reduce_mean(t, [("x", "all"), "z"]), lt.reduce_max(t), lt.reduce_logsumexp(row, {"z"}), lt.squeeze(lt.expand_dims(row, ["n", "y", "z"])),
    lt.constant(data, axes=["x", "y", "z"]), lt.constant(2.0), lt.constant(1.5, axes=[("x", 3)]), lt.zeros_like(t), lt.ones_like(row, tf.int32),
    lt.cast(t, tf.int32), lt.verify_tensor_all_finite(t, "not finite"), lt.random_crop(t, {"x": 1}, seed=3), coder.decode(coder.encode(t) * 2.0),
    1.0 - t, t / 2.0, t % 2.0, 2.0 ** row, -t, abs(t), t * wide, row + t, lt.nn.relu(row - 1.0), lt.nn.softmax(row),
    lt.nn.sigmoid_cross_entropy_with_logits(row, row), lt.lgamma(row + 1.0), lt.igamma(row + 1.0, 2.0), lt.zeta(row + 2.0, 1.0),
] + lt.unpack(t) + list(lt.align(row, wide)[:2]) + [x for _, x in sorted(lt.parse_example(strings, features).items())]
made += [x for _, x in sorted(lt.parse_single_example(serialized, features).items())]
with tf.Session() as sess:
    got = sess.run([x.tensor for x in made if x.tensor.op.type != "RandomUniformInt"])
text = [repr(x) for x in made] + [repr(t.axes), repr(t.axes["y"]), repr(held)]
failures = [
    error(lambda: lt.Axis("x", ["a", "a"])), error(lambda: lt.Axes([("x", 1), ("x", 2)])), error(lambda: lt.Axis(1, 2)), error(lambda: t.axes["q"]),
    error(lambda: lt.LabeledTensor(tf.constant(data), ["x"])), error(lambda: lt.LabeledTensor(tf.constant(data), [("x", 3), "y", "z"])),
    error(lambda: lt.convert_to_labeled_tensor(tf.constant([1.0]))), error(lambda: lt.align(t, lt.transpose(t))), error(lambda: lt.check_axis_order(t)),
    error(lambda: lt.select(t, {"y": "q"})), error(lambda: lt.select(t, {"x": 0})), error(lambda: lt.select(t, {"y": slice("a", "b", 2)})),
    error(lambda: lt.select(t, {"q": "a"})), error(lambda: lt.reshape(t, ["x", "z"], ["q"])), error(lambda: lt.reshape(t, ["q"], ["x"])),
    error(lambda: lt.reshape(t, ["x"], ["q", "r"])), error(lambda: lt.matmul(t, row)), error(lambda: lt.matmul(row, row)), error(lambda: lt.tile(t, {"y": 2})),
    error(lambda: lt.squeeze(t, ["x"])), error(lambda: lt.reduce_sum(t, "q")), error(lambda: lt.concat([], "x")), error(lambda: lt.pack([t, row], "n")),
    error(lambda: lt.boolean_mask(t, t)), error(lambda: lt.where(t, t, row)), error(lambda: coder.encode(row)), error(lambda: t[0]), error(lambda: len(lt.Axis("x", None))),
    error(lambda: lt.batch([t], 2, enqueue_many=True)), error(lambda: lt.expand_dims(t, ["z", "x", "y"])), error(lambda: lt.abs("text", 5)), error(lambda: lt.nn.crelu(other)),
]
result = [got, text, failures]

# program: labeled batches, loops over labeled tensors
# compare: error values
# not in 2.21: error values
lt = tf.contrib.labeled_tensor
rows = lt.LabeledTensor(tf.constant(np.arange(12, dtype=np.float32).reshape(6, 2)), ["batch", ("c", ["r", "g"])])
labels = lt.LabeledTensor(tf.constant(np.arange(6)), ["batch"])
a, b = lt.batch([rows, labels], 4, enqueue_many=True)
c, = lt.batch([rows[0, :]], 3, allow_smaller_final_batch=True, name="named")
looped = [
    lt.map_fn(lambda row: row[0] * 2.0, rows), lt.foldl(lambda total, row: total + lt.reduce_sum(row), rows, 1.0),
    lt.map_fn(lambda row: row, lt.LabeledTensor(tf.constant([["a"], ["b"]]), ["x", "y"])),
]
d, = lt.shuffle_batch([labels], 2, enqueue_many=True, min_after_dequeue=2, seed=4)
with tf.Session() as sess:
    coordinator = tf.train.Coordinator()
    threads = tf.train.start_queue_runners(sess, coordinator)
    got = [sess.run([a.tensor, b.tensor]), sess.run(c.tensor), sess.run(d.tensor).shape]
    got.append(sess.run([x.tensor for x in looped]))
    coordinator.request_stop()
    coordinator.join(threads, stop_grace_period_secs=5)
result = [got, [repr(x) for x in (a, b, c, d)], [repr(x.axes) for x in looped]]

# program: recurrent loops and their gradients
# compare: error values
# not in 2.21: error values
import collections
recurrent = tf.contrib.recurrent
State = collections.namedtuple("State", ("h", "n"))
random = np.random.RandomState(3)
x = tf.constant(random.randn(5, 2, 3).astype(np.float32))
theta = {"w": tf.constant(random.randn(7, 4).astype(np.float32)), "b": tf.zeros([4])}
def cell(theta, state, inputs):
    h = tf.tanh(tf.matmul(tf.concat([inputs["x"], state.h], 1), theta["w"]) + theta["b"])
    return State(h, state.n + 1.0), {"h": h}
def cell_grad(theta, state, inputs, extras, d):
    before = tf.concat([inputs["x"], state.h], 1)
    dz = d.h * (1.0 - tf.square(extras["h"]))
    both = tf.matmul(dz, theta["w"], transpose_b=True)
    return ({"w": tf.matmul(before, dz, transpose_a=True), "b": tf.reduce_sum(dz, 0)}, State(both[:, 3:], None), {"x": both[:, :3]})
state = State(tf.zeros([2, 4]), tf.zeros([]))
fetches = []
for options in ({}, {"cell_grad": cell_grad}, {"max_input_length": tf.constant(3)}, {"max_input_length": tf.constant(3), "aligned_end": True}, {"use_tpu": True},
                {"max_input_length": 1}):
    inputs = {"x": x[:1] if options.get("max_input_length") == 1 else x}
    states, last = recurrent.Recurrent(theta, state, inputs, cell, **options)
    loss = tf.reduce_sum(last.h * 2.0) + tf.reduce_sum(tf.square(states.h))
    fetches.append([states, last, tf.gradients(loss, [theta["w"], theta["b"], inputs["x"], state.h])])
outside = tf.constant(2.0)
with tf.Session() as sess:
    got = sess.run(fetches)
result = [got, error(lambda: recurrent.Recurrent(theta, state, {"x": x}, lambda t, s, i: (State(s.h * outside, s.n), [])))]

# program: cells over time by functional loops
# compare: error values
# not in 2.21: error values
recurrent = tf.contrib.recurrent
random = np.random.RandomState(4)
x = tf.constant(random.randn(2, 5, 3).astype(np.float32))
lengths = tf.constant([5, 3])
fetches, names = [], []
def make(kind):
    return {"lstm": tf.nn.rnn_cell.LSTMCell, "gru": tf.nn.rnn_cell.GRUCell, "basic": tf.nn.rnn_cell.BasicRNNCell}[kind](4)
for at, (kind, options) in enumerate([("lstm", {}), ("gru", {"sequence_length": lengths}), ("basic", {"sequence_length": lengths, "reverse": True}),
                                      ("lstm", {"use_tpu": True, "sequence_length": lengths}), ("gru", {"time_major": True})]):
    outputs, state = recurrent.functional_rnn(make(kind), x, dtype=tf.float32, scope="cell%d" % at, **options)
    fetches.append([outputs, state, tf.gradients(tf.reduce_sum(outputs), tf.trainable_variables("cell%d" % at))])
for at, options in enumerate([{}, {"sequence_length": lengths}, {"fast_reverse": True}]):
    outputs, states = recurrent.bidirectional_functional_rnn(make("lstm"), make("gru"), x, dtype=tf.float32, scope="both%d" % at, **options)
    fetches.append([outputs, states])
variables = sorted(tf.global_variables(), key=lambda v: v.name)
given = [tf.assign(v, random.randn(*v.shape.as_list()).astype(np.float32)) for v in variables]
with tf.Session() as sess:
    sess.run(given)
    got = sess.run(fetches)
result = [got, sorted(v.name for v in tf.global_variables())]

# program: objectives under constraints
# compare: error values
# not in 2.21: error values
co = tf.contrib.constrained_optimization
tf.enable_resource_variables()
class Problem(co.ConstrainedMinimizationProblem):
    def __init__(self, proxies=False):
        # Read once: later reads could see what a step has written.
        self._w = tf.identity(tf.get_variable("w%d" % len(tf.global_variables()), initializer=[2.0, -1.0, 0.5]))
        self._proxies = proxies
    @property
    def objective(self):
        return tf.reduce_sum(tf.square(self._w - 1.0))
    @property
    def constraints(self):
        return tf.stack([tf.reduce_sum(self._w) - 1.0, -self._w[1]])
    @property
    def proxy_constraints(self):
        return tf.tanh(self.constraints) if self._proxies else None
sgd = lambda: tf.train.GradientDescentOptimizer(0.1)
made = [
    # With one optimizer TensorFlow may read the multipliers before or after they change.
    (co.AdditiveExternalRegretOptimizer(sgd(), sgd()), False, {}), (co.AdditiveExternalRegretOptimizer(sgd(), sgd(), maximum_multiplier_radius=0.5), True, {}),
    (co.AdditiveSwapRegretOptimizer(sgd()), True, {}), (co.AdditiveSwapRegretOptimizer(sgd(), tf.train.AdagradOptimizer(1.0)), False, {}),
    (co.MultiplicativeSwapRegretOptimizer(sgd()), False, {}), (co.MultiplicativeSwapRegretOptimizer(sgd(), sgd(), 0.01, 0.2), True, {"unconstrained_steps": 3}),
]
step = tf.train.create_global_step()
problems = [Problem(proxies) for _, proxies, _ in made]
trains = [optimizer.minimize(problem, global_step=step, **options) for (optimizer, _, options), problem in zip(made[:-1], problems)]
names = sorted(v.name for v in tf.global_variables())
trains.append(made[-1][0].minimize(problems[-1], global_step=step, **made[-1][2]))
trains.append(made[0][0].minimize_unconstrained(problems[0]))
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    got = []
    for train in trains:
        sess.run(step.assign(0))
        for _ in range(6):
            sess.run(train)
        got.append(sess.run(tf.global_variables()))
result = [
    got, names,
    error(lambda: made[0][0].minimize(problems[0], unconstrained_steps=2)), error(lambda: co.MultiplicativeSwapRegretOptimizer(sgd(), None, 2.0)),
    error(lambda: co.AdditiveExternalRegretOptimizer(sgd(), None, -1.0)),
]

# program: stereograms of constants: the first random numbers of a process
# compare: error ops attrs
# not in 2.21: error ops attrs values
depths = tf.constant([[1, 2, 3, 3, 2, 1], [1, 2, 3, 4, 5, 2], [1, 2, 3, 4, 5, 3], [6, 5, 4, 4, 5, 5]])
draw = tf.contrib.image.single_image_random_dot_stereograms
one = draw(depths, output_image_shape=[40, 22, 1], output_data_window=[36, 18], eye_separation=0.3, convergence_dots_size=2)
config = tf.ConfigProto()
config.graph_options.rewrite_options.constant_folding = 2
config.graph_options.optimizer_options.opt_level = -1
with tf.Session(config=config) as sess:
    first = sess.run(one)
result = [first, one.shape.as_list(), draw(depths, number_colors=300).shape.as_list(), error(lambda: draw(["a"]))]

# program: lists round robin, reductions of slices, networks from specifications
# not in 2.21: error ops attrs values
import importlib
import random as python_random
input_pipeline_ops, reduce_slice_ops, specs = [
    importlib.import_module(tf.__name__ + ".contrib." + path)
    for path in ("input_pipeline.python.ops.input_pipeline_ops", "reduce_slice_ops.python.ops.reduce_slice_ops", "specs.python")
]
names = input_pipeline_ops.seek_next(["a", "b", "c"], num_epochs=2)
shuffled = input_pipeline_ops._create_list(list("abcde"), True, 3, 2)
data = tf.constant(np.arange(6).reshape(3, 2).astype(np.float32))
reduced = [getattr(reduce_slice_ops, "reduce_slice_" + kind)(data, [[0, 1], [1, 3]], tf.constant(0, tf.int64)) for kind in ("sum", "prod", "max", "min")]
pixels = tf.constant(np.random.RandomState(0).rand(2, 8, 8, 3).astype(np.float32))
spec = "net = (Cr(4, [3, 3], weights_initializer=init) | Mp([2, 2])) ** 2 | Flat | Fs(5, weights_initializer=init) + Fl(5, weights_initializer=init)"
net = specs.create_net(spec, pixels, {"init": tf.constant_initializer(0.1)})
other = specs.create_net("f = Shared(Ft(3, weights_initializer=init)); net = f | f | Conc(1, Idx(), f) | Relu | Reshape([-1])", tf.ones([2, 3]), {"init": tf.constant_initializer(0.2)})
python_random.seed(5)
params = specs.eval_params("a = Uf(); b = Ui(1, 5); c = Lf(1, 10); d = Li(1, 100); e = Nt(0.0, 1.0); f = sqrt(4.0)")
lines = []
specs.tf_parameter_summary(net, printer=lines.append)
specs.tf_print(other, printer=lines.append)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    got = [sess.run(names) for _ in range(6)] + [error(sess.run, names), sess.run(reduced), sess.run([net, other])]
result = [
    got, shuffled, lines, {k: v for k, v in params.items() if len(k) == 1}, specs.tf_structure(net), specs.tf_num_params(net),
    specs.tf_spec_structure("net = Fs(10) | Cs(3, [1, 1])", input_shape=(2, 4, 4, 3)), specs.get_positional((1,), {"_1": 2, "x": 3}),
    error(lambda: specs.create_net("import os; net = 1", pixels)), error(lambda: specs.create_net("x = Relu", pixels)),
    error(lambda: specs.create_net("net = Unknown", pixels)), error(lambda: specs.Function(3)), error(lambda: specs.Import("x = 1")),
    error(lambda: specs.External("math", "nothing")), error(lambda: specs.Shared(specs.Relu, scope="s")),
]
