"""One `Session.run` for what a caller and hooks want of a step.

Hooks mostly ask for the same tensors in every step. Their fetches and the caller's are
merged into one flat list, once, and the same list is run again, under which the session
finds its compiled plan.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tensorloom.client.session.base_session import BaseSession
from tensorloom.client.session.fetch_mapper import FetchPlan
from tensorloom.framework.graph.graph import Operation, Tensor

# From fetches of the caller and of hooks, and what else `run` takes, to their values.
Run = Callable[[Any, Sequence[Any], Any, Any, Any], list[Any]]

_MAX_PLANS = 256


class MergedRuns:
    """Runs steps for several askers in one session."""

    def __init__(self, session: Any) -> None:
        self._session = session
        # (structure of all fetches) -> the flat list, and from values to structure.
        self._plans: dict[Any, tuple[list[Any], Callable[[Any], Any]]] = {}
        # A wrapper (a debugger's) gets the structure itself, as in TensorFlow, unless
        # it says that it looks at no fetches.
        self._is_plain = (
            isinstance(session, BaseSession) and type(session).run is BaseSession.run
        ) or getattr(session, "takes_flat_fetches", False)

    def run(
        self,
        fetches: Any,
        requests: Sequence[Any],
        feed_dict: Any,
        options: Any,
        run_metadata: Any,
    ) -> Any:
        """Values of `fetches`, then of each of `requests`; None for one that is None.

        Raises:
          As `Session.run`.
        """
        if not self._is_plain:
            return self._run_structure(
                fetches, requests, feed_dict, options, run_metadata
            )
        key = _structure_key((fetches, *requests))
        plan = None if key is None else self._plans.get(key)
        if plan is None:
            plan = self._make_plan(fetches, requests)
            if key is not None:
                if len(self._plans) >= _MAX_PLANS:
                    self._plans.clear()
                self._plans[key] = plan
        flat, pack = plan
        return pack(self._session.run(flat, feed_dict, options, run_metadata))

    def _make_plan(
        self, fetches: Any, requests: Sequence[Any]
    ) -> tuple[list[Any], Callable[[Any], Any]]:
        asked = [request for request in requests if request is not None]
        plan = FetchPlan(self._session.graph, [fetches, *asked])
        flat: list[Any] = [*plan.tensors, *plan.targets]
        if len(asked) == len(requests):
            return flat, plan.pack
        places = [0] * (len(requests) + 1)
        place = 0
        for number, request in enumerate(requests, 1):
            if request is not None:
                place += 1
                places[number] = place
        compact = plan.pack

        def pack(values: Any) -> list[Any]:
            results = compact(values)
            spread = [results[p] if p else None for p in places]
            spread[0] = results[0]
            return spread

        return flat, pack

    def _run_structure(
        self,
        fetches: Any,
        requests: Sequence[Any],
        feed_dict: Any,
        options: Any,
        run_metadata: Any,
    ) -> list[Any]:
        structure = {"caller": fetches}
        structure.update(
            (f"hook{number}", request)
            for number, request in enumerate(requests)
            if request is not None
        )
        results = self._session.run(
            structure, feed_dict=feed_dict, options=options, run_metadata=run_metadata
        )
        hooks = [results.get(f"hook{number}") for number in range(len(requests))]
        return [results["caller"], *hooks]


def _structure_key(fetches: Any) -> Any:
    """A key under which equal structures are found again; None: there is none.

    Structures are equal if they are of the same types and have the same tensors,
    operations and names.
    """
    if isinstance(fetches, (Tensor, Operation, str)):
        return fetches
    kind = type(fetches)
    if kind is dict:
        parts: list[Any] = [kind, *fetches]
        values = fetches.values()
    elif isinstance(fetches, (list, tuple)):
        parts = [kind]
        values = fetches
    elif fetches is None or hasattr(fetches, "_as_graph_element"):
        return (kind, fetches)
    else:
        return None
    for value in values:
        key = _structure_key(value)
        if key is None:
            return None
        parts.append(key)
    return tuple(parts)
