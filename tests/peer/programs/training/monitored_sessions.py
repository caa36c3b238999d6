# program: the graph that a scaffold completes
v = tf.get_variable("v", [2], initializer=tf.ones_initializer())
n = tf.get_local_variable("n", initializer=0)
step = tf.train.get_or_create_global_step()
tf.summary.scalar("mean", tf.reduce_mean(v))
scaffold = tf.train.Scaffold().finalize()
tf.get_default_graph()._unsafe_unfinalize()
result = [
    scaffold.init_op.name, scaffold.ready_op.name, scaffold.ready_for_local_init_op.name, scaffold.local_init_op.name, scaffold.summary_op.name, scaffold.saver.saver_def.save_tensor_name, scaffold.init_fn, scaffold.init_feed_dict,
    sorted(tf.get_default_graph().get_all_collection_keys()),
]
again = tf.train.Scaffold(copy_from_scaffold=scaffold, init_fn=lambda scaffold, sess: None)
result += [again.init_op.name, again.init_fn is not None, error(tf.train.Scaffold, copy_from_scaffold=3)]
# program: collections with several ops for a scaffold
# compare: error values
v = tf.get_variable("v", [2], initializer=tf.ones_initializer())
tf.add_to_collection(tf.GraphKeys.INIT_OP, tf.no_op(name="one"))
first = tf.train.Scaffold.get_or_default("init_op", tf.GraphKeys.INIT_OP, lambda: 1 / 0).name
tf.add_to_collection(tf.GraphKeys.INIT_OP, tf.no_op(name="two"))
several = error(lambda: tf.train.Scaffold().finalize())
tf.train.Saver(); tf.add_to_collection(tf.GraphKeys.SAVERS, tf.train.Saver()); tf.add_to_collection(tf.GraphKeys.SAVERS, tf.train.Saver())
result = [first, several, error(lambda: tf.train.Scaffold(init_op=tf.no_op()).finalize())]
# program: the graph of hooks
# compare: error values
step = tf.train.get_or_create_global_step()
v = tf.get_variable("v", [2], initializer=tf.ones_initializer())
import tempfile

folder = tempfile.mkdtemp()
hooks = [tf.train.StopAtStepHook(num_steps=3), tf.train.StepCounterHook(), tf.train.CheckpointSaverHook(folder, save_steps=2, saver=tf.train.Saver()), tf.train.SummarySaverHook(save_steps=1, output_dir=folder, summary_op=tf.summary.scalar("s", v[0])), tf.train.GlobalStepWaiterHook(0), tf.train.LoggingTensorHook({"v": v.name}, 2), tf.train.ProfilerHook(save_steps=2, output_dir=folder)]
for hook in hooks:
    hook.begin()
result = [type(hook).__name__ for hook in hooks]
# program: hooks without a global step
# compare: error values
import tempfile

folder = tempfile.mkdtemp()
v = tf.get_variable("v", [2], initializer=tf.ones_initializer())
hooks = [tf.train.StopAtStepHook(num_steps=3), tf.train.StepCounterHook(), tf.train.CheckpointSaverHook(folder, save_steps=2), tf.train.SummarySaverHook(save_steps=1, output_dir=folder, summary_op=tf.summary.scalar("s", v[0])), tf.train.GlobalStepWaiterHook(0), tf.train.ProfilerHook(save_steps=2, output_dir=folder), tf.train.LoggingTensorHook(["nothing"], 1), tf.train.LoggingTensorHook(["v:7"], 1)]
result = [error(hook.begin) for hook in hooks]
# program: arguments of hooks
# compare: error values
import tempfile
folder = tempfile.mkdtemp()
T = tf.train
result = [
    error(T.SecondOrStepTimer), error(T.SecondOrStepTimer, 1.0, 2), error(T.SecondOrStepTimer, every_steps=2),
    error(T.LoggingTensorHook, []), error(T.LoggingTensorHook, [], 1, 1.0), error(T.LoggingTensorHook, [], 0), error(T.LoggingTensorHook, [], at_end=True), error(T.LoggingTensorHook, [], -1),
    error(T.StopAtStepHook), error(T.StopAtStepHook, 1, 2), error(T.StopAtStepHook, 1),
    error(T.CheckpointSaverHook, "d"), error(T.CheckpointSaverHook, "d", 1, 1), error(T.CheckpointSaverHook, "d", 1, saver=1, scaffold=2),
    error(T.StepCounterHook, 1, 1), error(T.StepCounterHook, None, None), error(T.StepCounterHook, None, 1),
    error(T.SummarySaverHook, 1), error(T.SummarySaverHook, 1, summary_op=1, scaffold=1), error(T.SummarySaverHook, summary_op=1), error(T.SummarySaverHook, 1, 1, summary_op=1),
    error(T.ProfilerHook, output_dir=folder), error(T.ProfilerHook, 1, 1, folder), error(T.SessionManager, ready_for_local_init_op=1), error(T.SessionCreator), error(T.NanTensorHook), error(T.FeedFnHook),
    str(T.NanLossDuringTrainingError()), issubclass(T.NanLossDuringTrainingError, RuntimeError),
    T.SessionRunArgs(1), T.SessionRunArgs(1, {2: 3}, 4), T.SessionRunValues(1, 2, 3), T.SessionRunArgs._fields, T.SessionRunValues._fields,
]
timer = T.SecondOrStepTimer(every_steps=3)
result += [timer.last_triggered_step(), timer.should_trigger_for_step(5), timer.update_last_triggered_step(5), timer.should_trigger_for_step(5), timer.should_trigger_for_step(7), timer.should_trigger_for_step(8), timer.update_last_triggered_step(8)[1], timer.last_triggered_step(), timer.reset(), timer.should_trigger_for_step(8)]
# program: the life of a training session
# compare: error values
# not in 2.21: values
import logging
import os
import re
import tempfile


class Lines(logging.Handler):
    def __init__(self):
        logging.Handler.__init__(self)
        self.lines = []
    def emit(self, record):
        if "deprecat" not in record.getMessage() and record.levelno == logging.INFO:
            self.lines.append(re.sub(r"\d+\.\d+ sec|/sec: [\d.]+|/\S+(?=/model)|0x\w+", "*", record.getMessage()))
lines = Lines()
tf.get_logger().addHandler(lines)
verbosity = tf.logging.get_verbosity()
tf.logging.set_verbosity(tf.logging.INFO)
folder = tempfile.mkdtemp()
x = tf.placeholder(tf.float32, [None, 2], name="x")
w = tf.get_variable("w", [2, 1], initializer=tf.ones_initializer())
loss = tf.reduce_mean(tf.matmul(x, w) ** 2, name="loss")
tf.summary.scalar("loss", loss)
step = tf.train.get_or_create_global_step()
train = tf.train.GradientDescentOptimizer(0.01).minimize(loss, global_step=step)
calls = []
class Hook(tf.train.SessionRunHook):
    def begin(self): calls.append("begin %s" % tf.get_default_graph().finalized)
    def after_create_session(self, session, coord): calls.append("created %s %s" % (session.run(step), type(coord).__name__))
    def before_run(self, context):
        calls.append("before %s %s" % (context.original_args.fetches is train, sorted(str(k.name) for k in context.original_args.feed_dict)))
        return tf.train.SessionRunArgs({"l": loss, "names": ["x:0", train]})
    def after_run(self, context, values): calls.append("after %s %s %s %s" % (float(values.results["l"]), values.results["names"][1], type(values.options).__name__, context.stop_requested))
    def end(self, session): calls.append("end %s" % session.run(step))
class Listener(tf.train.CheckpointSaverListener):
    def begin(self): calls.append("listener begin")
    def before_save(self, session, number): calls.append("before save %d" % number)
    def after_save(self, session, number): calls.append("after save %d" % number)
    def end(self, session, number): calls.append("listener end %d" % number)
events = []
for last in (7, 9):
    hooks = [Hook(), tf.train.LoggingTensorHook({"loss": "loss", "w": w.name}, every_n_iter=3), tf.train.LoggingTensorHook({"weights": w.name}, at_end=True), tf.train.NanTensorHook(loss), tf.train.FinalOpsHook(step)]
    scaffold = tf.train.Scaffold()
    chief = [tf.train.StopAtStepHook(last_step=last), tf.train.CheckpointSaverHook(folder, save_steps=3, scaffold=scaffold, listeners=[Listener()])]
    with tf.train.MonitoredTrainingSession(checkpoint_dir=folder, scaffold=scaffold, hooks=hooks, chief_only_hooks=chief, save_checkpoint_secs=None, save_summaries_steps=2, log_step_count_steps=4) as session:
        while not session.should_stop():
            session.run(train, {x: [[1.0, 2.0]]})
        calls.append("stopped")
    calls.append("closed %s %s" % (session.should_stop(), hooks[-1].final_ops_values))
files = sorted(name for name in os.listdir(folder) if "events" not in name)
tf.summary.FileWriterCache.clear()
for name in sorted(os.listdir(folder)):
    if "events" in name:
        for event in tf.train.summary_iterator(os.path.join(folder, name)):
            events.append([event.step, event.WhichOneof("what"), [value.tag for value in event.summary.value], event.session_log.status])
state = tf.train.get_checkpoint_state(folder)
tf.logging.set_verbosity(verbosity)
tf.get_logger().removeHandler(lines)
lines_told = [line for line in lines.lines if "Summary name" not in line]
result = [calls, lines_told, files, events, [os.path.basename(path) for path in state.all_model_checkpoint_paths], tf.train.load_variable(folder, "w")]
# program: errors in a monitored session
# compare: error values
a = tf.constant(1.0)
x = tf.placeholder(tf.float32, [])
y = x * 2.0
v = tf.get_variable("v", [2], initializer=tf.ones_initializer())
fail = tf.Assert(tf.greater(x, 0.0), ["negative"])
out = []
with tf.train.MonitoredSession(hooks=[tf.train.FeedFnHook(lambda: {a: 4.0})]) as session:
    out += [session.run(a), session.run([a, {"v": v}]), error(session.run, y), session.run(y, {x: 2.0}), error(session.run, a, {a: 1.0}), error(session.run, None), error(session.run, "missing"), error(session.run, fail, {x: -1.0}), session.run(y, {x: 3.0}), session.should_stop(), session.run([]), session.run({"z": (a, [v])})]
out += [session.should_stop(), session.graph, error(session.run, a), error(session.close)]
def nested(kind):
    def go():
        with tf.train.MonitoredSession() as session:
            raise kind
    return error(go)
out += [nested(StopIteration()), nested(tf.errors.OutOfRangeError(None, None, "end")), nested(tf.errors.AbortedError(None, None, "a")), nested(KeyError("k"))]
class Stop(tf.train.SessionRunHook):
    def after_run(self, context, values): context.request_stop()
with tf.train.SingularMonitoredSession(hooks=[Stop()]) as session:
    raw = session.raw_session()
    out += [session.run(a), session.should_stop(), error(session.run, a), raw.run(a)]
out += [session.raw_session()]
with tf.train.MonitoredSession() as session:
    out += [session.run_step_fn(lambda step_context: step_context.session.run(a) + step_context.run_with_hooks(a)), error(session.run_step_fn, lambda: 1), error(session.run_step_fn, lambda step_context, b: 1), error(session.run_step_fn, lambda step_context: step_context.request_stop())]
with tf.Graph().as_default():
    tf.get_variable("u", [1])
    out += [error(lambda: tf.train.MonitoredSession(tf.train.ChiefSessionCreator(tf.train.Scaffold(init_op=tf.no_op())))), error(lambda: tf.train.SessionManager(local_init_op=tf.no_op()).prepare_session("", init_op=tf.no_op())), error(lambda: tf.train.SessionManager(ready_op=tf.report_uninitialized_variables()).prepare_session("", init_op=tf.no_op())), error(lambda: tf.train.SessionManager().prepare_session(""))]
result = out
# program: sessions of a session manager
# compare: error values
import os
import tempfile

folder = tempfile.mkdtemp()
out = []
v = tf.get_variable("v", initializer=1.0)
w = tf.get_variable("w", initializer=2.0)
saver = tf.train.Saver({"v": v})
init = tf.global_variables_initializer()
ready = tf.report_uninitialized_variables()
manager = tf.train.SessionManager(ready_op=ready, recovery_wait_secs=1)
sess = manager.prepare_session("", init_op=init, saver=saver, checkpoint_dir=folder, init_fn=lambda s: s.run(v.assign(5.0)))
out.append(sess.run([v, w]))
saver.save(sess, os.path.join(folder, "c"), 3)
sess, done = manager.recover_session("", saver=saver, checkpoint_dir=folder)
out += [done, sess.run(tf.is_variable_initialized(w)), sess.run(v)]
sess, done = tf.train.SessionManager().recover_session("", saver=saver, checkpoint_dir=folder)
out += [done, sess.run(v)]
sess, done = manager.recover_session("", saver=saver, checkpoint_dir=tempfile.mkdtemp())
out += [done, error(sess.run, v)]
out += [error(manager.prepare_session, "", saver=saver, checkpoint_dir=folder), error(manager.prepare_session, "", init_op=init, saver=saver, checkpoint_dir=folder, checkpoint_filename_with_path=os.path.join(folder, "c-3")), error(manager.prepare_session, "", init_op=init, saver=saver, checkpoint_filename_with_path=os.path.join(folder, "none")), error(manager.wait_for_session, "", max_wait_secs=0)]
sess = tf.train.SessionManager(local_init_op=w.initializer, ready_op=ready, ready_for_local_init_op=tf.report_uninitialized_variables([v])).prepare_session("", saver=saver, checkpoint_filename_with_path=os.path.join(folder, "c-3"))
out.append(sess.run([v, w]))
result = out
# program: the graph of a supervisor
import tempfile

v = tf.get_variable("v", [2], initializer=tf.ones_initializer())
step = tf.train.get_or_create_global_step()
tf.summary.scalar("mean", tf.reduce_mean(v))
sv = tf.train.Supervisor(logdir=tempfile.mkdtemp())
result = [sv.init_op.name, sv.ready_op.name, sv.ready_for_local_init_op, sv.summary_op.name, sv.global_step.name, sv.is_chief, sv.save_summaries_secs, sv.save_model_secs, sv.save_path.endswith("model.ckpt"), type(sv.coord).__name__, sv.init_feed_dict, type(sv.session_manager).__name__, tf.get_default_graph().finalized, tf.train.Supervisor.USE_DEFAULT, sorted(tf.get_default_graph().get_all_collection_keys())]
# program: the life of a supervised session
# compare: error values
import os
import tempfile

out = []
folder = tempfile.mkdtemp()
v = tf.get_variable("v", initializer=1.0)
step = tf.train.get_or_create_global_step()
train = tf.group(v.assign_add(1.0), tf.assign_add(step, 1))
summary = tf.summary.scalar("v", v)
for turn in range(2):
    graph = tf.get_default_graph()
    sv = tf.train.Supervisor(logdir=folder, save_model_secs=0, save_summaries_secs=0, summary_op=None)
    with sv.managed_session() as sess:
        for _ in range(3):
            sess.run(train)
        out += [sess.run([v, step]), sv.should_stop()]
        sv.summary_computed(sess, sess.run(summary))
        sv.saver.save(sess, sv.save_path, global_step=sv.global_step)
        sv.request_stop()
        out.append(sv.should_stop())
    graph._unsafe_unfinalize()
files = sorted(name for name in os.listdir(folder) if "events" not in name)
def raising(kind):
    def go():
        with tf.train.Supervisor(logdir=None, summary_op=None).managed_session() as sess:
            raise kind
    graph._unsafe_unfinalize()
    return error(go)
out += [files, raising(KeyError("k")), raising(tf.errors.OutOfRangeError(None, None, "end")), raising(tf.errors.AbortedError(None, None, "a"))]
graph._unsafe_unfinalize()
out += [error(tf.train.Supervisor, is_chief=False)]
sv = tf.train.Supervisor(logdir=None, summary_op=None)
sess = sv.prepare_or_wait_for_session()
out += [error(sv.summary_computed, sess, b""), sv.start_standard_services(sess), sv.save_path, sv.summary_writer]
sv.stop()
calls = []
tf.train.basic_train_loop(sv, lambda sess, a, b: calls.append((a, b)) or (len(calls) > 2 and sv.request_stop()), args=[1], kwargs={"b": 2})
result = out + [calls]
# program: loss scales
# compare: error values
v = tf.get_variable("v", initializer=[1.0, 2.0])
w = tf.get_variable("w", initializer=[[1.0], [2.0]], use_resource=True)
x = tf.placeholder(tf.float32, [2], name="x")
loss = tf.reduce_sum(v * x) + tf.reduce_sum(tf.gather(w, [0]) * x)
step = tf.train.get_or_create_global_step()
E = tf.train.experimental
dynamic = E.MixedPrecisionLossScaleOptimizer(tf.train.GradientDescentOptimizer(0.5), E.DynamicLossScale(initial_loss_scale=8, increment_period=2, multiplier=2))
train = dynamic.minimize(loss, global_step=step)
fixed = E.MixedPrecisionLossScaleOptimizer(tf.train.MomentumOptimizer(0.5, 0.9), 16)
train2 = fixed.minimize(loss)
scale = dynamic._loss_scale()
out = []
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for value in ([1.0, 1.0], [1.0, np.inf], [2.0, 1.0], [1.0, 1.0], [1.0, 1.0], [1.0, np.nan]):
        sess.run(train, {x: value})
        out.append(sess.run([v, w, step, scale]))
    sess.run(train2, {x: [1.0, 2.0]})
    out.append(sess.run([v, w]))
result = [out, repr(E.FixedLossScale(4)), repr(E.DynamicLossScale()), E.DynamicLossScale(4, 5, 6).get_config(), E.FixedLossScale.from_config(E.FixedLossScale(3).get_config())._loss_scale_value, error(E.FixedLossScale, 0.5), error(E.FixedLossScale, "1"), error(E.LossScale), error(E.MixedPrecisionLossScaleOptimizer, 1, 2), error(E.MixedPrecisionLossScaleOptimizer, tf.train.AdamOptimizer(), "other"), error(E.enable_mixed_precision_graph_rewrite, dynamic), error(E.enable_mixed_precision_graph_rewrite, 3), [name for name in dynamic.get_slot_names()], [one.name for one in tf.global_variables()]]
# program: steps counted and read
step = tf.train.create_global_step()
result = [error(tf.train.create_global_step), tf.train.get_or_create_global_step() is step, tf.train.get_global_step() is step]
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    result.append(tf.train.global_step(sess, step))
# program: a graph that trains as if quantized
# compare: error values
x = tf.placeholder(tf.float32, [2, 3], name="x")
w = tf.get_variable("w", [3, 4])
with tf.device("/cpu:0"):
    h = tf.nn.relu6(tf.matmul(x, w, name="m"), name="r")
tf.matmul(tf.reshape(h, [2, 4]), tf.nn.relu(tf.ones([4, 2]), name="rr"), name="m2")
tf.train.Saver()
graph = tf.train.do_quantize_training_on_graphdef(tf.get_default_graph().as_graph_def(), 6)
def told(node):
    attrs = {key: str(value) for key, value in node.attr.items() if key not in ("value", "_output_shapes")}
    return [node.name, node.op, sorted(node.input) if node.op == "NoOp" else list(node.input), node.device, sorted(attrs.items())]
result = [[told(node) for node in sorted(graph.node, key=lambda node: node.name)], error(tf.train.do_quantize_training_on_graphdef, graph, 0)]
