# program: contrib.eager's Network and Sequential: names of variables and operations
tfe = tf.contrib.eager
class Two(tfe.Network):
    def __init__(self, name=None):
        super(Two, self).__init__(name=name)
        self.one = self.track_layer(tf.layers.Dense(2, kernel_initializer=tf.ones_initializer(), kernel_regularizer=tf.nn.l2_loss))
        self.two = self.track_layer(tf.layers.Dense(1, kernel_initializer=tf.ones_initializer(), name="last"))
    def call(self, x): return self.two(self.one(x))
class Outer(tfe.Network):
    def __init__(self, inner):
        super(Outer, self).__init__()
        self.inner, self.own = self.track_layer(inner), self.track_layer(Two())
        self.norm = self.track_layer(tf.layers.BatchNormalization())
    def call(self, x, training=False): return self.norm(self.own(tf.tile(self.inner(x), [1, 3])), training=training)
x = tf.constant([[1., 2., 3.]])
first = Two()
with tf.variable_scope("v"):
    second = Outer(first)
    third = Two("named")
sequence = tfe.Sequential([Two(), lambda x: x + 1, tf.layers.Dropout(0.0), tf.layers.Dense(2)])
nets = [second, third, sequence, first]
out = [net(x) for net in nets] + [second(x, training=True), sequence(x, training=True)]
result = [[net.name, net.scope_name, [v.name for v in net.variables], [v.name for v in net.trainable_weights], [v.name for v in net.non_trainable_variables], [l.name for l in net.layers], [t.name for t in net.losses], net.trainable] for net in nets]
result += [t.name for t in out]
result += [first.get_layer("last") is first.two, first.get_layer(index=0) is first.one, tfe.in_eager_mode()]
result += [error(first.get_layer), error(first.get_layer, "x"), error(first.get_layer, index=9), error(setattr, first, "trainable", False), error(first.add_variable, "v", []), error(first.add_loss, x), error(first.track_layer, 1), error(sequence.add, 1), error(tfe.Network, "a/b"), error(lambda: Two().name)]

# program: contrib.eager: checkpoints of networks, into variables that are there and that are not
# compare: error values
import os, tempfile
tfe = tf.contrib.eager
class Two(tfe.Network):
    def __init__(self, name=None):
        super(Two, self).__init__(name=name)
        self.one = self.track_layer(tf.layers.Dense(2, kernel_initializer=tf.random_normal_initializer(seed=1)))
        self.two = self.track_layer(tf.layers.Dense(1, kernel_initializer=tf.random_normal_initializer(seed=2)))
    def call(self, x): return self.two(self.one(x))
folder, x = tempfile.mkdtemp(), tf.ones([2, 3])
result = []
with tf.Session() as s:
    tf.train.create_global_step()
    saved = Two()
    failed = error(tfe.save_network_checkpoint, saved, folder)
    y = saved(x)
    s.run(tf.global_variables_initializer())
    path = tfe.save_network_checkpoint(saved, folder, global_step=7)
    result += [failed, os.path.relpath(path, folder), tf.train.list_variables(path), s.run(y)]
    later = Two("later")
    tfe.restore_network_checkpoint(later, path)
    result += [s.run(later(x)), [v.name for v in later.variables]]
    there = Two()
    z = there(x)
    tfe.restore_network_checkpoint(there, path)
    result.append(s.run(z))
    full = tfe.save_network_checkpoint(saved, os.path.join(folder, "full"), map_func=lambda name: "x/" + name)
    result += [os.path.relpath(full, folder), tf.train.list_variables(full)]
    result += [error(tfe.save_network_checkpoint, saved, folder, map_func=lambda name: "same"), error(tfe.restore_network_checkpoint, saved, path, map_func=lambda name: "same")]
