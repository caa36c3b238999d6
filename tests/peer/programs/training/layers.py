# program: a network of layers, its graph node for node
# not in 2.21: ops
tf.set_random_seed(3)
x = tf.placeholder(tf.float32, [None, 8, 8, 3])
y = tf.layers.conv2d(x, 4, 3, activation=tf.nn.relu)
y = tf.layers.conv2d(y, 4, 3, padding='same', dilation_rate=2)
y = tf.layers.max_pooling2d(y, 2, 2)
y = tf.layers.batch_normalization(y, training=True)
y = tf.layers.conv2d_transpose(y, 3, 2, strides=2, padding='same')
y = tf.layers.separable_conv2d(y, 3, 2)
y = tf.layers.flatten(y)
y = tf.layers.dropout(y, training=True, seed=4)
y = tf.layers.dense(y, 3, name='logits')
with tf.Session() as s:
    s.run(tf.global_variables_initializer())
    values = s.run(tf.global_variables())
result = ([(v.name, v.shape.as_list()) for v in tf.global_variables()],
          [np.asarray(v).tobytes() for v in values], [v.name for v in tf.trainable_variables()],
          [u.name for u in tf.get_collection(tf.GraphKeys.UPDATE_OPS)])

# program: layers of one and three dimensions, channels first and last
# not in 2.21: ops
z = tf.layers.conv1d(tf.ones([2, 10, 3]), 4, 3, dilation_rate=2, padding='same')
a = tf.layers.max_pooling1d(z, 2, 2)
b = tf.layers.average_pooling1d(z, 3, 2, padding='same')
c = tf.layers.separable_conv1d(z, 2, 2, depth_multiplier=2)
d = tf.layers.conv3d(tf.ones([2, 5, 5, 5, 3]), 4, 3, strides=2)
e = tf.layers.conv3d_transpose(d, 2, 2, strides=(1, 2, 1), use_bias=False)
f = tf.layers.average_pooling3d(tf.ones([2, 3, 5, 5, 5]), 2, 2, data_format='channels_first')
g = tf.layers.max_pooling3d(tf.ones([2, 5, 5, 5, 3]), 2, 1)
h = tf.layers.average_pooling2d(tf.ones([2, 5, 5, 3]), (2, 3), (1, 2), padding='same')
i = tf.layers.flatten(tf.placeholder(tf.float32, [None, 3, None]), data_format='channels_first')
result = [t.shape.as_list() for t in (z, a, b, c, d, e, f, g, h, i)], [v.name for v in tf.global_variables()]

# program: batch renormalization and normalization without fused ops
# not in 2.21: ops
x = tf.constant(np.random.RandomState(0).rand(6, 4), tf.float32)
y = tf.layers.batch_normalization(x, training=True, renorm=True, renorm_clipping={'rmax': 2.0, 'rmin': 0.5, 'dmax': 1.0}, name='r')
z = tf.layers.batch_normalization(x, training=True, momentum=0.9, center=False, name='n')
w = tf.layers.batch_normalization(tf.reshape(x, [2, 3, 4]), axis=1, training=False, scale=False)
u = tf.get_collection(tf.GraphKeys.UPDATE_OPS)
with tf.Session() as s:
    s.run(tf.global_variables_initializer())
    for _ in range(3):
        out = s.run([y, z, u])[:2]
    result = out, s.run(w), [(v.name, s.run(v)) for v in tf.global_variables()], [o.name for o in u]

# program: batch normalization of parts of a batch, of two axes, and with an adjustment
# not in 2.21: ops
x = tf.constant(np.random.RandomState(0).rand(6, 3, 4), tf.float32)
y = tf.layers.batch_normalization(x, training=True, virtual_batch_size=3)
z = tf.layers.batch_normalization(x, axis=[1, 2], training=True)
a = tf.layers.batch_normalization(x, training=True, adjustment=lambda shape: (tf.fill([shape[-1]], 2.0), tf.fill([shape[-1]], 0.5)))
with tf.Session() as s:
    s.run(tf.global_variables_initializer())
    s.run(tf.get_collection(tf.GraphKeys.UPDATE_OPS))
    result = s.run([y, z, a]), [(v.name, s.run(v)) for v in tf.global_variables()]

# program: training that a placeholder switches
# compare: error values
x = tf.constant(np.random.RandomState(0).rand(6, 4, 4, 2), tf.float32)
training = tf.placeholder(tf.bool, [])
y = tf.layers.batch_normalization(x, training=training)
z = tf.layers.batch_normalization(x, training=training, fused=False)
w = tf.layers.dropout(x, 0.0, training=training)
u = tf.get_collection(tf.GraphKeys.UPDATE_OPS)
with tf.Session() as s:
    s.run(tf.global_variables_initializer())
    out = [s.run([y, z, w, u], {training: t})[:3] for t in (True, False, True)]
    result = out, [(v.name, s.run(v)) for v in tf.global_variables()]

# program: scopes, reuse and names of layers
# not in 2.21: ops
x = tf.ones([2, 3])
first = tf.layers.Dense(2)
first(x); first(x)
with tf.variable_scope('outer'):
    tf.layers.dense(x, 2)
    tf.layers.dense(x, 2)
    with tf.variable_scope('inner', reuse=tf.AUTO_REUSE):
        tf.layers.dense(x, 2, name='shared')
        tf.layers.dense(x, 2, name='shared')
with tf.variable_scope('outer', reuse=True):
    tf.layers.dense(x, 2)
tf.layers.dense(x, 2, name='outer/dense', reuse=True)
with tf.variable_scope('init', initializer=tf.ones_initializer()):
    tf.layers.dense(x, 2)
result = ([v.name for v in tf.global_variables()], first.name, first.scope_name, len(first.weights),
          error(tf.layers.dense, x, 2, name='outer/dense'), error(tf.layers.dense, x, 2, name='new', reuse=True),
          error(lambda: tf.layers.Dense(2).scope_name))

# program: regularizers, constraints and losses of activity
# not in 2.21: ops
x = tf.placeholder(tf.float32, [None, 3])
kwargs = dict(kernel_regularizer=lambda w: 0.1 * tf.reduce_sum(w * w), bias_regularizer=lambda b: tf.reduce_sum(b),
              activity_regularizer=lambda y: tf.reduce_sum(y * y), kernel_constraint=lambda w: w / 2.0)
layer = tf.layers.Dense(2, **kwargs)
layer(x)
layer(x)
tf.layers.conv1d(tf.ones([2, 5, 3]), 2, 3, kernel_regularizer=lambda w: tf.reduce_sum(w))
losses = tf.get_collection(tf.GraphKeys.REGULARIZATION_LOSSES)
result = [l.name for l in losses], len(layer.losses), layer.kernel.constraint is not None, len(layer.get_losses_for(None)), len(layer.get_losses_for(x))

# program: partitioned variables and custom getters of layers
# not in 2.21: ops
x = tf.ones([2, 4])
with tf.variable_scope('p', partitioner=tf.fixed_size_partitioner(2)):
    layer = tf.layers.Dense(3)
    y = layer(x)
    n = tf.layers.batch_normalization(y)
seen = []
def getter(getter, name, *args, **kwargs):
    seen.append(name)
    kwargs['trainable'] = False
    return getter(name, *args, **kwargs)
with tf.variable_scope('g', custom_getter=getter):
    other = tf.layers.Dense(3)
    other(x)
result = ([v.name for v in tf.global_variables()], seen, [v.name for v in tf.trainable_variables()],
          len(other.trainable_weights), len(other.non_trainable_weights), len(layer.trainable_weights), len(layer.non_trainable_weights))

# program: layers in other dtypes
x = tf.ones([2, 4], tf.float64)
y = tf.layers.dense(x, 3)
h = tf.layers.dense(tf.ones([2, 4], tf.float16), 3)
bn = tf.layers.batch_normalization(tf.ones([2, 3, 3, 4], tf.float16), training=True)
layer = tf.layers.Dense(2, dtype=tf.float64)
before = layer.dtype
layer(tf.ones([2, 4], tf.float32))
result = [(v.name, v.dtype.base_dtype.name) for v in tf.global_variables()], y.dtype.name, h.dtype.name, bn.dtype.name, before, layer.dtype

# program: misuse of layers
result = [
    error(tf.layers.dense, tf.placeholder(tf.float32, [3, None]), 2),
    error(tf.layers.dense, tf.ones([3]), 2),
    error(tf.layers.dense, tf.placeholder(tf.float32, None), 2),
    error(tf.layers.dense, tf.ones([3, 2], tf.int32), 2),
    error(tf.layers.conv2d, tf.ones([3, 2]), 2, 3),
    error(tf.layers.conv2d, tf.placeholder(tf.float32, [3, 5, 5, None]), 2, 3),
    error(tf.layers.conv2d, tf.ones([3, 5, 5, 1]), 2, (3, 3, 3)),
    error(tf.layers.conv2d, tf.ones([3, 5, 5, 1]), 2, 3, strides='a'),
    error(tf.layers.conv2d, tf.ones([3, 5, 5, 1]), 2, 3, padding='full'),
    error(tf.layers.conv2d, tf.ones([3, 5, 5, 1]), 2, 3, data_format='NHWC'),
    error(tf.layers.conv2d, tf.ones([3, 5, 5, 1]), 2, 3, strides=2, dilation_rate=2),
    error(tf.layers.conv2d, tf.ones([3, 5, 5, 1]), 2, 3, kernel_initializer='nothing'),
    error(tf.layers.conv2d, tf.ones([3, 5, 5, 1]), 2, 3, activation='nothing'),
    error(tf.layers.max_pooling2d, tf.ones([3, 5, 5, 1]), 2, None),
    error(tf.layers.batch_normalization, tf.placeholder(tf.float32, [3, None])),
    error(tf.layers.batch_normalization, tf.ones([3, 4]), axis=2),
    error(tf.layers.batch_normalization, tf.ones([3, 4]), axis=[1, -1]),
    error(tf.layers.batch_normalization, tf.ones([3, 4]), axis='a'),
    error(tf.layers.batch_normalization, tf.ones([3, 4]), renorm=True, renorm_clipping={'a': 1}),
    error(tf.layers.batch_normalization, tf.ones([3, 4]), virtual_batch_size=0),
    error(tf.layers.Dense, 3, unknown=1),
    error(tf.layers.InputSpec, ndim=2, axes={2: 3}),
    error(tf.layers.InputSpec, axes={'a': 3}),
    error(lambda: tf.layers.Dense(3).count_params()),
    error(lambda: tf.layers.Dense(3).input),
    error(lambda: tf.layers.Dense(3).output_shape),
    error(lambda: tf.layers.Dense(3).get_input_at(0)),
    error(lambda: setattr(tf.layers.Dense(3), 'input_spec', 'a')),
]

# program: a layer of the program
# not in 2.21: ops
class Scale(tf.layers.Layer):
    def build(self, input_shape):
        self.factor = self.add_variable('factor', input_shape[-1:], initializer=tf.ones_initializer(), regularizer=lambda v: tf.reduce_sum(v))
        self.step = self.add_weight('step', [], tf.int32, tf.zeros_initializer(), trainable=False)
        self.built = True
    def call(self, inputs, scope=None):
        self.add_update(tf.assign_add(self.step, 1))
        self.add_loss(tf.reduce_sum(inputs), inputs=inputs)
        return inputs * self.factor
x = tf.placeholder(tf.float32, [None, 3])
layer = Scale(name='s')
y = layer.apply(x)
nothing = Scale(trainable=False)
nothing(x)
result = ([v.name for v in layer.variables], [v.name for v in layer.trainable_variables], layer.count_params(),
          [u.name for u in layer.updates], nothing.updates, [l.name for l in layer.losses], [w.name for w in nothing.weights],
          [u.name for u in tf.get_collection(tf.GraphKeys.UPDATE_OPS)], len(layer.get_updates_for(None)), len(layer.get_updates_for(x)),
          len(layer.get_losses_for(x)), sorted(layer.get_config()), isinstance(layer, tf.keras.layers.Layer))

# program: a checkpoint of layers has their names
# compare: error values
import os, tempfile
x = tf.ones([2, 6, 6, 3])
y = tf.layers.batch_normalization(tf.layers.conv2d(x, 4, 3, name='c'), training=True, name='b')
y = tf.layers.dense(tf.layers.flatten(y), 2)
tf.train.AdamOptimizer().minimize(tf.reduce_sum(y))
path = os.path.join(tempfile.mkdtemp(), 'model')
with tf.Session() as s:
    s.run(tf.global_variables_initializer())
    tf.train.Saver().save(s, path)
result = tf.train.list_variables(path)

# program: layers in Keras style
# not in 2.21: ops
with tf.layers.experimental.keras_style_scope():
    a = tf.layers.Dense(2, name='d')
    b = tf.layers.Dense(2, name='d')
    y = b(a(tf.ones([2, 3])))
    cell = tf.nn.rnn_cell.GRUCell(3)
    cell(tf.ones([2, 3]), cell.zero_state(2, tf.float32))
    refused = error(tf.layers.Dense, 2, _reuse=True)
result = [v.name for v in tf.global_variables()], [w.name for w in a.weights + b.weights], refused

# program: Keras layers in a graph
# not in 2.21: ops
L = tf.keras.layers
x = tf.placeholder(tf.float32, [None, 6, 6, 2])
conv = L.Conv2D(3, 2, activation='relu', kernel_regularizer=tf.keras.regularizers.l2(0.1))
y = conv(x)
y = L.DepthwiseConv2D(2, depth_multiplier=2)(y)
y = L.MaxPooling2D()(y)
y = L.BatchNormalization()(y, training=True)
y = L.Flatten()(y)
y = L.LayerNormalization()(y)
y = L.Dense(3, 'tanh', kernel_constraint='max_norm')(y)
y = L.Activation('softmax')(y)
result = ([(v.name, v.shape.as_list()) for v in tf.global_variables()], y.name, conv.name, len(conv.losses),
          sorted(conv.get_config()), conv.compute_output_shape([None, 6, 6, 2]), [w.name for w in conv.weights])

# program: Keras layers of space
# not in 2.21: ops
L = tf.keras.layers
x = tf.constant(np.arange(24.0).reshape(1, 3, 4, 2), tf.float32)
z = tf.reshape(x, [1, 3, 8]); v = tf.reshape(x, [1, 3, 2, 2, 2])
out = [L.ZeroPadding1D(2)(z), L.ZeroPadding2D(((1, 2), (0, 1)))(x), L.ZeroPadding2D(1, data_format='channels_first')(x), L.ZeroPadding3D(1)(v),
       L.Cropping1D(1)(z), L.Cropping2D(((1, 0), (1, 1)))(x), L.Cropping3D(((0, 1), (0, 1), (0, 0)))(v), L.UpSampling1D(2)(z), L.UpSampling2D((2, 1))(x),
       L.UpSampling2D(2, interpolation='bilinear')(x), L.UpSampling2D(2, data_format='channels_first')(x), L.UpSampling3D(2)(v),
       L.GlobalAveragePooling2D()(x), L.GlobalMaxPooling1D()(z), L.GlobalMaxPooling3D()(v), L.RepeatVector(2)(z[:, 0]), L.Permute([2, 1])(z),
       L.Conv1D(2, 2, padding='causal', kernel_initializer='ones')(z), L.Masking(3.0)(x), L.ActivityRegularization(0.1, 0.2)(x)]
with tf.Session() as s:
    s.run(tf.global_variables_initializer())
    result = s.run(out), [t.name for t in out], error(L.ZeroPadding2D, 'a'), error(L.ZeroPadding2D, (1, 2, 3)), error(L.UpSampling2D, 2, interpolation='x'), error(L.Permute, [0, 1])

# program: regularizers, constraints, initializers and activations of Keras
# compare: error values
K = tf.keras
rs = np.random.RandomState(0)
w = tf.constant(rs.randn(3, 4), tf.float32); k = tf.constant(rs.randn(3, 3, 2, 2), tf.float32)
out = [K.regularizers.get(n)(w) for n in ('l1', 'l2', 'l1_l2')] + [K.regularizers.L1L2()(w)]
out += [K.constraints.get(n)(w) for n in ('max_norm', 'non_neg', 'unit_norm', 'MinMaxNorm')] + [K.constraints.MinMaxNorm(0.5, 0.7, 0.3, axis=1)(w), K.constraints.RadialConstraint()(k)]
out += [K.activations.get(n)(w) for n in ('softmax', 'elu', 'selu', 'softplus', 'softsign', 'relu', 'tanh', 'sigmoid', 'exponential', 'hard_sigmoid', 'linear', None)]
out += [K.activations.relu(w, 0.1), K.activations.relu(w, 0.1, 0.5, 0.2), K.activations.relu(w, max_value=6), K.activations.softmax(k, axis=0), K.activations.elu(w, 0.5)]
out += [c(seed=3)([3, 4]) for c in (K.initializers.he_normal, K.initializers.lecun_uniform, K.initializers.RandomNormal, K.initializers.RandomUniform, K.initializers.TruncatedNormal, K.initializers.glorot_normal, K.initializers.Orthogonal)]
out += [K.initializers.get(n)([2, 2]) for n in ('zeros', 'ones', 'identity')]
with tf.Session() as s:
    values = [np.round(v, 5) for v in s.run(out)]
result = (values, K.regularizers.serialize(K.regularizers.l2(0.5)), K.constraints.serialize(K.constraints.MaxNorm(3)), K.activations.serialize(K.activations.get('tanh')),
          sorted(K.initializers.serialize(K.initializers.he_normal(seed=2))['config']), error(K.initializers.get, 'x'), error(K.regularizers.get, 'x'), error(K.constraints.get, 'x'),
          error(K.activations.get, 'x'), error(K.activations.get, 3), error(K.initializers.get, 3), error(K.constraints.RadialConstraint(), w), error(K.activations.softmax, tf.ones([2])))
