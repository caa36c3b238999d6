"""`tensorloom serve`: models behind TensorFlow Serving's interfaces.

`manager/` loads versions of models and takes them away, `calls/` runs requests on them,
`batching/` puts requests together; `rpc/` and `rest/` are TensorFlow Serving's
interfaces, `v2/` is the Open Inference Protocol, `observe/` what one sees of it all.
"""
