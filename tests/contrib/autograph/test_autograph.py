"""`tf.contrib.autograph`: operators called by hand, and its utilities."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

import tensorloom as tf

ag = tf.contrib.autograph


@pytest.fixture(autouse=True)
def session() -> Iterator[tf.Session]:
    with tf.Graph().as_default(), tf.Session() as sess:
        yield sess


def test_copies_of_tensors(session: tf.Session) -> None:
    x = tf.constant(3)
    assert ag.utils.alias_tensors(5) == 5
    copied, plain = ag.utils.alias_tensors(x, "x")
    assert (copied.op.type, plain) == ("Identity", "x")
    with pytest.raises(ValueError, match="at least one argument"):
        ag.utils.alias_tensors()
    assert ag.utils.is_tensor("x", x)
    assert not ag.utils.is_tensor("x", 3)


def test_what_waits_for_returns() -> None:
    x = tf.constant(3)
    array = tf.TensorArray(tf.int32, 1)
    with ag.utils.control_dependency_on_returns([x, array]):
        y = tf.no_op()
    assert [op.name for op in y.control_inputs] == [x.op.name, array.flow.op.name]
    with ag.utils.control_dependency_on_returns(None):
        assert not tf.no_op().control_inputs


def test_lists_grow(session: tf.Session) -> None:
    append = ag.utils.dynamic_list_append
    assert append([1], 2) == [1, 2]
    array = append(append(tf.TensorArray(tf.int32, 0, True), 1), 2)
    assert session.run(array.stack()).tolist() == [1, 2]
    assert session.run(ag.stack(array)).tolist() == [1, 2]
    assert ag.stack([1], strict=False) == [1]
    with pytest.raises(ValueError, match="must be stackable"):
        ag.stack([1])


def test_python_functions(session: tf.Session) -> None:
    def add(x: Any, y: Any, scale: Any = 1) -> Any:
        return (x + y) * scale

    wrap = ag.utils.wrap_py_func
    made = wrap(add, tf.int32, (tf.constant(1), 2), {"scale": tf.constant(3)})
    assert session.run(made) == 9
    seen: list[int] = []
    dummy = wrap(
        lambda x: seen.append(int(x.numpy())),
        None,
        [tf.constant(4)],
        use_dummy_return=True,
    )
    assert (session.run(dummy), seen) == (1, [4])
    with pytest.raises(ValueError, match="return_dtypes must be empty"):
        wrap(add, tf.int32, (1, 2), use_dummy_return=True)


def test_operators_by_hand(session: tf.Session) -> None:
    operators = ag.operators
    n = tf.constant(4)
    result = operators.while_stmt(
        lambda i, s: i < n,
        lambda i, s: (i + 1, s + i),
        tuple,
        lambda _: None,
        (0, 0),
    )
    assert session.run(result) == (4, 6)
    total = operators.for_stmt(
        tf.constant([1, 2, 3]), None, lambda x, s: (s + x,), tuple, lambda _: None, (0,)
    )
    assert session.run(total) == (6,)
    chosen = operators.if_stmt(n > 3, lambda: 1, lambda: 2, tuple, lambda _: None)
    assert session.run(chosen) == 1
    assert session.run(operators.not_eq(n, 3))
    assert operators.range_(2, 5) == range(2, 5)
    assert session.run(operators.range_(n, 2)).tolist() == []
    assert session.run(operators.float_(tf.constant("2.5"))) == 2.5
    assert operators.len_(tf.zeros([3])) == 3
    with pytest.raises(ValueError, match="len requires a non-scalar tensor"):
        operators.len_(n)
    with pytest.raises(NotImplementedError, match="base 2 not supported"):
        operators.int_(n, 2)


def test_source_maps_and_options() -> None:
    def f(x: Any) -> Any:
        return x + 1

    converted = ag.to_graph(f)
    line = f.__code__.co_firstlineno + 1
    with ag.StackTraceMapper(converted) as mapper:
        found = mapper.get_effective_source_map()
    assert found[__file__, line] == (__file__, line, "f")
    options = ag.ConversionOptions(recursive=True, optional_features=ag.Feature.LISTS)
    assert options.uses(ag.Feature.LISTS)
    assert not options.call_options().uses(ag.Feature.NAME_SCOPES)
    assert options != ag.ConversionOptions()
    assert set(ag.Feature.all_but(ag.Feature.LISTS)).isdisjoint(
        {ag.Feature.LISTS, ag.Feature.ALL}
    )
    assert ag.utils.fake_tf().reduce_sum is tf.reduce_sum


def test_methods_are_decorated(session: tf.Session) -> None:
    class Model:
        limit = 3

        @ag.convert(recursive=True)
        def clipped(self, x: Any) -> Any:
            if x > self.limit:
                return self.largest()
            return x

        def largest(self) -> Any:
            return self.limit if self.limit > 0 else -self.limit

    assert session.run(Model().clipped(tf.constant(9))) == 3
