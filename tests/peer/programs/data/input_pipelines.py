# program: conditional accumulators drop stale gradients
# not in 2.21: ops
a = tf.ConditionalAccumulator(tf.float32, shape=[2])
add = a.apply_grad([1.0, 3.0], local_step=0)
late = a.apply_grad([3.0, 5.0], local_step=7)
take, count, later = a.take_grad(1), a.num_accumulated(), a.set_global_step(5)
total = tf.ConditionalAccumulator(tf.float64, reduction_type="SUM", name="total")
add_total = total.apply_grad([2.0, 4.0], local_step=1)
none = a.take_grad(0)
with tf.Session() as sess:
    out = [sess.run(count)]
    sess.run(add)
    sess.run(add)
    out += [sess.run(count), sess.run(take)]
    sess.run(add)
    out += [sess.run(count)]
    sess.run(later)
    sess.run(late)
    out += [sess.run(take), sess.run([add_total, total.take_grad(1)])[1]]
    result = out + [error(lambda: sess.run(none)), error(lambda: a.apply_grad([1.0])), a.name]

# program: sparse accumulators average rows
# not in 2.21: ops
a = tf.SparseConditionalAccumulator(tf.float32)
indices, values = tf.placeholder(tf.int64), tf.placeholder(tf.float32)
add, take = a.apply_grad(indices, values), a.take_grad(2)
known = tf.SparseConditionalAccumulator(tf.float32, shape=[4, 2], reduction_type="SUM", name="known")
add_known, take_known = known.apply_indexed_slices_grad(tf.IndexedSlices(values, indices)), known.take_indexed_slices_grad(1)
with tf.Session() as sess:
    sess.run(add, {indices: [0, 2], values: [[1, 2], [3, 4]]})
    sess.run(add, {indices: [2, 5], values: [[10, 20], [30, 40]]})
    sess.run(add_known, {indices: [3, 1], values: [[1, 2], [3, 4]]})
    result = [list(sess.run(take)), list(sess.run(take_known)),
              error(lambda: sess.run(add, {indices: [0, 2, 3], values: [[1, 2]]})),
              error(lambda: sess.run(add_known, {indices: [9], values: [[1, 2]]})),
              error(lambda: sess.run(add_known, {indices: [1], values: [[1, 2, 3]]}))]

# program: staging maps hold tuples by key
# not in 2.21: ops
key, value = tf.placeholder(tf.int64), tf.placeholder(tf.float32)
kind = dict(dtypes=[tf.float32, tf.int32], shared_name="m")
put = tf.raw_ops.OrderedMapStage(key=key, indices=[0, 1], values=[value, 3], **kind)
half = tf.raw_ops.OrderedMapStage(key=key, indices=[0], values=[value], **kind)
get = tf.raw_ops.OrderedMapUnstage(key=key, indices=[0, 1], **kind)
first = tf.raw_ops.OrderedMapUnstageNoKey(indices=[0, 1], **kind)
sizes = [tf.raw_ops.OrderedMapSize(**kind), tf.raw_ops.OrderedMapIncompleteSize(**kind)]
with tf.Session() as sess:
    for k in (5, 1, 3):
        sess.run(put, {key: k, value: k})
    out = [sess.run(sizes), sess.run(get, {key: 3}), sess.run(first)[0], sess.run(sizes)]
    sess.run(half, {key: 9, value: 1})
    result = out + [sess.run(sizes), error(lambda: sess.run(half, {key: 9, value: 1}))]

# program: barriers join components by key
# not in 2.21: ops
b = tf.raw_ops.Barrier(component_types=[tf.float32, tf.string], shapes=[[], []], shared_name="b")
keys, x, s = tf.placeholder(tf.string), tf.placeholder(tf.float32), tf.placeholder(tf.string)
one = tf.raw_ops.BarrierInsertMany(handle=b, keys=keys, values=x, component_index=0)
two = tf.raw_ops.BarrierInsertMany(handle=b, keys=keys, values=s, component_index=1)
take = tf.raw_ops.BarrierTakeMany(handle=b, num_elements=2, component_types=[tf.float32, tf.string])
sizes = [tf.raw_ops.BarrierReadySize(handle=b), tf.raw_ops.BarrierIncompleteSize(handle=b)]
with tf.Session() as sess:
    sess.run(one, {keys: ["a", "b", "c"], x: [1, 2, 3]})
    sess.run(two, {keys: ["c", "a"], s: ["C", "A"]})
    _, names, (numbers, texts) = sess.run(take)
    result = [sess.run(sizes), names.tolist(), numbers, texts.tolist(), error(lambda: sess.run(one, {keys: ["b"], x: [1]}))]

# program: producers and batches
# not in 2.21: ops
number, letter = tf.train.slice_input_producer([[1, 2, 3, 4, 5], ["a", "b", "c", "d", "e"]], num_epochs=1, shuffle=False)
batch = tf.train.batch({"n": number, "l": letter}, 2, allow_smaller_final_batch=True, capacity=7)
out = []
with tf.Session() as sess:
    sess.run(tf.local_variables_initializer())
    coordinator = tf.train.Coordinator()
    threads = tf.train.start_queue_runners(sess, coordinator)
    try:
        while True:
            got = sess.run(batch)
            out.append([got["n"], got["l"].tolist()])
    except tf.errors.OutOfRangeError:
        coordinator.request_stop()
    coordinator.join(threads)
result = out

# program: padded, filtered and shuffled batches
# compare: error values
length = tf.train.range_input_producer(6, num_epochs=1, shuffle=False).dequeue()
kept = tf.train.maybe_batch([tf.range(length)], length > 2, 3, dynamic_pad=True)
mixed = tf.train.shuffle_batch_join([[tf.constant([1, 2])]], 2, 10, 4, seed=3, enqueue_many=True)
with tf.Session() as sess:
    sess.run(tf.local_variables_initializer())
    coordinator = tf.train.Coordinator()
    threads = tf.train.start_queue_runners(sess, coordinator)
    result = [sess.run(kept), kept.shape.as_list(), mixed.shape.as_list(), len(threads)]
    coordinator.request_stop()
    coordinator.join(threads)

# program: input functions refuse what they cannot take
result = [error(lambda: tf.train.string_input_producer([])), error(lambda: tf.train.limit_epochs(tf.constant(1), 0)),
          error(lambda: tf.train.input_producer(tf.placeholder(tf.float32))), error(lambda: tf.train.shuffle_batch([1], 2, 4, 4)),
          error(lambda: tf.train.batch([tf.placeholder(tf.float32)], 2)), error(lambda: tf.train.maybe_batch([tf.constant(1)], [True], 2)),
          error(lambda: tf.train.batch_join([[tf.constant(1)], [tf.constant(1.0)]], 2)), error(lambda: tf.train.batch_join([], 2)),
          error(lambda: tf.train.batch_join([{"a": 1}, {"b": 1}], 2))]

# program: tensors that stay in the session
# not in 2.21: ops
product = tf.multiply(tf.constant(10), tf.constant(5))
handle_op = tf.get_session_handle(product, name="kept")
with tf.Session() as sess:
    handle = sess.run(handle_op)
    holder, tensor = tf.get_session_tensor(handle.handle, tf.int32)
    ten = tensor * 10
    out = [str(handle), handle.eval(), sess.run(ten, {holder: handle.handle})]
    raw = handle.get_raw_handle()
    place, delete = tf.delete_session_tensor(raw)
    sess.run(delete, {place: raw})
    result = out + [error(handle.eval), error(lambda: sess.run(ten, {holder: raw})), error(lambda: tf.get_session_handle(3))]

# program: proximal optimizers and dual averaging
# not in 2.21: ops
step = tf.Variable(0, dtype=tf.int64, trainable=False, name="step")
v = tf.get_variable("v", initializer=[[1.0, -2.0], [3.0, 0.5], [0.001, 1.0]])
w = tf.get_variable("w", initializer=[1.0, -0.5], use_resource=True)
loss = tf.reduce_sum(tf.square(tf.gather(v, [0, 2, 0]))) + tf.reduce_sum(w * w * w)
trains = [make(0.5, l1_regularization_strength=0.01, l2_regularization_strength=0.02).minimize(loss)
          for make in (tf.train.ProximalGradientDescentOptimizer, tf.train.ProximalAdagradOptimizer)]
trains.append(tf.train.AdagradDAOptimizer(0.5, step, l1_regularization_strength=0.01).minimize(loss, global_step=step))
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    out = []
    for train in trains:
        sess.run(train)
        out.append(sess.run([v, w]))
    result = out

# program: linear operators
# compare: error values
L = tf.linalg
a = np.array([[4.0, 1.0], [1.0, 3.0]])
x = np.arange(8.0).reshape(4, 2) + 1
spd = L.LinearOperatorFullMatrix(a, is_self_adjoint=True, is_positive_definite=True)
operators = [L.LinearOperatorBlockDiag([spd, L.LinearOperatorDiag([2.0, 5.0] * np.ones(2))]), L.LinearOperatorKronecker([spd, L.LinearOperatorLowerTriangular(a)]),
             L.LinearOperatorToeplitz(np.array([5.0, 2, 3, 1]), np.array([5.0, -2, 1, 0])), L.LinearOperatorHouseholder(np.array([1.0, 2, 0, 1])),
             L.LinearOperatorLowRankUpdate(L.LinearOperatorDiag(np.ones(4) * 2), x[:, :1]), L.LinearOperatorScaledIdentity(4, multiplier=np.float64(3.0))]
with tf.Session() as sess:
    result = [sess.run([o.to_dense(), o.matmul(x), o.matvec(x[:, 0]), o.determinant(), o.trace(), o.diag_part(), o.solve(x), o.solve(x, adjoint=True),
                        o.log_abs_determinant(), o.H.to_dense(), o.inverse().to_dense()]) for o in operators]
