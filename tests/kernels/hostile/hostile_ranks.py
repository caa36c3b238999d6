"""Ranks and sizes that shape functions look at, and the kernels for fed values.

What TensorFlow 1.15 says of each. Where its process dies, or the memory would really be
taken, the row has what is safe.
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
x = np.ones((2, 2), f)
one = np.ones(1, f)
LARGEST = np.int32(2**31 - 1)

REFUSED_WHEN_RUN = ("run InvalidArgumentError", "run InvalidArgumentError")
REFUSED_WHEN_BUILT = ("build ValueError", "run InvalidArgumentError")
ONLY_WHEN_BUILT = ("build ValueError", "fine")
NEVER_BUILT = ("build ValueError", "build ValueError")
UNIMPLEMENTED = ("run UnimplementedError", "run UnimplementedError")
TOO_LARGE = ("run ResourceExhaustedError", "run ResourceExhaustedError")


def _table() -> Any:
    return op.MutableHashTableV2(key_dtype=tf.int64, value_dtype=tf.float32)


def _array(given: Given, name: str, **inputs: Any) -> Any:
    handle, flow = op.TensorArrayV3(
        size=np.int32(2), dtype=f, element_shape=[2], dynamic_size=True
    )
    inputs = {"flow_in": flow, **inputs}
    return getattr(op, f"TensorArray{name}V3")(handle=handle, **inputs)


def _list() -> Any:
    return op.TensorListFromTensor(tensor=x, element_shape=i32(2))


def _pushed(given: Given) -> Any:
    longer = op.TensorListPushBack(input_handle=_list(), tensor=given(np.ones(3, f)))
    return op.TensorListLength(input_handle=longer)


def _resized(given: Given) -> Any:
    longer = op.TensorListResize(input_handle=_list(), size=given(LARGEST))
    return op.TensorListLength(input_handle=longer)


def _reserved(given: Given) -> Any:
    made = op.TensorListReserve(
        element_shape=i32(2), num_elements=given(LARGEST), element_dtype=f
    )
    return op.TensorListLength(input_handle=made)


def _scattered(given: Given) -> Any:
    changed = op.TensorListScatterIntoExistingList(
        input_handle=_list(), tensor=x, indices=given(i32(0, 1).reshape(1, 2))
    )
    return op.TensorListLength(input_handle=changed)


def _added(name: str, indices: Any) -> Any:
    def build(given: Given) -> Any:
        variable = tf.get_variable(
            "v",
            initializer=np.ones((3, 2), f),
            use_resource=name.startswith("Resource"),
        )
        ref = variable.handle if name.startswith("Resource") else variable._ref()
        with tf.control_dependencies([variable.initializer]):
            updates = np.ones((3, 2), f)
            return getattr(op, name)(ref=ref, indices=given(indices), updates=updates)

    return build


def _pool(strides: list[int]) -> Any:
    return lambda given: op.AvgPool3D(
        input=given(np.ones((2, 2, 2, 2, 2), f)),
        ksize=[1, 1, 1, 1, 1],
        strides=strides,
        padding="VALID",
    )


def _edit_distance(name: str, value: Any) -> Any:
    inputs = {
        "hypothesis_indices": i64(0, 0).reshape(1, 2),
        "hypothesis_values": one,
        "hypothesis_shape": i64(1, 1),
        "truth_indices": i64(0, 0).reshape(1, 2),
        "truth_values": one,
        "truth_shape": i64(1, 1),
    }
    return lambda given: op.EditDistance(**{**inputs, name: given(value)})


def _tridiagonal(name: str, value: Any) -> Any:
    inputs = dict.fromkeys(("superdiag", "maindiag", "subdiag"), np.ones((1, 3), f))
    inputs["rhs"] = np.ones((3, 1), f)
    return lambda given: op.TridiagonalMatMul(**{**inputs, name: given(value)})


def _segment_gradient(**changed: Any) -> Any:
    many = np.arange(2000, dtype=np.int32) // 40
    inputs = {"indices": many, "segment_ids": many, **changed}

    def build(given: Given) -> Any:
        return op.SparseSegmentMeanGrad(
            grad=given(np.ones((50, 4), f)),
            output_dim0=np.int32(50),
            **{name: given(value) for name, value in inputs.items()},
        )

    return build


def _quantized(value: Any) -> Any:
    return tf.cast(value, tf.quint8)


CASES: dict[str, Row] = {
    "default matrix of a table": (
        *REFUSED_WHEN_BUILT,
        lambda given: op.LookupTableFindV2(
            table_handle=_table(), keys=i64(1), default_value=given(x)
        ),
    ),
    "import of a matrix of keys": (
        *REFUSED_WHEN_BUILT,
        lambda given: op.LookupTableImportV2(
            table_handle=_table(), keys=given(i64(1).reshape(1, 1)), values=one
        ),
    ),
    "import of more values than keys": (
        *REFUSED_WHEN_BUILT,
        lambda given: op.LookupTableImportV2(
            table_handle=_table(), keys=i64(1), values=given(np.ones(2, f))
        ),
    ),
    "removal of a scalar key": (
        *ONLY_WHEN_BUILT,
        lambda given: op.LookupTableRemoveV2(
            table_handle=_table(), keys=given(np.int64(1))
        ),
    ),
    "line numbers as keys of strings": (
        *REFUSED_WHEN_RUN,
        lambda given: op.InitializeTableFromTextFileV2(
            table_handle=op.HashTableV2(key_dtype=tf.string, value_dtype=tf.int64),
            filename=given(np.array(__file__.encode(), object)),
            key_index=-1,
            value_index=-1,
        ),
    ),
    "vector of file names for a table": (
        *REFUSED_WHEN_BUILT,
        lambda given: op.InitializeTableFromTextFileV2(
            table_handle=op.HashTableV2(key_dtype=tf.string, value_dtype=tf.int64),
            filename=given(np.array([__file__.encode()], object)),
            key_index=-2,
            value_index=-1,
        ),
    ),
    "scattered elements of another shape": (
        *REFUSED_WHEN_BUILT,
        lambda given: _array(
            given, "Scatter", indices=i32(0, 1), value=given(np.ones((2, 3), f))
        ),
    ),
    "matrix of lengths to split by": (
        *REFUSED_WHEN_BUILT,
        lambda given: _array(
            given,
            "Split",
            value=np.ones((4, 2), f),
            lengths=given(i64(1, 1).reshape(1, 2)),
        ),
    ),
    "vector as the flow of an array": (
        *ONLY_WHEN_BUILT,
        lambda given: _array(
            given,
            "Write",
            index=np.int32(0),
            value=np.ones(2, f),
            flow_in=given(np.zeros(1, f)),
        ),
    ),
    "array of too many elements": (
        *TOO_LARGE,
        lambda given: op.TensorArrayV3(size=given(LARGEST), dtype=f).flow,
    ),
    "write far behind a growing array": (
        *TOO_LARGE,
        lambda given: _array(given, "Write", index=given(LARGEST), value=np.ones(2, f)),
    ),
    "list resized to too many elements": (*TOO_LARGE, _resized),
    "list of too many elements": (*TOO_LARGE, _reserved),
    "element of another shape for a list": (*REFUSED_WHEN_RUN, _pushed),
    "matrix of indices into a list": (*REFUSED_WHEN_BUILT, _scattered),
    "CSV default that is a matrix": (
        *REFUSED_WHEN_BUILT,
        lambda given: op.DecodeCSV(
            records=np.array([b"1"], object),
            record_defaults=[given(np.ones((1, 1), f))],
        ),
    ),
    "two CSV defaults for a field": (
        *REFUSED_WHEN_BUILT,
        lambda given: op.DecodeCSV(
            records=np.array([b"1"], object), record_defaults=[given(np.ones(2, f))]
        ),
    ),
    "vector to fill empty rows with": (
        *REFUSED_WHEN_BUILT,
        lambda given: (
            op.SparseFillEmptyRows(
                indices=i64(0, 0).reshape(1, 2),
                values=one,
                dense_shape=i64(2, 2),
                default_value=given(one),
            ).output_values
        ),
    ),
    "matrix of names of examples": (
        *ONLY_WHEN_BUILT,
        lambda given: (
            op.ParseExample(
                serialized=np.array([b""], object),
                names=given(np.empty((1, 0), object)),
                sparse_keys=[],
                dense_keys=[np.array(b"a", object)],
                dense_defaults=[one],
                sparse_types=[],
                dense_shapes=[[1]],
            ).dense_values
        ),
    ),
    "scalar index of slices": (
        *REFUSED_WHEN_BUILT,
        _added("ScatterNdAdd", np.int32(1)),
    ),
    "scalar index of a resource's slices": (
        *REFUSED_WHEN_BUILT,
        _added("ResourceScatterNdAdd", np.int32(1)),
    ),
    "pooling of volumes with a stride over the batch": (
        *UNIMPLEMENTED,
        _pool([-1, 1, 1, 1, 1]),
    ),
    "edit distance of more values": (
        *REFUSED_WHEN_BUILT,
        _edit_distance("hypothesis_values", np.ones(2, f)),
    ),
    "edit distance in another rank": (
        *REFUSED_WHEN_BUILT,
        _edit_distance("hypothesis_shape", i64(1, 1, 1)),
    ),
    "tridiagonal matrix with a short diagonal": (
        *REFUSED_WHEN_BUILT,
        _tridiagonal("superdiag", np.ones((1, 2), f)),
    ),
    "tridiagonal matrix with a batch in one diagonal": (
        *REFUSED_WHEN_BUILT,
        _tridiagonal("superdiag", np.ones((1, 1, 3), f)),
    ),
    "tridiagonal matrix times too many rows": (
        *REFUSED_WHEN_BUILT,
        _tridiagonal("rhs", np.ones((4, 1), f)),
    ),
    "gradient of fewer segment ids than indices": (
        *REFUSED_WHEN_BUILT,
        _segment_gradient(segment_ids=np.zeros(1999, np.int32)),
    ),
    "gradient of fewer indices than segment ids": (
        *REFUSED_WHEN_BUILT,
        _segment_gradient(indices=np.zeros(1999, np.int32)),
    ),
    "sets of different ranks": (
        *REFUSED_WHEN_BUILT,
        lambda given: (
            op.DenseToSparseSetOperation(
                set1=given(i32(1).reshape(1, 1, 1)),
                set2_indices=i64(0, 0).reshape(1, 2),
                set2_values=i32(1),
                set2_shape=i64(1, 1),
                set_operation="union",
            ).result_values
        ),
    ),
    "hue turned by a vector": (
        *REFUSED_WHEN_RUN,
        lambda given: op.AdjustHue(images=np.ones((2, 2, 3), f), delta=given(one)),
    ),
    "transform of a negative length": (
        *REFUSED_WHEN_RUN,
        lambda given: op.RFFT(input=np.ones(4, f), fft_length=given(i32(-1))),
    ),
    "resizing and padding to three sizes": (
        *REFUSED_WHEN_BUILT,
        lambda given: op.FusedResizeAndPadConv2D(
            input=np.ones((1, 3, 3, 1), f),
            size=given(i32(3, 3, 3)),
            paddings=np.zeros((4, 2), np.int32),
            filter=np.ones((1, 1, 1, 1), f),
            mode="REFLECT",
            strides=[1, 1, 1, 1],
            padding="VALID",
        ),
    ),
    "vector as a range's bound": (
        *ONLY_WHEN_BUILT,
        lambda given: op.RequantizationRange(
            input=tf.cast(one, tf.qint32), input_min=given(one), input_max=f(1)
        ),
    ),
    "vector of numbers of bits": (
        *ONLY_WHEN_BUILT,
        lambda given: op.QuantizeAndDequantizeV3(
            input=one, input_min=f(0), input_max=f(1), num_bits=given(i32(8))
        ),
    ),
    "dilations of a quantized convolution": (
        *NEVER_BUILT,
        lambda given: (
            op.QuantizedConv2D(
                input=_quantized(np.ones((1, 1, 1, 1), f)),
                filter=_quantized(np.ones((1, 1, 1, 1), f)),
                min_input=given(f(0)),
                max_input=f(1),
                min_filter=f(0),
                max_filter=f(1),
                strides=[1, 1, 1, 1],
                padding="VALID",
                dilations=[1] * 5,
            ).min_output
        ),
    ),
    "rates of patches": (
        *NEVER_BUILT,
        lambda given: op.ExtractImagePatches(
            images=given(np.ones((1, 3, 3, 1), f)),
            ksizes=[1, 1, 1, 1],
            strides=[1, 1, 1, 1],
            rates=[1] * 5,
            padding="VALID",
        ),
    ),
    "vector as a generator's algorithm": (
        *REFUSED_WHEN_BUILT,
        lambda given: op.StatefulStandardNormalV2(
            resource=tf.get_variable(
                "g", initializer=i64(1, 2, 3), use_resource=True
            ).handle,
            algorithm=given(i64(1)),
            shape=i64(2),
        ),
    ),
    "range up to NaN": (
        *REFUSED_WHEN_RUN,
        lambda given: tf.range(tf.constant(f(0)), given(f("nan")), f(1)),
    ),
    "none of all suppressed boxes": (
        *REFUSED_WHEN_BUILT,
        lambda given: (
            op.CombinedNonMaxSuppression(
                boxes=np.ones((1, 1, 1, 4), f),
                scores=np.ones((1, 1, 1), f),
                max_output_size_per_class=np.int32(1),
                max_total_size=given(np.int32(0)),
                iou_threshold=f(0.5),
                score_threshold=f(0.5),
            ).valid_detections
        ),
    ),
    "sleep for a vector of times": (
        *REFUSED_WHEN_BUILT,
        lambda given: (
            op.ExperimentalSleepDataset(
                input_dataset=op.TensorSliceDataset(
                    components=[x], output_shapes=[[2]]
                ),
                sleep_microseconds=given(i64(1)),
                output_types=[tf.float32],
                output_shapes=[[2]],
            ).op
        ),
    ),
}
