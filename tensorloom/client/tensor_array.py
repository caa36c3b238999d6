"""`tf.TensorArray` for the client; the class stands beside its ops' gradients."""

from __future__ import annotations

from tensorloom.ops.tensor_array import TensorArray, build_ta_with_new_flow

__all__ = ["TensorArray", "build_ta_with_new_flow"]
