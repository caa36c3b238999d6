"""Static shapes of an operation's outputs, told as it is added to a client's graph."""

from __future__ import annotations

from collections.abc import Sequence
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from tensorloom.framework.functions import function_shapes
from tensorloom.framework.registry.shape_inference import (
    HandleData,
    InferenceContext,
    run_shape_fn,
)
from tensorloom.framework.types import constant_value

if TYPE_CHECKING:
    import numpy as np

    from tensorloom.framework.graph.operation import Operation
    from tensorloom.framework.types.tensor_shape import TensorShape

_SHAPE, _DTYPE = attrgetter("_shape"), attrgetter("_dtype")


def infer(op: Operation) -> None:
    """Sets the shapes and handle data of the outputs.

    Raises:
      ValueError: the inputs or attrs do not fit.
    """
    inputs, outputs = op._inputs, op._outputs
    if not outputs and op._op_def.shape_fn is None:
        return
    context = _OperationContext(
        op._type,
        op._name,
        op._attrs,
        list(map(_SHAPE, inputs)),
        list(map(_DTYPE, inputs)),
        list(map(_DTYPE, outputs)),
    )
    context.operation = op
    shapes = run_shape_fn(op._op_def, context)
    for tensor, shape in zip(outputs, shapes, strict=True):
        tensor._shape = shape
    if context.output_handles:
        for index, data in context.output_handles.items():
            outputs[index]._handle_data = data


class _OperationContext(InferenceContext):
    """The inputs are tensors of the client's graph."""

    __slots__ = ("operation",)

    operation: Operation

    def input_value(self, index: int) -> np.ndarray[Any, Any] | None:
        tensor = constant_value.named_by_program(self.operation._inputs[index])
        return constant_value.evaluate(constant_value.entered(tensor))

    def input_value_as_shape(self, index: int) -> TensorShape:
        tensor = constant_value.named_by_program(self.operation._inputs[index])
        return constant_value.as_partial_shape(tensor)

    def handle_data(self, index: int) -> HandleData | None:
        return self.operation._inputs[index]._handle_data

    def function_results(self, name: str) -> Sequence[function_shapes.Known] | None:
        arguments = [(t._shape, t._handle_data) for t in self.operation._inputs]
        return function_shapes.of_call(self.operation._graph, name, arguments)
