"""`_FetchHandler` of TensorFlow's session: what a run fetches, and its results."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tensorloom.client.session.fetch_mapper import FetchPlan

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph import Graph, Operation, Tensor


class FetchHandler:
    """A structure of fetches, for callers that run the tensors themselves."""

    def __init__(
        self, graph: Graph, fetches: Any, feeds: Any, feed_handles: Any = None
    ) -> None:
        """Takes the structure apart.

        Args:
          graph: where the fetches are.
          fetches: what `Session.run` takes.
          feeds: tensor -> value; what is fed is not fetched.
          feed_handles: tensor -> `TensorHandle` of those that are fed by handles.

        Raises:
          TypeError, ValueError: as `Session.run`.
        """
        self._plan = FetchPlan(graph, fetches)
        self._known = dict(feeds)
        for tensor, handle in (feed_handles or {}).items():
            self._known[tensor] = handle.eval()

    def fetches(self) -> list[Tensor]:
        """The tensors to be fetched, each once."""
        return [t for t in self._plan.tensors if t not in self._known]

    def targets(self) -> list[Operation]:
        """The operations to be run, each once."""
        return self._plan.targets

    def build_results(self, session: Any, tensor_values: Sequence[Any]) -> Any:
        """The structure with values in it.

        Args:
          session: not used; TensorFlow makes handles with it.
          tensor_values: of `fetches()`, in their order.
        """
        fetched = self.fetches()
        assert len(fetched) == len(tensor_values)
        values = {**self._known, **dict(zip(fetched, tensor_values, strict=True))}
        return self._plan.pack([values[tensor] for tensor in self._plan.tensors])
