"""Full names of the devices that strategies are told of."""

from __future__ import annotations

from tensorloom.client.session.device_lib import list_local_devices
from tensorloom.framework.devices.device_spec import DeviceSpec
from tensorloom.framework.graph.default_graph import get_default_graph


def canonicalize(d: str | None, default: str | None = None) -> str:
    """A device's name with all that it leaves open: `/replica:0/task:0/device:CPU:0`.

    Args:
      d: a device's name.
      default: the name of a device from which is taken what `d` leaves open.

    Raises:
      AssertionError: the type is not in upper case.
    """
    spec = DeviceSpec.from_string(d or "")
    kind = spec.device_type
    if kind is not None and kind != kind.upper():
        raise AssertionError(f"Device type '{kind}' must be all-caps.")
    merged = DeviceSpec(replica=0, task=0, device_type="CPU", device_index=0)
    if default:
        merged = merged.make_merged_spec(DeviceSpec.from_string(default))
    return merged.make_merged_spec(spec).to_string()


def resolve(d: str | None) -> str:
    """`canonicalize`, with what is left open taken from the device that is open."""
    return canonicalize(d, default=current())


class _Probe:
    """What device functions are asked about where there is no operation."""

    name = type = ""

    def __init__(self) -> None:
        self._device = ""

    @property
    def device(self) -> str:
        return self._device

    @property
    def node_def(self) -> _Probe:
        return self

    @property
    def op(self) -> str:
        return ""

    def _set_device(self, name: str) -> None:
        self._device = name


def current() -> str:
    """The device that operations get at this point, "" for none."""
    graph = get_default_graph()
    static = graph._scopes.static_device
    if static is not None:
        return static
    probe = _Probe()
    return graph._device_for(probe)  # type: ignore[arg-type]


def get_host_for_device(device: str) -> str:
    """The CPU of a device's task."""
    spec = DeviceSpec.from_string(device)
    return DeviceSpec(
        job=spec.job,
        replica=spec.replica,
        task=spec.task,
        device_type="CPU",
        device_index=0,
    ).to_string()


def local_devices_from_num_gpus(num_gpus: int) -> tuple[str, ...]:
    """The names of so many GPUs; of the CPU if there are none."""
    gpus = tuple(f"/device:GPU:{index}" for index in range(num_gpus))
    return gpus or ("/device:CPU:0",)


def num_gpus() -> int:
    """How many GPUs this process has."""
    return sum(each.device_type == "GPU" for each in list_local_devices())
