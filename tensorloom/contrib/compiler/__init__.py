"""`tf.contrib.compiler`: programs that ask XLA to compile parts of them.

`jit.experimental_jit_scope` and `xla.compile` are `tf.xla.experimental`'s.
"""
