"""Printing while a step runs: `tf.Print`, `tf.print`, and the clock."""

from __future__ import annotations

import logging
import os
import pprint
import sys
from typing import TYPE_CHECKING, Any, Final

from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import Operation, Tensor, is_tensor
from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.framework.registry.op_registry import NOT_DIFFERENTIABLE, register_op
from tensorloom.framework.registry.shape_inference import InferenceContext, scalar_shape
from tensorloom.framework.types import nest
from tensorloom.framework.types.sparse_tensor import SparseTensor
from tensorloom.ops.strings import transform as string_transform_ops

if TYPE_CHECKING:
    from tensorloom.framework.types.tensor_shape import TensorShape


def _first_input_shape(c: InferenceContext) -> TensorShape:
    return c.input_shape(0)


def _print_grad(op: Operation, *grads: Tensor) -> list[Tensor | None]:
    """Of the value that passes through; what is printed has none."""
    return [*grads, *[None] * (len(op.inputs) - 1)]


register_op(
    "Print",
    inputs=["input: T", "data: U"],
    outputs=["output: T"],
    attrs=[
        "T: type",
        "U: list(type) >= 0",
        "message: string = ''",
        "first_n: int = -1",
        "summarize: int = 3",
    ],
    shape_fn=_first_input_shape,
    gradient=_print_grad,
    stateful=True,
    doc="`input`; writes the data to the standard error stream as it passes.",
)

register_op(
    "Timestamp",
    inputs=[],
    outputs=["ts: double"],
    attrs=[],
    shape_fn=scalar_shape,
    gradient=NOT_DIFFERENTIABLE,
    stateful=True,
    doc="The time in seconds since 1970, read when it runs.",
)


@export("timestamp")
def timestamp(name: str | None = None) -> Tensor:
    """The time in seconds since 1970 when the op runs, a double scalar."""
    return apply_op("Timestamp", name=name)  # type: ignore[no-any-return]


@export("Print")
def print_v1(
    input_: Any,
    data: Any,
    message: str | None = None,
    first_n: int | None = None,
    summarize: int | None = None,
    name: str | None = None,
) -> Tensor:
    """`input_`, printing `data` to the standard error stream each time it is computed.

    Args:
      input_: the tensor that passes through.
      data: the tensors to print.
      message: printed before them.
      first_n: how often at most; always when negative or None.
      summarize: how many elements of each tensor, 3 when None; all when -1.
      name: of the op.
    """
    return apply_op(  # type: ignore[no-any-return]
        "Print",
        input=input_,
        data=data,
        message="" if message is None else message,
        first_n=-1 if first_n is None else first_n,
        summarize=3 if summarize is None else summarize,
        name=name,
    )


_LEVELS: Final = {
    logging.INFO: "log(info)",
    logging.WARNING: "log(warning)",
    logging.ERROR: "log(error)",
}
# `tf.logging.info` and `logging.info` stand for their level.
_LOG_FUNCTIONS: Final = {
    "info": "log(info)",
    "warning": "log(warning)",
    "warn": "log(warning)",
    "error": "log(error)",
}


@export("print")
def print_v2(*inputs: Any, **kwargs: Any) -> Operation:
    """An operation that prints its inputs, tensors among them, when it runs.

    Args:
      *inputs: tensors, SparseTensors, Python values, and structures of them.
      **kwargs: `output_stream`: `sys.stderr` (the default), `sys.stdout`, a function
        or level of `tf.logging`, or `"file://PATH"`. `summarize`: how many elements at
        each end of an axis are shown, 3; all when -1. `sep`: between the inputs, a
        space. `end`: after them, a newline. `name`: of the operation.

    Raises:
      ValueError: an unknown keyword or stream.
    """
    output_stream = kwargs.pop("output_stream", sys.stderr)
    name = kwargs.pop("name", None)
    summarize = kwargs.pop("summarize", 3)
    sep = kwargs.pop("sep", " ")
    end = kwargs.pop("end", os.linesep)
    if kwargs:
        raise ValueError(f"Unrecognized keyword arguments for tf.print: {kwargs}")
    stream = _stream_name(output_stream)
    if len(inputs) == 1 and _is_string_scalar(inputs[0]):
        text = inputs[0]
    else:
        text = _formatted(inputs, sep, summarize, f"{name}_format" if name else None)
    return apply_op(  # type: ignore[no-any-return]
        "PrintV2", input=text, output_stream=stream, name=name, end=end
    )


def _stream_name(stream: Any) -> str:
    if isinstance(stream, str) and stream.startswith("file://"):
        return stream
    if stream is sys.stderr or stream is sys.stdout:
        return "stderr" if stream is sys.stderr else "stdout"
    found = _LEVELS.get(stream) if isinstance(stream, int) else None
    if found is None and callable(stream):
        found = _LOG_FUNCTIONS.get(getattr(stream, "__name__", ""))
    if found is None:
        raise ValueError(
            f"Unsupported output stream, logging level, or file.{stream}. Supported "
            "streams are sys.stdout, sys.stderr, tf.logging.info, tf.logging.warning, "
            "tf.logging.error. File needs to be in the form of 'file://<filepath>'."
        )
    return found


def _is_string_scalar(value: Any) -> bool:
    return (
        isinstance(value, Tensor)
        and value.shape.rank == 0
        and value.dtype.base_dtype.name == "string"
    )


def _formatted(
    inputs: tuple[Any, ...], sep: str, summarize: int, name: str | None
) -> Tensor:
    """A StringFormat of a template in which each tensor has a placeholder."""
    plain = nest.map_structure(lambda x: "" if is_tensor(x) else x, inputs)
    placeholder = _unused_placeholder(" ".join(pprint.pformat(x) for x in plain))
    tensors: list[Any] = []

    def take(x: Any) -> Any:
        if isinstance(x, SparseTensor):
            tensors.extend([x.indices, x.values, x.dense_shape])
            p = placeholder
            return f"SparseTensor(indices={p}, values={p}, shape={p})"
        if is_tensor(x):
            tensors.append(x)
            return placeholder
        return x

    templates = []
    for value in inputs:
        if isinstance(value, str):
            templates.append(value)
        else:
            leaves = [take(x) for x in nest.flatten(value)]
            templates.append(pprint.pformat(nest.pack_sequence_as(value, leaves)))
    # The quotes that pformat puts around a placeholder are no part of the tensor.
    template = sep.join(templates).replace(f"'{placeholder}'", placeholder)
    return string_transform_ops.string_format(
        template, tensors, placeholder=placeholder, summarize=summarize, name=name
    )


def _unused_placeholder(text: str) -> str:
    placeholder = "{}"
    while placeholder in text:
        placeholder += "0"
    return placeholder
