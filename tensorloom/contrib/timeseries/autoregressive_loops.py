"""Loops of `ARModel` over windows: in evaluation, and for predictions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tensorloom.client.control_flow.while_loop import while_loop
from tensorloom.contrib.timeseries.feature_keys import (
    PredictionFeatures,
    TrainEvalFeatures,
    exogenous,
)
from tensorloom.contrib.timeseries.models import ModelOutputs
from tensorloom.framework.runtime.scopes import control_dependencies
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.ops.array import concat, fill, identity, pad, permute, reshape, shape
from tensorloom.ops.array.stack import stack
from tensorloom.ops.debugging import check
from tensorloom.ops.lists.tensor_array import TensorArray
from tensorloom.ops.math import binary, cast, comparison
from tensorloom.ops.reductions import reductions

if TYPE_CHECKING:
    from tensorloom.contrib.timeseries.autoregression import ARModel


def evaluate_windows(
    model: ARModel, features: dict[str, Any], mode: str, state: Any, regressors: Any
) -> ModelOutputs:
    """Loss and predictions of windows next to each other in a longer one.

    Raises:
      ValueError: the longer one is shorter than one window.
    """
    times = features[TrainEvalFeatures.TIMES]
    times.get_shape().assert_has_rank(2)
    length = times.get_shape()[1].value
    if length is not None and length < model.window_size:
        raise ValueError(
            "ARModel requires a window of at least input_window_size + "
            "output_window_size to evaluate on (input_window_size="
            f"{model.input_window_size}, output_window_size="
            f"{model.output_window_size}, and got shape {times.get_shape()} for "
            f"feature '{TrainEvalFeatures.TIMES}' (batch size, window size))."
        )
    size = model.output_window_size
    count = (shape.shape(times)[1] - model.input_window_size) // size
    total = count * size
    crop = total + model.input_window_size
    features = {key: value[:, -crop:] for key, value in features.items()}

    def body(number: Any, losses: Any, means: Any, covariances: Any) -> Any:
        window = slice_of(number * size, model.window_size)
        outputs = model._process_window(
            features={key: value[:, window] for key, value in features.items()},
            mode=mode,
            exogenous_regressors=regressors[:, window],
        )
        predictions = outputs.predictions
        assert set(predictions) == {"mean", "covariance", "observed"}
        return (
            number + 1,
            losses.write(number, outputs.loss),
            means.write(number, predictions["mean"]),
            covariances.write(number, predictions["covariance"]),
        )

    arrays = [TensorArray(dtype=model.dtype, size=count) for _ in range(3)]
    _, losses, means, covariances = while_loop(
        lambda number, *_: number < count, body, [0, *arrays]
    )
    values = cast.cast(features[TrainEvalFeatures.VALUES], dtype=model.dtype)
    sizes = [shape.shape(times)[0], size * count, model.num_features]

    def in_order(array: Any) -> Any:
        return reshape.reshape(permute.transpose(array.stack(), [1, 0, 2, 3]), sizes)

    return ModelOutputs(
        loss=reductions.reduce_mean(losses.stack(), axis=0),
        end_state=_end_state(model, state, times, values, regressors),
        predictions={
            "mean": in_order(means),
            "covariance": in_order(covariances),
            "observed": values[:, -total:],
        },
        prediction_times=times[:, -total:],
    )


def slice_of(start: Any, size: int) -> slice:
    """The slice of so many from a start on."""
    return slice(start, start + size)


def _end_state(
    model: ARModel, state: Any, times: Any, values: Any, regressors: Any
) -> tuple[Any, ...]:
    """The last input window, which may begin in the state before."""
    size = model.input_window_size
    if size == 0:
        return tuple(state)
    after = (
        cast.cast(times, dtype=dtypes.int64),
        model._scale_data(values),
        regressors,
    )
    widths: tuple[tuple[int, ...], ...] = (
        (),
        (model.num_features,),
        (model.exogenous_size,),
    )
    windows = []
    for before, added, width in zip(state, after, widths, strict=True):
        window = concat.concat([before, added], axis=1)[:, -size:]
        window.set_shape((None, size, *width))
        windows.append(window)
    return tuple(windows)


def predict_windows(model: ARModel, features: dict[str, Any]) -> tuple[Any, Any]:
    """Means and covariances in the model's scale, for times after a state."""
    times = cast.cast(
        convert_to_tensor(features[PredictionFeatures.TIMES]), dtypes.int32
    )
    regressors = model._process_exogenous_features(
        times=times, features=exogenous(features)
    )
    same_length = check.assert_equal(shape.shape(times)[1], shape.shape(regressors)[1])
    with control_dependencies([same_length]):
        regressors = identity.identity(regressors)
    size = model.output_window_size
    wanted = shape.shape(times)[1]
    count = (wanted + size - 1) // size
    # To a whole number of windows.
    padding = count * size - wanted
    times = pad.pad(times, [[0, 0], [0, padding]])
    regressors = pad.pad(regressors, [[0, 0], [0, padding], [0, 0]])
    first = _first_windows(model, features, times, regressors)
    has_covariance = model.loss != model.SQUARED_LOSS

    def body(number: Any, times_of: Any, values: Any, known: Any, *arrays: Any) -> Any:
        predicted = model.prediction_ops(times_of, values, known)
        offset = size * binary.minimum(number + 1, count - 1)
        following = _next_windows(
            model, (times_of, values, known), predicted["mean"], offset
        )
        following[0].set_shape(first[0].get_shape())
        following[2].set_shape(first[2].get_shape())
        keys = ("mean", "covariance")[: len(arrays)]
        written = [
            array.write(number, predicted[key])
            for array, key in zip(arrays, keys, strict=True)
        ]
        return (number + 1, *following, *written)

    def _next_windows(
        model: ARModel, window: tuple[Any, Any, Any], mean: Any, offset: Any
    ) -> tuple[Any, Any, Any]:
        """Times, values and exogenous features of the window after this one."""
        before = model.input_window_size
        new = slice_of(offset, size)
        if before == 0:
            return times[:, new], window[1], regressors[:, new, :]
        if size < before:
            return (
                concat.concat([window[0][:, -before:], times[:, new]], 1),
                concat.concat([window[1][:, size:, :], mean], 1),
                concat.concat([window[2][:, -before:, :], regressors[:, new, :]], 1),
            )
        both = slice(offset - before, offset + size)
        return times[:, both], mean[:, -before:, :], regressors[:, both, :]

    arrays = [
        TensorArray(dtype=model.dtype, size=count)
        for _ in range(2 if has_covariance else 1)
    ]
    results = while_loop(
        lambda number, *_: comparison.less(number, count), body, [0, *first, *arrays]
    )[4:]

    def in_order(array: Any) -> Any:
        packed = permute.transpose(array.stack(), [1, 0, 2, 3])
        sizes = stack([shape.shape(times)[0], count * size, -1])
        return reshape.reshape(packed, sizes)[:, :wanted, :]

    mean = in_order(results[0])
    if has_covariance:
        return mean, in_order(results[1])
    return mean, fill.ones_like(mean)


def _first_windows(
    model: ARModel, features: dict[str, Any], times: Any, regressors: Any
) -> tuple[Any, Any, Any]:
    """Times, values and exogenous features to predict the first window from."""
    state = features[PredictionFeatures.STATE_TUPLE]
    state_times = cast.cast(convert_to_tensor(state[0]), dtypes.int32)
    state_values = convert_to_tensor(state[1], dtype=model.dtype)
    state_regressors = convert_to_tensor(state[2], dtype=model.dtype)
    before, size = model.input_window_size, model.output_window_size
    first_times, first_regressors = times[:, :size], regressors[:, :size, :]
    if before == 0:
        return first_times, 0, first_regressors
    first_times = concat.concat([state_times[:, -before:], first_times], 1)
    length = shape.shape(state_values)[1]
    is_long = check.assert_greater_equal(length, before)
    is_whole = check.assert_equal(length, shape.shape(state_times)[1])
    with control_dependencies([is_long, is_whole]):
        values = state_values[:, -before:, :]
        first_regressors = concat.concat(
            [state_regressors[:, -before:, :], first_regressors], axis=1
        )
    return first_times, values, first_regressors
