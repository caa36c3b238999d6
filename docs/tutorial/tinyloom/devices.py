"""Chapter 6: devices. A graph is cut into parts; tensors meet in a rendezvous."""

import threading

from tinyloom.executor import compile_step
from tinyloom.graph import Graph, Node
from tinyloom.passes import optimize
from tinyloom.session import Session


class Rendezvous:
    """Where a value waits for who needs it, under a key; of one step."""

    def __init__(self):
        self._changed = threading.Condition()
        self._values = {}
        self._error = None

    def send(self, key, value):
        """Leaves a value."""
        with self._changed:
            self._values[key] = value
            self._changed.notify_all()

    def recv(self, key):
        """Takes a value; waits until it is there.

        Raises:
          Exception: the step failed elsewhere.
        """
        with self._changed:
            self._changed.wait_for(lambda: key in self._values or self._error)
            if key not in self._values:
                raise self._error
            return self._values[key]

    def fail(self, error):
        """Wakes everybody who waits: what they wait for will not come."""
        with self._changed:
            self._error = self._error or error
            self._changed.notify_all()


def place(nodes, devices):
    """A device for each node: what it asks for, else where its variable is, else the
    first one. A variable and what changes it belong together."""
    found = {}
    for name, node in nodes.items():
        home = node.attrs.get("variable")
        wish = found.get(home, node.device)
        if wish and wish not in devices:
            raise ValueError(f"{name} asks for the device {wish}; there are {devices}")
        found[name] = wish or devices[0]
    return found


def partition(nodes, places, fed, results):
    """The part of each device: {device: (nodes, fed names, result names)}.

    An edge between devices becomes a Send on one side and a Recv on the other; several
    readers on one device share them. The parts keep the order of the whole graph, so
    that two of them never wait for each other in a circle.
    """
    parts = {device: {} for device in places.values()}
    for name, node in nodes.items():
        here, inputs = places[name], []
        for source in node.inputs:
            there = places.get(source, here)  # what is fed is given to each part
            if there == here:
                inputs.append(source)
                continue
            key = f"{source}@{here}"
            if key not in parts[here]:
                end = {"key": key, "rendezvous": True}
                send = Node(node.graph, f"send {key}", "Send", (source,), end)
                parts[there][send.name] = send
                parts[here][key] = Node(node.graph, key, "Recv", (), end)
            inputs.append(key)
        parts[here][name] = Node(
            node.graph, name, node.op, tuple(inputs), node.attrs, here
        )
    return {
        device: (part, fed, [r for r in results if places.get(r) == device])
        for device, part in parts.items()
    }


class DevicesSession(Session):
    """A session with several devices: here, threads of this process."""

    def __init__(self, graph, devices):
        super().__init__(graph)
        self._devices = devices

    def run(self, fetches, feeds=None):
        """As `Session.run`; the parts of the step run side by side."""
        feeds = {node.name: value for node, value in (feeds or {}).items()}
        nodes = optimize(self.graph, fetches, feeds)
        places = place(nodes, self._devices)
        results = [node.name for node in fetches]
        rendezvous, found = Rendezvous(), dict(feeds)
        threads = [
            threading.Thread(
                target=run_part, args=(part, feeds, self, rendezvous, found)
            )
            for part in partition(nodes, places, list(feeds), results).values()
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if rendezvous._error:
            raise rendezvous._error
        return [found[name] for name in results]


def run_part(part, feeds, session, rendezvous, found):
    """Runs one part; what it computes of the fetches goes into `found`."""
    nodes, fed, results = part
    try:
        step = compile_step(nodes, fed, results, _WithRendezvous(session, rendezvous))
        found.update(zip(results, step(*[feeds[name] for name in fed]), strict=True))
    except Exception as error:
        rendezvous.fail(error)


class _WithRendezvous:
    """What a part asks for the nodes that are no plain kernels."""

    def __init__(self, session, rendezvous):
        self._session, self._rendezvous = session, rendezvous

    def compute(self, node, inputs):
        if node.op == "Send":
            return self._rendezvous.send(node.attrs["key"], *inputs)
        if node.op == "Recv":
            return self._rendezvous.recv(node.attrs["key"])
        return self._session.compute(node, inputs)


if __name__ == "__main__":
    g = Graph()
    x = g.placeholder("x")
    with g.device("B"):
        half = g.add("Relu", x) * 0.5
    total = g.add("Mean", half + x)
    nodes = optimize(g, [total], {"x"})
    parts = partition(nodes, place(nodes, ["A", "B"]), ["x"], [total.name])
    for device, (part, _, _) in parts.items():
        print(device, "  ".join(part))
    print(DevicesSession(g, ["A", "B"]).run([total], {x: [1.0, -3.0]}))
