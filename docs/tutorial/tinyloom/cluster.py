"""Chapter 7: a master and workers. Parts run in other processes; tensors cross sockets.

A device is a task now, and its name an address: `127.0.0.1:2222`.
"""

import itertools
import socket
import sys
import threading

from tinyloom import wire
from tinyloom.devices import Rendezvous, partition, place, run_part
from tinyloom.graph import Graph
from tinyloom.passes import optimize
from tinyloom.session import Session


class Worker:
    """One task: it keeps parts and variables, and runs its part of each step."""

    def __init__(self, port=0):
        self._socket = socket.create_server(("127.0.0.1", port))
        self.address = f"127.0.0.1:{self._socket.getsockname()[1]}"
        self._parts = {}  # by handle
        self._steps = {}  # by step: its rendezvous
        self._lock = threading.Lock()
        self._session = Session(Graph())  # its variables

    def serve(self):
        """Answers until the socket is closed, a thread for each connection."""
        while True:
            try:
                connection, _ = self._socket.accept()
            except OSError:
                return
            threading.Thread(
                target=self._serve, args=(connection,), daemon=True
            ).start()

    def close(self):
        """Ends `serve`."""
        self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()

    def _serve(self, connection):
        with connection:
            while (message := _message(connection)) is not None:
                header, arrays = message
                try:
                    answer, values = getattr(self, "on_" + header["call"])(
                        header, arrays
                    )
                except Exception as error:
                    answer, values = {"error": f"{self.address}: {error}"}, []
                wire.write(connection, answer, values)

    def on_register(self, header, arrays):
        """Keeps a part: (nodes, fed names, result names)."""
        nodes = [wire.node_from_json(data, arrays) for data in header["nodes"]]
        part = {node.name: node for node in nodes}, header["fed"], header["results"]
        self._parts[header["handle"]] = part
        return {}, []

    def on_run(self, header, arrays):
        """Runs a part with fed values; answers with its fetches."""
        part = self._parts[header["handle"]]
        _, fed, results = part
        rendezvous, found = self._rendezvous(header["step"]), {}
        feeds = dict(zip(fed, arrays, strict=True))
        crossing = _Crossing(rendezvous, self.address, header["step"])
        run_part(part, feeds, self._session, crossing, found)
        if rendezvous._error:
            raise rendezvous._error
        return {}, [found[name] for name in results]

    def on_deliver(self, header, arrays):
        """Takes a tensor that another task sends; it may come before the step does."""
        self._rendezvous(header["step"]).send(header["key"], arrays[0])
        return {}, []

    def on_fail(self, header, arrays):
        """Ends a step that failed elsewhere."""
        self._rendezvous(header["step"]).fail(RuntimeError(header["why"]))
        return {}, []

    def on_forget(self, header, arrays):
        """A step is over everywhere."""
        self._steps.pop(header["step"], None)
        return {}, []

    def _rendezvous(self, step):
        with self._lock:
            return self._steps.setdefault(step, Rendezvous())


def _message(connection):
    """The next message; None if there is none, or what comes is none."""
    try:
        return wire.read(connection)
    except (OSError, ValueError):
        return None


class _Crossing:
    """A rendezvous whose `send` goes to the task that the key names: `node@task`."""

    def __init__(self, rendezvous, here, step):
        self._inner, self._here, self._step = rendezvous, here, step
        self.recv, self.fail = rendezvous.recv, rendezvous.fail

    def send(self, key, value):
        task = key.rpartition("@")[2]
        header = {"call": "deliver", "step": self._step, "key": key}
        call(task, header, [value])


_idle = {}  # by task: connections that no call uses now


def call(task, header, arrays=()):
    """Asks a task for something; answers with arrays.

    Raises:
      RuntimeError: the task could not do it, or is not there.
    """
    waiting = _idle.setdefault(task, [])
    connection = waiting.pop() if waiting else None
    try:
        if connection is None:
            host, _, port = task.partition(":")
            connection = socket.create_connection((host, int(port)), timeout=30)
        wire.write(connection, header, arrays)
        answer = wire.read(connection)
    except OSError as error:
        if connection is not None:
            connection.close()
        raise RuntimeError(f"{task} does not answer: {error}") from error
    if answer is None:
        connection.close()
        raise RuntimeError(f"{task} hung up")
    waiting.append(connection)
    if "error" in answer[0]:
        raise RuntimeError(answer[0]["error"])
    return answer[1]


def hang_up():
    """Closes the connections that no call uses."""
    for waiting in _idle.values():
        while waiting:
            waiting.pop().close()


class ClusterSession(Session):
    """The master: it cuts a step into parts, registers them once, and runs them all."""

    _steps = itertools.count()
    _handles = itertools.count()

    def __init__(self, graph, tasks):
        super().__init__(graph)
        self._tasks = tasks
        self._prepared = {}  # by signature: the parts, and their handle
        self._prefix = f"{socket.gethostname()}-{id(self)}"

    def run(self, fetches, feeds=None):
        """As `Session.run`.

        Raises:
          RuntimeError: a task failed or is gone; the others were told.
        """
        feeds = {node.name: value for node, value in (feeds or {}).items()}
        signature = tuple(n.name for n in fetches), tuple(feeds)
        if signature not in self._prepared:
            self._prepared[signature] = self._register(fetches, list(feeds))
        parts, handle = self._prepared[signature]
        step, found, errors = f"{self._prefix}-{next(self._steps)}", {}, []

        def run(task):
            header = {"call": "run", "handle": handle, "step": step}
            try:
                values = call(task, header, list(feeds.values()))
                found.update(zip(parts[task][2], values, strict=True))
            except RuntimeError as error:
                errors.append(error)
                self._tell(parts, {"call": "fail", "step": step, "why": str(error)})

        threads = [threading.Thread(target=run, args=(task,)) for task in parts]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self._tell(parts, {"call": "forget", "step": step})
        if errors:
            raise errors[0]
        return [found[name] for name in signature[0]]

    def _register(self, fetches, fed):
        nodes = optimize(self.graph, fetches, fed)
        results = [node.name for node in fetches]
        parts = partition(nodes, place(nodes, self._tasks), fed, results)
        handle = f"{self._prefix}-{next(self._handles)}"
        for task, (part, _, own) in parts.items():
            arrays = []
            data = [wire.node_to_json(node, arrays) for node in part.values()]
            header = {"call": "register", "handle": handle, "nodes": data}
            call(task, {**header, "fed": fed, "results": own}, arrays)
        return parts, handle

    @staticmethod
    def _tell(tasks, header):
        for task in tasks:
            try:
                call(task, header)
            except RuntimeError:
                continue  # it is gone: it waits for nothing


if __name__ == "__main__":
    worker = Worker(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
    print(worker.address, flush=True)
    worker.serve()
