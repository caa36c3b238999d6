"""Object-based checkpoints (`tf.train.Checkpoint`) read by the names of variables."""

from __future__ import annotations

from typing import Any

from tensorloom.client.variables.variable_lists import _all_saveable_objects
from tensorloom.framework import errors
from tensorloom.storage.checkpoints import checkpoints
from tensorloom.train.checkpoints.saver_saveables import (
    SaveableObject,
    validate_and_slice_inputs,
)

OBJECT_GRAPH_KEY = b"_CHECKPOINTABLE_OBJECT_GRAPH"


def object_graph(checkpoint_path: str) -> Any:
    """The `TrackableObjectGraph` of an object-based checkpoint.

    Raises:
      NotFoundError: the checkpoint is not object-based.
      DataLossError: the message is damaged.
    """
    from google.protobuf.message import DecodeError

    from tensorloom.protos import trackable_object_graph_pb2

    data = checkpoints.read_tensor(checkpoint_path, OBJECT_GRAPH_KEY)
    graph = trackable_object_graph_pb2.TrackableObjectGraph()
    try:
        graph.ParseFromString(data.item())
    except (DecodeError, ValueError, TypeError):
        raise errors.DataLossError(
            None, None, f"The object graph of {checkpoint_path} is damaged"
        ) from None
    return graph


def object_graph_key_mapping(checkpoint_path: str) -> dict[str, str]:
    """From the names of variables to the keys of an object-based checkpoint.

    Raises:
      NotFoundError: the checkpoint is not object-based.
      DataLossError: its object graph is damaged.
    """
    return {
        attribute.full_name: attribute.checkpoint_key
        for node in object_graph(checkpoint_path).nodes
        for attribute in node.attributes
    }


def remapped_saveables(
    checkpoint_path: str, var_list: Any, names_to_keys: dict[str, str] | None
) -> list[SaveableObject]:
    """The saveables of variables under the keys of an object-based checkpoint.

    Raises:
      ValueError: the checkpoint is not object-based.
      NotFoundError: a variable is not in it.
    """
    if names_to_keys is None:
        try:
            names_to_keys = object_graph_key_mapping(checkpoint_path)
        except errors.NotFoundError:
            raise ValueError(
                f"Checkpoint in {checkpoint_path} not an object-based checkpoint."
            ) from None
    if var_list is None:
        var_list = _all_saveable_objects()
    saveables = validate_and_slice_inputs(var_list)
    current = {spec.name for saveable in saveables for spec in saveable.specs}
    missing = current - names_to_keys.keys()
    if missing:
        raise errors.NotFoundError(
            None, None, _missing_text(missing, current, set(names_to_keys))
        )
    for saveable in saveables:
        for spec in saveable.specs:
            spec.name = names_to_keys[spec.name]
    return saveables


def _missing_text(missing: set[str], current: set[str], previous: set[str]) -> str:
    return (
        f"\n\nExisting variables not in the checkpoint: {', '.join(sorted(missing))}"
        "\n\nVariables names when this checkpoint was written which don't exist now: "
        f"{', '.join(sorted(previous - current))}"
        f"\n\n({len(previous & current)} variable name(s) did match)\n\n"
        "The checkpoint is object-based (tf.train.Checkpoint or Keras save_weights), "
        "and was read by the names that its variables had when it was written. Give "
        "the Saver a var_list of the variables that it holds, or, for those that have "
        "another name now, a dictionary with the old names as keys."
    )
