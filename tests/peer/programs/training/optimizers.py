# program: linear regression by gradient descent
# not in 2.21: ops
x = tf.placeholder(tf.float32, [None], name="x")
y = tf.placeholder(tf.float32, [None], name="y")
w = tf.Variable(0.0, name="w")
b = tf.Variable(0.0, name="b")
loss = tf.reduce_mean(tf.square(w * x + b - y))
train = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
xs = np.linspace(-1, 1, 20)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    losses = [sess.run([train, loss], {x: xs, y: 3 * xs + 1})[1] for _ in range(20)]
    result = [losses, sess.run([w, b]), train.name, train.type]

# program: Adam with slots and a global step
# not in 2.21: ops
step = tf.train.get_or_create_global_step()
w = tf.get_variable("w", [3], initializer=tf.ones_initializer())
loss = tf.reduce_sum(tf.square(w - [1.0, 2.0, 3.0]))
optimizer = tf.train.AdamOptimizer(0.1)
train = optimizer.minimize(loss, global_step=step)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for _ in range(5):
        sess.run(train)
    result = [sess.run([w, step]), optimizer.get_slot_names(), optimizer.get_slot(w, "m").name, sess.run(optimizer.get_slot(w, "v")),
              [v.name for v in tf.global_variables()], [v.name for v in optimizer.variables()], optimizer.get_name(), sess.run(tf.train.get_global_step())]

# program: Momentum and Nesterov
# not in 2.21: ops
a = tf.get_variable("a", initializer=[1.0, -2.0])
b = tf.get_variable("b", initializer=[1.0, -2.0])
one = tf.train.MomentumOptimizer(0.1, 0.9).minimize(tf.reduce_sum(a * a), var_list=[a])
two = tf.train.MomentumOptimizer(0.1, 0.9, use_nesterov=True, name="Fancy").minimize(tf.reduce_sum(b * b), var_list=[b])
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for _ in range(4):
        sess.run([one, two])
    result = sess.run([a, b]), [v.name for v in tf.global_variables()]

# program: optimizers over resource variables
# not in 2.21: ops
with tf.variable_scope("r", use_resource=True):
    a = tf.get_variable("a", initializer=[1.0, -2.0])
    b = tf.get_variable("b", initializer=[[1.0], [-2.0]])
loss = tf.reduce_sum(a * a) + tf.reduce_sum(b * b * b)
trains = [tf.train.GradientDescentOptimizer(0.05).minimize(loss), tf.train.MomentumOptimizer(0.05, 0.9).minimize(loss), tf.train.AdamOptimizer(0.05).minimize(loss)]
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for train in trains * 2:
        sess.run(train)
    result = sess.run([a, b])

# program: compute and apply gradients by hand
# not in 2.21: ops
w = tf.get_variable("w", initializer=[3.0, 4.0])
b = tf.get_variable("b", initializer=1.0)
unused = tf.get_variable("unused", initializer=1.0)
loss = tf.reduce_sum(w * w) * b
optimizer = tf.train.GradientDescentOptimizer(learning_rate=0.1)
pairs = optimizer.compute_gradients(loss)
clipped = [(tf.clip_by_norm(g, 1.0), v) for g, v in pairs if g is not None]
train = optimizer.apply_gradients(clipped, name="update")
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    sess.run(train)
    result = [sess.run([w, b]), [(None if g is None else g.name, v.name) for g, v in pairs],
              error(lambda: optimizer.apply_gradients([])), error(lambda: optimizer.apply_gradients([(None, w)])),
              error(lambda: optimizer.minimize(tf.constant(1.0))), error(lambda: optimizer.minimize(tf.cast(loss, tf.int32)))]

# program: clip by global norm and decayed learning rate
# not in 2.21: ops
step = tf.Variable(0, trainable=False, name="step")
rate = tf.train.exponential_decay(0.5, step, 2, 0.5, staircase=True)
w = tf.Variable([3.0, 4.0], name="w")
grads = tf.gradients(tf.reduce_sum(w * w), [w])
clipped, norm = tf.clip_by_global_norm(grads, 1.0)
train = tf.train.GradientDescentOptimizer(rate).apply_gradients(zip(clipped, [w]), global_step=step)
out = []
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for _ in range(5):
        out.append(sess.run([norm, rate]))
        sess.run(train)
    result = out, sess.run([w, step])

# program: a multilayer perceptron trains the same way
# not in 2.21: ops
rng = np.random.RandomState(0)
x = tf.placeholder(tf.float32, [None, 8], name="x")
t = tf.placeholder(tf.int64, [None], name="t")
h = x
for i, units in enumerate([16, 16]):
    with tf.variable_scope("layer%d" % i):
        w = tf.get_variable("w", initializer=rng.randn(int(h.shape[1]), units).astype(np.float32) * 0.3)
        b = tf.get_variable("b", [units], initializer=tf.zeros_initializer())
        h = tf.nn.relu(tf.nn.xw_plus_b(h, w, b) if i else tf.matmul(h, w) + b)
w = tf.get_variable("w", initializer=rng.randn(16, 3).astype(np.float32) * 0.3)
logits = tf.matmul(h, w, name="logits")
loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=t, logits=logits))
accuracy = tf.reduce_mean(tf.cast(tf.equal(tf.argmax(logits, 1), t), tf.float32))
train = tf.train.AdamOptimizer(0.01).minimize(loss)
xs = rng.randn(32, 8)
ts = rng.randint(0, 3, 32)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    history = [sess.run([loss, accuracy, train], {x: xs, t: ts})[:2] for _ in range(10)]
result = history

# program: a small convolutional network trains the same way
# not in 2.21: ops
rng = np.random.RandomState(1)
def normal(*shape):
    return (rng.randn(*shape) * 0.1).astype(np.float32)
x = tf.placeholder(tf.float32, [None, 8, 8, 1], name="images")
t = tf.placeholder(tf.float32, [None, 10], name="labels")
with tf.name_scope("conv1"):
    w1 = tf.Variable(normal(3, 3, 1, 4), name="weights")
    b1 = tf.Variable(tf.constant(0.1, shape=[4]), name="bias")
    h1 = tf.nn.relu(tf.nn.conv2d(x, w1, strides=[1, 1, 1, 1], padding="SAME") + b1)
    p1 = tf.nn.max_pool(h1, ksize=[1, 2, 2, 1], strides=[1, 2, 2, 1], padding="SAME")
with tf.name_scope("dense"):
    flat = tf.reshape(p1, [-1, 4 * 4 * 4])
    w2 = tf.Variable(normal(64, 10), name="weights")
    b2 = tf.Variable(tf.zeros([10]), name="bias")
    logits = tf.nn.bias_add(tf.matmul(flat, w2), b2)
with tf.name_scope("loss"):
    loss = tf.reduce_mean(tf.nn.softmax_cross_entropy_with_logits_v2(labels=t, logits=logits))
train = tf.train.MomentumOptimizer(0.05, 0.9).minimize(loss)
feed = {x: rng.rand(6, 8, 8, 1), t: np.eye(10)[rng.randint(0, 10, 6)]}
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    result = [sess.run([train, loss], feed)[1] for _ in range(6)]

# program: exponential moving averages by hand and train op groups
# not in 2.21: ops
w = tf.get_variable("w", initializer=1.0)
average = tf.get_variable("average", initializer=0.0, trainable=False)
train = tf.train.GradientDescentOptimizer(0.1).minimize(w * w)
with tf.control_dependencies([train]):
    update = tf.assign(average, 0.9 * average + 0.1 * w.read_value())
both = tf.group(train, update, name="both")
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for _ in range(3):
        sess.run(both)
    result = [sess.run([w, average]), both.type, sorted(c.name for c in both.control_inputs)]
