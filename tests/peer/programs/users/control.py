# program: what loops give back
# compare: error values
# not in 2.21: error values
def attempt(f, *a, **k):
    try: return f(*a, **k)
    except Exception as e: return "raises " + type(e).__name__
V = lambda *v: tf.constant(v, tf.float64)
x = V(1., 2.); t = lambda *a: tf.reduce_sum(tf.stack([tf.reduce_sum(q) for q in tf.nest.flatten(a)])) < 50.
def show(v):
    if isinstance(v, (list, tuple)): return [type(v).__name__] + [show(q) for q in v]
    if isinstance(v, dict): return {k: show(q) for k, q in v.items()}
    return type(v).__name__
W = lambda b, v, **k: show(attempt(tf.while_loop, t, b, v, **k))
result = []
for k in ({}, {"maximum_iterations": 3}, {"return_same_structure": True}, {"maximum_iterations": 3, "return_same_structure": True}):
    result.append([W(lambda a: a, [x], **k), W(lambda a: [a], [x], **k), W(lambda a: a, (x,), **k), W(lambda a: {"a": a["a"]}, [{"a": x}], **k), W(lambda a: [{"a": a["a"]}], [{"a": x}], **k), W(lambda a: a, [[x]], **k), W(lambda a: [a], [[x]], **k), W(lambda a: [a], [(x, x)], **k), W(lambda a: a, [(x, x)], **k), W(lambda a, b: (a, b), [x, x], **k), W(lambda a, b: [a, b], [x, x], **k), W(lambda a, b: (a, b), (x, x), **k)])

# program: limits of iterations of any dtype
# compare: error values
# not in 2.21: error values
def attempt(f, *a, **k):
    try: return f(*a, **k)
    except Exception as e: return "raises " + type(e).__name__
def runs(fetches, feeds=None):
    with tf.Session() as sess:
        sess.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        try: return sess.run(fetches, feeds)
        except Exception as e: return "raises " + type(e).__name__
g = lambda y, *x, **k: tf.gradients(y, list(x), **k)
V = lambda *v: tf.constant(v, tf.float64)
x = V(1., 2.)
out = []
for m in (3, np.int64(2), tf.constant(2, tf.int64), 2.5, tf.constant(2.0), tf.constant(2, tf.uint8), tf.constant(9.5, tf.float64), -2.5):
    for vars, body in (([0, x], lambda i, a: [i + 1, a * x + tf.sin(a)]), ([x], lambda a: a * a)):
        r = attempt(lambda: tf.while_loop(lambda i, *a: tf.less(tf.reduce_sum(i), 1000.0 if i.dtype == tf.float64 else 4), body, vars, maximum_iterations=m))
        if isinstance(r, str): out.append(r)
        else: out.append(runs([r, g(r[1] if len(vars) == 2 else r, x)]))
result = out, [error(tf.while_loop, lambda i: i < 4, lambda i: i + 1, [0], maximum_iterations=m) for m in ("a", True, 1j, [3], [], tf.placeholder(tf.int32, [1]), tf.placeholder(tf.int32), None, tf.zeros([], tf.bool))]

# program: what bodies return in loops with a limit
# compare: error values
# not in 2.21: error values
V = lambda *v: tf.constant(v, tf.float64)
x = V(1., 2.)
W = lambda b, v, **k: error(tf.while_loop, lambda *a: tf.constant(True), b, v, maximum_iterations=3, **k)
result = [W(lambda a: [a], [x]), W(lambda a: (a,), [x]), W(lambda a: a, [x]), W(lambda a: a, (x,)), W(lambda a: [a], [x], return_same_structure=True), W(lambda a: (a,), [x], return_same_structure=True), W(lambda a: a, [x], return_same_structure=True),
  W(lambda a, b: (a, b), [x, x]), W(lambda a, b: [a, b], [x, x]), W(lambda a, b: [a, b], (x, x)), W(lambda a, b: (a, b), (x, x)), W(lambda a, b: (a, (b[0],)), (x, [x])), W(lambda a, b: (a, [b[0]]), (x, [x])), W(lambda a: a, [{"a": x}]), W(lambda a: [a], [{"a": x}]), W(lambda a: a, [[x]]), W(lambda a: a, [(x, x)]),
  W(lambda a: a, [x], shape_invariants=[tf.TensorShape([2])]), W(lambda a: a, [x], shape_invariants=tf.TensorShape([2])), W(lambda a, b: [a, b], [x, x], shape_invariants=[tf.TensorShape([2])] * 2), W(lambda a, b: [a, b], [x, x], shape_invariants=(tf.TensorShape([2]),) * 2)]

# program: what bodies return in loops without a limit
# compare: error values
# not in 2.21: error values
V = lambda *v: tf.constant(v, tf.float64)
x = V(1., 2.)
W = lambda b, v, **k: error(tf.while_loop, lambda *a: tf.constant(True), b, v, **k)
result = [W(lambda a: [a], [x]), W(lambda a: (a,), [x]), W(lambda a: a, [x]), W(lambda a: a, (x,)), W(lambda a: [a], [x], return_same_structure=True), W(lambda a: (a,), [x], return_same_structure=True), W(lambda a: a, [x], return_same_structure=True),
  W(lambda a, b: (a, b), [x, x]), W(lambda a, b: [a, b], [x, x]), W(lambda a, b: [a, b], (x, x)), W(lambda a, b: (a, b), (x, x)), W(lambda a, b: (a, (b[0],)), (x, [x])), W(lambda a, b: (a, [b[0]]), (x, [x])), W(lambda a: a, [{"a": x}]), W(lambda a: [a], [{"a": x}]), W(lambda a: a, [[x]]), W(lambda a: a, [(x, x)]),
  W(lambda a: a, [x], shape_invariants=[tf.TensorShape([2])]), W(lambda a: a, [x], shape_invariants=tf.TensorShape([2])), W(lambda a, b: [a, b], [x, x], shape_invariants=[tf.TensorShape([2])] * 2), W(lambda a, b: [a, b], [x, x], shape_invariants=(tf.TensorShape([2]),) * 2)]

# program: shape invariants as shapes and as specs
# compare: error values
# not in 2.21: error values
def attempt(f, *a, **k):
    try: return f(*a, **k)
    except Exception as e: return "raises " + type(e).__name__
V = lambda *v: tf.constant(v, tf.float64)
x = V(1., 2.); c = lambda *a: tf.constant(True); S = tf.TensorShape
sp = tf.SparseTensor([[0, 0]], [1.], [3, 3]); rt = tf.RaggedTensor.from_row_splits(tf.constant([1., 2.]), [0, 1, 2]); sl = tf.IndexedSlices(tf.ones([2, 3]), tf.constant([0, 1]), tf.constant([5, 3]))
def W(b, v, s, **k):
    r = attempt(tf.while_loop, c, b, v, s, **k)
    return r if isinstance(r, str) else [q.shape.as_list() if q.shape.rank is not None else None for q in tf.nest.flatten(r, expand_composites=True)]
I = lambda *a: list(a)
J = lambda *a: a if len(a) > 1 else a[0]
result = [W(I, [x], [S([None])]), W(I, [x], S([None])), W(I, [x], [[None]]), W(I, [x], [tf.TensorSpec([None], tf.float64)]), W(I, [x], [tf.TensorSpec([None], tf.float32)]), W(I, [x], [None]), W(I, [x], S(None)), W(I, [x], [S(None)]), W(J, [x], S([None]), maximum_iterations=3), W(J, [x], [S([None])], maximum_iterations=3), W(I, (x, x), [S([None]), S([2])]), W(I, [x, x], [S([None]), S([2])]), W(I, (x, x), (S([None]), S([2]))),
  W(J, (x, x), (S([None]), S([2])), maximum_iterations=2), W(J, (x, x), [S([None]), S([2])], maximum_iterations=2),
  W(I, [sp], [S([None, None])]), W(I, [sp], [S([None])]), W(I, [sp], [S([2])]), W(I, [sp], [S([3])]), W(I, [sp], [tf.SparseTensorSpec([None, 3], tf.float32)]), W(I, [sp], [tf.SparseTensorSpec([None, 3], tf.int32)]), W(I, [sp], [tf.TensorSpec([None, 3], tf.float32)]), W(I, [sp], None), W(I, [sp], [None]), W(I, [sp], [tf.SparseTensorSpec([None], tf.float32)]),
  W(I, [rt], [S([None, None])]), W(I, [rt], [S([2, None])]), W(I, [rt], [S([None, None, None])]), W(I, [rt], [S(None)]), W(I, [rt], [S([None])]), W(I, [rt], [tf.RaggedTensorSpec([None, None], tf.float32)]), W(I, [rt], [tf.RaggedTensorSpec([None, None], tf.int32)]), W(I, [rt], None),
  W(I, [sl], [S([None, 3])]), W(I, [sl], [S(None)]), W(I, [sl], [S([None])]), W(I, [sl], None), W(I, [sl], [tf.IndexedSlicesSpec([None, 3], tf.float32, tf.int32, tf.int32)]), W(I, [x], [S([None, 2])]), W(I, [x], [3])]

# program: a ragged loop variable that grows
# compare: error values
# not in 2.21: error values
def runs(fetches, feeds=None):
    with tf.Session() as sess:
        sess.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        try: return sess.run(fetches, feeds)
        except Exception as e: return "raises " + type(e).__name__
V = lambda *v: tf.constant(v, tf.float64)
rt = tf.RaggedTensor.from_row_splits(tf.constant([1., 2.]), [0, 1, 2])
_, r = tf.while_loop(lambda i, r: i < 2, lambda i, r: (i + 1, tf.concat([r, r * 2.], 0)), [0, rt], [tf.TensorShape([]), tf.TensorShape([None, None])])
result = r.shape.as_list(), runs([r.values, r.row_splits])

# program: a sparse loop variable that fills
# compare: error values
# not in 2.21: error values
def runs(fetches, feeds=None):
    with tf.Session() as sess:
        sess.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        try: return sess.run(fetches, feeds)
        except Exception as e: return "raises " + type(e).__name__
V = lambda *v: tf.constant(v, tf.float64)
sp = tf.SparseTensor([[0, 0]], [1.], [3, 3])
_, r = tf.while_loop(lambda i, r: i < 2, lambda i, r: (i + 1, tf.sparse.concat(0, [r, r])), [0, sp])
result = r.shape.as_list(), runs(r)

# program: exclusive cases with and without a default
# compare: error values
# not in 2.21: error values
def runs(fetches, feeds=None):
    with tf.Session() as sess:
        sess.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        try: return sess.run(fetches, feeds)
        except Exception as e: return "raises " + type(e).__name__
V = lambda *v: tf.constant(v, tf.float64)
x = tf.placeholder(tf.float32, [])
P = [x < 1, x < 2, x < 3]
A = [lambda: x * 2, lambda: x * 3, lambda: x * 4]
out = []
for n in (1, 2, 3):
    for e in (False, True):
        for d in (None, lambda: x * 9):
            t = tf.case(list(zip(P[:n], A[:n])), default=d, exclusive=e)
            out.append([runs(t, {x: v}) for v in (0., 1.5, 2.5, 9.)])
result = out

# program: a custom gradient with a variable in a loop
# compare: error values
# not in 2.21: error values
def runs(fetches, feeds=None):
    with tf.Session() as sess:
        sess.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        try: return sess.run(fetches, feeds)
        except Exception as e: return "raises " + type(e).__name__
g = lambda y, *x, **k: tf.gradients(y, list(x), **k)
V = lambda *v: tf.constant(v, tf.float64)
v = tf.get_variable("v", initializer=tf.constant(2.0), use_resource=True)
@tf.custom_gradient
def f(t):
    r = t * v
    def grad(d, variables=None): return d * 7.0, [tf.reduce_sum(d) * 11.0]
    return r, grad
x = tf.constant([1., 2.])
_, y = tf.while_loop(lambda i, *_: i < 2, lambda i, a: (i + 1, f(a)), [0, x])
result = runs([y] + g(y, x, v))

# program: gradients of a loop with stops, given gradients and zeros
# compare: error values
# not in 2.21: error values
def runs(fetches, feeds=None):
    with tf.Session() as sess:
        sess.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        try: return sess.run(fetches, feeds)
        except Exception as e: return "raises " + type(e).__name__
g = lambda y, *x, **k: tf.gradients(y, list(x), **k)
V = lambda *v: tf.constant(v, tf.float64)
x = V(1., 2.); w = V(.5)[0]; q = V(9.)[0]
_, y, z = tf.while_loop(lambda i, *_: i < 3, lambda i, a, b: (i + 1, a * w + tf.stop_gradient(b), b * x[0] * w), [0, x, x * w])
out = [g(y, x, w, stop_gradients=[x]), g([y, z], x, w, grad_ys=[V(1., -1.), None]), g(y, x, q, unconnected_gradients="zero"), g(z, w, q, unconnected_gradients=tf.UnconnectedGradients.ZERO, stop_gradients=x)]
result = [[v is None for v in o] for o in out], runs([[v for v in o if v is not None] for o in out])

# program: loops without gradients in and around others
# compare: error values
# not in 2.21: error values
def attempt(f, *a, **k):
    try: return f(*a, **k)
    except Exception as e: return "raises " + type(e).__name__
def runs(fetches, feeds=None):
    with tf.Session() as sess:
        sess.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        try: return sess.run(fetches, feeds)
        except Exception as e: return "raises " + type(e).__name__
g = lambda y, *x, **k: tf.gradients(y, list(x), **k)
V = lambda *v: tf.constant(v, tf.float64)
x = V(2.)[0]
_, a = tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, a * x), [0, x], back_prop=False)
def outer(i, b):
    _, c = tf.while_loop(lambda j, c: j < 2, lambda j, c: (j + 1, c * x), [0, b], back_prop=False)
    return i + 1, c + b * x
_, b = tf.while_loop(lambda i, a: i < 2, outer, [0, x])
m = tf.map_fn(lambda e: e * x, V(1., 2.), back_prop=False)
out = [attempt(lambda y=y: g(y, x)) for y in (a, b, m, a * x)]
result = [o if isinstance(o, str) else [v is None for v in o] for o in out], runs([[v for v in o if v is not None] for o in out if not isinstance(o, str)])

# program: the gradient of a loop in a branch
# compare: error values
# not in 2.21: error values
def runs(fetches, feeds=None):
    with tf.Session() as sess:
        sess.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        try: return sess.run(fetches, feeds)
        except Exception as e: return "raises " + type(e).__name__
V = lambda *v: tf.constant(v, tf.float64)
x = V(.2, .3); p = tf.placeholder(tf.bool, [])
_, y = tf.while_loop(lambda i, *_: i < 3, lambda i, a: (i + 1, a * a + x), [0, x])
z = tf.cond(p, lambda: tf.gradients(y * x, x)[0], lambda: x)
result = [runs([z, y], {p: v}) for v in (True, False)]

# program: cases that are refused
# compare: error values
# not in 2.21: error values
def runs(fetches, feeds=None):
    with tf.Session() as sess:
        sess.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        try: return sess.run(fetches, feeds)
        except Exception as e: return "raises " + type(e).__name__
V = lambda *v: tf.constant(v, tf.float64)
x = tf.placeholder(tf.float32, [])
f = tf.case({x < 1: lambda: x * 2, x > 5: lambda: x * 3}, exclusive=True)
h = tf.case([(x < 1, lambda: x * 2), (x < 5, lambda: x * 3)], exclusive=True)
result = [runs(f, {x: v}) for v in (0., 9., 3.)], [runs(h, {x: v}) for v in (0., 3., 9.)], [error(tf.case, c) for c in ([], {}, [1], [(x < 1, 3)], (x < 1, lambda: x), None)]

# program: branches that are refused
# compare: error values
# not in 2.21: error values
V = lambda *v: tf.constant(v, tf.float64)
x = V(1., 2.); p = tf.placeholder(tf.bool, [])
C = lambda a, b, q=p, **k: error(tf.cond, q, a, b, **k)
result = [C(lambda: x, lambda: (x, x)), C(lambda: x, lambda: tf.cast(x, tf.float32)), C(lambda: None, lambda: None), C(lambda: (), lambda: ()), C(lambda: [x], lambda: (x,)), C(lambda: [x], lambda: x), C(lambda: [x], lambda: x, strict=True), C(lambda: {"a": x}, lambda: {"b": x}), C(lambda: tf.no_op(), lambda: tf.no_op()), C(lambda: tf.no_op(), lambda: tf.constant(True)),
  C(lambda: x, lambda: x, True), C(lambda: x, lambda: x, tf.constant(1)), C(lambda: x, lambda: x, tf.constant([True])), C(lambda: x, lambda: x, 1), C(lambda: x, lambda: x, np.bool_(True)), C(x, x), C(lambda: x, None), C(lambda: 1, lambda: 2.0), C(lambda: 1, lambda: 2), C(lambda: "a", lambda: "b"), C(lambda: [1, 2], lambda: [3, 4])]

# program: what leaves a branch, and what no step reads of it
# compare: values
# not in 2.21: values
def runs(sess, fetches, feeds):
    try: return sess.run(fetches, feeds)
    except tf.errors.OpError as e: return type(e).__name__
p = tf.placeholder(tf.bool, []); x = tf.placeholder(tf.float32, [None]); box = {}
v = [tf.get_variable("v%d" % i, initializer=0., use_resource=False) for i in range(3)]
cost = tf.assign_add(v[2], 1.)
def yes():
    box["m"] = x * 3.; box["a"] = tf.assign_add(v[0], 1.)
    def inner(): box["n"] = tf.exp(x); tf.summary.scalar("deep", tf.reduce_max(x)); return tf.constant(1.)
    z = tf.cond(x[0] > 0., inner, lambda: tf.constant(-1.)); tf.summary.histogram("hh", x)
    return z + tf.reduce_sum(x), tf.assign_add(v[1], 1.) + cost
y, effect = tf.cond(p, yes, lambda: (tf.constant(0.), tf.constant(0.)))
tf.summary.scalar("y", y); m = tf.summary.merge_all()
other = tf.cond(p, lambda: box["m"] + 1., lambda: x)
with tf.control_dependencies([box["a"]]): after = tf.constant(4.)
g = tf.gradients(tf.reduce_sum(box["m"]), x)[0]
result = []
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for feeds in ({p: True, x: [1., 2.]}, {p: True, x: [-1., 2.]}, {p: False, x: [1.]}):
        for fetch in (y, m, other, after, box["n"] + 1., g, [y, after], effect):
            result += [runs(sess, fetch, feeds), sess.run(v)]
