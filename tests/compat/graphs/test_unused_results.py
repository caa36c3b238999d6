"""Results that a program should use, and registries that libraries keep."""

from __future__ import annotations

import gc
from typing import TYPE_CHECKING, Any

import pytest

import tensorloom as tf
from tensorloom.compat.graphs import unused_results
from tensorloom.compat.internals.named_registry import Registry

if TYPE_CHECKING:
    from collections.abc import Callable


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str]]:
    """What was logged: (level, message)."""
    found: list[tuple[str, str]] = []
    for level in ("error", "fatal"):
        monkeypatch.setattr(
            unused_results.tf_logging,
            level,
            lambda message, level=level: found.append((level, message)),
        )
    return found


@pytest.mark.parametrize(
    ("decorator", "level"),
    [
        (unused_results.should_use_result, "error"),
        (unused_results.must_use_result_or_fatal, "fatal"),
    ],
)
def test_a_result_that_nothing_uses_is_told(
    told: list[tuple[str, str]], decorator: Any, level: str
) -> None:
    make = decorator(lambda: tf.constant(0.0, name="unused"))
    with tf.Graph().as_default():
        make()
        gc.collect()
    ((seen, message),) = told
    assert seen == level
    assert "Object was never used" in message
    assert "unused:0" in message
    assert "test_a_result_that_nothing_uses_is_told" in message


@pytest.mark.parametrize(
    "use", [lambda x: x + 1.0, lambda x: x.name, lambda x: x.mark_used()]
)
def test_any_use_is_enough(
    told: list[tuple[str, str]], use: Callable[[Any], Any]
) -> None:
    make = unused_results.should_use_result(lambda: tf.constant(0.0))
    with tf.Graph().as_default():
        made = make()
        assert isinstance(made, tf.Tensor)
        use(made)
        del made
        gc.collect()
    assert told == []


def test_nothing_is_no_result_to_use(told: list[tuple[str, str]]) -> None:
    assert unused_results._add_should_use_warning(None) is None
    assert unused_results._add_should_use_warning([]) == []
    with tf.Graph().as_default():

        @tf.function
        def body() -> Any:
            unused_results._add_should_use_warning(tf.constant(1.0))
            return tf.constant(2.0)

        body()
    gc.collect()
    assert told == []


def test_a_registry_keeps_things_by_name() -> None:
    registry = Registry("kind of thing")
    registry.register(len)
    registry.register(min, "least")
    assert sorted(registry.list()) == ["least", "len"]
    assert registry.lookup(b"least") is min
    with pytest.raises(LookupError, match="kind of thing registry has no entry for: x"):
        registry.lookup("x")
    with pytest.raises(KeyError, match=r"Registering two kind of thing .*\.py:\d+"):
        registry.register(max, "least")
