"""Trains a small convolutional network on scanned handwritten digits.

Written as a TensorFlow 1 program: build a graph, then run it in a session. It also runs
under TensorFlow 1.15 when the import says so.

Checkpoints and events go into a directory while it trains. When it is killed, the next
start goes on from the last checkpoint; when it ends, it exports the model.
"""

import argparse
import time
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

import tensorloom as tf

BATCH = 32
LEARNING_RATE = 0.004
DECAY = 0.95  # of the learning rate, each epoch
SUMMARY_STEPS = 20
CHECKPOINT_STEPS = 300
PICTURE = Path("digits.png")


def load_data():
    """8x8 scans as floats in [0, 1], split into training and test set."""
    digits = load_digits()
    images = (digits.images / 16.0).astype(np.float32)[..., np.newaxis]
    labels = digits.target.astype(np.int64)
    return train_test_split(
        images, labels, test_size=0.2, random_state=0, stratify=labels
    )


def shifted(images, random):
    """Each image moved by up to one pixel, so that the network learns shapes."""
    wide = np.pad(images, [(0, 0), (1, 1), (1, 1), (0, 0)])
    moved = np.empty_like(images)
    for i, (y, x) in enumerate(random.randint(0, 3, [len(images), 2])):
        moved[i] = wide[i, y : y + 8, x : x + 8]
    return moved


def conv_layer(x, channels, name):
    """3x3 convolution with bias and ReLU."""
    with tf.variable_scope(name):
        shape = [3, 3, x.shape[3].value, channels]
        weights = tf.get_variable("weights", shape)
        bias = tf.get_variable("bias", [channels], initializer=tf.zeros_initializer())
        y = tf.nn.conv2d(x, weights, strides=[1, 1, 1, 1], padding="SAME")
        return tf.nn.relu(tf.nn.bias_add(y, bias))


def dense_layer(x, units, name):
    """A fully connected layer without activation."""
    with tf.variable_scope(name):
        weights = tf.get_variable("weights", [x.shape[1].value, units])
        bias = tf.get_variable("bias", [units], initializer=tf.zeros_initializer())
        return tf.nn.bias_add(tf.matmul(x, weights), bias)


def build_network(images, keep_prob):
    """Logits of the ten classes."""
    y = conv_layer(images, 32, "conv1")
    y = tf.nn.max_pool(y, ksize=[1, 2, 2, 1], strides=[1, 2, 2, 1], padding="SAME")
    y = conv_layer(y, 64, "conv2")
    y = tf.nn.max_pool(y, ksize=[1, 2, 2, 1], strides=[1, 2, 2, 1], padding="SAME")
    y = tf.reshape(y, [-1, 2 * 2 * 64])
    y = tf.nn.dropout(tf.nn.relu(dense_layer(y, 128, "dense")), keep_prob=keep_prob)
    return dense_layer(y, 10, "logits")


def confusion_table(labels, predictions):
    """Rows are what was written, columns what was read."""
    counts = np.zeros([10, 10], int)
    np.add.at(counts, (labels, predictions), 1)
    table = Table(title="test digits: written (rows), read (columns)")
    table.add_column("")
    for digit in range(10):
        table.add_column(str(digit), justify="right")
    for digit, row in enumerate(counts):
        cells = [str(count) if count else "." for count in row]
        if counts[digit, digit]:
            cells[digit] = f"[bold green]{cells[digit]}[/]"
        table.add_row(f"[bold]{digit}[/]", *cells)
    return table


def write_picture(images, labels, predictions, path, columns=16, rows=8, size=48):
    """A sheet of digits, each with its prediction; mistakes first and in red."""
    order = np.argsort(predictions == labels, kind="stable")[: columns * rows]
    sheet = Image.new("RGB", (columns * size, rows * (size + 16)), "white")
    draw = ImageDraw.Draw(sheet)
    for place, index in enumerate(order):
        left, top = place % columns * size, place // columns * (size + 16)
        pixels = (255 * (1.0 - images[index, :, :, 0])).astype(np.uint8)
        digit = Image.fromarray(pixels).resize((size - 4, size - 4), Image.NEAREST)
        sheet.paste(digit, (left + 2, top + 2))
        right = predictions[index] == labels[index]
        text = str(predictions[index])
        if not right:
            text += f" not {labels[index]}"
        draw.text((left + 4, top + size), text, fill="darkgreen" if right else "red")
    sheet.save(path)


def build_training(network):
    """The nodes that the program runs, by name."""
    images = tf.placeholder(tf.float32, [None, 8, 8, 1], name="images")
    labels = tf.placeholder(tf.int64, [None], name="labels")
    keep_prob = tf.placeholder_with_default(1.0, [], name="keep_prob")
    rate = tf.placeholder_with_default(LEARNING_RATE, [], name="learning_rate")
    logits = network(images, keep_prob)
    losses = tf.nn.sparse_softmax_cross_entropy_with_logits(
        labels=labels, logits=logits
    )
    loss = tf.reduce_mean(losses, name="loss")
    predictions = tf.argmax(logits, 1, name="predictions")
    hits = tf.cast(tf.equal(predictions, labels), tf.float32)
    accuracy = tf.reduce_mean(hits, name="accuracy")
    step = tf.train.get_or_create_global_step()
    train = tf.train.AdamOptimizer(rate).minimize(loss, global_step=step)
    while_training = tf.summary.merge(
        [
            tf.summary.scalar("training/loss", loss),
            tf.summary.scalar("training/learning_rate", rate),
        ]
    )
    in_tests = [
        tf.summary.scalar("test/loss", loss),
        tf.summary.scalar("test/accuracy", accuracy),
        tf.summary.histogram("test/logits", logits),
        tf.summary.image("test/images", images),
    ]
    for variable in tf.trainable_variables():
        name = f"variables/{variable.op.name}"
        in_tests.append(tf.summary.histogram(name, variable))
    return {
        "images": images,
        "labels": labels,
        "keep_prob": keep_prob,
        "rate": rate,
        "probabilities": tf.nn.softmax(logits, name="probabilities"),
        "loss": loss,
        "predictions": predictions,
        "accuracy": accuracy,
        "step": step,
        "train": train,
        "while_training": while_training,
        "in_tests": tf.summary.merge(in_tests),
    }


def start_or_resume(sess, saver, step, run, console):
    """The step to go on from: that of the last checkpoint of a run that was broken off.

    A finished run has an exported model: then the next one begins anew.
    """
    if (run / "saved_model").exists():
        tf.gfile.DeleteRecursively(str(run / "saved_model"))
        for path in [*run.glob("events.out.*"), *run.glob("model-*")]:
            path.unlink()
        (run / "checkpoint").unlink()
    sess.run(tf.global_variables_initializer())
    checkpoint = tf.train.latest_checkpoint(str(run))
    if checkpoint is None:
        return 0
    saver.restore(sess, checkpoint)
    start = int(sess.run(step))
    console.print(f"an earlier run was broken off: going on from step {start}")
    return start


def feed_of_step(step, net, images, labels):
    """The batch of a step; the same whether or not the run was broken off before it."""
    batches = len(images) // BATCH
    epoch, place = divmod(step, batches)
    order = np.random.RandomState(epoch).permutation(len(images))
    batch = order[place * BATCH : (place + 1) * BATCH]
    return {
        net["images"]: shifted(images[batch], np.random.RandomState(step)),
        net["labels"]: labels[batch],
        net["keep_prob"]: 0.6,
        net["rate"]: LEARNING_RATE * DECAY ** (epoch + 1),
    }


def trace(sess, net, feed, writer, step):
    """Writes what one step ran where and for how long: see it in the graph's page."""
    options = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)
    metadata = tf.RunMetadata()
    sess.run(net["loss"], feed, options=options, run_metadata=metadata)
    writer.add_run_metadata(metadata, f"step {step}", step)


def progress_columns():
    """What is shown while it trains."""
    return [
        TextColumn("epoch {task.fields[epoch]:2d}"),
        BarColumn(),
        TextColumn("{task.completed:.0f}/{task.total:.0f} steps"),
        TextColumn("loss {task.fields[loss]:.4f}"),
        TextColumn("test accuracy {task.fields[accuracy]:.2%}"),
        TimeElapsedColumn(),
    ]


def train(sess, net, data, saver, run, start, steps, console):
    """Trains from step `start` to `steps`, with checkpoints and events in `run`.

    Returns:
      Seconds that the steps took, without tests and files.
    """
    train_x, test_x, train_y, test_y = data
    test_feed = {net["images"]: test_x, net["labels"]: test_y}
    batches = len(train_x) // BATCH
    seconds = 0.0
    with (
        tf.summary.FileWriter(str(run), sess.graph) as writer,
        Progress(*progress_columns(), console=console) as progress,
    ):
        # What the broken run wrote after its last checkpoint does not count.
        writer.add_session_log(tf.SessionLog(status=tf.SessionLog.START), start)
        task = progress.add_task(
            "", total=steps, completed=start, epoch=1, loss=np.nan, accuracy=0.0
        )
        for step in range(start, steps):
            feed = feed_of_step(step, net, train_x, train_y)
            if step == start:
                trace(sess, net, feed, writer, step)
            fetches = [net["train"], net["loss"]]
            if step % SUMMARY_STEPS == 0:
                fetches.append(net["while_training"])
            began = time.perf_counter()
            _, value, *summaries = sess.run(fetches, feed)
            seconds += time.perf_counter() - began
            for summary in summaries:
                writer.add_summary(summary, step)
            epoch = step // batches + 1
            progress.update(task, completed=step + 1, epoch=epoch, loss=value)
            if (step + 1) % batches == 0:
                accuracy, summary = sess.run(
                    [net["accuracy"], net["in_tests"]], test_feed
                )
                writer.add_summary(summary, step + 1)
                progress.update(task, accuracy=accuracy)
            if (step + 1) % CHECKPOINT_STEPS == 0 or step + 1 == steps:
                writer.flush()
                saver.save(sess, str(run / "model"), global_step=step + 1)
    return seconds


def main():
    """Trains, tests, exports, and shows what was learned."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--run", type=Path, default=Path("digits"), help="directory")
    parser.add_argument("--epochs", type=int, default=60)
    options = parser.parse_args()
    run = options.run
    console = Console()
    data = load_data()
    train_x, test_x, _, test_y = data
    console.print(f"{len(train_x)} digits to learn from, {len(test_x)} to be tested on")

    tf.set_random_seed(1)
    net = build_training(build_network)
    saver = tf.train.Saver(max_to_keep=3)
    steps = options.epochs * (len(train_x) // BATCH)
    with tf.Session() as sess:
        start = start_or_resume(sess, saver, net["step"], run, console)
        seconds = train(sess, net, data, saver, run, start, steps, console)
        test_feed = {net["images"]: test_x, net["labels"]: test_y}
        found, final = sess.run([net["predictions"], net["accuracy"]], test_feed)
        tf.saved_model.simple_save(
            sess,
            str(run / "saved_model"),
            inputs={"images": net["images"]},
            outputs={
                "classes": net["predictions"],
                "probabilities": net["probabilities"],
            },
        )

    console.print(confusion_table(test_y, found))
    write_picture(test_x, test_y, found, PICTURE)
    console.print(
        f"test accuracy {final:.2%} ({int((found != test_y).sum())} mistakes)"
    )
    if steps > start:
        speed = (steps - start) / seconds
        console.print(f"{steps} steps, {speed:.0f} steps/s (batches of {BATCH})")
    console.print(f"test digits with their predictions: {PICTURE.resolve()}")
    console.print(f"checkpoints, events and the exported model: {run.resolve()}")
    console.print(f"  tensorboard --logdir {run}")


if __name__ == "__main__":
    main()
