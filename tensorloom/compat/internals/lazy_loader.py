"""`LazyLoader`: a module that is imported when its first attribute is asked for."""

from __future__ import annotations

import importlib
from types import ModuleType
from typing import Any


class LazyLoader(ModuleType):
    """Stands for a module until it is used.

    Args:
      local_name: how the importing module calls it.
      parent_module_globals: the namespace of the importing module.
      name: of the module to be imported.
      warning: what is logged when it is.
    """

    def __init__(
        self,
        local_name: str,
        parent_module_globals: dict[str, Any],
        name: str,
        warning: str | None = None,
    ) -> None:
        super().__init__(name)
        self.__dict__["_tl_load"] = (local_name, parent_module_globals, warning)

    def _load(self) -> ModuleType:
        from tensorloom.client.program import program_log

        local_name, namespace, warning = self.__dict__["_tl_load"]
        module = importlib.import_module(self.__name__)
        namespace[local_name] = module
        if warning:
            program_log.warning(warning)
        self.__dict__["_tl_load"] = (local_name, namespace, None)
        self.__dict__.update(module.__dict__)
        return module

    def __getattr__(self, item: str) -> Any:
        return getattr(self._load(), item)

    def __dir__(self) -> list[str]:
        return dir(self._load())
