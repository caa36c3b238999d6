"""`tensorloom data`: the tasks of an input service."""

from __future__ import annotations

import argparse
import json
import sys
from typing import Any

from tensorloom.cli.command import Command
from tensorloom.cli.signals import stop_at_signals


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    roles = parser.add_subparsers(title="tasks", metavar="TASK", required=True)
    dispatcher = roles.add_parser("dispatcher", help="hand out the splits of datasets")
    dispatcher.add_argument("--port", type=int, default=0, help="default: a free one")
    dispatcher.add_argument(
        "--host",
        default="localhost",
        help="how others reach it; it listens on all interfaces unless that is "
        "loopback (default: localhost)",
    )
    dispatcher.add_argument(
        "--work-dir", help="of its journal: started again with it, it goes on"
    )
    dispatcher.add_argument(
        "--workers",
        default="",
        metavar="ADDRESSES",
        help="host:port of each worker, with commas between: the fixed list that "
        "static sharding policies want",
    )
    dispatcher.add_argument(
        "--silence",
        type=float,
        default=60.0,
        metavar="SECONDS",
        help="how long workers and consumers may be silent (default: 60)",
    )
    dispatcher.add_argument(
        "--deny-ops",
        default="",
        metavar="NAMES",
        help="ops that no dataset may have, or 'safe', as of `tensorloom server`",
    )
    dispatcher.set_defaults(run=_dispatch)
    worker = roles.add_parser("worker", help="make the elements of splits")
    worker.add_argument("dispatcher", help="host:port of the dispatcher")
    worker.add_argument("--port", type=int, default=0, help="default: a free one")
    worker.add_argument(
        "--host",
        default="localhost",
        help="how consumers reach it; as of the dispatcher (default: localhost)",
    )
    worker.set_defaults(run=_work)
    status = roles.add_parser("status", help="jobs, workers and consumers, as JSON")
    status.add_argument("dispatcher", help="host:port of the dispatcher")
    status.set_defaults(run=_show)


def _execute(options: argparse.Namespace) -> int:
    from tensorloom.framework import errors

    try:
        return int(options.run(options))
    except (ValueError, OSError) as error:
        print(f"tensorloom data: {error}", file=sys.stderr)
    except errors.OpError as error:
        print(f"tensorloom data: {error.message}", file=sys.stderr)
    return 2


COMMAND = Command(
    name="data",
    summary="run the dispatcher or a worker of an input service",
    add_arguments=_add_arguments,
    execute=_execute,
)


def _dispatch(options: argparse.Namespace) -> int:
    # Graphs are read with all ops that there are.
    import tensorloom as tf

    service = tf.data.experimental.service
    config = service.DispatcherConfig(
        port=options.port,
        work_dir=options.work_dir,
        fault_tolerant_mode=options.work_dir is not None,
        worker_timeout_ms=int(options.silence * 1000),
        worker_addresses=options.workers.split(",") if options.workers else None,
    )
    denied = options.deny_ops.split(",") if options.deny_ops else ()
    server = service.DispatchServer(config, host=options.host, deny_ops=denied)
    _serve(server, f"The dispatcher is at {server.target}")
    if server.has_lost:
        print(f"tensorloom data: {server.has_lost}", file=sys.stderr)
    return 1 if server.has_lost else 0


def _work(options: argparse.Namespace) -> int:
    import tensorloom as tf

    service = tf.data.experimental.service
    config = service.WorkerConfig(
        dispatcher_address=options.dispatcher.removeprefix("grpc://"),
        worker_address=f"{options.host}:%port%",
        port=options.port,
    )
    server = service.WorkerServer(config)
    _serve(server, f"A worker of {config.dispatcher_address} is at {server.address}")
    return 0


def _serve(server: Any, text: str) -> None:
    stop_at_signals(server.stop)
    print(text, file=sys.stderr, flush=True)
    server.join()


def _show(options: argparse.Namespace) -> int:
    from tensorloom.data.service.calls import call
    from tensorloom.transport.grpc.channel import GrpcChannel

    channel = GrpcChannel(options.dispatcher.removeprefix("grpc://"))
    try:
        found, _ = call(channel, "Describe", {}, timeout_s=5.0)
        for address in found["workers"].values():
            found.setdefault("made", {})[address] = _elements(address)
    finally:
        channel.close()
    print(json.dumps(found, indent=2))
    return 0


def _elements(address: str) -> int | None:
    """How many elements a worker has sent; None if it does not answer."""
    from tensorloom.data.service.calls import call
    from tensorloom.framework import errors
    from tensorloom.transport.grpc.channel import GrpcChannel

    channel = GrpcChannel(address)
    try:
        return int(call(channel, "Describe", {}, timeout_s=5.0)[0]["elements"])
    except errors.OpError:
        return None
    finally:
        channel.close()
