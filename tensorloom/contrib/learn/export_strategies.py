"""`tf.contrib.learn.ExportStrategy`: how a model is exported, under a name."""

from __future__ import annotations

import inspect
from collections import namedtuple
from collections.abc import Callable
from typing import Any

from tensorloom.framework.export import export

_Fields = namedtuple("_Fields", ["name", "export_fn", "strip_default_attrs"])


@export("contrib.learn.ExportStrategy")
class ExportStrategy(_Fields):
    """A way to export a model.

    Args:
      name: the directory of its exports, below the model's `export`.
      export_fn: takes the model and a directory, and by their names, if it wants them,
        `checkpoint_path`, `eval_result` and `strip_default_attrs`. It gives the
        directory of the export.
      strip_default_attrs: whether attrs of default values are left out.
    """

    __slots__ = ()

    def __new__(
        cls,
        name: str,
        export_fn: Callable[..., Any],
        strip_default_attrs: bool | None = None,
    ) -> ExportStrategy:
        """Makes it."""
        return super().__new__(cls, name, export_fn, strip_default_attrs)

    def export(
        self,
        estimator: Any,
        export_path: Any,
        checkpoint_path: Any = None,
        eval_result: Any = None,
    ) -> Any:
        """Exports a model; gives what `export_fn` gives.

        Args:
          estimator: the model.
          export_path: where exports of this strategy go.
          checkpoint_path: which checkpoint; the latest when None.
          eval_result: the metrics of that checkpoint.

        Raises:
          ValueError: the function takes `eval_result` and no `checkpoint_path`.
        """
        names = inspect.getfullargspec(self.export_fn).args
        if "eval_result" in names and "checkpoint_path" not in names:
            raise ValueError(
                "An export_fn accepting eval_result must also accept checkpoint_path."
            )
        available = {
            "checkpoint_path": checkpoint_path,
            "eval_result": eval_result,
            "strip_default_attrs": self.strip_default_attrs,
        }
        chosen = {key: value for key, value in available.items() if key in names}
        return self.export_fn(estimator, export_path, **chosen)
