# program: two mirrored replicas with batch normalization and Adam, and their metrics
# not in 2.21: error ops attrs values
# compare: error values
config = tf.ConfigProto(device_count={"CPU": 2})
D = ["/device:CPU:0", "/device:CPU:1"]
xs = np.linspace(-1, 1, 48).reshape(12, 4).astype(np.float32)
ys = (xs.sum(1) > 0).astype(np.int64)
strategy, OPTIMIZER, NORM, NODES = tf.distribute.MirroredStrategy(D), tf.train.AdamOptimizer(0.1), True, True
def step(x_y):
    x, y = x_y
    h = tf.layers.dense(x, 3, kernel_initializer=tf.constant_initializer(0.25), name="h", activation=tf.nn.tanh)
    h = tf.layers.batch_normalization(h, training=True) if NORM else h
    with tf.variable_scope("out"):
        w = tf.get_variable("w", [3, 2], initializer=tf.constant_initializer(np.arange(6).reshape(3, 2) / 10.))
    logits = tf.matmul(h, w)
    loss = tf.losses.sparse_softmax_cross_entropy(y, logits)
    right = tf.argmax(logits, 1)
    found = [tf.metrics.accuracy(y, right), tf.metrics.auc(y, tf.nn.softmax(logits)[:, 1], num_thresholds=7), tf.metrics.precision(y, right), tf.metrics.mean_iou(y, right, 2), tf.metrics.root_mean_squared_error(y, right), tf.metrics.true_positives(y, right), tf.metrics.recall_at_thresholds(y, tf.nn.softmax(logits)[:, 1], [0.3, 0.6]), tf.metrics.mean_per_class_accuracy(y, right, 2), tf.metrics.average_precision_at_k(y[:, None], logits, 1), tf.metrics.precision_at_k(y[:, None], logits, 1)]
    tf.summary.scalar("loss", loss)
    with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS)):
        train = OPTIMIZER.minimize(loss, global_step=gs)
    with tf.control_dependencies([train]):
        average = ema.apply()
    with tf.control_dependencies([average]):
        return tf.identity(loss), [m[0] for m in found], tf.group(*[m[1] for m in found])

with strategy.scope():
    it = strategy.make_dataset_iterator(tf.data.Dataset.from_tensor_slices((xs, ys)).repeat().batch(4))
    gs = tf.train.get_or_create_global_step()
    ema = tf.train.ExponentialMovingAverage(0.9)
    loss, metrics, updates = strategy.experimental_run(step, it)
    total = strategy.reduce(tf.distribute.ReduceOp.MEAN, loss)
    updates = strategy.group(updates)
    metrics = [strategy.experimental_local_results(m) for m in metrics]
    saver = tf.train.Saver()
    init = [tf.global_variables_initializer(), tf.local_variables_initializer()]
names = [[v.name for v in vs] for vs in (tf.global_variables(), tf.local_variables(), tf.trainable_variables(), tf.moving_average_variables(), tf.get_collection("summaries"))]
nodes = sorted(n.name for n in tf.get_default_graph().as_graph_def().node if n.op in ("VarHandleOp", "AssignVariableOp", "AddN", "Identity") and "Assert" not in n.name and "cond" not in n.name) if NODES else None
import os, tempfile
with tf.Session(config=config) as s:
    s.run([it.initialize()] + init)
    losses = []
    for _ in range(3):
        losses.append(s.run(total))
        s.run(updates)
    values = s.run([tf.global_variables(), metrics])
    path = saver.save(s, os.path.join(tempfile.mkdtemp(), "model"))
    s.run(init)
    saver.restore(s, path)
    again = s.run(tf.global_variables())
result = names, nodes, losses, values, again, tf.train.list_variables(path), strategy.num_replicas_in_sync

# program: mirrored replicas reduced by copies in two groups, packed
# not in 2.21: error ops attrs values
# compare: error values
config = tf.ConfigProto(device_count={"CPU": 2})
D = ["/device:CPU:0", "/device:CPU:1"]
xs = np.linspace(-1, 1, 48).reshape(12, 4).astype(np.float32)
ys = (xs.sum(1) > 0).astype(np.int64)
strategy, OPTIMIZER, NORM, NODES = tf.distribute.MirroredStrategy(D, cross_device_ops=tf.distribute.HierarchicalCopyAllReduce(num_packs=2)), tf.train.MomentumOptimizer(0.1, 0.9), False, True
def step(x_y):
    x, y = x_y
    h = tf.layers.dense(x, 3, kernel_initializer=tf.constant_initializer(0.25), name="h", activation=tf.nn.tanh)
    h = tf.layers.batch_normalization(h, training=True) if NORM else h
    with tf.variable_scope("out"):
        w = tf.get_variable("w", [3, 2], initializer=tf.constant_initializer(np.arange(6).reshape(3, 2) / 10.))
    logits = tf.matmul(h, w)
    loss = tf.losses.sparse_softmax_cross_entropy(y, logits)
    right = tf.argmax(logits, 1)
    found = [tf.metrics.accuracy(y, right), tf.metrics.auc(y, tf.nn.softmax(logits)[:, 1], num_thresholds=7), tf.metrics.precision(y, right), tf.metrics.mean_iou(y, right, 2), tf.metrics.root_mean_squared_error(y, right), tf.metrics.true_positives(y, right), tf.metrics.recall_at_thresholds(y, tf.nn.softmax(logits)[:, 1], [0.3, 0.6]), tf.metrics.mean_per_class_accuracy(y, right, 2), tf.metrics.average_precision_at_k(y[:, None], logits, 1), tf.metrics.precision_at_k(y[:, None], logits, 1)]
    tf.summary.scalar("loss", loss)
    with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS)):
        train = OPTIMIZER.minimize(loss, global_step=gs)
    with tf.control_dependencies([train]):
        average = ema.apply()
    with tf.control_dependencies([average]):
        return tf.identity(loss), [m[0] for m in found], tf.group(*[m[1] for m in found])

with strategy.scope():
    it = strategy.make_dataset_iterator(tf.data.Dataset.from_tensor_slices((xs, ys)).repeat().batch(4))
    gs = tf.train.get_or_create_global_step()
    ema = tf.train.ExponentialMovingAverage(0.9)
    loss, metrics, updates = strategy.experimental_run(step, it)
    total = strategy.reduce(tf.distribute.ReduceOp.MEAN, loss)
    updates = strategy.group(updates)
    metrics = [strategy.experimental_local_results(m) for m in metrics]
    saver = tf.train.Saver()
    init = [tf.global_variables_initializer(), tf.local_variables_initializer()]
names = [[v.name for v in vs] for vs in (tf.global_variables(), tf.local_variables(), tf.trainable_variables(), tf.moving_average_variables(), tf.get_collection("summaries"))]
nodes = sorted(n.name for n in tf.get_default_graph().as_graph_def().node if n.op in ("VarHandleOp", "AssignVariableOp", "AddN", "Identity") and "Assert" not in n.name and "cond" not in n.name) if NODES else None
import os, tempfile
with tf.Session(config=config) as s:
    s.run([it.initialize()] + init)
    losses = []
    for _ in range(3):
        losses.append(s.run(total))
        s.run(updates)
    values = s.run([tf.global_variables(), metrics])
    path = saver.save(s, os.path.join(tempfile.mkdtemp(), "model"))
    s.run(init)
    saver.restore(s, path)
    again = s.run(tf.global_variables())
result = names, nodes, losses, values, again, tf.train.list_variables(path), strategy.num_replicas_in_sync

# program: mirrored replicas reduced by copies in two groups
# not in 2.21: error ops attrs values
# compare: error values
config = tf.ConfigProto(device_count={"CPU": 2})
D = ["/device:CPU:0", "/device:CPU:1"]
xs = np.linspace(-1, 1, 48).reshape(12, 4).astype(np.float32)
ys = (xs.sum(1) > 0).astype(np.int64)
strategy, OPTIMIZER, NORM, NODES = tf.distribute.MirroredStrategy(D, cross_device_ops=tf.distribute.HierarchicalCopyAllReduce(num_packs=0)), tf.train.RMSPropOptimizer(0.1), False, True
def step(x_y):
    x, y = x_y
    h = tf.layers.dense(x, 3, kernel_initializer=tf.constant_initializer(0.25), name="h", activation=tf.nn.tanh)
    h = tf.layers.batch_normalization(h, training=True) if NORM else h
    with tf.variable_scope("out"):
        w = tf.get_variable("w", [3, 2], initializer=tf.constant_initializer(np.arange(6).reshape(3, 2) / 10.))
    logits = tf.matmul(h, w)
    loss = tf.losses.sparse_softmax_cross_entropy(y, logits)
    right = tf.argmax(logits, 1)
    found = [tf.metrics.accuracy(y, right), tf.metrics.auc(y, tf.nn.softmax(logits)[:, 1], num_thresholds=7), tf.metrics.precision(y, right), tf.metrics.mean_iou(y, right, 2), tf.metrics.root_mean_squared_error(y, right), tf.metrics.true_positives(y, right), tf.metrics.recall_at_thresholds(y, tf.nn.softmax(logits)[:, 1], [0.3, 0.6]), tf.metrics.mean_per_class_accuracy(y, right, 2), tf.metrics.average_precision_at_k(y[:, None], logits, 1), tf.metrics.precision_at_k(y[:, None], logits, 1)]
    tf.summary.scalar("loss", loss)
    with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS)):
        train = OPTIMIZER.minimize(loss, global_step=gs)
    with tf.control_dependencies([train]):
        average = ema.apply()
    with tf.control_dependencies([average]):
        return tf.identity(loss), [m[0] for m in found], tf.group(*[m[1] for m in found])

with strategy.scope():
    it = strategy.make_dataset_iterator(tf.data.Dataset.from_tensor_slices((xs, ys)).repeat().batch(4))
    gs = tf.train.get_or_create_global_step()
    ema = tf.train.ExponentialMovingAverage(0.9)
    loss, metrics, updates = strategy.experimental_run(step, it)
    total = strategy.reduce(tf.distribute.ReduceOp.MEAN, loss)
    updates = strategy.group(updates)
    metrics = [strategy.experimental_local_results(m) for m in metrics]
    saver = tf.train.Saver()
    init = [tf.global_variables_initializer(), tf.local_variables_initializer()]
names = [[v.name for v in vs] for vs in (tf.global_variables(), tf.local_variables(), tf.trainable_variables(), tf.moving_average_variables(), tf.get_collection("summaries"))]
nodes = sorted(n.name for n in tf.get_default_graph().as_graph_def().node if n.op in ("VarHandleOp", "AssignVariableOp", "AddN", "Identity") and "Assert" not in n.name and "cond" not in n.name) if NODES else None
import os, tempfile
with tf.Session(config=config) as s:
    s.run([it.initialize()] + init)
    losses = []
    for _ in range(3):
        losses.append(s.run(total))
        s.run(updates)
    values = s.run([tf.global_variables(), metrics])
    path = saver.save(s, os.path.join(tempfile.mkdtemp(), "model"))
    s.run(init)
    saver.restore(s, path)
    again = s.run(tf.global_variables())
result = names, nodes, losses, values, again, tf.train.list_variables(path), strategy.num_replicas_in_sync

# program: one mirrored replica
# not in 2.21: error ops attrs values
# compare: error values
config = tf.ConfigProto(device_count={"CPU": 2})
D = ["/device:CPU:0", "/device:CPU:1"]
xs = np.linspace(-1, 1, 48).reshape(12, 4).astype(np.float32)
ys = (xs.sum(1) > 0).astype(np.int64)
strategy, OPTIMIZER, NORM, NODES = tf.distribute.MirroredStrategy(['/device:CPU:0']), tf.train.AdagradOptimizer(0.1), False, True
def step(x_y):
    x, y = x_y
    h = tf.layers.dense(x, 3, kernel_initializer=tf.constant_initializer(0.25), name="h", activation=tf.nn.tanh)
    h = tf.layers.batch_normalization(h, training=True) if NORM else h
    with tf.variable_scope("out"):
        w = tf.get_variable("w", [3, 2], initializer=tf.constant_initializer(np.arange(6).reshape(3, 2) / 10.))
    logits = tf.matmul(h, w)
    loss = tf.losses.sparse_softmax_cross_entropy(y, logits)
    right = tf.argmax(logits, 1)
    found = [tf.metrics.accuracy(y, right), tf.metrics.auc(y, tf.nn.softmax(logits)[:, 1], num_thresholds=7), tf.metrics.precision(y, right), tf.metrics.mean_iou(y, right, 2), tf.metrics.root_mean_squared_error(y, right), tf.metrics.true_positives(y, right), tf.metrics.recall_at_thresholds(y, tf.nn.softmax(logits)[:, 1], [0.3, 0.6]), tf.metrics.mean_per_class_accuracy(y, right, 2), tf.metrics.average_precision_at_k(y[:, None], logits, 1), tf.metrics.precision_at_k(y[:, None], logits, 1)]
    tf.summary.scalar("loss", loss)
    with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS)):
        train = OPTIMIZER.minimize(loss, global_step=gs)
    with tf.control_dependencies([train]):
        average = ema.apply()
    with tf.control_dependencies([average]):
        return tf.identity(loss), [m[0] for m in found], tf.group(*[m[1] for m in found])

with strategy.scope():
    it = strategy.make_dataset_iterator(tf.data.Dataset.from_tensor_slices((xs, ys)).repeat().batch(4))
    gs = tf.train.get_or_create_global_step()
    ema = tf.train.ExponentialMovingAverage(0.9)
    loss, metrics, updates = strategy.experimental_run(step, it)
    total = strategy.reduce(tf.distribute.ReduceOp.MEAN, loss)
    updates = strategy.group(updates)
    metrics = [strategy.experimental_local_results(m) for m in metrics]
    saver = tf.train.Saver()
    init = [tf.global_variables_initializer(), tf.local_variables_initializer()]
names = [[v.name for v in vs] for vs in (tf.global_variables(), tf.local_variables(), tf.trainable_variables(), tf.moving_average_variables(), tf.get_collection("summaries"))]
nodes = sorted(n.name for n in tf.get_default_graph().as_graph_def().node if n.op in ("VarHandleOp", "AssignVariableOp", "AddN", "Identity") and "Assert" not in n.name and "cond" not in n.name) if NODES else None
import os, tempfile
with tf.Session(config=config) as s:
    s.run([it.initialize()] + init)
    losses = []
    for _ in range(3):
        losses.append(s.run(total))
        s.run(updates)
    values = s.run([tf.global_variables(), metrics])
    path = saver.save(s, os.path.join(tempfile.mkdtemp(), "model"))
    s.run(init)
    saver.restore(s, path)
    again = s.run(tf.global_variables())
result = names, nodes, losses, values, again, tf.train.list_variables(path), strategy.num_replicas_in_sync

# program: a strategy of one device
# not in 2.21: error ops attrs values
# compare: error values
config = tf.ConfigProto(device_count={"CPU": 2})
D = ["/device:CPU:0", "/device:CPU:1"]
xs = np.linspace(-1, 1, 48).reshape(12, 4).astype(np.float32)
ys = (xs.sum(1) > 0).astype(np.int64)
strategy, OPTIMIZER, NORM, NODES = tf.distribute.OneDeviceStrategy('/device:CPU:1'), tf.train.FtrlOptimizer(0.1), True, True
def step(x_y):
    x, y = x_y
    h = tf.layers.dense(x, 3, kernel_initializer=tf.constant_initializer(0.25), name="h", activation=tf.nn.tanh)
    h = tf.layers.batch_normalization(h, training=True) if NORM else h
    with tf.variable_scope("out"):
        w = tf.get_variable("w", [3, 2], initializer=tf.constant_initializer(np.arange(6).reshape(3, 2) / 10.))
    logits = tf.matmul(h, w)
    loss = tf.losses.sparse_softmax_cross_entropy(y, logits)
    right = tf.argmax(logits, 1)
    found = [tf.metrics.accuracy(y, right), tf.metrics.auc(y, tf.nn.softmax(logits)[:, 1], num_thresholds=7), tf.metrics.precision(y, right), tf.metrics.mean_iou(y, right, 2), tf.metrics.root_mean_squared_error(y, right), tf.metrics.true_positives(y, right), tf.metrics.recall_at_thresholds(y, tf.nn.softmax(logits)[:, 1], [0.3, 0.6]), tf.metrics.mean_per_class_accuracy(y, right, 2), tf.metrics.average_precision_at_k(y[:, None], logits, 1), tf.metrics.precision_at_k(y[:, None], logits, 1)]
    tf.summary.scalar("loss", loss)
    with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS)):
        train = OPTIMIZER.minimize(loss, global_step=gs)
    with tf.control_dependencies([train]):
        average = ema.apply()
    with tf.control_dependencies([average]):
        return tf.identity(loss), [m[0] for m in found], tf.group(*[m[1] for m in found])

with strategy.scope():
    it = strategy.make_dataset_iterator(tf.data.Dataset.from_tensor_slices((xs, ys)).repeat().batch(4))
    gs = tf.train.get_or_create_global_step()
    ema = tf.train.ExponentialMovingAverage(0.9)
    loss, metrics, updates = strategy.experimental_run(step, it)
    total = strategy.reduce(tf.distribute.ReduceOp.MEAN, loss)
    updates = strategy.group(updates)
    metrics = [strategy.experimental_local_results(m) for m in metrics]
    saver = tf.train.Saver()
    init = [tf.global_variables_initializer(), tf.local_variables_initializer()]
names = [[v.name for v in vs] for vs in (tf.global_variables(), tf.local_variables(), tf.trainable_variables(), tf.moving_average_variables(), tf.get_collection("summaries"))]
nodes = sorted(n.name for n in tf.get_default_graph().as_graph_def().node if n.op in ("VarHandleOp", "AssignVariableOp", "AddN", "Identity") and "Assert" not in n.name and "cond" not in n.name) if NODES else None
import os, tempfile
with tf.Session(config=config) as s:
    s.run([it.initialize()] + init)
    losses = []
    for _ in range(3):
        losses.append(s.run(total))
        s.run(updates)
    values = s.run([tf.global_variables(), metrics])
    path = saver.save(s, os.path.join(tempfile.mkdtemp(), "model"))
    s.run(init)
    saver.restore(s, path)
    again = s.run(tf.global_variables())
result = names, nodes, losses, values, again, tf.train.list_variables(path), strategy.num_replicas_in_sync

# program: two replicas with central storage
# not in 2.21: error ops attrs values
# compare: error values
config = tf.ConfigProto(device_count={"CPU": 2})
D = ["/device:CPU:0", "/device:CPU:1"]
xs = np.linspace(-1, 1, 48).reshape(12, 4).astype(np.float32)
ys = (xs.sum(1) > 0).astype(np.int64)
strategy, OPTIMIZER, NORM, NODES = tf.distribute.experimental.CentralStorageStrategy(D, '/device:CPU:0'), tf.train.GradientDescentOptimizer(0.1), False, True
def step(x_y):
    x, y = x_y
    h = tf.layers.dense(x, 3, kernel_initializer=tf.constant_initializer(0.25), name="h", activation=tf.nn.tanh)
    h = tf.layers.batch_normalization(h, training=True) if NORM else h
    with tf.variable_scope("out"):
        w = tf.get_variable("w", [3, 2], initializer=tf.constant_initializer(np.arange(6).reshape(3, 2) / 10.))
    logits = tf.matmul(h, w)
    loss = tf.losses.sparse_softmax_cross_entropy(y, logits)
    right = tf.argmax(logits, 1)
    found = [tf.metrics.accuracy(y, right), tf.metrics.auc(y, tf.nn.softmax(logits)[:, 1], num_thresholds=7), tf.metrics.precision(y, right), tf.metrics.mean_iou(y, right, 2), tf.metrics.root_mean_squared_error(y, right), tf.metrics.true_positives(y, right), tf.metrics.recall_at_thresholds(y, tf.nn.softmax(logits)[:, 1], [0.3, 0.6]), tf.metrics.mean_per_class_accuracy(y, right, 2), tf.metrics.average_precision_at_k(y[:, None], logits, 1), tf.metrics.precision_at_k(y[:, None], logits, 1)]
    tf.summary.scalar("loss", loss)
    with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS)):
        train = OPTIMIZER.minimize(loss, global_step=gs)
    with tf.control_dependencies([train]):
        average = ema.apply()
    with tf.control_dependencies([average]):
        return tf.identity(loss), [m[0] for m in found], tf.group(*[m[1] for m in found])

with strategy.scope():
    it = strategy.make_dataset_iterator(tf.data.Dataset.from_tensor_slices((xs, ys)).repeat().batch(4))
    gs = tf.train.get_or_create_global_step()
    ema = tf.train.ExponentialMovingAverage(0.9)
    loss, metrics, updates = strategy.experimental_run(step, it)
    total = strategy.reduce(tf.distribute.ReduceOp.MEAN, loss)
    updates = strategy.group(updates)
    metrics = [strategy.experimental_local_results(m) for m in metrics]
    saver = tf.train.Saver()
    init = [tf.global_variables_initializer(), tf.local_variables_initializer()]
names = [[v.name for v in vs] for vs in (tf.global_variables(), tf.local_variables(), tf.trainable_variables(), tf.moving_average_variables(), tf.get_collection("summaries"))]
nodes = sorted(n.name for n in tf.get_default_graph().as_graph_def().node if n.op in ("VarHandleOp", "AssignVariableOp", "AddN", "Identity") and "Assert" not in n.name and "cond" not in n.name) if NODES else None
import os, tempfile
with tf.Session(config=config) as s:
    s.run([it.initialize()] + init)
    losses = []
    for _ in range(3):
        losses.append(s.run(total))
        s.run(updates)
    values = s.run([tf.global_variables(), metrics])
    path = saver.save(s, os.path.join(tempfile.mkdtemp(), "model"))
    s.run(init)
    saver.restore(s, path)
    again = s.run(tf.global_variables())
result = names, nodes, losses, values, again, tf.train.list_variables(path), strategy.num_replicas_in_sync

# program: parameter servers without a cluster
# not in 2.21: error ops attrs values
# compare: error values
config = tf.ConfigProto(device_count={"CPU": 2})
D = ["/device:CPU:0", "/device:CPU:1"]
xs = np.linspace(-1, 1, 48).reshape(12, 4).astype(np.float32)
ys = (xs.sum(1) > 0).astype(np.int64)
strategy, OPTIMIZER, NORM, NODES = tf.distribute.experimental.ParameterServerStrategy(), tf.train.AdadeltaOptimizer(0.1), False, True
def step(x_y):
    x, y = x_y
    h = tf.layers.dense(x, 3, kernel_initializer=tf.constant_initializer(0.25), name="h", activation=tf.nn.tanh)
    h = tf.layers.batch_normalization(h, training=True) if NORM else h
    with tf.variable_scope("out"):
        w = tf.get_variable("w", [3, 2], initializer=tf.constant_initializer(np.arange(6).reshape(3, 2) / 10.))
    logits = tf.matmul(h, w)
    loss = tf.losses.sparse_softmax_cross_entropy(y, logits)
    right = tf.argmax(logits, 1)
    found = [tf.metrics.accuracy(y, right), tf.metrics.auc(y, tf.nn.softmax(logits)[:, 1], num_thresholds=7), tf.metrics.precision(y, right), tf.metrics.mean_iou(y, right, 2), tf.metrics.root_mean_squared_error(y, right), tf.metrics.true_positives(y, right), tf.metrics.recall_at_thresholds(y, tf.nn.softmax(logits)[:, 1], [0.3, 0.6]), tf.metrics.mean_per_class_accuracy(y, right, 2), tf.metrics.average_precision_at_k(y[:, None], logits, 1), tf.metrics.precision_at_k(y[:, None], logits, 1)]
    tf.summary.scalar("loss", loss)
    with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS)):
        train = OPTIMIZER.minimize(loss, global_step=gs)
    with tf.control_dependencies([train]):
        average = ema.apply()
    with tf.control_dependencies([average]):
        return tf.identity(loss), [m[0] for m in found], tf.group(*[m[1] for m in found])

with strategy.scope():
    it = strategy.make_dataset_iterator(tf.data.Dataset.from_tensor_slices((xs, ys)).repeat().batch(4))
    gs = tf.train.get_or_create_global_step()
    ema = tf.train.ExponentialMovingAverage(0.9)
    loss, metrics, updates = strategy.experimental_run(step, it)
    total = strategy.reduce(tf.distribute.ReduceOp.MEAN, loss)
    updates = strategy.group(updates)
    metrics = [strategy.experimental_local_results(m) for m in metrics]
    saver = tf.train.Saver()
    init = [tf.global_variables_initializer(), tf.local_variables_initializer()]
names = [[v.name for v in vs] for vs in (tf.global_variables(), tf.local_variables(), tf.trainable_variables(), tf.moving_average_variables(), tf.get_collection("summaries"))]
nodes = sorted(n.name for n in tf.get_default_graph().as_graph_def().node if n.op in ("VarHandleOp", "AssignVariableOp", "AddN", "Identity") and "Assert" not in n.name and "cond" not in n.name) if NODES else None
import os, tempfile
with tf.Session(config=config) as s:
    s.run([it.initialize()] + init)
    losses = []
    for _ in range(3):
        losses.append(s.run(total))
        s.run(updates)
    values = s.run([tf.global_variables(), metrics])
    path = saver.save(s, os.path.join(tempfile.mkdtemp(), "model"))
    s.run(init)
    saver.restore(s, path)
    again = s.run(tf.global_variables())
result = names, nodes, losses, values, again, tf.train.list_variables(path), strategy.num_replicas_in_sync

# program: a mirrored worker without a cluster
# not in 2.21: error ops attrs values
# compare: error values
config = tf.ConfigProto(device_count={"CPU": 2})
D = ["/device:CPU:0", "/device:CPU:1"]
xs = np.linspace(-1, 1, 48).reshape(12, 4).astype(np.float32)
ys = (xs.sum(1) > 0).astype(np.int64)
strategy, OPTIMIZER, NORM, NODES = tf.distribute.experimental.MultiWorkerMirroredStrategy(), tf.train.AdamOptimizer(0.1), False, True
def step(x_y):
    x, y = x_y
    h = tf.layers.dense(x, 3, kernel_initializer=tf.constant_initializer(0.25), name="h", activation=tf.nn.tanh)
    h = tf.layers.batch_normalization(h, training=True) if NORM else h
    with tf.variable_scope("out"):
        w = tf.get_variable("w", [3, 2], initializer=tf.constant_initializer(np.arange(6).reshape(3, 2) / 10.))
    logits = tf.matmul(h, w)
    loss = tf.losses.sparse_softmax_cross_entropy(y, logits)
    right = tf.argmax(logits, 1)
    found = [tf.metrics.accuracy(y, right), tf.metrics.auc(y, tf.nn.softmax(logits)[:, 1], num_thresholds=7), tf.metrics.precision(y, right), tf.metrics.mean_iou(y, right, 2), tf.metrics.root_mean_squared_error(y, right), tf.metrics.true_positives(y, right), tf.metrics.recall_at_thresholds(y, tf.nn.softmax(logits)[:, 1], [0.3, 0.6]), tf.metrics.mean_per_class_accuracy(y, right, 2), tf.metrics.average_precision_at_k(y[:, None], logits, 1), tf.metrics.precision_at_k(y[:, None], logits, 1)]
    tf.summary.scalar("loss", loss)
    with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS)):
        train = OPTIMIZER.minimize(loss, global_step=gs)
    with tf.control_dependencies([train]):
        average = ema.apply()
    with tf.control_dependencies([average]):
        return tf.identity(loss), [m[0] for m in found], tf.group(*[m[1] for m in found])

with strategy.scope():
    it = strategy.make_dataset_iterator(tf.data.Dataset.from_tensor_slices((xs, ys)).repeat().batch(4))
    gs = tf.train.get_or_create_global_step()
    ema = tf.train.ExponentialMovingAverage(0.9)
    loss, metrics, updates = strategy.experimental_run(step, it)
    total = strategy.reduce(tf.distribute.ReduceOp.MEAN, loss)
    updates = strategy.group(updates)
    metrics = [strategy.experimental_local_results(m) for m in metrics]
    saver = tf.train.Saver()
    init = [tf.global_variables_initializer(), tf.local_variables_initializer()]
names = [[v.name for v in vs] for vs in (tf.global_variables(), tf.local_variables(), tf.trainable_variables(), tf.moving_average_variables(), tf.get_collection("summaries"))]
nodes = sorted(n.name for n in tf.get_default_graph().as_graph_def().node if n.op in ("VarHandleOp", "AssignVariableOp", "AddN", "Identity") and "Assert" not in n.name and "cond" not in n.name) if NODES else None
import os, tempfile
with tf.Session(config=config) as s:
    s.run([it.initialize()] + init)
    losses = []
    for _ in range(3):
        losses.append(s.run(total))
        s.run(updates)
    values = s.run([tf.global_variables(), metrics])
    path = saver.save(s, os.path.join(tempfile.mkdtemp(), "model"))
    s.run(init)
    saver.restore(s, path)
    again = s.run(tf.global_variables())
result = names, nodes, losses, values, again, tf.train.list_variables(path), strategy.num_replicas_in_sync

# program: the default strategy
# not in 2.21: error ops attrs values
# compare: error values
config = tf.ConfigProto(device_count={"CPU": 2})
D = ["/device:CPU:0", "/device:CPU:1"]
xs = np.linspace(-1, 1, 48).reshape(12, 4).astype(np.float32)
ys = (xs.sum(1) > 0).astype(np.int64)
strategy, OPTIMIZER, NORM, NODES = tf.distribute.get_strategy(), tf.train.AdamOptimizer(0.1), True, False
def step(x_y):
    x, y = x_y
    h = tf.layers.dense(x, 3, kernel_initializer=tf.constant_initializer(0.25), name="h", activation=tf.nn.tanh)
    h = tf.layers.batch_normalization(h, training=True) if NORM else h
    with tf.variable_scope("out"):
        w = tf.get_variable("w", [3, 2], initializer=tf.constant_initializer(np.arange(6).reshape(3, 2) / 10.))
    logits = tf.matmul(h, w)
    loss = tf.losses.sparse_softmax_cross_entropy(y, logits)
    right = tf.argmax(logits, 1)
    found = [tf.metrics.accuracy(y, right), tf.metrics.auc(y, tf.nn.softmax(logits)[:, 1], num_thresholds=7), tf.metrics.precision(y, right), tf.metrics.mean_iou(y, right, 2), tf.metrics.root_mean_squared_error(y, right), tf.metrics.true_positives(y, right), tf.metrics.recall_at_thresholds(y, tf.nn.softmax(logits)[:, 1], [0.3, 0.6]), tf.metrics.mean_per_class_accuracy(y, right, 2), tf.metrics.average_precision_at_k(y[:, None], logits, 1), tf.metrics.precision_at_k(y[:, None], logits, 1)]
    tf.summary.scalar("loss", loss)
    with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS)):
        train = OPTIMIZER.minimize(loss, global_step=gs)
    with tf.control_dependencies([train]):
        average = ema.apply()
    with tf.control_dependencies([average]):
        return tf.identity(loss), [m[0] for m in found], tf.group(*[m[1] for m in found])

with strategy.scope():
    it = strategy.make_dataset_iterator(tf.data.Dataset.from_tensor_slices((xs, ys)).repeat().batch(4))
    gs = tf.train.get_or_create_global_step()
    ema = tf.train.ExponentialMovingAverage(0.9)
    loss, metrics, updates = strategy.experimental_run(step, it)
    total = strategy.reduce(tf.distribute.ReduceOp.MEAN, loss)
    updates = strategy.group(updates)
    metrics = [strategy.experimental_local_results(m) for m in metrics]
    saver = tf.train.Saver()
    init = [tf.global_variables_initializer(), tf.local_variables_initializer()]
names = [[v.name for v in vs] for vs in (tf.global_variables(), tf.local_variables(), tf.trainable_variables(), tf.moving_average_variables(), tf.get_collection("summaries"))]
nodes = sorted(n.name for n in tf.get_default_graph().as_graph_def().node if n.op in ("VarHandleOp", "AssignVariableOp", "AddN", "Identity") and "Assert" not in n.name and "cond" not in n.name) if NODES else None
import os, tempfile
with tf.Session(config=config) as s:
    s.run([it.initialize()] + init)
    losses = []
    for _ in range(3):
        losses.append(s.run(total))
        s.run(updates)
    values = s.run([tf.global_variables(), metrics])
    path = saver.save(s, os.path.join(tempfile.mkdtemp(), "model"))
    s.run(init)
    saver.restore(s, path)
    again = s.run(tf.global_variables())
result = names, nodes, losses, values, again, tf.train.list_variables(path), strategy.num_replicas_in_sync
