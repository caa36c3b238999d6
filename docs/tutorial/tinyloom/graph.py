"""Chapter 1: a graph. Python calls describe a computation; nothing is computed."""

from dataclasses import dataclass, field

import numpy as np


@dataclass(frozen=True)
class Node:
    """One operation: a name, what it computes, and the nodes that it takes.

    Here every node has one output, so a node stands for its tensor, too.
    """

    graph: "Graph" = field(repr=False)
    name: str
    op: str
    inputs: tuple[str, ...]
    attrs: dict = field(default_factory=dict)
    device: str = ""

    def __hash__(self):
        return hash(self.name)

    def __add__(self, other):
        return self.graph.add("Add", self, other)

    def __sub__(self, other):
        return self.graph.add("Sub", self, other)

    def __mul__(self, other):
        return self.graph.add("Mul", self, other)

    def __matmul__(self, other):
        return self.graph.add("MatMul", self, other)


class Graph:
    """Nodes by name, in the order in which they were made: inputs come first."""

    def __init__(self):
        self.nodes = {}
        self._device = ""

    def add(self, op, *inputs, name=None, **attrs):
        """Adds a node; numbers among its inputs become constants.

        Raises:
          ValueError: no kernel computes `op`, or an input is of another graph.
        """
        if op not in KERNELS and op not in STATEFUL:
            raise ValueError(f"There is no op {op}; there are {', '.join(KERNELS)}")
        names = []
        for value in inputs:
            node = value if isinstance(value, Node) else self.constant(value)
            if node.graph is not self:
                raise ValueError(f"{node.name} is a node of another graph")
            names.append(node.name)
        node = Node(
            self, self._unique(name or op), op, tuple(names), attrs, self._device
        )
        self.nodes[node.name] = node
        return node

    def constant(self, value, name=None):
        """A node with a value of its own."""
        return self.add("Const", name=name, value=np.asarray(value, np.float32))

    def placeholder(self, name=None):
        """A node whose value comes with each step."""
        return self.add("Placeholder", name=name)

    def variable(self, initial, name=None):
        """A node whose value is kept from step to step (chapter 3)."""
        initial = np.asarray(initial, np.float32)
        return self.add("Variable", name=name or "Variable", initial=initial)

    def device(self, name):
        """`with graph.device("B"):` asks for a place for the nodes made inside."""
        return _DeviceScope(self, name)

    def _unique(self, name):
        unique, count = name, 0
        while unique in self.nodes:
            count += 1
            unique = f"{name}_{count}"
        return unique


class _DeviceScope:
    def __init__(self, graph, name):
        self._graph, self._name = graph, name

    def __enter__(self):
        self._outer, self._graph._device = self._graph._device, self._name

    def __exit__(self, *error):
        self._graph._device = self._outer


# What each op computes: a function from arrays to an array.
KERNELS = {
    "Const": None,  # its value is in its attrs
    "Placeholder": None,  # its value is fed
    "Add": lambda x, y: x + y,
    "Sub": lambda x, y: x - y,
    "Mul": lambda x, y: x * y,
    "MatMul": lambda x, y: x @ y,
    "Transpose": lambda x: x.T,
    "Relu": lambda x: np.maximum(x, 0),
    "Step": lambda x: (x > 0).astype(np.float32),
    "Mean": lambda x: x.mean(),
    # x summed over the axes along which it was repeated to the shape of y.
    "SumLike": lambda x, y: unbroadcast(x, y.shape),
    # A scalar in the shape of y, divided by y's number of elements.
    "SpreadLike": lambda x, y: np.full(y.shape, x / y.size, np.float32),
}
# Ops with a memory: the session runs them (chapter 3).
STATEFUL = {"Variable", "Assign", "AssignSub"}


def unbroadcast(x, shape):
    """The sum of `x` over what NumPy repeated to get from `shape` to its shape."""
    x = x.sum(axis=tuple(range(x.ndim - len(shape))))
    repeated = [i for i, size in enumerate(shape) if size == 1 and x.shape[i] != 1]
    return x.sum(axis=tuple(repeated), keepdims=True)


def describe(graph):
    """The graph as text, a line for each node."""
    return "\n".join(
        f"{node.name} = {node.op}({', '.join(node.inputs)})"
        for node in graph.nodes.values()
    )


if __name__ == "__main__":
    g = Graph()
    x = g.placeholder("x")
    y = x * 2.0 + 1.0
    print(describe(g))
