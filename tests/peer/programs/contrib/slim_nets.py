# program: small residual networks of slim
# not in 2.21: error ops values
import importlib
nets = importlib.import_module(tf.__name__ + ".contrib.slim.nets")
resnet_utils, resnet_v1, resnet_v2 = nets.resnet_utils, nets.resnet_v1, nets.resnet_v2
slim = tf.contrib.slim
random = np.random.RandomState(0)
images = tf.placeholder(tf.float32, [2, 33, 33, 3], name="images")
labels = tf.constant([1, 3], name="labels")
networks = []
for module, version, options in (
    (resnet_v1, "v1", {"is_training": False}), (resnet_v2, "v2", {"is_training": False}),
    (resnet_v1, "v1", {"output_stride": 8, "global_pool": False, "scope": "dense"}),
):
    block = getattr(module, "resnet_%s_block" % version)
    blocks = [block("block1", base_depth=2, num_units=2, stride=2), block("block2", base_depth=3, num_units=2, stride=2)]
    # Where batches are normalized by their own moments, a step scales up rounding.
    with slim.arg_scope(module.resnet_arg_scope(weight_decay=0.01)):
        networks.append(getattr(module, "resnet_" + version)(images, blocks, num_classes=4, **options))
for logits, _ in networks[:2]:
    tf.losses.sparse_softmax_cross_entropy(labels, tf.reshape(logits, [2, 4]))
total = tf.losses.get_total_loss()
step = slim.learning.create_train_op(total, tf.train.GradientDescentOptimizer(0.01))
values = []
with tf.Session() as sess:
    given = {v: random.randn(*v.shape.as_list()) for v in tf.global_variables()}
    given = {v.initializer.inputs[1]: 1 + np.abs(x) if "variance" in v.op.name else x / 4 for v, x in given.items()}
    sess.run(tf.global_variables_initializer(), given)
    feeds = {images: random.rand(2, 33, 33, 3)}
    values += sess.run([total] + [logits for logits, _ in networks], feeds)
    values += [sess.run(step, feeds)]
    values += sess.run([v for v in tf.global_variables() if "conv2" in v.op.name or "shortcut" in v.op.name])
result = [
    values, [sorted((k, v.name) for k, v in ends.items()) for _, ends in networks],
    [v.name for v in tf.get_collection("moving_vars")], len(tf.get_collection(tf.GraphKeys.UPDATE_OPS)),
    sorted(str(k) for k in tf.get_default_graph().get_all_collection_keys()), resnet_utils.Block._fields,
]

# program: the first layers of slim's Inception networks
# not in 2.21: error ops values
import importlib
inception = importlib.import_module(tf.__name__ + ".contrib.slim.nets").inception
slim = tf.contrib.slim
random = np.random.RandomState(0)
images = tf.placeholder(tf.float32, [2, 96, 96, 3], name="images")
with slim.arg_scope(inception.inception_v1_arg_scope()), slim.arg_scope([slim.batch_norm], is_training=False):
    first, ends1 = inception.inception_v1_base(images, final_endpoint="Mixed_3b")
with slim.arg_scope(inception.inception_v2_arg_scope()), slim.arg_scope([slim.batch_norm], is_training=False):
    second, ends2 = inception.inception_v2_base(images, final_endpoint="Mixed_4a", depth_multiplier=0.25)
with slim.arg_scope(inception.inception_v3_arg_scope()), slim.arg_scope([slim.batch_norm], is_training=False):
    third, ends3 = inception.inception_v3_base(images, final_endpoint="Mixed_6b", depth_multiplier=0.25)
with tf.Session() as sess:
    given = {v: random.randn(*v.shape.as_list()) for v in tf.global_variables()}
    given = {v.initializer.inputs[1]: 1 + np.abs(x) if "variance" in v.op.name else x / 4 for v, x in given.items()}
    sess.run(tf.global_variables_initializer(), given)
    values = sess.run([first, second, third], {images: random.rand(2, 96, 96, 3)})
result = [values, [sorted((k, v.name) for k, v in ends.items()) for ends in (ends1, ends2, ends3)]]

# program: the variables of slim's networks
# compare: error values
# not in 2.21: error values
import importlib
nets = importlib.import_module(tf.__name__ + ".contrib.slim.nets")
alexnet, inception, overfeat, vgg = nets.alexnet, nets.inception, nets.overfeat, nets.vgg
slim = tf.contrib.slim
result = {}
for network, scope, size in (
    (alexnet.alexnet_v2, alexnet.alexnet_v2_arg_scope, 224), (overfeat.overfeat, overfeat.overfeat_arg_scope, 231),
    (vgg.vgg_a, vgg.vgg_arg_scope, 224), (vgg.vgg_d, vgg.vgg_arg_scope, 224), (vgg.vgg_e, vgg.vgg_arg_scope, 224),
    (inception.inception_v1, inception.inception_v1_arg_scope, 224), (inception.inception_v3, inception.inception_v3_arg_scope, 299),
):
    with tf.Graph().as_default():
        with slim.arg_scope(scope()):
            logits, ends = network(tf.placeholder(tf.float32, [2, size, size, 3]))
        result[network.__name__] = [
            logits.name, logits.shape.as_list(), [(v.name, v.shape.as_list()) for v in tf.global_variables()],
            sorted((k, v.name) for k, v in ends.items()), [t.name for t in tf.losses.get_regularization_losses()],
        ]
