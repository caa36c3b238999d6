"""The examples of the pages about files, run as written but for where the files are."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import fsspec
import numpy as np
import pytest

import tensorloom as tf

DOCS = Path(__file__).parents[1] / "docs"
# What stands in for the places of the pages.
_PLACES = {
    '"/data/': '"data/',
    '"/models/': '"models/',
    "s3://": "memory://",
    '"sftp", host="store.lab"': '"memory"',
}


def _a_saver() -> dict[str, Any]:
    Path("data/run1").mkdir(parents=True)
    tf.get_variable("weights", [3])
    session = tf.Session()
    session.run(tf.global_variables_initializer())
    return {"saver": tf.train.Saver(), "sess": session, "step": 3}


def _a_place() -> dict[str, Any]:
    Path("data/run1").mkdir(parents=True)
    return {"np": np}


def _a_model() -> dict[str, Any]:
    x = tf.placeholder(tf.float32, [None, 3], "x")
    y = tf.multiply(x, 2.0, "y")
    tf.train.write_graph(tf.get_default_graph(), "directory", "g.pb", as_text=False)
    return {"x": x, "y": y, "sess": tf.Session(), "images": np.ones([2, 3])}


def _records() -> dict[str, Any]:
    with tf.python_io.TFRecordWriter("train.tfrecord") as writer:
        for number in range(1100):
            writer.write(b"%d" % number)
    return {}


# By page: what is there before its first example.
PAGES: dict[str, Callable[[], dict[str, Any]]] = {
    "checkpoints": _a_saver,
    "embeddings": _a_place,
    "input-service": dict,
    "saved-model": _a_model,
    "summaries": _records,
    "training-sessions": dict,
}


@pytest.fixture
def names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, Any]]:
    """What a page defines; other tests find nothing of it."""
    monkeypatch.chdir(tmp_path)
    defined: dict[str, Any] = {"tf": tf}
    yield defined
    if "mirror" in defined:
        defined["mirror"].close()
    fsspec.filesystem("memory").store.clear()


@pytest.mark.parametrize("page", PAGES)
def test_the_examples_run(page: str, names: dict[str, Any]) -> None:
    text = (DOCS / f"{page}.md").read_text()
    blocks = re.findall(r"^```python\n(.*?)^```$", text, re.DOTALL | re.M)
    assert len(blocks) >= 3
    with tf.Graph().as_default():
        names.update(PAGES[page]())
        for number, block in enumerate(blocks):
            for place, stand_in in _PLACES.items():
                block = block.replace(place, stand_in)
            exec(compile(block, f"docs/{page}.md, example {number}", "exec"), names)
