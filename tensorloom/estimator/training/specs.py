"""`tf.estimator.TrainSpec` and `EvalSpec`: the parts of `train_and_evaluate`."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from tensorloom.estimator.estimator_base import check_steps
from tensorloom.estimator.export.exporter import Exporter
from tensorloom.framework.export import export
from tensorloom.train.hooks.session_run_hook import SessionRunHook


class _TrainSpec(NamedTuple):
    input_fn: Callable[..., Any]
    max_steps: int | None
    hooks: tuple[Any, ...]


@export("estimator.TrainSpec")
class TrainSpec(_TrainSpec):
    """How a model is trained.

    Args:
      input_fn: gives a dataset of (features, labels), or those as tensors.
      max_steps: the step at which the training ends; it never does when None.
      hooks: hooks of all tasks that train.

    Raises:
      ValueError: `max_steps` is not positive.
      TypeError: `input_fn` is no function, or a hook is something else.
    """

    __slots__ = ()

    def __new__(
        cls,
        input_fn: Callable[..., Any],
        max_steps: int | None = None,
        hooks: Iterable[Any] | None = None,
    ) -> TrainSpec:
        _check_input_fn(input_fn)
        check_steps("max_steps", max_steps)
        return super().__new__(cls, input_fn, max_steps, check_spec_hooks(hooks))


class _EvalSpec(NamedTuple):
    input_fn: Callable[..., Any]
    steps: int | None
    name: str | None
    hooks: tuple[Any, ...]
    exporters: tuple[Exporter, ...]
    start_delay_secs: float
    throttle_secs: float


@export("estimator.EvalSpec")
class EvalSpec(_EvalSpec):
    """How a model is evaluated and exported.

    Args:
      input_fn: gives a dataset of (features, labels), or those as tensors.
      steps: how many batches; until the input ends when None.
      name: of the evaluation, where there are several: its events are apart.
      hooks: hooks of the evaluation's session.
      exporters: one or several, called after each evaluation.
      start_delay_secs: seconds before an evaluator begins.
      throttle_secs: seconds between the beginnings of two evaluations, at least.

    Raises:
      ValueError: a number is negative, or exporters have no names or the same.
      TypeError: an argument is of another kind.
    """

    __slots__ = ()

    def __new__(
        cls,
        input_fn: Callable[..., Any],
        steps: int | None = 100,
        name: str | None = None,
        hooks: Iterable[Any] | None = None,
        exporters: Any = None,
        start_delay_secs: float = 120,
        throttle_secs: float = 600,
    ) -> EvalSpec:
        _check_input_fn(input_fn)
        check_steps("steps", steps)
        if name is not None and not isinstance(name, str):
            raise TypeError(f"`name` must be string, given: {name}")
        hooks = check_spec_hooks(hooks)
        exporters = _check_exporters(exporters)
        for what, seconds in (
            ("start_delay_secs", start_delay_secs),
            ("throttle_secs", throttle_secs),
        ):
            if seconds < 0:
                raise ValueError(f"Must specify {what} >= 0, given: {seconds}")
        return super().__new__(
            cls,
            input_fn,
            steps,
            name,
            hooks,
            exporters,
            start_delay_secs,
            throttle_secs,
        )


def check_spec_hooks(hooks: Iterable[Any] | None) -> tuple[Any, ...]:
    """Hooks as a tuple.

    Raises:
      TypeError: one is something else.
    """
    hooks = tuple(hooks or ())
    for hook in hooks:
        if not isinstance(hook, SessionRunHook):
            raise TypeError(
                f"All hooks must be `SessionRunHook` instances, given: {hook}"
            )
    return hooks


def check_eval_spec(eval_spec: Any) -> None:
    """Raises TypeError if it is no `EvalSpec`."""
    if not isinstance(eval_spec, EvalSpec):
        raise TypeError(
            "`eval_spec` must have type `tf.estimator.EvalSpec`. Got: "
            f"{type(eval_spec)}"
        )


def _check_input_fn(input_fn: Any) -> None:
    if not callable(input_fn):
        raise TypeError(f"`input_fn` must be callable, given: {input_fn}")


def _check_exporters(exporters: Any) -> tuple[Exporter, ...]:
    """Exporters as a tuple; their names are different texts."""
    if not exporters:
        return ()
    if isinstance(exporters, Exporter):
        exporters = [exporters]
    found = exporters
    try:
        exporters = tuple(found)
    except TypeError:
        exporters = (None,)
    if not all(isinstance(exporter, Exporter) for exporter in exporters):
        raise TypeError(
            "`exporters` must be an Exporter, an iterable of Exporter, or `None`, "
            f"found {found}."
        )
    checked: tuple[Exporter, ...] = exporters
    names: list[Any] = [exporter.name for exporter in checked]
    for name in names:
        if not name:
            raise ValueError(
                "An Exporter cannot have a name that is `None` or empty. All exporter "
                f"names: {names}"
            )
        if not isinstance(name, str):
            raise ValueError(
                f"An Exporter must have a string name. Given: {type(name)}"
            )
        if names.count(name) > 1:
            raise ValueError(
                "`exporters` must have unique names. Such a name cannot be `None`. All "
                f"exporter names: {names}"
            )
    return checked
