# program: variables and their nodes
v = tf.Variable(1.0)
w = tf.Variable([[1, 2], [3, 4]], name="weights", dtype=tf.float32)
u = tf.Variable(lambda: tf.ones([2]) * 3.0, name="lazy")
c = tf.Variable(0, trainable=False, name="counter", collections=[tf.GraphKeys.LOCAL_VARIABLES])
init = tf.global_variables_initializer()
local = tf.local_variables_initializer()
with tf.Session() as sess:
    sess.run([init, local])
    result = {
        "values": sess.run([v, w, u, c, w.value(), w.read_value()]),
        "names": [x.name for x in (v, w, u, c)], "ops": [v.op.name, v.initializer.name, w.initial_value.name],
        "global": [x.name for x in tf.global_variables()], "trainable": [x.name for x in tf.trainable_variables()],
        "local": [x.name for x in tf.local_variables()], "shapes": [v.shape, w.get_shape()], "dtype": [v.dtype.name, w.dtype.base_dtype.name],
        "eval": [v.eval(), v.eval(sess)],
    }

# program: assignments
v = tf.Variable([1.0, 2.0], name="v")
step = tf.Variable(0, trainable=False, name="step")
a = tf.assign(v, [3.0, 4.0])
b = tf.assign_add(v, [1.0, 1.0], name="more")
c = v.assign_sub([0.5, 0.5])
d = step.assign_add(1)
e = tf.assign(v, [1.0, 2.0, 3.0], validate_shape=False)
s = tf.scatter_sub(v, [1], [10.0])
errors = [error(tf.assign, v, [1.0]), error(tf.assign, v, 5), error(tf.assign, tf.constant(1.0), 2.0), error(lambda: v.assign("a"))]
out = []
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for op in (a, b, c, d, d, s, e):
        out.append(sess.run(op))
    out.append(sess.run([v, step]))
result = [out, errors]

# program: resource variables and their nodes
with tf.variable_scope("scope", use_resource=True):
    v = tf.get_variable("v", [2], initializer=tf.constant_initializer(1.5))
    w = tf.get_variable("w", initializer=tf.constant([1.0, 2.0]))
x = v + w
a = v.assign([5.0, 6.0])
b = v.assign_add([1.0, 1.0])
c = w.assign_sub([1.0, 1.0])
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    result = [v.name, sess.run(x), sess.run(a), sess.run(b), sess.run(c), sess.run([v, w]), v.dtype.name, v.shape]
    sess.run(v.initializer)
    result.append(sess.run(v.read_value()))

# program: get_variable reuse in every way
def layer(x, units):
    w = tf.get_variable("w", [int(x.shape[1]), units], initializer=tf.ones_initializer())
    b = tf.get_variable("b", [units], initializer=tf.zeros_initializer())
    return tf.matmul(x, w) + b
x = tf.placeholder(tf.float32, [None, 3], name="x")
with tf.variable_scope("net"):
    a = layer(x, 4)
with tf.variable_scope("net", reuse=True):
    b = layer(x, 4)
with tf.variable_scope("net") as scope:
    scope.reuse_variables()
    c = layer(x, 4)
with tf.variable_scope(scope, reuse=True):
    d = layer(x, 4)
with tf.variable_scope("auto", reuse=tf.AUTO_REUSE):
    e = layer(x, 2)
with tf.variable_scope("auto", reuse=tf.AUTO_REUSE):
    f = layer(x, 2)
with tf.variable_scope(tf.get_variable_scope()):
    with tf.variable_scope("deep"):
        g = layer(x, 1)
errors = []
def again():
    with tf.variable_scope("net"):
        layer(x, 4)
def missing():
    with tf.variable_scope("net", reuse=True):
        tf.get_variable("absent", [1])
def other_shape():
    with tf.variable_scope("net", reuse=True):
        tf.get_variable("w", [7, 7])
def other_dtype():
    with tf.variable_scope("net", reuse=True):
        tf.get_variable("b", [4], dtype=tf.int32)
def no_shape():
    tf.get_variable("noshape")
def unknown_shape():
    tf.get_variable("unknown", [None, 2])
errors = [error(f) for f in (again, missing, other_shape, other_dtype, no_shape, unknown_shape)]
result = [errors, [v.name for v in tf.global_variables()], [v.name for v in tf.trainable_variables(scope="net")],
          scope.name, scope.original_name_scope]

# program: variable_scope and name_scope together
# not in 2.21: ops
with tf.variable_scope("a") as s1:
    with tf.name_scope("n"):
        v = tf.get_variable("v", [1])
        x = 1.0 + v
    with tf.variable_scope("b"):
        w = tf.get_variable("w", [1])
        y = tf.Variable(1.0, name="plain")
with tf.variable_scope("a"):
    z = tf.Variable(2.0, name="plain")
with tf.variable_scope(s1):
    q = tf.constant(1.0, name="q")
with tf.variable_scope(s1, auxiliary_name_scope=False):
    r = tf.constant(1.0, name="r")
with tf.variable_scope(None, default_name="layer"):
    t = tf.get_variable("t", [1])
with tf.variable_scope(None, default_name="layer"):
    u = tf.get_variable("t", [1])
result = [k.name for k in (v, x, w, y, z, q, r, t, u)]

# program: initializers, regularizers, partitioners, custom getters
# not in 2.21: ops
calls = []
def getter(getter, name, *args, **kwargs):
    calls.append(name)
    return getter(name, *args, **kwargs) * 2.0
with tf.variable_scope("p", regularizer=lambda w: tf.reduce_sum(w * w), initializer=tf.constant_initializer(0.5)):
    a = tf.get_variable("a", [2, 2])
    b = tf.get_variable("b", [4], regularizer=None)
with tf.variable_scope("q", custom_getter=getter):
    c = tf.get_variable("c", [2], initializer=tf.ones_initializer())
with tf.variable_scope("r", partitioner=tf.fixed_size_partitioner(2)):
    d = tf.get_variable("d", [4, 3], initializer=tf.ones_initializer())
    whole = tf.convert_to_tensor(d)
e = tf.get_variable("e", [3], dtype=tf.int32, initializer=tf.zeros_initializer(), trainable=False)
losses = tf.get_collection(tf.GraphKeys.REGULARIZATION_LOSSES)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    result = [sess.run([a, b, c, whole, e]), calls, [t.name for t in losses], sess.run(losses),
              [v.name for v in tf.global_variables()], [v.name for v in d], type(d).__name__]

# program: initializers give nodes and values
# not in 2.21: ops
shape = [3, 4]
zeros = [tf.zeros_initializer(), tf.ones_initializer(), tf.constant_initializer(2.5), tf.constant_initializer(list(range(12)))]
vs = [tf.get_variable("v%d" % i, shape, initializer=init) for i, init in enumerate(zeros)]
randoms = [tf.random_uniform_initializer(-1, 1), tf.random_normal_initializer(stddev=0.1), tf.truncated_normal_initializer(stddev=0.1),
           tf.glorot_uniform_initializer(), tf.glorot_normal_initializer(), tf.variance_scaling_initializer(2.0), tf.uniform_unit_scaling_initializer(),
           tf.initializers.he_normal(), tf.initializers.lecun_uniform()]
rs = [tf.get_variable("r%d" % i, shape, initializer=init) for i, init in enumerate(randoms)]
default = tf.get_variable("default", shape)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    result = sess.run(vs)

# program: uninitialized variables
# not in 2.21: ops
v = tf.Variable(1.0, name="v")
w = tf.get_variable("w", [2], use_resource=True)
report = tf.report_uninitialized_variables()
known = [tf.is_variable_initialized(v), tf.is_variable_initialized(w)]
with tf.Session() as sess:
    before = sess.run([report] + known)
    errors = [error(sess.run, v), error(sess.run, w), error(sess.run, v + 1.0), error(sess.run, tf.assign_add(v, 1.0))]
    sess.run(tf.variables_initializer([v]))
    after = sess.run([report] + known)
result = [before, errors, after]

# program: variables keep state per session
v = tf.Variable(0, name="v")
inc = tf.assign_add(v, 1)
init = tf.global_variables_initializer()
one, two = tf.Session(), tf.Session()
one.run(init)
two.run(init)
one.run(inc)
one.run(inc)
two.run(inc)
result = [one.run(v), two.run(v)]
one.close()
two.close()

# program: variables from other initial values
# compare: error values
x = tf.Variable(2.0, name="x")
y = tf.Variable(x.initialized_value() * 3.0, name="y")
z = tf.Variable(tf.zeros([2, 3]), name="z", expected_shape=None)
with tf.control_dependencies([tf.no_op(name="barrier")]):
    u = tf.Variable(5.0, name="u")
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    result = sess.run([x, y, z, u])

# program: variable arithmetic like a tensor's
v = tf.Variable([[1.0, 2.0], [3.0, 4.0]], name="v")
i = tf.Variable([3, 5], name="i")
parts = [v + 1.0, 1.0 - v, v * v, v / 2.0, -v, v[0], v[:, 1], v > 2.0, i // 2, i % 2, abs(v), v ** 2.0, tf.matmul(v, v), v @ v, 7 // i, tf.identity(v), v[..., 0]]
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    result = sess.run(parts)

# program: errors of variables
# not in 2.21: ops values
result = {
    "no value": error(tf.Variable), "none": error(tf.Variable, None), "shape": error(lambda: tf.Variable(tf.placeholder(tf.float32))),
    "no validate": tf.Variable(tf.placeholder(tf.float32), validate_shape=False).get_shape(), "get name": error(lambda: tf.get_variable(3, [1])),
    "init and shape": error(lambda: tf.get_variable("q", [2], initializer=tf.constant([1.0]))), "init type": error(lambda: tf.get_variable("r", [2], initializer=5)),
    "empty": error(lambda: tf.get_variable("", [1])), "name scope": error(lambda: tf.variable_scope(None).__enter__()), "iterate": error(lambda: list(tf.Variable([1, 2]))),
    "int glorot": error(lambda: tf.get_variable("s", [2], dtype=tf.int32)), "string default": error(lambda: tf.get_variable("t", [2], dtype=tf.string)),
    "bool": error(lambda: tf.get_variable("u", [2], dtype=tf.bool)), "reuse type": error(lambda: tf.variable_scope("x", reuse=3).__enter__()),
}
