"""`Servable`: one loaded version of a model."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tensorloom.framework import errors
from tensorloom.serving.manager.servable_statistics import ServableStatistics

if TYPE_CHECKING:
    from tensorloom.framework.interfaces import StepContext
    from tensorloom.serving.calls.outcome import Outcome
    from tensorloom.serving.manager.engine import Engine
    from tensorloom.serving.manager.quick_steps import QuickSteps
    from tensorloom.serving.manager.signature import Signature

#: (values by tensor name, tensors to fetch, what limits the step) -> their values.
Runner = Callable[[Mapping[str, Any], Sequence[str], "StepContext | None"], list[Any]]

#: (as a `Runner`, where the values go) -> whether they will: else `Runner` has to run.
Starter = Callable[
    [Mapping[str, Any], Sequence[str], "StepContext | None", "Outcome"], bool
]


class Servable:
    """A version of a model, with the engine that runs its steps.

    Requests hold it while they use it (`acquire`, `release`); `retire` lets no further
    one in, and `close` frees it once the last is gone.
    """

    def __init__(
        self,
        name: str,
        version: int,
        path: str,
        engine: Engine,
        signatures: Mapping[str, Signature],
        signature_defs: Mapping[str, Any],
        most_at_once: int = 0,
        checks_methods: bool = False,
    ) -> None:
        """Takes over an engine.

        Args:
          name, version: of the model.
          path: the directory that it was loaded from.
          engine: in which the model is loaded.
          signatures: those that can be called.
          signature_defs: all that the model has, as messages, for who asks.
          most_at_once: requests that may hold it at one time; 0: any number.
          checks_methods: whether a signature can be called by its own method alone.
        """
        self.name, self.version, self.path = name, version, path
        self.signatures, self.signature_defs = signatures, signature_defs
        self.checks_methods = checks_methods
        #: How its steps run: at once, or put together by a batcher.
        self.runner: Runner = self.run
        #: Begins steps for calls that wait in an event loop; None: a thread runs each.
        self.starter: Starter | None = None
        #: Which steps run in the event loop of their call; None: no model's do.
        self.quick: QuickSteps | None = None
        #: How many requests wait for a batch.
        self.waiting: Callable[[], int] = lambda: 0
        self.statistics = ServableStatistics()
        self._engine = engine
        self._most_at_once = most_at_once
        self._lock = threading.Condition()
        self._holders = 0
        self._is_retired = False

    # --- who holds it ----------------------------------------------------------------

    def acquire(self) -> bool:
        """Holds it for a request; False once it is on its way out.

        Raises:
          errors.ResourceExhaustedError: as many hold it as may.
        """
        with self._lock:
            if self._is_retired:
                return False
            if self._most_at_once and self._holders >= self._most_at_once:
                raise errors.ResourceExhaustedError(
                    None,
                    None,
                    f"Model {self.name} version {self.version} already runs "
                    f"{self._holders} requests, as many as it may",
                )
            self._holders += 1
            return True

    def release(self) -> None:
        """Ends a hold."""
        with self._lock:
            self._holders -= 1
            if not self._holders:
                self._lock.notify_all()

    @property
    def holders(self) -> int:
        """How many requests hold it."""
        return self._holders

    def retire(self) -> None:
        """Lets no further request in."""
        with self._lock:
            self._is_retired = True

    def wait_released(self, timeout_s: float | None) -> bool:
        """Waits until nobody holds it; whether that came in time."""
        with self._lock:
            return self._lock.wait_for(lambda: not self._holders, timeout_s)

    def close(self) -> None:
        """Cancels what still runs, and frees graph and variables."""
        self._engine.close()

    # --- running ---------------------------------------------------------------------

    def signature(self, key: str) -> Signature | None:
        """The signature of a key; "" means the default one."""
        from tensorloom.serving.manager.signature import DEFAULT_KEY

        return self.signatures.get(key or DEFAULT_KEY)

    @property
    def is_up(self) -> bool:
        """Whether a step can run now: not while its process is started again."""
        return self._engine.is_up

    def wait_up(self, timeout_s: float) -> bool:
        """Waits until a step can run; whether that came in time."""
        return self._engine.wait_up(timeout_s)

    def is_quick(self, feeds: Mapping[str, Any], fetches: Sequence[str]) -> bool:
        """Whether an event loop can run a step itself, as it takes no time."""
        return self.quick is not None and self.quick.has(feeds, fetches)

    def run(
        self,
        feeds: Mapping[str, Any],
        fetches: Sequence[str],
        step: StepContext | None = None,
    ) -> list[Any]:
        """Runs one step.

        Args:
          feeds: values of exactly the tensors' dtypes, by the tensors' names.
          fetches: names of tensors; one may come twice, or be fed as well.
          step: its deadline, and what cancels it.

        Raises:
          errors.OpError: the step failed.
        """
        computed = tuple(dict.fromkeys(f for f in fetches if f not in feeds))
        names = tuple(sorted(feeds))
        if not computed:
            return [feeds[name] for name in fetches]
        started, began = time.perf_counter(), time.thread_time()
        given = [feeds[name] for name in names]
        values = self._engine.run(names, computed, given, step)
        shape = getattr(feeds[names[0]], "shape", ()) if names else ()
        seconds = time.perf_counter() - started
        self.statistics.step(shape[0] if shape else 0, seconds)
        if self.quick is not None:
            # Without the time in which another process had the core.
            computing_s = time.thread_time() - began
            self.quick.note(names, computed, given, computing_s, values)
        if len(computed) == len(fetches):
            return values
        found = dict(zip(computed, values, strict=True))
        return [found[n] if n in found else feeds[n] for n in fetches]
