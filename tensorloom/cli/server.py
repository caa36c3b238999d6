"""`tensorloom server`, one task of a cluster or its end, and `tensorloom dashboard`."""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tensorloom.cli.command import Command
from tensorloom.cli.signals import stop_at_signals

if TYPE_CHECKING:
    from tensorloom.cluster.server import Server
    from tensorloom.inspect.live.dashboard import Dashboard


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--cluster",
        help="the tasks: 'ps=h0:2222;worker=h1:2222,h2:2222', JSON, a file of it, or "
        "'env' for TF_CONFIG (default: TF_CONFIG if it is set)",
    )
    parser.add_argument("--job", help="the job of this task, such as ps")
    parser.add_argument("--task", type=int, help="its index in the job")
    parser.add_argument(
        "--protocol", default="grpc", help="how it speaks with others (default: grpc)"
    )
    parser.add_argument(
        "--deny-ops",
        metavar="OPS",
        help="ops not to run for clients: 'safe' for all that reach files, the network "
        "or Python, and names or patterns with commas between them",
    )
    parser.add_argument(
        "--load",
        action="append",
        default=[],
        metavar="LIBRARY",
        help="a library of ops and kernels, or a folder of them; may be repeated",
    )
    parser.add_argument(
        "--stop",
        metavar="ADDRESS",
        help="stop the task at that address instead of starting one",
    )
    parser.add_argument(
        "--dashboard",
        type=int,
        metavar="PORT",
        help="serve a live page over the cluster at that port; 0 for a free one",
    )
    _add_host_argument(parser)


def _add_host_argument(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--dashboard-host",
        default="127.0.0.1",
        metavar="ADDRESS",
        help="where the page is served (default: loopback). Its token, from "
        "TENSORLOOM_DASHBOARD_TOKEN or made anew, goes over the network as it is",
    )


def _add_dashboard_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "cluster",
        help="the tasks: 'ps=h0:2222;worker=h1:2222,h2:2222', JSON, or a file of it",
    )
    parser.add_argument(
        "--port", type=int, default=0, help="of the page (default: a free one)"
    )
    _add_host_argument(parser)


def _execute(options: argparse.Namespace) -> int:
    from tensorloom.framework import errors

    try:
        if options.stop:
            return _stop(options.stop)
        return _serve(options)
    except (ValueError, TypeError, OSError, errors.OpError) as error:
        print(f"tensorloom server: {error}", file=sys.stderr)
        return 2


COMMAND = Command(
    name="server",
    summary="run one task of a cluster, or stop one",
    add_arguments=_add_arguments,
    execute=_execute,
)


def _show(options: argparse.Namespace) -> int:
    """Serves the live page until a signal comes."""
    import tensorloom as tf
    from tensorloom.inspect.live.opening import open_dashboard
    from tensorloom.inspect.live.watcher import tasks_of

    over = threading.Event()
    try:
        cluster = tf.train.ClusterSpec(parse_cluster(options.cluster))
        tasks = tasks_of(cluster.addresses())
        dashboard = open_dashboard(tasks, options.port, options.dashboard_host)
    except (ValueError, TypeError, OSError) as error:
        print(f"tensorloom dashboard: {error}", file=sys.stderr)
        return 2
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda number, frame: over.set())
    over.wait()
    dashboard.close()
    return 0


DASHBOARD = Command(
    name="dashboard",
    summary="serve a live page over a running cluster",
    add_arguments=_add_dashboard_arguments,
    execute=_show,
)


def _stop(address: str) -> int:
    from tensorloom.cluster.control import stop_server

    stop_server(address, "asked for on a command line")
    return 0


def _serve(options: argparse.Namespace) -> int:
    # Masters and workers run any op that a client knows.
    import tensorloom as tf
    from tensorloom.cluster.server import Server

    for library in options.load:
        tf.load_library(library)

    config = _environment(options.cluster)
    cluster = config["cluster"] if config else parse_cluster(options.cluster)
    task = config.get("task", {}) if config else {}
    job = options.job or task.get("type")
    index = options.task if options.task is not None else task.get("index")
    server = Server(
        cluster,
        job_name=job,
        task_index=index,
        protocol=options.protocol,
        deny_ops=options.deny_ops.split(",") if options.deny_ops else (),
    )
    stop_at_signals(server.stop)
    name = f"/job:{server.server_def.job_name}/task:{server.server_def.task_index}"
    print(f"{name} is at {server.target}", file=sys.stderr, flush=True)
    dashboard = None
    if options.dashboard is not None:
        dashboard = _open_dashboard(server, options.dashboard, options.dashboard_host)
    server.join()
    if dashboard is not None:
        dashboard.close()
    return 0


def _open_dashboard(server: Server, port: int, host: str) -> Dashboard:
    """The live page over the cluster; this task is asked without a call."""
    from tensorloom.inspect.live.opening import open_dashboard
    from tensorloom.inspect.live.watcher import tasks_of
    from tensorloom.train.cluster_spec import ClusterSpec

    definition = server.server_def
    addresses = ClusterSpec(definition.cluster).addresses()
    own = f"/job:{definition.job_name}/replica:0/task:{definition.task_index}"
    return open_dashboard({**tasks_of(addresses), own: server.describe}, port, host)


def _environment(given: str | None) -> dict[str, Any] | None:
    """The content of TF_CONFIG, if that is what was asked for."""
    if given not in (None, "env"):
        return None
    text = os.environ.get("TF_CONFIG")
    if not text:
        raise ValueError("which cluster? Give --cluster, or set TF_CONFIG")
    config = _json(text, "TF_CONFIG")
    if not isinstance(config, dict) or "cluster" not in config:
        raise ValueError("TF_CONFIG has no 'cluster'")
    return config


def parse_cluster(text: str) -> dict[str, Any]:
    """The jobs in a `--cluster` argument.

    Raises:
      ValueError: it is none.
    """
    if text.lstrip().startswith("{"):
        return _jobs(_json(text, "--cluster"))
    path = Path(text)
    if path.is_file():
        return _jobs(_json(path.read_text(), text))
    jobs: dict[str, Any] = {}
    for part in filter(None, text.replace("|", ";").split(";")):
        job, equals, addresses = part.partition("=")
        if not equals or not addresses:
            raise ValueError(
                f"--cluster {text!r} is neither a file, nor JSON, nor of the form "
                "'ps=host:port;worker=host:port,host:port'"
            )
        jobs[job.strip()] = [a.strip() for a in addresses.split(",")]
    if not jobs:
        raise ValueError("--cluster is empty")
    return jobs


def _json(text: str, what: str) -> Any:
    try:
        return json.loads(text)
    except ValueError as error:
        raise ValueError(f"{what} is no JSON: {error}") from None


def _jobs(value: Any) -> dict[str, Any]:
    """Jobs of a JSON value: those of a TF_CONFIG, too; task indices as numbers."""
    if isinstance(value, dict) and isinstance(value.get("cluster"), dict):
        value = value["cluster"]
    if not isinstance(value, dict):
        raise ValueError("A cluster in JSON is an object of jobs")
    return {
        job: {int(index): address for index, address in tasks.items()}
        if isinstance(tasks, dict)
        else tasks
        for job, tasks in value.items()
    }
