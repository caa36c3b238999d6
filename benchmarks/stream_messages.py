"""`tensorloom stream` on librdkafka's mock brokers: what transactions cost."""

import contextlib
import shutil
import tempfile
import threading

from benchmarks import served_models
from benchmarks.workloads.serving import mlp
from benchmarks.workloads.table import seconds_of

# The brokers keep 5 MB of a partition.
MESSAGES = 4096


class _Counted:
    """The worker's delivery, which ends the stream after so many messages."""

    def __init__(self, worker, count):
        self._delivery, self._worker, self._left = worker._delivery, worker, count

    def __getattr__(self, name):
        return getattr(self._delivery, name)

    def commit(self, unit):
        self._delivery.commit(unit)
        self._left -= unit.count
        if self._left <= 0:
            self._worker.stop()


@contextlib.contextmanager
def brokers():
    """The addresses of three brokers in this process."""
    from confluent_kafka import Producer

    owner = Producer({"test.mock.num.brokers": 3, "log_level": 0})
    found = owner.list_topics(timeout=10).brokers.values()
    yield ",".join(f"{broker.host}:{broker.port}" for broker in found)


def seconds(tf, delivery):
    """The time from the first batch to the last commit."""
    from confluent_kafka import Producer

    from tensorloom.serving.options import ServerOptions
    from tensorloom.serving.stream.options import StreamOptions
    from tensorloom.serving.stream.stream_server import StreamServer

    folder = tempfile.mkdtemp()
    try:
        served_models.export(tf, folder, mlp(tf), [784])
        row = served_models.digits(784).tobytes()
        with brokers() as servers:
            producer = Producer({"bootstrap.servers": servers, "log_level": 0})
            for number in range(MESSAGES):
                while True:
                    try:
                        producer.produce("in", value=row, partition=number % 4)
                        break
                    except BufferError:
                        producer.poll(0.1)
            producer.flush(60)
            stream = StreamServer(
                ServerOptions(port=0, model_name="m", model_base_path=folder),
                StreamOptions(
                    bootstrap_servers=servers,
                    input_topics="in",
                    output_topic="out",
                    input_format="raw",
                    output_format="raw",
                    delivery=delivery,
                ),
            )
            return _run(stream)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _run(stream):
    worker = stream.worker
    worker._delivery = _Counted(worker, MESSAGES)
    begun = threading.Event()
    infer = worker._infer

    def first(values):
        begun.set()
        worker._infer = infer
        return infer(values)

    worker._infer = first
    runner = threading.Thread(target=stream.run)
    runner.start()
    begun.wait(60)
    spent = seconds_of(lambda: worker._stopped.wait(300))
    runner.join()
    return spent


def exactly_once_ratio():
    """The time of a message with transactions, over that without."""
    import tensorloom as tf

    found = []
    for delivery in ("at-least-once", "exactly-once"):
        # The best of some: other work on the machine only adds to it.
        with tf.Graph().as_default():
            found.append(min(seconds(tf, delivery) for _ in range(3)))
    return found[1] / found[0]
