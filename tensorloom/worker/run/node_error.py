"""Turns an exception into the error of the node that raised it."""

from __future__ import annotations

import struct
from collections.abc import Iterable
from types import FrameType
from typing import TYPE_CHECKING, Any

from tensorloom.framework import errors
from tensorloom.framework.runtime.resource import Resource

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph_ir import Node
    from tensorloom.worker.compile.generated_code import Code

# The global name under which generated source finds its `Code`s, by file name.
CODES = "__codes__"
# What a program did not write: its values leave a part of the graph there.
_ENDS = frozenset(["_Send", "_HostSend", "_Retval"])


def annotated(error: Exception, codes: Iterable[Code]) -> Exception:
    """The error as TensorFlow raises it, with node, device and input shapes.

    The client puts the source line where it says `{{node NAME}}`, or
    `{{function_node FUNCTION NAME}}` of a node in a function that a kernel called, for
    example of a pipeline's elements. An error that was annotated already, in a piece
    inside this one, stays as it is. `raised` of the result is `error`.
    """
    if getattr(error, "node_name", None) is not None:
        return error
    calls = _failed_nodes(error, codes)
    converted = to_op_error(error)
    if not calls:
        return converted
    code, node, frame = calls[-1]
    # What a value could not be sent or fetched for is said of the node that gives it.
    name = node.inputs[0][0] if node.op in _ENDS else node.name
    mark = f"node {name}"
    if code.function_name is not None:
        mark = f"function_node {code.function_name} {name}"
    message = f"{converted.message}\n\t [[{{{{{mark}}}}}]]"
    if node.op in _ENDS:
        message += f" (on {code.device})"
        shapes = ""
    else:
        message += f" (op {node.op}, on {code.device})"
        shapes = _input_shapes(node, code, frame)
    if shapes:
        message += f"\n\t inputs: {shapes}"
    outer = next((n for c, n, _ in calls if c.function_name is None), node)
    if outer is not node:
        message += f"\n\t [[{{{{node {outer.name}}}}}]]"
    code_number = converted.error_code or errors.UNKNOWN
    result = errors.make_exception(None, None, message, code_number)
    name = name if outer is node else outer.name
    result.node_name = name  # type: ignore[attr-defined]
    result.raised = error  # type: ignore[attr-defined]
    result.__cause__ = error if converted is not error else error.__cause__
    return result


def refused(
    error: errors.OpError, name: str, op_type: str, device: str
) -> errors.OpError:
    """An error of no generated code (a kernel cannot be made), with its node."""
    if "[[" in error.message:
        return error
    message = f"{error.message}\n\t [[{{{{node {name}}}}}]] (op {op_type}, on {device})"
    code = error.error_code or errors.UNKNOWN
    return errors.make_exception(None, None, message, code)


# What torch and NumPy say of sizes beyond any memory.
_NO_MEMORY = (
    "allocate",
    "out of memory",
    "array is too big",
    "Maximum allowed dimension exceeded",
    "Storage size calculation overflowed",
)


# What torch says when a device or one of its libraries fails, whatever the arguments.
_BROKEN_DEVICE = ("CUDA error", "CUBLAS_STATUS", "CUDNN_STATUS", "cuDNN error")


# What Python and NumPy say of a scalar where a vector is expected, and the reverse.
_WRONG_RANK = (
    "0-dimensional",
    "has no len()",
    "len() of unsized object",
    "cannot unpack non-iterable",
    "is not iterable",
    "only integer scalar arrays",
    "not supported between instances of 'list' and",
    "unhashable type: 'list'",
    "must be a string or a real number, not 'list'",
    "'numpy.ndarray' object has no attribute 'decode'",
)


def to_op_error(error: Exception) -> errors.OpError:
    """Any exception of a kernel as one of `tf.errors`."""
    if isinstance(error, errors.OpError):
        return error
    text = str(error) or type(error).__name__
    if isinstance(error, MemoryError) or any(sign in text for sign in _NO_MEMORY):
        return errors.ResourceExhaustedError(None, None, f"OOM: {text}")
    if "does not have a deterministic implementation" in text:
        return errors.UnimplementedError(None, None, text)
    if isinstance(error, RuntimeError) and any(sign in text for sign in _BROKEN_DEVICE):
        return errors.InternalError(None, None, text)
    if isinstance(error, RuntimeError | ValueError | IndexError | OverflowError):
        return errors.InvalidArgumentError(None, None, text)
    if isinstance(error, struct.error):  # a number that a format has no room for
        return errors.InvalidArgumentError(None, None, text)
    if isinstance(error, AttributeError) and isinstance(error.obj, Resource):
        return errors.InvalidArgumentError(
            None,
            None,
            "Trying to access resource using the wrong type: "
            f"'{error.obj.name}' is a {type(error.obj).__name__}",
        )
    if isinstance(error, TypeError | AttributeError) and any(
        sign in text for sign in _WRONG_RANK
    ):
        return errors.InvalidArgumentError(None, None, text)
    return errors.InternalError(None, None, f"{type(error).__name__}: {text}")


def _failed_nodes(
    error: Exception, codes: Iterable[Code]
) -> list[tuple[Code, Node, FrameType]]:
    """The nodes whose lines of generated source are in the traceback.

    The first one is of one of `codes`, the piece's own; those after it are in the
    functions that its kernel called.
    """
    own = {code.filename: code for code in codes}
    found: list[tuple[Code, Node, FrameType]] = []
    traceback = error.__traceback__
    while traceback is not None:
        frame = traceback.tb_frame
        name = frame.f_code.co_filename
        code = own.get(name) or frame.f_globals.get(CODES, {}).get(name)
        if code is not None:
            node = code.node_at(traceback.tb_lineno)
            if node is not None:
                found.append((code, node, frame))
        traceback = traceback.tb_next
    return found


def _input_shapes(node: Node, code: Code, frame: FrameType) -> str:
    """`a:0 float32[2,3], ...` of what the node got, from the failed frame."""
    line = code.source.splitlines()[frame.f_lineno - 1]
    call = line.partition("(")[2].partition(") if ")[0]
    names = [n for n in call.rstrip(")").replace(" ", "").split(",") if n]
    values = [_named_value(frame, name) for name in names if name != "context"]
    if len(values) - len(node.inputs) not in (0, 1):  # an `out` may be the last
        return ""
    return ", ".join(
        f"{name}:{index} {_format(value)}"
        for (name, index), value in zip(node.inputs, values, strict=False)
    )


def _named_value(frame: FrameType, name: str) -> Any:
    return frame.f_locals.get(name, frame.f_globals.get(name))


def _format(value: Any) -> str:
    shape = getattr(value, "shape", None)
    if shape is None:
        return type(value).__name__
    dtype = str(getattr(value, "dtype", "")).replace("torch.", "")
    dims = getattr(shape, "dims_tuple", shape)
    return f"{dtype}[{','.join(str(d) for d in dims or ())}]"
