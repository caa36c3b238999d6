"""The step that docs/inside.md walks through: a layer on one device, a head on another.

tensorloom explain --html step.html docs/inside/two_devices.py
"""

import numpy as np
import tensorflow as tf

images = tf.placeholder(tf.float32, [None, 784], name="images")
with tf.device("/cpu:0"):
    hidden = tf.layers.dense(images, 512, tf.nn.relu, name="hidden")
with tf.device("/cpu:1"), tf.variable_scope("head"):
    kernel = tf.get_variable("kernel", [512, 320])
    codes = tf.matmul(hidden, kernel, name="codes")
    spread = tf.svd(codes, compute_uv=False, name="spread")
    loss = tf.reduce_mean(tf.square(codes), name="loss")
train = tf.train.GradientDescentOptimizer(0.01).minimize(loss)

feeds = {images: np.random.default_rng(0).random([256, 784], np.float32)}
config = tf.ConfigProto(device_count={"CPU": 2})
with tf.Session(config=config) as session:
    session.run(tf.global_variables_initializer())
    for _ in range(3):
        session.run([train, loss, spread], feeds)
