# program: quantize: training graph of fused batch norms, nodes and numbers
layers = tf.contrib.layers
tf.set_random_seed(1)
x = tf.placeholder(tf.float32, [4, 8, 8, 3], name="x")
norm = {"is_training": True, "fused": True, "scale": True, "decay": 0.9}
y = layers.conv2d(x, 4, 3, normalizer_fn=layers.batch_norm, normalizer_params=norm, activation_fn=tf.nn.relu6, scope="conv")
z = layers.separable_conv2d(y, None, 3, 1, normalizer_fn=layers.batch_norm, normalizer_params=norm, scope="deep")
w = layers.conv2d(y, 4, 1, activation_fn=None, scope="bypass")
s = tf.nn.relu(w + y, name="joined")
f = layers.fully_connected(layers.flatten(s * z), 5, normalizer_fn=layers.batch_norm, normalizer_params=norm, scope="full")
logits = layers.fully_connected(f, 3, activation_fn=None, scope="logits")
tf.contrib.quantize.create_training_graph()
loss = tf.reduce_mean(tf.square(logits))
variables = tf.trainable_variables()
grads = tf.gradients(loss, variables)
result = [[v.op.name for v in tf.global_variables()]]
feed = {x: np.random.RandomState(0).randn(4, 8, 8, 3)}
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    # A later step is not compared: a value between two levels goes to one of them
    # by how it was rounded before.
    value, slopes = sess.run([loss, grads], feed)
    # Moments of four rows scale rounding up: a tenth of what it costs a gradient.
    result.append([value, [slope / 10 for slope in slopes]])
    result.append(error(tf.contrib.quantize.create_training_graph))
    tf.train.GradientDescentOptimizer(0.1).minimize(loss)
    result.append(error(tf.contrib.quantize.create_training_graph))
# program: quantize: evaluation graph of batch norms of several operations
layers = tf.contrib.layers
tf.set_random_seed(1)
x = tf.placeholder(tf.float32, [2, 8, 8, 3], name="x")
norm = {"is_training": False, "fused": False, "scale": True}
y = layers.conv2d(x, 4, 3, normalizer_fn=layers.batch_norm, normalizer_params=norm, scope="conv")
z = layers.separable_conv2d(y, None, 3, 1, normalizer_fn=layers.batch_norm, normalizer_params=norm, scope="deep")
f = layers.fully_connected(layers.flatten(z), 5, normalizer_fn=layers.batch_norm, normalizer_params={"is_training": False, "fused": False}, scope="full")
tf.contrib.quantize.experimental_create_eval_graph(weight_bits=4, activation_bits=6, symmetric=True)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    result = sess.run([f, tf.reduce_sum(z)], {x: np.random.RandomState(0).randn(2, 8, 8, 3)})
# program: quantize: delays, frozen statistics and scopes, in classic nodes
# not in 2.21: ops error values
tf.disable_control_flow_v2()
layers = tf.contrib.layers
tf.set_random_seed(1)
x = tf.placeholder(tf.float32, [4, 6, 6, 2], name="x")
def net(fused, scope):
    norm = {"is_training": True, "fused": fused, "scale": True, "decay": 0.9}
    with tf.variable_scope(scope):
        return layers.conv2d(x, 4, 3, normalizer_fn=layers.batch_norm, normalizer_params=norm, scope="conv")
y = net(True, "a") * net(False, "b")
tf.contrib.quantize.experimental_create_training_graph(quant_delay=1, freeze_bn_delay=2, symmetric=True, scope="a")
feed = {x: np.random.RandomState(0).randn(4, 6, 6, 2)}
updates = tf.get_collection(tf.GraphKeys.UPDATE_OPS)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    result = [sess.run([tf.reduce_sum(y), "fake_quantization_step:0"] , feed)[0] for _ in range(1)]
    for _ in range(3):
        sess.run(updates, feed)
        result.append(sess.run([v for v in tf.global_variables() if "moving" in v.name], feed))
