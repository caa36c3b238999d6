"""How an Estimator exports SavedModels."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from tensorloom.client.session.session import Session
from tensorloom.estimator.estimator_base import EstimatorBase
from tensorloom.estimator.export.directories import (
    get_temp_export_dir,
    get_timestamped_export_dir,
)
from tensorloom.estimator.export.modes import EXPORT_TAG_MAP, export_outputs_for_mode
from tensorloom.estimator.export.signatures import build_all_signature_defs
from tensorloom.estimator.mode_keys import ModeKeys
from tensorloom.framework import errors
from tensorloom.framework.graph.graph import Graph, GraphKeys, get_collection
from tensorloom.framework.runtime import random_seed
from tensorloom.saved_model.builder import SavedModelBuilder
from tensorloom.storage.files import filesystem
from tensorloom.train.checkpoints.checkpoint_management import latest_checkpoint
from tensorloom.train.checkpoints.saver import Saver
from tensorloom.train.sessions.scaffold import Scaffold

# The first mode brings the variables: training knows the most of them.
_ORDER = (ModeKeys.TRAIN, ModeKeys.EVAL, ModeKeys.PREDICT)


class ExportPart(EstimatorBase):
    """Export: SavedModels for serving, and for more training."""

    def export_saved_model(
        self,
        export_dir_base: Any,
        serving_input_receiver_fn: Callable[[], Any] | None,
        assets_extra: Mapping[str, Any] | None = None,
        as_text: bool = False,
        checkpoint_path: Any = None,
        experimental_mode: str = ModeKeys.PREDICT,
    ) -> bytes:
        """Exports the model of one mode, into a directory named after the time.

        Args:
          export_dir_base: where that directory is made.
          serving_input_receiver_fn: makes what is fed, and the features of it.
          assets_extra: files to copy, by their names in `assets.extra/`.
          as_text: write the message in text format.
          checkpoint_path: the checkpoint; the latest one when None.
          experimental_mode: one of `ModeKeys`.

        Returns:
          The directory's path.

        Raises:
          ValueError: there is no receiver function, no checkpoint, or a variable that
            the checkpoint lacks.
        """
        return self._export(
            {experimental_mode: serving_input_receiver_fn},
            export_dir_base,
            assets_extra,
            as_text,
            checkpoint_path,
            strip_default_attrs=True,
        )

    def export_savedmodel(
        self,
        export_dir_base: Any,
        serving_input_receiver_fn: Callable[[], Any] | None,
        assets_extra: Mapping[str, Any] | None = None,
        as_text: bool = False,
        checkpoint_path: Any = None,
        strip_default_attrs: bool = False,
    ) -> bytes:
        """The earlier name of `export_saved_model`, for prediction.

        Args:
          export_dir_base: where the directory is made.
          serving_input_receiver_fn: makes what is fed, and the features of it.
          assets_extra: files to copy, by their names in `assets.extra/`.
          as_text: write the message in text format.
          checkpoint_path: the checkpoint; the latest one when None.
          strip_default_attrs: leave attrs with their default value out.

        Returns:
          The directory's path.

        Raises:
          ValueError: as `export_saved_model`.
        """
        return self._export(
            {ModeKeys.PREDICT: serving_input_receiver_fn},
            export_dir_base,
            assets_extra,
            as_text,
            checkpoint_path,
            strip_default_attrs,
        )

    def experimental_export_all_saved_models(
        self,
        export_dir_base: Any,
        input_receiver_fn_map: Mapping[str, Callable[[], Any]],
        assets_extra: Mapping[str, Any] | None = None,
        as_text: bool = False,
        checkpoint_path: Any = None,
    ) -> bytes:
        """Exports several modes into one SavedModel, a MetaGraph each.

        Args:
          export_dir_base: where the directory is made.
          input_receiver_fn_map: receiver functions by mode.
          assets_extra: files to copy, by their names in `assets.extra/`.
          as_text: write the message in text format.
          checkpoint_path: the checkpoint; the latest one when None.

        Returns:
          The directory's path.

        Raises:
          ValueError: there is no mode, no checkpoint, or a variable that the
            checkpoint lacks.
        """
        return self._export_all_saved_models(
            export_dir_base,
            input_receiver_fn_map,
            assets_extra=assets_extra,
            as_text=as_text,
            checkpoint_path=checkpoint_path,
            strip_default_attrs=True,
        )

    def _export(
        self,
        receiver_fns: dict[str, Any],
        export_dir_base: Any,
        assets_extra: Mapping[str, Any] | None,
        as_text: bool,
        checkpoint_path: Any,
        strip_default_attrs: bool,
    ) -> bytes:
        if not all(receiver_fns.values()):
            raise ValueError("An input_receiver_fn must be defined.")
        return self._export_all_saved_models(
            export_dir_base,
            receiver_fns,
            assets_extra=assets_extra,
            as_text=as_text,
            checkpoint_path=checkpoint_path,
            strip_default_attrs=strip_default_attrs,
        )

    def _export_all_saved_models(
        self,
        export_dir_base: Any,
        input_receiver_fn_map: Mapping[str, Any],
        assets_extra: Mapping[str, Any] | None = None,
        as_text: bool = False,
        checkpoint_path: Any = None,
        strip_default_attrs: bool = True,
    ) -> bytes:
        checkpoint_path = checkpoint_path or self._exported_checkpoint()
        export_dir = get_timestamped_export_dir(export_dir_base)
        temporary = filesystem.path_text(get_temp_export_dir(export_dir))
        builder = SavedModelBuilder(temporary)
        modes = [mode for mode in _ORDER if input_receiver_fn_map.get(mode)]
        if not modes:
            raise ValueError(
                "No valid modes for exporting found. Got "
                f"{list(input_receiver_fn_map)}."
            )
        for mode in modes:
            self._add_meta_graph_for_mode(
                builder,
                input_receiver_fn_map,
                checkpoint_path,
                save_variables=mode == modes[0],
                mode=mode,
                strip_default_attrs=strip_default_attrs,
            )
        builder.save(as_text)
        for name, source in (assets_extra or {}).items():
            target = filesystem.join(temporary, "assets.extra", name)
            filesystem.make_directories(filesystem.parent(target))
            filesystem.copy(source, target)
        filesystem.rename(temporary, export_dir)
        return export_dir

    def _exported_checkpoint(self) -> Any:
        """The latest checkpoint; before any training that of the other model."""
        path = latest_checkpoint(self._model_dir)
        if path:
            return path
        if not self._warm_start_settings:
            raise ValueError(f"Couldn't find trained model at {self._model_dir}.")
        path = self._warm_start_settings.ckpt_to_initialize_from
        return latest_checkpoint(path) if filesystem.is_directory(path) else path

    def _add_meta_graph_for_mode(
        self,
        builder: SavedModelBuilder,
        input_receiver_fn_map: Mapping[str, Any],
        checkpoint_path: Any,
        save_variables: bool = True,
        mode: str = ModeKeys.PREDICT,
        export_tags: Any = None,
        check_variables: bool = True,
        strip_default_attrs: bool = True,
    ) -> None:
        """Adds the graph of a mode, with the variables if it is the first one."""
        with Graph().as_default() as graph:
            self._create_and_assert_global_step(graph)
            random_seed.set_random_seed(self._config.tf_random_seed)
            receiver = input_receiver_fn_map[mode]()
            spec = self._call_model_fn(
                receiver.features, getattr(receiver, "labels", None), mode, self.config
            )
            signatures = build_all_signature_defs(
                receiver.receiver_tensors,
                export_outputs_for_mode(
                    mode=spec.mode,
                    serving_export_outputs=spec.export_outputs,
                    predictions=spec.predictions,
                    loss=spec.loss,
                    metrics=spec.eval_metric_ops,
                ),
                getattr(receiver, "receiver_tensors_alternatives", None),
                serving_only=mode == ModeKeys.PREDICT,
            )
            with Session(config=self._session_config) as session:
                init_op = spec.scaffold.local_init_op
                if init_op is None:
                    init_op = Scaffold.default_local_init_op()
                saver = spec.scaffold.saver or Saver(sharded=True)
                if save_variables and not check_variables:
                    raise ValueError(
                        "If `save_variables` is `True, `check_variables` must not be "
                        "`False`."
                    )
                if check_variables:
                    _restore(saver, session, checkpoint_path, mode)
                builder.add_train_op(spec.train_op)
                options = {
                    "tags": export_tags or EXPORT_TAG_MAP[mode],
                    "signature_def_map": signatures,
                    "assets_collection": get_collection(GraphKeys.ASSET_FILEPATHS),
                    "main_op": init_op,
                    "saver": saver,
                    "strip_default_attrs": strip_default_attrs,
                }
                if save_variables:
                    builder.add_meta_graph_and_variables(session, **options)
                else:
                    builder.add_meta_graph(**options)


def _restore(saver: Any, session: Any, checkpoint_path: Any, mode: str) -> None:
    try:
        saver.restore(session, checkpoint_path)
    except errors.NotFoundError as error:
        raise ValueError(
            "Could not load all requested variables from checkpoint. Please make sure "
            "your model_fn does not expect variables that were not saved in the "
            f"checkpoint.\n\nEncountered error with mode `{mode}` while restoring "
            f"checkpoint from: `{checkpoint_path}`. {error}"
        ) from error
