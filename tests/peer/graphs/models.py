"""Models and input pipelines as users have them."""

import numpy as np
from graphs.recurrent import weights


def batch_norm_cnn(tf):
    """A convolutional net whose batch normalization asks `is_training`."""
    images = tf.placeholder(tf.float32, [None, 6, 6, 1], name="images")
    is_training = tf.placeholder(tf.bool, [], name="is_training")
    h = tf.nn.conv2d(images, weights(tf, "k", [3, 3, 1, 2]), [1, 1, 1, 1], "SAME")
    gamma = tf.get_variable("gamma", [2], initializer=tf.ones_initializer())
    beta = tf.get_variable("beta", [2], initializer=tf.zeros_initializer())
    mean_ = tf.get_variable(
        "m", [2], initializer=tf.zeros_initializer(), trainable=False
    )
    var_ = tf.get_variable("s", [2], initializer=tf.ones_initializer(), trainable=False)

    def train():
        y, mean, var = tf.nn.fused_batch_norm(h, gamma, beta, is_training=True)
        with tf.control_dependencies(
            [
                tf.assign_sub(mean_, (mean_ - mean) * 0.1),
                tf.assign_sub(var_, (var_ - var) * 0.1),
            ]
        ):
            return tf.identity(y)

    def infer():
        return tf.nn.fused_batch_norm(h, gamma, beta, mean_, var_, is_training=False)[0]

    y = tf.nn.max_pool(
        tf.nn.relu(tf.cond(is_training, train, infer)),
        [1, 2, 2, 1],
        [1, 2, 2, 1],
        "SAME",
    )
    flat = tf.reshape(y, [-1, 18])
    logits = tf.matmul(flat, weights(tf, "w", [18, 3]))
    loss = tf.reduce_mean(
        tf.nn.softmax_cross_entropy_with_logits_v2(
            labels=tf.one_hot(tf.range(tf.shape(logits)[0]) % 3, 3), logits=logits
        )
    )
    grads = tf.gradients(loss, [gamma, beta, images])
    with tf.control_dependencies(grads):
        moving = mean_.read_value()
    pixels = np.sin(np.arange(144)).reshape(4, 6, 6, 1)
    return [loss, logits, moving, *grads], [
        {"images:0": pixels, "is_training:0": True},
        {"images:0": pixels[:2], "is_training:0": False},
    ]


def wide_and_deep(tf):
    ids = tf.sparse_placeholder(tf.int64, name="ids")
    names = tf.placeholder(tf.string, [None], name="names")
    dense = tf.placeholder(tf.float32, [None, 2], name="dense")
    table = weights(tf, "table", [10, 3])
    wide = weights(tf, "wide", [8, 1])
    deep = tf.nn.embedding_lookup_sparse(table, ids, None, combiner="mean")
    bucket = tf.strings.to_hash_bucket_fast(names, 8)
    lookup = tf.nn.embedding_lookup(wide, bucket)
    h = tf.nn.relu(tf.matmul(tf.concat([deep, dense], 1), weights(tf, "h", [5, 4])))
    logit = tf.matmul(h, weights(tf, "o", [4, 1])) + lookup
    loss = tf.reduce_mean(
        tf.nn.sigmoid_cross_entropy_with_logits(
            labels=tf.ones_like(logit), logits=logit
        )
    )
    train = tf.train.AdagradOptimizer(0.1).minimize(loss)
    with tf.control_dependencies([loss]), tf.control_dependencies([train]):
        sums = [tf.reduce_sum(v.read_value()) for v in (table, wide)]
    feed = {
        "ids/indices:0": [[0, 0], [0, 1], [1, 0], [2, 3]],
        "ids/values:0": [1, 7, 3, 3],
        "ids/shape:0": [3, 4],
        "names:0": ["ann", "bob", "cy"],
        "dense:0": [[0.1, 0.2], [0.3, -0.4], [1.0, 0.0]],
    }
    return [loss, logit, *sums], [feed, feed]


def skip_gram(tf):
    """word2vec's NCE loss, with the sampled words given."""
    centers = tf.placeholder(tf.int64, [4], name="centers")
    labels = tf.placeholder(tf.int64, [4, 1], name="labels")
    table = weights(tf, "table", [9, 5])
    w = weights(tf, "w", [9, 5])
    b = tf.get_variable("b", [9], initializer=tf.zeros_initializer())
    sampled = (
        tf.constant([2, 5, 0], tf.int64),
        tf.fill([4, 1], 0.5),
        tf.constant([0.4, 0.3, 0.2]),
    )
    loss = tf.reduce_mean(
        tf.nn.nce_loss(
            weights=w,
            biases=b,
            labels=labels,
            inputs=tf.nn.embedding_lookup(table, centers),
            num_sampled=3,
            num_classes=9,
            sampled_values=sampled,
        )
    )
    soft = tf.reduce_mean(
        tf.nn.sampled_softmax_loss(
            weights=w,
            biases=b,
            labels=labels,
            inputs=tf.nn.embedding_lookup(table, centers),
            num_sampled=3,
            num_classes=9,
            sampled_values=sampled,
        )
    )
    train = tf.train.GradientDescentOptimizer(0.5).minimize(loss)
    with tf.control_dependencies([loss, soft]), tf.control_dependencies([train]):
        after = tf.reduce_sum(table.read_value() ** 2)
    feed = {"centers:0": [1, 2, 1, 8], "labels:0": [[3], [2], [8], [0]]}
    return [loss, soft, after], [feed, feed]


def transformer_block(tf):
    x = tf.placeholder(tf.float32, [2, None, 4], name="x")
    mask = tf.placeholder(tf.bool, [2, None], name="mask")

    def dense(y, name, size):
        w = weights(tf, name, [4 if name != "down" else 8, size])
        return tf.einsum("btd,de->bte", y, w)

    def heads(y):
        return tf.transpose(tf.reshape(y, [2, tf.shape(y)[1], 2, 2]), [0, 2, 1, 3])

    def norm(y):
        mean, variance = tf.nn.moments(y, [-1], keep_dims=True)
        return (y - mean) / tf.sqrt(variance + 1e-6)

    q, k, v = (heads(dense(x, n, 4)) for n in ("q", "k", "v"))
    scores = tf.matmul(q, k, transpose_b=True) / np.sqrt(2.0).astype(np.float32)
    scores += (1.0 - tf.cast(mask, tf.float32))[:, tf.newaxis, tf.newaxis, :] * -1e9
    mixed = tf.transpose(tf.matmul(tf.nn.softmax(scores), v), [0, 2, 1, 3])
    y = norm(x + tf.reshape(mixed, tf.shape(x)))
    up = dense(y, "up", 8)
    gelu = 0.5 * up * (1.0 + tf.erf(up / np.sqrt(2.0).astype(np.float32)))
    y = norm(y + dense(gelu, "down", 4))
    return [y, *tf.gradients(tf.reduce_sum(y * tf.stop_gradient(y + x)), x)], [
        {
            "x:0": np.sin(np.arange(24)).reshape(2, 3, 4),
            "mask:0": [[1, 1, 0], [1, 1, 1]],
        }
    ]


def tables(tf):
    words = tf.placeholder(tf.string, [None], name="words")
    vocabulary = tf.constant(["the", "cat", "sat"])
    keys = tf.constant(["a", "b"])
    from tensorflow.python.ops import lookup_ops

    index = lookup_ops.index_table_from_tensor(vocabulary, num_oov_buckets=2)
    back = lookup_ops.index_to_string_table_from_tensor(
        vocabulary, default_value="<unk>"
    )
    table = tf.lookup.StaticHashTable(
        tf.lookup.KeyValueTensorInitializer(keys, tf.constant([1.5, 2.5])), -1.0
    )
    ids = index.lookup(words)
    return [ids, back.lookup(ids), table.lookup(words), index.size()], [
        {"words:0": ["cat", "dog", "a", "the"]},
        {"words:0": []},
    ]


def image_batch(tf):
    """Encoded images, one after the other through map_fn."""
    files = tf.placeholder(tf.string, [None], name="files")

    def one(data):
        image = tf.cast(tf.image.decode_png(data, channels=3), tf.float32) / 255.0
        image = tf.image.resize_bilinear(tf.expand_dims(image, 0), [4, 4])[0]
        image = tf.image.flip_left_right(image)
        return tf.image.per_image_standardization(image)

    batch = tf.map_fn(one, files, dtype=tf.float32)
    pixels = (np.arange(75).reshape(5, 5, 3) * 3 % 256).astype(np.uint8)
    encoded = tf.image.encode_png(tf.constant(pixels))
    crop = tf.image.central_crop(tf.constant(pixels), 0.6)
    gray = tf.image.rgb_to_grayscale(tf.constant(pixels))
    bright = tf.image.adjust_brightness(tf.constant(pixels), 0.1)
    again = tf.image.decode_png(encoded)
    return [batch, crop, gray, bright, again], [{"files:0": [png(pixels)]}]


def png(pixels):
    """A PNG file of an RGB array, without a library."""
    import struct
    import zlib

    def chunk(kind, data):
        body = kind + data
        return struct.pack(">I", len(data)) + body + struct.pack(">I", zlib.crc32(body))

    height, width, _ = pixels.shape
    rows = b"".join(b"\0" + row.tobytes() for row in pixels)
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", head)
        + chunk(b"IDAT", zlib.compress(rows))
        + chunk(b"IEND", b"")
    )


def queues(tf):
    """Items through two queues within one step."""
    x = tf.placeholder(tf.float32, [4, 2], name="x")
    queue = tf.FIFOQueue(10, [tf.float32, tf.int32], [[2], []])
    padded = tf.PaddingFIFOQueue(10, [tf.int32], [[None]])
    put = queue.enqueue_many([x, tf.range(4)])
    with tf.control_dependencies([put]):
        a, i = queue.dequeue_many(3)
        with tf.control_dependencies([a]):
            b, j = queue.dequeue()
    fill = [padded.enqueue([tf.range(1)])]
    with tf.control_dependencies(fill):
        fill.append(padded.enqueue([tf.range(3)]))
    with tf.control_dependencies(fill):
        rows = padded.dequeue_many(2)
    with tf.control_dependencies([b, rows]):
        size = queue.size()
    return [a, i, b, j, rows, size], [{"x:0": np.arange(8).reshape(4, 2)}] * 2


def asserts_and_prints(tf):
    x = tf.placeholder(tf.float32, [None], name="x")
    checks = [
        tf.Assert(tf.reduce_all(x > -100), [x]),
        tf.assert_rank(x, 1),
        tf.assert_less_equal(x, 50.0, message="too large"),
    ]
    with tf.control_dependencies(checks):
        y = tf.Print(x * 2.0, [x], "x is ")
    normal = tf.check_numerics(y, "y")
    ema = tf.train.ExponentialMovingAverage(0.9)
    v = tf.get_variable("v", initializer=0.0)
    with tf.control_dependencies([tf.assign(v, tf.reduce_sum(normal))]):
        update = ema.apply([v])
    with tf.control_dependencies([update]):
        average = tf.identity(ema.average(v))
    return [y, normal, average], [{"x:0": [1.0, 2.0]}, {"x:0": []}]


def partitions_and_segments(tf):
    x = tf.placeholder(tf.float32, [None, 2], name="x")
    group = tf.placeholder(tf.int32, [None], name="group")
    parts = tf.dynamic_partition(x, group, 3)
    places = tf.dynamic_partition(tf.range(tf.shape(x)[0]), group, 3)
    stitched = tf.dynamic_stitch(places, [p * (i + 1.0) for i, p in enumerate(parts)])
    sums = tf.unsorted_segment_sum(x, group, 3)
    unique, where, counts = tf.unique_with_counts(group)
    best, at = tf.nn.top_k(tf.transpose(x), 2)
    y = tf.reduce_sum(stitched**2) + tf.reduce_sum(sums**3)
    return [stitched, sums, unique, where, counts, best, at, *tf.gradients(y, x)], [
        {"x:0": [[1, 2], [3, 4], [5, 6], [7, 8]], "group:0": [2, 0, 2, 1]}
    ]


PROGRAMS = [
    batch_norm_cnn,
    wide_and_deep,
    skip_gram,
    transformer_block,
    tables,
    image_batch,
    queues,
    asserts_and_prints,
    partitions_and_segments,
]
