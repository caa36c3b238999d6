"""`tf.cond`, `tf.case` and `tf.switch_case`: structure, laziness, errors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import tensorloom as tf
from tensorloom.client.session import session_changes
from tests.client.session.sessions import run_initialized


def _predicate() -> tf.Tensor:
    return tf.placeholder(tf.bool, [], name="p")


def test_only_the_taken_branch_runs() -> None:
    runs: list[str] = []

    def noting(word: str) -> Callable[[], tf.Tensor]:
        def note() -> float:
            runs.append(word)
            return 1.0

        return lambda: tf.py_func(note, [], tf.double)

    p = _predicate()
    y = tf.cond(p, noting("true"), noting("false"))
    run_initialized(y, {p: True})
    assert runs == ["true"]
    run_initialized(y, {p: False})
    assert runs == ["true", "false"]


def test_names_are_those_of_tensorflows_functional_form() -> None:
    p = _predicate()
    pair = tf.cond(p, lambda: (1, 2.0), lambda: (3, 4.0), name="choose")
    assert [t.name for t in pair] == ["choose/Identity:0", "choose/Identity_1:0"]
    assert tf.cond(p, lambda: 1, lambda: 2).name == "cond/Identity:0"
    assert tf.get_default_graph().get_operation_by_name("cond").type == "StatelessIf"


def test_structures_and_singletons() -> None:
    p = _predicate()
    nested = tf.cond(p, lambda: {"b": [1], "a": 2}, lambda: {"b": [3], "a": 4})
    assert run_initialized(nested, {p: False}) == {"b": [3], "a": 4}
    assert isinstance(tf.cond(p, lambda: [1], lambda: [2]), tf.Tensor)
    kept = tf.cond(p, lambda: [1], lambda: [2], strict=True)
    assert isinstance(kept, list)
    assert tf.cond(p, fn1=lambda: 1, fn2=lambda: 2).dtype == tf.int32


def test_an_operation_counts_as_a_bool() -> None:
    p = _predicate()
    y = tf.cond(p, tf.no_op, tf.no_op)
    assert y.dtype == tf.bool


def test_assignments_in_branches_are_seen_outside() -> None:
    p = _predicate()
    reference = tf.get_variable("v", initializer=1.0, use_resource=False)
    resource = tf.get_variable("w", initializer=1.0, use_resource=True)
    step = [
        tf.cond(p, lambda: reference.assign(5.0), lambda: reference.assign_add(1.0)),
        tf.cond(p, lambda: resource.assign(5.0).op, lambda: tf.no_op()),
    ]
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        sess.run(step, {p: False})
        assert sess.run([reference, resource]) == [2.0, 1.0]
        sess.run(step, {p: True})
        assert sess.run([reference, resource]) == [5.0, 5.0]


def test_what_no_result_needs_does_not_run() -> None:
    variable = tf.get_variable("v", initializer=1.0, use_resource=True)

    def branch() -> tf.Tensor:
        variable.assign(9.0)  # nothing depends on it
        return tf.constant(3.0)

    y = tf.cond(_predicate(), branch, lambda: tf.constant(4.0))
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        sess.run(y, {"p:0": True})
        assert sess.run(variable) == 1.0


def test_variables_made_in_a_branch_are_variables_of_the_program() -> None:
    x = tf.placeholder(tf.float32, [3])
    p = _predicate()

    def branch() -> tf.Tensor:
        return x * tf.get_variable("w", [3], initializer=tf.ones_initializer())

    y = tf.cond(p, branch, lambda: x)
    assert [v.name for v in tf.trainable_variables()] == ["w:0"]
    assert run_initialized(y, {p: True, x: [1, 2, 3]}).tolist() == [1, 2, 3]
    (gradient,) = tf.gradients(y, tf.trainable_variables())
    assert run_initialized(gradient, {p: True, x: [1, 2, 3]}).tolist() == [1, 2, 3]
    assert run_initialized(gradient, {p: False, x: [1, 2, 3]}).tolist() == [0, 0, 0]


def test_an_unconnected_input_has_no_gradient() -> None:
    p, x, z = _predicate(), tf.placeholder(tf.float32, []), tf.constant(1.0)
    y = tf.cond(p, lambda: x + tf.stop_gradient(z), lambda: x)
    assert tf.gradients(y, z) == [None]


def _sparse() -> tf.SparseTensor:
    return tf.SparseTensor([[0, 0]], [1.0], [2, 2])


def _slices() -> tf.IndexedSlices:
    return tf.IndexedSlices(tf.zeros([1, 2]), tf.zeros([1], tf.int32))


ERRORS = [
    (lambda p: tf.cond(True, lambda: 1, lambda: 2), TypeError, "Python bool"),
    (lambda p: tf.cond(p, 1, lambda: 2), TypeError, "true_fn must be callable"),
    (lambda p: tf.cond(p), TypeError, "true_fn argument required"),
    (lambda p: tf.cond(p, lambda: 1), TypeError, "false_fn argument required"),
    (
        lambda p: tf.cond(p, lambda: 1, lambda: 1, fn1=lambda: 1),
        TypeError,
        "may not be set simultaneously",
    ),
    (lambda p: tf.cond(p, lambda: None, lambda: 1), ValueError, "true_fn must have"),
    (lambda p: tf.cond(p, lambda: 1, lambda: None), ValueError, "false_fn must have"),
    (lambda p: tf.cond(p, lambda: 1, lambda: 2.0), ValueError, "int32, float32"),
    (lambda p: tf.cond(p, lambda: (1, 2), lambda: [1, 2]), TypeError, "Incompatible"),
    (lambda p: tf.cond(p, lambda: (1, 2), lambda: (1,) * 3), ValueError, "Incompat"),
    (lambda p: tf.cond(p, lambda: [], lambda: []), ValueError, "at least one result"),
    (lambda p: tf.cond(p, _sparse, lambda: (1, 1.0, 1)), ValueError, "Incompat"),
    (lambda p: tf.cond(p, lambda: (1, 1.0, 1), _sparse), ValueError, "Incompat"),
    (lambda p: tf.cond(p, _slices, lambda: {"a": 1}), ValueError, "Incompat"),
    (lambda p: tf.cond(p, _slices, lambda: [1], strict=True), ValueError, "Incompat"),
    (lambda p: tf.cond(p, _sparse, lambda: 1), ValueError, "Incompat"),
    (lambda p: tf.cond(p, _sparse, _slices), TypeError, "Incompat"),
    (lambda p: tf.case([(p, _sparse)], lambda: (1, 1.0, 1)), ValueError, "Incompat"),
    (lambda p: tf.cond(tf.constant(1), lambda: 1, lambda: 2), TypeError, "bool"),
    (lambda p: tf.cond(tf.constant([True]), lambda: 1, lambda: 2), ValueError, "rank"),
]


@pytest.mark.parametrize(("make", "error", "text"), ERRORS)
def test_cond_errors(make: Callable[[Any], Any], error: Any, text: str) -> None:
    with pytest.raises(error, match=text):
        make(_predicate())


def test_a_tensor_of_a_branch_is_not_accessible_in_the_other() -> None:
    inside: list[tf.Tensor] = []

    def first() -> tf.Tensor:
        inside.append(tf.constant(1.0))
        return inside[0]

    with pytest.raises(ValueError, match="not accessible"):
        tf.cond(_predicate(), first, lambda: inside[0] + 1.0)


def test_a_gradient_made_after_a_step_sees_the_same_values() -> None:
    p, x = _predicate(), tf.placeholder(tf.float32, [])
    y = tf.cond(p, lambda: tf.sin(x) * x, lambda: x * 2.0)
    with tf.Session() as sess:
        before = sess.run(y, {p: True, x: 0.5})
        (gradient,) = tf.gradients(y, x)
        assert len(y.op.inputs[0].op.outputs) > 1
        after, slope = sess.run([y, gradient], {p: True, x: 0.5})
        assert before == after == sess.run(y, {p: True, x: 0.5})
        assert slope == pytest.approx(0.9182, abs=1e-4)


def test_changed_nodes_are_sent_in_order() -> None:
    x = tf.placeholder(tf.float32, [])
    y = tf.while_loop(lambda v: v < 9.0, lambda v: v * x, [x])
    graph = tf.get_default_graph()
    sent = len(graph.get_operations())
    tf.gradients(y, x)
    nodes = session_changes.with_changed(
        graph, graph.nodes_since(sent), graph._mutations, sent
    )
    names = [node.name for node in nodes]
    loop = names.index("while")
    assert names.index("gradients/while_grad/placeholder_0/accumulator") < loop


# --- case --------------------------------------------------------------------------


@pytest.mark.parametrize(("value", "wanted"), [(-2.0, 2.0), (5.0, 105.0), (20.0, 40.0)])
def test_case_takes_the_first_true_predicate(value: float, wanted: float) -> None:
    x = tf.placeholder(tf.float32, [])
    pairs = [(x < 0.0, lambda: -x), (x > 10.0, lambda: x * 2.0)]
    y = tf.case(pairs, default=lambda: x + 100.0, exclusive=True)
    assert run_initialized(y, {x: value}) == wanted


def test_case_checks_its_predicates_when_it_runs() -> None:
    x = tf.placeholder(tf.float32, [])
    pairs = [(x > 0.0, lambda: -x), (x > 10.0, lambda: x * 2.0)]
    exclusive = tf.case(pairs, default=lambda: x, exclusive=True)
    with pytest.raises(tf.errors.InvalidArgumentError, match="exclusive=True"):
        run_initialized(exclusive, {x: 20.0})
    without_default = tf.case(pairs)
    assert run_initialized(without_default, {x: 20.0}) == -20.0
    with pytest.raises(tf.errors.InvalidArgumentError, match="None of conditions"):
        run_initialized(without_default, {x: -1.0})


def _one() -> Any:
    return tf.constant(1)


CASE_ERRORS = [
    (lambda p: tf.case(3, default=lambda: 2), TypeError, "must be a list"),
    (lambda p: tf.case([(p, lambda: 1), 3]), TypeError, "must be a 2-tuple"),
    (lambda p: tf.case([(True, lambda: 1)]), TypeError, "pred must be a Tensor"),
    (lambda p: tf.case([(tf.constant(1), lambda: 1)]), TypeError, "of type bool"),
    (lambda p: tf.case([(p, 1)]), TypeError, "must be callable"),
    (lambda p: tf.case([(p, lambda: 1)], default=2), TypeError, "must be callable"),
    (lambda p: tf.switch_case(1, [lambda: 1]), TypeError, "must a Tensor"),
    (lambda p: tf.switch_case(tf.constant(1.0), [lambda: 1]), TypeError, "integer"),
    (lambda p: tf.switch_case(tf.constant(1), []), ValueError, "at least one"),
    (
        lambda p: tf.switch_case(tf.constant(1), {0: lambda: 1, 2: lambda: 2}),
        ValueError,
        "contiguous range",
    ),
    *(
        (lambda p, other=other: tf.switch_case(tf.constant(1), [_one, other]), *said)
        for other, said in (
            (lambda: tf.constant(1.0), (TypeError, "same type")),
            (lambda: [tf.constant(1), tf.constant(2)], (TypeError, "Incompatible")),
            (lambda: {"a": tf.constant(1)}, (TypeError, "Incompatible")),
        )
    ),
]


@pytest.mark.parametrize(("make", "error", "text"), CASE_ERRORS)
def test_case_errors(make: Callable[[Any], Any], error: Any, text: str) -> None:
    with pytest.raises(error, match=text):
        make(_predicate())


@pytest.mark.parametrize(("index", "wanted"), [(0, 4), (1, 8), (2, -2), (9, -2)])
def test_switch_case(index: int, wanted: float) -> None:
    k, x = tf.placeholder(tf.int32, []), tf.placeholder(tf.float32, [])
    branches = [lambda: x * 2.0, lambda: x * x * x, lambda: -x]
    y = tf.switch_case(k, branches)
    assert run_initialized(y, {k: index, x: 2.0}) == wanted
    slopes = [2.0, 12.0, -1.0]
    assert (
        run_initialized(tf.gradients(y, x)[0], {k: index, x: 2.0})
        == slopes[min(index, 2)]
    )


def test_the_last_case_without_a_default_excludes_none() -> None:
    """As in TensorFlow, which makes the default of it before it counts."""
    x = tf.placeholder(tf.float32, [])
    result = tf.case(
        [(x < 1.0, lambda: x * 2.0), (x < 5.0, lambda: x * 3.0)], exclusive=True
    )
    with tf.Session() as sess:
        assert sess.run(result, {x: 0.5}) == 1.0
        assert sess.run(result, {x: 2.0}) == 6.0


def test_a_predicate_in_a_function_may_have_one_element() -> None:
    function = tf.function(lambda p: tf.cond(p, lambda: 1, lambda: 2))
    with tf.Session() as sess:
        assert sess.run(function(tf.constant([[True]]))) == 1


def test_variables_of_branches_and_loops_have_the_names_of_their_scopes() -> None:
    p = _predicate()

    def variable() -> tf.Tensor:
        return tf.Variable(1.0) + 0.0

    def branches() -> tf.Tensor:
        return tf.cond(p, variable, lambda: tf.constant(2.0))

    def named() -> tf.Tensor:
        return tf.get_variable("kept", [], initializer=tf.zeros_initializer()) + 0.0

    def step(i: tf.Tensor) -> tf.Tensor:
        with tf.init_scope():
            tf.Variable(1.0, name="w")
        return i + 1

    with tf.name_scope("s"):
        branches()
    tf.cond(p, named, lambda: tf.constant(2.0))
    tf.case([(p, variable)], default=lambda: tf.constant(1.0))
    tf.while_loop(lambda i: i < 3, step, [0])
    tf.cond(p, branches, variable)
    with tf.variable_scope("vs"):
        tf.cond(p, variable, variable)
    assert [v.op.name for v in tf.global_variables()] == [
        "s/cond/Variable",
        "kept",
        "case/cond/Variable",
        "while/w",
        "cond_1/cond/Variable",
        "cond_1/Variable",
        "vs/cond/Variable",
        "vs/cond/Variable_1",
    ]
