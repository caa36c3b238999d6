"""The whole life of a model that reads scanned handwritten digits.

TFRecord files, `tf.data`, an Estimator trained and evaluated by turns, summaries and
checkpoints, an export, and a prediction from the export.

When it is killed, the next start goes on from the last checkpoint. When it ends, the
model is exported, and the next start begins anew.
"""

import argparse
import time
from pathlib import Path

import numpy as np
from digits_cnn import confusion_table, load_data, write_picture
from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
)

import tensorloom as tf

BATCH = 32
LEARNING_RATE = 0.004
DECAY = 0.95  # of the learning rate, each epoch
KEPT = 0.6  # of the units, in dropout
CHECKPOINT_STEPS = 440
SUMMARY_STEPS = 20
PICTURE = Path("digits.png")
FEATURES = {
    "image": tf.FixedLenFeature([], tf.string),
    "label": tf.FixedLenFeature([], tf.int64),
}


def write_records(path, images, labels):
    """One `tf.train.Example` for each digit: its PNG file and its label.

    The file gets its name when it is whole: a killed run leaves no half of one.
    """
    pixels = tf.placeholder(tf.uint8, [8, 8, 1])
    png = tf.image.encode_png(pixels)
    unfinished = path.with_name(path.name + ".unfinished")
    with tf.Session() as sess, tf.python_io.TFRecordWriter(str(unfinished)) as writer:
        for image, label in zip(images, labels, strict=True):
            encoded = sess.run(png, {pixels: np.rint(image * 16).astype(np.uint8)})
            feature = {
                "image": tf.train.Feature(
                    bytes_list=tf.train.BytesList(value=[encoded])
                ),
                "label": tf.train.Feature(int64_list=tf.train.Int64List(value=[label])),
            }
            example = tf.train.Example(features=tf.train.Features(feature=feature))
            writer.write(example.SerializeToString())
    unfinished.rename(path)


def parse(record):
    """The image, as floats in [0, 1], and the label of a serialized Example."""
    found = tf.parse_single_example(record, FEATURES)
    pixels = tf.image.decode_png(found["image"], channels=1)
    image = tf.cast(tf.reshape(pixels, [8, 8, 1]), tf.float32) / 16.0
    return image, found["label"]


def shifted(image, label):
    """The image moved by up to one pixel, so that the network learns shapes."""
    wide = tf.pad(image, [[1, 1], [1, 1], [0, 0]])
    return tf.random_crop(wide, [8, 8, 1]), label


def training_input(path, count):
    """Batches without end, in another order each epoch."""
    digits = tf.data.TFRecordDataset(str(path)).map(parse).cache()
    digits = digits.shuffle(count, seed=1).repeat().map(shifted)
    return digits.batch(BATCH, drop_remainder=True).prefetch(2)


def test_input(path):
    """The digits of a file, once, in order."""
    return tf.data.TFRecordDataset(str(path)).map(parse).batch(128)


def serving_input():
    """What a user of the exported model feeds: images."""
    images = tf.placeholder(tf.float32, [None, 8, 8, 1], name="images")
    return tf.estimator.export.TensorServingInputReceiver(images, {"images": images})


def model(features, labels, mode, params):
    """A small convolutional network, for training, evaluation and prediction."""
    training = mode == tf.estimator.ModeKeys.TRAIN
    y = tf.layers.conv2d(features, 32, 3, padding="same", activation=tf.nn.relu)
    y = tf.layers.max_pooling2d(y, 2, 2)
    y = tf.layers.conv2d(y, 64, 3, padding="same", activation=tf.nn.relu)
    y = tf.layers.max_pooling2d(y, 2, 2)
    y = tf.layers.dense(tf.layers.flatten(y), 128, activation=tf.nn.relu)
    y = tf.layers.dropout(y, 1.0 - KEPT, training=training)
    logits = tf.layers.dense(y, 10)
    classes = tf.argmax(logits, 1)
    if mode == tf.estimator.ModeKeys.PREDICT:
        found = {"classes": classes, "probabilities": tf.nn.softmax(logits)}
        output = tf.estimator.export.PredictOutput(found)
        return tf.estimator.EstimatorSpec(
            mode, predictions=found, export_outputs={"serving_default": output}
        )
    loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)
    accuracy = tf.metrics.accuracy(labels, classes)
    if mode == tf.estimator.ModeKeys.EVAL:
        tf.summary.histogram("logits", logits)
        return tf.estimator.EstimatorSpec(
            mode, loss=loss, eval_metric_ops={"accuracy": accuracy}
        )
    step = tf.train.get_global_step()
    rate = tf.train.exponential_decay(
        LEARNING_RATE, step, params["batches"], DECAY, staircase=True
    )
    tf.summary.scalar("learning_rate", rate)
    train = tf.train.AdamOptimizer(rate).minimize(loss, global_step=step)
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train)


class ShowTraining(tf.train.SessionRunHook):
    """Moves the bar on, and counts the steps of this start."""

    def __init__(self, progress, task):
        self.progress, self.task = progress, task
        self.steps = 0

    def before_run(self, run_context):
        """Asks for the step and the loss, beside what is run anyway."""
        graph = run_context.session.graph
        loss = graph.get_collection(tf.GraphKeys.LOSSES)[0]
        return tf.train.SessionRunArgs([tf.train.get_global_step(graph), loss])

    def after_run(self, run_context, run_values):
        """Shows them."""
        self.steps += 1
        step, loss = run_values.results
        self.progress.update(self.task, completed=int(step), loss=float(loss))


class ShowEvaluation(tf.train.SessionRunHook):
    """Writes the accuracy after each evaluation beside the bar."""

    def __init__(self, progress, task):
        self.progress, self.task = progress, task

    def end(self, session):
        """Reads the metric that the evaluation has gathered."""
        total, count = (
            session.run(variable)
            for variable in session.graph.get_collection(tf.GraphKeys.METRIC_VARIABLES)
            if variable.op.name.startswith("accuracy/")
        )
        self.progress.update(self.task, accuracy=float(total / count))


def exports(run):
    """Folders of whole exported models, oldest first."""
    return sorted(path for path in run.glob("export/*") if path.name.isdigit())


def train(estimator, records, count, steps, console):
    """Trains and evaluates by turns, with a bar.

    Returns:
      The steps of this start, and the seconds that they and their tests took.
    """
    columns = [
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("loss {task.fields[loss]:.4f}"),
        TextColumn("test accuracy {task.fields[accuracy]:.2%}"),
        TimeElapsedColumn(),
    ]
    with Progress(*columns, console=console) as progress:
        task = progress.add_task("", total=steps, loss=np.nan, accuracy=0.0)
        shown = ShowTraining(progress, task)
        began = time.perf_counter()
        tf.estimator.train_and_evaluate(
            estimator,
            tf.estimator.TrainSpec(
                lambda: training_input(records["train"], count),
                max_steps=steps,
                hooks=[shown],
            ),
            tf.estimator.EvalSpec(
                lambda: test_input(records["test"]),
                steps=None,
                hooks=[ShowEvaluation(progress, task)],
                start_delay_secs=0,
                throttle_secs=0,
            ),
        )
        return shown.steps, time.perf_counter() - began


def predict(export, images):
    """The classes that an exported model reads in images."""
    with tf.Graph().as_default(), tf.Session() as sess:
        meta_graph = tf.saved_model.loader.load(sess, ["serve"], str(export))
        signature = meta_graph.signature_def["serving_default"]
        fed = signature.inputs["images"].name
        return sess.run(signature.outputs["classes"].name, {fed: images})


def prepare(run, data, console):
    """Writes the record files, unless they are there; drops a finished run.

    Returns:
      The files, by part.
    """
    if exports(run):
        for pattern in ("events.out.*", "model.ckpt-*", "checkpoint", "graph.pbtxt"):
            for path in run.glob(pattern):
                path.unlink()
        tf.gfile.DeleteRecursively(str(run / "eval"))
        tf.gfile.DeleteRecursively(str(run / "export"))
    run.mkdir(parents=True, exist_ok=True)
    train_x, test_x, train_y, test_y = data
    records = {}
    for part, images, labels in (
        ("train", train_x, train_y),
        ("test", test_x, test_y),
    ):
        records[part] = run / f"{part}.tfrecord"
        if not records[part].exists():
            with tf.Graph().as_default():
                write_records(records[part], images, labels)
        size = records[part].stat().st_size
        console.print(f"{len(images)} digits, {size:,} bytes: {records[part]}")
    return records


def main():
    """The steps of the life, one after the other."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--run", type=Path, default=Path("digits"), help="directory")
    parser.add_argument("--epochs", type=int, default=60)
    options = parser.parse_args()
    run, console = options.run, Console()
    tf.logging.set_verbosity(tf.logging.WARN)
    data = load_data()
    train_x, test_x, _, test_y = data
    batches = len(train_x) // BATCH

    console.print("[bold]1. records[/]")
    records = prepare(run, data, console)

    console.print("[bold]2. training, tested at each checkpoint[/]")
    config = tf.estimator.RunConfig(
        model_dir=str(run),
        tf_random_seed=1,
        save_checkpoints_steps=CHECKPOINT_STEPS,
        save_summary_steps=SUMMARY_STEPS,
        keep_checkpoint_max=3,
    )
    estimator = tf.estimator.Estimator(
        model, config=config, params={"batches": batches}
    )
    checkpoint = tf.train.latest_checkpoint(str(run))
    if checkpoint is not None:
        step = checkpoint.rpartition("-")[2]
        console.print(f"an earlier run was broken off: going on from step {step}")
    steps, seconds = train(
        estimator, records, len(train_x), options.epochs * batches, console
    )
    if steps:
        console.print(
            f"{steps} steps of {BATCH} digits, {steps / seconds:.0f} a second"
        )

    console.print("[bold]3. evaluation[/]")
    measured = estimator.evaluate(lambda: test_input(records["test"]))
    console.print(
        f"step {measured['global_step']}: test accuracy {measured['accuracy']:.2%}, "
        f"loss {measured['loss']:.4f}"
    )

    console.print("[bold]4. export[/]")
    export = estimator.export_saved_model(str(run / "export"), serving_input).decode()
    console.print(f"the exported model: {export}")

    console.print("[bold]5. predictions from the export[/]")
    found = predict(export, test_x)
    console.print(confusion_table(test_y, found))
    mistakes = int((found != test_y).sum())
    console.print(f"{mistakes} mistakes in {len(test_y)} test digits")
    write_picture(test_x, test_y, found, PICTURE)
    console.print(f"test digits with their predictions: {PICTURE.resolve()}")
    console.print(f"checkpoints and events: {run.resolve()}")
    console.print(f"  tensorboard --logdir {run}")


if __name__ == "__main__":
    main()
