"""`ServerCore`: the models of a server, by its config, and who serves a request."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final

from tensorloom.framework import errors
from tensorloom.serving.manager import model_config
from tensorloom.serving.manager.version_source import VersionSource

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from tensorloom.serving.manager.model_config import ModelConfig
    from tensorloom.serving.manager.model_manager import ModelManager
    from tensorloom.serving.manager.servable import Servable

_logger = logging.getLogger("tensorloom.serving")
#: How long a reload of the config waits for its new models.
RELOAD_WAIT_S: Final = 600.0


class ServerCore:
    """Looks for versions and follows the config, in a thread of its own."""

    def __init__(
        self,
        manager: ModelManager,
        poll_s: float = 1.0,
        config_file: str = "",
        config_poll_s: float = 0.0,
        labels_ahead: bool = False,
        changed: Callable[[Mapping[str, ModelConfig]], None] = lambda configs: None,
    ) -> None:
        """Makes a core without models.

        Args:
          manager: loads them.
          poll_s: between two looks for versions; 0: one look is enough.
          config_file: is read again every `config_poll_s` seconds, if that is not 0.
          labels_ahead: whether a new label may stand for a version that is not there.
          changed: is told of another config that is in force.
        """
        self.manager = manager
        self._poll_s = poll_s
        self._config_file, self._config_poll_s = config_file, config_poll_s
        self._labels_ahead = labels_ahead
        self._changed = changed
        self._source = VersionSource()
        self._configs: dict[str, ModelConfig] = {}
        self._labels: dict[str, dict[str, int]] = {}
        self._reloading = threading.Lock()
        self._polling = threading.Lock()
        self._stopped = threading.Event()
        self._threads: list[threading.Thread] = []
        self.is_ready = False

    # --- life ------------------------------------------------------------------------

    def start(
        self, configs: Mapping[str, ModelConfig], timeout_s: float | None = None
    ) -> bool:
        """Serves the models of a config; returns once they are available.

        Returns:
          False if the time was over, or the core was stopped.

        Raises:
          errors.UnknownError: a model could not be loaded.
          errors.FailedPreconditionError: a label stands for no available version.
        """
        self._configs = dict(configs)
        self.poll()
        self._start_thread(self._poll_s, self.poll, "tensorloom-versions")
        states = self.manager.states
        if not states.wait_available(configs, timeout_s, self._stopped.is_set):
            return False
        self._labels = self._checked_labels(self._configs)
        if self._config_file:
            self._start_thread(
                self._config_poll_s, self.follow_config_file, "tensorloom-config"
            )
        self.is_ready = True
        return True

    def cancel_start(self) -> None:
        """Ends the waiting for models."""
        self._stopped.set()

    def stop(self) -> None:
        """Ends the threads; unloads nothing."""
        self.is_ready = False
        self._stopped.set()
        for thread in self._threads:
            thread.join(10.0)

    def _start_thread(
        self, period_s: float, task: Callable[[], Any], name: str
    ) -> None:
        if period_s <= 0:
            return

        def repeat() -> None:
            while not self._stopped.wait(period_s):
                try:
                    task()
                except Exception:
                    _logger.exception("%s goes on after an error", name)

        thread = threading.Thread(target=repeat, name=name, daemon=True)
        self._threads.append(thread)
        thread.start()

    def poll(self) -> None:
        """Looks for versions once."""
        with self._polling:
            if self._stopped.is_set():
                return
            configs = self._configs
            found = self._source.poll(configs)
            for name, versions in found.items():
                self.manager.aspire(name, versions)
            for name in self.manager.aspired_models():
                if name not in configs:
                    self.manager.aspire(name, {})

    # --- the config ------------------------------------------------------------------

    @property
    def configs(self) -> Mapping[str, ModelConfig]:
        """The models, by name."""
        return self._configs

    @property
    def labels(self) -> Mapping[str, Mapping[str, int]]:
        """The labels that are in force, by model."""
        return self._labels

    def follow_config_file(self) -> None:
        """Reads the config file, and serves what it says now.

        A file that is wrong, or not there, changes nothing.
        """
        try:
            configs = model_config.read_config_file(self._config_file)
            if configs != self._configs or self._labels_differ(configs):
                self.reload(configs)
        except (OSError, errors.OpError) as error:
            _logger.error("The config file was not taken over: %s", error)

    def _labels_differ(self, configs: Mapping[str, ModelConfig]) -> bool:
        wanted = {n: dict(c.labels) for n, c in configs.items() if c.labels}
        return wanted != self._labels

    def reload(
        self, configs: Mapping[str, ModelConfig], timeout_s: float = RELOAD_WAIT_S
    ) -> None:
        """Serves another list of models from now on.

        Returns once the new ones are available.

        Raises:
          errors.UnknownError: one could not be loaded; the others are served.
          errors.DeadlineExceededError: one was not available in time.
          errors.FailedPreconditionError: a label stands for no available version; the
            labels stay as they were.
        """
        with self._reloading:
            new = [n for n in configs if n not in self._configs]
            self._configs = dict(configs)
            self._changed(self._configs)
            self.poll()
            states = self.manager.states
            if not states.wait_available(new, timeout_s, self._stopped.is_set):
                names = ", ".join(sorted(new))
                raise errors.DeadlineExceededError(
                    None, None, f"Model(s) did not become available in time: {names}"
                )
            self._labels = self._checked_labels(self._configs)

    def _checked_labels(
        self, configs: Mapping[str, ModelConfig]
    ) -> dict[str, dict[str, int]]:
        states = self.manager.states
        if not self._labels_ahead:
            labelled = [
                (name, version)
                for name, config in configs.items()
                for version in config.labels.values()
            ]
            states.wait_settled(labelled, RELOAD_WAIT_S)
        for name, config in configs.items():
            for label, version in config.labels.items():
                before = self._labels.get(name, {}).get(label, version)
                if self._labels_ahead and before == version:
                    continue
                if not states.is_available(name, version):
                    raise errors.FailedPreconditionError(
                        None,
                        None,
                        f"Request to assign label to version {version} of model "
                        f"{name}, which is not currently available for inference",
                    )
        return {n: dict(c.labels) for n, c in configs.items() if c.labels}

    # --- requests --------------------------------------------------------------------

    def held(self, model_spec: Any) -> AbstractContextManager[Servable]:
        """Holds the servable that a `ModelSpec` means, in a `with` block.

        Raises:
          errors.InvalidArgumentError: it names no model, or an unknown label.
          errors.NotFoundError: no such version is available.
        """
        name = model_spec.name
        if not name:
            raise errors.InvalidArgumentError(
                None, None, "ModelSpec has no name specified."
            )
        return self.manager.held(name, self.version_of(model_spec))

    def version_of(self, model_spec: Any) -> int | None:
        """The version that a `ModelSpec` means; None: the newest.

        Raises:
          errors.InvalidArgumentError: the label is not known.
        """
        choice = model_spec.WhichOneof("version_choice")
        if choice is None:
            return None
        if choice == "version":
            return int(model_spec.version.value)
        label = model_spec.version_label
        version = self._labels.get(model_spec.name, {}).get(label)
        if version is None:
            raise errors.InvalidArgumentError(
                None, None, f"Unrecognized servable version label: {label}"
            )
        return version
