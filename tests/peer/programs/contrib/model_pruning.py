# program: model_pruning: masks grow with the steps
# compare: error values
mp = tf.contrib.model_pruning
random = np.random.RandomState(0)
result = []
for options in ("initial_sparsity=0.1,target_sparsity=0.6,sparsity_function_end_step=8,pruning_frequency=2", "target_sparsity=0.5,threshold_decay=0.3,begin_pruning_step=3,end_pruning_step=7,sparsity_function_end_step=5,pruning_frequency=1",
    "block_height=2,block_width=2,sparsity_function_end_step=4,pruning_frequency=1", "block_height=2,block_width=-1,block_pooling_function=MAX,sparsity_function_end_step=4,pruning_frequency=1", "block_dims_map=[a/w:3x1],target_sparsity=0.75,sparsity_function_end_step=4,pruning_frequency=1"):
    with tf.Graph().as_default():
        step = tf.train.get_or_create_global_step()
        with tf.variable_scope("a"):
            w = tf.get_variable("w", initializer=random.randn(6, 5).astype(np.float32))
            masked = mp.apply_mask(w, tf.get_variable_scope())
        with tf.variable_scope("b") as scope:
            v = tf.get_variable("v", initializer=random.randn(7).astype(np.float32))
            mp.apply_mask(v, scope)
        pruning = mp.Pruning(mp.get_pruning_hparams().parse(options))
        update = pruning.conditional_mask_update_op()
        pruning.add_pruning_summaries()
        row = [[t.name for t in getattr(mp, "get_" + kind)()] for kind in ("masks", "weights", "thresholds", "masked_weights")]
        row.append([v.op.name for v in tf.global_variables()])
        with tf.Session() as sess:
            sess.run(tf.global_variables_initializer())
            for _ in range(9):
                sess.run(update)
                row.append(sess.run([mp.get_masks(), mp.get_thresholds(), mp.get_weight_sparsity(), masked]))
                sess.run(tf.assign_add(step, 1))
        result.append(row)
for bad in ("begin_pruning_step=-1", "begin_pruning_step=5,end_pruning_step=3", "threshold_decay=1.0", "sparsity_function_begin_step=200", "weight_sparsity_map=[a:1.5]", "block_dims_map=[a:3]", "target_sparsity=1.0"):
    with tf.Graph().as_default():
        tf.train.get_or_create_global_step()
        result.append(error(mp.Pruning, mp.get_pruning_hparams().parse(bad)))
