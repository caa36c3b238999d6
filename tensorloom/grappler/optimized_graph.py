"""`OptimizeGraph`: the passes of the master over a graph, without running it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from tensorloom.cluster.local import environment
from tensorloom.framework import errors
from tensorloom.framework.graph import graph_def
from tensorloom.framework.graph.graph_ir import GraphIR
from tensorloom.framework.runtime import session_config
from tensorloom.grappler.item_graph import item_graph
from tensorloom.master.optimize import OptimizeTarget, optimize
from tensorloom.master.prepare import session_state
from tensorloom.protos.config_pb2 import ConfigProto

if TYPE_CHECKING:
    from tensorloom.grappler.clusters import Cluster
    from tensorloom.protos.graph_pb2 import GraphDef


def OptimizeGraph(
    config_proto: Any,
    metagraph: Any,
    verbose: bool = True,
    graph_id: bytes = b"graph_to_optimize",
    cluster: Cluster | None = None,
) -> GraphDef:
    """The graph of a MetaGraphDef as the passes leave it.

    Nodes that collections, signatures or the saver name stay, as do those with the
    attr `_grappler_do_not_remove`. Only TensorFlow's ops come out.

    Args:
      config_proto: a `ConfigProto`; its `graph_options` say which passes run.
      metagraph: the collection `train_op` or a signature names what is run.
      verbose, graph_id, cluster: not used; passes here log nothing and do not depend
        on devices.

    Raises:
      TypeError: `config_proto` is none.
      errors.InvalidArgumentError: the graph cannot be read, or nothing is run.
    """
    del verbose, graph_id, cluster
    if not isinstance(config_proto, ConfigProto):
        raise TypeError(
            f"Expected config_proto to be a ConfigProto, saw type {type(config_proto)}"
        )
    item = item_graph(metagraph)
    if item is None:
        raise errors.InvalidArgumentError(
            None, None, "Failed to import metagraph, check error log for more info."
        )
    decoded = session_config.from_proto(config_proto).optimizer
    config = replace(decoded, enabled=True)
    graph = graph_def.from_proto(metagraph.graph_def)
    graph = session_state.extend(GraphIR(), graph)
    if _prunes(config_proto):
        graph = _pruned(graph, item.kept)
    target = OptimizeTarget(
        preserve=item.kept,
        config=replace(
            config,
            # In a session these two come after Grappler, whatever it is told.
            do_constant_folding=config.allows("constant_folding"),
            do_common_subexpression_elimination=config.allows(
                "arithmetic_optimization"
            ),
        ),
        evaluate=environment().evaluate,
        portable=True,
    )
    optimized = optimize(graph, target)
    if _prunes(config_proto):
        optimized = _pruned(optimized, item.kept)
    proto = graph_def.to_proto(optimized)
    proto.versions.CopyFrom(metagraph.graph_def.versions)
    return proto


def _prunes(config_proto: Any) -> bool:
    rewrites = config_proto.graph_options.rewrite_options
    return not rewrites.disable_model_pruning and not rewrites.disable_meta_optimizer


def _pruned(graph: GraphIR, kept: frozenset[str]) -> GraphIR:
    """What the kept nodes depend on, in the order of the graph."""
    live: set[str] = set()
    stack = [name for name in kept if name in graph.nodes]
    while stack:
        name = stack.pop()
        if name not in live:
            live.add(name)
            stack += graph.nodes[name].producers
    return graph.with_nodes(n for n in graph.nodes.values() if n.name in live)
