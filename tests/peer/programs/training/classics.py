# program: logistic regression with name scopes and accuracy
# not in 2.21: ops
rng = np.random.RandomState(3)
with tf.name_scope("input"):
    x = tf.placeholder(tf.float32, shape=(None, 5), name="features")
    y = tf.placeholder(tf.float32, shape=(None,), name="labels")
with tf.name_scope("model"):
    w = tf.Variable(tf.zeros([5, 1]), name="w")
    b = tf.Variable(tf.zeros([1]), name="b")
    logit = tf.squeeze(tf.matmul(x, w) + b, axis=1)
    p = tf.sigmoid(logit, name="probability")
with tf.name_scope("train"):
    loss = -tf.reduce_mean(y * tf.log(p + 1e-7) + (1 - y) * tf.log(1 - p + 1e-7), name="loss")
    step = tf.train.GradientDescentOptimizer(0.5).minimize(loss)
with tf.name_scope("metrics"):
    correct = tf.equal(tf.cast(p > 0.5, tf.float32), y)
    accuracy = tf.reduce_mean(tf.cast(correct, tf.float32))
xs = rng.randn(40, 5)
ys = (xs.sum(1) > 0).astype(np.float32)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for _ in range(15):
        sess.run(step, feed_dict={x: xs, y: ys})
    result = sess.run([loss, accuracy, w, b], feed_dict={x: xs, y: ys})

# program: an autoencoder with tied weights
# not in 2.21: ops
rng = np.random.RandomState(4)
x = tf.placeholder("float", [None, 6])
w = tf.Variable(rng.randn(6, 3).astype("float32") * 0.5, name="W")
b1 = tf.Variable(tf.zeros([3]))
b2 = tf.Variable(tf.zeros([6]))
code = tf.nn.tanh(tf.add(tf.matmul(x, w), b1))
out = tf.nn.sigmoid(tf.matmul(code, tf.transpose(w)) + b2)
cost = tf.reduce_mean(tf.pow(x - out, 2))
opt = tf.train.AdamOptimizer(learning_rate=0.05).minimize(cost)
data = rng.rand(20, 6)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    costs = [sess.run([opt, cost], {x: data})[1] for _ in range(10)]
    result = costs, sess.run(code, {x: data[:2]})

# program: an unrolled recurrent network
# not in 2.21: ops
rng = np.random.RandomState(5)
steps, batch, width, hidden = 4, 3, 2, 5
x = tf.placeholder(tf.float32, [batch, steps, width], name="x")
target = tf.placeholder(tf.float32, [batch, 1], name="target")
state = tf.zeros([batch, hidden])
with tf.variable_scope("rnn"):
    for t, frame in enumerate(tf.unstack(x, axis=1)):
        if t > 0:
            tf.get_variable_scope().reuse_variables()
        wx = tf.get_variable("wx", initializer=tf.constant(rng.randn(width, hidden).astype(np.float32)) if t == 0 else None, shape=None if t == 0 else [width, hidden])
        wh = tf.get_variable("wh", [hidden, hidden], initializer=tf.constant_initializer(0.1))
        state = tf.tanh(tf.matmul(frame, wx) + tf.matmul(state, wh))
with tf.variable_scope("out"):
    v = tf.get_variable("v", [hidden, 1], initializer=tf.ones_initializer())
    prediction = tf.matmul(state, v)
loss = tf.reduce_sum(tf.squared_difference(prediction, target))
variables = tf.trainable_variables()
grads, norm = tf.clip_by_global_norm(tf.gradients(loss, variables), 1.0)
train = tf.train.GradientDescentOptimizer(0.1).apply_gradients(zip(grads, variables))
feed = {x: rng.randn(batch, steps, width), target: rng.randn(batch, 1)}
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    result = [sess.run([loss, norm, train], feed)[:2] for _ in range(5)]

# program: an LSTM cell by hand
# not in 2.21: ops
def lstm(x, c, h, units, scope):
    with tf.variable_scope(scope, reuse=tf.AUTO_REUSE, initializer=tf.constant_initializer(0.05)):
        kernel = tf.get_variable("kernel", [x.get_shape()[1].value + units, 4 * units])
        bias = tf.get_variable("bias", [4 * units], initializer=tf.zeros_initializer())
        gates = tf.nn.bias_add(tf.matmul(tf.concat([x, h], 1), kernel), bias)
        i, j, f, o = tf.split(gates, 4, axis=1)
        c = c * tf.sigmoid(f + 1.0) + tf.sigmoid(i) * tf.tanh(j)
        return c, tf.tanh(c) * tf.sigmoid(o)
x = tf.placeholder(tf.float32, [2, 3, 4])
c = h = tf.zeros([2, 6])
for t in range(3):
    c, h = lstm(x[:, t, :], c, h, 6, "cell")
grads = tf.gradients(h, tf.trainable_variables())
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    result = sess.run([c, h, grads], {x: np.cos(np.arange(24.0)).reshape(2, 3, 4)})

# program: two networks, two optimizers, two lists of variables
# not in 2.21: ops
rng = np.random.RandomState(6)
def dense(x, n, name, activation=None):
    with tf.variable_scope(name):
        w = tf.get_variable("w", [x.shape[-1], n], initializer=tf.constant_initializer(0.2))
        b = tf.get_variable("b", [n], initializer=tf.constant_initializer(0.0))
        y = tf.matmul(x, w) + b
        return y if activation is None else activation(y)
def generator(z):
    with tf.variable_scope("generator"):
        return dense(dense(z, 4, "h", tf.nn.relu), 2, "out")
def discriminator(x, reuse=None):
    with tf.variable_scope("discriminator", reuse=reuse):
        return dense(dense(x, 4, "h", tf.tanh), 1, "out")
z = tf.placeholder(tf.float32, [None, 3], name="z")
real = tf.placeholder(tf.float32, [None, 2], name="real")
fake = generator(z)
d_real, d_fake = discriminator(real), discriminator(fake, reuse=True)
def xent(logits, value):
    return tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(logits=logits, labels=tf.ones_like(logits) * value))
d_loss = xent(d_real, 1.0) + xent(d_fake, 0.0)
g_loss = xent(d_fake, 1.0)
d_vars = [v for v in tf.trainable_variables() if v.name.startswith("discriminator")]
g_vars = tf.get_collection(tf.GraphKeys.TRAINABLE_VARIABLES, scope="generator")
d_train = tf.train.AdamOptimizer(0.01, beta1=0.5).minimize(d_loss, var_list=d_vars)
g_train = tf.train.AdamOptimizer(0.01, beta1=0.5).minimize(g_loss, var_list=g_vars)
feed = {z: rng.randn(8, 3), real: rng.randn(8, 2) + 2}
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    out = []
    for _ in range(4):
        out.append(sess.run([d_loss, d_train], feed)[0])
        out.append(sess.run([g_loss, g_train], feed)[0])
result = out, [v.name for v in d_vars], [v.name for v in g_vars]

# program: a target network copied by assigns
# not in 2.21: ops
rng = np.random.RandomState(7)
state = tf.placeholder(tf.float32, [None, 3], name="state")
action = tf.placeholder(tf.int32, [None], name="action")
wanted = tf.placeholder(tf.float32, [None], name="wanted")
def network(scope):
    with tf.variable_scope(scope):
        w = tf.get_variable("w", [3, 4], initializer=tf.constant_initializer(np.linspace(-1, 1, 12)))
        v = tf.get_variable("v", [4, 2], initializer=tf.constant_initializer(np.linspace(1, -1, 8)))
        return tf.matmul(tf.nn.relu(tf.matmul(state, w)), v)
q, target = network("online"), network("target")
online = tf.trainable_variables("online")
copy = tf.group(*[t.assign(o) for o, t in zip(online, tf.trainable_variables("target"))], name="copy")
chosen = tf.reduce_sum(q * tf.one_hot(action, 2), 1)
loss = tf.reduce_mean(tf.where(tf.abs(chosen - wanted) < 1.0, 0.5 * tf.square(chosen - wanted), tf.abs(chosen - wanted) - 0.5))
train = tf.train.MomentumOptimizer(0.1, 0.5).minimize(loss, var_list=online)
feed = {state: rng.randn(5, 3), action: [0, 1, 1, 0, 1], wanted: rng.randn(5)}
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    before = sess.run([q, target], feed)
    losses = [sess.run([loss, train], feed)[0] for _ in range(3)]
    apart = sess.run([q, target], feed)
    sess.run(copy)
    after = sess.run([q, target], feed)
result = before, losses, apart, after

# program: embeddings with a softmax over words
# not in 2.21: ops
rng = np.random.RandomState(8)
inputs = tf.placeholder(tf.int32, shape=[None])
labels = tf.placeholder(tf.int32, shape=[None])
with tf.device("/cpu:0"):
    embeddings = tf.Variable(rng.uniform(-1, 1, [10, 4]).astype(np.float32), name="embeddings")
    embed = tf.nn.embedding_lookup(embeddings, inputs)
weights = tf.Variable(tf.truncated_normal([4, 10], stddev=0.5, seed=1) * 0.0 + 0.1)
loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(logits=tf.matmul(embed, weights), labels=labels))
optimizer = tf.train.GradientDescentOptimizer(1.0).minimize(loss)
norm = tf.sqrt(tf.reduce_sum(tf.square(embeddings), 1, keepdims=True))
similarity = tf.matmul(embeddings / norm, embeddings / norm, transpose_b=True)
with tf.Session() as sess:
    tf.global_variables_initializer().run()
    losses = [sess.run([optimizer, loss], {inputs: [1, 2, 2, 7], labels: [2, 3, 1, 0]})[1] for _ in range(5)]
    result = losses, similarity.eval()

# program: towers that share variables, averaged gradients
# not in 2.21: ops
rng = np.random.RandomState(9)
x = tf.placeholder(tf.float32, [4, 3], name="x")
y = tf.placeholder(tf.float32, [4, 1], name="y")
optimizer = tf.train.GradientDescentOptimizer(0.1)
tower_grads = []
with tf.variable_scope(tf.get_variable_scope()):
    for i, (xs, ys) in enumerate(zip(tf.split(x, 2), tf.split(y, 2))):
        with tf.device("/cpu:0"), tf.name_scope("tower_%d" % i) as scope:
            w = tf.get_variable("w", [3, 1], initializer=tf.ones_initializer())
            loss = tf.nn.l2_loss(tf.matmul(xs, w) - ys, name="loss")
            tf.add_to_collection("losses", loss)
            tf.get_variable_scope().reuse_variables()
            tower_grads.append(optimizer.compute_gradients(loss))
average = []
for pairs in zip(*tower_grads):
    stacked = tf.concat([tf.expand_dims(g, 0) for g, _ in pairs], 0)
    average.append((tf.reduce_mean(stacked, 0), pairs[0][1]))
train = optimizer.apply_gradients(average)
total = tf.add_n(tf.get_collection("losses"), name="total")
with tf.Session(config=tf.ConfigProto(allow_soft_placement=True)) as sess:
    sess.run(tf.global_variables_initializer())
    feed = {x: rng.randn(4, 3), y: rng.randn(4, 1)}
    result = [sess.run([total, train], feed)[0] for _ in range(4)], sess.run(w)

# program: k-means in one step
# not in 2.21: ops
points = tf.constant(np.random.RandomState(10).rand(12, 2), tf.float32)
centers = tf.Variable(tf.slice(points, [0, 0], [3, -1]))
distances = tf.reduce_sum(tf.square(tf.expand_dims(points, 0) - tf.expand_dims(centers, 1)), 2)
nearest = tf.argmin(distances, 0) if hasattr(tf, "argmin") else tf.argmax(-distances, 0)
sums = tf.unsorted_segment_sum(points, nearest, 3)
counts = tf.unsorted_segment_sum(tf.ones_like(points), nearest, 3)
update = tf.assign(centers, sums / tf.maximum(counts, 1.0))
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    result = [sess.run(update) for _ in range(3)], sess.run(nearest)

# program: a residual block with batch normalization and moving averages
# not in 2.21: ops
def conv(x, n, name):
    w = tf.get_variable(name, [3, 3, x.shape[3], n], initializer=tf.constant_initializer(np.sin(np.arange(9.0 * int(x.shape[3]) * n))))
    return tf.nn.conv2d(x, w, [1, 1, 1, 1], "SAME")
def norm(x, name, training):
    n = x.get_shape().as_list()[-1]
    with tf.variable_scope(name):
        beta = tf.get_variable("beta", [n], initializer=tf.zeros_initializer())
        gamma = tf.get_variable("gamma", [n], initializer=tf.ones_initializer())
        mean = tf.get_variable("moving_mean", [n], initializer=tf.zeros_initializer(), trainable=False)
        var = tf.get_variable("moving_variance", [n], initializer=tf.ones_initializer(), trainable=False)
        if not training:
            return tf.nn.fused_batch_norm(x, gamma, beta, mean, var, is_training=False)[0]
        y, m, v = tf.nn.fused_batch_norm(x, gamma, beta, epsilon=1e-3)
        for old, new in ((mean, m), (var, v)):
            tf.add_to_collection(tf.GraphKeys.UPDATE_OPS, tf.assign(old, old * 0.9 + new * 0.1))
        return y
def network(x, training, reuse):
    with tf.variable_scope("net", reuse=reuse):
        y = tf.nn.relu(norm(conv(x, 2, "w1"), "n1", training))
        return tf.reduce_mean(tf.nn.relu(x + norm(conv(y, 2, "w2"), "n2", training)), [1, 2])
x = tf.placeholder(tf.float32, [3, 4, 4, 2], name="x")
train_out = network(x, True, None)
test_out = network(x, False, True)
loss = tf.reduce_sum(tf.square(train_out - 1.0))
with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS)):
    train = tf.train.MomentumOptimizer(0.01, 0.9).minimize(loss)
feed = {x: np.cos(np.arange(96.0)).reshape(3, 4, 4, 2)}
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    out = [sess.run([loss, train], feed)[0] for _ in range(3)]
    result = out, sess.run([test_out] + tf.trainable_variables("net/n1"), feed)

# program: a neural style of feeding intermediate tensors
# not in 2.21: ops
x = tf.placeholder(tf.float32, [None, 2], name="x")
h = tf.nn.relu(tf.matmul(x, [[1.0, -1.0], [0.5, 2.0]]), name="h")
y = tf.reduce_sum(h, 1, name="y")
g = tf.gradients(y, h)[0]
with tf.Session() as sess:
    result = [sess.run(y, {h: [[1.0, 2.0], [3.0, 4.0]]}), sess.run([h, y], {x: [[1.0, 1.0]]}), sess.run(g, {h: [[5.0, 6.0]]}), sess.run("y:0", {"h:0": [[0.0, 1.0]]})]

# program: RMSProp
# not in 2.21: ops
w = tf.get_variable("w", initializer=[1.0, 2.0])
r = tf.get_variable("r", initializer=[1.0, 2.0], use_resource=True)
train = tf.train.RMSPropOptimizer(0.1, momentum=0.5).minimize(tf.reduce_sum(w * w) + tf.reduce_sum(r * r))
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for _ in range(3):
        sess.run(train)
    result = sess.run([w, r]), [v.name for v in tf.global_variables()]

# program: summaries are bytes
x = tf.placeholder(tf.float32, [], name="x")
with tf.name_scope("losses"):
    a = tf.summary.scalar("loss", x)
b = tf.summary.scalar("learning rate", x * 0.1)
c = tf.summary.histogram("values", tf.stack([x, x + 1.0, -x]))
merged = tf.summary.merge_all()
two = tf.summary.merge([a, b])
with tf.Session() as sess:
    result = [a.name, b.name, c.name, merged.name, sess.run([a, b, two], {x: 2.0})]

# program: strings
a = tf.placeholder(tf.string, [None], name="a")
j = tf.string_join([a, "x", tf.constant("y")], separator="-", name="j")
e = tf.equal(a, "b")
s = tf.stack([a, a])
with tf.Session() as sess:
    result = sess.run([j, e, s, a[0], tf.size(a)], {a: ["b", "\u00e9"]})

# program: shuffling queues
q = tf.RandomShuffleQueue(10, 2, [tf.int32, tf.string], shapes=[[], []], seed=1)
put = q.enqueue_many([[1, 2, 3, 4], ["a", "b", "c", "d"]])
number, text = q.dequeue()
with tf.Session() as sess:
    sess.run(put)
    two = sorted(sess.run([number, text])[0] for _ in range(2))
    result = [len(two), sess.run(q.size()), number.get_shape(), text.dtype, q.names, [str(d) for d in q.dtypes]]

# program: nested control flow over a variable
# compare: error values
v = tf.get_variable("v", initializer=0.0, use_resource=True)
def body(i, s):
    add = tf.cond(tf.equal(i % 2, 0), lambda: 1.0, lambda: -0.5)
    with tf.control_dependencies([v.assign_add(add)]):
        return i + 1, s + add * 2.0
i, s = tf.while_loop(lambda i, s: i < 6, body, [0, 0.0])
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    result = sess.run([i, s]), sess.run(v)

# program: gradient through a loop over a sequence
# compare: error values
x = tf.placeholder(tf.float32, [5], name="x")
w = tf.get_variable("w", initializer=0.5)
def body(t, h):
    return t + 1, tf.tanh(w * h + x[t])
_, h = tf.while_loop(lambda t, h: t < 5, body, [0, 0.0])
gw, gx = tf.gradients(h, [w, x])
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    result = sess.run([h, gw, gx], {x: [0.1, -0.2, 0.3, 0.4, -0.5]})

# program: case, map_fn and scan style loops by hand
# compare: error values
x = tf.placeholder(tf.int32, [], name="x")
y = tf.case([(x < 0, lambda: tf.constant(-1)), (x > 10, lambda: tf.constant(10))], default=lambda: x * 2, exclusive=False)
z = tf.map_fn(lambda v: v * v, tf.constant([1.0, 2.0, 3.0]))
with tf.Session() as sess:
    result = [sess.run(y, {x: k}) for k in (-5, 3, 20)], sess.run(z)
