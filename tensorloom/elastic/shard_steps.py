"""Which steps use shards, and which are a worker's alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from tensorloom.client.session.fetch_mapper import FetchPlan
from tensorloom.client.session.run_plan import FeedPlan, plan_key
from tensorloom.elastic.shards import shard_of

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph import Graph

_MAX_KNOWN: Final = 1024


class ShardSteps:
    """Tells the steps of a graph that use shards from all others.

    Args:
      graph: it is finalized.
    """

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._known: dict[Any, bool] = {}

    def use_shards(self, fetches: Any, feed_dict: Any) -> bool:
        """Whether a step runs anything on a shard.

        Args:
          fetches, feed_dict: as for `Session.run`.

        Raises:
          TypeError, ValueError: as `Session.run`.
        """
        try:
            key = plan_key(fetches, feed_dict)
            known = None if key is None else self._known.get(key)
        except TypeError:  # a key that has no hash
            key = known = None
        if known is None:
            known = self._find(fetches, feed_dict)
            if key is not None:
                if len(self._known) >= _MAX_KNOWN:
                    self._known.clear()
                self._known[key] = known
        return known

    def _find(self, fetches: Any, feed_dict: Any) -> bool:
        plan = FetchPlan(self._graph, fetches)
        fed = set(FeedPlan(self._graph, feed_dict).tensors) if feed_dict else set()
        waiting = [*plan.targets, *(t.op for t in plan.tensors if t not in fed)]
        seen = set(waiting)
        while waiting:
            op = waiting.pop()
            if shard_of(op.device) is not None:
                return True
            before = {t.op for t in op.inputs if t not in fed} | {*op.control_inputs}
            waiting += before - seen
            seen |= before
        return False
