"""Which ops have a gradient, none by statement, or an error: as TensorFlow says it.

The peer test of the same subject compares all ops; these are some of each kind.
"""

from __future__ import annotations

import pytest

import tensorloom as tf
from tensorloom.framework.registry import gradient_registry

# An error when asked: a second derivative must not be left out in silence.
_UNREGISTERED = """
ApplyAdam BlockLSTMGrad CountUpTo Dequantize Dilation2DBackpropInput FIFOQueueV2
FractionalMaxPoolGrad GRUBlockCellGrad HostConst LookupTableExport LookupTableImportV2
QuantizeV2 QueueDequeueV2 QueueIsClosed ReaderReadV2 RestoreV2 SparseCross
SparseReshape SparseSegmentSumGrad StackPushV2 TextLineReaderV2 UnravelIndex
"""
_STATED = """
Assign Const LookupTableFind LookupTableInsertV2 OneHot QueueDequeue QueueSize
ReaderRead Shape SparseFeatureCross StackPush TextLineReader
"""
_DIFFERENTIABLE = "Batch BlockLSTM GRUBlockCell LSTMBlockCell MatMul Unbatch"


@pytest.mark.parametrize("op", _UNREGISTERED.split())
def test_asking_is_an_error(op: str) -> None:
    with pytest.raises(LookupError, match="gradient registry has no entry for"):
        gradient_registry.find_gradient(op)


@pytest.mark.parametrize("op", _STATED.split())
def test_stated_to_have_none(op: str) -> None:
    assert gradient_registry.find_gradient(op) is None


@pytest.mark.parametrize("op", _DIFFERENTIABLE.split())
def test_has_one(op: str) -> None:
    assert gradient_registry.find_gradient(op) is not None


def test_a_second_derivative_that_nobody_wrote() -> None:
    x = tf.placeholder(tf.float32, [3, 2], name="x")
    (first,) = tf.gradients(tf.sparse_segment_mean(x, [0, 1], [0, 0]) ** 2, x)
    with pytest.raises(LookupError, match="op type: SparseSegmentMeanGrad"):
        tf.gradients(first, x)


def test_gradients_go_back_through_batches() -> None:
    x = tf.placeholder(tf.float32, [None, 2], name="x")
    batch = tf.raw_ops.Batch(
        in_tensors=[x],
        num_batch_threads=1,
        max_batch_size=8,
        batch_timeout_micros=0,
        grad_timeout_micros=1_000_000,
    )
    (rows,) = batch.batched_tensors
    y = tf.raw_ops.Unbatch(
        batched_tensor=rows * rows,
        batch_index=batch.batch_index,
        id=batch.id,
        timeout_micros=1_000_000,
    )
    (gradient,) = tf.gradients(y, x)
    assert gradient.op.name == "gradients/Batch_grad/Unbatch"
    assert gradient.op.get_attr("shared_name") == b"batch_gradient_Batch_0"
    with tf.Session() as sess:
        found = sess.run(gradient, {x: [[1, 2], [3, 4]]})
    assert found.tolist() == [[2, 4], [6, 8]]


def test_a_cell_of_unknown_width_has_no_gradient() -> None:
    x = tf.placeholder(tf.float32, [2, None])
    state = tf.zeros([2, 3])
    peephole = tf.zeros([3])
    cell = tf.raw_ops.LSTMBlockCell(
        x=x,
        cs_prev=state,
        h_prev=state,
        w=tf.placeholder(tf.float32, [None, 12]),
        wci=peephole,
        wcf=peephole,
        wco=peephole,
        b=tf.zeros([12]),
    )
    with pytest.raises(ValueError, match="input_size from `x` should not be None"):
        tf.gradients(cell.h, x)
