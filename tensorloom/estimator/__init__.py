"""`tf.estimator`: models that are trained, evaluated, used and exported.

A model is a function that makes a graph for a mode (`spec`, `model_functions`). Its
`Estimator` (`estimator_base` and the four `*_part`s) runs it, with the settings of
`run_config`; `training` does so over and over, alone or in a cluster. `heads` and
`canned` hold what ready-made models consist of, `export` what exported ones take and
give, `inputs` arrays as input.
"""
