"""FunctionDef to FunctionIR and back."""

from __future__ import annotations

import pytest
from google.protobuf import text_format

from tensorloom.framework import dtypes, graph_def
from tensorloom.framework.errors import (
    InvalidArgumentError,
    NotFoundError,
    UnimplementedError,
)
from tensorloom.framework.graph_ir import FunctionIR, GraphIR
from tensorloom.framework.tensor_shape import TensorShape
from tensorloom.protos.function_pb2 import FunctionDefLibrary
from tests.framework import toy_ops
from tests.framework.test_graph_def import assert_equal, node

FLOAT = dtypes.float32


@pytest.fixture(autouse=True)
def _toy_ops(monkeypatch: pytest.MonkeyPatch) -> None:
    toy_ops.register(monkeypatch)


def half_sum() -> FunctionIR:
    nodes = [
        node("s", "Split", [("x", 0)], ["log"], T=FLOAT, N=2),
        node("log", "NoOp"),
        node("z", "Add", [("s", 1), ("y", 0)], T=FLOAT),
    ]
    return FunctionIR(
        name="half_sum",
        arg_names=("x", "y"),
        arg_types=(FLOAT, FLOAT),
        output_names=("sum", "same"),
        output_types=(FLOAT, FLOAT),
        nodes={n.name: n for n in (nodes[1], nodes[0], nodes[2])},
        returns=(("z", 0), ("y", 0)),
        control_returns=("log",),
        attrs={"_noinline": True},
        gradient="half_sum_grad",
        is_stateful=True,
        arg_shapes=(TensorShape([2, None]), TensorShape(None)),
    )


def caller() -> FunctionIR:
    inner = node("i", "NoOp")
    return FunctionIR("half_sum_grad", (), (), (), (), {inner.name: inner}, ())


def library() -> dict[str, FunctionIR]:
    return {f.name: f for f in (half_sum(), caller())}


def test_there_and_back() -> None:
    proto = graph_def.to_proto(GraphIR(functions=library()))
    functions = graph_def.from_proto(proto).functions
    assert list(functions) == ["half_sum", "half_sum_grad"]
    for name, expected in library().items():
        found = functions[name]
        for field in FunctionIR.__dataclass_fields__:
            if field not in ("nodes", "arg_shapes"):
                assert getattr(found, field) == getattr(expected, field), field
        assert_equal(GraphIR(found.nodes), GraphIR(expected.nodes))
    shapes = functions["half_sum"].arg_shapes
    assert shapes is not None
    assert [shape.dims_tuple for shape in shapes] == [(2, None), None]


def test_tensors_are_named_by_output_arguments() -> None:
    proto = graph_def.function_library_to_proto(library()).function[0]
    inputs = {n.name: list(n.input) for n in proto.node_def}
    assert inputs == {"log": [], "s": ["x", "^log"], "z": ["s:y:1", "y"]}
    assert dict(proto.ret) == {"sum": "z:z:0", "same": "y"}
    assert dict(proto.control_ret) == {"log": "log"}


def test_a_function_is_called_by_its_name() -> None:
    functions = library()
    call = node("z", "NoOp").replace(
        op="half_sum", inputs=(("x", 0), ("x", 0)), output_types=(FLOAT, FLOAT)
    )
    functions["outer"] = FunctionIR(
        "outer", ("x",), (FLOAT,), ("r",), (FLOAT,), {"z": call}, (("z", 1),)
    )
    proto = graph_def.to_proto(GraphIR(functions=functions))
    assert dict(proto.library.function[2].ret) == {"r": "z:same:0"}
    assert graph_def.from_proto(proto).functions["outer"].returns == (("z", 1),)


SIGNATURE = (
    'signature { name: "f" input_arg { name: "x" type: DT_FLOAT } '
    'output_arg { name: "r" type: DT_FLOAT } } '
)
ADD = (
    'node_def {{ name: "n" op: "{op}" input: "{a}" input: "x" '
    'attr {{ key: "T" value {{ type: DT_FLOAT }} }} }} '
)
RET = 'ret { key: "r" value: "n:z:0" }'


def _body(op: str = "Add", a: str = "x", ret: str = RET) -> str:
    return SIGNATURE + ADD.format(op=op, a=a) + ret


MALFORMED = [
    (_body(ret=""), "output 'r' is not returned"),
    (_body(a="y"), "Unknown input 'y'"),
    (_body(a="n:z:0"), "cycle"),
    (_body(a="^x"), "Control dependencies must come after"),
    (_body(ret='ret { key: "r" value: "n:q:0" }'), "'n:q:0' is not an output"),
    (_body(ret='ret { key: "r" value: "n:z:1" }'), "'n:z:1' is not an output"),
    (_body() + ADD.format(op="Add", a="x"), "Node 'n' is not unique"),
    (SIGNATURE.replace("DT_FLOAT", "99") + RET, "unknown data type 99"),
]


def _read(text: str) -> FunctionDefLibrary:
    proto = FunctionDefLibrary()
    text_format.Parse(text, proto.function.add())
    return proto


@pytest.mark.parametrize(("text", "message"), MALFORMED)
def test_refuses(text: str, message: str) -> None:
    with pytest.raises(InvalidArgumentError, match=message):
        graph_def.functions_from_proto(_read(text))


def test_an_unknown_op_is_not_found() -> None:
    with pytest.raises(NotFoundError, match="'FooBar'"):
        graph_def.functions_from_proto(_read(_body(op="FooBar")))


def test_a_polymorphic_function_is_unimplemented() -> None:
    text = 'signature { name: "f" input_arg { name: "x" type_attr: "T" } }'
    with pytest.raises(UnimplementedError, match="depends on an attr"):
        graph_def.functions_from_proto(_read(text))


def test_two_functions_of_one_name_are_refused() -> None:
    proto = _read(_body())
    proto.function.add().CopyFrom(proto.function[0])
    assert list(graph_def.functions_from_proto(proto)) == ["f"]  # the same twice
    proto.function[1].signature.is_stateful = True
    with pytest.raises(InvalidArgumentError, match="'f' is not unique"):
        graph_def.functions_from_proto(proto)


def test_reading_does_not_change_the_message() -> None:
    proto = _read(_body() + "arg_attr { key: 0 value { } }")
    before = proto.SerializeToString(deterministic=True)
    graph_def.functions_from_proto(proto)
    assert proto.SerializeToString(deterministic=True) == before
