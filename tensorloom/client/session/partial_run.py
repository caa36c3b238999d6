"""The client's side of partial runs: structures and feeds over several calls."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tensorloom.client.session.fetch_mapper import FetchPlan
from tensorloom.client.session.run_plan import FeedPlan, fed_tensors
from tensorloom.framework.errors import InvalidArgumentError
from tensorloom.framework.interfaces import StepSignature

if TYPE_CHECKING:
    from tensorloom.client.session.base_session import BaseSession
    from tensorloom.framework.graph.graph import Graph


class PartialRuns:
    """The partial runs of a session. The state of each is with the master."""

    def setup(
        self, session: BaseSession, fetches: FetchPlan, feeds: Sequence[Any]
    ) -> str:
        """Announces a partial run; returns its handle.

        Raises:
          InvalidArgumentError: a tensor is fed twice, or fed and fetched.
        """
        signature = partial_signature(session.graph, fetches, feeds)
        handle = session._extend_graph()
        return session._master.partial_run_setup(handle, signature)

    def run(
        self,
        session: BaseSession,
        partial_handle: str,
        fetches: Any,
        feed_dict: Mapping[Any, Any],
    ) -> Any:
        """Continues a partial run; returns the values in the structure of `fetches`."""
        feeds = FeedPlan(session.graph, feed_dict)
        plan = FetchPlan(session.graph, fetches)
        if plan.targets:
            raise RuntimeError("partial_run() requires empty target_list.")
        fed = zip(feeds.tensors, feeds.convert(feed_dict), strict=True)
        values = session._master.partial_run(
            session._extend_graph(),
            partial_handle,
            [(tensor.name, value) for tensor, value in fed],
            [tensor.name for tensor in plan.tensors],
        )
        return plan.pack(values)


def partial_signature(
    graph: Graph, fetches: FetchPlan, feeds: Sequence[Any]
) -> StepSignature:
    """All that a partial run is to be fed and to fetch.

    Raises:
      InvalidArgumentError: a tensor is fed twice, or fed and fetched.
    """
    fed = fed_tensors(graph, feeds)
    announced = set(fed)
    for tensor in fed:
        if fed.count(tensor) > 1:
            raise InvalidArgumentError(
                None, None, f'Endpoint "{tensor.name}" fed more than once.'
            )
        if tensor in fetches.tensors:
            raise InvalidArgumentError(
                None, None, f"{tensor.name} is both fed and fetched."
            )
    return StepSignature(
        tuple(sorted(t.name for t in announced)),
        tuple(sorted(t.name for t in fetches.tensors)),
        tuple(sorted(op.name for op in fetches.targets)),
    )
