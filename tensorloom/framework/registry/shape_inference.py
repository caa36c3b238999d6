"""Shape functions and what they may ask: static shapes, constant inputs, handles.

A shape function gets an `InferenceContext` and returns the output shapes. It raises
through `fail`; the graph turns that into TensorFlow's `ValueError` with the node's name
and its input shapes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, Final, NoReturn

from tensorloom.framework.types.attr_ranges import unreadable_for_shapes
from tensorloom.framework.types.tensor_shape import (
    MAX_RANK,
    SCALAR,
    UNKNOWN,
    TensorShape,
)

if TYPE_CHECKING:
    import numpy as np

    from tensorloom.framework.registry.op_registry import OpDef, ShapeFn
    from tensorloom.framework.types.dtypes import DType

Dims = tuple[int | None, ...]
_MOST_ELEMENTS: Final = 2**63 - 1


class ShapeError(ValueError):
    """Raised by a shape function: the input shapes do not fit the op."""


@dataclass(frozen=True, slots=True)
class HandleData:
    """What a resource or variant handle stands for: dtype and shape of its value."""

    dtype: DType
    shape: TensorShape

    def declared_shape(self) -> TensorShape:
        """The shape that was declared, which ops that ask for it see."""
        return self.shape


class InferenceContext:
    """One node as its shape function sees it: shapes, attrs, nothing constant."""

    __slots__ = (
        "attrs",
        "input_shapes",
        "input_types",
        "node_name",
        "op_name",
        "output_handles",
        "output_types",
    )

    def __init__(
        self,
        op_name: str,
        node_name: str,
        attrs: Mapping[str, Any],
        input_shapes: Sequence[TensorShape],
        input_types: Sequence[DType],
        output_types: Sequence[DType],
    ) -> None:
        self.op_name = op_name
        self.node_name = node_name
        self.attrs = attrs
        self.input_shapes = input_shapes
        self.input_types = input_types
        self.output_types = output_types
        self.output_handles: dict[int, HandleData] | None = None

    @property
    def num_inputs(self) -> int:
        """Number of flattened inputs."""
        return len(self.input_shapes)

    @property
    def num_outputs(self) -> int:
        """Number of flattened outputs."""
        return len(self.output_types)

    def input_shape(self, index: int) -> TensorShape:
        """Static shape of an input."""
        return self.input_shapes[index]

    def input_type(self, index: int) -> DType:
        """Base dtype of an input."""
        return self.input_types[index].base_dtype

    def input_value(self, index: int) -> np.ndarray[Any, Any] | None:
        """The value of an input that is constant, else None.

        Where the values come from depends on the graph: subclasses say.
        """
        return None

    def input_value_as_shape(self, index: int) -> TensorShape:
        """An input that holds a shape vector, with what is known of its elements.

        Raises:
          ShapeError: the input is not a vector (a scalar -1 is an unknown shape).
        """
        value = self.input_value(index)
        return UNKNOWN if value is None else shape_from_vector(value)

    def handle_data(self, index: int) -> HandleData | None:
        """What an input handle stands for, if known."""
        return None

    def set_output_handle_data(self, index: int, data: HandleData) -> None:
        """States what an output handle stands for."""
        if self.output_handles is None:
            self.output_handles = {}
        self.output_handles[index] = data

    def function_results(
        self, name: str
    ) -> Sequence[tuple[TensorShape, HandleData | None]] | None:
        """What a function gives that gets all the inputs, where its body is known."""
        return None

    def fail(self, message: str) -> NoReturn:
        """Raises the op's shape error."""
        raise ShapeError(message)

    def _shape_of(self, which: int | TensorShape) -> TensorShape:
        return self.input_shapes[which] if isinstance(which, int) else which

    def with_rank(self, which: int | TensorShape, rank: int) -> TensorShape:
        """An input's shape (by index) or a shape, which must have this rank."""
        shape = self._shape_of(which)
        dims = shape.dims_tuple
        if dims is None:
            return unknown_of_rank(rank)
        if len(dims) != rank:
            self.fail(f"Shape must be rank {rank} but is rank {len(dims)}")
        return shape

    def with_rank_at_least(self, which: int | TensorShape, rank: int) -> TensorShape:
        """A shape that must have at least this rank."""
        shape = self._shape_of(which)
        dims = shape.dims_tuple
        if dims is not None and len(dims) < rank:
            self.fail(f"Shape must be at least rank {rank} but is rank {len(dims)}")
        return shape

    def with_rank_at_most(self, which: int | TensorShape, rank: int) -> TensorShape:
        """A shape that must have at most this rank."""
        shape = self._shape_of(which)
        dims = shape.dims_tuple
        if dims is not None and len(dims) > rank:
            self.fail(f"Shape must be at most rank {rank} but is rank {len(dims)}")
        return shape

    def merge(self, a: TensorShape, b: TensorShape) -> TensorShape:
        """The most specific shape that both allow."""
        dims_a, dims_b = a.dims_tuple, b.dims_tuple
        if dims_a is None or dims_a == dims_b:
            return b
        if dims_b is None:
            return a
        if len(dims_a) != len(dims_b):
            self.fail(
                f"Shapes must be equal rank, but are {len(dims_a)} and {len(dims_b)}"
            )
        merged: list[int | None] = []
        for i, (x, y) in enumerate(zip(dims_a, dims_b, strict=True)):
            if x is not None and y is not None and x != y:
                self.fail(
                    f"Dimension {i} in both shapes must be equal, but are {x} and {y}."
                    f" Shapes are {format_shape(a)} and {format_shape(b)}."
                )
            merged.append(y if x is None else x)
        return TensorShape.of(tuple(merged))

    def with_value(self, dim: int | None, value: int) -> int:
        """A dimension that must have this size."""
        if dim is not None and dim != value:
            self.fail(f"Dimension must be {value} but is {dim}")
        return value

    def merge_dim(self, a: int | None, b: int | None) -> int | None:
        """The dimension that both allow."""
        if a is None or a == b:
            return b
        if b is not None:
            self.fail(f"Dimensions must be equal, but are {a} and {b}")
        return a


def format_shape(shape: TensorShape) -> str:
    """A shape as shape errors print it: `[2,?]`, or `?` for an unknown rank."""
    dims = shape.dims_tuple
    if dims is None:
        return "?"
    return "[" + ",".join("?" if d is None else str(d) for d in dims) + "]"


def unknown_of_rank(rank: int) -> TensorShape:
    """A shape of unknown dimensions; `rank` may come from data, and be any number.

    Raises:
      ShapeError: there are more than TensorFlow's limit.
    """
    if rank > MAX_RANK:
        raise ShapeError(f"A shape has at most {MAX_RANK} dimensions, not {rank}")
    return TensorShape.of((None,) * rank)


def shape_from_vector(values: np.ndarray[Any, Any] | None) -> TensorShape:
    """The shape that a constant shape vector stands for (-1 is unknown).

    Raises:
      ShapeError: it is not a vector, or has an element below -1.
    """
    if values is None:
        return UNKNOWN
    if values.ndim == 0:
        if values == -1:
            return UNKNOWN
        raise ShapeError(
            "Input tensor must be rank 1, or if its rank 0 it must have value -1 "
            "(representing an unknown shape).  Saw value: " + str(int(values))
        )
    if values.ndim != 1:
        raise ShapeError(f"Shape must be rank 1 but is rank {values.ndim}")
    unknown_of_rank(len(values))
    dims: list[int | None] = []
    for value in values.tolist():
        if value < -1:
            raise ShapeError(f"Invalid value in tensor used for shape: {value}")
        dims.append(None if value == -1 else value)
    return TensorShape.of(tuple(dims))


def run_shape_fn(op_def: OpDef, context: InferenceContext) -> Sequence[TensorShape]:
    """Runs an op's shape function and checks that it speaks of every output.

    Raises:
      ValueError: with TensorFlow's wording, when the shapes do not fit the op.
    """
    count = len(context.output_types)
    if op_def.shape_fn is None:
        return (UNKNOWN,) * count
    try:
        shapes = _infer(op_def, op_def.shape_fn, context)
    except ShapeError as error:
        raise ValueError(_error_text(str(error), op_def, context)) from None
    except (ArithmeticError, LookupError, UnicodeError) as error:
        # Values that a shape function did not think of are the caller's mistake too.
        raise ValueError(
            f"{error} for '{context.node_name}' (op: '{context.op_name}')"
        ) from error
    if isinstance(shapes, TensorShape):
        shapes = (shapes,)
    if len(shapes) != count:  # lists among the attrs that do not fit together
        raise ValueError(
            f"Shapes of {len(shapes)} outputs where there are {count} for "
            f"'{context.node_name}' (op: '{context.op_name}')"
        )
    return shapes


def _infer(
    op_def: OpDef, shape_fn: ShapeFn, context: Any
) -> TensorShape | Sequence[TensorShape]:
    """What the shape function says, after checks of the attrs that it reads."""
    _check_shape_attrs(op_def, context.attrs)
    rank = context.input_shapes[0].rank if context.input_shapes else None
    if problem := unreadable_for_shapes(op_def.name, context.attrs, rank):
        raise ShapeError(problem)
    return shape_fn(context)


def _check_shape_attrs(op_def: OpDef, attrs: Mapping[str, Any]) -> None:
    for name in _shape_attrs(op_def):
        value = attrs[name]
        for shape in value if isinstance(value, list | tuple) else (value,):
            _check_size(shape)


@cache
def _shape_attrs(op_def: OpDef) -> tuple[str, ...]:
    kinds = ("shape", "list(shape)")
    return tuple([a.name for a in op_def.attrs.values() if a.type in kinds])


def _check_size(shape: TensorShape) -> None:
    """Raises ShapeError if a shape has more elements than 64 bits can count."""
    dims = shape.dims_tuple
    if dims is None or None in dims:
        return
    size = 1
    for dim in dims:
        size *= dim or 0
        if size > _MOST_ELEMENTS:
            raise ShapeError(
                f"Shape {format_shape(shape)} is too large "
                "(more than 2**63 - 1 entries)"
            )


class _Recording:
    """A context that notes which input values a shape function asks for.

    Without `sighted` it knows no values, only shapes.
    """

    def __init__(self, context: InferenceContext, sighted: bool) -> None:
        self._context = context
        self._sighted = sighted
        self.values: dict[int, np.ndarray[Any, Any]] = {}
        self.partial_shapes: dict[int, TensorShape] = {}

    def __getattr__(self, name: str) -> Any:
        return getattr(self._context, name)

    def input_value(self, index: int) -> np.ndarray[Any, Any] | None:
        value = self._context.input_value(index) if self._sighted else None
        if value is not None:
            self.values[index] = value
        return value

    def input_value_as_shape(self, index: int) -> TensorShape:
        if self._sighted:
            shape = self._context.input_value_as_shape(index)
            if shape.rank is not None:
                self.partial_shapes[index] = shape
            return shape
        length = self._context.input_shapes[index].dims_tuple
        if length is None or len(length) != 1 or length[0] is None:
            return UNKNOWN
        return unknown_of_rank(length[0])


def _error_text(message: str, op_def: OpDef, context: InferenceContext) -> str:
    """TensorFlow's wording around a shape function's message.

    TensorFlow infers from shapes first, and computes input values when that is not
    enough; its message shows the values that were needed.
    """
    for sighted in (False, True):
        recording = _Recording(context, sighted)
        try:
            assert op_def.shape_fn is not None
            _infer(op_def, op_def.shape_fn, recording)
        except ShapeError as error:
            message = str(error)
            break
    shapes = ", ".join(format_shape(s) for s in context.input_shapes)
    text = (
        f"{message} for '{context.node_name}' (op: '{context.op_name}') "
        f"with input shapes: {shapes}"
    )
    values = [
        f"input[{i}] = <{_summary(v)}>" for i, v in sorted(recording.values.items())
    ]
    if values:
        text += " and with computed input tensors: " + ", ".join(values)
    partial = [
        f"input[{i}] = {format_shape(s)}" for i, s in recording.partial_shapes.items()
    ]
    if partial:
        text += " and with input tensors computed as partial shapes: "
        text += ", ".join(partial)
    return text + "."


def _summary(value: np.ndarray[Any, Any]) -> str:
    """The elements of a constant, the outermost brackets left out."""
    if value.ndim == 0:
        return str(value)
    if value.ndim == 1:
        return " ".join(str(v) for v in value.tolist())
    return "".join(f"[{_summary(row)}]" for row in value)


# --- shape functions that many ops share -------------------------------------


def unchanged_shape(c: InferenceContext) -> TensorShape:
    """One output with the first input's shape."""
    return c.input_shapes[0]


def scalar_shape(c: InferenceContext) -> Sequence[TensorShape]:
    """Every output is a scalar."""
    return (SCALAR,) * len(c.output_types)


def unknown_shapes(c: InferenceContext) -> Sequence[TensorShape]:
    """Nothing is known of the outputs."""
    return (UNKNOWN,) * len(c.output_types)


def no_outputs(c: InferenceContext) -> Sequence[TensorShape]:
    """The op has no outputs."""
    return ()


def broadcast_binary_shape(c: InferenceContext) -> TensorShape:
    """The shape that the first two inputs broadcast to."""
    return broadcast_shapes(c, c.input_shapes[0], c.input_shapes[1])


def broadcast_shapes(
    c: InferenceContext, a: TensorShape, b: TensorShape
) -> TensorShape:
    """NumPy broadcasting over partially known shapes.

    Raises:
      ShapeError: the shapes do not broadcast.
    """
    dims_a, dims_b = a.dims_tuple, b.dims_tuple
    if dims_a is None or dims_b is None:
        return UNKNOWN
    if not dims_b or (dims_a == dims_b and None not in dims_a):
        return a
    if not dims_a:
        return b
    rank = max(len(dims_a), len(dims_b))
    padded_a = (1,) * (rank - len(dims_a)) + dims_a
    padded_b = (1,) * (rank - len(dims_b)) + dims_b
    return TensorShape.of(
        tuple(_broadcast_dim(c, x, y) for x, y in zip(padded_a, padded_b, strict=True))
    )


def _broadcast_dim(c: InferenceContext, a: int | None, b: int | None) -> int | None:
    if a is None or b is None:
        # A known dimension other than 1 decides; 1 leaves the other open.
        known = b if a is None else a
        return known if known is not None and known > 1 else None
    if a == b or b == 1:
        return a
    if a == 1:
        return b
    c.fail(f"Dimensions must be equal, but are {a} and {b}")
