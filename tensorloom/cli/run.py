"""`tensorloom run SCRIPT [ARGS]`: an unmodified TensorFlow 1 program on tensorloom."""

from __future__ import annotations

import argparse
import builtins
import sys
from collections.abc import Sequence
from pathlib import Path
from types import CodeType, ModuleType

from tensorloom.cli.command import INTERRUPTED, Command
from tensorloom.compat.legacy import python2


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--no-legacy",
        action="store_true",
        help="do not give the program back what Python, NumPy and SciPy took away",
    )
    parser.add_argument("script", help="a Python program that imports tensorflow")
    parser.add_argument(
        "arguments", nargs=argparse.REMAINDER, help="the program's own arguments"
    )


def _execute(options: argparse.Namespace) -> int:
    legacy = not options.no_legacy
    return run_script(options.script, options.arguments, legacy=legacy)


COMMAND = Command(
    name="run",
    summary="run a program in which 'import tensorflow' means tensorloom",
    add_arguments=_add_arguments,
    execute=_execute,
)


def run_script(script: str, arguments: Sequence[str], legacy: bool = True) -> int:
    """Runs `script` as `python script arguments...` would; returns the exit status.

    Args:
      script: the path of the program.
      arguments: its arguments.
      legacy: give it back what Python, NumPy and SciPy have taken away.

    The process is the script's from here on: its `__main__`, `sys.argv` and `sys.path`
    stay, since threads and exit handlers of the script may outlive its last line.
    """
    # Here and not above: it loads the package.
    from tensorloom.compat.module_paths.finder import install_alias

    code = _compiled(script, legacy)
    if code is None:
        return 2
    install_alias()
    sys.argv = [script, *arguments]
    sys.path[0] = str(Path(script).resolve().parent)
    main_module = ModuleType("__main__")
    main_module.__file__ = script
    main_module.__dict__["__builtins__"] = builtins
    sys.modules["__main__"] = main_module
    if legacy:
        from tensorloom.compat.legacy import finder

        finder.install(main_module)
    try:
        exec(code, main_module.__dict__)
    except Exception as exc:
        python2.explain_at_run_time(exc)
        return _report(exc, status=1)
    except KeyboardInterrupt as exc:
        return _report(exc, status=INTERRUPTED)
    return 0


def _compiled(script: str, legacy: bool) -> CodeType | None:
    """The script's code; None after a message if it cannot be read or parsed."""
    try:
        source = Path(script).read_bytes()
    except OSError as exc:
        reason = exc.strerror or str(exc)
        print(f"tensorloom run: cannot read {script!r}: {reason}", file=sys.stderr)
        return None
    try:
        if legacy:
            from tensorloom.compat.legacy import detours

            return detours.compiled(source, script)
        return compile(source, script, "exec", dont_inherit=True)
    except (SyntaxError, ValueError) as exc:
        if isinstance(exc, SyntaxError):
            python2.explain(exc)
        sys.excepthook(type(exc), exc.with_traceback(None), None)
        return None


def _report(exc: BaseException, status: int) -> int:
    """Shows the exception as Python would, without the frame of `run_script`."""
    assert exc.__traceback__ is not None
    shown = exc.with_traceback(exc.__traceback__.tb_next)
    sys.excepthook(type(shown), shown, shown.__traceback__)
    return status
