"""Will this graph run here? Its ops, attrs and kernels, and a trial import."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

from tensorloom.client.importing.import_problems import (
    ImportProblem,
    find_problems,
    nearest_op,
    used_functions,
)
from tensorloom.framework import errors
from tensorloom.framework.graph import graph_def as graph_io
from tensorloom.framework.registry import op_kernel
from tensorloom.framework.types.unreadable_tensor import UnreadableTensor
from tensorloom.inspect.findings import ERROR, NOTE, WARNING, Finding

if TYPE_CHECKING:
    from tensorloom.inspect.model_files import GraphInFile

_PYTHON_OPS: Final = frozenset(["PyFunc", "PyFuncStateless", "EagerPyFunc"])
_OTHER_DEVICES: Final = ("TPU", "XLA_CPU", "XLA_GPU")


def audit_graph(graph: GraphInFile) -> Iterator[Finding]:
    """What keeps a graph from running, or makes it run otherwise."""
    graph_def, meta = graph.graph_def, graph.meta_graph_def
    producer_ops = meta.meta_info_def.stripped_op_list if meta is not None else None
    problems = find_problems(graph_def, producer_ops)
    producer = graph_def.versions.producer
    yield from _of_problems(problems, producer)
    unknown = {problem.op for problem in problems if problem.kind == "op"}
    yield from _without_kernels(graph_def, unknown)
    yield from _of_nodes(graph_def)
    known = {problem.function for problem in problems}
    functions = list(_of_functions(graph_def, producer_ops, known))
    yield from functions
    if not problems and all(finding.severity != ERROR for finding in functions):
        yield from _trial_import(graph)


def graph_facts(graph: GraphInFile) -> dict[str, Any]:
    """Numbers for the summary."""
    graph_def, meta = graph.graph_def, graph.meta_graph_def
    facts: dict[str, Any] = {
        "nodes": len(graph_def.node),
        "functions": len(graph_def.library.function),
        "producer": graph_def.versions.producer,
    }
    if meta is not None and meta.meta_info_def.tensorflow_version:
        facts["tensorflow_version"] = meta.meta_info_def.tensorflow_version
    return facts


def _of_problems(problems: list[ImportProblem], producer: int) -> Iterator[Finding]:
    """One finding an op or attr, with the first node and how many there are."""
    counts = Counter((p.kind, p.op, p.attr) for p in problems)
    seen: set[tuple[str, str, str]] = set()
    for problem in problems:
        key = (problem.kind, problem.op, problem.attr)
        if key in seen:
            continue
        seen.add(key)
        where = problem.node
        if problem.function:
            where = f"{problem.function}/{where}"
        subject = f"{problem.op}.{problem.attr}" if problem.attr else problem.op
        what = {
            "op": f"op {problem.op} is not known",
            "attr": f"op {problem.op} has no attr '{problem.attr}' ({problem.value})",
            "missing attr": f"op {problem.op} lacks its attr '{problem.attr}'",
        }[problem.kind]
        message = f"{what}; the graph's producer has version {producer}"
        yield Finding(ERROR, subject, where, message, problem.remedy, counts[key])


def _all_nodes(graph_def: Any) -> Iterator[tuple[str, Any]]:
    for node in graph_def.node:
        yield node.name, node
    used = used_functions(graph_def)
    for function in graph_def.library.function:
        if function.signature.name in used:
            for node in function.node_def:
                yield f"{function.signature.name}/{node.name}", node


def _without_kernels(graph_def: Any, unknown: set[str]) -> Iterator[Finding]:
    from tensorloom.worker.compile.dataflow_nodes import CLASSIC_OPS
    from tensorloom.worker.compile.emitter import STRUCTURE

    functions = {f.signature.name for f in graph_def.library.function}
    first: dict[str, str] = {}
    counts: Counter[str] = Counter()
    for where, node in _all_nodes(graph_def):
        first.setdefault(node.op, where)
        counts[node.op] += 1
    rest = [
        op
        for op in counts
        if op not in functions
        and op not in unknown
        and op not in STRUCTURE
        and op not in CLASSIC_OPS
        and not op_kernel.registered_kernels(op)
    ]
    for op in rest:
        op_kernel.load_torch_kernels(op)
        if not op_kernel.registered_kernels(op):
            message = f"op {op} can be imported, but has no kernel"
            yield Finding(
                ERROR, op, first[op], message, nearest_op(op), count=counts[op]
            )


def _of_nodes(graph_def: Any) -> Iterator[Finding]:
    found: dict[tuple[str, str, str, str], list[str]] = {}
    for where, node in _all_nodes(graph_def):
        if node.op in _PYTHON_OPS:
            key = (
                WARNING,
                node.op,
                f"op {node.op} calls a Python function that is not in the file",
                "run it in the process that made it, or export without it",
            )
            found.setdefault(key, []).append(where)
        for device in _OTHER_DEVICES:
            if f"device:{device}:" in node.device:
                key = (
                    WARNING,
                    device,
                    f"nodes are placed on a device of type {device}",
                    "import with clear_devices=True, or allow soft placement",
                )
                found.setdefault(key, []).append(where)
    for (severity, subject, message, remedy), places in found.items():
        yield Finding(severity, subject, places[0], message, remedy, len(places))


def _of_functions(
    graph_def: Any, producer_ops: Any, known: set[str]
) -> Iterator[Finding]:
    """Functions that cannot be called: those that a node can, and all others."""
    read = type(graph_def)(library=graph_def.library)
    if producer_ops is not None:
        graph_io.strip_new_default_attrs(read, producer_ops)
    try:
        functions = graph_io.functions_from_proto(read.library)
    except errors.OpError:
        return  # two of one name: the trial import says so
    used = used_functions(graph_def)
    idle = []
    for name, function in functions.items():
        if function.problem is None or function.problem.is_template:
            continue
        if name not in used:
            idle.append(function.problem.message)
        elif name not in known:
            remedy = "mend it, or export the graph without what calls it"
            yield Finding(ERROR, name, name, function.problem.message, remedy)
    if idle:
        message = "functions that nothing calls cannot be read, which does no harm: "
        yield Finding(NOTE, "functions", "library", message + idle[0], "", len(idle))


def _trial_import(graph: GraphInFile) -> Iterator[Finding]:
    """Imports the graph; what only that can tell: shapes, edges, names, constants."""
    from tensorloom.client.importing.importer import import_graph_def
    from tensorloom.framework.graph.dataflow_graph import Graph

    meta = graph.meta_graph_def
    try:
        with Graph().as_default() as imported:
            import_graph_def(
                graph.graph_def,
                name="",
                producer_op_list=(
                    meta.meta_info_def.stripped_op_list if meta is not None else None
                ),
            )
    except (errors.OpError, ValueError, TypeError, KeyError) as error:
        text = error.message if isinstance(error, errors.OpError) else str(error)
        yield Finding(ERROR, "import", graph.label or "graph", text.splitlines()[0])
    for op in imported.get_operations():
        value = op._attrs.get("value")
        if isinstance(value, UnreadableTensor):
            remedy = "mend it, or export the graph without what needs it"
            yield Finding(ERROR, "Const", op.name, value.message, remedy)
    if meta is not None:
        yield from _of_signatures(meta)


def _of_signatures(meta: Any) -> Iterator[Finding]:
    nodes = {node.name for node in meta.graph_def.node}
    for key, signature in meta.signature_def.items():
        for infos in (signature.inputs, signature.outputs):
            for name, info in infos.items():
                node = info.name.partition(":")[0]
                if info.WhichOneof("encoding") == "name" and node not in nodes:
                    message = f"'{name}' names '{info.name}', which is not in the graph"
                    yield Finding(ERROR, key, f"signature '{key}'", message)
                elif info.WhichOneof("encoding") == "composite_tensor":
                    message = f"'{name}' is a composite tensor: feed its components"
                    yield Finding(NOTE, key, f"signature '{key}'", message)
