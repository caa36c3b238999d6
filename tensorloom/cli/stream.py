"""`tensorloom stream`: messages of Kafka through a model, and its answers to Kafka."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, Final

from tensorloom.cli import serve
from tensorloom.cli.command import Command
from tensorloom.cli.signals import stop_at_signals

if TYPE_CHECKING:
    import argparse

# Every field of `StreamOptions`: its flag has the same name.
_HELP: Final = {
    "bootstrap_servers": "brokers, as host:port, with commas between them",
    "input_topics": "where messages come from, with commas between them",
    "output_topic": "where answers go",
    "dead_letter_topic": "where messages go that cannot be processed; without one such "
    "a message ends the stream",
    "group_id": "the consumer group",
    "kafka_config_file": "librdkafka's settings, as name=value in each line",
    "input_format": "of a message: json, example, tensor or raw",
    "output_format": "of an answer: json, example, tensor or raw",
    "signature_name": "of the model; '': its default one",
    "outputs": "of the signature that an answer has, with commas between them; '': all",
    "batch_size": "messages that are put together at most",
    "batch_timeout_ms": "that the first of a batch waits for others",
    "step_timeout_ms": "that a batch may take",
    "delivery": "at-least-once or exactly-once",
    "transactional_id": "of exactly-once; each process needs one of its own, and keeps "
    "it; '': the group's name and the host's",
    "commit_interval_ms": "between two commits",
    "commit_messages": "between two commits, at most",
    "retry_seconds": "that the model, or the broker, may be away",
}


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    from tensorloom.serving.options import ServerOptions
    from tensorloom.serving.stream.options import StreamOptions

    serve.add_flags(parser, StreamOptions, _HELP)
    server = parser.add_argument_group(
        "the model, and the server beside the stream (see `tensorloom serve`)"
    )
    # Nothing listens unless it is asked to.
    serve.add_flags(server, ServerOptions, serve.HELP, port=0)


def _execute(given: argparse.Namespace) -> int:
    from tensorloom.framework import errors
    from tensorloom.serving.options import ServerOptions
    from tensorloom.serving.stream.options import StreamOptions

    try:
        server = serve.chosen(given, ServerOptions)
        return _run(server, serve.chosen(given, StreamOptions))
    except ImportError as error:
        print(f"tensorloom stream: {error}", file=sys.stderr)
        return 2
    except (ValueError, OSError, errors.OpError) as error:
        message = getattr(error, "message", None) or str(error)
        print(f"tensorloom stream: {message}", file=sys.stderr)
        return 2


COMMAND = Command(
    name="stream",
    summary="messages of Kafka through a model, and its answers to Kafka",
    add_arguments=_add_arguments,
    execute=_execute,
)


def _run(server: Any, options: Any) -> int:
    from tensorloom.serving.stream.kafka_clients import confluent_kafka
    from tensorloom.serving.stream.stream_server import StreamServer
    from tensorloom.serving.stream.worker import StreamError

    kafka = confluent_kafka()
    serve.prepare_process()
    stream = StreamServer(server, options)

    stop_at_signals(stream.stop)
    try:
        stream.run()
    except (StreamError, kafka.KafkaException) as error:
        print(f"tensorloom stream: {error}", file=sys.stderr)
        return 1
    return 0
