"""Chapter 2: gradients. They are more nodes of the same graph."""

from tinyloom.graph import Graph, describe

# For each op: from its node and the gradient of its result to those of its inputs.
# Each is built of ops; nothing is computed here either.
GRADIENTS = {
    "Add": lambda g, n, d, x, y: (like(g, d, x), like(g, d, y)),
    "Sub": lambda g, n, d, x, y: (like(g, d, x), like(g, d * -1.0, y)),
    "Mul": lambda g, n, d, x, y: (like(g, d * y, x), like(g, d * x, y)),
    "MatMul": lambda g, n, d, x, y: (
        d @ g.add("Transpose", y),
        g.add("Transpose", x) @ d,
    ),
    "Transpose": lambda g, n, d, x: (g.add("Transpose", d),),
    "Relu": lambda g, n, d, x: (d * g.add("Step", n),),
    "Mean": lambda g, n, d, x: (g.add("SpreadLike", d, x),),
}


def like(graph, gradient, x):
    """The gradient of an input that may have been repeated to a larger shape."""
    return graph.add("SumLike", gradient, x)


def gradients(y, xs):
    """The nodes of dy/dx for each x; None where y does not depend on x.

    The walk goes backwards: a node's turn comes when all that read it have added
    their share to its gradient. Nodes stand in the order in which they were made, so
    the reverse of that order will do.

    Raises:
      ValueError: an op on the way has no gradient.
    """
    graph = y.graph
    needed = between(graph, y, xs)
    shares = {y.name: [graph.constant(1.0, "grad_y")]}
    for name in reversed([n for n in graph.nodes if n in needed]):
        node = graph.nodes[name]
        if name not in shares:
            continue
        total = shares[name][0]
        for share in shares[name][1:]:
            total = total + share
        shares[name] = [total]
        if not node.inputs:
            continue
        if node.op not in GRADIENTS:
            raise ValueError(f"{name}: the op {node.op} has no gradient")
        inputs = [graph.nodes[i] for i in node.inputs]
        for source, share in zip(
            inputs, GRADIENTS[node.op](graph, node, total, *inputs), strict=True
        ):
            if source.name in needed:
                shares.setdefault(source.name, []).append(share)
    return [shares[x.name][0] if x.name in shares else None for x in xs]


def between(graph, y, xs):
    """The names of the nodes that lie on a way from one of `xs` to `y`."""
    reaching = {x.name for x in xs}
    for node in graph.nodes.values():
        if reaching.intersection(node.inputs):
            reaching.add(node.name)
    needed, stack = set(), [y.name]
    while stack:
        name = stack.pop()
        if name in reaching and name not in needed:
            needed.add(name)
            stack += graph.nodes[name].inputs
    return needed


if __name__ == "__main__":
    g = Graph()
    x = g.placeholder("x")
    gradients(g.add("Mean", x * x), [x])
    print(describe(g))
