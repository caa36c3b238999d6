# program: contrib.boosted_trees: Estimators of trees, their trees, leaves and exports
# compare: error values
import importlib
import itertools
import tempfile

package = tf.__name__ + ".contrib.boosted_trees."
custom_export_strategy, trees, learner_pb2, tree_config_pb2 = (
    importlib.import_module(package + path)
    for path in ("estimator_batch.custom_export_strategy", "estimator_batch.estimator", "proto.learner_pb2", "proto.tree_config_pb2")
)
rng = np.random.RandomState(3)
n = 64
dense = rng.randn(n, 2).astype(np.float32)
words = rng.randint(0, 5, n)
present = np.flatnonzero(rng.rand(n) < 0.6)
numbers = rng.randn(len(present)).astype(np.float32)
classes = ((dense[:, 0] > 0.2) ^ (words == 2)).astype(np.int64)
several = (classes + (dense[:, 1] > 0)).astype(np.int64)
values = (2 * dense[:, :1] + (words == 1)[:, None]).astype(np.float32)


def features():
    rows = np.arange(n)
    return {
        "dense": tf.constant(dense),
        "words": tf.SparseTensor(np.stack([rows, 0 * rows], 1).astype(np.int64), tf.constant(words.astype(np.int64)), [n, 1]),
        "rare": tf.SparseTensor(np.stack([present, 0 * present], 1).astype(np.int64), tf.constant(numbers), [n, 1]),
    }


def given(labels):
    return lambda: (features(), tf.constant(labels[:, None] if labels.ndim == 1 else labels))


def dense_only(labels):
    return lambda: ({"dense": tf.constant(dense)}, tf.constant(labels[:, None]))


def learner(classes=2, depth=2, **fields):
    config = learner_pb2.LearnerConfig()
    config.num_classes = classes
    config.constraints.max_tree_depth = depth
    config.regularization.l2 = 1.0 / n
    config.regularization.l1 = 0.001
    config.learning_rate_tuner.fixed.learning_rate = 0.5
    for name, value in fields.items():
        setattr(config, name, value)
    return config


def ensemble(model):
    serialized = tf.train.load_checkpoint(model.model_dir).get_tensor("ensemble_model:0_config")
    return tree_config_pb2.DecisionTreeEnsembleConfig.FromString(serialized)


def shown(model):
    found = []
    trained = ensemble(model)
    for tree, weight in zip(trained.trees, trained.tree_weights):
        for node in tree.nodes:
            kind = node.WhichOneof("node")
            part = getattr(node, kind)
            if kind == "leaf":
                found.append([kind, np.array(list(part.vector.value), np.float32), np.array(list(part.sparse_vector.value), np.float32)])
                continue
            split = part.split if "sparse" in kind else part
            ids = [split.feature_column, getattr(split, "left_id", 0), getattr(split, "right_id", 0)]
            found.append([kind, ids, getattr(split, "threshold", getattr(split, "feature_id", 0)), node.node_metadata.gain])
        found.append(weight)
    return found + [trained.growing_metadata.num_trees_attempted, trained.growing_metadata.num_layers_attempted]


result = []
Config = tf.contrib.learn.RunConfig
classifier = trees.GradientBoostedDecisionTreeClassifier(learner(), n, num_trees=3, model_dir=tempfile.mkdtemp(), output_leaf_index=True, config=Config())
classifier.fit(input_fn=given(classes), steps=30)
result.append(shown(classifier))
result.append(sorted(classifier.evaluate(input_fn=given(classes), steps=1).items()))
predicted = list(classifier.predict(input_fn=lambda: features()))
result.append([[row["probabilities"], row["classes"], row["leaf_index"]] for row in predicted])
result.append(sorted(name for name in classifier.get_variable_names()))
Learner = learner_pb2.LearnerConfig
for strategy in (Learner.TREE_PER_CLASS, Learner.DIAGONAL_HESSIAN, Learner.FULL_HESSIAN):
    config = learner(3, multi_class_strategy=strategy)
    model = trees.GradientBoostedDecisionTreeClassifier(config, n, n_classes=3, num_trees=3, model_dir=tempfile.mkdtemp(), center_bias=False)
    model.fit(input_fn=given(several), steps=20)
    result.append(shown(model))
    result.append([row["probabilities"] for row in model.predict(input_fn=lambda: features())])
regressor = trees.GradientBoostedDecisionTreeRegressor(learner(pruning_mode=Learner.PRE_PRUNE, growing_mode=Learner.WHOLE_TREE), n, num_trees=2, model_dir=tempfile.mkdtemp())
regressor.fit(input_fn=given(values), steps=20)
result.append(shown(regressor))
result.append([row["scores"] for row in regressor.predict(input_fn=lambda: features(), as_iterable=True)])
config = learner(depth=3, pruning_mode=Learner.PRE_PRUNE, weak_learner_type=Learner.OBLIVIOUS_DECISION_TREE)
oblivious = trees.GradientBoostedDecisionTreeClassifier(config, n, num_trees=2, model_dir=tempfile.mkdtemp())
oblivious.fit(input_fn=dense_only(classes), steps=20)
result.append(shown(oblivious))
config = learner()
config.learning_rate_tuner.dropout.dropout_probability = 0.5
config.learning_rate_tuner.dropout.learning_rate = 0.5
dropped = trees.GradientBoostedDecisionTreeClassifier(config, n, num_trees=5, model_dir=tempfile.mkdtemp())
dropped.fit(input_fn=dense_only(classes), steps=40)
result.append(shown(dropped))
config = learner()
config.feature_fraction_per_level = 0.5
config.averaging_config.average_last_n_trees = 2
core = trees.CoreGradientBoostedDecisionTreeEstimator(config, n, tf.contrib.estimator.binary_classification_head(loss_reduction=tf.losses.Reduction.SUM_OVER_NONZERO_WEIGHTS), num_trees=3, model_dir=tempfile.mkdtemp())
core.train(given(classes), steps=30)
result.append(shown(core))
result.append([row["logits"] for row in itertools.islice(core.predict(lambda: features()), n)])
quantile = trees.CoreGradientBoostedDecisionTreeQuantileRegressor(learner(), n, [0.8], num_trees=2, model_dir=tempfile.mkdtemp())
quantile.train(lambda: ({"dense": tf.constant(dense)}, tf.constant(values)), steps=20)
result.append([row["predictions"] for row in itertools.islice(quantile.predict(lambda: {"dense": tf.constant(dense)}), n)])


def pairs():
    return {"a.dense": tf.constant(dense), "b.dense": tf.constant(dense[::-1].copy())}, tf.constant((values > values[::-1]).astype(np.int32))


head = tf.contrib.estimator.binary_classification_head(loss_reduction=tf.losses.Reduction.SUM_OVER_NONZERO_WEIGHTS)
ranker = trees.CoreGradientBoostedDecisionTreeRanker(learner(), n, head, ("a", "b"), num_trees=2, model_dir=tempfile.mkdtemp())
ranker.train(pairs, steps=20)
result.append(shown(ranker))
universal = custom_export_strategy.convert_to_universal_format(ensemble(classifier), ["dense_0", "dense_1", "rare", "words"], 2, 1, 1)
result.append([len(universal.model.ensemble.members), sorted(universal.features)])
result.append(sorted(custom_export_strategy._get_feature_importances(ensemble(classifier), ["dense_0", "dense_1", "rare", "words"], 2, 1, 1).items()))
result.append(error(trees.GradientBoostedDecisionTreeClassifier, learner(), n, n_classes=3))
result.append(error(trees.CoreGradientBoostedDecisionTreeQuantileRegressor, learner(), n, [0.1, 0.2]))
# program: contrib.tensor_forest: forests that grow, their graphs and predictions
rng = np.random.RandomState(2)
data = rng.randn(120, 3).astype(np.float32)
classes = ((data[:, 0] > 0) + 2 * (data[:, 1] > 0.3)).astype(np.float32)
import importlib

forests = importlib.import_module(tf.__name__ + ".contrib.tensor_forest.python.tensor_forest")
resources = importlib.import_module(tf.__name__ + ".python.ops.resources")


def run(labels, steps=12, **options):
    settings = {"num_classes": 4, "num_features": 3, "num_trees": 2, "max_nodes": 60, "split_after_samples": 15, "base_random_seed": 5}
    settings.update(options)
    params = forests.ForestHParams(**settings).fill()
    graphs = forests.RandomForestGraphs(params)
    train = graphs.training_graph(tf.constant(data), tf.constant(labels))
    predicted = graphs.inference_graph(tf.constant(data))
    more = [graphs.average_size(), graphs.feature_importances()]
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(resources.initialize_resources(resources.shared_resources()))
        first = session.run(predicted[0])
        for _ in range(steps):
            session.run(train)
        return [first] + session.run([predicted[0], predicted[2]] + more)


result = [run(classes)]
for pruning in ("half", "10_percent", "hoeffding"):
    with tf.Graph().as_default():
        result.append(run(classes, split_pruning_name=pruning, prune_every_samples=5, num_splits_to_consider=12))
# program: contrib.tensor_forest: Estimators
# compare: error values
import importlib
import itertools
import tempfile

forests = importlib.import_module(tf.__name__ + ".contrib.tensor_forest.python.tensor_forest")
client = importlib.import_module(tf.__name__ + ".contrib.tensor_forest.client.random_forest")
rng = np.random.RandomState(2)
data = rng.randn(150, 3).astype(np.float32)
classes = ((data[:, 0] > 0) + 2 * (data[:, 1] > 0.3)).astype(np.int32)


def params(**options):
    settings = {"num_classes": 4, "num_features": 3, "num_trees": 2, "max_nodes": 60, "split_after_samples": 15, "base_random_seed": 5}
    settings.update(options)
    return forests.ForestHParams(**settings)


def given():
    return {"x": tf.constant(data)}, tf.constant(classes)


result = []
model = client.TensorForestEstimator(params(), model_dir=tempfile.mkdtemp())
model.fit(input_fn=given, steps=10)
result.append(sorted(model.evaluate(input_fn=given, steps=1).items()))
result.append([[row[key] for key in sorted(row)] for row in model.predict(input_fn=lambda: given()[0])])
result.append(sorted(model.get_variable_names()))
values = (2 * (data[:, :1] > 0) + 1).astype(np.float32)
core = client.CoreTensorForestEstimator(params(num_classes=1, regression=True, max_nodes=20), model_dir=tempfile.mkdtemp())
core.train(lambda: ({"x": tf.constant(data)}, tf.constant(values)), steps=8)
result.append([row["predictions"] for row in itertools.islice(core.predict(lambda: {"x": tf.constant(data)}), 150)])
several = client.MultiForestMultiHeadEstimator([params(num_classes=2), params(num_classes=2)], model_dir=tempfile.mkdtemp())
several.fit(input_fn=lambda: (given()[0], tf.constant(np.stack([classes % 2, classes // 2], 1))), steps=5)
result.append(sorted(several.get_variable_names()))
result.append(several.get_variable_value("global_step"))
