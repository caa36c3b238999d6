"""Values of handles: shapes, copies, strings, dtypes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import ml_dtypes
import numpy as np
import pytest

import tensorloom as tf

if TYPE_CHECKING:
    from tensorloom.eager import Context


@pytest.mark.parametrize(
    ("value", "dtype", "shape"),
    [
        (1, tf.int32, ()),
        ([[1.0, 2.0]], tf.float32, (1, 2)),
        ("a", tf.string, ()),
        ([b"a", b"bc"], tf.string, (2,)),
        ([[]], tf.float32, (1, 0)),
        (True, tf.bool, ()),
        (np.float64(1), tf.float64, ()),
        (np.ones(3, ml_dtypes.bfloat16), tf.bfloat16, (3,)),
    ],
)
def test_what_a_value_becomes(
    context: Context, value: Any, dtype: Any, shape: tuple[int, ...]
) -> None:
    handle = context.handle(value)
    assert handle.dtype is dtype
    assert handle.dims == shape
    assert handle.shape == shape
    assert handle.num_elements == int(np.prod(shape))
    assert np.array_equal(handle.numpy(), np.asarray(context.handle(value).array()))


def test_nobody_can_change_a_value(context: Context) -> None:
    array = np.zeros(3, np.float32)
    handle = context.handle(array)
    array[0] = 1
    handle.numpy()[1] = 1
    (same,) = context.execute("Identity", [handle])
    same.numpy()[2] = 1
    assert handle.numpy().tolist() == same.numpy().tolist() == [0, 0, 0]


def test_the_other_form_is_made_once(context: Context) -> None:
    handle = context.handle(np.zeros(3, np.float32))
    assert handle.tensor() is handle.tensor()
    assert handle.host() is handle.value
    (large,) = context.execute("Neg", [context.handle(np.ones([300, 300]))])
    assert not large.is_host
    assert large.host() is large.host()
    assert large.dims == (300, 300)


def test_a_resource_has_no_array(context: Context) -> None:
    attrs = {"dtype": tf.float32, "shape": [5]}
    (variable,) = context.execute("VarHandleOp", [], attrs)
    assert variable.dims == ()
    with pytest.raises(tf.errors.InvalidArgumentError, match="dtype resource"):
        variable.numpy()


def test_quantized_values_are_integers(context: Context) -> None:
    limits = [context.handle(0.0), context.handle(255.0)]
    values = context.handle([1.0, 254.0])
    made, *_ = context.execute("QuantizeV2", [values, *limits], {"T": tf.quint8})
    assert made.dtype is tf.quint8
    assert made.numpy().tolist() == [1, 254]
    assert made.numpy().dtype == np.uint8
