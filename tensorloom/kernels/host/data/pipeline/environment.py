"""Where the functions of a pipeline run: a step's context, or a thread's own."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from itertools import accumulate
from typing import TYPE_CHECKING, Any

from tensorloom.framework import errors
from tensorloom.framework.registry.op_kernel import OpKernelContext
from tensorloom.framework.runtime import intra_op
from tensorloom.framework.runtime.cancellation import CancellationManager
from tensorloom.kernels.host.random.random_state import sequences

if TYPE_CHECKING:
    from tensorloom.framework.registry.op_kernel import OpKernelConstruction
    from tensorloom.kernels.host.data.pipeline.statistics import Statistics
    from tensorloom.kernels.host.random.philox import Generator


class Cancellation(CancellationManager):
    """Cancelled when its iterator is dropped or closed, not by a step."""

    def __init__(self) -> None:
        super().__init__()
        # The generators of seeded nodes in each function of the whole iterator.
        self._generators: dict[int, dict[str, Generator]] = {}

    def generators_of(self, function: Callable[..., Any]) -> dict[str, Generator]:
        """The generators of the seeded nodes of a function."""
        kept = self._generators.get(id(function))
        return self._generators.setdefault(id(function), {}) if kept is None else kept

    def cancel(self, cause: BaseException | None = None) -> None:
        """Cancels, and calls what was registered."""
        super().cancel(cause or self.error())

    def error(self) -> errors.OpError:
        """What a function raises that was interrupted."""
        return errors.CancelledError(None, None, "Iterator was closed")


class Environment:
    """What the iterators of one thread share.

    `context` is what functions get: in the thread that asked for an element, that of
    the running step.
    """

    __slots__ = ("context", "intra_op_threads", "most_threads", "root", "statistics")

    def __init__(
        self,
        context: OpKernelContext,
        root: Cancellation,
        statistics: Statistics | None = None,
    ) -> None:
        self.context = context
        self.root = root  # cancelled when the whole iterator is closed
        self.statistics = statistics  # where datasets count, if anyone wants to know
        self.most_threads = 0  # that a transformation calls functions in; 0: any number
        self.intra_op_threads = 0  # of an operation in a function; 0: any number

    def limit_threads(self, most: int, intra_op: int) -> None:
        """No more threads than this, nor than before; 0 says nothing."""
        self.most_threads = _least(self.most_threads, most)
        self.intra_op_threads = _least(self.intra_op_threads, intra_op)

    def own_context(self, cancellation: Cancellation) -> OpKernelContext:
        """A context for a thread that outlives the step."""
        step = self.context
        return OpKernelContext(
            step.step_id,
            step.device,
            step.rendezvous,
            cancellation,
            step.resources,
            step.step_container,
        )

    def branch(self) -> Environment:
        """An environment for a part of the pipeline that may go to another thread."""
        made = Environment(self.context, self.root, self.statistics)
        made.most_threads = self.most_threads
        made.intra_op_threads = self.intra_op_threads
        return made


def _least(first: int, second: int) -> int:
    return min(first, second) if first and second else first or second


class CapturedFunction:
    """A function attr with the tensors that it captured."""

    __slots__ = ("_call", "_captured")

    def __init__(self, call: Callable[..., Any], captured: tuple[Any, ...]) -> None:
        self._call = call
        self._captured = captured

    def __call__(self, env: Environment, element: tuple[Any, ...]) -> tuple[Any, ...]:
        """The results, in host memory.

        A pipeline may call for ever without giving an element, so each call looks
        whether the step was cancelled.
        """
        cancellation = env.context.cancellation
        if cancellation.cancelled:
            cancellation.check()
        if env.intra_op_threads:
            with _limited_to(env.intra_op_threads):
                return self._called(env, element)
        return self._called(env, element)

    def _called(self, env: Environment, element: tuple[Any, ...]) -> tuple[Any, ...]:
        torch = _loaded_torch()
        outside, sequences.of_pipeline = (
            sequences.of_pipeline,
            env.root.generators_of(self._call),
        )
        try:
            if torch is None or torch.is_inference_mode_enabled():
                return self._call(env.context, *element, *self._captured)  # type: ignore[no-any-return]
            with torch.inference_mode():
                return self._call(env.context, *element, *self._captured)  # type: ignore[no-any-return]
        finally:
            sequences.of_pipeline = outside


@contextmanager
def _limited_to(threads: int) -> Iterator[None]:
    """No operation of this thread uses more threads meanwhile."""
    torch = _loaded_torch()
    before = 0 if torch is None else torch.get_num_threads()
    with intra_op.limited_to(threads):
        if before > threads:
            torch.set_num_threads(threads)
        try:
            yield
        finally:
            if before > threads:
                torch.set_num_threads(before)


def _loaded_torch() -> Any:
    """torch; None if it is not loaded, or another thread is still loading it."""
    torch = sys.modules.get("torch")
    is_partial = getattr(getattr(torch, "__spec__", None), "_initializing", False)
    return None if is_partial else torch


def without_gradients() -> AbstractContextManager[Any]:
    """Where functions of pipelines run; they enter it themselves, at each element.

    Whoever asks for elements enters it once for all functions that make one.
    """
    torch = _loaded_torch()
    if torch is None or torch.is_inference_mode_enabled():
        return nullcontext()
    return torch.inference_mode()  # type: ignore[no-any-return]


def capture(
    c: OpKernelConstruction, attr: str
) -> Callable[[tuple[Any, ...]], CapturedFunction]:
    """The function attr of a node, waiting for the tensors that it captured."""
    call = c.function(c[attr], host_results=True)
    return lambda captured: CapturedFunction(call, tuple(captured))


def capture_each(
    c: OpKernelConstruction, attrs: Sequence[str], suffix: str
) -> Callable[[tuple[Any, ...]], tuple[CapturedFunction, ...]]:
    """Several function attrs, waiting for what they captured, one after the other.

    Args:
      attrs: their names.
      suffix: the types of what `f` captured are the attr `Tf_<suffix>`.
    """
    binds = [capture(c, attr) for attr in attrs]
    ends = list(accumulate(len(c[f"T{attr}_{suffix}"]) for attr in attrs))
    parts = list(zip(binds, [0, *ends[:-1]], ends, strict=True))
    return lambda captured: tuple(
        [bind(captured[begin:end]) for bind, begin, end in parts]
    )
