"""Optimizers outside the graph: SciPy's minimize a loss over all variables at once."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tensorloom.client.gradients.gradients import gradients
from tensorloom.client.program.program_log import info
from tensorloom.client.variables.variable_lists import trainable_variables
from tensorloom.framework.export import export
from tensorloom.framework.runtime.default_stack import get_default_session
from tensorloom.ops.array.concat import concat
from tensorloom.ops.array.fill import zeros_like
from tensorloom.ops.array.placeholder import placeholder as placeholder_op
from tensorloom.ops.array.reshape import reshape


def _sizes(variable: Any) -> tuple[int, ...]:
    return tuple(variable.shape.as_list())


def _packed(tensors: Sequence[Any]) -> Any:
    """All elements of all tensors in a vector."""
    if not tensors:
        return None
    flat = [reshape(tensor, [-1]) for tensor in tensors]
    return flat[0] if len(flat) == 1 else concat(flat, 0)


def _slopes(tensor: Any, variables: Sequence[Any]) -> Any:
    """The gradients by the variables in a vector, zeros where there is none."""
    grads = gradients(tensor, variables)
    pairs = zip(grads, variables, strict=True)
    return _packed([zeros_like(var) if g is None else g for g, var in pairs])


@export("contrib.opt.ExternalOptimizerInterface")
class ExternalOptimizerInterface:
    """Base of optimizers that work on a vector in Python; see `_minimize`.

    Args:
      loss: a scalar to minimize.
      var_list: what to change; the trainable variables when None.
      equalities: tensors that must be 0.
      inequalities: tensors that must not be negative.
      var_to_bounds: for variables a pair of bounds, numbers or arrays.
      **optimizer_kwargs: for the optimizer.
    """

    def __init__(
        self,
        loss: Any,
        var_list: Any = None,
        equalities: Any = None,
        inequalities: Any = None,
        var_to_bounds: Any = None,
        **optimizer_kwargs: Any,
    ) -> None:
        self._loss = loss
        self._equalities = equalities or []
        self._inequalities = inequalities or []
        self._vars = trainable_variables() if var_list is None else list(var_list)
        self._packed_bounds = self._pack_bounds(var_to_bounds)
        self._update_placeholders = [placeholder_op(var.dtype) for var in self._vars]
        self._var_updates = [
            var.assign(reshape(placeholder, _sizes(var)))
            for var, placeholder in zip(
                self._vars, self._update_placeholders, strict=True
            )
        ]
        self.optimizer_kwargs = optimizer_kwargs
        self._packed_loss_grad = _slopes(loss, self._vars)
        self._packed_equality_grads = [
            _slopes(one, self._vars) for one in self._equalities
        ]
        self._packed_inequality_grads = [
            _slopes(one, self._vars) for one in self._inequalities
        ]
        self._packed_var = _packed(self._vars)
        counts = [math.prod(_sizes(var)) for var in self._vars]
        ends = itertools.pairwise(itertools.accumulate(counts, initial=0))
        self._packing_slices = [slice(start, end) for start, end in ends]

    def _pack_bounds(self, var_to_bounds: Any) -> list[tuple[Any, Any]] | None:
        if var_to_bounds is None:
            return None
        packed: list[tuple[Any, Any]] = []
        for var in self._vars:
            low, high = var_to_bounds.get(var, (-np.inf, np.inf))
            sizes = _sizes(var)
            lows, highs = np.broadcast_to(low, sizes), np.broadcast_to(high, sizes)
            packed.extend(zip(lows.flat, highs.flat, strict=True))
        return packed

    def minimize(
        self,
        session: Any = None,
        feed_dict: Any = None,
        fetches: Any = None,
        step_callback: Callable[..., Any] | None = None,
        loss_callback: Callable[..., Any] | None = None,
        **run_kwargs: Any,
    ) -> None:
        """Minimizes the loss, and leaves what was found in the variables.

        Args:
          session: the default session when None.
          feed_dict: for each evaluation.
          fetches: what else to evaluate, for `loss_callback`.
          step_callback: called with the vector after each step.
          loss_callback: called with the fetched values after each evaluation.
          **run_kwargs: for the last `session.run`.
        """
        session = session or get_default_session()
        feeds, fetches = feed_dict or {}, fetches or []

        def evaluate(tensor: Any) -> Callable[[Any], Any]:
            return self._evaluation([tensor], session, feeds, fetches, None)

        found = self._minimize(
            initial_val=session.run(self._packed_var),
            loss_grad_func=self._evaluation(
                [self._loss, self._packed_loss_grad],
                session,
                feeds,
                fetches,
                loss_callback,
            ),
            equality_funcs=[evaluate(one) for one in self._equalities],
            equality_grad_funcs=[evaluate(one) for one in self._packed_equality_grads],
            inequality_funcs=[evaluate(one) for one in self._inequalities],
            inequality_grad_funcs=[
                evaluate(one) for one in self._packed_inequality_grads
            ],
            packed_bounds=self._packed_bounds,
            step_callback=step_callback or (lambda xk: None),
            optimizer_kwargs=self.optimizer_kwargs,
        )
        parts = [found[part] for part in self._packing_slices]
        session.run(
            self._var_updates,
            feed_dict=dict(zip(self._update_placeholders, parts, strict=True)),
            **run_kwargs,
        )

    def _evaluation(
        self,
        tensors: list[Any],
        session: Any,
        feeds: Any,
        fetches: Any,
        callback: Callable[..., Any] | None,
    ) -> Callable[[Any], Any]:
        """A function from the vector to the values of tensors, in a list."""

        def values(x: Any) -> Any:
            fed = {
                var: x[part].reshape(_sizes(var))
                for var, part in zip(self._vars, self._packing_slices, strict=True)
            }
            got = session.run([*tensors, *fetches], feed_dict={**fed, **feeds})
            if callback is not None:
                callback(*got[len(tensors) :])
            return got[: len(tensors)]

        return values

    def _minimize(
        self,
        initial_val: Any,
        loss_grad_func: Callable[[Any], Any],
        equality_funcs: Sequence[Callable[[Any], Any]],
        equality_grad_funcs: Sequence[Callable[[Any], Any]],
        inequality_funcs: Sequence[Callable[[Any], Any]],
        inequality_grad_funcs: Sequence[Callable[[Any], Any]],
        packed_bounds: Any,
        step_callback: Callable[..., Any],
        optimizer_kwargs: dict[str, Any],
    ) -> Any:
        """From a first vector the best one; a subclass says how."""
        raise NotImplementedError(
            "To use ExternalOptimizerInterface, subclass from it and implement the "
            "_minimize() method."
        )


@export("contrib.opt.ScipyOptimizerInterface")
class ScipyOptimizerInterface(ExternalOptimizerInterface):
    """Minimizes with `scipy.optimize.minimize`.

    Its keyword arguments are this class's: `method` ("L-BFGS-B" when it is not given),
    `options`, `tol` and others.
    """

    _DEFAULT_METHOD = "L-BFGS-B"

    def _minimize(
        self,
        initial_val: Any,
        loss_grad_func: Callable[[Any], Any],
        equality_funcs: Sequence[Callable[[Any], Any]],
        equality_grad_funcs: Sequence[Callable[[Any], Any]],
        inequality_funcs: Sequence[Callable[[Any], Any]],
        inequality_grad_funcs: Sequence[Callable[[Any], Any]],
        packed_bounds: Any,
        step_callback: Callable[..., Any],
        optimizer_kwargs: dict[str, Any],
    ) -> Any:
        import scipy.optimize  # type: ignore[import-untyped]

        def loss_and_slope(x: Any) -> tuple[Any, Any]:
            loss, slope = loss_grad_func(x)
            # SciPy wants doubles, and a loss without dimensions.
            return np.float64(loss.item()), slope.astype("float64")

        given = dict(optimizer_kwargs)
        arguments = {
            "jac": True,
            "callback": step_callback,
            "method": given.pop("method", self._DEFAULT_METHOD),
            "constraints": [
                *_constraints("eq", equality_funcs, equality_grad_funcs),
                *_constraints("ineq", inequality_funcs, inequality_grad_funcs),
            ],
            "bounds": packed_bounds,
        }
        # The C code of these takes doubles. The others go on in the variables' dtype.
        is_c = str(arguments["method"]).lower() in ("slsqp", "tnc")
        start = initial_val.astype("float64") if is_c else initial_val
        for name in arguments:
            if name in given:
                if name == "bounds":
                    raise ValueError(
                        "Bounds must be set using the var_to_bounds argument"
                    )
                raise ValueError(
                    f"Optimizer keyword arg '{name}' is set automatically and cannot "
                    "be injected manually"
                )
        result = scipy.optimize.minimize(loss_and_slope, start, **arguments, **given)
        lines = [
            "Optimization terminated with:",
            f"  Message: {result.message}",
            f"  Objective function value: {result.fun:f}",
        ]
        if hasattr(result, "nit"):
            lines.append(f"  Number of iterations: {result.nit}")
        if hasattr(result, "nfev"):
            lines.append(f"  Number of functions evaluations: {result.nfev}")
        info("\n".join(lines))
        return result["x"]


def _constraints(
    kind: str,
    functions: Sequence[Callable[[Any], Any]],
    slopes: Sequence[Callable[[Any], Any]],
) -> list[dict[str, Any]]:
    """Constraints of one kind, as SciPy takes them."""

    def number(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
        return lambda x: np.asarray(function(x)[0], "float64")

    return [
        {"type": kind, "fun": number(function), "jac": number(slope)}
        for function, slope in zip(functions, slopes, strict=True)
    ]
