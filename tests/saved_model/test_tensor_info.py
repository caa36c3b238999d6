"""How signatures name tensors that are made of several."""

from __future__ import annotations

from pathlib import Path

import pytest

import tensorloom as tf
from tensorloom.protos import meta_graph_pb2

# TensorFlow 1.15's, of a float RaggedTensor [2, ?, ?] and of one with int32 splits.
NESTED = """
composite_tensor {
  type_spec {
    type_spec_class: RAGGED_TENSOR_SPEC
    type_state { tuple_value {
      values { tensor_shape_value {
        dim { size: 2 } dim { size: -1 } dim { size: -1 }
      } }
      values { tensor_dtype_value: DT_FLOAT }
      values { int64_value: 2 }
      values { tensor_dtype_value: DT_INT64 }
    } }
    type_spec_class_name: "RaggedTensorSpec"
  }
  components { name: "r/values:0" dtype: DT_FLOAT tensor_shape { dim { size: 4 } } }
  components { name: "r/Const_1:0" dtype: DT_INT64 tensor_shape { dim { size: 3 } } }
  components { name: "r/Const:0" dtype: DT_INT64 tensor_shape { dim { size: 4 } } }
}
"""


def test_ragged() -> None:
    from google.protobuf import text_format

    ragged = tf.ragged.constant([[[1.0], [2.0, 3.0]], [[4.0]]], name="r")
    info = tf.saved_model.build_tensor_info(ragged)
    assert info == text_format.Parse(NESTED, meta_graph_pb2.TensorInfo())
    found = tf.saved_model.get_tensor_from_tensor_info(info)
    with tf.Session() as sess:
        assert sess.run(found).to_list() == [[[1.0], [2.0, 3.0]], [[4.0]]]


def test_a_composite_of_an_unknown_type() -> None:
    tf.constant(1, name="c")
    info = meta_graph_pb2.TensorInfo()
    info.composite_tensor.components.add(name="c:0")
    with pytest.raises(ValueError, match="no known type"):
        tf.saved_model.get_tensor_from_tensor_info(info)


def test_a_model_with_a_ragged_output(tmp_path: Path) -> None:
    x = tf.placeholder(tf.int64, [None], name="x")
    path = str(tmp_path / "m")
    with tf.Session() as sess:
        tf.get_variable("v", initializer=1)
        sess.run(tf.global_variables_initializer())
        tf.saved_model.simple_save(sess, path, {"x": x}, {"y": tf.ragged.range(x)})
    with tf.Session(graph=tf.Graph()) as sess:
        meta = tf.saved_model.load(sess, ["serve"], path)
        signature = meta.signature_def["serving_default"]
        y = tf.saved_model.get_tensor_from_tensor_info(signature.outputs["y"])
        assert sess.run(y, {"x:0": [2, 0, 1]}).to_list() == [[0, 1], [], [0]]
