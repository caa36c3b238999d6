# program: an estimator for TPUs runs without them
# compare: error values
# not in 2.21: error values
import tempfile, collections
T = tf.contrib.tpu
rs = np.random.RandomState(0)
rows = rs.rand(24, 3).astype(np.float32); classes = rs.randint(0, 2, 24)
seen = []
def input_fn(params):
    seen.append(('input', sorted(params.items())))
    return tf.data.Dataset.from_tensor_slices(({'x': rows}, classes)).repeat(4).batch(params['batch_size'], drop_remainder=True)
def predict_input_fn(params):
    return tf.data.Dataset.from_tensor_slices({'x': rows[:6]}).batch(params['batch_size'])
calls = []
class Keep(tf.train.SessionRunHook):
    def after_run(self, context, values):
        calls.append('run')
def model_fn(features, labels, mode, params, config):
    seen.append((mode, sorted(params.items()), type(config).__name__))
    logits = tf.layers.dense(features['x'], 2, kernel_initializer=tf.constant_initializer(0.3), name='d')
    probabilities = tf.nn.softmax(logits)
    if mode == 'infer':
        return T.TPUEstimatorSpec(mode, predictions={'p': probabilities, 'c': tf.argmax(logits, 1)})
    loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits))
    if mode == 'eval':
        def metric_fn(labels, logits):
            return {'accuracy': tf.metrics.accuracy(labels, tf.argmax(logits, 1)), 'mean': tf.metrics.mean(logits[:, 0])}
        return T.TPUEstimatorSpec(mode, loss=loss, eval_metrics=(metric_fn, [labels, logits]) if params['kind'] else (metric_fn, {'logits': logits, 'labels': labels}))
    optimizer = tf.train.MomentumOptimizer(params['rate'], 0.9)
    step = optimizer.minimize(loss, tf.train.get_global_step())
    seen.append((type(tf.train.get_global_step()).__name__, tf.train.get_global_step().name, [v.name for v in tf.global_variables()]))
    def scaffold_fn():
        seen.append('scaffold')
        return tf.train.Scaffold(init_feed_dict=None)
    def host(losses):
        seen.append('host')
        return [losses * 2]
    return T.TPUEstimatorSpec(mode, loss=loss, train_op=step, scaffold_fn=scaffold_fn, host_call=(host, [tf.reshape(loss, [1])]), training_hooks=[Keep()])
results = []
for kind in (0, 1):
    config = T.RunConfig(model_dir=tempfile.mkdtemp(), save_checkpoints_steps=4, tpu_config=T.TPUConfig(iterations_per_loop=3, num_shards=8, per_host_input_for_training=T.InputPipelineConfig.PER_HOST_V2))
    estimator = T.TPUEstimator(model_fn=model_fn, config=config, params={'rate': 0.1, 'kind': kind}, use_tpu=False, train_batch_size=8, eval_batch_size=4, predict_batch_size=3)
    estimator.train(input_fn, max_steps=5)
    metrics = estimator.evaluate(input_fn, steps=3)
    predictions = list(estimator.predict(predict_input_fn))
    results += [{k: np.round(v, 4) for k, v in metrics.items()}, [(np.round(p['p'], 4), p['c']) for p in predictions], np.round(estimator.get_variable_value('d/kernel'), 4), sorted(estimator.get_variable_names())]
results += [estimator.config.tpu_config, estimator.config.log_step_count_steps, estimator.config.evaluation_master, estimator.config.cluster, sorted(estimator.params.items()), len(calls)]
result = results, seen

# program: what estimators for TPUs refuse
# compare: error values
# not in 2.21: error values
T = tf.contrib.tpu
def model_fn(features, labels, mode, params):
    return T.TPUEstimatorSpec(mode, predictions=tf.zeros([1]))
def without(features, labels, mode):
    return T.TPUEstimatorSpec(mode, predictions=tf.zeros([1]))
config = T.RunConfig()
def make(**kw):
    T.TPUEstimator(**dict(dict(model_fn=model_fn, config=config, use_tpu=False), **kw))
def predict(fn=model_fn, input_fn=lambda params: tf.zeros([2, 2]), **kw):
    next(T.TPUEstimator(**dict(dict(model_fn=fn, config=config, use_tpu=False), **kw)).predict(input_fn))
z = tf.zeros([2])
spec = lambda **kw: T.TPUEstimatorSpec('eval', loss=tf.zeros([]), **kw)
result = [error(make, config=None), error(make, config=tf.estimator.RunConfig()), error(make, params={'batch_size': 3}), error(make, params={'context': 3}),
          error(make, model_fn=lambda features, other: 0), error(make, use_tpu=True), error(make, use_tpu=True, train_batch_size=0), error(make, use_tpu=True, train_batch_size=1.5),
          error(make, export_saved_model_api_version=1), error(make, model_fn=without, params={'a': 1}),
          error(T.TPUConfig, iterations_per_loop=0), error(T.TPUConfig, iterations_per_loop='5d'), error(T.TPUConfig, num_shards=0), error(T.TPUConfig, num_shards='1'),
          error(T.TPUConfig, num_cores_per_replica=3), error(T.TPUConfig, input_partition_dims=[1, 2, 3]), error(T.TPUConfig, input_partition_dims=[1]),
          error(T.TPUConfig, input_partition_dims=[[1]], per_host_input_for_training=3), error(T.TPUConfig, eval_training_input_configuration=4), error(T.TPUConfig, initial_infeed_sleep_secs='a'),
          error(T.RunConfig, master='a', cluster='b'), error(T.RunConfig, unknown=1),
          error(spec, eval_metrics=3), error(spec, eval_metrics=(1, 2, 3)), error(spec, eval_metrics=(1, [z])), error(spec, eval_metrics=(len, z)), error(spec, host_call=(lambda a: a, [z, z])),
          error(spec, host_call=(lambda *a: a, [z, z])), error(spec, host_call=(lambda a: a, {'b': z})), error(spec(host_call=(lambda a: a, {'b': z})).as_estimator_spec), error(spec, training_hooks=[3]),
          error(predict, without), error(predict, input_fn=lambda: tf.zeros([2, 2])), error(predict, config=T.RunConfig(tpu_config=T.TPUConfig(eval_training_input_configuration=5))),
          T.TPUConfig(), T.TPUConfig('5m', per_host_input_for_training=False), T.RunConfig(master='x').evaluation_master, T.RunConfig(master='x', evaluation_master='').evaluation_master, T.RunConfig().replace(tpu_config=T.TPUConfig(7)).tpu_config.iterations_per_loop,
          T.RunConfig(tpu_config=T.TPUConfig(7)).replace(tf_random_seed=2).tpu_config.iterations_per_loop, [getattr(T.InputPipelineConfig, n) for n in dir(T.InputPipelineConfig) if n[0] != '_']]

# program: an optimizer across shards, bfloat16 variables and loops
# compare: error values
# not in 2.21: error values
T = tf.contrib.tpu
with T.bfloat16_scope() as scope:
    v = tf.get_variable('a', [2], tf.bfloat16); w = tf.get_variable('b', [2])
o = T.CrossShardOptimizer(tf.train.MomentumOptimizer(.1, .9))
x = tf.get_variable('x', [2])
pairs = o.compute_gradients(tf.reduce_sum(x * x))
op = o.apply_gradients(pairs, tf.train.get_or_create_global_step())
make = lambda **kw: T.CrossShardOptimizer(tf.train.AdamOptimizer(), **kw).compute_gradients(tf.reduce_sum(x))
with tf.Graph().as_default(), tf.Session() as s:
    values = s.run([T.while_loop(lambda i: i < 5, lambda i: i + 1, [0]), T.repeat(3, lambda a, b: (a * 2., b + a), [1., 0.])])
result = [v.name for v in tf.global_variables()], v.dtype.name, w.dtype.name, type(v).__name__, scope.name, [(g is None, q.name) for g, q in pairs], op.type, [q.name for q in o.variables()], o.get_name(), o.get_slot_names(), o.get_slot(x, 'momentum').name, T.core(2), values, [error(make, **kw) for kw in ({'reduction': 'none'}, {'group_assignment': [[0, 1]]}, {'group_assignment': 3}, {'group_assignment': [[0]]})], error(T.repeat, 3, lambda a: a, [1., 2.]), error(T.while_loop, lambda i: i < 5, lambda i: tf.cast(i, tf.float32), [0])
