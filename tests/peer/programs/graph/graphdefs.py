# program: import_graph_def
# not in 2.21: ops
source = tf.Graph()
with source.as_default():
    x = tf.placeholder(tf.float32, [2], name="x")
    y = tf.add(x, 1.0, name="y")
    z = tf.multiply(y, 3.0, name="z")
graph_def = source.as_graph_def()
inner = tf.constant([5.0, 6.0], name="inner")
a = tf.import_graph_def(graph_def, name="a", return_elements=["z:0", "y"])
b = tf.import_graph_def(graph_def, input_map={"x": inner}, return_elements=["z:0"])
c = tf.import_graph_def(graph_def, {"y:0": inner}, ["z"], "c")
d = tf.import_graph_def(graph_def, name="")
with tf.name_scope("scope"):
    tf.import_graph_def(graph_def, name="e")
with tf.Session() as sess:
    result = [sess.run(b), sess.run("z:0", {"x:0": [1.0, 2.0]}), sess.run(c[0].outputs[0]), d, a[0].get_shape(), a[1].name]

# program: import_graph_def errors
# not in 2.21: values
# compare: error values
source = tf.Graph()
with source.as_default():
    x = tf.placeholder(tf.float32, [2], name="x")
    y = tf.add(x, 1.0, name="y")
def changed(edit):
    g = source.as_graph_def()
    edit(g)
    return g
def node(g, name):
    return [n for n in g.node if n.name == name][0]
def duplicate(g):
    g.node.add().CopyFrom(g.node[0])
def unknown_op(g):
    node(g, "y").op = "NoSuchOp"
def missing_input(g):
    node(g, "y").input[0] = "gone"
def bad_port(g):
    node(g, "y").input[0] = "x:4"
def self_cycle(g):
    node(g, "y").input[0] = "y"
def lose_input(g):
    del node(g, "y").input[1]
def bad_attr(g):
    node(g, "y").attr["T"].type = 3
def lose_attr(g):
    del node(g, "y").attr["T"]
def extra_attr(g):
    node(g, "y").attr["unheard_of"].i = 3
def no_name(g):
    node(g, "y").name = ""
def bad_name(g):
    node(g, "y").name = "a b"
def bad_device(g):
    node(g, "y").device = "nonsense"
def late_control(g):
    node(g, "y").input.append("^gone")
def control_first(g):
    node(g, "y").input.insert(0, "^x")
def colocate(g):
    node(g, "y").attr["_class"].list.s.append(b"loc:@nothing")
edits = [duplicate, unknown_op, missing_input, bad_port, self_cycle, lose_input, bad_attr, lose_attr, extra_attr, no_name, bad_name, bad_device, late_control, control_first, colocate]
result = {edit.__name__: error(lambda: tf.import_graph_def(changed(edit), name="t_" + edit.__name__)) for edit in edits}
g = source.as_graph_def()
result.update({
    "not a graph": error(tf.import_graph_def, "text"), "none": error(tf.import_graph_def, None), "map unused": error(lambda: tf.import_graph_def(g, input_map={"q": x})), "map key": error(lambda: tf.import_graph_def(g, input_map={3: x})), "map type": error(lambda: tf.import_graph_def(g, input_map=[1])),
    "return missing": error(lambda: tf.import_graph_def(g, return_elements=["q"])), "return type": error(lambda: tf.import_graph_def(g, return_elements=[5])), "map dtype": error(lambda: tf.import_graph_def(g, input_map={"x": tf.constant([1, 2])})), "return port": error(lambda: tf.import_graph_def(g, return_elements=["y:7"])), "map unused index": error(lambda: tf.import_graph_def(g, input_map={"x:3": tf.constant([1.0, 2.0])})),
})

# program: graph defs round trip
a = tf.constant([1.0, 2.0], name="a")
with tf.device("/cpu:0"), tf.control_dependencies([a]):
    b = tf.identity(a * 2.0, name="b")
v = tf.Variable(3.0, name="v")
graph_def = tf.get_default_graph().as_graph_def()
text = [(n.name, n.op, list(n.input), n.device) for n in graph_def.node]
parsed = tf.GraphDef()
parsed.ParseFromString(graph_def.SerializeToString())
with tf.Graph().as_default() as other:
    tf.import_graph_def(parsed, name="")
    again = [(n.name, n.op, list(n.input), n.device) for n in other.as_graph_def().node]
    with tf.Session() as sess:
        value = sess.run("b:0")
shapes = tf.get_default_graph().as_graph_def(add_shapes=True)
partial = tf.get_default_graph().as_graph_def(from_version=2)
result = [text, again == text, value, [len(n.attr["_output_shapes"].list.shape) for n in shapes.node], [n.name for n in partial.node], error(parsed.ParseFromString, b"\x0a\xff\xff\xff")]

# program: tensor protos both ways
values = [np.float32(1.5), np.arange(6).reshape(2, 3), np.array([b"a", b"bc"]), np.array([True, False]), np.zeros([3], np.float16), np.array(1 + 2j), np.ones([5], np.float64), np.array([], np.int32)]
protos = [tf.make_tensor_proto(v) for v in values]
splat = tf.make_tensor_proto(7.0, shape=[2, 2])
result = [[tf.make_ndarray(p) for p in protos], tf.make_ndarray(splat), [p.dtype for p in protos], list(splat.float_val), error(tf.make_tensor_proto, [1, "a"]), error(tf.make_tensor_proto, None), error(tf.make_tensor_proto, [1, 2], tf.string)]

# program: a tensor proto that promises more than it has
source = tf.Graph()
with source.as_default():
    tf.constant(np.arange(100, dtype=np.float32), name="c")
def with_proto(edit):
    g = source.as_graph_def()
    edit(g.node[0].attr["value"].tensor)
    with tf.Graph().as_default() as graph:
        tf.import_graph_def(g, name="")
        with tf.Session() as sess:
            return sess.run("c:0")
def short(t):
    t.tensor_content = t.tensor_content[:7]
def huge(t):
    t.tensor_shape.dim[0].size = 2 ** 40
def negative(t):
    t.tensor_shape.dim[0].size = -5
def other_type(t):
    t.dtype = 3
result = [error(with_proto, edit) for edit in (short, huge, negative, other_type)]

# program: a network made once and imported twice
# not in 2.21: ops
source = tf.Graph()
with source.as_default():
    x = tf.placeholder(tf.float32, [None, 4], name="input")
    w = tf.constant(np.arange(8, dtype=np.float32).reshape(4, 2), name="w")
    y = tf.nn.softmax(tf.matmul(x, w), name="output")
frozen = source.as_graph_def()
x = tf.placeholder(tf.float32, [None, 4], name="x")
first, = tf.import_graph_def(frozen, {"input:0": x}, ["output:0"], "tower")
second, = tf.import_graph_def(frozen, {"input:0": x * 2.0}, ["output:0"], "tower")
grad = tf.gradients(first, x)[0]
with tf.Session() as sess:
    result = sess.run([first, second, grad], {x: [[0.1, 0.2, 0.3, 0.4]]})
