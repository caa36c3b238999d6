"""A piece with classic control flow: its nodes compiled one by one, interpreted."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from tensorloom.framework.graph.graph_ir import Node
from tensorloom.framework.graph.node_shapes import with_shapes
from tensorloom.framework.partition.waiting_ops import RECEIVES, may_wait
from tensorloom.framework.runtime.frame_id import FrameNumbering, child_of_path
from tensorloom.framework.runtime.resource import ResourceManager, is_torch_type
from tensorloom.framework.types.tensor_shape import UNKNOWN
from tensorloom.worker.compile.dataflow_nodes import compile_items
from tensorloom.worker.compile.dataflow_program import Program
from tensorloom.worker.compile.emitter import Emitter
from tensorloom.worker.compile.reference_reads import may_resize
from tensorloom.worker.run import dataflow, inference, runtime
from tensorloom.worker.run.node_error import annotated

if TYPE_CHECKING:
    from tensorloom.devices.device import Device
    from tensorloom.framework.graph.graph_ir import FunctionIR
    from tensorloom.framework.registry.op_kernel import OpKernelContext


class DataflowPiece:
    """The nodes of one task; it stands for the pieces of all the devices they are on.

    Frames and dead tensors then need no counterpart on other devices; values move
    between devices where they are used.
    """

    uses_context = True
    may_block = True  # any node may be one that waits
    is_sequential = False

    def __init__(
        self,
        nodes: Mapping[str, Node],
        device: Device,
        device_named: Callable[[str], Device],
        resources: ResourceManager,
        functions: Mapping[str, FunctionIR],
        kernels: dict[tuple[str, str, str], Any],
        traced: bool = False,
        numbering: FrameNumbering = child_of_path,
    ) -> None:
        self.device = device
        self.traced_nodes: list[Node] = []
        self._emitters: dict[str, Emitter] = {}
        ordered = with_shapes(nodes)
        resizes = may_resize(ordered, functions)
        for node in ordered:
            if node.device not in self._emitters:
                place = device_named(node.device) if node.device else device
                emitter = Emitter(place, resources, functions, kernels, traced)
                emitter.traced_nodes = self.traced_nodes
                emitter.may_resize = resizes
                self._emitters[node.device] = emitter
        items, self.codes = compile_items(
            ordered,
            self._emitters,
            lambda node: node.op in RECEIVES or may_wait(node, functions),
        )
        self._program = Program(items, numbering)
        self.result_indices = self._program.result_indices
        self._called = partial(inference.called, inference.mode_of(self.uses_torch))

    @property
    def uses_torch(self) -> bool:
        """Whether any node runs on tensors."""
        return any(emitter.uses_torch for emitter in self._emitters.values())

    @property
    def source(self) -> str:
        """The generated Python source of the nodes."""
        return "\n".join(code.source for code in self.codes)

    def run(self, args: Sequence[Any], context: OpKernelContext | None) -> list[Any]:
        """Runs one step: feeds by `_Arg` index in, fetches by `_Retval` index out.

        Raises:
          errors.OpError: a node failed, with a message that names it; or a fetch is
            of a dead tensor.
        """
        assert context is not None
        run = dataflow.Run(self._program, args, context, self._called)
        results: list[Any] = []
        try:
            self._called(lambda: results.extend(run.run()))
        except Exception as error:
            raise annotated(error, self.codes) from error.__cause__
        return results


def compile_function(
    outer: Emitter, function: FunctionIR, host_results: bool = False
) -> Callable[[Sequence[Any], OpKernelContext | None], tuple[Any, ...]]:
    """A function with classic control flow as `call(args, context) -> results`.

    Arguments may be in either memory; results of numeric dtypes are tensors, or NumPy
    values with `host_results`.
    """
    device = outer.device
    piece = DataflowPiece(
        _as_nodes(function, device.name),
        device,
        lambda name: device,
        outer.resources,
        outer.functions,
        outer.kernels,
    )
    outer.uses_torch = True
    in_numpy = [is_torch_type(dtype) for dtype in function.arg_types]
    to_tensor = [
        is_torch_type(dtype) and not host_results for dtype in function.output_types
    ]

    def call(args: Sequence[Any], context: OpKernelContext | None) -> tuple[Any, ...]:
        given = [
            np.asarray(runtime.received_host(value)) if numeric else value
            for value, numeric in zip(args, in_numpy, strict=True)
        ]
        results = piece.run(given, context)
        return tuple(
            [
                device.from_host(value) if numeric else _as_host_value(value)
                for value, numeric in zip(results, to_tensor, strict=True)
            ]
        )

    return call


def _as_host_value(value: Any) -> Any:
    """What a session would return as kernels get it: a string is an array of one."""
    return np.array(value, object) if isinstance(value, bytes) else value


def _as_nodes(function: FunctionIR, device: str) -> dict[str, Node]:
    """The body with `_Arg` and `_Retval` nodes at its rim."""
    nodes: dict[str, Node] = {}
    for index, name in enumerate(function.arg_names):
        dtype = function.arg_types[index]
        attrs: dict[str, Any] = {"T": dtype, "index": index}
        shape = function.arg_shapes[index] if function.arg_shapes else UNKNOWN
        nodes[name] = Node(name, "_Arg", (), (), device, attrs, (dtype,), (shape,))
    for name, node in function.nodes.items():
        if name not in nodes:
            nodes[name] = node.replace(device=device)
    for index, edge in enumerate(function.returns):
        name = f"_result_{index}_of_{function.name}"
        attrs = {"T": function.output_types[index], "index": index}
        nodes[name] = Node(name, "_Retval", (edge,), (), device, attrs, (), ())
    return nodes
