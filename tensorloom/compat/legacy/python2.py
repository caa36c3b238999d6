"""Recognizes sources of Python 2, and says which tools rewrite them."""

from __future__ import annotations

import re
import sys
from typing import Final

# What Python 3 cannot parse, with what it is.
_SIGNS: Final = (
    (re.compile(r"^\s*print\s+[^=\s(]|^\s*print\s*>>"), "print is a statement"),
    (re.compile(r"^\s*print\s*\(.*\)\s*%"), "print is a statement"),
    (re.compile(r"^\s*except\s+[^:]+,\s*\w+\s*:"), "`except Error, name:`"),
    (re.compile(r"^\s*raise\s+\w[\w.]*\s*,\s*\S"), "`raise Error, message`"),
    (re.compile(r"^\s*exec\s+[^=\s(]"), "exec is a statement"),
    (re.compile(r"\b[uU][rR]['\"]"), "strings ur''"),
    (re.compile(r"(?<![\w.'\"])0\d+(?![\d.eExXjJ])"), "octal numbers like 0777"),
    (re.compile(r"\b\d+[lL]\b"), "long numbers like 10L"),
    (re.compile(r"<>"), "`<>` for `!=`"),
    (re.compile(r"`[^`]+`"), "backquotes for repr()"),
    (re.compile(r"\bdef\s+\w+\s*\([^)]*\(\s*\w+\s*,"), "tuples as parameters"),
    (re.compile(r"\blambda\s*\(\s*\w+\s*,"), "tuples as parameters"),
)
# Names and methods that only Python 2 has.
_NAMES: Final = frozenset(
    [
        "xrange",
        "unicode",
        "raw_input",
        "basestring",
        "long",
        "reduce",
        "unichr",
        "file",
        "execfile",
        "cmp",
        "apply",
        "buffer",
        "intern",
        "coerce",
        "reload",
    ]
)
_METHODS: Final = frozenset(
    [
        "iteritems",
        "iterkeys",
        "itervalues",
        "has_key",
        "viewitems",
        "viewkeys",
        "viewvalues",
    ]
)
_MODULES: Final = frozenset(
    [
        "cPickle",
        "cStringIO",
        "StringIO",
        "Queue",
        "urllib2",
        "urlparse",
        "ConfigParser",
        "HTMLParser",
        "httplib",
        "cookielib",
        "commands",
        "md5",
        "sets",
        "itertools.izip",
        "SocketServer",
        "__builtin__",
        "Tkinter",
        "tkMessageBox",
        "BaseHTTPServer",
        "SimpleHTTPServer",
        "copy_reg",
        "anydbm",
    ]
)


def _tools() -> str:
    """Tools that rewrite sources; 2to3 left Python with 3.13."""
    with_python = "`2to3 -w FILE` (comes with this Python)"
    without = "`2to3 -w FILE` of a Python 3.11 or 3.12"
    first = with_python if sys.version_info < (3, 13) else without
    return (
        f"rewrite it with {first}, `python-modernize -w FILE` (pip install modernize) "
        "or `futurize -w FILE` (pip install future)"
    )


def signs(source: str) -> list[tuple[int, str]]:
    """The lines of a source that only Python 2 understands, with what is on them."""
    found = []
    for number, line in enumerate(source.splitlines(), 1):
        if line.lstrip().startswith("#"):
            continue
        for pattern, what in _SIGNS:
            if pattern.search(line):
                found.append((number, what))
                break
    return found


def message_for(error: SyntaxError, source: str) -> str:
    """What to say of a source that does not parse; "" if it is none of Python 2.

    The line that Python stopped at has to be one of the signs: others may stand in
    strings.
    """
    near = {error.lineno or 0, (error.lineno or 0) - 1}
    mixed = isinstance(error, TabError)
    here = [(line, what) for line, what in signs(source) if line in near]
    if mixed:
        here = [(error.lineno or 1, "tabs and blanks are mixed")]
    if not here:
        return ""
    line, what = here[0]
    return (
        f"This is a source of Python 2 (line {line}: {what}), and tensorloom runs on "
        f"Python 3: {_tools()}."
    )


def explain(error: SyntaxError) -> None:
    """Adds to the error what to do about a source of Python 2."""
    if error.filename is None:
        return
    try:
        with open(error.filename, encoding="utf-8", errors="replace") as file:
            source = file.read()
    except OSError:
        return
    text = message_for(error, source)
    if text:
        error.add_note(text)


def explain_at_run_time(error: BaseException) -> None:
    """The same for names, methods and modules that only Python 2 has."""
    name = getattr(error, "name", None) or ""
    if isinstance(error, NameError) and name in _NAMES:
        what = f"the name {name}"
    elif isinstance(error, AttributeError) and name in _METHODS:
        what = f"the method {name}"
    elif isinstance(error, ModuleNotFoundError) and name in _MODULES:
        what = f"the module {name}"
    else:
        return
    error.add_note(f"Python 2 had {what}; Python 3 does not: {_tools()}.")
