"""`for` over datasets and their iterators."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tensorloom.autograph.operators.loop_checks import (
    Names,
    check_same_after_iteration,
)
from tensorloom.autograph.operators.while_stmt import tf_while_stmt
from tensorloom.client.control_flow.cond import cond
from tensorloom.data.experimental import take_while
from tensorloom.data.experimental_nesting import scan
from tensorloom.data.optional import get_next_as_optional
from tensorloom.ops.array.constant import constant

if TYPE_CHECKING:
    from tensorloom.autograph.operators.if_stmt import GetState, SetState


@dataclass(frozen=True)
class Loop:
    """The arguments of `for_stmt` but for what is gone through."""

    extra_test: Callable[..., Any] | None
    body: Callable[..., Any]
    get_state: GetState
    set_state: SetState
    init_vars: tuple[Any, ...]
    names: Names
    composite_names: Names

    @property
    def all_names(self) -> Names:
        """Of the variables and the state; None if they are not known."""
        if self.names is None:
            return None
        return (*self.names, *(self.composite_names or ()))

    def step(self, element: Any, carried: tuple[Any, ...]) -> tuple[Any, ...]:
        """Variables and state after an iteration, from those before it."""
        variables = carried[: len(self.init_vars)]
        self.set_state(carried[len(self.init_vars) :])
        after = (*(self.body(element, *variables) or ()), *self.get_state())
        check_same_after_iteration(carried, after, self.all_names, shapes=False)
        return after

    def finish(self, carried: tuple[Any, ...]) -> tuple[Any, ...]:
        """Sets the state; gives the variables."""
        self.set_state(carried[len(self.init_vars) :])
        return tuple(carried[: len(self.init_vars)])


def over_dataset(dataset: Any, loop: Loop) -> tuple[Any, ...]:
    """A reduction; with a second condition, of a scan as long as that is true."""
    start = (*loop.init_vars, *loop.get_state())
    if loop.extra_test is not None:
        return loop.finish(_reduced_until(dataset, loop, start))
    if not start:
        # A reduction has a state, even if nobody uses it.
        dataset.reduce((constant(0),), lambda zero, x: (loop.step(x, ()), zero)[1])
        return ()
    return loop.finish(dataset.reduce(start, lambda carried, x: loop.step(x, carried)))


def _reduced_until(dataset: Any, loop: Loop, start: tuple[Any, ...]) -> Any:
    extra_test = loop.extra_test
    assert extra_test is not None

    def step(carried: Any, element: Any) -> Any:
        goes_on = extra_test(*carried[: len(loop.init_vars)])
        after = cond(
            goes_on, lambda: loop.step(element, carried), lambda: carried, strict=True
        )
        return after, (*after, goes_on)

    steps = dataset.apply(scan(start, step)).apply(
        take_while(lambda *result: result[-1])
    )
    return steps.reduce(start, lambda _, result: result[:-1])


def over_iterator(iterator: Any, loop: Loop) -> tuple[Any, ...]:
    """A loop that takes the next element, if there is one."""

    def test(has_next: Any, *variables: Any) -> Any:
        extra_test = loop.extra_test
        if extra_test is None:
            return has_next
        return cond(has_next, lambda: extra_test(*variables), lambda: False)

    def body(_: Any, *variables: Any) -> Any:
        element = get_next_as_optional(iterator)

        def run() -> Any:
            after = loop.body(element.get_value(), *variables) or ()
            check_same_after_iteration(variables, after, loop.names)
            return (0, *after)

        has_value = element.has_value()
        after = cond(has_value, run, lambda: (0, *variables))
        return (has_value, *after[1:])

    result = tf_while_stmt(
        test,
        body,
        loop.get_state,
        loop.set_state,
        (True, *loop.init_vars),
        None,
        None,
        None,
    )
    return result[1:]
