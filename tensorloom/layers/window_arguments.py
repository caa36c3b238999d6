"""Arguments and lengths of windows, as `tensorflow.python.layers.utils` has them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tensorloom.client.control_flow.cond import cond
from tensorloom.client.variables.variables import Variable
from tensorloom.keras import smart_cond as keras_smart_cond
from tensorloom.keras.layers import window_sizes

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph import Tensor


def convert_data_format(data_format: str, ndim: int) -> str:
    """`NHWC`, `NCHW` and the like of `channels_last` or `channels_first`.

    Raises:
      ValueError: another format, or a rank other than 3, 4 and 5.
    """
    formats = {3: "NWC", 4: "NHWC", 5: "NDHWC"}
    if data_format not in ("channels_last", "channels_first"):
        raise ValueError("Invalid data_format:", data_format)
    if ndim not in formats:
        raise ValueError("Input rank not supported:", ndim)
    last = formats[ndim]
    return last if data_format == "channels_last" else f"NC{last[1:-1]}"


def normalize_tuple(value: Any, n: int, name: str) -> tuple[Any, ...]:
    """`n` integers: one for each dimension, or one for all."""
    return window_sizes.normalize_tuple(value, n, name)


def normalize_data_format(value: str) -> str:
    """`channels_last` or `channels_first`, whatever the case."""
    return window_sizes.normalize_data_format(value)


def normalize_padding(value: str) -> Any:
    """`valid` or `same`, whatever the case."""
    padding = value.lower()
    if padding not in ("valid", "same"):
        raise ValueError(
            'The `padding` argument must be one of "valid", "same". '
            f"Received: {padding}"
        )
    return padding


def conv_output_length(
    input_length: int | None,
    filter_size: int,
    padding: str,
    stride: int,
    dilation: int = 1,
) -> int | None:
    """Number of windows along an axis; None for an unknown length."""
    return window_sizes.conv_output_length(
        input_length, filter_size, padding, stride, dilation
    )


def conv_input_length(
    output_length: int | None, filter_size: int, padding: str, stride: int
) -> int | None:
    """The length that makes so many windows; None for an unknown number.

    Raises:
      ValueError: another padding than `same`, `valid` and `full`.
    """
    if output_length is None:
        return None
    margins = {"same": filter_size // 2, "valid": 0, "full": filter_size - 1}
    if padding not in margins:
        raise ValueError(f"padding is {padding!r}, not one of {sorted(margins)}")
    return (output_length - 1) * stride - 2 * margins[padding] + filter_size


def deconv_output_length(
    input_length: int | None, filter_size: int, padding: str, stride: int
) -> int | None:
    """The length that `input_length` windows spread out to."""
    if input_length is None:
        return None
    length = input_length * stride
    if padding == "valid":
        return length + max(filter_size - stride, 0)
    return length - (stride + filter_size - 2) if padding == "full" else length


def smart_cond(
    pred: Any, true_fn: Any = None, false_fn: Any = None, name: str | None = None
) -> Any:
    """`tf.cond`, or the one branch where the predicate is known."""
    if isinstance(pred, Variable):
        return cond(pred, true_fn=true_fn, false_fn=false_fn, name=name)
    return keras_smart_cond.smart_cond(pred, true_fn, false_fn, name)


def constant_value(pred: Any) -> Any:
    """The predicate's value; None of a variable, or where it is not known.

    Raises:
      TypeError: it is no tensor and no truth value.
    """
    return keras_smart_cond.known_value(pred)


def get_reachable_from_inputs(inputs: Any, targets: Any = None) -> set[Tensor]:
    """The tensors that are computed from some, and those themselves.

    Args:
      inputs: the tensors to begin at.
      targets: the search ends when it has found all of these.
    """
    reachable = set(inputs)
    missing = set(targets or ()) - reachable
    waiting = list(inputs)
    while waiting and (missing or not targets):
        for operation in waiting.pop().consumers():
            for output in operation.outputs:
                if output not in reachable:
                    reachable.add(output)
                    missing.discard(output)
                    waiting.append(output)
    return reachable
