"""Model servers: TensorFlow Serving's interfaces, beside TensorFlow by hand."""

import json

import numpy as np

from benchmarks import served_models
from benchmarks.workloads.table import Table

table = Table()

CLIENTS = 64
REQUESTS = 5  # of each client in a step


def mlp(tf):
    def build(x):
        w = tf.get_variable("w", [784, 256], initializer=tf.ones_initializer())
        v = tf.get_variable("v", [256, 10], initializer=tf.ones_initializer())
        return tf.nn.softmax(tf.matmul(tf.nn.relu(tf.matmul(x, w)), v))

    return build


def cnn(tf):
    def build(x):
        w = tf.get_variable("w", [5, 5, 1, 16], initializer=tf.ones_initializer())
        v = tf.get_variable("v", [14 * 14 * 16, 10], initializer=tf.ones_initializer())
        h = tf.nn.relu(tf.nn.conv2d(x, w, [1, 1, 1, 1], "SAME"))
        h = tf.nn.max_pool(h, [1, 2, 2, 1], [1, 2, 2, 1], "SAME")
        return tf.nn.softmax(tf.matmul(tf.reshape(h, [-1, 14 * 14 * 16]), v))

    return build


def _json(x):
    return served_models.http_request(json.dumps({"inputs": x.tolist()}).encode())


def rest(tf, build, x, clients=1, requests=1, batches=False):
    """Yields a step of requests by REST."""
    shape = list(x.shape[1:])
    with served_models.server(tf, build, shape, batches) as ports:
        sender = served_models.RestClients(ports[1], _json(x), clients)
        yield lambda: sender.run(requests)
        sender.close()


@table.step("serving: REST predict, MLP, one client", target=0.6)
def rest_mlp(tf):
    yield from rest(tf, mlp(tf), served_models.digits(1, 784))


@table.step("serving: gRPC predict, MLP, one client", target=0.6)
def grpc_mlp(tf):
    x = served_models.digits(1, 784)
    with served_models.server(tf, mlp(tf), [784]) as ports:
        request = served_models.predict_request(tf, x)
        with served_models.grpc_call(ports[0], request) as call:
            yield call


@table.step(
    "serving: 64 clients, batches, CNN 28x28",
    target=0.667,
    calls=CLIENTS * REQUESTS,
)
def rest_cnn(tf):
    x = served_models.digits(1, 28, 28, 1)
    yield from rest(tf, cnn(tf), x, CLIENTS, REQUESTS, batches=True)


@table.step("serving: JSON of a 224x224x3 image", target=0.5)
def rest_image(tf):
    x = np.random.RandomState(0).rand(1, 224, 224, 3).astype(np.float32)
    yield from rest(tf, lambda x: tf.reduce_mean(x, [1, 2]), x)
