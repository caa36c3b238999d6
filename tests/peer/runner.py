"""Runs small TensorFlow 1 programs and describes what they did, as plain data.

Two uses. As a script under a peer's Python (`python runner.py 1.15`) it serves programs
over its standard input and output, one process for many programs. As a module the tests
call `execute` with tensorloom as `tf`. Both therefore describe with the same code.

Standard library and NumPy only, and Python 3.7: TensorFlow 1.15 has nothing newer.
"""

import collections
import gc
import os
import pickle
import struct
import sys
import traceback
import warnings

import numpy as np

# A frame is a length and a pickle of plain Python data. Arrays are taken apart by
# `plain`, since NumPy 1.18 and 2.x do not read each other's pickles.
HEADER = struct.Struct("<Q")
PROTOCOL = 4


def execute(tf, source, name="<program>", ops=True):
    """Runs `source` in a fresh default graph.

    The program sees `tf`, `np`, and `error`, and leaves what is to be compared in
    `result`.

    Returns a dict: `result` (see `plain`), `ops` (see `describe_ops`; empty
    if the argument `ops` is false), `error` (None,
    or class name, message and traceback of the exception that ended the program).
    """
    tf.reset_default_graph()
    # Models of boosted trees, and programs, turn them on for the process.
    tf.disable_resource_variables()
    outcome = {"result": None, "ops": [], "error": None}
    namespace = {"tf": tf, "np": np, "error": error, "__name__": "__program__"}
    with tf.Graph().as_default() as graph:
        try:
            exec(compile(source, name, "exec"), namespace)
            outcome["result"] = plain(namespace.get("result"))
        except Exception as exc:
            outcome["error"] = (
                type(exc).__name__,
                str(exc),
                traceback.format_exc(),
            )
        if ops:
            outcome["ops"] = describe_ops(graph)
    return outcome


def error(function, *args, **kwargs):
    """The class name of what `function` raises, or "no error"."""
    try:
        function(*args, **kwargs)
    except Exception as exc:
        return "raises " + type(exc).__name__
    return "no error"


def describe_ops(graph):
    """One dict an operation, in order of creation."""
    return [
        {
            "name": op.name,
            "type": op.type,
            "inputs": [tensor.name for tensor in op.inputs],
            "control_inputs": sorted(control.name for control in op.control_inputs),
            "device": op.device,
            "dtypes": [output.dtype.name for output in op.outputs],
            "shapes": [static_shape(output) for output in op.outputs],
            "attrs": {key: attr_text(value) for key, value in op.node_def.attr.items()},
        }
        for op in graph.get_operations()
    ]


def static_shape(tensor):
    shape = tensor.get_shape()
    if shape.ndims is None:
        return None
    return [None if size is None else int(size) for size in shape.as_list()]


def attr_text(value):
    """An AttrValue as text that does not depend on how a tensor is packed."""
    kind = value.WhichOneof("value")
    if kind == "tensor":
        proto = value.tensor
        shape = [dim.size for dim in proto.tensor_shape.dim]
        return "tensor %d %s" % (proto.dtype, shape)
    if kind == "func":
        return "func"  # generated names of functions are not part of the promise
    if kind == "s" and value.s.startswith(b"CustomGradient-"):
        return "s CustomGradient"  # numbered by the process
    if kind == "f":  # versions of protobuf print other numbers of digits
        return "f %.6g" % value.f
    return "%s %s" % (kind, " ".join(str(value).split()))


def plain(value):
    """`value` as nested tuples of plain Python data that any process can read."""
    if isinstance(value, (np.ndarray, np.generic)):
        return plain_array(np.asarray(value))
    if value is None or isinstance(value, (bool, int, float, complex, str, bytes)):
        return value
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        items = tuple((field, plain(getattr(value, field))) for field in value._fields)
        return ("namedtuple", type(value).__name__, items)
    if isinstance(value, (list, tuple)):
        return (type(value).__name__, tuple(plain(item) for item in value))
    if isinstance(value, (dict, collections.OrderedDict)):
        items = [(plain(key), plain(item)) for key, item in value.items()]
        return ("dict", tuple(sorted(items, key=repr)))
    return plain_object(value)


def plain_array(array):
    if array.dtype == object:
        items = tuple(
            item if isinstance(item, bytes) else str(item).encode()
            for item in array.ravel().tolist()
        )
        return ("strings", array.shape, items)
    return ("array", array.dtype.name, array.shape, array.tobytes())


def plain_object(value):
    """Tensors, operations, variables, shapes and dtypes by what identifies them."""
    kind = type(value).__name__
    if kind in ("TensorShape", "Dimension", "DType"):
        return (kind, str(value))
    if hasattr(value, "values") and hasattr(value, "indices"):
        return (kind, plain(value.indices), plain(value.values))
    if hasattr(value, "dtype") and hasattr(value, "get_shape"):
        return ("tensor", value.name, value.dtype.name, static_shape(value))
    if hasattr(value, "node_def"):
        return ("operation", value.name, value.type)
    return (kind, str(value))


def serve(tf, read, write):
    """Answers one frame (a dict of `execute`'s arguments) after the other until EOF."""
    while True:
        header = read(HEADER.size)
        if len(header) < HEADER.size:
            return
        request = pickle.loads(read(HEADER.unpack(header)[0]))
        tf.disable_control_flow_v2()  # a program may have turned it on
        answer = pickle.dumps(execute(tf, **request), protocol=PROTOCOL)
        write(HEADER.pack(len(answer)) + answer)


def import_tensorflow(version):
    """TensorFlow as a 1.x program sees it."""
    os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
    os.environ["CUDA_VISIBLE_DEVICES"] = "-1"
    # Other summation orders than the plain kernels'.
    os.environ["TF_ENABLE_ONEDNN_OPTS"] = "0"
    warnings.simplefilter("ignore")
    if version.startswith("1."):
        import tensorflow as tf
    else:
        import tensorflow.compat.v1 as tf

        tf.disable_v2_behavior()
    tf.logging.set_verbosity(tf.logging.FATAL)
    return tf


def main():
    # Programs may print: the answers get a descriptor of their own.
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    tf = import_tensorflow(sys.argv[1])

    def write(data):
        answers.write(data)
        answers.flush()

    # What is there by now stays; and graphs are large, so garbage is looked for less.
    gc.freeze()
    gc.set_threshold(20000, 50, 100)
    write(tf.__version__.encode().ljust(16))
    serve(tf, sys.stdin.buffer.read, write)


if __name__ == "__main__":
    main()
