"""The neural network builders in one import."""

from __future__ import annotations

from tensorloom.ops.convolution.atrous import (
    atrous_conv2d,
    atrous_conv2d_transpose,
    convolution,
)
from tensorloom.ops.convolution.builders import (
    conv1d,
    conv1d_transpose,
    conv2d,
    conv2d_backprop_filter,
    conv2d_backprop_input,
    conv2d_transpose,
    depthwise_conv2d,
    depthwise_conv2d_native,
    separable_conv2d,
)
from tensorloom.ops.convolution.space_to_batch import with_space_to_batch
from tensorloom.ops.nn.activation import (
    crelu,
    elu,
    leaky_relu,
    relu,
    relu6,
    selu,
    softplus,
    softsign,
)
from tensorloom.ops.nn.batch_norm import fused_batch_norm
from tensorloom.ops.nn.bias import bias_add, relu_layer, xw_plus_b
from tensorloom.ops.nn.dropout import dropout
from tensorloom.ops.nn.embedding import embedding_lookup, embedding_lookup_sparse
from tensorloom.ops.nn.loss import (
    l2_loss,
    log_poisson_loss,
    sigmoid_cross_entropy_with_logits,
    softmax_cross_entropy_with_logits,
    softmax_cross_entropy_with_logits_v2,
    sparse_softmax_cross_entropy_with_logits,
    weighted_cross_entropy_with_logits,
)
from tensorloom.ops.nn.norm import (
    batch_norm_with_global_normalization,
    batch_normalization,
    l2_normalize,
    local_response_normalization,
    moments,
    normalize_moments,
    sufficient_statistics,
    weighted_moments,
)
from tensorloom.ops.nn.softmax import log_softmax, softmax
from tensorloom.ops.nn.top_k import in_top_k, top_k
from tensorloom.ops.pooling.pool import (
    avg_pool,
    avg_pool1d,
    avg_pool_v2,
    max_pool,
    max_pool1d,
    max_pool2d,
    max_pool_v2,
)
from tensorloom.ops.pooling.pool_nd import pool

__all__ = [
    "atrous_conv2d",
    "atrous_conv2d_transpose",
    "avg_pool",
    "avg_pool1d",
    "avg_pool_v2",
    "batch_norm_with_global_normalization",
    "batch_normalization",
    "bias_add",
    "conv1d",
    "conv1d_transpose",
    "conv2d",
    "conv2d_backprop_filter",
    "conv2d_backprop_input",
    "conv2d_transpose",
    "convolution",
    "crelu",
    "depthwise_conv2d",
    "depthwise_conv2d_native",
    "dropout",
    "elu",
    "embedding_lookup",
    "embedding_lookup_sparse",
    "fused_batch_norm",
    "in_top_k",
    "l2_loss",
    "l2_normalize",
    "leaky_relu",
    "local_response_normalization",
    "log_poisson_loss",
    "log_softmax",
    "max_pool",
    "max_pool1d",
    "max_pool2d",
    "max_pool_v2",
    "moments",
    "normalize_moments",
    "pool",
    "relu",
    "relu6",
    "relu_layer",
    "selu",
    "separable_conv2d",
    "sigmoid_cross_entropy_with_logits",
    "softmax",
    "softmax_cross_entropy_with_logits",
    "softmax_cross_entropy_with_logits_v2",
    "softplus",
    "softsign",
    "sparse_softmax_cross_entropy_with_logits",
    "sufficient_statistics",
    "top_k",
    "weighted_cross_entropy_with_logits",
    "weighted_moments",
    "with_space_to_batch",
    "xw_plus_b",
]
