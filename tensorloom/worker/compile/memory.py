"""Decides, when a piece is compiled, in which memory each value lives.

A torch call costs about a microsecond, a NumPy operation on a few elements a third of
that, a Python expression on a NumPy scalar a thirtieth. So shapes, axes, counters,
predicates and other small values stay in host memory as long as every input of their
op is there; what has become a tensor stays one, unless it was made of nothing but host
memory on the same CPU, or is but a few integers or booleans there: then the next kernel
may have it back.

How small is small depends on the op. Where NumPy needs one pass over the elements it
keeps up until torch divides the work among threads; where it needs several, or computes
one element at a time, it falls behind as soon as the calls themselves count no more.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from tensorloom.framework.registry import op_registry
from tensorloom.framework.runtime.resource import holds_host_value, is_torch_type
from tensorloom.framework.types.tensor_shape import TensorShape
from tensorloom.kernels.host.linalg.matmul import BLAS_TYPES
from tensorloom.kernels.host.training.update_ops import (
    DENSE_OPS,
    FUSED_OPS,
    MOST_BY_NUMPY,
)
from tensorloom.kernels.torch.state import early_arrays

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph_ir import Node
    from tensorloom.framework.registry.op_kernel import KernelDef
    from tensorloom.framework.types.dtypes import DType
    from tensorloom.worker.compile.values import Value

# Where NumPy and torch cost the same for one elementwise op on a CPU.
CPU_ELEMENTS: Final = 4096
# Integers and booleans that are worth a way out of tensors.
STEERING_ELEMENTS: Final = 512
# `CPU_ELEMENTS` for ops of `_ONE_PASS`: from here on torch uses more than one thread.
ONE_PASS_ELEMENTS: Final = 32768
# Multiplications in a product of matrices up to which NumPy's library on one thread is
# as fast as torch's on several, with what the way there and back costs.
LIGHT_PRODUCT: Final = 1 << 20
# The same of other dtypes than that library's.
LIGHT_LOOP: Final = 1 << 18
# What NumPy does with a product in one vectorized pass, with AVX2 too; and in several.
_LIGHT_STEPS: Final = frozenset([b"BiasAdd", b"Relu"])
_HEAVIER_STEPS: Final = frozenset([b"Sigmoid", b"Tanh"])
# On other devices only what steers the step: leaving the device costs far more.
DEVICE_ELEMENTS: Final = 64
# Lists of places in tensors of at most so many axes stay in host memory.
MOST_COORDINATES: Final = 8
# Updates of variables that NumPy can do, too: those that round in one way only.
_ASSIGNMENTS: Final = frozenset(
    {
        *("Assign", "AssignAdd", "AssignSub", "AssignVariableOp"),
        *("AssignAddVariableOp", "AssignSubVariableOp"),
    }
)
_UPDATES: Final = _ASSIGNMENTS.union(DENSE_OPS, FUSED_OPS)
# Ops whose NumPy kernels are views, copies, or one vectorized pass, with AVX2 too.
_ONE_PASS: Final = frozenset(
    {
        *("Reshape", "ExpandDims", "Squeeze", "Transpose", "Slice", "StridedSlice"),
        *("Identity", "StopGradient", "Cast", "ConcatV2", "Pack", "Unpack", "Split"),
        *("SplitV", "Pad", "Tile", "ReverseV2", "Gather", "GatherV2", "GatherNd"),
        "ResourceGather",
        *("Add", "AddV2", "AddN", "Sub", "Mul", "RealDiv", "Neg", "Square", "Abs"),
        *("SquaredDifference", "BiasAdd", "Sqrt", "Exp", "Log", "Tanh", "Sin", "Cos"),
        *("Floor", "Ceil", "Rint", "Round", "Sum", "Mean", "Max", "Min"),
        *("Equal", "NotEqual", "Less", "LessEqual", "Greater", "GreaterEqual"),
        *("LogicalAnd", "LogicalOr", "LogicalNot", "Select", "SelectV2"),
        *("IsNan", "IsInf", "IsFinite", "Fill", "ZerosLike", "OnesLike", "TanhGrad"),
        *("_SigmoidCrossEntropy", "_SigmoidCrossEntropyGrad", "_MeanGrad"),
    }
)


def runs_on_host(
    node: Node, inputs: Sequence[Value], kernel: KernelDef, device_type: str
) -> bool:
    """Whether a node that could run on tensors too runs its host kernel."""
    if node.op in _UPDATES and any(v.handle is not None for v in inputs):
        return _updates_on_host(node, inputs, device_type)
    if _is_early_read(node, inputs, device_type):
        return True
    reads_rows = device_type == "CPU" and _reads_rows_of_variable(node, inputs)
    by_variable = _by_variable(inputs, device_type, reads_rows)
    if by_variable is not None:
        return by_variable
    if any(v.dtype.base_dtype.name == "string" for v in inputs):
        return True
    if _takes_any_memory(node, kernel):
        return True
    if not all(is_torch_type(t) for t in _types_of_values(node)):
        return True
    if reads_rows:
        inputs = inputs[1:]
    shapes = node.output_shapes or (TensorShape.of(None),) * len(node.output_types)
    if node.op == "Where":
        # It finds no more places than there are.
        shapes = (inputs[0].likely_shape,)
    limit = output_limit = CPU_ELEMENTS
    if _is_light_product(node, inputs):
        limit = ONE_PASS_ELEMENTS
        if _HEAVIER_STEPS.isdisjoint(node.attrs.get("fused_ops", ())):
            output_limit = ONE_PASS_ELEMENTS
    elif node.op in _ONE_PASS:
        limit = output_limit = ONE_PASS_ELEMENTS
    return (
        are_in_host_memory(inputs, device_type, limit)
        and all(
            _is_light(v.likely_shape, v.dtype.base_dtype, device_type, limit)
            for v in inputs
        )
        and all(
            _is_light(shape, dtype.base_dtype, device_type, output_limit)
            for shape, dtype in zip(shapes, node.output_types, strict=True)
        )
    )


def _by_variable(
    inputs: Sequence[Value], device_type: str, reads_rows: bool
) -> bool | None:
    """What the memory of a variable among the inputs decides; None for nothing."""
    for value in inputs:
        if value.handle is not None:
            if holds_host_value(*value.handle, device_type):
                return True
            if not reads_rows:
                return False
    return None


def _updates_on_host(node: Node, inputs: Sequence[Value], device_type: str) -> bool:
    """Whether NumPy updates the variables: few small ones, by host values."""
    handles = [value.handle for value in inputs if value.handle is not None]
    if all(holds_host_value(*handle, device_type) for handle in handles):
        return True
    values = [value for value in inputs if value.handle is None]
    return (
        node.attrs.get("N", 1) <= MOST_BY_NUMPY
        and all(_is_read_on_host(*handle, device_type) for handle in handles)
        and (node.op in _ASSIGNMENTS or _are_floats(handles))
        and are_in_host_memory(values, device_type)
        and all(
            is_small(v.likely_shape, False, device_type, CPU_ELEMENTS) for v in values
        )
    )


def _are_floats(handles: Sequence[tuple[DType, TensorShape]]) -> bool:
    return all(dtype.base_dtype in BLAS_TYPES for dtype, _ in handles)


def _is_early_read(node: Node, inputs: Sequence[Value], device_type: str) -> bool:
    """Whether a variable is read as it is until torch is there (`early_arrays.py`).

    Where its value goes from there is the same in both cases: it is at hand.
    """
    if node.op != "ReadVariableOp" or inputs[0].handle is None:
        return False
    small = _is_read_on_host(*inputs[0].handle, device_type)
    return small and early_arrays.are_held()


def _types_of_values(node: Node) -> Sequence[DType]:
    """The dtypes of what a node gives, but for a handle that it gives beside it.

    The handle is in host memory in any case: that of TensorListPopBack says nothing
    of the element.
    """
    types = node.output_types
    if all(is_torch_type(t) for t in types):
        return types
    op_def = op_registry.find(node.op)
    assert op_def is not None, node.op
    return [
        dtype
        for arg in op_def.outputs
        if arg.type is None or is_torch_type(arg.type)
        for dtype in op_registry.arg_types(arg, node.attrs)
    ] or types


def _reads_rows_of_variable(node: Node, inputs: Sequence[Value]) -> bool:
    """True where the first input is a variable that need not be small: it stays put."""
    if node.op == "ResourceGather":
        return inputs[0].handle is not None
    return node.op in ("Gather", "GatherV2") and inputs[0].read_of is not None


def _is_light_product(node: Node, inputs: Sequence[Value]) -> bool:
    """True for a product of matrices that one thread computes soon enough.

    Of larger ones torch's is used, which knows how many threads are welcome.
    """
    if node.op == "_FusedMatMul":
        if not set(node.attrs["fused_ops"]) <= _LIGHT_STEPS | _HEAVIER_STEPS:
            return False
    elif node.op != "MatMul":
        return False
    first, second = (value.likely_shape for value in inputs[:2])
    elements = first.num_elements()
    if elements is None or second.rank != 2:
        return False
    columns = second.as_list()[0 if node.attrs["transpose_b"] else 1]
    limit = LIGHT_PRODUCT if inputs[0].dtype.base_dtype in BLAS_TYPES else LIGHT_LOOP
    return columns is not None and elements * columns <= limit


def is_returnable(inputs: Sequence[Value], device_type: str) -> bool:
    """Whether what a kernel over tensors makes of these may go to host memory."""
    if device_type != "CPU" or not inputs:
        return False
    if len(inputs) == 1 and inputs[0].handle is not None:
        return _is_read_on_host(*inputs[0].handle, device_type)
    return all(is_torch_type(value.dtype) for value in inputs) and are_in_host_memory(
        inputs, device_type
    )


def steers(shape: TensorShape, dtype: DType, device_type: str) -> bool:
    """Whether a tensor is no data but what steers a step: few integers or booleans.

    Ids, places, lengths and masks: on a CPU host kernels may have them, whatever they
    were made of. Their kernels compute exactly, and a call of NumPy costs least.
    """
    is_exact = dtype.is_integer or dtype.is_bool
    return (
        device_type == "CPU"
        and is_exact
        and not dtype._is_ref_dtype
        and shape.dims_tuple is not None
        and is_small(shape, False, device_type, STEERING_ELEMENTS)
    )


def _is_read_on_host(
    dtype: DType, shape: TensorShape, device_type: str, limit: int = CPU_ELEMENTS
) -> bool:
    """Whether host kernels may read a variable: on a CPU that costs little."""
    if holds_host_value(dtype, shape, device_type):
        return True
    elements = shape.num_elements()
    return device_type == "CPU" and elements is not None and elements <= limit


def are_in_host_memory(
    inputs: Sequence[Value], device_type: str, limit: int = CPU_ELEMENTS
) -> bool:
    """Whether all inputs are in host memory, or on a CPU and made from host memory.

    Args:
      limit: variables of at most so many elements count as in host memory.
    """
    for value in inputs:
        if value.read_of is not None:
            if not _is_read_on_host(*value.read_of, device_type, limit):
                return False
        elif value.is_ref or not (value.is_host or value.is_returnable):
            return False
    return True


def _takes_any_memory(node: Node, kernel: KernelDef) -> bool:
    """True for Shape and its like, which ask for no input's elements."""
    op_def = op_registry.find(node.op)
    return (
        op_def is not None
        and bool(op_def.inputs)
        and all(arg.name in kernel.any_inputs for arg in op_def.inputs)
    )


def _is_light(shape: TensorShape, dtype: DType, device_type: str, limit: int) -> bool:
    """True for what is small, and for what comes of places in sparse tensors.

    Places, what is found of them, and which of them count are lists whose length is
    not known; most kernels that take them are NumPy's.
    """
    dims = shape.dims_tuple
    return is_small(shape, dtype.is_integer, device_type, limit) or (
        device_type == "CPU"
        and dims is not None
        and (dtype.is_integer or dtype.is_bool)
        and len(dims) in (1, 2)
        and dims[0] is None
        and all(dim is not None and dim <= MOST_COORDINATES for dim in dims[1:])
    )


def is_small(
    shape: TensorShape,
    is_integer: bool,
    device_type: str,
    cpu_limit: int = CPU_ELEMENTS,
) -> bool:
    """True for what is cheaper in host memory, judged by its static shape."""
    dims = shape.dims_tuple
    if dims is None:
        return False
    limit = cpu_limit if device_type == "CPU" else DEVICE_ELEMENTS
    size = 1
    for dim in dims:
        if dim is None:
            # A vector of integers whose length is not known is a shape.
            return is_integer and len(dims) == 1
        size *= dim
    return size <= limit
