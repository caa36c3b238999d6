"""Ops that call functions, and calls of functions by name.

before: If(cond, x)
after:  __wrapped__If(a0, a1) -> r0 { r0 = If(a0, a1) }     compiled as any function

The compiler of pieces turns the body into Python: branches, loops, calls, and classic
control flow inside of functions.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from tensorloom.eager.tensor_handle import TensorHandle
from tensorloom.framework.functions.function_instances import with_instances
from tensorloom.framework.graph.graph_ir import FunctionIR, GraphIR
from tensorloom.framework.runtime.resource import is_torch_type
from tensorloom.framework.types.attr_value import NameAttrList
from tensorloom.worker.compile import piece
from tensorloom.worker.compile.emitter import STRUCTURE, Emitter
from tensorloom.worker.run import inference, torch_threads
from tensorloom.worker.run.node_error import annotated
from tensorloom.worker.run.step import Step

if TYPE_CHECKING:
    from tensorloom.devices.device import Device
    from tensorloom.framework.graph.graph_ir import Node
    from tensorloom.framework.registry.op_kernel import OpKernelContext
    from tensorloom.framework.runtime.resource import ResourceManager
    from tensorloom.framework.types.dtypes import DType

_ = piece  # importing it fills the table of structural ops, and compiles functions

# Structural ops that have a kernel, too: it serves one op alone.
_HAVE_KERNELS: Final = frozenset(
    {"Identity", "StopGradient", "PreventGradient", "VarHandleOp"}
)


def is_structure(op_type: str) -> bool:
    """Whether an op is written by the compiler of pieces, and has no kernel to run."""
    return op_type in STRUCTURE and op_type not in _HAVE_KERNELS


class FunctionKernel:
    """Runs a function around one op. Many threads may."""

    def __init__(
        self,
        node: Node,
        device: Device,
        input_types: Sequence[DType],
        resources: ResourceManager,
        functions: dict[str, FunctionIR],
        step: OpKernelContext,
    ) -> None:
        """Makes it; the function is compiled when it first runs.

        Raises:
          errors.OpError: a function that it calls does not exist, or cannot be called.
        """
        self.node = node
        self.device = device
        self._resources = resources
        self._step = step
        names = tuple(f"a{index}" for index in range(len(input_types)))
        node = node.replace(inputs=tuple((name, 0) for name in names))
        graph = with_instances(GraphIR({node.name: node}, functions), functions)
        node = graph.nodes[node.name]
        wrapper = FunctionIR(
            name=f"__wrapped__{node.op}",
            arg_names=names,
            arg_types=tuple(input_types),
            output_names=tuple(f"r{i}" for i in range(len(node.output_types))),
            output_types=node.output_types,
            nodes={node.name: node},
            returns=tuple((node.name, i) for i in range(len(node.output_types))),
            control_returns=(node.name,),
            is_stateful=True,
        )
        library = {**graph.functions, wrapper.name: wrapper}
        emitter = Emitter(device, resources, library, {})
        self._call = emitter.compile_function(NameAttrList(wrapper.name))
        mode = inference.mode_of(True)
        assert mode is not None
        self._mode = mode
        self._adjust_threads = torch_threads.adjuster()

    def run(self, inputs: Sequence[TensorHandle]) -> list[TensorHandle]:
        """Runs the function, as a step with a container of its own.

        Raises:
          errors.OpError: a node failed; the message names it.
        """
        step = Step(self._resources)
        step.cancellation = self._step.cancellation
        context = step.context(self.device.name)
        self._adjust_threads()
        try:
            with self._mode(), np.errstate(all="ignore"):
                results = self._call(context, *[handle.value for handle in inputs])
        except Exception as error:
            raise annotated(error, ()) from error.__cause__
        finally:
            step.finish()
        return [
            self._handle(value, dtype)
            for value, dtype in zip(results, self.node.output_types, strict=True)
        ]

    def _handle(self, value: Any, dtype: DType) -> TensorHandle:
        return TensorHandle(value, dtype, self.device, not is_torch_type(dtype))
