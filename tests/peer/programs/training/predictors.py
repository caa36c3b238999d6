# program: predictors of exported models and estimators
# compare: error values
# not in 2.21: error values
import tempfile, os
P = tf.contrib.predictor
rows = np.arange(8, dtype=np.float32).reshape(4, 2)
def model_fn(features, labels, mode):
    out = tf.layers.dense(features['x'], 3, kernel_initializer=tf.constant_initializer(0.5), name='d')
    loss = None if labels is None else tf.reduce_mean((out - labels) ** 2)
    step = None if loss is None else tf.train.GradientDescentOptimizer(0.01).minimize(loss, tf.train.get_global_step())
    E = tf.estimator.export
    return tf.estimator.EstimatorSpec(mode, predictions={'y': out}, loss=loss, train_op=step, export_outputs={'serving_default': E.PredictOutput({'y': out, 'sum': tf.reduce_sum(out, 1)}), 'other': E.PredictOutput(out)})
def receiver_fn():
    x = tf.placeholder(tf.float32, [None, 2], name='given')
    return tf.estimator.export.ServingInputReceiver({'x': x}, {'in': x})
estimator = tf.estimator.Estimator(model_fn, tempfile.mkdtemp())
estimator.train(lambda: ({'x': tf.constant(rows)}, tf.ones([4, 3])), steps=3)
folder = estimator.export_savedmodel(tempfile.mkdtemp(), receiver_fn)
folder = folder.decode() if isinstance(folder, bytes) else folder
results = []
for p in [P.from_estimator(estimator, receiver_fn), P.from_estimator(estimator, receiver_fn, output_key='other'), P.from_saved_model(folder), P.from_saved_model(folder, 'other'),
          P.from_saved_model(folder, input_names={'a': 'given:0'}, output_names={'b': 'd/BiasAdd:0'}), P.from_saved_model(folder, tags='serve', graph=tf.Graph(), config=tf.ConfigProto(allow_soft_placement=True))]:
    key, = p.feed_tensors
    results.append((type(p).__name__, key, p.feed_tensors[key].name, sorted((k, t.name) for k, t in p.fetch_tensors.items()), {k: np.round(v, 4) for k, v in p({key: rows}).items()}, error(p, {'no': 3}), error(p, {key: None}), error(p, {key: [1.]})))
result = results, [error(lambda: f(**kw)) for f, kw in [(P.from_saved_model, dict(export_dir='/no/such')), (P.from_saved_model, dict(export_dir=folder, tags='no')), (P.from_saved_model, dict(export_dir=folder, input_names={})),
    (P.from_saved_model, dict(export_dir=folder, signature_def_key='a', signature_def=3)), (P.from_saved_model, dict(export_dir=folder, input_names={'a': 'no:0'}, output_names={})), (P.from_estimator, dict(estimator=estimator, serving_input_receiver_fn=receiver_fn, output_key='no')),
    (P.from_contrib_estimator, dict(estimator=estimator, prediction_input_fn=receiver_fn))]]
