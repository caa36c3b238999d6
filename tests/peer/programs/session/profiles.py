# program: profiles of a graph
x = tf.placeholder(tf.float32, [8, 12, 12, 3], name="x")
with tf.variable_scope("net"):
    y = tf.layers.conv2d(x, 16, 3, activation=tf.nn.relu, name="conv")
    y = tf.layers.max_pooling2d(y, 2, 2)
    y = tf.layers.dense(tf.layers.flatten(y), 10, name="fc")
loss = tf.reduce_mean(tf.square(tf.nn.softmax(y) - 1.0)) + tf.nn.l2_loss(y)
step = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
B = tf.profiler.ProfileOptionBuilder
def costs(node):
    return {
        node.name: [node.parameters, node.float_ops, node.total_parameters, node.total_float_ops, getattr(node, "total_definition_count", 0)],
        "children": sorted((costs(child) for child in node.children), key=str),
    }
def quiet(options, **changes):
    return dict(B(options).with_empty_output().build(), **changes)
graph = tf.get_default_graph()
result = {
    "parameters": costs(tf.profiler.profile(graph, options=quiet(B.trainable_variables_parameter()))),
    "float operations": costs(tf.profiler.profile(graph, options=quiet(B.float_operation()))),
    "of what is counted": costs(tf.profiler.profile(graph, options=quiet(B.float_operation(), account_type_regexes=["Conv2D.*", "MatMul"]))),
    "shown": costs(tf.profiler.profile(graph, options=quiet(B().select(["params"]).with_node_names(["net.*"], ["net/.*"], [".*conv"], [".*kernel"]).with_max_depth(4).build()))),
    "by inputs": tf.profiler.profile(graph, cmd="graph", options=quiet(B.float_operation())).total_float_ops,
    "by ops": tf.profiler.profile(graph, cmd="op", options=quiet(B.float_operation())).total_float_ops,
    "by many": costs(tf.profiler.profile(graph, cmd="op", options=quiet(B.float_operation(), min_float_ops=100000, order_by="name"))),
    "unknown": error(tf.profiler.profile, graph, cmd="what"),
}

# program: profiles of steps
x = tf.placeholder(tf.float32, [None, 30], name="x")
y = tf.layers.dense(tf.layers.dense(x, 100, use_bias=False, name="one"), 10, use_bias=False, name="two")
B = tf.profiler.ProfileOptionBuilder
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    profiler = tf.profiler.Profiler(sess.graph)
    for number in range(2):
        traced = tf.RunMetadata()
        sess.run(y, {x: np.ones([4 + number, 30])}, tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE), traced)
        profiler.add_step(number, traced)
    options = B(B.time_and_memory(min_micros=0)).with_empty_output()
    def bytes_of(step):
        node = profiler.profile_operations(options.with_step(step).with_accounted_types(["MatMul", "BiasAdd"]).build())
        found = {}
        while node.children:
            (node,) = node.children
            found[node.name] = [node.requested_bytes, node.output_bytes, len(node.graph_nodes), node.exec_micros > 0]
        return found
    result = {step: bytes_of(step)["MatMul"] for step in (-1, 0, 1)}
    result["nothing"] = profiler.profile_name_scope(options.with_step(7).build()).total_exec_micros
    result["counted"] = profiler.profile_name_scope(options.with_step(0).with_accounted_types(["_trainable_variables"]).build()).total_parameters
