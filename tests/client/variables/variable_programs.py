"""Programs with variables whose graphs were recorded from TensorFlow 1.15."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Program = Callable[[Any], Any]
PROGRAMS: dict[str, Program] = {}


def program(function: Program) -> Program:
    """Adds a program to the table."""
    PROGRAMS[function.__name__] = function
    return function


@program
def reference_variables(tf: Any) -> Any:
    v = tf.Variable(1.0)
    w = tf.Variable([1, 2], name="w")
    lazy = tf.Variable(lambda: tf.zeros([3]), name="lazy", dtype=tf.float32)
    _ = [v + 1, -w, w[0]]
    v.assign(2.0)
    tf.assign_add(v, 1.0)
    v.assign_sub(1.0, name="less")
    lazy[0:2].assign([1.0, 2.0])
    tf.global_variables_initializer()
    tf.report_uninitialized_variables()
    tf.assert_variables_initialized()
    tf.is_variable_initialized(v)
    return [v.name, str(w.dtype), str(lazy.shape), repr(v)]


@program
def resource_variables(tf: Any) -> Any:
    v = tf.Variable(1.0, use_resource=True)
    w = tf.Variable(
        lambda: tf.zeros([3]), use_resource=True, name="w", dtype=tf.float32
    )
    _ = [v + 1, w * 2.0]
    added = v.assign_add(1.0)
    _ = added + 1.0
    v.assign(3.0, name="named")
    w.sparse_read([0])
    tf.scatter_add(w, [0], [1.0])
    tf.gather(w, [1])
    v.read_value()
    tf.identity(v)
    _ = w[1]
    w[0:2].assign([1.0, 2.0])
    tf.global_variables_initializer()
    return [added.name, repr(v), repr(w)]


@program
def scopes(tf: Any) -> Any:
    with tf.variable_scope("a") as scope:
        x = tf.get_variable("x", [3, 4])
        with tf.variable_scope("b", reuse=tf.AUTO_REUSE):
            threes = tf.constant_initializer(3.0)
            y = tf.get_variable("y", [2], initializer=threes)
            same = tf.get_variable("y", [2])
        _ = x + 1
    with tf.variable_scope("a", reuse=True):
        again = tf.get_variable("x", [3, 4])
        _ = x * 2.0
    with tf.variable_scope(scope, reuse=True):
        once_more = tf.get_variable("x")
        tf.constant(1.0)
    for value in ([1.0, 2.0], tf.constant(2.0)):
        with tf.variable_scope(None, "default"):
            tf.get_variable("z", initializer=value)
    with tf.variable_scope("a", auxiliary_name_scope=False):
        tf.get_variable("k", [1], dtype=tf.int32)
        tf.constant(1.0)
    return [y is same, x is again, x is once_more, scope.original_name_scope]


@program
def scope_defaults(tf: Any) -> Any:
    def renamed(getter: Any, name: str, *args: Any, **kwargs: Any) -> Any:
        return getter(name + "_renamed", *args, **kwargs)

    with tf.variable_scope(
        "regular",
        regularizer=lambda v: tf.reduce_sum(v) * 0.1,
        initializer=tf.zeros_initializer(),
        dtype=tf.float64,
    ):
        tf.get_variable("k", [1])
    with tf.variable_scope("parts", partitioner=tf.fixed_size_partitioner(2)):
        parts = tf.get_variable("p", [5, 2])
        tf.identity(parts)
    with tf.variable_scope("getter", custom_getter=renamed):
        q = tf.get_variable("q", [1])
    tf.get_local_variable("local", [2])
    tf.get_variable("resource", [2], use_resource=True)
    with tf.device("/cpu:1"):
        tf.get_variable("placed", [2])
    slices = [v._get_save_slice_info().spec for v in parts]
    return [q.name, len(parts), str(parts.shape), slices]


@program
def surroundings(tf: Any) -> Any:
    tf.Variable(1.0, caching_device="/cpu:0", name="cached")
    tf.Variable(1.0, caching_device="/cpu:0", name="cached2", use_resource=True)
    with tf.control_dependencies([tf.no_op()]):
        tf.Variable(3.0, name="free")
        tf.get_variable("free2", [2])
    with tf.name_scope("scope"):
        tf.Variable(1)
        tf.get_variable("outside", [1])
    with tf.container("box"):
        tf.Variable(1.0)
        tf.Variable(1.0, use_resource=True)
    v = tf.Variable(tf.placeholder(tf.float32, [None]), validate_shape=False)
    return str(v.shape)


@program
def creators(tf: Any) -> Any:
    def creator(next_creator: Any, **options: Any) -> Any:
        options["name"] = (options["name"] or "") + "_made"
        return next_creator(**options)

    with tf.variable_creator_scope(creator):
        return [tf.Variable(1.0, name="a").name, tf.get_variable("b", [1]).name]


@program
def scatters(tf: Any) -> Any:
    v = tf.Variable(tf.zeros([4, 2]))
    tf.scatter_update(v, [0], [[1.0, 2.0]])
    tf.scatter_nd_add(v, [[0]], [[1.0, 2.0]])
    v.scatter_sub(tf.IndexedSlices([[1.0, 1.0]], [0]))
    v.scatter_nd_update([[1]], [[1.0, 2.0]])
    batch = tf.Variable(tf.zeros([2, 3]))
    tf.batch_scatter_update(batch, [[0], [1]], [[1.0], [2.0]])
    v[0, 1].assign(3.0)
    tf.scatter_mul(v, 0, 2.0)


@program
def queues(tf: Any) -> Any:
    q = tf.FIFOQueue(3, [tf.float32, tf.int32], shapes=[[2], []])
    q.enqueue([[1.0, 2.0], 1])
    shapes = [str(t.shape) for t in q.dequeue_many(2)]
    q.dequeue()
    q.dequeue_up_to(3)
    q.close()
    q.size()
    q.is_closed()
    q.enqueue_many([[[1.0, 2.0]], [1]])
    r = tf.RandomShuffleQueue(3, 1, tf.float32, names="a", seed=5)
    r.enqueue({"a": 1.0})
    r.dequeue()
    with tf.name_scope("scope"):
        tf.PriorityQueue(3, [tf.string], [()]).dequeue(name="named")
    other = tf.FIFOQueue(5, [tf.float32, tf.int32], shapes=[[3], []])
    chosen = tf.QueueBase.from_list(tf.constant(0), [q, other])
    return [shapes, [str(s) for s in chosen.shapes], chosen.name]


@program
def tensor_arrays(tf: Any) -> Any:
    ta = tf.TensorArray(tf.float32, 3)
    ta = ta.write(0, tf.constant([1.0, 2.0]))
    shapes = [str(t.shape) for t in (ta.stack(), ta.read(0), ta.concat())]
    ta = ta.unstack(tf.zeros([3, 2]))
    ta.gather([0, 1])
    ta.size()
    ta.close()
    x = tf.placeholder(tf.float32, [3, 2])
    other = tf.TensorArray(tf.float32, size=3, name="other").unstack(x)
    tf.gradients(other.read(1) * 2.0, x)
    third = tf.TensorArray(tf.float32, 3, infer_shape=False).split(x, [1, 1, 1])
    tf.gradients(third.concat(), x)
    return shapes


def _trained(make: Callable[[Any], Any], resource: bool, sparse: bool) -> Program:
    def build(tf: Any) -> Any:
        x = tf.placeholder(tf.float32, [None, 3])
        w = tf.get_variable("w", [3, 2], use_resource=resource)
        zeros = tf.zeros_initializer()
        b = tf.get_variable("b", [2], initializer=zeros, use_resource=resource)
        y = tf.matmul(x, w) + b
        step = None
        if sparse:
            e = tf.get_variable("e", [7, 2], use_resource=resource)
            indices = tf.placeholder(tf.int32, [3])
            y += tf.nn.embedding_lookup(e, indices)
        else:
            step = tf.train.get_or_create_global_step()
        loss = tf.reduce_sum(tf.square(y))
        op = make(tf).minimize(loss, global_step=step)
        return [op.name, [v.name for v in tf.global_variables()]]

    return build


OPTIMIZERS: dict[str, Callable[[Any], Any]] = {
    "gradient_descent": lambda tf: tf.train.GradientDescentOptimizer(0.1),
    "momentum": lambda tf: tf.train.MomentumOptimizer(0.1, 0.9),
    "adam": lambda tf: tf.train.AdamOptimizer(),
    "rmsprop": lambda tf: tf.train.RMSPropOptimizer(0.1, centered=True),
    "adagrad": lambda tf: tf.train.AdagradOptimizer(0.1),
    "adadelta": lambda tf: tf.train.AdadeltaOptimizer(0.1),
    "ftrl": lambda tf: tf.train.FtrlOptimizer(0.1, l1_regularization_strength=0.1),
    "ftrl_v2": lambda tf: tf.train.FtrlOptimizer(
        0.1, l2_shrinkage_regularization_strength=0.1, name="F"
    ),
}
for _name, _make in OPTIMIZERS.items():
    for _resource in (False, True):
        for _sparse in (False, True):
            _key = f"{_name}{'_resource' * _resource}{'_sparse' * _sparse}"
            PROGRAMS[_key] = _trained(_make, _resource, _sparse)


@program
def decays(tf: Any) -> Any:
    step = tf.Variable(7, trainable=False, name="step")
    train = tf.train
    train.exponential_decay(0.1, step, 10, 0.9)
    train.exponential_decay(0.1, step, 10, 0.9, staircase=True, name="stairs")
    train.natural_exp_decay(0.1, step, 10, 0.5)
    train.inverse_time_decay(0.1, step, 3, 0.5, staircase=True)
    train.polynomial_decay(0.1, step, 10, power=2.0)
    train.cosine_decay(0.1, step, 10, alpha=0.1)
    train.linear_cosine_decay(0.1, step, 10)
    train.noisy_linear_cosine_decay(0.1, step, 10)


def describe(op: Any) -> str:
    """One line with what is compared of an operation."""
    node = op.node_def
    groups = node.attr["_class"].list.s if "_class" in node.attr else ()
    fields = [
        op.name,
        op.type,
        " ".join(t.name for t in op.inputs),
        " ".join(sorted(c.name for c in op.control_inputs)),
        " ".join(str(t.shape) for t in op.outputs),
        op.device,
        " ".join(sorted(g.decode() for g in groups)),
    ]
    return " | ".join(fields).rstrip()


def lines_of(tf: Any, name: str) -> list[str]:
    """The graph of a program, its collections and its result, as lines."""
    with tf.Graph().as_default() as graph:
        tf.set_random_seed(1)
        result = PROGRAMS[name](tf)
    lines = [describe(op) for op in graph.get_operations()]
    for key in sorted(k for k in graph.get_all_collection_keys() if k[:1] != "_"):
        names = [getattr(item, "name", "") for item in graph.get_collection(key)]
        lines.append(f"{key}: {' '.join(names)}")
    return [*lines, f"result: {result}"]


def record(tf: Any) -> str:
    """What `recorded/variable_nodes.txt` holds."""
    parts = []
    for name in PROGRAMS:
        parts += [f"== {name}", *lines_of(tf, name)]
    return "\n".join(parts) + "\n"
