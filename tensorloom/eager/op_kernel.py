"""The kernel of one op, attrs and dtypes, run with handles.

An op may have a kernel over torch tensors and one over NumPy values. Which one runs is
chosen by the sizes of the inputs, as the compiler of graphs chooses it
(`worker/compile/memory.py`), once for each combination of sizes.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from tensorloom.eager.tensor_handle import TensorHandle
from tensorloom.framework import errors
from tensorloom.framework.graph import node_shapes
from tensorloom.framework.registry.op_kernel import OpKernelConstruction
from tensorloom.framework.runtime.resource import Variable, is_torch_type
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.attr_ranges import check_attrs
from tensorloom.framework.types.tensor_shape import UNKNOWN, TensorShape
from tensorloom.worker.compile import kernel_choice
from tensorloom.worker.compile.emitter import Emitter
from tensorloom.worker.compile.values import Root, Scope, Value
from tensorloom.worker.run import inference, torch_threads
from tensorloom.worker.run.inference import enter_quiet, leave_quiet
from tensorloom.worker.run.node_error import to_op_error

if TYPE_CHECKING:
    from tensorloom.devices.device import Device
    from tensorloom.framework.graph.graph_ir import FunctionIR, Node
    from tensorloom.framework.registry.op_kernel import KernelDef, OpKernelContext
    from tensorloom.framework.registry.op_registry import OpDef
    from tensorloom.framework.runtime.resource import ResourceManager

# Combinations of sizes for which the choice is kept; then it begins anew.
_MOST_CHOICES: Final = 1024
_HOST_TYPES: Final = (np.ndarray, np.generic)


def _as_it_is(handle: TensorHandle) -> Any:
    return handle.value


_TAKES: Final[dict[str, Callable[[TensorHandle], Any]]] = {
    kernel_choice.HOST: TensorHandle.host,
    kernel_choice.TENSOR: TensorHandle.tensor,
    kernel_choice.ANY: _as_it_is,
}


@dataclass(slots=True, eq=False)
class _Chosen:
    """A kernel that was made, and how it is called."""

    compute: Callable[..., Any]
    # One for each input; None: all in host memory, or all as tensors.
    takes: tuple[Callable[[TensorHandle], Any], ...] | None
    gives: tuple[tuple[Any, bool], ...]  # (dtype, is_host) of each output
    is_host: bool
    context: bool


class OpKernel:
    """Runs an op whose attrs and input dtypes are known. Many threads may."""

    def __init__(
        self,
        node: Node,
        op_def: OpDef,
        device: Device,
        input_types: Sequence[dtypes.DType],
        resources: ResourceManager,
        functions: dict[str, FunctionIR],
        step: OpKernelContext,
    ) -> None:
        self.node = node
        self.device = device
        self._op_def = op_def
        self._input_types = tuple(input_types)
        self._resources = resources
        self._functions = functions
        self._step = step
        self._is_single = len(op_def.outputs) == 1 and not op_def.outputs[0].is_list
        # What has state of its own, as a sequence of random numbers, is made once.
        self._is_source = op_def.is_stateful and dtypes.resource not in input_types
        self._fixed: _Chosen | None = None
        self._by_sizes: dict[Any, _Chosen] = {}
        self._made: dict[int, _Chosen] = {}
        self._lock = threading.RLock()
        # On one CPU it does not matter where a value is: both views cost little.
        self._is_cpu = device.device_type == "CPU"

    def run(self, inputs: Sequence[TensorHandle]) -> list[TensorHandle]:
        """Runs the kernel.

        Raises:
          errors.OpError: what the kernel raised, with its message.
        """
        chosen = self._fixed
        if chosen is None:
            try:
                sizes: Any = tuple([handle.value.shape for handle in inputs])
                if not self._is_cpu:
                    sizes = sizes, tuple([handle.is_host for handle in inputs])
                chosen = self._by_sizes.get(sizes)
            except (AttributeError, TypeError):  # objects, of resources and variants
                sizes = tuple(map(_size_of, inputs))
                chosen = self._by_sizes.get(sizes)
            if chosen is None:
                chosen = self._choose(inputs, sizes)
        if chosen.takes is not None:
            arguments = [
                take(handle) for take, handle in zip(chosen.takes, inputs, strict=True)
            ]
            if chosen.context:
                arguments.insert(0, self._step)
        elif chosen.is_host:
            arguments = [h.value if h.is_host else h.host() for h in inputs]
        else:
            arguments = [h.tensor() if h.is_host else h.value for h in inputs]
        quiet = enter_quiet()
        try:
            if chosen.is_host:
                result = chosen.compute(*arguments)
            else:
                self._adjust_threads()
                with self._mode():
                    result = chosen.compute(*arguments)
        except Exception as error:
            raise told(error) from error
        finally:
            leave_quiet(quiet)
        gives, device = chosen.gives, self.device
        if self._is_single:
            ((dtype, is_host),) = gives
            return [TensorHandle(result, dtype, device, is_host)]
        if not gives:
            return []
        return [
            TensorHandle(value, dtype, device, is_host)
            for value, (dtype, is_host) in zip(result, gives, strict=True)
        ]

    # --- choosing --------------------------------------------------------

    def _choose(self, inputs: Sequence[TensorHandle], sizes: Any) -> _Chosen:
        with self._lock:
            values = [self._value(handle) for handle in inputs]
            node = self.node.replace(output_shapes=self._output_shapes(values))
            try:
                definition = kernel_choice.choose_kernel(
                    node, values, self.device.kernel_type
                )
                chosen = self._made.get(id(definition))
                if chosen is None:
                    chosen = self._make(definition)
                    self._made[id(definition)] = chosen
            except Exception as error:
                raise told(error) from error
            if self._is_source:
                self._fixed = chosen
            elif len(self._by_sizes) >= _MOST_CHOICES:
                self._by_sizes = {sizes: chosen}
            else:
                self._by_sizes[sizes] = chosen
            return chosen

    def _value(self, handle: TensorHandle) -> Value:
        """What the compiler would know of an input with these sizes."""
        value = handle.value
        known = Value(
            handle.dtype,
            TensorShape.of(handle.dims),
            Scope(),
            Root(shared=True),
            host_name="x" if handle.is_host else None,
            tensor_name=None if handle.is_host else "x",
            is_returnable=self._is_cpu,
        )
        if isinstance(value, Variable):
            known.handle = value.dtype, value.shape
        return known

    def _output_shapes(self, values: Sequence[Value]) -> tuple[TensorShape, ...]:
        producers = {
            f"x{index}": self.node.replace(
                name=f"x{index}",
                op="_Arg",
                output_types=(value.dtype,),
                output_shapes=(value.shape,),
            )
            for index, value in enumerate(values)
        }
        return tuple(node_shapes.infer_node(self.node, producers, {}))

    def _make(self, definition: KernelDef) -> _Chosen:
        check_attrs(self.node)
        if not definition.host:
            self._mode = inference.mode_of(True)
            self._adjust_threads = torch_threads.adjuster()
        emitter = Emitter(self.device, self._resources, self._functions, {})
        construction = OpKernelConstruction(
            self.node,
            self.device.name,
            self.device.kernel_type,
            self._input_types,
            (UNKNOWN,) * len(self._input_types),
            self._resources,
            self.device.torch_device,
            emitter.compile_function,
            (None,) * len(self._input_types),
            self._functions,
        )
        wants = kernel_choice.input_memory(
            self._op_def, definition, self.node, len(self._input_types)
        )
        takes = [
            TensorHandle.host
            if want == kernel_choice.TENSOR and not is_torch_type(dtype)
            else _TAKES[want]
            for want, dtype in zip(wants, self._input_types, strict=True)
        ]
        plain = TensorHandle.host if definition.host else TensorHandle.tensor
        is_uniform = not definition.context and all(take is plain for take in takes)
        in_host = kernel_choice.output_memory(self._op_def, definition, self.node)
        return _Chosen(
            definition.factory(construction),
            None if is_uniform else tuple(takes),
            tuple(zip(self.node.output_types, in_host, strict=True)),
            definition.host,
            definition.context,
        )

    # Set once a kernel over tensors is made.
    _mode: Any = None
    _adjust_threads: Any = None


def _size_of(handle: TensorHandle) -> Any:
    """What the choice of a kernel depends on, of any value."""
    value = handle.value
    if isinstance(value, Variable):
        return value.dtype, value.shape
    if isinstance(value, _HOST_TYPES) or not handle.is_host:
        return handle.is_host, tuple(value.shape)
    return None


def told(error: Exception) -> errors.OpError:
    """The error of a kernel as TensorFlow's eager execution has it: without a node."""
    converted = to_op_error(error)
    message = converted.message.partition("\n\t [[{{node ")[0]
    return errors.make_exception(
        None, None, message, converted.error_code or errors.UNKNOWN
    )
