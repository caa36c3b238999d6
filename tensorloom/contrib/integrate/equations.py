"""`odeint` with steps that fit the error, and `odeint_fixed`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from tensorloom.client.control_flow.cond import cond
from tensorloom.client.control_flow.while_loop import while_loop
from tensorloom.contrib.integrate import runge_kutta
from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import control_dependencies, name_scope
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.ops.array.identity import identity
from tensorloom.ops.array.shape import size as size_op
from tensorloom.ops.control_flow.builders import Assert
from tensorloom.ops.lists.tensor_array import TensorArray
from tensorloom.ops.math.binary import maximum, minimum
from tensorloom.ops.math.cast import cast
from tensorloom.ops.math.elementwise import abs as abs_op
from tensorloom.ops.math.elementwise import ceil, is_finite, sqrt, square
from tensorloom.ops.reductions.aggregate import add_n
from tensorloom.ops.reductions.reductions import reduce_all, reduce_mean


class _State(NamedTuple):
    """The last step: where it ended, and the polynomial over it."""

    y1: Any
    f1: Any
    t0: Any
    t1: Any
    dt: Any
    coefficients: Any


class _History(NamedTuple):
    integrate_points: Any
    error_ratio: Any


def _check_types(y0: Any, t: Any, dt: Any = None) -> None:
    if not (y0.dtype.is_floating or y0.dtype.is_complex):
        raise TypeError(
            "`y0` must have a floating point or complex floating point dtype"
        )
    if not t.dtype.is_floating:
        raise TypeError("`t` must have a floating point dtype")
    if dt is not None and not dt.dtype.is_floating:
        raise TypeError("`dt` must have a floating point dtype")


def _increasing(t: Any) -> Any:
    check = Assert(reduce_all(t[1:] > t[:-1]), ["`t` must be monotonic increasing"])
    return control_dependencies([check])


def _times(t: Any, name: str) -> Any:
    return convert_to_tensor(t, preferred_dtype=dtypes.float64, name=name)


@export("contrib.integrate.odeint")
def odeint(
    func: Callable[[Any, Any], Any],
    y0: Any,
    t: Any,
    rtol: float = 1e-6,
    atol: float = 1e-12,
    method: str | None = None,
    options: Any = None,
    full_output: bool = False,
    name: str | None = None,
) -> Any:
    """Solves dy/dt = func(y, t) from y0 at t[0].

    Args:
      func: from y and t to the slope, of the shape of y.
      y0: a tensor of floating point or complex numbers.
      t: increasing times, [n].
      rtol, atol: the error that is allowed, relative and absolute.
      method: "dopri5", the only one.
      options: `first_step`, `safety`, `ifactor`, `dfactor`, `max_num_steps`.
      full_output: give a dict about the steps, too.
      name: of the operations.

    Returns:
      y at the times, [n, ...]; with `full_output` a pair with a dict of
      `num_func_evals`, `integrate_points` and `error_ratio`.

    Raises:
      ValueError: another method, or options without one.
      TypeError: a dtype is not of floating point. (When run, InvalidArgumentError: the
        times do not increase, or the steps become too small or too many.)
    """
    if method is not None and method != "dopri5":
        raise ValueError(f"invalid method: {method!r}")
    if options is not None and method is None:
        raise ValueError("cannot supply `options` without specifying `method`")
    with name_scope(name, "odeint", [y0, t, rtol, atol]) as scope:
        y0 = convert_to_tensor(y0, name="y0")
        t = _times(t, "t")
        _check_types(y0, t)
        real = abs_op(y0).dtype
        relative = convert_to_tensor(rtol, dtype=real, name="rtol")
        absolute = convert_to_tensor(atol, dtype=real, name="atol")
        return _Adaptive(func, t, relative, absolute, **(options or {})).solve(
            y0, full_output, scope
        )


class _Adaptive:
    """Steps whose size follows the error."""

    def __init__(
        self,
        func: Callable[[Any, Any], Any],
        t: Any,
        rtol: Any,
        atol: Any,
        first_step: Any = None,
        safety: float = 0.9,
        ifactor: float = 10.0,
        dfactor: float = 0.2,
        max_num_steps: int = 1000,
    ) -> None:
        self._func, self._t = func, t
        self._rtol, self._atol = rtol, atol
        first = 1.0 if first_step is None else first_step
        self._first = convert_to_tensor(first, dtype=t.dtype, name="first_step")
        self._safety, self._ifactor, self._dfactor = safety, ifactor, dfactor
        self._max_num_steps = max_num_steps

    def solve(self, y0: Any, full_output: bool, name: str) -> Any:
        """y at all times; see `odeint`."""
        t = self._t
        with _increasing(t):
            count = size_op(t)
        history = _History(
            TensorArray(t.dtype, size=0, dynamic_size=True),
            TensorArray(self._rtol.dtype, size=0, dynamic_size=True),
        )
        state = _State(y0, self._func(y0, t[0]), t[0], t[0], self._first, [y0] * 5)

        def next_time(solution: Any, history: Any, state: Any, i: Any) -> Any:
            state, history, _ = while_loop(
                lambda state, *_: t[i] > state.t1,
                self._step,
                (state, history, 0),
                name="integrate_loop",
            )
            y = runge_kutta.evaluated(state.coefficients, state.t0, state.t1, t[i])
            return solution.write(i, y), history, state, i + 1

        solution = TensorArray(y0.dtype, size=count).write(0, y0)
        solution, history, _, _ = while_loop(
            lambda *loop: loop[3] < count,
            next_time,
            (solution, history, state, 1),
            name="interpolate_loop",
        )
        y = solution.stack(name=name)
        y.set_shape(t.shape.concatenate(y0.shape))
        if not full_output:
            return y
        points = history.integrate_points.stack()
        return y, {
            "num_func_evals": 6 * size_op(points) + 1,
            "integrate_points": points,
            "error_ratio": history.error_ratio.stack(),
        }

    def _step(self, state: Any, history: Any, steps: Any) -> Any:
        y0, f0, t0, dt = state.y1, state.f1, state.t1, state.dt
        checks = [
            Assert(t0 + dt > t0, ["underflow in dt", dt]),
            Assert(steps < self._max_num_steps, ["max_num_steps exceeded"]),
            Assert(
                reduce_all(is_finite(abs_op(y0))),
                ["non-finite values in state `y`", y0],
            ),
        ]
        with control_dependencies(checks):
            y1, f1, error, slopes = runge_kutta.step(self._func, y0, f0, t0, dt)
        allowed = self._atol + self._rtol * maximum(abs_op(y0), abs_op(y1))
        ratio = sqrt(reduce_mean(square(abs_op(error) / allowed)))
        accepted = ratio <= 1
        y_next, f_next, t_next, coefficients = cond(
            accepted,
            lambda: (y1, f1, t0 + dt, runge_kutta.fitted(y0, y1, slopes, dt)),
            lambda: (y0, f0, identity(t0), state.coefficients),
        )
        new = _State(
            y_next, f_next, t0, t_next, self._next_size(dt, ratio), coefficients
        )
        points, ratios = history
        kept = _History(
            points.write(points.size(), t0 + dt), ratios.write(ratios.size(), ratio)
        )
        return new, kept, steps + 1

    def _next_size(self, dt: Any, ratio: Any) -> Any:
        """The size with which the error would be what is allowed, with some caution."""
        power = cast(ratio, dt.dtype) ** (1 / 5)
        shrink = minimum(power / self._safety, 1 / self._dfactor)
        return dt / maximum(cast(1 / self._ifactor, dt.dtype), shrink)


def _midpoint(func: Callable[..., Any], t: Any, dt: Any, y: Any) -> Any:
    step = cast(dt, y.dtype)
    return step * func(y + func(y, t) * step / 2, t + dt / 2)


def _rk4(func: Callable[..., Any], t: Any, dt: Any, y: Any) -> Any:
    step, middle = cast(dt, y.dtype), t + dt / 2
    k1 = func(y, t)
    k2 = func(y + step * k1 / 2, middle)
    k3 = func(y + step * k2 / 2, middle)
    k4 = func(y + step * k3, t + dt)
    return add_n([k1, 2 * k2, 2 * k3, k4]) * (step / 6)


@export("contrib.integrate.odeint_fixed")
def odeint_fixed(
    func: Callable[[Any, Any], Any],
    y0: Any,
    t: Any,
    dt: Any = None,
    method: str = "rk4",
    name: str | None = None,
) -> Any:
    """Solves dy/dt = func(y, t) from y0 at t[0] with steps of given sizes.

    Args:
      func, y0, t: see `odeint`.
      dt: the size of a step between each two times, [n - 1] (it is made smaller where
        it does not fit); None for one step.
      method: "rk4" or "midpoint".
      name: of the operations.

    Returns:
      y at the times, [n, ...].

    Raises:
      ValueError: another method, or lengths that do not fit.
      TypeError: a dtype is not of floating point.
    """
    with name_scope(name, "odeint_fixed", [y0, t, dt]):
        t = _times(t, "t")
        y0 = convert_to_tensor(y0, name="y0")
        intervals = t[1:] - t[:-1]
        dt = _times(intervals if dt is None else dt, "dt")
        steps = ceil(intervals / dt)
        dt = intervals / steps
        counts = cast(steps, dtypes.int32)
        _check_types(y0, t, dt)
        if (t.shape.rank or 0) > 1 or (dt.shape.rank or 0) > 1:
            raise ValueError("t must be a 1D tensor")
        if t.shape.as_list()[0] != dt.shape.as_list()[0] + 1:
            raise ValueError("t and dt have incompatible lengths, must be N and N-1")
        with _increasing(t), name_scope(method):
            if method not in ("midpoint", "rk4"):
                raise ValueError(f"method not supported: {method}")
            change = _midpoint if method == "midpoint" else _rk4
            return _solved(func, change, y0, t, dt, counts)


def _solved(
    func: Callable[..., Any],
    change: Callable[..., Any],
    y0: Any,
    times: Any,
    sizes: Any,
    counts: Any,
) -> Any:
    def interval(solution: Any, y: Any, t: Any, i: Any) -> Any:
        size = sizes[i - 1]

        def step(y: Any, t: Any, j: Any) -> Any:
            return y + cast(change(func, t, size, y), y.dtype), t + size, j + 1

        y, t, _ = while_loop(lambda y, t, j: j < counts[i - 1], step, (y, t, 0))
        return solution.write(i, y), y, t, i + 1

    count = size_op(times)
    first = TensorArray(y0.dtype, count).write(0, y0)
    solution, *_ = while_loop(
        lambda *loop: loop[3] < count, interval, (first, y0, times[0], 1)
    )
    result = solution.stack()
    result.set_shape(times.shape.concatenate(y0.shape))
    return result
