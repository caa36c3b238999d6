"""`for`, over tensors, ranges, datasets and iterators too."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tensorloom.autograph.operators import dataset_loops
from tensorloom.autograph.operators.kinds import is_range_tensor
from tensorloom.autograph.operators.loop_checks import (
    Names,
    check_defined_before_loop,
)
from tensorloom.autograph.operators.python_builtins import len_
from tensorloom.autograph.operators.while_stmt import tf_while_stmt
from tensorloom.client.control_flow.cond import cond
from tensorloom.data.dataset_classes import is_dataset
from tensorloom.data.iterators import Iterator
from tensorloom.framework.graph.tensor import is_tensor
from tensorloom.framework.types.constant_value import constant_value
from tensorloom.ops.lists.tensor_array import TensorArray
from tensorloom.ops.math.comparison import logical_and, logical_or

if TYPE_CHECKING:
    from tensorloom.autograph.operators.if_stmt import GetState, SetState

Test = Callable[..., Any] | None


def for_stmt(
    iter_: Any,
    extra_test: Test,
    body: Callable[..., Any],
    get_state: GetState,
    set_state: SetState,
    init_vars: tuple[Any, ...],
    basic_symbol_names: Names = None,
    composite_symbol_names: Names = None,
) -> Any:
    """Runs `body` for each element; as a loop of the graph for what the graph has.

    Args:
      iter_: a tensor (its rows), a range of `tf.range`, a dataset, an iterator of one,
        or anything that Python goes through.
      extra_test: gets the variables, says whether to go on; or None.
      body: gets an element and the variables, gives a tuple of their next values.
      get_state: gives the attributes, elements and outer names that the body assigns.
      set_state: sets them.
      init_vars: the variables before the loop.
      basic_symbol_names, composite_symbol_names: of the variables, and of what
        `get_state` gives, for messages.

    Returns:
      The variables after the loop.

    Raises:
      ValueError, TypeError: as `while_stmt`.
    """
    loop = dataset_loops.Loop(
        extra_test,
        body,
        get_state,
        set_state,
        init_vars,
        basic_symbol_names,
        composite_symbol_names,
    )
    if is_tensor(iter_):
        check_defined_before_loop(init_vars)
        over = _over_range if is_range_tensor(iter_) else _over_rows
        return over(iter_, loop)
    if is_dataset(iter_):
        check_defined_before_loop(init_vars)
        return dataset_loops.over_dataset(iter_, loop)
    if isinstance(iter_, Iterator):
        check_defined_before_loop(init_vars)
        return dataset_loops.over_iterator(iter_, loop)
    handler = getattr(iter_, "_autograph_for_loop", None)
    if handler is not None:
        check_defined_before_loop(init_vars)
        return handler(extra_test, body, init_vars)
    return _python_for(iter_, extra_test, body, init_vars)


def _python_for(
    elements: Any, extra_test: Test, body: Callable[..., Any], variables: Any
) -> Any:
    if extra_test is None:
        for element in elements:
            variables = body(element, *variables)
        return variables
    # As after `break`, nothing more is taken from a generator.
    goes_on = extra_test(*variables)
    if goes_on:
        for element in elements:
            variables = body(element, *variables)
            if not extra_test(*variables):
                break
    return variables


@dataclass(frozen=True)
class _Counted:
    """A loop with a variable of its own before the others."""

    loop: dataset_loops.Loop
    in_bounds: Callable[[Any], Any]
    element: Callable[[Any], Any]
    following: Callable[[Any], Any]

    def run(self, start: Any) -> Any:
        """The variables after the loop."""
        loop = self.loop

        def test(counter: Any, *variables: Any) -> Any:
            inside = self.in_bounds(counter)
            extra_test = loop.extra_test
            if extra_test is None:
                return inside
            return cond(inside, lambda: extra_test(*variables), lambda: False)

        def body(counter: Any, *variables: Any) -> Any:
            after = loop.body(self.element(counter), *variables) or ()
            return (self.following(counter), *after)

        result = tf_while_stmt(
            test,
            body,
            loop.get_state,
            loop.set_state,
            (start, *loop.init_vars),
            None if loop.names is None else (None, *loop.names),
            loop.composite_names,
            None,
        )
        return result[1:]


def _over_rows(tensor: Any, loop: dataset_loops.Loop) -> Any:
    count = len_(tensor)
    # An array's elements have a cheaper gradient than slices of a tensor.
    rows = TensorArray(tensor.dtype, size=count).unstack(tensor)
    return _Counted(
        loop,
        in_bounds=lambda index: index < count,
        element=rows.read,
        following=lambda index: index + 1,
    ).run(0)


def _over_range(tensor: Any, loop: dataset_loops.Loop) -> Any:
    """A range is not made: its counter is the element."""
    start, limit, delta = tensor.op.inputs
    step = constant_value(delta)

    def in_bounds(value: Any) -> Any:
        if step is None:
            return logical_or(
                logical_and(delta >= 0, value < limit),
                logical_and(delta < 0, value > limit),
            )
        return value < limit if step >= 0 else value > limit

    return _Counted(
        loop,
        in_bounds=in_bounds,
        element=lambda value: value,
        following=lambda value: value + delta,
    ).run(start)
