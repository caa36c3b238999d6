"""Names, ops and gradients are found by the index; their modules are loaded late."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import tensorloom as tf
from tensorloom.framework import export
from tensorloom.framework.registry import kept_index, op_registry, public_index

_LOADED = """
import sys
def loaded(name):
    return f"tensorloom.{name}" in sys.modules
import tensorloom as tf
assert not loaded("train.optimizers.adam") and not loaded("ops.array.array_ops")
assert not loaded("master.run.master") and "torch" not in sys.modules
assert not loaded("framework.graph.dataflow_graph")
"""


def run(program: str, **environment: str) -> None:
    subprocess.run(
        [sys.executable, "-c", program],
        check=True,
        env={**os.environ, **environment},
        timeout=120,
    )


@pytest.mark.multiprocess
@pytest.mark.parametrize(
    "use",
    [
        "assert tf.train.AdamOptimizer.__name__ == 'AdamOptimizer'",
        "from tensorloom.train import AdamOptimizer; assert AdamOptimizer",
        "import tensorloom.math as m; assert m.add is tf.add",
        "x = tf.constant(1.0)\nassert 'Add' in (x + 1).op.type",
        "assert (-tf.constant(1.0)).op.type == 'Neg'",
        "assert tf.constant([[1, 2]])[0].op.type == 'StridedSlice'",
        "assert tf.raw_ops.Sin(x=tf.constant(1.0)).op.type == 'Sin'",
        "x = tf.ragged.constant([[1], [2, 3]])\nassert tf.add(x, 1).shape[0] == 2",
        "from tensorloom import concat\n"
        "x = tf.ragged.constant([[1], [2, 3]]); concat([x, x], 0)",
        "graph = tf.GraphDef(); graph.node.add(name='n', op='NoOp')\n"
        "tf.import_graph_def(graph)",
        "assert 'matmul' in dir(tf) and 'AdamOptimizer' in dir(tf.train)",
        "assert tf.nn.swish.__name__ == 'swish'\n"
        "import tensorloom.nn.swish\n"
        "assert callable(tf.nn.swish)",
        "from tensorloom import *\nassert matmul is tf.matmul",
        "from tensorloom.train.meta_graph.meta_graph_collections import *\n"
        "assert not loaded('train.checkpoints.saver') and proto_functions('savers')",
        "from tensorloom.train.meta_graph.meta_graph_collections import *\n"
        "register_proto_function('savers', list, str, int); import tensorloom.train\n"
        "tf.train.Saver; assert proto_functions('savers').from_proto is int",
    ],
)
def test_modules_are_loaded_when_their_names_are_used(use: str) -> None:
    run(f"{_LOADED}\n{use}")


_THREADS = """
import threading
names = ["matmul", "train.AdamOptimizer", "ragged.constant", "strings.split",
         "data.Dataset", "image.resize_images", "linalg.norm", "layers.dense"]
errors = []
def use(name):
    try:
        found = tf
        for part in name.split("."):
            found = getattr(found, part)
        with tf.Graph().as_default():
            (tf.constant([[1.0]]) + 1)[0]
    except BaseException as error:
        errors.append(repr(error))
threads = [threading.Thread(target=use, args=(name,)) for name in names * 2]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join(60)
    assert not thread.is_alive()
assert not errors, errors
"""


@pytest.mark.multiprocess
def test_threads_load_modules_that_import_each_other() -> None:
    run(f"{_LOADED}\n{_THREADS}")


@pytest.mark.parametrize("name", ["no_such_name", "train.NoSuchOptimizer"])
def test_names_that_are_not_there(name: str) -> None:
    module = tf
    *path, last = name.split(".")
    for part in path:
        module = getattr(module, part)
    with pytest.raises(AttributeError, match=last):
        getattr(module, last)


def test_every_name_of_the_index_is_declared_where_it_says() -> None:
    for name in export.names():
        export.find(name)  # raises KeyError otherwise
    missing = set(op_registry.registered_ops()) - set(op_registry.places())
    assert not {name for name in missing if not name.startswith("Test")}


def test_an_index_that_is_damaged_is_made_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    but = frozenset(
        entry.name
        for entry in os.scandir(tf.__path__[0])
        if entry.is_dir() and entry.name != "signal"
    )
    monkeypatch.setattr(kept_index, "_places", lambda folder: iter([tmp_path]))
    first = public_index.of_packages(tf, but)
    (file,) = tmp_path.iterdir()
    for content in (b"", b"{", b'{"places": 3}', b"\xff"):
        file.write_bytes(content)
        assert public_index.of_packages(tf, but) == first
    assert public_index.of_packages(tf, but) == first


def test_no_place_to_write_is_no_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / "a file"
    place.write_text("")
    monkeypatch.setattr(kept_index, "_places", lambda folder: iter([place]))
    public_index.of_packages(tf, frozenset({"client"}))
