"""Layers, argument scopes and variables under the names that slim gives them."""

from __future__ import annotations

from typing import Final

from tensorloom.client.program import arg_scope  # noqa: F401
from tensorloom.client.variables import framework_variables  # noqa: F401
from tensorloom.contrib.framework import (  # noqa: F401
    assigning,
    graph_queries,
    model_variables,
)
from tensorloom.contrib.layers import (  # noqa: F401 - they declare the names
    batch_normalization,
    convolutions,
    dense,
    depthwise,
    divisive,
    encoders,
    gradient_scaling,
    initializers,
    keypoints,
    legacy_dense,
    normalization,
    pooling,
    recomputing,
    regularizers,
    reversible,
    shaping,
    tensor_summaries,
    training_step,
)
from tensorloom.framework import export
from tensorloom.train import training_util  # noqa: F401

# By the module below slim that has them too; under "" those that none has.
_OF_LAYERS: Final = {
    "layers": [
        "avg_pool2d",
        "avg_pool3d",
        "batch_norm",
        "bias_add",
        "conv1d",
        "conv2d",
        "conv2d_in_plane",
        "conv2d_transpose",
        "conv3d",
        "conv3d_transpose",
        "convolution",
        "convolution1d",
        "convolution2d",
        "convolution2d_in_plane",
        "convolution2d_transpose",
        "convolution3d",
        "convolution3d_transpose",
        "dense_to_sparse",
        "dropout",
        "elu",
        "flatten",
        "fully_connected",
        "images_to_sequence",
        "layer_norm",
        "linear",
        "max_pool2d",
        "max_pool3d",
        "maxout",
        "one_hot_encoding",
        "relu",
        "relu6",
        "repeat",
        "separable_conv2d",
        "separable_convolution2d",
        "sequence_to_images",
        "softmax",
        "stack",
        "unit_norm",
    ],
    "initializers": [
        "variance_scaling_initializer",
        "xavier_initializer",
        "xavier_initializer_conv2d",
    ],
    "regularizers": [
        "apply_regularization",
        "l1_l2_regularizer",
        "l1_regularizer",
        "l2_regularizer",
        "sum_regularizer",
    ],
    "": [
        "OPTIMIZER_CLS_NAMES",
        "OPTIMIZER_SUMMARIES",
        "bow_encoder",
        "embed_sequence",
        "embedding_lookup_unique",
        "GDN",
        "RevBlock",
        "gdn",
        "group_norm",
        "instance_norm",
        "legacy_fully_connected",
        "legacy_linear",
        "legacy_relu",
        "optimize_loss",
        "recompute_grad",
        "rev_block",
        "scale_gradient",
        "spatial_softmax",
        "safe_embedding_lookup_sparse",
        "summarize_activation",
        "summarize_activations",
        "summarize_collection",
        "summarize_tensor",
        "summarize_tensors",
    ],
}
_OF_FRAMEWORK: Final = [
    "add_arg_scope",
    "add_model_variable",
    "arg_scope",
    "arg_scoped_arguments",
    "VariableDeviceChooser",
    "assert_global_step",
    "assert_or_get_global_step",
    "assign_from_checkpoint",
    "assign_from_checkpoint_fn",
    "assign_from_values",
    "assign_from_values_fn",
    "create_global_step",
    "current_arg_scope",
    "filter_variables",
    "get_global_step",
    "get_local_variables",
    "get_model_variables",
    "get_or_create_global_step",
    "get_trainable_variables",
    "get_unique_variable",
    "get_variable_full_name",
    "get_variables",
    "get_variables_by_name",
    "get_variables_by_suffix",
    "get_variables_to_restore",
    "global_variable",
    "has_arg_scope",
    "local_variable",
    "model_variable",
    "variable",
]

for _module, _names in _OF_LAYERS.items():
    for _name in _names:
        _value = export.find(f"contrib.layers.{_name}")
        export.export_value(_value, f"contrib.slim.{_name}")
        if _module:
            export.export_value(_value, f"contrib.slim.{_module}.{_name}")
for _name in _OF_FRAMEWORK:
    _value = export.find(f"contrib.framework.{_name}")
    export.export_value(_value, f"contrib.slim.{_name}")
