# program: a network of an Estimator, step by step
# compare: error values
# not in 2.21: error values
import glob, os, re, shutil, tempfile

folder = tempfile.mkdtemp()
draw = np.random.RandomState(3)
images, labels = draw.rand(60, 8).astype(np.float32), draw.randint(0, 3, 60)


def initial(shape, dtype=None, partition_info=None, **kwargs):
    size = int(np.prod([int(d) for d in shape]))
    return tf.reshape(tf.constant(np.sin(np.arange(size)) / 3, tf.float32), [int(d) for d in shape])


def model_fn(features, labels, mode, params):
    net = tf.layers.dense(features["image"], 10, tf.nn.relu, kernel_initializer=initial, name="hidden")
    logits = tf.layers.dense(net, 3, kernel_initializer=initial, name="logits")
    classes = tf.argmax(logits, 1)
    if mode == tf.estimator.ModeKeys.PREDICT:
        predictions = {"class": classes, "probability": tf.nn.softmax(logits)}
        output = tf.estimator.export.PredictOutput(predictions)
        return tf.estimator.EstimatorSpec(mode, predictions=predictions, export_outputs={"classify": output})
    loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)
    optimizer = tf.train.MomentumOptimizer(params["rate"], 0.9)
    step = optimizer.minimize(loss, tf.train.get_global_step())
    metrics = {"accuracy": tf.metrics.accuracy(labels, classes), "class/mean": tf.metrics.mean(classes)}
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=step, eval_metric_ops=metrics)


def input_fn():
    data = tf.data.Dataset.from_tensor_slices(({"image": images}, labels))
    return data.repeat().batch(20)


class Losses(tf.train.SessionRunHook):
    def begin(self):
        self.found = []

    def before_run(self, run_context):
        return tf.train.SessionRunArgs(tf.get_collection(tf.GraphKeys.LOSSES)[0])

    def after_run(self, run_context, run_values):
        self.found.append(run_values.results)


config = tf.estimator.RunConfig(folder, save_checkpoints_steps=4, save_summary_steps=3, keep_checkpoint_max=2, tf_random_seed=1)
model = tf.estimator.Estimator(model_fn, config=config, params={"rate": 0.1})
hook = Losses()
model.train(input_fn, hooks=[hook], steps=6)
model.train(input_fn, hooks=[hook], max_steps=10)
result = [hook.found]
evaluation = model.evaluate(input_fn, steps=2, name="other")
result.append(sorted((k, float(v)) for k, v in evaluation.items()))
result.append([(name, model.get_variable_value(name)) for name in model.get_variable_names()])
once = tf.estimator.inputs.numpy_input_fn({"image": images[:5]}, batch_size=3, shuffle=False)
result.append([(p["class"], p["probability"]) for p in model.predict(once)])
result.append([sorted(p) for p in model.predict(once, ["class"], yield_single_examples=False)])


def serving():
    image = tf.placeholder(tf.float32, [None, 8], name="image")
    examples = tf.placeholder(tf.string, [None], name="examples")
    return tf.estimator.export.ServingInputReceiver({"image": image}, {"image": image}, {"more": examples})


path = model.export_saved_model(folder + "/export", serving).decode()
with tf.Session(graph=tf.Graph()) as session:
    loaded = tf.saved_model.loader.load(session, ["serve"], path)
    for key in sorted(loaded.signature_def):
        signature = loaded.signature_def[key]
        result.append([key, signature.method_name, sorted((k, t.name, t.dtype) for k, t in signature.inputs.items()), sorted((k, t.name, t.dtype) for k, t in signature.outputs.items())])
    output = loaded.signature_def["classify"].outputs["probability"].name
    result.append(session.run(output, {"image:0": images[:2]}))
names = []
for directory, _, files in os.walk(folder):
    for name in files:
        place = os.path.relpath(os.path.join(directory, name), folder)
        names.append(re.sub(r"\d{10}.*", "N", place))
result.append(sorted(names))
for pattern in ("", "/eval_other"):
    tags = set()
    for file in glob.glob(folder + pattern + "/events.*"):
        for event in tf.train.summary_iterator(file):
            tags.update((event.step, value.tag) for value in event.summary.value if "sec" not in value.tag)
    result.append(sorted(tags))
shutil.rmtree(folder)
# program: train_and_evaluate with exporters
# compare: error values
# not in 2.21: error values
import os, re, shutil, tempfile

folder = tempfile.mkdtemp()


def model_fn(features, labels, mode):
    x = features["x"]
    w = tf.get_variable("w", initializer=[0.5])
    loss = tf.reduce_mean(tf.square(x * w - 2 * x))
    step = tf.train.GradientDescentOptimizer(0.1).minimize(loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, predictions=x * w, loss=loss, train_op=step)


def input_fn(mode, config):
    return {"x": tf.constant([1.0, 2.0])}, tf.constant([0.0])


def serving():
    x = tf.placeholder(tf.float32, [None])
    return tf.estimator.export.ServingInputReceiver({"x": x}, x)


class Recorder(tf.estimator.Exporter):
    calls = []
    name = "recorder"

    def export(self, estimator, export_path, checkpoint_path, eval_result, is_the_final_export):
        self.calls.append([os.path.relpath(export_path, folder), os.path.relpath(checkpoint_path, folder), eval_result["loss"], bool(is_the_final_export)])


model = tf.estimator.Estimator(model_fn, config=tf.estimator.RunConfig(folder, save_checkpoints_steps=2))
exporters = [Recorder(), tf.estimator.FinalExporter("final", serving), tf.estimator.BestExporter("best", serving)]
metrics, exports = tf.estimator.train_and_evaluate(
    model,
    tf.estimator.TrainSpec(input_fn, max_steps=5),
    tf.estimator.EvalSpec(input_fn, steps=1, exporters=exporters, throttle_secs=0, start_delay_secs=0),
)
result = [sorted((k, float(v)) for k, v in metrics.items()), Recorder.calls, [e is None for e in exports]]
result.append([sorted(os.listdir(folder + "/export")), len(os.listdir(folder + "/export/best"))])
shutil.rmtree(folder)
# program: ready-made linear and baseline models
# compare: error values
# not in 2.21: error values
import shutil, tempfile

draw = np.random.RandomState(5)
features = {"x": draw.rand(40, 2).astype(np.float32), "c": np.array(list("abcde") * 8, object), "w": draw.rand(40).astype(np.float32)}
two, four, number = draw.randint(0, 2, 40), draw.randint(0, 4, 40), draw.rand(40, 2).astype(np.float32)
fc = tf.feature_column
columns = [fc.numeric_column("x", shape=(2,)), fc.categorical_column_with_vocabulary_list("c", ["a", "b", "c"], num_oov_buckets=2)]
folders = [tempfile.mkdtemp() for _ in range(6)]
models = [
    (tf.estimator.LinearClassifier(columns, folders[0], weight_column="w"), two),
    (tf.estimator.LinearClassifier(columns, folders[1], n_classes=4, optimizer=tf.train.GradientDescentOptimizer(0.01)), four),
    (tf.estimator.LinearRegressor(columns, folders[2], label_dimension=2, optimizer="SGD"), number),
    (tf.estimator.BaselineClassifier(folders[3], n_classes=4, optimizer="Adagrad"), four),
    (tf.estimator.BaselineRegressor(folders[4], label_dimension=2), number),
    (tf.estimator.BaselineClassifier(folders[5], label_vocabulary=["no", "yes"]), np.array(["no", "yes"], object)[two]),
]
result = []
for model, labels in models:
    model.train(tf.estimator.inputs.numpy_input_fn(features, labels, 20, num_epochs=4, shuffle=False))
    evaluation = model.evaluate(tf.estimator.inputs.numpy_input_fn(features, labels, 20, shuffle=False))
    result.append(sorted((k, float(v)) for k, v in evaluation.items()))
    result.append([(n, model.get_variable_value(n)) for n in model.get_variable_names()])
    first = next(model.predict(tf.estimator.inputs.numpy_input_fn(features, shuffle=False)))
    result.append(sorted((k, v) for k, v in first.items()))
for folder in folders:
    shutil.rmtree(folder)
# program: ready-made models of hidden layers
# compare: error values
# not in 2.21: error values
import shutil, tempfile


class SetWeights(tf.train.SessionRunHook):
    def begin(self):
        self.ops = []
        for v in tf.trainable_variables():
            shape = v.shape.as_list()
            size = int(np.prod(shape))
            self.ops.append(tf.assign(v, np.sin(np.arange(size) + len(v.op.name)).reshape(shape).astype(np.float32) / 2))

    def after_create_session(self, session, coord):
        session.run(self.ops)


draw = np.random.RandomState(5)
features = {"x": draw.rand(40, 2).astype(np.float32), "c": np.array(list("abcde") * 8, object)}
two, number = draw.randint(0, 2, 40), draw.rand(40).astype(np.float32)
fc = tf.feature_column
words = fc.categorical_column_with_vocabulary_list("c", ["a", "b", "c"], num_oov_buckets=2)
dense = [fc.numeric_column("x", shape=(2,)), fc.embedding_column(words, 3), fc.indicator_column(words)]
folders = [tempfile.mkdtemp() for _ in range(3)]
models = [
    (tf.estimator.DNNClassifier([6, 4], dense, folders[0]), two),
    (tf.estimator.DNNRegressor([5], dense, folders[1], activation_fn=tf.nn.tanh, optimizer=lambda: tf.train.AdamOptimizer(0.01), batch_norm=True), number),
    (tf.estimator.DNNLinearCombinedClassifier(folders[2], linear_feature_columns=[words], dnn_feature_columns=dense, dnn_hidden_units=[4], dnn_optimizer="Adam"), two),
]
result = []
for model, labels in models:
    model.train(tf.estimator.inputs.numpy_input_fn(features, labels, 20, num_epochs=4, shuffle=False), hooks=[SetWeights()])
    evaluation = model.evaluate(tf.estimator.inputs.numpy_input_fn(features, labels, 20, shuffle=False))
    result.append(sorted((k, float(v)) for k, v in evaluation.items()))
    result.append([(n, model.get_variable_value(n)) for n in model.get_variable_names()])
for folder in folders:
    shutil.rmtree(folder)
# program: what an Estimator refuses
# compare: error values
# not in 2.21: error values
import tempfile

folder = tempfile.mkdtemp()


def spec(mode="train", **kwargs):
    with tf.Graph().as_default():
        return tf.estimator.EstimatorSpec(mode, **{k: v() if callable(v) else v for k, v in kwargs.items()})


one = lambda: tf.constant(1.0)
result = [
    error(spec), error(spec, loss=one), error(spec, "eval"), error(spec, "infer"), error(spec, "infer", predictions=1),
    error(spec, "eval", loss=lambda: tf.constant([1.0, 2.0])), error(spec, "eval", loss=one, eval_metric_ops=[1]),
    error(spec, "eval", loss=one, eval_metric_ops={"a": one}), error(spec, "eval", loss=one, evaluation_hooks=[1]), error(spec, "eval", loss=one, scaffold=1),
    error(spec, "infer", predictions=one, export_outputs=1), error(spec, "infer", predictions=one, export_outputs={"a": 1}),
]
estimator = tf.estimator.Estimator
result += [
    error(estimator, None), error(estimator, lambda x: 1), error(estimator, lambda features, x: 1), error(estimator, lambda features: 1, params={}),
    error(estimator, lambda features: 1, config=1), error(estimator, lambda features: 1, folder, tf.estimator.RunConfig("/other")),
    error(estimator, lambda features: 1, folder, warm_start_from=1),
]
data = lambda: (tf.constant([1.0]), tf.constant([1.0]))
for function in (lambda features: 1, lambda features, labels: 1, lambda features, labels, mode: None):
    model = estimator(function, folder)
    result += [error(model.train, data, steps=1), error(model.evaluate, data, steps=1)]
model = estimator(lambda features, labels, mode: 1, folder)
result += [
    error(model.train, data, steps=0), error(model.train, data, steps=1, max_steps=1), error(model.train, data, hooks=[1]), error(model.train, data, saving_listeners=[1]),
    error(model.evaluate, data, steps=0), error(model.train, lambda: (1, 2, 3), steps=1), error(model.get_variable_names), error(model.export_saved_model, folder, lambda: 1),
    error(model.export_saved_model, folder, None), error(tf.estimator.TrainSpec, 1), error(tf.estimator.TrainSpec, data, max_steps=0), error(tf.estimator.EvalSpec, data, steps=0),
    error(tf.estimator.EvalSpec, data, name=1), error(tf.estimator.EvalSpec, data, throttle_secs=-1), error(tf.estimator.EvalSpec, data, exporters=[1]),
    error(tf.estimator.LatestExporter, "a", data, exports_to_keep=0), error(tf.estimator.BestExporter, compare_fn=None), error(tf.estimator.BestExporter, compare_fn=lambda a: 1),
    error(tf.estimator.train_and_evaluate, 1, 2, 3), error(tf.estimator.WarmStartSettings, ""), error(tf.estimator.add_metrics, model, lambda x: 1),
]
for head in (lambda: tf.estimator.BaselineClassifier(n_classes=1), lambda: tf.estimator.BaselineClassifier(label_vocabulary=3), lambda: tf.estimator.BaselineRegressor(label_dimension=0), lambda: tf.estimator.DNNLinearCombinedClassifier()):
    with tf.Graph().as_default():
        result.append(error(head))
# program: what RunConfig refuses and reads
# compare: error values
# not in 2.21: error values
import json, os

result = []
for name, value in [("model_dir", ""), ("save_summary_steps", -1), ("save_checkpoints_steps", -1), ("keep_checkpoint_every_n_hours", 0), ("session_config", 1), ("tf_random_seed", "1"), ("device_fn", lambda x: 1), ("protocol", "x"), ("log_step_count_steps", 0)]:
    result.append(error(tf.estimator.RunConfig, **{name: value}))
cluster = {"chief": ["a:1"], "ps": ["b:1", "c:1"], "worker": ["d:1", "e:1"], "zebra": ["f:1"]}
legacy = {"master": ["a:1"], "ps": ["b:1"], "worker": ["c:1"]}
for place, task, index in [(cluster, "chief", 0), (cluster, "worker", 1), (cluster, "ps", 1), (cluster, "zebra", 0), (cluster, "evaluator", 0), (legacy, "master", 0), (legacy, "worker", 0), (legacy, "evaluator", 0), (cluster, "worker", 2), (cluster, "worker", -1), (cluster, "no", 0), (cluster, None, 0), (cluster, "ps", None), ({"chief": ["a:1"]}, "chief", 0), ({}, "worker", 0), ({}, "ps", 0), ({"worker": ["a:1"]}, "worker", 0)]:
    os.environ["TF_CONFIG"] = json.dumps({"cluster": place, "task": {"type": task, "index": index}})
    try:
        c = tf.estimator.RunConfig()
        result.append([c.task_type, c.task_id, c.master, c.evaluation_master, c.is_chief, c.num_ps_replicas, c.num_worker_replicas, c.global_id_in_cluster, sorted(c.cluster_spec.jobs), str(c.session_config)])
    except Exception as e:
        result.append(type(e).__name__)
del os.environ["TF_CONFIG"]
