"""Names that the SavedModel format fixes."""

from __future__ import annotations

from typing import Final

from tensorloom.framework.export import export_value

ASSETS_DIRECTORY: Final = "assets"
ASSETS_KEY: Final = "saved_model_assets"
LEGACY_INIT_OP_KEY: Final = "legacy_init_op"
MAIN_OP_KEY: Final = "saved_model_main_op"
SAVED_MODEL_FILENAME_PB: Final = "saved_model.pb"
SAVED_MODEL_FILENAME_PBTXT: Final = "saved_model.pbtxt"
SAVED_MODEL_SCHEMA_VERSION: Final = 1
VARIABLES_DIRECTORY: Final = "variables"
VARIABLES_FILENAME: Final = "variables"
# Not public in 1.15.
TRAIN_OP_KEY: Final = "saved_model_train_op"
INIT_OP_SIGNATURE_KEY: Final = "__saved_model_init_op"
TRAIN_OP_SIGNATURE_KEY: Final = "__saved_model_train_op"

DEFAULT_TRAIN_SIGNATURE_DEF_KEY: Final = "train"
DEFAULT_EVAL_SIGNATURE_DEF_KEY: Final = "eval"
EVAL: Final = "eval"

# Signatures: keys, method names, and the names of inputs and outputs.
DEFAULT_SERVING_SIGNATURE_DEF_KEY: Final = "serving_default"
CLASSIFY_INPUTS: Final = "inputs"
CLASSIFY_METHOD_NAME: Final = "tensorflow/serving/classify"
CLASSIFY_OUTPUT_CLASSES: Final = "classes"
CLASSIFY_OUTPUT_SCORES: Final = "scores"
PREDICT_INPUTS: Final = "inputs"
PREDICT_METHOD_NAME: Final = "tensorflow/serving/predict"
PREDICT_OUTPUTS: Final = "outputs"
REGRESS_INPUTS: Final = "inputs"
REGRESS_METHOD_NAME: Final = "tensorflow/serving/regress"
REGRESS_OUTPUTS: Final = "outputs"

# Tags of MetaGraphs.
SERVING: Final = "serve"
TRAINING: Final = "train"
GPU: Final = "gpu"
TPU: Final = "tpu"

_PUBLIC: Final = {
    "constants": (
        "ASSETS_DIRECTORY",
        "ASSETS_KEY",
        "LEGACY_INIT_OP_KEY",
        "MAIN_OP_KEY",
        "SAVED_MODEL_FILENAME_PB",
        "SAVED_MODEL_FILENAME_PBTXT",
        "SAVED_MODEL_SCHEMA_VERSION",
        "VARIABLES_DIRECTORY",
        "VARIABLES_FILENAME",
    ),
    "signature_constants": (
        "CLASSIFY_INPUTS",
        "CLASSIFY_METHOD_NAME",
        "CLASSIFY_OUTPUT_CLASSES",
        "CLASSIFY_OUTPUT_SCORES",
        "DEFAULT_SERVING_SIGNATURE_DEF_KEY",
        "PREDICT_INPUTS",
        "PREDICT_METHOD_NAME",
        "PREDICT_OUTPUTS",
        "REGRESS_INPUTS",
        "REGRESS_METHOD_NAME",
        "REGRESS_OUTPUTS",
    ),
    "tag_constants": ("GPU", "SERVING", "TPU", "TRAINING"),
}
for _module, _names in _PUBLIC.items():
    for _name in _names:
        export_value(
            globals()[_name], f"saved_model.{_name}", f"saved_model.{_module}.{_name}"
        )
