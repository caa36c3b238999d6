"""TensorFlow Serving's services: PredictionService and ModelService."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tensorloom.serving.rpc.service import Method, Methods

if TYPE_CHECKING:
    from tensorloom.serving.calls.model_api import ModelApi

PREDICTION_SERVICE = "tensorflow.serving.PredictionService"
MODEL_SERVICE = "tensorflow.serving.ModelService"


def methods(api: ModelApi) -> Methods:
    """The methods of both."""
    from tensorloom.protos.serving import (
        classification_pb2,
        get_model_metadata_pb2,
        get_model_status_pb2,
        inference_pb2,
        model_management_pb2,
        predict_pb2,
        regression_pb2,
    )

    prediction = {
        "Classify": Method(classification_pb2.ClassificationRequest, api.classify),
        "Regress": Method(regression_pb2.RegressionRequest, api.regress),
        "Predict": Method(
            predict_pb2.PredictRequest, api.predict, begin=api.wait_predict
        ),
        "MultiInference": Method(
            inference_pb2.MultiInferenceRequest, api.multi_inference
        ),
        "GetModelMetadata": Method(
            get_model_metadata_pb2.GetModelMetadataRequest, api.model_metadata
        ),
    }
    models = {
        "GetModelStatus": Method(
            get_model_status_pb2.GetModelStatusRequest, api.model_status
        ),
        "HandleReloadConfigRequest": Method(
            model_management_pb2.ReloadConfigRequest, api.reload_config
        ),
    }
    return {
        **{f"/{PREDICTION_SERVICE}/{n}": m for n, m in prediction.items()},
        **{f"/{MODEL_SERVICE}/{n}": m for n, m in models.items()},
    }
