"""A variable's value that is made when somebody asks for it."""

from __future__ import annotations

import threading

import pytest

from tensorloom.framework.runtime.resource import LegacyVariable, Variable
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.tensor_shape import TensorShape

_KINDS = pytest.mark.parametrize("kind", [Variable, LegacyVariable])


def _variable(kind: type[Variable]) -> tuple[Variable, list[int]]:
    variable = kind("localhost", "v", dtypes.float32, TensorShape([]))
    made: list[int] = []

    def make() -> int:
        made.append(1)
        return 5

    with variable.lock:
        variable.set_later(make)
    return variable, made


@_KINDS
def test_made_once(kind: type[Variable]) -> None:
    variable, made = _variable(kind)
    assert isinstance(variable, kind)
    assert made == []
    assert (variable.value, variable.value_between_updates(), made) == (5, 5, [1])
    assert type(variable) is kind
    variable.value = 6
    assert vars(variable)["value"] == 6


@_KINDS
def test_never_made_when_another_is_assigned(kind: type[Variable]) -> None:
    variable, made = _variable(kind)
    variable.value = 7
    assert (variable.value, made, type(variable)) == (7, [], kind)


def test_another_value_later() -> None:
    variable, made = _variable(Variable)
    with variable.lock:
        variable.set_later(lambda: 8)
    assert (variable.value, made) == (8, [])


def test_what_fails_is_tried_again() -> None:
    variable, _ = _variable(Variable)
    outcomes = iter([MemoryError, None])

    def make() -> int:
        error = next(outcomes)
        if error is not None:
            raise error
        return 9

    with variable.lock:
        variable.set_later(make)
    with pytest.raises(MemoryError):
        variable.value_between_updates()
    assert variable.value == 9


def test_readers_of_several_threads() -> None:
    variable, made = _variable(Variable)
    found: list[int] = []
    threads = [
        threading.Thread(target=lambda: found.append(variable.value)) for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (found, made) == ([5] * 8, [1])
