"""Ops from strings to strings: case, strip, substrings, patterns, joins, formats."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tensorloom.framework.export import export
from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.framework.registry.op_registry import NOT_DIFFERENTIABLE, register_op
from tensorloom.framework.registry.shape_inference import (
    broadcast_shapes,
    scalar_shape,
    unchanged_shape,
)
from tensorloom.framework.runtime.scopes import name_scope
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.framework.types.tensor_shape import UNKNOWN, TensorShape
from tensorloom.ops.array import array_ops
from tensorloom.ops.array.argument_aliases import either
from tensorloom.ops.reductions import reductions as math_ops_reductions

if TYPE_CHECKING:
    from tensorloom.framework.graph.tensor import Tensor
    from tensorloom.framework.registry.shape_inference import InferenceContext


# --- definitions ------------------------------------------------------------------


def _scalar_parameters(c: InferenceContext) -> TensorShape:
    """The first input's shape; the others are scalars."""
    for index in range(1, c.num_inputs):
        c.with_rank(index, 0)
    return c.input_shape(0)


def _substr_shape(c: InferenceContext) -> TensorShape:
    position, length = c.input_shape(1), c.input_shape(2)
    c.merge(position, length)
    return broadcast_shapes(c, c.input_shape(0), position)


def _print_shape(c: InferenceContext) -> tuple[TensorShape, ...]:
    rank = c.input_shape(0).rank
    if rank:
        c.fail(f"input must be a scalar, but has rank: {rank}")
    return ()


def _segment_join_shape(c: InferenceContext) -> TensorShape:
    inputs, ids = c.input_shape(0), c.input_shape(1)
    c.with_rank(2, 0)
    if inputs.dims_tuple is None or ids.dims_tuple is None:
        return UNKNOWN
    c.with_rank_at_least(0, len(ids.dims_tuple))
    c.merge(inputs[: len(ids.dims_tuple)], ids)
    count = c.input_value(2)
    size = None if count is None else int(count)
    return TensorShape.of((size, *inputs.dims_tuple[len(ids.dims_tuple) :]))


register_op(
    "StringStrip",
    inputs=["input: string"],
    outputs=["output: string"],
    shape_fn=unchanged_shape,
    doc="Strings without the white space at both ends.",
)
for _name, _doc in (("StringUpper", "upper"), ("StringLower", "lower")):
    register_op(
        _name,
        inputs=["input: string"],
        outputs=["output: string"],
        attrs=["encoding: string = ''"],
        shape_fn=unchanged_shape,
        doc=f"Strings in {_doc} case: of ASCII alone, or of all of UTF-8.",
    )
register_op(
    "Substr",
    inputs=["input: string", "pos: T", "len: T"],
    outputs=["output: string"],
    attrs=["T: {int32, int64}", "unit: {'BYTE', 'UTF8_CHAR'} = 'BYTE'"],
    shape_fn=_substr_shape,
    doc="A part of each string, by position and length.",
)
register_op(
    "RegexReplace",
    inputs=["input: string", "pattern: string", "rewrite: string"],
    outputs=["output: string"],
    attrs=["replace_global: bool = true"],
    shape_fn=_scalar_parameters,
    gradient=NOT_DIFFERENTIABLE,
    doc="Matches of a pattern (RE2 syntax) replaced by a text.",
)
register_op(
    "StaticRegexReplace",
    inputs=["input: string"],
    outputs=["output: string"],
    attrs=["pattern: string", "rewrite: string", "replace_global: bool = true"],
    shape_fn=unchanged_shape,
    doc="RegexReplace with pattern and text as attrs.",
)
register_op(
    "RegexFullMatch",
    inputs=["input: string", "pattern: string"],
    outputs=["output: bool"],
    shape_fn=_scalar_parameters,
    doc="Whether a pattern (RE2 syntax) matches the whole of each string.",
)
register_op(
    "StaticRegexFullMatch",
    inputs=["input: string"],
    outputs=["output: bool"],
    attrs=["pattern: string"],
    shape_fn=unchanged_shape,
    doc="RegexFullMatch with the pattern as an attr.",
)
register_op(
    "ReduceJoin",
    inputs=["inputs: string", "reduction_indices: int32"],
    outputs=["output: string"],
    attrs=["keep_dims: bool = false", "separator: string = ''"],
    shape_fn=math_ops_reductions.reduction_shape,
    gradient=NOT_DIFFERENTIABLE,
    doc="Strings along axes joined, in the order in which the axes are given.",
)
register_op(
    "UnsortedSegmentJoin",
    inputs=["inputs: string", "segment_ids: Tindices", "num_segments: Tnumsegments"],
    outputs=["output: string"],
    attrs=[
        "separator: string = ''",
        "Tindices: {int32, int64}",
        "Tnumsegments: {int32, int64} = DT_INT32",
    ],
    shape_fn=_segment_join_shape,
    doc="The strings of each segment joined.",
)
register_op(
    "StringFormat",
    inputs=["inputs: T"],
    outputs=["output: string"],
    attrs=[
        "T: list(type) >= 0",
        "template: string = '%s'",
        "placeholder: string = '%s'",
        "summarize: int = 3",
    ],
    shape_fn=scalar_shape,
    doc="A text with placeholders replaced by summaries of tensors.",
)
register_op(
    "PrintV2",
    inputs=["input: string"],
    attrs=["output_stream: string = 'stderr'", "end: string = '\\n'"],
    shape_fn=_print_shape,
    stateful=True,
    doc="Writes a text to a stream, a log level or a file.",
)


# --- builders ---------------------------------------------------------------------


@export("strings.strip", "string_strip")
def string_strip(input: Any, name: str | None = None) -> Tensor:
    """Strings without the white space at both ends."""
    return apply_op("StringStrip", input=input, name=name)  # type: ignore[no-any-return]


@export("strings.upper")
def string_upper(input: Any, encoding: str = "", name: str | None = None) -> Tensor:
    """Strings in upper case; `encoding` is "" (ASCII letters alone) or "utf-8"."""
    return apply_op("StringUpper", input=input, encoding=encoding, name=name)  # type: ignore[no-any-return]


@export("strings.lower")
def string_lower(input: Any, encoding: str = "", name: str | None = None) -> Tensor:
    """Strings in lower case; `encoding` is "" (ASCII letters alone) or "utf-8"."""
    return apply_op("StringLower", input=input, encoding=encoding, name=name)  # type: ignore[no-any-return]


@export("strings.substr")
def substr(
    input: Any, pos: Any, len: Any, name: str | None = None, unit: str = "BYTE"
) -> Tensor:
    """A part of each string; `pos` and `len` broadcast with `input`.

    Running it raises InvalidArgumentError when a position is outside of its string.
    """
    return apply_op("Substr", input=input, pos=pos, len=len, unit=unit, name=name)  # type: ignore[no-any-return]


@export("substr")
def substr_deprecated(
    input: Any, pos: Any, len: Any, name: str | None = None, unit: str = "BYTE"
) -> Tensor:
    """Old name of `strings.substr`."""
    return substr(input, pos, len, name=name, unit=unit)


@export("strings.regex_replace", "regex_replace")
def regex_replace(
    input: Any,
    pattern: Any,
    rewrite: Any,
    replace_global: bool = True,
    name: str | None = None,
) -> Tensor:
    """Matches of a pattern replaced.

    Args:
      pattern: RE2 syntax; a Python string or a scalar tensor.
      rewrite: the new text, in which \\\\0 to \\\\9 stand for groups.
      replace_global: all matches, not only the first.
    """
    if isinstance(pattern, str | bytes) and isinstance(rewrite, str | bytes):
        return apply_op(  # type: ignore[no-any-return]
            "StaticRegexReplace",
            input=input,
            pattern=pattern,
            rewrite=rewrite,
            replace_global=replace_global,
            name=name,
        )
    return apply_op(  # type: ignore[no-any-return]
        "RegexReplace",
        input=input,
        pattern=pattern,
        rewrite=rewrite,
        replace_global=replace_global,
        name=name,
    )


@export("strings.regex_full_match")
def regex_full_match(input: Any, pattern: Any, name: str | None = None) -> Tensor:
    """Whether a pattern (RE2 syntax) matches the whole of each string."""
    if isinstance(pattern, str | bytes):
        return apply_op(  # type: ignore[no-any-return]
            "StaticRegexFullMatch", input=input, pattern=pattern, name=name
        )
    return apply_op("RegexFullMatch", input=input, pattern=pattern, name=name)  # type: ignore[no-any-return]


@export("strings.reduce_join", "reduce_join")
def reduce_join(
    inputs: Any,
    axis: Any = None,
    keep_dims: bool | None = None,
    separator: str = "",
    name: str | None = None,
    reduction_indices: Any = None,
    keepdims: bool | None = None,
) -> Tensor:
    """Strings along axes joined; all of them when `axis` is None."""
    keepdims = either("keepdims", keepdims, "keep_dims", keep_dims)
    axis = either("axis", axis, "reduction_indices", reduction_indices)
    with name_scope(None, "ReduceJoin", [inputs, axis]):
        inputs = convert_to_tensor(inputs, dtypes.string)
        return apply_op(  # type: ignore[no-any-return]
            "ReduceJoin",
            inputs=inputs,
            reduction_indices=_reversed_axes(inputs, axis),
            keep_dims=bool(keepdims),
            separator=separator,
            name=name,
        )


def _reversed_axes(inputs: Tensor, axis: Any) -> Any:
    """`axis`, or all axes from the last: so that rows are joined before columns."""
    if axis is not None:
        return axis
    rank = inputs.shape.rank
    if rank is not None:
        import numpy as np

        return array_ops.constant(np.arange(rank - 1, -1, -1), dtype=dtypes.int32)
    from tensorloom.ops.math import math_ops

    return math_ops.range(array_ops.rank(inputs) - 1, -1, -1)


@export("strings.unsorted_segment_join")
def unsorted_segment_join(
    inputs: Any,
    segment_ids: Any,
    num_segments: Any,
    separator: str = "",
    name: str | None = None,
) -> Tensor:
    """The strings of each segment joined; an empty segment gives an empty string."""
    return apply_op(  # type: ignore[no-any-return]
        "UnsortedSegmentJoin",
        inputs=inputs,
        segment_ids=segment_ids,
        num_segments=num_segments,
        separator=separator,
        name=name,
    )


@export("strings.format")
def string_format(
    template: Any,
    inputs: Any,
    placeholder: str = "{}",
    summarize: int = 3,
    name: str | None = None,
) -> Tensor:
    """A text whose placeholders are replaced by summaries of tensors.

    Args:
      inputs: a list of tensors, or one.
      summarize: first and last elements shown of each axis; all when -1.

    Raises:
      ValueError: there are not as many placeholders as tensors.
    """
    if not isinstance(inputs, list | tuple):
        inputs = [inputs]
    found = template.count(placeholder)
    if found != len(inputs):
        raise ValueError(
            f"{found} placeholder(s) in template does not match {len(inputs)} "
            "tensor(s) provided as input"
        )
    return apply_op(  # type: ignore[no-any-return]
        "StringFormat",
        inputs=inputs,
        template=template,
        placeholder=placeholder,
        summarize=summarize,
        name=name,
    )
