# program: linear regression the first tutorial way
# not in 2.21: ops
rng = np.random
rng.seed(0)
train_X = np.asarray([3.3, 4.4, 5.5, 6.71, 6.93, 4.168, 9.779, 6.182, 7.59, 2.167])
train_Y = np.asarray([1.7, 2.76, 2.09, 3.19, 1.694, 1.573, 3.366, 2.596, 2.53, 1.221])
n_samples = train_X.shape[0]
X = tf.placeholder("float")
Y = tf.placeholder("float")
W = tf.Variable(rng.randn(), name="weight")
b = tf.Variable(rng.randn(), name="bias")
pred = tf.add(tf.multiply(X, W), b)
cost = tf.reduce_sum(tf.pow(pred - Y, 2)) / (2 * n_samples)
optimizer = tf.train.GradientDescentOptimizer(0.01).minimize(cost)
init = tf.global_variables_initializer()
with tf.Session() as sess:
    sess.run(init)
    for epoch in range(3):
        for (x, y) in zip(train_X, train_Y):
            sess.run(optimizer, feed_dict={X: x, Y: y})
    result = sess.run(cost, feed_dict={X: train_X, Y: train_Y}), sess.run(W), sess.run(b)

# program: softmax regression on mnist-like data
# not in 2.21: ops
rs = np.random.RandomState(1)
x = tf.placeholder(tf.float32, [None, 16])
y_ = tf.placeholder(tf.float32, [None, 4])
W = tf.Variable(tf.zeros([16, 4]))
b = tf.Variable(tf.zeros([4]))
y = tf.nn.softmax(tf.matmul(x, W) + b)
cross_entropy = tf.reduce_mean(-tf.reduce_sum(y_ * tf.log(y), reduction_indices=[1]))
train_step = tf.train.GradientDescentOptimizer(0.5).minimize(cross_entropy)
correct_prediction = tf.equal(tf.argmax(y, 1), tf.argmax(y_, 1))
accuracy = tf.reduce_mean(tf.cast(correct_prediction, tf.float32))
xs = rs.rand(30, 16); ys = np.eye(4)[rs.randint(0, 4, 30)]
sess = tf.InteractiveSession()
tf.initialize_all_variables().run()
for _ in range(5):
    train_step.run({x: xs, y_: ys})
result = accuracy.eval({x: xs, y_: ys}), cross_entropy.eval({x: xs, y_: ys}), W.eval()
sess.close()

# program: deep mnist for experts
# not in 2.21: ops
rs = np.random.RandomState(2)
def weight_variable(shape):
    initial = tf.truncated_normal(shape, stddev=0.1, seed=11)
    return tf.Variable(initial)
def bias_variable(shape):
    initial = tf.constant(0.1, shape=shape)
    return tf.Variable(initial)
def conv2d(x, W):
    return tf.nn.conv2d(x, W, strides=[1, 1, 1, 1], padding='SAME')
def max_pool_2x2(x):
    return tf.nn.max_pool(x, ksize=[1, 2, 2, 1], strides=[1, 2, 2, 1], padding='SAME')
x = tf.placeholder(tf.float32, shape=[None, 64])
y_ = tf.placeholder(tf.float32, shape=[None, 10])
x_image = tf.reshape(x, [-1, 8, 8, 1])
W_conv1 = weight_variable([5, 5, 1, 4])
b_conv1 = bias_variable([4])
h_conv1 = tf.nn.relu(conv2d(x_image, W_conv1) + b_conv1)
h_pool1 = max_pool_2x2(h_conv1)
W_conv2 = weight_variable([5, 5, 4, 8])
b_conv2 = bias_variable([8])
h_conv2 = tf.nn.relu(conv2d(h_pool1, W_conv2) + b_conv2)
h_pool2 = max_pool_2x2(h_conv2)
W_fc1 = weight_variable([2 * 2 * 8, 16])
b_fc1 = bias_variable([16])
h_pool2_flat = tf.reshape(h_pool2, [-1, 2*2*8])
h_fc1 = tf.nn.relu(tf.matmul(h_pool2_flat, W_fc1) + b_fc1)
keep_prob = tf.placeholder(tf.float32)
h_fc1_drop = tf.nn.dropout(h_fc1, keep_prob)
W_fc2 = weight_variable([16, 10])
b_fc2 = bias_variable([10])
y_conv = tf.matmul(h_fc1_drop, W_fc2) + b_fc2
cross_entropy = tf.reduce_mean(tf.nn.softmax_cross_entropy_with_logits(labels=y_, logits=y_conv))
train_step = tf.train.AdamOptimizer(1e-3).minimize(cross_entropy)
accuracy = tf.reduce_mean(tf.cast(tf.equal(tf.argmax(y_conv, 1), tf.argmax(y_, 1)), tf.float32))
xs = rs.rand(12, 64); ys = np.eye(10)[rs.randint(0, 10, 12)]
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    first = sess.run(W_conv1).tobytes()
    for i in range(4):
        train_step.run(feed_dict={x: xs, y_: ys, keep_prob: 1.0})
    result = first, sess.run([cross_entropy, accuracy, W_fc2], {x: xs, y_: ys, keep_prob: 1.0})

# program: a cifar network with weight decay and collections of losses
# compare: error values
# not in 2.21: ops
rs = np.random.RandomState(3)
def _variable_on_cpu(name, shape, initializer):
    with tf.device('/cpu:0'):
        var = tf.get_variable(name, shape, initializer=initializer, dtype=tf.float32)
    return var
def _variable_with_weight_decay(name, shape, stddev, wd):
    var = _variable_on_cpu(name, shape, tf.truncated_normal_initializer(stddev=stddev, seed=7, dtype=tf.float32))
    if wd is not None:
        weight_decay = tf.multiply(tf.nn.l2_loss(var), wd, name='weight_loss')
        tf.add_to_collection('losses', weight_decay)
    return var
def inference(images):
    with tf.variable_scope('conv1') as scope:
        kernel = _variable_with_weight_decay('weights', shape=[3, 3, 3, 4], stddev=5e-2, wd=None)
        conv = tf.nn.conv2d(images, kernel, [1, 1, 1, 1], padding='SAME')
        biases = _variable_on_cpu('biases', [4], tf.constant_initializer(0.0))
        pre_activation = tf.nn.bias_add(conv, biases)
        conv1 = tf.nn.relu(pre_activation, name=scope.name)
    pool1 = tf.nn.max_pool(conv1, ksize=[1, 3, 3, 1], strides=[1, 2, 2, 1], padding='SAME', name='pool1')
    norm1 = tf.nn.lrn(pool1, 4, bias=1.0, alpha=0.001 / 9.0, beta=0.75, name='norm1')
    with tf.variable_scope('local3') as scope:
        reshape = tf.reshape(norm1, [images.get_shape().as_list()[0], -1])
        dim = reshape.get_shape()[1].value
        weights = _variable_with_weight_decay('weights', shape=[dim, 6], stddev=0.04, wd=0.004)
        biases = _variable_on_cpu('biases', [6], tf.constant_initializer(0.1))
        local3 = tf.nn.relu(tf.matmul(reshape, weights) + biases, name=scope.name)
    with tf.variable_scope('softmax_linear') as scope:
        weights = _variable_with_weight_decay('weights', [6, 5], stddev=1/6.0, wd=None)
        biases = _variable_on_cpu('biases', [5], tf.constant_initializer(0.0))
        softmax_linear = tf.add(tf.matmul(local3, weights), biases, name=scope.name)
    return softmax_linear
def loss(logits, labels):
    labels = tf.cast(labels, tf.int64)
    cross_entropy = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits, name='cross_entropy_per_example')
    cross_entropy_mean = tf.reduce_mean(cross_entropy, name='cross_entropy')
    tf.add_to_collection('losses', cross_entropy_mean)
    return tf.add_n(tf.get_collection('losses'), name='total_loss')
global_step = tf.train.get_or_create_global_step()
images = tf.constant(rs.rand(4, 6, 6, 3), tf.float32)
labels = tf.constant([0, 2, 4, 1])
logits = inference(images)
total_loss = loss(logits, labels)
loss_averages = tf.train.ExponentialMovingAverage(0.9, name='avg')
loss_averages_op = loss_averages.apply(tf.get_collection('losses') + [total_loss])
with tf.control_dependencies([loss_averages_op]):
    lr = tf.train.exponential_decay(0.1, global_step, 2, 0.5, staircase=True)
    opt = tf.train.GradientDescentOptimizer(lr)
    grads = opt.compute_gradients(total_loss)
apply_gradient_op = opt.apply_gradients(grads, global_step=global_step)
variable_averages = tf.train.ExponentialMovingAverage(0.99, global_step)
with tf.control_dependencies([apply_gradient_op]):
    variables_averages_op = variable_averages.apply(tf.trainable_variables())
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    out = [sess.run([total_loss, variables_averages_op, lr])[::2] for _ in range(4)]
    result = out, sess.run(tf.global_variables()), sorted(variable_averages.variables_to_restore()), tf.train.global_step(sess, global_step)

# program: skip-gram with sampled negatives by hand and normalized embeddings
# not in 2.21: ops
vocabulary_size, embedding_size = 20, 6
with tf.name_scope('inputs'):
    train_inputs = tf.placeholder(tf.int32, shape=[8])
    train_labels = tf.placeholder(tf.int32, shape=[8, 1])
    valid_dataset = tf.constant([1, 3, 5], dtype=tf.int32)
with tf.device('/cpu:0'):
    with tf.name_scope('embeddings'):
        embeddings = tf.Variable(tf.random_uniform([vocabulary_size, embedding_size], -1.0, 1.0, seed=5))
        embed = tf.nn.embedding_lookup(embeddings, train_inputs)
    with tf.name_scope('weights'):
        nce_weights = tf.Variable(tf.truncated_normal([vocabulary_size, embedding_size], stddev=1.0 / np.sqrt(embedding_size), seed=6))
    with tf.name_scope('biases'):
        nce_biases = tf.Variable(tf.zeros([vocabulary_size]))
with tf.name_scope('loss'):
    true_w = tf.nn.embedding_lookup(nce_weights, tf.reshape(train_labels, [-1]))
    true_b = tf.nn.embedding_lookup(nce_biases, tf.reshape(train_labels, [-1]))
    noise = tf.constant([0, 7, 9])
    noise_w = tf.gather(nce_weights, noise)
    true_logits = tf.reduce_sum(embed * true_w, 1) + true_b
    noise_logits = tf.matmul(embed, noise_w, transpose_b=True) + tf.gather(nce_biases, noise)
    true_xent = tf.nn.sigmoid_cross_entropy_with_logits(labels=tf.ones_like(true_logits), logits=true_logits)
    noise_xent = tf.nn.sigmoid_cross_entropy_with_logits(labels=tf.zeros_like(noise_logits), logits=noise_logits)
    loss = (tf.reduce_sum(true_xent) + tf.reduce_sum(noise_xent)) / 8
with tf.name_scope('optimizer'):
    opt = tf.train.AdagradOptimizer(1.0)
    gvs = opt.compute_gradients(loss)
    capped = [(tf.clip_by_norm(g, 5.0), v) for g, v in gvs if g is not None]
    kinds = [type(g).__name__ for g, _ in gvs]
    optimizer = opt.apply_gradients(capped)
norm = tf.sqrt(tf.reduce_sum(tf.square(embeddings), 1, keepdims=True))
normalized_embeddings = embeddings / norm
valid_embeddings = tf.nn.embedding_lookup(normalized_embeddings, valid_dataset)
similarity = tf.matmul(valid_embeddings, normalized_embeddings, transpose_b=True)
feed = {train_inputs: [1, 2, 3, 1, 2, 5, 6, 7], train_labels: np.arange(8).reshape(8, 1)}
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    losses = [sess.run([optimizer, loss], feed)[1] for _ in range(4)]
    result = losses, sess.run(similarity), kinds

# program: a dynamic rnn by hand with masking by lengths
# not in 2.21: ops
rs = np.random.RandomState(5)
x = tf.placeholder(tf.float32, [None, 4, 3], name="seq")
lengths = tf.placeholder(tf.int32, [None], name="len")
mask = tf.sequence_mask(lengths, 4, dtype=tf.float32)
batch = tf.shape(x)[0]
h = tf.zeros(tf.stack([batch, 5]))
h.set_shape([None, 5])
class GRU(object):
    def __init__(self, n):
        self.n = n
    def __call__(self, x, h, scope=None):
        with tf.variable_scope(scope or type(self).__name__):
            with tf.variable_scope("gates"):
                W = tf.get_variable("W", [x.get_shape()[-1].value + self.n, 2 * self.n], initializer=tf.constant_initializer(0.07))
                b = tf.get_variable("b", [2 * self.n], initializer=tf.constant_initializer(1.0))
                r, u = tf.split(axis=1, num_or_size_splits=2, value=tf.sigmoid(tf.matmul(tf.concat([x, h], 1), W) + b))
            with tf.variable_scope("candidate"):
                W = tf.get_variable("W", [x.get_shape()[-1].value + self.n, self.n], initializer=tf.constant_initializer(-0.1))
                c = tf.tanh(tf.matmul(tf.concat([x, r * h], 1), W))
            return u * h + (1 - u) * c
cell = GRU(5)
outputs = []
with tf.variable_scope("RNN") as scope:
    for t in range(4):
        if t > 0: scope.reuse_variables()
        new = cell(x[:, t], h)
        m = mask[:, t:t + 1]
        h = m * new + (1. - m) * h
        outputs.append(h)
seq = tf.stack(outputs, axis=1)
last = tf.gather_nd(seq, tf.stack([tf.range(batch), tf.maximum(lengths - 1, 0)], 1))
loss = tf.reduce_mean(tf.square(last)) + 1e-3 * tf.add_n([tf.nn.l2_loss(v) for v in tf.trainable_variables()])
tvars = tf.trainable_variables()
grads, _ = tf.clip_by_global_norm(tf.gradients(loss, tvars), 0.5)
train_op = tf.train.AdamOptimizer(0.01).apply_gradients(zip(grads, tvars), global_step=tf.train.get_or_create_global_step())
feed = {x: rs.randn(3, 4, 3), lengths: [1, 4, 2]}
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for _ in range(3): sess.run(train_op, feed)
    result = sess.run([last, h, loss, seq], feed), [v.op.name for v in tvars]

# program: a char rnn that samples
# not in 2.21: ops
tf.set_random_seed(1)
vocab = 7
inp = tf.placeholder(tf.int32, [2, 3])
tgt = tf.placeholder(tf.int32, [2, 3])
init_state = tf.placeholder(tf.float32, [2, 4])
x_oh = tf.one_hot(inp, vocab)
inputs = tf.unstack(x_oh, axis=1)
Wx = tf.get_variable("Wx", [vocab, 4], initializer=tf.random_normal_initializer(stddev=.1))
Wh = tf.get_variable("Wh", [4, 4], initializer=tf.random_normal_initializer(stddev=.1))
Wy = tf.get_variable("Wy", [4, vocab], initializer=tf.random_normal_initializer(stddev=.1))
bh = tf.get_variable("bh", [4], initializer=tf.zeros_initializer)
hs = init_state
ys = []
for xt in inputs:
    hs = tf.tanh(tf.matmul(xt, Wx) + tf.matmul(hs, Wh) + bh)
    ys.append(tf.matmul(hs, Wy))
targets = tf.unstack(tgt, axis=1)
losses = [tf.nn.sparse_softmax_cross_entropy_with_logits(logits=l, labels=t) for l, t in zip(ys, targets)]
loss = tf.reduce_mean(losses)
sample = tf.multinomial(ys[-1], 3)
opt = tf.train.RMSPropOptimizer(0.01, decay=0.9, momentum=0.1, epsilon=1e-8)
gv = opt.compute_gradients(loss)
train = opt.apply_gradients([(tf.clip_by_value(g, -5.0, 5.0), v) for g, v in gv])
feed = {inp: [[0, 1, 2], [3, 4, 5]], tgt: [[1, 2, 3], [4, 5, 6]], init_state: np.zeros((2, 4))}
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    a = sess.run([Wx, Wh])
    s1 = sess.run(sample, feed)
    for _ in range(3):
        l, hv, _ = sess.run([loss, hs, train], feed)
    result = [v.tobytes() for v in a], s1, l, hv, sess.run([Wy, bh])

# program: a variational autoencoder
# not in 2.21: ops
tf.set_random_seed(42)
rs = np.random.RandomState(8)
x = tf.placeholder(tf.float32, [None, 8], name='x')
def xavier_init(size):
    return tf.random_normal(shape=size, stddev=1. / tf.sqrt(size[0] / 2.))
Q_W1 = tf.Variable(xavier_init([8, 6])); Q_b1 = tf.Variable(tf.zeros(shape=[6]))
Q_W2_mu = tf.Variable(xavier_init([6, 2])); Q_b2_mu = tf.Variable(tf.zeros(shape=[2]))
Q_W2_s = tf.Variable(xavier_init([6, 2])); Q_b2_s = tf.Variable(tf.zeros(shape=[2]))
P_W1 = tf.Variable(xavier_init([2, 6])); P_b1 = tf.Variable(tf.zeros(shape=[6]))
P_W2 = tf.Variable(xavier_init([6, 8])); P_b2 = tf.Variable(tf.zeros(shape=[8]))
def Q(X):
    h = tf.nn.relu(tf.matmul(X, Q_W1) + Q_b1)
    return tf.matmul(h, Q_W2_mu) + Q_b2_mu, tf.matmul(h, Q_W2_s) + Q_b2_s
def P(z):
    h = tf.nn.relu(tf.matmul(z, P_W1) + P_b1)
    logits = tf.matmul(h, P_W2) + P_b2
    return tf.nn.sigmoid(logits), logits
z_mu, z_logvar = Q(x)
eps = tf.random_normal(shape=tf.shape(z_mu))
z_sample = z_mu + tf.exp(z_logvar / 2) * eps
_, logits = P(z_sample)
recon = tf.reduce_sum(tf.nn.sigmoid_cross_entropy_with_logits(logits=logits, labels=x), 1)
kl = 0.5 * tf.reduce_sum(tf.exp(z_logvar) + z_mu**2 - 1. - z_logvar, 1)
vae_loss = tf.reduce_mean(recon + kl)
solver = tf.train.AdamOptimizer().minimize(vae_loss)
data = rs.rand(5, 8)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    losses = [sess.run([solver, vae_loss], {x: data})[1] for _ in range(5)]
    result = losses, sess.run([z_mu, Q_W1], {x: data})

# program: WGAN with weight clipping and gradient penalty
# not in 2.21: ops
rs = np.random.RandomState(9)
real_data = tf.placeholder(tf.float32, shape=[4, 3])
noise = tf.placeholder(tf.float32, shape=[4, 2])
alpha = tf.placeholder_with_default(np.full((4, 1), 0.25, np.float32), [4, 1])
def lin(scope, x, n):
    with tf.variable_scope(scope, reuse=tf.AUTO_REUSE):
        w = tf.get_variable('W', [x.shape[1].value, n], initializer=tf.random_uniform_initializer(-.5, .5, seed=3))
        b = tf.get_variable('b', n, initializer=tf.zeros_initializer())
        return tf.nn.xw_plus_b(x, w, b)
def G(z): return lin('G/2', tf.nn.leaky_relu(lin('G/1', z, 5)), 3)
def D(x): return tf.reshape(lin('D/2', tf.nn.softplus(lin('D/1', x, 5)), 1), [-1])
fake = G(noise)
disc_real, disc_fake = D(real_data), D(fake)
gen_cost = -tf.reduce_mean(disc_fake)
disc_cost = tf.reduce_mean(disc_fake) - tf.reduce_mean(disc_real)
interp = real_data + alpha * (fake - real_data)
gradients = tf.gradients(D(interp), [interp])[0]
slopes = tf.sqrt(tf.reduce_sum(tf.square(gradients), reduction_indices=[1]))
gp = tf.reduce_mean((slopes - 1.) ** 2)
disc_cost += 10 * gp
gp_vars = [v for v in tf.trainable_variables() if 'D/' in v.name]
gen_vars = [v for v in tf.trainable_variables() if 'G/' in v.name]
gen_train = tf.train.AdamOptimizer(1e-2, 0.5, 0.9).minimize(gen_cost, var_list=gen_vars)
disc_train = tf.train.AdamOptimizer(1e-2, 0.5, 0.9).minimize(disc_cost, var_list=gp_vars)
with tf.name_scope('clip'):
    clip = tf.group(*[tf.assign(v, tf.clip_by_value(v, -.4, .4)) for v in gp_vars])
feed = {real_data: rs.randn(4, 3), noise: rs.randn(4, 2)}
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    out = []
    for _ in range(3):
        out.append(sess.run([disc_cost, gp], feed))
        sess.run(disc_train, feed)
        sess.run(clip)
        out.append(sess.run(gen_cost, feed))
        sess.run(gen_train, feed)
    result = out, sess.run(tf.trainable_variables())

# program: batch norm by hand with update ops and a placeholder for training
# compare: error values
rs = np.random.RandomState(10)
def batch_norm(x, is_training, scope, decay=0.9, eps=1e-3):
    with tf.variable_scope(scope):
        n = x.get_shape().as_list()[-1]
        gamma = tf.get_variable('gamma', [n], initializer=tf.ones_initializer())
        beta = tf.get_variable('beta', [n], initializer=tf.zeros_initializer())
        mm = tf.get_variable('moving_mean', [n], initializer=tf.zeros_initializer(), trainable=False)
        mv = tf.get_variable('moving_variance', [n], initializer=tf.ones_initializer(), trainable=False)
        def train():
            mean, var = tf.nn.moments(x, list(range(len(x.shape) - 1)), name='moments')
            up_m = tf.assign(mm, mm * decay + mean * (1 - decay))
            up_v = tf.assign(mv, mv * decay + var * (1 - decay))
            with tf.control_dependencies([up_m, up_v]):
                return tf.identity(mean), tf.identity(var)
        mean, var = tf.cond(is_training, train, lambda: (mm.read_value(), mv.read_value()))
        return tf.nn.batch_normalization(x, mean, var, beta, gamma, eps)
is_training = tf.placeholder(tf.bool, [], name='is_training')
x = tf.placeholder(tf.float32, [None, 3, 3, 2])
y = batch_norm(x, is_training, 'bn')
loss = tf.reduce_sum(y * y * tf.constant([0.5, 2.0]))
train = tf.train.GradientDescentOptimizer(0.01).minimize(loss)
data = rs.randn(4, 3, 3, 2) * 2 + 1
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for _ in range(3): sess.run(train, {x: data, is_training: True})
    vs = {v.op.name: v for v in tf.global_variables()}
    result = sess.run(y, {x: data, is_training: False}), sess.run(vs)

# program: batch norm with update ops in a collection and a moving average class
# not in 2.21: ops
x = tf.placeholder(tf.float32, [None, 4])
decay = 0.8
with tf.variable_scope("bn"):
    beta = tf.Variable(tf.constant(0.0, shape=[4]), name='beta', trainable=True)
    gamma = tf.Variable(tf.constant(1.0, shape=[4]), name='gamma', trainable=True)
    batch_mean, batch_var = tf.nn.moments(x, [0], name='moments')
    ema = tf.train.ExponentialMovingAverage(decay=decay)
    ema_apply = ema.apply([batch_mean, batch_var])
    tf.add_to_collection(tf.GraphKeys.UPDATE_OPS, ema_apply)
    normed = tf.nn.batch_normalization(x, batch_mean, batch_var, beta, gamma, 1e-3)
    test = tf.nn.batch_normalization(x, ema.average(batch_mean), ema.average(batch_var), beta, gamma, 1e-3)
loss = tf.reduce_mean(tf.abs(normed - 1.0))
with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS)):
    train_op = tf.train.MomentumOptimizer(0.1, 0.9, use_nesterov=True).minimize(loss)
data = np.random.RandomState(0).randn(6, 4) * 3 + 2
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for _ in range(3): sess.run(train_op, {x: data})
    result = sess.run([normed, test, loss, ema.average(batch_mean)], {x: data}), ema.average_name(batch_var)

# program: towers on devices with averaged gradients as in cifar10 multi gpu
# not in 2.21: ops
def average_gradients(tower_grads):
    average_grads = []
    for grad_and_vars in zip(*tower_grads):
        grads = []
        for g, _ in grad_and_vars:
            grads.append(tf.expand_dims(g, 0))
        grad = tf.reduce_mean(tf.concat(axis=0, values=grads), 0)
        average_grads.append((grad, grad_and_vars[0][1]))
    return average_grads
with tf.device('/cpu:0'):
    global_step = tf.get_variable('global_step', [], initializer=tf.constant_initializer(0), trainable=False)
    opt = tf.train.GradientDescentOptimizer(0.1)
    tower_grads = []
    data = tf.placeholder(tf.float32, [4, 3])
    shards = tf.split(data, 2, 0)
    with tf.variable_scope(tf.get_variable_scope()):
        for i in range(2):
            with tf.device('/cpu:%d' % i):
                with tf.name_scope('%s_%d' % ('tower', i)) as scope:
                    w = tf.get_variable('w', [3, 2], initializer=tf.constant_initializer(0.3))
                    b = tf.get_variable('b', [2], initializer=tf.constant_initializer(0.1))
                    loss = tf.reduce_mean(tf.square(tf.nn.relu(tf.matmul(shards[i], w) + b) - 1.0))
                    tf.add_to_collection('losses', loss)
                    total = tf.add_n(tf.get_collection('losses', scope), name='total_loss')
                    tf.get_variable_scope().reuse_variables()
                    tower_grads.append(opt.compute_gradients(total))
    grads = average_gradients(tower_grads)
    apply_op = opt.apply_gradients(grads, global_step=global_step)
config = tf.ConfigProto(allow_soft_placement=True, device_count={'CPU': 2})
with tf.Session(config=config) as sess:
    sess.run(tf.global_variables_initializer())
    feed = {data: np.arange(12.).reshape(4, 3) / 6 - 1}
    out = [sess.run([apply_op, loss, total], feed)[1:] for _ in range(3)]
    result = out, sess.run([w, b, global_step])

# program: REINFORCE on a toy problem
# not in 2.21: ops
tf.set_random_seed(3)
observations = tf.placeholder(tf.float32, [None, 4], name="input_x")
W1 = tf.get_variable("W1", shape=[4, 5], initializer=tf.glorot_uniform_initializer())
layer1 = tf.nn.relu(tf.matmul(observations, W1))
W2 = tf.get_variable("W2", shape=[5, 1], initializer=tf.glorot_uniform_initializer())
score = tf.matmul(layer1, W2)
probability = tf.nn.sigmoid(score)
tvars = tf.trainable_variables()
input_y = tf.placeholder(tf.float32, [None, 1], name="input_y")
advantages = tf.placeholder(tf.float32, name="reward_signal")
loglik = tf.log(input_y * (input_y - probability) + (1 - input_y) * (input_y + probability))
loss = -tf.reduce_mean(loglik * advantages)
newGrads = tf.gradients(loss, tvars)
adam = tf.train.AdamOptimizer(learning_rate=1e-2)
W1Grad = tf.placeholder(tf.float32, name="batch_grad1")
W2Grad = tf.placeholder(tf.float32, name="batch_grad2")
updateGrads = adam.apply_gradients(zip([W1Grad, W2Grad], tvars))
rs = np.random.RandomState(1)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    gradBuffer = sess.run(tvars)
    first = [g.tobytes() for g in gradBuffer]
    for ix, grad in enumerate(gradBuffer): gradBuffer[ix] = grad * 0
    for episode in range(3):
        xs = rs.randn(5, 4); ys = (rs.rand(5, 1) > 0.5).astype(float); adv = rs.randn(5, 1)
        tGrad = sess.run(newGrads, feed_dict={observations: xs, input_y: ys, advantages: adv})
        for ix, grad in enumerate(tGrad): gradBuffer[ix] += grad
    sess.run(updateGrads, feed_dict={W1Grad: gradBuffer[0], W2Grad: gradBuffer[1]})
    result = first, gradBuffer, sess.run([W1, W2])

# program: actor critic with entropy and a categorical sample
# not in 2.21: ops
tf.set_random_seed(7)
rs = np.random.RandomState(4)
s = tf.placeholder(tf.float32, [None, 3], "state")
a = tf.placeholder(tf.int32, [None], "act")
td = tf.placeholder(tf.float32, [None], "td_error")
with tf.variable_scope('Actor'):
    l1w = tf.get_variable('l1w', [3, 8], initializer=tf.random_normal_initializer(0., .1))
    l1 = tf.nn.relu6(tf.matmul(s, l1w))
    lw = tf.get_variable('lw', [8, 4], initializer=tf.random_normal_initializer(0., .1))
    logits = tf.matmul(l1, lw)
    acts_prob = tf.nn.softmax(logits, name='acts_prob')
    action = tf.squeeze(tf.random.categorical(logits, 1, dtype=tf.int32), axis=1)
with tf.variable_scope('exp_v'):
    log_prob = tf.log(tf.gather_nd(acts_prob, tf.stack([tf.range(tf.shape(a)[0]), a], axis=1)) + 1e-5)
    entropy = -tf.reduce_sum(acts_prob * tf.log(acts_prob + 1e-5), axis=1, keep_dims=True)
    exp_v = tf.reduce_mean(log_prob * tf.stop_gradient(td) + 0.01 * tf.squeeze(entropy, 1))
with tf.variable_scope('train'):
    train_op = tf.train.RMSPropOptimizer(0.01).minimize(-exp_v)
feed = {s: rs.randn(6, 3), a: [0, 1, 2, 3, 0, 1], td: rs.randn(6)}
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    acts = [sess.run(action, feed) for _ in range(3)]
    vals = [sess.run([exp_v, train_op], feed)[0] for _ in range(3)]
    result = acts, vals, sess.run(acts_prob, feed)

# program: attention with masks and positional encodings
# not in 2.21: ops
rs = np.random.RandomState(12)
d, heads = 8, 2
def split_heads(x):
    x = tf.reshape(x, [tf.shape(x)[0], tf.shape(x)[1], heads, d // heads])
    return tf.transpose(x, [0, 2, 1, 3])
def attention(q, k, v, bias):
    logits = tf.matmul(q, k, transpose_b=True) * (d // heads) ** -0.5
    logits += bias
    w = tf.nn.softmax(logits, name="attention_weights")
    return tf.matmul(w, v), w
ids = tf.placeholder(tf.int64, [None, None], "ids")
with tf.variable_scope("embed"):
    table = tf.get_variable("table", [10, d], initializer=tf.constant_initializer(rs.randn(10, d) * .3))
    x = tf.gather(table, ids) * d ** 0.5
    pad = tf.to_float(tf.equal(ids, 0))
    x *= tf.expand_dims(1 - pad, -1)
    length = tf.shape(ids)[1]
    position = tf.to_float(tf.range(length))
    inv = 1.0 * tf.exp(tf.to_float(tf.range(d // 2)) * -(np.log(1e4) / (d // 2 - 1)))
    scaled = tf.expand_dims(position, 1) * tf.expand_dims(inv, 0)
    x += tf.concat([tf.sin(scaled), tf.cos(scaled)], axis=1)
bias = tf.expand_dims(tf.expand_dims(pad * -1e9, 1), 1)
causal = -1e9 * (1.0 - tf.matrix_band_part(tf.ones([length, length]), -1, 0))
with tf.variable_scope("self"):
    qkv = [tf.tensordot(x, tf.get_variable(n, [d, d], initializer=tf.constant_initializer(rs.randn(d, d) * .2)), [[2], [0]]) for n in "qkv"]
    out, w = attention(*[split_heads(t) for t in qkv], bias=bias + causal)
    out = tf.reshape(tf.transpose(out, [0, 2, 1, 3]), [-1, length, d])
mean = tf.reduce_mean(out, axis=[-1], keepdims=True)
variance = tf.reduce_mean(tf.square(out - mean), axis=[-1], keepdims=True)
norm = (out - mean) * tf.rsqrt(variance + 1e-6) + x
logits = tf.einsum('btd,vd->btv', norm, table)
weights = 1.0 - pad
xent = tf.nn.softmax_cross_entropy_with_logits_v2(logits=logits, labels=tf.one_hot(ids, 10, on_value=0.9, off_value=0.1 / 9))
loss = tf.reduce_sum(xent * weights) / tf.reduce_sum(weights)
grads = tf.gradients(loss, tf.trainable_variables())
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    f = {ids: [[1, 2, 3, 0], [4, 5, 0, 0], [9, 8, 7, 6]]}
    result = sess.run([loss, w, logits] + [tf.convert_to_tensor(g) for g in grads], f)

# program: matrix factorization with biases and regularization collections
# not in 2.21: ops
rs = np.random.RandomState(13)
users = tf.placeholder(tf.int32, [None], "users"); items = tf.placeholder(tf.int32, [None], "items")
ratings = tf.placeholder(tf.float32, [None], "ratings")
reg = lambda w: 0.01 * tf.reduce_sum(tf.square(w))
with tf.variable_scope("mf", regularizer=reg, initializer=tf.random_normal_initializer(stddev=0.1, seed=21)):
    P = tf.get_variable("P", [5, 3]); Q = tf.get_variable("Q", [6, 3])
    bu = tf.get_variable("bu", [5], initializer=tf.zeros_initializer(), regularizer=None)
    bi = tf.get_variable("bi", [6], initializer=tf.zeros_initializer())
    mu = tf.get_variable("mu", [], initializer=tf.constant_initializer(3.0), trainable=False)
p = tf.nn.embedding_lookup(P, users); q = tf.nn.embedding_lookup(Q, items)
pred = tf.reduce_sum(p * q, 1) + tf.nn.embedding_lookup(bu, users) + tf.nn.embedding_lookup(bi, items) + mu
mse = tf.reduce_mean(tf.squared_difference(ratings, pred))
reg_losses = tf.get_collection(tf.GraphKeys.REGULARIZATION_LOSSES)
loss = mse + tf.add_n(reg_losses)
step = tf.train.AdamOptimizer(0.05).minimize(loss)
feed = {users: [0, 1, 1, 4], items: [5, 2, 2, 0], ratings: [4., 3., 5., 1.]}
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    out = [sess.run([loss, mse, step], feed)[:2] for _ in range(4)]
    result = out, [l.name for l in reg_losses], sess.run([P, bu, bi])

# program: a siamese network with a contrastive loss
# not in 2.21: ops
rs = np.random.RandomState(14)
def network(x):
    weights = []
    for i, n in enumerate([5, 3]):
        with tf.variable_scope("fc%d" % (i + 1)):
            W = tf.get_variable("W", dtype=tf.float32, shape=[x.get_shape()[1], n], initializer=tf.truncated_normal_initializer(stddev=0.5, seed=i))
            b = tf.get_variable("b", dtype=tf.float32, initializer=tf.constant(0.01, shape=[n], dtype=tf.float32))
        x = tf.nn.bias_add(tf.matmul(x, W), b)
        if i == 0: x = tf.nn.relu(x)
    return x
x1 = tf.placeholder(tf.float32, [None, 4]); x2 = tf.placeholder(tf.float32, [None, 4])
with tf.variable_scope("siamese") as scope:
    o1 = network(x1)
    scope.reuse_variables()
    o2 = network(x2)
y_ = tf.placeholder(tf.float32, [None])
margin = 5.0
labels_t = y_
labels_f = tf.subtract(1.0, y_, name="1-yi")
eucd2 = tf.reduce_sum(tf.pow(tf.subtract(o1, o2), 2), 1)
eucd = tf.sqrt(eucd2 + 1e-6, name="eucd")
C = tf.constant(margin, name="C")
pos = tf.multiply(labels_t, eucd2, name="yi_x_eucd2")
neg = tf.multiply(labels_f, tf.pow(tf.maximum(tf.subtract(C, eucd), 0), 2), name="Nyi_x_C-eucd_xx_2")
losses = tf.add(pos, neg, name="losses")
loss = tf.reduce_mean(losses, name="loss")
train_step = tf.train.GradientDescentOptimizer(0.01).minimize(loss)
feed = {x1: rs.randn(4, 4), x2: rs.randn(4, 4), y_: [0, 1, 1, 0]}

# program: a siamese network, without the bad name
# not in 2.21: ops
rs = np.random.RandomState(14)
x1 = tf.placeholder(tf.float32, [None, 4]); x2 = tf.placeholder(tf.float32, [None, 4])
def network(x, reuse=None):
    with tf.variable_scope("net", reuse=reuse):
        W = tf.get_variable("W", [4, 3], initializer=tf.truncated_normal_initializer(stddev=0.5, seed=1))
        return tf.nn.l2_normalize(tf.matmul(x, W), dim=1)
o1 = network(x1); o2 = network(x2, True)
y_ = tf.placeholder(tf.float32, [None])
d = tf.norm(o1 - o2, axis=1) + tf.reduce_sum(tf.abs(o1 - o2), axis=-1)
loss = tf.reduce_mean(tf.where(y_ > 0, d, tf.nn.relu(1.0 - d)))
step = tf.train.AdadeltaOptimizer(1.0).minimize(loss)
feed = {x1: rs.randn(4, 4), x2: rs.randn(4, 4), y_: [0, 1, 1, 0]}
with tf.Session() as sess:
    tf.global_variables_initializer().run()
    result = [sess.run([loss, d, step], feed)[:2] for _ in range(3)]
    result.append(error(network, x1))

# program: a U-net with transposed convolutions and skip connections
# not in 2.21: ops
rs = np.random.RandomState(15)
x = tf.placeholder(tf.float32, [None, 8, 8, 2])
def conv(x, n, name):
    with tf.variable_scope(name):
        k = tf.get_variable("k", [3, 3, x.shape[3].value, n], initializer=tf.constant_initializer(rs.randn(3, 3, x.shape[3].value, n) * .2))
        return tf.nn.elu(tf.nn.conv2d(x, k, [1, 1, 1, 1], "SAME"))
def up(x, n, name):
    with tf.variable_scope(name):
        k = tf.get_variable("k", [2, 2, n, x.shape[3].value], initializer=tf.constant_initializer(rs.randn(2, 2, n, x.shape[3].value) * .2))
        s = tf.shape(x)
        y = tf.nn.conv2d_transpose(x, k, tf.stack([s[0], s[1] * 2, s[2] * 2, n]), [1, 2, 2, 1], "VALID")
        return y
c1 = conv(x, 3, "c1")
p1 = tf.nn.max_pool(c1, [1, 2, 2, 1], [1, 2, 2, 1], "VALID")
c2 = conv(p1, 4, "c2")
u1 = up(c2, 3, "u1")
m = tf.concat([c1, u1], 3)
m.set_shape([None, 8, 8, 6])
out = conv(m, 1, "out")
dice = 2 * tf.reduce_sum(out * x[..., :1]) / (tf.reduce_sum(tf.square(out)) + tf.reduce_sum(x[..., :1] ** 2) + 1e-5)
grads = tf.gradients(1 - dice, tf.trainable_variables())
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    result = sess.run([dice, out, grads], {x: rs.rand(2, 8, 8, 2)})
result = result, u1.get_shape().as_list(), m

# program: style features with gram matrices and total variation of an image variable
# not in 2.21: ops
rs = np.random.RandomState(16)
image = tf.Variable(rs.rand(1, 6, 6, 3).astype(np.float32), name="image")
k = tf.constant(rs.randn(3, 3, 3, 4) * .2, tf.float32)
features = tf.nn.relu(tf.nn.conv2d(image - tf.constant([.4, .5, .6]), k, strides=[1, 1, 1, 1], padding="SAME"))
_, h, w, ch = [i.value for i in features.get_shape()]
size = h * w * ch
feats = tf.reshape(features, (-1, ch))
gram = tf.matmul(tf.transpose(feats), feats) / size
style = tf.constant(rs.rand(4, 4), tf.float32)
tv = tf.nn.l2_loss(image[:, 1:, :, :] - image[:, :5, :, :]) / 90. + tf.nn.l2_loss(image[:, :, 1:, :] - image[:, :, :5, :]) / 90.
loss = 5e2 * 2 * tf.nn.l2_loss(gram - style) / style.get_shape().num_elements() + 1e2 * tv
step = tf.train.AdamOptimizer(.1, .9, .999, 1e-08).minimize(loss)
with tf.Session() as sess:
    sess.run(tf.initialize_all_variables())
    result = [sess.run([loss, step])[0] for _ in range(4)], image.eval()
