"""Checkpoints of cells whose variables are called weights and biases, renamed.

TensorFlow called them kernel and bias from 1.2 on.
"""

from __future__ import annotations

import re
from typing import Any, Final

from tensorloom.client.program import program_log
from tensorloom.client.session.session import Session
from tensorloom.client.variables.variable_lists import global_variables_initializer
from tensorloom.client.variables.variables import Variable
from tensorloom.framework.graph.graph import Graph
from tensorloom.protos.saver_pb2 import SaverDef
from tensorloom.train.checkpoints.checkpoint_reader import NewCheckpointReader
from tensorloom.train.checkpoints.saver import Saver

# Layers that have both variables, under these scopes.
_LAYERS: Final = (
    "basic_rnn_cell",
    "gru_cell",
    "gru_cell/gates",
    "gru_cell/candidate",
    "basic_lstm_cell",
    "lstm_cell",
    "lstm_cell/projection",
    "output_projection_wrapper",
    "input_projection_wrapper",
    "lstm_block_wrapper",
    "layer_norm_basic_lstm_cell",
    "ugrnn_cell",
    "nas_rnn",
    "intersection_rnn_cell",
    "intersection_rnn_cell/in_projection",
    "phased_lstm_cell/mask_gates",
    "phased_lstm_cell/new_input",
    "phased_lstm_cell/output_gate",
    "attention_cell_wrapper",
    "attention_cell_wrapper/attn_output_projection",
    "attention_cell_wrapper/attention",
    "attention_decoder",
    "attention_decoder/Attention_0",
    "attention_decoder/AttnOutputProjection",
)
# Of decoders with attention, from TensorFlow 0.x.
_FIRST_NAMES: Final = (
    ("Attention_0/Linear/Bias", "Attention_0/bias"),
    ("Attention_0/Linear/Matrix", "Attention_0/kernel"),
    ("AttnOutputProjection/Linear/Bias", "AttnOutputProjection/bias"),
    ("AttnOutputProjection/Linear/Matrix", "AttnOutputProjection/kernel"),
    ("LSTMCell/B", "lstm_cell/bias"),
    ("LSTMCell/W_0", "lstm_cell/kernel"),
    ("Linear/Bias", "bias"),
    ("Linear/Matrix", "kernel"),
)


def _replacements() -> dict[str, str]:
    found = {}
    for layer in _LAYERS:
        found[f"{layer}/weights"] = f"{layer}/kernel"
        if layer == "nas_rnn":  # has no bias
            found[f"{layer}/recurrent_weights"] = f"{layer}/recurrent_kernel"
        else:
            found[f"{layer}/biases"] = f"{layer}/bias"
    for old, new in _FIRST_NAMES:
        found[f"attention_decoder/{old}"] = f"attention_decoder/{new}"
    return found


# Parts of names, old -> new. The first that a name has is the one that counts.
RNN_NAME_REPLACEMENTS: Final[dict[str, str]] = _replacements()
# The same for variables in parts, `name_0`, `name_1`, ...; all count.
RNN_SHARDED_NAME_REPLACEMENTS: Final[dict[str, str]] = {
    "LSTMCell/W_": "lstm_cell/weights/part_",
    "BasicLSTMCell/Linear/Matrix_": "basic_lstm_cell/weights/part_",
    "GRUCell/W_": "gru_cell/weights/part_",
    "MultiRNNCell/Cell": "multi_rnn_cell/cell_",
}
_NUMBERED: Final = re.compile(r"_[0-9]+$")


def convert_names(
    checkpoint_from_path: str,
    checkpoint_to_path: str,
    write_v1_checkpoint: bool = False,
) -> tuple[dict[str, Any], dict[str, str]]:
    """Writes a checkpoint with the tensors of another one, under today's names.

    Args:
      checkpoint_from_path: the prefix of the one that is there.
      checkpoint_to_path: the prefix of the new one.
      write_v1_checkpoint: in the first format of checkpoints.

    Returns:
      New name -> variable; old name -> new name of those that changed.

    Raises:
      errors.NotFoundError, errors.DataLossError: as `tf.train.NewCheckpointReader`.
    """
    variables: dict[str, Any] = {}
    changed: dict[str, str] = {}
    with Graph().as_default():
        reader = NewCheckpointReader(checkpoint_from_path)
        names = reader.get_variable_to_shape_map()
        for name in names:
            new_name = _new_name(name, names)
            variables[new_name] = Variable(reader.get_tensor(name), name=name)
            if new_name != name:
                program_log.info("Converted: %s --> %s", name, new_name)
                changed[name] = new_name
        version = SaverDef.V1 if write_v1_checkpoint else SaverDef.V2
        saver = Saver(variables, write_version=version)
        with Session() as session:
            session.run(global_variables_initializer())
            saver.save(session, checkpoint_to_path)
    program_log.info("Converted %d variable name(s).", len(variables))
    return variables, changed


def _new_name(name: str, names: Any) -> str:
    if _NUMBERED.search(name) and _NUMBERED.sub("_1", name) in names:
        for old, new in RNN_SHARDED_NAME_REPLACEMENTS.items():
            name = name.replace(old, new)
        return name
    for old, new in RNN_NAME_REPLACEMENTS.items():
        if old in name:
            return name.replace(old, new)
    return name
