"""Names of `tf.contrib.checkpoint` that are elsewhere too; graphs of checkpoints."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

from tensorloom.client.variables.variable_scope import variable_creator_scope
from tensorloom.compat.internals.tracking_functions import list_objects
from tensorloom.framework.export import export, export_value
from tensorloom.framework.types.trackable import Trackable
from tensorloom.framework.types.trackable_structures import AutoTrackable, NoDependency
from tensorloom.protos.trackable_object_graph_pb2 import TrackableObjectGraph
from tensorloom.train.checkpoints.checkpoint_manager import CheckpointManager
from tensorloom.train.checkpoints.checkpoint_reader import NewCheckpointReader
from tensorloom.train.checkpoints.object_graph import OBJECT_GRAPH_KEY
from tensorloom.train.checkpoints.object_saveables import PythonState

_VALUE = "VARIABLE_VALUE"

export_value(CheckpointManager, "contrib.checkpoint.CheckpointManager")
export_value(AutoTrackable, "contrib.checkpoint.Checkpointable")
export_value(Trackable, "contrib.checkpoint.CheckpointableBase")
export_value(TrackableObjectGraph, "contrib.checkpoint.CheckpointableObjectGraph")
export_value(NoDependency, "contrib.checkpoint.NoDependency")
export_value(PythonState, "contrib.checkpoint.PythonStateWrapper")
export_value(list_objects, "contrib.checkpoint.list_objects")


@export("contrib.checkpoint.object_metadata")
def object_metadata(save_path: str) -> Any:
    """The graph of objects in a checkpoint, a `CheckpointableObjectGraph`.

    Raises:
      ValueError: the checkpoint has none.
    """
    reader = NewCheckpointReader(save_path)
    if not reader.has_tensor(OBJECT_GRAPH_KEY):
        raise ValueError(
            f"The checkpoint {save_path} has no graph of objects (no key "
            f"{OBJECT_GRAPH_KEY}): a name-based Saver wrote it."
        )
    graph = TrackableObjectGraph()
    graph.ParseFromString(reader.get_tensor(OBJECT_GRAPH_KEY))
    return graph


@export("contrib.checkpoint.dot_graph_from_checkpoint")
def dot_graph_from_checkpoint(save_path: str) -> str:
    """The graph of objects in a checkpoint, in the language of Graphviz.

    Raises:
      ValueError: the checkpoint has none.
    """
    reader = NewCheckpointReader(save_path)
    shapes = reader.get_variable_to_shape_map()
    types = reader.get_variable_to_dtype_map()
    nodes = object_metadata(save_path).nodes
    slots = {one.slot_variable_node_id for node in nodes for one in node.slot_variables}
    lines = ["digraph {"]
    for number, node in enumerate(nodes):
        if [one.name for one in node.attributes] == [_VALUE]:
            (value,) = node.attributes
            color = "orange" if number in slots else "blue"
            what = "Slot variable" if number in slots else "Variable"
            lines.append(
                f'N_{number} [shape=point label="" color={color} width=.25 '
                f'tooltip="{what} {_escaped(value.full_name)} '
                f"shape={shapes[value.checkpoint_key]} "
                f'{types[value.checkpoint_key].name}"]'
            )
        elif node.slot_variables:
            lines.append(
                f'N_{number} [shape=point label="" width=.25 '
                'color=red,tooltip="Optimizer"]'
            )
        else:
            lines.append(f'N_{number} [shape=point label="" width=.25]')
        lines.extend(
            f'N_{number} -> N_{one.node_id} [label="{_escaped(one.local_name)}"]'
            for one in node.children
        )
        for slot in node.slot_variables:
            target = slot.slot_variable_node_id
            label = _escaped(slot.slot_name)
            lines.append(f'N_{number} -> N_{target} [label="{label}" style=dotted]')
            lines.append(
                f"N_{slot.original_variable_node_id} -> N_{target} [style=dotted]"
            )
    return "\n".join([*lines, "}", ""])


def _escaped(name: str) -> str:
    return name.replace('"', '\\"')


@export("contrib.checkpoint.capture_dependencies")
@contextlib.contextmanager
def capture_dependencies(template: Any) -> Iterator[None]:
    """Variables made within, under the scope of a template, are saved with it.

    Args:
      template: what `tf.make_template` gives.
    """
    prefix = f"{template.variable_scope.name}/"

    def make(next_creator: Callable[..., Any], **kwargs: Any) -> Any:
        variable = next_creator(**kwargs)
        name = variable.op.name
        if name.startswith(prefix):
            template._track_trackable(
                variable, name=name.removeprefix(prefix), overwrite=True
            )
        return variable

    with variable_creator_scope(make):
        yield
