"""Kernels by op, attrs, dtypes and device: each made once, and kept."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Hashable, Mapping
from typing import TYPE_CHECKING, Any, Final

from tensorloom.eager import function_kernel, refusal
from tensorloom.eager.attr_values import decoded_key
from tensorloom.eager.function_kernel import FunctionKernel
from tensorloom.eager.op_kernel import OpKernel
from tensorloom.eager.remote_device import RemoteDevice
from tensorloom.eager.remote_kernel import RemoteKernel
from tensorloom.eager.variable_handles import VariableHandles
from tensorloom.framework import errors
from tensorloom.framework.functions.called_functions import functions_named, names_of
from tensorloom.framework.graph.graph_ir import FunctionIR, GraphIR, Node
from tensorloom.framework.types.attr_value import NameAttrList

if TYPE_CHECKING:
    from tensorloom.eager.cluster import Cluster
    from tensorloom.eager.function_library import FunctionLibrary
    from tensorloom.eager.operation import EagerOperation
    from tensorloom.eager.placement import Placement
    from tensorloom.eager.step_state import StepState
    from tensorloom.framework.registry.op_policy import OpPolicy
    from tensorloom.framework.runtime.resource import ResourceManager

    Kernel = OpKernel | FunctionKernel | VariableHandles | RemoteKernel

# TensorFlow keeps all kernels. This is far more than a program has whose attrs are not
# made of its data; then kernels are made anew, and random numbers begin again.
_MOST_KERNELS: Final = 100_000


class KernelCache:
    """Makes kernels, and finds those that were made. Thread-safe."""

    def __init__(
        self,
        placement: Placement,
        functions: FunctionLibrary,
        resources: ResourceManager,
        steps: StepState,
        op_policy: OpPolicy,
        cluster: Cluster | None,
    ) -> None:
        self._placement = placement
        self._cluster = cluster
        self._functions = functions
        self._resources = resources
        self._steps = steps
        self._op_policy = op_policy
        self._kernels: dict[Hashable, Kernel] = {}
        #: The same kernels, by keys of `Context.execute` that need less work.
        self.by_given: dict[Hashable, Kernel] = {}
        self._numbers = itertools.count()
        self._lock = threading.RLock()
        self._is_closed = False

    def kernel_of(self, op: EagerOperation) -> Kernel:
        """The kernel of an op, made when there is none yet.

        Raises:
          errors.FailedPreconditionError: the context is closed.
          errors.OpError: the op does not run, see `EagerOperation.run`.
        """
        key: tuple[Hashable, ...] = (
            op.op_type,
            op.device,
            decoded_key(op.attrs),
            *[id(handle.dtype) for handle in op.inputs],  # each dtype is there once
        )
        if not self._placement.is_single:
            key = (*key, *[handle.device.name for handle in op.inputs])
        kernel = self._kernels.get(key)
        if kernel is not None:
            return kernel
        with self._lock:
            self.check_open()
            kernel = self._kernels.get(key)
            if kernel is None:
                kernel = self._make(op)
                if len(self._kernels) >= _MOST_KERNELS:
                    self.clear()
                self._kernels[key] = kernel
        return kernel

    def keep(self, key: Hashable, kernel: Kernel) -> None:
        """Notes the key that finds a kernel in `by_given`."""
        with self._lock:
            if self._is_closed:
                return
            if len(self.by_given) >= _MOST_KERNELS:
                self.by_given.clear()
            self.by_given[key] = kernel

    def clear(self) -> None:
        """Forgets all kernels."""
        with self._lock:
            self.by_given.clear()
            self._kernels.clear()

    def forget_calls(self) -> None:
        """Forgets the kernels that call functions."""
        with self._lock:
            self.by_given.clear()
            for key, kernel in list(self._kernels.items()):
                if isinstance(kernel, FunctionKernel) or _functions_in(
                    kernel.node.attrs
                ):
                    del self._kernels[key]

    def close(self) -> bool:
        """Forgets all kernels, and makes no others. False if it was closed before."""
        with self._lock:
            was_open = not self._is_closed
            self._is_closed = True
            self.clear()
        return was_open

    def check_open(self) -> None:
        """Raises errors.FailedPreconditionError once the context is closed."""
        if self._is_closed:
            raise errors.FailedPreconditionError(
                None, None, "The eager context was closed."
            )

    def _make(self, op: EagerOperation) -> Kernel:
        op_type, op_def = op.op_type, op.op_def
        if not self._op_policy.allows(op_type):
            raise errors.PermissionDeniedError(
                None, None, f"Op {op_type} is one that this context does not run"
            )
        attrs = op.complete_attrs()
        refusal.check(op_def, attrs)
        types = op.check_inputs(attrs)
        node = Node(
            name=self._node_name(op),
            op=op_type,
            inputs=tuple((f"x{index}", 0) for index in range(len(types))),
            control_inputs=(),
            device="",
            attrs=attrs,
            output_types=tuple(op_def.output_types(attrs)),
        )
        functions = self._called_functions(node)
        device = self._placement.place(node, op.device, op.inputs)
        if isinstance(device, RemoteDevice):
            assert self._cluster is not None
            return RemoteKernel(node, device, self._cluster, functions)
        if op_type == "VarHandleOp":
            return VariableHandles(node, device, self._resources)
        step = self._steps.of(device)
        if op.is_function or function_kernel.is_structure(op_type):
            return FunctionKernel(node, device, types, self._resources, functions, step)
        return OpKernel(node, op_def, device, types, self._resources, functions, step)

    def _node_name(self, op: EagerOperation) -> str:
        """The op type: what has no shared_name is found by it, as in TensorFlow.

        Kernels that keep a state of their own find it by the name, too, and each of
        them has one.
        """
        if not op.op_def.is_stateful or "shared_name" in op.op_def.attrs:
            return op.op_type
        return f"{op.op_type}_{next(self._numbers)}"

    def _called_functions(self, node: Node) -> dict[str, FunctionIR]:
        """The functions that an op calls, and those that these call.

        Raises:
          errors.NotFoundError: there is no such function.
          errors.OpError: one cannot be called, or has an op that is refused.
        """
        for value in _functions_in(node.attrs):
            if value.name not in self._functions:
                raise errors.NotFoundError(
                    None,
                    None,
                    f"Function {value.name} is not defined: op {node.op} calls it. Add "
                    "it to the context first",
                )
        called = functions_named(names_of(node), self._functions.functions())
        for function in called.values():
            if function.problem is None or not function.problem.is_template:
                function.check_instantiation()
        self._op_policy.check(GraphIR({}, called))
        return called


def _functions_in(attrs: Mapping[str, Any]) -> list[NameAttrList]:
    """The functions among attrs, and in lists of them."""
    return [
        item
        for value in attrs.values()
        for item in (value if isinstance(value, list) else [value])
        if isinstance(item, NameAttrList)
    ]
