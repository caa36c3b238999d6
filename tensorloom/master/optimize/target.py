"""What passes know beside the graph: names to keep, switches, the evaluator."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tensorloom.framework.graph.graph_ir import FunctionIR, Node
from tensorloom.framework.runtime.session_config import (
    TOGGLE_OFF,
    TOGGLE_ON,
    OptimizerConfig,
)

if TYPE_CHECKING:
    from tensorloom.framework.runtime.stage_journal import StageJournal

# Computes a node's outputs from its inputs' values; None where it cannot.
Evaluate = Callable[[Node, Sequence[Any]], "Sequence[Any] | None"]


def _cannot(node: Node, inputs: Sequence[Any]) -> Sequence[Any] | None:
    return None


@dataclass(frozen=True, slots=True)
class OptimizeTarget:
    """The step that a graph is optimized for."""

    #: Names of fetched nodes and targets: they stay in the graph, with their values.
    preserve: frozenset[str] = frozenset()
    config: OptimizerConfig = field(default_factory=OptimizerConfig)
    evaluate: Evaluate = _cannot
    #: Functions as they were and as they became, by name; lives with the session.
    function_cache: dict[str, tuple[FunctionIR, FunctionIR]] = field(
        default_factory=dict
    )
    #: Only ops that TensorFlow has may come out: one of its workers will run them.
    portable: bool = False
    #: Whether a node runs on a GPU that computes in float16 faster, and has a kernel
    #: there; None: there is no such GPU.
    is_fast_in_half: Callable[[Node], bool] | None = None
    #: Whether anything in the step writes through a reference; None: the graph tells.
    changes_references: bool | None = None
    #: Is told what the passes do; None: nobody wants to know.
    journal: StageJournal | None = None

    def allows(self, name: str) -> bool:
        """Whether the pass of that name may run."""
        config = self.config
        if self.portable and name in _MAKES_OWN_OPS:
            return False
        if name == "auto_mixed_precision":
            asked = config.toggles.get(name) == TOGGLE_ON
            return asked and config.allows(name) and self.is_fast_in_half is not None
        if name == "fuse_collectives":
            name = _TOGGLES[name]
            return config.toggles.get(name) == TOGGLE_ON and config.allows(name)
        if name == "recomputation":
            return config.recomputes and not config.disable_rewrites
        if name == "common_subexpression":
            return config.do_common_subexpression_elimination
        if name == "constant_folding":
            return config.do_constant_folding and (
                config.toggles.get(name) != TOGGLE_OFF
            )
        return config.allows(_TOGGLES.get(name, name))


# Which RewriterConfig toggle switches a pass.
_TOGGLES = {
    "arithmetic": "arithmetic_optimization",
    "bias_before_reshape": "arithmetic_optimization",
    "columns_of_product": "arithmetic_optimization",
    "dead_loop_variables": "loop_optimization",
    "dependency": "dependency_optimization",
    "fuse_collectives": "scoped_allocator_optimization",
    "fuse_count_both": "remapping",
    "fuse_counted_hot": "remapping",
    "fuse_matmul_bias": "remapping",
    "fuse_optimizer_updates": "remapping",
    "fuse_mean_gradient": "remapping",
    "fuse_lookup_ids": "remapping",
    "fuse_not_default": "remapping",
    "fuse_segments_or_zeros": "remapping",
    "fuse_sigmoid_cross_entropy": "remapping",
    "fuse_split_lookup": "remapping",
    "fuse_threshold_counts": "remapping",
    "overlap_allreduces": "dependency_optimization",
    "pads_to_concat": "arithmetic_optimization",
    "pool_without_indices": "remapping",
    "relu_before_pool": "remapping",
    "reshape_after_arithmetic": "arithmetic_optimization",
    "sum_of_products": "remapping",
    "summed_sparse_updates": "remapping",
    "tiles_to_broadcasts": "arithmetic_optimization",
    "unrolled_products": "remapping",
}

# Passes whose results have ops of our own.
_MAKES_OWN_OPS = frozenset(
    [
        *("fuse_matmul_bias", "fuse_optimizer_updates", "fuse_count_both"),
        *("fuse_mean_gradient", "fuse_sigmoid_cross_entropy"),
        *("fuse_split_lookup", "sum_of_products", "unrolled_products"),
        *("fuse_threshold_counts", "fuse_collectives"),
        *("fuse_not_default", "fuse_lookup_ids", "fuse_segments_or_zeros"),
        "fuse_counted_hot",
        *("summed_sparse_updates", "overlap_allreduces", "compiled_clusters"),
    ]
)
