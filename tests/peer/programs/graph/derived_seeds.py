# program: numbers of a seeded graph around a conditional dropout
# compare: error values
# not in 2.21: values
tf.set_random_seed(5)
x = tf.constant(np.arange(12, dtype=np.float32).reshape(4, 3))
training = tf.placeholder(tf.bool, [])
h = tf.layers.dense(x, 8, activation=tf.nn.relu)
h = tf.layers.dropout(h, 0.5, training=training)
y = tf.layers.dense(h, 2)
train = tf.train.GradientDescentOptimizer(0.01).minimize(tf.reduce_mean(y * y))
after = tf.random_normal([3])
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    result = [sess.run(y, {training: False}), sess.run(y, {training: True})]
    sess.run(train, {training: True})
    result += [sess.run(y, {training: False}), sess.run(after)]

# program: numbers of a seeded graph around a recurrent network with dropout
# compare: error values
# not in 2.21: values
tf.set_random_seed(6)
x = tf.constant(np.arange(24, dtype=np.float32).reshape(2, 4, 3) / 10)
cells = [
    tf.nn.rnn_cell.DropoutWrapper(tf.nn.rnn_cell.LSTMCell(5), output_keep_prob=0.5)
    for _ in range(2)
]
outputs, state = tf.nn.dynamic_rnn(
    tf.nn.rnn_cell.MultiRNNCell(cells),
    x,
    dtype=tf.float32,
    sequence_length=[4, 3],
    parallel_iterations=1,  # else TensorFlow's iterations draw in any order
)
y = tf.layers.dense(outputs, 2)
variables = tf.trainable_variables()
grads, _ = tf.clip_by_global_norm(tf.gradients(tf.reduce_mean(y * y), variables), 1.0)
train = tf.train.AdamOptimizer(0.01).apply_gradients(zip(grads, variables))
after = tf.random_uniform([3])
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    result = [sess.run(y)]
    sess.run(train)
    result += [sess.run(y), sess.run(after)]

# program: numbers of a seeded graph in and around loops
# compare: error values
# not in 2.21: values
tf.set_random_seed(7)
x = tf.placeholder(tf.float32, [None, 3])


def walk(i, a):
    noise = tf.random_normal([3])
    return i + 1, tf.cond(i > 1, lambda: a + noise, lambda: a * tf.random_uniform([]))


# One iteration after the other: else TensorFlow's draw in any order.
_, a = tf.while_loop(lambda i, _: i < 4, walk, [0, x], parallel_iterations=1)
b = tf.map_fn(lambda row: row + tf.random_uniform([3]), x, parallel_iterations=1)
c = tf.scan(
    lambda total, row: total + row * tf.random_uniform([]), x, parallel_iterations=1
)
with tf.control_dependencies([tf.assert_less(x, 100.0)]):
    d = tf.identity(c)
grads = tf.gradients([a, b, d], x)
after = tf.random_uniform([3])
with tf.Session() as sess:
    result = sess.run([a, b, c, d, grads, after], {x: np.ones([2, 3], np.float32)})

# program: numbers of a seeded graph after averages of variables
# compare: error values
# not in 2.21: values
tf.set_random_seed(8)
v = tf.get_variable("v", [3])
average = tf.train.ExponentialMovingAverage(0.9)
update = average.apply([v])
w = tf.Variable(v.initialized_value() * 2.0)
u = tf.get_variable("u", [3])
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    result = sess.run([v, w, u, average.average(v)])
