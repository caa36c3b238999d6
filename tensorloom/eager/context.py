"""What ops that run one at a time share: devices, functions, resources, kernels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any

from tensorloom.cluster.local import LOCAL_TASK
from tensorloom.devices.device import make_devices
from tensorloom.eager.attr_values import given_key, set_converted
from tensorloom.eager.cluster import Cluster
from tensorloom.eager.function_library import FunctionLibrary
from tensorloom.eager.kernel_cache import KernelCache
from tensorloom.eager.operation import EagerOperation
from tensorloom.eager.placement import Placement, PlacementPolicy
from tensorloom.eager.run_record import RunRecord
from tensorloom.eager.step_state import StepState
from tensorloom.eager.tensor_handle import TensorHandle
from tensorloom.framework import errors
from tensorloom.framework.errors import invalid_argument
from tensorloom.framework.graph import node_attrs
from tensorloom.framework.registry.op_policy import ALLOW_ALL
from tensorloom.framework.runtime.resource import ResourceManager, SessionResources
from tensorloom.framework.runtime.session_config import SessionConfig
from tensorloom.framework.types.array_conversion import to_ndarray
from tensorloom.framework.types.dtypes import as_dtype
from tensorloom.framework.types.message_tensor import MessageTensor

if TYPE_CHECKING:
    from tensorloom.devices.device import Device
    from tensorloom.eager.kernel_cache import Kernel
    from tensorloom.eager.remote_device import RemoteDevice
    from tensorloom.framework.registry.op_policy import OpPolicy
    from tensorloom.protos.config_pb2 import RunMetadata


class Context:
    """Runs ops, one at a time, on devices of this process or of a cluster it joined.

    Many threads may use it.

    A kernel is made once for an op with its attrs, dtypes and device, and kept: so a
    random op with seeds goes on in its sequence, as in TensorFlow.
    """

    def __init__(
        self,
        config: SessionConfig | None = None,
        *,
        soft_placement: bool | None = None,
        policy: PlacementPolicy = PlacementPolicy.SILENT,
        op_policy: OpPolicy = ALLOW_ALL,
    ) -> None:
        """Makes a context.

        Args:
          config: counts of devices and their options, as for a session.
          soft_placement: whether an op goes elsewhere if the wanted device cannot run
            it; None: what `config` says.
          policy: about inputs that are on other devices than their op.
          op_policy: refuses ops by name.

        Raises:
          errors.NotFoundError: there is to be no CPU.
        """
        self._config = SessionConfig() if config is None else config
        if soft_placement is None:
            soft_placement = self._config.allow_soft_placement
        self._op_policy = op_policy
        self.functions = FunctionLibrary()
        self._all_resources = ResourceManager()
        self._resources = SessionResources(self._all_resources, "eager")
        self._record: RunRecord | None = None
        self._cluster: Cluster | None = None
        devices = make_devices(
            LOCAL_TASK, self._config.device_count, self._config.device_options()
        )
        self._use(devices, soft_placement, policy)

    def _use(
        self, devices: Sequence[Device], soft: bool, policy: PlacementPolicy
    ) -> None:
        """Begins to run ops on these devices, and those of a cluster's other tasks."""
        for device in devices:
            device.task_devices = frozenset(d.name for d in devices)
        cluster = self._cluster
        others = [] if cluster is None else cluster.remote_devices
        self.placement = Placement([*devices, *others], soft, policy)
        self._steps = StepState(self._resources, devices)
        self._kernels = KernelCache(
            self.placement,
            self.functions,
            self._resources,
            self._steps,
            self._op_policy,
            cluster,
        )
        self._by_given = self._kernels.by_given
        self._is_single = self.placement.is_single
        self._is_plain = self._is_single and self._record is None

    def join(self, server_def: Any) -> None:
        """Becomes a task of a cluster: ops run on devices of its other tasks, too.

        Devices get the names of the cluster, and kernels are made anew. A context that
        was in a cluster leaves it first: values in other tasks are gone then.

        Args:
          server_def: a `ServerDef`: the cluster, and which of its tasks this is. The
            task's server is started.

        Raises:
          errors.InvalidArgumentError: its task is not in its cluster.
          errors.FailedPreconditionError: the context is closed.
          errors.UnknownError: the task's address cannot be listened on.
          errors.OpError: another task cannot be reached.
        """
        self._kernels.check_open()
        self._leave()
        cluster = Cluster(server_def, self._config, self._kept)
        self._cluster = cluster
        self._kernels.clear()
        placement = self.placement
        self._use(cluster.local_devices, placement.soft, placement.default_policy)

    def _leave(self) -> None:
        if self._cluster is not None:
            self._cluster.close()

    def _kept(self, handle: TensorHandle, device: RemoteDevice) -> TensorHandle:
        """The value as a handle of another task's device."""
        op = EagerOperation(self, "Identity")
        op.set_device(device.name)
        op.add_input(handle)
        (kept,) = self._kernels.kernel_of(op).run([handle])
        return kept

    # --- devices and values ----------------------------------------------

    @property
    def devices(self) -> list[Device]:
        """The devices, CPUs first."""
        return list(self.placement.devices)

    def device_named(self, name: str) -> Device:
        """The device of a full or partial name; the CPU for "".

        Raises:
          errors.InvalidArgumentError: there is none.
        """
        return self.placement.named(name)

    def handle(self, value: Any, dtype: Any = None, device: str = "") -> TensorHandle:
        """A copy of a Python or NumPy value, by the rules of `tf.constant`.

        Args:
          value: numbers, strings, lists of them, or an array.
          dtype: of the handle; None: that of the value.
          device: a full or partial name; "" is the CPU.

        Raises:
          TypeError, ValueError: it cannot be converted.
          errors.InvalidArgumentError: there is no such device.
        """
        self._kernels.check_open()
        wanted = None if dtype is None else as_dtype(dtype)
        array = to_ndarray(value, wanted)
        found = as_dtype(array.dtype) if wanted is None else wanted
        made = TensorHandle.of_array(array, found, self.placement.cpu)
        return made.copy_to_device(self.device_named(device))

    # --- running ---------------------------------------------------------

    def execute(
        self,
        op_type: str,
        inputs: Sequence[Any] = (),
        attrs: Mapping[str, Any] | None = None,
        device: str = "",
    ) -> list[TensorHandle]:
        """Runs one op.

        Args:
          op_type: a registered op, or a function that was added.
          inputs: a handle, or a list of handles, for each argument. Where the elements
            of a list are given one by one, attrs say how many there are and of what.
          attrs: by name, as Python values: dtypes, shapes, names of functions, too.
            Those that inputs tell, and those with defaults, may be left out.
          device: a full or partial name; "": where the resources among the inputs are,
            else on the best device that has a kernel.

        Returns:
          The outputs in order, those of lists one after another.

        Raises:
          errors.InvalidArgumentError: attrs or inputs do not fit, or the op does not
            run without a graph.
          errors.NotFoundError: there is no such op, or no device that has a kernel.
          errors.FailedPreconditionError: the context is closed.
          errors.OpError: what the kernel raised. The message ends with `[Op:name]`.
          TypeError: an input is no handle.
        """
        key: Any = None
        try:
            # Dtypes are there once each: their identity costs less than their hash.
            types = [id(handle.dtype) for handle in inputs]
            key = (op_type, device, given_key(attrs) if attrs else None, *types)
            if not self._is_single:
                key = (*key, *[handle.device.name for handle in inputs])
            kernel = self._by_given.get(key)
        except (AttributeError, TypeError):  # a list of inputs, or an array as attr
            kernel, key = None, None
        try:
            if kernel is None:
                return self._execute_anew(op_type, inputs, attrs, device, key)
            if self._is_plain:
                return kernel.run(inputs)
            return self._run_kernel(kernel, inputs)
        except errors.OpError as error:
            message = f"{error.message} [Op:{op_type}]"
            code = error.error_code or errors.UNKNOWN
            raise errors.make_exception(None, None, message, code) from error

    def _execute_anew(
        self,
        op_type: str,
        inputs: Sequence[Any],
        attrs: Mapping[str, Any] | None,
        device: str,
        key: Any,
    ) -> list[TensorHandle]:
        op = EagerOperation(self, op_type)
        op.set_device(device)
        for name, value in (attrs or {}).items():
            set_converted(op, name, value)
        for value in inputs:
            if isinstance(value, (list, tuple)):
                op.add_input_list([_checked(item) for item in value])
            else:
                op.add_input(_checked(value))
        if op_type == "Const":
            return self.run(op)
        kernel = self._kernels.kernel_of(op)
        if key is not None:
            self._kernels.keep(key, kernel)
        return self._run_kernel(kernel, op.inputs)

    def run(self, op: EagerOperation, room: int | None = None) -> list[TensorHandle]:
        """Runs an op that was put together; arguments and errors of its `run`."""
        if op.op_type == "Const":
            constant = self._constant(op)
            _check_room(1, room)
            return [constant]
        kernel = self._kernels.kernel_of(op)
        _check_room(len(kernel.node.output_types), room)
        return self._run_kernel(kernel, op.inputs)

    def _run_kernel(
        self, kernel: Kernel, inputs: Sequence[TensorHandle]
    ) -> list[TensorHandle]:
        if not self._is_single:
            inputs = self.placement.moved(inputs, kernel.device, kernel.node.op)
        if self._record is not None:
            return self._record.run(kernel, inputs)
        return kernel.run(inputs)

    def _constant(self, op: EagerOperation) -> TensorHandle:
        """A Const is its attr: nothing is kept of it."""
        self._kernels.check_open()
        attrs = op.complete_attrs()
        op.check_inputs(attrs)
        if isinstance(attrs["value"], MessageTensor):
            raise invalid_argument(
                f"A constant of dtype {attrs['dtype'].name} has no value without a "
                "graph"
            )
        node_attrs.check_constant(attrs)
        device = self.device_named(op.device)
        made = TensorHandle.of_array(attrs["value"], attrs["dtype"], self.placement.cpu)
        return made.copy_to_device(device)

    def clear_kernel_cache(self) -> None:
        """Forgets all kernels, and with them where sequences of random numbers were."""
        self._kernels.clear()

    # --- functions -------------------------------------------------------

    def add_function(self, definition: Any, gradient: str = "") -> None:
        """Adds a function, a `FunctionDef` or its bytes; see `FunctionLibrary.add`."""
        self._kernels.check_open()
        self.functions.add(definition, gradient)

    def remove_function(self, name: str) -> None:
        """Removes a function, and the kernels that call functions.

        Raises:
          errors.NotFoundError: there is none of that name.
        """
        self.functions.remove(name)
        self._kernels.forget_calls()

    def has_function(self, name: str) -> bool:
        """Whether a function of that name was added."""
        return name in self.functions

    # --- steps and records -----------------------------------------------

    def start_step(self) -> None:
        """Begins a step: tensor arrays and stacks made from now on end with it."""
        self._steps.begin()

    def end_step(self) -> None:
        """Ends the step that the last `start_step` began."""
        self._steps.end()

    def enable_run_metadata(self) -> None:
        """Records from now on when and where each op runs."""
        if self._record is None:
            self._record = RunRecord()
        self._is_plain = False

    def disable_run_metadata(self) -> None:
        """Stops that, and forgets what was recorded."""
        self._record = None
        self._is_plain = self._is_single

    def export_run_metadata(self) -> RunMetadata:
        """What was recorded since the last call, as a message."""
        return (self._record or RunRecord()).take()

    # --- the end ---------------------------------------------------------

    def close(self) -> None:
        """Wakes ops that wait, and frees the resources. Handles stay readable."""
        if not self._kernels.close():
            return
        self._steps.cancel(
            errors.CancelledError(None, None, "The eager context was closed.")
        )
        self._leave()
        self._resources.end()
        self._all_resources.cleanup()

    def __enter__(self) -> Context:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()


def _checked(value: Any) -> TensorHandle:
    if not isinstance(value, TensorHandle):
        raise TypeError(
            "provided list of inputs contains objects other than 'TensorHandle': "
            f"{type(value).__name__}"
        )
    return value


def _check_room(count: int, room: int | None) -> None:
    if room is not None and count > room:
        raise invalid_argument(f"Expecting {count} outputs, but *num_retvals is {room}")
