# program: flips, turns and transposes of images
# not in 2.21: ops
x = tf.placeholder(tf.float32, [4, 5, 3], name="x")
b = tf.placeholder(tf.float32, [2, None, 5, 1], name="b")
out = [tf.image.flip_left_right(x), tf.image.flip_up_down(b), tf.image.transpose_image(x), tf.image.transpose(b)]
with tf.Session() as sess:
    feed = {x: np.arange(60).reshape(4, 5, 3), b: np.arange(30).reshape(2, 3, 5, 1)}
    result = [sess.run(y, feed) for y in out] + [str(y.shape) for y in out] + [error(tf.image.flip_left_right, tf.zeros([3])), error(tf.image.transpose, tf.zeros([1, 2, 3, 4, 5]))]

# program: turns by quarters
# compare: error values
x = tf.placeholder(tf.float32, [4, 5, 3], name="x")
out = [tf.image.rot90(x, k) for k in (0, 1, 2, 3, 5, -1)]
with tf.Session() as sess:
    result = [sess.run(y, {x: np.arange(60).reshape(4, 5, 3)}) for y in out] + [str(y.shape) for y in out]

# program: crops and pads
# not in 2.21: ops
x = tf.constant(np.arange(2 * 6 * 7 * 3).reshape(2, 6, 7, 3).astype(np.float32), name="x")
out = [tf.image.central_crop(x, 0.5), tf.image.central_crop(x[0], 0.9), tf.image.crop_to_bounding_box(x, 1, 2, 3, 4), tf.image.pad_to_bounding_box(x[0], 1, 2, 9, 10),
       tf.image.resize_image_with_crop_or_pad(x, 4, 9), tf.image.resize_image_with_crop_or_pad(x[1], 9, 4), tf.image.resize_with_crop_or_pad(x, 6, 7)]
with tf.Session() as sess:
    result = [sess.run(y) for y in out] + [str(y.shape) for y in out] + [
        error(tf.image.central_crop, x, 0.0), error(tf.image.crop_to_bounding_box, x, 5, 0, 3, 1), error(tf.image.pad_to_bounding_box, x, 0, 0, 3, 3), error(tf.image.resize_image_with_crop_or_pad, x, 0, 3)]

# program: crops and pads of sizes that are not known
# not in 2.21: ops
x = tf.placeholder(tf.float32, [None, None, 3], name="x")
h = tf.placeholder(tf.int32, [], name="h")
out = [tf.image.crop_to_bounding_box(x, 1, 0, h, 2), tf.image.pad_to_bounding_box(x, 1, h, 9, 10), tf.image.resize_image_with_crop_or_pad(x, h, 5), tf.image.central_crop(x, 0.5)]
with tf.Session() as sess:
    feed = {x: np.arange(60).reshape(4, 5, 3), h: 3}
    result = [sess.run(y, feed) for y in out] + [str(y.shape) for y in out] + [error(sess.run, out[0], {x: np.ones([4, 5, 3]), h: 4})]

# program: resizing
# not in 2.21: ops values
x = tf.constant(np.arange(2 * 5 * 7 * 3).reshape(2, 5, 7, 3) % 251, tf.uint8, name="x")
u = tf.placeholder(tf.float32, [None, None, None, 3], name="u")
out = [tf.image.resize_images(x, [3, 4], m) for m in (0, 1, 2, 3)] + [tf.image.resize_images(x[0], [9, 4], align_corners=True), tf.image.resize_images(x, [5, 7]),
       tf.image.resize(u, [6, 8], preserve_aspect_ratio=True), tf.image.resize_image_with_pad(x, 9, 8), tf.image.resize_image_with_pad(u, 4, 9, method=tf.image.ResizeMethod.NEAREST_NEIGHBOR)]
with tf.Session() as sess:
    feed = {u: np.arange(3 * 4 * 6 * 3).reshape(3, 4, 6, 3)}
    result = [sess.run(y, feed) for y in out] + [(str(y.shape), y.dtype.name) for y in out] + [error(tf.image.resize_images, x, [3]), error(tf.image.resize_images, x, [3, 4], 9), error(tf.image.resize_images, tf.zeros([3]), [3, 4])]

# program: gradients of resizing
# not in 2.21: ops
x = tf.placeholder(tf.float32, [1, 4, 5, 2], name="x")
u = tf.placeholder(tf.float32, [1, None, 5, 2], name="u")
out = [tf.image.resize_bilinear(x, [7, 3]), tf.image.resize_bicubic(x, [3, 6]), tf.image.resize_nearest_neighbor(x, [6, 6]), tf.image.resize_nearest_neighbor(u, [6, 6]),
       tf.image.crop_and_resize(x, [[0.1, 0.2, 0.8, 0.9]], [0], [3, 3]), tf.image.crop_and_resize(u, [[0.1, 0.2, 0.8, 0.9]], box_indices=[0], crop_size=[2, 3])]
grads = [tf.gradients(y * y, [x, u]) for y in out]
with tf.Session() as sess:
    feed = {x: np.arange(40).reshape(1, 4, 5, 2) / 7.0, u: np.arange(40).reshape(1, 4, 5, 2) / 9.0}
    result = [None if g is None else sess.run(g, feed) for pair in grads for g in pair]

# program: brightness, contrast, gamma, hue and saturation
# not in 2.21: ops
r = np.random.RandomState(0)
x = tf.constant(r.rand(2, 3, 4, 3), tf.float32, name="x")
i = tf.constant(r.randint(0, 255, (3, 4, 3)), tf.uint8, name="i")
out = []
for y in (x, i):
    out += [tf.image.adjust_brightness(y, 0.2), tf.image.adjust_contrast(y, 1.5), tf.image.adjust_gamma(y, 0.7, 0.9), tf.image.adjust_hue(y, 0.2), tf.image.adjust_saturation(y, 1.7), tf.image.per_image_standardization(y)]
with tf.Session() as sess:
    result = [sess.run(y) for y in out] + [error(tf.image.adjust_gamma, x, -1), error(tf.image.random_hue, x, 0.7), error(tf.image.random_contrast, x, 2, 1), error(tf.image.random_brightness, x, -1)]

# program: seeded random changes of images
# compare: error ops values
# not in 2.21: ops
tf.set_random_seed(5)
x = tf.constant(np.random.RandomState(0).rand(4, 5, 3), tf.float32, name="x")
out = [tf.image.random_brightness(x, 0.3), tf.image.random_contrast(x, 0.5, 1.5, seed=3), tf.image.random_hue(x, 0.3), tf.image.random_saturation(x, 0.2, 2.0, seed=8),
       tf.image.random_flip_left_right(tf.stack([x] * 8), seed=2), tf.random_crop(x, [2, 3, 3], seed=4)]
begin, size, box = tf.image.sample_distorted_bounding_box([40, 50, 3], [[[0.1, 0.2, 0.8, 0.9]]], seed=4, seed2=6, min_object_covered=0.5)
with tf.Session() as sess:
    result = [[sess.run(y) for y in out + [begin, size, box]] for _ in range(2)]

# program: a random flip of one image
# compare: error values
x = tf.constant(np.arange(60).reshape(4, 5, 3), tf.float32, name="x")
y = tf.image.random_flip_left_right(x, seed=2)
z = tf.image.random_flip_up_down(x, seed=5)
with tf.Session() as sess:
    result = [sess.run([y, z]) for _ in range(6)] + [str(y.shape)]

# program: colour spaces
# not in 2.21: ops values
r = np.random.RandomState(1)
x = tf.constant(r.rand(3, 4, 3), tf.float32, name="x")
i = tf.constant(r.randint(0, 255, (2, 3, 4, 3)), tf.uint8, name="i")
out = [tf.image.rgb_to_grayscale(x), tf.image.rgb_to_grayscale(i), tf.image.grayscale_to_rgb(i[..., :1]), tf.image.rgb_to_hsv(x), tf.image.hsv_to_rgb(x), tf.image.rgb_to_yiq(x), tf.image.yiq_to_rgb(x), tf.image.rgb_to_yuv(x), tf.image.yuv_to_rgb(x)]
with tf.Session() as sess:
    result = [sess.run(y) for y in out] + [str(y.shape) for y in out] + [error(tf.image.grayscale_to_rgb, x)]

# program: the gradient of HSV
# not in 2.21: ops
x = tf.constant(np.random.RandomState(1).rand(3, 4, 3), tf.float32, name="x")
g, = tf.gradients(tf.image.rgb_to_hsv(x), x)
with tf.Session() as sess:
    result = sess.run(g)

# program: dtypes of images
# not in 2.21: ops values
r = np.random.RandomState(1)
f = tf.constant(r.rand(4, 3) * 1.4 - 0.2, tf.float32, name="f")
i = tf.constant(r.randint(0, 255, (4, 3)), tf.uint8, name="i")
j = tf.constant(r.randint(-30000, 30000, (4, 3)), tf.int32, name="j")
out = [tf.image.convert_image_dtype(x, t, saturate=s) for x in (f, i, j) for t in (tf.uint8, tf.int16, tf.int32, tf.float32, tf.float64, tf.uint16) for s in (True, False) if x is not f or s]
with tf.Session() as sess:
    result = [sess.run(y) for y in out] + [error(tf.image.convert_image_dtype, f, tf.bool)]

# program: how alike images are
# not in 2.21: ops values
r = np.random.RandomState(2)
a = tf.constant(r.rand(2, 20, 24, 3), tf.float32, name="a")
b = tf.constant(r.rand(2, 20, 24, 3), tf.float32, name="b")
i = tf.constant(r.randint(0, 255, (20, 24, 3)), tf.uint8, name="i")
out = [tf.image.psnr(a, b, 1.0), tf.image.psnr(i, i[::-1], 255), tf.image.ssim(a, b, 1.0), tf.image.ssim(i, i[:, ::-1], 255), tf.image.total_variation(a), tf.image.total_variation(a[0]), tf.image.sobel_edges(a)] + list(tf.image.image_gradients(a))
with tf.Session() as sess:
    result = [sess.run(y) for y in out] + [str(y.shape) for y in out] + [error(tf.image.ssim, a, b[:, :9], 1.0), error(tf.image.image_gradients, i)]

# program: multiscale similarity
# compare: error values
r = np.random.RandomState(2)
a = tf.constant(r.rand(2, 45, 49, 1), tf.float32, name="a")
b = a + tf.constant(0.1 * r.rand(2, 45, 49, 1), tf.float32)
y = tf.image.ssim_multiscale(a, b, 1.0, power_factors=(0.2, 0.5, 0.3), filter_size=7)
with tf.Session() as sess:
    result = sess.run(y)

# program: boxes
# not in 2.21: ops
r = np.random.RandomState(3)
low = r.rand(20, 2) * 0.7
boxes = tf.constant(np.concatenate([low, low + 0.1 + r.rand(20, 2) * 0.3], 1), tf.float32, name="boxes")
scores = tf.constant(r.rand(20), tf.float32, name="scores")
x = tf.constant(r.rand(1, 12, 14, 3), tf.float32, name="x")
out = [tf.image.non_max_suppression(boxes, scores, 5), tf.image.non_max_suppression(boxes, scores, 9, 0.3, 0.2)] + list(tf.image.non_max_suppression_with_scores(boxes, scores, 9, soft_nms_sigma=0.3)) + list(
    tf.image.non_max_suppression_padded(boxes, scores, 15, 0.1, 0.2, True)) + list(tf.image.combined_non_max_suppression(boxes[None, :, None], tf.reshape(scores, [1, 20, 1]), 5, 9)) + [
    tf.image.draw_bounding_boxes(x, boxes[None, :3]), tf.image.draw_bounding_boxes(x, boxes[None, :3], colors=[[0.1, 0.2, 0.3]]), tf.image.non_max_suppression_overlaps(tf.eye(20) + 0.3, scores, 4)]
with tf.Session() as sess:
    result = [sess.run(y) for y in out] + [str(y.shape) for y in out]

# program: patches of images and volumes with gradients
# not in 2.21: ops
x = tf.placeholder(tf.float32, [2, 5, 6, 3], name="x")
v = tf.placeholder(tf.float32, [1, 4, 5, 6, 2], name="v")
out = [tf.extract_image_patches(x, [1, 2, 3, 1], [1, 2, 2, 1], [1, 1, 2, 1], "SAME"), tf.image.extract_patches(x, [1, 3, 3, 1], [1, 1, 1, 1], [1, 1, 1, 1], "VALID"), tf.extract_volume_patches(v, [1, 2, 2, 2, 1], [1, 1, 2, 2, 1], "SAME")]
grads = [tf.gradients(out[0] * out[0], x)[0], tf.gradients(out[2] * out[2], v)[0]]
with tf.Session() as sess:
    feed = {x: np.arange(180).reshape(2, 5, 6, 3) / 50.0, v: np.arange(240).reshape(1, 4, 5, 6, 2) / 50.0}
    result = [sess.run(y, feed) for y in out + grads] + [str(y.shape) for y in out]

# program: images to files and back
# compare: error values
r = np.random.RandomState(4)
small = tf.constant(r.randint(0, 255, (9, 11, 3)), tf.uint8)
deep = tf.constant(r.randint(0, 65535, (9, 11, 4)), tf.uint16)
y, x = np.mgrid[0:33, 0:45]
smooth = tf.constant(np.stack([127 + 100 * np.sin(x / 9.0), 127 + 100 * np.cos(y / 7.0), 3.0 * (x + y)], -1), tf.uint8)
files = [tf.image.encode_png(small), tf.image.encode_png(deep), tf.image.encode_png(deep[..., :2])]
jpeg = tf.image.encode_jpeg(smooth, quality=90)
out = [tf.image.decode_png(files[0]), tf.image.decode_png(files[0], channels=1), tf.image.decode_png(files[1], dtype=tf.uint16), tf.image.decode_png(files[1], channels=3, dtype=tf.uint16), tf.image.decode_png(files[2], dtype=tf.uint16),
       tf.image.decode_jpeg(jpeg), tf.image.decode_jpeg(jpeg, channels=1), tf.image.decode_jpeg(jpeg, ratio=2), tf.image.decode_jpeg(jpeg, fancy_upscaling=False), tf.image.decode_jpeg(jpeg, dct_method="INTEGER_ACCURATE"),
       tf.image.decode_and_crop_jpeg(jpeg, [3, 5, 20, 21]), tf.image.extract_jpeg_shape(jpeg), tf.image.is_jpeg(jpeg), tf.image.is_jpeg(files[0]), tf.image.decode_image(files[0]), tf.image.decode_image(jpeg, dtype=tf.float32),
       tf.image.adjust_jpeg_quality(smooth, 30)]
with tf.Session() as sess:
    result = [sess.run(y) for y in out] + [error(sess.run, tf.image.decode_image("nothing")), error(sess.run, tf.image.decode_jpeg(b"\xff\xd8\xff\xe0")), error(tf.image.decode_image, "a", channels=2)]

# program: windows of signals
# not in 2.21: ops
n = tf.placeholder(tf.int32, [], name="n")
out = [tf.signal.hann_window(6), tf.signal.hamming_window(7, periodic=False), tf.signal.hann_window(1), tf.signal.hamming_window(5, dtype=tf.float64)]
with tf.Session() as sess:
    result = [sess.run(y) for y in out] + [str(y.shape) for y in out] + [error(tf.signal.hann_window, 5, dtype=tf.int32)]

# program: frames of signals
# not in 2.21: ops
x = tf.placeholder(tf.float32, [2, 23], name="x")
f = tf.signal.frame(x, 6, 4)
out = [f, tf.signal.frame(x, 6, 4, pad_end=True, pad_value=9), tf.signal.frame(x, 2, 1, axis=0), tf.signal.overlap_and_add(f, 4), tf.signal.overlap_and_add(f, 6), tf.gradients(f * f, x)[0]]
with tf.Session() as sess:
    result = [sess.run(y, {x: np.arange(46).reshape(2, 23) / 10.0}) for y in out] + [str(y.shape) for y in out] + [error(tf.signal.frame, x, [2], 3), error(tf.signal.overlap_and_add, f, 2.0)]

# program: short-time transforms
# not in 2.21: ops values
x = tf.placeholder(tf.float32, [2, 40], name="x")
s = tf.signal.stft(x, 8, 4)
out = [s, tf.signal.stft(x, 10, 5, fft_length=12, window_fn=None, pad_end=True), tf.signal.inverse_stft(s, 8, 4), tf.signal.inverse_stft(s, 8, 4, window_fn=tf.signal.inverse_stft_window_fn(4)), tf.signal.inverse_stft(s, 6, 4), tf.signal.inverse_stft(s, 10, 5, fft_length=8)]
with tf.Session() as sess:
    result = [sess.run(y, {x: np.sin(np.arange(80).reshape(2, 40))}) for y in out] + [str(y.shape) for y in out]

# program: cosine transforms and mel scales
# not in 2.21: ops values
x = tf.placeholder(tf.float32, [2, 12], name="x")
out = [tf.signal.dct(x, t, norm=m) for t, m in ((1, None), (2, None), (2, "ortho"), (3, None), (3, "ortho"))] + [tf.signal.idct(x, 2, norm="ortho"), tf.signal.dct(x, n=9), tf.signal.dct(x, n=15),
       tf.signal.linear_to_mel_weight_matrix(8, 33), tf.signal.mfccs_from_log_mel_spectrograms(x), tf.spectral.dct(x)]
with tf.Session() as sess:
    result = [sess.run(y, {x: np.sin(np.arange(24).reshape(2, 12))}) for y in out] + [str(y.shape) for y in out] + [error(tf.signal.dct, x, 4), error(tf.signal.dct, x, 1, norm="ortho"), error(tf.signal.dct, x, norm="x"), error(tf.signal.linear_to_mel_weight_matrix, -1)]

# program: spectra with the middle moved
x = tf.constant(np.arange(12).reshape(3, 4), tf.float32, name="x")
out = [tf.signal.fftshift(x), tf.signal.ifftshift(x, axes=[0]), tf.signal.fftshift(x, axes=1)]
with tf.Session() as sess:
    result = sess.run(out)

# program: sounds
# not in 2.21: ops
x = tf.constant(np.sin(np.arange(200)).reshape(200, 1) * 1.1, tf.float32, name="x")
w = tf.audio.encode_wav(x, 8000)
audio, rate = tf.audio.decode_wav(w, desired_channels=2, desired_samples=250)
s = tf.raw_ops.AudioSpectrogram(input=x, window_size=32, stride=16, magnitude_squared=True)
m = tf.raw_ops.Mfcc(spectrogram=s, sample_rate=8000, dct_coefficient_count=7)
with tf.Session() as sess:
    result = sess.run([w, audio, rate, s, m]) + [str(audio.shape), error(sess.run, tf.audio.decode_wav("RIFF"))]
