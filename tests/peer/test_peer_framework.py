"""What the tests of framework and protos have recorded, asked of real TensorFlow."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from google.protobuf import text_format
from google.protobuf.descriptor import FieldDescriptor

import tensorloom.protos
from tensorloom.framework.types.tensor_proto import decode_tensor
from tensorloom.protos.tensor_pb2 import TensorProto
from tests.framework import recorded
from tests.framework.types import test_dtypes
from tests.peer.peers import Peer, read_array
from tests.protos.test_fields import OWN_FIELDS_FROM, OWN_MESSAGES

if TYPE_CHECKING:
    from google.protobuf.message import Message

# What a recorded file's expressions see, written in terms of `tf` and `np`.
PRELUDES = {
    "tensor_shape": "T = tf.TensorShape; D = tf.Dimension; from tensorflow.compat.v1 "
    "import dimension_value, dimension_at_index",
    "device_spec": "from tensorflow.python.framework.device import *\nD = DeviceSpec",
    "array_conversion": """
class Verbatim(str):
    pass
def convert(*args, **kwargs):
    array = tf.make_ndarray(tf.make_tensor_proto(*args, **kwargs))
    name = tf.as_dtype(array.dtype).name
    return Verbatim("%s %s %s" % (name, array.shape, array.tolist()))
""",
    "tensor_proto": """
class Verbatim(str):
    pass
def proto(*args, **kwargs):
    message = tf.make_tensor_proto(*args, **kwargs)
    return Verbatim(message.SerializeToString().hex())
""",
    "dtypes": f"""
as_dtype, DType = tf.as_dtype, tf.DType
FLAGS = {test_dtypes.FLAGS!r}
def facts(t):
    names = (t.name, t.base_dtype.name, t._as_ref.name, t.real_dtype.name)
    size = t.size if t.is_numpy_compatible else 1
    found = names + (size,) + tuple(getattr(t, flag) for flag in FLAGS)
    if not t.is_numpy_compatible or t.base_dtype == tf.bfloat16:
        return found
    return found + (np.dtype(t.as_numpy_dtype).str,)
""",
}

OUTCOMES = """
def outcome(expression):
    try:
        value = eval(expression, globals())
    except Exception as error:
        return "%s %s" % (type(error).__name__, error)
    return value if type(value).__name__ == "Verbatim" else repr(value)

result = [str(outcome(e).replace("\\n", " ")) for e in expressions]
"""


@pytest.mark.parametrize("name", PRELUDES)
def test_recorded_outcomes_are_tensorflows(name: str, peer115: Peer) -> None:
    rows = recorded.read(name)
    source = f"{PRELUDES[name]}\nexpressions = {[row[0] for row in rows]!r}\n{OUTCOMES}"
    answer = peer115.execute(source)
    assert answer["error"] is None, answer["error"]
    found = answer["result"][1]
    differences = [
        f"{expression}: recorded {expected}, TensorFlow {outcome}"
        for (expression, expected), outcome in zip(rows, found, strict=True)
        if outcome != expected
    ]
    assert not differences, "\n".join(differences)


# Messages ---------------------------------------------------------------------------

FOLDER = Path(tensorloom.protos.__file__).parent
# TensorFlow's Python does not have these.
_NOT_IN_PYTHON = {"master", "worker", "distributed_runtime_payloads"}


def _messages() -> list[type[Message]]:
    found = []
    for path in sorted(FOLDER.glob("*.proto")):
        if path.stem in _NOT_IN_PYTHON:
            continue
        module = importlib.import_module(f"tensorloom.protos.{path.stem}_pb2")
        names = module.DESCRIPTOR.message_types_by_name
        found.extend(getattr(module, name) for name in names)
    return found


def _fill(message: Any, depth: int, counter: list[int]) -> None:
    """Sets every field of TensorFlow's (of a oneof the last) to a value of its own."""
    for field in message.DESCRIPTOR.fields:
        if field.number >= OWN_FIELDS_FROM:
            continue
        counter[0] += 1
        kind = field.message_type
        if kind is not None and kind.GetOptions().map_entry:
            _fill_map(getattr(message, field.name), kind, depth, counter)
        elif kind is not None and depth == 0:
            continue
        elif kind is not None and field.is_repeated:
            _fill(getattr(message, field.name).add(), depth - 1, counter)
        elif kind is not None:
            getattr(message, field.name).SetInParent()
            _fill(getattr(message, field.name), depth - 1, counter)
        elif field.is_repeated:
            getattr(message, field.name).extend([_value(field, counter)] * 2)
        else:
            setattr(message, field.name, _value(field, counter))


def _fill_map(entries: Any, kind: Any, depth: int, counter: list[int]) -> None:
    key = _value(kind.fields_by_name["key"], counter)
    value = kind.fields_by_name["value"]
    if value.message_type is None:
        entries[key] = _value(value, counter)
    elif depth:
        _fill(entries[key], depth - 1, counter)


def _value(field: FieldDescriptor, counter: list[int]) -> Any:
    if field.enum_type is not None:
        return field.enum_type.values[-1].number
    return (
        {
            FieldDescriptor.CPPTYPE_STRING: f"s{counter[0]}",
            FieldDescriptor.CPPTYPE_BOOL: True,
            FieldDescriptor.CPPTYPE_FLOAT: counter[0] + 0.5,
            FieldDescriptor.CPPTYPE_DOUBLE: counter[0] + 0.25,
        }.get(field.cpp_type, counter[0])
        if field.type != field.TYPE_BYTES
        else b"\x00b"
    )


def _filled() -> dict[str, Message]:
    messages: dict[str, Message] = {}
    for cls in _messages():
        message = cls()
        _fill(message, 3, [0])
        messages[cls.DESCRIPTOR.full_name.removeprefix("tensorflow.")] = message
    return messages


MESSAGE_PROGRAM = '''
from google.protobuf import descriptor_pool, message_factory, text_format
import tensorflow.core.protobuf.tensor_bundle_pb2
import tensorflow.core.protobuf.trackable_object_graph_pb2
import tensorflow.core.util.event_pb2, tensorflow.core.util.saved_tensor_slice_pb2
import tensorflow.core.example.example_pb2
import tensorflow.core.framework.kernel_def_pb2
import importlib
for path in """core.kernels.boosted_trees.boosted_trees core.profiler.profile
    core.profiler.tfprof_log core.profiler.tfprof_options core.profiler.tfprof_output
    core.protobuf.named_tensor contrib.session_bundle.manifest
    contrib.training.python.training.hparam contrib.boosted_trees.proto.learner
    contrib.boosted_trees.proto.split_info contrib.boosted_trees.proto.quantiles
    contrib.decision_trees.proto.generic_tree_model
    contrib.tensor_forest.proto.fertile_stats
    contrib.tensor_forest.proto.tensor_forest_params
    tsl.profiler.protobuf.xplane""".split():
    try:
        importlib.import_module("tensorflow." + path + "_pb2")
    except ImportError:  # TensorFlow 2 dropped it, or 1.15 has it not
        pass
pool = descriptor_pool.Default()
result = {}
for name, raw in messages.items():
    try:
        descriptor = pool.FindMessageTypeByName("tensorflow." + name)
    except KeyError:
        continue
    if hasattr(message_factory, "GetMessageClass"):
        cls = message_factory.GetMessageClass(descriptor)
    else:
        cls = message_factory.MessageFactory().GetPrototype(descriptor)
    message = cls.FromString(bytes.fromhex(raw))
    result[name] = (
        message.SerializeToString().hex(), text_format.MessageToString(message)
    )
'''


# Messages of tf.contrib, and of the boosted trees that TensorFlow 2 dropped.
_OF_TENSORFLOW_1 = (
    "boosted_trees.",
    "decision_trees.",
    "serving.",
    "tensorforest.",
    "EmbeddingInfo",
    "HParamDef",
    "ProjectorConfig",
    "SpriteMetadata",
)


def _answers(peer: Peer) -> dict[str, tuple[str, str]]:
    raw = {name: m.SerializeToString().hex() for name, m in _filled().items()}
    answer = peer.execute(f"messages = {raw!r}\n{MESSAGE_PROGRAM}")
    assert answer["error"] is None, answer["error"]
    return {name: value[1] for name, value in answer["result"][1]}


def test_messages_mean_the_same_to_tensorflow_2(peer221: Peer) -> None:
    filled, answers = _filled(), _answers(peer221)
    expected = {n for n in filled if not n.startswith(_OF_TENSORFLOW_1)}
    expected.difference_update(OWN_MESSAGES)
    assert len(answers) > 0.95 * len(expected), sorted(expected - set(answers))
    for name, (raw, text) in answers.items():
        assert type(filled[name]).FromString(bytes.fromhex(raw)) == filled[name], name
        # These have fields of TensorFlow 1 only.
        if not name.startswith(("TrackableObjectGraph", "tfprof.")):
            assert text_format.MessageToString(filled[name]) == text, name


def test_messages_survive_tensorflow_1(peer115: Peer) -> None:
    filled, answers = _filled(), _answers(peer115)
    assert len(answers) > 0.7 * len(filled), sorted(set(filled) - set(answers))
    for name, (raw, _) in answers.items():
        assert type(filled[name]).FromString(bytes.fromhex(raw)) == filled[name], name


TENSORS = """
values = [np.arange(6, dtype=np.float32).reshape(2, 3), np.array([True, False]),
          np.array([1.5, -2], np.float16), np.array([1 + 2j]), np.array([7], np.uint16),
          np.array([b"a", b"\\x00"], dtype=object), np.float64(3),
          np.array([], np.int64)]
result = [(v, tf.make_tensor_proto(v).SerializeToString().hex()) for v in values]
"""


@pytest.mark.parametrize("version", ["peer115", "peer221"])
def test_tensors_of_tensorflow_are_read(
    version: str, request: pytest.FixtureRequest
) -> None:
    peer = request.getfixturevalue(version)
    for _, (described, raw) in peer.execute(TENSORS)["result"][1]:
        array = decode_tensor(TensorProto.FromString(bytes.fromhex(raw)))
        if described[0] == "strings":
            assert tuple(array.ravel()) == described[2]
        else:
            expected = read_array(described)
            assert array.dtype == expected.dtype
            assert array.tolist() == expected.tolist()
