"""A transform that makes nodes print what they compute."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from tensorloom.tools.graph_transforms import nodes

if TYPE_CHECKING:
    from tensorloom.protos.node_def_pb2 import NodeDef
    from tensorloom.tools.graph_transforms.request import Request

_SUFFIX: Final = "__print__"


def insert_logging(graph: Any, request: Request) -> Any:
    """Nodes print their outputs whenever they run.

        y(x)  ->  y(Print(x, the outputs of x that are read))

    Parameters: `op` and `prefix` choose the nodes, all if none is given; `message`,
    `show_name` and `show_op` are printed before the values; `first_n` lines at most
    (all), `summarize` values of each (1024).
    """
    read: dict[str, set[int]] = {}
    for node in graph.node:
        for name in node.input:
            _, inner, port = nodes.parts_of(nodes.canonical(name))
            if not name.startswith("^"):
                read.setdefault(inner, set()).add(int(port.removeprefix(":")))
    made: list[NodeDef] = []
    renamed: dict[str, str] = {}
    prints: list[str] = []
    for node in graph.node:
        made.append(node)
        if node.name in read and _is_chosen(node, request):
            added = _print(node, sorted(read[node.name]), request)
            made.append(added)
            prints.append(added.name)
            renamed[f"{node.name}:0"] = f"{added.name}:0"
    return nodes.with_renamed_inputs(nodes.with_nodes(graph, made), renamed, prints)


def _is_chosen(node: NodeDef, request: Request) -> bool:
    ops = request.parameters.get("op")
    prefixes = request.parameters.get("prefix")
    return (ops is None or node.op in ops) and (
        prefixes is None or node.name.startswith(tuple(prefixes))
    )


def _print(node: NodeDef, outputs: list[int], request: Request) -> NodeDef:
    name = f"{node.name}{_SUFFIX}"
    message = f";{node.op};" if request.flag("show_op") else ""
    message += f";{name};" if request.flag("show_name") else ""
    message += request.one("message", "")
    _, types = nodes.types_of(node)
    # One entry of U for each tensor that is printed; TensorFlow's tool gives one for
    # each output of the node, read or not, and such a graph cannot be imported there.
    return nodes.node(
        "Print",
        name,
        [f"{node.name}:0", *(f"{node.name}:{output}" for output in outputs)],
        message=message.encode(),
        first_n=request.integer("first_n", -1),
        summarize=request.integer("summarize", 1024),
        T=types[0],
        U=[types[output] for output in outputs],
    )
