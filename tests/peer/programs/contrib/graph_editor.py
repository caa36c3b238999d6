# program: graph_editor: selections and walks
ge = tf.contrib.graph_editor
a = tf.constant([1.0, 2.0], name="a")
with tf.name_scope("part"):
    b = tf.multiply(a, 3.0, name="b")
    c = tf.add(b, a, name="c")
with tf.control_dependencies([b.op]):
    d = tf.identity(c, name="d")
e = tf.nn.relu(d - b, name="e")
graph = tf.get_default_graph()
names = lambda elements: [element.name for element in elements]
controls = ge.ControlOutputs(graph)
view = ge.make_view_from_scope("part", graph)
boundary = ge.compute_boundary_ts([b.op, c.op])
result = [
    names(ge.select_ops("^part/", graph=graph)), names(ge.select_ts("(?#ts)^part/.*:0$", graph=graph)),
    [names(found) for found in ge.select_ops_and_ts("^e$", "(?#ts)^d:0$", b, graph=graph)],
    names(ge.filter_ops_from_regex(graph, "d$")), names(ge.get_name_scope_ops(graph, "part/")),
    sorted(names(ge.get_forward_walk_ops([b]))), sorted(names(ge.get_backward_walk_ops([d.op], inclusive=False))),
    sorted(names(ge.get_backward_walk_ops(e, control_inputs=True, stop_at_ts=[c]))),
    sorted(names(ge.get_forward_walk_ops(b.op, control_outputs=controls, inclusive=False))),
    sorted(names(ge.get_walks_intersection_ops(a, e))), sorted(names(ge.get_walks_union_ops([c.op], [c.op]))),
    names(ge.get_within_boundary_ops(graph, [c.op], [d.op, a.op])), [sorted(names(ts)) for ts in boundary],
    names(ge.get_ops_ios([c.op])), names(ge.get_ops_ios(b.op, control_ios=controls)), names(controls.get(b.op)),
    names(view.inputs), names(view.outputs), names(view.ops), names(view.consumers()),
    names(view.remap([0], [0, 0]).outputs), names(view.remap_outputs_to_consumers().outputs),
    str(view).split("\n")[1:], ge.placeholder_name(c), ge.placeholder_name(c, scope=""), ge.placeholder_name(scope="x"),
    names(ge.get_consuming_ops([a, b])), names(ge.get_generating_ops([c, d])), len(ge.get_tensors(graph)),
    error(ge.select_ops, "x"), error(ge.select_ops, "x", graph=3), error(ge.select_ops, "x", grph=graph),
    error(ge.make_list_of_op, graph, allow_graph=False), error(ge.make_list_of_op, [a]),
    error(ge.make_list_of_t, [a.op]), error(ge.ControlOutputs, 1), error(ge.make_regex, 1),
    error(ge.check_cios, False, controls, controls), error(ge.check_cios, False, 1),
    error(view.remap_inputs, [0, 0]), error(view.remap_outputs, [7]), error(view.find_op_by_name, "x"),
    error(ge.sgv, "a", graph=1), error(ge.get_within_boundary_ops, graph, [c.op], [c.op]),
]
# program: graph_editor: inputs and outputs are swapped and cut off
ge = tf.contrib.graph_editor
x = tf.constant([1.0, 2.0], name="x")
y = tf.constant([5.0, 7.0], name="y")
p = tf.square(x, name="p")
q = tf.negative(y, name="q")
p2 = tf.multiply(p, 2.0, name="p2")
q2 = tf.multiply(q, 3.0, name="q2")
fetch = [p, q, p2, q2]
result = []
with tf.Session() as sess:
    def look():
        with tf.Session() as fresh:
            result.append(fresh.run(fetch))
    look()
    result.append(ge.swap_ts(p, q))
    look()
    result.append(ge.reroute_ts([p], [q], cannot_modify=[]))
    look()
    ge.swap_inputs(p.op, q.op)
    look()
    ge.swap_outputs(ge.sgv(p.op), ge.sgv(q.op))
    look()
    result.append([error(ge.swap_ts, x, [p, q]), error(ge.swap_ts, x, tf.constant(1)), error(ge.swap_ts, x, tf.constant([1.0]))])
    view, ins, outs = ge.detach(ge.sgv(q.op))
    result.append([[t.name for t in ins], [t.name for t in outs], [t.name for t in view.inputs]])
    z = tf.exp(x, name="z")
    tf.identity(z, name="after")
    ge.bypass(ge.sgv(z.op))
    result.append(tf.get_default_graph().get_operation_by_name("after").inputs[0].name)
    r = tf.placeholder(tf.float32, [2], name="r")
    s = tf.sqrt(r, name="s")
    ge.connect(ge.sgv(p2.op), ge.sgv(s.op))
    result.append(s.op.inputs[0].name)
    ge.add_control_inputs(s.op, x.op)
    result.append([error(ge.add_control_inputs, s.op, x.op), error(ge.remove_control_inputs, s.op, y.op), error(ge.add_control_inputs, s, x.op)])
    ge.remove_control_inputs(s.op, [x.op])
    result.append(len(s.op.control_inputs))
# program: graph_editor: copies
ge = tf.contrib.graph_editor
a = tf.constant([1.0, 2.0], name="a")
with tf.name_scope("net"):
    w = tf.get_variable("w", [2], initializer=tf.constant_initializer([3.0, 4.0]))
    b = tf.multiply(a, w, name="b")
    with tf.control_dependencies([b]):
        c = tf.add(b, 1.0, name="c")
tf.add_to_collection("net/mine", c)
view, info = ge.copy(ge.sgv_scope("net", tf.get_default_graph()), dst_scope="copied", src_scope="net")
other = tf.Graph()
view2, info2 = ge.copy(ge.sgv(b.op, c.op), other, "there")
view3, info3 = ge.copy_with_input_replacements(ge.sgv(b.op, c.op), {a: tf.constant([10.0, 10.0])}, dst_scope="again")
d = ge.graph_replace({"c": c, "a": [a]}, {a: tf.zeros([2])}, dst_scope="replaced")
result = [
    [t.name for t in view.inputs], [t.name for t in view.outputs], [op.name for op in other.get_operations()],
    [t.name for t in view2.inputs], info.transformed(c).name, info.original(info.transformed(b.op)).name, info2.transformed([b, a])[1],
    sorted(map(str, tf.get_default_graph().get_all_collection_keys())), sorted(map(str, other.get_all_collection_keys())), d["c"].name, d["a"][0].name,
    error(ge.copy, c.op, 3), error(ge.copy, c.op, None, "x", "nowhere"), error(ge.graph_replace, a, {c: a}), error(info.transformed, 3),
]
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    result.append(sess.run([c, info3.transformed(c), d["c"]]))
