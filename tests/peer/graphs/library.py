"""Functions that TensorFlow 2 exports: frozen, and as a SavedModel's graph has them.

Each gives (module, its tf.function, example arguments for each run). These run with
TensorFlow 2's behaviour, `graph_recorder.py 2.21-functions`.
"""

import numpy as np


def _values(*shape):
    count = int(np.prod(shape))
    return (np.sin(np.arange(count) * 1.7) * 0.5).reshape(shape).astype(np.float32)


def dense_model(tf):
    class Model(tf.Module):
        def __init__(self):
            self.w1 = tf.Variable(_values(3, 4), name="w1")
            self.b1 = tf.Variable(_values(4), name="b1")
            self.w2 = tf.Variable(_values(4, 2), name="w2")

        @tf.function(input_signature=[tf.TensorSpec([None, 3], tf.float32, name="x")])
        def call(self, x):
            h = tf.nn.relu(self.layer(x, self.w1, self.b1))
            return tf.nn.softmax(tf.matmul(h, self.w2))

        @tf.function
        def layer(self, x, w, b):
            return tf.matmul(x, w) + b

    model = Model()
    return model, model.call, [[_values(2, 3)], [_values(1, 3)]]


def conv_model(tf):
    class Model(tf.Module):
        def __init__(self):
            self.k = tf.Variable(_values(3, 3, 1, 2), name="k")
            self.gamma = tf.Variable([1.0, 0.5], name="gamma")
            self.beta = tf.Variable([0.1, -0.1], name="beta")
            self.mean = tf.Variable([0.2, 0.1], name="mean")
            self.variance = tf.Variable([1.5, 0.7], name="variance")

        @tf.function(
            input_signature=[
                tf.TensorSpec([None, 6, 6, 1], tf.float32, name="images"),
                tf.TensorSpec([], tf.bool, name="training"),
            ]
        )
        def call(self, images, training):
            h = tf.nn.conv2d(images, self.k, 1, "SAME")
            if training:
                mean, variance = tf.nn.moments(h, [0, 1, 2])
            else:
                mean, variance = tf.identity(self.mean), tf.identity(self.variance)
            h = tf.nn.batch_normalization(
                h, mean, variance, self.beta, self.gamma, 1e-3
            )
            h = tf.nn.max_pool2d(tf.nn.relu(h), 2, 2, "SAME")
            return tf.reduce_mean(h, [1, 2]), tf.shape(h)

    model = Model()
    images = _values(2, 6, 6, 1)
    return model, model.call, [[images, True], [images, False]]


def lstm_model(tf):
    class Model(tf.Module):
        def __init__(self):
            self.kernel = tf.Variable(_values(3, 8), name="kernel")
            self.recurrent = tf.Variable(_values(2, 8), name="recurrent")

        @tf.function(
            input_signature=[tf.TensorSpec([None, None, 3], tf.float32, name="x")]
        )
        def call(self, x):
            steps, batch = tf.shape(x)[1], tf.shape(x)[0]
            h, c = tf.zeros([batch, 2]), tf.zeros([batch, 2])
            outputs = tf.TensorArray(tf.float32, size=steps)
            for t in tf.range(steps):
                z = tf.matmul(x[:, t], self.kernel) + tf.matmul(h, self.recurrent)
                i, f, g, o = tf.split(z, 4, 1)
                c = tf.sigmoid(f) * c + tf.sigmoid(i) * tf.tanh(g)
                h = tf.sigmoid(o) * tf.tanh(c)
                outputs = outputs.write(t, h)
            return tf.transpose(outputs.stack(), [1, 0, 2]), h

    model = Model()
    return model, model.call, [[_values(2, 4, 3)], [_values(1, 1, 3)]]


def greedy_model(tf):
    class Model(tf.Module):
        def __init__(self):
            self.table = tf.Variable(_values(6, 4), name="table")

        @tf.function(
            input_signature=[
                tf.TensorSpec([None], tf.int32, name="start"),
                tf.TensorSpec([], tf.int32, name="limit"),
            ]
        )
        def call(self, start, limit):
            tokens = tf.TensorArray(tf.int32, size=0, dynamic_size=True)
            token, h = start, tf.gather(self.table, start)
            step = 0
            while step < limit and tf.reduce_any(token != 0):
                h = tf.tanh(h + tf.gather(self.table, token)) * 1.3
                logits = tf.matmul(h, self.table, transpose_b=True)
                token = tf.argmax(logits, 1, output_type=tf.int32)
                if step % 2 == 0:
                    token = tf.math.floormod(token + 1, 6)
                tokens = tokens.write(step, token)
                step += 1
            return tf.transpose(tokens.stack()), step

    model = Model()
    return (
        model,
        model.call,
        [[np.int32([1, 2, 3]), np.int32(5)], [np.int32([4]), np.int32(2)]],
    )


def training_step(tf):
    """Forward, backward through a loop, and an update of variables."""

    class Model(tf.Module):
        def __init__(self):
            self.w = tf.Variable(_values(3, 3), name="w")
            self.steps = tf.Variable(0, dtype=tf.int64, name="steps")

        @tf.function(
            input_signature=[
                tf.TensorSpec([None, 3], tf.float32, name="x"),
                tf.TensorSpec([], tf.int32, name="n"),
            ]
        )
        def call(self, x, n):
            with tf.GradientTape() as tape:
                h = x
                for _ in tf.range(n):
                    h = tf.tanh(tf.matmul(h, self.w))
                loss = tf.reduce_mean(h * h)
            grad = tape.gradient(loss, self.w)
            self.w.assign_sub(0.1 * tf.clip_by_norm(grad, 1.0))
            self.steps.assign_add(1)
            return loss, grad, self.steps.read_value()

    model = Model()
    x = _values(2, 3)
    return model, model.call, [[x, np.int32(3)], [x, np.int32(1)]]


def nested_control_flow(tf):
    class Model(tf.Module):
        @tf.function(
            input_signature=[
                tf.TensorSpec([None], tf.float32, name="x"),
                tf.TensorSpec([], tf.int32, name="which"),
            ]
        )
        def call(self, x, which):
            total = tf.constant(0.0)
            for i in tf.range(tf.size(x)):
                if x[i] < 0:
                    continue
                j = 0
                while tf.cast(j, tf.float32) < x[i]:
                    total += self.weight(tf.cast(j, tf.float32))
                    j += 1
                if total > 40.0:
                    break
            chosen = tf.switch_case(
                which, [lambda: total, lambda: -total, lambda: total * total]
            )
            return total, chosen

        @tf.function
        def weight(self, j):
            return tf.where(j > 2.0, j * 2.0, tf.exp(j))

    model = Model()
    x = np.float32([1.5, -1.0, 4.0, 2.0])
    return model, model.call, [[x, np.int32(k)] for k in (0, 1, 2, 7)]


def text_model(tf):
    class Model(tf.Module):
        def __init__(self):
            self.table = tf.Variable(_values(8, 3), name="table")

        @tf.function(input_signature=[tf.TensorSpec([None], tf.string, name="text")])
        def call(self, text):
            lower = tf.strings.lower(tf.strings.regex_replace(text, r"[!.,]", ""))
            words = tf.strings.split(lower)
            ids = tf.strings.to_hash_bucket_fast(words.values, 8)
            vectors = tf.gather(self.table, ids)
            sums = tf.math.unsorted_segment_sum(
                vectors, words.value_rowids(), tf.shape(text)[0]
            )
            mapped = tf.map_fn(lambda v: tf.reduce_max(v) - tf.reduce_min(v), sums)
            return sums, mapped, lower

    model = Model()
    return model, model.call, [[np.array(["The cat.", "sat on, the mat!"])]]


PROGRAMS = [
    dense_model,
    conv_model,
    lstm_model,
    greedy_model,
    training_step,
    nested_control_flow,
    text_model,
]
