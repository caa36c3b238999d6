"""Graph passes. The pipeline is the tuple below; each pass is alone in its file."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Final

from tensorloom.framework.graph.graph_ir import GraphIR
from tensorloom.framework.graph.node_shapes import infer_missing
from tensorloom.master import verify
from tensorloom.master.optimize import custom_passes
from tensorloom.master.optimize.clusters.compiled_clusters import compile_clusters
from tensorloom.master.optimize.debug_ops import without_debug_ops
from tensorloom.master.optimize.function_bodies import optimize_functions
from tensorloom.master.optimize.fused_collectives import fuse_collectives
from tensorloom.master.optimize.fusion.columns_of_product import multiply_for_columns
from tensorloom.master.optimize.fusion.count_both import fuse_count_both
from tensorloom.master.optimize.fusion.counted_hot import fuse_counted_hot
from tensorloom.master.optimize.fusion.lookup_ids import fuse_lookup_ids
from tensorloom.master.optimize.fusion.matmul_bias import fuse_matmul_bias
from tensorloom.master.optimize.fusion.mean_gradient import fuse_mean_gradient
from tensorloom.master.optimize.fusion.not_default import fuse_not_default
from tensorloom.master.optimize.fusion.optimizer_updates import fuse_optimizer_updates
from tensorloom.master.optimize.fusion.pool_without_indices import pool_without_indices
from tensorloom.master.optimize.fusion.segments_or_zeros import (
    fuse_segments_or_zeros,
)
from tensorloom.master.optimize.fusion.sigmoid_cross_entropy import (
    fuse_sigmoid_cross_entropy,
)
from tensorloom.master.optimize.fusion.split_lookup import fuse_split_lookup
from tensorloom.master.optimize.fusion.sum_of_products import sum_products
from tensorloom.master.optimize.fusion.summed_sparse_updates import (
    sum_in_sparse_updates,
)
from tensorloom.master.optimize.fusion.threshold_counts import fuse_threshold_counts
from tensorloom.master.optimize.fusion.unrolled_products import batch_unrolled_products
from tensorloom.master.optimize.node_facts import CONTROL_FLOW
from tensorloom.master.optimize.overlapped_allreduces import overlap_allreduces
from tensorloom.master.optimize.precision.mixed_precision import use_half_precision
from tensorloom.master.optimize.recomputation import recompute
from tensorloom.master.optimize.rewriting import changes_references
from tensorloom.master.optimize.simplify.arithmetic import simplify_arithmetic
from tensorloom.master.optimize.simplify.bias_before_reshape import bias_before_reshape
from tensorloom.master.optimize.simplify.common_subexpression import merge_duplicates
from tensorloom.master.optimize.simplify.constant_folding import fold_constants
from tensorloom.master.optimize.simplify.dead_loop_variables import (
    freeze_dead_loop_variables,
)
from tensorloom.master.optimize.simplify.dead_nodes import remove_dead_nodes
from tensorloom.master.optimize.simplify.dependency import simplify_dependencies
from tensorloom.master.optimize.simplify.pads_to_concat import concatenate_pads
from tensorloom.master.optimize.simplify.relu_before_pool import (
    take_relu_gradient_before_pool,
)
from tensorloom.master.optimize.simplify.reshape_after_arithmetic import (
    reshape_after_arithmetic,
)
from tensorloom.master.optimize.simplify.tiles_to_broadcasts import tiles_to_broadcasts
from tensorloom.master.optimize.target import Evaluate, OptimizeTarget

__all__ = ["PIPELINE", "Evaluate", "OptimizeTarget", "Pass", "optimize"]

# A pass is a function from a graph to a graph; it never changes its argument.
Pass = Callable[[GraphIR, OptimizeTarget], GraphIR]

PIPELINE: Final[tuple[tuple[str, Pass], ...]] = (
    ("constant_folding", fold_constants),
    ("auto_mixed_precision", use_half_precision),
    ("arithmetic", simplify_arithmetic),
    ("common_subexpression", merge_duplicates),
    ("dependency", simplify_dependencies),
    # Before fusions, which leave nothing to mark; what is equal was merged before.
    ("recomputation", recompute),
    ("reshape_after_arithmetic", reshape_after_arithmetic),
    ("fuse_sigmoid_cross_entropy", fuse_sigmoid_cross_entropy),
    ("fuse_mean_gradient", fuse_mean_gradient),
    ("fuse_count_both", fuse_count_both),
    ("fuse_threshold_counts", fuse_threshold_counts),
    ("pads_to_concat", concatenate_pads),
    ("tiles_to_broadcasts", tiles_to_broadcasts),
    ("dead_nodes", remove_dead_nodes),
    ("relu_before_pool", take_relu_gradient_before_pool),
    ("pool_without_indices", pool_without_indices),
    ("bias_before_reshape", bias_before_reshape),
    ("fuse_matmul_bias", fuse_matmul_bias),
    ("sum_of_products", sum_products),
    ("unrolled_products", batch_unrolled_products),
    ("columns_of_product", multiply_for_columns),
    ("summed_sparse_updates", sum_in_sparse_updates),
    ("fuse_optimizer_updates", fuse_optimizer_updates),
    ("fuse_split_lookup", fuse_split_lookup),
    ("fuse_not_default", fuse_not_default),
    ("fuse_counted_hot", fuse_counted_hot),
    ("fuse_lookup_ids", fuse_lookup_ids),
    ("fuse_segments_or_zeros", fuse_segments_or_zeros),
    ("overlap_allreduces", overlap_allreduces),
    ("fuse_collectives", fuse_collectives),
)


def optimize(graph: GraphIR, target: OptimizeTarget) -> GraphIR:
    """The graph after all passes that the target allows.

    Nodes keep their topological order. Fetched nodes and targets stay, under their
    names and with their values.
    """
    if not target.config.enabled:
        return graph
    graph = without_debug_ops(graph, target)
    changes = changes_references(graph, target)
    target = replace(target, changes_references=changes)
    # Before the other passes, because uses by dead variables prevent fusions; and after
    # them, because a body whose shapes were folded needs fewer of the loop's variables.
    graph = _without_dead_loop_variables(graph, target)
    graph = optimize_functions(graph, target, _run_passes)
    graph = _without_dead_loop_variables(graph, target)
    graph = _run_passes(graph, target)
    graph = _with_compiled_clusters(graph, target)
    if not target.config.disable_rewrites:
        for name, run_pass in custom_passes.asked_for(target.config.custom_passes):
            before = graph
            graph = infer_missing(run_pass(graph, target))
            if target.journal is not None:
                target.journal.stage(name, before, graph)
            if verify.ENABLED:
                verify.new_verifier(target.preserve).check(name, before, graph)
    return graph


def _without_dead_loop_variables(graph: GraphIR, target: OptimizeTarget) -> GraphIR:
    if not target.allows("dead_loop_variables"):
        return graph
    kept = freeze_dead_loop_variables(graph, target)
    if target.journal is not None:
        target.journal.stage("dead_loop_variables", graph, kept)
    verify.check_structure("dead_loop_variables", graph, kept, target.preserve)
    return kept


def _with_compiled_clusters(graph: GraphIR, target: OptimizeTarget) -> GraphIR:
    # Last, and not in bodies: it makes functions of what the other passes made.
    if not target.allows("compiled_clusters"):
        return graph
    compiled = compile_clusters(graph, target)
    if target.journal is not None:
        target.journal.stage("compiled_clusters", graph, compiled)
    if verify.ENABLED:
        verifier = verify.new_verifier(target.preserve)
        verifier.check("compiled_clusters", graph, compiled)
    return compiled


def _run_passes(graph: GraphIR, target: OptimizeTarget) -> GraphIR:
    graph = infer_missing(graph)
    if any(node.op in CONTROL_FLOW for node in graph.nodes.values()):
        # The passes know nothing of dead tensors, nor of edges that go back.
        return graph
    verifier = verify.new_verifier(target.preserve) if verify.ENABLED else None
    for name, run_pass in PIPELINE:
        if target.allows(name):
            before = graph
            graph = run_pass(graph, target)
            if target.journal is not None:
                target.journal.stage(name, before, graph)
            if verifier is not None:
                verifier.check(name, before, graph)
    return graph
