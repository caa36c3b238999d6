"""`tf.contrib.labeled_tensor`, beside NumPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tensorloom as tf

lt = tf.contrib.labeled_tensor
DATA = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
LABELS = ("y", ["a", "b", "c"])


def _labeled() -> Any:
    return lt.LabeledTensor(tf.constant(DATA), ["x", LABELS, "z"])


def _run(labeled: Any) -> Any:
    with tf.Session() as sess:
        return sess.run(labeled.tensor)


CASES: dict[str, tuple[Callable[[Any], Any], np.ndarray, list[str]]] = {
    "slice": (lambda t: t[0, 1:, 2], DATA[0, 1:, 2], ["y"]),
    "transpose": (lambda t: lt.transpose(t), DATA.T, ["z", "y", "x"]),
    "select a label": (lambda t: lt.select(t, {"y": "b"}), DATA[:, 1], ["x", "z"]),
    "select labels": (
        lambda t: lt.select(t, {"y": ["c", "a"]}),
        DATA[:, [2, 0]],
        ["x", "y", "z"],
    ),
    "select to a label": (
        lambda t: lt.select(t, {"y": slice("a", "b")}),
        DATA[:, :2],
        ["x", "y", "z"],
    ),
    "reshape": (
        lambda t: lt.reshape(t, ["x", "y"], ["xy"]),
        DATA.reshape(6, 4),
        ["xy", "z"],
    ),
    "reduce": (lambda t: lt.reduce_sum(t, "y"), DATA.sum(1), ["x", "z"]),
    "reduce and keep": (
        lambda t: lt.reduce_max(t, ["x", ("z", "top")]),
        DATA.max((0, 2)).reshape(3, 1),
        ["y", "z"],
    ),
    "broadcast": (
        lambda t: t * lt.LabeledTensor(tf.constant([1.0, 2.0]), ["w"]),
        DATA[..., None] * np.array([1.0, 2.0]),
        ["x", "y", "z", "w"],
    ),
    "reflected": (lambda t: 1.0 - t, 1.0 - DATA, ["x", "y", "z"]),
    "matmul": (
        lambda t: lt.matmul(t[0, :, :], lt.transpose(t[0, :, :])[:, 0]),
        DATA[0] @ DATA[0][0],
        ["y"],
    ),
    "pad": (
        lambda t: lt.pad(t[0, :, 0], {"y": (["before"], [])}),
        np.pad(DATA[0, :, 0], (1, 0)),
        ["y"],
    ),
    "map": (lambda t: lt.map_fn(lambda r: r * 2.0, t), DATA * 2.0, ["x", "y", "z"]),
    "fold": (
        lambda t: lt.foldl(lambda total, r: total + lt.reduce_sum(r), t, 0.0),
        np.array(DATA.sum()),
        [],
    ),
    "nn": (
        lambda t: lt.nn.relu(t - 5.0),
        np.maximum(DATA - 5.0, 0.0),
        ["x", "y", "z"],
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_elements_and_axes(name: str) -> None:
    apply, expected, axes = CASES[name]
    result = apply(_labeled())
    assert list(result.axes) == axes
    np.testing.assert_allclose(_run(result), expected, rtol=1e-6)


def test_labels_follow_the_elements() -> None:
    t = _labeled()
    assert t[:, 1:, :].axes["y"].labels == ("b", "c")
    assert lt.concat([t, lt.rename_axis(t, "y", "y")[:, :0, :]], "y").axes["y"].labels
    assert lt.pad(t, {"y": (["n"], [])}).axes["y"].labels == ("n", "a", "b", "c")
    assert t.axes["x"].labels is None
    assert t.axes["y"].index("c") == 2


def test_results_are_in_the_order_that_a_scope_asks_for() -> None:
    w = lt.LabeledTensor(tf.constant([1.0, 2.0]), ["w"])
    with lt.axis_order_scope(["w", "x", "y", "z"]):
        assert list((_labeled() + w).axes) == ["w", "x", "y", "z"]
    with pytest.raises(lt.AxisOrderError, match="axis_order_scope"):
        lt.check_axis_order(w)


REFUSED: dict[str, tuple[Callable[[], Any], type[Exception], str]] = {
    "label twice": (lambda: lt.Axis("x", ["a", "a"]), ValueError, "unique"),
    "axis twice": (lambda: lt.Axes([("x", 1), ("x", 2)]), ValueError, "Duplicate"),
    "wrong type": (lambda: lt.Axis(1, 2), TypeError, "allowed type"),
    "wrong rank": (
        lambda: lt.LabeledTensor(tf.constant(DATA), ["x"]),
        ValueError,
        "number of axes",
    ),
    "wrong size": (
        lambda: lt.LabeledTensor(tf.constant(DATA), [("x", 3), "y", "z"]),
        ValueError,
        "does not match",
    ),
    "no axes": (
        lambda: lt.convert_to_labeled_tensor(tf.constant([1.0])),
        ValueError,
        "rank>0",
    ),
    "orders": (
        lambda: _labeled() + lt.transpose(_labeled()),
        lt.AxisOrderError,
        "No consistent axis order",
    ),
    "no label": (lambda: lt.select(_labeled(), {"y": "q"}), KeyError, "q"),
    "not labelled": (
        lambda: lt.select(_labeled(), {"x": 0}),
        ValueError,
        "does not have labels",
    ),
    "tiled labels": (
        lambda: lt.tile(_labeled(), {"y": 2}),
        ValueError,
        "cannot tile axes with tick labels",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_errors(name: str) -> None:
    call, kind, message = REFUSED[name]
    with pytest.raises(kind, match=message):
        call()


def test_examples_are_parsed_with_axes() -> None:
    feature = tf.train.Feature(float_list=tf.train.FloatList(value=[1.0, 2.0]))
    example = tf.train.Example(features=tf.train.Features(feature={"a": feature}))
    features = {"a": lt.FixedLenFeature([("q", ["l", "r"])], tf.float32)}
    parsed = lt.parse_single_example(example.SerializeToString(), features)["a"]
    assert parsed.axes["q"].labels == ("l", "r")
    assert _run(parsed).tolist() == [1.0, 2.0]
    with pytest.raises(ValueError, match="unknown size"):
        lt.parse_single_example("", {"a": lt.FixedLenFeature([("q", None)], tf.int64)})
