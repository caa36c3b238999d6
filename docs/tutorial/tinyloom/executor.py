"""Chapter 5: an executor. A step becomes a Python function, made once."""

import numpy as np

from tinyloom.graph import KERNELS, Graph
from tinyloom.passes import optimize
from tinyloom.session import Session, descend, line_data, line_fit


class CompiledSession(Session):
    """A session that compiles each combination of fetches and feeds once."""

    def __init__(self, graph):
        super().__init__(graph)
        self._steps = {}

    def run(self, fetches, feeds=None):
        """As `Session.run`; what depends on names alone is done the first time."""
        feeds = feeds or {}
        key = (*[n.name for n in fetches], "from", *[n.name for n in feeds])
        if key not in self._steps:
            fed = [node.name for node in feeds]
            nodes = optimize(self.graph, fetches, fed)
            results = [node.name for node in fetches]
            self._steps[key] = compile_step(nodes, fed, results, self)
        return self._steps[key](*feeds.values())


def compile_step(nodes, fed, results, session):
    """The step as a function of the fed values.

    A node is a line, its value a local variable, its kernel a global one: nothing is
    looked up by name while the step runs. A value is dropped after its last use.
    """
    names = {"session": session, "asarray": _asarray}
    local = {name: f"v{i}" for i, name in enumerate([*fed, *nodes])}
    last = {}
    for name, node in nodes.items():
        last.update(dict.fromkeys([*node.inputs, name], name))
    lines = [f"    {local[name]} = asarray({local[name]})" for name in fed]
    made_by = {}  # by line of the text: the node
    for i, (name, node) in enumerate(nodes.items()):
        arguments = ", ".join(local[source] for source in node.inputs)
        if node.op == "Const":
            names[f"c{i}"] = node.attrs["value"]
            expression = f"c{i}"
        elif node.op in KERNELS and node.op != "Placeholder":
            names[f"k{i}"] = KERNELS[node.op]
            expression = f"k{i}({arguments})"
        else:  # it has a memory, or an error to raise
            names[f"n{i}"] = node
            expression = f"session.compute(n{i}, [{arguments}])"
        lines.append(f"    {local[name]} = {expression}  # {name} ({node.op})")
        made_by[len(lines) + 1] = node
        dead = [local[n] for n, end in last.items() if end == name and n not in results]
        if dead:
            lines.append(f"    del {', '.join(dead)}")
    head = f"def step({', '.join(local[name] for name in fed)}):"
    end = f"    return [{', '.join(local[name] for name in results)}]"
    source = "\n".join([head, *lines, end]) + "\n"
    exec(compile(source, "<step>", "exec"), names)

    def run(*values):
        try:
            return names["step"](*values)
        except ValueError as error:
            # The line that raised tells the node.
            node = made_by.get(error.__traceback__.tb_next.tb_lineno)
            if node is None or str(error).startswith(node.name):
                raise
            raise ValueError(f"{node.name} ({node.op}): {error}") from error

    run.source = source
    return run


def _asarray(value):
    return np.asarray(value, np.float32)


if __name__ == "__main__":
    g = Graph()
    x, y, loss, variables = line_fit(g)
    train = descend(loss, variables, 0.1)
    sess = CompiledSession(g)
    xs, ys = line_data()
    for _ in range(100):
        sess.run([loss, *train], {x: xs, y: ys})
    (step,) = sess._steps.values()
    print(step.source)
