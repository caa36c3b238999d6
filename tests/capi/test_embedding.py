"""The library in processes of several kinds, and what it reaches from there."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

import tensorloom as tf
from tests.capi.conftest import ROOT, Library, run

pytestmark = pytest.mark.capi

_HOST = """
import ctypes, sys, threading
lib = ctypes.CDLL(sys.argv[1])
pointer = ctypes.c_void_p
for name in ("TF_NewGraph", "TF_NewStatus", "TF_NewOperation", "TF_FinishOperation"):
    getattr(lib, name).restype = pointer
lib.TF_OperationName.restype = ctypes.c_char_p
graph, status = pointer(lib.TF_NewGraph()), pointer(lib.TF_NewStatus())
def add(name):
    desc = pointer(lib.TF_NewOperation(graph, b"NoOp", name))
    print(lib.TF_OperationName(pointer(lib.TF_FinishOperation(desc, status))))
add(b"here")
thread = threading.Thread(target=add, args=(b"there",))
thread.start(); thread.join()
"""


def test_opened_at_run_time(ours: Library, built: Path, tmp_path: Path) -> None:
    """By TensorFlow's name, for the program alone: extension modules find Python."""
    library = built / "compat" / "libtensorflow.so"
    assert ours.output("opened", tmp_path, str(library)) == "ran: ''\n"


def test_process_with_a_python(built: Path) -> None:
    """The Python that is there serves the library, too."""
    library = built / "lib" / "libtensorloom.so"
    printed = run([sys.executable, "-c", _HOST, str(library)])
    assert printed.splitlines() == ["b'here'", "b'there'"]


def test_no_python(ours: Library, tmp_path: Path) -> None:
    """Where there is none that has the package, each call says so."""
    executable = ours.compile("opened", tmp_path)
    library = ours.link[0].removeprefix("-L") + "/libtensorloom.so"
    printed = run(
        [str(executable), library], TENSORLOOM_PYTHON="/usr/no/python", PYTHONPATH=""
    )
    assert printed.startswith("ran: ")
    assert printed != "ran: ''\n"


def test_saved_model(ours: Library, tmp_path: Path) -> None:
    with tf.Graph().as_default(), tf.Session() as sess:
        x = tf.placeholder(tf.float32, name="x")
        y = tf.multiply(x, tf.Variable(3.0), name="y")
        sess.run(tf.global_variables_initializer())
        tf.saved_model.simple_save(sess, str(tmp_path / "model"), {"x": x}, {"y": y})
    lines = ours.output("saved_model", tmp_path, str(tmp_path / "model")).splitlines()
    assert "y: type 1 [] 15" in lines
    assert [line[-1] for line in lines if line.startswith("TF_Load")] == ["5", "3"]


def test_server(ours: Library, tmp_path: Path) -> None:
    lines = ours.output("server", tmp_path).splitlines()
    assert lines[1:] == ["grpc://", "c: type 1 [] 4", "end"]


def test_example_of_the_documentation(ours: Library, tmp_path: Path) -> None:
    """The program of docs/c-api.md prints what it says there."""
    text = (ROOT / "docs" / "c-api.md").read_text()
    source = re.search(r"```c\n(.*?)```", text, re.DOTALL)
    assert source is not None
    (tmp_path / "program.c").write_text(source[1])
    executable = tmp_path / "program"
    command = ["cc", f"-I{ours.include}", str(tmp_path / "program.c"), *ours.link]
    subprocess.run([*command, "-o", str(executable)], check=True, timeout=60)
    assert run([str(executable)]) == "6\n"


def test_pkg_config(built: Path) -> None:
    text = (built / "lib" / "pkgconfig" / "tensorloom.pc").read_text()
    assert "-ltensorloom" in text
    assert "prefix=${pcfiledir}/../.." in text
