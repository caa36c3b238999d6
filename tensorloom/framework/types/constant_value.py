"""Static values of tensors: `tf.get_static_value`, and what shape functions ask.

Shape inference folds constant subgraphs, as TensorFlow's ShapeRefiner does, with the
NumPy kernels of host memory; the public `constant_value` looks through fewer ops, as
TensorFlow's does, so that the same program has the same static values.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from tensorloom.framework.export import export
from tensorloom.framework.graph.tensor import UNSET, Tensor, is_tensor
from tensorloom.framework.registry import op_kernel
from tensorloom.framework.registry.shape_inference import (
    ShapeError,
    shape_from_vector,
    unknown_of_rank,
)
from tensorloom.framework.types.attr_ranges import check_attrs
from tensorloom.framework.types.dtypes import as_dtype
from tensorloom.framework.types.message_tensor import MessageTensor
from tensorloom.framework.types.tensor_shape import UNKNOWN, TensorShape
from tensorloom.framework.types.unreadable_tensor import UnreadableTensor

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph_ir import Node
    from tensorloom.framework.graph.operation import Operation

Array = np.ndarray[Any, Any]
#: Tells the value of a tensor, where it is known.
Known = Callable[[Tensor], Array | None]

# What values of a Const may be that are no arrays.
_NO_ARRAYS: Final = (UnreadableTensor, MessageTensor)
# What `constant_value` looks through, beside Const.
_PUBLIC_OPS: Final = frozenset(
    [
        "Shape",
        "Size",
        "Rank",
        "Range",
        "Cast",
        "Concat",
        "ConcatV2",
        "ConcatOffset",
        "Pack",
        "Fill",
        "Equal",
        "NotEqual",
    ]
)
# A folded value is kept with the graph, so it must be small; so must the work.
_MAX_ELEMENTS: Final = 1024
_MAX_DEPTH: Final = 64


@export("get_static_value", "contrib.util.constant_value")
def constant_value(tensor: Any, partial: bool = False) -> Any:
    """The value of a tensor if it can be told without running the graph.

    A tensor whose value was told can no longer be fed.

    Args:
      tensor: a Tensor; what is none, like an array, is returned as it is.
      partial: for a `Pack`, elements that are not known are None in an object array.

    Returns:
      A NumPy array, or None.

    Raises:
      TypeError, ValueError: it is a constant whose value cannot be read.
    """
    if not isinstance(tensor, Tensor):
        return None if is_tensor(tensor) else tensor
    attr = tensor._op._attrs.get("value")
    if isinstance(attr, _NO_ARRAYS) and tensor._op._type == "Const":
        value: Any = attr.value()
    else:
        value = _public_value(tensor)
    if value is None and partial and _is_list(tensor.op):
        return np.array([constant_value(t) for t in tensor.op.inputs], object)
    if value is not None:
        tensor.graph.prevent_feeding(tensor)
    return value


def _value_of(constant: Operation) -> Array | None:
    value = constant._attrs["value"]
    return None if isinstance(value, _NO_ARRAYS) else value


def _captured_by_function(tensor: Tensor) -> Tensor:
    """The tensor outside that a function's argument stands for, not one of a loop."""
    graph: Any = tensor._op._graph
    while graph.building_function and graph.frame is None:
        outside = graph.original_of(tensor)
        if outside is None:
            break
        tensor, graph = outside, outside._op._graph
    return tensor


def named_by_program(tensor: Tensor) -> Tensor:
    """The tensor that stands outside for an argument of a branch's or loop's body.

    TensorFlow tells an operation's shapes before it brings its inputs into the body: it
    knows the values of constants outside, but not of what is computed of them inside.
    """
    graph: Any = tensor._op._graph
    while graph.building_function and graph.frame is not None:
        outside = graph.original_of(tensor)
        if outside is None:
            break
        tensor, graph = outside, outside._op._graph
    return tensor


def entered(tensor: Tensor) -> Tensor:
    """The constant that an `Enter` brings into a loop of classic control flow.

    Any other tensor itself. TensorFlow knows the constant where an operation gets it
    from the Enter, but not of what is computed of it in the loop.
    """
    op = tensor._op
    if op._type == "Enter" and op._inputs[0]._op._type == "Const":
        return op._inputs[0]
    return tensor


def _entered_constant(tensor: Tensor) -> Array | None:
    """The value of a constant outside of a loop, where its body has an argument.

    Or an `Enter`, in a loop of classic control flow.
    """
    op = tensor._op
    if op._type == "Enter":
        source = entered(tensor)._op
        return _value_of(source) if source is not op else None
    graph: Any = op._graph
    if not graph.building_function or graph.frame is None or graph.is_branch:
        return None
    outside = graph.original_of(tensor)
    if outside is None or outside._op._graph is not graph.outer_graph:
        return None
    return _value_of(outside._op) if outside._op._type == "Const" else None


def _is_list(op: Operation) -> bool:
    return op.type == "Pack" and op.attrs["axis"] == 0


def _public_value(tensor: Tensor) -> Array | None:
    stack = [tensor]
    seen: set[Tensor] = set()
    while stack:
        op = stack.pop()._op
        if op._type == "Const":
            continue
        if op._type not in _PUBLIC_OPS:
            return None
        if op._type in ("Shape", "Size", "Rank"):
            continue
        fresh = [t for t in op._inputs if t not in seen]
        seen.update(fresh)
        stack.extend(fresh)
    return evaluate(tensor)


def evaluate(tensor: Tensor) -> Array | None:
    """The value of a tensor that depends on constants and static shapes alone.

    Returns:
      A read-only array, or None when it is not constant or not small.
    """
    known = tensor._constant_value
    if known is not UNSET:
        return known  # type: ignore[no-any-return]
    op = tensor._op
    if op._type == "Const":
        value = _value_of(op)
        tensor._constant_value = value
        return value
    if not op._inputs and op._type != "NoOp":
        tensor._constant_value = None
        return None
    return _evaluate_subgraph(tensor)


def _evaluate_subgraph(root: Tensor) -> Array | None:
    """Folds the ops behind `root`, inputs first, without recursion."""
    stack = [root]
    while stack:
        tensor = stack[-1]
        if tensor._constant_value is not UNSET:
            stack.pop()
            continue
        op = tensor._op
        is_told = _from_shape(op) or _single_sizes(op) is not None
        pending = [] if is_told else _pending_inputs(tensor)
        if pending is None or len(stack) > _MAX_DEPTH:
            # Too deep is "not known" for the tensors on the way only: a later
            # question that starts nearer may still find the value.
            if pending is not None:
                return None
            for output in op._outputs:
                output._constant_value = None
            stack.pop()
        elif pending:
            stack.extend(pending)
        else:
            _fold(tensor)
            stack.pop()
    return root._constant_value  # type: ignore[no-any-return]


def _from_shape(op: Operation) -> bool:
    """True when static shapes tell the outputs, whatever the inputs' values are."""
    if op._type == "Rank":
        return op._inputs[0]._shape.rank is not None
    return op._type in ("Shape", "ShapeN", "Size") and all(
        t._shape.is_fully_defined() for t in op._inputs
    )


def _single_sizes(op: Operation) -> list[int | None] | None:
    """The sizes that `tf.shape(x)[i]` or `tf.unstack(tf.shape(x))` takes of x.

    TensorFlow 2's shape inference sees those that are known beside unknown ones, 1.15's
    does not: in nodes of newer graphs alone, so that either's graphs have the static
    shapes that their makers saw.
    """
    if not op._graph._sees_single_sizes or op._type not in ("StridedSlice", "Unpack"):
        return None
    source = op._inputs[0]._op
    dims = source._inputs[0]._shape.dims_tuple if source._type == "Shape" else None
    if dims is None:
        return None
    if op._type == "Unpack":
        return list(dims)
    begin = evaluate(op._inputs[1])
    if begin is None or begin.size != 1 or op._attrs["shrink_axis_mask"] != 1:
        return None
    index = int(begin.reshape(()))
    return [dims[index]] if -len(dims) <= index < len(dims) else None


def _pending_inputs(tensor: Tensor) -> list[Tensor] | None:
    """Inputs whose value is not known yet; None when one is not constant."""
    op = tensor._op
    if op._op_def.is_stateful or not op._inputs:
        return [] if op._type == "Const" else None
    if op._type == "PlaceholderWithDefault":
        return None  # a feed may replace its value
    if any(not _is_small(t._shape) for t in op._outputs):
        return None
    pending = []
    for source in op._inputs:
        value = source._constant_value
        if value is None:
            return None
        if value is UNSET:
            pending.append(source)
    return pending


def _is_small(shape: TensorShape) -> bool:
    dims = shape.dims_tuple
    if dims is None:
        return True
    size = 1
    for dim in dims:
        size *= 1 if dim is None else dim
    return size <= _MAX_ELEMENTS


def _fold(tensor: Tensor) -> None:
    """Computes the outputs of `tensor`'s op from its inputs' values."""
    op = tensor._op
    outputs: list[Any] | None
    if op._type == "Const":
        outputs = [_value_of(op)]
    elif _from_shape(op):
        outputs = _fold_shape(tensor)
    elif (sizes := _single_sizes(op)) is not None:
        dtype = tensor._dtype.as_numpy_dtype
        outputs = [None if size is None else np.array(size, dtype) for size in sizes]
    else:
        node = op._graph.to_node(op)
        inputs = [t._constant_value for t in op._inputs]
        outputs = evaluate_node(node, inputs, [t._shape for t in op._inputs])
    for index, output in enumerate(op._outputs):
        output._constant_value = None if outputs is None else outputs[index]


def _fold_shape(tensor: Tensor) -> list[Any] | None:
    """Shape, ShapeN, Size and Rank of what has a static shape."""
    op = tensor._op
    results: list[Any] = []
    for source in op._inputs:
        dims = source._shape.dims_tuple
        if dims is None:
            return None
        if op._type == "Rank":
            results.append(np.array(len(dims), np.int32))
            continue
        if None in dims:
            return None
        dtype = op._attrs["out_type"].as_numpy_dtype
        numbers: Any = math.prod(dims) if op._type == "Size" else dims
        if np.max(numbers, initial=0) > np.iinfo(dtype).max:
            return None  # a step will say so
        results.append(np.array(numbers, dtype))
    return results


def evaluate_node(
    node: Node, inputs: list[Array], input_shapes: list[TensorShape]
) -> list[Array] | None:
    """Runs one node on constant inputs with its host kernel.

    Returns:
      The outputs, or None when it has no host kernel or its kernel refuses.
    """
    definition = op_kernel.find_host_kernel(node.op, node.attrs)
    if definition is None or definition.context or definition.blocking:
        return None
    if not all(t.base_dtype.is_numpy_compatible for t in node.output_types):
        return None  # handles and variants are not constants
    construction = op_kernel.OpKernelConstruction(
        node,
        device="/job:localhost/replica:0/task:0/device:CPU:0",
        device_type="CPU",
        input_types=tuple([as_dtype(v.dtype) for v in inputs]),
        input_shapes=tuple(input_shapes),
    )
    try:
        check_attrs(node)
        with np.errstate(all="ignore"):
            result = definition.factory(construction)(*inputs)
    except Exception:  # what is wrong is for the step to say, if it comes to the node
        return None
    values = (
        result
        if len(node.output_types) != 1 or isinstance(result, list | tuple)
        else (result,)
    )
    return [
        np.asarray(v, t.as_numpy_dtype)
        for v, t in zip(values, node.output_types, strict=True)
    ]


@export("contrib.util.constant_value_as_shape")
def constant_value_as_shape(tensor: Tensor) -> TensorShape:
    """The shape that a vector holds, as far as `constant_value` tells its elements.

    Raises:
      ValueError: the tensor is not a vector of integers (a scalar -1 is an unknown
        shape).
    """
    if not tensor._dtype.is_integer:
        raise ValueError(f"A shape has integers, not {tensor._dtype.name}")
    tensor = _captured_by_function(tensor)
    if tensor._shape.dims_tuple == () and _public_value(tensor) != -1:
        raise ValueError("Shape must be rank 1 but is rank 0")
    return as_partial_shape(tensor, _public_sizes)


def with_given_shape(tensor: Tensor, shape: Any, end: Tensor | None = None) -> Tensor:
    """The tensor, with the shape that a builder in a function's body was told.

    Shape functions do not see the values of constants outside of it; TensorFlow's
    builders of tensors of a given shape look themselves.

    Args:
      tensor: what was built.
      shape: what it was told.
      end: a tensor whose shape follows.

    Raises:
      ValueError: as `constant_value_as_shape`.
    """
    graph: Any = tensor._op._graph
    if not graph.building_function or graph.frame is not None:
        return tensor
    if isinstance(shape, Tensor) and not tensor._shape.is_fully_defined():
        told = constant_value_as_shape(shape)
        tensor.set_shape(told if end is None else told.concatenate(end._shape))
    return tensor


def _public_sizes(tensor: Tensor) -> Array | None:
    value = _public_value(tensor)
    return None if value is None else np.maximum(value, -1)


# Vectors whose elements are found one by one, before a value of the whole is looked
# for: any number below zero in a Pack is an unknown size, and a Shape gives the static
# shape of what it measures, also where that could be computed from constants.
_IN_PARTS = frozenset({"Shape", "ShapeN", "Pack", "Concat", "ConcatV2", "StridedSlice"})


def as_partial_shape(tensor: Tensor, known: Known | None = None) -> TensorShape:
    """The shape that an integer vector holds, unknown elements left open.

    Args:
      known: tells the values of its parts, by default all that shape functions know.

    Raises:
      ShapeError: the tensor is not a vector, or an element is below -1.
    """
    known = known or _part
    dims = tensor._shape.dims_tuple
    is_vector = dims is not None and len(dims) == 1
    partial = UNKNOWN
    if is_vector and tensor._op._type in _IN_PARTS:
        partial = _partial_shape(tensor, 0, known)
    if partial.dims_tuple is None:
        value = known(tensor)
        if value is not None:
            return shape_from_vector(value)
    if dims is not None and not is_vector:
        if len(dims) == 0:
            return UNKNOWN
        raise ShapeError(f"Shape must be rank 1 but is rank {len(dims)}")
    if partial.dims_tuple is None:
        partial = _partial_shape(tensor, 0, known)
    if partial.dims_tuple is None and dims is not None and dims[0] is not None:
        return unknown_of_rank(dims[0])
    return partial


def _partial_shape(tensor: Tensor, depth: int, known: Known) -> TensorShape:
    op = tensor._op
    if depth > _MAX_DEPTH:
        return UNKNOWN
    if op._type == "Shape" or (op._type == "ShapeN" and known is _part):
        return op._inputs[tensor._value_index]._shape
    if op._type == "Pack":
        return TensorShape.of(tuple(_element(t, known) for t in op._inputs))
    if op._type == "ConcatV2":
        return _concatenated(op._inputs[:-1], depth, known)
    if op._type == "Concat":
        return _concatenated(op._inputs[1:], depth, known)
    if op._type == "StridedSlice":
        return _sliced(tensor, depth, known)
    # TensorFlow 1.15 does not look through a Cast, and static shapes show it.
    if op._type == "Cast" and op._graph._sees_single_sizes:
        return _vector(op._inputs[0], depth, known)
    return UNKNOWN


def _part(tensor: Tensor) -> Array | None:
    """A constant that a shape is put together of."""
    value = evaluate(tensor)
    return _entered_constant(tensor) if value is None else value


def _element(tensor: Tensor, known: Known) -> int | None:
    value = known(tensor)
    if value is None or value.size != 1 or int(value.reshape(())) < 0:
        return None
    return int(value.reshape(()))


def _vector(tensor: Tensor, depth: int, known: Known) -> TensorShape:
    if known is _public_sizes:
        tensor = _captured_by_function(tensor)
    found = _partial_shape(tensor, depth + 1, known)
    if found.dims_tuple is None or tensor._op._type not in _IN_PARTS:
        value = known(tensor)
        if value is not None and value.ndim == 1:
            return shape_from_vector(value)
    dims = tensor._shape.dims_tuple
    if (
        found.dims_tuple is None
        and dims is not None
        and len(dims) == 1
        and dims[0] is not None
    ):
        return unknown_of_rank(dims[0])
    return found


def _concatenated(tensors: Any, depth: int, known: Known) -> TensorShape:
    dims: list[int | None] = []
    for tensor in tensors:
        part = _vector(tensor, depth, known).dims_tuple
        if part is None:
            return UNKNOWN
        dims.extend(part)
    return TensorShape.of(tuple(dims))


def _sliced(tensor: Tensor, depth: int, known: Known) -> TensorShape:
    """A plain slice of a shape vector: `tf.shape(x)[a:b]`."""
    op = tensor._op
    attrs = op._attrs
    bounds = [evaluate(t) for t in op._inputs[1:4]]
    if any(b is None or b.size != 1 for b in bounds):
        return UNKNOWN
    if attrs["ellipsis_mask"] or attrs["new_axis_mask"] or attrs["shrink_axis_mask"]:
        return UNKNOWN
    begin, end, stride = (int(b.reshape(())) for b in bounds if b is not None)
    source = _vector(op._inputs[0], depth, known).dims_tuple
    if source is None:
        return UNKNOWN
    picked = slice(
        None if attrs["begin_mask"] & 1 else begin,
        None if attrs["end_mask"] & 1 else end,
        stride,
    )
    return TensorShape.of(source[picked])
