# program: constants of every dtype
values = []
for dtype in (tf.float16, tf.float32, tf.float64, tf.bfloat16, tf.int8, tf.int16, tf.int32, tf.int64, tf.uint8,
              tf.uint16, tf.uint32, tf.uint64, tf.complex64, tf.complex128):
    values.append(tf.constant([1, 2, 3], dtype=dtype))
values += [tf.constant(True), tf.constant([True, False]), tf.constant("text"), tf.constant(b"\xff\x00"),
           tf.constant(["a", "b\u00e9"]), tf.constant(1), tf.constant(1.5), tf.constant(2 ** 40), tf.constant(1j),
           tf.constant(np.float64(1.5)), tf.constant(np.arange(3)), tf.constant(np.arange(3, dtype=np.uint8)),
           tf.constant([[1, 2], [3, 4]], tf.float32), tf.constant(7, shape=[2, 3]), tf.constant([1, 2], shape=[4]),
           tf.constant([]), tf.constant([[]]), tf.constant((1.0, 2)), tf.constant(np.zeros([0, 3]))]
with tf.Session() as sess:
    result = [[str(v.dtype) for v in values], sess.run([v for v in values if v.dtype != tf.bfloat16])]

# program: constant conversion errors
result = {
    "none": error(tf.constant, None), "mixed": error(tf.constant, [1, "a"]), "float as int": error(tf.constant, 1.5, tf.int32),
    "str as float": error(tf.constant, "a", tf.float32), "too big": error(tf.constant, 2 ** 40, tf.int32),
    "huge": error(tf.constant, 2 ** 70), "negative unsigned": error(tf.constant, -1, tf.uint8), "300": error(tf.constant, 300, tf.uint8),
    "dtype": error(tf.constant, 1, "nonsense"), "object": error(tf.constant, object()), "dict": error(tf.constant, {"a": 1}),
    "int as str": error(tf.constant, 1, tf.string), "int as bool": error(tf.constant, 1, tf.bool), "bool as int": error(tf.constant, True, tf.int32),
    "list with none": error(tf.constant, [1, None]), "complex as float": error(tf.constant, 1j, tf.float32),
    "int float list": error(tf.constant, [1, 2.5], tf.int32), "resource": error(tf.constant, 1, tf.resource),
}

# program: convert_to_tensor
x = tf.placeholder(tf.float32, [2], name="x")
class Thing(object):
    def __init__(self, value):
        self.value = value
tf.register_tensor_conversion_function(Thing, lambda v, dtype=None, name=None, as_ref=False: tf.constant(v.value, dtype=dtype, name=name))
a = tf.convert_to_tensor(x)
b = tf.convert_to_tensor([1, 2], name="list")
c = tf.convert_to_tensor([x, x * 2.0], name="packed")
d = tf.convert_to_tensor(1, preferred_dtype=tf.float32)
e = tf.convert_to_tensor(1.5, preferred_dtype=tf.int32)
f = tf.convert_to_tensor(Thing(3.0))
g = tf.constant(1.0) + Thing(2.0)
h = tf.convert_to_tensor([[1.0, 2.0], x])
with tf.Session() as sess:
    result = [a is x, sess.run([b, c, d, e, f, g, h], {x: [5.0, 6.0]}),
              error(tf.convert_to_tensor, x, tf.int32), error(tf.convert_to_tensor, object()),
              error(tf.convert_to_tensor, [1, 2.0, "a"])]

# program: dtype rules of binary operators
# compare: error values
# not in 2.21: values
f = tf.placeholder(tf.float32, [2])
d = tf.placeholder(tf.float64, [2])
i = tf.placeholder(tf.int32, [2])
l = tf.placeholder(tf.int64, [2])
s = tf.placeholder(tf.string, [2])
b = tf.placeholder(tf.bool, [2])
result = {
    "float double": error(lambda: f + d), "int long": error(lambda: i + l), "float int": error(lambda: f * i),
    "int + 1.5": error(lambda: i + 1.5), "float + 1": (f + 1).dtype.name, "1 + float": (1 + f).dtype.name,
    "int / int": (i / i).dtype.name, "int // int": (i // i).dtype.name, "long / 2": (l / 2).dtype.name,
    "string + string": (s + s).dtype.name, "string * 2": error(lambda: s * 2), "bool + bool": error(lambda: b + b),
    "bool and int": error(lambda: b & i), "not float": error(lambda: ~f), "matmul": error(tf.matmul, [[1.0]], [[1]]),
    "sqrt int": error(tf.sqrt, i), "sqrt python int": error(tf.sqrt, 4), "exp": tf.exp(1.0).dtype.name,
    "reduce_mean bool": error(tf.reduce_mean, b), "cast": tf.cast(b, tf.int32).dtype.name, "cast string": error(tf.cast, s, tf.int32),
    "truth": error(bool, f), "if": error(lambda: 1 if f > 0 else 0), "iter": error(lambda: list(f)), "len": error(len, f), "int()": error(int, i),
    "float + np.float64": error(lambda: f + np.float64(1)), "float + np array": error(lambda: f + np.ones(2)), "hash eq": [f == f, f == d],
    "select cond": error(tf.where, i, f, f), "one_hot": tf.one_hot(i, 3).dtype.name, "argmax": tf.argmax(f).dtype.name,
    "add_n": error(tf.add_n, [f, d]), "add_n empty": error(tf.add_n, []), "concat": error(lambda: tf.concat([f, d], 0)),
    "stack mix": error(lambda: tf.stack([f, i])), "assign": "n/a",
}

# program: dtypes
# not in 2.21: values
names = ["float32", "half", "bfloat16", "double", "int8", "uint8", "string", "bool", "complex64", "qint8", "resource", "variant", "int64"]
types = [tf.as_dtype(name) for name in names]
result = {
    "repr": [repr(t) for t in types], "name": [t.name for t in types], "size": [t.size for t in types],
    "enum": [t.as_datatype_enum for t in types], "ref": [tf.float32_ref.name if hasattr(tf, "float32_ref") else "float32_ref"],
    "flags": [[bool(flag) for flag in (t.is_floating, t.is_integer, t.is_bool, t.is_complex, t.is_quantized, t.is_unsigned, t.is_numpy_compatible)] for t in types],
    "min": [tf.int8.min, tf.uint16.max, tf.int32.max, float(tf.float32.max)], "np": [tf.as_dtype(np.float32).name, tf.as_dtype(np.int64).name, tf.as_dtype(np.dtype("int16")).name, error(tf.as_dtype, int), error(tf.as_dtype, float), error(tf.as_dtype, bool)],
    "from enum": [tf.as_dtype(1).name, tf.as_dtype(3).name], "real": [tf.complex64.real_dtype.name, tf.float32.real_dtype.name],
    "base": [tf.float32.base_dtype.name, tf.float32.is_compatible_with(tf.float64)],
    "eq": [tf.float32 == "float32", tf.float32 == np.float32, tf.float32 != tf.int32, tf.float32 in (tf.int32, tf.float32)],
    "errors": [error(tf.as_dtype, "nope"), error(tf.as_dtype, 9999), error(tf.as_dtype, object()), error(lambda: tf.string.min)],
    "as numpy": [np.dtype(t.as_numpy_dtype).name for t in (tf.float32, tf.int64, tf.bool, tf.complex64)],
}

# program: fill, zeros, ones, ranges
# not in 2.21: ops
parts = [tf.zeros([2, 3]), tf.zeros([], tf.int32), tf.zeros(3, tf.bool), tf.zeros([2], tf.string), tf.ones([2, 2], tf.int64),
         tf.fill([2, 2], "a"), tf.fill([3], 5), tf.zeros_like([1, 2]), tf.ones_like([[1.0]]), tf.zeros_like(tf.constant(["a"])),
         tf.zeros_like([1.5], dtype=tf.int32), tf.range(5), tf.range(2, 8), tf.range(8, 2, -2), tf.range(0.0, 1.0, 0.25),
         tf.range(3, dtype=tf.float32), tf.range(tf.constant(4, tf.int64)), tf.linspace(0.0, 10.0, 5), tf.eye(2, 3), tf.zeros([1000]), tf.zeros([1001])]
with tf.Session() as sess:
    result = sess.run(parts)
