"""Clusters that are to be compiled: calls of programs, which have machine code later.

Where that can win nothing, over values in host memory, and on other devices than a CPU
the nodes are emitted in line, as if there was no cluster.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tensorloom.framework.graph import graph_def
from tensorloom.framework.graph.graph_ir import GraphIR
from tensorloom.worker.compile import emit_control_flow as control_flow
from tensorloom.worker.compile import memory
from tensorloom.worker.compile.emitter import STRUCTURE, Emitter
from tensorloom.worker.compile.values import Root, Scope, Value

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tensorloom.framework.graph.graph_ir import Node


def emit_compiled_cluster(emitter: Emitter, scope: Scope, node: Node) -> None:
    """A call of a program."""
    inputs = emitter.inputs_of(scope, node)
    name = node.attrs["f"].name
    device_type = emitter.device.kernel_type
    if device_type != "CPU" or _are_small(inputs, device_type):
        control_flow.emit_call(emitter, scope, node, name, inputs)
        return
    function = control_flow.find_function(emitter, name)
    library = GraphIR({}, {name: function})
    # Loaded for those who compile: it brings processes and threads along.
    from tensorloom.worker.compiled.program import Program

    program = Program(
        graph_def.to_proto(library).SerializeToString(deterministic=True),
        name,
        [dtype.base_dtype.name for dtype in function.arg_types],
        f"the cluster of '{node.name}'",
    )
    call = emitter.bind(program.run)
    by_kernels = emitter.bind(emitter.compile_function(node.attrs["f"]))
    arguments = [by_kernels, *(emitter.tensor(scope, value) for value in inputs)]
    emitter.uses_torch = True
    root = Root(shared=any(value.root.shared for value in inputs))
    names = [
        emitter.define(scope, node, index, False, root).tensor_name
        for index in range(len(node.output_types))
    ]
    left = "".join(f"{each}, " for each in names)
    scope.write(f"({left}) = {call}({', '.join(arguments)})", node)


def _are_small(inputs: Sequence[Value], device_type: str) -> bool:
    return memory.are_in_host_memory(inputs, device_type) and all(
        memory.is_small(v.likely_shape, v.dtype.is_integer, device_type) for v in inputs
    )


STRUCTURE["_CompiledCluster"] = emit_compiled_cluster
