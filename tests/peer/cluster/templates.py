"""Programs for a cluster: graphs that call functions with attrs."""

from google.protobuf import text_format
from running import PS, error_of
from template_graphs import CONTRADICTIONS, GRAPHS, WRONG, graph_text

_FEEDS = {"x:0": 3.0, "i:0": 5, "p:0": True}


def functions_with_attrs(tf, target):
    found = []
    for name, (nodes, functions, values) in GRAPHS.items():
        if name in CONTRADICTIONS:
            continue
        graph = imported(tf, nodes, functions)
        fetches = ["y:0", "z:0"][: len(values)]
        with tf.Session(target, graph=graph) as sess:
            found.append(
                [name, error_of(tf, lambda s=sess, f=fetches: s.run(f, _FEEDS))]
            )
    return found


def functions_with_wrong_attrs(tf, target):
    found = []
    for name, (nodes, functions, _, _) in WRONG.items():
        graph = error_of(tf, lambda n=nodes, f=functions: imported(tf, n, f))
        error = graph
        if not isinstance(graph, str):
            with tf.Session(target, graph=graph) as sess:
                error = ["runs", error_of(tf, lambda s=sess: s.run("y:0", _FEEDS))]
        found.append([name, error])
    return found


def imported(tf, nodes, functions):
    """The graph. TensorFlow's runtime has such functions, its Python has no classes
    for them."""
    graph_def = tf.GraphDef()
    text_format.Parse(graph_text(nodes, functions), graph_def)
    real = None
    if tf.__name__ != "tensorloom":
        from tensorflow.python.framework import function

        real, function.from_library = function.from_library, lambda library: []
    try:
        with tf.Graph().as_default() as graph, tf.device(PS):
            tf.import_graph_def(graph_def, name="")
    finally:
        if real is not None:
            function.from_library = real
    return graph
