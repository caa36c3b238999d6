"""TensorFlow 2.21's SavedModel behind a minimal front end: what one writes by hand.

    python serving_peer.py MODEL GRPC_PORT REST_PORT BATCHES

gRPC through grpcio with TensorFlow Serving's messages, REST through uvicorn without a
framework. With BATCHES of 1, REST requests are put together while a step runs.
"""

import asyncio
import json
import sys
from concurrent import futures

import grpc
import numpy as np
import tensorflow as tf
import uvicorn
from tensorflow_serving.apis import predict_pb2, prediction_service_pb2_grpc

BATCH = 64
v1 = tf.compat.v1
v1.disable_v2_behavior()


class Model:
    """The default signature in a session."""

    def __init__(self, path):
        self.session = v1.Session(graph=tf.Graph())
        with self.session.graph.as_default():
            meta_graph = v1.saved_model.load(self.session, ["serve"], path)
        signature = meta_graph.signature_def["serving_default"]
        (self.x,) = [info.name for info in signature.inputs.values()]
        (self.y,) = [info.name for info in signature.outputs.values()]
        self.run = self.session.make_callable(self.y, [self.x])


class Service(prediction_service_pb2_grpc.PredictionServiceServicer):
    def __init__(self, model):
        self.model = model

    def Predict(self, request, context):
        y = self.model.run(tf.make_ndarray(request.inputs["x"]))
        response = predict_pb2.PredictResponse()
        response.model_spec.CopyFrom(request.model_spec)
        response.outputs["y"].CopyFrom(tf.make_tensor_proto(y))
        return response


class App:
    """An ASGI application with one path."""

    def __init__(self, model, batches):
        self.model = model
        self.batches = batches
        self.pool = futures.ThreadPoolExecutor(4)
        self.waiting = []
        self.tasks = set()
        self.running = 0

    async def __call__(self, scope, receive, send):
        if scope["type"] != "http":
            return
        parts = []
        more = True
        while more:
            message = await receive()
            parts.append(message.get("body", b""))
            more = message.get("more_body", False)
        if scope["method"] == "GET":  # whether it is there
            return await self._answer(send, b"{}")
        x = np.array(json.loads(b"".join(parts))["inputs"], np.float32)
        if self.batches:
            y = await self._in_a_batch(x)
        else:
            y = self.model.run(x)
        await self._answer(send, json.dumps({"outputs": y.tolist()}).encode())

    async def _answer(self, send, body):
        headers = [
            (b"content-type", b"application/json"),
            (b"content-length", str(len(body)).encode()),
        ]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": body})

    async def _in_a_batch(self, x):
        loop = asyncio.get_running_loop()
        future = loop.create_future()
        self.waiting.append((x, future))
        if self.running < 2:
            self.running += 1
            task = loop.create_task(self._run_batches())
            self.tasks.add(task)
            task.add_done_callback(self.tasks.discard)
        return await future

    async def _run_batches(self):
        loop = asyncio.get_running_loop()
        while self.waiting:
            batch, self.waiting = self.waiting[:BATCH], self.waiting[BATCH:]
            x = np.concatenate([x for x, _ in batch])
            y = await loop.run_in_executor(self.pool, self.model.run, x)
            start = 0
            for part, future in batch:
                future.set_result(y[start : start + len(part)])
                start += len(part)
        self.running -= 1


def main():
    model = Model(sys.argv[1])
    server = grpc.server(futures.ThreadPoolExecutor(16))
    prediction_service_pb2_grpc.add_PredictionServiceServicer_to_server(
        Service(model), server
    )
    server.add_insecure_port(f"127.0.0.1:{sys.argv[2]}")
    server.start()
    app = App(model, sys.argv[4] == "1")
    uvicorn.run(app, host="127.0.0.1", port=int(sys.argv[3]), log_level="error")


main()
