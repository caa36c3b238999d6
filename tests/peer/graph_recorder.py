"""Records what real TensorFlow makes of the programs in `tests/peer/graphs/`.

`PYTHON graph_recorder.py VERSION FILE [NAME...]` runs under a peer's Python (1.15 or
2.21) and writes GraphDefs, feeds, and the values that TensorFlow gives. Python 3.7.
"""

import base64
import importlib
import json
import os
import sys
import tempfile
import traceback
import zlib

import numpy as np

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from runner import import_tensorflow

MODULES = [
    "recurrent",
    "decoding",
    "arrays",
    "models",
    "functions",
    "random_programs",
    "contrib",
    "optimized",
    "tensorflow2",
    "tensorflow2_attrs",
]


def plain(value):
    """A value as what JSON can hold."""
    value = np.asarray(value)
    if value.dtype == object or value.dtype.kind in "SU":
        items = [base64.b64encode(_bytes(s)).decode() for s in value.ravel().tolist()]
        return {"dtype": "string", "shape": list(value.shape), "values": items}
    return {
        "dtype": str(value.dtype),
        "shape": list(value.shape),
        "values": [_short(v) for v in value.ravel().tolist()],
    }


def _bytes(value):
    return value if isinstance(value, bytes) else str(value).encode()


def _short(number):
    return float(f"{number:.8g}") if isinstance(number, float) else number


def record(tf, program):
    """The graph of a program and what it gives."""
    tf.reset_default_graph()
    fetches, feeds = program(tf)
    names = [t.name for t in fetches]
    init = tf.group(tf.global_variables_initializer(), tf.tables_initializer())
    graph_def = tf.get_default_graph().as_graph_def()
    if getattr(program, "optimized", False):
        graph_def = optimize(tf, graph_def, [*names, init.name])
        tf.reset_default_graph()
        tf.import_graph_def(graph_def, name="")
    runs = []
    with tf.Session() as sess:
        sess.run(init.name)
        for feed in feeds:
            values = sess.run(names, feed)
            runs.append(
                {
                    "feed": {k: plain(v) for k, v in feed.items()},
                    "values": [plain(v) for v in values],
                }
            )
    packed = zlib.compress(graph_def.SerializeToString(), 9)
    return {
        "graph": base64.b64encode(packed).decode(),
        "fetches": names,
        "init": init.name,
        "runs": runs,
    }


def optimize(tf, graph_def, fetches):
    """The graph as Grappler makes it for a CPU, with all that it can fuse."""
    from tensorflow.python.grappler import tf_optimizer

    with tf.Graph().as_default() as graph:
        tf.import_graph_def(graph_def, name="")
        meta = tf.train.export_meta_graph(graph=graph)
    for node in meta.graph_def.node:
        node.device = "/job:localhost/replica:0/task:0/device:CPU:0"
    wanted = [name.split(":")[0] for name in fetches]
    meta.collection_def["train_op"].node_list.value.extend(wanted)
    config = tf.ConfigProto()
    rewrites = config.graph_options.rewrite_options
    rewrites.min_graph_nodes = -1
    rewrites.remapping = rewrites.ON
    optimized = tf_optimizer.OptimizeGraph(config, meta)
    for node in optimized.node:
        node.device = ""
    return optimized


def record_function(tf, program):
    """An exported function, as a SavedModel has it and frozen."""
    from tensorflow.core.protobuf import saved_model_pb2
    from tensorflow.python.framework.convert_to_constants import (
        convert_variables_to_constants_v2,
    )

    module, function, runs = program(tf)
    concrete = function.get_concrete_function()
    frozen = None
    if program.__name__ != "training_step":  # which cannot be frozen
        frozen = convert_variables_to_constants_v2(concrete, lower_control_flow=False)
    variables = {v.name[:-2]: plain(v.numpy()) for v in module.variables}
    with tempfile.TemporaryDirectory() as folder:
        tf.saved_model.save(module, folder, signatures=concrete)
        with open(os.path.join(folder, "saved_model.pb"), "rb") as file:
            saved = saved_model_pb2.SavedModel.FromString(file.read())
    meta = saved.meta_graphs[0]
    signature = meta.signature_def["serving_default"]
    inputs = [spec.name for spec in function.input_signature]
    recorded = []
    for arguments in runs:
        results = tf.nest.flatten(concrete(*map(tf.constant, arguments)))
        if frozen is not None and not _runs(tf, frozen, arguments):
            frozen = None  # not every function survives being frozen
        recorded.append(
            (list(map(plain, arguments)), [plain(r.numpy()) for r in results])
        )

    def described(graph_def, feeds, fetches, variables):
        packed = zlib.compress(graph_def.SerializeToString(), 9)
        return {
            "graph": base64.b64encode(packed).decode(),
            "fetches": fetches,
            "init": "",
            "variables": variables,
            "runs": [
                {"feed": dict(zip(feeds, given)), "values": values}  # noqa: B905
                for given, values in recorded
            ],
        }

    outputs = sorted(signature.outputs, key=lambda key: int(key.split("_")[1]))
    names = {
        program.__name__ + "_saved": described(
            meta.graph_def,
            [signature.inputs[name].name for name in inputs],
            [signature.outputs[key].name for key in outputs],
            variables,
        )
    }
    if frozen is not None:
        names[program.__name__ + "_frozen"] = described(
            frozen.graph.as_graph_def(),
            [name + ":0" for name in inputs],
            [t.name for t in tf.nest.flatten(frozen.outputs)],
            {},
        )
    return names


def _runs(tf, function, arguments):
    try:
        function(*map(tf.constant, arguments))
    except tf.errors.OpError:
        return False
    return True


def programs(modules, names):
    """The programs of some modules, or those of them that are named."""
    for module in modules:
        for program in importlib.import_module("graphs." + module).PROGRAMS:
            if not names or program.__name__ in names:
                yield program


def import_functions_tensorflow():
    """TensorFlow 2 with its own behaviour."""
    os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
    os.environ["CUDA_VISIBLE_DEVICES"] = "-1"
    os.environ["TF_ENABLE_ONEDNN_OPTS"] = "0"
    import tensorflow as tf

    tf.get_logger().setLevel("FATAL")
    return tf


def main():
    version, file, names = sys.argv[1], sys.argv[2], sys.argv[3:]
    exported = version.endswith("-functions")
    tf = import_functions_tensorflow() if exported else import_tensorflow(version)
    modules = ["library"] if exported else MODULES
    recorded = {}
    for program in programs(modules, names):
        if version in getattr(program, "not_in", ()):
            continue
        try:
            if exported:
                recorded.update(record_function(tf, program))
            else:
                recorded[program.__name__] = record(tf, program)
        except Exception:
            print("in " + program.__name__, file=sys.stderr)
            if "KEEP_GOING" not in os.environ:
                raise
            traceback.print_exc()
    with open(file, "w") as out:
        json.dump(recorded, out, indent=0, sort_keys=True)
        out.write("\n")


if __name__ == "__main__":
    main()
