"""A step whose master is another process's, explained by what the protocol tells.

A master tells the graph of each device (`RunOptions.output_partition_graphs`) and a
trace of the step, TensorFlow's masters as well as ours. So nodes, devices, transfers,
bytes and times are known. What a master does in between is one stage, `master`: it does
not tell its passes, why a node is where it is, its programs and their memory.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final

from tensorloom.client.session.fetch_mapper import FetchPlan
from tensorloom.client.session.run_plan import FeedPlan, make_run_function
from tensorloom.framework.errors import OpError, UnimplementedError
from tensorloom.framework.graph import graph_def
from tensorloom.framework.graph.graph_ir import GraphIR, sort_topologically
from tensorloom.framework.graph.node_shapes import infer_missing
from tensorloom.framework.interfaces import StepContext, StepOptions
from tensorloom.inspect.explain.fates import MASTER
from tensorloom.inspect.explain.transfers import RECEIVES
from tensorloom.master.prepare.prune import prune

if TYPE_CHECKING:
    from tensorloom.client.session.base_session import BaseSession
    from tensorloom.framework.graph.graph_ir import Edge, Node
    from tensorloom.framework.interfaces import PreparedStep, StepSignature
    from tensorloom.inspect.explain.journal import Journal

_SENDS: Final = ("_Send", "_HostSend")


class StepElsewhere:
    """A step of a session whose master is another process's."""

    def __init__(
        self, session: BaseSession, fetches: Any, feed_dict: Any, journal: Journal
    ) -> None:
        """Makes it; `prepare` is to be called first."""
        self._session = session
        self._fetches = fetches
        self._feed_dict = feed_dict
        self._journal = journal
        self._target = session.sess_str.decode()
        self.signature: StepSignature | None = None  # None: there is nothing to run

    def prepare(self) -> None:
        """Has the master prepare the step.

        Raises:
          TypeError, ValueError, RuntimeError, errors.OpError: as `Session.run`.
        """
        session, feed_dict = self._session, self._feed_dict

        def prepare(signature: StepSignature) -> PreparedStep:
            self.signature = signature
            return session._prepare(signature)

        feeds = FeedPlan(session.graph, feed_dict) if feed_dict else None
        self._run = make_run_function(
            FetchPlan(session.graph, self._fetches), feeds, prepare
        )

    def run(self, timeout_s: float | None = None) -> tuple[Any, StepContext]:
        """Runs the step once, traced, and tells the journal what the master told.

        Args:
          timeout_s: after so long it fails; None: never.

        Raises:
          errors.OpError: the step failed.
        """
        options = StepOptions(timeout_s, trace=True, output_partition_graphs=True)
        step = StepContext(options)
        try:
            results = self._run(self._feed_dict, step)
        except OpError:
            self._tell_pruning()
            self._journal.notes.append(
                f"The master of this step is another process's ({self._target}), and "
                "tells what it makes of a step only when it has ended well. Pruning is "
                "reckoned here."
            )
            raise
        self._tell(step.metadata.partition_graphs)
        stats = step.metadata.node_stats
        # TensorFlow's tasks tell the same runs again, as the pieces of a thread's time.
        stats[:] = [one for one in stats if one.op]
        return results, step

    def compile(self) -> None:
        """Raises errors.UnimplementedError: a master tells of steps that have run."""
        raise UnimplementedError(
            None,
            None,
            f"The master of this session is another process's ({self._target}), and "
            "tells what it makes of a graph with a step that runs: explain it with "
            "run=True, or in a session without a target.",
        )

    def _tell_pruning(self) -> GraphIR:
        assert self.signature is not None
        built = self._session.graph.to_ir()
        pruned = prune(built, self.signature, "")
        self._journal.stage("prune", built, pruned)
        return pruned

    def _tell(self, messages: Iterable[Any]) -> None:
        journal = self._journal
        pruned = self._tell_pruning()
        built = journal.stages[0].before
        parts = [_part(message, built) for message in messages]
        after, received = joined(parts)
        journal.stage(MASTER, pruned, after)
        reason = f"the master at {self._target} put it there, and does not tell why"
        for node in after.nodes.values():
            journal.placement(node, node.device, reason)
        for part in parts:
            device = next((n.device for n in part.nodes.values() if n.device), "")
            journal.part(device, _with_shapes(part, received, after), None)
        journal.notes.append(
            f"The master of this step is another process's ({self._target}). It does "
            "not tell its passes, the reasons of placements, the generated programs "
            "and the memory of values. Pruning is reckoned here; devices, transfers "
            "and times are what it told."
        )


def _part(message: Any, built: GraphIR) -> GraphIR:
    """A device's graph; nodes of the program's know their lines.

    Raises:
      errors.UnimplementedError: it has ops that only the other process knows.
    """
    try:
        graph = (
            message
            if isinstance(message, GraphIR)
            else graph_def.from_proto(message, built.functions, internal=True)
        )
    except OpError as error:
        raise UnimplementedError(
            None, None, f"The master's graph cannot be read here: {error.message}"
        ) from error
    return graph.with_nodes(
        node.replace(source=own.source) if own is not None else node
        for node in graph.nodes.values()
        for own in [built.nodes.get(node.name)]
    )


def joined(parts: Iterable[GraphIR]) -> tuple[GraphIR, dict[str, Edge]]:
    """The graph of a step whose devices' graphs these are: transfers become edges.

    Returns:
      The graph; and by receiving node, what it receives.
    """
    parts = list(parts)
    sent: dict[tuple[Any, ...], Edge] = {}
    for node in _nodes(parts):
        if node.op in _SENDS:
            sent[_key(node)] = node.inputs[0]
    edges = {
        node.name: sent[_key(node)]
        for node in _nodes(parts)
        if node.op in RECEIVES and _key(node) in sent
    }
    kept = {
        node.name: _rewired(node, edges)
        for node in _nodes(parts)
        if node.op not in _SENDS and node.name not in edges
    }
    functions = {name: f for part in parts for name, f in part.functions.items()}
    ordered = sort_topologically(kept)
    graph = GraphIR({node.name: node for node in ordered}, functions)
    return infer_missing(graph), {name: _origin(name, edges) for name in edges}


def _with_shapes(
    part: GraphIR, received: Mapping[str, Edge], graph: GraphIR
) -> GraphIR:
    """A device's graph whose receiving nodes have the shapes of what they receive."""

    def shaped(node: Node) -> Node:
        name, output = received.get(node.name, ("", 0))
        shapes = graph.nodes[name].output_shapes if name in graph.nodes else None
        return node.replace(output_shapes=(shapes[output],)) if shapes else node

    return part.with_nodes(map(shaped, part.nodes.values()))


def _nodes(parts: Iterable[GraphIR]) -> Iterator[Node]:
    for part in parts:
        yield from part.nodes.values()


def _key(node: Node) -> tuple[Any, ...]:
    attrs = node.attrs
    return attrs["tensor_name"], attrs["send_device"], attrs["recv_device"]


def _origin(name: str, edges: Mapping[str, Edge], output: int = 0) -> Edge:
    """What a node receives, from whom it was first; of others their own output."""
    while name in edges:
        name, output = edges[name]
    return name, output


def _rewired(node: Node, edges: Mapping[str, Edge]) -> Node:
    """A node that reads from the senders of what it receives."""
    inputs = tuple(_origin(name, edges, output) for name, output in node.inputs)
    controls = tuple(dict.fromkeys(_origin(n, edges)[0] for n in node.control_inputs))
    if inputs == node.inputs and controls == node.control_inputs:
        return node
    return node.replace(inputs=inputs, control_inputs=controls)
