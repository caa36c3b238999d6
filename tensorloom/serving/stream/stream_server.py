"""`StreamServer`: a stream, and the model server beside it, put together."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tensorloom.serving.model_server import ModelServer
from tensorloom.serving.stream import kafka_clients
from tensorloom.serving.stream.delivery import AtLeastOnce, ExactlyOnce
from tensorloom.serving.stream.inference import Inference
from tensorloom.serving.stream.options import EXACTLY_ONCE
from tensorloom.serving.stream.stream_metrics import StreamMetrics
from tensorloom.serving.stream.worker import StreamWorker

if TYPE_CHECKING:
    from tensorloom.serving.options import ServerOptions
    from tensorloom.serving.stream.options import StreamOptions


class StreamServer:
    """Loads a model, and answers messages with it.

    stream = StreamServer(ServerOptions(port=0, model_base_path="/models/m"), options)
    stream.run()   # until another thread calls stream.stop()
    """

    def __init__(self, server: ServerOptions, stream: StreamOptions) -> None:
        """Reads what the options name.

        Raises:
          ValueError: an option is wrong.
          ImportError: confluent-kafka is not installed.
          OSError, errors.OpError: as `ModelServer`.
        """
        stream.check()
        kafka_clients.confluent_kafka()
        self._options = stream
        self.server = ModelServer(server)
        self.metrics = StreamMetrics(self.server.metrics.registry)
        inference = Inference(self.server.core, server.model_name, stream)
        self._check = inference.check
        consumer = kafka_clients.make_consumer(stream)
        producer = kafka_clients.make_producer(stream)
        kind = ExactlyOnce if stream.delivery == EXACTLY_ONCE else AtLeastOnce
        self.worker = StreamWorker(
            consumer,
            kind(consumer, producer, self.metrics.backpressure_seconds.inc),
            inference.run,
            stream,
            self.metrics,
        )

    def run(self) -> None:
        """Loads the model, and works until `stop`.

        Raises:
          StreamError, KafkaException: as `StreamWorker.run`.
          errors.OpError: the model cannot be loaded, or does not go with the stream.
        """
        try:
            if self.server.start():
                self._check()
                self.worker.run()
        finally:
            self.server.stop()

    def stop(self) -> None:
        """Ends `run` after what is under way. Any thread."""
        self.server.core.cancel_start()
        self.worker.stop()
