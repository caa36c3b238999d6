# Ops one at a time, by each system's own entry: what they give, or their status code.
# Run by test_eager_ops.py; `tf` and `np` are given. Python 3.7.
# ruff: noqa: F821
import importlib


def prepared():
    """(handle of a value, executor): the executor takes flat inputs and all attrs."""
    if tf.__name__ == "tensorloom":
        eager = importlib.import_module("tensorloom.eager")
        made = eager.Context()

        def execute(op, inputs, attrs, count):
            return made.execute(op, inputs, attrs)

        return made.handle, execute
    module = importlib.import_module("tensorflow.python.eager.context")
    try:
        calls = importlib.import_module("tensorflow.python.pywrap_tfe")
    except ImportError:
        calls = importlib.import_module("tensorflow.python.pywrap_tensorflow")
    made = module.context()
    made.ensure_initialized()

    def handle(value, dtype=None):
        with module.eager_mode():
            return tf.constant(value, dtype)

    def execute(op, inputs, attrs, count):
        flat = []
        for name, value in attrs.items():
            flat += [name, number_of(value)]
        place = "/job:localhost/replica:0/task:0/device:CPU:0"
        return calls.TFE_Py_Execute(made._handle, place, op, inputs, tuple(flat), count)

    return handle, execute


def number_of(value):
    if isinstance(value, list):
        return [number_of(item) for item in value]
    return value.as_datatype_enum if isinstance(value, tf.DType) else value


def code_of(error):
    code = getattr(error, "code", None)
    return code if isinstance(code, int) else error.error_code


handle, execute = prepared()


def run(op, inputs, attrs=None, count=1):
    return execute(op, [handle(value) for value in inputs], attrs or {}, count)


def told(op, inputs, attrs=None, count=1):
    try:
        values = run(op, inputs, attrs, count)
    except Exception as error:
        return f"code {code_of(error)}"
    return [value.numpy() for value in values]


f, g = [[1.0, -2.0], [3.5, 4.0]], [[0.5, 2.0], [1.0, -1.0]]
big = np.linspace(-3, 3, 20000).astype(np.float32).reshape(100, 200)
image = np.linspace(0, 1, 48).astype(np.float32).reshape(1, 4, 4, 3)
F, N = tf.float32, tf.int32

result = {}
for name in ("AddV2", "Sub", "Mul", "RealDiv", "Maximum", "Pow", "FloorMod", "Atan2"):
    result[name] = told(name, [f, g])
for name in ("Neg", "Exp", "Tanh", "Sigmoid", "Sqrt", "Erf", "Sign", "Relu", "Softmax"):
    result[name] = told(name, [f])
    result[name + " of much"] = told(name, [big])
for name in ("Sum", "Mean", "Max", "Min", "Prod"):
    result[name] = told(name, [f, 1])
result["ArgMax"] = told("ArgMax", [f, 1], {"output_type": tf.int64})
more = [
    ("MatMul", [f, g], {"transpose_b": True}, 1),
    ("MatMul", [big, big], {"transpose_a": True}, 1),
    ("BatchMatMulV2", [[f, g], [g, f]], {}, 1),
    ("ConcatV2", [f, g, 1], {"N": 2, "T": F, "Tidx": N}, 1),
    ("Pack", [f, g], {"N": 2, "T": F, "axis": 1}, 1),
    ("Unpack", [f], {"num": 2}, 2),
    ("Split", [1, f], {"num_split": 2}, 2),
    ("SplitV", [f, [1, 1], 0], {"num_split": 2}, 2),
    ("IdentityN", [f, 3, "text"], {"T": [F, N, tf.string]}, 3),
    ("AddN", [f, g, f], {"N": 3, "T": F}, 1),
    ("Cast", [f], {"DstT": N}, 1),
    ("Reshape", [f, [4]], {}, 1),
    ("Reshape", [f, [3]], {}, 1),
    ("Transpose", [f, [1, 0]], {}, 1),
    ("Tile", [f, [2, 1]], {}, 1),
    ("Fill", [[2, 3], 7.0], {}, 1),
    ("Range", [0, 10, 3], {}, 1),
    ("GatherV2", [f, [1, 0], 0], {}, 1),
    ("GatherV2", [f, [5], 0], {}, 1),
    ("StridedSlice", [f, [0], [1], [1]], {"shrink_axis_mask": 1}, 1),
    ("Unique", [[1, 2, 1]], {"out_idx": N}, 2),
    ("Where", [[True, False, True]], {}, 1),
    ("OneHot", [[0, 2], 3, 1.0, 0.0], {}, 1),
    ("Select", [[True, False], [1, 2], [3, 4]], {}, 1),
    ("Shape", [big], {"out_type": N}, 1),
    ("Pad", [f, [[1, 0], [0, 1]]], {}, 1),
    ("Cumsum", [f, 0], {}, 1),
    ("Conv2D", [image, np.ones((2, 2, 3, 2), "f")], {}, 1),
    (
        "Conv2D",
        [image, np.ones((2, 2, 3, 2), "f")],
        {"strides": [1, 1, 1, 1], "padding": "SAME"},
        1,
    ),
    ("AvgPool", [image], {"ksize": [1, 2, 2, 1], "strides": [1] * 4}, 1),
    (
        "MaxPool",
        [image],
        {"ksize": [1, 2, 2, 1], "strides": [1, 2, 2, 1], "padding": "VALID"},
        1,
    ),
    ("SparseSoftmaxCrossEntropyWithLogits", [f, [0, 1]], {}, 2),
    ("BiasAdd", [f, [1.0, 2.0]], {}, 1),
    ("StringJoin", ["a", "b"], {"N": 2, "separator": "-"}, 1),
    ("StringLength", [["abc", ""]], {}, 1),
    ("AsString", [[1, 2]], {}, 1),
    ("StringToNumber", [["1.5", "x"]], {"out_type": F}, 1),
    ("RegexReplace", ["hello", "l+", "L"], {}, 1),
    ("DecodeRaw", ["abcd"], {"out_type": tf.uint8}, 1),
    ("StatelessRandomUniform", [[3], [1, 2]], {"dtype": F, "T": N}, 1),
    ("RandomUniform", [[3]], {"dtype": F, "T": N, "seed": 1, "seed2": 2}, 1),
    ("RandomUniform", [[3]], {"dtype": F, "T": N, "seed": 1, "seed2": 2}, 1),
    ("TruncatedNormal", [[3]], {"dtype": F, "T": N, "seed": 5, "seed2": 6}, 1),
    ("RandomShuffle", [[1, 2, 3, 4]], {"seed": 3, "seed2": 4}, 1),
    ("NoOp", [], {}, 0),
    ("AddV2", [f, 1], {}, 1),
    ("AddV2", [f], {}, 1),
    ("MatMul", [f, [[1.0]]], {}, 1),
    ("Nothing", [f], {}, 1),
    ("AddV2", [f, g], {"none": 1}, 1),
    ("Unpack", [f], {"num": -1}, 1),
    ("CheckNumerics", [[1.0, float("nan")]], {"message": "here"}, 1),
    ("EnsureShape", [f], {"shape": [2, 2]}, 1),
    ("EnsureShape", [f], {"shape": [2, 3]}, 1),
]
for number, (name, inputs, attrs, count) in enumerate(more):
    result[f"{number} {name}"] = told(name, inputs, attrs, count)

# State: the handles of the ops go from one to the next.
(variable,) = execute("VarHandleOp", [], {"dtype": F, "shape": [2, 2]}, 1)
steps = []
execute("AssignVariableOp", [variable, handle(f)], {}, 0)
for _ in range(2):
    execute("AssignAddVariableOp", [variable, handle(g)], {}, 0)
    steps += execute("ReadVariableOp", [variable], {"dtype": F}, 1)
indices, rows = handle([1]), handle([[9.0, 9.0]])
execute("ResourceScatterUpdate", [variable, indices, rows], {}, 0)
steps += execute("ReadVariableOp", [variable], {"dtype": F}, 1)
gathered = {"dtype": F, "Tindices": N}
steps += execute("ResourceGather", [variable, handle([1, 1])], gathered, 1)
result["variable"] = [step.numpy() for step in steps]
kinds = {"key_dtype": tf.string, "value_dtype": N, "shared_name": "t"}
(table,) = execute("HashTableV2", [], kinds, 1)
execute("LookupTableImportV2", [table, handle(["a", "b"]), handle([1, 2])], {}, 0)
found = execute("LookupTableFindV2", [table, handle(["b", "c"]), handle(-1)], {}, 1)
result["table"] = found[0].numpy()
