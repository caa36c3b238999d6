"""`tensorloom run`: programs in processes of their own, as users start them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from textwrap import dedent

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]
PROGRAM = """
    x = tf.placeholder(tf.float32, [])
    with tf.Session() as sess:
        print(sess.run(x * 2.0 + 1.0, {x: 3.0}))
"""


def run(folder: Path, source: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Writes the program into the folder and runs it."""
    (folder / "program.py").write_text(dedent(source), encoding="utf-8")
    return start(folder, "program.py", *arguments)


def start(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "tensorloom", "run", *arguments]
    return subprocess.run(
        command,
        cwd=folder,
        env={"PYTHONPATH": str(REPOSITORY), "PATH": ""},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


@pytest.mark.parametrize(
    "line",
    [
        "import tensorflow as tf",
        "import tensorflow.compat.v1 as tf",
        "from tensorflow.compat import v1 as tf",
        "import tensorflow; tf = tensorflow",
        "import tensorloom as tf",
    ],
)
def test_every_import_means_tensorloom(tmp_path: Path, line: str) -> None:
    done = run(tmp_path, line + dedent(PROGRAM))
    assert (done.stdout, done.stderr, done.returncode) == ("7.0\n", "", 0)


def test_names_and_submodules_can_be_imported(tmp_path: Path) -> None:
    source = """
        import tensorflow as tf
        import tensorflow.nn
        import tensorflow.train as train
        from tensorflow import placeholder, nn
        print(tensorflow.nn is tf.nn is nn, train is tf.train, placeholder.__name__)
    """
    done = run(tmp_path, source)
    assert (done.stdout, done.stderr) == ("True True placeholder\n", "")


def test_the_program_sees_what_python_would_show_it(tmp_path: Path) -> None:
    (tmp_path / "beside.py").write_text("VALUE = 5\n", encoding="utf-8")
    source = """
        import sys, beside
        def main():
            print(__name__, __file__, sys.argv, beside.VALUE)
            print(sys.modules["__main__"].main is main, __doc__, __spec__)
        if __name__ == "__main__":
            main()
    """
    done = run(tmp_path, source, "--steps", "3", "-h", "file")
    expected = "__main__ program.py ['program.py', '--steps', '3', '-h', 'file'] 5\n"
    assert (done.stdout, done.stderr) == (expected + "True None None\n", "")


def test_exit_status_is_the_programs(tmp_path: Path) -> None:
    assert run(tmp_path, "import sys; sys.exit(7)").returncode == 7
    assert run(tmp_path, "raise SystemExit").returncode == 0
    assert run(tmp_path, "raise KeyboardInterrupt").returncode == 130


def test_traceback_shows_the_program_only(tmp_path: Path) -> None:
    done = run(tmp_path, "def f():\n    return 1 / 0\nf()\n")
    assert done.returncode == 1
    assert done.stderr.startswith(
        'Traceback (most recent call last):\n  File "program.py", line 3, in <module>'
    )
    assert "tensorloom" not in done.stderr
    assert done.stderr.endswith("ZeroDivisionError: division by zero\n")


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("import tensorflow.absent", "tensorloom has no module 'absent'"),
        ("from tensorflow import absent", "tensorloom has no module 'absent'"),
        ("from tensorflow.python.ops import mathops", "nearest: math_ops"),
        ("import tensorflow.python.framework.absent", "tensorflow.python.framework"),
        ("from tensorflow.python.ops.nn import rely", "nearest: relu"),
        ("import tensorflow.trian", "nearest names: tf.train"),
        ("import tensorflow as tf\ntf.no_such_name", "no_such_name"),
        ("def f(:", "SyntaxError"),
    ],
)
def test_what_is_missing_is_said(tmp_path: Path, source: str, message: str) -> None:
    done = run(tmp_path, source)
    assert done.returncode != 0
    assert message in done.stderr
    assert done.stdout == ""


def test_a_missing_module_can_be_caught(tmp_path: Path) -> None:
    source = """
        try:
            from tensorflow.absent import layers
        except ImportError:
            print("without it")
        try:
            import tensorflow.absent
        except ModuleNotFoundError:
            print("without it")
    """
    assert run(tmp_path, source).stdout == "without it\n" * 2


def test_a_script_that_is_not_there(tmp_path: Path) -> None:
    done = start(tmp_path, "absent.py")
    assert done.returncode == 2
    assert "'absent.py': No such file" in done.stderr


LEGACY = """
    import numpy as np, collections, time
    from scipy.misc import imresize
    import beside
    print(np.int, time.clock() > 0, isinstance({}, collections.Mapping), beside.VALUE)
"""


def test_the_program_gets_back_what_is_gone(tmp_path: Path) -> None:
    (tmp_path / "beside.py").write_text(
        "import numpy\nVALUE = numpy.float\n", encoding="utf-8"
    )
    done = run(tmp_path, LEGACY)
    assert done.stdout == "<class 'int'> True True <class 'float'>\n"
    said = done.stderr.splitlines()
    assert "--no-legacy turns this off" in said[0]
    assert [line.split()[0] for line in said[1:]] == [
        "scipy.misc.imresize",
        "numpy.float",
        "numpy.int",
        "time.clock",
        "collections.Mapping",
    ]


def test_or_not(tmp_path: Path) -> None:
    (tmp_path / "old.py").write_text("import numpy as np\nnp.int\n", encoding="utf-8")
    done = start(tmp_path, "--no-legacy", "old.py")
    assert done.returncode == 1
    assert "module 'numpy' has no attribute 'int'" in done.stderr


def test_python_2_is_recognized(tmp_path: Path) -> None:
    (tmp_path / "beside.py").write_text("print 'x'\n", encoding="utf-8")
    for source in ("print 'x'\n", "import beside\n", "xrange(3)\n"):
        done = run(tmp_path, source)
        assert done.returncode != 0
        assert "futurize -w" in done.stderr
