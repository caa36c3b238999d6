"""A model that trains from a Kafka topic, and is served while it does.

Scanned digits come as messages, one `tf.Example` each. The training reads them through
`tf.contrib.kafka.KafkaDataset`; every so many steps it writes a checkpoint, which has
its place in the topic, too, and the next version of the model, which a model server
takes over while clients ask it. Halfway the training is given up, and another one goes
on from the last checkpoint, behind the last message that went into it.

    tensorloom run examples/digits_stream.py --bootstrap_servers kafka1:9092

Without servers it has brokers in its own process (librdkafka's mock cluster).
"""

import argparse
import os
import sys
import tempfile
import threading
import time
from pathlib import Path

import numpy as np
from confluent_kafka import Producer
from digits_cnn import load_data
from digits_serve import (
    GrpcClient,
    RestClient,
    Server,
    ask_for_ever,
    network,
    show,
    show_accuracy,
    wait_for_version,
)
from rich.console import Console

import tensorloom as tf

BATCH = 32
# What a message has.
FEATURES = {
    "image": tf.FixedLenFeature([8, 8, 1], tf.float32),
    "label": tf.FixedLenFeature([], tf.int64),
    "number": tf.FixedLenFeature([], tf.int64),
}


# --- the topic -----------------------------------------------------------------------


def start_brokers():
    """A producer with brokers in this process, and their addresses."""
    owner = Producer({"test.mock.num.brokers": 3, "log_level": 2})
    brokers = owner.list_topics(timeout=30).brokers.values()
    return owner, ",".join(f"{broker.host}:{broker.port}" for broker in brokers)


def message(image, label, number):
    """A digit, and which message of the topic it is."""
    example = tf.train.Example()
    feature = example.features.feature
    feature["image"].float_list.value.extend(image.ravel().tolist())
    feature["label"].int64_list.value.append(int(label))
    feature["number"].int64_list.value.append(number)
    return example.SerializeToString()


class Source(threading.Thread):
    """Sends digits as they come in, some hundreds a second."""

    def __init__(self, servers, topic, images, labels, count):
        super().__init__(daemon=True)
        self._producer = Producer({"bootstrap.servers": servers, "log_level": 2})
        self._topic, self._count = topic, count
        self._images, self._labels = images, labels

    def run(self):
        """Sends so many messages, each once."""
        order = np.random.default_rng(0).integers(0, len(self._labels), self._count)
        for number, place in enumerate(order):
            value = message(self._images[place], self._labels[place], number)
            self._producer.produce(self._topic, value, partition=0)
            if number % BATCH == 0:
                self._producer.poll(0.0)
                time.sleep(0.01)
        self._producer.flush(60)


# --- training ------------------------------------------------------------------------


class Training:
    """The network, fed by the topic; it begins where the last checkpoint ends."""

    def __init__(self, servers, topic, checkpoints):
        self._graph = tf.Graph()
        with self._graph.as_default():
            tf.set_random_seed(1)
            self._build(tf.contrib.kafka.KafkaDataset([topic], servers, "training"))
            self.session = tf.Session()
            self.session.run(tf.global_variables_initializer())
            self.session.run(self._iterator.initializer)
        self._prefix = str(checkpoints / "model")
        latest = tf.train.latest_checkpoint(str(checkpoints))
        if latest is not None:
            self._saver.restore(self.session, latest)
        #: Where it begins.
        self.first = self.session.run(self._step)

    def _build(self, messages):
        dataset = messages.batch(BATCH, drop_remainder=True)
        dataset = dataset.map(lambda batch: tf.parse_example(batch, FEATURES))
        self._iterator = tf.data.make_initializable_iterator(dataset)
        digits = self._iterator.get_next()
        self._images = tf.placeholder_with_default(
            digits["image"], [None, 8, 8, 1], "images"
        )
        logits = network(self._images)
        self._digits = tf.argmax(logits, 1, name="digits")
        self._probabilities = tf.nn.softmax(logits)
        loss = tf.losses.sparse_softmax_cross_entropy(digits["label"], logits)
        self._step = tf.train.get_or_create_global_step()
        # How many messages it has seen, and the sum of their numbers: none comes twice,
        # and none is left out.
        numbers = digits["number"]
        seen = [tf.get_variable(n, [], tf.int64, tf.zeros_initializer()) for n in "ab"]
        self._train = tf.group(
            tf.train.AdamOptimizer(0.002).minimize(loss, self._step),
            seen[0].assign_add(tf.size(numbers, out_type=tf.int64)),
            seen[1].assign_add(tf.reduce_sum(numbers)),
        )
        self._seen = seen
        place = tf.data.experimental.make_saveable_from_iterator(self._iterator)
        self._saver = tf.train.Saver([*tf.global_variables(), place], max_to_keep=3)

    def run(self, steps):
        """Trains on so many batches."""
        for _ in range(steps):
            self.session.run(self._train)

    def save(self):
        """Writes a checkpoint."""
        self._saver.save(self.session, self._prefix, self._step)

    def export(self, folder):
        """Writes a version, named after the step; it is there at once, and whole."""
        version = self.session.run(self._step)
        path = folder / f"writing-{version}"
        with self._graph.as_default():
            tf.saved_model.simple_save(
                self.session,
                str(path),
                {"images": self._images},
                {"digits": self._digits, "probabilities": self._probabilities},
            )
        path.rename(folder / str(version))
        return version

    def has_seen(self):
        """Whether it was trained on the first messages of the topic, each once."""
        count, total = self.session.run(self._seen)
        steps = self.session.run(self._step)
        return count == steps * BATCH and total == count * (count - 1) // 2

    def close(self):
        """Lets go of the topic."""
        self.session.close()


# --- all together --------------------------------------------------------------------


def main():
    """Runs it; the exit status is 1 if a request failed, or a message was missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bootstrap_servers", default="", help="of a Kafka cluster")
    parser.add_argument("--topic", default="digits", help="a topic without messages")
    parser.add_argument("--versions", type=int, default=6)
    parser.add_argument("--steps", type=int, default=40, help="between two versions")
    parser.add_argument("--clients", type=int, default=2, help="of each kind")
    options = parser.parse_args()
    console = Console()
    images, test_images, labels, test_labels = load_data()
    owner, servers = None, options.bootstrap_servers
    if not servers:
        owner, servers = start_brokers()
    count = options.versions * options.steps * BATCH
    Source(servers, options.topic, images, labels, count).start()
    with tempfile.TemporaryDirectory() as directory:
        stream = Stream(console, Path(directory), servers, options)
        failed, status = stream.run(options, test_images, test_labels)
    del owner
    return 1 if failed or status or not stream.is_whole else 0


class Stream:
    """Training and serving, side by side."""

    def __init__(self, console, directory, servers, options):
        self._console, self._servers = console, servers
        self._topic, self._steps = options.topic, options.steps
        self._models, self._checkpoints = (
            directory / "digits",
            directory / "checkpoints",
        )
        self._models.mkdir()
        self._checkpoints.mkdir()
        self.is_whole = False

    def run(self, options, images, labels):
        """(requests that failed, the server's exit status)"""
        training = self._start_training()
        self._next_version(training)
        server = Server(self._models)
        clients = [
            kind(server, images, labels, number)
            for kind in (RestClient, GrpcClient)
            for number in range(options.clients)
        ]
        stop = threading.Event()
        threads = ask_for_ever(clients, stop)
        try:
            for number in range(1, options.versions):
                if number == options.versions // 2:
                    training.run(3)  # which no checkpoint has
                    training.close()
                    training = self._start_training()
                    self._console.print(f"training goes on from step {training.first}")
                version = self._next_version(training)
                wait_for_version(server, version)
                while not any(version in client.answers for client in clients):
                    time.sleep(0.01)
                self._console.print(f"version {version} has taken over")
        finally:
            stop.set()
            for thread in threads:
                thread.join()
            status = server.stop()
        self.is_whole = training.has_seen()
        training.close()
        return self._report(clients, status), status

    def _start_training(self):
        return Training(self._servers, f"{self._topic}:0:0:-1", self._checkpoints)

    def _next_version(self, training):
        training.run(self._steps)
        training.save()
        return training.export(self._models)

    def _report(self, clients, status):
        show(self._console, "clients, while versions change", [
            (kind, [c for c in clients if c.kind == kind]) for kind in ("REST", "gRPC")
        ])  # fmt: skip
        show_accuracy(self._console, clients)
        failed = sum(len(client.failed) for client in clients)
        missed = "each message once" if self.is_whole else "other messages than sent"
        self._console.print(f"trained on {missed}")
        self._console.print(
            f"failed requests: {failed}; the server ended with status {status}"
        )
        return failed


if __name__ == "__main__":
    os.environ.setdefault("GRPC_VERBOSITY", "NONE")
    sys.exit(main())
