"""Configs, statistics, loading and unloading, as Triton's clients ask for them.

What is told is a message's fields as JSON has them: REST sends it so, gRPC as the
message.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any, Final

from tensorloom.framework import errors
from tensorloom.serving.v2 import datatypes
from tensorloom.serving.v2.models import PLATFORM, Models

if TYPE_CHECKING:
    from tensorloom.serving.calls.model_api import ModelApi
    from tensorloom.serving.manager.model_config import ModelConfig, VersionPolicy
    from tensorloom.serving.manager.servable import Servable
    from tensorloom.serving.manager.servable_statistics import Duration
    from tensorloom.serving.manager.signature import Slot
    from tensorloom.serving.observe.observer import Call

_BACKEND: Final = "tensorflow"
# Parameters of a load that say another config, or bring files.
_OVERRIDES: Final = ("config", "file:")


class Repository:
    """The protocol's extensions for models, statistics and the repository."""

    def __init__(self, api: ModelApi) -> None:
        self._api, self._core = api, api.core
        #: The calls on models that are loaded.
        self.models = Models(api)
        self._lock = threading.Lock()
        # Models that were unloaded by a caller: they can be loaded again.
        self._unloaded: dict[str, ModelConfig] = {}

    # --- what is told ----------------------------------------------------------------

    def config(self, name: str, version: str, call: Call) -> dict[str, Any]:
        """A `ModelConfig`.

        Raises:
          errors.NotFoundError: no such version is available.
        """
        with self._core.held(self.models.spec(name, version)) as servable:
            call.version = servable.version
            signature = servable.signature("")
        inputs = [] if signature is None else signature.inputs.values()
        outputs = [] if signature is None else signature.outputs.values()
        return {
            "name": name,
            "platform": PLATFORM,
            "backend": _BACKEND,
            "version_policy": _policy(self._core.configs[name].policy),
            # Shapes are told whole: the first axis is one of them.
            "max_batch_size": 0,
            "input": [_slot(slot) for slot in inputs],
            "output": [_slot(slot) for slot in outputs],
        }

    def statistics(self, name: str, version: str) -> dict[str, Any]:
        """A `ModelStatisticsResponse`; without a name: of all models.

        Raises:
          errors.NotFoundError: there is no such model.
        """
        available = self._core.manager.available()
        if not name:
            servables = [s for name in sorted(available) for s in available[name]]
        elif version:
            with self._core.held(self.models.spec(name, version)) as servable:
                servables = [servable]
        else:
            servables = available.get(name, [])
            if not servables:
                raise errors.NotFoundError(
                    None, None, f"Request for unknown model: '{name}' is not found"
                )
        return {"model_stats": [_statistics(servable) for servable in servables]}

    # --- what is done ----------------------------------------------------------------

    def load(self, name: str, parameters: list[str]) -> None:
        """Serves a model that was unloaded, or looks for its versions again.

        Raises:
          errors.PermissionDeniedError: callers may not change what is served.
          errors.NotFoundError: there is no such model.
          errors.UnimplementedError: another config or files were given.
          errors.UnknownError: it could not be loaded.
        """
        self._api.check_may_reload()
        for parameter in parameters:
            if parameter.startswith(_OVERRIDES):
                raise errors.UnimplementedError(
                    None,
                    None,
                    f"failed to load '{name}': the parameter '{parameter}' is not "
                    "known; models come from their base paths",
                )
        with self._lock:
            configs = dict(self._core.configs)
            config = configs.get(name) or self._unloaded.get(name)
            if config is None:
                raise errors.NotFoundError(
                    None, None, f"failed to load '{name}', no such model"
                )
            self._core.reload({**configs, name: config})
            self._unloaded.pop(name, None)

    def unload(self, name: str) -> None:
        """Serves a model no more.

        Raises:
          errors.PermissionDeniedError: callers may not change what is served.
          errors.NotFoundError: there is no such model.
        """
        self._api.check_may_reload()
        with self._lock:
            configs = dict(self._core.configs)
            config = configs.pop(name, None)
            if config is None:
                raise errors.NotFoundError(
                    None, None, f"failed to unload '{name}', no such model"
                )
            self._unloaded[name] = config
            self._core.reload(configs)


def _policy(policy: VersionPolicy) -> dict[str, Any]:
    if policy.latest is not None:
        return {"latest": {"num_versions": policy.latest}}
    if policy.specific is not None:
        return {"specific": {"versions": list(policy.specific)}}
    return {"all": {}}


def _slot(slot: Slot) -> dict[str, Any]:
    name = datatypes.name_of(slot.dtype)
    shape = (-1,) if slot.shape is None else slot.shape
    return {
        "name": slot.alias,
        "data_type": "TYPE_STRING" if name == datatypes.BYTES else f"TYPE_{name}",
        "dims": [-1 if size is None else size for size in shape],
    }


def _statistics(servable: Servable) -> dict[str, Any]:
    found = servable.statistics
    steps = found.steps_by_rows()
    none = {"count": 0, "ns": 0}
    compute = {
        "count": sum(step.count for _, step in steps),
        "ns": sum(step.ns for _, step in steps),
    }
    return {
        "name": servable.name,
        "version": str(servable.version),
        "last_inference": int(found.last * 1000),
        # What has no rows counts as one.
        "inference_count": sum((rows or 1) * step.count for rows, step in steps),
        "execution_count": compute["count"],
        "inference_stats": {
            "success": _duration(found.success),
            "fail": _duration(found.fail),
            "queue": _duration(found.queue),
            "compute_input": none,
            "compute_infer": compute,
            "compute_output": none,
        },
        "batch_stats": [
            {
                "batch_size": rows or 1,
                "compute_input": none,
                "compute_infer": _duration(step),
                "compute_output": none,
            }
            for rows, step in steps
        ],
    }


def _duration(duration: Duration) -> dict[str, int]:
    return {"count": duration.count, "ns": duration.ns}
