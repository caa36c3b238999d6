"""Dumps a debugged step, and reads such dumps; runs in TensorFlow and in tensorloom.

python recorder.py dump DIRECTORY
python recorder.py read DIRECTORY       JSON of what is in it
"""

import json
import sys


def dump(tf, debug, directory):
    """Runs a program with a loop, branches and variables, all of it watched."""
    x = tf.placeholder(tf.float32, [2], name="x")
    v = tf.Variable([1.0, 2.0], name="v")
    never = tf.Variable(3.0, name="never")
    i, w = tf.while_loop(
        lambda i, a: i < 3,
        lambda i, a: (i + 1, a * 2.0),
        [tf.constant(0), v + x],
        name="loop",
    )
    y = tf.identity(w, name="y")
    text = tf.string_join([tf.constant(["a", "b"]), tf.constant("c")], name="text")
    branch = tf.cond(
        y[0] > 0, lambda: tf.negative(y), lambda: tf.square(y), name="branch"
    )
    bad = tf.identity(tf.log(y * 0.0), name="bad")
    there = tf.is_variable_initialized(never)
    config = tf.ConfigProto()
    config.graph_options.optimizer_options.opt_level = -1
    config.graph_options.rewrite_options.disable_meta_optimizer = True
    with tf.Session(config=config) as sess:
        sess.run(v.initializer)
        options = tf.RunOptions()
        debug.watch_graph(
            options,
            sess.graph,
            debug_ops=["DebugIdentity", "DebugNanCount", "DebugNumericSummary"],
            debug_urls=["file://" + directory],
            tolerate_debug_op_creation_failures=True,
            global_step=7,
        )
        fetches = [i, branch, text, bad, there]
        sess.run(fetches, {x: [1.0, 2.0]}, options=options)


def read(debug, directory):
    """What is told of a dump."""
    found = debug.DebugDumpDir(directory)
    values = {}
    for datum in found.dumped_tensor_data:
        value = datum.get_tensor()
        shown = (
            "uninitialized"
            if getattr(value, "initialized", True) is False
            else [str(value.dtype), repr(value.tolist())]
        )
        values.setdefault(datum.watch_key, []).append(shown)
    nodes = sorted(found.nodes())
    facts = {
        node: [
            found.node_op_type(node),
            found.node_inputs(node),
            sorted(found.node_inputs(node, is_control=True)),
            sorted(found.node_recipients(node)),
        ]
        for node in nodes
        if not node.startswith(("_retval", "_SOURCE", "_SINK"))
    }
    return {
        "values": values,
        "nodes": facts,
        "devices": found.devices(),
        "step": found.core_metadata.global_step,
        "inputs": found.core_metadata.input_names,
        "outputs": sorted(found.core_metadata.output_names),
        "infinite": sorted(
            d.watch_key
            for d in found.find(debug.has_inf_or_nan)
            if d.debug_op == "DebugIdentity"
        ),
        "bad": found.find_some_path("y", "bad", include_control=False),
        "inputs_of_bad": sorted(set(found.transitive_inputs("bad"))),
    }


def main():
    import tensorflow as tf
    from tensorflow.python import debug

    if sys.argv[1] == "dump":
        dump(tf, debug, sys.argv[2])
    else:
        print(json.dumps(read(debug, sys.argv[2])))


if __name__ == "__main__":
    main()
