"""Ragged, sparse and string expressions; their values in TensorFlow 1.15.0 are in
`recorded/ragged.json`.

`A`, `B`, `C` make ragged tensors: of scalars, of rows of rows, and of vectors.
"""

from __future__ import annotations

from typing import Any

import numpy as np


def names(tf: Any) -> dict[str, Any]:
    """What the expressions see."""
    row_splits = tf.RaggedTensor.from_row_splits
    return {
        "tf": tf,
        "np": np,
        "R": tf.RaggedTensor,
        "c": tf.ragged.constant,
        "parts": lambda x: list(
            tf.raw_ops.DeserializeSparse(serialized_sparse=x, dtype=tf.int32)
        ),
        "A": lambda: tf.ragged.constant([[1, 2], [], [3, 4, 5]]),
        "B": lambda: tf.ragged.constant([[[1, 2], [3]], [], [[4], [], [5, 6]]]),
        "C": lambda: row_splits([[1, 2], [3, 4], [5, 6]], [0, 1, 1, 3]),
        "F": lambda x: tf.cast(x, tf.float32),
        "S": lambda: tf.constant(["h\xe9llo w\xf6rld".encode(), b"ab"]),
        "SP": lambda: tf.SparseTensor([[0, 0], [0, 1], [2, 0]], [1, 2, 3], [3, 4]),
        "I64": lambda: tf.SparseTensor(
            [[0, 0], [0, 1], [1, 0]], np.array([1, 2, 3], np.int64), [2, 4]
        ),
        "ST": lambda: tf.SparseTensor(
            [[0, 0], [1, 0], [1, 1]], ["x", "y", "z"], [2, 2]
        ),
    }


def plain(value: Any) -> Any:
    """A fetched value as JSON has it."""
    if hasattr(value, "to_list"):
        return ["ragged", plain(value.to_list())]
    if isinstance(value, (list, tuple)):
        return [plain(x) for x in value]
    if isinstance(value, (np.ndarray, np.generic)):
        return plain(value.tolist())
    if isinstance(value, bytes):
        return value.decode("latin1")
    return value


_EACH = """
{0}.to_tensor() | {0}.to_tensor(9) | {0}.to_sparse() | {0}.value_rowids()
{0}.nrows() | {0}.row_starts() | {0}.row_limits() | {0}.row_lengths()
{0}.row_lengths(axis=2) | {0}.bounding_shape() | {0}.bounding_shape(1)
{0}.nested_row_lengths() | {0}.nested_value_rowids() | {0}[0] | {0}[-1] | {0}[1:]
{0}[:2] | {0}[::2] | {0}[::-1] | {0}[..., 1:] | {0}[None] | {0}[0, 0] | {0}[:, 1:]
{0}[:, :1] | {0}[:, -1:] | {0}[:, :-1] | {0}[:, 0:2:2] | {0}[:, 0] | {0}[:, None]
tf.reduce_sum({0}, 0) | tf.reduce_sum({0}, 1) | tf.reduce_max({0}, -1)
tf.reduce_min({0}, [0, 1]) | tf.reduce_mean(F({0}), 1) | tf.reduce_prod({0})
tf.reduce_all({0} > 0, 1) | tf.reduce_any({0} > 4, 0) | tf.abs(-{0}) | 1 - {0}
{0} * {0} | {0} / 2 | {0} // 2 | {0} % 2 | {0} ** 2 | ({0} > 1) & ({0} < 4)
tf.constant(1) + {0} | {0} + [[10]] | tf.add_n([{0}, {0}]) | tf.where({0} > 2)
tf.where({0} > 2, {0}, -{0}) | tf.concat([{0}, {0}], 0) | tf.concat([{0}, {0}], 1)
tf.stack([{0}, {0}]) | tf.ragged.stack([{0}, {0}], axis=1) | tf.size({0})
tf.gather({0}, [2, 0, 0]) | tf.gather({0}, [[2, 0], [1, 1]]) | tf.rank({0})
tf.gather({0}, c([[2], [0, 1]])) | tf.gather_nd({0}, [[0, 0], [2, 1]])
tf.gather({0}, [3]) | tf.expand_dims({0}, 0) | tf.expand_dims({0}, 1)
tf.expand_dims({0}, -1) | tf.one_hot({0}, 3) | tf.ragged.boolean_mask({0}, {0} > 2)
tf.ragged.boolean_mask({0}, [True, False, True])
tf.dynamic_partition({0}, [1, 0, 1], 2)
tf.unsorted_segment_sum({0}, [0, 0, 1], 2) | tf.clip_by_value({0}, 2, 3) | bool({0})
tf.unsorted_segment_mean(F({0}), [1, 0, 1], 2) | tf.as_string({0})
tf.ragged.stack_dynamic_partitions({0}, [1, 0, 1], 3)
tf.ragged.map_flat_values(tf.square, {0}) | tf.batch_gather({0}, c([[0], [], [1, 0]]))
tf.tile({0}, [2, 1, 1][: {0}.shape.ndims]) | tf.tile({0}, [1, 2, 1][: {0}.shape.ndims])
"""

_MORE = """
R.from_row_lengths([1, 2, 3], [2, 0, 1]) | R.from_row_starts([1, 2, 3], [0, 2, 2])
R.from_row_limits([1, 2, 3], [2, 2, 3]) | R.from_value_rowids([1, 2, 3], [0, 0, 2])
R.from_value_rowids([1, 2, 3], [0, 0, 2], nrows=5) | R.from_row_splits([1, 2], [0, 1])
R.from_row_splits(tf.placeholder_with_default([1, 2, 3], [None]), [0, 1, 2])
R.from_nested_row_splits([1, 2, 3, 4], [[0, 1, 3], [0, 2, 2, 4]])
R.from_nested_row_lengths([1, 2, 3, 4], [[1, 2], [2, 0, 2]])
R.from_nested_value_rowids([1, 2, 3, 4], [[0, 1, 1], [0, 0, 2, 2]])
R.from_tensor([[1, 2, 0], [3, 0, 0], [0, 0, 0]])
R.from_tensor([[1, 2, 0], [3, 0, 0], [0, 0, 0]], padding=0)
R.from_tensor([[1, 2, 0], [3, 0, 0], [0, 0, 0]], lengths=[2, 1, 5])
R.from_tensor(np.arange(12).reshape(2, 3, 2), ragged_rank=2)
R.from_sparse(tf.SparseTensor([[0, 0], [0, 1], [2, 0]], [1, 2, 3], [4, 3]))
R.from_sparse(tf.SparseTensor([[0, 0], [0, 2], [2, 0]], [1, 2, 3], [4, 3]))
tf.ragged.boolean_mask([[1, 2], [3, 4]], [[True, False], [True, True]])
tf.ragged.range([3, 5, 2]) | tf.ragged.range([0, 5], [3, 1], [1, -2])
tf.ragged.range([0.0, 5], [1.0, 6], 0.5) | tf.ragged.range([0], [1], [0])
tf.ragged.row_splits_to_segment_ids([0, 2, 2, 5])
tf.ragged.segment_ids_to_row_splits([0, 0, 2])
tf.ragged.segment_ids_to_row_splits([0, 0, 2], num_segments=5)
c([[1], [2, 3]]) | c([]) | c([[], []]) | c(3) | c([1, 2]) | c([[1], 2])
c([[1], [[2]]])
c([[[1, 2]], [[3, 4], [5, 6]]], ragged_rank=1) | c([[1], [2]], ragged_rank=0)
c([[[1, 2]], [[3, 4], [5, 6]]], inner_shape=(2,)) | c([[1], [2, 3]], ragged_rank=3)
tf.strings.unicode_decode(S(), "UTF-8") | tf.strings.unicode_decode(S()[0], "UTF-8")
tf.strings.unicode_decode_with_offsets(S(), "UTF-8")
tf.strings.unicode_split(S(), "UTF-8")
tf.strings.unicode_split_with_offsets(S(), "UTF-8")
tf.strings.unicode_decode([[b"a", b"bc"], [b"d", b""]], "UTF-8")
tf.strings.unicode_encode(c([[104, 233], [97]]), "UTF-8")
tf.strings.unicode_encode([104, 233], "UTF-16-BE")
tf.strings.unicode_encode(c([[[104], [233]], [[97, 98]]]), "UTF-8")
tf.strings.unicode_script([97, 1488, 0x4E00, 0x3042, 0x416, 0x1F600, -1, 0x110000, 48])
tf.strings.bytes_split(S()) | tf.strings.bytes_split("abc")
tf.strings.split(["a b", "c  d"], result_type="RaggedTensor") | tf.strings.split("a b")
tf.strings.split([["a b", "c"], ["d e", ""]], result_type="RaggedTensor")
tf.string_split(["a b", "c  d"], result_type="RaggedTensor")
tf.strings.split(["a"], result_type="x") | tf.strings.length(c([["ab", "b"], ["c"]]))
tf.strings.ngrams(c([["a", "b", "c"], ["d"], []]), 2)
tf.strings.ngrams(c([["a", "b", "c"], ["d"], []]), [1, 2])
tf.strings.ngrams(c([["a", "b", "c"], ["d"]]), 3, pad_values=("<", ">"))
tf.strings.ngrams(c([["a", "b", "c"], ["d"]]), 3, pad_values="#", padding_width=1)
tf.strings.ngrams(c([["a", "b"], ["d"]]), 5, preserve_short_sequences=True)
tf.strings.ngrams([["a", "b", "c"], ["d", "e", "f"]], 2)
tf.strings.ngrams(["a", "b"], 0)
tf.strings.reduce_join(c([["a", "b"], ["c"]]), axis=1)
tf.strings.join([c([["a"], ["b", "c"]]), c([["x"], ["y", "z"]])], separator="-")
c([[1, 2], [3]]) + c([[1], [2]]) | c([[1, 2], [3]]) * tf.constant([[10], [20]])
c([[1, 2], [3, 4]]) + [[1, 2], [3, 4]] | tf.constant([[[1]], [[2]]]) + c([[1, 2], [3]])
tf.squeeze(c([[[1]], [[2]]]), axis=1) | tf.squeeze(c([[1, 2], [3]]), axis=1)
R._from_variant(c([[1, 2], [3]])._to_variant(batched_input=True), tf.int32, 1)
R._from_variant(c([[1, 2], [3]])._to_variant(), tf.int32, 1, 1)
tf.serialize_sparse(SP()) | tf.serialize_many_sparse(SP()) | tf.serialize_sparse(ST())
tf.deserialize_many_sparse(tf.serialize_many_sparse(SP()), tf.int32)
tf.deserialize_many_sparse([["a", "b", "c"]], tf.int32)
tf.deserialize_many_sparse(tf.serialize_many_sparse(SP()), tf.float32)
parts(tf.stack([tf.serialize_sparse(SP())] * 2))
parts(tf.serialize_many_sparse(SP(), out_type=tf.variant))
tf.sparse.cross_hashed([I64(), ST()], num_buckets=1000, hash_key=123)
tf.sparse.cross_hashed([I64(), ST()]) | tf.sparse.cross([I64(), ST()])
tf.sparse.cross([I64(), I64()]) | tf.sparse.cross([SP(), ST()])
"""


def expressions() -> list[str]:
    """All of them."""
    texts = [_EACH.format(f"{name}()") for name in "ABC"]
    parts = [
        p
        for text in [*texts, _MORE]
        for line in text.split("\n")
        for p in line.split(" | ")
    ]
    return [part.strip() for part in parts if part.strip()]


def outcome(tf: Any, expression: str) -> Any:
    """The value of an expression, or the class of its error."""
    with tf.Graph().as_default(), tf.Session() as session:
        try:
            return plain(session.run(eval(expression, names(tf))))
        except Exception as error:
            return f"error: {type(error).__name__}"
