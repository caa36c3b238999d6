"""FunctionDef to FunctionIR and back."""

from __future__ import annotations

import pytest
from google.protobuf import text_format

from tensorloom.framework.errors import InvalidArgumentError, NotFoundError
from tensorloom.framework.graph import graph_def
from tensorloom.framework.graph.graph_ir import FunctionIR, GraphIR
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.tensor_shape import TensorShape
from tensorloom.protos.function_pb2 import FunctionDefLibrary
from tests.framework import toy_ops
from tests.framework.graph.test_graph_def import assert_equal, node

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


def _node(name: str, op: str, attrs: str = "", *inputs: str) -> str:
    given = " ".join(f'input: "{text}"' for text in inputs)
    return f'node_def {{ name: "{name}" op: "{op}" {given} {attrs} }} '


FLOATS = 'attr { key: "T" value { type: DT_FLOAT } } '
UNDECLARED = 'signature { name: "f" input_arg { name: "x" type_attr: "T" } }'
# What TensorFlow 1.15 raises when such a function is called.
MALFORMED = [
    (_body(ret=""), "output 'r' is not returned"),
    (_body(a="y"), "node 'n' .op Add.: Unknown input 'y'"),
    (_body(a="n:z:0"), "cycle"),
    (_body(a="^x"), "Control dependencies must come after"),
    (SIGNATURE + _node("n", "Add", FLOATS, "x", "x", "^y") + RET, "Unknown node 'y'"),
    (_body(ret='ret { key: "r" value: "n:q:0" }'), "'n:q:0' is not an output"),
    (_body(ret='ret { key: "r" value: "n:z:1" }'), "'n:z:1' is not an output"),
    (_body(ret='ret { key: "r" value: "m:z:0" }'), "Unknown input 'm:z:0'"),
    (_body() + ADD.format(op="Add", a="x"), "node 'n' .op Add.: Node 'n' is not uniq"),
    (_body() + _node("n n", "NoOp"), "invalid characters"),
    (_body() + _node("m", "Add", FLOATS, "x"), "do not match 1 inputs"),
    (_body() + _node("m", "Add", FLOATS, "x", "x", "x"), "do not match 3 inputs"),
    (
        _body() + _node("m", "Add", FLOATS.replace("FLOAT", "INT32"), "x", "x"),
        "node 'm' .op Add.: input 0 expected type int32 != float32",
    ),
    (
        _body() + _node("m", "Add", FLOATS.replace("type: DT_FLOAT", "i: 3")),
        "with type 'int' when 'type' expected",
    ),
    (SIGNATURE.replace("FLOAT", "INT32", 1) + RET, "Unknown input 'n:z:0'"),
    (
        SIGNATURE.replace("FLOAT", "INT32", 1) + 'ret { key: "r" value: "x" }',
        "invalid return type: output 'r' is float32",
    ),
    (SIGNATURE.replace('"r"', '""') + RET, "an output has no name"),
    (
        SIGNATURE.replace('"f"', '"f" input_arg { name: "x" type: DT_FLOAT }') + RET,
        "duplicated argument name 'x'",
    ),
    (SIGNATURE.replace("DT_FLOAT", "99") + RET, "unknown data type 99"),
]
NOT_FOUND = [
    (_body(op="FooBar"), "node 'n' .op FooBar.: Op type not registered 'FooBar'"),
    (_body() + _node("m", ""), "Op type not registered ''"),
    (_body() + _node("m", "Add", "", "x", "x"), "node 'm' .op Add.*missing attr 'T'"),
    (UNDECLARED, "type of argument 'x' depends on the attr 'T'"),
    # Templates, which need attrs.
    (_body().replace('"f"', '"f" attr { name: "T" type: "type" }'), "its attrs: T"),
    (
        _body()
        + _node("m", "Add", FLOATS.replace("type: DT_FLOAT", 'placeholder: "S"')),
        "its attrs: S",
    ),
]
# TensorFlow imports calls of these, and fails when it makes the kernel.
LATE = [
    (
        _body() + _node("m", "Add", FLOATS + FLOATS.replace("T", "zz", 1), "x", "x"),
        "node 'm' .op Add.: NodeDef mentions attr 'zz' not in the op",
    ),
    (
        _body() + _node("m", "Const", 'attr { key: "dtype" value { type: DT_FLOAT } }'),
        "missing attr 'value'",
    ),
]


def _read(text: str) -> FunctionDefLibrary:
    proto = FunctionDefLibrary()
    text_format.Parse(text, proto.function.add())
    return proto


@pytest.mark.parametrize(
    ("text", "message", "kind", "is_late"),
    [(*row, InvalidArgumentError, False) for row in MALFORMED]
    + [(*row, NotFoundError, False) for row in NOT_FOUND]
    + [(*row, InvalidArgumentError, True) for row in LATE],
)
def test_what_is_wrong_is_told_to_who_calls(
    text: str, message: str, kind: type[Exception], is_late: bool
) -> None:
    library = _read(text)
    functions = graph_def.functions_from_proto(library)
    with pytest.raises(kind, match=f"^Function 'f'.*{message}(.|\n)*mend it"):
        functions["f"].check()
    problem = functions["f"].problem
    assert problem is not None
    assert problem.is_late == is_late
    assert not functions["f"].nodes
    # It is kept as it came, and is as wrong when it is read again.
    assert graph_def.function_library_to_proto(functions) == library
    again = graph_def.functions_from_proto(library)["f"].problem
    assert again is not None
    assert again.message == problem.message


def test_what_calls_a_function_without_signature_cannot_be_called() -> None:
    library = _read(UNDECLARED)
    outer = library.function.add()
    text_format.Parse(_body(op="f", a="x").replace('"f"', '"outer"', 1), outer)
    functions = graph_def.functions_from_proto(library)
    with pytest.raises(NotFoundError, match=r"'outer', node 'n' .op f.: Function 'f'"):
        functions["outer"].check()
    assert graph_def.function_library_to_proto(functions) == library


def test_an_argument_of_several_tensors_is_all_of_them() -> None:
    """As C++ writes functions; Python writes the index of each."""
    split = _node("s", "Split", FLOATS + 'attr { key: "N" value { i: 2 } }', "x")
    add = _node("n", "Add", FLOATS, "s:y")
    library = _read(SIGNATURE + split + add + RET)
    function = graph_def.functions_from_proto(library)["f"]
    assert function.nodes["n"].inputs == (("s", 0), ("s", 1))
    wrong = _read(SIGNATURE + split + 'ret { key: "r" value: "s:y" }')
    with pytest.raises(InvalidArgumentError, match="'s:y' is 2 tensors"):
        graph_def.functions_from_proto(wrong)["f"].check()


def test_control_returns_of_no_node_are_ignored() -> None:
    text = _body().replace('"f"', '"f" control_output: "a" control_output: "b"')
    library = _read(text + 'control_ret { key: "a" value: "gone" }')
    function = graph_def.functions_from_proto(library)["f"]
    assert function.problem is None
    assert function.control_returns == ()


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
