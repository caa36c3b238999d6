"""Public functions that take ragged tensors too.

A function is first called as it is; when it refuses its arguments and one of them is
ragged, what is registered here for ragged tensors takes over (as in TensorFlow, where
the names of the nodes show it). Calls without ragged tensors pay for a `try`.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any, Final

from tensorloom.framework import export
from tensorloom.framework.graph.graph import Tensor, control_dependencies
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.tensor_conversion import (
    convert_to_tensor,
    internal_convert_to_tensor,
)
from tensorloom.ops.array import array_ops
from tensorloom.ops.array import concat as concat_ops
from tensorloom.ops.array import shape as shape_ops
from tensorloom.ops.array import stack as stack_ops
from tensorloom.ops.indexing import batch_gather as batch_gather_ops
from tensorloom.ops.indexing import gather as gather_ops
from tensorloom.ops.indexing import one_hot as one_hot_ops
from tensorloom.ops.indexing import partition as partition_ops
from tensorloom.ops.indexing import selection as selection_ops
from tensorloom.ops.math import clip as clip_ops
from tensorloom.ops.math import elementwise as math_ops_elementwise
from tensorloom.ops.math import math_ops
from tensorloom.ops.parsing import parsing_ops
from tensorloom.ops.ragged import array as ragged_array_ops
from tensorloom.ops.ragged import concat as ragged_concat_ops
from tensorloom.ops.ragged import dimensions as ragged_dimensions
from tensorloom.ops.ragged import gather as ragged_gather_ops
from tensorloom.ops.ragged import math as ragged_math_ops
from tensorloom.ops.ragged import string as ragged_string_ops
from tensorloom.ops.ragged import tile as ragged_tile
from tensorloom.ops.ragged.broadcast import broadcast_flat_values
from tensorloom.ops.ragged.functional import assert_splits_match
from tensorloom.ops.ragged.ragged_tensor import (
    RaggedTensor,
    convert_to_tensor_or_ragged_tensor,
    is_ragged,
    match_row_splits_dtypes,
)
from tensorloom.ops.reductions import aggregate as math_ops_aggregate
from tensorloom.ops.reductions import segment as math_ops_segment
from tensorloom.ops.strings import codec as string_codec_ops
from tensorloom.ops.strings import string_ops
from tensorloom.ops.strings import transform as string_transform_ops
from tensorloom.ops.strings import unicode_script as unicode_script_ops

_Function = Callable[..., Any]

# Importing these declares the names that are wrapped here.
_ = (
    *(array_ops, batch_gather_ops, clip_ops, concat_ops, gather_ops, math_ops),
    *(math_ops_aggregate, math_ops_elementwise, math_ops_segment, one_hot_ops),
    *(parsing_ops, partition_ops, selection_ops, shape_ops, stack_ops),
    *(string_codec_ops, string_ops, string_transform_ops),
    unicode_script_ops,
)

UNARY: Final = [
    "debugging.check_numerics",
    "identity",
    "ones_like",
    "zeros_like",
    "clip_by_value",
    "bitwise.invert",
    "abs",
    "acos",
    "acosh",
    "math.angle",
    "asin",
    "asinh",
    "atan",
    "atanh",
    "cast",
    "math.ceil",
    "math.conj",
    "cos",
    "cosh",
    "math.digamma",
    "math.erf",
    "math.erfc",
    "exp",
    "math.expm1",
    "floor",
    "math.imag",
    "math.is_finite",
    "math.is_inf",
    "math.is_nan",
    "math.lgamma",
    "math.log",
    "math.log1p",
    "math.log_sigmoid",
    "logical_not",
    "negative",
    "math.real",
    "math.reciprocal",
    "math.rint",
    "round",
    "math.rsqrt",
    "saturate_cast",
    "sign",
    "sin",
    "sinh",
    "sqrt",
    "square",
    "tan",
    "io.decode_compressed",
    "strings.to_number",
    "strings.to_hash_bucket",
    "as_string",
    "io.decode_base64",
    "io.encode_base64",
    "strings.regex_full_match",
    "strings.regex_replace",
    "strings.strip",
    "strings.to_hash_bucket_fast",
    "strings.to_hash_bucket_strong",
    "strings.substr",
    "strings.length",
    "strings.unicode_script",
    "strings.lower",
    "strings.upper",
]
UNARY_LISTS: Final = ("add_n", "strings.join")
BINARY: Final = [
    "bitwise.bitwise_and",
    "bitwise.bitwise_or",
    "bitwise.bitwise_xor",
    "bitwise.left_shift",
    "bitwise.right_shift",
    "add",
    "atan2",
    "complex",
    "math.divide_no_nan",
    "divide",
    "equal",
    "floordiv",
    "floormod",
    "greater",
    "greater_equal",
    "less",
    "less_equal",
    "logical_and",
    "logical_or",
    "math.logical_xor",
    "maximum",
    "minimum",
    "multiply",
    "not_equal",
    "pow",
    "realdiv",
    "math.squared_difference",
    "subtract",
    "truediv",
    "truncatediv",
    "truncatemod",
    "div",
]


# --- elementwise -------------------------------------------------------------


def _first_argument(
    function: _Function, args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> tuple[Any, tuple[Any, ...], dict[str, Any]]:
    """(the first argument, the others)."""
    if args:
        return args[0], args[1:], dict(kwargs)
    others = dict(kwargs)
    name = next(iter(inspect.signature(function).parameters))
    return others.pop(name, None), (), others


def _unary(function: _Function, args: Any, kwargs: Any) -> Any:
    x, args, kwargs = _first_argument(function, args, kwargs)
    if not is_ragged(x):
        return export.NOT_HANDLED
    x = convert_to_tensor_or_ragged_tensor(x)
    return x.with_flat_values(function(x.flat_values, *args, **kwargs))


def _unary_list(function: _Function, args: Any, kwargs: Any) -> Any:
    values, args, kwargs = _first_argument(function, args, kwargs)
    if not isinstance(values, list | tuple) or not any(map(is_ragged, values)):
        return export.NOT_HANDLED
    values = match_row_splits_dtypes(*values)
    nested = [v.nested_row_splits for v in values if is_ragged(v)]
    flat = [v.flat_values if is_ragged(v) else v for v in values]
    with control_dependencies(assert_splits_match(nested)):
        return RaggedTensor.from_nested_row_splits(
            function(flat, *args, **kwargs), nested[0], validate=False
        )


def _binary(function: _Function, args: Any, kwargs: Any) -> Any:
    x, args, kwargs = _first_argument(function, args, kwargs)
    y_name = list(inspect.signature(function).parameters)[1]
    if args:
        y, args = args[0], args[1:]
    else:
        y = kwargs.pop(y_name, None)
    if not (is_ragged(x) or is_ragged(y)):
        return export.NOT_HANDLED
    try:
        x = _as_operand(x, y, "x")
        y = _as_operand(y, x, "y")
    except (TypeError, ValueError):
        return export.NOT_HANDLED
    match_row_splits_dtypes(x, y)
    x_values, y_values, rows = broadcast_flat_values(x, y)
    return rows.with_flat_values(function(x_values, y_values, *args, **kwargs))


def _as_operand(value: Any, other: Any, name: str) -> Any:
    if is_ragged(value):
        return convert_to_tensor_or_ragged_tensor(value)
    return internal_convert_to_tensor(value, None, name, preferred_dtype=other.dtype)


# --- functions with a ragged sibling -----------------------------------------


def _sibling(ragged: _Function, *names: str) -> _Function:
    """Calls `ragged` with the arguments by name, if one of `names` is ragged."""

    def handle(function: _Function, args: Any, kwargs: Any) -> Any:
        try:
            bound = inspect.signature(function).bind(*args, **kwargs)
        except TypeError:
            return export.NOT_HANDLED
        given = [bound.arguments.get(name) for name in names]
        parts = [p for g in given for p in (g if isinstance(g, list | tuple) else [g])]
        if not any(map(is_ragged, parts)):
            return export.NOT_HANDLED
        for value in given:
            # TensorFlow makes sure that it could be a tensor, and leaves that one.
            if isinstance(value, list | tuple) and not any(map(is_ragged, value)):
                convert_to_tensor(value)
        return ragged(**bound.arguments)

    return handle


def _gather(
    params: Any,
    indices: Any,
    validate_indices: Any = None,
    name: Any = None,
    axis: Any = None,
    batch_dims: Any = 0,
) -> Any:
    axis = 0 if axis is None else axis
    return ragged_gather_ops.gather(
        params, indices, validate_indices, axis, batch_dims, name
    )


def _expand_dims(
    input: Any, axis: Any = None, name: Any = None, dim: Any = None
) -> Any:
    return ragged_dimensions.expand_dims(input, dim if axis is None else axis, name)


def _squeeze(
    input: Any, axis: Any = None, name: Any = None, squeeze_dims: Any = None
) -> Any:
    return ragged_dimensions.squeeze(input, axis or squeeze_dims, name)


def _size(input: Any, name: Any = None, out_type: Any = dtypes.int32) -> Tensor:
    return ragged_dimensions.size(input, out_type, name)


def _concat(values: Any, axis: Any, name: Any = None) -> Any:
    return ragged_concat_ops.concat(values, axis, name)


def _stack(values: Any, axis: int = 0, name: Any = None) -> Any:
    return ragged_concat_ops.stack(values, axis, name)


def _dynamic_partition(
    data: Any, partitions: Any, num_partitions: Any, name: Any = None
) -> Any:
    if not isinstance(num_partitions, int) or num_partitions < 0:
        raise TypeError("num_partitions must be a non-negative integer")
    stacked = ragged_array_ops.stack_dynamic_partitions(
        data, partitions, num_partitions, name
    )
    return [stacked[i] for i in range(num_partitions)]


def _reduction(ragged: _Function) -> _Function:
    def reduce(
        input_tensor: Any,
        axis: Any = None,
        keepdims: Any = None,
        name: Any = None,
        reduction_indices: Any = None,
        keep_dims: Any = None,
    ) -> Any:
        axis = reduction_indices if axis is None else axis
        return ragged(input_tensor, axis, keepdims or keep_dims, name)

    return reduce


SIBLINGS: Final[dict[str, tuple[Any, ...]]] = {
    "batch_gather": (ragged_gather_ops.batch_gather, "params", "indices"),
    "concat": (_concat, "values"),
    "expand_dims": (_expand_dims, "input"),
    "gather": (_gather, "params", "indices"),
    "gather_nd": (
        lambda params, indices, name=None, batch_dims=0: ragged_gather_ops.gather_nd(
            params, indices, batch_dims, name
        ),
        "params",
        "indices",
    ),
    "one_hot": (ragged_array_ops.one_hot, "indices"),
    "rank": (ragged_dimensions.rank, "input"),
    "size": (_size, "input"),
    "squeeze": (_squeeze, "input"),
    "stack": (_stack, "values"),
    "tile": (ragged_tile.tile, "input"),
    "where": (
        lambda condition, x=None, y=None, name=None: ragged_array_ops.where(
            condition, x, y, name
        ),
        *("condition", "x", "y"),
    ),
    "dynamic_partition": (_dynamic_partition, "data", "partitions"),
    **{
        f"math.unsorted_segment_{kind}": (
            getattr(ragged_math_ops, f"segment_{kind}"),
            *("data", "segment_ids"),
        )
        for kind in ("sum", "prod", "min", "max", "mean", "sqrt_n")
    },
    **{
        f"reduce_{kind}": (
            _reduction(getattr(ragged_math_ops, f"reduce_{kind}")),
            "input_tensor",
        )
        for kind in ("sum", "prod", "min", "max", "mean", "any", "all")
    },
    "strings.reduce_join": (ragged_string_ops.reduce_join, "inputs"),
}


def _install() -> None:
    for handler, names in (
        (_unary, UNARY),
        (_unary_list, UNARY_LISTS),
        (_binary, BINARY),
    ):
        for name in names:
            export.dispatch(name, handler)
    for name, (ragged, *arguments) in SIBLINGS.items():
        export.dispatch(name, _sibling(ragged, *arguments))


_install()
