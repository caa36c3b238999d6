"""Checks that the signature of a function fits the node that runs it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tensorloom.framework import errors

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph_ir import FunctionIR
    from tensorloom.framework.types.dtypes import DType


def check_arguments(function: FunctionIR, given: Sequence[DType]) -> None:
    """The function takes values of these types.

    Raises:
      InvalidArgumentError: it takes others, or another number of them.
    """
    wanted = function.arg_types
    if len(given) != len(wanted):
        raise errors.InvalidArgumentError(
            None,
            None,
            f"Function {function.name} expects {len(wanted)} arguments, "
            f"got {len(given)}",
        )
    for index, (want, have) in enumerate(zip(wanted, given, strict=True)):
        if want.base_dtype != have.base_dtype:
            raise errors.InvalidArgumentError(
                None,
                None,
                f"Function {function.name} expects arg[{index}] to be "
                f"{want.base_dtype.name} but {have.base_dtype.name} is provided",
            )


def check_results(function: FunctionIR, wanted: Sequence[DType]) -> None:
    """The function gives what its node says that it outputs.

    Raises:
      InternalError: it gives other types, or another number of results.
    """
    given = function.output_types
    if len(given) != len(wanted):
        raise errors.InternalError(
            None,
            None,
            f"Expect function {function.name} to produce {len(wanted)} tensors, but "
            f"get {len(given)}",
        )
    for index, (want, have) in enumerate(zip(wanted, given, strict=True)):
        if want.base_dtype != have.base_dtype:
            raise errors.InternalError(
                None,
                None,
                f"Expect {index}-th output of function {function.name} is of type "
                f"{want.base_dtype.name} but get {have.base_dtype.name}",
            )


def check_loop(test: FunctionIR, body: FunctionIR, types: Sequence[DType]) -> None:
    """Test and body take the loop variables; the body gives them for the next time.

    Raises:
      InvalidArgumentError: they do not.
    """
    check_arguments(test, types)
    check_arguments(body, types)
    if len(test.output_types) != 1:
        raise errors.InvalidArgumentError(
            None,
            None,
            "Expected a single scalar return value from WhileOp cond, got "
            f"{len(test.output_types)} tensors.",
        )
    if len(body.output_types) != len(types):
        raise errors.InvalidArgumentError(
            None,
            None,
            f"While loop body returned {len(body.output_types)} arguments. "
            f"Expected: {len(types)}",
        )
    check_arguments(body, body.output_types)
