"""The builder of TensorFlow's later SavedModels: operations to run are signatures."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from tensorloom.saved_model import assets, constants
from tensorloom.saved_model.builder import SavedModelBuilder
from tensorloom.saved_model.signature_defs import op_signature_def


class SignatureBuilder(SavedModelBuilder):
    """Writes a SavedModel whose graph's collections stay as they are.

    Assets are in `asset_file_def` of the MetaGraph; the operations that initialize and
    train are outputs of signatures of their own. Loaders of 1.15 read both forms.

    Args:
      export_dir: as in `SavedModelBuilder`.
    """

    def __init__(self, export_dir: Any) -> None:
        super().__init__(export_dir)
        self._assets: list[tuple[str, str, Any]] = []
        self._op_signatures: dict[str, Any] = {}

    def add_meta_graph_and_variables(  # type: ignore[override]
        self,
        sess: Any,
        tags: Iterable[str],
        signature_def_map: Mapping[str, Any] | None = None,
        assets_list: Iterable[Any] | None = None,
        clear_devices: bool = False,
        init_op: Any = None,
        train_op: Any = None,
        strip_default_attrs: bool = False,
        saver: Any = None,
    ) -> None:
        """Adds the default graph, and the values of its variables in a session.

        Args:
          assets_list: scalar string constants, the paths of files to copy.
          init_op: an operation that runs after the variables are restored.
          train_op: an operation or tensor that trains.
          sess, tags, signature_def_map: as in `SavedModelBuilder`; so are
            `clear_devices`, `strip_default_attrs` and `saver`.

        Raises:
          AssertionError: variables were saved already.
        """
        self._take(assets_list, init_op, train_op)
        super().add_meta_graph_and_variables(
            sess,
            tags,
            signature_def_map,
            clear_devices=clear_devices,
            strip_default_attrs=strip_default_attrs,
            saver=saver,
        )

    def add_meta_graph(  # type: ignore[override]
        self,
        tags: Iterable[str],
        signature_def_map: Mapping[str, Any] | None = None,
        assets_list: Iterable[Any] | None = None,
        clear_devices: bool = False,
        init_op: Any = None,
        train_op: Any = None,
        saver: Any = None,
    ) -> None:
        """Adds the default graph; its variables are those of the first MetaGraph.

        Raises:
          AssertionError: no variables were saved.
        """
        self._take(assets_list, init_op, train_op)
        super().add_meta_graph(
            tags, signature_def_map, clear_devices=clear_devices, saver=saver
        )

    def _take(
        self, assets_list: Iterable[Any] | None, init_op: Any, train_op: Any
    ) -> None:
        self._assets = assets.collect(assets_list or ())
        ops = {
            constants.INIT_OP_SIGNATURE_KEY: init_op,
            constants.TRAIN_OP_SIGNATURE_KEY: train_op,
        }
        self._op_signatures = {
            key: op_signature_def(op, key) for key, op in ops.items() if op is not None
        }

    def _tag_and_add_meta_graph(
        self,
        meta_graph_def: Any,
        tags: Iterable[str],
        signature_def_map: Mapping[str, Any] | None,
    ) -> None:
        if self._assets:
            assets.write(self._assets, self._directory.path())
        for name, _, tensor in self._assets:
            meta_graph_def.asset_file_def.append(assets.to_message(name, tensor))
        signatures = {**(signature_def_map or {}), **self._op_signatures}
        super()._tag_and_add_meta_graph(meta_graph_def, tags, signatures)
