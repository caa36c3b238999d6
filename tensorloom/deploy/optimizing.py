"""A model made smaller and faster, and compared before it is written."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from tensorloom.deploy import comparison, examples
from tensorloom.tools.graph_transforms.transform_graph import TransformGraph

if TYPE_CHECKING:
    from tensorloom.deploy.comparison import Comparison
    from tensorloom.deploy.examples import Examples
    from tensorloom.deploy.frozen_model import FrozenModel

#: What is done to a model if nothing else is said: outputs stay as they were.
TRANSFORMS: Final = (
    "remove_nodes(op=Identity, op=CheckNumerics, op=StopGradient)",
    "fold_constants(ignore_errors=true)",
    "fold_batch_norms(ignore_errors=true)",
    "fold_old_batch_norms(ignore_errors=true)",
    "merge_duplicate_nodes",
    "sort_by_execution_order",
)
# What these do to a Switch or Enter, and to what waits for one, is another program.
_BETWEEN_FRAMES: Final = (TRANSFORMS[0], "merge_duplicate_nodes")


def _has_frames(model: FrozenModel) -> bool:
    """Whether a graph has loops or branches in the classic form."""
    return any(node.op in ("Switch", "Enter") for node in model.graph_def.node)


def transformed(
    model: FrozenModel, transforms: Sequence[str] = TRANSFORMS
) -> FrozenModel:
    """A model after transforms of the Graph Transform Tool, by name.

    Raises:
      errors.InvalidArgumentError: a transform is not known, or cannot be done.
    """
    if transforms is TRANSFORMS and _has_frames(model):
        transforms = [one for one in transforms if one not in _BETWEEN_FRAMES]
    kept = [*model.output_nodes, *model.assets]
    # An input with a default is a node like others, and keeps it.
    fed = {node.name for node in model.graph_def.node if node.op == "Placeholder"}
    inputs = [name for name in model.input_nodes if name in fed]
    graph = TransformGraph(model.graph_def, inputs, kept, transforms)
    return model.with_graph(graph)


def compared(
    before: FrozenModel,
    after: FrozenModel,
    given: Examples | None = None,
    *,
    output: str | None = None,
) -> Comparison:
    """Compares two models on examples, or on values that are made up."""
    return comparison.compare(
        before, after, given or examples.made_up(before), output=output
    )
