"""What `tf.lite` refuses: conversion, and running what was converted."""

from __future__ import annotations

from typing import Any, Final, NoReturn

from tensorloom.framework.export import export
from tensorloom.framework.refusals import export_refused, refuse
from tensorloom.nn.rnn_cells import BasicRNNCell
from tensorloom.nn.rnn_lstm_cell import LSTMCell

_CONVERT: Final = (
    "tensorloom has no TensorFlow Lite converter. Write a SavedModel "
    "(tf.saved_model.simple_save) or a frozen GraphDef "
    "(tf.graph_util.convert_variables_to_constants), and convert that with "
    "TensorFlow's own tflite_convert."
)
_RUN: Final = (
    "tensorloom has no TensorFlow Lite interpreter. Run the model before its "
    "conversion with tf.Session, or the .tflite file with the tflite-runtime package."
)
_HINT: Final = f"{_CONVERT} Operation hints are for that converter alone."

_CONVERSION: Final = "input_data, input_tensors, output_tensors, *args, **kwargs"
_STUBS: Final = "session=None, graph_def=None, write_callback=None"

export_refused("lite", {"toco_convert": _CONVERSION}, _CONVERT)
export_refused(
    "lite.experimental",
    {"convert_op_hints_to_stubs": _STUBS, "get_potentially_supported_ops": ""},
    _CONVERT,
)
export_refused(
    "lite.experimental", {"load_delegate": "library, options=None"}, _RUN
)  # fmt: skip
export_refused(
    "lite.experimental.nn",
    {
        "dynamic_rnn": "cell, inputs, sequence_length=None, initial_state=None, "
        "dtype=None, parallel_iterations=None, swap_memory=False, time_major=True, "
        "scope=None",
    },
    f"{_HINT} Use tf.nn.dynamic_rnn.",
)


class _Converters:
    """What both converters refuse."""

    @classmethod
    def from_session(
        cls, sess: Any, input_tensors: Any, output_tensors: Any
    ) -> NoReturn:
        """Refused."""
        refuse(f"lite.{cls.__name__}.from_session", _CONVERT)

    @classmethod
    def from_frozen_graph(
        cls,
        graph_def_file: Any,
        input_arrays: Any,
        output_arrays: Any,
        input_shapes: Any = None,
    ) -> NoReturn:
        """Refused."""
        refuse(f"lite.{cls.__name__}.from_frozen_graph", _CONVERT)

    @classmethod
    def from_saved_model(
        cls,
        saved_model_dir: Any,
        input_arrays: Any = None,
        input_shapes: Any = None,
        output_arrays: Any = None,
        tag_set: Any = None,
        signature_key: Any = None,
    ) -> NoReturn:
        """Refused."""
        refuse(f"lite.{cls.__name__}.from_saved_model", _CONVERT)


@export("lite.TFLiteConverter")
class TFLiteConverter(_Converters):
    """Refused: the converter of SavedModels, sessions and frozen graphs."""

    def __init__(
        self,
        graph_def: Any,
        input_tensors: Any,
        output_tensors: Any,
        input_arrays_with_shape: Any = None,
        output_arrays: Any = None,
        experimental_debug_info_func: Any = None,
    ) -> None:
        refuse("lite.TFLiteConverter", _CONVERT)

    @classmethod
    def from_keras_model_file(
        cls,
        model_file: Any,
        input_arrays: Any = None,
        input_shapes: Any = None,
        output_arrays: Any = None,
        custom_objects: Any = None,
    ) -> NoReturn:
        """Refused."""
        refuse("lite.TFLiteConverter.from_keras_model_file", _CONVERT)

    def convert(self) -> NoReturn:
        """Refused."""
        refuse("lite.TFLiteConverter.convert", _CONVERT)

    def get_input_arrays(self) -> NoReturn:
        """Refused."""
        refuse("lite.TFLiteConverter.get_input_arrays", _CONVERT)


@export("lite.TocoConverter")
class TocoConverter(_Converters):
    """Refused: the earlier name of the converter."""

    @classmethod
    def from_keras_model_file(
        cls,
        model_file: Any,
        input_arrays: Any = None,
        input_shapes: Any = None,
        output_arrays: Any = None,
    ) -> NoReturn:
        """Refused."""
        refuse("lite.TocoConverter.from_keras_model_file", _CONVERT)


@export("lite.Interpreter")
class Interpreter:
    """Refused: what runs `.tflite` files."""

    def __init__(
        self,
        model_path: Any = None,
        model_content: Any = None,
        experimental_delegates: Any = None,
    ) -> None:
        refuse("lite.Interpreter", _RUN)


@export("lite.OpHint")
class OpHint:
    """Refused: marks a part of a graph for the converter."""

    FUNCTION_NAME_ATTR = "_tflite_function_name"
    FUNCTION_UUID_ATTR = "_tflite_function_uuid"
    FUNCTION_INPUT_INDEX_ATTR = "_tflite_function_input_index"
    FUNCTION_OUTPUT_INDEX_ATTR = "_tflite_function_output_index"
    FUNCTION_SORT_INDEX_ATTR = "_tflite_function_sort_index"
    FUNCTION_AGGREGATE_ATTR = "_tflite_function_aggregate"
    TFLITE_INPUT_INDICES = "_tflite_input_indices"
    FUNCTION_LEVEL_ATTR = "_tflite_ophint_level"
    CHILDREN_INPUTS_MAPPINGS = "_tflite_children_ophint_inputs_mapping"
    AGGREGATE_STACK = "stack"
    AGGREGATE_FIRST = "first"
    AGGREGATE_LAST = "last"

    def __init__(
        self,
        function_name: Any,
        level: Any = 1,
        children_inputs_mappings: Any = None,
        **kwargs: Any,
    ) -> None:
        refuse("lite.OpHint", _HINT)


def _refuse_cell(name: str) -> NoReturn:
    refuse(f"lite.experimental.nn.{name}", f"{_HINT} Use tf.nn.rnn_cell's cells.")


@export("lite.experimental.nn.TFLiteLSTMCell")
class TFLiteLSTMCell(LSTMCell):
    """Refused: an LSTM cell for the converter. Use `tf.nn.rnn_cell.LSTMCell`."""

    def __init__(
        self,
        num_units: Any,
        use_peepholes: bool = False,
        cell_clip: Any = None,
        initializer: Any = None,
        num_proj: Any = None,
        proj_clip: Any = None,
        num_unit_shards: Any = None,
        num_proj_shards: Any = None,
        forget_bias: float = 1.0,
        state_is_tuple: bool = True,
        activation: Any = None,
        reuse: Any = None,
        name: Any = None,
        dtype: Any = None,
    ) -> None:
        _refuse_cell("TFLiteLSTMCell")


@export("lite.experimental.nn.TfLiteRNNCell")
class TfLiteRNNCell(BasicRNNCell):
    """Refused: an RNN cell for the converter. Use `tf.nn.rnn_cell.BasicRNNCell`."""

    def __init__(
        self,
        num_units: Any,
        activation: Any = None,
        reuse: Any = None,
        name: Any = None,
        dtype: Any = None,
        **kwargs: Any,
    ) -> None:
        _refuse_cell("TfLiteRNNCell")
