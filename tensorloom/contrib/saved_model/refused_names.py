"""Models of Keras as SavedModels; a call says what to do instead."""

from __future__ import annotations

from tensorloom.framework.refusals import export_refused

export_refused(
    "contrib.saved_model",
    {
        "load_keras_model": "saved_model_path, custom_objects=None",
        "save_keras_model": "model, saved_model_path, custom_objects=None, "
        "as_text=False, input_signature=None, serving_only=False",
    },
    "tensorloom has no models of Keras. Save graphs by tf.saved_model.simple_save or "
    "tf.saved_model.Builder, and load them by tf.saved_model.load.",
)
