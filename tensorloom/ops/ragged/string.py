"""Strings as ragged tensors: characters, bytes, words, n-grams."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import name_scope
from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.framework.types import dtypes
from tensorloom.ops.array import array_ops
from tensorloom.ops.array.argument_aliases import either
from tensorloom.ops.ragged.dimensions import expand_dims
from tensorloom.ops.ragged.math import reduce_aggregate
from tensorloom.ops.ragged.ragged_tensor import (
    RaggedTensor,
    convert_to_tensor_or_ragged_tensor,
    is_ragged,
)
from tensorloom.ops.strings import split as string_split_ops
from tensorloom.ops.strings import transform as string_transform_ops

if TYPE_CHECKING:
    from tensorloom.framework.types.sparse_tensor import SparseTensor

# --- splits ------------------------------------------------------------------


def _of_sparse(sparse: SparseTensor) -> RaggedTensor:
    return RaggedTensor.from_value_rowids(
        sparse.values, sparse.indices[:, 0], sparse.dense_shape[0], validate=False
    )


@export("strings.bytes_split")
def string_bytes_split(input: Any, name: str | None = None) -> Any:
    """The bytes of each string, as strings of one byte.

    Raises:
      ValueError: the rank is not known.
    """
    with name_scope(name, "StringsByteSplit", [input]):
        input = convert_to_tensor_or_ragged_tensor(input, name="input")
        if is_ragged(input):
            return input.with_flat_values(string_bytes_split(input.flat_values))
        rank = input.shape.rank
        if rank is None:
            raise ValueError("input must have a statically-known rank.")
        if rank == 0:
            return string_bytes_split(array_ops.stack([input]))[0]
        if rank > 1:
            return string_bytes_split(RaggedTensor.from_tensor(input))
        indices, values, shape = apply_op(
            "StringSplit", input=input, delimiter="", skip_empty=False
        )
        return RaggedTensor.from_value_rowids(
            values=values, value_rowids=indices[:, 0], nrows=shape[0], validate=False
        )


def split_to_rows(
    input: Any, sep: Any = None, maxsplit: int = -1, name: str | None = None
) -> Any:
    """The words of each string as rows."""
    with name_scope(name, "StringSplit", [input]):
        input = convert_to_tensor_or_ragged_tensor(input, dtypes.string, name="input")
        if is_ragged(input):
            inner = split_to_rows(input.flat_values, sep, maxsplit)
            return input.with_flat_values(inner)
        rank = input.shape.rank
        if rank == 0:
            return split_to_rows(array_ops.stack([input]), sep, maxsplit)[0]
        if rank is None or rank == 1:
            return _of_sparse(
                string_split_ops.string_split_v2(input, sep=sep, maxsplit=maxsplit)
            )
        return split_to_rows(RaggedTensor.from_tensor(input), sep, maxsplit)


_KINDS = "result_type must be 'RaggedTensor' or 'SparseTensor'."


@export("string_split")
def string_split(
    source: Any,
    sep: Any = None,
    skip_empty: bool = True,
    delimiter: Any = None,
    result_type: str = "SparseTensor",
    name: str | None = None,
) -> Any:
    """Strings [n] split at any byte of a delimiter, " " by default.

    Raises:
      ValueError: `result_type` is neither "SparseTensor" nor "RaggedTensor".
    """
    with name_scope(name, "StringSplit", [source]):
        sparse = string_split_ops.string_split(
            source, sep=sep, skip_empty=skip_empty, delimiter=delimiter
        )
        if result_type == "SparseTensor":
            return sparse
        if result_type == "RaggedTensor":
            return _of_sparse(sparse)
        raise ValueError(_KINDS)


@export("strings.split")
def strings_split(
    input: Any = None,
    sep: Any = None,
    maxsplit: int = -1,
    result_type: str = "SparseTensor",
    source: Any = None,
    name: str | None = None,
) -> Any:
    """Strings split at a separator; at runs of white space when it is None.

    Raises:
      ValueError: `result_type` is neither "SparseTensor" nor "RaggedTensor".
    """
    input = either("input", input, "source", source)
    with name_scope(name, "StringSplit", [input]):
        input = convert_to_tensor_or_ragged_tensor(input, dtypes.string, name="input")
        if result_type == "SparseTensor" and input.shape.rank == 1:
            return string_split_ops.string_split_v2(input, sep=sep, maxsplit=maxsplit)
        ragged = split_to_rows(input, sep, maxsplit)
        if result_type == "SparseTensor":
            return ragged.to_sparse()
        if result_type == "RaggedTensor":
            return ragged
        raise ValueError(_KINDS)


# --- characters --------------------------------------------------------------


@export("strings.unicode_encode")
def unicode_encode(
    input: Any,
    output_encoding: str,
    errors: str = "replace",
    replacement_char: int = 65533,
    name: str | None = None,
) -> Any:
    """Strings of code points, the innermost dimension.

    Args:
      errors: what becomes of numbers that are no character: "replace", "ignore",
        "strict".

    Raises:
      ValueError: a scalar, or an unknown rank.
    """
    options = (output_encoding, errors, replacement_char)
    with name_scope(name, "UnicodeEncode", [input]):
        codes = convert_to_tensor_or_ragged_tensor(input)
        rank = codes.shape.rank
        if rank is None:
            raise ValueError("Rank of input_tensor must be statically known.")
        if is_ragged(codes):
            if codes.flat_values.shape.rank > 1:
                inner = unicode_encode(codes.flat_values, *options)
                return codes.with_flat_values(inner)
            if codes.ragged_rank > 1:
                return codes.with_values(unicode_encode(codes.values, *options))
            return apply_op(
                "UnicodeEncode",
                input_values=codes.values,
                input_splits=codes.row_splits,
                output_encoding=output_encoding,
                errors=errors,
                replacement_char=replacement_char,
            )
        if rank == 0:
            raise ValueError("input_tensor's rank must be at least 1.")
        if rank == 1:
            size = array_ops.shape(codes, out_type=dtypes.int32)[0]
            row = RaggedTensor.from_row_splits(
                codes, array_ops.stack([0, size]), validate=False
            )
            return array_ops.reshape(unicode_encode(row, *options), [])
        if rank == 2:
            return unicode_encode(RaggedTensor.from_tensor(codes), *options)
        last = array_ops.shape(codes)[-1]
        flat = array_ops.reshape(codes, array_ops.stack([-1, last]))
        texts = unicode_encode(flat, *options)
        return array_ops.reshape(texts, codes.shape[:-1])


@export("strings.unicode_decode")
def unicode_decode(
    input: Any,
    input_encoding: str,
    errors: str = "replace",
    replacement_char: int = 65533,
    replace_control_characters: bool = False,
    name: str | None = None,
) -> Any:
    """The code points of each string, in a new ragged dimension."""
    options = (input_encoding, errors, replacement_char, replace_control_characters)
    with name_scope(name, "UnicodeDecode", [input]):
        return _decode(input, options, "UnicodeDecode")[0]


@export("strings.unicode_decode_with_offsets")
def unicode_decode_with_offsets(
    input: Any,
    input_encoding: str,
    errors: str = "replace",
    replacement_char: int = 65533,
    replace_control_characters: bool = False,
    name: str | None = None,
) -> Any:
    """(the code points of each string, the byte at which each starts)."""
    options = (input_encoding, errors, replacement_char, replace_control_characters)
    with name_scope(name, "UnicodeDecodeWithOffsets", [input]):
        return _decode(input, options, "UnicodeDecodeWithOffsets")


@export("strings.unicode_split")
def unicode_split(
    input: Any,
    input_encoding: str,
    errors: str = "replace",
    replacement_char: int = 65533,
    name: str | None = None,
) -> Any:
    """The characters of each string as strings, in a new ragged dimension."""
    options = (input_encoding, errors, replacement_char)
    with name_scope(name, "UnicodeSplit", [input]):
        codes = _decode(input, (*options, False), "UnicodeDecode")[0]
        return unicode_encode(expand_dims(codes, -1), *options)


@export("strings.unicode_split_with_offsets")
def unicode_split_with_offsets(
    input: Any,
    input_encoding: str,
    errors: str = "replace",
    replacement_char: int = 65533,
    name: str | None = None,
) -> Any:
    """(the characters of each string, the byte at which each starts)."""
    options = (input_encoding, errors, replacement_char)
    with name_scope(name, "UnicodeSplitWithOffsets", [input]):
        decoded = _decode(input, (*options, False), "UnicodeDecodeWithOffsets")
        codes = expand_dims(decoded[0], -1)
        return unicode_encode(codes, *options), decoded[1]


def _decode(input: Any, options: tuple[Any, ...], op: str) -> tuple[Any, ...]:
    """The outputs of a decoding op but the splits, in the shape of the strings."""
    input = convert_to_tensor_or_ragged_tensor(input, name="input")
    rank = input.shape.rank
    if rank is None:
        raise ValueError("Rank of `input` must be statically known.")
    if rank > 1:
        input = _all_ragged(input, rank)
    flat = array_ops.reshape(input.flat_values if is_ragged(input) else input, [-1])
    encoding, errors, replacement, controls = options
    splits, *found = apply_op(
        op,
        input=flat,
        input_encoding=encoding,
        errors=errors,
        replacement_char=replacement,
        replace_control_characters=controls,
    )
    if rank == 0:
        return tuple(found)
    rows = [RaggedTensor.from_row_splits(x, splits, validate=False) for x in found]
    return tuple(input.with_flat_values(x) if rank > 1 else x for x in rows)


def _all_ragged(input: Any, rank: int) -> RaggedTensor:
    """The tensor with all dimensions but the first ragged."""
    if not is_ragged(input):
        return RaggedTensor.from_tensor(input, ragged_rank=rank - 1)
    missing = rank - 1 - input.ragged_rank
    if not missing:
        return input  # type: ignore[no-any-return]
    inner = RaggedTensor.from_tensor(input.flat_values, ragged_rank=missing)
    return input.with_flat_values(inner)  # type: ignore[no-any-return]


# --- words -------------------------------------------------------------------


def reduce_join(
    inputs: Any,
    axis: Any = None,
    keep_dims: Any = None,
    separator: str = "",
    name: str | None = None,
    reduction_indices: Any = None,
    keepdims: Any = None,
) -> Any:
    """Strings joined along axes, all by default."""
    axis = reduction_indices if axis is None else axis

    def join(values: Any, axis: Any, name: Any = None) -> Any:
        return string_transform_ops.reduce_join(
            values, axis, name=name, separator=separator
        )

    def join_segments(data: Any, ids: Any, count: Any, name: Any = None) -> Any:
        return string_transform_ops.unsorted_segment_join(
            data, ids, count, separator, name
        )

    scope = name or "RaggedSegmentJoin"
    return reduce_aggregate(
        join, join_segments, inputs, axis, keepdims or keep_dims, scope
    )


@export("strings.ngrams")
def ngrams(
    data: Any,
    ngram_width: Any,
    separator: str = " ",
    pad_values: Any = None,
    padding_width: int | None = None,
    preserve_short_sequences: bool = False,
    name: str | None = None,
) -> Any:
    """Neighbouring strings joined, in the innermost dimension.

    Args:
      ngram_width: how many strings make one, or several such numbers.
      pad_values: what stands before the first and after the last, a string or a pair.
      padding_width: how often it stands there at most; one less than the width by
        default.

    Raises:
      TypeError: pad values that are no strings.
      ValueError: widths that are not positive, or a padding without values.
    """
    rest = (
        *(separator, pad_values, padding_width, preserve_short_sequences),
        name,
    )
    with name_scope(name, "StringNGrams", [data]):
        left, right = _pads(pad_values)
        if padding_width is not None and padding_width < 1:
            raise ValueError("padding_width must be greater than 0.")
        if padding_width is not None and pad_values is None:
            raise ValueError("pad_values must be provided if padding_width is set.")
        data = convert_to_tensor_or_ragged_tensor(data, dtypes.string, name="data")
        dense_shape = None
        if not is_ragged(data):
            rank = data.shape.rank
            shape = array_ops.shape(data)
            dense_shape = array_ops.concat([shape[:-1], [-1]], axis=0)
            if rank is None:
                raise ValueError("Rank of data must be known.")
            if rank == 0:
                raise ValueError("Data must have rank>0")
            if rank == 1:
                row = RaggedTensor.from_row_starts(data, [0], validate=False)
                return ngrams(row, ngram_width, *rest)[0]
            data = RaggedTensor.from_tensor(data, ragged_rank=rank - 1)
        if data.ragged_rank > 1:
            found = data.with_values(ngrams(data.values, ngram_width, *rest))
        else:
            widths = _widths(ngram_width)
            width = -1 if padding_width is None else padding_width
            values, splits = apply_op(
                "StringNGrams",
                data=data.flat_values,
                data_splits=data.row_splits,
                separator=separator,
                ngram_widths=widths,
                left_pad=left,
                right_pad=right,
                pad_width=0 if pad_values is None else width,
                preserve_short_sequences=preserve_short_sequences,
            )
            found = RaggedTensor.from_row_splits(values, splits, validate=False)
        if dense_shape is None:
            return found
        return array_ops.reshape(found.flat_values, dense_shape)


def _pads(values: Any) -> tuple[Any, Any]:
    if values is None:
        return "", ""
    pair = tuple(values) if isinstance(values, list | tuple) else (values, values)
    if not all(isinstance(value, str | bytes) for value in pair[:2]):
        raise TypeError("pad_values must be a string, tuple of strings, or None.")
    return pair[0], pair[1]


def _widths(ngram_width: Any) -> list[int]:
    many = isinstance(ngram_width, list | tuple)
    widths = list(ngram_width) if many else [ngram_width]
    if any(width < 1 for width in widths):
        raise ValueError(f"All ngram_widths must be greater than 0. Got {ngram_width}")
    return widths
