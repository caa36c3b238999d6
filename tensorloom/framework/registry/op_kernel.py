"""The kernel registry: what each op computes, chosen by op, device type and dtype.

Values at run time are of two kinds. A *device* value is a torch tensor. A *host* value
is NumPy's: an ndarray, or a NumPy scalar for rank 0; strings are object arrays of
bytes (0-d for a scalar), resources are the `Resource` objects themselves, variants are
any Python object. `@kernel` registers a function over device values, `@host_kernel`
one over host values. Which kind a node uses is decided once, when its piece is
compiled (`worker/compile/memory.py`).

A kernel is a factory: it is called once for a node with an `OpKernelConstruction`,
decodes attrs there, and returns the function that runs in each step.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final

from tensorloom.framework.registry import late_modules
from tensorloom.framework.types.dtypes import DType
from tensorloom.framework.types.tensor_shape import TensorShape

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph_ir import FunctionIR, Node
    from tensorloom.framework.runtime.resource import ResourceManager

Compute = Callable[..., Any]
KernelFactory = Callable[["OpKernelConstruction"], Compute]


@dataclass(slots=True, eq=False)
class OpKernelConstruction:
    """What a kernel may know when it is made: its node and where it will run."""

    node: Node
    device: str  # full device name
    device_type: str  # "CPU", "GPU", ...
    input_types: tuple[DType, ...]  # flattened
    input_shapes: tuple[TensorShape, ...]  # static, flattened
    resources: ResourceManager | None = None
    # The device as torch knows it, e.g. torch.device("cuda", 0); None without torch.
    torch_device: Any = None
    # Compiles a function attr: NameAttrList -> callable over host/device values.
    compile_function: Callable[..., Compute] | None = None
    # The arrays of inputs that are constants, None for others; () where nobody knows.
    input_constants: tuple[Any, ...] = ()
    # The library: what function attrs name.
    functions: Mapping[str, FunctionIR] = field(default_factory=dict)

    def __getitem__(self, attr: str) -> Any:
        """The decoded attr. Raises KeyError when the node has none of that name."""
        return self.node.attrs[attr]

    def get(self, attr: str, default: Any = None) -> Any:
        """The decoded attr, or `default`."""
        return self.node.attrs.get(attr, default)

    @property
    def attrs(self) -> Mapping[str, Any]:
        """All attrs, decoded."""
        return self.node.attrs

    @property
    def node_name(self) -> str:
        """The node's name."""
        return self.node.name

    @property
    def op(self) -> str:
        """The op type."""
        return self.node.op

    @property
    def output_types(self) -> tuple[DType, ...]:
        """Flattened output dtypes."""
        return self.node.output_types

    @property
    def output_shapes(self) -> tuple[TensorShape, ...]:
        """Static output shapes, unknown ones where inference did not run."""
        shapes = self.node.output_shapes
        if shapes is None:
            return (TensorShape.of(None),) * len(self.node.output_types)
        return shapes

    def as_op(self, op: str, **attrs: Any) -> OpKernelConstruction:
        """The node as one of another op with these attrs, for that op's kernel."""
        node = self.node.replace(op=op, attrs={**self.node.attrs, **attrs})
        return replace(self, node=node)

    def constant(self, index: int) -> Any:
        """The array of an input that is the same in every step, else None."""
        known = self.input_constants
        return known[index] if index < len(known) else None

    def function(
        self,
        name: Any,
        host_results: bool = False,
        library: Mapping[str, FunctionIR] | None = None,
    ) -> Compute:
        """A function attr (NameAttrList) as a callable that returns a tuple.

        It takes the context of the step and the arguments, in either memory. Its
        results are tensors, or with `host_results` values in host memory. `library` has
        functions that the step's does not have.
        """
        assert self.compile_function is not None
        return self.compile_function(name, host_results, library)


@dataclass(slots=True, eq=False)
class OpKernelContext:
    """What a kernel with `context=True` may know of the running step and its device."""

    step_id: int
    device: str
    rendezvous: Any  # worker.rendezvous.Rendezvous
    cancellation: Any  # framework.cancellation.CancellationManager
    resources: ResourceManager
    step_container: str  # container of resources that end with the step


@dataclass(frozen=True, slots=True, eq=False)
class KernelDef:
    """One registration."""

    op: str
    factory: KernelFactory
    host: bool  # True: over NumPy values; False: over torch tensors
    devices: tuple[str, ...]
    types: Mapping[str, frozenset[DType]] = field(default_factory=dict)
    host_inputs: frozenset[str] = frozenset()
    host_outputs: frozenset[str] = frozenset()
    any_inputs: frozenset[str] = frozenset()
    context: bool = False  # compute gets an OpKernelContext first
    blocking: bool = False  # may wait: gets a thread of its own
    only_waits: bool = False  # blocking, and its end releases no other blocking kernel
    aliases: bool = False  # an output may share memory with an input
    retains: frozenset[str] = frozenset()  # inputs kept beyond the step
    inline: str = ""  # expression for rank-0 host numbers, "({0} + {1})"
    large: bool = False  # host kernel also good for values of any size
    module: str = ""  # the one whose import registered it

    def supports(self, attrs: Mapping[str, Any]) -> bool:
        """True when the node's dtypes are among those registered."""
        return all(attrs.get(a) in allowed for a, allowed in self.types.items())


_KERNELS: dict[str, list[KernelDef]] = {}
# How the names of modules begin that come with this package.
_BUILT_IN: Final = "tensorloom.kernels."

_Ops = str | Sequence[str]
_Types = Mapping[str, Sequence[DType] | set[DType] | frozenset[DType]]


def kernel(
    op: _Ops,
    *,
    devices: Sequence[str] = ("CPU", "GPU"),
    types: _Types | None = None,
    host_inputs: Sequence[str] = (),
    host_outputs: Sequence[str] = (),
    any_inputs: Sequence[str] = (),
    context: bool = False,
    blocking: bool = False,
    aliases: bool = False,
    retains: Sequence[str] = (),
) -> Callable[[KernelFactory], KernelFactory]:
    """Registers a kernel over torch tensors.

    Args:
      op: the op type, or several that share the factory.
      devices: device types that it runs on.
      types: allowed dtypes by type attr; every dtype when absent.
      host_inputs, host_outputs: argument names whose values live in host memory.
      any_inputs: argument names whose values are taken as they are.
      context: compute gets an OpKernelContext as its first argument.
      blocking: it may wait for something outside its inputs.
      aliases: an output may share memory with an input.
      retains: argument names whose value is kept beyond the step.
    """

    def register(factory: KernelFactory) -> KernelFactory:
        for name in (op,) if isinstance(op, str) else op:
            register_kernel(
                KernelDef(
                    name,
                    factory,
                    host=False,
                    devices=tuple(devices),
                    types=_frozen(types),
                    host_inputs=frozenset(host_inputs),
                    host_outputs=frozenset(host_outputs),
                    any_inputs=frozenset(any_inputs),
                    context=context,
                    blocking=blocking,
                    aliases=aliases,
                    retains=frozenset(retains),
                    module=_importing_module(),
                )
            )
        return factory

    return register


def host_kernel(
    op: _Ops,
    *,
    devices: Sequence[str] = ("CPU", "GPU"),
    types: _Types | None = None,
    any_inputs: Sequence[str] = (),
    context: bool = False,
    blocking: bool = False,
    only_waits: bool = False,
    aliases: bool = False,
    retains: Sequence[str] = (),
    inline: str = "",
    large: bool = False,
) -> Callable[[KernelFactory], KernelFactory]:
    """Registers a kernel over NumPy values in host memory.

    Args beyond those of `kernel`:
      only_waits: the kernel may wait, but its end releases no other kernel that waits.
      inline: a Python expression over `{0}`, `{1}`, ... used in place of a call where
        all inputs and the output are numbers of rank 0. Names in it: `np`, `math`.
      large: good for values of any size (strings; dtypes that torch cannot compute).
    """

    def register(factory: KernelFactory) -> KernelFactory:
        for name in (op,) if isinstance(op, str) else op:
            register_kernel(
                KernelDef(
                    name,
                    factory,
                    host=True,
                    devices=tuple(devices),
                    types=_frozen(types),
                    any_inputs=frozenset(any_inputs),
                    context=context,
                    blocking=blocking,
                    only_waits=only_waits,
                    aliases=aliases,
                    retains=frozenset(retains),
                    inline=inline,
                    large=large,
                    module=_importing_module(),
                )
            )
        return factory

    return register


def _frozen(types: _Types | None) -> dict[str, frozenset[DType]]:
    return {attr: frozenset(allowed) for attr, allowed in (types or {}).items()}


def _importing_module() -> str:
    """The module that runs its top-level code, of those that called; "" for none."""
    frame = sys._getframe(2)
    while frame.f_code.co_name != "<module>":
        if frame.f_back is None:
            return ""
        frame = frame.f_back
    name: str = frame.f_globals.get("__name__", "")
    return name


def register_kernel(definition: KernelDef) -> None:
    """Adds a registration; later ones are preferred over earlier ones.

    What a program registers stays preferred over what comes with this package, whose
    modules may be imported later.
    """
    kernels = _KERNELS.setdefault(definition.op, [])
    place = 0
    if _is_built_in(definition):
        while place < len(kernels) and not _is_built_in(kernels[place]):
            place += 1
    kernels.insert(place, definition)


def _is_built_in(definition: KernelDef) -> bool:
    return definition.module.startswith(_BUILT_IN)


def find_kernels(
    op: str, attrs: Mapping[str, Any], device_type: str
) -> tuple[KernelDef | None, KernelDef | None]:
    """The (torch, host) kernels for a node on a device type, None where there is none.

    Torch kernels are seen once `load_torch_kernels` was called for any op.
    """
    _load(_HOST, op)
    if _TORCH in _modules:
        _load(_TORCH, op)
    device: KernelDef | None = None
    host: KernelDef | None = None
    for candidate in _KERNELS.get(op, ()):
        if device_type not in candidate.devices or not candidate.supports(attrs):
            continue
        if candidate.host:
            host = host or candidate
        else:
            device = device or candidate
    return device, host


# Gets a package of kernels ready: of each op the module that registers its kernels.
KernelLoader = Callable[[], Mapping[str, str]]

_HOST: Final = "host"
_TORCH: Final = "torch"
_loaders: dict[str, KernelLoader] = {}
# What the loaders gave, once they were called; without the ops whose kernels are here.
_modules: dict[str, dict[str, str]] = {}
_loading = threading.RLock()


def set_kernel_loaders(host: KernelLoader, torch: KernelLoader) -> None:
    """Tells how kernels are imported when they are first needed.

    The wiring calls this; so `import tensorloom` loads neither torch nor a kernel.
    """
    _loaders.update({_HOST: host, _TORCH: torch})


def load_host_kernels(op: str | None = None) -> None:
    """Imports the kernels of an op in host memory (NumPy only), or those of all."""
    _load(_HOST, op)


def load_torch_kernels(op: str | None = None) -> None:
    """Imports torch and an op's kernels over its tensors, or those of all."""
    _load(_TORCH, op)


def _load(which: str, op: str | None) -> None:
    modules = _modules.get(which)
    if modules is not None and (not modules if op is None else op not in modules):
        return
    late_modules.load_kind("kernel")
    with _loading:  # another thread's registrations are not to be seen half
        if which not in _loaders:
            return
        if which not in _modules:
            _modules[which] = dict(_loaders[which]())
        modules = _modules[which]
        wanted = sorted(modules) if op is None else [op] if op in modules else []
        for name in wanted:
            late_modules.import_module(modules[name])
            del modules[name]


def places(package: str) -> dict[str, str]:
    """Of each op with kernels in a package's loaded modules, the one to import.

    Where several register kernels of an op, the last is named; it imports the others
    at its top.
    """
    return {
        op: found[0]
        for op, kernels in _KERNELS.items()
        if (found := [k.module for k in kernels if k.module.startswith(package)])
    }


def find_host_kernel(op: str, attrs: Mapping[str, Any]) -> KernelDef | None:
    """The host kernel of a node on a CPU, if there is one."""
    return find_kernels(op, attrs, "CPU")[1]


def registered_kernels(op: str) -> list[KernelDef]:
    """All registrations of an op (a copy): those in host memory, and what is loaded."""
    load_host_kernels(op)
    return list(_KERNELS.get(op, ()))
