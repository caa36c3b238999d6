"""Programs for a cluster: graphs with functions that cannot be called."""

from broken_graphs import FUNCTIONS, USES, graph_text
from google.protobuf import text_format
from running import PS, error_of


def functions_that_cannot_be_called(tf, target):
    found = []
    for name, function in FUNCTIONS.items():
        for use in USES:
            graph_def = tf.GraphDef()
            text_format.Parse(graph_text(function, use), graph_def)
            graph = tf.Graph()
            with graph.as_default(), tf.device(PS):
                error = error_of(
                    tf, lambda g=graph_def: tf.import_graph_def(g, name="")
                )
            results = []
            if error is None:
                with tf.Session(target, graph=graph) as sess:
                    results += [
                        error_of(tf, lambda f=fetch: sess.run(f))
                        for fetch in ("x:0", "y:0", "x:0")
                    ]
            found.append([name, use, error, results])
    return found
