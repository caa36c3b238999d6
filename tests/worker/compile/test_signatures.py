"""Functions that do not fit their node, as TensorFlow 1.15 refuses them."""

from __future__ import annotations

import pytest
from google.protobuf import text_format

import tensorloom as tf

_LIBRARY = """
library {
  function {
    signature {
      name: "square"
      input_arg { name: "a" type: DT_FLOAT }
      output_arg { name: "b" type: DT_FLOAT }
    }
    node_def {
      name: "m" op: "Mul" input: "a" input: "a"
      attr { key: "T" value { type: DT_FLOAT } }
    }
    ret { key: "b" value: "m:z:0" }
  }
  function {
    signature {
      name: "integers"
      input_arg { name: "a" type: DT_INT32 }
      output_arg { name: "b" type: DT_INT32 }
    }
    ret { key: "b" value: "a" }
  }
  function {
    signature { name: "nothing" input_arg { name: "a" type: DT_FLOAT } }
  }
  function {
    signature {
      name: "itself"
      input_arg { name: "a" type: DT_FLOAT }
      output_arg { name: "b" type: DT_FLOAT }
    }
    node_def { name: "m" op: "itself" input: "a" }
    ret { key: "b" value: "m:b:0" }
  }
}
"""
_CONSTANTS = """
node {
  name: "x" op: "Const" attr { key: "dtype" value { type: DT_FLOAT } }
  attr { key: "value" value { tensor {
    dtype: DT_FLOAT tensor_shape { } float_val: 3 } } }
}
node {
  name: "p" op: "Const" attr { key: "dtype" value { type: DT_BOOL } }
  attr { key: "value" value { tensor {
    dtype: DT_BOOL tensor_shape { } bool_val: true } } }
}
"""


def _node(op: str, inputs: str, attrs: dict[str, str]) -> str:
    """The node "y"; attrs as in a text proto: a function's name, or types."""
    parts = []
    for name, value in attrs.items():
        if value.startswith("DT_") or not value:
            types = " ".join(f"type: {t}" for t in value.split())
            text = f"list {{ {types} }}" if name != "Tcond" else types
        elif name == "executor_type":
            text = f's: "{value}"'
        else:
            text = f'func {{ name: "{value}" }}'
        parts.append(f'attr {{ key: "{name}" value {{ {text} }} }}')
    given = " ".join(f'input: "{name}"' for name in inputs.split())
    return f'node {{ name: "y" op: "{op}" {given} {" ".join(parts)} }}'


def _if(then: str, otherwise: str, outputs: str = "DT_FLOAT") -> str:
    return _node(
        "If",
        "p x",
        {
            "Tcond": "DT_BOOL",
            "Tin": "DT_FLOAT",
            "Tout": outputs,
            "then_branch": then,
            "else_branch": otherwise,
        },
    )


def _while(test: str, body: str, inputs: str = "x") -> str:
    types = " ".join("DT_FLOAT" for _ in inputs.split())
    return _node("While", inputs, {"T": types, "cond": test, "body": body})


def _call(function: str, outputs: str = "DT_FLOAT", op: str = "PartitionedCall") -> str:
    inputs = "x x" if op == "SymbolicGradient" else "x"
    types = " ".join("DT_FLOAT" for _ in inputs.split())
    return _node(op, inputs, {"Tin": types, "Tout": outputs, "f": function})


_INVALID, _INTERNAL = tf.errors.InvalidArgumentError, tf.errors.InternalError
CASES = {
    "branch takes another type": (_if("integers", "integers"), _INVALID),
    "branch gives nothing": (_if("nothing", "nothing"), _INTERNAL),
    "branch gives too little": (
        _if("square", "square", "DT_FLOAT DT_FLOAT"),
        _INTERNAL,
    ),
    "branch gives too much": (_if("square", "square", ""), _INTERNAL),
    "branch gives another type": (_if("square", "square", "DT_INT32"), _INTERNAL),
    "branch is unknown": (_if("square", "nowhere"), tf.errors.NotFoundError),
    "body takes another type": (_while("square", "integers"), _INVALID),
    "body gives nothing": (_while("square", "nothing"), _INVALID),
    "test gives nothing": (_while("nothing", "square"), _INVALID),
    "test takes fewer": (_while("square", "square", "x x"), _INVALID),
    "call takes another type": (_call("integers"), _INVALID),
    "call gives another type": (_call("square", "DT_INT32"), _INTERNAL),
    "call gives nothing": (_call("nothing"), _INTERNAL),
    "call calls itself": (_call("itself"), _INVALID),
    "gradient gives another type": (
        _call("square", "DT_INT32", "SymbolicGradient"),
        _INTERNAL,
    ),
    "gradient of what calls itself": (
        _call("itself", op="SymbolicGradient"),
        _INVALID,
    ),
    "no such executor": (
        _node(
            "PartitionedCall",
            "x",
            {
                "Tin": "DT_FLOAT",
                "Tout": "DT_FLOAT",
                "f": "square",
                "executor_type": "nowhere",
            },
        ),
        tf.errors.NotFoundError,
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_function_that_does_not_fit(name: str) -> None:
    node, kind = CASES[name]
    graph_def = text_format.Parse(_CONSTANTS + node + _LIBRARY, tf.GraphDef())
    with tf.Graph().as_default() as graph, tf.Session() as session:
        tf.import_graph_def(graph_def, name="")
        made = graph.get_operation_by_name("y")
        with pytest.raises(kind):
            session.run(made.outputs or made)
        assert session.run("x:0") == 3  # the session is as good as before


@pytest.mark.parametrize("target", ["!!", ["/cpu:0", "/cpu:0"]])
def test_remote_call_of_no_device(target: object) -> None:
    text = _node(
        "RemoteCall", "t x", {"Tin": "DT_FLOAT", "Tout": "DT_FLOAT", "f": "square"}
    )
    with tf.Graph().as_default(), tf.Session() as session:
        named = tf.placeholder(tf.string, name="t_")
        graph_def = text_format.Parse(
            'node { name: "t" op: "Placeholder" '
            'attr { key: "dtype" value { type: DT_STRING } } }'
            + _CONSTANTS
            + text
            + _LIBRARY,
            tf.GraphDef(),
        )
        tf.import_graph_def(graph_def, {"t": named}, name="")
        with pytest.raises(tf.errors.InvalidArgumentError):
            session.run("y:0", {named: target})
