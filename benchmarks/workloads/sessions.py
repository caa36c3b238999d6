"""Sessions with hooks: what they add to a step."""

import tempfile

from benchmarks.workloads.table import Table, seconds_a_call

table = Table()


@table.once("MonitoredTrainingSession over a bare session, added a step", target=0.5)
def monitored_training(tf):
    step = tf.train.get_or_create_global_step()
    variable = tf.get_variable("v", [], initializer=tf.zeros_initializer())
    loss = tf.square(variable - 1.0)
    train = tf.train.GradientDescentOptimizer(0.001).minimize(loss, global_step=step)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        bare = min(seconds_a_call(lambda: sess.run(train)) for _ in range(5))
    hooks = [tf.train.NanTensorHook(loss), tf.train.StopAtStepHook(num_steps=10**9)]
    with tempfile.TemporaryDirectory() as folder:
        session = tf.train.MonitoredTrainingSession(
            checkpoint_dir=folder,
            hooks=hooks,
            save_summaries_steps=10**9,
            log_step_count_steps=10**9,
        )
        with session:
            hooked = min(seconds_a_call(lambda: session.run(train)) for _ in range(5))
    return hooked - bare
