"""The errors of running a graph, one class for each status code.

    Exception
    └── OpError                        what went wrong, at which operation
        ├── CancelledError          1  the step, call or session was cancelled
        ├── UnknownError            2  an error without a better class
        ├── InvalidArgumentError    3  a value, shape, dtype or name is wrong
        ├── DeadlineExceededError   4  a time limit passed
        ├── NotFoundError           5  a name, file, handle or device does not exist
        ├── AlreadyExistsError      6  it exists and must not
        ├── PermissionDeniedError   7  the caller may not
        ├── ResourceExhaustedError  8  memory, disk or a quota is used up
        ├── FailedPreconditionError 9  the state is not ready (uninitialized variable)
        ├── AbortedError           10  a concurrent event undid it: retry higher up
        ├── OutOfRangeError        11  past the end of an input
        ├── UnimplementedError     12  no kernel or feature for this case
        ├── InternalError          13  a broken invariant: our own bug
        ├── UnavailableError       14  a peer cannot be reached now: retry
        ├── DataLossError          15  stored or sent bytes are damaged
        └── UnauthenticatedError   16  the caller did not prove who it is
    ValueError
    └── InaccessibleTensorError        a tensor of another graph or function body
    TypeError
    └── OperatorNotAllowedInGraphError a Python operator that a symbolic tensor lacks

The numbers are TensorFlow's and gRPC's; 0 is success.
"""

from __future__ import annotations

import traceback
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Final

from tensorloom.framework.export import export, export_value

if TYPE_CHECKING:
    from types import TracebackType

OK: Final = 0
CANCELLED: Final = 1
UNKNOWN: Final = 2
INVALID_ARGUMENT: Final = 3
DEADLINE_EXCEEDED: Final = 4
NOT_FOUND: Final = 5
ALREADY_EXISTS: Final = 6
PERMISSION_DENIED: Final = 7
RESOURCE_EXHAUSTED: Final = 8
FAILED_PRECONDITION: Final = 9
ABORTED: Final = 10
OUT_OF_RANGE: Final = 11
UNIMPLEMENTED: Final = 12
INTERNAL: Final = 13
UNAVAILABLE: Final = 14
DATA_LOSS: Final = 15
UNAUTHENTICATED: Final = 16

for _name, _code in list(globals().items()):
    if _name.isupper() and isinstance(_code, int) and _name != "TYPE_CHECKING":
        export_value(_code, f"errors.{_name}")


class InaccessibleTensorError(ValueError):
    """A tensor is used in a graph or function body that cannot see it."""


class OperatorNotAllowedInGraphError(TypeError):
    """A symbolic tensor is used as a Python bool or iterated."""


@export("errors.OpError", "OpError")
class OpError(Exception):
    """A graph failed to run.

    `node_def` and `op` tell where, if known: nodes that the runtime made itself
    (Send, Recv) have no operation in the client's graph.
    """

    _CODE: ClassVar[int | None] = None  # of a class that stands for one code

    def __init__(
        self, node_def: Any, op: Any, message: str, error_code: int | None = None
    ) -> None:
        super().__init__()
        self._node_def = node_def
        self._op = op
        # What the stack trace is of, if not of `op`: (name, an operation in its body).
        self._origin: tuple[str, Any] | None = None
        self._message = message
        self._error_code = self._CODE if error_code is None else error_code

    @property
    def message(self) -> str:
        """What went wrong."""
        return self._message

    @property
    def op(self) -> Any:
        """The client's `Operation` that failed, or None."""
        return self._op

    @property
    def node_def(self) -> Any:
        """The NodeDef of the node that failed, or None."""
        if self._node_def is None and self._op is not None:
            return self._op.node_def
        return self._node_def

    @property
    def error_code(self) -> int | None:
        """The status code, one of this module's constants."""
        return self._error_code

    def __str__(self) -> str:
        if self._op is None:
            return self._message
        name, op = self._origin or (self._op.name, self._op)
        return self._message + _describe_origin(name, op)

    def __reduce__(self) -> tuple[Any, ...]:
        # The operation stays behind: it belongs to a graph of this process.
        arguments = (self._node_def, None, self._message, self._error_code)
        return _rebuild, (type(self), *arguments)


def _rebuild(
    cls: type[OpError], node_def: Any, op: Any, message: str, code: int | None
) -> OpError:
    error = cls.__new__(cls)
    OpError.__init__(error, node_def, op, message, code)
    return error


def _describe_origin(name: str, op: Any) -> str:
    """Where the user's program made the operation, and the one it derives from."""
    lines = [f"\n\nOriginal stack trace for {name!r}:\n"]
    lines += _format_traceback(op)
    origin = getattr(op, "_original_op", None)
    while origin is not None:
        lines.append(
            f"\n...which was originally created as op {origin.name!r}, defined at:\n"
        )
        lines += _format_traceback(origin)
        origin = getattr(origin, "_original_op", None)
    return "".join(lines)


def _format_traceback(op: Any) -> list[str]:
    frames = [tuple(frame)[:4] for frame in op.traceback]
    return traceback.format_list(frames)


@export("errors.CancelledError")
class CancelledError(OpError):
    """The operation was cancelled: its session closed, or another piece failed."""

    _CODE = CANCELLED


@export("errors.UnknownError")
class UnknownError(OpError):
    """An error without a better class, for example from a Python function."""

    def __init__(
        self,
        node_def: Any,
        op: Any,
        message: str,
        error_code: int | None = UNKNOWN,
    ) -> None:
        super().__init__(node_def, op, message, error_code)


@export("errors.InvalidArgumentError")
class InvalidArgumentError(OpError):
    """A value, shape, dtype, attribute or name is not valid."""

    _CODE = INVALID_ARGUMENT


def invalid_argument(message: str) -> InvalidArgumentError:
    """An InvalidArgumentError of no operation yet; who runs a node names it."""
    return InvalidArgumentError(None, None, message)


@export("errors.DeadlineExceededError")
class DeadlineExceededError(OpError):
    """A time limit passed before the operation finished."""

    _CODE = DEADLINE_EXCEEDED


@export("errors.NotFoundError")
class NotFoundError(OpError):
    """A named thing, file or key does not exist."""

    _CODE = NOT_FOUND


@export("errors.AlreadyExistsError")
class AlreadyExistsError(OpError):
    """A thing that is to be made exists already."""

    _CODE = ALREADY_EXISTS


@export("errors.PermissionDeniedError")
class PermissionDeniedError(OpError):
    """The caller is not permitted to do this."""

    _CODE = PERMISSION_DENIED


@export("errors.ResourceExhaustedError")
class ResourceExhaustedError(OpError):
    """Memory, disk space or a quota is used up."""

    _CODE = RESOURCE_EXHAUSTED


@export("errors.FailedPreconditionError")
class FailedPreconditionError(OpError):
    """The state is not ready, as when a variable is read before its initializer."""

    _CODE = FAILED_PRECONDITION


@export("errors.AbortedError")
class AbortedError(OpError):
    """A concurrent event undid the operation; retry at a higher level."""

    _CODE = ABORTED


@export("errors.OutOfRangeError")
class OutOfRangeError(OpError):
    """An input is read past its end, as a closed and empty queue."""

    _CODE = OUT_OF_RANGE


@export("errors.UnimplementedError")
class UnimplementedError(OpError):
    """There is no kernel for this case."""

    _CODE = UNIMPLEMENTED


@export("errors.InternalError")
class InternalError(OpError):
    """An invariant of the system is broken."""

    _CODE = INTERNAL


@export("errors.UnavailableError")
class UnavailableError(OpError):
    """A peer cannot be reached at present; retry with a pause."""

    _CODE = UNAVAILABLE


@export("errors.DataLossError")
class DataLossError(OpError):
    """Stored or transmitted bytes are lost or damaged."""

    _CODE = DATA_LOSS


@export("errors.UnauthenticatedError")
class UnauthenticatedError(OpError):
    """The request carries no valid credentials."""

    _CODE = UNAUTHENTICATED


_CODE_TO_EXCEPTION_CLASS: dict[int, type[OpError] | type[UnknownError]] = {
    CANCELLED: CancelledError,
    UNKNOWN: UnknownError,
    INVALID_ARGUMENT: InvalidArgumentError,
    DEADLINE_EXCEEDED: DeadlineExceededError,
    NOT_FOUND: NotFoundError,
    ALREADY_EXISTS: AlreadyExistsError,
    PERMISSION_DENIED: PermissionDeniedError,
    RESOURCE_EXHAUSTED: ResourceExhaustedError,
    FAILED_PRECONDITION: FailedPreconditionError,
    ABORTED: AbortedError,
    OUT_OF_RANGE: OutOfRangeError,
    UNIMPLEMENTED: UnimplementedError,
    INTERNAL: InternalError,
    UNAVAILABLE: UnavailableError,
    DATA_LOSS: DataLossError,
    UNAUTHENTICATED: UnauthenticatedError,
}
_EXCEPTION_CLASS_TO_CODE: dict[type[BaseException], int] = {
    cls: code for code, cls in _CODE_TO_EXCEPTION_CLASS.items()
}


@export("errors.exception_type_from_error_code")
def exception_type_from_error_code(
    error_code: int,
) -> type[OpError] | type[UnknownError]:
    """The class for a status code.

    Raises:
        KeyError: the code is 0 or unknown.
    """
    return _CODE_TO_EXCEPTION_CLASS[error_code]


@export("errors.error_code_from_exception_type")
def error_code_from_exception_type(cls: type[BaseException]) -> int | UnknownError:
    """The status code of an error class; warns and returns an error if it has none."""
    code = _EXCEPTION_CLASS_TO_CODE.get(cls)
    if code is not None:
        return code
    warnings.warn("Unknown class exception", stacklevel=2)
    return UnknownError(None, None, "Unknown class exception", None)


def make_exception(node_def: Any, op: Any, message: str, error_code: int) -> OpError:
    """The error for a status that arrived as code and message."""
    cls = _CODE_TO_EXCEPTION_CLASS.get(error_code)
    if cls is not None:
        return cls(node_def, op, message)
    warnings.warn(f"Unknown error code: {error_code:d}", stacklevel=2)
    return UnknownError(node_def, op, message, error_code)


@dataclass
class Status:
    """Outcome of a call: a code of this module, and a message if it is not OK."""

    code: int = OK
    message: str = ""


@export("errors.raise_exception_on_not_ok_status")
class raise_exception_on_not_ok_status:
    """Context manager that lends a `Status` and raises what it holds at the end.

    Raises:
        OpError: of the class for the status' code, unless the code is OK.
    """

    def __enter__(self) -> Status:
        self._status = Status()
        return self._status

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        status = self._status
        del self._status
        if status.code != OK:
            raise make_exception(None, None, status.message, status.code)
