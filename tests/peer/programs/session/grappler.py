# program: costs that are estimated for devices
# compare: error values
import importlib
cluster, item = (importlib.import_module(tf.__name__ + ".python.grappler." + name) for name in ("cluster", "item"))
devices = importlib.import_module(tf.__name__ + ".core.protobuf.device_properties_pb2")
with tf.Graph().as_default() as graph:
    x = tf.placeholder(tf.float32, [8, 28, 28, 3])
    scale = tf.ones([3])
    y = [tf.nn.conv2d(x, tf.ones([5, 5, 3, 16]), [1, 2, 2, 1], "SAME"), tf.nn.depthwise_conv2d(x, tf.ones([3, 3, 3, 2]), [1, 1, 1, 1], "SAME"), tf.nn.max_pool(x, [1, 3, 3, 1], [1, 2, 2, 1], "VALID"), tf.nn.max_pool(x, [1, 2, 2, 1], [1, 2, 2, 1], "SAME"), tf.nn.avg_pool(x, [1, 3, 3, 1], [1, 2, 2, 1], "SAME"), tf.nn.fused_batch_norm(x, scale, scale)[0], tf.nn.relu(x)]
    for each in list(y):
        y += tf.gradients(each * tf.ones_like(each), x)
    flat = tf.reshape(x, [24, 784])
    y += [tf.matmul(flat, flat, transpose_b=True), tf.slice(x, [0, 0, 0, 0], [4, 28, 28, 4 - 1]), tf.gather(flat, [1, 2, 3]), tf.exp(x), tf.sqrt(x), x / 3.0, tf.less(x, 1.0), tf.cast(x, tf.int32), tf.nn.softmax(x), tf.cumsum(x), tf.transpose(x), tf.concat([x, x], 0), tf.random_normal([8, 900])]
    tf.get_collection_ref("train_op").extend(y)
    metagraph = tf.train.export_meta_graph(graph=graph)
result = {}
for kind, options in (("CPU", {"bandwidth": 200000}), ("GPU", {"environment": {"architecture": "5.2"}})):
    properties = devices.DeviceProperties(type=kind, frequency=200, num_cores=1, **options)
    described = cluster.Cluster(disable_detailed_stats=False, devices=[devices.NamedDevice(name="/" + kind + ":0", properties=properties)])
    found, _, _ = described.MeasureCosts(item.Item(metagraph))
    result[kind] = sorted((c.node, c.op.op, c.compute_cost, c.compute_time, c.memory_time) for c in found)
    result[kind + " speed"] = described.EstimatePerformance(described.ListDevices()[0])
    result[kind + " supports"] = described.GetSupportedDevices(item.Item(metagraph))["MatMul"]
graph = item.Item(metagraph)
result["important"] = sorted(graph.IdentifyImportantOps())
result["shapes"] = {name: [(p.dtype, [max(d.size, -1) for d in p.shape.dim]) for p in found] for name, found in graph.GetOpProperties().items() if name in ("ones", "Reshape/shape", "gradients/grad_ys_0")}

# program: a graph is optimized without being run
# compare: error values
import importlib
optimizer = importlib.import_module(tf.__name__ + ".python.grappler.tf_optimizer")
with tf.Graph().as_default() as graph:
    a, b = tf.constant(10, name="a"), tf.constant(20, name="b")
    d = tf.add_n([b, tf.add_n([a, b], name="c")], name="d")
    tf.Variable(1.0)
    tf.add_to_collection("more", tf.constant(0, shape=[50, 50], name="keep"))
    tf.constant(0, name="unused")
    tf.add_to_collection("train_op", d)
    metagraph = tf.train.export_meta_graph(graph=graph)
result = {}
for names in (["constfold"], ["pruning"], []):
    config = tf.ConfigProto()
    rewrites = config.graph_options.rewrite_options
    rewrites.min_graph_nodes = -1
    rewrites.optimizers.extend(names)
    optimized = optimizer.OptimizeGraph(config, metagraph, verbose=False)
    result[str(names)] = sorted((node.name, node.op) for node in optimized.node)
del metagraph.collection_def["train_op"]
result["no fetch"] = error(optimizer.OptimizeGraph, tf.ConfigProto(), metagraph)
result["no config"] = error(optimizer.OptimizeGraph, 3, metagraph)
