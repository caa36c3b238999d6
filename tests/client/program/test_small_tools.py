"""make_template, arg_scope, confusion_matrix, check-numerics, version: small tools."""

from __future__ import annotations

import numpy as np
import pytest

import tensorloom as tf
from tensorloom.client.program import compat


@pytest.fixture(autouse=True)
def _fresh_graph() -> None:
    tf.reset_default_graph()


def _linear(x: object, bias: float = 1.0) -> tf.Tensor:
    return x * tf.get_variable("w", []) + bias


@pytest.mark.parametrize(
    ("options", "names", "scope"),
    [
        ({}, ["t/add", "t_1/add", "outer/t/add"], "t/"),
        ({"create_scope_now_": True}, ["t/add", "t_1/add", "outer/t/add"], "t/"),
        ({"unique_name_": "u"}, ["u/add", "u_1/add", "outer/u/add"], "u/"),
    ],
)
def test_template(options: dict[str, object], names: list[str], scope: str) -> None:
    template = tf.make_template("t", _linear, bias=2.0, **options)
    made = [template(1.0).op.name, template(2.0).op.name]
    with tf.variable_scope("outer"):
        made.append(template(tf.constant(3.0)).op.name)
    assert made == names
    assert template.variable_scope_name == scope
    assert [v.name for v in template.variables] == [f"{scope}w:0"]


def test_template_refuses_new_variables() -> None:
    template = tf.make_template("g", lambda: tf.Variable(1.0))
    template()
    with pytest.raises(ValueError, match="Trainable variable created"):
        template()
    with pytest.raises(ValueError, match="name cannot be None"):
        tf.make_template(None, _linear)


def test_arg_scope() -> None:
    framework = tf.contrib.framework

    @framework.add_arg_scope
    def layer(x: int, units: int = 1, name: str = "n") -> tuple[int, int, str]:
        return x, units, name

    with framework.arg_scope([layer], units=5) as scope:
        assert layer(1) == (1, 5, "n")
        with framework.arg_scope([layer], name="m"):
            assert layer(1, units=2) == (1, 2, "m")
    assert layer(1) == (1, 1, "n")
    with framework.arg_scope(scope):
        assert layer(1) == (1, 5, "n")
    assert framework.arg_scoped_arguments(layer) == ("units", "name")
    with (
        pytest.raises(ValueError, match="not decorated"),
        framework.arg_scope([_linear], bias=1),
    ):
        pass


def test_variables_by_name() -> None:
    with tf.variable_scope("a"):
        tf.get_variable("w", [])
    tf.get_variable("w", [], trainable=False)
    framework = tf.contrib.framework
    assert [v.op.name for v in framework.get_variables("a")] == ["a/w"]
    assert [v.op.name for v in framework.get_variables_by_name("w")] == ["a/w", "w"]
    assert framework.get_unique_variable("a/w").op.name == "a/w"
    kept = framework.get_variables_to_restore(exclude=["a"])
    assert [v.op.name for v in kept] == ["w"]
    with pytest.raises(ValueError, match="Couldn't find variable"):
        framework.get_unique_variable("nope")


def test_confusion_matrix() -> None:
    matrix = tf.confusion_matrix([1, 2, 2], [[1], [0], [2]], weights=[1, 2, 3])
    with tf.Session() as sess:
        assert sess.run(matrix).tolist() == [[0, 0, 0], [0, 1, 0], [2, 0, 3]]
        with pytest.raises(tf.errors.InvalidArgumentError, match="out of bound"):
            sess.run(tf.confusion_matrix([1, 4], [1, 2], num_classes=3))
    with pytest.raises(tf.errors.InvalidArgumentError, match="negative values"):
        tf.confusion_matrix([-1, 2], [1, 2])


def test_check_numerics_names_the_first_culprit() -> None:
    x = tf.placeholder(tf.float32, name="x")
    y = tf.exp(tf.log(x, name="log"))
    check = tf.add_check_numerics_ops()
    with tf.Session() as sess:
        sess.run([y, check], {x: 1.0})
        with pytest.raises(tf.errors.InvalidArgumentError, match="log:0"):
            sess.run([y, check], {x: -1.0})


def test_create_op_completes_attrs() -> None:
    graph = tf.get_default_graph()
    x = tf.constant(1.0, name="x")
    assert graph.create_op("Neg", [x], name="n").get_attr("T") == tf.float32
    with pytest.raises(ValueError, match="missing attr 'DstT'"):
        graph.create_op("Cast", [x])
    with pytest.raises(ValueError, match="Inconsistent values for attr 'T'"):
        graph.create_op("AddV2", [x, tf.constant(1)])
    with pytest.raises(ValueError, match="Duplicate node name in graph: 'x'"):
        graph.create_op("Neg", [x], name="x/")


def test_printed_op_has_sorted_attrs() -> None:
    product = tf.matmul(np.ones((1, 1)), np.ones((1, 1)))
    text = str(product.op)
    assert text.index('"T"') < text.index("transpose_a") < text.index("transpose_b")


def test_facts() -> None:
    assert tf.version.VERSION == tf.VERSION == "1.15.0"
    assert tf.Graph().graph_def_versions.producer == tf.GRAPH_DEF_VERSION
    assert tf.sysconfig.get_lib().endswith("tensorloom")
    tf.enable_control_flow_v2()
    assert tf.control_flow_v2_enabled()
    tf.disable_control_flow_v2()
    assert not tf.control_flow_v2_enabled()
    assert tf.Variable.assign_add is not None


def test_a_horizon_says_which_days_are_compatible() -> None:
    compatible = tf.compat.forward_compatible
    with tf.compat.forward_compatibility_horizon(2030, 1, 2):
        assert compatible(2030, 1, 1)
        assert not compatible(2030, 1, 2)
    assert compatible(2019, 1, 1)
    assert not compatible(2030, 1, 1)


def test_the_environment_moves_the_horizon(monkeypatch: pytest.MonkeyPatch) -> None:
    base, compatible = compat.HORIZON, tf.compat.forward_compatible
    assert not compatible(base.year, base.month, base.day)
    monkeypatch.setenv("TF_FORWARD_COMPATIBILITY_DELTA_DAYS", "1")
    compat.update_forward_compatibility()
    assert compatible(base.year, base.month, base.day)
    with tf.compat.forward_compatibility_horizon(2000, 1, 1):
        assert not compatible(base.year, base.month, base.day)
    assert compatible(base.year, base.month, base.day)
    monkeypatch.undo()
    compat.update_forward_compatibility()


@pytest.mark.parametrize("kind", ["cond", "loop"])
def test_numeric_checks_refuse_control_flow(kind: str) -> None:
    if kind == "cond":
        tf.cond(tf.placeholder(tf.bool, []), lambda: tf.constant(1.0), lambda: 2.0)
    else:
        tf.while_loop(lambda x: x < 3.0, lambda x: x + 1.0, [0.0])
    with pytest.raises(ValueError, match="not compatible with TensorFlow control flow"):
        tf.add_check_numerics_ops()
