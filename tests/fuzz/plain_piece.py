"""An interpreter of pieces that runs node by node in graph order.

What compiled pieces are compared with: no code is generated, no memory is chosen, used
again or let go, nothing is fused or moved out of loops. Each node has its kernel,
torch's where there is one, and gives values that stay until the step is over.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any
from unittest import mock

import numpy as np
import torch

from tensorloom.framework.functions.functional_op_types import BRANCHES, IFS, LOOPS
from tensorloom.framework.graph.node_shapes import with_shapes
from tensorloom.framework.registry import op_kernel, op_registry
from tensorloom.framework.registry.op_kernel import OpKernelConstruction
from tensorloom.framework.runtime.rendezvous_key import key_of
from tensorloom.framework.runtime.resource import is_torch_type
from tensorloom.framework.types.tensor_shape import UNKNOWN
from tensorloom.worker.compile import kernel_choice
from tensorloom.worker.compile.emit_control_flow import needed_nodes
from tensorloom.worker.run import registered_graph, runtime

if TYPE_CHECKING:
    from tensorloom.devices.device import Device
    from tensorloom.framework.graph.graph_ir import FunctionIR, Node
    from tensorloom.framework.registry.op_kernel import OpKernelContext
    from tensorloom.framework.runtime.resource import ResourceManager, Variable

_NOTHING = frozenset({"NoOp", "ControlTrigger"})
_CALLS = frozenset({"PartitionedCall", "StatefulPartitionedCall", "_CompiledCluster"})
_IDENTITIES = frozenset({"Identity", "StopGradient", "PreventGradient"})

Values = dict[tuple[str, int], Any]


class PlainPiece:
    """The nodes of one device; has what a `Piece` has."""

    uses_context = True
    uses_torch = True
    may_block = True
    is_sequential = False
    source = ""

    def __init__(
        self,
        nodes: Mapping[str, Node],
        device: Device,
        resources: ResourceManager,
        functions: Mapping[str, FunctionIR],
        kernels: dict[Any, Any],
        traced: bool = False,
    ) -> None:
        op_kernel.load_host_kernels()
        op_kernel.load_torch_kernels()
        self.device = device
        self.traced_nodes: list[Node] = []
        self._nodes = with_shapes(nodes)
        self._resources = resources
        self._functions = functions
        self._session_kernels = kernels
        self._kernels: dict[str, Callable[..., Any]] = {}
        self.result_indices = sorted(
            n.attrs["index"] for n in self._nodes if n.op == "_Retval"
        )

    def run(self, args: Sequence[Any], context: OpKernelContext | None) -> list[Any]:
        """Runs one step."""
        results: dict[int, Any] = {}
        with torch.inference_mode(), np.errstate(all="ignore"):
            self._run(self._nodes, {}, args, context, results, "")
        return [results[index] for index in self.result_indices]

    def _run(
        self,
        nodes: Sequence[Node],
        values: Values,
        args: Sequence[Any],
        context: Any,
        results: dict[int, Any],
        prefix: str,
    ) -> None:
        shapes = {(n.name, i): s for n in nodes for i, s in _shapes(n)}
        for node in nodes:
            inputs = [values[edge] for edge in node.inputs]
            if node.op == "_Arg":
                outputs: Sequence[Any] = (_array(args[node.attrs["index"]]),)
            elif node.op == "_Retval":
                fetched = _host(_read(inputs[0]))
                results[node.attrs["index"]] = (
                    fetched.copy() if isinstance(fetched, np.ndarray) else fetched
                )
                outputs = ()
            elif node.op == "_Send":
                context.rendezvous.send(key_of(node), _host(_read(inputs[0])))
                outputs = ()
            elif node.op == "_Recv":
                got = context.rendezvous.recv(key_of(node), context.cancellation)
                outputs = (_array(runtime.received_host(got)),)
            else:
                static = [shapes.get(edge, UNKNOWN) for edge in node.inputs]
                outputs = self._compute(node, inputs, static, context, prefix)
            for index, value in enumerate(outputs):
                values[node.name, index] = value

    # --- nodes -----------------------------------------------------------------------

    def _compute(
        self, node: Node, inputs: list[Any], shapes: Any, context: Any, prefix: str
    ) -> Sequence[Any]:
        if node.op in _NOTHING:
            return ()
        if node.op == "Const":
            return (_array(runtime.host_constant(node.attrs["value"])),)
        if node.op in _IDENTITIES and isinstance(inputs[0], _Reference):
            return (runtime.initialized(inputs[0].variable) and inputs[0],)
        if node.op in IFS:
            name = "then_branch" if _truth(inputs[0]) else "else_branch"
            return self._call(node, node.attrs[name].name, inputs[1:], context, prefix)
        if node.op in BRANCHES:
            branches = node.attrs["branches"]
            index = int(_host(_read(inputs[0])))
            index = index if 0 <= index < len(branches) else len(branches) - 1
            return self._call(node, branches[index].name, inputs[1:], context, prefix)
        if node.op in LOOPS:
            test, body = node.attrs["cond"].name, node.attrs["body"].name
            while _truth(self._call(node, test, inputs, context, prefix)[0]):
                inputs = list(self._call(node, body, inputs, context, prefix))
            return [_read(value) for value in inputs]
        if node.op in self._functions:
            return self._call(node, node.op, inputs, context, prefix)
        if node.op in _CALLS:
            return self._call(node, node.attrs["f"].name, inputs, context, prefix)
        return self._kernel(node, inputs, shapes, context, prefix)

    def _call(
        self, node: Node, name: str, inputs: Sequence[Any], context: Any, prefix: str
    ) -> Sequence[Any]:
        function = self._functions[name]
        values: Values = {
            (arg, 0): value
            for arg, value in zip(function.arg_names, inputs, strict=True)
        }
        nodes = needed_nodes(function)
        inside = f"{prefix}{node.name}/{name}/"
        self._run(nodes, values, (), context, {}, inside)
        return [_read(values[edge]) for edge in function.returns]

    def _kernel(
        self, node: Node, inputs: Sequence[Any], shapes: Any, context: Any, prefix: str
    ) -> Sequence[Any]:
        op_def = op_registry.find(node.op)
        assert op_def is not None, node.op
        found, host = op_kernel.find_kernels(node.op, node.attrs, "CPU")
        # Strings, and what else torch does not know, stay in host memory.
        types = [_type_of(value, node, i) for i, value in enumerate(inputs)]
        is_known = all(map(is_torch_type, (*types, *node.output_types)))
        kernel = (found or host) if is_known else (host or found)
        assert kernel is not None, node.op
        compute = self._made(node, kernel, op_def.is_stateful, shapes, inputs, prefix)
        wants = kernel_choice.input_memory(op_def, kernel, node, len(inputs))
        arguments = [_given(v, want) for v, want in zip(inputs, wants, strict=True)]
        if kernel.context:
            arguments.insert(0, context)
        outputs = compute(*arguments)
        if not node.output_types:
            return ()
        if len(op_def.outputs) == 1 and not op_def.outputs[0].is_list:
            outputs = (outputs,)
        return [
            _Reference(value) if dtype._is_ref_dtype else _array(value)
            for value, dtype in zip(outputs, node.output_types, strict=True)
        ]

    def _made(
        self,
        node: Node,
        kernel: Any,
        is_stateful: bool,
        shapes: Any,
        inputs: Sequence[Any],
        prefix: str,
    ) -> Callable[..., Any]:
        name = prefix + node.name
        kernels: dict[Any, Any] = self._kernels
        if is_stateful:
            kernels, name = self._session_kernels, f"plain {name} {self.device.name}"
        if name not in kernels:
            named = node.replace(name=prefix + node.name) if prefix else node
            types = [_type_of(value, node, i) for i, value in enumerate(inputs)]
            construction = OpKernelConstruction(
                named,
                self.device.name,
                "CPU",
                tuple(types),
                tuple(shapes),
                self._resources,
                self.device.torch_device,
            )
            kernels[name] = kernel.factory(construction)
        made: Callable[..., Any] = kernels[name]
        return made


class _Reference:
    """What a reference edge carries: the variable, read by who takes a value."""

    def __init__(self, variable: Variable) -> None:
        self.variable = variable


def _shapes(node: Node) -> Iterator[tuple[int, Any]]:
    yield from enumerate(node.output_shapes or ())


def _type_of(value: Any, node: Node, index: int) -> Any:
    op_def = op_registry.find(node.op)
    assert op_def is not None
    types = [t for arg in op_def.inputs for t in op_registry.arg_types(arg, node.attrs)]
    return types[index].base_dtype


def _array(value: Any) -> Any:
    """A number of rank 0 as host kernels take it."""
    if isinstance(value, np.ndarray) and not value.ndim and value.dtype != object:
        return value[()]
    return value


def _read(value: Any) -> Any:
    return runtime.read_host(value.variable) if isinstance(value, _Reference) else value


def _host(value: Any) -> Any:
    return _array(value.numpy()) if isinstance(value, torch.Tensor) else value


def _truth(value: Any) -> bool:
    return runtime.truth(_host(_read(value)))


def _given(value: Any, want: str) -> Any:
    """A value in the memory that a kernel wants."""
    if want == kernel_choice.REF:
        return value.variable
    value = _read(value)
    if want == kernel_choice.ANY:
        return value
    if want == kernel_choice.HOST:
        return _host(value)
    if isinstance(value, np.ndarray | np.generic) and value.dtype != object:
        from tensorloom.kernels.torch.state.variable_value import to_tensor

        return to_tensor(value)
    return value


@contextmanager
def plain_pieces() -> Iterator[None]:
    """Runs what sessions compile meanwhile node by node."""
    with mock.patch.object(registered_graph, "Piece", PlainPiece):
        yield
