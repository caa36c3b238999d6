# program: unique names of repeated ops
# not in 2.21: ops
a = tf.constant(1.0)
b = tf.constant(2.0)
c = tf.constant(3.0, name="Const")
d = a + b
e = a + c
f = tf.add(d, e, name="total")
g = tf.add(d, e, name="total")
h = tf.constant(0.0, name="total_1")
with tf.Session() as sess:
    result = sess.run([f, g, h])

# program: names that collide with generated suffixes
a = tf.placeholder(tf.float32, name="x_1")
b = tf.placeholder(tf.float32, name="x")
c = tf.placeholder(tf.float32, name="x")
d = tf.placeholder(tf.float32, name="x")
result = [t.name for t in (a, b, c, d)]

# program: names differ in case only
a = tf.constant(1, name="Weight")
b = tf.constant(1, name="weight")
c = tf.constant(1, name="WEIGHT")
result = [a.name, b.name, c.name]

# program: name scopes nest and repeat
with tf.name_scope("outer") as outer:
    a = tf.constant(1.0, name="a")
    with tf.name_scope("inner") as inner:
        b = tf.multiply(a, 2.0, name="b")
        c = b * 3.0
    with tf.name_scope("inner"):
        d = tf.square(c)
with tf.name_scope("outer"):
    e = tf.constant(1.0, name="a")
result = [outer, inner, e.name, tf.get_default_graph().get_name_scope()]

# program: name scope entered again by its trailing slash
with tf.name_scope("block") as scope:
    a = tf.zeros([2], name="a")
with tf.name_scope(scope):
    b = tf.zeros([2], name="b")
    c = tf.zeros([2], name="a")
with tf.name_scope("block/"):
    d = tf.zeros([2], name="a")
with tf.name_scope(None):
    e = tf.zeros([2], name="a")
with tf.name_scope(""):
    f = tf.zeros([2], name="a")

# program: name scope of the graph and get_name_scope
# not in 2.21: values
g = tf.get_default_graph()
names = []
with g.name_scope("one"):
    names.append(g.get_name_scope())
    with g.name_scope("two"):
        names.append(g.get_name_scope())
        with g.name_scope(None):
            names.append(g.get_name_scope())
names.append(g.get_name_scope())
result = names

# program: name scope with default name and values
a = tf.placeholder(tf.float32, [2])
with tf.name_scope(None, "my_op", [a]) as name:
    b = tf.identity(a, name=name)
with tf.name_scope(None, "my_op", [a]) as name:
    b = tf.identity(a, name=name)
with tf.name_scope("given", "my_op", [a]) as name:
    c = tf.identity(a, name=name)
result = [b.name, c.name]

# program: op named by a scope string
with tf.name_scope("dense") as scope:
    w = tf.ones([3, 2], name="w")
    x = tf.placeholder(tf.float32, [None, 3], name="x")
    y = tf.matmul(x, w)
    out = tf.identity(y, name=scope)
result = out.name

# program: graph unique_name
g = tf.get_default_graph()
names = [g.unique_name("op"), g.unique_name("op"), g.unique_name("op", mark_as_used=False)]
names.append(g.unique_name("op"))
names.append(g.unique_name("a/b"))
names.append(g.unique_name("a"))
with tf.name_scope("s"):
    names.append(g.unique_name("op"))
    names.append(g.unique_name("op"))
result = names

# program: invalid names
def named(name):
    return lambda: tf.constant(1, name=name)

def scoped(name):
    def enter():
        with tf.name_scope(name):
            pass
    return enter

result = {
    "space": error(named("a b")),
    "dash first": error(named("-a")),
    "underscore first": error(named("_a")),
    "dot first": error(named(".a")),
    "slash": error(named("a/b")),
    "colon": error(named("a:0")),
    "caret": error(named("^a")),
    "unicode": error(named("\u00e4")),
    "empty": error(named("")),
    "scope space": error(scoped("a b")),
    "scope underscore": error(scoped("_a")),
    "scope dash": error(scoped("-a")),
    "scope number": error(scoped(3)),
    "op name number": error(named(3)),
}

# program: underscore names inside a scope
with tf.name_scope("s"):
    a = tf.constant(1, name="_hidden")
    with tf.name_scope("_t"):
        b = tf.constant(1, name="-x")
result = [a.name, b.name]

# program: operator overloads and the names they give
# not in 2.21: ops
x = tf.placeholder(tf.float32, [2, 3], name="x")
y = tf.placeholder(tf.float32, [3], name="y")
i = tf.placeholder(tf.int32, [3], name="i")
b = tf.placeholder(tf.bool, [3], name="b")
outputs = [
    x + y, x - y, x * y, x / y, x // y, x % y, x ** y, -x, abs(x),
    1.0 + x, 1.0 - x, 2.0 * x, 1.0 / x, 7.0 // x, 7.0 % x, 2.0 ** x,
    x < y, x <= y, x > y, x >= y,
    i + 1, i - 1, i * 2, i / 2, i // 2, i % 2, -i, abs(i), 10 - i, 10 / i, 10 // i, 10 % i,
    ~b, b & True, b | False, b ^ True, True & b, False | b, True ^ b,
    x @ tf.ones([3, 2]),
    x + [1.0, 2.0, 3.0], [1.0, 2.0, 3.0] * x,
    x + np.float32(2), np.ones([3], np.float32) * y,
]
with tf.Session() as sess:
    result = sess.run(outputs, {
        x: [[1.5, 2.5, -3.5], [4.0, 5.0, 6.0]], y: [1.0, 2.0, 3.0],
        i: [1, -2, 3], b: [True, False, True]})

# program: names of builders given a name
# not in 2.21: ops
x = tf.placeholder(tf.float32, [4, 4], name="x")
ops = [
    tf.reduce_sum(x, 1, name="rs"), tf.reduce_mean(x, [0], True, name="rm"),
    tf.reduce_max(x), tf.nn.relu(x, name="r"), tf.nn.softmax(x, name="sm"),
    tf.concat([x, x], 0, name="cc"), tf.split(x, 2, 1, name="sp")[1],
    tf.stack([x, x], name="st"), tf.unstack(x, name="us")[0],
    tf.transpose(x, name="t"), tf.reshape(x, [-1], name="rsh"),
    tf.expand_dims(x, -1, name="ed"), tf.cast(x, tf.int32, name="ca"),
    tf.argmax(x, 1, name="am"), tf.one_hot([1, 2], 4, name="oh"),
    tf.zeros_like(x, name="zl"), tf.ones_like(x, name="ol"), tf.fill([2], 1.0, name="fi"),
    tf.tile(x, [2, 1], name="ti"), tf.gather(x, [0], name="ga"),
    tf.where(x > 0, x, -x, name="wh"), tf.clip_by_value(x, -1.0, 1.0, name="cl"),
    tf.matmul(x, x, transpose_b=True, name="mm"), tf.pad(x, [[1, 1], [0, 0]], name="pa"),
    tf.squared_difference(x, 1.0, name="sd"), tf.range(3, name="ra"),
    tf.shape(x, name="sh"), tf.size(x, name="si"), tf.rank(x, name="rk"),
]
with tf.Session() as sess:
    result = sess.run(ops, {x: np.arange(16, dtype=np.float32).reshape(4, 4) - 7.5})

# program: default names of python level functions
# not in 2.21: ops
x = tf.placeholder(tf.float32, [None, 4])
labels = tf.placeholder(tf.int32, [None])
onehot = tf.one_hot(labels, 4)
parts = [
    tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=x)),
    tf.reduce_mean(tf.nn.softmax_cross_entropy_with_logits_v2(labels=onehot, logits=x)),
    tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(labels=onehot, logits=x)),
    tf.nn.l2_loss(x), tf.nn.log_softmax(x), tf.nn.bias_add(x, tf.zeros([4])),
    tf.clip_by_value(x, 0.0, 1.0), tf.clip_by_norm(x, 1.0), tf.global_norm([x, x]),
    tf.reduce_all(x > 0), tf.reduce_any(x > 0) if hasattr(tf, "reduce_any") else x,
    tf.reduce_prod(x, axis=-1), tf.reduce_min(x, axis=[0, 1]), tf.reduce_logsumexp(x, 1),
    tf.linspace(0.0, 1.0, 5), tf.eye(3), tf.diag_part(tf.eye(2)), tf.nn.l2_normalize(x, 1),
    tf.cumsum(x, 1), tf.reverse(x, [1]), tf.nn.moments(x, [0])[1],
]
with tf.Session() as sess:
    result = sess.run(parts, {x: [[0.5, -1.0, 2.0, 0.0], [1.0, 1.5, -0.5, 3.0]], labels: [2, 3]})
