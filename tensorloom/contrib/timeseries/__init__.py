"""`tf.contrib.timeseries`: models of time series, as Estimators.

A reader (`NumpyReader`, `CSVReader`) gives a series, an input function cuts windows
from it, a model (autoregressive, or a state-space model) predicts, and a head makes an
Estimator of the model.
"""
