"""Seeds of random ops, derived from the graph's seed and the op's place in it."""

from __future__ import annotations

from typing import Final

from tensorloom.framework.export import export
from tensorloom.framework.graph.default_graph import get_default_graph
from tensorloom.framework.runtime.determinism import check_seeded

DEFAULT_GRAPH_SEED: Final = 87654321
_MAX_INT32: Final = 2**31 - 1


@export("get_seed", "random.get_seed")
def get_seed(op_seed: int | None) -> tuple[int | None, int | None]:
    """The two seeds of an op that is about to be made in the default graph.

    With a graph seed and no op seed, the second seed is the id of the last operation
    of the graph, so that each op has numbers of its own and the same program always
    has the same numbers. Without either, both are None: numbers differ from run to
    run.
    """
    graph = get_default_graph()
    graph_seed = graph.seed
    if graph_seed is None:
        if op_seed is None:
            check_seeded(op_seed, graph_seed)
            return None, None
        seeds = (DEFAULT_GRAPH_SEED, op_seed % _MAX_INT32)
    else:
        if op_seed is None:
            op_seed = graph._last_id
        seeds = (graph_seed % _MAX_INT32, op_seed % _MAX_INT32)
    # Kernels take (0, 0) for "not seeded".
    return (0, _MAX_INT32) if seeds == (0, 0) else seeds


@export("set_random_seed", "random.set_random_seed")
def set_random_seed(seed: int | None) -> None:
    """Sets the default graph's seed; ops made from now on derive theirs from it."""
    get_default_graph().seed = seed
