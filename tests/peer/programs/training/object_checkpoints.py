# program: an object-based checkpoint of variables, an optimizer, and lists
# not in 2.21: ops values
import os, tempfile
folder = tempfile.mkdtemp()
a = tf.get_variable("some/a", initializer=[1.0, 2.0])
b = tf.get_variable("b", initializer=3.0, use_resource=True)
optimizer = tf.train.AdamOptimizer(0.1)
train = optimizer.minimize(tf.reduce_sum(a * a) + b * b)
root = tf.train.Checkpoint(a=a, b=b, optimizer=optimizer, step=tf.train.create_global_step())
result = []
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    sess.run(train)
    path = root.save(os.path.join(folder, "sub", "ck"))
    result.append(path.replace(folder, ""))
    before = sess.run([a, b, optimizer.get_slot(a, "m"), optimizer.get_slot(b, "v")])
    sess.run([train, train])
    result.append(root.save(os.path.join(folder, "sub", "ck")).replace(folder, ""))
    status = root.restore(path)
    status.assert_consumed().assert_existing_objects_matched().assert_nontrivial_match()
    status.run_restore_ops()
    after = sess.run([a, b, optimizer.get_slot(a, "m"), optimizer.get_slot(b, "v")])
    root.restore(path).run_restore_ops(sess)
    result.append([before, after, sess.run(root.save_counter)])
    with open(folder + "/sub/checkpoint") as file:
        result.append(file.read())
    result.append(sorted(os.listdir(folder + "/sub")))
    result.append([(n, s) for n, s in tf.train.list_variables(path)])
    reader = tf.train.NewCheckpointReader(path)
    text = reader.get_tensor("_CHECKPOINTABLE_OBJECT_GRAPH")
    result.append(text if isinstance(text, bytes) else bytes(text))
# program: the object graph of layers, cells, wrappers and tables
# not in 2.21: ops values error
import os, tempfile
folder = tempfile.mkdtemp()
dense = tf.layers.Dense(3, name="d")
dense(tf.ones([2, 4]))
cell = tf.nn.rnn_cell.MultiRNNCell([
    tf.nn.rnn_cell.DropoutWrapper(tf.nn.rnn_cell.LSTMCell(2, use_peepholes=True), 0.5),
    tf.nn.rnn_cell.GRUCell(3)])
cell(tf.ones([2, 4]), cell.zero_state(2, tf.float32))
basic = tf.nn.rnn_cell.BasicLSTMCell(2)
basic(tf.ones([2, 4]), basic.zero_state(2, tf.float32))
class Own(tf.layers.Layer):
    def build(self, shape):
        self.w = self.add_weight("kernel", [2, 2])
        self.parts = [self.add_weight("p%d" % i, [1]) for i in range(2)]
        self.named = {"x": tf.Variable(1.0, name="x"), "n": 5}
        self.built = True
    def call(self, x):
        return tf.matmul(x, self.w)
own = Own()
own(tf.ones([1, 2]))
dense_table = tf.lookup.experimental.DenseHashTable(
    tf.int64, tf.float32, -1.0, empty_key=-1, deleted_key=-2, name="dense",
    initial_num_buckets=8)
root = tf.train.Checkpoint(dense=dense, cell=cell, basic=basic, own=own, table=dense_table)
result = []
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    sess.run(dense_table.insert(tf.constant([3, 5], tf.int64), [1.5, 2.5]))
    path = root.save(folder + "/ck")
    result.append([(n, s) for n, s in tf.train.list_variables(path)])
    text = tf.train.NewCheckpointReader(path).get_tensor("_CHECKPOINTABLE_OBJECT_GRAPH")
    result.append(text if isinstance(text, bytes) else bytes(text))
    root.restore(path).assert_consumed().run_restore_ops()
    result.append(sess.run(dense_table.lookup(tf.constant([3, 4, 5], tf.int64))))
# program: objects that come after a restoration get their values
# not in 2.21: ops
import os, tempfile
folder = tempfile.mkdtemp()
class Holder(tf.train.Checkpoint):
    pass
saved = Holder(v=tf.Variable(5.0, name="v"))
saved.inner = Holder(w=tf.Variable([1.0, 2.0], name="w"))
saved.inner.items = [tf.Variable(7.0), tf.Variable(8.0)]
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    path = saved.save(folder + "/ck", session=sess)
result = [error(tf.train.Checkpoint, x=5), error(saved.save, folder + "/x") != "no error"]
with tf.Graph().as_default(), tf.Session() as sess:
    root = Holder()
    status = root.restore(path)
    result.append(error(status.assert_consumed))
    result.append(error(status.assert_nontrivial_match))
    root.inner = Holder()
    result.append(error(status.assert_existing_objects_matched))
    root.v = tf.Variable(0.0, name="other")
    root.inner.w = tf.Variable([0.0, 0.0])
    root.inner.items = [tf.Variable(0.0)]
    result.append(error(status.assert_consumed))
    root.inner.items.append(tf.Variable(0.0, use_resource=True))
    result.append(error(status.assert_consumed))
    new = tf.Variable(9.0)
    root.extra = new
    result.append(error(status.assert_existing_objects_matched))
    status.initialize_or_restore(sess)
    result.append(sess.run([root.v, root.inner.w, root.inner.items[0], root.inner.items[1], new]))
    wrong = Holder(unrelated=tf.Variable(1.0))
    result.append(error(wrong.restore(path).assert_nontrivial_match))
    result.append(error(wrong.restore(path).expect_partial().assert_consumed))
    none = root.restore(None)
    result.append([error(none.assert_consumed), error(none.run_restore_ops)])
    none.initialize_or_restore(sess)
    result.append(sess.run([root.v, root.inner.items[0]]))
    result.append(error(root.restore, folder + "/gone"))
# program: slots of an optimizer restored before and after they are made
# not in 2.21: ops
import tempfile
folder = tempfile.mkdtemp()
def build():
    v = tf.Variable([1.0, 2.0], name="v")
    o = tf.train.MomentumOptimizer(0.1, 0.9, name="Other")
    return v, o, tf.train.Checkpoint(v=v, o=o)
v, o, root = build()
train = o.minimize(tf.reduce_sum(v * v))
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    sess.run(train)
    path = root.save(folder + "/ck")
    result = [sess.run(o.get_slot(v, "momentum"))]
for early in (True, False):
    with tf.Graph().as_default(), tf.Session() as sess:
        v, o, root = build()
        if early:
            train = o.minimize(tf.reduce_sum(v * v))
        status = root.restore(path)
        if not early:
            result.append(error(status.assert_consumed))
            train = o.minimize(tf.reduce_sum(v * v))
        status.assert_consumed()
        status.initialize_or_restore()
        result.append(sess.run([v, o.get_slot(v, "momentum")]))
        adam = tf.train.AdamOptimizer()
        adam.minimize(tf.reduce_sum(v))
        other = tf.train.Checkpoint(v=v, o=adam)
        result.append(error(other.restore(path).assert_existing_objects_matched))
# program: what a checkpoint manager keeps
# not in 2.21: ops values
import os, tempfile
folder = tempfile.mkdtemp()
v = tf.Variable(1.0)
root = tf.train.Checkpoint(v=v)
manager = tf.train.CheckpointManager(root, folder, max_to_keep=2)
result = [manager.latest_checkpoint, error(tf.train.CheckpointManager, root, folder, 0)]
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for _ in range(3):
        manager.save()
    result.append(manager.save(checkpoint_number=9).replace(folder, ""))
    result.append([p.replace(folder, "") for p in manager.checkpoints])
    result.append(sorted(os.listdir(folder)))
    result.append(tf.train.latest_checkpoint(folder).replace(folder, ""))
    with open(folder + "/checkpoint") as file:
        result.append([line.split(":")[0] for line in file])
    again = tf.train.CheckpointManager(root, folder, max_to_keep=1, checkpoint_name="m",
                                       keep_checkpoint_every_n_hours=0.0)
    result.append([p.replace(folder, "") for p in again.checkpoints])
    result.append(again.latest_checkpoint.replace(folder, ""))
    again.save(v)
    result.append(sorted(os.listdir(folder)))
    root.restore(again.latest_checkpoint).assert_consumed().run_restore_ops()
    result.append(sess.run([v, root.save_counter]))
# program: object-based and name-based checkpoints read as each other
# not in 2.21: ops
import tempfile
folder = tempfile.mkdtemp()
v = tf.get_variable("scope/v", initializer=[1.0, 2.0])
w = tf.get_variable("w", initializer=5.0, use_resource=True)
root = tf.train.Checkpoint(v=v, w=w)
saver = tf.train.Saver([v, w])
result = []
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    by_object = root.save(folder + "/object")
    by_name = saver.save(sess, folder + "/name")
    sess.run([v.assign([0.0, 0.0]), w.assign(0.0)])
    saver.restore(sess, by_object)
    result.append(sess.run([v, w]))
    sess.run([v.assign([0.0, 0.0]), w.assign(0.0)])
    status = tf.train.Checkpoint(x=v, y=w).restore(by_name)
    result.append(error(status.assert_consumed))
    result.append(error(status.run_restore_ops))  # its counter is not there
    result.append(sess.run([v, w]))
    tf.train.init_from_checkpoint(by_object, {"v/.ATTRIBUTES/VARIABLE_VALUE": "scope/v"})
    sess.run([v.assign([0.0, 0.0])])
    sess.run(v.initializer)
    result.append(sess.run(v))
# program: lists and dicts that cannot be saved
# not in 2.21: ops error values
import tempfile
folder = tempfile.mkdtemp()
result = []
def attempt(change, start):
    with tf.Graph().as_default(), tf.Session() as sess:
        root = tf.train.Checkpoint()
        root.x = start()
        change(root.x)
        sess.run(tf.global_variables_initializer())
        outcome = error(root.save, folder + "/ck")
        result.append(outcome)
        if outcome == "no error":
            names = tf.train.list_variables(tf.train.latest_checkpoint(folder))
            result.append([n for n, _ in names])
v = lambda: tf.Variable(1.0)
two = lambda: [v(), v()]
attempt(lambda x: x.append(v()), two)
attempt(lambda x: x.extend([[v()], {"a": v()}, 3, (v(),)]), two)
attempt(lambda x: x.insert(0, v()), two)
attempt(lambda x: x.__setitem__(0, v()), two)
attempt(lambda x: x.__setitem__(0, v()), lambda: [5])
attempt(lambda x: x.__delitem__(0), two)
attempt(lambda x: x.__imul__(2), two)
attempt(lambda x: x.update(b=v()), lambda: {"a": v(), "n": 1})
attempt(lambda x: x.__setitem__(3, v()), dict)
attempt(lambda x: x.__setitem__(3, 4), lambda: {"a": v()})
attempt(lambda x: x.__setitem__("a", v()), lambda: {"a": v()})
attempt(lambda x: x.pop("a"), lambda: {"a": v()})
# program: Python state in a checkpoint
import tempfile
folder = tempfile.mkdtemp()
class State(tf.train.experimental.PythonState):
    def __init__(self, value):
        self.value = value
    def serialize(self):
        return ("s%d" % self.value).encode()
    def deserialize(self, text):
        self.value = int(text[1:])
state = State(3)
root = tf.train.Checkpoint(state=state, v=tf.Variable(1.0))
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    path = root.save(folder + "/ck")
    state.value = 4
    second = root.save(folder + "/ck")
    result = [[n for n, _ in tf.train.list_variables(path)]]
    for p in (path, second):
        root.restore(p).assert_consumed()
        result.append(state.value)
# program: warm start
# not in 2.21: ops
import tempfile
folder = tempfile.mkdtemp()
with tf.Graph().as_default(), tf.Session() as sess:
    tf.get_variable("emb", initializer=10 + np.arange(8, dtype=np.float32).reshape(4, 2))
    tf.get_variable("out", initializer=np.arange(6, dtype=np.float32).reshape(2, 3))
    tf.get_variable("old/bias", initializer=[1.0, 2.0])
    tf.get_variable("part", initializer=np.arange(5, dtype=np.float32), trainable=False)
    sess.run(tf.global_variables_initializer())
    path = tf.train.Saver().save(sess, folder + "/m")
for name, words in (("old", "a b c d"), ("new", "d x a"), ("c1", "p q r"), ("c2", "r s p q")):
    with open(folder + "/" + name, "w") as file:
        file.write("\n".join(words.split()) + "\n")
with tf.variable_scope("", partitioner=tf.fixed_size_partitioner(2)):
    emb = tf.get_variable("emb", [5, 2], initializer=tf.zeros_initializer())
    part = tf.get_variable("part", [5], trainable=False, initializer=tf.zeros_initializer())
out = tf.get_variable("out", [2, 5], initializer=tf.zeros_initializer(), use_resource=True)
bias = tf.get_variable("bias", [2], initializer=tf.zeros_initializer())
info = tf.train.VocabInfo(folder + "/new", 3, 2, folder + "/old", old_vocab_size=3,
                          backup_initializer=tf.ones_initializer())
info2 = tf.train.VocabInfo(folder + "/c2", 4, 1, folder + "/c1", axis=1)
tf.train.warm_start(path, var_name_to_vocab_info={"emb": info, "out": info2},
                    var_name_to_prev_var_name={"bias": "old/bias"})
tf.train.warm_start(folder, ["part"])
result = [error(tf.train.VocabInfo, "a", 1, 1, "b", axis=2),
          error(tf.train.warm_start, path, "bias", None, {"nothing": "old/bias"}),
          error(tf.train.warm_start, path, 5), error(tf.train.warm_start, path, [bias, "x"]),
          error(tf.train.warm_start, path, "bias")]
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    result.append(sess.run([tf.convert_to_tensor(emb), out, bias, tf.convert_to_tensor(part)]))
# program: templates in a checkpoint
# not in 2.21: ops values error
import tempfile
folder = tempfile.mkdtemp()
def inside(x):
    return x * tf.get_variable("w", initializer=2.0)
inner = tf.make_template("inner", inside, create_scope_now_=False)
def outside(x):
    with tf.variable_scope("deep"):
        v = tf.get_variable("v", initializer=[3.0])
    return inner(x) + v + tf.Variable(1.0, name="plain")
outer = tf.make_template("outer", outside)
y = outer(2.0)
again = inner(1.0)
third = tf.make_template("third", lambda: tf.get_variable("u", initializer=7.0), create_scope_now_=True)
u = third()
root = tf.train.Checkpoint(outer=outer, third=third)
result = []
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    path = root.save(folder + "/ck")
    result.append([n for n, _ in tf.train.list_variables(path)])
    text = tf.train.NewCheckpointReader(path).get_tensor("_CHECKPOINTABLE_OBJECT_GRAPH")
    result.append(text if isinstance(text, bytes) else bytes(text))
    sess.run([v.assign(v * 0) for v in tf.global_variables()[:3]])
    root.restore(path).assert_consumed().run_restore_ops()
    result.append(sess.run([y, again, u]))
# program: the object graph of modules
# not in 2.21: ops values error
import os, tempfile
folder = tempfile.mkdtemp()
class Part(tf.Module):
    def __init__(self, size):
        super(Part, self).__init__()
        self.v = tf.get_variable("v%d" % size, [size], initializer=tf.ones_initializer(), use_resource=True)
        self.dense = tf.layers.Dense(size, kernel_initializer=tf.ones_initializer())
        self.dense(tf.ones([1, 2]))
class Whole(tf.Module):
    def __init__(self):
        super(Whole, self).__init__(name="whole")
        self.parts = [Part(1), [Part(2)]]
        self.named = {"a": tf.get_variable("a", initializer=1.0, use_resource=True), "n": 3}
        self.pair = (tf.get_variable("b", initializer=1.0, use_resource=True), 2)
        self._hidden = tf.get_variable("h", initializer=b"x", use_resource=True)
        self._hidden = tf.get_variable("h2", initializer=b"y", use_resource=True)
        self.generator = tf.random.experimental.Generator.from_seed(7)
whole = Whole()
result = [[v.name for v in whole.variables], [m.name for m in whole.submodules]]
result.append([isinstance(m, tf.Module) for m in (whole.parts[0].dense, tf.nn.rnn_cell.GRUCell(1))])
optimizer = tf.train.MomentumOptimizer(0.1, 0.9)
train = optimizer.minimize(tf.reduce_sum(whole.parts[0].v) ** 2 + whole.named["a"] ** 2)
root = tf.train.Checkpoint(whole=whole, optimizer=optimizer)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    sess.run(train)
    path = root.save(os.path.join(folder, "ck"))
    root.restore(path).assert_consumed().run_restore_ops()
    result.append([(n, s) for n, s in tf.train.list_variables(path)])
    reader = tf.train.NewCheckpointReader(path)
    text = reader.get_tensor("_CHECKPOINTABLE_OBJECT_GRAPH")
    result.append(text if isinstance(text, bytes) else bytes(text))
    result.append(sess.run(whole.parts[0].v))
