"""Ops that split strings: at separators, into bytes, into characters; UTF-8 codes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tensorloom.framework.export import export
from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.framework.registry.op_registry import NOT_DIFFERENTIABLE, register_op
from tensorloom.framework.registry.shape_inference import unchanged_shape
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.sparse_tensor import SparseTensor
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.framework.types.tensor_shape import TensorShape
from tensorloom.ops.array.argument_aliases import either

if TYPE_CHECKING:
    from tensorloom.framework.graph.tensor import Tensor
    from tensorloom.framework.registry.shape_inference import InferenceContext

_VECTOR = TensorShape.of((None,))


def _split_shape(c: InferenceContext) -> list[TensorShape]:
    c.with_rank(0, 1)
    c.with_rank(1, 0)
    return [TensorShape.of((None, 2)), _VECTOR, TensorShape.of((2,))]


def _decode_shape(c: InferenceContext) -> list[TensorShape]:
    count = c.input_shape(0).num_elements()
    splits = TensorShape.of((None if count is None else count + 1,))
    return [splits, *[_VECTOR] * (c.num_outputs - 1)]


def _encode_shape(c: InferenceContext) -> TensorShape:
    c.with_rank(0, 1)
    dims = c.with_rank(1, 1).dims_tuple
    assert dims is not None
    return TensorShape.of((None if dims[0] is None else dims[0] - 1,))


def _ngrams_shape(c: InferenceContext) -> list[TensorShape]:
    c.with_rank(0, 1)
    return [_VECTOR, c.with_rank(1, 1)]


register_op(
    "StringSplit",
    inputs=["input: string", "delimiter: string"],
    outputs=["indices: int64", "values: string", "shape: int64"],
    attrs=["skip_empty: bool = true"],
    shape_fn=_split_shape,
    gradient=NOT_DIFFERENTIABLE,
    doc="Strings split at any of the delimiter's bytes, as a sparse matrix.",
)
register_op(
    "StringSplitV2",
    inputs=["input: string", "sep: string"],
    outputs=["indices: int64", "values: string", "shape: int64"],
    attrs=["maxsplit: int = -1"],
    shape_fn=_split_shape,
    doc="Strings split at a separator as Python's str.split does, sparse.",
)

_DECODING = [
    "input_encoding: string",
    "errors: {'strict', 'replace', 'ignore'} = 'replace'",
    "replacement_char: int = 65533",
    "replace_control_characters: bool = false",
]
_SPLITS = "Tsplits: {int32, int64} = DT_INT64"
_ENCODINGS = "output_encoding: {'UTF-8', 'UTF-16-BE', 'UTF-32-BE'}"

register_op(
    "UnicodeDecode",
    inputs=["input: string"],
    outputs=["row_splits: Tsplits", "char_values: int32"],
    attrs=[*_DECODING, _SPLITS],
    shape_fn=_decode_shape,
    doc="The code points of each string, as a ragged matrix.",
)
register_op(
    "UnicodeDecodeWithOffsets",
    inputs=["input: string"],
    outputs=[
        "row_splits: Tsplits",
        "char_values: int32",
        "char_to_byte_starts: int64",
    ],
    attrs=[*_DECODING, _SPLITS],
    shape_fn=_decode_shape,
    doc="UnicodeDecode, with the byte at which each character starts.",
)
register_op(
    "UnicodeEncode",
    inputs=["input_values: int32", "input_splits: Tsplits"],
    outputs=["output: string"],
    attrs=[
        "errors: {'ignore', 'replace', 'strict'} = 'replace'",
        _ENCODINGS,
        "replacement_char: int = 65533",
        _SPLITS,
    ],
    shape_fn=_encode_shape,
    doc="Strings from a ragged matrix of code points.",
)
register_op(
    "UnicodeTranscode",
    inputs=["input: string"],
    outputs=["output: string"],
    attrs=[_DECODING[0], _ENCODINGS, *_DECODING[1:]],
    shape_fn=unchanged_shape,
    doc="Strings in another encoding.",
)
register_op(
    "StringNGrams",
    inputs=["data: string", "data_splits: Tsplits"],
    outputs=["ngrams: string", "ngrams_splits: Tsplits"],
    attrs=[
        "separator: string",
        "ngram_widths: list(int) >= 0",
        "left_pad: string",
        "right_pad: string",
        "pad_width: int",
        "preserve_short_sequences: bool",
        _SPLITS,
    ],
    shape_fn=_ngrams_shape,
    doc="Neighbouring strings of each row joined, as a ragged matrix.",
)


def _sparse(parts: Any) -> SparseTensor:
    """A sparse matrix [strings, most parts of one] of what a split gives."""
    indices, values, shape = parts
    indices.set_shape([None, 2])
    values.set_shape([None])
    shape.set_shape([2])
    return SparseTensor(indices, values, shape)


def string_split(
    source: Any,
    sep: Any = None,
    skip_empty: bool = True,
    delimiter: Any = None,
    name: str | None = None,
) -> SparseTensor:
    """Strings [n] split at any byte of a delimiter, " " by default."""
    delimiter = either("sep", sep, "delimiter", delimiter)
    delimiter = " " if delimiter is None else delimiter
    delimiter = convert_to_tensor(delimiter, dtype=dtypes.string)
    source = convert_to_tensor(source, dtype=dtypes.string)
    return _sparse(
        apply_op(
            "StringSplit",
            name,
            input=source,
            delimiter=delimiter,
            skip_empty=skip_empty,
        )
    )


def string_split_v2(
    source: Any,
    sep: Any = None,
    maxsplit: int = -1,
    name: str | None = None,
) -> SparseTensor:
    """Strings [n] split at a separator; at runs of white space when it is None."""
    sep = convert_to_tensor("" if sep is None else sep, dtype=dtypes.string)
    source = convert_to_tensor(source, dtype=dtypes.string)
    return _sparse(
        apply_op("StringSplitV2", name, input=source, sep=sep, maxsplit=maxsplit)
    )


@export("strings.unicode_transcode")
def unicode_transcode(
    input: Any,
    input_encoding: str,
    output_encoding: str,
    errors: str = "replace",
    replacement_char: int = 65533,
    replace_control_characters: bool = False,
    name: str | None = None,
) -> Tensor:
    """Strings in another encoding.

    Args:
      errors: what becomes of bytes that are no text: "replace", "ignore" or "strict".
    """
    return apply_op(  # type: ignore[no-any-return]
        "UnicodeTranscode",
        input=input,
        input_encoding=input_encoding,
        output_encoding=output_encoding,
        errors=errors,
        replacement_char=replacement_char,
        replace_control_characters=replace_control_characters,
        name=name,
    )
