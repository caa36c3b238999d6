"""Chapter 4: passes. A graph becomes another one with the same results."""

from dataclasses import replace

from tinyloom.graph import KERNELS, Graph, describe
from tinyloom.session import pruned

# What gives the same value whenever it is computed of the same inputs.
PURE = set(KERNELS) - {"Placeholder"}


def optimize(graph, fetches, fed):
    """The nodes of a step after all passes, inputs first.

    Args:
      fetches: nodes; they keep their names and values.
      fed: the names of the nodes whose values come with the step.

    Returns:
      A dict of nodes by name. What is fed is not in it.
    """
    nodes = {node.name: node for node in pruned(graph, fetches, fed)}
    kept = {node.name for node in fetches}
    for run_pass in (fold_constants, merge_duplicates, drop_unread):
        nodes = run_pass(nodes, kept)
    return nodes


def fold_constants(nodes, kept):
    """before: a = Const; b = Mul(a, a)     after: a = Const; b = Const"""
    done = {}
    for name, node in nodes.items():
        inputs = [done.get(i) for i in node.inputs]
        if (
            node.op in PURE
            and inputs
            and all(i is not None and i.op == "Const" for i in inputs)
        ):
            value = KERNELS[node.op](*[i.attrs["value"] for i in inputs])
            node = replace(node, op="Const", inputs=(), attrs={"value": value})
        done[name] = node
    return done


def merge_duplicates(nodes, kept):
    """before: a = Relu(x); b = Relu(x); c = Add(a, b)     after: c = Add(a, a)"""
    done, first, instead = {}, {}, {}
    for name, node in nodes.items():
        node = replace(node, inputs=tuple(instead.get(i, i) for i in node.inputs))
        key = node.op, node.inputs, node.device, _value_of(node)
        if node.op in PURE and name not in kept and key in first:
            instead[name] = first[key]  # its readers take the first one
            continue
        first.setdefault(key, name)
        done[name] = node
    return done


def drop_unread(nodes, kept):
    """Removes what is read by nobody any more."""
    needed, stack = set(), list(kept)
    while stack:
        name = stack.pop()
        if name in nodes and name not in needed:
            needed.add(name)
            stack += nodes[name].inputs
    return {name: node for name, node in nodes.items() if name in needed}


def _value_of(node):
    value = node.attrs.get("value")
    return None if value is None else (value.shape, value.tobytes())


if __name__ == "__main__":
    g = Graph()
    x = g.placeholder("x")
    two = g.constant(1.0) + 1.0
    y = g.add("Relu", x * two) + g.add("Relu", x * two)
    print(describe(g), "\n")
    for node in optimize(g, [y], {"x"}).values():
        print(f"{node.name} = {node.op}({', '.join(node.inputs)})")
