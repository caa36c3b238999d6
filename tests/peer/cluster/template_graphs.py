"""Graphs that call functions with attrs, `Twice[T](x: T) -> T`, in all ways.

As text of GraphDefs: the placeholders x, float, i, int32, and p, bool; the result y,
and z where there are two. Runs on Python 3.7 too.
"""

FLOAT, INT, BOOL = "type: DT_FLOAT", "type: DT_INT32", "type: DT_BOOL"
_OPEN = 'placeholder: "T"'
_TYPE = ("T", 'type: "type"')
_LIST = ("L", 'type: "list(type)"')


def attr(name, value):
    return f'attr {{ key: "{name}" value {{ {value} }} }} '


def node(name, op, inputs, kind="node", **attrs):
    given = " ".join(f'input: "{text}"' for text in inputs)
    values = "".join(attr(key, value) for key, value in attrs.items())
    return f'{kind} {{ name: "{name}" op: "{op}" {given} {values} }} '


def inner(*args, **attrs):
    return node(*args, kind="node_def", **attrs)


def called(name, **attrs):
    values = "".join(attr(key, value) for key, value in attrs.items())
    return f'func {{ name: "{name}" {values} }}'


def list_of(*types):
    return f"list {{ {' '.join(types)} }}"


def function(name, arguments, results, attrs, nodes, **returns):
    signature = f'name: "{name}" '
    for kind, pairs in (
        ("input_arg", arguments),
        ("output_arg", results),
        ("attr", attrs),
    ):
        signature += "".join(f'{kind} {{ name: "{n}" {what} }} ' for n, what in pairs)
    given = "".join(f'ret {{ key: "{k}" value: "{v}" }} ' for k, v in returns.items())
    return f"function {{ signature {{ {signature} }} {nodes} {given} }} "


_T = 'type_attr: "T"'
_TWICE = function(
    "Twice",
    [("x", _T)],
    [("y", _T)],
    [_TYPE],
    inner("a", "Add", ["x", "x"], T=_OPEN),
    y="a:z:0",
)
_SAME = function(
    "Same",
    [("x", _T)],
    [("y", _T)],
    [_TYPE],
    inner("a", "Identity", ["x"], T=_OPEN),
    y="a:output",
)
_SQUARE = function(
    "Square_",
    [("x", _T)],
    [("y", _T)],
    [_TYPE],
    inner("a", "Square", ["x"], T=_OPEN),
    y="a:y:0",
)
_SMALL = function(
    "Small",
    [("x", _T)],
    [("y", BOOL)],
    [_TYPE, ("limit", 'type: "tensor"')],
    inner("c", "Const", [], dtype=_OPEN, value='placeholder: "limit"')
    + inner("a", "Less", ["x", "c:output:0"], T=_OPEN),
    y="a:z:0",
)
_OUTER = function(
    "Outer",
    [("x", _T)],
    [("y", _T)],
    [_TYPE, _LIST],
    inner("a", "Twice", ["x"], T=_OPEN)
    + inner(
        "b",
        "PartitionedCall",
        ["a:y:0"],
        Tin='placeholder: "L"',
        Tout='placeholder: "L"',
        f=called("Twice", T=_OPEN),
    ),
    y="b:output:0",
)
_APPLY = function(
    "Apply",
    [("x", _T)],
    [("y", _T)],
    [_TYPE, _LIST, ("f", 'type: "func"')],
    inner(
        "b",
        "PartitionedCall",
        ["x"],
        Tin='placeholder: "L"',
        Tout='placeholder: "L"',
        f='placeholder: "f"',
    ),
    y="b:output:0",
)
_SUM = function(
    "SumUp",
    [("xs", _T + ' number_attr: "N"')],
    [("y", _T)],
    [_TYPE, ("N", 'type: "int"')],
    inner("a", "AddN", ["xs"], T=_OPEN, N='placeholder: "N"'),
    y="a:sum:0",
)
_ALL = function(
    "All_",
    [("xs", 'type_list_attr: "L"')],
    [("ys", 'type_list_attr: "L"')],
    [_LIST],
    inner("a", "IdentityN", ["xs"], T='placeholder: "L"'),
    ys="a:output",
)
# The gradient of Square_, wrong by intention.
_ODD = function(
    "Odd",
    [("x", _T), ("dy", _T)],
    [("dx", _T)],
    [_TYPE],
    inner("a", "Add", ["x", "dy"], T=_OPEN),
    dx="a:z:0",
)
# Without an attr in the signature.
_FIXED = function(
    "Fixed",
    [("x", FLOAT)],
    [("y", FLOAT)],
    [],
    inner("a", "Add", ["x", "x"], T='placeholder: "_T"'),
    y="a:z:0",
)


def _call(name, inputs, f, types):
    return node(
        name,
        "PartitionedCall",
        inputs,
        Tin=list_of(*types),
        Tout=list_of(*types),
        f=f,
    )


def _if(name, x, dtype):
    return node(
        name,
        "If",
        ["p", x],
        Tcond=BOOL,
        Tin=list_of(dtype),
        Tout=list_of(dtype),
        then_branch=called("Square_", T=dtype),
        else_branch=called("Same", T=dtype),
    )


def _while(name, x, dtype, field):
    limit = f"tensor {{ dtype: {dtype[6:]} tensor_shape {{ }} {field}: 100 }}"
    return node(
        name,
        "While",
        [x],
        T=list_of(dtype),
        cond=called("Small", T=dtype, limit=limit),
        body=called("Twice", T=dtype),
    )


#: By name: nodes, functions, and the values of y and z for x = 3, i = 5, p = True.
GRAPHS = {
    "by name": (
        node("y", "Twice", ["x"], T=FLOAT) + node("z", "Twice", ["i"], T=INT),
        _TWICE,
        (6, 10),
    ),
    "by attr": (
        _call("y", ["x"], called("Twice", T=FLOAT), [FLOAT])
        + _call("z", ["i"], called("Twice", T=INT), [INT]),
        _TWICE,
        (6, 10),
    ),
    "from functions": (
        node("y", "Outer", ["x"], T=FLOAT, L=list_of(FLOAT))
        + node("z", "Outer", ["i"], T=INT, L=list_of(INT)),
        _TWICE + _OUTER,
        (12, 20),
    ),
    "of a function": (
        node(
            "y",
            "Apply",
            ["x"],
            T=FLOAT,
            L=list_of(FLOAT),
            f=called("Twice", T=FLOAT),
        ),
        _TWICE + _APPLY,
        (6,),
    ),
    "of some tensors": (
        node("y", "SumUp", ["x", "x", "x"], T=FLOAT, N="i: 3")
        + node("z", "SumUp", ["i"], T=INT, N="i: 1"),
        _SUM,
        (9, 5),
    ),
    "of any tensors": (
        node("all", "All_", ["i", "x"], L=list_of(INT, FLOAT))
        + node("y", "Identity", ["all:1"], T=FLOAT)
        + node("z", "Identity", ["all"], T=INT),
        _ALL,
        (3, 5),
    ),
    "branches": (
        _if("y", "x", FLOAT) + _if("z", "i", INT),
        _SQUARE + _SAME,
        (9, 25),
    ),
    "loops": (
        _while("y", "x", FLOAT, "float_val") + _while("z", "i", INT, "int_val"),
        _SMALL + _TWICE,
        (192, 160),
    ),
    "default": (
        node("y", "Twice", ["x"]),
        _TWICE.replace('"type"', '"type" default_value { type: DT_FLOAT }'),
        (6,),
    ),
    "not in the signature": (
        node("y", "Fixed", ["x"], _T=FLOAT)
        + _call("z", ["y"], called("Fixed", _T=FLOAT), [FLOAT]),
        _FIXED,
        (6, 12),
    ),
    "more attrs than needed": (
        _call("y", ["x"], called("Twice", T=FLOAT, S=INT), [FLOAT]),
        _TWICE,
        (6,),
    ),
    "gradient": (
        node(
            "y",
            "SymbolicGradient",
            ["x", "x"],
            Tin=list_of(FLOAT, FLOAT),
            Tout=list_of(FLOAT),
            f=called("Square_", T=FLOAT),
        ),
        _SQUARE,
        (18,),
    ),
    "gradient function": (
        node(
            "y",
            "SymbolicGradient",
            ["x", "x"],
            Tin=list_of(FLOAT, FLOAT),
            Tout=list_of(FLOAT),
            f=called("Square_", T=FLOAT),
        ),
        _SQUARE + _ODD + 'gradient { function_name: "Square_" gradient_func: "Odd" } ',
        (6,),
    ),
    "not called": (node("y", "Neg", ["x"], T=FLOAT), _TWICE, (-3,)),
}
#: Where TensorFlow contradicts itself: a server fails to inline the first, which a
#: session without one can; and 2.21 has forgotten the second's gradient function.
CONTRADICTIONS = {"of some tensors", "gradient function"}
#: By name: nodes, functions, what an import raises, what a step raises.
WRONG = {
    "no attr": (node("y", "Twice", ["x"]), _TWICE, "ValueError", None),
    "no attr in attr": (
        _call("y", ["x"], called("Twice"), [FLOAT]),
        _TWICE,
        "NotFoundError",
        None,
    ),
    "attr of another kind": (
        _call("y", ["x"], called("Twice", T="i: 3"), [FLOAT]),
        _TWICE,
        "ValueError",
        None,
    ),
    "attr that is not allowed": (
        node("y", "Twice", ["x"], T=FLOAT),
        _TWICE.replace('"type"', f'"type" allowed_values {{ {list_of(INT)} }}'),
        "ValueError",
        None,
    ),
    "attr for another argument": (
        node("y", "Twice", ["x"], T=INT),
        _TWICE,
        "ValueError",
        None,
    ),
    "attr that nothing needs": (
        node("y", "Twice", ["x"], T=FLOAT),
        _TWICE.replace("attr {", 'attr { name: "U" type: "type" } attr {', 1),
        "ValueError",
        None,
    ),
    "placeholder without a value": (
        node("y", "Fixed", ["x"]),
        _FIXED,
        "ValueError",
        None,
    ),
    "other argument": (
        _call("y", ["x"], called("Twice", T=INT), [FLOAT]),
        _TWICE,
        None,
        "InvalidArgumentError",
    ),
    "attr that the body refuses": (
        node("y", "Twice", ["p"], T=BOOL),
        _TWICE,
        None,
        "InvalidArgumentError",
    ),
    "fewer results": (
        node("all", "All_", ["i", "x"], L=list_of(INT, FLOAT))
        + node("y", "Identity", ["all:1"], T=FLOAT),
        _ALL.replace('"a:output"', '"a:output:0"'),
        "ValueError",
        None,
    ),
}


def graph_text(nodes, functions):
    """The graph with such nodes and functions."""
    shape = "shape { unknown_rank: true }"
    arguments = "".join(
        node(name, "Placeholder", [], dtype=dtype, shape=shape)
        for name, dtype in (("x", FLOAT), ("i", INT), ("p", BOOL))
    )
    library = f"library {{ {functions} }} versions {{ producer: 134 }}"
    return arguments + nodes + library
