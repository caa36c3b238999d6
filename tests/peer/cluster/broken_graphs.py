"""Graphs with a function `f` that cannot be called, used in all ways or not at all.

As text of GraphDefs: the constants x = 3 and p = True, and the result y. Runs on
Python 3.7 too.
"""

_SIGNATURE = (
    'signature { name: "f" input_arg { name: "x" type: DT_FLOAT } '
    'output_arg { name: "r" type: DT_FLOAT } %s } '
)
_FLOAT = 'attr { key: "T" value { type: DT_FLOAT } } '
_RETURN = 'ret { key: "r" value: "n:y:0" } '


def _node(kind, name, op, inputs, attrs=_FLOAT):
    given = " ".join(f'input: "{text}"' for text in inputs)
    return f'{kind} {{ name: "{name}" op: "{op}" {given} {attrs} }} '


def _inner(*args):
    return _node("node_def", *args)


def _function(function, **attrs):
    found = f'attr {{ key: "f" value {{ func {{ name: "{function}" }} }} }} '
    return found + "".join(_floats(name, count) for name, count in attrs.items())


def _floats(name, count=1):
    types = "type: DT_FLOAT " * count
    return f'attr {{ key: "{name}" value {{ list {{ {types} }} }} }} '


_NEG = _inner("n", "Neg", ["x"])
_IN_OUT = {"Tin": 1, "Tout": 1}

#: By name: the function, one minus its argument where it is whole.
FUNCTIONS = {
    "whole": _SIGNATURE % "" + _NEG + _RETURN,
    "unknown op": _SIGNATURE % "" + _NEG + _inner("b", "FooBar", ["x"]) + _RETURN,
    "missing attr": _SIGNATURE % "" + _inner("n", "Neg", ["x"], "") + _RETURN,
    "wrong attr": _SIGNATURE % ""
    + _inner("n", "Neg", ["x"], _FLOAT.replace("type: DT_FLOAT", "i: 3"))
    + _RETURN,
    "open attr": _SIGNATURE % ""
    + _inner("n", "Neg", ["x"], _FLOAT.replace("type: DT_FLOAT", 'placeholder: "T"'))
    + _RETURN,
    "unknown input": _SIGNATURE % "" + _inner("n", "Neg", ["gone"]) + _RETURN,
    "unknown control input": _SIGNATURE % ""
    + _inner("n", "Neg", ["x", "^gone"])
    + _RETURN,
    "not returned": _SIGNATURE % "" + _NEG,
    "cycle": _SIGNATURE % "" + _inner("n", "Neg", ["n:y:0"]) + _RETURN,
    "unknown dtype": _SIGNATURE % 'output_arg { name: "q" type: 99 }' + _NEG + _RETURN,
    "two arguments of a name": _SIGNATURE % 'input_arg { name: "x" type: DT_FLOAT }'
    + _NEG
    + _RETURN,
    "other dtype": _SIGNATURE % ""
    + _NEG
    + _inner("m", "Neg", ["x"], _FLOAT.replace("FLOAT", "INT32"))
    + _RETURN,
    "itself and an unknown op": _SIGNATURE % ""
    + _NEG
    + _inner("m", "f", ["x"], "")
    + _inner("b", "FooBar", ["x"])
    + _RETURN,
    # No defects to TensorFlow:
    "unknown control return": _SIGNATURE % 'control_output: "a" control_output: "b"'
    + _NEG
    + _RETURN
    + 'control_ret { key: "a" value: "gone" } ',
}
#: What TensorFlow 1.15 refuses when it makes a kernel, and newer ones do not.
UNKNOWN_ATTR = (
    _SIGNATURE % ""
    + _inner("n", "Neg", ["x"], _FLOAT + 'attr { key: "zz" value { i: 3 } } ')
    + _RETURN
)


def _if(then, other):
    return _node(
        "node",
        "y",
        "If",
        ["p", "x"],
        'attr { key: "Tcond" value { type: DT_BOOL } } '
        + _floats("Tin")
        + _floats("Tout")
        + _function(then).replace('"f"', '"then_branch"', 1)
        + _function(other).replace('"f"', '"else_branch"', 1),
    )


_UNUSED = _node("node", "y", "Neg", ["x"])
_CALL = _inner("m", "f", ["x"], "")
_SECOND = (
    'function { signature { name: "g" input_arg { name: "x" type: DT_FLOAT } '
    'output_arg { name: "r" type: DT_FLOAT } } %s } '
)
#: By name: the node y, and functions beside f.
USES = {
    "unused": (_UNUSED, ""),
    "called by who is not called": (
        _UNUSED,
        _SECOND % (_CALL + 'ret { key: "r" value: "m:r:0" } '),
    ),
    "call": (_node("node", "y", "f", ["x"], ""), ""),
    "partitioned call": (
        _node("node", "y", "PartitionedCall", ["x"], _function("f", **_IN_OUT)),
        "",
    ),
    "call not fetched": (_UNUSED + _node("node", "w", "f", ["x"], ""), ""),
    "call of a caller": (
        _node("node", "y", "StatefulPartitionedCall", ["x"], _function("g", **_IN_OUT)),
        _SECOND % (_CALL + 'ret { key: "r" value: "m:r:0" } '),
    ),
    "branch": (_if("f", "id"), ""),
    "other branch": (_if("id", "f"), ""),
    "loop": (
        _node(
            "node",
            "y",
            "While",
            ["x"],
            _floats("T")
            + _function("above").replace('"f"', '"cond"', 1)
            + _function("f").replace('"f"', '"body"', 1),
        ),
        "",
    ),
    "gradient": (
        _node(
            "node",
            "y",
            "SymbolicGradient",
            ["x", "x"],
            _function("f", Tin=2, Tout=1),
        ),
        "",
    ),
    "gradient not fetched": (
        _UNUSED
        + _node(
            "node", "w", "SymbolicGradient", ["x", "x"], _function("f", Tin=2, Tout=1)
        ),
        "",
    ),
    "gradient function": (
        _UNUSED + _node("node", "w", "id", ["x"], ""),
        'gradient { function_name: "id" gradient_func: "f" } ',
    ),
}
#: What TensorFlow refuses to import.
CALLS = {"call", "partitioned call", "call not fetched", "call of a caller"}
#: What fails when it runs.
RUNS = {"branch", "other branch", "loop", "gradient"}

_CONSTANT = (
    'attr { key: "dtype" value { type: DT_%s } } '
    'attr { key: "value" value { tensor { dtype: DT_%s tensor_shape { } %s } } } '
)
_GRAPH = (
    _node("node", "x", "Const", [], _CONSTANT % ("FLOAT", "FLOAT", "float_val: 3"))
    + _node("node", "p", "Const", [], _CONSTANT % ("BOOL", "BOOL", "bool_val: true"))
    + "%s library { function { %s } %s "
    + "function { "
    + FUNCTIONS["whole"].replace('"f"', '"id"')
    + "} "
    + 'function { signature { name: "above" input_arg { name: "x" type: DT_FLOAT } '
    + 'output_arg { name: "r" type: DT_BOOL } } '
    + _inner("z", "Const", [], _CONSTANT % ("FLOAT", "FLOAT", "float_val: 0"))
    + _inner("n", "Greater", ["x", "z:output:0"])
    + 'ret { key: "r" value: "n:z:0" } } } versions { producer: 134 }'
)


def graph_text(function, use):
    """The graph; `function` is the text of f."""
    node, beside = USES[use]
    return _GRAPH % (node, function, beside)
