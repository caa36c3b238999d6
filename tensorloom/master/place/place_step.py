"""A step's graph gets its devices: by the program's stages, and by the placer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tensorloom.framework.graph.node_shapes import infer_missing
from tensorloom.framework.runtime import custom_stages
from tensorloom.master import verify
from tensorloom.master.place import cost_placer  # noqa: F401 - a placer by name
from tensorloom.master.place.cost_model import CostModel, PlacementCosts
from tensorloom.master.place.placement_reasons import tell_placements

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph_ir import GraphIR
    from tensorloom.framework.runtime.session_config import SessionConfig
    from tensorloom.framework.runtime.stage_journal import StageJournal
    from tensorloom.master.place.placer import Placer


def places_by_cost(config: SessionConfig) -> bool:
    """Whether a placer of the session takes costs.

    Raises:
      errors.InvalidArgumentError: TENSORLOOM_PLACEMENT names no placer.
    """
    asked = custom_stages.placers_asked_for(config.optimizer.custom_passes)
    return any(custom_stages.takes_costs(name) for name, _ in asked)


def place_step(
    graph: GraphIR,
    placer: Placer,
    config: SessionConfig,
    costs: CostModel,
    journal: StageJournal | None = None,
) -> GraphIR:
    """The graph with a full device name in each node.

    Args:
      graph: of the step, optimized.
      placer: of the step.
      config: of the session; its custom placers and placed passes run.
      costs: what was measured of the step so far.
      journal: is told of all that, unless it is None.

    Raises:
      errors.InvalidArgumentError: no device fits a node; a custom placer is wrong.
    """
    asked = config.optimizer.custom_passes
    reasons: dict[str, str] = {}
    for name, place in custom_stages.placers_asked_for(asked):
        before = graph
        known = (
            (PlacementCosts(costs, before, placer),)
            if custom_stages.takes_costs(name)
            else ()
        )
        found = place(before, placer.devices, *known)
        graph, wishes = custom_stages.by_placer(name, before, found)
        for node, wish in wishes.items():
            reasons[node] = wish.reason or f"the placer '{name}' wants it there"
        if journal is not None:
            journal.stage(name, before, graph)
    placed = placer.place(graph)
    if journal is not None:
        journal.stage("place", graph, placed)
        tell_placements(placer, graph, placed, journal, reasons)
    for name, run in custom_stages.asked_for(custom_stages.PLACED_PASS, asked):
        before, placed = placed, infer_missing(run(placed))
        if journal is not None:
            journal.stage(name, before, placed)
        if verify.ENABLED:
            verify.new_verifier(()).check(name, before, placed)
    return placed
