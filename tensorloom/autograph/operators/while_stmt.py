"""`while`, of tensors too."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from tensorloom.autograph import logs
from tensorloom.autograph.operators.kinds import is_dense_tensor
from tensorloom.autograph.operators.loop_checks import (
    Names,
    check_defined_before_loop,
    check_same_after_iteration,
)
from tensorloom.client.control_flow.while_loop import while_loop
from tensorloom.client.functions.func_graph import FuncGraph
from tensorloom.framework.graph.default_graph import get_default_graph

if TYPE_CHECKING:
    from tensorloom.autograph.operators.if_stmt import GetState, SetState

# After these many iterations a Python loop is asked whether it makes operations.
_MANY_ITERATIONS: Final = 3000
_ITERATIONS_WATCHED: Final = 4
_MOST_ITERATIONS: Final = 100_000_000


def while_stmt(
    test: Callable[..., Any],
    body: Callable[..., Any],
    get_state: GetState,
    set_state: SetState,
    init_vars: tuple[Any, ...],
    basic_symbol_names: Names = None,
    composite_symbol_names: Names = None,
    opts: dict[str, Any] | None = None,
) -> tuple[Any, ...]:
    """Runs `body` while `test` is true; as `tf.while_loop` if that is a tensor.

    Args:
      test: gets the variables, gives the condition.
      body: gets the variables, gives a tuple of their next values.
      get_state: gives the attributes, elements and outer names that the body assigns.
      set_state: sets them.
      init_vars: the variables before the loop.
      basic_symbol_names, composite_symbol_names: of the variables, and of what
        `get_state` gives, for messages.
      opts: more arguments of `tf.while_loop`.

    Returns:
      The variables after the loop.

    Raises:
      ValueError: a variable of `tf.while_loop` has no value before it, changes its
        shape, or is what the function returns.
      TypeError: a variable of `tf.while_loop` changes its structure or dtype.
    """
    # What the condition is says which loop it is. It is asked in a graph of its own, so
    # that a condition which is a tensor leaves nothing in this one.
    with FuncGraph("tmp").as_default():
        first = test(*init_vars)
    if is_dense_tensor(first):
        return tf_while_stmt(
            test,
            body,
            get_state,
            set_state,
            init_vars,
            basic_symbol_names,
            composite_symbol_names,
            opts,
        )
    return _python_while(first, test, body, init_vars)


def tf_while_stmt(
    test: Callable[..., Any],
    body: Callable[..., Any],
    get_state: GetState,
    set_state: SetState,
    init_vars: tuple[Any, ...],
    basic_symbol_names: Names,
    composite_symbol_names: Names,
    opts: dict[str, Any] | None,
) -> tuple[Any, ...]:
    """The loop as `tf.while_loop`, with the state among its variables."""
    check_defined_before_loop(init_vars)
    count = len(init_vars)
    names: Names = None
    if basic_symbol_names is not None:
        names = (*basic_symbol_names, *(composite_symbol_names or ()))

    def loop_test(*variables: Any) -> Any:
        set_state(variables[count:])
        return test(*variables[:count])

    def loop_body(*variables: Any) -> Any:
        set_state(variables[count:])
        after = (*(body(*variables[:count]) or ()), *get_state())
        check_same_after_iteration(variables, after, names)
        return after

    options = {**(opts or {}), "return_same_structure": True}
    before = (*init_vars, *get_state())
    if not before:  # a loop for its effects alone
        while_loop(lambda _: test(), lambda n: (body(), n)[1:], (0,), **options)
        return ()
    result = while_loop(loop_test, loop_body, before, **options)
    set_state(result[count:])
    return tuple(result[:count])


def _python_while(
    goes_on: Any,
    test: Callable[..., Any],
    body: Callable[..., Any],
    variables: tuple[Any, ...],
) -> tuple[Any, ...]:
    iterations = 0
    watch: _OperationWatch | None = None
    while goes_on:
        if iterations == _MANY_ITERATIONS:
            watch = _OperationWatch()
        variables = body(*variables)
        iterations += 1
        if watch is not None and watch.is_over(iterations):
            watch = None
        if iterations > _MOST_ITERATIONS:
            raise ValueError("iteration limit exceeded")
        goes_on = test(*variables)
    return variables


class _OperationWatch:
    """Looks for operations that a few iterations of a long Python loop make."""

    def __init__(self) -> None:
        self._graph = get_default_graph()
        self._before = len(self._graph.get_operations())

    def is_over(self, iterations: int) -> bool:
        """Whether it has warned, or seen enough."""
        made = self._graph.get_operations()[self._before :]
        if made:
            logs.warn(
                "TensorFlow ops are being created in a Python loop with large number "
                "of iterations. This can lead to slow startup. Did you mean to use a "
                "TensorFlow loop? For example, `while True:` is a Python loop, and "
                "`while tf.constant(True):` is a TensorFlow loop. The following ops "
                "were created after iteration %s: %s",
                iterations,
                made,
            )
        return bool(made) or iterations >= _MANY_ITERATIONS + _ITERATIONS_WATCHED
