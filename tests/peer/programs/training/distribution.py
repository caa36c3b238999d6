# program: two mirrored replicas with batch normalization and Adam, and their metrics
# not in 2.21: error ops attrs values
# compare: error values
config = tf.ConfigProto(device_count={"CPU": 2})
D = ["/device:CPU:0", "/device:CPU:1"]
xs = np.random.RandomState(0).randn(12, 4).astype(np.float32)
ys = (xs.sum(1) > 0).astype(np.int64)
strategy, OPTIMIZER, NORM, NODES = tf.distribute.MirroredStrategy(D), tf.train.AdamOptimizer(0.1), True, True
def step(x_y):
    x, y = x_y
    h = tf.layers.dense(x, 3, kernel_initializer=tf.constant_initializer(np.arange(12).reshape(4, 3) % 5 / 5.), name="h", use_bias=False, activation=tf.nn.tanh)
    h = tf.layers.batch_normalization(h, training=True) if NORM else h
    with tf.variable_scope("out"):
        w = tf.get_variable("w", [3, 2], initializer=tf.constant_initializer(np.arange(6).reshape(3, 2) / 10.))
    logits = tf.matmul(h, w)
    loss = tf.losses.sparse_softmax_cross_entropy(y, logits)
    right = tf.argmax(logits, 1)
    found = [tf.metrics.accuracy(y, right), tf.metrics.auc(y, tf.nn.softmax(logits)[:, 1], num_thresholds=7), tf.metrics.precision(y, right), tf.metrics.mean_iou(y, right, 2), tf.metrics.root_mean_squared_error(y, right), tf.metrics.true_positives(y, right), tf.metrics.recall_at_thresholds(y, tf.nn.softmax(logits)[:, 1], [0.3, 0.6]), tf.metrics.mean_per_class_accuracy(y, right, 2)]
    tf.summary.scalar("loss", loss)
    with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS)):
        train = OPTIMIZER.minimize(loss, global_step=gs)
    with tf.control_dependencies([train]):
        average = ema.apply()
    with tf.control_dependencies([average]):
        return tf.identity(loss), [m[0] for m in found], tf.group(*[m[1] for m in found])

with strategy.scope():
    it = strategy.make_dataset_iterator(tf.data.Dataset.from_tensor_slices((xs, ys)).repeat().batch(6))
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
    found = [tf.metrics.accuracy(y, right), tf.metrics.auc(y, tf.nn.softmax(logits)[:, 1], num_thresholds=7), tf.metrics.precision(y, right), tf.metrics.mean_iou(y, right, 2), tf.metrics.root_mean_squared_error(y, right), tf.metrics.true_positives(y, right), tf.metrics.recall_at_thresholds(y, tf.nn.softmax(logits)[:, 1], [0.3, 0.6]), tf.metrics.mean_per_class_accuracy(y, right, 2)]
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
    found = [tf.metrics.accuracy(y, right), tf.metrics.auc(y, tf.nn.softmax(logits)[:, 1], num_thresholds=7), tf.metrics.precision(y, right), tf.metrics.mean_iou(y, right, 2), tf.metrics.root_mean_squared_error(y, right), tf.metrics.true_positives(y, right), tf.metrics.recall_at_thresholds(y, tf.nn.softmax(logits)[:, 1], [0.3, 0.6]), tf.metrics.mean_per_class_accuracy(y, right, 2)]
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
    found = [tf.metrics.accuracy(y, right), tf.metrics.auc(y, tf.nn.softmax(logits)[:, 1], num_thresholds=7), tf.metrics.precision(y, right), tf.metrics.mean_iou(y, right, 2), tf.metrics.root_mean_squared_error(y, right), tf.metrics.true_positives(y, right), tf.metrics.recall_at_thresholds(y, tf.nn.softmax(logits)[:, 1], [0.3, 0.6]), tf.metrics.mean_per_class_accuracy(y, right, 2)]
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
    found = [tf.metrics.accuracy(y, right), tf.metrics.auc(y, tf.nn.softmax(logits)[:, 1], num_thresholds=7), tf.metrics.precision(y, right), tf.metrics.mean_iou(y, right, 2), tf.metrics.root_mean_squared_error(y, right), tf.metrics.true_positives(y, right), tf.metrics.recall_at_thresholds(y, tf.nn.softmax(logits)[:, 1], [0.3, 0.6]), tf.metrics.mean_per_class_accuracy(y, right, 2)]
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
    found = [tf.metrics.accuracy(y, right), tf.metrics.auc(y, tf.nn.softmax(logits)[:, 1], num_thresholds=7), tf.metrics.precision(y, right), tf.metrics.mean_iou(y, right, 2), tf.metrics.root_mean_squared_error(y, right), tf.metrics.true_positives(y, right), tf.metrics.recall_at_thresholds(y, tf.nn.softmax(logits)[:, 1], [0.3, 0.6]), tf.metrics.mean_per_class_accuracy(y, right, 2)]
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
    found = [tf.metrics.accuracy(y, right), tf.metrics.auc(y, tf.nn.softmax(logits)[:, 1], num_thresholds=7), tf.metrics.precision(y, right), tf.metrics.mean_iou(y, right, 2), tf.metrics.root_mean_squared_error(y, right), tf.metrics.true_positives(y, right), tf.metrics.recall_at_thresholds(y, tf.nn.softmax(logits)[:, 1], [0.3, 0.6]), tf.metrics.mean_per_class_accuracy(y, right, 2)]
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
    found = [tf.metrics.accuracy(y, right), tf.metrics.auc(y, tf.nn.softmax(logits)[:, 1], num_thresholds=7), tf.metrics.precision(y, right), tf.metrics.mean_iou(y, right, 2), tf.metrics.root_mean_squared_error(y, right), tf.metrics.true_positives(y, right), tf.metrics.recall_at_thresholds(y, tf.nn.softmax(logits)[:, 1], [0.3, 0.6]), tf.metrics.mean_per_class_accuracy(y, right, 2)]
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
# Where gradients are nearly zero, Adam's steps show how each processor rounds: not with this epsilon.
strategy, OPTIMIZER, NORM, NODES = tf.distribute.get_strategy(), tf.train.AdamOptimizer(0.1, epsilon=1e-3), True, False
def step(x_y):
    x, y = x_y
    h = tf.layers.dense(x, 3, kernel_initializer=tf.constant_initializer(0.25), name="h", activation=tf.nn.tanh)
    h = tf.layers.batch_normalization(h, training=True) if NORM else h
    with tf.variable_scope("out"):
        w = tf.get_variable("w", [3, 2], initializer=tf.constant_initializer(np.arange(6).reshape(3, 2) / 10.))
    logits = tf.matmul(h, w)
    loss = tf.losses.sparse_softmax_cross_entropy(y, logits)
    right = tf.argmax(logits, 1)
    found = [tf.metrics.accuracy(y, right), tf.metrics.auc(y, tf.nn.softmax(logits)[:, 1], num_thresholds=7), tf.metrics.precision(y, right), tf.metrics.mean_iou(y, right, 2), tf.metrics.root_mean_squared_error(y, right), tf.metrics.true_positives(y, right), tf.metrics.recall_at_thresholds(y, tf.nn.softmax(logits)[:, 1], [0.3, 0.6]), tf.metrics.mean_per_class_accuracy(y, right, 2)]
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

# program: an Estimator's replicas
# not in 2.21: error ops attrs values
# compare: error values
import tempfile, os
config = tf.ConfigProto(device_count={"CPU": 2})
D = ["/device:CPU:0", "/device:CPU:1"]
tf.logging.set_verbosity(tf.logging.ERROR)
xs = np.linspace(-1, 1, 64).reshape(16, 4).astype(np.float32)
ys = (xs.sum(1) > 0).astype(np.int64)
def input_fn(): return tf.data.Dataset.from_tensor_slices(({"x": xs}, ys)).repeat().batch(4)
def eval_fn(): return tf.data.Dataset.from_tensor_slices(({"x": xs}, ys)).batch(4)
def model_fn(features, labels, mode):
    h = tf.layers.dense(features["x"], 3, tf.nn.tanh, kernel_initializer=tf.constant_initializer(0.25))
    h = tf.layers.batch_normalization(h, training=mode == tf.estimator.ModeKeys.TRAIN)
    logits = tf.layers.dense(h, 2, kernel_initializer=tf.constant_initializer(np.arange(6).reshape(3, 2) / 10.), name="out")
    if mode == "infer":
        return tf.estimator.EstimatorSpec(mode, predictions={"y": tf.argmax(logits, 1)})
    loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)
    if mode == "eval":
        return tf.estimator.EstimatorSpec(mode, loss=loss, eval_metric_ops={"acc": tf.metrics.accuracy(labels, tf.argmax(logits, 1)), "auc": tf.metrics.auc(labels, tf.nn.softmax(logits)[:, 1], num_thresholds=11)})
    with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS)):
        train = tf.train.MomentumOptimizer(0.05, 0.9).minimize(loss, global_step=tf.train.get_or_create_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train)
result = []
for make in (lambda: tf.distribute.MirroredStrategy(D), lambda: tf.distribute.OneDeviceStrategy("/device:CPU:0"), lambda: tf.distribute.experimental.CentralStorageStrategy(D), lambda: tf.contrib.distribute.MirroredStrategy(D)):
    strategy = make()
    e = tf.estimator.Estimator(model_fn, config=tf.estimator.RunConfig(model_dir=tempfile.mkdtemp(), tf_random_seed=1, train_distribute=strategy, eval_distribute=strategy, session_config=config))
    e.train(input_fn, steps=4)
    e.train(input_fn, steps=2)
    found = e.evaluate(eval_fn)
    values = [e.get_variable_value(n) for n in ("dense/kernel", "batch_normalization/moving_mean", "out/kernel")]
    shown = [p["y"] for p in e.predict(lambda: tf.data.Dataset.from_tensors({"x": xs[:4]}))]
    tf.estimator.train_and_evaluate(e, tf.estimator.TrainSpec(input_fn, max_steps=8), tf.estimator.EvalSpec(eval_fn))
    result.append((sorted(found.items()), sorted(e.get_variable_names()), values, shown, e.get_variable_value("global_step")))

# program: a loss that replicas scale
# not in 2.21: error ops attrs values
# compare: error values
import tempfile, os
config = tf.ConfigProto(device_count={"CPU": 2})
D = ["/device:CPU:0", "/device:CPU:1"]
def ls():
    s = tf.distribute.MirroredStrategy(D)
    with s.scope():
        v = tf.get_variable("v", initializer=1.0)
        opt = tf.train.experimental.MixedPrecisionLossScaleOptimizer(tf.train.GradientDescentOptimizer(0.25), 8.)
        gs = tf.train.get_or_create_global_step()
        r = s.experimental_run_v2(lambda: opt.minimize(v * v, global_step=gs))
        r = s.group(r)
        init = tf.global_variables_initializer()
    with tf.Session(config=config) as sess:
        sess.run(init); sess.run(r); return sess.run([v, gs]), [x.name for x in tf.global_variables()]
result = ls()

# program: a dynamic loss scale of replicas
# not in 2.21: error ops attrs values
# compare: error values
import tempfile, os
config = tf.ConfigProto(device_count={"CPU": 2})
D = ["/device:CPU:0", "/device:CPU:1"]
def dls():
    s = tf.distribute.MirroredStrategy(D)
    with s.scope():
        v = tf.get_variable("v", initializer=1.0)
        opt = tf.train.experimental.MixedPrecisionLossScaleOptimizer(tf.train.GradientDescentOptimizer(0.25), "dynamic")
        r = s.group(s.experimental_run_v2(lambda: opt.minimize(v * v)))
        init = tf.global_variables_initializer()
    with tf.Session(config=config) as sess:
        sess.run(init); sess.run(r); return sess.run([v]), [x.name for x in tf.global_variables()]
result = dls()

# program: branches and loops in replicas
# not in 2.21: error ops attrs values
# compare: error values
import tempfile, os
config = tf.ConfigProto(device_count={"CPU": 2})
D = ["/device:CPU:0", "/device:CPU:1"]
def cond():
    s = tf.distribute.MirroredStrategy(D)
    p = tf.placeholder_with_default(True, [])
    with s.scope():
        v = tf.get_variable("v", initializer=3.0)
        def fn():
            y = tf.cond(p, lambda: v * 2.0, lambda: v * 3.0)
            w = tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, a * v), (0, 1.0))[1]
            g = tf.gradients(y + w, [v])[0]
            return y, w, g
        y, w, g = s.experimental_run_v2(fn)
        init = tf.global_variables_initializer()
    with tf.Session(config=config) as sess:
        sess.run(init); return sess.run([y.values, w.values, g.values])
result = cond()

# program: a monitored session of replicas goes on from its checkpoint
# not in 2.21: error ops attrs values
# compare: error values
import tempfile, os
config = tf.ConfigProto(device_count={"CPU": 2})
D = ["/device:CPU:0", "/device:CPU:1"]
def monitored():
    d = tempfile.mkdtemp()
    s = tf.distribute.MirroredStrategy(D)
    out = []
    for last in (3, 5):
        with tf.Graph().as_default(), s.scope():
            it = s.make_dataset_iterator(tf.data.Dataset.from_tensors([1.0]).repeat().batch(2))
            gs = tf.train.get_or_create_global_step()
            def fn(x):
                w = tf.get_variable("w", [1], initializer=tf.zeros_initializer())
                l = tf.reduce_sum(tf.square(w - x))
                t = tf.train.GradientDescentOptimizer(0.1).minimize(l, global_step=gs)
                with tf.control_dependencies([t]): return tf.identity(l)
            l = s.reduce("SUM", s.experimental_run(fn, it))
            sc = tf.train.Scaffold(local_init_op=tf.group(tf.train.Scaffold.default_local_init_op(), it.initialize()))
            with tf.train.MonitoredTrainingSession(checkpoint_dir=d, scaffold=sc, hooks=[tf.train.StopAtStepHook(last_step=last)], config=config) as ms:
                while not ms.should_stop(): out.append(round(float(ms.run(l)), 4))
    return out, tf.train.list_variables(d)
result = monitored()

# program: variables of a mirrored strategy are not partitioned
# not in 2.21: error ops attrs values
# compare: error values
import tempfile, os
config = tf.ConfigProto(device_count={"CPU": 2})
D = ["/device:CPU:0", "/device:CPU:1"]
def part():
    s = tf.distribute.MirroredStrategy(D)
    with s.scope():
        a = tf.get_variable("a", [4, 2], partitioner=tf.fixed_size_partitioner(2))
        return type(a).__name__, [v.name for v in tf.global_variables()]
result = part()

# program: an object-based checkpoint of a mirrored variable
# not in 2.21: error ops attrs values
# compare: error values
import tempfile, os
config = tf.ConfigProto(device_count={"CPU": 2})
D = ["/device:CPU:0", "/device:CPU:1"]
def obj():
    d = tempfile.mkdtemp()
    s = tf.distribute.MirroredStrategy(D)
    with s.scope():
        v = tf.Variable(2.0, name="v"); c = tf.train.Checkpoint(v=v)
        ch = v.assign(5.0)
    with tf.Session(config=config) as sess:
        sess.run(v.initializer)
        p = c.save(os.path.join(d, "x"), session=sess); sess.run(ch)
        c.restore(p).run_restore_ops(sess)
        return [float(x) for x in sess.run(list(v.values))], sorted(tf.train.list_variables(p))
result = obj()

# program: a saved model with a mirrored variable
# not in 2.21: error ops attrs values
# compare: error values
import tempfile, os
config = tf.ConfigProto(device_count={"CPU": 2})
D = ["/device:CPU:0", "/device:CPU:1"]
def saved():
    d = tempfile.mkdtemp() + "/m"
    s = tf.distribute.MirroredStrategy(D)
    with tf.Graph().as_default():
        with s.scope():
            v = tf.get_variable("v", initializer=2.0)
        x = tf.placeholder(tf.float32, [], name="x")
        y = tf.multiply(x, v, name="y")
        with tf.Session(config=config) as sess:
            sess.run(tf.global_variables_initializer())
            tf.saved_model.simple_save(sess, d, {"x": x}, {"y": y})
    with tf.Graph().as_default(), tf.Session(config=config) as sess:
        tf.saved_model.loader.load(sess, ["serve"], d)
        return float(sess.run("y:0", {"x:0": 3.0}))
result = saved()

# program: steps of contrib.distribute
# not in 2.21: error ops attrs values
# compare: error values
import tempfile, os
config = tf.ConfigProto(device_count={"CPU": 2})
D = ["/device:CPU:0", "/device:CPU:1"]
c = tf.contrib.distribute
strategy = c.MirroredStrategy(D)
with strategy.scope():
    w = tf.get_variable("w", [1, 1], initializer=tf.zeros_initializer())
step = c.StandardSingleLossStep(lambda: tf.data.Dataset.from_tensors([[1.0]]).repeat(8), lambda ctx, x: tf.reduce_sum(tf.square(tf.matmul(x, w) - 1.0)), tf.train.GradientDescentOptimizer(0.125), strategy, iterations_per_step=2)
with tf.Session(config=config) as s:
    monitor = c.Monitor(step, s)
    monitor.run_steps(1)
    first = s.run(w)
    monitor.run_steps()
    result = first, s.run(w), error(c.Monitor, step), error(c.MirroredStrategy, num_gpus=1, num_gpus_per_worker=1), error(c.MirroredStrategy, devices=D, num_gpus=1), c.get_distribution_strategy() is tf.distribute.get_strategy(), c.has_distribution_strategy(), c.in_cross_replica_context(), c.DistributeConfig(1)._asdict() == {"train_distribute": 1, "eval_distribute": None, "remote_cluster": None}

# program: mistakes with strategies
# not in 2.21: error ops attrs values
# compare: error values
import tempfile, os
config = tf.ConfigProto(device_count={"CPU": 2})
D = ["/device:CPU:0", "/device:CPU:1"]
strategy = tf.distribute.MirroredStrategy(D)
other = tf.distribute.OneDeviceStrategy("/cpu:0")
outside = tf.Variable(1.0)
with strategy.scope():
    v = tf.Variable(1.0)
    named = tf.Variable(1.0, name="r", synchronization=tf.VariableSynchronization.ON_READ, aggregation=tf.VariableAggregation.SUM)
    inside = [error(other.scope().__enter__), error(strategy.extended.colocate_vars_with, outside), error(tf.train.GradientDescentOptimizer(0.1).apply_gradients, [(1.0, v)]), error(lambda: v.handle), error(named.assign_add, 1.0), error(tf.get_variable, "n", [], synchronization=tf.VariableSynchronization.NONE), error(tf.distribute.experimental_set_strategy, other)]
def in_replica(fn):
    return error(strategy.experimental_run_v2, fn)
def uneven():
    if tf.get_static_value(tf.distribute.get_replica_context().replica_id_in_sync_group) == 0:
        tf.distribute.get_replica_context().merge_call(lambda s: None)
result = inside, in_replica(lambda: v.assign(1.0)), in_replica(lambda: strategy.reduce("SUM", 1.0)), in_replica(uneven), in_replica(lambda: 1 / 0), error(strategy.make_dataset_iterator, tf.data.Dataset.range(3)), error(strategy.make_input_fn_iterator, lambda c: 3), error(strategy.reduce, "max", 1.0), error(strategy.extended.reduce_to, "SUM", 1.0, ""), error(tf.distribute.MirroredStrategy, ["/cpu:0", "/cpu:0"]), error(tf.distribute.MirroredStrategy, ["/job:a/task:0", "/cpu:0"]), error(tf.distribute.InputContext(1, 0, 3).get_per_replica_batch_size, 4), error(tf.distribute.HierarchicalCopyAllReduce, num_packs=-1), error(tf.distribute.ReductionToOneDevice().broadcast, 1.0, 3), error(tf.distribute.CrossDeviceOps().reduce, tf.distribute.ReduceOp.SUM, tf.constant(1.0), "/cpu:0")
