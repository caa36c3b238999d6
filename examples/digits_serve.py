"""A model of handwritten digits behind `tensorloom serve`, replaced while it is asked.

Trains a small network on scanned digits, exports it, starts a model server, asks it by
REST and by gRPC, trains on and exports the next version while clients go on asking, and
says how fast and how right the answers were, and whether one was missing.
"""

import argparse
import http.client
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import grpc
import numpy as np
from digits_cnn import load_data
from rich.console import Console
from rich.table import Table

import tensorloom as tf
from tensorloom.protos.serving import predict_pb2

BATCH = 32
METHOD = "/tensorflow.serving.PredictionService/Predict"


def network(images):
    """The logits for images of 8x8."""
    y = tf.layers.conv2d(images, 32, 3, padding="same", activation=tf.nn.relu)
    y = tf.layers.max_pooling2d(y, 2, 2)
    y = tf.layers.dense(tf.layers.flatten(y), 128, activation=tf.nn.relu)
    return tf.layers.dense(y, 10)


class Training:
    """The network in training; `export` writes what it has learned so far."""

    def __init__(self):
        tf.set_random_seed(1)
        self.images = tf.placeholder(tf.float32, [None, 8, 8, 1], name="images")
        self.labels = tf.placeholder(tf.int64, [None])
        logits = network(self.images)
        self.digits = tf.argmax(logits, 1, name="digits")
        self.probabilities = tf.nn.softmax(logits)
        loss = tf.losses.sparse_softmax_cross_entropy(self.labels, logits)
        self.step = tf.train.AdamOptimizer(0.002).minimize(loss)
        self.session = tf.Session()
        self.session.run(tf.global_variables_initializer())

    def train(self, images, labels, epochs):
        """Goes through the digits so many times."""
        shuffle = np.random.default_rng(0).permutation
        for _ in range(epochs):
            for batch in np.array_split(shuffle(len(images)), len(images) // BATCH):
                feed = {self.images: images[batch], self.labels: labels[batch]}
                self.session.run(self.step, feed)

    def export(self, folder, version):
        """A version for the server, which sees it once it is whole."""
        tf.saved_model.simple_save(
            self.session,
            str(folder / str(version)),
            {"images": self.images},
            {"digits": self.digits, "probabilities": self.probabilities},
        )


class Server:
    """`tensorloom serve` in a process of its own."""

    def __init__(self, folder):
        command = [sys.executable, "-m", "tensorloom", "serve", "--model_name=digits"]
        batching = folder.parent / "batching.config"
        batching.write_text("max_batch_size { value: 64 }")
        command += [
            f"--model_base_path={folder}",
            "--port=-1",
            "--rest_api_port=-1",
            "--file_system_poll_wait_seconds=0.2",
            "--enable_batching",
            f"--batching_parameters_file={batching}",
        ]
        self._process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        self.grpc, self.rest = (self._address(name) for name in ("gRPC", "HTTP"))
        self._wait_for("All models are available")
        threading.Thread(target=self._read_on, daemon=True).start()

    def _address(self, name):
        return self._wait_for(f"{name} is at ").split()[-1]

    def _wait_for(self, text):
        for line in self._process.stderr:
            if text in line:
                return line
        raise SystemExit(f"the server ended with status {self._process.wait()}")

    def _read_on(self):
        for _ in self._process.stderr:
            pass

    def stop(self):
        """Ends it as a cluster manager would."""
        self._process.send_signal(signal.SIGTERM)
        return self._process.wait(30)


class Client:
    """Asks one digit after the other, and notes what came, and when."""

    def __init__(self, images, labels, first):
        self._images, self._labels, self._next = images, labels, first
        self.seconds, self.failed = [], []
        #: How many answers each version gave, and how many of them were right.
        self.answers = {}

    def ask_once(self):
        """One request."""
        place = self._next % len(self._labels)
        self._next += 7
        started = time.perf_counter()
        try:
            digit, version = self.ask(self._images[place])
        except Exception as error:
            self.failed.append(error)
            return
        self.seconds.append(time.perf_counter() - started)
        total, right = self.answers.get(version, (0, 0))
        self.answers[version] = total + 1, right + (digit == self._labels[place])


class RestClient(Client):
    """By HTTP: JSON. The answer says nothing of its version."""

    kind = "REST"

    def __init__(self, server, *arguments):
        super().__init__(*arguments)
        self._connection = http.client.HTTPConnection(server.rest, timeout=30)

    def ask(self, image):
        """(digit, version)"""
        body = json.dumps({"instances": [image.tolist()]})
        self._connection.request("POST", "/v1/models/digits:predict", body)
        answer = json.load(self._connection.getresponse())
        return answer["predictions"][0]["digits"], None


class GrpcClient(Client):
    """By gRPC."""

    kind = "gRPC"

    def __init__(self, server, *arguments):
        super().__init__(*arguments)
        channel = grpc.insecure_channel(
            server.grpc, [("grpc.use_local_subchannel_pool", 1)]
        )
        self._call = channel.unary_unary(
            METHOD,
            predict_pb2.PredictRequest.SerializeToString,
            predict_pb2.PredictResponse.FromString,
        )

    def ask(self, image):
        """(digit, version)"""
        request = predict_pb2.PredictRequest()
        request.model_spec.name = "digits"
        request.inputs["images"].CopyFrom(tf.make_tensor_proto(image[None]))
        answer = self._call(request, timeout=30)
        return answer.outputs["digits"].int64_val[0], answer.model_spec.version.value


def ask_for_ever(clients, stop):
    """Starts the clients, a thread each."""

    def run(client):
        while not stop.is_set():
            client.ask_once()

    threads = [threading.Thread(target=run, args=(client,)) for client in clients]
    for thread in threads:
        thread.start()
    return threads


def wait_for_version(server, version, timeout_s=60):
    """Waits until the server has taken a version over, and has let go of others."""
    end = time.monotonic() + timeout_s
    while time.monotonic() < end:
        connection = http.client.HTTPConnection(server.rest, timeout=30)
        connection.request("GET", "/v1/models/digits")
        states = json.load(connection.getresponse())["model_version_status"]
        connection.close()
        found = {int(s["version"]) for s in states if s["state"] == "AVAILABLE"}
        if found == {version}:
            return
        time.sleep(0.05)
    raise SystemExit(f"version {version} did not come: {states}")


def milliseconds(seconds, part):
    """A quantile."""
    return f"{np.quantile(seconds, part) * 1e3:.2f}"


def show(console, title, groups):
    """A table of latencies: (name, clients) each."""
    table = Table(title=title)
    for column in ("", "requests", "p50 ms", "p99 ms", "failed"):
        table.add_column(column, justify="right")
    for name, clients in groups:
        seconds = [s for client in clients for s in client.seconds]
        failed = sum(len(client.failed) for client in clients)
        if seconds:
            table.add_row(
                name,
                str(len(seconds)),
                milliseconds(seconds, 0.5),
                milliseconds(seconds, 0.99),
                str(failed),
            )
    console.print(table)


def main():
    """Runs it; the exit status is 1 if a request failed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--epochs", type=int, default=4, help="before each export")
    parser.add_argument("--versions", type=int, default=3)
    parser.add_argument("--clients", type=int, default=2, help="of each kind")
    options = parser.parse_args()
    console = Console()
    images, test_images, labels, test_labels = load_data()
    with tempfile.TemporaryDirectory() as directory:
        folder = Path(directory) / "digits"
        folder.mkdir()
        training = Training()
        training.train(images, labels, options.epochs)
        training.export(folder, 1)
        server = Server(folder)
        console.print(f"serving version 1: gRPC {server.grpc}, HTTP {server.rest}")
        try:
            failed = run(console, options, training, server, folder, test_images,
                         test_labels, (images, labels))  # fmt: skip
        finally:
            status = server.stop()
    console.print(f"dropped requests: {failed}; the server ended with status {status}")
    return 1 if failed or status else 0


def run(console, options, training, server, folder, images, labels, more):
    """Asks one client alone, then all of them while versions change."""
    kinds = (RestClient, GrpcClient)
    alone = [kind(server, images, labels, 0) for kind in kinds]
    for client in alone:
        for _ in range(len(labels)):
            client.ask_once()
    show(console, "one client", [(c.kind, [c]) for c in alone])
    clients = [
        kind(server, images, labels, number)
        for kind in kinds
        for number in range(options.clients)
    ]
    stop = threading.Event()
    threads = ask_for_ever(clients, stop)
    try:
        for version in range(2, options.versions + 1):
            training.train(*more, options.epochs)
            training.export(folder, version)
            wait_for_version(server, version)
            console.print(f"version {version} has taken over")
            time.sleep(1.0)
    finally:
        stop.set()
        for thread in threads:
            thread.join()
    groups = [(k.kind, [c for c in clients if c.kind == k.kind]) for k in kinds]
    show(console, f"{len(clients)} clients, while versions change", groups)
    show_accuracy(console, [*alone, *clients])
    return sum(len(client.failed) for client in [*alone, *clients])


def show_accuracy(console, clients):
    """How many answers of each version were right; of REST's in one."""
    found = {}
    for client in clients:
        for version, (total, right) in client.answers.items():
            before = found.get(version, (0, 0))
            found[version] = before[0] + total, before[1] + right
    for version, (total, right) in sorted(
        found.items(), key=lambda item: (item[0] is None, item[0])
    ):
        who = "REST" if version is None else f"gRPC, version {version}"
        console.print(f"{who}: {right / total:.1%} of {total} answers were right")


if __name__ == "__main__":
    os.environ.setdefault("GRPC_VERBOSITY", "NONE")
    sys.exit(main())
