"""Trains a small convolutional network on scanned handwritten digits.

Written as a TensorFlow 1 program: build a graph, then run it in a session. It also runs
under TensorFlow 1.15 when the import says so.
"""

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

EPOCHS = 60
BATCH = 32
LEARNING_RATE = 0.004
DECAY = 0.95  # of the learning rate, each epoch
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


def main():
    """Trains, tests, and shows what was learned."""
    console = Console()
    train_x, test_x, train_y, test_y = load_data()
    console.print(f"{len(train_x)} digits to learn from, {len(test_x)} to be tested on")

    tf.set_random_seed(1)
    images = tf.placeholder(tf.float32, [None, 8, 8, 1], name="images")
    labels = tf.placeholder(tf.int64, [None], name="labels")
    keep_prob = tf.placeholder_with_default(1.0, [], name="keep_prob")
    logits = build_network(images, keep_prob)
    losses = tf.nn.sparse_softmax_cross_entropy_with_logits(
        labels=labels, logits=logits
    )
    loss = tf.reduce_mean(losses, name="loss")
    predictions = tf.argmax(logits, 1, name="predictions")
    hits = tf.cast(tf.equal(predictions, labels), tf.float32)
    accuracy = tf.reduce_mean(hits, name="accuracy")
    step = tf.train.get_or_create_global_step()
    rate = tf.placeholder(tf.float32, [], name="learning_rate")
    train = tf.train.AdamOptimizer(rate).minimize(loss, global_step=step)

    columns = [
        TextColumn("epoch {task.fields[epoch]:2d}"),
        BarColumn(),
        TextColumn("{task.completed:.0f}/{task.total:.0f} steps"),
        TextColumn("loss {task.fields[loss]:.4f}"),
        TextColumn("test accuracy {task.fields[accuracy]:.2%}"),
        TimeElapsedColumn(),
    ]
    random = np.random.RandomState(0)
    test_feed = {images: test_x, labels: test_y}
    with tf.Session() as sess, Progress(*columns, console=console) as progress:
        sess.run(tf.global_variables_initializer())
        batches = len(train_x) // BATCH
        task = progress.add_task(
            "", total=EPOCHS * batches, epoch=1, loss=np.nan, accuracy=0.0
        )
        seconds = 0.0
        for epoch in range(1, EPOCHS + 1):
            order = random.permutation(len(train_x))
            start = time.perf_counter()
            for batch in np.split(order[: batches * BATCH], batches):
                feed = {
                    images: shifted(train_x[batch], random),
                    labels: train_y[batch],
                    keep_prob: 0.6,
                    rate: LEARNING_RATE * DECAY**epoch,
                }
                _, value = sess.run([train, loss], feed)
                progress.update(task, advance=1, epoch=epoch, loss=value)
            seconds += time.perf_counter() - start
            progress.update(task, accuracy=sess.run(accuracy, test_feed))
        steps = sess.run(step)
        found, final = sess.run([predictions, accuracy], test_feed)

    console.print(confusion_table(test_y, found))
    write_picture(test_x, test_y, found, PICTURE)
    console.print(
        f"test accuracy {final:.2%} ({int((found != test_y).sum())} mistakes)"
    )
    console.print(f"{steps} steps, {steps / seconds:.0f} steps/s (batches of {BATCH})")
    console.print(f"test digits with their predictions: {PICTURE.resolve()}")


if __name__ == "__main__":
    main()
