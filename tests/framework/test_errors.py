"""The tree of errors."""

from __future__ import annotations

import pickle
from dataclasses import dataclass, field
from typing import Any

import pytest

from tensorloom.framework import errors

CODES = {
    "CANCELLED": (1, errors.CancelledError),
    "UNKNOWN": (2, errors.UnknownError),
    "INVALID_ARGUMENT": (3, errors.InvalidArgumentError),
    "DEADLINE_EXCEEDED": (4, errors.DeadlineExceededError),
    "NOT_FOUND": (5, errors.NotFoundError),
    "ALREADY_EXISTS": (6, errors.AlreadyExistsError),
    "PERMISSION_DENIED": (7, errors.PermissionDeniedError),
    "RESOURCE_EXHAUSTED": (8, errors.ResourceExhaustedError),
    "FAILED_PRECONDITION": (9, errors.FailedPreconditionError),
    "ABORTED": (10, errors.AbortedError),
    "OUT_OF_RANGE": (11, errors.OutOfRangeError),
    "UNIMPLEMENTED": (12, errors.UnimplementedError),
    "INTERNAL": (13, errors.InternalError),
    "UNAVAILABLE": (14, errors.UnavailableError),
    "DATA_LOSS": (15, errors.DataLossError),
    "UNAUTHENTICATED": (16, errors.UnauthenticatedError),
}


@dataclass
class Operation:
    name: str
    traceback: list[tuple[str, int, str, str | None]] = field(default_factory=list)
    _original_op: Any = None


@pytest.mark.parametrize("name", CODES)
def test_class_and_code_belong_together(name: str) -> None:
    code, cls = CODES[name]
    assert getattr(errors, name) == code
    assert errors.exception_type_from_error_code(code) is cls
    assert errors.error_code_from_exception_type(cls) == code
    error = cls("node def", None, "what went wrong")
    assert isinstance(error, errors.OpError)
    assert error.error_code == code
    assert error.message == str(error) == "what went wrong"
    assert error.node_def == "node def"
    assert error.op is None
    assert type(errors.make_exception(None, None, "m", code)) is cls


def test_unknown_codes_and_classes() -> None:
    with pytest.raises(KeyError):
        errors.exception_type_from_error_code(99)
    with pytest.warns(UserWarning, match="Unknown error code: 99"):
        error = errors.make_exception(None, None, "m", 99)
    assert type(error) is errors.UnknownError
    assert error.error_code == 99
    with pytest.warns(UserWarning, match="Unknown class"):
        errors.error_code_from_exception_type(KeyError)


def test_text_tells_where_the_operation_was_made() -> None:
    origin = Operation("x", [("model.py", 3, "build", "x = f()")])
    op = Operation("y", [("train.py", 7, "<module>", "y = g(x)")], origin)
    text = str(errors.InvalidArgumentError(None, op, "bad shape"))
    assert text.startswith("bad shape\n\nOriginal stack trace for 'y':\n")
    assert 'File "train.py", line 7, in <module>\n    y = g(x)' in text
    assert "...which was originally created as op 'x', defined at:" in text
    assert 'File "model.py", line 3, in build' in text


@pytest.mark.parametrize("code", range(1, 17))
def test_pickles_without_its_operation(code: int) -> None:
    error = errors.make_exception("node", Operation("y"), "message", code)
    twin = pickle.loads(pickle.dumps(error))
    assert type(twin) is type(error)
    assert (twin.message, twin.node_def, twin.op) == ("message", "node", None)
    assert twin.error_code == code


def test_status_context() -> None:
    with errors.raise_exception_on_not_ok_status() as status:
        assert status.code == errors.OK
    with (
        pytest.raises(errors.NotFoundError, match="no file"),
        errors.raise_exception_on_not_ok_status() as status,
    ):
        status.code, status.message = errors.NOT_FOUND, "no file"
