"""Chapter 3: a session. It runs what the fetches need, and nothing else."""

import threading

import numpy as np

from tinyloom.graph import KERNELS, Graph


class Session:
    """Runs steps of a graph; keeps the values of its variables."""

    def __init__(self, graph):
        self.graph = graph
        self.values = {}  # of variables, by name
        self._lock = threading.Lock()

    def run(self, fetches, feeds=None):
        """The values of nodes.

        Args:
          fetches: a list of nodes.
          feeds: values that replace those of nodes, for this step.

        Raises:
          ValueError: a placeholder that is needed was not fed; a node failed.
        """
        known = {n.name: np.asarray(v, np.float32) for n, v in (feeds or {}).items()}
        for node in pruned(self.graph, fetches, known):
            known[node.name] = self.compute(node, [known[i] for i in node.inputs])
        return [known[node.name] for node in fetches]

    def compute(self, node, inputs):
        """The value of one node."""
        if node.op == "Const":
            return node.attrs["value"]
        if node.op == "Placeholder":
            raise ValueError(f"You must feed a value for the placeholder {node.name}")
        if node.op == "Variable":
            with self._lock:
                return self.values.setdefault(node.name, node.attrs["initial"])
        try:
            if node.op in ("Assign", "AssignSub"):
                return self.assign(node, *inputs)
            return KERNELS[node.op](*inputs)
        except Exception as error:
            shapes = ", ".join(str(np.shape(value)) for value in inputs)
            text = f"{node.name} ({node.op}) of shapes {shapes}: {error}"
            raise ValueError(text) from error

    def assign(self, node, variable, change):
        """Changes a variable; a value that was read before stays what it was.

        What is subtracted from is the value of now, not the one that the step read
        earlier: another step may have changed it since (chapter 8).
        """
        name = node.attrs["variable"]
        with self._lock:
            value = change
            if node.op == "AssignSub":
                value = self.values.get(name, variable) - change
            self.values[name] = value
        return value


def pruned(graph, fetches, fed):
    """The nodes that a step has to compute, inputs first.

    Backwards from the fetches; what is fed ends the walk, so nothing behind it runs.
    """
    needed, stack = set(), [node.name for node in fetches]
    while stack:
        name = stack.pop()
        if name not in needed and name not in fed:
            needed.add(name)
            stack += graph.nodes[name].inputs
    return [node for name, node in graph.nodes.items() if name in needed]


def assign(variable, value):
    """A node that gives a variable another value."""
    return variable.graph.add("Assign", variable, value, variable=variable.name)


def descend(loss, variables, rate):
    """The nodes of one step of gradient descent."""
    from tinyloom.gradients import gradients

    return [
        v.graph.add("AssignSub", v, g * rate, variable=v.name, name=f"update_{v.name}")
        for v, g in zip(variables, gradients(loss, variables), strict=True)
    ]


def line_fit(graph):
    """A model to try things with: w and b of y = x @ w + b. (x, y, loss, [w, b])"""
    x, y = graph.placeholder("x"), graph.placeholder("y")
    w, b = graph.variable(np.zeros([3, 1]), "w"), graph.variable([0.0], "b")
    difference = x @ w + b - y
    return x, y, graph.add("Mean", difference * difference, name="loss"), [w, b]


def line_data(count=64, seed=0):
    """Rows of x, and y = x @ [[1], [-2], [0.5]] + 0.25."""
    x = np.random.RandomState(seed).randn(count, 3)
    return x, x @ np.array([[1.0], [-2.0], [0.5]]) + 0.25


if __name__ == "__main__":
    g = Graph()
    x, y, loss, variables = line_fit(g)
    train = descend(loss, variables, 0.1)
    sess = Session(g)
    xs, ys = line_data()
    for step in range(101):
        value = sess.run([loss, *train], {x: xs, y: ys})[0]
        if step % 20 == 0:
            print(step, float(value))
