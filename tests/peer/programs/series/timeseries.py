# program: autoregressive models of windows
# compare: error values
# not in 2.21: error values
import functools
import importlib
base = tf.__name__ + ".contrib.timeseries.python.timeseries."
ar_model, math_utils, head = [importlib.import_module(base + name) for name in ("ar_model", "math_utils", "head")]
random = np.random.RandomState(1)
times, values = np.arange(24)[None] + np.array([[0], [3]]), random.randn(2, 24, 2).astype(np.float32)
features = {"times": tf.constant(times), "values": tf.constant(values), "outside": tf.constant(random.randn(2, 24, 1).astype(np.float32))}
column = [tf.feature_column.numeric_column("outside")]
makers = [
    ("flat", lambda: ar_model.ARModel([5, 7], 3, 2, 2, num_time_buckets=4)),
    ("hidden", lambda: ar_model.ARModel(5, 2, 4, 2, functools.partial(ar_model.FlatPredictionModel, hidden_layer_sizes=[3, 4]), exogenous_feature_columns=column)),
    ("squared", lambda: ar_model.ARModel(None, 4, 1, 2, loss=ar_model.ARModel.SQUARED_LOSS)), ("time alone", lambda: ar_model.ARModel([6], 0, 3, 2)),
    ("lstm", lambda: ar_model.ARModel([6], 3, 2, 2, functools.partial(ar_model.LSTMPredictionModel, num_units=4), num_time_buckets=3)),
    ("anomalies", lambda: ar_model.AnomalyMixtureARModel([5], 0.1, 3, 2, 2)),
    ("cauchy", lambda: ar_model.AnomalyMixtureARModel([5], 0.2, 3, 2, 2, anomaly_distribution="cauchy")),
]
got = {}
for name, make in makers:
    with tf.Graph().as_default():
        given = {key: tf.constant(sess_value) for key, sess_value in (("times", times), ("values", values))}
        if name == "hidden":
            given["outside"] = tf.constant(values[:, :, :1] * 2.0)
        model = make()
        statistics = math_utils.InputStatisticsFromMiniBatch(2, tf.float32).initialize_graph(given, update_statistics=False)
        model.initialize_graph(input_statistics=statistics)
        window = {key: value[:, :model.window_size] for key, value in given.items()}
        with tf.variable_scope("model", use_resource=True):
            trained = model.define_loss(window, "train")
        gradients = [g for g in tf.gradients(trained.loss, tf.trainable_variables()) if g is not None]
        with tf.variable_scope("model", use_resource=True, reuse=True):
            evaluated = model.define_loss(given, "eval")
            later = {"times": given["times"][:, :7] + 24, "start_tuple": evaluated.end_state}
            if name == "hidden":
                later["outside"] = given["outside"][:, :7]
            predicted = model.predict(later)
        variables = sorted(tf.global_variables(), key=lambda v: v.name)
        own = np.random.RandomState(2)
        assigns = [v.assign(np.asarray(0.3 * own.randn(*v.shape.as_list()), np.float32)) for v in variables if "input_statistics" not in v.name]
        moments = statistics.overall_feature_moments
        with tf.Session() as sess:
            sess.run(tf.global_variables_initializer())
            sess.run([assigns, moments.mean.assign([0.5, -0.5]), moments.variance.assign([2.0, 4.0])])
            got[name] = [sess.run([list(trained), list(evaluated), predicted, gradients]), [v.name for v in variables]]
plain = ar_model.ARModel([5], 3, 2, 2)
plain.initialize_graph()
short = {key: value[:, :4] for key, value in features.items() if key != "outside"}
result = [
    got, error(lambda: plain.define_loss(short, "train")), error(lambda: plain.define_loss(short, "eval")), error(lambda: plain.define_loss(features, "infer")),
    error(lambda: ar_model.ARModel([5], 3, 2, 2).define_loss(features, "train")), error(lambda: ar_model.ARModel(None, 0, 2, 2)),
]

# program: state-space models, filters and ensembles
# compare: error values
# not in 2.21: error values
import importlib
import warnings
warnings.simplefilter("ignore")  # of gradients of rows
base = tf.__name__ + ".contrib.timeseries.python.timeseries."
paths = "state_space_model level_trend periodic varma structural_ensemble filtering_postprocessor kalman_filter".split()
space, level_trend, periodic, varma, structural, postprocessor, kalman = [importlib.import_module(base + "state_space_models." + path) for path in paths]
math_utils = importlib.import_module(base + "math_utils")
random = np.random.RandomState(1)
times = np.array([[0, 1, 2, 4, 5, 9], [3, 4, 5, 6, 8, 9]])
def config(features, **options):
    return space.StateSpaceModelConfiguration(num_features=features, dtype=tf.float64, **options)
column = [tf.feature_column.numeric_column("outside")]
detector = postprocessor.StateInterpolatingAnomalyDetector(anomaly_prior_probability=0.1)
makers = [
    ("level", 1, lambda: level_trend.AdderStateSpaceModel(configuration=config(1))),
    ("slope", 1, lambda: level_trend.AdderStateSpaceModel(False, config(1, filtering_postprocessor=detector, trainable_start_state=True))),
    ("cycle", 1, lambda: periodic.CycleStateSpaceModel(4, config(1))), 
    ("resolution", 1, lambda: periodic.ResolutionCycleModel(3, 6, configuration=config(1, static_unrolling_window_size_threshold=10))),
    ("varma", 2, lambda: varma.VARMA(2, 1, config(2))),
    ("structural", 2, lambda: structural.StructuralEnsemble([3], 1, 0, configuration=config(2, bayesian_prior_weighting=False))),
    ("resolutions", 1, lambda: structural.MultiResolutionStructuralEnsemble([3, 5], 1, 1, [6.0, 4], configuration=config(1))),
    ("exogenous", 1, lambda: level_trend.AdderStateSpaceModel(configuration=config(
        1, exogenous_feature_columns=column, exogenous_noise_decreases=True, exogenous_update_condition=lambda times, features: times > 4))),
]
got = {}
for name, count, make in makers:
    with tf.Graph().as_default():
        values = np.random.RandomState(3).randn(2, 6, count)
        given = {"times": tf.constant(times), "values": tf.constant(values)}
        later = {"times": tf.constant([[10, 11, 14], [12, 13, 14]], tf.int64)}
        if name == "exogenous":
            given["outside"], later["outside"] = tf.constant(values), tf.constant(values[:, :3])
        model = make()
        statistics = math_utils.InputStatisticsFromMiniBatch(count, tf.float64).initialize_graph(given, update_statistics=False)
        model.initialize_graph(input_statistics=statistics)
        with tf.variable_scope("model", use_resource=True):
            loss, states, outputs = model.per_step_batch_loss(given, "train", math_utils.replicate_state(model.get_start_state(), 2))
        with tf.variable_scope("model", use_resource=True, reuse=True):
            evaluated = model.define_loss(dict(given), "eval")
            later["start_tuple"] = evaluated.end_state
            predicted = model.predict(later)
        variables = sorted(tf.global_variables(), key=lambda v: v.name)
        own = np.random.RandomState(2)
        assigns = [v.assign(np.asarray(0.3 * own.randn(*v.shape.as_list()), v.dtype.as_numpy_dtype)) for v in variables if "input_statistics" not in v.name]
        trained = [] if name in ("structural", "resolutions") else sorted(tf.trainable_variables(), key=lambda v: v.name)  # they take a minute to build
        gradients = [g for g in tf.gradients(loss, trained) if g is not None] if trained else []
        moments = statistics.overall_feature_moments
        with tf.Session() as sess:
            sess.run(tf.global_variables_initializer())
            sess.run([assigns, moments.mean.assign([0.5] * count), moments.variance.assign([2.0] * count), statistics.start_time.assign(0),
                      statistics.total_observation_count.assign(20), statistics.series_start_moments.variance.assign([3.0] * count)])
            got[name] = [sess.run([loss, states, outputs, list(evaluated), predicted, gradients]), [v.name for v in variables]]
            if count == 1 and name in ("level", "cycle"):
                got[name].append(sess.run(model.transition_power_noise_accumulator(tf.constant([0, 1, 5]))))
                np.random.seed(0)
                parameters = model.random_model_parameters(seed=4)
                got[name].append(model.generate(2, 5, parameters, seed=5)["values"])
matrix = tf.constant([[0.5, 0.2], [0.1, 0.3]], tf.float64)
fetches = [
    math_utils.batch_matrix_pow(tf.stack([matrix, matrix, matrix]), [0, 1, 5]), math_utils.matrix_to_powers(matrix, [2, 3]), math_utils.power_sums_tensor(4, matrix, matrix),
    math_utils.block_diagonal([matrix, matrix[:1]], tf.float64), math_utils.clip_covariance(matrix, 1.2, 0.45), math_utils.sign_magnitude_positive_definite(matrix, 0.1, 0.2),
    math_utils.make_toeplitz_matrix(tf.stack([matrix, matrix * 2.0])), math_utils.matrix_times_batch(matrix, tf.stack([matrix, matrix])),
    math_utils.log_noninformative_covariance_prior(matrix), math_utils.entropy_matched_cauchy_scale(matrix[None]), math_utils.cauchy_log_prob(1.0, tf.constant(2.0), 3.0),
    kalman.KalmanFilter(tf.float64, True).posterior_from_prior_state(matrix[:1], matrix[None], matrix[:1, :1], matrix[None, :1], (matrix[:1, 1:], matrix[None, :1, :1]), matrix[:1, :1]),
]
with tf.Session() as sess:
    got["matrices"] = sess.run(fetches)
result = [
    got, error(lambda: periodic.ResolutionCycleModel(4, 3)), error(lambda: structural.MultiResolutionStructuralEnsemble([3, 5], 1, 1, [6.0])),
    error(lambda: varma.VARMA(1, 1, config(2)).generate(1, 2)), error(lambda: space.StateSpaceCorrelatedFeaturesEnsemble([], config(1))),
    error(lambda: level_trend.AdderStateSpaceModel().define_loss({}, "train")), tuple(space.StateSpaceModelConfiguration()._fields),
]

# program: series as arrays and files; statistics
# compare: error values
# not in 2.21: error values
import importlib
import os
import tempfile
import time
base = tf.__name__ + ".contrib.timeseries.python.timeseries."
pipeline, math_utils, utils = [importlib.import_module(base + name) for name in ("input_pipeline", "math_utils", "model_utils")]
folder = tempfile.mkdtemp()
path = os.path.join(folder, "series.csv")
with open(path, "w") as file:
    file.write("t,a,b\n" + "".join("%d,%f,%f\n" % (t, t * 0.5, -t) for t in range(30)))
reader = pipeline.CSVReader(path, column_names=("times", "values", "values"), skip_header_lines=1)
data = {"times": np.arange(30), "values": np.arange(30) * 0.5, "more": np.arange(60).reshape(30, 2)}
array_reader = pipeline.NumpyReader(data)
windows, _ = pipeline.RandomWindowInputFn(array_reader, window_size=5, batch_size=2, jitter=False, num_threads=1, shuffle_seed=3)()
csv_windows, _ = pipeline.RandomWindowInputFn(reader, window_size=4, batch_size=3, num_threads=1)()
whole, _ = pipeline.WholeDatasetInputFn(reader)()
arrays, _ = pipeline.WholeDatasetInputFn(array_reader)()
with tf.variable_scope("seen"):
    statistics = math_utils.InputStatisticsFromMiniBatch(2, tf.float32, 4).initialize_graph(whole)
with tf.Session() as sess:
    sess.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
    coordinator = tf.train.Coordinator()
    threads = tf.train.start_queue_runners(sess, coordinator)
    # A reader of whole files that is quicker than its queue's thread finds the queue closed.
    limiter = [v for v in tf.local_variables() if "epoch_limiter" in v.name][-1]
    def run(fetches):
        while sess.run(limiter) < 2:
            time.sleep(0.01)
        return sess.run(fetches)
    first = run(statistics)
    got = [run(whole), sess.run(arrays), first, {k: v.shape for k, v in sess.run(csv_windows).items()}]
    random_windows = sess.run(windows)
    got.append([{k: v.shape for k, v in random_windows.items()}, (np.diff(random_windows["times"], axis=1) == 1).all()])
    coordinator.request_stop()
    error(coordinator.join, threads, stop_grace_period_secs=5)  # a reader may hear of the end as an error
canonical = pipeline._canonicalize_numpy_data
output = {"times": np.array([[3, 4], [5, 6]])}
result = [
    got, canonical({"times": 3, "values": 2.0}, False), canonical({"times": [1, 2], "values": [[1.0], [2.0]]}, True), utils.canonicalize_times_or_steps_from_output(None, 2, output),
    utils.canonicalize_times_or_steps_from_output([[7], [8]], None, output), error(lambda: canonical({"times": 3}, True)), error(lambda: canonical({"times": [1, 2], "values": [1.0]}, True)),
    error(lambda: canonical({"times": [[1], [2]], "values": [[1.0], [2.0]]}, True)), error(lambda: canonical({"times": [1, 2], "values": np.ones([2, 1, 1])}, True)),
    error(lambda: canonical({"times": np.ones([1, 1, 1]), "values": np.ones([1, 1, 1])}, True)), error(lambda: utils.canonicalize_times_or_steps_from_output([1], 2, output)),
    error(lambda: utils.canonicalize_times_or_steps_from_output(None, None, output)), error(lambda: utils.canonicalize_times_or_steps_from_output([[1], [2]], None, output)),
    error(lambda: pipeline.CSVReader(path, column_names=("times",))), error(lambda: pipeline.CSVReader(path, column_dtypes=[tf.int64])),
    error(lambda: pipeline.RandomWindowInputFn(array_reader, 31, 2)), error(lambda: pipeline.TFExampleReader(path, {})),
]
