"""Ops that graphs had up to a version: TensorFlow refuses them in newer graphs."""

from __future__ import annotations

from typing import Any

import pytest
from google.protobuf import text_format

import tensorloom as tf
from tensorloom.framework.registry import op_def_proto, op_registry

_CONST = """
node { name: 'a' op: 'Const' attr { key: 'dtype' value { type: DT_FLOAT } }
  attr { key: 'value' value { tensor { dtype: DT_FLOAT float_val: 2
    tensor_shape { dim { size: 1 } dim { size: 1 } } } } } }
"""
_NODE = """
node { name: 'b' op: 'BatchMatrixInverse' input: 'a'
  attr { key: 'T' value { type: DT_FLOAT } } }
"""
_FUNCTION = """
library { function { signature { name: 'F' input_arg { name: 'x' type: DT_FLOAT }
    output_arg { name: 'y' type: DT_FLOAT } }
  node_def { name: 'b' op: 'BatchMatrixInverse' input: 'x'
    attr { key: 'T' value { type: DT_FLOAT } } }
  ret { key: 'y' value: 'b:output:0' } } }
"""
_CALL = "node { name: 'b' op: 'F' input: 'a' }"

# Text, the version that it has, and when 1.15 says UnimplementedError, if it does.
_GRAPHS: dict[str, tuple[str, int, str]] = {
    "older": (_CONST + _NODE, 12, ""),
    "as new": (_CONST + _NODE, 13, "import"),
    "newer": (_CONST + _NODE, 134, "import"),
    "older function": (_CONST + _CALL + _FUNCTION, 12, ""),
    "function": (_CONST + _CALL + _FUNCTION, 13, "run"),
    "function that nobody calls": (_CONST + _FUNCTION, 13, ""),
}


@pytest.mark.parametrize("case", _GRAPHS)
def test_an_imported_op_must_be_of_the_graphs_time(case: str) -> None:
    text, producer, when = _GRAPHS[case]
    message = text_format.Parse(text, tf.GraphDef())
    message.versions.producer = producer
    said = ""
    with tf.Graph().as_default() as graph, tf.Session() as session:
        try:
            said = "import"
            tf.import_graph_def(message, name="")
            said = "run"
            last = message.node[-1].name
            assert session.run(f"{last}:0") == (2.0 if last == "a" else 0.5)
            said = ""
        except tf.errors.UnimplementedError as error:
            assert "has been removed in version 13" in str(error)  # noqa: PT017
        else:
            assert graph.graph_def_versions.producer == producer
    assert said == when


_BUILT: dict[str, dict[str, Any]] = {
    "BatchCholesky": {"input": [[1.0]]},
    "BatchFFT": {"input": [1j]},
    "BatchMatrixDiag": {"diagonal": [1.0]},
    "BatchSelfAdjointEig": {"input": [[1.0]]},
    "IdentityReader": {},
    "MatrixExponential": {"input": [[1.0]]},
    "PlaceholderV2": {"dtype": tf.float32, "shape": []},
    "QuantizeAndDequantize": {"input": [1.0]},
    "RandomPoisson": {"shape": [1], "rate": 1.0},
    "TensorArrayV2": {"size": 1, "dtype": tf.float32},
    "TopK": {"input": [1.0], "k": 1},
}


@pytest.mark.parametrize("op", _BUILT)
def test_a_new_graph_cannot_get_one(op: str) -> None:
    with tf.Graph().as_default() as graph:
        with pytest.raises(NotImplementedError, match="has been removed in version"):
            getattr(tf.raw_ops, op)(**_BUILT[op])
        assert not graph.get_operations()


def test_a_graph_of_its_time_can_get_one() -> None:
    message = text_format.Parse(_CONST + _NODE, tf.GraphDef())
    message.versions.producer = 12
    with tf.Graph().as_default(), tf.Session() as session:
        (a,) = tf.import_graph_def(message, return_elements=["a:0"])
        assert session.run(tf.raw_ops.BatchMatrixInverse(input=a)) == 0.5


def test_the_definition_says_it() -> None:
    op_def = op_registry.find("TopK")
    assert op_def is not None
    proto = op_def_proto.to_proto(op_def)
    assert (proto.deprecation.version, proto.deprecation.explanation) == (
        7,
        "Use TopKV2 instead",
    )
    assert op_def_proto.from_proto(proto).deprecated == op_def.deprecated


@pytest.mark.parametrize("add_shapes", [False, True])
def test_versions_that_must_not_read_a_graph_are_kept(add_shapes: bool) -> None:
    message = text_format.Parse(_CONST, tf.GraphDef())
    message.versions.producer, message.versions.min_consumer = 21, 3
    message.versions.bad_consumers.append(7)
    with tf.Graph().as_default() as graph:
        tf.constant(1)
        tf.import_graph_def(message, name="")
        kept = graph.as_graph_def(add_shapes=add_shapes).versions
    assert (kept.producer, kept.min_consumer, list(kept.bad_consumers)) == (21, 3, [7])
