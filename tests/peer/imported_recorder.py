"""Records MetaGraphDefs with classic control flow, and gradients taken after import.

`python tests/peer/imported_recorder.py VERSION FILE`, under a peer's Python, writes for
each graph: the MetaGraphDef, the feeds, and what TensorFlow makes of it: the values of
the ys and of their gradients by the xs, and the nodes that the gradients add.
`... --read FOLDER` takes the gradients of `N.meta` for each row [ys, xs, feeds] of
`wanted.json`, and writes `values.json`. Python 3.7.
"""

import base64
import json
import os
import sys

import numpy as np
from runner import describe_ops, import_tensorflow

READS = sys.argv[1] == "--read"
tf = import_tensorflow("1.15" if READS else sys.argv[1])

MATRIX = np.array([[0.5, -0.2], [0.1, 0.3]], np.float32)
TABLE = np.arange(12).reshape(6, 2).astype(np.float32)


# --- graphs: each gives ys, xs and feeds ------------------------------------------


def scalar(name="x"):
    return tf.placeholder(tf.float32, [], name=name)


def vector(name="x"):
    return tf.placeholder(tf.float32, [None], name=name)


def loop(count, body, *values, **options):
    def step(i, *values):
        return (i + 1, *body(i, *values))

    results = tf.while_loop(lambda i, *_: i < count, step, (0, *values), **options)
    return results[1:]


def loop_scalar():
    x, n = scalar(), tf.placeholder(tf.int32, [], name="n")
    return (
        [loop(n, lambda i, a: [a * x + tf.sin(a)], x)[0]],
        [x],
        {"x": 0.7, "n": 4},
    )


def loop_double():
    x = tf.placeholder(tf.float64, [None], name="x")
    return [loop(3, lambda i, a: [a * x], x)[0]], [x], {"x": [1.2, 3.0]}


def loop_variable():
    w = tf.get_variable("w", initializer=MATRIX, use_resource=False)
    x = tf.placeholder(tf.float32, [2, 2], name="x")
    options = dict(maximum_iterations=10, swap_memory=True, parallel_iterations=3)
    (h,) = loop(3, lambda i, h: [tf.tanh(tf.matmul(h, w) + x)], x, **options)
    return [tf.reduce_sum(h * h)], [w, x], {"x": np.ones([2, 2])}


def loop_resource():
    w = tf.get_variable("w", initializer=MATRIX, use_resource=True)
    x = tf.placeholder(tf.float32, [None, 2], name="x")
    (h,) = loop(3, lambda i, h: [tf.tanh(tf.matmul(h, w) + x)], x)
    return [tf.reduce_sum(h * h)], [w, x], {"x": np.ones([3, 2])}


def loop_unused_results():
    x, z = tf.placeholder(tf.float32, [2], name="x"), vector("z")
    a, _, _ = loop(
        3,
        lambda i, a, b, c: [a * tf.reduce_sum(b), b + 1.0, tf.ones([2]) * a[0]],
        x,
        z,
        x,
    )
    return [a], [x, z], {"x": [1.0, 2.0], "z": [1.0, 2.0, 3.0]}


def loop_forgets():
    x, z = tf.placeholder(tf.float32, [2], name="x"), vector("z")
    results = loop(3, lambda i, a, b: [tf.constant([3.0, 4.0]), z * 2.0], x, z)
    return list(results), [x, z], {"x": [1.0, 2.0], "z": [1.0, 2.0, 3.0]}


def loop_without_gradient():
    x = scalar()
    (a,) = loop(3, lambda i, a: [a * x], x, back_prop=False)
    return [a + x], [x], {"x": 2.0}


def loop_waits():
    x = scalar()
    v = tf.get_variable("v", initializer=0.0, trainable=False, use_resource=False)

    def body(i, a):
        with tf.control_dependencies([tf.assign_add(v, 1.0)]):
            return [tf.identity(a) * x + tf.stop_gradient(a)]

    return [loop(3, body, x)[0]], [x], {"x": 0.3}


def loops_in_a_row():
    x = scalar()
    (a,) = loop(3, lambda i, a: [a * x], x)
    (b,) = loop(2, lambda i, b: [b + tf.sin(a) * b], x)
    return [a, b], [x], {"x": 1.2}


def loop_in_loop():
    x = scalar()
    w = tf.get_variable("w", initializer=1.5, use_resource=False)

    def outer(i, a):
        inner = loop(i + 1, lambda j, b: [b * w + tf.sin(b)], a, name="inner")
        return [inner[0] * x]

    return [loop(3, outer, x, name="outer")[0]], [x, w], {"x": 0.3}


def loop_in_loop_of_vectors():
    x, w = vector(), vector("w")

    def outer(i, a, c):
        b, _ = loop(i + 1, lambda j, b, d: [b * w + tf.sin(b), d + 1.0], a, c)
        return [b * x, c]

    return [loop(3, outer, x, w)[0]], [x, w], {"x": [0.3, 0.2], "w": [1.0, 2.0]}


def cond(taken, use_resource):
    x, p = vector(), tf.placeholder(tf.bool, [], name="p")
    w = tf.get_variable("w", initializer=[1.5, 2.0], use_resource=use_resource)
    ys = tf.cond(p, lambda: (x * w, w + 1.0), lambda: (tf.sin(x), x))
    return list(ys), [x, w], {"x": [0.3, 0.5], "p": taken}


def cond_in_cond():
    x, p = vector(), tf.placeholder(tf.bool, [], name="p")

    def inner():
        return tf.cond(tf.reduce_sum(x) > 0.5, lambda: x * x, lambda: tf.exp(x))

    y = tf.cond(p, inner, lambda: tf.sin(x))
    return [y], [x], {"x": [0.3, 0.1], "p": True}


def cond_in_loop(x, use_resource):
    w = tf.get_variable("w", initializer=1.5, use_resource=use_resource)

    def body(i, a):
        return [tf.cond(tf.equal(i % 2, 0), lambda: a * w, lambda: tf.sin(a) + x)]

    return loop(5, body, x)[0], w


def cond_in_loop_scalar():
    x = scalar()
    y, w = cond_in_loop(x, False)
    return [y], [x, w], {"x": 0.3}


def cond_in_loop_vector():
    x = vector()
    y, w = cond_in_loop(x, False)
    return [y], [x, w], {"x": [0.3, 0.4]}


def loop_in_cond(taken):
    x, p = scalar(), tf.placeholder(tf.bool, [], name="p")
    y = tf.cond(p, lambda: loop(3, lambda i, a: [a * x], x)[0], lambda: tf.sin(x))
    return [y], [x], {"x": 0.3, "p": taken}


def all_nested():
    x = scalar()
    w = tf.get_variable("w", initializer=0.9, use_resource=False)

    def middle(j, b):
        def step(k, c):
            return [tf.cond(c > 0.2, lambda: c * w, lambda: c + x)]

        return [loop(2, step, b)[0] + tf.cast(j, tf.float32) * b]

    (y,) = loop(2, lambda i, a: [loop(2, middle, a)[0] * x], x)
    return [y], [x, w], {"x": 0.3}


def arrays():
    x = tf.placeholder(tf.float32, [None, 2], name="x")
    w = tf.get_variable("w", initializer=[1.5, -0.5], use_resource=False)
    n = tf.shape(x)[0]
    source = tf.TensorArray(tf.float32, size=n).unstack(x)
    sums, squares = loop(
        n,
        lambda i, s, o: [s + source.read(i) * w, o.write(i, s * s)],
        tf.zeros([2]),
        tf.TensorArray(tf.float32, size=n),
    )
    return [squares.stack(), sums], [x, w], {"x": np.arange(6).reshape(3, 2)}


def slices(use_resource):
    e = tf.get_variable("e", initializer=TABLE, use_resource=use_resource)
    ids = tf.placeholder(tf.int32, [None, 2], name="ids")

    def body(i, s):
        return [s + tf.reduce_sum(tf.square(tf.gather(e, ids[i])))]

    return [loop(3, body, 0.0)[0]], [e], {"ids": [[0, 1], [1, 5], [2, 2]]}


def folds():
    x = vector()
    ys = [
        tf.scan(lambda a, e: a * e + 1.0, x),
        tf.map_fn(lambda e: e * e, x),
        tf.foldl(lambda a, e: a * e, x),
    ]
    return ys, [x], {"x": [1.0, 2.0, 3.0]}


GRAPHS = {
    "loop, scalar": loop_scalar,
    "loop, double": loop_double,
    "loop, variable": loop_variable,
    "loop, resource": loop_resource,
    "loop, unused results": loop_unused_results,
    "loop, forgets": loop_forgets,
    "loop, without gradient": loop_without_gradient,
    "loop, waits": loop_waits,
    "loops in a row": loops_in_a_row,
    "loop in loop": loop_in_loop,
    "loop in loop, vectors": loop_in_loop_of_vectors,
    "cond, true": lambda: cond(True, False),
    "cond, false": lambda: cond(False, False),
    "cond, resource, true": lambda: cond(True, True),
    "cond, resource, false": lambda: cond(False, True),
    "cond in cond": cond_in_cond,
    "cond in loop, scalar": cond_in_loop_scalar,
    "cond in loop, vector": cond_in_loop_vector,
    "loop in cond, true": lambda: loop_in_cond(True),
    "loop in cond, false": lambda: loop_in_cond(False),
    "all nested": all_nested,
    "arrays": arrays,
    "slices": lambda: slices(False),
    "slices, resource": lambda: slices(True),
    "folds": folds,
}


# --- what is recorded -------------------------------------------------------------


def record(build):
    """Builds a graph, exports it, and takes gradients in an import of it."""
    with tf.Graph().as_default():
        ys, xs, feeds = build()
        names = [[t.name for t in ys], [t.name for t in xs]]
        meta_graph = tf.train.export_meta_graph()
    data = meta_graph.SerializeToString()
    with tf.Graph().as_default() as graph:
        tf.train.import_meta_graph(meta_graph)
        count = len(graph.get_operations())
        values = gradients(graph, names[0], names[1])
        nodes = [
            [op["name"], op["type"], op["inputs"], op["control_inputs"]]
            for op in describe_ops(graph)[count:]
        ]
        with tf.Session() as sess:
            sess.run(tf.global_variables_initializer())
            found = sess.run(values, {name + ":0": feeds[name] for name in feeds})
    return {
        "meta_graph": base64.b64encode(data).decode(),
        "ys": names[0],
        "xs": names[1],
        "feeds": {name: np.asarray(value).tolist() for name, value in feeds.items()},
        "values": [
            {"dtype": value.dtype.name, "value": value.tolist()}
            for value in map(np.asarray, found)
        ],
        # In 2.21 the gradients of many ops have changed.
        "nodes": nodes if tf.__version__.startswith("1.") else [],
    }


def gradients(graph, ys, xs):
    """The ys, and their gradients by the xs as dense tensors; tensors by name."""
    variables = {variable.name: variable for variable in tf.global_variables()}
    ys = [graph.get_tensor_by_name(name) for name in ys]
    xs = [variables[n] if n in variables else graph.get_tensor_by_name(n) for n in xs]
    found = tf.gradients(ys, xs)
    return ys + [tf.convert_to_tensor(gradient) for gradient in found]


def read(folder):
    """Takes the gradients of graphs that were written elsewhere."""
    with open(os.path.join(folder, "wanted.json")) as file:
        wanted = json.load(file)
    found = []
    for number, (ys, xs, feeds) in enumerate(wanted):
        with tf.Graph().as_default() as graph, tf.Session() as sess:
            tf.train.import_meta_graph(os.path.join(folder, f"{number}.meta"))
            values = gradients(graph, ys, xs)
            sess.run(tf.global_variables_initializer())
            results = sess.run(values, {name + ":0": feeds[name] for name in feeds})
            found.append([value.tolist() for value in map(np.asarray, results)])
    with open(os.path.join(folder, "values.json"), "w") as file:
        json.dump(found, file)


def main():
    if READS:
        read(sys.argv[2])
        return
    records = {name: record(build) for name, build in GRAPHS.items()}
    with open(sys.argv[2], "w") as out:
        json.dump(records, out, indent=1, sort_keys=True)


if __name__ == "__main__":
    main()
