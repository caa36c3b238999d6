"""Training steps of networks of `tf.contrib`."""

import importlib

import numpy as np

from benchmarks.workloads.table import Table

table = Table()


@table.step("slim ResNet-50, batch 8, training step", target=0.9)
def slim_resnet(tf):
    slim = tf.contrib.slim
    resnet_v1 = importlib.import_module(tf.__name__ + ".contrib.slim.nets").resnet_v1
    random = np.random.RandomState(0)
    images = tf.placeholder(tf.float32, [8, 64, 64, 3])
    labels = tf.placeholder(tf.int64, [8])
    with slim.arg_scope(resnet_v1.resnet_arg_scope()):
        logits, _ = resnet_v1.resnet_v1_50(images, num_classes=10, is_training=True)
    tf.losses.sparse_softmax_cross_entropy(labels, tf.squeeze(logits, [1, 2]))
    step = slim.learning.create_train_op(
        tf.losses.get_total_loss(), tf.train.MomentumOptimizer(0.01, 0.9)
    )
    feed = {images: random.rand(8, 64, 64, 3), labels: random.randint(0, 10, 8)}
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        yield lambda: sess.run(step, feed)
