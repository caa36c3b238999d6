"""Ranks, lengths of lists, attrs and numbers that TensorFlow 1.15 refuses."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import tensorloom as tf
from tests.kernels.hostile.hostile_value import Row, i32, i64

op = tf.raw_ops
f = np.float32
nan = float("nan")
M = 2**31 - 1
L = 2**62
x = np.ones((2, 3), f)
img = np.ones((1, 4, 4, 1), f)
filters = np.ones((1, 1, 1, 1), f)
eye = np.eye(2, dtype=f)
c = np.ones(2, np.complex64)
at = np.array([[0]])

Given = Callable[[Any], Any]


def variables(build: Callable[[Given, Any, Any, Any], Any]) -> Callable[[Given], Any]:
    """An update of variables: two of the shape of `x`, and one with a row only."""

    def built(given: Given) -> Any:
        v, w, s = (tf.Variable(a, use_resource=True) for a in (x, x, x[:1]))
        with tf.control_dependencies([one.initializer for one in (v, w, s)]):
            return build(given, v, w, s)

    return built


CASES: dict[str, Row] = {
    "split_v of a scalar size": (
        "build ValueError",
        "run InvalidArgumentError",
        lambda given: tf.split(x, given(np.int32(2)), num=1)[0],
    ),
    "ellipsis beyond the entries": (
        "fine",
        "fine",
        lambda given: op.StridedSlice(
            input=x, begin=given(i32()), end=i32(), strides=i32(), ellipsis_mask=4
        ),
    ),
    "mask of 64 bits": (
        "run InvalidArgumentError",
        "run InvalidArgumentError",
        lambda given: op.StridedSliceGrad(
            shape=i32(2, 3),
            begin=given(i32(0)),
            end=i32(2),
            strides=i32(1),
            dy=x,
            begin_mask=L,
        ),
    ),
    "segment id that overflows": (
        "run InvalidArgumentError",
        "run InvalidArgumentError",
        lambda given: op.SegmentSum(data=x, segment_ids=given(i32(0, M))),
    ),
    "parts of a list of no values": (
        "build ValueError",
        "build ValueError",
        lambda given: op.ParallelConcat(values=[x[:1], x[:1]], shape=[]),
    ),
    "unsorted buckets": (
        "run InvalidArgumentError",
        "run InvalidArgumentError",
        lambda given: op.Bucketize(input=given(x), boundaries=[2.0, 1.0]),
    ),
    "nan in a fixed range": (
        "run InvalidArgumentError",
        "run InvalidArgumentError",
        lambda given: op.FakeQuantWithMinMaxArgs(inputs=given(x), min=nan),
    ),
    "strides of three": (
        "run InvalidArgumentError",
        "run InvalidArgumentError",
        lambda given: op.Conv2DBackpropInput(
            input_sizes=i32(1, 4, 4, 1),
            filter=filters,
            out_backprop=given(img),
            strides=[1, 1, 1],
            padding="SAME",
        ),
    ),
    "dilations of five": (
        "run InvalidArgumentError",
        "run InvalidArgumentError",
        lambda given: op.Conv2DBackpropFilter(
            input=img,
            filter_sizes=i32(1, 1, 1, 1),
            out_backprop=given(img),
            strides=[1, 1, 1, 1],
            padding="SAME",
            dilations=[1, 1, 1, 1, 1],
        ),
    ),
    "explicit paddings that are not": (
        "run InvalidArgumentError",
        "run InvalidArgumentError",
        lambda given: op.Conv2DBackpropFilter(
            input=img,
            filter_sizes=i32(1, 1, 1, 1),
            out_backprop=given(img),
            strides=[1, 1, 1, 1],
            padding="EXPLICIT",
        ),
    ),
    "paddings of channels": (
        "run InvalidArgumentError",
        "run InvalidArgumentError",
        lambda given: op.Conv2DBackpropInput(
            input_sizes=i32(1, 4, 4, 1),
            filter=filters,
            out_backprop=given(img),
            strides=[1, 1, 1, 1],
            padding="EXPLICIT",
            explicit_paddings=[0, 0, 0, 0, 0, 0, 0, 1],
        ),
    ),
    "window of five": (
        "run InvalidArgumentError",
        "run InvalidArgumentError",
        lambda given: op.AvgPoolGrad(
            orig_input_shape=i32(1, 4, 4, 1),
            grad=given(img),
            ksize=[1, 1, 1, 1, 1],
            strides=[1, 1, 1, 1],
            padding="SAME",
        ),
    ),
    "window over the batch": (
        "run UnimplementedError",
        "run UnimplementedError",
        lambda given: op.MaxPoolGradWithArgmax(
            input=img,
            grad=img,
            argmax=given(np.zeros((1, 4, 4, 1), np.int64)),
            ksize=[2, 1, 1, 1],
            strides=[1, 1, 1, 1],
            padding="SAME",
        ),
    ),
    "window as a matrix": (
        "build ValueError",
        "run InvalidArgumentError",
        lambda given: op.MaxPoolV2(
            input=img,
            ksize=given(np.ones((2, 2), np.int32)),
            strides=i32(1, 1, 1, 1),
            padding="SAME",
        ),
    ),
    "negative radius": (
        "run InvalidArgumentError",
        "run InvalidArgumentError",
        lambda given: op.LRN(input=given(img), depth_radius=-1),
    ),
    "gradient of rank two": (
        "run InvalidArgumentError",
        "run InvalidArgumentError",
        lambda given: op.ResizeBilinearGrad(grads=given(x), original_image=img),
    ),
    "real transform of a negative length": (
        "run InvalidArgumentError",
        "run InvalidArgumentError",
        lambda given: op.IRFFT(input=c, fft_length=given(i32(-1))),
    ),
    "nan as a regularizer": (
        "run InvalidArgumentError",
        "run InvalidArgumentError",
        lambda given: op.MatrixSolveLs(
            matrix=eye, rhs=eye, l2_regularizer=given(np.float64(nan)), fast=True
        ),
    ),
    "gradient of another rank": (
        "run InvalidArgumentError",
        "run InvalidArgumentError",
        lambda given: op.CholeskyGrad(l=eye, grad=given(eye[None])),
    ),
    "nan has no LU": (
        "run InvalidArgumentError",
        "run InvalidArgumentError",
        lambda given: op.Lu(input=given(eye * f(nan)))[0],
    ),
    "values of a sparse matrix as a matrix": (
        "run InvalidArgumentError",
        "run InvalidArgumentError",
        lambda given: op.SparseToDense(
            sparse_indices=i64(0),
            output_shape=i64(3),
            sparse_values=given(x[:1, :1]),
            default_value=f(0),
        ),
    ),
    "default of a sparse matrix as a vector": (
        "run InvalidArgumentError",
        "run InvalidArgumentError",
        lambda given: op.SparseToDense(
            sparse_indices=i64(0),
            output_shape=i64(3),
            sparse_values=x[0, :1],
            default_value=given(x[0]),
        ),
    ),
    "sparse index before a dense tensor": (
        "run InvalidArgumentError",
        "run InvalidArgumentError",
        lambda given: op.SparseDenseCwiseMul(
            sp_indices=given(np.array([[-1]])),
            sp_values=x[0, :1],
            sp_shape=i64(3),
            dense=x[0],
        ),
    ),
    "gradient of sparse terms as a matrix": (
        "run InvalidArgumentError",
        "run InvalidArgumentError",
        lambda given: op.SparseAddGrad(
            backprop_val_grad=given(x), a_indices=at, b_indices=at, sum_indices=at
        )[0],
    ),
    "sparse parts out of order": (
        "run InvalidArgumentError",
        "run InvalidArgumentError",
        lambda given: op.AddManySparseToTensorsMap(
            sparse_indices=given(np.array([[1, 0], [0, 0]])),
            sparse_values=x[0, :2],
            sparse_shape=i64(2, 2),
        ),
    ),
    "negative sparse shape": (
        "run InvalidArgumentError",
        "run InvalidArgumentError",
        lambda given: op.AddSparseToTensorsMap(
            sparse_indices=at, sparse_values=x[0, :1], sparse_shape=given(i64(-2))
        ),
    ),
    "joined segment below zero": (
        "run InvalidArgumentError",
        "run InvalidArgumentError",
        lambda given: op.UnsortedSegmentJoin(
            inputs=np.array([b"a", b"b"], object),
            segment_ids=given(i32(0, -1)),
            num_segments=2,
        ),
    ),
    "more segments than memory": (
        "run ResourceExhaustedError",
        "run ResourceExhaustedError",
        lambda given: op.UnsortedSegmentJoin(
            inputs=np.array([b"a", b"b"], object),
            segment_ids=i32(0, 1),
            num_segments=given(np.int64(2**40)),
        ),
    ),
    "slice specification of one word": (
        "build ValueError",
        "run NotFoundError",
        lambda given: op.RestoreV2(
            prefix=np.array(b"nothing", object),
            tensor_names=np.array([b"a"], object),
            shape_and_slices=given(np.array([b"junk"], object)),
            dtypes=[tf.float32],
        )[0],
    ),
    "rows of a list by a scalar": (
        "build ValueError",
        "run InvalidArgumentError",
        lambda given: op.TensorArrayGatherV3(
            handle=op.TensorArrayV3(size=2, dtype=tf.float32)[0],
            indices=given(np.int32(0)),
            flow_in=f(0),
            dtype=tf.float32,
        ),
    ),
    "dense example of unknown shape": (
        "build ValueError",
        "build ValueError",
        lambda given: op.ParseSingleExample(
            serialized=given(np.array(b"", object)),
            dense_defaults=[x],
            num_sparse=0,
            sparse_keys=[],
            dense_keys=["a"],
            sparse_types=[],
            dense_shapes=[None],
        )[0],
    ),
    "more keys than shapes": (
        "build ValueError",
        "build ValueError",
        lambda given: op.ParseSingleExample(
            serialized=given(np.array(b"", object)),
            dense_defaults=[x],
            num_sparse=0,
            sparse_keys=[],
            dense_keys=["a", "b"],
            sparse_types=[],
            dense_shapes=[[2, 3]],
        )[0],
    ),
    "sequence of unknown size": (
        "build ValueError",
        "build ValueError",
        lambda given: op.ParseSingleSequenceExample(
            serialized=given(np.array(b"", object)),
            feature_list_dense_missing_assumed_empty=np.zeros(0, object),
            context_sparse_keys=[],
            context_dense_keys=[b"a"],
            feature_list_sparse_keys=[],
            feature_list_dense_keys=[],
            context_dense_defaults=[x],
            debug_name=b"",
            context_dense_shapes=[[None]],
        )[3],
    ),
    "rate of rank one": (
        "build ValueError",
        "run InvalidArgumentError",
        variables(
            lambda given, v, w, s: op.ResourceApplyGradientDescent(
                var=v.handle, alpha=given(x[0, :1]), delta=x
            )
        ),
    ),
    "momentum of rank one": (
        "build ValueError",
        "run InvalidArgumentError",
        variables(
            lambda given, v, w, s: op.ResourceApplyMomentum(
                var=v.handle, accum=w.handle, lr=f(1), grad=x, momentum=given(x[0, :1])
            )
        ),
    ),
    "beta of rank one": (
        "build ValueError",
        "run InvalidArgumentError",
        variables(
            lambda given, v, w, s: op.ResourceApplyAdam(
                var=v.handle,
                m=w.handle,
                v=w.handle,
                beta1_power=given(x[0, :1]),
                beta2_power=f(0),
                lr=f(1),
                beta1=f(0),
                beta2=f(0),
                epsilon=f(1),
                grad=x,
            )
        ),
    ),
    "rate of zero": (
        "run InvalidArgumentError",
        "run InvalidArgumentError",
        variables(
            lambda given, v, w, s: op.ResourceApplyFtrl(
                var=v.handle,
                accum=w.handle,
                linear=w.handle,
                grad=x,
                lr=given(f(0)),
                l1=f(0),
                l2=f(0),
                lr_power=f(-0.5),
            )
        ),
    ),
    "power above zero": (
        "run InvalidArgumentError",
        "run InvalidArgumentError",
        variables(
            lambda given, v, w, s: op.ResourceApplyFtrl(
                var=v.handle,
                accum=w.handle,
                linear=w.handle,
                grad=x,
                lr=f(1),
                l1=f(0),
                l2=f(0),
                lr_power=given(f(1)),
            )
        ),
    ),
    "row by a scalar": (
        "build ValueError",
        "run InvalidArgumentError",
        variables(
            lambda given, v, w, s: op.ResourceSparseApplyAdagrad(
                var=v.handle,
                accum=w.handle,
                lr=f(1),
                grad=x,
                indices=given(np.int32(0)),
            )
        ),
    ),
    "slot of another shape": (
        "build ValueError",
        "build ValueError",
        variables(
            lambda given, v, w, s: op.ResourceSparseApplyAdagrad(
                var=v.handle, accum=s.handle, lr=f(1), grad=x, indices=given(i32(0, 1))
            )
        ),
    ),
}
