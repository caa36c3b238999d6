"""`tf.contrib.specs`: networks from expressions, and summaries of them."""

from __future__ import annotations

from typing import Any

import pytest

import tensorloom as tf

specs = tf.contrib.specs


def _net(spec: str, inputs: Any = None, **names: Any) -> Any:
    inputs = tf.constant([1.0, -2.0]) if inputs is None else inputs
    with tf.Session() as sess:
        return sess.run(specs.create_net(spec, inputs, names)).tolist()


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ("net = Relu", [1.0, 0.0]),
        ("net = Relu | Id", [1.0, 0.0]),
        ("net = double ** 3", [8.0, -16.0]),
        ("net = double ** 0", [1.0, -2.0]),
        ("net = double + Idx()", [3.0, -6.0]),
        ("net = double * Idx()", [2.0, 8.0]),
        ("net = Conc(0, Idx(), double)", [1.0, -2.0, 2.0, -4.0]),
        ("net = plus(_1=1.0)(5.0)", [6.0, 3.0]),
    ],
)
def test_expressions(spec: str, expected: list[float]) -> None:
    names = {
        "double": specs.Function(lambda x: x * 2.0),
        "plus": specs.Function(lambda x, y, z: x + y),
    }
    assert _net(spec, **names) == expected


def test_layers_and_shared_variables() -> None:
    inputs = tf.ones([2, 8, 8, 3])
    net = specs.create_net("net = Cr(4, [3, 3]) | Mp([2, 2]) | Flat | Fm(5)", inputs)
    assert net.shape.as_list() == [2, 5]
    assert len(tf.trainable_variables()) == 4
    specs.create_net("f = Shared(Fr(3)); net = f | f", tf.ones([2, 3]))
    assert len(tf.trainable_variables()) == 6


def test_summaries() -> None:
    text = specs.tf_spec_structure("net = Fs(10)", input_shape=(5, 4))
    assert text == "_ variablev2 dot variablev2 biasadd sig"
    lines: list[str] = []
    net = specs.create_net("net = Fs(10)", tf.ones([5, 4]))
    specs.tf_parameter_summary(net, printer=lines.append)
    assert specs.tf_num_params(net) == 50
    assert [line.split()[:2] for line in lines] == [
        ["0", "ones"],
        ["50", "fully_connected_1"],
    ]


@pytest.mark.parametrize(
    "spec", ["import os; net = 1", "net = None", "def f(): pass", "while True: net = 1"]
)
def test_refused_specifications(spec: str) -> None:
    with pytest.raises(ValueError, match=r"keyword|failed to create"):
        specs.create_net(spec, tf.ones([1]))


def test_quoted_keywords_are_allowed() -> None:
    assert specs.eval_spec("name = 'import'")["name"] == "import"


def test_parameters_are_drawn() -> None:
    drawn = specs.eval_params("n = Li(5, 500); d = Ui(1, 5); s = sqrt(4.0)", {"k": 1})
    assert 5 <= drawn["n"] <= 500
    assert 1 <= drawn["d"] <= 5
    assert (drawn["s"], drawn["k"]) == (2.0, 1)


def test_words_are_names_within_a_block() -> None:
    assert "Cr" not in globals()
    with specs.ops:
        assert Cr is specs.Cr  # type: ignore[name-defined]  # noqa: F821
    assert "Cr" not in globals()
