"""`tf.autograph`: Python functions as code that builds graphs.

`source/` finds the syntax tree of a function, `analysis/` what its statements read
and write, `passes/` rewrite it, one construct each, into calls of `operators/`, which
choose when they run between Python and TensorFlow; `conversion/` compiles the result,
keeps it, and is what `tf.function`, `tf.data` and layers call.
"""
