"""TensorFlow's Grappler from Python: what a graph costs, and how it is optimized.

Programs reach it under `tensorflow.python.grappler`: `cluster`, `item`, `tf_optimizer`,
`cost_analyzer`, `model_analyzer`, `graph_placer`.
"""
