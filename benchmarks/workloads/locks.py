"""A lock taken and released on Redis; beside it redis-py's own lock."""

import contextlib
import shutil
import socket
import subprocess
import tempfile
import time

from benchmarks.workloads.table import Table

table = Table()

NAME = "lock service: a lock on Redis, taken and released"
_LEASE_S = 60.0


@contextlib.contextmanager
def redis_server():
    """The port of a new server."""
    if shutil.which("redis-server") is None:
        raise RuntimeError("no redis-server is installed: make test-engines does")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    folder = tempfile.mkdtemp()
    server = subprocess.Popen(
        ["redis-server", "--bind", "127.0.0.1", "--port", str(port), "--save", ""],
        cwd=folder,
        stdout=subprocess.DEVNULL,
    )
    try:
        _wait(server, port)
        yield port
    finally:
        server.kill()
        server.wait()
        shutil.rmtree(folder, ignore_errors=True)


def _wait(server, port):
    for _ in range(600):
        if server.poll() is not None:
            break
        try:
            socket.create_connection(("127.0.0.1", port), 1.0).close()
            return
        except OSError:
            time.sleep(0.05)
    raise RuntimeError("redis-server does not answer")


@table.step(NAME, target=1.2)
def lock(tf):
    from tensorloom.coordination import open_coordinator

    with redis_server() as port:
        url = "redis://127.0.0.1:%d" % port
        with open_coordinator(url, _LEASE_S) as coordinator:
            one = coordinator.lock("bench")

            def step():
                one.acquire()
                one.release()

            yield step


def plain_lock():
    """The same with the library alone: no fencing token, and nobody renews it."""
    import redis

    with redis_server() as port, redis.Redis("127.0.0.1", port) as client:
        one = client.lock("bench", timeout=_LEASE_S)

        def step():
            one.acquire()
            one.release()

        yield step
