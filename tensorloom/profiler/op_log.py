"""`OpLogProto`: what a profile has to know of a graph beside its GraphDef.

Of each node: the floating-point operations, whether it is a trainable variable, and the
stack of Python calls that made it.
"""

from __future__ import annotations

import sys
from typing import Any, Final

from tensorloom.framework.export import export
from tensorloom.framework.graph.default_graph import get_default_graph
from tensorloom.framework.graph.graph_keys import GraphKeys
from tensorloom.framework.registry.op_statistics import get_stats_for_node_def
from tensorloom.framework.types.tensor_shape import TensorShape
from tensorloom.profiler.float_operations import FLOPS
from tensorloom.protos.tfprof_log_pb2 import OpLogEntry, OpLogProto
from tensorloom.storage.files import filesystem

TRAINABLE_VARIABLES: Final = "_trainable_variables"


def _complete_shapes(graph: Any, run_meta: Any) -> None:
    """Gives tensors of unknown shape the shape that they had in a step."""
    for device in run_meta.step_stats.dev_stats:
        for stats in device.node_stats:
            try:
                outputs = graph.get_operation_by_name(stats.node_name).outputs
            except (KeyError, ValueError):
                continue  # a node of the runtime, such as a Send
            if len(stats.output) != len(outputs):
                continue  # a branch has one output, for example
            for tensor, seen in zip(outputs, stats.output, strict=True):
                if tensor.shape.is_fully_defined():
                    continue
                shape = TensorShape(
                    [dim.size for dim in seen.tensor_description.shape.dim]
                )
                try:
                    tensor.set_shape(tensor.shape.merge_with(shape))
                except ValueError as error:
                    print(
                        f"Node {stats.node_name} incompatible shapes: {error}.",
                        file=sys.stderr,
                    )


class _Strings:
    """Numbers for strings, from 0 on; 0 is "none"."""

    def __init__(self) -> None:
        self.numbers: dict[str, int] = {"none": 0}

    def number(self, text: str | None) -> int:
        return self.numbers.setdefault(text, len(self.numbers)) if text else 0


def _add_stack(entry: OpLogEntry, op: Any, strings: _Strings) -> None:
    for file, line, function, text, start in op.traceback_with_start_lines:
        entry.code_def.traces.add(
            file_id=strings.number(file),
            lineno=line or -1,
            function_id=strings.number(function),
            line_id=strings.number(text),
            func_start_line=start or -1,
        )


def _entries(
    graph: Any, run_meta: Any, add_trace: bool, strings: _Strings
) -> dict[str, OpLogEntry]:
    if run_meta is not None:
        _complete_shapes(graph, run_meta)
    unknown = 0
    entries: dict[str, OpLogEntry] = {}
    for op in graph.get_operations():
        entry = OpLogEntry(name=op.name)
        try:
            value = get_stats_for_node_def(graph, op.node_def, FLOPS).value
        except ValueError:  # its shapes are not fully known
            unknown += 1
            value = None
        if value:
            entry.float_ops = int(value)
        if add_trace:
            _add_stack(entry, op, strings)
        if value or add_trace:
            entries[op.name] = entry
    for variable in graph.get_collection(GraphKeys.TRAINABLE_VARIABLES):
        name = variable.op.name
        entry = entries.setdefault(name, OpLogEntry(name=name))
        entry.types.append(TRAINABLE_VARIABLES)
    if unknown and run_meta is None:
        print(
            f"{unknown} ops no flops stats due to incomplete shapes.", file=sys.stderr
        )
    return entries


def complete_op_log(
    graph: Any,
    op_log: OpLogProto | None = None,
    run_meta: Any = None,
    add_trace: bool = True,
) -> OpLogProto:
    """What is known of a graph, and what the user's own log says of its nodes.

    Args:
      graph: a Graph; None for the default one.
      op_log: more types, operations or stacks for nodes; they go first.
      run_meta: RunMetadata of a step, whose shapes complete the graph's.
      add_trace: whether to add the Python stacks.
    """
    graph = get_default_graph() if graph is None else graph
    strings = _Strings()
    entries: dict[str, OpLogEntry] = {}
    for entry in op_log.log_entries if op_log is not None else ():
        entries[entry.name] = entry
    for name, found in _entries(graph, run_meta, add_trace, strings).items():
        known = entries.setdefault(name, found)
        if known is found:
            continue
        known.types.extend(found.types)
        if known.float_ops == 0:
            known.float_ops = found.float_ops
        if not known.code_def.traces:
            known.code_def.MergeFrom(found.code_def)
    complete = OpLogProto()
    complete.log_entries.extend(entries.values())
    for text, number in strings.numbers.items():
        complete.id_to_string[number] = text
    return complete


@export("profiler.write_op_log")
def write_op_log(
    graph: Any,
    log_dir: str,
    op_log: OpLogProto | None = None,
    run_meta: Any = None,
    add_trace: bool = True,
) -> None:
    """Writes what a profile has to know of a graph to the file `tfprof_log`.

    Args:
      graph: a Graph; None for the default one.
      log_dir: the folder.
      op_log: an OpLogProto with more types, operations or stacks of nodes.
      run_meta: RunMetadata of a step, whose shapes complete the graph's.
      add_trace: whether to add the Python stack that made each node.
    """
    log = complete_op_log(graph, op_log, run_meta, add_trace)
    filesystem.write_file(
        filesystem.join(log_dir, "tfprof_log"), log.SerializeToString()
    )
