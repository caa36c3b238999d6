"""Whether a `model_fn` can be called, and what it gives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from tensorloom.client.program import program_log
from tensorloom.estimator.function_arguments import argument_names, chosen_arguments
from tensorloom.estimator.spec import EstimatorSpec

_ARGUMENTS: Final = {"features", "labels", "mode", "params", "self", "config"}


def verify_model_fn_args(model_fn: Callable[..., Any], params: Any) -> None:
    """Checks the arguments of a `model_fn`.

    Raises:
      ValueError: one is missing, or unknown.
    """
    names = set(argument_names(model_fn))
    if "features" not in names:
        raise ValueError(f"model_fn ({model_fn}) must include features argument.")
    if params is not None and "params" not in names:
        raise ValueError(
            f"model_fn ({model_fn}) does not include params argument, but params "
            f"({params}) is passed to Estimator."
        )
    if params is None and "params" in names:
        program_log.warning(
            "Estimator's model_fn (%s) includes params argument, but params are not "
            "passed to Estimator.",
            model_fn,
        )
    unknown = sorted(names - _ARGUMENTS)
    if unknown:
        raise ValueError(
            f"model_fn ({model_fn}) has following not expected args: {unknown}"
        )


def call_model_fn(
    model_fn: Callable[..., Any],
    features: Any,
    labels: Any,
    mode: str,
    params: Any,
    config: Any,
) -> EstimatorSpec:
    """The specification that a `model_fn` gives for a mode.

    Raises:
      ValueError: it takes no labels and there are some, or it returns something else.
    """
    if labels is not None and "labels" not in argument_names(model_fn):
        raise ValueError("model_fn does not take labels, but input_fn returns labels.")
    options = {"labels": labels, "mode": mode, "params": params, "config": config}
    program_log.info("Calling model_fn.")
    spec = model_fn(features=features, **chosen_arguments(model_fn, options))
    program_log.info("Done calling model_fn.")
    if not isinstance(spec, EstimatorSpec):
        raise ValueError(
            "model_fn should return an EstimatorSpec. "
            f"{getattr(model_fn, '__name__', model_fn)} returned {type(spec).__name__} "
            f"in mode '{mode}'."
        )
    return spec
