# program: the graph of a saver
a = tf.get_variable("a", [2, 2], initializer=tf.ones_initializer())
b = tf.get_variable("b", initializer=np.int64(7))
with tf.variable_scope("s", partitioner=tf.fixed_size_partitioner(2)):
    p = tf.get_variable("p", [4, 2], initializer=tf.ones_initializer())
saver = tf.train.Saver()
result = [str(saver.saver_def.save_tensor_name), saver.saver_def.restore_op_name]
tf.train.Saver({"renamed": a, "b2": b}, name="other", filename="fn", max_to_keep=None)
tf.train.Saver([a], reshape=True, restore_sequentially=True, name="rs")
tf.train.Saver({"w": [v for v in p]}, name="list")
tf.train.Saver({"w": p}, name="whole")
tf.train.Saver([a, b], write_version=tf.train.SaverDef.V1, name="v1")
# program: the graph of a saver of resource variables
a = tf.get_variable("a", [2, 2], initializer=tf.ones_initializer(), use_resource=True)
with tf.variable_scope("s", partitioner=tf.fixed_size_partitioner(2), use_resource=True):
    p = tf.get_variable("p", [4, 2], initializer=tf.ones_initializer())
step = tf.train.get_or_create_global_step()
tf.train.Saver()
tf.train.Saver([a], reshape=True, name="reshaped")
# program: the graph of a sharded saver
# not in 2.21: ops attrs
with tf.device("/job:ps/task:1/device:GPU:0"):
    a = tf.get_variable("a", [2], initializer=tf.ones_initializer(), use_resource=True)
with tf.device("/job:ps/task:0"):
    b = tf.get_variable("b", [2], initializer=tf.ones_initializer())
c = tf.get_variable("c", [2], initializer=tf.ones_initializer())
tf.train.Saver(sharded=True)
tf.train.Saver(sharded=True, write_version=tf.train.SaverDef.V1)
# program: what a saver writes and keeps
# compare: error values
import os, shutil, tempfile
folder = tempfile.mkdtemp()
v = tf.get_variable("v", initializer=[1.0, 2.0])
step = tf.train.get_or_create_global_step()
saver = tf.train.Saver(max_to_keep=2)
result = []
def files():
    result.append(sorted(os.listdir(folder)))
    with open(folder + "/checkpoint") as file:
        result.append(file.read().replace(folder, ""))
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for i in range(4):
        saver.save(sess, folder + "/m", global_step=i)
    files()
    result.append([p.replace(folder, "") for p in saver.last_checkpoints])
    result.append(saver.save(sess, folder + "/m", global_step=step).replace(folder, ""))
    tf.train.Saver(pad_step_number=True, save_relative_paths=True).save(
        sess, folder + "/padded", global_step=5)
    files()
    saver.recover_last_checkpoints([folder + "/m-3", folder + "/gone"])
    result.append([p.replace(folder, "") for p in saver.last_checkpoints])
    result.append(tf.train.latest_checkpoint(folder).replace(folder, ""))
    result.append(tf.train.list_variables(folder))
    result.append(tf.train.load_variable(folder, "v:0"))
    saver.save(sess, folder + "/n", latest_filename="other", write_meta_graph=False)
    tf.train.remove_checkpoint(folder + "/m-3")
    files()
    result.append(tf.train.latest_checkpoint(folder, "other").replace(folder, ""))
reader = tf.train.NewCheckpointReader(folder + "/n")
result.append(reader.has_tensor("v"))
result.append(sorted((k, str(d)) for k, d in reader.get_variable_to_dtype_map().items()))
result.append(error(reader.get_tensor, "w"))
shutil.rmtree(folder)
# program: savers that refuse
# compare: error values
import tempfile
folder = tempfile.mkdtemp()
result = [error(tf.train.Saver), error(tf.train.Saver, {"a": 1}, defer_build=True)]
v = tf.get_variable("v", initializer=[1.0, 2.0])
w = tf.get_variable("w", initializer=[1.0, 2.0, 3.0])
i = tf.get_variable("i", initializer=[1, 2])
for bad in ({"x": v, "y": v}, [v, v], [tf.constant(1)], {"x": tf.constant(1)}, {1: v}, 3):
    result.append(error(tf.train.Saver, bad))
saver, late = tf.train.Saver(), tf.train.Saver(defer_build=True)
with tf.Session() as sess:
    result.append(error(saver.save, sess, folder + "/m"))
    sess.run(tf.global_variables_initializer())
    saver.save(sess, folder + "/m")
    result.append(error(late.save, sess, folder + "/m"))
    result.append(error(saver.save, sess, folder + "/m", latest_filename="x/y"))
    result.append(error(saver.save, sess, folder + "/checkpoint"))
    result.append(error(saver.save, 3, folder + "/m"))
    result.append(error(saver.save, sess, folder + "/no/where/m"))
    result.append(error(saver.restore, sess, None))
    result.append(error(saver.restore, sess, folder + "/none"))
    result.append(error(tf.train.Saver({"w": v}).restore, sess, folder + "/m"))
    result.append(error(tf.train.Saver({"i": v}).restore, sess, folder + "/m"))
    result.append(error(tf.train.Saver({"q": v}).restore, sess, folder + "/m"))
    result.append(error(saver.set_last_checkpoints, "q"))
result.append(error(tf.train.list_variables, folder + "/none"))
result.append(error(tf.train.init_from_checkpoint, folder + "/m", {"zz": "v"}))
result.append(error(tf.train.init_from_checkpoint, folder + "/m", {"w": "v"}))
result.append(error(tf.train.init_from_checkpoint, folder + "/m", {"w": "nothing"}))
result.append(error(tf.train.update_checkpoint_state, folder, folder + "/checkpoint"))
result.append(error(tf.train.import_meta_graph, folder + "/none.meta"))
# program: variables that begin as in a checkpoint
import tempfile
folder = tempfile.mkdtemp()
with tf.Graph().as_default(), tf.Session() as sess:
    with tf.variable_scope("old"):
        a = tf.get_variable("a", initializer=[1.0, 2.0])
        with tf.variable_scope("in"):
            c = tf.get_variable("c", initializer=5.0)
    p = tf.get_variable("part", initializer=np.arange(8, dtype=np.float32).reshape(4, 2))
    sess.run(tf.global_variables_initializer())
    tf.train.Saver().save(sess, folder + "/m")
with tf.variable_scope("new", use_resource=True):
    a = tf.get_variable("a", shape=[2])
    with tf.variable_scope("in"):
        c = tf.get_variable("c", shape=[])
with tf.variable_scope("x", partitioner=tf.fixed_size_partitioner(2)):
    p = tf.get_variable("part", shape=[4, 2])
tf.train.init_from_checkpoint(folder + "/m", {"old/": "new/", "part": "x/part"})
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    result = sess.run([v + 0.0 for v in tf.global_variables()])
# program: a MetaGraph with collections, scopes and queues
# compare: error values
import tempfile
folder = tempfile.mkdtemp()
with tf.name_scope("queue"):
    q = tf.FIFOQueue(3, tf.float32, name="q")
    tf.train.add_queue_runner(tf.train.QueueRunner(q, [q.enqueue(1.0)]))
with tf.variable_scope("net"):
    x = tf.placeholder(tf.float32, [None, 2], name="x")
    with tf.device("/cpu:0"):
        w = tf.get_variable("w", [2, 3], initializer=tf.ones_initializer())
    y = tf.matmul(x, w, name="y")
outer = tf.constant(2.0, name="outer")
with tf.name_scope("head"):
    z = tf.multiply(y, outer, name="z")
for key, item in (("nodes", z), ("nodes", z.op), ("text", "hello"), ("ints", 3),
                  ("floats", 1.5), ("bytes", b"abc")):
    tf.add_to_collection(key, item)
saver = tf.train.Saver()
tf.train.Saver(name="second")
def described(meta):
    collections = []
    for key, value in sorted(meta.collection_def.items()):
        kind = value.WhichOneof("kind")
        collections.append(
            (key, kind, [str(x) for x in getattr(value, kind).value] if kind else None))
    nodes = [(n.name, n.op, n.device, sorted(n.input), sorted(n.attr))
             for n in meta.graph_def.node]
    return (nodes, collections, [op.name for op in meta.meta_info_def.stripped_op_list.op],
            meta.meta_info_def.stripped_default_attrs)
result = []
for options in ({}, {"export_scope": "head"}, {"export_scope": "net"},
                {"clear_devices": True}, {"strip_default_attrs": True},
                {"clear_extraneous_savers": True}, {"collection_list": ["ints"]}):
    result.append(described(
        tf.train.export_meta_graph(saver_def=saver.as_saver_def(), **options)))
tf.train.export_meta_graph(folder + "/all.meta", saver_def=saver.as_saver_def())
tf.train.export_meta_graph(folder + "/head.meta", export_scope="head")
def collections_of(graph):
    return [(key, [getattr(item, "name", item) for item in graph.get_collection(key)])
            for key in sorted(graph.get_all_collection_keys())]
for options in ({}, {"import_scope": "imp"}, {"clear_devices": True}):
    with tf.Graph().as_default() as graph, tf.Session() as sess:
        again = tf.train.import_meta_graph(folder + "/all.meta", **options)
        result.append(collections_of(graph))
        result.append(again.saver_def.restore_op_name)
        sess.run(tf.global_variables_initializer())
        again.restore(sess, again.save(sess, folder + "/m"))
with tf.Graph().as_default() as graph:
    result.append(error(tf.train.import_meta_graph, folder + "/head.meta"))
    tf.train.import_meta_graph(
        folder + "/head.meta", import_scope="h",
        input_map={"$unbound_inputs_net/y": tf.constant([[1.0, 2.0, 3.0]]),
                   "$unbound_inputs_outer": tf.constant(3.0)})
    with tf.Session() as sess:
        result.append(sess.run("h/z:0"))
# program: the state of a directory of checkpoints
# compare: error values
import os, tempfile
folder = tempfile.mkdtemp()
result = [tf.train.latest_checkpoint(folder), tf.train.latest_checkpoint(folder + "/no"),
          error(tf.train.list_variables, folder),
          error(tf.train.checkpoint_exists, folder + "/no/m"),
          tf.train.checkpoint_exists(folder + "/m")]
tf.train.update_checkpoint_state(
    folder, "m-1", ["m-0"], all_model_checkpoint_timestamps=[1.5, 2.5],
    last_preserved_timestamp=1.0)
state = tf.train.get_checkpoint_state(folder)
result.append([p.replace(folder, "") for p in state.all_model_checkpoint_paths])
result.append([list(state.all_model_checkpoint_timestamps), state.last_preserved_timestamp])
result.append(error(tf.train.update_checkpoint_state, folder, "m-1", ["m-0"],
                    all_model_checkpoint_timestamps=[1.5]))
result.append(str(tf.train.generate_checkpoint_state_proto(
    "dir", "dir/m-2", ["dir/m-1", "dir/m-2"])))
with open(folder + "/checkpoint", "w") as file:
    file.write("garbage {")
result.append(tf.train.get_checkpoint_state(folder))
with open(folder + "/checkpoint", "w") as file:
    file.write("")
result.append(error(tf.train.get_checkpoint_state, folder))
result.append(list(tf.train.checkpoints_iterator(folder + "/no", timeout=0)))
# program: files of tf.gfile
# compare: error values
import os, tempfile
folder = tempfile.mkdtemp()
g = tf.gfile
a = folder + "/a"
with g.GFile(a, "w") as file:
    file.write("hello\nworld\nx")
os.makedirs(folder + "/deep/x/y")
with open(folder + "/deep/x/f", "w") as file:
    file.write("2")
result = [g.GFile(a).read(), g.GFile(a, "rb").readlines(), g.GFile(a).readline()]
for action, name in (
    (lambda p: g.GFile(p).read(), "/q"), (lambda p: g.GFile(p).read(), "/deep"),
    (lambda p: g.GFile(p, "w").write("x"), "/q/q"), (lambda p: g.GFile(p, "x"), "/a"),
    (lambda p: g.GFile(p).write("x"), "/a"), (lambda p: g.GFile(p, "w").read(), "/z"),
    (lambda p: g.GFile(p).seek(-1), "/a"), (lambda p: g.GFile(p).seek(99), "/a"),
    (lambda p: g.GFile(p).seek(1, 7), "/a"), (lambda p: g.GFile(p).seek(), "/a"),
    (g.Remove, "/q"), (g.Remove, "/deep"), (g.MkDir, "/deep"), (g.MkDir, "/p/q"),
    (g.MakeDirs, "/a/b"), (g.ListDirectory, "/a"), (g.ListDirectory, "/q"),
    (lambda p: g.Copy(p, folder + "/c"), "/q"), (lambda p: g.Copy(p, a), "/a"),
    (lambda p: g.Copy(p, folder + "/deep", overwrite=True), "/a"),
    (lambda p: g.Rename(p, folder + "/c"), "/q"), (lambda p: g.Rename(p, a), "/a"),
    (lambda p: g.Rename(p, folder + "/deep", overwrite=True), "/a"),
    (lambda p: g.Rename(p, folder + "/no/x"), "/a"), (g.Stat, "/q"),
    (g.DeleteRecursively, "/q"), (lambda p: g.Glob(p + "/*"), "/q"),
    (lambda p: g.Exists("foo:/" + p), "/q"),
):
    result.append(error(action, folder + name))
def found(*patterns):
    return sorted(p.replace(folder, "") for p in g.Glob([folder + x for x in patterns]))
for patterns in (("/*",), ("/?",), ("/[ad]*", "/a"), ("/*/*",), ("/**/f",), ("/[!a]*",),
                 ("/{a,b}",), ("/d*/x/[e-g]",)):
    result.append(found(*patterns))
walked = [(d.replace(folder, ""), sorted(s), sorted(f)) for d, s, f in g.Walk(folder)]
result.append(walked)
result.append([d.replace(folder, "") for d, _, _ in g.Walk(folder + "/deep", in_order=False)])
result.append([g.Stat(a).length, g.Stat(a).is_directory, g.Stat(folder).is_directory])
result.append([g.Exists(a), g.IsDirectory(a), g.IsDirectory(folder), g.Exists("")])
g.Rename(folder + "/deep", folder + "/d2")
g.DeleteRecursively(folder + "/d2")
result.append(sorted(g.ListDirectory(folder)))
# program: tables in a checkpoint
import tempfile
folder = tempfile.mkdtemp()
dense = tf.lookup.experimental.DenseHashTable(
    tf.int64, tf.float32, -1.0, empty_key=-1, deleted_key=-2, name="dense")
keys = tf.constant([3, 5, 8], tf.int64)
insert = dense.insert(keys, [1.5, 2.5, 3.5])
erase = dense.erase(keys[:2])
found = dense.lookup(keys)
saver = tf.train.Saver()
with tf.Session() as sess:
    sess.run(insert)
    path = saver.save(sess, folder + "/m", write_meta_graph=False)
    sess.run(erase)
    result = [sess.run(found)]
    saver.restore(sess, path)
    result.append(sess.run(found))
    result.append([name for name, _ in tf.train.list_variables(path)])
