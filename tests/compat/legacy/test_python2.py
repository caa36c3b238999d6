"""Sources of Python 2 are recognized where Python 3 stops at them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tensorloom.compat.legacy import python2


def _message(source: str) -> str:
    try:
        compile(source, "program.py", "exec")
    except SyntaxError as error:
        return python2.message_for(error, source)
    return "it is Python 3"


@pytest.mark.parametrize(
    ("source", "what"),
    [
        ('x = 1\nprint "x"\n', "line 2: print is a statement"),
        ("import sys\nprint >>sys.stderr, 'x'\n", "it is Python 3"),
        ("try:\n  f()\nexcept E, e:\n  pass\n", "line 3: `except Error, name:`"),
        ('raise E, "no"\n', "line 1: `raise Error, message`"),
        ("exec 'x = 1'\n", "line 1: exec is a statement"),
        ("mode = 0777\n", "line 1: octal numbers"),
        ("n = 10L\n", "line 1: long numbers"),
        ("if a <> b: pass\n", "line 1: `<>`"),
        ("x = `y`\n", "line 1: backquotes"),
        ("s = ur'x'\n", "line 1: strings ur''"),
        ("if x:\n\ta = 1\n        b = 2\n", "tabs and blanks"),
        ("def f(:\n", ""),
        ('s = "print x"\ndef f(:\n', ""),
    ],
)
def test_syntax(source: str, what: str) -> None:
    message = _message(source)
    if what:
        assert what in message
    else:
        assert message == ""


def test_the_error_names_the_tools(tmp_path: Path) -> None:
    path = tmp_path / "old.py"
    path.write_text("print 'x'\n", encoding="utf-8")
    with pytest.raises(SyntaxError) as caught:
        compile(path.read_text(encoding="utf-8"), str(path), "exec")
    python2.explain(caught.value)
    (note,) = caught.value.__notes__
    for tool in ("2to3", "python-modernize", "futurize"):
        assert tool in note


@pytest.mark.parametrize(
    ("source", "what"),
    [
        ("xrange(3)", "the name xrange"),
        ("{}.iteritems()", "the method iteritems"),
        ("import cPickle", "the module cPickle"),
        ("undefined_name", ""),
    ],
)
def test_names(source: str, what: str) -> None:
    with pytest.raises((NameError, AttributeError, ImportError)) as caught:
        exec(source, {})
    python2.explain_at_run_time(caught.value)
    notes = getattr(caught.value, "__notes__", [])
    assert [what in note for note in notes] == ([True] if what else [])
