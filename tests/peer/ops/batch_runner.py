"""Runs batches of op cases and describes what came out, as plain data.

Two uses, like `runner.py` beside it: as a script under a peer's Python
(`python batch_runner.py 1.15`) it answers requests over its standard input and output;
as a module the harness calls `execute` with tensorloom as `tf`. Both sides therefore
import, run, differentiate and describe with the same code.

Standard library and NumPy only, and Python 3.7: TensorFlow 1.15 has nothing newer.

A case is a dict:
    graph    a serialized GraphDef
    outputs  names of tensors whose static shape and dtype are told
    steps    list of (feeds {tensor name: plain array}, fetches, targets)
    ys, xs   if ys: after the first step, d ys / d xs, fed with that step's feeds
    alone    True: steps run one case at a time (it may fail, or it changes state)
Its answer is a dict:
    error    None, or (class name, message) of what importing the graph raised
    static   for each output (dtype name, list of sizes or None)
    steps    for each step {"error": ...} or {"values": [plain array]}
    gradient None, {"error": ...} or {"values": [None, array or ("slices", ...)]}
"""

import importlib
import os
import pickle
import sys

import numpy as np

if __name__ == "__main__":  # a script in another Python: the package is not there
    sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    import runner
else:
    from tests.peer import runner


# Not the XLA_CPU device of TensorFlow 1.15, whose ops have other kernels.
CPU = "/cpu:0"


def execute(tf, cases, place=CPU, config=None):
    """The answers to a batch of cases, all built into one graph, run in one session.

    All nodes are asked to be on the device `place`.

    TensorFlow places a whole graph: where it has no kernel for a node of one case,
    no step of any case runs, and each gets a graph of its own.
    """
    try:
        return execute_in_one_graph(tf, cases, place, config)
    except NotPlaced:
        return [
            answer
            for case in cases
            for answer in execute_in_one_graph(tf, [case], place, config)
        ]


class NotPlaced(Exception):
    """One case of a batch has a node without a kernel."""


NOT_PLACED = ("Cannot assign a device", "No OpKernel was registered")


def note_placement(exc, cases):
    """Raises NotPlaced if that is why a step of a batch failed."""
    if cases > 1 and any(words in str(exc) for words in NOT_PLACED):
        raise NotPlaced()


def execute_in_one_graph(tf, cases, place, config):
    graph = tf.Graph()
    with graph.as_default(), graph.device(place):
        answers = [import_case(tf, graph, i, case) for i, case in enumerate(cases)]
    with tf.Session(graph=graph, config=config or session_config(tf)) as session:
        jobs = []
        for index, (case, answer) in enumerate(zip(cases, answers)):
            if answer["error"] is not None:
                continue
            if case["alone"]:
                for step in case["steps"]:
                    told = run_step(tf, session, index, step)
                    note_placement(told.get("error"), len(cases))
                    answer["steps"].append(told)
            elif case["steps"]:
                jobs.append((index, case["steps"][0], answer))
        run_together(tf, session, jobs)
        gradients(tf, graph, session, cases, answers, place)
    return answers


def session_config(tf):
    """TensorFlow without its graph optimizer: the plain kernels are compared."""
    if tf.__name__ == "tensorloom":
        return None
    config = tf.ConfigProto(intra_op_parallelism_threads=1)
    config.operation_timeout_in_ms = 20000
    config.graph_options.optimizer_options.opt_level = -1
    if hasattr(config.graph_options.rewrite_options, "disable_meta_optimizer"):
        config.graph_options.rewrite_options.disable_meta_optimizer = True
    return config


def import_case(tf, graph, index, case):
    answer = {"error": None, "static": [], "steps": [], "gradient": None}
    try:
        graph_def = tf.GraphDef()
        graph_def.ParseFromString(case["graph"])
        tf.import_graph_def(graph_def, name="c%d" % index)
        for name in case["outputs"]:
            tensor = graph.get_tensor_by_name(here(index, name))
            shape = runner.static_shape(tensor)
            answer["static"].append((tensor.dtype.base_dtype.name, shape))
    except Exception as exc:
        answer["error"] = described_error(exc)
    return answer


def here(index, name):
    return "c%d/%s" % (index, name)


def described_error(exc):
    return (type(exc).__name__, str(exc)[:2000])


def run_together(tf, session, jobs):
    """One call of the session for the steps of many cases; one each if it fails."""
    if not jobs:
        return
    feeds, fetches = {}, []
    for index, step, _ in jobs:
        feeds.update(feed_dict(tf, index, step[0]))
        fetches += [here(index, name) for name in step[1]]
    try:
        values = iter(session.run(fetches, feeds))
        for _, step, answer in jobs:
            plain = [plain_value(next(values)) for _ in step[1]]
            answer["steps"].append({"values": plain})
    except Exception as exc:
        note_placement(exc, len(jobs))
        if len(jobs) == 1:
            index, step, answer = jobs[0]
            answer["steps"] = [run_step(tf, session, index, step)]
            return
        middle = len(jobs) // 2
        for _, _, answer in jobs:
            answer["steps"] = []
        run_together(tf, session, jobs[:middle])
        run_together(tf, session, jobs[middle:])


def run_step(tf, session, index, step):
    feeds, fetches, targets = step
    try:
        wanted = [here(index, name) for name in fetches]
        also = [session.graph.get_operation_by_name(here(index, t)) for t in targets]
        values = session.run(wanted + also, feed_dict(tf, index, feeds))
        return {"values": [plain_value(value) for value in values[: len(wanted)]]}
    except Exception as exc:
        return {"error": described_error(exc)}


def feed_dict(tf, index, feeds):
    return {here(index, name): array_of(tf, value) for name, value in feeds.items()}


def array_of(tf, plain):
    """The array that `plain_value` took apart, as this library feeds it."""
    if plain[0] == "strings":
        array = np.empty(len(plain[2]), dtype=object)
        array[:] = plain[2]
        return array.reshape(plain[1])
    dtype = np.dtype(tf.as_dtype(plain[1]).as_numpy_dtype)
    return np.frombuffer(plain[3], dtype).reshape(plain[2])


def plain_value(value):
    """A fetched value: ("array", dtype, shape, bytes) or ("strings", shape, items)."""
    if isinstance(value, (bytes, str)):
        value = np.array(value, dtype=object)
    array = np.asarray(value)
    if array.dtype.names:  # a quantized type
        name = array.dtype.names[0]
        base = np.ascontiguousarray(array).view(array.dtype[0])
        return ("array", name, array.shape, base.tobytes())
    return runner.plain_array(array)


# --- gradients ------------------------------------------------------------------


def gradients(tf, graph, session, cases, answers, place):
    jobs = []
    for index, (case, answer) in enumerate(zip(cases, answers)):
        first = answer["steps"][0] if answer["steps"] else {}
        if not case["ys"] or "values" not in first:
            continue
        try:
            with graph.as_default(), graph.device(place):
                found = case_gradients(tf, graph, index, case, first["values"])
            jobs.append((index, case, answer, found))
        except Exception as exc:
            answer["gradient"] = {"error": described_error(exc)}
    run_gradients(tf, session, jobs)


def case_gradients(tf, graph, index, case, values):
    known = dict(zip(case["steps"][0][1], values))
    ys = [graph.get_tensor_by_name(here(index, name)) for name in case["ys"]]
    xs = [graph.get_tensor_by_name(here(index, name)) for name in case["xs"]]
    weights = [tf.constant(weight(tf, known[name])) for name in case["ys"]]
    return tf.gradients(ys, xs, grad_ys=weights)


def weight(tf, plain):
    """The output gradient: no two of its elements are alike."""
    array = array_of(tf, plain)
    values = np.cos(np.arange(array.size) * 0.7 + 0.3).reshape(array.shape)
    return values.astype(array.dtype)


def run_gradients(tf, session, jobs):
    if not jobs:
        return
    feeds, fetches = {}, []
    for index, case, _, found in jobs:
        feeds.update(feed_dict(tf, index, case["steps"][0][0]))
        fetches += [part for grad in found for part in parts(grad)]
    try:
        values = iter(session.run(fetches, feeds) if fetches else [])
        for _, _, answer, found in jobs:
            told = []
            for grad in found:
                got = [plain_value(next(values)) for _ in parts(grad)]
                told.append(put_together(got))
            answer["gradient"] = {"values": told}
    except Exception as exc:
        if len(jobs) == 1:
            jobs[0][2]["gradient"] = {"error": described_error(exc)}
            return
        middle = len(jobs) // 2
        run_gradients(tf, session, jobs[:middle])
        run_gradients(tf, session, jobs[middle:])


def parts(grad):
    if grad is None:
        return []
    if hasattr(grad, "values") and hasattr(grad, "indices"):
        return [grad.values, grad.indices]
    return [grad]


def put_together(got):
    if len(got) == 2:
        return ("slices", got[0], got[1])
    return got[0] if got else None


# --- the process ----------------------------------------------------------------


CONTRIB = (
    "boosted_trees.python.ops.model_ops",
    "boosted_trees.python.ops.quantile_ops",
    "factorization.python.ops.factorization_ops",
    "ffmpeg.ffmpeg_ops",
    "image.python.ops.distort_image_ops",
    "image.python.ops.image_ops",
    "layers.python.ops.sparse_feature_cross_op",
    "libsvm.python.ops.libsvm_ops",
    "memory_stats.python.ops.memory_stats_ops",
    "periodic_resample.python.ops.periodic_resample_op",
    "reduce_slice_ops.python.ops.reduce_slice_ops",
    "resampler.python.ops.resampler_ops",
    "tensor_forest.python.ops.model_ops",
    "tensor_forest.python.ops.stats_ops",
    "tensor_forest.python.ops.tensor_forest_ops",
    "text.python.ops.skip_gram_ops",
)


def load_contrib(tf):
    """The ops and gradients of tf.contrib, which exist once their modules are read."""
    for module in CONTRIB:
        importlib.import_module("tensorflow.contrib." + module)
    core = importlib.import_module("tensorflow_core")
    place = os.path.join(os.path.dirname(core.__file__), "contrib", "framework")
    tf.load_op_library(os.path.join(place, "python", "ops", "_variable_ops.so"))


def op_names():
    """The ops that this TensorFlow knows."""
    from tensorflow.python.framework import op_def_registry

    if hasattr(op_def_registry, "get_registered_ops"):
        return sorted(op_def_registry.get_registered_ops())
    from tensorflow.core.framework import op_def_pb2
    from tensorflow.python.client import pywrap_tf_session as session

    ops = op_def_pb2.OpList()
    ops.ParseFromString(session.TF_GetBuffer(session.TF_GetAllOpList()))
    return sorted(op.name for op in ops.op)


def answers_to(tf, request):
    """One frame for a request; one for each case if it is to be careful, so that the
    other side knows which case this process died of."""
    if "cases" not in request:
        yield op_names()
    elif request["careful"]:
        for case in request["cases"]:
            yield execute(tf, [case])[0]
    else:
        yield execute(tf, request["cases"])


def main():
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    tf = runner.import_tensorflow(sys.argv[1])
    if sys.argv[1].startswith("1."):
        load_contrib(tf)
    read = sys.stdin.buffer.read

    def write(data):
        answers.write(data)
        answers.flush()

    write(tf.__version__.encode().ljust(16))
    while True:
        header = read(runner.HEADER.size)
        if len(header) < runner.HEADER.size:
            return
        request = pickle.loads(read(runner.HEADER.unpack(header)[0]))
        for told in answers_to(tf, request):
            data = pickle.dumps(told, protocol=runner.PROTOCOL)
            write(runner.HEADER.pack(len(data)) + data)


if __name__ == "__main__":
    main()
