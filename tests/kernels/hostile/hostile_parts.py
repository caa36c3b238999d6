"""Parts of sparse and ragged tensors, lists and tables that do not fit together.

What TensorFlow 1.15 says of each, or 2.21 where 1.15 reads what is not there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

import tensorloom as tf
from tests.kernels.hostile.hostile_value import Row, i32, i64

if TYPE_CHECKING:
    from tests.kernels.hostile.hostile_shapes import Given

op = tf.raw_ops
f = np.float32
PLACES = i64(0, 0, 0, 1).reshape(2, 2)
UNORDERED = PLACES[::-1].copy()
NO_PLACES = np.zeros((0, 2), np.int64)
VALUES, SHAPE = f([1, 2]), i64(2, 3)
ROWS = np.array([b"a", b"b"], object)

REFUSED = ("run InvalidArgumentError", "run InvalidArgumentError")
REFUSED_WHEN_BUILT = ("build ValueError", "run InvalidArgumentError")
NEVER_BUILT = ("build ValueError", "build ValueError")
INTERNAL = ("run InternalError", "run InternalError")
TOO_LARGE = ("run ResourceExhaustedError", "run ResourceExhaustedError")
FINE = ("fine", "fine")


# --- sparse ------------------------------------------------------------------


def _serialized(given: Given, indices: Any, kind: Any = tf.string) -> Any:
    parts = {"sparse_values": VALUES, "sparse_shape": SHAPE, "out_type": kind}
    rows = op.SerializeManySparse(sparse_indices=given(indices), **parts)
    return tf.shape(rows)


def _sum(given: Given, thresh: Any) -> Any:
    a = {"a_indices": PLACES, "a_values": VALUES, "a_shape": SHAPE}
    b = {"b_indices": PLACES, "b_values": VALUES, "b_shape": SHAPE}
    return op.SparseAdd(**a, **b, thresh=given(thresh)).sum_values


def _sum_grad(given: Given, total: Any) -> Any:
    return op.SparseAddGrad(
        backprop_val_grad=VALUES,
        a_indices=PLACES,
        b_indices=PLACES[:1],
        sum_indices=given(total),
    ).a_val_grad


def _joined(given: Given, **changed: Any) -> Any:
    parts = {"indices": PLACES, "values": VALUES, "shape": SHAPE}
    parts = {name: given(changed.get(name, part)) for name, part in parts.items()}
    return op.SparseConcat(
        indices=[parts["indices"], PLACES],
        values=[parts["values"], VALUES],
        shapes=[parts["shape"], SHAPE],
        concat_dim=1,
    ).output_values


def _split(given: Given, split_dim: Any, indices: Any = PLACES) -> Any:
    return op.SparseSplit(
        split_dim=given(split_dim),
        indices=indices,
        values=VALUES,
        shape=SHAPE,
        num_split=2,
    ).output_values


def _slice_grad(given: Given, **changed: Any) -> Any:
    return op.SparseSliceGrad(
        backprop_val_grad=given(changed.get("grad", VALUES)),
        input_indices=i64(0, 1, 1, 0, 1, 2).reshape(3, 2),
        input_start=given(changed.get("start", i64(1, 0))),
        output_indices=given(changed.get("output", i64(0, 0, 0, 2).reshape(2, 2))),
    )


def _reduced(given: Given, indices: Any) -> Any:
    return op.SparseReduceSum(
        input_indices=given(indices),
        input_values=VALUES,
        input_shape=SHAPE,
        reduction_axes=i32(1),
    )


SPARSE: dict[str, Row] = {
    "rows out of order to serialize": (
        *REFUSED,
        lambda given: _serialized(given, UNORDERED),
    ),
    "repeated rows to serialize as variants": (
        *REFUSED,
        lambda given: _serialized(given, PLACES * 0, tf.variant),
    ),
    "places outside to serialize": (
        *REFUSED,
        lambda given: _serialized(given, PLACES + 5),
    ),
    "threshold that is a vector": (
        *REFUSED,
        lambda given: _sum(given, f([0])),
    ),
    "places of a sum, of another rank": (
        *REFUSED,
        lambda given: _sum_grad(given, i64(0, 0, 0, 0, 0, 1).reshape(2, 3)),
    ),
    "more values than places to join": (
        *REFUSED_WHEN_BUILT,
        lambda given: _joined(given, values=f([1, 2, 3])),
    ),
    "places of fewer axes to join": (
        *REFUSED_WHEN_BUILT,
        lambda given: _joined(given, indices=PLACES[:, :1]),
    ),
    "negative size to join": (
        *REFUSED,
        lambda given: _joined(given, shape=i64(2, -3)),
    ),
    "sizes whose sum overflows": (
        *REFUSED,
        lambda given: _joined(given, shape=i64(2, 2**63 - 1)),
    ),
    "axes to split by": (
        *REFUSED,
        lambda given: _split(given, i64(0, 1)),
    ),
    "axis outside to split by": (*REFUSED, lambda given: _split(given, np.int64(-3))),
    "places outside to split": (
        *REFUSED,
        lambda given: _split(given, np.int64(1), PLACES + 5),
    ),
    "places to reshape, of another rank": (
        *REFUSED,
        lambda given: (
            op.SparseReshape(
                input_indices=given(PLACES[:, :1]),
                input_shape=SHAPE,
                new_shape=i64(3, 2),
            ).output_indices
        ),
    ),
    "slice's gradient out of order": (
        *INTERNAL,
        lambda given: _slice_grad(given, output=i64(0, 2, 0, 0).reshape(2, 2)),
    ),
    "slice's gradient of another place": (
        *INTERNAL,
        lambda given: _slice_grad(given, start=i64(2**63 - 1, 0)),
    ),
    "slice's gradient without places": (
        *REFUSED,
        lambda given: _slice_grad(given, output=NO_PLACES),
    ),
    "matrix as a slice's start": (
        *REFUSED,
        lambda given: _slice_grad(given, start=i64(1, 0).reshape(1, 2)),
    ),
    "place outside along a reduced axis": (
        *FINE,
        lambda given: _reduced(given, i64(0, 0, 0, -1).reshape(2, 2)),
    ),
    "place outside along an axis that stays": (
        *REFUSED,
        lambda given: _reduced(given, i64(0, 0, 9, 0).reshape(2, 2)),
    ),
}

# --- ragged ------------------------------------------------------------------


def _to_variant(given: Given, splits: Any, values: Any = VALUES) -> Any:
    return op.RaggedTensorToVariant(
        rt_nested_splits=[given(splits)],
        rt_dense_values=given(values),
        batched_input=False,
    )


def _from_variant(given: Given, splits: Any, values: Any = VALUES) -> Any:
    return op.RaggedTensorFromVariant(
        encoded_ragged=_to_variant(given, splits, values),
        input_ragged_rank=1,
        output_ragged_rank=1,
        Tvalues=tf.float32,
        Tsplits=tf.int64,
    ).output_dense_values


def _dense(given: Given, **changed: Any) -> Any:
    partitions = changed.get("partitions", [i64(0, 1, 2)])
    return op.RaggedTensorToTensor(
        shape=i64(-1, -1),
        values=given(changed.get("values", VALUES)),
        default_value=given(changed.get("default", f(0))),
        row_partition_tensors=[given(p) for p in partitions],
        row_partition_types=changed.get("types", ["ROW_SPLITS"]),
    )


def _filled(given: Given, **changed: Any) -> Any:
    return op.RaggedFillEmptyRows(
        value_rowids=given(changed.get("rowids", i64(0, 2))),
        values=given(changed.get("values", VALUES)),
        nrows=given(changed.get("rows", np.int64(3))),
        default_value=given(changed.get("default", f(0))),
    ).output_values


RAGGED: dict[str, Row] = {
    "splits of a variant that are a matrix": (
        *REFUSED_WHEN_BUILT,
        lambda given: _from_variant(given, i64(0, 1, 2).reshape(1, 3)),
    ),
    "scalar as a variant's values": (
        *REFUSED_WHEN_BUILT,
        lambda given: _from_variant(given, i64(0, 1), f(1)),
    ),
    "variant of another rank": (
        *NEVER_BUILT,
        lambda given: (
            op.RaggedTensorFromVariant(
                encoded_ragged=_to_variant(given, i64(0, 2)),
                input_ragged_rank=0,
                output_ragged_rank=1,
                Tvalues=tf.float32,
                Tsplits=tf.int64,
            ).output_dense_values
        ),
    ),
    "gradient of variants, of another size": (
        *REFUSED,
        lambda given: op.RaggedTensorToVariantGradient(
            encoded_ragged_grad=_to_variant(given, i64(0, 2)),
            row_splits=i64(0, 2),
            dense_values_shape=given(i32(100)),
            Tvalues=tf.float32,
        ),
    ),
    "partition of more values": (
        *INTERNAL,
        lambda given: _dense(given, partitions=[i64(0, 1, 9)]),
    ),
    "partition that is a matrix": (
        *REFUSED_WHEN_BUILT,
        lambda given: _dense(given, partitions=[i64(0, 2).reshape(1, 2)]),
    ),
    "rows of values without a number of rows": (
        *NEVER_BUILT,
        lambda given: _dense(given, partitions=[i64(0, 1)], types=["VALUE_ROWIDS"]),
    ),
    "rows that no memory holds": (
        *TOO_LARGE,
        lambda given: _dense(
            given,
            partitions=[np.int64(2**50), i64(0, 1)],
            types=["FIRST_DIM_SIZE", "VALUE_ROWIDS"],
        ),
    ),
    "vector as the default of scalars": (
        *REFUSED,
        lambda given: _dense(given, default=f([0, 1])),
    ),
    "partition of no kind": (
        *NEVER_BUILT,
        lambda given: _dense(given, types=["NOTHING"]),
    ),
    "partitions of a kind without kernel": (
        *NEVER_BUILT,
        lambda given: _dense(given, types=["ROW_LENGTHS"]),
    ),
    "more kinds than partitions": (
        *NEVER_BUILT,
        lambda given: _dense(given, types=["ROW_SPLITS", "ROW_SPLITS"]),
    ),
    "vector to fill rows with": (
        *REFUSED_WHEN_BUILT,
        lambda given: _filled(given, default=f([0])),
    ),
    "scalar as the rows to fill": (
        *REFUSED_WHEN_BUILT,
        lambda given: _filled(given, rowids=np.int64(0)),
    ),
    "too many rows to fill": (
        *TOO_LARGE,
        lambda given: _filled(given, rows=np.int64(2**50)),
    ),
}

# --- lists and tables --------------------------------------------------------


def _list() -> Any:
    return op.TensorListFromTensor(tensor=np.ones((2, 2), f), element_shape=i32(2))


def _item(given: Given, index: Any) -> Any:
    return op.TensorListGetItem(
        input_handle=_list(),
        index=given(index),
        element_shape=i32(2),
        element_dtype=tf.float32,
    )


def _reserved(given: Given, shape: Any, count: Any) -> Any:
    made = op.TensorListReserve(
        element_shape=given(shape), num_elements=given(count), element_dtype=tf.float32
    )
    return op.TensorListLength(input_handle=made)


LISTS: dict[str, Row] = {
    # Kernels take a tensor of one element, as 1.15's do.
    "vector as a list's index": (
        *FINE,
        lambda given: _item(given, i32(1)),
    ),
    "vector as a list's length": (
        *FINE,
        lambda given: _reserved(given, i32(2), i32(3)),
    ),
    "indices of a list": (
        *REFUSED,
        lambda given: _item(given, i32(0, 1)),
    ),
    "no length of a list": (
        *REFUSED,
        lambda given: _reserved(given, i32(2), i32()),
    ),
    "matrix as the shape of a list": (
        *REFUSED_WHEN_BUILT,
        lambda given: _reserved(given, i32(2).reshape(1, 1), np.int32(3)),
    ),
    "default of another shape for an empty table": (
        *REFUSED,
        lambda given: op.LookupTableFindV2(
            table_handle=op.HashTableV2(key_dtype=tf.string, value_dtype=tf.int64),
            keys=ROWS,
            default_value=given(i64(1)),
        ),
    ),
}

# --- images and convolutions -------------------------------------------------

IMAGE = np.ones((1, 5, 5, 2), f)


def _filter_grad(given: Given, *sizes: int, strides: Any = (1, 1, 1, 1)) -> Any:
    return op.DepthwiseConv2dNativeBackpropFilter(
        input=IMAGE,
        filter_sizes=given(i32(*sizes)),
        out_backprop=np.ones((1, 4, 4, 2), f),
        strides=list(strides),
        padding="VALID",
    )


def _drawn(given: Given, colors: Any) -> Any:
    return op.DrawBoundingBoxesV2(
        images=np.zeros((1, 2, 2, 3), f),
        boxes=f([[[0, 0, 1, 1]]]),
        colors=given(colors),
    )


IMAGES: dict[str, Row] = {
    "gradient of filters without outputs": (
        *REFUSED,
        lambda given: _filter_grad(given, 2, 2, 2, 0),
    ),
    "gradient of filters without rows": (
        *REFUSED,
        lambda given: _filter_grad(given, 0, 2, 2, 1),
    ),
    "gradient of filters that do not move": (
        *REFUSED,
        lambda given: _filter_grad(given, 2, 2, 2, 1, strides=(1, 0, 0, 1)),
    ),
    "depthwise filters that move unevenly": (
        *REFUSED,
        lambda given: op.DepthwiseConv2dNative(
            input=given(IMAGE),
            filter=np.ones((2, 2, 2, 1), f),
            strides=[1, 1, 2, 1],
            padding="VALID",
        ),
    ),
    "colors without channels": (
        *REFUSED,
        lambda given: _drawn(given, np.ones((2, 0), f)),
    ),
    "no colors of too few channels": (
        *REFUSED,
        lambda given: _drawn(given, np.ones((0, 2), f)),
    ),
    "no colors": ("fine", "fine", lambda given: _drawn(given, np.ones((0, 3), f))),
    "PNG of an empty image": (
        *INTERNAL,
        lambda given: op.EncodePng(image=given(np.zeros((0, 4, 3), np.uint8))),
    ),
    "image of less than no channels": (
        *NEVER_BUILT,
        lambda given: op.DecodeImage(
            contents=given(np.array(b"GIF89a", object)), channels=-1
        ),
    ),
    "empty shape to broadcast to": (
        "build ValueError",
        "fine",
        lambda given: op.BroadcastTo(input=given(np.ones((3, 4), f)), shape=i32(2, 0)),
    ),
    "negative sizes that broadcast": (
        "fine",
        "fine",
        lambda given: op.BroadcastArgs(s0=given(i32(1, -2)), s1=i32(3, 1)),
    ),
}

# --- sets, systems of equations, sequences -----------------------------------


def _solved(given: Given, *shape: int) -> Any:
    return op.TridiagonalSolve(
        diagonals=np.ones((3, 3), f), rhs=given(np.ones(shape, f))
    )


def _united(
    given: Given, indices: Any, validates: bool = True, second: Any = PLACES
) -> Any:
    return op.SparseToSparseSetOperation(
        set1_indices=given(indices),
        set1_values=i64(1, 2),
        set1_shape=i64(2, 3),
        set2_indices=given(second),
        set2_values=i64(1, 2),
        set2_shape=i64(2, 3),
        set_operation="union",
        validate_indices=validates,
    ).result_values


def _decoded(given: Given, *lengths: int, steps: int = 4) -> Any:
    return op.CTCGreedyDecoder(
        inputs=given(np.ones((steps, 2, 3), f)), sequence_length=given(i32(*lengths))
    ).decoded_values


UNPREPARED = ("run FailedPreconditionError", "run FailedPreconditionError")
OTHERS: dict[str, Row] = {
    "number of too many digits": (
        *TOO_LARGE,
        lambda given: op.AsString(input=given(VALUES), precision=2**31 - 1),
    ),
    "set out of order": (*REFUSED, lambda given: _united(given, UNORDERED)),
    "set out of order, not to be validated": (
        *REFUSED,
        lambda given: _united(given, UNORDERED, False),
    ),
    "second set out of order": (
        *FINE,
        lambda given: _united(given, PLACES, second=UNORDERED),
    ),
    "more right-hand sides": (
        *REFUSED_WHEN_BUILT,
        lambda given: _solved(given, 4, 2),
    ),
    "right-hand sides of another rank": (
        *REFUSED_WHEN_BUILT,
        lambda given: _solved(given, 1, 3, 2),
    ),
    "lengths of other sequences": (
        "build ValueError",
        "run FailedPreconditionError",
        lambda given: _decoded(given, 4),
    ),
    "lengths beyond the steps": (*UNPREPARED, lambda given: _decoded(given, 5, 4)),
    "sequences without steps": (
        *REFUSED,
        lambda given: _decoded(given, 0, 0, steps=0),
    ),
    "rewrites that are a matrix": (
        *REFUSED,
        lambda given: (
            op.OptimizeDataset(
                input_dataset=op.RangeDataset(
                    start=np.int64(0),
                    stop=np.int64(3),
                    step=np.int64(1),
                    output_types=[tf.int64],
                    output_shapes=[[]],
                ),
                optimizations=given(np.array([[]], object)),
                output_types=[tf.int64],
                output_shapes=[[]],
            ).op
        ),
    ),
    "maxima of another rank": (
        *REFUSED_WHEN_BUILT,
        lambda given: op.MaxPoolGradGrad(
            orig_input=IMAGE,
            orig_output=given(np.ones(50, f)),
            grad=IMAGE,
            ksize=[1, 1, 1, 1],
            strides=[1, 1, 1, 1],
            padding="SAME",
        ),
    ),
}

CASES: dict[str, Row] = {**OTHERS, **SPARSE, **RAGGED, **LISTS, **IMAGES}
