"""Pipelines of tf.data: what an element costs that does next to nothing.

A step takes a whole pass, in batches of a hundred.
"""

from benchmarks.workloads import inputs
from benchmarks.workloads.table import Table, seconds_of

table = Table()

ELEMENTS, BATCH = 20 * 1000, 100


def passes(tf, dataset):
    """Yields a step that starts the dataset again and takes all of it."""
    iterator = dataset.make_initializable_iterator()
    following = iterator.get_next()
    with tf.Session() as sess:

        def step():
            sess.run(iterator.initializer)
            while True:
                try:
                    sess.run(following)
                except tf.errors.OutOfRangeError:
                    break

        yield step


@table.step("dataset: range of 20,000 scalars in batches", target=0.3)
def ranged(tf):
    return passes(tf, tf.data.Dataset.range(ELEMENTS).batch(BATCH))


@table.step("dataset: map over 20,000 scalars", target=0.3)
def mapped(tf):
    dataset = tf.data.Dataset.range(ELEMENTS).map(lambda x: x * 2 + 1)
    return passes(tf, dataset.batch(BATCH))


@table.step("dataset: from_generator of 20,000 scalars", target=0.5)
def generated(tf):
    dataset = tf.data.Dataset.from_generator(
        lambda: iter(range(ELEMENTS)), tf.int64, tf.TensorShape([])
    )
    return passes(tf, dataset.batch(BATCH))


@table.step("dataset: shuffle 20,000 scalars, buffer of 10,000", target=0.5)
def shuffled(tf):
    dataset = tf.data.Dataset.range(ELEMENTS).shuffle(10 * 1000, seed=1)
    return passes(tf, dataset.batch(BATCH))


@table.step("dataset: shuffle 20,000 mapped scalars, buffer of 10,000", target=0.5)
def mapped_and_shuffled(tf):
    dataset = tf.data.Dataset.range(ELEMENTS).map(lambda x: x * 2 + 1)
    return passes(tf, dataset.shuffle(10 * 1000, seed=1).batch(BATCH))


@table.once(
    "figure: 20,000 mapped scalars in batches through an input service / in process",
    seconds=3.0,
    unit="times",
)
def through_a_service(tf):
    """The least time of a pass of each, in turns; the worker is in this process."""
    service = tf.data.experimental.service
    dispatcher = service.DispatchServer()
    address = dispatcher.target[len("grpc://") :]
    worker = service.WorkerServer(service.WorkerConfig(address))
    try:
        own = tf.data.Dataset.range(ELEMENTS).map(lambda x: x * 2 + 1).batch(BATCH)
        made = own.apply(service.distribute("distributed_epoch", dispatcher.target))
        passes_of = [passes(tf, made), passes(tf, own)]
        steps = [next(each) for each in passes_of]
        turns = [[seconds_of(step) for step in steps] for _ in range(7)]
        for each in reversed(passes_of):
            each.close()
        return min(turn[0] for turn in turns) / min(turn[1] for turn in turns)
    finally:
        worker.stop()
        dispatcher.stop()


EXAMPLES = 2 * 1000


@table.step("dataset: map parse_single_example over 2,000 Examples", target=1.0)
def mapped_parser(tf):
    serialized = inputs.examples(tf, EXAMPLES)
    features = inputs.example_features(tf)
    dataset = tf.data.Dataset.from_tensor_slices(serialized).map(
        lambda example: tf.parse_single_example(example, features)
    )
    return passes(tf, dataset.batch(BATCH))


@table.step("dataset: map decode_csv over 2,000 lines", target=1.0)
def mapped_lines(tf):
    dataset = tf.data.Dataset.from_tensor_slices(inputs.csv_lines(EXAMPLES)).map(
        lambda line: tf.decode_csv(line, inputs.csv_defaults())
    )
    return passes(tf, dataset.batch(BATCH))
