"""Random programs of conds and loops in each other, with gradients; one for each seed.

What a seed makes is the same everywhere: NumPy's RandomState does not change.
"""

import numpy as np
from graphs.recurrent import weights

COUNT = 20


class Generator:
    """Writes one program: steps over two floating-point vectors and a counter."""

    def __init__(self, tf, seed):
        self.tf = tf
        self.random = np.random.RandomState(seed)
        self.w = weights(tf, "w", [3])
        self.count = tf.get_variable("count", initializer=0.0, use_resource=True)
        self.effects = seed % 3 == 0

    def steps(self, x, y, depth):
        for _ in range(self.random.randint(1, 4)):
            x, y = self.step(x, y, depth)
        return x, y

    def step(self, x, y, depth):
        tf = self.tf
        kinds = ["add", "mul", "tanh", "swap", "mix"]
        if depth < 3:
            kinds += ["cond", "cond", "loop", "loop", "array", "map"]
        kind = kinds[self.random.randint(len(kinds))]
        if kind == "add":
            return x + self.w * 0.3, y
        if kind == "mul":
            return x * 0.7, y * self.w
        if kind == "tanh":
            return tf.tanh(x + y), y
        if kind == "swap":
            return y, x
        if kind == "mix":
            return x + tf.reduce_mean(y), tf.stop_gradient(x) * 0.1 + y
        return getattr(self, kind)(x, y, depth + 1)

    def cond(self, x, y, depth):
        tf = self.tf
        pred = tf.reduce_sum(x) > tf.reduce_sum(y) * self.random.uniform(-2, 2)

        def then():
            a, b = self.steps(x, y, depth)
            if self.effects:
                with tf.control_dependencies([self.count.assign_add(1.0)]):
                    a = tf.identity(a)
            return a, b

        def otherwise():
            if self.random.randint(2):
                return self.steps(x * 1.1, y, depth)
            return tf.zeros_like(x), y  # x is dead here

        return tf.cond(pred, then, otherwise)

    def loop(self, x, y, depth):
        tf = self.tf
        times = int(self.random.randint(0, 4))
        options = {
            "parallel_iterations": int(self.random.choice([1, 10])),
            "swap_memory": bool(self.random.randint(2)),
        }
        by_value = self.random.randint(3) == 0

        def test(i, x, y):
            if by_value:
                return tf.logical_and(i < times, tf.reduce_sum(x) < 5.0)
            return i < times

        def body(i, x, y):
            a, b = self.steps(x, y, depth)
            if self.effects:
                with tf.control_dependencies([self.count.assign_add(10.0)]):
                    b = tf.identity(b)
            return i + 1, a, b

        _, x, y = tf.while_loop(test, body, [tf.constant(0), x, y], **options)
        return x, y

    def array(self, x, y, depth):
        tf = self.tf
        read = tf.TensorArray(tf.float32, 3, clear_after_read=False).unstack(x)
        written = tf.TensorArray(tf.float32, 3)

        def body(i, total, written):
            value = read.read(i) * total + read.read(2 - i)
            return i + 1, total + value * 0.1, written.write(i, value)

        _, total, written = tf.while_loop(
            lambda i, *rest: i < 3, body, [0, tf.reduce_mean(y), written]
        )
        stacked = written.stack()
        stacked.set_shape([3])
        return stacked, y * total

    def map(self, x, y, depth):
        tf = self.tf
        scanned = tf.scan(lambda a, e: a * 0.5 + tf.sin(e), y)
        mapped = tf.map_fn(lambda e: e * e - e, x)
        scanned.set_shape([3])
        mapped.set_shape([3])
        return mapped, scanned


def make(seed):
    def program(tf):
        generator = Generator(tf, seed)
        x = tf.placeholder(tf.float32, [3], name="x")
        y = tf.placeholder(tf.float32, [3], name="y")
        a, b = generator.steps(x, y, 0)
        a, b = generator.loop(a, b, 1)
        a, b = generator.cond(a, b, 1)
        total = tf.reduce_sum(a * a) + tf.reduce_sum(b)
        grads = tf.gradients(total, [x, y, generator.w])
        grads = [tf.zeros([]) if g is None else tf.convert_to_tensor(g) for g in grads]
        with tf.control_dependencies([total]):
            count = generator.count.read_value()
        feeds = [
            {"x:0": [0.5, -1.0, 0.25], "y:0": [1.0, 0.5, -0.75]},
            {"x:0": [1.5, 2.0, 0.1], "y:0": [-1.0, -0.5, 0.3]},
        ]
        return [a, b, total, count, *grads], feeds

    program.__name__ = f"random_program_{seed}"
    return program


PROGRAMS = [make(seed) for seed in range(COUNT)]
