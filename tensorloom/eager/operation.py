"""One op being put together: its attrs, those that its inputs tell, its checks.

As TensorFlow's `TFE_Op`: attrs are set by name without a check, an input that is added
sets the attrs of its argument, and what does not fit is an error when the op runs.
"""

from __future__ import annotations

import platform
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tensorloom.eager.placement import no_device
from tensorloom.framework import errors
from tensorloom.framework.devices import device_name
from tensorloom.framework.errors import invalid_argument
from tensorloom.framework.graph import node_attrs
from tensorloom.framework.registry import op_registry
from tensorloom.framework.types.dtype_words import dtype_word

if TYPE_CHECKING:
    from tensorloom.eager.context import Context
    from tensorloom.eager.tensor_handle import TensorHandle
    from tensorloom.framework.registry.op_registry import ArgDef, OpDef
    from tensorloom.framework.types.dtypes import DType

# What may be set for a call of a function, as TensorFlow's C API tells it.
_FUNCTION_ATTRS = {
    "executor_type": "string",
    "config_proto": "string",
}


class EagerOperation:
    """An op with its attrs, inputs and device, ready to run once or several times."""

    def __init__(self, context: Context, op_type: str) -> None:
        """Begins an op.

        Args:
          context: where it will run.
          op_type: a registered op, or a function of the context.

        Raises:
          errors.NotFoundError: it is neither.
        """
        self.context = context
        self.op_type = op_type
        self.attrs: dict[str, Any] = {}
        self.inputs: list[TensorHandle] = []
        self.device = ""
        op_def = op_registry.find(op_type)
        self.is_function = op_def is None
        if op_def is None:
            op_def = context.functions.signature(op_type)
        if op_def is None:
            raise errors.NotFoundError(
                None,
                None,
                f"'{op_type}' is neither a type of a primitive operation nor a name of "
                f"a function registered in binary running on {platform.node()}. Make "
                "sure the operation or function is registered in the binary running "
                "in this process.",
            )
        self.op_def: OpDef = op_def
        # The argument that the next input is of; None: no attr is inferred any more.
        self._next_arg: int | None = None if self.is_function else 0
        self._inferred: set[str] = set()

    # --- attrs and device ------------------------------------------------

    def set_device(self, name: str) -> None:
        """Asks for a device by a full or partial name; "" leaves the choice open.

        Raises:
          errors.InvalidArgumentError: it is no device name.
        """
        check_device_name(name, self.op_type)
        self.device = name

    def set_attr(self, name: str, value: Any) -> None:
        """Sets an attr to a decoded value; what is wrong with it is told by `run`."""
        self.attrs[name] = value

    def attr_type(self, name: str) -> tuple[str, bool]:
        """The type of an attr, such as `int`, and whether it is a list of that.

        Raises:
          errors.InvalidArgumentError: the op has no such attr.
        """
        if self.is_function:
            kind = _FUNCTION_ATTRS.get(name)
        else:
            attr = self.op_def.attrs.get(name)
            kind = None if attr is None else attr.type
        if kind is None:
            raise invalid_argument(
                f"Attribute '{name}' does not exist for this operation"
            )
        if kind.startswith("list("):
            return kind[5:-1], True
        return kind, False

    # --- inputs ----------------------------------------------------------

    def add_input(self, handle: TensorHandle) -> None:
        """Adds an input, whose dtype sets the attr of its argument.

        The elements of a list may be added like this, too: then the attrs of the list
        and of what follows must be set.
        """
        self.inputs.append(handle)
        arg = self._argument()
        if arg is None:
            return
        if arg.is_list:
            self._next_arg = None
        elif arg.type_attr:
            self._infer(arg.type_attr, handle.dtype)

    def add_input_list(self, handles: Sequence[TensorHandle]) -> None:
        """Adds a list of inputs: sets the attrs of its argument, which is a list.

        Raises:
          errors.InvalidArgumentError: the argument is one tensor.
        """
        self.inputs.extend(handles)
        arg = self._argument()
        if arg is None:
            return
        if not arg.is_list:
            raise invalid_argument(
                f"Invalid input list definition: argument '{arg.name}' of op "
                f"{self.op_type} is not a list"
            )
        types = [handle.dtype for handle in handles]
        if arg.type_list_attr:
            self._infer(arg.type_list_attr, types)
            return
        self._infer(arg.number_attr, len(types))
        if arg.type_attr and types:
            self._infer(arg.type_attr, types[0])

    def _argument(self) -> ArgDef | None:
        """The argument that is next, if attrs are inferred; of too many, none."""
        number = self._next_arg
        if number is None or number >= len(self.op_def.inputs):
            return None
        self._next_arg = number + 1
        return self.op_def.inputs[number]

    def _infer(self, attr: str, value: Any) -> None:
        if attr not in self._inferred:
            self._inferred.add(attr)
            self.attrs[attr] = value

    # --- lengths ---------------------------------------------------------

    def input_length(self, name: str) -> int:
        """How many tensors an input argument stands for.

        Raises:
          errors.InvalidArgumentError: there is none of that name, or attrs that it
            depends on are not set.
        """
        return self._length(self.op_def.inputs, name, "Input")

    def output_length(self, name: str) -> int:
        """How many tensors an output argument stands for; raises as `input_length`."""
        return self._length(self.op_def.outputs, name, "Output")

    def _length(self, args: Sequence[ArgDef], name: str, kind: str) -> int:
        for arg in args:
            if arg.name == name:
                try:
                    attrs = self.op_def.fill_defaults(self.attrs)
                    return len(op_registry.arg_types(arg, attrs))
                except KeyError as error:
                    raise invalid_argument(
                        f"NodeDef missing attr {error} of op {self.op_type}"
                    ) from None
        raise invalid_argument(f"{kind} '{name}' not found")

    # --- running ---------------------------------------------------------

    def run(self, room: int | None = None) -> list[TensorHandle]:
        """Runs the op; the outputs in order, those of lists one after another.

        Args:
          room: how many outputs there may be; None: any number.

        Raises:
          errors.InvalidArgumentError: attrs or inputs do not fit the op, it does not
            run without a graph, or it has more outputs than there may be.
          errors.NotFoundError: no device has a kernel.
          errors.OpError: what its kernel raised.
        """
        return self.context.run(self, room)

    def complete_attrs(self) -> dict[str, Any]:
        """The attrs, checked, with defaults.

        Raises:
          errors.NotFoundError: a dtype is not allowed. As in TensorFlow 1.15 a device
            that has a kernel is looked for first.
          errors.InvalidArgumentError: an attr is missing, unknown, or not allowed.
        """
        if self.is_function:
            return dict(self.attrs)
        for name, value in self.attrs.items():
            attr = self.op_def.attrs.get(name)
            if attr is None or attr.type != "type" or attr.allowed is None:
                continue
            if value not in attr.allowed:
                raise no_device(self.op_type, self.attrs)
        try:
            return node_attrs.complete_attrs(self.op_def, self.attrs)
        except errors.InvalidArgumentError as error:
            raise invalid_argument(f"{error.message} (op {self.op_type})") from None

    def check_inputs(self, attrs: dict[str, Any]) -> list[DType]:
        """The dtypes of the inputs, which the attrs must say, too.

        Raises:
          errors.InvalidArgumentError: the attrs say others, or another number.
        """
        given = [handle.dtype for handle in self.inputs]
        wanted = self.op_def.input_types(attrs)
        if len(wanted) != len(given):
            raise invalid_argument(
                f"expected {len(wanted)} inputs, got {len(given)} (op {self.op_type})"
            )
        for index, (want, have) in enumerate(zip(wanted, given, strict=True)):
            if want is not have:
                raise invalid_argument(
                    f"cannot compute {self.op_type} as input #{index}(zero-based) was "
                    f"expected to be a {dtype_word(want)} tensor but is a "
                    f"{dtype_word(have)} tensor"
                )
        return given


def check_device_name(name: str, op_type: str) -> None:
    """Checks a full or partial device name.

    Raises:
      errors.InvalidArgumentError: it is malformed.
    """
    try:
        device_name.parse(name)
    except ValueError:
        raise invalid_argument(
            f"Malformed device specification '{name}' in eager op: {op_type}"
        ) from None
