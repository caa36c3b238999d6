"""When an error comes, and values that TensorFlow 1.15 takes or refuses on the way.

Where it reads memory that is not there, the row has an InvalidArgumentError.
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
image = np.ones((1, 4, 4, 2), f)
pooled = np.ones((1, 2, 2, 2), f)
argmax = np.zeros((1, 2, 2, 2), np.int64)
c64, c128 = np.ones(2, np.complex64), np.ones(2, np.complex128)

REFUSED_WHEN_RUN = ("run InvalidArgumentError", "run InvalidArgumentError")
REFUSED_WHEN_BUILT = ("build ValueError", "run InvalidArgumentError")
UNIMPLEMENTED = ("run UnimplementedError", "run UnimplementedError")
FINE = ("fine", "fine")

_SPARSE = {
    "indices": i64(0, 0).reshape(1, 2),
    "values": np.ones(1, f),
    "shape": i64(2, 2),
    "start": i64(0, 0),
    "size": i64(1, 1),
}


def _sparse_slice(name: str, value: Any) -> Any:
    return lambda given: op.SparseSlice(**{**_SPARSE, name: given(value)})


def _pool_gradient(ksize: list[int], strides: list[int]) -> Any:
    return lambda given: op.MaxPoolGrad(
        orig_input=given(image),
        orig_output=pooled,
        grad=pooled,
        ksize=ksize,
        strides=strides,
        padding="VALID",
    )


def _second_gradient(given: Given) -> Any:
    return op.MaxPoolGradGradV2(
        orig_input=given(image),
        orig_output=given(pooled),
        grad=given(image),
        ksize=given(i32(1, 2, 2, 2)),
        strides=given(i32(1, 2, 2, 1)),
        padding="VALID",
    )


def _array(given: Given, name: str, **inputs: Any) -> Any:
    """An op on an array of two vectors of two numbers."""
    handle, flow = op.TensorArrayV3(
        size=given(i32(2)[0]), dtype=f, element_shape=[2], dynamic_size=True
    )
    flow = op.TensorArrayScatterV3(
        handle=handle, indices=i32(0, 1), value=x, flow_in=flow
    )
    if name == "Gather":
        inputs["dtype"] = f
    else:
        handle, flow = op.TensorArrayV3(
            size=given(i32(2)[0]), dtype=f, dynamic_size=True
        )
    return getattr(op, f"TensorArray{name}V3")(handle=handle, flow_in=flow, **inputs)


def _accumulated(given: Given) -> Any:
    accumulator = tf.SparseConditionalAccumulator(f, shape=[None, 2])
    return accumulator.apply_grad(given(i64(0)), given(np.ones(1, f)))


def _unpadded(name: str, value: Any) -> Any:
    inputs: dict[str, Any] = {
        "batch_size": np.int64(1),
        "padded_shapes": [i64(3)],
        "padding_values": [f(0)],
        "drop_remainder": np.bool_(False),
    }

    def build(given: Given) -> Any:
        source = op.TensorSliceDataset(components=[x], output_shapes=[[2]])
        changed = {name: [given(value)] if name.startswith("padd") else given(value)}
        return op.PaddedBatchDatasetV2(
            input_dataset=source,
            output_shapes=[[None, 3]],
            **inputs | changed,
        ).op

    return build


CASES: dict[str, Row] = {
    "sparse slice of indices of another rank": (
        *REFUSED_WHEN_RUN,
        _sparse_slice("indices", i64(0, 0)),
    ),
    "sparse slice of a scalar shape": (
        *REFUSED_WHEN_RUN,
        _sparse_slice("shape", np.int64(2)),
    ),
    "sparse slice from a scalar": (
        *REFUSED_WHEN_RUN,
        _sparse_slice("start", np.int64(0)),
    ),
    "sparse slice of a size of another rank": (
        *REFUSED_WHEN_RUN,
        _sparse_slice("size", i64(1, 1).reshape(1, 2)),
    ),
    "sparse reduction over a matrix of axes": (
        *REFUSED_WHEN_RUN,
        lambda given: op.SparseReduceMax(
            input_indices=i64(0, 0).reshape(1, 2),
            input_values=np.ones(1, f),
            input_shape=i64(2, 2),
            reduction_axes=given(i32(0).reshape(1, 1)),
        ),
    ),
    "fractional gradient of too short a shape": (
        *REFUSED_WHEN_RUN,
        lambda given: op.FractionalAvgPoolGrad(
            orig_input_tensor_shape=given(i64(1, 4)),
            out_backprop=pooled,
            row_pooling_sequence=i64(0, 2, 4),
            col_pooling_sequence=i64(0, 2, 4),
        ),
    ),
    "print of a vector": (
        *REFUSED_WHEN_BUILT,
        lambda given: op.PrintV2(input=given(np.array([b"a", b"b"], object))),
    ),
    "gradient of fewer elements": (
        *REFUSED_WHEN_RUN,
        lambda given: op.TanhGrad(y=x, dy=given(np.ones((2, 1), f))),
    ),
    "gradient of more elements": (
        *FINE,
        lambda given: op.SqrtGrad(y=x, dy=given(np.ones(7, f))),
    ),
    "real part in another precision": (
        *REFUSED_WHEN_RUN,
        lambda given: op.Real(input=given(c64), Tout=tf.float64),
    ),
    "modulus in another precision": (
        *REFUSED_WHEN_RUN,
        lambda given: op.ComplexAbs(x=given(c128), Tout=tf.float32),
    ),
    "complex numbers in another precision": (
        *REFUSED_WHEN_RUN,
        lambda given: op.Complex(real=given(x), imag=x, Tout=tf.complex128),
    ),
    "pooling gradient over the batch": (
        *UNIMPLEMENTED,
        _pool_gradient([-1, 2, 2, 1], [1, 2, 2, 1]),
    ),
    "pooling gradient with strides over channels": (
        *UNIMPLEMENTED,
        _pool_gradient([1, 2, 2, 1], [1, 2, 2, 2]),
    ),
    "second pooling gradient over channels": (
        "build ValueError",
        "run UnimplementedError",
        _second_gradient,
    ),
    "pooling with argmax over channels": (
        *UNIMPLEMENTED,
        lambda given: op.MaxPoolGradWithArgmax(
            input=given(image),
            grad=pooled,
            argmax=argmax,
            ksize=[1, 2, 2, 2],
            strides=[1, 2, 2, 1],
            padding="VALID",
        ),
    ),
    "pooling gradient of an output of another rank": (
        *REFUSED_WHEN_RUN,
        lambda given: op.MaxPoolGrad(
            orig_input=image,
            orig_output=given(pooled[0]),
            grad=pooled,
            ksize=[1, 2, 2, 1],
            strides=[1, 2, 2, 1],
            padding="VALID",
        ),
    ),
    "batch norm with a matrix for its mean": (
        *REFUSED_WHEN_RUN,
        lambda given: (
            op.FusedBatchNormV3(
                x=image,
                scale=np.ones(2, f),
                offset=np.ones(2, f),
                mean=given(np.ones((1, 0), f)),
                variance=np.ones(0, f),
            ).y
        ),
    ),
    "quantized resize to one number": (
        *REFUSED_WHEN_BUILT,
        lambda given: (
            op.QuantizedResizeBilinear(
                images=image, size=given(i32(2)), min=f(0), max=f(1)
            ).resized_images
        ),
    ),
    "dequeue up to less than none": (
        *REFUSED_WHEN_RUN,
        lambda given: tf.FIFOQueue(2, tf.float32, [[]]).dequeue_up_to(
            given(i32(-1)[0])
        ),
    ),
    "table of tensors that holds none": (
        *REFUSED_WHEN_RUN,
        lambda given: op.LookupTableFindV2(
            table_handle=op.MutableHashTableOfTensorsV2(
                key_dtype=tf.int64, value_dtype=tf.float32
            ),
            keys=given(i64(1)),
            default_value=f(0),
        ),
    ),
    "elements of another shape than the array's": (
        *REFUSED_WHEN_RUN,
        lambda given: _array(given, "Gather", indices=i32(0), element_shape=[3]),
    ),
    "fewer parts than the array has elements": (
        *REFUSED_WHEN_RUN,
        lambda given: _array(given, "Split", value=x, lengths=i64(2)),
    ),
    "sparse gradient without rows": (*REFUSED_WHEN_RUN, _accumulated),
    "tensor of another shape than its dataset's": (
        *REFUSED_WHEN_RUN,
        lambda given: op.TensorDataset(components=[given(x)], output_shapes=[[3]]).op,
    ),
    "slices of another shape than their dataset's": (
        *REFUSED_WHEN_RUN,
        lambda given: (
            op.TensorSliceDataset(components=[given(x)], output_shapes=[[3]]).op
        ),
    ),
    "slices of a scalar": (
        *REFUSED_WHEN_RUN,
        lambda given: (
            op.TensorSliceDataset(components=[given(f(1))], output_shapes=[[]]).op
        ),
    ),
    "padding with a vector": (
        *REFUSED_WHEN_RUN,
        _unpadded("padding_values", np.zeros(1, f)),
    ),
    "padding to another rank": (
        *REFUSED_WHEN_RUN,
        _unpadded("padded_shapes", i64(3, 3)),
    ),
    "range of more numbers than can be counted": (
        *FINE,
        lambda given: (
            op.RangeDataset(
                start=given(np.int64(-(2**63))),
                stop=np.int64(9),
                step=np.int64(1),
                output_types=[tf.int64],
                output_shapes=[[]],
            ).op
        ),
    ),
}
