"""Single operations that are neither a product nor elementwise."""

import numpy as np

from benchmarks.workloads.table import Table

table = Table()


def _run(tf, fetches, feed=None):
    with tf.Session() as sess:
        yield lambda: sess.run(fetches, feed)


def _fed(tf, *arrays):
    """Placeholders for the arrays, and the feed of them."""
    holders = [tf.placeholder(a.dtype, a.shape) for a in arrays]
    return holders, {holders[i]: arrays[i] for i in range(len(arrays))}


@table.step("unsorted segment maximum of 100,000 integers", target=1.0)
def segment_maximum(tf):
    random = np.random.RandomState(0)
    values = random.randint(0, 1000, 100000).astype(np.int32)
    ids = random.randint(0, 500, 100000).astype(np.int32)
    (value, segment), feed = _fed(tf, values, ids)
    return _run(tf, tf.unsorted_segment_max(value, segment, 500), feed)


@table.step("100,000 draws from a gamma distribution", target=1.0)
def gamma_draws(tf):
    total = tf.reduce_sum(tf.random_gamma([100000], alpha=2.5, seed=3))
    return _run(tf, total)


@table.step("shuffle 100,000 numbers, seeded", target=1.0)
def shuffle(tf):
    (values,), feed = _fed(tf, np.arange(100000, dtype=np.float32))
    return _run(tf, tf.random_shuffle(values, seed=3), feed)


@table.step("fake quantization of 256x1024 and its gradient", target=1.0)
def fake_quantization(tf):
    x = np.random.RandomState(0).randn(256, 1024).astype(np.float32)
    (value,), feed = _fed(tf, x)
    quantized = tf.quantization.fake_quant_with_min_max_vars(value, -2.0, 2.0)
    loss = tf.reduce_sum(quantized * quantized)
    return _run(tf, tf.gradients(loss, [value]), feed)


@table.step("non-maximum suppression of 2,000 boxes", target=1.0)
def suppression(tf):
    random = np.random.RandomState(0)
    corners = random.uniform(0, 0.9, [2000, 2])
    sizes = random.uniform(0.02, 0.1, [2000, 2])
    boxes = np.concatenate([corners, corners + sizes], 1).astype(np.float32)
    scores = random.uniform(0, 1, 2000).astype(np.float32)
    (box, score), feed = _fed(tf, boxes, scores)
    chosen = tf.image.non_max_suppression(box, score, 200, iou_threshold=0.3)
    return _run(tf, chosen, feed)


@table.step("hash 20,000 words into buckets", target=1.0)
def hashes(tf):
    words = np.array([b"word%d" % i for i in range(20000)], dtype=object)
    text = tf.placeholder(tf.string, [None])
    return _run(tf, tf.strings.to_hash_bucket_fast(text, 1000), {text: words})


@table.step("resize 8 images of 224x224x3 to 160x160, bilinear", target=1.0)
def bilinear(tf):
    images = np.random.RandomState(0).rand(8, 224, 224, 3).astype(np.float32)
    (image,), feed = _fed(tf, images)
    return _run(tf, tf.image.resize_bilinear(image, [160, 160]).op, feed)


@table.step("the same, bicubic, with its gradient", target=1.0)
def bicubic_gradient(tf):
    images = np.random.RandomState(0).rand(8, 224, 224, 3).astype(np.float32)
    (image,), feed = _fed(tf, images)
    resized = tf.image.resize_bicubic(image, [160, 160])
    loss = tf.reduce_sum(resized * resized)
    return _run(tf, tf.gradients(loss, [image])[0].op, feed)


@table.step("counts of 100,000 numbers in 100 bins", target=1.0)
def histogram(tf):
    numbers = np.random.RandomState(0).randn(100000).astype(np.float32)
    (values,), feed = _fed(tf, numbers)
    return _run(tf, tf.histogram_fixed_width(values, [-3.0, 3.0], 100), feed)


@table.step("2x2 maxima of quantized 8x56x56x64", target=1.0)
def quantized_pool(tf):
    bytes_ = np.random.RandomState(0).randint(0, 255, [8, 56, 56, 64], np.uint8)
    (image,), feed = _fed(tf, bytes_)
    pooled = tf.raw_ops.QuantizedMaxPool(
        input=tf.bitcast(image, tf.quint8),
        min_input=-1.0,
        max_input=1.0,
        ksize=[1, 2, 2, 1],
        strides=[1, 2, 2, 1],
        padding="VALID",
    )
    return _run(tf, pooled[0].op, feed)
