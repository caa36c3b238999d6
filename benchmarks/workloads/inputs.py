"""What comes before training: random numbers, text, pictures, records, examples."""

import os
import tempfile

import numpy as np

from benchmarks.workloads.table import Table

table = Table()


def normals(tf, seed):
    """Yields a step that draws 10 million numbers and fetches their sum."""
    total = tf.reduce_sum(tf.random_normal([10 * 1000 * 1000], seed=seed))
    with tf.Session() as sess:
        yield lambda: sess.run(total)


@table.step("10 million normals, unseeded", target=1.0)
def unseeded_normals(tf):
    return normals(tf, None)


# Bit for bit those of TensorFlow, whose kernel is C++; ours is NumPy.
@table.step("10 million normals, seeded", seconds=2.0)
def seeded_normals(tf):
    return normals(tf, 7)


@table.step("split and look up 100,000 tokens", target=1.0)
def tokens(tf):
    words = ["word%d" % i for i in range(5000)]
    random = np.random.RandomState(0)
    lines = [
        " ".join(words[i] for i in random.randint(0, len(words), 100))
        for _ in range(1000)
    ]
    feed = np.array(lines, dtype=object)
    with tempfile.TemporaryDirectory() as folder, tf.Session() as sess:
        vocabulary = os.path.join(folder, "words.txt")
        with open(vocabulary, "w") as file:
            file.write("\n".join(words) + "\n")
        text = tf.placeholder(tf.string, [None])
        ids = index_table(tf, vocabulary).lookup(tf.string_split(text).values)
        sess.run(tf.tables_initializer())
        yield lambda: sess.run(ids, {text: feed})


def index_table(tf, vocabulary):
    """A table from words to their lines in the file."""
    initializer = tf.lookup.TextFileInitializer(
        vocabulary,
        tf.string,
        tf.lookup.TextFileIndex.WHOLE_LINE,
        tf.int64,
        tf.lookup.TextFileIndex.LINE_NUMBER,
    )
    return tf.lookup.StaticHashTable(initializer, -1)


def photograph(height, width):
    """A smooth picture with some noise, as uint8 [height, width, 3]."""
    y, x = np.mgrid[0:height, 0:width].astype(np.float32)
    waves = [np.sin(x / a + y / b) for a, b in ((31, 47), (17, 90), (60, 23))]
    noise = np.random.RandomState(0).randn(height, width, 3)
    return np.clip(128 + 90 * np.stack(waves, 2) + 4 * noise, 0, 255).astype(np.uint8)


@table.step("decode a JPEG of 375x500 and resize it", target=1.0)
def jpeg(tf):
    with tf.Session() as sess:
        encoded = sess.run(tf.image.encode_jpeg(photograph(375, 500), quality=90))
        contents = tf.placeholder(tf.string, [])
        image = tf.image.decode_jpeg(contents, channels=3)
        image = tf.image.resize_bilinear(tf.expand_dims(image, 0), [224, 224])
        yield lambda: sess.run(image, {contents: encoded})


RECORDS = 100 * 1000


def write_records(tf, path):
    """100,000 records of 1 kB."""
    records = [os.urandom(1000) for _ in range(100)]
    with tf.python_io.TFRecordWriter(path) as writer:
        for _ in range(RECORDS // len(records)):
            for record in records:
                writer.write(record)


@table.step("write 100,000 records of 1 kB", target=1.0)
def records_written(tf):
    with tempfile.TemporaryDirectory() as folder:
        yield lambda: write_records(tf, folder + "/records")


@table.step("read 100,000 records of 1 kB, tf_record_iterator", target=1.0)
def records_read(tf):
    with tempfile.TemporaryDirectory() as folder:
        path = folder + "/records"
        write_records(tf, path)
        yield lambda: sum(1 for _ in tf.python_io.tf_record_iterator(path))


def examples(tf, count):
    """Serialized Examples of ten features: five floats, three ints, two strings."""
    random = np.random.RandomState(0)
    serialized = []
    for _ in range(count):
        example = tf.train.Example()
        feature = example.features.feature
        for index in range(5):
            feature["float%d" % index].float_list.value.extend(random.rand(4))
        for index in range(3):
            feature["int%d" % index].int64_list.value.append(random.randint(1000))
        for index in range(2):
            word = b"word%d" % random.randint(1000)
            feature["string%d" % index].bytes_list.value.append(word)
        serialized.append(example.SerializeToString())
    return serialized


def example_features(tf):
    """What the parsers are told of these examples."""
    features = {"float%d" % i: tf.FixedLenFeature([4], tf.float32) for i in range(5)}
    for index in range(3):
        features["int%d" % index] = tf.FixedLenFeature([], tf.int64)
    for index in range(2):
        features["string%d" % index] = tf.FixedLenFeature([], tf.string)
    return features


@table.step("parse 10,000 Examples of ten features", target=1.0)
def parse(tf):
    serialized = tf.placeholder(tf.string, [None])
    parsed = tf.parse_example(serialized, example_features(tf))
    # The fetch is of two features: what it costs is not the parser's.
    fetches = [parsed["float0"], parsed["int0"]]
    feed = np.array(examples(tf, 10000), dtype=object)
    with tf.Session() as sess:
        yield lambda: sess.run(fetches, {serialized: feed})


@table.step("parse_single_example of ten features", target=1.0)
def parse_single(tf):
    serialized = tf.placeholder(tf.string, [])
    parsed = tf.parse_single_example(serialized, example_features(tf))
    (feed,) = examples(tf, 1)
    with tf.Session() as sess:
        yield lambda: sess.run(parsed, {serialized: feed})


def csv_lines(count):
    """Lines of ten fields: five floats, three ints, two words."""
    random = np.random.RandomState(0)
    return [
        b"%.6f,%.6f,%.6f,%.6f,%.6f,%d,%d,%d,word%d,word%d"
        % (*random.rand(5), *random.randint(0, 1000, 5))
        for _ in range(count)
    ]


def csv_defaults():
    """The defaults of such lines, which say their dtypes."""
    return [[0.0]] * 5 + [[0]] * 3 + [[""]] * 2


@table.step("decode_csv of 10,000 lines of ten fields", target=1.0)
def decode_csv(tf):
    lines = tf.placeholder(tf.string, [None])
    columns = tf.decode_csv(lines, csv_defaults())
    fetches = [columns[0], columns[5]]  # two: a fetch of strings is not the decoder's
    feed = np.array(csv_lines(10000), dtype=object)
    with tf.Session() as sess:
        yield lambda: sess.run(fetches, {lines: feed})
